/*
 * summary_groups.c - the groups of a summary
 */
#include <errno.h>
#include <stdlib.h>

#include "cmd/trstat/summary/summary_unpack.h"

int unpack_aggregate_into(struct unpacker *u, struct aggregate *a)
{
	struct summaries *ss = u->ss;
	const struct columns_wanted *w = &ss->stored.wanted;
	struct aggregate *one = aligned_alloc(16, w->size);
	int bad = -1;

	if (!one)
		return unpack_no_memory(u);
	memset(one, 0, w->size);
	aggregate_init(one, w);
	errno = 0;
	if (unpack_aggregate(&u->in, one, w))
		unpack_no_memory(u);
	else if (!u->in.bad)
		bad = aggregate_merge_of(a, &ss->s->columns->wanted, one, w, ss->fields);
	if (bad && errno == ENOMEM)
		unpack_no_memory(u);
	aggregate_free(one, w);
	free(one);
	return bad;
}

int unpack_groups(struct unpacker *u)
{
	struct summaries *ss = u->ss;
	struct groups *g = &ss->waiting;
	struct statistics *s = ss->s;
	uint64_t n = packed_count(&u->in, 2);

	/* with its number as a key, because two groups may become one when their stacks are read */
	groups_init(g, s->keys->count + 1, &ss->stored.wanted);
	for (uint64_t i = 0; i < n && !u->in.bad; i++) {
		struct aggregate *a;

		/* the statistics have numbered these texts */
		if (unpack_cells(&u->in, &s->groups, s->cells, s->keys->count, false, &ss->stacks))
			return unpack_no_memory(u);
		if (u->in.bad)
			return -1;
		s->cells[s->keys->count] = key_unsigned(i);
		a = groups_find(g, s->cells);
		if (!a || unpack_aggregate(&u->in, a, g->wanted))
			return unpack_no_memory(u);
	}
	return u->in.bad ? -1 : 0;
}
