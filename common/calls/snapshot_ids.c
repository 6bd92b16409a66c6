/*
 * snapshot_ids.c - declares what a snapshot names
 *
 * The writer has declared everything under ids that are valid for its whole stream; those that the
 * segment lacks are declared again.
 */
#include <stdlib.h>

#include "common/calls/snapshot_maker_private.h"

static int note(struct snapshot_maker *m, uint32_t kind, uint32_t id)
{
	struct known_ids *k = &m->known[kind];
	uint32_t number = idmap_get(&m->dictionary.ids[kind], id), *ids;

	if (!number)
		return 0; /* damaged */
	if (ARRAY_REACH(k->id, k->size, number))
		return -1;
	ids = k->id;
	ids[number] = id;
	return 0;
}

int snapshot_ids_note(struct snapshot_maker *m, const uint8_t *payload, size_t n)
{
	struct raw_entry e;
	size_t at = 0;

	while (entry_next(payload, n, &at, &e) > 0)
		if (e.kind && e.kind < ENTRY_KINDS && e.kind != ENTRY_MAP &&
		    e.kind != ENTRY_SYMBOL && e.kind != ENTRY_THREAD && note(m, e.kind, e.id))
			return -1;
	return 0;
}

/* Get the id that an entry had last; 0: none. */
static uint32_t known(const struct snapshot_maker *m, enum entry_kind kind, uint32_t number)
{
	const struct known_ids *k = &m->known[kind];

	return number < k->size ? k->id[number] : 0;
}

uint32_t snapshot_source_id(const struct snapshot_maker *m, uint32_t number)
{
	return known(m, ENTRY_SOURCE, number);
}

static uint32_t started_flags(const struct snapshot_maker *m, uint32_t thread, uint32_t cpu_thread)
{
	bool started = thread < m->nstacks && m->stacks[thread].started,
	     cpu_started = cpu_thread < m->nstacks && m->stacks[cpu_thread].started;

	return (started ? LANE_STARTED : 0) | (cpu_started ? LANE_CPU_STARTED : 0);
}

uint32_t snapshot_lane_flags(void *maker, const struct lane_entry *e)
{
	const struct snapshot_maker *m = maker;
	const struct dictionary *d = &m->dictionary;
	uint32_t theirs = m->inside ? e->flags & (LANE_STARTED | LANE_CPU_STARTED) : 0;
	struct lane l = {.flags = e->flags & ~(uint32_t)(LANE_STARTED | LANE_CPU_STARTED),
			 .cpu = e->cpu,
			 .tid = e->tid,
			 .pid = e->pid};

	/* 0 is the unknown source; of others with that id the latest is of this stream */
	for (uint32_t i = d->sources.count; i-- && !l.source;)
		if (e->source ? snapshot_source_id(m, i) == e->source : !i)
			l.source = pool_at(&d->sources, i);
	if (!l.source)
		return theirs;
	return theirs | started_flags(m, dictionary_find_thread(d, &l, false),
				      dictionary_find_thread(d, &l, true));
}

/* Declare an entry again, unless the segment has it. Returns its id. */
static uint32_t own_id(struct snapshot_maker *m, enum entry_kind kind, uint32_t number)
{
	uint32_t id = number ? known(m, kind, number) : 0;

	return writer_declare_again(m->writer, kind, id) ? 0 : id;
}

uint32_t snapshot_declare_lane(struct snapshot_maker *m, const struct lane *l)
{
	return own_id(m, ENTRY_LANE, l->number);
}

uint32_t snapshot_declare_type(struct snapshot_maker *m, const struct type *t)
{
	return t ? own_id(m, ENTRY_TYPE, t->number) : 0;
}

uint32_t snapshot_declare_location(struct snapshot_maker *m, uint32_t number)
{
	return own_id(m, ENTRY_LOCATION, number);
}

uint32_t snapshot_declare_definition(struct snapshot_maker *m, uint32_t number)
{
	return own_id(m, ENTRY_DEFINITION, number);
}

uint32_t snapshot_declare_stack(struct snapshot_maker *m, uint32_t number)
{
	return own_id(m, ENTRY_STACK, number);
}

static int declare_thread(struct snapshot_maker *m, const struct thread_entry *t)
{
	/* the id has no meaning */
	return writer_append_content(m->writer, ENTRY_THREAD, 1, t);
}

int snapshot_declare_facts(struct snapshot_maker *m, uint32_t stack, uint32_t lane, bool per_cpu)
{
	const struct thread_facts *f = dictionary_facts(&m->dictionary, stack);
	struct thread_entry t = {.lane = lane, .flags = per_cpu ? THREAD_PER_CPU : 0};

	if (!f)
		return 0;
	if (f->left_out || f->unseen) {
		t.flags |= f->left_out ? THREAD_LEFT_OUT : 0;
		t.unseen = f->unseen;
		t.since = f->since;
		if (declare_thread(m, &t))
			return -1;
	}
	if (!f->last && !f->keeps_unseen && !f->has_open)
		return 0;
	t.flags |= THREAD_HAS_LAST | (f->keeps_unseen ? THREAD_UNSEEN : 0) |
		   (f->has_open ? THREAD_HAS_OPEN : 0);
	t.unseen = 0;
	t.since = 0;
	t.last = f->last;
	t.open = f->open;
	return declare_thread(m, &t);
}

void snapshot_ids_free(struct snapshot_maker *m)
{
	for (int i = 0; i < ENTRY_KINDS; i++)
		free(m->known[i].id);
}
