/*
 * trstat - tables of an event stream
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/stage.h"
#include "common/text.h"
#include "partial.h"
#include "fail_if.h"
#include "monitor.h"
#include "query.h"
#include "slowest.h"
#include "statistics.h"

enum {
	OPT_WIDE = 256,
	OPT_BOUNDS,
	OPT_STRICT,
	OPT_TREE,
	OPT_CALLERS,
	OPT_CALLEES,
	OPT_HIST,
	OPT_TIMELINE,
	OPT_PARTIAL,
	OPT_MERGE,
	OPT_PAIR,
	OPT_FAIL_IF,
	OPT_WALL,
	OPT_SLOWEST,
};

static const struct option_row option_rows[] = {
	{'g', "group", "KEYS", "group by KEYS, separated by commas (default: name)", NULL},
	{'a', "columns", "COLUMNS",
	 "show COLUMNS, separated by commas\n(default: total,self,count,avg,p50,p99,max)", NULL},
	{'s', "sort", "KEYS", "sort by columns or keys (default: the first column)", NULL},
	{'n', "limit", "N", "show the first N rows only", NULL},
	{'F', "format", "FORMAT", "table (default), tsv, csv, json, ndjson or prom",
	 "table tsv csv json ndjson prom"},
	{OPT_WIDE, "wide", NULL, "do not shorten long names to the terminal's width", NULL},
	{OPT_BOUNDS, "bounds", NULL, "say how exact the percentiles are", NULL},
	{OPT_STRICT, "strict", NULL, "exit 1 if the recorder itself lost events", NULL},
	{OPT_PAIR, "pair", "PAIR",
	 "count pairs of events and the time between them:\n'A -> B on .x == .y', or wakeup, "
	 "offcpu, "
	 "syscall,\nirq, softirq, block",
	 "wakeup offcpu syscall irq softirq block"},
	{OPT_FAIL_IF, "fail-if", "CONDITION",
	 "exit 3 if CONDITION holds at the end, such as\n'p99(name == \"commit\") > 5ms'; may be "
	 "repeated",
	 NULL},
	{'i', "interval", "TIME", "a table for each TIME of the trace: 2 (seconds), 500ms", NULL},
	{OPT_WALL, "wall", NULL, "with -i: for each TIME of the wall clock", NULL},
	{OPTION_HEADING, NULL, NULL, "Views in place of the table:", NULL},
	{OPT_TREE, "tree", NULL, "the calls as a tree, from the outermost down", NULL},
	{OPT_CALLERS, "callers", "FUNCTION", "by whom FUNCTION was called, and those, as a tree",
	 NULL},
	{OPT_CALLEES, "callees", "FUNCTION", "what FUNCTION called, as a tree", NULL},
	{OPT_HIST, "hist", "[F]",
	 "how the times of calls are distributed, or the\nvalues of the field F", NULL},
	{OPT_TIMELINE, "timeline", "WIDTH",
	 "how the first column goes up and down in time, a\nbar for each WIDTH (1s, 10ms)", NULL},
	{OPT_SLOWEST, "slowest", "N", "the N slowest calls, with arguments and stack", NULL},
	{OPTION_HEADING, NULL, NULL, "Parts of a trace, on many processors or machines:", NULL},
	{OPT_PARTIAL, "partial", NULL, "write a summary, for --merge, in place of a table", NULL},
	{OPT_MERGE, "merge", NULL, "read summaries: the table of all that they are of", NULL},
	{0},
};

static int set_view(struct settings *s, enum view view, const char *name, const char *argument,
		    struct error *e)
{
	if (s->view_option)
		return error_set(e, NULL, NO_OFFSET, "--%s and --%s do not go together",
				 s->view_option, name);
	s->view = view;
	s->view_option = name;
	s->view_argument = argument;
	return 0;
}

/* What the options say. */
struct command_line {
	struct settings settings;
	struct alarms alarms;
};

