/*
 * events.c - converts each enter and each leave into a row
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/apitrace/timed.h"
#include "common/cli/program.h"

/* --- declarations --- */

void apitrace_type(struct apitrace *a, enum type_kind kind, const char *name, bool stacks,
		   struct type_entry *e, struct field_entry *fields)
{
	static const struct {
		const char *name;
		uint8_t role;
		uint32_t offset;
	} all[] = {{"call", ROLE_CALL, APITRACE_FIXED_CALL},
		   {"frame", ROLE_NONE, APITRACE_FIXED_FRAME},
		   {"stack", ROLE_STACK, APITRACE_FIXED_STACK}};
	struct writer *w = a->w;

	*e = (struct type_entry){.source = a->source,
				 .name = writer_text(w, name),
				 .group = writer_text(w, "apitrace"),
				 .kind = kind,
				 .flags = TYPE_TAIL | TYPE_VALUES | TYPE_CALL_NUMBER,
				 .fixed_size = stacks ? APITRACE_FIXED_MOST : APITRACE_FIXED_SIZE,
				 .native = kind == KIND_ENTER ? APITRACE_ENTER : APITRACE_LEAVE,
				 .nfields = stacks ? 3 : 2,
				 .fields = fields};
	for (uint32_t i = 0; i < e->nfields; i++)
		fields[i] = (struct field_entry){.name = writer_text(w, all[i].name),
						 .kind = FIELD_UINT,
						 .role = all[i].role,
						 .where = WHERE_FIXED,
						 .offset = all[i].offset,
						 .size = 4};
}

static uint32_t declare_type(struct apitrace *a, enum type_kind kind, const char *name, bool stacks)
{
	struct field_entry fields[APITRACE_FIELDS_MOST];
	struct type_entry e;

	apitrace_type(a, kind, name, stacks, &e, fields);
	return writer_type(a->w, &e);
}

int apitrace_declare(struct apitrace *a)
{
	struct writer *w = a->w;

	apitrace_forget(a);
	a->call = a->frame = 0;
	a->totals.traces++;
	if (!w)
		return a->headers.size < APITRACE_HEADER_LIMIT &&
				       buffer_append(&a->headers, a->header.data, a->header.size)
			       ? apitrace_no_memory(a)
			       : 0;
	memset(a->timed.enters, 0, sizeof a->timed.enters);
	if (!a->clock)
		a->clock = writer_clock(w, &(struct clock_entry){.name = writer_text(w, "ticks"),
								 .flags = CLOCK_TICKS});
	a->source =
		writer_source(w, &(struct source_entry){.format = writer_text(w, "apitrace"),
							.name = writer_text(w, a->input->name)});
	a->enter = declare_type(a, KIND_ENTER, "enter", false);
	a->leave = declare_type(a, KIND_LEAVE, "leave", false);
	a->traced = 0; /* declared at the first backtrace */
	if (!a->clock || !a->source || !a->enter || !a->leave)
		return apitrace_no_memory(a);
	if (a->header.size &&
	    writer_meta(w, a->source, APITRACE_META_HEADER, a->header.data, a->header.size)) {
		a->error = w->error;
		a->failure = FAILURE_FATAL;
		return -1;
	}
	return 0;
}

static int find_lane(struct apitrace *a, uint64_t thread, uint32_t *lane)
{
	if (thread >= APITRACE_THREAD_LIMIT)
		return apitrace_bad(a, "a thread of number %" PRIu64, thread);
	if (a->last_lane && thread == a->last_thread) {
		*lane = a->last_lane;
		return 0;
	}
	*lane = idmap_get(&a->lanes, (uint32_t)thread);
	if (!*lane) {
		a->totals.threads++;
		*lane = a->w ? writer_lane(a->w, &(struct lane_entry){.source = a->source,
								      .clock = a->clock,
								      .flags = LANE_HAS_TID,
								      .tid = (int32_t)thread})
			     : 1;
		if (!*lane || idmap_set(&a->lanes, (uint32_t)thread, *lane))
			return apitrace_no_memory(a);
	}
	a->last_thread = (uint32_t)thread;
	a->last_lane = *lane;
	return 0;
}

/* --- events --- */

static int write_failed(struct apitrace *a)
{
	a->error = a->w->error;
	a->failure = FAILURE_FATAL;
	return -1;
}

