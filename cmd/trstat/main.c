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
#include "query.h"
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
};

static const struct option_row option_rows[] = {
	{'g', "group", "KEYS", "group by KEYS, separated by commas (default: name)", NULL},
	{'a', "columns", "COLUMNS",
	 "show COLUMNS, separated by commas\n(default: total,self,count,avg,p50,p99,max)", NULL},
	{'s', "sort", "KEYS", "sort by columns or keys (default: the first column)", NULL},
	{'n', "limit", "N", "show the first N rows only", NULL},
	{'F', "format", "FORMAT", "table (default), tsv, csv, json or ndjson",
	 "table tsv csv json ndjson"},
	{OPT_WIDE, "wide", NULL, "do not shorten long names to the terminal's width", NULL},
	{OPT_BOUNDS, "bounds", NULL, "say how exact the percentiles are", NULL},
	{OPT_STRICT, "strict", NULL, "exit 1 if the recorder itself lost events", NULL},
	{OPTION_HEADING, NULL, NULL, "Views in place of the table:", NULL},
	{OPT_TREE, "tree", NULL, "the calls as a tree, from the outermost down", NULL},
	{OPT_CALLERS, "callers", "FUNCTION", "by whom FUNCTION was called, and those, as a tree",
	 NULL},
	{OPT_CALLEES, "callees", "FUNCTION", "what FUNCTION called, as a tree", NULL},
	{OPT_HIST, "hist", "[F]",
	 "how the times of calls are distributed, or the\nvalues of the field F", NULL},
	{OPT_TIMELINE, "timeline", "WIDTH",
	 "how the first column goes up and down in time, a\nbar for each WIDTH (1s, 10ms)", NULL},
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

static int option(void *ctx, int key, const char *arg, struct error *e)
{
	struct settings *s = ctx;
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

/* What the table does not show, on stderr. */
static void print_counts(const struct stage *stage, const struct statistics *st,
			 const struct settings *s)
{
	if (lacks_function(st, s))
		warn(NULL, NO_OFFSET, "no call of '%s'", s->view_argument);
	if (lacks_symbols(st->dictionary, st->keys))
		warn(NULL, NO_OFFSET, "functions have no names yet: put trsym before trstat");
	if (st->calls.unfinished)
		warn(NULL, NO_OFFSET, "%" PRIu64 " calls had not returned at the end of the trace",
		     st->calls.unfinished);
	if (st->calls.unmatched)
		warn(NULL, NO_OFFSET, "%" PRIu64 " returns of calls whose beginning is not there",
		     st->calls.unmatched);
	if (stage->lost)
		warn(NULL, NO_OFFSET, "%" PRIu64 " events were lost by the recorder", stage->lost);
}

static int print_result(struct stage *stage, const struct query *q, const struct statistics *st)
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

/* The table or the view, and what it does not show. */
static void finish(struct stage *stage, const struct query *q, const struct statistics *st)
{
	if (!print_result(stage, q, st) && !stage->options->quiet)
		print_counts(stage, st, q->settings);
	if (q->settings->strict && stage->lost)
		stage->status = status_worse(stage->status, STATUS_DAMAGED);
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
	else
		finish(stage, q, st);
	parts_free(&parts);
	if (st)
		statistics_free(st);
	free(st);
}

static void run(struct stage *stage, struct query *q)
{
	struct statistics st;
	struct block block;
	struct error e;

	if (statistics_init(&st, &q->keys, &q->columns, &stage->in.dictionary)) {
		out_of_memory(stage);
		return;
	}
	while (stage_next(stage, &block)) {
		if (block.kind != BLOCK_EVENTS)
			continue;
		if (statistics_block(&st, &block)) {
			out_of_memory(stage);
			break;
		}
		if (st.ticks &&
		    (columns_check_ticks(&q->columns, &e) || keys_check_ticks(&q->keys, &e))) {
			stage_fail(stage, &e);
			break;
		}
	}
	if (stage->status != STATUS_FAILED) {
		if (statistics_finish(&st))
			out_of_memory(stage);
		else
			finish(stage, q, &st);
	}
	statistics_free(&st);
}

int main(int argc, char **argv)
{
	struct settings settings = {0};
	struct common_options common;
	struct query query = {0};
	struct stage stage;
	struct error e;
	int status = program_start(&program, argc, argv, &settings, &common);

	if (status >= 0)
		return status;
	if (!settings.merge && (query_parse(&query, &settings, &e) ||
				(settings.partial && partial_check(&query, &e)))) {
		query_free(&query);
		return program_usage(&program, "%s", e.what);
	}
	if (!stage_open(&stage, argv + optind, argc - optind, &common) &&
	    !stage_print_to(&stage, settings.partial ? OUTPUT_BINARY : OUTPUT_TEXT)) {
		if (settings.partial || settings.merge)
			run_parts(&stage, &settings, &query, argc, argv);
		else
			run(&stage, &query);
	}
	status = stage_finish(&stage);
	query_free(&query);
	for (int i = 0; i < 4; i++)
		free(settings.owned[i]);
	return status;
}
