/*
 * strace_line.c - one line of the text of strace, ltrace or perf trace, taken apart
 */
#include <string.h>

#include "cmd/trdecode/input.h"
#include "cmd/trdecode/strace_line.h"
#include "common/util/text.h"

enum { COMM_MOST = 64, PERF_FRAME_INDENT = 39 };

static const uint64_t NONE = UINT64_MAX, SECOND = 1000000000;

/* Find the end of a string in quotes, after the quote that ends it. NULL: it has none. */
static const char *strace_string_end(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\';
	return p < end ? p + 1 : NULL;
}

/* Find the end of the file of a descriptor: 3</a>, 3<TCP:[1.2.3.4:5->6.7.8.9:80]>,
 * 1</dev/tty<char 5:0>>, and 4<UNIX-STREAM:[31,"a>b"]>. NULL: it has none. */
static const char *strace_path_end(const char *p, const char *end)
{
	unsigned depth = 0;
	const char *quote;

	for (; p < end; p++) {
		if (*p == '<')
			depth++;
		else if (*p == '"' && p[-1] == ',' && (quote = strace_string_end(p, end)))
			p = quote - 1;
		else if (*p == '>' && p[-1] != '-' && !--depth)
			return p + 1;
	}
	return NULL;
}

/* --- the arguments of a call --- */

enum scan { SCAN_CLOSED, SCAN_UNFINISHED, SCAN_BROKEN };

/* Arguments being read. */
struct argument_scan {
	const char *at, *end;
	const char *begin; /* of the argument */
	unsigned depth;	   /* brackets that are open in it */
	bool no_path;	   /* no path of a descriptor ends in the rest of the line */
};

static void strace_end_argument(struct strace_line *l, struct argument_scan *a)
{
	struct text_span text = span_trim((struct text_span){a->begin, a->at});

	/* the last argument has the rest */
	if (l->nargs < LINE_ARGUMENTS_MOST)
		l->args[l->nargs++] = text;
	else
		l->args[l->nargs - 1].end = text.end;
}

/* Test for a mark in the place of the other arguments: <unfinished ...>, <no return ...>. */
static bool strace_is_unfinished(struct text_span rest)
{
	return span_begins(rest, "<unfinished") || span_begins(rest, "<no return ...>") ||
	       span_begins(rest, "<detached ...>");
}

/* Take a character that is not of a plain word. Returns false at the end of the arguments. */
static bool strace_scan_mark(struct strace_line *l, struct argument_scan *a)
{
	const char *p = a->at, *to = NULL;
	struct text_span rest = {p, a->end};

	switch (*p) {
	case '"': to = strace_string_end(p, a->end); break;
	case '\'':
		/* a character of ltrace, such as '(' or '\n' */
		to = a->end - p > 2
			     ? memchr(p + 2, '\'', a->end - p < 6 ? (size_t)(a->end - p) - 2 : 4)
			     : NULL;
		to = to ? to + 1 : p + 1;
		break;
	case '<':
		if (strace_is_unfinished(rest))
			return false;
		to = p + 1;
		/* 3</a>, AT_FDCWD</a>, and </a> after the comment of -X verbose */
		if (!a->no_path && p > a->begin &&
		    (is_digit(p[-1]) || p[-1] == 'D' || p[-1] == '/')) {
			to = strace_path_end(p, a->end);
			a->no_path = !to;
			to = to ? to : p + 1;
		}
		break;
	case '/':
		to = p + 1;
		if (span_begins(rest, "/*")) {
			to = span_find((struct text_span){p + 2, a->end}, "*/");
			to = to ? to + 2 : NULL;
		}
		break;
	case ',':
		if (!a->depth) {
			strace_end_argument(l, a);
			a->begin = p + 1;
		}
		to = p + 1;
		break;
	case ')':
		if (!a->depth)
			return false;
		/* fall through */
	case ']':
	case '}':
		a->depth -= a->depth > 0;
		to = p + 1;
		break;
	default:
		a->depth++;
		to = p + 1;
		break;
	}
	a->at = to ? to : a->end;
	return a->at < a->end;
}

