/*
 * perf_script.c - the text of perf script: samples with their stacks, and branches, which become
 * calls
 *
 *     work 7001/7002 [003] 55.000000500:     250000 cycles:u:
 *                 55d1 main+0x11 (/usr/bin/work)
 *     work 7001/7002 [003] 55.000000600: 1 branches:u: call 55d1 main+0x11 (/bin/w) => 5600 f+0x0
 * (/bin/w)
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "common/formats/perf.h"
#include "common/util/text_span.h"
#include "common/util/buffer.h"
#include "common/util/text.h"
#include "common/util/intern.h"

/*
 * One line of the text of perf script, taken apart.
 *
 * A sample begins with
 *
 *     COMM TID|PID/TID [CPU] MISC TIME: PERIOD EVENT: TEXT
 *
 * CPU, MISC (ignored), TIME, PERIOD and TEXT may be missing. COMM may have blanks and words of
 * digits; the ids are the last word before the others. TEXT is that of a tracepoint, or the
 * address, function and file of the sample. A call chain follows, a line for each frame, the
 * innermost first:
 *
 *     ADDRESS FUNCTION+OFFSET (FILE)
 *
 * With options such as --show-task-events perf prints other records, too, which have no call chain:
 *
 *     COMM TID [CPU] TIME: PERF_RECORD_NAME TEXT
 *
 * Sources: the pages perf-script(1), tools/perf/builtin-script.c of Linux for the order of the
 * fields, and texts of perf 3.13 to 6.1.
 */

struct sample_line {
	struct text_span comm, event, text;
	int32_t pid, tid, cpu; /* -1: the line has none */
	bool has_time, has_period;
	bool is_record; /* no sample: event is PERF_RECORD_NAME, that of perf.data */
	bool is_error;	/* of the decoder of perf: text is its message */
	uint64_t time;	/* ns */
	uint64_t period;
};

static const char anonymous[] = "(anonymous namespace)";

static bool drop_end(struct text_span *s, const char *end)
{
	if (!span_ends(*s, end))
		return false;
	s->end -= strlen(end);
	return true;
}

/* Get the name of a function of C++ without its parameters and what follows them:
 * "f(int) const [clone .cold]" is "f", but "operator()" and "(anonymous namespace)" are of a name.
 */
static struct text_span without_parameters(struct text_span s)
{
	struct text_span name = s;
	int depth = 0;

	if (span_ends(name, "]")) {
		const char *clone = span_find(name, " [clone ");

		name.end = clone ? clone : name.end;
	}
	while (drop_end(&name, " const") || drop_end(&name, " volatile") || drop_end(&name, " &") ||
	       drop_end(&name, " &&"))
		;
	if (!span_ends(name, ")") || span_ends(name, anonymous))
		return s;
	do {
		name.end--;
		depth += *name.end == ')' ? 1 : *name.end == '(' ? -1 : 0;
	} while (depth && name.end > name.at);
	return depth || name.end == name.at || span_ends(name, "operator") ? s : name;
}

/* Copy the name of a function without what is noise: parameters, quotes. */
static int perf_script_clean_name(struct buffer *name, struct text_span s, bool java)
{
	const char *signature = java ? memchr(s.at, '(', span_size(s)) : NULL;

	name->size = 0;
	if (java && *s.at == 'L' && memchr(s.at, '/', span_size(s))) {
		s.at++;
		s.end = signature ? signature : s.end;
	}
	for (s = without_parameters(s); s.at < s.end; s.at++)
		if (*s.at != '"' && *s.at != '\'' && buffer_append(name, s.at, 1))
			return -1;
	while (name->size && name->data[name->size - 1] == ' ')
		name->size--;
	return 0;
}

/* Test whether it is the name of a process, "(java)", and no function. */
static bool frame_is_process(struct text_span function)
{
	return function.at < function.end && *function.at == '(' &&
	       !span_begins(function, anonymous);
}

/* --- sample line --- */

static const uint64_t TIMES_END = ((uint64_t)1 << 30) * 1000000000; /* ns */

/* Take the next word off a span. false: there is none. */
static bool take_word(struct text_span *s, struct text_span *word)
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
static bool perf_script_read_number(struct text_span s, uint64_t most, uint64_t *number)
{
	return span_digits(s.at, s.end, number) == s.end && span_size(s) && *number < most;
}

/* Read the number of a thread or a process. perf prints -1 for one that it does not know. */
static bool read_id(struct text_span s, int32_t *id)
{
	bool unknown = span_is(s, "-1");
	uint64_t number = 0;

	if (!unknown && !perf_script_read_number(s, INT32_MAX, &number))
		return false;
	*id = unknown ? -1 : (int32_t)number;
	return true;
}

/* Read TID or PID/TID. */
static bool read_ids(struct text_span word, struct sample_line *l)
{
	const char *slash = memchr(word.at, '/', span_size(word));

	l->pid = -1;
	return (!slash || read_id((struct text_span){word.at, slash}, &l->pid)) &&
	       read_id((struct text_span){slash ? slash + 1 : word.at, word.end}, &l->tid);
}

/* Name the record of a switch as perf.data does: OUT or IN is the first word of its text. */
static void name_switch(struct sample_line *l)
{
	struct text_span rest = l->text, word;

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
static bool read_record(struct text_span rest, struct sample_line *l)
{
	rest = span_trim(rest);
	if (!span_begins(rest, "PERF_RECORD_"))
		return false;
	l->is_record = true;
	l->event = (struct text_span){rest.at, rest.at};
	while (l->event.end < rest.end &&
	       ((*l->event.end >= 'A' && *l->event.end <= 'Z') || *l->event.end == '_' ||
		(*l->event.end >= '0' && *l->event.end <= '9')))
		l->event.end++;
	rest.at = l->event.end + (l->event.end < rest.end && *l->event.end == ':');
	l->text = span_trim(rest);
	name_switch(l);
	return true;
}

/* Test whether it is the word of a time: "SECONDS.FRACTION:". */
static bool perf_script_is_time(struct text_span word, uint64_t *ns)
{
	return *--word.end == ':' && memchr(word.at, '.', span_size(word)) &&
	       span_seconds(word, TIME_LIMIT, ns) && *ns < TIMES_END;
}

/* Read [CPU]. */
static bool read_cpu(struct text_span word, struct sample_line *l)
{
	uint64_t number;

	if (span_size(word) < 3 || *word.at != '[' || word.end[-1] != ']' ||
	    !perf_script_read_number((struct text_span){word.at + 1, word.end - 1}, INT32_MAX,
				     &number))
		return false;
	l->cpu = (int32_t)number;
	return true;
}

/* Test whether it is the column misc: the mode of the CPU, or bits of a record. */
static bool is_misc(struct text_span word)
{
	enum { MISC_MOST = 5 };

	if (word.at == word.end || span_size(word) > MISC_MOST)
		return false;
	for (; word.at < word.end; word.at++)
		if (!strchr("KUHGgMESpF", *word.at))
			return false;
	return true;
}

/* Take the line of a frame apart. false: it is none. */
static bool frame_line_parse(struct text_span line, struct text_frame *f)
{
	const char *open;

	*f = (struct text_frame){0};
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
			f->file = (struct text_span){open + 1, f->function.end - 1};
			f->function = span_trim((struct text_span){f->function.at, open});
		}
	}
	text_frame_take_offset(f);
	return f->function.at < f->function.end || f->file.at < f->file.end;
}

