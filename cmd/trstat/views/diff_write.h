/*
 * diff_write.h - what the writers of --diff have in common
 */
#ifndef TR_TRSTAT_VIEWS_DIFF_WRITE_H
#define TR_TRSTAT_VIEWS_DIFF_WRITE_H

#include "cmd/trstat/views/diff.h"

/* Values of a column in a row: in A, in B, and B less A where both have one. */
struct diff_value {
	struct column_value a, b, change;
};
struct diff_value diff_value(const struct diff *d, const struct diff_row *r, size_t column);

/* Write the first rows as an aligned table, texts elided to width (0: not elided). Returns -1
 * with e filled. */
int diff_aligned(const struct diff *d, const struct query *q, size_t rows, unsigned width,
		 struct text *out, struct error *e);

#endif
