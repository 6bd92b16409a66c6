/*
 * calls.c - the call engine: pairs enters and leaves
 */
#include "common/calls/calls.h"

#include <stdlib.h>
#include <string.h>

#include "common/stream/field.h"
#include "common/stream/snapshot.h"
#include "common/util/buffer.h"
#include "common/util/error.h"

/* --- frames --- */

enum { BUCKETS = 64, FRAMES_OF_A_BUCKET = 4 };

static inline struct frame *top(struct stack *s)
{
	return s->count ? &s->frames[s->count - 1] : NULL;
}

static inline void pop(struct stack *s)
{
	calls_take(s);
}

/* Set limit and floor, which decide which rows are processed in line. */
static void calls_set_limits(struct stack *s)
{
	const struct stack *i = s->ignored_inner;
	bool slow = s->exec || s->nnumbered || (s->kernel && s->kernel->count) || (i && i->count);

	s->limit = slow || !s->started		     ? 0
		   : s->capacity < CALLS_STACK_LIMIT ? s->capacity
						     : CALLS_STACK_LIMIT;
	s->floor = slow ? CALLS_NO_LEAVE : s->unseen != 0;
	s->frames[-1].depth = s->unseen - 1;
}

/* Forget the number of a frame of a call with a number. */
static void calls_nested_forget(struct calls *c, struct stack *s, const struct frame *f)
{
	const struct numbered_call *n;
	uint64_t index;

	if (!f->numbered)
		return;
	s->nnumbered--;
	calls_set_limits(s);
	n = &c->numbered.calls[f->numbered - 1];
	if (!n->replaced)
		open_calls_take(&c->open, n->lane->source->number, n->number, &index);
	calls_number_free(c, f->numbered - 1);
}

/* Discard the top frame, which has no leave. */
static inline void lose(struct calls *c, struct stack *s, enum calls_lost why)
{
	struct frame f = *top(s);

	pop(s);
	if (__builtin_expect(s->nnumbered != 0, 0))
		calls_nested_forget(c, s, &f);
	if (c->on_lost &&
	    (c->balances || (f.begun && (s == c->stacks[s->number] || !s->frames[0].outside))))
		c->on_lost(c->on_lost_ctx, s, &f, calls_data(c, s, s->count), why);
}

/* Test whether an event is from inside the exec: a recorder's own calls, or a wrapper that calls
 * the real one. */
static inline bool inside_exec(const struct stack *s, const struct event *e)
{
	return e->type->flags & TYPE_DEPTH && e->depth > s->frames[s->exec - 1].depth;
}

/* Test whether the stream declares that rows of the stack are left out. */
static inline bool calls_left_out(const struct calls *c, struct stack *s)
{
	s->left_out = s->left_out || dictionary_left_out(c->dictionary, s->number);
	return s->left_out;
}

/* Test whether a call that counts only inside another one is in none, not even in one that is
 * left out. */
static inline bool calls_outside(const struct calls *c, struct stack *s, uint64_t time)
{
	if (!calls_left_out(c, s))
		return !s->count && !s->unseen;
	return !s->count && !s->unseen &&
	       dictionary_outside(c->dictionary, s->number, c->moved_from ? c->moved_from : time);
}

/* Test whether the next row with a depth is the stack's first one. */
static inline bool calls_is_first(const struct calls *c, struct stack *s)
{
	if (!s->started && s->asks_lane)
		s->started = dictionary_started(c->dictionary, s->number);
	return !s->started;
}

/* Test whether rows of the type are of the calls on their thread's first stack, but for those with
 * TYPE_INNER. */
static inline bool calls_is_own(const struct type *t)
{
	return (t->kind == KIND_ENTER || t->kind == KIND_LEAVE) &&
	       !(t->flags & (TYPE_INNER | TYPE_KERNEL | TYPE_CALL_NUMBER));
}

/* Clip the begin of a call without an enter to the caller's range. */
static inline uint64_t calls_clipped(const struct calls *c, uint64_t since)
{
	return since < c->since ? c->since : since;
}

static void calls_set_exec(struct stack *s, size_t exec)
{
	s->exec = exec;
	calls_set_limits(s);
}

static inline void calls_set_unseen(struct stack *s, uint32_t n)
{
	s->unseen = n;
	calls_set_limits(s);
}

/* Discard the frames at this depth or deeper. A call with a number is as deep as the call below it;
 * UINT32_MAX: less deep than all others. */
static void calls_lose_from(struct calls *c, struct stack *s, uint32_t depth, enum calls_lost why)
{
	while (s->count && s->frames[s->count - 1].depth + 1 > depth) {
		lose(c, s, why);
		c->counts.lost++;
	}
	if (!s->count && s->unseen > depth)
		calls_set_unseen(s, depth);
}

static inline void lose_from(struct calls *c, struct stack *s, uint32_t depth, enum calls_lost why)
{
	uint32_t open = s->count ? s->frames[s->count - 1].depth + 1 : s->unseen;

	if (__builtin_expect(open > depth, 0))
		calls_lose_from(c, s, depth, why);
}

static inline void calls_start(struct stack *s)
{
	if (__builtin_expect(!s->started, 0)) {
		s->started = true;
		calls_set_limits(s);
	}
}

/* Forget the open exec if it is no longer on the stack: it has failed. */
static inline void end_exec(struct stack *s)
{
	if (__builtin_expect(s->exec > s->count, 0))
		calls_set_exec(s, 0);
}

/* Put frame number i, whose enter was seen, into its bucket. */
static void link_frame(struct stack *s, size_t i)
{
	struct frame *f = &s->frames[i];
	uint32_t *bucket = &s->buckets[f->location & s->mask];

	f->recursive = f->location ? stack_has(s, f->location) : calls_has_unknown(s);
	f->below = *bucket;
	if (!f->recursive)
		*bucket = (uint32_t)i + 1;
}

/* Make room for more frames, and for buckets of as many. */
static bool calls_grow(const struct calls *c, struct stack *s)
{
	size_t n = s->mask + 1;
	size_t capacity = s->capacity;
	struct frame *frames = s->frames - 1;
	uint32_t *buckets;

	capacity += capacity != 0;
	if (ARRAY_GROW(frames, capacity, s->count + 1))
		return false;
	capacity--;
	s->frames = ++frames;
	/* pairs in line write the depth only */
	if (c->pairs_only)
		memset(frames + s->count, 0, (capacity - s->count) * sizeof(*frames));
	if (c->data_size) {
		uint8_t *data = reallocarray(s->data, capacity + 1, c->data_size);

		if (!data)
			return false;
		s->data = data;
	}
	s->capacity = capacity;
	calls_set_limits(s);
	if (s->capacity <= n * FRAMES_OF_A_BUCKET || c->pairs_only)
		return true;
	while (n * FRAMES_OF_A_BUCKET < s->capacity)
		n *= 2;
	buckets = calloc(n, sizeof(*buckets));
	if (!buckets)
		return false;
	free(s->buckets);
	s->buckets = buckets;
	s->mask = (uint32_t)n - 1;
	for (size_t i = 0; i < s->count; i++)
		if (s->frames[i].begun)
			link_frame(s, i);
	return true;
}

/* false: out of memory. */
static bool calls_push(struct calls *c, struct stack *s, const struct frame *f)
{
	if (s->count == s->capacity && !calls_grow(c, s)) {
		c->out_of_memory = true;
		return false;
	}
	if (c->data_size)
		calls_clear_data(c, calls_data(c, s, s->count));
	s->frames[s->count++] = *f;
	if (f->begun && !c->pairs_only)
		link_frame(s, s->count - 1);
	return true;
}

/* Add the time of a callee to its caller's child time. */
static inline void calls_charge(struct calls *c, struct stack *s, uint64_t total)
{
	struct frame *caller = top(s);

	if (caller) {
		add_saturated(&caller->child, total);
	} else if (s->unseen) {
		/* the frame below has no enter: from now on it needs a record */
		struct frame f = {.start = s->unseen_since, .child = total, .depth = s->unseen - 1};

		calls_set_unseen(s, s->unseen - 1);

		/* the data of the call that has just ended stay at the stack's count */
		if (c->data_size && s->capacity)
			memcpy(calls_data(c, s, 1), calls_data(c, s, 0), c->data_size);
		calls_push(c, s, &f);
	}
}

