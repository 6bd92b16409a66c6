/*
 * calls.h - pairs enter and leave events into calls, for all programs
 *
 *     while (event_next(&it, &e))
 *             if (calls_next(c, &e, &call) == CALLS_LEAVE)
 *                     add(call.location, call.total, call.self);
 *     while (calls_finish(c, &call))
 *             add(call.location, call.total, call.self);
 *
 * A call is an enter and the leave that ends it. Enters and leaves pair by a stack per thread (tid
 * 0: per thread and CPU), or per CPU for types with TYPE_PER_CPU. Where the source recorded the
 * depth, the stack follows it: an enter at depth d ends every open frame at d or deeper, so one
 * lost leave never shifts later calls. A frame that ends so is not a call. A successful exec*
 * empties the stack and is not a call.
 *
 * A frame is the engine's record of an open call on a stack. Unseen calls were open before their
 * thread's first event: no enter of them was read. A thread whose first event has a depth has had
 * as many unseen calls open since then. Ignored calls are those that the rules below do not count.
 *
 * Calls with numbers (TYPE_CALL_NUMBER) pair by number. They may overlap within a thread, so none
 * is the callee of another one: self is total. A call has the name of its leave's location. With
 * calls.numbers_on_stacks, for readers that know stacks only, calls with numbers are on the stack
 * of their thread too, inside the calls that are open; they have no depth, and end with the call
 * below.
 *
 * Calls in the kernel (TYPE_KERNEL) count if another call of the thread is open below them, as in
 * uftrace report. In a stack of which rows are left out on purpose (THREAD_LEFT_OUT) the calls
 * below may be among these rows, and all calls in the kernel and all with TYPE_INNER count. See
 * trstat-calls(7).
 *
 * Two rules
 *
 * trstat's rule is that calls count: an ENTER that shows no call of the program has no frame, or
 * one that is in no result. trfilter's rule is that calls balance (calls.balances): whatever the
 * filter decides at an ENTER it also decides for the LEAVE. Both find the same calls; these differ:
 *
 *                                        calls count            calls balance
 *     unseen                             s.unseen, a number     a frame each, with begun false
 *     with INNER, outside any call or    ignored, no frame      ignored, on s.ignored_inner until
 *     directly on an exec                                       a row of the thread's other calls
 *     in the kernel, outside any call    ignored, no result     ignored, results with calls.ignored
 *     ended without a leave              on_lost for those      on_lost for all
 *                                        that count
 *     nested deeper than                 no limit               no frame, leave without result
 *     CALLS_STACK_LIMIT
 *
 * A caller may keep data with each open call: calls.data_size bytes, zero when the call begins,
 * that are valid until the call has ended. They move with the call; calls.data and calls_data()
 * find them. A caller that needs nothing else sets calls.pairs_only.
 *
 * Functions that return int return 0, or -1 when out of memory.
 */
#ifndef TR_CALLS_CALLS_H
#define TR_CALLS_CALLS_H

#include "common/calls/open_calls.h"
#include "common/stream/event.h"
#include "common/util/u128.h"

/* A finished call. Times are those of the lane's clock. */
struct call {
	const struct lane *lane; /* of its leave, or without a leave of its enter */
	uint32_t location;	 /* number; 0 unknown (enter before the trace, leave missing) */
	uint32_t caller;	 /* location of the frame below, 0 none or unknown */
	uint32_t level;		 /* open frames below */
	uint64_t start, end;	 /* of a clock that steps back the end is the start */
	uint64_t total, self;	 /* end - start; total less the time of its callees */
	bool recursive;		 /* a frame of the same location is open below */
	bool inner;		 /* of a type with TYPE_INNER (scheduled out) */
	bool unfinished;	 /* closed by the end of the trace */
	uint32_t stack;		 /* recorded stack of the callers of a call with a number; 0 none */
	/* set by calls_finish only: the type of its enter; of a call without an enter a type of the
	   thread's calls, NULL unknown */
	const struct type *type;
	bool kernel;	 /* the same: it is of the thread's calls in the kernel */
	uint32_t number; /* call number, if that type has TYPE_CALL_NUMBER */
	/* the caller's data of the call, valid until the next event; NULL: an unseen call, or none
	   has data */
	void *data;
	struct stack *on; /* its stack, which an ended call has left; NULL: it has a number */
	bool ignored;	  /* it is an ignored call (calls.balances) */
};

/* Test whether no row names a finished call: it was open before the first event of its thread, and
 * has not returned. Such a call is in no sum, as in uftrace report. */
static inline bool call_is_unnamed(const struct call *c)
{
	return c->unfinished && !c->location;
}

