/*
 * clock_epoch.h - streams behind each other whose times go back
 *
 * Readers merge the buffers of a trace by time, and never reorder one of them. So where a stream
 * follows another one and goes back in time, a target's buffers are others than those before: they
 * are of another round, which is in their names.
 */
#ifndef TR_TRENCODE_CONVERT_CLOCK_EPOCH_H
#define TR_TRENCODE_CONVERT_CLOCK_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

#include "common/stream/reader.h"

struct buffer;

struct clock_epoch {
	uint64_t latest, stream_id;
	uint32_t sequence, count; /* count: how often time went back so */
	bool begun, border;	  /* border: a stream has begun, no row of it has come */
};

/* A segment begins. */
void clock_epoch_head(struct clock_epoch *r, const struct head *h);
/* The round of a row of that time, from 0. */
uint32_t clock_epoch_at(struct clock_epoch *r, uint64_t time);
/* Append what the names of that round's buffers end with: nothing, "~2" and on. -1: memory. */
int clock_epoch_name(uint32_t round, struct buffer *b);

#endif
