/*
 * tracecmd.h - the encoder of trace-cmd's trace.dat: what the files share
 *
 * Functions that return int return 0, or -1: with *e filled where they take it, else out of memory.
 */
#ifndef TR_TRENCODE_TRACECMD_TRACECMD_H
#define TR_TRENCODE_TRACECMD_TRACECMD_H

#include "common/stream/dictionary.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/tracecmd/pages.h"
#include "cmd/trencode/tracecmd/spool.h"

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
	uint32_t buffer, cpu;
	bool text;
	struct tracecmd_pages pages;
	struct tracecmd_spool *spool;
	struct tracecmd_pieces pieces; /* in the spool */
	uint64_t offset, size;	       /* of the data in the file */
};

/* One ring buffer: the top buffer or that of an instance. */
struct tracecmd_buffer {
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
	struct tracecmd_packer packer;

	struct tracecmd_buffer *buffers; /* the top buffer first */
	size_t nbuffers, buffers_capacity;
	struct intern keys; /* buffer, CPU, text: number of the stream */
	struct pool streams;
	struct tracecmd_stream **order; /* by buffer and CPU */
	struct lane_streams {
		struct tracecmd_stream *data, *text;
	} * lanes; /* by number of the lane */
	size_t lanes_size;
	struct tracecmd_spool spool;
	uint64_t unfit; /* events left out */
};

/* Choose the output's properties by the source's META, before the first event (source.c). */
int tracecmd_take_source(struct tracecmd_state *s, const struct encode_options *o, struct error *e);
/* Find or add a buffer. Returns its number, INTERN_NONE when out of memory. */
uint32_t tracecmd_buffer_number(struct tracecmd_state *s, const char *name, const char *clock);

/* Write the file, at the end of the stream (write.c). */
int tracecmd_write(struct tracecmd_state *s, struct output *out, struct error *e);
/* Append parts that both versions share to b (tables.c). */
int tracecmd_header_info(const struct tracecmd_state *s, struct buffer *b);
int tracecmd_ftrace_formats(const struct tracecmd_state *s, struct buffer *b);
int tracecmd_event_formats(const struct tracecmd_state *s, struct buffer *b);
int tracecmd_sized(const struct tracecmd_state *s, enum tracecmd_part part, unsigned size,
		   struct buffer *b);
int tracecmd_number(const struct tracecmd_state *s, struct buffer *b, uint64_t v, unsigned size);
/* Append the source's options, with the right number of CPUs: each as id, size, payload. */
int tracecmd_options(const struct tracecmd_state *s, struct buffer *b);

#endif
