#include "cmd/trdecode/glprofile/row_queue.h"

#include <stdlib.h>

#include "common/util/heap.h"

struct queued_row {
	struct new_row row; /* fixed and tail are in data */
	uint64_t number;
	struct row_needs needs; /* definitions are in data */
	size_t size;
	uint8_t data[];
};

static bool row_is_earlier(const struct queued_row *a, const struct queued_row *b)
{
	return a->row.time < b->row.time || (a->row.time == b->row.time && a->number < b->number);
}

/* Write the first row. */
static int row_queue_pop(struct row_queue *q)
{
	struct queued_row *r = q->rows[0];
	int failed = row_needs_use(&r->needs, q->w) || writer_row_data(q->w, r->row);

	q->rows[0] = q->rows[--q->count];
	if (q->count)
		HEAP_DOWN(q->rows, q->count, 0, a, b, row_is_earlier(*a, *b));
	q->bytes -= r->size;
	free(r);
	return failed ? -1 : 0;
}

int row_queue_put(struct row_queue *q, const struct new_row *r, const struct row_needs *needs)
{
	size_t tail = r->has_tail ? r->tail_size : 0, bytes = needs ? needs->bytes : 0;
	size_t size = r->fixed_size + tail + bytes;
	struct queued_row **rows;
	struct queued_row *n;
	uint8_t *p;

	if (ARRAY_GROW(q->rows, q->capacity, q->count))
		return -1;
	rows = q->rows;
	n = malloc(sizeof *n + size);
	if (!n)
		return -1;
	n->row = *r;
	n->number = q->added++;
	n->size = sizeof *n + size;
	n->needs = needs ? *needs : (struct row_needs){0};
	p = n->data;
	n->row.fixed = p;
	p = mempcpy(p, r->fixed_size ? r->fixed : "", r->fixed_size);
	n->row.tail = p;
	p = mempcpy(p, tail ? r->tail : "", tail);
	n->needs.definitions = p;
	memcpy(p, bytes ? needs->definitions : (const uint8_t *)"", bytes);
	rows[q->count++] = n;
	q->bytes += n->size;
	HEAP_UP(rows, q->count - 1, a, b, row_is_earlier(*a, *b));
	while (q->count > ROW_QUEUE_ROWS || (q->count > 1 && q->bytes > ROW_QUEUE_BYTES))
		if (row_queue_pop(q))
			return -1;
	return 0;
}

int row_queue_write(struct row_queue *q, uint64_t until)
{
	while (q->count && q->rows[0]->row.time <= until)
		if (row_queue_pop(q))
			return -1;
	return 0;
}

uint64_t row_queue_next(const struct row_queue *q)
{
	return q->count ? q->rows[0]->row.time : UINT64_MAX;
}

void row_queue_free(struct row_queue *q)
{
	for (size_t i = 0; i < q->count; i++)
		free(q->rows[i]);
	free(q->rows);
	*q = (struct row_queue){0};
}
