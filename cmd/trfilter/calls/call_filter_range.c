/* call_filter_range.c - find out whether duration_scan.h suits a condition, and its parameters */
#include "cmd/trfilter/calls/duration_scan.h"

/* Returns true if a term depends on the location alone, or on the lane alone. */
static bool by_entry(const struct node *n)
{
	unsigned depends = n->depends;

	return depends == DEPENDS_LANE || depends == DEPENDS_NAME || depends == DEPENDS_LOCATION ||
	       !depends;
}

/* Narrow the range of durations. Returns false if the condition is of another kind. */
static bool narrow_durations(struct call_filter *w, const struct node *n)
{
	uint64_t value, low = 0, high = UINT64_MAX;

	if (n->kind != NODE_COMPARE || !operand_asks(n->left, ASK_DURATION) ||
	    !operand_literal(n->right) || n->right->value.form != SCALAR_UINT)
		return false;
	value = n->right->value.u;
	switch (n->comparison) {
	case COMPARE_GT:
		if (value == UINT64_MAX)
			return false;
		low = value + 1;
		break;
	case COMPARE_GE: low = value; break;
	case COMPARE_LT:
		if (!value)
			return false;
		high = value - 1;
		break;
	case COMPARE_LE: high = value; break;
	case COMPARE_EQ: low = high = value; break;
	case COMPARE_NE: return false;
	}
	w->duration.shortest = low > w->duration.shortest ? low : w->duration.shortest;
	w->duration.longest = high < w->duration.longest ? high : w->duration.longest;
	return true;
}

void duration_scan_init(struct call_filter *w)
{
	bool lasts = false;

	w->duration.only = false;
	w->duration.shortest = 0;
	w->duration.longest = UINT64_MAX;
	if (w->queue.left_out != ROW_LEFT_OUT || w->time_range || w->invert || w->callers ||
	    w->max_depth != UINT32_MAX || w->single_rows || w->filter->marks > 64)
		return;
	for (size_t i = 0; i < w->filter->nterms; i++) {
		const struct node *n = w->filter->terms[i].node;
		bool range = narrow_durations(w, n);

		if (!range && !by_entry(n))
			return;
		lasts |= range;
	}
	w->duration.only = lasts && w->duration.shortest <= w->duration.longest;
	/* without memory the slow path is used */
	if (w->duration.only && w->duration.shortest)
		w->duration.quick = duration_scan_runs_new();
}

bool call_filter_wanted(struct call_filter *w, bool lane, const struct event *e)
{
	for (size_t i = 0; i < w->filter->nterms; i++) {
		struct node *n = w->filter->terms[i].node;

		if (by_entry(n) && (n->depends == DEPENDS_LANE) == lane &&
		    !evaluate(w->evaluation, n, e))
			return false;
	}
	return true;
}