/*
 * The lines of branches
 *
 * perf script --itrace=be -F +flags,+addr prints the branches that Intel PT and others record,
 * with
 * --call-trace only calls, and with --call-ret-trace calls and returns:
 *
 *     COMM PID/TID [CPU] TIME: PERIOD EVENT: FLAGS ADDRESS FUNCTION (FILE) => ADDRESS FUNCTION
 * (FILE) COMM TID [CPU] TIME: FLAGS (FILE)<tab>FUNCTION
 *
 * Four blanks before FUNCTION are a level of depth. FLAGS are words of branch_flags, with a suffix
 * /NAME and a group of letters (xDt). What perf could not decode is the line
 *
 *      instruction trace error type 1 time 7.5 cpu -1 pid 7 tid 7 ip 0x7f code 7: Overflow packet
 *
 * Sources: perf-script(1), perf-intel-pt(1), and texts that magic-trace has as tests.
 */

enum branch_kind {
	BRANCH_NONE,  /* no branch */
	BRANCH_TRACE, /* tracing begins or ends */
	BRANCH_CALL,
	BRANCH_RETURN,
	BRANCH_JUMP,
	BRANCH_LEVEL,	  /* a call that begins a stack: of the kernel, or of an interrupt */
	BRANCH_LEVEL_END, /* the return from it */
	BRANCH_OTHER,
};

struct branch_line {
	enum branch_kind kind;
	bool starts, ends; /* tracing */
	bool is_syscall;
	int32_t depth;		    /* from the indentation; -1 none */
	struct text_frame from, to; /* with depth: only the function and file of to */
	struct text_span from_text, to_text;
};

static const struct {
	const char *name;
	enum branch_kind kind;
} branch_flags[] = {
	{"tr strt", BRANCH_TRACE}, {"tr end", BRANCH_TRACE},	 {"call", BRANCH_CALL},
	{"return", BRANCH_RETURN}, {"jcc", BRANCH_JUMP},	 {"jmp", BRANCH_JUMP},
	{"tx abrt", BRANCH_JUMP},  {"syscall", BRANCH_LEVEL},	 {"hw int", BRANCH_LEVEL},
	{"int", BRANCH_LEVEL},	   {"sysret", BRANCH_LEVEL_END}, {"iret", BRANCH_LEVEL_END},
	{"async", BRANCH_OTHER},   {"vmentry", BRANCH_OTHER},	 {"vmexit", BRANCH_OTHER}};

/* Take a flag off a span. Returns false if it begins with none. */
static bool branch_take_flag(struct text_span *s, struct branch_line *b)
{
	struct text_span rest = {span_skip_blanks(s->at, s->end), s->end};

	for (size_t i = 0; i < sizeof branch_flags / sizeof *branch_flags; i++) {
		struct text_span after = rest;

		if (!span_skip(&after, branch_flags[i].name))
			continue;
		if (after.at < after.end && *after.at == '/')
			while (after.at < after.end && *after.at != ' ')
				after.at++;
		if (after.at < after.end && *after.at != ' ')
			continue;
		b->starts |= i == 0;
		b->ends |= i == 1;
		b->is_syscall |= !strcmp(branch_flags[i].name, "syscall");
		b->kind = b->kind > branch_flags[i].kind ? b->kind : branch_flags[i].kind;
		*s = after;
		return true;
	}
	return false;
}

/* Take the letters (xDt) off a span. */
static void branch_take_letters(struct text_span *s)
{
	struct text_span rest = {span_skip_blanks(s->at, s->end), s->end};

	if (!span_skip(&rest, "("))
		return;
	while (rest.at < rest.end && strchr("xDt", *rest.at) && *rest.at)
		rest.at++;
	if (span_skip(&rest, ")"))
		*s = rest;
}

/* Take the frame of one end of a branch apart. A name that --call-trace prints may be before. */
static bool branch_frame_parse(struct text_span text, struct text_frame *f, struct text_span *frame)
{
	struct text_span rest, word;

	*frame = rest = span_trim(text);
	while (take_word(&rest, &word)) {
		frame->at = word.at;
		if (frame_line_parse(*frame, f))
			return true;
	}
	return false;
}

/* Test whether a text ends inside parentheses, as "f+0x0 (/usr/bi". */
static bool branch_is_cut(struct text_span text)
{
	size_t open = 0;

	for (const char *p = text.at; p < text.end; p++)
		open += *p == '(' ? 1 : *p == ')' && open ? -1 : 0;
	return open;
}

/* Read "(FILE)<tab>FUNCTION". */
static bool branch_indent_parse(struct text_span rest, struct branch_line *b)
{
	const char *tab = span_size(rest) ? memchr(rest.at, '\t', span_size(rest)) : NULL;
	struct text_span file;

	rest.at = span_skip_blanks(rest.at, rest.end);
	if (!tab || tab <= rest.at || *rest.at != '(')
		return false;
	file = span_trim((struct text_span){rest.at + 1, tab});
	if (!span_ends(file, ")"))
		return false;
	file.end--;
	b->to.file = span_trim(file);
	rest.at = span_skip_blanks(tab + 1, rest.end);
	b->depth = (int32_t)(rest.at - tab - 1 < INT16_MAX ? (rest.at - tab - 1) / 4 : INT16_MAX);
	b->to.function = span_trim(rest);
	b->kind = b->kind ? b->kind : BRANCH_CALL;
	return span_size(b->to.function) > 0;
}

