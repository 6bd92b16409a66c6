/*
 * tree.c - --tree, --callers F and --callees F: groups by stack as an indented tree
 *
 *         total     total%       self  count  name
 *      4.441 ms   59.751 %   4.585 us      2  worker
 *      4.215 ms   56.723 %   7.775 us      2  +-pause_a_while
 *      2.113 ms   28.438 %   2.113 ms      1  | +-linux:schedule
 *      2.094 ms   28.179 %  31.989 us      1  | +-usleep
 *    198.211 us    2.667 % 146.880 us      2  +-qsort
 */
#include "cmd/trstat/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/table.h"
#include "common/calls/call_stacks.h"
#include "common/calls/stack_tree.h"
#include "common/util/screen.h"

/* Levels that are drawn; of deeper rows the innermost ones, and the depth is a column. */
enum { LEVELS_MOST = 40, LEVELS_LEAST = 4 };

/* The state of making the tree of one group of the keys before the stack. */
struct making {
	const struct table *table;
	const struct call_stacks *stacks;
	enum tree_kind kind;
	uint32_t function; /* its name in stacks->names; INTERN_NONE: it has no calls */
	/* by node of the stacks: its rank, callers first; the outermost call of F that it is, or is
	 * below, 0: none */
	uint32_t *rank, *inside;
	/* of this tree: the ranks of the nodes that have a group, or are below one that has, in
	 * order; by node of the stacks: its node in the tree, 0: none */
	uint32_t *marked, *became;
	size_t nmarked;
	uint32_t *order; /* nodes of the stacks, by rank */
	const struct aggregate **value;
	struct stack_tree tree; /* below its root one node for each group of the other keys */
	struct groups groups;	/* printed rows, by prefix, depth and node */
	struct key_cell *cells;
	const char **keys; /* names of their keys */
	uint32_t made;	   /* number of trees so far */
};

static size_t prefix_size(const struct making *m)
{
	return m->table->groups->keys - 1;
}

static uint32_t tree_node_of(const struct groups *g, const struct aggregate *a)
{
	const struct key_cell *c = &groups_cells(g, a)[g->keys - 1];

	return c->kind == KEY_STACK ? (uint32_t)c->value : STACK_ROOT;
}

/* --- the rows --- */

/* Get the row of a node of the tree, made if it is new. m->cells has the prefix. */
static struct aggregate *tree_row_of(struct making *m, uint32_t node, uint32_t depth)
{
	size_t n = prefix_size(m);

	m->cells[n] = key_unsigned(depth);
	m->cells[n + 1] = key_unsigned(node);
	return groups_find(&m->groups, m->cells);
}

/* Add a group to a row. recursive: its calls are below other calls of the same row. */
static int add_to_row(struct making *m, uint32_t node, uint32_t depth, const struct aggregate *a,
		      bool recursive)
{
	struct aggregate *row = tree_row_of(m, node, depth);

	if (!row || (a && aggregate_merge(row, a, m->groups.wanted)))
		return -1;
	/* instants within a function are not calls of it */
	row->instants = 0;
	if (a && recursive) {
		row->total -= a->total;
		row->recursive += a->total;
	}
	return 0;
}

/* Add a node of the whole tree, or of the part below F; callers come first, so that the caller's
 * node is known. */
static int add_below(struct making *m, uint32_t node)
{
	const struct stack_node *n = &m->stacks->tree.nodes[node];
	uint32_t parent = n->parent, at;

	if (m->kind == TREE_CALLEES && !m->inside[node])
		return 0;
	/* F's tree begins here */
	if (!m->became[parent])
		parent = STACK_ROOT;
	at = m->became[node] = stack_tree_child(&m->tree, m->became[parent], n->name);
	if (!at)
		return -1;
	/* self of a node of the tree is its depth */
	m->tree.nodes[at].self = m->tree.nodes[m->became[parent]].self + 1;
	return add_to_row(m, at, (uint32_t)m->tree.nodes[at].self, m->value[node], false);
}

/* Add the self values of from, whose calls are counted in the aggregate already, with the self
 * value 0. Returns as aggregate_merge. */
static int aggregate_merge_self(struct aggregate *into, const struct aggregate *from,
				const struct columns_wanted *w)
{
	if (__builtin_add_overflow(into->self, from->self, &into->self)) {
		errno = EOVERFLOW;
		return -1;
	}
	aggregate_self_extremes(into, from->self_min, from->self_max);
	return w->self_stdev ? squares_merge(aggregate_part(into, w->self_stdev),
					     aggregate_part(from, w->self_stdev))
			     : 0;
}

