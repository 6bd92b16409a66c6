/*
 * path.c - --why EXPR: critical paths as slices of a timeline, a track for each thread of a path
 */
#include "cmd/trencode/path.h"

#include <stdlib.h>
#include <string.h>

#include "common/pairs/critical.h"

/* The slices of a thread that are not written yet, in the order of their times. */
struct path_thread {
	struct buffer slices; /* struct path_slice */
	uint64_t base;	      /* how many slices were before */
	struct path_slice last, written;
};

/* One run of --why. */
struct path_run {
	struct why why;
	struct condition condition;
	struct path_fresh { /* of a time that is being divided, the latest first */
		struct path_slice slice;
		uint32_t call;
	} * fresh;
	size_t nfresh, fresh_capacity;
	struct path_thread *threads; /* by task */
	size_t nthreads;
	uint64_t *firsts; /* by open call: number + 1 of its first slice; 0: it has none yet */
	size_t nfirsts;
	uint64_t flows;
};

static size_t path_count(const struct path_thread *t)
{
	return t->slices.size / sizeof(struct path_slice);
}

static const struct path_slice *path_slices(const struct path_thread *t)
{
	return (const void *)t->slices.data;
}

/* Write slices of a thread. */
static int path_write(struct why_path *p, uint32_t task, const struct path_slice *slices,
		      size_t count, const struct path_slice *after)
{
	struct path_thread *t = &p->run->threads[task];

	if (!count)
		return 0;
	p->of = task;
	p->stream = p->run->why.stream;
	p->slices = slices;
	p->count = count;
	p->before = t->written.end == slices->begin ? &t->written : NULL;
	p->after = after;
	if (p->write(p->ctx, p, p->e))
		return -1;
	t->written = slices[count - 1];
	return 0;
}

/* Leave out the first slices of a thread. */
static void path_drop(struct path_thread *t, size_t n)
{
	size_t size = n * sizeof(struct path_slice);

	if (size == t->slices.size)
		buffer_clear(&t->slices);
	else
		memmove(t->slices.data, t->slices.data + size, t->slices.size -= size);
	t->base += n;
}

/* Write what a thread has, but for so many slices at the end. */
static int path_flush(struct why_path *p, uint32_t task, size_t keep)
{
	struct path_thread *t = &p->run->threads[task];
	size_t n = path_count(t);

	if (n <= keep)
		return 0;
	if (path_write(p, task, path_slices(t), n - keep, keep ? path_slices(t) + n - keep : NULL))
		return -1;
	path_drop(t, n - keep);
	return 0;
}

/* Get the number of the scratch text, and empty it. */
static int path_label(struct why_path *p, uint32_t *label)
{
	*label = intern(&p->labels, p->scratch.data, p->scratch.size);
	p->scratch.size = 0;
	return *label == INTERN_NONE ? -1 : 0;
}

static int path_part(void *ctx, const struct wait_part *part, uint32_t call)
{
	struct why_path *p = ctx;
	struct path_run *run = p->run;
	struct path_fresh f = {.slice = {.begin = part->begin,
					 .end = part->end,
					 .depth = part->depth,
					 .task = part->tasks[part->depth]},
			       .call = call};

	p->scratch.size = 0;
	if (waits_name(&run->why.waits, f.slice.task, &p->scratch) ||
	    path_label(p, &f.slice.thread) || why_part_text(&run->why, part, &p->scratch) ||
	    path_label(p, &f.slice.text) ||
	    ARRAY_GROW(run->fresh, run->fresh_capacity, run->nfresh) ||
	    ARRAY_REACH(run->firsts, run->nfirsts, call))
		return -1;
	run->fresh[run->nfresh++] = f;
	return 0;
}

/* Append the fresh slices to those of their thread. */
static int path_append(struct path_run *run, struct path_thread *t)
{
	while (run->nfresh) {
		const struct path_fresh *f = &run->fresh[--run->nfresh];
		struct path_slice s = f->slice;

		if (t->last.end == s.begin && t->last.task != s.task)
			s.flow = ++run->flows;
		t->last = s;
		if (f->call && !run->firsts[f->call])
			run->firsts[f->call] = t->base + path_count(t) + 1;
		if (buffer_append(&t->slices, &s, sizeof s))
			return -1;
	}
	return 0;
}

