/*
 * snapshot.h - the content of SNAPSHOT blocks, as trstream(5) specifies it
 *
 * The reader decodes and checks each of these blocks. A block whose field `snapshot` is set must be
 * adopted (calls_restore in common/calls/calls.h); any other SNAPSHOT is skipped.
 *
 *     struct snapshot_walk w;
 *
 *     snapshot_walk(&w, b->snapshot);
 *     while (snapshot_next_thread(&w))
 *             while (snapshot_next_frame(&w))
 *                     ...
 */
#ifndef TR_STREAM_SNAPSHOT_H
#define TR_STREAM_SNAPSHOT_H

#include "common/stream/events_block.h"
#include "common/stream/stream.h"

enum { SNAPSHOT_UNSEEN = 65536 }; /* maximum of unseen calls */

/* A thread record. Lane and types are ids of the segment. */
struct snapshot_thread {
	uint32_t lane, flags; /* enum snapshot_thread_flags */
	uint64_t last;
	uint64_t since, child; /* of the unseen calls; of the innermost of them */
	uint64_t kernel_since;
	uint32_t type, kernel_type;
	uint32_t unseen, frames, base, gone;
};

struct snapshot_frame {
	uint64_t start, child;
	uint32_t depth, flags; /* enum snapshot_frame_flags */
};

struct snapshot_head {
	uint64_t first, latest;
	uint32_t flags; /* enum snapshot_flags */
	uint32_t threads, frames, gone;
	uint32_t rows; /* bytes */
};

/* A checked block. */
struct snapshot {
	struct snapshot_head head;
	bool continues; /* it continues the block before */
	struct block rows;
	const struct dictionary *dictionary;
	/* Set by the program to clip the calls: an earlier enter has this time. 0: none. */
	uint64_t since;
	/* the rest is private */
	const uint8_t *threads, *frames, *gone;
	size_t thread_size, frame_size;
	struct events_tables tables;
	/* state of the segment's blocks so far: whether another must follow or must not; and of the
	   last record its stack, the order of its frames and its calls outside the kernel */
	bool more, done;
	uint32_t stack, order;
	uint64_t own;
};

/* Begin a segment. continues: its first SNAPSHOT continues what is known, else none. */
void snapshot_segment(struct snapshot *s, bool continues);
/* Decode and check a block. Returns its fault, NULL: none. EVENTS_NO_MEMORY: out of memory. The
 * content is valid as long as the block's payload. */
const char *snapshot_read(struct snapshot *s, const struct dictionary *d, const struct block *b,
			  enum reads_values reads);
void snapshot_free(struct snapshot *s);

struct snapshot_walk {
	const struct snapshot *snapshot;
	struct snapshot_thread thread;
	const struct lane *lane;	       /* of the thread record */
	const struct type *type, *kernel_type; /* NULL: none */
	struct snapshot_frame frame;
	struct event enter; /* its row, with the time of the frame */
	/* the rest is private */
	uint32_t threads, frames, gone; /* records read */
	uint32_t left;			/* frames of the thread */
	struct events rows;
};

void snapshot_walk(struct snapshot_walk *w, const struct snapshot *s);
bool snapshot_next_thread(struct snapshot_walk *w);
/* Get the next frame of the thread. */
bool snapshot_next_frame(struct snapshot_walk *w);
/* Get the location of a call that was removed, 0 to thread.gone - 1; 0: not known. */
uint32_t snapshot_gone(const struct snapshot_walk *w, uint32_t i);

/* Get the number of the record's stack. */
static inline uint32_t snapshot_stack(const struct lane *lane, uint32_t flags)
{
	return flags & SNAPSHOT_PER_CPU ? lane->cpu_thread : lane->thread;
}

/* For a filter that passes on a block with a copy of its payload: leave out the call of frame i;
 * add flags (enum snapshot_flags). */
void snapshot_leave_out(uint8_t *payload, uint32_t i);
void snapshot_set_flags(uint8_t *payload, uint32_t flags);

/* Encode into SNAPSHOT_HEAD, SNAPSHOT_THREAD and SNAPSHOT_FRAME bytes. */
void snapshot_put_head(uint8_t *p, const struct snapshot_head *h);
void snapshot_put_thread(uint8_t *p, const struct snapshot_thread *t);
void snapshot_put_frame(uint8_t *p, const struct snapshot_frame *f);

#endif
