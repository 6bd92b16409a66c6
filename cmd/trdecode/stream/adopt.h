/*
 * adopt.h - writes the calls that are open where a saved stream begins
 *
 * The output's snapshot then has the calls of the input's (SNAPSHOT in trstream(5)).
 */
#ifndef TR_TRDECODE_STREAM_ADOPT_H
#define TR_TRDECODE_STREAM_ADOPT_H

#include "cmd/trdecode/stream/ids.h"
#include "common/stream/snapshot.h"

/* Have the output's maker of snapshots adopt a block whose field snapshot is set; before the first
 * row. The input's shift must be known. Returns 0, or -1 with the writer's error. */
int stream_adopt(struct stream_ids *s, const struct block *b);

#endif
