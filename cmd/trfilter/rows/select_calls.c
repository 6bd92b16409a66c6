/*
 * select_calls.c - select calls of narrow rows: by the enter, for the leave too
 *
 * Instructions of 'trdecode | trsym | trfilter | trstat' of t/bench/uftrace.sh with the condition
 * name == "fib": without this file 2.0 times as many, without runs 1.33 times. Without
 * keep_by_location 'trfilter SAVED | trstat' takes 1.33 times the instructions where the condition
 * is true for every second call.
 */
#include "cmd/trfilter/rows/block_compact.h"
#include "cmd/trfilter/rows/select_private.h"

enum { RUN = 64 }; /* rows of a run; fewer are taken one by one */

/* Returns true if a row is kept. */
static inline __attribute__((always_inline)) bool
is_kept(struct pairing_block *pb, const uint8_t *row, uint64_t w, uint8_t cell)
{
	uint32_t holds = cell & KEEP;

	if (pb->enters[row_type(w)] && cell & REACHED)
		holds = pairing_row(pb, row, w, holds);
	return holds && cell & PASSES;
}

static inline void put_row(struct kept *k, const uint8_t *row, size_t n)
{
	memcpy(k->end, row, n);
	k->end += n;
}

/* Returns the first row from p on that has another cell, which the location decides, or is not
 * fit for runs. */
static const uint8_t *skip_rows(const struct pairing_block *pb, const uint8_t *p,
				const uint8_t *cells, uint8_t same)
{
	const uint8_t *end = pb->block->row_data + pb->block->row_size;

	if (pb->fit)
		return select_skip(p, end, cells, same);
	while (end - p >= NARROW_ROW &&
	       !((cells[row_location_at(p)] ^ same) | pb->unfit[row_type_at(p)]))
		p += NARROW_ROW;
	return p;
}

/*
 * Take a run of rows with the same cell from p on. Returns the row after it, or p if the run was
 * not taken; *until: rows before it must be taken one by one.
 */
static const uint8_t *take_run(struct select *s, struct pairing_block *pb, const struct cells *c,
			       struct kept *k, const uint8_t *p, const uint8_t **until)
{
	uint8_t cell = c->at[row_location_at(p)];

	*until = p + NARROW_ROW;
	if (cell == UNKNOWN)
		return p;
	*until = skip_rows(pb, p, c->at, cell);
	if (*until - p < RUN * NARROW_ROW ||
	    (cell & REACHED && !pairing_run(pb, p, *until, cell & KEEP)))
		return p;
	if (((cell & (KEEP | PASSES)) == (KEEP | PASSES)) != s->invert) {
		k->count += (uint32_t)((*until - p) / NARROW_ROW);
		put_row(k, p, (size_t)(*until - p));
	}
	return *until;
}

/* Take single rows, except for runs. */
static int keep_exactly(struct select *s, struct pairing_block *pb, const struct cells *c,
			struct kept *k)
{
	struct pairing *pairing = pb->pairing;
	const struct block *b = pb->block;
	const uint8_t *p = b->row_data, *end = p + b->row_size, *until = p;
	bool runs = s->lopsided && pb->runs && !c->lane && !c->type;

	while (p < end) {
		uint64_t w = get_u64(p);
		uint8_t cell, flags;
		bool keep;
		size_t n;

		if (runs && p >= until) {
			const uint8_t *next = take_run(s, pb, c, k, p, &until);

			if (next > p) {
				p = next;
				continue;
			}
		}
		n = pb->fit ? NARROW_ROW : row_size(b, p);
		cell = select_cell(s, b, c, row_location(w), row_lane(w), row_type(w));
		keep = is_kept(pb, p, w, cell) != s->invert;
		flags = 0;
		if (__builtin_expect(pairing->ended, 0)) {
			flags = filter_ends(s->filter, NULL, s->invert);
			flags &= keep ? ROW_ENDS_INNER : ROW_ENDS_ANY;
			if (flags && select_end(s, k, flags | (keep ? ROW_KEEP : ROW_LEFT_OUT)))
				return -1;
		}
		if (keep || flags) {
			/* the row of a block of one row, which may be large, is not copied */
			if (b->rows > 1 || flags)
				put_row(k, p, n);
			else
				k->end += n;
			k->count++;
		}
		p += n;
	}
	return 0;
}

/*
 * Select by the location alone, without a branch, because kept rows have no pattern. This suits
 * blocks where leaves have their enters' locations. Returns false, with nothing done, if some leave
 * has another mark than its enter, if a kept call ends without a leave, or if the block does not
 * suit.
 */
static bool keep_by_location(struct select *s, struct pairing_block *pb, const struct cells *c,
			     struct kept *k)
{
	const struct block *b = pb->block;
	const uint8_t *p = b->row_data, *end = p + b->row_size;
	uint32_t leaves[256] = {0}, wrong = 0, invert = s->invert;
	struct pairing_marks marks;
	uint8_t *out = k->end;

	if (!pb->runs || !pb->fit || c->first != c->call || c->end != c->call + 1)
		return false;
	for (uint32_t i = 0; i < b->ntypes && i < 256; i++) {
		if (!pb->kinds[i])
			return false;
		leaves[i] = pb->kinds[i] == KIND_LEAVE;
	}
	if (!pairing_marks(pb, &marks))
		return false;
	for (; p < end; p += NARROW_ROW) {
		uint64_t w = get_u64(p);
		uint32_t lane = row_lane(w), type = row_type(w), leave = leaves[type];
		uint32_t holds = select_cell(s, b, c, row_location(w), lane, type) & KEEP;
		uint8_t *mark = &marks.at[lane << 8 | row_depth(w)];

		/* an enter at the depth of an open call that is kept: its leave is missing */
		wrong |= (*mark ^ (leave ? holds : invert)) & ~(*mark >> 1);
		*mark = (uint8_t)(holds | leave * PAIRING_FREE);
		put_u64(out, w);
		out += NARROW_ROW & -(size_t)(holds ^ invert);
	}
	if (wrong & 1 || !pairing_found(pb, &marks, !invert))
		return false;
	k->count = (uint32_t)((size_t)(out - k->end) / NARROW_ROW);
	k->end = out;
	return true;
}

static void find_times(const struct block *b, struct kept *k)
{
	uint32_t low = UINT32_MAX, high = 0, n;

	for (const uint8_t *p = k->rows; p < k->end; p += n) {
		uint32_t delta = row_delta_at(p);

		n = (uint32_t)row_size(b, p);
		low = delta < low ? delta : low;
		high = delta > high ? delta : high;
	}
	k->low = b->base + low;
	k->high = b->base + high;
}

int select_calls(struct select *s, struct pairing_block *pb, const struct cells *c, struct kept *k)
{
	const struct block *b = pb->block;

	pb->pairing->ended = 0;
	if ((s->lopsided || !keep_by_location(s, pb, c, k)) && keep_exactly(s, pb, c, k))
		return -1;
	if (k->count < b->rows || s->nends)
		find_times(b, k);
	s->lopsided = k->count < b->rows / 16 || b->rows - k->count < b->rows / 16;
	return 0;
}
