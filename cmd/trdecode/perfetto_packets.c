/*
 * perfetto_packets.c - packets of Perfetto: sequences, interned texts, statistics of the system,
 * and what is left out of them
 *
 *     packet { trusted_packet_sequence_id: 2
 *              interned_data { event_names { iid: 1  name: "draw" } } }
 *     packet { trusted_packet_sequence_id: 2  track_event { name_iid: 1 ... } }
 *
 * The second packet is of "draw": numbers of interned texts are those of their sequence.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "cmd/trdecode/perfetto.h"
#include "common/cli/program.h"
#include "common/formats/perfetto.h"
#include "common/formats/softirqs.h"
#include "common/protobuf/protobuf.h"
#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/intern.h"
#include "common/util/output.h"

/* --- ids --- */

enum { SPARE = 256 }; /* ids beyond twice the number of entries that the array has room for */

uint32_t perfetto_ids_far(const struct perfetto_ids *m, uint64_t id)
{
	return (uint32_t)key_map_get(&m->far, id);
}

/* Set the number of an id. entries: number of those that share the ids, so far, in this map or
 * others; an array has at most twice as many, and some hundred. -1: out of memory. */
static int perfetto_ids_set(struct perfetto_ids *m, uint64_t id, uint32_t number, uint64_t entries)
{
	if (id >= m->size && id <= 2 * entries + SPARE) {
		if (ARRAY_REACH(m->dense, m->size, (size_t)id))
			return -1;
	}
	if (id < m->size) {
		m->used = true;
		m->dense[id] = number;
		return 0;
	}
	return key_map_set(&m->far, id, number);
}

static void perfetto_ids_clear(struct perfetto_ids *m)
{
	if (m->used)
		memset(m->dense, 0, m->size * sizeof *m->dense);
	m->used = false;
	key_map_free(&m->far);
}

static void perfetto_ids_free(struct perfetto_ids *m)
{
	free(m->dense);
	key_map_free(&m->far);
	*m = (struct perfetto_ids){0};
}

/*
 * The state of each sequence of packets: interned entries, and defaults.
 *
 * A packet that clears the state begins it again. A packet that needs it, while it was not begun or
 * a packet of the sequence was lost, is left out; the packets left out are a gap.
 */

/* --- interned entries --- */

static uint64_t entry_iid(struct protobuf_view message)
{
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		if (f.number == ENTRY_IID)
			return f.value;
	return 0;
}

/* Get the text of an entry; bytes of a build id as digits. */
static uint32_t entry_text(struct perfetto *p, struct protobuf_view message, bool hex)
{
	struct protobuf_view text = {NULL, NULL};
	struct protobuf_field f;
	struct buffer *b = &p->scratch.text;

	while (protobuf_next(&message, &f) > 0)
		if (f.number == ENTRY_TEXT && f.wire == PROTOBUF_LENGTH)
			text = f.bytes;
	if (!hex)
		return perfetto_text(p, text);
	b->size = 0;
	if (protobuf_size(text) > BUILD_ID_MOST ||
	    buffer_hex_bytes(b, text.at, protobuf_size(text)))
		return 0;
	return writer_string(p->w, b->data, b->size);
}

struct perfetto_source_location perfetto_source_location(struct perfetto *p,
							 struct protobuf_view message)
{
	struct perfetto_source_location l = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case SOURCE_FILE: l.file = perfetto_text(p, f.bytes); break;
		case SOURCE_FUNCTION: l.function = perfetto_text(p, f.bytes); break;
		case SOURCE_LINE: l.line = (uint32_t)f.value; break;
		}
	return l;
}

static uint32_t source_location(struct perfetto *p, struct protobuf_view message)
{
	struct perfetto_source_location l = perfetto_source_location(p, message);

	if (buffer_append(&p->source_locations, &l, sizeof l))
		return 0;
	return (uint32_t)(p->source_locations.size / sizeof l);
}

static uint32_t perfetto_callstack(struct perfetto *p, const struct perfetto_sequence *s,
				   struct protobuf_view message)
{
	struct protobuf_view rest;
	struct protobuf_field f;
	uint32_t stack = 0;
	uint64_t iid;

	/* the outermost frame is first */
	while (protobuf_next(&message, &f) > 0) {
		if (f.number != CALLSTACK_FRAME)
			continue;
		for (rest = f.bytes; protobuf_each(&f, &rest, &iid);) {
			uint32_t location = perfetto_interned(p, s, OF_FRAME, iid);

			if (location)
				stack = writer_stack(p->w, stack, location);
		}
	}
	return stack;
}

static uint32_t interned_number(struct perfetto *p, const struct perfetto_sequence *s,
				unsigned kind, struct protobuf_view message)
{
	switch (kind) {
	case INTERNED_MAPPING: return perfetto_mapping(p, s, message);
	case INTERNED_FRAME: return perfetto_frame(p, s, message);
	case INTERNED_CALLSTACK: return perfetto_callstack(p, s, message);
	case INTERNED_SOURCE_LOCATION: return source_location(p, message);
	default: return entry_text(p, message, kind == INTERNED_BUILD_ID);
	}
}

/* Returns when an entry is taken: entries name others of the same packet. */
static unsigned entry_stage(uint32_t field)
{
	switch (field) {
	case INTERNED_MAPPING: return 1;
	case INTERNED_FRAME: return 2;
	case INTERNED_CALLSTACK: return 3;
	}
	return 0;
}

/* The fields of InternedData that are used, by their kinds. */
static const uint8_t interned_fields[INTERNED_KINDS] = {
	INTERNED_CATEGORY,	    INTERNED_NAME,	  INTERNED_ANNOTATION_NAME,
	INTERNED_SOURCE_LOCATION,   INTERNED_FUNCTION,	  INTERNED_FRAME,
	INTERNED_CALLSTACK,	    INTERNED_BUILD_ID,	  INTERNED_PATH,
	INTERNED_SOURCE_PATH,	    INTERNED_MAPPING,	  INTERNED_LOG_BODY,
	INTERNED_ANNOTATION_STRING, INTERNED_CORRELATION, INTERNED_KERNEL_SYMBOL,
};

/* Get the kind of a field; INTERNED_KINDS: it is not used. */
static unsigned perfetto_packets_kind_of(uint32_t field)
{
	unsigned kind = 0;

	while (kind < INTERNED_KINDS && interned_fields[kind] != field)
		kind++;
	return kind;
}

static int take_interned(struct perfetto *p, struct perfetto_sequence *s,
			 struct protobuf_view message)
{
	unsigned stages = 1;

	if (!s->interned)
		s->interned = calloc(1, sizeof *s->interned);
	if (!s->interned)
		return -1;
	for (unsigned stage = 0; stage < stages; stage++) {
		struct protobuf_view rest = message;
		struct protobuf_field f;

		while (protobuf_next(&rest, &f) > 0) {
			unsigned of = entry_stage(f.number),
				 kind = perfetto_packets_kind_of(f.number);

			if (kind == INTERNED_KINDS || f.wire != PROTOBUF_LENGTH)
				continue;
			stages = stages > of + 1 ? stages : of + 1;
			if (of == stage &&
			    perfetto_ids_set(&s->interned->ids[kind], entry_iid(f.bytes),
					     interned_number(p, s, f.number, f.bytes),
					     s->interned->entries++))
				return -1;
		}
	}
	return 0;
}

/* --- the tables of Android 10 --- */

/* Take an entry of the strings of a ProfilePacket, which may be a name, a path or a build-id. */
static int perfetto_packets_take_string(struct perfetto *p, struct perfetto_interned *all,
					struct protobuf_view entry)
{
	struct perfetto_ids *ids = all->ids;
	uint64_t iid = entry_iid(entry), entries = all->entries++;
	uint32_t text = entry_text(p, entry, false);

	return perfetto_ids_set(&ids[OF_FUNCTION], iid, text, entries) ||
	       perfetto_ids_set(&ids[OF_PATH], iid, text, entries) ||
	       perfetto_ids_set(&ids[OF_BUILD_ID], iid, entry_text(p, entry, true), entries);
}

/* Fields of ProfilePacket: tables of Android 10, in the form of InternedData's. */
enum { PROFILE_STRINGS = 1, PROFILE_FRAMES, PROFILE_CALLSTACKS, PROFILE_MAPPINGS };

int perfetto_profile_tables(struct perfetto *p, struct perfetto_sequence *s,
			    struct protobuf_view message)
{
	/* in the order in which entries name others */
	static const struct {
		uint8_t field, interned;
	} tables[] = {{PROFILE_STRINGS, 0},
		      {PROFILE_MAPPINGS, INTERNED_MAPPING},
		      {PROFILE_FRAMES, INTERNED_FRAME},
		      {PROFILE_CALLSTACKS, INTERNED_CALLSTACK}};
	struct perfetto_interned *all;

	if (!s->interned)
		s->interned = calloc(1, sizeof *s->interned);
	all = s->interned;
	if (!all)
		return -1;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		uint32_t interned = tables[i].interned;
		struct protobuf_view rest = message;
		struct protobuf_field f;

		while (protobuf_next(&rest, &f) > 0) {
			if (f.number != tables[i].field || f.wire != PROTOBUF_LENGTH)
				continue;
			if (interned ? perfetto_ids_set(
					       &all->ids[perfetto_packets_kind_of(interned)],
					       entry_iid(f.bytes),
					       interned_number(p, s, interned, f.bytes),
					       all->entries++)
				     : perfetto_packets_take_string(p, all, f.bytes))
				return -1;
		}
	}
	return 0;
}

/* --- defaults --- */

static void add_extra(struct perfetto_sequence *s, bool real, struct protobuf_field *f)
{
	struct protobuf_view rest = f->bytes;
	uint64_t uuid;

	while (protobuf_each(f, &rest, &uuid))
		if (s->defaults.nextra[real] < PERFETTO_EXTRA)
			s->defaults.extra[real][s->defaults.nextra[real]++] = uuid;
}

static int take_defaults(struct perfetto *p, struct perfetto_sequence *s,
			 struct protobuf_view message)
{
	struct protobuf_field f, of;

	memset(&s->defaults, 0, sizeof s->defaults);
	while (protobuf_next(&message, &f) > 0) {
		if (f.number == DEFAULTS_CLOCK)
			s->defaults.clock = (uint32_t)f.value;
		else if (f.number == DEFAULTS_PERF_SAMPLE &&
			 perfetto_sample_defaults(p, s, f.bytes))
			return -1;
		else if (f.number == DEFAULTS_TRACK_EVENT)
			while (protobuf_next(&f.bytes, &of) > 0)
				switch (of.number) {
				case EVENT_TRACK:
					s->defaults.track = of.value;
					s->defaults.has_track = true;
					break;
				case EVENT_EXTRA_TRACKS: add_extra(s, false, &of); break;
				case EVENT_EXTRA_REAL_TRACKS: add_extra(s, true, &of); break;
				}
	}
	return 0;
}

/* --- sequences --- */

static struct perfetto_sequence *find_sequence(struct perfetto *p, uint32_t id, uint32_t machine)
{
	uint32_t *number;
	struct perfetto_sequence *s = p->recent_sequence;

	if (s && s->id == id && s->machine == machine)
		return s;
	number = key_map_number(&p->sequence_numbers, (uint64_t)id << 32 | machine);
	if (!number)
		return NULL;
	if (!*number) {
		s = calloc(1, sizeof *s);
		if (!s || buffer_append(&p->sequences, &s, sizeof s)) {
			free(s);
			return NULL;
		}
		*number = s->number = (uint32_t)(p->sequences.size / sizeof s);
		s->id = id;
		s->machine = machine;
		p->counts.sequences += id != 0;
	}
	memcpy(&s, p->sequences.data + (*number - 1) * sizeof s, sizeof s);
	p->recent_sequence = s;
	return s;
}

static void clear_state(struct perfetto_sequence *s)
{
	for (unsigned i = 0; s->interned && i < INTERNED_KINDS; i++)
		perfetto_ids_clear(&s->interned->ids[i]);
	if (s->interned)
		s->interned->entries = 0;
	memset(&s->defaults, 0, sizeof s->defaults);
	s->has_thread = false;
	s->generation++;
	s->valid = true;
}

/* Add the gap of the packets left out. */
static int end_skipped(struct perfetto *p, struct perfetto_sequence *s)
{
	struct perfetto_loss loss = {
		.count = s->skipped, .offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_PACKETS};

	if (!s->skipped)
		return 0;
	s->skipped = 0;
	return perfetto_keep_gap(p, s->skipped_time, &loss, -1);
}

/* Get the time of a packet whose state may be missing, or one close to it. */
static uint64_t perfetto_packets_time_of(struct perfetto *p, struct perfetto_sequence *s,
					 const struct perfetto_packet *packet)
{
	uint32_t clock = packet->clock ? packet->clock : s->defaults.clock;
	uint64_t time = packet->time;

	if (packet->has_time &&
	    (clock < CLOCK_OF_SEQUENCE_FIRST || clock > CLOCK_OF_SEQUENCE_LAST) &&
	    perfetto_clock_usable(p, s, clock) &&
	    perfetto_time(p, s, clock ? clock : CLOCK_BOOTTIME_ID, &time))
		return time;
	return s->last_time ? s->last_time : p->last;
}

/* Add a gap where packets of the sequence were lost before this one. */
static int perfetto_packets_lost(struct perfetto *p, struct perfetto_sequence *s,
				 const struct perfetto_packet *packet)
{
	struct perfetto_loss loss = {
		.count = UINT64_MAX, .offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_PACKETS};

	return perfetto_keep_gap(p, perfetto_packets_time_of(p, s, packet), &loss, -1);
}

