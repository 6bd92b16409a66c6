/*
 * apitrace_anew.c - a .trace out of the events of any source
 *
 * Calls are calls, with their arguments; every other event is a call that returns at once, its
 * fields the arguments. What is packed and numbered is left to the encoder of apitrace's own
 * streams.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "apitrace_anew.h"
#include "common/field.h"

enum { ARGUMENTS_MOST = 4096, NAME_MOST = 32 * 1024 };

/* A function of the trace to be. */
struct function {
	uint32_t place; /* in the dialect, 0 not yet */
	uint32_t arguments;
	bool keep; /* the arguments' numbers are right as they are */
};

/* The fields of a type. */
struct made {
	struct anew_field *fields;
	uint32_t n;
};

struct state {
	struct anew anew;
	struct apitrace_anew_values values;
	struct function *functions, *events; /* by the stream's places, types */
	size_t functions_size, events_size;
	struct made *types;
	size_t types_size;
	uint32_t *lanes; /* by thread */
	size_t lanes_size;
	struct type *calls[2], *gap;
	struct buffer tail;
	uint32_t calls_written, signatures;
	uint64_t extra, bad, cut, fields_lost, unseen, instants, named;
};

/* --- functions --- */

static int fields_of(struct state *s, const struct type *t, struct made **out)
{
	struct made *types = array_reach(s->types, &s->types_size, t->number, sizeof *types);

	if (!types)
		return -1;
	s->types = types;
	*out = &types[t->number];
	if (!(*out)->fields)
		(*out)->fields =
			anew_fields_plan(t, ARGUMENTS_MOST, false, &(*out)->n, &s->fields_lost);
	return (*out)->fields ? 0 : -1;
}

/* A definition with names of arguments, to be filled in. */
static struct definition *new_names(struct state *s, uint32_t n, struct member **members)
{
	struct definition *d = dialect_definition(&s->anew.d);

	*members = dialect_members(&s->anew.d, n);
	if (!d || !*members)
		return NULL;
	d->name = dialect_text(&s->anew.d, "", 0);
	d->kind = DEFINITION_STRUCT;
	d->count = n;
	d->members = *members;
	return d;
}

/* Arguments without names are called as uftrace calls them. */
static int number_names(struct state *s, const struct event *ev, struct definition **out)
{
	struct member *m;
	struct values v;
	struct detail x;
	uint32_t n = 0;

	values_begin(&v, ev->tail, ev->tail_size);
	while (values_detail(&v, &x))
		n += x.what == DETAIL_ARGUMENT && n < ARGUMENTS_MOST;
	*out = new_names(s, n, &m);
	if (!*out)
		return -1;
	values_begin(&v, ev->tail, ev->tail_size);
	for (uint32_t i = 0; i < n && values_detail(&v, &x);) {
		char name[32];
		int size;

		if (x.what != DETAIL_ARGUMENT)
			continue;
		size = x.index > 1000 ? snprintf(name, sizeof name, "fparg%" PRIu64, x.index - 1000)
				      : snprintf(name, sizeof name, "arg%" PRIu64, x.index);
		m[i++].name = dialect_text(&s->anew.d, name, (size_t)size);
	}
	return 0;
}

static int field_names(struct state *s, const struct made *t, bool function,
		       struct definition **out)
{
	struct member *m;

	*out = new_names(s, t->n + function, &m);
	if (!*out)
		return -1;
	for (uint32_t i = 0; i < t->n; i++)
		m[i].name = t->fields[i].from->name;
	if (function)
		m[t->n].name = dialect_text(&s->anew.d, "function", 8);
	return 0;
}

/* Readers take a name up to a NUL. */
static int whole_name(struct state *s, struct text_ref *name)
{
	struct buffer b = {0};
	int result = anew_name_no_nul(&b, name->text, name->size);

	if (!result)
		*name = dialect_text(&s->anew.d, b.data, b.size);
	buffer_free(&b);
	return result;
}

static int new_function(struct state *s, struct function *f, struct text_ref name,
			const struct definition *names)
{
	struct place *p = dialect_place(&s->anew.d);

	if (!p)
		return -1;
	p->address = s->signatures++;
	if (name.size && whole_name(s, &name))
		return -1;
	if (name.size > NAME_MOST) {
		name = dialect_text(&s->anew.d, name.text, NAME_MOST);
		s->cut++;
	}
	p->name = name;
	p->arguments = names;
	f->arguments = names ? names->count : 0;
	f->place = p->number;
	return 0;
}

static struct function *function_at(struct function **table, size_t *size, uint32_t number)
{
	struct function *f = array_reach(*table, size, number, sizeof *f);

	if (!f)
		return NULL;
	*table = f;
	return &f[number];
}

