/*
 * adopt.h - takes over the open calls of a snapshot, where reading begins inside a stream or goes
 * on after a loss
 *
 *     case BLOCK_SNAPSHOT:
 *             if (b->snapshot && calls_adopt(&calls, b->snapshot))
 *                     ... out of memory
 *
 * The open calls of the stream are dropped: they are not counted, and only calls.on_drop reports
 * them. The calls of the snapshot are open instead. With calls.on_drop, a call that is open before
 * the snapshot and in it stays open, and neither function is called.
 *
 * calls.on_restore is called for each call of the snapshot that has an enter, after its frame was
 * pushed, as if calls_next had returned CALLS_ENTER for the enter. This includes calls in the
 * kernel outside any call (frames[0].outside). The order is: outermost first, then the calls in the
 * kernel, then calls with numbers. The event's time is the time of the enter. With calls.balances,
 * calls.stack and calls.ignored are set too. Calls without an enter are counted in stack.unseen; if
 * a callee of the innermost of them has ended, that call is frames[0], with begun false. With
 * calls.balances all calls without an enter are frames.
 *
 * If a stack has calls in the kernel, kernel_base and gone describe the stack below these calls at
 * the time of their enter. Both are set before on_restore of the lowest of these calls, and are
 * valid until the next row of the stack.
 */
#ifndef TR_CALLS_ADOPT_H
#define TR_CALLS_ADOPT_H

#include "common/calls/calls.h"
#include "common/stream/snapshot.h"

/* Adopt one block of a snapshot, which may have several. -1: out of memory, or on_restore
 * failed. */
int calls_adopt(struct calls *c, const struct snapshot *s);

/* Drop all open calls, of any stream. */
void calls_drop_all(struct calls *c);
/* Drop the open calls of some sources, as adopting a snapshot of these alone would. sources: by
 * number, whether the source is one of them. -1: out of memory. */
int calls_drop_sources(struct calls *c, const uint8_t *sources);

#endif
