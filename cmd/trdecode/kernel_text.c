/*
 * kernel_text.c - the text of ftrace: lines of the kernel's trace
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trdecode/input.h"
#include "cmd/trdecode/kernel_text.h"
#include "common/stream/value.h"

/* Set the thread of a CPU. */
static int ftrace_cpu_thread(struct ftrace *f, const struct ftrace_line *l)
{
	struct text_cpu *cpu = ftrace_cpu(f, l->cpu);
	uint32_t comm = intern(&f->names, l->comm.at, span_size(l->comm));

	if (!cpu || comm == INTERN_NONE)
		return -1;
	cpu->tid = l->tid;
	cpu->comm = comm + 1;
	return 0;
}

/* Find the first threads of CPUs in the text that was read ahead. */
static int ftrace_first_threads(struct ftrace *f)
{
	const struct buffer *data = &f->lines.data;
	const char *first, *arrow, *newline;
	struct text_span text;

	if (!data->size)
		return 0;
	first = (const char *)data->data + f->lines.begin;
	text = (struct text_span){first, (const char *)data->data + data->size};
	if (!span_find(text, "# tracer: function_graph"))
		return 0;
	for (; (arrow = span_find(text, " =>")); text.at = newline) {
		struct ftrace_line l, before;
		struct text_span line = {arrow, NULL};
		struct text_cpu *cpu;

		newline = memchr(arrow, '\n', (size_t)(text.end - arrow));
		newline = newline ? newline : text.end;
		line.end = newline;
		while (line.at > first && line.at[-1] != '\n' && arrow - line.at < LINE_HEAD_MOST)
			line.at--;
		ftrace_line_parse(line, &l);
		if (l.kind != LINE_SWITCH)
			continue;
		before = l;
		cpu = ftrace_cpu(f, l.cpu);
		if (!cpu ||
		    (cpu->tid < 0 && ftrace_task(l.text, &before) && ftrace_cpu_thread(f, &before)))
			return -1;
	}
	return 0;
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

/* Return the begin of a comm that ends at `minus`, in the text after an event. */
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
	text = kernel_line_span_trim(text);
	name = ftrace_take_name(&text);
	if (name.at == name.end)
		return span_find_rare(text, " <-", 1) || span_ends(text, "stack trace>") ||
		       ftrace_cut_name(f, text);
	return !ftrace_is_mark(name) && !kernel_line_span_is(name, "console") &&
	       !kernel_line_span_is(name, "bpf_trace_printk");
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
	struct text_span s = kernel_line_span_trim(f->line.text);
	struct ftrace_line second = {.tid = -1, .cpu = -1, .clock = LINE_NO_TIME, .indent = 2};
	const char *end = memchr(s.at, ';', span_size(s)), *brace;

	brace = s.at < s.end && *s.at == '}'
			? s.at
			: memchr(s.at, '{', (size_t)((end ? end : s.end) - s.at));
	end = brace ? brace : end;
	if (!end || end + 1 == s.end)
		return NULL;
	s.at = span_skip_blanks(end + 1, s.end);
	if (kernel_line_span_begins(s, "/*"))
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
	f->rest.text = (struct text_span){begin, f->whole.end};
	f->rest.offset = f->offset + (uint64_t)(begin - f->whole.at);
	f->whole.end = begin;
	l->text.end = kernel_line_span_trim((struct text_span){l->text.at, begin}).end;
	ftrace_trim_page(&l->text);
	input_damage(f->input, f->input->name, f->rest.offset, "a second event in a line");
}

/*
 * The marks that relate the trace's clock to others.
 *
 *     trace_event_clock_sync: realtime_ts=MS       CLOCK_REALTIME, milliseconds
 *     trace_event_clock_sync: parent_ts=SECONDS    CLOCK_MONOTONIC
 *
 * atrace writes both when it begins, so only the first bytes of a file are looked at. It computes
 * SECONDS as a float of 32 bits, so the mark is wrong by up to 0.1 s after some weeks.
 *
 * Source: Android's atrace.cpp, and ftrace_importer.html of catapult.
 */

enum { CLOCK_SYNC_BYTES = 1 << 20, PARENT_TOLERANCE = 100000000 /* ns */ };

static const char sync_word[] = "trace_event_clock_sync: ";

/* Take the facts of a line with a mark at `at`. */
static void kernel_text_take_sync(struct ftrace *f, struct text_span line, const char *at)
{
	struct text_span text = {at + sizeof sync_word - 1, line.end};
	struct input *in = f->input;
	struct ftrace_line l;
	uint64_t number;

	ftrace_line_parse(line, &l);
	if (l.kind != LINE_EVENT || l.clock != LINE_SECONDS)
		return;
	text = kernel_line_span_trim(text);
	if (kernel_line_span_begins(text, "realtime_ts=")) {
		text.at += 12;
		if (in->has_wall || ftrace_digits(text.at, text.end, &number) != text.end ||
		    !number || number >= TIME_LIMIT / 1000000)
			return;
		in->has_wall = true;
		in->wall = (int64_t)(number * 1000000) - (int64_t)l.time;
	} else if (kernel_line_span_begins(text, "parent_ts=")) {
		text.at += 10;
		if (!ftrace_seconds(text, &number) || !number)
			return;
		if ((number > l.time ? number - l.time : l.time - number) <= PARENT_TOLERANCE)
			in->clock_name = "monotonic";
	}
}

/* Find the wall time of the trace's clock. */
static int ftrace_clock_sync(struct ftrace *f, struct error *e)
{
	const struct input *in = f->input;
	const char *at, *end;

	/* not of a live trace */
	if (!f->packed && !in->packed && !input_is_file(in->fd))
		return 0;
	if (input_lines_fill(&f->lines, in, CLOCK_SYNC_BYTES, e))
		return -1;
	at = (const char *)f->lines.data.data + f->lines.begin;
	end = (const char *)f->lines.data.data + f->lines.data.size;
	while (at && at < end &&
	       (at = memmem(at, (size_t)(end - at), sync_word, sizeof sync_word - 1))) {
		const char *begin = at, *first = (const char *)f->lines.data.data;
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct text_span line = {at, newline ? newline : end};

		while (begin > first && begin[-1] != '\n' && at - begin < LINE_HEAD_MOST)
			begin--;
		line.at = begin;
		line.end -= span_ends(line, "\\n\\") ? 3 : span_ends(line, "\r") ? 1 : 0;
		kernel_text_take_sync(f, line, at);
		at = newline;
	}
	return 0;
}

