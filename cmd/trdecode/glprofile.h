/*
 * glprofile.h - glretrace --pgpu --pcpu
 */
#ifndef TR_TRDECODE_GLPROFILE_H
#define TR_TRDECODE_GLPROFILE_H

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "common/calls/open_calls.h"
#include "common/stream/writer.h"
#include "common/util/intern.h"

/*
 * The profile that a replay of an apitrace trace prints, as a trace by itself and as the times of
 * the .trace.
 *
 * `glretrace --pcpu --pgpu --ppd --pmem x.trace`, and `apitrace replay` with these options, print
 * lines of words:
 *
 *     # call no gpu_start gpu_dura cpu_start cpu_dura vsize_start vsize_dura rss_start rss_dura
 *       pixels program name                                            (one line: the columns)
 *     call NO GPU_START GPU_DURA ... NAME
 *     frame_end
 *
 * Times are ns since the first context became current, on one clock; sizes are bytes at the begin
 * of the call, and their change. A value that was not measured is 0: the GPU measures draw calls
 * only, and a replay with --pcpu leaves out calls that are shorter than --min-cpu-time (1000).
 * pixels is -1 for calls that do not draw. Lines are in the order of the replay, which is the order
 * in which the calls of the trace end. The first line names the columns: old versions have no
 * --pmem. Other lines are the replay's own messages.
 *
 * Source: lib/trace/trace_profiler.cpp and retrace/glretrace_main.cpp of apitrace (January 2026),
 * and what glretrace of apitrace 11.1 prints.
 *
 * Alone, the profile has a lane of the CPU and a lane of the GPU. If an apitrace trace is decoded
 * with it, that decoder takes the calls by number, and writes the rows of both (apitrace.c).
 */

/* Columns of a line, apart from "call" and the name. */
enum glprofile_column {
	COLUMN_NO,
	COLUMN_GPU_START,
	COLUMN_GPU_DURA,
	COLUMN_CPU_START,
	COLUMN_CPU_DURA,
	COLUMN_VSIZE_START,
	COLUMN_VSIZE_DURA,
	COLUMN_RSS_START,
	COLUMN_RSS_DURA,
	COLUMN_PIXELS,
	COLUMN_PROGRAM,
	COLUMN_NUMBERS, /* number of the columns before */
	COLUMN_NAME = COLUMN_NUMBERS,
	COLUMN_OTHER, /* unknown: ignored */
};

enum {
	GLPROFILE_COLUMNS_MOST = 32,
	GLPROFILE_NAME_MOST = 256,
	GLPROFILE_WINDOW = 1 << 16, /* calls that are kept for the trace: half of them ahead */
};

/* Optional fields of a row. */
enum { GLPROFILE_PIXELS = 1, GLPROFILE_MEMORY = 2, GLPROFILE_VARIANTS = 4 };

/* A call that was measured. */
struct glprofile_call {
	int64_t value[COLUMN_NUMBERS];
	uint32_t name; /* in glprofile.names */
	bool taken;    /* by the trace */
};

/* The fixed part of a row: u32 call, u32 frame, u32 program, i64 pixels, 4 i64 of memory. */
enum { GLPROFILE_FIXED_MOST = 12 + 8 + 32, GLPROFILE_FIELDS_MOST = 8 };

struct glprofile {
	struct input *input;
	struct input_lines lines;
	uint8_t column[GLPROFILE_COLUMNS_MOST]; /* enum glprofile_column */
	unsigned ncolumns;
	struct intern names;
	struct id_cache locations;
	uint32_t cpu_source, gpu_source, clock, cpu_lane, gpu_lane;
	uint32_t types[5][GLPROFILE_VARIANTS];
	uint32_t frame;	  /* number of frames that ended */
	uint64_t gpu_end; /* end of the last call on the GPU */
	struct row_queue queue;
	uint64_t now; /* no later row is earlier than this time of the replay */
	uint64_t calls, strange;

	/* calls that the trace has not taken, of which any number may come first */
	struct glprofile_call *window;
	uint64_t read, matched; /* numbers of the calls read, and of the last one that was taken */
	struct open_calls by_number; /* positions in window */
	uint64_t missing;	     /* calls that the trace does not have */
	bool ended;
};

/* Functions that return int: 0, or -1 with *e filled; an error without text is the writer's, or
 * out of memory. */

static inline bool glprofile_has_cpu(const struct glprofile_call *c)
{
	return c->value[COLUMN_CPU_START] || c->value[COLUMN_CPU_DURA];
}
static inline bool glprofile_has_gpu(const struct glprofile_call *c)
{
	return c->value[COLUMN_GPU_START] || c->value[COLUMN_GPU_DURA];
}
/* Get the time at which a call begins or ends on the CPU. */
static inline uint64_t glprofile_cpu_time(const struct glprofile_call *c, bool end)
{
	return (uint64_t)c->value[COLUMN_CPU_START] +
	       (end ? (uint64_t)c->value[COLUMN_CPU_DURA] : 0);
}
/* Find the call of a number, up to GLPROFILE_WINDOW / 2 calls after the last one that was found:
 * *found; NULL: there is none. It is valid until the next call of this function. again: find one
 * that was found before. */
int glprofile_find(struct glprofile *p, uint32_t number, bool again, struct glprofile_call **found,
		   struct error *e);

/* Read the rest, and count the calls that were never found. */
int glprofile_missing(struct glprofile *p, uint64_t *missing, struct error *e);

/* Declare the source, the clock and the lanes. */
int glprofile_declare(struct glprofile *p);
/* Get the optional fields that the row of a call has. gpu: on the GPU. */
unsigned glprofile_variant(const struct glprofile_call *c, bool gpu);
/* Declare the fields of a row with a number of a call, after a fixed part of *size bytes. Returns
 * their number. */
uint32_t glprofile_fields(struct writer *w, unsigned variant, struct field_entry *fields,
			  uint32_t *size);
/* Encode them. Returns their size. */
uint32_t glprofile_fixed(const struct glprofile_call *c, unsigned variant, uint8_t *to);
/* Add the rows of a call on the GPU, or on the CPU, to the queue. */
int glprofile_gpu(struct glprofile *p, const struct glprofile_call *c, uint32_t frame);

#endif
