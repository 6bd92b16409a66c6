/*
 * kernel.h - the kernel's part of a uftrace recording: what kernel_header describes
 */
#ifndef TR_TRDECODE_UFTRACE_KERNEL_H
#define TR_TRDECODE_UFTRACE_KERNEL_H

#include "common/util/idmap.h"
#include "common/ftrace/events.h"
#include "cmd/trdecode/uftrace/uftrace.h"

struct kernel_header {
	char *text;
	size_t size;
	struct ring_layout layout;
	uint32_t page_size, word;
	struct ftrace_events events;
};

/* Read kernel_header. Returns 0; 1: the kernel's data cannot be decoded, and the reason was
 * reported; -1: out of memory. */
int kernel_header_read(struct uftrace *u, struct kernel_header *k, struct error *e);
void kernel_header_free(struct kernel_header *k);

#endif
