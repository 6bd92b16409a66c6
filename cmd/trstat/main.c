/*
 * main.c - trstat: tables of an event stream
 *
 *     trstat -k name -c count,total,p99 a.trs
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/trstat/diff.h"
#include "cmd/trstat/run.h"
#include "common/cli/program.h"
#include "common/cli/workers.h"
#include "common/util/screen.h"

/* --- the options --- */

struct command_line {
	struct stat_settings settings;
	struct screen screen;
	const char **fail_if; /* conditions of --fail-if; to be freed */
	size_t fail_ifs;
	struct alarms alarms; /* the same, without --diff */
	struct diff_options diff;
};

enum {
	OPT_BOUNDS = 256,
	OPT_STRICT,
	OPT_TREE,
	OPT_CALLERS,
	OPT_CALLEES,
	OPT_HIST,
	OPT_TIMELINE,
	OPT_HEATMAP,
	OPT_PARTIAL,
	OPT_MERGE,
	OPT_PAIR,
	OPT_COVER,
	OPT_FAIL_IF,
	OPT_FAIL_IF_EMPTY,
	OPT_WALL,
	OPT_SLOWEST,
	OPT_UNPAIRED,
	OPT_WHY,
	OPT_EXPLAIN_TAIL,
	OPT_REPORT,
	OPT_QUANTILE,
	OPT_DIFF,
	OPT_THRESHOLD,
	OPT_TITLE,
	OPT_ALPHA,
	OPT_WHERE,
	OPT_SINCE,
	OPT_UNTIL,
};

static char command_line_columns[COLUMN_WORDS_SIZE]; /* names of columns, which stat_start adds */

