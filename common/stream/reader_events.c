#include "common/stream/reader_private.h"

/* Read the complete rows of a block in which the input ended; the next call reports the
 * truncation. */
static int load_cut(struct reader *r, struct block *b)
{
	uint32_t rows;

	b->length = b->available = (uint32_t)(r->input.filled - r->input.begin);
	b->flags &= (uint16_t)~BLOCK_HAS_CRC;
	b->truncated = r->truncated = true;
	if (reader_tables(r, b)) {
		if (r->stop)
			return -1;
		reader_ended(r, r->input.offset + b->length, READER_NO_END);
		if (reader_may_go_back(r, b->length))
			reader_go_on_after_damage(r);
		else
			reader_close_input(r);
		return -1;
	}
	if (b->row_flags & EVENTS_BARE && !reader_all_bare(b))
		b->rows = 0;
	b->row_flags &= (uint16_t)~EVENTS_BARE;
	b->row_size = reader_walk_rows(r->reads_values, b, &rows);
	b->rows = rows;
	/* if only its length was damaged, other blocks follow the rows */
	r->pending = (size_t)(b->row_data - b->payload) + b->row_size;
	return 0;
}

int reader_load(struct reader *r, struct block *b)
{
	const char *fault;
	int got;

	if (b->kind != BLOCK_EVENTS || r->loaded)
		return 0;
	got = reader_fill(r, b->length, reader_at_once(r, b, b->length));
	if (got < 0)
		return -1;
	b->payload = r->input.data + r->input.begin;
	r->loaded = true;
	if (!got)
		return load_cut(r, b);
	b->available = b->length;
	fault = reader_crc_fault(b);
	if ((fault && reader_damaged(r, b->offset, fault)) || reader_tables(r, b)) {
		if (!r->stop)
			reader_distrust_length(r, b->length);
		return -1;
	}
	b->unchecked = true;
	if (r->rows_on_demand && b->flags & BLOCK_HAS_CRC &&
	    (!(b->row_flags & EVENTS_BARE) || reader_bare_rows_fit(b)))
		return 0;
	return reader_rows(r, b);
}

int reader_rows(struct reader *r, struct block *b)
{
	const char *fault;

	if (!b->unchecked)
		return 0;
	b->unchecked = false;
	fault = events_block_rows(b, r->reads_values);
	if (!fault)
		return 0;
	b->rows = 0;
	b->row_size = 0;
	reader_damaged(r, b->offset, fault);
	reader_distrust_length(r, b->length);
	return -1;
}

int reader_read_events(struct reader *r, struct block *b)
{
	const char *fault = events_block_head(b);

	if (fault) {
		reader_damaged(r, b->offset, fault);
		reader_distrust_length(r, b->length);
		return -1;
	}
	r->loaded = false;
	if (!r->on_demand && reader_load(r, b))
		return -1;
	r->segment.rows += b->rows;
	return 0;
}
