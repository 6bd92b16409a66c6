#include "common/calls/snapshot_hooks.h"

#include "common/calls/snapshot_maker.h"

static struct snapshot_maker *make(struct writer *w)
{
	return snapshot_maker_new(w, true);
}

static int miss(struct snapshot_maker *m, const struct block *b)
{
	(void)b;
	snapshot_maker_miss(m);
	return 0;
}

const struct snapshot_hooks snapshot_hooks_selective = {
	.make = make, .adopt = miss, .free = snapshot_maker_free};

const struct snapshot_hooks snapshot_hooks = {
	.make = make, .adopt = snapshot_maker_adopt, .free = snapshot_maker_free};
