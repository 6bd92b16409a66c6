/*
 * run.c - one run
 */
#include "cmd/trstat/run.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/trstat/fail_if.h"
#include "cmd/trstat/partial.h"
#include "cmd/trstat/slowest.h"
#include "cmd/trstat/table.h"
#include "common/util/output.h"
#include "common/util/stack_limit.h"
#include "common/value/units.h"

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

int monitor_check(const char *words, bool wall, struct error *e)
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

/* Returns the end of the interval; no time is after UINT64_MAX. */
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
	bool calls = run_has_calls(&stage->in.dictionary, s->view != VIEW_SLOWEST, &types);

	if (calls || !types || field || s->pair || s->view == VIEW_TABLE ||
	    s->view == VIEW_TIMELINE)
		return;
	warn(NULL, NO_OFFSET,
	     "no calls in this trace; %" PRIu64 " event%s of %" PRIu32 " type%s: try -g type",
	     stage->events, stage->events == 1 ? "" : "s", types, types == 1 ? "" : "s");
}

/* Print on stderr what the table does not show. */
static void report_counts(const struct stage *stage, const struct statistics *st,
			  const struct stat_settings *s)
{
	if (lacks_function(st, s))
		warn(NULL, NO_OFFSET, "no call of '%s'", s->view_argument);
	if (statistics_nameless(st))
		warn(NULL, NO_OFFSET,
		     "some functions have an address but no name: run trsym before this program");
	if (st->pair)
		pair_report(st->pair, stage->options->verbose);
	print_instead(stage, s);
	warn_count(NULL, s->until.from ? 0 : st->calls.counts.unfinished,
		   "{call|calls} had not returned at the end of the trace");
	warn_count(NULL, st->groups.deep, STACK_DEEP);
	warn_count(NULL, st->calls.counts.unmatched, "{return|returns} without a call");
	warn_count(NULL, st->calls.counts.ignored_kernel, CALLS_IGNORED_KERNEL);
	warn_count(NULL, stage->lost, "{event was|events were} lost by the recorder");
	if (stage->lost_more)
		warn(NULL, NO_OFFSET, LOST_MORE " were lost by the recorder");
	warn_count(NULL, stage->gaps,
		   "{gap|gaps}, where something is missing (trencode shows them)");
}

/* Report the span of the run that rate and util are of: a stray event may be far from the others.
 */
static void report_span(const struct query *q, const struct columns_run *run, bool ticks)
{
	char first[VALUE_SIZE], last[VALUE_SIZE], span[VALUE_SIZE];
	const struct column *of = NULL;

	for (size_t i = 0; i < q->columns.printed; i++)
		if (q->columns.column[i].type->flags & COLUMN_OF_RUN)
			of = &q->columns.column[i];
	if (!of || ticks || run->first >= run->last)
		return;
	format_time(first, run->first);
	format_time(last, run->last);
	format_duration(span, run->last - run->first, false);
	warn(NULL, NO_OFFSET,
	     "%s is of %s, from %s to %s; --since and --until choose a part of the run", of->name,
	     span, first, last);
}

/* Choose the default order: *own is the memory for one that is not the query's. */
static void choose_order(struct table *t, const struct query *q, struct sort *own)
{
	if (q->settings->sort)
		return;
	*own = q->sort;
	if (t->ticks && !t->columns->weights && !t->columns->ns && t->optional)
		/* ticks are not times: the second key of the default order counts */
		*own = (struct sort){.key = q->sort.key + 1, .count = 1};
	/* weights of samples of different types do not compare */
	for (size_t i = 0; t->samples && q->settings->view == VIEW_TABLE && i < q->keys.count; i++)
		if (q->keys.key[i].kind == BY_TYPE)
			own->together = i + 1;
	t->sort = own;
}

/* Write the view or the table, of an interval or (NULL) of everything. Returns -1; the error is
 * in stage. */
