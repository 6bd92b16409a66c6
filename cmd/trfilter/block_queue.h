/*
 * block_queue.h - a queue of blocks with rows that are not decided yet, and blocks of some rows
 */
#ifndef TR_TRFILTER_BLOCK_QUEUE_H
#define TR_TRFILTER_BLOCK_QUEUE_H

#include "common/calls/calls.h"
#include "common/stream/reader.h"

/* --- a block of some rows of another block --- */

/* Rows that were copied from a block. */
struct compact_rows {
	uint8_t *end; /* of the copies */
	uint32_t count;
	uint64_t low, high; /* lowest and highest time */
};

/*
 * Make a block of rows that were copied from b to payload + b->front, with 8 bytes of room
 * after them. payload may be b's own.
 */
void compact_block(struct block *out, const struct block *b, uint8_t *payload,
		   const struct compact_rows *rows);

/* An undecided row, and the call whose enter it is. */
struct owner {
	uint32_t row;
	struct call_address call;
};

struct queued_block {
	/* payload: NULL when spilled; borrowed from the reader for oversized blocks */
	struct block block;
	struct head head; /* of a HEAD block; of SNAPSHOT: that of its segment */
	struct end end;	  /* of an END block */
	uint8_t *memory;  /* payload (unless borrowed), states and tables of the block */
	size_t size, states_at;
	uint64_t offset; /* offset in the file */
	bool spilled;
	struct owner *owners;
	uint32_t nowners, owner; /* owners before index owner are decided */
	uint32_t undecided;	 /* number of undecided rows */
	uint32_t near;		 /* for context.h: number of them with ROW_UNDECIDED */
	/* for context.h: events that were kept when read, or later as ROW_UNDECIDED */
	uint32_t kept;
};

struct block_queue {
	struct queued_block *blocks;
	size_t first, count, capacity;
	uint64_t sequence; /* sequence number of the first block */
	size_t bytes;	   /* bytes in memory */
	size_t limit;
	size_t at_hand;	  /* bytes of the last block, if its payload is borrowed */
	uint8_t left_out; /* state of a row that is not kept: ROW_LEFT_OUT, or ROW_FOR_CONTEXT */
	bool flagged;	  /* some state had flags (enum row_state) */
	int fd;		  /* of the temporary file; -1: none */
	uint64_t file_size;
	/* Called when the row of a call's enter has moved. */
	void (*moved)(void *ctx, struct call_address at, uint64_t block, uint32_t row);
	void *ctx;
};

/* limit: bytes in memory beyond which the queue spills. */
void block_queue_init(struct block_queue *w, size_t limit);
void block_queue_free(struct block_queue *w);

/* Get the number that the next block will have. */
static inline uint64_t block_queue_next(const struct block_queue *w)
{
	return w->sequence + w->count;
}

/*
 * Queue an EVENTS block with the states of its rows. offsets: of each row, unused where all rows
 * have one size. owners: by row, used for undecided rows. If the block is the first and none of its
 * rows is undecided, the caller must take it from the queue before b's memory is reused. Functions
 * that return int return 0, or -1 with e filled.
 */
int block_queue_events(struct block_queue *w, const struct block *b, const uint8_t *states,
		       const uint32_t *offsets, const struct call_address *owners, struct error *e);
/* Queue a block of another kind; head and end as from the reader. */
int block_queue_other(struct block_queue *w, const struct block *b, const struct head *head,
		      const struct end *end, struct error *e);

/* Queue a SNAPSHOT block with the states of its frames, and their owners. exact: false marks the
 * block as approximate. */
int block_queue_enters(struct block_queue *w, const struct block *b, const uint8_t *states,
		       const struct call_address *owners, bool exact, struct error *e);

/* Get the block that was queued last. */
static inline struct queued_block *block_queue_last(const struct block_queue *w)
{
	return &w->blocks[w->first + w->count - 1];
}

/* Set the state of an undecided row, which keeps its flags. */
int block_queue_decide(struct block_queue *w, uint64_t block, uint32_t row, uint8_t state,
		       struct error *e);

/* Get the first block, NULL if the queue is empty. */
static inline struct queued_block *block_queue_front(const struct block_queue *w)
{
	return w->count ? &w->blocks[w->first] : NULL;
}

/* Returns true for a large spilled block while another large block is in memory: it must wait
 * until the next block is queued. */
static inline bool block_queue_later(const struct block_queue *w, const struct queued_block *h)
{
	return !h->memory && h->size > w->limit / 2 && w->at_hand > w->limit / 2;
}

/* Load a block's memory. */
int block_queue_load(struct block_queue *w, struct queued_block *h, struct error *e);
/* Spill a block again after block_queue_load, with its new states, if the queue exceeds its
 * limit. */
int block_queue_put_back(struct block_queue *w, struct queued_block *h, struct error *e);
/* Remove the rows that are not kept from a loaded EVENTS block without undecided rows, or reject
 * the frames of a SNAPSHOT block that are not kept. Other blocks are unchanged. */
void block_queue_clean(struct queued_block *h);
/* Remove the first block. */
void block_queue_pop(struct block_queue *w);

#endif
