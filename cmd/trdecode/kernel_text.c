/*
 * kernel_text.c - reads the text of ftrace, as trace-cmd report and tracefs print it
 *
 *     bash-1977  [001] d..2. 17284.993652: sched_wakeup: comm=sh pid=12 prio=120 target_cpu=0
 *
 * is one event of the type sched_wakeup: thread 1977 on CPU 1, with four fields and those of the
 * flags.
 */
#include "cmd/trdecode/atrace.h"
#include "cmd/trdecode/kernel_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/kernel_line.h"
#include "common/stream/value.h"

static int ftrace_text(struct ftrace *f, const struct ftrace_line *l);

/* --- lanes, locations and types of kernel text --- */

static bool kernel_text_is_name(const struct ftrace *f, uint32_t name, struct text_span s)
{
	return intern_size(&f->names, name) == span_size(s) &&
	       !memcmp(intern_data(&f->names, name), s.at, span_size(s));
}

/* Get the number of the thread of a lane; UINT32_MAX: out of memory. */
static uint32_t kernel_text_thread_of(struct ftrace *f, const struct ftrace_lane *lane)
{
	uint32_t key[] = {lane->instance, (uint32_t)lane->tid,
			  lane->tid > 0 ? UINT32_MAX : (uint32_t)lane->cpu};
	uint32_t *number = id_cache_number(&f->declared.threads, key, sizeof key);

	if (!number)
		return UINT32_MAX;
	if (!*number) {
		if (ARRAY_GROW(f->declared.thread, f->declared.threads_capacity,
			       f->declared.nthreads))
			return UINT32_MAX;
		f->declared.thread[f->declared.nthreads++] = (struct ftrace_thread){0};
		*number = (uint32_t)f->declared.nthreads;
	}
	return *number - 1;
}

