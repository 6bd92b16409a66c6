/*
 * settle.c - from the groups of summaries to those of tables
 */
#include <stdlib.h>

#include "cmd/trstat/summary/summary.h"

/* Move a group, by the first cells of its key, to the statistics' groups. */
static int move_group(struct groups *to, const struct groups *from, const struct aggregate *a)
{
	struct aggregate *into = groups_find(to, groups_cells(from, a));

	return into ? aggregate_merge(into, a, to->wanted) : -1;
}

static bool *live_tails(const struct parts *ps)
{
	bool *live = calloc(ps->tails + (size_t)1, sizeof(*live));

	for (size_t i = 0; live && i < ps->count; i++)
		live[ps->part[i].tail.number] = true;
	return live;
}

static int settle_groups(struct summary *sm)
{
	struct statistics *s = sm->s;
	struct groups *g = &s->groups, old = groups_take(g);
	size_t tail = s->keys->count + CELL_TAIL;
	bool *live = live_tails(&sm->parts);
	int bad = live ? 0 : -1;

	groups_set_keys(g, s->keys->count + (sm->asked->interval ? CELL_INTERVAL + 1 : 0));
	for (size_t i = 0; i < old.count && !bad; i++) {
		const struct aggregate *a = groups_at(&old, i);
		const struct key_cell *cell = &groups_cells(&old, a)[tail];

		if (cell->kind == KEY_MISSING || live[cell->value])
			bad = move_group(g, &old, a);
	}
	groups_clear(&old);
	free(live);
	s->more = 0;
	return bad;
}

int summary_settle(struct summary *sm)
{
	struct calls_counts *c = &sm->s->calls.counts;

	if (settle_groups(sm))
		return -1;
	for (size_t i = 0; i < sm->parts.count; i++) {
		struct part_tail *t = &sm->parts.part[i].tail;

		c->unfinished += t->unfinished;
		c->ignored_kernel += t->ignored_kernel;
		if (slow_list_move(&sm->slowest, &t->slowest))
			return -1;
	}
	return 0;
}

static int by_interval(const void *a, const void *b, void *ctx)
{
	const struct aggregate *const *x = a, *const *y = b;
	const struct groups *g = ctx;
	uint64_t p = groups_cells(g, *x)[g->keys - 1].value,
		 q = groups_cells(g, *y)[g->keys - 1].value;

	return (p > q) - (p < q);
}

int summary_intervals(struct summary *sm, uint64_t width,
		      bool (*print)(void *ctx, const struct interval *interval), void *ctx)
{
	struct statistics *s = sm->s;
	struct groups *g = &s->groups, old = groups_take(g);
	const struct aggregate **order = calloc(old.count + 1, sizeof(*order));
	struct interval now = {.width = width, .first = true};
	int bad = order ? 0 : -1;

	for (size_t i = 0; i < old.count && order; i++)
		order[i] = groups_at(&old, i);
	if (old.count && order)
		qsort_r(order, old.count, sizeof(*order), by_interval, &old);
	groups_set_keys(g, s->keys->count);
	for (size_t i = 0, next; i < old.count && !bad; i = next) {
		now.time = groups_cells(&old, order[i])[old.keys - 1].value;
		for (next = i;
		     next < old.count && !bad && !by_interval(&order[i], &order[next], &old);
		     next++)
			bad = move_group(g, &old, order[next]);
		if (!bad && print(ctx, &now))
			break;
		now.first = false;
		groups_clear(g);
	}
	groups_clear(&old);
	free(order);
	return bad;
}
