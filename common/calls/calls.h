/*
 * calls.h - calls out of enter and leave events: the one place where they are paired
 *
 * A call is an enter and the leave that closes it, by stack, per thread (tid 0: per thread and
 * CPU), or per CPU for types that say so. Where the source recorded the depth, the stack follows
 * it: an enter at depth d ends every open frame at d or deeper, so one lost leave never shifts what
 * follows; a frame ended so is no call. A successful exec* empties the stack and is no call. A
 * thread seen first in the middle of things has the frames below open since then. Calls that the
 * source has numbered (TYPE_CALL_NUMBER) pair by number, and as those of a thread may overlap, none
 * is another's callee: self is total. A call is named
 * by its leave's place. Calls in the kernel (TYPE_KERNEL) count if one of the thread's other calls
 * is open below them, as in uftrace report. In a stack of which rows are left out on purpose
 * (THREAD_LEFT_OUT) these calls may be what is left out, and all calls in the kernel and all with
 * TYPE_INNER count. See design 4 and trstat(1).
 */
#ifndef TR_CALLS_CALLS_H
#define TR_CALLS_CALLS_H

#include "common/stream/event.h"
#include "common/calls/open_calls.h"

/*
 * Of a stack whose beginning was not seen (cut.h) is not known what lies below its first frame:
 * then of a call is not known ...
 */
enum calls_open {
	OPEN_LEVEL = 1,	    /* its level: that counts from what was seen */
	OPEN_CALLER = 2,    /* its caller */
	OPEN_RECURSIVE = 4, /* whether it is recursive: not by the frames that were seen */
	OPEN_IF_CALL = 8,   /* whether it counts: only if a call lies below */
	OPEN_NO_EXEC = 16,  /* and only if that is no exec */
	OPEN_STACK = 32,    /* its stack (call_stacks.h): that counts from what was seen */
	OPEN_INNER = 64,    /* a call inside of the kernel of a type with TYPE_INNER, with IF_CALL:
			       if it does not count it is no call in the kernel either */
	OPEN_HELD = OPEN_IF_CALL | OPEN_NO_EXEC | OPEN_INNER,
};

/* A finished call. Times in the lane's clock. */
struct call {
	const struct lane *lane;
	uint32_t location; /* number; 0 unknown (its enter was before the trace, its leave never) */
	uint32_t caller;   /* place of the frame below, 0 none or unknown */
	uint32_t level;	   /* open frames below */
	uint64_t start, end;
	uint64_t total, self; /* end - start; less what callees took */
	bool recursive;	      /* a frame of the same place is open below */
	bool inner;	      /* of a type flagged so (scheduled out) */
	bool unfinished;      /* closed by the end of the trace */
	uint8_t open;	      /* enum calls_open; 0 but where struct stack has a cut */
	/* by calls_finish only, which has no leave: a type of the thread's calls, NULL unknown */
	const struct type *type;
	uint32_t number; /* of that type if it has TYPE_CALL_NUMBER: the call's */
};

struct frame {
	uint64_t start, child; /* child: ns its callees took */
	uint32_t location;
	uint32_t depth; /* recorded, or as the stack has it */
	uint32_t below; /* what its bucket held before */
	bool inner;
	bool begun;	/* its enter was seen */
	bool recursive; /* a frame of the same place is open below */
	bool outside;	/* of the kernel, entered outside any call */
	bool doubtful;	/* counts only if there is something below what was seen (cut.h) */
};

/* Enters without leaves must not take all memory: numbered calls beyond these are forgotten. */
enum { CALLS_NUMBERED_LIMIT = 1 << 20 };

/* Is a place's function an exec*? */
enum { LOCATION_NOT_ASKED, LOCATION_ORDINARY, LOCATION_EXEC };

struct partial_stack;
struct cut_op;

