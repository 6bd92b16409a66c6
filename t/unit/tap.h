/*
 * tap.h - just enough TAP for unit tests: one line per check, a plan at the end
 */
#ifndef TR_T_UNIT_TAP_H
#define TR_T_UNIT_TAP_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;

static inline bool tap_ok(bool good, const char *what, const char *file, int line)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++tap_count, what);
	if (!good) {
		tap_failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	return good;
}

static inline bool tap_u64(uint64_t got, uint64_t want, const char *what, const char *file,
			   int line)
{
	if (tap_ok(got == want, what, file, line))
		return true;
	printf("#  got %" PRIu64 "\n# want %" PRIu64 "\n", got, want);
	return false;
}

static inline bool tap_str(const char *got, const char *want, const char *what, const char *file,
			   int line)
{
	if (tap_ok(got && want ? !strcmp(got, want) : got == want, what, file, line))
		return true;
	printf("#  got %s\n# want %s\n", got ? got : "(null)", want ? want : "(null)");
	return false;
}

#define ok(good, what)		tap_ok(good, what, __FILE__, __LINE__)
#define is_u64(got, want, what) tap_u64(got, want, what, __FILE__, __LINE__)
#define is_str(got, want, what) tap_str(got, want, what, __FILE__, __LINE__)

static inline int done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

#endif
