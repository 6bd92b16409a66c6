/*
 * diff_fail_if.h - --fail-if with --diff: conditions on the rows of the difference
 *
 * A condition is in the language of common/expr/expression.h. Its fields are the cells of a row:
 * keys, columns with _a, _b and _change, and those of the test. A _change that is compared with a
 * percentage is the share of the value in A.
 */
#ifndef TR_TRSTAT_VIEWS_DIFF_FAIL_IF_H
#define TR_TRSTAT_VIEWS_DIFF_FAIL_IF_H

#include "cmd/trstat/views/diff_write.h"
#include "common/expr/expression.h"

struct diff_alarms {
	const struct diff *diff;
	struct diff_cells cells;
	const char *const *text; /* the conditions, the caller's */
	struct node **condition;
	size_t count;
	const struct diff_row *row; /* the one that is tested */
};

/* Parse conditions, count of them. Returns -1 with e filled; diff_alarms_free in any case. */
int diff_alarms_parse(struct diff_alarms *all, const struct diff *d, const struct query *q,
		      const char *const *text, size_t count, struct error *e);
void diff_alarms_free(struct diff_alarms *all);

/* Returns whether a condition is true for a row. Prints each such condition. *undecided: a
 * condition that is true for no row compares with a name that no row has, or with a column that no
 * row has a value of. */
bool diff_alarms_judge(struct diff_alarms *all, bool *undecided);

/* Warn that groups have too few calls for a verdict: with needed where any has, else if all have.
 * Returns true if a verdict is needed and no group can have one. */
bool diff_warn_few(const struct diff *d, const struct diff_options *o, bool needed, bool quiet);
/* Warn if only one side has functions without names, so that its groups are other ones. Returns
 * whether it has. paths: those of both sides. */
bool diff_warn_nameless(const struct diff *d, char **paths);

#endif
