/*
 * spill_list.h - records of many threads, put away as they come and taken back thread by thread
 *
 * A chain is read from its end: last record first. What does not fit into memory goes to one
 * nameless file in $TMPDIR, in pieces of which each knows the one before it. All functions return
 * 0, or -1 with e filled.
 */
#ifndef TR_TRENCODE_TIMELINE_SPILL_LIST_H
#define TR_TRENCODE_TIMELINE_SPILL_LIST_H

#include "common/util/buffer.h"
#include "common/util/error.h"

struct chain {
	struct buffer pending;
	uint64_t last;	     /* offset of its last piece in the file + 1, 0 none */
	struct chain *next;  /* of those with something pending */
	struct chain **from; /* what points to it in that list; NULL: it is not in it */
};

struct spill_list {
	size_t record; /* bytes of one */
	int fd;	       /* -1: not yet made */
	uint64_t size;
	size_t pending;
	struct chain *list;
};

void spill_list_init(struct spill_list *c, size_t record);
void spill_list_free(struct spill_list *c);
void chain_free(struct chain *ch);

/* Append a record. The chain must not move until spill_list_free. */
int chain_add(struct spill_list *c, struct chain *ch, const void *record, struct error *e);

/* Each record, the last one first. The chain is empty then. */
int chain_unwind(struct spill_list *c, struct chain *ch,
		 int (*take)(void *ctx, const void *record, struct error *e), void *ctx,
		 struct error *e);

#endif
