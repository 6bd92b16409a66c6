#include "merge.h"

int merge_choose_clock(struct input *in, enum clock_choice choice, struct error *e)
{
	if (choice != CLOCK_WALL)
		return 0;
	if (!in->has_wall)
		return error_set(e, in->name, NO_OFFSET,
				 "the trace does not tell its wall time (--clock wall)");
	in->shift += in->wall;
	in->clock_name = "wall";
	in->wall = 0;
	return 0;
}

int merge_check_clocks(const struct input *inputs, int n, bool offsets, struct error *e)
{
	const struct input *a = NULL;

	for (int i = 0; i < n; i++) {
		const struct input *b = &inputs[i];

		if (b->next == UINT64_MAX)
			continue;
		if (!a) {
			a = b;
			continue;
		}
		if (offsets)
			continue;
		if (a->ticks || b->ticks || strcmp(a->clock_name, b->clock_name) ||
		    (a->has_wall && b->has_wall && a->wall != b->wall))
			return error_set(e, b->name, NO_OFFSET,
					 "its clock (%s) has nothing in common with that of %s (%s); "
					 "--offset FILE=TIME says how they meet",
					 b->clock_name, a->name, a->clock_name);
	}
	return 0;
}

int merge_run(struct input *inputs, int n, struct error *e)
{
	for (;;) {
		struct input *first = NULL;
		uint64_t until = UINT64_MAX;

		for (int i = 0; i < n; i++)
			if (inputs[i].next != UINT64_MAX && (!first || inputs[i].next < first->next))
				first = &inputs[i];
		if (!first)
			return 0;
		/* up to where another one is due; at equal times the earlier operand goes first */
		for (int i = 0; i < n; i++) {
			uint64_t next = inputs[i].next;

			if (&inputs[i] == first || next == UINT64_MAX)
				continue;
			if (&inputs[i] < first && next > first->next)
				next--;
			if (next < until)
				until = next;
		}
		if (first->decoder->run(first, until, e))
			return -1;
	}
}
