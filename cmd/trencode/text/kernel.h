/*
 * kernel.h - names of the kernel that a trace.dat was recorded on
 *
 * Symbols are read from kallsyms, constant strings from printk_formats. They are looked up as by
 * libtraceevent, so that the same names are printed: all symbols are used, those of data too; a
 * symbol names the addresses up to the next symbol, the last symbol only its own address.
 */
#ifndef TR_TRENCODE_TEXT_KERNEL_H
#define TR_TRENCODE_TEXT_KERNEL_H

#include "common/stream/reader.h"
#include "common/ftrace/print_format.h"

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

#endif