/* Fill *done with a call whose frame was popped, and whose location is known as well as it will be.
 */
static inline void calls_end(struct calls *c, struct stack *s, const struct frame *f, uint64_t end,
			     struct call *done)
{
	uint64_t total = end > f->start ? end - f->start : 0;

	calls_charge(c, s, total);
	*done = (struct call){.lane = c->stacks[s->number]->lane,
			      .location = f->location,
			      .caller = s->count ? s->frames[s->count - 1].location : 0,
			      .level = (uint32_t)s->count + s->unseen,
			      .start = f->start,
			      .end = f->start + total,
			      .total = total,
			      .self = f->child < total ? total - f->child : 0,
			      .recursive = f->location ? stack_has(s, f->location)
						       : calls_has_unknown(s),
			      .inner = f->inner};
}

/* Describe a call that calls_end ended at the end of the trace. s: its stack. */
static inline void calls_end_open(struct calls *c, const struct stack *s, const struct frame *f,
				  struct call *done)
{
	done->unfinished = true;
	done->lane = f->lane ? f->lane : done->lane;
	done->type = f->type ? f->type : s->type;
	done->kernel = s != c->stacks[s->number];
	c->counts.unfinished++;
}

/* NULL: out of memory. */
static struct stack *calls_empty_stack(struct calls *c)
{
	struct stack *s = calloc(1, sizeof(*s));
	struct frame *frames = calloc(1, sizeof(*frames));

	if (s)
		s->buckets = calloc(BUCKETS, sizeof(*s->buckets));
	if (!s || !s->buckets || !frames) {
		if (s)
			free(s->buckets);
		free(s);
		free(frames);
		c->out_of_memory = true;
		return NULL;
	}
	s->frames = frames + 1;
	s->mask = BUCKETS - 1;
	calls_set_limits(s);
	return s;
}

static struct stack *new_stack(struct calls *c, uint32_t thread)
{
	struct stack *s = ARRAY_REACH(c->stacks, c->size, thread) ? NULL : calls_empty_stack(c);

	if (!s) {
		c->out_of_memory = true;
		return NULL;
	}
	s->number = thread;
	s->asks_lane = c->restored.blocks != 0;
	c->stacks[thread] = s;
	return s;
}

/* Get the stack of a thread by its number; a new one is created. NULL when out of memory. */
static struct stack *calls_stack_at(struct calls *c, uint32_t thread)
{
	struct stack *s = thread < c->size ? c->stacks[thread] : NULL;

	return s ? s : new_stack(c, thread);
}

/* Make the stack of a thread's calls in the kernel, or of those that do not count. NULL: out of
 * memory. */
static struct stack *calls_kernel_stack(struct calls *c, const struct stack *s)
{
	struct stack *k = calls_empty_stack(c);

	if (!k)
		return NULL;
	/* calls entered before the trace are left out */
	k->started = true;
	k->number = s->number;
	return k;
}

/* Test whether each row of the type has a call number. Enters with stacks are left to calls_next.
 */
static void calls_set_number(const struct type *t, struct calls_row_type *row)
{
	const struct field *f = t->flags & TYPE_CALL_NUMBER ? field_by_role(t, ROLE_CALL) : NULL;
	bool numbered = !(t->flags & TYPE_PER_CPU) && !t->has_stacks && f &&
			f->where == WHERE_FIXED && f->size == 4 &&
			f->offset <= UINT16_MAX - NARROW_ROW;

	row->numbered = numbered && (t->kind == KIND_ENTER || t->kind == KIND_LEAVE) ? t->kind : 0;
	row->call = (uint16_t)(numbered ? NARROW_ROW + f->offset : 0);
}

int calls_rows(struct calls *c, const struct block *b, struct calls_rows *cr)
{
	bool per_cpu = false;

	cr->block = b;
	cr->locations = b->locations;
	cr->careful = false;
	for (uint32_t i = 1; i <= b->nlocations; i++)
		cr->careful |= !calls_ordinary(c, b->locations[i]) &&
			       calls_enters_exec(c, b->locations[i]);
	for (uint32_t i = 0; i < b->ntypes && i < 256; i++) {
		const struct type *t = b->types[i];
		bool call = t->kind == KIND_ENTER || t->kind == KIND_LEAVE;

		call = call && t->flags & TYPE_DEPTH &&
		       !(t->flags & (TYPE_INNER | TYPE_CALL_NUMBER | TYPE_KERNEL));
		cr->types[i].kind = call ? t->kind : 0;
		calls_set_number(t, &cr->types[i]);
		cr->type[i] = t;
		cr->types[i].instant = kind_is_instant(t->kind);
		cr->types[i].stack = t->flags & TYPE_PER_CPU ? 256 : 0;
		per_cpu |= t->flags & TYPE_PER_CPU;
	}
	for (uint32_t i = 0; i < b->nlanes && i < 256; i++) {
		const struct lane *l = b->lanes[i];

		cr->lanes[i] = l;
		cr->stacks[i] = calls_stack_at(c, l->thread);
		cr->stacks[256 + i] = per_cpu ? calls_stack_at(c, l->cpu_thread) : NULL;
		if (!cr->stacks[i] || (per_cpu && !cr->stacks[256 + i]))
			return -1;
		/* so, if a thread has two lanes, one differs */
		cr->careful |= per_cpu || cr->stacks[i]->lane != l;
	}
	return 0;
}

bool calls_rows_shared(struct calls_rows *cr, const struct block *b)
{
	bool shared = false;

	for (uint32_t i = 0; i < b->nlanes && i < 256; i++)
		cr->stacks[i]->lane = NULL;
	for (uint32_t i = 0; i < b->nlanes && i < 256; i++) {
		shared |= cr->stacks[i]->lane != NULL;
		cr->stacks[i]->lane = b->lanes[i];
	}
	return shared;
}

/* --- calls that end without a leave: longjmp, exec, lost events, rows of KIND_DROP --- */

/* End the calls of the old image: an exec succeeded. */
static void calls_lose_image(struct calls *c, struct stack *s)
{
	while ((c->on_lost || s->nnumbered) && s->count)
		lose(c, s, LOST_EXEC);
	s->count = 0;
	s->unseen = 0;
	calls_set_exec(s, 0);
	memset(s->buckets, 0, (s->mask + 1) * sizeof(*s->buckets));
}

/* Process a row of KIND_DROP, for a stack that is fully known. */
static void calls_drop(struct calls *c, struct stack *s, const struct event *e)
{
	bool kernel = e->type->flags & TYPE_KERNEL;
	struct stack *of;

	if (kernel && !s->kernel)
		s->kernel = calls_kernel_stack(c, s);
	of = kernel ? s->kernel : s;
	if (!of)
		return;
	if (!(e->type->flags & TYPE_INNER))
		lose_from(c, of, e->depth, LOST_DEPTH);
	while (of->count && top(of)->inner && e->type->flags & TYPE_INNER) {
		lose(c, of, LOST_INNER);
		c->counts.lost++;
	}
	end_exec(of);
	calls_set_limits(s);
}

/* --- frames that only calls.balances has --- */

/* With calls.balances: enter and leave a call with TYPE_INNER that does not
 * count. */
static enum calls_result calls_ignored_enter(struct calls *c, const struct stack *s,
					     const struct event *e)
{
	struct frame f = {.start = e->time, .location = e->location, .inner = true, .begun = true};
	struct stack *base = c->stacks[s->number];

	if (!base->ignored_inner)
		base->ignored_inner = calls_kernel_stack(c, base);
	if (!base->ignored_inner || base->ignored_inner->count >= CALLS_STACK_LIMIT ||
	    !calls_push(c, base->ignored_inner, &f))
		return CALLS_NONE;
	calls_set_limits(base);
	c->stack = base->ignored_inner;
	c->data = calls_data(c, c->stack, c->stack->count - 1);
	c->ignored = true;
	return CALLS_ENTER;
}

static enum calls_result calls_ignored_leave(struct calls *c, const struct stack *s,
					     const struct event *e, struct call *done)
{
	struct stack *i = c->stacks[s->number]->ignored_inner;
	struct frame f;

	if (!i || !i->count)
		return CALLS_NONE;
	f = *top(i);
	pop(i);
	calls_set_limits(c->stacks[s->number]);
	calls_end(c, i, &f, e->time, done);
	c->stack = i;
	c->data = calls_data(c, i, i->count);
	c->ignored = true;
	return CALLS_LEAVE;
}

