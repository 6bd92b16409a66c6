/*
 * why.c - --why EXPR: whom calls waited for, as a table or folded stacks
 *
 *     2 calls, 41.2 ms, 0.1 % unknown
 *        total    share  count  depth  what               thread      for      function
 *     20.117 ms  48.8 %      2      1  running            worker-12            compress
 *     15.400 ms  37.4 %      3      1  waiting for a CPU  worker-12   hog-13   compress
 *      5.656 ms  13.7 %      2      0  running            main-11              commit
 */
#include "cmd/trstat/why.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/run.h"
#include "common/calls/stack_tree.h"
#include "common/pairs/why.h"
#include "common/util/screen.h"
#include "common/value/aligned.h"

/* Labels are numbers + 1 in labels; 0: none. */
struct why_key {
	uint32_t kind, depth, thread, other, function;
};

struct why_row {
	struct why_key key;
	uint64_t total, count;
};

struct why_view {
	struct why why;
	struct intern labels;
	struct id_cache numbers; /* of rows, + 1, by key */
	struct why_row *rows;
	size_t count, capacity;
	struct stack_tree tree; /* with -t folded: names are labels */
	bool folded;
	uint32_t root; /* the node of the present span */
	struct buffer scratch;
	uint64_t spans, total, unknown, migrations;
	uint64_t unknowns[WAIT_UNKNOWNS];
};

/* --- count --- */

/* Get the label of the scratch text, 0 when out of memory. */
static uint32_t why_label(struct why_view *v)
{
	return intern(&v->labels, v->scratch.data, v->scratch.size) + 1;
}

static int why_thread_label(struct why_view *v, uint32_t task, uint32_t *label)
{
	v->scratch.size = 0;
	if (waits_name(&v->why.waits, task, &v->scratch))
		return -1;
	*label = why_label(v);
	return *label ? 0 : -1;
}

static int why_function_label(struct why_view *v, uint32_t location, uint32_t *label)
{
	struct text_ref name;

	*label = 0;
	if (!location)
		return 0;
	name = dictionary_location_name(v->why.dictionary, location);
	*label = intern(&v->labels, name.text, name.size) + 1;
	return *label ? 0 : -1;
}

/* Get the label of what a part is for: a thread, an interrupt, or why it is unknown. */
static int why_other_label(struct why_view *v, const struct wait_part *p, uint32_t *label)
{
	v->scratch.size = 0;
	*label = 0;
	if (waits_other(&v->why.waits, p, &v->scratch))
		return -1;
	if (v->scratch.size)
		*label = why_label(v);
	return v->scratch.size && !*label ? -1 : 0;
}

static int why_count_row(struct why_view *v, const struct wait_part *p)
{
	struct why_key key = {.kind = p->kind, .depth = p->depth};
	struct why_row *row;
	uint32_t *number;

	if (why_thread_label(v, p->tasks[p->depth], &key.thread) ||
	    why_other_label(v, p, &key.other) || why_function_label(v, p->function, &key.function))
		return -1;
	number = id_cache_number(&v->numbers, &key, sizeof key);
	if (!number)
		return -1;
	if (!*number) {
		if (ARRAY_GROW(v->rows, v->capacity, v->count))
			return -1;
		v->rows[v->count++] = (struct why_row){.key = key};
		*number = (uint32_t)v->count;
	}
	row = &v->rows[*number - 1];
	row->total += p->end - p->begin;
	row->count++;
	return 0;
}

/* Get the node of a frame with the scratch text, in which ';' would end the frame. 0: out of
 * memory. */
static uint32_t why_frame(struct why_view *v, uint32_t parent)
{
	uint32_t name;

	for (size_t i = 0; i < v->scratch.size; i++)
		if (v->scratch.data[i] == ';' || v->scratch.data[i] < ' ')
			v->scratch.data[i] = '_';
	name = intern(&v->labels, v->scratch.data, v->scratch.size);
	return name == INTERN_NONE ? 0 : stack_tree_child(&v->tree, parent, name);
}

static int why_count_stack(struct why_view *v, const struct wait_part *p)
{
	uint32_t node = v->root;

	for (uint32_t i = 1; i <= p->depth; i++) {
		v->scratch.size = 0;
		if (buffer_puts(&v->scratch, "waiting for ") ||
		    waits_name(&v->why.waits, p->tasks[i], &v->scratch) ||
		    !(node = why_frame(v, node)))
			return -1;
	}
	v->scratch.size = 0;
	if (why_part_text(&v->why, p, &v->scratch) || !(node = why_frame(v, node)))
		return -1;
	stack_tree_add(&v->tree, node, p->end - p->begin);
	return 0;
}

static int why_view_part(void *ctx, const struct wait_part *p)
{
	struct why_view *v = ctx;

	v->migrations += p->migrations;
	if (p->kind == WAIT_UNKNOWN) {
		v->unknown += p->end - p->begin;
		v->unknowns[p->other] += p->end - p->begin;
	}
	return v->folded ? why_count_stack(v, p) : why_count_row(v, p);
}

