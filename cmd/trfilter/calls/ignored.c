#include "cmd/trfilter/calls/ignored.h"

#include <stdlib.h>

#include "common/util/buffer.h"

void ignored_init(struct ignored *x, struct dictionary *d)
{
	*x = (struct ignored){.dictionary = d};
	calls_init(&x->calls, d);
}

void ignored_free(struct ignored *x)
{
	calls_free(&x->calls);
	free(x->rows);
}

static bool is_call(const struct type *t)
{
	return (t->kind == KIND_ENTER || t->kind == KIND_LEAVE) && !(t->flags & TYPE_CALL_NUMBER);
}

static bool may_be_ignored(const struct type *t)
{
	return is_call(t) && t->flags & (TYPE_INNER | TYPE_KERNEL);
}

/* Returns true if rows may be ignored. */
static bool is_needed(struct ignored *x)
{
	const struct pool *types = &x->dictionary->types;

	for (; x->ntypes < types->count; x->ntypes++) {
		const struct type *t = pool_at(types, x->ntypes);

		x->possible |= t && may_be_ignored(t);
	}
	return x->possible;
}

bool ignored_reads(struct ignored *x, const struct block *b)
{
	bool any = false;

	for (uint32_t i = 0; is_needed(x) && i < b->ntypes && !any; i++)
		any = is_call(b->types[i]) || b->types[i]->kind == KIND_DROP;
	return any;
}

int ignored_block(struct ignored *x, const struct block *b)
{
	uint8_t *row;
	struct events it;
	struct event e;
	struct call call;

	x->any = false;
	if (!ignored_reads(x, b))
		return 0;
	if (ARRAY_REACH(x->rows, x->capacity, b->rows))
		return -1;
	row = x->rows;
	for (events_begin(&it, b); event_next(&it, &e); row++) {
		bool pairs = is_call(e.type) || e.type->kind == KIND_DROP;

		*row = pairs && calls_next(&x->calls, &e, &call) == CALLS_NONE &&
		       may_be_ignored(e.type);
		x->any |= *row;
	}
	return x->calls.out_of_memory ? -1 : 0;
}

int ignored_restore(struct ignored *x, const struct block *b)
{
	struct error e;

	return is_needed(x) ? calls_restore(&x->calls, b, &e) : 0;
}