int perfetto_sequence(struct perfetto *p, struct perfetto_packet *packet,
		      struct perfetto_sequence **sequence, bool *skip)
{
	struct perfetto_sequence *s = find_sequence(p, packet->sequence, packet->machine);

	if (!s)
		return -1;
	*sequence = s;
	*skip = false;
	if (packet->dropped && !packet->first) {
		/* before the first packet that was read the recording may not have begun */
		if (s->seen && perfetto_packets_lost(p, s, packet))
			return -1;
		s->valid = false;
	}
	s->seen = true;
	if (packet->cleared || packet->flags & STATE_CLEARED) {
		clear_state(s);
		if (end_skipped(p, s))
			return -1;
	}
	if (packet->flags & STATE_NEEDED && !s->valid) {
		if (!s->skipped++)
			s->skipped_time = perfetto_packets_time_of(p, s, packet);
		*skip = true;
		return 0;
	}
	if (packet->has_defaults && take_defaults(p, s, packet->defaults))
		return -1;
	return __builtin_expect(packet->has_interned, 0) ? take_interned(p, s, packet->interned)
							 : 0;
}

static struct perfetto_sequence *sequence_at(const struct perfetto *p, size_t at)
{
	struct perfetto_sequence *s;

	memcpy(&s, p->sequences.data + at, sizeof s);
	return s;
}

int perfetto_sequences_end(struct perfetto *p)
{
	for (size_t at = 0; at < p->sequences.size; at += sizeof(struct perfetto_sequence *))
		if (end_skipped(p, sequence_at(p, at)))
			return -1;
	return 0;
}

void perfetto_sequences_free(struct perfetto *p)
{
	for (size_t at = 0; at < p->sequences.size; at += sizeof(struct perfetto_sequence *)) {
		struct perfetto_sequence *s = sequence_at(p, at);

		for (unsigned i = 0; s->interned && i < INTERNED_KINDS; i++)
			perfetto_ids_free(&s->interned->ids[i]);
		free(s->interned);
		free(s->clocks);
		free(s);
	}
	buffer_free(&p->sequences);
	key_map_free(&p->sequence_numbers);
}

/*
 * The fields that are known, and which of them the stream does not contain: these are counted, and
 * named in the remark at the end.
 *
 * Source: protos/perfetto/trace of the project perfetto, of August 2026 (names and numbers only).
 */

/* What becomes of a field; a smaller number: its message is read, too. */
enum { FIELD_READ = PERFETTO_MESSAGES, LEFT_OUT };

struct known_field {
	uint8_t what;
	const char *name; /* NULL: the field is not known */
};

static const char *const messages[PERFETTO_MESSAGES] = {
	[MESSAGE_PACKET] = "TracePacket",
	[MESSAGE_BUNDLE] = "FtraceEventBundle",
	[MESSAGE_COMPACT_SCHED] = "FtraceEventBundle.CompactSched",
	[MESSAGE_GENERIC_DESCRIPTOR] = "FtraceEventBundle.GenericEventDescriptor",
	[MESSAGE_FTRACE_EVENT] = "FtraceEvent",
	[MESSAGE_GRAPH_ENTRY] = "FuncgraphEntryFtraceEvent",
	[MESSAGE_GRAPH_EXIT] = "FuncgraphExitFtraceEvent",
	[MESSAGE_TREE] = "ProcessTree",
	[MESSAGE_TREE_PROCESS] = "ProcessTree.Process",
	[MESSAGE_TREE_THREAD] = "ProcessTree.Thread",
	[MESSAGE_CLOCK_SNAPSHOT] = "ClockSnapshot",
	[MESSAGE_CLOCK] = "ClockSnapshot.Clock",
	[MESSAGE_SYS_STATS] = "SysStats",
	[MESSAGE_MEMINFO] = "SysStats.MeminfoValue",
	[MESSAGE_VMSTAT] = "SysStats.VmstatValue",
	[MESSAGE_CPU_TIMES] = "SysStats.CpuTimes",
	[MESSAGE_INTERRUPT] = "SysStats.InterruptCount",
	[MESSAGE_DEVFREQ] = "SysStats.DevfreqValue",
	[MESSAGE_BUDDY] = "SysStats.BuddyInfo",
	[MESSAGE_DISK] = "SysStats.DiskStat",
	[MESSAGE_PSI] = "SysStats.PsiSample",
	[MESSAGE_THERMAL] = "SysStats.ThermalZone",
	[MESSAGE_CPUIDLE] = "SysStats.CpuIdleState",
	[MESSAGE_CPUIDLE_ENTRY] = "SysStats.CpuIdleStateEntry",
	[MESSAGE_SLAB] = "SysStats.SlabInfo",
	[MESSAGE_PROCESS_STATS] = "ProcessStats",
	[MESSAGE_PROCESS] = "ProcessStats.Process",
	[MESSAGE_TRACK_EVENT] = "TrackEvent",
	[MESSAGE_LEGACY_EVENT] = "TrackEvent.LegacyEvent",
	[MESSAGE_ANNOTATION] = "DebugAnnotation",
	[MESSAGE_INTERNED] = "InternedData",
	[MESSAGE_INTERNED_STRING] = "InternedString",
	[MESSAGE_SOURCE_LOCATION] = "SourceLocation",
	[MESSAGE_FRAME] = "Frame",
	[MESSAGE_CALLSTACK] = "Callstack",
	[MESSAGE_MAPPING] = "Mapping",
	[MESSAGE_TRACE_CONFIG] = "TraceConfig",
	[MESSAGE_TRACE_STATS] = "TraceStats",
	[MESSAGE_BUFFER_STATS] = "TraceStats.BufferStats",
	[MESSAGE_PROFILE] = "ProfilePacket",
	[MESSAGE_HEAP_SAMPLES] = "ProfilePacket.ProcessHeapSamples",
	[MESSAGE_HEAP_SAMPLE] = "ProfilePacket.HeapSample",
	[MESSAGE_LOG] = "AndroidLogPacket",
	[MESSAGE_LOG_EVENT] = "AndroidLogPacket.LogEvent",
	[MESSAGE_PROCESS_DESCRIPTOR] = "ProcessDescriptor",
	[MESSAGE_THREAD_DESCRIPTOR] = "ThreadDescriptor",
	[MESSAGE_PACKAGES] = "PackagesList",
	[MESSAGE_PACKAGE] = "PackagesList.PackageInfo",
	[MESSAGE_STREAMING_PROFILE] = "StreamingProfilePacket",
	[MESSAGE_DEFAULTS] = "TracePacketDefaults",
	[MESSAGE_EVENT_DEFAULTS] = "TrackEventDefaults",
	[MESSAGE_SAMPLE_DEFAULTS] = "PerfSampleDefaults",
	[MESSAGE_TIMEBASE] = "PerfEvents.Timebase",
	[MESSAGE_TRACEPOINT] = "PerfEvents.Tracepoint",
	[MESSAGE_FOLLOWER] = "FollowerEvent",
	[MESSAGE_TRACK] = "TrackDescriptor",
	[MESSAGE_COUNTER] = "CounterDescriptor",
	[MESSAGE_MODULE] = "ModuleSymbols",
	[MESSAGE_ADDRESS_SYMBOLS] = "AddressSymbols",
	[MESSAGE_LINE] = "Line",
	[MESSAGE_PERF_SAMPLE] = "PerfSample",
	[MESSAGE_FRAME_TIMELINE] = "FrameTimelineEvent",
	[MESSAGE_EXPECTED_DISPLAY] = "FrameTimelineEvent.ExpectedDisplayFrameStart",
	[MESSAGE_ACTUAL_DISPLAY] = "FrameTimelineEvent.ActualDisplayFrameStart",
	[MESSAGE_EXPECTED_SURFACE] = "FrameTimelineEvent.ExpectedSurfaceFrameStart",
	[MESSAGE_ACTUAL_SURFACE] = "FrameTimelineEvent.ActualSurfaceFrameStart",
	[MESSAGE_FRAME_END] = "FrameTimelineEvent.FrameEnd",
	[MESSAGE_TRIGGER] = "Trigger",
	[MESSAGE_SERVICE_EVENT] = "TracingServiceEvent",
};

/* By message and number. A field that is not here is left out, too. Entries with a text have one
 * message, whatever the name of the text. Looked up in a sorted list, the fields of a trace of
 * Android take 10 % more instructions. */
