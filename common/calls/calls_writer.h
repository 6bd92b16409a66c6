/*
 * calls_writer.h - writes the calls that are open where a segment begins, so that the segment can
 * be read alone (SNAPSHOT in trstream(5))
 *
 *     calls = calls_writer_new(&writer)        before the first block
 *     ...                                      the writer does the rest (writer_calls)
 *     calls_writer_free(calls)
 *
 * It reads the blocks that its program writes as a reader of the stream would, with a dictionary of
 * its own, so refused rows, fast ways to write rows and the order of decoding make no difference.
 * It keeps the enter's row of each open call, in a temporary file beyond 1 MiB.
 */
#ifndef TR_CALLS_CALLS_WRITER_H
#define TR_CALLS_CALLS_WRITER_H

#include "common/stream/writer.h"

struct calls_writer;

/* Follow the calls of the writer's stream, which the writer has declared itself. NULL: out of
 * memory. */
struct calls_writer *calls_writer_new(struct writer *w);
void calls_writer_free(struct calls_writer *m);

/* Take a SNAPSHOT of an input, with the ids of the stream that is written: its calls are open in
 * the place of all others. Returns 0, or -1 with the writer's error. */
int calls_writer_take(struct calls_writer *m, const struct block *b);
/* Note, in a segment without rows, that the rows of some sources begin inside a stream or follow a
 * loss. The open calls of these sources are forgotten; calls of other sources stay open. Blocks
 * that are taken later in the segment add calls. A stack has started if the writer's program
 * declares its lane as started. sources: by the writer's id, true for each such source. */
int calls_writer_lose(struct calls_writer *m, const uint8_t *sources, size_t n);
/* Note that calls may be missing among those of the present segment. */
void calls_writer_miss(struct calls_writer *m);

#endif