/* Read arguments up to the bracket that closes them. *rest becomes what follows it. */
static enum scan strace_scan_arguments(struct strace_line *l, struct text_span *rest)
{
	static const uint8_t marks[256] = {
		['"'] = 1, ['\''] = 1, ['<'] = 1, ['/'] = 1, [','] = 1, ['('] = 1,
		[')'] = 1, ['['] = 1,  [']'] = 1, ['{'] = 1, ['}'] = 1};
	struct argument_scan a = {.at = rest->at, .end = rest->end, .begin = rest->at};
	bool empty;

	l->nargs = 0;
	do
		while (a.at < a.end && !marks[(uint8_t)*a.at])
			a.at++;
	while (a.at < a.end && strace_scan_mark(l, &a));
	/* the text after the last comma is no argument if it is empty */
	empty = span_trim((struct text_span){a.begin, a.at}).at == a.at;
	l->comma = l->nargs && empty;
	if (!empty)
		strace_end_argument(l, &a);
	if (a.at == a.end)
		return SCAN_BROKEN;
	rest->at = a.at + 1;
	return *a.at == ')' ? SCAN_CLOSED : SCAN_UNFINISHED;
}

/* --- the parts of a line --- */

/* Take the number of seconds, <0.000012>, off the end of a result. */
static void strace_take_duration(struct strace_line *l)
{
	struct text_span *r = &l->result;
	const char *open =
		span_size(*r) && r->end[-1] == '>' ? memrchr(r->at, '<', span_size(*r)) : NULL;

	if (!open || open + 1 >= r->end || !is_digit(open[1]) ||
	    !span_seconds((struct text_span){open + 1, r->end - 1}, TIME_LIMIT, &l->duration)) {
		l->duration = NONE;
		return;
	}
	r->end = open;
	*r = span_trim(*r);
}

struct text_span strace_take_result(struct text_span *result)
{
	const char *begin = result->at, *open = memchr(begin, '<', span_size(*result)), *end;
	struct text_span word;

	if (*begin == '"') {
		end = strace_string_end(begin, result->end);
		result->at = end ? end : result->end;
		return (struct text_span){begin, result->at};
	}
	word = span_take_word(result);
	if (!open || open >= word.end || !(end = strace_path_end(open, result->end)))
		return word;
	result->at = end;
	return (struct text_span){begin, end};
}

/* Read what follows the arguments. */
static enum strace_line_kind strace_read_result(struct strace_line *l, struct text_span rest,
						enum strace_line_kind kind)
{
	rest = span_trim(rest);
	if (l->form == TIME_MS && span_is(rest, "..."))
		return LINE_UNFINISHED;
	if (l->form == TIME_MS && rest.at == rest.end) {
		if (l->nargs)
			l->result = (struct text_span){l->args[0].at, l->args[l->nargs - 1].end};
		return LINE_TRACEPOINT;
	}
	if (!span_skip(&rest, "="))
		return LINE_BROKEN;
	l->result = span_trim(rest);
	if (l->form != TIME_MS)
		strace_take_duration(l);
	return kind;
}

enum strace_line_kind strace_read_arguments(struct strace_line *l, struct text_span s)
{
	switch (strace_scan_arguments(l, &s)) {
	case SCAN_UNFINISHED: return LINE_UNFINISHED;
	case SCAN_BROKEN: return LINE_BROKEN;
	default: return strace_read_result(l, s, LINE_CALL);
	}
}

/* Read a call of C++ of ltrace -C, whose name has parameters: "std::f(int) const(3) = 0". The
 * arguments are the brackets that the result follows. */
static enum strace_line_kind strace_read_demangled(struct strace_line *l, struct text_span s)
{
	enum { GROUPS_MOST = 64 }; /* each may be searched for a file up to the end of the line */
	const char *begin = s.at, *open;