struct stack {
	uint32_t number; /* of the thread */
	struct partial_stack
		*cut; /* its beginning was not seen; NULL: it was, or is of no account any more */
	struct partial_stack *kept; /* cut, also where it is of no account any more */
	struct frame *frames;
	size_t count, capacity;
	uint32_t implicit; /* frames below frames[0], open since implicit_start, never seen */
	uint64_t implicit_start;
	uint64_t last;		 /* time of the thread's last event */
	const struct lane *lane; /* of that event */
	const struct type *type; /* of a call of it */
	/*
	 * An exec that is open: its number of frame + 1, 0 none. What comes next tells whether it
	 * succeeded, and so whether this stack still stands; until then all is done the slow way:
	 * limit (of frames, for an enter) and floor (for a leave) are otherwise capacity and 1.
	 */
	size_t exec, limit, floor;
	bool started;
	bool left_out; /* rows of it are; calls_left_out() finds out */
	/*
	 * Calls inside the kernel (TYPE_KERNEL), on top of this stack; while some are open, all is
	 * done the slow way too. The lowest of them has been charged to what is open here up to
	 * kernel_since. passed: a row of this stack came while they were open. A recorder that
	 * asks the kernel for the time does that, once: at a second one their leaves were lost.
	 */
	struct stack *kernel;
	uint64_t kernel_since;
	bool passed;
	/*
	 * The open places: buckets[place & mask] is the number + 1 of a frame, 0 none, and its
	 * below that of the next one. Only the lowest frame of each place is linked, so a search
	 * costs no more than the distinct places of one bucket, however deep the recursion; the
	 * table grows with the stack. For the other frames below is the bucket's head, so that
	 * every frame leaves by putting below back.
	 */
	uint32_t *buckets, mask;
};

struct calls {
	struct dictionary *dictionary;
	struct stack **stacks; /* by thread number */
	size_t size;
	uint8_t *special; /* by place: is it an exec? 0 not yet asked */
	size_t special_size;
	struct open_calls open; /* numbered calls: index in numbered */
	struct numbered_call *numbered;
	size_t nnumbered, numbered_capacity, numbered_free; /* free: index + 1 of the first */
	size_t finishing;				    /* thread that calls_finish is at */
	bool ended;	  /* the ends of threads are known (calls_take_ends) */
	bool partial;	  /* the trace's beginning is not there: stacks have a cut (cut.h) */
	bool no_doubt;	  /* rows that are calls only if something lies below are kept as rows */
	bool look_down;	  /* rows are looked at with what is open below them */
	bool look_at_all; /* and with all that is, down to the bottom */
	struct partial_stack
		*rows; /* of numbered calls: leaves whose enters may be before the beginning */
	/* an open call goes into a list: number entered of the operation if there is something to
	   be kept with it. s is the stack that it is on top of, NULL for a numbered call */
	int (*on_push)(void *ctx, struct stack *s, bool kernel, struct cut_op *op);
	void *on_push_ctx;
	/* a call that was entered is over without a leave: it was taken off its stack; NULL: nobody
	   asks. It ends at the last of its thread's stack, and its caller is not charged for it. */
	void (*on_lost)(void *ctx, struct stack *s, const struct frame *f);
	void *on_lost_ctx;
	uint64_t unmatched;  /* leaves without an enter */
	uint64_t unfinished; /* calls open at the end */
	uint64_t dropped;    /* frames ended without their leave */
	uint64_t outside;    /* calls in the kernel outside any call of the thread's: no calls */
	uint64_t apart;	     /* enters with TYPE_INNER outside any call: no calls */
	bool out_of_memory;
};

enum calls_result {
	CALLS_NONE,  /* an instant, or a leave that closes nothing */
	CALLS_ENTER, /* a frame was pushed */
	CALLS_LEAVE, /* *done is a finished call */
	CALLS_SLOW,  /* of calls_try only */
	CALLS_KEPT,  /* with a cut: what the row means is not known yet; it is kept (cut.h) */
};

/* What outside counts, for remarks. */
#define CALLS_OUTSIDE                                                                              \
	"calls in the kernel outside any call of their task: left out, as by uftrace report"

/* What apart counts. */
#define CALLS_APART "times that a task was scheduled out outside any call: left out"

void calls_init(struct calls *c, struct dictionary *d);
void calls_free(struct calls *c);

static inline uint32_t calls_thread(const struct event *e)
{
	return e->type->flags & TYPE_PER_CPU ? e->lane->cpu_thread : e->lane->thread;
}

/* What a call without a leave took is no longer its caller's own. For on_lost. */
void calls_charge_lost(struct calls *c, struct stack *s, uint64_t total);

