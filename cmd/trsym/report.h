/*
 * report.h - print the state of each module on standard error
 */
#ifndef TR_TRSYM_REPORT_H
#define TR_TRSYM_REPORT_H

#include "cmd/trsym/resolve.h"

/* In these functions, missing says what the debug information is needed for. */

/* Print a row for each module (--report). */
void report_modules(const struct resolver *r, const char *missing);

/* Print a line for each module whose symbols or debug information exist but are of another build,
 * or that has none. */
void report_missing(const struct tables *t, const char *missing);

#endif
