/*
 * damaged.c - lines that are damaged events
 *
 * A text of an event may have several lines, so a line that is no event may be one of them. But the
 * columns before a text are in no other: "-TID", "[CPU]" and "TIME:". A line with two of them next
 * to each other is an event that is damaged. So is one that begins with the end of such a column,
 * and then has a time and "NAME:"; one that has "-TID" alone, between blanks; and one that begins
 * as a line of function_graph, if the text has others.
 */
#include <ctype.h>

#include "cmd/trdecode/ftrace/ftrace.h"

enum {
	COLUMNS_MOST = 128, /* bytes of a line that may have the columns */
	WORDS_MOST = 24,
	BETWEEN_MOST = 2, /* words between two columns: TGID, FLAGS */
	FLAGS_MOST = 8,
};

static size_t digits_in(struct span s)
{
	size_t n = 0;

	for (const char *p = s.at; p < s.end; p++)
		n += (unsigned char)(*p - '0') <= 9;
	return n;
}

/* Test for "COMM-TID", in which a digit may be wrong. */
static bool is_task(struct span word)
{
	const char *minus = memrchr(word.at, '-', span_size(word));
	struct span tid;

	if (!minus)
		return false;
	tid = (struct span){minus + 1, word.end};
	return tid.at < tid.end && span_size(tid) <= 10 && digits_in(tid) &&
	       digits_in(tid) + 1 >= span_size(tid);
}

/* Test for "[CPU]" of at least three digits, of which one may be wrong. */
static bool is_cpu(struct span word)
{
	size_t n = span_size(word);

	return n >= 5 && n <= 7 && *word.at == '[' && word.end[-1] == ']' &&
	       digits_in(word) + 3 >= n;
}

/* Test for "TIME:", in which all digits are right: "1.000001:", "15us+:". */
static bool is_time(struct span word)
{
	uint64_t number;
	const char *p = ftrace_digits(word.at, word.end, &number), *fraction;

	if (p == word.at || word.end[-1] != ':')
		return false;
	if (word.end - p > 2 && p[0] == 'u' && p[1] == 's')
		return word.end - p < 5;
	if (*p != '.')
		return false;
	fraction = p + 1;
	p = ftrace_digits(fraction, word.end, &number);
	return p + 1 == word.end && (p - fraction == 6 || p - fraction == 9);
}

/* Test for "NAME:", which follows the time of most events. */
static bool is_name(struct span word)
{
	if (span_size(word) < 2 || word.end[-1] != ':')
		return false;
	for (const char *p = word.at; p < word.end - 1; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			return false;
	return true;
}

/* Test for "CPU) ... |". */
static bool is_graph(struct span s)
{
	struct ftrace_line l;
	uint64_t cpu;
	const char *p = ftrace_digits(s.at, s.end, &cpu);

	return p > s.at && p < s.end && *p == ')' && memchr(p, '|', (size_t)(s.end - p)) &&
	       !ftrace_graph_line(s, &l);
}

/* Test for what may be before a time: the end of "[CPU]", or FLAGS, of which the begin is lost. */
static bool is_rest(struct span word)
{
	if (word.end[-1] == ']')
		return digits_in(word) + 2 >= span_size(word);
	if (span_size(word) > FLAGS_MOST || !memchr(word.at, '.', span_size(word)))
		return false;
	for (const char *p = word.at; p < word.end; p++)
		if (!isxdigit((unsigned char)*p) && !strchr(".DNnpBHhsSzZXL#", *p))
			return false;
	return true;
}

/* Test for the end of a time, and the name of an event that the trace has. */
static bool is_event_rest(const struct ftrace *f, struct span time, struct span name)
{
	for (const char *p = time.at; p < time.end - 1; p++)
		if ((unsigned char)(*p - '0') > 9 && *p != '.')
			return false;
	return span_size(time) > 1 && time.end[-1] == ':' && is_name(name) &&
	       intern_find(&f->declared.names.keys, name.at, span_size(name) - 1) != INTERN_NONE;
}

/* Test for "COMM-TID" and what may follow it: blanks, or the begin of "[CPU]". */
static bool is_event_begin(struct span line)
{
	struct span s = span_trim(line), task = span_take_word(&s), rest = span_trim(s);

	return task.at > line.at && is_task(task) && s.at < line.end &&
	       (rest.at == rest.end ||
		(*rest.at == '[' && span_size(rest) < 5 && digits_in(rest) + 1 == span_size(rest)));
}

bool ftrace_line_damaged(const struct ftrace *f, struct span line)
{
	struct span s = span_trim(line), word, before = {0};
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
		} else if (is_time(word)) {
			if (i - task <= 1 + BETWEEN_MOST || i - cpu <= 1 + BETWEEN_MOST)
				return true;
			named = i && i <= BETWEEN_MOST && is_rest(before) ? i + 1 : named;
		} else if ((i == named && is_name(word)) ||
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
