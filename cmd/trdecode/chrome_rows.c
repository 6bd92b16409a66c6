/*
 * chrome_rows.c - the sorted events of Chrome JSON as rows: calls, asynchronous calls, flows
 *
 *     B draw at 1, X load at 2 for 3, E at 9     > draw  > load  < load at 5  < draw
 */
#include <limits.h>
#include <stdlib.h>

#include "cmd/trdecode/chrome.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/sorter.h"
#include "common/calls/open_calls.h"
#include "common/cli/program.h"
#include "common/formats/chrome.h"
#include "common/stream/value.h"
#include "common/stream/writer.h"
#include "common/util/hash.h"
#include "common/util/intern.h"

/*
 * Flows of calls with a "bind_id": the argument flow_ids, or terminating_flow_ids of the flow's
 * end.
 *
 * A call with "flow_in" alone receives the flow, which goes on if other calls receive it later. So
 * whether the flow ends there is known when all events were read.
 */

/* Test for the last event of the flow whose id is a value. */
static bool is_end(const struct chrome *c, const uint8_t *p, uint32_t size, uint32_t event)
{
	struct values v;
	struct value id;
	uint64_t number;

	values_begin(&v, p, size);
	if (!values_value(&v, &id))
		return false;
	number = key_map_get(&c->flows.ids, id.number);
	return number && c->flows.last[number - 1].event == event;
}

/* Rename the last argument of an event with record->flow if it is the end of its flow. *values: the
 * arguments, then those in c->read.record. */
static int chrome_flow_end(struct chrome *c, const struct chrome_record *r, const uint8_t **values)
{
	struct buffer *b = &c->read.record;
	uint32_t last = 0;

	b->size = 0;
	if (buffer_append(b, *values, r->values))
		return -1;
	/* the flow is the last argument */
	for (uint32_t i = 0; i < r->values; i += 8 + get_u32(b->data + i + 4))
		last = i;
	if (is_end(c, b->data + last + 8, get_u32(b->data + last + 4), r->flow))
		put_u32(b->data + last, c->texts.ended_flows);
	*values = b->data;
	return 0;
}

/*
 * Writes the sorted events as rows; an "X" event becomes an enter and a later leave.
 *
 * The calls of a thread are a stack, but those that overlap others (struct complete_calls). A "B"
 * in an "X" that ends earlier ends with that "X", as in Perfetto.
 */

enum {
	ROWS_DEPTH_MOST = 65535,    /* of a row */
	OVERLAPPING_MOST = 1 << 20, /* open calls; others end with the call around them */
};

/* --- declarations --- */

/* A row to write: an instant, a counter, or the begin or end of a call on a stack. */
struct chrome_row {
	struct chrome_thread *thread;
	uint64_t time;
	enum type_kind kind;
	int32_t cpu;		      /* of an instant; -1 none */
	bool kernel;		      /* of a call in the kernel */
	uint32_t call;		      /* number of a call on no stack; 0 */
	uint32_t level;		      /* of a call */
	uint32_t type_name, category; /* strings of the writer */
	uint32_t phase;		      /* with the scope */
	uint32_t location;	      /* of name, which declares the arguments; 0 none */
	uint32_t name;
	const uint8_t *values;
	uint32_t size;	/* of values */
	uint32_t stack; /* with which an instant was recorded; 0 none */
};

/* Get the flags of a row's type. */
static uint16_t type_flags(const struct chrome *c, const struct chrome_row *r)
{
	uint16_t values = r->size ? TYPE_TAIL | TYPE_VALUES : 0;

	if (r->kind != KIND_ENTER && r->kind != KIND_LEAVE)
		return values;
	if (r->kernel)
		return values | TYPE_KERNEL | TYPE_DEPTH;
	if (r->call)
		return values | TYPE_CALL_NUMBER;
	return c->depths && r->level <= ROWS_DEPTH_MOST ? values | TYPE_DEPTH : values;
}

/* Declare a row's type: one for the calls of each category, one for the instants or counters of
 * each name. */
