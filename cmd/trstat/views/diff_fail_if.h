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

/* Why no row decides an alarm, the reason to report last. */
enum diff_lack {
	LACKS_NOTHING, /* the rows lack values */
	LACKS_TIMES,   /* a row has times in one trace at most */
	LACKS_CALLS_FOR_P,
	LACKS_CALLS, /* for a verdict */
};

/* A word or a condition of --fail-if. */
struct diff_alarm {
	const char *text;	/* as the user wrote it */
	struct node *condition; /* NULL: a word */
	uint32_t verdicts;	/* of a word: one bit for each enum diff_verdict */
};

struct diff_alarms {
	const struct diff *diff;
	const struct diff_options *options;
	struct diff_cells cells;
	struct diff_alarm *alarm;
	size_t count;
	/* while one is judged */
	const struct diff_row *row;
	uint32_t verdicts;
	bool deciding; /* it is true for no row */
	enum diff_lack lack;
	bool few_reported; /* too few calls for a verdict */
};

/* Parse the words and conditions of the options. Returns -1 with e filled; diff_alarms_free in any
 * case. */
int diff_alarms_parse(struct diff_alarms *all, const struct diff *d, const struct query *q,
		      const struct diff_options *o, struct error *e);
void diff_alarms_free(struct diff_alarms *all);

/* Returns whether a word or a condition is true for a row. Prints each such one. *undecided: one
 * that is true for no row compares with a name that no row has, with a column that no row has a
 * value of, or needs a verdict or a p that no row that is compared can have. */
bool diff_alarms_judge(struct diff_alarms *all, bool *undecided);

/* Warn that groups have too few calls for a verdict, unless diff_alarms_judge did: if all have or,
 * where a word needs a verdict, if any has. */
void diff_warn_few(const struct diff_alarms *all);
/* Warn if only one side has functions without names, so that its groups are other ones. Returns
 * whether it has. paths: those of both sides. */
bool diff_warn_nameless(const struct diff *d, char **paths);

#endif
