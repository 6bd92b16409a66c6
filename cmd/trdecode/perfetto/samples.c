/*
 * samples.c - samples of call stacks: of perf, and of Chrome's profiler
 */
#include <stdio.h>

#include "cmd/trdecode/perfetto/perfetto.h"

/* Return the name of an event, by enum PerfEvents.Counter. NULL: it is not known. */
static const char *counter_name(uint64_t number)
{
	static const char *const counters[] = {NULL,
					       "cpu-clock",
					       "page-faults",
					       "task-clock",
					       "context-switches",
					       "cpu-migrations",
					       "minor-faults",
					       "major-faults",
					       "alignment-faults",
					       "emulation-faults",
					       "cpu-cycles",
					       "instructions",
					       "cache-references",
					       "cache-misses",
					       "branch-instructions",
					       "branch-misses",
					       "bus-cycles",
					       "stalled-cycles-frontend",
					       "stalled-cycles-backend",
					       "ref-cycles",
					       "dummy"};

	return number < sizeof counters / sizeof *counters ? counters[number] : NULL;
}

/* Get the name of a tracepoint: a string of the writer, or 0. */
static uint32_t tracepoint_name(struct perfetto *p, struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t name = 0;

	while (protobuf_next(&message, &f) > 0)
		if (f.number == TRACEPOINT_NAME)
			name = perfetto_text(p, f.bytes);
	return name;
}

/* Add the name of a counter that is read with each sample. */
static void read_follower(struct perfetto *p, struct perfetto_defaults *d,
			  struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t name = 0, own = 0;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case FOLLOWER_NAME: own = perfetto_text(p, f.bytes); break;
		case FOLLOWER_TRACEPOINT: name = tracepoint_name(p, f.bytes); break;
		case FOLLOWER_COUNTER:
			if (counter_name(f.value))
				name = writer_text(p->w, counter_name(f.value));
			break;
		}
	if (d->nfollowers < PERFETTO_EXTRA)
		d->followers[d->nfollowers++] = own ? own : name;
}

/* Read the event that a timebase counts: its name and period. */
static void read_timebase(struct perfetto *p, struct perfetto_defaults *d,
			  struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t name = 0;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case TIMEBASE_PERIOD: d->period = f.value; break;
		case TIMEBASE_NAME: name = perfetto_text(p, f.bytes); break;
		case TIMEBASE_COUNTER:
			if (counter_name(f.value))
				d->sample_name = writer_text(p->w, counter_name(f.value));
			break;
		case TIMEBASE_TRACEPOINT: d->sample_name = tracepoint_name(p, f.bytes); break;
		}
	if (name)
		d->sample_name = name;
}

int perfetto_sample_defaults(struct perfetto *p, struct perfetto_sequence *s,
			     struct protobuf_view message)
{
	struct protobuf_field f;

	s->defaults.nfollowers = 0;
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case SAMPLE_TIMEBASE: read_timebase(p, &s->defaults, f.bytes); break;
		case SAMPLE_FOLLOWER: read_follower(p, &s->defaults, f.bytes); break;
		}
	return 0;
}

/* Get what the counter of a sample has counted since the sample before on the CPU, or from 0 if the
 * counter began again. cpu: -1, unknown. */
static int counted_weight(struct perfetto *p, const struct perfetto_sequence *s, int32_t cpu,
			  uint64_t count, uint64_t *weight)
{
	struct buffer *counts = &p->counts.sample_counts;
	uint32_t key[2] = {s->number, (uint32_t)cpu};
	uint32_t *number = id_cache_number(&p->counts.sample_cpus, key, sizeof key);
	uint64_t before;

	if (!number || (!*number && buffer_u64(counts, 0)))
		return -1;
	if (!*number)
		*number = (uint32_t)(counts->size / 8);
	before = get_u64(counts->data + 8 * (*number - 1));
	put_u64(counts->data + 8 * (*number - 1), count);
	*weight = count >= before ? count - before : count;
	return 0;
}

/* Keep the other counters of a sample, as the CPU had counted them. */
static int keep_followers(struct perfetto *p, const struct perfetto_sequence *s, uint64_t time,
			  int32_t cpu, struct protobuf_view rest)
{
	struct protobuf_field f;
	unsigned n = 0;
	uint64_t value;

	while (protobuf_next(&rest, &f) > 0) {
		struct protobuf_view list = f.bytes;

		while (f.number == SAMPLE_FOLLOWERS && protobuf_each(&f, &list, &value)) {
			uint32_t name = n < s->defaults.nfollowers ? s->defaults.followers[n] : 0;
			char unnamed[32];

			snprintf(unnamed, sizeof unnamed, "follower %u", ++n);
			if (perfetto_keep_counter(
				    p, time, &(struct perfetto_counter_of){unnamed, -1, cpu, name},
				    value))
				return -1;
		}
	}
	return 0;
}

