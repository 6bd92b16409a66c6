/*
 * apitrace_quick.c - the values of nearly all calls
 *
 * They are small, whole in what is at hand, and of types that were defined before. Those are taken
 * here with everything in registers; the first that is not is left to apitrace_values.c.
 */
#include "apitrace.h"
#include "common/value.h"

struct quick {
	const uint8_t *p, *end;
	uint8_t *out, *limit;
	const uint8_t *safe; /* up to here there is room for one scalar more */
};

enum {
	QUICK_IN = 64, /* bytes that one scalar cannot exceed, but for the content of strings */
	QUICK_OUT = 64,
	QUICK_GROWTH = 4, /* nor what is written of values so many times what is read */
	QUICK_SHORT = 32, /* so much of a string is copied whatever its length */
};

#define QUICK static inline __attribute__((always_inline))

/* How far there is room: one comparison does for what is read and what is written. */
QUICK void quick_measure(struct quick *q)
{
	ptrdiff_t in = q->end - q->p - QUICK_IN,
		  out = (q->limit - q->out - QUICK_OUT) / QUICK_GROWTH;

	q->safe = q->p + (in < out ? in : out);
}

QUICK bool quick_room(const struct quick *q)
{
	return q->p < q->safe;
}

/* A number as it stands, of up to 8 bytes: in the stream it looks the same. */
QUICK bool quick_number(struct quick *q)
{
	uint64_t bytes = get_u64(q->p), ends = ~bytes & 0x8080808080808080;
	unsigned n = (unsigned)__builtin_ctzll(ends | 1ull << 63) / 8 + 1;

	put_u64(q->out, bytes);
	q->p += n;
	q->out += n;
	return ends != 0;
}

/* A number of up to 3 bytes, nearly always of 1 or 2. */
QUICK bool quick_uint(struct quick *q, uint32_t *n)
{
	uint32_t number = *q->p++;

	if (number & 0x80) {
		number = (number & 0x7f) | (uint32_t)*q->p++ << 7;
		if (__builtin_expect(number & 1 << 14, 0)) {
			number = (number & 0x3fff) | (uint32_t)*q->p++ << 14;
			if (number & 1 << 21)
				return false;
		}
	}
	*n = number;
	return true;
}

/* What an id stands for, as index + 1; 0: none of these. */
QUICK uint32_t quick_id(struct quick *q, const struct apitrace_ids *ids)
{
	uint32_t id;

	return quick_uint(q, &id) && id < ids->direct_size ? ids->direct[id] : 0;
}

QUICK bool quick_enum(struct quick *q, const struct apitrace *a)
{
	uint32_t index = quick_id(q, &a->enums), n;

	if (!index || *q->p++ != APITRACE_UINT || !quick_uint(q, &n))
		return false;
	*q->out++ = VALUE_ENUM;
	q->out = value_uleb(q->out, ((const uint32_t *)a->enums.at)[index - 1]);
	if (n < 0x80) {
		*q->out++ = 1;
		*q->out++ = (uint8_t)n;
	} else if (n < 0x8000) {
		*q->out++ = 2;
		put_u16(q->out, (uint16_t)n);
		q->out += 2;
	} else {
		*q->out++ = 4;
		put_u32(q->out, n);
		q->out += 4;
	}
	return true;
}

/* The bytes of a string or blob of less than 16 KiB. */
QUICK bool quick_run(struct quick *q)
{
	size_t n = q->p[0];

	*q->out++ = *q->p++;
	if (n & 0x80) {
		n = (n & 0x7f) | (size_t)q->p[0] << 7;
		*q->out++ = *q->p++;
		if (n & 1 << 14 || n < 0x80)
			return false;
	}
	if (__builtin_expect(n <= QUICK_SHORT, 1)) {
		memcpy(q->out, q->p, QUICK_SHORT);
	} else {
		if (q->end - q->p < (ptrdiff_t)n || q->limit - q->out < (ptrdiff_t)n + QUICK_OUT)
			return false;
		memcpy(q->out, q->p, n);
	}
	q->out += n;
	q->p += n;
	if (n > QUICK_SHORT)
		quick_measure(q);
	return true;
}