static const struct known_field known_fields[PERFETTO_MESSAGES][PERFETTO_FIELDS] = {
	[MESSAGE_BUNDLE][1] = {FIELD_READ, "cpu"},
	[MESSAGE_BUNDLE][2] = {FIELD_READ, "event"},
	[MESSAGE_BUNDLE][3] = {FIELD_READ, "lost_events"},
	[MESSAGE_BUNDLE][4] = {MESSAGE_COMPACT_SCHED, "compact_sched"},
	[MESSAGE_BUNDLE][5] = {FIELD_READ, "ftrace_clock"},
	[MESSAGE_BUNDLE][6] = {FIELD_READ, "ftrace_timestamp"},
	[MESSAGE_BUNDLE][7] = {FIELD_READ, "boot_timestamp"},
	[MESSAGE_BUNDLE][8] = {LEFT_OUT, "error"},
	[MESSAGE_BUNDLE][9] = {LEFT_OUT, "last_read_event_timestamp"},
	[MESSAGE_BUNDLE][10] = {LEFT_OUT, "previous_bundle_end_timestamp"},
	[MESSAGE_BUNDLE][11] = {MESSAGE_GENERIC_DESCRIPTOR, "generic_event_descriptors"},
	[MESSAGE_COMPACT_SCHED][1] = {FIELD_READ, "switch_timestamp"},
	[MESSAGE_COMPACT_SCHED][2] = {FIELD_READ, "switch_prev_state"},
	[MESSAGE_COMPACT_SCHED][3] = {FIELD_READ, "switch_next_pid"},
	[MESSAGE_COMPACT_SCHED][4] = {FIELD_READ, "switch_next_prio"},
	[MESSAGE_COMPACT_SCHED][5] = {FIELD_READ, "intern_table"},
	[MESSAGE_COMPACT_SCHED][6] = {FIELD_READ, "switch_next_comm_index"},
	[MESSAGE_COMPACT_SCHED][7] = {FIELD_READ, "waking_timestamp"},
	[MESSAGE_COMPACT_SCHED][8] = {FIELD_READ, "waking_pid"},
	[MESSAGE_COMPACT_SCHED][9] = {FIELD_READ, "waking_target_cpu"},
	[MESSAGE_COMPACT_SCHED][10] = {FIELD_READ, "waking_prio"},
	[MESSAGE_COMPACT_SCHED][11] = {FIELD_READ, "waking_comm_index"},
	[MESSAGE_COMPACT_SCHED][12] = {LEFT_OUT, "waking_common_flags"},
	[MESSAGE_GENERIC_DESCRIPTOR][1] = {FIELD_READ, "field_id"},
	[MESSAGE_GENERIC_DESCRIPTOR][2] = {FIELD_READ, "event_descriptor"},
	[MESSAGE_GENERIC_DESCRIPTOR][3] = {FIELD_READ, "group_name"},
	[MESSAGE_FTRACE_EVENT][1] = {FIELD_READ, "timestamp"},
	[MESSAGE_FTRACE_EVENT][2] = {FIELD_READ, "pid"},
	[MESSAGE_FTRACE_EVENT][5] = {LEFT_OUT, "common_flags"},
	[MESSAGE_GRAPH_ENTRY][1] = {FIELD_READ, "depth"},
	[MESSAGE_GRAPH_ENTRY][2] = {FIELD_READ, "func"},
	[MESSAGE_GRAPH_EXIT][1] = {LEFT_OUT, "calltime"},
	[MESSAGE_GRAPH_EXIT][2] = {FIELD_READ, "depth"},
	[MESSAGE_GRAPH_EXIT][3] = {FIELD_READ, "func"},
	[MESSAGE_GRAPH_EXIT][4] = {LEFT_OUT, "overrun"},
	[MESSAGE_GRAPH_EXIT][5] = {LEFT_OUT, "rettime"},
	[MESSAGE_TREE][1] = {MESSAGE_TREE_PROCESS, "processes"},
	[MESSAGE_TREE][2] = {MESSAGE_TREE_THREAD, "threads"},
	[MESSAGE_TREE][3] = {LEFT_OUT, "collection_end_timestamp"},
	[MESSAGE_TREE_PROCESS][1] = {FIELD_READ, "pid"},
	[MESSAGE_TREE_PROCESS][2] = {LEFT_OUT, "ppid"},
	[MESSAGE_TREE_PROCESS][3] = {FIELD_READ, "cmdline"},
	[MESSAGE_TREE_PROCESS][5] = {LEFT_OUT, "uid"},
	[MESSAGE_TREE_PROCESS][6] = {LEFT_OUT, "nspid"},
	[MESSAGE_TREE_PROCESS][7] = {LEFT_OUT, "process_start_from_boot"},
	[MESSAGE_TREE_PROCESS][8] = {LEFT_OUT, "is_kthread"},
	[MESSAGE_TREE_PROCESS][9] = {LEFT_OUT, "cmdline_is_comm"},
	[MESSAGE_TREE_THREAD][1] = {FIELD_READ, "tid"},
	[MESSAGE_TREE_THREAD][2] = {FIELD_READ, "name"},
	[MESSAGE_TREE_THREAD][3] = {FIELD_READ, "tgid"},
	[MESSAGE_TREE_THREAD][4] = {LEFT_OUT, "nstid"},
	[MESSAGE_CLOCK_SNAPSHOT][1] = {MESSAGE_CLOCK, "clocks"},
	[MESSAGE_CLOCK_SNAPSHOT][2] = {FIELD_READ, "primary_trace_clock"},
	[MESSAGE_CLOCK][1] = {FIELD_READ, "clock_id"},
	[MESSAGE_CLOCK][2] = {FIELD_READ, "timestamp"},
	[MESSAGE_CLOCK][3] = {FIELD_READ, "is_incremental"},
	[MESSAGE_CLOCK][4] = {FIELD_READ, "unit_multiplier_ns"},
	[MESSAGE_SYS_STATS][1] = {MESSAGE_MEMINFO, "meminfo"},
	[MESSAGE_SYS_STATS][2] = {MESSAGE_VMSTAT, "vmstat"},
	[MESSAGE_SYS_STATS][3] = {MESSAGE_CPU_TIMES, "cpu_stat"},
	[MESSAGE_SYS_STATS][4] = {FIELD_READ, "num_forks"},
	[MESSAGE_SYS_STATS][5] = {FIELD_READ, "num_irq_total"},
	[MESSAGE_SYS_STATS][6] = {MESSAGE_INTERRUPT, "num_irq"},
	[MESSAGE_SYS_STATS][7] = {FIELD_READ, "num_softirq_total"},
	[MESSAGE_SYS_STATS][8] = {MESSAGE_INTERRUPT, "num_softirq"},
	[MESSAGE_SYS_STATS][9] = {LEFT_OUT, "collection_end_timestamp"},
	[MESSAGE_SYS_STATS][10] = {MESSAGE_DEVFREQ, "devfreq"},
	[MESSAGE_SYS_STATS][11] = {FIELD_READ, "cpufreq_khz"},
	[MESSAGE_SYS_STATS][12] = {MESSAGE_BUDDY, "buddy_info"},
	[MESSAGE_SYS_STATS][13] = {MESSAGE_DISK, "disk_stat"},
	[MESSAGE_SYS_STATS][14] = {MESSAGE_PSI, "psi"},
	[MESSAGE_SYS_STATS][15] = {MESSAGE_THERMAL, "thermal_zone"},
	[MESSAGE_SYS_STATS][16] = {MESSAGE_CPUIDLE, "cpuidle_state"},
	[MESSAGE_SYS_STATS][17] = {FIELD_READ, "gpufreq_mhz"},
	[MESSAGE_SYS_STATS][18] = {MESSAGE_SLAB, "slab_info"},
	[MESSAGE_MEMINFO][1] = {FIELD_READ, "key"},
	[MESSAGE_MEMINFO][2] = {FIELD_READ, "value"},
	[MESSAGE_VMSTAT][1] = {FIELD_READ, "key"},
	[MESSAGE_VMSTAT][2] = {FIELD_READ, "value"},
	[MESSAGE_CPU_TIMES][1] = {FIELD_READ, "cpu_id"},
	[MESSAGE_CPU_TIMES][2] = {FIELD_READ, "user_ns"},
	[MESSAGE_CPU_TIMES][3] = {FIELD_READ, "user_nice_ns"},
	[MESSAGE_CPU_TIMES][4] = {FIELD_READ, "system_mode_ns"},
	[MESSAGE_CPU_TIMES][5] = {FIELD_READ, "idle_ns"},
	[MESSAGE_CPU_TIMES][6] = {FIELD_READ, "io_wait_ns"},
	[MESSAGE_CPU_TIMES][7] = {FIELD_READ, "irq_ns"},
	[MESSAGE_CPU_TIMES][8] = {FIELD_READ, "softirq_ns"},
	[MESSAGE_CPU_TIMES][9] = {FIELD_READ, "steal_ns"},
	[MESSAGE_INTERRUPT][1] = {FIELD_READ, "irq"},
	[MESSAGE_INTERRUPT][2] = {FIELD_READ, "count"},
	[MESSAGE_DEVFREQ][1] = {FIELD_READ, "key"},
	[MESSAGE_DEVFREQ][2] = {FIELD_READ, "value"},
	[MESSAGE_BUDDY][1] = {FIELD_READ, "node"},
	[MESSAGE_BUDDY][2] = {FIELD_READ, "zone"},
	[MESSAGE_BUDDY][3] = {FIELD_READ, "order_pages"},
	[MESSAGE_DISK][1] = {FIELD_READ, "device_name"},
	[MESSAGE_DISK][2] = {FIELD_READ, "read_sectors"},
	[MESSAGE_DISK][3] = {FIELD_READ, "read_time_ms"},
	[MESSAGE_DISK][4] = {FIELD_READ, "write_sectors"},
	[MESSAGE_DISK][5] = {FIELD_READ, "write_time_ms"},
	[MESSAGE_DISK][6] = {FIELD_READ, "discard_sectors"},
	[MESSAGE_DISK][7] = {FIELD_READ, "discard_time_ms"},
	[MESSAGE_DISK][8] = {FIELD_READ, "flush_count"},
	[MESSAGE_DISK][9] = {FIELD_READ, "flush_time_ms"},
	[MESSAGE_PSI][1] = {FIELD_READ, "resource"},
	[MESSAGE_PSI][2] = {FIELD_READ, "total_ns"},
	[MESSAGE_THERMAL][1] = {FIELD_READ, "name"},
	[MESSAGE_THERMAL][2] = {FIELD_READ, "temp"},
	[MESSAGE_THERMAL][3] = {FIELD_READ, "type"},
	[MESSAGE_CPUIDLE][1] = {FIELD_READ, "cpu_id"},
	[MESSAGE_CPUIDLE][2] = {MESSAGE_CPUIDLE_ENTRY, "cpuidle_state_entry"},
	[MESSAGE_CPUIDLE_ENTRY][1] = {FIELD_READ, "state"},
	[MESSAGE_CPUIDLE_ENTRY][2] = {FIELD_READ, "duration_us"},
	[MESSAGE_SLAB][1] = {FIELD_READ, "name"},
	[MESSAGE_SLAB][2] = {FIELD_READ, "pages_per_slab"},
	[MESSAGE_SLAB][3] = {FIELD_READ, "num_slabs"},
	[MESSAGE_PROCESS_STATS][1] = {MESSAGE_PROCESS, "processes"},
	[MESSAGE_PROCESS_STATS][2] = {LEFT_OUT, "collection_end_timestamp"},
	[MESSAGE_PROCESS][1] = {FIELD_READ, "pid"},
	[MESSAGE_PROCESS][2] = {FIELD_READ, "vm_size_kb"},
	[MESSAGE_PROCESS][3] = {FIELD_READ, "vm_rss_kb"},
	[MESSAGE_PROCESS][4] = {FIELD_READ, "rss_anon_kb"},
	[MESSAGE_PROCESS][5] = {FIELD_READ, "rss_file_kb"},
	[MESSAGE_PROCESS][6] = {FIELD_READ, "rss_shmem_kb"},
	[MESSAGE_PROCESS][7] = {FIELD_READ, "vm_swap_kb"},
	[MESSAGE_PROCESS][8] = {FIELD_READ, "vm_locked_kb"},
	[MESSAGE_PROCESS][9] = {FIELD_READ, "vm_hwm_kb"},
	[MESSAGE_PROCESS][10] = {FIELD_READ, "oom_score_adj"},
	[MESSAGE_PROCESS][11] = {LEFT_OUT, "threads"},
	[MESSAGE_PROCESS][12] = {FIELD_READ, "is_peak_rss_resettable"},
	[MESSAGE_PROCESS][13] = {FIELD_READ, "chrome_private_footprint_kb"},
	[MESSAGE_PROCESS][14] = {FIELD_READ, "chrome_peak_resident_set_kb"},
	[MESSAGE_PROCESS][15] = {LEFT_OUT, "fds"},
	[MESSAGE_PROCESS][16] = {FIELD_READ, "smr_rss_kb"},
	[MESSAGE_PROCESS][17] = {FIELD_READ, "smr_pss_kb"},
	[MESSAGE_PROCESS][18] = {FIELD_READ, "smr_pss_anon_kb"},
	[MESSAGE_PROCESS][19] = {FIELD_READ, "smr_pss_file_kb"},
	[MESSAGE_PROCESS][20] = {FIELD_READ, "smr_pss_shmem_kb"},
	[MESSAGE_PROCESS][21] = {FIELD_READ, "runtime_user_mode"},
	[MESSAGE_PROCESS][22] = {FIELD_READ, "runtime_kernel_mode"},
	[MESSAGE_PROCESS][23] = {FIELD_READ, "smr_swap_pss_kb"},
	[MESSAGE_PROCESS][24] = {FIELD_READ, "dmabuf_rss_kb"},
	[MESSAGE_TRACK_EVENT][12] = {FIELD_READ, "extra_counter_values"},
	[MESSAGE_TRACK_EVENT][30] = {FIELD_READ, "counter_value"},
	[MESSAGE_TRACK_EVENT][31] = {FIELD_READ, "extra_counter_track_uuids"},
	[MESSAGE_TRACK_EVENT][36] = {FIELD_READ, "flow_ids_old"},
	[MESSAGE_TRACK_EVENT][42] = {FIELD_READ, "terminating_flow_ids_old"},
	[MESSAGE_TRACK_EVENT][44] = {FIELD_READ, "double_counter_value"},
	[MESSAGE_TRACK_EVENT][45] = {FIELD_READ, "extra_double_counter_track_uuids"},
	[MESSAGE_TRACK_EVENT][46] = {FIELD_READ, "extra_double_counter_values"},
	[MESSAGE_TRACK_EVENT][47] = {FIELD_READ, "flow_ids"},
	[MESSAGE_TRACK_EVENT][48] = {FIELD_READ, "terminating_flow_ids"},
	[MESSAGE_LEGACY_EVENT][1] = {FIELD_READ, "name_iid"},
	[MESSAGE_LEGACY_EVENT][2] = {FIELD_READ, "phase"},
	[MESSAGE_LEGACY_EVENT][3] = {FIELD_READ, "duration_us"},
	[MESSAGE_LEGACY_EVENT][4] = {LEFT_OUT, "thread_duration_us"},
	[MESSAGE_LEGACY_EVENT][6] = {FIELD_READ, "unscoped_id"},
	[MESSAGE_LEGACY_EVENT][7] = {FIELD_READ, "id_scope"},
	[MESSAGE_LEGACY_EVENT][8] = {FIELD_READ, "bind_id"},
	[MESSAGE_LEGACY_EVENT][9] = {LEFT_OUT, "use_async_tts"},
	[MESSAGE_LEGACY_EVENT][10] = {FIELD_READ, "local_id"},
	[MESSAGE_LEGACY_EVENT][11] = {FIELD_READ, "global_id"},
	[MESSAGE_LEGACY_EVENT][12] = {LEFT_OUT, "bind_to_enclosing"},
	[MESSAGE_LEGACY_EVENT][13] = {FIELD_READ, "flow_direction"},
	[MESSAGE_LEGACY_EVENT][14] = {FIELD_READ, "instant_event_scope"},
	[MESSAGE_LEGACY_EVENT][15] = {LEFT_OUT, "thread_instruction_delta"},
	[MESSAGE_LEGACY_EVENT][18] = {FIELD_READ, "pid_override"},
	[MESSAGE_LEGACY_EVENT][19] = {FIELD_READ, "tid_override"},
	[MESSAGE_ANNOTATION][1] = {FIELD_READ, "name_iid"},
	[MESSAGE_ANNOTATION][2] = {FIELD_READ, "bool_value"},
	[MESSAGE_ANNOTATION][3] = {FIELD_READ, "uint_value"},
	[MESSAGE_ANNOTATION][4] = {FIELD_READ, "int_value"},
	[MESSAGE_ANNOTATION][5] = {FIELD_READ, "double_value"},
	[MESSAGE_ANNOTATION][6] = {FIELD_READ, "string_value"},
	[MESSAGE_ANNOTATION][7] = {FIELD_READ, "pointer_value"},
	[MESSAGE_ANNOTATION][8] = {FIELD_READ, "nested_value"},
	[MESSAGE_ANNOTATION][9] = {FIELD_READ, "legacy_json_value"},
	[MESSAGE_ANNOTATION][10] = {FIELD_READ, "name"},
	[MESSAGE_ANNOTATION][11] = {MESSAGE_ANNOTATION, "dict_entries"},
	[MESSAGE_ANNOTATION][12] = {MESSAGE_ANNOTATION, "array_values"},
	[MESSAGE_ANNOTATION][13] = {LEFT_OUT, "proto_type_name_iid"},
	[MESSAGE_ANNOTATION][14] = {FIELD_READ, "proto_value"},
	[MESSAGE_ANNOTATION][16] = {LEFT_OUT, "proto_type_name"},
	[MESSAGE_ANNOTATION][17] = {FIELD_READ, "string_value_iid"},
	[MESSAGE_INTERNED][1] = {MESSAGE_INTERNED_STRING, "event_categories"},
	[MESSAGE_INTERNED][2] = {MESSAGE_INTERNED_STRING, "event_names"},
	[MESSAGE_INTERNED][3] = {MESSAGE_INTERNED_STRING, "debug_annotation_names"},
	[MESSAGE_INTERNED][4] = {MESSAGE_SOURCE_LOCATION, "source_locations"},
	[MESSAGE_INTERNED][5] = {MESSAGE_INTERNED_STRING, "function_names"},
	[MESSAGE_INTERNED][6] = {MESSAGE_FRAME, "frames"},
	[MESSAGE_INTERNED][7] = {MESSAGE_CALLSTACK, "callstacks"},
	[MESSAGE_INTERNED][16] = {MESSAGE_INTERNED_STRING, "build_ids"},
	[MESSAGE_INTERNED][17] = {MESSAGE_INTERNED_STRING, "mapping_paths"},
	[MESSAGE_INTERNED][18] = {MESSAGE_INTERNED_STRING, "source_paths"},
	[MESSAGE_INTERNED][19] = {MESSAGE_MAPPING, "mappings"},
	[MESSAGE_INTERNED][20] = {MESSAGE_INTERNED_STRING, "log_message_body"},
	[MESSAGE_INTERNED][22] = {LEFT_OUT, "vulkan_memory_keys"},
	[MESSAGE_INTERNED][23] = {LEFT_OUT, "graphics_contexts"},
	[MESSAGE_INTERNED][24] = {LEFT_OUT, "gpu_specifications"},
	[MESSAGE_INTERNED][25] = {LEFT_OUT, "histogram_names"},
	[MESSAGE_INTERNED][26] = {MESSAGE_INTERNED_STRING, "kernel_symbols"},
	[MESSAGE_INTERNED][27] = {LEFT_OUT, "debug_annotation_value_type_names"},
	[MESSAGE_INTERNED][28] = {LEFT_OUT, "unsymbolized_source_locations"},
	[MESSAGE_INTERNED][29] = {MESSAGE_INTERNED_STRING, "debug_annotation_string_values"},
	[MESSAGE_INTERNED][31] = {LEFT_OUT, "v8_js_function_name"},
	[MESSAGE_INTERNED][32] = {LEFT_OUT, "v8_js_function"},
	[MESSAGE_INTERNED][33] = {LEFT_OUT, "v8_js_script"},
	[MESSAGE_INTERNED][34] = {LEFT_OUT, "v8_wasm_script"},
	[MESSAGE_INTERNED][35] = {LEFT_OUT, "v8_isolate"},
	[MESSAGE_INTERNED][43] = {MESSAGE_INTERNED_STRING, "correlation_id_str"},
	[MESSAGE_INTERNED][47] = {LEFT_OUT, "gpu_counter_descriptors"},
	[MESSAGE_INTERNED][48] = {LEFT_OUT, "stack_sample_task_contexts"},
	[MESSAGE_INTERNED][49] = {LEFT_OUT, "stack_sample_execution_contexts"},
	[MESSAGE_INTERNED][50] = {LEFT_OUT, "stack_sample_counter_descriptors"},
	[MESSAGE_INTERNED][51] = {LEFT_OUT, "stack_sample_async_context_descriptors"},
	[MESSAGE_INTERNED_STRING][1] = {FIELD_READ, "iid"},
	[MESSAGE_INTERNED_STRING][2] = {FIELD_READ, "str"},
	[MESSAGE_SOURCE_LOCATION][1] = {FIELD_READ, "iid"},
	[MESSAGE_SOURCE_LOCATION][2] = {FIELD_READ, "file_name"},
	[MESSAGE_SOURCE_LOCATION][3] = {FIELD_READ, "function_name"},
	[MESSAGE_SOURCE_LOCATION][4] = {FIELD_READ, "line_number"},
	[MESSAGE_FRAME][1] = {FIELD_READ, "iid"},
	[MESSAGE_FRAME][2] = {FIELD_READ, "function_name_id"},
	[MESSAGE_FRAME][3] = {FIELD_READ, "mapping_id"},
	[MESSAGE_FRAME][4] = {FIELD_READ, "rel_pc"},
	[MESSAGE_FRAME][5] = {FIELD_READ, "source_path_iid"},
	[MESSAGE_FRAME][6] = {FIELD_READ, "line_number"},
	[MESSAGE_FRAME][7] = {LEFT_OUT, "kind"},
	[MESSAGE_FRAME][8] = {LEFT_OUT, "kind_str"},
	[MESSAGE_CALLSTACK][1] = {FIELD_READ, "iid"},
	[MESSAGE_CALLSTACK][2] = {FIELD_READ, "frame_ids"},
	[MESSAGE_MAPPING][1] = {FIELD_READ, "iid"},
	[MESSAGE_MAPPING][2] = {FIELD_READ, "build_id"},
	[MESSAGE_MAPPING][3] = {LEFT_OUT, "start_offset"},
	[MESSAGE_MAPPING][4] = {LEFT_OUT, "start"},
	[MESSAGE_MAPPING][5] = {LEFT_OUT, "end"},
	[MESSAGE_MAPPING][6] = {FIELD_READ, "load_bias"},
	[MESSAGE_MAPPING][7] = {FIELD_READ, "path_string_ids"},
	[MESSAGE_MAPPING][8] = {LEFT_OUT, "exact_offset"},
	[MESSAGE_TRACE_CONFIG][1] = {LEFT_OUT, "buffers"},
	[MESSAGE_TRACE_CONFIG][2] = {LEFT_OUT, "data_sources"},
	[MESSAGE_TRACE_CONFIG][3] = {LEFT_OUT, "duration_ms"},
	[MESSAGE_TRACE_CONFIG][4] = {LEFT_OUT, "enable_extra_guardrails"},
	[MESSAGE_TRACE_CONFIG][5] = {LEFT_OUT, "lockdown_mode"},
	[MESSAGE_TRACE_CONFIG][6] = {LEFT_OUT, "producers"},
	[MESSAGE_TRACE_CONFIG][7] = {LEFT_OUT, "statsd_metadata"},
	[MESSAGE_TRACE_CONFIG][8] = {LEFT_OUT, "write_into_file"},
	[MESSAGE_TRACE_CONFIG][9] = {LEFT_OUT, "file_write_period_ms"},
	[MESSAGE_TRACE_CONFIG][10] = {LEFT_OUT, "max_file_size_bytes"},
	[MESSAGE_TRACE_CONFIG][11] = {LEFT_OUT, "guardrail_overrides"},
	[MESSAGE_TRACE_CONFIG][12] = {LEFT_OUT, "deferred_start"},
	[MESSAGE_TRACE_CONFIG][13] = {LEFT_OUT, "flush_period_ms"},
	[MESSAGE_TRACE_CONFIG][14] = {LEFT_OUT, "flush_timeout_ms"},
	[MESSAGE_TRACE_CONFIG][16] = {LEFT_OUT, "notify_traceur"},
	[MESSAGE_TRACE_CONFIG][17] = {LEFT_OUT, "trigger_config"},
	[MESSAGE_TRACE_CONFIG][18] = {LEFT_OUT, "activate_triggers"},
	[MESSAGE_TRACE_CONFIG][19] = {LEFT_OUT, "allow_user_build_tracing"},
	[MESSAGE_TRACE_CONFIG][20] = {LEFT_OUT, "builtin_data_sources"},
	[MESSAGE_TRACE_CONFIG][21] = {LEFT_OUT, "incremental_state_config"},
	[MESSAGE_TRACE_CONFIG][22] = {FIELD_READ, "unique_session_name"},
	[MESSAGE_TRACE_CONFIG][23] = {LEFT_OUT, "data_source_stop_timeout_ms"},
	[MESSAGE_TRACE_CONFIG][24] = {LEFT_OUT, "compression_type"},
	[MESSAGE_TRACE_CONFIG][25] = {LEFT_OUT, "incident_report_config"},
	[MESSAGE_TRACE_CONFIG][27] = {LEFT_OUT, "trace_uuid_msb"},
	[MESSAGE_TRACE_CONFIG][28] = {LEFT_OUT, "trace_uuid_lsb"},
	[MESSAGE_TRACE_CONFIG][29] = {LEFT_OUT, "output_path"},
	[MESSAGE_TRACE_CONFIG][30] = {LEFT_OUT, "bugreport_score"},
	[MESSAGE_TRACE_CONFIG][31] = {LEFT_OUT, "statsd_logging"},
	[MESSAGE_TRACE_CONFIG][33] = {LEFT_OUT, "trace_filter"},
	[MESSAGE_TRACE_CONFIG][34] = {LEFT_OUT, "android_report_config"},
	[MESSAGE_TRACE_CONFIG][35] = {LEFT_OUT, "cmd_trace_start_delay"},
	[MESSAGE_TRACE_CONFIG][36] = {LEFT_OUT, "prefer_suspend_clock_for_duration"},
	[MESSAGE_TRACE_CONFIG][38] = {LEFT_OUT, "bugreport_filename"},
	[MESSAGE_TRACE_CONFIG][39] = {LEFT_OUT, "session_semaphores"},
	[MESSAGE_TRACE_CONFIG][40] = {LEFT_OUT, "priority_boost"},
	[MESSAGE_TRACE_CONFIG][41] = {LEFT_OUT, "exclusive_prio"},
	[MESSAGE_TRACE_CONFIG][43] = {LEFT_OUT, "trace_all_machines"},
	[MESSAGE_TRACE_CONFIG][44] = {LEFT_OUT, "write_flush_mode"},
	[MESSAGE_TRACE_CONFIG][45] = {LEFT_OUT, "fflush_post_write"},
	[MESSAGE_TRACE_CONFIG][47] = {LEFT_OUT, "compression"},
	[MESSAGE_TRACE_CONFIG][48] = {LEFT_OUT, "trace_attributes"},
	[MESSAGE_TRACE_STATS][1] = {MESSAGE_BUFFER_STATS, "buffer_stats"},
	[MESSAGE_TRACE_STATS][2] = {LEFT_OUT, "producers_connected"},
	[MESSAGE_TRACE_STATS][3] = {LEFT_OUT, "producers_seen"},
	[MESSAGE_TRACE_STATS][4] = {LEFT_OUT, "data_sources_registered"},
	[MESSAGE_TRACE_STATS][5] = {LEFT_OUT, "data_sources_seen"},
	[MESSAGE_TRACE_STATS][6] = {LEFT_OUT, "tracing_sessions"},
	[MESSAGE_TRACE_STATS][7] = {LEFT_OUT, "total_buffers"},
	[MESSAGE_TRACE_STATS][8] = {LEFT_OUT, "chunks_discarded"},
	[MESSAGE_TRACE_STATS][9] = {LEFT_OUT, "patches_discarded"},
	[MESSAGE_TRACE_STATS][10] = {LEFT_OUT, "invalid_packets"},
	[MESSAGE_TRACE_STATS][11] = {LEFT_OUT, "filter_stats"},
	[MESSAGE_TRACE_STATS][12] = {LEFT_OUT, "flushes_requested"},
	[MESSAGE_TRACE_STATS][13] = {LEFT_OUT, "flushes_succeeded"},
	[MESSAGE_TRACE_STATS][14] = {LEFT_OUT, "flushes_failed"},
	[MESSAGE_TRACE_STATS][15] = {LEFT_OUT, "final_flush_outcome"},
	[MESSAGE_TRACE_STATS][17] = {LEFT_OUT, "chunk_payload_histogram_def"},
	[MESSAGE_TRACE_STATS][18] = {LEFT_OUT, "writer_stats"},
	[MESSAGE_BUFFER_STATS][1] = {LEFT_OUT, "bytes_written"},
	[MESSAGE_BUFFER_STATS][2] = {LEFT_OUT, "chunks_written"},
	[MESSAGE_BUFFER_STATS][3] = {FIELD_READ, "chunks_overwritten"},
	[MESSAGE_BUFFER_STATS][4] = {LEFT_OUT, "write_wrap_count"},
	[MESSAGE_BUFFER_STATS][5] = {LEFT_OUT, "patches_succeeded"},
	[MESSAGE_BUFFER_STATS][6] = {LEFT_OUT, "patches_failed"},
	[MESSAGE_BUFFER_STATS][7] = {LEFT_OUT, "readaheads_succeeded"},
	[MESSAGE_BUFFER_STATS][8] = {LEFT_OUT, "readaheads_failed"},
	[MESSAGE_BUFFER_STATS][9] = {LEFT_OUT, "abi_violations"},
	[MESSAGE_BUFFER_STATS][10] = {LEFT_OUT, "chunks_rewritten"},
	[MESSAGE_BUFFER_STATS][11] = {LEFT_OUT, "chunks_committed_out_of_order"},
	[MESSAGE_BUFFER_STATS][12] = {LEFT_OUT, "buffer_size"},
	[MESSAGE_BUFFER_STATS][13] = {LEFT_OUT, "bytes_overwritten"},
	[MESSAGE_BUFFER_STATS][14] = {LEFT_OUT, "bytes_read"},
	[MESSAGE_BUFFER_STATS][15] = {LEFT_OUT, "padding_bytes_written"},
	[MESSAGE_BUFFER_STATS][16] = {LEFT_OUT, "padding_bytes_cleared"},
	[MESSAGE_BUFFER_STATS][17] = {LEFT_OUT, "chunks_read"},
	[MESSAGE_BUFFER_STATS][18] = {LEFT_OUT, "chunks_discarded"},
	[MESSAGE_BUFFER_STATS][19] = {FIELD_READ, "trace_writer_packet_loss"},
	[MESSAGE_BUFFER_STATS][20] = {LEFT_OUT, "chunks_relocated"},
	[MESSAGE_PROFILE][1] = {MESSAGE_INTERNED_STRING, "strings"},
	[MESSAGE_PROFILE][2] = {MESSAGE_FRAME, "frames"},
	[MESSAGE_PROFILE][3] = {MESSAGE_CALLSTACK, "callstacks"},
	[MESSAGE_PROFILE][4] = {MESSAGE_MAPPING, "mappings"},
	[MESSAGE_PROFILE][5] = {MESSAGE_HEAP_SAMPLES, "process_dumps"},
	[MESSAGE_PROFILE][6] = {LEFT_OUT, "continued"},
	[MESSAGE_PROFILE][7] = {LEFT_OUT, "index"},
	[MESSAGE_HEAP_SAMPLES][1] = {FIELD_READ, "pid"},
	[MESSAGE_HEAP_SAMPLES][2] = {MESSAGE_HEAP_SAMPLE, "samples"},
	[MESSAGE_HEAP_SAMPLES][3] = {LEFT_OUT, "from_startup"},
	[MESSAGE_HEAP_SAMPLES][4] = {FIELD_READ, "rejected_concurrent"},
	[MESSAGE_HEAP_SAMPLES][5] = {LEFT_OUT, "stats"},
	[MESSAGE_HEAP_SAMPLES][6] = {LEFT_OUT, "disconnected"},
	[MESSAGE_HEAP_SAMPLES][7] = {FIELD_READ, "buffer_overran"},
	[MESSAGE_HEAP_SAMPLES][8] = {LEFT_OUT, "buffer_corrupted"},
	[MESSAGE_HEAP_SAMPLES][9] = {FIELD_READ, "timestamp"},
	[MESSAGE_HEAP_SAMPLES][10] = {LEFT_OUT, "hit_guardrail"},
	[MESSAGE_HEAP_SAMPLES][11] = {FIELD_READ, "heap_name"},
	[MESSAGE_HEAP_SAMPLES][12] = {LEFT_OUT, "sampling_interval_bytes"},
	[MESSAGE_HEAP_SAMPLES][13] = {LEFT_OUT, "orig_sampling_interval_bytes"},
	[MESSAGE_HEAP_SAMPLES][14] = {LEFT_OUT, "client_error"},
	[MESSAGE_HEAP_SAMPLES][15] = {LEFT_OUT, "start_timestamp"},
	[MESSAGE_HEAP_SAMPLE][1] = {FIELD_READ, "callstack_id"},
	[MESSAGE_HEAP_SAMPLE][2] = {FIELD_READ, "self_allocated"},
	[MESSAGE_HEAP_SAMPLE][3] = {FIELD_READ, "self_freed"},
	[MESSAGE_HEAP_SAMPLE][4] = {LEFT_OUT, "timestamp"},
	[MESSAGE_HEAP_SAMPLE][5] = {FIELD_READ, "alloc_count"},
	[MESSAGE_HEAP_SAMPLE][6] = {FIELD_READ, "free_count"},
	[MESSAGE_HEAP_SAMPLE][8] = {FIELD_READ, "self_max"},
	[MESSAGE_HEAP_SAMPLE][9] = {FIELD_READ, "self_max_count"},
	[MESSAGE_LOG][1] = {MESSAGE_LOG_EVENT, "events"},
	[MESSAGE_LOG][2] = {LEFT_OUT, "stats"},
	[MESSAGE_LOG_EVENT][1] = {FIELD_READ, "log_id"},
	[MESSAGE_LOG_EVENT][2] = {FIELD_READ, "pid"},
	[MESSAGE_LOG_EVENT][3] = {FIELD_READ, "tid"},
	[MESSAGE_LOG_EVENT][4] = {FIELD_READ, "uid"},
	[MESSAGE_LOG_EVENT][5] = {FIELD_READ, "timestamp"},
	[MESSAGE_LOG_EVENT][6] = {FIELD_READ, "tag"},
	[MESSAGE_LOG_EVENT][7] = {FIELD_READ, "prio"},
	[MESSAGE_LOG_EVENT][8] = {FIELD_READ, "message"},
	[MESSAGE_LOG_EVENT][9] = {LEFT_OUT, "args"},
	[MESSAGE_PROCESS_DESCRIPTOR][1] = {FIELD_READ, "pid"},
	[MESSAGE_PROCESS_DESCRIPTOR][2] = {FIELD_READ, "cmdline"},
	[MESSAGE_PROCESS_DESCRIPTOR][3] = {LEFT_OUT, "legacy_sort_index"},
	[MESSAGE_PROCESS_DESCRIPTOR][4] = {LEFT_OUT, "chrome_process_type"},
	[MESSAGE_PROCESS_DESCRIPTOR][5] = {LEFT_OUT, "process_priority"},
	[MESSAGE_PROCESS_DESCRIPTOR][6] = {FIELD_READ, "process_name"},
	[MESSAGE_PROCESS_DESCRIPTOR][7] = {LEFT_OUT, "start_timestamp_ns"},
	[MESSAGE_PROCESS_DESCRIPTOR][8] = {LEFT_OUT, "process_labels"},
	[MESSAGE_THREAD_DESCRIPTOR][1] = {FIELD_READ, "pid"},
	[MESSAGE_THREAD_DESCRIPTOR][2] = {FIELD_READ, "tid"},
	[MESSAGE_THREAD_DESCRIPTOR][3] = {LEFT_OUT, "legacy_sort_index"},
	[MESSAGE_THREAD_DESCRIPTOR][4] = {LEFT_OUT, "chrome_thread_type"},
	[MESSAGE_THREAD_DESCRIPTOR][5] = {FIELD_READ, "thread_name"},
	[MESSAGE_THREAD_DESCRIPTOR][6] = {FIELD_READ, "reference_timestamp_us"},
	[MESSAGE_THREAD_DESCRIPTOR][7] = {FIELD_READ, "reference_thread_time_us"},
	[MESSAGE_THREAD_DESCRIPTOR][8] = {LEFT_OUT, "reference_thread_instruction_count"},
	[MESSAGE_PACKAGES][1] = {MESSAGE_PACKAGE, "packages"},
	[MESSAGE_PACKAGES][2] = {LEFT_OUT, "parse_error"},
	[MESSAGE_PACKAGES][3] = {LEFT_OUT, "read_error"},
	[MESSAGE_PACKAGE][1] = {FIELD_READ, "name"},
	[MESSAGE_PACKAGE][2] = {FIELD_READ, "uid"},
	[MESSAGE_PACKAGE][3] = {LEFT_OUT, "debuggable"},
	[MESSAGE_PACKAGE][4] = {LEFT_OUT, "profileable_from_shell"},
	[MESSAGE_PACKAGE][5] = {FIELD_READ, "version_code"},
	[MESSAGE_STREAMING_PROFILE][1] = {FIELD_READ, "callstack_iid"},
	[MESSAGE_STREAMING_PROFILE][2] = {FIELD_READ, "timestamp_delta_us"},
	[MESSAGE_STREAMING_PROFILE][3] = {LEFT_OUT, "process_priority"},
	[MESSAGE_DEFAULTS][11] = {MESSAGE_EVENT_DEFAULTS, "track_event_defaults"},
	[MESSAGE_DEFAULTS][12] = {MESSAGE_SAMPLE_DEFAULTS, "perf_sample_defaults"},
	[MESSAGE_DEFAULTS][58] = {FIELD_READ, "timestamp_clock_id"},
	[MESSAGE_EVENT_DEFAULTS][11] = {FIELD_READ, "track_uuid"},
	[MESSAGE_EVENT_DEFAULTS][31] = {FIELD_READ, "extra_counter_track_uuids"},
	[MESSAGE_EVENT_DEFAULTS][45] = {FIELD_READ, "extra_double_counter_track_uuids"},
	[MESSAGE_SAMPLE_DEFAULTS][1] = {MESSAGE_TIMEBASE, "timebase"},
	[MESSAGE_SAMPLE_DEFAULTS][2] = {LEFT_OUT, "process_shard_count"},
	[MESSAGE_SAMPLE_DEFAULTS][3] = {LEFT_OUT, "chosen_process_shard"},
	[MESSAGE_SAMPLE_DEFAULTS][4] = {MESSAGE_FOLLOWER, "followers"},
	[MESSAGE_TIMEBASE][1] = {FIELD_READ, "period"},
	[MESSAGE_TIMEBASE][2] = {LEFT_OUT, "frequency"},
	[MESSAGE_TIMEBASE][3] = {MESSAGE_TRACEPOINT, "tracepoint"},
	[MESSAGE_TIMEBASE][4] = {FIELD_READ, "counter"},
	[MESSAGE_TIMEBASE][5] = {LEFT_OUT, "raw_event"},
	[MESSAGE_TIMEBASE][6] = {LEFT_OUT, "poll_period_ms"},
	[MESSAGE_TIMEBASE][10] = {FIELD_READ, "name"},
	[MESSAGE_TIMEBASE][11] = {LEFT_OUT, "timestamp_clock"},
	[MESSAGE_TIMEBASE][12] = {LEFT_OUT, "modifiers"},
	[MESSAGE_TRACEPOINT][1] = {FIELD_READ, "name"},
	[MESSAGE_TRACEPOINT][2] = {LEFT_OUT, "filter"},
	[MESSAGE_FOLLOWER][1] = {FIELD_READ, "counter"},
	[MESSAGE_FOLLOWER][2] = {MESSAGE_TRACEPOINT, "tracepoint"},
	[MESSAGE_FOLLOWER][3] = {LEFT_OUT, "raw_event"},
	[MESSAGE_FOLLOWER][4] = {FIELD_READ, "name"},
	[MESSAGE_FOLLOWER][5] = {LEFT_OUT, "modifiers"},
	[MESSAGE_TRACK][1] = {FIELD_READ, "uuid"},
	[MESSAGE_TRACK][2] = {FIELD_READ, "name"},
	[MESSAGE_TRACK][3] = {MESSAGE_PROCESS_DESCRIPTOR, "process"},
	[MESSAGE_TRACK][4] = {MESSAGE_THREAD_DESCRIPTOR, "thread"},
	[MESSAGE_TRACK][5] = {FIELD_READ, "parent_uuid"},
	[MESSAGE_TRACK][6] = {LEFT_OUT, "chrome_process"},
	[MESSAGE_TRACK][7] = {LEFT_OUT, "chrome_thread"},
	[MESSAGE_TRACK][8] = {MESSAGE_COUNTER, "counter"},
	[MESSAGE_TRACK][9] = {FIELD_READ, "disallow_merging_with_system_tracks"},
	[MESSAGE_TRACK][10] = {FIELD_READ, "static_name"},
	[MESSAGE_TRACK][11] = {LEFT_OUT, "child_ordering"},
	[MESSAGE_TRACK][12] = {LEFT_OUT, "sibling_order_rank"},
	[MESSAGE_TRACK][13] = {FIELD_READ, "atrace_name"},
	[MESSAGE_TRACK][14] = {LEFT_OUT, "description"},
	[MESSAGE_TRACK][15] = {LEFT_OUT, "sibling_merge_behavior"},
	[MESSAGE_TRACK][16] = {LEFT_OUT, "sibling_merge_key"},
	[MESSAGE_TRACK][17] = {LEFT_OUT, "sibling_merge_key_int"},
	[MESSAGE_TRACK][18] = {FIELD_READ, "state"},
	[MESSAGE_TRACK][19] = {LEFT_OUT, "process_ordering"},
	[MESSAGE_TRACK][20] = {LEFT_OUT, "thread_ordering"},
	[MESSAGE_COUNTER][1] = {FIELD_READ, "type"},
	[MESSAGE_COUNTER][2] = {LEFT_OUT, "categories"},
	[MESSAGE_COUNTER][3] = {FIELD_READ, "unit"},
	[MESSAGE_COUNTER][4] = {FIELD_READ, "unit_multiplier"},
	[MESSAGE_COUNTER][5] = {FIELD_READ, "is_incremental"},
	[MESSAGE_COUNTER][6] = {FIELD_READ, "unit_name"},
	[MESSAGE_COUNTER][7] = {LEFT_OUT, "y_axis_share_key"},
	[MESSAGE_MODULE][1] = {FIELD_READ, "path"},
	[MESSAGE_MODULE][2] = {FIELD_READ, "build_id"},
	[MESSAGE_MODULE][3] = {MESSAGE_ADDRESS_SYMBOLS, "address_symbols"},
	[MESSAGE_ADDRESS_SYMBOLS][1] = {FIELD_READ, "address"},
	[MESSAGE_ADDRESS_SYMBOLS][2] = {MESSAGE_LINE, "lines"},
	[MESSAGE_LINE][1] = {FIELD_READ, "function_name"},
	[MESSAGE_LINE][2] = {FIELD_READ, "source_file_name"},
	[MESSAGE_LINE][3] = {FIELD_READ, "line_number"},
	[MESSAGE_PERF_SAMPLE][1] = {FIELD_READ, "cpu"},
	[MESSAGE_PERF_SAMPLE][2] = {FIELD_READ, "pid"},
	[MESSAGE_PERF_SAMPLE][3] = {FIELD_READ, "tid"},
	[MESSAGE_PERF_SAMPLE][4] = {FIELD_READ, "callstack_iid"},
	[MESSAGE_PERF_SAMPLE][5] = {LEFT_OUT, "cpu_mode"},
	[MESSAGE_PERF_SAMPLE][6] = {FIELD_READ, "timebase_count"},
	[MESSAGE_PERF_SAMPLE][7] = {FIELD_READ, "follower_counts"},
	[MESSAGE_PERF_SAMPLE][16] = {LEFT_OUT, "unwind_error"},
	[MESSAGE_PERF_SAMPLE][17] = {FIELD_READ, "kernel_records_lost"},
	[MESSAGE_PERF_SAMPLE][18] = {FIELD_READ, "sample_skipped_reason"},
	[MESSAGE_PERF_SAMPLE][19] = {LEFT_OUT, "producer_event"},
	[MESSAGE_FRAME_TIMELINE][1] = {MESSAGE_EXPECTED_DISPLAY, "expected_display_frame_start"},
	[MESSAGE_FRAME_TIMELINE][2] = {MESSAGE_ACTUAL_DISPLAY, "actual_display_frame_start"},
	[MESSAGE_FRAME_TIMELINE][3] = {MESSAGE_EXPECTED_SURFACE, "expected_surface_frame_start"},
	[MESSAGE_FRAME_TIMELINE][4] = {MESSAGE_ACTUAL_SURFACE, "actual_surface_frame_start"},
	[MESSAGE_FRAME_TIMELINE][5] = {MESSAGE_FRAME_END, "frame_end"},
	[MESSAGE_EXPECTED_DISPLAY][1] = {FIELD_READ, "cookie"},
	[MESSAGE_EXPECTED_DISPLAY][2] = {FIELD_READ, "token"},
	[MESSAGE_EXPECTED_DISPLAY][3] = {FIELD_READ, "pid"},
	[MESSAGE_ACTUAL_DISPLAY][1] = {FIELD_READ, "cookie"},
	[MESSAGE_ACTUAL_DISPLAY][2] = {FIELD_READ, "token"},
	[MESSAGE_ACTUAL_DISPLAY][3] = {FIELD_READ, "pid"},
	[MESSAGE_ACTUAL_DISPLAY][4] = {FIELD_READ, "present_type"},
	[MESSAGE_ACTUAL_DISPLAY][5] = {FIELD_READ, "on_time_finish"},
	[MESSAGE_ACTUAL_DISPLAY][6] = {FIELD_READ, "gpu_composition"},
	[MESSAGE_ACTUAL_DISPLAY][7] = {FIELD_READ, "jank_type"},
	[MESSAGE_ACTUAL_DISPLAY][8] = {FIELD_READ, "prediction_type"},
	[MESSAGE_ACTUAL_DISPLAY][9] = {FIELD_READ, "jank_severity_type"},
	[MESSAGE_ACTUAL_DISPLAY][10] = {LEFT_OUT, "present_delay_millis"},
	[MESSAGE_ACTUAL_DISPLAY][11] = {LEFT_OUT, "jank_severity_score"},
	[MESSAGE_ACTUAL_DISPLAY][12] = {LEFT_OUT, "jank_type_experimental"},
	[MESSAGE_ACTUAL_DISPLAY][13] = {LEFT_OUT, "present_type_experimental"},
	[MESSAGE_ACTUAL_DISPLAY][14] = {LEFT_OUT, "jank_debug_metadata"},
	[MESSAGE_ACTUAL_DISPLAY][15] = {LEFT_OUT, "latched_unsignaled_count"},
	[MESSAGE_ACTUAL_DISPLAY][16] = {LEFT_OUT, "addressable_unsignaled_latch_count"},
	[MESSAGE_EXPECTED_SURFACE][1] = {FIELD_READ, "cookie"},
	[MESSAGE_EXPECTED_SURFACE][2] = {FIELD_READ, "token"},
	[MESSAGE_EXPECTED_SURFACE][3] = {FIELD_READ, "display_frame_token"},
	[MESSAGE_EXPECTED_SURFACE][4] = {FIELD_READ, "pid"},
	[MESSAGE_EXPECTED_SURFACE][5] = {FIELD_READ, "layer_name"},
	[MESSAGE_ACTUAL_SURFACE][1] = {FIELD_READ, "cookie"},
	[MESSAGE_ACTUAL_SURFACE][2] = {FIELD_READ, "token"},
	[MESSAGE_ACTUAL_SURFACE][3] = {FIELD_READ, "display_frame_token"},
	[MESSAGE_ACTUAL_SURFACE][4] = {FIELD_READ, "pid"},
	[MESSAGE_ACTUAL_SURFACE][5] = {FIELD_READ, "layer_name"},
	[MESSAGE_ACTUAL_SURFACE][6] = {FIELD_READ, "present_type"},
	[MESSAGE_ACTUAL_SURFACE][7] = {FIELD_READ, "on_time_finish"},
	[MESSAGE_ACTUAL_SURFACE][8] = {FIELD_READ, "gpu_composition"},
	[MESSAGE_ACTUAL_SURFACE][9] = {FIELD_READ, "jank_type"},
	[MESSAGE_ACTUAL_SURFACE][10] = {FIELD_READ, "prediction_type"},
	[MESSAGE_ACTUAL_SURFACE][11] = {FIELD_READ, "is_buffer"},
	[MESSAGE_ACTUAL_SURFACE][12] = {FIELD_READ, "jank_severity_type"},
	[MESSAGE_ACTUAL_SURFACE][13] = {LEFT_OUT, "present_delay_millis"},
	[MESSAGE_ACTUAL_SURFACE][14] = {LEFT_OUT, "vsync_resynced_jitter_millis"},
	[MESSAGE_ACTUAL_SURFACE][15] = {LEFT_OUT, "jank_severity_score"},
	[MESSAGE_ACTUAL_SURFACE][16] = {LEFT_OUT, "jank_type_experimental"},
	[MESSAGE_ACTUAL_SURFACE][17] = {LEFT_OUT, "present_type_experimental"},
	[MESSAGE_ACTUAL_SURFACE][18] = {LEFT_OUT, "jank_debug_metadata"},
	[MESSAGE_ACTUAL_SURFACE][19] = {LEFT_OUT, "latched_fence_state"},
	[MESSAGE_ACTUAL_SURFACE][20] = {LEFT_OUT, "animation_time_millis"},
	[MESSAGE_FRAME_END][1] = {FIELD_READ, "cookie"},
	[MESSAGE_TRIGGER][1] = {FIELD_READ, "trigger_name"},
	[MESSAGE_TRIGGER][2] = {FIELD_READ, "producer_name"},
	[MESSAGE_TRIGGER][3] = {FIELD_READ, "trusted_producer_uid"},
	[MESSAGE_TRIGGER][4] = {FIELD_READ, "stop_delay_ms"},
	[MESSAGE_SERVICE_EVENT][1] = {FIELD_READ, "all_data_sources_started"},
	[MESSAGE_SERVICE_EVENT][2] = {FIELD_READ, "tracing_started"},
	[MESSAGE_SERVICE_EVENT][3] = {FIELD_READ, "all_data_sources_flushed"},
	[MESSAGE_SERVICE_EVENT][4] = {FIELD_READ, "read_tracing_buffers_completed"},
	[MESSAGE_SERVICE_EVENT][5] = {FIELD_READ, "tracing_disabled"},
	[MESSAGE_SERVICE_EVENT][6] = {FIELD_READ, "seized_for_bugreport"},
	[MESSAGE_SERVICE_EVENT][7] = {LEFT_OUT, "slow_starting_data_sources"},
	[MESSAGE_SERVICE_EVENT][8] = {LEFT_OUT, "last_flush_slow_data_sources"},
	[MESSAGE_SERVICE_EVENT][9] = {FIELD_READ, "flush_started"},
	[MESSAGE_SERVICE_EVENT][10] = {FIELD_READ, "clone_started"},
	[MESSAGE_SERVICE_EVENT][11] = {FIELD_READ, "buffer_cloned"},
};

