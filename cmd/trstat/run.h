/*
 * run.h - the query of a run, the conditions of --fail-if, and the runs of trstat
 *
 * There is one function for each mode; the exit status is in stage.
 */
#ifndef TR_TRSTAT_RUN_H
#define TR_TRSTAT_RUN_H

#include "cmd/trstat/histogram.h"
#include "cmd/trstat/pair_list.h"
#include "cmd/trstat/table.h"
#include "common/cli/stage.h"
#include "common/pairs/keys.h"
#include "common/pairs/pair.h"
#include "common/value/moment.h"

struct calls_counts;
struct statistics;

/* --- the query that the options describe --- */

enum view {
	VIEW_TABLE,
	VIEW_TREE,
	VIEW_CALLERS,
	VIEW_CALLEES,
	VIEW_HIST,
	VIEW_TIMELINE,
	VIEW_HEATMAP,
	VIEW_SLOWEST,
	VIEW_UNPAIRED,
	VIEW_WHY,
	VIEW_EXPLAIN_TAIL,
	VIEW_REPORT,
};

enum { OWNED_TEXTS = 6 };

/* Options as given; NULL: not given. */
struct stat_settings {
	const char *keys, *columns, *sort;
	const char *otherwise; /* default columns of a table; NULL: the usual ones */
	enum table_format format;
	uint64_t limit;	       /* 0: all */
	bool limited;	       /* limit is given */
	unsigned jobs;	       /* -j; 0: not given */
	struct screen *screen; /* the caller's, never NULL */
	bool bounds, strict, partial, merge;
	bool empty_ok; /* a condition of --fail-if without a value is false */
	enum view view;
	const char *view_option; /* name of the view's option */
	const char *pair;
	bool cover;	      /* pair is --cover's */
	const char *title;    /* of -t svg */
	const char *interval; /* -i */
	bool wall;
	const char *where;
	struct moment since, until;
	const char *view_argument; /* of --callers, --hist, --timeline, --heatmap, --why,
				      --explain-tail ... */
	/* --explain-tail: which calls are slow, as given and from 0 to 1; level of significance */
	const char *quantile_text;
	double quantile, alpha;
	char *owned[OWNED_TEXTS]; /* texts from a summary; to be freed with stat_settings_free */
};

void stat_settings_free(struct stat_settings *s);

struct query {
	const struct stat_settings *settings;
	struct keys keys;
	struct columns columns;
	struct sort sort;
	struct pair pair; /* where settings->pair is given */
	struct hist hist; /* VIEW_HIST, VIEW_HEATMAP */
	size_t slowest;	  /* VIEW_SLOWEST: number of calls or pairs */
	/* or that of VIEW_WHY, VIEW_EXPLAIN_TAIL; without a root: every row counts */
	struct condition where;
	struct time_window window;
	struct pair_list pair_list; /* VIEW_SLOWEST of pairs, VIEW_UNPAIRED */
	uint64_t width;		    /* VIEW_TIMELINE, VIEW_HEATMAP: width of a bucket */
	/* number of first columns that are the default's, which a table leaves out where they are
	   empty in all rows; 0 for pairs, which have times */
	size_t optional;
	size_t usual; /* number of first columns that -c does not name */
	size_t shown; /* number of keys printed as such: all but those that a view has added */
	/* after query_add_type: the settings with that key; to be freed */
	struct stat_settings typed;
	char *typed_keys;
};

/* Test whether the key type must be added: the stream has declared samples of several types, whose
 * weights are not added up. */
bool query_mixes_samples(const struct query *q, const struct dictionary *d);
/* Make the query again with that key, after those that were given. No row was counted yet. Returns
 * -1 with e filled. */
int query_add_type(struct query *q, struct error *e);

/* Get the option that limits the calls and events that count; NULL: none. */
const char *settings_selection(const struct stat_settings *s);

/* Make the query. Returns -1 with e filled; query_free in any case. settings must stay valid. */
int query_parse(struct query *q, const struct stat_settings *s, struct error *e);
void query_free(struct query *q);
/* Returns -1 with e filled if the query makes no sense for the clocks: units for one that counts
 * ticks, times without a unit for one that counts ns, or a sum of times of both. weights: those of
 * samples are times. */
int query_check_clocks(const struct query *q, const struct clocks *clocks, bool weights,
		       struct error *e);

/* Returns which arguments, return values or fields of events the query reads. */
enum reads_values query_reads_values(const struct query *q);

/* --- conditions of --fail-if --- */

/*
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
	/* when it was judged last: whether it was true, and the values of its columns */
	bool holds;
	char *values;
};

struct alarms {
	struct alarm *alarm;
	struct alarm_column *column;
	size_t count, ncolumns;
	bool judged; /* at least once */
};

/* Get the value of a column as conditions have it: thousandths are numbers with a fraction. */
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
/* Returns -1 with e filled if samples count several times in a column, or weights of different
 * types are added. */
