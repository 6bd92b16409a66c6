/*
 * follow.h - what worked for one request, in all threads: --follow
 */
#ifndef TR_TRFILTER_FOLLOW_H
#define TR_TRFILTER_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dictionary;
struct widening;

/*
 * Keep what the matches lead to (context.h). queue: bytes beyond which it spills; limit: the most
 * matches; callers: keep the calls around what is kept, too. NULL: out of memory.
 */
struct widening *follow_new(struct dictionary *d, size_t queue, uint64_t limit, bool callers);

/* Print what the trace lacks that would lead on, and free it; NULL is ignored. */
void follow_finish(struct widening *w, bool quiet);

#endif
