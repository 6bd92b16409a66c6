#include "common/calls/snapshot_hooks.h"

#include "common/calls/snapshot_maker.h"

static struct snapshot_maker *make(struct writer *w)
{
	return snapshot_maker_new(w, true);
}

/* Is a call open whose function has no name? */
static bool any_unnamed(const struct snapshot *s)
{
	struct snapshot_walk w;

	snapshot_walk(&w, s);
	while (snapshot_next_thread(&w))
		while (snapshot_next_frame(&w)) {
			const struct location *l =
				dictionary_location(s->dictionary, w.enter.location);

			if (w.enter.location && l && !l->name.size && !l->symbol)
				return true;
		}
	return false;
}

static int adopt(struct snapshot_maker *m, const struct block *b)
{
	if (snapshot_maker_adopt(m, b))
		return -1;
	if (any_unnamed(b->snapshot))
		snapshot_maker_miss(m);
	return 0;
}

const struct snapshot_hooks snapshot_hooks_selective = {
	.make = make, .adopt = snapshot_maker_adopt, .free = snapshot_maker_free};

const struct snapshot_hooks snapshot_hooks = {
	.make = make, .adopt = adopt, .free = snapshot_maker_free};
