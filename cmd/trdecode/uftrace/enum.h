/*
 * enum.h - definitions of enums: "enum NAME {A=1,B,...}"
 */
#ifndef TR_TRDECODE_UFTRACE_ENUM_H
#define TR_TRDECODE_UFTRACE_ENUM_H

#include <stddef.h>

#include "cmd/trdecode/uftrace/args.h"

struct uftrace_enum_table {
	struct uftrace_enum_entry *entries;
	size_t nr, room;
	bool sorted;
};

/*
 * Add definitions separated by ';'. The table modifies the text and keeps pointers into it: text
 * must outlive the table. Returns 0, 1 if some of the text cannot be parsed (the table has what
 * precedes it), -1 when out of memory.
 */
int uftrace_enum_add(struct uftrace_enum_table *t, char *text);

/* Find a definition; of two of one name the first counts. NULL if there is none, or it has no
 * values. */
struct uftrace_enum *uftrace_enum_find(struct uftrace_enum_table *t, const char *name);

void uftrace_enum_free(struct uftrace_enum_table *t);

#endif
