/*
 * cpu.h - the records of one CPU, page after page, from a file read at offsets
 *
 * Damage is kept until it is asked for, and reading goes on behind it wherever a page begins.
 */
#ifndef TR_TRDECODE_TRACECMD_CPU_H
#define TR_TRDECODE_TRACECMD_CPU_H

#include "cmd/trdecode/tracecmd/file.h"
#include "cmd/trdecode/tracecmd/ring.h"
#include "cmd/trdecode/tracecmd/unpack.h"

struct cpu_data {
	const struct tracecmd_file *file;
	struct tracecmd_unpacker *unpacker; /* NULL: plain pages */
	struct buffer *packed;		    /* room that the CPUs share */
	struct ring_layout layout;
	uint64_t offset, end;  /* of what was not yet read, in the file */
	uint64_t chunk_offset; /* of the data in the window */
	uint64_t chunks;       /* compressed ones left */
	uint32_t page_size, read_ahead;
	bool started;

	struct buffer window; /* pages */
	size_t at;	      /* of the next page in the window */
	uint8_t *page_begin;
	struct ring_page page;
	uint64_t missed; /* before the next record; UINT64_MAX unknown number */

	/* damage before the next record, or at the end */
	bool damaged;
	struct error damage;
};

/* size bytes at offset; read_ahead: bytes for each read, at least a page. */
void cpu_data_begin(struct cpu_data *c, uint64_t offset, uint64_t size, uint32_t page_size,
		    uint32_t read_ahead);
void cpu_data_free(struct cpu_data *c);

/* The first record of the next page that has one: 1; 0 at the end; -1: out of memory, or reading
 * failed. c->damaged may be set in either of the first cases. */
int cpu_data_page(struct cpu_data *c, struct ring_record *r, struct error *e);

/* The next bytes of data that are no pages, in c->window: 1; 0 at the end; -1 as above. */
int cpu_data_bytes(struct cpu_data *c, struct error *e);

/*
 * The first bytes, at least a page where there are so many, of the compressed chunk whose lengths
 * stand at offset, in `to`, and where the next one's stand. to NULL: only that. false: there is
 * none.
 */
bool cpu_data_chunk(const struct cpu_data *c, uint64_t offset, struct buffer *to, uint64_t *next);

/* The next record: 1, 0 at the end; -1 as above. */
static inline int cpu_data_next(struct cpu_data *c, struct ring_record *r, struct error *e)
{
	if (__builtin_expect(ring_next(&c->page, r) > 0, 1))
		return 1;
	return cpu_data_page(c, r, e);
}

#endif
