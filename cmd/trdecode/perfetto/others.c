/*
 * others.c - packets that are neither events of tracks nor of ftrace: statistics of the system and
 * of processes as counters, Android's log as instants, losses of the tracing service as gaps
 */
#include <stdio.h>

#include "cmd/trdecode/perfetto/annotations.h"

/* SysStats, ProcessStats, TraceStats, AndroidLogPacket, PackagesList */
enum {
	SYS_MEMINFO = 1,
	SYS_VMSTAT = 2,
	SYS_CPU = 3,
	SYS_FORKS = 4,
	SYS_IRQS = 5,
	SYS_SOFTIRQS = 7,
	SYS_DEVFREQ = 10,
	SYS_CPUFREQ = 11,
	SYS_PSI = 14,
	SYS_THERMAL = 15,
	SYS_GPUFREQ = 17,
	PAIR_KEY = 1,
	PAIR_VALUE = 2,
	CPU_NUMBER = 1,
	STATS_PROCESS = 1,
	STATS_PID = 1,
	TRACE_BUFFER = 1,
	BUFFER_LOST_PACKETS = 19,
	BUFFER_OVERWRITTEN = 3,
	LOG_EVENT = 1,
	LOG_PID = 2,
	LOG_TID = 3,
	LOG_TIME = 5,
	LOG_TAG = 6,
	LOG_PRIO = 7,
	LOG_TEXT = 8,
	PACKAGE = 1,
	PACKAGE_NAME = 1,
	PACKAGE_UID = 2,
	PACKAGE_VERSION = 5,
};

/* What a counter is of. */
struct counter_of {
	const char *name;
	int32_t pid, cpu; /* -1: none */
};

static int keep_counter(struct perfetto *p, uint64_t time, const struct counter_of *of,
			uint64_t value)
{
	struct perfetto_track_key key = {.kind = PERFETTO_OF_COUNTER,
					 .pid = of->pid,
					 .tid = -1,
					 .cpu = of->cpu,
					 .name = writer_text(p->w, of->name)};
	struct perfetto_record r = {.kind = PERFETTO_COUNTER, .flags = PERFETTO_VALUE};
	uint32_t number = perfetto_other_track(p, &key);

	if (!number)
		return -1;
	r.track = number - 1;
	p->scratch.arguments.size = 0;
	return perfetto_keep(p, time, &r, value);
}

/* --- statistics of the system --- */

static const char *const meminfo[] = {"",
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
				      "IonHeap",
				      "IonHeapPool"};
static const char *const psi[] = {"",	     "cpu.some",    "cpu.full",	  "io.some",
				  "io.full", "memory.some", "memory.full"};

/* Keep a value with a key: a number that names a counter, or a text. */
static int keep_pair(struct perfetto *p, uint64_t time, uint32_t field,
		     struct protobuf_view message)
{
	struct protobuf_view key = {NULL, NULL};
	struct protobuf_field f;
	uint64_t number = 0, value = 0;
	char name[128];

	while (protobuf_next(&message, &f) > 0) {
		if (f.number == PAIR_KEY) {
			number = f.value;
			key = f.bytes;
		} else if (f.number == PAIR_VALUE) {
			value = f.value;
		}
	}
	if (field == SYS_MEMINFO && number < sizeof meminfo / sizeof *meminfo)
		snprintf(name, sizeof name, "meminfo %s", meminfo[number]);
	else if (field == SYS_PSI && number < sizeof psi / sizeof *psi)
		snprintf(name, sizeof name, "psi %s", psi[number]);
	else if (field == SYS_DEVFREQ || field == SYS_THERMAL)
		snprintf(name, sizeof name, "%s %.*s", field == SYS_DEVFREQ ? "devfreq" : "thermal",
			 (int)(protobuf_size(key) < 100 ? protobuf_size(key) : 100),
			 key.at ? (const char *)key.at : "");
	else
		snprintf(name, sizeof name, "%s %u",
			 field == SYS_MEMINFO ? "meminfo"
			 : field == SYS_PSI   ? "psi"
					      : "vmstat",
			 (unsigned)number);
	return keep_counter(p, time, &(struct counter_of){name, -1, -1}, value);
}

/* Keep the times of a CPU, in ns. */
static int keep_cpu(struct perfetto *p, uint64_t time, struct protobuf_view message)
{
	static const char *const names[] = {NULL,	   NULL,       "cpu user",   "cpu nice",
					    "cpu system",  "cpu idle", "cpu iowait", "cpu irq",
					    "cpu softirq", "cpu steal"};
	struct protobuf_view rest = message;
	struct counter_of of = {.pid = -1, .cpu = 0};
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0)
		if (f.number == CPU_NUMBER)
			of.cpu = f.value < UINT16_MAX ? (int32_t)f.value : -1;
	while (protobuf_next(&message, &f) > 0) {
		if (f.number >= sizeof names / sizeof *names || !names[f.number])
			continue;
		of.name = names[f.number];
		if (keep_counter(p, time, &of, f.value))
			return -1;
	}
	return 0;
}

static int sys_stats(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload, list;
	struct counter_of of = {.pid = -1, .cpu = -1}, cpufreq = {"cpufreq", -1, -1};
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
			failed = keep_counter(p, packet->time, &of, f.value);
			break;
		case SYS_CPUFREQ:
			for (list = f.bytes; !failed && protobuf_each(&f, &list, &value);) {
				cpufreq.cpu++;
				failed = keep_counter(p, packet->time, &cpufreq, value);
			}
			break;
		}
	return failed;
}

/* --- statistics of processes --- */

static int process_stats(struct perfetto *p, const struct perfetto_packet *packet)
{
	static const char *const names[] = {NULL,	    NULL,	    "vm_size_kb",
					    "vm_rss_kb",    "rss_anon_kb",  "rss_file_kb",
					    "rss_shmem_kb", "vm_swap_kb",   "vm_locked_kb",
					    "vm_hwm_kb",    "oom_score_adj"};
	struct protobuf_view rest = packet->payload, process;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0) {
		struct counter_of of = {.pid = -1, .cpu = -1};

		if (f.number != STATS_PROCESS || f.wire != PROTOBUF_LENGTH)
			continue;
		for (process = f.bytes; protobuf_next(&process, &f) > 0;)
			if (f.number == STATS_PID)
				of.pid = f.value <= INT32_MAX ? (int32_t)f.value : -1;
			else if (f.number < sizeof names / sizeof *names && names[f.number]) {
				of.name = names[f.number];
				if (keep_counter(p, packet->time, &of, f.value))
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
		case LOG_PID: key.pid = f.value <= INT32_MAX ? (int32_t)f.value : -1; break;
		case LOG_TID: key.tid = f.value <= INT32_MAX ? (int32_t)f.value : -1; break;
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

/* --- packages --- */

/* Append the packages to the text of a META: lines "NAME UID VERSION". */
static int packages(struct perfetto *p, const struct perfetto_packet *packet)
{
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
		if (protobuf_size(name) > 256)
			continue;
		if (buffer_append(&p->packages, name.at ? (const void *)name.at : "",
				  protobuf_size(name)) ||
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
	case PACKET_PACKAGES: return packages(p, packet);
	case PACKET_PROFILE: return perfetto_heap_profile(p, s, packet);
	case PACKET_MODULE_SYMBOLS: return perfetto_module_symbols(p, packet);
	case PACKET_FRAME_TIMELINE: return perfetto_frame_timeline(p, packet);
	}
	return 0;
}
