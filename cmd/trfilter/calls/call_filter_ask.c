/*
 * call_filter_ask.c - decide by all terms of the condition whether a call is kept, and note the
 * results of conditions with the open call
 */
#include "common/util/stack_limit.h"
#include "cmd/trfilter/calls/call_filter_private.h"
#include "common/stream/field.h"

struct around call_filter_around_event(const struct call_filter *w, const struct event *e)
{
	bool call = e->type->kind == KIND_ENTER && !(e->type->flags & TYPE_INNER);
	const struct stack *s = calls_thread_stack(&w->calls, calls_thread(e));

	if (!s || e->type->flags & TYPE_CALL_NUMBER)
		return (struct around){NULL, 0};
	if (s->kernel && s->kernel->count && (!call || e->type->flags & TYPE_KERNEL))
		s = s->kernel;
	return (struct around){s, s->count};
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

/* Append the names of the lowest n frames of a stack. Returns false at the limit. */
static bool names_of(struct call_filter *w, const struct stack *s, size_t n, uint32_t *below)
{
	for (size_t i = 0; i < n; i++)
		if (!name_of(w, (*below)++, s->frames[i].location))
			return false;
	return true;
}

/* Append the names of the frames of a recorded stack. */
static void recorded_names(struct call_filter *w, uint32_t stack)
{
	const struct dictionary *d = w->evaluation->dictionary;
	uint32_t n = dictionary_stack_frames(d, stack), most = n < STACK_FRAMES ? n : STACK_FRAMES;
	uint32_t locations[STACK_FRAMES];

	for (uint32_t i = n; i-- > 0; stack = dictionary_stack_parent(d, stack))
		if (i < most)
			locations[i] = dictionary_stack_location(d, stack);
	for (uint32_t i = 0; i < most; i++)
		name_of(w, i, locations[i]);
	if (most < n)
		name_of(w, most, 0);
}

/* Append the names of the calls around the present row, and of an enter's own call; or those of
 * the stack that a sample recorded. */
void call_filter_stack_text(void *ctx, const struct event *e, struct scalar *out)
{
	struct call_filter *w = ctx;
	const struct stack *s = w->around.s, *own = s ? w->calls.stacks[s->number] : NULL;
	uint32_t below = 0, recorded = event_stack(w->evaluation->dictionary, e);
	bool more = true;

	w->text.size = 0;
	if (recorded) {
		recorded_names(w, recorded);
		below = dictionary_stack_frames(w->evaluation->dictionary, recorded);
		more = below <= STACK_FRAMES;
	} else {
		if (own && s != own)
			more = names_of(w, own, own->count, &below);
		if (more && s)
			more = names_of(w, s, w->around.n, &below);
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

/* Visit the calls around, from the innermost one outwards, until one returns false. */
static void go_out(struct call_filter *w, struct around a,
		   bool (*visit)(struct call_filter *w, struct call_data *f, uint64_t mark),
		   uint64_t mark)
{
	const struct stack *own = a.s ? w->calls.stacks[a.s->number] : NULL;

	for (; a.s; a = (struct around){own, own->count}) {
		while (a.n--)
			if (!visit(w, calls_data(&w->calls, a.s, a.n), mark))
				return;
		if (a.s == own)
			return;
	}
}

static bool mark_over(struct call_filter *w, struct call_data *f, uint64_t mark)
{
	(void)w;
	if ((f->over & mark) == mark)
		return false;
	f->over |= mark;
	return true;
}

/* --- decisions --- */

void call_filter_decide(struct call_filter *w, struct call_data *f, bool keep)
{
	uint8_t state = w->queue.left_out;
	uint32_t stack;

	if (!f->undecided)
		return;
	f->undecided = false;
	stack = f->per_cpu ? f->lane->cpu_thread : f->lane->thread;
	if (!keep && !f->numbered && left_out_stack(&w->left_out, stack))
		w->calls.out_of_memory = true;
	if (keep)
		state = call_filter_kept_state(
			w, call_filter_of_row(w, f->answer, f->in_range, f->row_holds));
	if (f->block == block_queue_next(&w->queue))
		w->rows.states[f->row] = row_flags(w->rows.states[f->row]) | state;
	else if (!w->failed && block_queue_decide(&w->queue, f->block, f->row, state, &w->error))
		w->failed = true;
}

static bool keep_caller(struct call_filter *w, struct call_data *f, uint64_t mark)
{
	(void)mark;
	if (f->for_callee)
		return false;
	f->for_callee = true;
	/* whether the call is also a match may be unknown yet */
	if (!w->distinguishes_callers ||
	    call_filter_of_row(w, f->answer, f->in_range, f->row_holds) != ANSWER_LATER)
		call_filter_decide(w, f, true);
	return true;
}

void call_filter_kept(struct call_filter *w, struct around a)
{
	if (w->callers)
		go_out(w, a, keep_caller, 0);
}

/* Decide a row by the answer of the whole condition. */
enum answer call_filter_of_row(const struct call_filter *w, enum answer a, bool in_range,
			       bool row_holds)
{
	a = row_holds ? a : ANSWER_NO;
	if (w->invert)
		a = answer_not(a);
	return in_range ? a : ANSWER_NO;
}

bool call_filter_keep_enter(const struct call_filter *w, const struct call_data *f)
{
	return f->for_callee ||
	       call_filter_of_row(w, f->answer, f->in_range, f->row_holds) == ANSWER_YES;
}

enum answer call_filter_ask(struct call_filter *w, enum decide_when when, const struct event *e,
			    struct call_data *f)
{
	enum answer all = ANSWER_YES;

	if (w->single_rows)
		return w->row_holds ? ANSWER_YES : ANSWER_NO;
	for (size_t i = 0; i < w->filter->nterms; i++)
		if (when == DECIDE_ENTER && w->filter->by_both && !w->filter->terms[i].by_row)
			decide_mark(w->evaluation, w->filter->terms[i].node, e, f);
	for (size_t i = 0; i < w->filter->nterms; i++) {
		const struct term *p = &w->filter->terms[i];
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

bool call_filter_row_holds(struct call_filter *w, const struct event *e)
{
	for (size_t i = 0; i < w->filter->nterms && !w->single_rows; i++)
		if (w->filter->terms[i].by_row &&
		    !evaluate(w->evaluation, w->filter->terms[i].node, e))
			return false;
	return true;
}

/* Returns the node of the stack with an enter's call on top. Stacks that differ only above
 * STACK_FRAMES frames are one node, because call_filter_stack_text gives them the same text. */
static uint32_t entered_stack(struct call_filter *w, const struct event *e, struct around a)
{
	const struct call_data *f = call_filter_innermost(w, a);
	uint32_t below = f && f->begun ? f->node : STACK_NODES_BOTTOM;
	size_t n = a.n;

	if (f && a.s != w->calls.stacks[a.s->number])
		n += w->calls.stacks[a.s->number]->count;
	if (n < STACK_FRAMES)
		return stack_nodes_push(&w->nodes, below, e->location);
	w->nodes.deep++;
	return n == STACK_FRAMES || !f->begun ? stack_nodes_push(&w->nodes, below, UINT32_MAX)
					      : below;
}

/* Note which conditions of under() are true for a frame of an event's recorded stack. */
static uint64_t under_frames(struct call_filter *w, const struct event *e, uint32_t stack)
{
	struct dictionary *d = w->evaluation->dictionary;
	struct event frame = *e;
	uint64_t under = 0, over = 0;

	for (uint32_t k = frame.stack = stack; k; k = dictionary_stack_parent(d, k)) {
		frame.location = dictionary_stack_location(d, k);
		for (size_t i = 0; i < w->filter->nterms; i++)
			decide_around(w->evaluation, w->filter->terms[i].node, &frame, &under,
				      &over);
	}
	return under;
}

void call_filter_set_info(struct call_filter *w, const struct event *e, struct around around,
			  bool call)
{
	struct call_data *a = call_filter_innermost(w, around);
	uint32_t recorded = event_stack(w->evaluation->dictionary, e);
	uint64_t under = 0, over = 0;

	w->around = around;
	w->info.is_call = call;
	w->info.ended = w->info.has_self = false;
	w->info.children = 0;
	w->info.caller = a ? around.s->frames[around.n - 1].location : 0;
	w->info.has_caller = w->info.caller;
	if (w->surrounds) {
		for (size_t i = 0; i < w->filter->nterms; i++)
			decide_around(w->evaluation, w->filter->terms[i].node, e, &under, &over);
		if (over)
			go_out(w, around, mark_over, over);
		under |= recorded ? under_frames(w, e, recorded) : 0;
	}
	w->own_under = under;
	w->info.under = under | (a ? a->under : 0);
	w->info.over = over;
	if (w->stack)
		/* the texts of recorded stacks are made each time */
		w->info.node = recorded	       ? 0
			       : call	       ? entered_stack(w, e, around)
			       : a && a->begun ? a->node
					       : STACK_NODES_BOTTOM;
	if (call && a)
		a->children++;
}

/* Set what is known of an open call at this time. */
void call_filter_set_open_info(struct call_filter *w, const struct call_data *f, uint64_t time)
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
 * decide_open_calls() of call_filter.c may have used before.
 */
void call_filter_never_left(struct call_filter *w, struct call_data *f)
{
	const struct event e = {.lane = f->lane};

	if (f->answer == ANSWER_LATER) {
		call_filter_set_open_info(w, f, w->now);
		w->info.ended = true;
		f->answer = call_filter_ask(w, DECIDE_NEVER, &e, f);
	}
	call_filter_decide(w, f, call_filter_keep_enter(w, f));
}