static int why_view_span(void *ctx, const struct why_span *s)
{
	struct why_view *v = ctx;
	struct text_ref name;

	v->spans += s->begins;
	v->total += s->end - s->begin;
	if (!v->folded)
		return 0;
	v->scratch.size = 0;
	if (!v->why.of_threads) {
		name = dictionary_location_name(v->why.dictionary, s->location);
		if (buffer_append(&v->scratch, name.text, name.size))
			return -1;
	} else if (waits_name(&v->why.waits, s->task, &v->scratch)) {
		return -1;
	}
	v->root = why_frame(v, STACK_ROOT);
	return v->root ? 0 : -1;
}

/* --- output --- */

static const struct intern *why_labels; /* of the rows being sorted */

static int why_compare_labels(uint32_t a, uint32_t b)
{
	if (!a || !b)
		return (a != 0) - (b != 0);
	return strcmp(intern_data(why_labels, a - 1), intern_data(why_labels, b - 1));
}

/* Compare the order in the table. */
static int why_compare(const void *a, const void *b)
{
	const struct why_row *x = a, *y = b;
	int c = (x->total < y->total) - (x->total > y->total);

	c = c ? c : (x->key.depth > y->key.depth) - (x->key.depth < y->key.depth);
	c = c ? c : (x->key.kind > y->key.kind) - (x->key.kind < y->key.kind);
	c = c ? c : why_compare_labels(x->key.thread, y->key.thread);
	c = c ? c : why_compare_labels(x->key.other, y->key.other);
	return c ? c : why_compare_labels(x->key.function, y->key.function);
}

/* Spell a share of the total time: "48.8 %". */
static void why_put_share(const struct why_view *v, uint64_t time, char out[static VALUE_SIZE])
{
	double share = v->total ? 100 * (double)time / (double)v->total : 0;

	snprintf(out, VALUE_SIZE, "%.1f %%", share);
}

static void why_put_label(const struct why_view *v, struct aligned *a, uint32_t label)
{
	if (label)
		aligned_cell(a, intern_data(&v->labels, label - 1),
			     intern_size(&v->labels, label - 1), INK_PLAIN);
	else
		aligned_cell(a, "", 0, INK_PLAIN);
}

static const char *const why_columns[] = {"total", "share",  "count", "depth",
					  "what",  "thread", "for",   "function"};
enum { WHY_COLUMNS = 8, WHY_TEXTS = 4 };

static int why_write_people(const struct why_view *v, size_t rows, bool ticks,
			    struct screen *screen, struct text *out, struct error *e)
{
	static const unsigned order[WHY_COLUMNS] = {0, 2, 3, 1, 0, 0, 0, 0};
	char value[VALUE_SIZE], share[VALUE_SIZE];
	struct aligned a;
	int bad;

	format_duration(value, v->total, ticks);
	why_put_share(v, v->unknown, share);
	text_printf(out, "%" PRIu64 " %s%s, %s, %s unknown\n", v->spans,
		    v->why.of_threads ? "thread" : "call", v->spans == 1 ? "" : "s", value, share);
	aligned_begin(&a, WHY_COLUMNS);
	for (size_t i = 0; i < WHY_COLUMNS && !a.failed; i++)
		a.column[i] = (struct aligned_column){.name = why_columns[i],
						      .text = i >= WHY_TEXTS,
						      .optional = i == WHY_COLUMNS - 1,
						      .omit_order = order[i]};
	for (size_t i = 0; i < rows && !a.failed; i++) {
		const struct why_row *r = &v->rows[i];

		aligned_cell(&a, value, format_duration(value, r->total, ticks), INK_PLAIN);
		why_put_share(v, r->total, value);
		aligned_cell(&a, value, strlen(value), INK_PLAIN);
		aligned_cell(&a, value, u128_decimal(value, r->count), INK_PLAIN);
		aligned_cell(&a, value, u128_decimal(value, r->key.depth), INK_PLAIN);
		aligned_cell(&a, wait_kind_names[r->key.kind], strlen(wait_kind_names[r->key.kind]),
			     INK_PLAIN);
		why_put_label(v, &a, r->key.thread);
		why_put_label(v, &a, r->key.other);
		why_put_label(v, &a, r->key.function);
	}
	bad = rows || a.failed ? aligned_write(&a, screen, out, e) : 0;
	aligned_free(&a);
	return bad;
}

static void why_put_cell(const struct why_view *v, struct cells *c, uint32_t label)
{
	if (label)
		cells_text(c, intern_data(&v->labels, label - 1),
			   intern_size(&v->labels, label - 1));
	else
		cells_none(c);
}

static void why_write_cells(const struct why_view *v, size_t rows, enum table_format format,
			    struct text *out)
{
	static const char *const names[] = {"total",  "count", "depth",	  "what",
					    "thread", "for",   "function"};
	struct cells c;

