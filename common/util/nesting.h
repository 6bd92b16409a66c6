/*
 * nesting.h - the innermost of ranges of addresses that may lie within each other
 *
 * For any array of ranges that is sorted by their starts. Each range has an "outer" one: 1 + the
 * index of the nearest range in front of it that reaches beyond its end, 0 where there is none. All
 * is in line, so that a constant struct nesting costs nothing.
 */
#ifndef TR_UTIL_NESTING_H
#define TR_UTIL_NESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address inside so many nested ranges is nothing that a compiler made. */
enum { NESTING_MAX = 1024 };

/* How to look at range i. */
struct nesting {
	uint64_t (*start)(const void *ranges, size_t i);
	uint64_t (*end)(const void *ranges, size_t i);		     /* [start, end) */
	bool (*has)(const void *ranges, size_t i, uint64_t address); /* that is not below start */
	uint32_t (*outer)(const void *ranges, size_t i);
};

/* The outer one of range i; those of the ranges in front of it are known. The chain from i - 1 is
 * the stack of those that may reach beyond i: what i covers goes. */
static inline __attribute__((always_inline)) uint32_t nesting_outer(const struct nesting *n,
								    const void *ranges, size_t i)
{
	uint64_t end = n->end(ranges, i);
	size_t outer = i;

	while (outer && n->end(ranges, outer - 1) <= end)
		outer = n->outer(ranges, outer - 1);
	return (uint32_t)outer;
}

/* 1 + the index of the innermost of count ranges with the address; 0: none has it. */
static inline __attribute__((always_inline)) size_t
nesting_find(const struct nesting *n, const void *ranges, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (n->start(ranges, middle) > address)
			high = middle;
		else
			low = middle + 1;
	}
	for (unsigned steps = 0; low && steps < NESTING_MAX; steps++) {
		if (n->has(ranges, low - 1, address))
			return low;
		low = n->outer(ranges, low - 1);
	}
	return 0;
}

#endif
