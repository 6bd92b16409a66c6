/*
 * time.c - convert times of the ring buffer's clock to those that `trace-cmd report` prints
 *
 * In its order: the guest's clock to the host's; TSC to nanoseconds; date and offset.
 */
#include "cmd/trdecode/tracecmd/tracecmd.h"
#include "common/util/u128.h"

void tracecmd_clock(struct tracecmd *t)
{
	const struct tracecmd_header *h = &t->h;
	struct input *in = t->input;
	const char *name = h->times.clock;
	bool raw = in->decoding->clock == CLOCK_RAW;

	for (size_t i = 0; !name && i < h->nbuffers; i++)
		if (h->buffers[i].clock && *h->buffers[i].clock)
			name = h->buffers[i].clock;
	if (!name || !*name)
		name = "local";
	t->raw = raw;
	t->tsc = h->times.has_tsc && !raw;
	t->sync = h->link.sync && !raw;
	if (t->tsc)
		name = "tsc2nsec";
	in->clock_name = name;
	in->ticks = !strcmp(name, "counter") || !strcmp(name, "x86-tsc") ||
		    !strcmp(name, "ppc-tb") || !strcmp(name, "s390-tod");
	in->trace_id = h->link.trace_id;
	in->host_id = h->link.peer_id;
	in->on_host_clock = t->sync;
	if (!raw) {
		in->guest_ids = h->link.guests;
		in->nguest_ids = h->link.nguests;
	}
	if (h->times.has_date) {
		in->has_wall = true;
		in->wall = raw ? h->times.date + h->times.offset : 0;
	}
	if (!raw)
		t->shift = h->times.date + h->times.offset;
}

/* Convert by the first of two samples; interpolate: along the line through both. */
static int128 time_correct(uint64_t time, const struct tracecmd_sync *a,
			   const struct tracecmd_sync *b, bool interpolate)
{
	unsigned bits = a->fraction < 127 ? (unsigned)a->fraction : 127;
	uint128 product = (uint128)time * a->scaling >> bits;
	int128 span = (int128)b->time - a->time, offset = a->offset;
	/* 64 bits: the product below has less than 128 */
	int64_t change = saturated_i64((int128)b->offset - a->offset);

	if (interpolate && span > 0)
		offset += (((int128)time - a->time) * change + span / 2) / span;
	/* what exceeds 64 bits is beyond all times */
	return (int128)(product > UINT64_MAX ? UINT64_MAX : product) + offset;
}

/* Convert the guest's time to the host's. */
static int128 time_synchronise(const struct tracecmd_header *h, uint32_t cpu, uint64_t time)
{
	const struct tracecmd_sync_cpu *c;
	uint32_t low = 0, high;

	if (cpu >= h->link.nsync || !h->link.sync[cpu].count)
		return time;
	c = &h->link.sync[cpu];
	if (c->count == 1)
		return (int128)time + c->sample[0].offset;
	/* the samples around the time, or the outermost two */
	high = c->count - 1;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (c->sample[middle].time <= time)
			low = middle;
		else
			high = middle;
	}
	return time_correct(time, &c->sample[low], &c->sample[high], h->link.interpolate);
}

uint64_t tracecmd_time_slow(const struct tracecmd *t, uint32_t cpu, uint64_t time)
{
	int128 out = t->sync ? time_synchronise(&t->h, cpu, time) : time;

	/* a product of 96 bits */
	if (t->tsc)
		out = (int128)saturated_u64(out) * t->h.times.tsc_mult >> t->h.times.tsc_shift;
	/* times below 0 become 0, times beyond the limit the limit */
	time = saturated_u64(out + t->shift);
	return time - (time == UINT64_MAX);
}
