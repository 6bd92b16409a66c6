/*
 * next_line.c - the lines of kernel text in their order, and those that go on with an event
 *
 * The kernel and trace-cmd print the text of a mark as it was written to trace_marker, so a mark
 * with newlines has several lines. A line that is no event belongs to the event before, if the text
 * of that event may have newlines. After a mark that is any line but an event, lost events, and
 * what the kernel prints between events: a heading, which begins with "# tracer: ", and
 * "##### CPU N buffer started ####".
 *
 * Source: kernel/trace/trace.c of Linux, and marks recorded with Linux 6.18 and trace-cmd 3.1.6.
 */
#include "cmd/trdecode/ftrace/ftrace.h"

enum {
	LIVE_WAIT = 20, /* ms */
};

void ftrace_strange(struct ftrace *f)
{
	if (!f->strange++)
		input_damage(f->input, f->input->name, f->offset,
			     f->lines.whole ? "a line that is no event"
					    : "the text ends within a line");
}

void ftrace_trim_page(struct span *s)
{
	if (span_ends(*s, "\\n\\"))
		s->end -= 3;
}

/* Test whether a line of a page is in its trace. */
static bool in_trace(struct ftrace *f, struct span s, const struct ftrace_line *l)
{
	if (!f->html)
		return true;
	if (f->outside)
		f->outside = l->kind != LINE_EVENT && !span_begins(s, "# tracer: ");
	else if (span_begins(span_trim(s), "</script>") || span_is(span_trim(s), "\";"))
		f->outside = true;
	return !f->outside;
}

/* Test for "##### CPU N buffer started ####". */
static bool is_buffer_start(struct span s)
{
	uint64_t cpu;

	if (!span_begins(s, "##### CPU "))
		return false;
	s.at += 10;
	s.at = ftrace_digits(s.at, s.end, &cpu);
	return span_is(s, " buffer started ####");
}

/* Test whether a line, though it may have a meaning of its own, is of the mark before it. */
static bool is_of_mark(const struct ftrace *f)
{
	const struct ftrace_line *l = &f->line;

	if (!f->has_row || !f->row.mark || !f->lines.whole)
		return false;
	switch (l->kind) {
	case LINE_IGNORED:
		/* blank lines end a page, and are between the threads of function_graph */
		return !f->seen.heading && !f->seen.graph && !is_buffer_start(f->whole) &&
		       (!f->html || span_size(span_trim(f->whole)));
	case LINE_FRAME: return true;
	case LINE_GRAPH:
	case LINE_SWITCH: return !f->seen.graph && l->clock != f->clock;
	case LINE_EVENT:
		/* damage does not make such a time of another */
		return (l->clock == LINE_SECONDS && f->clock == LINE_MICROSECONDS) ||
		       (l->clock == LINE_MICROSECONDS && f->clock == LINE_SECONDS);
	default: return false;
	}
}

/* Find what a line is, after those before it. */
static void take_meaning(struct ftrace *f)
{
	struct ftrace_line *l = &f->line;

	if (l->kind == LINE_EVENT)
		f->seen.heading = false;
	else if (l->kind == LINE_IGNORED && span_begins(f->whole, "# tracer: "))
		f->seen.heading = true;
	f->graph |= f->seen.heading && span_begins(f->whole, "# tracer: function_graph");
	f->seen.graph |= f->graph;
	f->seen.columns |= l->kind == LINE_GRAPH;
	if (f->graph && !f->seen.columns && l->kind == LINE_OTHER &&
	    !ftrace_graph_bare(f->whole, l))
		l->kind = LINE_OTHER;
	if (is_of_mark(f))
		l->kind = LINE_TEXT;
}

