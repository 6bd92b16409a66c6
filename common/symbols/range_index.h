/*
 * range_index.h - finds the innermost of many ranges of addresses that contain an address
 *
 * A zero-initialised index is empty. Ranges are added, sealed once, and then only looked up.
 */
#ifndef TR_SYMBOLS_RANGE_INDEX_H
#define TR_SYMBOLS_RANGE_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start, end; /* [start, end) */
	uint32_t what;	     /* value of the caller */
	uint32_t outer;	     /* 1 + index of the next range that reaches further; 0 none */
};

struct range_index {
	struct range *at;
	size_t count, capacity;
};

/* Add a range. An empty one is ignored. 0, or -1 when out of memory. */
int range_index_add(struct range_index *x, uint64_t start, uint64_t end, uint32_t what);

/* End adding. Of equal ranges the one with the higher number is the inner one. */
void range_index_seal(struct range_index *x);

/* Find the innermost range with the address, or NULL. */
const struct range *range_index_find(const struct range_index *x, uint64_t address);

void range_index_free(struct range_index *x);

#endif
