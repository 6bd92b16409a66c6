/*
 * emit.c - writes the selected rows, and rows of KIND_DROP in place of others
 */
#include "cmd/trfilter/emit.h"

#include <stdlib.h>

#include "cmd/trfilter/row_state.h"
#include "common/stream/dictionary.h"

/* Returns the type that the input declares with an id; NULL: none. */
static const struct type *type_with_id(struct stage *s, uint32_t id)
{
	return dictionary_type(&s->in.dictionary, idmap_get(&s->in.dictionary.ids[ENTRY_TYPE], id));
}

static bool is_drop(const struct type *t, uint16_t flags)
{
	return t && t->kind == KIND_DROP && t->flags == flags && !t->fixed_size;
}

/* Declare a type with flags, with the highest id that the input does not use otherwise. */
static int drops_declare(struct stage *s, struct drop_type *t, uint16_t flags)
{
	struct type_entry content = {.kind = KIND_DROP, .flags = flags};
	struct block b = {.kind = BLOCK_DICT};
	struct buffer entry = {0};
	struct error e;
	size_t where;
	int bad;

	t->id = UINT32_MAX;
	while (type_with_id(s, t->id) && !is_drop(type_with_id(s, t->id), flags))
		t->id--;
	if (entry_append_content(&entry, ENTRY_TYPE, t->id, &content))
		bad = stage_no_memory(s);
	else if (dictionary_read(&s->in.dictionary, entry.data, entry.size, &where, &e))
		bad = stage_fail(s, &e);
	else {
		t->type = type_with_id(s, t->id);
		t->segment = s->out.segment;
		b.payload = entry.data;
		b.length = b.available = (uint32_t)entry.size;
		bad = stage_forward_plain(s, &b, NULL, NULL);
	}
	buffer_free(&entry);
	return bad;
}

static int put_drop(struct drops *x, struct stage *s, const struct block *b, const struct event *e,
		    const struct drop_row *row)
{
	uint16_t flags = row->flags;
	unsigned number = (flags & TYPE_INNER ? 1 : 0) | (flags & TYPE_KERNEL ? 2 : 0) |
			  (flags & TYPE_PER_CPU ? 4 : 0);
	struct drop_type *t = &x->types[number];
	struct event drop = *e;

	if ((t->segment != s->out.segment || !is_drop(type_with_id(s, t->id), flags)) &&
	    drops_declare(s, t, flags))
		return -1;
	drop.type = t->type;
	drop.depth = row->depth;
	return writer_bare_row(&s->out, b, &drop, t->id) ? stage_fail(s, &s->out.error) : 0;
}

unsigned drops_of(const struct event *e, uint8_t state, struct drop_row rows[2])
{
	uint16_t flags = e->type->flags & (TYPE_KERNEL | TYPE_PER_CPU);
	bool by_depth = e->type->flags & TYPE_DEPTH && !(e->type->flags & TYPE_INNER);
	uint32_t deeper = e->type->kind == KIND_LEAVE && !(state & ROW_ENDS_OWN);
	unsigned n = 0;

	/* a row that is kept ends these calls itself */
	if (state & (ROW_ENDS | ROW_ENDS_OWN) && by_depth && !row_passes(state))
		rows[n++] = (struct drop_row){flags | TYPE_DEPTH, e->depth + deeper};
	if (state & ROW_ENDS_INNER)
		rows[n++] = (struct drop_row){flags | TYPE_INNER, 0};
	return n;
}

/* Write the rows that a row needs whose state has flags (row_state.h). Returns 0, or -1 after
 * stage_fail. */
static int drops_put(struct drops *x, struct stage *s, const struct block *b, const struct event *e,
		     uint8_t state)
{
	struct drop_row rows[2];
	unsigned n = drops_of(e, state, rows);

	for (unsigned i = 0; i < n; i++)
		if (put_drop(x, s, b, e, &rows[i]))
			return -1;
	return 0;
}

/* --- restored --- */