struct frame {
	uint64_t start, child; /* time of the enter; time of the callees, ns */
	/* of the enter, for calls that never leave; NULL: not kept */
	const struct lane *lane;
	const struct type *type;
	uint32_t location;
	uint32_t depth; /* recorded, or counted by the stack */
	uint32_t below; /* previous value of its bucket */
	/* index + 1 in numbered.calls, 0 none; only set in a stack with nnumbered */
	uint32_t numbered;
	bool inner;
	bool begun;	/* its enter was read */
	bool recursive; /* a frame of the same location is open below */
	bool outside;	/* in the kernel, entered outside any call: the call is ignored */
};

/* Limit of memory for enters without leaves: older numbered calls are forgotten. */
enum { CALLS_NUMBERED_LIMIT = 1 << 20 };
/* The same for the calls of a stack, with calls.balances. */
enum { CALLS_STACK_LIMIT = 1 << 20 };

/* A floor above all frames. */
#define CALLS_NO_LEAVE SIZE_MAX

/* Whether a location's function is an exec*. */
enum { LOCATION_NOT_ASKED, LOCATION_ORDINARY, LOCATION_EXEC };

struct stack {
	uint32_t number; /* of the thread */
	/* frames[-1] is below all, as deep as the highest unseen call, or one less than 0 */
	struct frame *frames;
	uint8_t *data; /* the caller's, data_size bytes for each of capacity + 1 frames */
	size_t count, capacity;
	size_t nnumbered; /* frames of calls with numbers */
	uint32_t unseen;  /* number of unseen calls that have no frame, below frames[0] */
	uint64_t unseen_since;
	uint64_t last;		 /* time of the thread's last event */
	const struct lane *lane; /* of that event */
	const struct type *type; /* of one of its calls */
	/*
	 * An open exec: number of its frame + 1, 0 none. The next event shows whether the exec
	 * succeeded and this stack ended. Until then every event takes the slow path: limit (of
	 * frames, for an enter) is 0, and floor (for a leave) more than any count.
	 */
	size_t exec, limit, floor;
	bool started;
	bool asks_lane; /* the stream's lanes show whether it has started (dictionary_started) */
	bool left_out;	/* some of its rows are left out; set by calls_left_out() */
	bool by_depth;	/* its first row of a call had a depth */
	/* of calls_restore: frames that the block has; the last block that had the stack */
	size_t restored;
	uint32_t restores;
	/*
	 * Calls inside the kernel (TYPE_KERNEL), on top of this stack. While some are open, every
	 * event takes the slow path. The lowest of them has been charged to the top frame of this
	 * stack up to kernel_since; after the end of the last frame kernel_since is that end.
	 * passed: a row of this stack was read while they were open. A recorder that asks the
	 * kernel for the time causes that once; after a second such row their leaves are taken as
	 * lost.
	 */
	struct stack *kernel;
	uint64_t kernel_since;
	bool passed;
	/*
	 * After calls_restore: how many of the calls now open were open when the lowest call of the
	 * kernel was entered, and the locations of the ngone calls above them, outermost first,
	 * that were open then but have ended; 0 unknown.
	 */
	uint32_t kernel_base, ngone;
	uint32_t *gone;
	/* With calls.balances: the ignored calls with TYPE_INNER; NULL none yet. And how many open
	   calls exceed CALLS_STACK_LIMIT. */
	struct stack *ignored_inner;
	size_t beyond;
	/*
	 * The open locations: buckets[location & mask] is the number + 1 of a frame, 0 none, and
	 * the frame's below is that of the next one. Only the lowest frame of each location is
	 * linked, so a search costs no more than the distinct locations of one bucket, however deep
	 * the recursion is. The table grows with the stack. For all other frames below is the
	 * bucket's head, so every frame leaves by writing below back.
	 */
	uint32_t *buckets, mask;
};

/* Why a call ended without a leave. */
enum calls_lost {
	LOST_DEPTH,  /* a row shows that it is over: longjmp, or lost events */
	LOST_INNER,  /* of a type with TYPE_INNER: the call below it was left */
	LOST_EXEC,   /* another program replaced the thread's */
	LOST_KERNEL, /* in the kernel: rows of the thread's other calls were read */
	LOST_NUMBER, /* another call with its number was entered */
};

/* An open numbered call. */
struct numbered_call {
	uint64_t start;
	const struct lane *lane;
	const struct type *type;
	uint32_t location, number;
	uint64_t serial; /* by begin */
	uint32_t thread; /* number of its stack */
	uint32_t next;	 /* free: index + 1 of the next free one */
	uint32_t stack;	 /* recorded stack of its callers, 0 none */
	size_t frame;	 /* with calls.numbers_on_stacks: index of its frame */
	bool replaced;	 /* with calls.numbers_on_stacks: a later call has its number */
};

