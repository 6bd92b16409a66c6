/*
 * calls_writer.h - writes the snapshots of a stream (trstream(5)) from the blocks that its
 * program writes
 *
 *     calls_writer_new(&writer, ...)         before the first block
 *     ...                                      the writer does the rest (writer_snapshots)
 *     calls_writer_free(maker)
 *
 * The maker reads the blocks as a reader of the stream would, with a dictionary of its own, so
 * refused rows, fast ways to write rows and the order of decoding make no difference. It keeps the
 * enter's row of each open call, in a temporary file beyond 1 MiB.
 */
#ifndef TR_CALLS_CALLS_WRITER_H
#define TR_CALLS_CALLS_WRITER_H

#include "common/stream/snapshot.h"
#include "common/stream/writer.h"

struct calls_writer;

/* Make a maker for the writer's stream, which the writer has declared itself. NULL: out of memory.
 */
struct calls_writer *calls_writer_new(struct writer *w);
void calls_writer_free(struct calls_writer *m);

/* Adopt a snapshot block of an input, with the ids of the stream that is written, in the place of
 * all calls that are open. Returns 0, or -1 with the writer's error. */
int calls_writer_take(struct calls_writer *m, const struct block *b);
/* Note, in a segment without rows, that the rows of some sources begin inside a stream or follow a
 * loss. The open calls of these sources are dropped; calls of other sources stay open. Blocks that
 * are adopted later in the segment add calls. A stack has
 * started if the writer's program declares its lane as started. sources: by the writer's id, true
 * for each such source. */
int calls_writer_lose(struct calls_writer *m, const uint8_t *sources, size_t n);
/* Mark the snapshot of the present segment as approximate: calls may be missing. */
void calls_writer_miss(struct calls_writer *m);

#endif
