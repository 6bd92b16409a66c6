/*
 * value.h - arguments and return values: tagged trees in the tail of a row (trstream(5), VALUES)
 *
 *     tail   = detail*
 *     detail = u8 what, uleb index, value; of another what: uleb length, bytes
 *     value  = u8 tag, ...
 *
 * A reader can skip every value without knowing its meaning. Trees are at most VALUE_DEPTH deep.
 * Details are in the order of the source; of two for the same argument the later one is valid.
 */
#ifndef TR_STREAM_VALUE_H
#define TR_STREAM_VALUE_H

#include <stdbool.h>

#include "common/stream/event.h"
#include "common/util/buffer.h"
#include "common/util/error.h"

enum {
	VALUE_DEPTH = 128,
	VALUE_INDEX_LIMIT = 65536, /* number of an argument */
	FLOAT_ARGUMENTS =
		1000, /* added to the number of an argument in a floating-point register */
};

#define NEGATIVE_MOST (1ull << 63) /* magnitude of a NEGATIVE */

enum detail_kind {
	DETAIL_ARGUMENT = 1, /* index: number of the argument from 1 */
	DETAIL_RETURN = 2,
	DETAIL_BACKTRACE = 3, /* an ARRAY of FRAMEs, innermost first; index 0 */
	DETAIL_FLAGS = 4,     /* UINT: the source's flags of the call; index 0 */
	DETAIL_KINDS
};

enum detail_flags { CALL_FAKE = 1 }; /* bits of DETAIL_FLAGS: the tracer itself made the call */

/* Test whether the kind of a detail is known. A detail of an unknown kind has a length: it is
 * skipped, and copied. */
static inline bool detail_known(uint8_t what)
{
	return what && what < DETAIL_KINDS;
}

enum value_tag {
	VALUE_NULL = 0,
	VALUE_FALSE = 1,
	VALUE_TRUE = 2,
	VALUE_NEGATIVE = 3, /* uleb magnitude */
	VALUE_UINT = 4,	    /* uleb */
	VALUE_FLOAT = 5,    /* 4 bytes */
	VALUE_DOUBLE = 6,   /* 8 bytes */
	VALUE_STRING = 7,   /* uleb length, bytes */
	VALUE_BLOB = 8,	    /* the same */
	VALUE_ENUM = 9, /* uleb definition, u8 size (1 to 16), size bytes: a number with names */
	VALUE_BITMASK = 10, /* uleb definition, uleb */
	VALUE_ARRAY = 11,   /* uleb count, values */
	VALUE_STRUCT = 12,  /* uleb definition, uleb count, values */
	VALUE_POINTER = 13, /* uleb */
	VALUE_NUMBER = 14,  /* u8 format, u8 size (1 to 16), size bytes: a machine's number */
	VALUE_OPAQUE =
		15, /* uleb length, type name, uleb length, bytes: a struct not taken apart */
	VALUE_WSTRING = 16, /* uleb count, that many ulebs: units of the source's wchar_t */
	VALUE_REPR = 17,    /* two values: the display form, the raw form */
	VALUE_FRAME = 18,   /* uleb definition, of kind FRAME */
	VALUE_TAGS
};

/* format of VALUE_NUMBER, a letter of uftrace's argument specs: d automatic, i signed, u
 * unsigned, x hexadecimal, o octal, c character, p pointer, f float */

struct value {
	uint8_t tag, format, size; /* format and size of NUMBER, size of ENUM, FLOAT, DOUBLE */
	uint32_t definition;	   /* id in the segment (dictionary_definition_id); 0 none */
	uint64_t number; /* NUMBER of at most 8 bytes, sign-extended for i and d; NEGATIVE as two's
			    complement; value_integer reads that of an ENUM */
	const uint8_t *bytes; /* NUMBER, STRING, BLOB, OPAQUE, FLOAT, DOUBLE; WSTRING: its ulebs,
				 number of them */
	size_t n;
	const char *type_name; /* OPAQUE: not ended by a NUL */
	size_t type_name_size;
	uint64_t count; /* ARRAY, STRUCT, REPR: values that follow */
};

struct detail {
	uint8_t what;
	uint64_t index;
	struct value value;
};

struct values {
	const uint8_t *at, *end;
	const uint8_t *detail; /* start of the current detail, after those of unknown kinds */
	bool bad;	       /* the bytes are malformed */
};

static inline void values_begin(struct values *v, const uint8_t *tail, size_t n)
{
	/* tail may be NULL */
	*v = (struct values){.at = tail, .end = n ? tail + n : tail, .detail = tail};
}

/* Test whether the bytes are a list of details with well-formed values. */
bool values_sound(const uint8_t *tail, size_t n);

/* Get the next detail and skip its value; the children of ARRAY and STRUCT are not visited.
 * false at the end, or v->bad. */
