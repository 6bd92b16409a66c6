/*
 * part.h - segments of a stream that followed each other, and what they leave undecided
 *
 * Finished rows of a part are in the groups already. What waits for the segments before it, and for
 * those behind it, stands in a part: for each thread the list of operations (common/cut.h) with
 * what is held and doubted at each of them (bracket.h). To join parts is to feed their lists, in
 * the order of the stream, to statistics that have seen what comes before.
 */
#ifndef TR_PART_H
#define TR_PART_H

#include "common/cut.h"
#include "statistics.h"

struct part_held {
	uint64_t position;
	uint32_t open;		      /* of OPEN_HELD */
	const struct key_cell *cells; /* the keys' */
	struct aggregate *aggregate;
};

struct part_doubt {
	uint64_t position;
	uint32_t place;
	uint32_t held; /* the thread's held rows that it is about, by number + 1; 0: those of group
			*/
	struct aggregate *group;
	uint128 total;
};

struct part_thread {
	const struct lane *lane;
	bool per_cpu; /* the lane's CPU, not its thread */
	struct cut *list;
	struct part_held *held;
	size_t nheld, held_capacity;
	struct part_doubt *doubts;
	size_t ndoubts, doubts_capacity;
};

struct part {
	uint64_t stream_id;
	uint32_t first, last; /* sequence numbers of its segments */
	bool ends;	      /* the last one is that of the stream */
	bool filtered;	      /* HEAD_FILTERED */
	const char *file;     /* that it was read from; for messages */
	struct part_thread *threads;
	size_t nthreads, threads_capacity;
	struct cut *numbered;
	struct key_cell *entered; /* what enters of open calls had of the keys */
	size_t nentered, entered_capacity;
	struct bracket bracket;
};

/* The thread's number in the dictionary. */
static inline uint32_t part_thread_number(const struct lane *l, bool per_cpu)
{
	return per_cpu ? l->cpu_thread : l->thread;
}

/*
 * Begin to take rows for a part: s has no calls yet. first: its first segment's number in the
 * stream. p stays where it is until part_end. -1: memory is out.
 */
int part_begin(struct part *p, struct statistics *s, uint64_t stream_id, uint32_t first,
	       bool filtered);
/*
 * The part is at its end: s has no calls any more, and the groups what was decided; the rest goes
 * into p. A part that is the whole stream leaves nothing. -1: memory is out.
 */
int part_end(struct part *p, struct statistics *s);
void part_free(struct part *p);

/* What the enter of an open call had of the keys (NULL: nothing) goes with it into s->part. -1:
 * memory is out. */
int part_keep_entered(struct statistics *s, const struct key_cell *cells, struct cut_op *op);

static inline bool part_is_whole(const struct part *p)
{
	return !p->first && p->ends;
}

/* Feed what p holds to statistics that have seen what comes before. -1: memory is out, or its
 * numbers are impossible (errno EOVERFLOW). */
int part_replay(const struct part *p, struct statistics *s);

#endif
