/*
 * uftrace.h - constants and the record layout of a uftrace data directory, shared by the decoder
 * and the encoder
 *
 * Source: recordings by uftrace 0.9 to 0.19.
 */
#ifndef TR_FORMATS_UFTRACE_H
#define TR_FORMATS_UFTRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- info: a header of 40 bytes, then one line or group of lines per bit of info_mask ---- */

#define UFTRACE_MAGIC	    "Ftrace!" /* 8 bytes with its NUL */
#define UFTRACE_MAGIC_SIZE  8
#define UFTRACE_HEADER_SIZE 40
/* An empty file that trencode adds where files of tasks are empty: these tasks have events of the
 * kernel or of perf, and no others. */
#define UFTRACE_EMPTY	    "trutils.empty"
#define UFTRACE_VERSION	    4 /* for writing; 3 is read too */
#define UFTRACE_VERSION_MIN 3

#define UFTRACE_MAX_STACK 1024 /* if the header gives none; also the range of a record's depth */

/* offsets in the header */
enum {
	UFTRACE_HDR_VERSION = 8,    /* u32 */
	UFTRACE_HDR_SIZE = 12,	    /* u16 */
	UFTRACE_HDR_ENDIAN = 14,    /* u8: EI_DATA, 1 little, 2 big */
	UFTRACE_HDR_CLASS = 15,	    /* u8: EI_CLASS, 1 32-bit, 2 64-bit */
	UFTRACE_HDR_FEAT_MASK = 16, /* u64 */
	UFTRACE_HDR_INFO_MASK = 24, /* u64 */
	UFTRACE_HDR_MAX_STACK = 32, /* u16, then 6 bytes of zero */
};

/* The session of a directory that trencode converted from another system's trace: names in it
 * are escaped (common/value/json.h), and those of its programs are names of threads, of any
 * length. */
#define UFTRACE_CONVERTED_SID "7472656e636f6465"

/* feat_mask. A bit does not prove that there are such data. */
#define UFTRACE_FEAT_PLTHOOK	     (1ull << 0)
#define UFTRACE_FEAT_TASK_SESSION    (1ull << 1)
#define UFTRACE_FEAT_KERNEL	     (1ull << 2)
#define UFTRACE_FEAT_ARGUMENT	     (1ull << 3)
#define UFTRACE_FEAT_RETVAL	     (1ull << 4)
#define UFTRACE_FEAT_SYM_REL_ADDR    (1ull << 5)
#define UFTRACE_FEAT_MAX_STACK	     (1ull << 6)
#define UFTRACE_FEAT_EVENT	     (1ull << 7)
#define UFTRACE_FEAT_PERF_EVENT	     (1ull << 8)
#define UFTRACE_FEAT_AUTO_ARGS	     (1ull << 9)
#define UFTRACE_FEAT_DEBUG_INFO	     (1ull << 10)
#define UFTRACE_FEAT_ESTIMATE_RETURN (1ull << 11)
#define UFTRACE_FEAT_SYM_SIZE	     (1ull << 12)
#define UFTRACE_FEAT_CALLSITE	     (1ull << 13)

/* info_mask: bit numbers, in the order of their lines */
enum uftrace_info_bit {
	UFTRACE_INFO_EXE_NAME,
	UFTRACE_INFO_EXE_BUILD_ID,
	UFTRACE_INFO_EXIT_STATUS,
	UFTRACE_INFO_CMDLINE,
	UFTRACE_INFO_CPUINFO,
	UFTRACE_INFO_MEMINFO,
	UFTRACE_INFO_OSINFO,
	UFTRACE_INFO_TASKINFO,
	UFTRACE_INFO_USAGEINFO,
	UFTRACE_INFO_LOADINFO,
	UFTRACE_INFO_ARG_SPEC,
	UFTRACE_INFO_RECORD_DATE,
	UFTRACE_INFO_PATTERN_TYPE,
	UFTRACE_INFO_VERSION,
	UFTRACE_INFO_UTC_OFFSET,
	UFTRACE_INFO_SYSCTL,
	UFTRACE_INFO_BITS,
};

/* ---- TID.dat: records of two words, in the byte order of the trace, 8-byte aligned ---- */

#define UFTRACE_RECORD_SIZE  16
#define UFTRACE_RECORD_MAGIC 5
#define UFTRACE_ADDR_BITS    48
#define UFTRACE_ADDR_MASK    ((1ull << UFTRACE_ADDR_BITS) - 1)

enum uftrace_record_type {
	UFTRACE_ENTRY,
	UFTRACE_EXIT,
	UFTRACE_LOST,
	UFTRACE_EVENT,
};

struct uftrace_record {
	uint64_t time;	/* ns */
	uint64_t addr;	/* function, event id, or number of lost records */
	uint32_t depth; /* as unpacked, below 1024 */
	uint8_t type;
	bool more; /* a payload follows */
};

/* swap: the trace's byte order is not this machine's. */
static inline uint64_t uftrace_swap64(uint64_t v, bool swap)
{
	return swap ? __builtin_bswap64(v) : v;
}