/* With calls.balances: give each call that was open before the first row a frame. */
static void calls_push_unseen(struct calls *c, struct stack *s)
{
	struct frame f = {.start = s->unseen_since};

	for (; f.depth < s->unseen && calls_push(c, s, &f); f.depth++)
		;
	calls_set_unseen(s, 0);
}

/* --- calls with numbers, which may overlap within one thread --- */

/* Make room for one more call, and for its data. */
static int numbered_grow(struct calls *c)
{
	size_t capacity = c->numbered.capacity;

	if (ARRAY_GROW(c->numbered.calls, capacity, c->numbered.count))
		return -1;
	if (c->data_size && capacity > c->numbered.capacity) {
		uint8_t *data = reallocarray(c->numbered.data, capacity, c->data_size);

		if (!data)
			return -1;
		c->numbered.data = data;
	}
	c->numbered.capacity = capacity;
	return 0;
}

static inline __attribute__((always_inline)) struct numbered_call *
numbered_new(struct calls *c, uint32_t source, uint32_t call)
{
	struct numbered_call *n;
	size_t index;

	if (c->numbered.free) {
		index = c->numbered.free - 1;
		c->numbered.free = c->numbered.calls[index].next;
	} else {
		if (numbered_grow(c))
			goto fail;
		index = c->numbered.count++;
	}
	n = &c->numbered.calls[index];
	n->number = call;
	n->serial = ++c->numbered.serial;
	n->replaced = false;
	c->data = NULL;
	if (c->data_size)
		c->data = calls_clear_data(c, calls_numbered_data(c, index));
	if (!open_calls_put(&c->open, source, call, index))
		return n;
fail:
	c->out_of_memory = true;
	return NULL;
}

/* Add a call to the table of open calls; the caller sets start, lane, type, location and thread.
 * NULL: out of memory. */
static struct numbered_call *calls_number_new(struct calls *c, uint32_t source, uint32_t call)
{
	return numbered_new(c, source, call);
}

/*
 * Calls with numbers on the stacks of their threads (calls.numbers_on_stacks).
 *
 * The table of open calls finds the frame of a call that is left. A call whose number another call
 * has now stays open, but only the call below it can end it.
 */

/* Enter and leave a call with a number, on the stack. */
static int calls_nested_enter(struct calls *c, struct stack *s, const struct event *e,
			      uint32_t call)
{
	struct frame f = {.start = e->time, .location = e->location, .begun = true};
	uint32_t source = e->lane->source->number;
	struct numbered_call *n;
	uint64_t index;

	f.depth = s->count ? s->frames[s->count - 1].depth : s->unseen - 1;
	if (open_calls_take(&c->open, source, call, &index))
		c->numbered.calls[index].replaced = true;
	n = calls_number_new(c, source, call);
	if (!n)
		return -1;
	n->lane = e->lane;
	n->thread = s->number;
	n->frame = s->count;
	f.numbered = (uint32_t)(n - c->numbered.calls) + 1;
	if (!calls_push(c, s, &f))
		return -1;
	s->nnumbered++;
	calls_set_limits(s);
	c->data = calls_data(c, s, s->count - 1);
	return 0;
}

static enum calls_result calls_nested_leave(struct calls *c, struct stack *s, const struct event *e,
					    uint32_t call, struct call *done)
{
	uint32_t source = e->lane->source->number;
	struct frame f;
	uint64_t index;

	if (!open_calls_take(&c->open, source, call, &index)) {
		c->counts.unmatched++;
		return CALLS_NONE;
	}
	if (c->numbered.calls[index].thread != s->number) {
		c->counts.unmatched++;
		c->out_of_memory |= open_calls_put(&c->open, source, call, index) != 0;
		return CALLS_NONE;
	}
	while (s->count > c->numbered.calls[index].frame + 1) {
		lose(c, s, LOST_DEPTH);
		c->counts.lost++;
	}
	f = *top(s);
	pop(s);
	s->nnumbered--;
	calls_set_limits(s);
	calls_number_free(c, index);
	end_exec(s);
	if (e->location)
		f.location = e->location;
	calls_end(c, s, &f, e->time, done);
	c->data = calls_data(c, s, s->count);
	return CALLS_LEAVE;
}

/* Discard the calls with numbers on top of the call that a leave ends. */
static void calls_nested_clear(struct calls *c, struct stack *s, const struct event *leave)
{
	bool by_depth = leave->type->flags & TYPE_DEPTH;

	/* no call without a number is open, so the leave ends no open call */
	if (!by_depth && s->nnumbered == s->count)
		return;
	while (s->count && (by_depth ? top(s)->numbered && top(s)->depth == leave->depth
				     : top(s)->numbered || top(s)->inner)) {
		lose(c, s, top(s)->inner ? LOST_INNER : LOST_DEPTH);
		c->counts.lost++;
	}
}

static int copy_stack(struct calls *c, struct stack *to, const struct stack *from)
{
	to->last = from->last;
	to->lane = from->lane;
	to->type = from->type;
	to->started = from->started;
	to->unseen = from->unseen;
	to->unseen_since = from->unseen_since;
	for (size_t i = 0; i < from->count; i++) {
		if (!from->frames[i].inner && !calls_push(c, to, &from->frames[i]))
			return -1;
		if (from->exec == i + 1)
			to->exec = to->count;
	}
	calls_set_limits(to);
	return 0;
}

int calls_copy(struct calls *to, const struct calls *from)
{
	for (uint32_t i = 0; i < from->size; i++) {
		struct stack *s = from->stacks[i] ? calls_stack_at(to, i) : NULL;

		if (from->stacks[i] && (!s || copy_stack(to, s, from->stacks[i])))
			return -1;
	}
	return 0;
}

/* Take a call out of the table. Its slot and its data are valid until the next enter. */
static const struct numbered_call *numbered_close(struct calls *c, size_t index)
{
	struct numbered_call *n = &c->numbered.calls[index];

	calls_number_free(c, index);
	c->data = calls_numbered_data(c, index);
	return n;
}

/* Discard a call whose number another call has now. */
static void numbered_lose(struct calls *c, size_t index)
{
	const struct numbered_call *n = numbered_close(c, index);
	struct frame f = {.start = n->start, .location = n->location, .begun = true};

	c->counts.lost++;
	if (c->on_lost)
		c->on_lost(c->on_lost_ctx, c->pairs_only ? NULL : c->stacks[n->thread], &f, c->data,
			   LOST_NUMBER);
}

static inline __attribute__((always_inline)) int number_enter(struct calls *c,
							      const struct event *e, uint32_t call)
{
	uint32_t source = e->lane->source->number;
	struct numbered_call *n;
	uint64_t index;

	if (c->numbers_on_stacks)
		return calls_nested_enter(c, c->stacks[calls_thread(e)], e, call);
	if (__builtin_expect(open_calls_take(&c->open, source, call, &index), 0))
		numbered_lose(c, index);
	n = numbered_new(c, source, call);
	if (!n)
		return -1;
	n->start = e->time;
	n->lane = e->lane;
	n->type = e->type;
	n->location = e->location;
	n->stack = event_stack(c->dictionary, e);
	n->thread = calls_thread(e);
	return 0;
}

/* Add an open numbered call. */
static int calls_number_enter(struct calls *c, const struct event *e, uint32_t call)
{
	return number_enter(c, e, call);
}

static enum calls_result numbered_enter(struct calls *c, const struct event *e, uint32_t call)
{
	if (open_calls_count(&c->open) >= CALLS_NUMBERED_LIMIT) {
		c->counts.lost++;
		return CALLS_NONE;
	}
	return number_enter(c, e, call) ? CALLS_NONE : CALLS_ENTER;
}

static enum calls_result numbered_leave(struct calls *c, const struct event *e, uint32_t call,
					struct call *done)
{
	const struct numbered_call *n;
	uint64_t index, total;

