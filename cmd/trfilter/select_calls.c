/*
 * select_calls.c - narrow rows of which calls are kept: each by its enter, for its leave too
 */
#include "cut.h"
#include "select_private.h"

enum { RUN = 64 }; /* rows: fewer are asked one by one */

/* A call that does not go by depth: does it hold? */
static uint32_t other(struct pairing_block *pb, const uint8_t *row, uint32_t holds)
{
	struct events it;
	struct event e;

	events_begin(&it, pb->block);
	it.row = row;
	if (!event_next(&it, &e))
		return holds;
	if (e.type->kind == KIND_ENTER)
		pairing_enter(pb->pairing, &e, holds);
	else
		pairing_leave(pb->pairing, &e, &holds);
	return holds;
}

/* Is a row kept? */
static inline __attribute__((always_inline)) bool
row_kept(struct pairing_block *pb, const uint8_t *row, uint64_t w, uint8_t cell)
{
	uint8_t kind = pb->kinds[w >> 48 & 0xff];
	uint32_t holds = cell & KEEP;

	if (kind && cell & REACHED)
		holds = __builtin_expect(kind == PAIRING_OTHER, 0)
				? other(pb, row, holds)
				: pairing_row(pb, w >> 24 & 0xff, kind, (uint32_t)(w >> 56), holds);
	return holds && cell & PASSES;
}

static inline void put(struct kept *k, const uint8_t *row, size_t n)
{
	memcpy(k->end, row, n);
	k->end += n;
}

/*
 * A run of rows with the same cell, which place alone gives, from p on: the first row behind it, if
 * it was taken as a whole, or else p; *until: rows up to there are to be taken one by one.
 */
static const uint8_t *run(struct select *s, struct pairing_block *pb, const struct cells *c,
			  struct kept *k, const uint8_t *p, const uint8_t **until)
{
	const uint8_t *end = pb->block->row_data + pb->block->row_size;
	uint8_t cell = c->at[get_u16(p + 4)];

	*until = p + NARROW_ROW;
	if (cell == UNKNOWN)
		return p;
	*until = select_skip(p, end, c->at, cell);
	if (*until - p < RUN * NARROW_ROW ||
	    (cell & REACHED && !pairing_run(pb, p, *until, cell & KEEP)))
		return p;
	if (((cell & (KEEP | PASSES)) == (KEEP | PASSES)) != s->invert)
		put(k, p, (size_t)(*until - p));
	return *until;
}

/* Rows of 8 bytes and nothing behind them. */
static void keep_bare(struct select *s, struct pairing_block *pb, const struct cells *c,
		      struct kept *k)
{
	const struct block *b = pb->block;
	const uint8_t *p = b->row_data, *end = p + b->row_size, *until = p;
	bool runs = s->lopsided && pb->runs && !c->lane && !c->type;
	uint32_t low = UINT32_MAX, high = 0;

	while (p < end) {
		uint64_t w;
		bool keep;

		if (runs && p >= until) {
			const uint8_t *next = run(s, pb, c, k, p, &until);

			if (next > p) {
				p = next;
				continue;
			}
		}
		w = get_u64(p);
		keep = row_kept(pb, p, w,
				select_cell(s, b, c, w >> 32 & 0xffff, w >> 24 & 0xff,
					    w >> 48 & 0xff)) != s->invert;
		/* without a branch: which rows stay has no pattern */
		put_u64(k->end, w);
		k->end += NARROW_ROW & -(size_t)keep;
		p += NARROW_ROW;
	}
	for (p = k->rows; p < k->end; p += NARROW_ROW) {
		uint32_t delta = get_u32(p) & 0xffffff;

		low = delta < low ? delta : low;
		high = delta > high ? delta : high;
	}
	k->count = (uint32_t)((size_t)(k->end - k->rows) / NARROW_ROW);
	k->low = b->base + low;
	k->high = b->base + high;
}

/* Some have more behind their 8 bytes. */
static void keep_mixed(struct select *s, struct pairing_block *pb, const struct cells *c,
		       struct kept *k)
{
	const struct block *b = pb->block;
	const uint8_t *p = b->row_data, *end = p + b->row_size;

	while (p < end) {
		size_t n = cut_row_size(b, p);
		uint64_t w = get_u64(p), time = b->base + (w & 0xffffff);
		uint8_t cell = select_cell(s, b, c, w >> 32 & 0xffff, w >> 24 & 0xff, p[6]);

		if (row_kept(pb, p, w, cell) != s->invert) {
			/* of a block of one row, which may be large, nothing need be copied */
			if (b->rows > 1)
				put(k, p, n);
			else
				k->end += n;
			k->count++;
			k->low = time < k->low ? time : k->low;
			k->high = time > k->high ? time : k->high;
		}
		p += n;
	}
}

int select_calls(struct select *s, const struct block *b, const struct cells *c, struct kept *k)
{
	struct pairing_block pb;

	if (pairing_block_begin(&pb, &s->filter->parts[c->call].pairing, b))
		return -1;
	if (b->row_flags & EVENTS_BARE)
		keep_bare(s, &pb, c, k);
	else
		keep_mixed(s, &pb, c, k);
	s->matched += k->count;
	s->lopsided = k->count < b->rows / 16 || b->rows - k->count < b->rows / 16;
	return 0;
}