/*
 * The lines of the tracer blk.
 *
 *     MAJOR,MINOR [CGROUP] ACTION RWBS TEXT
 *     MAJOR,MINOR CPU SECONDS.NANOSECONDS PID ACTION RWBS TEXT        (option blk_classic)
 *
 * The first form follows the thread and the time. ACTION is a letter or two, with the option
 * verbose a word. The type is blk_WORD. kernel_line.c has the texts.
 *
 * Source: kernel/trace/blktrace.c of Linux.
 */

static const struct blk_action {
	const char *letters, *type;
} actions[] = {
	{"Q", "blk_queue"},	{"M", "blk_backmerge"},	    {"F", "blk_frontmerge"},
	{"G", "blk_getrq"},	{"S", "blk_sleeprq"},	    {"R", "blk_requeue"},
	{"D", "blk_issue"},	{"C", "blk_complete"},	    {"P", "blk_plug"},
	{"U", "blk_unplug_io"}, {"UT", "blk_unplug_timer"}, {"I", "blk_insert"},
	{"X", "blk_split"},	{"A", "blk_remap"},	    {"m", "blk_message"},
};

/* Get the type of an ACTION. NULL: it is none. */
static const char *kernel_text_type_of(struct text_span word)
{
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		if (kernel_line_span_is(word, actions[i].letters) ||
		    kernel_line_span_is(word, actions[i].type + 4))
			return actions[i].type;
	return NULL;
}

static bool is_rwbs(struct text_span word)
{
	size_t n = span_size(word);

	for (const char *p = word.at; p < word.end; p++)
		if (*p < 'A' || *p > 'Z')
			return false;
	return n && n < 10;
}

static bool is_device(struct text_span word)
{
	uint64_t number;
	const char *p = ftrace_digits(word.at, word.end, &number), *second = p + 1;

	return p > word.at && p < word.end && *p == ',' && second < word.end &&
	       ftrace_digits(second, word.end, &number) == word.end;
}

bool ftrace_blk_line(struct text_span s, struct ftrace_line *l)
{
	struct text_span rest = s, device = span_take_word(&rest), cpu, time, pid, action;
	uint64_t cpu_number, pid_number;

	if (!is_device(device))
		return false;
	cpu = span_take_word(&rest);
	time = span_take_word(&rest);
	pid = span_take_word(&rest);
	action = span_take_word(&rest);
	if (ftrace_digits(cpu.at, cpu.end, &cpu_number) != cpu.end || cpu.at == cpu.end ||
	    cpu_number > LINE_CPU_MOST || span_size(time) < 11 || time.end[-10] != '.' ||
	    !ftrace_seconds(time, &l->time) || pid.at == pid.end ||
	    ftrace_digits(pid.at, pid.end, &pid_number) != pid.end || pid_number > INT32_MAX ||
	    !kernel_text_type_of(action) || !is_rwbs(span_take_word(&rest)))
		return false;
	l->clock = LINE_SECONDS;
	l->cpu = (int32_t)cpu_number;
	l->tid = (int32_t)pid_number;
	l->text = s;
	return true;
}

int ftrace_blk(struct ftrace *f, const struct ftrace_line *l, bool *done)
{
	struct text_span s = l->text, device = span_take_word(&s), word = span_take_word(&s);
	struct text_span cgroup = {s.at, s.at}, rwbs;
	const char *type;

	if (l->form == LINE_BLK) {
		span_take_word(&s);
		span_take_word(&s);
		word = span_take_word(&s);
	} else if (!kernel_text_type_of(word)) {
		cgroup = word;
		word = span_take_word(&s);
	}
	type = kernel_text_type_of(word);
	rwbs = span_take_word(&s);
	f->nvalues = 0;
	if (!type || !is_rwbs(rwbs) || !ftrace_form_values(f, SPAN("blk"), device))
		return 0;
	if (cgroup.at < cgroup.end)
		ftrace_value_add(f, "cgroup", cgroup, false);
	ftrace_value_add(f, "rwbs", rwbs, false);
	word = (struct text_span){type, type + strlen(type)};
	if (!ftrace_form_values(f, word, kernel_line_span_trim(s)))
		return 0;
	*done = true;
	return ftrace_typed(f, word, NULL);
}

/*
 * The lines of the tracer mmiotrace, which have no threads.
 *
 *     R|W WIDTH TIME MAP PHYS VALUE PC PID
 *     MAP TIME MAP PHYS VIRT LEN PC PID
 *     UNMAP TIME MAP PC PID
 *     MARK TIME TEXT
 *
 * TIME is seconds with six digits after the point. PID is always 0. Lines VERSION and PCIDEV are
 * before the first event. The types have the names and the fields of the events in trace.dat.
 *
 * Source: Documentation/trace/mmiotrace.rst and kernel/trace/trace_mmiotrace.c of Linux.
 */

enum { MMIO_WORDS = 7 };

static const struct mmio_form {
	const char *word, *type,
		*keys[MMIO_WORDS]; /* keys of the words after TIME; NULL: ignored */
	unsigned nwords;
} mmio_forms[] = {
	{"R ", "mmiotrace_rw", {"map_id", "phys", "value", "pc", NULL}, 5},
	{"W ", "mmiotrace_rw", {"map_id", "phys", "value", "pc", NULL}, 5},
	{"MAP ", "mmiotrace_map", {"map_id", "phys", "virt", "len", NULL, NULL}, 6},
	{"UNMAP ", "mmiotrace_map", {"map_id", NULL, NULL}, 3},
	{"MARK ", "print", {NULL}, 0},
};

static const struct mmio_form *kernel_text_form_of(struct text_span s)
{
	for (size_t i = 0; i < sizeof mmio_forms / sizeof *mmio_forms; i++)
		if (kernel_line_span_begins(s, mmio_forms[i].word))
			return &mmio_forms[i];
	return NULL;
}

bool ftrace_mmio_line(struct text_span s, struct ftrace_line *l)
{
	const struct mmio_form *form = kernel_text_form_of(s);
	struct text_span rest, word;
	uint8_t kind;
	uint64_t number;

	if (!form)
		return false;
	rest = (struct text_span){s.at + strlen(form->word), s.end};
	if (form->word[1] == ' ') {
		word = span_take_word(&rest);
		if (span_size(word) != 1 || !strchr("1248", *word.at))
			return false;
	}
	word = span_take_word(&rest);
	if (!ftrace_seconds(word, &l->time))
		return false;
	l->clock = LINE_SECONDS;
	l->text = s;
	for (unsigned i = 0; i < form->nwords; i++) {
		word = span_take_word(&rest);
		if (!ftrace_number(word, &kind, &number))
			return false;
	}
	return !form->nwords || !span_size(kernel_line_span_trim(rest));
}