static uint32_t chrome_rows_type_of(struct chrome *c, const struct chrome_row *r)
{
	struct {
		uint32_t what, kind, name, category, flags, phase, stack;
	} key = {'t',	   r->kind,	 r->type_name, r->category, type_flags(c, r),
		 r->phase, r->stack != 0};
	/* of an instant its stack */
	struct field_entry field = {.name = writer_text(c->w, r->call ? "call" : "stack"),
				    .kind = FIELD_UINT,
				    .role = r->call ? ROLE_CALL : ROLE_STACK,
				    .size = 4};
	bool has_field = r->call || r->stack;
	uint32_t *id = id_cache_number(&c->declared, &key, sizeof key);

	if (id && !*id)
		*id = writer_type(c->w, &(struct type_entry){.source = c->source,
							     .name = r->type_name,
							     .group = r->category,
							     .kind = (uint8_t)r->kind,
							     .flags = (uint16_t)key.flags,
							     .native = r->phase,
							     .fixed_size = 4 * has_field,
							     .nfields = has_field,
							     .fields = &field});
	return id ? *id : 0;
}

/* Get the lane of a thread, or of a thread on a CPU; cpu -1: it is not known. Streams have an
 * idle thread, tid 0, for each CPU, and trencode writes a thread for each: all its events are on
 * its CPU. */
static uint32_t chrome_lane(struct chrome *c, struct chrome_thread *t, int32_t cpu)
{
	struct {
		uint32_t what, thread;
		int32_t cpu;
	} key = {'l', (uint32_t)(t - c->threads), cpu};
	uint32_t *lane;

	if (t->tid <= 0)
		key.cpu = cpu = t->cpus ? -1 : t->cpu;
	lane = cpu < 0 ? &t->lane : id_cache_number(&c->declared, &key, sizeof key);

	if (lane && !*lane)
		*lane = writer_lane(
			c->w, &(struct lane_entry){
				      .source = c->source,
				      .clock = c->clock,
				      .comm = t->comm,
				      .flags = (t->tid >= 0 ? LANE_HAS_TID | LANE_PROCESS_TID : 0) |
					       (t->pid >= 0 ? LANE_HAS_PID : 0) |
					       (cpu >= 0 ? LANE_HAS_CPU : 0),
				      .cpu = cpu,
				      .tid = t->tid,
				      .pid = t->pid,
				      .ppid = -1});
	return lane ? *lane : 0;
}

/* --- rows --- */

/* Convert the arguments of the next row to details in c->read.values; the name has a location. */
static inline int chrome_values(struct chrome *c, uint32_t name, const uint8_t *p, uint32_t size)
{
	c->read.values.size = 0;
	if (arguments_values(&c->arguments, name, p, size, false, &c->read.values))
		return -1;
	return size && c->read.objects.definitions ? arguments_use_structs(c->w, &c->read.values)
						   : 0;
}

static int chrome_put_row(struct chrome *c, const struct chrome_row *r)
{
	uint32_t lane = chrome_lane(c, r->thread, r->cpu), type = chrome_rows_type_of(c, r);
	uint8_t fixed[4];

	put_u32(fixed, r->call ? r->call : r->stack);
	if (!lane || !type || chrome_values(c, r->name, r->values, r->size) ||
	    (r->stack && writer_use_stack(c->w, r->stack)))
		return -1;
	return writer_row_data(
		c->w,
		(struct new_row){.time = merge_shifted(r->time, c->input->shift),
				 .lane = lane,
				 .type = type,
				 .location = r->location,
				 .depth = r->level < ROWS_DEPTH_MOST ? r->level : ROWS_DEPTH_MOST,
				 .fixed = fixed,
				 .fixed_size = r->call || r->stack ? sizeof fixed : 0,
				 .tail = c->read.values.data,
				 .tail_size = (uint32_t)c->read.values.size,
				 .has_tail = r->size > 0});
}

/* Get the number of open calls of a frame's stack. */
static uint32_t *chrome_rows_level_of(struct chrome_thread *t, const struct chrome_frame *f)
{
	return f->kernel ? &t->kernel_level : &t->level;
}

/* Get the location of a name, after all events were read. */
static inline uint32_t chrome_location(struct chrome *c, uint32_t name)
{
	return arguments_location_of(&c->arguments, c->w, name);
}

/* Get the location of a name; any, where no rows are written. */
static uint32_t chrome_rows_frame_location(struct chrome *c, uint32_t name)
{
	return c->completes.looking ? 1 : chrome_location(c, name);
}