/* Get the next line, or the second event of the line before. Returns as ftrace_next_line. */
static int get_line(struct ftrace *f, struct error *e)
{
	const char *text;
	size_t n;
	int got;

	if (f->rest.text.at < f->rest.text.end) {
		f->whole = f->rest.text;
		f->offset = f->rest.offset;
		f->rest.text.at = f->rest.text.end;
		return 1;
	}
	while ((got = lines_next(&f->lines, f->input, &text, &n, e)) > 0) {
		f->offset = f->lines.offset;
		f->whole = (struct span){text, text + n};
		ftrace_trim_page(&f->whole);
		if (!f->lines.cut && !memchr(text, '\0', n))
			return 1;
		if (f->events || f->has_row)
			ftrace_strange(f);
		else
			f->heading++;
	}
	return got;
}

int ftrace_next_line(struct ftrace *f, struct error *e)
{
	int got;

	f->held = false;
	while ((got = get_line(f, e)) > 0) {
		ftrace_line_parse(f->whole, &f->line);
		take_meaning(f);
		if (!in_trace(f, f->whole, &f->line))
			continue;
		if (f->line.kind == LINE_IGNORED) {
			if (!f->events && !f->has_row)
				ftrace_heading_take(f);
			continue;
		}
		/* what is before the first event is a heading */
		if (!f->events && !f->has_row && f->line.kind == LINE_OTHER) {
			f->heading++;
			continue;
		}
		ftrace_second_event(f);
		f->held = true;
		return 1;
	}
	return got;
}

/* Test whether a line goes on with the text of the event before. */
static bool goes_on(const struct ftrace *f)
{
	const struct ftrace_row *r = &f->row;

	if (!f->has_row || f->line.kind == LINE_TEXT)
		return f->has_row;
	return r->instant_text && f->line.kind == LINE_OTHER && f->lines.whole &&
	       !ftrace_line_damaged(f, f->whole) && (r->mark || !ftrace_cut_is_word(f));
}

/* Add the line to the last text of the row. */
static int append_line(struct ftrace *f)
{
	struct buffer *b = &f->row.tail;

	f->row.goes_on = true;
	if (b->size > LINE_MOST)
		return 0;
	b->size--; /* the NUL */
	return buffer_append(b, "\n", 1) || buffer_append(b, f->whole.at, span_size(f->whole)) ||
			       buffer_append(b, "", 1)
		       ? -1
		       : 0;
}

/* Test for the address that trace-cmd prints in place of "NAME (ADDRESS)". */
static bool is_address(struct span s)
{
	uint64_t address;
	const char *p = span_begins(s, "0x") ? s.at + 2 : s.at;

	return digits_hex(&p, s.end, &address) && p == s.end;
}

/* Take a frame of the row's stack. If it ends in another way than those before, it was cut. */
static int take_frame(struct ftrace *f)
{
	struct span text = f->line.text;
	char end = text.at < text.end ? text.end[-1] : '\0';
	bool cut = !f->lines.whole || span_size(f->rest.text);
	/* trace-cmd prints "(ADDRESS)" after the names of functions of the kernel */
	bool closed = (f->stack.end == ')' && f->stack.count) ||
		      (cut && f->stack.end && strchr(">])", f->stack.end));

	if (!f->has_row || !f->stack.wanted)
		return 0;
	if ((cut && !end) || (closed && end != f->stack.end && !is_address(text))) {
		ftrace_strange(f);
		return 0;
	}
	f->stack.end = end;
	if (f->stack.count == FTRACE_STACK_MOST)
		return 0;
	f->stack.frames[f->stack.count] = ftrace_frame(f, text);
	return f->stack.frames[f->stack.count++] ? 0 : -1;
}

int ftrace_take_rest(struct ftrace *f, struct error *e)
{
	int got;

	for (;;) {
		if (!lines_ready(&f->lines, f->input, LIVE_WAIT))
			return 1;
		got = ftrace_next_line(f, e);
		if (got <= 0)
			return got;
		if (f->line.kind == LINE_FRAME) {
			if (take_frame(f))
				return -1;
		} else if (!goes_on(f)) {
			return 1;
		} else if (append_line(f)) {
			return error_no_memory(e);
		}
	}
}
