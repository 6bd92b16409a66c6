/*
 * run.c - one run: rows or whole calls, --explain, and the report
 */
#include "cmd/trfilter/run.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trfilter/emit.h"
#include "common/cli/stage.h"
#include "common/util/stack_limit.h"
#include "common/util/text.h"
#include "common/value/units.h"

/* --- print text instead of a stream --- */

/* Let print write to the output, which stage_print_to opened. Returns 0, or -1 after stage_fail. */
int report(struct stage *s, void (*print)(struct text *t, void *ctx), void *ctx);

static const char *const comparisons[] = {
	[COMPARE_EQ] = "==", [COMPARE_NE] = "!=", [COMPARE_LT] = "<",
	[COMPARE_LE] = "<=", [COMPARE_GT] = ">",  [COMPARE_GE] = ">=",
};

/* Write bytes, those that are not printable ASCII as escapes. */
static void put_quoted(struct text *t, const char *p, size_t n)
{
	text_char(t, '"');
	for (; n--; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '"' || c == '\\')
			text_char(t, '\\');
		if (c < ' ' || c > '~')
			text_printf(t, "\\x%02x", c);
		else
			text_char(t, (char)c);
	}
	text_char(t, '"');
}

static void show_scalar(struct text *t, const struct scalar *s)
{
	switch (s->form) {
	case SCALAR_INT: text_i64(t, s->i); break;
	case SCALAR_UINT: text_u64(t, s->u); break;
	case SCALAR_REAL: text_printf(t, "%.18Lg", s->real); break;
	case SCALAR_TEXT: put_quoted(t, s->text, s->size); break;
	case SCALAR_NONE:
	case SCALAR_OTHER: break;
	}
}

static void show_operand(struct text *t, const struct operand *o)
{
	const struct field_lookup *lookup = o->data;

	if (o->kind == OPERAND_LITERAL) {
		show_scalar(t, &o->value);
		text_puts(t, o->of_time ? "ns" : "");
	} else if (o->kind == OPERAND_ARITHMETIC) {
		text_char(t, '(');
		show_operand(t, o->left);
		text_printf(t, " %s ", arithmetic_sign(o->arithmetic));
		show_operand(t, o->right);
		text_char(t, ')');
	} else if (lookup->is_argument) {
		text_printf(t, "arg.%s", o->name);
	} else if (o->field == ASK_FIELD) {
		text_puts(t, "field(");
		put_quoted(t, o->name, strlen(o->name));
		text_char(t, ')');
	} else {
		text_puts(t, o->name);
	}
}

static void show_set(struct text *t, const struct node *n)
{
	const char *unit = n->left->of_time && n->time_unit ? "ns" : "", *between = "";

	text_puts(t, " in {");
	for (size_t i = 0; i < n->nnumbers; i++, between = ", ") {
		text_puts(t, between);
		show_scalar(t, &n->numbers[i]);
		text_puts(t, unit);
	}
	for (size_t i = 0; i < n->ntexts; i++, between = ", ") {
		text_puts(t, between);
		show_scalar(t, &n->texts[i]);
	}
	text_char(t, '}');
}

static void show_node(struct text *t, const struct node *n);

static void show_joined(struct text *t, const struct node *n)
{
	for (size_t i = 0; i < n->nchildren; i++) {
		const struct node *child = n->children[i];
		bool group = child->kind == NODE_AND || child->kind == NODE_OR;

		if (i)
			text_puts(t, n->kind == NODE_AND ? " && " : " || ");
		if (group)
			text_char(t, '(');
		show_node(t, child);
		if (group)
			text_char(t, ')');
	}
}

static void show_node(struct text *t, const struct node *n)
{
	switch (n->kind) {
	case NODE_AND:
	case NODE_OR: show_joined(t, n); return;
	case NODE_NOT:
		text_puts(t, "!(");
		show_node(t, n->children[0]);
		text_char(t, ')');
		return;
	case NODE_HAS:
		text_puts(t, "has(");
		show_operand(t, n->left);
		text_char(t, ')');
		return;
	case NODE_UNDER:
	case NODE_OVER:
		text_puts(t, n->kind == NODE_UNDER ? "under(" : "over(");
		show_node(t, n->children[0]);
		text_char(t, ')');
		return;
	default: break;
	}
	show_operand(t, n->left);
	if (n->kind == NODE_COMPARE) {
		text_printf(t, " %s ", comparisons[n->comparison]);
		show_operand(t, n->right);
	} else if (n->kind == NODE_MATCH) {
		text_puts(t, n->negated ? " !~ " : " =~ ");
		put_quoted(t, n->pattern, strlen(n->pattern));
	} else if (n->kind == NODE_IN) {
		show_set(t, n);
	}
}

static const char *how_often(const struct filter_term *p)
{
	if (p->node->depends & DEPENDS_LATER)
		return "for each call, as soon as the result is known";
	if (p->node->depends & DEPENDS_STACK)
		return "for each event, with the calls around it; a call is tested at its enter";
	if (p->by_call && !p->by_entry)
		return "for each event; a call is tested at its enter";
	if (!p->by_entry)
		return "for each event, enters and leaves separately";
	switch (p->node->depends & ~DEPENDS_KIND) {
	case 0: return "once";
	case DEPENDS_NAME: return "once for each function or type";
	case DEPENDS_LOCATION: return "once for each function";
	case DEPENDS_TYPE: return "once for each type";
	case DEPENDS_LANE: return "once for each thread";
	}
	return "once for each combination of thread, type and function";
}