/* Take the text of a branch apart. false: it is none. */
static bool branch_line_parse(struct text_span text, struct branch_line *b)
{
	struct text_span from = text, to = text;
	const char *arrow;

	*b = (struct branch_line){.kind = BRANCH_NONE, .depth = -1};
	while (branch_take_flag(&from, b))
		branch_take_letters(&from);
	arrow = b->kind ? span_find(from, " => ") : NULL;
	if (!arrow)
		return branch_indent_parse(from, b);
	from.end = arrow;
	to.at = arrow + 4;
	/* what -F +ipc adds */
	arrow = span_find(to, "\t IPC:");
	to.end = arrow ? arrow : to.end;
	return branch_frame_parse(from, &b->from, &b->from_text) &&
	       branch_frame_parse(to, &b->to, &b->to_text) && !branch_is_cut(to);
}

/* Take the value of a word off a span: "tid 7". false: the word is not the next one. */
static bool branch_take_value(struct text_span *s, const char *name, struct text_span *value)
{
	struct text_span rest = *s, word;

	if (!take_word(&rest, &word) || !span_is(word, name) || !take_word(&rest, value))
		return false;
	*s = rest;
	return true;
}

/* Read an error of the decoder of perf. */
static bool branch_error_parse(struct text_span line, struct sample_line *l)
{
	struct text_span rest = span_trim(line), value;
	const char *message;

	if (!span_skip(&rest, "instruction trace error ") ||
	    !branch_take_value(&rest, "type", &value))
		return false;
	l->is_error = true;
	l->pid = l->tid = l->cpu = -1;
	if (branch_take_value(&rest, "time", &value))
		l->has_time = span_seconds(value, TIME_LIMIT, &l->time) && l->time < TIMES_END;
	if (branch_take_value(&rest, "cpu", &value))
		read_id(value, &l->cpu);
	if (branch_take_value(&rest, "pid", &value))
		read_id(value, &l->pid);
	if (branch_take_value(&rest, "tid", &value))
		read_id(value, &l->tid);
	message = span_find(rest, ": ");
	l->text = span_trim((struct text_span){message ? message + 2 : rest.at, rest.end});
	return true;
}

/* Read what follows the time, or where it would be. */
static bool perf_script_read_event(struct text_span rest, struct sample_line *l)
{
	struct text_span word, all = rest;
	struct branch_line branch;
	uint64_t number;

	l->has_period = false;
	if (read_record(rest, l))
		return true;
	if (!take_word(&rest, &word))
		return false;
	l->has_period = perf_script_read_number(word, UINT64_MAX, &l->period);
	if (l->has_period && !take_word(&rest, &word))
		return false;
	if (span_size(word) < 2 || word.end[-1] != ':' || perf_script_is_time(word, &number)) {
		/* --call-trace prints no event */
		l->event = SPAN("branches");
		l->text = all;
		l->has_period = false;
		return branch_line_parse(all, &branch) && branch.depth >= 0;
	}
	l->event = (struct text_span){word.at, word.end - 1};
	l->text = span_trim(rest);
	return true;
}

/* Take the last word off a span. false: there is none. */
static bool perf_script_take_last(struct text_span *s, struct text_span *word)
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
static bool perf_script_read_thread(struct text_span before, struct sample_line *l)
{
	struct text_span word;

	l->cpu = -1;
	if (!perf_script_take_last(&before, &word) ||
	    (is_misc(word) && !perf_script_take_last(&before, &word)) ||
	    (read_cpu(word, l) && !perf_script_take_last(&before, &word)) || !read_ids(word, l))
		return false;
	l->comm = span_trim(before);
	return true;
}

/* Read a line without a time: the first word that may be the ids counts. */
static bool read_timeless(struct text_span line, struct sample_line *l)
{
	struct text_span rest = line, word;
	uint64_t time;

	while (take_word(&rest, &word) && !perf_script_is_time(word, &time)) {
		struct text_span next = rest, ahead = rest, after;

		l->comm = span_trim((struct text_span){line.at, word.at});
		l->cpu = -1;
		if (take_word(&ahead, &after) && read_cpu(after, l)) {
			next = ahead;
			take_word(&ahead, &after);
		}
		if (is_misc(after))
			next = ahead;
		if (read_ids(word, l) && perf_script_read_event(next, l))
			return true;
	}
	return false;
}

/* Take the first line of a sample apart. The spans point into it, or to constants. false: it is
 * none. */
static bool sample_line_parse(struct text_span line, struct sample_line *l)
{
	struct text_span rest = line, word;

	*l = (struct sample_line){.cpu = -1};
	if (branch_error_parse(line, l))
		return true;
	while (take_word(&rest, &word)) {
		if (!perf_script_is_time(word, &l->time) ||
		    !perf_script_read_thread((struct text_span){line.at, word.at}, l) ||
		    !perf_script_read_event(rest, l))
			continue;
		l->has_time = true;
		return true;
	}
	l->time = 0;
	return read_timeless(line, l);
}

/* Test whether it is a line of records that has no content for a stream: the namespaces after
 * NAMESPACES, or a FINISHED_ROUND, which has no thread. */
static bool record_line_is_other(struct text_span line)
{
	uint64_t number;
	struct text_span word;

	if (span_begins(line, "PERF_RECORD_FINISHED_"))
		return true;
	if (!span_begins(line, "\t\t") || !take_word(&line, &word))
		return false;
	/* "[0/net: 4/0xeffffff9, ", and " 4/user: " */
	word.at += *word.at == '[';
	line.at = memchr(word.at, '/', span_size(word));
	return line.at && word.end[-1] == ':' &&
	       perf_script_read_number((struct text_span){word.at, line.at}, UINT32_MAX, &number);
}

/* Test whether it is an address. A word of a few letters may be a part of a name. */
static bool perf_script_is_address(struct text_span word)
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

/* Take the line of a frame off the end of the text of a sample. false: it has none. */
static bool frame_line_split(struct text_span *text, struct text_span *frame)
{
	struct text_span rest = *text, word, before = *text;
	struct text_frame last;
	bool found = false;

	if (text->at == text->end || text->end[-1] != ')')
		return false;
	/* the last one counts: the text of a tracepoint may have numbers */
	while (take_word(&rest, &word)) {
		if (!perf_script_is_address(word) ||
		    !frame_line_parse((struct text_span){word.at, text->end}, &last) ||
		    last.file.at == last.file.end || last.function.at == last.function.end ||
		    *last.function.at == ',')
			continue;
		*frame = (struct text_span){word.at, text->end};
		before.end = word.at;
		found = true;
	}
	if (found)
		*text = span_trim(before);
	return found;
}

/*
 * The decoder of the text of perf script.
 *
 * An event of the text is a type, whose samples have a period if the text does, and the text of a
 * tracepoint as the field text. A frame is a location with its address, in a space of its file. Its
 * name is that of the text without parameters and offset, as trsym names functions; a function that
 * perf did not know has the name of its file: [libc.so.6]. These are the rules of
 * stackcollapse-perf.pl, so folded stacks of a text are the same.
 *
 * Records that are no samples, as --show-task-events prints them, are instants. Those that perf
 * made from /proc have the time 0, and become no row, as in perf.data; so have those of a text
 * without times. In a text of branches, samples are instants, too: a sum of calls and samples would
 * be of two units.
 */

