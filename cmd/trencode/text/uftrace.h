/*
 * uftrace.h - as uftrace replay prints: options, columns and values
 */
#ifndef TR_TRENCODE_TEXT_UFTRACE_H
#define TR_TRENCODE_TEXT_UFTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/stream/dictionary.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"
#include "common/util/error.h"

/* --- the columns in front of a line --- */

enum column {
	COLUMN_DURATION,
	COLUMN_TID,
	COLUMN_ADDRESS,
	COLUMN_TIME,
	COLUMN_DELTA,
	COLUMN_ELAPSED,
	COLUMN_TASK,
	COLUMN_MODULE,
	COLUMN_COUNT
};

/* The choice of columns. */
struct text_columns {
	bool shown[COLUMN_COUNT];
	bool none;     /* no column, and no bar in front of the line */
	bool standard; /* duration and tid alone */
};

/* Parse the names of -f, separated by commas; "+" before them adds them to the standard columns,
 * NULL gives the standard columns. Columns are shown in the order of enum column, as by uftrace.
 * Returns -1 with *e filled if a name is unknown. */
int text_columns_parse(struct text_columns *c, const char *names, struct error *e);

/*
 * The arguments and return values of a call, in parentheses and after =.
 *
 * Functions return 0, or -1 when out of memory. value appends the value after v and steps over it.
 */

/* Append the arguments in a tail: "(1, 2)". Of a repeated argument the last value is valid. */
int details_append_arguments(struct buffer *out, const uint8_t *tail, size_t n,
			     int (*value)(void *to, struct values *v), void *to);

/* Append the first return value in a tail, " = 3"; nothing where there is none. */
int details_append_return(struct buffer *out, const uint8_t *tail, size_t n,
			  int (*value)(void *to, struct values *v), void *to);

/*
 * Names of pointers in values, by the symbol tables of the trace.
 *
 * trsym names the locations of events. Pointers among the arguments are named here, when they are
 * printed, by the META blocks that the mappings of an address space refer to.
 */

struct text_symbols;

/*
 * Arguments and return values as `uftrace replay` prints them.
 *
 * Functions return 0, or -1 when out of memory.
 */

/* The output of values, and what their text depends on. */
struct value_names {
	struct buffer *out;
	const struct dictionary *dictionary; /* definitions of enums and bit masks */
	struct text_symbols *symbols;	     /* names of pointers; NULL: pointers are numbers */
	const struct space *space;	     /* address space of pointers, NULL: unknown */
	uint64_t time;			     /* of the event, for modules loaded later */
};

/* Append the value after v, and step over it; names: a struct value_names. */
int value_text(void *names, struct values *v);

/* --- durations as uftrace prints them --- */

enum { DURATION_WIDTH = 10 };

/*
 * Write DURATION_WIDTH characters to out, without a NUL: three digits, a point, three digits, a
 * blank and the unit: us, ms, s, m (minutes, the three digits are seconds) or h (hours and
 * minutes). 0 ns is blank. A negative duration, as a difference that wrapped, is printed without
 * its sign.
 */
void duration_text(char *out, uint64_t ns);

#endif
