/*
 * bad_values.h - removes malformed values from events, and counts these events
 *
 * Every program that reads values first passes each block of events through this module. The
 * program then reads only events without values, or with well-formed values.
 */
#ifndef TR_STREAM_BAD_VALUES_H
#define TR_STREAM_BAD_VALUES_H

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/stream/event.h"

#define BAD_VALUES "the values of an event make no sense"

struct bad_values {
	uint64_t count;	       /* number of events with malformed values, in all blocks */
	struct error first;    /* error of the first of them */
	struct buffer payload; /* payload of the last block that had some, without their values */
};

/* Remove the malformed values that the program reads (the reader's reads_values) from a block of
 * events whose rows were checked. If there are any, the block's payload is owned by v until the
 * next call. Returns how many events lost their values, or -1 when out of memory. */
int64_t bad_values_drop(struct bad_values *v, struct block *b, enum reads_values reads);

/* Test whether a program reads the values of events of this type. */
static inline bool bad_values_matter(const struct type *t, enum reads_values reads)
{
	return t->flags & TYPE_VALUES &&
	       (reads == READS_ALL ||
		(reads == READS_EVENTS && t->kind != KIND_ENTER && t->kind != KIND_LEAVE));
}

/* Print the offset of the first such event and the count, if there is one. */
void bad_values_report(const struct bad_values *v);

void bad_values_free(struct bad_values *v);

#endif
