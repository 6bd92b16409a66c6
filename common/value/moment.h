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

#include "common/util/error.h"

enum moment_from { MOMENT_NONE, MOMENT_CLOCK, MOMENT_START, MOMENT_END, MOMENT_WALL };

struct moment {
	enum moment_from from;
	int64_t ns;	  /* offset from the base, ns; MOMENT_END: before the end */
	const char *text; /* as the user wrote it, which must stay valid */
};

/* Parse a moment. -1: invalid. */
int moment_parse(const char *text, struct moment *m);
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

#endif