/* Is a frame of this place open? */
static inline bool stack_has(const struct stack *s, uint32_t location)
{
	uint32_t at = s->buckets[location & s->mask];

	while (at && s->frames[at - 1].location != location)
		at = s->frames[at - 1].below;
	return at;
}

/* Is a frame open that nobody knows? All of them are taken for one function, which shows as <0>. */
bool calls_has_unknown(const struct stack *s);

/* The stack of a thread by its number, made if it is new; NULL when out of memory. */
struct stack *calls_stack_at(struct calls *c, uint32_t thread);

/* Is a place's function an exec*? */
bool calls_enters_exec(struct calls *c, uint32_t location);

/* Take one event, in the stream's order. */
enum calls_result calls_feed(struct calls *c, const struct event *e, struct call *done);

/*
 * For loops over blocks of narrow rows (event.h): what lanes and types of the block mean to the
 * pairing is looked up once, by their indexes.
 */
struct calls_block {
	struct stack *stacks[256]; /* by lane; NULL: none yet */
	uint8_t kinds[256]; /* by type: KIND_ENTER and KIND_LEAVE of recorded depth, else 0 */
};
void calls_block(const struct calls *c, const struct block *b, struct calls_block *cb);

/* Is this place known to be no exec*? Only then calls_try may take its enters. */
static inline bool calls_ordinary(const struct calls *c, uint32_t location)
{
	return location && location < c->special_size && c->special[location] == LOCATION_ORDINARY;
}

/*
 * What nearly all rows are, in line: an enter one deeper than the last, and the leave of the frame
 * on top, of an ordinary place. CALLS_SLOW: it is something else, and nothing was done; calls_feed
 * takes it. lane and level of *done are left out.
 */
static inline __attribute__((always_inline)) enum calls_result
calls_try(const struct calls_block *cb, const struct plain_row *r, uint32_t location,
	  struct call *done)
{
	struct stack *s = cb->stacks[r->lane];
	uint8_t kind = cb->kinds[r->type];
	uint32_t *bucket;
	struct frame *f;
	bool recursive;

	if (__builtin_expect(!s || !s->count, 0))
		return CALLS_SLOW;
	f = &s->frames[s->count - 1];
	if (kind == KIND_ENTER) {
		if (__builtin_expect(f->depth >= r->depth || s->count >= s->limit, 0))
			return CALLS_SLOW;
		s->last = r->time;
		recursive = stack_has(s, location);
		bucket = &s->buckets[location & s->mask];
		/* one by one: the compiler would clear the whole of it first, slowly */
		f[1].start = r->time;
		f[1].child = 0;
		f[1].location = location;
		f[1].depth = r->depth;
		f[1].below = *bucket;
		f[1].inner = false;
		f[1].begun = true;
		f[1].recursive = recursive;
		s->count++;
		*bucket = recursive ? *bucket : (uint32_t)s->count;
		return CALLS_ENTER;
	}
	if (__builtin_expect(kind != KIND_LEAVE || f->depth != r->depth || f->inner || !f->begun ||
				     f->location != location || s->count <= s->floor ||
				     r->time < f->start,
			     0))
		return CALLS_SLOW;
	s->last = r->time;
	s->count--;
	s->buckets[location & s->mask] = f->below;
	done->location = location;
	done->caller = f[-1].location;
	done->start = f->start;
	done->end = r->time;
	done->total = r->time - f->start;
	done->self = f->child < done->total ? done->total - f->child : 0;
	done->recursive = f->recursive;
	done->inner = done->unfinished = false;
	f[-1].child += done->total;
	return CALLS_LEAVE;
}

/*
 * The same for blocks that have more than calls: lanes and types of every sort. Stacks are there
 * for all lanes, so that what a row changes of its thread beside the calls can be done in place.
 */
struct calls_rows {
	struct stack *stacks[512]; /* by lane; from 256 on those of types that go per CPU */
	struct calls_row_type {
		uint8_t kind;	  /* KIND_ENTER and KIND_LEAVE of recorded depth, else 0 */
		uint8_t numbered; /* the same of those with a number, per thread */
		uint16_t stack;	  /* what to add to the lane */
		uint32_t call;	  /* where the number stands in a narrow row */
	} types[256];
};
/* -1: out of memory. */
int calls_rows(struct calls *c, const struct block *b, struct calls_rows *cr);

