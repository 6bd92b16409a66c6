/* call_filter_decide.c - what is known of a call and the calls around it, and the decisions on
 * its rows */
#include "common/calls/stack_limit.h"
#include "cmd/trfilter/calls/call_filter_private.h"

/* Returns the innermost call around an event. The kernel's calls are on top of the thread's
 * others. */
static struct open_frame *innermost_call(const struct call_filter *w, const struct event *e,
					 uint32_t number)
{
	const struct frames *f = &w->frames;
	bool call = e->type->kind == KIND_ENTER && !(e->type->flags & TYPE_INNER);
	struct open_frame *top;

	if (e->type->flags & TYPE_CALL_NUMBER)
		return NULL;
	if (!call && !(number & 1) && number + 1 < f->size && f->stacks[number + 1].count)
		number++;
	top = number < f->size ? frames_top(&f->stacks[number]) : NULL;
	if (!top && number & 1)
		top = frames_top(&f->stacks[number - 1]);
	return top;
}

/* Append the name of the frame with `below` frames below it. Returns false at the limit: this
 * frame and those above it are one. */
static bool name_of(struct call_filter *w, uint32_t below, uint32_t location)
{
	struct text_ref name = dictionary_location_name(w->evaluation->dictionary, location);

	if (below >= STACK_FRAMES)
		name = (struct text_ref){STACK_DEEPER, sizeof STACK_DEEPER - 1, 0};
	buffer_append(&w->text, name.text, name.size);
	buffer_u8(&w->text, ';');
	return below < STACK_FRAMES;
}

/*
 * Append the names of the calls that innermost_call() finds around an event, and of an enter's own
 * frame, which exists at that time.
 */
void call_filter_stack_text(void *ctx, const struct event *e, struct scalar *out)
{
	struct call_filter *w = ctx;
	uint32_t number = frames_thread(e), first = number & ~1u, end = first + 2;
	bool pushed = w->info.is_call, more = true;
	uint32_t below = 0;

	w->text.size = 0;
	if (e->type->flags & TYPE_CALL_NUMBER)
		end = first;
	else if (pushed && !(e->type->flags & TYPE_INNER))
		end = number + 1;
	for (uint32_t s = first; more && s < end && s < w->frames.size; s++) {
		const struct frame_stack *stack = &w->frames.stacks[s];

		for (uint32_t i = 0; more && i + (pushed && s == number) < stack->count; i++)
			more = name_of(w, below++, stack->frames[i].location);
	}
	if (more && w->info.is_call)
		name_of(w, below, e->location);
	if (!w->text.size)
		return;
	out->form = SCALAR_TEXT;
	out->text = (const char *)w->text.data;
	out->size = w->text.size - 1;
	w->text.data[out->size] = 0;
}

/* Visit the lowest n frames of a stack, and the thread's frames below the kernel's, from the top
 * down, until one returns false. */
static void go_down(struct call_filter *w, uint32_t number, uint32_t n,
		    bool (*visit)(struct call_filter *w, struct open_frame *f, uint64_t mark),
		    uint64_t mark)
{
	for (;;) {
		while (n--)
			if (!visit(w, &w->frames.stacks[number].frames[n], mark))
				return;
		if (!(number & 1))
			return;
		number--;
		n = w->frames.stacks[number].count;
	}
}

static bool mark_over(struct call_filter *w, struct open_frame *f, uint64_t mark)
{
	(void)w;
	if ((f->over & mark) == mark)
		return false;
	f->over |= mark;
	return true;
}

/* --- decisions --- */

void call_filter_settle(struct call_filter *w, struct open_frame *f, bool keep)
{
	uint8_t state = w->queue.dropped;

	if (!f->waits)
		return;
	f->waits = false;
	if (keep)
		state = call_filter_kept_state(
			w, call_filter_of_row(w, f->answer, f->wanted, f->passes));
	if (f->ignored && state == ROW_KEEP)
		state = ROW_IGNORED;
	if (f->block == block_queue_next(&w->queue))
		w->states[f->row] = row_flags(w->states[f->row]) | state;
	else if (!w->failed && block_queue_decide(&w->queue, f->block, f->row, state, &w->error))
		w->failed = true;
}

static bool keep_caller(struct call_filter *w, struct open_frame *f, uint64_t mark)
{
	(void)mark;
	if (f->for_callee)
		return false;
	f->for_callee = true;
	/* whether the call is also a match may be unknown yet */
	if (!w->apart || call_filter_of_row(w, f->answer, f->wanted, f->passes) != ANSWER_LATER)
		call_filter_settle(w, f, true);
	return true;
}

void call_filter_kept(struct call_filter *w, uint32_t number)
{
	if (w->callers && number != FRAMES_NUMBERED && number < w->frames.size)
		go_down(w, number, w->frames.stacks[number].count, keep_caller, 0);
}

