/*
 * tracecmd.h - trace.dat
 */
#ifndef TR_TRDECODE_TRACECMD_H
#define TR_TRDECODE_TRACECMD_H

#include "cmd/trdecode/atrace.h"
#include "cmd/trdecode/decoder.h"
#include "common/ftrace/ring.h"
#include "common/ftrace/event_format.h"
#include "common/util/heap.h"
#include "common/util/intern.h"

/*
 * What a trace.dat has before its events: texts, formats, options, and the offsets of
 * each CPU's data.
 */

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

/* samples of the host's clock for one CPU (TRACECMD_TIME_SHIFT) */
struct tracecmd_sync {
	uint64_t time, scaling, fraction;
	int64_t offset;
};
enum { TRACECMD_LISTS_MOST = 1024 };

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
	struct {
		char *system, *text; /* ended by NULs */
		size_t size;
	} * formats;
	size_t nformats, formats_capacity;
	struct tracecmd_buffer *buffers; /* the top buffer is the first */
	size_t nbuffers, buffers_capacity;
	struct {
		uint64_t offset;
		char *name;
	} * instances; /* of version 6 */
	size_t ninstances, instances_capacity;
	uint32_t cpus;
	/* What was found of the sections of version 7. */
	struct {
		uint32_t read;	 /* a bit for each id of metadata that was read */
		bool incomplete; /* an option's section was not at its offset */
		bool cut;	 /* a section that was read reaches beyond the end of the file */
		uint64_t lists[TRACECMD_LISTS_MOST]; /* offsets of the lists of options */
		size_t nlists;
		/* what the buffers are known by while sections are searched: offsets of bodies, and
		 * names, of the first nknown buffers */
		struct intern sections, names;
		size_t nknown;
		size_t stats; /* statistics of CPUs before this offset of the options name known
				 buffers */
	} v7;

	/* all options except sections: u16 id, u16 0, u32 size in little-endian, then the
	 * payload as in the file */
	struct buffer options;
	/* The clock, and what is added to its times. */
	struct {
		int64_t date, offset; /* ns, units of the clock */
		bool has_date, has_offset, has_tsc;
		char *clock; /* the clock in brackets, NULL: unknown */
		uint32_t tsc_mult, tsc_shift;
	} times;
	char *uname, *recorder;
	/* What links the traces of a host and its guests. */
	struct {
		uint64_t trace_id, peer_id;
		bool interpolate; /* between the samples of sync */
		struct {
			struct tracecmd_sync *sample;
			uint32_t count;
		} * sync; /* by CPU */
		uint32_t nsync;
		uint64_t *guests; /* trace ids */
		size_t nguests, guests_capacity;
	} link;
};

enum { TRACECMD_TEXT_LIMIT = 4096, TRACECMD_UNPACKED_LIMIT = 1 << 30 };

/*
 * The decoder of trace-cmd's trace.dat: what its files share.
 *
 * Each event format is a type of the stream, and a record's bytes are its row's tail, as in the
 * ring buffer. A mark of atrace has a type of its own (atrace.h). A lane is (instance, CPU, pid).
 * The kernel is one address space whose symbols are in the META kallsyms.
 */

struct tracecmd;

/* One source of events in the order of their times: a CPU, or the lines of a text. */
struct tracecmd_reader {
	struct heap_item due; /* first: time of the next record, UINT64_MAX: no more */
	const struct tracecmd_buffer *buffer;
	uint32_t cpu, buffer_name;
	uint32_t bare_lane; /* lane of events without a thread, 0: not yet declared */
	uint32_t pid, lane; /* of the last record; lane 0: there is none */
	uint32_t nlearned;  /* tracecmd.nlearned when the lane was found */
	struct idmap lanes; /* by pid */
	struct idmap named; /* by pid, of threads whose name an event gave */
	struct cpu_data data;
	struct ring_record record;
	uint64_t last;		    /* time of the last row */
	struct tracecmd_text *text; /* of a latency trace */
};

enum { LOCATION_SLOTS = 4096 };

struct tracecmd {
	struct input *input;
	struct writer *w;
	struct tracecmd_header h;
	struct ring_layout layout;

	struct ftrace_events events;
	uint32_t common_end; /* least bytes of a record */
	struct atrace marks;

	struct idmap comms;   /* by pid: 1 + offset of its line in cmdlines */
	struct idmap learned; /* by pid: the name that an event gave, a string of w */
	uint32_t nlearned;

	uint32_t source, clock, space;
	struct {
		uint64_t address;
		uint32_t location;
	} locations[LOCATION_SLOTS];
	struct {
		uint64_t address, parent;
		uint32_t stack; /* of a function and its caller */
	} pairs[LOCATION_SLOTS];
	struct idmap spaces;  /* of processes, by pid */
	struct buffer frames; /* u32 each: locations of a stack */

	/* times */
	bool raw, tsc, sync;
	int64_t shift; /* added to every time, also to times that tsc or sync converted */

	struct tracecmd_reader *readers;
	size_t nreaders;
	struct heap heap; /* readers that have a next record */
	struct buffer packed;
	uint64_t unknown; /* records without a format */
	bool skipped;	  /* what is not wanted was skipped */
};

/* Convert a time of the ring buffer to the stream's. */
uint64_t tracecmd_time_slow(const struct tracecmd *t, uint32_t cpu, uint64_t time);

static inline uint64_t tracecmd_time(const struct tracecmd *t, uint32_t cpu, uint64_t time)
{
	uint64_t out = time + (uint64_t)t->shift;

	if (__builtin_expect(t->tsc || t->sync || (t->shift < 0 ? out > time : out < time) ||
				     out == UINT64_MAX,
			     0))
		return tracecmd_time_slow(t, cpu, time);
	return out;
}

#endif
