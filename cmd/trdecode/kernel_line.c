/*
 * kernel_line.c - the parts of a line of the kernel's text, and lines that are damaged
 *
 *     bash-1977  [001] d..2. 17284.993652: sched_wakeup: comm=sh ...
 *     task       CPU   flags time          event         its fields
 */
#include "cmd/trdecode/kernel_line.h"

#include <ctype.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/kernel_text.h"

enum { TEXT_MOST = 256 }; /* bytes of a text within a form */

static const struct {
	const char *name; /* of the event; with *: the begin of it */
	const char *text;
	const char *keys;
	bool unnamed; /* a tracer prints the text without a name */
} forms[] = {
	{"hwlat", "#%u inner/outer(us): %u/%u ts:%u.%u%? count:%u%? nmi-total:%u%? nmi-count:%u",
	 "seqnum duration outer_duration tv_sec tv_nsec count nmi_total_ts nmi_count", true},
	{"hwlat", "cnt:%u ts:%u.%u inner:%u outer:%u%? count:%u%? nmi-ts:%u%? nmi-count:%u",
	 "seqnum tv_sec tv_nsec duration outer_duration count nmi_total_ts nmi_count", false},
	{"osnoise", "%u %u %x.%x %u %u %u %u %u %u",
	 "runtime noise max_sample hw_count nmi_count irq_count softirq_count thread_count", true},
	{"osnoise", "noise:%u max_sample:%u hw:%u nmi:%u irq:%u softirq:%u thread:%u",
	 "noise max_sample hw_count nmi_count irq_count softirq_count thread_count", false},
	{"timerlat", "#%u context %w timer_latency %u ns", "seqnum context timer_latency", true},
	{"timerlat", "seq:%u context:%u timer_latency:%u", "seqnum context timer_latency", false},
	{"thread_noise", "%s:%u start %t duration %u ns", "comm pid start duration", false},
	{"softirq_noise", "%w:%u start %t duration %u ns", "action vector start duration", false},
	{"irq_noise", "%s:%u start %t duration %u ns", "desc vector start duration", false},
	{"nmi_noise", "start %t duration %u ns", "start duration", false},
	{"sample_threshold", "start %t duration %u ns interference %u",
	 "start duration interference", false},

	{"block_*", "%d sector=%u size=%u", "dev sector size", false},
	{"block_bio_complete", "%d %w %u + %u [%i]", "dev rwbs sector nr_sector error", false},
	{"block_*", "%d %w (%s) %u + %u%? %p%? [%i]", "dev rwbs cmd sector nr_sector ioprio error",
	 false},
	{"block_*", "%d %w %u (%s) %u + %u%? %p%? [%s]",
	 "dev rwbs bytes cmd sector nr_sector ioprio comm", false},
	{"block_*", "%d %w %u + %u [%s]", "dev rwbs sector nr_sector comm", false},
	{"block_*", "%d %w %u + %u <- (%d) %u%? %u",
	 "dev rwbs sector nr_sector old_dev old_sector nr_bios", false},
	{"block_*", "%d %w %u / %u [%s]", "dev rwbs sector new_sector comm", false},
	{"block_*", "[%s]%? %i", "comm nr_rq", false},

	{"blk", "%d", "dev", false},
	{"blk_complete", "%u%? + %u%? [%i]", "sector nr_sector error", false},
	{"blk_complete", "%?(%s) %?[%i]", "cmd error", false},
	{"blk_requeue", "%u%? + %u%? [%i]", "sector nr_sector error", false},
	{"blk_requeue", "%?(%s) %?[%i]", "cmd error", false},
	{"blk_remap", "%u + %u <- (%d) %u", "sector nr_sector old_dev old_sector", false},
	{"blk_split", "%u / %u [%s]", "sector new_sector comm", false},
	{"blk_message", "%s", "message", false},
	{"blk_unplug_*", "[%s] %u", "comm nr_rq", false},
	{"blk_*", "%u + %u [%s]", "sector nr_sector comm", false},
	{"blk_*", "[%s]", "comm", false},
	{"blk_*", "%u%? (%s)%? [%s]", "bytes cmd comm", false}, /* a command to the device */
};

/* Add a field whose key is the next word of keys. */
static void kernel_line_add(struct ftrace *f, const char **keys, struct text_span text,
			    uint8_t kind, uint64_t number)
{
	const char *end = strchrnul(*keys, ' ');

	if (f->nvalues < FTRACE_FIELDS_MOST)
		f->values[f->nvalues++] = (struct ftrace_value){
			.key = {*keys, end}, .text = text, .kind = kind, .number = number};
	*keys = *end ? end + 1 : end;
}

/* Read "MAJOR,MINOR" or "HINT,LEVEL" after the first number, as one number of it and so many bits.
 */
