#include "cmd/trfilter/calls/last_rows.h"

#include <stdlib.h>

#include "common/util/buffer.h"

/* Flags of a class. LONG: the rows have a payload. INNER: calls with TYPE_INNER. */
enum { CLASS = 3, LONG = 4, INNER = 8 };

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
	if (type_is_call(t) && (t->flags & (TYPE_INNER | TYPE_CALL_NUMBER)) == TYPE_INNER)
		flags |= INNER;
	return (t->flags & TYPE_PER_CPU ? LAST_CPU : LAST_THREAD) | flags;
}

int last_rows_begin(struct last_rows *x, const struct block *b)
{
	size_t lanes = b->nlanes > NARROW_INDEXES ? b->nlanes : NARROW_INDEXES;
	size_t types = b->ntypes > NARROW_INDEXES ? b->ntypes : NARROW_INDEXES;
	uint8_t *classes;
	const uint8_t **at;
	if (ARRAY_REACH(x->classes, x->nclasses, types) ||
	    ARRAY_REACH(x->at, x->nat, LAST_CLASSES * lanes))
		return -1;
	at = x->at;
	classes = x->classes;
	memset(at, 0, LAST_CLASSES * (size_t)b->nlanes * sizeof *at);
	for (uint32_t i = 0; i < b->ntypes; i++)
		classes[i] = class_of(b->types[i]);
	x->row = 0;
	return 0;
}

const uint8_t *last_rows_next(struct last_rows *x, const struct block *b, const uint8_t *p)
{
	struct plain_row r = block_row(b, p);

	x->at[LAST_CLASSES * (size_t)r.lane + (x->classes[r.type] & CLASS)] = p;
	x->row++;
	return p + row_size(b, p);
}

/* Read narrow rows from p up to one whose class has a flag. */
static const uint8_t *read_narrow(struct last_rows *x, const struct block *b, const uint8_t *p,
				  uint8_t flag)
{
	const uint8_t **at = x->at, *classes = x->classes, *end = b->row_data + b->row_size;
	const struct type **types = b->types;
	uint32_t row = x->row;

	for (; p < end; row++) {
		uint32_t type = row_type_at(p);
		uint8_t class = classes[type];

		/* most rows have a depth and no payload */
		if (__builtin_expect(class == LAST_DEPTH, 1)) {
			at[LAST_CLASSES * (size_t)row_lane_at(p) + LAST_DEPTH] = p;
			p += NARROW_ROW;
			continue;
		}
		if (class & flag)
			break;
		at[LAST_CLASSES * (size_t)row_lane_at(p) + (class & CLASS)] = p;
		p = class & LONG ? row_after(types[type], p) : p + NARROW_ROW;
	}
	x->row = row;
	return p;
}

/* Read rows up to one whose class has a flag. */
static const uint8_t *read_until(struct last_rows *x, const struct block *b, const uint8_t *p,
				 uint8_t flag)
{
	const uint8_t *end = b->row_data + b->row_size;

	if (!(b->row_flags & EVENTS_WIDE))
		return read_narrow(x, b, p, flag);
	while (p < end && !(x->classes[block_row(b, p).type] & flag))
		p = last_rows_next(x, b, p);
	return p;
}

const uint8_t *last_rows_inner(struct last_rows *x, const struct block *b, const uint8_t *p)
{
	return read_until(x, b, p, INNER);
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
	if (last_rows_begin(x, b))
		return -1;
	x->found = true;
	if (suits_back(x, b))
		return !find_back(x, b);
	read_until(x, b, b->row_data, 0);
	return 0;
}

int last_rows_unchecked(struct last_rows *x, const struct block *b)
{
	if (last_rows_begin(x, b))
		return -1;
	x->found = suits_back(x, b) && find_back(x, b);
	return !x->found;
}