QUICK bool quick_scalar(struct quick *q, const struct apitrace *a)
{
	uint8_t type = *q->p++;
	uint32_t index;

	switch (type) {
	case APITRACE_NULL:
	case APITRACE_FALSE:
	case APITRACE_TRUE: *q->out++ = type; return true;
	case APITRACE_SINT:
	case APITRACE_UINT: *q->out++ = type; return quick_number(q);
	case APITRACE_OPAQUE: *q->out++ = VALUE_POINTER; return quick_number(q);
	case APITRACE_FLOAT:
		*q->out++ = VALUE_FLOAT;
		memcpy(q->out, q->p, 4);
		q->out += 4;
		q->p += 4;
		return true;
	case APITRACE_DOUBLE:
		*q->out++ = VALUE_DOUBLE;
		memcpy(q->out, q->p, 8);
		q->out += 8;
		q->p += 8;
		return true;
	case APITRACE_STRING:
	case APITRACE_BLOB: *q->out++ = type; return quick_run(q);
	case APITRACE_ENUM: return quick_enum(q, a);
	case APITRACE_BITMASK:
		index = quick_id(q, &a->bitmasks);
		if (!index)
			return false;
		*q->out++ = VALUE_BITMASK;
		q->out = value_uleb(q->out, ((const uint32_t *)a->bitmasks.at)[index - 1]);
		return quick_number(q);
	}
	return false;
}

/* Floats, of a matrix or vector: they look the same in the stream. How many there are of up to n.
 */
QUICK unsigned quick_floats(struct quick *q, unsigned n)
{
	const uint64_t tags = 0x0000ff00000000ff, low = tags / 0xff * APITRACE_FLOAT;
	unsigned left = n;

	/* three at once, 5 bytes each */
	for (; left >= 3; left -= 3) {
		uint64_t a = get_u64(q->p), b = get_u64(q->p + 8);

		if ((a & tags) != low || (b >> 16 & 0xff) != APITRACE_FLOAT)
			break;
		put_u64(q->out, a);
		put_u64(q->out + 8, b);
		q->p += 15;
		q->out += 15;
	}
	for (; left && *q->p == APITRACE_FLOAT; left--) {
		put_u64(q->out, get_u64(q->p));
		q->p += 5;
		q->out += 5;
	}
	return n - left;
}

QUICK bool quick_array(struct quick *q, const struct apitrace *a)
{
	uint8_t n = *++q->p;

	q->p++;
	if (n & 0x80 || q->safe - q->p < n * 5)
		return false;
	*q->out++ = VALUE_ARRAY;
	*q->out++ = n;
	for (n -= (uint8_t)quick_floats(q, n); n; n--)
		if (!quick_room(q) || !quick_scalar(q, a))
			return false;
	return true;
}

/* Details up to the first that is not simple. true: all of them. */
QUICK bool quick_details(struct quick *q, const struct apitrace *a, uint32_t *arguments)
{
	uint32_t most = *arguments;

	while (quick_room(q)) {
		const uint8_t *p = q->p;
		uint8_t *out = q->out;
		uint32_t what = *q->p++, index = 0;

		if (what == APITRACE_END) {
			*arguments = most;
			return true;
		}
		if (what == APITRACE_ARGUMENT)
			index = *q->p++ + 1u;
		/* both have the same number in the stream */
		put_u16(q->out, (uint16_t)(what | index << 8));
		q->out += 2;
		/* of a longer number the first byte is too large, too */
		if (what > APITRACE_RETURN || index > 0x7f ||
		    (*q->p == APITRACE_ARRAY ? !quick_array(q, a) : !quick_scalar(q, a))) {
			q->p = p;
			q->out = out;
			break;
		}
		most = index > most ? index : most;
	}
	*arguments = most;
	return false;
}

bool apitrace_quick_details(struct apitrace *a)
{
	struct buffer *tail = &a->tail;
	struct quick q = {a->unpack.at, a->unpack.end, tail->data + tail->size,
			  tail->data + tail->capacity, NULL};
	bool ended;

	if (a->version < APITRACE_ENUM_SETS || a->segments || tail->size > APITRACE_VALUES_LIMIT)
		return false;
	quick_measure(&q);
	ended = quick_details(&q, a, &a->arguments);
	a->unpack.at = q.p;
	tail->size = (size_t)(q.out - tail->data);
	return ended;
}

