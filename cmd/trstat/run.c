/*
 * run.c - a run of trstat: its query, the conditions of --fail-if, and the tables or views of it
 *
 *     trstat -k name -c count,p99 --fail-if 'p99(name == "commit") > 5ms' a.trs
 */
#include "common/calls/call_stacks.h"
#include "common/cli/stage.h"
#include "common/cli/workers.h"
#include "common/expr/declared.h"
#include "common/stream/index.h"
#include "cmd/trstat/run.h"
#include "cmd/trstat/explain_tail.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/trstat/statistics.h"
#include "cmd/trstat/report.h"
#include "cmd/trstat/slowest.h"
#include "cmd/trstat/summary.h"
#include "cmd/trstat/timeline.h"
#include "cmd/trstat/tree.h"
#include "cmd/trstat/why.h"
#include "common/expr/expression.h"
#include "common/pairs/flows.h"
#include "common/picture/svg.h"
#include "common/util/output.h"
#include "common/util/stack_limit.h"
#include "common/value/units.h"
#include "common/util/screen.h"

/* --- the query that the options describe --- */

/* Get the list of keys: those of -g, or otherwise if not given, and those that the view
 * adds. NULL: out of memory. */
static char *key_list(const struct stat_settings *s, const char *otherwise, const char *added)
{
	const char *keys = s->keys ? s->keys : otherwise;
	char *list;

	if (asprintf(&list, "%s%s%s", keys, *keys && *added ? "," : "", added) < 0)
		return NULL;
	return list;
}

/* Give a preset's key that is in a list by its heading, as lock_addr, the key's alternatives,
 * lock_addr|uaddr|args[0]. The list is freed; NULL: out of memory. */
static char *add_alternatives(char *list, const char *key)
{
	size_t heading = strcspn(key, "|"), n;
	const char *item = list;
	char *more = NULL;

	while (*item && ((n = keys_item_length(item)) != heading || memcmp(item, key, n) != 0))
		item += n + (item[n] == ',');
	if (!*item || !key[heading])
		return list;
	if (asprintf(&more, "%.*s%s%s", (int)(item - list), list, key, item + heading) < 0)
		more = NULL;
	free(list);
	return more;
}

static int parse_keys(struct query *q, const char *otherwise, const char *added, struct error *e)
{
	const char *of_pair = q->pair.preset ? q->pair.preset->keys : "";
	char *list;
	int r;

	if (q->settings->pair && !q->pair.watch.put && !q->keys.each_frame)
		otherwise = of_pair;
	list = key_list(q->settings, otherwise, added);
	if (list)
		list = add_alternatives(list, of_pair);
	r = list ? keys_parse(&q->keys, list, e) : error_no_memory(e);
	free(list);
	q->shown = q->keys.count - (*added != 0);
	return r;
}

/* Parse -c: a list of columns, or with "+" columns beside those of otherwise. */
static int parse_column_list(struct query *q, const char *otherwise, struct error *e)
{
	const char *list = q->settings->columns;
	char *both;
	int r;

	if (!list || *list != '+')
		return columns_parse(&q->columns, list ? list : otherwise, e);
	if (asprintf(&both, "%s,%s", otherwise, list + 1) < 0)
		return error_no_memory(e);
	r = columns_parse(&q->columns, both, e);
	free(both);
	return r;
}

/* Parse -c and -s; -s by columns and the first keys. The default columns include count, and in
 * tables total, by which they are sorted wherever it is among them: count of pairs is before it. */
static int parse_columns(struct query *q, const char *otherwise, size_t keys, struct error *e)
{
	const struct stat_settings *s = q->settings;
	bool own = s->columns && *s->columns != '+';
	const char *first;

	if (parse_column_list(q, otherwise, e))
		return -1;
	for (const char *p = own ? "" : otherwise; *p; p += *p == ',') {
		p += keys_item_length(p);
		q->usual++;
	}
	q->optional = s->pair ? 0 : q->usual;
	first = !own && strstr(otherwise, "total") ? "total" : q->columns.column[0].name;
	if (sort_parse(&q->sort, s->sort ? s->sort : first, q->keys.names, keys, &q->columns, e))
		return -1;
	return s->sort || own ? 0
			      : sort_parse(&q->sort, "count", q->keys.names, keys, &q->columns, e);
}

static int parse_tree(struct query *q, struct error *e)
{
	q->keys.each_frame = q->settings->pair;
	return parse_keys(q, "", "stack", e) ||
	       parse_columns(q,
			     q->settings->format == TABLE_ALIGNED ? "total,total%,self,count"
								  : "total,self,count",
			     0, e);
}

/* Add the percentiles' column, or for the key hist(F) the columns of F's extremes. */
static int parse_hist(struct query *q, struct error *e)
{
	const struct stat_settings *s = q->settings;
	const char *of = s->view_argument ? s->view_argument : "dur";
	bool self = !strcmp(of, "self");
	char *added = NULL, *columns = NULL;
	int bad = 0;

	if (s->columns || s->sort)
		return error_set(e, NULL, NO_OFFSET, "-%c does not go with --hist",
				 s->columns ? 'c' : 's');
	q->hist = (struct hist){.of = of};
	if (!strcmp(of, "dur")) {
		q->hist.duration = true;
		return parse_keys(q, "", "", e) || columns_parse(&q->columns, "p50", e);
	}
	q->hist.keyed = true;
	q->hist.duration = self;
	q->hist.min = 0;
	q->hist.max = 1;
	q->hist.sum = 2;
	if (asprintf(&added, "hist(%s)", of) < 0)
		added = NULL;
	if (self)
		columns = strdup("self_min,self_max,self");
	else if (asprintf(&columns, "min(%s),max(%s),sum(%s)", of, of, of) < 0)
		columns = NULL;
	if (!added || !columns)
		bad = error_no_memory(e);
	else
		bad = parse_keys(q, "", added, e) || columns_parse(&q->columns, columns, e);
	if (!bad && !self)
		q->hist.duration = q->columns.wanted.field[0].state >= 0;
	free(added);
	free(columns);
	return bad;
}

/* Parse the keys of a view over time: buckets of its width. */
static int parse_buckets(struct query *q, const char *usual, struct error *e)
{
	const struct stat_settings *s = q->settings;
	int64_t ns;
	char *added;
	int bad;

	if (parse_time(s->view_argument, &ns) || ns <= 0)
		return error_set(e, NULL, NO_OFFSET, "--%s takes a time such as 10ms, not '%.64s'",
				 s->view_option, s->view_argument);
	if (asprintf(&added, "bucket(time,%s)", s->view_argument) < 0)
		return error_no_memory(e);
	bad = parse_keys(q, usual, added, e);
	free(added);
	if (bad)
		return -1;
	q->width = q->keys.key[q->keys.count - 1].width;
	return 0;
}

static int parse_timeline(struct query *q, struct error *e)
{
	return parse_buckets(q, "name", e) || parse_columns(q, "count", q->shown, e) ? -1 : 0;
}

static int parse_heatmap(struct query *q, struct error *e)
{
	const struct stat_settings *s = q->settings;

	if (s->columns || s->sort)
		return error_set(e, NULL, NO_OFFSET, "-%c does not go with --heatmap",
				 s->columns ? 'c' : 's');
	q->hist = (struct hist){.of = "dur", .duration = true};
	return parse_buckets(q, "", e) || columns_parse(&q->columns, "p50", e) ? -1 : 0;
}

/* Refuse a width of --timeline or --heatmap that a clock has no meaning for. */
static int check_buckets(const struct query *q, const struct clocks *clocks, struct error *e)
{
	const char *width = q->settings->view_argument;
	char option[16];

	snprintf(option, sizeof option, "--%.12s", q->settings->view_option);
	return (clocks->ticks && time_check_clock(NULL, option, width, true, e)) ||
			       (clocks->times && time_check_clock(NULL, option, width, false, e))
		       ? -1
		       : 0;
}

/* Returns -1 with e filled if a column has times, and the events had both times and ticks. */
static int columns_check_clocks(const struct columns *c, const struct clocks *clocks,
				struct error *e)
{
	for (size_t i = 0; i < c->count; i++) {
		enum column_unit unit = column_unit(&c->column[i]);

		if (unit == UNIT_DURATION || unit == UNIT_TIME ||
		    c->column[i].type->part == PART_WHOLE)
			return clocks_check(clocks, CLOCKS_HINT, e);
	}
	return 0;
}

/* Refuse columns that make no sense for a clock that counts ticks: rate. */
static int columns_check_ticks(const struct columns *c, struct error *e)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->column[i].type->flags & COLUMN_RATE)
			return error_set(e, NULL, NO_OFFSET, "no rate: the clock counts ticks");
	}
	return 0;
}

int query_check_clocks(const struct query *q, const struct clocks *clocks, bool weights,
		       struct error *e)
{
	if (columns_check_clocks(&q->columns, clocks, e) ||
	    (clocks->ticks && columns_check_ticks(&q->columns, e)) ||
	    (q->width && check_buckets(q, clocks, e)) || keys_check_clocks(&q->keys, clocks, e) ||
	    pair_check_clocks(&q->pair, clocks->ticks, clocks->times, e) ||
	    condition_check_clocks(&q->where,
				   q->settings->view == VIEW_WHY ? "--why"
				   : q->settings->where		 ? "--where"
								 : "--explain-tail",
				   clocks, weights, e))
		return -1;
	return 0;
}

/* Parse the columns that the list of the slowest calls has besides its own: states. */
static int parse_slowest_columns(struct query *q, struct error *e)
{
	const char *text = q->settings->columns;
	const struct columns *c = &q->columns;
	bool bad = *text != '+';

	if (!bad && columns_parse(&q->columns, text + 1, e))
		return -1;
	for (size_t i = 0; i < c->count && !bad; i++) {
		const struct wanted_field *f = &c->wanted.field[c->column[i].field];

		bad = !(c->column[i].type->flags & COLUMN_OF_FIELD) || f->state < 0 ||
		      strcmp(f->name, c->column[i].name) != 0;
	}
	return bad ? error_set(e, NULL, NO_OFFSET,
			       "-c '%.64s': --slowest has columns of its own, to which states can "
			       "be added, such as -c +running,runnable",
			       text)
		   : 0;
}

/* Refuse what is about groups: a list has none. */
static int parse_list(struct query *q, struct error *e)
{
	const struct stat_settings *s = q->settings;
	bool adds = s->columns && s->view == VIEW_SLOWEST && !s->pair;
	const char *other = s->keys				    ? "-g"
			    : s->columns && !adds		    ? "-c"
			    : s->sort				    ? "-s"
			    : s->limited && s->view == VIEW_SLOWEST ? "-n"
								    : NULL;

	if (s->view == VIEW_UNPAIRED && !s->pair)
		return error_set(e, NULL, NO_OFFSET, "--unpaired goes with --pair");
	if (other)
		return error_set(e, NULL, NO_OFFSET, "%s does not go with --%s", other,
				 s->view_option);
	if (s->pair && (s->partial || s->merge))
		return error_set(e, NULL, NO_OFFSET, "--%s of pairs does not go with --%s",
				 s->view == VIEW_SLOWEST ? "slowest" : "unpaired",
				 s->partial ? "partial" : "merge");
	if (s->pair)
		pair_list_watch(&q->pair_list, &q->pair);
	return parse_keys(q, "", "", e) ||
	       (adds ? parse_slowest_columns(q, e) : columns_parse(&q->columns, "count", e));
}

static int parse_slowest(struct query *q, struct error *e)
{
	const struct stat_settings *s = q->settings;
	char *end;

	q->slowest = strtoul(s->view_argument, &end, 10);
	if (*s->view_argument < '1' || *s->view_argument > '9' || *end || q->slowest > 1000000)
		return error_set(e, NULL, NO_OFFSET,
				 "--slowest takes a number of calls from 1 to 1000000, not '%s'",
				 s->view_argument);
	q->pair_list.limit = q->slowest;
	return parse_list(q, e);
}

/* Intervals need rows that are complete at once and sequential. */
static int check_interval(const struct stat_settings *s, struct error *e)
{
	if (s->view_option)
		return error_set(e, NULL, NO_OFFSET, "-i does not go with --%s", s->view_option);
	if (s->format == TABLE_JSON || s->format == TABLE_PROM)
		return error_set(e, NULL, NO_OFFSET, "-i does not go with -t %s",
				 s->format == TABLE_JSON ? "json; use ndjson" : "prom");
	return 0;
}

void stat_settings_free(struct stat_settings *s)
{
	for (int i = 0; i < OWNED_TEXTS; i++)
		free(s->owned[i]);
}

/* Resolve b.F in columns such as sum(b.F), which are of the pair's B. Returns -1 with e filled for
 * a.F, and for tid, pid and comm where these keys are not of B. */
static int pair_columns(const struct pair *p, struct columns *c, struct error *e)
{
	bool task = p->preset && p->preset->task;

	for (uint32_t i = 0; i < c->wanted.field_count; i++) {
		struct wanted_field *f = &c->wanted.field[i];

		if (f->checked)
			continue;
		f->checked = true;
		if (!strncmp(f->name, "b.", 2) && f->name[2])
			memmove(f->name, f->name + 2, strlen(f->name) - 1);
		else if (!strncmp(f->name, "a.", 2) ||
			 (task && (!strcmp(f->name, "tid") || !strcmp(f->name, "pid") ||
				   !strcmp(f->name, "comm"))))
			return error_set(e, NULL, NO_OFFSET,
					 "columns of pairs take fields of the second event, such "
					 "as b.%.64s; use %.64s as a key of -g",
					 f->name + (f->name[1] == '.' ? 2 : 0), f->name);
	}
	return 0;
}

