/*
 * lttng_quick.c - what nearly all events are, straight from a tracefile into rows
 *
 * Quick are events of little-endian traces whose fields are numbers that stand one behind the
 * other, with an ordinary header, in a block that its writer finished, all of it in the window. All
 * else is left to lttng_file.c and lttng_rows.c, which do the same step by step.
 */
#include "lttng.h"
#include "lttng_event.h"

enum {
	/* bytes of an event's header, padding, payload and the next header, and of what is read
	   beyond: with so much at hand nothing needs to be checked */
	REACH = LTTNG_QUICK_MOST + 64,
	ROOM = 2 * LTTNG_QUICK_MOST, /* of a row, and what is written beyond */
};

static int put_slow(struct lttng *l, const struct lttng_marker *m, const uint8_t *payload,
		    uint64_t tsc, uint32_t lane, uint32_t type, uint32_t place, uint32_t depth)
{
	memset(l->fixed + m->fixed_size - 4, 0, 4);
	put_u64(l->fixed, tsc);
	memcpy(l->fixed + 8, payload, m->plain);
	return writer_row_data(l->w, lttng_row_time(l, tsc), lane, type, place, depth, l->fixed,
			       m->fixed_size, NULL, 0, false);
}

static inline int put(struct lttng *l, const struct lttng_marker *m, const uint8_t *payload,
		      uint64_t tsc, uint32_t lane, uint32_t type, uint32_t place, uint32_t depth)
{
	struct writer *w = l->w;
	uint8_t *to = NULL;

	if (__builtin_expect(w->limit - w->row >= ROOM, 1))
		to = writer_row_put(w, lttng_row_time(l, tsc), lane, type, place, depth,
				    m->fixed_size);
	if (__builtin_expect(!to, 0))
		return put_slow(l, m, payload, tsc, lane, type, place, depth);
	put_u64(to, tsc);
	/* the same for all that are short, which needs no guess how long they are */
	memcpy(to + 8, payload, 32);
	if (__builtin_expect(m->plain > 32, 0))
		memcpy(to + 40, payload + 32, LTTNG_QUICK_MOST - 32);
	put_u32(to + 8 + m->plain, 0); /* padding, if there is some */
	return 0;
}

/* Schedule, fork and the like: before and after the row. */
static __attribute__((noinline)) int put_action(struct lttng *l, struct lttng_file *f,
						struct lttng_cpu *c, struct lttng_marker *m,
						const uint8_t *payload, uint64_t tsc)
{
	/* the fields stand behind a TSC */
	const struct lttng_event ev = {m, tsc, payload - 8, l->tail.data, 0};
	uint32_t type = m->type, place = 0, depth = 0;

	if (lttng_state_before(l, c, &ev))
		return -1;
	if (m->kind != KIND_INSTANT && !lttng_state_call(l, c, m, payload - 8, &place, &depth))
		type = lttng_marker_orphan(l, m);
	if (put(l, m, payload, tsc, lttng_lane(l, f, c), type, place, depth))
		return -1;
	return lttng_state_after(l, c, &ev);
}

static inline __attribute__((always_inline)) int run(struct lttng *l, struct lttng_file *f,
						     uint64_t limit, bool old)
{
	struct lttng_cpu *c = l->cpus[f->cpu];
	struct lttng_marker *m = f->marker, **markers = f->channel->markers;
	size_t nmarkers = f->channel->size;
	const uint8_t *block = f->data + (int64_t)(f->at - f->offset);
	uint64_t end = f->offset + f->filled - f->at, tsc = f->next;
	uint32_t payload = f->payload, position = f->position, size = f->size, safe;
	unsigned align = f->header_align;

	end = end < f->used ? end : f->used;
	safe = end > REACH ? (uint32_t)end - REACH : 0;
	while (m->quick && payload < safe && (size == SIZE_UNKNOWN || size == m->plain)) {
		const uint8_t *p = block + payload;
		uint32_t type = m->type, place = 0, depth = 0, id;

		if (m->quick == QUICK_ACTION) {
			if (put_action(l, f, c, m, p, tsc))
				return -1;
		} else {
			if (m->quick != QUICK_INSTANT &&
			    !lttng_state_call(l, c, m, p - 8, &place, &depth))
				type = lttng_marker_orphan(l, m);
			if (put(l, m, p, tsc, lttng_lane(l, f, c), type, place, depth))
				return -1;
		}
		position = payload + m->plain;
		if (position >= safe)
			goto next;
		payload = position + lttng_pad(position, align);
		if (old) {
			uint64_t w = get_u64(block + payload);

			id = w >> 32 & 0xffff;
			size = w >> 48 == LTTNG_SIZE_WIDE ? SIZE_UNKNOWN : (uint32_t)(w >> 48);
			if (id >= nmarkers || !markers[id] || !markers[id]->quick)
				goto next;
			m = markers[id];
			tsc = lttng_advance(tsc, w & 0xffffffff, 32);
			payload += 8;
			payload += lttng_pad(payload, align);
		} else {
			uint32_t w = get_u32(block + payload);

			id = w >> LTTNG_TIME_BITS;
			size = SIZE_UNKNOWN;
			if (id >= LTTNG_ID_FULL_TIME || id >= nmarkers || !markers[id] ||
			    !markers[id]->quick)
				goto next;
			m = markers[id];
			tsc = lttng_advance(tsc, w & ((1u << LTTNG_TIME_BITS) - 1),
					    LTTNG_TIME_BITS);
			payload += 4;
			payload += lttng_pad(payload, m->payload_align);
		}
		if (tsc >= limit)
			break;
	}
	f->marker = m;
	f->next = f->tsc = tsc;
	f->position = position;
	f->payload = payload;
	f->size = size;
	return 0;
next:
	f->tsc = tsc;
	f->position = position;
	return lttng_file_next(l, f);
}

int lttng_quick(struct lttng *l, struct lttng_file *f, uint64_t limit)
{
	if (f->gap_pending || !f->in_block)
		return 0;
	if (f->short_headers)
		return run(l, f, limit, false);
	return f->old_headers ? run(l, f, limit, true) : 0;
}