void restored_begin(struct filter *f, struct time_range *range, const struct snapshot *s)
{
	if (s->continues)
		return;
	for (size_t i = 0; i < f->nterms; i++)
		pairing_forget(&f->terms[i].pairing);
	if (range)
		pairing_forget(&range->pairing);
}

bool restored_in_range(struct time_range *range, const struct event *enter)
{
	return !range || (!range->from && time_range_row(range, enter));
}

bool restored_exact(const struct filter *f, bool invert)
{
	for (size_t i = 0; i < f->nterms; i++) {
		const struct node *n = f->terms[i].node;
		bool within = n->kind == NODE_UNDER && !invert;

		if (!within && n->depends && n->depends != DEPENDS_LANE)
			return false;
	}
	return true;
}

/* For filtering row by row: decide the calls of a block with that payload. Returns -1 when out of
 * memory. */
static int restored_rows(struct select *s, struct left_out *x, const struct snapshot *snapshot,
			 uint8_t *payload)
{
	bool exact = !s->time_range && restored_exact(s->filter, s->invert);
	struct snapshot_walk w;

	restored_begin(s->filter, s->time_range, snapshot);
	snapshot_walk(&w, snapshot);
	while (snapshot_next_thread(&w))
		while (snapshot_next_frame(&w)) {
			if (w.frame.flags & SNAPSHOT_LEFT_OUT)
				continue;
			exact &= !(w.enter.type->flags & TYPE_PER_CPU);
			if (restored_in_range(s->time_range, &w.enter) &&
			    filter_holds(s->filter, &w.enter) != s->invert)
				continue;
			snapshot_leave_out(payload, w.frames - 1);
			if (left_out_row(x, &w.enter))
				return -1;
		}
	/* no row ended calls */
	filter_ends(s->filter, s->time_range, s->invert);
	if (!exact)
		snapshot_set_flags(payload, SNAPSHOT_APPROXIMATE);
	return 0;
}

int restored_ends(struct ends *x, const struct snapshot *snapshot)
{
	struct snapshot_walk w;

	snapshot_walk(&w, snapshot);
	while (snapshot_next_thread(&w)) {
		uint32_t thread = snapshot_stack(w.lane, w.thread.flags);

		if (ends_last_event(x, thread, w.lane, w.thread.last))
			return -1;
		while (snapshot_next_frame(&w))
			if (!(w.frame.flags & SNAPSHOT_LEFT_OUT))
				ends_enter(x, thread, &w.enter);
	}
	return 0;
}

/* --- emit --- */

enum { SPARSE = 4, DENSE_ROWS = 16 * 1024 };

static int select_from(struct emit_rows *x, struct block *b, enum selected *selected)
{
	struct select *select = x->select;
	struct stage *s = x->stage;
	struct error e;
	int bad = select_block(select, b, selected);

	if (!bad && *selected != SELECTED_NONE && stage_rows(s, b))
		*selected = SELECTED_NONE;
	if (!bad && *selected == SELECTED_ROWS)
		bad = select_rows(select, b, selected);
	if (!bad && x->results)
		bad = select_limit(select, b, x->results, selected);
	if (select->time_range && select->time_range->window.failed)
		return stage_fail(s, &select->time_range->window.error);
	if (!bad)
		return 0;
	error_set(&e, NULL, NO_OFFSET, "out of memory");
	return stage_fail(s, &e);
}

/* Pass on the rows of select->block, some of which have flags. */
static int pass_ends(struct emit_rows *x, const struct select *select)
{
	const struct row_ends *ends = select->ends, *last = ends + select->nends;
	struct events it;
	struct event e;
	uint32_t row = 0;

	for (events_begin(&it, &select->block); event_next(&it, &e); row++) {
		uint8_t state = ROW_KEEP;

		if (ends < last && ends->row == row)
			state = (ends++)->state;
		if (row_flags(state) && drops_put(&x->drops, x->stage, &select->block, &e, state))
			return -1;
		if (row_passes(state) && stage_row(x->stage, &select->block, &e))
			return -1;
	}
	return 0;
}

