/*
 * ftrace.c - bundles of events of ftrace into records: one bundle has events of one CPU
 */
#include "cmd/trdecode/perfetto/ftrace.h"

/* FuncgraphEntryFtraceEvent, FuncgraphExitFtraceEvent */
enum {
	FTRACE_GRAPH_ENTRY = 437,
	FTRACE_GRAPH_EXIT = 438,
	ENTRY_DEPTH = 1,
	ENTRY_FUNCTION = 2,
	EXIT_DEPTH = 2,
	EXIT_FUNCTION = 3,
};

/* A bundle. */
struct bundle {
	struct perfetto *p;
	struct perfetto_sequence *s;
	const struct perfetto_packet *packet;
	uint32_t clock; /* of its events */
	uint16_t cpu;
	bool lost;
};

/* Get the clock of a bundle's events, and relate it to BOOTTIME. */
static uint32_t bundle_clock(struct perfetto *p, struct perfetto_sequence *s,
			     const struct perfetto_packet *packet)
{
	/* clocks of ftrace are in no ClockSnapshot: numbers that these do not use */
	enum { OWN = 0x40000000 };
	struct protobuf_view rest = packet->payload;
	uint64_t clock = 0, own = 0, boot = 0;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0)
		switch (f.number) {
		case BUNDLE_CLOCK: clock = f.value; break;
		case BUNDLE_FTRACE_TIME: own = f.value; break;
		case BUNDLE_BOOT_TIME: boot = f.value; break;
		}
	switch (clock) {
	case 0: break;
	case CLOCK_OF_FTRACE_MONO_RAW: return CLOCK_MONOTONIC_RAW_ID;
	default:
		if (own && boot && perfetto_time(p, s, CLOCK_BOOTTIME_ID, &boot) &&
		    perfetto_clock_relate(p, OWN + (uint32_t)(clock & 15), own, boot))
			return 0;
		return OWN + (uint32_t)(clock & 15);
	}
	return packet->clock	   ? packet->clock
	       : s->defaults.clock ? s->defaults.clock
				   : CLOCK_BOOTTIME_ID;
}

/* Keep a record of the bundle's CPU at a time, which is converted. */
static int keep(struct bundle *b, uint64_t time, struct perfetto_record *r, const void *data,
		size_t size)
{
	struct perfetto_loss loss = {
		.count = UINT64_MAX, .offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_EVENTS};

	if (!perfetto_time(b->p, b->s, b->clock, &time))
		return 0;
	if (b->lost && perfetto_keep_gap(b->p, time, &loss, b->cpu))
		return -1;
	b->lost = false;
	r->cpu = b->cpu;
	r->flags |= PERFETTO_HAS_CPU;
	return perfetto_keep_data(b->p, (struct sorter_key){time, PERFETTO_ORDER}, r, data, size);
}

/* Make the record of an event of the function graph tracer, whose function is interned. */
static void graph_event(struct bundle *b, struct perfetto_record *r, struct protobuf_view message,
			uint64_t *depth)
{
	bool entry = r->name == FTRACE_GRAPH_ENTRY;
	struct protobuf_field f;
	uint32_t name = 0;

	while (protobuf_next(&message, &f) > 0) {
		if (f.number == (entry ? ENTRY_FUNCTION : EXIT_FUNCTION))
			name = perfetto_interned(b->p, b->s, OF_KERNEL_SYMBOL, f.value);
		else if (f.number == (entry ? ENTRY_DEPTH : EXIT_DEPTH))
			*depth = f.value;
		else
			perfetto_check_field(b->p, entry ? MESSAGE_GRAPH_ENTRY : MESSAGE_GRAPH_EXIT,
					     &f);
	}
	r->kind = entry ? PERFETTO_GRAPH_ENTRY : PERFETTO_GRAPH_EXIT;
	r->name = name ? name : b->p->texts.nothing;
}

static int take_event(struct bundle *b, struct protobuf_view message)
{
	struct perfetto_record r = {.kind = PERFETTO_FTRACE};
	struct protobuf_view event = {NULL, NULL};
	struct protobuf_field f;
	uint64_t time = 0, depth = 0;
	int got;

	while ((got = protobuf_next(&message, &f)) > 0)
		switch (f.number) {
		case FTRACE_TIME: time = f.value; break;
		case FTRACE_PID: r.track = (uint32_t)f.value; break;
		default:
			if (f.wire == PROTOBUF_LENGTH) {
				r.name = f.number;
				event = f.bytes;
			} else {
				perfetto_check_field(b->p, MESSAGE_FTRACE_EVENT, &f);
			}
		}
	if (got < 0) {
		perfetto_damage(b->p, b->packet, "no field of an event of ftrace: it is left out");
		return 0;
	}
	if (!r.name)
		return 0;
	if (r.name == FTRACE_GRAPH_ENTRY || r.name == FTRACE_GRAPH_EXIT) {
		graph_event(b, &r, event, &depth);
		return keep(b, time, &r, &depth, sizeof depth);
	}
	return keep(b, time, &r, event.at, protobuf_size(event));
}

