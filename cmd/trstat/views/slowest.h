/*
 * slowest.h - --slowest N: the calls that took the longest, each with its thread, arguments and
 * stack
 *
 * Only what is printed is kept, in words: N calls, whatever the length of the trace. Calls of equal
 * times are in the order of their beginnings, so the N do not depend on the order of events in
 * different threads.
 */
#ifndef TR_TRSTAT_VIEWS_SLOWEST_H
#define TR_TRSTAT_VIEWS_SLOWEST_H

#include "cmd/trstat/table/cells.h"
#include "cmd/trstat/groups/open_call_args.h"

enum { SLOWEST_STACK = 64 }; /* innermost callers that are kept */

/* A call, in words. Texts have a NUL behind them. */
struct slow_call {
	uint64_t total, self, start, end;
	const struct lane *lane;
	bool unfinished;
	char *name, *arguments, *returned, *stack;
};

struct slowest {
	size_t limit, count;
	struct slow_call *call; /* a heap: the first is the one to give way */
	struct calls calls;
	struct open_call_args enters;
	struct dictionary *dictionary;
	uint32_t segment; /* counts them: definitions of values hold for one */
	bool ticks;
	struct buffer scratch;
};

/* -1: out of memory; so for the others that return int. */
int slowest_init(struct slowest *s, size_t limit, struct dictionary *d);
void slowest_free(struct slowest *s);

/* Any block: a HEAD begins a segment, the rows of EVENTS are taken in. */
int slowest_block(struct slowest *s, const struct block *b);
/* The end of the trace: calls that are still open. */
int slowest_finish(struct slowest *s);

/* The slowest first. */
int slowest_write(struct slowest *s, enum table_format format, struct text *out, struct error *e);

#endif
