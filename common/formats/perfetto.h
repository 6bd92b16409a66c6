/*
 * perfetto.h - Perfetto's traces: numbers of fields in their messages, and what trencode writes for
 * trdecode
 *
 * Source: protos/perfetto/trace of the project perfetto, of August 2026 (field numbers only).
 */
#ifndef TR_FORMATS_PERFETTO_H
#define TR_FORMATS_PERFETTO_H

#include <stdbool.h>
#include <string.h>

/* The arguments with the ids of flows that an event is part of, and that end at the event. */
#define PERFETTO_FLOWS	     "flow_ids"
#define PERFETTO_ENDED_FLOWS "terminating_flow_ids"

/* The annotation of an instant that trencode writes for a part of a flow of Trace Event JSON: its
 * phase, followed by PERFETTO_FLOW_ENCLOSING if it has "bp":"e". */
#define PERFETTO_FLOW_PHASE	"flow_phase"
#define PERFETTO_FLOW_ENCLOSING 'e'

/* The name of tracks that calls have which overlap others of their thread. */
#define PERFETTO_OVERLAPPING "overlapping"

/* The argument of a gap on a CPU that is of no thread: the CPU. */
#define PERFETTO_GAP_CPU "cpu"

/* The argument of the begin of a call that had an id in its source: the id, a uint. */
#define PERFETTO_CALL_ID "trutils.id"

static inline bool perfetto_is_flow(const char *argument)
{
	return !strcmp(argument, PERFETTO_FLOWS) || !strcmp(argument, PERFETTO_ENDED_FLOWS);
}

enum { TRACE_PACKET = 1 };

/* TracePacket */
enum {
	PACKET_FTRACE = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_UID = 3,
	PACKET_CHROME_EVENTS = 5,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_SYS_STATS = 7,
	PACKET_TIMESTAMP = 8,
	PACKET_PROCESS_STATS = 9,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACE_CONFIG = 33,
	PACKET_TRACE_STATS = 35,
	PACKET_PROFILE = 37,
	PACKET_ANDROID_LOG = 39,
	PACKET_STATE_CLEARED = 41,
	PACKET_PREVIOUS_DROPPED = 42,
	PACKET_PROCESS_DESCRIPTOR = 43,
	PACKET_THREAD_DESCRIPTOR = 44,
	PACKET_PACKAGES = 47,
	PACKET_COMPRESSED = 50,
	PACKET_STREAMING_PROFILE = 54,
	PACKET_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_MODULE_SYMBOLS = 61,
	PACKET_PERF_SAMPLE = 66,
	PACKET_FRAME_TIMELINE = 76,
	PACKET_PID = 79,
	PACKET_FIRST = 87,
	PACKET_MACHINE = 98,
	PACKET_ZSTD_COMPRESSED = 133,
};

enum { STATE_CLEARED = 1, STATE_NEEDED = 2 }; /* bits of PACKET_SEQUENCE_FLAGS */

/* ClockSnapshot, and its Clock; builtin clocks */
enum {
	SNAPSHOT_CLOCK = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	CLOCK_INCREMENTAL = 3,
	CLOCK_UNIT = 4,
	CLOCK_REALTIME_ID = 1,
	CLOCK_MONOTONIC_ID = 3,
	CLOCK_MONOTONIC_COARSE_ID = 4,
	CLOCK_MONOTONIC_RAW_ID = 5,
	CLOCK_BOOTTIME_ID = 6,
	CLOCK_BUILTIN_LAST = 63,
	CLOCK_OF_SEQUENCE_FIRST = 64, /* clocks of one sequence */
	CLOCK_OF_SEQUENCE_LAST = 127,
};

/* TrackDescriptor, CounterDescriptor, ProcessDescriptor, ThreadDescriptor */
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_NOT_MERGED = 9,
	TRACK_STATES = 18,
	TRACK_STATIC_NAME = 10,
	TRACK_ATRACE_NAME = 13,
	COUNTER_TYPE = 1,
	COUNTER_UNIT = 3,
	COUNTER_MULTIPLIER = 4,
	COUNTER_INCREMENTAL = 5,
	COUNTER_UNIT_NAME = 6,
	PROCESS_PID = 1,
	PROCESS_CMDLINE = 2,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	THREAD_TIME = 6,
	THREAD_THREAD_TIME = 7,
};

