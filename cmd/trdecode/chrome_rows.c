/*
 * chrome_rows.c - rows, metadata and flows of Chrome JSON
 */
#include "cmd/trdecode/chrome.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/row_filter.h"
#include "common/cli/program.h"
#include "common/formats/perfetto.h"
#include "common/stream/value.h"
#include "common/value/json.h"

uint32_t chrome_frame(struct chrome_frames *f, uint32_t space, const void *key, size_t n)
{
	uint32_t number;

	f->key.size = 0;
	if (buffer_u32(&f->key, space) || buffer_append(&f->key, key, n))
		return 0;
	number = intern(&f->keys, f->key.data, f->key.size);
	if (number == INTERN_NONE)
		return 0;
	if (ARRAY_REACH(f->frame, f->size, number))
		return 0;
	return number + 1;
}

int chrome_frame_set(struct chrome_frames *f, uint32_t number,
		     const struct chrome_call_frame *content)
{
	struct chrome_call_frame *frame = number ? &f->frame[number - 1] : NULL;

	if (!frame)
		return -1;
	/* of frames with one key the first is valid */
	if (!frame->known)
		*frame = *content;
	frame->known = true;
	return 0;
}

static bool is_scalar(enum json_token token)
{
	return token == JSON_STRING || token == JSON_NUMBER;
}

/* Read the content of a frame, after its '{'. */
static int chrome_rows_read_frame(struct chrome_frames *f, struct writer *w, struct json_reader *r,
				  struct chrome_call_frame *frame)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool name = json_is(r, "name"), parent = json_is(r, "parent");

		token = json_next(r);
		if (json_spell_whole(r, token))
			return -1;
		if (name && token == JSON_STRING) {
			frame->name = writer_string(w, r->text.data, r->text.size);
		} else if (parent && is_scalar(token)) {
			frame->parent = chrome_frame(f, 0, r->text.data, r->text.size);
			if (!frame->parent)
				return -1;
		} else if (!json_skip(r, token)) {
			return -1;
		}
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

int chrome_frames_read(struct chrome_frames *f, struct writer *w, struct json_reader *r)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		struct chrome_call_frame frame = {0};
		uint32_t number = chrome_frame(f, 0, r->text.data, r->text.size);

		token = json_next(r);
		if (!number || (token == JSON_OBJECT ? chrome_rows_read_frame(f, w, r, &frame)
						     : !json_skip(r, token)))
			return -1;
		if (chrome_frame_set(f, number, &frame))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

static uint32_t declare_frame(struct chrome_frames *f, struct writer *w,
			      struct chrome_call_frame *frame, uint32_t parent)
{
	struct location_entry entry = {.name = frame->name ? frame->name : writer_text(w, "?")};
	struct symbol_entry symbol = {.line = frame->line};
	uint32_t location = writer_location(w, &entry);
	size_t n;

	f->unknown += !frame->known;
	if (location && frame->file) {
		symbol.name = writer_string_of(w, entry.name, &n);
		symbol.name_size = (uint32_t)n;
		symbol.file = writer_string_of(w, frame->file, &n);
		symbol.file_size = (uint32_t)n;
		if (writer_symbol(w, location, &symbol))
			return 0;
	}
	return location ? frame->stack = writer_stack(w, parent, location) : 0;
}

/* Declare the stack of a frame + 1. */
static int chrome_frames_stack(struct chrome_frames *f, struct writer *w, uint32_t number,
			       uint32_t *stack)
{
	*stack = 0;
	f->path.size = 0;
	/* up to a frame whose stack is known; callers that are a circle end at the first frame that
	   was met before */
	while (number && !f->frame[number - 1].visited) {
		f->frame[number - 1].visited = true;
		if (buffer_u32(&f->path, number))
			return -1;
		number = f->frame[number - 1].parent;
	}
	if (number)
		*stack = f->frame[number - 1].stack;
	for (size_t i = f->path.size; i; i -= 4) {
		struct chrome_call_frame *frame = &f->frame[get_u32(f->path.data + i - 4) - 1];

		*stack = declare_frame(f, w, frame, *stack);
		if (!*stack)
			return -1;
	}
	return 0;
}

void chrome_frames_free(struct chrome_frames *f)
{
	intern_free(&f->keys);
	buffer_free(&f->key);
	buffer_free(&f->path);
	free(f->frame);
}

/*
 * Flows of calls with a "bind_id": the argument flow_ids, or terminating_flow_ids of the flow's
 * end.
 *
 * A call with "flow_in" alone receives the flow, which goes on if other calls receive it later. So
 * whether the flow ends there is known when all events were read.
 */

