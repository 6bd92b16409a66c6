#include "cmd/trfilter/calls/partners.h"

#include <stdlib.h>

#include "common/util/buffer.h"

/* Notes of enters; from MARK_CALLS on they are numbers of calls. */
enum {
	MARK_ALONE, /* the leave is independent */
	MARK_KEPT,  /* the leave is kept */
	MARK_CALLS
};

/* Free a call whose two rows are decided. */
static void free_decided(struct partners *p, struct partner *c)
{
	if (c->enter_waits && !c->enter_near && (c->kept || (c->left && !c->leave_waits))) {
		c->enter_waits = false;
		if (c->block == block_queue_next(p->queue))
			p->states[c->row] =
				row_flags(p->states[c->row]) | (c->kept ? ROW_KEEP : ROW_LEFT_OUT);
		else if (!p->failed &&
			 block_queue_decide(p->queue, c->block, c->row,
					    c->kept ? ROW_KEEP : ROW_LEFT_OUT, &p->error))
			p->failed = true;
	}
	if (c->enter_waits || c->leave_waits || !c->left)
		return;
	c->used = false;
	p->unused[p->nunused++] = (uint32_t)(c - p->calls);
}

/* The leave of a call is missing, or is decided by itself. */
static void forget_leave(struct partners *p, uint32_t mark)
{
	if (mark < MARK_CALLS)
		return;
	p->calls[mark - MARK_CALLS].left = true;
	free_decided(p, &p->calls[mark - MARK_CALLS]);
}

static void lost(void *ctx, uint32_t mark, uint8_t flag)
{
	struct partners *p = ctx;

	if (mark < MARK_CALLS || p->calls[mark - MARK_CALLS].kept ||
	    p->calls[mark - MARK_CALLS].enter_near)
		p->ends_here |= flag;
	forget_leave(p, mark);
}

void partners_init(struct partners *p, struct block_queue *w, struct dictionary *d)
{
	*p = (struct partners){.queue = w, .pairing = {.lost = lost, .ctx = p}};
	pairing_init(&p->pairing, d);
}

void partners_free(struct partners *p)
{
	pairing_free(&p->pairing);
	free(p->calls);
	free(p->unused);
}

/* Returns the number of a new call; UINT32_MAX: out of memory. Freeing it cannot fail. */
static uint32_t new_call(struct partners *p)
{
	if (p->nunused)
		return p->unused[--p->nunused];
	if (ARRAY_GROW(p->calls, p->capacity, p->count) ||
	    ARRAY_GROW(p->unused, p->unused_capacity, p->count) ||
	    p->count >= INT32_MAX - MARK_CALLS) {
		p->pairing.calls.out_of_memory = true;
		return UINT32_MAX;
	}
	return (uint32_t)p->count++;
}

uint8_t partners_enter(struct partners *p, const struct event *e, uint32_t row, uint8_t state,
		       struct call_address *at)
{
	uint32_t number;

	if (state == ROW_KEEP) {
		pairing_enter(&p->pairing, e, MARK_KEPT);
		return state;
	}
	number = new_call(p);
	if (number == UINT32_MAX)
		return state;
	p->calls[number] = (struct partner){.block = block_queue_next(p->queue),
					    .row = row,
					    .used = true,
					    .enter_waits = true,
					    .enter_near = state == ROW_UNDECIDED};
	*at = (struct call_address){PARTNER_ENTER, number};
	p->states[row] = state == ROW_UNDECIDED ? state : ROW_PARTNER;
	/* this may lose the call at once, if too many are open */
	pairing_enter(&p->pairing, e, MARK_CALLS + number);
	return p->states[row];
}

uint8_t partners_leave(struct partners *p, const struct event *e, uint8_t state,
		       struct call_address *at)
{
	struct partner *c;
	uint32_t mark;

	if (!pairing_leave(&p->pairing, e, &mark) || mark == MARK_ALONE)
		return state;
	if (mark == MARK_KEPT)
		return ROW_KEEP;
	c = &p->calls[mark - MARK_CALLS];
	c->left = true;
	if (c->kept)
		state = ROW_KEEP;
	else if (state == ROW_KEEP)
		c->kept = true;
	else if (state == ROW_LEFT_OUT)
		c->leave_dropped = true;
	if (state == ROW_UNDECIDED) {
		c->leave_waits = true;
		*at = (struct call_address){PARTNER_LEAVE, mark - MARK_CALLS};
	}
	free_decided(p, c);
	return state;
}

void partners_drop(struct partners *p, const struct event *e)
{
	pairing_drop(&p->pairing, e);
}

void partners_match(struct partners *p, const struct event *e)
{
	uint32_t mark;

	if (e->type->kind == KIND_ENTER)
		pairing_enter(&p->pairing, e, MARK_ALONE);
	else if (e->type->kind == KIND_LEAVE && pairing_leave(&p->pairing, e, &mark))
		forget_leave(p, mark);
}

uint8_t partners_decide(struct partners *p, struct call_address at, bool reached)
{
	struct partner *c;
	uint8_t state = reached ? ROW_KEEP : ROW_LEFT_OUT;

	if (at.stack == PARTNER_NONE)
		return state;
	c = &p->calls[at.number];
	if (at.stack == PARTNER_LEAVE) {
		c->leave_waits = false;
		c->kept |= reached;
		c->leave_dropped = !c->kept;
		state = c->kept ? ROW_KEEP : ROW_LEFT_OUT;
	} else {
		c->enter_near = false;
		c->kept |= reached && !c->leave_dropped;
		if (!c->kept && (!c->left || c->leave_waits))
			return ROW_PARTNER;
		c->enter_waits = false;
		state = c->kept ? ROW_KEEP : ROW_LEFT_OUT;
	}
	free_decided(p, c);
	return state;
}

int partners_check(const struct partners *p, struct error *e)
{
	if (p->failed)
		*e = p->error;
	else if (p->pairing.calls.out_of_memory)
		error_no_memory(e);
	return p->failed || p->pairing.calls.out_of_memory ? -1 : 0;
}

int partners_end(struct partners *p, struct error *e)
{
	pairing_forget(&p->pairing);
	for (size_t i = 0; i < p->count; i++)
		if (p->calls[i].used && !p->calls[i].left)
			forget_leave(p, (uint32_t)(MARK_CALLS + i));
	return partners_check(p, e);
}

void partners_moved(struct partners *p, struct call_address at, uint64_t block, uint32_t row)
{
	if (at.stack != PARTNER_ENTER)
		return;
	p->calls[at.number].block = block;
	p->calls[at.number].row = row;
}
