/*
 * path.c - --why EXPR: critical paths as slices of a timeline, a track for each thread of a path
 */
#include "cmd/trencode/path.h"

#include <stdlib.h>

#include "common/pairs/why.h"

/* One run of --why. */
struct path_run {
	struct why why;
	struct condition condition;
};

/* Write the slices of the span, whose path is complete. */
static int path_flush(struct why_path *p)
{
	int bad = p->count ? p->write(p->ctx, p, p->e) : 0;

	p->count = 0;
	return bad;
}

static int path_span(void *ctx, const struct why_span *s)
{
	struct why_path *p = ctx;
	int bad = path_flush(p);

	p->of = s->task;
	p->stream = p->run->why.stream;
	return bad;
}

/* Get the number of the scratch text, and empty it. */
static int path_label(struct why_path *p, uint32_t *label)
{
	*label = intern(&p->labels, p->scratch.data, p->scratch.size);
	p->scratch.size = 0;
	return *label == INTERN_NONE ? -1 : 0;
}

static int path_part(void *ctx, const struct wait_part *part)
{
	struct why_path *p = ctx;
	struct path_slice s = {.begin = part->begin,
			       .end = part->end,
			       .depth = part->depth,
			       .task = part->tasks[part->depth]};

	p->scratch.size = 0;
	if (waits_name(&p->run->why.waits, s.task, &p->scratch) || path_label(p, &s.thread) ||
	    why_part_text(&p->run->why, part, &p->scratch) || path_label(p, &s.text) ||
	    ARRAY_GROW(p->slices, p->capacity, p->count))
		return -1;
	p->slices[p->count++] = s;
	return 0;
}

struct why_path *why_path_begin(const char *expr, struct dictionary *d, struct error *e)
{
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
	run->why.span = path_span;
	run->why.part = path_part;
	run->why.ctx = p;
	return p;
}

void why_path_free(struct why_path *p)
{
	if (!p)
		return;
	why_free(&p->run->why);
	key_condition_free(&p->run->condition);
	free(p->run);
	intern_free(&p->labels);
	buffer_free(&p->scratch);
	free(p->slices);
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
	bad = (ev ? why_event(&p->run->why, ev) : why_finish(&p->run->why)) ||
	      (!ev && path_flush(p));
	if (bad && !e->what[0])
		error_no_memory(e);
	if (!ev && !bad)
		waits_report_missing(&p->run->why.waits);
	return bad ? -1 : 0;
}
