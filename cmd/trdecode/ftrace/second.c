/*
 * second.c - two events in one line: a newline between them is lost
 *
 * The head of the second event is in the text of the first. The text of a mark, and one without a
 * name, may have any characters, so it has no second event. If the end of the first event is lost
 * too, its last bytes can be in its own head: "sh-14          sh-149 [001] 1.000001:".
 */
#include "cmd/trdecode/ftrace/ftrace.h"

enum {
	COMM_COLUMN = 16, /* bytes from the begin of a line to "-TID"; 8 in latency formats */
	COMM_COLUMN_LATENCY = 8,
	SECOND_LINE_MOST = 4096, /* bytes of a line with second events: each is read to its end */
};

/* Find the last two blanks in a text. Returns their end; NULL: there are none. */
static const char *last_gap(struct span s)
{
	for (const char *p = s.end; p - s.at >= 2; p--)
		if (p[-1] == ' ' && p[-2] == ' ')
			return p;
	return NULL;
}

/* Return the begin of a comm that ends at `minus`, in the text after an event. */
static const char *comm_begin(const struct ftrace *f, struct span text, const char *minus)
{
	const struct ftrace_line *l = &f->line;
	bool latency = l->form == LINE_LATENCY;
	ptrdiff_t column = l->kind == LINE_EVENT ? l->comm.end - f->whole.at : 0;
	const char *gap;

	if (minus - text.at < column)
		return text.at;
	if (span_size(l->instance) && !memcmp(minus - column, f->whole.at, span_size(l->instance)))
		return minus - column;
	if (column >= (latency ? COMM_COLUMN_LATENCY : COMM_COLUMN))
		text.at = minus - column;
	gap = last_gap((struct span){text.at, minus});
	if (!gap && text.at != minus - column) {
		gap = memrchr(text.at, ' ', (size_t)(minus - text.at));
		gap = gap ? gap + 1 : NULL;
	}
	return gap ? gap : text.at;
}

/* Test for a text that ends before a second event. */
static bool may_end(const struct ftrace *f, struct span text)
{
	struct span name;

	if (f->line.kind == LINE_FRAME)
		return true;
	text = span_trim(text);
	name = ftrace_take_name(&text);
	if (name.at == name.end)
		return span_find_rare(text, " <-", 1) || span_ends(text, "stack trace>") ||
		       ftrace_cut_name(f, text);
	return !ftrace_is_mark(name) && !span_is(name, "console") &&
	       !span_is(name, "bpf_trace_printk");
}

/* Test whether "[CPU] FLAGS TIME" may be in a text. */
static bool may_have_event(struct span s)
{
	for (const char *p = s.at; p < s.end && (p = memchr(p, '[', (size_t)(s.end - p))); p++) {
		const char *q = p + 1;

		while (q < s.end && (unsigned char)(*q - '0') <= 9)
			q++;
		if (q == p + 1 || s.end - q < 2 || q[0] != ']' || q[1] != ' ')
			continue;
		q = span_skip_blanks(q + 1, s.end);
		if (q < s.end && (unsigned char)(*q - '0') <= 9)
			return true;
		q = memchr(q, ' ', (size_t)(s.end - q));
		q = q ? span_skip_blanks(q, s.end) : s.end;
		if (q < s.end && (unsigned char)(*q - '0') <= 9)
			return true;
	}
	return false;
}

/* Find "[COMM-TID] [CPU] FLAGS TIME:" in the text of the line. Returns its begin; NULL: there is
 * none. */
static const char *second_event(const struct ftrace *f)
{
	const struct ftrace_line *l = &f->line;
	struct span text = {l->text.at, f->whole.end};
	struct ftrace_line second;
	const char *begin = l->kind == LINE_FRAME ? span_find_rare(text, "=>", 0) : NULL;

	if (begin)
		return begin;
	if (l->form != LINE_LATENCY && !may_have_event(text))
		return NULL;
	second = (struct ftrace_line){.comm = {text.at, text.at}};
	if (l->form == LINE_LATENCY ? !ftrace_latency_line(text, &second)
				    : !ftrace_event_line(text, &second))
		return NULL;
	if (second.clock != (l->kind == LINE_EVENT ? l->clock : f->clock))
		return NULL;
	begin = comm_begin(f, text, second.comm.end);
	return may_end(f, (struct span){text.at, begin}) ? begin : NULL;
}

/* Find a call of function_graph after that of the line. Returns its begin; NULL: there is none. */
static const char *second_call(const struct ftrace *f)
{
	struct span s = span_trim(f->line.text);
	struct ftrace_line second = {.tid = -1, .cpu = -1, .clock = LINE_NO_TIME, .indent = 2};
	const char *end = memchr(s.at, ';', span_size(s)), *brace;

	brace = s.at < s.end && *s.at == '}'
			? s.at
			: memchr(s.at, '{', (size_t)((end ? end : s.end) - s.at));
	end = brace ? brace : end;
	if (!end || end + 1 == s.end)
		return NULL;
	s.at = span_skip_blanks(end + 1, s.end);
	if (span_begins(s, "/*"))
		s.at = span_find(s, "*/") ? span_find(s, "*/") + 2 : s.end;
	s.at = span_skip_blanks(s.at, s.end);
	return s.at < s.end && ftrace_graph_line(s, &second) && second.kind == LINE_GRAPH &&
			       (second.cpu < 0) == (f->line.cpu < 0)
		       ? s.at
		       : NULL;
}

/* Take off the comm what an event before it left there. */
static void drop_first_head(struct ftrace *f)
{
	struct span *comm = &f->line.comm;
	const char *gap = last_gap(*comm);

	if (!gap)
		return;
	input_damage(f->input, f->input->name, f->offset, "an event that ends early");
	comm->at = gap;
}

void ftrace_second_event(struct ftrace *f)
{
	struct ftrace_line *l = &f->line;
	const char *begin = NULL;

	if (span_size(f->whole) > SECOND_LINE_MOST)
		return;
	if (l->kind == LINE_GRAPH)
		begin = second_call(f);
	else if (l->kind == LINE_FRAME || (l->kind == LINE_EVENT && l->form <= LINE_LATENCY))
		begin = second_event(f);
	if (l->kind == LINE_EVENT && span_size(l->comm) > LINE_COMM_MOST)
		drop_first_head(f);
	if (!begin)
		return;
	f->rest.text = (struct span){begin, f->whole.end};
	f->rest.offset = f->offset + (uint64_t)(begin - f->whole.at);
	f->whole.end = begin;
	l->text.end = span_trim((struct span){l->text.at, begin}).end;
	ftrace_trim_page(&l->text);
	input_damage(f->input, f->input->name, f->rest.offset, "a second event in a line");
}