int ftrace_mmio(struct ftrace *f, struct text_span text)
{
	const struct mmio_form *form = kernel_text_form_of(text);
	struct text_span rest = {text.at + strlen(form->word), text.end}, word;
	struct text_span name = {form->type, form->type + strlen(form->type)};

	f->nvalues = 0;
	ftrace_value_add(f, "opcode",
			 (struct text_span){form->word, rest.at - 1 - text.at + form->word}, false);
	if (form->word[1] == ' ')
		ftrace_value_add(f, "width", span_take_word(&rest), true);
	span_take_word(&rest);
	for (unsigned i = 0; i < form->nwords; i++) {
		word = span_take_word(&rest);
		if (form->keys[i])
			ftrace_value_add(f, form->keys[i], word, true);
	}
	if (!form->nwords) {
		f->nvalues = 0;
		ftrace_value_add(f, "message", kernel_line_span_trim(rest), false);
	}
	return ftrace_typed(f, name, NULL);
}

/*
 * The texts of the tracers function and function_graph.
 *
 *     NAME [MODULE](ARGUMENTS) {  or ;   the begin of a call, or a whole one
 *     }                                  the end of a call
 *     comments after these: <-CALLER, ret=VALUE, = VALUE, the name of the function that ends
 *     a comment alone: another event
 *     NAME <-CALLER                      a call that function recorded
 */

struct kernel_graph_call {
	struct text_span name, arguments, parent, result;
	bool begins, ends; /* both: a whole call */
	uint32_t depth;
};

/* --- the text of a call --- */

/* Read the words of a comment: "<-CALLER", "ret=VALUE", "= VALUE", or the name of the function that
 * ends, with "[MODULE]". */
static void read_comment(struct text_span s, struct kernel_graph_call *c)
{
	s = kernel_line_span_trim(s);
	while (s.at < s.end) {
		const char *blank = memchr(s.at, ' ', span_size(s));
		struct text_span word = {s.at, blank ? blank : s.end};

		s = kernel_line_span_trim((struct text_span){word.end, s.end});
		if (kernel_line_span_begins(word, "<-"))
			c->parent = (struct text_span){word.at + 2, word.end};
		else if (kernel_line_span_begins(word, "ret="))
			c->result = (struct text_span){word.at + 4, word.end};
		else if (c->ends && !c->begins && c->name.at == c->name.end &&
			 !kernel_line_span_is(word, "="))
			c->name = word;
		else if (c->name.end + 1 == word.at && *word.at == '[')
			c->name.end = word.end;
		else if (kernel_line_span_is(word, "=") && s.at < s.end) {
			c->result = s;
			return;
		}
	}
}

/* Take off " (DEPTH)", which trace-cmd report -O depth prints after the call. */
static struct text_span drop_depth(struct text_span s)
{
	const char *p = s.end - 1;

	if (!span_ends(s, ")"))
		return s;
	while (p > s.at && p[-1] >= '0' && p[-1] <= '9')
		p--;
	if (p == s.end - 1 || p - s.at < 3 || p[-1] != '(' || p[-2] != ' ' ||
	    !strchr("{};/", p[-3]))
		return s;
	return (struct text_span){s.at, p - 2};
}

/* Take "NAME(ARGUMENTS)" and what follows apart. */
static bool kernel_text_read_call(struct text_span s, struct kernel_graph_call *c)
{
	struct text_span comment = {span_find_rare(s, "/*", 0), s.end};
	const char *open, *close;

	*c = (struct kernel_graph_call){.name = {s.at, s.at}};
	if (comment.at) {
		s.end = comment.at;
		comment.at += 2;
		comment.end -= span_ends(comment, "*/") ? 2 : 0;
		s = kernel_line_span_trim(s);
	}
	if (kernel_line_span_begins(s, "}")) {
		c->ends = true;
	} else {
		c->begins = true;
		c->ends = span_ends(s, ";");
		if (!c->ends && !span_ends(s, "{"))
			return false;
		s.end--;
		s = kernel_line_span_trim(s);
		open = memchr(s.at, '(', span_size(s));
		close = s.end - 1;
		if (!open || open == s.at || *close != ')')
			return false;
		c->name = kernel_line_span_trim((struct text_span){s.at, open});
		c->arguments = kernel_line_span_trim((struct text_span){open + 1, close});
	}
	if (comment.at)
		read_comment(comment, c);
	return true;
}

/* --- values --- */

static int kernel_text_put_value(struct buffer *b, struct text_span s)
{
	uint64_t number;
	uint8_t kind, bytes[8];

	if (kernel_line_span_is(s, "true") || kernel_line_span_is(s, "false"))
		return value_put_simple(b,
					kernel_line_span_is(s, "true") ? VALUE_TRUE : VALUE_FALSE);
	if (span_size(s) > 1 && *s.at == '"' && s.end[-1] == '"')
		return value_put_bytes(b, VALUE_STRING, s.at + 1, span_size(s) - 2);
	if (!ftrace_number(s, &kind, &number))
		return value_put_bytes(b, VALUE_STRING, s.at, span_size(s));
	if (kind == FIELD_HEX) {
		put_u64(bytes, number);
		return value_put_number(b, 'x', bytes, sizeof bytes);
	}
	return value_put_uint(b, kind == FIELD_INT ? VALUE_NEGATIVE : VALUE_UINT,
			      kind == FIELD_INT ? -number : number);
}

static int kernel_text_put_arguments(struct buffer *b, struct text_span s)
{
	uint64_t index = 0;
	const char *comma, *equal;

	for (; s.at < s.end && index < FTRACE_ARGUMENTS_MOST; s.at = comma ? comma + 2 : s.end) {
		struct text_span one = {s.at, s.end};

		comma = span_find(s, ", ");
		one.end = comma ? comma : s.end;
		equal = memchr(one.at, '=', span_size(one));
		if (equal)
			one.at = equal + 1;
		if (value_put_detail(b, DETAIL_ARGUMENT, ++index) || kernel_text_put_value(b, one))
			return -1;
	}
	return 0;
}

/* --- rows --- */

/* Keep the location of an open call; 0: it is unknown. */
static int open_call(struct ftrace_thread *t, uint32_t depth, uint32_t location)
{
	if (depth >= FTRACE_FRAMES_MOST)
		return 0;
	for (; t->nframes <= depth; t->nframes++) {
		if (ARRAY_GROW(t->frames, t->frames_capacity, t->nframes))
			return -1;
		t->frames[t->nframes] = 0;
	}
	t->frames[depth] = location;
	t->nframes = depth + 1;
	return 0;
}

