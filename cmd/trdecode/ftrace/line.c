#include "cmd/trdecode/ftrace/line.h"

#include "cmd/trdecode/decoder.h"

enum {
	DIGITS_MOST = 18,
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

static const char *skip_word(const char *p, const char *end)
{
	/* a hostile line has many words to try */
	const char *stop = end - p > FLAGS_MOST ? p + FLAGS_MOST : end;

	while (p < stop && *p != ' ')
		p++;
	return p;
}

const char *ftrace_fraction(const char *at, const char *end, uint64_t *ns)
{
	const char *p = ftrace_digits(at, end, ns);

	if (p == at || p - at > 9)
		return at;
	for (ptrdiff_t i = p - at; i < 9; i++)
		*ns *= 10;
	return p;
}

bool ftrace_seconds(struct span s, uint64_t *ns)
{
	uint64_t fraction = 0;
	const char *p = ftrace_digits(s.at, s.end, ns);

	if (p == s.at || *ns >= TIME_LIMIT / 1000000000)
		return false;
	if (p < s.end &&
	    (*p != '.' || ftrace_fraction(p + 1, s.end, &fraction) != s.end || p + 1 == s.end))
		return false;
	*ns = *ns * 1000000000 + fraction;
	return true;
}

/* Read "TIME:" into the line. Returns its end; NULL: it is no time. */
static const char *read_time(const char *at, const char *end, struct ftrace_line *l)
{
	uint64_t number, ns = 0;
	const char *p = ftrace_digits(at, end, &number), *q;

	if (p == at || p == end)
		return NULL;
	if (*p == '.') {
		q = ftrace_fraction(p + 1, end, &ns);
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

bool ftrace_task(struct span s, struct ftrace_line *l)
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
		l->comm.at = span_skip_blanks(colon + 1, l->comm.end);
	}
	/* the kernel prints this of a thread whose name it does not know */
	if (span_is(l->comm, "<...>"))
		l->comm.end = l->comm.at;
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
	return ftrace_task(s, l);
}

/* Skip "(+NUMBER)", the time since the event before, which trace-cmd report --ts-diff prints. */
static struct span skip_difference(struct span s)
{
	const char *digits = s.at + 2, *p;
	uint64_t number;

