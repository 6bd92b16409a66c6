/*
 * part.h - consecutive segments of a stream, and what they leave undecided
 *
 * Finished rows of a part are in the groups already. The part has what depends on earlier and later
 * segments: for each thread the list of operations (common/calls/partial_stack.h) with the held
 * rows and doubts at each of them (bracket.h). Parts are joined by feeding their lists, in the
 * order of the stream, to statistics that have taken all earlier parts.
 */
#ifndef TR_TRSTAT_SUMMARY_PART_H
#define TR_TRSTAT_SUMMARY_PART_H

#include "common/calls/partial_stack.h"
#include "cmd/trstat/groups/statistics.h"

struct part_held {
	uint64_t position;
	uint32_t open;		      /* flags of OPEN_HELD */
	const struct key_cell *cells; /* cells of the keys */
	struct aggregate *aggregate;
};

struct part_doubt {
	uint64_t position;
	uint32_t location;
	/* number of the thread's held rows that the doubt belongs to, + 1; 0: those of group */
	uint32_t held;
	struct aggregate *group;
	uint64_t number; /* number of the group in the summary that it was read from */
	uint128 total;
};

struct part_thread {
	const struct lane *lane;
	bool per_cpu; /* calls are those of the lane's CPU, not of its thread */
	struct partial_stack *list;
	struct part_held *held;
	size_t nheld, held_capacity;
	struct part_doubt *doubts;
	size_t ndoubts, doubts_capacity;
};

struct part {
	uint64_t stream_id;
	uint32_t first, last; /* sequence numbers of its first and last segment */
	bool ends;	      /* the last segment is the stream's last one */
	const char *file;     /* file that it was read from, for messages */
	/* programs that the stream went through, separated by " | "; or NULL */
	char *stages;
	struct part_thread *threads;
	size_t nthreads, threads_capacity;
	struct partial_stack *numbered;
	/* cells of the keys that are fields, from the enters of open calls. With the key stack
	 * also the caller of the lowest call in the kernel, and its position in the list on top of
	 * that caller. */
	struct key_cell *entered;
	size_t nentered, pending_keys_capacity;
	struct bracket bracket;
};

/* Returns the thread's number in the dictionary. */
static inline uint32_t part_thread_number(const struct lane *l, bool per_cpu)
{
	return per_cpu ? l->cpu_thread : l->thread;
}

/*
 * Start a part; s has no calls yet. first: number of the part's first segment in the stream. p must
 * not move until part_end. Returns -1 when out of memory.
 */
int part_begin(struct part *p, struct statistics *s, uint64_t stream_id, uint32_t first);
/*
 * Finish a part: decided values are in the groups, the rest is moved to p, and s has no calls any
 * more. A part that is the whole stream leaves nothing. Returns -1 when out of memory.
 */
int part_end(struct part *p, struct statistics *s);
void part_free(struct part *p);

enum { ENTERED_CALLER, ENTERED_POSITION, ENTERED_STACK }; /* ENTERED_STACK: number of the cells */

/* Number of cells of an entry of part.entered. */
static inline size_t part_entered_size(const struct statistics *s)
{
	return s->entered.fields + (s->stacks ? ENTERED_STACK : 0);
}

/* Keep the cells that the enter of an open call had for the keys that are fields, and
 * ENTERED_STACK cells (each may be NULL: nothing), in s->part. Returns -1 when out of memory. */
int part_keep_entered(struct statistics *s, const struct key_cell *cells,
		      const struct key_cell *stack, struct cut_op *op);

/*
 * Hold the groups of detached stacks (call_stacks.h), in a part that begins the stream while
 * threads had calls open. They are held at the first operation of their thread's list. To be called
 * before calls are closed. Returns -1 when out of memory.
 */
int part_hold_stacks(struct part *p, struct statistics *s);

static inline bool part_is_whole(const struct part *p)
{
	return !p->first && p->ends;
}

/* Feed p to statistics that have taken all earlier parts. Returns -1 when out of memory, or if
 * p's numbers are impossible (errno EOVERFLOW). */
int part_replay(const struct part *p, struct statistics *s);

#endif
