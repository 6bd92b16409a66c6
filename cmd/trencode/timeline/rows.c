#include "cmd/trencode/timeline/rows.h"

#include "common/util/buffer_file.h"

void rows_init(struct rows *r, size_t record)
{
	*r = (struct rows){.record = record, .bytes.spills = true};
}

void rows_free(struct rows *r)
{
	buffer_free(&r->bytes);
}

/* Release the memory now and then. */
static void rows_touch(struct rows *r)
{
	r->touched += r->record;
	if (r->touched < BUFFER_PIECE)
		return;
	r->touched = 0;
	buffer_rest(&r->bytes);
}

int rows_add(struct rows *r, struct row_list *list, const void *record)
{
	size_t within = list->count % ROWS_CHUNK;

	if (!within) {
		size_t chunk = r->bytes.size;

		if (buffer_zero(&r->bytes, 8 + ROWS_CHUNK * r->record))
			return -1;
		if (list->count)
			put_u64(r->bytes.data + list->last, chunk);
		else
			list->first = chunk;
		list->last = chunk;
	}
	memcpy(r->bytes.data + list->last + 8 + within * r->record, record, r->record);
	list->count++;
	rows_touch(r);
	return 0;
}

const void *rows_next(struct rows *r, const struct row_list *list, struct row_cursor *c)
{
	size_t within = c->at % ROWS_CHUNK;

	if (c->at == list->count)
		return NULL;
	if (!within)
		c->chunk = c->at ? (size_t)get_u64(r->bytes.data + c->chunk) : list->first;
	c->at++;
	rows_touch(r);
	return r->bytes.data + c->chunk + 8 + within * r->record;
}
