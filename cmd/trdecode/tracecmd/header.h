/*
 * header.h - what a trace.dat has before its events: texts, formats, options, and the offsets of
 * each CPU's data
 */
#ifndef TR_TRDECODE_TRACECMD_HEADER_H
#define TR_TRDECODE_TRACECMD_HEADER_H

#include "cmd/trdecode/decoder.h"
#include "common/ftrace/file.h"
#include "common/ftrace/unpack.h"

struct tracecmd_format_text {
	char *system, *text; /* ended by NULs */
	size_t size;
};

/* The data of one CPU. */
struct tracecmd_row {
	uint32_t cpu;
	uint64_t offset, size;
};

/* The top buffer, or an instance's. */
struct tracecmd_buffer {
	char *name, *clock; /* "" for the top buffer; "" unknown clock */
	uint32_t page_size;
	struct tracecmd_row *rows;
	size_t nrows, rows_capacity;
	bool chunks;	  /* rows are compressed chunks */
	bool text;	  /* a latency trace: lines of text instead of pages */
	uint64_t section; /* version 7: offset of the section's body */
	uint64_t text_offset, text_size;
};

/* samples of the host's clock for one CPU (TIME_SHIFT) */
struct tracecmd_sync {
	uint64_t time, scaling, fraction;
	int64_t offset;
};
struct tracecmd_sync_cpu {
	struct tracecmd_sync *sample;
	uint32_t count;
};

/* The clock, and what is added to its times. */
struct tracecmd_times {
	int64_t date, offset; /* ns, units of the clock */
	bool has_date, has_offset, has_tsc;
	char *clock; /* the clock in brackets, NULL: unknown */
	uint32_t tsc_mult, tsc_shift;
};

/* What links the traces of a host and its guests. */
struct tracecmd_link {
	uint64_t trace_id, peer_id;
	bool interpolate; /* between the samples of sync */
	struct tracecmd_sync_cpu *sync;
	uint32_t nsync;
	uint64_t *guests; /* trace ids */
	size_t nguests, guests_capacity;
};

/* What was found of the sections of version 7. */
struct tracecmd_sections {
	uint32_t read;	 /* a bit for each id of metadata that was read */
	bool incomplete; /* an option's section was not at its offset */
	bool cut;	 /* a section that was read reaches beyond the end of the file */
};

/* All of a file but its events. */
struct tracecmd_header {
	struct tracecmd_file file;
	struct input *input; /* input that damage is reported for */
	unsigned version;
	bool big_endian;
	uint8_t program_long; /* long size of the recording program */
	uint32_t page_size;
	char compression[16], compression_version[16];
	struct tracecmd_unpacker unpacker;

	struct buffer header_page, header_event, kallsyms, printk, cmdlines, btf, modules;
	struct tracecmd_format_text *formats;
	size_t nformats, formats_capacity;
	struct tracecmd_buffer *buffers; /* the top buffer is the first */
	size_t nbuffers, buffers_capacity;
	uint32_t cpus;
	struct tracecmd_sections v7;

	/* all options except sections: u16 id, u16 0, u32 size in little-endian, then the
	 * payload as in the file */
	struct buffer options;
	struct tracecmd_times times;
	char *uname, *recorder;
	struct tracecmd_link link;
};

/* Read everything but the events. Damage is reported as the input's. Returns 0, or -1: out of
 * memory, the file cannot be read, or its version is unknown. */
int tracecmd_header_read(struct tracecmd_header *h, struct input *in, struct error *e);
void tracecmd_header_free(struct tracecmd_header *h);

/* The rest is private to the files of tracecmd/. */

enum { TRACECMD_TEXT_LIMIT = 4096, TRACECMD_UNPACKED_LIMIT = 1 << 30 };

/* header.c: read bodies that are equal in both versions. Returns 0, or -1 with *e filled:
 * damage, or out of memory. */
int tracecmd_read_header_info(struct tracecmd_header *h, struct cursor *c, struct error *e);
int tracecmd_read_ftrace_events(struct tracecmd_header *h, struct cursor *c, struct error *e);
int tracecmd_read_events(struct tracecmd_header *h, struct cursor *c, struct error *e);
/* Read a text that follows its length of size bytes. */
int tracecmd_read_text(struct cursor *c, unsigned size, struct buffer *b, struct error *e);
/* Add a buffer; NULL: out of memory. */
struct tracecmd_buffer *tracecmd_add_buffer(struct tracecmd_header *h, const char *name, size_t n);
/* Add a CPU's data. Data beyond the end of the file are damage, and are cut off. */
int tracecmd_add_row(struct tracecmd_header *h, struct tracecmd_buffer *b, uint64_t cpu,
		     uint64_t offset, uint64_t size, struct error *e);
bool tracecmd_good_page_size(uint64_t size);

/* options.c: read an option that is not a section. Returns 0, or -1: out of memory. */
int tracecmd_option(struct tracecmd_header *h, uint16_t id, const uint8_t *data, size_t n,
		    struct error *e);
/* Find the active clock in a text "local global [mono]", or a plain name. NULL: out of memory. */
char *tracecmd_clock_name(const char *text, size_t n);

/* v6.c, v7.c: read all that follows the prefix. */
int tracecmd_read_v6(struct tracecmd_header *h, uint64_t at, struct error *e);
int tracecmd_read_v7(struct tracecmd_header *h, uint64_t at, uint64_t options, struct error *e);

#endif
