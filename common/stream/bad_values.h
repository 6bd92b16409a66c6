/*
 * bad_values.h - events whose values make no sense lose these values, and are counted
 *
 * Every program that reads values lets each block of events go through here first: what it then
 * reads are events without their values, or with values that all make sense.
 */
#ifndef TR_STREAM_BAD_VALUES_H
#define TR_STREAM_BAD_VALUES_H

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/stream/event.h"

#define BAD_VALUES "the values of an event make no sense"

struct bad_values {
	uint64_t count;	       /* of events, in all blocks */
	struct error first;    /* the first of them */
	struct buffer payload; /* of the last block that had some, without their values */
};

/* Take the bad values that the program reads (the reader's reads_values) out of a block of events
 * whose rows were checked. If there are any, the block's payload becomes v's, until the next call.
 * Returns how many events lost their values, or -1: out of memory. */
int64_t bad_values_drop(struct bad_values *v, struct block *b, enum reads_values reads);

/* Does a program read the values of events of this type? */
static inline bool bad_values_matter(const struct type *t, enum reads_values reads)
{
	return t->flags & TYPE_VALUES &&
	       (reads == READS_ALL ||
		(reads == READS_EVENTS && t->kind != KIND_ENTER && t->kind != KIND_LEAVE));
}

/* Print the place of the first event and the count, if there is one. */
void bad_values_report(const struct bad_values *v);

void bad_values_free(struct bad_values *v);

#endif