/* Pass on rows: many as a block of their own, few in the block that is being filled. */
static int pass_some(struct emit_rows *x, struct block *b, const struct block *from)
{
	struct stage *s = x->stage;
	struct events it;
	struct event e;

	if (x->select->nends)
		return pass_ends(x, x->select);
	if (b->row_size >= DENSE_ROWS || b->row_size * SPARSE >= from->row_size)
		return stage_pass(s, b);
	for (events_begin(&it, b); event_next(&it, &e);)
		if (stage_row(s, b, &e))
			return -1;
	return 0;
}

static int pass_entries(struct stage *s, struct thread_entries *entries)
{
	struct block b;

	while (thread_entries_block(entries, &b))
		if (stage_forward(s, &b, NULL, NULL))
			return -1;
	return 0;
}

/* Pass on a snapshot block of an input segment, with a payload in which calls are left out. */
static int pass_snapshot(struct stage *s, struct block *b, uint8_t *payload, uint32_t sequence)
{
	/* its rows are not rewritten */
	for (uint32_t i = 0; s->rewrite && i < get_u32(payload + 24); i++)
		snapshot_leave_out(payload, i);
	if (s->rewrite)
		snapshot_set_flags(payload, SNAPSHOT_APPROXIMATE);
	if (sequence != s->out.head.sequence)
		snapshot_set_flags(payload, SNAPSHOT_RESTART);
	b->payload = payload;
	b->flags &= (uint16_t)~BLOCK_HAS_CRC;
	return stage_forward(s, b, NULL, NULL);
}

/* Take the open calls of a SNAPSHOT, and pass it on. */
static int emit_snapshot(struct emit_rows *x, const struct block *b)
{
	struct block copy = *b;
	uint8_t *payload = malloc(b->length);
	int bad;

	if (!payload)
		return stage_no_memory(x->stage);
	memcpy(payload, b->payload, b->length);
	if (restored_rows(x->select, &x->left_out, b->snapshot, payload) ||
	    restored_ends(&x->ends, b->snapshot) || ignored_restore(&x->ignored, b))
		bad = stage_no_memory(x->stage);
	else
		bad = pass_snapshot(x->stage, &copy, payload, x->stage->in.head.sequence);
	free(payload);
	return bad;
}

void emit_rows_init(struct emit_rows *x, struct stage *s, struct select *select)
{
	*x = (struct emit_rows){.stage = s, .select = select};
	filter_begin(select->filter);
	ends_init(&x->ends, &s->in.dictionary);
	ignored_init(&x->ignored, &s->in.dictionary);
}

void emit_rows_free(struct emit_rows *x)
{
	ends_free(&x->ends);
	left_out_free(&x->left_out);
	ignored_free(&x->ignored);
}

/* Returns the kept block with the number of rows that are really kept. */
static struct block without_ends(const struct select *select, const struct block *kept)
{
	struct block b = *kept;

	for (size_t i = 0; i < select->nends; i++)
		b.rows -= !row_passes(select->ends[i].state);
	return b;
}

/* Note that the rows with flags that are not kept are left out. Returns -1 when out of memory. */
static int left_out_ends(struct emit_rows *x)
{
	const struct row_ends *ends = x->select->ends;
	struct events it;
	struct event e;
	uint32_t row = 0;
	size_t i = 0;

	for (events_begin(&it, &x->select->block); i < x->select->nends && event_next(&it, &e);
	     row++) {
		if (ends[i].row != row)
			continue;
		if (!row_passes(ends[i++].state) && left_out_row(&x->left_out, &e))
			return -1;
	}
	return 0;
}

