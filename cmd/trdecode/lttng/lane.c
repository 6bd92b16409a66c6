/*
 * lane.c - lanes: a tracefile and the thread that runs on its CPU
 */
#include <stdlib.h>

#include "cmd/trdecode/lttng/lttng.h"

static int grow_lanes(struct lttng *l)
{
	size_t size = l->lanes.size ? 2 * l->lanes.size : 256, had = l->lanes.size;
	struct lttng_lane *old = l->lanes.slots, *lanes = calloc(size, sizeof *lanes);

	if (!lanes)
		return -1;
	for (size_t i = 0; i < had; i++) {
		size_t at = hash_bytes(&old[i].key, sizeof old[i].key, 0) & (size - 1);

		if (!old[i].lane)
			continue;
		while (lanes[at].lane)
			at = (at + 1) & (size - 1);
		lanes[at] = old[i];
	}
	free(old);
	l->lanes.slots = lanes;
	l->lanes.size = size;
	return 0;
}

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
	size_t at;

	if (known->thread == t && known->version == t->version)
		return known->lane;
	if (2 * l->lanes.count >= l->lanes.size && grow_lanes(l))
		return 0;
	at = hash_bytes(&key, sizeof key, 0) & (l->lanes.size - 1);
	while (l->lanes.slots[at].lane && memcmp(&l->lanes.slots[at].key, &key, sizeof key))
		at = (at + 1) & (l->lanes.size - 1);
	if (!l->lanes.slots[at].lane) {
		if (t->tid >= 0) {
			e.flags |= LANE_HAS_TID;
			e.tid = t->tid;
		}
		if (t->pid >= 0) {
			e.flags |= LANE_HAS_PID;
			e.pid = t->pid;
			e.ppid = t->ppid >= 0 ? t->ppid : 0;
		}
		l->lanes.slots[at].key = key;
		l->lanes.slots[at].lane = writer_lane(l->w, &e);
		l->lanes.count++;
		if (lttng_maps_of(l, c, t, l->lanes.slots[at].lane))
			return 0;
	}
	*known = (struct lttng_known_lane){t, t->version, l->lanes.slots[at].lane};
	return known->lane;
}