static const struct option_row command_line_rows[] = {
	{'g', "group", "KEYS", "group by KEYS or fields of events (default: name):",
	 "name type group kind input buffer tid pid ppid comm cpu module symkind file line address "
	 "class "
	 "caller stack depth time dur self running runnable sleeping blocked iowait irq offcpu "
	 "unknown"},
	{'c', "columns", "LIST",
	 "show the columns LIST; +LIST adds to the usual ones\n(total,self,count,avg,p50,p99,max); "
	 "F is a field,\nand p50 is any percentile:",
	 command_line_columns},
	{'s', "sort", "KEYS", "sort by columns or keys (default: total; -c: first)",
	 command_line_columns},
	{'n', "limit", "N",
	 "show the first N rows; 0 shows all\n(default: 50 on a terminal, else all)", NULL},
	{'t', "to", "FORMAT",
	 "table (default), markdown, tsv, csv, json, ndjson\nor prom; --hist, --timeline, "
	 "--heatmap: svg; --diff:\nsvg, a flame graph; --why: folded; --report: text\n(default), "
	 "html",
	 "table markdown tsv csv json ndjson prom svg folded text html"},
	{OPT_WHERE, "where", "EXPR",
	 "count only calls, events and pairs for which EXPR\nis true (their times are those of the "
	 "whole "
	 "stream);\nEXPR, CONDITION and PAIR may be @FILE, which\ncontains them",
	 NULL},
	{OPT_SINCE, "since", "TIME",
	 "begin of the range: 12.5s, +1.5s, -10s, or a date\n(+: from the start, -: before the "
	 "end); calls open\nthere are clipped to the range",
	 NULL},
	{OPT_UNTIL, "until", "TIME", "end of the range", NULL},
	{OPT_BOUNDS, "bounds", NULL, "print how exact the percentiles are", NULL},
	{OPT_STRICT, "strict", NULL, "exit 1 if the recorder lost events", NULL},
	{OPT_PAIR, "pair", "PAIR",
	 "times between two events: 'A -> B on .x == .y', or:", PAIR_PRESETS},
	{OPT_COVER, "cover", "SETS",
	 "time in which calls are open: 'A', or 'A & B' both,\nor 'A - B' only A; A, B: conditions "
	 "or "
	 "pairs",
	 NULL},
	{OPT_FAIL_IF, "fail-if", "CONDITION",
	 "exit 3 if CONDITION is true, such as 'p99 > 5ms'\nor 'p99(name == \"commit\") > 5ms', or "
	 "with --diff\n'p99_change > 10%' or slower; may be repeated",
	 NULL},
	{OPT_FAIL_IF_EMPTY, "fail-if-empty", "ok",
	 "a CONDITION on an unknown name, or on the times of\nno calls, is false (default: exit 2)",
	 "ok"},
	{'i', "interval", "TIME", "print a table for each TIME of the trace, such as 2s", NULL},
	{OPT_WALL, "wall", NULL, "with -i: use the wall clock for TIME", NULL},
	JOBS_OPTION_ROW,
	{OPTION_HEADING, NULL, NULL, "", "table"},
	SCREEN_OPTION_ROWS,
	{OPTION_HEADING, NULL, NULL, "Views instead of the table:", NULL},
	{OPT_TREE, "tree", NULL, "show the calls as a tree, the outermost first", NULL},
	{OPT_CALLERS, "callers", "FUNCTION", "show the callers of FUNCTION, and theirs, as a tree",
	 NULL},
	{OPT_CALLEES, "callees", "FUNCTION", "show the calls that FUNCTION makes as a tree", NULL},
	{OPT_HIST, "hist", "[F]", "show a histogram of times of calls, or of a field F", NULL},
	{OPT_TIMELINE, "timeline", "WIDTH", "show a bar of the first column for each WIDTH (10ms)",
	 NULL},
	{OPT_HEATMAP, "heatmap", "WIDTH", "show how many calls took how long, by time (10ms)",
	 NULL},
	{OPT_SLOWEST, "slowest", "N",
	 "show the N slowest calls with arguments and stack\n(with --pair: the N longest pairs "
	 "with both events)",
	 NULL},
	{OPT_UNPAIRED, "unpaired", NULL, "with --pair: show the first events without a second\none",
	 NULL},
	{OPT_WHY, "why", "EXPR",
	 "show whom the calls, or the threads, for which EXPR\nis true waited for: their critical "
	 "path",
	 NULL},
	{OPT_EXPLAIN_TAIL, "explain-tail", "EXPR",
	 "show what is different about the slow ones of the\ncalls for which EXPR is true: "
	 "children, arguments,\nCPU, states, callers, the call before",
	 NULL},
	{OPT_REPORT, "report", NULL,
	 "show what the trace is, where its time goes, its\nslowest calls, waits and errors on "
	 "one page;\n-t markdown, json or html -o FILE",
	 NULL},
	{OPT_QUANTILE, "quantile", "Q",
	 "with --explain-tail: the calls beyond the quantile Q\nare slow (default: 0.99)", NULL},
	{OPT_TITLE, "title", "TEXT", "the title of -t svg (default: names of the files)", NULL},
	{OPTION_HEADING, NULL, NULL, "Two traces or many runs, each a stream or a summary:", NULL},
	{OPT_DIFF, "diff", NULL,
	 "show what changed from the first FILE to the second\n(many runs: --diff 'old/*.trs' -- "
	 "'new/*.trs')",
	 NULL},
	{OPT_THRESHOLD, "threshold", "SHARE",
	 "ignore changes of less than SHARE, such as 5% or\n1.05x (default: 0%)", NULL},
	{OPT_ALPHA, "alpha", "P",
	 "use the level of significance P (default: 0.01,\nof many runs 0.05)", NULL},
	{OPTION_HEADING, NULL, NULL, "Parts of a trace, on many processors or machines:", NULL},
	{OPT_PARTIAL, "partial", NULL, "write a summary for --merge instead of a table", NULL},
	{OPT_MERGE, "merge", NULL, "read summaries, and print one table of all", NULL},
	{0},
};

