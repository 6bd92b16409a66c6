/*
 * remarks.h - remarks that a run with several outputs prints once
 *
 *     remarks_collect()                for each output
 *     remark_count(3, "{gap|gaps}")        remark_count(2, "{gap|gaps}")
 *     remarks_print()                  prints "5 gaps"
 *
 * Without remarks_collect the functions print at once, as warn and warn_count do.
 */
#ifndef TR_CLI_REMARKS_H
#define TR_CLI_REMARKS_H

#include <stdint.h>

/* Print a remark, as warn does; of those collected, each text once. */
void remark(const char *file, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Print a remark with a count, as warn_count does; of those collected, one of each format, with the
 * sum. The arguments are those of the first call. */
void remark_count(uint64_t count, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Collect remarks from now on. */
void remarks_collect(void);
/* Print the remarks with counts that were collected, in the order of their first calls. */
void remarks_print(void);

#endif
