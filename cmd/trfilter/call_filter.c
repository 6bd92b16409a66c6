/*
 * call_filter.c - filter whole calls
 */
#include "cmd/trfilter/call_filter.h"

#include <stdlib.h>

#include "cmd/trfilter/block_queue.h"
#include "common/calls/calls.h"
#include "common/scheduling/states.h"
#include "common/stream/field.h"
#include "common/util/stack_limit.h"

/* Get the state of a kept row, which may be kept only as a caller. */
static inline uint8_t call_filter_kept_state(const struct call_filter *w, enum answer own)
{
	return w->distinguishes_callers && own != ANSWER_YES ? ROW_CALLER : ROW_KEEP;
}

/* Get the lowest n calls of a stack as those around an event. */
static inline struct around call_filter_around(const struct call_filter *w, const struct stack *s,
					       size_t n)
{
	const struct stack *own = w->calls.stacks[s->number];

	return n || s == own ? (struct around){s, n} : (struct around){own, own->count};
}

/* Get the innermost call; NULL: none. */
static inline struct call_data *call_filter_innermost(const struct call_filter *w, struct around a)
{
	return a.n ? calls_data(&w->calls, a.s, a.n - 1) : NULL;
}

/* Get the number of calls around, or since the one that under() selects. */
static inline uint32_t call_filter_level(const struct call_filter *w, struct around a)
{
	const struct call_data *f = call_filter_innermost(w, a);

	return !f ? 0 : f->begun ? f->level + 1 : (uint32_t)a.n;
}

/*
 * The fast path: blocks of narrow rows, conditions on the duration, location and lane of calls
 * alone.
 *
 * States are written only for kept rows; calls that are open at the end of the block are found on
 * the stacks of the call engine, which have no times of callees and last events here.
 * It works on runs of rows whose depths are consistent, and else row by row.
 */

enum {
	DURATION_SCAN_LANES = 256, /* number of lanes that narrow rows can name */
	DURATION_SCAN_TYPES = 256,
	DURATION_SCAN_NONE = 1000, /* more than any depth of a narrow row */
};

struct duration_scan {
	struct call_filter *w;
	const struct block *b;
	uint64_t block;	  /* the number that it will have */
	bool by_location; /* the condition also depends on locations */
	bool kept;	  /* a row is kept or undecided */
	bool shared;	  /* two lanes are of one thread */
	/* for runs: 1 a leave, 0 an enter, both of bare rows; else DURATION_SCAN_NONE */
	uint32_t leaves[DURATION_SCAN_TYPES];
	struct calls_rows rows;
	bool wanted[DURATION_SCAN_LANES];
	uint32_t at[DURATION_SCAN_LANES]; /* number of the last row of the fast path + 1; 0: none */
};

static void call_filter_decide(struct call_filter *w, struct call_data *f, bool keep);
static bool duration_scan_wanted(const struct duration_scan *x, uint32_t lane, uint32_t type,
				 uint32_t location);
static bool duration_scan(struct call_filter *w, const struct block *b, bool *any);

/* Fill in the data of a call that begins with the row p, whose number is row. */
static inline __attribute__((always_inline)) void duration_scan_enter(const struct duration_scan *x,
								      struct call_data *f,
								      const uint8_t *p,
								      uint32_t row)
{
	f->start = x->b->base + row_delta_at(p);
	f->block = x->block;
	f->row = row;
	f->lane = x->b->lanes[row_lane_at(p)];
	f->level = 0;
	f->marks[0] = UINT64_MAX; /* marks of terms that are true */
	f->answer = ANSWER_LATER;
	f->begun = f->undecided = f->in_range = f->row_holds = true;
	f->for_callee = f->numbered = f->ignored = f->per_cpu = false;
	if (x->by_location &&
	    !duration_scan_wanted(x, row_lane_at(p), row_type_at(p), row_location_at(p))) {
		f->answer = ANSWER_NO;
		f->undecided = false;
	}
}

/* Decide a call that was left, and its leave. */
static inline __attribute__((always_inline)) void
duration_scan_leave(struct duration_scan *x, struct call_data *f, uint64_t took, uint32_t row)
{
	struct call_filter *w = x->w;

	if (__builtin_expect(f->answer == ANSWER_LATER &&
				     took - w->duration.shortest <=
					     w->duration.longest - w->duration.shortest,
			     0)) {
		f->answer = ANSWER_YES;
		call_filter_decide(w, f, true);
	}
	if (__builtin_expect(f->answer == ANSWER_YES, 0)) {
		w->rows.states[row] = ROW_KEEP;
		x->kept = true;
	} else if (f->undecided) {
		if (__builtin_expect(f->block != x->block, 0))
			call_filter_decide(w, f, false);
		else
			w->rows.states[f->row] = row_flags(w->rows.states[f->row]);
	}
}

/* Decide a row by the answer of the whole condition. */
static enum answer call_filter_of_row(const struct call_filter *w, enum answer a, bool in_range,
				      bool row_holds)
{
	a = row_holds ? a : ANSWER_NO;
	if (w->invert)
		a = answer_not(a);
	return in_range ? a : ANSWER_NO;
}

static bool call_filter_wanted(struct call_filter *w, bool lane, const struct event *e);

/* Get the number of the thread that a call with a lane is of. */
static uint32_t call_address_thread(const struct call_data *f, struct call_address at)
{
	return at.stack == CALL_NUMBERED ? f->lane->thread : at.stack / CALL_STACKS;
}

/* --- decide --- */

/* Number the conditions of under() and those of over(). */
static void number_around(struct node *n, unsigned *under, unsigned *over)
{
	if (n->kind == NODE_UNDER)
		node_marks(n)->mark = (uint16_t)(*under)++;
	else if (n->kind == NODE_OVER)
		node_marks(n)->mark = (uint16_t)(*over)++;
	if (expression_joined(n))
		for (size_t i = 0; i < n->nchildren; i++)
			number_around(n->children[i], under, over);
}

/* Returns true for a condition that covers a call, from its enter to its leave, and is noted. */
static bool is_noted(const struct node *n)
{
	return !(n->depends & DEPENDS_LATER) &&
	       !(n->depends & DEPENDS_KIND && expression_joined(n));
}

/* Returns true for a condition that depends only on what a call returns. */
static bool is_return(const struct node *n)
{
	for (size_t i = 0; i < n->nfields; i++)
		if (n->fields[i]->field != ASK_RETURN)
			return false;
	return n->nfields > 0;
}

/* Returns true if the value may be in the enter or in the leave. */
static bool is_of_either(const struct node *n)
{
	return (n->depends & DEPENDS_ARGUMENT && !expression_joined(n)) || is_return(n);
}

/* Assign a mark to a condition that is decided at the enter, two to one that may be. */
static void number_marks(struct node *n, size_t *marks)
{
	if (is_of_either(n)) {
		node_marks(n)->mark = (uint16_t)(*marks)++;
		node_marks(n)->known = (uint16_t)(*marks)++;
	} else if (is_noted(n)) {
		/* under() has its own number for it */
		if (n->kind != NODE_UNDER)
			node_marks(n)->mark = (uint16_t)(*marks)++;
	} else if (expression_joined(n)) {
		for (size_t i = 0; i < n->nchildren; i++)
			number_marks(n->children[i], marks);
	}
}

/* Number the marks of the condition, for each term by itself, as terms are evaluated one by one.
 * Returns -1 if there are too many. */
static int decide_prepare(struct filter *f, struct error *e)
{
	unsigned under = 0, over = 0;

	number_around(f->tree, &under, &over);
	f->marks = 0;
	for (size_t i = 0; i < f->nterms; i++)
		number_marks(f->terms[i].node, &f->marks);
	if (under > AROUND_LIMIT || over > AROUND_LIMIT)
		return error_set(e, NULL, NO_OFFSET,
				 "expression: more than %d times under() or over()", AROUND_LIMIT);
	if (f->marks > MARKS_LIMIT)
		return error_set(e, NULL, NO_OFFSET,
				 "expression: more than %d conditions joined with such on whole "
				 "calls",
				 MARKS_LIMIT / 2);
	return 0;
}