static int path_divided(void *ctx, uint32_t task, bool certain)
{
	struct why_path *p = ctx;
	struct path_run *run = p->run;
	struct path_thread *t;

	if (ARRAY_REACH(run->threads, run->nthreads, task))
		return -1;
	t = &run->threads[task];
	t->slices.spills = true;
	/* a call whose enter was not read, or that ends in another thread: not in order */
	if (run->nfresh && !run->fresh[0].call && !run->why.of_threads) {
		struct path_thread before = *t;
		int bad;

		*t = (struct path_thread){.slices.spills = true};
		bad = path_append(run, t) || path_flush(p, task, 0);
		buffer_free(&t->slices);
		*t = before;
		return bad ? -1 : 0;
	}
	/* the flow to what follows is not known yet */
	return path_append(run, t) || (certain && path_flush(p, task, 1)) ? -1 : 0;
}

/* Write the slices of a call, and of those that began later. */
static int path_span(void *ctx, const struct why_span *s, uint32_t call)
{
	struct why_path *p = ctx;
	struct path_run *run = p->run;
	struct path_thread *t;
	uint64_t first;

	if (!call || call >= run->nfirsts || s->task >= run->nthreads)
		return 0;
	first = 0;
	for (uint32_t i = call; i; i = run->why.open[i].after) {
		if (i >= run->nfirsts)
			continue;
		first = first ? first : run->firsts[i];
		run->firsts[i] = 0;
	}
	if (!first)
		return 0;
	t = &run->threads[s->task];
	first = first - 1 > t->base ? first - 1 - t->base : 0;
	if (path_write(p, s->task, path_slices(t) + first, path_count(t) - first, NULL))
		return -1;
	t->slices.size = first * sizeof(struct path_slice);
	return 0;
}

static int path_close(void *ctx, uint32_t call, uint32_t into)
{
	struct path_run *run = ((struct why_path *)ctx)->run;
	const struct path_call *c = &run->why.open[call];
	uint64_t first = call < run->nfirsts ? run->firsts[call] : 0;
	struct path_thread *t = c->task < run->nthreads ? &run->threads[c->task] : NULL;
	uint32_t next = c->after;

	if (call < run->nfirsts)
		run->firsts[call] = 0;
	if (into && first && ARRAY_REACH(run->firsts, run->nfirsts, into))
		return -1;
	if (into && first && !run->firsts[into])
		run->firsts[into] = first;
	if (into || !t)
		return 0;
	/* no open call needs what is before the first slice of the next one */
	while (next && (next >= run->nfirsts || !run->firsts[next]))
		next = run->why.open[next].after;
	if (!next)
		path_drop(t, path_count(t));
	else if (run->firsts[next] - 1 > t->base + path_count(t) / 2)
		path_drop(t, run->firsts[next] - 1 - t->base);
	return 0;
}

/* Write the last slices of threads, and forget the threads. */
static int path_ended(void *ctx)
{
	struct why_path *p = ctx;
	struct path_run *run = p->run;

	for (uint32_t i = 0; i < run->nthreads; i++) {
		if (path_flush(p, i, 0))
			return -1;
		run->threads[i].last = run->threads[i].written = (struct path_slice){0};
	}
	return 0;
}

struct why_path *why_path_begin(const char *expr, struct dictionary *d, struct error *e)
{
	static const struct why_use use = {.span = path_span,
					   .part = path_part,
					   .divided = path_divided,
					   .end = path_close,
					   .ended = path_ended};
	struct why_path *p = calloc(1, sizeof *p);
	struct path_run *run = p ? calloc(1, sizeof *run) : NULL;

	if (!run) {
		free(p);
		error_no_memory(e);
		return NULL;
	}
	p->run = run;
	if (condition_parse_text(&run->condition, expr, e)) {
		key_condition_free(&run->condition);
		free(run);
		free(p);
		return NULL;
	}
	if (why_init(&run->why, &run->condition, d)) {
		why_path_free(p);
		error_no_memory(e);
		return NULL;
	}
	run->why.use = &use;
	run->why.ctx = p;
	return p;
}

void why_path_free(struct why_path *p)
{
	if (!p)
		return;
	why_free(&p->run->why);
	key_condition_free(&p->run->condition);
	for (size_t i = 0; i < p->run->nthreads; i++)
		buffer_free(&p->run->threads[i].slices);
	free(p->run->threads);
	free(p->run->fresh);
	free(p->run->firsts);
	free(p->run);
	intern_free(&p->labels);
	buffer_free(&p->scratch);
	free(p);
}

int why_path_name(const struct why_path *p, uint32_t task, struct buffer *b)
{
	return waits_name(&p->run->why.waits, task, b);
}

int why_path_event(struct why_path *p, const struct event *ev, struct error *e)
{
	int bad;

	p->e = e;
	e->what[0] = '\0';
	bad = ev ? why_event(&p->run->why, ev) : why_finish(&p->run->why);
	if (bad && !e->what[0])
		error_no_memory(e);
	if (!ev && !bad)
		waits_report_missing(p->run->why.waits.seen);
	return bad ? -1 : 0;
}
