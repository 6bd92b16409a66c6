/*
 * spans.h - calls as spans with a begin and an end, for the formats that draw or list them
 *
 * common/calls pairs enters and leaves. Spans keep with each open call what the encoder needs at
 * the end of the call, and end every call that was begun: at its leave, or without a leave at the
 * trace's end, or where the trace shows that the call has ended (longjmp, exec, lost events).
 *
 * The spans of one timeline (a thread's calls, its calls in the kernel, a CPU's interrupts) nest;
 * those that do not, as calls of apitrace may, are crossing.
 *
 * A function that returns int returns 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_SPANS_H
#define TR_TRENCODE_SPANS_H

#include "cmd/trencode/encoder.h"

/* One call. */
struct span {
	const struct lane *lane;   /* of its enter; if that is unknown, of its leave */
	const struct type *type;   /* the same; NULL unknown */
	uint32_t thread;	   /* number of calls_thread */
	uint32_t location, caller; /* numbers; 0 unknown */
	uint32_t entered;	   /* location of its enter; 0 unknown, or a call with a number */
	uint32_t level;		   /* number of calls open below */
	/* number of the thread's calls of the other sort that were open when it began: of calls
	   without numbers if it has one, else of calls with numbers */
	uint32_t beside;
	uint64_t start, end;
	uint64_t self;	 /* time not spent in callees */
	bool has_self;	 /* self, caller and recursive are known */
	bool recursive;	 /* a call of the same location is open below */
	bool begun;	 /* begin was called for it; else it is open since before the trace */
	bool unfinished; /* no leave was recorded */
	bool dropped;	 /* for drop */
	bool restored;	 /* for begin: its enter is in a part of the stream that was not read */
	bool exec;	 /* with unfinished: an exec has ended all calls of the thread */
	bool kernel;	 /* a call in the kernel, on top of the thread's others */
	bool around;	 /* has a number, and its thread began other calls while it was open */
	bool crossing;	 /* overlaps another call of the same thread without being inside of it */
	const struct buffer
		*kept; /* kept_size bytes from kept_at on are what begin kept; it spills */
	size_t kept_at, kept_size;
	uint64_t token; /* set by begin */
	/* At the end of a call: the stack that it was on, of which spans_frame(count) is this call.
	   NULL: begin was not called, or the call has a number. */
	const struct stack *stack;
};

/* The functions of an encoder; each may be NULL, and returns 0, or -1 with *e filled. */
struct span_sink {
	/* Called when a call begins. Bytes appended to keep, and *token, are passed to end. */
	int (*begin)(void *ctx, const struct event *enter, const struct span *s,
		     struct buffer *keep, uint64_t *token, struct error *e);
	/* Called when the call ends; leave is NULL if it has none. */
	int (*end)(void *ctx, const struct span *s, const struct event *leave, struct error *e);
	/* Called in place of end for a call that is dropped: whether it has ended is not known. If
	   it is open, it begins once more. */
	int (*drop)(void *ctx, const struct span *s, struct error *e);
	/* Called for each call that is open where reading begins inside the stream, before begin;
	   and once after all of them, with NULL. */
	int (*restore)(void *ctx, const struct event *enter, struct error *e);
	/* Called for all other events: instants, counters, gaps. */
	int (*other)(void *ctx, const struct event *ev, struct error *e);
};

/* The data of an open call (calls.h). */
struct span_frame {
	uint64_t start, token;
	size_t kept, kept_size;	 /* offset and size of its bytes in kept of the stack */
	const struct lane *lane; /* NULL: the enter was not read */
	const struct type *type;
	uint32_t location, beside;
	uint64_t serial; /* number among all calls, by begin */
	uint32_t number; /* of a call with a number: index + 1 in numbered */
	bool crossing, kernel;
};

/* Data of an open call that has a number. */
struct span_numbered {
	struct buffer kept;
	uint32_t level;			/* 1 more than that of the call before it */
	uint32_t thread, before, after; /* neighbours in its thread, by begin: index + 1, 0 none */
	uint64_t inside; /* serial of the call on top of the thread's stack, 0 none */
};

/* Data of one thread. */
struct span_thread {
	struct buffer kept, kernel_kept; /* bytes of the open calls, and of those in the kernel */
	uint64_t serial;		 /* of the call that began last */
	uint32_t numbered; /* the open call with a number that began last: index + 1 */
};

/* The open calls of one stream. */
struct spans {
	struct calls *calls;
	const struct span_sink *sink;
	void *ctx;
	struct span_thread *threads; /* by number */
	size_t nthreads;
	uint64_t serial;
	struct span_numbered *numbered;
	size_t nnumbered, numbered_capacity, numbered_free; /* free: index + 1, by after */
	bool restoring;					    /* calls of calls_restore begin */
	bool keeps_open;     /* the format has calls without an end: for spans_report */
	bool failed;	     /* *error has the reason */
	struct error *error; /* of the function that runs */
	uint64_t lost;	     /* calls that ended without a leave */
};

void spans_init(struct spans *s, struct encoding *en, const struct span_sink *sink, void *ctx);
void spans_free(struct spans *s);

/* Take an event. */
int spans_event(struct spans *s, const struct event *ev, struct error *e);

/* End all open calls, at the end of the trace. */
int spans_finish(struct spans *s, struct error *e);

/* The remark about calls that a format without overlaps leaves out. */
#define SPANS_OVERLAP "{call overlaps others of its|calls overlap others of their} thread: left out"
/* Report on standard error the calls without a leave, and whether they were dropped. */
void spans_report(const struct spans *s, bool drop);

/* Get the data of call i of a stack. */
static inline struct span_frame *spans_frame(const struct spans *s, const struct stack *stack,
					     size_t i)
{
	return calls_data(s->calls, stack, i);
}

/* Get the bytes that the calls of a stack keep. */
static inline struct buffer *spans_kept(const struct spans *s, uint32_t thread, bool kernel)
{
	struct span_thread *th = &s->threads[thread];

	return kernel ? &th->kernel_kept : &th->kept;
}

#endif