/* Write the leave of a call; it may have arguments. */
static int chrome_rows_put_leave(struct chrome *c, struct chrome_thread *t, struct chrome_frame *f,
				 uint64_t time, const uint8_t *values, uint32_t size)
{
	uint32_t name = f->leave_name ? f->leave_name : f->name;
	uint32_t location = f->leave_name ? chrome_rows_frame_location(c, name) : f->location;
	int failed = 0;

	if (c->completes.looking)
		return 0;
	/* without a depth only its leave ends a call */
	if (!f->unfinished || f->level > ROWS_DEPTH_MOST)
		failed = !location ||
			 chrome_put_row(c, &(struct chrome_row){.thread = t,
								.time = time,
								.cpu = -1,
								.kind = KIND_LEAVE,
								.kernel = f->kernel,
								.call = f->call,
								.level = f->level,
								.type_name = c->texts.end,
								.category = f->category,
								.phase = f->call ? 'X' : 'E',
								.location = location,
								.name = name,
								.values = size ? values : f->values,
								.size = size ? size : f->size});
	free(f->values);
	f->values = NULL;
	return failed ? -1 : 0;
}

/* End the innermost call; the leave may have arguments. */
static int chrome_leave(struct chrome *c, struct chrome_thread *t, uint64_t time,
			const uint8_t *values, uint32_t size)
{
	struct chrome_frame *f = &t->frames[--t->depth];

	--*chrome_rows_level_of(t, f);
	return chrome_rows_put_leave(c, t, f, time, values, size);
}

/* End the calls of a thread until so many are left. */
static int chrome_unwind(struct chrome *c, struct chrome_thread *t, size_t depth, uint64_t time)
{
	while (t->depth > depth) {
		c->counts.clipped += t->frames[t->depth - 1].end > time;
		if (chrome_leave(c, t, time, NULL, 0))
			return -1;
	}
	return 0;
}

/* Store the arguments of a call for its leave. */
static int keep_values(struct chrome_frame *f, const uint8_t *values, uint32_t size)
{
	if (!size)
		return 0;
	f->values = malloc(size);
	if (!f->values)
		return -1;
	memcpy(f->values, values, size);
	f->size = size;
	return 0;
}

/* Test for a call in the kernel that begins inside another call of its thread. Filters may leave
 * that call out; the stream counts no calls in the kernel outside of others. */
static inline bool chrome_in_kernel(const struct chrome *c, const struct chrome_record *r)
{
	return c->kernel && r->category == c->kernel && c->threads[r->thread].level;
}

/* Test for an X that may be on no stack. */
static bool may_overlap(const struct chrome *c, const struct chrome_record *r)
{
	return r->kind == CHROME_COMPLETE && !r->marks.unseen && !r->marks.unfinished &&
	       !chrome_in_kernel(c, r);
}

/* Test for a call that is on no stack. */
static bool is_overlapping(const struct chrome *c, const struct chrome_record *r,
			   const struct complete_end *end)
{
	const struct chrome_thread *t = &c->threads[r->thread];
	const struct chrome_frame *top = t->depth ? &t->frames[t->depth - 1] : NULL;

	if (!may_overlap(c, r) ||
	    (!c->overlapping.free && c->overlapping.count == OVERLAPPING_MOST))
		return false;
	return r->marks.overlaps ||
	       complete_calls_overlap(&c->completes, end, top ? top->limit : UINT64_MAX,
				      r->marks.inexact || (top && top->inexact));
}

/* Note the X that an E ends too early, from a frame on. */
static int mark_cut(struct chrome *c, const struct chrome_record *r, size_t depth, uint64_t time)
{
	const struct chrome_thread *t = &c->threads[r->thread];

	for (const struct chrome_frame *f = t->frames + depth; f < t->frames + t->depth; f++)
		if (f->complete &&
		    complete_ends_outside(f->end, time, f->inexact || r->marks.inexact) &&
		    complete_calls_mark(&c->completes, f->serial))
			return -1;
	return 0;
}

/* Get a frame that is on no stack. NULL: out of memory. */
static struct chrome_frame *overlapping_frame(struct chrome *c, uint32_t *index)
{
	struct chrome_frame *f;