/* --- compact scheduling events --- */

/* The columns of a kind of event. */
struct columns {
	struct protobuf_view time, state, pid, prio, cpu, comm;
};

/* Take the next number of a column; 0 at its end. */
static uint64_t next(struct protobuf_view *column)
{
	uint64_t n = 0;

	if (column->at && !protobuf_varint(column, &n))
		column->at = column->end;
	return n;
}

/* Keep the events of a kind: each has a number in each column; times are differences. */
static int keep_columns(struct bundle *b, struct columns *c, enum perfetto_kind kind,
			const struct buffer *texts)
{
	uint64_t time = 0, delta;

	while (c->time.at && protobuf_varint(&c->time, &delta)) {
		struct perfetto_record r = {.kind = (uint8_t)kind};
		struct perfetto_switch w = {0};
		uint64_t comm = next(&c->comm);

		time += delta;
		w.prev_state = (int64_t)next(&c->state);
		w.pid = (int32_t)next(&c->pid);
		w.prio = (int32_t)next(&c->prio);
		w.target_cpu = (int32_t)next(&c->cpu);
		if (comm < texts->size / 4)
			w.comm = get_u32(texts->data + 4 * comm);
		if (keep(b, time, &r, &w, sizeof w))
			return -1;
	}
	return 0;
}

static int take_sched(struct bundle *b, struct protobuf_view message)
{
	struct buffer *texts = &b->p->ftrace.key;
	struct columns switches = {0}, wakings = {0};
	struct protobuf_field f;

	texts->size = 0;
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case COMPACT_COMMS:
			if (buffer_u32(texts, perfetto_text(b->p, f.bytes)))
				return -1;
			break;
		case COMPACT_SWITCH_TIME: switches.time = f.bytes; break;
		case COMPACT_SWITCH_STATE: switches.state = f.bytes; break;
		case COMPACT_SWITCH_PID: switches.pid = f.bytes; break;
		case COMPACT_SWITCH_PRIO: switches.prio = f.bytes; break;
		case COMPACT_SWITCH_COMM: switches.comm = f.bytes; break;
		case COMPACT_WAKING_TIME: wakings.time = f.bytes; break;
		case COMPACT_WAKING_PID: wakings.pid = f.bytes; break;
		case COMPACT_WAKING_CPU: wakings.cpu = f.bytes; break;
		case COMPACT_WAKING_PRIO: wakings.prio = f.bytes; break;
		case COMPACT_WAKING_COMM: wakings.comm = f.bytes; break;
		}
	return keep_columns(b, &switches, PERFETTO_SWITCH, texts) ||
			       keep_columns(b, &wakings, PERFETTO_WAKING, texts)
		       ? -1
		       : 0;
}

int perfetto_ftrace_bundle(struct perfetto *p, struct perfetto_sequence *s,
			   const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload;
	struct bundle b = {.p = p, .s = s, .packet = packet};
	struct protobuf_field f;
	int got, failed = 0;

	b.clock = bundle_clock(p, s, packet);
	if (!b.clock)
		return -1;
	/* the CPU and the loss are those of all events, also of those before them */
	while ((got = protobuf_next(&rest, &f)) > 0) {
		if (f.number != BUNDLE_EVENT)
			perfetto_check_field(p, MESSAGE_BUNDLE, &f);
		if (f.number == BUNDLE_CPU)
			b.cpu = f.value < UINT16_MAX ? (uint16_t)f.value : UINT16_MAX;
		else if (f.number == BUNDLE_LOST)
			b.lost = f.value;
		else if (f.number == BUNDLE_DESCRIPTOR && perfetto_event_descriptor(p, f.bytes))
			return -1;
	}
	if (got < 0)
		perfetto_damage(p, packet, "no field of a bundle of ftrace: the rest is left out");
	rest = packet->payload;
	while (!failed && protobuf_next(&rest, &f) > 0)
		if (f.number == BUNDLE_EVENT && f.wire == PROTOBUF_LENGTH)
			failed = take_event(&b, f.bytes);
		else if (f.number == BUNDLE_SCHED && f.wire == PROTOBUF_LENGTH)
			failed = take_sched(&b, f.bytes);
	return failed;
}