	if (!span_begins(s, "(+"))
		return s;
	p = ftrace_digits(digits, s.end, &number);
	return p > digits && p < s.end && *p == ')' ? span_trim((struct span){p + 1, s.end}) : s;
}

/* Read "[FLAGS] TIME:" and what follows. */
static bool read_rest(const char *p, const char *end, struct ftrace_line *l)
{
	const char *text;

	p = span_skip_blanks(p, end);
	text = read_time(p, end, l);
	if (!text) {
		p = span_skip_blanks(skip_word(p, end), end);
		text = read_time(p, end, l);
	}
	if (!text)
		return false;
	l->text = skip_difference(span_trim((struct span){text, end}));
	return true;
}

bool ftrace_event_line(struct span line, struct ftrace_line *l)
{
	const char *p = line.at, *q;
	const char *head = span_size(line) > LINE_HEAD_MOST ? line.at + LINE_HEAD_MOST : line.end;
	uint64_t cpu;

	/* a comm may have brackets */
	while (p < head && (p = memchr(p, '[', (size_t)(head - p)))) {
		q = ftrace_digits(++p, line.end, &cpu);
		if (q == p || q == line.end || *q != ']' || cpu > LINE_CPU_MOST)
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

/* The CPU is directly before the flags. */
bool ftrace_latency_line(struct span line, struct ftrace_line *l)
{
	const char *p = line.at, *q, *task;
	const char *head = span_size(line) > LINE_HEAD_MOST ? line.at + LINE_HEAD_MOST : line.end;
	uint64_t number;

	while (p < head && (p = memchr(p, '-', (size_t)(head - p)))) {
		q = ftrace_digits(++p, line.end, &number);
		task = q;
		if (q == p || q == line.end || *q != ' ')
			continue;
		p = span_skip_blanks(q, line.end);
		q = ftrace_digits(p, line.end, &number);
		/* perf script prints "sealed-91 2208/2209 5.1:" of a thread sealed-91 */
		if (q == p || q == line.end || number > LINE_CPU_MOST || *q == ' ' || *q == '/')
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

/* Step back over blanks and a word. */
static const char *word_before(const char *p, const char *first)
{
	while (p > first && p[-1] == ' ')
		p--;
	while (p > first && p[-1] != ' ')
		p--;
	return p;
}

/* Read a line of the options latency-format and verbose:
 * "COMM TID CPU FLAGS PREEMPT NUMBER [TIME] N.NNNms (+N.NNNms): TEXT". */
static bool read_verbose(struct span line, struct ftrace_line *l)
{
	struct span head = {line.at,
			    span_size(line) > LINE_HEAD_MOST ? line.at + LINE_HEAD_MOST : line.end};
	const char *ms = span_find(head, "ms (+"), *text, *time, *cpu, *tid, *p;
	uint64_t number, ns;

	if (!ms)
		return false;
	text = span_find((struct span){ms + 5, head.end}, "ms):");
	time = word_before(ms, line.at);
	p = ftrace_digits(time, ms, &number);
	if (!text || p == time || *p != '.' || ftrace_fraction(p + 1, ms, &ns) != ms ||
	    number >= TIME_LIMIT / 1000000)
		return false;
	l->time = number * 1000000 + ns / 1000;
	l->clock = LINE_MICROSECONDS;
	l->text = span_trim((struct span){text + 4, line.end});
	cpu = time;
	for (unsigned i = 0; i < 5; i++)
		cpu = word_before(cpu, line.at);
	tid = word_before(cpu, line.at);
	if (tid == line.at || ftrace_digits(cpu, head.end, &number) == cpu ||
	    number > LINE_CPU_MOST)
		return false;
	l->cpu = (int32_t)number;
	p = ftrace_digits(tid, head.end, &number);
	if (p == tid || *p != ' ' || number > INT32_MAX)
		return false;
	l->tid = (int32_t)number;
	l->comm = span_trim((struct span){line.at, tid});
	return true;
}

/* Skip "NAME: ", the instance or file that trace-cmd prints if there are several. */
static struct span skip_instance(struct span s)
{
	const char *colon = memchr(s.at, ':', span_size(s));

	if (colon && colon + 1 < s.end && colon[1] == ' ' &&
	    !memchr(s.at, ' ', (size_t)(colon - s.at)))
		s.at = span_skip_blanks(colon + 1, s.end);
	return s;
}

/* Read "CPU:N [LOST M EVENTS]", as the kernel prints it, or "[NAME: ]CPU:N [[M ]EVENTS DROPPED]",
 * as trace-cmd does. */
static bool read_lost(struct span line, struct ftrace_line *l)
{
	uint64_t cpu, count;
	const char *p, *q, *end;

	line = skip_instance(line);
	if (!span_begins(line, "CPU:"))
		return false;
	p = line.at + 4;
	q = ftrace_digits(p, line.end, &cpu);
	if (q == p || cpu > LINE_CPU_MOST || line.end - q < 3 || q[0] != ' ' || q[1] != '[' ||
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

/* Test for "[FILE: ]cpus=N". */
static bool is_cpus(struct span s)
{
	uint64_t cpus;

	s = skip_instance(s);
	return span_begins(s, "cpus=") && ftrace_digits(s.at + 5, s.end, &cpus) == s.end;
}

static bool is_ignored(struct span s)
{
	return s.at == s.end || *s.at == '#' || span_begins(s, "-----") || is_cpus(s) ||
	       span_begins(s, "version = ") || span_begins(s, "(Overruns: ");
}

/* Read a line of a latency format or of the option verbose. The text of an event may look like a
 * line of another form: the columns that end first are those of the line. */
static bool read_others(struct span line, struct ftrace_line *l)
{
	struct ftrace_line verbose = *l;
	bool latency = ftrace_latency_line(line, l);

	if ((!latency || span_size(l->comm) > LINE_COMM_MOST) && read_verbose(line, &verbose) &&
	    (!latency || verbose.text.at < l->text.at)) {
		*l = verbose;
		l->form = LINE_VERBOSE;
	} else if (latency) {
		l->form = LINE_LATENCY;
	} else {
		return false;
	}
	l->kind = LINE_EVENT;
	return true;
}

void ftrace_line_parse(struct span line, struct ftrace_line *l)
{
	const struct ftrace_line none = {.kind = LINE_OTHER,
					 .clock = LINE_NO_TIME,
					 .instance = {line.at, line.at},
					 .comm = {line.at, line.at},
					 .text = {line.end, line.end},
					 .tid = -1,
					 .tgid = -1,
					 .cpu = -1,
					 .duration = UINT64_MAX,
					 .indent = 2};
	struct span s = span_trim(line);

	*l = none;
	if (span_begins(s, "=>")) {
		l->kind = LINE_FRAME;
		l->text = span_trim((struct span){s.at + 2, s.end});
	} else if (s.at == s.end || *s.at == '#') {
		/* a comment, unless the mark of a long duration is the first of a call */
		if (s.at < s.end && ftrace_graph_line(line, l) && l->duration != UINT64_MAX)
			return;
		*l = none;
		l->kind = LINE_IGNORED;
	} else if (ftrace_event_line(line, l)) {
		l->kind = LINE_EVENT;
		/* what is before "[CPU]" is more than a comm */
		if (span_size(l->comm) > LINE_COMM_MOST) {
			struct ftrace_line other = none;

			if (read_others(line, &other) && other.text.at < l->text.at)
				*l = other;
		}
	} else if (read_lost(s, l)) {
		return;
	} else if (is_ignored(s)) {
		l->kind = LINE_IGNORED;
	} else if (!ftrace_graph_line(line, l)) {
		*l = none;
		if (read_others(line, l))
			return;
		*l = none;
		l->form = ftrace_mmio_line(s, l)  ? LINE_MMIO
			  : ftrace_blk_line(s, l) ? LINE_BLK
						  : LINE_PLAIN;
		if (l->form == LINE_PLAIN)
			*l = none;
		else
			l->kind = LINE_EVENT;
	}
}
