/*
 * moment.h - a moment as a user names it: --since, --until
 *
 *     7, 12.5s       of the clock of the events, in ns or with a unit
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
	int64_t ns; /* from there; MOMENT_END: before it */
	bool unit;  /* it was given with a unit of time: it means nothing where a clock has none */
};

/* What is said then. */
#define MOMENT_TICKS                                                                               \
	"the clock of the events counts ticks, no unit of time: give a number of them "            \
	"(--since, --until)"

/* -1: none of these. */
int moment_parse(const char *text, struct moment *m);

/* What else must be known to find it. wall: ns to add to the clock for wall time. */
struct moment_base {
	uint64_t start, end;
	int64_t wall;
	bool has_wall;
};

/* The time of the clock that it is; one that lies outside is moved to 0 or UINT64_MAX. -1: the
 * clock has no wall time. */
int moment_time(const struct moment *m, const struct moment_base *base, uint64_t *time);

#endif
