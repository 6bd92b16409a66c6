/*
 * units.h - times and sizes on the command line
 */
#ifndef TR_UNITS_H
#define TR_UNITS_H

#include <stdint.h>

/* "1.5s", "-20ms", "3us", "7" (ns), "2m", "1h" to ns. -1: no time, or beyond 64 bits. */
int parse_time(const char *s, int64_t *ns);
/* "64M", "1GiB", "4096", "10kB" to bytes: K, M, G, T are powers of 1024, kB, MB ... of 1000. */
int parse_size(const char *s, uint64_t *bytes);

#endif
