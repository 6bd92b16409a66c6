/*
 * forms.c - events whose text is not "KEY=VALUE": block devices, latencies and noise
 *
 * A form is a text with places for values: %u a number, %i one that may have a sign, %t
 * "SECONDS.NANOSECONDS" as ns, %d "MAJOR,MINOR" as the number of a device (MAJOR << 20 | MINOR), %p
 * "CLASS,HINT,LEVEL" as that of a priority (CLASS << 13 | HINT << 3 | LEVEL), %w a word, %s a text,
 * %x digits that are no field. A blank is any number of blanks and tabs. What follows %? up to the
 * next %? may be absent. Fields have the names and the values that they have in trace.dat.
 *
 * Sources: the print fmt of the events, trace_output.c and blktrace.c in kernel/trace of Linux,
 * Documentation/trace/{hwlat_detector,osnoise-tracer,timerlat-tracer}.rst.
 */
#include "cmd/trdecode/ftrace/ftrace.h"

enum { TEXT_MOST = 256 }; /* bytes of a text within a form */

static const struct form {
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
static void add(struct ftrace *f, const char **keys, struct span text, uint8_t kind,
		uint64_t number)
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
	last = ftrace_digits(first, end, &more);
	if (last == first || more >> bits)
		return NULL;
	*number = *number << bits | more;
	return last;
}

static const char *read_priority(struct span s, uint64_t *number)
{
	static const char *const classes[] = {"none,", "rt,", "be,", "idle,"};
	unsigned class = 7; /* any other name: invalid */
	const char *p = memchr(s.at, ',', span_size(s)), *end;

	for (unsigned i = 0; i < sizeof classes / sizeof *classes; i++)
		class = span_begins(s, classes[i]) ? i : class;
	if (!p || (class == 7 && !span_begins(s, "invalid,")))
		return NULL;
	end = ftrace_digits(p + 1, s.end, number);
	end = end == p + 1 ? NULL : read_second(end, s.end, 3, number);
	*number |= (uint64_t) class << 13;
	return end;
}

/* Read the digits of %u, %i, %x, and what has them: %t, %d, %p. NULL: they are not there. */
static const char *read_number(struct span s, char code, uint8_t *kind, uint64_t *number)
{
	const char *end = s.at + (code == 'i' && s.at < s.end && *s.at == '-');

	if (code == 'p') {
		*kind = FIELD_UINT;
		return read_priority(s, number);
	}
	while (end < s.end && (unsigned char)(*end - '0') <= 9)
		end++;
	if (!ftrace_number((struct span){s.at, end}, kind, number))
		return NULL;
	if (code == 'd')
		return read_second(end, s.end, 20, number);
	if (code == 't') {
		while (end < s.end && (*end == '.' || (unsigned char)(*end - '0') <= 9))
			end++;
		return ftrace_seconds((struct span){s.at, end}, number) ? end : NULL;
	}
	return end;
}

static bool match(struct ftrace *f, const char *form, const char *keys, struct span s);

/* Match %s or %w: the shortest text after which the rest matches. */
static bool match_text(struct ftrace *f, const char *form, const char *keys, struct span s)
{
	size_t n = f->nvalues;
	bool word = form[1] == 'w';

	if (!form[2] && !word) {
		add(f, &keys, s, FIELD_STRING, 0);
		return true;
	}
	for (const char *end = s.at; end < s.end && end - s.at < TEXT_MOST; end++) {
		const char *rest = keys;

		if (*end == form[2] && (!word || end > s.at)) {
			add(f, &rest, (struct span){s.at, end}, FIELD_STRING, 0);
			if (match(f, form + 2, rest, (struct span){end, s.end}))
				return true;
			f->nvalues = n;
		}
		if (word && (*end == ' ' || *end == '\t'))
			return false;
	}
	return false;
}

/* Match a form that begins with %?, with or without what is up to the next %?. */
static bool match_optional(struct ftrace *f, const char *form, const char *keys, struct span s)
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

static bool match(struct ftrace *f, const char *form, const char *keys, struct span s)
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
		end = read_number(s, *++form, &kind, &number);
		if (!end)
			return false;
		if (*form != 'x')
			add(f, &keys, (struct span){s.at, end}, kind, number);
		s.at = end;
	}
	return s.at == s.end;
}

static bool is_named(const char *pattern, struct span name)
{
	size_t n = strlen(pattern) - 1;

	return pattern[n] == '*' ? span_size(name) >= n && !memcmp(name.at, pattern, n)
				 : span_is(name, pattern);
}

bool ftrace_form_values(struct ftrace *f, struct span name, struct span text)
{
	size_t n = f->nvalues;

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (is_named(forms[i].name, name) && match(f, forms[i].text, forms[i].keys, text))
			return true;
		f->nvalues = n;
	}
	return false;
}

bool ftrace_form_unnamed(struct ftrace *f, struct span text, struct span *name)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		f->nvalues = 0;
		if (forms[i].unnamed && match(f, forms[i].text, forms[i].keys, text)) {
			*name = (struct span){forms[i].name, forms[i].name + strlen(forms[i].name)};
			return true;
		}
	}
	return false;
}