/* Add the self values of samples to a row that counts them already. */
static int add_self_to_row(struct making *m, uint32_t node, uint32_t depth,
			   const struct aggregate *a)
{
	struct aggregate *row = tree_row_of(m, node, depth);

	return row ? aggregate_merge_self(row, a, m->groups.wanted) : -1;
}

/* Add the calls of F with this stack, for each of the callers on it. A sample has one path of
 * callers, that of its outermost F. */
static int add_callers(struct making *m, uint32_t node)
{
	const struct stack_node *nodes = m->stacks->tree.nodes;
	bool recursive = m->inside[nodes[node].parent];
	bool counted = recursive && m->table->samples;
	uint32_t to = m->became[STACK_ROOT], from = counted ? m->inside[node] : node;

	if (nodes[node].name != m->function || !m->value[node])
		return 0;
	for (uint32_t depth = 0; from != STACK_ROOT && depth <= TREE_CALLERS_DEEP; depth++) {
		to = stack_tree_child(&m->tree, to, nodes[from].name);
		if (!to || (counted ? add_self_to_row(m, to, depth, m->value[node])
				    : add_to_row(m, to, depth, m->value[node], recursive)))
			return -1;
		from = nodes[from].parent;
	}
	return 0;
}

static int make_rows(struct making *m)
{
	for (size_t i = 0; i < m->nmarked; i++) {
		uint32_t node = m->order[m->marked[i]];

		if (m->kind == TREE_CALLERS ? add_callers(m, node) : add_below(m, node))
			return -1;
	}
	return 0;
}

/* Set in each row from first on the sum of the outermost calls, of which total_percent and
 * self_percent are parts. */
static void share_rows(struct making *m, size_t first)
{
	size_t part = m->groups.wanted->whole;
	int128 whole = 0;

	for (size_t i = first; part && i < m->groups.count; i++) {
		const struct aggregate *row = groups_at(&m->groups, i);

		if (!groups_cells(&m->groups, row)[prefix_size(m)].value &&
		    __builtin_add_overflow(whole, row->total, &whole))
			whole = INT128_MAX;
	}
	for (size_t i = first; part && i < m->groups.count; i++)
		*(int128 *)aggregate_part(groups_at(&m->groups, i), part) = whole;
}

/* --- the order of rows --- */

/* Get the cell with the name of a row. */
static struct key_cell *tree_name_cell(const struct making *m, struct aggregate *row)
{
	struct key_cell *cells = (struct key_cell *)((char *)row + m->groups.wanted->size);

	return &cells[prefix_size(m) + 1];
}

/* Replace the nodes of rows from first on by their names; value keeps the node. */
static int name_rows(struct making *m, size_t first)
{
	const struct intern *names = &m->stacks->names;

	for (size_t i = first; i < m->groups.count; i++) {
		struct key_cell *name = tree_name_cell(m, groups_at(&m->groups, i));
		uint64_t node = name->value;
		uint32_t text = m->tree.nodes[node].name;

		if (groups_text(&m->groups, intern_data(names, text), intern_size(names, text),
				name))
			return -1;
		name->value = node;
	}
	return 0;
}

/* Order the rows by -s, so that each is below its caller's. */
static int put_in_order(struct making *m, const struct aggregate **rows, size_t n)
{
	uint32_t *first = calloc(m->tree.count, sizeof(*first));
	uint32_t *next = calloc(m->tree.count, sizeof(*next));
	const struct aggregate **row = calloc(m->tree.count, sizeof(*row));
	uint32_t node = STACK_ROOT;
	size_t count = 0;

	if (first && next && row) {
		for (size_t i = n; i > 0; i--) {
			const struct key_cell *c = groups_cells(&m->groups, rows[i - 1]);
			uint32_t at = (uint32_t)c[prefix_size(m) + 1].value;
			uint32_t parent = m->tree.nodes[at].parent;

			row[at] = rows[i - 1];
			next[at] = first[parent];
			first[parent] = at;
		}
		for (size_t i = m->tree.count; i-- > 1;)
			if (m->tree.nodes[i].parent == STACK_ROOT) {
				next[i] = first[STACK_ROOT];
				first[STACK_ROOT] = (uint32_t)i;
			}
		while (count < n) {
			if (first[node]) {
				node = first[node];
			} else {
				while (!next[node])
					node = m->tree.nodes[node].parent;
				node = next[node];
			}
			if (row[node])
				rows[count++] = row[node];
		}
	}
	count = first && next && row;
	free(first);
	free(next);
	free(row);
	return count ? 0 : -1;
}

/* --- one tree for each group of the keys before the stack --- */

