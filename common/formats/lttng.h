/*
 * lttng.h - what the decoder and the encoder of legacy LTTng traces share: constants, and the
 * grammar of marker formats
 */
#ifndef TR_FORMATS_LTTNG_H
#define TR_FORMATS_LTTNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LTTNG_MAGIC 0x00D6B7EDu

enum {
	LTTNG_MAGIC_1 = 40, /* where the magic stands in 0.x and 1.0 */
	LTTNG_MAGIC_2 = 16, /* and in 2.x */
	LTTNG_HEADER_1 = 109,
	LTTNG_HEADER_2 = 68, /* from 2.2 on */
	LTTNG_PAGE = 4096,
	LTTNG_FIELDS = 250, /* of one marker, at most */

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
	LTTNG_SIZE_WIDE = 0xffff, /* of a u16 size: a u32 follows (2.x), or see the format (1.0) */
};

/* Behind a marker's name, with a number: another format of that name, as trencode writes it. */
#define LTTNG_ANOTHER '~'

/* Of the machine or program that had the marker. */
struct lttng_sizes {
	uint8_t integer, longer, pointer, size_t_;
};

enum lttng_kind { LTTNG_UNSIGNED, LTTNG_SIGNED, LTTNG_POINTER, LTTNG_STRING };

struct lttng_field {
	const char *name; /* in the format, not ended by a NUL; NULL: it has none */
	size_t name_size;
	const char *literal; /* text glued to the conversion, as "0x" in "ip 0x%lX" */
	size_t literal_size;
	uint8_t kind;	 /* enum lttng_kind */
	uint8_t size;	 /* 1, 2, 4, 8; 0 of strings */
	char conversion; /* of the C type: d, u, x, X, o, c, p, s ... */
	bool network;	 /* big-endian whatever the trace is */
	bool compact;	 /* in a compact channel its value stands in the event's header */
};

/*
 * Take a marker's format apart. eight: "#8x" is understood; in 1.0 it is taken as absent.
 * Returns the number of fields; -1: more than max.
 */
int lttng_format_parse(const char *format, size_t n, const struct lttng_sizes *sizes, bool eight,
		       struct lttng_field *fields, int max);

#endif
