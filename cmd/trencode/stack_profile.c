#include "stack_profile.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- names --- */

static int ask_name(struct stack_profile *s, uint32_t place, uint32_t *name)
{
	const struct place *p = dictionary_place(s->calls.dictionary, place);
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
	s->scratch.size = 0;
	if (s->key(&s->scratch, p, text))
		return -1;
	*name = intern(&s->names, s->scratch.data, s->scratch.size);
	if (*name == INTERN_NONE)
		return -1;
	s->unnamed |= p && p->space && !p->symbol && !p->name.size;
	s->name[place] = *name + 1;
	return 0;
}

static inline int name_of(struct stack_profile *s, uint32_t place, uint32_t *name)
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

static struct profile_thread *thread_at(struct stack_profile *s, size_t number)
{
	size_t n = s->nthreads ? s->nthreads : 16;
	struct profile_thread *threads;

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

static int start(struct stack_profile *s, struct profile_thread *th, uint32_t low)
{
	if (th->started)
		return 0;
	th->started = true;
	th->low = low;
	th->base = low ? stack_tree_detached(&s->tree) : STACK_ROOT;
	return low && !th->base ? -1 : 0;
}

/* The frames from level on that were never entered here are over; the innermost was called so. */
static int lower(struct stack_profile *s, struct profile_thread *th, uint32_t level, uint32_t name)
{
	uint32_t below = level ? stack_tree_detached(&s->tree) : STACK_ROOT;

	if ((level && !below) || stack_tree_attach(&s->tree, th->base, below, name))
		return -1;
	th->base = below;
	th->low = level;
	return 0;
}

static inline uint32_t caller_node(const struct profile_thread *th, uint32_t level)
{
	return level > th->low ? th->node[level - 1] : th->base;
}

static int enter(struct stack_profile *s, struct profile_thread *th, uint32_t level, uint32_t place)
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

static int leave(struct stack_profile *s, struct profile_thread *th, const struct call *c)
{
	uint32_t name, node;

	if (name_of(s, c->place, &name) || start(s, th, c->level + 1))
		return -1;
	if (c->level >= th->low) {
		node = stack_tree_child(&s->tree, caller_node(th, c->level), name);
		if (!node)
			return -1;
		stack_tree_call(&s->tree, node, c->self, c->total);
		return 0;
	}
	if (c->level + 1 < th->low && lower(s, th, c->level + 1, s->unknown))
		return -1;
	stack_tree_call(&s->tree, th->base, c->self, c->total);
	return lower(s, th, c->level, name);
}

static int enter_kernel(struct stack_profile *s, struct profile_thread *th,
			const struct stack *below, size_t level, uint32_t place)
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
static void leave_kernel(struct stack_profile *s, struct profile_thread *th, size_t level,
			 const struct call *c)
{
	if (level < th->kernel_capacity && th->kernel[level])
		stack_tree_call(&s->tree, th->kernel[level], c->self, c->total);
}

static bool in_kernel(const struct stack_profile *s, const struct event *ev)
{
	return calls_stack(&s->calls, ev) != s->calls.stacks[calls_thread(ev)];
}

/* Frames of which neither begin nor end was seen are one, however many they are. */
static int finish(struct stack_profile *s, struct profile_thread *th, const struct call *c)
{
	if (c->place || !th->started || c->level >= th->low)
		return leave(s, th, c);
	stack_tree_call(&s->tree, th->base, c->self, c->total);
	return 0;
}

/* --- events --- */

static int take_event(struct stack_profile *s, const struct event *ev)
{
	const struct stack *stack;
	struct profile_thread *th;
	struct call done;
	int r = 0;

	switch (calls_feed(&s->calls, ev, &done)) {
	case CALLS_ENTER:
		/* numbered calls are all their thread's own */
		if (ev->type->flags & TYPE_CALL_NUMBER)
			break;
		th = thread_at(s, calls_thread(ev));
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
		th = thread_at(s, calls_thread(ev));
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
	return r;
}

/* The names of a block's places, where calls of them may be taken the quick way. */
static int plan(struct stack_profile *s, const struct block *b)
{
	uint32_t *planned;

	if (b->nplaces >= s->nplanned) {
		/* index 0 is no place, and not counted */
		planned = realloc(s->planned, (b->nplaces + (size_t)1) * sizeof(*planned));
		if (!planned)
			return -1;
		s->planned = planned;
		s->nplanned = b->nplaces + (size_t)1;
	}
	for (uint32_t i = 0; i <= b->nplaces; i++) {
		uint32_t place = b->places[i], name;

		s->planned[i] = 0;
		if (!calls_ordinary(&s->calls, place))
			continue;
		if (name_of(s, place, &name))
			return -1;
		s->planned[i] = name + 1;
	}
	return 0;
}

/* An enter that calls_try has taken. */
static inline __attribute__((always_inline)) int quick_enter(struct stack_profile *s,
							     const struct stack *stack,
							     struct profile_thread *th,
							     uint32_t name)
{
	size_t level = stack->count - 1 + stack->implicit;
	uint32_t node, *nodes;

	node = stack_tree_child(&s->tree, caller_node(th, (uint32_t)level), name);
	if (__builtin_expect(!node, 0))
		return -1;
	while (__builtin_expect(level >= th->capacity, 0)) {
		nodes = array_grow(th->node, &th->capacity, th->capacity, sizeof(*nodes));
		if (!nodes)
			return -1;
		th->node = nodes;
	}
	th->node[level] = node;
	return 0;
}

/* What the rows of a block look up by their lane. */
struct profile_lanes {
	struct calls_block calls; /* stacks of threads that began in the quick way's sight */
	struct profile_thread *threads[256];
	const struct profile_thread *base; /* s->threads when they were looked up */
};

static int find_lane(struct stack_profile *s, const struct block *b, struct profile_lanes *l,
		     uint32_t i)
{
	uint32_t thread = b->lanes[i]->thread;

	l->threads[i] = thread_at(s, thread);
	if (!l->threads[i])
		return -1;
	l->calls.stacks[i] =
		l->threads[i]->started && thread < s->calls.size ? s->calls.stacks[thread] : NULL;
	return 0;
}

static int find_lanes(struct stack_profile *s, const struct block *b, struct profile_lanes *l)
{
	do {
		l->base = s->threads;
		for (uint32_t i = 0; i < b->nlanes && i < 256; i++)
			if (find_lane(s, b, l, i))
				return -1;
	} while (l->base != s->threads);
	return 0;
}

static int slow_row(struct stack_profile *s, const struct events *it, const uint8_t *row,
		    const struct block *b, struct profile_lanes *l)
{
	struct events one = *it;
	struct event ev;

	one.row = row;
	event_next(&one, &ev);
	if (take_event(s, &ev))
		return -1;
	return l->base == s->threads ? find_lane(s, b, l, ev.lane_index) : find_lanes(s, b, l);
}

/* Narrow rows, nearly all of them the enter or the leave on top of a stack. */
static inline __attribute__((always_inline)) int narrow(struct stack_profile *s,
							const struct block *b, bool bare)
{
	struct profile_lanes l;
	struct events it, here;

	events_begin(&it, b);
	here = it;
	memset(&l, 0, sizeof l);
	calls_block(&s->calls, b, &l.calls);
	if (plan(s, b) || find_lanes(s, b, &l))
		return -1;
	while (here.row < here.end) {
		const uint8_t *row = here.row;
		struct plain_row r = plain_row(&it, row);
		uint32_t name = s->planned[r.place];
		enum calls_result got = CALLS_SLOW;
		struct call call;

		if (bare)
			here.row += NARROW_ROW;
		else
			event_skip(&here, r.type);
		if (__builtin_expect(name != 0, 1))
			got = calls_try(&l.calls, &r, b->places[r.place], &call);
		if (got == CALLS_ENTER) {
			if (quick_enter(s, l.calls.stacks[r.lane], l.threads[r.lane], name - 1))
				return -1;
		} else if (got == CALLS_LEAVE) {
			const struct stack *stack = l.calls.stacks[r.lane];
			size_t level = stack->count + stack->implicit;

			stack_tree_call(&s->tree, l.threads[r.lane]->node[level], call.self,
					call.total);
		} else {
			if (slow_row(s, &it, row, b, &l))
				return -1;
			continue;
		}
		if (!bare && it.types[r.type]->flags & TYPE_TAIL &&
		    get_u32(row + NARROW_ROW + it.types[r.type]->fixed_size))
			s->values++;
	}
	return 0;
}

int stack_profile_block(struct stack_profile *s, const struct block *b)
{
	struct events it;
	struct event ev;

	if (!(b->row_flags & EVENTS_WIDE))
		return b->row_flags & EVENTS_BARE ? narrow(s, b, true) : narrow(s, b, false);
	events_begin(&it, b);
	while (event_next(&it, &ev))
		if (take_event(s, &ev))
			return -1;
	return 0;
}

/* --- the run --- */

int stack_profile_init(struct stack_profile *s, struct dictionary *d, profile_key *key, bool drop)
{
	static const char unknown[] = "<0>";

	*s = (struct stack_profile){.key = key, .drop = drop};
	calls_init(&s->calls, d);
	if (key(&s->scratch, NULL, (struct text_ref){unknown, sizeof unknown - 1, 0}))
		return -1;
	s->unknown = intern(&s->names, s->scratch.data, s->scratch.size);
	return s->unknown == INTERN_NONE ? -1 : stack_tree_init(&s->tree);
}

void stack_profile_free(struct stack_profile *s)
{
	for (size_t i = 0; i < s->nthreads; i++) {
		free(s->threads[i].node);
		free(s->threads[i].kernel);
	}
	free(s->threads);
	free(s->name);
	free(s->planned);
	calls_free(&s->calls);
	stack_tree_free(&s->tree);
	intern_free(&s->names);
	buffer_free(&s->scratch);
}

int stack_profile_finish(struct stack_profile *s)
{
	struct call done;

	while (calls_finish(&s->calls, &done)) {
		size_t number = s->calls.finishing;
		struct profile_thread *th;

		if (s->drop)
			continue;
		if (number >= s->calls.size)
			number = done.lane->thread; /* a numbered call */
		th = thread_at(s, number);
		if (th && done.type && done.type->flags & TYPE_KERNEL)
			leave_kernel(s, th, s->calls.stacks[number]->kernel->count, &done);
		else if (!th || finish(s, th, &done))
			return -1;
	}
	for (size_t i = 0; i < s->nthreads; i++)
		if (s->threads[i].started && s->threads[i].low &&
		    lower(s, &s->threads[i], 0, s->unknown))
			return -1;
	return s->calls.out_of_memory ? -1 : 0;
}

static void remark(uint64_t n, const char *format, const char *what)
{
	if (n)
		warn(NULL, NO_OFFSET, "%s%s: %" PRIu64, format, what, n);
}

void stack_profile_report(const struct stack_profile *s, const char *format)
{
	if (s->unnamed)
		warn(NULL, NO_OFFSET,
		     "functions have no names yet: trsym belongs before this program");
	remark(s->calls.unfinished, "",
	       s->drop ? "calls open at the end, dropped"
		       : "calls open at the end, closed at their thread's last event");
	remark(s->calls.unmatched, "", "leaves without an enter, left out");
	remark(s->calls.outside, "", CALLS_OUTSIDE);
	remark(s->instants, format, " calls only; other events left out");
	remark(s->values, format, " no arguments; calls' ends that had some");
	remark(s->gaps, "", "gaps, around which stacks may be wrong");
}