static const char *read_second(const char *p, const char *end, unsigned bits, uint64_t *number)
{
	const char *first = p + 1, *last;
	uint64_t more;

	if (p == end || *p != ',' || *number >> 12)
		return NULL;
	last = span_digits(first, end, &more);
	if (last == first || more >> bits)
		return NULL;
	*number = *number << bits | more;
	return last;
}

static const char *read_priority(struct text_span s, uint64_t *number)
{
	static const char *const classes[] = {"none,", "rt,", "be,", "idle,"};
	unsigned class = 7; /* any other name: invalid */
	const char *p = memchr(s.at, ',', span_size(s)), *end;

	for (unsigned i = 0; i < sizeof classes / sizeof *classes; i++)
		class = span_begins(s, classes[i]) ? i : class;
	if (!p || (class == 7 && !span_begins(s, "invalid,")))
		return NULL;
	end = span_digits(p + 1, s.end, number);
	end = end == p + 1 ? NULL : read_second(end, s.end, 3, number);
	*number |= (uint64_t) class << 13;
	return end;
}

/* Read the digits of %u, %i, %x, and what has them: %t, %d, %p. NULL: they are not there. */
static const char *kernel_line_read_number(struct text_span s, char code, uint8_t *kind,
					   uint64_t *number)
{
	const char *end = s.at + (code == 'i' && s.at < s.end && *s.at == '-');

	if (code == 'p') {
		*kind = FIELD_UINT;
		return read_priority(s, number);
	}
	while (end < s.end && (unsigned char)(*end - '0') <= 9)
		end++;
	if (!ftrace_number((struct text_span){s.at, end}, kind, number))
		return NULL;
	if (code == 'd')
		return read_second(end, s.end, 20, number);
	if (code == 't') {
		while (end < s.end && (*end == '.' || (unsigned char)(*end - '0') <= 9))
			end++;
		return span_seconds((struct text_span){s.at, end}, TIME_LIMIT, number) ? end : NULL;
	}
	return end;
}

static bool match(struct ftrace *f, const char *form, const char *keys, struct text_span s);

/* Match %s or %w: the shortest text after which the rest matches. */
static bool match_text(struct ftrace *f, const char *form, const char *keys, struct text_span s)
{
	size_t n = f->nvalues;
	bool word = form[1] == 'w';

	if (!form[2] && !word) {
		kernel_line_add(f, &keys, s, FIELD_STRING, 0);
		return true;
	}
	for (const char *end = s.at; end < s.end && end - s.at < TEXT_MOST; end++) {
		const char *rest = keys;

		if (*end == form[2] && (!word || end > s.at)) {
			kernel_line_add(f, &rest, (struct text_span){s.at, end}, FIELD_STRING, 0);
			if (match(f, form + 2, rest, (struct text_span){end, s.end}))
				return true;
			f->nvalues = n;
		}
		if (word && (*end == ' ' || *end == '\t'))
			return false;
	}
	return false;
}

/* Match a form that begins with %?, with or without what is up to the next %?. */
static bool match_optional(struct ftrace *f, const char *form, const char *keys, struct text_span s)
{
	size_t n = f->nvalues;
	const char *next = form + 2, *end;

	if (match(f, next, keys, s))
		return true;
	f->nvalues = n;
	for (; *next && strncmp(next, "%?", 2); next++)
		if (*next == '%' && next[1] != 'x') {
			end = strchrnul(keys, ' ');
			keys = *end ? end + 1 : end;
		}
	return match(f, next, keys, s);
}

static bool match(struct ftrace *f, const char *form, const char *keys, struct text_span s)
{
	for (; *form; form++) {
		const char *end;
		uint64_t number;
		uint8_t kind;

		if (*form == ' ') {
			s.at = span_skip_blanks(s.at, s.end);
			continue;
		}
		if (*form != '%') {
			if (s.at == s.end || *s.at++ != *form)
				return false;
			continue;
		}
		if (form[1] == '?')
			return match_optional(f, form, keys, s);
		if (form[1] == 's' || form[1] == 'w')
			return match_text(f, form, keys, s);
		end = kernel_line_read_number(s, *++form, &kind, &number);
		if (!end)
			return false;
		if (*form != 'x')
			kernel_line_add(f, &keys, (struct text_span){s.at, end}, kind, number);
		s.at = end;
	}
	return s.at == s.end;
}

static bool kernel_line_is_named(const char *pattern, struct text_span name)
{
	size_t n = strlen(pattern) - 1;

	return pattern[n] == '*' ? span_size(name) >= n && !memcmp(name.at, pattern, n)
				 : span_is(name, pattern);
}

bool ftrace_form_values(struct ftrace *f, struct text_span name, struct text_span text)
{
	size_t n = f->nvalues;

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (kernel_line_is_named(forms[i].name, name) &&
		    match(f, forms[i].text, forms[i].keys, text))
			return true;
		f->nvalues = n;
	}
	return false;
}

