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
#include "common/pairs/critical.h"
#include "common/util/screen.h"
#include "common/value/aligned.h"

/* What parts are counted by. Labels are numbers + 1 in labels; 0: none. */
struct why_key {
	uint32_t kind, depth, thread, other, function;
	uint32_t root, node; /* with -t folded, and nothing else: label; in the tree of the parts */
};

struct why_row {
	struct why_key key;
	uint32_t unknown; /* enum wait_unknown + 1; 0 is known */
	uint64_t total, count, migrations;
};

/* The parts of an open call, up to the first call in it that is open, by row. */
struct why_account {
	struct why_cell {
		uint32_t row;
		uint64_t counted; /* times of the account's, up to which the cell is counted */
		uint64_t total, count, migrations;
	} * cells;
	size_t count, capacity;
	struct key_map at; /* index + 1 by row, if there are more than CELLS_FEW */
	uint64_t times;	   /* how often all parts so far are counted, under the label */
	uint32_t root;
};

enum { CELLS_FEW = 8 };

struct why_view {
	struct why why;
	struct intern labels;
	struct id_cache numbers; /* of rows, + 1, by key */
	struct why_row *rows;
	size_t count, capacity;
	struct stack_tree tree; /* with -t folded: names are labels */
	bool folded;
	uint32_t root; /* with -t folded: label of the present span; else 0 */
	struct buffer scratch;
	uint64_t spans, total;
	struct why_account *accounts; /* by number of the open call */
	size_t naccounts;
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

/* Get the number of a row. */
static int why_row_at(struct why_view *v, const struct why_key *key, uint32_t unknown,
		      uint32_t *row)
{
	uint32_t *number = id_cache_number(&v->numbers, key, sizeof *key);

	if (!number)
		return -1;
	if (!*number) {
		if (ARRAY_GROW(v->rows, v->capacity, v->count))
			return -1;
		v->rows[v->count++] = (struct why_row){.key = *key, .unknown = unknown};
		*number = (uint32_t)v->count;
	}
	*row = *number - 1;
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
	name = why_label(v);
	return name ? stack_tree_child(&v->tree, parent, name - 1) : 0;
}

static int why_stack_of(struct why_view *v, const struct wait_part *p, uint32_t *node)
{
	*node = STACK_ROOT;
	for (uint32_t i = 1; i <= p->depth; i++) {
		v->scratch.size = 0;
		if (buffer_puts(&v->scratch, "waiting for ") ||
		    waits_name(&v->why.waits, p->tasks[i], &v->scratch) ||
		    !(*node = why_frame(v, *node)))
			return -1;
	}
	v->scratch.size = 0;
	if (why_part_text(&v->why, p, &v->scratch) || !(*node = why_frame(v, *node)))
		return -1;
	return 0;
}

/* Get the row of a part; with -t folded the one without a root. */
static int why_row_of(struct why_view *v, const struct wait_part *p, uint32_t *row)
{
	struct why_key key = {.kind = p->kind, .depth = p->depth};
	uint32_t unknown = p->kind == WAIT_UNKNOWN ? p->other + 1 : 0;

	if (v->folded) {
		key = (struct why_key){.kind = 0};
		if (why_stack_of(v, p, &key.node))
			return -1;
	} else if (why_thread_label(v, p->tasks[p->depth], &key.thread) ||
		   why_other_label(v, p, &key.other) ||
		   why_function_label(v, p->function, &key.function)) {
		return -1;
	}
	return why_row_at(v, &key, unknown, row);
}

/* Count what a cell has so many times, under a root. */
static int why_count(struct why_view *v, const struct why_cell *c, uint64_t times, uint32_t root)
{
	uint32_t row = c->row;
	struct why_key key;
	struct why_row *r;

	if (!times)
		return 0;
	if (root) {
		key = v->rows[row].key;
		key.root = root;
		if (why_row_at(v, &key, v->rows[row].unknown, &row))
			return -1;
	}
	r = &v->rows[row];
	r->total += times * c->total;
	r->count += times * c->count;
	r->migrations += times * c->migrations;
	return 0;
}

/* Count what an account owes of a cell. */
static int why_cell_count(struct why_view *v, const struct why_account *a, struct why_cell *c)
{
	uint64_t times = a->times - c->counted;

	c->counted = a->times;
	return why_count(v, c, times, a->root);
}

/* Find the cell of a row in an account, or add it. NULL: out of memory. */
static struct why_cell *why_cell_of(struct why_account *a, uint32_t row)
{
	size_t i = 0, few = a->at.count ? 0 : a->count;
	uint64_t *at = NULL;

