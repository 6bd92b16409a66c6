/*
 * thread_entries.h - THREAD entries of the dictionary, collected to be written
 */
#ifndef TR_TRFILTER_CALLS_THREAD_ENTRIES_H
#define TR_TRFILTER_CALLS_THREAD_ENTRIES_H

#include "common/util/buffer.h"
#include "common/stream/entry.h"
#include "common/stream/event.h"

struct thread_entries {
	struct buffer entries;
	size_t sent; /* bytes written already */
};

/* Add an entry. Returns -1 when out of memory. */
int thread_entries_add(struct thread_entries *x, const struct thread_entry *t);
/* Make a block of the entries; to be called until it returns false. */
bool thread_entries_block(struct thread_entries *x, struct block *b);

#endif
