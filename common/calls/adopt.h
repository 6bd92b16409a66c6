/*
 * adopt.h - takes over the open calls of a snapshot, where reading begins inside a stream or goes
 * on after a loss
 *
 *     case BLOCK_SNAPSHOT:
 *             if (b->snapshot && calls_adopt(&calls, b->snapshot))
 *                     ... out of memory
 *
 * All calls of the stream that are open end without being counted or reported, except to
 * calls.on_drop; those of the snapshot are open instead. With calls.on_drop, a call that is open
 * before and in the snapshot goes on, without a call of either function. calls.on_restore is called
 * for each of them with an enter, after its frame was pushed, as if calls_feed had returned
 * CALLS_ENTER for that row, also for calls in the kernel outside any call (frames[0].outside):
 * outermost first, then the calls in the kernel, then those with numbers. The event's time is that
 * of the enter. calls.stack and calls.ignored are set too, with calls.balances. Calls without an
 * enter are in stack.unseen; if a callee of the innermost of them has ended, that call is
 * frames[0], with begun false. With calls.balances all of them are frames.
 *
 * Of a stack with calls in the kernel, kernel_base and gone describe the stack below them at the
 * time of their enter. They are set before on_restore of the lowest of these, and valid until the
 * next row of the stack.
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
