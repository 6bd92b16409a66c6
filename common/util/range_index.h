/*
 * range_index.h - which of many ranges of addresses holds an address, the innermost if several do
 *
 * Zero-initialised is empty. Ranges are added, sealed once, and then only looked up.
 */
#ifndef TR_UTIL_RANGE_INDEX_H
#define TR_UTIL_RANGE_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start, end; /* [start, end) */
	uint32_t what;	     /* the caller's */
	uint32_t outer;	     /* 1 + index of the next range that reaches further; 0 none */
};

struct range_index {
	struct range *at;
	size_t count, capacity;
};

/* An empty range is left out. 0, or -1 when out of memory. */
int range_index_add(struct range_index *x, uint64_t start, uint64_t end, uint32_t what);

/* Of ranges that are equal the one with the higher number is taken for the inner one. */
void range_index_seal(struct range_index *x);

/* The innermost range with the address, or NULL. */
const struct range *range_index_find(const struct range_index *x, uint64_t address);

void range_index_free(struct range_index *x);

#endif