struct calls {
	struct dictionary *dictionary;
	size_t data_size; /* of the caller's data of an open call; set before the first event */
	bool numbers_on_stacks; /* calls with numbers are on the stacks; set before the first event
				 */
	bool balances;		/* each ENTER has a frame (see above); set before the first event */
	/* For callers that need the data only: frames have neither times nor locations, and no call
	   is described. With balances; set before the first event. */
	bool pairs_only;
	/* The data of the call that was entered or left last, by calls_next or calls_finish, until
	   the next use of one of them. NULL: an unseen call. */
	void *data;
	struct stack *stack;   /* its stack; NULL: it has a number. Set with calls.balances only. */
	bool ignored;	       /* it is an ignored call. The same. */
	struct stack **stacks; /* by thread number */
	size_t size;
	uint8_t *execs; /* by location: whether it is an exec (LOCATION_*) */
	size_t execs_size;
	struct open_calls open; /* numbered calls: index in numbered.calls */
	/* Calls with numbers. */
	struct {
		struct numbered_call *calls;
		uint8_t *data;		      /* data_size bytes for each */
		size_t count, capacity, free; /* free: index + 1 of the first */
		uint64_t serial;	      /* number of calls entered so far */
		uint32_t *ends; /* at the end: indexes of those open, in the order of their ends */
		size_t nends, ended;
	} numbered;
	/* For a range of time: no call begins earlier, 0: any; and the time of a row that the
	   caller moved to the begin of the range, 0: it was not moved. */
	uint64_t since, moved_from;
	struct {
		uint64_t until; /* no call ends later; calls_init: UINT64_MAX */
		size_t thread;	/* at which calls_finish continues */
		bool known;	/* the ends of threads are known (calls_take_ends) */
	} end;
	/* Of calls_restore. done: called after each block, of which the rows are still valid; last:
	   no other block of the segment follows. -1: *error is set, or out of memory. May be NULL.
	 */
	struct {
		int (*done)(void *ctx, bool last);
		void *ctx; /* of done */
		struct error *error;
		uint64_t first;		  /* time of the stream's first event; UINT64_MAX unknown */
		uint32_t blocks;	  /* that opened calls so far */
		uint32_t frame;		  /* for on_restore: number of the call in the block */
		struct open_calls before; /* numbered calls that the block may have too */
	} restored;
	/* Called when a call ends without a leave; without calls.balances, except calls whose
	   enters were not read, and calls in the kernel outside any call. May be NULL. The call
	   ends at the last event of its thread's stack, and its caller is not charged. s is its
	   stack, which the frame has left; a numbered call is on none, and s is that of its thread;
	   with pairs_only NULL. */
	void (*on_lost)(void *ctx, struct stack *s, const struct frame *f, void *data,
			enum calls_lost why);
	/* Called by calls_restore for each call that it forgets, as on_lost is; on_lost is not. Not
	   for a call that is restored too, which goes on, with its data. May be NULL. */
	void (*on_forget)(void *ctx, struct stack *s, const struct frame *f, void *data);
	void *on_lost_ctx; /* of both */
	/* Called by calls_restore for each open call with an enter; with on_forget, only for calls
	   that were not open before. -1: *restored.error is set, or out of memory. May be NULL. */
	int (*on_restore)(void *ctx, const struct event *e, const struct call *call);
	void *on_restore_ctx;
	struct calls_counts {
		uint64_t unmatched;  /* leaves without an enter */
		uint64_t unfinished; /* calls open at the end */
		/* frames ended without their leave, but for those that an exec ended */
		uint64_t lost;
		/* ignored calls in the kernel that have ended; ignored enters with TYPE_INNER */
		uint64_t ignored_kernel, ignored_inner;
	} counts;
	bool out_of_memory;
};

enum calls_result {
	CALLS_NONE,  /* an instant, or a leave without a call */
	CALLS_ENTER, /* a call was entered */
	CALLS_LEAVE, /* a call was left */
	CALLS_SLOW,  /* of the fast path only: the event is for calls_next */
};

/* Text of a remark on calls.counts.ignored_kernel. */
#define CALLS_IGNORED_KERNEL                                                                       \
	"{call|calls} in the kernel outside any call of {its|their} task: left out, as by "        \
	"uftrace report"

/* Text of a remark on calls.counts.ignored_inner. */
#define CALLS_IGNORED_INNER "{time|times} that a task was scheduled out outside any call: left out"

void calls_init(struct calls *c, struct dictionary *d);
void calls_free(struct calls *c);