static int report_table(struct stage *stage, struct query *q, const struct statistics *st,
			const struct interval *interval)
{
	const struct stat_settings *s = q->settings;
	struct text *text = malloc(sizeof(*text));
	struct table t = query_table(q);
	struct sort order;
	struct error e;
	int bad;

	if (!text)
		return stage_no_memory(stage);
	t.groups = &st->groups;
	t.run = statistics_run(st);
	t.interval = interval;
	if (interval && !interval->wall)
		t.run = (struct columns_run){.first = interval->time,
					     .last = interval->time + interval->width};
	t.ticks = st->ticks;
	t.samples = st->samples.type;
	t.quiet = stage->options->quiet;
	choose_order(&t, q, &order);
	text_init(text, &stage->output);
	if (output_is_terminal(&stage->output) && !s->wide)
		t.width = table_terminal_width(output_fd(&stage->output));
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

/* Set STATUS_CONDITION if a condition is true, in an interval or (NULL) in everything; in
 * everything STATUS_FAILED if one is neither true nor false. */
static void report_alarms(struct stage *stage, const struct query *q, const struct statistics *st,
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

/* A table in the making. */
struct counting {
	struct stage *stage;
	struct query *query;
	struct statistics *statistics;
	struct alarms *alarms;
	struct monitor *monitor; /* NULL: no intervals */
	bool begun;		 /* a block of events was read */
};

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

	report_missed_calls(c->stage, b);
	if (c->monitor)
		monitor_restore(c->monitor, b);
	if (clock && time_window_any(window))
		calls_restore_since(b, time_window_of(window, clock)->since);
	return statistics_block(c->statistics, b) || alarms_block(c->alarms, b) ? -1 : 0;
}

/* Prepare the statistics, before the first row. */
static int run_begin_statistics(struct counting *c)
{
	struct query *q = c->query;
	struct statistics *s = c->statistics;

	if (statistics_init(s, &q->keys, &q->columns, &c->stage->in.dictionary) ||
	    (q->where.root && statistics_where(s, &q->where)) ||
	    (q->settings->pair && statistics_pair(s, &q->pair)) ||
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
	return query_add_type(c->query, e) || begin_samples(c, e) || run_begin_statistics(c) ? -1
											     : 0;
}

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

/* Count the rows of all blocks. */
static void run_count_rows(struct counting *c)
{
	const struct monitor *m = c->monitor;
	struct stage *stage = c->stage;
	struct error e = {0};
	struct block block;

	while (stage_next(stage, &block)) {
		int bad = count_block(c, &block, &e);

		if (bad && e.what[0])
			stage_fail(stage, &e);
		else if (bad && !(m && m->stop))
			stage_no_memory(stage);
		if (bad)
			return;
		if (statistics_check_busy(c->statistics, &e) ||
		    statistics_check_samples(c->statistics, &e) ||
		    alarms_check_samples(c->alarms, c->query, c->statistics, &e)) {
			stage_fail(stage, &e);
			return;
		}
	}
}

/* Print the table of the whole run. */
static int print_table(struct stage *stage, struct query *q, struct statistics *st)
{
	bool left_out;

	if (statistics_fill_buckets(st, &left_out))
		return stage_no_memory(stage);
	if (left_out && !stage->options->quiet)
		warn(NULL, NO_OFFSET,
		     "more than %d rows: buckets without pairs are left out; use wider buckets",
		     BUCKETS_FILLED);
	return report_table(stage, q, st, NULL);
}

static int print_slowest(struct stage *stage, const struct query *q, struct slow_list *l,
			 bool ticks)
{
	struct text *text = malloc(sizeof(*text));
	struct error e;
	int bad;

	if (!text)
		return stage_no_memory(stage);
	text_init(text, &stage->output);
	bad = slowest_write(l, ticks, q->settings->format, text, &e) || text_flush(text, &e);
	free(text);
	return bad ? stage_fail(stage, &e) : 0;
}

/* Conditions of --fail-if are counted at the same time. */
void run_slowest(struct stage *stage, struct query *q, struct alarms *alarms)
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
	bad = slowest_init(&s, q->slowest, &stage->in.dictionary) ||
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
	if (!check_names(stage, q, alarms) && !print_slowest(stage, q, &s.list, s.ticks)) {
		report_alarms(stage, q, &st, alarms, NULL);
		st.calls.counts = s.calls.counts;
		if (!stage->options->quiet)
			report_counts(stage, &st, q->settings);
	}
	statistics_free(&st);
	slowest_free(&s);
}

/* Returns true if events were counted, or may have been left out by another option than a range. */
static bool run_has_rows(const struct query *q, const struct statistics *st)
{
	return st->groups.count || q->where.root || q->settings->pair;
}

void run_events(struct stage *stage, struct query *q, struct alarms *alarms)
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
	if (run_begin_statistics(&counting))
		stage_no_memory(stage);
	else
		run_count_rows(&counting);
	if (!check_names(stage, q, alarms) && m && monitor_end(m, &e))
		stage_fail(stage, &e);
	if (stage->status != STATUS_FAILED) {
		bool bad = false;

		if (statistics_finish(&st) || alarms_each(alarms, statistics_finish) ||
		    (q->pair.watch.left && pair_end_stream(&q->pair)))
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
			report_counts(stage, &st, q->settings);
			if (stage->events && (st.first > st.last || !run_has_rows(q, &st)))
				time_window_report(&q->window);
		}
	}
	if (q->settings->strict && (stage->lost || stage->lost_more))
		stage->status = status_worse(stage->status, STATUS_DAMAGED);
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
		print_slowest(stage, q, &sm->slowest, st->ticks);
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
		report_counts(stage, st, settings);
}

void run_parts(struct stage *stage, struct stat_settings *settings, struct query *q,
	       struct alarms *alarms, int argc, char **argv)
{
	struct statistics *st = calloc(1, sizeof(*st));
	struct summary sm = {.s = st, .asked = settings};
	const struct merging how = {
		.settings = settings, .alarms = alarms, .again = settings->partial};

	if (!st)
		stage_no_memory(stage);
	else if (!settings->merge)
		partial_run(stage, q, &sm, argc, argv);
	else if (summary_merge_run(stage, q, &sm, &how))
		;
	else if (settings->partial)
		partial_write(stage, &sm, argc, argv);
	else
		print_merged(stage, q, &sm, alarms);
	if (settings->strict && (stage->lost || stage->lost_more))
		stage->status = status_worse(stage->status, STATUS_DAMAGED);
	summary_free(&sm);
	if (st)
		statistics_free(st);
	free(st);
}
