/*
 * prom_labels.h - the keys of groups as labels of Prometheus
 */
#ifndef TR_TRSTAT_TABLE_PROM_LABELS_H
#define TR_TRSTAT_TABLE_PROM_LABELS_H

#include "cmd/trstat/table/table.h"

/* The labels of each group, without braces: name="read",tid="7". No two are alike. */
struct prom_labels {
	struct buffer *label; /* by row */
	size_t count;
};

/*
 * Make the labels. keys: how many of each group's keys are labels. Names of keys become names of
 * labels; texts become valid UTF-8; an empty or missing key is an empty label. If two groups get
 * the same labels, the later one gets one more: duplicate="2". Returns -1 when out of memory.
 */
int prom_labels_make(struct prom_labels *l, const struct table *t,
		     const struct aggregate *const *row, size_t count, size_t keys);
void prom_labels_free(struct prom_labels *l);

/* Write "{labels}", or "{labels,more}"; nothing if both are empty. */
void prom_labels_put(const struct prom_labels *l, size_t row, const char *more, struct text *out);

/* Append a label's value with its quotes. Returns -1 when out of memory. */
int prom_quoted(struct buffer *b, const char *p, size_t n);

#endif
