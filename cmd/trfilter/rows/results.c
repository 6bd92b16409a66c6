#include "cmd/trfilter/rows/results.h"

#include "cmd/trfilter/rows/drops.h"

/* A call that was taken has ended without a leave. */
static void results_lost(void *ctx, uint32_t mark, uint8_t flag)
{
	struct results *r = ctx;

	(void)flag;
	r->open -= mark;
}

void results_init(struct results *r, uint64_t limit, struct dictionary *d)
{
	*r = (struct results){.limit = limit};
	r->pairing.lost = results_lost;
	r->pairing.ctx = r;
	pairing_init(&r->pairing, d);
}

void results_free(struct results *r)
{
	pairing_free(&r->pairing);
}

void results_begin(struct results *r)
{
	pairing_forget(&r->pairing);
	r->open = 0;
}

bool results_take(struct results *r, const struct event *e, bool caller)
{
	bool room = !results_full(r);
	uint32_t taken;

	switch (e->type->kind) {
	case KIND_GAP: return true;
	case KIND_ENTER:
		r->open += room;
		pairing_enter(&r->pairing, e, room);
		break;
	case KIND_LEAVE:
		if (!pairing_leave(&r->pairing, e, &taken))
			break;
		r->open -= taken;
		return taken;
	default: break;
	}
	r->count += room && !caller;
	return room;
}

/* End the calls that a row with flags ends. */
static void results_end_calls(struct results *r, const struct event *e, uint8_t state)
{
	struct drop_row drops[2];
	unsigned n = drops_of(e, state, drops);

	for (unsigned i = 0; i < n; i++) {
		struct type t = {.kind = KIND_DROP, .flags = drops[i].flags};
		struct event drop = *e;

		drop.type = &t;
		drop.depth = drops[i].depth;
		pairing_drop(&r->pairing, &drop);
	}
}

uint8_t results_row(struct results *r, const struct event *e, uint8_t state)
{
	if (results_done(r))
		return ROW_LEFT_OUT;
	if (row_flags(state))
		results_end_calls(r, e, state);
	if (!row_passes(state) || results_take(r, e, row_state(state) == ROW_CALLER))
		return state;
	return row_flags(state) | ROW_LEFT_OUT;
}
