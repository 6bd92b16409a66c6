/*
 * call_args.h - the arguments of open calls, and calls as text
 */
#ifndef TR_TRSTAT_CALL_ARGS_H
#define TR_TRSTAT_CALL_ARGS_H

#include "cmd/trstat/groups.h"
#include "common/calls/calls.h"
#include "common/stream/event.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"

/*
 * The enters of calls that are open, with their arguments, for --slowest.
 *
 * One entry for each open frame (common/calls/calls.h), with a copy of the enter's values. Of large
 * values only the text is kept.
 */

struct enter {
	uint64_t start; /* time of its call's enter; UINT64_MAX: none */
	uint32_t segment;
	const struct type *type;
	uint32_t location;
	uint32_t fixed_size, tail_size;
	struct buffer payload; /* the fixed part, then the tail; or the text */
	bool text;	       /* payload is the text of the arguments, from call_arguments */
};

struct open_call_args_stack;

struct open_call_args {
	const struct dictionary *dictionary;
	struct open_call_args_stack *stacks; /* two for each thread: the second is the kernel's */
	size_t size;
	/* calls with numbers */
	struct open_calls open;
	struct indexes indexes; /* in numbered */
	struct enter *numbered;
	size_t capacity;
};

void open_call_args_free(struct open_call_args *en);

/* Keep an enter, after calls_next returned CALLS_ENTER. Returns -1 when out of memory. */
int open_call_args_put(struct open_call_args *en, const struct calls *c, const struct event *e,
		       uint32_t segment);

/* Format the arguments of all open calls, because definitions of values are valid in one segment.
 * Returns -1 when out of memory. */
int open_call_args_to_text(struct open_call_args *en);

/* Forget the enters of the numbered calls that calls_restore dropped. Returns -1 when out of
 * memory. */
int open_call_args_drop(struct open_call_args *en, const struct calls *c);

/* Take the enter, after calls_next returned CALLS_LEAVE; NULL where it was not seen. Valid until
 * the next open_call_args_put. */
const struct enter *open_call_args_take(struct open_call_args *en, const struct calls *c,
					const struct event *e, const struct call *call);

/*
 * Arguments, returned values and fields as short human-readable text.
 *
 * Texts are truncated at 40 bytes, arrays at four elements, and nested elements are left out, as
 * are fields named common_... Bytes that are not printable ASCII are shown as \xNN.
 */

/* Append "name=value, name=value" for an enter, or for any event that has fields. Returns -1
 * when out of memory. */
int call_arguments(struct buffer *b, const struct dictionary *d, const struct event *e);

/* Append the return value of a leave, or its fields; nothing where it has none. */
int call_returned(struct buffer *b, const struct dictionary *d, const struct event *e);

#endif
