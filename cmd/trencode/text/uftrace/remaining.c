/* remaining.c - the calls that were open when the recording ended */
#include "cmd/trencode/text/uftrace/uftrace.h"

#include <inttypes.h>
#include <stdlib.h>

/* Count the frames at the bottom whose enter is missing. */
static int count_unseen(struct text_uftrace *s, struct replay_task *t)
{
	int n = 0;

	while (n < t->count) {
		const struct replay_frame *f = replay_frame(t, n);
		const struct location *p =
			f ? dictionary_location(s->dictionary, f->location) : NULL;

		if (p && (p->address || p->name.size))
			break;
		n++;
	}
	return n;
}

/* Test whether the only open frame is scheduling. */
static bool only_scheduled(struct text_uftrace *s, struct replay_task *t)
{
	const struct replay_frame *f = t->count == 1 ? replay_frame(t, 0) : NULL;
	const struct location *p = f ? dictionary_location(s->dictionary, f->location) : NULL;

	return p && !p->space;
}

static void print_stack(struct text_uftrace *s, struct replay_task *t)
{
	int bottom = count_unseen(s, t);

	if (bottom == t->count || only_scheduled(s, t))
		return;
	text_printf(s->out, "task: %" PRId32 "\n", t->lane->tid);
	for (int i = t->count; i-- > bottom;) {
		const struct replay_frame *f = replay_frame(t, i);
		struct text_ref name;

		if (!f)
			continue;
		name = dictionary_location_name(s->dictionary, f->location);
		text_printf(s->out, "[%d] ", i - bottom);
		text_masked(s->out, name.text, name.size);
		text_char(s->out, '\n');
	}
	text_char(s->out, '\n');
}

static int by_tid(const void *a, const void *b)
{
	const struct replay_task *const *x = a, *const *y = b;

	return ((*x)->lane->tid > (*y)->lane->tid) - ((*x)->lane->tid < (*y)->lane->tid);
}

void text_uftrace_remaining(struct text_uftrace *s, struct recording *r)
{
	struct replay *p = &r->replay;
	bool any = false;

	if (p->ntasks)
		qsort(p->tasks, p->ntasks, sizeof *p->tasks, by_tid);
	for (size_t i = 0; i < p->ntasks && !any; i++)
		any = !only_scheduled(s, p->tasks[i]) &&
		      count_unseen(s, p->tasks[i]) < p->tasks[i]->count;
	if (!any)
		return;
	text_puts(s->out, "\nuftrace stopped tracing with remaining functions"
			  "\n================================================\n");
	for (size_t i = 0; i < p->ntasks; i++)
		print_stack(s, p->tasks[i]);
}
