#include "cmd/trdecode/ftrace/line.h"

#include "cmd/trdecode/decoder.h"

enum {
	DIGITS_MOST = 18,
	CPU_MOST = 65535,
	FLAGS_MOST = 64,
};

const char *ftrace_digits(const char *at, const char *end, uint64_t *number)
{
	const char *p = at;
	uint64_t n = 0;

	while (p < end && (unsigned char)(*p - '0') <= 9)
		n = n * 10 + (uint64_t)(*p++ - '0');
	*number = n;
	return p - at > DIGITS_MOST ? at : p;
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

static const char *skip_word(const char *p, const char *end)
{
	/* a hostile line has many words to try */
	const char *stop = end - p > FLAGS_MOST ? p + FLAGS_MOST : end;

	while (p < stop && *p != ' ')
		p++;
	return p;
}

/* Read the digits after the point of a number of seconds as ns. */
static const char *read_fraction(const char *at, const char *end, uint64_t *ns)
{
	const char *p = ftrace_digits(at, end, ns);

	if (p == at || p - at > 9)
		return at;
	for (ptrdiff_t i = p - at; i < 9; i++)
		*ns *= 10;
	return p;
}

/* Read "TIME:" into the line. Returns its end; NULL: it is no time. */
static const char *read_time(const char *at, const char *end, struct ftrace_line *l)
{
	uint64_t number, ns = 0;
	const char *p = ftrace_digits(at, end, &number), *q;

	if (p == at || p == end)
		return NULL;
	if (*p == '.') {
		q = read_fraction(p + 1, end, &ns);
		if (q == p + 1 || number >= TIME_LIMIT / 1000000000)
			return NULL;
		number = number * 1000000000 + ns;
		l->clock = LINE_SECONDS;
		p = q;
	} else if (end - p > 2 && p[0] == 'u' && p[1] == 's') {
		if (number >= TIME_LIMIT / 1000)
			return NULL;
		number *= 1000;
		l->clock = LINE_MICROSECONDS;
		p += p + 3 < end && p[2] != ':' ? 3 : 2;
	} else {
		l->clock = LINE_TICKS;
	}
	if (p == end || *p != ':' || (p + 1 < end && p[1] != ' ') || number >= TIME_LIMIT)
		return NULL;
	l->time = number;
	return p + 1;
}

/* Read "COMM-TID" up to the end of s, with an instance or a file before it. */
static bool read_task(struct span s, struct ftrace_line *l)
{
	const char *p, *colon;
	uint64_t tid;

	s = span_trim(s);
	for (p = s.end; p > s.at && p[-1] >= '0' && p[-1] <= '9'; p--)
		;
	if (p == s.end || p == s.at || p[-1] != '-' || ftrace_digits(p, s.end, &tid) != s.end ||
	    tid > INT32_MAX)
		return false;
	l->tid = (int32_t)tid;
	l->comm = (struct span){s.at, p - 1};
	colon = memchr(s.at, ':', span_size(l->comm));
	l->instance = (struct span){s.at, s.at};
	if (colon && colon + 1 < l->comm.end && colon[1] == ' ' &&
	    !memchr(s.at, ' ', (size_t)(colon - s.at))) {
		l->instance.end = colon;
		l->comm.at = skip_blanks(colon + 1, l->comm.end);
	}
	return true;
}

/* Read "COMM-TID [(TGID)]" up to the end of s. */
static bool read_threads(struct span s, struct ftrace_line *l)
{
	const char *open;
	uint64_t tgid;

	l->tgid = -1;
	s = span_trim(s);
	if (s.end > s.at && s.end[-1] == ')') {
		for (open = s.end - 1; open > s.at && *open != '('; open--)
			;
		if (*open == '(') {
			struct span in = span_trim((struct span){open + 1, s.end - 1});

			if (ftrace_digits(in.at, in.end, &tgid) == in.end && in.at < in.end &&
			    tgid <= INT32_MAX)
				l->tgid = (int32_t)tgid;
			s.end = open;
		}
	}
	return read_task(s, l);
}

/* Read "[FLAGS] TIME:" and what follows. */
static bool read_rest(const char *p, const char *end, struct ftrace_line *l)
{
	const char *text;

	p = skip_blanks(p, end);
	text = read_time(p, end, l);
	if (!text) {
		p = skip_blanks(skip_word(p, end), end);
		text = read_time(p, end, l);
	}
	if (!text)
		return false;
	l->text = span_trim((struct span){text, end});
	return true;
}

/* Read a line with "[CPU]". */
static bool read_event(struct span line, struct ftrace_line *l)
{
	const char *p = line.at, *q;
	const char *head = span_size(line) > LINE_HEAD_MOST ? line.at + LINE_HEAD_MOST : line.end;
	uint64_t cpu;

	/* a comm may have brackets */
	while (p < head && (p = memchr(p, '[', (size_t)(head - p)))) {
		q = ftrace_digits(++p, line.end, &cpu);
		if (q == p || q == line.end || *q != ']' || cpu > CPU_MOST)
			continue;
		if (!read_rest(q + 1, line.end, l) ||
		    !read_threads((struct span){line.at, p - 1}, l))
			continue;
		l->cpu = (int32_t)cpu;
		return true;
	}
	return false;
}

/* Read "FLAGSTIME:": a time of twelve digits has no blank before it. */
static bool read_joined(struct span s, struct ftrace_line *l)
{
	static const uint8_t flags[] = {5, 6, 4}; /* in the order of their frequency */

	for (unsigned i = 0; i < sizeof flags; i++) {
		const char *text =
			span_size(s) > flags[i] ? read_time(s.at + flags[i], s.end, l) : NULL;

		if (text) {
			l->text = span_trim((struct span){text, s.end});
			return true;
		}
	}
	return false;
}

/* Read a line of a latency format: the CPU is directly before the flags. */
static bool read_latency(struct span line, struct ftrace_line *l)
{
	const char *p = line.at, *q, *task;
	const char *head = span_size(line) > LINE_HEAD_MOST ? line.at + LINE_HEAD_MOST : line.end;
	uint64_t number;

	while (p < head && (p = memchr(p, '-', (size_t)(head - p)))) {
		q = ftrace_digits(++p, line.end, &number);
		task = q;
		if (q == p || q == line.end || *q != ' ')
			continue;
		p = skip_blanks(q, line.end);
		q = ftrace_digits(p, line.end, &number);
		if (q == p || q == line.end || number > CPU_MOST || *q == ' ')
			continue;
		if ((!read_rest(skip_word(q, line.end), line.end, l) &&
		     !read_joined((struct span){q, line.end}, l)) ||
		    !read_threads((struct span){line.at, task}, l))
			continue;
		l->cpu = (int32_t)number;
		return true;
	}
	return false;
}

bool ftrace_duration(struct span *s, uint64_t *ns)
{
	const char *p = skip_blanks(s->at, s->end), *q;
	uint64_t number, fraction = 0;

	*ns = UINT64_MAX;
	if (p < s->end && strchr("+!#*@$", *p) && *p)
		p = skip_blanks(p + 1, s->end);
	q = ftrace_digits(p, s->end, &number);
	if (q > p) {
		if (q < s->end && *q == '.') {
			p = q + 1;
			q = read_fraction(p, s->end, &fraction);
			if (q == p)
				return false;
		}
		q = skip_blanks(q, s->end);
		if (s->end - q < 2 || q[0] != 'u' || q[1] != 's' || number >= TIME_LIMIT / 1000)
			return false;
		*ns = number * 1000 + fraction / 1000000;
		p = skip_blanks(q + 2, s->end);
	}
	if (p == s->end || *p != '|')
		return false;
	s->at = p + 1;
	return true;
}

/* Read a line of function_graph. */
static bool read_graph(struct span line, struct ftrace_line *l)
{
	struct span s = span_trim(line);
	uint64_t number, ns;
	const char *p = ftrace_digits(s.at, s.end, &number), *bar;

	if (p == s.at)
		return false;
	if (p < s.end && *p == '.' && number < TIME_LIMIT / 1000000000) {
		bar = read_fraction(p + 1, s.end, &ns);
		if (bar == p + 1)
			return false;
		l->time = number * 1000000000 + ns;
		l->clock = LINE_SECONDS;
		p = skip_blanks(bar, s.end);
		if (p == s.end || *p != '|')
			return false;
		s.at = skip_blanks(p + 1, s.end);
		p = ftrace_digits(s.at, s.end, &number);
	}
	if (p == s.at || p == s.end || *p != ')' || number > CPU_MOST)
		return false;
	l->cpu = (int32_t)number;
	s.at = p + 1;
	/* the begin or the end of an interrupt */
	if (span_begins(span_trim(s), "====") || span_begins(span_trim(s), "<===")) {
		l->kind = LINE_IGNORED;
		return true;
	}
	l->kind = LINE_GRAPH;
	/* the duration is the first part that has the form of one */
	for (unsigned part = 0; part < 4; part++) {
		struct span duration = s;

		if (ftrace_duration(&duration, &l->duration)) {
			l->text = (struct span){duration.at, line.end};
			return true;
		}
		bar = memchr(s.at, '|', span_size(s));
		if (!bar)
			break;
		if (l->tid < 0)
			read_task((struct span){s.at, bar}, l);
		s.at = bar + 1;
	}
	bar = span_find(s, "=>");
	if (!bar || !read_task((struct span){bar + 2, s.end}, l))
		return false;
	l->kind = LINE_SWITCH;
	return true;
}

/* Read "CPU:N [LOST M EVENTS]", as the kernel prints it, or "CPU:N [M EVENTS DROPPED]", as
 * trace-cmd does. */
static bool read_lost(struct span line, struct ftrace_line *l)
{
	uint64_t cpu, count;
	const char *p = line.at + 4, *q = ftrace_digits(p, line.end, &cpu), *end;

	if (q == p || cpu > CPU_MOST || line.end - q < 3 || q[0] != ' ' || q[1] != '[' ||
	    line.end[-1] != ']')
		return false;
	p = q + 2 + (span_begins((struct span){q + 2, line.end}, "LOST ") ? 5 : 0);
	end = ftrace_digits(p, line.end, &count);
	if (!span_find((struct span){p, line.end}, "EVENTS"))
		return false;
	l->cpu = (int32_t)cpu;
	l->lost = end == p ? UINT64_MAX : count;
	l->kind = LINE_LOST;
	return true;
}

static bool is_ignored(struct span s)
{
	return s.at == s.end || *s.at == '#' || span_begins(s, "-----") ||
	       span_begins(s, "cpus=") || span_find(s, ": cpus=") || span_begins(s, "version = ");
}

void ftrace_line_parse(struct span line, struct ftrace_line *l)
{
	struct span s = span_trim(line);

	*l = (struct ftrace_line){.kind = LINE_OTHER,
				  .clock = LINE_NO_TIME,
				  .instance = {line.at, line.at},
				  .comm = {line.at, line.at},
				  .text = {line.end, line.end},
				  .tid = -1,
				  .tgid = -1,
				  .cpu = -1,
				  .duration = UINT64_MAX};
	if (span_begins(s, "=>")) {
		l->kind = LINE_FRAME;
		l->text = span_trim((struct span){s.at + 2, s.end});
	} else if (s.at == s.end || *s.at == '#') {
		l->kind = LINE_IGNORED;
	} else if (read_event(line, l)) {
		l->kind = LINE_EVENT;
	} else if (span_begins(s, "CPU:") && read_lost(s, l)) {
		return;
	} else if (is_ignored(s)) {
		l->kind = LINE_IGNORED;
	} else if (!read_graph(line, l)) {
		l->kind = read_latency(line, l) ? LINE_EVENT : LINE_OTHER;
	}
}
