/*
 * prom.h - Prometheus' text format, for node_exporter's textfile collector
 *
 * Metrics are named trstat_*, keys are labels, times are seconds (ticks where the clock counts
 * ticks), percentiles are the quantiles of a summary. The file of a run replaces that of the
 * previous run, so metrics are gauges, summaries and histograms, never counters.
 */
#ifndef TR_TRSTAT_PROM_H
#define TR_TRSTAT_PROM_H

#include "cmd/trstat/table.h"
#include "cmd/trstat/histogram.h"

int format_prom(const struct table_rows *rows, struct text *out, struct error *e);

/* Write --hist: a histogram for each group, with buckets at powers of two. */
int prom_hist(const struct table *t, const struct hist *h, struct text *out, struct error *e);

#endif