static inline uint32_t uftrace_swap32(uint32_t v, bool swap)
{
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint16_t uftrace_swap16(uint16_t v, bool swap)
{
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint16_t uftrace_get16(const uint8_t *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof v);
	return uftrace_swap16(v, swap);
}

static inline uint32_t uftrace_get32(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return uftrace_swap32(v, swap);
}

static inline uint64_t uftrace_get64(const uint8_t *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return uftrace_swap64(v, swap);
}

/*
 * The first word of a record is its time. The second, from bit 0: type (2 bits), more (1), magic
 * (3), depth (10), addr (48).
 */
static inline uint64_t uftrace_record_time(const uint8_t *record, bool swap)
{
	return uftrace_get64(record, swap);
}

static inline uint64_t uftrace_record_word(const uint8_t *record, bool swap)
{
	return uftrace_get64(record + 8, swap);
}

static inline enum uftrace_record_type uftrace_word_type(uint64_t word)
{
	return word & 3;
}

static inline unsigned uftrace_word_depth(uint64_t word)
{
	return word >> 6 & 0x3ff;
}

static inline uint64_t uftrace_word_addr(uint64_t word)
{
	return word >> 16;
}

/* Test whether the record is a valid ENTRY or EXIT without a payload. Most records are. */
static inline bool uftrace_word_bare(uint64_t word)
{
	return (word & 0x3e) == UFTRACE_RECORD_MAGIC << 3;
}

/* Test whether a bare record is an EXIT. */
static inline bool uftrace_bare_leaves(uint64_t word)
{
	return word & UFTRACE_EXIT;
}

/* Unpack a record. Return false if the magic is wrong. */
static inline bool uftrace_record_unpack(const void *bytes, bool swap, struct uftrace_record *r)
{
	uint64_t word = uftrace_record_word(bytes, swap);

	r->time = uftrace_record_time(bytes, swap);
	r->type = uftrace_word_type(word);
	r->more = word >> 2 & 1;
	r->depth = uftrace_word_depth(word);
	r->addr = uftrace_word_addr(word);
	return (word >> 3 & 7) == UFTRACE_RECORD_MAGIC;
}

/*
 * Pack a record. A depth beyond 1023 carries into the address, as in the recorder. addr is cut to
 * 48 bits.
 */
static inline void uftrace_record_pack(void *bytes, bool swap, const struct uftrace_record *r)
{
	uint64_t w[2];

	w[0] = uftrace_swap64(r->time, swap);
	w[1] = (uint64_t)(r->type & 3) | (uint64_t)r->more << 2 | UFTRACE_RECORD_MAGIC << 3;
	w[1] |= r->addr << 16;
	w[1] += (uint64_t)r->depth << 6;
	w[1] = uftrace_swap64(w[1], swap);
	memcpy(bytes, w, sizeof(w));
}

/* Round n bytes up to the size that a payload takes in the file. */
static inline uint64_t uftrace_align(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

/* A LOST record's time is 0, its addr the number of records. */

/* ---- EVENT records: addr is the id, the payload u16 length + data, padded to 8 ---- */

enum uftrace_event_id {
	UFTRACE_EV_KERNEL_LAST = 99999, /* tracepoint ids, in kernel data only */
	UFTRACE_EV_READ_STATM = 100001, /* u64 vmsize, vmrss, shared in KB */
	UFTRACE_EV_READ_PAGE_FAULT,	/* u64 major, minor */
	UFTRACE_EV_DIFF_STATM,
	UFTRACE_EV_DIFF_PAGE_FAULT,
	UFTRACE_EV_READ_PMU_CYCLE, /* u64 cycles, instructions */
	UFTRACE_EV_DIFF_PMU_CYCLE,
	UFTRACE_EV_READ_PMU_CACHE, /* u64 refers, misses */
	UFTRACE_EV_DIFF_PMU_CACHE,
	UFTRACE_EV_READ_PMU_BRANCH, /* u64 branches, misses */
	UFTRACE_EV_DIFF_PMU_BRANCH,
	UFTRACE_EV_WATCH_CPU,	      /* i32 */
	UFTRACE_EV_WATCH_VAR,	      /* address (a word of the trace), then 1, 2, 4 or 8 bytes */
	UFTRACE_EV_CALLSITE,	      /* u64 return address of the ENTRY that follows */
	UFTRACE_EV_SCHED_IN = 200001, /* from perf-cpu*.dat */
	UFTRACE_EV_SCHED_OUT,
	UFTRACE_EV_SCHED_BOTH,
	UFTRACE_EV_TASK_NEW,
	UFTRACE_EV_TASK_EXIT,
	UFTRACE_EV_TASK_COMM,
	UFTRACE_EV_SCHED_OUT_PREEMPT,
	UFTRACE_EV_SCHED_BOTH_PREEMPT,
	UFTRACE_EV_USER_FIRST = 1000000, /* SDT events, named in events.txt; no data */
	UFTRACE_EV_EXTERN = 2000000,	 /* a line of extern.dat */
};

/* ---- perf-cpuN.dat: records of perf.h without a file's header; each ends with u32 pid, u32 tid,
 * u64 time ---- */

/* ---- the old binary `task` file: headers {u16 magic, u16 type, u32 length}, then the message ----
 */

#define UFTRACE_MSG_MAGIC    0xface
#define UFTRACE_MSG_TASK     3 /* u64 time, i32 pid, i32 tid */
#define UFTRACE_MSG_FORK_END 6 /* the same; pid is the parent, tid the child */
#define UFTRACE_MSG_SESSION                                                                        \
	7 /* the same, 16 bytes sid, i32 unused, i32 length, name padded to 8                      \
	   */

#define UFTRACE_SID_SIZE 16 /* hex digits */

#endif
