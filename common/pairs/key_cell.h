/*
 * key_cell.h - the value of a key of an event, a call or a pair: a cell
 *
 * A cell is a text, a number, a stack, or missing (the row has no such field).
 */
#ifndef TR_PAIRS_KEY_CELL_H
#define TR_PAIRS_KEY_CELL_H

#include <string.h>

#include "common/calls/call_stacks.h"
#include "common/util/intern.h"

enum cell_kind {
	KEY_MISSING,
	KEY_SIGNED,
	KEY_UNSIGNED,
	KEY_TEXT,
	KEY_STACK,   /* value: a node of common/calls/call_stacks.h */
	KEY_ADDRESS, /* an unsigned number shown in hexadecimal */
	/* in no group: a cell of a pair that waits for its A (trstat's pair_list.h). value: the
	   number of its field among those of the A, or KEY_PENDING_TIME */
	KEY_PENDING,
	KEY_REAL, /* a finite number that no integer of 64 bits is equal to */
};

#define KEY_PENDING_TIME UINT64_MAX

/* Zero-initialised is missing. Equal signed and unsigned integers are one key. */
struct key_cell {
	enum cell_kind kind : 8;
	/* KEY_TEXT: the label of the number in value; signed, if that is two's complement. No part
	 * of the key, and not in summaries. */
	bool label, is_signed;
	bool single;   /* KEY_REAL: of a float. No part of the key, and not in summaries */
	uint32_t text; /* KEY_TEXT: from key_text */
	/* KEY_SIGNED: two's complement. KEY_REAL: the bits of a double; of a float, the one nearest
	 * to its shortest digits. */
	uint64_t value;
};

/* What cells name: texts, and stacks. */
struct key_texts {
	struct intern intern;	    /* texts */
	uint64_t seed;		    /* of key_cells_hash; key_texts_init */
	struct call_stacks *stacks; /* the caller's; needed for the texts of KEY_STACK */
	struct buffer *path;	    /* text of the stack that key_cell_text returned last */
	bool cut_stacks;	    /* texts of very deep stacks have their innermost frames only */
};

/* Set a random seed, so that no trace can force collisions. */
void key_texts_init(struct key_texts *t);
void key_texts_free(struct key_texts *t);

/* Make a cell for these bytes, which are copied. Returns 0, or -1 when out of memory. */
int key_text(struct key_texts *t, const void *data, size_t size, struct key_cell *cell);
/* Returns the text of a cell, valid until the next call; false where the cell is not a text. */
bool key_cell_text(const struct key_texts *t, const struct key_cell *cell, const char **text,
		   size_t *size);

static inline struct key_cell key_unsigned(uint64_t value)
{
	return (struct key_cell){.kind = KEY_UNSIGNED, .value = value};
}

static inline struct key_cell key_signed(int64_t value)
{
	return (struct key_cell){.kind = value < 0 ? KEY_SIGNED : KEY_UNSIGNED,
				 .value = (uint64_t)value};
}

/* Make the cell of a finite number. Numbers that are equal have one cell: 1024.0 is the integer
 * 1024. single: of a float, as KEY_REAL has it. */
struct key_cell key_real(double real, bool single);

/* The number of a KEY_REAL. */
static inline double key_real_value(const struct key_cell *cell)
{
	double real;

	memcpy(&real, &cell->value, sizeof real);
	return real;
}

/* Hash n cells whose texts are in t. */
uint32_t key_cells_hash(const struct key_texts *t, const struct key_cell *cells, size_t n);
bool key_cells_same(const struct key_cell *a, const struct key_cell *b, size_t n);

#endif
