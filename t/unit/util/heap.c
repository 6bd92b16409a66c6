/* heap.h: the order of what comes next, ties by rank, and what is left out. */
#include "common/util/heap.h"

#include "t/unit/tap.h"

enum { ITEMS = 100, TURNS = 20 };

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Each item has TURNS times that ascend; what the heap gives must ascend over all. */
static void merge(unsigned spread, const char *what)
{
	struct heap_item items[ITEMS], *order[ITEMS], before = {0, 0};
	unsigned turns[ITEMS] = {0}, seen = 0;
	struct heap h = {order, 0};
	uint32_t random = spread;
	bool good = true;

	for (uint32_t i = 0; i < ITEMS; i++) {
		items[i] = (struct heap_item){next_random(&random) % spread, i};
		order[h.count++] = &items[i];
	}
	heap_build(&h);
	while (h.count) {
		struct heap_item *top = h.items[0];
		const struct heap_item *second = heap_second(&h);

		good = good && !heap_earlier(top, &before) &&
		       (!second || heap_earlier(top, second));
		for (size_t i = 1; i < h.count; i++)
			good = good && !heap_earlier(h.items[i], second);
		before = *top;
		seen++;
		top->time += next_random(&random) % spread;
		if (++turns[top->rank] == TURNS)
			top->time = UINT64_MAX;
		heap_settle(&h);
	}
	ok(good && seen == ITEMS * TURNS, what);
}

int main(void)
{
	merge(1000000, "times far apart");
	merge(3, "mostly ties");
	merge(1, "all at one time");
	return done();
}
