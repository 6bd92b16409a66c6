/*
 * query.h - the query that the options describe: keys, columns, an order and a view
 */
#ifndef TR_TRSTAT_QUERY_H
#define TR_TRSTAT_QUERY_H

#include "cmd/trstat/table.h"
#include "common/stream/value.h"
#include "common/pairs/keys.h"
#include "common/pairs/pair.h"
#include "cmd/trstat/pair_list.h"
#include "cmd/trstat/histogram.h"
#include "cmd/trstat/tree.h"
#include "common/value/moment.h"

enum view {
	VIEW_TABLE,
	VIEW_TREE,
	VIEW_CALLERS,
	VIEW_CALLEES,
	VIEW_HIST,
	VIEW_TIMELINE,
	VIEW_SLOWEST,
	VIEW_UNPAIRED,
};

enum { OWNED_TEXTS = 6 };

/* Options as given; NULL: not given. */
struct stat_settings {
	const char *keys, *columns, *sort;
	const char *otherwise; /* default columns of a table; NULL: the usual ones */
	enum table_format format;
	uint64_t limit; /* 0: all */
	bool limited;	/* limit is given */
	bool wide, bounds, strict, partial, merge;
	bool empty_ok; /* a condition of --fail-if without a value is false */
	enum view view;
	const char *view_option; /* name of the view's option */
	const char *pair;
	const char *interval; /* -i */
	bool wall;
	const char *where;
	struct moment since, until;
	const char *view_argument; /* of --callers, --callees, --hist, --timeline */
	char *owned[OWNED_TEXTS];  /* texts from a summary; to be freed with stat_settings_free */
};

void stat_settings_free(struct stat_settings *s);

struct query {
	const struct stat_settings *settings;
	struct keys keys;
	struct columns columns;
	struct sort sort;
	struct pair pair;	/* where settings->pair is given */
	struct hist hist;	/* VIEW_HIST */
	size_t slowest;		/* VIEW_SLOWEST: number of calls or pairs */
	struct condition where; /* without a root: every row counts */
	struct time_window window;
	struct pair_list pair_list; /* VIEW_SLOWEST of pairs, VIEW_UNPAIRED */
	uint64_t width;		    /* VIEW_TIMELINE: width of a bucket */
	/* number of first columns that are the default's, which a table leaves out where they are
	   empty in all rows; 0 for pairs, which have times */
	size_t optional;
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

/* Returns the option that limits the calls and events that count; NULL: none. */
const char *settings_selection(const struct stat_settings *s);

/* Make the query. Returns -1 with e filled; query_free in any case. settings must stay valid. */
int query_parse(struct query *q, const struct stat_settings *s, struct error *e);
void query_free(struct query *q);
/* Returns -1 with e filled if the query makes no sense for the clocks: units for one that counts
 * ticks, times without a unit for one that counts ns, or a sum of times of both. weights: those of
 * samples are times. */
int query_check_clocks(const struct query *q, const struct clocks *clocks, bool weights,
		       struct error *e);

/* Resolve fields of columns for pairs (pair_columns). Returns -1 with e filled if columns of the
 * query are of pairs, which it does not count, or which its intervals would cut. */
int query_check_pairs(const struct query *q, struct columns *c, struct error *e);

/* Returns which arguments, return values or fields of events the query reads. */
enum reads_values query_reads_values(const struct query *q);
/* Returns true if the query compares or shows times of events. */
bool query_has_times(const struct query *q);

/* Returns the table of a query, without its groups. */
struct table query_table(const struct query *q);

/* Write the view or the table. Returns -1 with e filled. */
int query_write(struct query *q, const struct table *t, struct text *out, struct error *e);

#endif