static uint32_t close_call(struct ftrace_thread *t, uint32_t depth)
{
	uint32_t location = depth < t->nframes ? t->frames[depth] : 0;

	if (depth < t->nframes)
		t->nframes = depth;
	return location;
}

/* Return the type of an enter or a leave. parent: it has the stack of its caller. */
static uint32_t call_type(struct ftrace *f, bool enter, bool values, bool parent)
{
	struct field_entry stack = {.name = parent ? writer_text(f->w, "parent") : 0,
				    .kind = FIELD_UINT,
				    .role = ROLE_STACK,
				    .where = WHERE_FIXED,
				    .size = 4};
	struct type_entry e = {
		.kind = enter ? KIND_ENTER : KIND_LEAVE,
		.flags = (uint16_t)(TYPE_DEPTH | (values ? TYPE_TAIL | TYPE_VALUES : 0)),
		.fixed_size = parent ? 4 : 0,
		.nfields = parent,
		.fields = &stack};

	return ftrace_plain_type(f, enter ? "funcgraph_entry" : "funcgraph_exit", &e);
}

/* Add the return value to a tail. */
static int kernel_text_put_result(struct buffer *b, const struct kernel_graph_call *c)
{
	if (c->result.at == c->result.end)
		return 0;
	return value_put_detail(b, DETAIL_RETURN, 0) || kernel_text_put_value(b, c->result) ? -1
											    : 0;
}

static int leave_row(struct ftrace *f, const struct kernel_graph_call *c, struct ftrace_thread *t)
{
	struct ftrace_row *r = &f->row;
	struct text_span none = {c->name.at, c->name.at};

	r->depth = c->depth;
	r->location = close_call(t, c->depth);
	/* the name is that of the call which ends, though another one may be open */
	if (c->name.at < c->name.end || !r->location)
		r->location = ftrace_function_location(
			f, c->name.at < c->name.end ? c->name : SPAN("?"), none);
	if (!r->location)
		return -1;
	if (kernel_text_put_result(&r->tail, c))
		return -1;
	r->has_tail = r->tail.size > 0;
	r->type = call_type(f, false, r->has_tail, false);
	return r->type ? 0 : -1;
}

/* Keep the leave of a call of one line. */
static int leaf(struct ftrace *f, const struct ftrace_line *l, const struct kernel_graph_call *c,
		uint64_t duration)
{
	struct ftrace_leave *leave = f->leave = calloc(1, sizeof *leave);

	if (!leave)
		return -1;
	*leave = (struct ftrace_leave){.time = merge_shifted(l->time, f->input->shift) +
					       (duration == UINT64_MAX ? 0 : duration),
				       .lane = f->row.lane,
				       .location = f->row.location,
				       .depth = c->depth,
				       .cpu = l->cpu};
	if (kernel_text_put_result(&leave->tail, c))
		return -1;
	leave->type = call_type(f, false, leave->tail.size > 0, false);
	return leave->type ? 0 : -1;
}

static int enter_row(struct ftrace *f, const struct ftrace_line *l,
		     const struct kernel_graph_call *c, struct ftrace_thread *t, uint64_t duration)
{
	struct ftrace_row *r = &f->row;
	bool parent = c->parent.at < c->parent.end;
	uint8_t id[4];

	r->depth = c->depth;
	r->location = ftrace_function_location(f, c->name, c->arguments);
	if (!r->location || kernel_text_put_arguments(&r->tail, c->arguments))
		return -1;
	r->has_tail = r->tail.size > 0;
	r->type = call_type(f, true, r->has_tail, parent);
	if (!r->type)
		return -1;
	if (parent) {
		uint32_t frame = ftrace_frame(f, c->parent);

		r->stack = frame ? writer_stack(f->w, 0, frame) : 0;
		put_u32(id, r->stack);
		if (!r->stack || buffer_append(&r->fixed, id, sizeof id))
			return -1;
	}
	if (!c->ends)
		return open_call(t, c->depth, r->location);
	close_call(t, c->depth);
	return leaf(f, l, c, duration);
}

/* Advance the time of a CPU whose lines have none. */
static int graph_advance(struct text_cpu *cpu, const struct kernel_graph_call *c, uint64_t duration)
{
	uint64_t known = duration == UINT64_MAX ? 0 : duration;

	if (c->begins && c->ends) {
		cpu->now += known;
	} else if (c->begins) {
		if (c->depth >= FTRACE_FRAMES_MOST)
			return 0;
		for (; cpu->nbegan <= c->depth; cpu->nbegan++) {
			if (ARRAY_GROW(cpu->began, cpu->capacity, cpu->nbegan))
				return -1;
			cpu->began[cpu->nbegan] = cpu->now;
		}
		cpu->began[c->depth] = cpu->now;
		cpu->nbegan = c->depth + 1;
	} else if (c->depth < cpu->nbegan) {
		cpu->nbegan = c->depth;
		if (cpu->began[c->depth] + known > cpu->now)
			cpu->now = cpu->began[c->depth] + known;
	} else {
		cpu->now += known;
	}
	if (cpu->now >= TIME_LIMIT)
		cpu->now = TIME_LIMIT - 1;
	return 0;
}

int ftrace_graph(struct ftrace *f, const struct ftrace_line *l, struct text_span call,
		 uint64_t duration)
{
	struct text_span s = drop_depth(kernel_line_span_trim(call));
	size_t blanks = (size_t)(s.at - call.at);
	struct ftrace_lane *lane = ftrace_lane(f, l);
	struct ftrace_thread *t;
	struct kernel_graph_call c;

	if (!lane)
		return -1;
	t = &f->declared.thread[lane->thread];
	if (kernel_line_span_begins(s, "/*") && span_ends(s, "*/") && span_size(s) >= 4) {
		struct ftrace_line event = *l;

		event.text = kernel_line_span_trim((struct text_span){s.at + 2, s.end - 2});
		return ftrace_text(f, &event);
	}
	f->seen.call = true;
	if (!kernel_text_read_call(s, &c)) {
		f->has_row = false;
		if (!kernel_line_span_begins(s, "==") && !kernel_line_span_begins(s, "<=="))
			ftrace_strange(f);
		return 0;
	}
	c.depth = blanks > l->indent ? (uint32_t)(blanks - l->indent) / 2 : 0;
	if (c.depth > UINT16_MAX)
		c.depth = UINT16_MAX;
	if (c.begins ? enter_row(f, l, &c, t, duration) : leave_row(f, &c, t))
		return -1;
	if (l->clock == LINE_NO_TIME) {
		struct text_cpu *cpu = ftrace_cpu(f, l->cpu);

		if (!cpu || graph_advance(cpu, &c, duration))
			return -1;
		/* a leave is at the end of its duration */
		if (!c.begins)
			f->row.time = merge_shifted(cpu->now, f->input->shift);
	}
	return 0;
}

