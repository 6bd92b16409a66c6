/*
 * diff_svg.c - the rows of --diff as a differential flame graph
 *
 * The rows have a single key, the stack, and a single column, its self value.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/error.h"
#include "cmd/trstat/views/diff_write.h"
#include "common/picture/flame_graph.h"

/* The stacks of both traces. */
struct diff_stacks {
	struct stack_tree tree; /* self: of the second trace */
	struct intern names;
	uint64_t *before; /* self of each node in the first trace */
	size_t nbefore;
	uint64_t negative, clipped; /* number of sums below 0, and above UINT64_MAX */
};

/* Returns a sum as the width of a frame. */
static uint64_t width_of(struct diff_stacks *s, struct column_value v)
{
	s->negative += v.present && v.number < 0;
	s->clipped += v.present && v.number > UINT64_MAX;
	return v.present ? saturated_u64(v.number) : 0;
}

/* Get the node of a stack "a;b;c"; 0: out of memory. */
static uint32_t node_of(struct diff_stacks *s, const char *text, size_t size)
{
	const char *end = text + size;
	uint32_t node = STACK_ROOT;

	while (text < end) {
		const char *next = memchr(text, ';', (size_t)(end - text));
		size_t n = (size_t)((next ? next : end) - text);
		uint32_t name = intern(&s->names, text, n);

		node = name == INTERN_NONE ? 0 : stack_tree_child(&s->tree, node, name);
		if (!node)
			return 0;
		text += n + 1;
	}
	return node;
}

static int add_row(struct diff_stacks *s, const struct diff *d, const struct diff_row *r)
{
	const struct key_cell *cell = groups_cells(&d->groups, r->group);
	struct diff_value v = diff_value(d, r, 0);
	const char *text;
	uint32_t node;
	size_t size;

	if (!groups_cell_text(&d->groups, cell, &text, &size) || !size)
		return 0;
	node = node_of(s, text, size);
	if (!node || ARRAY_REACH(s->before, s->nbefore, node))
		return -1;
	add_saturated(&s->before[node], width_of(s, v.a));
	stack_tree_add(&s->tree, node, (int128)width_of(s, v.b));
	return 0;
}

static void remark_sums(const struct diff_stacks *s)
{
	warn_count(NULL, s->negative, "{stack|stacks} with a negative weight left out");
	warn_count(NULL, s->clipped, "{sum of a stack was|sums of stacks were} clipped to %" PRIu64,
		   UINT64_MAX);
}

int diff_svg(const struct diff *d, struct text *out, struct error *e)
{
	const struct statistics *st = d->b.statistics;
	struct diff_stacks s = {0};
	struct flame_graph g = {.tree = &s.tree, .names = &s.names};
	int bad;

	if (d->groups.keys > 1)
		return error_set(e, NULL, NO_OFFSET,
				 "the samples are of several types: choose one with trfilter 'type "
				 "== ...'");
	bad = stack_tree_init(&s.tree);

	for (size_t i = 0; !bad && i < d->count; i++)
		bad = add_row(&s, d, &d->row[i]);
	bad = bad || ARRAY_REACH(s.before, s.nbefore, s.tree.count);
	g.before = s.before;
	g.title = *d->title ? d->title : NULL;
	g.what = d->b.columns->weights ? "weight of samples" : "time";
	g.unit = d->b.columns->weights ? "weight" : st->ticks && !d->b.columns->ns ? "ticks" : "ns";
	bad = bad || flame_graph_draw(&g, out);
	if (!bad && !d->quiet)
		remark_sums(&s);
	stack_tree_free(&s.tree);
	intern_free(&s.names);
	free(s.before);
	return bad ? error_no_memory(e) : 0;
}
