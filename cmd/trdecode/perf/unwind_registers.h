/*
 * unwind_registers.h - the registers that perf records, and their numbers in DWARF
 *
 * Facts: arch/.../include/uapi/asm/perf_regs.h of Linux; the DWARF supplements of the psABIs.
 */
#ifndef TR_TRDECODE_PERF_UNWIND_REGISTERS_H
#define TR_TRDECODE_PERF_UNWIND_REGISTERS_H

#include <elfutils/libdwfl.h>

#include "cmd/trdecode/perf/unwind.h"

enum { UNWIND_REGISTERS = 33 };

/* The registers of a machine, in perf's order. */
struct unwind_machine {
	unsigned elf; /* EM_* */
	uint8_t sp, pc, count;
	int8_t dwarf[UNWIND_REGISTERS]; /* -1: none */
};

/* Find a machine by its name (of uname -m; NULL: x86_64) and enum perf_abi. NULL: none. */
const struct unwind_machine *unwind_machine_find(const char *name, uint64_t abi);

/* Get a register by perf's number. Returns false if it was not recorded. */
bool unwind_register(const struct perf_user_state *s, unsigned number, uint64_t *value);

/* Set the registers of a thread of libdw. Returns false if libdw refuses them. */
bool unwind_set_registers(const struct unwind_machine *m, const struct perf_user_state *s,
			  Dwfl_Thread *thread);

#endif
