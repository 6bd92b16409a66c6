/*
 * filter.h - a compiled condition, evaluated row by row in the order of the stream
 *
 * Conditions joined by && are terms, evaluated in sequence. A term gets only the rows that passed
 * the terms before it: 'A && B' is 'A' piped into 'B', whatever A and B are.
 *
 * A term that is by_call decides a call at its enter, for its leave too, even if it depends on the
 * location alone: the leave may have another location (a second return of setjmp). Where nearly all
 * rows of a block have the same result, select.h finds calls without evaluating each row.
 */
#ifndef TR_TRFILTER_ROWS_FILTER_H
#define TR_TRFILTER_ROWS_FILTER_H

#include "cmd/trfilter/expression/evaluate.h"
#include "cmd/trfilter/calls/pairing.h"

struct term {
	struct node *node; /* subtree of the condition */
	bool by_entry;	   /* depends on the row's lane, type and location alone */
	bool by_call;	   /* decided at the enter, for its leave too */
	bool by_row;	   /* needs single rows, not whole calls */
	bool by_both;	   /* needs both: an enter and its leave are decided separately */
	struct pairing pairing;
};

struct filter {
	struct node *tree;
	struct term *terms;
	size_t nterms;
	size_t leading; /* number of leading terms that are by_entry */
	bool calls;	/* one of these is by_call */
	bool by_kind;	/* some term tests the kind: each row is decided by itself */
	bool by_both;	/* some term is by_both */
	bool any_ended; /* calls of some pairing have ended */
	size_t marks;	/* number of bits for marks on an open call (decide.h) */
	struct evaluation evaluation;
};

/* Compile a condition. Returns 0, or -1: an invalid expression, or out of memory. filter_free in
 * any case. */
int filter_compile(struct filter *f, const char *expression, struct error *e);
void filter_free(struct filter *f);
/* Prepare for a stream, with the evaluation's dictionary: no call is open. */
void filter_begin(struct filter *f);

/* Returns true if an event passes the terms from first on. To be called once for each event, in
 * the order of the stream. Gaps are not events. */
bool filter_from(struct filter *f, size_t first, const struct event *e);
static inline bool filter_holds(struct filter *f, const struct event *e)
{
	return filter_from(f, 0, e);
}
bool filter_out_of_memory(const struct filter *f);

/* Returns true if filter_ends may return flags. */
static inline bool filter_any_ended(const struct filter *f, const struct pairing *range)
{
	return f->any_ended || (range && range->ended);
}

struct time_range;
/* Returns flags (row_state.h) for the calls that are kept and ended without a leave at the rows
 * since the last call. */
uint8_t filter_ends(struct filter *f, struct time_range *range, bool invert);
/* Take a row of KIND_DROP. Returns the flags for the calls that are kept and end with it. */
uint8_t filter_drop(struct filter *f, struct time_range *range, bool invert, const struct event *e);

#endif
