/*
 * perf.h - the layout of perf.data, and of the records of perf_event_open(2)
 *
 * A file begins with a header of 104 bytes, which gives the sections of attributes and records; the
 * sections of features follow the records. A pipe begins with a header of 16 bytes, and attributes
 * and features are records. Numbers have the byte order of the recording machine, which the magic
 * number shows. A record is {u32 type, u16 misc, u16 size} and a body.
 *
 * Facts: include/uapi/linux/perf_event.h, tools/lib/perf/include/perf/event.h,
 * tools/perf/util/header.h and tools/perf/Documentation/perf.data-file-format.txt of Linux; the
 * first format of the file is that of Linux 2.6.31 to 3.1.
 */
#ifndef TR_FORMATS_PERF_H
#define TR_FORMATS_PERF_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	PERF_FILE_HEADER = 104, /* u64 magic, size, attr_size; {u64 offset, size} of attributes,
				   records and event types; 256 bits of features */
	PERF_PIPE_HEADER = 16,	/* u64 magic, size */
	PERF_RECORD_HEAD = 8,
	PERF_RECORD_MOST = 65535,
	PERF_ATTR_LEAST = 64,
	PERF_FEATURES = 256,
	PERF_EVENT_NAME = 64, /* bytes of a name in the section of event types, and its u64 id */
};

#define PERF_MAGIC_1 "PERFFILE"
#define PERF_MAGIC_2 "PERFILE2"

/* The file of a directory of perf record --threads or --kcore that is a perf.data. */
#define PERF_DIRECTORY_DATA "data"

/* Offsets in a file's header. */
enum perf_header_offset {
	PERF_AT_SIZE = 8,
	PERF_AT_ATTR_SIZE = 16,
	PERF_AT_ATTRS = 24,
	PERF_AT_DATA = 40,
	PERF_AT_EVENT_TYPES = 56,
	PERF_AT_FEATURES = 72,
};

/* Offsets in an attribute; those from PERF_ATTR_LEAST on exist if its size says so. */
enum perf_attr_offset {
	PERF_ATTR_TYPE = 0,
	PERF_ATTR_SIZE = 4,
	PERF_ATTR_CONFIG = 8,
	PERF_ATTR_PERIOD = 16, /* or frequency */
	PERF_ATTR_SAMPLE_TYPE = 24,
	PERF_ATTR_READ_FORMAT = 32,
	PERF_ATTR_FLAGS = 40,
	PERF_ATTR_BRANCH_TYPE = 72,
	PERF_ATTR_USER_REGS = 80,
	PERF_ATTR_USER_STACK = 88, /* u32 */
	PERF_ATTR_CLOCK_ID = 92,   /* i32 */
	PERF_ATTR_INTR_REGS = 96,
};

/* Types of attributes; others are numbers of a PMU. */
enum perf_attr_type {
	PERF_TYPE_HARDWARE,
	PERF_TYPE_SOFTWARE,
	PERF_TYPE_TRACEPOINT,
	PERF_TYPE_CACHE,
	PERF_TYPE_RAW,
	PERF_TYPE_BREAKPOINT,
};

enum { PERF_SOFTWARE_CPU_CLOCK = 0, PERF_SOFTWARE_TASK_CLOCK = 1, PERF_SOFTWARE_BPF_OUTPUT = 10 };

/* Bits of an attribute's flags, as a little-endian machine numbers them. */
enum perf_attr_flag {
	PERF_FLAG_INHERIT = 1,
	PERF_FLAG_EXCLUDE_USER = 4,
	PERF_FLAG_EXCLUDE_KERNEL = 5,
	PERF_FLAG_EXCLUDE_HV = 6,
	PERF_FLAG_MMAP = 8,
	PERF_FLAG_COMM = 9,
	PERF_FLAG_FREQ = 10,
	PERF_FLAG_TASK = 13,
	PERF_FLAG_PRECISE = 15, /* two bits */
	PERF_FLAG_SAMPLE_ID_ALL = 18,
	PERF_FLAG_EXCLUDE_HOST = 19,
	PERF_FLAG_EXCLUDE_GUEST = 20,
	PERF_FLAG_MMAP2 = 23,
	PERF_FLAG_USE_CLOCK_ID = 25,
	PERF_FLAG_SWITCH = 26,
	PERF_FLAG_NAMESPACES = 28,
	PERF_FLAG_KSYMBOL = 29,
	PERF_FLAG_BPF = 30,
	PERF_FLAG_CGROUP = 32,
	PERF_FLAG_TEXT_POKE = 33,
	PERF_FLAG_DEFER_CALLCHAIN = 38,
};

