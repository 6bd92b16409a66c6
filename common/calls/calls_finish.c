/*
 * calls_finish.c - calls that are open at the end of the trace
 */
#include "common/calls/calls_private.h"

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

static bool finish(struct calls *c, struct call *done)
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
				calls_forget_image(c, s);
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
	if (!finish(c, done))
		return false;
	done->data = c->data;
	return true;
}
