/*
 * report.h - what became of the modules, on standard error
 */
#ifndef TR_TRSYM_REPORT_H
#define TR_TRSYM_REPORT_H

#include "cmd/trsym/resolve.h"

/* --report: a row for each module. */
void report_modules(const struct resolver *r);

/* A line for each module whose symbols, or lines, could be had but are not the recorded program's,
 * or that has none. */
void report_missing(const struct tables *t);

#endif