static int set_view(struct stat_settings *s, enum view view, const char *name, const char *argument,
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

static int set_pair(struct stat_settings *s, bool cover, const char *text, struct error *e)
{
	if (s->pair && s->cover != cover)
		return error_set(e, NULL, NO_OFFSET, "--pair and --cover do not go together");
	s->pair = text;
	s->cover = cover;
	return 0;
}

/* Keep a condition of --fail-if. */
static int add_condition(struct command_line *o, const char *text, struct error *e)
{
	const char **grown = reallocarray(o->fail_if, o->fail_ifs + 1, sizeof(*grown));

	if (!grown)
		return error_no_memory(e);
	o->fail_if = grown;
	grown[o->fail_ifs++] = text;
	return 0;
}

/* Parse the conditions of --fail-if once all options are known: with --diff they are of its rows.
 * Returns -1 with e filled. */
static int command_line_conditions(struct command_line *line, struct error *e)
{
	if (line->settings.empty_ok && !line->fail_ifs && !line->diff.fail_if)
		return error_set(e, NULL, NO_OFFSET, "--fail-if-empty goes with --fail-if");
	line->diff.condition = line->fail_if;
	line->diff.conditions = line->fail_ifs;
	for (size_t i = 0; !line->diff.asked && i < line->fail_ifs; i++)
		if (alarms_add(&line->alarms, line->fail_if[i], e))
			return -1;
	return 0;
}

/* Parse a number without a sign. Returns what follows the number; NULL: there is none. */
static const char *parse_number(const char *text, double *number)
{
	size_t n = strspn(text, "0123456789.eE-");
	char *end;

	*number = strtod(text, &end);
	return n && end == text + n && *text != '-' && isfinite(*number) ? end : NULL;
}

/* Parse "5%" or "1.05x", and for alpha also "0.05"; -1 with e filled, naming the option. */
static int diff_threshold(struct diff_options *o, const char *text, struct error *e)
{
	double number;
	const char *unit = parse_number(text, &number);

	if (unit && !strcmp(unit, "%")) {
		o->threshold = number / 100;
		return 0;
	}
	if (unit && !strcmp(unit, "x") && number >= 1) {
		o->threshold = number - 1;
		return 0;
	}
	return error_set(e, NULL, NO_OFFSET,
			 "--threshold takes a share such as 5%% or a factor such as 1.05x, not "
			 "'%.64s'",
			 text);
}

static int diff_alpha(struct diff_options *o, const char *text, struct error *e)
{
	const char *unit = parse_number(text, &o->alpha);

	if (unit && *unit == '%') {
		o->alpha /= 100;
		unit++;
	}
	if (unit && !*unit && o->alpha > 0 && o->alpha < 1)
		return 0;
	return error_set(e, NULL, NO_OFFSET,
			 "--alpha takes a probability between 0 and 1, not '%s'", text);
}

/* Parse "0.99" or "99%"; -1 with e filled. */
static int tail_quantile(struct stat_settings *s, const char *text, struct error *e)
{
	const char *unit = parse_number(text, &s->quantile);

	s->quantile_text = text;
	if (unit && *unit == '%') {
		s->quantile /= 100;
		unit++;
	}
	if (unit && !*unit && s->quantile > 0 && s->quantile < 1)
		return 0;
	return error_set(e, NULL, NO_OFFSET,
			 "--quantile takes a number between 0 and 1 such as 0.99, not '%.64s'",
			 text);
}

/* Take one option, for struct program; ctx is the command line. */
static int command_line_option(void *ctx, int key, const char *arg, struct error *e)
{
	struct command_line *o = ctx;
	struct stat_settings *s = &o->settings;

	switch (key) {
	case 'g': s->keys = arg; return 0;
	case 'c': s->columns = arg; return 0;
	case 's': s->sort = arg; return 0;
	case 'n': s->limited = true; return option_number("-n", arg, &s->limit, e);
	case 't': return table_format_parse(arg, &s->format, e);
	case OPTION_WIDTH:
	case OPTION_COLOR: return screen_option(&o->screen, key, arg, e);
	case 'j': return jobs_option(arg, &s->jobs, e);
	case OPT_WHERE: s->where = arg; return 0;
	case OPT_SINCE: return moment_option(&s->since, "--since", arg, e);
	case OPT_UNTIL: return moment_option(&s->until, "--until", arg, e);
	case OPT_BOUNDS: s->bounds = true; return 0;
	case OPT_STRICT: s->strict = true; return 0;
	case 'i': s->interval = arg; return 0;
	case OPT_WALL: s->wall = true; return 0;
	case OPT_SLOWEST: return set_view(s, VIEW_SLOWEST, "slowest", arg, e);
	case OPT_UNPAIRED: return set_view(s, VIEW_UNPAIRED, "unpaired", NULL, e);
	case OPT_WHY: return set_view(s, VIEW_WHY, "why", arg, e);
	case OPT_EXPLAIN_TAIL: return set_view(s, VIEW_EXPLAIN_TAIL, "explain-tail", arg, e);
	case OPT_REPORT: return set_view(s, VIEW_REPORT, "report", NULL, e);
	case OPT_QUANTILE: return tail_quantile(s, arg, e);
	case OPT_PAIR:
	case OPT_COVER: return set_pair(s, key == OPT_COVER, arg, e);
	case OPT_FAIL_IF: return diff_fail_if(&o->diff, arg) ? 0 : add_condition(o, arg, e);
	case OPT_FAIL_IF_EMPTY:
		s->empty_ok = !strcmp(arg, "ok");
		return s->empty_ok ? 0
				   : error_set(e, NULL, NO_OFFSET,
					       "--fail-if-empty takes ok, not '%.64s'", arg);
	case OPT_DIFF: o->diff.asked = true; return 0;
	case OPT_THRESHOLD: return diff_threshold(&o->diff, arg, e);
	case OPT_TITLE: s->title = arg; return 0;
	case OPT_ALPHA: return diff_alpha(&o->diff, arg, e);
	case OPT_TREE: return set_view(s, VIEW_TREE, "tree", NULL, e);
	case OPT_CALLERS: return set_view(s, VIEW_CALLERS, "callers", arg, e);
	case OPT_CALLEES: return set_view(s, VIEW_CALLEES, "callees", arg, e);
	case OPT_HIST: return set_view(s, VIEW_HIST, "hist", arg, e);
	case OPT_HEATMAP: return set_view(s, VIEW_HEATMAP, "heatmap", arg, e);
	case OPT_PARTIAL: s->partial = true; return 0;
	case OPT_MERGE: s->merge = true; return 0;
	case OPT_TIMELINE: return set_view(s, VIEW_TIMELINE, "timeline", arg, e);
	}
	return -1;
}

/* --- run --- */

static int stat_streams(const void *ctx)
{
	const struct command_line *line = ctx;

	return line->settings.partial ? HEAD_SUMMARY : -1;
}

static const struct program program = {
	.name = "trstat",
	.operands = "[FILE]...",
	.purpose = "Print tables of the calls and events of a stream.",
	.options = command_line_rows,
	.daily = "group columns sort limit to where since until pair fail-if interval tree callers "
		 "hist slowest explain-tail report diff output quiet help version",
	.option = command_line_option,
	.streams = stat_streams,
};

/* The first "--" of a command line, before its options are parsed. */
struct separator {
	const char *text; /* NULL: there is none */
	int at;
};

static struct separator find_separator(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return (struct separator){argv[i], i};
	return (struct separator){0};
}

/* Get the number of operands after a "--" that other operands precede; -1: there is none. */
static int operands_after(const struct separator *s, int argc, char **argv)
{
	/* getopt_long moves operands to the end */
	bool separates = s->text && optind > 0 && argv[optind - 1] == s->text;
	int after = argc - s->at - 1;

	return separates && after < argc - optind ? after : -1;
}

/* Start the program, once its help has the names of columns. */
static int stat_start(int argc, char **argv, struct command_line *line,
		      struct common_options *common)
{
	struct separator separator = find_separator(argc, argv);
	int status;

	line->settings.screen = &line->screen;
	columns_add_words(command_line_columns, sizeof command_line_columns);
	status = program_start(&program, argc, argv, line, common);
	line->diff.operands = argc - optind;
	line->diff.news = operands_after(&separator, argc, argv);
	return status;
}

/* Returns true if the query compares or shows times of events. */
static bool query_has_times(const struct query *q)
{
	const struct stat_settings *s = q->settings;
	bool times = s->view == VIEW_TIMELINE || s->view == VIEW_HEATMAP || s->interval ||
		     s->pair || time_window_any(&q->window) ||
		     (q->keys.needs | q->where.keys.needs) & NEEDS_TIME;

	for (size_t i = 0; i < q->columns.count; i++)
		times |= column_unit(&q->columns.column[i]) == UNIT_TIME ||
			 q->columns.column[i].type->flags & COLUMN_RATE;
	return times;
}

/* Refuse options that conflict with --diff, and a wrong number of operands. -1 with e filled. */
static int diff_check(const struct stat_settings *s, const struct diff_options *o, struct error *e)
{
	const char *other = s->view_option	      ? s->view_option
			    : s->partial	      ? "partial"
			    : s->merge		      ? "merge"
			    : s->interval	      ? "interval"
			    : s->bounds		      ? "bounds"
			    : settings_selection(s)   ? settings_selection(s)
			    : s->format == TABLE_PROM ? "to=prom"
						      : NULL;
	bool tail = s->view == VIEW_EXPLAIN_TAIL;
	const char *own = o->threshold > 0 ? "threshold" : NULL;

	if (!o->asked && own)
		return error_set(e, NULL, NO_OFFSET, "--%s goes with --diff", own);
	if (!o->asked && !tail && o->alpha > 0)
		return error_set(e, NULL, NO_OFFSET, "--alpha goes with --diff and --explain-tail");
	if (!tail && s->quantile > 0)
		return error_set(e, NULL, NO_OFFSET, "--quantile goes with --explain-tail");
	if (s->title && s->format != TABLE_SVG)
		return error_set(e, NULL, NO_OFFSET, "--title goes with -t svg");
	if (!o->asked && o->fail_if)
		return error_set(e, NULL, NO_OFFSET,
				 "--fail-if with a word instead of a condition goes with --diff");
	if (table_format_check(s->format, o->asked ? "diff" : s->view_option, e))
		return -1;
	if (!o->asked)
		return 0;
	if (s->format == TABLE_SVG && (s->keys || s->columns || s->limited || o->sort || s->pair))
		return error_set(e, NULL, NO_OFFSET,
				 "-t svg draws the self times of all stacks: it goes with none of "
				 "-g, -c, -n, -s and --pair");
	if (other)
		return error_set(e, NULL, NO_OFFSET, "--%s does not go with --diff", other);
	if (o->news < 0 ? o->operands != 2 : !o->news)
		return error_set(e, NULL, NO_OFFSET,
				 "--diff takes two streams or summaries, not %d; '--' is between "
				 "the runs of two sides: 'OLD... -- NEW...'",
				 o->operands);
	return 0;
}

/* Refuse options, and conditions of --fail-if (their number), that conflict with --partial,
 * --merge or --why. -1 with e filled. */
static int partial_check(const struct stat_settings *s, size_t conditions, struct error *e)
{
	bool alone = s->view == VIEW_EXPLAIN_TAIL || s->view == VIEW_WHY;
	const char *option = s->wall			? "wall"
			     : conditions && s->partial ? "fail-if"
							: settings_selection(s);

	if (alone && conditions)
		return error_set(e, NULL, NO_OFFSET,
				 "--fail-if does not go with --%s, which has no columns",
				 s->view_option);
	if (!option || !(s->partial || s->merge))
		return 0;
	return error_set(e, NULL, NO_OFFSET, "--%s does not go with --%s", option,
			 s->partial ? "partial" : "merge");
}

/* Check the options and make the query. -1 with e filled. */
static int command_line_query(struct command_line *line, struct query *q, int operands,
			      char **operand, struct error *e)
{
	struct stat_settings *s = &line->settings;

	if (line->diff.asked) {
		/* -s names columns of both traces, which query_parse does not know */
		line->diff.sort = s->sort;
		s->sort = NULL;
	}
	s->alpha = line->diff.alpha > 0 ? line->diff.alpha : 0.01;
	if (diff_check(s, &line->diff, e) || command_line_conditions(line, e) ||
	    partial_check(s, line->alarms.count, e))
		return -1;
	return !s->merge && (query_parse(q, s, e) ||
			     time_window_find_ends(&q->window, operand, operands, e))
		       ? -1
		       : 0;
}

int main(int argc, char **argv)
{
	struct command_line line = {0};
	struct common_options common;
	struct query query = {0};
	struct stage stage;
	struct error e;
	int status = stat_start(argc, argv, &line, &common);

	if (status < 0)
		status = program_check_format(&common, table_format_name(line.settings.format));
	if (status >= 0) {
		free(line.fail_if);
		return status;
	}
	if (command_line_query(&line, &query, argc - optind, argv + optind, &e)) {
		query_free(&query);
		alarms_free(&line.alarms);
		free(line.fail_if);
		return program_usage(&common, "%s", e.what);
	}
	if (line.diff.asked) {
		query_free(&query);
		status = diff_run(&line.settings, &line.diff, argv + optind, &common);
		free(line.fail_if);
		return status;
	}
	if (!stage_open(&stage, argv + optind, argc - optind, &common) &&
	    !stage_print_to(&stage, common.output,
			    line.settings.partial ? OUTPUT_SUMMARY : OUTPUT_TEXT)) {
		if (!line.settings.merge)
			stage.in.reads_values =
				line.alarms.count ? READS_ALL : query_reads_values(&query);
		stage.alarm = line.alarms.count;
		stage.one_axis = !line.settings.merge && query_has_times(&query);
		stage.prints_times = stage.one_axis || line.settings.view == VIEW_REPORT ||
				     line.settings.view == VIEW_SLOWEST ||
				     line.settings.view == VIEW_WHY;
		run_query(&stage, &line.settings, &query, &line.alarms, argc, argv);
	}
	alarms_free(&line.alarms);
	free(line.fail_if);
	status = stage_finish(&stage);
	query_free(&query);
	stat_settings_free(&line.settings);
	return status;
}