	if (!open_calls_take(&c->open, e->lane->source->number, call, &index)) {
		c->counts.unmatched++;
		return CALLS_NONE;
	}
	n = numbered_close(c, index);
	total = e->time > n->start ? e->time - n->start : 0;
	*done = (struct call){.lane = n->lane,
			      .location = e->location ? e->location : n->location,
			      .start = n->start,
			      .end = n->start + total,
			      .total = total,
			      .self = total,
			      .stack = n->stack};
	return CALLS_LEAVE;
}

static enum calls_result calls_numbered(struct calls *c, struct stack *s, const struct event *e,
					struct call *done)
{
	uint32_t call;

	s->last = e->time;
	s->lane = e->lane;
	if (!field_call(e, &call))
		return CALLS_NONE;
	if (e->type->kind == KIND_ENTER)
		return numbered_enter(c, e, call);
	if (e->type->kind == KIND_LEAVE && c->numbers_on_stacks)
		return calls_nested_leave(c, s, e, call, done);
	return e->type->kind == KIND_LEAVE ? numbered_leave(c, e, call, done) : CALLS_NONE;
}

static int by_thread_and_begin(const void *a, const void *b, void *calls)
{
	const struct numbered_call *x = (struct numbered_call *)calls + *(const uint32_t *)a;
	const struct numbered_call *y = (struct numbered_call *)calls + *(const uint32_t *)b;

	if (x->thread != y->thread)
		return x->thread > y->thread ? 1 : -1;
	return x->serial < y->serial ? 1 : -1;
}

/* List the open calls, the last of which ends first. */
static void list_ends(struct calls *c)
{
	uint64_t index;
	size_t n = 0;

	c->numbered.ends = calloc(open_calls_count(&c->open), sizeof(*c->numbered.ends));
	if (!c->numbered.ends) {
		c->out_of_memory = true;
		return;
	}
	while (open_calls_take_any(&c->open, &index))
		c->numbered.ends[n++] = (uint32_t)index;
	qsort_r(c->numbered.ends, n, sizeof(*c->numbered.ends), by_thread_and_begin,
		c->numbered.calls);
	c->numbered.nends = n;
}

static bool calls_numbered_finish(struct calls *c, struct call *done)
{
	const struct numbered_call *n;
	uint64_t end;

	if (open_calls_count(&c->open) && !c->numbers_on_stacks)
		list_ends(c);
	if (c->numbered.ended == c->numbered.nends)
		return false;
	n = numbered_close(c, c->numbered.ends[c->numbered.ended++]);
	end = c->stacks[n->thread]->last;
	end = end > n->start ? end : n->start;
	*done = (struct call){.lane = n->lane,
			      .location = n->location,
			      .start = n->start,
			      .end = end,
			      .total = end - n->start,
			      .self = end - n->start,
			      .unfinished = true,
			      .stack = n->stack,
			      .type = n->type,
			      .number = n->number};
	c->counts.unfinished++;
	return true;
}

/* --- enters and leaves --- */

