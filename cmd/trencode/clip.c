#include "cmd/trencode/clip.h"

#include <stdlib.h>

#include "common/util/buffer.h"
#include "common/calls/calls.h"

/* Data of an open call. */
struct clip_call {
	enum { UNSEEN, SHOWN, HIDDEN, BEFORE } state;
	struct copied_row *entered; /* of a call that began before the range */
};

/* Forget a call that has ended. Returns whether it was shown. */
static bool end_call(struct clip *c, struct clip_call *call)
{
	bool shown = call->state == SHOWN || (call->state == BEFORE && call->entered->shown);

	if (call->state == BEFORE)
		copied_rows_remove(&c->entered, call->entered);
	c->open -= shown;
	*call = (struct clip_call){0};
	return shown;
}

static void on_lost(void *ctx, struct stack *s, const struct frame *f, void *data,
		    enum calls_lost why)
{
	(void)s;
	(void)f;
	(void)why;
	end_call(ctx, data);
}

/* Keep the enter of a call that began before the range. */
static int keep_enter(struct clip *c, struct clip_call *call, const struct event *ev)
{
	struct copied_row *n = copied_row_new(ev);

	if (!n)
		return -1;
	copied_rows_append(&c->entered, n);
	*call = (struct clip_call){BEFORE, n};
	return 0;
}

/* Count a call or an event. Returns false if it is beyond the limit. */
static bool take(struct clip *c)
{
	if (c->count >= c->limit)
		return false;
	c->count++;
	return true;
}

/* --- showing --- */

static int show(struct clip *c, const struct block *b, struct error *e)
{
	return c->show(c->ctx, b, e);
}

/* Show a row of a block alone, at a time. */
static int show_row(struct clip *c, const struct block *b, const struct event *ev, uint64_t time,
		    struct error *e)
{
	struct block one = *b;

	one.row_size = row_size(b, ev->row);
	c->row.size = 0;
	if (buffer_append(&c->row, ev->row, one.row_size))
		return error_no_memory(e);
	row_move(c->row.data, b->row_flags & EVENTS_WIDE, ev->time - b->base);
	one.row_data = c->row.data;
	one.rows = 1;
	one.base = one.last = time;
	return show(c, &one, e);
}

/* Show a copied row at a time. */
static int show_alone(struct clip *c, struct copied_row *n, uint64_t time, struct error *e)
{
	struct copied_block one;

	return show(c, copied_row_block(&one, n, time), e);
}

/* --- the range --- */

/* Find the range of a clock. */
static int find_range(struct clip *c, const struct clock *clock, const struct clock_window **range,
		      struct error *e)
{
	if (ARRAY_REACH(c->begun, c->nbegun, clock->number))
		return error_no_memory(e);
	*range = time_window_of(&c->window, clock);
	if (!c->window.failed)
		return 0;
	*e = c->window.error;
	return -1;
}

/* Begin the range of a clock: the calls that are open begin there. */
static int begin_range(struct clip *c, const struct clock *clock, uint64_t since, struct error *e)
{
	if (c->begun[clock->number])
		return 0;
	c->begun[clock->number] = true;
	for (struct copied_row *n = c->entered.oldest; n; n = n->after) {
		if (n->lane->clock != clock || n->shown || !take(c))
			continue;
		n->shown = true;
		c->open++;
		if (show_alone(c, n, n->time > since ? n->time : since, e))
			return -1;
	}
	return 0;
}

/* Note the enter of a call. Returns whether to show it, or -1: out of memory. */
static int enter(struct clip *c, const struct event *ev, struct clip_call *call, bool before,
		 bool after)
{
	bool shown;

	if (before)
		return call && keep_enter(c, call, ev) ? -1 : 0;
	shown = !after && take(c);
	if (call)
		call->state = shown ? SHOWN : HIDDEN;
	c->open += call && shown;
	return shown;
}

