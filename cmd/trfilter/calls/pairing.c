#include "cmd/trfilter/calls/pairing.h"

static void pairing_lost(void *ctx, struct stack *s, const struct frame *f, void *data,
			 enum calls_lost why)
{
	struct pairing *p = ctx;
	uint64_t note = *(uint64_t *)data;
	uint8_t flag = f->inner ? ROW_ENDS_INNER : ROW_ENDS;

	(void)s;
	/* a call without an enter has the decision of its leave, which is missing */
	if (!note)
		p->ended |= pairing_ended(0, f->inner) | pairing_ended(1, f->inner);
	else if (p->lost)
		p->lost(p->ctx, (uint32_t)note - 1, why == LOST_NUMBER ? 0 : flag);
	else if (why != LOST_NUMBER)
		p->ended |= pairing_ended((uint32_t)note - 1, f->inner);
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

/* Returns the data of the call of a row; NULL: it is of none. */
static uint64_t *take_row(struct pairing *p, const struct event *e)
{
	struct call done;
	enum calls_result got = calls_try_event(&p->calls, e, &done, true);

	if (got == CALLS_SLOW)
		got = calls_feed(&p->calls, e, &done);
	return got == CALLS_NONE ? NULL : p->calls.data;
}

void pairing_enter(struct pairing *p, const struct event *e, uint32_t note)
{
	uint64_t *data = take_row(p, e);

	if (data)
		*data = note + 1ull;
	else if (p->lost)
		p->lost(p->ctx, note, 0);
}

bool pairing_leave(struct pairing *p, const struct event *e, uint32_t *note)
{
	const uint64_t *data = take_row(p, e);

	if (!data)
		return false;
	if (!*data)
		p->ended |= PAIRING_ENDED_OWN;
	else
		*note = (uint32_t)*data - 1;
	return *data;
}

void pairing_drop(struct pairing *p, const struct event *e)
{
	take_row(p, e);
}