	if (!c->overlapping.free) {
		if (ARRAY_GROW(c->overlapping.frames, c->overlapping.capacity,
			       c->overlapping.count))
			return NULL;
		c->overlapping.frames[c->overlapping.count].level = 0;
		c->overlapping.free = ++c->overlapping.count;
	}
	*index = (uint32_t)c->overlapping.free - 1;
	f = &c->overlapping.frames[*index];
	c->overlapping.free = f->level;
	/* not the number of a call that ends at this time: readers that merge streams may have the
	 * end of that call after this begin */
	f->call = ++c->async.calls;
	return f;
}

/* Get the frame of a call that begins, on the stack of its thread or on none. */
static struct chrome_frame *begin_frame(struct chrome *c, const struct chrome_record *r,
					uint64_t time, struct complete_end *end)
{
	struct chrome_thread *t = &c->threads[r->thread];
	bool complete = r->kind == CHROME_COMPLETE;
	uint32_t name = r->other && !r->marks.unseen ? r->other : r->name;
	struct chrome_frame *f;

	*end = (struct complete_end){.thread = r->thread, .time = UINT64_MAX};
	if (complete) {
		end->time = time + (uint64_t)chrome_unit(c, (int64_t)r->duration);
		end->serial = ++c->completes.serial;
	}
	end->overlaps = is_overlapping(c, r, end);
	if (end->overlaps && c->completes.looking &&
	    complete_calls_mark(&c->completes, end->serial))
		return NULL;
	if (end->overlaps) {
		f = overlapping_frame(c, &end->depth);
	} else {
		f = ARRAY_GROW(t->frames, t->capacity, t->depth) ? NULL : &t->frames[t->depth];
		end->depth = (uint32_t)t->depth;
	}
	if (!f)
		return NULL;
	*f = (struct chrome_frame){.end = end->time,
				   .limit = end->time,
				   .serial = end->serial,
				   .call = end->overlaps ? f->call : 0,
				   .location = chrome_rows_frame_location(c, name),
				   .name = name,
				   .leave_name = name != r->name ? r->name : 0,
				   .category = r->category,
				   .kernel = chrome_in_kernel(c, r),
				   .inexact = r->marks.inexact,
				   .complete = may_overlap(c, r),
				   .unfinished = complete && r->marks.unfinished};
	if (!end->overlaps) {
		if (t->depth && f[-1].limit < f->limit) {
			f->limit = f[-1].limit;
			f->inexact = f[-1].inexact;
		}
		f->level = (*chrome_rows_level_of(t, f))++;
		t->depth++;
	}
	return f->location ? f : NULL;
}

static int chrome_enter(struct chrome *c, const struct chrome_record *r, uint64_t time,
			const uint8_t *values)
{
	struct complete_end end;
	struct chrome_frame *f = begin_frame(c, r, time, &end);
	bool complete = r->kind == CHROME_COMPLETE;

	if (!f)
		return -1;
	if (c->completes.looking)
		return complete ? complete_calls_push(&c->completes, &end) : 0;
	if (r->marks.unseen
		    ? keep_values(f, values, r->values)
		    : chrome_put_row(c, &(struct chrome_row){.thread = &c->threads[r->thread],
							     .time = time,
							     .cpu = -1,
							     .kind = KIND_ENTER,
							     .kernel = f->kernel,
							     .call = f->call,
							     .level = f->level,
							     .type_name = c->texts.begin,
							     .category = r->category,
							     .phase = f->call ? 'X' : 'B',
							     .location = f->location,
							     .name = f->name,
							     .values = values,
							     .size = f->size ? 0 : r->values}))
		return -1;
	return complete ? complete_calls_push(&c->completes, &end) : 0;
}

/* End the call of an "E" event, and the calls inside it: the innermost call begun by a "B". If the
 * "E" has a name, the call must have this name: uftrace writes ends of calls whose begins it leaves
 * out. */
static int chrome_rows_end_call(struct chrome *c, const struct chrome_record *r, uint64_t time,
				const uint8_t *values)
{
	struct chrome_thread *t = &c->threads[r->thread];
	size_t depth = t->depth;

	while (depth &&
	       (t->frames[depth - 1].serial || (r->name && t->frames[depth - 1].name != r->name)))
		depth--;
	if (depth) {
		t->frames[depth - 1].unfinished = r->marks.unfinished;
		t->frames[depth - 1].leave_name = r->other;
		if ((c->completes.looking && mark_cut(c, r, depth, time)) ||
		    chrome_unwind(c, t, depth, time))
			return -1;
		return chrome_leave(c, t, time, values, r->values);
	}
	c->counts.unopened++;
	return 0;
}