enum {
	PROBE_LINES = 100,
	PERIOD_SIZE = 8,
	STACK_SIZE = 4,
	LOOK_AHEAD = 1 << 20, /* bytes in which branches are looked for */
};

/* The end of a branch. */
struct branch_place {
	uint32_t location; /* of its function; 0: it is not traced */
	bool entry;	   /* it is the first instruction */
};

enum branch_frame_kind {
	FRAME_CALL,
	FRAME_LEVEL,	/* the first of a stack of the kernel, or of an interrupt */
	FRAME_UNTRACED, /* no function: what is not traced */
	FRAME_CALLED,	/* the same, which a call began */
};

struct branch_frame {
	uint32_t location;
	uint16_t depth; /* that the text has */
	uint8_t kind;	/* enum branch_frame_kind */
};

/* The open calls of a thread. */
struct branch_stack {
	struct branch_frame *frames;
	size_t count, capacity;
	uint64_t deeper; /* open calls in the innermost one of a full stack: they have no rows */
	uint32_t lane;	 /* of the last branch */
};

struct perf_script {
	struct input *input;
	struct writer *w;
	struct input_lines lines;
	struct buffer header;  /* the first line of the next sample */
	struct buffer present; /* that of the sample */
	bool has_header;
	bool timed; /* the samples have times; else the time is their number */
	uint32_t source, clock;
	struct id_cache lanes, types, frames, spaces;
	struct buffer frame; /* locations of the sample's frames, the innermost first */
	struct buffer name;  /* of a function, without parameters */
	/* the next row */
	struct sample_line line;
	struct branch_line branch;
	struct buffer text;			       /* of the sample, with its NUL */
	uint64_t samples, strange, cut_branches, last; /* last: time of the last line */
	/* branches */
	struct id_cache places,
		functions; /* by the texts of frames: index + 1 of a place; by name */
	struct branch_place *place;
	size_t nplaces, places_capacity;
	struct key_map stack_numbers; /* index + 1 by thread */
	struct branch_stack *stacks;
	size_t nstacks, stacks_capacity;
	uint32_t enter, leave, untraced, syscall;
	uint64_t deep;	   /* calls without rows */
	bool has_jumps;	   /* the text has jumps, not only calls */
	bool has_branches; /* the text has branches: what is no branch is no sample beside calls */
};

/* Test whether a line is not empty and no comment. */
static bool is_content(struct text_span line)
{
	line = span_trim(line);
	return line.at < line.end && *line.at != '#';
}

/* Accept a text whose first line is a sample. */
static enum bid script_probe(const struct input *in)
{
	const char *at = (const char *)in->head, *end, *newline;
	bool forced = in->format && !strcmp(in->format, "perf-script");

	if (in->tree || !in->head_size)
		return BID_NONE;
	end = at + in->head_size;
	for (unsigned lines = 0; at < end && lines < PROBE_LINES; at = newline + 1, lines++) {
		struct sample_line l;

		newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			break;
		if (memchr(at, '\0', (size_t)(newline - at)))
			return BID_NONE;
		if (!is_content((struct text_span){at, newline}) ||
		    record_line_is_other((struct text_span){at, newline}))
			continue;
		if (sample_line_parse((struct text_span){at, newline}, &l))
			return BID_CHANCE;
		/* with -f other lines may be before the samples, such as messages of perf */
		if (!forced)
			return BID_NONE;
	}
	return BID_NONE;
}

static int script_open(struct input *in, struct error *e)
{
	struct perf_script *p = calloc(1, sizeof *p);

	in->state = p;
	if (!p)
		return error_no_memory(e);
	p->input = in;
	p->w = in->decoding->writer;
	return 0;
}

/* --- lines --- */

static void report_strange(struct perf_script *p, struct text_span line)
{
	if (!record_line_is_other(line) && !p->strange++)
		input_damage(p->input, p->input->name, p->lines.offset,
			     "a line that is neither a sample nor a frame");
}

/* Read a line. Returns 1; 0: no more lines; -1 with *e filled. */
static int next_line(struct perf_script *p, struct text_span *line, struct error *e)
{
	const char *text;
	size_t n;
	int got = input_lines_next(&p->lines, p->input, &text, &n, e);

	if (got > 0)
		*line = (struct text_span){text, text + n};
	return got;
}

/* --- declarations --- */

/* Declare the location of a function. 0: out of memory. */
static uint32_t perf_script_declare_location(struct perf_script *p, const struct text_frame *f,
					     struct text_span function)
{
	struct text_frame named = *f;
	bool java = p->line.comm.end - p->line.comm.at >= 4 && !memcmp(p->line.comm.at, "java", 4);

	named.function = function;
	if (text_frame_is_known(function)) {
		if (perf_script_clean_name(&p->name, function, java))
			return 0;
		named.function = span_of(&p->name);
	}
	return text_frame_location(p->w, p->source, &p->spaces, &named);
}

/* Add the frames of a line: "A->B" is B, which A has inlined. *known becomes the location if there
 * is one. Returns -1 when out of memory. */
static int perf_script_add_frames(struct perf_script *p, const struct text_frame *f,
				  uint32_t *known)
{
	struct text_span rest = f->function;
	size_t begin = p->frame.size;

	if (frame_is_process(rest))
		return 0;
	for (const char *arrow; rest.at <= rest.end; rest.at = arrow + 2) {
		uint32_t location;

		arrow = span_find(rest, "->");
		location = perf_script_declare_location(
			p, f, (struct text_span){rest.at, arrow ? arrow : rest.end});
		if (!location || buffer_u32(&p->frame, location))
			return -1;
		if (!arrow)
			break;
	}
	/* innermost first */
	for (size_t i = begin, last = p->frame.size - 4; i < last; i += 4, last -= 4) {
		uint32_t location = get_u32(p->frame.data + i);

		put_u32(p->frame.data + i, get_u32(p->frame.data + last));
		put_u32(p->frame.data + last, location);
	}
	if (p->frame.size - begin == 4)
		*known = get_u32(p->frame.data + begin);
	return 0;
}

/* Add the frames of a line, if it is that of a frame: a line that was met before is not taken apart
 * again. Returns -1 when out of memory. */