/* Evaluate the conditions in under() and over(). Sets the bit of each that is true for an enter,
 * a leave without one or, for over(), another event. */
static void decide_around(struct evaluation *ev, struct node *n, const struct event *e,
			  uint64_t *under, uint64_t *over)
{
	if (n->kind == NODE_UNDER || n->kind == NODE_OVER) {
		uint64_t *set = n->kind == NODE_UNDER ? under : over;
		bool call = e->type->kind == KIND_ENTER || e->type->kind == KIND_LEAVE || e->stack;

		/* only calls, and frames of a recorded stack, have callees */
		if ((call || n->kind == NODE_OVER) && evaluate(ev, n->children[0], e))
			*set |= 1ull << node_marks(n)->mark;
	} else if (expression_joined(n) && n->depends & DEPENDS_STACK) {
		for (size_t i = 0; i < n->nchildren; i++)
			decide_around(ev, n->children[i], e, under, over);
	}
}

static enum answer answer_of(bool yes)
{
	return yes ? ANSWER_YES : ANSWER_NO;
}

/* Evaluate a comparison with a number on its right, for that value of its left side. */
static bool evaluate_number(const struct node *n, uint64_t left)
{
	const struct scalar s = {.form = SCALAR_UINT, .u = left};

	return comparison_holds(n->comparison, scalar_compare(&s, &n->right->value));
}

/* Decide a comparison that, as the value grows, changes at most once. */
static enum answer at_least(const struct node *n, uint64_t least)
{
	bool now = evaluate_number(n, least), at_end = evaluate_number(n, UINT64_MAX);

	switch (n->comparison) {
	case COMPARE_GT:
	case COMPARE_GE: return now ? ANSWER_YES : ANSWER_LATER;
	case COMPARE_LT:
	case COMPARE_LE: return now ? ANSWER_LATER : ANSWER_NO;
	case COMPARE_EQ:
	case COMPARE_NE: break;
	}
	/* a larger value is as unequal as the largest one */
	if (now != at_end || n->right->value.form == SCALAR_REAL)
		return ANSWER_LATER;
	return n->right->value.form == SCALAR_UINT && n->right->value.u > least ? ANSWER_LATER
										: answer_of(at_end);
}

/* Decide a condition on a call that is still open. */
static enum answer open_leaf(const struct evaluation *ev, const struct node *n)
{
	const struct operand *o = n->left;

	if (n->kind == NODE_OVER)
		return ev->call->over >> node_marks(n)->mark & 1 ? ANSWER_YES : ANSWER_LATER;
	if (n->kind == NODE_HAS && operand_asks(o, ASK_CHILDREN))
		return ANSWER_YES;
	if (n->kind != NODE_COMPARE || !operand_literal(n->right))
		return ANSWER_LATER;
	if (operand_asks(o, ASK_CHILDREN))
		return at_least(n, ev->call->children);
	if (!operand_asks(o, ASK_DURATION))
		return ANSWER_LATER;
	return at_least(n, ev->call->dur);
}

static bool call_filter_is_given(struct evaluation *ev, struct node *n, const struct event *e)
{
	for (size_t i = 0; i < n->nfields; i++)
		if (!operand_given(ev, n->fields[i], e))
			return false;
	return true;
}

static void note_enter(struct evaluation *ev, struct node *n, const struct event *enter,
		       struct call_data *f)
{
	call_data_mark(f, node_marks(n)->mark, evaluate(ev, n, enter));
}

/* Note a condition on an argument. Arguments are in the enter or, where calls have numbers,
 * perhaps in the leave, which takes precedence. Where calls have numbers the return value may be in
 * the enter. */
static void note_argument(struct evaluation *ev, struct node *n, const struct event *enter,
			  struct call_data *f)
{
	bool numbered = enter->type->flags & TYPE_CALL_NUMBER;

	if (numbered ? !call_filter_is_given(ev, n, enter) : is_return(n))
		return;
	call_data_mark(f, node_marks(n)->known, true);
	note_enter(ev, n, enter, f);
}

/* What a condition on a call is decided by. */
struct decision {
	struct evaluation *ev;
	enum decide_when when;
	const struct event *event;
	struct call_data *call;
};

static bool is_at_leave(const struct decision *d)
{
	return d->when == DECIDE_LEAVE || d->when == DECIDE_LEAVE_ROW;
}

static enum answer argument_leaf(const struct decision *d, struct node *n)
{
	bool numbered = d->call->numbered, known;

	if (d->when == DECIDE_ENTER)
		note_argument(d->ev, n, d->event, d->call);
	known = call_data_marked(d->call, node_marks(n)->known);
	if (numbered && !is_at_leave(d) && d->when != DECIDE_NEVER)
		return ANSWER_LATER;
	if (is_at_leave(d) && (!known || (numbered && call_filter_is_given(d->ev, n, d->event))))
		return answer_of(evaluate(d->ev, n, d->event));
	if (known)
		return answer_of(call_data_marked(d->call, node_marks(n)->mark));
	return d->when == DECIDE_NEVER ? ANSWER_NO : ANSWER_LATER;
}

/* Returns true for a condition on measures alone, which exist even without a leave. */
static bool is_measure(const struct node *n)
{
	for (size_t i = 0; i < n->nfields; i++)
		if (n->fields[i]->field != ASK_DURATION && n->fields[i]->field != ASK_SELF &&
		    n->fields[i]->field != ASK_CHILDREN && n->fields[i]->field < ASK_STATE)
			return false;
	return true;
}

static enum answer decide_leaf(const struct decision *d, struct node *n)
{
	if (is_of_either(n))
		return argument_leaf(d, n);
	if (!is_at_leave(d)) {
		/* A call without a leave counts with what is known while it was open: it may
		 * have been decided by that already. */
		enum answer open = open_leaf(d->ev, n);

		if (open != ANSWER_LATER || d->when != DECIDE_NEVER)
			return open;
	}
	if (d->when == DECIDE_NEVER && n->kind != NODE_OVER && !is_measure(n))
		return ANSWER_NO;
	return answer_of(evaluate(d->ev, n, d->event));
}

/* Note all that an enter decides, because its leave is decided later by other terms. */
static void decide_mark(struct evaluation *ev, struct node *n, const struct event *enter,
			struct call_data *f)
{
	if (n->kind == NODE_UNDER)
		return;
	if (is_noted(n))
		note_enter(ev, n, enter, f);
	else if (expression_joined(n))
		for (size_t i = 0; i < n->nchildren; i++)
			decide_mark(ev, n->children[i], enter, f);
	else if (is_of_either(n))
		note_argument(ev, n, enter, f);
}

static enum answer decide_node(void *decision, struct node *n)
{
	const struct decision *d = decision;

	if (n->kind == NODE_UNDER)
		return answer_of(d->ev->call->under >> node_marks(n)->mark & 1);
	if (is_noted(n)) {
		if (d->when == DECIDE_LEAVE_ROW && n->depends & DEPENDS_KIND)
			return answer_of(evaluate(d->ev, n, d->event));
		if (d->when == DECIDE_ENTER)
			note_enter(d->ev, n, d->event, d->call);
		return answer_of(call_data_marked(d->call, node_marks(n)->mark));
	}
	return expression_joined(n) ? expression_join(n, decide_node, decision) : decide_leaf(d, n);
}

