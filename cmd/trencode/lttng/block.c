/*
 * block.c - write the blocks of a 2.6 tracefile
 */
#include "cmd/trencode/lttng/lttng.h"

enum { MAJOR = 2, MINOR = 6 };

int lttng_block_begin(struct lttng_tracefile *t, uint64_t tsc)
{
	t->begin = t->last = tsc;
	t->any = true;
	return buffer_zero(&t->block, LTTNG_HEADER_2);
}

int lttng_block_end(struct tree_output *out, const struct lttng_constants *c,
		    struct lttng_tracefile *t, struct error *e)
{
	uint32_t used = (uint32_t)t->block.size;
	uint8_t *h;

	if (!used)
		return 0;
	if (buffer_align(&t->block, LTTNG_PAGE))
		return error_no_memory(e);
	h = t->block.data;
	put_u64(h, t->begin);
	put_u64(h + 8, t->last);
	put_u32(h + LTTNG_MAGIC_2, LTTNG_MAGIC);
	h[20] = MAJOR;
	h[21] = MINOR;
	h[22] = c->word_size;
	h[23] = 0; /* packed */
	put_u64(h + 24, c->seconds);
	put_u64(h + 32, c->microseconds);
	put_u64(h + 40, c->frequency);
	put_u32(h + 48, (uint32_t)c->scale);
	put_u32(h + 52, used);
	put_u32(h + 56, (uint32_t)t->block.size);
	put_u32(h + 60, t->lost);
	put_u32(h + 64, 0);
	if (tree_output_put(out, t->member, t->block.data, t->block.size, e))
		return -1;
	t->block.size = 0;
	t->reported = t->lost;
	return tree_output_settle(out, t->member, e);
}

int lttng_block_event(struct tree_output *out, const struct lttng_constants *c,
		      struct lttng_tracefile *t, const struct lttng_record *r, size_t limit,
		      struct error *e)
{
	uint8_t h[24];
	size_t n = 4;
	uint64_t tsc = r->tsc;
	uint32_t id = r->id, size = (uint32_t)r->payload->size;
	uint32_t code = id < LTTNG_ID_FULL_TIME ? id : LTTNG_ID_WIDE;

	/* a clock that steps back needs a block of its own */
	if (t->block.size && (t->block.size + size + sizeof h > limit || tsc < t->last) &&
	    lttng_block_end(out, c, t, e))
		return -1;
	if (!t->block.size && lttng_block_begin(t, tsc))
		goto no_memory;
	if (tsc - t->last >= 1u << LTTNG_TIME_BITS)
		code = LTTNG_ID_FULL_TIME;
	put_u32(h, code << LTTNG_TIME_BITS | (uint32_t)(tsc & ((1u << LTTNG_TIME_BITS) - 1)));
	if (code >= LTTNG_ID_FULL_TIME) {
		put_u16(h + n, (uint16_t)id);
		n += 2;
	}
	if (code == LTTNG_ID_FULL_TIME) {
		put_u16(h + n, size < LTTNG_SIZE_WIDE ? (uint16_t)size : LTTNG_SIZE_WIDE);
		n += 2;
		if (size >= LTTNG_SIZE_WIDE) {
			put_u32(h + n, size);
			n += 4;
		}
		put_u64(h + n, tsc);
		n += 8;
	}
	t->last = tsc;
	if (!buffer_append(&t->block, h, n) && !buffer_append(&t->block, r->payload->data, size))
		return 0;
no_memory:
	return error_no_memory(e);
}
