#include "cmd/trfilter/rows/select.h"

#include <stdlib.h>

#include "cmd/trfilter/rows/block_compact.h"
#include "cmd/trfilter/rows/select_private.h"
#include "common/util/buffer.h"

void select_free(struct select *s)
{
	free(s->payload);
	free(s->cells);
	free(s->ends);
	free(s->next_ends);
}

static int select_grow(uint8_t **data, size_t *capacity, size_t n)
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
		if (!kind_is_event(b->types[i]->kind))
			return true;
	return false;
}

/* Allocate the cells of the terms from first to end. Returns false if there are too many to be
 * worthwhile, or no memory, or if rows have stacks in place of the locations that the terms need.
 */
static bool make_cells(struct select *s, const struct block *b, struct cells *c, size_t first,
		       size_t end)
{
	bool by_location, by_type, by_lane;
	unsigned depends = 0;
	uint64_t count = 1;

	for (size_t i = first; i < end; i++)
		depends |= s->filter->terms[i].node->depends;
	by_location = depends & (DEPENDS_LOCATION | DEPENDS_NAME);
	by_type = depends & DEPENDS_TYPE;
	by_lane = depends & DEPENDS_LANE;
	if (by_location && b->stacks.sampled)
		return false;
	*c = (struct cells){.first = first,
			    .end = end,
			    .call = NO_TERM,
			    .name = depends & DEPENDS_NAME && !by_type,
			    .nlocations = b->nlocations + 1};
	if (by_type) {
		c->type = count;
		count *= b->ntypes;
	}
	if (by_lane) {
		c->lane = count;
		count *= b->nlanes;
	}
	if (by_location) {
		c->location = count;
		count *= (uint64_t)c->nlocations + (c->name ? b->ntypes : 0);
	}
	if (count > CELLS_LIMIT || select_grow(&s->cells, &s->cells_capacity, count))
		return false;
	c->count = count;
	c->at = s->cells;
	memset(c->at, UNKNOWN, count);
	return true;
}

/* Evaluate terms without their knowledge of calls. */
static bool parts_are_true(struct select *s, size_t first, size_t end, const struct event *e)
{
	struct filter *f = s->filter;

	for (size_t i = first; i < end; i++)
		if (!evaluate(&f->evaluation, f->terms[i].node, e))
			return false;
	return true;
}

uint8_t select_ask(struct select *s, const struct block *b, const struct cells *c,
		   uint32_t location, uint32_t lane, uint32_t type)
{
	struct event e = {
		.location = b->locations[location], .lane = b->lanes[lane], .type = b->types[type]};

	if (c->call == NO_TERM)
		return parts_are_true(s, c->first, c->end, &e) ? KEEP : DROP;
	if (!parts_are_true(s, c->first, c->call, &e))
		return DROP;
	return (parts_are_true(s, c->call, c->call + 1, &e) ? KEEP : DROP) | REACHED |
	       (parts_are_true(s, c->call + 1, c->end, &e) ? PASSES : 0);
}

/* Evaluate all cells. Returns their common result, or UNKNOWN. */
static uint8_t ask_all(struct select *s, const struct block *b, struct cells *c)
{
	uint32_t locations = c->location ? c->nlocations : 1, lanes = c->lane ? b->nlanes : 1;
	uint32_t types = c->type || c->name ? b->ntypes : 1;
	size_t kept = 0, asked = 0;

	for (uint32_t p = 0; p < locations; p++)
		for (uint32_t l = 0; l < lanes; l++)
			for (uint32_t t = 0; t < (p && c->name ? 1 : types); t++) {
				uint8_t says = select_ask(s, b, c, p, l, t);

				c->at[cell_of(c, p, l, t)] = says;
				kept += says;
				asked++;
			}
	return kept == asked ? KEEP : kept ? UNKNOWN : DROP;
}

/* Returns the common result of the cells of some terms, if there are at most as many cells as
 * rows. */
