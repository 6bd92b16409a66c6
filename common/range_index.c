#include "range_index.h"

#include <stdlib.h>

#include "buffer.h"

/* An address inside so many nested ranges is nothing that a compiler made. */
enum { NESTING_MAX = 1024 };

int range_index_add(struct range_index *x, uint64_t start, uint64_t end, uint32_t what)
{
	struct range *at;

	if (start >= end)
		return 0;
	if (x->count >= UINT32_MAX - 1)
		return -1;
	at = array_grow(x->at, &x->capacity, x->count, sizeof *at);
	if (!at)
		return -1;
	x->at = at;
	at[x->count++] = (struct range){start, end, what, 0};
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (x->what > y->what) - (x->what < y->what);
}

void range_index_seal(struct range_index *x)
{
	uint32_t outer;

	if (x->count)
		qsort(x->at, x->count, sizeof *x->at, compare);
	/* The chain from i - 1 is the stack of those that may reach beyond i: what i covers goes.
	 */
	for (size_t i = 1; i < x->count; i++) {
		outer = (uint32_t)i;
		while (outer && x->at[outer - 1].end <= x->at[i].end)
			outer = x->at[outer - 1].outer;
		x->at[i].outer = outer;
	}
}

const struct range *range_index_find(const struct range_index *x, uint64_t address)
{
	size_t low = 0, high = x->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (x->at[middle].start > address)
			high = middle;
		else
			low = middle + 1;
	}
	for (unsigned steps = 0; low && steps < NESTING_MAX; steps++) {
		const struct range *r = &x->at[low - 1];

		if (address < r->end)
			return r;
		low = r->outer;
	}
	return NULL;
}

void range_index_free(struct range_index *x)
{
	free(x->at);
	*x = (struct range_index){0};
}
