/*
 * diff.h - --diff A B: the groups of two traces side by side, and which of them changed
 *
 * The histograms of a group's times in A and in B are compared by a rank test, whose p is corrected
 * for the number of groups (rank_test.h). A group changed if p is below alpha and the shift of its
 * times is at least the threshold, a share of its median in A. Groups without times, and samples,
 * are not tested.
 */
#ifndef TR_TRSTAT_VIEWS_DIFF_H
#define TR_TRSTAT_VIEWS_DIFF_H

#include "cmd/trstat/query.h"
#include "cmd/trstat/views/rank_test.h"
#include "cmd/trstat/groups/statistics.h"

#define DIFF_COLUMNS "total,count,p50,p99" /* the default of -c */
#define DIFF_ALPHA   0.01		   /* the default of --alpha */

enum diff_verdict { DIFF_SAME, DIFF_SLOWER, DIFF_FASTER, DIFF_NEW, DIFF_GONE, DIFF_VERDICTS };

/* The options of --diff. */
struct diff_options {
	bool asked;
	const char *sort;	      /* -s, or NULL */
	const char *title;	      /* --title, or NULL */
	double threshold, alpha;      /* shares: 0.05 for 5%; alpha 0: not given */
	uint32_t fail_if;	      /* words: one bit for each enum diff_verdict; SAME: changed */
	const char *const *condition; /* of --fail-if, the caller's */
	size_t conditions;
};

/* Returns alpha, or the default. */
static inline double diff_alpha_of(const struct diff_options *o)
{
	return o->alpha > 0 ? o->alpha : DIFF_ALPHA;
}

/* Parse "5%" or "1.05x", and for alpha also "0.05"; -1 with e filled, naming the option. */
int diff_threshold(struct diff_options *o, const char *text, struct error *e);
int diff_alpha(struct diff_options *o, const char *text, struct error *e);
/* Take a word of --fail-if, "changed" or a verdict; false if it is neither. */
bool diff_fail_if(struct diff_options *o, const char *text);

/* The name of each verdict, and NULL; that of DIFF_SAME is empty. */
extern const char *const diff_verdicts[];
/* Returns the word of a bit of diff_options.fail_if. */
const char *diff_fail_if_word(enum diff_verdict v);

struct diff_row {
	const struct aggregate *group; /* of diff.groups: has the keys */
	const struct aggregate *a, *b; /* NULL: the group is missing from that trace */
	bool tested;		       /* the next three are computed */
	struct rank_test test;
	struct shift shift;
	double p, p_least; /* corrected */
	enum diff_verdict verdict;
};

/* Returns true if a row with a test has enough calls for a verdict. */
static inline bool diff_can_judge(const struct diff_row *r, const struct diff_options *o)
{
	return r->p_least < diff_alpha_of(o);
}

/* One of the two traces. */
struct diff_side {
	const struct statistics *statistics;
	const struct columns *columns;
};

struct diff {
	struct diff_side a, b;
	struct groups groups;	      /* of both traces; their aggregates count nothing */
	struct columns_wanted wanted; /* columns of groups */
	struct diff_row *row;
	size_t count;
	const char *title; /* of a picture */
	bool quiet;	   /* nothing is remarked on */
	size_t tested,
		few;  /* number of rows with a test, and of those that cannot have a verdict */
	size_t limit; /* most rows; 0: all */
	bool more;    /* aligned table: a last line counts the rows that the limit leaves out */
};

/* Compare A and B, which have the same keys and columns. Order of the rows: changed groups by
 * the size of the effect; groups of one trace only by their time; other groups by the effect.
 * Returns -1 when out of memory. */
int diff_make(struct diff *d, struct diff_side a, struct diff_side b, const struct diff_options *o);
void diff_free(struct diff *d);

/* Sort the rows by a list as of -s. Returns -1 with e filled. */
int diff_sort(struct diff *d, const struct query *q, const char *list, struct error *e);

/* Write the rows, at most d->limit. Returns -1 with e filled. */
int diff_write(const struct diff *d, const struct query *q, unsigned width, struct text *out,
	       struct error *e);

#endif
