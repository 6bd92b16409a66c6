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
 * keys: how many of each group's keys are labels. Names of keys become names of labels; texts
 * become valid UTF-8; an empty or missing key is an empty label. Where two groups have the same
 * labels by that, the later one gets one more: duplicate="2". -1: out of memory.
 */
int prom_labels_make(struct prom_labels *l, const struct table *t,
		     const struct aggregate *const *row, size_t count, size_t keys);
void prom_labels_free(struct prom_labels *l);

/* "{labels}", or "{labels,more}"; nothing where there are none. */
void prom_labels_put(const struct prom_labels *l, size_t row, const char *more, struct text *out);

/* A label's value with its quotes. -1: out of memory. */
int prom_quoted(struct buffer *b, const char *p, size_t n);

#endif