/* Read "--> NAME (DEPTH)" and "<-- NAME (DEPTH) (start: ...", which -N prints. */
static bool read_arrow(struct text_span text, struct kernel_graph_call *c)
{
	const char *open;
	uint64_t depth;

	if (!kernel_line_span_begins(text, "--> ") && !kernel_line_span_begins(text, "<-- "))
		return false;
	text.at += 4;
	open = span_find(text, " (");
	if (!open || ftrace_digits(open + 2, text.end, &depth) == open + 2 || depth > UINT16_MAX)
		return false;
	c->name = (struct text_span){text.at, open};
	c->depth = (uint32_t)depth;
	return true;
}

/* Take "func" and "depth" out of values. */
static bool take_raw(struct ftrace *f, struct kernel_graph_call *c)
{
	bool func = false, depth = false;
	size_t n = 0;

	for (size_t i = 0; i < f->nvalues; i++) {
		struct ftrace_value v = f->values[i];

		if (kernel_line_span_is(v.key, "func")) {
			c->name = v.text;
			func = v.text.at < v.text.end;
		} else if (kernel_line_span_is(v.key, "depth") && v.kind == FIELD_UINT &&
			   v.number <= UINT16_MAX) {
			c->depth = (uint32_t)v.number;
			depth = true;
		} else {
			f->values[n++] = v;
		}
	}
	f->nvalues = n;
	return func && depth;
}

int ftrace_graph_raw(struct ftrace *f, const struct ftrace_line *l, struct text_span name,
		     struct text_span text, bool *done)
{
	bool enter = kernel_line_span_is(name, "funcgraph_entry");
	struct kernel_graph_call c = {.begins = enter, .ends = !enter};
	struct type_entry like = {.kind = enter ? KIND_ENTER : KIND_LEAVE,
				  .flags = TYPE_DEPTH,
				  .group = f->declared.group};
	struct ftrace_lane *lane = ftrace_lane(f, l);
	struct ftrace_thread *t;
	struct text_span none = {text.at, text.at};
	bool arrow;

	f->nvalues = 0;
	*done = arrow = read_arrow(text, &c);
	if (!*done) {
		ftrace_split(f, text);
		*done = take_raw(f, &c);
	}
	if (!*done)
		return 0;
	*done = false; /* until all is */
	if (!lane)
		return -1;
	t = &f->declared.thread[lane->thread];
	f->row.location = ftrace_function_location(f, c.name, none);
	f->row.depth = c.depth;
	if (!f->row.location ||
	    (arrow ? ftrace_typed(f, name, &like) : ftrace_keyed(f, name, &like)))
		return -1;
	f->seen.call = true;
	if (enter && open_call(t, c.depth, f->row.location))
		return -1;
	if (!enter)
		close_call(t, c.depth);
	*done = true;
	return 0;
}

int ftrace_function(struct ftrace *f, struct text_span text)
{
	const char *arrow = span_find_rare(text, " <-", 1), *open;
	struct text_span parent = {text.end, text.end}, function = text, arguments = parent;

	if (arrow) {
		f->seen.parent = true;
		function.end = arrow;
		parent.at = arrow + 3;
		parent.at += parent.at < text.end && *parent.at == '-';
		parent = kernel_line_span_trim(parent);
	}
	function = kernel_line_span_trim(function);
	if (function.at == function.end ||
	    (!arrow && f->seen.parent && !kernel_line_span_begins(function, "ip="))) {
		ftrace_cut_damage(f, f->offset);
		return 0;
	}
	/* -R prints ip=NAME parent_ip=NAME */
	f->nvalues = 0;
	if (kernel_line_span_begins(function, "ip=")) {
		ftrace_split(f, text);
		if (f->nvalues && f->values[0].text.at < f->values[0].text.end)
			function = f->values[0].text;
	} else if (parent.at < parent.end) {
		ftrace_value_add(f, "parent_ip", parent, false);
	}
	open = memchr(function.at, '(', span_size(function));
	if (open && open > function.at && function.end[-1] == ')') {
		arguments = (struct text_span){open + 1, function.end - 1};
		function.end = open;
		if (arguments.at < arguments.end)
			ftrace_value_add(f, "arguments", arguments, false);
	}
	if (function.at < function.end) {
		f->row.location = ftrace_function_location(f, function,
							   (struct text_span){text.end, text.end});
		if (!f->row.location)
			return -1;
	}
	if (ftrace_typed(f, SPAN("function"),
			 &(struct type_entry){.kind = KIND_INSTANT, .group = f->declared.group}))
		return -1;
	f->row.instant_text = false;
	return 0;
}

/* --- lanes and locations of kernel text, and the order of its rows --- */

static bool kernel_text_is_name(const struct ftrace *f, uint32_t name, struct text_span s)
{
	return intern_size(&f->names, name) == span_size(s) &&
	       !memcmp(intern_data(&f->names, name), s.at, span_size(s));
}

/* Get the number of the thread of a lane; UINT32_MAX: out of memory. */
static uint32_t kernel_text_thread_of(struct ftrace *f, const struct ftrace_lane *lane)
{
	struct ftrace_declared *d = &f->declared;
	struct {
		uint32_t instance;
		int32_t tid, cpu;
	} key = {lane->instance, lane->tid, lane->tid > 0 ? -1 : lane->cpu};
	uint32_t *number = id_cache_number(&d->threads, &key, sizeof key);

	if (!number)
		return UINT32_MAX;
	if (!*number) {
		if (ARRAY_GROW(d->thread, d->threads_capacity, d->nthreads))
			return UINT32_MAX;
		d->thread[d->nthreads++] = (struct ftrace_thread){0};
		*number = (uint32_t)d->nthreads;
	}
	return *number - 1;
}

