/*
 * call_filter_private.h - shared by the files of call_filter.h: call_filter.c (blocks),
 * call_filter_decide.c (decisions on rows), call_filter_ask.c (whether a call is kept),
 * duration_scan.h (the fast path)
 */
#ifndef TR_TRFILTER_CALLS_CALL_FILTER_PRIVATE_H
#define TR_TRFILTER_CALLS_CALL_FILTER_PRIVATE_H

#include "cmd/trfilter/calls/call_filter.h"

/* Returns the state of one row (enum row_state); w->rows.row is its number. */
uint8_t call_filter_row(struct call_filter *w, const struct event *e);
/* Set the decision on the enter of a call. */
void call_filter_decide(struct call_filter *w, struct call_data *f, bool keep);
/* Allocate the state of duration_scan_quick.c; NULL: out of memory. */
struct duration_scan_runs *duration_scan_runs_new(void);
void quick_free(struct duration_scan_runs *q);
/* Filter a block in the fast path. Returns false, with nothing done, if the block does not suit
 * it. */
bool duration_scan(struct call_filter *w, const struct block *b, bool *any);

/* Returns the names of the stack of an event; ctx is a struct call_filter. */
void call_filter_stack_text(void *ctx, const struct event *e, struct scalar *out);
/* Keep the calls around a kept row. */
void call_filter_kept(struct call_filter *w, struct around a);
/* Decide a row by the answer of the whole condition. */
enum answer call_filter_of_row(const struct call_filter *w, enum answer a, bool in_range,
			       bool row_holds);
/* Returns the state of a kept row, which may be kept only as a caller. */
static inline uint8_t call_filter_kept_state(const struct call_filter *w, enum answer own)
{
	return w->distinguishes_callers && own != ANSWER_YES ? ROW_CALLER : ROW_KEEP;
}
/* Decide the enter of a call by what is known. */
bool call_filter_keep_enter(const struct call_filter *w, const struct call_data *f);
/* Evaluate the terms of the condition that need calls. */
enum answer call_filter_ask(struct call_filter *w, enum decide_when when, const struct event *e,
			    struct call_data *f);
/* Evaluate the terms that need single rows only. */
bool call_filter_row_holds(struct call_filter *w, const struct event *e);
/* Returns the lowest n calls of a stack as those around an event. */
static inline struct around call_filter_around(const struct call_filter *w, const struct stack *s,
					       size_t n)
{
	const struct stack *own = w->calls.stacks[s->number];

	return n || s == own ? (struct around){s, n} : (struct around){own, own->count};
}

/* Returns the calls around an event that neither entered nor left a call. */
struct around call_filter_around_event(const struct call_filter *w, const struct event *e);

/* Returns the innermost call; NULL: none. */
static inline struct call_data *call_filter_innermost(const struct call_filter *w, struct around a)
{
	return a.n ? calls_data(&w->calls, a.s, a.n - 1) : NULL;
}

/* Returns the number of calls around, or since the one that under() selects. */
static inline uint32_t call_filter_level(const struct call_filter *w, struct around a)
{
	const struct call_data *f = call_filter_innermost(w, a);

	return !f ? 0 : f->begun ? f->level + 1 : (uint32_t)a.n;
}

/* Set what is known of the calls around an event; call: the event is an enter. */
void call_filter_set_info(struct call_filter *w, const struct event *e, struct around around,
			  bool call);
/* Set what is known of an open call at this time. */
void call_filter_set_open_info(struct call_filter *w, const struct call_data *f, uint64_t time);
/* Take the call that the engine has entered. Returns the state of its row. */
uint8_t call_filter_enter(struct call_filter *w, const struct event *e, const struct call *call,
			  bool in_range);
/* Callback of calls.on_lost. */
void call_filter_lost(void *ctx, struct stack *s, const struct frame *frame, void *data,
		      enum calls_lost why);
/* Decide a call that ended without a leave, or that the end of the stream closed. */
void call_filter_never_left(struct call_filter *w, struct call_data *f);

#endif
