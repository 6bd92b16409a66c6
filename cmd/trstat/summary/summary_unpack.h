/*
 * summary_unpack.h - decode the content of a summary, section by section
 *
 * Every value is checked; an impossible one sets in.bad. All functions return 0, or -1 with in.bad,
 * out_of_memory, or *e set.
 */
#ifndef TR_TRSTAT_SUMMARY_SUMMARY_UNPACK_H
#define TR_TRSTAT_SUMMARY_SUMMARY_UNPACK_H

#include "cmd/trstat/summary/pack.h"
#include "cmd/trstat/summary/summary.h"

/* The state of decoding one summary. */
struct unpacker {
	struct summaries *ss;
	struct packed in;
	struct error *e;
	uint64_t tails; /* added to the number that a tail has in the summary */
	uint64_t most;	/* the greatest number of a group's tail */
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
/* Decode the stacks into summaries.stacks, and the unseen calls into summaries.names. */
int unpack_stacks(struct unpacker *u);
/* Decode an aggregate and add it to a, which has the layout of the statistics. */
int unpack_aggregate_into(struct unpacker *u, struct aggregate *a);
/* Decode the groups into summaries.waiting. */
int unpack_groups(struct unpacker *u);
/* Decode the parts, after the stacks. */
int unpack_parts(struct unpacker *u);
/* Decode slowest calls. */
int unpack_slowest(struct unpacker *u, struct slow_list *to);

#endif
