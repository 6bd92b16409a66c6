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

/* The columns of the test, after those of -c. */
enum diff_test {
	DIFF_VERDICT,
	DIFF_EFFECT,
	DIFF_SHIFT,
	DIFF_SHIFT_LOW,
	DIFF_SHIFT_HIGH,
	DIFF_P,
	DIFF_TESTS
};

/* Returns the names of a row's cells, count of them: the keys, NAME_a NAME_b NAME_change of each
 * column, and the test. NULL when out of memory; the caller calls diff_free_names. */
char **diff_names(const struct diff *d, const struct query *q, size_t *count);
void diff_free_names(char **names, size_t count);

/* The names for an option that takes them, with words that it takes besides. */
struct diff_cells {
	char **names;
	size_t count;
	const char *option, *words;
};

/* Find the cell of that name; a column alone is its value in B. -1 with e filled. */
int diff_find_cell(const struct diff *d, const struct diff_cells *cells, const char *name, size_t n,
		   struct error *e);

/* The number in a cell after the keys: number_real of both, real is 0 where it is an integer. */
struct diff_number {
	bool present;
	int128 number;
	double real;
};
/* cell: counted from the first one after the keys */
struct diff_number diff_number(const struct diff *d, const struct diff_row *r, size_t cell);

/* Write the first rows as an aligned table, texts elided to width (0: not elided). Returns -1
 * with e filled. */
int diff_aligned(const struct diff *d, const struct query *q, size_t rows, unsigned width,
		 struct text *out, struct error *e);

/* Write all rows as a flame graph. Returns -1 with e filled. */
int diff_svg(const struct diff *d, struct text *out, struct error *e);

#endif
