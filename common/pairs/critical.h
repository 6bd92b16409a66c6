/*
 * critical.h - --why EXPR: the critical paths of the calls, or of the threads, for which EXPR is
 * true
 *
 *     name == "commit" && dur > 10ms      each such call, from its enter to its leave; one that is
 *                                         open at the end up to the end of its thread
 *     comm == "worker"                    EXPR tests threads alone: each such thread, from its
 *                                         first event, turn or wakeup to its end
 *
 * The past of threads (common/scheduling/waits.h) is kept while a call is open for which EXPR may
 * become true, by what is known at its enter. Calls inside each other of one thread share their
 * path, which is divided once: up to the leave of each such call, and where much is kept, up to the
 * present state of its thread. A part belongs to the open call that began last before it:
 *
 *     outer    |=============|       the parts of outer up to the enter of inner; those of inner,
 *     inner         |====|           which belong to outer when inner has ended; the rest
 *
 * The time of a thread is divided each time that it leaves its CPU, so that nothing older needs to
 * be kept.
 */
#ifndef TR_PAIRS_CRITICAL_H
#define TR_PAIRS_CRITICAL_H

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
	bool begins;		 /* a call, or the first part of a thread */
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
	bool certain; /* the condition depends on what is known at the enter of a call alone */
	/* Open calls for which the condition may become true; 0 is none. */
	struct path_call *open;
	size_t calls_size;
	uint32_t calls_used, calls_free; /* free: the first, linked by after */
	uint32_t nopen;
	uint32_t stream;
	struct why_thread {
		bool named; /* the condition was tested where another thread named it */
		bool follows;
		bool divided;	 /* a part of its time was */
		uint64_t since;	 /* its path is known up to here */
		uint32_t last;	 /* of its open calls: number of the one that began last; 0 none */
		uint32_t doubts; /* how many of them are not certain */
	} * threads;		 /* by task; 0: threads that the source does not record */
	size_t nthreads;
	uint32_t divides; /* the open call that parts are compared with, while a time is divided */
	uint64_t last;	  /* time of the last event */
	bool has_calls;
	struct clocks clocks;
	const struct why_use *use; /* the caller's */
	void *ctx;
};

/* What the caller does with paths; -1: out of memory. */
struct why_use {
	/* A span is asked for: a part of the time of a thread, or a call for which the condition
	   is true. call: number of the call, whose path is that of its parts and of the parts of
	   calls that began later; 0: the next parts are those of the span. */
	int (*span)(void *ctx, const struct why_span *s, uint32_t call);
	/* A part that belongs to an open call; 0: to the last span. The latest is first. */
	int (*part)(void *ctx, const struct wait_part *p, uint32_t call);
	/* The parts since the last use are all of one time of a thread. certain: they are those of
	   a span, or the condition is true of all its open calls. May be NULL. */
	int (*divided)(void *ctx, uint32_t task, bool certain);
	/* An open call ends: its parts belong to another one, 0 none. */
	int (*end)(void *ctx, uint32_t call, uint32_t into);
	/* The trace ends, and another one may follow, whose threads are others. May be NULL. */
	int (*ended)(void *ctx);
};

/* A call that is open, for which the condition may become true. */
struct path_call {
	uint64_t start;
	uint32_t task;		/* of its thread */
	uint32_t before, after; /* of its thread: those that began before, and after it; 0 none */
	bool certain;		/* the condition is true, by what is known at the enter */
};

/* Functions that return int return 0, or -1 when out of memory. */

/* Begin, before the first block. The caller sets use and ctx, and calls why_free in any case. */
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
