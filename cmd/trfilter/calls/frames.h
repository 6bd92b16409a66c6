/*
 * frames.h - the open calls, with trfilter's notes on each
 *
 * Pairs as pairing.h does: every leave finds its enter, and where depths are recorded the stack
 * follows them.
 */
#ifndef TR_TRFILTER_CALLS_FRAMES_H
#define TR_TRFILTER_CALLS_FRAMES_H

#include "common/stream/event.h"
#include "common/calls/open_calls.h"

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_LATER };

/* An open call. The first members are those that duration_scan.c sets; its conditions need no
 * others. */
struct open_frame {
	uint64_t start;
	const struct lane *lane;
	/* block of the row of its enter in the queue (block_queue.h), if undecided */
	uint64_t block;
	uint32_t row;
	uint32_t depth;
	enum answer answer : 8;
	bool waits;	 /* the row of its enter is undecided */
	bool wanted;	 /* its enter passed the time range */
	bool passes;	 /* its enter passed the conditions on single rows */
	bool for_callee; /* kept as the caller of a kept call */
	bool inner;
	bool numbered;	/* is no callee and has none */
	bool unseen;	/* was open before its thread's first event: has no enter */
	bool ignored;	/* ignored by the call engine (ignored.h) */
	uint32_t level; /* number of calls around it, or since the one that under() selects */

	uint32_t location;
	uint32_t children;
	uint32_t node;	      /* node of its stack (stack_nodes.h) */
	uint64_t marks;	      /* results of conditions at the enter (decide.c) */
	uint64_t *more;	      /* marks from bit 64 on; memory stays with the slot of the frame */
	uint64_t under, over; /* conditions true around it; conditions true for it or within it */
};

struct frame_stack {
	struct open_frame *frames;
	uint32_t count, capacity;
	uint64_t seen;	 /* number of the block in which duration_scan.c used the stack */
	uint32_t beyond; /* number of open calls that are too many to be followed */
	bool started;	 /* an enter, or a leave of recorded depth, was seen */
	bool by_depth;	 /* the first of these had a recorded depth */
};

/* A frame's address: number of its stack, and of the frame in the stack. */
struct frame_at {
	uint32_t stack, frame;
};

struct frames {
	/* words of each frame's more; to be set before the first frame */
	size_t more;
	struct frame_stack *stacks; /* two for each thread: its own, and the kernel's */
	size_t size;
	struct open_calls open;	     /* numbered calls: index in numbered */
	struct frame_stack numbered; /* used and free frames */
	uint32_t *free_numbered;
	size_t nfree, free_capacity;
	bool out_of_memory;
};

enum { FRAMES_NUMBERED = UINT32_MAX }; /* the stack number of numbered calls */

void frames_free(struct frames *f);

static inline uint32_t frames_thread(const struct event *e)
{
	uint32_t thread = e->type->flags & TYPE_PER_CPU ? e->lane->cpu_thread : e->lane->thread;

	/* calls in the kernel have their own depths */
	return 2 * thread + !!(e->type->flags & TYPE_KERNEL);
}

/* Reset the notes of a frame. Returns -1 when out of memory. */
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

/* Returns the stack of an event's calls. NULL: out of memory. */
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

/* Push a frame, which the caller fills in. NULL: out of memory. */
struct open_frame *frames_grow(struct frames *f, struct frame_stack *s);

static inline struct open_frame *frames_push(struct frames *f, struct frame_stack *s)
{
	return s->count < s->capacity ? &s->frames[s->count++] : frames_grow(f, s);
}

static inline struct open_frame *frames_top(const struct frame_stack *s)
{
	return s->count ? &s->frames[s->count - 1] : NULL;
}

/* Add a numbered call. NULL: no number, too many open calls, or out of memory. */
struct open_frame *frames_number(struct frames *f, const struct event *e, uint32_t *index);
/* Remove a numbered call; the frame is valid until the next one is added. NULL: its enter was
 * not seen. */
struct open_frame *frames_numbered(struct frames *f, const struct event *e);
/* Remove any open numbered call, at the end of a stream. NULL: none is left. */
struct open_frame *frames_any_numbered(struct frames *f);

#endif
