#include "context.h"

#include <stdlib.h>

#include "cut.h"

void context_init(struct context *c, size_t limit)
{
	uint64_t before = c->before, after = c->after, within = c->within, most = c->limit;

	*c = (struct context){.before = before, .after = after, .within = within, .limit = most};
	waiting_init(&c->waiting, limit);
}

void context_free(struct context *c)
{
	waiting_free(&c->waiting);
	free(c->states);
	free(c->offsets);
	free(c->others);
}

/* Rows before a match, from the nearest on: are they kept? */
struct reach {
	uint64_t events; /* so many more */
	uint64_t from;	 /* and all from this time on */
};

static struct reach reach_of(const struct context *c, uint64_t time)
{
	return (struct reach){c->before, !c->within	    ? UINT64_MAX
					 : time < c->within ? 0
							    : time - c->within};
}

static uint8_t reached(struct reach *r, uint64_t time)
{
	bool near = r->events;

	r->events -= near;
	return near || time >= r->from ? ROW_KEEP : ROW_DROP;
}

/* Decide all that waits, for a match or (NULL) for there being none. */
static int resolve(struct context *c, struct reach *r, struct error *e)
{
	struct waiting *w = &c->waiting;

	for (size_t i = w->first + w->count; c->pending && i-- > w->first;) {
		struct held *h = &w->held[i];
		const uint8_t *row;
		uint8_t *states;

		if (!h->waiting)
			continue;
		if (waiting_load(w, h, e))
			return -1;
		states = h->memory + h->states_at;
		/* times stand in rows, which are found forward only */
		row = h->block.row_data;
		for (uint32_t j = 0; j < h->block.rows; j++) {
			c->others[j] = (uint32_t)(row - h->block.row_data);
			row += cut_row_size(&h->block, row);
		}
		for (uint32_t j = h->block.rows; j--;)
			if (states[j] == ROW_WAIT)
				states[j] =
					r ? reached(r, h->block.base +
							       cut_row_time(&h->block,
									    h->block.row_data +
										    c->others[j]))
					  : ROW_DROP;
		c->pending -= h->waiting;
		h->waiting = 0;
	}
	return 0;
}

/* Blocks at the front that no later match can reach. */
static void expire(struct context *c, uint64_t now)
{
	struct waiting *w = &c->waiting;
	for (size_t i = w->first; i < w->first + w->count; i++) {
		struct held *h = &w->held[i];

		if (!h->waiting)
			continue;
		if (c->pending - h->waiting < c->before ||
		    (c->within && (now < c->within || h->block.last >= now - c->within)))
			return;
		/* waiting_clean takes them out */
		c->pending -= h->waiting;
		h->waiting = 0;
	}
}

static int room(struct context *c, uint32_t rows, struct error *e)
{
	uint8_t *states;
	uint32_t *offsets, *others;

	if (rows <= c->capacity)
		return 0;
	states = realloc(c->states, rows);
	if (states)
		c->states = states;
	offsets = realloc(c->offsets, rows * sizeof *offsets);
	if (offsets)
		c->offsets = offsets;
	others = realloc(c->others, rows * sizeof *others);
	if (others)
		c->others = others;
	if (!states || !offsets || !others)
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	c->capacity = rows;
	return 0;
}

/* Row i of the block at hand matches; those before the first have been decided. */
static int match(struct context *c, const struct block *b, uint32_t first, uint32_t i,
		 uint64_t time, struct error *e)
{
	struct reach r = reach_of(c, time);

	for (uint32_t j = i; j-- > first;)
		if (c->states[j] == ROW_WAIT)
			c->states[j] =
				reached(&r, b->base + cut_row_time(b, b->row_data + c->offsets[j]));
	c->matched++;
	c->left = c->after;
	if (__builtin_add_overflow(time, c->within, &c->until))
		c->until = UINT64_MAX;
	return resolve(c, &r, e);
}

static int take_events(struct context *c, const struct held *h, struct error *e)
{
	const uint8_t *states = h->memory + h->states_at, *row;
	const struct block *b = &h->block;
	bool back = c->before || c->within;
	uint32_t first = 0;

	c->largest = b->rows > c->largest ? b->rows : c->largest;
	if (room(c, c->largest, e))
		return -1;
	row = b->row_data;
	for (uint32_t i = 0; i < b->rows; i++) {
		uint64_t time = b->base + cut_row_time(b, row);

		c->offsets[i] = (uint32_t)(row - b->row_data);
		row += cut_row_size(b, row);
		if (states[i] == ROW_GAP) {
			c->states[i] = ROW_GAP;
		} else if (states[i] == ROW_KEEP && c->matched < c->limit) {
			c->states[i] = ROW_KEEP;
			if (match(c, b, first, i, time, e))
				return -1;
			first = i + 1;
		} else if (c->matched && (c->left || (c->within && time <= c->until))) {
			c->left -= c->left > 0;
			c->states[i] = ROW_KEEP;
		} else {
			c->done = c->matched >= c->limit;
			c->states[i] = back && !c->done ? ROW_WAIT : ROW_DROP;
		}
	}
	for (uint32_t i = first; i < b->rows; i++)
		c->pending += c->states[i] == ROW_WAIT;
	if (waiting_events(&c->waiting, b, c->states, c->offsets, NULL, e))
		return -1;
	expire(c, b->last);
	return 0;
}

int context_take(struct context *c, const struct held *h, struct error *e)
{
	if (!h)
		return resolve(c, NULL, e);
	if (h->block.kind == BLOCK_EVENTS)
		return h->block.rows ? take_events(c, h, e) : 0;
	return waiting_other(&c->waiting, &h->block, &h->head, &h->end, e);
}

struct held *context_ready(struct context *c, struct error *e)
{
	struct held *h = waiting_front(&c->waiting);

	e->what[0] = '\0';
	if (!h || h->waiting || waiting_load(&c->waiting, h, e))
		return NULL;
	if (h->block.kind == BLOCK_EVENTS)
		waiting_clean(h);
	return h;
}

void context_done(struct context *c)
{
	waiting_pop(&c->waiting);
}
