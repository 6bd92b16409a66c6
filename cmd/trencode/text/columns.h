/*
 * columns.h - the columns in front of a line, as `uftrace replay -f` prints them
 */
#ifndef TR_TRENCODE_TEXT_COLUMNS_H
#define TR_TRENCODE_TEXT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/trencode/text/uftrace.h"
#include "common/stream/dictionary.h"
#include "common/stream/field.h"
#include "common/stream/reader.h"
#include "common/stream/value.h"
#include "common/symbols/symbols.h"
#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/text.h"

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

/* Print "# DURATION     TID     FUNCTION". */
void columns_header(struct text *out, const struct text_columns *c);

/* Print the columns of a line of that task, and the bar after them. duration, ns: 0 is blank;
 * frame NULL leaves address and module blank. */
void columns_print(struct text *out, const struct text_columns *c, const struct dictionary *d,
		   const struct replay_task *t, uint64_t duration,
		   const struct replay_frame *frame);

/* Print blank columns, and the bar. */
void columns_blank(struct text *out, const struct text_columns *c);

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

/* Returns NULL when out of memory. */
struct text_symbols *text_symbols_new(void);
void text_symbols_free(struct text_symbols *s);

/* Take a piece of a META block. Returns -1 when out of memory. */
int text_symbols_meta(struct text_symbols *s, const struct meta *m);

/*
 * Return the demangled name of the symbol that contains an address in a space at a time, or NULL.
 * The symbol is searched in the initial mapping of the address and, with loaded, in the modules
 * that were loaded later, the latest first. *offset (may be NULL) is the distance of the address
 * from the symbol's start, bytes. The name is valid until the next call.
 */
const char *text_symbols_find(struct text_symbols *s, const struct space *space, uint64_t time,
			      uint64_t address, bool loaded, uint64_t *offset);

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

/* --- names and data of uftrace events, as `uftrace replay` prints them --- */

/* Print "read:proc/statm (vmsize=... )": name and data. names: for the names of watched variables.
 */
void event_text(struct text *out, const struct value_names *names, const struct event *ev);

/* --- durations as uftrace prints them, differences of times as trace-cmd does --- */

enum { DURATION_WIDTH = 10 };

/*
 * Write DURATION_WIDTH characters to out, without a NUL: three digits, a point, three digits, a
 * blank and the unit: us, ms, s, m (minutes, the three digits are seconds) or h (hours and
 * minutes). 0 ns is blank. A negative duration, as a difference that wrapped, is printed without
 * its sign.
 */
void duration_text(char *out, uint64_t ns);

/* The time of the line before; zeroed: there is no line before. */
struct time_difference {
	uint64_t last;
	bool has_last;
};

enum { DIFFERENCE_MOST = 32 };

/*
 * Write the difference of trace-cmd report --ts-diff, " (+7961) ", to out, without a NUL. Returns
 * its length, at least 9. Without ns the times are rounded to microseconds before they are
 * subtracted, also those of clocks that have no unit.
 */
size_t difference_text(struct time_difference *d, uint64_t time, bool ns,
		       char out[DIFFERENCE_MOST]);

/* Test whether trace-cmd prints times of that clock as seconds; it prints others unchanged. */
bool clock_in_seconds(const char *clock);

#endif
