/*
 * block_queue.h - blocks that wait until it is decided which of their rows are kept
 *
 * A queue: what comes behind a row that waits waits too, blocks of other kinds included, so that
 * the order of the stream stays. Of EVENTS blocks only the rows that may be kept are copied. Beyond
 * a limit all that waits goes to a temporary file; of such a block a few hundred bytes stay. A
 * block that is large by itself (a value of many MiB) goes there at once: it is in memory already
 * where it was read, and must not be twice.
 */
#ifndef TR_TRFILTER_CALLS_BLOCK_QUEUE_H
#define TR_TRFILTER_CALLS_BLOCK_QUEUE_H

#include "cmd/trfilter/calls/frames.h"
#include "cmd/trfilter/calls/left_out.h"
#include "common/stream/reader.h"

enum row_state {
	ROW_DROP,
	ROW_KEEP,
	ROW_WAIT,
	ROW_GAP,     /* kept, and no event */
	ROW_ASIDE,   /* dropped but for what context.h makes of it */
	ROW_CALLER,  /* kept for what it encloses: no match by itself */
	ROW_PARTNER, /* waits too, for its leave alone: of context.h */
	ROW_IGNORED, /* kept, and the call engine ignores it (ignored.h) */
};

static inline bool row_waits(uint8_t state)
{
	return state == ROW_WAIT || state == ROW_PARTNER;
}

static inline bool row_kept(uint8_t state)
{
	return state == ROW_KEEP || state == ROW_IGNORED;
}

/* A row that waits, and the call whose enter it is. */
struct owner {
	uint32_t row;
	struct frame_at frame;
};

struct queued_block {
	struct block block; /* its payload is NULL while it is in the file, and the reader's where a
			       large one is kept as it came */
	struct head head;   /* of HEAD */
	struct end end;	    /* of END */
	uint8_t *memory;    /* payload (if it is not the reader's), states, tables of the block */
	size_t size, states_at;
	uint64_t offset; /* in the file */
	bool spilled;
	struct owner *owners;
	uint32_t nowners, owner; /* those before have been decided */
	uint32_t *counts;	 /* of the block as it came (left_out.h); NULL: not needed */
	uint32_t waiting;	 /* rows */
	uint32_t near;		 /* of context.h: those of them with ROW_WAIT */
	uint32_t kept;		 /* of context.h: events that were kept when they came, or later
				    as ROW_WAIT */
};

struct block_queue {
	struct queued_block *held;
	size_t first, count, capacity;
	uint64_t sequence; /* of the first */
	size_t bytes;	   /* in memory */
	size_t limit;
	size_t at_hand;	 /* bytes of the block that came last, still in the memory of who gave it */
	uint8_t dropped; /* what becomes of a row that is not kept: ROW_DROP, or ROW_ASIDE */
	int fd;		 /* of the temporary file, -1 none */
	uint64_t file_size;
	/* told where the row of a frame's enter is when it has moved */
	void (*moved)(void *ctx, struct frame_at at, uint64_t block, uint32_t row);
	void *ctx;
};

/* limit: bytes in memory beyond which it goes to the file. */
void block_queue_init(struct block_queue *w, size_t limit);
void block_queue_free(struct block_queue *w);

/* The number that the next block will have. */
static inline uint64_t block_queue_next(const struct block_queue *w)
{
	return w->sequence + w->count;
}

/*
 * An EVENTS block and the states of its rows; where each stands (not looked at where all are of
 * one size); owners, by row, are looked at for those that wait. If it is the first and none of its
 * rows waits, it must be done with before the memory of b is. 0, or -1 with e filled, as for all
 * here that return int.
 */
int block_queue_events(struct block_queue *w, const struct block *b, const uint8_t *states,
		       const uint32_t *offsets, const struct frame_at *owners, struct error *e);
/* After block_queue_events: counts of the block as it came, or NULL, are the queue's, if it was
 * given that number. If no row of it waits or is kept, *x notes that they are left out. */
int block_queue_counts(struct block_queue *w, uint64_t number, const struct block *b,
		       uint32_t *counts, struct left_out *x, struct error *e);
/* A block of another kind; for HEAD and END what the reader says of it. */
int block_queue_other(struct block_queue *w, const struct block *b, const struct head *head,
		      const struct end *end, struct error *e);

/* It is decided what becomes of a row that waits. */
int block_queue_decide(struct block_queue *w, uint64_t block, uint32_t row, uint8_t state,
		       struct error *e);

/* The one that came first, NULL if none is there. */
static inline struct queued_block *block_queue_front(const struct block_queue *w)
{
	return w->count ? &w->held[w->first] : NULL;
}

/* Is it large and in the file, while another large one is at hand? It can go when the next came. */
static inline bool block_queue_later(const struct block_queue *w, const struct queued_block *h)
{
	return !h->memory && h->size > w->limit / 2 && w->at_hand > w->limit / 2;
}

/* Have its memory at hand. */
int block_queue_load(struct block_queue *w, struct queued_block *h, struct error *e);
/* After block_queue_load of one that was in the file, if too much is in memory: with what became of
 * its states it is there again. */
int block_queue_put_back(struct block_queue *w, struct queued_block *h, struct error *e);
/* Of a loaded EVENTS block of which no row waits any more: take out the rows that are not kept. */
void block_queue_clean(struct queued_block *h);
/* Done with the front. */
void block_queue_pop(struct block_queue *w);

#endif
