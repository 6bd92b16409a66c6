/*
 * samples.c - the samples of a profile: recorded ones, or the times between changes of a stack
 */
#include "cmd/trencode/firefox/firefox.h"
#include "common/stream/field.h"

const char *firefox_cpu_unit(const struct firefox *f)
{
	if (f->subject != SUBJECT_SAMPLES)
		return NULL;
	if (f->type->flags & TYPE_WEIGHT_TIME)
		return "ns";
	return firefox_begins_with(f->type->name, "cycles") ||
			       firefox_begins_with(f->type->name, "cpu-cycles")
		       ? "variable CPU cycles"
		       : NULL;
}

/* Add the time up to this one with the stack that the thread has had. */
int firefox_end_stack(struct firefox *f, struct firefox_thread *th, uint64_t time)
{
	struct firefox_sample s = {th->since, time - th->since, th->node};

	if (time <= th->since)
		return 0;
	th->since = time;
	return rows_add(&f->samples, &th->samples, &s);
}

/* Note the stack of the thread's calls, or of its calls in the kernel, after an event. Calls in the
 * kernel outside any call are left out, as in all programs. */
static int stack_after(struct firefox *f, struct firefox_thread *th, const struct event *ev)
{
	const struct stack *s = calls_stack(f->calls, ev);
	bool kernel = ev->type->flags & TYPE_KERNEL;

	if (kernel && (!s || !s->count || s->frames[0].outside)) {
		th->kernel = STACK_ROOT;
		return 0;
	}
	return call_stacks_here(&f->stacks, ev, kernel ? &th->kernel : &th->user);
}

/* Get the whole stack of a thread. A task that is scheduled out in the kernel is so on top. */
int firefox_stack(struct firefox *f, const struct firefox_thread *th, const struct event *ev,
		  uint32_t *node)
{
	const struct stack *user = calls_thread_stack(f->calls, calls_thread(ev));
	bool inner = user && user->count && user->frames[user->count - 1].inner;

	*node = th->kernel != STACK_ROOT ? th->kernel : th->user;
	if (th->kernel != STACK_ROOT && inner && th->user != STACK_ROOT)
		*node = stack_tree_child(&f->stacks.tree, th->kernel,
					 f->stacks.tree.nodes[th->user].name);
	return th->kernel != STACK_ROOT && *node == STACK_ROOT ? -1 : 0;
}

/* Note the stack of a thread after an event of a call. */
int firefox_note_stack(struct firefox *f, struct firefox_thread *th, const struct event *ev)
{
	uint32_t node;

	if (stack_after(f, th, ev) || firefox_stack(f, th, ev, &node))
		return -1;
	if (node == th->node)
		return 0;
	if (firefox_end_stack(f, th, ev->time))
		return -1;
	th->node = node;
	return 0;
}

/* Test whether samples of the type are events with fields of their own. */
bool firefox_is_tracepoint(const struct type *t)
{
	return field_find(t, "common_type") != NULL;
}

/* Choose the type of the profile's samples: the first one of no tracepoint; if none is declared,
 * the first one. */
static void choose_type(struct firefox *f, const struct event *ev)
{
	const struct dictionary *d = f->calls->dictionary;

	f->subject = SUBJECT_SAMPLES;
	f->type = ev->type;
	if (!firefox_is_tracepoint(ev->type))
		return;
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		if (t->kind == KIND_SAMPLE && !firefox_is_tracepoint(t) &&
		    !firefox_begins_with(t->name, "dummy")) {
			f->type = t;
			return;
		}
	}
}

int firefox_sample(struct firefox *f, struct firefox_thread *th, const struct event *ev,
		   uint32_t node)
{
	struct firefox_sample s = {ev->time, sample_weight(ev), node};

	if (ev->type->kind == KIND_SAMPLE && sample_is_negative(ev)) {
		f->counts.negative++;
		return 0;
	}
	if (f->subject == SUBJECT_UNKNOWN)
		choose_type(f, ev);
	if (f->subject == SUBJECT_SAMPLES && sample_profile_same_type(f->type, ev->type))
		return rows_add(&f->samples, &th->samples, &s);
	f->counts.left_out += !firefox_is_tracepoint(ev->type);
	return 0;
}
