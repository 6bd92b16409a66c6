/*
 * kernel_symbols.h - the symbols of a kernel that is known by its build-id
 */
#ifndef TR_TRSYM_KERNEL_SYMBOLS_H
#define TR_TRSYM_KERNEL_SYMBOLS_H

#include "common/symbols/symbols.h"
#include "common/util/error.h"

/*
 * Find the symbols of the kernel with a build-id in lower case hex: /proc/kallsyms if this kernel
 * runs now and sysroot is NULL, the kallsyms that perf has copied to ~/.debug, or a vmlinux.
 * Addresses are absolute, or relative to the first symbol of a vmlinux, as symbols_kernel_text()
 * says. Returns NULL with e filled if there are none, or when out of memory.
 */
struct symbols *kernel_symbols_find(const char *build_id, const char *sysroot, struct error *e);

#endif
