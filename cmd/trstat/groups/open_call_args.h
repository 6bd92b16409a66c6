/*
 * open_call_args.h - the enters of calls that are open, with their arguments, for --slowest
 *
 * One frame for each that is open, as common/calls.h has them; what an enter has beside its time
 * and place is copied, and nothing where it has nothing. Of large values there is the text only.
 */
#ifndef TR_TRSTAT_GROUPS_OPEN_CALL_ARGS_H
#define TR_TRSTAT_GROUPS_OPEN_CALL_ARGS_H

#include "common/util/buffer.h"
#include "common/calls/calls.h"
#include "cmd/trstat/groups/indexes.h"

struct enter {
	uint64_t start; /* of its call; UINT64_MAX: none */
	uint32_t segment;
	const struct type *type;
	uint32_t location;
	uint32_t fixed_size, tail_size;
	struct buffer payload; /* the fixed part, then the tail; or the text */
	bool text;	       /* its arguments as call_arguments has them */
};

struct open_call_args_stack;

struct open_call_args {
	const struct dictionary *dictionary;
	struct open_call_args_stack
		*stacks; /* two for each thread: the second is that of the kernel */
	size_t size;
	/* calls with numbers */
	struct open_calls open;
	struct indexes indexes; /* in numbered */
	struct enter *numbered;
	size_t capacity;
};

void open_call_args_free(struct open_call_args *en);

/* calls_feed said CALLS_ENTER. -1: out of memory. */
int open_call_args_put(struct open_call_args *en, const struct calls *c, const struct event *e,
		       uint32_t segment);

/* It said CALLS_LEAVE: the enter, or NULL where it was not seen; until the next open_call_args_put.
 */
const struct enter *open_call_args_take(struct open_call_args *en, const struct calls *c,
					const struct event *e, const struct call *call);

#endif
