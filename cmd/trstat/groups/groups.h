/*
 * groups.h - the groups of trstat: a map from composite keys to aggregates
 *
 * A key has one cell (key_cell.h) for each name in -g. Groups never move, so a caller can keep an
 * aggregate, for instance by location.
 */
#ifndef TR_TRSTAT_GROUPS_GROUPS_H
#define TR_TRSTAT_GROUPS_GROUPS_H

#include "common/pairs/key_cell.h"
#include "cmd/trstat/groups/aggregate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct groups {
	const struct columns_wanted *wanted; /* owned by the caller */
	size_t keys;			     /* number of cells of a key */
	size_t count;			     /* number of groups */
	size_t stride;			     /* bytes of a group: the aggregate, then the cells */
	char **chunk;
	size_t chunks, chunk_capacity;
	uint64_t *slots; /* hash << 32 | number + 1, 0 free */
	size_t capacity; /* slots, a power of two or 0 */
	struct key_texts texts;
	uint32_t *stack_rank; /* of the stacks, by node */
	bool whole_stacks;    /* do not limit them to STACK_FRAMES frames */
	uint64_t deep;	      /* number of stacks that have more; 0 with whole_stacks */
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

/* As key_text. */
static inline int groups_text(struct groups *g, const void *data, size_t size,
			      struct key_cell *cell)
{
	return key_text(&g->texts, data, size, cell);
}

/* Copy a cell to other groups, whose texts have their own numbers. Returns -1 when out of
 * memory. */
int groups_copy_cell(struct groups *into, const struct groups *from, const struct key_cell *cell,
		     struct key_cell *copy);

/* Returns the aggregate of the group with these cells, made if new; NULL when out of memory. Equal
 * numbers are one group, in whatever base the source prints them. */
struct aggregate *groups_find(struct groups *g, const struct key_cell *cells);

/* Before the groups are printed: numbers of a key are hexadecimal only if all of them are. */
void groups_spell_numbers(struct groups *g);

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

/* As key_cell_text. */
static inline bool groups_cell_text(const struct groups *g, const struct key_cell *cell,
				    const char **text, size_t *size)
{
	return key_cell_text(&g->texts, cell, text, size);
}

/* Compare cells: numbers by value, then texts by their bytes, then stacks from their callers
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
