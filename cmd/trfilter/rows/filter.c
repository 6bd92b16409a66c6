#include "cmd/trfilter/rows/filter.h"

#include <stdlib.h>

#include "cmd/trfilter/calls/row_state.h"
#include "cmd/trfilter/rows/time_range.h"

static struct part make_part(struct node *n)
{
	/* threads and CPUs are the row's own: a leave may have others */
	enum { CALL = DEPENDS_CALL | DEPENDS_LOCATION | DEPENDS_NAME | DEPENDS_TYPE };

	return (struct part){
		.node = n,
		.by_entry = !(n->depends & DEPENDS_ROW),
		.by_call = n->depends & CALL && !(n->depends & DEPENDS_KIND),
		.by_row = n->depends & DEPENDS_KIND &&
			  !(n->depends & (DEPENDS_LATER | DEPENDS_STACK)),
		.by_both =
			n->depends & DEPENDS_KIND && n->depends & (DEPENDS_LATER | DEPENDS_STACK),
	};
}

/* Count the conditions joined by &&; with parts, fill them in. */
static size_t split(struct node *n, struct part *parts)
{
	size_t count = 0;

	if (n->kind != NODE_AND) {
		if (parts)
			*parts = make_part(n);
		return 1;
	}
	for (size_t i = 0; i < n->nchildren; i++)
		count += split(n->children[i], parts ? parts + count : NULL);
	return count;
}

int filter_compile(struct filter *f, const char *expression, struct error *e)
{
	*f = (struct filter){.tree = condition_parse(expression, e)};
	if (!f->tree)
		return -1;
	f->parts = calloc(split(f->tree, NULL), sizeof *f->parts);
	if (!f->parts)
		return error_no_memory(e);
	f->nparts = split(f->tree, f->parts);
	for (size_t i = 0; i < f->nparts; i++) {
		f->by_both |= f->parts[i].by_both;
		f->by_kind |= f->parts[i].node->depends & DEPENDS_KIND;
	}
	while (f->leading < f->nparts && f->parts[f->leading].by_entry)
		f->calls |= f->parts[f->leading++].by_call;
	return 0;
}

void filter_begin(struct filter *f)
{
	for (size_t i = 0; i < f->nparts; i++) {
		pairing_free(&f->parts[i].pairing);
		pairing_init(&f->parts[i].pairing, f->evaluation.dictionary);
	}
}

void filter_free(struct filter *f)
{
	for (size_t i = 0; i < f->nparts; i++)
		pairing_free(&f->parts[i].pairing);
	free(f->parts);
	condition_free(f->tree);
}

static bool part_is_true(struct filter *f, struct part *p, const struct event *e)
{
	uint32_t at_enter;
	bool result;

	if (p->by_call && e->type->kind == KIND_LEAVE && pairing_leave(&p->pairing, e, &at_enter))
		return at_enter;
	result = evaluate(&f->evaluation, p->node, e);
	if (p->by_call && e->type->kind == KIND_ENTER)
		pairing_enter(&p->pairing, e, result);
	return result;
}

/* End the calls in the parts from first on that a row ended which does not reach these, as a row of
 * KIND_DROP in its place does (rows/drops.h). ended: those of the part before. */
static __attribute__((noinline)) void end_in_parts(struct filter *f, size_t first, uint8_t ended,
						   const struct event *e)
{
	struct type t = *e->type;
	struct event drop = *e;
	uint16_t flags = t.flags;

	if (flags & TYPE_CALL_NUMBER)
		return;
	t.kind = KIND_DROP;
	drop.type = &t;
	drop.depth += e->type->kind == KIND_LEAVE && !(ended & PAIRING_ENDED_OWN);
	for (size_t i = first; i < f->nparts; i++) {
		if (!f->parts[i].by_call)
			continue;
		t.flags = flags & ~TYPE_INNER;
		if (flags & TYPE_DEPTH && !(flags & TYPE_INNER))
			pairing_drop(&f->parts[i].pairing, &drop);
		t.flags = flags | TYPE_INNER;
		if (pairing_flags(ended) & ROW_ENDS_INNER)
			pairing_drop(&f->parts[i].pairing, &drop);
		f->any_ended |= f->parts[i].pairing.ended != 0;
	}
}

bool filter_from(struct filter *f, size_t first, const struct event *e)
{
	for (size_t i = first; i < f->nparts; i++) {
		struct part *p = &f->parts[i];
		bool result = part_is_true(f, p, e);

		f->any_ended |= p->pairing.ended != 0;
		if (result)
			continue;
		if (__builtin_expect(p->pairing.ended, 0))
			end_in_parts(f, i + 1, p->pairing.ended, e);
		return false;
	}
	return true;
}

/* Returns the calls of a pairing that ended, with that note or any. */
static unsigned take_ended(struct pairing *p, unsigned notes)
{
	unsigned ended = p->ended & (notes | notes << 2 | PAIRING_ENDED_OWN);

	p->ended = 0;
	return ended;
}

uint8_t filter_ends(struct filter *f, struct time_range *range, bool invert)
{
	/* if the expression is false as a whole, any part may be */
	unsigned notes = !invert ? 2 : f->nparts > 1 ? 3 : 1, ended = 0;

	f->any_ended = false;
	for (size_t i = 0; i < f->nparts; i++)
		ended |= take_ended(&f->parts[i].pairing, notes);
	if (range)
		ended |= take_ended(&range->pairing, 2);
	return f->by_kind ? 0 : pairing_flags(ended);
}

uint8_t filter_drop(struct filter *f, struct time_range *range, bool invert, const struct event *e)
{
	bool by_call = range, passes = true;

	if (range)
		pairing_drop(&range->pairing, e);
	for (size_t i = 0; i < f->nparts; i++) {
		struct part *p = &f->parts[i];

		by_call |= p->by_call;
		if (p->by_call)
			pairing_drop(&p->pairing, e);
		else
			passes = passes && evaluate(&f->evaluation, p->node, e);
	}
	if (by_call)
		return filter_ends(f, range, invert);
	if (passes == invert)
		return 0;
	return e->type->flags & TYPE_INNER ? ROW_ENDS_INNER : ROW_ENDS;
}

bool filter_out_of_memory(const struct filter *f)
{
	for (size_t i = 0; i < f->nparts; i++)
		if (f->parts[i].pairing.calls.out_of_memory)
			return true;
	return false;
}