/* Returns -1 with e filled if a column is of pairs. */
static int columns_refuse_pairs(const struct columns *c, struct error *e)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->column[i].type->flags & COLUMN_OF_PAIRS)
			return error_set(e, NULL, NO_OFFSET, "the column %s goes with --pair",
					 c->column[i].name);
	return 0;
}

/* Returns -1 with e filled if a column is of memory, or is of a whole trace, and the pairs are
 * not. */
static int query_check_memory(const struct query *q, const struct columns *c, struct error *e)
{
	const struct stat_settings *s = q->settings;
	bool memory = pair_is_memory(&q->pair);

	for (size_t i = 0; i < c->count && !memory; i++)
		if (c->column[i].type->flags & COLUMN_OF_MEMORY)
			return error_set(e, NULL, NO_OFFSET,
					 "the column %s goes with --pair alloc, kmem or pages",
					 c->column[i].name);
	for (uint32_t i = 0; i < c->wanted.field_count && memory; i++)
		if (!strcmp(c->wanted.field[i].name, "left") ||
		    !strcmp(c->wanted.field[i].name, "outstanding"))
			return error_set(e, NULL, NO_OFFSET,
					 "%s is a column of groups, no field of events: write %s "
					 "without a function, and -g '' for the sum of all",
					 c->wanted.field[i].name, c->wanted.field[i].name);
	if (memory && s->where)
		return error_set(e, NULL, NO_OFFSET,
				 "--where does not go with --pair %s, as what was not freed has no "
				 "second event; use a key of -g",
				 q->pair.preset->name);
	if (memory && (s->partial || s->merge))
		return error_set(e, NULL, NO_OFFSET,
				 "--%s does not go with --pair %s, whose memory may last from one "
				 "part to the next",
				 s->partial ? "partial" : "merge", q->pair.preset->name);
	if (q->pair.preset && q->pair.preset->files && (s->partial || s->merge))
		return error_set(e, NULL, NO_OFFSET,
				 "--%s does not go with --pair fs: a part of a trace does not know "
				 "which files were opened before",
				 s->partial ? "partial" : "merge");
	return 0;
}

/* Resolve fields of columns for pairs (pair_columns). Returns -1 with e filled if columns of the
 * query are of pairs, which it does not count, or which its intervals would cut. */
static int query_check_pairs(const struct query *q, struct columns *c, struct error *e)
{
	struct error why;

	if ((q->settings->pair && pair_columns(&q->pair, c, e)) || query_check_memory(q, c, e))
		return -1;
	if (!columns_refuse_pairs(c, &why) || (q->settings->pair && !q->settings->interval))
		return 0;
	if (!q->settings->pair)
		return error_set(e, NULL, NO_OFFSET, "%s", why.what);
	return error_set(e, NULL, NO_OFFSET,
			 "columns of the time or memory of pairs do not go with -i; use the key "
			 "bucket(time,%.64s)",
			 q->settings->interval);
}

const char *settings_selection(const struct stat_settings *s)
{
	return s->where ? "where" : s->since.from ? "since" : s->until.from ? "until" : NULL;
}

/* Refuse --where, --since and --until with what has no groups to choose rows for. */
static int query_check_selection(const struct stat_settings *s, struct error *e)
{
	const char *option = settings_selection(s);
	bool slowest = s->view == VIEW_SLOWEST &&
		       !(s->where && s->pair && !s->since.from && !s->until.from);
	bool alone =
		s->view == VIEW_UNPAIRED || s->view == VIEW_WHY || s->view == VIEW_EXPLAIN_TAIL;
	const char *other = slowest || alone	       ? s->view_option
			    : s->partial	       ? "partial"
			    : s->where && s->cover     ? "cover"
			    : !s->where && s->interval ? "interval"
						       : NULL;

	if (!option || !other)
		return 0;
	if (s->where && !strcmp(other, "cover"))
		return error_set(e, NULL, NO_OFFSET,
				 "--where does not go with --cover, whose sets are conditions");
	if (s->view == VIEW_WHY)
		return error_set(
			e, NULL, NO_OFFSET,
			"--%s does not go with --why, which needs all events; its condition "
			"chooses the calls, as in 'dur > 10ms && time > 12.5s'",
			option);
	return error_set(e, NULL, NO_OFFSET,
			 "--%s does not go with --%s; trfilter chooses events before this program",
			 option, other);
}

/* Parse the condition of --where, --why or --explain-tail. */
static int parse_where(struct query *q, struct error *e)
{
	bool why = q->settings->view == VIEW_WHY;
	bool view = why || q->settings->view == VIEW_EXPLAIN_TAIL;
	const char *text = view ? q->settings->view_argument : q->settings->where;

	if (!text)
		return 0;
	if (condition_parse_text(&q->where, text, e))
		return -1;
	if (q->where.keys.needs & NEEDS_STACK)
		return error_set(e, NULL, NO_OFFSET, "--%s cannot test the stack; trfilter can",
				 view ? q->settings->view_option : "where");
	if (why && keys_state(&q->where.keys))
		return error_set(e, NULL, NO_OFFSET,
				 "--why cannot test '%s', the time in a state; trfilter can",
				 keys_state(&q->where.keys));
	return 0;
}

/* Refuse what has no effect on --why and --explain-tail. */
static int parse_calls(struct query *q, struct error *e)
{
	const struct stat_settings *s = q->settings;
	bool why = s->view == VIEW_WHY;
	const char *other = s->keys		 ? "-g"
			    : s->columns	 ? "-c"
			    : s->sort		 ? "-s"
			    : s->limited && !why ? "-n"
			    : s->pair		 ? s->cover ? "--cover" : "--pair"
						 : NULL;

	if (other)
		return error_set(e, NULL, NO_OFFSET, "%s does not go with --%s", other,
				 s->view_option);
	if (s->limited && s->format == TABLE_FOLDED)
		return error_set(e, NULL, NO_OFFSET, "-n does not go with -t folded");
	if (s->partial || s->merge)
		return error_set(e, NULL, NO_OFFSET, "--%s does not go with --%s: %s",
				 s->view_option, s->partial ? "partial" : "merge",
				 why ? "a part of a trace does not know what its threads waited "
				       "for before"
				     : "a summary has no single calls to compare");
	return parse_keys(q, "", "", e) || columns_parse(&q->columns, "count", e);
}

/* Get the name of a key, of --where too, or of a column that is a state of calls, or NULL. */
static const char *query_state(const struct query *q)
{
	const char *name = keys_state(&q->where.keys);

	for (uint32_t i = 0; i < q->columns.wanted.field_count; i++)
		if (q->columns.wanted.field[i].state >= 0)
			name = q->columns.wanted.field[i].name;
	return keys_state(&q->keys) ? keys_state(&q->keys) : name;
}

/* Refuse what a part of a trace does not know, and a span of --cover does not have: states. */
static int refuse_states(const struct query *q, struct error *e)
{
	const char *name = query_state(q);

	if (!name)
		return 0;
	if (q->pair.cover)
		return error_set(e, NULL, NO_OFFSET,
				 "'%s' does not go with --cover, whose spans are of no thread",
				 name);
	return error_set(e, NULL, NO_OFFSET,
			 "'%s' does not go with --partial and --merge: a part of a trace does not "
			 "know what its threads did before",
			 name);
}

static int monitor_check(const char *words, bool wall, struct error *e);

/* Parse --pair or --cover. */
static int query_parse_pair(const struct query *q, struct pair *p, struct error *e)
{
	const char *text = q->settings->pair;

	if (q->settings->cover)
		return cover_parse(p, text, e);
	if (pair_parse(p, text, e))
		return -1;
	p->where = q->where.root ? &q->where : NULL;
	return 0;
}

/* Resolve keys for the pair, which is no call. */
static int query_pair_keys(const struct query *q, struct keys *k, struct error *e)
{
	if (pair_keys(&q->pair, k, e))
		return -1;
	if (!q->settings->cover && !pair_is_memory(&q->pair) &&
	    k->needs & (NEEDS_CALLER | NEEDS_LEVEL))
		return error_set(e, NULL, NO_OFFSET,
				 "pairs are not calls: they have no caller and no depth");
	return 0;
}

/* Refuse what needs single events, of which spans have none. */
static int query_check_cover(const struct query *q, struct error *e)
{
	const struct stat_settings *s = q->settings;
	const char *other = !s->cover	  ? NULL
			    : s->partial  ? "partial"
			    : s->merge	  ? "merge"
			    : s->interval ? "interval"
			    : s->view == VIEW_TABLE || s->view == VIEW_HIST ||
					    s->view == VIEW_TIMELINE || s->view == VIEW_HEATMAP
				    ? NULL
				    : s->view_option;

	if (other)
		return error_set(e, NULL, NO_OFFSET, "--%s does not go with --cover, %s", other,
				 s->interval ? "whose spans the key bucket(time,T) divides"
				 : s->partial || s->merge
					 ? "whose spans may last from one part to the next"
					 : "whose spans are of no event");
	if (s->cover && q->columns.wanted.field_count)
		return error_set(e, NULL, NO_OFFSET,
				 "--cover has no columns of fields, as its spans are of no event");
	return 0;
}

/* Make the query of the conditions of a report, whose sections have queries of their own. */
static int parse_report(struct query *q, struct error *e)
{
	const struct stat_settings *s = q->settings;
	const char *other = s->keys	  ? "-g"
			    : s->columns  ? "-c"
			    : s->sort	  ? "-s"
			    : s->limited  ? "-n"
			    : s->cover	  ? "--cover"
			    : s->where	  ? "--where"
			    : s->bounds	  ? "--bounds"
			    : s->partial  ? "--partial"
			    : s->merge	  ? "--merge"
			    : s->interval ? "-i"
					  : NULL;

	if (other)
		return error_set(e, NULL, NO_OFFSET, "%s does not go with --report", other);
	return parse_keys(q, "name", "", e) ||
	       parse_columns(q, "total,self,count,avg,p50,p99,max", q->keys.count, e);
}

int query_parse(struct query *q, const struct stat_settings *s, struct error *e)
{
	int bad = 0;

	*q = (struct query){.settings = s, .window = {.since = s->since, .until = s->until}};
	if (query_check_selection(s, e) || moment_check_range(&s->since, &s->until, e) ||
	    parse_where(q, e))
		return -1;
	if (s->format == TABLE_PROM && s->view != VIEW_TABLE && s->view != VIEW_HIST)
		return error_set(e, NULL, NO_OFFSET, "-t prom does not go with --%s",
				 s->view_option);
	if (s->interval && (monitor_check(s->interval, s->wall, e) || check_interval(s, e)))
		return -1;
	if (s->wall && !s->interval)
		return error_set(e, NULL, NO_OFFSET, "--wall goes with -i");
	if (s->pair && query_parse_pair(q, &q->pair, e))
		return -1;
	switch (s->view) {
	case VIEW_TABLE:
		bad = parse_keys(q, "name", "", e) ||
		      parse_columns(q,
				    s->otherwise ? s->otherwise
				    : s->cover	 ? "busy,util,count,avg,max"
				    : pair_is_memory(&q->pair)
					    ? "outstanding,left,bytes,count,avg,max"
				    : s->pair ? "count,total,avg,p50,p90,p99,max"
					      : "total,self,count,avg,p50,p99,max",
				    q->keys.count, e);
		break;
	case VIEW_TREE:
	case VIEW_CALLERS:
	case VIEW_CALLEES: bad = parse_tree(q, e); break;
	case VIEW_HIST: bad = parse_hist(q, e); break;
	case VIEW_TIMELINE: bad = parse_timeline(q, e); break;
	case VIEW_HEATMAP: bad = parse_heatmap(q, e); break;
	case VIEW_SLOWEST: bad = parse_slowest(q, e); break;
	case VIEW_UNPAIRED: bad = parse_list(q, e); break;
	case VIEW_WHY:
	case VIEW_EXPLAIN_TAIL: bad = parse_calls(q, e); break;
	case VIEW_REPORT: bad = parse_report(q, e); break;
	}
	bad = bad || (s->pair &&
		      (query_pair_keys(q, &q->keys, e) || query_pair_keys(q, &q->where.keys, e)));
	bad = bad || query_check_pairs(q, &q->columns, e) || query_check_cover(q, e);
	q->keys.whole_stacks = s->partial || s->view != VIEW_TABLE;
	if (!bad && q->pair.first && s->partial)
		bad = error_set(e, NULL, NO_OFFSET,
				"pairs from the first of several beginnings do not go with "
				"--partial: a part of a trace does not know those before");
	if (!bad && q->keys.wakers && s->partial)
		bad = error_set(e, NULL, NO_OFFSET,
				"keys of the event that wakes a thread, such as w.comm, do not go "
				"with --partial");
	if (!bad && (s->partial || s->merge || q->pair.cover))
		bad = refuse_states(q, e);
	if (!bad && s->bounds && !table_bounds(&q->columns))
		bad = error_set(e, NULL, NO_OFFSET,
				"--bounds has no effect: the columns are exact");
	return bad ? -1 : 0;
}

bool query_mixes_samples(const struct query *q, const struct dictionary *d)
{
	const struct type *first = NULL;
	bool several = false;

	if (q->typed_keys || q->settings->pair || q->settings->view == VIEW_SLOWEST ||
	    q->keys.by_type || query_state(q))
		return false;
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		if (t->kind != KIND_SAMPLE)
			continue;
		several |= first && first->name.number != t->name.number;
		first = t;
	}
	return several;
}

