/*
 * summary_groups.c - decode the groups of a summary
 */
#include <errno.h>
#include <stdlib.h>

#include "cmd/trstat/summary/summary_unpack.h"

/* Decode an aggregate and add it to `to`, which has the layout w; field i of w is fields[i] of the
 * summary, or i where fields is NULL. */
static int add_aggregate(struct unpacker *u, struct aggregate *to, const struct columns_wanted *w,
			 const uint32_t *fields)
{
	const struct columns_wanted *stored = &u->ss->stored.wanted;
	struct aggregate *one = aligned_alloc(16, stored->size);
	int bad = -1;

	if (!one)
		return unpack_no_memory(u);
	memset(one, 0, stored->size);
	aggregate_init(one, stored);
	errno = 0;
	if (unpack_aggregate(&u->in, one, stored))
		unpack_no_memory(u);
	else if (!u->in.bad)
		bad = aggregate_merge_of(to, w, one, stored, fields);
	if (bad && errno == ENOMEM)
		unpack_no_memory(u);
	u->in.bad |= bad && !u->out_of_memory;
	aggregate_free(one, stored);
	free(one);
	return bad;
}

int unpack_aggregate_into(struct unpacker *u, struct aggregate *a)
{
	return add_aggregate(u, a, &u->ss->to->s->columns->wanted, u->ss->fields);
}

/* Decode the cells of a group, and give its tail the number that it has here. */
static int take_cells(struct unpacker *u, struct statistics *s)
{
	struct key_cell *more = s->cells + s->keys->count;
	struct key_cell *tail = more + CELL_TAIL;

	/* the statistics have numbered these texts */
	if (unpack_cells(&u->in, &s->groups, s->cells, s->keys->count, &u->ss->stacks, 0) ||
	    unpack_cells(&u->in, &s->groups, more, SUMMARY_CELLS, NULL, 0))
		return unpack_no_memory(u);
	if (u->in.bad)
		return -1;
	u->in.bad |=
		more[CELL_INTERVAL].kind != KEY_MISSING && more[CELL_INTERVAL].kind != KEY_UNSIGNED;
	if (tail->kind != KEY_MISSING) {
		u->in.bad |= tail->kind != KEY_UNSIGNED || !tail->value || tail->value > UINT32_MAX;
		tail->value += u->tails;
		u->most = tail->value > u->most ? tail->value : u->most;
	}
	return u->in.bad ? -1 : 0;
}

int unpack_groups(struct unpacker *u)
{
	struct summaries *ss = u->ss;
	struct groups *g = &ss->waiting;
	struct statistics *s = ss->to->s;
	uint64_t n = packed_count(&u->in, 2);

	groups_init(g, s->keys->count + SUMMARY_CELLS, &ss->stored.wanted);
	for (uint64_t i = 0; i < n && !u->in.bad; i++) {
		size_t before = g->count;
		struct aggregate *a;

		if (take_cells(u, s))
			return -1;
		a = groups_find(g, s->cells);
		if (!a)
			return unpack_no_memory(u);
		if (g->count > before) {
			if (unpack_aggregate(&u->in, a, g->wanted))
				return unpack_no_memory(u);
		} else if (add_aggregate(u, a, g->wanted, NULL)) {
			return -1;
		}
	}
	return u->in.bad ? -1 : 0;
}
