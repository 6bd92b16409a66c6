/*
 * heap.h - heaps in arrays: of any elements, and of items by time, with the earliest on top
 *
 * An item is embedded in its owner's struct. The owner changes the time of the top item and then
 * calls heap_settle.
 */
#ifndef TR_UTIL_HEAP_H
#define TR_UTIL_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Move element `index` of a heap of `count` elements down or up to its place. `earlier` is an
 * expression of the pointers a and b to two elements: a is above b.
 */
#define HEAP_DOWN(array, count, index, a, b, earlier)                                              \
	do {                                                                                       \
		__typeof__(*(array)) *heap_at = (array), heap_moved = heap_at[index], *a, *b;      \
		size_t heap_i = (index), heap_child;                                               \
                                                                                                   \
		while ((heap_child = 2 * heap_i + 1) < (count)) {                                  \
			a = &heap_at[heap_child + 1];                                              \
			b = &heap_at[heap_child];                                                  \
			if (heap_child + 1 < (count) && (earlier))                                 \
				heap_child++;                                                      \
			a = &heap_at[heap_child];                                                  \
			b = &heap_moved;                                                           \
			if (!(earlier))                                                            \
				break;                                                             \
			heap_at[heap_i] = heap_at[heap_child];                                     \
			heap_i = heap_child;                                                       \
		}                                                                                  \
		heap_at[heap_i] = heap_moved;                                                      \
	} while (0)

#define HEAP_UP(array, index, a, b, earlier)                                                       \
	do {                                                                                       \
		__typeof__(*(array)) *heap_at = (array), heap_moved = heap_at[index], *a, *b;      \
		size_t heap_i = (index);                                                           \
                                                                                                   \
		for (a = &heap_moved; heap_i; heap_i = (heap_i - 1) / 2) {                         \
			b = &heap_at[(heap_i - 1) / 2];                                            \
			if (!(earlier))                                                            \
				break;                                                             \
			heap_at[heap_i] = *b;                                                      \
		}                                                                                  \
		heap_at[heap_i] = heap_moved;                                                      \
	} while (0)

struct heap_item {
	uint64_t time; /* UINT64_MAX: the item has ended */
	uint32_t rank; /* at equal times the lower rank is first */
};

struct heap {
	struct heap_item **items; /* the caller's array */
	size_t count;
};

static inline bool heap_earlier(const struct heap_item *a, const struct heap_item *b)
{
	return a->time < b->time || (a->time == b->time && a->rank < b->rank);
}

static inline void heap_sift_down(struct heap *h, size_t i)
{
	HEAP_DOWN(h->items, h->count, i, a, b, heap_earlier(*a, *b));
}

/* Build the heap from items in any order. */
static inline void heap_build(struct heap *h)
{
	for (size_t i = h->count; i--;)
		heap_sift_down(h, i);
}

/* Restore the order after the top's time has changed; an ended item is removed. */
static inline void heap_settle(struct heap *h)
{
	if (h->items[0]->time == UINT64_MAX)
		h->items[0] = h->items[--h->count];
	if (h->count)
		heap_sift_down(h, 0);
}

/* Get the item after the top; NULL: none. */
static inline const struct heap_item *heap_second(const struct heap *h)
{
	if (h->count < 2)
		return NULL;
	return h->count > 2 && heap_earlier(h->items[2], h->items[1]) ? h->items[2] : h->items[1];
}

#endif