/* Bits of sample_type. The fields of a sample are in this order, except that the identifier is
 * first, and that of the bits from WEIGHT on some are in another order (perf.c). */
enum perf_sample_bit {
	PERF_SAMPLE_IP = 1 << 0,
	PERF_SAMPLE_TID = 1 << 1,
	PERF_SAMPLE_TIME = 1 << 2,
	PERF_SAMPLE_ADDR = 1 << 3,
	PERF_SAMPLE_READ = 1 << 4,
	PERF_SAMPLE_CALLCHAIN = 1 << 5,
	PERF_SAMPLE_ID = 1 << 6,
	PERF_SAMPLE_CPU = 1 << 7,
	PERF_SAMPLE_PERIOD = 1 << 8,
	PERF_SAMPLE_STREAM_ID = 1 << 9,
	PERF_SAMPLE_RAW = 1 << 10,
	PERF_SAMPLE_BRANCH_STACK = 1 << 11,
	PERF_SAMPLE_REGS_USER = 1 << 12,
	PERF_SAMPLE_STACK_USER = 1 << 13,
	PERF_SAMPLE_WEIGHT = 1 << 14,
	PERF_SAMPLE_DATA_SRC = 1 << 15,
	PERF_SAMPLE_IDENTIFIER = 1 << 16,
	PERF_SAMPLE_TRANSACTION = 1 << 17,
	PERF_SAMPLE_REGS_INTR = 1 << 18,
	PERF_SAMPLE_PHYS_ADDR = 1 << 19,
	PERF_SAMPLE_AUX = 1 << 20,
	PERF_SAMPLE_CGROUP = 1 << 21,
	PERF_SAMPLE_DATA_PAGE_SIZE = 1 << 22,
	PERF_SAMPLE_CODE_PAGE_SIZE = 1 << 23,
	PERF_SAMPLE_WEIGHT_STRUCT = 1 << 24,
};

enum perf_read_bit {
	PERF_READ_ENABLED = 1,
	PERF_READ_RUNNING = 2,
	PERF_READ_ID = 4,
	PERF_READ_GROUP = 8,
	PERF_READ_LOST = 16,
};

enum perf_branch_type { /* bits of branch_sample_type */
			PERF_BRANCH_CALL_STACK = 1 << 11,
			PERF_BRANCH_HW_INDEX = 1 << 17,
			PERF_BRANCH_COUNTERS = 1 << 19,
};
enum { PERF_BRANCH_FROM = 0, PERF_BRANCH_TO = 8, PERF_BRANCH_SIZE = 24 }; /* of an entry */

/* Types of records: of the kernel below 64, of perf from there on. */
enum perf_record_type {
	PERF_RECORD_MMAP = 1,
	PERF_RECORD_LOST = 2,
	PERF_RECORD_COMM = 3,
	PERF_RECORD_EXIT = 4,
	PERF_RECORD_THROTTLE = 5,
	PERF_RECORD_UNTHROTTLE = 6,
	PERF_RECORD_FORK = 7,
	PERF_RECORD_READ = 8,
	PERF_RECORD_SAMPLE = 9,
	PERF_RECORD_MMAP2 = 10,
	PERF_RECORD_AUX = 11,
	PERF_RECORD_ITRACE_START = 12,
	PERF_RECORD_LOST_SAMPLES = 13,
	PERF_RECORD_SWITCH = 14,
	PERF_RECORD_SWITCH_CPU_WIDE = 15,
	PERF_RECORD_NAMESPACES = 16,
	PERF_RECORD_KSYMBOL = 17,
	PERF_RECORD_BPF_EVENT = 18,
	PERF_RECORD_CGROUP = 19,
	PERF_RECORD_TEXT_POKE = 20,
	PERF_RECORD_AUX_OUTPUT_HW_ID = 21,
	PERF_RECORD_CALLCHAIN_DEFERRED = 22,
	PERF_RECORD_OF_PERF = 64,
	PERF_RECORD_HEADER_ATTR = 64,
	PERF_RECORD_HEADER_EVENT_TYPE = 65,
	PERF_RECORD_HEADER_TRACING_DATA =
		66, /* u32 size, and maybe padding; that many bytes follow */
	PERF_RECORD_HEADER_BUILD_ID = 67,
	PERF_RECORD_FINISHED_ROUND = 68,
	PERF_RECORD_ID_INDEX = 69,
	PERF_RECORD_AUXTRACE_INFO = 70,
	PERF_RECORD_AUXTRACE = 71, /* u64 size; that many bytes follow the record */
	PERF_RECORD_STAT = 76,	   /* a count of perf stat */
	PERF_RECORD_EVENT_UPDATE = 78,
	PERF_RECORD_HEADER_FEATURE = 80,
	PERF_RECORD_COMPRESSED = 81,
	PERF_RECORD_COMPRESSED2 = 83, /* u64 size, that many bytes, and padding */
	PERF_RECORD_KNOWN = 96,	      /* no version of perf has so many types */
};

