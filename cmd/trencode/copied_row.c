#include "cmd/trencode/copied_row.h"

#include <stdlib.h>
#include <string.h>

struct copied_row *copied_row_new(const struct event *ev)
{
	struct plain_row row = {.location = ev->location != 0, .depth = ev->depth};
	bool tail = ev->type->flags & TYPE_TAIL;
	size_t fixed = ev->type->fixed_size;
	size_t size = WIDE_ROW + fixed + (tail ? 4 + align_up(ev->tail_size, 4) : 0);
	struct copied_row *n = calloc(1, sizeof *n + size);

	if (!n)
		return NULL;
	*n = (struct copied_row){.time = ev->time,
				 .type = ev->type,
				 .lane = ev->lane,
				 .location = ev->location,
				 .size = size};
	row_put_wide(n->row, &row);
	if (fixed)
		memcpy(n->row + WIDE_ROW, ev->fixed, fixed);
	if (tail) {
		put_u32(n->row + WIDE_ROW + fixed, ev->tail_size);
		if (ev->tail_size)
			memcpy(n->row + WIDE_ROW + fixed + 4, ev->tail, ev->tail_size);
	}
	return n;
}

void copied_rows_append(struct copied_rows *l, struct copied_row *n)
{
	n->before = l->newest;
	*(l->newest ? &l->newest->after : &l->oldest) = n;
	l->newest = n;
}

void copied_rows_remove(struct copied_rows *l, struct copied_row *n)
{
	*(n->before ? &n->before->after : &l->oldest) = n->after;
	*(n->after ? &n->after->before : &l->newest) = n->before;
	free(n);
}

void copied_rows_clear(struct copied_rows *l)
{
	while (l->oldest)
		copied_rows_remove(l, l->oldest);
}

const struct block *copied_row_block(struct copied_block *b, struct copied_row *n, uint64_t time)
{
	b->locations[0] = 0;
	b->locations[1] = n->location;
	b->block = (struct block){
		.kind = BLOCK_EVENTS,
		.base = time,
		.last = time,
		.rows = 1,
		.row_flags = EVENTS_WIDE,
		.ntypes = 1,
		.nlanes = 1,
		.nlocations = 2,
		.types = &n->type,
		.lanes = &n->lane,
		.locations = b->locations,
		.row_data = n->row,
		.row_size = n->size,
	};
	return &b->block;
}
