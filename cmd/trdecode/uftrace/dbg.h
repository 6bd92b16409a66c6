/*
 * dbg.h - .dbg files: argument specs and enums from the debug information of a module
 */
#ifndef TR_TRDECODE_UFTRACE_DBG_H
#define TR_TRDECODE_UFTRACE_DBG_H

#include <stddef.h>
#include <stdint.h>

#include "cmd/trdecode/uftrace/enum.h"
#include "cmd/trdecode/uftrace/spec.h"

struct uftrace_dbg {
	struct uftrace_dbg_entry *entries; /* by phase, address */
	size_t nr, room;
	struct uftrace_enum_table enums;
	size_t damaged; /* lines that could not be parsed */
	char *text;
};

/*
 * Parse the text, which the struct then owns (malloc'ed, NUL after its last byte; freed also after
 * an error). Returns 0, or -1 when out of memory.
 */
int uftrace_dbg_parse(struct uftrace_dbg *d, char *text, size_t size);

/*
 * Return the specs of the function at that address (relative to the module's base), or NULL. A
 * function described twice has none, as for the recorder. The list lives as long as d.
 */
const struct uftrace_spec_list *uftrace_dbg_find(struct uftrace_dbg *d, uint64_t address,
						 enum uftrace_phase phase,
						 const struct uftrace_info *info);

void uftrace_dbg_free(struct uftrace_dbg *d);

#endif