/* Read all rows, also those that are not kept, for left_out.h. */
static int emit_read_rows(struct emit_rows *x, struct block *b, const struct block *kept)
{
	struct stage *s = x->stage;
	struct block some;
	bool all = ends_wants_all(&x->ends, b) || left_out_wanted(&x->left_out, b) ||
		   ignored_reads(&x->ignored, b);
	bool needed = kept || all || ends_needed(&x->ends, b) || ignored_reads_last(&x->ignored, b);

	if (!needed ||
	    (!kept && (all || last_rows_unchecked(&x->ends.last, b)) && stage_rows(s, b)))
		return 0;
	if (kept && x->select->nends) {
		some = without_ends(x->select, kept);
		kept = &some;
	}
	if (ends_lanes(&x->ends, b) || ignored_block(&x->ignored, &x->ends.last, b) ||
	    ends_rows(&x->ends, b, kept) || left_out_rows(&x->left_out, b, kept) ||
	    (kept && left_out_ends(x)) || (kept && left_out_block(&x->left_out, b)) ||
	    (kept && x->ignored.any && left_out_ignored(&x->left_out, b, x->ignored.rows, true)))
		return stage_no_memory(s);
	return pass_entries(s, &x->ends.entries) || pass_entries(s, &x->left_out.entries) ? -1 : 0;
}

int emit_ends(struct emit_rows *x)
{
	struct stage *s = x->stage;

	if (!s->out.in_segment)
		return 0;
	if (ends_finish(&x->ends, NULL, NULL) || left_out_end(&x->left_out, &s->in.dictionary))
		return stage_no_memory(s);
	return pass_entries(s, &x->ends.entries) || pass_entries(s, &x->left_out.entries) ? -1 : 0;
}

int emit_other(struct emit_rows *x, const struct block *b)
{
	struct stage *s = x->stage;

	bool begins = b->kind == BLOCK_HEAD && !s->in.head.sequence;
	bool ends = b->kind == BLOCK_END && s->in.end.flags & END_LAST;

	if ((begins || ends) && emit_ends(x))
		return -1;
	if (begins) {
		if (x->results)
			results_begin(x->results);
		ends_segment(&x->ends);
		left_out_segment(&x->left_out);
	}
	if (b->kind == BLOCK_SNAPSHOT && b->snapshot)
		return emit_snapshot(x, b);
	return stage_forward(s, b, &s->in.head, &s->in.end);
}

int emit_block(struct emit_rows *x, struct block *b)
{
	struct select *select = x->select;
	struct stage *s = x->stage;
	const struct block *kept = NULL;
	enum selected selected;

	/* matches must not be delayed until their block is full */
	if (writer_flush_old(&s->out))
		return stage_fail(s, &s->out.error);
	if (select_from(x, b, &selected))
		return -1;
	if (selected != SELECTED_NONE)
		kept = selected == SELECTED_ALL ? b : &select->block;
	if (emit_read_rows(x, b, kept))
		return -1;
	if (!kept)
		return 0;
	return kept == b ? stage_pass(s, b) : pass_some(x, &select->block, b);
}

int emit_nothing(struct emit_rows *x, struct block *b)
{
	enum selected selected;

	if (b->kind == BLOCK_EVENTS)
		return select_from(x, b, &selected);
	if (b->kind == BLOCK_HEAD && !x->stage->in.head.sequence)
		results_begin(x->results);
	return 0;
}

static bool all_pass(const uint8_t *states, uint32_t n)
{
	int other = 0;

	for (uint32_t i = 0; i < n; i++)
		other |= (states[i] & ROW_ENDS_ANY) | !row_passes(states[i]);
	return !other;
}

/* Leave the rows out that are beyond the limit. */
static int limit_rows(struct emit *x, struct left_out *left_out, const struct block *b,
		      uint8_t *states)
{
	struct events it;
	struct event e;

	for (events_begin(&it, b); event_next(&it, &e); states++) {
		uint8_t before = *states;

		*states = results_row(x->limit, &e, before);
		if (*states != before && left_out_row(left_out, &e))
			return stage_no_memory(x->stage);
	}
	return x->limit->pairing.calls.out_of_memory ? stage_no_memory(x->stage) : 0;
}

