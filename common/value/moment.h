/*
 * moment.h - a moment as a user names it: --since, --until
 *
 *     7ns, 12.5s     of the clock of the events
 *     7              the same, of a clock that counts ticks
 *     1234.567890    the same in seconds, as the traces' own tools print it: with a point, no unit
 *     +1.5s          from the first event
 *     -10s           before the last event
 *     2026-11-21 11:40[:05.123][Z]   wall time, local or (Z) UTC; also with a T between
 */
#ifndef TR_VALUE_MOMENT_H
#define TR_VALUE_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/stream/event.h"
#include "common/util/error.h"

enum moment_from { MOMENT_NONE, MOMENT_CLOCK, MOMENT_START, MOMENT_END, MOMENT_WALL };

struct moment {
	enum moment_from from;
	int64_t ns;	  /* offset from the base, ns; MOMENT_END: before the end */
	const char *text; /* as the user wrote it, which must stay valid */
};

/* Parse a moment. -1: invalid. */
int moment_parse(const char *text, struct moment *m);
/* Test whether there is such a day: strptime accepts the 31st of November, which mktime changes to
 * another day. month: 1 to 12. */
bool moment_is_date(int year, int month, int day);
/* The same for the argument of an option, with *e filled. */
int moment_option(struct moment *m, const char *option, const char *text, struct error *e);

/* Refuse a range that contains no time; moments with different bases are not compared. */
int moment_check_range(const struct moment *since, const struct moment *until, struct error *e);

/* Times that a moment is relative to. wall: ns to add to the clock for wall time. */
struct moment_base {
	uint64_t start, end;
	int64_t wall;
	bool has_wall;
};

/* Refuse a moment that the clock has no meaning for: see time_check_clock. */
int moment_check_clock(const struct moment *m, const char *file, const char *option, bool ticks,
		       struct error *e);

/* Convert a moment to a time of the clock, limited to 0 and UINT64_MAX. -1: the clock has no
 * wall time. */
int moment_time(const struct moment *m, const struct moment_base *base, uint64_t *time);

/* Warn that no event is in the range of --since and --until, with the times that the events have,
 * as they can be given to these options. last: 0: unknown. */
void moment_warn_empty(bool ticks, uint64_t first, uint64_t last);

/*
 * --since and --until: the range of times [since, until) of each clock.
 *
 *     time_window_find_ends(&w, paths, n, &e)     before the first block
 *     time_window_block(&w, &block, new_stream)   for each block
 *     time_window_of(&w, lane->clock)             for the rows of a clock
 *
 * Functions that return int return 0, or -1 with *e filled.
 */

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
/* Get the window of a clock, which is empty after a failure. */
const struct clock_window *time_window_of(struct time_window *w, const struct clock *c);
struct index_section;
/* Where a section is relative to a range of times. */
enum section_time { SECTION_WITHIN, SECTION_BEFORE, SECTION_AFTER };
/* Find where a section of an indexed file is relative to the windows of all clocks that are
 * declared so far. */
enum section_time time_window_section(const struct time_window *w, const struct dictionary *d,
				      const struct index_section *s);
/* Print which times the input has, if none of its events is in the range. */
void time_window_report(const struct time_window *w);
void time_window_free(struct time_window *w);

#endif