enum { FLOWS_MOST = 1 << 18 }; /* the ends of other flows are not found */

/* The last event of a flow so far. */
struct chrome_flow {
	int64_t time;
	uint32_t event;
};

/* Note an event of the flow that is read. *event: its number. */
static int note_event(struct chrome *c, int64_t time, uint32_t *event)
{
	struct chrome_flows *f = &c->flows;
	uint64_t id = c->read.bind.number;
	struct chrome_flow *last;
	uint32_t *number;

	*event = 0;
	if (f->count == FLOWS_MOST && intern_find(&f->ids.keys, &id, sizeof id) == INTERN_NONE)
		return 0;
	number = id_cache_number(&f->ids, &id, sizeof id);
	if (!number)
		return -1;
	if (!*number) {
		if (ARRAY_GROW(f->last, f->capacity, f->count))
			return -1;
		last = f->last;
		last[f->count++] = (struct chrome_flow){.time = INT64_MIN};
		*number = f->count;
	}
	*event = ++f->events;
	last = &f->last[*number - 1];
	if (time >= last->time)
		*last = (struct chrome_flow){time, *event};
	return 0;
}

int chrome_flow_add(struct chrome *c, struct chrome_record *record, int64_t time)
{
	struct buffer *to = &c->read.arguments, *value = &c->read.values;
	uint32_t event;

	if (!c->texts.flows) {
		c->texts.flows = writer_text(c->w, PERFETTO_FLOWS);
		c->texts.ended_flows = writer_text(c->w, PERFETTO_ENDED_FLOWS);
	}
	value->size = 0;
	if (!c->texts.flows || !c->texts.ended_flows || note_event(c, time, &event) ||
	    value_put_uint(value, VALUE_UINT, c->read.bind.number) ||
	    buffer_u32(to, c->texts.flows) || buffer_u32(to, (uint32_t)value->size))
		return -1;
	if (!c->read.flow_out)
		record->flow = event;
	return buffer_append(to, value->data, value->size);
}