/* TrackEvent */
enum {
	EVENT_TIME_DELTA = 1,
	EVENT_THREAD_TIME_DELTA = 2,
	EVENT_CATEGORY_IIDS = 3,
	EVENT_ANNOTATION = 4,
	EVENT_LEGACY = 6,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_EXTRA_VALUES = 12,
	EVENT_TIME = 16,
	EVENT_THREAD_TIME = 17,
	EVENT_LOG_MESSAGE = 21,
	EVENT_CATEGORIES = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	EVENT_EXTRA_TRACKS = 31,
	EVENT_SOURCE_LOCATION = 33,
	EVENT_SOURCE_LOCATION_IID = 34,
	EVENT_FLOWS_OLD = 36,
	EVENT_ENDED_FLOWS_OLD = 42,
	EVENT_COUNTER_REAL = 44,
	EVENT_EXTRA_REAL_TRACKS = 45,
	EVENT_EXTRA_REAL_VALUES = 46,
	EVENT_FLOWS = 47,
	EVENT_ENDED_FLOWS = 48,
	EVENT_CORRELATION = 52,
	EVENT_CORRELATION_TEXT = 53,
	EVENT_CORRELATION_IID = 54,
	EVENT_CALLSTACK = 55,
	EVENT_CALLSTACK_IID = 56,
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
	TYPE_STATE = 5,
};

/* LegacyEvent */
enum {
	LEGACY_NAME_IID = 1,
	LEGACY_PHASE = 2,
	LEGACY_DURATION = 3,
	LEGACY_ID = 6,
	LEGACY_SCOPE = 7,
	LEGACY_BIND_ID = 8,
	LEGACY_LOCAL_ID = 10,
	LEGACY_GLOBAL_ID = 11,
	LEGACY_FLOW_DIRECTION = 13,
	LEGACY_INSTANT_SCOPE = 14,
	LEGACY_PID = 18,
	LEGACY_TID = 19,
	SCOPE_GLOBAL = 1,
	SCOPE_PROCESS = 2,
};

/* DebugAnnotation, and its older NestedValue */
enum {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NESTED = 8,
	ANNOTATION_JSON = 9,
	ANNOTATION_NAME = 10,
	ANNOTATION_DICT = 11,
	ANNOTATION_ARRAY = 12,
	ANNOTATION_PROTO = 14,
	ANNOTATION_STRING_IID = 17,
	NESTED_TYPE = 1,
	NESTED_KEYS = 2,
	NESTED_DICT = 3,
	NESTED_ARRAY = 4,
	NESTED_INT = 5,
	NESTED_DOUBLE = 6,
	NESTED_BOOL = 7,
	NESTED_STRING = 8,
};

/* SourceLocation, LogMessage, and frames of InlineCallstack */
enum {
	SOURCE_FILE = 2,
	SOURCE_FUNCTION = 3,
	SOURCE_LINE = 4,
	LOG_SOURCE_IID = 1,
	LOG_BODY_IID = 2,
	LOG_PRIORITY = 3,
	INLINE_FRAME = 1,
	INLINE_FUNCTION = 1,
	INLINE_FILE = 2,
	INLINE_LINE = 3,
};

/* InternedData; entries have an iid and, of strings, a text */
enum {
	INTERNED_CATEGORY = 1,
	INTERNED_NAME = 2,
	INTERNED_ANNOTATION_NAME = 3,
	INTERNED_SOURCE_LOCATION = 4,
	INTERNED_FUNCTION = 5,
	INTERNED_FRAME = 6,
	INTERNED_CALLSTACK = 7,
	INTERNED_BUILD_ID = 16,
	INTERNED_PATH = 17,
	INTERNED_SOURCE_PATH = 18,
	INTERNED_MAPPING = 19,
	INTERNED_LOG_BODY = 20,
	INTERNED_KERNEL_SYMBOL = 26,
	INTERNED_ANNOTATION_STRING = 29,
	INTERNED_CORRELATION = 43,
	ENTRY_IID = 1,
	ENTRY_TEXT = 2,
};

/* Mapping, Frame, Callstack */
enum {
	MAPPING_BUILD_ID = 2,
	MAPPING_START = 4,
	MAPPING_END = 5,
	MAPPING_LOAD_BIAS = 6,
	MAPPING_PATH = 7,
	MAPPING_OFFSET = 8,
	FRAME_FUNCTION = 2,
	FRAME_MAPPING = 3,
	FRAME_ADDRESS = 4,
	FRAME_SOURCE_PATH = 5,
	FRAME_LINE = 6,
	CALLSTACK_FRAME = 2,
};