int perfetto_sample(struct perfetto *p, struct perfetto_sequence *s,
		    const struct perfetto_packet *packet)
{
	struct perfetto_loss loss = {.offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_EVENTS};
	struct perfetto_record r = {.kind = PERFETTO_SAMPLE, .flags = PERFETTO_VALUE};
	struct perfetto_track_key key = {
		.kind = PERFETTO_OF_THREAD, .pid = -1, .tid = -1, .cpu = -1};
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f;
	uint64_t count = 0, weight = 1;
	bool producer = false, has_followers = false, has_count = false;
	int32_t cpu;

	while (protobuf_next(&rest, &f) > 0)
		switch (f.number) {
		case SAMPLE_CPU:
			r.cpu = (uint16_t)f.value;
			r.flags |= PERFETTO_HAS_CPU;
			break;
		case SAMPLE_PID: key.pid = f.value <= INT32_MAX ? (int32_t)f.value : -1; break;
		case SAMPLE_TID: key.tid = f.value <= INT32_MAX ? (int32_t)f.value : -1; break;
		case SAMPLE_CALLSTACK:
			r.stack = perfetto_interned(p, s, OF_CALLSTACK, f.value);
			break;
		case SAMPLE_COUNT:
			has_count = true;
			count = f.value;
			break;
		case SAMPLE_LOST: loss.count = f.value; break;
		case SAMPLE_SKIPPED: loss.reason = GAP_UNREAD; break;
		case SAMPLE_PRODUCER: producer = true; break;
		case SAMPLE_FOLLOWERS: has_followers = true; break;
		}
	cpu = r.flags & PERFETTO_HAS_CPU ? r.cpu : -1;
	p->scratch.arguments.size = 0;
	if (loss.count || loss.reason == GAP_UNREAD) {
		loss.count = loss.count ? loss.count : 1;
		return perfetto_keep_gap(p, packet->time, &loss, cpu);
	}
	if (producer)
		return 0;
	if ((has_followers && keep_followers(p, s, packet->time, cpu, packet->payload)) ||
	    (has_count && counted_weight(p, s, cpu, count, &weight)))
		return -1;
	if (s->defaults.period) {
		/* only a count that the period shows is in the stream */
		p->counts.left_out[MESSAGE_PERF_SAMPLE][SAMPLE_COUNT] +=
			has_count && weight != s->defaults.period;
		weight = s->defaults.period;
	}
	r.track = perfetto_other_track(p, &key) - 1;
	r.name = s->defaults.sample_name ? s->defaults.sample_name : writer_text(p->w, "samples");
	return r.track == UINT32_MAX ? -1 : perfetto_keep(p, packet->time, &r, weight);
}

/* Add a delta of microseconds to a time. Returns false if the result is out of range. */
static bool add_delta(uint64_t *time, int64_t us)
{
	int64_t ns;

	return !__builtin_mul_overflow(us, (int64_t)1000, &ns) &&
	       !__builtin_add_overflow(*time, ns, time) && *time < TIME_LIMIT;
}

int perfetto_streaming_profile(struct perfetto *p, struct perfetto_sequence *s,
			       const struct perfetto_packet *packet)
{
	struct perfetto_record r = {.kind = PERFETTO_SAMPLE, .flags = PERFETTO_VALUE};
	struct protobuf_view rest = packet->payload, list;
	struct protobuf_field f;
	struct buffer *deltas = &p->scratch.key, *stacks = &p->scratch.text;
	uint64_t n, time = packet->time;
	size_t nstacks, ndeltas;

	deltas->size = stacks->size = 0;
	while (protobuf_next(&rest, &f) > 0) {
		struct buffer *to = f.number == STREAMING_CALLSTACK ? stacks
				    : f.number == STREAMING_DELTA   ? deltas
								    : NULL;

		for (list = f.bytes; to && protobuf_each(&f, &list, &n);)
			if (buffer_u64(to, n))
				return -1;
	}
	if (!s->has_thread)
		r.track = perfetto_track(p, s->defaults.track) - 1;
	else
		r.track = s->thread_track - 1;
	if (r.track == UINT32_MAX)
		return -1;
	if (!packet->has_time && !perfetto_time_us(p, s, s->time, &time))
		return 0;
	r.name = writer_text(p->w, "cpu_profile");
	nstacks = stacks->size / 8;
	ndeltas = deltas->size / 8;
	for (size_t i = 0; i < nstacks; i++) {
		int64_t us = i < ndeltas ? (int64_t)get_u64(p->scratch.key.data + 8 * i) : 0;

		if (!add_delta(&time, us)) {
			p->counts.wrong_times++;
			return 0;
		}
		if (!packet->has_time)
			s->time = add_wrapping(s->time, us);
		r.stack = perfetto_interned(p, s, OF_CALLSTACK,
					    get_u64(p->scratch.text.data + 8 * i));
		p->scratch.arguments.size = 0;
		/* the record is made in other buffers */
		if (perfetto_keep_data(p, (struct sorter_key){time, PERFETTO_ORDER}, &r,
				       &(uint64_t){1}, sizeof(uint64_t)))
			return -1;
	}
	return 0;
}
