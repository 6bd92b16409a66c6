/*
 * rows.c - writes the sorted events as rows; an "X" event becomes an enter and a later leave
 *
 * The calls of a thread are a stack, but those that overlap others (input/complete_calls.h). A "B"
 * in an "X" that ends earlier ends with that "X", as in Perfetto.
 */
#include <stdlib.h>

#include "cmd/trdecode/chrome/chrome.h"
#include "cmd/trdecode/input/gap_arguments.h"
#include "cmd/trdecode/input/merge.h"

enum {
	DEPTH_MOST = 65535,	    /* of a row */
	OVERLAPPING_MOST = 1 << 20, /* open calls; others end with the call around them */
};

/* --- declarations --- */

/* Return the flags of a row's type. */
static uint16_t type_flags(const struct chrome *c, const struct chrome_row *r)
{
	uint16_t values = r->size ? TYPE_TAIL | TYPE_VALUES : 0;

	if (r->kind != KIND_ENTER && r->kind != KIND_LEAVE)
		return values;
	if (r->kernel)
		return values | TYPE_KERNEL | TYPE_DEPTH;
	if (r->call)
		return values | TYPE_CALL_NUMBER;
	return c->depths && r->level <= DEPTH_MOST ? values | TYPE_DEPTH : values;
}

/* Declare a row's type: one for the calls of each category, one for the instants or counters of
 * each name. */
static uint32_t type_of(struct chrome *c, const struct chrome_row *r)
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

uint32_t chrome_lane(struct chrome *c, struct chrome_thread *t, int32_t cpu)
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

int chrome_row(struct chrome *c, const struct chrome_row *r)
{
	uint32_t lane = chrome_lane(c, r->thread, r->cpu), type = type_of(c, r);
	uint8_t fixed[4];

	put_u32(fixed, r->call ? r->call : r->stack);
	if (!lane || !type || chrome_values(c, r->name, r->values, r->size) ||
	    (r->stack && writer_use_stack(c->w, r->stack)))
		return -1;
	return writer_row_data(
		c->w, (struct new_row){.time = merge_shifted(r->time, c->input->shift),
				       .lane = lane,
				       .type = type,
				       .location = r->location,
				       .depth = r->level < DEPTH_MOST ? r->level : DEPTH_MOST,
				       .fixed = fixed,
				       .fixed_size = r->call || r->stack ? sizeof fixed : 0,
				       .tail = c->read.values.data,
				       .tail_size = (uint32_t)c->read.values.size,
				       .has_tail = r->size > 0});
}

/* Return the number of open calls of a frame's stack. */
static uint32_t *level_of(struct chrome_thread *t, const struct chrome_frame *f)
{
	return f->kernel ? &t->kernel_level : &t->level;
}

/* Return the location of a name; any, where no rows are written. */
static uint32_t frame_location(struct chrome *c, uint32_t name)
{
	return c->completes.looking ? 1 : chrome_location(c, name);
}

