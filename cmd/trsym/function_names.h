/*
 * function_names.h - the names that are shown of functions, each demangled once
 */
#ifndef TR_TRSYM_FUNCTION_NAMES_H
#define TR_TRSYM_FUNCTION_NAMES_H

#include "common/symbols/debug_info.h"
#include "common/symbols/demangle.h"
#include "common/util/intern.h"

enum { NAMES_RECENT = 1 << 13 };

/* A name that was found: it is not looked up by its text again. Without this 'trsym -i' of
 * t/bench/inline.sh takes 1.04 times the instructions. */
struct recent_name {
	uint64_t id; /* of struct source_frame */
	uint32_t number;
};

/* Zero-initialised but for the style is empty. */
struct function_names {
	enum demangle_style style;
	struct id_cache numbers; /* by function: 1 + number of the name in `shown` */
	struct intern shown;
	struct recent_name recent[NAMES_RECENT];
};

void function_names_free(struct function_names *f);

/* Find the name of a frame's function, "?" if that is not known. Returns its number in `shown`, or
 * INTERN_NONE when out of memory. */
uint32_t function_names_find(struct function_names *f, const struct source_frame *frame);

#endif
