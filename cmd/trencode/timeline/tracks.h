/*
 * tracks.h - a process and a thread number for each thread of a stream, no pair twice
 *
 * Viewers identify a timeline by its process and thread. In a stream several threads may have the
 * same numbers (those of several recordings; the idle threads, which are all 0) or none (a CPU's
 * interrupts). The first keeps its numbers, the others get numbers that no system assigns.
 */
#ifndef TR_TRENCODE_TIMELINE_TRACKS_H
#define TR_TRENCODE_TIMELINE_TRACKS_H

#include "common/stream/dictionary.h"
#include "common/stream/reader.h"
#include "common/util/buffer.h"

enum { TRACK_MADE_UP = 1 << 22 }; /* no thread of Linux has a number above it */

/* The timeline of one thread. */
struct track {
	uint32_t thread; /* number of calls_thread + 1; 0: not used */
	int32_t pid, tid;
	uint32_t comm;	  /* string number of its present name */
	uint32_t process; /* index of its process */
	bool made_up;	  /* the stream has another tid, or no tid */
	bool per_cpu;	  /* events of a CPU, whichever thread runs there */
	bool renamed;	  /* it has a new name, or is new; the encoder clears it */
	void *user;	  /* private to the encoder */
};

/* One process of a source. */
struct track_process {
	uint32_t source; /* number */
	int32_t pid, shown;
	uint32_t comm;
	bool renamed; /* as of a track */
	bool named;   /* its name, or none, is not that of a thread */
};

/* The names of processes that the stream has. */
struct track_names {
	struct intern keys; /* source and pid */
	uint32_t *name;	    /* by number of the key: string of the dictionary */
	size_t capacity;
	struct buffer part; /* pieces of the META part that is read */
};

/* The numbers that processes, or threads, got. */
struct track_numbers {
	struct intern keys; /* of them */
	int32_t *given;	    /* by number of the key */
	size_t capacity;
	struct intern used; /* numbers in use */
	int32_t next;	    /* made-up number */
};

/* The timelines of one stream. */
struct tracks {
	struct track_numbers process_numbers, thread_numbers;
	struct track *tracks; /* by thread number */
	size_t count;
	struct track_process *processes;
	size_t nprocesses, processes_capacity;
	struct intern keys; /* source and pid; number: index of the process */
	struct track_names names;
	bool process_tids; /* tids of lanes with LANE_PROCESS_TID are unique in their process only
			    */
};

void tracks_free(struct tracks *t);

/* Take a piece of a META part, which may have names of processes. Returns 0, or -1 when out of
 * memory. */
int tracks_meta(struct tracks *t, struct dictionary *d, const struct meta *m);

/* Get a number for process `which` of the encoder's own, of a source. Returns 0, or -1 when out of
 * memory. */
int tracks_new_process(struct tracks *t, uint32_t source, int32_t which, int32_t *pid);

/* Get the number that a process of a source has in the output. Returns 0, or -1 when out of memory.
 */
int tracks_pid(struct tracks *t, uint32_t source, int32_t pid, int32_t *shown);

/* Returns the track of a thread (number of calls_thread) with this lane, NULL when out of memory.
 * The next call with a new thread may move it. */
struct track *tracks_new(struct tracks *t, uint32_t thread, const struct lane *lane);

static inline struct track *tracks_get(struct tracks *t, uint32_t thread, const struct lane *lane)
{
	if (__builtin_expect(thread < t->count && t->tracks[thread].thread &&
				     t->tracks[thread].comm == lane->comm.number,
			     1))
		return &t->tracks[thread];
	return tracks_new(t, thread, lane);
}

/* Test whether it has a name: that of the thread or CPU, or one made of its recorded number. */
static inline bool track_is_named(const struct track *t, const struct lane *lane)
{
	return lane->comm.size || (t->per_cpu ? lane->flags & LANE_HAS_CPU : t->made_up);
}

/* Test for the lane of a track that was read from Perfetto's format and is not that of a thread:
 * the buffer is its name. */
bool track_is_other(const struct lane *lane);

/* Append its display name: comm, "CPU 3", or "swapper/1" style for threads without a number of
 * their own. Returns 0, or -1 when out of memory. */
int track_name(const struct track *t, const struct lane *lane, struct buffer *to);

#endif
