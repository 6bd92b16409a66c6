/*
 * histogram.c - log-linear histogram of 64-bit values: exact counts, bounded relative error
 */
#include "common/util/histogram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_BITS 48 /* of the count in a sparse slot; above it: bucket + 1 */
#define COUNT_MASK (((uint64_t)1 << COUNT_BITS) - 1)
#define FIRST	   8  /* slots of the first sparse table */
#define ROUND	   32 /* a dense window begins and ends at a multiple of this many buckets */
#define PAYS	   4  /* a dense window is worth this many additions for each of its slots */

static uint32_t shift_of(uint32_t index)
{
	uint32_t octave = index >> HISTOGRAM_PRECISION;

	return octave ? octave - 1 : 0;
}

uint64_t histogram_low(uint32_t index)
{
	uint32_t shift = shift_of(index);

	return (uint64_t)(index - (shift << HISTOGRAM_PRECISION)) << shift;
}

uint64_t histogram_high(uint32_t index)
{
	return histogram_low(index) + (((uint64_t)1 << shift_of(index)) - 1);
}

void histogram_free(struct histogram *h)
{
	free(h->slots);
	memset(h, 0, sizeof *h);
}

static uint32_t slot_bucket(uint64_t slot)
{
	return (uint32_t)(slot >> COUNT_BITS) - 1;
}

/* Find the slot of the bucket, or the free slot for it. */
static uint64_t *sparse_find(uint64_t *slots, uint32_t capacity, uint32_t index)
{
	uint32_t at = index * 0x9e3779b1u >> 16;

	for (;; at++) {
		uint64_t *slot = &slots[at & (capacity - 1)];

		if (!*slot || slot_bucket(*slot) == index)
			return slot;
	}
}

/* Get the range of the buckets in use and index, rounded outwards. */
static void sparse_range(const struct histogram *h, uint32_t index, uint32_t *begin, uint32_t *end)
{
	uint32_t low = index, high = index;

	for (uint32_t i = 0; i < h->capacity; i++) {
		if (h->slots[i]) {
			uint32_t b = slot_bucket(h->slots[i]);

			low = b < low ? b : low;
			high = b > high ? b : high;
		}
	}
	*begin = low / ROUND * ROUND;
	*end = (high / ROUND + 1) * ROUND; /* HISTOGRAM_BUCKETS is a multiple of ROUND */
}

static int make_dense(struct histogram *h, uint32_t begin, uint32_t end)
{
	uint64_t *slots = calloc(end - begin, sizeof *slots);

	if (!slots)
		return -1;
	for (uint32_t i = 0; i < h->capacity; i++) {
		if (h->slots[i])
			slots[slot_bucket(h->slots[i]) - begin] = h->slots[i] & COUNT_MASK;
	}
	free(h->slots);
	*h = (struct histogram){.slots = slots, .base = begin, .span = end - begin};
	return 0;
}

/* Make a dense window of the buckets in use and index. */
static int leave_sparse(struct histogram *h, uint32_t index)
{
	uint32_t begin, end;

	sparse_range(h, index, &begin, &end);
	return make_dense(h, begin, end);
}

static int grow_sparse(struct histogram *h)
{
	uint32_t capacity = h->capacity ? 2 * h->capacity : FIRST;
	uint64_t *slots = calloc(capacity, sizeof *slots);

	if (!slots)
		return -1;
	for (uint32_t i = 0; i < h->capacity; i++) {
		if (h->slots[i])
			*sparse_find(slots, capacity, slot_bucket(h->slots[i])) = h->slots[i];
	}
	free(h->slots);
	h->slots = slots;
	h->capacity = capacity;
	return 0;
}

/* Widen the dense window to include index, by at least half its size: few copies in total. */
static int grow_dense(struct histogram *h, uint32_t index)
{
	uint32_t begin = h->base, end = h->base + h->span, more = h->span / 2 / ROUND * ROUND;
	uint64_t *slots;

	if (index < begin) {
		begin = begin > more ? begin - more : 0;
		if (index < begin)
			begin = index / ROUND * ROUND;
	} else {
		end = end + more < HISTOGRAM_BUCKETS ? end + more : HISTOGRAM_BUCKETS;
		if (index >= end)
			end = (index / ROUND + 1) * ROUND;
	}
	slots = calloc(end - begin, sizeof *slots);
	if (!slots)
		return -1;
	memcpy(slots + (h->base - begin), h->slots, h->span * sizeof *slots);
	free(h->slots);
	h->slots = slots;
	h->base = begin;
	h->span = end - begin;
	return 0;
}

/* Make room for one more bucket, as a larger table or as a dense window. */
static int histogram_make_room(struct histogram *h, uint32_t index)
{
	uint32_t begin, end;

	if (h->span)
		return index - h->base < h->span ? 0 : grow_dense(h, index);
	if (h->used < h->capacity / 4 * 3)
		return 0;
	if (h->capacity) {
		sparse_range(h, index, &begin, &end);
		if (h->capacity == HISTOGRAM_SPARSE || end - begin <= 2 * h->capacity)
			return make_dense(h, begin, end);
	}
	return grow_sparse(h);
}