/* Evaluate a condition on a call. Only DECIDE_ENTER changes f. ev->call must be set. */
static enum answer decide(struct evaluation *ev, struct node *n, enum decide_when when,
			  const struct event *e, struct call_data *f)
{
	return decide_node(&(struct decision){ev, when, e, f}, n);
}

/* --- stack nodes --- */

/* Get the number of the stack; STACK_NODES_BOTTOM is the empty one. 0: there are too many,
 * or below is 0. */
static uint32_t stack_nodes_push(struct call_filter *w, uint32_t below, uint32_t location)
{
	uint32_t *number =
		below ? key_map_number(&w->nodes.numbers, (uint64_t)below << 32 | location) : NULL;

	if (number && !*number && w->nodes.count < STACK_NODES_LIMIT)
		*number = ++w->nodes.count + STACK_NODES_BOTTOM;
	return number ? *number : 0;
}

/*
 * Decide by all terms of the condition whether a call is kept, and note the results of conditions
 * with the open call.
 */

/* Get the calls around an event that neither entered nor left a call. */
static struct around call_filter_around_event(const struct call_filter *w, const struct event *e)
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
static bool call_filter_name_of(struct call_filter *w, uint32_t below, uint32_t location)
{
	struct text_ref name = dictionary_location_name(w->evaluation->dictionary, location);

	if (below >= STACK_FRAMES)
		name = (struct text_ref){STACK_DEEPER, sizeof STACK_DEEPER - 1, 0};
	buffer_append(&w->text, name.text, name.size);
	buffer_u8(&w->text, ';');
	return below < STACK_FRAMES;
}

/* Append the names of the lowest n frames of a stack. Returns false at the limit. */
static bool call_filter_names_of(struct call_filter *w, const struct stack *s, size_t n,
				 uint32_t *below)
{
	for (size_t i = 0; i < n; i++)
		if (!call_filter_name_of(w, (*below)++, s->frames[i].location))
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
		call_filter_name_of(w, i, locations[i]);
	if (most < n)
		call_filter_name_of(w, most, 0);
}

/* Get the names of the stack of an event; ctx is a struct call_filter. Append the names of
 * the calls around the present row, and of an enter's own call; or those of the stack that a
 * sample recorded. */
static void call_filter_stack_text(void *ctx, const struct event *e, struct scalar *out)
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
			more = call_filter_names_of(w, own, own->count, &below);
		if (more && s)
			more = call_filter_names_of(w, s, w->around.n, &below);
	}
	if (more && w->info.is_call)
		call_filter_name_of(w, below, e->location);
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

/* Set the decision on the enter of a call. */
static void call_filter_decide(struct call_filter *w, struct call_data *f, bool keep)
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

/* Keep the calls around a kept row. */
static void call_filter_kept(struct call_filter *w, struct around a)
{
	if (w->callers)
		go_out(w, a, keep_caller, 0);
}

/* Decide the enter of a call by what is known. */
static bool call_filter_keep_enter(const struct call_filter *w, const struct call_data *f)
{
	return f->for_callee ||
	       call_filter_of_row(w, f->answer, f->in_range, f->row_holds) == ANSWER_YES;
}

