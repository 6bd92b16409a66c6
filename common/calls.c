#include "calls.h"

#include <stdlib.h>

#include "buffer.h"
#include "calls_private.h"
#include "field.h"

void calls_init(struct calls *c, struct dictionary *d)
{
	*c = (struct calls){.dictionary = d};
}

static void free_stack(struct stack *s)
{
	if (!s)
		return;
	cut_free(s->kept);
	free(s->frames);
	free(s->buckets);
	free(s);
}

void calls_free(struct calls *c)
{
	for (size_t i = 0; i < c->size; i++)
		if (c->stacks[i]) {
			free_stack(c->stacks[i]->kernel);
			free_stack(c->stacks[i]);
		}
	free(c->stacks);
	free(c->special);
	free(c->numbered);
	open_calls_free(&c->open);
	cut_free(c->rows);
	*c = (struct calls){0};
}

enum { BUCKETS = 64, FRAMES_OF_A_BUCKET = 4 };

struct stack *calls_empty_stack(struct calls *c)
{
	struct stack *s = calloc(1, sizeof(*s));

	if (s)
		s->buckets = calloc(BUCKETS, sizeof(*s->buckets));
	if (!s || !s->buckets) {
		free(s);
		c->out_of_memory = true;
		return NULL;
	}
	s->mask = BUCKETS - 1;
	s->floor = 1;
	return s;
}

static struct stack *new_stack(struct calls *c, uint32_t thread)
{
	struct stack *s;

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
	s = calls_empty_stack(c);
	c->stacks[thread] = s;
	if (s)
		s->number = thread;
	return s && c->partial && cut_begin(c, s) ? NULL : s;
fail:
	c->out_of_memory = true;
	return NULL;
}

