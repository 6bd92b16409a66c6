/*
 * gaps.c - what is missing: events that the kernel has lost, and damaged records
 */
#include "cmd/trdecode/perf/perf.h"

#include "cmd/trdecode/input/merge.h"
#include "common/util/u128.h"

/* Return the time of a record in the stream, or of the row before it. */
static uint64_t time_of(const struct perf *p, const struct perf_record *r)
{
	return merge_shifted(r->time ? r->time : p->time, p->input->shift);
}

/* Return the lane of what no thread has done. 0: out of memory. */
static uint32_t recorder_lane(struct perf *p)
{
	struct perf_thread *t = perf_thread_of(&p->threads, -1, -1);

	return t ? perf_lane(p, t, &(struct perf_origin){.pid = -1}) : 0;
}

bool perf_lost_total(struct perf *p, const struct perf_record *r, const struct perf_origin *o)
{
	bool counted = false;

	if (r->type != PERF_RECORD_LOST_SAMPLES || r->misc & PERF_MISC_LOST_BY_BPF || o->body < 8 ||
	    (o->has_time && o->time))
		return false;
	for (size_t i = 0; i < p->nattrs; i++)
		counted |= p->attrs[i].read_format & PERF_READ_LOST;
	if (counted)
		add_saturated(&p->counts.lost_samples, perf_u64(p, r->data + PERF_RECORD_HEAD));
	return counted;
}

int perf_lost_rest(struct perf *p)
{
	struct perf_counts *c = &p->counts;
	uint64_t rest = c->lost_samples > c->lost ? c->lost_samples - c->lost : 0;
	uint32_t lane;

	c->lost_samples = 0;
	if (!rest)
		return 0;
	lane = recorder_lane(p);
	return lane ? writer_gap(p->w, merge_shifted(p->time, p->input->shift), lane,
				 &(struct gap){.reason = GAP_LOST,
					       .unit = GAP_EVENTS,
					       .count = rest,
					       .offset = NO_OFFSET})
		    : -1;
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
	if (!samples)
		add_saturated(&p->counts.lost, g.count);
	return g.count ? writer_gap(p->w, time_of(p, r), lane, &g) : 0;
}

int perf_damage_gap(struct perf *p, const struct perf_record *r, const char *what)
{
	uint32_t lane = recorder_lane(p);

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
