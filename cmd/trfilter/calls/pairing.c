#include "cmd/trfilter/calls/pairing.h"

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

static __attribute__((noinline)) uint64_t *take_rare(struct pairing *p, const struct event *e)
{
	struct call call;

	return calls_slow(&p->calls, e, &call) == CALLS_NONE ? NULL : call.data;
}

/* Returns the data of the call of a row; NULL: the row is of no call. Common rows are paired
 * inline. */
static inline __attribute__((always_inline)) uint64_t *take_row(struct pairing *p,
								const struct event *e, uint8_t kind)
{
	enum calls_result got = CALLS_SLOW;
	uint32_t call;

	if (!(e->type->flags & TYPE_CALL_NUMBER))
		got = calls_try_event(&p->calls, e, NULL, true);
	else if (field_call(e, &call))
		got = calls_try_by_number(&p->calls, kind, e->lane->source->number, call);
	return got == CALLS_SLOW ? take_rare(p, e) : p->calls.data;
}

void pairing_enter(struct pairing *p, const struct event *e, uint32_t mark)
{
	uint64_t *data = take_row(p, e, KIND_ENTER);

	if (data)
		*data = mark + 1ull;
	else if (p->lost)
		p->lost(p->ctx, mark, 0);
}

bool pairing_leave(struct pairing *p, const struct event *e, uint32_t *mark)
{
	const uint64_t *data = take_row(p, e, KIND_LEAVE);

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
	take_rare(p, e);
}