static inline uint32_t calls_thread(const struct event *e)
{
	return e->type->flags & TYPE_PER_CPU ? e->lane->cpu_thread : e->lane->thread;
}

/* Get the data of frame i of a stack; of the frame at its count, just after that call ended. NULL:
 * calls have no data.
 * Frames of calls_try_on keep the data that the slot had before. */
static inline void *calls_data(const struct calls *c, const struct stack *s, size_t i)
{
	return c->data_size ? s->data + i * c->data_size : NULL;
}

/* Get the data of an open numbered call. */
static inline void *calls_numbered_data(const struct calls *c, size_t index)
{
	return c->data_size ? c->numbered.data + index * c->data_size : NULL;
}

/* Free the slot of a numbered call. The slot and its data are valid until the next enter. */
static inline void calls_number_free(struct calls *c, size_t index)
{
	c->numbered.calls[index].next = (uint32_t)c->numbered.free;
	c->numbered.free = index + 1;
}

/* Get the stack of a thread by its number; NULL: none of its rows was read. */
static inline const struct stack *calls_thread_stack(const struct calls *c, uint32_t thread)
{
	return thread < c->size ? c->stacks[thread] : NULL;
}

/*
 * The address of an open call, which stays the same while the call is open, although its data move:
 * the number of its thread and which of the thread's stacks it is on, and the number of its frame.
 */
struct call_address {
	uint32_t stack, number;
};

enum {
	CALL_STACKS = 3, /* of a thread: its own, the kernel's, ignored calls with INNER */
	CALL_NUMBERED = UINT32_MAX, /* stack of a numbered call */
};

/* Get the address of call n of a thread's own stack. */
static inline struct call_address calls_address_own(const struct stack *own, size_t n)
{
	return (struct call_address){CALL_STACKS * own->number, (uint32_t)n};
}

/* Get the address of the call that was entered last, with its data, on the stack s; NULL: it is
 * numbered. */
struct call_address calls_address(const struct calls *c, const struct stack *s, const void *data);
/* Get the stack of a call; NULL: it has a number, or there is none. */
const struct stack *calls_address_stack(const struct calls *c, struct call_address at);
/* Get the data of a call; NULL: the call is not open any more. */
void *calls_at(const struct calls *c, struct call_address at);

/* Test whether a lane, which may be NULL, is of the present stream. */
static inline bool calls_of_stream(const struct calls *c, const struct lane *l)
{
	/* a lane without a source is of any stream */
	return l && (!l->source->number || l->source->stream == c->dictionary->stream);
}

/* Add the time of a discarded frame to its caller's child time. For on_lost, which uses its data
 * before. */
void calls_charge_lost(struct calls *c, struct stack *s, uint64_t total);

/* Test whether a frame of this location is open. */
static inline bool stack_has(const struct stack *s, uint32_t location)
{
	uint32_t at = s->buckets[location & s->mask];

	while (at && s->frames[at - 1].location != location)
		at = s->frames[at - 1].below;
	return at;
}

/* Test whether a frame of unknown location is open. All such frames count as one function,
 * printed as <0>. */
bool calls_has_unknown(const struct stack *s);

/* Whether a location's function is an exec*. */
bool calls_enters_exec(struct calls *c, uint32_t location);

/* Note that a thread has events after c->end.until: a call that is open then ends then. */
void calls_pass_until(struct calls *c, uint32_t thread);
/* Close the calls that are open at the end of the trace, thread by thread, top frame first. Call
 * until false. */
bool calls_finish(struct calls *c, struct call *done);

/* Copy the open calls of stacks, except those in the kernel and scheduled out, without the caller's
 * data, to calls without any. */
int calls_copy(struct calls *to, const struct calls *from);

/* Get the thread's current stack or NULL; for an event in the kernel, the stack of the thread's
 * calls there. For callers that print or filter by it. */
const struct stack *calls_stack(const struct calls *c, const struct event *e);

/* Get the number of calls that are open below the call of an enter or a leave, which was fed. */
uint32_t calls_depth(const struct calls *c, const struct event *e);

/* --- calls that are open where reading begins inside a stream, or goes on after a loss --- */

