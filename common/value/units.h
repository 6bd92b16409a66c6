/*
 * units.h - units of time and size, in options and expressions
 */
#ifndef TR_VALUE_UNITS_H
#define TR_VALUE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum unit_kind { UNIT_ANY, UNIT_TIME_NS, UNIT_BYTES };

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

/* Parse a time; -1 also for a time with a fraction of a ns: "1.5ns". */
int parse_time_whole(const char *s, int64_t *ns);
/* Parse "64M", "1GiB", "4096", "10kB" to bytes: K, M, G, T are powers of 1024, kB, MB ... of
 * 1000. */
int parse_size(const char *s, uint64_t *bytes);

/* Returns the first of 1, 2, 5, 10, 20, 50 ... that is at least that: the step of an axis.
 * UINT64_MAX beyond 10^19. */
uint64_t round_step(uint64_t least);

#endif