	while (i < few && a->cells[i].row != row)
		i++;
	if (i < few)
		return &a->cells[i];
	if (a->count >= CELLS_FEW) {
		for (i = a->at.count; i < a->count; i++)
			if (key_map_set(&a->at, a->cells[i].row, i + 1))
				return NULL;
		at = key_map_value(&a->at, row);
		if (!at || *at)
			return at ? &a->cells[*at - 1] : NULL;
	}
	if (ARRAY_GROW(a->cells, a->capacity, a->count))
		return NULL;
	if (at)
		*at = a->count + 1;
	a->cells[a->count] = (struct why_cell){.row = row, .counted = a->times};
	return &a->cells[a->count++];
}

/* Add what a cell of another account has. */
static int why_account_add(struct why_view *v, struct why_account *a, const struct why_cell *of)
{
	struct why_cell *c = why_cell_of(a, of->row);

	if (!c || why_cell_count(v, a, c))
		return -1;
	c->total += of->total;
	c->count += of->count;
	c->migrations += of->migrations;
	return 0;
}

static void why_account_free(struct why_account *a)
{
	free(a->cells);
	key_map_free(&a->at);
	*a = (struct why_account){.cells = NULL};
}

/* Empty an account; the memory of a small one stays. */
static void why_account_clear(struct why_account *a)
{
	if (a->capacity > 4 * CELLS_FEW || a->at.count)
		why_account_free(a);
	a->count = 0;
	a->times = 0;
	a->root = 0;
}

static int why_view_part(void *ctx, const struct wait_part *p, uint32_t call)
{
	struct why_view *v = ctx;
	struct why_cell c = {.total = p->end - p->begin, .count = 1, .migrations = p->migrations};

	if (why_row_of(v, p, &c.row))
		return -1;
	if (!call)
		return why_count(v, &c, 1, v->root);
	return ARRAY_REACH(v->accounts, v->naccounts, call) ||
			       why_account_add(v, &v->accounts[call], &c)
		       ? -1
		       : 0;
}

/* Count all parts of an account once more, at the next change of each. */
static int why_account_count(struct why_view *v, struct why_account *a)
{
	if (a->root != v->root) {
		for (size_t i = 0; i < a->count; i++)
			if (why_cell_count(v, a, &a->cells[i]))
				return -1;
		a->root = v->root;
	}
	a->times++;
	return 0;
}

static int why_view_span(void *ctx, const struct why_span *s, uint32_t call)
{
	struct why_view *v = ctx;
	struct text_ref name;

	v->spans += s->begins;
	v->total += s->end - s->begin;
	if (v->folded) {
		v->scratch.size = 0;
		if (!v->why.of_threads) {
			name = dictionary_location_name(v->why.dictionary, s->location);
			if (buffer_append(&v->scratch, name.text, name.size))
				return -1;
		} else if (waits_name(&v->why.waits, s->task, &v->scratch)) {
			return -1;
		}
		v->root = why_label(v);
		if (!v->root)
			return -1;
	}
	for (; call; call = v->why.open[call].after)
		if (ARRAY_REACH(v->accounts, v->naccounts, call) ||
		    why_account_count(v, &v->accounts[call]))
			return -1;
	return 0;
}

/* Move the cells of the smaller account to the larger, which is then that of the other call. So a
 * cell moves a number of times that is logarithmic. */
static int why_view_end(void *ctx, uint32_t call, uint32_t into)
{
	struct why_view *v = ctx;
	struct why_account *a, *b, less;

	if (ARRAY_REACH(v->accounts, v->naccounts, call > into ? call : into))
		return -1;
	a = &v->accounts[call];
	b = &v->accounts[into];
	if (into && a->count > b->count) {
		less = *b;
		*b = *a;
		*a = less;
	}
	for (size_t i = 0; i < a->count; i++)
		if (why_cell_count(v, a, &a->cells[i]) ||
		    (into && why_account_add(v, b, &a->cells[i])))
			return -1;
	why_account_clear(a);
	return 0;
}

static const struct why_use why_view_use = {
	.span = why_view_span, .part = why_view_part, .end = why_view_end};

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
	uint64_t unknown = 0;
	int bad;

