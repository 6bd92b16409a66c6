/*
 * spill_list.h - records of many threads, added in any order and read back thread by thread
 *
 * A chain is read from its end: last record first. Records that exceed memory are spilled to one
 * nameless file in $TMPDIR, in pieces; each piece has the offset of the piece before it. A function
 * that returns int returns 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_SPILL_LIST_H
#define TR_TRENCODE_SPILL_LIST_H

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/output.h"

/* The records of one thread. */
struct spill_chain {
	struct buffer pending;
	uint64_t last;		   /* offset of its last piece in the file + 1, 0 none */
	struct spill_chain *next;  /* in the list of chains with pending records */
	struct spill_chain **from; /* pointer to this chain in that list; NULL: not in the list */
};

/* The spilled records of all chains. */
struct spill_list {
	size_t record; /* size of a record, bytes */
	int fd;	       /* -1: no file yet */
	uint64_t size;
	size_t pending;
	struct spill_chain *list;
};

void spill_list_init(struct spill_list *c, size_t record);
void spill_list_free(struct spill_list *c);
void chain_free(struct spill_chain *ch);

/* Append a record. The chain must not move until spill_list_free. */
int chain_add(struct spill_list *c, struct spill_chain *ch, const void *record, struct error *e);

/* Call take for each record, the last one first, and empty the chain. */
int chain_unwind(struct spill_list *c, struct spill_chain *ch,
		 int (*take)(void *ctx, const void *record, struct error *e), void *ctx,
		 struct error *e);

/*
 * Records in order, some of which are revoked later.
 *
 * For formats that write the beginning of a call before it is known whether the call has an end.
 * The records wait in a nameless temporary file. Functions return 0, or -1 with *e filled.
 */

/* One journal. */
struct spill_journal {
	int fd; /* -1: no file yet */
	uint64_t written;
	struct buffer pending;
};

void spill_journal_init(struct spill_journal *r);
void spill_journal_free(struct spill_journal *r);

/* Append a record; *token names it. */
int spill_journal_add(struct spill_journal *r, const struct buffer *record, uint64_t *token,
		      struct error *e);
/* Revoke a record. */
int spill_journal_revoke(struct spill_journal *r, uint64_t token, struct error *e);
/* Write all records that were not revoked. Nothing may be added after it. */
int spill_journal_copy(struct spill_journal *r, struct output *to, struct error *e);

#endif
