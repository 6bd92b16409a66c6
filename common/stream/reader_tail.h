/*
 * reader_tail.h - what END blocks say, found without reading what is before them
 */
#ifndef TR_STREAM_READER_TAIL_H
#define TR_STREAM_READER_TAIL_H

#include <stdbool.h>
#include <stdint.h>

/* The last time of a stream's events. -1: no regular file, no whole stream, or one without events.
 */
int reader_tail_last(int fd, uint64_t *last);

/* Of each segment of a file, from where fd stands: does it begin a stream, how many events has it,
 * and, if it has any, what is the last of their times? Only the headers of blocks are read; fd
 * stays where it stands. 0, or -1: no regular file, or not whole segments to its end, or note said
 * so. */
int reader_tail_segments(int fd, int (*note)(void *ctx, bool first, uint64_t events, uint64_t last),
			 void *ctx);

#endif
