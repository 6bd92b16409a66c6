/*
 * last_rows.h - find the last rows of each lane of a block, which show the state of its thread
 */
#ifndef TR_TRFILTER_CALLS_LAST_ROWS_H
#define TR_TRFILTER_CALLS_LAST_ROWS_H

#include "common/stream/event.h"

/* Meaning of a row: none; an event of its thread, or of its CPU's; a depth of its thread's
 * stack. */
enum last_class { LAST_NONE, LAST_THREAD, LAST_CPU, LAST_DEPTH, LAST_CLASSES };

struct last_rows {
	const uint8_t **at; /* by lane of the block and class: the last row; NULL: none */
	uint8_t *classes;   /* by type of the block: class of its rows, and flags */
	size_t nat, nclasses;
	bool found; /* at is filled in */
};

void last_rows_free(struct last_rows *x);

static inline bool type_is_call(const struct type *t)
{
	return t->kind == KIND_ENTER || t->kind == KIND_LEAVE;
}

/* Returns true if the depth of the type's rows is that of the thread's stack. */
static inline bool type_has_depth(const struct type *t)
{
	enum { NOT_OWN = TYPE_INNER | TYPE_KERNEL | TYPE_CALL_NUMBER };

	return type_is_call(t) && (t->flags & (TYPE_DEPTH | NOT_OWN)) == TYPE_DEPTH;
}

/* Find the last rows of a block whose rows are checked, unless that is done. Returns -1 when out
 * of memory. */
int last_rows_find(struct last_rows *x, const struct block *b);
/*
 * The same for a block whose rows are not checked. Returns 1 if all rows must be checked and read
 * for that, or if a row that was found is impossible.
 */
int last_rows_unchecked(struct last_rows *x, const struct block *b);

/* Returns the last row of a class in a lane of the block. */
static inline const uint8_t *last_row(const struct last_rows *x, uint32_t lane,
				      enum last_class class)
{
	return x->at[LAST_CLASSES * (size_t)lane + class];
}

#endif