/* Declare a lane, or find it. */
static int kernel_text_find_lane(struct ftrace *f, struct ftrace_lane *lane,
				 const struct ftrace_line *l)
{
	struct ftrace_declared *d = &f->declared;
	struct {
		int32_t cpu, tid, tgid;
		uint32_t comm, instance;
	} key;
	uint32_t *id;

	lane->cpu = l->cpu;
	lane->tid = l->tid;
	lane->tgid = l->tgid;
	lane->comm = intern(&f->names, l->comm.at, span_size(l->comm));
	lane->instance = intern(&f->names, l->instance.at, span_size(l->instance));
	if (lane->comm == INTERN_NONE || lane->instance == INTERN_NONE)
		return -1;
	key.cpu = l->cpu;
	key.tid = l->tid;
	key.tgid = l->tgid;
	key.comm = lane->comm;
	key.instance = lane->instance;
	id = id_cache_number(&d->lanes, &key, sizeof key);
	if (!id)
		return -1;
	if (!*id) {
		struct lane_entry e = {
			.source = d->source,
			.clock = d->clock,
			.buffer = writer_string(f->w, l->instance.at, span_size(l->instance)),
			.comm = writer_string(f->w, l->comm.at, span_size(l->comm)),
			.flags = (l->cpu >= 0 ? LANE_HAS_CPU : 0) |
				 (l->tid >= 0 ? LANE_HAS_TID : 0) |
				 (l->tgid >= 0 ? LANE_HAS_PID : 0),
			.cpu = l->cpu,
			.tid = l->tid,
			.pid = l->tgid,
			.ppid = -1};

		*id = writer_lane(f->w, &e);
	}
	lane->lane = *id;
	lane->thread = kernel_text_thread_of(f, lane);
	return lane->lane && lane->thread != UINT32_MAX ? 0 : -1;
}

struct ftrace_lane *ftrace_lane(struct ftrace *f, const struct ftrace_line *l)
{
	uint32_t slot = ((uint32_t)l->tid * 31 + (uint32_t)l->cpu) % FTRACE_LANE_SLOTS;
	struct ftrace_lane *lane = &f->declared.recent[slot];

	/* without these lanes 'trdecode | trstat -g type' of the text of a trace.dat takes 1.16
	 * times the instructions */
	if (!lane->lane || lane->cpu != l->cpu || lane->tid != l->tid || lane->tgid != l->tgid ||
	    !kernel_text_is_name(f, lane->comm, l->comm) ||
	    !kernel_text_is_name(f, lane->instance, l->instance)) {
		lane->lane = 0;
		if (kernel_text_find_lane(f, lane, l))
			return NULL;
	}
	return lane;
}

uint32_t ftrace_location(struct ftrace *f, struct text_span name)
{
	/* apart from functions of the kernel */
	struct {
		const char *at;
		size_t n;
	} part = {name.at, span_size(name)};
	uint32_t number = intern(&f->names, part.at, part.n), *id;
	struct {
		char mark[2];
		uint16_t zero;
		uint32_t number;
	} key = {"|", 0, number};

	if (number == INTERN_NONE)
		return 0;
	id = id_cache_number(&f->declared.locations, &key, sizeof key);
	if (id && !*id)
		*id = writer_location(f->w, &(struct location_entry){
						    .name = writer_string(f->w, part.at, part.n)});
	return id ? *id : 0;
}

struct text_cpu *ftrace_cpu(struct ftrace *f, int32_t cpu)
{
	struct ftrace_declared *d = &f->declared;
	uint32_t *number = id_cache_number(&d->cpus, &cpu, sizeof cpu);

	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(d->cpu, d->cpus_capacity, d->ncpus))
			return NULL;
		d->cpu[d->ncpus++] = (struct text_cpu){.tid = -1};
		*number = (uint32_t)d->ncpus;
	}
	return &d->cpu[*number - 1];
}

/* Begin a row of the line's time and lane. */
static int ftrace_row_begin(struct ftrace *f, const struct ftrace_line *l)
{
	struct ftrace_lane *lane = ftrace_lane(f, l);
	struct ftrace_row *r = &f->row;

	if (!lane)
		return -1;
	r->time = merge_shifted(l->time, f->input->shift);
	r->lane = lane->lane;
	r->cpu = l->cpu;
	r->type = r->location = r->depth = r->stack = 0;
	r->has_tail = r->instant_text = r->fresh = r->odd = false;
	r->mark = r->goes_on = r->early = false;
	r->variant = 0;
	r->offset = f->offset;
	r->fixed.size = r->tail.size = 0;
	f->stack.wanted = false;
	f->has_row = true;
	return 0;
}

/* --- leaves that wait for their time --- */

static int leave_write(struct ftrace *f, struct ftrace_leave *leave, uint64_t time)
{
	return writer_row_data(f->w, (struct new_row){.time = time,
						      .lane = leave->lane,
						      .type = leave->type,
						      .location = leave->location,
						      .depth = leave->depth,
						      .tail = leave->tail.data,
						      .tail_size = (uint32_t)leave->tail.size,
						      .has_tail = leave->tail.size > 0});
}

static int leave_take(struct ftrace *f, size_t index, uint64_t time)
{
	struct ftrace_leave *leave = f->leaves[index];
	int failed = leave_write(f, leave, leave->time < time ? leave->time : time);

	memmove(f->leaves + index, f->leaves + index + 1,
		(--f->nleaves - index) * sizeof *f->leaves);
	buffer_free(&leave->tail);
	free(leave);
	return failed;
}

/* Keep the leave of the row until its time, or the next row of its CPU. */
static int ftrace_leave_later(struct ftrace *f)
{
	struct ftrace_leave *leave = f->leave;
	size_t at;

	if (!leave)
		return 0;
	if (f->nleaves == FTRACE_LEAVES_MOST && leave_take(f, 0, f->leaves[0]->time))
		return -1;
	/* by time */
	for (at = f->nleaves++; at && f->leaves[at - 1]->time > leave->time; at--)
		f->leaves[at] = f->leaves[at - 1];
	f->leaves[at] = leave;
	f->leave = NULL;
	return 0;
}

/* Return the time of the first leave that is kept; UINT64_MAX: there is none. */
static uint64_t ftrace_leaves_next(const struct ftrace *f)
{
	return f->nleaves ? f->leaves[0]->time : UINT64_MAX;
}

/* Write the leaves that come before a row of this time and CPU; UINT64_MAX: all. */
static int ftrace_leaves_write(struct ftrace *f, uint64_t time, int32_t cpu)
{
	while (f->nleaves && f->leaves[0]->time <= time)
		if (leave_take(f, 0, time))
			return -1;
	/* the next event of a CPU comes after the leave */
	for (size_t i = 0; i < f->nleaves && time != UINT64_MAX; i++)
		if (f->leaves[i]->cpu == cpu)
			return leave_take(f, i, time);
	return 0;
}

/* --- rows --- */

