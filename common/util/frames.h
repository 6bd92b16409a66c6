/*
 * frames.h - data in Zstandard frames that can be read alone, with the seek table of the Zstandard
 * seekable format at the end
 *
 *     frame | frame | frame | seek table             zstdcat prints the data
 *
 * Reading goes on after damage: at the next frame by the table, else where the next one is found.
 */
#ifndef TR_UTIL_FRAMES_H
#define TR_UTIL_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/util/error.h"

struct buffer;
struct output;

/* --- writing --- */

enum { FRAMES_LEVEL = 3, FRAMES_LEVEL_MOST = 19 };

/* Compress all that is written to an output from here on; output_close writes the table. Returns
 * -1 when out of memory. */
int frames_create(struct output *o, int level);
/* End the frame; the next bytes begin another one. 0, or -1 with *e filled. */
int frames_cut(struct output *o, struct error *e);
/* End the frame, and write a skippable frame of bytes that are not data. They end with the CRC-32
 * of the others. */
int frames_put_aside(struct output *o, const void *data, size_t n, struct error *e);

/* --- reading --- */

struct frames_in;

/* Test whether data begin with a frame. */
bool frames_begin(const void *data, size_t n);
/* Unpack the beginning of the first frame: at most n bytes. Returns their number. */
size_t frames_peek(const void *data, size_t size, void *to, size_t n);

/* Read frames of fd, of which the first n bytes were read. peeked NULL: the offset of fd is neither
 * used nor changed. NULL: out of memory. */
struct frames_in *frames_open(int fd, const void *peeked, size_t n);
void frames_close(struct frames_in *f);

/* Read up to n bytes. 0: the end; -1: errno is set. Damage is no error: it is noted, and the data
 * go on after it. */
ssize_t frames_read(struct frames_in *f, void *to, size_t n);
/* Get the damage that was met since the last call, and its offset in the file; NULL: none. */
const char *frames_fault(struct frames_in *f, uint64_t *at);

/* Read the seek tables of a regular file. Returns the size of the data; 0: there is no table for
 * the whole file. */
uint64_t frames_size(struct frames_in *f);
/* Read the next frame from the one with number *at on that frames_put_aside wrote: its content,
 * empty if it is damaged, and the offset in the data where the frame is. 1, 0: there is none, -1:
 * out of memory. */
int frames_aside(struct frames_in *f, size_t *at, struct buffer *to, uint64_t *plain);
/* Go to an offset of the data, by the tables. 0, or -1. */
int frames_seek(struct frames_in *f, uint64_t offset);
/* Test whether offsets in the data are not known after damage. */
bool frames_lost(const struct frames_in *f);

#endif
