/*
 * atrace.h - the marks that atrace writes to trace_marker, and the rows of them
 *
 *     B|TGID|NAME              E[|TGID]                    a call of the thread
 *     S|TGID|NAME|COOKIE       F|TGID|NAME|COOKIE          an asynchronous call
 *     G|TGID|TRACK|NAME|COOKIE H|TGID|TRACK|[NAME|]COOKIE  the same, on a track
 *     C|TGID|NAME|VALUE                                    a counter
 *     I|TGID|NAME              N|TGID|TRACK|NAME           an instant
 *
 * Chrome adds "|ARGUMENTS|CATEGORY" to B, S and F, "|NAME|ARGUMENTS|CATEGORY" to E and "|CATEGORY"
 * to C. ARGUMENTS are KEY=VALUE with ";" between, or empty. Names of B may have bars: what follows
 * a bar is part of the name if it has another form.
 *
 * Source: Android's ATrace (libcutils trace.h), and the parsers of systrace in catapult
 * (android_parser.html) and of Perfetto (systrace_parser.h).
 */
#ifndef TR_TRDECODE_ATRACE_H
#define TR_TRDECODE_ATRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/calls/open_calls.h"
#include "common/stream/writer.h"
#include "common/util/intern.h"
#include "common/util/text_span.h"

struct ftrace_event;

struct atrace_mark {
	char what; /* the letter */
	bool has_tgid;
	int64_t tgid;
	/* of B, G and N the name is never empty */
	struct text_span name, track, cookie, arguments, category;
	struct text_span id; /* of S and F: from TGID to COOKIE */
	int64_t value;
	int64_t number; /* the cookie */
	bool has_number;
};

/* Take the next of the arguments: KEY and VALUE. Returns false if there are no more. */
bool atrace_mark_argument(struct text_span *arguments, struct text_span *key,
			  struct text_span *value);
/* Read a mark, without a newline. Returns false if the text is none. */
bool atrace_mark_read(struct atrace_mark *m, const char *text, size_t n);

/*
 * Rows
 *
 * A call of a thread is on the thread's stack, and its end has the name of its begin. Calls of
 * function_graph are on that stack by their depths, which marks do not have: a thread with such
 * calls has its marks as calls with numbers. Asynchronous calls have numbers, too.
 */

/* An open call of a thread. */
struct atrace_call {
	uint32_t location;
	uint32_t number; /* 0: the call is on the stack */
};

/* The calls that the marks of an input have open. */
struct atrace_calls {
	struct id_cache locations; /* by name */
	struct key_map numbers;	   /* of threads, 1 + index in thread */
	struct {
		struct atrace_call *calls;
		size_t ncalls, capacity;
	} * thread;
	size_t nthreads, capacity;
	struct open_calls async; /* location << 32 | number */
	uint32_t ncalls;	 /* numbers of calls */
	bool graph;		 /* the trace has calls of function_graph */
};

/* The row of a mark. */
struct atrace_row {
	struct text_span type; /* its name */
	enum type_kind kind;
	uint32_t location; /* 0: a counter has none */
	uint32_t call;	   /* its number; 0: the call is on the stack, or the row is of no call */
	int64_t value;	   /* of a counter */
	int64_t cookie;
	bool has_cookie; /* the mark has one, which is a number */
};

/* The marks of an input. A zero-initialised one is empty. */
struct atrace {
	struct atrace_calls calls;
	struct id_cache types; /* of atrace_type: by number, name, kind and fixed part */
	struct atrace_prints *prints;
};
void atrace_free(struct atrace *a);

/* Get the row of a mark of a thread, which has a number of the caller's. Returns 0, or -1 when out
 * of memory. */
int atrace_row_of(struct atrace *a, struct writer *w, uint32_t thread, const struct atrace_mark *m,
		  struct atrace_row *row);

/*
 * Marks in binary records: the text of the kernel's print, and that of tracing_mark_write, an event
 * of drivers and of probes. The row has the record as its tail, and before it in the fixed part
 *
 *     i64 value      of a counter
 *     u32 call       of a call with a number, i64 cookie if it is a number
 */

enum { ATRACE_FIXED = 12, ATRACE_FIELDS = 2 }; /* the most bytes and fields */

/* A record of an event whose `mark` is set. */
struct atrace_record {
	const struct ftrace_event *event;
	const uint8_t *data;
	size_t size;
	uint32_t thread;   /* the decoder's number of it */
	uint8_t long_size; /* that of the kernel */
	bool big_endian;
};

/* Get the row of a record. index: that of its event among the input's. Returns 1; 0: the record is
 * no mark; -1 when out of memory. */
int atrace_event_row(struct atrace *a, struct writer *w, size_t index,
		     const struct atrace_record *record, struct atrace_row *row);
/* Find the id of the type of a row, 0 the first time, which the caller sets. NULL: out of memory.
 */
uint32_t *atrace_type(struct atrace *a, struct writer *w, size_t index,
		      const struct atrace_row *row);
/* Set what the type of a row has of the mark, and append the fields of the fixed part. */
void atrace_set_type(const struct atrace_row *row, struct writer *w, struct field_entry *fields,
		     struct type_entry *type);
/* Put the fields of the fixed part. Returns their bytes. */
uint32_t atrace_put_fixed(const struct atrace_row *row, uint8_t *fixed);

#endif