/* Read the gap of an instant that trencode wrote for one. */
static bool is_gap(const struct chrome *c, const struct chrome_record *r, const uint8_t *values,
		   struct gap_arguments *gap)
{
	return r->phase == 'i' && r->name == c->texts.gap && r->category == c->texts.gap_category &&
	       gap_arguments_read(gap, c->w, values, r->values);
}

/* Write the row of an instant, counter or gap. */
static int chrome_rows_other_event(struct chrome *c, const struct chrome_record *r, uint64_t time,
				   const uint8_t *values)
{
	uint32_t location, stack = 0;
	struct gap_arguments gap;

	if (is_gap(c, r, values, &gap)) {
		location = chrome_lane(c, &c->threads[r->thread], r->cpu);
		return location ? writer_gap(c->w, merge_shifted(time, c->input->shift), location,
					     &gap.gap)
				: -1;
	}
	location = r->values ? chrome_location(c, r->name) : 0;
	if ((r->values && !location) ||
	    (r->other && frame_table_stack(&c->frames, r->other, &stack)))
		return -1;
	return chrome_put_row(c,
			      &(struct chrome_row){.thread = &c->threads[r->thread],
						   .time = time,
						   .cpu = r->cpu,
						   .kind = r->kind == CHROME_COUNTER ? KIND_COUNTER
										     : KIND_INSTANT,
						   .type_name = r->name,
						   .category = r->category,
						   .phase = r->phase | r->scope,
						   .location = location,
						   .name = r->name,
						   .values = values,
						   .size = r->values,
						   .stack = stack});
}

/* Get the type of samples of that name. */
static uint32_t chrome_rows_sample_type(struct chrome *c, const struct chrome_record *r)
{
	struct {
		uint32_t what, name, category, kind;
	} key = {'s', r->name, r->category, r->kind};
	uint32_t *id = id_cache_number(&c->declared, &key, sizeof key);

	if (id && !*id)
		*id = sample_type_declare(c->input->decoding,
					  (struct type_entry){.source = c->source,
							      .name = r->name,
							      .group = r->category,
							      .native = r->phase,
							      .flags = r->kind == CHROME_TIME_SAMPLE
									       ? TYPE_WEIGHT_TIME
									       : 0},
					  "weight", false);
	return id ? *id : 0;
}

/* Get the weight of the next sample of a profile (number + 1), in the order of times: the time up
 * to the one after it, or to the end. time: that of the stream. */
static uint64_t chrome_profile_weight(struct chrome *c, uint32_t profile, uint64_t time)
{
	size_t at = ++c->profiles.profile[profile - 1].next;
	const struct buffer *times = &c->profiles.profile[profile - 1].times;
	int64_t start = (int64_t)(time - (uint64_t)chrome_zero(c));
	int64_t end = 8 * at < times->size ? (int64_t)get_u64(times->data + 8 * at)
					   : c->profiles.profile[profile - 1].end;

	return end > start ? (uint64_t)(end - start) : 0;
}

static int sample_event(struct chrome *c, const struct chrome_record *r, uint64_t time)
{
	uint8_t weight[8];
	struct new_row row = {.time = merge_shifted(time, c->input->shift),
			      .lane = chrome_lane(c, &c->threads[r->thread], r->cpu),
			      .type = chrome_rows_sample_type(c, r),
			      .fixed = weight,
			      .fixed_size = sizeof weight};

	put_u64(weight, r->id.number ? chrome_profile_weight(c, (uint32_t)r->id.number, time)
				     : r->duration);
	if (!row.lane || !row.type ||
	    (r->other && frame_table_stack(&c->frames, r->other, &row.location)))
		return -1;
	return writer_sample(c->w, row);
}

/* --- asynchronous calls: the events b, n and e of an id --- */

enum { OPEN_MOST = 1 << 20, SEARCHED = 256, FIXED = 16, FIXED_CALL = 0, FIXED_ID = 8 };

