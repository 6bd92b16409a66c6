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
 * Write DURATION_WIDTH characters to out, without a NUL: three digits, a point, three digits, a
 * blank and the unit: us, ms, s, m (minutes, the three digits are seconds) or h (hours and
 * minutes). 0 ns is blank. A negative duration, as a difference that wrapped, is printed without
 * its sign.
 */
void duration_text(char *out, uint64_t ns);

/* The time of the line before; zeroed: there is no line before. */
struct time_difference {
	uint64_t last;
	bool has_last;
};

enum { DIFFERENCE_MOST = 32 };

/*
 * Write the difference of trace-cmd report --ts-diff, " (+7961) ", to out, without a NUL. Returns
 * its length, at least 9. Without ns the times are rounded to microseconds before they are
 * subtracted, also those of clocks that have no unit.
 */
size_t difference_text(struct time_difference *d, uint64_t time, bool ns,
		       char out[DIFFERENCE_MOST]);

/* Test whether trace-cmd prints times of that clock as seconds; it prints others unchanged. */
bool clock_in_seconds(const char *clock);

#endif
