/*
 * thread_entries.h - entries THREAD of the dictionary that wait to be written
 */
#ifndef TR_TRFILTER_CALLS_THREAD_ENTRIES_H
#define TR_TRFILTER_CALLS_THREAD_ENTRIES_H

#include "common/util/buffer.h"
#include "common/stream/entry.h"
#include "common/stream/event.h"

struct thread_entries {
	struct buffer entries;
	size_t sent; /* bytes of them */
};

/* -1: out of memory. */
int thread_entries_add(struct thread_entries *x, const struct thread_entry *t);
/* Give the entries out as a block; to be called until it returns false. */
bool thread_entries_block(struct thread_entries *x, struct block *b);

#endif