	for (unsigned i = 0; i < GROUPS_MOST && s.at < s.end; i++) {
		struct text_span rest = s, after;
		enum scan scan;

		open = memchr(s.at, '(', span_size(s));
		if (!open)
			return LINE_OTHER;
		rest.at = open + 1;
		scan = strace_scan_arguments(l, &rest);
		if (scan == SCAN_BROKEN)
			return LINE_BROKEN;
		after = span_trim(rest);
		if (scan == SCAN_CLOSED && !span_begins(after, "= ")) {
			s.at = rest.at;
			continue;
		}
		/* other text has a blank before the bracket */
		if (open[-1] == ' ')
			return LINE_OTHER;
		l->name = (struct text_span){begin, open};
		return scan == SCAN_UNFINISHED ? LINE_UNFINISHED
					       : strace_read_result(l, rest, LINE_CALL);
	}
	return LINE_OTHER;
}

/* Read a call that begins in the line. */
static enum strace_line_kind strace_read_call(struct strace_line *l, struct text_span s)
{
	const char *p = s.at;

	/* names of ltrace: libc.so.6->malloc, read@SYS, std::f */
	while (p < s.end && (is_name(*p) || (*p && strchr(".@:->~$?", *p))))
		p++;
	if (p == s.at || p == s.end || *s.at == '-' || *s.at == '>')
		return LINE_OTHER;
	if (l->form != TIME_MS && memmem(s.at, (size_t)(p - s.at), "::", 2))
		return strace_read_demangled(l, s);
	if (*p != '(')
		return LINE_OTHER;
	l->name = (struct text_span){s.at, p};
	s.at = p + 1;
	return strace_read_arguments(l, s);
}

/* Read "<... NAME resumed>ARGUMENTS) = RESULT". */
static enum strace_line_kind strace_read_resumed(struct strace_line *l, struct text_span s)
{
	const char *end = span_find(s, "resumed>");
	enum scan scan;

	if (!end)
		return LINE_OTHER;
	l->name = span_trim((struct text_span){s.at, end});
	s.at = end + strlen("resumed>");
	scan = strace_scan_arguments(l, &s);
	/* the thread ended in the call: "<... read resumed> <unfinished ...>) = ?" */
	if (scan == SCAN_UNFINISHED)
		s.at = span_size(s) ? memchr(s.at, ')', span_size(s)) : NULL;
	if (scan == SCAN_BROKEN || !s.at)
		return LINE_BROKEN;
	s.at += scan == SCAN_UNFINISHED;
	return strace_read_result(l, s, LINE_RESUMED);
}

/* Read " ... [continued]: NAME()) = RESULT" of perf trace. */
static enum strace_line_kind strace_read_continued(struct strace_line *l, struct text_span s)
{
	const char *open = memchr(s.at, '(', span_size(s));

	if (!open)
		return LINE_OTHER;
	l->name = span_trim((struct text_span){s.at, open});
	s.at = open + 1;
	l->nargs = 0;
	l->comma = false;
	while (s.at < s.end && *s.at == ')')
		s.at++;
	return strace_read_result(l, s, LINE_RESUMED);
}

/* Read what is between two marks of three characters: "--- SIGCHLD {si_signo=SIGCHLD} ---". */
static enum strace_line_kind strace_read_event(struct strace_line *l, struct text_span s)
{
	if (span_size(s) < 9 || memcmp(s.end - 3, s.at, 3))
		return LINE_BROKEN;
	l->name = span_trim((struct text_span){s.at + 3, s.end - 3});
	l->nargs = 0;
	return span_size(l->name) ? LINE_EVENT : LINE_OTHER;
}

/* Read what follows the columns. */
static enum strace_line_kind strace_read_body(struct strace_line *l, struct text_span s)
{
	if (s.at == s.end)
		return LINE_OTHER;
	switch (*s.at) {
	case '<': return span_skip(&s, "<... ") ? strace_read_resumed(l, s) : LINE_OTHER;
	case '-': return span_begins(s, "--- ") ? strace_read_event(l, s) : LINE_OTHER;
	case '+': return span_begins(s, "+++ ") ? strace_read_event(l, s) : LINE_OTHER;
	default:
		if (span_begins(s, "strace: ") || span_begins(s, "ltrace: ") ||
		    span_begins(s, "unexpected breakpoint at 0x"))
			return LINE_MESSAGE;
		return strace_read_call(l, s);
	}
}

