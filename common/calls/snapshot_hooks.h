/*
 * snapshot_hooks.h - snapshots of a filter, which makes them from the rows that it passes on
 *
 *     stage.snapshots = &snapshot_hooks;       after stage_open
 */
#ifndef TR_CALLS_SNAPSHOT_HOOKS_H
#define TR_CALLS_SNAPSHOT_HOOKS_H

#include "common/stream/writer.h"

/* Of a filter that passes on all rows, but may name functions. Which rows an exec has changed shows
 * in its name only: a snapshot with calls that had no names is marked as approximate. */
extern const struct snapshot_hooks snapshot_hooks;
/* Of a filter that leaves out rows of calls, and rejects those calls of the snapshots that it
 * passes on (snapshot_reject). */
extern const struct snapshot_hooks snapshot_hooks_selective;

#endif