/* The functions that put another program in the place of this one. */
static bool is_exec(const char *name)
{
	static const char *const names[] = {"execl",  "execlp", "execle",  "execv",
					    "execve", "execvp", "execvpe", "fexecve"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static uint8_t ask_exec(struct calls *c, uint32_t location)
{
	/* new elements are LOCATION_NOT_ASKED */
	if (ARRAY_REACH(c->execs, c->execs_size, location)) {
		c->out_of_memory = true;
		return LOCATION_ORDINARY;
	}
	c->execs[location] =
		location && is_exec(dictionary_location_name(c->dictionary, location).text)
			? LOCATION_EXEC
			: LOCATION_ORDINARY;
	return c->execs[location];
}

bool calls_enters_exec(struct calls *c, uint32_t location)
{
	uint8_t s = location < c->execs_size ? c->execs[location] : LOCATION_NOT_ASKED;

	return (s ? s : ask_exec(c, location)) == LOCATION_EXEC;
}

int calls_put(struct calls *c, struct stack *s, const struct frame *f)
{
	if (!calls_push(c, s, f))
		return -1;
	calls_start(s);
	if (calls_enters_exec(c, f->location) && !s->exec)
		calls_set_exec(s, s->count);
	return 0;
}

/* Begin a stack at its first row with a depth: n calls are open, unless earlier rows were left
 * out. */
static void show_unseen(struct calls *c, struct stack *s, const struct event *e, uint32_t n)
{
	const struct thread_facts *f = dictionary_facts(c->dictionary, s->number);
	bool left_out = calls_left_out(c, s);

	lose_from(c, s, 0, LOST_DEPTH);
	end_exec(s);
	s->started = true;
	calls_set_unseen(s, !left_out ? n : f ? f->unseen : 0);
	s->unseen_since = left_out && f ? calls_clipped(c, f->since) : e->time;
	s->by_depth = true;
	if (c->balances)
		calls_push_unseen(c, s);
}

static uint32_t next_depth(struct stack *s)
{
	return s->count ? s->frames[s->count - 1].depth + 1 : s->unseen;
}

/* Parts of calls_next, for callers that have checked their conditions. */
static enum calls_result calls_enter(struct calls *c, struct stack *s, const struct event *e)
{
	uint16_t flags = e->type->flags;
	struct frame f = {.start = e->time,
			  .lane = e->lane,
			  .type = e->type,
			  .location = e->location,
			  .begun = true};

	if (flags & TYPE_INNER) {
		/* the next event shows whether an exec on top succeeded */
		if ((s->exec && s->exec == s->count) || calls_outside(c, s, e->time)) {
			c->counts.ignored_inner++;
			return c->balances ? calls_ignored_enter(c, s, e) : CALLS_NONE;
		}
		f.inner = true;
		f.depth = next_depth(s);
		/* the types of calls that have ended are not restored (calls_restore) */
		if (!s->count && !s->unseen)
			s->type = e->type;
	} else {
		s->type = e->type;
		if (s->exec && !inside_exec(s, e))
			calls_lose_image(c, s);
		if (flags & TYPE_DEPTH) {
			f.depth = e->depth;
			if (calls_is_first(c, s))
				show_unseen(c, s, e, f.depth);
			lose_from(c, s, f.depth, LOST_DEPTH);
		} else {
			f.depth = next_depth(s);
		}
		calls_start(s);
	}
	if (c->balances && s->count >= CALLS_STACK_LIMIT) {
		s->beyond += !(flags & TYPE_DEPTH);
		return CALLS_NONE;
	}
	if (!calls_push(c, s, &f))
		return CALLS_NONE;
	c->data = calls_data(c, s, s->count - 1);
	c->stack = s;
	if (__builtin_expect(calls_enters_exec(c, e->location), 0) && !s->exec)
		calls_set_exec(s, s->count);
	return CALLS_ENTER;
}

bool calls_has_unknown(const struct stack *s)
{
	return s->unseen || (s->count && !s->frames[0].begun) || stack_has(s, 0);
}

static enum calls_result calls_leave(struct calls *c, struct stack *s, const struct event *e,
				     struct call *done)
{
	struct frame f, *t;

	if (e->type->flags & TYPE_INNER) {
		t = top(s);
		if (!t || !t->inner)
			return c->balances ? calls_ignored_leave(c, s, e, done) : CALLS_NONE;
	} else if (e->type->flags & TYPE_DEPTH) {
		if (calls_is_first(c, s)) {
			s->type = e->type;
			show_unseen(c, s, e, e->depth + 1);
		}
		lose_from(c, s, e->depth + 1, LOST_DEPTH);
		if (__builtin_expect(s->nnumbered != 0, 0))
			calls_nested_clear(c, s, e);
		end_exec(s);
		t = top(s);
		if (!t && s->unseen == e->depth + 1) {
			calls_set_unseen(s, s->unseen - 1);
			f = (struct frame){.start = s->unseen_since, .location = e->location};
			calls_end(c, s, &f, e->time, done);
			c->data = NULL;
			c->stack = s;
			return CALLS_LEAVE;
		}
		if (!t || t->depth != e->depth) {
			c->counts.unmatched++;
			return CALLS_NONE;
		}
	} else if (__builtin_expect(s->beyond != 0, 0)) {
		s->beyond--;
		return CALLS_NONE;
	} else {
		if (__builtin_expect(s->nnumbered != 0, 0))
			calls_nested_clear(c, s, e);
		/* a task scheduled out on top of the call ends with it */
		while ((t = top(s)) && t->inner)
			lose(c, s, LOST_INNER);
		end_exec(s);
		if (!t || (s->nnumbered && t->numbered)) {
			c->counts.unmatched++;
			return CALLS_NONE;
		}
	}
	f = *t;
	pop(s);
	end_exec(s);
	if (e->location)
		f.location = e->location;
	calls_end(c, s, &f, e->time, done);
	c->data = f.begun || c->balances ? calls_data(c, s, s->count) : NULL;
	c->stack = s;
	return CALLS_LEAVE;
}

/* --- calls inside the kernel, on top of the other calls of their thread --- */

/* Charge the time of the kernel's call since kernel_since to its caller. */
static void charge_kernel(struct calls *c, struct stack *s, uint64_t time)
{
	if (s->kernel->frames[0].outside || time <= s->kernel_since)
		return;
	calls_charge(c, s, time - s->kernel_since);
	s->kernel_since = time;
}

/* Process a row of a call outside the kernel while calls in the kernel are open. */
static void calls_pass_kernel(struct calls *c, struct stack *s, uint64_t time)
{
	if (s->passed) {
		lose_from(c, s->kernel, 0, LOST_KERNEL);
		end_exec(s->kernel);
		calls_set_limits(s);
		return;
	}
	s->passed = true;
	charge_kernel(c, s, time);
}

static uint32_t calls_open_calls(const struct stack *s)
{
	return (uint32_t)s->count + s->unseen;
}

/* Set caller and level of a finished call in the kernel. */
static void set_kernel_caller(const struct stack *s, struct call *done)
{
	if (!s->kernel->count)
		done->caller = s->count ? s->frames[s->count - 1].location : 0;
	done->level += calls_open_calls(s);
}

void calls_charge_lost(struct calls *c, struct stack *s, uint64_t total)
{
	struct stack *base = c->stacks[s->number];

	if (s == base || s->count)
		calls_charge(c, s, total);
	else
		charge_kernel(c, base, base->last);
}

/* Discard the calls with TYPE_INNER on top at that depth or deeper. */
static void lose_inner(struct calls *c, struct stack *k, uint32_t depth)
{
	while (k->count && top(k)->inner && top(k)->depth >= depth)
		lose(c, k, LOST_INNER);
}

/* Get the result for a call in the kernel, which does not count outside any call. */
static enum calls_result kernel_result(struct calls *c, enum calls_result got, bool outside)
{
	c->ignored |= outside;
	return outside && !c->balances ? CALLS_NONE : got;
}

static enum calls_result calls_kernel(struct calls *c, struct stack *s, const struct event *e,
				      struct call *done)
{
	struct stack *k = s->kernel;
	enum calls_result got;
	bool outside = calls_outside(c, s, e->time);

	if (!k)
		k = s->kernel = calls_kernel_stack(c, s);
	if (!k)
		return CALLS_NONE;
	s->passed = false;
	if (e->type->kind == KIND_ENTER) {
		got = calls_enter(c, k, e);
		if (got == CALLS_ENTER && k->count == 1) {
			s->kernel_since = e->time;
			k->frames[0].outside = outside;
		}
		outside = k->count && k->frames[0].outside;
	} else {
		uint64_t unmatched = c->counts.unmatched;
		uint32_t depth = e->type->flags & TYPE_DEPTH ? e->depth
				 : k->count		     ? top(k)->depth
							     : 0;

		lose_inner(c, k, depth);
		outside = k->count ? k->frames[0].outside : outside;
		if (k->count && k->frames[0].depth == depth && calls_open_calls(s))
			charge_kernel(c, s, e->time);
		/* a call with INNER has the depth of the call below it, which ends */
		lose_from(c, k, depth + 1, LOST_DEPTH);
		lose_inner(c, k, depth);
		got = calls_leave(c, k, e, done);
		if (got == CALLS_LEAVE)
			set_kernel_caller(s, done);
		if (outside) {
			c->counts.unmatched = unmatched;
			c->counts.ignored_kernel += got == CALLS_LEAVE;
		}
	}
	calls_set_limits(s);
	return kernel_result(c, got, outside);
}

/* Process scheduling out or in while calls in the kernel are open. */
static enum calls_result calls_kernel_inner(struct calls *c, struct stack *s, const struct event *e,
					    struct call *done)
{
	struct stack *k = s->kernel;
	enum calls_result got;

	if (e->type->kind == KIND_ENTER) {
		got = calls_enter(c, k, e);
		/* later calls of the kernel are inside */
		if (got == CALLS_ENTER && c->stack == k)
			top(k)->depth--;
		return kernel_result(c, got, k->frames[0].outside);
	}
	if (!top(k)->inner)
		return calls_leave(c, s, e, done);
	got = calls_leave(c, k, e, done);
	if (got == CALLS_LEAVE)
		set_kernel_caller(s, done);
	return kernel_result(c, got, k->frames[0].outside);
}

/* Parts of calls_finish: get the next call that is open in the kernel, or has a number. */
static bool calls_kernel_finish(struct calls *c, struct stack *s, struct call *done)
{
	struct stack *k = s->kernel;
	struct frame f;

	if (!k || !k->count)
		return false;
	if (k->frames[0].outside) {
		c->counts.ignored_kernel += k->count;
		k->count = 0;
		return false;
	}
	if (k->count == 1 && calls_open_calls(s))
		charge_kernel(c, s, s->last);
	f = *top(k);
	pop(k);
	calls_end(c, k, &f, s->last, done);
	c->data = calls_data(c, k, k->count);
	set_kernel_caller(s, done);
	calls_end_open(c, k, &f, done);
	return true;
}

/* --- calls --- */

void calls_init(struct calls *c, struct dictionary *d)
{
	*c = (struct calls){.dictionary = d, .end.until = UINT64_MAX, .restored.first = UINT64_MAX};
}

static void free_stack(struct stack *s)
{
	if (!s)
		return;
	free_stack(s->kernel);
	free_stack(s->ignored_inner);
	free(s->gone);
	free(s->frames - 1);
	free(s->data);
	free(s->buckets);
	free(s);
}

void calls_free(struct calls *c)
{
	for (size_t i = 0; i < c->size; i++)
		free_stack(c->stacks[i]);
	free(c->stacks);
	free(c->execs);
	free(c->numbered.calls);
	free(c->numbered.data);
	free(c->numbered.ends);
	open_calls_free(&c->open);
	open_calls_free(&c->restored.before);
	*c = (struct calls){0};
}

const struct stack *calls_stack(const struct calls *c, const struct event *e)
{
	const struct stack *s = calls_thread_stack(c, calls_thread(e));

	if (s && (e->type->flags & TYPE_KERNEL ||
		  (e->type->flags & TYPE_INNER && s->kernel && s->kernel->count)))
		return s->kernel;
	return s;
}

uint32_t calls_depth(const struct calls *c, const struct event *e)
{
	const struct stack *s = calls_stack(c, e);

	return s ? (uint32_t)(s->count - (e->type->kind == KIND_ENTER && s->count)) + s->unseen : 0;
}

/* Process an event on the stacks. */
static inline enum calls_result common_calls_take(struct calls *c, struct stack *s,
						  const struct event *e, struct call *done)
{
	s->last = e->time;
	s->lane = e->lane;
	if (e->type->flags & TYPE_KERNEL &&
	    (e->type->kind == KIND_ENTER || e->type->kind == KIND_LEAVE))
		return calls_kernel(c, s, e, done);
	if (__builtin_expect(s->kernel && s->kernel->count, 0) &&
	    (e->type->kind == KIND_ENTER || e->type->kind == KIND_LEAVE)) {
		if (e->type->flags & TYPE_INNER) /* scheduled out inside the kernel */
			return calls_kernel_inner(c, s, e, done);
		calls_pass_kernel(c, s, e->time);
	}
	if (__builtin_expect(s->ignored_inner && s->ignored_inner->count, 0) &&
	    calls_is_own(e->type)) {
		lose_from(c, s->ignored_inner, 0, LOST_INNER);
		calls_set_limits(s);
	}
	if (e->type->kind == KIND_ENTER)
		return calls_enter(c, s, e);
	if (e->type->kind == KIND_LEAVE)
		return calls_leave(c, s, e, done);
	if (__builtin_expect(e->type->kind == KIND_DROP, 0))
		calls_drop(c, s, e);
	return CALLS_NONE;
}

/* Describe a call that was entered, of which the engine has noted data and stack. */
static void calls_describe_entered(const struct calls *c, const struct event *e, struct call *call)
{
	const struct stack *s = c->stack, *base = c->stacks[calls_thread(e)];

	*call = (struct call){.lane = e->lane,
			      .location = e->location,
			      .start = e->time,
			      .end = e->time,
			      .inner = e->type->flags & TYPE_INNER,
			      .type = e->type,
			      .data = c->data,
			      .on = c->stack,
			      .ignored = c->ignored};
	if (!s)
		return;
	call->level = (uint32_t)s->count - 1 + s->unseen;
	call->recursive = s->frames[s->count - 1].recursive;
	call->caller = s->count > 1 ? s->frames[s->count - 2].location : 0;
	if (s == base)
		return;
	call->level += (uint32_t)base->count + base->unseen;
	if (s->count == 1 && base->count)
		call->caller = base->frames[base->count - 1].location;
}

enum calls_result calls_slow(struct calls *c, const struct event *e, struct call *call)
{
	uint32_t thread = calls_thread(e);
	struct stack *s = thread < c->size ? c->stacks[thread] : NULL;
	enum calls_result got;

	if (e->type->kind == KIND_GAP)
		return CALLS_NONE;
	if (__builtin_expect(!s, 0)) {
		s = new_stack(c, thread);
		if (!s)
			return CALLS_NONE;
	}
	if (kind_is_instant(e->type->kind)) {
		s->last = e->time;
		s->lane = e->lane;
		return CALLS_NONE;
	}
	c->ignored = false;
	if (e->type->flags & TYPE_CALL_NUMBER) {
		c->stack = NULL;
		got = calls_numbered(c, s, e, call);
	} else {
		got = common_calls_take(c, s, e, call);
	}
	if (got == CALLS_ENTER) {
		calls_describe_entered(c, e, call);
	} else if (got == CALLS_LEAVE) {
		call->type = e->type;
		call->data = c->data;
		call->on = c->stack;
		call->ignored = c->ignored;
	}
	return got;
}

/* --- addresses of open calls --- */

enum { STACK_OWN, STACK_KERNEL, STACK_IGNORED };

struct call_address calls_address(const struct calls *c, const struct stack *s, const void *data)
{
	const struct stack *own;
	struct call_address at;

	if (!s) {
		size_t offset = (size_t)((const uint8_t *)data - c->numbered.data);

		return (struct call_address){CALL_NUMBERED, (uint32_t)(offset / c->data_size)};
	}
	own = c->stacks[s->number];
	at = calls_address_own(own, s->count - 1);
	at.stack += s == own ? STACK_OWN : s == own->kernel ? STACK_KERNEL : STACK_IGNORED;
	return at;
}

const struct stack *calls_address_stack(const struct calls *c, struct call_address at)
{
	const struct stack *s =
		at.stack == CALL_NUMBERED ? NULL : calls_thread_stack(c, at.stack / CALL_STACKS);

	if (!s || at.stack % CALL_STACKS == STACK_OWN)
		return s;
	return at.stack % CALL_STACKS == STACK_KERNEL ? s->kernel : s->ignored_inner;
}

void *calls_at(const struct calls *c, struct call_address at)
{
	const struct stack *s = calls_address_stack(c, at);

	if (at.stack == CALL_NUMBERED)
		return at.number < c->numbered.count ? calls_numbered_data(c, at.number) : NULL;
	return s && at.number < s->count ? calls_data(c, s, at.number) : NULL;
}

/* --- calls run --- */

#ifdef __x86_64__
#include <immintrin.h>

enum { LANES = 16 }; /* so many lanes are looked up in a register */

/* The highest byte of each row is not 0 if the row is as deep as table has it for its lane, or
 * less deep. */
__attribute__((target("avx2"))) static inline __m256i low_rows(const uint8_t *rows, __m256i table)
{
	__m256i row = _mm256_loadu_si256((const __m256i *)rows);
	__m256i low = _mm256_shuffle_epi8(table, _mm256_slli_epi64(row, 56 - NARROW_LANE));

	return _mm256_cmpeq_epi8(_mm256_max_epu8(_mm256_slli_epi64(row, 56 - NARROW_DEPTH), low),
				 low);
}

/*
 * Go back over rows that are as deep as a later row of their lane, eight at once. CPU of trfilter
 * 'name == "fib"' on a saved uftrace recording: 1.08 times as much without this. The rows' lanes
 * are below LANES.
 */
__attribute__((target("avx2"))) static const uint8_t *
skip_deep(const struct calls_run *r, const uint8_t *from, const uint8_t *to)
{
	const size_t four = 4 * NARROW_ROW;
	uint8_t below[LANES];
	__m256i table;

	/* a row at depth 0 is taken for a low one, which costs time only */
	for (int i = 0; i < LANES; i++)
		below[i] = r->low[i] ? (uint8_t)(r->low[i] - 1) : 0;
	table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)below));
	for (; (size_t)(to - from) >= 2 * four; to -= 2 * four)
		if (_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_or_si256(
			    low_rows(to - four, table), low_rows(to - 2 * four, table)))))
			break;
	return to;
}
#endif

