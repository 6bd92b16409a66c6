/*
 * main.c - the command line
 */
#include "cmd/trfilter/run.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/value/units.h"

enum {
	KEY_EXPLAIN = 256,
	KEY_CALLERS,
	KEY_FOLLOW,
	KEY_SINCE,
	KEY_UNTIL,
	KEY_WITHIN,
	KEY_BETWEEN,
	KEY_SAMPLE,
	KEY_BY,
	KEY_KEEP,
	KEY_DROP,
	KEY_SCRUB,
	KEY_KEY,
	KEY_STRICT = OPTION_ASIDE,
};

static const struct option_row settings_rows[] = {
	{'v', "invert", NULL, "keep the events for which EXPR is false", NULL},
	{'n', "limit", "N", "keep the first N matching calls and events", NULL},
	{'c', "count", NULL, "print the number of matches, and write no stream", NULL},
	{'D', "depth", "DEPTH", "keep only calls nested less than DEPTH deep", NULL},
	{KEY_CALLERS, "with-callers", NULL, "also keep the callers of the kept calls", NULL},
	{KEY_FOLLOW, "follow", NULL,
	 "also keep what the matches lead to, in all threads:\nby flows, wakeups and messages",
	 NULL},
	{KEY_SINCE, "since", "TIME",
	 "drop events before TIME: 12.5s, +1.5s, -10s, a date\n(+: from the first event, -: before "
	 "the last)",
	 NULL},
	{KEY_UNTIL, "until", "TIME", "drop events at TIME and later", NULL},
	{KEY_BETWEEN, "between", "FROM TO",
	 "in each thread, keep the events from FROM to TO\n(from one for which FROM is true to the "
	 "next for\nwhich TO is true)",
	 NULL},
	{KEY_SAMPLE, "sample", "N/M", "keep N of M threads, or N of M values of --by", NULL},
	{KEY_BY, "by", "FIELD", "sample by the values of FIELD (default: tid)", NULL},
	{'A', "after", "N", "also keep N events after each kept event", NULL},
	{'B', "before", "N", "also keep N events before each kept event", NULL},
	{KEY_WITHIN, "within", "TIME",
	 "also keep what occurs up to TIME around kept events\n(events of all threads, before and "
	 "after)",
	 NULL},
	{KEY_KEEP, "keep", "FIELDS", "keep only these fields and arguments of the events", NULL},
	{KEY_DROP, "drop", "FIELDS", "remove these fields and arguments of the events", NULL},
	{KEY_SCRUB, "scrub", "WHAT",
	 "replace names, args or paths by pseudonyms\n(several with commas, such as names,paths)",
	 "names args paths"},
	{KEY_KEY, "key", "TEXT", "derive the pseudonyms from TEXT (default: a random\nkey)", NULL},
	ARCHIVE_OPTION_ROWS,
	{KEY_STRICT, "strict", NULL, "exit 1 if the recorder lost events", NULL},
	{KEY_EXPLAIN, "explain", NULL, "print how EXPR is read, and which fields there are", NULL},
	{0},
};

static void settings_init(struct filter_settings *s, int argc, char **argv)
{
	*s = (struct filter_settings){
		.limit = UINT64_MAX, .depth = UINT64_MAX, .argc = argc, .argv = argv};
}

static void filter_settings_free(struct filter_settings *s)
{
	time_range_free(&s->time_range);
	rewrite_free(&s->rewrite);
}

/* Take the second condition of --between: the argument after getopt's. */
static int set_between(struct filter_settings *s, const char *from, struct error *e)
{
	if (optind >= s->argc)
		return error_set(e, NULL, NO_OFFSET, "--between takes two conditions");
	filter_condition_free(s->time_range.from);
	filter_condition_free(s->time_range.to);
	s->time_range.to = NULL;
	s->time_range.from = time_range_condition(from, "--between", e);
	if (s->time_range.from)
		s->time_range.to = time_range_condition(s->argv[optind++], "--between", e);
	return s->time_range.to ? 0 : -1;
}

/* Parse "1/100". Returns -1 if it is invalid. */
static int time_range_sample(struct time_range *l, const char *text)
{
	char *end;

	errno = 0;
	l->sample = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '/' || end[1] < '0' || end[1] > '9')
		return -1;
	l->of = strtoull(end + 1, &end, 10);
	return *end || errno || !l->of || l->sample > l->of ? -1 : 0;
}

static struct node *time_range_field(const char *text, struct error *e)
{
	struct node *n = time_range_condition(text, "--by", e);

	if (!n || (n->kind == NODE_TRUTH && operand_field(n->left)))
		return n;
	filter_condition_free(n);
	error_set(e, NULL, NO_OFFSET, "--by takes the name of a field, not '%s'", text);
	return NULL;
}