static int add_frame_line(struct perf_script *p, struct text_span line, bool *is_frame)
{
	uint32_t *known = id_cache_number(&p->frames, line.at, span_size(line));
	struct text_frame f;

	*is_frame = true;
	if (!known)
		return -1;
	if (*known)
		return buffer_u32(&p->frame, *known);
	*is_frame = frame_line_parse(line, &f);
	return *is_frame ? perf_script_add_frames(p, &f, known) : 0;
}

static uint32_t perf_script_declare_lane(struct perf_script *p, const struct sample_line *l)
{
	struct buffer key = {0};
	int32_t numbers[] = {l->pid, l->tid, l->cpu};
	uint32_t *id = NULL;

	if (!buffer_append(&key, numbers, sizeof numbers) &&
	    !buffer_append(&key, l->comm.at, span_size(l->comm)))
		id = id_cache_number(&p->lanes, key.data, key.size);
	buffer_free(&key);
	if (id && !*id)
		*id = writer_lane(p->w,
				  &(struct lane_entry){.source = p->source,
						       .clock = p->clock,
						       .comm = writer_string(p->w, l->comm.at,
									     span_size(l->comm)),
						       .flags = (l->cpu >= 0 ? LANE_HAS_CPU : 0) |
								(l->tid >= 0 ? LANE_HAS_TID : 0) |
								(l->pid >= 0 ? LANE_HAS_PID : 0),
						       .cpu = l->cpu,
						       .tid = l->tid,
						       .pid = l->pid,
						       .ppid = -1});
	return id ? *id : 0;
}

/* Test whether the name of an event ends with modifiers, cycles:u, and not with the name of a
 * tracepoint. */
static bool is_modifier(struct text_span s)
{
	for (; s.at < s.end; s.at++)
		if (!strchr("ukhGHpPSDeWIb", *s.at))
			return false;
	return true;
}

/* Add a field to a type, in the fixed part if it has a size there. */
static void perf_script_field(struct type_entry *type, struct field_entry *fields,
			      struct field_entry f)
{
	if (f.where == WHERE_FIXED) {
		f.offset = type->fixed_size;
		type->fixed_size += f.size;
	}
	fields[type->nfields++] = f;
}

static uint32_t perf_script_declare_type(struct perf_script *p, const struct sample_line *l)
{
	bool has_text = p->text.size > 1;
	const char *colon = memchr(l->event.at, ':', span_size(l->event));
	bool tracepoint = colon && !is_modifier((struct text_span){colon + 1, l->event.end});
	char hybrid[PERF_HYBRID_NAME];
	size_t pmu = perf_hybrid_event(l->event.at, span_size(l->event), hybrid);
	struct text_span name = {tracepoint ? colon + 1 : l->event.at, l->event.end};
	/* beside calls, whose times are sums, a sample has no weight */
	bool instant = l->is_record || p->has_branches;
	bool stack = instant && p->frame.size;
	bool in_time = span_begins(l->event, "cpu-clock") || span_begins(l->event, "task-clock");
	struct field_entry fields[3];
	struct type_entry type = {
		.source = p->source,
		.name = pmu ? writer_text(p->w, hybrid)
			    : writer_string(p->w, name.at, span_size(name)),
		.kind = instant ? KIND_INSTANT : KIND_SAMPLE,
		.flags = (uint16_t)((has_text ? TYPE_TAIL : 0) |
				    (in_time && l->has_period && !instant ? TYPE_WEIGHT_TIME : 0)),
		.fields = fields};
	struct buffer key = {0};
	uint8_t parts[] = {l->has_period, has_text, stack};
	uint32_t *id = NULL;

	if (l->has_period)
		perf_script_field(&type, fields,
				  (struct field_entry){.name = writer_text(p->w, "period"),
						       .kind = FIELD_UINT,
						       .role = instant ? ROLE_NONE : ROLE_PERIOD,
						       .size = PERIOD_SIZE});
	if (stack)
		perf_script_field(&type, fields,
				  (struct field_entry){.name = writer_text(p->w, "stack"),
						       .role = ROLE_STACK,
						       .size = STACK_SIZE});
	if (has_text)
		perf_script_field(&type, fields,
				  (struct field_entry){.name = writer_text(p->w, "text"),
						       .kind = FIELD_STRING,
						       .where = WHERE_STRING,
						       .size = 1});
	if (tracepoint || pmu)
		type.group =
			writer_string(p->w, l->event.at, pmu ? pmu : (size_t)(colon - l->event.at));
	if (!buffer_append(&key, parts, sizeof parts) &&
	    !buffer_append(&key, l->event.at, span_size(l->event)))
		id = id_cache_number(&p->types, key.data, key.size);
	buffer_free(&key);
	if (id && !*id) {
		*id = writer_type(p->w, &type);
		if (*id && row_filter_announce(p->input->decoding->row_filter, *id, 0))
			return 0;
	}
	return id ? *id : 0;
}

/*
 * Branches become calls
 *
 * A branch of the kind call is an ENTER of the function that it goes to, and a return is the LEAVE
 * of the innermost open call. Where the text shows another function than the innermost open call,
 * the stack is mended:
 *
 *     return or jump into a function that is open      the calls in it end: longjmp, exceptions
 *     jump to the beginning of a function              a tail call: one call ends, the other begins
 *     other return or jump into a function             the same
 *     a call from another function, in a text that     the calls in that function end, or the
 * innermost has no jumps                                     call was a tail call the first branch
 * of a thread, or after an error  the function begins there syscall, int, hw int a stack of its
 * own, up to its iret or sysret tr end                                           a call of
 * [untraced], or [syscall] tr strt                                          the end of that call
 *     instruction trace error                          a gap; all calls of the thread end
 *
 * These are the rules of magic-trace, but for the first, and for functions that were entered before
 * the trace: they begin where the text first shows them.
 */

enum {
	STACK_MOST = 1 << 20, /* calls of a thread with rows: other programs keep as many */
	STACK_SEARCHED = 1024
};

/* Get the location of a function. 0: out of memory. */
static uint32_t branch_function(struct perf_script *p, const struct text_frame *f)
{
	struct text_frame function = *f;
	struct buffer key = {0};
	uint32_t *id = NULL;

	function.address -= f->offset;
	function.offset = 0;
	if (!buffer_append(&key, f->file.at, span_size(f->file)) && !buffer_append(&key, "", 1) &&
	    !buffer_append(&key, f->function.at, span_size(f->function)))
		id = id_cache_number(&p->functions, key.data, key.size);
	buffer_free(&key);
	if (id && !*id)
		*id = perf_script_declare_location(p, &function, function.function);
	return id ? *id : 0;
}

