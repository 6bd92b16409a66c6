/*
 * sorter.h - sorts any number of records by their keys
 *
 * Records beyond the memory limit (sorter_memory) are spilled: sorted runs in a temporary file,
 * merged when read. Records with the same key stay in the order of their addition.
 *
 * Functions return 0, or -1 with *e filled.
 */
#ifndef TR_TRDECODE_SORTER_H
#define TR_TRDECODE_SORTER_H

#include <stdbool.h>

#include "common/util/buffer.h"
#include "common/util/error.h"

/* Bytes of records kept in memory; fuzz targets set a small limit. */
extern size_t sorter_memory;

/* A record: u64 time, u64 second key, u32 size; its data; padding to 4 bytes. */
enum { SORTER_HEADER = 20 };

/* Records are ordered by time, then by second. */
struct sorter_key {
	uint64_t time, second;
};

/* A record that was read back. */
struct sorter_record {
	struct sorter_key key;
	const uint8_t *data; /* valid until the next call */
	size_t size;
};

/* Records that are added, then read in order. */
struct sorter {
	struct buffer records;
	uint32_t *offsets; /* offsets of the records in memory */
	size_t count, capacity;
	uint32_t *merged; /* as large as offsets, to sort them */
	size_t nmerged;
	struct sorter_key last; /* of the last record in memory */
	uint32_t *parts; /* the records in memory are parts in order: index where each but the
			    first begins */
	size_t nparts, parts_capacity;
	int fd; /* the temporary file; -1: no run was written */
	uint64_t written;
	struct sorter_run *runs;
	size_t nruns, runs_capacity;
	struct sorter_run **heap;
	size_t nheap;
	size_t position;     /* number of the next record, if all are in memory */
	const uint8_t *next; /* the next record; NULL: no more */
};

void sorter_init(struct sorter *s);
void sorter_free(struct sorter *s);
/* Remove all records. Their memory stays for others. */
void sorter_clear(struct sorter *s);
/* Add a record. */
int sorter_add(struct sorter *s, struct sorter_key key, const void *data, size_t size,
	       struct error *e);
/* End the additions, and begin to read. */
int sorter_finish(struct sorter *s, struct error *e);
/* Get the next record without skipping it. false: no more. */
static inline bool sorter_peek(const struct sorter *s, struct sorter_record *r)
{
	const uint8_t *p = s->next;

	if (!p)
		return false;
	*r = (struct sorter_record){
		{get_u64(p), get_u64(p + 8)}, p + SORTER_HEADER, get_u32(p + 16)};
	return true;
}
/* Skip the next record. */
int sorter_advance(struct sorter *s, struct error *e);
/* Begin to read again, at the first record. */
int sorter_rewind(struct sorter *s, struct error *e);

#endif
