/*
 * tracks.h - the timelines of viewers: a process and a thread number for each thread of a stream,
 * no pair twice; lists of records
 *
 * Viewers identify a timeline by its process and thread. In a stream several threads may have the
 * same numbers (those of several recordings; the idle threads, which are all 0) or none (a CPU's
 * interrupts). The first keeps its numbers, the others get numbers that no system assigns.
 */
#ifndef TR_TRENCODE_TRACKS_H
#define TR_TRENCODE_TRACKS_H

#include "common/stream/dictionary.h"
#include "common/stream/event.h"
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
	struct {
		struct intern keys; /* source and pid */
		uint32_t *name;	    /* by number of the key: string of the dictionary */
		size_t capacity;
		struct buffer part; /* pieces of the META part that is read */
	} names;		    /* of processes, that the stream has */
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

/* Get the track of a thread (number of calls_thread) with this lane, NULL when out of memory.
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

/* Set *name, of a track that is renamed, to its display name with its number: "app [7]". Returns 0,
 * or -1 when out of memory. */
int track_rename(struct track *t, const struct lane *lane, struct buffer *name);

/*
 * Records of one size in lists, each of which is read several times from its beginning.
 *
 * All lists share one buffer that spills (common/util/buffer.h), so memory does not depend on
 * their number of records. A function that returns int returns 0, or -1 when out of memory.
 */

/* The records of all lists. A chunk of a list is the offsets of its next chunk and of the one
 * before it, then RECORDS_CHUNK records. */
struct record_store {
	struct buffer bytes;
	size_t record;	/* size of a record, bytes */
	size_t touched; /* bytes read or written since the memory was released */
};

enum { RECORDS_CHUNK = 64 };

/* One list. */
struct record_list {
	size_t first, last; /* offsets of chunks; valid if there are records */
	uint64_t count;
};

void record_store_init(struct record_store *r, size_t record);
void record_store_free(struct record_store *r);
int record_add(struct record_store *r, struct record_list *list, const void *record);

/* A position in a list. */
struct record_cursor {
	size_t chunk;
	uint64_t at; /* number of the next record */
};

/* Get the next record of a list, valid until the next call; NULL: there is none. *c is zero at
 * the beginning. */
const void *record_next(struct record_store *r, const struct record_list *list,
			struct record_cursor *c);

/* Take the last record off a list, valid until the next call; NULL: there is none. */
const void *record_take_last(struct record_store *r, struct record_list *list);

#endif