/* Declare a lane, or find it. */
static int kernel_text_find_lane(struct ftrace *f, struct ftrace_lane *lane,
				 const struct ftrace_line *l)
{
	uint32_t comm = intern(&f->names, l->comm.at, span_size(l->comm)),
		 instance = intern(&f->names, l->instance.at, span_size(l->instance)),
		 key[] = {(uint32_t)l->cpu, (uint32_t)l->tid, (uint32_t)l->tgid, comm, instance},
		 *id;

	if (comm == INTERN_NONE || instance == INTERN_NONE)
		return -1;
	*lane = (struct ftrace_lane){
		.cpu = l->cpu, .tid = l->tid, .tgid = l->tgid, .comm = comm, .instance = instance};
	id = id_cache_number(&f->declared.lanes, key, sizeof key);
	if (!id)
		return -1;
	if (!*id) {
		struct lane_entry e = {
			.source = f->declared.source,
			.clock = f->declared.clock,
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

/* Get the lane of a line and its thread's calls. NULL: out of memory. */
static struct ftrace_lane *ftrace_lane(struct ftrace *f, const struct ftrace_line *l)
{
	uint32_t slot = ((uint32_t)l->tid * 31 + (uint32_t)l->cpu) % FTRACE_LANE_SLOTS;
	struct ftrace_lane *lane = &f->declared.recent[slot];

	/* without these lanes 'trdecode | trstat -g type' of the text of a trace.dat takes 1.16
	 * times the instructions */
	if (lane->lane && lane->cpu == l->cpu && lane->tid == l->tid && lane->tgid == l->tgid &&
	    kernel_text_is_name(f, lane->comm, l->comm) &&
	    kernel_text_is_name(f, lane->instance, l->instance))
		return lane;
	return kernel_text_find_lane(f, lane, l) ? NULL : lane;
}

/* Get what is known of a CPU. NULL: out of memory. */
static struct text_cpu *ftrace_cpu(struct ftrace *f, int32_t cpu)
{
	uint32_t *number = key_map_number(&f->declared.cpus, (uint32_t)cpu);

	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(f->declared.cpu, f->declared.cpus_capacity, f->declared.ncpus))
			return NULL;
		f->declared.cpu[f->declared.ncpus++] = (struct text_cpu){.tid = -1};
		*number = (uint32_t)f->declared.ncpus;
	}
	return &f->declared.cpu[*number - 1];
}

/* Begin a row of the line's time and lane. */
static int ftrace_row_begin(struct ftrace *f, const struct ftrace_line *l)
{
	struct ftrace_lane *lane = ftrace_lane(f, l);

	if (!lane)
		return -1;
	f->row.time = merge_shifted(l->time, f->input->shift);
	f->row.lane = lane->lane;
	f->row.cpu = l->cpu;
	f->row.type = f->row.location = f->row.depth = f->row.stack = 0;
	f->row.has_tail = f->row.instant_text = f->row.fresh = f->row.odd = false;
	f->row.mark = f->row.goes_on = f->row.early = false;
	f->row.variant = 0;
	f->row.offset = f->offset;
	f->row.fixed.size = f->row.tail.size = 0;
	f->stack.wanted = false;
	f->has_row = true;
	return 0;
}

/* Declare the type of a row that has no variants. */
static uint32_t ftrace_plain_type(struct ftrace *f, const char *name, const struct type_entry *like)
{
	uint32_t key[] = {writer_text(f->w, name), like->kind, like->flags, like->fixed_size}, *id;
	struct type_entry e = *like;

	e.name = key[0];
	e.source = f->declared.source;
	e.group = e.group ? e.group : f->declared.group;
	id = e.name ? id_cache_number(&f->declared.plain_types, key, sizeof key) : NULL;
	if (id && !*id) {
		uint32_t type = writer_type(f->w, &e);

		if (!type || row_filter_announce(f->input->decoding->row_filter, type, 0))
			return 0;
		*id = type;
	}
	return id ? *id : 0;
}

/*
 * The locations of functions: "NAME [MODULE]", "NAME+OFFSET", "NAME (ADDRESS)", "NAME <ADDRESS>",
 * "FILE[+OFFSET] <ADDRESS>".
 */

/* Take the next of the arguments "VALUE, NAME=VALUE" off a text. *equal: NULL if it has no name.
 * Returns false if there are no more. */
static bool next_call_argument(struct text_span *s, struct text_span *one, const char **equal)
{
	const char *comma = span_find(*s, ", ");

	if (s->at >= s->end)
		return false;
	*one = (struct text_span){s->at, comma ? comma : s->end};
	*equal = memchr(one->at, '=', span_size(*one));
	s->at = comma ? comma + 2 : s->end;
	return true;
}

/* Declare the names of arguments; 0: there are none, or out of memory. */
static uint32_t argument_names(struct ftrace *f, struct text_span arguments)
{
	struct member_entry members[FTRACE_ARGUMENTS_MOST];
	struct definition_entry d = {.kind = DEFINITION_STRUCT, .members = members};
	struct text_span one;
	const char *equal;

	while (d.nmembers < FTRACE_ARGUMENTS_MOST && next_call_argument(&arguments, &one, &equal))
		members[d.nmembers++] = (struct member_entry){
			.name = equal ? writer_string(f->w, one.at, (size_t)(equal - one.at)) : 0};
	return d.nmembers ? writer_definition(f->w, &d) : 0;
}

/* Take " (0xADDRESS)" off the end of a name. */
static struct text_span without_address(struct text_span name)
{
	const char *open = span_ends(name, ")") ? span_find_rare(name, " (0x", 1) : NULL;

	return open && open > name.at ? (struct text_span){name.at, open} : name;
}

static const struct text_span no_arguments = {NULL, NULL};

/* Declare a function, with the arguments that its first event has. */
static uint32_t ftrace_function_location(struct ftrace *f, struct text_span name,
					 struct text_span arguments)
{
	struct location_entry e = {0};
	struct text_span module;
	uint32_t location, *id;

	name = without_address(name);
	id = id_cache_number(&f->declared.locations, name.at, span_size(name));
	if (!id || *id)
		return id ? *id : 0;
	module = (struct text_span){span_find_rare(name, " [", 1), name.end};
	if (module.at && name.end[-1] == ']') {
		name.end = module.at;
		module = (struct text_span){module.at + 2, module.end - 1};
	} else {
		module.at = NULL;
	}
	e.name = writer_string(f->w, name.at, span_size(name));
	e.arguments = argument_names(f, arguments);
	location = e.name ? writer_location(f->w, &e) : 0;
	if (module.at && location &&
	    writer_symbol(f->w, location,
			  &(struct symbol_entry){.flags = SYMBOL_KERNEL,
						 .name = name.at,
						 .name_size = (uint32_t)span_size(name),
						 .module = module.at,
						 .module_size = (uint32_t)span_size(module)}))
		return 0;
	*id = location;
	return location;
}

uint32_t ftrace_frame(struct ftrace *f, struct text_span text)
{
	const char *p = span_find_rare(text, " (", 1);

	if (p && p > text.at)
		text.end = p;
	/* the options sym-addr, and sym-userobj */
	p = span_find_rare(text, " <", 1);
	if (p && p > text.at)
		text.end = p;
	p = span_find_rare(text, "+0x", 0);
	if (p && p > text.at)
		text.end = p[-1] == '[' ? p - 1 : p;
	if (text.at == text.end)
		text = SPAN("?");
	return ftrace_function_location(f, span_trim(text), no_arguments);
}

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

/* Find the next line with a word in a text that begins at `first`; rest->at moves to its end. */
static bool find_line(const char *first, struct text_span *rest, const char *word,
		      struct text_span *line, const char **at)
{
	const char *newline;

	*at = span_find(*rest, word);
	if (!*at)
		return false;
	newline = memchr(*at, '\n', (size_t)(rest->end - *at));
	*line = (struct text_span){*at, newline ? newline : rest->end};
	while (line->at > first && line->at[-1] != '\n' && *at - line->at < LINE_HEAD_MOST)
		line->at--;
	rest->at = line->end;
	return true;
}

/* Get the text that was read ahead. */
static struct text_span text_ahead(const struct ftrace *f)
{
	const char *data = (const char *)f->lines.data.data;

	return data ? (struct text_span){data + f->lines.begin, data + f->lines.data.size}
		    : (struct text_span){NULL, NULL};
}

/* Find the first threads of CPUs in the text that was read ahead. */
static int ftrace_first_threads(struct ftrace *f)
{
	struct text_span text = text_ahead(f), line;
	const char *first = text.at, *arrow;

	if (!span_find(text, "# tracer: function_graph"))
		return 0;
	while (find_line(first, &text, " =>", &line, &arrow)) {
		struct ftrace_line l, before;
		struct text_cpu *cpu;

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
	text = span_trim(text);
	if (span_skip(&text, "realtime_ts=")) {
		if (in->has_wall || span_digits(text.at, text.end, &number) != text.end ||
		    !number || number >= TIME_LIMIT / 1000000)
			return;
		in->has_wall = true;
		in->wall = (int64_t)(number * 1000000) - (int64_t)l.time;
	} else if (span_skip(&text, "parent_ts=")) {
		if (!span_seconds(text, TIME_LIMIT, &number) || !number)
			return;
		if ((number > l.time ? number - l.time : l.time - number) <= PARENT_TOLERANCE)
			in->clock_name = "monotonic";
	}
}

/* Find the wall time of the trace's clock. */
static int ftrace_clock_sync(struct ftrace *f, struct error *e)
{
	const struct input *in = f->input;
	struct text_span text, line;
	const char *first, *at;

	/* not of a live trace */
	if (!f->packed && !in->packed && !input_is_file(in->fd))
		return 0;
	if (input_lines_fill(&f->lines, in, CLOCK_SYNC_BYTES, e))
		return -1;
	text = text_ahead(f);
	for (first = text.at; find_line(first, &text, sync_word, &line, &at);) {
		line.end -= span_ends(line, "\\n\\") ? 3 : span_ends(line, "\r") ? 1 : 0;
		kernel_text_take_sync(f, line, at);
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

static const struct {
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
		if (span_is(word, actions[i].letters) || span_is(word, actions[i].type + 4))
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
	const char *p = span_digits(word.at, word.end, &number), *second = p + 1;

	return p > word.at && p < word.end && *p == ',' && second < word.end &&
	       span_digits(second, word.end, &number) == word.end;
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
	if (span_digits(cpu.at, cpu.end, &cpu_number) != cpu.end || cpu.at == cpu.end ||
	    cpu_number > LINE_CPU_MOST || span_size(time) < 11 || time.end[-10] != '.' ||
	    !span_seconds(time, TIME_LIMIT, &l->time) || pid.at == pid.end ||
	    span_digits(pid.at, pid.end, &pid_number) != pid.end || pid_number > INT32_MAX ||
	    !kernel_text_type_of(action) || !is_rwbs(span_take_word(&rest)))
		return false;
	l->clock = LINE_SECONDS;
	l->cpu = (int32_t)cpu_number;
	l->tid = (int32_t)pid_number;
	l->text = s;
	return true;
}

/* Make the row of a line of the tracer blk. *done: it was one. */
static int ftrace_blk(struct ftrace *f, const struct ftrace_line *l, bool *done)
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
	if (!ftrace_form_values(f, word, span_trim(s)))
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

static const struct {
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

enum { MMIO_FORMS = sizeof mmio_forms / sizeof *mmio_forms };

/* Take the word off a line, and find its form. MMIO_FORMS: there is none. */
static size_t take_mmio_form(struct text_span *s)
{
	size_t i = 0;

	while (i < MMIO_FORMS && !span_skip(s, mmio_forms[i].word))
		i++;
	return i;
}

bool ftrace_mmio_line(struct text_span s, struct ftrace_line *l)
{
	struct text_span rest = s, word;
	size_t form = take_mmio_form(&rest);
	uint8_t kind;
	uint64_t number;

	if (form == MMIO_FORMS)
		return false;
	if (mmio_forms[form].word[1] == ' ') {
		word = span_take_word(&rest);
		if (span_size(word) != 1 || !strchr("1248", *word.at))
			return false;
	}
	word = span_take_word(&rest);
	if (!span_seconds(word, TIME_LIMIT, &l->time))
		return false;
	l->clock = LINE_SECONDS;
	l->text = s;
	for (unsigned i = 0; i < mmio_forms[form].nwords; i++) {
		word = span_take_word(&rest);
		if (!ftrace_number(word, &kind, &number))
			return false;
	}
	return !mmio_forms[form].nwords || !span_size(span_trim(rest));
}

/* Make the row of a line that ftrace_mmio_line has read. */
static int ftrace_mmio(struct ftrace *f, struct text_span text)
{
	struct text_span rest = text, word;
	size_t form = take_mmio_form(&rest);
	const char *type = mmio_forms[form].type;

	f->nvalues = 0;
	ftrace_value_add(f, "opcode", (struct text_span){text.at, rest.at - 1}, false);
	if (mmio_forms[form].word[1] == ' ')
		ftrace_value_add(f, "width", span_take_word(&rest), true);
	span_take_word(&rest);
	for (unsigned i = 0; i < mmio_forms[form].nwords; i++) {
		word = span_take_word(&rest);
		if (mmio_forms[form].keys[i])
			ftrace_value_add(f, mmio_forms[form].keys[i], word, true);
	}
	if (!mmio_forms[form].nwords) {
		f->nvalues = 0;
		ftrace_value_add(f, "message", span_trim(rest), false);
	}
	return ftrace_typed(f, (struct text_span){type, type + strlen(type)}, NULL);
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
	s = span_trim(s);
	while (s.at < s.end) {
		const char *blank = memchr(s.at, ' ', span_size(s));
		struct text_span word = {s.at, blank ? blank : s.end};

		s = span_trim((struct text_span){word.end, s.end});
		if (span_skip(&word, "<-"))
			c->parent = word;
		else if (span_skip(&word, "ret="))
			c->result = word;
		else if (c->ends && !c->begins && c->name.at == c->name.end && !span_is(word, "="))
			c->name = word;
		else if (c->name.end + 1 == word.at && *word.at == '[')
			c->name.end = word.end;
		else if (span_is(word, "=") && s.at < s.end) {
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
		s = span_trim(s);
	}
	if (span_begins(s, "}")) {
		c->ends = true;
	} else {
		c->begins = true;
		c->ends = span_ends(s, ";");
		if (!c->ends && !span_ends(s, "{"))
			return false;
		s.end--;
		s = span_trim(s);
		open = memchr(s.at, '(', span_size(s));
		close = s.end - 1;
		if (!open || open == s.at || *close != ')')
			return false;
		c->name = span_trim((struct text_span){s.at, open});
		c->arguments = span_trim((struct text_span){open + 1, close});
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

	if (span_is(s, "true") || span_is(s, "false"))
		return value_put_simple(b, span_is(s, "true") ? VALUE_TRUE : VALUE_FALSE);
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
	struct text_span one;
	const char *equal;

	for (uint64_t i = 1; i <= FTRACE_ARGUMENTS_MOST && next_call_argument(&s, &one, &equal);
	     i++) {
		one.at = equal ? equal + 1 : one.at;
		if (value_put_detail(b, DETAIL_ARGUMENT, i) || kernel_text_put_value(b, one))
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

/* Get the type of an enter or a leave. parent: it has the stack of its caller. */
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
	f->row.depth = c->depth;
	f->row.location = close_call(t, c->depth);
	/* the name is that of the call which ends, though another one may be open */
	if (c->name.at < c->name.end || !f->row.location)
		f->row.location = ftrace_function_location(
			f, c->name.at < c->name.end ? c->name : SPAN("?"), no_arguments);
	if (!f->row.location || kernel_text_put_result(&f->row.tail, c))
		return -1;
	f->row.has_tail = f->row.tail.size > 0;
	f->row.type = call_type(f, false, f->row.has_tail, false);
	return f->row.type ? 0 : -1;
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
	bool parent = c->parent.at < c->parent.end;
	uint8_t id[4];

	f->row.depth = c->depth;
	f->row.location = ftrace_function_location(f, c->name, c->arguments);
	if (!f->row.location || kernel_text_put_arguments(&f->row.tail, c->arguments))
		return -1;
	f->row.has_tail = f->row.tail.size > 0;
	f->row.type = call_type(f, true, f->row.has_tail, parent);
	if (!f->row.type)
		return -1;
	if (parent) {
		uint32_t frame = ftrace_frame(f, c->parent);

		f->row.stack = frame ? writer_stack(f->w, 0, frame) : 0;
		put_u32(id, f->row.stack);
		if (!f->row.stack || buffer_append(&f->row.fixed, id, sizeof id))
			return -1;
	}
	if (!c->ends)
		return open_call(t, c->depth, f->row.location);
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

/* Make the row of a CALL at the line's time. */
static int ftrace_graph(struct ftrace *f, const struct ftrace_line *l, struct text_span call,
			uint64_t duration)
{
	struct text_span s = drop_depth(span_trim(call));
	size_t blanks = (size_t)(s.at - call.at);
	struct ftrace_lane *lane = ftrace_lane(f, l);
	struct ftrace_thread *t;
	struct kernel_graph_call c;

	if (!lane)
		return -1;
	t = &f->declared.thread[lane->thread];
	if (span_begins(s, "/*") && span_ends(s, "*/") && span_size(s) >= 4) {
		struct ftrace_line event = *l;

		event.text = span_trim((struct text_span){s.at + 2, s.end - 2});
		return ftrace_text(f, &event);
	}
	f->seen.call = f->marks->calls.graph = true;
	if (!kernel_text_read_call(s, &c)) {
		f->has_row = false;
		if (!span_begins(s, "==") && !span_begins(s, "<=="))
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

	if (!span_skip(&text, "--> ") && !span_skip(&text, "<-- "))
		return false;
	open = span_find(text, " (");
	if (!open || span_digits(open + 2, text.end, &depth) == open + 2 || depth > UINT16_MAX)
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

		if (span_is(v.key, "func")) {
			c->name = v.text;
			func = v.text.at < v.text.end;
		} else if (span_is(v.key, "depth") && v.kind == FIELD_UINT &&
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

/* Make the row of funcgraph_entry or funcgraph_exit as `trace-cmd report -R` or -N prints it.
 * *done: the text has what a call needs. */
static int ftrace_graph_raw(struct ftrace *f, const struct ftrace_line *l, struct text_span name,
			    struct text_span text, bool *done)
{
	bool enter = span_is(name, "funcgraph_entry");
	struct kernel_graph_call c = {.begins = enter, .ends = !enter};
	struct type_entry like = {.kind = enter ? KIND_ENTER : KIND_LEAVE,
				  .flags = TYPE_DEPTH,
				  .group = f->declared.group};
	struct ftrace_lane *lane = ftrace_lane(f, l);
	struct ftrace_thread *t;
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
	f->row.location = ftrace_function_location(f, c.name, no_arguments);
	f->row.depth = c.depth;
	if (!f->row.location ||
	    (arrow ? ftrace_typed(f, name, &like) : ftrace_keyed(f, name, &like)))
		return -1;
	f->seen.call = f->marks->calls.graph = true;
	if (enter && open_call(t, c.depth, f->row.location))
		return -1;
	if (!enter)
		close_call(t, c.depth);
	*done = true;
	return 0;
}

static int ftrace_function(struct ftrace *f, struct text_span text)
{
	const char *arrow = span_find_rare(text, " <-", 1), *open;
	struct text_span parent = {text.end, text.end}, function = text, arguments = parent;

	if (arrow) {
		f->seen.parent = true;
		function.end = arrow;
		parent.at = arrow + 3;
		parent.at += parent.at < text.end && *parent.at == '-';
		parent = span_trim(parent);
	}
	function = span_trim(function);
	if (function.at == function.end ||
	    (!arrow && f->seen.parent && !span_begins(function, "ip="))) {
		ftrace_cut_damage(f, f->offset);
		return 0;
	}
	/* -R prints ip=NAME parent_ip=NAME */
	f->nvalues = 0;
	if (span_begins(function, "ip=")) {
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
		f->row.location = ftrace_function_location(f, function, no_arguments);
		if (!f->row.location)
			return -1;
	}
	if (ftrace_typed(f, SPAN("function"),
			 &(struct type_entry){.kind = KIND_INSTANT, .group = f->declared.group}))
		return -1;
	f->row.instant_text = false;
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
	if ((f->lost.count && write_lost(f, f->row.time)) ||
	    (f->row.stack && writer_use_stack(f->w, f->row.stack)))
		return -1;
	f->has_row = false;
	f->events++;
	return writer_row_data(f->w, (struct new_row){.time = f->row.time,
						      .lane = f->row.lane,
						      .type = f->row.type,
						      .location = f->row.location,
						      .depth = f->row.depth,
						      .fixed = f->row.fixed.data,
						      .fixed_size = (uint32_t)f->row.fixed.size,
						      .tail = f->row.tail.data,
						      .tail_size = (uint32_t)f->row.tail.size,
						      .has_tail = f->row.has_tail});
}

/* --- the marks of atrace: calls, instants, counters and asynchronous calls --- */

/* Set the fields in values: arguments, category, track and cookie. */
static void mark_fields(struct ftrace *f, const struct atrace_mark *m)
{
	struct text_span arguments = m->arguments, key, value;

	f->nvalues = 0;
	while (f->nvalues + 3 < FTRACE_FIELDS_MOST &&
	       atrace_mark_argument(&arguments, &key, &value)) {
		ftrace_value_add(f, "", value, true);
		f->values[f->nvalues - 1].key = key;
	}
	if (span_size(m->category))
		ftrace_value_add(f, "category", m->category, false);
	if (span_size(m->track))
		ftrace_value_add(f, "track", m->track, false);
	if (span_size(m->cookie))
		ftrace_value_add(f, "cookie", m->cookie, true);
}

/* Make the row of a counter. The name of its type is that of the counter. */
static int mark_counter(struct ftrace *f, const struct atrace_row *mark)
{
	struct text_span name = mark->type;
	struct field_entry value = {.name = writer_text(f->w, "value"),
				    .kind = FIELD_INT,
				    .where = WHERE_FIXED,
				    .size = 8};
	struct type_entry e = {
		.kind = KIND_COUNTER, .fixed_size = 8, .nfields = 1, .fields = &value};
	char text[256];
	uint8_t bytes[8];

	if (span_size(name) >= sizeof text)
		name.end = name.at + sizeof text - 1;
	memcpy(text, name.at, span_size(name));
	text[span_size(name)] = '\0';
	f->row.type = ftrace_plain_type(f, text, &e);
	put_u64(bytes, (uint64_t)mark->value);
	return f->row.type && !buffer_append(&f->row.fixed, bytes, sizeof bytes) ? 0 : -1;
}

/* The marks of atrace. *done: the text was one. */
static int ftrace_mark(struct ftrace *f, const struct ftrace_line *l, struct text_span text,
		       bool *done)
{
	struct type_entry like = {.group = f->declared.group};
	struct ftrace_lane *lane;
	struct atrace_mark m;
	struct atrace_row mark;
	uint8_t bytes[4];

	*done = false;
	if (!atrace_mark_read(&m, text.at, span_size(text)))
		return 0;
	lane = ftrace_lane(f, l);
	if (!lane || atrace_row_of(f->marks, f->w, lane->thread, &m, &mark))
		return -1;
	*done = true;
	if (mark.kind == KIND_COUNTER)
		return mark_counter(f, &mark);
	mark_fields(f, &m);
	f->row.location = mark.location;
	like.kind = (uint8_t)mark.kind;
	if (mark.call) {
		like.flags = TYPE_CALL_NUMBER;
		put_u32(bytes, mark.call);
		if (buffer_append(&f->row.fixed, bytes, sizeof bytes))
			return -1;
	}
	if (f->nvalues || mark.call)
		return ftrace_typed(f, mark.type, &like);
	f->row.type = ftrace_plain_type(f, mark.type.at, &like);
	return f->row.type ? 0 : -1;
}

/*
 * Events whose end is lost, though a newline follows.
 *
 * The fields of such an event are the first of those that the other events of its name have. That
 * alone is no damage: an event may have a field only now and then, such as "uaddr2=" of futex. The
 * event ends early if its last word is the begin of the next key, or its last value is empty and
 * that of the others is a decimal number (flags are empty or hexadecimal). A value may have a
 * newline, after which the other fields follow in the next line, so an event with further lines is
 * whole.
 */

enum {
	OTHERS_LEAST = 3, /* events with a number, beside one whose last value is empty */
	WORDS_LEAST = 8,  /* events whose last value is a word, before a further line is damage */
	CLOSED_LEAST = 3, /* events whose last value has its end, before one without it is damage */
	NAMES_MOST = 4096, /* names whose begin a text may be; a kernel has some 2,500 */
};

static bool has_message(const struct ftrace *f, const struct ftrace_type *t)
{
	return t->nfields && !strcmp(intern_data(&f->names, t->fields[0].name), "message");
}

/* Test for a variant that has only a message, though the other one has none. */
static bool is_text_only(const struct ftrace *f, const struct ftrace_type *t,
			 const struct ftrace_type *other)
{
	return t->nfields == 1 && has_message(f, t) && !has_message(f, other);
}

static bool has_less(const struct ftrace *f, const struct ftrace_type *t,
		     const struct ftrace_type *other)
{
	if (is_text_only(f, t, other))
		return other->nfields > 0;
	/* a message may be empty */
	if (t->nfields >= other->nfields ||
	    (!t->nfields && has_message(f, other) && other->nfields == 1))
		return false;
	for (uint32_t i = 0; i < t->nfields; i++)
		if (t->fields[i].name != other->fields[i].name)
			return false;
	return true;
}

/* Find the variants with more fields than a new one, and those with less. */
static void link_variants(struct ftrace *f, struct ftrace_type *t)
{
	struct ftrace_type *types = f->declared.types;
	uint32_t number = (uint32_t)(t - types) + 1;

	for (uint32_t i = t->next; i; i = types[i - 1].next) {
		struct ftrace_type *other = &types[i - 1];

		if (has_less(f, t, other) &&
		    (!t->longer || types[t->longer - 1].nfields < other->nfields))
			t->longer = i;
		if (has_less(f, other, t) &&
		    (!other->longer || types[other->longer - 1].nfields < t->nfields))
			other->longer = number;
	}
}

/* Get the variant that has more fields, and more events. NULL: there is none. */
static const struct ftrace_type *longer(const struct ftrace *f, const struct ftrace_type *t)
{
	const struct ftrace_type *other = t->longer ? &f->declared.types[t->longer - 1] : NULL;

	return other && other->count > t->count ? other : NULL;
}

/* Test whether the last value ends with the begin of the key after it. */
static bool ends_in_key(const struct ftrace *f, const struct ftrace_type *t,
			const struct ftrace_type *other)
{
	bool only = is_text_only(f, t, other);
	struct text_span s = f->values[f->nvalues - 1].text;
	const char *blank = memrchr(s.at, ' ', span_size(s));
	uint32_t key = other->fields[only ? 0 : t->nfields].name;
	bool bracket;

	if (only ? blank != NULL : !blank)
		return false;
	s.at = blank ? blank + 1 : s.at;
	bracket = s.at < s.end && strchr("[({", *s.at);
	s.at += bracket;
	return (s.at < s.end || bracket) && span_size(s) <= intern_size(&f->names, key) &&
	       !memcmp(s.at, intern_data(&f->names, key), span_size(s));
}

/* Test for a last value that is no number, though those before are: nothing is left of it, or its
 * unit is not whole. */
static bool is_number_cut(const struct ftrace *f, const struct ftrace_type *t)
{
	const struct ftrace_value *last;
	uint8_t kind;

	if (!t->type || !t->nfields)
		return false;
	last = &f->values[t->nfields - 1];
	kind = t->fields[t->nfields - 1].kind;
	if (last->kind != FIELD_STRING || kind == FIELD_STRING)
		return false;
	return span_size(last->text) ? t->closed == CLOSED_LEAST && span_find(last->text, " [")
				     : t->count >= OTHERS_LEAST && kind != FIELD_HEX;
}

bool ftrace_cut_event(struct ftrace *f, struct ftrace_type *t)
{
	const struct ftrace_type *other;
	bool number, early;
	uint8_t kind;

	if (!t->type)
		link_variants(f, t);
	if (is_number_cut(f, t))
		return true;
	other = longer(f, t);
	if (!other)
		return false;
	kind = t->nfields ? other->fields[t->nfields - 1].kind : FIELD_STRING;
	number = kind != FIELD_STRING && !is_text_only(f, t, other);
	early = t->nfields && ends_in_key(f, t, other);
	/* a text may go on in the next line */
	f->row.early = early;
	return !t->nfields ||
	       (number &&
		(early || (kind != FIELD_HEX && !span_size(f->values[t->nfields - 1].text))));
}

void ftrace_cut_count(struct ftrace *f, struct ftrace_type *t)
{
	const struct ftrace_value *last;

	f->row.variant = (uint32_t)(t - f->declared.types) + 1;
	t->count++;
	if (!f->row.instant_text || t->words >= WORDS_LEAST)
		return;
	last = &f->values[f->nvalues - 1];
	if (span_is(last->key, "message") || memchr(last->text.at, ' ', span_size(last->text)))
		t->spaced = true;
	t->words++;
}

/* Compare the end of the row's last value with those of its type. open: it lacks its end. */
static void ftrace_cut_end(struct ftrace *f, bool closed, bool open)
{
	struct ftrace_type *t = &f->declared.types[f->row.variant - 1];
	const struct ftrace_value *last = f->nvalues ? &f->values[f->nvalues - 1] : NULL;
	bool number = last && last->kind != FIELD_STRING;

	if (closed || (number && span_ends(last->text, "]")))
		t->closed += t->closed < CLOSED_LEAST;
	else if (t->closed == CLOSED_LEAST && (open || number))
		f->row.early = true;
}

/* Test whether events of the name have fields. */
static bool ftrace_cut_is_known(struct ftrace *f, struct text_span name)
{
	const uint32_t *first = id_cache_number(&f->declared.names, name.at, span_size(name));

	for (uint32_t i = first ? *first : 0; i; i = f->declared.types[i - 1].next)
		if (f->declared.types[i - 1].nfields && !has_message(f, &f->declared.types[i - 1]))
			return true;
	return false;
}

bool ftrace_cut_is_word(const struct ftrace *f)
{
	const struct ftrace_type *t =
		f->row.variant ? &f->declared.types[f->row.variant - 1] : NULL;
	struct text_span text = span_of(&f->row.tail);
	const char *before;

	if (!t || t->words < WORDS_LEAST || t->spaced || t->goes_on || f->row.goes_on)
		return false;
	text.end--; /* the NUL */
	before = memrchr(text.at, '\0', span_size(text));
	text.at = before ? before + 1 : text.at;
	return !memchr(text.at, ' ', span_size(text)) && !memchr(text.at, '"', span_size(text));
}

bool ftrace_cut_lacks(const struct ftrace *f)
{
	return f->row.early ||
	       (f->row.variant && longer(f, &f->declared.types[f->row.variant - 1]));
}

void ftrace_cut_damage(struct ftrace *f, uint64_t offset)
{
	f->has_row = false;
	if (!f->lines.whole && offset == f->offset)
		ftrace_strange(f);
	else
		input_damage(f->input, f->input->name, offset, "an event that ends early");
}

/* Drop the row if it ends early, when its further lines are known. */
static void ftrace_cut_decide(struct ftrace *f)
{
	struct ftrace_type *t = f->row.variant ? &f->declared.types[f->row.variant - 1] : NULL;

	if (!t)
		return;
	t->goes_on |= f->row.goes_on;
	if (!f->row.early || f->row.goes_on)
		return;
	t->count--;
	ftrace_cut_damage(f, f->row.offset);
}

bool ftrace_cut_name(const struct ftrace *f, struct text_span text)
{
	static const char *const others[] = {
		"tracing_mark_write", "<stack trace>", "<user stack trace>", "funcgraph_entry",
		"funcgraph_exit",     "function",      "kernel_stack",	     "user_stack",
	};
	const struct intern *names = &f->declared.names.keys;
	size_t n = span_size(text);

	if (f->seen.unnamed)
		return false;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (n + (*others[i] == '<') <= strlen(others[i]) && !memcmp(text.at, others[i], n))
			return true;
	/* no name has these */
	if (memchr(text.at, ' ', n) || memchr(text.at, '(', n))
		return false;
	for (uint32_t i = 0; i < names->count && i < NAMES_MOST; i++)
		if (n <= intern_size(names, i) && !memcmp(text.at, intern_data(names, i), n))
			return true;
	return false;
}

/* --- the fields of an event in its text, by its name or its tracer --- */

/* The characters of names, and of "FUNCTION+OFFSET". A call for each would take a twentieth of the
 * time. */
static const bool of_a_name[256] = {
	['_'] = true, ['-'] = true,	    ['.'] = true,	  ['/'] = true,
	['+'] = true, ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true,
};

struct text_span ftrace_take_name(struct text_span *text)
{
	struct text_span name = {text->at, text->at};
	const char *p = text->at;

	while (p < text->end && of_a_name[(unsigned char)*p])
		p++;
	if (p == text->at || p == text->end || *p != ':' ||
	    (p + 1 < text->end && p[1] != ' ' && p[1] != '\t'))
		return name;
	name.end = p;
	*text = span_trim((struct text_span){p + 1, text->end});
	return name;
}

/* Read decimal digits and move *s after them; an empty span: there are none. */
static struct text_span take_digits(struct text_span *s)
{
	struct text_span digits = {s->at, s->at};

	while (digits.end < s->end && isdigit((unsigned char)*digits.end))
		digits.end++;
	s->at = digits.end;
	return digits;
}

/* Read "COMM:PID [PRIO]" and add its fields. A comm may have any characters. */
static bool kernel_text_take_task(struct ftrace *f, struct text_span *s, const char *const keys[3])
{
	struct text_span pid, prio, rest;

	for (const char *open = s->at;
	     (open = span_find_rare((struct text_span){open, s->end}, " [", 1)); open++) {
		const char *colon = open;

		while (colon > s->at && isdigit((unsigned char)colon[-1]))
			colon--;
		if (colon == open || colon == s->at || colon[-1] != ':')
			continue;
		rest = (struct text_span){open + 2, s->end};
		prio = take_digits(&rest);
		if (prio.at == prio.end || !span_skip(&rest, "]"))
			continue;
		pid = (struct text_span){colon, open};
		ftrace_value_add(f, keys[0], (struct text_span){s->at, colon - 1}, false);
		ftrace_value_add(f, keys[1], pid, true);
		ftrace_value_add(f, keys[2], prio, true);
		*s = rest;
		return true;
	}
	return false;
}

/* Read what trace-cmd's plug-in prints of sched_switch: "COMM:PID [PRIO] STATE ==> COMM:PID
 * [PRIO]".
 */
static bool read_switch(struct ftrace *f, struct text_span s)
{
	static const char *const prev[] = {"prev_comm", "prev_pid", "prev_prio"};
	static const char *const next[] = {"next_comm", "next_pid", "next_prio"};
	struct text_span state;
	const char *arrow;

	if (!kernel_text_take_task(f, &s, prev))
		return false;
	arrow = span_find_rare(s, " ==> ", 1);
	if (!arrow)
		return false;
	state = span_trim((struct text_span){s.at, arrow});
	ftrace_value_add(f, "prev_state", state, true);
	s.at = arrow + 5;
	return kernel_text_take_task(f, &s, next) && s.at == s.end;
}

/* Read that of sched_wakeup and the like: "COMM:PID [PRIO] [success=N] CPU:N". */
static bool read_wakeup(struct ftrace *f, struct text_span s)
{
	static const char *const keys[] = {"comm", "pid", "prio"};
	struct text_span digits;

	if (!kernel_text_take_task(f, &s, keys))
		return false;
	s = span_trim(s);
	if (span_skip(&s, "success=")) {
		digits = take_digits(&s);
		ftrace_value_add(f, "success", digits, true);
		s = span_trim(s);
	}
	if (span_skip(&s, "CPU:")) {
		digits = take_digits(&s);
		ftrace_value_add(f, "target_cpu", digits, true);
	}
	return s.at == s.end;
}

/* Make an array of a value that is a list of hexadecimal numbers: "3, 7ffe8d5547b0, 0". */
static void read_numbers(struct ftrace *f, struct ftrace_value *v)
{
	struct text_span s = v->text;
	uint8_t n = 0;

	do {
		if (n == FTRACE_SYSCALL_ARGUMENTS ||
		    !digits_hex(&s.at, s.end, &f->row.arguments[n++]))
			return;
	} while (span_skip(&s, ", "));
	if (s.at < s.end)
		return;
	v->kind = FIELD_HEX;
	v->count = n;
	v->numbers = f->row.arguments;
}

/* Read "NR ID = RET" and "NR ID (ARGS)" of sys_exit and sys_enter. */
static bool read_syscall(struct ftrace *f, struct text_span s)
{
	struct text_span id;

	if (!span_skip(&s, "NR "))
		return false;
	id = (struct text_span){s.at, memchr(s.at, ' ', span_size(s))};
	if (!id.end)
		return false;
	ftrace_value_add(f, "id", id, true);
	s.at = id.end + 1;
	if (span_skip(&s, "= ")) {
		ftrace_value_add(f, "ret", s, true);
		return true;
	}
	if (!span_skip(&s, "(") || s.end == s.at || s.end[-1] != ')')
		return false;
	ftrace_value_add(f, "args", (struct text_span){s.at, s.end - 1}, false);
	read_numbers(f, &f->values[f->nvalues - 1]);
	return true;
}

/* Read "KEY: ", or "TYPE KEY: " as the option verbose prints it, and move s->at after it. false:
 * there is no such text. */
static bool take_key(struct text_span *s, struct text_span *key)
{
	const char *p = s->at;

	key->at = p;
	for (; p < s->end && (isalnum((unsigned char)*p) || *p == '_' || *p == ' ' || *p == '*');
	     p++)
		if (*p == ' ' || *p == '*')
			key->at = p + 1;
	key->end = p;
	if (p == key->at || s->end - p < 2 || p[0] != ':' || p[1] != ' ')
		return false;
	s->at = p + 2;
	return true;
}

/* Test for what follows the string of an argument: ", KEY: ", or nothing. "..." is in place of
 * bytes that are not shown. */
static bool text_is_string_end(struct text_span after)
{
	struct text_span key;

	span_skip(&after, "...");
	return after.at == after.end || (span_skip(&after, ", ") && take_key(&after, &key));
}

/* Take the value that s begins with, and the key of the next argument. The bytes of a buffer may
 * have a comma, too: buf: 0x7ffd1 (68:65, ...) "he"... Returns false if there are no more
 * arguments. */
static bool kernel_text_take_value(struct text_span *s, struct text_span *value,
				   struct text_span *key)
{
	const char *quote = memchr(s->at, '"', span_size(*s)), *p = s->at, *end;

	*value = *s;
	while ((p = span_find((struct text_span){p, s->end}, ", "))) {
		struct text_span next = {p + 2, s->end};

		if (quote && quote < p) {
			end = ftrace_string_end((struct text_span){quote, s->end},
						text_is_string_end);
			p = end ? end : p;
			quote = NULL;
			continue;
		}
		if (take_key(&next, key)) {
			value->end = p;
			*s = next;
			return true;
		}
		p++;
	}
	return false;
}

/* Add the arguments "KEY: VALUE, KEY: VALUE" of a system call. */
static bool kernel_text_read_arguments(struct ftrace *f, struct text_span s)
{
	struct text_span key, value;
	bool more = take_key(&s, &key);

	if (!more)
		return false;
	while (more && f->nvalues < FTRACE_FIELDS_MOST) {
		struct text_span now = key;

		more = kernel_text_take_value(&s, &value, &key);
		ftrace_value_add(f, "", span_trim(value), true);
		f->values[f->nvalues - 1].key = now;
	}
	return !more;
}

/* Test for a text that begins with "KEY=". */
static bool is_key_first(struct text_span text)
{
	const char *p = text.at;

	while (p < text.end && (isalnum((unsigned char)*p) || *p == '_'))
		p++;
	return p > text.at && p < text.end && *p == '=';
}

/* Make the row of an event of a name and its text. */
static int ftrace_event(struct ftrace *f, struct text_span name, struct text_span text)
{
	const struct ftrace_value *last;
	bool closed = false, open = false, quote;

	f->nvalues = 0;
	ftrace_split(f, text);
	if (f->nvalues && !span_is(f->values[f->nvalues - 1].key, "message")) {
		/* a bracket or a quote is the end of the last value */
		last = &f->values[f->nvalues - 1];
		quote = last->text.at < last->text.end && *last->text.at == '"';
		closed = last->text.end < span_trim(text).end ||
			 (quote && span_size(last->text) > 1 && last->text.end[-1] == '"');
		open = !closed && (quote || (last->key.at > text.at &&
					     (last->key.at[-1] == '[' || last->key.at[-1] == '(')));
	}
	if (ftrace_keyed(f, name, NULL))
		return -1;
	if (!f->has_row || (f->nvalues == 1 && span_is(f->values[0].key, "message")))
		return 0;
	f->row.instant_text &= !closed;
	f->row.odd |= open;
	ftrace_cut_end(f, closed, open);
	return 0;
}

/* Make the row of a text with a name. */
static int named(struct ftrace *f, struct text_span name, struct text_span text)
{
	bool known = false, formed = true, free = false;

	f->nvalues = 0;
	if (span_is(name, "sched_switch"))
		known = read_switch(f, text);
	else if (span_begins(name, "sched_wak"))
		known = read_wakeup(f, text);
	else if (span_is(name, "sys_enter") || span_is(name, "sys_exit"))
		known = read_syscall(f, text);
	else if (span_begins(name, "sys_enter_"))
		known = free = kernel_text_read_arguments(f, text);
	else
		formed = false;
	if (!formed && span_begins(name, "sys_exit_") && text.at < text.end &&
	    !memchr(text.at, ' ', span_size(text)) && !memchr(text.at, '=', span_size(text))) {
		ftrace_value_add(f, "ret", text, true);
		known = true;
	} else if (!formed && (span_begins(name, "block_") || span_ends(name, "_noise") ||
			       span_is(name, "sample_threshold") || span_is(name, "hwlat") ||
			       span_is(name, "osnoise") || span_is(name, "timerlat")))
		known = ftrace_form_values(f, name, text);
	/* newer kernels print strings among the arguments */
	if (!known && formed && !memchr(text.at, '"', span_size(text)) && !is_key_first(text) &&
	    ftrace_cut_is_known(f, name)) {
		ftrace_cut_damage(f, f->offset);
		return 0;
	}
	if (!known)
		return ftrace_event(f, name, text);
	if (free)
		return ftrace_keyed(f, name, NULL);
	if (ftrace_typed(f, name, NULL))
		return -1;
	f->row.instant_text = false;
	return 0;
}

/* Make the row of print and the like: "[WHERE:] MESSAGE", or an atrace mark. */
static int kernel_text_printed(struct ftrace *f, const struct ftrace_line *l, struct text_span name,
			       struct text_span ip, struct text_span text)
{
	bool done = false;

	if (ip.at == ip.end)
		ip = ftrace_take_name(&text);
	if (ftrace_mark(f, l, text, &done))
		return -1;
	if (done)
		return 0;
	if (ip.at == ip.end && f->seen.ip && name.at < l->text.end && name.at >= l->text.at) {
		ftrace_cut_damage(f, f->offset);
		return 0;
	}
	/* a message has its blanks */
	if (span_skip_blanks(text.end, f->whole.end) == f->whole.end)
		text.end = f->whole.end;
	if (ip.at < ip.end && ip.end + 2 <= text.end && ip.end[1] == ' ')
		text.at = ip.end + 2;
	f->nvalues = 0;
	ftrace_value_add(f, "message", text, false);
	if (ip.at < ip.end) {
		/* the message is the last text: it may go on in the next line */
		f->values[1] = f->values[0];
		f->nvalues = 0;
		ftrace_value_add(f, "ip", ip, false);
		f->nvalues = 2;
	}
	f->row.mark = true;
	return ftrace_typed(f, name, NULL);
}

/* Take the values as hexadecimal, if all of them are: kernels up to 6.18 print the arguments of a
 * system call so, without 0x. Later ones print it before each number from 10 on, and texts. */
static void take_bare_hex(struct ftrace *f)
{
	uint64_t numbers[FTRACE_FIELDS_MOST];

	for (size_t i = 0; i < f->nvalues; i++) {
		struct text_span s = f->values[i].text;

		if (!digits_hex(&s.at, s.end, &numbers[i]) || s.at != s.end)
			return;
	}
	for (size_t i = 0; i < f->nvalues; i++) {
		f->values[i].kind = FIELD_HEX;
		f->values[i].number = numbers[i];
	}
}

/* Make the row of a system call as the kernel prints it: "sys_NAME(ARGS)", "sys_NAME -> RET". */
static int kernel_syscall(struct ftrace *f, struct text_span text, bool *done)
{
	char name[80] = "";
	const char *p = text.at + 4;
	struct text_span s;

	while (p < text.end && (isalnum((unsigned char)*p) || *p == '_'))
		p++;
	s = (struct text_span){p, text.end};
	*done = p - text.at < 64;
	f->nvalues = 0;
	/* a string with a newline goes on in the next line */
	if (*done && span_begins(s, "(") && (text.end[-1] == ')' || memchr(p, '"', span_size(s)))) {
		snprintf(name, sizeof name, "sys_enter_%.*s", (int)(p - text.at - 4), text.at + 4);
		s = (struct text_span){p + 1, text.end - (text.end[-1] == ')')};
		*done = s.at == s.end || kernel_text_read_arguments(f, s);
		take_bare_hex(f);
	} else if (*done && span_skip(&s, " -> ")) {
		snprintf(name, sizeof name, "sys_exit_%.*s", (int)(p - text.at - 4), text.at + 4);
		ftrace_value_add(f, "ret", s, true);
	} else {
		*done = false;
	}
	return *done ? ftrace_typed(f, (struct text_span){name, name + strlen(name)}, NULL) : 0;
}

static int stack_event(struct ftrace *f, const char *name, struct text_span text)
{
	struct field_entry stack = {.name = writer_text(f->w, "stack"),
				    .kind = FIELD_UINT,
				    .role = ROLE_STACK,
				    .where = WHERE_FIXED,
				    .size = 4};

	const char *arrow = span_find_rare(text, "=>", 0);

	if (!arrow && (text.at == text.end || (*text.at == '<' && text.end[-1] != '>'))) {
		ftrace_cut_damage(f, f->offset);
		return 0;
	}
	f->stack.wanted = true;
	f->stack.count = 0;
	if (arrow && arrow > text.at)
		input_damage(f->input, f->input->name, f->offset,
			     "a frame in the line of its event");
	if (arrow)
		f->stack.frames[f->stack.count++] =
			ftrace_frame(f, span_trim((struct text_span){arrow + 2, text.end}));
	f->row.type = ftrace_plain_type(
		f, name,
		&(struct type_entry){
			.kind = KIND_INSTANT, .fixed_size = 4, .nfields = 1, .fields = &stack});
	return f->row.type && !buffer_zero(&f->row.fixed, 4) ? 0 : -1;
}

/* Take "PID:PRIO:STATE" off a text, and add its fields. */
static bool take_state(struct ftrace *f, struct text_span *s, const char *const keys[3])
{
	*s = span_trim(*s);
	for (unsigned i = 0; i < 3; i++) {
		struct text_span word = take_digits(s);

		if (i == 2)
			while (s->at < s->end && *s->at != ' ')
				word.end = ++s->at;
		if (word.at == word.end || (i < 2 && !span_skip(s, ":")))
			return false;
		ftrace_value_add(f, keys[i], word, i < 2);
	}
	return true;
}

/* Read what the tracer wakeup prints: "PREV ==> [CPU] NEXT COMM" of a switch, and "+" in place of
 * the arrow of a wakeup. */
static int scheduled(struct ftrace *f, struct text_span s, bool *done)
{
	static const char *const prev[] = {"prev_pid", "prev_prio", "prev_state"};
	static const char *const next[] = {"next_pid", "next_prio", "next_state"};
	struct text_span cpu;
	bool change;

	f->nvalues = 0;
	if (!take_state(f, &s, prev))
		return 0;
	s = span_trim(s);
	change = span_skip(&s, "==> [");
	if (!change && !span_skip(&s, "+ ["))
		return 0;
	cpu = take_digits(&s);
	if (cpu.at == cpu.end || !span_skip(&s, "]"))
		return 0;
	ftrace_value_add(f, "next_cpu", cpu, true);
	if (!take_state(f, &s, next))
		return 0;
	ftrace_value_add(f, "next_comm", span_trim(s), false);
	*done = true;
	return ftrace_typed(f, change ? SPAN("context_switch") : SPAN("wakeup"), NULL);
}

static int kernel_text_unnamed(struct ftrace *f, const struct ftrace_line *l, struct text_span text)
{
	struct text_span name;
	bool done = false, arrow;

	if (ftrace_cut_name(f, text)) {
		ftrace_cut_damage(f, f->offset);
		return 0;
	}
	if (span_begins(text, "<stack trace"))
		return stack_event(f, "kernel_stack", text);
	if (span_begins(text, "<user stack trace"))
		return stack_event(f, "user_stack", text);
	if ((span_find_rare(text, "==> [", 4) || span_find_rare(text, "+ [", 2)) &&
	    (scheduled(f, text, &done) || done))
		return done ? 0 : -1;
	if (span_begins(text, "sys_") && (kernel_syscall(f, text, &done) || done))
		return done ? 0 : -1;
	if (text.at < text.end && isdigit((unsigned char)*text.at)) {
		struct ftrace_line call = *l;

		if (ftrace_blk(f, l, &done) || done)
			return done ? 0 : -1;

		/* a call of function_graph, printed by another tracer */
		if (ftrace_graph_line(text, &call) && call.kind == LINE_GRAPH && call.cpu == l->cpu)
			return ftrace_graph(f, &call, call.text, call.duration);
	}
	if (ftrace_form_unnamed(f, text, &name))
		return ftrace_typed(f, name, NULL);
	arrow = span_find_rare(text, " <-", 1) != NULL;
	f->seen.unnamed |= !arrow;
	if (text.at < text.end && (arrow || !memchr(text.at, ' ', span_size(text))))
		return ftrace_function(f, text);
	return kernel_text_printed(f, l, SPAN("print"), (struct text_span){text.at, text.at}, text);
}

bool ftrace_is_mark(struct text_span name)
{
	return span_is(name, "print") || span_is(name, "bprint") || span_is(name, "bputs") ||
	       span_is(name, "tracing_mark_write") || span_begins(name, "0x") ||
	       span_is(name, "0") || span_find_rare(name, "+0x", 0);
}

static int ftrace_text(struct ftrace *f, const struct ftrace_line *l)
{
	struct text_span text = l->text, name = ftrace_take_name(&text), none = {text.at, text.at},
			 rest;
	uint64_t duration;
	bool done = false;

	if (l->form == LINE_MMIO)
		return ftrace_mmio(f, l->text);
	if (name.at == name.end)
		return kernel_text_unnamed(f, l, text);
	if (span_is(name, "function"))
		return ftrace_function(f, text);
	if (span_is(name, "kernel_stack") || span_is(name, "user_stack"))
		return stack_event(f, span_is(name, "kernel_stack") ? "kernel_stack" : "user_stack",
				   text);
	if (span_is(name, "funcgraph_entry") || span_is(name, "funcgraph_exit")) {
		rest = l->text;
		rest.at = name.end + 1;
		if (ftrace_duration(&rest, &duration))
			return ftrace_graph(f, l, rest, duration);
		if (ftrace_graph_raw(f, l, name, text, &done) || done)
			return done ? 0 : -1;
		if (f->seen.call) {
			ftrace_cut_damage(f, f->offset);
			return 0;
		}
		if (named(f, name, text))
			return -1;
		f->row.odd = true;
		return 0;
	}
	if (span_is(name, "print") || span_is(name, "bprint") || span_is(name, "bputs")) {
		if (kernel_text_printed(f, l, name, none, text))
			return -1;
		f->seen.ip |= f->has_row && f->nvalues == 2;
		return 0;
	}
	if (ftrace_is_mark(name))
		return kernel_text_printed(f, l, SPAN("print"), name, text);
	return named(f, name, text);
}

/* --- the decoder of the kernel's trace text: its lines in their order --- */

enum { PROBE_LINES = 200 };

/* --- probe --- */

/* Test for a blank before "-1": in the text of perf script that is the thread -1. */
static bool is_thread_unknown(const struct ftrace_line *l)
{
	return l->tid == 1 && *l->comm.end == '-' && span_ends(l->comm, " ");
}

/* Test for the first bytes of a page of trace-viewer. */
static bool ftrace_is_page(const char *head, size_t n)
{
	return n > 5 && (!strncasecmp(head, "<!doc", 5) || !strncasecmp(head, "<html", 5));
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
		if (span_begins(line, "# tracer: "))
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
	if (l.clock != f->clock) {
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
	if (!f->stack.wanted)
		return 0;
	f->row.stack = writer_stack_of(f->w, f->stack.frames, f->stack.count);
	put_u32(f->row.fixed.data, f->row.stack);
	return f->stack.count && !f->row.stack ? -1 : 0;
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
	f->marks = calloc(1, sizeof *f->marks);
	if (!f->marks)
		return error_no_memory(e);
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
	if (got < 0 || (!got && !parts && ftrace_heading_check(f, e)))
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
	f->declared.clock = input_declare_clock(in, in->has_wall && !merge_wall(in));
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

static int ftrace_run(struct input *in, uint64_t until, struct error *e)
{
	struct ftrace *f = in->state;

	while (in->next <= until && in->next != UINT64_MAX) {
		if (!f->has_row || f->row.time > until) {
			if (ftrace_leaves_write(f, until, -1))
				return -1;
		} else if (ftrace_leaves_write(f, f->row.time, f->row.cpu) || ftrace_row_write(f) ||
			   ftrace_leave_later(f) || ftrace_advance(f, e)) {
			return -1;
		}
		in->next = f->has_row ? f->row.time : UINT64_MAX;
		if (f->nleaves && f->leaves[0]->time < in->next)
			in->next = f->leaves[0]->time;
	}
	return 0;
}

static void ftrace_close(struct input *in)
{
	struct ftrace *f = in->state;

	if (!f)
		return;
	if (!in->decoding->quiet)
		warn_count(in->name, f->strange - (f->strange > 0),
			   "more {line that is not an event|lines that are not events}");
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
	if (f->marks)
		atrace_free(f->marks);
	free(f->marks);
	for (size_t i = 0; i < f->declared.ntypes; i++)
		free(f->declared.types[i].fields);
	for (size_t i = 0; i < f->declared.nthreads; i++)
		free(f->declared.thread[i].frames);
	for (size_t i = 0; i < f->declared.ncpus; i++)
		free(f->declared.cpu[i].began);
	free(f->declared.types);
	free(f->declared.bases);
	free(f->declared.kernel);
	free(f->declared.thread);
	free(f->declared.cpu);
	id_cache_free(&f->declared.lanes);
	id_cache_free(&f->declared.threads);
	id_cache_free(&f->declared.locations);
	id_cache_free(&f->declared.plain_types);
	id_cache_free(&f->declared.names);
	key_map_free(&f->declared.cpus);
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