	cells_begin(&c, out, format, names, sizeof names / sizeof *names);
	for (size_t i = 0; i < rows && !text_failed(out); i++) {
		const struct why_row *r = &v->rows[i];

		cells_u64(&c, r->total);
		cells_u64(&c, r->count);
		cells_u64(&c, r->key.depth);
		cells_text(&c, wait_kind_names[r->key.kind], strlen(wait_kind_names[r->key.kind]));
		why_put_cell(v, &c, r->key.thread);
		why_put_cell(v, &c, r->key.other);
		why_put_cell(v, &c, r->key.function);
	}
	cells_end(&c);
}

/* Write each stack with its time, in ns or ticks, the callers first. */
static int why_write_folded(const struct why_view *v, struct text *out)
{
	uint32_t path[WAITS_DEPTH + 2];

	for (uint32_t i = 1; i < v->tree.count && !text_failed(out); i++) {
		const struct stack_node *n = &v->tree.nodes[i];
		uint32_t depth = 0;
		char weight[VALUE_SIZE];

		if (!n->self)
			continue;
		for (uint32_t k = i; k != STACK_ROOT; k = v->tree.nodes[k].parent)
			path[depth++] = k;
		while (depth--)
			text_printf(out, "%s%s",
				    intern_data(&v->labels, v->tree.nodes[path[depth]].name),
				    depth ? ";" : " ");
		i128_decimal(weight, n->self);
		text_printf(out, "%s\n", weight);
	}
	return 0;
}

static int why_write(struct why_view *v, const struct query *q, struct text *out, struct error *e)
{
	const struct stat_settings *s = q->settings;
	bool people = s->format == TABLE_ALIGNED;
	size_t most = s->limited ? s->limit : people && s->screen->height ? TABLE_ROWS : 0;
	size_t rows = most && most < v->count ? most : v->count;

	why_labels = &v->labels;
	if (v->count)
		qsort(v->rows, v->count, sizeof *v->rows, why_compare);
	if (v->folded)
		return why_write_folded(v, out);
	if (!people)
		why_write_cells(v, rows, s->format, out);
	else if (why_write_people(v, rows, v->why.clocks.ticks, s->screen, out, e))
		return -1;
	if (people)
		table_put_more(out, v->count - rows);
	return 0;
}

static int why_print(struct stage *stage, struct why_view *v, const struct query *q)
{
	struct text *text = malloc(sizeof(*text));
	struct error e;
	int bad;

	if (!text)
		return stage_no_memory(stage);
	text_init(text, &stage->output);
	screen_find(q->settings->screen, &stage->output);
	bad = why_write(v, q, text, &e) || text_flush(text, &e);
	free(text);
	return bad ? stage_fail(stage, &e) : 0;
}

/* --- remarks --- */

static void why_report(const struct stage *stage, const struct why_view *v, const struct query *q)
{
	const struct waits *w = &v->why.waits;

	if (stage->options->quiet)
		return;
	if (!v->spans)
		warn(NULL, NO_OFFSET, "no %s for which '%s' is true",
		     v->why.of_threads ? "thread" : "call", q->settings->view_argument);
	if (v->migrations)
		warn(NULL, NO_OFFSET,
		     "%" PRIu64 " migration%s to another CPU while a thread waited for its CPU",
		     v->migrations, v->migrations == 1 ? "" : "s");
	if (w->dropped && v->unknowns[WAIT_FORGOTTEN])
		warn(NULL, NO_OFFSET,
		     "the calls are open while too many threads switch: the oldest switches were "
		     "forgotten, and the path there is unknown");
	waits_report_missing(w);
}

void run_why(struct stage *stage, struct query *q)
{
	struct why_view *v = calloc(1, sizeof *v);
	struct error e = {.what = ""};
	struct block block;
	int bad;

	if (!v) {
		stage_no_memory(stage);
		return;
	}
	v->folded = q->settings->format == TABLE_FOLDED;
	bad = why_init(&v->why, &q->where, &stage->in.dictionary) ||
	      (v->folded && stack_tree_init(&v->tree));
	v->why.span = why_view_span;
	v->why.part = why_view_part;
	v->why.ctx = v;
	while (!bad && stage_next(stage, &block)) {
		report_missed_calls(stage, &block);
		bad = why_block(&v->why, &block) || clocks_check(&v->why.clocks, CLOCKS_HINT, &e) ||
		      query_check_clocks(q, &v->why.clocks, false, &e);
	}
	bad = bad || why_finish(&v->why);
	if (bad && e.what[0])
		stage_fail(stage, &e);
	else if (bad)
		stage_no_memory(stage);
	if (!query_check_names(stage, q, NULL) && !why_print(stage, v, q))
		why_report(stage, v, q);
	why_free(&v->why);
	stack_tree_free(&v->tree);
	intern_free(&v->labels);
	id_cache_free(&v->numbers);
	buffer_free(&v->scratch);
	free(v->rows);
	free(v);
}