/* --- whole events, straight into the block --- */

enum { QUICK_HEAD = NARROW_ROW + APITRACE_FIXED_SIZE + 4 }; /* of a row, up to its tail */

/* What a row of the present event is to say. */
struct quick_event {
	const struct apitrace_function *function;
	uint32_t lane, call;
	bool leave;
};

/* The number of a call: up to 4 bytes. */
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

/* What stands before the details of an event; false: nothing simple. */
QUICK bool quick_event(struct quick *q, const struct apitrace *a, struct quick_event *e)
{
	const struct apitrace_function *functions = a->functions.at;
	uint8_t event = *q->p++;
	uint8_t thread = 0;
	uint32_t index;

	e->leave = event == APITRACE_LEAVE;
	if (event == APITRACE_ENTER) {
		if (a->version >= APITRACE_THREADS)
			thread = *q->p++;
		if (thread != a->last_thread || thread & 0x80)
			return false;
		index = quick_id(q, &a->functions);
		e->lane = a->last_lane;
		e->call = a->call;
		e->function = &functions[index - 1];
		return index && e->lane;
	}
	if (event != APITRACE_LEAVE)
		return false;
	/* of the call entered last, nearly always */
	if (!quick_call(q, &e->call) || a->open.recent.key != open_calls_key(0, e->call))
		return false;
	e->lane = (uint32_t)a->open.recent.value;
	e->function = &functions[(a->open.recent.value >> 32) - 1];
	return true;
}

/* What a call that was entered or left changes, beside the row; false: nothing was changed. */
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
	struct quick q = {a->unpack.at, a->unpack.end, NULL, w ? w->limit : NULL, NULL};
	uint32_t lane = 0;
	uint64_t lane_bits = 0;
	uint8_t *row;

	if (!w || !w->narrow || a->version < APITRACE_ENUM_SETS || a->segments || a->done ||
	    a->too_large || !writer_block_has(w, &w->types, a->enter) ||
	    !writer_block_has(w, &w->types, a->leave))
		return false;
	word[0] = (uint64_t)w->types.slot[a->enter].index << 48;
	word[1] = (uint64_t)w->types.slot[a->leave].index << 48;
	row = w->row;
	while (time <= until && time - w->base < 1 << 24) {
		const uint8_t *begin = q.p;
		struct quick_event e;
		uint32_t arguments = 0, place, frame = a->frame;

		q.out = row + QUICK_HEAD;
		quick_measure(&q);
		if (!quick_room(&q) || !quick_event(&q, a, &e))
			goto other;
		if (e.lane != lane) {
			if (!writer_block_has(w, &w->lanes, e.lane))
				goto other;
			lane = e.lane;
			lane_bits = (uint64_t)w->lanes.slot[lane].index << 24;
		}
		place = e.function->place;
		if (!quick_details(&q, a, &arguments) || arguments > e.function->names ||
		    (!writer_block_has(w, &w->places, place) && !writer_take_place(w, place)) ||
		    !quick_taken(a, &e))
			goto other;
		put_u64(row, (time - w->base) | lane_bits | word[e.leave] |
				     (uint64_t)w->places.slot[place].index << 32);
		put_u32(row + NARROW_ROW + APITRACE_FIXED_CALL, e.call);
		put_u32(row + NARROW_ROW + APITRACE_FIXED_FRAME, frame);
		put_u32(row + QUICK_HEAD - 4, (uint32_t)(q.out - row) - QUICK_HEAD);
		put_u32(q.out, 0); /* the padding */
		row += align_up((size_t)(q.out - row), 4);
		time++;
		continue;
	other:
		q.p = begin;
		break;
	}
	if (time == first)
		return false;
	a->unpack.at = q.p;
	a->tick += time - first;
	w->row = row;
	w->count += (uint32_t)(time - first);
	w->bare = false;
	w->last = time - 1 > w->last ? time - 1 : w->last;
	return time > until;
}