/* Find the end of a branch that a text has. NULL: out of memory. */
static const struct branch_place *branch_place_of(struct perf_script *p, struct text_span text,
						  const struct text_frame *f)
{
	static const struct branch_place nowhere = {0, false};
	uint32_t *number;
	struct branch_place place = {.entry = !f->offset};

	if (!f->address)
		return &nowhere;
	number = id_cache_number(&p->places, text.at, span_size(text));
	if (number && *number)
		return &p->place[*number - 1];
	place.location = number ? branch_function(p, f) : 0;
	if (!place.location || ARRAY_GROW(p->place, p->places_capacity, p->nplaces))
		return NULL;
	p->place[p->nplaces++] = place;
	*number = (uint32_t)p->nplaces;
	return &p->place[p->nplaces - 1];
}

/* Get the location of what is no function. 0: out of memory. */
static uint32_t branch_named(struct perf_script *p, uint32_t *id, const char *name)
{
	if (!*id)
		*id = writer_location(p->w,
				      &(struct location_entry){.name = writer_text(p->w, name)});
	return *id;
}

static uint32_t branch_type(struct perf_script *p, uint32_t *id, enum type_kind kind,
			    const char *name)
{
	if (!*id) {
		*id = writer_type(p->w, &(struct type_entry){.source = p->source,
							     .name = writer_text(p->w, name),
							     .group = writer_text(p->w, "branches"),
							     .kind = kind});
		if (*id && row_filter_announce(p->input->decoding->row_filter, *id, 0))
			return 0;
	}
	return *id;
}

/* Get the stack of the thread of the line: of thread 0 there is one for each CPU. NULL: out of
 * memory. */
static struct branch_stack *branch_stack_of(struct perf_script *p, const struct sample_line *l)
{
	uint64_t key = l->tid > 0 ? (uint64_t)l->tid : (uint64_t)1 << 32 | (uint32_t)(l->cpu + 1);
	uint32_t *number = key_map_number(&p->stack_numbers, key);

	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(p->stacks, p->stacks_capacity, p->nstacks))
			return NULL;
		p->stacks[p->nstacks++] = (struct branch_stack){0};
		*number = (uint32_t)p->nstacks;
	}
	return &p->stacks[*number - 1];
}

static int branch_put(struct perf_script *p, const struct branch_stack *s, uint32_t type,
		      uint32_t location)
{
	struct new_row row = {
		.time = p->input->next, .lane = s->lane, .type = type, .location = location};

	return !type || !location ? -1 : writer_row_data(p->w, row);
}

/* Begin a call. A stack that is full counts the calls in its innermost one. */
static int branch_push(struct perf_script *p, struct branch_stack *s, uint32_t location,
		       enum branch_frame_kind kind)
{
	if (s->count == STACK_MOST) {
		s->deeper++;
		p->deep++;
		return 0;
	}
	if (ARRAY_GROW(s->frames, s->capacity, s->count))
		return -1;
	s->frames[s->count++] = (struct branch_frame){
		.location = location, .kind = (uint8_t)kind, .depth = (uint16_t)p->branch.depth};
	return branch_put(p, s, branch_type(p, &p->enter, KIND_ENTER, "enter"), location);
}

/* End the innermost calls until n are left. */
static int branch_pop(struct perf_script *p, struct branch_stack *s, size_t n)
{
	s->deeper = s->count > n ? 0 : s->deeper;
	while (s->count > n)
		if (branch_put(p, s, branch_type(p, &p->leave, KIND_LEAVE, "leave"),
			       s->frames[--s->count].location))
			return -1;
	return 0;
}

/* Find the innermost call of a function on the thread's present stack. Returns the number of calls
 * up to it, 0: there is none. */
static size_t branch_find(const struct branch_stack *s, uint32_t location)
{
	size_t i = s->count, least = i > STACK_SEARCHED ? i - STACK_SEARCHED : 0;

	for (; i > least; i--) {
		if (s->frames[i - 1].location == location)
			return i;
		if (s->frames[i - 1].kind == FRAME_LEVEL)
			return 0;
	}
	return 0;
}

/* Mend the stack: the thread is in a function. tail: the function began there. */
static int branch_mend(struct perf_script *p, struct branch_stack *s, uint32_t location, bool tail)
{
	enum branch_frame_kind kind = FRAME_CALL;
	size_t open;

	if (!location || s->deeper || (s->count && s->frames[s->count - 1].location == location))
		return 0;
	open = tail ? 0 : branch_find(s, location);
	if (open)
		return branch_pop(p, s, open);
	if (s->count) {
		kind = s->frames[s->count - 1].kind;
		if (branch_pop(p, s, s->count - 1))
			return -1;
	}
	return branch_push(p, s, location, kind);
}

/* What is not traced begins. */
static int branch_untrace(struct perf_script *p, struct branch_stack *s,
			  enum branch_frame_kind kind)
{
	const struct branch_line *b = &p->branch;

	return branch_push(p, s,
			   b->is_syscall ? branch_named(p, &p->syscall, "[syscall]")
					 : branch_named(p, &p->untraced, "[untraced]"),
			   kind);
}

/* Tracing begins in a function. A page fault in a call begins it where the call did. */
static int branch_start(struct perf_script *p, struct branch_stack *s, uint32_t location,
			enum branch_frame_kind before)
{
	size_t open = s->count ? branch_find(s, location) : 0;

	if (!location || open)
		return open ? branch_pop(p, s, open) : 0;
	return !s->count || before == FRAME_CALLED ? branch_push(p, s, location, FRAME_CALL) : 0;
}

/* End the stack of the kernel or of an interrupt. */
static int branch_end_level(struct perf_script *p, struct branch_stack *s)
{
	size_t n = s->count;

	while (n && s->frames[n - 1].kind != FRAME_LEVEL)
		n--;
	return branch_pop(p, s, n ? n - 1 : 0);
}

static int branch_call(struct perf_script *p, struct branch_stack *s, uint32_t from, uint32_t to)
{
	/* a jump, or a return from what was not traced, is not in a text of calls only */
	bool mends = from && !s->deeper && (!s->count || !p->has_jumps || branch_find(s, from));

	if (mends && branch_mend(p, s, from, false))
		return -1;
	if (to && branch_push(p, s, to, FRAME_CALL))
		return -1;
	return p->branch.ends ? branch_untrace(p, s, to ? FRAME_UNTRACED : FRAME_CALLED) : 0;
}

