#include "cmd/trencode/split.h"

#include <stdlib.h>

#include "common/calls/calls.h"
#include "common/stream/field.h"
#include "common/value/units.h"

enum {
	SLICE = 64,  /* most rows between two tests of the size */
	MANY = 1000, /* open calls that a part continues, whatever its size */
};

/* Data of an open call. */
struct split_call {
	struct copied_row *entered; /* NULL: none is kept */
};

int split_parse(struct split_limit *l, const char *text, struct error *e)
{
	size_t digits = strspn(text, "0123456789");
	int64_t ns;

	*l = (struct split_limit){0};
	if (!text[digits] && strspn(text, "0") < digits)
		return error_set(e, NULL, NO_OFFSET,
				 "--split takes a size or a time with a unit, such as %sM or %ss",
				 text, text);
	if (!parse_time_whole(text, &ns) && ns >= 0)
		l->time = (uint64_t)ns;
	else if (parse_size(text, &l->bytes))
		return error_set(e, NULL, NO_OFFSET,
				 "--split takes a size or a time, such as 64M or 10s, not '%s'",
				 text);
	if (!split_any(l))
		return error_set(e, NULL, NO_OFFSET,
				 "--split %s: a part cannot be empty: use a size or a time, such "
				 "as 64M or 10s",
				 text);
	return 0;
}

static int show(struct split *s, const struct block *b, struct error *e)
{
	return s->target.show(s->target.ctx, b, e);
}

/* --- the open calls --- */

static void on_lost(void *ctx, struct stack *stack, const struct frame *f, void *data,
		    enum calls_lost why)
{
	struct split *s = ctx;
	struct split_call *call = data;

	(void)stack;
	(void)f;
	(void)why;
	if (call->entered)
		copied_rows_remove(&s->open, call->entered);
	call->entered = NULL;
}

/* Keep the enter of the call that was entered. */
static int keep_enter(struct split *s, const struct event *ev, struct split_call *call)
{
	struct event plain = *ev;

	if (!call)
		return 0;
	if (ev->type->flags & TYPE_VALUES && ev->tail_size > SPLIT_ENTER_MOST)
		plain.tail_size = 0;
	call->entered = copied_row_new(&plain);
	if (!call->entered)
		return -1;
	copied_rows_append(&s->open, call->entered);
	return 0;
}

static int on_restore(void *ctx, const struct event *ev, const struct call *call)
{
	return keep_enter(ctx, ev, call->data);
}

/* Test whether the call of a row is left out of the target. */
static bool is_left_out(const struct split *s, const struct event *ev)
{
	const struct open_calls *left_out = &s->numbers->left_out;
	uint32_t call;

	return open_calls_count(left_out) && ev->type->flags & TYPE_CALL_NUMBER &&
	       field_call(ev, &call) && open_calls_has(left_out, ev->lane->source->number, call);
}

static bool enter_left_out(const struct split *s, const struct copied_row *enter)
{
	return is_left_out(s, &(struct event){.type = enter->type,
					      .lane = enter->lane,
					      .fixed = enter->row + WIDE_ROW});
}

/* Note an event. -1: out of memory. */
static int note(struct split *s, const struct event *ev)
{
	struct call call;
	enum calls_result got = calls_next(&s->calls, ev, &call);

	if (s->calls.out_of_memory)
		return -1;
	if (got == CALLS_ENTER || got == CALLS_LEAVE) {
		s->any_call = true;
		s->called |= got == CALLS_ENTER || !is_left_out(s, ev);
	}
	if (got == CALLS_LEAVE && call.data)
		on_lost(s, NULL, NULL, call.data, LOST_DEPTH);
	return got == CALLS_ENTER ? keep_enter(s, ev, call.data) : 0;
}

/* Remove from the enter's row the values, whose ids are those of another segment. */
static void drop_values(struct copied_row *n)
{
	uint32_t at = WIDE_ROW + n->type->fixed_size;

	for (uint32_t i = 0; i < n->type->nfields; i++)
		if (field_is_stack(&n->type->fields[i]))
			put_u32(n->row + WIDE_ROW + n->type->fields[i].offset, 0);
	if (!(n->type->flags & TYPE_VALUES))
		return;
	put_u32(n->row + at, 0);
	n->size = at + 4;
}

/* --- the cut --- */

