/*
 * rows.c - writes a tracefile's next event or gap as a row
 */
#include "cmd/trdecode/lttng/lttng.h"

#include <inttypes.h>
#include <stdio.h>

static int put_lost(struct lttng *l, struct lttng_file *f, uint64_t time, uint32_t lane)
{
	char path[512], message[80];
	struct gap gap = {.reason = GAP_LOST,
			  .unit = GAP_EVENTS,
			  .count = f->gap.lost,
			  .offset = f->at,
			  .file = tree_path(l->input->tree, f->member, path, sizeof path)};

	if (f->gap.lost && writer_gap(l->w, time, lane, &gap))
		return -1;
	if (!f->gap.blocks)
		return 0;
	snprintf(message, sizeof message, "%" PRIu64 " sub-buffers were lost", f->gap.blocks);
	gap.message = message;
	gap.count = UINT64_MAX;
	return writer_gap(l->w, time, lane, &gap);
}

static inline int put_row(struct lttng *l, const struct lttng_event *ev, uint32_t lane,
			  uint32_t type, uint32_t location, uint32_t depth)
{
	const struct lttng_marker *m = ev->marker;
	struct new_row r = {.time = lttng_row_time(l, ev->tsc),
			    .lane = lane,
			    .type = type,
			    .location = location,
			    .depth = depth,
			    .fixed = ev->fixed,
			    .fixed_size = m->layout.fixed_size,
			    .tail = ev->tail,
			    .tail_size = ev->tail_size,
			    .has_tail = m->layout.nstrings > 0};

	return writer_row_data(l->w, r);
}

int lttng_rows_event(struct lttng *l, struct lttng_file *f)
{
	struct lttng_cpu *c = l->cpus[f->cpu];
	struct lttng_event ev;
	uint32_t location = 0, depth = 0, lane, type;
	struct lttng_marker *m;
	int got;

	if (__builtin_expect(f->gap.pending, 0)) {
		f->gap.pending = false;
		lane = lttng_state_lane(l, f, c);
		return put_lost(l, f, lttng_row_time(l, f->next), lane);
	}
	got = lttng_file_event(l, f, &ev);
	if (__builtin_expect(got <= 0, 0))
		return got;
	m = ev.marker;
	if (__builtin_expect(!m->type, 0) && lttng_marker_declare(l, m))
		return -1;
	type = m->type;
	if (m->action && lttng_state_before(l, c, &ev))
		return -1;
	if (m->transcoded.tid && lttng_transcoded_thread(l, c, &ev))
		return -1;
	if (m->transcoded.name >= 0 && m->transcoded.tid) {
		if (lttng_transcoded_call(l, &ev, &location, &depth))
			return -1;
	} else if (m->kind != KIND_INSTANT &&
		   !lttng_state_call(l, c, m, ev.fixed, &location, &depth)) {
		type = lttng_marker_orphan(l, m);
	}
	lane = lttng_lane(l, f, c);
	if (put_row(l, &ev, lane, type, location, depth))
		return -1;
	return m->action ? lttng_state_after(l, c, &ev) : 0;
}
