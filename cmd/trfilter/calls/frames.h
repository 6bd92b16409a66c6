/*
 * frames.h - the calls that are open, with what trfilter notes of each
 *
 * Pairs as pairing.h does: every leave finds its enter, and where the recorder wrote depths the
 * stack follows these.
 */
#ifndef TR_TRFILTER_CALLS_FRAMES_H
#define TR_TRFILTER_CALLS_FRAMES_H

#include "common/stream/event.h"
#include "common/calls/open_calls.h"

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_LATER };

/* What duration_scan.c sets of it stands in front; under its conditions nobody asks for the rest.
 */
struct open_frame {
	uint64_t start;
	const struct lane *lane;
	uint64_t block; /* where the row of its enter waits (waiting.h), if it does */
	uint32_t row;
	uint32_t depth;
	enum answer answer : 8;
	bool waits;	 /* the row of its enter is not decided */
	bool wanted;	 /* its enter passed the limits */
	bool passes;	 /* and the conditions on single rows */
	bool for_callee; /* kept as the caller of one that is */
	bool inner;
	bool numbered;	/* is no callee and has none */
	bool unseen;	/* was open before its thread's first event: it has no enter */
	bool ignored;	/* by the call engine (ignored.h) */
	uint32_t level; /* calls around it, or since the one that under() names */

	uint32_t location;
	uint32_t children;
	uint32_t node;	      /* stack_nodes.h */
	uint64_t marks;	      /* what was decided at the enter (decide.c) */
	uint64_t *more;	      /* the same from bit 64 on; stays with the place of the frame */
	uint64_t under, over; /* conditions that hold around it, and of it or inside */
};

struct frame_stack {
	struct open_frame *frames;
	uint32_t count, capacity;
	uint64_t seen;	 /* by duration_scan.c, in which block */
	uint32_t beyond; /* open calls that are not followed, for there are too many */
	bool started;	 /* an enter, or a leave of recorded depth, was seen */
	bool by_depth;	 /* the first of these had a recorded depth */
};

/* Which frame: number of its stack and of the frame in it. */
struct frame_at {
	uint32_t stack, frame;
};

struct frames {
	size_t more;		    /* words of each frame's more; set it before the first frame */
	struct frame_stack *stacks; /* two for each thread: its own, and that of the kernel */
	size_t size;
	struct open_calls open;	     /* numbered calls: index in numbered */
	struct frame_stack numbered; /* used and free ones */
	uint32_t *free_numbered;
	size_t nfree, free_capacity;
	bool out_of_memory;
};

enum { FRAMES_NUMBERED = UINT32_MAX }; /* the stack that numbered calls seem to be on */

void frames_free(struct frames *f);

static inline uint32_t frames_thread(const struct event *e)
{
	uint32_t thread = e->type->flags & TYPE_PER_CPU ? e->lane->cpu_thread : e->lane->thread;

	/* calls in the kernel have depths of their own */
	return 2 * thread + !!(e->type->flags & TYPE_KERNEL);
}

/* Nothing is noted of it. -1: out of memory. */
int frames_clear(struct frames *fs, struct open_frame *f);

static inline void frames_note(struct open_frame *f, unsigned mark, bool yes)
{
	uint64_t *word = mark < 64 ? &f->marks : &f->more[mark / 64 - 1];

	*word = (*word & ~(1ull << mark % 64)) | (uint64_t)yes << mark % 64;
}

static inline bool frames_noted(const struct open_frame *f, unsigned mark)
{
	return (mark < 64 ? f->marks : f->more[mark / 64 - 1]) >> mark % 64 & 1;
}

struct frame_stack *frames_new_stack(struct frames *f, uint32_t number);

/* The stack of an event's calls. NULL: out of memory. */
static inline struct frame_stack *frames_stack(struct frames *f, uint32_t number)
{
	return number < f->size ? &f->stacks[number] : frames_new_stack(f, number);
}

static inline struct open_frame *frames_at(const struct frames *f, struct frame_at at)
{
	const struct frame_stack *s =
		at.stack == (uint32_t)FRAMES_NUMBERED ? &f->numbered : &f->stacks[at.stack];

	return at.frame < s->count ? &s->frames[at.frame] : NULL;
}

/* Room for one more frame, for the caller to fill in. NULL: out of memory. */
struct open_frame *frames_grow(struct frames *f, struct frame_stack *s);

static inline struct open_frame *frames_push(struct frames *f, struct frame_stack *s)
{
	return s->count < s->capacity ? &s->frames[s->count++] : frames_grow(f, s);
}

static inline struct open_frame *frames_top(const struct frame_stack *s)
{
	return s->count ? &s->frames[s->count - 1] : NULL;
}

/* A numbered call begins. NULL: it has no number, too many are open, or out of memory. */
struct open_frame *frames_number(struct frames *f, const struct event *e, uint32_t *index);
/* It ends; the frame is the caller's until the next one begins. NULL: its enter was not seen. */
struct open_frame *frames_numbered(struct frames *f, const struct event *e);
/* At the end of a stream: any one that is open, taken out. NULL: none. */
struct open_frame *frames_any_numbered(struct frames *f);

#endif