static uint8_t ask_parts(struct select *s, const struct block *b, size_t first, size_t end)
{
	struct cells c;

	if (first == end)
		return KEEP;
	return make_cells(s, b, &c, first, end) && c.count <= b->rows ? ask_all(s, b, &c) : UNKNOWN;
}

/* All rows seem to have one result: returns true if calls that end in the block have it too. */
static bool same_mind(struct term *p, const struct block *b, uint8_t says)
{
	struct pairing_block pb;

	return (b->row_flags & (EVENTS_BARE | EVENTS_WIDE)) == EVENTS_BARE &&
	       pairing_block_begin(&pb, &p->pairing, b) && pb.fit &&
	       pairing_run(&pb, b->row_data, b->row_data + b->row_size, says);
}

/* Evaluate the leading terms by the tables, in sequence: terms from s->first on must be
 * evaluated for each row. */
static void ask_tables(struct select *s, const struct block *b)
{
	struct filter *f = s->filter;
	bool calls = f->calls && pairing_has_calls(b);

	s->says = KEEP;
	while (s->first < f->leading && s->says == KEEP) {
		struct term *p = &f->terms[s->first];
		size_t end = calls ? s->first + 1 : f->leading;
		uint8_t says = ask_parts(s, b, s->first, end);

		if (calls && p->by_call && says != UNKNOWN && !same_mind(p, b, says))
			says = UNKNOWN;
		s->says = says;
		if (s->says == KEEP)
			s->first = end;
	}
	/* rows that the leading terms drop do not reach the others */
	if (s->says == KEEP && f->leading < f->nterms)
		s->says = UNKNOWN;
}

int select_end(struct select *s, const struct kept *k, uint8_t state)
{
	struct row_ends *grown;

	if (ARRAY_GROW(s->ends, s->ends_capacity, s->nends))
		return -1;
	grown = s->ends;
	grown[s->nends++] = (struct row_ends){k->count, state};
	return 0;
}

static int keep_any(struct select *s, const struct block *b, struct kept *k)
{
	struct events it;
	struct event e;
	const struct pairing *range = s->time_range ? &s->time_range->pairing : NULL;
	uint8_t flags;

	for (events_begin(&it, b); event_next(&it, &e);) {
		size_t n = (size_t)(it.row - e.row);
		bool gap = e.type->kind == KIND_GAP, keep = gap, drop = e.type->kind == KIND_DROP;

		if (!gap && !drop && (!s->limited || time_range_row(s->time_range, &e))) {
			keep = s->says == UNKNOWN ? filter_from(s->filter, s->first, &e)
						  : s->says == KEEP;
			keep = keep != s->invert;
		}
		flags = 0;
		if (__builtin_expect(drop, 0))
			flags = filter_drop(s->filter, s->time_range, s->invert, &e);
		else if (__builtin_expect(filter_any_ended(s->filter, range), 0))
			flags = filter_ends(s->filter, s->time_range, s->invert);
		flags &= keep ? ROW_ENDS_INNER : ROW_ENDS_ANY;
		if (flags && select_end(s, k, flags | (keep ? ROW_KEEP : ROW_LEFT_OUT)))
			return -1;
		if (!keep && !flags)
			continue;
		/* the row of a block of one row, which may be large, is not copied */
		if (b->rows > 1 || flags)
			memcpy(k->end, e.row, n);
		k->end += n;
		k->count++;
		k->low = e.time < k->low ? e.time : k->low;
		k->high = e.time > k->high ? e.time : k->high;
	}
	return 0;
}

int select_block(struct select *s, const struct block *b, enum selected *selected)
{
	enum time_range_answer inside =
		s->time_range ? time_range_of_block(s->time_range, b) : TIME_RANGE_YES;

	*selected = inside == TIME_RANGE_NO ? SELECTED_NONE : SELECTED_ROWS;
	s->limited = inside == TIME_RANGE_ASK;
	s->says = UNKNOWN;
	s->first = 0;
	s->nends = 0;
	if (inside != TIME_RANGE_YES || has_gaps(b))
		return 0;
	ask_tables(s, b);
	if (filter_out_of_memory(s->filter))
		return -1;
	if (s->says != UNKNOWN)
		*selected = (s->says == KEEP) == s->invert ? SELECTED_NONE : SELECTED_ALL;
	return 0;
}

