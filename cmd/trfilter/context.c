/*
 * context.c - the rows around a match: -A, -B and --within
 */
#include "cmd/trfilter/context.h"

#include <stdlib.h>

#include "cmd/trfilter/block_queue.h"
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

/* Prepare p, which must not move afterwards, for streams with that dictionary. */
static void partners_init(struct partners *p, struct block_queue *w, struct dictionary *d)
{
	*p = (struct partners){.queue = w, .pairing = {.lost = lost, .ctx = p}};
	pairing_init(&p->pairing, d);
}

static void partners_free(struct partners *p)
{
	pairing_free(&p->pairing);
	free(p->calls);
	free(p->unused);
}

/* Get the number of a new call; UINT32_MAX: out of memory. Freeing it cannot fail. */
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

/* Take a row of the present block with its state so far; *at names it for the block queue.
 * Returns the state: kept, undecided or left out. An enter is not left out at once: the enter is
 * undecided until the leave of its call (ROW_PARTNER). */
static uint8_t partners_enter(struct partners *p, const struct event *e, uint32_t row,
			      uint8_t state, struct call_address *at)
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

static uint8_t partners_leave(struct partners *p, const struct event *e, uint8_t state,
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

/* Take an enter or leave that matches by itself: conditions on single rows select single rows. */
static void partners_match(struct partners *p, const struct event *e)
{
	uint32_t mark;

	if (e->type->kind == KIND_ENTER)
		pairing_enter(&p->pairing, e, MARK_ALONE);
	else if (e->type->kind == KIND_LEAVE && pairing_leave(&p->pairing, e, &mark))
		forget_leave(p, mark);
}

/* Decide a row with ROW_UNDECIDED: a match reached it, or no later match can. Returns the state,
 * which the caller sets: ROW_KEEP, ROW_LEFT_OUT or ROW_PARTNER. */
static uint8_t partners_decide(struct partners *p, struct call_address at, bool reached)
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

/* Returns -1 with e filled if anything failed so far. */
static int partners_check(const struct partners *p, struct error *e)
{
	if (p->failed)
		*e = p->error;
	else if (p->pairing.calls.out_of_memory)
		error_no_memory(e);
	return p->failed || p->pairing.calls.out_of_memory ? -1 : 0;
}

/* End all open calls without a leave. Returns 0, or -1 with e filled. */
static int partners_end(struct partners *p, struct error *e)
{
	pairing_forget(&p->pairing);
	for (size_t i = 0; i < p->count; i++)
		if (p->calls[i].used && !p->calls[i].left)
			forget_leave(p, (uint32_t)(MARK_CALLS + i));
	return partners_check(p, e);
}

/* Callback of the block queue: a row has moved. */
static void partners_moved(void *ctx, struct call_address at, uint64_t block, uint32_t row)
{
	struct partners *p = ctx;

	if (at.stack != PARTNER_ENTER)
		return;
	p->calls[at.number].block = block;
	p->calls[at.number].row = row;
}

/* --- context --- */

static int context_room(struct context *c, uint32_t rows, struct error *e)
{
	uint8_t *states;
	struct call_address *owners;
	uint64_t *times;
	uint32_t *offsets;

	if (rows <= c->capacity)
		return 0;
	states = realloc(c->states, rows);
	if (states)
		c->states = states;
	owners = realloc(c->owners, rows * sizeof *owners);
	if (owners)
		c->owners = owners;
	times = realloc(c->times, rows * sizeof *times);
	if (times)
		c->times = times;
	offsets = realloc(c->offsets, rows * sizeof *offsets);
	if (offsets)
		c->offsets = offsets;
	if (!states || !owners || !times || !offsets)
		return error_no_memory(e);
	c->partners.states = c->states;
	c->capacity = rows;
	return 0;
}

/* --- rows before a match --- */

/* The range before a match, from the nearest row backwards. */
struct reach {
	uint64_t events; /* number of further events to keep */
	uint64_t from;	 /* all events from this time on are kept */
};

static const struct reach nothing = {0, UINT64_MAX};

static struct reach reach_of(const struct context *c, uint64_t time)
{
	return (struct reach){c->before, !c->by_time	    ? UINT64_MAX
					 : time < c->within ? 0
							    : time - c->within};
}

static bool is_reached(struct reach *r, uint64_t time)
{
	bool near = r->events;

	r->events -= near;
	return near || time >= r->from;
}

/* Step back over decided rows, which include that number of kept events. */
static void pass_by(struct reach *r, uint64_t rows)
{
	r->events -= rows < r->events ? rows : r->events;
}

/* Decide the rows of a block that a match might reach. */
static int resolve_block(struct context *c, struct queued_block *h, struct reach *r,
			 struct error *e)
{
	const struct block *b = &h->block;
	uint32_t owner = h->nowners;
	bool filed = !h->memory;
	uint8_t *states;
	const uint8_t *row;

	if (block_queue_load(&c->widening.queue, h, e))
		return -1;
	states = h->memory + h->states_at;
	/* times are in the rows, which can be read forwards only */
	row = b->row_data;
	for (uint32_t i = 0; i < b->rows; i++) {
		c->times[i] = block_row(b, row).time;
		row += row_size(b, row);
	}
	for (uint32_t i = b->rows; i--;) {
		if (row_state(states[i]) != ROW_UNDECIDED) {
			pass_by(r, row_kept(states[i]));
			continue;
		}
		while (h->owners[owner - 1].row != i)
			owner--;
		states[i] = row_flags(states[i]) |
			    partners_decide(&c->partners, h->owners[owner - 1].call,
					    is_reached(r, c->times[i]));
		h->undecided -= row_state(states[i]) != ROW_PARTNER;
		h->kept += row_kept(states[i]);
	}
	c->pending -= h->near;
	h->near = 0;
	if (partners_check(&c->partners, e))
		return -1;
	return filed ? block_queue_put_back(&c->widening.queue, h, e) : 0;
}

static struct queued_block *numbered(const struct block_queue *w, uint64_t number)
{
	return &w->blocks[w->first + (number - w->sequence)];
}

/* Decide all rows that depend on a match. */
static int resolve_rows(struct context *c, struct reach *r, struct error *e)
{
	for (uint64_t i = block_queue_next(&c->widening.queue); c->pending && i-- > c->oldest;) {
		struct queued_block *h = numbered(&c->widening.queue, i);

		if (!h->near) {
			pass_by(r, h->kept);
			continue;
		}
		if (resolve_block(c, h, r, e))
			return -1;
	}
	return 0;
}

/* Decide the rows of blocks that no later match can reach. */
static int expire_rows(struct context *c, uint64_t now, struct error *e)
{
	for (; c->pending && c->oldest < block_queue_next(&c->widening.queue); c->oldest++) {
		struct queued_block *h = numbered(&c->widening.queue, c->oldest);
		struct reach r = nothing;

		if (!h->near)
			continue;
		if (c->pending - h->near < c->before ||
		    (c->by_time && (now < c->within || h->block.last >= now - c->within)))
			return 0;
		if (resolve_block(c, h, &r, e))
			return -1;
	}
	return 0;
}

/* Decide the undecided rows first to end of the present block. */
static void context_decide_rows(struct context *c, uint32_t first, uint32_t end, struct reach *r)
{
	for (uint32_t i = end; i-- > first;) {
		if (row_state(c->states[i]) == ROW_UNDECIDED)
			c->states[i] = row_flags(c->states[i]) |
				       partners_decide(&c->partners, c->owners[i],
						       is_reached(r, c->times[i]));
		else
			pass_by(r, row_kept(c->states[i]));
	}
}

/* Decide the rows from first on in the present block that no later match can reach. */
static void trim_rows(struct context *c, const struct block *b, uint32_t first)
{
	struct reach r = reach_of(c, b->last);

	for (uint32_t i = b->rows; i-- > first;)
		if (row_kept(c->states[i]))
			pass_by(&r, 1);
		else if (row_state(c->states[i]) == ROW_UNDECIDED && !is_reached(&r, c->times[i]))
			c->states[i] = row_flags(c->states[i]) |
				       partners_decide(&c->partners, c->owners[i], false);
}

/* --- input --- */

/* Take row i of the present block, a match; rows before first are decided. */
static int take_match(struct context *c, const struct event *ev, uint32_t first, uint32_t i,
		      struct error *e)
{
	struct reach r = reach_of(c, ev->time);

	context_decide_rows(c, first, i, &r);
	c->matched_before = true;
	c->left = c->after;
	if (__builtin_add_overflow(ev->time, c->within, &c->until))
		c->until = UINT64_MAX;
	if (resolve_rows(c, &r, e))
		return -1;
	partners_match(&c->partners, ev);
	return 0;
}

/* Take a row that is not a match; caller: it encloses one. */
static uint8_t context_take_other(struct context *c, const struct event *ev, uint32_t i,
				  bool caller)
{
	uint8_t state = caller ? ROW_KEEP : c->before || c->by_time ? ROW_UNDECIDED : ROW_LEFT_OUT;

	if (c->matched_before && (c->left || (c->by_time && ev->time <= c->until))) {
		c->left -= c->left > 0;
		state = ROW_KEEP;
	} else if (results_full(&c->widening.results)) {
		c->widening.done = !c->widening.results.open;
		return ROW_LEFT_OUT;
	}
	if (ev->type->kind == KIND_ENTER)
		return partners_enter(&c->partners, ev, i, state, &c->owners[i]);
	if (ev->type->kind == KIND_LEAVE)
		return partners_leave(&c->partners, ev, state, &c->owners[i]);
	return state;
}

/* Get the state of a row for the results: only matches count. */
static uint8_t match_state(uint8_t state)
{
	return row_kept(state) ? state : row_flags(state) | ROW_LEFT_OUT;
}

static int context_take_events(struct context *c, struct queued_block *h, struct error *e)
{
	const uint8_t *states = h->memory + h->states_at;
	const struct block *b = &h->block;
	uint64_t number = block_queue_next(&c->widening.queue);
	uint32_t first = 0, near = 0, kept = 0;
	struct events it;
	struct event ev;

	if (context_room(c, b->rows, e))
		return -1;
	events_begin(&it, b);
	for (uint32_t i = 0; event_next(&it, &ev); i++) {
		uint8_t left = results_row(&c->widening.results, &ev, match_state(states[i]));

		c->offsets[i] = (uint32_t)(ev.row - b->row_data);
		c->times[i] = ev.time;
		c->owners[i] = (struct call_address){PARTNER_NONE, 0};
		if (ev.type->kind == KIND_DROP)
			pairing_drop(&c->partners.pairing, &ev);
		if (c->widening.done || row_state(states[i]) == ROW_LEFT_OUT ||
		    ev.type->kind == KIND_DROP) {
			c->states[i] = ROW_LEFT_OUT;
		} else if (row_state(states[i]) == ROW_GAP) {
			c->states[i] = ROW_GAP;
		} else if (row_kept(left)) {
			c->states[i] = row_state(states[i]);
			if (take_match(c, &ev, first, i, e))
				return -1;
			first = i + 1;
		} else {
			c->states[i] =
				context_take_other(c, &ev, i, row_state(states[i]) == ROW_CALLER);
		}
		c->states[i] |= row_flags(states[i]) | partners_ended(&c->partners);
		c->widening.queue.flagged |= row_flags(c->states[i]) != 0;
	}
	trim_rows(c, b, first);
	for (uint32_t i = 0; i < b->rows; i++) {
		near += row_state(c->states[i]) == ROW_UNDECIDED;
		kept += row_kept(c->states[i]);
	}
	if (partners_check(&c->partners, e) ||
	    block_queue_events(&c->widening.queue, b, c->states, c->offsets, c->owners, e))
		return -1;
	if (block_queue_next(&c->widening.queue) > number)
		numbered(&c->widening.queue, number)->kept = kept;
	if (near) {
		numbered(&c->widening.queue, number)->near = near;
		if (!c->pending)
			c->oldest = number;
		c->pending += near;
	}
	return expire_rows(c, b->last, e);
}

/* Finish: no later row can be kept. */
static int context_finish(struct context *c, struct error *e)
{
	struct reach r = nothing;

	return resolve_rows(c, &r, e) || partners_end(&c->partners, e) ? -1 : 0;
}

/* End a stream. Calls and context never continue in the next stream, whose clocks are unrelated. */
static int context_end_stream(struct context *c, struct error *e)
{
	c->matched_before = false;
	results_begin(&c->widening.results);
	return context_finish(c, e);
}

/* struct widening.take of a context. */
static int context_take(struct widening *widening, struct queued_block *h, struct error *e)
{
	struct context *c = (struct context *)widening;

	if (!h)
		return context_finish(c, e);
	if (h->block.kind == BLOCK_EVENTS) {
		if (h->block.rows && context_take_events(c, h, e))
			return -1;
		return c->widening.done ? context_finish(c, e) : 0;
	}
	/* even if the one before has no END */
	if (((h->block.kind == BLOCK_HEAD && !h->head.sequence) ||
	     (h->block.kind == BLOCK_END && h->end.flags & END_LAST)) &&
	    context_end_stream(c, e))
		return -1;
	return block_queue_other(&c->widening.queue, &h->block, &h->head, &h->end, e);
}

void context_init(struct context *c, size_t limit, struct dictionary *d)
{
	*c = (struct context){.before = c->before,
			      .after = c->after,
			      .within = c->within,
			      .by_time = c->by_time,
			      .limit = c->limit,
			      .widening.take = context_take};
	block_queue_init(&c->widening.queue, limit);
	c->widening.queue.moved = partners_moved;
	c->widening.queue.ctx = &c->partners;
	partners_init(&c->partners, &c->widening.queue, d);
	results_init(&c->widening.results, c->limit, d);
}

void context_free(struct context *c)
{
	block_queue_free(&c->widening.queue);
	partners_free(&c->partners);
	results_free(&c->widening.results);
	free(c->states);
	free(c->owners);
	free(c->times);
	free(c->offsets);
}
