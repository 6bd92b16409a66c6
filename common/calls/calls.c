#include "common/calls/calls.h"

#include <stdlib.h>

#include "common/util/buffer.h"
#include "common/calls/calls_private.h"
#include "common/stream/field.h"

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

enum { BUCKETS = 64, FRAMES_OF_A_BUCKET = 4 };

struct stack *calls_empty_stack(struct calls *c)
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
	struct stack *s;

	if (ARRAY_REACH(c->stacks, c->size, thread))
		goto fail;
	s = calls_empty_stack(c);
	c->stacks[thread] = s;
	if (s) {
		s->number = thread;
		s->asks_lane = c->restored.blocks != 0;
	}
	return s;
fail:
	c->out_of_memory = true;
	return NULL;
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

struct stack *calls_stack_at(struct calls *c, uint32_t thread)
{
	struct stack *s = thread < c->size ? c->stacks[thread] : NULL;

	return s ? s : new_stack(c, thread);
}

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
	if (location >= c->execs_size) {
		size_t size = c->execs_size ? c->execs_size : 256;
		uint8_t *execs;

		while (size <= location)
			size *= 2;
		execs = realloc(c->execs, size);
		if (!execs) {
			c->out_of_memory = true;
			return LOCATION_ORDINARY;
		}
		memset(execs + c->execs_size, LOCATION_NOT_ASKED, size - c->execs_size);
		c->execs = execs;
		c->execs_size = size;
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

void calls_set_limits(struct stack *s)
{
	const struct stack *i = s->ignored_inner;
	bool slow = s->exec || s->nnumbered || (s->kernel && s->kernel->count) || (i && i->count);

	s->limit = slow || !s->started		     ? 0
		   : s->capacity < CALLS_STACK_LIMIT ? s->capacity
						     : CALLS_STACK_LIMIT;
	s->floor = slow ? CALLS_NO_LEAVE : s->unseen != 0;
	s->frames[-1].depth = s->unseen - 1;
}

/* Make room for more frames, and for buckets of as many. */
static bool grow(const struct calls *c, struct stack *s)
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

bool calls_push(struct calls *c, struct stack *s, const struct frame *f)
{
	if (s->count == s->capacity && !grow(c, s)) {
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

int calls_put(struct calls *c, struct stack *s, const struct frame *f)
{
	if (!calls_push(c, s, f))
		return -1;
	calls_start(s);
	if (calls_enters_exec(c, f->location) && !s->exec)
		calls_set_exec(s, s->count);
	return 0;
}

void calls_set_exec(struct stack *s, size_t exec)
{
	s->exec = exec;
	calls_set_limits(s);
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

enum calls_result calls_enter(struct calls *c, struct stack *s, const struct event *e)
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
			calls_forget_image(c, s);
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

enum calls_result calls_leave(struct calls *c, struct stack *s, const struct event *e,
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

/* Process an event on the stacks. */
static inline enum calls_result take(struct calls *c, struct stack *s, const struct event *e,
				     struct call *done)
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

void calls_describe_entered(const struct calls *c, const struct event *e, struct call *call)
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
		got = take(c, s, e, call);
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
