#include "select.h"

#include <stdlib.h>

#include "cut.h"

/*
 * What the leading parts say hangs on a row's lane, type and place alone, so each combination of
 * these that the block's tables allow is a cell that is asked once. An index of the tables that
 * does not matter has the stride 0. Names come from the place where there is one and else from the
 * type: then the types stand behind the places.
 */
enum { DROP = 0, KEEP = 1, UNKNOWN = 2, CELLS_LIMIT = 64 * 1024 };

struct cells {
	uint8_t *at;
	size_t count;
	size_t place, lane, type; /* strides */
	uint32_t nplaces;	  /* indexes of places, with 0 for none */
	bool name;		  /* a row without a place has the index nplaces + type */
};

void select_free(struct select *s)
{
	free(s->payload);
	free(s->cells);
}

static int grow(uint8_t **data, size_t *capacity, size_t n)
{
	uint8_t *grown;

	if (n <= *capacity)
		return 0;
	grown = realloc(*data, n);
	if (!grown)
		return -1;
	*data = grown;
	*capacity = n;
	return 0;
}

static bool has_gaps(const struct block *b)
{
	for (uint32_t i = 0; i < b->ntypes; i++)
		if (b->types[i]->kind == KIND_GAP)
			return true;
	return false;
}

/* false: so many cells that they are not worth it (or there is no memory for them). */
static bool make_cells(struct select *s, const struct block *b, struct cells *c)
{
	unsigned depends = s->filter->depends;
	bool by_place = depends & (DEPENDS_PLACE | DEPENDS_NAME);
	bool by_type = depends & DEPENDS_TYPE, by_lane = depends & DEPENDS_LANE;
	uint64_t count = 1;

	*c = (struct cells){.name = depends & DEPENDS_NAME && !by_type, .nplaces = b->nplaces + 1};
	if (by_type) {
		c->type = count;
		count *= b->ntypes;
	}
	if (by_lane) {
		c->lane = count;
		count *= b->nlanes;
	}
	if (by_place) {
		c->place = count;
		count *= (uint64_t)c->nplaces + (c->name ? b->ntypes : 0);
	}
	if (count > CELLS_LIMIT || grow(&s->cells, &s->cells_capacity, count))
		return false;
	c->count = count;
	c->at = s->cells;
	memset(c->at, UNKNOWN, count);
	return true;
}

static inline size_t cell_of(const struct cells *c, uint32_t place, uint32_t lane, uint32_t type)
{
	if (c->name && !place)
		place = c->nplaces + type;
	return place * c->place + lane * c->lane + type * c->type;
}

static bool ask(struct select *s, const struct block *b, uint32_t place, uint32_t lane,
		uint32_t type)
{
	struct event e = {
		.place = b->places[place], .lane = b->lanes[lane], .type = b->types[type]};

	return filter_leading(s->filter, &e);
}

/* Ask all cells. What they all say, or UNKNOWN. */
static uint8_t ask_all(struct select *s, const struct block *b, struct cells *c)
{
	uint32_t places = c->place ? c->nplaces : 1, lanes = c->lane ? b->nlanes : 1;
	uint32_t types = c->type || c->name ? b->ntypes : 1;
	size_t kept = 0, asked = 0;

	for (uint32_t p = 0; p < places; p++)
		for (uint32_t l = 0; l < lanes; l++)
			for (uint32_t t = 0; t < (p && c->name ? 1 : types); t++) {
				bool keep = ask(s, b, p, l, t);

				c->at[cell_of(c, p, l, t)] = keep;
				kept += keep;
				asked++;
			}
	return kept == asked ? KEEP : kept ? UNKNOWN : DROP;
}

static inline uint8_t leading(struct select *s, const struct block *b, const struct cells *c,
			      uint32_t place, uint32_t lane, uint32_t type)
{
	uint8_t *cell = &c->at[cell_of(c, place, lane, type)];

	if (__builtin_expect(*cell == UNKNOWN, 0))
		*cell = ask(s, b, place, lane, type);
	return *cell;
}

struct kept {
	uint8_t *rows, *end; /* in select.payload */
	uint64_t low, high;  /* times */
	uint32_t count;
};

/* Rows of 8 bytes and nothing behind them, decided by their cell: the case that must be fast. */
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
			leading(s, b, c, w >> 32 & 0xffff, w >> 24 & 0xff, w >> 48 & 0xff) ^ invert;
		uint32_t delta = w & 0xffffff, all = -(uint32_t)keep, d;

		/* without a branch: which rows stay has no pattern */
		put_u64(out, w);
		out += NARROW_ROW & all;
		d = delta | ~all;
		low = d < low ? d : low;
		d = delta & all;
		high = d > high ? d : high;
	}
	k->end = out;
	k->low = b->base + low;
	k->high = b->base + high;
}

