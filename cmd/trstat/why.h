/*
 * why.h - --why EXPR: whom calls waited for, as a table or folded stacks
 */
#ifndef TR_TRSTAT_WHY_H
#define TR_TRSTAT_WHY_H

struct query;
struct stage;

/* Run --why, whose condition is that of the query. */
void run_why(struct stage *stage, struct query *q);

#endif
