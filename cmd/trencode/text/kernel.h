/*
 * kernel.h - what a trace.dat knows of the kernel that it was recorded on
 *
 * Symbols by kallsyms and constant strings by printk_formats, looked up as libtraceevent does, so
 * that the same names are printed: every symbol takes part, data too, and one is taken for the
 * addresses up to the next, but the last for its own address alone.
 */
#ifndef TR_TRENCODE_TEXT_KERNEL_H
#define TR_TRENCODE_TEXT_KERNEL_H

#include "common/stream/reader.h"
#include "common/ftrace/print_format.h"

struct text_kernel;

/* NULL: out of memory. */
struct text_kernel *text_kernel_new(void);
void text_kernel_free(struct text_kernel *k);

/* A piece of a META block; others than the two named above are passed over. -1: out of memory. */
int text_kernel_meta(struct text_kernel *k, const struct meta *m);

/* Valid as long as k is. -1: out of memory. */
int text_kernel_get(struct text_kernel *k, struct print_kernel *out);

#endif