/* Take one option, for struct program. */
static int filter_settings_option(void *ctx, int key, const char *arg, struct error *e)
{
	struct filter_settings *s = ctx;
	int64_t ns;

	switch (key) {
	case 'v': s->invert = true; break;
	case 'c': s->count = true; break;
	case KEY_STRICT: s->strict = true; break;
	case KEY_EXPLAIN: s->explain = true; break;
	case KEY_CALLERS: s->callers = true; break;
	case KEY_FOLLOW: s->follow = true; break;
	case 'D': return option_number("-D", arg, &s->depth, e);
	case 'n': return option_number("-n", arg, &s->limit, e);
	case 'A': return option_number("-A", arg, &s->context.after, e);
	case 'B': return option_number("-B", arg, &s->context.before, e);
	case KEY_SINCE: return moment_option(&s->time_range.window.since, "--since", arg, e);
	case KEY_UNTIL: return moment_option(&s->time_range.window.until, "--until", arg, e);
	case KEY_WITHIN:
		if (parse_time(arg, &ns) || ns < 0)
			return error_set(e, NULL, NO_OFFSET,
					 "--within takes a time such as 2ms, not '%s'", arg);
		s->context.within = (uint64_t)ns;
		s->context.by_time = true;
		s->within = arg;
		break;
	case KEY_BETWEEN: return set_between(s, arg, e);
	case KEY_SAMPLE:
		if (time_range_sample(&s->time_range, arg))
			return error_set(e, NULL, NO_OFFSET,
					 "--sample takes a share such as 1/100, not '%s'", arg);
		break;
	case KEY_KEEP:
	case KEY_DROP: return projection_parse(&s->rewrite.projection, arg, key == KEY_KEEP, e);
	case KEY_SCRUB: return scrub_parse(&s->rewrite.scrub, arg, e);
	case KEY_KEY: s->key = arg; break;
	case KEY_BY:
		filter_condition_free(s->time_range.by);
		s->time_range.by = time_range_field(arg, e);
		return s->time_range.by ? 0 : -1;
	}
	return 0;
}

/* Refuse what does not go with --follow. */
static int check_follow(const struct filter_settings *s, struct error *e)
{
	if (s->invert)
		return error_set(
			e, NULL, NO_OFFSET,
			"-v does not go with --follow: negate the condition itself, !(EXPR)");
	if (context_any(&s->context))
		return error_set(
			e, NULL, NO_OFFSET,
			"-A, -B and --within do not go with --follow, which keeps events by "
			"their cause, not by their time");
	if (s->depth != UINT64_MAX)
		return error_set(e, NULL, NO_OFFSET,
				 "-D does not go with --follow: use another trfilter -D after it");
	return 0;
}

/* Check combinations of options. */
static int settings_check(struct filter_settings *s, struct error *e)
{
	if (s->follow && check_follow(s, e))
		return -1;
	if (s->key && !s->rewrite.scrub.what)
		return error_set(e, NULL, NO_OFFSET, "--key goes with --scrub");
	if (s->count && rewrite_any(&s->rewrite))
		return error_set(e, NULL, NO_OFFSET, "--%s has no effect with -c",
				 s->rewrite.scrub.what	      ? "scrub"
				 : s->rewrite.projection.keep ? "keep"
							      : "drop");
	if (s->rewrite.scrub.what && scrub_key(&s->rewrite.scrub, s->key, e))
		return -1;
	if (moment_check_range(&s->time_range.window.since, &s->time_range.window.until, e))
		return -1;
	if (s->time_range.by && !s->time_range.of)
		return error_set(e, NULL, NO_OFFSET, "--by goes with --sample");
	if (s->time_range.of && !s->time_range.by) {
		s->time_range.by = time_range_field("tid", e);
		return s->time_range.by ? 0 : -1;
	}
	return 0;
}

/* --- trfilter - keep the events of a stream for which a condition is true --- */

static int filter_streams(const void *ctx)
{
	const struct filter_settings *s = ctx;

	return s->count || s->explain ? -1 : 0;
}

static const struct program program = {
	.name = "trfilter",
	.operands = "EXPR [FILE]...",
	.words = 1,
	.purpose =
		"Keep the events of a stream for which EXPR is true, such as 'name == \"main\"'.\n"
		"EXPR may be @FILE, a file that contains the expression.",
	.options = settings_rows,
	.daily = "invert limit count depth with-callers follow since until between after before "
		 "within "
		 "keep scrub explain output quiet help version",
	.option = filter_settings_option,
	.patience = PATIENCE_FILTER,
	.streams = filter_streams,
};

int main(int argc, char **argv)
{
	struct common_options common;
	struct filter_settings o;
	struct filter f = {0};
	struct stage s;
	struct error e;
	char **files;
	int status, n;

	settings_init(&o, argc, argv);
	status = program_start(&program, argc, argv, &o, &common);
	if (status < 0 && optind == argc)
		status = program_usage(&common, "the expression is missing");
	if (status >= 0) {
		filter_settings_free(&o);
		return status;
	}
	/* a message with the command is passed on in the stream, which must not have the key */
	if (o.key)
		command_note(NULL, 0);
	files = argv + optind + 1;
	n = argc - optind - 1;
	if (settings_check(&o, &e) || time_window_find_ends(&o.time_range.window, files, n, &e) ||
	    filter_compile(&f, argv[optind], &e)) {
		error_print(&e);
		status = program_failed(&common, &e);
	} else {
		if (!stage_open(&s, files, n, &common))
			run_filter(&s, &o, &f, argc, argv);
		status = stage_finish(&s);
	}
	filter_free(&f);
	filter_settings_free(&o);
	return status;
}