/*
 * Take any block of the stream. If calls may be open before its segment that no row has shown, a
 * block at the begin of the segment has them (SNAPSHOT in trstream(5)): the open calls of the
 * stream are forgotten, and those are open instead. Forgotten calls are not counted, and only
 * on_forget reports them. With on_forget, a call that is open before and restored too stays open,
 * and neither function is called. Other blocks are ignored.
 *
 * on_restore is called for each such call that has an enter, after its frame was pushed, as if
 * calls_next had returned CALLS_ENTER for the enter. This includes calls in the kernel outside any
 * call (frames[0].outside). The order is: outermost first, then the calls in the kernel, then calls
 * with numbers. The event's time is the time of the enter. With balances, stack and ignored are set
 * too. Calls without an enter are counted in stack.unseen; if a callee of the innermost of them has
 * ended, that call is frames[0], with begun false. With balances all calls without an enter are
 * frames.
 *
 * If a stack has calls in the kernel, kernel_base and gone describe the stack below these calls at
 * the time of their enter. Both are set before on_restore of the lowest of these calls, and are
 * valid until the next row of the stack.
 *
 * Returns 0, or -1 with *e filled.
 */
int calls_restore(struct calls *c, const struct block *b, struct error *e);
/* Get the clock of the calls that a block opens; NULL: none. */
const struct clock *calls_restore_clock(const struct block *b);
/* Clip the calls that a block opens: an earlier enter has this time. */
void calls_restore_since(const struct block *b, uint64_t since);
/* Get a warning of calls that are missing in a block, which no program has reported; NULL: none. */
const char *calls_restore_misses(const struct block *b);
/* Forget all open calls, of any stream. */
void calls_forget_all(struct calls *c);
/* Forget the open calls of some sources, as calls_restore does for a stream. sources: by number,
 * whether the source is one of them. -1: out of memory. */
int calls_forget_sources(struct calls *c, const uint8_t *sources);

/* --- the next event --- */

/* Test whether this location is known to be no exec*. The fast path processes only enters of
 * such locations. */
static inline bool calls_ordinary(const struct calls *c, uint32_t location)
{
	return location && location < c->execs_size && c->execs[location] == LOCATION_ORDINARY;
}

/* Clear the caller's data of a call; in line for data that are one word. */
static inline void *calls_clear_data(const struct calls *c, void *data)
{
	return c->data_size == sizeof(uint64_t) ? memset(data, 0, sizeof(uint64_t))
						: memset(data, 0, c->data_size);
}

/* A row for the fast path, which need not load what it does not use. */
struct quick_row {
	uint64_t time;
	uint32_t location, depth;
	const struct lane *const *lane;
	const struct type *const *type;
};

/* Describe the call of a frame with so many below, of which the times are set. */
static inline __attribute__((always_inline)) void
calls_describe(const struct calls *c, struct stack *s, const struct frame *f, size_t below,
	       struct quick_row e, struct call *call)
{
	call->lane = *e.lane;
	call->location = e.location;
	call->caller = f[-1].location;
	call->level = (uint32_t)below + s->unseen;
	call->start = f->start;
	call->end = e.time;
	call->recursive = f->recursive;
	call->stack = call->number = 0;
	call->type = *e.type;
	call->data = calls_data(c, s, below);
	call->on = s;
	call->inner = call->unfinished = call->ignored = false;
}

/* What the fast path must do besides, to be constant in a loop. */
enum calls_how {
	CALLS_WITH_DATA = 1, /* calls have data */
	CALLS_CAREFUL = 2,   /* threads may have several lanes, and locations may be execs */
};

/*
 * The fast path: an enter that is deeper than the top frame, and the leave of the top frame, of
 * recorded depth and of an ordinary location. CALLS_SLOW: the event is another one, and the state
 * is unchanged. What the caller does not use of *call costs nothing.
 */
static inline __attribute__((always_inline)) enum calls_result
calls_quick(struct calls *c, struct stack *s, uint8_t kind, struct quick_row e, struct call *call,
	    unsigned how)
{
	size_t below = s->count;
	struct frame *f = &s->frames[below];
	uint32_t location = e.location;

	if (kind == KIND_ENTER) {
		bool recursive;
		uint32_t *bucket;

		if (__builtin_expect(below >= s->limit || (int32_t)f[-1].depth >= (int32_t)e.depth,
				     0))
			return CALLS_SLOW;
		recursive = stack_has(s, location);
		bucket = &s->buckets[location & s->mask];
		f->start = e.time;
		f->child = 0;
		f->lane = *e.lane;
		f->type = *e.type;
		f->location = location;
		f->depth = e.depth;
		f->below = *bucket;
		f->inner = false;
		f->begun = true;
		f->recursive = recursive;
		s->last = e.time;
		if (how & CALLS_CAREFUL)
			s->lane = *e.lane;
		s->type = *e.type;
		if (how & CALLS_WITH_DATA && c->data_size)
			calls_clear_data(c, calls_data(c, s, below));
		s->count = below + 1;
		*bucket = recursive ? *bucket : (uint32_t)below + 1;
		call->total = call->self = 0;
		calls_describe(c, s, f, below, e, call);
		return CALLS_ENTER;
	}
	f--;
	if (__builtin_expect(kind != KIND_LEAVE || below <= s->floor || f->depth != e.depth ||
				     f->inner || !f->begun || f->location != location ||
				     e.time < f->start,
			     0))
		return CALLS_SLOW;
	s->last = e.time;
	if (how & CALLS_CAREFUL)
		s->lane = *e.lane;
	s->count = --below;
	s->buckets[location & s->mask] = f->below;
	call->total = e.time - f->start;
	call->self = f->child < call->total ? call->total - f->child : 0;
	add_saturated(&f[-1].child, call->total);
	calls_describe(c, s, f, below, e, call);
	return CALLS_LEAVE;
}

