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
