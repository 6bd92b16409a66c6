/*
 * quick.c - converts the common events directly from a tracefile into rows
 *
 * An event is quick if its trace is little-endian, its fields are adjacent numbers, its header is
 * ordinary, its block was completed, and the window contains all of it. file.c, event.c and rows.c
 * convert all other events, step by step.
 *
 * Instructions of 'trdecode | trstat -g name -c count' of t/bench/lttng.sh without this file: 1.7
 * times as many.
 */
#include "cmd/trdecode/lttng/lttng.h"
#include "cmd/trdecode/lttng/event.h"

enum {
	/* most bytes read from the start of a payload: the payload, padding, the next header, and
	   what is read beyond. Before the last REACH bytes no check is necessary */
	REACH = LTTNG_QUICK_MOST + 64,
	ROOM = 2 * LTTNG_QUICK_MOST, /* bytes of a row, and what is written beyond */
};

/* A file in the loop of quick_run; positions count from the start of its block. */
struct side {
	struct lttng_file *f;
	struct lttng_cpu *c;
	const uint8_t *block;
	uint32_t safe; /* payloads that begin below need no checks */
	/* the next event */
	uint32_t position, payload, size;
	uint64_t tsc;
	struct lttng_marker *m;
	struct lttng_marker **markers;
	size_t nmarkers;
	unsigned align;
};

static __attribute__((noinline)) int put_slow(struct lttng *l, const struct side *s, uint32_t type,
					      uint32_t location, uint32_t depth)
{
	const struct lttng_marker *m = s->m;

	memset(l->fixed + m->layout.fixed_size - 4, 0, 4);
	put_u64(l->fixed, s->tsc);
	memcpy(l->fixed + 8, s->block + s->payload, m->layout.plain);
	return writer_row_data(l->w, (struct new_row){.time = lttng_row_time(l, s->tsc),
						      .lane = lttng_lane(l, s->f, s->c),
						      .type = type,
						      .location = location,
						      .depth = depth,
						      .fixed = l->fixed,
						      .fixed_size = m->layout.fixed_size});
}

static inline int put_quick(struct lttng *l, const struct side *s, uint32_t type, uint32_t location,
			    uint32_t depth)
{
	struct writer *w = l->w;
	const struct lttng_marker *m = s->m;
	const uint8_t *payload = s->block + s->payload;
	struct new_row r = {.time = lttng_row_time(l, s->tsc),
			    .lane = lttng_lane(l, s->f, s->c),
			    .type = type,
			    .location = location,
			    .depth = depth};
	uint8_t *to = NULL;

	if (__builtin_expect(w->block.limit - w->block.row >= ROOM, 1)) {
		to = writer_row_put(w, &r, m->layout.fixed_size);
		if (__builtin_expect(!to, 0) && writer_take_location(w, location))
			to = writer_row_put(w, &r, m->layout.fixed_size);
	}
	if (__builtin_expect(!to, 0))
		return put_slow(l, s, type, location, depth);
	put_u64(to, s->tsc);
	/* one size for all short payloads: no branch to mispredict */
	memcpy(to + 8, payload, 32);
	if (__builtin_expect(m->layout.plain > 32, 0))
		memcpy(to + 40, payload + 32, LTTNG_QUICK_MOST - 32);
	put_u32(to + 8 + m->layout.plain, 0); /* padding, if there is some */
	return 0;
}

static void begin_side(struct lttng *l, struct side *s, struct lttng_file *f)
{
	uint64_t end = f->window.offset + window_have(&f->window) - f->at;

	end = end < f->used ? end : f->used;
	s->f = f;
	s->c = l->cpus[f->cpu];
	s->block = window_at(&f->window) + (int64_t)(f->at - f->window.offset);
	s->safe = end > REACH ? (uint32_t)end - REACH : 0;
	s->position = f->position;
	s->payload = f->payload;
	s->size = f->size;
	s->tsc = f->next;
	s->m = f->marker;
	s->markers = f->channel->markers;
	s->nmarkers = f->channel->size;
	s->align = f->headers.align;
}

static void end_side(struct side *s)
{
	struct lttng_file *f = s->f;

	f->marker = s->m;
	f->next = f->tsc = s->tsc;
	f->position = s->position;
	f->payload = s->payload;
	f->size = s->size;
}

/* Write an event with an action, and update the state before and after the row. */
static __attribute__((noinline)) int put_action(struct lttng *l, const struct side *s)
{
	const uint8_t *payload = s->block + s->payload;
	struct lttng_marker *m = s->m;
	/* in the fixed part the fields follow a TSC */
	const struct lttng_event ev = {m, s->tsc, payload - 8, l->tail.data, 0};
	uint32_t type = m->type, location = 0, depth = 0;

	if (lttng_state_before(l, s->c, &ev))
		return -1;
	if (m->kind != KIND_INSTANT &&
	    !lttng_state_call(l, s->c, m, payload - 8, &location, &depth))
		type = lttng_marker_orphan(l, m);
	if (put_quick(l, s, type, location, depth))
		return -1;
	return lttng_state_after(l, s->c, &ev);
}

