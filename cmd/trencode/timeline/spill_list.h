/*
 * spill_list.h - records of many threads, added in any order and read back thread by thread
 *
 * A chain is read from its end: last record first. Records that exceed memory are spilled to one
 * nameless file in $TMPDIR, in pieces; each piece has the offset of the piece before it. A function
 * that returns int returns 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_TIMELINE_SPILL_LIST_H
#define TR_TRENCODE_TIMELINE_SPILL_LIST_H

#include "common/util/buffer.h"
#include "common/util/error.h"

/* The records of one thread. */
struct chain {
	struct buffer pending;
	uint64_t last;	     /* offset of its last piece in the file + 1, 0 none */
	struct chain *next;  /* in the list of chains with pending records */
	struct chain **from; /* pointer to this chain in that list; NULL: not in the list */
};

/* The spilled records of all chains. */
struct spill_list {
	size_t record; /* size of a record, bytes */
	int fd;	       /* -1: no file yet */
	uint64_t size;
	size_t pending;
	struct chain *list;
};

void spill_list_init(struct spill_list *c, size_t record);
void spill_list_free(struct spill_list *c);
void chain_free(struct chain *ch);

/* Append a record. The chain must not move until spill_list_free. */
int chain_add(struct spill_list *c, struct chain *ch, const void *record, struct error *e);

/* Call take for each record, the last one first, and empty the chain. */
int chain_unwind(struct spill_list *c, struct chain *ch,
		 int (*take)(void *ctx, const void *record, struct error *e), void *ctx,
		 struct error *e);

#endif
