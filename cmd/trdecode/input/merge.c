#include "cmd/trdecode/input/input.h"
#include "cmd/trdecode/input/merge.h"
#include "common/util/u128.h"
#include "common/value/units.h"

/* ns. utc_offset and similar fields are whole seconds, which two recordings may have rounded
 * differently. */
static const uint64_t WALL_TOLERANCE = 1000000000;

/* Is it too much to be added to a time? */
static bool is_beyond(int128 ns)
{
	return ns >= (int128)TIME_LIMIT || ns <= -(int128)TIME_LIMIT;
}

int merge_choose_clock(struct input *in, struct error *e)
{
	bool wall = in->decoding->clock == CLOCK_WALL;

	if (in->has_wall && is_beyond(in->wall)) {
		input_damage(in, in->name, NO_OFFSET,
			     "the wall time of its clock is impossible: it is left out");
		in->has_wall = false;
		in->wall = 0;
	}
	if (wall && (!in->has_wall || in->ticks))
		return error_set(e, in->name, NO_OFFSET,
				 "the trace does not record its wall time (--clock wall)");
	in->shift = saturated_i64((int128)in->shift + (wall ? in->wall : 0));
	if (is_beyond(in->shift))
		return error_set(e, in->name, NO_OFFSET,
				 "--offset or --align moves its events by 146 years or more");
	if (wall)
		in->clock_name = "wall";
	return 0;
}

int merge_first(struct input *in, uint64_t first, struct error *e)
{
	if (in->shift < 0 && first < -(uint64_t)in->shift)
		return error_set(e, in->name, NO_OFFSET, "--offset moves its events before time 0");
	in->next = merge_shifted(first, in->shift);
	return 0;
}

/* Are the times of guest on the clock of host? Some recorders give the host no id. */
static bool is_guest_of(const struct input *guest, const struct input *host)
{
	if (!guest->on_host_clock)
		return false;
	for (size_t i = 0; i < host->nguest_ids; i++)
		if (host->guest_ids[i] == guest->trace_id && guest->trace_id)
			return true;
	return guest->host_id && guest->host_id == host->trace_id;
}

static bool share_host(const struct input *a, const struct input *b)
{
	return a->on_host_clock && b->on_host_clock && a->host_id && a->host_id == b->host_id;
}

static bool clocks_meet(const struct input *a, const struct input *b)
{
	uint64_t x = (uint64_t)merge_wall(a), y = (uint64_t)merge_wall(b);

	if (is_guest_of(a, b) || is_guest_of(b, a) || share_host(a, b))
		return true;
	if (a->ticks != b->ticks || strcmp(a->clock_name, b->clock_name))
		return false;
	/* ticks that each input counts from the same number, as those of apitrace, do not agree */
	if (a->ticks)
		return a->next != b->next;
	if (!a->has_wall || !b->has_wall)
		return true;
	return ((int64_t)x > (int64_t)y ? x - y : y - x) <= WALL_TOLERANCE;
}

/* Print a remark if one input has ticks and another one ns: --offset and --align add the same
 * number to both. */
static void remark_units(const struct input *inputs, int n)
{
	const struct input *of[2] = {NULL, NULL}; /* ns, ticks */

	for (int i = 0; i < n; i++)
		if (inputs[i].next != UINT64_MAX && !of[inputs[i].ticks])
			of[inputs[i].ticks] = &inputs[i];
	if (of[0] && of[1] && !of[0]->decoding->quiet)
		warn(of[1]->name, NO_OFFSET,
		     "its clock counts ticks, the clock of %s (%s) ns: their times agree only if a "
		     "tick is 1 ns",
		     of[0]->name, of[0]->clock_name);
}

int merge_check_clocks(const struct input *inputs, int n, struct error *e)
{
	const struct input *a = NULL;

	for (int i = 0; i < n; i++) {
		const struct input *b = &inputs[i];

		if (b->next != UINT64_MAX && b->shift_text &&
		    time_check_clock(b->name, "--offset", b->shift_text, b->ticks, e))
			return -1;
		if (b->next == UINT64_MAX || b->placed)
			continue;
		if (a && !clocks_meet(a, b))
			return error_set(e, b->name, NO_OFFSET,
					 "its clock (%s) and the clock of %s (%s) cannot be "
					 "compared: align them with --offset FILE=TIME, or with "
					 "--align start",
					 b->clock_name, a->name, a->clock_name);
		if (!a)
			a = b;
	}
	remark_units(inputs, n);
	return 0;
}

/*
 * Run inputs that may have an earlier event after the next one to their ends: the writer refuses
 * the later events. A live input may have no end, so it ends here.
 */
static int run_rest(struct input *inputs, int n, struct error *e)
{
	for (struct input *in = inputs; in < inputs + n; in++) {
		if (in->next == UINT64_MAX || in->decoder->in_order || (in->file.live && !in->tree))
			continue;
		writer_refuse_rows(in->decoding->writer);
		if (input_run(in, UINT64_MAX, e))
			return -1;
	}
	return 0;
}

int merge_run(struct input *inputs, int n, uint64_t last, struct error *e)
{
	for (;;) {
		struct input *first = NULL;
		uint64_t until = last;

		for (int i = 0; i < n; i++)
			if (inputs[i].next != UINT64_MAX &&
			    (!first || inputs[i].next < first->next))
				first = &inputs[i];
		if (!first || first->next > last)
			return run_rest(inputs, n, e);
		/* run the first input until another one is due; at equal times the earlier
		 * operand is first */
		for (int i = 0; i < n; i++) {
			uint64_t next = inputs[i].next;

			if (&inputs[i] == first || next == UINT64_MAX)
				continue;
			if (&inputs[i] < first) /* not at the same time, or it would be first */
				next--;
			if (next < until)
				until = next;
		}
		if (input_run(first, until, e))
			return -1;
	}
}
