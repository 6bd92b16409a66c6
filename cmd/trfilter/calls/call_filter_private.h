/*
 * call_filter_private.h - what the rooms of whole.h share: whole.c (blocks), call_filter_decide.c
 * (what is known of a call, and what follows), call_filter_rows.c (rows), duration_scan.h (the fast
 * way)
 */
#ifndef TR_TRFILTER_CALLS_CALL_FILTER_PRIVATE_H
#define TR_TRFILTER_CALLS_CALL_FILTER_PRIVATE_H

#include "cmd/trfilter/calls/call_filter.h"

/* What becomes of one row (enum row_state), w->row being its number. */
uint8_t call_filter_row(struct call_filter *w, const struct event *e);
/* It is decided whether the enter of a call is kept. */
void call_filter_settle(struct call_filter *w, struct open_frame *f, bool keep);
/* For call_filter_quick.c; NULL: out of memory. */
struct quick *quick_new(void);
void quick_free(struct quick *q);
/* Go through a block in the fast way. false: it is none for that, and nothing was done. */
bool duration_scan(struct call_filter *w, const struct block *b, bool *any);

/* The names of the stack of an event, of struct call_filter. */
void call_filter_stack_text(void *ctx, const struct event *e, struct scalar *out);
/* A row is kept: so is what encloses it, from the top of that stack on. */
void call_filter_kept(struct call_filter *w, uint32_t number);
/* An open call is kept: so is what encloses it, and not what it called since. */
void call_filter_kept_call(struct call_filter *w, struct frame_at at);
/* Is a row kept, by the answer of the whole condition? */
enum answer call_filter_of_row(const struct call_filter *w, enum answer a, bool wanted,
			       bool passes);
/* What becomes of a row that is kept, be it for what it encloses. */
static inline uint8_t call_filter_kept_state(const struct call_filter *w, enum answer own)
{
	return w->apart && own != ANSWER_YES ? ROW_CALLER : ROW_KEEP;
}
/* Is the enter of a call kept, by what is known? */
bool call_filter_keep_enter(const struct call_filter *w, const struct open_frame *f);
/* The parts of the condition that ask of calls. */
enum answer call_filter_ask(struct call_filter *w, enum decide_when when, const struct event *e,
			    struct open_frame *f);
/* The parts that ask of single rows. */
bool call_filter_passes_row(struct call_filter *w, const struct event *e);
/* What is around an event, for its conditions; call: it is an enter. The innermost call around it.
 */
struct open_frame *call_filter_set_facts(struct call_filter *w, const struct event *e,
					 uint32_t number, bool call);
/* What is known of an open call at this time. */
void call_filter_set_open_facts(struct call_filter *w, const struct open_frame *f, uint64_t time);
/* A call ended without a leave, or the stream ended before it. */
void call_filter_never_left(struct call_filter *w, struct open_frame *f);

#endif
