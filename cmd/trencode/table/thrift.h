/*
 * thrift.h - structures in Thrift's compact protocol, for Parquet's headers
 *
 * The fields of a structure are written in ascending order.
 * Functions return 0, or -1 when out of memory.
 */
#ifndef TR_TRENCODE_TABLE_THRIFT_H
#define TR_TRENCODE_TABLE_THRIFT_H

#include "common/protobuf/protobuf_writer.h"

enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

/* One structure while it is written. */
struct thrift {
	struct buffer *to;
	int last; /* number of the last field */
};

static inline int thrift_field(struct thrift *t, int field, enum thrift_type type)
{
	int step = field - t->last;

	/* fields of Parquet are less than 15 apart */
	t->last = field;
	return buffer_u8(t->to, (uint8_t)(step << 4 | (int)type));
}

static inline int thrift_i32(struct thrift *t, int field, int32_t v)
{
	return thrift_field(t, field, THRIFT_I32) || buffer_uleb(t->to, zigzag(v)) ? -1 : 0;
}

static inline int thrift_i64(struct thrift *t, int field, int64_t v)
{
	return thrift_field(t, field, THRIFT_I64) || buffer_uleb(t->to, zigzag(v)) ? -1 : 0;
}

static inline int thrift_binary_item(struct buffer *b, const void *p, size_t n)
{
	return buffer_uleb(b, n) || buffer_append(b, p, n) ? -1 : 0;
}

static inline int thrift_binary(struct thrift *t, int field, const void *p, size_t n)
{
	return thrift_field(t, field, THRIFT_BINARY) || thrift_binary_item(t->to, p, n) ? -1 : 0;
}

/* Begin a list; the caller appends its n items. */
static inline int thrift_list(struct thrift *t, int field, enum thrift_type type, size_t n)
{
	if (thrift_field(t, field, THRIFT_LIST))
		return -1;
	if (n < 15)
		return buffer_u8(t->to, (uint8_t)(n << 4 | type));
	return buffer_u8(t->to, (uint8_t)(0xf0 | type)) || buffer_uleb(t->to, n) ? -1 : 0;
}

/* Returns a structure inside of t; thrift_end ends it. */
static inline struct thrift thrift_inside(struct thrift *t)
{
	return (struct thrift){t->to, 0};
}

static inline int thrift_end(struct thrift *t)
{
	return buffer_u8(t->to, 0);
}

#endif
