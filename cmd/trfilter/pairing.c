/*
 * pairing.c - keep a mark for each enter until the leave that ends its call
 */
#include "cmd/trfilter/pairing.h"

#include <string.h>

#include "common/stream/field.h"

static void pairing_lost(void *ctx, struct stack *s, const struct frame *f, void *data,
			 enum calls_lost why)
{
	struct pairing *p = ctx;
	uint64_t mark = *(uint64_t *)data;
	uint8_t flag = f->inner ? ROW_ENDS_INNER : ROW_ENDS;

	(void)s;
	/* a call without an enter has the decision of its leave, which is missing */
	if (!mark)
		p->ended |= pairing_ended(0, f->inner) | pairing_ended(1, f->inner);
	else if (p->lost)
		p->lost(p->ctx, (uint32_t)mark - 1, why == LOST_NUMBER ? 0 : flag);
	else if (why != LOST_NUMBER)
		p->ended |= pairing_ended((uint32_t)mark - 1, f->inner);
}

void pairing_init(struct pairing *p, struct dictionary *d)
{
	calls_init(&p->calls, d);
	p->calls.balances = p->calls.pairs_only = true;
	p->calls.data_size = sizeof(uint64_t);
	p->calls.on_lost = pairing_lost;
	p->calls.on_lost_ctx = p;
}

void pairing_free(struct pairing *p)
{
	calls_free(&p->calls);
}

void pairing_forget(struct pairing *p)
{
	struct dictionary *d = p->calls.dictionary;

	calls_free(&p->calls);
	pairing_init(p, d);
	p->ended = 0;
}

static __attribute__((noinline)) uint64_t *pairing_take_rare(struct pairing *p,
							     const struct event *e)
{
	struct call call;

	return calls_slow(&p->calls, e, &call) == CALLS_NONE ? NULL : call.data;
}

/* Returns the data of the call of a row; NULL: the row is of no call. Common rows are paired
 * inline. */
static inline __attribute__((always_inline)) uint64_t *
pairing_take_row(struct pairing *p, const struct event *e, uint8_t kind)
{
	enum calls_result got = CALLS_SLOW;
	uint32_t call;

	if (!(e->type->flags & TYPE_CALL_NUMBER))
		got = calls_try_event(&p->calls, e, NULL, true);
	else if (field_call(e, &call))
		got = calls_try_by_number(&p->calls, kind, e->lane->source->number, call);
	return got == CALLS_SLOW ? pairing_take_rare(p, e) : p->calls.data;
}

void pairing_enter(struct pairing *p, const struct event *e, uint32_t mark)
{
	uint64_t *data = pairing_take_row(p, e, KIND_ENTER);

	if (data)
		*data = mark + 1ull;
	else if (p->lost)
		p->lost(p->ctx, mark, 0);
}

bool pairing_leave(struct pairing *p, const struct event *e, uint32_t *mark)
{
	const uint64_t *data = pairing_take_row(p, e, KIND_LEAVE);

	if (!data)
		return false;
	if (!*data)
		p->ended |= PAIRING_ENDED_OWN;
	else
		*mark = (uint32_t)*data - 1;
	return *data;
}

void pairing_drop(struct pairing *p, const struct event *e)
{
	pairing_take_rare(p, e);
}

/* --- pairing block --- */

static bool pairing_is_call(const struct type *t)
{
	return t->kind == KIND_ENTER || t->kind == KIND_LEAVE;
}

bool pairing_has_calls(const struct block *b)
{
	for (uint32_t i = 0; i < b->ntypes; i++)
		if (pairing_is_call(b->types[i]))
			return true;
	return false;
}

bool pairing_block_begin(struct pairing_block *pb, struct pairing *p, const struct block *b)
{
	struct calls *c = &p->calls;

	pb->pairing = p;
	pb->block = b;
	pb->fit = true;
	memset(pb->enters, 0, sizeof pb->enters);
	memset(pb->kinds, 0, sizeof pb->kinds);
	memset(pb->unfit, 1, sizeof pb->unfit);
	for (uint32_t i = 0; i < b->nlocations; i++)
		if (calls_enters_exec(c, b->locations[i + 1]))
			return false;
	if (calls_rows(c, b, &pb->rows))
		return false;
	for (uint32_t i = 0; i < b->ntypes && i < 256; i++) {
		const struct type *t = b->types[i];

		pb->enters[i] = pairing_is_call(t) ? t->kind : 0;
		pb->kinds[i] = t->flags & TYPE_PER_CPU ? 0 : pb->rows.types[i].kind;
		pb->unfit[i] =
			t->fixed_size || t->flags & TYPE_TAIL || pb->enters[i] != pb->kinds[i];
		pb->fit &= !pb->unfit[i];
	}
	pb->runs = !p->lost && !calls_rows_shared(&pb->rows, b);
	return true;
}

static struct stack *pairing_stack_of(const struct pairing_block *pb, uint32_t lane)
{
	return pb->rows.stacks[lane];
}

/* Replace the open calls of a lane by those at the end of a run. Returns the number of the first
 * call that the run entered. */
