/*
 * statistics_select.c - which rows count: --where, --since and --until
 *
 * All rows are followed, so that the calls that count have the times and callers that they have in
 * the whole trace.
 */
#include <stdlib.h>

#include "cmd/trstat/groups/statistics_private.h"

int statistics_where(struct statistics *s, const struct condition *where)
{
	s->where_cells = calloc(where->keys.count + 1, sizeof(*s->where_cells));
	if (!s->where_cells)
		return -1;
	s->where = where;
	s->recursion.of = statistics_recursion(s);
	statistics_begin_calls(s);
	return 0;
}

/* Returns the number of cells of an enter before those of the condition. */
static size_t own_cells(const struct statistics *s)
{
	return s->keys->begins + 2 * s->arguments;
}

int statistics_where_cells(struct statistics *s, const struct event_ref *entered,
			   struct key_cell *cells)
{
	return keys_begin_cells(&s->where->keys, s->dictionary, &s->groups.texts, entered,
				cells + own_cells(s));
}

static const struct key_cell *where_cell(void *ctx, size_t key)
{
	const struct statistics *s = ctx;

	return &s->where_cells[key];
}

bool statistics_is_selected(struct statistics *s, const struct event_ref *subject)
{
	struct event_ref of = *subject;

	if (s->outside || !s->where)
		return !s->outside;
	if (of.entered)
		of.entered += own_cells(s);
	if (keys_cells(&s->where->keys, s->dictionary, &s->groups.texts, &of, s->where_cells)) {
		s->out_of_memory = true;
		return false;
	}
	return condition_holds(s->where, &s->groups.texts, where_cell, s);
}

/* Note that the threads of a block have events after the window. */
static void pass_until(struct statistics *s, const struct block *b)
{
	for (uint32_t i = 0; i < b->nlanes; i++) {
		calls_pass_until(&s->calls, b->lanes[i]->thread);
		calls_pass_until(&s->calls, b->lanes[i]->cpu_thread);
	}
}

int statistics_window(struct statistics *s, const struct block *b, uint64_t since, uint64_t until)
{
	struct events it;
	struct event e;
	int bad = 0;

	s->calls.since = since;
	if (b->base >= since && b->last < until)
		return statistics_block(s, b);
	s->calls.end.until = until;
	if (b->base >= until) {
		pass_until(s, b);
		return 0;
	}
	if (statistics_begin_block(s, b))
		return -1;
	for (events_begin(&it, b); !bad && event_next(&it, &e);) {
		if (e.time >= until) {
			if (e.type->kind != KIND_GAP)
				calls_pass_until(&s->calls, calls_thread(&e));
			continue;
		}
		s->outside = e.time < since;
		/* what is open at the beginning of the window begins there */
		s->calls.moved_from = s->outside && !s->pair ? e.time : 0;
		if (s->outside && !s->pair)
			e.time = since;
		if (s->outside)
			s->since = since;
		if (!s->outside)
			statistics_note_time(s, e.time);
		bad = s->pair ? statistics_take_pair(s, &e) : statistics_take(s, &e);
	}
	s->outside = false;
	s->calls.moved_from = 0;
	return bad;
}
