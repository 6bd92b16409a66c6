/*
 * calls.h - calls out of enter and leave events: the one place where they are paired
 *
 * A call is an enter and the leave that closes it, by stack, per thread (tid 0: per thread and
 * CPU), or per CPU for types that say so. Where the source recorded the depth, the stack follows
 * it: an enter at depth d ends every open frame at d or deeper, so one lost leave never shifts what
 * follows; a frame ended so is no call. A successful exec* empties the stack and is no call. A
 * thread seen first in the middle of things has the frames below open since then. A call is named
 * by its leave's place. See design 4 and trstat(1).
 */
#ifndef TR_CALLS_H
#define TR_CALLS_H

#include "event.h"

/* A finished call. Times in the lane's clock. */
struct call {
	const struct lane *lane;
	uint32_t place;	 /* number; 0 unknown (its enter was before the trace, its leave never) */
	uint32_t caller; /* place of the frame below, 0 none or unknown */
	uint32_t level;	 /* open frames below */
	uint64_t start, end;
	uint64_t total, self; /* end - start; less what callees took */
	bool recursive;	      /* a frame of the same place is open below */
	bool inner;	      /* of a type flagged so (scheduled out) */
	bool unfinished;      /* closed by the end of the trace */
};

struct frame {
	uint64_t start, child; /* child: ns its callees took */
	uint32_t place;
	uint32_t depth; /* recorded, or as the stack has it */
	uint32_t below; /* next frame down of the same bucket + 1, 0 none */
	bool inner;
	bool begun; /* its enter was seen */
};

enum { CALL_BUCKETS = 64 };

/* Is a place's function an exec*? */
enum { PLACE_NOT_ASKED, PLACE_ORDINARY, PLACE_EXEC };

struct stack {
	struct frame *frames;
	size_t count, capacity;
	uint32_t implicit; /* frames below frames[0], open since implicit_start, never seen */
	uint64_t implicit_start;
	uint64_t last;		 /* time of the thread's last event */
	const struct lane *lane; /* of that event */
	size_t hidden;		 /* frames of an image that an exec has replaced, if it succeeds */
	bool started;
	uint32_t buckets[CALL_BUCKETS]; /* by place: topmost frame + 1 */
};

struct calls {
	struct dictionary *dictionary;
	struct stack **stacks; /* by thread number */
	size_t size;
	uint8_t *special; /* by place: is it an exec? 0 not yet asked */
	size_t special_size;
	size_t finishing;    /* thread that calls_finish is at */
	uint64_t unmatched;  /* leaves without an enter */
	uint64_t unfinished; /* calls open at the end */
	uint64_t dropped;    /* frames ended without their leave */
	bool out_of_memory;
};

enum calls_result {
	CALLS_NONE,  /* an instant, or a leave that closes nothing */
	CALLS_ENTER, /* a frame was pushed */
	CALLS_LEAVE, /* *done is a finished call */
};

void calls_init(struct calls *c, struct dictionary *d);
void calls_free(struct calls *c);

/* Whatever calls_feed does not do by itself. */
enum calls_result calls_feed_slow(struct calls *c, const struct event *e, struct call *done);

static inline uint32_t calls_thread(const struct event *e)
{
	return e->type->flags & TYPE_PER_CPU ? e->lane->cpu_thread : e->lane->thread;
}

/* Is a frame of this place open? */
static inline bool stack_has(const struct stack *s, uint32_t place)
{
	uint32_t at = s->buckets[place % CALL_BUCKETS];

	while (at && s->frames[at - 1].place != place)
		at = s->frames[at - 1].below;
	return at;
}

/* A copy, so that the event and the call of the fast path can stay in registers. */
static inline enum calls_result calls_feed_copy(struct calls *c, struct event e, struct call *done)
{
	struct call call = {0};
	enum calls_result result = calls_feed_slow(c, &e, &call);

	*done = call;
	return result;
}

/*
 * Take one event, in the stream's order. In line is what nearly all are: an enter one deeper than the
 * last, and the leave of the frame on top.
 */
static inline __attribute__((always_inline)) enum calls_result
calls_feed(struct calls *c, const struct event *e, struct call *done)
{
	uint32_t thread = calls_thread(e), place = e->place, *bucket;
	struct stack *s = thread < c->size ? c->stacks[thread] : NULL;
	struct frame *f;
	uint64_t total;

	if (__builtin_expect(!s || !s->count || !(e->type->flags & TYPE_DEPTH), 0))
		return calls_feed_copy(c, *e, done);
	f = &s->frames[s->count - 1];
	if (e->type->kind == KIND_ENTER) {
		if (__builtin_expect(f->depth >= e->depth || s->count == s->capacity ||
					     place >= c->special_size ||
					     c->special[place] != PLACE_ORDINARY,
				     0))
			return calls_feed_copy(c, *e, done);
		s->last = e->time;
		s->lane = e->lane;
		bucket = &s->buckets[place % CALL_BUCKETS];
		f[1] = (struct frame){.start = e->time,
				      .place = place,
				      .depth = e->depth,
				      .below = *bucket,
				      .begun = true};
		*bucket = (uint32_t)++s->count;
		return CALLS_ENTER;
	}
	if (__builtin_expect(e->type->kind != KIND_LEAVE || f->depth != e->depth || f->inner ||
				     !f->begun || s->count < 2 || !place || e->time < f->start,
			     0))
		return calls_feed_copy(c, *e, done);
	s->last = e->time;
	s->lane = e->lane;
	s->count--;
	s->buckets[f->place % CALL_BUCKETS] = f->below;
	total = e->time - f->start;
	f[-1].child += total;
	done->lane = e->lane;
	done->place = place;
	done->caller = f[-1].place;
	done->level = (uint32_t)s->count + s->implicit;
	done->start = f->start;
	done->end = e->time;
	done->total = total;
	done->self = f->child < total ? total - f->child : 0;
	done->recursive = stack_has(s, place);
	done->inner = false;
	done->unfinished = false;
	return CALLS_LEAVE;
}

/* The end of the trace: close what is open, thread by thread, top frame first. Call until false. */
bool calls_finish(struct calls *c, struct call *done);

/* The thread's stack as it stands, or NULL. For those who print or filter by it. */
const struct stack *calls_stack(const struct calls *c, const struct event *e);

#endif
