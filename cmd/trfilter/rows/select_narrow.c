/* select_narrow.c - select narrow rows by their lane, type and location */
#include "cmd/trfilter/rows/block_compact.h"
#include "cmd/trfilter/rows/select_private.h"

/* Take rows of 8 bytes without payload, by their cells: the fastest path. */
static void keep_narrow(struct select *s, const struct block *b, const struct cells *c,
			struct kept *k)
{
	const uint8_t *p = b->row_data, *end = p + b->row_size;
	uint32_t low = UINT32_MAX, high = 0;
	bool invert = s->invert;
	uint8_t *out = k->rows;

	for (; p < end; p += NARROW_ROW) {
		uint64_t w = get_u64(p);
		uint32_t keep =
			select_cell(s, b, c, row_location(w), row_lane(w), row_type(w)) ^ invert;
		uint32_t delta = (uint32_t)row_delta(w), all = -(uint32_t)keep, d;

		/* without a branch, because kept rows have no pattern */
		put_u64(out, w);
		out += NARROW_ROW & all;
		d = delta | ~all;
		low = d < low ? d : low;
		d = delta & all;
		high = d > high ? d : high;
	}
	k->end = out;
	k->count = (uint32_t)((size_t)(out - k->rows) / NARROW_ROW);
	k->low = b->base + low;
	k->high = b->base + high;
}

/* Take rows where the location alone decides, nearly always with the same result: run by run. */
static void keep_runs(struct select *s, const struct block *b, const struct cells *c,
		      struct kept *k)
{
	const uint8_t *p = b->row_data, *end = p + b->row_size, *run;
	uint8_t want = s->invert ? DROP : KEEP;
	uint32_t low = UINT32_MAX, high = 0;
	uint8_t *out = k->rows;

	while ((p = select_skip(p, end, c->at, want ^ KEEP)) < end) {
		run = p;
		p = select_skip(p, end, c->at, want);
		memcpy(out, run, (size_t)(p - run));
		out += p - run;
		/* not evaluated yet, or without a location, so that the type may decide */
		for (; p < end && c->at[row_location_at(p)] == UNKNOWN; p += NARROW_ROW)
			if (select_cell(s, b, c, row_location_at(p), row_lane_at(p),
					row_type_at(p)) == want) {
				memcpy(out, p, NARROW_ROW);
				out += NARROW_ROW;
			}
	}
	for (p = k->rows; p < out; p += NARROW_ROW) {
		uint32_t delta = row_delta_at(p);

		low = delta < low ? delta : low;
		high = delta > high ? delta : high;
	}
	k->end = out;
	k->count = (uint32_t)((size_t)(out - k->rows) / NARROW_ROW);
	k->low = b->base + low;
	k->high = b->base + high;
}

/* Take rows of which some have a payload after their 8 bytes. */
static void keep_mixed(struct select *s, const struct block *b, const struct cells *c,
		       struct kept *k)
{
	const uint8_t *p = b->row_data, *end = p + b->row_size;
	uint8_t want = s->invert ? DROP : KEEP;
	bool bare[256] = {false};
	uint8_t *out = k->rows;

	for (uint32_t i = 0; i < 256 && i < b->ntypes; i++)
		bare[i] = !b->types[i]->fixed_size && !(b->types[i]->flags & TYPE_TAIL);
	while (p < end) {
		/* the prediction makes the next row's address independent of this row's type */
		size_t n = __builtin_expect(bare[row_type_at(p)], 1) ? NARROW_ROW : row_size(b, p);

		if (select_cell(s, b, c, row_location_at(p), row_lane_at(p), row_type_at(p)) ==
		    want) {
			uint64_t time = b->base + row_delta_at(p);

			/* the row of a block of one row, which may be large, is not copied */
			if (b->rows > 1)
				memcpy(out, p, n);
			out += n;
			k->count++;
			k->low = time < k->low ? time : k->low;
			k->high = time > k->high ? time : k->high;
		}
		p += n;
	}
	k->end = out;
}

void select_narrow(struct select *s, const struct block *b, const struct cells *c, struct kept *k)
{
	bool by_location = c->location && !c->lane && !c->type;

	if (!(b->row_flags & EVENTS_BARE))
		keep_mixed(s, b, c, k);
	else if (s->lopsided && by_location)
		keep_runs(s, b, c, k);
	else
		keep_narrow(s, b, c, k);
	s->matched += k->count;
	s->lopsided = k->count < b->rows / 16 || b->rows - k->count < b->rows / 16;
}