/* --- the columns before a call --- */

/* Take the name of a thread, <NAME>, off a span: it may have any characters. */
static void strace_take_comm(struct strace_line *l, struct text_span *s)
{
	const char *most = span_size(*s) < COMM_MOST ? s->end : s->at + COMM_MOST;

	if (s->at == s->end || *s->at != '<')
		return;
	for (const char *p = s->at + 1; p < most; p++)
		if (*p == '>' && p + 1 < s->end && (p[1] == ' ' || p[1] == ']')) {
			l->comm = (struct text_span){s->at + 1, p};
			s->at = p + 1;
			return;
		}
}

/* Take the thread off a span: "[pid 7] ", "7 " or "7<NAME> ". */
static void strace_take_thread(struct strace_line *l, struct text_span *s)
{
	struct text_span rest = *s;
	uint64_t number;
	const char *end;
	bool bracketed = span_skip(&rest, "[pid ");

	rest.at = bracketed ? span_skip_blanks(rest.at, rest.end) : rest.at;
	end = span_digits(rest.at, rest.end, &number);
	if (end == rest.at || number > LINE_PID_MOST)
		return;
	rest.at = end;
	strace_take_comm(l, &rest);
	if ((bracketed && !span_skip(&rest, "]")) || rest.at == rest.end || *rest.at != ' ') {
		l->comm = (struct text_span){0};
		return;
	}
	l->pid = (int32_t)number;
	l->bracketed = bracketed;
	s->at = span_skip_blanks(rest.at, rest.end);
}

/* Read HOURS:MINUTES:SECONDS, of which hours were read. */
static const char *strace_time_of_day(struct strace_line *l, const char *p, const char *end,
				      uint64_t hours)
{
	uint64_t minutes, seconds;
	const char *to = span_digits(p + 1, end, &minutes), *last;

	if (hours > 23 || to - p != 3 || to >= end || *to != ':')
		return NULL;
	last = span_digits(to + 1, end, &seconds);
	if (last - to != 3 || minutes > 59 || seconds > 60)
		return NULL;
	l->form = TIME_OF_DAY;
	l->time = ((hours * 60 + minutes) * 60 + seconds) * SECOND;
	return last;
}

/* Take the time off a span, and the blanks after it. */
static void strace_take_time(struct strace_line *l, struct text_span *s)
{
	const char *at = span_skip_blanks(s->at, s->end), *p;
	uint64_t number, fraction = 0;

	p = span_digits(at, s->end, &number);
	if (p == at || p == s->end)
		return;
	if (*p == ':') {
		p = strace_time_of_day(l, p, s->end, number);
	} else if (number < TIME_LIMIT / SECOND) {
		l->form = TIME_SECONDS;
		l->time = number * SECOND;
	}
	if (l->form == TIME_NONE)
		return;
	l->coarse = *p != '.';
	at = l->coarse ? p : span_fraction(p + 1, s->end, &fraction);
	if (at == s->end || *at != ' ') {
		l->form = TIME_NONE;
		return;
	}
	l->time += fraction;
	s->at = span_skip_blanks(at, s->end);
	/* -r with -t: (+ 0.000123) */
	if (span_begins(*s, "(+")) {
		at = memchr(s->at, ')', span_size(*s));
		s->at = at ? span_skip_blanks(at + 1, s->end) : s->at;
	}
}

