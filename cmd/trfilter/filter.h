/*
 * filter.h - a compiled condition, asked row by row in the order of the stream
 *
 * Conditions joined by && are parts that are asked one after the other, a part seeing only the rows
 * that passed the parts before it: 'A && B' is 'A' piped into 'B', whatever A and B are.
 */
#ifndef TRFILTER_FILTER_H
#define TRFILTER_FILTER_H

#include "evaluate.h"
#include "pairing.h"

struct part {
	struct node *node; /* of the tree */
	bool by_entry;	   /* hangs on the row's lane, type and place alone */
	bool by_call;	   /* decided at the enter, for its leave too */
	bool by_row;	   /* asks for single rows, and for nothing of whole calls */
	bool by_both;	   /* asks for both: an enter and its leave are decided apart */
	struct pairing pairing;
};

struct filter {
	struct node *tree;
	struct part *parts;
	size_t nparts;
	size_t leading;	  /* parts at the front that are by_entry */
	unsigned depends; /* of these */
	bool by_both;	  /* so is a part */
	size_t marks;	  /* bits to be noted of an open call (decide.h) */
	struct evaluation evaluation;
};

/* 0, or -1: a bad expression, or memory is out. filter_free in any case. */
int filter_compile(struct filter *f, const char *expression, struct error *e);
void filter_free(struct filter *f);

/* Do the leading parts hold for a row of that lane, type and place? Keeps no state. */
bool filter_leading(struct filter *f, const struct event *e);
/* Do the others hold? Only rows that passed the leading ones, each once. Gap rows are no events. */
bool filter_others(struct filter *f, const struct event *e);
/* Both. */
static inline bool filter_holds(struct filter *f, const struct event *e)
{
	return filter_leading(f, e) && filter_others(f, e);
}
bool filter_out_of_memory(const struct filter *f);

#endif
