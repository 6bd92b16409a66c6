/* call_filter_rows.c - filter row by row: calls begin and end, other rows are decided at once */
#include "cmd/trfilter/calls/call_filter_private.h"

enum {
	FRAMES_LIMIT = 1 << 20, /* per thread: deeper calls are decided row by row */
	UNSEEN_LIMIT = 1 << 17, /* per thread: more than the depth of a row can record */
};

/*
 * Decide a row without a frame: an event that is no call, a row of a call that cannot be paired, or
 * the leave of a call that was open before its thread's first event and is no longer on its stack.
 */
static uint8_t decide_alone(struct call_filter *w, const struct event *e, uint32_t number,
			    bool wanted, const struct open_frame *unseen, const struct call *done)
{
	const struct open_frame *a = call_filter_set_info(w, e, number, false);
	bool passes, holds;

	if (unseen) {
		w->info.ended = true;
		w->info.dur = e->time > unseen->start ? e->time - unseen->start : 0;
		w->info.has_self = done;
		w->info.self = done ? done->self : 0;
	}
	wanted = wanted && (a ? a->level + 1 : 0) < w->max_depth;
	passes = call_filter_passes_row(w, e);
	holds = !w->rows_alone || w->holds;
	for (size_t i = 0; i < w->filter->nparts && holds && !w->rows_alone; i++)
		if (!w->filter->parts[i].by_row)
			holds = evaluate(w->evaluation, w->filter->parts[i].node, e);
	if (call_filter_of_row(w, holds ? ANSWER_YES : ANSWER_NO, wanted, passes) != ANSWER_YES)
		return unseen && unseen->for_callee ? call_filter_kept_state(w, ANSWER_NO)
						    : ROW_DROP;
	if (!(e->type->flags & TYPE_CALL_NUMBER))
		call_filter_kept(w, a && a != frames_top(&w->frames.stacks[number]) ? number ^ 1
										    : number);
	return ROW_KEEP;
}

/* Push a frame for an enter; NULL: the enter is decided without a frame. */
static struct open_frame *begin_call(struct call_filter *w, const struct event *e, uint32_t *number,
				     uint32_t *index)
{
	struct frame_stack *s;
	struct open_frame *f;
	uint32_t depth;
	bool inner = e->type->flags & TYPE_INNER;

	if (e->type->flags & TYPE_CALL_NUMBER) {
		*number = FRAMES_NUMBERED;
		f = frames_number(&w->frames, e, index);
		if (f)
			f->depth = 0;
		return f;
	}
	s = &w->frames.stacks[*number];
	depth = s->count ? frames_top(s)->depth + 1 : 0;
	if (e->type->flags & TYPE_DEPTH && !inner)
		depth = e->depth;
	if (s->count >= FRAMES_LIMIT) {
		s->beyond += !(e->type->flags & TYPE_DEPTH);
		return NULL;
	}
	*index = s->count;
	f = frames_push(&w->frames, s);
	if (f)
		f->depth = depth;
	return f;
}

/* Pop the top of a stack, which ended without a leave. */
static void lose_call(struct call_filter *w, struct frame_stack *s, uint32_t number)
{
	bool keep;

	call_filter_never_left(w, frames_top(s));
	keep = call_filter_keep_enter(w, frames_top(s));
	if (keep || frames_top(s)->unseen)
		w->ends_here |= frames_top(s)->inner ? ROW_ENDS_INNER : ROW_ENDS;
	s->count--;
	if (!keep)
		return;
	call_filter_kept(w, number);
	w->ends.threads[number / 2].lost = true;
}

/* End calls that are as deep as an enter, or have its number, and got no leave. */
static void synchronise(struct call_filter *w, const struct event *e, uint32_t number)
{
	struct frame_stack *s = &w->frames.stacks[number];
	struct open_frame *f;

	if (e->type->flags & TYPE_CALL_NUMBER) {
		f = frames_numbered(&w->frames, e);
		if (f)
			call_filter_never_left(w, f);
	} else if (e->type->flags & TYPE_DEPTH && !(e->type->flags & TYPE_INNER)) {
		while (s->count && frames_top(s)->depth >= e->depth)
			lose_call(w, s, number);
	}
}

/* Returns true if the call engine ignores an enter on top of that call, if any. */
static bool is_ignored(struct call_filter *w, const struct event *e, const struct open_frame *top)
{
	if (w->ignored.full || !(e->type->flags & TYPE_INNER))
		return w->ignored_row;
	return ignored_inner(&w->ignored, e, top != NULL, top ? top->location : 0);
}

