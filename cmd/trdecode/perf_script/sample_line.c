#include "cmd/trdecode/perf_script/sample_line.h"

#include "common/util/digits.h"

enum { NANOSECONDS = 1000000000, FRACTION_MOST = 9, SECONDS_MOST = 1 << 30 };

/* Take the next word off a span. false: there is none. */
static bool take_word(struct span *s, struct span *word)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
	word->at = s->at;
	while (s->at < s->end && *s->at != ' ' && *s->at != '\t')
		s->at++;
	word->end = s->at;
	return word->at < word->end;
}

/* Read a whole span as a number below most. */
static bool read_number(struct span s, uint64_t most, uint64_t *number)
{
	return ftrace_digits(s.at, s.end, number) == s.end && span_size(s) && *number < most;
}

/* Read TID or PID/TID. perf prints -1 for a thread that it does not know. */
static bool read_ids(struct span word, struct sample_line *l)
{
	const char *slash = memchr(word.at, '/', span_size(word));
	struct span tid = {slash ? slash + 1 : word.at, word.end};
	uint64_t number;

	l->pid = -1;
	if (slash && !span_is((struct span){word.at, slash}, "-1")) {
		if (!read_number((struct span){word.at, slash}, INT32_MAX, &number))
			return false;
		l->pid = (int32_t)number;
	}
	l->tid = -1;
	if (span_is(tid, "-1"))
		return true;
	if (!read_number(tid, INT32_MAX, &number))
		return false;
	l->tid = (int32_t)number;
	return true;
}

/* Read SECONDS.FRACTION. */
static bool read_time(struct span s, uint64_t *ns)
{
	const char *point = memchr(s.at, '.', span_size(s));
	uint64_t seconds, fraction;
	size_t digits;

	if (!point || !read_number((struct span){s.at, point}, SECONDS_MOST, &seconds) ||
	    !read_number((struct span){point + 1, s.end}, NANOSECONDS, &fraction))
		return false;
	for (digits = (size_t)(s.end - point - 1); digits < FRACTION_MOST; digits++)
		fraction *= 10;
	*ns = seconds * NANOSECONDS + fraction;
	return digits == FRACTION_MOST;
}

/* Name the record of a switch as perf.data does: OUT or IN is the first word of its text. */
static void name_switch(struct sample_line *l)
{
	struct span rest = l->text, word;

	if (!span_is(l->event, "PERF_RECORD_SWITCH") &&
	    !span_is(l->event, "PERF_RECORD_SWITCH_CPU_WIDE"))
		return;
	take_word(&rest, &word);
	if (!span_is(word, "OUT") && !span_is(word, "IN"))
		return;
	l->event = span_is(word, "OUT") ? SPAN("PERF_RECORD_SWITCH_OUT")
					: SPAN("PERF_RECORD_SWITCH_IN");
	l->text = span_trim(rest);
}

/* Read a record that is no sample. */
static bool read_record(struct span rest, struct sample_line *l)
{
	rest = span_trim(rest);
	if (!span_begins(rest, "PERF_RECORD_"))
		return false;
	l->is_record = true;
	l->event = (struct span){rest.at, rest.at};
	while (l->event.end < rest.end &&
	       ((*l->event.end >= 'A' && *l->event.end <= 'Z') || *l->event.end == '_' ||
		(*l->event.end >= '0' && *l->event.end <= '9')))
		l->event.end++;
	rest.at = l->event.end + (l->event.end < rest.end && *l->event.end == ':');
	l->text = span_trim(rest);
	name_switch(l);
	return true;
}

/* Is it the word of a time? */
static bool is_time(struct span word, uint64_t *ns)
{
	return word.end[-1] == ':' && read_time((struct span){word.at, word.end - 1}, ns);
}

/* Read [CPU]. */
static bool read_cpu(struct span word, struct sample_line *l)
{
	uint64_t number;

	if (span_size(word) < 3 || *word.at != '[' || word.end[-1] != ']' ||
	    !read_number((struct span){word.at + 1, word.end - 1}, INT32_MAX, &number))
		return false;
	l->cpu = (int32_t)number;
	return true;
}

/* Is it the column misc: the mode of the CPU, or bits of a record? */
static bool is_misc(struct span word)
{
	enum { MISC_MOST = 5 };

	if (word.at == word.end || span_size(word) > MISC_MOST)
		return false;
	for (; word.at < word.end; word.at++)
		if (!strchr("KUHGgMESpF", *word.at))
			return false;
	return true;
}

/* Read what follows the time, or where it would be. */
static bool read_event(struct span rest, struct sample_line *l)
{
	struct span word;
	uint64_t number;

	l->has_period = false;
	if (read_record(rest, l))
		return true;
	if (!take_word(&rest, &word))
		return false;
	if (read_number(word, UINT64_MAX, &l->period)) {
		l->has_period = true;
		if (!take_word(&rest, &word))
			return false;
	}
	if (span_size(word) < 2 || word.end[-1] != ':' || is_time(word, &number))
		return false;
	l->event = (struct span){word.at, word.end - 1};
	l->text = span_trim(rest);
	return true;
}