int query_add_type(struct query *q, struct error *e)
{
	struct stat_settings typed = *q->settings;
	struct time_window window = q->window;
	const char *usual = typed.view == VIEW_TABLE || typed.view == VIEW_TIMELINE ? "name" : "";
	char *keys = key_list(&typed, usual, "type");

	if (!keys)
		return error_no_memory(e);
	typed.keys = keys;
	q->window = (struct time_window){0};
	query_free(q);
	if (query_parse(q, &typed, e)) {
		free(keys);
		return -1;
	}
	q->window = window;
	q->typed = typed;
	q->typed_keys = keys;
	q->settings = &q->typed;
	return 0;
}

void query_free(struct query *q)
{
	free(q->typed_keys);
	q->typed_keys = NULL;
	key_condition_free(&q->where);
	time_window_free(&q->window);
	pair_free(&q->pair);
	pair_list_free(&q->pair_list);
	free(q->sort.key);
	q->sort = (struct sort){.key = NULL};
	columns_free(&q->columns);
	keys_free(&q->keys);
}

enum reads_values query_reads_values(const struct query *q)
{
	return q->settings->view == VIEW_SLOWEST || q->settings->view == VIEW_WHY ||
			       q->settings->view == VIEW_REPORT ||
			       q->settings->view == VIEW_EXPLAIN_TAIL || q->settings->pair ||
			       (q->keys.needs | q->where.keys.needs) & NEEDS_EVENT ||
			       q->columns.wanted.field_count
		       ? READS_ALL
		       : READS_NO_VALUES;
}

/* Write the view or the table. Returns -1 with e filled. */
static int query_write(struct query *q, const struct table *t, struct text *out, struct error *e)
{
	const struct stat_settings *s = q->settings;
	enum table_format format = s->format;

	switch (s->view) {
	case VIEW_TABLE: return table_write(t, format, out, e);
	case VIEW_TREE: return view_tree(t, TREE_ALL, NULL, format, out, e);
	case VIEW_CALLERS: return view_tree(t, TREE_CALLERS, s->view_argument, format, out, e);
	case VIEW_CALLEES: return view_tree(t, TREE_CALLEES, s->view_argument, format, out, e);
	case VIEW_HIST: return view_hist(t, &q->hist, format, out, e);
	case VIEW_TIMELINE: return view_timeline(t, q->width, format, out, e);
	case VIEW_HEATMAP: return view_heatmap(t, &q->hist, q->width, format, out, e);
	case VIEW_SLOWEST: /* of pairs; slowest.h writes calls */
	case VIEW_UNPAIRED:
	case VIEW_EXPLAIN_TAIL: /* explain_tail.h writes calls */
		if (pair_list_write(&q->pair_list, t, format, out))
			return error_no_memory(e);
		break;
	case VIEW_WHY: /* why.h */
	case VIEW_REPORT: /* report.h */ break;
	}
	return 0;
}

/* --- conditions of --fail-if --- */

/*
 * The language is that of common/expr/expression.h; its fields are
 *
 *     column [ "(" condition ")" ]
 *
 * A column covers all groups for which the condition (struct condition) is true; without a
 * condition, everything. Where the table's keys include those of the condition, the table's groups
 * are used. Otherwise events are grouped by the condition's keys a second time. So are samples
 * where a further key depends on their frames, as a sample counts in the groups of several
 * functions. Calls of several groups may be inside each other: the total of those that a condition
 * selects is that of a group of their own.
 */

static int check_columns(const struct declared *check, const struct columns *c, struct error *e)
{
	for (uint32_t i = 0; i < c->wanted.field_count; i++) {
		const struct wanted_field *f = &c->wanted.field[i];

		if (f->state >= 0 ? declared_state(check, f->name, e)
				  : !keys_has_name(f->name) &&
					    declared_field(check, f->name + f->quoted, false, e))
			return -1;
	}
	return 0;
}

/* Check the keys and columns of the table. The keys of a preset have alternatives for the events of
 * several recorders. */
static int check_table(const struct declared *check, const struct query *q, struct error *e)
{
	return ((!q->settings->pair || q->settings->keys) &&
		keys_check_names(check, &q->keys, e)) ||
			       check_columns(check, &q->columns, e)
		       ? -1
		       : 0;
}

/* Check what chooses the events that count. */
static int fail_if_check_selection(struct declared *check, const struct query *q, struct error *e)
{
	return (q->settings->pair && pair_check_names(check, &q->pair, e)) ||
			       key_condition_check_names(check, &q->where, e)
		       ? -1
		       : 0;
}

/* Check a column of --fail-if: its condition and its field. */
static int check_alarm(struct declared *check, struct alarm_column *c, const struct query *q,
		       struct error *e)
{
	const struct columns *columns = c->own ? &c->columns : &q->columns;
	const struct column *column = &columns->column[c->column];
	uint32_t remarks = check->warned->count;
	int bad = key_condition_check_names(check, &c->condition, e);

	if (!bad && column->type->flags & COLUMN_OF_FIELD) {
		const char *field = columns->wanted.field[column->field].name;

		bad = q->settings->pair && keys_has_name(field) ? 0
								: key_check_name(check, field, e);
	}
	c->remarked = check->warned->count > remarks;
	return bad;
}

int query_check_names_of(struct stage *stage, const char *file, const struct query *q,
			 struct alarms *alarms, struct intern *warned, struct error *e)
{
	struct declared check = {.dictionary = &stage->in.dictionary,
				 .offer = keys_offer_names,
				 .warned = warned,
				 .file = file,
				 .partial = stage->status != STATUS_OK,
				 .quiet = stage->options->quiet};
	struct error absent = {.what = ""};
	int bad;

	if (stage_part(stage))
		return 0;
	if (alarms && alarms->count && !check.partial && !q->settings->empty_ok)
		check.absent = &absent;
	bad = fail_if_check_selection(&check, q, e);
	/* keys know the request of an event, a condition that selects events does not */
	if (!q->settings->pair && flows_declared(&stage->in.dictionary))
		check.own = REQUEST_KEY;
	check.quiet = false; /* what concerns an alarm is printed with -q too */
	for (size_t i = 0; alarms && i < alarms->ncolumns && !bad; i++)
		bad = check_alarm(&check, &alarms->column[i], q, e);
	check.quiet = stage->options->quiet;
	check.absent = NULL;
	if (!bad && !absent.what[0])
		bad = check_table(&check, q, e);
	if (!bad && absent.what[0]) {
		*e = absent;
		return -1;
	}
	return bad ? -1 : 0;
}

int query_check_names(struct stage *stage, const struct query *q, struct alarms *alarms)
{
	struct intern warned = {0};
	struct error e;
	int bad;

	if (stage->status == STATUS_FAILED)
		return -1;
	bad = query_check_names_of(stage, NULL, q, alarms, &warned, &e);
	intern_free(&warned);
	return bad ? stage_fail(stage, &e) : 0;
}

/* --- the groups that conditions are tested on: the table's, or their own --- */

/* Returns true if the condition's keys are among k. */
static bool has_condition_keys(struct alarm_column *c, const struct keys *k)
{
	const struct keys *asked = &c->condition.keys;

	if (asked->by_type != k->by_type || (asked->needs ^ k->needs) & NEEDS_STACK)
		return false;
	for (size_t i = 0; i < asked->count; i++) {
		for (c->key[i] = 0; c->key[i] < k->count; c->key[i]++)
			if (!strcmp(k->names[c->key[i]], asked->names[i]))
				break;
		if (c->key[i] == k->count)
			return false;
	}
	return true;
}

/* Returns true if a sample counts in one group only, of those that the condition selects. */
static bool has_frame_keys(const struct alarm_column *c, const struct keys *k)
{
	for (size_t i = 0; i < k->count; i++) {
		size_t j = 0;

		while (j < c->condition.keys.count &&
		       strcmp(k->names[i], c->condition.keys.names[j]) != 0)
			j++;
		if (k->key[i].needs & NEEDS_FRAME && j == c->condition.keys.count)
			return false;
	}
	return true;
}

/* Make own groups of the rows that a condition selects. */
static int fail_if_begin_statistics(struct alarm_column *c, const struct query *q,
				    struct dictionary *d, const struct keys *keys,
				    const struct condition *where, struct error *e)
{
	c->own = true;
	if (columns_parse(&c->columns, c->name, e))
		return -1;
	if (q->settings->pair && query_parse_pair(q, &c->pair, e))
		return -1;
	c->statistics = calloc(1, sizeof(*c->statistics));
	if (!c->statistics || statistics_init(c->statistics, keys, &c->columns, d) ||
	    (q->settings->pair ? statistics_pair(c->statistics, &c->pair)
			       : where->root && statistics_where(c->statistics, where)))
		return error_no_memory(e);
	statistics_name_stacks(c->statistics, !q->settings->interval);
	return 0;
}

static int begin_own(struct alarm_column *c, const struct query *q, struct dictionary *d,
		     struct error *e)
{
	for (size_t i = 0; i < c->condition.keys.count; i++)
		c->key[i] = i;
	return fail_if_begin_statistics(c, q, d, &c->condition.keys, &q->where, e);
}

/* Test whether the condition selects at most one of the table's groups. */
static bool selects_one(const struct alarm_column *c, const struct keys *k)
{
	const struct node *n = c->condition.root;

	if (!n)
		return !k->count;
	return k->count == 1 && c->condition.keys.count == 1 &&
	       !strcmp(k->names[0], c->condition.keys.names[0]) && n->kind == NODE_COMPARE &&
	       node_equals_text(n);
}

/* Test whether a column is of calls that need a group of their own. With the key type every row
 * counts, and there are no calls without a leave. */
static bool is_united(const struct alarm_column *c, const struct query *q)
{
	const struct keys *k = &c->condition.keys;

	return c->united && !q->settings->pair && !q->settings->merge && !k->by_type &&
	       !(k->needs & NEEDS_STACK) && !selects_one(c, &q->keys);
}

/* Make a group of all calls that --where and the column's condition select. */
static int begin_united(struct alarm_column *c, const struct query *q, struct dictionary *d,
			struct error *e)
{
	static const struct keys none;
	const char *where = q->settings->where;
	char *both = NULL;
	int bad = 0;

	where = where ? expression_text(where, e) : NULL;
	if (c->text && where && asprintf(&both, "(%s) && (%s)", where, c->text) < 0)
		return error_no_memory(e);
	if (c->text || where)
		bad = condition_parse_text(&c->selected, both ? both : where ? where : c->text, e);
	free(both);
	return bad || fail_if_begin_statistics(c, q, d, &none, &c->selected, e) ? -1 : 0;
}

int alarms_begin(struct alarms *all, struct query *q, struct dictionary *d, struct error *e)
{
	for (size_t i = 0; i < all->ncolumns; i++) {
		struct alarm_column *c = &all->column[i];
		int column;

		if (q->settings->pair && pair_keys(&q->pair, &c->condition.keys, e))
			return -1;
		c->key = calloc(c->condition.keys.count + 1, sizeof(*c->key));
		if (!c->key)
			return error_no_memory(e);
		c->united = is_united(c, q);
		if (c->united) {
			if (begin_united(c, q, d, e))
				return -1;
			continue;
		}
		if (!has_condition_keys(c, &q->keys)) {
			if (begin_own(c, q, d, e) || query_check_pairs(q, &c->columns, e))
				return -1;
			continue;
		}
		column = columns_find(&q->columns, c->name, e);
		if (column < 0 || query_check_pairs(q, &q->columns, e))
			return -1;
		c->column = (size_t)column;
	}
	return 0;
}

/* Test whether a column of some condition is a time in a state, in groups of its own. */
static bool alarms_have_states(const struct alarms *all)
{
	bool have = false;

	for (size_t i = 0; i < all->ncolumns; i++)
		have |= all->column[i].statistics && all->column[i].statistics->states;
	return have;
}

/* Samples have no states: where a condition has some, their weights are not added to the times of
 * calls, in no column. */
static int alarms_without_samples(struct alarms *all, struct query *q, struct dictionary *d,
				  struct error *e)
{
	for (size_t i = 0; i < all->ncolumns; i++) {
		struct alarm_column *c = &all->column[i];

		if (!c->own && !query_state(q) && begin_own(c, q, d, e))
			return -1;
		if (c->statistics)
			c->statistics->no_samples = true;
	}
	return 0;
}

/* To be called before the first event of a stream that declares samples, and after the query's keys
 * have changed. Returns -1 with e filled, or when out of memory. */
static int alarms_begin_samples(struct alarms *all, struct query *q, struct dictionary *d,
				struct error *e)
{
	if (query_state(q) || alarms_have_states(all))
		return alarms_without_samples(all, q, d, e);
	for (size_t i = 0; i < all->ncolumns; i++) {
		struct alarm_column *c = &all->column[i];
		int column;

		if (c->united) {
			/* a sample counts as with the condition's keys */
			statistics_free(c->statistics);
			free(c->statistics);
			c->statistics = NULL;
			columns_free(&c->columns);
			c->columns = (struct columns){0};
			c->united = false;
			if (begin_own(c, q, d, e))
				return -1;
		}
		if (c->own)
			continue;
		if (!has_condition_keys(c, &q->keys) || !has_frame_keys(c, &q->keys)) {
			c->column = 0;
			if (begin_own(c, q, d, e))
				return -1;
			continue;
		}
		column = columns_find(&q->columns, c->name, e);
		if (column < 0)
			return -1;
		c->column = (size_t)column;
	}
	return 0;
}

