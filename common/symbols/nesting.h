/*
 * nesting.h - finds the innermost of nested ranges of addresses
 *
 * For any array of ranges that is sorted by their starts. Each range has an "outer" one: 1 + the
 * index of the nearest range before it that reaches beyond its end, 0 if there is none. All
 * functions are in line, so that a constant struct nesting costs nothing.
 */
#ifndef TR_SYMBOLS_NESTING_H
#define TR_SYMBOLS_NESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/bisect.h"

/* Maximum depth of nested ranges. No compiler nests deeper. */
enum { NESTING_MAX = 1024 };

/* Access functions for range i. */
struct nesting {
	uint64_t (*start)(const void *ranges, size_t i);
	uint64_t (*end)(const void *ranges, size_t i); /* [start, end) */
	bool (*has)(const void *ranges, size_t i,
		    uint64_t address); /* whether it contains an address not below start */
	uint32_t (*outer)(const void *ranges, size_t i);
};

/* Find the outer range of range i; those of the ranges before it are known. The chain from i - 1
 * is the stack of ranges that may reach beyond i: ranges that i covers are popped. */
static inline __attribute__((always_inline)) uint32_t nesting_outer(const struct nesting *n,
								    const void *ranges, size_t i)
{
	uint64_t end = n->end(ranges, i);
	size_t outer = i;

	while (outer && n->end(ranges, outer - 1) <= end)
		outer = n->outer(ranges, outer - 1);
	return (uint32_t)outer;
}

/* Get 1 + the index of the innermost of count ranges that contains the address; 0: none. */
static inline __attribute__((always_inline)) size_t
nesting_find(const struct nesting *n, const void *ranges, size_t count, uint64_t address)
{
	size_t low = BISECT(count, i, n->start(ranges, i) <= address);

	for (unsigned steps = 0; low && steps < NESTING_MAX; steps++) {
		if (n->has(ranges, low - 1, address))
			return low;
		low = n->outer(ranges, low - 1);
	}
	return 0;
}

#endif
