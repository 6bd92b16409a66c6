#include "cmd/trfilter/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/value/units.h"

enum {
	KEY_EXPLAIN = 256,
	KEY_CALLERS,
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

const struct option_row settings_rows[] = {
	{'v', "invert", NULL, "keep the events for which EXPR is false", NULL},
	{'n', "limit", "N", "keep the first N matching calls and events", NULL},
	{'c', "count", NULL, "print the number of matching calls and events, and\nwrite no stream",
	 NULL},
	{'D', "depth", "DEPTH", "keep only calls nested less than DEPTH deep", NULL},
	{KEY_CALLERS, "with-callers", NULL, "also keep the callers of the kept calls", NULL},
	{KEY_SINCE, "since", "TIME",
	 "drop events before TIME: 12.5s, +1.5s from the first\nevent, -10s before the last, or a "
	 "date",
	 NULL},
	{KEY_UNTIL, "until", "TIME", "drop events at TIME and later", NULL},
	{KEY_BETWEEN, "between", "FROM TO",
	 "in each thread, keep only the events from one that\nmatches FROM to the next that "
	 "matches TO",
	 NULL},
	{KEY_SAMPLE, "sample", "N/M", "keep N of M threads, or N of M values of --by", NULL},
	{KEY_BY, "by", "FIELD", "sample by the values of FIELD (default: tid)", NULL},
	{'A', "after", "N", "also keep N events after each kept event", NULL},
	{'B', "before", "N", "also keep N events before each kept event", NULL},
	{KEY_WITHIN, "within", "TIME",
	 "also keep the events of all threads up to TIME\nbefore and after each kept event", NULL},
	{KEY_KEEP, "keep", "FIELDS", "keep only these fields and arguments of the events", NULL},
	{KEY_DROP, "drop", "FIELDS", "remove these fields and arguments of the events", NULL},
	{KEY_SCRUB, "scrub", "WHAT",
	 "replace names, args or paths by pseudonyms; several\nwith commas, such as names,paths",
	 "names args paths"},
	{KEY_KEY, "key", "TEXT", "derive the pseudonyms from TEXT (default: a random\nkey)", NULL},
	{KEY_STRICT, "strict", NULL, "exit 1 if the recorder lost events", NULL},
	{KEY_EXPLAIN, "explain", NULL, "print how EXPR is read, and the fields that it can\ntest",
	 NULL},
	{0},
};

void settings_init(struct settings *s, int argc, char **argv)
{
	*s = (struct settings){
		.limit = UINT64_MAX, .depth = UINT64_MAX, .argc = argc, .argv = argv};
}

void settings_free(struct settings *s)
{
	time_range_free(&s->time_range);
	rewrite_free(&s->rewrite);
}

/* Take the second condition of --between: the argument after getopt's. */
static int set_between(struct settings *s, const char *from, struct error *e)
{
	if (optind >= s->argc)
		return error_set(e, NULL, NO_OFFSET, "--between takes two conditions");
	condition_free(s->time_range.from);
	condition_free(s->time_range.to);
	s->time_range.to = NULL;
	s->time_range.from = time_range_condition(from, "--between", e);
	if (s->time_range.from)
		s->time_range.to = time_range_condition(s->argv[optind++], "--between", e);
	return s->time_range.to ? 0 : -1;
}

int settings_option(void *ctx, int key, const char *arg, struct error *e)
{
	struct settings *s = ctx;
	int64_t ns;

	switch (key) {
	case 'v': s->invert = true; break;
	case 'c': s->count = true; break;
	case KEY_STRICT: s->strict = true; break;
	case KEY_EXPLAIN: s->explain = true; break;
	case KEY_CALLERS: s->callers = true; break;
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
		condition_free(s->time_range.by);
		s->time_range.by = time_range_field(arg, e);
		return s->time_range.by ? 0 : -1;
	}
	return 0;
}

int settings_check(struct settings *s, struct error *e)
{
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