/*
 * Types of the records that simpleperf of Android adds. Their sizes have 32 bits: the upper 16 are
 * in place of misc.
 *
 * Facts: the sources of simpleperf (record) in Android's platform/system/extras.
 */
enum simpleperf_record_type {
	SIMPLEPERF_KERNEL_SYMBOL = 32769, /* u32 size; text of /proc/kallsyms */
	SIMPLEPERF_DSO = 32770,		  /* these two are of versions before 2017 */
	SIMPLEPERF_SYMBOL = 32771,
	SIMPLEPERF_SPLIT = 32772, /* a part of a record that is too long for a reader */
	SIMPLEPERF_SPLIT_END = 32773,
	SIMPLEPERF_EVENT_ID = 32774, /* u64 count; {u64 number of the event, u64 id} */
	SIMPLEPERF_CALLCHAIN = 32775,
	SIMPLEPERF_UNWINDING_RESULT = 32776,
	SIMPLEPERF_TRACING_DATA = 32777, /* u32 size; the data */
	SIMPLEPERF_DEBUG = 32778,
	SIMPLEPERF_KNOWN = 32779,
};

enum perf_abi { PERF_ABI_NONE, PERF_ABI_32, PERF_ABI_64 }; /* of recorded registers */

/* Bits of misc. The same bit has another meaning in another type. */
enum perf_misc {
	PERF_MISC_MODE = 7, /* mask: enum perf_mode */
	PERF_MISC_COMM_EXEC = 1 << 13,
	PERF_MISC_SWITCH_OUT = 1 << 13,
	PERF_MISC_FORK_EXEC = 1 << 13,
	PERF_MISC_PREEMPT = 1 << 14,
	PERF_MISC_MMAP_BUILD_ID = 1 << 14,
	PERF_MISC_BUILD_ID_SIZE = 1 << 15,
	PERF_MISC_LOST_BY_BPF = 1 << 15, /* LOST_SAMPLES: a filter refused them */
};

enum perf_mode {
	PERF_MODE_UNKNOWN,
	PERF_MODE_KERNEL,
	PERF_MODE_USER,
	PERF_MODE_HYPERVISOR,
	PERF_MODE_GUEST_KERNEL,
	PERF_MODE_GUEST_USER,
};

/* Addresses of a call chain that are none: marks of what follows. */
#define PERF_CONTEXT_HV		   ((uint64_t)-32)
#define PERF_CONTEXT_KERNEL	   ((uint64_t)-128)
#define PERF_CONTEXT_USER	   ((uint64_t)-512)
#define PERF_CONTEXT_USER_DEFERRED ((uint64_t)-640) /* a cookie follows, the last number */
#define PERF_CONTEXT_GUEST	   ((uint64_t)-2048)
#define PERF_CONTEXT_MOST	   ((uint64_t)-4095) /* marks are from here on */

