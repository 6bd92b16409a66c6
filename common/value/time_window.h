/*
 * time_window.h - --since and --until: the range of times [since, until) of each clock
 *
 *     time_window_find_ends(&w, paths, n, &e)     before the first block
 *     time_window_block(&w, &block, new_stream)   for each block
 *     time_window_of(&w, lane->clock)             for the rows of a clock
 *
 * Functions that return int return 0, or -1 with *e filled.
 */
#ifndef TR_VALUE_TIME_WINDOW_H
#define TR_VALUE_TIME_WINDOW_H

#include "common/stream/event.h"
#include "common/value/moment.h"

struct clock_window {
	bool known;
	uint64_t since, until;
};

struct time_window {
	struct moment since, until;
	/* for moments before the end: last time of each stream of the input, 0 without events */
	uint64_t *ends;
	size_t nends, ends_capacity;
	bool any; /* a stream was read; its number is the next: */
	size_t stream;
	bool started;		     /* the stream's first time is known */
	uint64_t start, last;	     /* first time of the stream; last time so far */
	bool ticks;		     /* the clock of the last block counts ticks */
	struct clock_window *clocks; /* by number */
	size_t nclocks;
	bool failed; /* a moment has no meaning for a clock, or out of memory: error */
	struct error error;
};

static inline bool time_window_any(const struct time_window *w)
{
	return w->since.from || w->until.from;
}

/* Find the ends of the streams of the input, if moments are relative to them. paths as for
 * reader_open. */
int time_window_find_ends(struct time_window *w, char **paths, int n, struct error *e);
/* Take a block; new_stream: it is the HEAD of a new stream. */
void time_window_block(struct time_window *w, const struct block *b, bool new_stream);
/* Returns the window of a clock, which is empty after a failure. */
const struct clock_window *time_window_of(struct time_window *w, const struct clock *c);
/* Print which times the input has, if none of its events is in the range. */
void time_window_report(const struct time_window *w);
void time_window_free(struct time_window *w);

#endif
