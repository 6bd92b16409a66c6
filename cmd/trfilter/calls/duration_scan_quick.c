/*
 * duration_scan_quick.c - runs of enters and leaves with consistent depths
 *
 * Every enter of a run is one deeper than the innermost open call, and every leave ends that call.
 * Calls that begin and end in the run are decided by their duration; if the run is shorter than the
 * threshold, none of them is kept. The last row of each depth is noted: if a call is open at the
 * end of the run, that row is its enter.
 */
#include "cmd/trfilter/calls/duration_scan.h"

#include <stdlib.h>

enum { DEPTHS = 256, DEEPER = 300, TIME = NARROW_DELTA_MOST };

struct duration_scan_runs {
	struct quick_lane {
		/* depth of the next enter: one more than that of the innermost open call */
		uint32_t next;
		uint32_t lowest; /* calls at lower depths were open before the run */
	} lanes[DURATION_SCAN_LANES];
	/* by lane and depth, of the last row: its offset in the run, and its time */
	uint32_t rows[DURATION_SCAN_LANES * DEPTHS], times[DURATION_SCAN_LANES * DEPTHS];
};

void quick_free(struct duration_scan_runs *q)
{
	free(q);
}

struct duration_scan_runs *duration_scan_runs_new(void)
{
	return calloc(1, sizeof(struct duration_scan_runs));
}

static void run_begin(const struct duration_scan *x, struct duration_scan_runs *q)
{
	for (uint32_t i = 0; i < x->b->nlanes && i < DURATION_SCAN_LANES; i++) {
		const struct stack *s = x->rows.stacks[i];
		uint32_t next = s->count ? s->frames[s->count - 1].depth + 1 : 0;

		if (next > DEPTHS || !s->started || calls_is_slow(s))
			next = DEEPER;
		q->lanes[i] = (struct quick_lane){next, next};
	}
}

/* Push the frames of calls that are open at the end of the run. */
static void run_finish(struct duration_scan *x, struct duration_scan_runs *q, const uint8_t *run,
		       uint32_t first)
{
	struct calls *c = &x->w->calls;

	for (uint32_t i = 0; i < x->b->nlanes && i < DURATION_SCAN_LANES; i++)
		for (uint32_t d = q->lanes[i].lowest; d < q->lanes[i].next; d++) {
			uint32_t at = q->rows[i * DEPTHS + d];
			const uint8_t *p = run + at;
			struct stack *s = x->rows.stacks[i];
			struct frame f = {.start = x->b->base + row_delta_at(p),
					  .location = x->b->locations[row_location_at(p)],
					  .depth = d,
					  .begun = true};

			if (calls_put(c, s, &f))
				return;
			duration_scan_enter(x, calls_data(c, s, s->count - 1), p,
					    first + at / NARROW_ROW);
		}
}

/* Keep a call of the run that lasted long enough. */
static void run_keep(struct duration_scan *x, const uint8_t *run, uint32_t first, uint32_t enter,
		     const uint8_t *leave)
{
	const uint8_t *p = run + enter;
	uint32_t row = first + (uint32_t)((size_t)(leave - run) / NARROW_ROW);

	if (x->by_location &&
	    !duration_scan_wanted(x, row_lane_at(p), row_type_at(p), row_location_at(p)))
		return;
	x->w->rows.states[first + enter / NARROW_ROW] = x->w->rows.states[row] = ROW_KEEP;
	x->kept = true;
}

/* Take the leave of a call that was open before the run. Returns false, with nothing done, if it is
 * not a common row. */
static bool run_leave(struct duration_scan *x, const uint8_t *run, uint32_t first, const uint8_t *p)
{
	struct stack *s = x->rows.stacks[row_lane_at(p)];
	uint64_t time = x->b->base + row_delta_at(p);
	const struct frame *f;

	if (!s->count)
		return false;
	f = &s->frames[s->count - 1];
	if (f->depth != row_depth_at(p) || f->inner || !f->begun || time < f->start)
		return false;
	calls_take(s);
	duration_scan_leave(x, calls_data(&x->w->calls, s, s->count), time - f->start,
			    first + (uint32_t)((size_t)(p - run) / NARROW_ROW));
	return true;
}

/* timed: a call may begin and end in the block and be long enough. */
static inline __attribute__((always_inline)) const uint8_t *
scan(struct duration_scan *x, const uint8_t *run, uint32_t first, bool timed)
{
	struct duration_scan_runs *q = x->w->duration.quick;
	uint64_t least = x->w->duration.shortest, range = x->w->duration.longest - least;
	uint32_t shortest = least <= TIME ? (uint32_t)least : TIME + 1,
		 longer = range <= TIME ? (uint32_t)range : TIME;
	const uint32_t *types = x->leaves;
	const uint8_t *p = run, *end = x->b->row_data + x->b->row_size;

	for (; p < end; p += NARROW_ROW) {
		uint32_t depth = row_depth_at(p), lane = row_lane_at(p);
		uint32_t leaves = types[row_type_at(p)];
		struct quick_lane *l = &q->lanes[lane];
		uint32_t at = lane * DEPTHS + depth;

		if (__builtin_expect(l->next != depth + leaves, 0))
			break;
		l->next = depth + 1 - leaves;
		if (timed) {
			uint32_t time = row_delta_at(p), took = time - q->times[at];

			q->times[at] = time;
			/* a time that runs backwards counts as longer than any */
			if (__builtin_expect(leaves & (took - shortest <= longer), 0) &&
			    depth >= l->lowest)
				run_keep(x, run, first, q->rows[at], p);
		}
		q->rows[at] = (uint32_t)(p - run);
		if (__builtin_expect(depth < l->lowest, 0)) {
			if (!run_leave(x, run, first, p)) {
				l->next = depth + 1;
				break;
			}
			l->lowest = depth;
		}
	}
	return p;
}

const uint8_t *duration_scan_run(struct duration_scan *x, const uint8_t *run, uint32_t first)
{
	struct duration_scan_runs *q = x->w->duration.quick;
	const uint8_t *end;

	run_begin(x, q);
	end = x->b->last - x->b->base < x->w->duration.shortest ? scan(x, run, first, false)
								: scan(x, run, first, true);
	run_finish(x, q, run, first);
	return end;
}
