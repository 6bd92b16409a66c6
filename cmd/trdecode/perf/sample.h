/*
 * sample.h - the parts of a sample of perf.data
 */
#ifndef TR_TRDECODE_PERF_SAMPLE_H
#define TR_TRDECODE_PERF_SAMPLE_H

#include "cmd/trdecode/perf/perf.h"

/* A sample as its attribute has it. Pointers are into its record. */
struct perf_sample {
	struct perf_record record;
	struct perf_attr *attr; /* NULL: of no declared event */
	struct perf_origin origin;
	uint64_t ip, addr, period;
	const uint8_t *chain, *raw, *branches, *user_regs; /* NULL: there are none */
	const uint8_t *read, *intr_regs;
	uint64_t nchain, nbranches;
	uint32_t raw_size;
	uint64_t user_abi;
	const uint8_t *stack;
	uint64_t stack_size; /* 0: there is none */
	uint64_t weight, data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
};

/* Read the parts of a sample. Those that its attribute lacks are not set, but for the origin, the
 * period, and the pointers that are NULL. Returns false if the record is shorter than its parts. */
bool perf_sample_parse(struct perf *p, const struct perf_record *r, struct perf_sample *s);

/* Return the bytes of one value that a sample has read. */
static inline unsigned perf_value_size(const struct perf_attr *a)
{
	return 8 + (a->read_format & PERF_READ_ID ? 8 : 0) +
	       (a->read_format & PERF_READ_LOST ? 8 : 0);
}

static inline unsigned perf_read_times(const struct perf_attr *a)
{
	return (a->read_format & PERF_READ_ENABLED ? 8 : 0) +
	       (a->read_format & PERF_READ_RUNNING ? 8 : 0);
}

#endif
