/*
 * clock_epoch.h - epochs of concatenated streams: a new one where times go back
 *
 * Readers merge the buffers of a trace by time, and never reorder the events of a buffer. If a
 * stream begins before the end of the streams before it, its events go to other buffers of the
 * target: those of the next epoch, whose names contain the epoch.
 */
#ifndef TR_TRENCODE_CONVERT_CLOCK_EPOCH_H
#define TR_TRENCODE_CONVERT_CLOCK_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

#include "common/stream/reader.h"

struct buffer;

/* The present epoch. */
struct clock_epoch {
	uint64_t latest, stream_id;
	uint32_t sequence, count; /* count: the present epoch, from 0 */
	bool begun, border;	  /* border: a stream has begun, and no row of it was read */
};

/* Note that a segment begins. */
void clock_epoch_head(struct clock_epoch *r, const struct head *h);
/* Returns the epoch of a row of that time, from 0. */
uint32_t clock_epoch_at(struct clock_epoch *r, uint64_t time);
/* Append the end of the names of that epoch's buffers: nothing, "~2" and so on. Returns 0, or -1
 * when out of memory. */
int clock_epoch_name(uint32_t epoch, struct buffer *b);

#endif