static bool is_legacy(uint32_t phase)
{
	return phase == 'S' || phase == 'F';
}

/* Test for a begin, step or end of a flow. */
static bool chrome_is_flow(char phase)
{
	return phase && strchr("stf", phase);
}

/* Declare a type: one for the calls of each category, one for the instants of each name. */
static uint32_t chrome_type_of(struct chrome *c, enum type_kind kind, const struct chrome_record *r)
{
	struct {
		uint32_t kind, name, category, values, phase, form;
	} key = {kind, 0, r->category, r->values > 0, r->phase, r->id.form};
	struct writer *w = c->w;
	struct field_entry fields[2] = {{writer_text(w, "call"), 0, FIELD_UINT, ROLE_CALL,
					 WHERE_FIXED, FIXED_CALL, 4, 0, 0},
					{c->id_name, 0,
					 r->id.form & CHROME_ID_HEX ? FIELD_HEX : FIELD_UINT,
					 ROLE_NONE, WHERE_FIXED, FIXED_ID, 8, 0, 0}};
	bool call = kind != KIND_INSTANT;
	uint32_t *id;

	key.name = kind == KIND_ENTER	? writer_text(w, "async begin")
		   : kind == KIND_LEAVE ? writer_text(w, "async end")
					: r->name;
	id = id_cache_number(&c->async.declared, &key, sizeof key);
	if (id && !*id && key.name && fields[0].name && fields[1].name)
		*id = writer_type(
			w, &(struct type_entry){
				   .source = c->source,
				   .name = key.name,
				   .group = r->category,
				   .kind = (uint8_t)kind,
				   .flags = (r->values ? TYPE_TAIL | TYPE_VALUES : 0) |
					    (call ? TYPE_CALL_NUMBER : 0),
				   .fixed_size = FIXED,
				   .native = r->phase |
					     (r->id.form & CHROME_ID_LOCAL ? CHROME_LOCAL : 0) |
					     (chrome_is_flow((char)r->phase) &&
							      r->id.form & CHROME_ID_ENCLOSING
						      ? CHROME_ENCLOSING
						      : 0),
				   .nfields = call ? 2 : 1,
				   .fields = call ? fields : fields + 1});
	return id ? *id : 0;
}

/* Write a row of a call, or of an instant: then open has thread, name and location alone. */
static int async_row(struct chrome *c, const struct chrome_record *r,
		     const struct chrome_open *open, enum type_kind kind, uint64_t time,
		     const uint8_t *values)
{
	uint32_t lane = chrome_lane(c, &c->threads[open->thread], -1),
		 type = chrome_type_of(c, kind, r);
	uint8_t fixed[FIXED] = {0};

	put_u32(fixed + FIXED_CALL, open->call);
	put_u64(fixed + FIXED_ID, r->id.number);
	if (!lane || !type || chrome_values(c, open->name, values, r->values))
		return -1;
	return writer_row_data(c->w, (struct new_row){.time = merge_shifted(time, c->input->shift),
						      .lane = lane,
						      .type = type,
						      .location = open->location,
						      .fixed = fixed,
						      .fixed_size = sizeof fixed,
						      .tail = c->read.values.data,
						      .tail_size = (uint32_t)c->read.values.size,
						      .has_tail = r->values > 0});
}

/* --- open calls --- */

static uint64_t chrome_key_of(const struct chrome *c, const struct chrome_record *r)
{
	static const struct siphash_key key = {0x63, 0x68};
	struct {
		uint64_t number;
		uint32_t category, legacy, form, pid;
	} of = {r->id.number, r->category, is_legacy(r->phase), r->id.form & CHROME_ID_LOCAL,
		r->id.form & CHROME_ID_LOCAL ? (uint32_t)c->threads[r->thread].pid : 0};

	return siphash(&key, &of, sizeof of) >> 1;
}

static bool async_take(struct chrome *c, uint64_t key, uint64_t *index)
{
	return open_calls_take(&c->async.keys, (uint32_t)(key >> 32), (uint32_t)key, index);
}

static int async_put(struct chrome *c, uint64_t key, uint64_t index)
{
	return open_calls_put(&c->async.keys, (uint32_t)(key >> 32), (uint32_t)key, index);
}

