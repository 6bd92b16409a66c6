#include "cut.h"

/* Count the rows' times from the first of them. */
static void move_base(struct block *b, uint64_t base)
{
	uint64_t step = base - b->base;
	const uint8_t *p = b->row_data, *end = p + b->row_size;

	if (base < b->base)
		return; /* times that run over the end of 64 bits: a damaged block */
	/* the time is in the lowest bits, and not before the base */
	for (; step && p < end; p += cut_row_size(b, p))
		put_u64((uint8_t *)p, get_u64(p) - step);
	b->base = base;
}

void cut_block(struct block *out, const struct block *b, uint8_t *payload, size_t size,
	       uint32_t rows, uint64_t low, uint64_t high)
{
	size_t front = cut_front(b);

	if (payload != b->payload)
		memcpy(payload, b->payload, front);
	*out = *b;
	out->cut = false;
	out->flags &= (uint16_t)~BLOCK_HAS_CRC; /* it was that of b's payload */
	out->type_ids = payload + (b->type_ids - b->payload);
	out->lane_ids = payload + (b->lane_ids - b->payload);
	out->place_ids = payload + (b->place_ids - b->payload);
	out->payload = payload;
	out->row_data = payload + front;
	out->row_size = size;
	out->rows = rows;
	out->last = high;
	move_base(out, low);
	memset(payload + front + size, 0, 8);
	out->length = out->available = (uint32_t)align_up(front + size, 8);
	put_u64(payload, out->base);
	put_u64(payload + 8, out->last);
	put_u32(payload + 16, out->rows);
	put_u16(payload + 20, out->row_flags);
}
