/*
 * tracecmd.h - write sub-buffers ("pages") of the kernel's ring buffer
 *
 * A page begins with a full time; each record has the difference to the time before. A new page
 * begins where events were lost, as only a page's header can report lost events.
 * Functions that return int return 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_TRACECMD_H
#define TR_TRENCODE_TRACECMD_H

#include <zstd.h>

#include "cmd/trencode/encoder.h"
#include "common/stream/dictionary.h"
#include "common/util/buffer.h"
#include "common/util/error.h"

/* Store a number of 1, 2, 4 or 8 bytes, in either byte order. */
static inline void tracecmd_put_uint(void *p, uint64_t v, unsigned size, bool big)
{
	v = big ? htobe64(v << (64 - 8 * size)) : htole64(v);
	memcpy(p, &v, size);
}

/* The pages of one CPU of one buffer. Zero-initialised except for the members before data is
 * empty. */
struct tracecmd_pages {
	bool big_endian;
	uint8_t word;	    /* bytes of the kernel's long: 4 or 8 */
	uint32_t page_size; /* bytes */
	/* writes whole pages, several at a time */
	int (*put)(void *context, const void *pages, size_t n, struct error *e);
	void *context;
	struct buffer data; /* pages not yet written, the open one last */
	bool open;
	size_t begin;	   /* offset of the open page in data */
	uint64_t time;	   /* of the last record */
	uint64_t missed;   /* events lost before the next page; UINT64_MAX: unknown number */
	uint64_t reported; /* events lost before the open page; UINT64_MAX: unknown number */
};

/* Report lost events; count UINT64_MAX: unknown number. */
int tracecmd_pages_lost(struct tracecmd_pages *p, uint64_t count, struct error *e);
/* Append a record. Returns also 1: the record is too long for a page, nothing was written. */
int tracecmd_pages_record(struct tracecmd_pages *p, uint64_t time, const void *data, size_t n,
			  struct error *e);
/* Write the remaining pages. */
int tracecmd_pages_end(struct tracecmd_pages *p, struct error *e);

enum tracecmd_method { TRACECMD_PLAIN, TRACECMD_WITH_ZLIB, TRACECMD_WITH_ZSTD };

/*
 * The encoder of trace-cmd's trace.dat: what the files share.
 *
 * Functions that return int return 0, or -1: with *e filled where they take it, else out of memory.
 */

enum { TRACECMD_CPUS_MOST = 65536, TRACECMD_BUFFERS_MOST = 1024 };

/* The parts of the source's META; part_names has trdecode's names of them. */
enum tracecmd_part {
	PART_FILE,
	PART_BUFFERS,
	PART_HEADER_PAGE,
	PART_HEADER_EVENT,
	PART_KALLSYMS,
	PART_PRINTK,
	PART_CMDLINES,
	PART_OPTIONS,
	PART_FORMATS,
	PART_BTF,
	PART_MODULES,
	PARTS
};

/* The data of one CPU of one buffer, or the lines of one latency trace. */
struct tracecmd_stream {
	struct tracecmd_state *state;
	uint32_t buffer, cpu;
	bool text;
	struct tracecmd_pages pages;
	struct {
		uint64_t first, last; /* offsets */
		uint64_t bytes;	      /* of all pieces, without their headers */
		uint32_t count;
	} pieces;	       /* a chain in the spool */
	uint64_t offset, size; /* of the data in the file */
};

/* One ring buffer: the top buffer or that of an instance. */
struct tracecmd_out_buffer {
	char *name, *clock;
	uint32_t page_size;
	bool text;
	uint64_t offset;     /* of its section or table in the file */
	size_t first, count; /* of its streams in tracecmd_state.order */
};

/* The state of the encoder. */
struct tracecmd_state {
	const struct source *source;
	struct buffer parts[PARTS];
	bool begun;

	/* properties of the output file */
	unsigned version;
	bool big_endian;
	uint8_t program_long;
	uint32_t page_size, cpus;
	int64_t time_added,
		offset_added; /* ns added to raw times: in total, by trdecode --offset */
	char compression_version[32];
	struct {
		enum tracecmd_method method;
		int level; /* -1: the default of the method */
		ZSTD_CCtx *zstd;
	} packer; /* how data are compressed */

	struct tracecmd_out_buffer *buffers; /* the top buffer first */
	size_t nbuffers, buffers_capacity;
	struct intern keys; /* buffer, CPU, text: number of the stream */
	struct pool streams;
	struct tracecmd_stream **order; /* by buffer and CPU */
	struct {
		struct tracecmd_stream *data, *text;
	} * lanes; /* by number of the lane */
	size_t lanes_size;
	/*
	 * The file contains the data CPU after CPU, but the stream is ordered by time. So the data
	 * are spilled to an unlinked temporary file until the stream ends, compressed if the output
	 * is compressed, and memory does not grow with the trace.
	 */
	struct {
		int fd;	       /* -1: not yet open */
		uint64_t size; /* bytes */
		struct buffer piece;
	} spool;
	/* of version 7, before the data: the option that names a section, and its offset */
	struct {
		uint16_t option;
		uint64_t offset;
	} sections[8];
	size_t nsections;
	uint64_t unfit; /* events left out */
};

#endif
