/*
 * part.h - segments of a stream that followed each other, and what they leave undecided
 *
 * Finished rows of a part are in the groups already. What waits for the segments before it, and for
 * those behind it, stands in a part: for each thread the list of operations (common/cut.h) with
 * what is held and doubted at each of them (bracket.h). To join parts is to feed their lists, in
 * the order of the stream, to statistics that have seen what comes before.
 */
#ifndef TR_TRSTAT_SUMMARY_PART_H
#define TR_TRSTAT_SUMMARY_PART_H

#include "common/calls/partial_stack.h"
#include "cmd/trstat/groups/statistics.h"

struct part_held {
	uint64_t position;
	uint32_t open;		      /* of OPEN_HELD */
	const struct key_cell *cells; /* the keys' */
	struct aggregate *aggregate;
};

struct part_doubt {
	uint64_t position;
	uint32_t location;
	uint32_t held; /* the thread's held rows that it is about, by number + 1; 0: those of group
			*/
	struct aggregate *group;
	uint64_t number; /* of the group in the summary that it was read from */
	uint128 total;
};

struct part_thread {
	const struct lane *lane;
	bool per_cpu; /* the lane's CPU, not its thread */
	struct partial_stack *list;
	struct part_held *held;
	size_t nheld, held_capacity;
	struct part_doubt *doubts;
	size_t ndoubts, doubts_capacity;
};

struct part {
	uint64_t stream_id;
	uint32_t first, last; /* sequence numbers of its segments */
	bool ends;	      /* the last one is that of the stream */
	const char *file;     /* that it was read from; for messages */
	char *stages;	      /* that its stream went through, with " | " between them; or NULL */
	struct part_thread *threads;
	size_t nthreads, threads_capacity;
	struct partial_stack *numbered;
	/* what enters of open calls had of the keys that are fields; and with the key stack of the
	   lowest call in the kernel its caller, and where in the list that is on top of it */
	struct key_cell *entered;
	size_t nentered, pending_keys_capacity;
	struct bracket bracket;
};

/* The thread's number in the dictionary. */
static inline uint32_t part_thread_number(const struct lane *l, bool per_cpu)
{
	return per_cpu ? l->cpu_thread : l->thread;
}

/*
 * Begin to take rows for a part: s has no calls yet. first: its first segment's number in the
 * stream. p stays where it is until part_end. -1: out of memory.
 */
int part_begin(struct part *p, struct statistics *s, uint64_t stream_id, uint32_t first);
/*
 * The part is at its end: s has no calls any more, and the groups what was decided; the rest goes
 * into p. A part that is the whole stream leaves nothing. -1: out of memory.
 */
int part_end(struct part *p, struct statistics *s);
void part_free(struct part *p);

enum { ENTERED_CALLER, ENTERED_POSITION, ENTERED_STACK }; /* the latter: how many */

/* Cells of one of part.entered. */
static inline size_t part_entered_size(const struct statistics *s)
{
	return s->entered.fields + (s->stacks ? ENTERED_STACK : 0);
}

/* What the enter of an open call had of the fields among the keys, and ENTERED_STACK cells (each
 * NULL: nothing) go with it into s->part. -1: out of memory. */
int part_keep_entered(struct statistics *s, const struct key_cell *cells,
		      const struct key_cell *stack, struct cut_op *op);

/*
 * Groups of stacks that hang in the air (call_stacks.h), where the beginning was seen but threads
 * were in the middle of things: they are held, at the first operation of their thread's list. Calls
 * are not closed yet. -1: out of memory.
 */
int part_hold_stacks(struct part *p, struct statistics *s);

static inline bool part_is_whole(const struct part *p)
{
	return !p->first && p->ends;
}

/* Feed what p holds to statistics that have seen what comes before. -1: out of memory, or its
 * numbers are impossible (errno EOVERFLOW). */
int part_replay(const struct part *p, struct statistics *s);

#endif
