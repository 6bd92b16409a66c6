/*
 * calls_rows.h - calls_next for loops over the rows of narrow blocks; calls_try_* are for callers
 * that only pair, as with calls.pairs_only
 */
#ifndef TR_CALLS_CALLS_ROWS_H
#define TR_CALLS_CALLS_ROWS_H

#include "common/calls/calls.h"

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
					     (open->count && (open->count >= CALLS_NUMBERED_LIMIT ||
							      open_calls_has(open, source, call))),
				     0))
			return CALLS_SLOW;
		index = c->numbered.free - 1;
		c->numbered.free = c->numbered.calls[index].next;
		open->recent = (struct open_call){key, index};
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
	if (__builtin_expect(c->open.count || c->open.recent.key, 0) &&
	    ((c->open.count && c->open.recent.key) || c->open.count >= CALLS_NUMBERED_LIMIT ||
	     open_calls_has(&c->open, lane->source->number, get_u32(enter + et->call))))
		return false;
	s->last = l->time;
	s->lane = lane;
	return true;
}

#endif
