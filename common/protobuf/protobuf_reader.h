/*
 * protobuf_reader.h - reads the fields of messages of Protocol Buffers
 *
 * A message is bytes in memory; field numbers are the caller's. Nothing is allocated, and every
 * read field consumes bytes. Nested messages, strings and packed lists are views of the message.
 *
 * Source: "Encoding" of the documentation of Protocol Buffers (protobuf.dev).
 */
#ifndef TR_PROTOBUF_PROTOBUF_READER_H
#define TR_PROTOBUF_PROTOBUF_READER_H

#include "common/protobuf/protobuf_wire.h"
#include "common/util/bytes.h"

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

/* Read a number of 7 bits a byte. Returns the byte after it, or NULL if it does not end before the
 * end or within 10 bytes. */
__attribute__((noinline, unused)) static const uint8_t *
protobuf_long_number(const uint8_t *at, const uint8_t *end, uint64_t *n)
{
	uint64_t value = 0;

	for (unsigned shift = 0; at < end && shift < 70; shift += 7) {
		value |= (uint64_t)(*at & 0x7f) << shift;
		if (*at++ < 0x80) {
			*n = value;
			return at;
		}
	}
	return NULL;
}

/* The same. Most numbers are one byte: with the loop inline trdecode takes 8 % more for a trace of
 * Perfetto. */
static inline const uint8_t *protobuf_number(const uint8_t *at, const uint8_t *end, uint64_t *n)
{
	if (at == end || *at >= 0x80)
		return protobuf_long_number(at, end, n);
	*n = *at;
	return at + 1;
}

/* Take such a number. Returns false, and *v is unchanged, if there is none. */
static inline bool protobuf_varint(struct protobuf_view *v, uint64_t *n)
{
	const uint8_t *at = protobuf_number(v->at, v->end, n);

	v->at = at ? at : v->at;
	return at;
}

/* Undo zigzag of protobuf_writer.h. */
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

/* Take the next field. Returns 1, 0 at the end, or -1 if the bytes are no field; then v->at is
 * where it begins. Groups, which proto2 deprecates, are no fields. */
static inline int protobuf_next(struct protobuf_view *v, struct protobuf_field *f)
{
	const uint8_t *at = v->at;
	struct protobuf_view rest;
	uint64_t key;

	if (at == v->end)
		return 0;
	at = protobuf_number(at, v->end, &key);
	if (!at || !(key >> 3) || key >> 32)
		return -1;
	f->number = (uint32_t)(key >> 3);
	f->wire = (enum protobuf_wire)(key & 7);
	f->bytes = (struct protobuf_view){NULL, NULL};
	f->value = 0;
	switch (f->wire) {
	case PROTOBUF_VARINT: at = protobuf_number(at, v->end, &f->value); break;
	case PROTOBUF_FIXED64:
	case PROTOBUF_FIXED32:
		rest = (struct protobuf_view){at, v->end};
		if (!protobuf_fixed(&rest, f->wire == PROTOBUF_FIXED64 ? 8 : 4, &f->value))
			return -1;
		at = rest.at;
		break;
	case PROTOBUF_LENGTH:
		at = protobuf_number(at, v->end, &f->value);
		if (!at || f->value > (size_t)(v->end - at))
			return -1;
		f->bytes.at = at;
		f->bytes.end = at += f->value;
		break;
	default: return -1;
	}
	if (!at)
		return -1;
	v->at = at;
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

#endif
