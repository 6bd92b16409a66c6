#include "cmd/trfilter/rows/restored.h"

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

int restored_rows(struct select *s, struct left_out *x, const struct snapshot *snapshot,
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
