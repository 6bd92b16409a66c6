/*
 * bracket.h - the values of calls that one part of a trace cannot decide
 *
 * Where the part lacks the beginning of a thread (common/calls/partial_stack.h), some values of
 * finished calls depend on earlier parts. Each is kept by the thread and by the position in its
 * list of operations where it is to be decided:
 *
 *   held    rows whose group is not known (by caller or depth), or that may not count
 *   doubts  sums of times that total includes unless a frame of the same location is open below
 */
#ifndef TR_TRSTAT_SUMMARY_BRACKET_H
#define TR_TRSTAT_SUMMARY_BRACKET_H

#include "common/calls/calls.h"
#include "cmd/trstat/groups/groups.h"

/* The cells of a held group: these, then those of the keys. */
enum { HELD_THREAD, HELD_POSITION, HELD_OPEN, HELD_CELLS };

struct doubt {
	struct aggregate *aggregate; /* NULL: free */
	uint32_t thread, location;
	uint64_t position;
	uint128 total;
};

struct bracket {
	struct groups held;
	struct doubt *doubts; /* hash table */
	size_t mask, count;
	struct key_cell *cells; /* scratch: cells of a held group to be looked up */
};

int bracket_init(struct bracket *b, size_t keys, const struct columns_wanted *wanted);
void bracket_free(struct bracket *b);

/* Returns the aggregate of rows held at that position; open: enum calls_open. NULL: out of
 * memory. */
struct aggregate *bracket_hold(struct bracket *b, uint32_t thread, uint64_t position, uint32_t open,
			       const struct key_cell *cells);

int bracket_grow(struct bracket *b);

static inline size_t bracket_slot(const struct bracket *b, const struct aggregate *a,
				  uint32_t thread, uint32_t location, uint64_t position)
{
	uint64_t h = ((uint64_t)thread << 32 | location) * 0x9e3779b97f4a7c15u;

	h ^= (position ^ (uint64_t)(uintptr_t)a) * 0xd6e8feb86659fd93u;
	return (size_t)(h ^ h >> 29) & b->mask;
}

/* Add a call that is recursive only if an unknown frame makes it so. Returns -1 when out of
 * memory. */
static inline int bracket_doubt(struct bracket *b, uint32_t thread, uint64_t position,
				uint32_t location, struct aggregate *a, uint128 total)
{
	struct doubt *d;
	size_t at;

	if (__builtin_expect(b->count * 2 >= b->mask, 0) && bracket_grow(b))
		return -1;
	for (at = bracket_slot(b, a, thread, location, position);; at = (at + 1) & b->mask) {
		d = &b->doubts[at];
		if (__builtin_expect(d->aggregate == a && d->location == location &&
					     d->thread == thread && d->position == position,
				     1)) {
			d->total += total;
			return 0;
		}
		if (!d->aggregate)
			break;
	}
	*d = (struct doubt){a, thread, location, position, total};
	b->count++;
	return 0;
}

#endif
