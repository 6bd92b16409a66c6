/*
 * folded.c - "frame;frame;leaf SELF": what flamegraph.pl, inferno and speedscope read
 *
 * SELF is the time spent in the leaf itself with this stack above it, over all calls and threads,
 * in ns (or ticks, where the trace has no time). Stacks of nothing are left out: consumers want
 * positive numbers.
 */
#include "encoder.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/calls.h"
#include "stack_tree.h"

/* A thread's stack, frame by frame as in calls.h, as nodes of the tree. */
struct thread {
	uint32_t *node; /* by level, from low up */
	size_t capacity;
	uint32_t low;  /* the frames below this level are open, but were never entered here */
	uint32_t base; /* the innermost of those, not yet known by name; the root if low is 0 */
	bool started;
	/* of its calls in the kernel, on top of whatever it was in when they began */
	uint32_t *kernel;
	size_t kernel_capacity;
};

struct state {
	struct calls calls;
	struct stack_tree tree;
	struct intern names;
	uint32_t unknown; /* the name of a frame that is never known */
	uint32_t *name;	  /* by place: number in names + 1; 0 not asked */
	size_t nnames;
	uint32_t symbol_changes;
	struct thread *threads; /* by number in calls */
	size_t nthreads;
	struct buffer scratch;
	uint64_t instants, values, gaps;
};

static int no_memory(struct error *e)
{
	return error_set(e, NULL, NO_OFFSET, "out of memory");
}

/* --- names --- */

/* ';' and newlines are the format's own. */
static uint32_t clean_name(struct state *s, const char *p, size_t n)
{
	s->scratch.size = 0;
	for (size_t i = 0; i < n; i++) {
		char c = p[i] == ';' ? ':' : p[i] ? p[i] : '?';

		if (c != '\n' && c != '\r' && buffer_u8(&s->scratch, (uint8_t)c))
			return INTERN_NONE;
	}
	if (!s->scratch.size && buffer_u8(&s->scratch, '?'))
		return INTERN_NONE;
	return intern(&s->names, s->scratch.data, s->scratch.size);
}

static int ask_name(struct state *s, uint32_t place, uint32_t *name)
{
	size_t n = s->nnames ? s->nnames : 256;
	struct text_ref text;
	uint32_t *names;

	while (n <= place)
		n *= 2;
	if (n > s->nnames) {
		names = realloc(s->name, n * sizeof(*names));
		if (!names)
			return -1;
		memset(names + s->nnames, 0, (n - s->nnames) * sizeof(*names));
		s->name = names;
		s->nnames = n;
	}
	text = dictionary_place_name(s->calls.dictionary, place);
	*name = clean_name(s, text.text, text.size);
	if (*name == INTERN_NONE)
		return -1;
	s->name[place] = *name + 1;
	return 0;
}

static inline int name_of(struct state *s, uint32_t place, uint32_t *name)
{
	if (__builtin_expect(s->calls.dictionary->symbol_changes != s->symbol_changes, 0)) {
		if (s->nnames)
			memset(s->name, 0, s->nnames * sizeof(*s->name));
		s->symbol_changes = s->calls.dictionary->symbol_changes;
	}
	if (__builtin_expect(place < s->nnames && s->name[place], 1)) {
		*name = s->name[place] - 1;
		return 0;
	}
	return ask_name(s, place, name);
}

/* --- threads --- */

/* As calls.h numbers its stacks. */
static inline size_t thread_number(const struct event *e)
{
	return e->type->flags & TYPE_PER_CPU ? e->lane->cpu_thread : e->lane->thread;
}

static struct thread *thread_at(struct state *s, size_t number)
{
	size_t n = s->nthreads ? s->nthreads : 16;
	struct thread *threads;

