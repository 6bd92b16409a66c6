/*
 * filter.h - a compiled condition, asked row by row in the order of the stream
 *
 * Conditions joined by && are parts that are asked one after the other, a part seeing only the rows
 * that passed the parts before it: 'A && B' is 'A' piped into 'B', whatever A and B are.
 *
 * A part that is by_call decides a call at its enter, for its leave too, also where it asks for the
 * place alone: the leave may have another one (a second return of setjmp). Where nearly all rows
 * of a block are of one mind select.h finds calls without asking row by row.
 */
#ifndef TR_TRFILTER_ROWS_FILTER_H
#define TR_TRFILTER_ROWS_FILTER_H

#include "cmd/trfilter/expression/evaluate.h"
#include "cmd/trfilter/calls/pairing.h"

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
	size_t leading; /* parts at the front that are by_entry */
	bool calls;	/* one of these is by_call */
	bool by_both;	/* a part is */
	size_t marks;	/* bits to be noted of an open call (decide.h) */
	struct evaluation evaluation;
};

/* 0, or -1: a bad expression, or out of memory. filter_free in any case. */
int filter_compile(struct filter *f, const char *expression, struct error *e);
void filter_free(struct filter *f);

/* Does an event pass the parts from one on? Each is to be asked once, in the order of the stream.
 * Gap rows are no events. */
bool filter_from(struct filter *f, size_t first, const struct event *e);
static inline bool filter_holds(struct filter *f, const struct event *e)
{
	return filter_from(f, 0, e);
}
bool filter_out_of_memory(const struct filter *f);

#endif
