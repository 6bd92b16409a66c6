/*
 * summary_unpack.h - decode the payload of a summary, section by section: head, groups, part
 *
 * Every value is checked; an impossible one sets in.bad. All functions return 0, or -1 with in.bad,
 * out_of_memory, or *e set.
 */
#ifndef TR_TRSTAT_SUMMARY_SUMMARY_UNPACK_H
#define TR_TRSTAT_SUMMARY_SUMMARY_UNPACK_H

#include "cmd/trstat/summary/pack.h"
#include "cmd/trstat/summary/summary.h"

/* The state of decoding one payload. */
struct unpacker {
	struct summaries *ss;
	struct packed in;
	struct error *e;
	struct part *part;
	bool out_of_memory;
};

/* Set out_of_memory and return -1. */
static inline int unpack_no_memory(struct unpacker *u)
{
	u->out_of_memory = true;
	return -1;
}

/* Decode the head. The first one calls summaries.begin; each later one must match it. */
int unpack_head(struct unpacker *u);
/* Decode the stacks into summaries.stacks. */
int unpack_stacks(struct unpacker *u);
/* Decode an aggregate and add it to a, which has the layout of the statistics. */
int unpack_aggregate_into(struct unpacker *u, struct aggregate *a);
/* Decode the groups into summaries.waiting. */
int unpack_groups(struct unpacker *u);
/* Decode the part into u->part, which is empty. */
int unpack_part(struct unpacker *u);
/* Decode the part's cells of open calls' enters into u->part->entered, in the layout of the
 * statistics, which may have fewer arguments or another order. */
int unpack_entered(struct unpacker *u);

#endif