static int option(void *ctx, int key, const char *arg, struct error *e)
{
	struct command_line *o = ctx;
	struct settings *s = &o->settings;
	char *end;

	switch (key) {
	case 'g': s->keys = arg; return 0;
	case 'a': s->columns = arg; return 0;
	case 's': s->sort = arg; return 0;
	case 'n':
		s->limit = strtoul(arg, &end, 10);
		if (*arg < '0' || *arg > '9' || *end || !s->limit)
			return error_set(e, NULL, NO_OFFSET,
					 "-n takes a number of rows from 1, not '%s'", arg);
		return 0;
	case 'F': return table_format_parse(arg, &s->format, e);
	case OPT_WIDE: s->wide = true; return 0;
	case OPT_BOUNDS: s->bounds = true; return 0;
	case OPT_STRICT: s->strict = true; return 0;
	case 'i': s->interval = arg; return 0;
	case OPT_WALL: s->wall = true; return 0;
	case OPT_SLOWEST: return set_view(s, VIEW_SLOWEST, "slowest", arg, e);
	case OPT_PAIR: s->pair = arg; return 0;
	case OPT_FAIL_IF: return alarms_add(&o->alarms, arg, e);
	case OPT_TREE: return set_view(s, VIEW_TREE, "tree", NULL, e);
	case OPT_CALLERS: return set_view(s, VIEW_CALLERS, "callers", arg, e);
	case OPT_CALLEES: return set_view(s, VIEW_CALLEES, "callees", arg, e);
	case OPT_HIST: return set_view(s, VIEW_HIST, "hist", arg, e);
	case OPT_PARTIAL: s->partial = true; return 0;
	case OPT_MERGE: s->merge = true; return 0;
	case OPT_TIMELINE: return set_view(s, VIEW_TIMELINE, "timeline", arg, e);
	}
	return -1;
}

static const struct program program = {
	.name = "trstat",
	.operands = "[FILE]...",
	.purpose = "Print tables of the calls and events of a stream.",
	.options = option_rows,
	.option = option,
};

static int out_of_memory(struct stage *stage)
{
	struct error e;

	error_set(&e, NULL, NO_OFFSET, "out of memory");
	return stage_fail(stage, &e);
}

/* Are functions shown by their addresses, which trsym would name? */
static bool lacks_symbols(const struct dictionary *d, const struct keys *k)
{
	bool asked = false;

	for (size_t i = 0; i < k->count; i++)
		asked |= k->key[i].what == BY_NAME || k->key[i].what == BY_CALLER ||
			 k->key[i].what == BY_MODULE || k->key[i].what == BY_STACK;
	for (uint32_t i = 1; asked && i < d->places.count; i++) {
		const struct place *p = dictionary_place(d, i);

		if (p->space && !p->symbol && !p->name.size)
			return true;
	}
	return false;
}

/* Was a tree asked for of a function that was never called? */
static bool lacks_function(const struct statistics *st, const struct settings *s)
{
	const char *f = s->view_argument;

	return (s->view == VIEW_CALLERS || s->view == VIEW_CALLEES) && st->stacks &&
	       intern_find(&st->stacks->names, f, strlen(f)) == INTERN_NONE;
}

static void remark(uint64_t n, const char *what)
{
	if (n)
		warn(NULL, NO_OFFSET, "%" PRIu64 " %s", n, what);
}

static void print_pair_counts(const struct pair *p)
{
	remark(p->replaced, "beginnings of pairs that came again before their end");
	remark(pair_waiting(p), "beginnings of pairs without an end");
	remark(p->ended, "ends of pairs without a beginning");
	remark(p->forgotten, "beginnings of pairs given up, as too many waited for their end");
}

/* What the table does not show, on stderr. */
static void print_counts(const struct stage *stage, const struct statistics *st,
			 const struct settings *s)
{
	if (lacks_function(st, s))
		warn(NULL, NO_OFFSET, "no call of '%s'", s->view_argument);
	if (lacks_symbols(st->dictionary, st->keys))
		warn(NULL, NO_OFFSET, "functions have no names yet: put trsym before trstat");
	if (st->pair)
		print_pair_counts(st->pair);
	remark(st->calls.unfinished, "calls had not returned at the end of the trace");
	remark(st->calls.unmatched, "returns of calls whose beginning is not there");
	remark(st->calls.outside, CALLS_OUTSIDE);
	remark(stage->lost, "events were lost by the recorder");
}