/* Get the index + 1 of a free element of c->async.open, or 0. *call: the number of its call. */
static size_t chrome_new_open(struct chrome *c, uint64_t time, uint32_t *call)
{
	size_t index = c->async.unfinished;

	if (index) {
		c->async.unfinished = c->async.open[index - 1].below;
		/* the begin of another call with its number ends this call in the stream; not at
		 * the same time: readers that merge streams may have the begins in another order
		 */
		*call = time > c->async.open[index - 1].time ? c->async.open[index - 1].call
							     : ++c->async.calls;
		return index;
	}
	*call = ++c->async.calls;
	index = c->async.free;
	if (index) {
		c->async.free = c->async.open[index - 1].below;
		return index;
	}
	if (ARRAY_GROW(c->async.open, c->async.capacity, c->async.count))
		return 0;
	return ++c->async.count;
}

/* Write the row of a call in the kernel that overlaps calls outside. */
static int async_kernel(struct chrome *c, const struct chrome_record *r,
			const struct chrome_open *open, uint64_t time, const uint8_t *values)
{
	bool enter = r->phase == 'b';

	return chrome_put_row(
		c, &(struct chrome_row){.thread = &c->threads[open->thread],
					.time = time,
					.kind = enter ? KIND_ENTER : KIND_LEAVE,
					.kernel = true,
					.level = open->level,
					.type_name = enter ? c->texts.begin : c->texts.end,
					.category = r->category,
					.phase = enter ? 'B' : 'E',
					.location = open->location,
					.name = open->name,
					.values = values,
					.size = r->values});
}

static int async_begin(struct chrome *c, const struct chrome_record *r, uint64_t time,
		       const uint8_t *values)
{
	uint64_t key = chrome_key_of(c, r), below = 0;
	struct chrome_open *open;
	uint32_t location, call;
	size_t index;

	if (c->async.count == OPEN_MOST && !c->async.free && !c->async.unfinished) {
		c->counts.unkept++;
		return 0;
	}
	location = chrome_location(c, r->name);
	index = chrome_new_open(c, time, &call);
	if (!location || !index)
		return -1;
	async_take(c, key, &below);
	open = &c->async.open[index - 1];
	*open = (struct chrome_open){.key = key,
				     .time = time,
				     .below = (size_t)below,
				     .call = call,
				     .thread = r->thread,
				     .name = r->name,
				     .pair = r->pair,
				     .location = location};
	if (async_put(c, key, index))
		return -1;
	open->kernel = !is_legacy(r->phase) && chrome_in_kernel(c, r);
	if (open->kernel) {
		open->level = c->threads[r->thread].kernel_level++;
		return async_kernel(c, r, open, time, values);
	}
	return async_row(c, r, open, KIND_ENTER, time, values);
}

/* Find the call to end in the list from *head on; return the pointer to its index + 1. NULL: not
 * among the innermost SEARCHED. */
static size_t *async_find(struct chrome *c, const struct chrome_record *r, uint64_t key,
			  size_t *head)
{
	size_t *other = NULL, *same = NULL, *at = head;

	for (unsigned i = 0; *at && i < SEARCHED; i++, at = &c->async.open[*at - 1].below) {
		const struct chrome_open *o = &c->async.open[*at - 1];

		if (o->key != key || (r->name && o->name != r->name))
			continue;
		if (r->pair && o->pair == r->pair)
			return at;
		if (!same && c->threads[o->thread].pid == c->threads[r->thread].pid)
			same = at;
		if (same && !r->pair)
			return same;
		other = other ? other : at;
	}
	return same ? same : other;
}

static int async_end(struct chrome *c, const struct chrome_record *r, uint64_t time,
		     const uint8_t *values)
{
	uint64_t key = chrome_key_of(c, r), index = 0;
	struct chrome_open open;
	size_t head, *at, *list, ended;

	async_take(c, key, &index);
	head = (size_t)index;
	at = async_find(c, r, key, &head);
	if (!at) {
		c->counts.unopened++;
		return head ? async_put(c, key, head) : 0;
	}
	ended = *at;
	open = c->async.open[ended - 1];
	*at = open.below;
	list = r->marks.unfinished && !open.kernel ? &c->async.unfinished : &c->async.free;
	c->async.open[ended - 1].below = *list;
	*list = ended;
	if (head && async_put(c, key, head))
		return -1;
	c->threads[open.thread].kernel_level -= open.kernel;
	if (r->marks.unfinished)
		return 0;
	if (open.kernel)
		return async_kernel(c, r, &open, time, values);
	return async_row(c, r, &open, KIND_LEAVE, time, values);
}

