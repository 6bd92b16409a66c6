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

/* Take a number of 7 bits a byte. Returns false, and *v is unchanged, if it does not end within the
 * view or within 10 bytes. */
static inline bool protobuf_varint(struct protobuf_view *v, uint64_t *n)
{
	const uint8_t *at = v->at;
	uint64_t value = 0;

	for (unsigned shift = 0; at < v->end && shift < 70; shift += 7) {
		value |= (uint64_t)(*at & 0x7f) << shift;
		if (*at++ < 0x80) {
			v->at = at;
			*n = value;
			return true;
		}
	}
	return false;
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
	struct protobuf_view rest = *v;
	uint64_t key;
	bool good;

	if (rest.at == rest.end)
		return 0;
	if (!protobuf_varint(&rest, &key) || !(key >> 3) || key >> 32)
		return -1;
	f->number = (uint32_t)(key >> 3);
	f->wire = (enum protobuf_wire)(key & 7);
	f->bytes = (struct protobuf_view){NULL, NULL};
	f->value = 0;
	switch (f->wire) {
	case PROTOBUF_VARINT: good = protobuf_varint(&rest, &f->value); break;
	case PROTOBUF_FIXED64: good = protobuf_fixed(&rest, 8, &f->value); break;
	case PROTOBUF_FIXED32: good = protobuf_fixed(&rest, 4, &f->value); break;
	case PROTOBUF_LENGTH:
		good = protobuf_varint(&rest, &f->value) && f->value <= protobuf_size(rest);
		if (good) {
			f->bytes.at = rest.at;
			f->bytes.end = rest.at += f->value;
		}
		break;
	default: good = false;
	}
	if (!good)
		return -1;
	*v = rest;
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
