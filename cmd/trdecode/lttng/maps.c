/*
 * maps.c - mappings of processes, as the trace dumps them
 *
 * They contain an inode and no file name. The mappings of a process are sent with the lanes of its
 * threads, so that addresses in their events belong to modules.
 */
#include <stdio.h>

#include "cmd/trdecode/lttng/lttng.h"

enum { MAPS_MOST = 1 << 16, PAGE = 4096 };

int lttng_maps_take(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	const struct lttng_marker *m = ev->marker;
	uint64_t values[LTTNG_ARGS];
	struct lttng_thread *t;
	char text[64];

	for (int i = 0; i < LTTNG_ARGS; i++)
		values[i] =
			m->arg[i] < 0 ? 0 : get_uint(ev->fixed + m->arg[i], m->arg_size[i], false);
	t = lttng_state_thread(l, c, lttng_arg(ev, 0));
	if (!t)
		return -1;
	if (t == &c->idle || t == &c->unknown || values[2] <= values[1] ||
	    values[3] > UINT64_MAX / PAGE || l->nmaps == MAPS_MOST)
		return 0;
	if (!t->space) {
		snprintf(text, sizeof text, "%d", t->tid);
		t->space = writer_space(l->w, &(struct space_entry){.source = l->source,
								    .name = writer_text(l->w, text),
								    .pid = t->tid});
		if (!t->space)
			return -1;
	}
	if (values[4])
		snprintf(text, sizeof text, "[inode %llu]", (unsigned long long)values[4]);
	else
		snprintf(text, sizeof text, "[anonymous]");
	l->nmaps++;
	return writer_map(l->w, &(struct map_entry){.space = t->space,
						    .flags = MAP_FILE_OFFSET,
						    .start = values[1],
						    .end = values[2],
						    .offset = values[3] * PAGE,
						    .path = writer_text(l->w, text)});
}

int lttng_maps_of(struct lttng *l, struct lttng_cpu *c, const struct lttng_thread *t, uint32_t lane)
{
	/* the threads of a process share its mappings */
	const struct lttng_thread *process = t->pid > 0 ? lttng_state_thread(l, c, t->pid) : t;

	return process && process->space && lane ? writer_lane_space(l->w, lane, process->space)
						 : 0;
}