static uint8_t enter(struct call_filter *w, const struct event *e, uint32_t number, bool wanted)
{
	bool numbered = e->type->flags & TYPE_CALL_NUMBER, ignored;
	struct open_frame *f, *a;
	enum answer row;
	uint32_t index, level;

	synchronise(w, e, number);
	a = call_filter_set_info(w, e, number, true);
	level = a ? a->level + 1 : 0;
	if (a)
		a->children++;
	if (w->own_under)
		level = 0;
	ignored = is_ignored(w, e, a);
	f = begin_call(w, e, &number, &index); /* may move the frames */
	if (!f || frames_clear(&w->frames, f))
		return decide_alone(w, e, frames_thread(e), wanted, NULL, NULL);
	f->lane = e->lane;
	f->start = e->time;
	f->block = block_queue_next(&w->queue);
	f->location = e->location;
	f->level = level;
	f->children = 0;
	f->node = w->info.node;
	f->under = w->info.under;
	f->over = w->info.over;
	f->waits = false;
	f->wanted = wanted && level < w->max_depth;
	f->for_callee = false;
	f->inner = e->type->flags & TYPE_INNER;
	f->numbered = numbered;
	f->unseen = false;
	f->ignored = w->ignored_row = ignored;
	w->info.dur = 0;
	f->answer = f->wanted ? call_filter_ask(w, DECIDE_ENTER, e, f) : ANSWER_NO;
	f->passes = call_filter_passes_row(w, e);
	row = call_filter_of_row(w, f->answer, f->wanted, f->passes);
	if (row == ANSWER_YES) {
		call_filter_kept(w, number);
		return ROW_KEEP;
	}
	if (row == ANSWER_NO && !w->callers)
		return ROW_DROP;
	f->waits = true;
	f->row = w->row;
	w->owners[w->row] = (struct frame_at){number, index};
	return ROW_WAIT;
}

/* Returns the frame that a leave closes, at the top of its stack; NULL: none. */
static struct open_frame *closed_frame(struct call_filter *w, const struct event *e,
				       uint32_t number)
{
	struct frame_stack *s = &w->frames.stacks[number];
	bool inner = e->type->flags & TYPE_INNER, depth = e->type->flags & TYPE_DEPTH && !inner;
	struct open_frame *f;

	if (!depth && s->beyond) {
		s->beyond--;
		return NULL;
	}
	/* a leave also ends all calls above its own */
	while ((f = frames_top(s)) && !inner &&
	       (f->inner ? !depth || f->depth >= e->depth : depth && f->depth > e->depth))
		lose_call(w, s, number);
	return f && f->inner == inner && (!depth || f->depth == e->depth) ? f : NULL;
}

static uint8_t leave(struct call_filter *w, const struct event *e, uint32_t number, bool wanted,
		     const struct call *done)
{
	bool numbered = e->type->flags & TYPE_CALL_NUMBER, keep;
	struct frame_stack *s = &w->frames.stacks[number];
	struct open_frame *f =
		numbered ? frames_numbered(&w->frames, e) : closed_frame(w, e, number);
	enum answer answer;

	if (!w->ignored.full)
		w->ignored_row = e->type->flags & TYPE_INNER && (!f || f->ignored);

	if (!f)
		return decide_alone(w, e, number, wanted, NULL, NULL);
	if (f->unseen) {
		const struct open_frame unseen = *f;

		s->count--;
		w->ends_here |= ROW_ENDS_OWN;
		return decide_alone(w, e, number, wanted, &unseen, done);
	}
	if (f->answer == ANSWER_LATER || w->filter->by_both) {
		call_filter_set_open_info(w, f, e->time);
		w->info.ended = true;
		w->info.has_self = done;
		w->info.self = done ? done->self : 0;
	}
	if (f->answer == ANSWER_LATER)
		f->answer = call_filter_ask(w, DECIDE_LEAVE, e, f);
	call_filter_settle(w, f, call_filter_keep_enter(w, f));
	answer = f->answer;
	if (w->filter->by_both && f->wanted)
		answer = call_filter_ask(w, DECIDE_LEAVE_ROW, e, f);
	if (w->rows_alone)
		keep = wanted && f->level < w->max_depth && w->holds != w->invert;
	else
		keep = call_filter_of_row(w, answer, f->wanted, call_filter_passes_row(w, e)) ==
		       ANSWER_YES;
	if (!numbered) {
		s->count--;
		if (w->callers && (keep || call_filter_keep_enter(w, f)))
			call_filter_kept(w, number);
	}
	if (!keep && !f->for_callee)
		return ROW_DROP;
	return call_filter_kept_state(w, keep ? ANSWER_YES : ANSWER_NO);
}

