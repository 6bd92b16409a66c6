#include "cmd/trfilter/calls/last_rows.h"

#include <stdlib.h>

#include "common/util/buffer.h"

/* Flag of a class: the rows have a payload. */
enum { CLASS = 3, LONG = 4 };

/* A narrow row of an unchecked block may have any of these indexes. */
enum { NARROW_INDEXES = 256 };

void last_rows_free(struct last_rows *x)
{
	free(x->at);
	free(x->classes);
}

static uint8_t class_of(const struct type *t)
{
	uint8_t flags = t->fixed_size || t->flags & TYPE_TAIL ? LONG : 0;

	if (type_has_depth(t))
		return LAST_DEPTH | flags;
	if (t->kind == KIND_GAP)
		return LAST_NONE | flags;
	return (t->flags & TYPE_PER_CPU ? LAST_CPU : LAST_THREAD) | flags;
}

static int begin(struct last_rows *x, const struct block *b)
{
	size_t lanes = b->nlanes > NARROW_INDEXES ? b->nlanes : NARROW_INDEXES;
	size_t types = b->ntypes > NARROW_INDEXES ? b->ntypes : NARROW_INDEXES;

	if (ARRAY_REACH(x->classes, x->nclasses, types) ||
	    ARRAY_REACH(x->at, x->nat, LAST_CLASSES * lanes))
		return -1;
	memset(x->at, 0, LAST_CLASSES * (size_t)b->nlanes * sizeof *x->at);
	for (uint32_t i = 0; i < b->ntypes; i++)
		x->classes[i] = class_of(b->types[i]);
	return 0;
}

/* Find the last rows of a block of which nothing else is known. */
static void find_forward(struct last_rows *x, const struct block *b)
{
	const uint8_t **at = x->at, *p = b->row_data;

	for (uint32_t i = 0; i < b->rows; i++) {
		struct plain_row r = block_row(b, p);

		at[LAST_CLASSES * (size_t)r.lane + (x->classes[r.type] & CLASS)] = p;
		p += row_size(b, p);
	}
}

/* Returns true if all rows are narrow, and none is of a CPU's thread or has a payload. */
static bool suits_back(const struct last_rows *x, const struct block *b)
{
	bool suits = (b->row_flags & (EVENTS_BARE | EVENTS_WIDE)) == EVENTS_BARE;

	for (uint32_t i = 0; i < b->ntypes && suits; i++)
		suits = !(b->types[i]->flags & TYPE_PER_CPU || x->classes[i] & LONG);
	return suits;
}

/*
 * Find the last rows of such a block: usually they are found soon. In each lane, rows of other
 * classes before the last one with a depth are left out. Returns false if a row is impossible.
 */
static bool find_back(struct last_rows *x, const struct block *b)
{
	const uint8_t *p = b->row_data + b->row_size, *classes = x->classes;
	uint32_t left = b->nlanes;

	while (left && p > b->row_data) {
		const uint8_t **at = x->at + LAST_CLASSES * (size_t)row_lane_at(p - NARROW_ROW);
		struct plain_row r;
		uint8_t class;

		p -= NARROW_ROW;
		if (__builtin_expect(at[LAST_DEPTH] != NULL, 1))
			continue;
		r = row_read(p, b->base);
		if (r.lane >= b->nlanes || r.type >= b->ntypes || r.location > b->nlocations ||
		    r.time > b->last)
			return false;
		class = classes[r.type] & CLASS;
		at[class] = at[class] ? at[class] : p;
		left -= class == LAST_DEPTH;
	}
	return true;
}

int last_rows_find(struct last_rows *x, const struct block *b)
{
	if (x->found)
		return 0;
	if (begin(x, b))
		return -1;
	x->found = true;
	if (suits_back(x, b))
		return !find_back(x, b);
	find_forward(x, b);
	return 0;
}

int last_rows_unchecked(struct last_rows *x, const struct block *b)
{
	if (begin(x, b))
		return -1;
	x->found = suits_back(x, b) && find_back(x, b);
	return !x->found;
}
