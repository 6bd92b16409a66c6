/*
 * merge.c - merges all tracefiles by TSC; events of one TSC by their recorded order, then by
 * file
 */
#include "cmd/trdecode/lttng/lttng.h"
#include "common/util/heap.h"

static inline bool earlier(const struct lttng_file *a, const struct lttng_file *b)
{
	if (a->next != b->next)
		return a->next < b->next;
	return a->order != b->order ? a->order < b->order : a->rank < b->rank;
}

static void sift_down(struct lttng *l, size_t i)
{
	HEAP_DOWN(l->heap, l->nheap, i, a, b, earlier(*a, *b));
}

static void set_next(struct lttng *l)
{
	uint64_t time = l->nheap ? lttng_row_time(l, l->heap[0]->next) : UINT64_MAX;

	/* UINT64_MAX means: no next event */
	l->input->next = l->nheap && time == UINT64_MAX ? time - 1 : time;
}

void lttng_merge_begin(struct lttng *l)
{
	for (size_t i = l->nheap; i--;)
		sift_down(l, i);
	set_next(l);
}

/* Return the first file of the heap, the index of the second, and the TSC of the third, which both
 * must stay below. */
static struct lttng_file *next_two(const struct lttng *l, size_t *second, uint64_t *limit)
{
	struct lttng_file *const *h = l->heap;
	size_t n = l->nheap;

	*second = n > 2 && earlier(h[2], h[1]) ? 2 : 1;
	*limit = n > 2 ? h[3 - *second]->next : UINT64_MAX;
	for (size_t i = 2 * *second + 1; i < n && i < 2 * *second + 3; i++)
		if (h[i]->next < *limit)
			*limit = h[i]->next;
	return n > 1 ? h[*second] : NULL;
}

int lttng_merge_run(struct lttng *l, uint64_t until)
{
	while (l->nheap) {
		struct lttng_file *first = l->heap[0], *g;
		size_t second;
		uint64_t limit;

		if (first->done) {
			lttng_file_close(first);
			l->heap[0] = l->heap[--l->nheap];
			sift_down(l, 0);
			continue;
		}
		if (until != UINT64_MAX) {
			if (lttng_row_time(l, first->next) > until)
				break;
		} else {
			g = next_two(l, &second, &limit);
			if (lttng_quick(l, first, g, limit))
				return -1;
			if (g)
				sift_down(l, second);
			sift_down(l, 0);
			first = l->heap[0];
			if (first->done)
				continue;
		}
		if (lttng_rows_event(l, first) || lttng_file_next(l, first))
			return -1;
		sift_down(l, 0);
	}
	set_next(l);
	return 0;
}
