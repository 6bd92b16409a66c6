/*
 * spec.h - the text of argument specs: "arg1/s,fparg2/32,arg3/t16:pair%rdi+rsi"
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

/* Which specs are wanted: those of ENTRY or those of EXIT records. */
enum uftrace_phase { UFTRACE_PHASE_ARGS, UFTRACE_PHASE_RETVAL };

/* One spec. It is cut up in place and keeps type_name as a pointer into it. -1 if it is none. */
int uftrace_spec_parse(char *text, const struct uftrace_info *info, struct uftrace_spec *spec);

/*
 * The list after a function's '@', cut up in place: specs of the phase are appended to list; the
 * first word that is no action goes to *module (may be NULL; NULL if there is none). -1 at the
 * first spec that cannot be read, those before it stay in the list.
 */
int uftrace_spec_parse_list(char *text, const struct uftrace_info *info, enum uftrace_phase phase,
			    struct uftrace_spec_list *list, const char **module);

/*
 * Add a spec to a function's list as recorder and reader both do: one for the same place (index,
 * register or stack slot) is replaced where it stands, unless it was given by name and the new one
 * by pattern; any other goes to the end. -1 when out of memory or there are too many.
 */
int uftrace_spec_add(struct uftrace_spec_list *list, const struct uftrace_spec *spec, bool exact);

void uftrace_spec_list_free(struct uftrace_spec_list *list);

#endif