/* Pass on rows, or count them. states: enum row_state. */
static int pass_rows(struct emit *x, const struct block *b, const uint8_t *states)
{
	bool all = b->row_size >= DENSE_ROWS && all_pass(states, b->rows);
	struct stage *s = x->stage;
	struct events it;
	struct event e;

	if (all && x->pass && stage_forward(s, b, NULL, NULL))
		return -1;
	if (all && !x->total)
		return 0;
	for (events_begin(&it, b); event_next(&it, &e); states++) {
		if (x->total)
			results_row(x->total, &e, *states);
		if (*states & ROW_ENDS_ANY && x->pass && drops_put(&x->drops, s, b, &e, *states))
			return -1;
		if (!all && x->pass && row_passes(*states) && stage_row(s, b, &e))
			return -1;
	}
	return x->total && x->total->pairing.calls.out_of_memory ? stage_no_memory(s) : 0;
}

static int pass_other(struct emit *x, struct left_out *left_out, struct queued_block *h)
{
	struct stage *s = x->stage;

	bool begins = h->block.kind == BLOCK_HEAD && !h->head.sequence;
	bool ends = h->block.kind == BLOCK_END && h->end.flags & END_LAST;

	if (begins && x->limit)
		results_begin(x->limit);
	if (begins && x->total)
		results_begin(x->total);
	if ((begins || ends) && x->pass && s->out.in_segment &&
	    (left_out_end(left_out, &s->in.dictionary) ? stage_no_memory(s)
						       : pass_entries(s, &left_out->entries)))
		return -1;
	if (begins)
		left_out_segment(left_out);
	if (!x->pass)
		return 0;
	if (h->block.kind == BLOCK_SNAPSHOT && h->block.snapshot)
		return pass_snapshot(s, &h->block, h->memory, h->head.sequence);
	return stage_forward(s, &h->block, &h->head, &h->end);
}

static int emit_pass(struct emit *x, struct left_out *left_out, struct queued_block *h)
{
	const struct block *b = &h->block;
	struct stage *s = x->stage;

	if (b->kind != BLOCK_EVENTS)
		return pass_other(x, left_out, h);
	if (!b->rows)
		return 0;
	if (x->limit && limit_rows(x, left_out, b, h->memory + h->states_at))
		return -1;
	if (x->pass && (left_out_block(left_out, b) ||
			left_out_ignored(left_out, b, h->memory + h->states_at, ROW_IGNORED)))
		return stage_no_memory(s);
	return pass_entries(s, &left_out->entries) || pass_rows(x, b, h->memory + h->states_at) ? -1
												: 0;
}

/* Pass on blocks of the matches and their context. */
static int pass_context(struct emit *x, struct left_out *left_out, struct queued_block *h)
{
	struct queued_block *ready;
	struct error e;

	if (context_take(x->context, h, &e))
		return stage_fail(x->stage, &e);
	for (; (ready = context_ready(x->context, &e)); context_done(x->context))
		if (emit_pass(x, left_out, ready))
			return -1;
	return e.what[0] ? stage_fail(x->stage, &e) : 0;
}

int emit_calls(struct emit *x, struct call_filter *w, const struct block *b)
{
	struct stage *s = x->stage;
	struct queued_block *h;
	struct error e;
	int bad =
		b ? call_filter_take(w, b, &s->in.head, &s->in.end, &e) : call_filter_finish(w, &e);

	if (bad)
		return stage_fail(s, &e);
	e.what[0] = '\0';
	/* no block is passed on after the last row, because END would count gaps that are
	 * missing */
	for (; !emit_done(x) && (h = call_filter_ready(w, &e)); call_filter_done(w))
		if (x->context ? pass_context(x, &w->left_out, h) : emit_pass(x, &w->left_out, h))
			return -1;
	if (e.what[0])
		return stage_fail(s, &e);
	return x->pass && writer_flush_old(&s->out) ? stage_fail(s, &s->out.error) : 0;
}

int emit_finish(struct emit *x, struct call_filter *w)
{
	struct stage *s = x->stage;

	if (!emit_done(x) && emit_calls(x, w, NULL))
		return -1;
	if (x->pass && s->out.in_segment &&
	    (left_out_end(&w->left_out, &s->in.dictionary) ? stage_no_memory(s)
							   : pass_entries(s, &w->left_out.entries)))
		return -1;
	/* decided blocks may be delayed until the next block is read (block_queue_later) */
	return x->context ? pass_context(x, &w->left_out, NULL) : 0;
}