/* ModuleSymbols, AddressSymbols, whose lines have the fields of a frame of InlineCallstack */
enum {
	MODULE_PATH = 1,
	MODULE_BUILD_ID = 2,
	MODULE_SYMBOLS = 3,
	SYMBOLS_AT = 1,
	SYMBOLS_LINE = 2,
	BUILD_ID_MOST = 64, /* bytes */
};

/* PerfSample, PerfSampleDefaults, PerfEvents.Timebase, StreamingProfilePacket */
enum {
	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_CALLSTACK = 4,
	SAMPLE_COUNT = 6,
	SAMPLE_FOLLOWERS = 7,
	SAMPLE_LOST = 17,
	SAMPLE_SKIPPED = 18,
	SAMPLE_PRODUCER = 19,
	SAMPLE_TIMEBASE = 1,
	SAMPLE_FOLLOWER = 4,
	FOLLOWER_COUNTER = 1,
	FOLLOWER_TRACEPOINT = 2,
	FOLLOWER_NAME = 4,
	TIMEBASE_PERIOD = 1,
	TIMEBASE_TRACEPOINT = 3,
	TIMEBASE_COUNTER = 4,
	TIMEBASE_NAME = 10,
	TRACEPOINT_NAME = 1,
	STREAMING_CALLSTACK = 1,
	STREAMING_DELTA = 2,
};

/* TracePacketDefaults */
enum { DEFAULTS_TRACK_EVENT = 11, DEFAULTS_PERF_SAMPLE = 12, DEFAULTS_CLOCK = 58 };

/* FtraceEventBundle, its CompactSched, and FtraceEvent */
enum {
	BUNDLE_CPU = 1,
	BUNDLE_EVENT = 2,
	BUNDLE_LOST = 3,
	BUNDLE_SCHED = 4,
	BUNDLE_CLOCK = 5,
	BUNDLE_FTRACE_TIME = 6,
	BUNDLE_BOOT_TIME = 7,
	BUNDLE_DESCRIPTOR = 11,
	DESCRIPTOR_FIELD = 1,
	DESCRIPTOR_MESSAGE = 2,
	DESCRIPTOR_GROUP = 3,
	FTRACE_TIME = 1,
	FTRACE_PID = 2,
	FTRACE_PRINT = 3,
	FTRACE_SCHED_SWITCH = 4,
	FTRACE_FLAGS = 5,
	FTRACE_SCHED_WAKEUP = 17,
	FTRACE_SCHED_WAKING = 20,
	FTRACE_SOFTIRQ_ENTRY = 24,
	FTRACE_SOFTIRQ_RAISE = 26,
	FTRACE_SCHED_WAKEUP_NEW = 114,
	FTRACE_TASK_RENAME = 236,
	FTRACE_GENERIC = 327,
	FTRACE_GENERATED_FIRST = 65536, /* events with a descriptor in the bundle */
	PRINT_TEXT = 2,
	CLOCK_OF_FTRACE_GLOBAL = 2,
	CLOCK_OF_FTRACE_LOCAL = 3,
	CLOCK_OF_FTRACE_MONO_RAW = 4,
};

/* CompactSched: columns */
enum {
	COMPACT_SWITCH_TIME = 1,
	COMPACT_SWITCH_STATE = 2,
	COMPACT_SWITCH_PID = 3,
	COMPACT_SWITCH_PRIO = 4,
	COMPACT_COMMS = 5,
	COMPACT_SWITCH_COMM = 6,
	COMPACT_WAKING_TIME = 7,
	COMPACT_WAKING_PID = 8,
	COMPACT_WAKING_CPU = 9,
	COMPACT_WAKING_PRIO = 10,
	COMPACT_WAKING_COMM = 11,
	COMPACT_WAKING_FLAGS = 12,
	COMPACT_FIELDS,
};

/* ProcessTree */
enum {
	TREE_PROCESS = 1,
	TREE_THREAD = 2,
	TREE_PID = 1,
	TREE_CMDLINE = 3,
	TREE_TID = 1,
	TREE_THREAD_NAME = 2,
	TREE_TGID = 3,
};

/* TraceConfig. The mark of a part (part.h) is the name of the session. The first packet of the file
 * is a configuration, with the mark as it is known at the begin: until=-. The last packet has the
 * whole mark. */
enum { CONFIG_SESSION_NAME = 22 };

/* Viewers make the tracks of CPUs and the states of threads from bundles of ftrace events. Where
 * such an event is also in the trace as an instant or a sample, with more than a bundle can hold,
 * its bundle is of this sequence of packets, and trdecode leaves the bundle out. Sequences of other
 * writers have small numbers. */
enum { PERFETTO_DERIVED_SEQUENCE = 0x74727574 };

#endif