/* Take the columns of -n and -i off a span: "[ 257] " and "[00007f317ae30c47] ". */
static void strace_take_brackets(struct strace_line *l, struct text_span *s)
{
	while (s->at < s->end && *s->at == '[') {
		const char *close = memchr(s->at, ']', span_size(*s));
		struct text_span in;
		uint64_t number;

		if (!close)
			return;
		in = span_trim((struct text_span){s->at + 1, close});
		if (span_size(in) && span_size(in) < 8 &&
		    span_digits(in.at, in.end, &number) == in.end) {
			l->number = number;
		} else if (span_size(in) && *in.at != '?') {
			in.at += span_begins(in, "0x") ? 2 : 0;
			if (!digits_hex(&in.at, in.end, &number) || in.at != in.end)
				return;
			l->address = number;
		}
		s->at = span_skip_blanks(close + 1, s->end);
	}
}

/* Read a number of ms with three digits after the point. */
static bool strace_read_ms(struct text_span s, uint64_t *ns)
{
	uint64_t fraction;
	const char *point = span_digits(s.at, s.end, ns);

	if (point == s.at || point == s.end || *point != '.' || s.end - point != 4 ||
	    span_digits(point + 1, s.end, &fraction) != s.end || *ns >= TIME_LIMIT / 1000000)
		return false;
	*ns = *ns * 1000000 + fraction * 1000;
	return true;
}

/* Take the thread of perf trace off a span: "NAME/THREAD ", or the number alone with --no-comm.
 * ":-1/-1 " is one that has ended. false: there is none. */
static bool strace_take_task(struct strace_line *l, struct text_span *s)
{
	const char *most = span_size(*s) < COMM_MOST ? s->end : s->at + COMM_MOST, *task = s->at;
	uint64_t number;

	if (span_skip(s, ":-1/-1 "))
		return true;
	/* a name may have blanks and slashes, too */
	while (task) {
		const char *end = span_digits(task, s->end, &number);

		if (end > task && end < s->end && *end == ' ' && number <= LINE_PID_MOST) {
			if (task > s->at)
				l->comm = (struct text_span){s->at, task - 1};
			l->pid = (int32_t)number;
			s->at = span_skip_blanks(end, s->end);
			return true;
		}
		task = task < most ? memchr(task, '/', (size_t)(most - task)) : NULL;
		task = task ? task + 1 : NULL;
	}
	return false;
}

/* Read an event of perf trace: "SYSTEM:EVENT(FIELDS)", or "minfault [ADDRESS] => ADDRESS (d.)". */
static bool strace_read_tracepoint(struct strace_line *l, struct text_span s)
{
	const char *p = s.at;

	if (span_begins(s, "minfault [") || span_begins(s, "majfault [")) {
		l->name = (struct text_span){s.at, s.at + strlen("minfault")};
		l->result = (struct text_span){s.at + strlen("minfault "), s.end};
		return true;
	}
	while (p < s.end && (is_name(*p) || *p == '-' || *p == '.' || *p == ':'))
		p++;
	if (p == s.at || p == s.end || *p != '(' || s.end[-1] != ')' ||
	    !memchr(s.at + 1, ':', (size_t)(p - s.at) - 1) || p[-1] == ':')
		return false;
	l->name = (struct text_span){s.at, p};
	l->result = (struct text_span){p + 1, s.end - 1};
	return true;
}

/* Take the columns of perf trace off a span: "0.788 ( 0.021 ms): NAME/THREAD ". false: it has
 * none. */
static bool strace_take_perf(struct strace_line *l, struct text_span *s)
{
	struct text_span rest = span_trim(*s), time = span_take_word(&rest), column, duration;
	uint64_t ms = NONE;
	const char *end;

	rest = span_trim(rest);
	if (!span_is(time, "?") && !strace_read_ms(time, &ms))
		return false;
	/* strace has "(+ 0.001)" there */
	column = rest;
	if (span_skip(&column, "(") && !span_begins(column, "+") &&
	    (end = span_find(column, "): "))) {
		duration = span_trim((struct text_span){column.at, end});
		if (span_ends(duration, " ms")) {
			duration.end -= 3;
			if (!strace_read_ms(duration, &l->duration))
				l->duration = NONE;
		}
		rest.at = span_skip_blanks(end + 3, rest.end);
		strace_take_task(l, &rest);
	} else {
		/* only events, none of which has a duration */
		if (!strace_take_task(l, &rest) || !strace_read_tracepoint(l, rest)) {
			l->pid = -1;
			l->comm = (struct text_span){0};
			return false;
		}
	}
	l->form = TIME_MS;
	l->time = ms;
	*s = rest;
	return true;
}