/* Take a branch by its kind. */
static int branch_take_kind(struct perf_script *p, struct branch_stack *s, uint32_t from,
			    const struct branch_place *to)
{
	const struct branch_line *b = &p->branch;

	switch (b->kind) {
	case BRANCH_CALL: return branch_call(p, s, from, to->location);
	case BRANCH_RETURN:
		if (s->deeper)
			s->deeper--;
		else if ((!s->count && from && branch_push(p, s, from, FRAME_CALL)) ||
			 (s->count && branch_pop(p, s, s->count - 1)))
			return -1;
		break;
	case BRANCH_LEVEL:
		if (!b->ends)
			return to->location ? branch_push(p, s, to->location, FRAME_LEVEL) : 0;
		break;
	case BRANCH_LEVEL_END:
		if (s->deeper)
			s->deeper--;
		else if (branch_end_level(p, s))
			return -1;
		break;
	default: break;
	}
	if (b->ends)
		return branch_untrace(p, s, FRAME_UNTRACED);
	return branch_mend(p, s, to->location, b->kind == BRANCH_JUMP && to->entry);
}

/* Take a line of --call-trace or --call-ret-trace, whose calls have depths: a call lasts up to the
 * next line that is no deeper. */
static int branch_take_depth(struct perf_script *p, struct branch_stack *s)
{
	const struct branch_line *b = &p->branch;
	uint32_t location;
	size_t n = s->count;

	while (n && s->frames[n - 1].depth >= b->depth)
		n--;
	if (branch_pop(p, s, n))
		return -1;
	if (b->kind == BRANCH_RETURN || b->kind == BRANCH_LEVEL_END || b->ends)
		return 0;
	location = branch_function(p, &b->to);
	return location ? branch_push(p, s, location, FRAME_CALL) : -1;
}

/* Write the rows of the branch of the line. */
static int branch_take(struct perf_script *p)
{
	const struct branch_line *b = &p->branch;
	struct branch_stack *s = branch_stack_of(p, &p->line);
	enum branch_frame_kind before;
	const struct branch_place *at;
	struct branch_place to;
	uint32_t from;

	if (!s || !(s->lane = perf_script_declare_lane(p, &p->line)))
		return -1;
	if (b->depth >= 0)
		return branch_take_depth(p, s);
	p->has_jumps |= b->kind == BRANCH_JUMP;
	at = branch_place_of(p, b->from_text, &b->from);
	if (!at)
		return -1;
	from = at->location;
	at = branch_place_of(p, b->to_text, &b->to);
	if (!at)
		return -1;
	to = *at;
	before = s->count ? s->frames[s->count - 1].kind : FRAME_CALL;
	if (s->deeper && b->starts) {
		/* what was not traced is the innermost call */
		s->deeper--;
		return 0;
	}
	if (!s->deeper && before >= FRAME_UNTRACED && branch_pop(p, s, s->count - 1))
		return -1;
	if (b->starts)
		return b->ends ? 0 : branch_start(p, s, to.location, before);
	return branch_take_kind(p, s, from, &to);
}

/* Write the gap of an error: all calls of the thread end. */
static int branch_take_error(struct perf_script *p)
{
	struct branch_stack *s = branch_stack_of(p, &p->line);
	bool lost = span_find(p->line.text, "verflow") || span_find(p->line.text, "ost trace");
	struct gap gap = {.reason = lost ? GAP_LOST : GAP_UNREAD,
			  .count = UINT64_MAX,
			  .offset = NO_OFFSET,
			  .message = (const char *)p->text.data};

	if (!s || (!s->lane && !(s->lane = perf_script_declare_lane(p, &p->line))))
		return -1;
	s->deeper = 0;
	return branch_pop(p, s, 0) || writer_gap(p->w, p->input->next, s->lane, &gap) ? -1 : 0;
}

/* --- samples --- */

/* Begin the sample of the header. The texts of p->line are in p->present. */
static int perf_script_begin_sample(struct perf_script *p)
{
	struct buffer last = p->present;
	struct text_span text, frame;
	bool is_frame;

	p->present = p->header;
	p->header = last;
	sample_line_parse(span_of(&p->present), &p->line);
	p->has_header = false;
	p->frame.size = p->text.size = 0;
	text = p->line.text;
	if (p->line.is_record || p->line.is_error || !branch_line_parse(text, &p->branch))
		p->branch.kind = BRANCH_NONE;
	p->has_branches |= p->branch.kind != BRANCH_NONE;
	/* a sample without a call chain has its frame in this line */
	if (!p->line.is_record && !p->line.is_error && !p->branch.kind &&
	    frame_line_split(&text, &frame) && add_frame_line(p, frame, &is_frame))
		return -1;
	return buffer_append(&p->text, text.at, span_size(text)) || buffer_append(&p->text, "", 1)
		       ? -1
		       : 0;
}

/* Keep a line as the header of the next row, unless it is a record without a time. false: it is no
 * header. */
static bool keep_header(struct perf_script *p, struct text_span line, int *bad)
{
	struct sample_line l;
	struct branch_line b;

	if (!sample_line_parse(line, &l))
		return false;
	/* beside branches that have both ends it is no sample */
	if (p->has_branches && !l.is_record && !l.is_error && span_begins(l.event, "branches") &&
	    !branch_line_parse(l.text, &b) && b.kind) {
		if (!p->cut_branches++)
			input_damage(p->input, p->input->name, p->lines.offset,
				     "a branch without the end it goes to: it is left out");
		return true;
	}
	if (l.is_record && !l.time)
		return true;
	/* an error without a time before the first sample */
	if (l.is_error && !l.has_time && !p->samples)
		return true;
	p->header.size = 0;
	*bad = buffer_append(&p->header, line.at, span_size(line));
	p->has_header = true;
	return true;
}

/* A source line after a frame, FILE:LINE: what perf adds with -F +srcline. */
static bool is_source(struct text_span line)
{
	const char *colon = memrchr(line.at, ':', span_size(line));

	line = span_trim(line);
	if (!colon || colon + 1 >= line.end)
		return false;
	while (++colon < line.end)
		if (*colon < '0' || *colon > '9')
			return false;
	return true;
}

/* Take a line after the header of a sample. *ended: the sample has ended. */
static int perf_script_take_line(struct perf_script *p, struct text_span line, bool *ended)
{
	bool is_frame = false;
	int bad = 0;

	/* perf begins the lines of frames with a tab; other programs may have changed it */
	*ended = line.at == line.end ||
		 (*line.at != '\t' && (!is_content(line) || keep_header(p, line, &bad)));
	if (*ended)
		return bad;
	/* records have no stack */
	if (!p->line.is_record && !p->line.is_error)
		bad = add_frame_line(p, line, &is_frame);
	if (!is_frame && !is_source(line))
		report_strange(p, line);
	return bad;
}

