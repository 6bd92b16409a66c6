/*
 * kernel_line.h - one line of the kernel's trace text, taken apart
 *
 * An event is a line
 *
 *     [INSTANCE:] COMM-TID [(TGID)] [CPU] [FLAGS] TIME: TEXT
 *     COMM-TID  CPUFLAGS TIME: TEXT                              (latency formats)
 *     COMM TID CPU FLAGS PREEMPT NUMBER [TIME] TIMEms (+TIMEms): TEXT       (verbose)
 *
 * TIME is SECONDS.FRACTION of one to nine digits, microseconds with "us" from the start of a
 * latency trace, or a number of a clock without seconds. kernel_text.h has the grammar of a line of
 * the tracer function_graph.
 *
 * Sources: Documentation/trace/ftrace.rst of Linux, and the output of kernels 3.10 to 6.18 and of
 * trace-cmd 3.1.6 and 3.4; Android's systrace.
 */
#ifndef TR_TRDECODE_KERNEL_LINE_H
#define TR_TRDECODE_KERNEL_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/util/text_span.h"

enum line_kind {
	LINE_EVENT,
	LINE_GRAPH,   /* of function_graph */
	LINE_SWITCH,  /* of function_graph: another thread runs on the CPU */
	LINE_FRAME,   /* a frame of the stack that the event before has */
	LINE_LOST,    /* events are missing on a CPU */
	LINE_IGNORED, /* a comment, a heading, a separator */
	LINE_TEXT,    /* of the mark before, whatever it looks like */
	LINE_OTHER,   /* none of these */
};

enum line_clock { LINE_SECONDS, LINE_MICROSECONDS, LINE_TICKS, LINE_NO_TIME };

enum line_form { LINE_PLAIN, LINE_LATENCY, LINE_VERBOSE, LINE_MMIO, LINE_BLK };

enum {
	LINE_HEAD_MOST = 1024, /* bytes of a line before its CPU */
	LINE_COMM_MOST = 15,   /* bytes of a comm of the kernel; other programs write longer ones */
	LINE_CPU_MOST = 65535,
};

struct ftrace_line {
	enum line_kind kind;
	enum line_clock clock;
	struct text_span instance, comm;
	int32_t tid, tgid, cpu; /* -1: the line has none */
	uint64_t time;		/* ns; LINE_TICKS: ticks */
	/* what follows; of a FRAME and a GRAPH its text; of a SWITCH the thread before */
	struct text_span text;
	uint64_t duration; /* of a GRAPH, ns; UINT64_MAX: none */
	/* MMIO, BLK: text is the whole line of the tracer mmiotrace, or of blk with blk_classic */
	enum line_form form;
	unsigned indent; /* of a GRAPH: blanks before a call of depth 0 */
	uint64_t lost;	 /* events of a LOST; UINT64_MAX: unknown */
};

/* Take a line of mmiotrace apart. false: it is none. */
bool ftrace_mmio_line(struct text_span s, struct ftrace_line *l);
/* Take a line of blk with the option blk_classic apart. false: it is none. */
bool ftrace_blk_line(struct text_span s, struct ftrace_line *l);

/* Take a line apart. The spans point into it. */
void ftrace_line_parse(struct text_span line, struct ftrace_line *l);

/* Read "COMM-TID" up to the end of s, with an instance or a file before it. */
bool ftrace_task(struct text_span s, struct ftrace_line *l);

/* Take a line of function_graph apart. false: it is none, and *l is undefined. */
bool ftrace_graph_line(struct text_span line, struct ftrace_line *l);
/* Read "[MARK] [DURATION us] |" at the beginning of s, and move s->at after it. *ns is UINT64_MAX
 * if there is no duration. false: there is no such text. */
bool ftrace_duration(struct text_span *s, uint64_t *ns);

#endif