/* Note the leave of a call, NULL: of none that is known. Returns whether to show it. */
static bool leave(struct clip *c, struct clip_call *call, bool outside)
{
	if (call && call->state != UNSEEN)
		return end_call(c, call);
	/* the call began before the stream: it counts at its leave */
	return !outside && take(c);
}

/* Note an event. Returns whether to show it, or -1: out of memory. */
static int note(struct clip *c, const struct event *ev, bool before, bool after)
{
	struct call call;
	enum calls_result got = calls_next(&c->calls, ev, &call);

	if (c->calls.out_of_memory)
		return -1;
	switch (ev->type->kind) {
	case KIND_ENTER: return enter(c, ev, got == CALLS_ENTER ? call.data : NULL, before, after);
	case KIND_LEAVE: return leave(c, got == CALLS_LEAVE ? call.data : NULL, before || after);
	case KIND_GAP:
	case KIND_DROP: return !before && !after;
	}
	return !before && !after && take(c);
}

/*
 * Note that a thread has events after the range. Its calls that never return end at the end of the
 * range, as in trstat: a row that drops none is the last one of the thread.
 */
static int pass_range(struct clip *c, const struct event *ev, uint64_t until, struct error *e)
{
	uint32_t thread = calls_thread(ev);
	/* encoders may keep rows, which refer to their types */
	static const struct type drops[] = {{.kind = KIND_DROP},
					    {.kind = KIND_DROP, .flags = TYPE_PER_CPU}};
	bool per_cpu = ev->type->flags & TYPE_PER_CPU;
	uint8_t *passed;
	const struct stack *s = calls_thread_stack(&c->calls, thread);
	struct copied_row *n;
	int bad;

	if (ARRAY_REACH(c->passed, c->npassed, thread))
		return error_no_memory(e);
	passed = c->passed;
	/* a leave is shown itself: before it, such a row would drop the calls inside of its call */
	if (passed[thread] || ev->type->kind == KIND_GAP || ev->type->kind == KIND_LEAVE || !s ||
	    !s->count)
		return 0;
	passed[thread] = true;
	n = copied_row_new(&(struct event){
		.type = &drops[per_cpu], .lane = ev->lane, .depth = WIDE_DEPTH_MOST});
	bad = n ? show_alone(c, n, until, e) : error_no_memory(e);
	free(n);
	return bad;
}

/* Note the events of a block, and show them one by one. */
static int take_rows(struct clip *c, const struct block *b, struct error *e)
{
	struct events it;
	struct event ev;

	for (events_begin(&it, b); event_next(&it, &ev);) {
		const struct clock_window *range;
		uint64_t time = ev.time;
		bool before, after;
		int shown;

		if (find_range(c, ev.lane->clock, &range, e))
			return -1;
		if (time >= range->since && begin_range(c, ev.lane->clock, range->since, e))
			return -1;
		/* a clock can step back: a call goes on, at the beginning of the range */
		before = time < range->since &&
			 (!c->begun[ev.lane->clock->number] ||
			  (ev.type->kind != KIND_ENTER && ev.type->kind != KIND_LEAVE));
		after = time >= range->until;
		if (after && pass_range(c, &ev, range->until, e))
			return -1;
		shown = note(c, &ev, before, after);
		if (shown < 0)
			return error_no_memory(e);
		time = time < range->since ? range->since : after ? range->until : time;
		if (shown && show_row(c, b, &ev, time, e))
			return -1;
	}
	return 0;
}

/* Note the events of a block whose events are all shown. */
static int note_rows(struct clip *c, const struct block *b, struct error *e)
{
	struct events it;
	struct event ev;

	for (events_begin(&it, b); event_next(&it, &ev);)
		if (note(c, &ev, false, false) < 0)
			return error_no_memory(e);
	return 0;
}