/* Take a word off the heading of a table. */
static struct text_span strace_take_heading(struct text_span *s)
{
	struct text_span at = span_trim(*s);

	if (span_skip(&at, "% time")) {
		*s = at;
		return (struct text_span){at.at - strlen("% time"), at.at};
	}
	return span_take_word(s);
}

/* Test for the heading of the table of strace -c, which may have any columns with -U, of ltrace -c,
 * or of perf trace -s. */
static bool strace_read_table(struct strace_line *l, struct text_span s)
{
	static const char *const columns[] = {"% time",	 "seconds", "usecs/call", "shortest",
					      "longest", "calls",   "errors"};
	struct text_span word;
	bool named = false, known = true;

	l->table = TABLE_PERF;
	if (span_is(s, " Summary of events:"))
		return true;
	l->table = TABLE_STRACE;
	/* of a program with calls of 32 and 64 bits */
	if (span_begins(s, "System call usage summary for "))
		return true;
	while (known && span_size(word = strace_take_heading(&s))) {
		bool function = span_is(word, "function"), syscall = span_is(word, "syscall");

		l->table = function ? TABLE_LTRACE : l->table;
		named |= function || syscall;
		known = function || syscall;
		for (size_t i = 0; !known && i < sizeof columns / sizeof *columns; i++)
			known = span_is(word, columns[i]);
	}
	return named && known;
}

/* Read a frame of perf trace --call-graph. */
static bool strace_read_perf_frame(struct strace_line *l, struct text_span s)
{
	const char *at = span_skip_blanks(s.at, s.end);

	l->result = (struct text_span){at, s.end};
	return at - s.at == PERF_FRAME_INDENT && span_ends(s, ")") && span_find(l->result, " (");
}

void strace_parse(struct strace_line *l, struct text_span s)
{
	l->kind = LINE_OTHER;
	l->form = TIME_NONE;
	l->bracketed = l->coarse = l->comma = false;
	l->pid = -1;
	l->time = l->duration = l->address = l->number = NONE;
	l->comm = l->name = l->result = (struct text_span){0};
	l->nargs = 0;
	if (s.at == s.end)
		return;
	if (*s.at == ' ' && span_begins(s, " > ")) {
		l->kind = LINE_FRAME;
		l->result = (struct text_span){s.at + 3, s.end};
		return;
	}
	if (*s.at == ' ' && strace_read_perf_frame(l, s)) {
		l->kind = LINE_FRAME;
		l->form = TIME_MS;
		return;
	}
	if ((*s.at == '%' || *s.at == ' ' || (*s.at >= 'a' && *s.at <= 's') || *s.at == 'S') &&
	    strace_read_table(l, s)) {
		l->kind = LINE_TABLE;
		return;
	}
	/* of -e read and -e write: " | 00000  7f 45", " * 3 bytes in buffer 0" */
	if (*s.at == ' ' && (span_begins(s, " | ") || span_begins(s, " * ")) && s.end - s.at > 3 &&
	    is_digit(s.at[3])) {
		l->kind = LINE_DUMP;
		return;
	}
	if ((*s.at == ' ' || is_digit(*s.at)) && strace_take_perf(l, &s)) {
		l->kind = strace_read_tracepoint(l, s)	       ? LINE_TRACEPOINT
			  : span_skip(&s, "... [continued]: ") ? strace_read_continued(l, s)
							       : strace_read_call(l, s);
		if (l->kind == LINE_TRACEPOINT)
			l->duration = NONE;
		return;
	}
	strace_take_thread(l, &s);
	strace_take_time(l, &s);
	strace_take_brackets(l, &s);
	l->kind = strace_read_body(l, s);
}
