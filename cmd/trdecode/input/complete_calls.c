#include "cmd/trdecode/input/complete_calls.h"

#include <stdlib.h>

#include "common/util/error.h"
#include "common/util/buffer.h"
#include "common/util/heap.h"

static bool sooner(const struct complete_end *a, const struct complete_end *b)
{
	return a->time != b->time ? a->time < b->time : a->serial > b->serial;
}

int complete_calls_push(struct complete_calls *c, const struct complete_end *end)
{
	struct complete_end *ends;

	if (ARRAY_GROW(c->heap, c->capacity, c->count))
		return -1;
	ends = c->heap;
	ends[c->count] = *end;
	HEAP_UP(ends, c->count, a, b, sooner(a, b));
	c->count++;
	return 0;
}

struct complete_end complete_calls_pop(struct complete_calls *c)
{
	struct complete_end top = c->heap[0];

	c->heap[0] = c->heap[--c->count];
	HEAP_DOWN(c->heap, c->count, 0, a, b, sooner(a, b));
	return top;
}

bool complete_calls_overlap(const struct complete_calls *c, const struct complete_end *end,
			    uint64_t limit, bool inexact)
{
	uint64_t bit = end->serial - 1;

	if (c->marks && !c->looking)
		return bit / 8 < c->nmarks && c->marks[bit / 8] >> bit % 8 & 1;
	return complete_ends_outside(end->time, limit, inexact);
}

int complete_calls_mark(struct complete_calls *c, uint64_t serial)
{
	uint64_t bit = serial - 1;

	if (ARRAY_REACH(c->marks, c->nmarks, bit / 8))
		return -1;
	c->marks[bit / 8] |= (uint8_t)(1 << bit % 8);
	return 0;
}

void complete_calls_rewind(struct complete_calls *c)
{
	c->looking = false;
	c->count = 0;
	c->serial = 0;
}

void complete_calls_free(struct complete_calls *c)
{
	free(c->heap);
	free(c->marks);
}

void complete_calls_clipped(const char *file, uint64_t calls)
{
	warn_count(file, calls,
		   "{call that ends after the call around it was|calls that end after "
		   "the call around them were} ended with it");
}
