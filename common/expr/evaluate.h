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
	 * NULL: a text is no number */
	void (*number)(struct scalar *s);
	void *ctx;
};

void expression_value(const struct expression_values *v, struct operand *o, struct scalar *out);

/* Evaluate a leaf. */
bool expression_leaf(const struct expression_values *v, const struct node *n);

/* Evaluate a condition without under() and over(). */
bool expression_holds(const struct expression_values *v, const struct node *n);

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