const struct stack *calls_stack(const struct calls *c, const struct event *e)
{
	uint32_t thread = calls_thread(e);
	const struct stack *s = thread < c->size ? c->stacks[thread] : NULL;

	if (s && (e->type->flags & TYPE_KERNEL ||
		  (e->type->flags & TYPE_INNER && s->kernel && s->kernel->count)))
		return s->kernel;
	return s;
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

bool calls_enters_exec(struct calls *c, uint32_t place)
{
	uint8_t s = place < c->special_size ? c->special[place] : PLACE_NOT_ASKED;

	return (s ? s : ask_special(c, place)) == PLACE_EXEC;
}

/* Put frame number i, whose enter was seen, into its bucket. */
static void link_frame(struct stack *s, size_t i)
{
	struct frame *f = &s->frames[i];
	uint32_t *bucket = &s->buckets[f->place & s->mask];

	f->recursive = stack_has(s, f->place);
	f->below = *bucket;
	if (!f->recursive)
		*bucket = (uint32_t)i + 1;
}

void calls_set_limits(struct stack *s)
{
	bool slow = s->exec || (s->kernel && s->kernel->count) || (s->cut && cut_is_slow(s->cut));

	s->limit = slow ? 0 : s->capacity;
	s->floor = slow ? SIZE_MAX : 1;
}

/* Room for more frames, and buckets for as many. */
static bool grow(struct stack *s)
{
	size_t n = s->mask + 1;
	struct frame *frames = array_grow(s->frames, &s->capacity, s->count, sizeof(*frames));
	uint32_t *buckets;

	if (!frames)
		return false;
	s->frames = frames;
	calls_set_limits(s);
	if (s->capacity <= n * FRAMES_OF_A_BUCKET)
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
	if (s->count == s->capacity && !grow(s)) {
		c->out_of_memory = true;
		return false;
	}
	s->frames[s->count++] = *f;
	if (f->begun)
		link_frame(s, s->count - 1);
	return true;
}

void calls_set_exec(struct stack *s, size_t exec)
{
	s->exec = exec;
	calls_set_limits(s);
}

/* The exec succeeded: the old image is gone for good. */
static void forget_image(struct calls *c, struct stack *s)
{
	if (s->cut)
		cut_forget(c, s);
	while (c->on_lost && s->count)
		lose(c, s);
	calls_set_exec(s, 0);
	s->count = 0;
	s->implicit = 0;
	memset(s->buckets, 0, (s->mask + 1) * sizeof(*s->buckets));
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
		/* what an exec that is on top is followed by tells what became of it */
		if ((s->exec && s->exec == s->count) || (!s->count && !s->implicit))
			return CALLS_NONE;
		f.inner = true;
		f.depth = next_depth(s);
	} else {
		s->type = e->type;
		if (s->exec && !inside_exec(s, e))
			forget_image(c, s);
		if (flags & TYPE_DEPTH) {
			f.depth = e->depth;
			if (s->started || c->dictionary->filtered) {
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
	if (!calls_push(c, s, &f))
		return CALLS_NONE;
	if (__builtin_expect(calls_enters_exec(c, e->place), 0) && !s->exec)
		calls_set_exec(s, s->count);
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

		calls_push(c, s, &f);
	}
}

bool calls_has_unknown(const struct stack *s)
{
	return s->implicit || (s->count && !s->frames[0].begun && !s->cut) || stack_has(s, 0);
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
			      .recursive = place ? stack_has(s, place) : calls_has_unknown(s),
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
		if (!s->started && !c->dictionary->filtered) {
			s->started = true;
			s->type = e->type;
			s->implicit = e->depth + 1;
			s->implicit_start = e->time;
		}
		drop_from(c, s, e->depth + 1);
		end_exec(s);
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
			lose(c, s);
		if (!t) {
			c->unmatched++;
			return CALLS_NONE;
		}
	}
	f = *t;
	pop(s);
	end_exec(s);
	finish_call(c, s, &f, e->time, e->place ? e->place : f.place, e->lane, done);
	return CALLS_LEAVE;
}

/* --- calls inside the kernel --- */

/* The part of the kernel's call since it was last looked at is not its caller's own. */
static void charge_kernel(struct calls *c, struct stack *s, uint64_t time)
{
	if (s->kernel->frames[0].outside || time <= s->kernel_since)
		return;
	charge_caller(c, s, time - s->kernel_since);
	s->kernel_since = time;
}

/* A row of the other calls comes while the kernel's are open. */
static void pass_kernel(struct calls *c, struct stack *s, uint64_t time)
{
	if (s->passed) {
		drop_from(c, s->kernel, 0);
		calls_set_limits(s);
		return;
	}
	s->passed = true;
	charge_kernel(c, s, time);
}

static uint32_t open_calls(const struct stack *s)
{
	return (uint32_t)s->count + s->implicit;
}

/* Tell of a call in the kernel what is below it. */
static void place_on(const struct stack *s, struct call *done, bool doubtful)
{
	if (!s->kernel->count)
		done->caller = s->count ? s->frames[s->count - 1].place : 0;
	done->level += open_calls(s);
	if (!s->cut)
		return;
	done->level--;
	done->open = OPEN_LEVEL | OPEN_STACK |
		     (s->count == 1 && !s->kernel->count ? OPEN_CALLER : 0) |
		     (doubtful ? OPEN_IF_CALL | (done->inner ? OPEN_INNER : 0) : 0);
}

void calls_charge_lost(struct calls *c, struct stack *s, uint64_t total)
{
	struct stack *base = c->stacks[s->number];

	if (s == base || s->count)
		charge_caller(c, s, total);
	else
		charge_kernel(c, base, base->last);
}

static enum calls_result kernel_call(struct calls *c, struct stack *s, const struct event *e,
				     struct call *done)
{
	struct stack *k = s->kernel;
	enum calls_result got;
	bool filtered = c->dictionary->filtered, outside = !filtered && !open_calls(s), doubtful;

	if (!k) {
		k = s->kernel = calls_empty_stack(c);
		if (!k)
			return CALLS_NONE;
		/* what was on its way before the trace is left out */
		k->started = true;
		k->number = s->number;
	}
	s->passed = false;
	if (e->type->kind == KIND_ENTER) {
		got = enter(c, k, e);
		if (got == CALLS_ENTER && k->count == 1) {
			s->kernel_since = e->time;
			k->frames[0].outside = outside;
			k->frames[0].doubtful = !filtered && s->cut && s->count == 1;
		}
		outside = k->count && k->frames[0].outside;
		if (outside)
			got = CALLS_NONE;
	} else {
		uint64_t unmatched = c->unmatched;

		while (k->count && top(k)->inner && top(k)->depth >= e->depth)
			lose(c, k);
		outside = k->count ? k->frames[0].outside : outside;
		doubtful = k->count && k->frames[0].doubtful;
		if (k->count && k->frames[0].depth == e->depth)
			charge_kernel(c, s, e->time);
		got = leave(c, k, e, done);
		if (got == CALLS_LEAVE)
			place_on(s, done, doubtful);
		if (outside) {
			c->unmatched = unmatched;
			c->outside += got == CALLS_LEAVE;
			got = CALLS_NONE;
		}
	}
	calls_set_limits(s);
	return got;
}

/* Scheduled out and in while calls in the kernel are open. */
static enum calls_result kernel_inner(struct calls *c, struct stack *s, const struct event *e,
				      struct call *done)
{
	struct stack *k = s->kernel;
	enum calls_result got;

	if (e->type->kind == KIND_ENTER) {
		got = enter(c, k, e);
		/* what the kernel calls then is inside */
		if (got == CALLS_ENTER)
			top(k)->depth--;
		return k->frames[0].outside ? CALLS_NONE : got;
	}
	if (!top(k)->inner)
		return leave(c, s, e, done);
	got = leave(c, k, e, done);
	if (got == CALLS_LEAVE)
		place_on(s, done, k->frames[0].doubtful);
	return k->frames[0].outside ? CALLS_NONE : got;
}

/* The same at the end of the trace: the next of the calls that are open in the kernel. */
static bool kernel_finish(struct calls *c, struct stack *s, struct call *done)
{
	struct stack *k = s->kernel;
	struct frame f;

	if (!k || !k->count)
		return false;
	if (k->frames[0].outside) {
		c->outside += k->count;
		k->count = 0;
		return false;
	}
	if (k->count == 1)
		charge_kernel(c, s, s->last);
	f = *top(k);
	pop(k);
	finish_call(c, k, &f, s->last < f.start ? f.start : s->last, f.place, s->lane, done);
	place_on(s, done, false);
	done->unfinished = true;
	done->type = k->type;
	c->unfinished++;
	return true;
}

/* --- numbered calls --- */

/* -1: memory is out. */
static int number_open(struct calls *c, uint32_t source, uint32_t call,
		       const struct numbered_call *open)
{
	struct numbered_call *n;
	size_t index;

	if (c->numbered_free) {
		index = c->numbered_free - 1;
		n = &c->numbered[index];
		c->numbered_free = n->next;
	} else {
		n = array_grow(c->numbered, &c->numbered_capacity, c->nnumbered, sizeof(*n));
		if (!n)
			goto fail;
		c->numbered = n;
		index = c->nnumbered++;
		n += index;
	}
	*n = *open;
	n->number = call;
	if (!open_calls_put(&c->open, source, call, index))
		return 0;
fail:
	c->out_of_memory = true;
	return -1;
}

static enum calls_result numbered_enter(struct calls *c, const struct event *e, uint32_t call)
{
	struct numbered_call n = {e->time, e->lane, e->type, e->place, call, 0};

	if (open_calls_count(&c->open) >= CALLS_NUMBERED_LIMIT) {
		c->dropped++;
		return CALLS_NONE;
	}
	return number_open(c, e->lane->source->number, call, &n) ? CALLS_NONE : CALLS_ENTER;
}

static enum calls_result numbered_leave(struct calls *c, const struct event *e, uint32_t call,
					struct call *done)
{
	struct numbered_call *n;
	uint64_t index, total;

	if (!open_calls_take(&c->open, e->lane->source->number, call, &index)) {
		if (c->partial)
			return cut_keep_numbered(c, e);
		c->unmatched++;
		return CALLS_NONE;
	}
	n = &c->numbered[index];
	total = e->time > n->start ? e->time - n->start : 0;
	*done = (struct call){.lane = n->lane,
			      .place = e->place ? e->place : n->place,
			      .start = n->start,
			      .end = e->time,
			      .total = total,
			      .self = total};
	n->next = (uint32_t)c->numbered_free;
	c->numbered_free = (size_t)index + 1;
	return CALLS_LEAVE;
}

static enum calls_result numbered(struct calls *c, struct stack *s, const struct event *e,
				  struct call *done)
{
	uint32_t call;

	s->last = e->time;
	s->lane = e->lane;
	if (!field_call(e, &call))
		return CALLS_NONE;
	if (e->type->kind == KIND_ENTER)
		return numbered_enter(c, e, call);
	return e->type->kind == KIND_LEAVE ? numbered_leave(c, e, call, done) : CALLS_NONE;
}

/* One that was never left, at the end of the trace. */
static bool numbered_finish(struct calls *c, struct call *done)
{
	const struct numbered_call *n;
	uint64_t index, end;

	if (!open_calls_take_any(&c->open, &index))
		return false;
	n = &c->numbered[index];
	end = c->stacks[n->lane->thread]->last;
	end = end > n->start ? end : n->start;
	*done = (struct call){.lane = n->lane,
			      .place = n->place,
			      .start = n->start,
			      .end = end,
			      .total = end - n->start,
			      .self = end - n->start,
			      .unfinished = true,
			      .type = n->type,
			      .number = n->number};
	c->unfinished++;
	return true;
}

enum calls_result calls_feed(struct calls *c, const struct event *e, struct call *done)
{
	uint32_t thread = calls_thread(e);
	struct stack *s = thread < c->size ? c->stacks[thread] : NULL;

	if (__builtin_expect(!s, 0)) {
		s = new_stack(c, thread);
		if (!s)
			return CALLS_NONE;
	}
	if (e->type->flags & TYPE_CALL_NUMBER)
		return numbered(c, s, e, done);
	s->last = e->time;
	s->lane = e->lane;
	if (__builtin_expect(s->cut != NULL, 0))
		return cut_feed(c, s, e, done);
	if (e->type->flags & TYPE_KERNEL &&
	    (e->type->kind == KIND_ENTER || e->type->kind == KIND_LEAVE))
		return kernel_call(c, s, e, done);
	if (__builtin_expect(s->kernel && s->kernel->count, 0)) {
		if (e->type->flags & TYPE_INNER) /* scheduled out in there */
			return kernel_inner(c, s, e, done);
		if (e->type->kind == KIND_ENTER || e->type->kind == KIND_LEAVE)
			pass_kernel(c, s, e->time);
	}
	if (e->type->kind == KIND_ENTER)
		return enter(c, s, e);
	if (e->type->kind == KIND_LEAVE)
		return leave(c, s, e, done);
	return CALLS_NONE;
}

void calls_block(const struct calls *c, const struct block *b, struct calls_block *cb)
{
	for (uint32_t i = 0; i < b->nlanes && i < 256; i++) {
		uint32_t thread = b->lanes[i]->thread;

		cb->stacks[i] = thread < c->size ? c->stacks[thread] : NULL;
	}
	for (uint32_t i = 0; i < b->ntypes && i < 256; i++) {
		const struct type *t = b->types[i];
		bool by_depth =
			(t->flags & (TYPE_DEPTH | TYPE_INNER | TYPE_PER_CPU | TYPE_KERNEL)) ==
			TYPE_DEPTH;

		cb->kinds[i] =
			by_depth && (t->kind == KIND_ENTER || t->kind == KIND_LEAVE) ? t->kind : 0;
	}
}

struct stack *calls_stack_at(struct calls *c, uint32_t thread)
{
	struct stack *s = thread < c->size ? c->stacks[thread] : NULL;

	return s ? s : new_stack(c, thread);
}

/* Has each of its rows a number? */
static void plan_numbered(const struct type *t, struct calls_row_type *row)
{
	const struct field *f = field_by_role(t, ROLE_CALL);
	bool numbered = t->flags & TYPE_CALL_NUMBER && !(t->flags & TYPE_PER_CPU) && f &&
			f->where == WHERE_FIXED && f->size == 4;

	row->numbered = numbered && (t->kind == KIND_ENTER || t->kind == KIND_LEAVE) ? t->kind : 0;
	row->call = numbered ? NARROW_ROW + f->offset : 0;
}

int calls_rows(struct calls *c, const struct block *b, struct calls_rows *cr)
{
	bool per_cpu = false;

	for (uint32_t i = 0; i < b->ntypes && i < 256; i++) {
		const struct type *t = b->types[i];
		bool call = t->kind == KIND_ENTER || t->kind == KIND_LEAVE;

		call = call && t->flags & TYPE_DEPTH &&
		       !(t->flags & (TYPE_INNER | TYPE_CALL_NUMBER | TYPE_KERNEL));
		cr->types[i].kind = call ? t->kind : 0;
		plan_numbered(t, &cr->types[i]);
		cr->types[i].stack = t->flags & TYPE_PER_CPU ? 256 : 0;
		per_cpu |= t->flags & TYPE_PER_CPU;
	}
	for (uint32_t i = 0; i < b->nlanes && i < 256; i++) {
		const struct lane *l = b->lanes[i];

		cr->stacks[i] = calls_stack_at(c, l->thread);
		cr->stacks[256 + i] = per_cpu ? calls_stack_at(c, l->cpu_thread) : NULL;
		if (!cr->stacks[i] || (per_cpu && !cr->stacks[256 + i]))
			return -1;
	}
	return 0;
}

bool calls_finish(struct calls *c, struct call *done)
{
	for (; c->finishing < c->size; c->finishing++) {
		struct stack *s = c->stacks[c->finishing];
		struct frame f;

		if (!s)
			continue;
		if (kernel_finish(c, s, done))
			return true;
		if (s->exec) {
			if (c->on_lost)
				forget_image(c, s);
			continue;
		}
		if (!s->count && s->implicit) {
			struct frame below = {.start = s->implicit_start, .depth = --s->implicit};

			if (!calls_push(c, s, &below))
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
		done->type = s->type;
		c->unfinished++;
		return true;
	}
	return numbered_finish(c, done);
}

/* --- for cut.c --- */

enum calls_result calls_enter(struct calls *c, struct stack *s, const struct event *e)
{
	return enter(c, s, e);
}

enum calls_result calls_leave(struct calls *c, struct stack *s, const struct event *e,
			      struct call *done)
{
	return leave(c, s, e, done);
}

enum calls_result calls_kernel(struct calls *c, struct stack *s, const struct event *e,
			       struct call *done)
{
	return kernel_call(c, s, e, done);
}

enum calls_result calls_kernel_inner(struct calls *c, struct stack *s, const struct event *e,
				     struct call *done)
{
	return kernel_inner(c, s, e, done);
}

void calls_pass_kernel(struct calls *c, struct stack *s, uint64_t time)
{
	pass_kernel(c, s, time);
}

void calls_charge(struct calls *c, struct stack *s, uint64_t total)
{
	charge_caller(c, s, total);
}

void calls_forget_image(struct calls *c, struct stack *s)
{
	forget_image(c, s);
}

int calls_number_open(struct calls *c, uint32_t source, uint32_t call,
		      const struct numbered_call *n)
{
	return number_open(c, source, call, n);
}