/* The rest. */
enum calls_result calls_slow(struct calls *c, const struct event *e, struct call *call);

/* The fast path alone. CALLS_SLOW: the event is another one, and the state is unchanged; it is
 * passed to calls_next. For loops that stay in registers, if *call is passed on to no other
 * function. */
static inline __attribute__((always_inline)) enum calls_result
calls_quick_event(struct calls *c, const struct event *e, struct call *call)
{
	enum { OTHER = TYPE_INNER | TYPE_CALL_NUMBER | TYPE_KERNEL };
	uint32_t thread = calls_thread(e);
	struct stack *s = thread < c->size ? c->stacks[thread] : NULL;

	if (!s || (e->type->flags & (TYPE_DEPTH | OTHER)) != TYPE_DEPTH ||
	    (e->type->kind == KIND_ENTER && !calls_ordinary(c, e->location)))
		return CALLS_SLOW;
	return calls_quick(c, s, e->type->kind,
			   (struct quick_row){e->time, e->location, e->depth, &e->lane, &e->type},
			   call, CALLS_WITH_DATA | CALLS_CAREFUL);
}

/*
 * Process the next event of the stream. *call is the call that it entered or left,
 * whole; with CALLS_NONE nothing.
 */
static inline __attribute__((always_inline)) enum calls_result
calls_next(struct calls *c, const struct event *e, struct call *call)
{
	enum calls_result got = calls_quick_event(c, e, call);

	if (got == CALLS_SLOW && kind_is_instant(e->type->kind) && calls_thread(e) < c->size &&
	    c->stacks[calls_thread(e)]) {
		struct stack *s = c->stacks[calls_thread(e)];

		s->last = e->time;
		s->lane = e->lane;
		return CALLS_NONE;
	}
	return __builtin_expect(got != CALLS_SLOW, 1) ? got : calls_slow(c, e, call);
}

/*
 * calls_next() for loops over the rows of narrow blocks; calls_try_* are for callers that only
 * pair, as with calls.pairs_only.
 */

/*
 * What the fast path looks up of the rows of a narrow block, by the block's indexes. All lanes
 * have stacks, so a loop can change other data of a row's thread in place.
 */
struct calls_rows {
	const struct block *block;
	const uint32_t *locations; /* the block's */
	struct stack *stacks[512]; /* by lane; from 256 on those of types with TYPE_PER_CPU */
	const struct lane *lanes[256];
	const struct type *type[256];
	struct calls_row_type {
		uint8_t kind;	  /* KIND_ENTER and KIND_LEAVE of recorded depth, else 0 */
		uint8_t numbered; /* the same for types with call numbers, per thread */
		uint16_t call;	  /* offset of the call number in a narrow row */
		uint16_t stack;	  /* offset to add to the lane */
		bool instant;
	} types[256];
	/* rows need CALLS_CAREFUL: the last row of a stack was of another lane, or a location may
	   be an exec */
	bool careful;
};

/* -1: out of memory. */
int calls_rows(struct calls *c, const struct block *b, struct calls_rows *cr);
/* Test whether two lanes of the block are of one thread. The last lane of each thread's stack is
 * then one of the block. */
bool calls_rows_shared(struct calls_rows *cr, const struct block *b);

/*
 * For loops that find the calls that are open after many rows, instead of all calls. Times of
 * callees and last events are not kept then.
 */

/* Test whether only calls_next may process rows of the stack: an exec is open, or calls in the
 * kernel or such that do not count are. */
static inline bool calls_is_slow(const struct stack *s)
{
	return s->floor == CALLS_NO_LEAVE;
}

/* Put a call on a stack, whose calls are less deep. -1: out of memory. */
int calls_put(struct calls *c, struct stack *s, const struct frame *f);

/* Take the top call off a stack. Its data are at the stack's count. */
static inline void calls_take(struct stack *s)
{
	const struct frame *f = &s->frames[--s->count];

	if (f->begun)
		s->buckets[f->location & s->mask] = f->below;
}

