/*
 * convert.c - convert the events of any source to a .trace
 *
 * Calls keep their arguments. Every other event becomes a call that returns at once, with the
 * event's fields as arguments. apitrace.c, the encoder of apitrace's own streams, numbers the calls
 * and writes the file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/apitrace/convert.h"
#include "cmd/trencode/formats.h"
#include "common/stream/field.h"

enum { ARGUMENTS_MOST = 4096 };

/* The state of the conversion. */
struct apitrace_conversion {
	struct conversion conversion;
	struct apitrace_convert_values values;
	struct apitrace_convert_functions functions;
	struct type *calls[2];
	struct buffer tail; /* values of the row being written */
	uint32_t calls_written;
	uint64_t extra; /* arguments left out */
	uint64_t unseen, instants;
	uint64_t named; /* threads with a name or a process */
};

/* --- rows --- */

static int put_call_row(struct apitrace_conversion *s, const struct convert_row *r, bool leave,
			uint32_t call, uint32_t location, struct error *e)
{
	uint8_t fixed[APITRACE_FIXED_SIZE] = {0};
	struct event ev = {.type = s->calls[leave],
			   .location = location,
			   .fixed = fixed,
			   .tail = s->tail.data,
			   .tail_size = (uint32_t)s->tail.size};

	put_u32(fixed + APITRACE_FIXED_CALL, call);
	s->named += !r->thread->lane && (r->thread->comm.size || r->thread->pid != r->thread->tid);
	ev.lane = convert_thread_lane(&s->conversion, r->thread);
	return ev.lane ? target_event(&s->conversion.d, &ev, e) : error_no_memory(e);
}

/* Returns the number of the function's argument of that name, 0: none. */
static uint32_t argument_of(const struct apitrace_conversion *s,
			    const struct apitrace_convert_function *f, struct text_ref name)
{
	const struct definition *names =
		dictionary_location(&s->conversion.d.dictionary, f->location)->arguments;

	/* fields are last */
	for (uint32_t i = names->count; i; i--)
		if (names->members[i - 1].name.size == name.size &&
		    !memcmp(names->members[i - 1].name.text, name.text, name.size))
			return i;
	return 0;
}

/* Convert the values and fields of a call's row into s->tail. */
static int call_values(struct apitrace_conversion *s, const struct convert_row *r,
		       const struct apitrace_convert_function *f)
{
	const struct event *ev = r->ev;
	const struct convert_fields *fields;

	s->tail.size = 0;
	if (r->cut)
		return 0;
	if (ev->type->flags & TYPE_VALUES &&
	    apitrace_convert_details(&s->values, &s->tail, ev, f->keep, f->arguments, &s->extra))
		return -1;
	fields = convert_arguments_fields(&s->functions.arguments, ev->type);
	if (!fields)
		return -1;
	for (uint32_t i = 0; i < fields->n; i++) {
		bool result = convert_is_return(ev->type, fields->list[i].from);
		uint32_t index = result ? 0 : argument_of(s, f, fields->list[i].from->name);

		/* a leave may have other fields than its enter, which named the arguments */
		if (!result && !index)
			s->extra++;
		else if (convert_field_value(&s->tail, &fields->list[i], ev,
					     result ? DETAIL_RETURN : DETAIL_ARGUMENT, index))
			return -1;
	}
	return 0;
}

static int apitrace_convert_call(void *state, const struct convert_row *r, struct error *e)
{
	struct apitrace_conversion *s = state;
	bool leave = r->what == CONVERT_LEAVE;
	struct apitrace_convert_function *f;

	if (r->unseen) {
		s->unseen++;
		return 0;
	}
	f = apitrace_function_of_call(&s->functions, r);
	if (!f || call_values(s, r, f))
		return error_no_memory(e);
	if (!leave)
		*r->mark = s->calls_written++;
	return put_call_row(s, r, leave, *r->mark, f->location, e);
}

/* Find the function of an instant, and convert the values or fields into s->tail. */
static struct apitrace_convert_function *instant_values(struct apitrace_conversion *s,
							const struct event *ev)
{
	struct apitrace_convert_function *f;
	const struct convert_fields *fields;
	struct text_ref name;
	struct event joined;

	s->tail.size = 0;
	if (ev->type->flags & TYPE_VALUES) {
		if (convert_arguments_join(&s->functions.arguments, ev, &joined))
			return NULL;
		f = apitrace_function_of_values(&s->functions, &joined);
		return f && !apitrace_convert_details(&s->values, &s->tail, &joined, f->keep,
						      f->arguments, &s->extra)
			       ? f
			       : NULL;
	}
	fields = convert_arguments_fields(&s->functions.arguments, ev->type);
	f = fields ? apitrace_function_of_fields(&s->functions, ev, fields) : NULL;
	if (!f)
		return NULL;
	for (uint32_t i = 0; i < fields->n; i++)
		if (convert_field_value(&s->tail, &fields->list[i], ev, DETAIL_ARGUMENT, i + 1))
			return NULL;
	if (ev->location && f->arguments > fields->n) {
		name = dictionary_location_name(s->conversion.dictionary, ev->location);
		if (value_put_detail(&s->tail, DETAIL_ARGUMENT, f->arguments) ||
		    value_put_bytes(&s->tail, VALUE_STRING, name.text, name.size))
			return NULL;
	}
	return f;
}