static void perfetto_check(struct perfetto *p, enum perfetto_message m,
			   struct protobuf_view message);

void perfetto_check_field(struct perfetto *p, enum perfetto_message m,
			  const struct protobuf_field *f)
{
	/* no field has the number 0 */
	uint32_t number = f->number < PERFETTO_FIELDS ? f->number : 0;
	const struct known_field *known = &known_fields[m][number];

	if (!known->name || known->what == LEFT_OUT ||
	    (known->what < FIELD_READ && f->wire != PROTOBUF_LENGTH))
		p->counts.left_out[m][number]++;
	else if (known->what < FIELD_READ)
		perfetto_check(p, (enum perfetto_message)known->what, f->bytes);
}

/* The same of all fields of a message. */
static void perfetto_check(struct perfetto *p, enum perfetto_message m,
			   struct protobuf_view message)
{
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		perfetto_check_field(p, m, &f);
}

void perfetto_check_packet(struct perfetto *p, const struct perfetto_packet *packet)
{
	static const uint8_t payloads[] = {
		[PACKET_PROCESS_TREE] = MESSAGE_TREE,
		[PACKET_CLOCK_SNAPSHOT] = MESSAGE_CLOCK_SNAPSHOT,
		[PACKET_SYS_STATS] = MESSAGE_SYS_STATS,
		[PACKET_PROCESS_STATS] = MESSAGE_PROCESS_STATS,
		[PACKET_TRACE_CONFIG] = MESSAGE_TRACE_CONFIG,
		[PACKET_TRACE_STATS] = MESSAGE_TRACE_STATS,
		[PACKET_PROFILE] = MESSAGE_PROFILE,
		[PACKET_ANDROID_LOG] = MESSAGE_LOG,
		[PACKET_PROCESS_DESCRIPTOR] = MESSAGE_PROCESS_DESCRIPTOR,
		[PACKET_THREAD_DESCRIPTOR] = MESSAGE_THREAD_DESCRIPTOR,
		[PACKET_TRIGGER] = MESSAGE_TRIGGER,
		[PACKET_PACKAGES] = MESSAGE_PACKAGES,
		[PACKET_STREAMING_PROFILE] = MESSAGE_STREAMING_PROFILE,
		[PACKET_TRACK_DESCRIPTOR] = MESSAGE_TRACK,
		[PACKET_MODULE_SYMBOLS] = MESSAGE_MODULE,
		[PACKET_PERF_SAMPLE] = MESSAGE_PERF_SAMPLE,
		[PACKET_SERVICE_EVENT] = MESSAGE_SERVICE_EVENT,
		[PACKET_CLONE_TRIGGER] = MESSAGE_TRIGGER,
	};

	/* the first message is the packet's */
	if (packet->kind < sizeof payloads && payloads[packet->kind])
		perfetto_check(p, (enum perfetto_message)payloads[packet->kind], packet->payload);
	if (packet->has_interned)
		perfetto_check(p, MESSAGE_INTERNED, packet->interned);
	if (packet->has_defaults)
		perfetto_check(p, MESSAGE_DEFAULTS, packet->defaults);
}

