/*
 * slowest.h - --slowest N: the longest calls, each with its thread, arguments and stack
 *
 * Only the printed texts of N calls are kept, however long the trace is. Calls of equal times are
 * in the order of their enters, so the result does not depend on the order of events in different
 * threads.
 */
#ifndef TR_TRSTAT_VIEWS_SLOWEST_H
#define TR_TRSTAT_VIEWS_SLOWEST_H

#include "cmd/trstat/table/cells.h"
#include "cmd/trstat/groups/open_call_args.h"

enum { SLOWEST_STACK = 64 }; /* innermost callers that are kept */

/* A call as text. Texts end with NUL. */
struct slow_call {
	uint64_t total, self, start, end;
	const struct lane *lane;
	bool unfinished;
	char *name, *arguments, *returned, *stack;
};

struct slowest {
	size_t limit, count;
	struct slow_call *call; /* a heap: the first call is replaced next */
	struct calls calls;
	struct open_call_args enters;
	struct dictionary *dictionary;
	uint32_t segment; /* number of segments so far; definitions of values are valid in one */
	bool ticks;
	struct buffer scratch;
};

/* All functions that return int return -1 when out of memory. */
int slowest_init(struct slowest *s, size_t limit, struct dictionary *d);
void slowest_free(struct slowest *s);

/* Take a block of any kind: HEAD begins a segment, the rows of EVENTS are taken. */
int slowest_block(struct slowest *s, const struct block *b);
/* Take the calls that are open at the end of the trace. */
int slowest_finish(struct slowest *s);

/* Write the calls, the slowest first. */
int slowest_write(struct slowest *s, enum table_format format, struct text *out, struct error *e);

#endif
