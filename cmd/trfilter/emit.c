#include "emit.h"

enum { SPARSE = 4, DENSE_ROWS = 16 * 1024 };

static int select_from(struct stage *s, struct select *select, struct block *b,
		       enum selected *selected)
{
	struct error e;

	if (!select_rows(select, b, selected))
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
		if (writer_copy_row(&s->out, b, &e))
			return stage_fail(s, &s->out.error);
	return 0;
}

int emit_block(struct stage *s, struct select *select, struct block *b)
{
	enum selected selected;

	if (select_from(s, select, b, &selected))
		return -1;
	switch (selected) {
	case SELECTED_NONE: return 0;
	case SELECTED_ALL: return stage_pass(s, b);
	case SELECTED_SOME: break;
	}
	return pass_some(s, &select->block, b);
}

int emit_nothing(struct stage *s, struct select *select, struct block *b)
{
	enum selected selected;

	return select_from(s, select, b, &selected);
}

static int pass_rows(struct stage *s, const struct block *b, uint64_t limit, uint64_t *matched,
		     bool pass)
{
	uint64_t left = limit - *matched, events = 0;
	bool all = b->row_size >= DENSE_ROWS && b->rows <= left;
	struct events it;
	struct event e;

	if (all && pass && writer_pass(&s->out, b, &s->out.error))
		return stage_fail(s, &s->out.error);
	for (events_begin(&it, b); events < left && event_next(&it, &e);) {
		events += e.type->kind != KIND_GAP;
		if (!all && pass && writer_copy_row(&s->out, b, &e))
			return stage_fail(s, &s->out.error);
	}
	*matched += events;
	return 0;
}

int emit_whole(struct stage *s, struct whole *w, const struct block *b, bool pass, uint64_t limit,
	       uint64_t *matched)
{
	const struct held *h;
	struct error e;
	int bad = b ? whole_take(w, b, &s->in.head, &s->in.end, &e) : whole_finish(w, &e);

	if (bad)
		return stage_fail(s, &e);
	for (; (h = whole_ready(w, &e)); whole_done(w)) {
		if (h->block.kind != BLOCK_EVENTS) {
			if (pass && stage_forward(s, &h->block, &h->head, &h->end))
				return -1;
		} else if (h->block.rows) {
			if (pass_rows(s, &h->block, limit, matched, pass))
				return -1;
		}
	}
	if (e.what[0])
		return stage_fail(s, &e);
	return pass && writer_flush_old(&s->out) ? stage_fail(s, &s->out.error) : 0;
}
