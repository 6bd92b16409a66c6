/*
 * kernel_messages.h - the text that the kernel's trace_printk() wrote, for formats that show fields
 *
 * A bprint event has the address of a format and its arguments, a bputs event the address of a
 * text; a META block of the recording has both texts. Zero-initialised knows nothing.
 */
#ifndef TR_TRENCODE_CONVERT_KERNEL_MESSAGES_H
#define TR_TRENCODE_CONVERT_KERNEL_MESSAGES_H

#include "cmd/trencode/text/tracecmd/sources.h"

struct kernel_messages {
	struct tc_sources sources;
	struct kernel_message_type *types; /* by number */
	size_t ntypes;
	struct line line;
};

/* A piece of a META block. -1: out of memory. */
int kernel_messages_meta(struct kernel_messages *k, const struct source *source,
			 const struct meta *m);
void kernel_messages_free(struct kernel_messages *k);

/* May events of that type have a message? */
static inline bool kernel_messages_has(const struct type *t)
{
	return t->group.size == 6 && !memcmp(t->group.text, "ftrace", 6) &&
	       (!strcmp(t->name.text, "bprint") || !strcmp(t->name.text, "bputs"));
}

/* The message of such an event, without the newline at its end, valid until the next call; *size 0
 * where the recording does not have its text. -1: out of memory. */
int kernel_message(struct kernel_messages *k, const struct event *ev, const char **text,
		   size_t *size);

#endif