/* Process a row of any type that is neither an enter nor a leave. */
static inline void calls_pass(const struct calls_rows *cr, const struct plain_row *r)
{
	struct stack *s = cr->stacks[r->lane + cr->types[r->type].stack];

	s->last = r->time;
	s->lane = cr->lanes[r->lane];
}

/*
 * Process the common rows in line, in a stack that is known: kind is KIND_ENTER or KIND_LEAVE of
 * recorded depth, else 0. pairs_only: as calls.pairs_only; of *e only the depth is used, and *done
 * is not set.
 */
static inline __attribute__((always_inline)) enum calls_result
calls_try_on(struct stack *s, uint8_t kind, const struct event *e, struct call *done,
	     bool pairs_only)
{
	uint32_t location = e->location, depth = e->depth;
	uint64_t time = e->time;
	struct frame *f;
	uint32_t *bucket;
	bool recursive;

	if (kind == KIND_ENTER) {
		if (__builtin_expect(s->count >= s->limit || !s->started ||
					     (s->count ? s->frames[s->count - 1].depth >= depth
						       : s->unseen > depth),
				     0))
			return CALLS_SLOW;
		f = &s->frames[s->count++];
		f->depth = depth;
		f->inner = false;
		f->begun = true;
		if (pairs_only)
			return CALLS_ENTER;
		recursive = stack_has(s, location);
		bucket = &s->buckets[location & s->mask];
		f->start = time;
		f->child = 0;
		f->lane = e->lane;
		f->type = e->type;
		f->location = location;
		f->below = *bucket;
		f->recursive = recursive;
		*bucket = recursive ? *bucket : (uint32_t)s->count;
		s->last = time;
		s->lane = e->lane;
		s->type = e->type;
		return CALLS_ENTER;
	}
	/* no limit: an exec or calls in the kernel are open on top */
	if (__builtin_expect(kind != KIND_LEAVE || !s->count || !s->limit ||
				     (s->count == 1 && s->unseen),
			     0))
		return CALLS_SLOW;
	f = &s->frames[s->count - 1];
	if (__builtin_expect(f->depth != depth || f->inner || !f->begun ||
				     (!pairs_only && (f->location != location || time < f->start)),
			     0))
		return CALLS_SLOW;
	s->count--;
	if (pairs_only)
		return CALLS_LEAVE;
	s->last = time;
	s->lane = e->lane;
	s->buckets[location & s->mask] = f->below;
	done->total = time - f->start;
	done->self = f->child < done->total ? done->total - f->child : 0;
	done->recursive = f->recursive;
	if (s->count)
		add_saturated(&f[-1].child, done->total);
	return CALLS_LEAVE;
}

/*
 * calls_quick_event for a narrow row of the block of *cr, which the caller has decoded. After
 * CALLS_SLOW it decodes the event.
 */
static inline __attribute__((always_inline)) enum calls_result
calls_quick_row(struct calls *c, const struct calls_rows *cr, const struct plain_row *r,
		struct call *call, unsigned how)
{
	const struct calls_row_type *t = &cr->types[r->type];
	const struct quick_row e = {r->time, cr->locations[r->location], r->depth,
				    &cr->lanes[r->lane], &cr->type[r->type]};

	if (!(how & CALLS_CAREFUL))
		return calls_quick(c, cr->stacks[r->lane], t->kind, e, call, how);
	if (t->kind == KIND_ENTER && !calls_ordinary(c, e.location))
		return CALLS_SLOW;
	return calls_quick(c, cr->stacks[r->lane + t->stack], t->kind, e, call, how);
}

/* Process a common event as calls_try_on does, of any stack and any location. The data of a new
 * call are those that the slot had before. pairs_only: that of *c. */
static inline __attribute__((always_inline)) enum calls_result
calls_try_event(struct calls *c, const struct event *e, struct call *done, bool pairs_only)
{
	enum { OTHER = TYPE_INNER | TYPE_CALL_NUMBER | TYPE_KERNEL };
	uint32_t thread = calls_thread(e);
	struct stack *s = thread < c->size ? c->stacks[thread] : NULL;
	enum calls_result got;

	if (!s || (e->type->flags & (TYPE_DEPTH | OTHER)) != TYPE_DEPTH ||
	    (e->type->kind == KIND_ENTER && !calls_ordinary(c, e->location)))
		return CALLS_SLOW;
	got = calls_try_on(s, e->type->kind, e, done, pairs_only);
	if (got == CALLS_SLOW)
		return got;
	c->ignored = false;
	c->stack = s;
	c->data = calls_data(c, s, s->count - (got == CALLS_ENTER));
	return got;
}

