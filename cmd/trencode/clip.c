#include "cmd/trencode/clip.h"

#include <stdlib.h>

#include "common/calls/calls.h"
#include "common/stream/field.h"
#include "common/util/buffer.h"

/* Data of an open call. */
struct clip_call {
	bool known, shown;	    /* shown: of a call that is known, and not kept */
	struct copied_row *entered; /* kept; NULL: is not */
};

/* Forget a call that has ended. Returns whether it was shown. */
static bool end_call(struct clip *c, struct clip_call *call)
{
	bool shown = call->entered ? call->entered->shown : call->shown;

	if (call->entered)
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

/* Keep the enter of a call that is shown, or may be shown at the beginning of the range. */
static int keep_enter(struct clip *c, struct clip_call *call, const struct event *ev, bool shown,
		      bool ignored)
{
	struct event plain;
	struct copied_row *n;

	if (__builtin_expect(c->split && ev->type->flags & TYPE_VALUES &&
				     ev->tail_size > CLIP_ENTER_MOST,
			     0)) {
		plain = *ev;
		plain.tail_size = 0;
		ev = &plain;
	}
	n = copied_row_new(ev);
	if (!n)
		return -1;
	n->shown = shown;
	n->ignored = ignored;
	copied_rows_append(&c->entered, n);
	*call = (struct clip_call){.known = true, .entered = n};
	return 0;
}

/* Note that a call was entered. before: before the range. ignored: it is an ignored call. */
static int begin_call(struct clip *c, struct clip_call *call, const struct event *ev, bool shown,
		      bool before, bool ignored)
{
	if (!call)
		return 0;
	c->open += shown;
	if (before || (shown && c->split))
		return keep_enter(c, call, ev, shown, ignored);
	*call = (struct clip_call){.known = true, .shown = shown};
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

/* Adjacent rows of a block, which are shown together. */
struct slice {
	const struct block *block;
	const uint8_t *first;
	uint32_t rows;
};

/* Show the rows of a slice, which is empty afterwards, and begins at `next`. */
static int show_slice(struct clip *c, struct slice *slice, const uint8_t *end, const uint8_t *next,
		      struct error *e)
{
	struct block part = *slice->block;

	part.row_data = slice->first;
	part.row_size = (size_t)(end - slice->first);
	part.rows = slice->rows;
	slice->first = next;
	slice->rows = 0;
	if (!part.rows)
		return 0;
	if (show(c, &part, e))
		return -1;
	if (c->split)
		split_showed(c->split, part.rows, part.row_size);
	return 0;
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
		if ((c->split && split_begin(c->split, n->lane, since, e)) ||
		    show_alone(c, n, n->time > since ? n->time : since, e))
			return -1;
	}
	return 0;
}

/* Note the leave of a call, NULL: of none that is known. Returns whether to show it. */
static bool leave(struct clip *c, struct clip_call *call, bool outside)
{
	if (call && call->known)
		return end_call(c, call);
	/* the call began before the stream: it counts at its leave */
	return !outside && take(c);
}

/* Pair an event. *data: the data of its call; NULL: it has none. */
static inline __attribute__((always_inline)) enum calls_result
pair(struct clip *c, const struct event *ev, struct clip_call **data, bool *ignored)
{
	struct call quick, call;
	enum calls_result got = calls_quick_event(&c->calls, ev, &quick);

	*ignored = false;
	if (__builtin_expect(got != CALLS_SLOW, 1)) {
		*data = quick.data;
		return got;
	}
	got = calls_next(&c->calls, ev, &call);
	*data = got == CALLS_NONE ? NULL : call.data;
	*ignored = got != CALLS_NONE && call.ignored;
	return got;
}

/* Note an event. Returns whether to show it, or -1: out of memory. */
static inline __attribute__((always_inline)) int note(struct clip *c, const struct event *ev,
						      bool before, bool after)
{
	struct clip_call *call;
	bool inside = !before && !after, shown = inside, ignored;
	enum calls_result got = pair(c, ev, &call, &ignored);

	if (__builtin_expect(c->calls.out_of_memory, 0))
		return -1;
	switch (ev->type->kind) {
	case KIND_ENTER:
		shown = inside && take(c);
		if (begin_call(c, call, ev, shown, before, ignored))
			return -1;
		break;
	case KIND_LEAVE: shown = leave(c, call, !inside); break;
	case KIND_GAP:
	case KIND_DROP: break;
	default: shown = inside && take(c);
	}
	if (c->split && shown && inside)
		split_note(c->split, ev, got != CALLS_NONE);
	return shown;
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

/* Take a row that may be outside of the range of its clock, or the first one in it. */
static int take_edge(struct clip *c, const struct block *b, const struct event *ev,
		     const struct clock_window *range, struct error *e)
{
	uint64_t time = ev->time;
	bool before, after;
	int shown;

	if (time >= range->since && begin_range(c, ev->lane->clock, range->since, e))
		return -1;
	/* a clock can step back: a call goes on, at the beginning of the range */
	before = time < range->since &&
		 (!c->begun[ev->lane->clock->number] ||
		  (ev->type->kind != KIND_ENTER && ev->type->kind != KIND_LEAVE));
	after = time >= range->until;
	if (after && pass_range(c, ev, range->until, e))
		return -1;
	if (c->split && !before && !after && split_begin(c->split, ev->lane, time, e))
		return -1;
	shown = note(c, ev, before, after);
	if (shown < 0)
		return error_no_memory(e);
	time = time < range->since ? range->since : after ? range->until : time;
	return shown ? show_row(c, b, ev, time, e) : 0;
}

/* --- cuts --- */

/* Show the leaves of the open calls, the innermost first. */
static int close_calls(struct clip *c, const struct split_cut *cut, struct error *e)
{
	c->split->closing = true;
	for (struct copied_row *n = c->entered.newest; n; n = n->before) {
		struct copied_row *row;
		int bad;

		if (!n->shown)
			continue;
		if (clip_leave(c, n, cut, &row, e))
			return -1;
		bad = show_alone(c, row, cut->time, e);
		free(row);
		if (bad)
			return -1;
	}
	c->split->closing = false;
	return 0;
}

/* Show the enters of the open calls. */
static int open_calls(struct clip *c, const struct split_cut *cut, struct error *e)
{
	for (struct copied_row *n = c->entered.oldest; n; n = n->after) {
		const struct field *own = field_by_role(n->type, ROLE_SOURCE_TIME);

		if (!n->shown)
			continue;
		split_divided(c->split, !n->ignored);
		if (own && own->where == WHERE_FIXED && own->size == 8)
			put_u64(n->row + WIDE_ROW + own->offset, cut->source_time);
		if (show_alone(c, n, cut->time, e))
			return -1;
	}
	return 0;
}

/* Cut before a row if the part ends there. */
static int take_cut(struct clip *c, struct slice *slice, const struct event *ev, struct error *e)
{
	struct split *s = c->split;
	struct split_cut cut;

	if (!split_looks(s, ev, slice->rows) || c->count >= c->limit)
		return 0;
	if (show_slice(c, slice, ev->row, ev->row, e))
		return -1;
	if (!split_cut(s, ev, &cut))
		return 0;
	return close_calls(c, &cut, e) || split_next(s, &cut, e) || open_calls(c, &cut, e) ? -1 : 0;
}

/* --- rows --- */

/* Note the events of a block, and show those in the range. inside: all are. */
static int take_rows(struct clip *c, const struct block *b, bool inside, struct error *e)
{
	struct slice slice = {b, b->row_data, 0};
	struct events it;
	struct event ev;

	for (events_begin(&it, b); event_next(&it, &ev);) {
		const struct clock_window *range = NULL;
		int shown;

		if (!inside && find_range(c, ev.lane->clock, &range, e))
			return -1;
		if (range && !(c->begun[ev.lane->clock->number] && ev.time >= range->since &&
			       ev.time < range->until)) {
			if (show_slice(c, &slice, ev.row, it.row, e) ||
			    take_edge(c, b, &ev, range, e))
				return -1;
			continue;
		}
		if (c->split &&
		    (split_begin(c->split, ev.lane, ev.time, e) || take_cut(c, &slice, &ev, e)))
			return -1;
		shown = note(c, &ev, false, false);
		if (shown < 0)
			return error_no_memory(e);
		slice.rows += shown > 0;
		if (!shown && show_slice(c, &slice, ev.row, it.row, e))
			return -1;
	}
	return show_slice(c, &slice, it.row, it.row, e);
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
	/* calls that begin with the range count */
	inside = inside && c->limit - c->count >= b->rows;
	if (!inside || c->split)
		return take_rows(c, b, inside, e);
	return note_rows(c, b, e) || show(c, b, e) ? -1 : 0;
}

/* --- snapshots --- */

/* A call of a snapshot: it is shown with the snapshot, or kept as one before the range. */
static int on_restore(void *ctx, const struct event *ev, const struct call *restored)
{
	struct clip *c = ctx;
	bool before = !c->begun[ev->lane->clock->number];

	return begin_call(c, restored->data, ev, !before && !c->adopts_hidden, before,
			  restored->ignored);
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
 * Adopt the snapshot of a segment. Enters that are kept are replaced even where all of the stream
 * was read: the ids in their values are those of one segment.
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
	if (*begun && !b->snapshot &&
	    (!c->split || c->count >= c->limit || s->head.latest >= range->until))
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
	if (!b->snapshot || !*begun || c->adopts_hidden)
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
	free(c->leaves);
	time_window_free(&c->window);
}
