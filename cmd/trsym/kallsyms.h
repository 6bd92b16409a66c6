/*
 * kallsyms.h - the kernel's symbols from a file that the user names
 */
#ifndef TR_KALLSYMS_H
#define TR_KALLSYMS_H

#include "common/symbols.h"

/* A copy of /proc/kallsyms. 0, or -1 with e filled: it cannot be read, has no function, or was
 * copied by someone who may not see addresses. */
int kallsyms_read(const char *path, struct symbols **symbols, struct error *e);

#endif
