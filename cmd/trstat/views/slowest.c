#include "cmd/trstat/views/slowest.h"

#include <stdlib.h>

#include "cmd/trstat/groups/call_text.h"

int slowest_init(struct slowest *s, size_t limit, struct dictionary *d)
{
	*s = (struct slowest){.limit = limit, .dictionary = d, .enters = {.dictionary = d}};
	calls_init(&s->calls, d);
	return 0;
}

static void call_free(struct slow_call *c)
{
	free(c->name);
	free(c->arguments);
	free(c->returned);
	free(c->stack);
}

void slowest_free(struct slowest *s)
{
	for (size_t i = 0; i < s->count; i++)
		call_free(&s->call[i]);
	free(s->call);
	calls_free(&s->calls);
	open_call_args_free(&s->enters);
	buffer_free(&s->scratch);
}

/* --- calls to keep: a heap with the least slow call first --- */

/* Returns true if a precedes b in the table. */
static bool is_before(const struct slow_call *a, const struct slow_call *b)
{
	if (a->total != b->total)
		return a->total > b->total;
	if (a->start != b->start)
		return a->start < b->start;
	if (a->lane->tid != b->lane->tid)
		return a->lane->tid < b->lane->tid;
	return strcmp(a->name, b->name) < 0;
}

static void swap(struct slow_call *a, struct slow_call *b)
{
	struct slow_call c = *a;

	*a = *b;
	*b = c;
}

static void sift_up(struct slow_call *heap, size_t i)
{
	for (; i && is_before(&heap[(i - 1) / 2], &heap[i]); i = (i - 1) / 2)
		swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(struct slow_call *heap, size_t n)
{
	for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && is_before(&heap[child], &heap[child + 1]))
			child++;
		if (!is_before(&heap[i], &heap[child]))
			break;
		swap(&heap[i], &heap[child]);
	}
}

static int keep_call(struct slowest *s, struct slow_call *c)
{
	struct slow_call *grown;

	if (s->count == s->limit) {
		if (is_before(c, &s->call[0])) {
			swap(c, &s->call[0]);
			sift_down(s->call, s->count);
		}
		call_free(c);
		return 0;
	}
	grown = realloc(s->call, (s->count + 1) * sizeof(*grown));
	if (!grown) {
		call_free(c);
		return -1;
	}
	s->call = grown;
	grown[s->count++] = *c;
	sift_up(grown, s->count - 1);
	return 0;
}

/* --- text --- */

static int put_name(struct slowest *s, uint32_t location)
{
	struct text_ref name = dictionary_location_name(s->dictionary, location);

	return buffer_append(&s->scratch, name.text, name.size);
}

/* Returns a copy of the scratch buffer as a text; NULL: out of memory. */
static char *take_scratch(struct slowest *s)
{
	char *copy = malloc(s->scratch.size + 1);

	if (copy) {
		if (s->scratch.size)
			memcpy(copy, s->scratch.data, s->scratch.size);
		copy[s->scratch.size] = '\0';
	}
	s->scratch.size = 0;
	return copy;
}

/* Append the names of a stack's frames, as many as the limit allows. */
static int put_frames(struct slowest *s, const struct stack *stack, size_t skip, bool first)
{
	for (size_t i = skip; i < stack->count; i++)
		if (((!first || i > skip) && buffer_u8(&s->scratch, ';')) ||
		    put_name(s, stack->frames[i].location))
			return -1;
	return 0;
}

/* Returns the open callers as text, those in the kernel after the others. */
static char *stack_text(struct slowest *s, const struct stack *all, bool in_kernel)
{
	const struct stack *kernel = all && in_kernel ? all->kernel : NULL;
	size_t below = all ? all->count : 0, top = kernel ? kernel->count : 0;
	size_t skip = below + top > SLOWEST_STACK ? below + top - SLOWEST_STACK : 0;
	size_t skip_below = skip < below ? skip : below;

	if ((skip && buffer_append(&s->scratch, "...;", 4)) ||
	    (all && put_frames(s, all, skip_below, true)) ||
	    (kernel && put_frames(s, kernel, skip - skip_below, below == skip_below)))
		return NULL;
	return take_scratch(s);
}

static char *arguments_text(struct slowest *s, const struct enter *n, const struct lane *lane)
{
	struct event e;

	if (n && n->text) {
		if (buffer_append(&s->scratch, n->payload.data, n->payload.size))
			return NULL;
	} else if (n && n->segment == s->segment) {
		e = (struct event){.type = n->type,
				   .lane = lane,
				   .location = n->location,
				   .fixed = n->payload.data,
				   .tail = n->tail_size ? n->payload.data + n->fixed_size : NULL,
				   .tail_size = n->tail_size};
		if (call_arguments(&s->scratch, s->dictionary, &e))
			return NULL;
	}
	return take_scratch(s);
}

/* Add a call; e: its leave; NULL: it has none. */
static int add_call(struct slowest *s, const struct call *call, const struct enter *enter,
		    const struct event *e, const struct stack *stack, bool in_kernel)
{
	struct slow_call c = {.total = call->total,
			      .self = call->self,
			      .start = call->start,
			      .end = call->end,
			      .lane = call->lane,
			      .unfinished = call->unfinished};
	int bad;

	if (s->count == s->limit && call->total < s->call[0].total)
		return 0;
	s->scratch.size = 0;
	bad = put_name(s, call->location) || !(c.name = take_scratch(s));
	bad = bad || !(c.arguments = arguments_text(s, enter, call->lane));
	bad = bad || (e && call_returned(&s->scratch, s->dictionary, e)) ||
	      !(c.returned = take_scratch(s));
	bad = bad || !(c.stack = stack_text(s, stack, in_kernel));
	if (!bad)
		return keep_call(s, &c);
	call_free(&c);
	return -1;
}

/* --- events --- */

static int take_event(struct slowest *s, const struct event *e)
{
	const struct stack *stack;
	const struct enter *enter;
	struct call call;

	if (e->type->kind == KIND_GAP)
		return 0;
	switch (calls_feed(&s->calls, e, &call)) {
	case CALLS_ENTER: return open_call_args_put(&s->enters, &s->calls, e, s->segment);
	case CALLS_LEAVE:
		enter = open_call_args_take(&s->enters, &s->calls, e, &call);
		if (e->type->flags & TYPE_CALL_NUMBER)
			return add_call(s, &call, enter, e, NULL, false);
		stack = s->calls.stacks[calls_thread(e)];
		return add_call(s, &call, enter, e, stack, calls_stack(&s->calls, e) != stack);
	default: return s->calls.out_of_memory ? -1 : 0;
	}
}

int slowest_block(struct slowest *s, const struct block *b)
{
	struct events it;
	struct event e;

	if (b->kind == BLOCK_HEAD)
		s->segment++;
	if (b->kind != BLOCK_EVENTS || !b->rows)
		return 0;
	for (uint32_t i = 0; i < b->nlanes; i++)
		s->ticks |= b->lanes[i]->clock->flags & CLOCK_TICKS;
	events_begin(&it, b);
	while (event_next(&it, &e))
		if (take_event(s, &e))
			return -1;
	return 0;
}

int slowest_finish(struct slowest *s)
{
	struct call call;

	while (calls_finish(&s->calls, &call)) {
		uint32_t flags = call.type ? call.type->flags : 0;
		const struct stack *stack =
			flags & TYPE_CALL_NUMBER ? NULL : s->calls.stacks[s->calls.finishing];

		if (add_call(s, &call, NULL, NULL, stack, flags & TYPE_KERNEL))
			return -1;
	}
	return s->calls.out_of_memory ? -1 : 0;
}
