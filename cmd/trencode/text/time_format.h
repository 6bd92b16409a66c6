/*
 * time_format.h - durations as uftrace prints them, differences of times as trace-cmd does
 */
#ifndef TR_TRENCODE_TEXT_TIME_FORMAT_H
#define TR_TRENCODE_TEXT_TIME_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DURATION_WIDTH = 10 };

/*
 * DURATION_WIDTH characters at out, no NUL: three digits, a point, three digits, a blank and the
 * unit: us, ms, s, m (minutes, the three digits are seconds) or h (hours and minutes). 0 ns is
 * blank. Times that went backwards, as a difference that wrapped, are printed by their size.
 */
void duration_text(char *out, uint64_t ns);

/* The time of the line before; zero-initialised there is none. */
struct time_difference {
	uint64_t last;
	bool has_last;
};

enum { DIFFERENCE_MOST = 32 };

/*
 * trace-cmd report --ts-diff: " (+7961) ", at least 9 characters at out, no NUL; returns how many.
 * Without ns it is of the times as microseconds, which are rounded first, as are those of clocks
 * that have no such unit.
 */
size_t difference_text(struct time_difference *d, uint64_t time, bool ns,
		       char out[DIFFERENCE_MOST]);

/* Does trace-cmd take that clock for nanoseconds? Others it prints as they are. */
bool clock_in_seconds(const char *clock);

#endif
