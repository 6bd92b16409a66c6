/*
 * protobuf.h - the fields of a message of Protocol Buffers, by their numbers and wire types
 *
 *     08 96 01    field 1, a varint: 150
 */
#ifndef TR_PROTOBUF_PROTOBUF_H
#define TR_PROTOBUF_PROTOBUF_H

#include "common/util/buffer.h"
#include "common/util/bytes.h"

enum protobuf_wire {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_LENGTH = 2,
	PROTOBUF_FIXED32 = 5,
};

/*
 * Reads the fields of messages of Protocol Buffers.
 *
 * A message is bytes in memory; field numbers are the caller's. Nothing is allocated, and every
 * read field consumes bytes. Nested messages, strings and packed lists are views of the message.
 *
 * Source: "Encoding" of the documentation of Protocol Buffers (protobuf.dev).
 */

/* A message, or what is left of it. */
struct protobuf_view {
	const uint8_t *at, *end;
};

struct protobuf_field {
	uint32_t number;
	enum protobuf_wire wire;
	uint64_t value;		    /* of PROTOBUF_VARINT, PROTOBUF_FIXED64 and PROTOBUF_FIXED32 */
	struct protobuf_view bytes; /* of PROTOBUF_LENGTH */
};

static inline size_t protobuf_size(struct protobuf_view v)
{
	return (size_t)(v.end - v.at);
}

/* Join the low 7 bits of 8 bytes, of which the first is the lowest. */
static inline uint64_t protobuf_join(uint64_t n)
{
	n = (n & 0x007f007f007f007f) | (n & 0x7f007f007f007f00) >> 1;
	n = (n & 0x00003fff00003fff) | (n & 0x3fff00003fff0000) >> 2;
	return (n & 0x000000000fffffff) | (n & 0x0fffffff00000000) >> 4;
}

/* A number of 7 bits a byte, and the byte after it; NULL: it does not end before the end or within
 * 10 bytes. */
struct protobuf_number {
	const uint8_t *after;
	uint64_t value;
};

/* Read a number. Byte by byte 'trdecode | trstat' takes 1.08 times the instructions for a trace of
 * calls, whose times and tracks are numbers of 8 and 10 bytes. */
__attribute__((noinline, unused)) static struct protobuf_number
protobuf_long_number(const uint8_t *at, const uint8_t *end)
{
	struct protobuf_number n = {NULL, 0};
	unsigned shift = 0;

	if (end - at >= 8) {
		uint64_t bytes = get_u64(at), last = ~bytes & 0x8080808080808080;

		if (last) {
			n.after = at + __builtin_ctzll(last) / 8 + 1;
			n.value = protobuf_join(bytes & (last ^ (last - 1)));
			return n;
		}
		n.value = protobuf_join(bytes);
		at += 8;
		shift = 56;
	}
	for (; at < end && shift < 70; shift += 7) {
		n.value |= (uint64_t)(*at & 0x7f) << shift;
		if (*at++ < 0x80) {
			n.after = at;
			break;
		}
	}
	return n;
}

/* The same. Most numbers are one byte: with the loop inline trdecode takes 8 % more for a trace of
 * Perfetto. */
static inline struct protobuf_number protobuf_number(const uint8_t *at, const uint8_t *end)
{
	if (at == end || *at >= 0x80)
		return protobuf_long_number(at, end);
	return (struct protobuf_number){at + 1, *at};
}

/* Take such a number. Returns false, and *v is unchanged, if there is none. */
static inline bool protobuf_varint(struct protobuf_view *v, uint64_t *n)
{
	struct protobuf_number number = protobuf_number(v->at, v->end);

	if (!number.after)
		return false;
	v->at = number.after;
	*n = number.value;
	return true;
}

/* Undo zigzag. */
static inline int64_t protobuf_unzigzag(uint64_t n)
{
	return (int64_t)(n >> 1 ^ (0 - (n & 1)));
}

/* Take little-endian bytes as a number. Returns false if the view has fewer. */
static inline bool protobuf_fixed(struct protobuf_view *v, unsigned size, uint64_t *n)
{
	if (protobuf_size(*v) < size)
		return false;
	*n = get_uint(v->at, size, false);
	v->at += size;
	return true;
}

/* Read the number of a field of 8 or 4 bytes. Inline it makes protobuf_next too large to be inline:
 * 7 % more instructions. */
__attribute__((noinline, unused)) static struct protobuf_number
protobuf_fixed_number(const uint8_t *at, const uint8_t *end, unsigned wire)
{
	struct protobuf_view v = {at, end};
	struct protobuf_number n = {NULL, 0};

	if ((wire == PROTOBUF_FIXED64 && protobuf_fixed(&v, 8, &n.value)) ||
	    (wire == PROTOBUF_FIXED32 && protobuf_fixed(&v, 4, &n.value)))
		n.after = v.at;
	return n;
}

/* Take the next field. Returns 1, 0 at the end, or -1 if the bytes are no field; then v->at is
 * where it begins. Groups, which proto2 deprecates, are no fields. */
static inline int protobuf_next(struct protobuf_view *v, struct protobuf_field *f)
{
	struct protobuf_number key, n;
	unsigned wire;

	if (v->at == v->end)
		return 0;
	key = protobuf_number(v->at, v->end);
	if (!key.after || !(key.value >> 3) || key.value >> 32)
		return -1;
	wire = key.value & 7;
	if (wire == PROTOBUF_VARINT || wire == PROTOBUF_LENGTH)
		n = protobuf_number(key.after, v->end);
	else
		n = protobuf_fixed_number(key.after, v->end, wire);
	if (!n.after)
		return -1;
	f->bytes = (struct protobuf_view){NULL, NULL};
	if (wire == PROTOBUF_LENGTH) {
		if (n.value > (size_t)(v->end - n.after))
			return -1;
		f->bytes.at = n.after;
		f->bytes.end = n.after += n.value;
	}
	f->number = (uint32_t)(key.value >> 3);
	f->wire = (enum protobuf_wire)wire;
	f->value = n.value;
	v->at = n.after;
	return 1;
}

/*
 * Take the next number of a repeated field of varints, which may be packed: *list is bytes of
 * the field at first. A field that is not packed gives its value once. Returns false at the end.
 *
 *	for (struct protobuf_view list = f.bytes; protobuf_each(&f, &list, &n);)
 */
static inline bool protobuf_each(struct protobuf_field *f, struct protobuf_view *list, uint64_t *n)
{
	if (f->wire == PROTOBUF_LENGTH)
		return protobuf_varint(list, n);
	*n = f->value;
	/* the value is taken */
	f->wire = PROTOBUF_LENGTH;
	return true;
}

/*
 * Writes messages of Protocol Buffers into a buffer.
 *
 * Field numbers are the caller's. Functions return 0, or -1 when out of memory. A nested message is
 * built in a separate buffer and added with protobuf_bytes.
 */

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
