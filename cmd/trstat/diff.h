/*
 * diff.h - the difference of two traces
 */
#ifndef TR_TRSTAT_DIFF_H
#define TR_TRSTAT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/trstat/run.h"
#include "common/cli/stage.h"
#include "common/util/significance.h"

/*
 * --diff A B: the groups of two traces side by side, and which of them changed.
 *
 * The histograms of a group's times in A and in B are compared by a rank test, whose p is corrected
 * for the number of groups. A group changed if p is below alpha and the shift of its
 * times is at least the threshold, a share of its median in A. Groups without times, and samples,
 * are not tested.
 *
 * --diff A1 A2 ... -- B1 B2 ...: the runs of two sides. Each column of a group is a statistic,
 * whose value in each run is kept; the groups of one run are in memory at a time, besides those of
 * the first one. runs_test (significance.h) tests the changes of the means.
 */

#define DIFF_COLUMNS "total,count,p50,p99" /* the default of -c */
#define DIFF_ALPHA   0.01		   /* the default of --alpha */
#define RUNS_ALPHA   0.05		   /* the same with many runs */

/* DIFF_CHANGED: with many runs, a column that is no time has changed. */
enum diff_verdict {
	DIFF_SAME,
	DIFF_SLOWER,
	DIFF_FASTER,
	DIFF_NEW,
	DIFF_GONE,
	DIFF_CHANGED,
	DIFF_VERDICTS
};

/* The options of --diff. */
struct diff_options {
	bool asked;
	const char *sort;	      /* -s, or NULL */
	double threshold, alpha;      /* shares: 0.05 for 5%; alpha 0: not given */
	uint32_t fail_if;	      /* words: one bit for each enum diff_verdict; SAME: changed */
	const char *const *condition; /* of --fail-if, the caller's */
	size_t conditions;
	int operands; /* number of FILEs */
	int news;     /* number of those after "--"; -1: there is no "--" between FILEs */
};

/* Returns alpha, or the default. */
static inline double diff_alpha_of(const struct diff_options *o)
{
	return o->alpha > 0 ? o->alpha : DIFF_ALPHA;
}

/* Take a word of --fail-if, "changed" or a verdict; false if it is neither. */
bool diff_fail_if(struct diff_options *o, const char *text);

struct diff_row {
	const struct aggregate *group; /* of diff.groups: has the keys */
	const struct aggregate *a, *b; /* NULL: the group is missing from that trace */
	bool tested;		       /* the next ones are computed */
	struct rank_test test;
	double p,
		p_least; /* corrected; with many runs p is that of change or, in a trial, not < 0 */
	enum diff_verdict verdict;
	const struct run_change *change; /* by column; NULL: two traces */
};

/* The values of many runs. */
struct diff_runs {
	size_t a, b;   /* number of runs of each side */
	size_t at;     /* number of runs taken */
	double *value; /* by row, column and run; NAN: none */
	double *rows;  /* by row and run: number of calls and instants */
	size_t reached, value_capacity, rows_capacity; /* reached: number of rows with values */
	struct run_change *change;		       /* by row and column */
	struct runs_test test;
	/* the longest run and the shortest one */
	uint64_t most, least;
	const char *longest, *shortest;
};

/* Returns true if a row with a test has enough calls for a verdict. */
static inline bool diff_can_judge(const struct diff_row *r, const struct diff_options *o)
{
	return r->p_least < diff_alpha_of(o);
}

struct diff {
	const struct statistics *a, *b; /* of many runs both are those of the first one */
	const struct columns *columns;	/* a's; b's have the same names */
	struct diff_runs *runs;		/* NULL: two traces */
	double alpha;
	size_t cells, tests;  /* number of cells of each column, and of those after all columns */
	struct groups groups; /* of both traces; their aggregates count nothing */
	struct columns_wanted wanted; /* columns of groups */
	struct diff_row *row;
	size_t count, capacity;
	char **names; /* of a row's cells */
	size_t nnames;
	struct {
		size_t cell;
		bool descending;
	} * order; /* the items of -s */
	size_t norder, order_capacity;
	const char *title; /* of a picture */
	bool quiet;	   /* nothing is remarked on */
	size_t tested,
		few;  /* number of rows with a test, and of those that cannot have a verdict */
	size_t limit; /* most rows; 0: all */
	bool more;    /* aligned table: a last line counts the rows that the limit leaves out */
};

/* --- --diff: the table of the differences of inputs, each a stream or a summary --- */

/* Run --diff; paths: the operands. Returns the exit status. */
int diff_run(const struct stat_settings *s, const struct diff_options *o, char **paths,
	     const struct common_options *options);

#endif
