/*
 * groups.h - the groups of trstat: a composite key to an aggregate
 *
 * A key has as many cells as -g has names; a cell is a text, an integer, or missing (the row has no
 * such field). Groups never move, so an aggregate found once can be kept, for instance by place.
 */
#ifndef TR_TRSTAT_GROUPS_GROUPS_H
#define TR_TRSTAT_GROUPS_GROUPS_H

#include "common/calls/call_stacks.h"
#include "common/util/intern.h"
#include "cmd/trstat/groups/aggregate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum key_kind {
	KEY_MISSING,
	KEY_SIGNED,
	KEY_UNSIGNED,
	KEY_TEXT,
	KEY_STACK, /* value: a node of common/call_stacks.h */
	/* of held groups (bracket.h) only */
	KEY_OPEN_CALLER, /* what the place of the frame that is not known will give */
	KEY_OPEN_LEVEL,	 /* value: to be added to the level of what is not known */
	KEY_OPEN_STACK,	 /* value: a node below call_stacks.open */
	/* of all groups again: an unsigned number in hexadecimal */
	KEY_ADDRESS,
};

static inline bool key_is_open(enum key_kind kind)
{
	return kind >= KEY_OPEN_CALLER && kind <= KEY_OPEN_STACK;
}

/* Zero-initialised is missing. An integer is one key whether it was given signed or unsigned. */
struct key_cell {
	enum key_kind kind;
	uint32_t text; /* KEY_TEXT: from groups_text */
	/* KEY_SIGNED: as two's complement. KEY_TEXT: 4 or 8 where it is that of a float or double,
	   known of a row, not of a summary; makes no other key. */
	uint64_t value;
};

struct groups {
	const struct columns_wanted *wanted; /* the caller's */
	size_t keys;			     /* cells of a key */
	size_t count;			     /* groups */
	size_t stride;			     /* bytes of a group: aggregate, then cells */
	char **chunk;
	size_t chunks, chunk_capacity;
	uint64_t *slots; /* hash << 32 | number + 1, 0 free */
	size_t capacity; /* slots, a power of two or 0 */
	uint64_t seed;	 /* so that no trace can be made to collide */
	struct intern texts;
	/* KEY_STACK: the stacks, and by their nodes the place of each in the order of cells */
	struct call_stacks *stacks;
	uint32_t *stack_rank;
	bool whole_stacks;   /* do not limit them to STACK_FRAMES frames */
	uint64_t deep;	     /* stacks that have more; 0 with whole_stacks */
	struct buffer *path; /* of the stack that groups_cell_text gave last */
};

/* keys may be 0: then there is one group at most. wanted must not change from here on. */
void groups_init(struct groups *g, size_t keys, const struct columns_wanted *wanted);
void groups_free(struct groups *g);
/* No groups, but the texts that cells may name, and what is known of stacks. */
void groups_clear(struct groups *g);
/* The groups that there were, to be put back one by one and then cleared; g has none. */
struct groups groups_take(struct groups *g);

/* A cell for these bytes, which are copied. 0, or -1 when out of memory. */
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

/* The same cell in other groups, whose texts have numbers of their own. -1: memory. */
int groups_copy_cell(struct groups *into, const struct groups *from, const struct key_cell *cell,
		     struct key_cell *copy);

/* Of n cells whose texts are in g. */
uint32_t groups_hash(const struct groups *g, const struct key_cell *cells, size_t n);
bool groups_same(const struct key_cell *a, const struct key_cell *b, size_t n);

/* The aggregate of the group with these cells, made if it is new; NULL when out of memory. */
struct aggregate *groups_find(struct groups *g, const struct key_cell *cells);

/* The number-th group, in the order they were made; number < g->count. */
static inline struct aggregate *groups_at(const struct groups *g, size_t number);

/* The cells of a group. */
static inline const struct key_cell *groups_cells(const struct groups *g, const struct aggregate *a)
{
	return (const struct key_cell *)((const char *)a + g->wanted->size);
}

/*
 * Before cells of kind KEY_STACK are compared or shown: groups whose stacks were found to be the
 * same become one, and so do those whose stacks are the same in their first STACK_FRAMES frames.
 * stacks is the caller's. -1: out of memory (or EOVERFLOW of aggregate_merge).
 */
int groups_stacks(struct groups *g, struct call_stacks *stacks);

/* The text of a cell, which is valid until the next call; false: it is none. */
bool groups_cell_text(const struct groups *g, const struct key_cell *cell, const char **text,
		      size_t *size);

/* The order of cells: integers by value, then texts by their bytes, then stacks from their callers
 * down, then missing ones. */
int groups_compare(const struct groups *g, const struct key_cell *a, const struct key_cell *b);

/* The same of the first n cells of two groups. */
int groups_compare_first(const struct groups *g, const struct aggregate *a,
			 const struct aggregate *b, size_t n);

#define GROUPS_CHUNK 256 /* groups allocated at once */

static inline struct aggregate *groups_at(const struct groups *g, size_t number)
{
	return (struct aggregate *)(g->chunk[number / GROUPS_CHUNK] +
				    number % GROUPS_CHUNK * g->stride);
}

#endif
