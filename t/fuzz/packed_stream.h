/*
 * packed_stream.h - records that become a stream with right headers, lengths, counts and checksums
 *
 * A mutated record changes what the stream contains and not whether its blocks can be read: so the
 * fuzzer reaches what uses the contents. Numbers are little-endian; a record that the end of the
 * input cuts is as long as what is left.
 *
 *     1 to 12  u16 id, u16 length, content                             an entry of that kind
 *     ROW      u16 type, u16 lane, u16 place, u8 depth (255: 65535), i32 time less that of the row
 * before, u16 length, fixed part and tail META     u16 source, u8 length of the name, u16 length,
 * name, data END      u8 status, u16 length, message                          another segment
 * begins FLAGS    u32 flags of the next HEAD TIME     u64 that the time of the next row is relative
 * to BLOCK    u8 kind, u16 length, payload                            as it is
 *
 * t/tools/pack_stream.c packs streams so.
 */
#ifndef TR_T_FUZZ_PACKED_STREAM_H
#define TR_T_FUZZ_PACKED_STREAM_H

#include <string.h>

#include "common/stream/dictionary.h"
#include "common/stream/reader.h"
#include "common/stream/writer.h"
#include "t/fuzz/fuzz.h"

enum packed_record {
	RECORD_ROW = 16,
	RECORD_META,
	RECORD_END,
	RECORD_FLAGS,
	RECORD_BLOCK,
	RECORD_TIME
};

enum { PACKED_IDS = 4096, PACKED_ROWS = 2000 };

/* The ids of one kind that the rows of a block name: table[index[id] - 1] == id. */
struct packed_table {
	uint32_t ids[PACKED_IDS], count;
	uint16_t index[PACKED_IDS];
};

struct packed_row {
	uint32_t id;		       /* of the type */
	uint16_t type, lane, location; /* indexes in the block */
	uint16_t depth;
	uint64_t time;
	const uint8_t *data;
	size_t size;
};

/* What is declared in the segment, and the blocks being made. */
struct unpacking {
	const uint8_t *at, *end;
	struct writer writer;
	struct buffer dict, block;
	struct packed_table types, lanes, locations, stacks;
	bool has_type[PACKED_IDS], has_lane[PACKED_IDS], has_location[PACKED_IDS],
		has_stack[PACKED_IDS];
	struct {
		uint32_t fixed;
		bool tail, gap, sample;
	} type[PACKED_IDS];
	struct packed_row rows[PACKED_ROWS];
	uint32_t nrows, sequence, flags;
	uint64_t time, gaps;
};

static uint32_t record_number(struct unpacking *u, unsigned size)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < size && u->at < u->end; i++)
		n |= (uint32_t)*u->at++ << 8 * i;
	return n;
}

static const uint8_t *record_bytes(struct unpacking *u, size_t *n)
{
	const uint8_t *bytes = u->at;

	if (*n > (size_t)(u->end - u->at))
		*n = (size_t)(u->end - u->at);
	u->at += *n;
	return bytes;
}

static uint16_t record_index(struct packed_table *t, uint32_t id)
{
	if (!t->index[id]) {
		t->ids[t->count++] = id;
		t->index[id] = (uint16_t)t->count;
	}
	return t->index[id];
}

static void record_put_ids(struct buffer *b, struct packed_table *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		need(!buffer_u32(b, t->ids[i]), "out of memory");
		t->index[t->ids[i]] = 0;
	}
	t->count = 0;
}

/* The fixed part is cut or filled up with zeros, and the tail has the length that is left. */
static void record_put_row(struct unpacking *u, const struct packed_row *r, uint64_t base,
			   bool wide)
{
	uint8_t head[WIDE_ROW] = {0};
	uint64_t dt = r->time - base;
	uint32_t fixed = u->type[r->id].fixed;
	size_t n = r->size < fixed ? r->size : fixed, tail = r->size - n;
	struct buffer *b = &u->block;

	if (wide) {
		put_u64(head, dt | (uint64_t)r->type << 48);
		put_u64(head + 8, r->location | (uint64_t)r->lane << 32 | (uint64_t)r->depth << 48);
	} else {
		put_u64(head, dt | (uint64_t)r->lane << 24 | (uint64_t)r->location << 32 |
				      (uint64_t)r->type << 48 | (uint64_t)(uint8_t)r->depth << 56);
	}
	need(!buffer_append(b, head, wide ? WIDE_ROW : NARROW_ROW) && !buffer_append(b, r->data, n),
	     "out of memory");
	for (; n < fixed; n++)
		need(!buffer_u8(b, 0), "out of memory");
	if (u->type[r->id].tail)
		need(!buffer_u32(b, (uint32_t)tail) &&
			     !buffer_append(b, r->data + (r->size - tail), tail) &&
			     !buffer_align(b, 4),
		     "out of memory");
}

