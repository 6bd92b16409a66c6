/*
 * names.h - a function as callgrind and pprof name it: name, module, file and line
 */
#ifndef TR_TRENCODE_PROFILE_NAMES_H
#define TR_TRENCODE_PROFILE_NAMES_H

#include "common/util/buffer.h"
#include "common/stream/dictionary.h"
#include "common/util/intern.h"

/* One function. */
struct profile_name {
	const char *name, *module, *file; /* ended by a NUL; module and file "" where unknown */
	uint32_t line;			  /* 0 unknown */
};

/* Append the key of a function, a call_stacks_key (common/calls/call_stacks.h). Control characters,
 * and bytes that are no UTF-8, are written \xHH. */
int profile_name_key(struct buffer *to, const struct location *p, struct text_ref name);

/* Returns the function of a key, by its bytes or by its number. */
struct profile_name profile_name_at(const char *key);
struct profile_name profile_name_of(const struct intern *names, uint32_t number);

#endif
