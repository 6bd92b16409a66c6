/*
 * file.h - a tracefile read forward: a window on its bytes, its blocks, their events
 */
#ifndef TR_TRDECODE_LTTNG_FILE_H
#define TR_TRDECODE_LTTNG_FILE_H

#include "common/util/error.h"
#include "cmd/trdecode/lttng/marker.h"

/* An event taken apart. */
struct lttng_event {
	struct lttng_marker *marker;
	uint64_t tsc;
	const uint8_t *fixed; /* marker->fixed_size bytes as they go into the row */
	const uint8_t *tail;  /* the strings, each with its NUL */
	uint32_t tail_size;
};

enum { LTTNG_LANES = 32 };

struct lttng_thread;

/* One of the strings, from number 0 on; "" if there is none. */
const uint8_t *lttng_event_text(const struct lttng_event *ev, int number, size_t *n);

struct lttng_file {
	const char *member;
	struct lttng_channel *channel;
	int32_t cpu;
	uint32_t rank, buffer; /* buffer: the name without its CPU, a string of the writer */
	bool metadata, compact;
	bool quiet;	/* damage is reported at another time */
	bool stateless; /* nothing of its events is needed for what comes behind them */

	/* the window on the file */
	int fd;
	bool keep;
	uint64_t start, file_size;
	uint64_t offset; /* in the file, of data[0] */
	uint8_t *data;
	size_t filled, capacity;

	/* the block, positions counted from its start */
	struct lttng_header first, block;
	bool in_block, cut, any;
	uint64_t at;   /* of the block in the file */
	uint32_t used; /* where its events end */
	uint32_t position;
	uint64_t tsc;
	uint8_t header_align;
	bool old_headers;   /* of 1.0: 32 bits of time, id, size; likewise */
	bool short_headers; /* 27 bits of time and 5 of id, in a block that was finished */

	/* what comes next, at time next */
	uint64_t next;	/* TSC; UINT64_MAX with nothing: see done */
	uint64_t order; /* of events at one time, as the event tells it; 0: it does not */
	bool done, gap_pending;
	struct lttng_marker *marker;
	uint32_t payload;   /* position */
	uint32_t size;	    /* of the payload, SIZE_UNKNOWN */
	uint32_t data_bits; /* of a compact event */
	uint64_t gap_lost, gap_blocks;

	/* lanes of the threads seen last */
	struct lttng_known_lane {
		const struct lttng_thread *thread;
		uint32_t version, lane;
	} lanes[LTTNG_LANES];
};

#define SIZE_UNKNOWN UINT32_MAX

/* Open and stand before the first event. -1: out of memory. A file that cannot be read is done. */
int lttng_file_open(struct lttng *l, struct lttng_file *f, const char *member, size_t window,
		    bool keep);
void lttng_file_close(struct lttng_file *f);
/* Find the next event: f->next, f->marker, or f->gap_pending, or f->done. -1: memory, or output. */
int lttng_file_next(struct lttng *l, struct lttng_file *f);
/* The event's payload; the position is behind it then. 1 it is there, 0 damaged (said, and the file
 * stands at its next block), -1. */
int lttng_file_event(struct lttng *l, struct lttng_file *f, struct lttng_event *ev);

/* --- the window (lttng_window.c) --- */

/* A window of that size on a member. -1: *e, with a text unless out of memory. */
int lttng_window_open(struct lttng *l, struct lttng_file *f, size_t window, struct error *e);
void lttng_window_close(struct lttng_file *f);
/* n bytes at offset, past the window, without reading more. false: they are not there. */
bool lttng_window_peek(struct lttng *l, struct lttng_file *f, uint64_t offset, void *to, size_t n);
/* Slow part of lttng_window: slide it, make it larger for a large event, read. */
const uint8_t *lttng_window_fill(struct lttng *l, struct lttng_file *f, uint64_t offset, size_t n,
				 size_t *have);

/* Have n bytes of the file at offset, fewer at its end. */
static inline const uint8_t *lttng_window(struct lttng *l, struct lttng_file *f, uint64_t offset,
					  size_t n, size_t *have)
{
	uint64_t from = offset - f->offset;

	if (__builtin_expect(offset >= f->offset && from <= f->filled && n <= f->filled - from,
			     1)) {
		*have = f->filled - (size_t)from;
		return f->data + from;
	}
	return lttng_window_fill(l, f, offset, n, have);
}

/* At a position of the block: n bytes or what is left of its events. */
static inline const uint8_t *lttng_window_block(struct lttng *l, struct lttng_file *f,
						uint32_t position, size_t n, size_t *have)
{
	size_t left = f->used - position;
	const uint8_t *p = lttng_window(l, f, f->at + position, n < left ? n : left, have);

	if (*have > left)
		*have = left;
	return p;
}

/* --- blocks (lttng_file.c, lttng_skip.c) --- */

/* Blocks from offset on that end before all times that are wanted, if that is all that matters of
 * them: where the next one begins. */
uint64_t lttng_skip_blocks(struct lttng *l, struct lttng_file *f, uint64_t offset);
/* Find f->stateless. */
void lttng_skip_prepare(struct lttng *l, struct lttng_file *f);
/* struct decoder's late: the beginning of the last block. */
bool lttng_skip_late(struct input *in, uint64_t *latest);

/* Go to the next block; f->done if there is none. -1: memory, or output. */
int lttng_file_block(struct lttng *l, struct lttng_file *f);
/* Say what is wrong at an offset of the file, and leave a gap of count events. -1 as above. */
int lttng_file_damage(struct lttng *l, struct lttng_file *f, uint64_t offset, const char *what,
		      uint64_t count);
/* The rest of the block is lost, from position on. */
int lttng_file_abandon(struct lttng *l, struct lttng_file *f, uint32_t position, const char *what);

#endif
