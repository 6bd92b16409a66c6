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

#include "common/call_stacks.h"

struct state {
	struct calls calls;
	struct call_stacks stacks;
	uint64_t instants, values, gaps;
};

static int no_memory(struct error *e)
{
	return error_set(e, NULL, NO_OFFSET, "out of memory");
}

static int folded_begin(struct encoding *en, struct error *e)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return no_memory(e);
	en->state = s;
	calls_init(&s->calls, en->dictionary);
	return call_stacks_init(&s->stacks, &s->calls) ? no_memory(e) : 0;
}

static int folded_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct state *s = en->state;
	struct call done;
	uint32_t node;
	int r = 0;

	switch (calls_feed(&s->calls, ev, &done)) {
	case CALLS_ENTER: r = call_stacks_enter(&s->stacks, ev); break;
	case CALLS_LEAVE:
		r = call_stacks_leave(&s->stacks, ev, &done, &node);
		if (!r)
			stack_tree_add(&s->stacks.tree, node, done.self);
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
	uint32_t node;

	while (calls_finish(&s->calls, &done)) {
		if (call_stacks_finish(&s->stacks, &done, &node))
			return no_memory(e);
		stack_tree_add(&s->stacks.tree, node, done.self);
	}
	if (call_stacks_end(&s->stacks) || s->calls.out_of_memory ||
	    stack_tree_write(&s->stacks.tree, &s->stacks.names, en->text))
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
	calls_free(&s->calls);
	call_stacks_free(&s->stacks);
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