static struct function *function_of(struct state *s, const struct anew_row *r)
{
	const struct event *ev = r->ev;
	const struct place *place = dictionary_place(s->anew.dictionary, r->place);
	struct function *f = function_at(&s->functions, &s->functions_size, r->place);
	struct definition *names = NULL;
	struct made *made;

	if (!f || f->place)
		return f;
	anew_use_place(&s->anew, r->place);
	if (place && place->arguments) {
		f->keep = true;
		return new_function(s, f, dictionary_place_name(s->anew.dictionary, r->place),
				    place->arguments)
			       ? NULL
			       : f;
	}
	if (ev->type->flags & TYPE_VALUES
		    ? number_names(s, ev, &names)
		    : fields_of(s, ev->type, &made) || field_names(s, made, false, &names))
		return NULL;
	return new_function(s, f, dictionary_place_name(s->anew.dictionary, r->place), names) ? NULL
											      : f;
}

/* --- rows --- */

static int lane_of(struct state *s, const struct anew_thread *t, const struct lane **out)
{
	uint32_t *lanes = array_reach(s->lanes, &s->lanes_size, t->number, sizeof *lanes);
	struct lane *l;

	if (!lanes)
		return -1;
	s->lanes = lanes;
	if (!lanes[t->number]) {
		l = dialect_lane(&s->anew.d);
		if (!l)
			return -1;
		l->flags = LANE_HAS_TID;
		l->tid = t->tid;
		lanes[t->number] = l->number;
		s->named += t->comm.size || t->pid != t->tid;
	}
	*out = dictionary_lane(&s->anew.d.dictionary, lanes[t->number]);
	return 0;
}

static int put(struct state *s, const struct anew_row *r, bool leave, uint32_t call, uint32_t place,
	       struct error *e)
{
	uint8_t fixed[APITRACE_FIXED_SIZE] = {0};
	struct event ev = {.type = s->calls[leave],
			   .place = place,
			   .fixed = fixed,
			   .tail = s->tail.data,
			   .tail_size = (uint32_t)s->tail.size};

	put_u32(fixed + APITRACE_FIXED_CALL, call);
	return lane_of(s, r->thread, &ev.lane) ? error_no_memory(e)
					       : dialect_event(&s->anew.d, &ev, e);
}

/* What stands with the row, in s->tail. */
static int take_values(struct state *s, const struct anew_row *r, const struct function *f)
{
	bool leave = r->what == ANEW_LEAVE;
	struct made *made;
	int got = 0;

	s->tail.size = 0;
	if (r->cut)
		return 0;
	if (r->ev->type->flags & TYPE_VALUES) {
		got = apitrace_anew_convert(&s->values, &s->tail, r->ev, f->keep, f->arguments,
					    &s->extra);
		s->bad += got > 0;
		return got < 0 ? -1 : 0;
	}
	if (fields_of(s, r->ev->type, &made))
		return -1;
	/* a return has no names of its own */
	if (leave && made->n > 1)
		s->extra += made->n > f->arguments ? made->n - f->arguments : 0;
	return anew_field_values(&s->tail, made->fields,
				 made->n < f->arguments || (leave && made->n == 1) ? made->n
										   : f->arguments,
				 r->ev, leave && made->n == 1);
}

static int call(void *state, const struct anew_row *r, struct error *e)
{
	struct state *s = state;
	bool leave = r->what == ANEW_LEAVE;
	struct function *f;

	if (r->unseen) {
		s->unseen++;
		return 0;
	}
	f = function_of(s, r);
	if (!f || take_values(s, r, f))
		return error_no_memory(e);
	if (!leave)
		*r->mark = s->calls_written++;
	return put(s, r, leave, *r->mark, f->place, e);
}

/* One with values has the names of its place's arguments, and is called as that. */
static struct function *value_function(struct state *s, const struct event *ev)
{
	struct anew_row r = {.ev = ev, .place = ev->place};
	struct function *f;
	struct definition *names;

	if (ev->place)
		return function_of(s, &r);
	f = function_at(&s->events, &s->events_size, ev->type->number);
	if (f && !f->place &&
	    (number_names(s, ev, &names) || new_function(s, f, ev->type->name, names)))
		return NULL;
	return f;
}

/* One with fields is called as its type, and its place is one more argument. */
static struct function *field_function(struct state *s, const struct event *ev,
				       const struct made *made)
{
	struct function *f = function_at(&s->events, &s->events_size, ev->type->number);
	struct definition *names;

	if (f && !f->place &&
	    (field_names(s, made, ev->place, &names) || new_function(s, f, ev->type->name, names)))
		return NULL;
	return f;
}

/* Its values or fields, in s->tail. */
static struct function *instant_values(struct state *s, const struct event *ev)
{
	struct function *f;
	struct text_ref name;
	struct made *made;
	int got;

