#include "cmd/trfilter/expression/decide.h"

struct numbers {
	unsigned marks, under, over;
};

static void number_around(struct node *n, struct numbers *c)
{
	if (n->kind == NODE_UNDER)
		node_marks(n)->mark = (uint16_t)c->under++;
	else if (n->kind == NODE_OVER)
		node_marks(n)->mark = (uint16_t)c->over++;
	if (expression_joined(n))
		for (size_t i = 0; i < n->nchildren; i++)
			number_around(n->children[i], c);
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
static void number_marks(struct node *n, struct numbers *c)
{
	if (is_of_either(n)) {
		node_marks(n)->mark = (uint16_t)c->marks++;
		node_marks(n)->known = (uint16_t)c->marks++;
	} else if (is_noted(n)) {
		/* under() has its own number for it */
		if (n->kind != NODE_UNDER)
			node_marks(n)->mark = (uint16_t)c->marks++;
	} else if (expression_joined(n)) {
		for (size_t i = 0; i < n->nchildren; i++)
			number_marks(n->children[i], c);
	}
}

int decide_prepare(struct filter *f, struct error *e)
{
	struct numbers c = {0};

	number_around(f->tree, &c);
	for (size_t i = 0; i < f->nterms; i++)
		number_marks(f->terms[i].node, &c);
	f->marks = c.marks;
	if (c.under > AROUND_LIMIT || c.over > AROUND_LIMIT)
		return error_set(e, NULL, NO_OFFSET,
				 "expression: more than %d times under() or over()", AROUND_LIMIT);
	if (c.marks > MARKS_LIMIT)
		return error_set(e, NULL, NO_OFFSET,
				 "expression: more than %d conditions joined with such on whole "
				 "calls",
				 MARKS_LIMIT / 2);
	return 0;
}

void decide_around(struct evaluation *ev, struct node *n, const struct event *e, uint64_t *under,
		   uint64_t *over)
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

static bool is_given(struct evaluation *ev, struct node *n, const struct event *e)
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

	if (numbered ? !is_given(ev, n, enter) : is_return(n))
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
	if (is_at_leave(d) && (!known || (numbered && is_given(d->ev, n, d->event))))
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
		    n->fields[i]->field != ASK_CHILDREN)
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

void decide_mark(struct evaluation *ev, struct node *n, const struct event *enter,
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

enum answer decide(struct evaluation *ev, struct node *n, enum decide_when when,
		   const struct event *e, struct call_data *f)
{
	return decide_node(&(struct decision){ev, when, e, f}, n);
}
