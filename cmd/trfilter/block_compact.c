/*
 * block_compact.c - make a block of some rows of another block
 */
#include "cmd/trfilter/block_compact.h"

/* Make the rows' times relative to out's base, which is step after their present base. */
static void move_base(const struct block *out, uint8_t *p, uint64_t step)
{
	const uint8_t *end = p + out->row_size;

	for (; step && p < end; p += row_size(out, p))
		row_move(p, out->row_flags & EVENTS_WIDE, step);
}

void compact_describe(struct block *out, const struct block *b, const struct compact_rows *rows)
{
	size_t front = b->front;

	*out = *b;
	out->truncated = false;
	out->flags &= (uint16_t)~BLOCK_HAS_CRC; /* it was the CRC of b's payload */
	out->row_size = rows->size;
	out->rows = rows->count;
	/* below the base: times exceed 64 bits, a damaged block */
	out->base = rows->low < b->base ? b->base : rows->low;
	out->last = rows->high;
	out->length = out->available = (uint32_t)align_up(front + rows->size, 8);
}

void compact_put_header(uint8_t *p, const struct block *b)
{
	put_u64(p, b->base);
	put_u64(p + 8, b->last);
	put_u32(p + 16, b->rows);
	put_u16(p + 20, b->row_flags);
}

void compact_block(struct block *out, const struct block *b, uint8_t *payload,
		   const struct compact_rows *rows)
{
	size_t front = b->front;

	if (payload != b->payload)
		memcpy(payload, b->payload, front);
	compact_describe(out, b, rows);
	out->type_ids = payload + (b->type_ids - b->payload);
	out->lane_ids = payload + (b->lane_ids - b->payload);
	out->location_ids = payload + (b->location_ids - b->payload);
	out->stacks.ids = payload + (b->stacks.ids - b->payload);
	out->payload = payload;
	out->row_data = payload + front;
	move_base(out, payload + front, out->base - b->base);
	memset(payload + front + rows->size, 0, 8);
	compact_put_header(payload, out);
}
