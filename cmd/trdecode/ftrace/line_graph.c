/*
 * line_graph.c - one line of the tracer function_graph, taken apart
 *
 *     [TIME |  ][ CPU) ][COMM-TID | ][ FLAGS | ][MARK DURATION us |  ]CALL
 *
 * Each column is an option of the tracer (funcgraph-abstime, -cpu, -proc, -duration; FLAGS:
 * latency-format), so each may be absent. TIME is seconds with a point, or microseconds and "us".
 * The column of the durations is blank for the begin of a call. The blanks before a CALL are those
 * that end the column before it, and two more for each level.
 *
 * Around the functions of an interrupt a line has an arrow in place of the duration and the call:
 * "==========> |" and "<========== |", without durations no bar.
 *
 * Source: kernel/trace/trace_functions_graph.c of Linux.
 */
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/ftrace/line.h"

enum { TASK_COLUMN_MOST = 32, COMM_MOST = 7, FLAGS_LEAST = 3, FLAGS_COLUMN_MOST = 10 };

bool ftrace_duration(struct span *s, uint64_t *ns)
{
	const char *p = span_skip_blanks(s->at, s->end), *q;
	uint64_t number, fraction = 0;

	*ns = UINT64_MAX;
	if (p < s->end && strchr("+!#*@$", *p) && *p)
		p = span_skip_blanks(p + 1, s->end);
	q = ftrace_digits(p, s->end, &number);
	if (q > p) {
		if (q < s->end && *q == '.') {
			p = q + 1;
			q = ftrace_fraction(p, s->end, &fraction);
			if (q == p)
				return false;
		}
		q = span_skip_blanks(q, s->end);
		if (s->end - q < 2 || q[0] != 'u' || q[1] != 's' || number >= TIME_LIMIT / 1000)
			return false;
		*ns = number * 1000 + fraction / 1000000;
		p = span_skip_blanks(q + 2, s->end);
	}
	if (p == s->end || *p != '|')
		return false;
	s->at = p + 1;
	return true;
}

/* Read "SECONDS.FRACTION |" or "NUMBER us |". Without a CPU the second is a duration. */
static void take_time(struct span *s, struct ftrace_line *l)
{
	uint64_t number, ns = 0;
	const char *first = span_skip_blanks(s->at, s->end);
	const char *p = ftrace_digits(first, s->end, &number), *q;
	bool point = p < s->end && *p == '.', us;

	if (p == first)
		return;
	if (point) {
		q = ftrace_fraction(p + 1, s->end, &ns);
		if (q == p + 1)
			return;
		p = q;
	}
	p = span_skip_blanks(p, s->end);
	us = span_begins((struct span){p, s->end}, "us");
	p = us ? span_skip_blanks(p + 2, s->end) : p;
	if (p == s->end || *p != '|' || (!us && !point) || number >= TIME_LIMIT / 1000000000)
		return;
	if (us) {
		q = span_skip_blanks(p + 1, s->end);
		if (ftrace_digits(q, s->end, &(uint64_t){0}) == q)
			return;
	}
	l->time = us ? number * 1000 + ns / 1000000 : number * 1000000000 + ns;
	l->clock = us ? LINE_MICROSECONDS : LINE_SECONDS;
	l->indent = 2;
	s->at = p + 1;
}

/* Read "CPU)". */
static bool take_cpu(struct span *s, struct ftrace_line *l)
{
	uint64_t number;
	const char *first = span_skip_blanks(s->at, s->end);
	const char *p = ftrace_digits(first, s->end, &number);

	if (p == first || p == s->end || *p != ')' || number > LINE_CPU_MOST)
		return false;
	l->cpu = (int32_t)number;
	l->indent = 1;
	s->at = p + 1;
	return true;
}

/* Read "COMM-TID |". The kernel prints seven bytes of a comm, which may be bars. */
static void take_task(struct span *s, struct ftrace_line *l)
{
	struct span column = *s;
	const char *bar = s->at;
	struct ftrace_line task = {0};

	if (span_size(column) > TASK_COLUMN_MOST)
		column.end = s->at + TASK_COLUMN_MOST;
	for (; (bar = memchr(bar, '|', (size_t)(column.end - bar))); bar++) {
		struct span text = span_trim((struct span){s->at, bar});

		if (!ftrace_task(text, &task))
			continue;
		task.comm.at = text.at; /* it has no instance */
		if (span_size(task.comm) > COMM_MOST)
			return;
		l->comm = task.comm;
		l->tid = task.tid;
		l->indent = 1;
		s->at = bar + 1;
		return;
	}
}

/* Read "FLAGS |". */
static void take_flags(struct span *s, struct ftrace_line *l)
{
	struct span column = *s, flags;
	const char *bar;

	if (span_size(column) > FLAGS_COLUMN_MOST)
		column.end = s->at + FLAGS_COLUMN_MOST;
	bar = memchr(s->at, '|', span_size(column));
	if (!bar)
		return;
	flags = span_trim((struct span){s->at, bar});
	if (span_size(flags) < FLAGS_LEAST || memchr(flags.at, ' ', span_size(flags)))
		return;
	l->indent = 1;
	s->at = bar + 1;
}

bool ftrace_is_call(struct span s)
{
	s = span_trim(s);
	return span_ends(s, "{") || span_ends(s, "}") || span_ends(s, ";") || span_ends(s, "*/");
}

/* Test for the arrow at the begin or the end of an interrupt. */
static bool is_arrow(struct span s)
{
	s = span_trim(s);
	if (span_ends(s, " |"))
		s = span_trim((struct span){s.at, s.end - 1});
	if (!span_ends(s, "==========>") && !span_ends(s, "<=========="))
		return false;
	/* an event with a text that ends so has a time */
	return !span_find(s, ": ");
}

/* Read what follows the columns that all lines have: a call, or another thread. */
static bool read_call(struct span s, bool cpu, struct ftrace_line *l)
{
	struct span before = {s.at, span_find_rare(s, "/*", 0)};
	const char *arrow;

	if (ftrace_duration(&s, &l->duration)) {
		l->indent = 2;
		l->text = s;
		return cpu || ftrace_is_call(s);
	}
	arrow = cpu ? span_find(s, "=>") : NULL;
	if (arrow && !ftrace_is_call(s) && ftrace_task((struct span){arrow + 2, s.end}, l)) {
		l->kind = LINE_SWITCH;
		l->text = span_trim((struct span){s.at, arrow});
		return true;
	}
	l->text = s;
	before.end = before.end ? before.end : s.end;
	/* a call has no bar, and other texts may have the columns of this one */
	return (cpu || l->tid >= 0 || l->clock != LINE_NO_TIME) && ftrace_is_call(s) &&
	       !memchr(before.at, '|', span_size(before));
}

bool ftrace_graph_line(struct span line, struct ftrace_line *l)
{
	struct span s = line;
	bool cpu;

	l->kind = LINE_GRAPH;
	if (is_arrow(s)) {
		l->kind = LINE_IGNORED;
		return true;
	}
	take_time(&s, l);
	cpu = take_cpu(&s, l);
	take_task(&s, l);
	take_flags(&s, l);
	return read_call(s, cpu, l);
}

bool ftrace_graph_bare(struct span line, struct ftrace_line *l)
{
	struct span s = line;

	l->kind = LINE_GRAPH;
	l->indent = 0;
	take_flags(&s, l);
	l->text = s;
	return ftrace_is_call(s);
}
