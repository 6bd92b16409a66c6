/*
 * lttng.h - constants of legacy LTTng traces and the grammar of marker formats, shared by the
 * decoder and the encoder
 */
#ifndef TR_FORMATS_LTTNG_H
#define TR_FORMATS_LTTNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LTTNG_MAGIC 0x00D6B7EDu

enum {
	LTTNG_MAGIC_1 = 40, /* offset of the magic in 0.x and 1.0 */
	LTTNG_MAGIC_2 = 16, /* offset of the magic in 2.x */
	LTTNG_HEADER_1 = 109,
	LTTNG_HEADER_2 = 68, /* bytes, from 2.2 on */
	LTTNG_PAGE = 4096,
	LTTNG_FIELDS = 250, /* most fields of one marker */

	/* ids of events */
	LTTNG_MARKER_ID = 0,
	LTTNG_MARKER_FORMAT = 1,
	LTTNG_HEARTBEAT_32 = 2,
	LTTNG_HEARTBEAT_64 = 3,

	/* the header of an event of 2.x: u32 id << 27 | time */
	LTTNG_TIME_BITS = 27,
	LTTNG_ID_FULL_TIME = 29,  /* u16 id, u16 size, u64 time follow */
	LTTNG_ID_SIZE = 30,	  /* u16 id, u16 size */
	LTTNG_ID_WIDE = 31,	  /* u16 id */
	LTTNG_SIZE_WIDE = 0xffff, /* in a u16 size: a u32 follows (2.x), or see the format (1.0) */
};

/* After a marker's name, with a number: another format of that name, as trencode writes it. */
#define LTTNG_ANOTHER '~'

/* Sizes of C types on the machine, or in the program, that recorded the marker. */
struct lttng_sizes {
	uint8_t integer, longer, pointer, size_t_;
};

enum lttng_kind { LTTNG_UNSIGNED, LTTNG_SIGNED, LTTNG_POINTER, LTTNG_STRING, LTTNG_NO_KIND };

struct lttng_field {
	const char *name; /* points into the format, without NUL; NULL: none */
	size_t name_size;
	const char *literal; /* text before the conversion, as "0x" in "ip 0x%lX" */
	size_t literal_size;
	uint8_t kind;	 /* enum lttng_kind */
	uint8_t size;	 /* 1, 2, 4, 8; 0 for strings */
	char conversion; /* of the C type: d, u, x, X, o, c, p, s ... */
	bool network;	 /* big-endian in any trace */
	bool compact;	 /* in a compact channel its value is in the event's header */
};

/*
 * Parse a marker's format. eight: "#8x" is valid; in 1.0 it is ignored. Returns the number of
 * fields; -1: more than max.
 */
int lttng_format_parse(const char *format, size_t n, const struct lttng_sizes *sizes, bool eight,
		       struct lttng_field *fields, int max);

#endif
