#include "cmd/trfilter/rows/filter.h"

#include <stdlib.h>

#include "cmd/trfilter/calls/row_state.h"
#include "cmd/trfilter/rows/time_range.h"

static struct term make_term(struct node *n)
{
	/* threads and CPUs are the row's own: a leave may have others */
	enum { CALL = DEPENDS_CALL | DEPENDS_LOCATION | DEPENDS_NAME | DEPENDS_TYPE };

	return (struct term){
		.node = n,
		.by_entry = !(n->depends & DEPENDS_ROW),
		.by_call = n->depends & CALL && !(n->depends & DEPENDS_KIND),
		.by_row = n->depends & DEPENDS_KIND &&
			  !(n->depends & (DEPENDS_LATER | DEPENDS_STACK)),
		.by_both =
			n->depends & DEPENDS_KIND && n->depends & (DEPENDS_LATER | DEPENDS_STACK),
	};
}

/* Count the conditions joined by &&; with terms, fill them in. */
static size_t split(struct node *n, struct term *terms)
{
	size_t count = 0;

	if (n->kind != NODE_AND) {
		if (terms)
			*terms = make_term(n);
		return 1;
	}
	for (size_t i = 0; i < n->nchildren; i++)
		count += split(n->children[i], terms ? terms + count : NULL);
	return count;
}

int filter_compile(struct filter *f, const char *expression, struct error *e)
{
	*f = (struct filter){.tree = condition_parse(expression, e)};
	if (!f->tree)
		return -1;
	f->terms = calloc(split(f->tree, NULL), sizeof *f->terms);
	if (!f->terms)
		return error_no_memory(e);
	f->nterms = split(f->tree, f->terms);
	for (size_t i = 0; i < f->nterms; i++) {
		f->by_both |= f->terms[i].by_both;
		f->by_kind |= f->terms[i].node->depends & DEPENDS_KIND;
	}
	while (f->leading < f->nterms && f->terms[f->leading].by_entry)
		f->calls |= f->terms[f->leading++].by_call;
	return 0;
}

void filter_begin(struct filter *f)
{
	for (size_t i = 0; i < f->nterms; i++) {
		pairing_free(&f->terms[i].pairing);
		pairing_init(&f->terms[i].pairing, f->evaluation.dictionary);
	}
}

void filter_free(struct filter *f)
{
	for (size_t i = 0; i < f->nterms; i++)
		pairing_free(&f->terms[i].pairing);
	free(f->terms);
	condition_free(f->tree);
}

static bool term_is_true(struct filter *f, struct term *p, const struct event *e)
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

/* End the calls in the terms from first on that a row ended which does not reach these, as a row of
 * KIND_DROP in its place does (rows/drops.h). ended: those of the term before. */
static __attribute__((noinline)) void end_in_terms(struct filter *f, size_t first, uint8_t ended,
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
	for (size_t i = first; i < f->nterms; i++) {
		if (!f->terms[i].by_call)
			continue;
		t.flags = flags & ~TYPE_INNER;
		if (flags & TYPE_DEPTH && !(flags & TYPE_INNER))
			pairing_drop(&f->terms[i].pairing, &drop);
		t.flags = flags | TYPE_INNER;
		if (pairing_flags(ended) & ROW_ENDS_INNER)
			pairing_drop(&f->terms[i].pairing, &drop);
		f->any_ended |= f->terms[i].pairing.ended != 0;
	}
}

bool filter_from(struct filter *f, size_t first, const struct event *e)
{
	for (size_t i = first; i < f->nterms; i++) {
		struct term *p = &f->terms[i];
		bool result = term_is_true(f, p, e);

		f->any_ended |= p->pairing.ended != 0;
		if (result)
			continue;
		if (__builtin_expect(p->pairing.ended, 0))
			end_in_terms(f, i + 1, p->pairing.ended, e);
		return false;
	}
	return true;
}

/* Returns the calls of a pairing that ended, with that mark or any. */
static unsigned take_ended(struct pairing *p, unsigned marks)
{
	unsigned ended = p->ended & (marks | marks << 2 | PAIRING_ENDED_OWN);

	p->ended = 0;
	return ended;
}

uint8_t filter_ends(struct filter *f, struct time_range *range, bool invert)
{
	/* if the expression is false as a whole, any term may be */
	unsigned marks = !invert ? 2 : f->nterms > 1 ? 3 : 1, ended = 0;

	f->any_ended = false;
	for (size_t i = 0; i < f->nterms; i++)
		ended |= take_ended(&f->terms[i].pairing, marks);
	if (range)
		ended |= take_ended(&range->pairing, 2);
	return f->by_kind ? 0 : pairing_flags(ended);
}

uint8_t filter_drop(struct filter *f, struct time_range *range, bool invert, const struct event *e)
{
	bool by_call = range, passes = true;

	if (range)
		pairing_drop(&range->pairing, e);
	for (size_t i = 0; i < f->nterms; i++) {
		struct term *p = &f->terms[i];

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
	for (size_t i = 0; i < f->nterms; i++)
		if (f->terms[i].pairing.calls.out_of_memory)
			return true;
	return false;
}
