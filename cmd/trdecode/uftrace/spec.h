/*
 * spec.h - parse the text of argument specs: "arg1/s,fparg2/32,arg3/t16:pair%rdi+rsi"
 */
#ifndef TR_TRDECODE_UFTRACE_SPEC_H
#define TR_TRDECODE_UFTRACE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/trdecode/uftrace/args.h"

/* Specs that one function may have; a payload holds at most 1 KiB. */
#define UFTRACE_SPECS_MAX 512

struct uftrace_spec_list {
	struct uftrace_spec *specs;
	uint32_t nr, room;
};

/* The records whose specs are parsed: ENTRY or EXIT. */
enum uftrace_phase { UFTRACE_PHASE_ARGS, UFTRACE_PHASE_RETVAL };

/* Parse one spec. The text is modified, and type_name points into it. Returns 0, or -1 if the
 * text is not a spec. */
int uftrace_spec_parse(char *text, const struct uftrace_info *info, struct uftrace_spec *spec);

/*
 * Parse the list after a function's '@', modifying the text: specs of the phase are appended to
 * list; *module (may be NULL) becomes the first word that is not an action, or NULL. Returns 0, or
 * -1 at the first spec that cannot be parsed; the specs before it stay in the list.
 */
int uftrace_spec_parse_list(char *text, const struct uftrace_info *info, enum uftrace_phase phase,
			    struct uftrace_spec_list *list, const char **module);

/*
 * Add a spec to a function's list as recorder and uftrace do: a spec for the same location (index,
 * register or stack slot) is replaced, unless it was given by name and the new one by pattern; any
 * other spec is appended. Returns 0, or -1 when out of memory or there are too many.
 */
int uftrace_spec_add(struct uftrace_spec_list *list, const struct uftrace_spec *spec, bool exact);

void uftrace_spec_list_free(struct uftrace_spec_list *list);

#endif