/* Show the leaves of the open calls, the innermost first. */
static int close_calls(struct split *s, uint64_t time, uint64_t source_time, struct error *e)
{
	s->showing.rows = ROWS_THAT_CLOSE;
	for (struct copied_row *n = s->open.newest; n; n = n->before) {
		struct copied_block one;
		struct copied_row *row;
		int bad;

		if (enter_left_out(s, n))
			continue;
		if (split_leave(s, n, time, source_time, &row, e))
			return -1;
		bad = show(s, copied_row_block(&one, row, time), e);
		free(row);
		if (bad)
			return -1;
	}
	s->showing.rows = ROWS_OF_TRACE;
	return 0;
}

static int open_calls(struct split *s, uint64_t time, uint64_t source_time, struct error *e)
{
	for (struct copied_row *n = s->open.oldest; n; n = n->after) {
		const struct field *own = field_by_role(n->type, ROLE_SOURCE_TIME);
		struct copied_block one;

		if (enter_left_out(s, n))
			continue;
		s->called = true;
		s->continued++;
		if (s->foreign)
			drop_values(n);
		if (own && own->where == WHERE_FIXED && own->size == 8)
			put_u64(n->row + WIDE_ROW + own->offset, source_time);
		s->showing = (struct split_shown){ROWS_THAT_OPEN, n->time};
		if (show(s, copied_row_block(&one, n, time), e))
			return -1;
	}
	s->foreign = false;
	s->showing.rows = ROWS_OF_TRACE;
	return 0;
}

/* End the part, and begin the next one. mark: the time as it is written; PART_NO_TIME: the next one
 * is the first of another stream. */
static int next_part(struct split *s, uint64_t time, uint64_t mark, struct error *e)
{
	s->part.until = mark;
	s->numbers->scheduling.cut = time;
	if (s->target.end(s->target.ctx, e))
		return -1;
	s->numbers->scheduling.cut = 0;
	s->part.number++;
	s->part.since = mark;
	s->part.until = PART_NO_TIME;
	s->latest = time;
	s->any = s->due = s->called = false;
	s->rows = s->count = s->continued = 0;
	s->slice = 1;
	return s->target.begin(s->target.ctx, e);
}

/* Get the source's own time of an event; its time if it has no other. */
static uint64_t source_time_of(const struct event *ev, bool *differs)
{
	const struct field *own = field_by_role(ev->type, ROLE_SOURCE_TIME);

	*differs = own && own->where == WHERE_FIXED && own->size == 8;
	return *differs ? get_u64(ev->fixed + own->offset) : ev->time;
}

/* Find the cut before an event: a time that is later than the part's. Returns 0 if there is none.
 */
static uint64_t cut_before(struct split *s, const struct event *ev, bool differs)
{
	uint64_t step = s->step, past;

	if (!s->limit.time)
		return s->due && ev->time > s->latest ? ev->time : 0;
	if (ev->time < s->ends)
		return 0;
	past = (ev->time - s->first) / step;
	s->ends = past < (UINT64_MAX - s->first) / step - 1 ? s->first + (past + 1) * step
							    : UINT64_MAX;
	/* a time between those of two events has no source's time */
	return differs || s->first + past * step <= s->latest ? ev->time : s->first + past * step;
}

/* Cut before an event if the part ends there. */
static int cut(struct split *s, const struct event *ev, struct error *e)
{
	bool differs;
	uint64_t source_time = source_time_of(ev, &differs), time = cut_before(s, ev, differs),
		 mark;

	if (!time || (s->needs_calls && !s->called))
		return 0;
	mark = s->target.mark(s->target.ctx, ev->lane, time);
	if (mark == PART_NO_TIME) /* no part can begin there */
		return 0;
	if (!differs)
		source_time = time;
	return close_calls(s, time, source_time, e) || next_part(s, time, mark, e) ||
			       open_calls(s, time, source_time, e)
		       ? -1
		       : 0;
}

/* --- rows --- */

/* The rows of a block from one to the one before *end. */
struct slice {
	const struct block *block;
	const uint8_t *first;
	uint32_t rows;
};

/* Test whether the part is large enough, and choose after how many rows to test again: when about
 * half of what is missing is written. */
static void limit_slice(struct split *s)
{
	uint64_t size = s->target.size(s->target.ctx), most = s->limit.bytes + s->empty, rows;

	if (size >= most) {
		/* else all parts together are larger than the trace without limit */
		s->due = s->continued <= MANY || s->count >= s->continued / 4;
		s->slice = SLICE;
		return;
	}
	rows = size > s->empty ? (most - size) / ((size - s->empty) / s->count + 1) / 2 : s->count;
	s->slice = rows < 1 ? 1 : rows > SLICE ? SLICE : (uint32_t)rows;
}