int alarms_check_samples(const struct alarms *a, const struct query *q, const struct statistics *st,
			 struct error *e);
/* Returns -1 with e filled if a column needs its own groups, but there are no events to count. */
int alarms_check_keys(const struct alarms *a, struct error *e);

/* Returns -1 with e filled if an alarm makes no sense for the clocks of the events: it has a unit
 * for one that counts ticks, a time without a unit for one that counts ns, or is of several.
 * weights: those of samples are times. */
int alarms_check_clocks(const struct alarms *a, const struct clocks *clocks, bool weights,
			struct error *e);

/*
 * Refuses fields that no event of the streams read has, and in --fail-if all that the streams lack
 * for a condition (common/expr/declared.h); warns of names elsewhere.
 */

/* Check keys, columns, pairs and conditions at the end of the input. The fault is an error of the
 * stage; with a damaged input, which may lack declarations, a warning; with a part of a stream
 * nothing. Returns 0, or -1 after stage_fail. */
int query_check_names(struct stage *stage, const struct query *q, struct alarms *alarms);
/* The same for one input of several. file: its name for messages, or NULL; alarms may be NULL.
 * warned: the warnings so far, which are not printed again. Returns 0, or -1 with e filled. */
int query_check_names_of(struct stage *stage, const char *file, const struct query *q,
			 struct alarms *alarms, struct intern *warned, struct error *e);

/* --- one query over the blocks of a stream; several count the same blocks --- */

struct counting {
	struct stage *stage;
	struct query *query;
	struct statistics *statistics; /* zeroed before the first block; to be freed */
	struct alarms *alarms;
	struct monitor *monitor; /* NULL: no intervals */
	bool begun;		 /* a block of events was read */
};

/* Take a block of any kind. Returns -1 with e filled if the query has no meaning for the events, or
 * when out of memory with e->what empty. */
int counting_block(struct counting *c, const struct block *b, struct error *e);
/* End the trace, and get its table. order: memory for its order. Returns -1 when out of memory. */
int counting_table(struct counting *c, struct table *t, struct sort *order);

/* Run what the options ask for. With --merge q is made here. */
void run_query(struct stage *stage, struct stat_settings *settings, struct query *q,
	       struct alarms *alarms, int argc, char **argv);

/*
 * -i: a table for each interval of time, while the trace is read.
 *
 * Intervals of trace time begin at multiples of their width; a late event, whose interval was
 * printed already, counts in the present one. So where reading begins inside a stream, the first
 * interval is that of the highest time before. A call belongs to the interval that has its leave.
 * Intervals without events are left out. Intervals of the wall clock are printed when they are
 * over, with or without events, also while the input is silent.
 */

struct monitor {
	const char *words; /* as the user gave the width */
	bool wall;
	uint64_t width; /* 0: the trace's clock is not known yet */
	struct interval now;
	bool begun;
	uint64_t latest; /* highest time of rows before those that are read, from calls_restore */
	/* a summary: intervals are not printed, they are CELL_INTERVAL of the groups */
	bool keyed;
	struct statistics *statistics;
	struct alarms *alarms;
	struct reader *in;
	/* Print the statistics, after statistics_show. Returns true if the program must stop. */
	bool (*print)(void *ctx, const struct interval *interval);
	void *ctx;
	uint64_t next; /* wall clock: end of the interval, CLOCK_MONOTONIC */
	bool out_of_memory, stop;
};

/* Take the times of a SNAPSHOT, before its calls are open. */
void monitor_restore(struct monitor *m, const struct block *b);

/* Count the rows of a block. Returns -1 with m->out_of_memory or m->stop set, or with e filled. */
int monitor_block(struct monitor *m, const struct block *b, struct error *e);

/* Begin the interval of a SNAPSHOT without a row after it, before its calls are closed. Returns -1
 * with e filled. */
int monitor_end(struct monitor *m, struct error *e);
/* Forget the interval, because other parts of the trace follow. */
void monitor_restart(struct monitor *m);

/* Print a view that is not of groups, on the screen of the settings, by a function that returns -1
 * with e filled. Returns -1; the error is in stage. */
int view_print(struct stage *stage, const struct stat_settings *s,
	       int (*write)(void *ctx, const struct stat_settings *s, struct text *out,
			    struct error *e),
	       void *ctx);

/* --- the end of trstat: the table, notes on stderr, and the conditions of --fail-if --- */

/* Set STATUS_CONDITION if a condition is true, in an interval or (NULL) in everything; in
 * everything STATUS_FAILED if one is neither true nor false. */
void report_alarms(struct stage *stage, const struct query *q, const struct statistics *st,
		   struct alarms *alarms, const struct interval *interval);
/* Warn of a block that lacks some of the calls that it should open. */
void report_missed_calls(struct stage *stage, const struct block *b);
/* Warn of what is incomplete in the trace, and if it has no calls. */
void report_events(const struct stage *stage, const struct query *q,
		   const struct calls_counts *counts);

#endif
