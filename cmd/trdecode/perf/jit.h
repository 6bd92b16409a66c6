/*
 * jit.h - the functions that JIT compilers have made, from the files that the compilers write
 *
 * A compiler that maps a file jit-PID.dump writes there, with times, which function it has put at
 * which address. The mapping is recorded; from then on the functions of the file are mappings of
 * the process, each from its time on. The layout is that of jitdump-specification.txt of perf.
 *
 * Other compilers write a line "START SIZE NAME" for each function, in hexadecimal, to
 * /tmp/perf-PID.map. It names addresses in memory without a file. As there are no times, the last
 * line for an address counts.
 */
#ifndef TR_TRDECODE_PERF_JIT_H
#define TR_TRDECODE_PERF_JIT_H

#include "cmd/trdecode/perf/maps.h"
#include "common/util/error.h"

/* Numbers of perf_map.code. */
enum { JIT_NONE, JIT_UNKNOWN = UINT32_MAX - 1, JIT_ANONYMOUS };

struct perf_jit;
struct jit_dump;

/* sysroot: of all files, NULL: none. trace: path of the recording; a dump that is gone is looked
 * for beside it. ignore_times: the clock of the recording is another than that of the dumps. All
 * are borrowed. NULL when out of memory. */
struct perf_jit *perf_jit_new(const char *sysroot, const char *trace, bool ignore_times);
void perf_jit_free(struct perf_jit *j);

/* Return JIT_ANONYMOUS for the path of memory without a file, else JIT_NONE. */
uint32_t perf_jit_anonymous(const char *path, size_t n);
/* Read the dump that a process maps. Returns NULL if the path is not that of a dump, or nothing in
 * the file can be read, which is reported. */
struct jit_dump *perf_jit_dump(struct perf_jit *j, const char *path, size_t n);
/* Change the mappings of a process to those at a time. Returns -1 when out of memory. */
int perf_jit_advance(struct perf_jit *j, struct jit_dump *d, uint64_t time, struct perf_spaces *s,
		     struct perf_maps **maps, int32_t pid);

/* Return the number of code that the kernel has made, such as a program of BPF: its symbol and its
 * module have the name. 0 when out of memory. */
uint32_t perf_jit_kernel_code(struct perf_jit *j, const char *name, size_t n);

/* Find the function at an address of a mapping with a code. Returns false if there is none. The
 * texts of *e are valid until the next call. */
bool perf_jit_symbol(struct perf_jit *j, const struct perf_map *map, int32_t pid, uint64_t address,
		     struct symbol_entry *e);

#endif