static int write_lost(struct ftrace *f, uint64_t time)
{
	struct gap g = {.reason = GAP_LOST,
			.unit = GAP_EVENTS,
			.count = f->lost.count,
			.offset = NO_OFFSET};
	struct lane_entry e = {.source = f->declared.source,
			       .clock = f->declared.clock,
			       .flags = LANE_HAS_CPU,
			       .cpu = f->lost.cpu,
			       .ppid = -1};
	uint32_t lane = writer_lane(f->w, &e);

	f->lost.count = 0;
	return lane ? writer_gap(f->w, time, lane, &g) : -1;
}

static int ftrace_row_write(struct ftrace *f)
{
	struct ftrace_row *r = &f->row;

	if (f->lost.count && write_lost(f, r->time))
		return -1;
	if (r->stack && writer_use_stack(f->w, r->stack))
		return -1;
	f->has_row = false;
	f->events++;
	return writer_row_data(f->w, (struct new_row){.time = r->time,
						      .lane = r->lane,
						      .type = r->type,
						      .location = r->location,
						      .depth = r->depth,
						      .fixed = r->fixed.data,
						      .fixed_size = (uint32_t)r->fixed.size,
						      .tail = r->tail.data,
						      .tail_size = (uint32_t)r->tail.size,
						      .has_tail = r->has_tail});
}

/* --- the decoder of the kernel's trace text: its lines in their order --- */

enum { PROBE_LINES = 200, LIVE_WAIT = 20 /* ms */ };

/* --- probe --- */

/* Test for a blank before "-1": in the text of perf script that is the thread -1. */
static bool is_thread_unknown(const struct ftrace_line *l)
{
	return l->tid == 1 && *l->comm.end == '-' && span_ends(l->comm, " ");
}

static enum bid ftrace_probe(const struct input *in)
{
	const char *at = (const char *)in->head, *end, *newline;
	bool forced = in->format && !strcmp(in->format, "ftrace"), binary = false;

	if (in->tree || !in->head_size)
		return BID_NONE;
	end = at + in->head_size;

	/* the attribute is of all pages that catapult makes */
	if (ftrace_is_page(at, in->head_size))
		return memmem(at, in->head_size, "Android System Trace", 20) ||
				       memmem(at, in->head_size, "trace-data", 10) ||
				       memmem(at, in->head_size, "viewer-data", 11) ||
				       memmem(at, in->head_size, "dir:textdirection", 17)
			       ? BID_LIKELY
			       : BID_NONE;
	if (ftrace_is_packed(at, in->head_size))
		return BID_LIKELY;
	for (unsigned n = 0; at < end && n < PROBE_LINES; n++) {
		struct ftrace_line l;
		struct text_span line = {at, end};

		/* of a long line only the begin may be there */
		newline = memchr(at, '\n', (size_t)(end - at));
		newline = newline ? newline : end;
		line.end = newline;
		binary |= memchr(at, '\0', span_size(line)) != NULL;
		if (binary && !forced)
			return BID_NONE;
		if (kernel_line_span_begins(line, "# tracer: "))
			return BID_LIKELY;
		ftrace_line_parse(line, &l);
		/* other texts may have bars */
		if ((l.kind == LINE_EVENT && !is_thread_unknown(&l)) ||
		    (l.kind == LINE_GRAPH && l.cpu >= 0))
			return BID_LIKELY;
		at = newline < end ? newline + 1 : end;
	}
	/* find_first reports what a text lacks */
	return forced && !binary ? BID_LIKELY : BID_NONE;
}

/* --- rows --- */

/* Give a line of function_graph the time and the thread that it lacks. */
static int complete_graph(struct ftrace *f)
{
	struct ftrace_line *l = &f->line;
	struct text_cpu *cpu;

	if (l->kind == LINE_SWITCH)
		return ftrace_cpu_thread(f, l);
	cpu = ftrace_cpu(f, l->cpu);
	if (!cpu)
		return -1;
	if (l->tid < 0 && cpu->tid >= 0) {
		const char *comm = intern_data(&f->names, cpu->comm - 1);

		l->tid = cpu->tid;
		l->comm = (struct text_span){comm, comm + intern_size(&f->names, cpu->comm - 1)};
	}
	if (l->clock == LINE_NO_TIME)
		l->time = cpu->now;
	return 0;
}

/* Make the row of the held line. */
static int kernel_text_convert(struct ftrace *f)
{
	struct ftrace_line l;
	enum line_clock clock;
	bool second;
	int failed;

	f->held = false;
	if ((f->line.kind == LINE_GRAPH || f->line.kind == LINE_SWITCH) && complete_graph(f))
		return -1;
	l = f->line;
	switch (l.kind) {
	case LINE_EVENT:
	case LINE_GRAPH: break;
	case LINE_LOST:
		f->lost.count = f->lost.count == UINT64_MAX || l.lost == UINT64_MAX
					? UINT64_MAX
					: f->lost.count + l.lost;
		f->lost.cpu = l.cpu;
		return 0;
	case LINE_OTHER: ftrace_strange(f); return 0;
	default: return 0;
	}
	clock = l.clock;
	if (clock != f->clock) {
		ftrace_strange(f);
		return 0;
	}
	f->seen.graph |= l.kind == LINE_GRAPH;
	if (ftrace_row_begin(f, &l))
		return -1;
	failed =
		l.kind == LINE_GRAPH ? ftrace_graph(f, &l, l.text, l.duration) : ftrace_text(f, &l);
	second = span_size(f->rest.text) > 0;
	if (!failed && f->has_row && f->events && (second || !f->lines.whole) &&
	    ftrace_row_cut(f, &l)) {
		f->has_row = false;
		/* a second event in the line was reported */
		if (!second)
			ftrace_strange(f);
	}
	return failed;
}

static int finish_stack(struct ftrace *f)
{
	uint8_t *id = f->row.fixed.data;

	f->row.stack = writer_stack_of(f->w, f->stack.frames, f->stack.count);
	if (f->stack.count && !f->row.stack)
		return -1;
	put_u32(id, f->row.stack);
	return 0;
}

/* Make the next row. No row: there is no more. */
static int ftrace_advance(struct ftrace *f, struct error *e)
{
	int got;

	e->what[0] = '\0';
	while (!f->has_row) {
		if (!f->held) {
			/* a live trace: what is there must show before the next line is waited for
			 */
			if (f->events && !input_lines_ready(&f->lines, f->input, LIVE_WAIT) &&
			    (ftrace_leaves_write(f, UINT64_MAX, -1) || writer_flush(f->w)))
				return -1;
			got = ftrace_next_line(f, e);
			if (got <= 0)
				return got;
		}
		if (kernel_text_convert(f))
			return -1;
		if (f->has_row) {
			if (ftrace_take_rest(f, e) < 0)
				return -1;
			ftrace_cut_decide(f);
		}
	}
	return f->stack.wanted ? finish_stack(f) : 0;
}

