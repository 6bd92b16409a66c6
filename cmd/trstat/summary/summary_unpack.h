/*
 * summary_unpack.h - the payload of a summary, section by section: head, groups, part
 *
 * Nothing that it says is believed unchecked. Where it cannot be, in.bad is set. All return 0, or
 * -1 with in.bad, out_of_memory, or *e.
 */
#ifndef TR_TRSTAT_SUMMARY_SUMMARY_UNPACK_H
#define TR_TRSTAT_SUMMARY_SUMMARY_UNPACK_H

#include "cmd/trstat/summary/pack.h"
#include "cmd/trstat/summary/summary.h"

/* One payload being taken apart. */
struct unpacker {
	struct summaries *ss;
	struct packed in;
	struct error *e;
	struct part *part;
	bool out_of_memory;
};

/* out_of_memory; -1. */
static inline int unpack_no_memory(struct unpacker *u)
{
	u->out_of_memory = true;
	return -1;
}

/* The head: it is like those before it, or, as the first, begins (summaries.begin). */
int unpack_head(struct unpacker *u);
/* The stacks, into summaries.stacks. */
int unpack_stacks(struct unpacker *u);
/* An aggregate, added to a, which is laid out as those of the statistics. */
int unpack_aggregate_into(struct unpacker *u, struct aggregate *a);
/* The groups, into summaries.waiting. */
int unpack_groups(struct unpacker *u);
/* The part, into u->part, which is empty. */
int unpack_part(struct unpacker *u);
/* Of it what enters of open calls had, into u->part->entered: as the statistics keep it, which may
 * have fewer arguments or others first. */
int unpack_entered(struct unpacker *u);

#endif