static void calls_run_row(struct calls_run *r, const uint8_t *p)
{
	uint32_t lane = row_lane_at(p), depth = row_depth_at(p);
	uint8_t kind;

	if (__builtin_expect(depth >= r->low[lane], 1))
		return;
	kind = r->kinds[row_type_at(p)];
	if (!kind)
		return;
	if (r->low[lane] == RUN_NO_ROWS)
		memset(r->open[lane], 0, sizeof(r->open[lane]));
	if (kind == KIND_ENTER)
		r->open[lane][depth / 64] |= 1ull << depth % 64;
	r->low[lane] = (uint16_t)depth;
}

void calls_run_read(struct calls_run *r, const uint8_t *kinds, uint32_t nlanes, const uint8_t *from,
		    const uint8_t *to)
{
#ifdef __x86_64__
	bool skips = nlanes <= LANES && __builtin_cpu_supports("avx2");
#endif

	r->kinds = kinds;
	for (int i = 0; i < 256; i++)
		r->low[i] = RUN_NO_ROWS;
	while (to > from) {
#ifdef __x86_64__
		if (skips)
			to = skip_deep(r, from, to);
#endif
		for (int i = 0; i < 8 && to > from; i++)
			calls_run_row(r, to -= NARROW_ROW);
	}
}

int calls_run_end(struct calls *c, struct stack *s, const struct calls_run *r, uint32_t lane,
		  size_t *new)
{
	*new = s->count;
	if (r->low[lane] == RUN_NO_ROWS)
		return 0;
	while (s->count && s->frames[s->count - 1].depth >= r->low[lane])
		calls_take(s);
	*new = s->count;
	for (uint32_t i = 0; i < RUN_DEPTHS / 64; i++)
		for (uint64_t bits = r->open[lane][i]; bits; bits &= bits - 1) {
			uint32_t depth = 64 * i + (uint32_t)__builtin_ctzll(bits);

			if (calls_put(c, s, &(struct frame){.depth = depth, .begun = true}))
				return -1;
		}
	return 0;
}

/* --- calls that are open at the end of the trace --- */

/* Begin a stack without a row that has a depth, but with calls that no row entered or left. */
static struct stack *begin_unseen(struct calls *c, uint32_t thread, const struct thread_facts *f)
{
	struct stack *s = calls_stack_at(c, thread);

	if (!s)
		return NULL;
	s->started = true;
	calls_set_unseen(s, f->unseen);
	s->unseen_since = calls_clipped(c, f->since);
	return s;
}

