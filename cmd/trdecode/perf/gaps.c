/*
 * gaps.c - what is missing: events that the kernel has lost, and damaged records
 */
#include "cmd/trdecode/perf/perf.h"

#include "cmd/trdecode/input/merge.h"

/* Return the time of a record in the stream, or of the row before it. */
static uint64_t time_of(const struct perf *p, const struct perf_record *r)
{
	return merge_shifted(r->time ? r->time : p->time, p->input->shift);
}

int perf_lost(struct perf *p, const struct perf_record *r, uint32_t lane, size_t body)
{
	bool samples = r->type == PERF_RECORD_LOST_SAMPLES;
	size_t at = samples ? 0 : 8;
	struct gap g = {.reason =
				samples && r->misc & PERF_MISC_LOST_BY_BPF ? GAP_UNREAD : GAP_LOST,
			.unit = GAP_EVENTS,
			.offset = NO_OFFSET};

	if (body < at + 8)
		return 0;
	g.count = perf_u64(p, r->data + PERF_RECORD_HEAD + at);
	return g.count ? writer_gap(p->w, time_of(p, r), lane, &g) : 0;
}

int perf_damage_gap(struct perf *p, const struct perf_record *r, const char *what)
{
	struct perf_thread *t = perf_thread_of(&p->threads, -1, -1);
	uint32_t lane = t ? perf_lane(p, t, &(struct perf_origin){.pid = -1}) : 0;

	input_damage(p->input, p->file.name, r->offset, "%s", what);
	return lane ? writer_gap(p->w, time_of(p, r), lane,
				 &(struct gap){.reason = GAP_DAMAGE,
					       .unit = GAP_EVENTS,
					       .count = 1,
					       .offset = r->offset,
					       .file = p->file.name,
					       .message = what})
		    : -1;
}
