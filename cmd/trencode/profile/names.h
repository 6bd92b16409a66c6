/*
 * names.h - a function as callgrind and pprof know it: name, module, file and line
 */
#ifndef TR_TRENCODE_PROFILE_NAMES_H
#define TR_TRENCODE_PROFILE_NAMES_H

#include "common/util/buffer.h"
#include "common/stream/dictionary.h"
#include "common/util/intern.h"

struct profile_name {
	const char *name, *module, *file; /* ended by a NUL; module and file "" where unknown */
	uint32_t line;			  /* 0 unknown */
};

/* A call_stacks_key (common/call_stacks.h); all texts become valid UTF-8 without control
 * characters: those, and bytes that are no UTF-8, are written \xHH. */
int profile_name_key(struct buffer *to, const struct location *p, struct text_ref name);

/* What a key says. */
struct profile_name profile_name_of(const struct intern *names, uint32_t number);

#endif
