/*
 * lane.c - lanes: a tracefile and the thread that runs on its CPU
 */
#include "cmd/trdecode/lttng/lttng.h"

uint32_t lttng_state_lane(struct lttng *l, struct lttng_file *f, struct lttng_cpu *c)
{
	const struct lttng_thread *t = c->thread;
	struct lttng_known_lane *known = lttng_known_lane(f, t);
	struct lttng_lane_key key = {f->buffer, t->comm, c->cpu, t->tid, t->pid, t->ppid};
	struct lane_entry e = {.source = l->source,
			       .clock = l->clock_id,
			       .buffer = f->buffer,
			       .comm = t->comm,
			       .flags = LANE_HAS_CPU,
			       .cpu = c->cpu};
	uint32_t *lane;

	if (known->thread == t && known->version == t->version)
		return known->lane;
	lane = id_cache_number(&l->lanes, &key, sizeof key);
	if (!lane)
		return 0;
	if (!*lane) {
		if (t->tid >= 0) {
			e.flags |= LANE_HAS_TID;
			e.tid = t->tid;
		}
		if (t->pid >= 0) {
			e.flags |= LANE_HAS_PID;
			e.pid = t->pid;
			e.ppid = t->ppid >= 0 ? t->ppid : 0;
		}
		*lane = writer_lane(l->w, &e);
		if (lttng_maps_of(l, c, t, *lane))
			return 0;
	}
	*known = (struct lttng_known_lane){t, t->version, *lane};
	return known->lane;
}
