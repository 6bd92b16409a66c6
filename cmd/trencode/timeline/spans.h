/*
 * spans.h - calls as spans with a begin and an end, for the formats that draw or list them
 *
 * Pairing is that of common/calls. Here each thread's open calls are kept beside it, with what the
 * encoder wants to have back at the end of the call, and every call that was begun comes to an end:
 * by its return, or without one, at the trace's end or where the trace shows that it is over
 * (longjmp, exec, lost events).
 *
 * The spans of one lane of the picture (a thread's calls, its calls in the kernel, a CPU's
 * interrupts) nest; those that do not fit, as calls of apitrace may, are crossing.
 */
#ifndef TR_TRENCODE_TIMELINE_SPANS_H
#define TR_TRENCODE_TIMELINE_SPANS_H

#include "cmd/trencode/convert/attributes.h"
#include "common/calls/calls.h"
#include "common/calls/open_calls.h"

struct span {
	const struct lane *lane;   /* of its begin; where that is not known, of its end */
	const struct type *type;   /* the same; NULL unknown */
	uint32_t thread;	   /* number, as calls_thread gives it */
	uint32_t location, caller; /* numbers; place 0: never known */
	uint32_t level;		   /* calls open below */
	uint32_t beside;	   /* open when it began: of a call with a number the thread's calls
				      without one, and the other way round */
	uint64_t start, end;
	uint64_t self;	 /* time not spent in callees */
	bool has_self;	 /* it is known; so is caller, and recursive */
	bool recursive;	 /* one of the same place is open below */
	bool begun;	 /* begin was called for it; else it is open since before the trace */
	bool unfinished; /* no return was seen */
	bool exec;	 /* with unfinished: an exec has ended all calls of the thread */
	bool kernel;	 /* a call in the kernel, on top of the thread's others */
	bool crossing;	 /* overlaps another one of the same thread without being inside of it */
	const struct buffer
		*kept; /* kept_size bytes from kept_at on are what begin kept; it spills */
	size_t kept_at, kept_size;
	uint64_t token; /* what begin gave */
	/* what is open, this call on top; its frames' tokens are the encoder's. NULL: begin was not
	   called, or the call has a number */
	struct span_stack *stack;
};

/* What an encoder does with them; each may be NULL, and returns 0, or -1 with e filled. */
struct span_sink {
	/* A call begins. What is appended to keep, and *token, are there again at its end. */
	int (*begin)(void *ctx, const struct event *enter, const struct span *s,
		     struct buffer *keep, uint64_t *token, struct error *e);
	/* It ends; leave is NULL if it has no return. */
	int (*end)(void *ctx, const struct span *s, const struct event *leave, struct error *e);
	/* Anything else: instants, counters, gaps. */
	int (*other)(void *ctx, const struct event *ev, struct error *e);
};

struct span_frame {
	uint64_t start, token;
	size_t kept; /* where what is kept of it begins */
	const struct lane *lane;
	const struct type *type;
	uint32_t location, beside;
	uint64_t serial; /* of the calls on the stacks, by begin */
	bool crossing;
};

struct span_stack {
	struct span_frame *frames;
	size_t count, capacity;
	uint32_t base; /* level of frames[0] */
	struct buffer kept;
};

/* A call that has a number. */
struct span_numbered {
	struct span_frame frame;
	struct buffer kept;
	uint32_t level;			/* one more than that of the one before it */
	uint32_t thread, before, after; /* of its thread's, by begin: index + 1, 0 none */
	uint64_t inside; /* serial of the call on top of the thread's stack, 0 none */
	bool open;
};

struct span_thread {
	struct span_stack user, kernel;
	uint64_t last;
	const struct lane *lane;
	uint32_t numbered; /* the last one begun that is open: index + 1 */
};

struct spans {
	struct calls calls;
	const struct span_sink *sink;
	void *ctx;
	struct span_thread *threads; /* by number */
	size_t nthreads;
	uint64_t serial;
	struct open_calls open;
	struct span_numbered *numbered;
	size_t nnumbered, numbered_capacity, numbered_free; /* free: index + 1, by after */
	uint64_t unfinished, cut, unmatched; /* open at the end; over without a return; returns
						of calls whose begin is not there */
};

void spans_init(struct spans *s, struct dictionary *d, const struct span_sink *sink, void *ctx);
void spans_free(struct spans *s);

/* Take an event. -1 with e filled. */
int spans_event(struct spans *s, const struct event *ev, struct error *e);

/* The end of the trace: end what is open. */
int spans_finish(struct spans *s, struct error *e);

/* Say on standard error what was not closed, and what became of it. */
void spans_report(const struct spans *s, bool drop);

/* for spans_numbered.c */
struct span_thread *spans_thread(struct spans *s, uint32_t number);
int spans_numbered_event(struct spans *s, const struct event *ev, struct error *e);
int spans_numbered_finish(struct spans *s, struct error *e);
/* Calls with a number that a thread has open. */
static inline uint32_t spans_numbered_open(const struct spans *s, uint32_t thread)
{
	uint32_t last = s->threads[thread].numbered;

	return last ? s->numbered[last - 1].level + 1 : 0;
}
void spans_numbered_free(struct spans *s);

#endif
