/*
 * kernel.h - write kernel-cpuN.dat of a uftrace recording: the kernel's records, in pages of its
 * ring buffer
 *
 * Functions that return int return 0, or -1: with *e filled where they take it, else out of memory.
 */
#ifndef TR_TRENCODE_UFTRACE_KERNEL_H
#define TR_TRENCODE_UFTRACE_KERNEL_H

#include "common/stream/event.h"
#include "common/util/pool.h"
#include "common/stream/reader.h"
#include "cmd/trencode/convert/tree_output.h"

/* The kernel-cpuN.dat files of a recording. */
struct kernel_output {
	struct tree_output *tree;
	struct buffer header; /* the beginning of kernel_header */
	struct pool cpus;     /* in the order of their first record */
};

/* Test whether rows of the type come from the kernel's ring buffer. */
bool kernel_output_type(const struct type *t);

/* Append a piece of kernel_header, which records the layout of pages. */
int kernel_output_header(struct kernel_output *k, const struct meta *m);

/* Write a row as a record. Returns also 1: the row has no CPU or no record that fits into a page.
 */
int kernel_output_event(struct kernel_output *k, const struct event *ev, struct error *e);

/* Write a gap of a CPU: count lost events (UINT64_MAX: unknown). Returns also 1: the lane is not a
 * CPU's. */
int kernel_output_gap(struct kernel_output *k, const struct event *ev, uint64_t count,
		      struct error *e);

/* Write the remaining pages. */
int kernel_output_end(struct kernel_output *k, struct error *e);
void kernel_output_free(struct kernel_output *k);

#endif