/* Returns true if cells decide all rows of the block, which has calls, and one term follows calls.
 */
static bool is_fast(struct select *s, const struct block *b, struct cells *c)
{
	struct filter *f = s->filter;
	size_t ncalls = 0;

	if (!f->calls || !pairing_has_calls(b) || s->says != UNKNOWN || s->limited ||
	    f->leading < f->nterms || has_gaps(b) || b->row_flags & EVENTS_WIDE ||
	    !make_cells(s, b, c, s->first, f->leading))
		return false;
	for (size_t i = s->first; i < f->leading; i++)
		if (f->terms[i].by_call) {
			c->call = i;
			ncalls++;
		}
	return ncalls == 1;
}

int select_rows(struct select *s, const struct block *b, enum selected *selected)
{
	struct kept k = {.low = UINT64_MAX};
	size_t front = b->front;
	struct pairing_block pb;
	struct cells c;
	int bad;

	*selected = SELECTED_NONE;
	if (select_grow(&s->payload, &s->capacity,
			b->length + 16 > 80 * 1024 ? b->length + 16 : 80 * 1024))
		return -1;
	k.rows = k.end = s->payload + front;
	if (is_fast(s, b, &c) && pairing_block_begin(&pb, &s->filter->terms[c.call].pairing, b))
		bad = select_calls(s, &pb, &c, &k);
	else
		bad = keep_any(s, b, &k);
	if (bad)
		return -1;
	if (filter_out_of_memory(s->filter) ||
	    (s->time_range && s->time_range->pairing.calls.out_of_memory))
		return -1;
	if (!k.count)
		return 0;
	if (k.count == b->rows && !s->nends) {
		*selected = SELECTED_ALL;
		return 0;
	}
	compact_block(&s->block, b, s->payload,
		      &(struct compact_rows){(size_t)(k.end - k.rows), k.count, k.low, k.high});
	*selected = SELECTED_SOME;
	return 0;
}

/* Note the state of a row in the list of select_limit. */
static int limit_row(struct select *s, size_t *n, uint32_t row, uint8_t state)
{
	struct row_ends *grown;

	if (ARRAY_GROW(s->next_ends, s->next_capacity, *n))
		return -1;
	grown = s->next_ends;
	grown[(*n)++] = (struct row_ends){row, state};
	return 0;
}

int select_limit(struct select *s, const struct block *b, struct results *r,
		 enum selected *selected)
{
	const struct block *kept = *selected == SELECTED_ALL ? b : &s->block;
	struct row_ends *list;
	struct events it;
	struct event e;
	bool changed = false, any = false;
	size_t n = 0, i = 0, capacity;
	uint32_t row = 0;

	if (*selected == SELECTED_NONE)
		return 0;
	for (events_begin(&it, kept); event_next(&it, &e); row++) {
		bool listed = i < s->nends && s->ends[i].row == row;
		uint8_t before = listed ? s->ends[i++].state : ROW_KEEP;
		uint8_t state = results_row(r, &e, before);

		changed |= state != before;
		any |= state != ROW_LEFT_OUT;
		if (state != ROW_KEEP && limit_row(s, &n, row, state))
			return -1;
	}
	if (r->pairing.calls.out_of_memory)
		return -1;
	if (!changed)
		return 0;
	*selected = any ? SELECTED_SOME : SELECTED_NONE;
	s->block = *kept;
	list = s->ends;
	capacity = s->ends_capacity;
	s->ends = s->next_ends;
	s->ends_capacity = s->next_capacity;
	s->nends = n;
	s->next_ends = list;
	s->next_capacity = capacity;
	return 0;
}