/* Write the row of an event with an asynchronous phase. */
static int chrome_async(struct chrome *c, const struct chrome_record *r, uint64_t time,
			const uint8_t *values)
{
	struct chrome_open instant = {.thread = r->thread, .name = r->name};

	switch (r->phase) {
	case 'b':
	case 'S': return async_begin(c, r, time, values);
	case 'e':
	case 'F': return async_end(c, r, time, values);
	}
	instant.location = r->values ? chrome_location(c, r->name) : 0;
	if (r->values && !instant.location)
		return -1;
	return async_row(c, r, &instant, KIND_INSTANT, time, values);
}

static int chrome_event_to_rows(struct chrome *c, const struct sorter_record *record)
{
	struct chrome_record r;
	const uint8_t *values = record->data + sizeof r;
	uint64_t time = chrome_stream_time(c, record->key.time);

	memcpy(&r, record->data, sizeof r);
	if (c->completes.looking && r.kind != CHROME_BEGIN && r.kind != CHROME_COMPLETE &&
	    r.kind != CHROME_END)
		return 0;
	if (r.flow && !c->completes.looking && chrome_flow_end(c, &r, &values))
		return -1;
	switch (r.kind) {
	case CHROME_BEGIN:
	case CHROME_COMPLETE: return chrome_enter(c, &r, time, values);
	case CHROME_END: return chrome_rows_end_call(c, &r, time, values);
	case CHROME_ASYNC: return chrome_async(c, &r, time, values);
	case CHROME_SAMPLE:
	case CHROME_TIME_SAMPLE: return sample_event(c, &r, time);
	default: return chrome_rows_other_event(c, &r, time, values);
	}
}

/* Take the earliest end from the heap, and end its call if the call is still open. */
static int chrome_rows_take_end(struct chrome *c)
{
	struct complete_end end = complete_calls_pop(&c->completes);
	struct chrome_thread *t = &c->threads[end.thread];

	if (end.overlaps) {
		struct chrome_frame *f = &c->overlapping.frames[end.depth];
		int failed = chrome_rows_put_leave(c, t, f, end.time, NULL, 0);

		f->level = (uint32_t)c->overlapping.free;
		c->overlapping.free = end.depth + 1;
		return failed;
	}
	if (t->depth <= end.depth || t->frames[end.depth].serial != end.serial)
		return 0;
	return chrome_unwind(c, t, end.depth, end.time);
}

int chrome_rows(struct chrome *c, uint64_t until, uint64_t *next, struct error *e)
{
	struct sorter_record r;

	for (;;) {
		bool more = sorter_peek(&c->sorter, &r);
		uint64_t at = more ? chrome_stream_time(c, r.key.time) : UINT64_MAX;

		/* at one time, calls end before others begin */
		if (c->completes.count && complete_calls_next(&c->completes) <= at) {
			*next = complete_calls_next(&c->completes);
			if (*next > until)
				return 0;
			if (chrome_rows_take_end(c))
				return -1;
			continue;
		}
		*next = at;
		if (!more || at > until)
			return 0;
		if (chrome_event_to_rows(c, &r) || sorter_advance(&c->sorter, e))
			return -1;
	}
}

int chrome_find_overlaps(struct chrome *c, struct error *e)
{
	uint64_t next;
	int failed;

	if (!c->overlapping.mixed)
		return 0;
	c->completes.looking = true;
	failed = chrome_rows(c, UINT64_MAX, &next, e) || sorter_rewind(&c->sorter, e);
	if (failed && !e->what[0])
		error_no_memory(e);
	c->counts.clipped = c->counts.unopened = 0;
	for (size_t i = 0; i < c->nthreads; i++)
		c->threads[i].depth = c->threads[i].level = c->threads[i].kernel_level = 0;
	complete_calls_rewind(&c->completes);
	c->overlapping.count = c->overlapping.free = 0;
	c->async.calls = 0;
	return failed ? -1 : 0;
}
