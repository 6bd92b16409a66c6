/*
 * perfetto_tables.h - the fields of messages, the values of enumerations, and the events of ftrace
 *
 *     ProcessTree processes:ProcessTree.Process threads:ProcessTree.Thread ...
 *     ProcessTree.Thread tid name tgid nstid:-
 *     3 ftrace:print ip:u buf:s
 *
 * A row is the name of a message and its fields. A FIELD is "[NUMBER=]NAME[:KIND]"; without a
 * number it is 1 more than the one before.
 *
 *     KIND       the field
 *     none       is read
 *     -          is left out
 *     a message  is read, and so are the fields of the message
 *     an enum    is an argument: a name of the row of the enumeration
 *     i u z      is an argument: an integer with a sign, without a sign, in zigzag
 *     b s x      is an argument: a bool, a text, bytes
 *     f d        is an argument: a number of 4, of 8 bytes with a point
 *     l a        is an argument: the iid of a SourceLocation, a list of u
 *
 * A row of an event of ftrace is "NUMBER [GROUP:]NAME FIELD...", where NUMBER is that of the event
 * in the message FtraceEvent, and GROUP is the directory of the event in tracefs. The rows of a
 * table are in the order of their numbers; NULL ends it. Fields of other kinds are not read.
 *
 * Source: protos/perfetto/trace (numbers and names), src/traced/probes/ftrace/event_info.cc
 * (groups) and include/perfetto/ext/traced/sys_stats_counters.h (counters, as trace_processor names
 * them) of the project perfetto, of August 2026.
 */
#ifndef TR_TRDECODE_PERFETTO_TABLES_H
#define TR_TRDECODE_PERFETTO_TABLES_H

#include <stddef.h>

/* The rows of perfetto_messages. Each field of a message is read, or counted as left out. */
enum perfetto_message {
	MESSAGE_PACKET, /* its payloads */
	MESSAGE_BUNDLE,
	MESSAGE_COMPACT_SCHED,
	MESSAGE_GENERIC_DESCRIPTOR,
	MESSAGE_FTRACE_EVENT,
	MESSAGE_GRAPH_ENTRY,
	MESSAGE_GRAPH_EXIT,
	MESSAGE_TREE,
	MESSAGE_TREE_PROCESS,
	MESSAGE_TREE_THREAD,
	MESSAGE_CLOCK_SNAPSHOT,
	MESSAGE_CLOCK,
	MESSAGE_SYS_STATS,
	MESSAGE_MEMINFO,
	MESSAGE_VMSTAT,
	MESSAGE_CPU_TIMES,
	MESSAGE_INTERRUPT,
	MESSAGE_DEVFREQ,
	MESSAGE_BUDDY,
	MESSAGE_DISK,
	MESSAGE_PSI,
	MESSAGE_THERMAL,
	MESSAGE_CPUIDLE,
	MESSAGE_CPUIDLE_ENTRY,
	MESSAGE_SLAB,
	MESSAGE_PROCESS_STATS,
	MESSAGE_PROCESS,
	MESSAGE_TRACK_EVENT, /* numbers beyond the limits, and values of no counter */
	MESSAGE_LEGACY_EVENT,
	MESSAGE_ANNOTATION,
	MESSAGE_INTERNED,
	MESSAGE_INTERNED_STRING,
	MESSAGE_SOURCE_LOCATION,
	MESSAGE_FRAME,
	MESSAGE_CALLSTACK,
	MESSAGE_MAPPING,
	MESSAGE_TRACE_CONFIG,
	MESSAGE_TRACE_STATS,
	MESSAGE_BUFFER_STATS,
	MESSAGE_PROFILE,
	MESSAGE_HEAP_SAMPLES,
	MESSAGE_HEAP_SAMPLE,
	MESSAGE_LOG,
	MESSAGE_LOG_EVENT,
	MESSAGE_PROCESS_DESCRIPTOR,
	MESSAGE_THREAD_DESCRIPTOR,
	MESSAGE_PACKAGES,
	MESSAGE_PACKAGE,
	MESSAGE_STREAMING_PROFILE,
	MESSAGE_DEFAULTS,
	MESSAGE_EVENT_DEFAULTS,
	MESSAGE_SAMPLE_DEFAULTS,
	MESSAGE_TIMEBASE,
	MESSAGE_TRACEPOINT,
	MESSAGE_FOLLOWER,
	MESSAGE_TRACK,
	MESSAGE_COUNTER,
	MESSAGE_MODULE,
	MESSAGE_ADDRESS_SYMBOLS,
	MESSAGE_LINE,
	MESSAGE_PERF_SAMPLE,
	MESSAGE_FRAME_TIMELINE, /* those of its fields, in order: */
	MESSAGE_EXPECTED_DISPLAY,
	MESSAGE_ACTUAL_DISPLAY,
	MESSAGE_EXPECTED_SURFACE,
	MESSAGE_ACTUAL_SURFACE,
	MESSAGE_FRAME_END,
	MESSAGE_TRIGGER,
	MESSAGE_SERVICE_EVENT,
	MESSAGE_UNKNOWN, /* a message of whose fields none is known */
	MESSAGE_TASK_EXECUTION,
	MESSAGE_USER_EVENT,
	MESSAGE_KEYED_SERVICE,
	MESSAGE_LEGACY_IPC,
	MESSAGE_HISTOGRAM_SAMPLE,
	MESSAGE_LATENCY_COMPONENT,
	MESSAGE_LATENCY_INFO,
	MESSAGE_FRAME_REPORTER,
	MESSAGE_APPLICATION_STATE,
	MESSAGE_RENDERER_STATE,
	MESSAGE_WINDOW_HANDLE,
	MESSAGE_CONTENT_SETTINGS,
	MESSAGE_ACTIVE_PROCESSES,
	MESSAGE_SCREENSHOT,
	MESSAGE_MESSAGE_PUMP,
	MESSAGE_MOJO_EVENT,
	MESSAGE_SCHEDULER_STATE,
	VALUES_MEMINFO, /* from here on values, not fields */
	VALUES_VMSTAT,
	VALUES_PSI,
	VALUES_EVENT_COUNTER,
	VALUES_PRESENT,
	VALUES_PREDICTION,
	VALUES_SEVERITY,
	VALUES_JANK,
	PERFETTO_MESSAGES,
};

extern const char *const perfetto_messages[]; /* by enum perfetto_message */
extern const char *const perfetto_ftrace_3[], *const perfetto_ftrace_210[],
						      *const perfetto_ftrace_400[];

#endif
