/*
 * kernel.h - names of the kernel that a trace.dat was recorded on
 *
 * Symbols are read from kallsyms, constant strings from printk_formats. They are looked up as by
 * libtraceevent, so that the same names are printed: all symbols are used, those of data too; a
 * symbol names the addresses up to the next symbol, the last symbol only its own address.
 */
#ifndef TR_TRENCODE_TEXT_KERNEL_H
#define TR_TRENCODE_TEXT_KERNEL_H

#include "common/stream/event.h"
#include "common/stream/reader.h"
#include "common/util/text.h"

struct print_kernel;
struct text_kernel;

/* Returns NULL when out of memory. */
struct text_kernel *text_kernel_new(void);
void text_kernel_free(struct text_kernel *k);

/* Take a piece of a META block; blocks other than the two above are ignored. Returns -1 when out of
 * memory. */
int text_kernel_meta(struct text_kernel *k, const struct meta *m);

/* Fill *out with the functions that look names up, valid as long as k. Returns -1 when out of
 * memory. */
int text_kernel_get(struct text_kernel *k, struct print_kernel *out);

/* --- the messages of kernel events, made by the print fmt of their format files --- */

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
