#include "cmd/trfilter/rows/context.h"

#include <stdlib.h>

#include "cmd/trfilter/rows/block_compact.h"

static void moved(void *ctx, struct call_address at, uint64_t block, uint32_t row)
{
	struct context *c = ctx;

	partners_moved(&c->partners, at, block, row);
}

void context_init(struct context *c, size_t limit, struct dictionary *d)
{
	*c = (struct context){.before = c->before,
			      .after = c->after,
			      .within = c->within,
			      .by_time = c->by_time,
			      .limit = c->limit};
	block_queue_init(&c->queue, limit);
	c->queue.moved = moved;
	c->queue.ctx = c;
	partners_init(&c->partners, &c->queue, d);
	results_init(&c->results, c->limit, d);
}

void context_free(struct context *c)
{
	block_queue_free(&c->queue);
	partners_free(&c->partners);
	results_free(&c->results);
	free(c->states);
	free(c->owners);
	free(c->times);
	free(c->offsets);
}

static int room(struct context *c, uint32_t rows, struct error *e)
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

	if (block_queue_load(&c->queue, h, e))
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
	return filed ? block_queue_put_back(&c->queue, h, e) : 0;
}

static struct queued_block *numbered(const struct block_queue *w, uint64_t number)
{
	return &w->blocks[w->first + (number - w->sequence)];
}

/* Decide all rows that depend on a match. */
static int resolve_rows(struct context *c, struct reach *r, struct error *e)
{
	for (uint64_t i = block_queue_next(&c->queue); c->pending && i-- > c->oldest;) {
		struct queued_block *h = numbered(&c->queue, i);

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
	for (; c->pending && c->oldest < block_queue_next(&c->queue); c->oldest++) {
		struct queued_block *h = numbered(&c->queue, c->oldest);
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
static void decide_rows(struct context *c, uint32_t first, uint32_t end, struct reach *r)
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

	decide_rows(c, first, i, &r);
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
static uint8_t take_other(struct context *c, const struct event *ev, uint32_t i, bool caller)
{
	uint8_t state = caller ? ROW_KEEP : c->before || c->by_time ? ROW_UNDECIDED : ROW_LEFT_OUT;

	if (c->matched_before && (c->left || (c->by_time && ev->time <= c->until))) {
		c->left -= c->left > 0;
		state = ROW_KEEP;
	} else if (results_full(&c->results)) {
		c->done = !c->results.open;
		return ROW_LEFT_OUT;
	}
	if (ev->type->kind == KIND_ENTER)
		return partners_enter(&c->partners, ev, i, state, &c->owners[i]);
	if (ev->type->kind == KIND_LEAVE)
		return partners_leave(&c->partners, ev, state, &c->owners[i]);
	return state;
}

/* Returns the state of a row for the results: only matches count. */
static uint8_t match_state(uint8_t state)
{
	return row_kept(state) ? state : row_flags(state) | ROW_LEFT_OUT;
}

static int take_events(struct context *c, struct queued_block *h, struct error *e)
{
	const uint8_t *states = h->memory + h->states_at;
	const struct block *b = &h->block;
	uint64_t number = block_queue_next(&c->queue);
	uint32_t first = 0, near = 0, kept = 0;
	struct events it;
	struct event ev;

	if (room(c, b->rows, e))
		return -1;
	events_begin(&it, b);
	for (uint32_t i = 0; event_next(&it, &ev); i++) {
		uint8_t left = results_row(&c->results, &ev, match_state(states[i]));

		c->offsets[i] = (uint32_t)(ev.row - b->row_data);
		c->times[i] = ev.time;
		c->owners[i] = (struct call_address){PARTNER_NONE, 0};
		if (ev.type->kind == KIND_DROP)
			partners_drop(&c->partners, &ev);
		if (c->done || row_state(states[i]) == ROW_LEFT_OUT || ev.type->kind == KIND_DROP) {
			c->states[i] = ROW_LEFT_OUT;
		} else if (row_state(states[i]) == ROW_GAP) {
			c->states[i] = ROW_GAP;
		} else if (row_kept(left)) {
			c->states[i] = row_state(states[i]);
			if (take_match(c, &ev, first, i, e))
				return -1;
			first = i + 1;
		} else {
			c->states[i] = take_other(c, &ev, i, row_state(states[i]) == ROW_CALLER);
		}
		c->states[i] |= row_flags(states[i]) | partners_ended(&c->partners);
		c->queue.flagged |= row_flags(c->states[i]) != 0;
	}
	trim_rows(c, b, first);
	for (uint32_t i = 0; i < b->rows; i++) {
		near += row_state(c->states[i]) == ROW_UNDECIDED;
		kept += row_kept(c->states[i]);
	}
	if (partners_check(&c->partners, e) ||
	    block_queue_events(&c->queue, b, c->states, c->offsets, c->owners, e))
		return -1;
	if (block_queue_next(&c->queue) > number)
		numbered(&c->queue, number)->kept = kept;
	if (near) {
		numbered(&c->queue, number)->near = near;
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
static int end_stream(struct context *c, struct error *e)
{
	c->matched_before = false;
	results_begin(&c->results);
	return context_finish(c, e);
}

int context_take(struct context *c, struct queued_block *h, struct error *e)
{
	c->queue.at_hand = h ? h->block.length : 0;
	if (!h)
		return context_finish(c, e);
	if (h->block.kind == BLOCK_EVENTS) {
		if (h->block.rows && take_events(c, h, e))
			return -1;
		return c->done ? context_finish(c, e) : 0;
	}
	/* even if the one before has no END */
	if (((h->block.kind == BLOCK_HEAD && !h->head.sequence) ||
	     (h->block.kind == BLOCK_END && h->end.flags & END_LAST)) &&
	    end_stream(c, e))
		return -1;
	return block_queue_other(&c->queue, &h->block, &h->head, &h->end, e);
}

struct queued_block *context_ready(struct context *c, struct error *e)
{
	struct queued_block *h = block_queue_front(&c->queue);

	e->what[0] = '\0';
	if (!h || h->undecided || block_queue_later(&c->queue, h) ||
	    block_queue_load(&c->queue, h, e))
		return NULL;
	block_queue_clean(h);
	return h;
}

void context_done(struct context *c)
{
	block_queue_pop(&c->queue);
}