/* Append the name of a field and how many there were. */
static int append_field(struct buffer *b, unsigned message, unsigned number, uint64_t count)
{
	const char *known = known_fields[message][number].name;

	if (buffer_printf(b, "%s%s.", b->size ? ", " : "", messages[message]))
		return -1;
	if (known)
		return buffer_printf(b, "%s (%" PRIu64 ")", known, count);
	return number ? buffer_printf(b, "%u (%" PRIu64 ")", number, count)
		      : buffer_printf(b, "others (%" PRIu64 ")", count);
}

/* Print a remark with the fields in a text, and begin the next text. */
static int print_fields(const struct perfetto *p, struct buffer *b, uint64_t *count)
{
	if (buffer_u8(b, 0))
		return -1;
	warn_count(p->input->name, *count,
		   "{field|fields} {was|were} left out, by name or number: %s",
		   (const char *)b->data);
	b->size = 0;
	*count = 0;
	return 0;
}

void perfetto_print_left_out(const struct perfetto *p)
{
	enum { TEXT_MOST = 300 }; /* before the last name: a remark has 512 bytes */
	struct buffer b = {0};
	uint64_t count = 0;
	int failed = 0;

	for (unsigned m = 0; m < PERFETTO_MESSAGES; m++)
		for (unsigned i = 0; i < PERFETTO_FIELDS && !failed; i++) {
			uint64_t n = p->counts.left_out[m][i];

			if (n && b.size > TEXT_MOST)
				failed = print_fields(p, &b, &count);
			count += n;
			failed = failed || (n && append_field(&b, m, i, n));
		}
	if (!failed && count)
		print_fields(p, &b, &count);
	buffer_free(&b);
}