/* Set the last times of threads whose last rows were left out, at the end of the stream. */
static void calls_take_ends(struct calls *c)
{
	c->end.known = true;
	for (uint32_t i = 0; i < c->dictionary->nfacts; i++) {
		const struct thread_facts *f = dictionary_facts(c->dictionary, i);
		struct stack *s = i < c->size ? c->stacks[i] : NULL;
		bool stale;

		if (f && f->keeps_unseen &&
		    (s ? calls_is_first(c, s)
		       : !c->restored.blocks || !dictionary_started(c->dictionary, i)))
			s = begin_unseen(c, i, f);
		if (!f || !s)
			continue;
		/* open is of an earlier segment if the stack had rows since */
		stale = f->last < s->last || f->last > c->end.until;
		if (f->last > s->last) {
			s->last = f->last < c->end.until ? f->last : c->end.until;
			s->lane = f->lane;
		}
		if (f->has_open && !stale)
			lose_from(c, s, f->open, LOST_DEPTH);
	}
}

/* Forget the calls without an enter if rows of the stack are left out: their leaves may be left
 * out too. */
static void forget_unseen(struct calls *c, struct stack *s)
{
	const struct thread_facts *f = dictionary_facts(c->dictionary, s->number);

	if (!calls_left_out(c, s) || (f && f->keeps_unseen))
		return;
	calls_set_unseen(s, 0);
	while (s->count && !top(s)->begun)
		pop(s);
}

void calls_pass_until(struct calls *c, uint32_t thread)
{
	struct stack *s = thread < c->size ? c->stacks[thread] : NULL;

	if (s && s->last < c->end.until)
		s->last = c->end.until;
}

static bool common_calls_finish(struct calls *c, struct call *done)
{
	if (!c->end.known)
		calls_take_ends(c);
	for (; c->end.thread < c->size; c->end.thread++) {
		struct stack *s = c->stacks[c->end.thread];
		struct frame f;

		if (!s)
			continue;
		if (calls_kernel_finish(c, s, done))
			return true;
		if (s->exec) {
			if (c->on_lost)
				calls_lose_image(c, s);
			continue;
		}
		forget_unseen(c, s);
		if (!s->count && s->unseen) {
			struct frame below = {.start = s->unseen_since, .depth = s->unseen - 1};

			calls_set_unseen(s, s->unseen - 1);
			if (!calls_push(c, s, &below))
				continue;
		}
		if (!s->count)
			continue;
		f = *top(s);
		pop(s);
		/* a caller took at least what its callees took */
		calls_end(c, s, &f,
			  s->last < f.start || s->last - f.start < f.child ? f.start + f.child
									   : s->last,
			  done);
		c->data = f.begun ? calls_data(c, s, s->count) : NULL;
		calls_end_open(c, s, &f, done);
		return true;
	}
	return calls_numbered_finish(c, done);
}

bool calls_finish(struct calls *c, struct call *done)
{
	if (!common_calls_finish(c, done))
		return false;
	done->data = c->data;
	return true;
}

/*
 * Opens the calls of a snapshot (SNAPSHOT in trstream(5)), in the place of those that are open.
 *
 *     open before    main > f > g
 *     snapshot       main > f > h       main and f go on (with on_forget), g is forgotten, and h
 *                                       restored
 */

/* Forget the frames from a number on, the innermost first, and before them the calls in the kernel.
 */
static void forget_frames(struct calls *c, struct stack *s, size_t from)
{
	bool outside = s->count && s->frames[0].outside;

	if (s->kernel && s->count > from)
		forget_frames(c, s->kernel, 0);
	while (s->count > from) {
		struct frame f = *top(s);

		pop(s);
		if (s->nnumbered)
			calls_nested_forget(c, s, &f);
		else
			f.numbered = 0; /* is not set */
		if (c->on_forget && (c->balances || (f.begun && !outside)))
			c->on_forget(c->on_lost_ctx, s, &f, calls_data(c, s, s->count));
	}
}

/* Forget the calls of a stack, whose beginning the lanes show from now on, except those that may go
 * on. */
static void reset(struct calls *c, struct stack *s, bool goes_on)
{
	if (!goes_on && s->kernel)
		forget_frames(c, s->kernel, 0);
	if (!goes_on)
		forget_frames(c, s, 0);
	if (s->ignored_inner)
		forget_frames(c, s->ignored_inner, 0);
	s->beyond = 0;
	s->restored = 0;
	if (s->kernel) {
		s->kernel->restored = 0;
		calls_set_exec(s->kernel, 0);
	}
	s->unseen = 0;
	s->exec = 0;
	s->kernel_base = s->ngone = 0;
	s->started = s->passed = false;
	s->asks_lane = true;
	calls_set_limits(s);
}

/* Forget a numbered call. */
static void forget_numbered(struct calls *c, size_t index)
{
	const struct numbered_call *n = &c->numbered.calls[index];
	struct frame f = {.start = n->start,
			  .location = n->location,
			  .numbered = (uint32_t)index + 1,
			  .begun = true};

	if (c->on_forget)
		c->on_forget(c->on_lost_ctx, c->stacks[n->thread], &f,
			     calls_numbered_data(c, index));
	calls_number_free(c, index);
}

/* Forget the numbered calls that a snapshot has not. */
static void forget_before(struct calls *c)
{
	uint64_t index;

	while (open_calls_take_any(&c->restored.before, &index))
		forget_numbered(c, index);
	open_calls_free(&c->restored.before);
}

/* Test whether a lane, which may be NULL, is of the sources; NULL: of the present stream. */
static bool is_of(const struct calls *c, const uint8_t *sources, const struct lane *l)
{
	return sources ? l && sources[l->source->number] : calls_of_stream(c, l);
}

/* Move the numbered calls of the sources to another table; NULL: forget them. */
static int move_numbered(struct calls *c, const uint8_t *sources, struct open_calls *to)
{
	struct open_calls kept = {0};
	uint64_t key, index;
	int bad = 0;

	if (!open_calls_count(&c->open))
		return 0;
	while (!bad && open_calls_take_next(&c->open, &key, &index)) {
		bool moves = is_of(c, sources, c->numbered.calls[index].lane);

		if (moves && !to)
			forget_numbered(c, index);
		else
			bad = open_calls_put(moves ? to : &kept, (uint32_t)((key - 1) >> 32),
					     (uint32_t)(key - 1), index);
	}
	open_calls_free(&c->open);
	c->open = kept;
	return bad;
}

/* Test whether calls of a stack may be in the block too. */
static bool calls_goes_on(const struct calls *c, const struct stack *s)
{
	return c->on_forget && calls_of_stream(c, s->lane) && s->restores == c->restored.blocks;
}

/* Forget the calls of the stacks of the sources that do not go on. */
static void forget_stacks(struct calls *c, const uint8_t *sources)
{
	for (size_t i = 0; i < c->size; i++) {
		struct stack *s = c->stacks[i];

		if (s && !s->lane) /* no row yet */
			s->asks_lane = true;
		else if (s && is_of(c, sources, s->lane) && (sources || !calls_goes_on(c, s)))
			reset(c, s, false);
	}
}

/* Forget the calls of the stream, except those that may go on: numbered calls, and stacks that have
 * a record in the snapshot. */
static int forget_stream(struct calls *c, const struct snapshot *snapshot)
{
	struct snapshot_walk w;

	snapshot_walk(&w, snapshot);
	while (snapshot_next_thread(&w)) {
		struct stack *s = calls_stack_at(c, snapshot_stack(w.lane, w.thread.flags));

		if (!s)
			return -1;
		s->restores = c->restored.blocks;
	}
	forget_stacks(c, NULL);
	forget_before(c);
	return c->numbers_on_stacks
		       ? 0
		       : move_numbered(c, NULL, c->on_forget ? &c->restored.before : NULL);
}

int calls_forget_sources(struct calls *c, const uint8_t *sources)
{
	c->restored.blocks++;
	forget_stacks(c, sources);
	return c->numbers_on_stacks ? 0 : move_numbered(c, sources, NULL);
}

void calls_forget_all(struct calls *c)
{
	uint64_t index;

	for (size_t i = 0; i < c->size; i++)
		if (c->stacks[i])
			reset(c, c->stacks[i], false);
	while (open_calls_take_any(&c->open, &index))
		forget_numbered(c, index);
	forget_before(c);
}

/* Push a frame, unless the next one of the stack is the same call, which goes on. Returns 1 for a
 * call that goes on. */
