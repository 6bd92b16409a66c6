/*
 * tracks.h - a process and a thread number for each thread of a stream, no pair twice
 *
 * Viewers know a lane of the picture by its process and thread. In a stream several threads may
 * have the same numbers (those of several recordings; the idle threads, which are all 0) or none (a
 * CPU's interrupts). The first keeps its own numbers, the others get numbers that no system gives.
 */
#ifndef TR_TRENCODE_TIMELINE_TRACKS_H
#define TR_TRENCODE_TIMELINE_TRACKS_H

#include "common/stream/dictionary.h"
#include "common/util/buffer.h"

enum { TRACK_MADE_UP = 1 << 22 }; /* no thread of Linux has a number above it */

struct track {
	uint32_t thread; /* its number + 1, as calls_thread gives it; 0: not used */
	int32_t pid, tid;
	uint32_t comm;	  /* number of its present name */
	uint32_t process; /* index of its process */
	bool made_up;	  /* the stream has another tid, or no tid */
	bool per_cpu;	  /* what happens on a CPU, whichever thread runs there */
	bool renamed;	  /* it has a new name, or is new: the encoder takes it back */
	void *user;	  /* the encoder's own */
};

struct track_process {
	uint32_t source; /* number */
	int32_t pid, shown;
	uint32_t comm;
	bool renamed; /* as of a track */
};

struct tracks {
	struct track *tracks; /* by thread number */
	size_t count;
	struct track_process *processes;
	size_t nprocesses, processes_capacity;
	struct intern pids, tids, keys; /* that are used; source and pid: index of the process */
	int32_t next_pid, next_tid;
	bool process_tids; /* tids of lanes with LANE_PROCESS_TID are taken within their process */
};

void tracks_free(struct tracks *t);

/* The track of a thread (calls_thread's number), of which this is a lane. NULL: out of memory. It
 * may move with the next call that names a new thread. */
struct track *tracks_new(struct tracks *t, uint32_t thread, const struct lane *lane);

static inline struct track *tracks_get(struct tracks *t, uint32_t thread, const struct lane *lane)
{
	if (__builtin_expect(thread < t->count && t->tracks[thread].thread &&
				     t->tracks[thread].comm == lane->comm.number,
			     1))
		return &t->tracks[thread];
	return tracks_new(t, thread, lane);
}

/* Has it a name: that of the thread or CPU, or one with the number that it had? */
static inline bool track_is_named(const struct track *t, const struct lane *lane)
{
	return lane->comm.size || (t->per_cpu ? lane->flags & LANE_HAS_CPU : t->made_up);
}

/* What people call it: comm, "CPU 3", or "swapper/1" style for what has no number of its own. -1:
 * out of memory. */
int track_name(const struct track *t, const struct lane *lane, struct buffer *to);

#endif
