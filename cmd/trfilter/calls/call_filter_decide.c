/* call_filter_decide.c - decide row by row: an enter or its leave decides a call */
#include "cmd/trfilter/calls/call_filter_private.h"
#include "common/calls/calls.h"

/*
 * Decide a row without a frame: an event that is not a call, a row of a call that cannot be paired,
 * or the leave of a call that was open before its thread's first event (unseen, done).
 */
static uint8_t decide_without_frame(struct call_filter *w, const struct event *e, bool in_range,
				    const struct call_data *unseen, const struct call *done)
{
	struct around around = call_filter_around_event(w, e);
	bool row_holds, holds;

	call_filter_set_info(w, e, around, false);
	if (unseen) {
		w->info.ended = w->info.has_self = true;
		w->info.dur = done->total;
		w->info.self = done->self;
	}
	in_range = in_range && call_filter_level(w, around) < w->max_depth;
	row_holds = call_filter_row_holds(w, e);
	holds = !w->single_rows || w->row_holds;
	for (size_t i = 0; i < w->filter->nterms && holds && !w->single_rows; i++)
		if (!w->filter->terms[i].by_row)
			holds = evaluate(w->evaluation, w->filter->terms[i].node, e);
	if (call_filter_of_row(w, holds ? ANSWER_YES : ANSWER_NO, in_range, row_holds) !=
	    ANSWER_YES)
		return unseen && unseen->for_callee ? call_filter_kept_state(w, ANSWER_NO)
						    : ROW_LEFT_OUT;
	call_filter_kept(w, around);
	return ROW_KEEP;
}

void call_filter_lost(void *ctx, struct stack *s, const struct frame *frame, void *data,
		      enum calls_lost why)
{
	struct call_filter *w = ctx;
	struct call_data *f = data;
	bool keep;

	call_filter_never_left(w, f);
	if (why == LOST_NUMBER)
		return;
	keep = call_filter_keep_enter(w, f);
	if (keep || !f->begun)
		w->ends_here |= frame->inner ? ROW_ENDS_INNER : ROW_ENDS;
	if (!keep)
		return;
	call_filter_kept(w, call_filter_around(w, s, s->count));
	w->ends.threads[s->number].lost = true;
}

uint8_t call_filter_enter(struct call_filter *w, const struct event *e, const struct call *call,
			  bool in_range)
{
	const struct stack *s = call->on;
	struct around around = {NULL, 0};
	struct call_data *f = call->data;
	enum answer row;

	if (s)
		around = call_filter_around(w, s, s->count - 1);
	call_filter_set_info(w, e, around, true);
	f->lane = e->lane;
	f->start = e->time;
	f->block = block_queue_next(&w->queue);
	f->level = w->own_under ? 0 : call_filter_level(w, around);
	f->node = w->info.node;
	f->under = w->info.under;
	f->over = w->info.over;
	f->begun = true;
	f->in_range = in_range && f->level < w->max_depth;
	f->numbered = !s;
	f->per_cpu = e->type->flags & TYPE_PER_CPU;
	f->ignored = call->ignored;
	w->info.dur = 0;
	f->answer = f->in_range ? call_filter_ask(w, DECIDE_ENTER, e, f) : ANSWER_NO;
	f->row_holds = call_filter_row_holds(w, e);
	row = call_filter_of_row(w, f->answer, f->in_range, f->row_holds);
	if (row == ANSWER_YES) {
		if (w->callers && s)
			call_filter_kept(w, (struct around){s, s->count});
		return ROW_KEEP;
	}
	if (row == ANSWER_NO && !w->callers)
		return ROW_LEFT_OUT;
	f->undecided = true;
	f->row = w->rows.row;
	w->rows.owners[w->rows.row] = call_address_last(&w->calls, call);
	return ROW_UNDECIDED;
}

static uint8_t leave(struct call_filter *w, const struct event *e, bool in_range,
		     const struct call *done)
{
	const struct stack *s = done->on;
	struct call_data *f = done->data;
	enum answer answer;
	bool keep;

	if (!f->begun) {
		w->ends_here |= ROW_ENDS_OWN;
		return decide_without_frame(w, e, in_range, f, done);
	}
	w->around = s ? call_filter_around(w, s, s->count) : (struct around){NULL, 0};
	if (f->answer == ANSWER_LATER || w->filter->by_both) {
		call_filter_set_open_info(w, f, e->time);
		w->info.ended = true;
		w->info.has_self = !done->ignored;
		w->info.self = done->self;
	}
	if (f->answer == ANSWER_LATER)
		f->answer = call_filter_ask(w, DECIDE_LEAVE, e, f);
	call_filter_decide(w, f, call_filter_keep_enter(w, f));
	answer = f->answer;
	if (w->filter->by_both && f->in_range)
		answer = call_filter_ask(w, DECIDE_LEAVE_ROW, e, f);
	if (w->single_rows)
		keep = in_range && f->level < w->max_depth && w->row_holds != w->invert;
	else
		keep = call_filter_of_row(w, answer, f->in_range, call_filter_row_holds(w, e)) ==
		       ANSWER_YES;
	if (w->callers && (keep || call_filter_keep_enter(w, f)))
		call_filter_kept(w, w->around);
	if (!keep && !f->for_callee)
		return ROW_LEFT_OUT;
	return call_filter_kept_state(w, keep ? ANSWER_YES : ANSWER_NO);
}

/* Decide a row of the calls, or an event within them. */
static uint8_t decide_row(struct call_filter *w, const struct event *e, bool in_range,
			  enum calls_result got, const struct call *call)
{
	switch (got) {
	case CALLS_ENTER: return call_filter_enter(w, e, call, in_range);
	case CALLS_LEAVE: return leave(w, e, in_range, call);
	default: return decide_without_frame(w, e, in_range, NULL, NULL);
	}
}

/* Returns the state of a row that is an event. */
static uint8_t state_of_event(struct call_filter *w, const struct event *e, bool in_range)
{
	enum calls_result got;
	struct call call;

	if (w->single_rows)
		w->row_holds = in_range && filter_holds(w->filter, e);
	got = calls_next(&w->calls, e, &call);
	w->ignored_row = got == CALLS_ENTER && call.ignored;
	return decide_row(w, e, in_range, got, &call);
}

/* Take a row of KIND_DROP. Returns its state. */
static uint8_t take_drop(struct call_filter *w, const struct event *e)
{
	struct call done;

	filter_drop(w->filter, w->time_range, w->invert, e);
	w->row_holds = false;
	calls_next(&w->calls, e, &done);
	return w->queue.left_out;
}

static uint8_t state_of_row(struct call_filter *w, const struct event *e)
{
	uint8_t state;
	bool in_range;

	if (e->type->kind == KIND_GAP)
		return ROW_GAP;
	ends_note(&w->ends, calls_thread(e), e->lane, e->time, w->rows.row);
	w->now = e->time;
	if (e->type->kind == KIND_DROP)
		return take_drop(w, e);
	in_range = !w->time_range || time_range_row(w->time_range, e);
	state = state_of_event(w, e, in_range);
	/* events outside of the range do not enclose anything */
	return state == ROW_LEFT_OUT && in_range ? w->queue.left_out : state;
}

uint8_t call_filter_row(struct call_filter *w, const struct event *e)
{
	uint8_t state, flags;

	w->ignored_row = false;
	w->ends_here = 0;
	state = state_of_row(w, e);
	flags = w->ends_here | (w->ignored_row && state != ROW_LEFT_OUT ? ROW_IGNORED : 0);
	w->queue.flagged |= flags != 0;
	return state | flags;
}
