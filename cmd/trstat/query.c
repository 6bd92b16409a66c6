/*
 * query.c - the query that the options describe: keys, columns, an order and a view
 */
#include "cmd/trstat/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/run.h"
#include "cmd/trstat/timeline.h"
#include "common/value/units.h"

/* Returns the list of keys: those of -g, or otherwise if not given, and those that the view
 * adds. NULL: out of memory. */
static char *key_list(const struct stat_settings *s, const char *otherwise, const char *added)
{
	const char *keys = s->keys ? s->keys : otherwise;
	char *list;

	if (asprintf(&list, "%s%s%s", keys, *keys && *added ? "," : "", added) < 0)
		return NULL;
	return list;
}

static int parse_keys(struct query *q, const char *otherwise, const char *added, struct error *e)
{
	char *list;
	int r;

	if (q->settings->pair && !q->pair.watch.put && !q->keys.each_frame)
		otherwise = q->pair.preset ? q->pair.preset->keys : "";
	list = key_list(q->settings, otherwise, added);
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

/* Parse -c and -s; -s by columns and the first keys. The default columns include count. */
static int parse_columns(struct query *q, const char *otherwise, size_t keys, struct error *e)
{
	const struct stat_settings *s = q->settings;
	bool own = s->columns && *s->columns != '+';

	if (parse_column_list(q, otherwise, e))
		return -1;
	for (const char *p = own || s->pair ? "" : otherwise; *p; p += *p == ',') {
		p += keys_item_length(p);
		q->optional++;
	}
	if (sort_parse(&q->sort, s->sort ? s->sort : q->columns.column[0].name, q->keys.names, keys,
		       &q->columns, e))
		return -1;
	return s->sort || own ? 0
			      : sort_parse(&q->sort, "count", q->keys.names, keys, &q->columns, e);
}

static int parse_tree(struct query *q, struct error *e)
{
	q->keys.each_frame = q->settings->pair;
	return parse_keys(q, "", "stack", e) || parse_columns(q, "total,self,count", 0, e);
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
	free(added);
	free(columns);
	return bad;
}

static int parse_timeline(struct query *q, struct error *e)
{
	int64_t ns;
	char *added;
	int bad;

	if (parse_time(q->settings->view_argument, &ns) || ns <= 0)
		return error_set(e, NULL, NO_OFFSET,
				 "--timeline takes a time such as 10ms, not '%.64s'",
				 q->settings->view_argument);
	if (asprintf(&added, "bucket(time,%s)", q->settings->view_argument) < 0)
		return error_no_memory(e);
	bad = parse_keys(q, "name", added, e);
	free(added);
	if (bad)
		return -1;
	q->width = q->keys.key[q->keys.count - 1].width;
	return parse_columns(q, "count", q->shown, e);
}

/* Refuse a width of --timeline that a clock has no meaning for. */
static int check_timeline(const struct query *q, const struct clocks *clocks, struct error *e)
{
	const char *width = q->settings->view_argument;

	return (clocks->ticks && time_check_clock(NULL, "--timeline", width, true, e)) ||
			       (clocks->times &&
				time_check_clock(NULL, "--timeline", width, false, e))
		       ? -1
		       : 0;
}

int query_check_clocks(const struct query *q, const struct clocks *clocks, bool weights,
		       struct error *e)
{
	if (columns_check_clocks(&q->columns, clocks, e) ||
	    (clocks->ticks && columns_check_ticks(&q->columns, e)) ||
	    (q->settings->view == VIEW_TIMELINE && check_timeline(q, clocks, e)) ||
	    keys_check_clocks(&q->keys, clocks, e) ||
	    pair_check_clocks(&q->pair, clocks->ticks, clocks->times, e) ||
	    condition_check_clocks(&q->where, "--where", clocks, weights, e))
		return -1;
	return 0;
}

/* Refuse what is about groups: a list has none. */
static int parse_list(struct query *q, struct error *e)
{
	const struct stat_settings *s = q->settings;
	const char *other = s->keys				    ? "-g"
			    : s->columns			    ? "-c"
			    : s->sort				    ? "-s"
			    : s->limited && s->view == VIEW_SLOWEST ? "-n"
								    : NULL;

	if (other)
		return error_set(e, NULL, NO_OFFSET, "%s does not go with --%s", other,
				 s->view_option);
	if (s->pair && (s->partial || s->merge))
		return error_set(e, NULL, NO_OFFSET, "--%s of pairs does not go with --%s",
				 s->view == VIEW_SLOWEST ? "slowest" : "unpaired",
				 s->partial ? "partial" : "merge");
	if (s->pair)
		pair_list_watch(&q->pair_list, &q->pair);
	return parse_keys(q, "", "", e) || columns_parse(&q->columns, "count", e);
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

int query_check_pairs(const struct query *q, struct columns *c, struct error *e)
{
	struct error why;

	if (q->settings->pair && pair_columns(&q->pair, c, e))
		return -1;
	if (!columns_refuse_pairs(c, &why) || (q->settings->pair && !q->settings->interval))
		return 0;
	if (!q->settings->pair)
		return error_set(e, NULL, NO_OFFSET, "%s", why.what);
	return error_set(e, NULL, NO_OFFSET,
			 "busy and util do not go with -i; use the key bucket(time,%.64s)",
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
	const char *other = s->view == VIEW_SLOWEST || s->view == VIEW_UNPAIRED ? s->view_option
			    : s->partial					? "partial"
			    : s->where && s->pair				? "pair"
			    : !s->where && s->interval				? "interval"
										: NULL;

	if (!option || !other)
		return 0;
	return error_set(e, NULL, NO_OFFSET,
			 "--%s does not go with --%s; trfilter chooses events before this program",
			 option, other);
}

static int parse_where(struct query *q, struct error *e)
{
	if (!q->settings->where)
		return 0;
	if (condition_parse_text(&q->where, q->settings->where, e))
		return -1;
	if (q->where.keys.needs & NEEDS_STACK)
		return error_set(e, NULL, NO_OFFSET, "--where cannot test the stack; trfilter can");
	return 0;
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
	if (s->view == VIEW_UNPAIRED && !s->pair)
		return error_set(e, NULL, NO_OFFSET, "--unpaired goes with --pair");
	if (s->pair && pair_parse(&q->pair, s->pair, e))
		return -1;
	switch (s->view) {
	case VIEW_TABLE:
		bad = parse_keys(q, "name", "", e) ||
		      parse_columns(q,
				    s->otherwise ? s->otherwise
				    : s->pair	 ? "count,total,avg,p50,p90,p99,max"
						 : "total,self,count,avg,p50,p99,max",
				    q->keys.count, e);
		break;
	case VIEW_TREE:
	case VIEW_CALLERS:
	case VIEW_CALLEES: bad = parse_tree(q, e); break;
	case VIEW_HIST: bad = parse_hist(q, e); break;
	case VIEW_TIMELINE: bad = parse_timeline(q, e); break;
	case VIEW_SLOWEST: bad = parse_slowest(q, e); break;
	case VIEW_UNPAIRED: bad = parse_list(q, e); break;
	}
	bad = bad || (s->pair && pair_keys(&q->pair, &q->keys, e));
	bad = bad || query_check_pairs(q, &q->columns, e);
	q->keys.whole_stacks = s->partial || s->view != VIEW_TABLE;
	if (!bad && s->pair && q->keys.needs & (NEEDS_CALLER | NEEDS_LEVEL))
		bad = error_set(e, NULL, NO_OFFSET,
				"pairs are not calls: they have no caller and no depth");
	if (!bad && q->keys.wakers && s->partial)
		bad = error_set(e, NULL, NO_OFFSET,
				"keys of the event that wakes a thread, such as w.comm, do not go "
				"with --partial");
	if (!bad && s->bounds && !table_bounds(&q->columns))
		bad = error_set(e, NULL, NO_OFFSET,
				"--bounds has no effect: the columns are exact");
	return bad ? -1 : 0;
}

bool query_mixes_samples(const struct query *q, const struct dictionary *d)
{
	const struct type *first = NULL;
	bool several = false;

	if (q->typed_keys || q->settings->pair || q->settings->view == VIEW_SLOWEST)
		return false;
	for (size_t i = 0; i < q->keys.count; i++)
		if (q->keys.key[i].kind == BY_TYPE)
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
	condition_free(&q->where);
	time_window_free(&q->window);
	pair_free(&q->pair);
	pair_list_free(&q->pair_list);
	sort_free(&q->sort);
	columns_free(&q->columns);
	keys_free(&q->keys);
}

enum reads_values query_reads_values(const struct query *q)
{
	return q->settings->view == VIEW_SLOWEST || q->settings->pair ||
			       (q->keys.needs | q->where.keys.needs) & NEEDS_EVENT ||
			       q->columns.wanted.field_count
		       ? READS_ALL
		       : READS_NO_VALUES;
}

bool query_has_times(const struct query *q)
{
	const struct stat_settings *s = q->settings;
	bool times = s->view == VIEW_TIMELINE || s->interval || s->pair ||
		     time_window_any(&q->window) ||
		     (q->keys.needs | q->where.keys.needs) & NEEDS_TIME;

	for (size_t i = 0; i < q->columns.count; i++)
		times |= column_unit(&q->columns.column[i]) == UNIT_TIME ||
			 q->columns.column[i].type->flags & COLUMN_RATE;
	return times;
}

struct table query_table(const struct query *q)
{
	return (struct table){.columns = &q->columns,
			      .keys = q->keys.names,
			      .by = &q->keys,
			      .optional = q->optional,
			      .sort = &q->sort,
			      .limit = q->settings->limit,
			      .bounds = q->settings->bounds};
}

int query_write(struct query *q, const struct table *t, struct text *out, struct error *e)
{
	const struct stat_settings *s = q->settings;

	switch (s->view) {
	case VIEW_TABLE: return table_write(t, s->format, out, e);
	case VIEW_TREE: return view_tree(t, TREE_ALL, NULL, s->format, out, e);
	case VIEW_CALLERS: return view_tree(t, TREE_CALLERS, s->view_argument, s->format, out, e);
	case VIEW_CALLEES: return view_tree(t, TREE_CALLEES, s->view_argument, s->format, out, e);
	case VIEW_HIST: return view_hist(t, &q->hist, s->format, out, e);
	case VIEW_TIMELINE: return view_timeline(t, q->width, s->format, out, e);
	case VIEW_SLOWEST: /* of pairs; slowest.h writes calls */
	case VIEW_UNPAIRED: pair_list_write(&q->pair_list, t, s->format, out);
	}
	return 0;
}
