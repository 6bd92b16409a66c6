/*
 * huge_pages.h - memory for tables that are read at random
 *
 * A look-up in a table of some MB mostly misses the TLB for pages of 4 KB, and a fetch ahead waits
 * for it. With huge pages, trdecode of 204,000 stacks takes 0.85 times the CPU.
 */
#ifndef TR_UTIL_HUGE_PAGES_H
#define TR_UTIL_HUGE_PAGES_H

#include <stddef.h>

/* Allocate a table of zeros, in huge pages if its size is a multiple of theirs and the system has
 * any. free() releases it. NULL: out of memory. */
void *huge_zeroed(size_t size);

#endif
