/*
 * kernel_events.h - the messages of kernel events, made by the print fmt of their format files
 */
#ifndef TR_TRENCODE_TEXT_KERNEL_EVENTS_H
#define TR_TRENCODE_TEXT_KERNEL_EVENTS_H

#include "common/stream/event.h"
#include "common/util/text.h"
#include "cmd/trencode/text/kernel.h"

struct kernel_events;

/* Returns NULL when out of memory. */
struct kernel_events *kernel_events_new(void);
void kernel_events_free(struct kernel_events *k);

/* Take a piece of a META block; kallsyms has the names of functions. Returns -1 when out of memory.
 */
int kernel_events_meta(struct kernel_events *k, const struct meta *m);

/* Test whether the event is from the kernel's ring buffer, with the format file of its type. */
static inline bool is_kernel_event(const struct event *ev)
{
	return ev->type->kind == KIND_INSTANT && ev->type->declaration.size;
}

/* Print " (prev_comm=a ...)", or nothing where the message is empty. Prints the fields where print
 * fmt cannot be evaluated. Returns -1 when out of memory. */
int kernel_event_text(struct kernel_events *k, struct text *out, const struct event *ev);

#endif
