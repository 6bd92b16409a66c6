/*
 * quick.c - converts nearly all calls
 *
 * Their values are simple (quick.h), and the writer's current block has their lane and their
 * location: their rows are written directly into the block. events.c and values.c convert all
 * others, from the beginning of the event or of the detail.
 *
 * Instructions of 'trdecode | trstat -g name -c count' of t/bench/apitrace.sh without this file:
 * 2.0 times as many; with the details alone 1.5 times.
 */
#include "cmd/trdecode/apitrace/quick.h"

bool apitrace_quick_details(struct apitrace *a)
{
	struct buffer *tail = &a->values.tail;
	size_t most = tail->capacity < a->values.limit ? tail->capacity : a->values.limit;
	struct quick q = {a->unpack.at, a->unpack.end, tail->data + tail->size, tail->data + most,
			  NULL};
	bool ended;

	if (a->version < APITRACE_ENUM_SETS || a->segments || tail->size > most)
		return false;
	quick_measure(&q);
	ended = quick_details(&q, a, &a->values.arguments);
	a->unpack.at = q.p;
	tail->size = (size_t)(q.out - tail->data);
	return ended;
}

/* --- complete events, directly into the block --- */

enum { QUICK_HEAD = NARROW_ROW + APITRACE_FIXED_SIZE + 4 }; /* bytes of a row before its tail */

/* What the row of the current event contains. */
struct quick_event {
	const struct apitrace_function *function;
	uint32_t lane, call;
	bool leave;
};

/* Read the number of a call, up to 4 bytes. */
QUICK bool quick_call(struct quick *q, uint32_t *call)
{
	uint32_t n = get_u32(q->p);

	q->p += 3;
	if (__builtin_expect((n & 0x808080) == 0x8080, 1)) {
		*call = (n & 0x7f) | (n >> 1 & 0x7f << 7) | (n >> 2 & 0x7f << 14);
		return true;
	}
	if ((n & 0x80808080) == 0x808080) {
		q->p++;
		*call = (n & 0x7f) | (n >> 1 & 0x7f << 7) | (n >> 2 & 0x7f << 14) |
			(n >> 3 & 0x7f << 21);
		return true;
	}
	q->p -= 3;
	return quick_uint(q, call);
}

/* Read an event up to its details; false: not simple. */
QUICK bool quick_event(struct quick *q, const struct apitrace *a, struct quick_event *e)
{
	const struct apitrace_function *functions = a->ids.functions.at;
	uint8_t event = *q->p++, thread = 0;
	uint32_t index;

	e->leave = event == APITRACE_LEAVE;
	if (event == APITRACE_ENTER) {
		if (a->version >= APITRACE_THREADS)
			thread = *q->p++;
		if (thread != a->last_thread || thread & 0x80)
			return false;
		index = quick_id(q, &a->ids.functions);
		if (!index || !a->last_lane)
			return false;
		e->lane = a->last_lane;
		e->call = a->call;
		e->function = &functions[index - 1];
		return true;
	}
	if (event != APITRACE_LEAVE)
		return false;
	/* nearly always the leave of the call entered last */
	if (!quick_call(q, &e->call) || a->open.recent.key != open_calls_key(0, e->call))
		return false;
	e->lane = (uint32_t)a->open.recent.value;
	e->function = &functions[(a->open.recent.value >> 32) - 1];
	return true;
}

/* Update open calls and counts after an enter or leave; false: too many open calls, nothing was
 * changed. */
QUICK bool quick_taken(struct apitrace *a, const struct quick_event *e)
{
	if (e->leave) {
		a->open.recent.key = 0;
		if (e->function->known & APITRACE_END_FRAME) {
			a->frame++;
			a->totals.frames++;
		}
		return true;
	}
	if (open_calls_count(&a->open) >= APITRACE_OPEN_LIMIT ||
	    open_calls_put(&a->open, 0, a->call, apitrace_remember(a, e->function, e->lane)))
		return false;
	a->call++;
	a->totals.calls++;
	return true;
}

bool apitrace_quick_events(struct apitrace *a, uint64_t until)
{
	struct writer *w = a->w;
	uint64_t time = a->tick + (uint64_t)a->input->shift, first = time, word[2];
	struct quick q = {a->unpack.at, a->unpack.end, NULL, w ? w->block.limit : NULL, NULL};
	uint32_t lane = 0;
	uint64_t lane_bits = 0;
	const uint8_t *taken = q.p;
	uint8_t *row;

	if (!w || !w->block.quick || a->version < APITRACE_ENUM_SETS || a->segments || a->done ||
	    a->values.too_large || /* no event that fits the block exceeds the limit */
	    a->values.limit < (size_t)(w->block.limit - w->block.row) ||
	    !writer_block_has(w, &w->block.types, a->enter) ||
	    !writer_block_has(w, &w->block.types, a->leave))
		return false;
	word[0] = row_make(0, 0, 0, w->block.types.slot[a->enter].index, 0);
	word[1] = row_make(0, 0, 0, w->block.types.slot[a->leave].index, 0);
	row = w->block.row;
	while (time <= until && time - w->block.base <= NARROW_DELTA_MOST) {
		struct quick_event e;
		uint32_t arguments = 0, location, frame = a->frame;

		q.out = row + QUICK_HEAD;
		quick_measure(&q);
		if (!quick_room(&q) || !quick_event(&q, a, &e))
			break;
		if (e.lane != lane) {
			if (!writer_block_has(w, &w->block.lanes, e.lane))
				break;
			lane = e.lane;
			lane_bits = row_make(0, w->block.lanes.slot[lane].index, 0, 0, 0);
		}
		location = e.function->location;
		if (!quick_details(&q, a, &arguments) || arguments > e.function->names ||
		    (!writer_block_has(w, &w->block.locations, location) &&
		     !writer_take_location(w, location)) ||
		    !quick_taken(a, &e))
			break;
		put_u64(row, row_make(time - w->block.base, 0,
				      w->block.locations.slot[location].index, 0, 0) |
				     lane_bits | word[e.leave]);
		put_u32(row + NARROW_ROW + APITRACE_FIXED_CALL, e.call);
		put_u32(row + NARROW_ROW + APITRACE_FIXED_FRAME, frame);
		put_u32(row + QUICK_HEAD - 4, (uint32_t)(q.out - row) - QUICK_HEAD);
		put_u32(q.out, 0); /* the padding */
		row += align_up((size_t)(q.out - row), 4);
		time++;
		taken = q.p;
	}
	if (time == first)
		return false;
	a->unpack.at = taken;
	a->tick += time - first;
	w->block.row = row;
	w->block.count += (uint32_t)(time - first);
	w->block.bare = false;
	w->block.last = time - 1 > w->block.last ? time - 1 : w->block.last;
	return time > until;
}