	if (number < s->nthreads)
		return &s->threads[number];
	while (n <= number)
		n *= 2;
	threads = realloc(s->threads, n * sizeof(*threads));
	if (!threads)
		return NULL;
	memset(threads + s->nthreads, 0, (n - s->nthreads) * sizeof(*threads));
	s->threads = threads;
	s->nthreads = n;
	return &threads[number];
}

static int start(struct state *s, struct thread *th, uint32_t low)
{
	if (th->started)
		return 0;
	th->started = true;
	th->low = low;
	th->base = low ? stack_tree_detached(&s->tree) : STACK_ROOT;
	return low && !th->base ? -1 : 0;
}

/* The frames from level on that were never entered here are over; the innermost was called so. */
static int lower(struct state *s, struct thread *th, uint32_t level, uint32_t name)
{
	uint32_t below = level ? stack_tree_detached(&s->tree) : STACK_ROOT;

	if ((level && !below) || stack_tree_attach(&s->tree, th->base, below, name))
		return -1;
	th->base = below;
	th->low = level;
	return 0;
}

static inline uint32_t caller_node(const struct thread *th, uint32_t level)
{
	return level > th->low ? th->node[level - 1] : th->base;
}

static int enter(struct state *s, struct thread *th, uint32_t level, uint32_t place)
{
	uint32_t name, node, *nodes;

	if (name_of(s, place, &name) || start(s, th, level))
		return -1;
	/* an exec, or a longjmp to before the trace */
	if (level < th->low && lower(s, th, level, s->unknown))
		return -1;
	node = stack_tree_child(&s->tree, caller_node(th, level), name);
	if (!node)
		return -1;
	while (level >= th->capacity) {
		nodes = array_grow(th->node, &th->capacity, th->capacity, sizeof(*nodes));
		if (!nodes)
			return -1;
		th->node = nodes;
	}
	th->node[level] = node;
	return 0;
}

static int leave(struct state *s, struct thread *th, const struct call *c)
{
	uint32_t name, node;

	if (name_of(s, c->place, &name) || start(s, th, c->level + 1))
		return -1;
	if (c->level >= th->low) {
		node = stack_tree_child(&s->tree, caller_node(th, c->level), name);
		if (!node)
			return -1;
		stack_tree_add(&s->tree, node, c->self);
		return 0;
	}
	if (c->level + 1 < th->low && lower(s, th, c->level + 1, s->unknown))
		return -1;
	stack_tree_add(&s->tree, th->base, c->self);
	return lower(s, th, c->level, name);
}

static int enter_kernel(struct state *s, struct thread *th, const struct stack *below, size_t level,
			uint32_t place)
{
	uint32_t name, caller, *nodes;
	size_t old = th->kernel_capacity;

	if (name_of(s, place, &name))
		return -1;
	if (level)
		caller = th->kernel[level - 1];
	else
		caller = caller_node(th, (uint32_t)below->count + below->implicit);
	while (level >= th->kernel_capacity) {
		nodes = array_grow(th->kernel, &th->kernel_capacity, th->kernel_capacity,
				   sizeof(*nodes));
		if (!nodes)
			return -1;
		th->kernel = nodes;
		memset(nodes + old, 0, (th->kernel_capacity - old) * sizeof(*nodes));
		old = th->kernel_capacity;
	}
	th->kernel[level] = stack_tree_child(&s->tree, caller, name);
	return th->kernel[level] ? 0 : -1;
}

/* The call that was on top of `level` others in the kernel. */
static void leave_kernel(struct state *s, struct thread *th, size_t level, const struct call *c)
{
	if (level < th->kernel_capacity && th->kernel[level])
		stack_tree_add(&s->tree, th->kernel[level], c->self);
}

static bool in_kernel(const struct state *s, const struct event *ev)
{
	return calls_stack(&s->calls, ev) != s->calls.stacks[calls_thread(ev)];
}

/* Frames of which neither begin nor end was seen are one, however many they are. */
static int finish(struct state *s, struct thread *th, const struct call *c)
{
	if (c->place || !th->started || c->level >= th->low)
		return leave(s, th, c);
	stack_tree_add(&s->tree, th->base, c->self);
	return 0;
}

