/*
 * info.h - the `info` file of a uftrace data directory
 */
#ifndef TR_TRDECODE_UFTRACE_INFO_H
#define TR_TRDECODE_UFTRACE_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/error.h"
#include "common/formats/uftrace.h"

enum uftrace_pattern {
	UFTRACE_PATTERN_SIMPLE,
	UFTRACE_PATTERN_REGEX, /* where the file gives none */
	UFTRACE_PATTERN_GLOB,
};

/* Needed for register names; apart from these only "long double" on ARM depends on it. */
enum uftrace_arch {
	UFTRACE_ARCH_X86_64,
	UFTRACE_ARCH_I386,
	UFTRACE_ARCH_ARM,
	UFTRACE_ARCH_AARCH64,
	UFTRACE_ARCH_RISCV64,
};

/* Lines that describe the recording. */
struct uftrace_info_lines {
	const char *build_id;
	const char *nr_cpus, *cpu_desc; /* cpuinfo */
	const char *meminfo;
	const char *os_kernel, *os_hostname, *os_distro;
	const char *systime, *usrtime, *ctxsw, *maxrss, *pagefault, *iops; /* usageinfo */
	const char *loadinfo;
	const char *record_date, *elapsed_time;
	const char *pattern_type;
	const char *uftrace_version;
	const char *utc_offset_text;
	const char *sysctl;
};

/*
 * Strings are NUL-terminated, live as long as the struct, and are NULL where the file has no such
 * line. They are the text after "key:" (of a group: after "key:name="), without the newline.
 */
struct uftrace_info {
	uint32_t version;
	bool big_endian;
	bool swap;     /* the trace's byte order is not this machine's */
	bool is_32bit; /* default size of an argument is 4, not 8 */
	uint64_t feat_mask;
	uint64_t info_mask; /* as in the header */
	uint64_t have;	    /* bits of info_mask whose lines were found and parsed */
	uint32_t max_stack; /* 1024 if the header gives none */
	enum uftrace_arch arch;
	enum uftrace_pattern pattern;

	const char *exename, *cmdline;
	int exit_status; /* as in wait(2); 65536: stopped by a finish trigger */
	const char *argspec, *retspec, *argauto, *retauto, *enumauto;
	bool auto_args;	    /* -a was given */
	int64_t utc_offset; /* s, to add to times for Unix time; valid with its bit in `have` */
	struct uftrace_info_lines lines;

	int32_t *tids; /* nr_tids of them, in the order of the file */
	size_t nr_tids;

	uint8_t *raw; /* the whole file, to be written again */
	size_t raw_size;
	char *text; /* private: the strings point into it */
};

static inline bool uftrace_info_has(const struct uftrace_info *info, enum uftrace_info_bit bit)
{
	return info->have >> bit & 1;
}

/*
 * Parse the file's `size` bytes at data, which the struct then owns (malloc'ed; freed by
 * uftrace_info_free, also after an error). file is its name in messages.
 *
 * Returns 0; 1 when lines are missing or damaged: e describes the first, and info has what could be
 * parsed; -1 when this is not a usable info file (magic, version, shorter than its header).
 */
int uftrace_info_parse(struct uftrace_info *info, void *data, size_t size, const char *file,
		       struct error *e);

void uftrace_info_free(struct uftrace_info *info);

#endif
