/*
 * pack_stream.c - a stream on standard input as the records of t/fuzz/packed_stream.h
 *
 * usage: pack_stream ROWS META: at most so many rows, and so many bytes of each META block
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "t/fuzz/packed_stream.h"

static void put(uint64_t n, unsigned size)
{
	for (; size; size--, n >>= 8)
		putchar((int)(n & 0xff));
}

static void put_bytes(const void *data, size_t n)
{
	if (n)
		fwrite(data, 1, n, stdout);
}

static void pack_dict(const struct block *b)
{
	struct raw_entry e;

	for (size_t at = 0; entry_next(b->payload, b->length, &at, &e) > 0;) {
		size_t n = e.size < UINT16_MAX ? e.size : UINT16_MAX;

		put(e.kind, 1);
		put(e.id, 2);
		put(n, 2);
		put_bytes(e.data, n);
	}
}

/* The id of the location of a row, or of the stack of a sample. */
static uint32_t place_id(const struct block *b, const struct event *e)
{
	const uint8_t *ids = e->type->kind == KIND_SAMPLE ? b->stacks.ids : b->location_ids;

	return e->location_index ? get_u32(ids + 4 * (size_t)(e->location_index - 1)) : 0;
}

static void pack_rows(const struct block *b, uint64_t *time, long *rows)
{
	struct events it;
	struct event e;

	for (events_begin(&it, b); *rows && event_next(&it, &e); --*rows) {
		size_t n = e.tail_size < 8192 ? e.tail_size : 8192;

		if (!*time) {
			put(RECORD_TIME, 1);
			put(e.time, 8);
			*time = e.time;
		}
		put(RECORD_ROW, 1);
		put(get_u32(b->type_ids + 4 * (size_t)e.type_index), 2);
		put(get_u32(b->lane_ids + 4 * (size_t)e.lane_index), 2);
		put(place_id(b, &e), 2);
		put(e.depth < 255 ? e.depth : 255, 1);
		put(e.time - *time, 4);
		put(e.type->fixed_size + n, 2);
		put_bytes(e.fixed, e.type->fixed_size);
		put_bytes(e.tail, n);
		*time = e.time;
	}
}

static void pack_meta(struct reader *r, const struct block *b, size_t most)
{
	struct meta m;
	uint32_t source;

	reader_meta(r, b, &m);
	source = get_u32(b->payload);
	most = m.size < most ? m.size : most;
	put(RECORD_META, 1);
	put(source, 2);
	put(m.name_size & 0xff, 1);
	put(most, 2);
	put_bytes(m.name, m.name_size & 0xff);
	put_bytes(m.data, most);
}

int main(int argc, char **argv)
{
	long rows = argc > 1 ? atol(argv[1]) : 100;
	size_t most = argc > 2 ? (size_t)atol(argv[2]) : 4096;
	struct reader r;
	struct block b;
	uint64_t time = 0;
	int got;

	if (reader_open_fd(&r, STDIN_FILENO, "stream", NULL, 0))
		return 1;
	while (rows && (got = reader_next(&r, &b))) {
		if (got < 0)
			continue;
		if (b.kind == BLOCK_HEAD && r.head.flags) {
			put(RECORD_FLAGS, 1);
			put(r.head.flags, 4);
		}
		if (b.kind == BLOCK_DICT)
			pack_dict(&b);
		else if (b.kind == BLOCK_EVENTS)
			pack_rows(&b, &time, &rows);
		else if (b.kind == BLOCK_META)
			pack_meta(&r, &b, most);
		else if (b.kind == BLOCK_END && !(r.end.flags & END_LAST)) {
			put(RECORD_END, 1);
			put(r.end.status, 1);
			put(r.end.message.size & 0xff, 2);
			put_bytes(r.end.message.text, r.end.message.size & 0xff);
		}
	}
	reader_close(&r);
	return 0;
}