static const char *limit_text(const struct apitrace *a, char *text, size_t size)
{
	bool whole = !(a->values.limit % (1 << 20));

	snprintf(text, size, "%zu %s", whole ? a->values.limit >> 20 : a->values.limit,
		 whole ? "MiB" : "bytes");
	return text;
}

/* Write a gap: values of the row were left out. */
static int put_gap(struct apitrace *a, uint64_t tick, uint32_t lane, uint32_t call)
{
	char what[80], size[32];
	struct gap g = {GAP_UNREAD, GAP_EVENTS, UINT64_MAX, NO_OFFSET, a->input->name, what};

	snprintf(what, sizeof what, "values of call %" PRIu32 " beyond %s are left out", call,
		 limit_text(a, size, sizeof size));
	a->values.too_large = false;
	a->totals.left_out++;
	return writer_gap(a->w, tick, lane, &g);
}

/* Put the stack of an enter in its fixed part; without a backtrace nothing. */
static int put_stack(struct apitrace *a, struct new_row *r, uint8_t *fixed, uint32_t *stack)
{
	const struct buffer *frames = &a->values.frames;

	if (!frames->size || r->type != a->enter)
		return 0;
	if (!a->traced)
		a->traced = declare_type(a, KIND_ENTER, "enter", true);
	*stack = writer_stack_of(a->w, (const uint32_t *)(const void *)frames->data,
				 frames->size / 4);
	if (!a->traced || !*stack)
		return apitrace_no_memory(a);
	put_u32(fixed + APITRACE_FIXED_STACK, *stack);
	r->type = a->traced;
	r->fixed_size = APITRACE_FIXED_MOST;
	return 0;
}

static int put_row(struct apitrace *a, uint32_t lane, uint32_t type, uint32_t location,
		   uint32_t call)
{
	struct writer *w = a->w;
	bool timed = a->timed.profile;
	uint8_t fixed[TIMED_FIXED_MOST];
	struct row_needs needs = {a->values.used.data, a->values.used.size, 0};
	struct new_row r = {.time = a->tick++ + (uint64_t)a->input->shift,
			    .lane = lane,
			    .type = type,
			    .location = location};

	if (!w)
		return 0;
	put_u32(fixed + APITRACE_FIXED_CALL, call);
	put_u32(fixed + APITRACE_FIXED_FRAME, a->frame);
	r.fixed = fixed;
	r.fixed_size = APITRACE_FIXED_SIZE;
	r.tail = a->values.tail.data;
	r.tail_size = (uint32_t)a->values.tail.size;
	r.has_tail = true;
	if (put_stack(a, &r, fixed, &needs.stack))
		return -1;
	if (timed) {
		if (timed_row(a, &r, fixed, &needs, call))
			return -1;
	} else if (row_needs_use(&needs, w) || writer_row_data(w, r)) {
		return write_failed(a);
	}
	if (a->values.too_large && put_gap(a, r.time, lane, call))
		return write_failed(a);
	/* free the memory of a large texture */
	if (a->values.tail.capacity > 4 << 20)
		buffer_free(&a->values.tail);
	return 0;
}

static void report_damage(struct apitrace *a, const char *what, uint64_t offset)
{
	const struct unpack *u = &a->unpack;

	input_damage(a->input, a->input->name, u->chunk_at,
		     "%s %" PRIu64 ", byte %" PRIu64 " of the unpacked trace: %s",
		     unpack_part(u->container), u->chunk, offset, what);
}

/* Report faults of an event that can be read in spite of them. */
static void report_oddities(struct apitrace *a, const struct apitrace_function *f, uint64_t offset)
{
	char what[80];

	if (a->values.lost_bits)
		report_damage(a, "a number of more than 64 bits", offset);
	a->values.lost_bits = false;
	if (!f || a->values.arguments <= f->names)
		return;
	snprintf(what, sizeof what, "argument %" PRIu32 " of a function that has %" PRIu32,
		 a->values.arguments, f->names);
	report_damage(a, what, offset);
}

/* Return the function of an open call; NULL: not an open call. */
static const struct apitrace_function *function_of(const struct apitrace *a, uint64_t known)
{
	const struct apitrace_function *all = a->ids.functions.at;

	return known ? &all[(known >> 32) - 1] : NULL;
}