/* Evaluate the terms of the condition that need calls. */
static enum answer call_filter_ask(struct call_filter *w, enum decide_when when,
				   const struct event *e, struct call_data *f)
{
	enum answer all = ANSWER_YES;

	if (w->single_rows)
		return w->row_holds ? ANSWER_YES : ANSWER_NO;
	for (size_t i = 0; i < w->filter->nterms; i++)
		if (when == DECIDE_ENTER && w->filter->by_both && !w->filter->terms[i].by_row)
			decide_mark(w->evaluation, w->filter->terms[i].node, e, f);
	for (size_t i = 0; i < w->filter->nterms; i++) {
		const struct filter_term *p = &w->filter->terms[i];
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

/* Evaluate the terms that need single rows only. */
static bool call_filter_row_holds(struct call_filter *w, const struct event *e)
{
	for (size_t i = 0; i < w->filter->nterms && !w->single_rows; i++)
		if (w->filter->terms[i].by_row &&
		    !evaluate(w->evaluation, w->filter->terms[i].node, e))
			return false;
	return true;
}

/* Get the node of the stack with an enter's call on top. Stacks that differ only above
 * STACK_FRAMES frames are one node, because call_filter_stack_text gives them the same text. */
static uint32_t entered_stack(struct call_filter *w, const struct event *e, struct around a)
{
	const struct call_data *f = call_filter_innermost(w, a);
	uint32_t below = f && f->begun ? f->node : STACK_NODES_BOTTOM;
	size_t n = a.n;

	if (f && a.s != w->calls.stacks[a.s->number])
		n += w->calls.stacks[a.s->number]->count;
	if (n < STACK_FRAMES)
		return stack_nodes_push(w, below, e->location);
	w->nodes.deep++;
	return n == STACK_FRAMES || !f->begun ? stack_nodes_push(w, below, UINT32_MAX) : below;
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

/* Set the times in states of a call that has ended, whose dur is known. event: its leave; or with
 * only a lane, of a call without one. */
static void call_filter_set_states(struct call_filter *w, const struct event *e, uint64_t end)
{
	if (!w->states)
		return;
	w->info.states = states_of(w->states, &(struct state_span){.lane = e->lane,
								   .start = end - w->info.dur,
								   .end = end,
								   .total = w->info.dur,
								   .left = e->type});
}

/* Set what is known of the calls around an event; call: the event is an enter. */
static void call_filter_set_info(struct call_filter *w, const struct event *e, struct around around,
				 bool call)
{
	struct call_data *a = call_filter_innermost(w, around);
	uint32_t recorded = event_stack(w->evaluation->dictionary, e);
	uint64_t under = 0, over = 0;

	w->around = around;
	w->info.is_call = call;
	w->info.ended = w->info.has_self = false;
	w->info.states = NULL;
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
static void call_filter_set_open_info(struct call_filter *w, const struct call_data *f,
				      uint64_t time)
{
	w->info.is_call = true;
	w->info.ended = w->info.has_self = false;
	w->info.states = NULL;
	w->info.dur = time > f->start ? time - f->start : 0;
	w->info.children = f->children;
	w->info.under = f->under;
	w->info.over = f->over;
}

/* Decide a call that ended without a leave, or that the end of the stream closed. Decide a call
 * without a leave. Its duration is the time it is known to have been open, which
 * decide_open_calls() may have used before. */
static void call_filter_never_left(struct call_filter *w, struct call_data *f)
{
	const struct event e = {.lane = f->lane};

	if (f->answer == ANSWER_LATER) {
		call_filter_set_open_info(w, f, w->now);
		w->info.ended = true;
		call_filter_set_states(w, &e, w->now);
		f->answer = call_filter_ask(w, DECIDE_NEVER, &e, f);
	}
	call_filter_decide(w, f, call_filter_keep_enter(w, f));
}

/* --- decide row by row: an enter or its leave decides a call --- */

/*
 * Decide a row without a frame: an event that is not a call, a row of a call that cannot be paired,
 * or the leave of a call that was open before its thread's first event (unseen, done).
 */
static uint8_t decide_without_frame(struct call_filter *w, const struct event *e, bool in_range,
				    struct call_data *unseen, const struct call *done)
{
	struct around around = call_filter_around_event(w, e);
	bool row_holds, holds;

	call_filter_set_info(w, e, around, false);
	if (unseen) {
		w->info.ended = w->info.has_self = true;
		w->info.dur = done->total;
		w->info.self = done->self;
		call_filter_set_states(w, e, e->time);
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

/* Callback of calls.on_lost. */
static void call_filter_lost(void *ctx, struct stack *s, const struct frame *frame, void *data,
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

/* Take the call that the engine has entered. Returns the state of its row. */
static uint8_t call_filter_enter(struct call_filter *w, const struct event *e,
				 const struct call *call, bool in_range)
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
	w->rows.owners[w->rows.row] = calls_address(&w->calls, call->on, call->data);
	return ROW_UNDECIDED;
}

static uint8_t call_filter_leave(struct call_filter *w, const struct event *e, bool in_range,
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
		call_filter_set_states(w, e, e->time);
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
	case CALLS_LEAVE: return call_filter_leave(w, e, in_range, call);
	default: return decide_without_frame(w, e, in_range, NULL, NULL);
	}
}

/* Get the state of a row that is an event. */
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

/* Get the state of one row (enum row_state); w->rows.row is its number. */
static uint8_t call_filter_row(struct call_filter *w, const struct event *e)
{
	uint8_t state, flags;

	w->ignored_row = false;
	w->ends_here = 0;
	if (w->states && states_take(w->states, e))
		w->calls.out_of_memory = true;
	state = state_of_row(w, e);
	flags = w->ends_here | (w->ignored_row && state != ROW_LEFT_OUT ? ROW_IGNORED : 0);
	w->queue.flagged |= flags != 0;
	return state | flags;
}

/*
 * Runs of enters and leaves with consistent depths.
 *
 * Every enter of a run is one deeper than the innermost open call, and every leave ends that call.
 * Calls that begin and end in the run are decided by their duration; if the run is shorter than the
 * threshold, none of them is kept. The last row of each depth is noted: if a call is open at the
 * end of the run, that row is its enter.
 */

enum { DEPTHS = 256, DEEPER = 300, TIME = NARROW_DELTA_MOST };

struct duration_scan_runs {
	struct quick_lane {
		/* depth of the next enter: one more than that of the innermost open call */
		uint32_t next;
		uint32_t lowest; /* calls at lower depths were open before the run */
	} lanes[DURATION_SCAN_LANES];
	/* by lane and depth, of the last row: its offset in the run, and its time */
	uint32_t rows[DURATION_SCAN_LANES * DEPTHS], times[DURATION_SCAN_LANES * DEPTHS];
};

static void run_begin(const struct duration_scan *x, struct duration_scan_runs *q)
{
	for (uint32_t i = 0; i < x->b->nlanes && i < DURATION_SCAN_LANES; i++) {
		const struct stack *s = x->rows.stacks[i];
		uint32_t next = s->count ? s->frames[s->count - 1].depth + 1 : 0;

		if (next > DEPTHS || !s->started || calls_is_slow(s))
			next = DEEPER;
		q->lanes[i] = (struct quick_lane){next, next};
	}
}

/* Push the frames of calls that are open at the end of the run. */
static void run_finish(struct duration_scan *x, struct duration_scan_runs *q, const uint8_t *run,
		       uint32_t first)
{
	struct calls *c = &x->w->calls;

	for (uint32_t i = 0; i < x->b->nlanes && i < DURATION_SCAN_LANES; i++)
		for (uint32_t d = q->lanes[i].lowest; d < q->lanes[i].next; d++) {
			uint32_t at = q->rows[i * DEPTHS + d];
			const uint8_t *p = run + at;
			struct stack *s = x->rows.stacks[i];
			struct frame f = {.start = x->b->base + row_delta_at(p),
					  .location = x->b->locations[row_location_at(p)],
					  .depth = d,
					  .begun = true};

			if (calls_put(c, s, &f))
				return;
			duration_scan_enter(x, calls_data(c, s, s->count - 1), p,
					    first + at / NARROW_ROW);
		}
}

/* Keep a call of the run that lasted long enough. */
static void run_keep(struct duration_scan *x, const uint8_t *run, uint32_t first, uint32_t enter,
		     const uint8_t *leave)
{
	const uint8_t *p = run + enter;
	uint32_t row = first + (uint32_t)((size_t)(leave - run) / NARROW_ROW);

	if (x->by_location &&
	    !duration_scan_wanted(x, row_lane_at(p), row_type_at(p), row_location_at(p)))
		return;
	x->w->rows.states[first + enter / NARROW_ROW] = x->w->rows.states[row] = ROW_KEEP;
	x->kept = true;
}

/* Take the leave of a call that was open before the run. Returns false, with nothing done, if it is
 * not a common row. */
static bool run_leave(struct duration_scan *x, const uint8_t *run, uint32_t first, const uint8_t *p)
{
	struct stack *s = x->rows.stacks[row_lane_at(p)];
	uint64_t time = x->b->base + row_delta_at(p);
	const struct frame *f;

	if (!s->count)
		return false;
	f = &s->frames[s->count - 1];
	if (f->depth != row_depth_at(p) || f->inner || !f->begun || time < f->start)
		return false;
	calls_take(s);
	duration_scan_leave(x, calls_data(&x->w->calls, s, s->count), time - f->start,
			    first + (uint32_t)((size_t)(p - run) / NARROW_ROW));
	return true;
}

/* timed: a call may begin and end in the block and be long enough. */
static inline __attribute__((always_inline)) const uint8_t *
scan(struct duration_scan *x, const uint8_t *run, uint32_t first, bool timed)
{
	struct duration_scan_runs *q = x->w->duration.quick;
	uint64_t least = x->w->duration.shortest, range = x->w->duration.longest - least;
	uint32_t shortest = least <= TIME ? (uint32_t)least : TIME + 1,
		 longer = range <= TIME ? (uint32_t)range : TIME;
	const uint32_t *types = x->leaves;
	const uint8_t *p = run, *end = x->b->row_data + x->b->row_size;

	for (; p < end; p += NARROW_ROW) {
		uint32_t depth = row_depth_at(p), lane = row_lane_at(p);
		uint32_t leaves = types[row_type_at(p)];
		struct quick_lane *l = &q->lanes[lane];
		uint32_t at = lane * DEPTHS + depth;

		if (__builtin_expect(l->next != depth + leaves, 0))
			break;
		l->next = depth + 1 - leaves;
		if (timed) {
			uint32_t time = row_delta_at(p), took = time - q->times[at];

			q->times[at] = time;
			/* a time that runs backwards counts as longer than any */
			if (__builtin_expect(leaves & (took - shortest <= longer), 0) &&
			    depth >= l->lowest)
				run_keep(x, run, first, q->rows[at], p);
		}
		q->rows[at] = (uint32_t)(p - run);
		if (__builtin_expect(depth < l->lowest, 0)) {
			if (!run_leave(x, run, first, p)) {
				l->next = depth + 1;
				break;
			}
			l->lowest = depth;
		}
	}
	return p;
}

/* Take rows from number first on, as long as their depths are consistent. Returns the row after
 * the last one taken. */
static const uint8_t *duration_scan_run(struct duration_scan *x, const uint8_t *run, uint32_t first)
{
	struct duration_scan_runs *q = x->w->duration.quick;
	const uint8_t *end;

	run_begin(x, q);
	end = x->b->last - x->b->base < x->w->duration.shortest ? scan(x, run, first, false)
								: scan(x, run, first, true);
	run_finish(x, q, run, first);
	return end;
}

/* --- duration scan --- */

/* RUN: rows of a run that is worth its setup; BREAKS: shorter runs in a row that are tolerated. */
enum { RUN = 128, BREAKS = 4 };

static bool call_filter_prepare(struct duration_scan *x)
{
	const struct block *b = x->b;
	struct call_filter *w = x->w;

	if (calls_rows(&w->calls, b, &x->rows)) {
		w->calls.out_of_memory = true;
		return false;
	}
	for (uint32_t i = 0; i < b->ntypes && i < DURATION_SCAN_TYPES; i++) {
		const struct type *t = b->types[i];

		/* the CPU's calls take the general path */
		if (t->flags & TYPE_PER_CPU)
			x->rows.types[i].kind = 0;
		x->leaves[i] = DURATION_SCAN_NONE;
		if (x->rows.types[i].kind && !t->fixed_size && !(t->flags & TYPE_TAIL))
			x->leaves[i] = t->kind == KIND_LEAVE;
	}
	x->shared = calls_rows_shared(&x->rows, b);
	for (uint32_t i = 0; i < b->nlanes && i < DURATION_SCAN_LANES; i++) {
		struct event e = {.lane = b->lanes[i], .type = b->types[0]};

		x->wanted[i] = call_filter_wanted(w, true, &e);
	}
	return true;
}

/* Returns true if calls with that lane, type and location of the enter are wanted. */
static bool duration_scan_wanted(const struct duration_scan *x, uint32_t lane, uint32_t type,
				 uint32_t location)
{
	const struct event e = {.lane = x->b->lanes[lane],
				.type = x->b->types[type],
				.location = x->b->locations[location]};

	return x->wanted[lane] && call_filter_wanted(x->w, false, &e);
}

/* Find the undecided enters of this block. */
static bool find_waiting(const struct duration_scan *x)
{
	const struct block *b = x->b;
	struct call_filter *w = x->w;
	bool any = false;

	for (uint32_t i = 0; i < b->nlanes && i < DURATION_SCAN_LANES; i++) {
		const struct stack *s = x->rows.stacks[i];

		for (size_t n = s->count; n--;) {
			const struct call_data *f = calls_data(&w->calls, s, n);

			/* only an undecided enter is located in this block */
			if (f->block != x->block)
				break;
			if (!f->undecided)
				continue;
			w->rows.states[f->row] = row_flags(w->rows.states[f->row]) | ROW_UNDECIDED;
			w->rows.owners[f->row] = calls_address_own(s, n);
			any = true;
		}
	}
	return any;
}

/* Take a row that the engine does not process in line. */
static void scan_general(struct duration_scan *x, const uint8_t *p, uint32_t row)
{
	struct call_filter *w = x->w;
	struct events it;
	struct event e;

	events_begin(&it, x->b);
	it.row = p;
	event_next(&it, &e);
	w->rows.row = row;
	w->rows.states[row] = call_filter_row(w, &e);
	/* this row, or the enter of a call that it ended */
	x->kept = true;
}

/* Take single rows, from number i on. */
static inline __attribute__((always_inline)) void scan_rows(struct duration_scan *x,
							    const uint8_t *p, uint32_t i, bool bare)
{
	struct call_filter *w = x->w;
	const struct block *b = x->b;

	for (; i < b->rows; i++, p += bare ? NARROW_ROW : row_size(b, p)) {
		struct plain_row r = row_read(p, b->base);
		enum calls_result got;
		struct call call;

		if (!bare)
			w->rows.offsets[i] = (uint32_t)(p - b->row_data);
		got = calls_quick_row(&w->calls, &x->rows, &r, &call, CALLS_CAREFUL);
		if (got == CALLS_SLOW) {
			scan_general(x, p, i);
			continue;
		}
		x->at[r.lane] = i + 1;
		if (got == CALLS_ENTER)
			duration_scan_enter(x, call.data, p, i);
		else
			duration_scan_leave(x, call.data, call.total, i);
	}
}

/* Find the last rows of lanes among n bare rows from number i on; usually all are found soon. */
static void call_filter_find_last(struct duration_scan *x, const uint8_t *p, uint32_t i, uint32_t n)
{
	uint32_t left = x->b->nlanes;

	for (uint32_t k = n; k && left; k--) {
		uint32_t *at = &x->at[row_lane_at(p + NARROW_ROW * (size_t)(k - 1))];

		if (*at > i)
			continue;
		*at = i + k;
		left--;
	}
}

/* Note the last events of the lanes' threads, unless the general path noted later ones. */
static void call_filter_note_last(const struct duration_scan *x)
{
	const struct block *b = x->b;
	bool bare = b->row_flags & EVENTS_BARE;

	for (uint32_t i = 0; i < b->nlanes && i < DURATION_SCAN_LANES; i++) {
		uint32_t thread = b->lanes[i]->thread, row = x->at[i] - 1;
		const uint8_t *p = b->row_data;

		if (x->at[i] <= x->w->ends.threads[thread].row)
			continue;
		p += bare ? NARROW_ROW * (size_t)row : x->w->rows.offsets[row];
		ends_note(&x->w->ends, thread, b->lanes[i], block_row(b, p).time, row);
	}
}

/* Take runs until they are too short, or to the end of the block. Returns the number of the
 * first row that is left; *at is its address. */
static uint32_t scan_runs(struct duration_scan *x, const uint8_t **at)
{
	const struct block *b = x->b;
	const uint8_t *p = b->row_data, *end;
	bool bare = b->row_flags & EVENTS_BARE;
	struct call_filter *w = x->w;
	uint32_t i = 0, n, breaks = 0;

	for (;;) {
		end = duration_scan_run(x, p, i);
		n = (uint32_t)((size_t)(end - p) / NARROW_ROW);
		call_filter_find_last(x, p, i, n);
		for (uint32_t k = 0; !bare && k < n; k++)
			w->rows.offsets[i + k] = (uint32_t)(p - b->row_data) + k * NARROW_ROW;
		i += n;
		p = end;
		if (i == b->rows || ++breaks > BREAKS + i / RUN)
			break;
		w->rows.offsets[i] = (uint32_t)(p - b->row_data);
		scan_general(x, p, i++);
		p += row_size(b, p);
		if (i == b->rows || x->shared)
			break;
	}
	*at = p;
	return i;
}

/* Filter a block in the fast path. Returns false, with nothing done, if the block does not suit
 * it. */
static bool duration_scan(struct call_filter *w, const struct block *b, bool *any)
{
	struct duration_scan x = {.w = w,
				  .b = b,
				  .block = block_queue_next(&w->queue),
				  .by_location = w->filter->nterms > 1};
	const uint8_t *p = b->row_data;
	uint32_t i = 0;

	if (b->row_flags & EVENTS_WIDE || !call_filter_prepare(&x))
		return false;
	memset(w->rows.states, ROW_LEFT_OUT, b->rows);
	if (w->duration.quick && !x.shared)
		i = scan_runs(&x, &p);
	if (b->row_flags & EVENTS_BARE)
		scan_rows(&x, p, i, true);
	else
		scan_rows(&x, p, i, false);
	call_filter_note_last(&x);
	*any = find_waiting(&x) || x.kept;
	return true;
}

/* --- find out whether the fast path suits a condition, and its parameters --- */

/* Returns true if a term depends on the location alone, or on the lane alone. */
static bool by_entry(const struct node *n)
{
	unsigned depends = n->depends;

	return depends == DEPENDS_LANE || depends == DEPENDS_NAME || depends == DEPENDS_LOCATION ||
	       !depends;
}

/* Narrow the range of durations. Returns false if the condition is of another kind. */
static bool narrow_durations(struct call_filter *w, const struct node *n)
{
	uint64_t value, low = 0, high = UINT64_MAX;

	if (n->kind != NODE_COMPARE || !operand_asks(n->left, ASK_DURATION) ||
	    !operand_literal(n->right) || n->right->value.form != SCALAR_UINT)
		return false;
	value = n->right->value.u;
	switch (n->comparison) {
	case COMPARE_GT:
		if (value == UINT64_MAX)
			return false;
		low = value + 1;
		break;
	case COMPARE_GE: low = value; break;
	case COMPARE_LT:
		if (!value)
			return false;
		high = value - 1;
		break;
	case COMPARE_LE: high = value; break;
	case COMPARE_EQ: low = high = value; break;
	case COMPARE_NE: return false;
	}
	w->duration.shortest = low > w->duration.shortest ? low : w->duration.shortest;
	w->duration.longest = high < w->duration.longest ? high : w->duration.longest;
	return true;
}

void duration_scan_init(struct call_filter *w)
{
	bool lasts = false;

	w->duration.only = false;
	w->duration.shortest = 0;
	w->duration.longest = UINT64_MAX;
	if (w->queue.left_out != ROW_LEFT_OUT || w->time_range || w->invert || w->callers ||
	    w->max_depth != UINT32_MAX || w->single_rows || w->filter->marks > 64)
		return;
	for (size_t i = 0; i < w->filter->nterms; i++) {
		const struct node *n = w->filter->terms[i].node;
		bool range = narrow_durations(w, n);

		if (!range && !by_entry(n))
			return;
		lasts |= range;
	}
	w->duration.only = lasts && w->duration.shortest <= w->duration.longest;
	/* without memory the slow path is used */
	if (w->duration.only && w->duration.shortest)
		w->duration.quick = calloc(1, sizeof(*w->duration.quick));
}

/* Evaluate the terms that depend on the lane, or else on the location. */
static bool call_filter_wanted(struct call_filter *w, bool lane, const struct event *e)
{
	for (size_t i = 0; i < w->filter->nterms; i++) {
		struct node *n = w->filter->terms[i].node;

		if (by_entry(n) && (n->depends == DEPENDS_LANE) == lane &&
		    !evaluate(w->evaluation, n, e))
			return false;
	}
	return true;
}

/* --- call filter --- */

bool call_filter_needed(const struct filter *f)
{
	return f->tree->depends & (DEPENDS_LATER | DEPENDS_STACK);
}

static bool asks_around(const struct node *n)
{
	bool found = n->kind == NODE_UNDER || n->kind == NODE_OVER;

	for (size_t i = 0; i < n->nchildren && !found; i++)
		found = asks_around(n->children[i]);
	return found;
}

static void call_filter_moved(void *ctx, struct call_address at, uint64_t block, uint32_t row)
{
	struct call_filter *w = ctx;
	struct call_data *f = calls_at(&w->calls, at);

	if (f) {
		f->block = block;
		f->row = row;
	}
}

static int call_filter_check(struct call_filter *w, struct error *e)
{
	if (w->failed || (w->time_range && w->time_range->window.failed)) {
		*e = w->failed ? w->error : w->time_range->window.error;
		return -1;
	}
	if (filter_out_of_memory(w->filter) || w->calls.out_of_memory ||
	    (w->time_range && w->time_range->pairing.calls.out_of_memory))
		return error_no_memory(e);
	return 0;
}

static int call_filter_room(struct call_filter *w, uint32_t rows)
{
	void *grown;

	if (rows <= w->rows.capacity)
		return 0;
	grown = realloc(w->rows.states, rows);
	if (!grown)
		return -1;
	w->rows.states = grown;
	grown = realloc(w->rows.owners, rows * sizeof *w->rows.owners);
	if (!grown)
		return -1;
	w->rows.owners = grown;
	grown = realloc(w->rows.offsets, rows * sizeof *w->rows.offsets);
	if (!grown)
		return -1;
	w->rows.offsets = grown;
	w->rows.capacity = rows;
	return 0;
}

/* Queue entries about threads together with the rows that they describe. */
static int put_entries(struct call_filter *w, struct error *e)
{
	struct block b;
	size_t sent = 0;

	while (thread_entries_block(&w->ends.entries, &sent, &b))
		if (block_queue_other(&w->queue, &b, NULL, NULL, e))
			return -1;
	return 0;
}

/* Decide the rows of a block. *any: a row is kept or undecided. */
static void call_filter_decide_rows(struct call_filter *w, const struct block *b, bool *any)
{
	struct events it;
	struct event e;

	if (w->duration.only && duration_scan(w, b, any))
		return;
	*any = true;
	w->rows.row = 0;
	for (events_begin(&it, b); event_next(&it, &e); w->rows.row++) {
		w->rows.offsets[w->rows.row] = (uint32_t)(e.row - b->row_data);
		w->rows.states[w->rows.row] = call_filter_row(w, &e);
	}
}

static int call_filter_take_events(struct call_filter *w, const struct block *b,
				   struct error *error)
{
	bool any;

	if (call_filter_room(w, b->rows) || ends_block(&w->ends, b))
		return error_no_memory(error);
	if (put_entries(w, error))
		return -1;
	call_filter_decide_rows(w, b, &any);
	ends_block_done(&w->ends, b);
	if (call_filter_check(w, error))
		return -1;
	if (left_out_wanted(&w->left_out, b) && left_out_dropped(&w->left_out, b, w->rows.states))
		return error_no_memory(error);
	if (!any)
		return 0;
	return block_queue_events(&w->queue, b, w->rows.states, w->rows.offsets, w->rows.owners,
				  error);
}

/* Returns true if a kept or undecided call of a stack is open, or one without an enter. */
static bool stack_is_open(const struct call_filter *w, const struct stack *s)
{
	for (size_t n = s ? s->count : 0; n--;) {
		const struct call_data *f = calls_data(&w->calls, s, n);

		if (f->undecided || !f->begun || call_filter_keep_enter(w, f))
			return true;
	}
	return false;
}

/* Returns true if a kept or undecided call of a thread is open. Numbered calls may belong to any
 * thread. */
static bool call_filter_is_open(void *ctx, uint32_t thread)
{
	const struct call_filter *w = ctx;
	const struct stack *s = calls_thread_stack(&w->calls, thread);

	/* what a widening keeps is not known here */
	if (w->queue.left_out == ROW_FOR_CONTEXT || open_calls_count(&w->calls.open) ||
	    w->ends.threads[thread].lost)
		return true;
	return s && (stack_is_open(w, s) || stack_is_open(w, s->kernel) ||
		     stack_is_open(w, s->ignored_inner));
}

/* Get the time of a thread's last event, in this stream or upstream. */
static uint64_t ends_last(const struct ends *x, uint32_t thread)
{
	const struct thread_facts *f = dictionary_facts(x->dictionary, thread);
	uint64_t last = thread < x->nthreads ? x->threads[thread].last : 0;

	return f && f->last > last ? f->last : last;
}

/* Decide a call that the end of the stream closes, at its thread's last event; or that may go on in
 * the next segment: what is undecided then is kept. */
static void call_filter_drop_call(void *ctx, struct stack *s, const struct frame *frame, void *data)
{
	struct call_filter *w = ctx;
	struct call_data *f = data;

	(void)frame;
	w->now = ends_last(&w->ends, s->number);
	if (w->goes_on && f->answer == ANSWER_LATER)
		f->answer = w->invert ? ANSWER_NO : ANSWER_YES;
	call_filter_never_left(w, f);
	if (!f->numbered && call_filter_keep_enter(w, f))
		call_filter_kept(w, call_filter_around(w, s, s->count));
}

/* Decide a call that is restored. */
static int restored_call(void *ctx, const struct event *e, const struct call *call)
{
	struct call_filter *w = ctx;
	const struct stack *of = call->on;
	bool in_range = restored_in_range(w->time_range, e);
	struct call_data *f = call->data;

	/* of the callees that have ended only the time is known */
	f->children = of && of->frames[of->count - 1].child;
	w->now = e->time;
	w->rows.row = w->calls.restored.frame;
	if (w->single_rows)
		w->row_holds = in_range && filter_holds(w->filter, e);
	w->rows.states[w->rows.row] = call_filter_enter(w, e, call, in_range);
	w->restores_exact &= !(e->type->flags & TYPE_PER_CPU);
	return w->rows.states[w->rows.row] == ROW_KEEP ? 0 : left_out_row(&w->left_out, e);
}

/* Take the open calls of a SNAPSHOT. They are in the queue as rows are. */
static int call_filter_take_snapshot(struct call_filter *w, const struct block *b,
				     const struct head *head, struct error *e)
{
	uint32_t n = b->snapshot->head.frames;

	if (call_filter_room(w, n) || restored_ends(&w->ends, b->snapshot))
		return error_no_memory(e);
	if (n)
		memset(w->rows.states, ROW_LEFT_OUT, n);
	restored_begin(w->filter, w->time_range, b->snapshot);
	w->restores_exact = !w->time_range && !w->callers && w->max_depth == UINT32_MAX &&
			    w->queue.left_out == ROW_LEFT_OUT &&
			    restored_exact(w->filter, w->invert);
	/* a call that goes on after a loss is decided again */
	if (!b->snapshot->continues)
		calls_forget_all(&w->calls);
	if (calls_restore(&w->calls, b, e))
		return -1;
	/* no row ended calls */
	filter_ends(w->filter, w->time_range, w->invert);
	if (block_queue_enters(&w->queue, b, w->rows.states, w->rows.owners, w->restores_exact, e))
		return -1;
	block_queue_last(&w->queue)->head = *head;
	return 0;
}

static void call_filter_begin_calls(struct call_filter *w)
{
	calls_init(&w->calls, w->evaluation->dictionary);
	w->calls.balances = true;
	w->calls.data_size = call_data_size(w->filter->marks);
	w->calls.on_lost = call_filter_lost;
	w->calls.on_lost_ctx = w;
	w->calls.on_forget = call_filter_drop_call;
	w->calls.on_restore = restored_call;
	w->calls.on_restore_ctx = w;
}

/* End the stream. */
static int call_filter_end_stream(struct call_filter *w, struct error *e)
{
	calls_forget_all(&w->calls);
	if (call_filter_check(w, e))
		return -1;
	calls_free(&w->calls);
	call_filter_begin_calls(w);
	return 0;
}

/* Decide a call that has neither an enter nor a leave, by its thread, depth and duration. */
static bool keeps_unseen_call(struct call_filter *w, const struct stack *s, uint32_t depth)
{
	struct call_data *f = calls_data(&w->calls, s, depth);
	uint64_t last = ends_last(&w->ends, s->number), start = s->frames[depth].start;
	const struct type type = {
		.kind = KIND_ENTER,
		.flags = TYPE_DEPTH,
		.name = dictionary_text(w->filter->evaluation.dictionary, "<0>", 3)};
	const struct event e = {.lane = s->lane, .type = &type, .time = start, .depth = depth};

	call_filter_set_open_info(w, f, last);
	w->info.dur = last > start ? last - start : 0;
	w->info.has_caller = false;
	w->info.node = 0;
	w->info.stack = NULL;
	f->answer = call_filter_ask(w, DECIDE_ENTER, &e, f);
	w->info.ended = true;
	call_filter_set_states(w, &(struct event){.lane = s->lane}, last);
	if (f->answer == ANSWER_LATER)
		f->answer = call_filter_ask(w, DECIDE_NEVER, &e, f);
	w->info.stack = call_filter_stack_text;
	return depth < w->max_depth && call_filter_of_row(w, f->answer, true, true) == ANSWER_YES;
}

/* Returns true if some field of the condition is this one; for ASK_STATE, any state. */
static bool condition_asks(const struct node *n, enum ask ask)
{
	bool found = false;

	for (size_t i = 0; i < n->nfields; i++)
		found |= n->fields[i]->field == ask ||
			 (ask == ASK_STATE && n->fields[i]->field > ask);
	for (size_t i = 0; i < n->nchildren && !found; i++)
		found = condition_asks(n->children[i], ask);
	return found;
}

/* Decide the calls of a stack that have neither an enter nor a leave, all at once. */
static void decide_unseen(struct call_filter *w, const struct stack *s)
{
	struct thread_end *t = &w->ends.threads[s->number];
	bool keeps = true;

	t->unseen = t->rejects = false;
	if (w->time_range || w->filter->by_kind || !s->count || s->frames[0].begun ||
	    (!condition_asks(w->filter->tree, ASK_DURATION) && !w->states))
		return;
	for (uint32_t i = 0; i < s->count && !s->frames[i].begun && keeps; i++)
		keeps = keeps_unseen_call(w, s, i);
	t->unseen = keeps;
	t->rejects = !keeps;
}

/* End a segment of the output. */
static int end_segment(struct call_filter *w, struct error *e)
{
	/* only threads that the segment has get an entry */
	for (size_t k = 0; k < w->ends.nseen; k++) {
		uint32_t i = w->ends.seen[k];
		const struct stack *s = i < w->calls.size ? w->calls.stacks[i] : NULL;

		if (s)
			decide_unseen(w, s);
		if (s && s->by_depth)
			ends_depth(&w->ends, i, s->count ? s->frames[s->count - 1].depth + 1 : 0);
	}
	return ends_finish(&w->ends, call_filter_is_open, w) ? error_no_memory(e)
							     : put_entries(w, e);
}

/* Take a block of any kind; head and end as in stage_forward. Returns 0 or -1. */
static int call_filter_take(struct call_filter *w, const struct block *b, const struct head *head,
			    const struct end *end, struct error *e)
{
	bool begins, ends;

	w->queue.at_hand = b->length;
	if (b->kind == BLOCK_EVENTS)
		return call_filter_take_events(w, b, e);
	if (b->kind == BLOCK_SNAPSHOT && b->snapshot)
		return call_filter_take_snapshot(w, b, head, e) || call_filter_check(w, e) ? -1 : 0;
	if (b->kind == BLOCK_END)
		w->goes_on = !(end->flags & END_LAST);
	/* another stream, even if the one before has no END */
	begins = b->kind == BLOCK_HEAD && !head->sequence;
	ends = b->kind == BLOCK_END && end->flags & END_LAST;
	if ((begins || ends) && (end_segment(w, e) || call_filter_end_stream(w, e)))
		return -1;
	if (begins)
		ends_segment(&w->ends);
	if (b->kind == BLOCK_HEAD)
		w->goes_on = false;
	return block_queue_other(&w->queue, b, head, end, e);
}

/* Finish the input. */
static int call_filter_finish(struct call_filter *w, struct error *e)
{
	w->queue.at_hand = 0;
	return end_segment(w, e) || call_filter_end_stream(w, e) ? -1 : 0;
}

/* Decide calls whose enters are in the first block, as far as possible by now. */
static void decide_open_calls(struct call_filter *w, struct queued_block *h)
{
	uint64_t block = w->queue.sequence;

	for (; h->owner < h->nowners; h->owner++) {
		struct owner *o = &h->owners[h->owner];
		struct call_data *f = calls_at(&w->calls, o->call);

		if (!f || !f->undecided || f->block != block || f->row != o->row)
			continue;
		if (f->answer == ANSWER_LATER) {
			const struct event e = {.lane = f->lane};
			uint32_t thread = call_address_thread(f, o->call);

			call_filter_set_open_info(w, f, ends_last(&w->ends, thread));
			f->answer = call_filter_ask(w, DECIDE_OPEN, &e, f);
		}
		switch (call_filter_of_row(w, f->answer, f->in_range, f->row_holds)) {
		case ANSWER_LATER: return;
		case ANSWER_YES:
			call_filter_decide(w, f, true);
			call_filter_kept(w, (struct around){calls_address_stack(&w->calls, o->call),
							    o->call.number + 1});
			break;
		case ANSWER_NO:
			if (w->callers)
				return;
			call_filter_decide(w, f, false);
		}
	}
}

/* Get the next block whose rows are all decided, without the rows that are left out; NULL if
 * there is none. It is valid until block_queue_pop, which must be called for it. */
static struct queued_block *call_filter_ready(struct call_filter *w, struct error *e)
{
	struct queued_block *h = block_queue_front(&w->queue);

	e->what[0] = '\0';
	if (!h)
		return NULL;
	if (h->undecided) {
		decide_open_calls(w, h);
		if (call_filter_check(w, e) || h->undecided)
			return NULL;
	}
	if (block_queue_later(&w->queue, h) || block_queue_load(&w->queue, h, e))
		return NULL;
	block_queue_clean(h);
	return h;
}

int call_filter_init(struct call_filter *w, struct filter *filter, size_t limit, struct error *e)
{
	*w = (struct call_filter){.filter = filter,
				  .max_depth = UINT32_MAX,
				  .single_rows = !call_filter_needed(filter),
				  .evaluation = &filter->evaluation,
				  .surrounds = asks_around(filter->tree),
				  .stack = condition_asks(filter->tree, ASK_STACK)};
	block_queue_init(&w->queue, limit);
	w->queue.moved = call_filter_moved;
	w->queue.ctx = w;
	filter_begin(filter);
	ends_init(&w->ends, filter->evaluation.dictionary);
	filter->evaluation.call = &w->info;
	w->info.stack = call_filter_stack_text;
	w->info.stack_ctx = w;
	if (decide_prepare(filter, e))
		return -1;
	if (condition_asks(filter->tree, ASK_STATE)) {
		w->states = malloc(sizeof(*w->states));
		if (!w->states)
			return error_no_memory(e);
		states_init(w->states, filter->evaluation.dictionary, &w->calls);
	}
	call_filter_begin_calls(w);
	return 0;
}

void call_filter_free(struct call_filter *w)
{
	free(w->duration.quick);
	if (w->states)
		states_free(w->states);
	free(w->states);
	key_map_free(&w->nodes.numbers);
	calls_free(&w->calls);
	ends_free(&w->ends);
	left_out_free(&w->left_out);
	block_queue_free(&w->queue);
	buffer_free(&w->text);
	free(w->rows.states);
	free(w->rows.owners);
	free(w->rows.offsets);
}

/* --- pass on what is decided --- */

static bool all_pass(const uint8_t *states, uint32_t n)
{
	int other = 0;

	for (uint32_t i = 0; i < n; i++)
		other |= (states[i] & ROW_ENDS_ANY) | !row_passes(states[i]);
	return !other;
}

/* Leave the rows out that are beyond the limit. */
static int limit_rows(struct emit *x, struct left_out *left_out, const struct block *b,
		      uint8_t *states)
{
	struct events it;
	struct event e;

	for (events_begin(&it, b); event_next(&it, &e); states++) {
		uint8_t before = *states;

		*states = results_row(x->limit, &e, before);
		if (*states != before && left_out_row(left_out, &e))
			return stage_no_memory(x->stage);
	}
	return x->limit->pairing.calls.out_of_memory ? stage_no_memory(x->stage) : 0;
}

/* Pass on rows, or count them. states: enum row_state. */
static int pass_rows(struct emit *x, const struct block *b, const uint8_t *states)
{
	bool all = b->row_size >= DENSE_ROWS && all_pass(states, b->rows);
	struct stage *s = x->stage;
	struct events it;
	struct event e;

	if (all && x->pass && stage_forward(s, b, NULL, NULL))
		return -1;
	if (all && !x->total)
		return 0;
	for (events_begin(&it, b); event_next(&it, &e); states++) {
		if (x->total)
			results_row(x->total, &e, *states);
		if (*states & ROW_ENDS_ANY && x->pass && drops_put(&x->drops, s, b, &e, *states))
			return -1;
		if (!all && x->pass && row_passes(*states) && stage_row(s, b, &e))
			return -1;
	}
	return x->total && x->total->pairing.calls.out_of_memory ? stage_no_memory(s) : 0;
}

static int pass_other(struct emit *x, struct left_out *left_out, struct queued_block *h)
{
	struct stage *s = x->stage;

	bool begins = h->block.kind == BLOCK_HEAD && !h->head.sequence;
	bool ends = h->block.kind == BLOCK_END && h->end.flags & END_LAST;

	if (begins && x->limit)
		results_begin(x->limit);
	if (begins && x->total)
		results_begin(x->total);
	if ((begins || ends) && x->pass && s->out.in_segment &&
	    (left_out_end(left_out, &s->in.dictionary)
		     ? stage_no_memory(s)
		     : thread_entries_pass(s, &left_out->entries)))
		return -1;
	if (begins)
		left_out_segment(left_out);
	if (!x->pass)
		return 0;
	if (h->block.kind == BLOCK_SNAPSHOT && h->block.snapshot)
		return restored_pass(s, &h->block, h->memory, h->head.sequence);
	return stage_forward(s, &h->block, &h->head, &h->end);
}

static int emit_pass(struct emit *x, struct left_out *left_out, struct queued_block *h)
{
	const struct block *b = &h->block;
	struct stage *s = x->stage;

	if (b->kind != BLOCK_EVENTS)
		return pass_other(x, left_out, h);
	if (!b->rows)
		return 0;
	if (x->limit && limit_rows(x, left_out, b, h->memory + h->states_at))
		return -1;
	if (x->pass && (left_out_block(left_out, b) ||
			left_out_ignored(left_out, b, h->memory + h->states_at, ROW_IGNORED)))
		return stage_no_memory(s);
	return thread_entries_pass(s, &left_out->entries) ||
			       pass_rows(x, b, h->memory + h->states_at)
		       ? -1
		       : 0;
}

/* Get the next block whose rows are all decided, as call_filter_ready does. */
static struct queued_block *widening_ready(struct widening *w, struct error *e)
{
	struct queued_block *h = block_queue_front(&w->queue);

	e->what[0] = '\0';
	if (!h || h->undecided || block_queue_later(&w->queue, h) ||
	    block_queue_load(&w->queue, h, e))
		return NULL;
	block_queue_clean(h);
	return h;
}

/* Pass on blocks of the matches and what else is kept. */
static int pass_widened(struct emit *x, struct left_out *left_out, struct queued_block *h)
{
	struct widening *w = x->widening;
	struct queued_block *ready;
	struct error e;

	w->queue.at_hand = h ? h->block.length : 0;
	if (w->take(w, h, &e))
		return stage_fail(x->stage, &e);
	for (; (ready = widening_ready(w, &e)); block_queue_pop(&w->queue))
		if (emit_pass(x, left_out, ready))
			return -1;
	return e.what[0] ? stage_fail(x->stage, &e) : 0;
}

int emit_calls(struct emit *x, struct call_filter *w, const struct block *b)
{
	struct stage *s = x->stage;
	struct queued_block *h;
	struct error e;
	int bad =
		b ? call_filter_take(w, b, &s->in.head, &s->in.end, &e) : call_filter_finish(w, &e);

	if (bad)
		return stage_fail(s, &e);
	e.what[0] = '\0';
	/* no block is passed on after the last row, because END would count gaps that are
	 * missing */
	for (; !emit_done(x) && (h = call_filter_ready(w, &e)); block_queue_pop(&w->queue))
		if (x->widening ? pass_widened(x, &w->left_out, h) : emit_pass(x, &w->left_out, h))
			return -1;
	if (e.what[0])
		return stage_fail(s, &e);
	return x->pass && writer_flush_old(&s->out) ? stage_fail(s, &s->out.error) : 0;
}

int emit_finish(struct emit *x, struct call_filter *w)
{
	struct stage *s = x->stage;

	if (!emit_done(x) && emit_calls(x, w, NULL))
		return -1;
	if (x->pass && s->out.in_segment &&
	    (left_out_end(&w->left_out, &s->in.dictionary)
		     ? stage_no_memory(s)
		     : thread_entries_pass(s, &w->left_out.entries)))
		return -1;
	/* decided blocks may be delayed until the next block is read (block_queue_later) */
	return x->widening ? pass_widened(x, &w->left_out, NULL) : 0;
}