static int push(struct calls *c, struct stack *s, const struct frame *f)
{
	size_t i = s->restored++;
	struct frame *old = i < s->count ? &s->frames[i] : NULL;

	c->stack = s;
	if (old && old->begun == f->begun && old->location == f->location &&
	    old->depth == f->depth && old->inner == f->inner && !old->numbered &&
	    (!f->begun || old->start == f->start)) {
		old->start = f->start;
		old->child = f->child;
		old->outside = f->outside;
		c->data = calls_data(c, s, i);
		return 1;
	}
	forget_frames(c, s, i);
	if (!calls_push(c, s, f))
		return -1;
	c->data = calls_data(c, s, i);
	c->ignored = s->frames[0].outside;
	return 0;
}

/* Push the calls that were open before the first row. */
static int push_unseen(struct calls *c, struct stack *s, const struct snapshot_thread *t)
{
	bool charged = t->unseen && (t->flags & SNAPSHOT_CHARGED || t->child);

	s->unseen = c->balances ? 0 : t->unseen - charged;
	s->unseen_since = t->since;
	for (uint32_t i = s->unseen; i < t->unseen; i++) {
		struct frame f = {
			.start = t->since, .child = i + 1 == t->unseen ? t->child : 0, .depth = i};

		if (push(c, s, &f) < 0)
			return -1;
	}
	return 0;
}

/* Set the data of a stack from its thread record, except its frames. */
static int calls_take_thread(struct calls *c, struct stack *s, const struct snapshot_walk *w)
{
	const struct snapshot_thread *t = &w->thread;

	s->restores = c->restored.blocks;
	reset(c, s, calls_goes_on(c, s));
	s->lane = w->lane;
	s->type = w->type;
	s->by_depth = w->type && w->type->flags & TYPE_DEPTH;
	s->passed = t->flags & SNAPSHOT_PASSED;
	s->kernel_since = t->kernel_since;
	s->kernel_base = t->base;
	s->asks_lane = !(t->flags & SNAPSHOT_UNSTARTED);
	s->started = s->asks_lane && (t->unseen || dictionary_started(c->dictionary, s->number));
	if (push_unseen(c, s, t))
		return -1;
	if (t->gone) {
		uint32_t *gone = realloc(s->gone, t->gone * sizeof(*gone));

		if (!gone)
			return -1;
		s->gone = gone;
	}
	s->ngone = t->gone;
	for (uint32_t i = 0; i < t->gone; i++)
		s->gone[i] = snapshot_gone(w, i);
	return 0;
}

static int push_call(struct calls *c, struct stack *s, const struct snapshot_walk *w)
{
	const struct event *e = &w->enter;
	struct frame f = {.start = e->time,
			  .child = w->frame.child,
			  .lane = e->lane,
			  .type = e->type,
			  .location = e->location,
			  .depth = w->frame.depth,
			  .inner = e->type->flags & TYPE_INNER,
			  .outside = w->frame.flags & SNAPSHOT_OUTSIDE && !s->restored,
			  .begun = true};
	int got = push(c, s, &f);

	if (got >= 0 && calls_enters_exec(c, e->location) && !s->exec)
		s->exec = s->restored;
	return got;
}

/* Push a call of the kernel's stack. */
static int push_kernel(struct calls *c, struct stack *s, const struct snapshot_walk *w)
{
	forget_frames(c, s, s->restored);
	if (!s->kernel)
		s->kernel = calls_kernel_stack(c, s);
	if (!s->kernel)
		return -1;
	s->kernel->type = w->kernel_type;
	return push_call(c, s->kernel, w);
}

/* Push a call with a number, unless the next frame of the stack is the same call. */
static int push_nested(struct calls *c, struct stack *s, const struct event *e, uint32_t call)
{
	const struct frame *f = &s->frames[s->restored++];

	if (s->restored <= s->count && f->numbered && f->start == e->time) {
		const struct numbered_call *n = &c->numbered.calls[f->numbered - 1];

		if (!n->replaced && n->number == call && n->lane->source == e->lane->source)
			return 1;
	}
	forget_frames(c, s, s->restored - 1);
	return calls_nested_enter(c, s, e, call);
}

/* Enter a call with a number, unless it goes on. */
static int push_numbered(struct calls *c, struct stack *s, const struct event *e)
{
	uint32_t call, source = e->lane->source->number;
	uint64_t index;

	if (!field_call(e, &call) || open_calls_count(&c->open) >= CALLS_NUMBERED_LIMIT)
		return 1;
	if (c->numbers_on_stacks)
		return push_nested(c, s, e, call);
	if (open_calls_take(&c->restored.before, source, call, &index)) {
		const struct numbered_call *n = &c->numbered.calls[index];

		if (n->start == e->time && n->location == e->location && n->thread == s->number)
			return open_calls_put(&c->open, source, call, index) ? -1 : 1;
		forget_numbered(c, index);
	}
	return calls_number_enter(c, e, call);
}

static int calls_take_frame(struct calls *c, struct stack *s, const struct snapshot_walk *w)
{
	bool kernel = w->frame.flags & SNAPSHOT_IN_KERNEL;
	struct call call;
	int got;

	if (w->frame.flags & SNAPSHOT_LEFT_OUT) {
		/* the call was below the lowest one in the kernel */
		s->kernel_base -= !kernel && s->restored + s->unseen < s->kernel_base;
		return 0;
	}
	c->restored.frame = w->frames - 1;
	if (w->enter.type->flags & TYPE_CALL_NUMBER) {
		c->stack = NULL;
		c->ignored = false;
		got = push_numbered(c, s, &w->enter);
	} else {
		got = kernel ? push_kernel(c, s, w) : push_call(c, s, w);
		s->started |= s->asks_lane && !kernel && !(w->enter.type->flags & TYPE_INNER);
		calls_set_limits(s);
	}
	if (got)
		return got < 0 ? -1 : 0;
	if (!c->on_restore)
		return 0;
	calls_describe_entered(c, &w->enter, &call);
	return c->on_restore(c->on_restore_ctx, &w->enter, &call);
}

static int calls_take_threads(struct calls *c, const struct snapshot *snapshot)
{
	struct snapshot_walk w;

	snapshot_walk(&w, snapshot);
	while (snapshot_next_thread(&w)) {
		struct stack *s = calls_stack_at(c, snapshot_stack(w.lane, w.thread.flags));

		if (!s || (!(w.thread.flags & SNAPSHOT_CONTINUED) && calls_take_thread(c, s, &w)))
			return -1;
		s->restores = c->restored.blocks;
		while (snapshot_next_frame(&w))
			if (calls_take_frame(c, s, &w))
				return -1;
		forget_frames(c, s, s->restored);
		if (s->kernel)
			forget_frames(c, s->kernel, s->kernel->restored);
		/* not before: calls that were forgotten have ended at its last event */
		s->last = w.thread.last;
		calls_set_limits(s);
	}
	return 0;
}

int calls_restore(struct calls *c, const struct block *b, struct error *e)
{
	const struct snapshot *s = b->kind == BLOCK_SNAPSHOT ? b->snapshot : NULL;
	bool last;

	if (!s)
		return 0;
	e->what[0] = '\0';
	c->restored.error = e;
	c->restored.blocks++;
	c->restored.first = s->head.first;
	last = !(s->head.flags & SNAPSHOT_MORE);
	if ((!s->continues && forget_stream(c, s)) || calls_take_threads(c, s))
		return e->what[0] ? -1 : error_no_memory(e);
	if (last)
		forget_before(c);
	if (c->restored.done && c->restored.done(c->restored.ctx, last))
		return e->what[0] ? -1 : error_no_memory(e);
	return 0;
}

const struct clock *calls_restore_clock(const struct block *b)
{
	struct snapshot_walk w;

	if (!b->snapshot)
		return NULL;
	snapshot_walk(&w, b->snapshot);
	return snapshot_next_thread(&w) ? w.lane->clock : NULL;
}

void calls_restore_since(const struct block *b, uint64_t since)
{
	if (b->snapshot)
		b->snapshot->since = since;
}

const char *calls_restore_misses(const struct block *b)
{
	uint32_t flags = b->snapshot ? b->snapshot->head.flags : 0;

	/* RESTART: after a loss, which the program that lost rows reported */
	if (!(flags & SNAPSHOT_APPROXIMATE) || flags & SNAPSHOT_RESTART)
		return NULL;
	return "an incomplete snapshot: times of calls, callers and depths may be wrong";
}