int histogram_add_bucket(struct histogram *h, uint32_t index, uint64_t n)
{
	uint64_t *slot, count;

	if (index >= HISTOGRAM_BUCKETS) {
		errno = EINVAL;
		return -1;
	}
	if (!n)
		return 0;
	if (!h->span && n > COUNT_MASK / 2 && leave_sparse(h, index))
		return -1;
	if (!h->span && h->capacity) {
		slot = sparse_find(h->slots, h->capacity, index);
		if (*slot && (*slot & COUNT_MASK) <= COUNT_MASK / 2) {
			*slot += n;
			return 0;
		}
		if (*slot && leave_sparse(h, index))
			return -1;
	}
	if (histogram_make_room(h, index))
		return -1;
	if (h->span) {
		slot = &h->slots[index - h->base];
		if (__builtin_add_overflow(*slot, n, &count)) {
			errno = EOVERFLOW;
			return -1;
		}
		*slot = count;
		return 0;
	}
	*sparse_find(h->slots, h->capacity, index) = (uint64_t)(index + 1) << COUNT_BITS | n;
	h->used++;
	return 0;
}

int histogram_add_slow(struct histogram *h, uint32_t index)
{
	uint32_t begin, end;

	/* At intervals test whether a dense window over these few buckets would be small for the
	   number of additions. */
	if (!h->span && (++h->adds & 255) == 0) {
		sparse_range(h, index, &begin, &end);
		if (h->adds / PAYS >= end - begin && make_dense(h, begin, end))
			return -1;
	}
	return histogram_add_bucket(h, index, 1);
}

int histogram_merge(struct histogram *into, const struct histogram *from)
{
	struct histogram_iterator it;
	struct histogram_bucket b;

	histogram_begin(&it, from);
	while (histogram_next(&it, &b)) {
		if (histogram_add_bucket(into, b.index, b.count))
			return -1;
	}
	return 0;
}

uint64_t histogram_count(const struct histogram *h)
{
	uint64_t mask = h->span ? UINT64_MAX : COUNT_MASK, n = 0;
	uint32_t size = h->span ? h->span : h->capacity;

	for (uint32_t i = 0; i < size; i++) {
		if (__builtin_add_overflow(n, h->slots[i] & mask, &n))
			return UINT64_MAX;
	}
	return n;
}

static uint64_t representative(uint32_t index, bool first, bool last, uint64_t min, uint64_t max)
{
	uint64_t value = histogram_middle(index);

	if (first && histogram_index(min) == index)
		return min;
	if (last && histogram_index(max) == index)
		return max;
	if (value < min)
		value = min;
	return value > max ? max : value;
}

uint64_t histogram_quantile(const struct histogram *h, uint64_t numerator, uint64_t denominator,
			    uint64_t min, uint64_t max)
{
	unsigned __int128 share;
	uint64_t n = histogram_count(h), rank, below = 0;
	struct histogram_iterator it;
	struct histogram_bucket b = {0};

	if (!n || !denominator)
		return 0;
	share = (unsigned __int128)n * numerator;
	share = share / denominator + (share % denominator != 0);
	rank = share < 1 ? 1 : share > n ? n : (uint64_t)share;

	if (h->span) {
		uint32_t i = 0;

		while (rank - below > h->slots[i])
			below += h->slots[i++];
		return representative(h->base + i, rank == 1, rank == n, min, max);
	}
	histogram_begin(&it, h);
	while (histogram_next(&it, &b) && rank - below > b.count)
		below += b.count;
	return representative(b.index, rank == 1, rank == n, min, max);
}

static int by_bucket(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void histogram_begin(struct histogram_iterator *it, const struct histogram *h)
{
	it->histogram = h;
	it->next = it->size = 0;
	if (h->span)
		return;
	for (uint32_t i = 0; i < h->capacity; i++) {
		if (h->slots[i])
			it->sorted[it->size++] = h->slots[i];
	}
	if (it->size > 1)
		qsort(it->sorted, it->size, sizeof it->sorted[0], by_bucket);
}

bool histogram_next(struct histogram_iterator *it, struct histogram_bucket *bucket)
{
	const struct histogram *h = it->histogram;

	if (h->span) {
		while (it->next < h->span && !h->slots[it->next])
			it->next++;
		if (it->next == h->span)
			return false;
		bucket->index = h->base + it->next;
		bucket->count = h->slots[it->next++];
	} else {
		if (it->next == it->size)
			return false;
		bucket->index = slot_bucket(it->sorted[it->next]);
		bucket->count = it->sorted[it->next++] & COUNT_MASK;
	}
	bucket->low = histogram_low(bucket->index);
	bucket->high = histogram_high(bucket->index);
	return true;
}