/* Write an instant as a call that returns at once. */
static int apitrace_convert_instant(void *state, const struct convert_row *r, struct error *e)
{
	struct apitrace_conversion *s = state;
	const struct event *ev = r->ev;
	struct apitrace_convert_function *f = instant_values(s, ev);
	uint32_t call = s->calls_written++;

	if (!f)
		return error_no_memory(e);
	s->instants++;
	if (put_call_row(s, r, false, call, f->location, e))
		return -1;
	s->tail.size = 0;
	return put_call_row(s, r, true, call, f->location, e);
}

static int apitrace_convert_gap(void *state, const struct convert_row *r, struct error *e)
{
	struct apitrace_conversion *s = state;
	struct event ev = {.type = s->conversion.d.gap,
			   .lane = dictionary_lane(&s->conversion.d.dictionary, 0)};

	(void)r;
	return target_event(&s->conversion.d, &ev, e);
}

static void apitrace_convert_drop(void *state)
{
	struct apitrace_conversion *s = state;

	apitrace_convert_functions_free(&s->functions);
	free(s->values.definitions);
	buffer_free(&s->tail);
}

static int apitrace_convert_init(void *state, struct error *e)
{
	static const char *const names[] = {"enter", "leave"};
	static const struct field number = {.kind = FIELD_UINT,
					    .role = ROLE_CALL,
					    .where = WHERE_FIXED,
					    .offset = APITRACE_FIXED_CALL,
					    .size = 4};
	struct apitrace_conversion *s = state;

	s->functions.conversion = &s->conversion;
	s->functions.arguments.dictionary = s->conversion.dictionary;
	s->functions.arguments.most = ARGUMENTS_MOST;
	s->values.from = s->conversion.dictionary;
	s->values.to = &s->conversion.d;
	for (int leave = 0; leave < 2; leave++) {
		struct type *t = s->calls[leave] =
			target_type(&s->conversion.d, names[leave], "apitrace");

		if (!t)
			return error_no_memory(e);
		t->kind = leave ? KIND_LEAVE : KIND_ENTER;
		t->flags = TYPE_CALL_NUMBER | TYPE_VALUES | TYPE_TAIL;
		t->fixed_size = APITRACE_FIXED_SIZE;
		t->nfields = 1;
		t->fields = &number;
	}
	return 0;
}

static int apitrace_convert_end(void *state, struct error *e)
{
	static const uint8_t header[] = {APITRACE_LATEST, APITRACE_LATEST, 0};
	struct apitrace_conversion *s = state;

	s->conversion.counts.unmatched += s->unseen;
	/* a trace without events is its header alone */
	return s->calls_written ? 0
				: target_meta(&s->conversion.d, APITRACE_META_HEADER, header,
					      sizeof header, 0, e);
}

static void apitrace_convert_report(void *state)
{
	struct apitrace_conversion *s = state;
	struct conversion *a = &s->conversion;

	convert_lost(
		a, a->counts.with_time,
		"{event is|events are} written without {its time|their times}: a .trace has none");
	convert_lost(a, a->counts.with_cpu,
		     "{event is|events are} written without {its|their} CPU: a .trace has none");
	convert_lost(a, s->named,
		     "{thread is|threads are} written without {its name and process|their names "
		     "and processes}");
	convert_lost(
		a, s->instants,
		"{event is|events are} written as {a call that returns|calls that return} at once");
	convert_lost(a, s->extra,
		     "{argument is|arguments are} left out: the function is declared with fewer");

	convert_lost(a, s->functions.cut, "{name was|names were} cut to 32768 bytes");
	convert_lost(a, s->values.rounded, "{number was|numbers were} rounded to 64 bits");
	convert_lost(a, s->values.opaque,
		     "{struct of unknown members is written as a blob or as its name|structs of "
		     "unknown members are written as blobs or as their names}");
	convert_lost(a, s->functions.arguments.lost,
		     "{field is|fields are} left out, of types with more than 4096 fields");
}

const struct convert_target apitrace_target = {
	.native = &encoder_apitrace,
	.format = "apitrace",
	.state_size = sizeof(struct apitrace_conversion),
	.zero = true,
	.no_cpus = true,
	.init = apitrace_convert_init,
	.call = apitrace_convert_call,
	.instant = apitrace_convert_instant,
	.gap = apitrace_convert_gap,
	.end = apitrace_convert_end,
	.report = apitrace_convert_report,
	.drop = apitrace_convert_drop,
};
