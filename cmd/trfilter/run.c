#include "cmd/trfilter/run.h"

#include <getopt.h>
#include <inttypes.h>

#include "cmd/trfilter/rows/emit.h"
#include "cmd/trfilter/expression/explain.h"
#include "cmd/trfilter/report.h"
#include "common/util/stack_limit.h"
#include "common/value/units.h"

enum { QUEUE_LIMIT = 8 << 20 }; /* bytes in memory */

struct work {
	struct stage *stage;
	struct settings *settings;
	struct select select;
	struct results results; /* of the condition: at most -n */
	struct results total;	/* of the output, for -c */
	bool stream_read;	/* --explain reads a stream only if one is named */
};

/* Print the text that replaces the stream. */
static void print_text(struct text *t, void *ctx)
{
	const struct work *w = ctx;

	if (!w->settings->explain) {
		text_u64(t, w->total.count);
		text_char(t, '\n');
		return;
	}
	explain_filter(t, w->select.filter, w->settings->invert);
	explain_names(t);
	if (w->stream_read)
		explain_types(t, &w->stage->in.dictionary);
}

/* Refuse times that a clock has no meaning for, in --within and in conditions: with a unit where it
 * counts ticks, and without a unit where it counts ns. */
static int check_clocks(const struct work *w, const struct block *b, struct error *e)
{
	const struct settings *o = w->settings;
	const struct time_range *range = &o->time_range;

	for (uint32_t i = 0; b->kind == BLOCK_EVENTS && i < b->nlanes; i++) {
		bool ticks = b->lanes[i]->clock->flags & CLOCK_TICKS;

		if (o->within && time_check_clock(NULL, "--within", o->within, ticks, e))
			return -1;
		if (expression_check_clock(w->select.filter->tree, "expression", ticks, NULL, NULL,
					   e) ||
		    expression_check_clock(range->from, "--between", ticks, NULL, NULL, e) ||
		    expression_check_clock(range->to, "--between", ticks, NULL, NULL, e))
			return -1;
	}
	return 0;
}

/* Filter row by row. */
static void run_rows(struct work *w, struct stage *s)
{
	struct time_range *time_range = w->select.time_range;
	bool count = w->settings->count;
	struct emit_rows x;
	struct error e;
	struct block b;
	int bad = 0;

	emit_rows_init(&x, s, &w->select);
	if (count || w->settings->limit != UINT64_MAX)
		x.results = &w->results;
	s->in.rows_on_demand = true;
	s->holds = !count;
	while (!bad && !emit_rows_done(&x) && stage_next(s, &b)) {
		if (time_range)
			time_range_block(time_range, &b,
					 b.kind == BLOCK_HEAD && !s->in.head.sequence);
		if (check_clocks(w, &b, &e))
			bad = stage_fail(s, &e);
		else if (count)
			bad = emit_nothing(&x, &b);
		else
			bad = b.kind == BLOCK_EVENTS ? emit_block(&x, &b) : emit_other(&x, &b);
	}
	if (!bad && !count)
		emit_ends(&x);
	emit_rows_free(&x);
	w->total.count = w->results.count;
	select_free(&w->select);
}

/* Filter with undecided rows in a queue: whole calls, or events around a match. */
static void run_calls(struct work *w, struct stage *s, struct filter *f)
{
	struct settings *o = w->settings;
	struct context *context = context_any(&o->context) ? &o->context : NULL;
	struct emit x = {.stage = s,
			 .context = context,
			 .pass = !o->count,
			 .limit = context || o->limit == UINT64_MAX ? NULL : &w->results,
			 .total = o->count ? &w->total : NULL};
	struct call_filter calls;
	struct error e;
	struct block b;
	int bad = 0;

	if (context) {
		context->limit = o->limit;
		context_init(context, QUEUE_LIMIT, &s->in.dictionary);
	}
	if (call_filter_init(&calls, f, QUEUE_LIMIT, &e))
		bad = stage_fail(s, &e);
	calls.time_range = w->select.time_range;
	calls.invert = o->invert;
	calls.callers = o->callers;
	calls.distinguishes_callers = context || o->limit != UINT64_MAX;
	calls.max_depth = o->depth < UINT32_MAX ? (uint32_t)o->depth : UINT32_MAX;
	calls.queue.left_out = context ? ROW_FOR_CONTEXT : ROW_LEFT_OUT;
	duration_scan_init(&calls);
	s->holds = !o->count;
	while (!bad && !emit_done(&x) && stage_next(s, &b)) {
		if (calls.time_range)
			time_range_block(calls.time_range, &b,
					 b.kind == BLOCK_HEAD && !s->in.head.sequence);
		bad = check_clocks(w, &b, &e) ? stage_fail(s, &e) : emit_calls(&x, &calls, &b);
	}
	if (!bad)
		emit_finish(&x, &calls);
	if (!s->options->quiet)
		warn_count(NULL, calls.nodes.deep,
			   "{call is|calls are} on %d others or more: \"" STACK_DEEPER
			   "\" ends {its stack|their stacks}",
			   STACK_FRAMES);
	call_filter_free(&calls);
	if (context)
		context_free(context);
}