/* Test whether a block is in the range of its clocks and below the limit. */
static int is_inside(struct clip *c, const struct block *b, bool *inside, struct error *e)
{
	*inside = c->limit - c->count >= b->rows;
	for (uint32_t i = 0; i < b->nlanes && *inside; i++) {
		const struct clock_window *range;

		if (find_range(c, b->lanes[i]->clock, &range, e))
			return -1;
		*inside = b->base >= range->since && b->last < range->until;
		if (*inside && begin_range(c, b->lanes[i]->clock, range->since, e))
			return -1;
	}
	return 0;
}

static int take_events(struct clip *c, const struct block *b, struct error *e)
{
	bool inside;

	if (is_inside(c, b, &inside, e))
		return -1;
	if (!inside || c->limit - c->count < b->rows)
		return take_rows(c, b, e);
	return note_rows(c, b, e) || show(c, b, e) ? -1 : 0;
}

/* --- snapshots --- */

/* A call of a snapshot: it is shown with the snapshot, or kept as one before the range. */
static int on_restore(void *ctx, const struct event *ev, const struct call *restored)
{
	struct clip *c = ctx;
	struct clip_call *call = restored->data;

	if (!c->begun[ev->lane->clock->number])
		return keep_enter(c, call, ev);
	call->state = c->adopts_hidden ? HIDDEN : SHOWN;
	c->open += !c->adopts_hidden;
	return 0;
}

/* Get the range of the calls of a snapshot, which are of one clock; NULL: the snapshot has none. */
static int snapshot_range(struct clip *c, const struct snapshot *s, const struct lane **lane,
			  const struct clock_window **range, struct error *e)
{
	struct snapshot_walk w;

	*lane = NULL;
	snapshot_walk(&w, s);
	if (!snapshot_next_thread(&w) || !w.lane)
		return 0;
	*lane = w.lane;
	return find_range(c, w.lane->clock, range, e);
}

/*
 * Adopt the snapshot of a segment. Before the range it is adopted even where all of the stream was
 * read: the ids in the values of enters are those of one segment.
 */
static int take_snapshot(struct clip *c, const struct block *b, struct snapshot *s, struct error *e)
{
	const struct clock_window *range;
	const struct lane *lane;
	struct block clipped = *b;
	uint8_t *begun;

	if (snapshot_range(c, s, &lane, &range, e))
		return -1;
	if (!lane)
		return b->snapshot ? show(c, b, e) : 0;
	begun = &c->begun[lane->clock->number];
	if (*begun && !b->snapshot)
		return 0;
	if (b->snapshot && s->head.latest >= range->since)
		*begun = true;
	if (!s->continues) {
		copied_rows_clear(&c->entered);
		c->open = 0;
	}
	c->adopts_hidden = s->head.latest >= range->until;
	if (calls_adopt(&c->calls, s))
		return error_no_memory(e);
	if (!*begun || c->adopts_hidden)
		return 0;
	s->since = range->since;
	clipped.snapshot = s;
	return show(c, &clipped, e);
}

int clip_block(struct clip *c, struct reader *in, const struct block *b, struct error *e)
{
	bool new_stream = b->kind == BLOCK_HEAD && !in->head.sequence;

	time_window_block(&c->window, b, new_stream);
	if (new_stream) {
		calls_drop_all(&c->calls);
		copied_rows_clear(&c->entered);
		c->open = 0;
	}
	if (b->kind == BLOCK_SNAPSHOT)
		return take_snapshot(c, b, &in->snapshot, e);
	return b->kind == BLOCK_EVENTS && b->rows ? take_events(c, b, e) : 0;
}

void clip_init(struct clip *c, struct dictionary *d)
{
	calls_init(&c->calls, d);
	c->calls.data_size = sizeof(struct clip_call);
	c->calls.balances = c->calls.pairs_only = true;
	c->calls.on_lost = on_lost;
	c->calls.on_lost_ctx = c;
	c->calls.on_restore = on_restore;
	c->calls.on_restore_ctx = c;
}

void clip_free(struct clip *c)
{
	copied_rows_clear(&c->entered);
	calls_free(&c->calls);
	buffer_free(&c->row);
	free(c->begun);
	free(c->passed);
	time_window_free(&c->window);
}
