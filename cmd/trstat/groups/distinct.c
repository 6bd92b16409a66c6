#include "cmd/trstat/groups/distinct.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST 8
#define RANKS (64 - DISTINCT_PRECISION + 2) /* 0 .. 51 */

void distinct_free(struct distinct *d)
{
	free(d->hashes);
	free(d->registers);
	memset(d, 0, sizeof *d);
}

/* A permutation of 64-bit numbers; every output bit depends on every input bit (splitmix64). */
static uint64_t mix_bits(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

uint64_t distinct_hash_number(int128 value)
{
	uint64_t low = (uint64_t)value, high = (uint64_t)((uint128)value >> 64);

	return mix_bits(high ? low ^ mix_bits(high) : low);
}

uint64_t distinct_hash_bytes(const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t hash = mix_bits(size ^ 0x6a09e667f3bcc908u), word;

	for (; size >= 8; p += 8, size -= 8) {
		word = 0;
		for (int i = 7; i >= 0; i--)
			word = word << 8 | p[i];
		hash = mix_bits(hash ^ word) + word;
	}
	word = 0;
	while (size)
		word = word << 8 | p[--size];
	return mix_bits(hash ^ word);
}

/* Returns the slot of a hash that is not 0. Its low bits serve as the index: mix has spread
 * them. */
static uint64_t *find_slot(uint64_t *hashes, uint32_t capacity, uint64_t hash)
{
	uint32_t at = (uint32_t)hash;

	for (;; at++) {
		uint64_t *slot = &hashes[at & (capacity - 1)];

		if (!*slot || *slot == hash)
			return slot;
	}
}

static void distinct_observe(uint8_t *registers, uint64_t hash)
{
	uint32_t index = (uint32_t)(hash >> (64 - DISTINCT_PRECISION));
	uint64_t rest = hash << DISTINCT_PRECISION | (uint64_t)1 << (DISTINCT_PRECISION - 1);
	uint8_t rank = (uint8_t)(1 + __builtin_clzll(rest));

	if (registers[index] < rank)
		registers[index] = rank;
}

static int estimate_from_now_on(struct distinct *d)
{
	uint8_t *registers = calloc(DISTINCT_REGISTERS, 1);

	if (!registers)
		return -1;
	if (d->zero)
		distinct_observe(registers, 0);
	for (uint32_t i = 0; i < d->capacity; i++) {
		if (d->hashes[i])
			distinct_observe(registers, d->hashes[i]);
	}
	distinct_free(d);
	d->registers = registers;
	return 0;
}

static int distinct_grow(struct distinct *d)
{
	uint32_t capacity = d->capacity ? 2 * d->capacity : FIRST;
	uint64_t *hashes = calloc(capacity, sizeof *hashes);

	if (!hashes)
		return -1;
	for (uint32_t i = 0; i < d->capacity; i++) {
		if (d->hashes[i])
			*find_slot(hashes, capacity, d->hashes[i]) = d->hashes[i];
	}
	free(d->hashes);
	d->hashes = hashes;
	d->capacity = capacity;
	return 0;
}

int distinct_add(struct distinct *d, uint64_t hash)
{
	if (d->registers) {
		distinct_observe(d->registers, hash);
		return 0;
	}
	if (hash ? d->capacity && *find_slot(d->hashes, d->capacity, hash) == hash : d->zero)
		return 0;
	if (d->used == DISTINCT_EXACT) {
		if (estimate_from_now_on(d))
			return -1;
		distinct_observe(d->registers, hash);
		return 0;
	}
	if (!hash) {
		d->zero = true;
	} else {
		if (d->used + 1 > d->capacity / 4 * 3 && distinct_grow(d))
			return -1;
		*find_slot(d->hashes, d->capacity, hash) = hash;
	}
	d->used++;
	return 0;
}

int distinct_merge(struct distinct *into, const struct distinct *from)
{
	if (from->registers) {
		if (!into->registers && estimate_from_now_on(into))
			return -1;
		for (uint32_t i = 0; i < DISTINCT_REGISTERS; i++) {
			if (into->registers[i] < from->registers[i])
				into->registers[i] = from->registers[i];
		}
		return 0;
	}
	if (from->zero && distinct_add(into, 0))
		return -1;
	for (uint32_t i = 0; i < from->capacity; i++) {
		if (from->hashes[i] && distinct_add(into, from->hashes[i]))
			return -1;
	}
	return 0;
}

int distinct_raise(struct distinct *d, uint32_t index, uint8_t rank)
{
	if (index >= DISTINCT_REGISTERS || !rank || rank >= RANKS) {
		errno = EINVAL;
		return -1;
	}
	if (!d->registers && estimate_from_now_on(d))
		return -1;
	if (d->registers[index] < rank)
		d->registers[index] = rank;
	return 0;
}

/* The two series of Ertl 2017, "New cardinality estimation algorithms for HyperLogLog sketches". */
static double sigma(double x)
{
	double y = 1, z = x, before;

	if (x == 1)
		return INFINITY;
	do {
		x *= x;
		before = z;
		z += x * y;
		y += y;
	} while (z != before);
	return z;
}

static double tau(double x)
{
	double y = 1, z = 1 - x, before;

	if (x == 0 || x == 1)
		return 0;
	do {
		x = sqrt(x);
		before = z;
		y /= 2;
		z -= (1 - x) * (1 - x) * y;
	} while (z != before);
	return z / 3;
}

uint64_t distinct_count(const struct distinct *d)
{
	const double m = DISTINCT_REGISTERS;
	uint32_t with_rank[RANKS] = {0};
	double z;

	if (!d->registers)
		return d->used;
	for (uint32_t i = 0; i < DISTINCT_REGISTERS; i++)
		with_rank[d->registers[i]]++;
	z = m * tau(1 - with_rank[RANKS - 1] / m);
	for (int k = RANKS - 2; k >= 1; k--)
		z = (z + with_rank[k]) / 2;
	z += m * sigma(with_rank[0] / m);
	if (!(z > 0)) /* every register at its highest rank */
		return UINT64_MAX;
	/* m^2 / (2 ln 2 z): at most about 2^64 */
	z = m / (2 * M_LN2) * m / z;
	return z < 18446744073709549568.0 ? (uint64_t)(z + 0.5) : UINT64_MAX;
}