int alarms_check_samples(const struct alarms *all, const struct query *q,
			 const struct statistics *st, struct error *e)
{
	for (size_t i = 0; i < all->ncolumns; i++) {
		const struct alarm_column *c = &all->column[i];
		const struct sample_counts *own = c->own ? &c->statistics->samples : NULL;

		if (!own && st->samples.type && !has_frame_keys(c, &q->keys))
			return error_set(e, NULL, NO_OFFSET,
					 "--fail-if '%s': a sample counts in a group for each of "
					 "its functions; %s a key without functions, such as -g "
					 "comm",
					 c->name,
					 q->settings->merge ? "write the summaries with" : "use");
		if (own && own->other && (c->unit == UNIT_DURATION || c->unit == UNIT_PERCENT))
			return error_set(e, NULL, NO_OFFSET,
					 "--fail-if '%s': weights of samples of '%.100s' and of "
					 "'%.100s' are not added; choose a type: '%s(type == "
					 "\"%.100s\")'",
					 c->name, own->type, own->other, c->name, own->type);
	}
	return 0;
}

int alarms_check_keys(const struct alarms *all, struct error *e)
{
	for (size_t i = 0; i < all->ncolumns; i++) {
		const struct alarm_column *c = &all->column[i];

		if (!c->own)
			continue;
		if (!c->condition.keys.count)
			return error_set(e, NULL, NO_OFFSET,
					 "--fail-if '%s': the summaries have the key type or "
					 "stack; write them without",
					 c->name);
		return error_set(e, NULL, NO_OFFSET,
				 "--fail-if '%s': the summaries are not by its key '%s'; write "
				 "them with -g",
				 c->name, c->condition.keys.names[0]);
	}
	return 0;
}

/* Returns true if a condition compares a key with a text by == or in. */
static bool names_key(const struct node *n)
{
	if (n->kind == NODE_NOT)
		return false;
	for (size_t i = 0; i < n->nchildren; i++)
		if (names_key(n->children[i]))
			return true;
	return node_equals_text(n);
}

/* Returns true for a key that is a name or a type. */
static bool fail_if_is_name(const struct key *k)
{
	return k->kind == BY_NAME || k->kind == BY_TYPE;
}

/* Returns true for a column that alarms_report_unmatched reports. */
static bool alarm_column_unmatched(const struct alarm_column *c)
{
	bool named = c->condition.root && names_key(c->condition.root);

	for (size_t k = 0; k < c->condition.keys.count; k++)
		named |= fail_if_is_name(&c->condition.keys.key[k]);
	return named && !c->matched;
}

/* Write some texts that groups have as a key of the condition: a name, else the first. */
static void list_texts(const struct alarm_column *c, const struct statistics *st, char *out,
		       size_t size)
{
	const struct keys *keys = &c->condition.keys;
	size_t key = 0, used = 0;

	while (key + 1 < keys->count && !fail_if_is_name(&keys->key[key]))
		key++;
	key = fail_if_is_name(&keys->key[key]) ? c->key[key] : c->key[0];
	*out = '\0';
	for (size_t i = 0; i < st->groups.count; i++) {
		const struct groups *g = &st->groups;
		const struct key_cell *cell = &groups_cells(g, groups_at(g, i))[key];
		const char *text;
		char quoted[48];
		size_t n;

		if (cell->kind != KEY_TEXT || !groups_cell_text(g, cell, &text, &n) || !n)
			continue;
		snprintf(quoted, sizeof quoted, " %.*s,", n < 40 ? (int)n : 40, text);
		if (used + strlen(quoted) < size && !strstr(out, quoted))
			used += (size_t)snprintf(out + used, size - used, "%s", quoted);
	}
	if (used)
		out[used - 1] = '\0';
}

/* Report columns whose condition is on names or types and selected no group of summaries. Returns
 * true if one of them compares with a name by == or in. */
static bool alarms_report_unmatched(const struct alarms *all, const struct statistics *st)
{
	bool names = false;

	for (size_t i = 0; i < all->ncolumns; i++) {
		const struct alarm_column *c = &all->column[i];
		bool nameless = statistics_nameless(st);
		char some[160] = "";

		if (!alarm_column_unmatched(c))
			continue;
		if (!nameless)
			list_texts(c, st, some, sizeof some);
		warn(NULL, NO_OFFSET,
		     "--fail-if '%s': no group of the summaries matches its condition%s%s%s",
		     c->name, *some ? "; there are" : "", some,
		     nameless ? "; functions have no names: run trsym before trstat --partial"
			      : "");
		names |= c->condition.root && names_key(c->condition.root);
	}
	return names;
}

static int alarms_block(struct alarms *all, const struct block *b)
{
	for (size_t i = 0; i < all->ncolumns; i++)
		if (all->column[i].own && statistics_block(all->column[i].statistics, b))
			return -1;
	return 0;
}

static int alarms_until(struct alarms *all, const struct block *b, struct events it, uint64_t end)
{
	for (size_t i = 0; i < all->ncolumns; i++) {
		struct events here = it;

		if (all->column[i].own &&
		    statistics_until(all->column[i].statistics, b, &here, end))
			return -1;
	}
	return 0;
}

static int alarms_window(struct alarms *all, const struct block *b, uint64_t since, uint64_t until)
{
	for (size_t i = 0; i < all->ncolumns; i++)
		if (all->column[i].own &&
		    statistics_window(all->column[i].statistics, b, since, until))
			return -1;
	return 0;
}

/* Call a function of statistics.h for all groups that are not the table's. */
static int alarms_each(struct alarms *all, int (*f)(struct statistics *s))
{
	for (size_t i = 0; i < all->ncolumns; i++)
		if (all->column[i].own && f(all->column[i].statistics))
			return -1;
	return 0;
}

/* --- parsing --- */

/* Test whether a name is that of a function of a field, as sum in sum(F). */
static bool takes_field(const char *name)
{
	struct columns columns = {0};
	struct error e;
	char text[32];
	bool takes = strlen(name) < sizeof(text) - 5;

	snprintf(text, sizeof(text), "%.20s(dur)", name);
	takes = takes && !columns_parse(&columns, text, &e);
	columns_free(&columns);
	return takes;
}

/* Returns true if a field and ")" follow the lexer's "(". */
static bool fail_if_is_field(const struct lexer *l)
{
	struct error e;
	struct lexer ahead = {.text = l->text, .at = l->at, .error = &e};
	bool is = !lexer_next(&ahead) && ahead.token.kind == TOKEN_NAME && !lexer_next(&ahead) &&
		  ahead.token.kind == TOKEN_CLOSE;

	lexer_free(&ahead);
	return is;
}

/* Parse "(condition)", if it follows. */
static int parse_condition(struct alarm_column *c, struct lexer *l)
{
	const char *text = l->text + l->at;

	if (l->token.kind != TOKEN_OPEN)
		return 0;
	if (lexer_next(l))
		return -1;
	if (l->token.kind != TOKEN_CLOSE && key_condition_parse(&c->condition, l))
		return -1;
	if (l->token.kind != TOKEN_CLOSE)
		return lexer_error(l, l->token.column, "')' is expected here");
	if (c->condition.root)
		c->text = strndup(text, (size_t)(l->token.text - text));
	if (c->condition.root && !c->text)
		return lexer_error(l, l->token.column, "out of memory");
	return lexer_next(l);
}

/* Parse a column as a field of the alarm's condition. */
static int parse_column(void *ctx, struct lexer *l, struct operand *o, bool quoted)
{
	struct alarms *all = ctx;
	struct alarm_column *grown, *c;
	struct columns column = {0};
	bool field = !quoted && l->token.kind == TOKEN_OPEN && takes_field(o->name) &&
		     fail_if_is_field(l);
	int bad;

	for (int i = 0; field && i < 3; i++)
		if (lexer_next(l))
			return -1;
	grown = reallocarray(all->column, all->ncolumns + 1, sizeof(*grown));
	if (!grown)
		return lexer_error(l, o->column, "out of memory");
	all->column = grown;
	c = &grown[all->ncolumns];
	*c = (struct alarm_column){0};
	o->field = (unsigned)all->ncolumns++;
	o->form = KNOWN_NUMBER;
	if (field) {
		/* as it is written, up to the ')' */
		const char *start = l->text + o->column - 1;
		const char *end = memchr(start, ')', strlen(start));

		c->name = strndup(start, (size_t)(end + 1 - start));
	} else {
		c->name = strdup(o->name);
	}
	if (!c->name)
		return lexer_error(l, o->column, "out of memory");
	bad = parse_condition(c, l) || columns_parse(&column, c->name, l->error);
	if (!bad) {
		c->unit = column_unit(&column.column[0]);
		c->united = column.wanted.totals && !column.wanted.whole;
	}
	o->of_time = !bad && (c->unit == UNIT_DURATION || c->unit == UNIT_TIME);
	o->of_percent = !bad && c->unit == UNIT_PERCENT;
	o->may_be_time = !bad && column_may_be_time(&column.column[0]);
	columns_free(&column);
	return bad ? -1 : 0;
}

/* Refuse a column alone, which is rather an incomplete condition. */
int fail_if_check_leaf(struct lexer *l, struct node *n, size_t column)
{
	if (n->kind != NODE_TRUTH || n->left->kind == OPERAND_ARITHMETIC)
		return 0;
	return lexer_error(l, column,
			   "a comparison is expected, as in 'p99(name == \"commit\") > "
			   "5ms'");
}

static const struct language language = {
	.field = parse_column,
	.leaf = fail_if_check_leaf,
	.no_calls = "under() and over() are trfilter's, which belongs before this program then",
};

/* Refuse a time that no column can be compared with. */
static int check_units(const struct alarms *all, const struct node *n, struct error *e)
{
	bool time = false;

	for (size_t i = 0; i < n->nchildren; i++)
		if (check_units(all, n->children[i], e))
			return -1;
	for (size_t i = 0; i < n->nfields; i++) {
		enum column_unit unit = all->column[n->fields[i]->field].unit;

		time |= unit == UNIT_DURATION || unit == UNIT_TIME;
	}
	if (!n->nfields || !n->time_unit || time)
		return 0;
	return error_set(e, NULL, NO_OFFSET, "--fail-if: %s is not a time",
			 all->column[n->fields[0]->field].name);
}

int alarms_add(struct alarms *all, const char *text, struct error *e)
{
	struct alarm *grown = reallocarray(all->alarm, all->count + 1, sizeof(*grown)), *a;
	struct language of_columns = language;

	if (!grown)
		return error_no_memory(e);
	all->alarm = grown;
	a = &grown[all->count++];
	*a = (struct alarm){.text = text, .first = all->ncolumns};
	of_columns.ctx = all;
	a->condition = expression_parse(text, &of_columns, e);
	a->end = all->ncolumns;
	return a->condition ? check_units(all, a->condition, e) : -1;
}

void alarms_free(struct alarms *all)
{
	for (size_t i = 0; i < all->ncolumns; i++) {
		struct alarm_column *c = &all->column[i];

		if (c->statistics)
			statistics_free(c->statistics);
		free(c->statistics);
		pair_free(&c->pair);
		columns_free(&c->columns);
		key_condition_free(&c->condition);
		key_condition_free(&c->selected);
		free(c->text);
		free(c->name);
		free(c->key);
	}
	for (size_t i = 0; i < all->count; i++) {
		expression_free(all->alarm[i].condition, &language);
		free(all->alarm[i].values);
	}
	free(all->column);
	free(all->alarm);
	*all = (struct alarms){0};
}

/* --- judging --- */

struct asked {
	const struct alarm_column *column;
	const struct key_cell *cells;
};

static const struct key_cell *group_cell(void *ctx, size_t key)
{
	const struct asked *asked = ctx;

	return &asked->cells[asked->column->key[key]];
}

struct scalar column_scalar(enum column_unit unit, struct column_value v)
{
	struct scalar s = {.form = SCALAR_REAL};
	int128 number = v.number;

	if (unit == UNIT_THOUSANDTHS || unit == UNIT_PERCENT) {
		s.real = v.fraction != 0 ? number_real(number, v.fraction) : (long double)number;
		s.real /= 1000;
	} else if (v.fraction != 0) {
		s.real = number_real(number, v.fraction);
		s.real_size = sizeof(double);
	} else if (number >= 0 && number <= (int128)UINT64_MAX) {
		s.form = SCALAR_UINT;
		s.u = (uint64_t)number;
	} else if (number < 0 && number >= INT64_MIN) {
		s.form = SCALAR_INT;
		s.i = (int64_t)number;
	} else {
		s.real = (long double)number;
	}
	return s;
}

/* Returns true if the trace has calls or samples, or declares them, or the groups have times of
 * them. */
static bool has_times(const struct statistics *st)
{
	if (declared_calls(st->dictionary, true))
		return true;
	for (size_t i = 0; i < st->groups.count; i++)
		if (aggregate_has_times(groups_at(&st->groups, i)))
			return true;
	return false;
}

/* Returns true if a column of an alarm is a time of a clock. */
static bool alarm_is_time(const void *alarms, unsigned column)
{
	return ((const struct alarms *)alarms)->column[column].unit == UNIT_TIME;
}

/* The same where durations are times too, not weights of samples. */
static bool alarm_is_any_time(const void *alarms, unsigned column)
{
	return alarm_is_time(alarms, column) ||
	       ((const struct alarms *)alarms)->column[column].unit == UNIT_DURATION;
}

int alarms_check_clocks(const struct alarms *all, const struct clocks *clocks, bool weights,
			struct error *e)
{
	expression_is_time *of_ticks = weights ? alarm_is_time : alarm_is_any_time,
			   *of_ns = clocks_durations(clocks) ? alarm_is_any_time : alarm_is_time;

	for (size_t i = 0; i < all->ncolumns; i++) {
		const struct alarm_column *c = &all->column[i];

		if (c->own && columns_check_clocks(&c->columns, clocks, e))
			return -1;
	}
	for (size_t i = 0; i < all->count; i++) {
		const struct node *n = all->alarm[i].condition;

		if ((clocks->ticks &&
		     expression_check_clock(n, "--fail-if", true, of_ticks, all, e)) ||
		    (clocks->times && expression_check_clock(n, "--fail-if", false, of_ns, all, e)))
			return -1;
	}
	for (size_t i = 0; i < all->ncolumns; i++) {
		const struct alarm_column *c = &all->column[i];

		if (condition_check_clocks(&c->condition, "--fail-if", clocks, weights, e) ||
		    (clocks->ticks && c->own && columns_check_ticks(&c->columns, e)))
			return -1;
	}
	return 0;
}