static size_t take_lane(struct pairing_block *pb, const struct calls_run *r, uint32_t lane)
{
	size_t first;

	/* out of memory: noted in the engine */
	calls_run_end(&pb->pairing->calls, pairing_stack_of(pb, lane), r, lane, &first);
	return first;
}

bool pairing_run(struct pairing_block *pb, const uint8_t *from, const uint8_t *to, uint32_t mark)
{
	uint32_t nlanes = pb->block->nlanes;
	struct calls_run r;

	if (!pb->runs)
		return false;
	calls_run_read(&r, pb->kinds, nlanes, from, to);
	for (uint32_t i = 0; i < nlanes && i < 256; i++) {
		const struct stack *s = pairing_stack_of(pb, i);

		if (!calls_run_fits(&r, s, i))
			return false;
		for (size_t n = s->count; n && s->frames[n - 1].depth >= r.low[i]; n--)
			if (*pairing_data(pb->pairing, s, n - 1) != mark + 1ull)
				return false;
	}
	for (uint32_t i = 0; i < nlanes && i < 256; i++) {
		const struct stack *s = pairing_stack_of(pb, i);

		for (size_t n = take_lane(pb, &r, i); n < s->count; n++)
			*pairing_data(pb->pairing, s, n) = mark + 1ull;
	}
	return true;
}

bool pairing_marks(const struct pairing_block *pb, struct pairing_marks *n)
{
	uint32_t nlanes = pb->block->nlanes;

	if (nlanes > PAIRING_LANES)
		return false;
	memset(n->at, PAIRING_FREE, nlanes * RUN_DEPTHS);
	for (uint32_t i = 0; i < nlanes; i++) {
		const struct stack *s = pairing_stack_of(pb, i);

		for (size_t k = 0; k < s->count; k++) {
			uint64_t data = *pairing_data(pb->pairing, s, k);
			const struct frame *f = &s->frames[k];

			if (f->depth < RUN_DEPTHS && !f->inner && data)
				n->at[i * RUN_DEPTHS + f->depth] = (data - 1) & 1;
		}
	}
	return true;
}

/* Returns true if a call of the lane is not open after the rows of *r, although it has no enter, or
 * has that mark and is in *n, or is of a type with TYPE_INNER. */
static bool lost_any(const struct pairing_block *pb, const struct calls_run *r,
		     const struct pairing_marks *n, uint8_t mark, uint32_t lane)
{
	const uint8_t *at = n->at + lane * RUN_DEPTHS, *end = at + RUN_DEPTHS, *p = at;
	const struct stack *s = pairing_stack_of(pb, lane);

	while (p < end && (p = memchr(p, mark, (size_t)(end - p)))) {
		uint32_t depth = (uint32_t)(p++ - at);

		if (depth >= r->low[lane] && !(r->open[lane][depth / 64] >> depth % 64 & 1))
			return true;
	}
	for (size_t i = s->count; i && s->frames[i - 1].depth >= r->low[lane]; i--) {
		uint64_t data = *pairing_data(pb->pairing, s, i - 1);

		if (!data || (s->frames[i - 1].inner && data == mark + 1ull))
			return true;
	}
	return false;
}

bool pairing_found(struct pairing_block *pb, const struct pairing_marks *n, uint8_t mark)
{
	const struct block *b = pb->block;
	struct calls_run r;

	calls_run_read(&r, pb->kinds, b->nlanes, b->row_data, b->row_data + b->row_size);
	for (uint32_t i = 0; i < b->nlanes; i++)
		if (!calls_run_fits(&r, pairing_stack_of(pb, i), i) || lost_any(pb, &r, n, mark, i))
			return false;
	for (uint32_t i = 0; i < b->nlanes; i++) {
		const struct stack *s = pairing_stack_of(pb, i);

		for (size_t k = take_lane(pb, &r, i); k < s->count; k++)
			*pairing_data(pb->pairing, s, k) =
				1 + (n->at[i * RUN_DEPTHS + s->frames[k].depth] & 1);
	}
	return true;
}

uint32_t pairing_other_row(struct pairing_block *pb, const uint8_t *row, uint32_t mark)
{
	const struct calls_row_type *t = &pb->rows.types[row_type_at(row)];
	const struct lane *lane = pb->block->lanes[row_lane_at(row)];
	struct calls *c = &pb->pairing->calls;
	struct events it;
	struct event e;

	if (t->numbered && calls_try_by_number(c, t->numbered, lane->source->number,
					       get_u32(row + t->call)) != CALLS_SLOW) {
		if (t->numbered == KIND_ENTER)
			*(uint64_t *)c->data = mark + 1ull;
		return (uint32_t) * (uint64_t *)c->data - 1;
	}
	events_begin(&it, pb->block);
	it.row = row;
	if (!event_next(&it, &e))
		return mark;
	if (e.type->kind == KIND_ENTER)
		pairing_enter(pb->pairing, &e, mark);
	else
		pairing_leave(pb->pairing, &e, &mark);
	return mark;
}