static int print_result(struct stage *stage, const struct query *q, const struct statistics *st,
			const struct interval *interval)
{
	const struct settings *s = q->settings;
	struct text *text = malloc(sizeof(*text));
	struct table t = query_table(q);
	struct error e;
	int bad;

	if (!text)
		return out_of_memory(stage);
	t.groups = &st->groups;
	t.run = (struct columns_run){st->first, st->last};
	t.interval = interval;
	if (interval && !interval->wall)
		t.run = (struct columns_run){interval->time, interval->time + interval->width};
	t.ticks = st->ticks;
	text_init(text, &stage->output);
	if (output_is_terminal(&stage->output) && !s->wide)
		t.width = table_terminal_width(output_fd(&stage->output));
	bad = query_write(q, &t, text, &e);
	if (!bad)
		bad = text_flush(text, &e);
	free(text);
	if (bad)
		return stage_fail(stage, &e);
	if (s->bounds && s->format != TABLE_PEOPLE && table_bounds(&q->columns))
		warn(NULL, NO_OFFSET, "%s", table_bounds(&q->columns));
	return 0;
}

static void judge(struct stage *stage, const struct query *q, const struct statistics *st,
		  const struct alarms *alarms)
{
	int holds = stage->status == STATUS_FAILED
			    ? 0
			    : alarms_judge(alarms, q, st, stage->options->quiet);

	if (holds < 0)
		out_of_memory(stage);
	else if (holds)
		stage->status = status_worse(stage->status, STATUS_CONDITION);
}

/* What an interval is printed by. */
struct printing {
	struct stage *stage;
	const struct query *query;
	const struct statistics *statistics;
	const struct alarms *alarms;
};

static bool print_interval(void *ctx, const struct interval *interval)
{
	const struct printing *p = ctx;

	if (!print_result(p->stage, p->query, p->statistics, interval))
		judge(p->stage, p->query, p->statistics, p->alarms);
	return p->stage->status == STATUS_FAILED;
}

/* The rows of all blocks. */
static void count(struct stage *stage, const struct query *q, struct statistics *st,
		  struct alarms *alarms, struct monitor *m)
{
	struct block block;
	struct error e = {0};

	while (stage_next(stage, &block)) {
		int bad;

		if (block.kind != BLOCK_EVENTS)
			continue;
		if (m)
			bad = monitor_block(m, &block, &e);
		else
			bad = statistics_block(st, &block) || alarms_block(alarms, &block);
		if (bad && e.what[0])
			stage_fail(stage, &e);
		else if (bad && !(m && m->stop))
			out_of_memory(stage);
		if (bad)
			return;
		if (st->ticks &&
		    (columns_check_ticks(&q->columns, &e) || keys_check_ticks(&q->keys, &e) ||
		     alarms_check_ticks(alarms, &e))) {
			stage_fail(stage, &e);
			return;
		}
	}
}

static int print_slowest(struct stage *stage, const struct query *q, struct slowest *s)
{
	struct text *text = malloc(sizeof(*text));
	struct error e;
	int bad;

	if (!text)
		return out_of_memory(stage);
	text_init(text, &stage->output);
	bad = slowest_write(s, q->settings->format, text, &e) || text_flush(text, &e);
	free(text);
	return bad ? stage_fail(stage, &e) : 0;
}

/* --slowest, which has no groups. Conditions of --fail-if are counted beside it. */
static void run_slowest(struct stage *stage, struct query *q, struct alarms *alarms)
{
	struct slowest s;
	struct statistics st;
	struct block block;
	struct error e;
	int bad = slowest_init(&s, q->slowest, &stage->in.dictionary) ||
		  statistics_init(&st, &q->keys, &q->columns, &stage->in.dictionary);

	if (!bad && alarms_begin(alarms, q, &stage->in.dictionary, &e))
		stage_fail(stage, &e);
	while (!bad && stage_next(stage, &block))
		bad = slowest_block(&s, &block) ||
		      (alarms->count && block.kind == BLOCK_EVENTS &&
		       (statistics_block(&st, &block) || alarms_block(alarms, &block)));
	bad = bad || slowest_finish(&s) || statistics_finish(&st) || alarms_finish(alarms);
	if (bad)
		out_of_memory(stage);
	if (stage->status != STATUS_FAILED && !print_slowest(stage, q, &s)) {
		judge(stage, q, &st, alarms);
		st.calls.unfinished = s.calls.unfinished;
		st.calls.unmatched = s.calls.unmatched;
		st.calls.outside = s.calls.outside;
		if (!stage->options->quiet)
			print_counts(stage, &st, q->settings);
	}
	statistics_free(&st);
	slowest_free(&s);
}

