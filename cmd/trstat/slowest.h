/*
 * slowest.h - --slowest N: the longest calls, each with its thread, arguments and stack
 *
 * Only the printed texts of N calls are kept, however long the trace is. Calls of equal times are
 * in the order of their enters, and then of all their cells, so the result does not depend on the
 * order in which calls are added.
 */
#ifndef TR_TRSTAT_SLOWEST_H
#define TR_TRSTAT_SLOWEST_H

#include "cmd/trstat/call_args.h"
#include "cmd/trstat/table.h"
#include "common/stream/clocks.h"

enum { SLOWEST_STACK = 64 }; /* innermost callers that are kept */

/* A call as text. Texts end with NUL. */
struct slow_call {
	uint64_t total, self, start, end;
	uint32_t has; /* which of the ids the lane has, and SLOW_UNFINISHED */
	int32_t tid, pid, cpu;
	char *name, *arguments, *returned, *stack, *comm;
};

enum { SLOW_TID = 1, SLOW_PID = 2, SLOW_CPU = 4, SLOW_UNFINISHED = 8, SLOW_HAS = 15 };

/* The slowest of the calls that were added: a heap, whose first call is replaced next. */
struct slow_list {
	size_t limit, count;
	struct slow_call *call;
};

/* Add a call, which belongs to the list or is freed. Returns -1 when out of memory. */
int slow_list_add(struct slow_list *l, struct slow_call *c);
/* Add all calls of another list, which is then empty. Returns -1 when out of memory. */
int slow_list_move(struct slow_list *to, struct slow_list *from);
void slow_list_free(struct slow_list *l);
void slow_call_free(struct slow_call *c);

struct slowest {
	struct slow_list list;
	struct calls calls;
	struct open_call_args enters;
	struct dictionary *dictionary;
	uint32_t segment; /* number of segments so far; definitions of values are valid in one */
	bool ticks;
	struct clocks clocks; /* of all rows */
	struct buffer scratch;
};

/* All functions that return int return -1 when out of memory. */
int slowest_init(struct slowest *s, size_t limit, struct dictionary *d);
void slowest_free(struct slowest *s);

/* Take a block of any kind: HEAD begins a segment, END ends it, its open calls are restored,
 * and the rows of EVENTS are taken. */
int slowest_block(struct slowest *s, const struct block *b);
/* Take the calls that are open at the end of the trace. */
int slowest_finish(struct slowest *s);
/* Forget all open calls, because another trace follows. */
void slowest_forget_calls(struct slowest *s);

/* Write the calls, the slowest first. */
int slowest_write(struct slow_list *l, bool ticks, enum table_format format, struct text *out,
		  struct error *e);

#endif