/* Take the last word off a span. false: there is none. */
static bool take_last(struct span *s, struct span *word)
{
	*s = span_trim(*s);
	word->at = word->end = s->end;
	while (word->at > s->at && word->at[-1] != ' ' && word->at[-1] != '\t')
		word->at--;
	s->end = word->at;
	return word->at < word->end;
}

/* Read what is before the time, from its end: the name of a thread may have blanks, and words of
 * digits. */
static bool read_thread(struct span before, struct sample_line *l)
{
	struct span word;

	l->cpu = -1;
	if (!take_last(&before, &word) || (is_misc(word) && !take_last(&before, &word)) ||
	    (read_cpu(word, l) && !take_last(&before, &word)) || !read_ids(word, l))
		return false;
	l->comm = span_trim(before);
	return true;
}

/* Read a line without a time: the first word that may be the ids counts. */
static bool read_timeless(struct span line, struct sample_line *l)
{
	struct span rest = line, word;
	uint64_t time;

	while (take_word(&rest, &word) && !is_time(word, &time)) {
		struct span next = rest, ahead = rest, after;

		l->comm = span_trim((struct span){line.at, word.at});
		l->cpu = -1;
		if (take_word(&ahead, &after) && read_cpu(after, l)) {
			next = ahead;
			take_word(&ahead, &after);
		}
		if (is_misc(after))
			next = ahead;
		if (read_ids(word, l) && read_event(next, l))
			return true;
	}
	return false;
}

bool sample_line_parse(struct span line, struct sample_line *l)
{
	struct span rest = line, word;

	*l = (struct sample_line){.cpu = -1};
	while (take_word(&rest, &word)) {
		if (!is_time(word, &l->time) || !read_thread((struct span){line.at, word.at}, l) ||
		    !read_event(rest, l))
			continue;
		l->has_time = true;
		return true;
	}
	l->time = 0;
	return read_timeless(line, l);
}

bool record_line_is_other(struct span line)
{
	uint64_t number;
	struct span word;

	if (span_begins(line, "PERF_RECORD_FINISHED_"))
		return true;
	if (!span_begins(line, "\t\t") || !take_word(&line, &word))
		return false;
	/* "[0/net: 4/0xeffffff9, ", and " 4/user: " */
	word.at += *word.at == '[';
	line.at = memchr(word.at, '/', span_size(word));
	return line.at && word.end[-1] == ':' &&
	       read_number((struct span){word.at, line.at}, UINT32_MAX, &number);
}

/* Take the offset off a function. */
static void take_offset(struct frame_line *f)
{
	const char *plus = memrchr(f->function.at, '+', span_size(f->function));
	const char *digits = plus ? plus + 3 : NULL;

	if (plus && f->function.end - plus > 3 && plus[1] == '0' && plus[2] == 'x' &&
	    digits_hex(&digits, f->function.end, &f->offset) && digits == f->function.end)
		f->function.end = plus;
	else
		f->offset = 0;
}

bool frame_line_parse(struct span line, struct frame_line *f)
{
	const char *open;

	*f = (struct frame_line){0};
	line = span_trim(line);
	if (!digits_hex(&line.at, line.end, &f->address) || line.at == line.end ||
	    (*line.at != ' ' && *line.at != '\t'))
		return false;
	f->function = span_trim(line);
	if (f->function.at < f->function.end && f->function.end[-1] == ')') {
		/* the file may have brackets: "(/memfd:x (deleted))", "([kernel.kallsyms])" */
		int depth = 1;

		for (open = f->function.end - 1; depth && open > f->function.at;) {
			open--;
			depth += *open == ')' ? 1 : *open == '(' ? -1 : 0;
		}
		if (!depth && (open == f->function.at || open[-1] == ' ')) {
			f->file = (struct span){open + 1, f->function.end - 1};
			f->function = span_trim((struct span){f->function.at, open});
		}
	}
	take_offset(f);
	return f->function.at < f->function.end || f->file.at < f->file.end;
}

/* Is it an address? A word of a few letters may be a part of a name. */
static bool is_address(struct span word)
{
	enum { ADDRESS_LEAST = 4 };
	const char *at = word.at;
	uint64_t address;

	if (span_size(word) < ADDRESS_LEAST || !digits_hex(&at, word.end, &address) ||
	    at != word.end)
		return false;
	for (at = word.at; at < word.end; at++)
		if (*at <= '9')
			return true;
	return false;
}

bool frame_line_split(struct span *text, struct span *frame)
{
	struct span rest = *text, word, before = *text;
	struct frame_line last;
	bool found = false;

	if (text->at == text->end || text->end[-1] != ')')
		return false;
	/* the last one counts: the text of a tracepoint may have numbers */
	while (take_word(&rest, &word)) {
		if (!is_address(word) ||
		    !frame_line_parse((struct span){word.at, text->end}, &last) ||
		    last.file.at == last.file.end || last.function.at == last.function.end ||
		    *last.function.at == ',')
			continue;
		*frame = (struct span){word.at, text->end};
		before.end = word.at;
		found = true;
	}
	if (found)
		*text = span_trim(before);
	return found;
}
