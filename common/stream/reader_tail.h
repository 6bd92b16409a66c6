/*
 * reader_tail.h - reads END blocks without reading the stream before them
 */
#ifndef TR_STREAM_READER_TAIL_H
#define TR_STREAM_READER_TAIL_H

#include <stdbool.h>
#include <stdint.h>

/* Get the last time of a stream's events. -1: no regular file, no complete stream, or no events.
 * */
int reader_tail_last(int fd, uint64_t *last);

/* Call note for each segment of a file from the offset of fd on: whether it begins a stream, the
 * number of its events and, if it has any, the last of their times. Only the headers of blocks are
 * read; the offset of fd is unchanged. 0, or -1: no regular file, not only complete segments, or
 * note returned an error. */
int reader_tail_segments(int fd, int (*note)(void *ctx, bool first, uint64_t events, uint64_t last),
			 void *ctx);

#endif
