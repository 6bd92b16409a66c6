/*
 * tracecmd.h - the encoder of trace-cmd's trace.dat, between its files
 */
#ifndef TR_TRENCODE_TRACECMD_TRACECMD_H
#define TR_TRENCODE_TRACECMD_TRACECMD_H

#include "common/stream/dictionary.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/tracecmd/pages.h"
#include "cmd/trencode/tracecmd/spool.h"

enum { TRACECMD_CPUS_MOST = 65536, TRACECMD_BUFFERS_MOST = 1024 };

/* What the source's META hold; trdecode names them so. */
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

/* The data of one CPU of one buffer, or the lines of a latency trace. */
struct tracecmd_stream {
	uint32_t buffer, cpu;
	bool text;
	struct tracecmd_pages pages;
	struct tracecmd_spool *spool;
	struct tracecmd_pieces pieces; /* of it */
	uint64_t offset, size;	       /* in the file */
};

struct tracecmd_buffer {
	char *name, *clock;
	uint32_t page_size;
	bool text;
	uint64_t offset;     /* in the file: its section, or its table */
	size_t first, count; /* streams of it */
};

struct tracecmd_state {
	const struct source *source;
	struct buffer parts[PARTS];
	bool begun;

	/* of the file to be written */
	unsigned version;
	bool big_endian;
	uint8_t program_long;
	uint32_t page_size, cpus;
	int64_t time_added, offset_added; /* the first by the options and the second */
	char compression_version[32];
	struct tracecmd_packer packer;

	struct tracecmd_buffer *buffers; /* the top one first */
	size_t nbuffers, buffers_capacity;
	struct intern keys; /* (buffer, CPU, text): number of the stream */
	struct pool streams;
	struct tracecmd_stream **order; /* by buffer and CPU */
	struct lane_streams {
		struct tracecmd_stream *data, *text;
	} * lanes; /* by number */
	size_t lanes_size;
	struct tracecmd_spool spool;
	uint64_t unfit;
};

/* tracecmd_source.c: before the first event; what the source's META say. -1 with e filled. */
int tracecmd_take_source(struct tracecmd_state *s, const struct encode_options *o, struct error *e);
/* The number of a buffer, which is added where META did not have it. INTERN_NONE: memory. */
uint32_t tracecmd_buffer_number(struct tracecmd_state *s, const char *name, const char *clock);

/* tracecmd_write.c: the file, when all is there. */
int tracecmd_write(struct tracecmd_state *s, struct output *out, struct error *e);
/* tracecmd_tables.c: bodies that both versions have, appended to b. -1: memory. */
int tracecmd_header_info(const struct tracecmd_state *s, struct buffer *b);
int tracecmd_ftrace_formats(const struct tracecmd_state *s, struct buffer *b);
int tracecmd_event_formats(const struct tracecmd_state *s, struct buffer *b);
int tracecmd_sized(const struct tracecmd_state *s, enum tracecmd_part part, unsigned size,
		   struct buffer *b);
int tracecmd_number(const struct tracecmd_state *s, struct buffer *b, uint64_t v, unsigned size);
/* The source's options, with the right number of CPUs; id, size, payload each. */
int tracecmd_options(const struct tracecmd_state *s, struct buffer *b);

#endif