bool ftrace_form_unnamed(struct ftrace *f, struct text_span text, struct text_span *name)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		f->nvalues = 0;
		if (forms[i].unnamed && match(f, forms[i].text, forms[i].keys, text)) {
			*name = (struct text_span){forms[i].name,
						   forms[i].name + strlen(forms[i].name)};
			return true;
		}
	}
	return false;
}

/*
 * One line of the tracer function_graph, taken apart.
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

enum { TASK_COLUMN_MOST = 32, COMM_MOST = 7, FLAGS_LEAST = 3, FLAGS_COLUMN_MOST = 10 };

bool ftrace_duration(struct text_span *s, uint64_t *ns)
{
	const char *p = span_skip_blanks(s->at, s->end), *q;
	uint64_t number, fraction = 0;

	*ns = UINT64_MAX;
	if (p < s->end && strchr("+!#*@$", *p) && *p)
		p = span_skip_blanks(p + 1, s->end);
	q = span_digits(p, s->end, &number);
	if (q > p) {
		if (q < s->end && *q == '.') {
			p = q + 1;
			q = span_fraction(p, s->end, &fraction);
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
static void take_time(struct text_span *s, struct ftrace_line *l)
{
	uint64_t number, ns = 0;
	const char *first = span_skip_blanks(s->at, s->end);
	const char *p = span_digits(first, s->end, &number), *q;
	bool point = p < s->end && *p == '.', us;

	if (p == first)
		return;
	if (point) {
		q = span_fraction(p + 1, s->end, &ns);
		if (q == p + 1)
			return;
		p = q;
	}
	p = span_skip_blanks(p, s->end);
	us = span_begins((struct text_span){p, s->end}, "us");
	p = us ? span_skip_blanks(p + 2, s->end) : p;
	if (p == s->end || *p != '|' || (!us && !point) || number >= TIME_LIMIT / 1000000000)
		return;
	if (us) {
		q = span_skip_blanks(p + 1, s->end);
		if (span_digits(q, s->end, &(uint64_t){0}) == q)
			return;
	}
	l->time = us ? number * 1000 + ns / 1000000 : number * 1000000000 + ns;
	l->clock = us ? LINE_MICROSECONDS : LINE_SECONDS;
	l->indent = 2;
	s->at = p + 1;
}

/* Read "CPU)". */
static bool take_cpu(struct text_span *s, struct ftrace_line *l)
{
	uint64_t number;
	const char *first = span_skip_blanks(s->at, s->end);
	const char *p = span_digits(first, s->end, &number);

	if (p == first || p == s->end || *p != ')' || number > LINE_CPU_MOST)
		return false;
	l->cpu = (int32_t)number;
	l->indent = 1;
	s->at = p + 1;
	return true;
}

