/*
 * time.c - convert times of the ring buffer's clock to those that `trace-cmd report` prints
 *
 * In its order: the guest's clock to the host's; TSC to nanoseconds; date and offset.
 */
#include "cmd/trdecode/tracecmd/tracecmd.h"

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

/* Return (time * mult) >> shift, computed with 96 bits. */
static uint64_t time_scale(uint64_t time, uint32_t mult, uint32_t shift)
{
	return (uint64_t)(((unsigned __int128)time * mult) >> shift);
}

/* Convert by the first of two samples; interpolate: along the line through both. */
static uint64_t time_correct(uint64_t time, const struct tracecmd_sync *a,
			     const struct tracecmd_sync *b, bool interpolate)
{
	unsigned bits = a->fraction < 127 ? (unsigned)a->fraction : 127;
	unsigned __int128 product = (unsigned __int128)time * a->scaling;
	__int128 span = (__int128)b->time - a->time, offset = a->offset;
	/* 64 bits: the product below has less than 128 */
	int64_t change = (int64_t)((uint64_t)b->offset - (uint64_t)a->offset);

	if (interpolate && span > 0)
		offset += (((__int128)time - a->time) * change + span / 2) / span;
	return (uint64_t)(product >> bits) + (uint64_t)offset;
}

/* Convert the guest's time to the host's. */
static uint64_t time_synchronise(const struct tracecmd_header *h, uint32_t cpu, uint64_t time)
{
	const struct tracecmd_sync_cpu *c;
	uint32_t low = 0, high;

	if (cpu >= h->link.nsync || !h->link.sync[cpu].count)
		return time;
	c = &h->link.sync[cpu];
	if (c->count == 1)
		return time + (uint64_t)c->sample[0].offset;
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
	uint64_t out;

	if (t->sync)
		time = time_synchronise(&t->h, cpu, time);
	if (t->tsc)
		time = time_scale(time, t->h.times.tsc_mult, t->h.times.tsc_shift);
	out = time + (uint64_t)t->shift;
	/* times below 0 become 0, times beyond the limit the limit */
	if (t->shift < 0 && out > time)
		return 0;
	if ((t->shift >= 0 && out < time) || out == UINT64_MAX)
		return UINT64_MAX - 1;
	return out;
}
