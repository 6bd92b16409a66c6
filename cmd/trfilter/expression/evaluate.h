/*
 * evaluate.h - does a condition hold for an event?
 */
#ifndef TRFILTER_EVALUATE_H
#define TRFILTER_EVALUATE_H

#include "cmd/trfilter/expression/operand.h"

/* Conditions on a single entry of the dictionary are asked once for each entry. */
bool evaluate(struct evaluation *ev, struct node *n, const struct event *e);

/* Of a comparison with a number on its right: does it hold for that value of its left side? */
bool evaluate_number(const struct node *n, uint64_t left);

#endif