/* Set the sum of nothing to 0, unless the trace has not the kind of events that the column is of.
 * lacks: the trace has no events of the pair. */
static void settle_value(struct alarm_column *c, const struct column_type *t,
			 const struct statistics *st, bool lacks)
{
	bool times = t->flags & COLUMN_OF_TIMES && !st->pair;

	if (lacks)
		c->value.present = false;
	else if (!c->value.present && t->flags & COLUMN_SUM && (!times || has_times(st)))
		c->value = (struct column_value){.present = true};
}

/* Compute a column over all groups that its condition selects. Returns -1 when out of memory. */
static int compute_column(struct alarm_column *a, const struct columns *c,
			  const struct statistics *st)
{
	const struct groups *g = &st->groups;
	struct aggregate *sum = aligned_alloc(16, c->wanted.size);
	struct columns_run run = statistics_run(st, true);
	int bad = 0;

	if (!sum)
		return -1;
	memset(sum, 0, c->wanted.size);
	aggregate_init(sum, &c->wanted);
	for (size_t i = 0; i < g->count && !bad; i++) {
		struct aggregate *group = groups_at(g, i);
		struct asked asked = {a, groups_cells(g, group)};

		if (!a->united && !condition_holds(&a->condition, &g->texts, group_cell, &asked))
			continue;
		a->matched = true;
		bad = aggregate_merge(sum, group, &c->wanted);
	}
	a->value = column_value(c, &c->column[a->column], sum, &run);
	aggregate_free(sum, &c->wanted);
	free(sum);
	return bad;
}

static void give_column(void *ctx, struct operand *o, struct scalar *out)
{
	const struct alarms *all = ctx;
	const struct alarm_column *c = &all->column[o->field];

	if (c->value.present)
		*out = column_scalar(c->unit, c->value);
}

/* Set the texts of the values of an alarm's columns. Returns -1 when out of memory. */
static int set_values(const struct alarms *all, struct alarm *a, const struct query *q, bool ticks)
{
	struct buffer out = {0};
	int bad = 0;

	for (size_t i = a->first; i < a->end && !bad; i++) {
		const struct alarm_column *c = &all->column[i];
		const struct columns *columns = c->own ? &c->columns : &q->columns;
		char value[VALUE_SIZE];
		size_t n = format_column(value, &columns->column[c->column], c->value, ticks);

		bad = (i > a->first && buffer_puts(&out, ", ")) || buffer_append(&out, value, n);
	}
	free(a->values);
	a->values = bad || buffer_u8(&out, 0) ? NULL : (char *)out.data;
	if (!a->values)
		buffer_free(&out);
	return a->values ? 0 : -1;
}

/* Print the alarm on stderr with the values of its columns, and its interval if it has one. */
static void print_alarm(const struct alarm *a, const struct query *q,
			const struct interval *interval, bool ticks)
{
	char when[VALUE_SIZE];

	if (interval)
		format_interval(when, interval, ticks);
	screen_alarm(q->settings->screen, true);
	warn(NULL, NO_OFFSET, "%s%s%s is true: %s", interval ? when : "", interval ? ": " : "",
	     a->text, a->values);
	screen_alarm(q->settings->screen, false);
}

/* Compute all columns. Returns -1 when out of memory. */
static int compute_columns(struct alarms *all, const struct query *q, const struct statistics *st)
{
	char *lacks = st->pair && !st->pair->pairs ? pair_lacks(st->dictionary, st->pair) : NULL;
	int bad = 0;

	for (size_t i = 0; i < all->ncolumns && !bad; i++) {
		struct alarm_column *c = &all->column[i];
		const struct columns *columns = c->own ? &c->columns : &q->columns;
		const struct statistics *of = c->own ? c->statistics : st;

		bad = compute_column(c, columns, of);
		if (!bad && !q->settings->empty_ok)
			settle_value(c, columns->column[c->column].type, of, lacks);
	}
	free(lacks);
	return bad;
}

/* Answer a condition; ANSWER_LATER: it depends on a column that has no value. */
static enum answer answer_alarm(void *values, struct node *n)
{
	struct scalar left, right = {.form = SCALAR_UINT};

	if (expression_joined(n))
		return expression_join(n, answer_alarm, values);
	if (n->kind != NODE_HAS) {
		expression_value(values, n->left, &left);
		if (n->right)
			expression_value(values, n->right, &right);
		if (left.form == SCALAR_NONE || right.form == SCALAR_NONE)
			return ANSWER_LATER;
	}
	return expression_leaf(values, n) ? ANSWER_YES : ANSWER_NO;
}

/*
 * Evaluate the alarms, of an interval or (NULL) of everything. Returns whether some are true, which
 * are printed on stderr, with --quiet too.
 */
static enum outcome alarms_judge(struct alarms *all, const struct query *q,
				 const struct statistics *st, const struct interval *interval)
{
	const struct expression_values values = {.field = give_column, .ctx = all};
	enum outcome holds = OUTCOME_NO;

	all->judged = true;
	if (compute_columns(all, q, st))
		return OUTCOME_FAILED;
	for (size_t i = 0; i < all->count; i++) {
		struct alarm *a = &all->alarm[i];
		enum answer is = answer_alarm((void *)(uintptr_t)&values, a->condition);

		a->decided |= is != ANSWER_LATER;
		a->holds = is == ANSWER_YES;
		if (set_values(all, a, q, st->ticks))
			return OUTCOME_FAILED;
		if (is != ANSWER_YES)
			continue;
		holds = OUTCOME_YES;
		print_alarm(a, q, interval, st->ticks);
	}
	return holds;
}

/* Get the first column of an alarm that has no value; NULL: all have one. */
static const struct alarm_column *without_value(const struct alarms *all, const struct alarm *a)
{
	for (size_t i = a->first; i < a->end; i++)
		if (!all->column[i].value.present)
			return &all->column[i];
	return NULL;
}

/* Report the alarms that were neither true nor false, as columns had no value. To be called after
 * all calls of alarms_judge. Returns whether there are any. */
static bool alarms_report_undecided(const struct alarms *all, const struct query *q,
				    const struct statistics *st)
{
	char *lacks = st->pair && !st->pair->pairs ? pair_lacks(st->dictionary, st->pair) : NULL;
	bool ok = q->settings->empty_ok, any = false;

	for (size_t i = 0; i < all->count; i++) {
		const struct alarm *a = &all->alarm[i];
		const struct alarm_column *c = without_value(all, a);
		const struct columns *columns = c && c->own ? &c->columns : &q->columns;
		bool calls = c && !st->pair && !has_times(c->own ? c->statistics : st) &&
			     columns->column[c->column].type->flags &
				     (COLUMN_OF_CALLS | COLUMN_OF_TIMES);

		if (a->decided)
			continue;
		any = true;
		/* query_check_names had a line for it */
		if (c && c->remarked && !ok)
			continue;
		/* alarms_report_unmatched has a line for it */
		if (c && q->settings->merge && !q->settings->interval && st->groups.count &&
		    alarm_column_unmatched(c))
			continue;
		warn(NULL, NO_OFFSET, "--fail-if '%s': %s%s%s%s%s", a->text,
		     c ? c->name : "the result", c ? " has no value: " : " is not defined",
		     !c			 ? ""
		     : lacks		 ? "the trace has "
		     : calls		 ? "the trace has no calls"
		     : st->pair		 ? "no such pair was found"
		     : c->condition.root ? "no such call or event was counted"
					 : "no call or event was counted",
		     c && lacks ? lacks : "",
		     ok ? "; so the condition is false"
			: "; with --fail-if-empty=ok the condition is false then");
	}
	free(lacks);
	return any && !ok;
}

/* --- intervals --- */

enum { SECOND = 1000000000 };

static uint64_t clock_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static int run_parse_width(const char *words, uint64_t *width, struct error *e)
{
	int64_t t;

	if (parse_time(words, &t) || t <= 0)
		return error_set(e, NULL, NO_OFFSET,
				 "-i takes a time such as 2s or 500ms, not '%s'", words);
	*width = (uint64_t)t;
	return 0;
}

/* Returns -1 with e filled if words is not a width or, with wall, one of wall time. */
static int monitor_check(const char *words, bool wall, struct error *e)
{
	uint64_t width = 0;

	return run_parse_width(words, &width, e) ||
			       (wall && time_check_clock(NULL, "-i", words, false, e))
		       ? -1
		       : 0;
}

/* Parse the width, by the kind of clock. Returns -1 with e filled. */
static int monitor_width(const char *words, bool ticks, uint64_t *width, struct error *e)
{
	return time_check_clock(NULL, "-i", words, ticks, e) || run_parse_width(words, width, e)
		       ? -1
		       : 0;
}

/* Print the interval, and start the next one. Returns -1 if the program must stop. */
static int monitor_print_interval(struct monitor *m)
{
	if (statistics_show(m->statistics) || alarms_each(m->alarms, statistics_show)) {
		m->out_of_memory = true;
		return -1;
	}
	m->stop |= m->print(m->ctx, &m->now);
	m->now.first = false;
	if (!m->stop &&
	    (statistics_reset(m->statistics) || alarms_each(m->alarms, statistics_reset)))
		m->out_of_memory = true;
	return m->stop || m->out_of_memory ? -1 : 0;
}

/* --- wall clock --- */

static void begin_wall(struct monitor *m)
{
	m->now.time = clock_now(CLOCK_REALTIME);
	m->next = clock_now(CLOCK_MONOTONIC) + m->width;
}

/* Print an interval that is over. After a long pause that is one interval, not many. */
static int check_wall(struct monitor *m)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);

	if (now < m->next)
		return 0;
	if (monitor_print_interval(m))
		return -1;
	m->now.time = clock_now(CLOCK_REALTIME);
	m->next += (now - m->next) / m->width * m->width + m->width;
	return 0;
}

/* Wait before a read that would block, so that intervals are printed in time. */
static int wait_wall(void *ctx)
{
	struct monitor *m = ctx;
	struct pollfd p = {m->in->input.fd, POLLIN, 0};

	for (;;) {
		uint64_t now = clock_now(CLOCK_MONOTONIC);
		uint64_t ms = now < m->next ? (m->next - now) / 1000000 + 1 : 0;
		int got = poll(&p, 1, ms < 60000 ? (int)ms : 60000);

		if (check_wall(m))
			return -1;
		if (got > 0 || io_stopped() || (got < 0 && errno != EINTR))
			return 0;
	}
}

/* --- trace time --- */

static int monitor_feed(struct monitor *m, const struct block *b, struct events it, uint64_t end,
			struct events *left)
{
	*left = it;
	if (statistics_until(m->statistics, b, left, end) || alarms_until(m->alarms, b, it, end)) {
		m->out_of_memory = true;
		return -1;
	}
	return 0;
}

static void begin_interval(struct monitor *m, uint64_t time)
{
	m->begun = true;
	m->now.time = time - time % m->width;
	if (m->keyed)
		statistics_set_cell(m->statistics, CELL_INTERVAL, key_unsigned(m->now.time));
}

/* Print the interval, if it has groups, and begin that of a later time. Returns -1 if the program
 * must stop. */
static int next_interval(struct monitor *m, uint64_t time)
{
	if (!m->keyed && m->statistics->groups.count && monitor_print_interval(m))
		return -1;
	begin_interval(m, time);
	return 0;
}

/* Get the end of the interval; no time is after UINT64_MAX. */
static uint64_t interval_end(const struct monitor *m)
{
	uint64_t end;

	return __builtin_add_overflow(m->now.time, m->width, &end) ? UINT64_MAX : end;
}

static int trace_block(struct monitor *m, const struct block *b)
{
	struct events it, left;
	struct event e;

	if (!b->rows)
		return 0;
	if (!m->begun)
		begin_interval(m, b->base > m->latest ? b->base : m->latest);
	else if (m->latest >= interval_end(m) && next_interval(m, m->latest))
		return -1;
	m->latest = 0;
	if (b->last < interval_end(m) || interval_end(m) == UINT64_MAX) {
		m->out_of_memory = statistics_block(m->statistics, b) || alarms_block(m->alarms, b);
		return m->out_of_memory ? -1 : 0;
	}
	events_begin(&it, b);
	for (;;) {
		if (monitor_feed(m, b, it, interval_end(m), &left))
			return -1;
		it = left;
		if (!event_next(&left, &e))
			return 0;
		if (next_interval(m, e.time))
			return -1;
	}
}

/* To be called before the first event; --wall uses in->before_block. */
static int monitor_begin(struct monitor *m, struct error *e)
{
	m->now = (struct interval){.first = true, .wall = m->wall};
	if (!m->wall)
		return 0;
	if (run_parse_width(m->words, &m->width, e))
		return -1;
	m->now.width = m->width;
	begin_wall(m);
	m->in->before_block = wait_wall;
	m->in->before_block_ctx = m;
	return 0;
}

static int set_width(struct monitor *m, bool ticks, struct error *e)
{
	if (!m->width && monitor_width(m->words, ticks, &m->width, e))
		return -1;
	m->now.width = m->width;
	return 0;
}

int monitor_block(struct monitor *m, const struct block *b, struct error *e)
{
	bool ticks = false;

	e->what[0] = '\0';
	if (m->wall) {
		m->out_of_memory = statistics_block(m->statistics, b) || alarms_block(m->alarms, b);
		return m->out_of_memory || check_wall(m) ? -1 : 0;
	}
	for (uint32_t i = 0; i < b->nlanes; i++)
		ticks |= b->lanes[i]->clock->flags & CLOCK_TICKS;
	return set_width(m, ticks, e) ? -1 : trace_block(m, b);
}

