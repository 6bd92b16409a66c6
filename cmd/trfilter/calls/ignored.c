#include "cmd/trfilter/calls/ignored.h"

#include <stdlib.h>

#include "cmd/trfilter/rows/block_compact.h"

/* Class of a type's rows. BARE: a row with a depth and without a payload. */
enum { CLASS_NONE, CLASS_DEPTH, CLASS_BARE, CLASS_INNER };

void ignored_init(struct ignored *x, struct dictionary *d)
{
	*x = (struct ignored){.dictionary = d};
	calls_init(&x->calls, d);
}

void ignored_free(struct ignored *x)
{
	calls_free(&x->calls);
	free(x->stacks);
	free(x->last);
	free(x->classes);
	free(x->rows);
}

static bool is_call(const struct type *t)
{
	return (t->kind == KIND_ENTER || t->kind == KIND_LEAVE) && !(t->flags & TYPE_CALL_NUMBER);
}

static uint8_t class_of(const struct type *t)
{
	if (!is_call(t))
		return CLASS_NONE;
	if (t->flags & TYPE_INNER)
		return CLASS_INNER;
	return t->fixed_size || t->flags & TYPE_TAIL ? CLASS_DEPTH : CLASS_BARE;
}

static bool is_special(const struct type *t)
{
	return t->flags & (TYPE_INNER | TYPE_KERNEL);
}

bool ignored_needed(struct ignored *x)
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
	return x->special;
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

/* Allocate scratch for the lanes and types of a block. */
static int ignored_tables(struct ignored *x, const struct block *b)
{
	const uint8_t **last = array_reach(x->last, &x->nlast, b->nlanes, sizeof *last);
	uint8_t *classes = array_reach(x->classes, &x->nclasses, b->ntypes, 1);

	x->last = last ? last : x->last;
	x->classes = classes ? classes : x->classes;
	if (!last || !classes)
		return -1;
	for (uint32_t i = 0; i < b->nlanes; i++) {
		struct ignored_stack *s =
			array_reach(x->stacks, &x->nstacks, b->lanes[i]->thread, sizeof *s);

		if (!s)
			return -1;
		x->stacks = s;
		last[i] = NULL;
	}
	for (uint32_t i = 0; i < b->ntypes; i++)
		classes[i] = class_of(b->types[i]);
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
			calls_feed(&x->calls, &e, &done);
		*row = is_call(e.type) && calls_feed(&x->calls, &e, &done) == CALLS_NONE &&
		       is_special(e.type);
		x->any |= *row;
	}
	return x->calls.out_of_memory ? -1 : 0;
}

/* Returns the last row with a depth of a thread, among the block's rows read so far. */
static const uint8_t *last_of(const struct ignored *x, const struct block *b, uint32_t thread)
{
	const uint8_t *found = NULL;

	for (uint32_t i = 0; i < b->nlanes; i++)
		if (b->lanes[i]->thread == thread && x->last[i] && (!found || x->last[i] > found))
			found = x->last[i];
	return found;
}

/* Take a row of a type with INNER. */
static bool ignored_inner_row(struct ignored *x, const struct ends *ends, const struct block *b,
			      const struct event *e)
{
	const struct thread_end *t = &ends->threads[e->lane->thread];
	struct ignored_stack *s = &x->stacks[e->lane->thread];
	const uint8_t *last = last_of(x, b, e->lane->thread);
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

/* Returns the first row from a narrow one on that is not BARE. */
static const uint8_t *skip_bare(struct ignored *x, const uint8_t *p, const uint8_t *end)
{
	const uint8_t **last = x->last, *classes = x->classes;

	for (; p < end && classes[row_type_at(p)] == CLASS_BARE; p += NARROW_ROW)
		last[row_lane_at(p)] = p;
	return p;
}

/* Use the last row before each row that may be ignored. */
static void look_at_last(struct ignored *x, const struct ends *ends, const struct block *b)
{
	const uint8_t *p = b->row_data, *end = p + b->row_size, *run;
	bool wide = b->row_flags & EVENTS_WIDE;
	uint32_t i = 0;
	struct plain_row r;
	struct events it;
	struct event e;

	memset(x->rows, 0, b->rows);
	for (; p < end; i++, p += row_size(b, p)) {
		run = p;
		p = wide ? p : skip_bare(x, p, end);
		i += (uint32_t)((size_t)(p - run) / NARROW_ROW);
		if (p >= end)
			break;
		r = block_row(b, p);
		if (x->classes[r.type] == CLASS_INNER) {
			events_begin(&it, b);
			it.row = p;
			x->rows[i] = event_next(&it, &e) && ignored_inner_row(x, ends, b, &e);
			x->any |= x->rows[i];
		} else if (x->classes[r.type] != CLASS_NONE) {
			x->last[r.lane] = p;
		}
	}
}

/* End calls with INNER that a later row of the block ended. */
static void drop_inner(struct ignored *x, const struct ends *ends, const struct block *b)
{
	for (uint32_t i = 0; i < b->nlanes; i++) {
		struct ignored_stack *s = &x->stacks[b->lanes[i]->thread];

		if (s->block == ends->blocks + 1 && s->last != last_of(x, b, b->lanes[i]->thread))
			s->inner = 0;
	}
}

int ignored_block(struct ignored *x, const struct ends *ends, const struct block *b)
{
	bool any = false;

	x->any = false;
	if (!ignored_needed(x))
		return 0;
	if (x->full)
		return room(x, b) ? -1 : look_at_all(x, b);
	for (uint32_t i = 0; i < b->ntypes && ends && !any; i++)
		any = class_of(b->types[i]) == CLASS_INNER;
	if (!any)
		return 0;
	if (room(x, b) || ignored_tables(x, b))
		return -1;
	look_at_last(x, ends, b);
	drop_inner(x, ends, b);
	return 0;
}