/*
 * Packets that are neither events of tracks nor of ftrace: statistics of the system and of
 * processes as counters, Android's log, triggers and events of the tracing service as instants,
 * losses of the tracing service as gaps.
 */

/* SysStats, ProcessStats, TraceStats, AndroidLogPacket, PackagesList */
enum {
	SYS_MEMINFO = 1,
	SYS_VMSTAT = 2,
	SYS_CPU = 3,
	SYS_FORKS = 4,
	SYS_IRQS = 5,
	SYS_IRQ = 6,
	SYS_SOFTIRQS = 7,
	SYS_SOFTIRQ = 8,
	SYS_DEVFREQ = 10,
	SYS_CPUFREQ = 11,
	SYS_BUDDY = 12,
	SYS_DISK = 13,
	SYS_PSI = 14,
	SYS_THERMAL = 15,
	SYS_CPUIDLE = 16,
	SYS_GPUFREQ = 17,
	SYS_SLAB = 18,
	PAIR_KEY = 1,
	PAIR_VALUE = 2,
	THERMAL_TYPE = 3,
	CPU_NUMBER = 1,
	CPUIDLE_ENTRY = 2,
	BUDDY_ZONE = 2,
	BUDDY_PAGES = 3,
	STATS_PROCESS = 1,
	STATS_PID = 1,
	TRACE_BUFFER = 1,
	BUFFER_LOST_PACKETS = 19,
	BUFFER_OVERWRITTEN = 3,
	LOG_EVENT = 1,
	LOG_ID = 1,
	LOG_PID = 2,
	LOG_TID = 3,
	LOG_UID = 4,
	LOG_TIME = 5,
	LOG_TAG = 6,
	LOG_PRIO = 7,
	LOG_TEXT = 8,
	PACKAGE = 1,
	PACKAGE_NAME = 1,
	PACKAGE_UID = 2,
	PACKAGE_VERSION = 5,
};

int perfetto_keep_counter(struct perfetto *p, uint64_t time, const struct perfetto_counter_of *of,
			  uint64_t value)
{
	struct perfetto_track_key key = {.kind = PERFETTO_OF_COUNTER,
					 .pid = of->pid,
					 .tid = -1,
					 .cpu = of->cpu,
					 .name = of->string ? of->string
							    : writer_text(p->w, of->name)};
	struct perfetto_record r = {.kind = PERFETTO_COUNTER, .flags = PERFETTO_VALUE};
	uint32_t number = perfetto_other_track(p, &key);

	if (!number)
		return -1;
	r.track = number - 1;
	p->scratch.arguments.size = 0;
	return perfetto_keep(p, time, &r, value);
}

/* --- statistics of the system --- */

