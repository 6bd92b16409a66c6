/*
 * units.h - units of time and size, in options and expressions
 */
#ifndef TR_VALUE_UNITS_H
#define TR_VALUE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/error.h"

enum unit_kind { UNIT_ANY, UNIT_TIME_NS, UNIT_BYTES };

/* The units, for messages */
#define UNITS_OF_TIME "ns us ms s m min h"
#define UNITS_OF_SIZE "K M G T kB MB GB TB"

struct unit {
	const char *name;
	uint64_t scale; /* ns, or bytes */
	enum unit_kind kind;
};

/* Find the unit of that name ("" is a plain number), or NULL. */
const struct unit *unit_find(const char *name, size_t n);

/* Parse "1.5s", "-20ms", "3us", "7" (ns), "1.5" (seconds), "2m", "1h" to ns. -1: no time, or
 * beyond 64 bits. */
int parse_time(const char *s, int64_t *ns);

/* Returns true if the time is in a unit of time: it has a unit or a point. */
bool time_has_unit(const char *s);

/* Check a time, as parse_time takes it, for a clock: where the clock counts ticks, the time has
 * neither a unit nor a point; otherwise it has one or is 0, as 7 may mean 7ns or 7s. file (may be
 * NULL) and option, which has the time, are for the message. Returns 0, or -1 with *e filled. */
int time_check_clock(const char *file, const char *option, const char *text, bool ticks,
		     struct error *e);
/* Refuse a time without a unit, with the two that it may mean. Returns -1. */
int time_needs_unit(const char *file, const char *option, const char *text, struct error *e);

/* Parse a time; -1 also for a time with a fraction of a ns: "1.5ns". */
int parse_time_whole(const char *s, int64_t *ns);
/* Parse "64M", "1GiB", "4096", "10kB" to bytes: K, M, G, T are powers of 1024, kB, MB ... of
 * 1000. */
int parse_size(const char *s, uint64_t *bytes);

/* Get the first of 1, 2, 5, 10, 20, 50 ... that is at least that: the step of an axis.
 * UINT64_MAX beyond 10^19. */
uint64_t round_step(uint64_t least);

#endif