static int put_enter(struct apitrace *a, uint64_t offset)
{
	struct apitrace_function *f;
	uint64_t thread = 0;
	uint32_t lane;

	/* details define no functions, so f stays valid */
	if ((a->version >= APITRACE_THREADS && apitrace_uint(a, &thread)) ||
	    find_lane(a, thread, &lane) || apitrace_function(a, &f) || apitrace_details(a))
		return -1;
	if (__builtin_expect(a->values.arguments > f->names || a->values.lost_bits, 0))
		report_oddities(a, f, offset);
	if (open_calls_count(&a->open) < APITRACE_OPEN_LIMIT &&
	    open_calls_put(&a->open, 0, a->call, apitrace_remember(a, f, lane)))
		return apitrace_no_memory(a);
	a->totals.calls++;
	a->timed.name = f->name;
	return put_row(a, lane, a->enter, f->location, a->call++);
}

static int put_leave(struct apitrace *a, uint64_t offset)
{
	const struct apitrace_function *f;
	uint64_t call, known = 0;

	if (apitrace_uint(a, &call) || apitrace_details(a))
		return -1;
	/* apitrace ignores the leave of a call that is not open; here it is kept, without a
	 * location */
	if (!open_calls_take(&a->open, 0, (uint32_t)call, &known) &&
	    (known = 0, !a->last_lane && find_lane(a, 0, &a->last_lane)))
		return -1;
	f = function_of(a, known);
	if (__builtin_expect((f && a->values.arguments > f->names) || a->values.lost_bits, 0))
		report_oddities(a, f, offset);
	if (put_row(a, f ? (uint32_t)known : a->last_lane, a->leave, f ? f->location : 0,
		    (uint32_t)call))
		return -1;
	if (f && f->known & APITRACE_END_FRAME) {
		a->frame++;
		a->totals.frames++;
	}
	return 0;
}

void apitrace_count_open(struct apitrace *a)
{
	uint64_t known;

	while (open_calls_take_any(&a->open, &known)) {
		const struct apitrace_function *f = function_of(a, known);

		a->totals.incomplete++;
		a->totals.frames += f->known & APITRACE_END_FRAME ? 1 : 0;
	}
}

/* Report values that were left out. With --max-value they count as a loss only with --strict. */
static void report_left_out(struct apitrace *a)
{
	const struct decoding *d = a->input->decoding;
	bool expected = d->max_value && !d->strict;
	char what[160], size[32];

	snprintf(what, sizeof what, "%" PRIu64 " %s values of more than %s, which were left out%s",
		 a->totals.left_out, a->totals.left_out == 1 ? "call has" : "calls have",
		 limit_text(a, size, sizeof size),
		 a->values.limit < MAX_VALUE ? ": a higher --max-value keeps them"
					     : ": a stream holds no larger ones");
	if (!expected)
		input_damage(a->input, a->input->name, NO_OFFSET, "%s", what);
	else if (!d->quiet)
		warn(a->input->name, NO_OFFSET, "%s", what);
}

/* End the trace, and report why. in_event: the data ended inside an event. */
static int finish_trace(struct apitrace *a, bool in_event, uint64_t offset)
{
	a->done = true;
	apitrace_count_open(a);
	if (a->totals.left_out)
		report_left_out(a);
	if (a->values.lost_bits)
		report_oddities(a, NULL, offset);
	if (a->failure == FAILURE_BAD)
		report_damage(a, a->message, offset);
	else if (a->unpack.damage.what[0])
		input_damage_error(a->input, &a->unpack.damage);
	else if (in_event)
		report_damage(a, "the trace ends inside of an event", offset);
	return 0;
}

int apitrace_event(struct apitrace *a)
{
	uint64_t offset;
	uint8_t event;
	int bad;

	if (a->done)
		return 0;
	a->failure = FAILURE_NONE;
	offset = apitrace_offset(a);
	if (apitrace_byte(a, &event))
		return a->failure == FAILURE_FATAL ? -1 : finish_trace(a, false, offset);
	if (event == APITRACE_ENTER)
		bad = put_enter(a, offset);
	else if (event == APITRACE_LEAVE)
		bad = put_leave(a, offset);
	else
		bad = apitrace_other_traces(a, event);
	if (!bad)
		return 1;
	return a->failure == FAILURE_FATAL ? -1 : finish_trace(a, true, offset);
}
