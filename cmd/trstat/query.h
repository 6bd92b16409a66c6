/*
 * query.h - what is asked for: options made into keys, columns, an order and a view
 */
#ifndef TR_TRSTAT_QUERY_H
#define TR_TRSTAT_QUERY_H

#include "cmd/trstat/table/columns.h"
#include "common/stream/bad_values.h"
#include "cmd/trstat/groups/keys.h"
#include "cmd/trstat/views/pair.h"
#include "cmd/trstat/table/sort.h"
#include "cmd/trstat/table/table.h"
#include "cmd/trstat/views/histogram.h"
#include "cmd/trstat/views/tree.h"

enum view {
	VIEW_TABLE,
	VIEW_TREE,
	VIEW_CALLERS,
	VIEW_CALLEES,
	VIEW_HIST,
	VIEW_TIMELINE,
	VIEW_SLOWEST,
};

/* The options as they were given, NULL where not. */
struct settings {
	const char *keys, *columns, *sort;
	const char *otherwise; /* columns of a table where none are asked for; NULL: as ever */
	enum table_format format;
	size_t limit;
	bool wide, bounds, strict, partial, merge;
	enum view view;
	const char *view_option; /* its name */
	const char *pair;
	const char *interval; /* -i */
	bool wall;
	const char *view_argument; /* of --callers, --callees, --hist, --timeline */
	char *owned[4];		   /* those that a summary said; to be freed */
};

struct query {
	const struct settings *settings;
	struct keys keys;
	struct columns columns;
	struct sort sort;
	struct pair pair; /* where settings->pair is given */
	struct hist hist; /* VIEW_HIST */
	size_t slowest;	  /* VIEW_SLOWEST: how many */
	uint64_t width;	  /* VIEW_TIMELINE: of a bucket */
	size_t shown;	  /* keys that are shown as such: all but what a view has added */
};

/* -1 with e naming what is wrong; query_free in any case. settings must stay. */
int query_parse(struct query *q, const struct settings *s, struct error *e);
void query_free(struct query *q);

/* Does it look at arguments, return values or fields of events, and of which? */
enum reads_values query_reads_values(const struct query *q);
/* Does it compare times of events, or show them? */
bool query_has_times(const struct query *q);

/* What the table of a query is, apart from its groups. */
struct table query_table(const struct query *q);

/* The view or the table onto out. -1 with e. */
int query_write(const struct query *q, const struct table *t, struct text *out, struct error *e);

#endif