static int copy_prefix(struct making *m, const struct aggregate *a)
{
	const struct groups *g = m->table->groups;
	const struct key_cell *from = groups_cells(g, a);

	for (size_t i = 0; i < prefix_size(m); i++)
		if (groups_copy_cell(&m->groups, g, &from[i], &m->cells[i]))
			return -1;
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Mark the nodes of n groups and those of their callers. A marked node has a value in `became`. */
static void mark_nodes(struct making *m, const struct aggregate **groups, size_t n)
{
	const struct stack_node *nodes = m->stacks->tree.nodes;

	m->nmarked = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t node = tree_node_of(m->table->groups, groups[i]);

		if (node == STACK_ROOT || !aggregate_has_times(groups[i]))
			/* events outside of all calls, or of other calls than those left */
			continue;
		m->value[node] = groups[i];
		for (; node != STACK_ROOT && !m->became[node]; node = nodes[node].parent) {
			m->became[node] = 1;
			m->marked[m->nmarked++] = m->rank[node];
		}
	}
	qsort(m->marked, m->nmarked, sizeof(*m->marked), by_rank);
	for (size_t i = 0; i < m->nmarked; i++)
		m->became[m->order[m->marked[i]]] = 0;
}

/* Make the rows of n groups with the same prefix. The cost is that of their stacks. */
static int make_tree(struct making *m, const struct aggregate **groups, size_t n)
{
	size_t first = m->groups.count;
	uint32_t base = stack_tree_child(&m->tree, STACK_ROOT, m->made++);
	int bad;

	if (!base)
		return -1;
	m->tree.nodes[base].self = -1; /* nodes on it have depth 0 */
	m->became[STACK_ROOT] = base;
	mark_nodes(m, groups, n);
	bad = copy_prefix(m, groups[0]) || make_rows(m) || name_rows(m, first) ? -1 : 0;
	share_rows(m, first);
	for (size_t i = 0; i < m->nmarked; i++) {
		uint32_t node = m->order[m->marked[i]];

		m->became[node] = 0;
		m->value[node] = NULL;
	}
	return bad;
}

static int make_trees(struct making *m, struct error *e)
{
	const struct groups *g = m->table->groups;
	struct sort by_keys = {0};
	const struct aggregate **groups =
		sort_groups(&by_keys, g, m->table->columns, &m->table->run, e);
	int bad = groups ? 0 : -1;

	for (size_t i = 0, end; !bad && i < g->count; i = end) {
		for (end = i + 1; end < g->count &&
				  !groups_compare_first(g, groups[i], groups[end], prefix_size(m));)
			end++;
		bad = make_tree(m, groups + i, end - i) ? error_no_memory(e) : 0;
	}
	free(groups);
	return bad;
}

/* --- the lines from callers to callees --- */

/* The lines of a tree that is drawn from its last row to the first. */
struct branches {
	struct making *making;
	size_t levels;	  /* that are drawn */
	uint64_t deepest; /* row */
	bool utf8;
	bool *open; /* by depth: the rows below have a sibling of the present row, or of its caller
		     */
	struct buffer label;
};

/* Set the label of a row: lines from its callers, "+-" before it, and its name. Above the levels
 * that are drawn are dots. */
static int draw_label(struct branches *b, size_t depth, const struct key_cell *name)
{
	const struct intern *texts = &b->making->groups.texts.intern;
	size_t above = depth > b->levels ? depth - b->levels : 0;
	int bad = 0;

	b->label.size = 0;
	for (size_t level = above + 1; level <= depth; level++) {
		const char *line = level < depth    ? b->utf8 ? "│ " : "| "
				   : !b->utf8	    ? "+-"
				   : b->open[level] ? "├─"
						    : "└─";

		if (level < depth && !b->open[level])
			line = "  ";
		if (level < depth && above && level == above + 1)
			line = "..";
		bad |= buffer_append(&b->label, line, strlen(line));
	}
	return bad || buffer_append(&b->label, intern_data(texts, name->text),
				    intern_size(texts, name->text));
}

/* Draw the lines of n rows in order. Returns -1 when out of memory. */
static int draw_lines(struct branches *b, const struct aggregate **rows, size_t n)
{
	size_t top = 0, at = prefix_size(b->making);
	int bad = 0;

	b->open = calloc(b->deepest + 1, sizeof(*b->open));
	for (size_t i = n; b->open && !bad && i-- > 0;) {
		struct aggregate *row = (struct aggregate *)(uintptr_t)rows[i];
		struct key_cell *name = tree_name_cell(b->making, row);
		uint64_t depth = groups_cells(&b->making->groups, row)[at].value;
		uint64_t node = name->value;

		/* callees of the row are below */
		for (; top > depth; top--)
			b->open[top] = false;
		bad = draw_label(b, depth, name) ||
		      groups_text(&b->making->groups, b->label.data, b->label.size, name);
		name->value = node;
		b->open[depth] = true;
		top = depth;
	}
	bad = bad || !b->open ? -1 : 0;
	free(b->open);
	buffer_free(&b->label);
	return bad;
}

