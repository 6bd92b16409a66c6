#include "common/stream/bad_values.h"

#include <inttypes.h>

#include "common/stream/value.h"

static inline bool is_bad(const struct event *e, enum reads_values reads)
{
	return e->tail_size && bad_values_matter(e->type, reads) &&
	       !values_sound(e->tail, e->tail_size);
}

/* Copy a row unchanged, or without its tail. */
static int copy_row(struct buffer *to, const struct event *e, const uint8_t *end, bool bad)
{
	if (!bad)
		return buffer_append(to, e->row, (size_t)(end - e->row));
	return buffer_append(to, e->row, (size_t)(e->tail - 4 - e->row)) || buffer_u32(to, 0) ? -1
											      : 0;
}

static int copy_block(struct buffer *to, struct block *b, enum reads_values reads)
{
	size_t front = b->front;
	struct events it;
	struct event e;

	buffer_clear(to);
	if (buffer_append(to, b->payload, front))
		return -1;
	for (events_begin(&it, b); event_next(&it, &e);)
		if (copy_row(to, &e, it.row, is_bad(&e, reads)))
			return -1;
	b->row_size = to->size - front;
	if (buffer_align(to, 8))
		return -1;
	b->payload = to->data;
	b->length = b->available = (uint32_t)to->size;
	b->row_data = to->data + front;
	b->type_ids = to->data + EVENTS_HEADER;
	b->lane_ids = b->type_ids + 4 * b->ntypes;
	b->location_ids = b->lane_ids + 4 * b->nlanes;
	b->stacks.ids = b->location_ids + 4 * (size_t)b->stacks.locations;
	b->flags &= (uint16_t)~BLOCK_HAS_CRC;
	b->bad_values = false;
	return 0;
}

int64_t bad_values_drop(struct bad_values *v, struct block *b, enum reads_values reads)
{
	int64_t found = 0;
	struct events it;
	struct event e;

	if (!b->bad_values)
		return 0;
	for (events_begin(&it, b); event_next(&it, &e);) {
		if (!is_bad(&e, reads))
			continue;
		found++;
		if (!v->count++)
			error_set(&v->first, b->file,
				  b->offset + BLOCK_HEADER + (uint64_t)(e.row - b->payload),
				  BAD_VALUES);
	}
	return found && copy_block(&v->payload, b, reads) ? -1 : found;
}

void bad_values_report(const struct bad_values *v)
{
	if (v->count == 1)
		warn(v->first.file, v->first.offset, "%s: they are left out", v->first.what);
	else if (v->count)
		warn(v->first.file, v->first.offset,
		     "%s: they are left out, and those of %" PRIu64 " more event%s", v->first.what,
		     v->count - 1, v->count == 2 ? "" : "s");
}

void bad_values_free(struct bad_values *v)
{
	buffer_free(&v->payload);
}
