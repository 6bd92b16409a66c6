/*
 * evaluate.h - evaluate a condition from the values of its fields
 */
#ifndef TR_EXPR_EVALUATE_H
#define TR_EXPR_EVALUATE_H

#include "common/expr/expression.h"

/* How a program gives the values of fields, which are valid until the condition is evaluated. */
struct expression_values {
	/* Set the value of a field, which is SCALAR_NONE before. */
	void (*field)(void *ctx, struct operand *field, struct scalar *out);
	/* Make a number of a text that spells one, to compare it with a number or to calculate;
	 * NULL: a text is not a number */
	void (*number)(struct scalar *s);
	void *ctx;
};

/* Evaluate an operand; SCALAR_NONE: it has no value. */
void expression_value(const struct expression_values *v, struct operand *o, struct scalar *out);

/* Evaluate a leaf. */
bool expression_leaf(const struct expression_values *v, const struct node *n);

/* Evaluate a condition without under() and over(). */
bool expression_holds(const struct expression_values *v, struct node *n);

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_LATER };

static inline enum answer answer_not(enum answer a)
{
	return a == ANSWER_LATER ? a : a == ANSWER_NO ? ANSWER_YES : ANSWER_NO;
}

/* Returns true for a condition made of others by !, && or ||. */
static inline bool expression_joined(const struct node *n)
{
	return n->kind == NODE_AND || n->kind == NODE_OR || n->kind == NODE_NOT;
}

/* Answer a joined condition from the answers of its children, up to one that decides it. In line,
 * since conditions are evaluated for each event. */
static inline enum answer
expression_join(const struct node *n, enum answer (*child)(void *ctx, struct node *n), void *ctx)
{
	enum answer neutral = n->kind == NODE_AND ? ANSWER_YES : ANSWER_NO, all = neutral;

	if (n->kind == NODE_NOT)
		return answer_not(child(ctx, n->children[0]));
	for (size_t i = 0; i < n->nchildren; i++) {
		enum answer a = child(ctx, n->children[i]);

		if (a == ANSWER_LATER)
			all = ANSWER_LATER;
		else if (a != neutral)
			return a;
	}
	return all;
}

/* Returns the result of a comparison of two values in that order. */
static inline bool comparison_holds(enum comparison c, enum scalar_order o)
{
	static const uint8_t orders[] = {
		[COMPARE_EQ] = 1 << ORDER_EQUAL,
		[COMPARE_NE] = 1 << ORDER_UNORDERED | 1 << ORDER_LESS | 1 << ORDER_GREATER,
		[COMPARE_LT] = 1 << ORDER_LESS,
		[COMPARE_LE] = 1 << ORDER_LESS | 1 << ORDER_EQUAL,
		[COMPARE_GT] = 1 << ORDER_GREATER,
		[COMPARE_GE] = 1 << ORDER_GREATER | 1 << ORDER_EQUAL,
	};

	return orders[c] >> o & 1;
}

#endif
