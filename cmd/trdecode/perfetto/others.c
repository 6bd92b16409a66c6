/*
 * others.c - packets that are neither events of tracks nor of ftrace: statistics of the system and
 * of processes as counters, Android's log, triggers and events of the tracing service as instants,
 * losses of the tracing service as gaps
 */
#include <stdio.h>

#include "cmd/trdecode/perfetto/annotations.h"
#include "cmd/trdecode/perfetto/packet_reader.h"
#include "common/formats/softirqs.h"

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
static void numbered_name(char name[128], const char *kind, const char *const *names, size_t n,
			  uint64_t number)
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
		numbered_name(name, "meminfo", meminfo, sizeof meminfo / sizeof *meminfo, number);
	else if (field == SYS_VMSTAT)
		numbered_name(name, "vmstat", vmstat, sizeof vmstat / sizeof *vmstat, number);
	else if (field == SYS_PSI)
		numbered_name(name, "psi", psi, sizeof psi / sizeof *psi, number);
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
static void text_of(struct protobuf_view message, uint32_t number, char text[101])
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

	text_of(message, PAIR_KEY, of);
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

	text_of(message, PAIR_KEY, node);
	text_of(message, BUDDY_ZONE, zone);
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
		text_of(f.bytes, PAIR_KEY, state);
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
				of.pid = f.value <= INT32_MAX ? (int32_t)f.value : -1;
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

static int put_field(struct perfetto *p, const struct instant_field *as,
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
		if (f.number < n && fields[f.number].name && put_field(p, &fields[f.number], &f))
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