/* The same where the place alone decides, and nearly always in the same way: run by run. */
static void keep_runs(struct select *s, const struct block *b, const struct cells *c,
		      struct kept *k)
{
	const uint8_t *p = b->row_data, *end = p + b->row_size, *run;
	uint8_t want = s->invert ? DROP : KEEP;
	uint32_t low = UINT32_MAX, high = 0;
	uint8_t *out = k->rows;

	while (p < end) {
		for (run = p; p < end && c->at[get_u16(p + 4)] == want; p += NARROW_ROW)
			;
		memcpy(out, run, (size_t)(p - run));
		out += p - run;
		for (; p < end && c->at[get_u16(p + 4)] != want; p += NARROW_ROW)
			/* not asked yet, or without a place, when the type may decide */
			if (c->at[get_u16(p + 4)] == UNKNOWN &&
			    leading(s, b, c, get_u16(p + 4), p[3], p[6]) == want) {
				memcpy(out, p, NARROW_ROW);
				out += NARROW_ROW;
			}
	}
	for (p = k->rows; p < out; p += NARROW_ROW) {
		uint32_t delta = get_u32(p) & 0xffffff;

		low = delta < low ? delta : low;
		high = delta > high ? delta : high;
	}
	k->end = out;
	k->low = b->base + low;
	k->high = b->base + high;
}

/* All rows are bare and narrow, and no part keeps a state. */
static void keep_bare(struct select *s, const struct block *b, const struct cells *c,
		      struct kept *k)
{
	bool by_place = c->place && !c->lane && !c->type;

	if (s->lopsided && by_place)
		keep_runs(s, b, c, k);
	else
		keep_narrow(s, b, c, k);
	k->count = (uint32_t)((size_t)(k->end - k->rows) / NARROW_ROW);
	s->matched += k->count;
	s->lopsided = k->count < b->rows / 16 || b->rows - k->count < b->rows / 16;
}

static void keep_any(struct select *s, const struct block *b, const struct cells *c,
		     struct limits *limits, struct kept *k)
{
	struct events it;
	struct event e;

	for (events_begin(&it, b); !select_done(s) && event_next(&it, &e);) {
		size_t n = (size_t)(it.row - e.row);
		bool gap = e.type->kind == KIND_GAP, keep = gap;

		if (!gap && (!limits || limits_row(limits, &e))) {
			keep = c ? leading(s, b, c, e.place_index, e.lane_index, e.type_index)
				 : filter_leading(s->filter, &e);
			keep = (keep && filter_others(s->filter, &e)) != s->invert;
		}
		if (!keep)
			continue;
		/* of a block of one row, which may be large, nothing need be copied */
		if (b->rows > 1)
			memcpy(k->end, e.row, n);
		k->end += n;
		k->count++;
		k->low = e.time < k->low ? e.time : k->low;
		k->high = e.time > k->high ? e.time : k->high;
		s->matched += !gap;
	}
}

int select_rows(struct select *s, const struct block *b, enum selected *selected)
{
	enum limits_says inside = s->limits ? limits_of_block(s->limits, b) : LIMITS_YES;
	bool stateless = s->filter->leading == s->filter->nparts, gaps = has_gaps(b);
	bool limited = inside == LIMITS_ASK;
	size_t front = cut_front(b);
	bool whole = b->rows <= s->limit - s->matched; /* not cut off by the limit */
	uint8_t says = UNKNOWN;
	struct kept k = {.low = UINT64_MAX};
	struct cells c, *cells;

	*selected = SELECTED_NONE;
	if (inside == LIMITS_NO)
		return 0;
	cells = make_cells(s, b, &c) ? &c : NULL;
	if (cells && !gaps && c.count <= b->rows)
		says = ask_all(s, b, &c);
	/* what the leading parts drop the others do not see, so this needs no state */
	if (says == DROP && !s->invert && !limited)
		return 0;
	if (whole && !limited && (says == DROP || (says == KEEP && stateless))) {
		if (says == KEEP && s->invert)
			return 0;
		s->matched += b->rows;
		*selected = SELECTED_ALL;
		return 0;
	}
	if (grow(&s->payload, &s->capacity,
		 b->length + 16 > 80 * 1024 ? b->length + 16 : 80 * 1024))
		return -1;
	k.rows = k.end = s->payload + front;
	if (cells && stateless && whole && !limited && !gaps && b->row_flags & EVENTS_BARE &&
	    !(b->row_flags & EVENTS_WIDE))
		keep_bare(s, b, &c, &k);
	else
		keep_any(s, b, cells, limited ? s->limits : NULL, &k);
	if (filter_out_of_memory(s->filter) || (s->limits && s->limits->pairing.out_of_memory))
		return -1;
	if (!k.count)
		return 0;
	if (k.count == b->rows) {
		*selected = SELECTED_ALL;
		return 0;
	}
	cut_block(&s->block, b, s->payload, (size_t)(k.end - k.rows), k.count, k.low, k.high);
	*selected = SELECTED_SOME;
	return 0;
}