static void record_send(struct unpacking *u, uint16_t kind, uint16_t flags, struct buffer *payload)
{
	struct iovec part;

	need(!buffer_align(payload, 8), "out of memory");
	part = (struct iovec){payload->data, payload->size};
	need(!writer_send_block(&u->writer, kind, flags, &part, 1), u->writer.error.what);
	payload->size = 0;
}

/* The declarations and rows so far. */
static void record_flush(struct unpacking *u)
{
	uint64_t base = UINT64_MAX, last = 0;
	uint8_t head[EVENTS_HEADER] = {0};
	bool wide, bare = true, deep = false;

	if (u->dict.size)
		record_send(u, BLOCK_DICT, 0, &u->dict);
	if (!u->nrows)
		return;
	for (uint32_t i = 0; i < u->nrows; i++) {
		const struct packed_row *r = &u->rows[i];

		base = r->time < base ? r->time : base;
		last = r->time > last ? r->time : last;
		bare = bare && !u->type[r->id].fixed && !u->type[r->id].tail;
		deep |= r->depth > 255;
		u->gaps += u->type[r->id].gap;
	}
	wide = last - base >= 1 << 24 || deep || u->types.count > 256 || u->lanes.count > 256;
	put_u64(head, base);
	put_u64(head + 8, last);
	put_u32(head + 16, u->nrows);
	put_u16(head + 20, (uint16_t)((wide ? EVENTS_WIDE : 0) | (bare ? EVENTS_BARE : 0)));
	put_u16(head + 22, (uint16_t)u->types.count);
	put_u16(head + 24, (uint16_t)u->lanes.count);
	put_u16(head + 26, (uint16_t)u->stacks.count);
	put_u32(head + 28, u->locations.count);
	u->block.size = 0;
	need(!buffer_append(&u->block, head, sizeof(head)), "out of memory");
	record_put_ids(&u->block, &u->types);
	record_put_ids(&u->block, &u->lanes);
	record_put_ids(&u->block, &u->locations);
	record_put_ids(&u->block, &u->stacks);
	need(!buffer_align(&u->block, 8), "out of memory");
	for (uint32_t i = 0; i < u->nrows; i++)
		record_put_row(u, &u->rows[i], base, wide);
	writer_count_events(&u->writer, u->nrows, base, last);
	record_send(u, BLOCK_EVENTS, 0, &u->block);
	u->nrows = 0;
}

/* Keep of a type what its rows need, and let it claim no more fields than it has bytes. */
static void record_type(struct unpacking *u, uint32_t id, uint8_t *content, size_t n)
{
	uint32_t fixed = get_u32(content + 20) & 0xfffc, most = (uint32_t)(n - 40) / 32;
	uint16_t flags = get_u16(content + 18);

	put_u32(content + 20, fixed);
	if (get_u32(content + 28) > most)
		put_u32(content + 28, most);
	content[16] %= KIND_COUNT;
	u->type[id].fixed = fixed;
	u->type[id].tail = flags & TYPE_TAIL;
	u->type[id].gap = content[16] == KIND_GAP;
	u->type[id].sample = content[16] == KIND_SAMPLE;
	u->has_type[id] = true;
}

static void record_entry(struct unpacking *u, uint32_t kind)
{
	static const uint8_t least[ENTRY_KINDS] = {
		[ENTRY_CLOCK] = 16, [ENTRY_SOURCE] = 16,     [ENTRY_LANE] = 40,
		[ENTRY_TYPE] = 40,  [ENTRY_DEFINITION] = 16, [ENTRY_SPACE] = 16,
		[ENTRY_MAP] = 56,   [ENTRY_LOCATION] = 24,   [ENTRY_SYMBOL] = 40,
		[ENTRY_STACK] = 8};
	static uint8_t content[65536];
	uint32_t id = record_number(u, 2);
	size_t n = record_number(u, 2);
	const uint8_t *bytes = record_bytes(u, &n);

	memset(content, 0, sizeof(content[0]) * least[kind]);
	memcpy(content, bytes, n);
	n = n < least[kind] ? least[kind] : n;
	/* rows mean what is declared before them; a symbol has the id of its place */
	if (kind == ENTRY_TYPE || kind == ENTRY_LANE || kind == ENTRY_LOCATION ||
	    kind == ENTRY_SYMBOL || kind == ENTRY_STACK) {
		id %= PACKED_IDS;
		id += !id;
		record_flush(u);
	}
	if (kind == ENTRY_TYPE)
		record_type(u, id, content, n);
	u->has_lane[id % PACKED_IDS] |= kind == ENTRY_LANE;
	u->has_location[id % PACKED_IDS] |= kind == ENTRY_LOCATION;
	u->has_stack[id % PACKED_IDS] |= kind == ENTRY_STACK;
	need(!entry_append(&u->dict, kind, id, content, n), "out of memory");
}

