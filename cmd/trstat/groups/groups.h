/*
 * groups.h - the groups of trstat: a map from composite keys to aggregates
 *
 * A key has one cell for each name in -g. A cell is a text, an integer, or missing (the row has no
 * such field). Groups never move, so a caller can keep an aggregate, for instance by location.
 */
#ifndef TR_TRSTAT_GROUPS_GROUPS_H
#define TR_TRSTAT_GROUPS_GROUPS_H

#include "common/calls/call_stacks.h"
#include "common/util/intern.h"
#include "cmd/trstat/groups/aggregate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cell_kind {
	KEY_MISSING,
	KEY_SIGNED,
	KEY_UNSIGNED,
	KEY_TEXT,
	KEY_STACK,   /* value: a node of common/calls/call_stacks.h */
	KEY_ADDRESS, /* an unsigned number shown in hexadecimal */
	/* in no group: a cell of a pair that waits for its A (pair_edges.h). value: the number of
	   its field among those of the A, or KEY_PENDING_TIME */
	KEY_PENDING,
};

#define KEY_PENDING_TIME UINT64_MAX

/* Zero-initialised is missing. Equal signed and unsigned integers are one key. */
struct key_cell {
	enum cell_kind kind : 8;
	/* KEY_TEXT: the label of the number in value; signed, if that is two's complement. No part
	 * of the key, and not in summaries. */
	bool label, is_signed;
	uint32_t text; /* KEY_TEXT: from groups_text */
	/* KEY_SIGNED: two's complement. KEY_TEXT: 4 or 8 for the text of a float or double (set
	 * for rows, not for summaries); no part of the key. */
	uint64_t value;
};

struct groups {
	const struct columns_wanted *wanted; /* owned by the caller */
	size_t keys;			     /* number of cells of a key */
	size_t count;			     /* number of groups */
	size_t stride;			     /* bytes of a group: the aggregate, then the cells */
	char **chunk;
	size_t chunks, chunk_capacity;
	uint64_t *slots; /* hash << 32 | number + 1, 0 free */
	size_t capacity; /* slots, a power of two or 0 */
	uint64_t seed;	 /* random, so that no trace can force collisions */
	struct intern texts;
	/* KEY_STACK: the stacks, and the rank of each by its node */
	struct call_stacks *stacks;
	uint32_t *stack_rank;
	bool whole_stacks;   /* do not limit them to STACK_FRAMES frames */
	uint64_t deep;	     /* number of stacks that have more; 0 with whole_stacks */
	struct buffer *path; /* text of the stack that groups_cell_text returned last */
};

/* keys may be 0: then there is at most one group. wanted must not change afterwards. */
void groups_init(struct groups *g, size_t keys, const struct columns_wanted *wanted);
void groups_free(struct groups *g);
/* Delete the groups; texts that cells may name and the stacks are kept. */
void groups_clear(struct groups *g);
/* Set the number of cells of a key; there are no groups. */
void groups_set_keys(struct groups *g, size_t keys);
/* Move the groups out, to be put back one by one and then cleared; g is then empty. */
struct groups groups_take(struct groups *g);

/* Make a cell for these bytes, which are copied. Returns 0, or -1 when out of memory. */
int groups_text(struct groups *g, const void *data, size_t size, struct key_cell *cell);

static inline struct key_cell key_unsigned(uint64_t value)
{
	return (struct key_cell){.kind = KEY_UNSIGNED, .value = value};
}

static inline struct key_cell key_signed(int64_t value)
{
	return (struct key_cell){.kind = value < 0 ? KEY_SIGNED : KEY_UNSIGNED,
				 .value = (uint64_t)value};
}

/* Copy a cell to other groups, whose texts have their own numbers. Returns -1 when out of
 * memory. */
int groups_copy_cell(struct groups *into, const struct groups *from, const struct key_cell *cell,
		     struct key_cell *copy);

/* Hash n cells whose texts are in g. */
uint32_t groups_hash(const struct groups *g, const struct key_cell *cells, size_t n);
bool groups_same(const struct key_cell *a, const struct key_cell *b, size_t n);

/* Returns the aggregate of the group with these cells, made if new; NULL when out of memory. */
struct aggregate *groups_find(struct groups *g, const struct key_cell *cells);

/* Returns the group with that number, in the order of creation; number < g->count. */
static inline struct aggregate *groups_at(const struct groups *g, size_t number);

/* The cells of a group whose aggregates have these parts. */
static inline const struct key_cell *aggregate_cells(const struct aggregate *a,
						     const struct columns_wanted *w)
{
	return (const struct key_cell *)((const char *)a + w->size);
}

static inline const struct key_cell *groups_cells(const struct groups *g, const struct aggregate *a)
{
	return aggregate_cells(a, g->wanted);
}

/*
 * Merge groups whose stacks proved equal, and groups whose stacks are equal in their first
 * STACK_FRAMES frames. To be called before cells of kind KEY_STACK are compared or shown. stacks
 * belongs to the caller. Returns -1 when out of memory (or EOVERFLOW of aggregate_merge).
 */
int groups_stacks(struct groups *g, struct call_stacks *stacks);

/* Returns the text of a cell, valid until the next call; false where the cell is not a text. */
bool groups_cell_text(const struct groups *g, const struct key_cell *cell, const char **text,
		      size_t *size);

/* Compare cells: integers by value, then texts by their bytes, then stacks from their callers
 * down, then missing cells. */
int groups_compare(const struct groups *g, const struct key_cell *a, const struct key_cell *b);

/* Compare the first n cells of two groups. */
int groups_compare_first(const struct groups *g, const struct aggregate *a,
			 const struct aggregate *b, size_t n);

#define GROUPS_CHUNK 256 /* number of groups allocated at once */

static inline struct aggregate *groups_at(const struct groups *g, size_t number)
{
	return (struct aggregate *)(g->chunk[number / GROUPS_CHUNK] +
				    number % GROUPS_CHUNK * g->stride);
}

#endif
