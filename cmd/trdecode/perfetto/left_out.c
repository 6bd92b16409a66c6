/*
 * left_out.c - names of the fields that the stream does not contain, for the remark at the end
 */
#include "cmd/trdecode/perfetto/perfetto.h"

/* A field that is known and left out. Others have no name here, and are reported by number. */
struct field_name {
	uint8_t message, number;
	const char *name;
};

static const char *const messages[PERFETTO_MESSAGES] = {
	[MESSAGE_SYS_STATS] = "SysStats",
	[MESSAGE_CPU_TIMES] = "SysStats.CpuTimes",
	[MESSAGE_INTERRUPT_COUNT] = "SysStats.InterruptCount",
	[MESSAGE_BUDDY_INFO] = "SysStats.BuddyInfo",
	[MESSAGE_DISK_STAT] = "SysStats.DiskStat",
	[MESSAGE_THERMAL_ZONE] = "SysStats.ThermalZone",
	[MESSAGE_CPUIDLE] = "SysStats.CpuIdleState",
	[MESSAGE_SLAB_INFO] = "SysStats.SlabInfo",
	[MESSAGE_PROCESS_STATS] = "ProcessStats",
	[MESSAGE_PROCESS] = "ProcessStats.Process",
	[MESSAGE_LOG_PACKET] = "AndroidLogPacket",
	[MESSAGE_LOG_EVENT] = "AndroidLogPacket.LogEvent",
	[MESSAGE_LEGACY_EVENT] = "TrackEvent.LegacyEvent",
	[MESSAGE_PERF_SAMPLE] = "PerfSample",
	[MESSAGE_PERF_DEFAULTS] = "PerfSampleDefaults",
	[MESSAGE_TRACK_DESCRIPTOR] = "TrackDescriptor",
	[MESSAGE_COUNTER_DESCRIPTOR] = "CounterDescriptor",
};

static const struct field_name names[] = {
	{MESSAGE_PROCESS, 11, "threads"},
	{MESSAGE_PROCESS, 15, "fds"},
	{MESSAGE_LOG_PACKET, 2, "stats"},
	{MESSAGE_LOG_EVENT, 9, "args"},
	{MESSAGE_LEGACY_EVENT, 4, "thread_duration_us"},
	{MESSAGE_LEGACY_EVENT, 15, "thread_instruction_delta"},
	{MESSAGE_TRACK_DESCRIPTOR, 18, "state"},
};

static const char *name_of(unsigned message, unsigned number)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].message == message && names[i].number == number)
			return names[i].name;
	return NULL;
}

/* Append the name of a field and how many there were. */
static int append_field(struct buffer *b, unsigned message, unsigned number, uint64_t count)
{
	const char *name = name_of(message, number);

	if (buffer_printf(b, "%s%s.", b->size ? ", " : "", messages[message]))
		return -1;
	if (name)
		return buffer_printf(b, "%s (%" PRIu64 ")", name, count);
	return number ? buffer_printf(b, "%u (%" PRIu64 ")", number, count)
		      : buffer_printf(b, "others (%" PRIu64 ")", count);
}

void perfetto_print_left_out(const struct perfetto *p)
{
	struct buffer b = {0};
	uint64_t count = 0;
	int failed = 0;

	for (unsigned m = 0; m < PERFETTO_MESSAGES; m++)
		for (unsigned i = 0; i < PERFETTO_FIELDS && !failed; i++) {
			uint64_t n = p->counts.left_out[m][i];

			count += n;
			failed = n && append_field(&b, m, i, n);
		}
	if (!failed && !buffer_u8(&b, 0))
		warn_count(p->input->name, count,
			   "{field|fields} {was|were} left out, by name or number: %s",
			   (const char *)b.data);
	buffer_free(&b);
}
