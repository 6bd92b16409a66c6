/*
 * snapshot_maker.h - writes the snapshots of a stream (trstream(5)) from the blocks that its
 * program writes
 *
 *     snapshot_maker_new(&writer, ...)         before the first block
 *     ...                                      the writer does the rest (writer_snapshots)
 *     snapshot_maker_free(maker)
 *
 * The maker reads the blocks as a reader of the stream would, with a dictionary of its own, so
 * refused rows, fast ways to write rows and the order of decoding make no difference. It keeps the
 * enter's row of each open call, in a temporary file beyond 1 MiB.
 */
#ifndef TR_CALLS_SNAPSHOT_MAKER_H
#define TR_CALLS_SNAPSHOT_MAKER_H

#include "common/stream/snapshot.h"
#include "common/stream/writer.h"

struct snapshot_maker;

/* Make a maker for the writer's stream, which the writer has declared itself. NULL: out of memory.
 */
struct snapshot_maker *snapshot_maker_new(struct writer *w);
void snapshot_maker_free(struct snapshot_maker *m);

/* Adopt a snapshot block of an input, with the ids of the stream that is written, in the place of
 * all calls that are open. Returns 0, or -1 with the writer's error. */
int snapshot_maker_adopt(struct snapshot_maker *m, const struct block *b);
/* Note, in a segment without rows, that the rows of some sources begin inside a stream or follow a
 * loss. The open calls of these sources are dropped; calls of other sources stay open. Blocks that
 * are adopted later in the segment add calls. A stack has
 * started if the writer's program declares its lane as started. sources: by the writer's id, true
 * for each such source. */
int snapshot_maker_inside(struct snapshot_maker *m, const uint8_t *sources, size_t n);
/* Mark the snapshot of the present segment as approximate: calls may be missing. */
void snapshot_maker_miss(struct snapshot_maker *m);

#endif
