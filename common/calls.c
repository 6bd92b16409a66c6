#include "calls.h"

#include <stdlib.h>

#include "buffer.h"

void calls_init(struct calls *c, struct dictionary *d)
{
	*c = (struct calls){.dictionary = d};
}

void calls_free(struct calls *c)
{
	for (size_t i = 0; i < c->size; i++)
		if (c->stacks[i]) {
			free(c->stacks[i]->frames);
			free(c->stacks[i]);
		}
	free(c->stacks);
	free(c->special);
	*c = (struct calls){0};
}

static struct stack *new_stack(struct calls *c, uint32_t thread)
{
	if (thread >= c->size) {
		size_t size = c->size ? c->size : 16;
		struct stack **stacks;

		while (size <= thread)
			size *= 2;
		stacks = realloc(c->stacks, size * sizeof(*stacks));
		if (!stacks)
			goto fail;
		memset(stacks + c->size, 0, (size - c->size) * sizeof(*stacks));
		c->stacks = stacks;
		c->size = size;
	}
	c->stacks[thread] = calloc(1, sizeof(**c->stacks));
	if (c->stacks[thread])
		return c->stacks[thread];
fail:
	c->out_of_memory = true;
	return NULL;
}

const struct stack *calls_stack(const struct calls *c, const struct event *e)
{
	uint32_t thread = calls_thread(e);

	return thread < c->size ? c->stacks[thread] : NULL;
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

static uint8_t ask_special(struct calls *c, uint32_t place)
{
	if (place >= c->special_size) {
		size_t size = c->special_size ? c->special_size : 256;
		uint8_t *special;

		while (size <= place)
			size *= 2;
		special = realloc(c->special, size);
		if (!special) {
			c->out_of_memory = true;
			return PLACE_ORDINARY;
		}
		memset(special + c->special_size, PLACE_NOT_ASKED, size - c->special_size);
		c->special = special;
		c->special_size = size;
	}
	c->special[place] = place && is_exec(dictionary_place_name(c->dictionary, place).text)
				    ? PLACE_EXEC
				    : PLACE_ORDINARY;
	return c->special[place];
}

static inline bool enters_exec(struct calls *c, uint32_t place)
{
	uint8_t s = place < c->special_size ? c->special[place] : PLACE_NOT_ASKED;

	return (s ? s : ask_special(c, place)) == PLACE_EXEC;
}

static inline struct frame *top(struct stack *s)
{
	return s->count ? &s->frames[s->count - 1] : NULL;
}

static bool push(struct calls *c, struct stack *s, const struct frame *f)
{
	struct frame *frame;

	if (s->count == s->capacity) {
		frame = array_grow(s->frames, &s->capacity, s->count, sizeof(*frame));
		if (!frame) {
			c->out_of_memory = true;
			return false;
		}
		s->frames = frame;
	}
	frame = &s->frames[s->count++];
	*frame = *f;
	if (f->begun) {
		uint32_t *bucket = &s->buckets[f->place % CALL_BUCKETS];

		frame->below = *bucket;
		*bucket = (uint32_t)s->count;
	}
	return true;
}

static inline void pop(struct stack *s)
{
	struct frame *f = &s->frames[--s->count];

	if (f->begun)
		s->buckets[f->place % CALL_BUCKETS] = f->below;
}

/* Frames at this depth or deeper end without a leave: longjmp, or lost events. */
static inline void drop_from(struct calls *c, struct stack *s, uint32_t depth)
{
	while (s->count && s->frames[s->count - 1].depth >= depth) {
		pop(s);
		c->dropped++;
	}
	if (!s->count && s->implicit > depth)
		s->implicit = depth;
}

/* The old image is gone for good. */
static void forget_hidden(struct stack *s)
{
	s->hidden = 0;
	s->implicit = 0;
	memset(s->buckets, 0, sizeof(s->buckets));
}

static uint32_t next_depth(struct stack *s)
{
	return s->count ? s->frames[s->count - 1].depth + 1 : s->implicit;
}

static enum calls_result enter(struct calls *c, struct stack *s, const struct event *e)
{
	uint16_t flags = e->type->flags;
	struct frame f = {.start = e->time, .place = e->place, .begun = true};

	if (flags & TYPE_INNER) {
		if (!s->count && (!s->implicit || s->hidden))
			return CALLS_NONE;
		f.inner = true;
		f.depth = next_depth(s);
	} else {
		if (s->hidden)
			forget_hidden(s);
		if (flags & TYPE_DEPTH) {
			f.depth = e->depth;
			if (s->started) {
				drop_from(c, s, f.depth);
			} else {
				/* seen first in the middle of things */
				s->implicit = f.depth;
				s->implicit_start = e->time;
			}
		} else {
			f.depth = next_depth(s);
		}
		s->started = true;
	}
	if (!push(c, s, &f))
		return CALLS_NONE;
	if (__builtin_expect(enters_exec(c, e->place), 0)) {
		/* frames stay in memory, to be back if it fails and returns */
		s->hidden = s->count;
		s->count = 0;
		return CALLS_NONE;
	}
	return CALLS_ENTER;
}

/* What a callee took is no longer its caller's own. */
static inline void charge_caller(struct calls *c, struct stack *s, uint64_t total)
{
	struct frame *caller = top(s);

	if (caller) {
		caller->child += total;
	} else if (s->implicit) {
		/* the frame below was never seen: now it has something to keep */
		struct frame f = {
			.start = s->implicit_start, .child = total, .depth = --s->implicit};

		push(c, s, &f);
	}
}

static inline void finish_call(struct calls *c, struct stack *s, const struct frame *f,
			       uint64_t end, uint32_t place, const struct lane *lane,
			       struct call *done)
{
	uint64_t total = end > f->start ? end - f->start : 0;

	charge_caller(c, s, total);
	*done = (struct call){.lane = lane,
			      .place = place,
			      .caller = s->count ? s->frames[s->count - 1].place : 0,
			      .level = (uint32_t)s->count + s->implicit,
			      .start = f->start,
			      .end = end,
			      .total = total,
			      .self = f->child < total ? total - f->child : 0,
			      .recursive = stack_has(s, place),
			      .inner = f->inner};
}

static enum calls_result leave(struct calls *c, struct stack *s, const struct event *e,
			       struct call *done)
{
	struct frame f, *t;

	if (e->type->flags & TYPE_INNER) {
		t = top(s);
		if (!t || !t->inner)
			return CALLS_NONE;
	} else if (e->type->flags & TYPE_DEPTH) {
		if (s->hidden) {
			/* the exec failed */
			s->count = s->hidden;
			s->hidden = 0;
		}
		if (!s->started) {
			s->started = true;
			s->implicit = e->depth + 1;
			s->implicit_start = e->time;
		}
		drop_from(c, s, e->depth + 1);
		t = top(s);
		if (!t && s->implicit == e->depth + 1) {
			s->implicit--;
			f = (struct frame){.start = s->implicit_start, .depth = e->depth};
			finish_call(c, s, &f, e->time, e->place, e->lane, done);
			return CALLS_LEAVE;
		}
		if (!t || t->depth != e->depth) {
			c->unmatched++;
			return CALLS_NONE;
		}
	} else {
		/* what was scheduled out on top of it ends with it */
		while ((t = top(s)) && t->inner)
			pop(s);
		if (!t) {
			c->unmatched++;
			return CALLS_NONE;
		}
	}
	f = *t;
	pop(s);
	finish_call(c, s, &f, e->time, e->place ? e->place : f.place, e->lane, done);
	return CALLS_LEAVE;
}

enum calls_result calls_feed_slow(struct calls *c, const struct event *e, struct call *done)
{
	uint32_t thread = calls_thread(e);
	struct stack *s = thread < c->size ? c->stacks[thread] : NULL;

	if (__builtin_expect(!s, 0)) {
		s = new_stack(c, thread);
		if (!s)
			return CALLS_NONE;
	}
	s->last = e->time;
	s->lane = e->lane;
	if (e->type->kind == KIND_ENTER)
		return enter(c, s, e);
	if (e->type->kind == KIND_LEAVE)
		return leave(c, s, e, done);
	return CALLS_NONE;
}

bool calls_finish(struct calls *c, struct call *done)
{
	for (; c->finishing < c->size; c->finishing++) {
		struct stack *s = c->stacks[c->finishing];
		struct frame f;

		if (!s || s->hidden)
			continue;
		if (!s->count && s->implicit) {
			struct frame below = {.start = s->implicit_start, .depth = --s->implicit};

			if (!push(c, s, &below))
				continue;
		}
		if (!s->count)
			continue;
		f = *top(s);
		pop(s);
		/* a caller took at least what its callees took */
		if (s->last < f.start || s->last - f.start < f.child)
			finish_call(c, s, &f, f.start + f.child, f.place, s->lane, done);
		else
			finish_call(c, s, &f, s->last, f.place, s->lane, done);
		done->unfinished = true;
		c->unfinished++;
		return true;
	}
	return false;
}