/* Read "COMM-TID |". The kernel prints seven bytes of a comm, which may be bars. */
static void kernel_line_take_task(struct text_span *s, struct ftrace_line *l)
{
	struct text_span column = *s;
	const char *bar = s->at;
	struct ftrace_line task = {0};

	if (span_size(column) > TASK_COLUMN_MOST)
		column.end = s->at + TASK_COLUMN_MOST;
	for (; (bar = memchr(bar, '|', (size_t)(column.end - bar))); bar++) {
		struct text_span text = span_trim((struct text_span){s->at, bar});

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
static void kernel_line_take_flags(struct text_span *s, struct ftrace_line *l)
{
	struct text_span column = *s, flags;
	const char *bar;

	if (span_size(column) > FLAGS_COLUMN_MOST)
		column.end = s->at + FLAGS_COLUMN_MOST;
	bar = memchr(s->at, '|', span_size(column));
	if (!bar)
		return;
	flags = span_trim((struct text_span){s->at, bar});
	if (span_size(flags) < FLAGS_LEAST || memchr(flags.at, ' ', span_size(flags)))
		return;
	l->indent = 1;
	s->at = bar + 1;
}

/* Test for the end that all calls have. */
static bool ftrace_is_call(struct text_span s)
{
	s = span_trim(s);
	return span_ends(s, "{") || span_ends(s, "}") || span_ends(s, ";") || span_ends(s, "*/");
}

/* Test for the arrow at the begin or the end of an interrupt. */
static bool is_arrow(struct text_span s)
{
	s = span_trim(s);
	if (span_ends(s, " |"))
		s = span_trim((struct text_span){s.at, s.end - 1});
	if (!span_ends(s, "==========>") && !span_ends(s, "<=========="))
		return false;
	/* an event with a text that ends so has a time */
	return !span_find(s, ": ");
}

/* Read what follows the columns that all lines have: a call, or another thread. */
static bool kernel_line_read_call(struct text_span s, bool cpu, struct ftrace_line *l)
{
	struct text_span before = {s.at, span_find_rare(s, "/*", 0)};
	const char *arrow;

	if (ftrace_duration(&s, &l->duration)) {
		l->indent = 2;
		l->text = s;
		return cpu || ftrace_is_call(s);
	}
	arrow = cpu ? span_find(s, "=>") : NULL;
	if (arrow && !ftrace_is_call(s) && ftrace_task((struct text_span){arrow + 2, s.end}, l)) {
		l->kind = LINE_SWITCH;
		l->text = span_trim((struct text_span){s.at, arrow});
		return true;
	}
	l->text = s;
	before.end = before.end ? before.end : s.end;
	/* a call has no bar, and other texts may have the columns of this one */
	return (cpu || l->tid >= 0 || l->clock != LINE_NO_TIME) && ftrace_is_call(s) &&
	       !memchr(before.at, '|', span_size(before));
}

bool ftrace_graph_line(struct text_span line, struct ftrace_line *l)
{
	struct text_span s = line;
	bool cpu;

	l->kind = LINE_GRAPH;
	if (is_arrow(s)) {
		l->kind = LINE_IGNORED;
		return true;
	}
	take_time(&s, l);
	cpu = take_cpu(&s, l);
	kernel_line_take_task(&s, l);
	kernel_line_take_flags(&s, l);
	return kernel_line_read_call(s, cpu, l);
}

/* Take a line of function_graph apart that has no column but FLAGS. false: as above. */
static bool ftrace_graph_bare(struct text_span line, struct ftrace_line *l)
{
	struct text_span s = line;

	l->kind = LINE_GRAPH;
	l->indent = 0;
	kernel_line_take_flags(&s, l);
	l->text = s;
	return ftrace_is_call(s);
}

/* --- line --- */

enum {
	LINE_FLAGS_MOST = 64,
};

static const char *skip_word(const char *p, const char *end)
{
	/* a hostile line has many words to try */
	const char *stop = end - p > LINE_FLAGS_MOST ? p + LINE_FLAGS_MOST : end;

	while (p < stop && *p != ' ')
		p++;
	return p;
}

/* Read "TIME:" into the line. Returns its end; NULL: it is no time. */
static const char *kernel_line_read_time(const char *at, const char *end, struct ftrace_line *l)
{
	uint64_t number, ns = 0;
	const char *p = span_digits(at, end, &number), *q;

	if (p == at || p == end)
		return NULL;
	if (*p == '.') {
		q = span_fraction(p + 1, end, &ns);
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

bool ftrace_task(struct text_span s, struct ftrace_line *l)
{
	const char *p, *colon;
	uint64_t tid;

	s = span_trim(s);
	for (p = s.end; p > s.at && p[-1] >= '0' && p[-1] <= '9'; p--)
		;
	if (p == s.end || p == s.at || p[-1] != '-' || span_digits(p, s.end, &tid) != s.end ||
	    tid > INT32_MAX)
		return false;
	l->tid = (int32_t)tid;
	l->comm = (struct text_span){s.at, p - 1};
	colon = memchr(s.at, ':', span_size(l->comm));
	l->instance = (struct text_span){s.at, s.at};
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
static bool read_threads(struct text_span s, struct ftrace_line *l)
{
	const char *open;
	uint64_t tgid;

	l->tgid = -1;
	s = span_trim(s);
	if (s.end > s.at && s.end[-1] == ')') {
		for (open = s.end - 1; open > s.at && *open != '('; open--)
			;
		if (*open == '(') {
			struct text_span in = span_trim((struct text_span){open + 1, s.end - 1});

			if (span_digits(in.at, in.end, &tgid) == in.end && in.at < in.end &&
			    tgid <= INT32_MAX)
				l->tgid = (int32_t)tgid;
			s.end = open;
		}
	}
	return ftrace_task(s, l);
}

/* Skip "(+NUMBER)", the time since the event before, which trace-cmd report --ts-diff prints. */
static struct text_span skip_difference(struct text_span s)
{
	const char *digits = s.at + 2, *p;
	uint64_t number;

	if (!span_begins(s, "(+"))
		return s;
	p = span_digits(digits, s.end, &number);
	return p > digits && p < s.end && *p == ')' ? span_trim((struct text_span){p + 1, s.end})
						    : s;
}

/* Read "[FLAGS] TIME:" and what follows. */
static bool read_rest(const char *p, const char *end, struct ftrace_line *l)
{
	const char *text;

	p = span_skip_blanks(p, end);
	text = kernel_line_read_time(p, end, l);
	if (!text) {
		p = span_skip_blanks(skip_word(p, end), end);
		text = kernel_line_read_time(p, end, l);
	}
	if (!text)
		return false;
	l->text = skip_difference(span_trim((struct text_span){text, end}));
	return true;
}

/* Take an event with "[CPU]", or one of a latency format, apart. false: it is none, and *l is
 * undefined. Only the members of the columns are set. */
static bool ftrace_event_line(struct text_span line, struct ftrace_line *l)
{
	const char *p = line.at, *q;
	const char *head = span_size(line) > LINE_HEAD_MOST ? line.at + LINE_HEAD_MOST : line.end;
	uint64_t cpu;

	/* a comm may have brackets */
	while (p < head && (p = memchr(p, '[', (size_t)(head - p)))) {
		q = span_digits(++p, line.end, &cpu);
		if (q == p || q == line.end || *q != ']' || cpu > LINE_CPU_MOST)
			continue;
		if (!read_rest(q + 1, line.end, l) ||
		    !read_threads((struct text_span){line.at, p - 1}, l))
			continue;
		l->cpu = (int32_t)cpu;
		return true;
	}
	return false;
}

/* Read "FLAGSTIME:": a time of twelve digits has no blank before it. */
static bool read_joined(struct text_span s, struct ftrace_line *l)
{
	static const uint8_t flags[] = {5, 6, 4}; /* in the order of their frequency */

	for (unsigned i = 0; i < sizeof flags; i++) {
		const char *text = span_size(s) > flags[i]
					   ? kernel_line_read_time(s.at + flags[i], s.end, l)
					   : NULL;

		if (text) {
			l->text = span_trim((struct text_span){text, s.end});
			return true;
		}
	}
	return false;
}

/* The CPU is directly before the flags. */
static bool ftrace_latency_line(struct text_span line, struct ftrace_line *l)
{
	const char *p = line.at, *q, *task;
	const char *head = span_size(line) > LINE_HEAD_MOST ? line.at + LINE_HEAD_MOST : line.end;
	uint64_t number;

	while (p < head && (p = memchr(p, '-', (size_t)(head - p)))) {
		q = span_digits(++p, line.end, &number);
		task = q;
		if (q == p || q == line.end || *q != ' ')
			continue;
		p = span_skip_blanks(q, line.end);
		q = span_digits(p, line.end, &number);
		/* perf script prints "sealed-91 2208/2209 5.1:" of a thread sealed-91 */
		if (q == p || q == line.end || number > LINE_CPU_MOST || *q == ' ' || *q == '/')
			continue;
		if ((!read_rest(skip_word(q, line.end), line.end, l) &&
		     !read_joined((struct text_span){q, line.end}, l)) ||
		    !read_threads((struct text_span){line.at, task}, l))
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
static bool read_verbose(struct text_span line, struct ftrace_line *l)
{
	struct text_span head = {
		line.at, span_size(line) > LINE_HEAD_MOST ? line.at + LINE_HEAD_MOST : line.end};
	const char *ms = span_find(head, "ms (+"), *text, *time, *cpu, *tid, *p;
	uint64_t number, ns;

	if (!ms)
		return false;
	text = span_find((struct text_span){ms + 5, head.end}, "ms):");
	time = word_before(ms, line.at);
	p = span_digits(time, ms, &number);
	if (!text || p == time || *p != '.' || span_fraction(p + 1, ms, &ns) != ms ||
	    number >= TIME_LIMIT / 1000000)
		return false;
	l->time = number * 1000000 + ns / 1000;
	l->clock = LINE_MICROSECONDS;
	l->text = span_trim((struct text_span){text + 4, line.end});
	cpu = time;
	for (unsigned i = 0; i < 5; i++)
		cpu = word_before(cpu, line.at);
	tid = word_before(cpu, line.at);
	if (tid == line.at || span_digits(cpu, head.end, &number) == cpu || number > LINE_CPU_MOST)
		return false;
	l->cpu = (int32_t)number;
	p = span_digits(tid, head.end, &number);
	if (p == tid || *p != ' ' || number > INT32_MAX)
		return false;
	l->tid = (int32_t)number;
	l->comm = span_trim((struct text_span){line.at, tid});
	return true;
}

/* Skip "NAME: ", the instance or file that trace-cmd prints if there are several. */
static struct text_span skip_instance(struct text_span s)
{
	const char *colon = memchr(s.at, ':', span_size(s));

	if (colon && colon + 1 < s.end && colon[1] == ' ' &&
	    !memchr(s.at, ' ', (size_t)(colon - s.at)))
		s.at = span_skip_blanks(colon + 1, s.end);
	return s;
}

/* Read "CPU:N [LOST M EVENTS]", as the kernel prints it, or "[NAME: ]CPU:N [[M ]EVENTS DROPPED]",
 * as trace-cmd does. */
static bool read_lost(struct text_span line, struct ftrace_line *l)
{
	uint64_t cpu, count;
	const char *p, *q, *end;

	line = skip_instance(line);
	if (!span_skip(&line, "CPU:"))
		return false;
	q = span_digits(line.at, line.end, &cpu);
	if (q == line.at || cpu > LINE_CPU_MOST || line.end - q < 3 || q[0] != ' ' || q[1] != '[' ||
	    line.end[-1] != ']')
		return false;
	p = q + 2 + (span_begins((struct text_span){q + 2, line.end}, "LOST ") ? 5 : 0);
	end = span_digits(p, line.end, &count);
	if (!span_find((struct text_span){p, line.end}, "EVENTS"))
		return false;
	l->cpu = (int32_t)cpu;
	l->lost = end == p ? UINT64_MAX : count;
	l->kind = LINE_LOST;
	return true;
}

/* Test for "[FILE: ]cpus=N". */
static bool is_cpus(struct text_span s)
{
	uint64_t cpus;

	s = skip_instance(s);
	return span_skip(&s, "cpus=") && span_digits(s.at, s.end, &cpus) == s.end;
}

static bool is_ignored(struct text_span s)
{
	return s.at == s.end || *s.at == '#' || span_begins(s, "-----") || is_cpus(s) ||
	       span_begins(s, "version = ") || span_begins(s, "(Overruns: ");
}

/* Read a line of a latency format or of the option verbose. The text of an event may look like a
 * line of another form: the columns that end first are those of the line. */
static bool read_others(struct text_span line, struct ftrace_line *l)
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

void ftrace_line_parse(struct text_span line, struct ftrace_line *l)
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
	struct text_span s = span_trim(line);

	*l = none;
	if (span_skip(&s, "=>")) {
		l->kind = LINE_FRAME;
		l->text = span_trim(s);
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

/*
 * Two events in one line: a newline between them is lost.
 *
 * The head of the second event is in the text of the first. The text of a mark, and one without a
 * name, may have any characters, so it has no second event. If the end of the first event is lost
 * too, its last bytes can be in its own head: "sh-14          sh-149 [001] 1.000001:".
 */

enum {
	COMM_COLUMN = 16, /* bytes from the begin of a line to "-TID"; 8 in latency formats */
	COMM_COLUMN_LATENCY = 8,
	SECOND_LINE_MOST = 4096, /* bytes of a line with second events: each is read to its end */
};

/* Find the last two blanks in a text. Returns their end; NULL: there are none. */
static const char *last_gap(struct text_span s)
{
	for (const char *p = s.end; p - s.at >= 2; p--)
		if (p[-1] == ' ' && p[-2] == ' ')
			return p;
	return NULL;
}

/* Get the begin of a comm that ends at `minus`, in the text after an event. */
static const char *comm_begin(const struct ftrace *f, struct text_span text, const char *minus)
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
	gap = last_gap((struct text_span){text.at, minus});
	if (!gap && text.at != minus - column) {
		gap = memrchr(text.at, ' ', (size_t)(minus - text.at));
		gap = gap ? gap + 1 : NULL;
	}
	return gap ? gap : text.at;
}

/* Test for a text that ends before a second event. */
static bool may_end(const struct ftrace *f, struct text_span text)
{
	struct text_span name;

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
static bool may_have_event(struct text_span s)
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
	struct text_span text = {l->text.at, f->whole.end};
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
	return may_end(f, (struct text_span){text.at, begin}) ? begin : NULL;
}

/* Find a call of function_graph after that of the line. Returns its begin; NULL: there is none. */
static const char *second_call(const struct ftrace *f)
{
	struct text_span s = span_trim(f->line.text);
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
	struct text_span *comm = &f->line.comm;
	const char *gap = last_gap(*comm);

	if (!gap)
		return;
	input_damage(f->input, f->input->name, f->offset, "an event that ends early");
	comm->at = gap;
}

/* Take off what a page adds to a line: "\n\" of a text in a script. */
static void ftrace_trim_page(struct text_span *s)
{
	if (span_ends(*s, "\\n\\"))
		s->end -= 3;
}

/* Take a second event off the line, and report it. */
static void ftrace_second_event(struct ftrace *f)
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
	f->rest.text = (struct text_span){begin, f->whole.end};
	f->rest.offset = f->offset + (uint64_t)(begin - f->whole.at);
	f->whole.end = begin;
	l->text.end = span_trim((struct text_span){l->text.at, begin}).end;
	ftrace_trim_page(&l->text);
	input_damage(f->input, f->input->name, f->rest.offset, "a second event in a line");
}

/*
 * Lines that are damaged events.
 *
 * A text of an event may have several lines, so a line that is not an event may be one of them. But
 * the columns before a text are in no other: "-TID", "[CPU]" and "TIME:". A line with two of them
 * next to each other is an event that is damaged. So is one that begins with the end of such a
 * column, and then has a time and "NAME:"; one that has "-TID" alone, between blanks; and one that
 * begins as a line of function_graph, if the text has others.
 */

enum {
	COLUMNS_MOST = 128, /* bytes of a line that may have the columns */
	WORDS_MOST = 24,
	BETWEEN_MOST = 2, /* words between two columns: TGID, FLAGS */
	DAMAGED_FLAGS_MOST = 8,
};

static size_t digits_in(struct text_span s)
{
	size_t n = 0;

	for (const char *p = s.at; p < s.end; p++)
		n += (unsigned char)(*p - '0') <= 9;
	return n;
}

/* Test for "COMM-TID", in which a digit may be wrong. */
static bool is_task(struct text_span word)
{
	const char *minus = memrchr(word.at, '-', span_size(word));
	struct text_span tid;

	if (!minus)
		return false;
	tid = (struct text_span){minus + 1, word.end};
	return tid.at < tid.end && span_size(tid) <= 10 && digits_in(tid) &&
	       digits_in(tid) + 1 >= span_size(tid);
}

/* Test for "[CPU]" of at least three digits, of which one may be wrong. */
static bool is_cpu(struct text_span word)
{
	size_t n = span_size(word);

	return n >= 5 && n <= 7 && *word.at == '[' && word.end[-1] == ']' &&
	       digits_in(word) + 3 >= n;
}

/* Test for "TIME:", in which all digits are right: "1.000001:", "15us+:". */
static bool kernel_line_is_time(struct text_span word)
{
	uint64_t number;
	const char *p = span_digits(word.at, word.end, &number), *fraction;

	if (p == word.at || word.end[-1] != ':')
		return false;
	if (word.end - p > 2 && p[0] == 'u' && p[1] == 's')
		return word.end - p < 5;
	if (*p != '.')
		return false;
	fraction = p + 1;
	p = span_digits(fraction, word.end, &number);
	return p + 1 == word.end && (p - fraction == 6 || p - fraction == 9);
}

/* Test for "NAME:", which follows the time of most events. */
static bool kernel_line_is_name(struct text_span word)
{
	if (span_size(word) < 2 || word.end[-1] != ':')
		return false;
	for (const char *p = word.at; p < word.end - 1; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			return false;
	return true;
}

/* Test for "CPU) ... |". */
static bool is_graph(struct text_span s)
{
	struct ftrace_line l;
	uint64_t cpu;
	const char *p = span_digits(s.at, s.end, &cpu);

	return p > s.at && p < s.end && *p == ')' && memchr(p, '|', (size_t)(s.end - p)) &&
	       !ftrace_graph_line(s, &l);
}

/* Test for what may be before a time: the end of "[CPU]", or FLAGS, of which the begin is lost. */
static bool is_rest(struct text_span word)
{
	if (word.end[-1] == ']')
		return digits_in(word) + 2 >= span_size(word);
	if (span_size(word) > DAMAGED_FLAGS_MOST || !memchr(word.at, '.', span_size(word)))
		return false;
	for (const char *p = word.at; p < word.end; p++)
		if (!isxdigit((unsigned char)*p) && !strchr(".DNnpBHhsSzZXL#", *p))
			return false;
	return true;
}

/* Test for the end of a time, and the name of an event that the trace has. */
static bool is_event_rest(const struct ftrace *f, struct text_span time, struct text_span name)
{
	for (const char *p = time.at; p < time.end - 1; p++)
		if ((unsigned char)(*p - '0') > 9 && *p != '.')
			return false;
	return span_size(time) > 1 && time.end[-1] == ':' && kernel_line_is_name(name) &&
	       intern_find(&f->declared.names.keys, name.at, span_size(name) - 1) != INTERN_NONE;
}

/* Test for "COMM-TID" and what may follow it: blanks, or the begin of "[CPU]". */
static bool is_event_begin(struct text_span line)
{
	struct text_span s = span_trim(line), task = span_take_word(&s), rest = span_trim(s);

	return task.at > line.at && is_task(task) && s.at < line.end &&
	       (rest.at == rest.end ||
		(*rest.at == '[' && span_size(rest) < 5 && digits_in(rest) + 1 == span_size(rest)));
}

/* Test for a line that is not an event, but has columns that only an event has. */
static bool ftrace_line_damaged(const struct ftrace *f, struct text_span line)
{
	struct text_span s = span_trim(line), word, before = {0};
	unsigned task = WORDS_MOST, cpu = WORDS_MOST, named = WORDS_MOST;

	if (span_size(s) > COLUMNS_MOST)
		s.end = s.at + COLUMNS_MOST;
	if (is_event_begin(line) || (f->seen.graph && is_graph(s)) ||
	    (span_find(s, "ms (+") && span_find(s, "ms):")))
		return true;
	for (unsigned i = 0; i < WORDS_MOST && s.at < s.end; i++, before = word) {
		word = span_take_word(&s);
		if (is_cpu(word)) {
			if (i - task <= 1 + BETWEEN_MOST)
				return true;
			cpu = i;
		} else if (kernel_line_is_time(word)) {
			if (i - task <= 1 + BETWEEN_MOST || i - cpu <= 1 + BETWEEN_MOST)
				return true;
			named = i && i <= BETWEEN_MOST && is_rest(before) ? i + 1 : named;
		} else if ((i == named && kernel_line_is_name(word)) ||
			   (i && i <= 1 + BETWEEN_MOST && is_event_rest(f, before, word))) {
			return true;
		} else if (is_task(word)) {
			task = i;
		}
	}
	return false;
}

bool ftrace_row_cut(const struct ftrace *f, const struct ftrace_line *l)
{
	const char *colon = memchr(l->text.at, ':', span_size(l->text));

	if (l->kind == LINE_GRAPH)
		return !ftrace_is_call(l->text);
	if (f->stack.wanted)
		return !span_ends(l->text, ">") && !span_find(l->text, "=>");
	return f->row.odd || ftrace_cut_lacks(f) || l->text.at == l->text.end ||
	       (f->row.fresh && (!colon || colon + 1 == l->text.end));
}

/*
 * The heading of kernel text, which alone is a trace without events.
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

/* Test for the last line of the names of columns: only bars. */
static bool is_bars(struct text_span s)
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
static bool is_of_latencies(struct text_span name)
{
	return span_ends(name, "off") || span_begins(name, "wakeup");
}

/* Take the held line, which has no meaning of its own. */
static void ftrace_heading_take(struct ftrace *f)
{
	struct text_span s = span_trim(f->whole);
	enum ftrace_heading *h = &f->seen.first;

	if (s.at == s.end)
		return;
	if (!f->lines.whole) {
		*h = *h == HEADING_NONE ? HEADING_NONE : HEADING_PART;
	} else if (*s.at != '#') {
		*h = span_find(s, "cpus=") ? HEADING_WHOLE : *h;
	} else if (span_skip(&s, "# tracer: ")) {
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

/*
 * The lines of kernel text in their order, and those that go on with an event.
 *
 * The kernel and trace-cmd print the text of a mark as it was written to trace_marker, so a mark
 * with newlines has several lines. A line that is not an event belongs to the event before, if the
 * text of that event may have newlines. After a mark that is any line but an event, lost events,
 * and what the kernel prints between events: a heading, which begins with "# tracer: ", and
 * "##### CPU N buffer started ####".
 *
 * Source: kernel/trace/trace.c of Linux, and marks recorded with Linux 6.18 and trace-cmd 3.1.6.
 */

void ftrace_strange(struct ftrace *f)
{
	if (!f->strange++)
		input_damage(f->input, f->input->name, f->offset,
			     f->lines.whole ? "a line that is not an event"
					    : "the text ends within a line");
}

/* Test whether a line of a page is in its trace. */
static bool in_trace(struct ftrace *f, struct text_span s, const struct ftrace_line *l)
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
static bool is_buffer_start(struct text_span s)
{
	uint64_t cpu;

	if (!span_skip(&s, "##### CPU "))
		return false;
	s.at = span_digits(s.at, s.end, &cpu);
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
	while ((got = input_lines_next(&f->lines, f->input, &text, &n, e)) > 0) {
		f->offset = f->lines.offset;
		f->whole = (struct text_span){text, text + n};
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
static bool kernel_line_goes_on(const struct ftrace *f)
{
	if (!f->has_row || f->line.kind == LINE_TEXT)
		return f->has_row;
	return f->row.instant_text && f->line.kind == LINE_OTHER && f->lines.whole &&
	       !ftrace_line_damaged(f, f->whole) && (f->row.mark || !ftrace_cut_is_word(f));
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
static bool kernel_line_is_address(struct text_span s)
{
	uint64_t address;

	span_skip(&s, "0x");
	return digits_hex(&s.at, s.end, &address) && s.at == s.end;
}

/* Take a frame of the row's stack. If it ends in another way than those before, it was cut. */
static int kernel_line_take_frame(struct ftrace *f)
{
	struct text_span text = f->line.text;
	char end = text.at < text.end ? text.end[-1] : '\0';
	bool cut = !f->lines.whole || span_size(f->rest.text);
	/* trace-cmd prints "(ADDRESS)" after the names of functions of the kernel */
	bool closed = (f->stack.end == ')' && f->stack.count) ||
		      (cut && f->stack.end && strchr(">])", f->stack.end));

	if (!f->has_row || !f->stack.wanted)
		return 0;
	if ((cut && !end) || (closed && end != f->stack.end && !kernel_line_is_address(text))) {
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
		if (!input_lines_ready(&f->lines, f->input, LIVE_WAIT))
			return 1;
		got = ftrace_next_line(f, e);
		if (got <= 0)
			return got;
		if (f->line.kind == LINE_FRAME) {
			if (kernel_line_take_frame(f))
				return -1;
		} else if (!kernel_line_goes_on(f)) {
			return 1;
		} else if (append_line(f)) {
			return error_no_memory(e);
		}
	}
}