/* Show the rows that were noted. */
static int show_slice(struct split *s, struct slice *slice, const uint8_t *end, struct error *e)
{
	struct block part = *slice->block;

	if (!slice->rows)
		return 0;
	part.row_data = slice->first;
	part.row_size = (size_t)(end - slice->first);
	part.rows = slice->rows;
	slice->first = end;
	slice->rows = 0;
	if (show(s, &part, e))
		return -1;
	s->rows += part.row_size;
	s->count += part.rows;
	if (s->limit.bytes)
		limit_slice(s);
	return 0;
}

/* Begin the time of a stream with its first event. */
static int begin_time(struct split *s, const struct event *ev, struct error *e)
{
	bool ticks = ev->lane->clock && ev->lane->clock->flags & CLOCK_TICKS;

	s->begun = true;
	if (!s->limit.time)
		return 0;
	if (ticks && !s->tick)
		return error_set(e, ev->lane->source ? ev->lane->source->name.text : NULL,
				 NO_OFFSET,
				 "the clock counts ticks: --split takes a size, or use --tick");
	s->step = ticks ? (s->limit.time + s->tick - 1) / s->tick : s->limit.time;
	s->first = ev->time;
	s->ends = s->step < UINT64_MAX - ev->time ? ev->time + s->step : UINT64_MAX;
	return 0;
}

static int take_rows(struct split *s, const struct block *b, struct error *e)
{
	struct slice slice = {b, b->row_data, 0};
	struct events it;
	struct event ev;

	for (events_begin(&it, b); event_next(&it, &ev);) {
		if (!s->begun && begin_time(s, &ev, e))
			return -1;
		if (s->due || ev.time >= s->ends || slice.rows >= s->slice) {
			if ((s->limit.bytes || ev.time >= s->ends) &&
			    show_slice(s, &slice, ev.row, e))
				return -1;
			if ((s->due || ev.time >= s->ends) && cut(s, &ev, e))
				return -1;
		}
		if (!s->any && s->limit.bytes)
			s->empty = s->target.size(s->target.ctx);
		if (note(s, &ev))
			return error_no_memory(e);
		s->latest = ev.time > s->latest ? ev.time : s->latest;
		s->any = true;
		slice.rows++;
	}
	return show_slice(s, &slice, it.row, e);
}

/* Adopt the snapshot of a segment: its rows have the ids of this segment. */
static int take_snapshot(struct split *s, const struct block *b, struct snapshot *snapshot,
			 struct error *e)
{
	/* a clipped stream lacks calls of the snapshot, and has others */
	if (s->clipped && !b->snapshot)
		return 0;
	if (!snapshot->continues)
		copied_rows_clear(&s->open);
	s->foreign = false;
	if (calls_adopt(&s->calls, snapshot))
		return error_no_memory(e);
	return b->snapshot ? show(s, b, e) : 0;
}

static int take_head(struct split *s, const struct head *h, struct error *e)
{
	if (h->sequence) {
		s->foreign = true;
		return 0;
	}
	/* another stream is another trace */
	s->name = hash_u64(s->name ^ h->stream_id);
	s->name = hash_bytes(h->properties, h->properties_size, s->name);
	calls_drop_all(&s->calls);
	copied_rows_clear(&s->open);
	if (s->any && next_part(s, 0, PART_NO_TIME, e))
		return -1;
	s->part.since = PART_NO_TIME;
	s->part.split = hash_u64(s->name ^ s->limit.bytes ^ hash_u64(s->limit.time));
	s->begun = s->any_call = false;
	s->ends = UINT64_MAX;
	return 0;
}

int split_block(struct split *s, struct reader *in, const struct block *b, struct error *e)
{
	switch (b->kind) {
	case BLOCK_HEAD: return take_head(s, &in->head, e);
	case BLOCK_SNAPSHOT: return take_snapshot(s, b, &in->snapshot, e);
	case BLOCK_EVENTS: return b->rows ? take_rows(s, b, e) : 0;
	}
	return 0;
}

void split_init(struct split *s, struct dictionary *d, bool clipped)
{
	s->dictionary = d;
	s->clipped = clipped;
	s->part.since = s->part.until = PART_NO_TIME;
	s->ends = UINT64_MAX;
	s->slice = 1;
	calls_init(&s->calls, d);
	s->calls.data_size = sizeof(struct split_call);
	s->calls.balances = s->calls.pairs_only = true;
	s->calls.on_lost = on_lost;
	s->calls.on_lost_ctx = s;
	s->calls.on_restore = on_restore;
	s->calls.on_restore_ctx = s;
}

void split_free(struct split *s)
{
	copied_rows_clear(&s->open);
	calls_free(&s->calls);
	free(s->leaves);
}
