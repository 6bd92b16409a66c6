#include "select.h"

#include <stdlib.h>

#include "cut.h"
#include "select_private.h"

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

bool select_ask(struct select *s, const struct block *b, uint32_t place, uint32_t lane,
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
				bool keep = select_ask(s, b, p, l, t);

				c->at[cell_of(c, p, l, t)] = keep;
				kept += keep;
				asked++;
			}
	return kept == asked ? KEEP : kept ? UNKNOWN : DROP;
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
			keep = c ? select_leading(s, b, c, e.place_index, e.lane_index,
						  e.type_index)
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
	if (cells && stateless && whole && !limited && !gaps && !(b->row_flags & EVENTS_WIDE))
		select_narrow(s, b, &c, &k);
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
