/*
 * kernel.h - the kernel's part of a uftrace recording: what kernel_header describes
 */
#ifndef TR_TRDECODE_UFTRACE_KERNEL_H
#define TR_TRDECODE_UFTRACE_KERNEL_H

#include "common/util/idmap.h"
#include "cmd/trdecode/tracecmd/format.h"
#include "cmd/trdecode/tracecmd/ring.h"
#include "cmd/trdecode/uftrace/uftrace.h"

enum kernel_kind { KERNEL_EVENT, KERNEL_ENTER, KERNEL_LEAVE };

/* Where a number is in a record. */
struct number_at {
	uint32_t offset, size; /* bytes; size 0: there is none */
};

struct kernel_event {
	struct format format;
	const char *system, *text;
	size_t system_size, text_size;
	enum kernel_kind kind;
	struct number_at function, depth, next_pid, pid;
	uint32_t type; /* in the stream, 0: not yet declared */
};

struct kernel_header {
	char *text;
	size_t size;
	struct ring_layout layout;
	uint32_t page_size, word;
	struct kernel_event *events;
	size_t nevents, capacity;
	struct idmap by_id;	    /* index + 1 */
	struct number_at type, pid; /* equal in all events */
};

/* Read kernel_header. Returns 0; 1: the kernel's data cannot be decoded, and the reason was
 * reported; -1: out of memory. */
int kernel_header_read(struct uftrace *u, struct kernel_header *k, struct error *e);
void kernel_header_free(struct kernel_header *k);

#endif
