/*
 * text_time.h - durations as uftrace prints them
 */
#ifndef TR_TEXT_TIME_H
#define TR_TEXT_TIME_H

#include <stdint.h>

enum { DURATION_WIDTH = 10 };

/*
 * DURATION_WIDTH characters at out, no NUL: three digits, a point, three digits, a blank and the
 * unit: us, ms, s, m (minutes, the three digits are seconds) or h (hours and minutes). 0 ns is
 * blank. Times that went backwards, as a difference that wrapped, are printed by their size.
 */
void duration_text(char *out, uint64_t ns);

#endif