/* --- the table --- */

/* Draw the lines of the rows that are shown. The column of depths is left out on a terminal
 * where the lines show them. */
static int draw_tree(struct making *m, struct table *t, struct table_rows *rows,
		     const struct aggregate **row, bool utf8)
{
	struct branches b = {.making = m, .utf8 = utf8, .levels = LEVELS_MOST};

	if (t->screen->width && t->screen->width / 8 < LEVELS_MOST)
		b.levels =
			t->screen->width / 8 > LEVELS_LEAST ? t->screen->width / 8 : LEVELS_LEAST;
	for (size_t i = 0; i < rows->count; i++) {
		uint64_t depth = groups_cells(&m->groups, row[i])[prefix_size(m)].value;

		b.deepest = depth > b.deepest ? depth : b.deepest;
	}
	if (t->screen->width && b.deepest <= b.levels)
		t->hidden_key = prefix_size(m) + 1;
	return draw_lines(&b, row, rows->count);
}

static int write_rows(struct making *m, enum table_format format, struct text *out, struct error *e)
{
	struct table t = *m->table;
	const struct aggregate **row;
	struct table_rows rows = {.format = format, .table = &t, .count = m->groups.count};
	int bad = 0;

	t.groups = &m->groups;
	t.keys = m->keys;
	row = sort_groups(t.sort, &m->groups, t.columns, &t.run, e);
	if (!row)
		return -1;
	if (rows.count && put_in_order(m, row, rows.count))
		bad = error_no_memory(e);
	rows.row = row;
	rows_limit(&rows);
	if (!bad && format == TABLE_ALIGNED && draw_tree(m, &t, &rows, row, plot_utf8(out->out)))
		bad = error_no_memory(e);
	if (!bad)
		bad = table_write_rows(&rows, out, e);
	free(row);
	return bad;
}

static int begin_trees(struct making *m, const char *function)
{
	const struct stack_node *nodes = m->stacks->tree.nodes;
	size_t size = m->stacks->tree.count, keys = m->table->groups->keys, count;

	m->function =
		function ? intern_find(&m->stacks->names, function, strlen(function)) : INTERN_NONE;
	m->order = calloc(size, sizeof(*m->order));
	m->marked = calloc(size, sizeof(*m->marked));
	m->inside = calloc(size, sizeof(*m->inside));
	m->rank = calloc(size, sizeof(*m->rank));
	m->became = calloc(size, sizeof(*m->became));
	m->value = calloc(size, sizeof(*m->value));
	m->cells = calloc(keys + 1, sizeof(*m->cells));
	m->keys = calloc(keys + 1, sizeof(*m->keys));
	if (!m->order || !m->marked || !m->inside || !m->rank || !m->became || !m->value ||
	    !m->cells || !m->keys)
		return -1;
	memcpy(m->keys, m->table->keys, (keys - 1) * sizeof(*m->keys));
	m->keys[keys - 1] = "depth";
	m->keys[keys] = "name";
	count = stack_tree_order(&m->stacks->tree, &m->stacks->names, m->order);
	for (size_t i = 1; i < count; i++) {
		uint32_t node = m->order[i];

		m->rank[node] = (uint32_t)i;
		m->inside[node] = m->inside[nodes[node].parent];
		if (!m->inside[node] && nodes[node].name == m->function)
			m->inside[node] = node;
	}
	return count ? stack_tree_init(&m->tree) : -1;
}

int view_tree(const struct table *t, enum tree_kind kind, const char *function,
	      enum table_format format, struct text *out, struct error *e)
{
	struct making m = {.table = t, .stacks = t->groups->texts.stacks, .kind = kind};
	int bad;

	groups_init(&m.groups, t->groups->keys + 1, t->groups->wanted);
	bad = begin_trees(&m, function) ? error_no_memory(e) : 0;
	if (!bad)
		bad = make_trees(&m, e);
	if (!bad)
		bad = write_rows(&m, format, out, e);
	groups_free(&m.groups);
	stack_tree_free(&m.tree);
	free(m.order);
	free(m.marked);
	free(m.inside);
	free(m.rank);
	free(m.became);
	free(m.value);
	free(m.cells);
	free(m.keys);
	return bad;
}