	s->tail.size = 0;
	if (ev->type->flags & TYPE_VALUES) {
		f = value_function(s, ev);
		got = f ? apitrace_anew_convert(&s->values, &s->tail, ev, f->keep, f->arguments,
						&s->extra)
			: -1;
		s->bad += got > 0;
		return got < 0 ? NULL : f;
	}
	if (fields_of(s, ev->type, &made))
		return NULL;
	f = field_function(s, ev, made);
	if (!f || anew_field_values(&s->tail, made->fields, made->n, ev, false))
		return NULL;
	if (ev->place && f->arguments > made->n) {
		name = dictionary_place_name(s->anew.dictionary, ev->place);
		if (value_put_detail(&s->tail, DETAIL_ARGUMENT, f->arguments) ||
		    value_put_bytes(&s->tail, VALUE_STRING, name.text, name.size))
			return NULL;
	}
	return f;
}

/* An event is a call that returns at once. */
static int instant(void *state, const struct anew_row *r, struct error *e)
{
	struct state *s = state;
	const struct event *ev = r->ev;
	struct function *f = instant_values(s, ev);
	uint32_t call = s->calls_written++;

	if (!f)
		return error_no_memory(e);
	s->instants++;
	if (put(s, r, false, call, f->place, e))
		return -1;
	s->tail.size = 0;
	return put(s, r, true, call, f->place, e);
}

static int gap(void *state, const struct anew_row *r, struct error *e)
{
	struct state *s = state;
	struct event ev = {.type = s->gap, .lane = dictionary_lane(&s->anew.d.dictionary, 0)};

	(void)r;
	return dialect_event(&s->anew.d, &ev, e);
}

static void drop(void *state)
{
	struct state *s = state;

	for (size_t i = 0; i < s->types_size; i++)
		free(s->types[i].fields);
	free(s->types);
	free(s->functions);
	free(s->events);
	free(s->lanes);
	free(s->values.definitions);
	buffer_free(&s->tail);
}

static const struct anew_target target = {
	.native = &encoder_apitrace,
	.format = "apitrace",
	.state_size = sizeof(struct state),
	.zero = true,
	.no_cpus = true,
	.call = call,
	.instant = instant,
	.gap = gap,
	.drop = drop,
};

static int begin(struct encoding *en, struct error *e)
{
	static const char *const names[] = {"enter", "leave"};
	struct state *s = anew_begin(en, &target, e);

	if (!s)
		return -1;
	s->values.from = en->dictionary;
	s->values.to = &s->anew.d;
	for (int leave = 0; leave < 2; leave++) {
		struct type *t = s->calls[leave] =
			dialect_type(&s->anew.d, names[leave], "apitrace");

		if (!t)
			return error_no_memory(e);
		t->kind = leave ? KIND_LEAVE : KIND_ENTER;
		t->flags = TYPE_CALL_NUMBER | TYPE_VALUES | TYPE_TAIL;
		t->fixed_size = APITRACE_FIXED_SIZE;
	}
	s->gap = dialect_type(&s->anew.d, "gap", "");
	if (!s->gap)
		return error_no_memory(e);
	s->gap->kind = KIND_GAP;
	return 0;
}

static int end(struct encoding *en, struct error *e)
{
	static const uint8_t header[] = {APITRACE_LATEST, APITRACE_LATEST, 0};
	struct state *s = en->state;
	struct anew *a = &s->anew;

	if (anew_end(a, e))
		return -1;
	/* a trace without events is its header alone */
	if (!s->calls_written &&
	    dialect_meta(&s->anew.d, APITRACE_META_HEADER, header, sizeof header, 0, e))
		return -1;
	if (s->anew.d.encoding.encoder->end(&s->anew.d.encoding, e))
		return -1;
	a->unmatched += s->unseen;
	anew_report(a);
	anew_lost(a, a->with_time, "events have lost their time, which a .trace does not keep");
	anew_lost(a, a->with_cpu, "events have lost their CPU, which a .trace does not keep");
	anew_lost(a, s->named, "threads have lost their name and process");
	anew_lost(a, s->instants, "events are calls that return at once");
	anew_lost(a, s->extra, "arguments beyond those of the function's first call are left out");
	anew_lost(a, s->bad, "events have damaged values: what is behind the damage is left out");
	anew_lost(a, s->cut, "names were cut to 32768 bytes");
	anew_lost(a, s->values.rounded, "numbers were rounded to 64 bits");
	anew_lost(a, s->values.opaque, "structs that nobody took apart are blobs or their name");
	anew_lost(a, s->fields_lost, "fields of types with more than 4096 are left out");
	return 0;
}

const struct encoder encoder_apitrace_anew = {
	.name = "apitrace",
	.output = ENCODER_FILE,
	.begin = begin,
	.event = anew_event,
	.end = end,
	.free = anew_free,
};