void explain_filter(struct text *t, const struct filter *f, bool invert)
{
	for (size_t i = 0; i < f->nterms; i++) {
		text_puts(t, i ? "and  " : invert ? "drop " : "keep ");
		show_node(t, f->terms[i].node);
		text_printf(t, "\n     tested %s\n", how_often(&f->terms[i]));
	}
}

/* Write the names that every stream has. */
static void explain_names(struct text *t)
{
	text_puts(t, "\nfields of every event that has them:\n");
	for (const struct plain_name *p = names_all(); p->name; p++)
		text_printf(t, "  %-9s %s\n", p->name, p->help);
	text_printf(t, "  %-9s %s\n", "arg.N", "argument N of a call, from 1");
	text_printf(t, "  %-9s %s\n", "under(X)",
		    "the calls of X, a name or a condition, and all events in them");
	text_printf(t, "  %-9s %s\n", "over(X)",
		    "the calls of X, other events that match X, and the calls around them");
	text_printf(t, "  %-9s %s\n", "fparg.N", "floating-point argument N of a call");
}

/* Write the types of a stream with their fields. */
static void explain_types(struct text *t, const struct dictionary *d)
{
	uint32_t unused = 0;

	text_puts(t, "\ntypes of this stream and their own fields:\n");
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *type = dictionary_type(d, i);

		unused += !type->used && kind_is_event(type->kind);
		if (type->kind == KIND_DROP || !type->used)
			continue;
		text_puts(t, "  ");
		text_masked(t, type->name.text, type->name.size);
		text_printf(t, " (%s)", type_kind_name(type->kind));
		for (uint32_t f = 0; f < type->nfields; f++) {
			text_puts(t, f ? ", " : ": ");
			text_masked(t, type->fields[f].name.text, type->fields[f].name.size);
		}
		text_puts(t, type->flags & TYPE_VALUES ? "; arguments or a return value\n" : "\n");
	}
	if (unused)
		text_printf(t, "%" PRIu32 " type%s without events: trdecode --list names %s\n",
			    unused, unused == 1 ? "" : "s", unused == 1 ? "it" : "them");
}

/* --- report --- */

int report(struct stage *s, void (*print)(struct text *t, void *ctx), void *ctx)
{
	struct text *t = malloc(sizeof *t);
	struct error e;
	int bad = 0;

	if (!t)
		return stage_no_memory(s);
	text_init(t, &s->output);
	print(t, ctx);
	if (text_flush(t, &e))
		bad = stage_fail(s, &e);
	free(t);
	return bad;
}

/* --- run --- */

enum { QUEUE_LIMIT = 8 << 20 }; /* bytes in memory */

struct work {
	struct stage *stage;
	struct filter_settings *settings;
	struct select select;
	struct results results; /* of the condition: at most -n */
	struct results total;	/* of the output, for -c */
	bool stream_read;	/* --explain reads a stream only if one is named */
};

/* Print the text that replaces the stream. */
static void run_print_text(struct text *t, void *ctx)
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
static int run_check_clocks(const struct work *w, const struct block *b, struct error *e)
{
	const struct filter_settings *o = w->settings;
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
		if (run_check_clocks(w, &b, &e))
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
	struct filter_settings *o = w->settings;
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
		bad = run_check_clocks(w, &b, &e) ? stage_fail(s, &e) : emit_calls(&x, &calls, &b);
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
static void run_check_names(struct stage *s, const struct filter_settings *o,
			    const struct filter *f, bool early)
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
		bad = conditions[i] && filter_condition_check_names(conditions[i], &all, &e);
	if (o->depth != UINT64_MAX && !all.quiet && !early && !condition_has_calls(all.dictionary))
		warn(NULL, NO_OFFSET, "--depth has no effect: this trace has no calls");
	if (bad || (s->rewrite && projection_check(&o->rewrite.projection, &all, &e)))
		stage_fail(s, &e);
	intern_free(&warned);
}

/* Open the output. The stream's head gets the command line, unless the line may contain what is
 * scrubbed. */
static int create_output(struct stage *s, struct filter_settings *o, int argc, char **argv)
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
static bool keeps_all(const struct filter_settings *o, const struct filter *f)
{
	const struct node *n = f->tree;

	return n->kind == NODE_TRUTH && operand_literal(n->left) &&
	       n->left->value.form == SCALAR_UINT && n->left->value.u && !o->invert &&
	       !time_range_any(&o->time_range) && !rewrite_any(&o->rewrite) &&
	       o->limit == UINT64_MAX && o->depth == UINT64_MAX && !context_any(&o->context);
}

void run_filter(struct stage *s, struct filter_settings *o, struct filter *f, int argc, char **argv)
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
		run_check_names(s, o, f, limit_reached(&w));
	if (o->strict)
		s->status = status_worse(s->status, failure_of_lost(s->filter ? &s->out : NULL,
								    s->lost, s->lost_more));
	if (!s->options->quiet)
		time_range_report(&o->time_range, s->status != STATUS_FAILED && s->events &&
							  !o->explain && !limit_reached(&w));
	if (s->rewrite)
		rewrite_report(&o->rewrite, s->options->quiet);
	if (!stream && s->status != STATUS_FAILED)
		report(s, run_print_text, &w);
	results_free(&w.results);
	results_free(&w.total);
}
