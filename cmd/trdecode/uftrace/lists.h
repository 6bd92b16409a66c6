/*
 * lists.h - the lists of argument specs in `info`, and which of their items name a function
 *
 * Used by args.c only.
 */
#ifndef TR_TRDECODE_UFTRACE_LISTS_H
#define TR_TRDECODE_UFTRACE_LISTS_H

#include <regex.h>

#include "cmd/trdecode/uftrace/enum.h"
#include "cmd/trdecode/uftrace/spec.h"

enum uftrace_match { UFTRACE_MATCH_EXACT, UFTRACE_MATCH_REGEX, UFTRACE_MATCH_GLOB };

/* One item: "FUNC@arg1,arg2/s,MODULE". */
struct uftrace_item {
	char *name; /* demangled */
	enum uftrace_match match;
	regex_t regex;
	const char *module; /* NULL: any */
	/* empty: those of the debug information or of the built-in table */
	struct uftrace_spec_list specs;
};

/* One pass over all functions, in the order of recorder and uftrace. */
struct uftrace_pass {
	enum uftrace_phase phase;
	bool is_auto; /* skips a function that already has specs of the phase */
	char *text;   /* names and specs point into it */
	struct uftrace_item *items;
	uint32_t nr;
	uint32_t *exact; /* numbers of items that are names, sorted by name, then number */
	uint32_t nr_exact;
	uint32_t *patterns; /* numbers of the other items */
	uint32_t nr_patterns;
};

/* argauto, retauto: specs of well-known functions. */
struct uftrace_auto_table {
	char *text;
	struct uftrace_auto_entry *entries; /* by name, none twice */
	uint32_t nr;
};

struct uftrace_lists {
	struct uftrace_pass passes[6]; /* in the order in which they are applied */
	int nr_passes;
	struct uftrace_auto_table autos[2]; /* by phase */
	char *enum_text;
	struct uftrace_enum_table enums;
};

struct uftrace_hit {
	uint32_t item;
	uint32_t name;
};

struct uftrace_hits {
	struct uftrace_hit *hits;
	size_t nr, room;
};

/* Read the lists of info, which must outlive them. Returns 0, or -1 when out of memory; free
 * them in both cases. */
int uftrace_lists_read(struct uftrace_lists *l, const struct uftrace_info *info);
void uftrace_lists_free(struct uftrace_lists *l);

/* Return the specs of the built-in table for that demangled name, or NULL. */
const struct uftrace_spec_list *uftrace_lists_auto(const struct uftrace_lists *l,
						   enum uftrace_phase phase, const char *name);

/*
 * Append to hits the items of the pass that match one of the names (demangled, of one function), in
 * the order of the list, then of the names. Returns 0, or -1 when out of memory.
 */
int uftrace_pass_match(const struct uftrace_pass *p, char *const *names, uint32_t nr,
		       struct uftrace_hits *hits);

#endif