static void run(struct stage *stage, struct query *q, struct alarms *alarms)
{
	struct statistics st;
	struct printing printing = {stage, q, &st, alarms};
	struct monitor monitor = {.words = q->settings->interval,
				  .wall = q->settings->wall,
				  .statistics = &st,
				  .alarms = alarms,
				  .in = &stage->in,
				  .print = print_interval,
				  .ctx = &printing};
	struct monitor *m = monitor.words ? &monitor : NULL;
	struct error e;

	if (alarms_begin(alarms, q, &stage->in.dictionary, &e) || (m && monitor_begin(m, &e))) {
		stage_fail(stage, &e);
		return;
	}
	if (statistics_init(&st, &q->keys, &q->columns, &stage->in.dictionary) ||
	    (q->settings->pair && statistics_pair(&st, &q->pair)))
		out_of_memory(stage);
	else
		count(stage, q, &st, alarms, m);
	if (stage->status != STATUS_FAILED) {
		bool bad = false;

		if (statistics_finish(&st) || alarms_finish(alarms))
			out_of_memory(stage);
		else if (m)
			monitor_finish(m);
		else
			bad = print_result(stage, q, &st, NULL);
		if (!m && !bad)
			judge(stage, q, &st, alarms);
		if (stage->status != STATUS_FAILED && !stage->options->quiet)
			print_counts(stage, &st, q->settings);
	}
	if (q->settings->strict && stage->lost)
		stage->status = status_worse(stage->status, STATUS_DAMAGED);
	statistics_free(&st);
}

/* --partial, --merge or both. */
static void run_parts(struct stage *stage, struct settings *settings, struct query *q, int argc,
		      char **argv)
{
	struct statistics *st = calloc(1, sizeof(*st));
	struct parts parts = {0};

	if (!st ||
	    (!settings->merge && statistics_init(st, &q->keys, &q->columns, &stage->in.dictionary)))
		out_of_memory(stage);
	else if (!settings->merge)
		partial_run(stage, q, st, argc, argv);
	else if (merge_run(stage, settings, q, st, settings->partial ? &parts : NULL))
		;
	else if (settings->partial)
		partial_write(stage, q, st, &parts, argc, argv);
	else if (!print_result(stage, q, st, NULL) && !stage->options->quiet)
		print_counts(stage, st, settings);
	if (settings->strict && stage->lost)
		stage->status = status_worse(stage->status, STATUS_DAMAGED);
	parts_free(&parts);
	if (st)
		statistics_free(st);
	free(st);
}

int main(int argc, char **argv)
{
	struct command_line line = {0};
	struct common_options common;
	struct query query = {0};
	struct stage stage;
	struct error e;
	int status = program_start(&program, argc, argv, &line, &common);

	if (status >= 0) {
		alarms_free(&line.alarms);
		return status;
	}
	if (partial_check(&line.settings, line.alarms.count, &e) ||
	    (!line.settings.merge && query_parse(&query, &line.settings, &e)) ||
	    (line.settings.partial && partial_check_keys(&query, &e))) {
		query_free(&query);
		alarms_free(&line.alarms);
		return program_usage(&program, "%s", e.what);
	}
	if (!stage_open(&stage, argv + optind, argc - optind, &common) &&
	    !stage_print_to(&stage, line.settings.partial ? OUTPUT_BINARY : OUTPUT_TEXT)) {
		if (line.settings.partial || line.settings.merge)
			run_parts(&stage, &line.settings, &query, argc, argv);
		else if (line.settings.view == VIEW_SLOWEST)
			run_slowest(&stage, &query, &line.alarms);
		else
			run(&stage, &query, &line.alarms);
	}
	alarms_free(&line.alarms);
	status = stage_finish(&stage);
	query_free(&query);
	for (int i = 0; i < 4; i++)
		free(line.settings.owned[i]);
	return status;
}