/* The counters of MeminfoCounters, VmstatCounters and PsiResource by their numbers, as
 * trace_processor names them.
 * Source: include/perfetto/ext/traced/sys_stats_counters.h of the project perfetto. */
static const char *const meminfo[] = {NULL,
				      "MemTotal",
				      "MemFree",
				      "MemAvailable",
				      "Buffers",
				      "Cached",
				      "SwapCached",
				      "Active",
				      "Inactive",
				      "Active(anon)",
				      "Inactive(anon)",
				      "Active(file)",
				      "Inactive(file)",
				      "Unevictable",
				      "Mlocked",
				      "SwapTotal",
				      "SwapFree",
				      "Dirty",
				      "Writeback",
				      "AnonPages",
				      "Mapped",
				      "Shmem",
				      "Slab",
				      "SReclaimable",
				      "SUnreclaim",
				      "KernelStack",
				      "PageTables",
				      "CommitLimit",
				      "Committed_AS",
				      "VmallocTotal",
				      "VmallocUsed",
				      "VmallocChunk",
				      "CmaTotal",
				      "CmaFree",
				      "Gpu",
				      "Zram",
				      "Misc",
				      "ION_heap",
				      "ION_heap_pool"};
static const char *const vmstat[] = {NULL,
				     "nr_free_pages",
				     "nr_alloc_batch",
				     "nr_inactive_anon",
				     "nr_active_anon",
				     "nr_inactive_file",
				     "nr_active_file",
				     "nr_unevictable",
				     "nr_mlock",
				     "nr_anon_pages",
				     "nr_mapped",
				     "nr_file_pages",
				     "nr_dirty",
				     "nr_writeback",
				     "nr_slab_reclaimable",
				     "nr_slab_unreclaimable",
				     "nr_page_table_pages",
				     "nr_kernel_stack",
				     "nr_overhead",
				     "nr_unstable",
				     "nr_bounce",
				     "nr_vmscan_write",
				     "nr_vmscan_immediate_reclaim",
				     "nr_writeback_temp",
				     "nr_isolated_anon",
				     "nr_isolated_file",
				     "nr_shmem",
				     "nr_dirtied",
				     "nr_written",
				     "nr_pages_scanned",
				     "workingset_refault",
				     "workingset_activate",
				     "workingset_nodereclaim",
				     "nr_anon_transparent_hugepages",
				     "nr_free_cma",
				     "nr_swapcache",
				     "nr_dirty_threshold",
				     "nr_dirty_background_threshold",
				     "pgpgin",
				     "pgpgout",
				     "pgpgoutclean",
				     "pswpin",
				     "pswpout",
				     "pgalloc_dma",
				     "pgalloc_normal",
				     "pgalloc_movable",
				     "pgfree",
				     "pgactivate",
				     "pgdeactivate",
				     "pgfault",
				     "pgmajfault",
				     "pgrefill_dma",
				     "pgrefill_normal",
				     "pgrefill_movable",
				     "pgsteal_kswapd_dma",
				     "pgsteal_kswapd_normal",
				     "pgsteal_kswapd_movable",
				     "pgsteal_direct_dma",
				     "pgsteal_direct_normal",
				     "pgsteal_direct_movable",
				     "pgscan_kswapd_dma",
				     "pgscan_kswapd_normal",
				     "pgscan_kswapd_movable",
				     "pgscan_direct_dma",
				     "pgscan_direct_normal",
				     "pgscan_direct_movable",
				     "pgscan_direct_throttle",
				     "pginodesteal",
				     "slabs_scanned",
				     "kswapd_inodesteal",
				     "kswapd_low_wmark_hit_quickly",
				     "kswapd_high_wmark_hit_quickly",
				     "pageoutrun",
				     "allocstall",
				     "pgrotated",
				     "drop_pagecache",
				     "drop_slab",
				     "pgmigrate_success",
				     "pgmigrate_fail",
				     "compact_migrate_scanned",
				     "compact_free_scanned",
				     "compact_isolated",
				     "compact_stall",
				     "compact_fail",
				     "compact_success",
				     "compact_daemon_wake",
				     "unevictable_pgs_culled",
				     "unevictable_pgs_scanned",
				     "unevictable_pgs_rescued",
				     "unevictable_pgs_mlocked",
				     "unevictable_pgs_munlocked",
				     "unevictable_pgs_cleared",
				     "unevictable_pgs_stranded",
				     "nr_zspages",
				     "nr_ion_heap",
				     "nr_gpu_heap",
				     "allocstall_dma",
				     "allocstall_movable",
				     "allocstall_normal",
				     "compact_daemon_free_scanned",
				     "compact_daemon_migrate_scanned",
				     "nr_fastrpc",
				     "nr_indirectly_reclaimable",
				     "nr_ion_heap_pool",
				     "nr_kernel_misc_reclaimable",
				     "nr_shadow_call_stack_bytes",
				     "nr_shmem_hugepages",
				     "nr_shmem_pmdmapped",
				     "nr_unreclaimable_pages",
				     "nr_zone_active_anon",
				     "nr_zone_active_file",
				     "nr_zone_inactive_anon",
				     "nr_zone_inactive_file",
				     "nr_zone_unevictable",
				     "nr_zone_write_pending",
				     "oom_kill",
				     "pglazyfree",
				     "pglazyfreed",
				     "pgrefill",
				     "pgscan_direct",
				     "pgscan_kswapd",
				     "pgskip_dma",
				     "pgskip_movable",
				     "pgskip_normal",
				     "pgsteal_direct",
				     "pgsteal_kswapd",
				     "swap_ra",
				     "swap_ra_hit",
				     "workingset_restore",
				     "allocstall_device",
				     "allocstall_dma32",
				     "balloon_deflate",
				     "balloon_inflate",
				     "balloon_migrate",
				     "cma_alloc_fail",
				     "cma_alloc_success",
				     "nr_file_hugepages",
				     "nr_file_pmdmapped",
				     "nr_foll_pin_acquired",
				     "nr_foll_pin_released",
				     "nr_sec_page_table_pages",
				     "nr_shadow_call_stack",
				     "nr_swapcached",
				     "nr_throttled_written",
				     "pgalloc_device",
				     "pgalloc_dma32",
				     "pgdemote_direct",
				     "pgdemote_kswapd",
				     "pgreuse",
				     "pgscan_anon",
				     "pgscan_file",
				     "pgskip_device",
				     "pgskip_dma32",
				     "pgsteal_anon",
				     "pgsteal_file",
				     "thp_collapse_alloc",
				     "thp_collapse_alloc_failed",
				     "thp_deferred_split_page",
				     "thp_fault_alloc",
				     "thp_fault_fallback",
				     "thp_fault_fallback_charge",
				     "thp_file_alloc",
				     "thp_file_fallback",
				     "thp_file_fallback_charge",
				     "thp_file_mapped",
				     "thp_migration_fail",
				     "thp_migration_split",
				     "thp_migration_success",
				     "thp_scan_exceed_none_pte",
				     "thp_scan_exceed_share_pte",
				     "thp_scan_exceed_swap_pte",
				     "thp_split_page",
				     "thp_split_page_failed",
				     "thp_split_pmd",
				     "thp_swpout",
				     "thp_swpout_fallback",
				     "thp_zero_page_alloc",
				     "thp_zero_page_alloc_failed",
				     "vma_lock_abort",
				     "vma_lock_miss",
				     "vma_lock_retry",
				     "vma_lock_success",
				     "workingset_activate_anon",
				     "workingset_activate_file",
				     "workingset_nodes",
				     "workingset_refault_anon",
				     "workingset_refault_file",
				     "workingset_restore_anon",
				     "workingset_restore_file"};
static const char *const psi[] = {NULL,	     "cpu.some",    "cpu.full",	  "io.some",
				  "io.full", "memory.some", "memory.full"};

/* Name a counter of a kind by its number, which is the name if the counter is not known. */
static void perfetto_packets_numbered_name(char name[128], const char *kind,
					   const char *const *names, size_t n, uint64_t number)
{
	if (number < n && names[number])
		snprintf(name, 128, "%s %s", kind, names[number]);
	else
		snprintf(name, 128, "%s %d", kind, (int)number);
}

/* Keep a value with a key: a number that names a counter, or a text. */
static int keep_pair(struct perfetto *p, uint64_t time, uint32_t field,
		     struct protobuf_view message)
{
	struct protobuf_view key = {NULL, NULL}, type = {NULL, NULL};
	struct protobuf_field f;
	uint64_t number = 0, value = 0;
	char name[128];

	while (protobuf_next(&message, &f) > 0) {
		if (f.number == PAIR_KEY) {
			number = f.value;
			key = f.bytes;
		} else if (f.number == PAIR_VALUE) {
			value = f.value;
		} else if (field == SYS_THERMAL && f.number == THERMAL_TYPE) {
			type = f.bytes;
		}
	}
	if (protobuf_size(type))
		key = type;
	if (field == SYS_MEMINFO)
		perfetto_packets_numbered_name(name, "meminfo", meminfo,
					       sizeof meminfo / sizeof *meminfo, number);
	else if (field == SYS_VMSTAT)
		perfetto_packets_numbered_name(name, "vmstat", vmstat,
					       sizeof vmstat / sizeof *vmstat, number);
	else if (field == SYS_PSI)
		perfetto_packets_numbered_name(name, "psi", psi, sizeof psi / sizeof *psi, number);
	else
		snprintf(name, sizeof name, "%s %.*s", field == SYS_DEVFREQ ? "devfreq" : "thermal",
			 (int)(protobuf_size(key) < 100 ? protobuf_size(key) : 100),
			 key.at ? (const char *)key.at : "");
	return perfetto_keep_counter(p, time, &(struct perfetto_counter_of){name, -1, -1, 0},
				     value);
}

/* Keep the times of a CPU, in ns. */
static int keep_cpu(struct perfetto *p, uint64_t time, struct protobuf_view message)
{
	static const char *const names[] = {NULL,	   NULL,       "cpu user",   "cpu nice",
					    "cpu system",  "cpu idle", "cpu iowait", "cpu irq",
					    "cpu softirq", "cpu steal"};
	struct protobuf_view rest = message;
	struct perfetto_counter_of of = {.pid = -1, .cpu = 0};
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0)
		if (f.number == CPU_NUMBER)
			of.cpu = f.value < UINT16_MAX ? (int32_t)f.value : -1;
	while (protobuf_next(&message, &f) > 0) {
		if (f.number == CPU_NUMBER)
			continue;
		if (f.number >= sizeof names / sizeof *names || !names[f.number])
			continue;
		of.name = names[f.number];
		if (perfetto_keep_counter(p, time, &of, f.value))
			return -1;
	}
	return 0;
}

/* Get the text of a field of a message; empty: there is none. At most 100 bytes are used. */
static void perfetto_packets_text_of(struct protobuf_view message, uint32_t number, char text[101])
{
	struct protobuf_field f;

	text[0] = '\0';
	while (protobuf_next(&message, &f) > 0)
		if (f.number == number && f.wire == PROTOBUF_LENGTH)
			snprintf(text, 101, "%.*s",
				 (int)(protobuf_size(f.bytes) < 100 ? protobuf_size(f.bytes) : 100),
				 (const char *)f.bytes.at);
}

/* Keep the numbers of a named thing: a counter for each field. */
static int keep_fields(struct perfetto *p, uint64_t time, bool is_disk, const char *what,
		       struct protobuf_view message)
{
	static const char *const disk[] = {NULL,
					   NULL,
					   "read_sectors",
					   "read_time_ms",
					   "write_sectors",
					   "write_time_ms",
					   "discard_sectors",
					   "discard_time_ms",
					   "flush_count",
					   "flush_time_ms"};
	static const char *const slab[] = {NULL, NULL, "pages_per_slab", "num_slabs"};
	const char *const *names = is_disk ? disk : slab;
	size_t n = is_disk ? sizeof disk / sizeof *disk : sizeof slab / sizeof *slab;
	struct protobuf_field f;
	char of[101], name[160];

	perfetto_packets_text_of(message, PAIR_KEY, of);
	while (protobuf_next(&message, &f) > 0) {
		if (f.number == PAIR_KEY || f.number >= n)
			continue;
		snprintf(name, sizeof name, "%s %s %s", what, of, names[f.number]);
		if (perfetto_keep_counter(p, time, &(struct perfetto_counter_of){name, -1, -1, 0},
					  f.value))
			return -1;
	}
	return 0;
}

/* Keep how often an interrupt occurred: {number, count}. */
static int keep_interrupt(struct perfetto *p, uint64_t time, bool soft,
			  struct protobuf_view message)
{
	uint64_t number = 0, count = 0;
	struct protobuf_field f;
	char name[40];

	while (protobuf_next(&message, &f) > 0)
		if (f.number == PAIR_KEY)
			number = f.value;
		else if (f.number == PAIR_VALUE)
			count = f.value;
	if (soft && softirq_name(number))
		snprintf(name, sizeof name, "softirq %s", softirq_name(number));
	else
		snprintf(name, sizeof name, "%s %d", soft ? "softirq" : "irq", (int)number);
	return perfetto_keep_counter(p, time, &(struct perfetto_counter_of){name, -1, -1, 0},
				     count);
}

/* Keep the free pages of a zone of memory by their order. */
static int keep_buddy(struct perfetto *p, uint64_t time, struct protobuf_view message)
{
	char node[101], zone[101], name[256];
	unsigned order = 0;
	struct protobuf_field f;
	uint64_t value;

	perfetto_packets_text_of(message, PAIR_KEY, node);
	perfetto_packets_text_of(message, BUDDY_ZONE, zone);
	while (protobuf_next(&message, &f) > 0) {
		struct protobuf_view list = f.bytes;

		if (f.number != BUDDY_PAGES)
			continue;
		while (protobuf_each(&f, &list, &value)) {
			snprintf(name, sizeof name, "buddy %s %s order %u", node, zone, order++);
			if (perfetto_keep_counter(
				    p, time, &(struct perfetto_counter_of){name, -1, -1, 0}, value))
				return -1;
		}
	}
	return 0;
}

