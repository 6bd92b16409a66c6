/*
 * evaluate.h - evaluate a condition for an event
 */
#ifndef TR_TRFILTER_EXPRESSION_EVALUATE_H
#define TR_TRFILTER_EXPRESSION_EVALUATE_H

#include "cmd/trfilter/expression/operand.h"

/* Evaluate a condition. Conditions on one entry of the dictionary are cached for each entry. */
bool evaluate(struct evaluation *ev, struct node *n, const struct event *e);

/* Evaluate a comparison with a number on its right, for that value of its left side. */
bool evaluate_number(const struct node *n, uint64_t left);

#endif