void monitor_restore(struct monitor *m, const struct block *b)
{
	m->latest = b->last > m->latest ? b->last : m->latest;
}

int monitor_end(struct monitor *m, struct error *e)
{
	const struct dictionary *d = m->statistics->dictionary;
	const struct lane *lane = d->lanes.count > 1 ? dictionary_lane(d, 1) : NULL;

	if (m->wall || !m->latest || !lane)
		return 0;
	if (set_width(m, lane->clock->flags & CLOCK_TICKS, e))
		return -1;
	if (!m->begun)
		begin_interval(m, m->latest);
	else if (m->latest >= interval_end(m))
		m->stop |= next_interval(m, m->latest) != 0;
	return 0;
}

void monitor_restart(struct monitor *m)
{
	m->begun = false;
	m->latest = 0;
}

/* Print the last interval, after the calls that are still open were closed. */
static void monitor_finish(struct monitor *m)
{
	if (!m->stop && !m->out_of_memory && (m->wall || m->statistics->groups.count))
		m->stop |= m->print(m->ctx, &m->now);
}

/* --- report --- */

/* Returns true if a stack has a frame of that name. */
static bool stack_has_name(const struct stack_tree *t, uint32_t node, uint32_t name)
{
	while (node != STACK_ROOT && t->nodes[node].name != name)
		node = t->nodes[node].parent;
	return node != STACK_ROOT;
}

/* Returns true if the view's function is in no stack. */
static bool lacks_function(const struct statistics *st, const struct stat_settings *s)
{
	const char *f = s->view_argument;
	uint32_t name;

	if ((s->view != VIEW_CALLERS && s->view != VIEW_CALLEES) || !st->stacks)
		return false;
	name = intern_find(&st->stacks->names, f, strlen(f));
	for (size_t i = 0; name != INTERN_NONE && i < st->groups.count; i++) {
		const struct key_cell *cells = groups_cells(&st->groups, groups_at(&st->groups, i));

		for (size_t k = 0; k < st->groups.keys; k++)
			if (cells[k].kind == KEY_STACK &&
			    stack_has_name(&st->stacks->tree, (uint32_t)cells[k].value, name))
				return false;
	}
	return true;
}

/* Test whether the trace has calls or, if a view shows these, samples. types: number of the types
 * of its events. */
static bool run_has_calls(const struct dictionary *d, bool samples, uint32_t *types)
{
	bool calls = false;

	*types = 0;
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		*types += t->used && kind_is_event(t->kind);
		calls |= t->used && (t->kind == KIND_ENTER || t->kind == KIND_LEAVE ||
				     (samples && t->kind == KIND_SAMPLE));
	}
	return calls;
}

/* Report what a trace without calls has instead, for a view of calls. */
static void print_instead(const struct stage *stage, const struct stat_settings *s)
{
	bool field = s->view == VIEW_HIST && s->view_argument && strcmp(s->view_argument, "dur") &&
		     strcmp(s->view_argument, "self");
	uint32_t types;
	bool calls = run_has_calls(&stage->in.dictionary,
				   s->view != VIEW_SLOWEST && s->view != VIEW_EXPLAIN_TAIL, &types);

	if (calls || !types || field || s->pair || s->view == VIEW_TABLE ||
	    s->view == VIEW_TIMELINE)
		return;
	warn(NULL, NO_OFFSET,
	     "no calls in this trace; %" PRIu64 " event%s of %" PRIu32 " type%s: try -g type",
	     stage->events, stage->events == 1 ? "" : "s", types, types == 1 ? "" : "s");
}

/* Returns true if the stream declares a type of samples, with all these flags. */
static bool declares_samples(const struct dictionary *d, uint32_t flags)
{
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		if (t->kind == KIND_SAMPLE && (t->flags & flags) == flags)
			return true;
	}
	return false;
}

/* Report that a state of calls leaves nothing to count of a trace of samples. */
static void report_no_states(const struct stage *stage, const struct query *q)
{
	const struct dictionary *d = &stage->in.dictionary;
	const char *state = q->settings->pair ? NULL : query_state(q);
	uint32_t types;

	if (state && declares_samples(d, 0) && !run_has_calls(d, false, &types))
		warn(NULL, NO_OFFSET,
		     "'%s' is a time of calls, and this trace has none: samples do not count; use "
		     "--pair, such as --pair oncpu",
		     state);
}

void report_events(const struct stage *stage, const struct query *q,
		   const struct calls_counts *counts)
{
	const struct stat_settings *s = q->settings;

	print_instead(stage, s);
	report_no_states(stage, q);
	warn_count(NULL, s->until.from ? 0 : counts->unfinished,
		   "{call|calls} had not returned at the end of the trace");
	warn_count(NULL, counts->unmatched, "{return|returns} without a call");
	warn_count(NULL, counts->ignored_kernel, CALLS_IGNORED_KERNEL);
	warn_count(NULL, stage->lost, "{event was|events were} lost by the recorder");
	if (stage->lost_more)
		warn(NULL, NO_OFFSET, LOST_MORE " were lost by the recorder");
	warn_count(NULL, stage->gaps,
		   "{gap|gaps}, where something is missing (trencode shows them)");
}

/* Report what is not in the table. */
static void report_counts(const struct stage *stage, const struct statistics *st,
			  const struct query *q)
{
	const struct stat_settings *s = q->settings;

	if (lacks_function(st, s))
		warn(NULL, NO_OFFSET, "no call of '%s'", s->view_argument);
	if (statistics_nameless(st))
		warn(NULL, NO_OFFSET,
		     "some functions have an address but no name: run trsym before this program");
	if (st->pair)
		pair_report(st->pair, stage->options->verbose);
	warn_count(NULL, st->groups.deep, STACK_DEEP);
	report_events(stage, q, &st->calls.counts);
}

/* Report the span of the run that rate and util are of: a stray event may be far from the others.
 */
static void report_span(const struct query *q, const struct columns_run *run, bool ticks)
{
	char first[VALUE_SIZE], last[VALUE_SIZE], span[VALUE_SIZE], parts[40] = "";
	char stray[96] = "--since and --until choose a part of the run";
	const struct column *of = NULL;

	for (size_t i = 0; i < q->columns.printed; i++)
		if (q->columns.column[i].type->flags & COLUMN_OF_RUN)
			of = &q->columns.column[i];
	if (!of || ticks || run->first >= run->last)
		return;
	format_time(first, run->first);
	format_time(last, run->last);
	format_duration(span, columns_run_time(run, 0, UINT64_MAX), false);
	if (run->nparts > 1)
		snprintf(parts, sizeof parts, " in %zu streams", run->nparts);
	if (run->stray)
		snprintf(stray, sizeof stray,
			 "%" PRIu64 " earlier %s before it%s; --since +0s includes %s", run->stray,
			 run->stray == 1 ? "event is" : "events are",
			 of->type->flags & COLUMN_RATE ? ", but counted" : "",
			 run->stray == 1 ? "it" : "them");
	warn(NULL, NO_OFFSET, "%s is of %s%s, from %s to %s; %s", of->name, span, parts, first,
	     last, stray);
}

/* Choose the default order: *own is the memory for one that is not the query's. */
static void choose_order(struct table *t, const struct query *q, struct sort *own)
{
	if (q->settings->sort)
		return;
	*own = q->sort;
	if (t->ticks && !t->columns->weights && !t->columns->ns && q->usual)
		/* ticks are not times: the second key of the default order counts */
		*own = (struct sort){.key = q->sort.key + 1, .count = 1};
	/* weights of samples of different types do not compare */
	for (size_t i = 0; t->samples && q->settings->view == VIEW_TABLE && i < q->keys.count; i++)
		if (q->keys.key[i].kind == BY_TYPE)
			own->together = i + 1;
	t->sort = own;
}

/* Get the table of a query. order: memory for its order. */
static void query_table(struct table *t, const struct query *q, const struct statistics *st,
			struct sort *order)
{
	const struct stat_settings *s = q->settings;

	*t = (struct table){
		.columns = &q->columns,
		.keys = q->keys.names,
		.by = &q->keys,
		.optional = q->optional,
		.usual = q->usual,
		.screen = s->screen,
		.sort = &q->sort,
		.limit = s->limit,
		.bounds = s->bounds,
		.groups = &st->groups,
		.run = statistics_run(st, s->view == VIEW_TABLE && !keys_time_bucket(&q->keys)),
		.ticks = st->ticks,
		.samples = st->samples.type,
		.event = statistics_event(st)};
	choose_order(t, q, order);
}

/* Write the view or the table, of an interval or (NULL) of everything. Returns -1; the error is
 * in stage. */
static int report_table(struct stage *stage, struct query *q, const struct statistics *st,
			const struct interval *interval)
{
	const struct stat_settings *s = q->settings;
	struct text *text = malloc(sizeof(*text));
	char title[SVG_TITLE];
	struct sort order;
	struct table t;
	struct error e;
	int bad;

	if (!text)
		return stage_no_memory(stage);
	query_table(&t, q, st, &order);
	if (s->format == TABLE_SVG)
		t.title = svg_title(title, s->title, &stage->in.dictionary.sources, 0);
	t.interval = interval;
	if (interval && !interval->wall)
		t.run = (struct columns_run){.first = interval->time,
					     .last = interval->time + interval->width};
	t.quiet = stage->options->quiet;
	text_init(text, &stage->output);
	screen_find(t.screen, &stage->output);
	if (output_is_terminal(&stage->output) && !s->limited && s->format == TABLE_ALIGNED &&
	    (s->view <= VIEW_CALLEES || s->view == VIEW_UNPAIRED)) {
		t.limit = TABLE_ROWS;
		t.more = true;
	}
	bad = query_write(q, &t, text, &e);
	if (!bad)
		bad = text_flush(text, &e);
	free(text);
	if (bad)
		return stage_fail(stage, &e);
	if (s->bounds && s->format != TABLE_ALIGNED && table_bounds(&q->columns))
		warn(NULL, NO_OFFSET, "%s", table_bounds(&q->columns));
	if (!interval && !stage->options->quiet && !keys_time_bucket(&q->keys))
		report_span(q, &t.run, st->ticks);
	return 0;
}

static void judge_alarms(struct stage *stage, const struct query *q, const struct statistics *st,
			 struct alarms *alarms, const struct interval *interval)
{
	enum outcome holds = alarms_judge(alarms, q, st, interval);

	if (holds == OUTCOME_FAILED)
		stage_no_memory(stage);
	else if (holds == OUTCOME_YES)
		stage->status = status_worse(stage->status, STATUS_CONDITION);
}

/* The same for conditions that no interval has decided, after the last interval. Damaged input,
 * whose status remains 1, may lack the events. */
static void report_alarms_end(struct stage *stage, const struct query *q,
			      const struct statistics *st, struct alarms *alarms)
{
	struct error reported = {.what = ""};

	if (stage->status == STATUS_FAILED)
		return;
	if (!alarms->judged)
		judge_alarms(stage, q, st, alarms, NULL);
	if (alarms_report_undecided(alarms, q, st) && stage->status != STATUS_DAMAGED)
		stage_fail(stage, &reported);
}

void report_alarms(struct stage *stage, const struct query *q, const struct statistics *st,
		   struct alarms *alarms, const struct interval *interval)
{
	if (stage->status == STATUS_FAILED)
		return;
	judge_alarms(stage, q, st, alarms, interval);
	if (!interval)
		report_alarms_end(stage, q, st, alarms);
}

void report_missed_calls(struct stage *stage, const struct block *b)
{
	const char *misses = calls_restore_misses(b);
	struct error e;

	if (!misses)
		return;
	error_set(&e, b->file, b->offset, "%s", misses);
	if (faults_add(&stage->faults, &e, stage->in.file))
		error_print(&e);
	stage->status = status_worse(stage->status, STATUS_DAMAGED);
}

/* --- run --- */

static bool run_print_interval(void *ctx, const struct interval *interval)
{
	const struct counting *p = ctx;

	if (!report_table(p->stage, p->query, p->statistics, interval))
		report_alarms(p->stage, p->query, p->statistics, p->alarms, interval);
	return p->stage->status == STATUS_FAILED;
}

/* Count the rows of a block in the window of its clock. */
static int window_block(const struct counting *c, const struct block *b, struct error *e)
{
	struct time_window *w = &c->query->window;
	const struct clock_window *range;

	if (!b->nlanes)
		return 0;
	range = time_window_of(w, b->lanes[0]->clock);
	if (w->failed) {
		*e = w->error;
		return -1;
	}
	return statistics_window(c->statistics, b, range->since, range->until) ||
			       alarms_window(c->alarms, b, range->since, range->until)
		       ? -1
		       : 0;
}

/* Refuse what makes no sense for the clocks: units, integers without one, sums of both. */
static int stat_run_check_clocks(const struct counting *c, const struct clocks *clocks,
				 struct error *e)
{
	bool weights =
		clocks->ticks && declares_samples(&c->stage->in.dictionary, TYPE_WEIGHT_TIME);

	return query_check_clocks(c->query, clocks, weights, e) ||
			       alarms_check_clocks(c->alarms, clocks, weights, e)
		       ? -1
		       : 0;
}

/* Open the calls of a SNAPSHOT, clipped to the window of their clock. */
static int run_restore_calls(const struct counting *c, const struct block *b)
{
	struct time_window *window = &c->query->window;
	const struct clock *clock = calls_restore_clock(b);

	if (c->monitor)
		monitor_restore(c->monitor, b);
	if (clock && time_window_any(window))
		calls_restore_since(b, time_window_of(window, clock)->since);
	return statistics_block(c->statistics, b) || alarms_block(c->alarms, b) ? -1 : 0;
}