static inline int put_schedule(struct lttng *l, const struct side *s)
{
	const struct lttng_marker *m = s->m;
	const uint8_t *payload = s->block + s->payload;
	int32_t before = (int32_t)get_u32(payload - 8 + m->arg[0]),
		after = (int32_t)get_u32(payload - 8 + m->arg[1]);
	struct lttng_cpu *c = s->c;
	struct lttng_thread *t = c->thread;

	if (t->tid != before) {
		t = lttng_state_thread(l, c, before);
		if (!t)
			return -1;
		lttng_cpu_run(c, t);
	}
	if (put_quick(l, s, m->type, 0, 0))
		return -1;
	t = lttng_state_thread(l, c, after);
	if (t)
		lttng_cpu_run(c, t);
	return t ? 0 : -1;
}

static inline int put_event(struct lttng *l, const struct side *s)
{
	struct lttng_marker *m = s->m;
	const uint8_t *payload = s->block + s->payload;
	uint32_t type = m->type, location = 0, depth = 0;

	if (m->quick == QUICK_CALL) {
		if (!lttng_state_call(l, s->c, m, payload - 8, &location, &depth))
			type = lttng_marker_orphan(l, m);
	} else if (m->quick == QUICK_SCHEDULE) {
		return put_schedule(l, s);
	} else if (m->quick == QUICK_ACTION) {
		return put_action(l, s);
	}
	return put_quick(l, s, type, location, depth);
}

/* Read the header at s->position. false: not a quick event. */
static inline __attribute__((always_inline)) bool find_event(struct side *s, bool old)
{
	uint32_t payload = s->position + lttng_pad(s->position, s->align), id;

	if (old) {
		uint64_t w = get_u64(s->block + payload);

		id = w >> 32 & 0xffff;
		if (id >= s->nmarkers || !s->markers[id] || !s->markers[id]->quick)
			return false;
		s->m = s->markers[id];
		s->size = w >> 48 == LTTNG_SIZE_WIDE ? SIZE_UNKNOWN : (uint32_t)(w >> 48);
		s->tsc = lttng_advance(s->tsc, w & 0xffffffff, 32);
		payload += 8;
		s->payload = payload + lttng_pad(payload, s->align);
	} else {
		uint32_t w = get_u32(s->block + payload);

		id = w >> LTTNG_TIME_BITS;
		if (id >= LTTNG_ID_FULL_TIME || id >= s->nmarkers || !s->markers[id] ||
		    !s->markers[id]->quick)
			return false;
		s->m = s->markers[id];
		s->size = SIZE_UNKNOWN;
		s->tsc = lttng_advance(s->tsc, w & ((1u << LTTNG_TIME_BITS) - 1), LTTNG_TIME_BITS);
		payload += 4;
		s->payload = payload + lttng_pad(payload, s->m->layout.align);
	}
	return true;
}

/* Write the events of two files in turn. The next file is selected without a branch, which a
 * processor could not predict. At equal times sides[0] is first. */
static inline __attribute__((always_inline)) int run_sides(struct lttng *l, struct side sides[2],
							   uint64_t limit, bool old)
{
	for (;;) {
		struct side *s = &sides[sides[1].tsc < sides[0].tsc];

		if (s->tsc >= limit || s->payload >= s->safe || !s->m->quick ||
		    (old && s->size != SIZE_UNKNOWN && s->size != s->m->layout.plain))
			break;
		if (put_event(l, s))
			return -1;
		s->position = s->payload + s->m->layout.plain;
		if (__builtin_expect(s->position >= s->safe || !find_event(s, old), 0)) {
			struct side *other = &sides[s == sides];

			if (other->f)
				end_side(other);
			s->f->tsc = s->tsc;
			s->f->position = s->position;
			return lttng_file_next(l, s->f);
		}
	}
	end_side(&sides[0]);
	if (sides[1].f)
		end_side(&sides[1]);
	return 0;
}

static bool is_quick(const struct lttng_file *f)
{
	return !f->done && !f->gap.pending && f->in_block && (f->headers.compact || f->headers.old);
}

int lttng_quick(struct lttng *l, struct lttng_file *f, struct lttng_file *g, uint64_t limit)
{
	struct side sides[2];

	if (!is_quick(f))
		return 0;
	if (!g || !is_quick(g)) {
		if (g && g->next < limit)
			limit = g->next;
		sides[1].f = NULL;
		sides[1].tsc = UINT64_MAX;
		begin_side(l, &sides[0], f);
	} else {
		begin_side(l, &sides[f->rank > g->rank], f);
		begin_side(l, &sides[f->rank < g->rank], g);
	}
	return l->old ? run_sides(l, sides, limit, true) : run_sides(l, sides, limit, false);
}
