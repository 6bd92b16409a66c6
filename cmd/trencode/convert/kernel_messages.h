/*
 * kernel_messages.h - the text that the kernel's trace_printk() wrote, for formats that show fields
 *
 * A bprint event has the address of a format and its arguments, a bputs event the address of a
 * text; META parts of the recording contain both texts. All zero is valid and knows no text.
 */
#ifndef TR_TRENCODE_CONVERT_KERNEL_MESSAGES_H
#define TR_TRENCODE_CONVERT_KERNEL_MESSAGES_H

#include "cmd/trencode/text/tracecmd.h"

/* The texts of one stream's recordings. */
struct kernel_messages {
	struct tc_sources sources;
	struct kernel_message_type *types; /* by number */
	size_t ntypes;
	struct line line;
};

/* Take a piece of a META part. Returns 0, or -1 when out of memory. */
int kernel_messages_meta(struct kernel_messages *k, const struct source *source,
			 const struct meta *m);
void kernel_messages_free(struct kernel_messages *k);

/* Test whether events of that type may have a message. */
static inline bool kernel_messages_has(const struct type *t)
{
	return t->group.size == 6 && !memcmp(t->group.text, "ftrace", 6) &&
	       (!strcmp(t->name.text, "bprint") || !strcmp(t->name.text, "bputs"));
}

/* Get the message of such an event, without the newline at its end, valid until the next call;
 * *size is 0 if the recording does not contain its text. Returns 0, or -1 when out of memory. */
int kernel_message(struct kernel_messages *k, const struct event *ev, const char **text,
		   size_t *size);

#endif