static void record_row(struct unpacking *u)
{
	uint32_t type = record_number(u, 2) % PACKED_IDS, lane = record_number(u, 2) % PACKED_IDS,
		 location = record_number(u, 2) % PACKED_IDS;
	struct packed_row r = {.id = type, .depth = (uint16_t)record_number(u, 1)};

	u->time += (uint64_t)(int32_t)record_number(u, 4);
	/* a row has 48 bits for its time */
	if (u->nrows && (u->time >> 47 != u->rows[0].time >> 47))
		record_flush(u);
	r.time = u->time;
	r.depth = r.depth == 255 ? 65535 : r.depth;
	r.size = record_number(u, 2);
	r.data = record_bytes(u, &r.size);
	if (!u->has_type[type] || !u->has_lane[lane])
		return;
	r.type = (uint16_t)(record_index(&u->types, type) - 1);
	r.lane = (uint16_t)(record_index(&u->lanes, lane) - 1);
	if (u->type[type].sample)
		r.location = u->has_stack[location] ? record_index(&u->stacks, location) : 0;
	else
		r.location = u->has_location[location] ? record_index(&u->locations, location) : 0;
	u->rows[u->nrows++] = r;
	if (u->nrows == PACKED_ROWS)
		record_flush(u);
}

static void record_meta(struct unpacking *u)
{
	uint32_t source = record_number(u, 2);
	size_t name_size = record_number(u, 1), n = record_number(u, 2);
	const void *bytes = record_bytes(u, &name_size), *data;
	char name[256] = "";

	/* sizes are what was there, and known only now */
	memcpy(name, bytes, name_size < 255 ? name_size : 255);
	data = record_bytes(u, &n);
	record_flush(u);
	need(!writer_pass_meta(&u->writer, source, name, data, n, false), u->writer.error.what);
}

static void record_head(struct unpacking *u)
{
	struct head h = {.stream_id = 5, .sequence = u->sequence++, .flags = u->flags};

	need(!writer_pass_head(&u->writer, &h), u->writer.error.what);
	memset(u->has_type, 0, sizeof(u->has_type));
	memset(u->has_lane, 0, sizeof(u->has_lane));
	memset(u->has_location, 0, sizeof(u->has_location));
	memset(u->has_stack, 0, sizeof(u->has_stack));
	u->gaps = 0;
}

static void record_end(struct unpacking *u, uint32_t flags)
{
	record_flush(u);
	need(!writer_pass_end(&u->writer, flags, u->gaps, 0) && !writer_finish(&u->writer),
	     u->writer.error.what);
}

static void record_block(struct unpacking *u)
{
	uint16_t kind = (uint16_t)record_number(u, 1);
	size_t n = record_number(u, 2);
	const uint8_t *bytes = record_bytes(u, &n);

	record_flush(u);
	need(!buffer_append(&u->block, bytes, n), "out of memory");
	record_send(u, kind, BLOCK_MAY_SKIP | BLOCK_MAY_COPY, &u->block);
}

static void record_next(struct unpacking *u)
{
	uint32_t kind = record_number(u, 1), status;
	char message[256] = "";
	const uint8_t *bytes;
	size_t n;

	switch (kind) {
	case RECORD_ROW: record_row(u); break;
	case RECORD_META: record_meta(u); break;
	case RECORD_END:
		status = record_number(u, 1) % 3;
		n = record_number(u, 2);
		bytes = record_bytes(u, &n);
		memcpy(message, bytes, n < 255 ? n : 255);
		writer_status(&u->writer, status, message, NULL);
		record_end(u, 0);
		record_head(u);
		break;
	case RECORD_FLAGS: u->flags = record_number(u, 4); break;
	case RECORD_BLOCK: record_block(u); break;
	case RECORD_TIME:
		u->time = record_number(u, 4);
		u->time |= (uint64_t)record_number(u, 4) << 32;
		break;
	default:
		if (kind && kind < ENTRY_KINDS)
			record_entry(u, kind);
	}
}

/* The stream, as a file in memory. */
static int unpack_stream(const uint8_t *data, size_t size)
{
	struct unpacking *u = calloc(1, sizeof(*u));
	struct output out = {.fd = memory_file("", 0), .name = "stream"};

	need(u && !writer_init(&u->writer, &out, 0), "out of memory");
	u->at = data;
	u->end = data + size;
	u->time = 1ull << 50;
	if (size && data[0] == RECORD_FLAGS)
		record_next(u);
	record_head(u);
	while (u->at < u->end)
		record_next(u);
	record_end(u, END_LAST);
	writer_free(&u->writer);
	buffer_free(&u->dict);
	buffer_free(&u->block);
	free(u);
	need(!lseek(out.fd, 0, SEEK_SET), "cannot seek");
	return out.fd;
}

#endif
