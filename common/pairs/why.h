/*
 * why.h - --why EXPR: the critical paths of the calls, or of the threads, for which EXPR is true
 *
 *     name == "commit" && dur > 10ms      each such call, from its enter to its leave; one that is
 *                                         open at the end up to the end of its thread
 *     comm == "worker"                    EXPR tests threads alone: each such thread, from its
 *                                         first event, turn or wakeup to its end
 *
 * The past of threads (common/scheduling/waits.h) is kept while a call is open for which EXPR may
 * become true, by what is known at its enter. The time of a thread is divided each time that it
 * runs again, so that nothing older needs to be kept.
 */
#ifndef TR_PAIRS_WHY_H
#define TR_PAIRS_WHY_H

#include "common/calls/calls.h"
#include "common/pairs/pair.h"
#include "common/scheduling/waits.h"
#include "common/stream/clocks.h"

/* A time whose path follows: a call, or a part of the time of a thread. */
struct why_span {
	uint64_t begin, end;
	uint32_t task;		 /* number in waits.tasks */
	const struct lane *lane; /* of the thread */
	uint32_t location;	 /* of the call; 0: unknown, or of a thread */
	bool begins;		 /* of a thread: its first part */
};

struct why {
	const struct condition *condition; /* EXPR: the caller's */
	bool of_threads;
	struct dictionary *dictionary;
	struct calls calls;
	struct waits waits;
	struct key_texts texts;
	struct key_cell *cells; /* of the condition's keys */
	bool *early;		/* by key: known at the enter of a call */
	uint8_t *answers;	/* by location, or for threads by lane: 0 not asked, 1 no, 2 yes */
	size_t nanswers;
	bool cached; /* answers at enters depend on the location alone */
	uint32_t symbol_changes;
	uint64_t open; /* calls for which the condition may become true */
	uint32_t stream;
	struct why_thread {
		bool named; /* the condition was tested where another thread named it */
		bool follows;
		bool divided;	/* a part of its time was */
		uint64_t since; /* its path is known up to here */
	} * threads;		/* by task */
	size_t nthreads;
	uint64_t last; /* time of the last event */
	bool has_calls;
	struct clocks clocks;
	/* The caller's. Called for each span, and then for each part of its path, the latest first.
	   -1: out of memory. */
	int (*span)(void *ctx, const struct why_span *s);
	int (*part)(void *ctx, const struct wait_part *p);
	void *ctx;
};

/* Functions that return int return 0, or -1 when out of memory. */

/* Begin, before the first block. The caller sets span, part and ctx, and calls why_free in any
 * case. */
int why_init(struct why *y, const struct condition *c, struct dictionary *d);
void why_free(struct why *y);

/* Take an event; or a block of any kind. */
int why_event(struct why *y, const struct event *e);
int why_block(struct why *y, const struct block *b);
/* End what is open at the end of the trace. */
int why_finish(struct why *y);

/* Append a part in words, such as "running in compress" or "waiting for a CPU behind hog-13". */
int why_part_text(struct why *y, const struct wait_part *p, struct buffer *b);

#endif