/* Write the leave of a call; it may have arguments. */
static int put_leave(struct chrome *c, struct chrome_thread *t, struct chrome_frame *f,
		     uint64_t time, const uint8_t *values, uint32_t size)
{
	uint32_t name = f->leave_name ? f->leave_name : f->name;
	uint32_t location = f->leave_name ? frame_location(c, name) : f->location;
	int failed = 0;

	if (c->completes.looking)
		return 0;
	/* without a depth only its leave ends a call */
	if (!f->unfinished || f->level > DEPTH_MOST)
		failed = !location ||
			 chrome_row(c, &(struct chrome_row){.thread = t,
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

	--*level_of(t, f);
	return put_leave(c, t, f, time, values, size);
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
	const struct chrome_overlapping *o = &c->overlapping;
	const struct chrome_thread *t = &c->threads[r->thread];
	const struct chrome_frame *top = t->depth ? &t->frames[t->depth - 1] : NULL;

	if (!may_overlap(c, r) || (!o->free && o->count == OVERLAPPING_MOST))
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
	struct chrome_overlapping *o = &c->overlapping;
	struct chrome_frame *f;

	if (!o->free) {
		if (ARRAY_GROW(o->frames, o->capacity, o->count))
			return NULL;
		o->frames[o->count].level = 0;
		o->free = ++o->count;
	}
	*index = (uint32_t)o->free - 1;
	f = &o->frames[*index];
	o->free = f->level;
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
				   .location = frame_location(c, name),
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
		f->level = (*level_of(t, f))++;
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
	if (r->marks.unseen ? keep_values(f, values, r->values)
			    : chrome_row(c, &(struct chrome_row){.thread = &c->threads[r->thread],
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
static int end_call(struct chrome *c, const struct chrome_record *r, uint64_t time,
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
static int other_event(struct chrome *c, const struct chrome_record *r, uint64_t time,
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
	    (r->other && chrome_frames_stack(&c->frames, c->w, r->other, &stack)))
		return -1;
	return chrome_row(c, &(struct chrome_row){.thread = &c->threads[r->thread],
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

/* Return the type of samples of that name. */
static uint32_t sample_type(struct chrome *c, const struct chrome_record *r)
{
	struct {
		uint32_t what, name, category, kind;
	} key = {'s', r->name, r->category, r->kind};
	uint32_t *id = id_cache_number(&c->declared, &key, sizeof key);
	struct field_entry weight = {.name = writer_text(c->w, "weight"),
				     .kind = FIELD_UINT,
				     .role = ROLE_PERIOD,
				     .size = 8};

	if (id && !*id) {
		*id = writer_type(c->w, &(struct type_entry){.source = c->source,
							     .name = r->name,
							     .group = r->category,
							     .kind = KIND_SAMPLE,
							     .native = r->phase,
							     .flags = r->kind == CHROME_TIME_SAMPLE
									      ? TYPE_WEIGHT_TIME
									      : 0,
							     .fixed_size = 8,
							     .nfields = 1,
							     .fields = &weight});
		if (*id && row_filter_announce(c->input->decoding->row_filter, *id, 0))
			return 0;
	}
	return id ? *id : 0;
}

static int sample_event(struct chrome *c, const struct chrome_record *r, uint64_t time)
{
	uint8_t weight[8];
	struct new_row row = {.time = merge_shifted(time, c->input->shift),
			      .lane = chrome_lane(c, &c->threads[r->thread], r->cpu),
			      .type = sample_type(c, r),
			      .fixed = weight,
			      .fixed_size = sizeof weight};

	put_u64(weight, r->id.number ? chrome_profile_weight(c, (uint32_t)r->id.number, time)
				     : r->duration);
	if (!row.lane || !row.type ||
	    (r->other && chrome_frames_stack(&c->frames, c->w, r->other, &row.location)))
		return -1;
	return writer_sample(c->w, row);
}

static int chrome_row_event(struct chrome *c, const struct sorter_record *record)
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
	case CHROME_END: return end_call(c, &r, time, values);
	case CHROME_ASYNC: return chrome_async(c, &r, time, values);
	case CHROME_SAMPLE:
	case CHROME_TIME_SAMPLE: return sample_event(c, &r, time);
	default: return other_event(c, &r, time, values);
	}
}

/* Take the earliest end from the heap, and end its call if the call is still open. */
static int take_end(struct chrome *c)
{
	struct complete_end end = complete_calls_pop(&c->completes);
	struct chrome_thread *t = &c->threads[end.thread];

	if (end.overlaps) {
		struct chrome_frame *f = &c->overlapping.frames[end.depth];
		int failed = put_leave(c, t, f, end.time, NULL, 0);

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
			if (take_end(c))
				return -1;
			continue;
		}
		*next = at;
		if (!more || at > until)
			return 0;
		if (chrome_row_event(c, &r) || sorter_advance(&c->sorter, e))
			return -1;
	}
}

int chrome_find_overlaps(struct chrome *c, struct error *e)
{
	struct chrome_overlapping *o = &c->overlapping;
	struct chrome_counts counts = c->counts;
	uint64_t next;
	int failed;

	if (!o->mixed)
		return 0;
	c->completes.looking = true;
	failed = chrome_rows(c, UINT64_MAX, &next, e) || sorter_rewind(&c->sorter, e);
	if (failed && !e->what[0])
		error_no_memory(e);
	c->counts = counts;
	for (size_t i = 0; i < c->nthreads; i++)
		c->threads[i].depth = c->threads[i].level = c->threads[i].kernel_level = 0;
	complete_calls_rewind(&c->completes);
	o->count = o->free = 0;
	c->async.calls = 0;
	return failed ? -1 : 0;
}