/* --- the decoder --- */

static int ftrace_open(struct input *in, struct error *e)
{
	struct ftrace *f = calloc(1, sizeof *f);

	in->state = f;
	if (!f)
		return error_no_memory(e);
	f->input = in;
	f->w = in->decoding->writer;
	f->html = f->outside = ftrace_is_page((const char *)in->head, in->head_size);
	return f->html || ftrace_is_packed((const char *)in->head, in->head_size)
		       ? ftrace_packed_open(f, e)
		       : 0;
}

static bool kernel_text_is_event(const struct ftrace_line *l)
{
	return l->kind == LINE_EVENT || l->kind == LINE_GRAPH;
}

/* Test for what only a trace has besides events. */
static bool kernel_text_is_part(const struct ftrace_line *l)
{
	return l->kind == LINE_LOST || l->kind == LINE_SWITCH;
}

static int ftrace_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct ftrace *f = in->state;
	uint64_t events = 0, lost = 0;
	bool parts = false;
	int got;

	fact_text(facts, "format", "ftrace");
	while ((got = ftrace_next_line(f, e)) > 0) {
		events += kernel_text_is_event(&f->line);
		parts |= kernel_text_is_part(&f->line);
		lost += f->line.kind == LINE_LOST && f->line.lost != UINT64_MAX ? f->line.lost : 0;
	}
	if (got || (!events && !parts && ftrace_heading_check(f, e)))
		return -1;
	fact_number(facts, "events", events);
	fact_number(facts, "lost", lost);
	return 0;
}

/* Find the first event, whose time shows the clock. */
static int find_first(struct ftrace *f, struct error *e)
{
	bool parts = false; /* of a trace */
	int got;

	while ((got = ftrace_next_line(f, e)) > 0 && !kernel_text_is_event(&f->line))
		if (kernel_text_is_part(&f->line)) {
			parts = true;
			if (kernel_text_convert(f))
				return -1;
		}
	if (got < 0)
		return -1;
	if (!got && !parts && ftrace_heading_check(f, e))
		return -1;
	f->clock = got ? f->line.clock : LINE_SECONDS;
	f->input->ticks = f->clock == LINE_TICKS;
	if (f->clock == LINE_NO_TIME)
		f->input->clock_name = "durations";
	return 0;
}

static int ftrace_begin(struct input *in, struct error *e)
{
	struct ftrace *f = in->state;
	struct writer *w = f->w;

	f->declared.source =
		writer_source(w, &(struct source_entry){writer_text(w, "ftrace"),
							writer_text(w, in->name), 0, 0});
	f->declared.group = writer_text(w, "ftrace");
	in->clock_name = "trace";
	if (ftrace_clock_sync(f, e))
		return -1;
	if (ftrace_first_threads(f))
		return error_no_memory(e);
	if (find_first(f, e) || merge_choose_clock(in, e))
		return -1;
	f->declared.clock = writer_clock(
		w, &(struct clock_entry){
			   .name = writer_text(w, in->clock_name),
			   .flags = (in->ticks ? CLOCK_TICKS : 0) |
				    (in->has_wall ? CLOCK_HAS_WALL : 0) |
				    (in->has_wall && !merge_wall(in) ? CLOCK_IS_WALL : 0),
			   .wall = merge_wall(in)});
	if (!f->declared.source || !f->declared.group || !f->declared.clock)
		return error_no_memory(e);
	in->next = UINT64_MAX;
	if (!f->held)
		return 0;
	if (merge_first(in, f->line.time, e) || ftrace_advance(f, e))
		return -1;
	if (f->has_row)
		in->next = f->row.time;
	return 0;
}

/* Set the time of the next row. */
static void kernel_text_set_next(struct ftrace *f)
{
	uint64_t leave = ftrace_leaves_next(f), row = f->has_row ? f->row.time : UINT64_MAX;

	f->input->next = leave < row ? leave : row;
}

static int ftrace_run(struct input *in, uint64_t until, struct error *e)
{
	struct ftrace *f = in->state;

	while (in->next <= until && in->next != UINT64_MAX) {
		if (!f->has_row) {
			if (ftrace_leaves_write(f, until, -1))
				return -1;
		} else if (f->row.time > until) {
			if (ftrace_leaves_write(f, until, -1))
				return -1;
		} else {
			if (ftrace_leaves_write(f, f->row.time, f->row.cpu) ||
			    ftrace_row_write(f) || ftrace_leave_later(f) || ftrace_advance(f, e))
				return -1;
		}
		kernel_text_set_next(f);
	}
	return 0;
}

static void declared_free(struct ftrace_declared *d)
{
	for (size_t i = 0; i < d->ntypes; i++)
		free(d->types[i].fields);
	for (size_t i = 0; i < d->nthreads; i++) {
		free(d->thread[i].frames);
		free(d->thread[i].marks);
	}
	for (size_t i = 0; i < d->ncpus; i++)
		free(d->cpu[i].began);
	free(d->types);
	free(d->bases);
	free(d->thread);
	free(d->cpu);
	id_cache_free(&d->lanes);
	id_cache_free(&d->threads);
	id_cache_free(&d->locations);
	id_cache_free(&d->plain_types);
	id_cache_free(&d->names);
	id_cache_free(&d->cpus);
}

static void ftrace_close(struct input *in)
{
	struct ftrace *f = in->state;

	if (!f)
		return;
	if (!in->decoding->quiet)
		warn_count(in->name, f->strange - (f->strange > 0),
			   "more {line that is no event|lines that are no events}");
	for (size_t i = 0; i < f->nleaves; i++) {
		buffer_free(&f->leaves[i]->tail);
		free(f->leaves[i]);
	}
	if (f->leave)
		buffer_free(&f->leave->tail);
	free(f->leave);
	buffer_free(&f->row.fixed);
	buffer_free(&f->row.tail);
	ftrace_packed_close(f);
	input_lines_free(&f->lines);
	intern_free(&f->names);
	open_calls_free(&f->async);
	declared_free(&f->declared);
	free(f);
	in->state = NULL;
}

const struct decoder decoder_ftrace = {
	.name = "ftrace",
	.probe = ftrace_probe,
	.open = ftrace_open,
	.info = ftrace_info,
	.begin = ftrace_begin,
	.run = ftrace_run,
	.close = ftrace_close,
};
