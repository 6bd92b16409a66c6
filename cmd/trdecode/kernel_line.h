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
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A part of a line. */
struct text_span {
	const char *at, *end;
};

/* A span of a literal. */
#define SPAN(text) ((struct text_span){text, &(text)[sizeof(text) - 1]})

static inline size_t span_size(struct text_span s)
{
	return (size_t)(s.end - s.at);
}

static inline bool kernel_line_span_is(struct text_span s, const char *text)
{
	size_t n = strlen(text);

	return span_size(s) == n && !memcmp(s.at, text, n);
}

static inline bool kernel_line_span_begins(struct text_span s, const char *text)
{
	size_t n = strlen(text);

	return span_size(s) >= n && !memcmp(s.at, text, n);
}

static inline bool span_ends(struct text_span s, const char *text)
{
	size_t n = strlen(text);

	return span_size(s) >= n && !memcmp(s.end - n, text, n);
}

static inline const char *span_skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* Take blanks off both ends. */
static inline struct text_span kernel_line_span_trim(struct text_span s)
{
	while (s.at < s.end && (*s.at == ' ' || *s.at == '\t'))
		s.at++;
	while (s.end > s.at && (s.end[-1] == ' ' || s.end[-1] == '\t'))
		s.end--;
	return s;
}

/* Take the next word off a span, and the blanks before it. */
static inline struct text_span span_take_word(struct text_span *s)
{
	struct text_span word = kernel_line_span_trim(*s);

	s->at = memchr(word.at, ' ', span_size(word));
	s->at = s->at ? s->at : word.end;
	word.end = s->at;
	return word;
}

/* Find a text in a span. NULL: it is not there. */
static inline const char *span_find(struct text_span s, const char *text)
{
	return s.at < s.end ? memmem(s.at, span_size(s), text, strlen(text)) : NULL;
}

/* As span_find, for a text whose character at `rare` is in few places of the span: memmem looks at
 * each byte where a text is short, and kernel text takes a tenth longer. */
static inline const char *span_find_rare(struct text_span s, const char *text, size_t rare)
{
	size_t n = strlen(text);
	const char *p = s.at;

	for (; p < s.end && (p = memchr(p, text[rare], span_size((struct text_span){p, s.end})));
	     p++)
		if ((size_t)(p - s.at) >= rare && (size_t)(s.end - p) >= n - rare &&
		    !memcmp(p - rare, text, n))
			return p - rare;
	return NULL;
}

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

/* kernel_text.c: take a line of mmiotrace apart. false: it is none. */
bool ftrace_mmio_line(struct text_span s, struct ftrace_line *l);
/* Take a line of blk with the option blk_classic apart. false: it is none. */
bool ftrace_blk_line(struct text_span s, struct ftrace_line *l);
/* Read "SECONDS.FRACTION", or whole seconds, as ns. */
bool ftrace_seconds(struct text_span s, uint64_t *ns);

/* Take a line apart. The spans point into it. */
void ftrace_line_parse(struct text_span line, struct ftrace_line *l);

/* Read "COMM-TID" up to the end of s, with an instance or a file before it. */
bool ftrace_task(struct text_span s, struct ftrace_line *l);

/* Take a line of function_graph apart. false: it is none, and *l is undefined. */
bool ftrace_graph_line(struct text_span line, struct ftrace_line *l);
/* Read "[MARK] [DURATION us] |" at the beginning of s, and move s->at after it. *ns is UINT64_MAX
 * if there is no duration. false: there is no such text. */
bool ftrace_duration(struct text_span *s, uint64_t *ns);

/* Read decimal digits below 10^18. Returns their end; at: there are none, or too many. */
const char *ftrace_digits(const char *at, const char *end, uint64_t *number);

#endif
