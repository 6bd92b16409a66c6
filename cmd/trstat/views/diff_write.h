/*
 * diff_write.h - what the writers of --diff have in common
 */
#ifndef TR_TRSTAT_VIEWS_DIFF_WRITE_H
#define TR_TRSTAT_VIEWS_DIFF_WRITE_H

#include "cmd/trstat/views/diff.h"

/* A column of a row: in A, in B, and B less A where both have it. */
struct diff_value {
	struct column_value a, b, change;
};
struct diff_value diff_value(const struct diff *d, const struct diff_row *r, size_t column);

/* The first rows as a table for people, texts elided to width (0: they are not). -1 with e. */
int diff_aligned(const struct diff *d, const struct query *q, size_t rows, unsigned width,
		 struct text *out, struct error *e);

#endif
