/*
 * adopt.h - writes the calls that are open where a saved stream begins, or goes on after a loss
 *
 * The output's snapshot then has the calls of the input's (SNAPSHOT in trstream(5)).
 */
#ifndef TR_TRDECODE_STREAM_ADOPT_H
#define TR_TRDECODE_STREAM_ADOPT_H

#include "cmd/trdecode/stream/ids.h"
#include "common/stream/snapshot.h"

/* Prepare to adopt a snapshot: the calls of the input's present stream that are open end. begun:
 * rows were written, and the snapshot is that of another segment of the output. Functions return 0,
 * or -1 with the writer's error. */
int stream_inside(struct stream_ids *s, bool begun);
/* Have the output's maker of snapshots adopt a block whose field snapshot is set. The input's shift
 * must be known. */
int stream_adopt(struct stream_ids *s, const struct block *b);

#endif
