/*
 * fail_if.h - --fail-if 'p99(name == "commit") > 5ms': conditions that give exit status 3
 *
 * The language is that of common/expr/expression.h; its fields are
 *
 *     column [ "(" condition ")" ]
 *
 * A column covers all groups for which the condition (pair.h) is true; without a
 * condition, everything. Where the table's keys include those of the condition, the table's groups
 * are used. Otherwise events are grouped by the condition's keys a second time. So are samples
 * where a further key depends on their frames, as a sample counts in the groups of several
 * functions. Calls of several groups may be inside each other: the total of those that a condition
 * selects is that of a group of their own.
 */
#ifndef TR_TRSTAT_FAIL_IF_H
#define TR_TRSTAT_FAIL_IF_H

#include "cmd/trstat/query.h"
#include "cmd/trstat/statistics.h"
#include "common/cli/stage.h"
#include "common/pairs/pair.h"

struct alarm_column {
	char *name; /* of the column, as the user wrote it */
	struct condition condition;
	char *text; /* of the condition; NULL: none */
	/* the column is the total of all calls that are selected, as one group */
	bool united;
	struct condition selected; /* by --where and the condition */
	enum column_unit unit;
	/* by key of the condition: its index among the groups' keys */
	size_t *key;
	size_t column;
	/* the column has its own groups, as the table's lack its keys */
	bool own;
	struct columns columns;
	struct pair pair;
	struct statistics *statistics;
	struct column_value value;
	bool matched;  /* the condition selected a group */
	bool remarked; /* a remark has names or numbers of it that do not occur */
};

struct alarm {
	const char *text; /* as the user wrote it */
	struct node *condition;
	size_t first, end; /* its columns in struct alarms */
	bool decided;	   /* it was true or false, in an interval or in everything */
};

struct alarms {
	struct alarm *alarm;
	struct alarm_column *column;
	size_t count, ncolumns;
	bool judged; /* at least once */
};

/* Returns the value of a column as conditions have it: thousandths are numbers with a fraction. */
struct scalar column_scalar(enum column_unit unit, struct column_value v);
/* Refuse a column without a comparison; for struct language. */
int fail_if_check_leaf(struct lexer *l, struct node *n, size_t column);

/* Parse an alarm. Returns -1 with e filled. The caller calls alarms_free in any case; text must
 * stay valid. */
int alarms_add(struct alarms *a, const char *text, struct error *e);
void alarms_free(struct alarms *a);

/* Find the columns and keys in the query, or make their own groups. To be called before
 * the first event. Adds columns to the query that are not printed. */
int alarms_begin(struct alarms *a, struct query *q, struct dictionary *d, struct error *e);
/* To be called before the first event of a stream that declares samples, and after the query's keys
 * have changed. Returns -1 with e filled, or when out of memory. */
int alarms_begin_samples(struct alarms *a, struct query *q, struct dictionary *d, struct error *e);
/* Returns -1 with e filled if samples count several times in a column, or weights of different
 * types are added. */
int alarms_check_samples(const struct alarms *a, const struct query *q, const struct statistics *st,
			 struct error *e);
/* Returns -1 with e filled if a column needs its own groups, but there are no events to count. */
int alarms_check_keys(const struct alarms *a, struct error *e);
/* Report columns whose condition is on names or types and selected no group of summaries. Returns
 * true if one of them compares with a name by == or in. */
bool alarms_report_unmatched(const struct alarms *a, const struct statistics *st);
int alarms_block(struct alarms *a, const struct block *b);
/* Call a function of statistics.h for all groups that are not the table's. */
int alarms_each(struct alarms *a, int (*f)(struct statistics *s));
int alarms_window(struct alarms *a, const struct block *b, uint64_t since, uint64_t until);
int alarms_until(struct alarms *a, const struct block *b, struct events it, uint64_t end);

/* Returns -1 with e filled if an alarm makes no sense for the clocks of the events: it has a unit
 * for one that counts ticks, a time without a unit for one that counts ns, or is of several.
 * weights: those of samples are times. */
int alarms_check_clocks(const struct alarms *a, const struct clocks *clocks, bool weights,
			struct error *e);

/*
 * Evaluate the alarms, of an interval or (NULL) of everything. Returns whether some are true, which
 * are printed on stderr, with --quiet too.
 */
enum outcome alarms_judge(struct alarms *a, const struct query *q, const struct statistics *st,
			  const struct interval *interval);
/* Report the alarms that were neither true nor false, as columns had no value. To be called after
 * all calls of alarms_judge. Returns whether there are any. */
bool alarms_report_undecided(const struct alarms *a, const struct query *q,
			     const struct statistics *st);

/*
 * Refuses fields that no event of the streams read has, and in --fail-if all that the streams lack
 * for a condition (common/expr/declared.h); warns of names elsewhere.
 */

/* Check keys, columns, pairs and conditions at the end of the input. The fault is an error of the
 * stage; with a damaged input, which may lack declarations, a warning; with a part of a stream
 * nothing. Returns 0, or -1 after stage_fail. */
int check_names(struct stage *stage, const struct query *q, struct alarms *alarms);
/* The same for one input of several. file: its name for messages, or NULL; alarms may be NULL.
 * Returns 0, or -1 with e filled. */
int check_names_of(struct stage *stage, const char *file, const struct query *q,
		   struct alarms *alarms, struct error *e);

#endif
