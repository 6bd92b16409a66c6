/*
 * sorter.h - records put into the order of their keys, however many
 *
 * What does not fit into memory (sorter_memory) goes to a temporary file in sorted runs, which are
 * merged when read. Records of the same key keep the order in which they came.
 */
#ifndef TR_TRDECODE_CHROME_SORTER_H
#define TR_TRDECODE_CHROME_SORTER_H

#include <stdbool.h>

#include "common/util/buffer.h"
#include "common/util/error.h"

/* Bytes of records that are kept in memory; fuzz targets make it small. */
extern size_t sorter_memory;

struct sorter_key {
	uint64_t time, second;
};

struct sorter_record {
	struct sorter_key key;
	const uint8_t *data; /* until the next call */
	size_t size;
};

struct sorter {
	struct buffer records;
	size_t *offsets; /* of the records in memory */
	size_t count, capacity;
	uint64_t added;
	int fd; /* -1: no run was written */
	uint64_t written;
	struct sorter_run *runs;
	size_t nruns, runs_capacity;
	struct sorter_run **heap;
	size_t nheap;
	size_t position; /* of the next record, where all are in memory */
};

void sorter_init(struct sorter *s);
void sorter_free(struct sorter *s);
/* -1 and e: memory, or the temporary file. */
int sorter_add(struct sorter *s, struct sorter_key key, const void *data, size_t size,
	       struct error *e);
/* No more is added. -1 and e. */
int sorter_finish(struct sorter *s, struct error *e);
/* The record that comes next, which stays the next one. false: there is none. */
bool sorter_peek(const struct sorter *s, struct sorter_record *r);
/* Step over it. -1 and e. */
int sorter_advance(struct sorter *s, struct error *e);

#endif
