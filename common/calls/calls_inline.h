/*
 * calls_inline.h - calls.h in line, for loops over the rows of blocks
 */
#ifndef TR_CALLS_CALLS_INLINE_H
#define TR_CALLS_CALLS_INLINE_H

#include "common/calls/calls.h"

/*
 * Lookup tables of a block of narrow rows (event.h), by the block's indexes of lanes and types. A
 * loop over rows needs no other lookup.
 */
struct calls_block {
	struct stack *stacks[256]; /* by lane; NULL: none yet */
	uint8_t kinds[256]; /* by type: KIND_ENTER and KIND_LEAVE of recorded depth, else 0 */
};
void calls_block(const struct calls *c, const struct block *b, struct calls_block *cb);

/* Test whether this location is known to be no exec*. calls_try may process only enters of such
 * locations. */
static inline bool calls_ordinary(const struct calls *c, uint32_t location)
{
	return location && location < c->special_size && c->special[location] == LOCATION_ORDINARY;
}

/*
 * Process the common rows in line: an enter one level deeper than the top frame, and the leave of
 * the top frame, of a location that is not an exec*. CALLS_SLOW: the row is another one, and the
 * state is unchanged; the caller passes it to calls_feed. lane and level of *done are not set.
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
		/* one by one: the compiler would first clear all of it, slowly */
		f[1].start = r->time;
		f[1].child = 0;
		f[1].lane = NULL;
		f[1].type = NULL;
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
	add_saturated(&f[-1].child, done->total);
	return CALLS_LEAVE;
}

/*
 * Lookup tables of a block whose lanes and types are of any kind. All lanes have stacks, so a row
 * can change other data of its thread in place.
 */
struct calls_rows {
	const struct block *block;
	struct stack *stacks[512]; /* by lane; from 256 on those of types with TYPE_PER_CPU */
	struct calls_row_type {
		uint8_t kind;	  /* KIND_ENTER and KIND_LEAVE of recorded depth, else 0 */
		uint8_t numbered; /* the same for types with call numbers, per thread */
		uint16_t stack;	  /* offset to add to the lane */
		uint32_t call;	  /* offset of the call number in a narrow row */
	} types[256];
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

/* Test whether only calls_feed may process rows of the stack: an exec is open, or calls in the
 * kernel or such that do not count are. */
static inline bool calls_is_special(const struct stack *s)
{
	return s->floor != 1;
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
	s->lane = cr->block->lanes[r->lane];
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
 * Process a common row as calls_try does, and record also what calls_finish needs. It also takes
 * rows at the bottom of a stack, where traces of system calls always are.
 */
static inline __attribute__((always_inline)) enum calls_result
calls_try_row(const struct calls_rows *cr, const struct plain_row *r, uint32_t location,
	      const struct lane *lane, const struct type *type, struct call *done)
{
	const struct event e = {.time = r->time,
				.depth = r->depth,
				.location = location,
				.lane = lane,
				.type = type};

	return calls_try_on(cr->stacks[r->lane + cr->types[r->type].stack], cr->types[r->type].kind,
			    &e, done, false);
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

/* Process a common event as calls_try_row does, of any block and any location. The data of a new
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
 * c->data gets the data, for a new call those that the slot had before. CALLS_SLOW: as calls_try.
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
 * passes both to calls_feed.
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
