/* trfilter - keep the events of a stream for which a condition holds */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include "emit.h"
#include "explain.h"
#include "report.h"

enum { KEY_EXPLAIN = 256, KEY_CALLERS };

enum { WAITING_LIMIT = 8 << 20 }; /* bytes in memory */

struct options {
	bool invert, count, explain, callers;
	uint64_t limit, depth;
};

struct work {
	struct stage *stage;
	const struct options *options;
	struct select select;
	bool stream_read; /* --explain reads one only if it is named */
};

static const struct option_row rows[] = {
	{'v', "invert", NULL, "keep the events for which EXPR does not hold", NULL},
	{'m', "max-count", "N", "end after N events", NULL},
	{'c', "count", NULL, "print how many events there are, and no stream", NULL},
	{KEY_EXPLAIN, "explain", NULL, "print how EXPR is understood and what may be asked", NULL},
	{'D', "max-depth", "DEPTH", "keep no calls that are DEPTH or more calls deep", NULL},
	{KEY_CALLERS, "callers", NULL, "keep the calls around those that are kept", NULL},
	{0},
};

static int number(const char *option, const char *arg, uint64_t *n, struct error *e)
{
	char *end;

	errno = 0;
	*n = strtoull(arg, &end, 10);
	if (*arg < '0' || *arg > '9' || *end || errno)
		return error_set(e, NULL, NO_OFFSET, "%s needs a number, not '%s'", option, arg);
	return 0;
}

static int option(void *ctx, int key, const char *arg, struct error *e)
{
	struct options *o = ctx;

	switch (key) {
	case 'v': o->invert = true; break;
	case 'c': o->count = true; break;
	case KEY_EXPLAIN: o->explain = true; break;
	case KEY_CALLERS: o->callers = true; break;
	case 'D': return number("-D", arg, &o->depth, e);
	case 'm': return number("-m", arg, &o->limit, e);
	}
	return 0;
}

static const struct program program = {
	.name = "trfilter",
	.operands = "EXPR [FILE]...",
	.purpose = "Keep the events of a stream for which EXPR holds, as in 'name == \"main\"'.",
	.options = rows,
	.option = option,
};

/* What is printed in the place of a stream. */
static void print(struct text *t, void *ctx)
{
	const struct work *w = ctx;

	if (!w->options->explain) {
		text_u64(t, w->select.matched);
		text_char(t, '\n');
		return;
	}
	explain_filter(t, w->select.filter);
	explain_names(t);
	if (w->stream_read)
		explain_types(t, &w->stage->in.dictionary);
}

/* Rows one by one. */
static void run_rows(struct work *w, struct stage *s)
{
	const struct options *o = w->options;
	struct block b;
	int bad = 0;

	while (!bad && !select_done(&w->select) && stage_next(s, &b)) {
		if (b.kind == BLOCK_EVENTS)
			bad = o->count ? emit_nothing(s, &w->select, &b)
				       : emit_block(s, &w->select, &b);
	}
}

/* Whole calls, for which rows wait. */
static void run_calls(struct work *w, struct stage *s, struct filter *f)
{
	const struct options *o = w->options;
	uint64_t *matched = &w->select.matched;
	struct whole calls;
	struct error e;
	struct block b;
	int bad = 0;

	if (whole_init(&calls, f, WAITING_LIMIT, &e)) {
		stage_fail(s, &e);
		whole_free(&calls);
		return;
	}
	calls.invert = o->invert;
	calls.callers = o->callers;
	calls.max_depth = o->depth < UINT32_MAX ? (uint32_t)o->depth : UINT32_MAX;
	whole_plain_init(&calls);
	s->holds = !o->count;
	while (!bad && *matched < o->limit && stage_next(s, &b))
		bad = emit_whole(s, &calls, &b, !o->count, o->limit, matched);
	if (!bad && *matched < o->limit)
		emit_whole(s, &calls, NULL, !o->count, o->limit, matched);
	whole_free(&calls);
}

static void run(struct stage *s, const struct options *o, struct filter *f, int argc, char **argv)
{
	struct work w = {s, o, {.filter = f, .invert = o->invert, .limit = o->limit}, false};
	bool stream = !o->count && !o->explain;
	struct block b;

	f->evaluation = (struct evaluation){.dictionary = &s->in.dictionary,
					    .quiet = s->options->quiet || o->explain};
	w.stream_read = !o->explain || argc > optind + 1;
	if (stream ? stage_create(s, argc, argv) : stage_print_to(s, OUTPUT_TEXT))
		return;
	s->out.head_flags = HEAD_FILTERED;
	if (o->explain) {
		while (w.stream_read && stage_next(s, &b))
			;
	} else if (whole_needed(f) || o->callers || o->depth != UINT64_MAX) {
		run_calls(&w, s, f);
	} else {
		run_rows(&w, s);
	}
	if (!stream && s->status != STATUS_FAILED)
		report(s, print, &w);
	select_free(&w.select);
}

int main(int argc, char **argv)
{
	struct options o = {.limit = UINT64_MAX, .depth = UINT64_MAX};
	struct common_options common;
	struct filter f;
	struct stage s;
	struct error e;
	int status = program_start(&program, argc, argv, &o, &common);

	if (status >= 0)
		return status;
	if (optind == argc)
		return program_usage(&program, "the expression is missing");
	if (filter_compile(&f, argv[optind], &e)) {
		error_print(&e);
		filter_free(&f);
		return STATUS_FAILED;
	}
	if (!stage_open(&s, argv + optind + 1, argc - optind - 1, &common))
		run(&s, &o, &f, argc, argv);
	status = stage_finish(&s);
	filter_free(&f);
	return status;
}
