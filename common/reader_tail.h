/*
 * reader_tail.h - what END at the end of a file says, found from there
 */
#ifndef TR_READER_TAIL_H
#define TR_READER_TAIL_H

#include <stdint.h>

/* The last time of a stream's events. -1: no regular file, no whole stream, or one without events.
 */
int reader_tail_last(int fd, uint64_t *last);

#endif
