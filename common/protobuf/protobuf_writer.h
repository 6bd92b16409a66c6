/*
 * protobuf_writer.h - writes messages of Protocol Buffers into a buffer
 *
 * Field numbers are the caller's. Functions return 0, or -1 when out of memory. A nested message is
 * built in a separate buffer and added with protobuf_bytes.
 */
#ifndef TR_PROTOBUF_PROTOBUF_WRITER_H
#define TR_PROTOBUF_PROTOBUF_WRITER_H

#include "common/protobuf/protobuf_wire.h"
#include "common/util/buffer_file.h"

static inline size_t varint_size(uint64_t n)
{
	size_t size = 1;

	while (n >>= 7)
		size++;
	return size;
}

/* Map a signed number so that small ones of both signs are short. */
static inline uint64_t zigzag(int64_t n)
{
	return (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
}

static inline int protobuf_key(struct buffer *b, uint32_t field, enum protobuf_wire wire)
{
	return buffer_uleb(b, (uint64_t)field << 3 | wire);
}

/* Append a uint32, uint64, int64 (two's complement), bool or enum. */
static inline int protobuf_uint(struct buffer *b, uint32_t field, uint64_t n)
{
	return protobuf_key(b, field, PROTOBUF_VARINT) || buffer_uleb(b, n) ? -1 : 0;
}

static inline int protobuf_fixed64(struct buffer *b, uint32_t field, uint64_t n)
{
	return protobuf_key(b, field, PROTOBUF_FIXED64) || buffer_u64(b, n) ? -1 : 0;
}

static inline int protobuf_double(struct buffer *b, uint32_t field, double n)
{
	uint64_t bits;

	memcpy(&bits, &n, sizeof bits);
	return protobuf_fixed64(b, field, bits);
}

/* Append bytes, a string, a packed list or a message. */
static inline int protobuf_bytes(struct buffer *b, uint32_t field, const void *data, size_t n)
{
	return protobuf_key(b, field, PROTOBUF_LENGTH) || buffer_uleb(b, n) ||
			       buffer_append(b, data, n)
		       ? -1
		       : 0;
}

static inline int protobuf_message(struct buffer *b, uint32_t field, const struct buffer *message)
{
	return protobuf_key(b, field, PROTOBUF_LENGTH) || buffer_uleb(b, message->size) ||
			       buffer_append_from(b, message, 0, message->size)
		       ? -1
		       : 0;
}

#endif