/* --- the encoder --- */

static int folded_begin(struct encoding *en, struct error *e)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return no_memory(e);
	en->state = s;
	calls_init(&s->calls, en->dictionary);
	s->unknown = intern_string(&s->names, "<0>");
	return s->unknown == INTERN_NONE || stack_tree_init(&s->tree) ? no_memory(e) : 0;
}

static int folded_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct state *s = en->state;
	const struct stack *stack;
	struct thread *th;
	struct call done;
	int r;

	switch (calls_feed(&s->calls, ev, &done)) {
	case CALLS_ENTER:
		th = thread_at(s, thread_number(ev));
		stack = calls_stack(&s->calls, ev);
		if (th && in_kernel(s, ev))
			r = enter_kernel(s, th, s->calls.stacks[calls_thread(ev)], stack->count - 1,
					 ev->place);
		else
			r = th ? enter(s, th, (uint32_t)stack->count - 1 + stack->implicit,
				       ev->place)
			       : -1;
		break;
	case CALLS_LEAVE:
		th = thread_at(s, thread_number(ev));
		r = th ? 0 : -1;
		if (th && in_kernel(s, ev))
			leave_kernel(s, th, calls_stack(&s->calls, ev)->count, &done);
		else if (th)
			r = leave(s, th, &done);
		break;
	default: r = s->calls.out_of_memory ? -1 : 0;
	}
	if (ev->type->kind == KIND_GAP)
		s->gaps++;
	else if (ev->type->kind != KIND_ENTER && ev->type->kind != KIND_LEAVE)
		s->instants++;
	else if (ev->tail_size)
		s->values++;
	return r ? no_memory(e) : 0;
}

static void remark(uint64_t n, const char *what)
{
	if (n)
		warn(NULL, NO_OFFSET, "%s: %" PRIu64, what, n);
}

static int folded_end(struct encoding *en, struct error *e)
{
	struct state *s = en->state;
	struct call done;

	while (calls_finish(&s->calls, &done)) {
		struct thread *th = thread_at(s, s->calls.finishing);

		if (th && done.type && done.type->flags & TYPE_KERNEL)
			leave_kernel(s, th, s->calls.stacks[s->calls.finishing]->kernel->count,
				     &done);
		else if (!th || finish(s, th, &done))
			return no_memory(e);
	}
	for (size_t i = 0; i < s->nthreads; i++)
		if (s->threads[i].started && s->threads[i].low &&
		    lower(s, &s->threads[i], 0, s->unknown))
			return no_memory(e);
	if (s->calls.out_of_memory || stack_tree_write(&s->tree, &s->names, en->text))
		return no_memory(e);
	if (en->options->quiet)
		return 0;
	remark(s->calls.unfinished, "calls open at the end, closed at their thread's last event");
	remark(s->calls.unmatched, "leaves without an enter, left out");
	remark(s->instants, "folded stacks hold calls only; other events left out");
	remark(s->values, "folded stacks hold no arguments; calls' ends that had some");
	remark(s->gaps, "gaps, around which stacks may be wrong");
	return 0;
}

static void folded_free(struct encoding *en)
{
	struct state *s = en->state;

	if (!s)
		return;
	for (size_t i = 0; i < s->nthreads; i++) {
		free(s->threads[i].node);
		free(s->threads[i].kernel);
	}
	free(s->threads);
	free(s->name);
	calls_free(&s->calls);
	stack_tree_free(&s->tree);
	intern_free(&s->names);
	buffer_free(&s->scratch);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_folded = {
	.name = "folded",
	.purpose = "stacks with their self time in ns, for flame graphs",
	.output = ENCODER_TEXT,
	.begin = folded_begin,
	.event = folded_event,
	.end = folded_end,
	.free = folded_free,
};
