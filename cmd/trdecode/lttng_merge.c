/*
 * lttng_merge.c - all tracefiles by TSC, ties in the order of the files
 */
#include "lttng.h"

static inline bool earlier(const struct lttng_file *a, const struct lttng_file *b)
{
	return a->next < b->next || (a->next == b->next && a->rank < b->rank);
}

static void sift_down(struct lttng *l, size_t i)
{
	struct lttng_file **h = l->heap, *f = h[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= l->nheap)
			break;
		if (child + 1 < l->nheap && earlier(h[child + 1], h[child]))
			child++;
		if (!earlier(h[child], f))
			break;
		h[i] = h[child];
		i = child;
	}
	h[i] = f;
}

static void set_next(struct lttng *l)
{
	uint64_t time = l->nheap ? lttng_row_time(l, l->heap[0]->next) : UINT64_MAX;

	/* UINT64_MAX would say that there is none */
	l->input->next = l->nheap && time == UINT64_MAX ? time - 1 : time;
}

void lttng_merge_begin(struct lttng *l)
{
	for (size_t i = l->nheap; i--;)
		sift_down(l, i);
	set_next(l);
}

/* The file at the top while it is the earliest; below TSC limit. */
static int run_first(struct lttng *l, struct lttng_file *f, uint64_t limit, uint64_t until)
{
	do {
		if (until == UINT64_MAX) {
			if (lttng_quick(l, f, limit))
				return -1;
			if (f->done || f->next >= limit)
				return 0;
		} else if (lttng_row_time(l, f->next) > until) {
			return 0;
		}
		if (lttng_rows_event(l, f) || lttng_file_next(l, f))
			return -1;
	} while (!f->done && f->next < limit);
	return 0;
}

int lttng_merge_run(struct lttng *l, uint64_t until)
{
	while (l->nheap) {
		struct lttng_file *first = l->heap[0], *second = NULL;
		uint64_t limit = UINT64_MAX;

		if (until != UINT64_MAX && lttng_row_time(l, first->next) > until)
			break;
		if (l->nheap > 1)
			second = l->heap[1];
		if (l->nheap > 2 && earlier(l->heap[2], second))
			second = l->heap[2];
		if (second)
			limit = second->next;
		if (second && first->rank < second->rank && limit < UINT64_MAX)
			limit++;
		if (run_first(l, first, limit, until))
			return -1;
		if (first->done) {
			lttng_file_close(first);
			l->heap[0] = l->heap[--l->nheap];
		}
		if (l->nheap)
			sift_down(l, 0);
	}
	set_next(l);
	return 0;
}