	for (size_t i = 0; i < v->count; i++)
		unknown += v->rows[i].unknown ? v->rows[i].total : 0;
	format_duration(value, v->total, ticks);
	why_put_share(v, unknown, share);
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
static void why_write_folded(const struct why_view *v, struct text *out)
{
	uint32_t path[WAITS_DEPTH + 1];

	for (size_t i = 0; i < v->count && !text_failed(out); i++) {
		const struct why_row *r = &v->rows[i];
		uint32_t depth = 0;

		text_puts(out, intern_data(&v->labels, r->key.root - 1));
		for (uint32_t k = r->key.node; k != STACK_ROOT; k = v->tree.nodes[k].parent)
			path[depth++] = k;
		while (depth--)
			text_printf(out, ";%s",
				    intern_data(&v->labels, v->tree.nodes[path[depth]].name));
		text_printf(out, " %" PRIu64 "\n", r->total);
	}
}

/* Leave out the rows of calls that were not asked for. */
static void why_leave_out(struct why_view *v)
{
	size_t left = 0;

	for (size_t i = 0; i < v->count; i++)
		if (v->rows[i].count)
			v->rows[left++] = v->rows[i];
	v->count = left;
}

static int why_write(void *ctx, const struct stat_settings *s, struct text *out, struct error *e)
{
	struct why_view *v = ctx;
	bool people = s->format == TABLE_ALIGNED;
	size_t most = s->limited ? s->limit : people && s->screen->height ? TABLE_ROWS : 0;
	size_t rows = most && most < v->count ? most : v->count;

	why_labels = &v->labels;
	if (v->count && !v->folded)
		qsort(v->rows, v->count, sizeof *v->rows, why_compare);
	if (v->folded)
		why_write_folded(v, out);
	else if (!people)
		why_write_cells(v, rows, s->format, out);
	else if (why_write_people(v, rows, v->why.clocks.ticks, s->screen, out, e))
		return -1;
	if (people)
		table_put_more(out, v->count - rows);
	return 0;
}

/* --- remarks --- */

static void why_report(const struct stage *stage, const struct why_view *v, const struct query *q)
{
	const struct waits *w = &v->why.waits;
	uint64_t migrations = 0;
	bool forgotten = false;

	for (size_t i = 0; i < v->count; i++) {
		migrations += v->rows[i].migrations;
		forgotten |= v->rows[i].unknown == WAIT_FORGOTTEN + 1;
	}
	if (stage->options->quiet)
		return;
	if (!v->spans)
		warn(NULL, NO_OFFSET, "no %s for which '%s' is true",
		     v->why.of_threads ? "thread" : "call", q->settings->view_argument);
	if (migrations)
		warn(NULL, NO_OFFSET,
		     "%" PRIu64 " migration%s to another CPU while a thread waited for its CPU",
		     migrations, migrations == 1 ? "" : "s");
	if (w->dropped && forgotten)
		warn(NULL, NO_OFFSET,
		     "the calls are open while too many threads switch: the oldest switches were "
		     "forgotten, and the path there is unknown");
	waits_report_missing(w->seen);
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
	v->why.use = &why_view_use;
	v->why.ctx = v;
	while (!bad && stage_next(stage, &block)) {
		report_missed_calls(stage, &block);
		bad = why_block(&v->why, &block) || clocks_check(&v->why.clocks, CLOCKS_HINT, &e) ||
		      query_check_clocks(q, &v->why.clocks, false, &e);
	}
	bad = bad || why_finish(&v->why);
	why_leave_out(v);
	if (bad && e.what[0])
		stage_fail(stage, &e);
	else if (bad)
		stage_no_memory(stage);
	if (!query_check_names(stage, q, NULL) && !view_print(stage, q->settings, why_write, v))
		why_report(stage, v, q);
	why_free(&v->why);
	stack_tree_free(&v->tree);
	intern_free(&v->labels);
	id_cache_free(&v->numbers);
	buffer_free(&v->scratch);
	for (size_t i = 0; i < v->naccounts; i++)
		why_account_free(&v->accounts[i]);
	free(v->accounts);
	free(v->rows);
	free(v);
}