void call_filter_kept_call(struct call_filter *w, struct frame_at at)
{
	if (w->callers && at.stack != FRAMES_NUMBERED)
		go_down(w, at.stack, at.frame + 1, keep_caller, 0);
}

/* Decide a row by the answer of the whole condition. */
enum answer call_filter_of_row(const struct call_filter *w, enum answer a, bool wanted, bool passes)
{
	a = passes ? a : ANSWER_NO;
	if (w->invert)
		a = answer_not(a);
	return wanted ? a : ANSWER_NO;
}

bool call_filter_keep_enter(const struct call_filter *w, const struct open_frame *f)
{
	return f->for_callee ||
	       call_filter_of_row(w, f->answer, f->wanted, f->passes) == ANSWER_YES;
}

enum answer call_filter_ask(struct call_filter *w, enum decide_when when, const struct event *e,
			    struct open_frame *f)
{
	enum answer all = ANSWER_YES;

	if (w->rows_alone)
		return w->holds ? ANSWER_YES : ANSWER_NO;
	for (size_t i = 0; i < w->filter->nparts; i++)
		if (when == DECIDE_ENTER && w->filter->by_both && !w->filter->parts[i].by_row)
			decide_note(w->evaluation, w->filter->parts[i].node, e, f);
	for (size_t i = 0; i < w->filter->nparts; i++) {
		const struct part *p = &w->filter->parts[i];
		enum answer a;

		if (p->by_row)
			continue;
		a = decide(w->evaluation, p->node, when, e, f);
		if (a == ANSWER_NO)
			return a;
		if (a == ANSWER_LATER)
			all = a;
	}
	return all;
}

bool call_filter_passes_row(struct call_filter *w, const struct event *e)
{
	for (size_t i = 0; i < w->filter->nparts && !w->rows_alone; i++)
		if (w->filter->parts[i].by_row &&
		    !evaluate(w->evaluation, w->filter->parts[i].node, e))
			return false;
	return true;
}

/* Returns the node of the stack with an enter's call on top. Stacks that differ only above
 * STACK_FRAMES frames are one node, because call_filter_stack_text gives them the same text. */
static uint32_t entered_stack(struct call_filter *w, const struct event *e,
			      const struct open_frame *a, uint32_t number)
{
	const struct frame_stack *stacks = &w->frames.stacks[number & ~1u];
	bool kernel = number & 1 || e->type->flags & TYPE_INNER;
	uint32_t below = a ? a->node : STACK_NODES_BOTTOM;
	uint32_t n = a ? stacks[0].count + (kernel ? stacks[1].count : 0) : 0;

	if (n < STACK_FRAMES)
		return stack_nodes_push(&w->nodes, below, e->location);
	w->nodes.deep++;
	return n == STACK_FRAMES || a->unseen ? stack_nodes_push(&w->nodes, below, UINT32_MAX)
					      : below;
}

/* Set what is known of the calls around an event. */
struct open_frame *call_filter_set_info(struct call_filter *w, const struct event *e,
					uint32_t number, bool call)
{
	struct open_frame *a = innermost_call(w, e, number);
	uint64_t under = 0, over = 0;

	w->info.is_call = call;
	w->info.ended = w->info.has_self = false;
	w->info.children = 0;
	w->info.has_caller = a && a->location;
	w->info.caller = a ? a->location : 0;
	if (w->around) {
		for (size_t i = 0; i < w->filter->nparts; i++)
			decide_around(w->evaluation, w->filter->parts[i].node, e, &under, &over);
		if (over && a) {
			uint32_t of =
				a == frames_top(&w->frames.stacks[number]) ? number : number ^ 1;

			go_down(w, of, w->frames.stacks[of].count, mark_over, over);
		}
	}
	w->own_under = under;
	w->info.under = under | (a ? a->under : 0);
	w->info.over = over;
	if (w->stack)
		w->info.node = call ? entered_stack(w, e, a, number)
			       : a  ? a->node
				    : STACK_NODES_BOTTOM;
	return a;
}

/* Set what is known of an open call at this time. */
void call_filter_set_open_info(struct call_filter *w, const struct open_frame *f, uint64_t time)
{
	w->info.is_call = true;
	w->info.ended = w->info.has_self = false;
	w->info.dur = time > f->start ? time - f->start : 0;
	w->info.children = f->children;
	w->info.under = f->under;
	w->info.over = f->over;
}

/*
 * Decide a call without a leave. Its duration is the time it is known to have been open, which
 * look_again() of call_filter.c may have used before.
 */
void call_filter_never_left(struct call_filter *w, struct open_frame *f)
{
	const struct event e = {.lane = f->lane};

	if (f->answer == ANSWER_LATER) {
		call_filter_set_open_info(w, f, w->now);
		w->info.ended = true;
		f->answer = call_filter_ask(w, DECIDE_NEVER, &e, f);
	}
	call_filter_settle(w, f, call_filter_keep_enter(w, f));
}