/* Test for the last event of the flow whose id is a value. */
static bool is_end(const struct chrome *c, const uint8_t *p, uint32_t size, uint32_t event)
{
	const struct chrome_flows *f = &c->flows;
	struct values v;
	struct value id;
	uint32_t at;

	values_begin(&v, p, size);
	if (!values_value(&v, &id))
		return false;
	at = intern_find(&f->ids.keys, &id.number, sizeof id.number);
	return at != INTERN_NONE && f->last[f->ids.numbers[at] - 1].event == event;
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

void chrome_flows_free(struct chrome_flows *f)
{
	id_cache_free(&f->ids);
	free(f->last);
}

/*
 * Writes the sorted events as rows; an "X" event becomes an enter and a later leave.
 *
 * The calls of a thread are a stack, but those that overlap others (input/complete_calls.h). A "B"
 * in an "X" that ends earlier ends with that "X", as in Perfetto.
 */

enum {
	ROWS_DEPTH_MOST = 65535,    /* of a row */
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

/* Return the number of open calls of a frame's stack. */
static uint32_t *chrome_rows_level_of(struct chrome_thread *t, const struct chrome_frame *f)
{
	return f->kernel ? &t->kernel_level : &t->level;
}

/* Return the location of a name; any, where no rows are written. */
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
static uint32_t chrome_rows_sample_type(struct chrome *c, const struct chrome_record *r)
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
			      .type = chrome_rows_sample_type(c, r),
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

/*
 * What a file has beside its events: metadata events, and members next to traceEvents.
 *
 * All of this is the META CHROME_META, itself Trace Event JSON:
 *
 *     {"otherData":{"origin":"0","version":"2.1"},
 *     "traceEvents":[
 *     {"ph":"M","pid":1,"tid":2,"name":"thread_sort_index","args":{"sort_index":5}}],
 *     "schemaVersion":1}
 */

enum { METADATA_MOST = 4 << 20 }; /* bytes of the events, and of the members */

/* --- metadata events --- */

/* Append the value of an argument as JSON. */
static int chrome_rows_put_value(struct buffer *b, const uint8_t *p, uint32_t size)
{
	long double real;
	struct values v;
	struct value value;

	values_begin(&v, p, size);
	if (!values_value(&v, &value))
		return buffer_puts(b, "null");
	switch (value.tag) {
	case VALUE_STRING: return json_append_string(b, (const char *)value.bytes, value.n);
	/* an object or array */
	case VALUE_BLOB: return buffer_append(b, value.bytes, value.n);
	case VALUE_UINT: return buffer_decimal(b, value.number);
	case VALUE_NEGATIVE: return buffer_signed(b, (int64_t)value.number);
	case VALUE_TRUE: return buffer_puts(b, "true");
	case VALUE_FALSE: return buffer_puts(b, "false");
	default: break;
	}
	return value_real(&value, &real) ? json_append_real(b, (double)real)
					 : buffer_puts(b, "null");
}

/* Append the beginning of a metadata event, up to its arguments. An id of -1 is left out. */
static int chrome_rows_put_head(struct buffer *b, int32_t pid, int32_t tid, const char *name,
				size_t n)
{
	return buffer_puts(b, "{\"ph\":\"M\"") ||
			       (pid >= 0 && buffer_printf(b, ",\"pid\":%" PRId32, pid)) ||
			       (tid >= 0 && buffer_printf(b, ",\"tid\":%" PRId32, tid)) ||
			       buffer_puts(b, ",\"name\":") || json_append_string(b, name, n) ||
			       buffer_puts(b, ",\"args\":{")
		       ? -1
		       : 0;
}

/* Append the metadata event in k->text. *last: where the one of its kind before begins, + 1; 0. */
static int chrome_rows_add_event(struct chrome_metadata *k, uint32_t *last)
{
	struct buffer *b = &k->events;
	size_t size = k->text.size;

	/* recorders repeat such events */
	if (*last && *last - 1 + size <= b->size &&
	    !memcmp(b->data + *last - 1, k->text.data, size))
		return 0;
	if (b->size + size > METADATA_MOST) {
		k->events_left_out = 1;
		return 0;
	}
	if (b->size && buffer_puts(b, ",\n"))
		return -1;
	*last = (uint32_t)b->size + 1;
	return buffer_append(b, k->text.data, size);
}

int chrome_metadata_event(struct chrome *c)
{
	struct chrome_metadata *k = &c->metadata;
	const struct buffer *args = &c->read.arguments, *name = &c->read.name;
	uint32_t size, *last;
	size_t head, n;

	if (k->events_left_out) {
		k->events_left_out++;
		return 0;
	}
	k->text.size = 0;
	if (chrome_rows_put_head(&k->text, c->read.pid.size ? chrome_id(c, &c->read.pid) : -1,
				 c->read.tid.size ? chrome_id(c, &c->read.tid) : -1,
				 (const char *)name->data, name->size))
		return -1;
	head = k->text.size;
	for (size_t i = 0; i < args->size; i += 8 + size) {
		const char *key = writer_string_of(c->w, get_u32(args->data + i), &n);

		size = get_u32(args->data + i + 4);
		if ((i && buffer_u8(&k->text, ',')) || json_append_string(&k->text, key, n) ||
		    buffer_u8(&k->text, ':') ||
		    chrome_rows_put_value(&k->text, args->data + i + 8, size))
			return -1;
	}
	last = id_cache_number(&k->last, k->text.data, head);
	return !last || buffer_puts(&k->text, "}}") || chrome_rows_add_event(k, last) ? -1 : 0;
}

/* Add the event with the name of a thread or process that has no other events. */
static int chrome_rows_add_name(struct chrome *c, const char *what, int32_t pid, int32_t tid,
				uint32_t name)
{
	struct chrome_metadata *k = &c->metadata;
	uint32_t last = 0;
	size_t n;
	const char *text = writer_string_of(c->w, name, &n);

	k->text.size = 0;
	if (chrome_rows_put_head(&k->text, pid, tid, what, strlen(what)) ||
	    buffer_puts(&k->text, "\"name\":") || json_append_string(&k->text, text, n) ||
	    buffer_puts(&k->text, "}}"))
		return -1;
	return chrome_rows_add_event(k, &last);
}

/* Add the names of threads that no row of the stream has, or none as the thread's own: the comm of
 * the rows may be the name of the process. And those of processes in whose place the pid was. */
static int chrome_rows_add_names(struct chrome *c)
{
	struct id_cache *names = &c->metadata.process_names;
	struct id_cache used = {0};
	int failed = 0;

	for (size_t i = 0; i < c->nthreads && !failed; i++) {
		const struct chrome_thread *t = &c->threads[i];
		uint32_t *is = t->used ? id_cache_number(&used, &t->pid, sizeof t->pid) : NULL;
		const uint32_t *process = id_cache_number(names, &t->pid, sizeof t->pid);

		if (is)
			*is = 1;
		failed = !process || (t->used && !is) ||
			 (t->has_name && (!t->used || t->comm == *process) &&
			  chrome_rows_add_name(c, "thread_name", t->pid, t->tid, t->comm));
	}
	for (uint32_t i = 0; i < names->keys.count && !failed; i++) {
		int32_t pid;

		memcpy(&pid, intern_data(&names->keys, i), sizeof pid);
		if (names->numbers[i] && intern_find(&used.keys, &pid, sizeof pid) == INTERN_NONE &&
		    intern_find(&c->metadata.named, &pid, sizeof pid) == INTERN_NONE)
			failed =
				chrome_rows_add_name(c, "process_name", pid, -1, names->numbers[i]);
	}
	id_cache_free(&used);
	return failed ? -1 : 0;
}

/* --- members --- */

int chrome_metadata_member(struct chrome *c, struct json_reader *r, bool other)
{
	/* what trencode writes in any case */
	static const char unit[] = "\"displayTimeUnit\":\"ns\"";
	struct chrome_metadata *k = &c->metadata;
	struct buffer *b = other ? &k->other : &k->members;
	size_t at = b->size, from, used = k->members.size + k->other.size;
	enum json_token token;
	int status;

	if (used + r->text.size > METADATA_MOST) {
		k->members_left_out++;
		return json_skip(r, json_next(r)) ? 0 : -1;
	}
	if (buffer_u8(b, ','))
		return -1;
	from = b->size;
	if (json_append_string(b, (const char *)r->text.data, r->text.size) || buffer_u8(b, ':'))
		return -1;
	token = json_next(r);
	used = k->members.size + k->other.size;
	status = json_copy(r, token, b, used > METADATA_MOST ? 0 : METADATA_MOST - used);
	k->members_left_out += status > 0;
	if (status || (!other && b->size - from == sizeof unit - 1 &&
		       !memcmp(b->data + from, unit, sizeof unit - 1)))
		b->size = at;
	return status < 0 ? -1 : 0;
}

/* --- the META --- */

int chrome_metadata_write(struct chrome *c)
{
	struct chrome_metadata *k = &c->metadata;
	struct buffer *b = &k->text;

	if (chrome_rows_add_names(c))
		return -1;
	warn_count(c->input->name, k->events_left_out,
		   "metadata {event is|events are} left out: they are larger than 4 MiB");
	warn_count(c->input->name, k->members_left_out,
		   "{member|members} beside the events {is|are} left out: all are larger than "
		   "4 MiB");
	if (!k->events.size && !k->members.size && !k->other.size)
		return 0;
	b->size = 0;
	return buffer_printf(b, "{\"otherData\":{\"origin\":\"%" PRId64 "\"", chrome_zero(c)) ||
			       buffer_append(b, k->other.data, k->other.size) ||
			       buffer_puts(b, "},\n\"traceEvents\":[\n") ||
			       buffer_append(b, k->events.data, k->events.size) ||
			       buffer_puts(b, "]") ||
			       buffer_append(b, k->members.data, k->members.size) ||
			       buffer_puts(b, "}\n") ||
			       writer_meta(c->w, c->source, CHROME_META, b->data, b->size)
		       ? -1
		       : 0;
}

void chrome_metadata_free(struct chrome_metadata *k)
{
	buffer_free(&k->events);
	buffer_free(&k->members);
	buffer_free(&k->other);
	buffer_free(&k->text);
	id_cache_free(&k->last);
	intern_free(&k->named);
}

/*
 * Arguments that are objects or arrays: STRUCTs and ARRAYs.
 *
 * An argument that is read is a BLOB of its JSON text until the phase of its event is known, as a
 * profile (chrome.c) is read from that text. What exceeds the limits is a STRING of its text.
 */

enum {
	NESTED_DEPTH_MOST = 64,
	MEMBERS_MOST = 4096,	    /* of an object */
	DEFINITIONS_MOST = 1 << 16, /* of a file: distinct lists of names */
};

/* An object or array that is open. */
struct nested_level {
	size_t at;	/* in the values: what it contains */
	size_t names;	/* of an object, in chrome_read.names: a word that marks the list */
	uint64_t count; /* of its values */
};

/* Insert the head of the value that begins at an offset. */
static int insert_head(struct buffer *b, size_t at, const struct buffer *head)
{
	if (buffer_append(b, head->data, head->size))
		return -1;
	memmove(b->data + at + head->size, b->data + at, b->size - head->size - at);
	memcpy(b->data + at, head->data, head->size);
	return 0;
}

/* Get the definition of an object with the names that were read. *id 0: there are too many. */
static int chrome_rows_definition_of(struct chrome *c, const struct nested_level *l, uint32_t *id)
{
	const struct buffer *names = &c->read.names;
	const uint8_t *first = names->data + l->names;
	uint32_t *known = id_cache_number(&c->declared, first, names->size - l->names);

	*id = 0;
	if (!known)
		return -1;
	if (!*known) {
		if (c->counts.definitions == DEFINITIONS_MOST)
			return 0;
		*known = arguments_struct(c->w, (const uint32_t *)(const void *)(first + 4),
					  (names->size - l->names) / 4 - 1);
		c->counts.definitions++;
	}
	*id = *known;
	return *id ? 0 : -1;
}

/* End the object or array l. Returns 1: its names exceed the limit. */
static int end_level(struct chrome *c, const struct nested_level *l, bool object)
{
	struct buffer *head = &c->read.values;
	uint32_t id;

	head->size = 0;
	if (object) {
		if (chrome_rows_definition_of(c, l, &id))
			return -1;
		if (!id)
			return 1;
		c->read.names.size = l->names;
		if (value_put_struct(head, id, l->count))
			return -1;
	} else if (value_put_array(head, l->count)) {
		return -1;
	}
	return insert_head(&c->read.nested, l->at, head);
}

/* Add the name of a member of the innermost object. Returns 1: it has too many. */
static int chrome_rows_add_member(struct chrome *c, const struct nested_level *l)
{
	const struct buffer *text = &c->read.json.text;

	if (l->count == MEMBERS_MOST)
		return 1;
	return buffer_u32(&c->read.names, writer_string(c->w, text->data, text->size)) ? -1 : 0;
}

/* Append the value of a JSON text. Returns 1: it exceeds the limits. */
static int chrome_rows_put_nested(struct chrome *c, const struct value *text)
{
	struct json_reader *r = &c->read.json;
	struct nested_level levels[NESTED_DEPTH_MOST];
	enum json_token token;
	unsigned depth = 0;
	int bad = 0;

	json_open_text(r, (const char *)text->bytes, text->n);
	c->read.names.size = 0;
	while (!bad) {
		token = json_next(r);
		if (token == JSON_BAD || token == JSON_END)
			return 1;
		if (token == JSON_OBJECT || token == JSON_ARRAY) {
			if (depth == NESTED_DEPTH_MOST)
				return 1;
			levels[depth++] =
				(struct nested_level){c->read.nested.size, c->read.names.size, 0};
			bad = token == JSON_OBJECT ? buffer_u32(&c->read.names, 'n') : 0;
			continue;
		}
		/* the text is an object or array */
		if (token == JSON_KEY) {
			bad = chrome_rows_add_member(c, &levels[depth - 1]);
			continue;
		}
		if (token == JSON_OBJECT_END || token == JSON_ARRAY_END) {
			depth--;
			bad = end_level(c, &levels[depth], token == JSON_OBJECT_END);
			if (!depth)
				return bad;
		} else {
			bad = json_put_scalar(r, token, &c->read.nested);
		}
		levels[depth - 1].count++;
	}
	return bad;
}

int chrome_nested_put(struct chrome *c, struct json_reader *r, enum json_token token)
{
	struct buffer text = {0};
	int failed = json_copy(r, token, &text, SIZE_MAX) ||
		     value_put_bytes(&c->read.values, VALUE_BLOB, text.data, text.size);

	buffer_free(&text);
	c->read.has_nested = true;
	return failed ? -1 : 0;
}

int chrome_nested_convert(struct chrome *c)
{
	struct buffer *from = &c->read.arguments, *to = &c->read.nested, other;
	size_t size;

	to->size = 0;
	for (size_t i = 0; i < from->size; i += 8 + size) {
		size_t at = to->size + 8;
		struct values v;
		struct value value;
		int status = 0;

		size = get_u32(from->data + i + 4);
		values_begin(&v, from->data + i + 8, size);
		if (!values_value(&v, &value) || value.tag != VALUE_BLOB) {
			if (buffer_append(to, from->data + i, 8 + size))
				return -1;
			continue;
		}
		if (buffer_append(to, from->data + i, 8))
			return -1;
		status = chrome_rows_put_nested(c, &value);
		if (status > 0) {
			to->size = at;
			status = value_put_bytes(to, VALUE_STRING, value.bytes, value.n);
		}
		if (status)
			return -1;
		put_u32(to->data + at - 4, (uint32_t)(to->size - at));
	}
	other = *from;
	*from = *to;
	*to = other;
	return 0;
}
