#include "cmd/trfilter/calls/ignored.h"
#include "common/calls/adopt.h"

#include <stdlib.h>

void ignored_init(struct ignored *x, struct dictionary *d)
{
	*x = (struct ignored){.dictionary = d};
	calls_init(&x->calls, d);
}

void ignored_free(struct ignored *x)
{
	calls_free(&x->calls);
	free(x->stacks);
	free(x->rows);
}

static bool is_call(const struct type *t)
{
	return type_is_call(t) && !(t->flags & TYPE_CALL_NUMBER);
}

static bool is_special(const struct type *t)
{
	return t->flags & (TYPE_INNER | TYPE_KERNEL);
}

void ignored_look(struct ignored *x)
{
	const struct pool *types = &x->dictionary->types;

	for (; x->ntypes < types->count; x->ntypes++) {
		const struct type *t = pool_at(types, x->ntypes);

		if (!t || !is_call(t))
			continue;
		x->special |= is_special(t);
		/* there the last row of a thread does not show the open calls */
		x->full |= t->flags & (TYPE_KERNEL | TYPE_PER_CPU) ||
			   !(t->flags & (TYPE_INNER | TYPE_DEPTH));
	}
}

static int room(struct ignored *x, const struct block *b)
{
	uint8_t *rows;

	if (b->rows <= x->capacity)
		return 0;
	rows = realloc(x->rows, b->rows);
	if (!rows)
		return -1;
	x->rows = rows;
	x->capacity = b->rows;
	return 0;
}

static int reach_stacks(struct ignored *x, const struct block *b)
{
	for (uint32_t i = 0; i < b->nlanes; i++) {
		if (ARRAY_REACH(x->stacks, x->nstacks, b->lanes[i]->thread))
			return -1;
	}
	return 0;
}

/* Use the call engine. */
static int look_at_all(struct ignored *x, const struct block *b)
{
	struct events it;
	struct event e;
	struct call done;
	uint8_t *row = x->rows;

	for (events_begin(&it, b); event_next(&it, &e); row++) {
		if (e.type->kind == KIND_DROP)
			calls_next(&x->calls, &e, &done);
		*row = is_call(e.type) && calls_next(&x->calls, &e, &done) == CALLS_NONE &&
		       is_special(e.type);
		x->any |= *row;
	}
	return x->calls.out_of_memory ? -1 : 0;
}

/* Returns the last row with a depth of a thread, among the block's rows read so far. */
static const uint8_t *last_of(const struct last_rows *rows, const struct block *b, uint32_t thread)
{
	const uint8_t *found = NULL, *last;

	for (uint32_t i = 0; i < b->nlanes; i++) {
		last = b->lanes[i]->thread == thread ? last_row(rows, i, LAST_DEPTH) : NULL;
		if (last && (!found || last > found))
			found = last;
	}
	return found;
}

/* Take a row of a type with INNER. */
static bool ignored_inner_row(struct ignored *x, const struct ends *ends, const struct block *b,
			      const struct event *e)
{
	const struct thread_end *t = &ends->threads[e->lane->thread];
	struct ignored_stack *s = &x->stacks[e->lane->thread];
	const uint8_t *last = last_of(&ends->last, b, e->lane->thread);
	uint32_t open = t->deep, location = t->location;
	struct events it;
	struct event before;
	bool counts;

	if (s->block == ends->blocks + 1 ? s->last != last : last || t->deep_block > s->block)
		s->inner = 0;
	s->block = ends->blocks + 1;
	s->last = last;
	if (e->type->kind == KIND_LEAVE) {
		counts = s->inner;
		s->inner -= counts;
		return !counts;
	}
	events_begin(&it, b);
	it.row = last;
	if (last && event_next(&it, &before)) {
		open = before.depth + (before.type->kind == KIND_ENTER);
		location = before.type->kind == KIND_ENTER ? before.location : 0;
	}
	counts = !ignored_inner(x, e, open, location);
	s->inner += counts;
	return !counts;
}

/* Use the last row before each row that may be ignored. */
static int look_at_last(struct ignored *x, struct ends *ends, const struct block *b)
{
	const uint8_t *p = b->row_data, *end = p + b->row_size;
	struct last_rows *last = &ends->last;
	struct events it;
	struct event e;

	if (last_rows_begin(last, b))
		return -1;
	memset(x->rows, 0, b->rows);
	events_begin(&it, b);
	while ((p = last_rows_inner(last, b, p)) < end) {
		it.row = p;
		x->rows[last->row] = event_next(&it, &e) && ignored_inner_row(x, ends, b, &e);
		x->any |= x->rows[last->row];
		p = last_rows_next(last, b, p);
	}
	last->found = true;
	return 0;
}

/* End calls with INNER that a later row of the block ended. */
static void drop_inner(struct ignored *x, const struct ends *ends, const struct block *b)
{
	for (uint32_t i = 0; i < b->nlanes; i++) {
		struct ignored_stack *s = &x->stacks[b->lanes[i]->thread];

		if (s->block == ends->blocks + 1 &&
		    s->last != last_of(&ends->last, b, b->lanes[i]->thread))
			s->inner = 0;
	}
}

int ignored_adopt(struct ignored *x, const struct snapshot *s)
{
	return ignored_needed(x) && x->full ? calls_adopt(&x->calls, s) : 0;
}

bool ignored_reads(struct ignored *x, const struct block *b)
{
	bool any = ignored_needed(x) && x->full;

	for (uint32_t i = 0; i < b->ntypes && x->special && !any; i++)
		any = is_call(b->types[i]) && b->types[i]->flags & TYPE_INNER;
	return any;
}

int ignored_block(struct ignored *x, struct ends *ends, const struct block *b)
{
	x->any = false;
	if (!ignored_reads(x, b))
		return 0;
	if (room(x, b))
		return -1;
	if (x->full)
		return look_at_all(x, b);
	if (reach_stacks(x, b) || look_at_last(x, ends, b))
		return -1;
	drop_inner(x, ends, b);
	return 0;
}