/* Find the header of the next row. Returns 1; 0: there is none; -1 with *e filled. */
static int next_header(struct perf_script *p, struct error *e)
{
	struct text_span line;
	int got = 1, bad = 0;

	while (!p->has_header && (got = next_line(p, &line, e)) > 0)
		if (is_content(line) && !keep_header(p, line, &bad))
			report_strange(p, line);
	return bad ? error_no_memory(e) : got;
}

/* Read the next sample; in->next is UINT64_MAX if there is none. */
static int script_advance(struct perf_script *p, struct error *e)
{
	struct input *in = p->input;
	struct text_span line;
	bool ended = false;
	int got;

	e->what[0] = '\0';
	in->next = UINT64_MAX;
	got = next_header(p, e);
	if (got <= 0)
		return got;
	if (perf_script_begin_sample(p))
		return -1;
	while (!ended && (got = next_line(p, &line, e)) > 0)
		if (perf_script_take_line(p, line, &ended))
			return -1;
	p->samples += !p->line.is_record && !p->line.is_error;
	if (p->line.is_error && !p->line.has_time)
		p->line.time = p->last;
	p->last = p->line.time;
	in->next = merge_shifted(p->timed ? p->line.time : p->samples, in->shift);
	return got < 0 ? -1 : 0;
}

static int perf_script_write_sample(struct perf_script *p)
{
	uint8_t fixed[PERIOD_SIZE + STACK_SIZE], *end = fixed;
	size_t n = p->frame.size / 4;
	bool instant = p->line.is_record || p->has_branches;
	uint32_t stack =
		n ? writer_stack_of(p->w, (const uint32_t *)(const void *)p->frame.data, n) : 0;
	struct row_needs needs = {.stack = instant ? stack : 0};
	struct new_row row = {.time = p->input->next,
			      .lane = perf_script_declare_lane(p, &p->line),
			      .type = perf_script_declare_type(p, &p->line),
			      .location = instant ? 0 : stack,
			      .fixed = fixed,
			      .tail = p->text.data,
			      .tail_size = p->text.size > 1 ? (uint32_t)p->text.size : 0,
			      .has_tail = p->text.size > 1};

	if (!row.lane || !row.type || (n && !stack))
		return -1;
	if (p->line.has_period) {
		put_u64(end, p->line.period);
		end += PERIOD_SIZE;
	}
	if (needs.stack) {
		put_u32(end, stack);
		end += STACK_SIZE;
	}
	row.fixed_size = (uint32_t)(end - fixed);
	if (!instant)
		return writer_sample(p->w, row);
	return row_needs_use(&needs, p->w) || writer_row_data(p->w, row) ? -1 : 0;
}

static int perf_script_write_row(struct perf_script *p)
{
	return p->line.is_error ? branch_take_error(p)
	       : p->branch.kind ? branch_take(p)
				: perf_script_write_sample(p);
}

/* --- the decoder --- */

static int script_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct perf_script *p = in->state;
	uint64_t samples = 0;
	struct text_span line;
	struct sample_line l;
	int got;

	fact_text(facts, "format", "perf-script");
	while ((got = next_line(p, &line, e)) > 0)
		samples += is_content(line) && sample_line_parse(line, &l) && !l.is_record &&
			   !l.is_error;
	fact_number(facts, "samples", samples);
	return got;
}

/* Look for a branch in the first lines. */
static int script_look_ahead(struct perf_script *p, struct error *e)
{
	struct input_lines *lines = &p->lines;
	struct text_span rest;

	if (p->input->file.live)
		return 0;
	if (input_lines_fill(lines, p->input, LOOK_AHEAD, e))
		return -1;
	rest = span_of(&lines->data);
	rest.at += lines->begin;
	while (!p->has_branches && rest.at < rest.end) {
		const char *end = memchr(rest.at, '\n', span_size(rest));
		struct text_span line = {rest.at, end ? end : rest.end};
		struct sample_line l;
		struct branch_line b;

		rest.at = line.end + 1;
		p->has_branches = *line.at != '\t' && is_content(line) &&
				  sample_line_parse(line, &l) && !l.is_record && !l.is_error &&
				  branch_line_parse(l.text, &b);
	}
	return 0;
}

static int script_begin(struct input *in, struct error *e)
{
	struct perf_script *p = in->state;
	int got = script_look_ahead(p, e) ? -1 : next_header(p, e);

	if (got < 0)
		return -1;
	if (got)
		sample_line_parse(span_of(&p->header), &p->line);
	else
		input_damage(in, in->name, NO_OFFSET, "the text has no sample");
	p->timed = got && p->line.has_time;
	in->clock_name = "perf";
	if (!p->timed)
		merge_count_rows(in, "samples");
	if (merge_choose_clock(in, e))
		return -1;
	p->source = writer_source(p->w, &(struct source_entry){writer_text(p->w, "perf-script"),
							       writer_text(p->w, in->name), 0, 0});
	p->clock = input_declare_clock(in, false);
	if (!p->source || !p->clock)
		return error_no_memory(e);
	if (script_advance(p, e))
		return -1;
	return in->next == UINT64_MAX ? 0 : merge_first(in, p->timed ? p->line.time : 1, e);
}

static int script_run(struct input *in, uint64_t until, struct error *e)
{
	struct perf_script *p = in->state;

	while (in->next <= until && in->next != UINT64_MAX)
		if (perf_script_write_row(p) || script_advance(p, e))
			return -1;
	return 0;
}

static void script_close(struct input *in)
{
	struct perf_script *p = in->state;

	if (!p)
		return;
	if (!in->decoding->quiet)
		warn_count(in->name, p->strange - (p->strange > 0),
			   "more {line is|lines are} neither a sample nor a frame");
	if (!in->decoding->quiet && p->deep)
		warn(in->name, NO_OFFSET,
		     "%" PRIu64 " calls are left out: a thread has more than %d open calls",
		     p->deep, STACK_MOST);
	input_lines_free(&p->lines);
	buffer_free(&p->header);
	buffer_free(&p->present);
	buffer_free(&p->frame);
	buffer_free(&p->name);
	buffer_free(&p->text);
	id_cache_free(&p->lanes);
	id_cache_free(&p->types);
	id_cache_free(&p->frames);
	id_cache_free(&p->spaces);
	id_cache_free(&p->places);
	id_cache_free(&p->functions);
	key_map_free(&p->stack_numbers);
	for (size_t i = 0; i < p->nstacks; i++)
		free(p->stacks[i].frames);
	free(p->stacks);
	free(p->place);
	free(p);
	in->state = NULL;
}

const struct decoder decoder_perf_script = {
	.name = "perf-script",
	.probe = script_probe,
	.open = script_open,
	.info = script_info,
	.begin = script_begin,
	.run = script_run,
	.close = script_close,
};
