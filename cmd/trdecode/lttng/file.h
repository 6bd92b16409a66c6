/*
 * file.h - a tracefile read forward: its window, its blocks, their events
 *
 * Functions return 0, or -1 when out of memory or when the output failed.
 */
#ifndef TR_TRDECODE_LTTNG_FILE_H
#define TR_TRDECODE_LTTNG_FILE_H

#include "common/util/error.h"
#include "cmd/trdecode/input/window.h"
#include "cmd/trdecode/lttng/marker.h"

/* An event, split into what its row contains. */
struct lttng_event {
	struct lttng_marker *marker;
	uint64_t tsc;
	const uint8_t *fixed; /* marker->fixed_size bytes, as in the row */
	const uint8_t *tail;  /* the strings, each with its NUL */
	uint32_t tail_size;
};

enum { LTTNG_LANES = 32 };

struct lttng_thread;

/* Return a string by its number, from 0; "" if there is none. */
const uint8_t *lttng_event_text(const struct lttng_event *ev, int number, size_t *n);

/* A tracefile, its current block and its next event. */
struct lttng_file {
	const char *member;
	struct lttng_channel *channel;
	int32_t cpu;
	uint32_t rank, buffer; /* buffer: the name without its CPU, a string of the writer */
	bool metadata, compact;
	bool quiet; /* do not report damage: another pass does */

	struct file_window window;

	/* the block; positions count from its start */
	struct lttng_header first, block;
	bool in_block, cut, any;
	uint64_t at;   /* offset of the block in the file */
	uint32_t used; /* end of its events */
	uint32_t position;
	uint64_t tsc;
	struct lttng_headers { /* of the events */
		uint8_t align;
		bool old;     /* 1.0: 32 bits of time, id, size; in a block that was completed */
		bool compact; /* 27 bits of time and 5 of id; in a block that was completed */
	} headers;

	/* the next event or gap, at time next */
	uint64_t next;	/* TSC; UINT64_MAX: none, see done */
	uint64_t order; /* recorded order among events of one time; 0: not recorded */
	bool done;
	struct lttng_marker *marker;
	uint32_t payload;   /* position */
	uint32_t size;	    /* bytes of the payload, or SIZE_UNKNOWN */
	uint32_t data_bits; /* data in the header of a compact event */
	struct lttng_gap {
		bool pending;
		uint64_t lost, blocks;
	} gap;

	/* Lanes of the threads used last: without them 'trdecode | trstat -g name -c count' of
	 * t/bench/lttng.sh takes 1.19 times the instructions. */
	struct lttng_known_lane {
		const struct lttng_thread *thread;
		uint32_t version, lane;
	} lanes[LTTNG_LANES];
};

#define SIZE_UNKNOWN UINT32_MAX

/* Open one of `files` tracefiles and find its first event. Report a file that cannot be read, and
 * set its done. */
int lttng_file_open(struct lttng *l, struct lttng_file *f, const char *member, size_t files);
void lttng_file_close(struct lttng_file *f);
/* Find the next event: set f->next and f->marker, or f->gap_pending, or f->done. */
int lttng_file_next(struct lttng *l, struct lttng_file *f);
/* Read the event's payload, and move the position after it. 1: *ev is filled; 0: damaged: the
 * damage was reported, and the file is at its next block; -1. */
int lttng_file_event(struct lttng *l, struct lttng_file *f, struct lttng_event *ev);

/* Slide the window, and read: the slow part of lttng_window. */
const uint8_t *lttng_window_fill(struct lttng *l, struct lttng_file *f, uint64_t offset, size_t n,
				 size_t *have);

/* Return n bytes of the file at offset, fewer at its end; NULL: error. */
static inline const uint8_t *lttng_window(struct lttng *l, struct lttng_file *f, uint64_t offset,
					  size_t n, size_t *have)
{
	uint64_t from = offset - f->window.offset;
	size_t filled = window_have(&f->window);

	if (__builtin_expect(offset >= f->window.offset && from <= filled && n <= filled - from,
			     1)) {
		*have = filled - (size_t)from;
		return window_at(&f->window) + from;
	}
	return lttng_window_fill(l, f, offset, n, have);
}

/* Return n bytes at a position of the block, fewer at the end of its events; NULL: error. */
static inline const uint8_t *lttng_window_block(struct lttng *l, struct lttng_file *f,
						uint32_t position, size_t n, size_t *have)
{
	size_t left = f->used - position;
	const uint8_t *p = lttng_window(l, f, f->at + position, n < left ? n : left, have);

	if (*have > left)
		*have = left;
	return p;
}

/* --- blocks (file.c, skip.c) --- */

/* Skip the blocks from offset on that end before the first wanted time, if only times are used.
 * Return the offset of the next block. */
uint64_t lttng_skip_blocks(struct lttng *l, struct lttng_file *f, uint64_t offset);
/* Find the beginning of the last block, as struct decoder's late. */
bool lttng_skip_late(struct input *in, uint64_t *latest);

/* Go to the next block, or set f->done. */
int lttng_file_block(struct lttng *l, struct lttng_file *f);
/* Report damage at an offset of the file, and write a gap of count events. */
int lttng_file_damage(struct lttng *l, struct lttng_file *f, uint64_t offset, const char *what,
		      uint64_t count);
/* Report damage, and discard the rest of the block from position on. */
int lttng_file_abandon(struct lttng *l, struct lttng_file *f, uint32_t position, const char *what);

#endif
