#include "emit.h"

enum { SPARSE = 4, DENSE_ROWS = 16 * 1024 };

static int select_from(struct stage *s, struct select *select, struct block *b,
		       enum selected *selected)
{
	struct error e;
	int bad = select_block(select, b, selected);

	if (!bad && *selected != SELECTED_NONE && stage_rows(s, b)) {
		select->matched -= *selected == SELECTED_ALL ? b->rows : 0;
		*selected = SELECTED_NONE;
	}
	if (!bad && *selected == SELECTED_ROWS)
		bad = select_rows(select, b, selected);
	if (select->limits && select->limits->failed)
		return stage_fail(s, &select->limits->error);
	if (!bad)
		return 0;
	error_set(&e, NULL, NO_OFFSET, "out of memory");
	return stage_fail(s, &e);
}

/* Many rows go as a block of their own, few into the block that is being filled. */
static int pass_some(struct stage *s, struct block *b, const struct block *from)
{
	struct events it;
	struct event e;

	if (b->row_size >= DENSE_ROWS || b->row_size * SPARSE >= from->row_size)
		return stage_pass(s, b);
	for (events_begin(&it, b); event_next(&it, &e);)
		if (stage_row(s, b, &e))
			return -1;
	return 0;
}

static int pass_entries(struct stage *s, struct ends *ends)
{
	struct block b;

	while (ends_dict(ends, &b))
		if (stage_forward(s, &b, NULL, NULL))
			return -1;
	return 0;
}

/* Look at all rows, those that are not kept too. */
static int look(struct stage *s, struct block *b, struct ends *ends, const struct block *kept)
{
	if (!kept && (!ends_needed(ends, b) || stage_rows(s, b)))
		return 0;
	return ends_rows(ends, b, kept) ? stage_no_memory(s) : pass_entries(s, ends);
}

int emit_ends(struct stage *s, struct ends *ends)
{
	if (!s->out.in_segment)
		return 0;
	return ends_finish(ends, NULL, NULL) ? stage_no_memory(s) : pass_entries(s, ends);
}

int emit_other(struct stage *s, const struct block *b, struct ends *ends)
{
	if (ends && b->kind == BLOCK_HEAD)
		ends_segment(ends);
	if (ends && b->kind == BLOCK_END && emit_ends(s, ends))
		return -1;
	return stage_forward(s, b, &s->in.head, &s->in.end);
}

int emit_block(struct stage *s, struct select *select, struct block *b, struct ends *ends)
{
	enum selected selected;

	/* matches must not wait long for their block to fill */
	if (writer_flush_old(&s->out))
		return stage_fail(s, &s->out.error);
	if (select_from(s, select, b, &selected) ||
	    (ends && look(s, b, ends,
			  selected == SELECTED_NONE  ? NULL
			  : selected == SELECTED_ALL ? b
						     : &select->block)))
		return -1;
	switch (selected) {
	case SELECTED_NONE: return 0;
	case SELECTED_ALL: return stage_pass(s, b);
	case SELECTED_SOME:
	case SELECTED_ROWS: break;
	}
	return pass_some(s, &select->block, b);
}

int emit_nothing(struct stage *s, struct select *select, struct block *b)
{
	enum selected selected;

	return select_from(s, select, b, &selected);
}

/* Rows go on, or are only counted. states: enum row_state. */
static int pass_rows(struct emit *x, const struct block *b, const uint8_t *states)
{
	uint64_t left = x->limit - x->matched;
	bool all = b->row_size >= DENSE_ROWS && b->rows <= left;
	struct stage *s = x->stage;
	struct events it;
	struct event e;

	if (all && x->pass && stage_forward(s, b, NULL, NULL))
		return -1;
	for (events_begin(&it, b); left && event_next(&it, &e); states++) {
		bool event = e.type->kind != KIND_GAP, match = event && *states != ROW_CALLER;

		x->events += event;
		x->matched += match;
		left -= match;
		if (!all && x->pass && stage_row(s, b, &e))
			return -1;
	}
	return 0;
}

static int pass(struct emit *x, const struct held *h)
{
	if (h->block.kind != BLOCK_EVENTS)
		return x->pass ? stage_forward(x->stage, &h->block, &h->head, &h->end) : 0;
	return h->block.rows ? pass_rows(x, &h->block, h->memory + h->states_at) : 0;
}

/* What is around the matches goes on with them. */
static int pass_context(struct emit *x, const struct held *h)
{
	struct held *ready;
	struct error e;

	if (context_take(x->context, h, &e))
		return stage_fail(x->stage, &e);
	for (; (ready = context_ready(x->context, &e)); context_done(x->context))
		if (pass(x, ready))
			return -1;
	return e.what[0] ? stage_fail(x->stage, &e) : 0;
}

int emit_whole(struct emit *x, struct whole *w, const struct block *b)
{
	struct stage *s = x->stage;
	struct held *h;
	struct error e;
	int bad = b ? whole_take(w, b, &s->in.head, &s->in.end, &e) : whole_finish(w, &e);

	if (bad)
		return stage_fail(s, &e);
	e.what[0] = '\0';
	/* nothing behind the last row goes on: END would count gaps that do not */
	for (; !emit_done(x) && (h = whole_ready(w, &e)); whole_done(w))
		if (x->context ? pass_context(x, h) : pass(x, h))
			return -1;
	if (e.what[0])
		return stage_fail(s, &e);
	return x->pass && writer_flush_old(&s->out) ? stage_fail(s, &s->out.error) : 0;
}

int emit_finish(struct emit *x, struct whole *w)
{
	if (!emit_done(x) && emit_whole(x, w, NULL))
		return -1;
	/* what is decided may wait for the next block to come (waiting_later) */
	return x->context ? pass_context(x, NULL) : 0;
}
