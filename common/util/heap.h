/*
 * heap.h - a heap of items by time, with the earliest on top
 *
 * An item is embedded in its owner's struct. The owner changes the time of the top item and then
 * calls heap_settle.
 */
#ifndef TR_UTIL_HEAP_H
#define TR_UTIL_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	struct heap_item **items = h->items, *item = items[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= h->count)
			break;
		if (child + 1 < h->count && heap_earlier(items[child + 1], items[child]))
			child++;
		if (!heap_earlier(items[child], item))
			break;
		items[i] = items[child];
		i = child;
	}
	items[i] = item;
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
