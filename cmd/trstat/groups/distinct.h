/*
 * distinct.h - the number of distinct values: exact up to 4096, then HyperLogLog
 *
 * Values are distinguished by a 64-bit hash. The hash of an integer is a permutation, so integers
 * of one sign are counted exactly. Beyond 4096 hashes the set becomes 2^14 registers (Flajolet et
 * al. 2007) read with the improved estimator of Ertl 2017: standard error 1.04 / sqrt(2^14) =
 * 0.81%. The state depends on the set of values alone, never on their order or on how they were
 * split, so merging gives exactly the result of a single run.
 *
 * Memory: 8 to 12 bytes a value up to 4096 values, then 16 KiB.
 */
#ifndef TR_TRSTAT_GROUPS_DISTINCT_H
#define TR_TRSTAT_GROUPS_DISTINCT_H

#include "common/util/u128.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISTINCT_EXACT	   4096
#define DISTINCT_PRECISION 14
#define DISTINCT_REGISTERS (1 << DISTINCT_PRECISION)

/* All zero is the empty set. */
struct distinct {
	uint64_t *hashes;   /* open-addressed, 0 is free; NULL once there are registers */
	uint8_t *registers; /* DISTINCT_REGISTERS ranks, NULL at first */
	uint32_t used, capacity;
	bool zero; /* hash 0 is in the set (and counted in used) */
};

void distinct_free(struct distinct *d);

uint64_t distinct_hash_number(int128 value);
uint64_t distinct_hash_bytes(const void *data, size_t size);

/* Returns -1 when out of memory; the set is then unchanged. */
int distinct_add(struct distinct *d, uint64_t hash);
int distinct_merge(struct distinct *into, const struct distinct *from);

/* Raise a register of a stored summary to rank (1 .. 51). Returns -1 when out of memory or out
 * of range. */
int distinct_raise(struct distinct *d, uint32_t index, uint8_t rank);

uint64_t distinct_count(const struct distinct *d);

#endif
