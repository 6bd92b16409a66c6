/*
 * explain_tail.h - --explain-tail EXPR: what is different about the slow calls
 */
#ifndef TR_TRSTAT_EXPLAIN_TAIL_H
#define TR_TRSTAT_EXPLAIN_TAIL_H

struct query;
struct stage;

/* Compare the slow ones of the calls for which q->where is true with the others, and write what is
 * different. The exit status is in stage. */
void run_explain_tail(struct stage *stage, struct query *q);

#endif