/* Refuse fields, and warn of names, that no event has. early: a limit ended the reading. */
static void check_names(struct stage *s, const struct settings *o, const struct filter *f,
			bool early)
{
	const struct node *conditions[] = {f->tree, o->time_range.from, o->time_range.to,
					   o->time_range.by};
	struct intern warned = {0};
	const struct declared all = {.dictionary = &s->in.dictionary,
				     .warned = &warned,
				     .partial = s->status != STATUS_OK,
				     .quiet = s->options->quiet,
				     .early = early};
	struct error e;
	int bad = 0;

	for (size_t i = 0; i < sizeof conditions / sizeof *conditions && !bad; i++)
		bad = conditions[i] && condition_check_names(conditions[i], &all, &e);
	if (o->depth != UINT64_MAX && !all.quiet && !early && !condition_has_calls(all.dictionary))
		warn(NULL, NO_OFFSET, "--depth has no effect: this trace has no calls");
	if (bad || (s->rewrite && projection_check(&o->rewrite.projection, &all, &e)))
		stage_fail(s, &e);
	intern_free(&warned);
}

/* Open the output. The stream's head gets the command line, unless the line may contain what is
 * scrubbed. */
static int create_output(struct stage *s, struct settings *o, int argc, char **argv)
{
	char *short_line[] = {argv[0], (char *)"--scrub"};
	bool hide = o->rewrite.scrub.what;

	if (stage_create(s, hide ? 2 : argc, hide ? short_line : argv))
		return -1;
	if (rewrite_any(&o->rewrite)) {
		rewrite_begin(&o->rewrite, &s->in.dictionary);
		s->rewrite = &o->rewrite.hooks;
	}
	return 0;
}

/* Returns true if the limit ended the reading. */
static bool limit_reached(const struct work *w)
{
	const struct context *context = &w->settings->context;

	return results_full(context_any(context) ? &context->results : &w->results);
}

/* Returns true for the condition 1 without options: all rows are passed on. */
static bool keeps_all(const struct settings *o, const struct filter *f)
{
	const struct node *n = f->tree;

	return n->kind == NODE_TRUTH && operand_literal(n->left) &&
	       n->left->value.form == SCALAR_UINT && n->left->value.u && !o->invert &&
	       !time_range_any(&o->time_range) && !rewrite_any(&o->rewrite) &&
	       o->limit == UINT64_MAX && o->depth == UINT64_MAX && !context_any(&o->context);
}

void run_filter(struct stage *s, struct settings *o, struct filter *f, int argc, char **argv)
{
	struct work w = {
		.stage = s,
		.settings = o,
		.select = {.filter = f, .invert = o->invert},
		.stream_read = !o->explain || argc > optind + 1,
	};
	bool stream = !o->count && !o->explain;
	struct block b;

	s->in.reads_values = rewrite_any(&o->rewrite) || time_range_read_values(&o->time_range)
				     ? READS_ALL
				     : condition_reads_values(f->tree);
	f->evaluation = (struct evaluation){.dictionary = &s->in.dictionary,
					    .quiet = s->options->quiet || o->explain};
	if (time_range_any(&o->time_range)) {
		o->time_range.evaluation = f->evaluation;
		w.select.time_range = &o->time_range;
	}
	s->one_segment = !keeps_all(o, f);
	s->one_axis = time_window_any(&o->time_range.window);
	if (stream ? create_output(s, o, argc, argv)
		   : stage_print_to(s, s->options->output, OUTPUT_TEXT))
		return;
	results_init(&w.results, o->limit, &s->in.dictionary);
	results_init(&w.total, UINT64_MAX, &s->in.dictionary);
	s->out.head.flags = HEAD_FILTERED | (o->rewrite.projection.count ? HEAD_REDUCED : 0);
	if (o->explain)
		while (w.stream_read && stage_next(s, &b))
			;
	else if (call_filter_needed(f) || o->callers || o->depth != UINT64_MAX ||
		 context_any(&o->context))
		run_calls(&w, s, f);
	else
		run_rows(&w, s);
	if (w.stream_read && s->status != STATUS_FAILED && !stage_part(s))
		check_names(s, o, f, limit_reached(&w));
	if (o->strict)
		s->status = status_worse(s->status, failure_of_lost(s->filter ? &s->out : NULL,
								    s->lost, s->lost_more));
	if (!s->options->quiet)
		time_range_report(&o->time_range, s->status != STATUS_FAILED && s->events &&
							  !o->explain && !limit_reached(&w));
	if (s->rewrite)
		rewrite_report(&o->rewrite, s->options->quiet);
	if (!stream && s->status != STATUS_FAILED)
		report(s, print_text, &w);
	results_free(&w.results);
	results_free(&w.total);
}
