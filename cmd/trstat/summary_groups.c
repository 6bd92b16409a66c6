/*
 * summary_groups.c - the groups of a summary, added to those of the statistics
 */
#include <errno.h>
#include <stdlib.h>

#include "summary_unpack.h"

/* An aggregate of the payload is added to a; scratch: an empty one. */
int unpack_aggregate_into(struct unpacker *u, struct aggregate *a)
{
	struct summaries *ss = u->ss;
	const struct columns_wanted *w = &ss->s->columns->wanted;
	struct aggregate *one = aligned_alloc(16, w->size);
	int bad = -1;

	if (!one)
		return unpack_no_memory(u);
	memset(one, 0, w->size);
	aggregate_init(one, w);
	errno = 0;
	if (unpack_aggregate(&u->in, one, w, &ss->stored.wanted, ss->fields))
		unpack_no_memory(u);
	else if (!u->in.bad)
		bad = aggregate_merge(a, one, w);
	if (bad && errno == ENOMEM)
		unpack_no_memory(u);
	aggregate_free(one, w);
	free(one);
	return bad;
}

int unpack_groups(struct unpacker *u)
{
	struct summaries *ss = u->ss;
	struct statistics *s = ss->s;
	uint64_t n = packed_count(&u->in, 2);
	struct aggregate **groups = realloc(ss->groups, (n + 1) * sizeof(struct aggregate *));

	if (!groups)
		return unpack_no_memory(u);
	ss->groups = groups;
	ss->ngroups = 0;
	for (uint64_t i = 0; i < n && !u->in.bad; i++) {
		if (unpack_cells(&u->in, &s->groups, s->cells, s->keys->count, false, &ss->stacks))
			return unpack_no_memory(u);
		if (u->in.bad)
			return -1;
		groups[i] = groups_find(&s->groups, s->cells);
		if (!groups[i])
			return unpack_no_memory(u);
		if (unpack_aggregate_into(u, groups[i]))
			return -1;
		ss->ngroups++;
	}
	return u->in.bad ? -1 : 0;
}
