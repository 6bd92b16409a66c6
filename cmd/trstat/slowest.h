/*
 * slowest.h - --slowest N: the longest calls, each with its thread, arguments and stack
 *
 * Only the printed texts of N calls are kept, however long the trace is. Calls of equal times are
 * in the order of their enters, and then of all their cells, so the result does not depend on the
 * order in which calls are added.
 */
#ifndef TR_TRSTAT_SLOWEST_H
#define TR_TRSTAT_SLOWEST_H

#include "cmd/trstat/groups.h"
#include "cmd/trstat/table.h"
#include "common/calls/calls.h"
#include "common/stream/clocks.h"
#include "common/stream/event.h"
#include "common/util/buffer.h"

struct states;

/*
 * The enters of calls that are open, with their arguments, for --slowest.
 *
 * One entry for each open frame (common/calls/calls.h), with a copy of the enter's values. Of large
 * values only the text is kept.
 */

struct enter {
	uint64_t start; /* time of its call's enter; UINT64_MAX: none */
	uint32_t segment;
	const struct type *type;
	uint32_t location;
	uint32_t fixed_size, tail_size;
	struct buffer payload; /* the fixed part, then the tail; or the text */
	bool text;	       /* payload is the text of the arguments, from call_arguments */
};

struct open_call_args {
	const struct dictionary *dictionary;
	struct {
		struct enter *enter; /* by frame */
		size_t capacity;
	} * stacks; /* two for each thread: the second is the kernel's */
	size_t size;
	/* calls with numbers */
	struct open_calls open;
	struct indexes indexes; /* in numbered */
	struct enter *numbered;
	size_t capacity;
};

void open_call_args_free(struct open_call_args *en);

/* Keep an enter, after calls_next returned CALLS_ENTER. Returns -1 when out of memory. */
int open_call_args_put(struct open_call_args *en, const struct calls *c, const struct event *e,
		       uint32_t segment);

/* Forget the enters of the numbered calls that calls_restore dropped. Returns -1 when out of
 * memory. */
int open_call_args_drop(struct open_call_args *en, const struct calls *c);

/* Take the enter, after calls_next returned CALLS_LEAVE; NULL where it was not seen. Valid until
 * the next open_call_args_put. */
const struct enter *open_call_args_take(struct open_call_args *en, const struct calls *c,
					const struct event *e, const struct call *call);

/*
 * Arguments, returned values and fields as short human-readable text.
 *
 * Texts are truncated at 40 bytes, arrays at four elements, and nested elements are left out, as
 * are fields named common_... Bytes that are not printable ASCII are shown as \xNN.
 */

/* Append "name=value, name=value" for an enter, or for any event that has fields; or (returned)
 * what a leave returns. Returns -1 when out of memory. */
int call_arguments(struct buffer *b, const struct dictionary *d, const struct event *e,
		   bool returned);

/* --- the slowest calls --- */

/* A call as text. Texts end with NUL. */
struct slow_call {
	uint64_t total, self, start, end;
	uint32_t has; /* which of the ids the lane has, and SLOW_UNFINISHED */
	int32_t tid, pid, cpu;
	char *name, *arguments, *returned, *stack, *comm;
	uint64_t *state; /* its time in the state of each column of slow_list.states; NULL: none */
};

enum { SLOW_TID = 1, SLOW_PID = 2, SLOW_CPU = 4, SLOW_UNFINISHED = 8, SLOW_HAS = 15 };

/* The slowest of the calls that were added: a heap, whose first call is replaced next. */
struct slow_list {
	size_t limit, count;
	struct slow_call *call;
	const struct columns *states; /* the states to write; NULL: none */
};

/* Add a call, which belongs to the list or is freed. Returns -1 when out of memory. */
int slow_list_add(struct slow_list *l, struct slow_call *c);
/* Put the slowest first; no call can be added then. */
void slow_list_sort(struct slow_list *l);
void slow_list_free(struct slow_list *l);
void slow_call_free(struct slow_call *c);

struct slowest {
	struct slow_list list;
	struct calls calls;
	struct states *states; /* with list.states */
	struct open_call_args enters;
	struct dictionary *dictionary;
	uint32_t segment; /* number of segments so far; definitions of values are valid in one */
	bool ticks;
	struct clocks clocks; /* of all rows */
	struct buffer scratch;
};

/* All functions that return int return -1 when out of memory. */
/* states: columns of states to write besides; or NULL. */
int slowest_init(struct slowest *s, size_t limit, const struct columns *states,
		 struct dictionary *d);
void slowest_free(struct slowest *s);

/* Take a block of any kind: HEAD begins a segment, END ends it, its open calls are restored,
 * and the rows of EVENTS are taken. */
int slowest_block(struct slowest *s, const struct block *b);
/* Take the calls that are open at the end of the trace. */
int slowest_finish(struct slowest *s);
/* Forget all open calls, because another trace follows. */
void slowest_forget_calls(struct slowest *s);

/* Count the lines of the first n calls as an aligned table. Returns -1 when out of memory. */
int slow_list_lines(struct slow_list *l, size_t n, bool ticks, const struct screen *screen,
		    size_t *lines);
/* Write the calls, the slowest first. */
int slowest_write(struct slow_list *l, bool ticks, enum table_format format,
		  const struct screen *screen, struct text *out);

#endif
