#include "cmd/trstat/run.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trstat/check_names.h"
#include "cmd/trstat/monitor.h"
#include "cmd/trstat/summary/partial.h"
#include "cmd/trstat/report.h"
#include "cmd/trstat/views/slowest.h"

/* A table in the making. */
struct counting {
	struct stage *stage;
	struct query *query;
	struct statistics *statistics;
	struct alarms *alarms;
	struct monitor *monitor; /* NULL: no intervals */
	bool begun;		 /* a block of events was read */
};

static bool print_interval(void *ctx, const struct interval *interval)
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
static int check_clocks(const struct counting *c, const struct clocks *clocks, struct error *e)
{
	bool weights =
		clocks->ticks && declares_samples(&c->stage->in.dictionary, TYPE_WEIGHT_TIME);

	return query_check_clocks(c->query, clocks, weights, e) ||
			       alarms_check_clocks(c->alarms, clocks, weights, e)
		       ? -1
		       : 0;
}

/* Open the calls of a SNAPSHOT, clipped to the window of their clock. */
static int restore_calls(const struct counting *c, const struct block *b)
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
static int begin_statistics(struct counting *c)
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
static int begin_rows(struct counting *c, struct error *e)
{
	c->begun = true;
	if (!query_mixes_samples(c->query, &c->stage->in.dictionary))
		return begin_samples(c, e);
	statistics_free(c->statistics);
	*c->statistics = (struct statistics){0};
	return query_add_type(c->query, e) || begin_samples(c, e) || begin_statistics(c) ? -1 : 0;
}

static int count_block(struct counting *c, const struct block *b, struct error *e)
{
	struct time_window *window = &c->query->window;

	if (b->kind == BLOCK_EVENTS && !c->begun && begin_rows(c, e))
		return -1;
	time_window_block(window, b, b->kind == BLOCK_HEAD && !c->stage->in.head.sequence);
	if (b->kind == BLOCK_SNAPSHOT)
		return (!c->begun && begin_samples(c, e)) || restore_calls(c, b) ? -1 : 0;
	if (b->kind != BLOCK_EVENTS)
		return 0;
	/* before an interval is printed */
	clocks_look(&c->statistics->clocks, b);
	if (check_clocks(c, &c->statistics->clocks, e))
		return -1;
	if (c->monitor)
		return monitor_block(c->monitor, b, e);
	if (time_window_any(window))
		return window_block(c, b, e);
	return statistics_block(c->statistics, b) || alarms_block(c->alarms, b) ? -1 : 0;
}

/* Count the rows of all blocks. */
static void count_rows(struct counting *c)
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
		      check_clocks(&counting, &s.clocks, &e) ||
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
static bool has_rows(const struct query *q, const struct statistics *st)
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
				  .print = print_interval,
				  .ctx = &counting};
	struct monitor *m = monitor.words ? &monitor : NULL;
	struct error e;

	if (alarms_begin(alarms, q, &stage->in.dictionary, &e) || (m && monitor_begin(m, &e))) {
		stage_fail(stage, &e);
		return;
	}
	counting.monitor = m;
	if (begin_statistics(&counting))
		stage_no_memory(stage);
	else
		count_rows(&counting);
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
			if (stage->events && (st.first > st.last || !has_rows(q, &st)))
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
	const struct settings *settings = q->settings;
	struct statistics *st = sm->s;
	struct counting counting = {stage, q, st, alarms, NULL, true};
	struct error e, reported = {.what = ""};
	uint64_t width;

	if (settings->view == VIEW_SLOWEST) {
		print_slowest(stage, q, &sm->slowest, st->ticks);
	} else if (settings->interval) {
		if (monitor_width(settings->interval, st->ticks, &width, &e))
			stage_fail(stage, &e);
		else if (summary_intervals(sm, width, print_interval, &counting))
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

void run_parts(struct stage *stage, struct settings *settings, struct query *q,
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
	else if (merge_run(stage, q, &sm, &how))
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