/*
 * Process an enter with this number if no other such call was entered since the last leave, and the
 * leave of the call that was entered last, as nearly all rows are. kind: KIND_ENTER or KIND_LEAVE.
 * c->data gets the data, for a new call those that the slot had before. CALLS_SLOW: as
 * calls_quick.
 * For calls.pairs_only.
 */
static inline __attribute__((always_inline)) enum calls_result
calls_try_by_number(struct calls *c, uint8_t kind, uint32_t source, uint32_t call)
{
	struct open_calls *open = &c->open;
	uint64_t key = open_calls_key(source, call), index;

	if (kind == KIND_LEAVE) {
		if (__builtin_expect(open->recent.key != key, 0))
			return CALLS_SLOW;
		open->recent.key = 0;
		index = open->recent.value;
		calls_number_free(c, index);
	} else {
		if (__builtin_expect(open->recent.key || !c->numbered.free ||
					     (open->others.count &&
					      (open->others.count >= CALLS_NUMBERED_LIMIT ||
					       open_calls_has(open, source, call))),
				     0))
			return CALLS_SLOW;
		index = c->numbered.free - 1;
		c->numbered.free = c->numbered.calls[index].next;
		open->recent.key = key;
		open->recent.value = index;
	}
	c->ignored = false;
	c->stack = NULL;
	c->data = calls_numbered_data(c, index);
	return kind == KIND_LEAVE ? CALLS_LEAVE : CALLS_ENTER;
}

/*
 * Process the enter and the leave of a numbered call that are adjacent rows, as those of nearly
 * every call are. The call is then never stored: the thread's last event is its leave, and no other
 * state changes. false: the rows are of different calls, and the state is unchanged; the caller
 * passes both to calls_next.
 */
static inline __attribute__((always_inline)) bool
calls_try_numbered(const struct calls *c, const struct calls_rows *cr, const uint8_t *enter,
		   const struct plain_row *e, const uint8_t *leave, const struct plain_row *l)
{
	const struct calls_row_type *et = &cr->types[e->type], *lt = &cr->types[l->type];
	const struct lane *lane = cr->block->lanes[l->lane];
	struct stack *s = cr->stacks[l->lane];

	if (__builtin_expect(et->numbered != KIND_ENTER || lt->numbered != KIND_LEAVE ||
				     e->lane != l->lane ||
				     get_u32(enter + et->call) != get_u32(leave + lt->call),
			     0))
		return false;
	/* an enter moves the one before it to the table, which has a limit, and ends the call that
	   has its number */
	if (__builtin_expect(c->open.others.count || c->open.recent.key, 0) &&
	    ((c->open.others.count && c->open.recent.key) ||
	     c->open.others.count >= CALLS_NUMBERED_LIMIT ||
	     open_calls_has(&c->open, lane->source->number, get_u32(enter + et->call))))
		return false;
	s->last = l->time;
	s->lane = lane;
	return true;
}

/*
 * Find the calls open after a run of narrow rows of recorded depth, reading backwards, for
 * calls.pairs_only.
 *
 * A row that is deeper than a later row of its lane does not matter: its call has ended by the
 * later row. A row that is less deep than all later rows is open at the end if it is an enter. So
 * most rows only need a comparison with the lowest depth after them.
 */

/* depth of a lane without rows: more than any narrow row's */
enum { RUN_DEPTHS = NARROW_DEPTH_MOST + 1, RUN_NO_ROWS = RUN_DEPTHS };

struct calls_run {
	const uint8_t *kinds; /* by type: KIND_ENTER and KIND_LEAVE of recorded depth, else 0 */
	uint16_t low[256];    /* by lane: the lowest depth of its rows */
	/* of lanes with rows: open calls, a bit for each depth */
	uint64_t open[256][RUN_DEPTHS / 64];
};

/* Read the rows [from, to), each of 8 bytes, of a block with nlanes lanes. Unchecked rows make the
 * result useless, but do no other harm. */
void calls_run_read(struct calls_run *r, const uint8_t *kinds, uint32_t nlanes, const uint8_t *from,
		    const uint8_t *to);
/* Test whether calls_run_end may process the rows of a lane with that stack: no call is open of
 * which calls.h has rules of its own. None of the run's locations may be an exec. */
static inline bool calls_run_fits(const struct calls_run *r, const struct stack *s, uint32_t lane)
{
	return r->low[lane] == RUN_NO_ROWS || (s->started && !calls_is_slow(s));
}
/* Replace the calls of a lane's stack by those open after the run, without a call of on_lost. *new:
 * number of the first frame that the run entered, whose data are zero. -1: out of memory. */
int calls_run_end(struct calls *c, struct stack *s, const struct calls_run *r, uint32_t lane,
		  size_t *new);

#endif