/* Prepare the statistics, before the first row. */
static int counting_begin(struct counting *c)
{
	struct query *q = c->query;
	struct statistics *s = c->statistics;

	if (statistics_init(s, &q->keys, &q->columns, &c->stage->in.dictionary) ||
	    (q->settings->pair ? statistics_pair(s, &q->pair)
			       : q->where.root && statistics_where(s, &q->where)) ||
	    (q->pair.watch.put &&
	     pair_list_begin(&q->pair_list, &c->stage->in.dictionary, &s->groups)))
		return -1;
	statistics_name_stacks(s, !c->monitor);
	return 0;
}

/* Make the groups that --fail-if needs for samples, if the stream declares these. */
static int begin_samples(struct counting *c, struct error *e)
{
	struct dictionary *d = &c->stage->in.dictionary;

	return !c->query->settings->pair && declares_samples(d, 0)
		       ? alarms_begin_samples(c->alarms, c->query, d, e)
		       : 0;
}

/* Begin again with the key type if the types that the stream declares require it. */
static int run_begin_rows(struct counting *c, struct error *e)
{
	c->begun = true;
	if (!query_mixes_samples(c->query, &c->stage->in.dictionary))
		return begin_samples(c, e);
	statistics_free(c->statistics);
	*c->statistics = (struct statistics){0};
	return query_add_type(c->query, e) || begin_samples(c, e) || counting_begin(c) ? -1 : 0;
}

/* Take a block. */
static int count_block(struct counting *c, const struct block *b, struct error *e)
{
	struct time_window *window = &c->query->window;

	if (b->kind == BLOCK_EVENTS && !c->begun && run_begin_rows(c, e))
		return -1;
	time_window_block(window, b, b->kind == BLOCK_HEAD && !c->stage->in.head.sequence);
	if (b->kind == BLOCK_SNAPSHOT)
		return (!c->begun && begin_samples(c, e)) || run_restore_calls(c, b) ? -1 : 0;
	if (b->kind != BLOCK_EVENTS)
		return 0;
	/* before an interval is printed */
	clocks_look(&c->statistics->clocks, b);
	if (stat_run_check_clocks(c, &c->statistics->clocks, e))
		return -1;
	if (c->monitor)
		return monitor_block(c->monitor, b, e);
	if (time_window_any(window))
		return window_block(c, b, e);
	return statistics_block(c->statistics, b) || alarms_block(c->alarms, b) ? -1 : 0;
}

int counting_block(struct counting *c, const struct block *b, struct error *e)
{
	e->what[0] = '\0';
	if (!c->statistics->keys && counting_begin(c))
		return -1;
	return count_block(c, b, e) || statistics_check_busy(c->statistics, e) ||
			       statistics_check_samples(c->statistics, e) ||
			       alarms_check_samples(c->alarms, c->query, c->statistics, e)
		       ? -1
		       : 0;
}

/* Take the calls that are open at the end of the trace. */
static int counting_finish(struct counting *c)
{
	struct query *q = c->query;

	return statistics_finish(c->statistics) || alarms_each(c->alarms, statistics_finish) ||
			       (q->pair.watch.left && pair_end_stream(&q->pair))
		       ? -1
		       : 0;
}

/* Count the rows of all blocks. */
static void run_count_rows(struct counting *c)
{
	const struct monitor *m = c->monitor;
	struct stage *stage = c->stage;
	struct error e = {0};
	struct block block;

	while (stage_next(stage, &block)) {
		report_missed_calls(stage, &block);
		if (!counting_block(c, &block, &e))
			continue;
		if (e.what[0])
			stage_fail(stage, &e);
		else if (!(m && m->stop))
			stage_no_memory(stage);
		return;
	}
}

/* Add the groups of all buckets for the other keys of s->cells. Returns -1 when out of memory. */
static int fill_group(struct statistics *s, const struct columns_run *run)
{
	struct key_cell *time = &s->cells[run->bucket_key - 1];

	for (size_t i = 0; i < columns_run_parts(run); i++) {
		struct time_span part = columns_run_part(run, i);
		uint64_t next = part.since - part.since % run->bucket;

		while (next < part.last) {
			*time = key_unsigned(next);
			if (!groups_find(&s->groups, s->cells))
				return -1;
			if (__builtin_add_overflow(next, run->bucket, &next))
				break;
		}
	}
	return 0;
}

/* With the columns busy and util: add groups without pairs, so that each group has all buckets of
 * time of the trace. left_out: some were not added, as there would be more than BUCKETS_FILLED
 * groups. Returns -1 when out of memory. */
static int statistics_fill_buckets(struct statistics *s, bool *left_out)
{
	const struct columns_run run = statistics_run(s, false);
	size_t n = s->groups.count, size = s->keys->count * sizeof(*s->cells);
	uint64_t each = 0;

	*left_out = false;
	if (!(s->columns->wanted.busy || s->columns->wanted.memory) || !run.bucket_key ||
	    run.first >= run.last)
		return 0;
	for (size_t i = 0; i < columns_run_parts(&run); i++) {
		struct time_span part = columns_run_part(&run, i);

		add_saturated(&each, part.last / run.bucket - part.since / run.bucket + 1);
	}
	for (size_t i = 0; i < n; i++) {
		size_t before = s->groups.count;
		const struct aggregate *a = groups_at(&s->groups, i);
		uint64_t begin = groups_cells(&s->groups, a)[run.bucket_key - 1].value;

		/* the first bucket of the other keys, present or not, adds all others */
		memcpy(s->cells, groups_cells(&s->groups, a), size);
		s->cells[run.bucket_key - 1] = key_unsigned(run.first - run.first % run.bucket);
		if (!groups_find(&s->groups, s->cells))
			return -1;
		if (s->groups.count == before && begin > run.first)
			continue;
		if (before + each > BUCKETS_FILLED) {
			*left_out = true;
			return 0;
		}
		if (fill_group(s, &run))
			return -1;
	}
	return 0;
}

struct by_time {
	const struct groups *groups;
	size_t bucket; /* index of the key */
};

/* Compare groups by their keys, the bucket of time last. */
static int compare_by_time(const void *a, const void *b, void *ctx)
{
	struct aggregate *const *x = a, *const *y = b;
	const struct by_time *by = ctx;
	const struct key_cell *p = groups_cells(by->groups, *x), *q = groups_cells(by->groups, *y);

	for (size_t i = 0; i < by->groups->keys; i++) {
		int order = i == by->bucket ? 0 : groups_compare(by->groups, &p[i], &q[i]);

		if (order)
			return order;
	}
	return (p[by->bucket].value > q[by->bucket].value) -
	       (p[by->bucket].value < q[by->bucket].value);
}

/* Get what memory there is at the end of each bucket of time. Returns -1 when out of memory. */
static int statistics_hold_memory(struct statistics *s)
{
	struct by_time by = {&s->groups, statistics_run(s, false).bucket_key - 1};
	struct aggregate **sorted;

	if (!s->columns->wanted.memory || !statistics_run(s, false).bucket_key)
		return 0;
	sorted = calloc(s->groups.count + 1, sizeof(*sorted));
	if (!sorted)
		return -1;
	for (size_t i = 0; i < s->groups.count; i++)
		sorted[i] = groups_at(&s->groups, i);
	qsort_r(sorted, s->groups.count, sizeof(*sorted), compare_by_time, &by);
	for (size_t i = 0; i < s->groups.count; i++) {
		struct aggregate_memory *m = aggregate_part(sorted[i], s->columns->wanted.memory);
		const struct aggregate_memory *before =
			i ? aggregate_part(sorted[i - 1], s->columns->wanted.memory) : NULL;
		bool same = i > 0;

		for (size_t k = 0; k < s->groups.keys && same; k++)
			same = k == by.bucket ||
			       !groups_compare(&s->groups,
					       &groups_cells(&s->groups, sorted[i - 1])[k],
					       &groups_cells(&s->groups, sorted[i])[k]);
		m->held = m->outstanding + (same ? before->held : 0);
		m->held_number = m->left + (same ? before->held_number : 0);
	}
	free(sorted);
	return 0;
}

/* Add buckets of time without pairs, and memory. */
static int statistics_complete(struct statistics *s, bool *left_out)
{
	return statistics_fill_buckets(s, left_out) || statistics_hold_memory(s) ? -1 : 0;
}

int counting_table(struct counting *c, struct table *t, struct sort *order)
{
	bool left_out;

	if ((!c->statistics->keys && counting_begin(c)) || counting_finish(c) ||
	    statistics_complete(c->statistics, &left_out))
		return -1;
	query_table(t, c->query, c->statistics, order);
	return 0;
}

/* Print the table of the whole run. */
static int print_table(struct stage *stage, struct query *q, struct statistics *st)
{
	bool left_out;

	if (statistics_complete(st, &left_out))
		return stage_no_memory(stage);
	if (left_out && !stage->options->quiet)
		warn(NULL, NO_OFFSET,
		     "more than %d rows: buckets without pairs are left out; use wider buckets",
		     BUCKETS_FILLED);
	return report_table(stage, q, st, NULL);
}

int view_print(struct stage *stage, const struct stat_settings *s,
	       int (*write)(void *ctx, const struct stat_settings *s, struct text *out,
			    struct error *e),
	       void *ctx)
{
	struct text *text = malloc(sizeof(*text));
	struct error e;
	int bad;

	if (!text)
		return stage_no_memory(stage);
	text_init(text, &stage->output);
	screen_find(s->screen, &stage->output);
	bad = write(ctx, s, text, &e) || text_flush(text, &e);
	free(text);
	return bad ? stage_fail(stage, &e) : 0;
}

/* What run_write_slowest writes. */
struct slowest_shown {
	struct slow_list *list;
	bool ticks;
};

static int run_write_slowest(void *ctx, const struct stat_settings *s, struct text *out,
			     struct error *e)
{
	const struct slowest_shown *shown = ctx;

	return slowest_write(shown->list, shown->ticks, s->format, s->screen, out)
		       ? error_no_memory(e)
		       : 0;
}

/* Conditions of --fail-if are counted at the same time. */
static void run_slowest(struct stage *stage, struct query *q, struct alarms *alarms)
{
	struct slowest s;
	struct statistics st;
	const struct counting counting = {stage, q, &st, alarms, NULL, false};
	struct block block;
	struct error e = {0};
	int bad;

	if (alarms_begin(alarms, q, &stage->in.dictionary, &e)) {
		stage_fail(stage, &e);
		return;
	}
	bad = slowest_init(&s, q->slowest, query_state(q) ? &q->columns : NULL,
			   &stage->in.dictionary) |
	      statistics_init(&st, &q->keys, &q->columns, &stage->in.dictionary);
	while (!bad && stage_next(stage, &block)) {
		report_missed_calls(stage, &block);
		bad = slowest_block(&s, &block) || clocks_check(&s.clocks, CLOCKS_HINT, &e) ||
		      stat_run_check_clocks(&counting, &s.clocks, &e) ||
		      (alarms->count &&
		       (statistics_block(&st, &block) || alarms_block(alarms, &block)));
	}
	bad = bad || slowest_finish(&s) || statistics_finish(&st) ||
	      alarms_each(alarms, statistics_finish);
	if (bad && e.what[0])
		stage_fail(stage, &e);
	else if (bad)
		stage_no_memory(stage);
	if (!query_check_names(stage, q, alarms) &&
	    !view_print(stage, q->settings, run_write_slowest,
			&(struct slowest_shown){&s.list, s.ticks})) {
		report_alarms(stage, q, &st, alarms, NULL);
		st.calls.counts = s.calls.counts;
		if (!stage->options->quiet)
			report_counts(stage, &st, q);
	}
	statistics_free(&st);
	slowest_free(&s);
}

/* Returns true if events were counted, or may have been left out by another option than a range. */
static bool run_has_rows(const struct query *q, const struct statistics *st)
{
	return st->groups.count || q->where.root || q->settings->pair;
}

/* Test whether the groups of a key are those of the whole also where a call goes on from one
 * segment to the next. */
static bool key_can_share(const struct key *k)
{
	switch (k->kind) {
	case BY_NAME:
	case BY_TYPE:
	case BY_GROUP:
	case BY_KIND:
	case BY_TID:
	case BY_PID:
	case BY_MODULE:
	case BY_FILE:
	case BY_LINE:
	case BY_CALLER:
	case BY_DEPTH:
	case BY_STACK: return !k->transform && !k->other;
	default: return false;
	}
}

/* Test whether the groups and columns depend on no more than rows and open calls. */
static bool query_of_calls(const struct query *q, const struct alarms *alarms)
{
	const struct stat_settings *s = q->settings;
	bool can = !alarms->count && !s->interval && !s->pair && !s->where && s->view <= VIEW_HIST;

	for (size_t i = 0; i < q->keys.count; i++)
		can = can && key_can_share(&q->keys.key[i]);
	for (size_t i = 0; i < q->columns.count; i++)
		can = can && !(q->columns.column[i].type->flags &
			       (COLUMN_OF_FIELD | COLUMN_OF_PAIRS | COLUMN_OF_MEMORY |
				COLUMN_OF_RUN | COLUMN_RATE | COLUMN_UNIQ));
	return can;
}

/* --- an indexed file --- */

/* Test whether a section after the window is read: where it does not show which threads have events
 * there. */
static bool run_after(void *ctx, const struct index_section *s)
{
	const struct counting *c = ctx;

	return s->flags & SECTION_ANY_LANE || c->stage->in.dictionary.sources.count > 2;
}

