/*
 * strace_line.h - one line of the text of strace, ltrace or perf trace, taken apart
 *
 *     [THREAD] [TIME] [[NUMBER]] [[ADDRESS]] CALL
 *
 * THREAD is "[pid N] " on a terminal, "N " in a file of -o, and has the name of the thread with -Y:
 * "N<NAME> ". CALL is one of
 *
 *     NAME(ARGUMENT, ...) = RESULT [<SECONDS>]
 *     NAME(ARGUMENT, ... <unfinished ...>
 *     <... NAME resumed>ARGUMENT, ...) = RESULT [<SECONDS>]
 *     --- SIGNAL {KEY=VALUE, ...} ---
 *     +++ exited with N +++
 *
 * A line of -k is " > FILE(FUNCTION+0xOFFSET) [0xADDRESS]".
 *
 * A line of perf trace is one of
 *
 *     MILLISECONDS ( MILLISECONDS ms): NAME/THREAD CALL
 *     MILLISECONDS (              ): NAME/THREAD SYSTEM:EVENT(KEY: VALUE, ...)
 *     MILLISECONDS ( 0.000 ms): NAME/THREAD minfault [FUNCTION+0xOFFSET] => FILE@0xOFFSET (d.)
 *
 * without the second column if all lines are events, or KEY=VALUE ... with --libtraceevent_print.
 * A frame of --call-graph is "FUNCTION (FILE)" after 39 blanks.
 *
 * Sources: strace(1), ltrace(1) and perf-trace(1), the sources of strace 4.26 to 6.1 and ltrace
 * 0.7.3 that print these lines, and their logs.
 */
#ifndef TR_TRDECODE_STRACE_LINE_H
#define TR_TRDECODE_STRACE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/util/text_span.h"

enum { LINE_ARGUMENTS_MOST = 32, LINE_PID_MOST = 1 << 22 };

enum strace_line_kind {
	LINE_OTHER,	 /* of another program */
	LINE_CALL,	 /* with its result */
	LINE_UNFINISHED, /* a call that has not returned */
	LINE_RESUMED,	 /* the end of a call */
	LINE_EVENT,	 /* a signal, the end of a process */
	LINE_TRACEPOINT, /* an event of perf trace, or a fault of a page */
	LINE_FRAME,	 /* of the stack of the call before */
	LINE_MESSAGE,	 /* of strace itself */
	LINE_TABLE,	 /* the heading of a table of sums */
	LINE_DUMP,	 /* of the bytes that the call before read or wrote */
	LINE_BROKEN,	 /* a call that other text interrupts, or that ends early */
};

enum strace_time_form {
	TIME_NONE,
	TIME_OF_DAY,  /* -t, -tt */
	TIME_SECONDS, /* -ttt, or -r */
	TIME_MS,      /* of perf trace: since its start */
};

/* The tables of sums. */
enum strace_table { TABLE_STRACE, TABLE_LTRACE, TABLE_PERF };

/* A line, taken apart. The spans point into it. */
struct strace_line {
	enum strace_line_kind kind;
	enum strace_table table;
	enum strace_time_form form;
	bool bracketed; /* [pid N] */
	bool coarse;	/* the time is in whole seconds */
	bool comma;	/* an argument follows the last one, in the line that resumes the call */
	int32_t pid;	/* -1: the line has none */
	/* UINT64_MAX: the line has none; time and duration in ns */
	uint64_t time, duration, address, number;
	struct text_span comm, name, result;
	struct text_span args[LINE_ARGUMENTS_MOST]; /* the last one has the rest */
	unsigned nargs;
};

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

/* Take a line apart. */
void strace_parse(struct strace_line *l, struct text_span s);

/* Read the arguments of a call, and the result after the bracket that closes them: "1, 2) = 3". The
 * line has the arguments, whatever this returns; what is in neither remains unchanged. */
enum strace_line_kind strace_read_arguments(struct strace_line *l, struct text_span s);

/* Take the first word off a result that is not empty: a number, one with its file, 3</tmp/a b>, or
 * a text in quotes. */
struct text_span strace_take_result(struct text_span *result);

#endif
