/*
 * heading.c - the heading of kernel text, which alone is a trace without events
 *
 *     # tracer: NAME
 *     #
 *     # entries-in-buffer/entries-written: 0/0   #P:4        not of all tracers
 *     ...                                                    names of columns
 *     #              | |         |   |||||     |         |
 *
 * A tracer of latencies without an event prints the first two lines alone. The file of the spare
 * buffer has its commands in place of the columns. trace-cmd report prints "cpus=N".
 *
 * Source: kernel/trace/trace.c of Linux.
 */
#include "cmd/trdecode/ftrace/ftrace.h"

/* Test for the last line of the names of columns: only bars. */
static bool is_bars(struct span s)
{
	bool bar = false;

	for (const char *p = s.at + 1; p < s.end; p++) {
		if (*p != '|' && *p != ' ')
			return false;
		bar |= *p == '|';
	}
	return bar;
}

/* Test for a tracer of latencies: irqsoff, preemptoff, wakeup_rt and the like. */
static bool is_of_latencies(struct span name)
{
	return span_ends(name, "off") || span_begins(name, "wakeup");
}

void ftrace_heading_take(struct ftrace *f)
{
	struct span s = span_trim(f->whole);
	enum ftrace_heading *h = &f->seen.first;

	if (s.at == s.end)
		return;
	if (!f->lines.whole) {
		*h = *h == HEADING_NONE ? HEADING_NONE : HEADING_PART;
	} else if (*s.at != '#') {
		*h = span_find(s, "cpus=") ? HEADING_WHOLE : *h;
	} else if (span_begins(s, "# tracer: ")) {
		s.at += 10;
		*h = is_of_latencies(s) ? HEADING_LATENCY : HEADING_PART;
	} else if (*h != HEADING_NONE && span_size(s) > 1) {
		*h = is_bars(s) || span_ends(s, "is not a '0' or '1')") ? HEADING_WHOLE
									: HEADING_PART;
	} else if (*h == HEADING_LATENCY) {
		*h = HEADING_WHOLE;
	}
}

int ftrace_heading_check(struct ftrace *f, struct error *e)
{
	if (f->html)
		return error_set(e, f->input->name, NO_OFFSET,
				 "the page has no trace of the kernel");
	/* an empty trace has only comments */
	if (f->heading)
		return error_set(
			e, f->input->name, NO_OFFSET,
			"no line has a thread and a time: turn off the options raw, hex and "
			"bin of tracefs, and turn on context-info");
	if (f->seen.first == HEADING_NONE)
		return error_set(e, f->input->name, NO_OFFSET,
				 "the text has no event, and no heading of the kernel");
	if (f->seen.first != HEADING_WHOLE)
		input_damage(f->input, f->input->name, f->offset,
			     "the text ends within its heading");
	return 0;
}