/* Take a row of KIND_DROP. */
static uint8_t drop_calls(struct call_filter *w, const struct event *e, uint32_t number)
{
	struct frame_stack *s = &w->frames.stacks[number];
	bool inner = e->type->flags & TYPE_INNER;

	while (s->count && (inner ? frames_top(s)->inner : frames_top(s)->depth >= e->depth))
		lose_call(w, s, number);
	return w->queue.dropped;
}

/* Take the first row that shows which calls are open on a stack: those below its depth, as in
 * calls.h. */
static void start_stack(struct call_filter *w, const struct event *e, uint32_t number)
{
	enum { NOT_OWN = TYPE_INNER | TYPE_KERNEL | TYPE_CALL_NUMBER };
	const struct dictionary *d = w->evaluation->dictionary;
	const struct thread_facts *facts = dictionary_facts(d, number / 2);
	struct frame_stack *s = &w->frames.stacks[number];
	uint32_t unseen = e->depth + (e->type->kind == KIND_LEAVE);
	uint64_t since = e->time;

	if ((e->type->kind != KIND_ENTER && e->type->kind != KIND_LEAVE) ||
	    e->type->flags & NOT_OWN)
		return;
	s->by_depth = e->type->flags & TYPE_DEPTH;
	s->started = s->by_depth || e->type->kind == KIND_ENTER;
	if (!s->by_depth)
		return;
	if (dictionary_left_out(d, number / 2)) {
		unseen = facts && facts->unseen < UNSEEN_LIMIT ? facts->unseen : 0;
		since = facts ? facts->since : 0;
	}
	/* scheduled-out frames before that are no calls */
	while (unseen && s->count)
		lose_call(w, s, number);
	for (uint32_t i = 0; i < unseen; i++) {
		struct open_frame *f = frames_push(&w->frames, s);

		if (!f || frames_clear(&w->frames, f))
			return;
		f->lane = e->lane;
		f->start = since;
		f->depth = f->level = i;
		f->answer = ANSWER_NO;
		f->waits = f->wanted = f->passes = f->for_callee = f->inner = f->numbered = false;
		f->unseen = true;
		f->ignored = false;
		f->location = f->children = 0;
		f->node = STACK_NODES_BOTTOM;
		f->under = f->over = 0;
	}
}

static uint8_t state_of_row(struct call_filter *w, const struct event *e)
{
	uint32_t number = frames_thread(e);
	bool has_self = false, wanted, drop;
	struct call done;
	uint8_t state, flags = 0;

	if (e->type->kind == KIND_GAP)
		return ROW_GAP;
	drop = e->type->kind == KIND_DROP;
	if (drop)
		flags = filter_drop(w->filter, w->time_range, w->invert, e);
	wanted = !drop && (!w->time_range || time_range_row(w->time_range, e));
	ends_note(&w->ends, number / 2, e->lane, e->time, w->row);
	if (w->rows_alone) {
		w->holds = wanted && filter_holds(w->filter, e);
		if (!call_filter_follows(w)) {
			w->ends_here =
				drop ? flags : filter_ends(w->filter, w->time_range, w->invert);
			if (drop)
				return w->queue.dropped;
			state = wanted && w->holds != w->invert ? ROW_KEEP : ROW_DROP;
			return state == ROW_DROP && wanted ? w->queue.dropped : state;
		}
	}
	w->now = e->time;
	/* the two stacks of a thread are allocated together */
	if (__builtin_expect((number | 1) >= w->frames.size, 0) &&
	    !frames_stack(&w->frames, number | 1))
		return ROW_DROP;
	if (w->self)
		has_self = calls_feed(&w->calls, e, &done) == CALLS_LEAVE;
	if (!w->frames.stacks[number].started)
		start_stack(w, e, number);
	switch (e->type->kind) {
	case KIND_ENTER: state = enter(w, e, number, wanted); break;
	case KIND_LEAVE: state = leave(w, e, number, wanted, has_self ? &done : NULL); break;
	case KIND_DROP: return drop_calls(w, e, number);
	default: state = decide_alone(w, e, number, wanted, NULL, NULL);
	}
	/* events outside of the range do not enclose anything */
	return state == ROW_DROP && wanted ? w->queue.dropped : state;
}

uint8_t call_filter_row(struct call_filter *w, const struct event *e)
{
	uint8_t state;

	w->ignored_row = ignored_is(&w->ignored, w->row);
	w->ends_here = 0;
	state = state_of_row(w, e);
	w->queue.flagged |= w->ends_here != 0;
	return w->ends_here | (state == ROW_KEEP && w->ignored_row ? ROW_IGNORED : state);
}
