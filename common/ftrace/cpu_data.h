/*
 * cpu_data.h - the records of one CPU, page after page, from a file read at offsets
 *
 * Damage is noted for the caller, and reading continues after the damage at the next page.
 */
#ifndef TR_FTRACE_CPU_DATA_H
#define TR_FTRACE_CPU_DATA_H

#include "common/ftrace/file.h"
#include "common/ftrace/ring.h"
#include "common/ftrace/unpack.h"

struct cpu_data {
	const struct tracecmd_file *file;
	struct tracecmd_unpacker *unpacker; /* NULL: plain pages */
	struct buffer *packed;		    /* buffer that the CPUs share */
	struct ring_layout layout;
	uint64_t offset, end;  /* range in the file that is not yet read */
	uint64_t chunk_offset; /* offset in the file of the data in the window */
	uint64_t chunks;       /* compressed chunks left to read */
	uint32_t page_size, read_ahead;
	bool started;

	struct buffer window; /* pages */
	size_t at;	      /* offset in the window of the next page */
	uint8_t *page_begin;
	struct ring_page page;
	uint64_t missed; /* events lost before the next record; UINT64_MAX: unknown number */

	/* damage before the next record, or at the end */
	bool damaged;
	struct error damage;
};

/* Begin with size bytes at offset. read_ahead: bytes for each read, at least a page. */
void cpu_data_begin(struct cpu_data *c, uint64_t offset, uint64_t size, uint32_t page_size,
		    uint32_t read_ahead);
void cpu_data_free(struct cpu_data *c);

/* Find the first record of the next page that has one. Returns 1; 0 at the end; -1: out of
 * memory, or reading failed. c->damaged may be set with 1 and 0. */
int cpu_data_page(struct cpu_data *c, struct ring_record *r, struct error *e);

/* Read the next bytes of data that are not pages into c->window. Returns 1; 0 at the end; -1 as
 * above. */
int cpu_data_bytes(struct cpu_data *c, struct error *e);

/*
 * Read the first bytes, at least a page where there are so many, of the compressed chunk whose
 * lengths are at offset, into `to`, and find the offset of the next chunk's lengths. to NULL: find
 * the offset only. Return false if there is no chunk.
 */
bool cpu_data_chunk(const struct cpu_data *c, uint64_t offset, struct buffer *to, uint64_t *next);

/* Find the next record: 1, 0 at the end; -1 as above. */
static inline int cpu_data_next(struct cpu_data *c, struct ring_record *r, struct error *e)
{
	if (__builtin_expect(ring_next(&c->page, r) > 0, 1))
		return 1;
	return cpu_data_page(c, r, e);
}

#endif