bool values_detail(struct values *v, struct detail *d);
/* Read the kind and the index of the next detail, for callers that continue with values_value.
 * false: the end, or v->bad. */
bool values_what(struct values *v, uint8_t *what, uint64_t *index);
/* Read the next single value: after an ARRAY or STRUCT its children follow. */
bool values_value(struct values *v, struct value *out);
/* Skip a value with all its children. */
bool values_skip(struct values *v);

struct definition;

/* Get the integer of a value, extended to 64 bits; *is_signed: how to interpret it. names: the
 * definition of an ENUM (dictionary_definition_id), or NULL. false: no integer, or one beyond 64
 * bits. */
bool value_integer(const struct value *v, const struct definition *names, uint64_t *number,
		   bool *is_signed);
bool value_real(const struct value *v, long double *number);

/* Test for the bytes that uftrace records for a NULL string. */
static inline bool value_is_null_string(const struct value *v)
{
	return v->n == 4 && !v->format && get_u32(v->bytes) == UINT32_MAX;
}

/* Count the FLOATs that follow, at most n: the elements of matrices and vectors, 5 bytes each.
 * */
static inline size_t value_floats(const uint8_t *p, const uint8_t *end, uint64_t n)
{
	size_t count = 0;

	for (; n - count >= 4 && end - p >= 20 && p[0] == VALUE_FLOAT && p[5] == VALUE_FLOAT &&
	       p[10] == VALUE_FLOAT && p[15] == VALUE_FLOAT;
	     p += 20)
		count += 4;
	for (; count < n && end - p >= 5 && *p == VALUE_FLOAT; p += 5)
		count++;
	return count;
}

/* Read the next unit of a WSTRING's bytes; *at moves from bytes to bytes + n. */
static inline uint64_t value_unit(const uint8_t **at)
{
	uint64_t n = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = *(*at)++;

		n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return n;
	}
}

/* Append to a buffer. -1 when out of memory. */
int value_put_detail(struct buffer *b, enum detail_kind what, uint64_t index);
int value_put_number(struct buffer *b, char format, const void *little_endian, uint8_t size);
int value_put_enum(struct buffer *b, uint32_t definition, const void *little_endian, uint8_t size);
int value_put_bitmask(struct buffer *b, uint32_t definition, uint64_t number);
int value_put_bytes(struct buffer *b, enum value_tag tag, const void *data, size_t n);
int value_put_opaque(struct buffer *b, const char *type_name, const void *data, size_t n);
int value_put_simple(struct buffer *b, enum value_tag tag); /* NULL, FALSE, TRUE */
int value_put_uint(struct buffer *b, enum value_tag tag,
		   uint64_t number); /* UINT, NEGATIVE, POINTER */
int value_put_float(struct buffer *b, const void *little_endian, uint8_t size); /* 4 or 8 */
int value_put_array(struct buffer *b, uint64_t count);
int value_put_struct(struct buffer *b, uint32_t definition, uint64_t count);

/* Copy a tail, with the ids of definitions replaced by map (for streams that are merged). -1:
 * malformed values, or out of memory. */
int values_copy(struct buffer *b, const uint8_t *tail, size_t n,
		uint32_t (*map)(void *ctx, uint32_t definition), void *ctx);

/* Test whether the copy would have the same bytes. True for malformed values too: they cannot be
 * copied. */
bool values_copy_is_same(const uint8_t *tail, size_t n,
			 uint32_t (*map)(void *ctx, uint32_t definition), void *ctx);

/*
 * Removes malformed values from events, and counts these events.
 *
 * Every program that reads values first passes each block of events through this module. The
 * program then reads only events without values, or with well-formed values.
 */

#define BAD_VALUES "the values of an event make no sense"

struct bad_values {
	uint64_t count;	       /* number of events with malformed values, in all blocks */
	struct error first;    /* error of the first of them */
	struct buffer payload; /* payload of the last block that had some, without their values */
};

/* Remove the malformed values that the program reads (the reader's reads_values) from a block of
 * events whose rows were checked. If there are any, the block's payload is owned by v until the
 * next call. Returns how many events lost their values, or -1 when out of memory. */
int64_t bad_values_drop(struct bad_values *v, struct block *b, enum reads_values reads);

/* Test whether a program reads the values of events of this type. */
static inline bool bad_values_matter(const struct type *t, enum reads_values reads)
{
	return t->flags & TYPE_VALUES &&
	       (reads == READS_ALL ||
		(reads == READS_EVENTS && t->kind != KIND_ENTER && t->kind != KIND_LEAVE));
}

/* Print the offset of the first such event and the count, if there is one. */
void bad_values_report(const struct bad_values *v);

void bad_values_free(struct bad_values *v);

#endif