static bool section_has_lane(const struct index_section *s, const struct lane *l)
{
	bool has = false;

	for (uint32_t i = 0; i < s->nlanes && !has; i++) {
		struct index_lane of = index_lane(s, i);

		has = of.flags == (l->flags & (LANE_HAS_CPU | LANE_HAS_TID)) &&
		      (!(of.flags & LANE_HAS_CPU) || of.cpu == l->cpu) &&
		      (!(of.flags & LANE_HAS_TID) || of.tid == l->tid);
	}
	return has;
}

/* Test whether a thread has open calls, and no event is known so far from a time on. */
static bool goes_on(const struct calls *calls, uint32_t thread, uint64_t time)
{
	const struct stack *s = calls_thread_stack(calls, thread);

	return s && s->last < time;
}

/* Take a section that is not read: calls of its threads that are open go on until the end of the
 * window. */
static void run_leave_out(void *ctx, const struct index_section *s)
{
	const struct counting *c = ctx;
	const struct dictionary *d = &c->stage->in.dictionary;
	struct calls *calls = &c->statistics->calls;

	for (uint32_t i = 1; i < d->lanes.count; i++) {
		const struct lane *l = dictionary_lane(d, i);
		const struct clock_window *range = time_window_of(&c->query->window, l->clock);

		if (s->first < range->until ||
		    !(goes_on(calls, l->thread, range->until) ||
		      goes_on(calls, l->cpu_thread, range->until)) ||
		    !section_has_lane(s, l))
			continue;
		calls->end.until = range->until;
		calls_pass_until(calls, l->thread);
		calls_pass_until(calls, l->cpu_thread);
	}
}

/* Run tables, one or one for each interval, and the views that are made of groups. */
static void run_events(struct stage *stage, struct query *q, struct alarms *alarms)
{
	struct statistics st;
	struct counting counting = {stage, q, &st, alarms, NULL, false};
	struct monitor monitor = {.words = q->settings->interval,
				  .wall = q->settings->wall,
				  .statistics = &st,
				  .alarms = alarms,
				  .in = &stage->in,
				  .print = run_print_interval,
				  .ctx = &counting};
	struct monitor *m = monitor.words ? &monitor : NULL;
	struct error e;

	if (alarms_begin(alarms, q, &stage->in.dictionary, &e) || (m && monitor_begin(m, &e))) {
		stage_fail(stage, &e);
		return;
	}
	counting.monitor = m;
	if (time_window_any(&q->window) && query_of_calls(q, alarms))
		stage_seek(stage, &(struct stage_seek){.window = &q->window,
						       .restores = true,
						       .after = run_after,
						       .leaves_out = run_leave_out,
						       .ctx = &counting});
	if (counting_begin(&counting))
		stage_no_memory(stage);
	else
		run_count_rows(&counting);
	if (!query_check_names(stage, q, alarms) && m && monitor_end(m, &e))
		stage_fail(stage, &e);
	if (stage->status != STATUS_FAILED) {
		bool bad = false;

		if (counting_finish(&counting))
			stage_no_memory(stage);
		else if (m)
			monitor_finish(m);
		else
			bad = print_table(stage, q, &st);
		if (!m && !bad)
			report_alarms(stage, q, &st, alarms, NULL);
		else if (m)
			report_alarms_end(stage, q, &st, alarms);
		if (stage->status != STATUS_FAILED && !stage->options->quiet) {
			const struct columns_run run = statistics_run(&st, true);

			report_counts(stage, &st, q);
			if (stage->events && (run.first > run.last || !run_has_rows(q, &st)))
				time_window_report(&q->window);
		}
	}
	statistics_free(&st);
}

/* Print what was merged. */
static void print_merged(struct stage *stage, struct query *q, struct summary *sm,
			 struct alarms *alarms)
{
	const struct stat_settings *settings = q->settings;
	struct statistics *st = sm->s;
	struct counting counting = {stage, q, st, alarms, NULL, true};
	struct error e, reported = {.what = ""};
	uint64_t width = 0;

	if (settings->view == VIEW_SLOWEST) {
		view_print(stage, settings, run_write_slowest,
			   &(struct slowest_shown){&sm->slowest, st->ticks});
	} else if (settings->interval) {
		if (monitor_width(settings->interval, st->ticks, &width, &e))
			stage_fail(stage, &e);
		else if (summary_intervals(sm, width, run_print_interval, &counting))
			stage_no_memory(stage);
		else
			report_alarms_end(stage, q, st, alarms);
	} else if (!print_table(stage, q, st)) {
		report_alarms(stage, q, st, alarms, NULL);
		if (st->groups.count && alarms_report_unmatched(alarms, st) &&
		    stage->status != STATUS_DAMAGED && !settings->empty_ok)
			stage_fail(stage, &reported);
	}
	if (stage->status != STATUS_FAILED && !stage->options->quiet)
		report_counts(stage, st, q);
}

/* Run --partial, --merge or both. With --merge q is made here. */
static void run_parts(struct stage *stage, struct stat_settings *settings, struct query *q,
		      struct alarms *alarms, int argc, char **argv)
{
	struct statistics *st = calloc(1, sizeof(*st));
	struct summary sm = {.s = st, .asked = settings};
	struct merging m = {.stage = stage,
			    .q = q,
			    .sm = &sm,
			    .settings = settings,
			    .alarms = alarms,
			    .again = settings->partial};

	if (!st)
		stage_no_memory(stage);
	else if (!settings->merge)
		partial_run(stage, q, &sm, argc, argv);
	else if (summary_merge_run(&m))
		;
	else if (settings->partial)
		partial_write(stage, &sm, argc, argv);
	else
		print_merged(stage, q, &sm, alarms);
	summary_free(&sm);
	if (st)
		statistics_free(st);
	free(st);
}

/*
 * -j: workers make summaries of shares of the segments, and this process merges the summaries.
 *
 *     segments   0 1 2 3 4 5 6 7
 *     workers    ---0--- ---1---      as trstat --partial
 *     table                           as trstat --merge
 *
 * Where a summary has not what the table of the whole has, or a worker has anything to report, this
 * process reads the input by itself.
 */

/* What the workers of one run have in common. */
struct sharing {
	const struct stage *stage;
	const struct stat_settings *settings;
	char **argv, **paths;
	int argc, npaths;
	struct segments segments;
	struct worker *worker;
	size_t *first; /* by worker: its first segment; then the number of segments */
	size_t count;  /* workers */
};

enum { SHARED_LEAST = 8 << 20 }; /* bytes from which on workers are worth their start, 2 ms */

/* Be a worker: write the summary of its segments. Returns the exit status. */
static int share_work(void *ctx, size_t i)
{
	const struct sharing *sh = ctx;
	const struct segment_place *from = &sh->segments.at[sh->first[i]];
	const struct segment_place *last = &sh->segments.at[sh->first[i + 1] - 1];
	struct common_options options = *sh->stage->options;
	struct stat_settings settings = *sh->settings;
	struct alarms none = {0};
	char **paths = sh->npaths ? sh->paths + from->path : (char *[]){NULL};
	int fd = segment_open(from, sh->paths, sh->npaths);
	struct query q;
	struct stage stage;
	struct error e;

	paths[0] = (char *)"-";
	options.output = NULL;
	options.progress = -1;
	options.quiet = false;
	settings.partial = true;
	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 || query_parse(&q, &settings, &e) ||
	    stage_open(&stage, paths, last->path - from->path + 1, &options) ||
	    stage_print_to(&stage, NULL, OUTPUT_SUMMARY))
		return STATUS_FAILED;
	stage.segments_most = sh->first[i + 1] - sh->first[i];
	stage.in.reads_values = query_reads_values(&q);
	stage.one_axis = sh->stage->one_axis;
	stage.prints_times = sh->stage->prints_times;
	run_parts(&stage, &settings, &q, &none, sh->argc, sh->argv);
	return stage_finish(&stage);
}

/* Divide the segments into shares of about the same size, at most n. -1: there is only one, or out
 * of memory. */
static int share_segments(struct sharing *sh, size_t n)
{
	const struct segments *s = &sh->segments;
	uint64_t before = 0;

	if (n > s->count)
		n = s->count;
	sh->worker = calloc(n, sizeof *sh->worker);
	sh->first = calloc(n + 1, sizeof *sh->first);
	if (!sh->worker || !sh->first)
		return -1;
	for (size_t i = 0; i < s->count; before += s->at[i++].size)
		if (!i || before + s->at[i].size / 2 >= s->size / n * sh->count)
			sh->first[sh->count++] = i;
	sh->first[sh->count] = s->count;
	return sh->count > 1 ? 0 : -1;
}

/* Start all workers and wait for them. 1: all results are good, or cut by a signal; 0: not all; -1
 * after stage_fail. */
static int share_run(struct sharing *sh, struct stage *stage)
{
	struct error e;
	int all = 1;

	for (size_t i = 0; i < sh->count; i++)
		sh->worker[i] = (struct worker){.output = -1, .messages = -1};
	for (size_t i = 0; i < sh->count && all; i++)
		all = !worker_start(&sh->worker[i], share_work, sh, i, &e);
	for (size_t i = 0; i < sh->count && all > 0; i++) {
		int good = worker_wait(&sh->worker[i], &e);

		if (good < 0)
			return stage_fail(stage, &e);
		if (!good && !(io_stopped() && sh->worker[i].status == STATUS_OK))
			all = 0;
	}
	return all;
}

/* Test whether a group has calls or samples: a view of a trace without these says so. */
static bool have_calls(const struct groups *g)
{
	bool have = false;

	for (size_t i = 0; i < g->count && !have; i++)
		have = groups_at(g, i)->calls;
	return have;
}

/* Merge the summaries of the workers and print the table. Returns false if nothing was printed, as
 * they do not make the table of one run. */
static bool share_merge(struct sharing *sh, struct stage *stage, struct alarms *alarms)
{
	char(*names)[32] = calloc(sh->count, sizeof *names),
	**paths = calloc(sh->count, sizeof *paths);
	struct statistics *st = calloc(1, sizeof *st);
	struct stat_settings settings = *sh->settings;
	struct stage in = {.options = stage->options};
	struct query q = {0};
	struct summary sm = {.s = st, .asked = &settings};
	struct merging m = {.stage = &in, .q = &q, .sm = &sm, .settings = &settings};
	bool done = false;
	struct error e;
	int held = -1;

	/* the query is that of the summaries, which may have added the key type */
	settings.keys = settings.columns = settings.sort = settings.view_option = NULL;
	settings.merge = true;
	for (size_t i = 0; names && paths && i < sh->count; i++) {
		snprintf(names[i], sizeof names[i], "/dev/fd/%d", sh->worker[i].output);
		paths[i] = names[i];
	}
	if (names && paths && st && !reader_open(&in.in, paths, (int)sh->count))
		held = messages_hold(&e);
	if (held >= 0) {
		bool bad = summary_merge_run(&m) || (in.status != STATUS_OK && !io_stopped());

		messages_drop(held);
		done = !bad && (settings.view == VIEW_TABLE || have_calls(&st->groups));
	}
	if (done) {
		if (io_stopped())
			io_leave();
		stage->lost += in.lost;
		stage->gaps += in.gaps;
		stage->lost_more |= in.lost_more;
		print_merged(stage, &q, &sm, alarms);
	}
	summary_free(&sm);
	if (st)
		statistics_free(st);
	free(st);
	query_free(&q);
	stat_settings_free(&settings);
	reader_close(&in.in);
	free(names);
	free(paths);
	return done;
}

/* Run the query with workers, if these gain time and give the same. Returns false if it was not
 * run. */
static bool run_shared(struct stage *stage, const struct query *q, struct alarms *alarms, int argc,
		       char **argv)
{
	const struct stat_settings *s = q->settings;
	struct sharing sh = {.stage = stage,
			     .settings = s,
			     .argc = argc,
			     .argv = argv,
			     .paths = argv + optind,
			     .npaths = argc - optind};
	unsigned jobs = jobs_count(s->jobs);
	bool done = false;

	if (jobs < 2 || stage->options->progress == 1 || settings_selection(s) ||
	    !query_of_calls(q, alarms))
		return false;
	if (!segments_find(&sh.segments, sh.paths, sh.npaths, &stage->output) &&
	    (s->jobs || sh.segments.size >= SHARED_LEAST) &&
	    !(stage->one_axis && sh.segments.streams > 1) && !share_segments(&sh, jobs)) {
		int all = share_run(&sh, stage);

		done = all < 0 || (all && share_merge(&sh, stage, alarms));
		if (stage->options->verbose && all >= 0)
			warn(NULL, NO_OFFSET,
			     done ? "%zu workers" : "%zu workers, then one process", sh.count);
	}
	for (size_t i = 0; i < sh.count; i++)
		worker_free(&sh.worker[i]);
	free(sh.worker);
	free(sh.first);
	segments_free(&sh.segments);
	return done;
}

void run_query(struct stage *stage, struct stat_settings *settings, struct query *q,
	       struct alarms *alarms, int argc, char **argv)
{
	if (settings->partial || settings->merge)
		run_parts(stage, settings, q, alarms, argc, argv);
	else if (run_shared(stage, q, alarms, argc, argv))
		;
	else if (settings->view == VIEW_WHY)
		run_why(stage, q);
	else if (settings->view == VIEW_EXPLAIN_TAIL)
		run_explain_tail(stage, q);
	else if (settings->view == VIEW_REPORT)
		run_report(stage, settings, q, alarms);
	else if (settings->view == VIEW_SLOWEST && !settings->pair)
		run_slowest(stage, q, alarms);
	else
		run_events(stage, q, alarms);
	if (settings->strict && (stage->lost || stage->lost_more))
		stage->status = status_worse(stage->status, STATUS_DAMAGED);
}
