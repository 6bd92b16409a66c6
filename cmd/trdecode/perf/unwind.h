/*
 * unwind.h - unwinds the stacks of threads that perf recorded as registers and memory
 *
 * libdw unwinds by the .eh_frame of the mapped files; where that has no entry, by the .debug_frame
 * of the file or of its debug file; and else by the frame pointer. The files are those of this
 * machine, below a sysroot; one with another build-id is not used.
 *
 * Memory: the tables of at most UNWIND_TABLES bytes of files, and libdw's copies for UNWIND_SPACES
 * processes.
 */
#ifndef TR_TRDECODE_PERF_UNWIND_H
#define TR_TRDECODE_PERF_UNWIND_H

#include "cmd/trdecode/perf/maps.h"
#include "common/util/error.h"

enum {
	UNWIND_FRAMES = 1024, /* most frames of a stack */
	UNWIND_SPACES = 32,
	UNWIND_TABLES = 64 << 20,
};

/* The recorded state of a thread. */
struct perf_user_state {
	const uint8_t *registers; /* 8 bytes for each bit of mask */
	uint64_t mask, abi;	  /* abi: enum perf_abi */
	const uint8_t *stack;	  /* from the stack pointer on */
	uint64_t size;
	bool big_endian;
};

struct perf_unwinder;

/* Make an unwinder. machine: as of uname -m, NULL: x86_64. sysroot: NULL: /. Both are borrowed.
 * NULL: the stacks of the machine cannot be unwound, or *e filled: out of memory. */
struct perf_unwinder *perf_unwinder_new(const char *machine, const char *sysroot, struct error *e);
void perf_unwinder_free(struct perf_unwinder *u);

/* Get a number for a mapped file, for perf_map.file; build_id: in hexadecimal, NULL: not known. 0:
 * out of memory. */
uint32_t perf_unwinder_file(struct perf_unwinder *u, const char *path, size_t n,
			    const char *build_id);

/*
 * Unwind a stack. Returns the number of its frames, the innermost first; at most UNWIND_FRAMES, 0
 * if the registers were not recorded. The address of a frame that calls another is that of the last
 * byte of its call. *addresses is valid until the next call.
 */
size_t perf_unwind(struct perf_unwinder *u, const struct perf_maps *m,
		   const struct perf_user_state *state, const uint64_t **addresses);

/* Get the address at which the thread was. Returns false if it was not recorded. */
bool perf_unwind_pc(const char *machine, const struct perf_user_state *state, uint64_t *pc);

/* Get the number of files that could not be read, and the reason for the first. */
uint64_t perf_unwinder_missing(const struct perf_unwinder *u, struct error *first);

#endif