/* Features: bits of the header, and numbers in HEADER_FEATURE. */
enum perf_feature {
	PERF_FEATURE_TRACING_DATA = 1,
	PERF_FEATURE_BUILD_ID = 2,
	PERF_FEATURE_HOSTNAME = 3,
	PERF_FEATURE_RELEASE = 4,
	PERF_FEATURE_VERSION = 5,
	PERF_FEATURE_ARCH = 6,
	PERF_FEATURE_CPUS = 7,
	PERF_FEATURE_CPU_NAME = 8,
	PERF_FEATURE_CPU_ID = 9,
	PERF_FEATURE_MEMORY = 10,
	PERF_FEATURE_COMMAND = 11,
	PERF_FEATURE_EVENTS = 12,
	PERF_FEATURE_TOPOLOGY = 13,
	PERF_FEATURE_NUMA = 14,
	PERF_FEATURE_PMUS = 16,
	PERF_FEATURE_GROUPS = 17,
	PERF_FEATURE_CACHE = 20,
	PERF_FEATURE_SAMPLE_TIME = 21,
	PERF_FEATURE_CLOCK = 23,
	PERF_FEATURE_DIRECTORY = 24,
	PERF_FEATURE_COMPRESSED = 27,
	PERF_FEATURE_CLOCK_DATA = 29,
	SIMPLEPERF_FEATURE_FILE = 128, /* symbols */
	SIMPLEPERF_FEATURE_META = 129, /* a key and a value in turn, each with a NUL */
	SIMPLEPERF_FEATURE_FILE2 = 132,
};

/* A bit of the protection in MMAP2: the file is of a JIT compiler, and its symbols have addresses
 * in memory. simpleperf's own. */
enum { SIMPLEPERF_MAP_BY_ADDRESS = 0x4000 };

/* Sizes of the bodies up to their texts. */
enum perf_body {
	PERF_MMAP_BODY = 32,  /* u32 pid, tid; u64 start, length, offset in the file; path */
	PERF_MMAP2_BODY = 64, /* the same; u32 major, minor; u64 inode, generation, or u8 size of
				 the build id, 3 zeros, 20 bytes of it; u32 protection, flags; path
			       */
	PERF_MMAP2_PROTECTION = 56,
	PERF_COMM_BODY = 8,	 /* u32 pid, tid; name */
	PERF_FORK_BODY = 24,	 /* u32 pid, parent's pid, tid, parent's tid; u64 time. EXIT too */
	PERF_KSYMBOL_BODY = 16,	 /* u64 address; u32 length; u16 kind, flags; name */
	PERF_CGROUP_BODY = 8,	 /* u64 id; path */
	PERF_BUILD_ID_BODY = 28, /* i32 pid; 20 bytes, u8 size, 3 zeros; path */
	PERF_DEFERRED_BODY = 16, /* u64 cookie, number of addresses; addresses, marks among them */
};

enum { PERF_HYBRID_NAME = 128 };

/* Test whether an event of a PMU is a code, such as event=0x3c or r3c, which means another event on
 * another PMU. */
static inline bool perf_is_code(const char *event, size_t n)
{
	size_t digits = 1;

	while (digits < n && strchr("0123456789abcdefABCDEF", event[digits]) && event[digits])
		digits++;
	return memchr(event, '=', n) || (n > 1 && event[0] == 'r' && digits == n);
}

/*
 * Hybrid processors count an event in the PMU of each kind of core: "cpu_core/cycles/P" and
 * "cpu_atom/cycles/P" are the event "cycles:P". A code is another event on each PMU. Fill its name,
 * cut at PERF_HYBRID_NAME - 1 bytes. Returns the size of the PMU's name, with which the event's
 * begins; 0: the event is no such one.
 */
static inline size_t perf_hybrid_event(const char *event, size_t n, char name[PERF_HYBRID_NAME])
{
	static const char *const pmus[] = {"cpu_core", "cpu_atom", "armv8_", "armv9_"};
	const char *slash = memchr(event, '/', n), *last = memrchr(event, '/', n);
	size_t size = slash ? (size_t)(slash - event) : 0, after;

	for (size_t i = 0; slash != last && i < sizeof pmus / sizeof *pmus; i++) {
		size_t begin = strlen(pmus[i]);

		if (size < begin || memcmp(event, pmus[i], begin) != 0 ||
		    (size > begin && pmus[i][begin - 1] != '_') ||
		    perf_is_code(slash + 1, (size_t)(last - slash - 1)))
			continue;
		after = (size_t)(event + n - (last + 1));
		snprintf(name, PERF_HYBRID_NAME, "%.*s%s%.*s", (int)(last - slash - 1), slash + 1,
			 after ? ":" : "", (int)after, last + 1);
		return size;
	}
	return 0;
}

/* A flag of PERF_RECORD_KSYMBOL: the kernel has freed the code. */
enum { PERF_KSYMBOL_UNREGISTER = 1 };

#endif
