/*
 * sample_line.h - one line of the text of perf script, taken apart
 *
 * A sample begins with
 *
 *     COMM TID|PID/TID [CPU] MISC TIME: PERIOD EVENT: TEXT
 *
 * CPU, MISC (ignored), TIME, PERIOD and TEXT may be missing. COMM may have blanks and words of
 * digits; the ids are the last word before the others. TEXT is that of a tracepoint, or the
 * address, function and file of the sample. A call chain follows, a line for each frame, the
 * innermost first:
 *
 *     ADDRESS FUNCTION+OFFSET (FILE)
 *
 * With options such as --show-task-events perf prints other records, too, which have no call chain:
 *
 *     COMM TID [CPU] TIME: PERF_RECORD_NAME TEXT
 *
 * Sources: the pages perf-script(1), tools/perf/builtin-script.c of Linux for the order of the
 * fields, and texts of perf 3.13 to 6.1.
 */
#ifndef TR_TRDECODE_PERF_SCRIPT_SAMPLE_LINE_H
#define TR_TRDECODE_PERF_SCRIPT_SAMPLE_LINE_H

#include "cmd/trdecode/ftrace/line.h"

struct sample_line {
	struct span comm, event, text;
	int32_t pid, tid, cpu; /* -1: the line has none */
	bool has_time, has_period;
	bool is_record; /* no sample: event is PERF_RECORD_NAME, that of perf.data */
	uint64_t time;	/* ns */
	uint64_t period;
};

struct frame_line {
	uint64_t address, offset; /* offset: in the function */
	struct span function, file;
};

/* Take the first line of a sample apart. The spans point into it, or to constants. false: it is
 * none. */
bool sample_line_parse(struct span line, struct sample_line *l);
/* Is it a line of records that has no content for a stream: the namespaces after NAMESPACES, or a
 * FINISHED_ROUND, which has no thread? */
bool record_line_is_other(struct span line);
/* Take the line of a frame apart. false: it is none. */
bool frame_line_parse(struct span line, struct frame_line *f);
/* Take the line of a frame off the end of the text of a sample. false: it has none. */
bool frame_line_split(struct span *text, struct span *frame);

#endif