/* A row that neither enters nor leaves, of whatever type. */
static inline void calls_pass(const struct calls_rows *cr, const struct plain_row *r,
			      const struct lane *lane)
{
	struct stack *s = cr->stacks[r->lane + cr->types[r->type].stack];

	s->last = r->time;
	s->lane = lane;
}

/*
 * As calls_try, with all that calls_finish may want to know, and at the bottom of a stack too,
 * where systems without deep calls always are.
 */
static inline __attribute__((always_inline)) enum calls_result
calls_try_row(const struct calls_rows *cr, const struct plain_row *r, uint32_t location,
	      const struct lane *lane, const struct type *type, struct call *done)
{
	struct stack *s = cr->stacks[r->lane + cr->types[r->type].stack];
	uint8_t kind = cr->types[r->type].kind;
	struct frame *f;
	uint32_t *bucket;
	bool recursive;

	if (kind == KIND_ENTER) {
		if (__builtin_expect(s->count >= s->limit || !s->started ||
					     (s->count ? s->frames[s->count - 1].depth >= r->depth
						       : s->implicit > r->depth),
				     0))
			return CALLS_SLOW;
		f = &s->frames[s->count];
		recursive = stack_has(s, location);
		bucket = &s->buckets[location & s->mask];
		f->start = r->time;
		f->child = 0;
		f->location = location;
		f->depth = r->depth;
		f->below = *bucket;
		f->inner = false;
		f->begun = true;
		f->recursive = recursive;
		s->count++;
		*bucket = recursive ? *bucket : (uint32_t)s->count;
		s->last = r->time;
		s->lane = lane;
		s->type = type;
		return CALLS_ENTER;
	}
	/* no limit: an exec, or calls in the kernel, are open on top */
	if (__builtin_expect(kind != KIND_LEAVE || !s->count || !s->limit ||
				     (s->count == 1 && s->implicit),
			     0))
		return CALLS_SLOW;
	f = &s->frames[s->count - 1];
	if (__builtin_expect(f->depth != r->depth || f->inner || !f->begun ||
				     f->location != location || r->time < f->start,
			     0))
		return CALLS_SLOW;
	s->last = r->time;
	s->lane = lane;
	s->count--;
	s->buckets[location & s->mask] = f->below;
	done->total = r->time - f->start;
	done->self = f->child < done->total ? done->total - f->child : 0;
	done->recursive = f->recursive;
	if (s->count)
		f[-1].child += done->total;
	return CALLS_LEAVE;
}

/*
 * Calls with numbers: enter and leave are two rows, one right behind the other, as they are of
 * nearly every call. Are they of one call? Then it is done, and neither need be remembered: the
 * thread's last event is its leave, and nothing else changes. false: nothing was done, and
 * calls_feed takes both.
 */
static inline __attribute__((always_inline)) bool
calls_try_numbered(const struct calls *c, const struct calls_rows *cr, const uint8_t *enter,
		   const struct plain_row *e, const uint8_t *leave, const struct plain_row *l,
		   const struct lane *lane)
{
	const struct calls_row_type *et = &cr->types[e->type], *lt = &cr->types[l->type];
	struct stack *s = cr->stacks[l->lane];

	if (__builtin_expect(et->numbered != KIND_ENTER || lt->numbered != KIND_LEAVE ||
				     e->lane != l->lane ||
				     get_u32(enter + et->call) != get_u32(leave + lt->call),
			     0))
		return false;
	/* an enter sends the one before it to the table, which has a limit */
	if (__builtin_expect(c->open.count != 0, 0) &&
	    (c->open.recent.key || c->open.count >= CALLS_NUMBERED_LIMIT))
		return false;
	s->last = l->time;
	s->lane = lane;
	return true;
}

/* The stream is read: set the last times of threads whose last rows were left out. calls_finish
 * does it too. */
void calls_take_ends(struct calls *c);
/* The end of the trace: close what is open, thread by thread, top frame first. Call until false. */
bool calls_finish(struct calls *c, struct call *done);

/* The thread's stack as it stands or NULL: of an event in the kernel that of its calls there. For
 * those who print or filter by it. */
const struct stack *calls_stack(const struct calls *c, const struct event *e);

#endif
