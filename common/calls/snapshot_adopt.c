/*
 * snapshot_adopt.c - a snapshot maker adopts the calls of another snapshot
 */
#include <stdlib.h>

#include "common/calls/adopt.h"
#include "common/calls/snapshot_maker_private.h"

static int on_restore(void *ctx, const struct event *e, const struct call *call)
{
	return snapshot_row_keep(ctx, e, call->data);
}

/* Take over what the kernel's calls are called from. */
static int adopt_kernel(struct snapshot_maker *m, const struct stack *s)
{
	struct maker_stack *t = snapshot_maker_stack(m, s->number);

	if (!t)
		return -1;
	t->base = s->kernel_base;
	t->gone.size = 0;
	for (uint32_t i = s->ngone; i--;)
		if (buffer_u32(&t->gone, s->gone[i]))
			return -1;
	return 0;
}

/* Begin to replace calls that are open. */
static void begin_adoption(struct snapshot_maker *m)
{
	m->inside = true;
	if (m->segments > 1)
		m->flags |= SNAPSHOT_RESTART;
	m->writer->snapshot_due = true;
}

static int adopt(struct snapshot_maker *m)
{
	const struct snapshot *s = &m->snapshot;
	struct snapshot_walk w;

	if (!s->continues) {
		snapshot_rows_free(m);
		m->threads = 0;
		m->flags = 0;
		begin_adoption(m);
	}
	if (m->first == UINT64_MAX)
		m->first = s->head.first;
	m->flags |= s->head.flags & SNAPSHOT_APPROXIMATE;
	if (s->head.latest > m->latest)
		m->latest = s->head.latest;
	m->calls.on_restore = on_restore;
	m->calls.on_restore_ctx = m;
	if (calls_adopt(&m->calls, s))
		return -1;
	snapshot_walk(&w, s);
	while (snapshot_next_thread(&w)) {
		uint32_t number = snapshot_stack(w.lane, w.thread.flags);

		if (snapshot_rows_settle(m, number) || (!(w.thread.flags & SNAPSHOT_CONTINUED) &&
							adopt_kernel(m, m->calls.stacks[number])))
			return -1;
		while (snapshot_next_frame(&w))
			;
	}
	return 0;
}

int snapshot_maker_adopt(struct snapshot_maker *m, const struct block *b)
{
	const char *fault;

	fault = snapshot_read(&m->snapshot, &m->dictionary, b, READS_NO_VALUES);
	if (fault)
		return fault == EVENTS_NO_MEMORY ? error_no_memory(&m->writer->error) : 0;
	return adopt(m) ? error_no_memory(&m->writer->error) : 0;
}

static void on_drop(void *ctx, struct stack *s, const struct frame *f, void *data)
{
	uint32_t *row = data;

	(void)s;
	/* snapshot_rows_settle drops the rows of other calls */
	if (f->numbered)
		snapshot_row_drop(ctx, *row);
}

int snapshot_maker_inside(struct snapshot_maker *m, const uint8_t *sources, size_t n)
{
	size_t count = m->dictionary.sources.count;
	uint8_t *numbers = calloc(count, 1);
	int bad = !numbers;

	for (uint32_t i = 0; !bad && i < count; i++) {
		uint32_t id = snapshot_source_id(m, i);

		numbers[i] = id < n && sources[id];
	}
	begin_adoption(m);
	snapshot_segment(&m->snapshot, true);
	m->calls.on_drop = on_drop;
	m->calls.on_restore_ctx = m;
	bad = bad || calls_drop_sources(&m->calls, numbers);
	m->calls.on_drop = NULL;
	for (uint32_t i = 0; !bad && i < m->nstacks; i++)
		bad = snapshot_rows_settle(m, i);
	free(numbers);
	return bad ? error_no_memory(&m->writer->error) : 0;
}

void snapshot_maker_miss(struct snapshot_maker *m)
{
	m->flags |= SNAPSHOT_APPROXIMATE;
	m->writer->snapshot_due = true;
}