/* Keep how long a CPU was in each idle state, in us. */
static int keep_cpuidle(struct perfetto *p, uint64_t time, struct protobuf_view message)
{
	struct protobuf_view rest = message;
	struct perfetto_counter_of of = {.pid = -1, .cpu = 0};
	struct protobuf_field f, entry;
	char state[101], name[128];

	while (protobuf_next(&rest, &f) > 0)
		if (f.number == CPU_NUMBER)
			of.cpu = f.value < UINT16_MAX ? (int32_t)f.value : -1;
	while (protobuf_next(&message, &f) > 0) {
		uint64_t value = 0;

		if (f.number != CPUIDLE_ENTRY || f.wire != PROTOBUF_LENGTH)
			continue;
		perfetto_packets_text_of(f.bytes, PAIR_KEY, state);
		while (protobuf_next(&f.bytes, &entry) > 0)
			if (entry.number == PAIR_VALUE)
				value = entry.value;
		snprintf(name, sizeof name, "cpuidle %s", state);
		of.name = name;
		if (perfetto_keep_counter(p, time, &of, value))
			return -1;
	}
	return 0;
}

/* Keep a field of SysStats that few traces have. */
static int sys_rare(struct perfetto *p, uint64_t time, struct protobuf_field *f, unsigned *gpu)
{
	struct protobuf_view list = f->bytes;
	uint64_t value;
	char name[40];

	switch (f->number) {
	case SYS_IRQ:
	case SYS_SOFTIRQ: return keep_interrupt(p, time, f->number == SYS_SOFTIRQ, f->bytes);
	case SYS_BUDDY: return keep_buddy(p, time, f->bytes);
	case SYS_DISK: return keep_fields(p, time, true, "disk", f->bytes);
	case SYS_CPUIDLE: return keep_cpuidle(p, time, f->bytes);
	case SYS_SLAB: return keep_fields(p, time, false, "slab", f->bytes);
	case SYS_GPUFREQ:
		while (protobuf_each(f, &list, &value)) {
			snprintf(name, sizeof name, "gpufreq %u", (*gpu)++);
			if (perfetto_keep_counter(
				    p, time, &(struct perfetto_counter_of){name, -1, -1, 0}, value))
				return -1;
		}
		return 0;
	}
	return 0;
}

static int sys_stats(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload, list;
	struct perfetto_counter_of of = {.pid = -1, .cpu = -1}, cpufreq = {"cpufreq", -1, -1, 0};
	unsigned gpu = 0;
	struct protobuf_field f;
	uint64_t value;
	int failed = 0;

	while (!failed && protobuf_next(&rest, &f) > 0)
		switch (f.number) {
		case SYS_MEMINFO:
		case SYS_VMSTAT:
		case SYS_DEVFREQ:
		case SYS_PSI:
		case SYS_THERMAL: failed = keep_pair(p, packet->time, f.number, f.bytes); break;
		case SYS_CPU: failed = keep_cpu(p, packet->time, f.bytes); break;
		case SYS_FORKS:
		case SYS_IRQS:
		case SYS_SOFTIRQS:
			of.name = f.number == SYS_FORKS	 ? "forks"
				  : f.number == SYS_IRQS ? "irqs"
							 : "softirqs";
			failed = perfetto_keep_counter(p, packet->time, &of, f.value);
			break;
		case SYS_CPUFREQ:
			for (list = f.bytes; !failed && protobuf_each(&f, &list, &value);) {
				cpufreq.cpu++;
				failed = perfetto_keep_counter(p, packet->time, &cpufreq, value);
			}
			break;
		default: failed = sys_rare(p, packet->time, &f, &gpu);
		}
	return failed;
}

/* --- statistics of processes --- */

static int process_stats(struct perfetto *p, const struct perfetto_packet *packet)
{
	static const char *const names[] = {[2] = "vm_size_kb",
					    [3] = "vm_rss_kb",
					    [4] = "rss_anon_kb",
					    [5] = "rss_file_kb",
					    [6] = "rss_shmem_kb",
					    [7] = "vm_swap_kb",
					    [8] = "vm_locked_kb",
					    [9] = "vm_hwm_kb",
					    [10] = "oom_score_adj",
					    [12] = "is_peak_rss_resettable",
					    [13] = "chrome_private_footprint_kb",
					    [14] = "chrome_peak_resident_set_kb",
					    [16] = "smr_rss_kb",
					    [17] = "smr_pss_kb",
					    [18] = "smr_pss_anon_kb",
					    [19] = "smr_pss_file_kb",
					    [20] = "smr_pss_shmem_kb",
					    [21] = "runtime_user_mode",
					    [22] = "runtime_kernel_mode",
					    [23] = "smr_swap_pss_kb",
					    [24] = "dmabuf_rss_kb"};
	struct protobuf_view rest = packet->payload, process;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0) {
		struct perfetto_counter_of of = {.pid = -1, .cpu = -1};

		if (f.number != STATS_PROCESS || f.wire != PROTOBUF_LENGTH)
			continue;
		for (process = f.bytes; protobuf_next(&process, &f) > 0;)
			if (f.number == STATS_PID)
				of.pid = perfetto_take_id(f.value);
			else if (f.number < sizeof names / sizeof *names && names[f.number]) {
				of.name = names[f.number];
				if (perfetto_keep_counter(p, packet->time, &of, f.value))
					return -1;
			}
	}
	return 0;
}

/* --- losses --- */

/* Keep a gap for what the buffers lost. The statistics count from the start of the trace. */
static int trace_stats(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload, buffer;
	struct perfetto_loss loss = {.offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_PACKETS};
	struct protobuf_field f;
	uint64_t lost = 0, before = p->counts.lost_packets;

	while (protobuf_next(&rest, &f) > 0) {
		if (f.number != TRACE_BUFFER)
			continue;
		for (buffer = f.bytes; protobuf_next(&buffer, &f) > 0;)
			if ((f.number == BUFFER_LOST_PACKETS || f.number == BUFFER_OVERWRITTEN) &&
			    __builtin_add_overflow(lost, f.value, &lost))
				lost = UINT64_MAX - 1;
	}
	if (lost <= before)
		return 0;
	p->counts.lost_packets = lost;
	loss.count = lost - before;
	return perfetto_keep_gap(p, packet->time ? packet->time : p->last, &loss, -1);
}

/* --- Android's log --- */

static int keep_log_event(struct perfetto *p, struct perfetto_sequence *s, uint64_t time,
			  struct protobuf_view message)
{
	struct perfetto_record r = {.kind = PERFETTO_INSTANT,
				    .name = writer_text(p->w, "android_log"),
				    .category = writer_text(p->w, "log")};
	struct perfetto_track_key key = {
		.kind = PERFETTO_OF_THREAD, .pid = -1, .tid = -1, .cpu = -1};
	static const char *const names[] = {[LOG_TAG] = "tag", [LOG_TEXT] = "message"};
	struct protobuf_field f;
	uint32_t text;
	bool has_time = false;

	p->scratch.arguments.size = 0;
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case LOG_PID: key.pid = perfetto_take_id(f.value); break;
		case LOG_TID: key.tid = perfetto_take_id(f.value); break;
		case LOG_TIME:
			time = f.value;
			has_time = true;
			break;
		case LOG_TAG:
		case LOG_TEXT:
			text = perfetto_text(p, f.bytes);
			if (text && perfetto_argument_string(p, names[f.number], text))
				return -1;
			break;
		case LOG_PRIO:
			if (perfetto_argument_uint(p, "prio", f.value))
				return -1;
			break;
		case LOG_ID:
		case LOG_UID:
			if (perfetto_argument_uint(p, f.number == LOG_ID ? "log_id" : "uid",
						   f.value))
				return -1;
			break;
		}
	if (has_time && !perfetto_time(p, s, CLOCK_REALTIME_ID, &time))
		return 0;
	r.track = perfetto_other_track(p, &key) - 1;
	return r.track == UINT32_MAX || perfetto_learn(p, r.name) ? -1
								  : perfetto_keep(p, time, &r, 0);
}

static int android_log(struct perfetto *p, struct perfetto_sequence *s,
		       const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0)
		if (f.number == LOG_EVENT && f.wire == PROTOBUF_LENGTH &&
		    keep_log_event(p, s, packet->time, f.bytes))
			return -1;
	return 0;
}

/* --- triggers, events of the tracing service --- */

/* An argument by the number of its field: 's' a text, 'i' signed, 'u' unsigned, 'b' a flag. */
struct instant_field {
	const char *name;
	char kind;
};

static int perfetto_packets_put_field(struct perfetto *p, const struct instant_field *as,
				      const struct protobuf_field *f)
{
	uint32_t text;

	switch (as->kind) {
	case 'i': return perfetto_argument_int(p, as->name, (int64_t)f->value);
	case 'u': return perfetto_argument_uint(p, as->name, f->value);
	case 'b': return perfetto_argument_bool(p, as->name, f->value);
	}
	text = perfetto_text(p, f->bytes);
	return text ? perfetto_argument_string(p, as->name, text) : -1;
}

/* Keep a packet as an instant, with its fields as arguments. */
static int keep_instant(struct perfetto *p, const struct perfetto_packet *packet, const char *name,
			const struct instant_field *fields, size_t n)
{
	struct perfetto_record r = {.kind = PERFETTO_INSTANT,
				    .name = writer_text(p->w, name),
				    .category = writer_text(p->w, "tracing")};
	struct perfetto_track_key key = {
		.kind = PERFETTO_OF_THREAD, .pid = -1, .tid = -1, .cpu = -1};
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f;

	p->scratch.arguments.size = 0;
	while (protobuf_next(&rest, &f) > 0)
		if (f.number < n && fields[f.number].name &&
		    perfetto_packets_put_field(p, &fields[f.number], &f))
			return -1;
	r.track = perfetto_other_track(p, &key) - 1;
	if (r.track == UINT32_MAX || perfetto_learn(p, r.name))
		return -1;
	return perfetto_keep(p, packet->has_time ? packet->time : p->last, &r, 0);
}

static int trigger(struct perfetto *p, const struct perfetto_packet *packet)
{
	static const struct instant_field fields[] = {[1] = {"trigger_name", 's'},
						      [2] = {"producer_name", 's'},
						      [3] = {"trusted_producer_uid", 'i'},
						      [4] = {"stop_delay_ms", 'u'}};

	return keep_instant(p, packet, packet_payload_name(packet->kind), fields,
			    sizeof fields / sizeof *fields);
}

static int service_event(struct perfetto *p, const struct perfetto_packet *packet)
{
	static const struct instant_field fields[] = {[1] = {"all_data_sources_started", 'b'},
						      [2] = {"tracing_started", 'b'},
						      [3] = {"all_data_sources_flushed", 'b'},
						      [4] = {"read_tracing_buffers_completed", 'b'},
						      [5] = {"tracing_disabled", 'b'},
						      [6] = {"seized_for_bugreport", 'b'},
						      [9] = {"flush_started", 'b'},
						      [10] = {"clone_started", 'b'},
						      [11] = {"buffer_cloned", 'u'}};

	return keep_instant(p, packet, "service_event", fields, sizeof fields / sizeof *fields);
}

/* --- packages --- */

/* Append the packages to the text of a META: lines "NAME UID VERSION". */
static int packages(struct perfetto *p, const struct perfetto_packet *packet)
{
	enum { NAME_MOST = 256 };
	struct protobuf_view rest = packet->payload, package;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0) {
		struct protobuf_view name = {NULL, NULL};
		uint64_t uid = 0, version = 0;

		if (f.number != PACKAGE || f.wire != PROTOBUF_LENGTH)
			continue;
		for (package = f.bytes; protobuf_next(&package, &f) > 0;)
			switch (f.number) {
			case PACKAGE_NAME: name = f.bytes; break;
			case PACKAGE_UID: uid = f.value; break;
			case PACKAGE_VERSION: version = f.value; break;
			}
		if (buffer_append(&p->packages, name.at ? (const void *)name.at : "",
				  protobuf_size(name) < NAME_MOST ? protobuf_size(name)
								  : NAME_MOST) ||
		    buffer_u8(&p->packages, ' ') || buffer_decimal(&p->packages, uid) ||
		    buffer_u8(&p->packages, ' ') || buffer_signed(&p->packages, (int64_t)version) ||
		    buffer_u8(&p->packages, '\n'))
			return -1;
	}
	return 0;
}

int perfetto_other_packet(struct perfetto *p, struct perfetto_sequence *s,
			  const struct perfetto_packet *packet)
{
	switch (packet->kind) {
	case PACKET_SYS_STATS: return sys_stats(p, packet);
	case PACKET_PROCESS_STATS: return process_stats(p, packet);
	case PACKET_TRACE_STATS: return trace_stats(p, packet);
	case PACKET_ANDROID_LOG: return android_log(p, s, packet);
	case PACKET_TRIGGER:
	case PACKET_CLONE_TRIGGER: return trigger(p, packet);
	case PACKET_SERVICE_EVENT: return service_event(p, packet);
	case PACKET_PACKAGES: return packages(p, packet);
	case PACKET_PROFILE: return perfetto_heap_profile(p, s, packet);
	case PACKET_MODULE_SYMBOLS: return perfetto_module_symbols(p, packet);
	case PACKET_FRAME_TIMELINE: return perfetto_frame_timeline(p, packet);
	}
	return 0;
}
