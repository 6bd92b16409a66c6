#include "common/symbols/range_index.h"

#include <stdlib.h>

#include "common/util/buffer.h"
#include "common/symbols/nesting.h"

int range_index_add(struct range_index *x, uint64_t start, uint64_t end, uint32_t what)
{
	struct range *at;

	if (start >= end)
		return 0;
	if (x->count >= UINT32_MAX - 1)
		return -1;
	if (ARRAY_GROW(x->at, x->capacity, x->count))
		return -1;
	at = x->at;
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

static uint64_t start_of(const void *ranges, size_t i)
{
	return ((const struct range *)ranges)[i].start;
}

static uint64_t end_of(const void *ranges, size_t i)
{
	return ((const struct range *)ranges)[i].end;
}

static uint32_t outer_of(const void *ranges, size_t i)
{
	return ((const struct range *)ranges)[i].outer;
}

static bool has(const void *ranges, size_t i, uint64_t address)
{
	return address < end_of(ranges, i);
}

static const struct nesting nesting = {start_of, end_of, has, outer_of};

void range_index_seal(struct range_index *x)
{
	if (x->count)
		qsort(x->at, x->count, sizeof *x->at, compare);
	for (size_t i = 1; i < x->count; i++)
		x->at[i].outer = nesting_outer(&nesting, x->at, i);
}

const struct range *range_index_find(const struct range_index *x, uint64_t address)
{
	size_t found = nesting_find(&nesting, x->at, x->count, address);

	return found ? &x->at[found - 1] : NULL;
}

void range_index_free(struct range_index *x)
{
	free(x->at);
	*x = (struct range_index){0};
}
