/*
 * kernel.h - kernel-cpuN.dat of a uftrace recording: the kernel's records, in pages of its
 * ring buffer again
 */
#ifndef TR_TRENCODE_UFTRACE_KERNEL_H
#define TR_TRENCODE_UFTRACE_KERNEL_H

#include "common/stream/event.h"
#include "common/util/pool.h"
#include "common/stream/reader.h"
#include "cmd/trencode/convert/tree_output.h"

struct kernel_output {
	struct tree_output *tree;
	struct buffer header; /* the beginning of kernel_header */
	struct pool cpus;     /* in the order of their first record */
};

/* Does a row of the type come from the kernel's ring buffer? */
bool kernel_output_type(const struct type *t);

/* A piece of kernel_header, which says how pages look. -1: out of memory. */
int kernel_output_header(struct kernel_output *k, const struct meta *m);

/* 0; 1: the row is none of a record that a page can hold; -1 with e filled. */
int kernel_output_event(struct kernel_output *k, const struct event *ev, struct error *e);

/* count events (UINT64_MAX: unknown) were lost on a CPU, in a gap of its lane. 0; 1: it is not of
 * a CPU; -1. */
int kernel_output_gap(struct kernel_output *k, const struct event *ev, uint64_t count,
		      struct error *e);

/* Write what is left. */
int kernel_output_end(struct kernel_output *k, struct error *e);
void kernel_output_free(struct kernel_output *k);

#endif
