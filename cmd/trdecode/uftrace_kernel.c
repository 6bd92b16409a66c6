/*
 * uftrace_kernel.c - events of the kernel, of perf and of other programs beside the calls of
 * uftrace
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "common/util/text_span.h"
#include "cmd/trdecode/uftrace.h"
#include "common/formats/perf.h"
#include "common/formats/uftrace.h"
#include "common/ftrace/event_format.h"
#include "common/ftrace/ring.h"
#include "common/util/intern.h"
#include "common/util/lines.h"

/* Parse a name "KIND-cpu<N>.dat". Return false if it is none. */
static bool uftrace_file_of_cpu(const char *name, const char *kind, uint32_t *cpu)
{
	size_t n = strlen(kind);
	unsigned number;
	int end = 0;

	if (strncmp(name, kind, n) != 0)
		return false;
	name += n;
	if (sscanf(name, "-cpu%u.dat%n", &number, &end) != 1 || !end || name[end])
		return false;
	*cpu = number;
	return true;
}

/* --- the lines of extern.dat, "SECONDS.FRACTION TEXT" --- */

/* Parse "sec.nsec" with one to nine decimals; -1 if the text is not a time. */
static int uftrace_kernel_parse_time(char **at, uint64_t *time)
{
	uint64_t sec = 0, nsec = 0, unit = 1000000000;
	char *p = *at;

	if (!isdigit((unsigned char)*p))
		return -1;
	for (; isdigit((unsigned char)*p); p++) {
		sec = sec * 10 + (uint64_t)(*p - '0');
		if (sec >= TIME_LIMIT / 1000000000)
			return -1;
	}
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p); p++)
			nsec += (uint64_t)(*p - '0') * (unit /= 10);
	*time = sec * 1000000000 + nsec;
	*at = p;
	return 0;
}

/* Find the next line with an event: set base.due.time and text. */
static void extern_look_ahead(struct uftrace *u)
{
	struct lines *l = &u->external.lines;

	u->external.base.due.time = UINT64_MAX;
	while (lines_next(l)) {
		char *p = l->line;
		uint64_t time;

		l->line[l->size] = '\0';
		while (isspace((unsigned char)*p))
			p++;
		if (!*p || *p == '#')
			continue;
		if (!uftrace_kernel_parse_time(&p, &time)) {
			u->external.text = p + strspn(p, " \t");
			u->external.base.due.time = time;
			return;
		}
		uftrace_damage(u, "extern.dat", (uint64_t)(l->line - u->external.data),
			       "a line without a time");
	}
}

static uint32_t extern_type(struct uftrace *u)
{
	struct field_entry message = {.name = writer_text(u->w, "message"),
				      .kind = FIELD_STRING,
				      .role = ROLE_MESSAGE,
				      .where = WHERE_REST,
				      .size = 1};
	struct type_entry type = {.source = u->ids.source,
				  .name = writer_text(u->w, "external-data"),
				  .group = writer_text(u->w, "uftrace"),
				  .kind = KIND_INSTANT,
				  .flags = TYPE_TAIL,
				  .native = UFTRACE_EV_EXTERN,
				  .nfields = 1,
				  .fields = &message};

	if (!u->external.type)
		u->external.type = writer_type(u->w, &type);
	return u->external.type;
}

static int extern_run(struct uftrace *u, struct lane_reader *r)
{
	char *text = u->external.text;
	size_t n = strlen(text);

	/* before all other events it belongs to the first task, as in uftrace */
	if (!u->last_lane && u->ntasks)
		u->last_lane = u->task_readers[0].lane;
	if (u->last_lane && writer_row_data(u->w, (struct new_row){.time = shifted(u, r->due.time),
								   .lane = u->last_lane,
								   .type = extern_type(u),
								   .tail = text,
								   .tail_size = (uint32_t)n,
								   .has_tail = true}))
		return -1;
	u->external.lines.next = text + n + 1;
	extern_look_ahead(u);
	return 0;
}

int uftrace_extern_begin(struct uftrace *u, struct error *e)
{
	void *data;
	size_t size;

	u->external.base.due.time = UINT64_MAX;
	u->external.base.run = extern_run;
	if (u->input->member || !tree_has(u->input->tree, "extern.dat"))
		return 0;
	if (tree_read(u->input->tree, "extern.dat", 256 << 20, &data, &size, e)) {
		input_damage_error(u->input, e);
		e->what[0] = '\0';
		return 0;
	}
	u->external.data = data;
	u->external.lines = lines_of(data, size);
	extern_look_ahead(u);
	return 0;
}

/* --- the kernel's part of a uftrace recording: what kernel_header describes --- */

struct kernel {
	/* kernel_header */
	char *text;
	size_t size;
	struct ring_layout layout;
	uint32_t page_size, word;
	struct ftrace_events events;

	struct uftrace_kernel_reader *readers;
	size_t nreaders;
	uint32_t space;
	struct idmap entered; /* locations of functions that were entered */
	uint64_t unknown;     /* records of events without a format */
};

/*
 * Parse kernel_header: size of a page, word size and byte order, and the texts header_page and
 * format of each event.
 */

enum {
	HEADER_LIMIT = 64 << 20,
	PAGE_LEAST = 256,
	PAGE_MOST = 1 << 20,
};

/* Add the event of a file events/SYSTEM/EVENT/format. Returns 0; 1: the text is not a format; -1.
 */
static int uftrace_kernel_add_event(struct kernel *k, const char *name, size_t n, const char *text,
				    size_t size)
{
	static const char prefix[] = "events/", suffix[] = "/format";
	size_t before = sizeof(prefix) - 1, after = sizeof(suffix) - 1;
	const char *system = name + before, *slash;

	if (n < before + after || memcmp(name, prefix, before) ||
	    memcmp(name + n - after, suffix, after))
		return 0;
	slash = memchr(system, '/', n - before);
	switch (ftrace_events_add(&k->events, system, (size_t)(slash - system), text, size,
				  k->word)) {
	case FTRACE_NO_MEMORY: return -1;
	case FTRACE_ADDED: return 0;
	case FTRACE_NO_FORMAT:
	case FTRACE_KNOWN: break;
	}
	return 1;
}

/* Take the key off "KEY: value". Returns false if the line has another one, or no value. */
static bool kernel_take_key(struct text_span *line, const char *key)
{
	bool is = span_begins(*line, key) && span_size(*line) > strlen(key);

	line->at += is ? strlen(key) : 0;
	return is;
}

static bool uftrace_kernel_parse_size(struct text_span s, uint64_t *size)
{
	return span_size(s) && span_digits(s.at, s.end, size) == s.end;
}

/* Parse "events/sched/sched_switch/format: 1488", and so many bytes after the line. */
static int parse_blob(struct kernel *k, const char *name, struct lines *l)
{
	const char *line_end = l->line + l->size, *colon = line_end;
	uint64_t size;
	uint32_t data_size;
	int got;

	while (colon > name && *colon != ':')
		colon--;
	if (colon == name || line_end - colon < 2 ||
	    !uftrace_kernel_parse_size((struct text_span){colon + 2, line_end}, &size) ||
	    size > (uint64_t)(l->end - l->next))
		return 1;
	if (colon - name == 18 && !memcmp(name, "events/header_page", 18))
		got = !ring_layout_parse(&k->layout, l->next, size, k->layout.big_endian,
					 (uint8_t)k->word, &data_size);
	else
		got = uftrace_kernel_add_event(k, name, (size_t)(colon - name), l->next, size);
	l->next += size;
	return got;
}

/* Returns 0; 1: damage, at *offset; -1: out of memory. */
static int uftrace_kernel_parse_header(struct kernel *k, uint64_t *offset)
{
	struct lines l = lines_of(k->text, k->size);
	uint64_t number;
	int got = 0, bad;

	while (lines_next(&l)) {
		struct text_span line = {l.line, l.line + l.size};

		*offset = (uint64_t)(l.line - k->text);
		if (!l.whole)
			return 1;
		if (kernel_take_key(&line, "PAGE_SIZE: ")) {
			if (!uftrace_kernel_parse_size(line, &number) || number < PAGE_LEAST ||
			    number > PAGE_MOST || number & (number - 1))
				return 1;
			k->page_size = (uint32_t)number;
		} else if (kernel_take_key(&line, "LONG_SIZE: ")) {
			if (!uftrace_kernel_parse_size(line, &number) ||
			    (number != 4 && number != 8))
				return 1;
			k->word = (uint32_t)number;
			k->layout.long_size = (uint8_t)number;
			k->layout.data = 8 + k->word;
		} else if (kernel_take_key(&line, "ENDIAN: ")) {
			k->layout.big_endian = *line.at == 'B';
		} else if (kernel_take_key(&line, "TRACEFS: ")) {
			bad = parse_blob(k, line.at, &l);
			if (bad < 0)
				return -1;
			if (bad && l.next == line.end + 1)
				return 1;
			got |= bad;
		} else {
			return 1;
		}
	}
	return got;
}

/* Read kernel_header. Returns 0; 1: the kernel's data cannot be decoded, and the reason was
 * reported; -1: out of memory. */
static int kernel_header_read(struct uftrace *u, struct kernel *k, struct error *e)
{
	uint64_t offset = 0;
	struct error damage;
	void *data;
	int got;

	k->word = u->info.is_32bit ? 4 : 8;
	k->layout = (struct ring_layout){u->info.big_endian, (uint8_t)k->word, 8 + k->word};
	k->page_size = 4096;
	if (tree_read(u->input->tree, "kernel_header", HEADER_LIMIT, &data, &k->size, &damage)) {
		input_damage_error(u->input, &damage);
		return 1;
	}
	k->text = data;
	got = uftrace_kernel_parse_header(k, &offset);
	if (got < 0 || ftrace_events_kinds(&k->events))
		return error_no_memory(e);
	if (got)
		uftrace_damage(u, "kernel_header", offset,
			       "the header of the kernel's data is damaged");
	if (!k->events.type.size) {
		uftrace_damage(u, "kernel_header", NO_OFFSET,
			       "no event format: the kernel's data is not read");
		return 1;
	}
	return 0;
}

/*
 * Kernel-cpuN.dat: functions and events of the kernel, from its ring buffer.
 *
 * A function's address is stored complete. Records of tasks that are not in the recording are left
 * out, as in uftrace.
 */

enum {
	READ_AHEAD = 64 * 1024,
	READ_AHEAD_ALL = 1 << 20,
	CPU_FIELD = 4, /* size of the fixed part of every row */
};

struct uftrace_kernel_reader {
	struct lane_reader base;
	const char *member;
	struct tracecmd_file file;
	char path[512];
	bool keep, listed;
	uint32_t cpu;
	uint32_t lane, idle_lane; /* of the CPU, and of its thread 0; 0: not yet declared */
	struct cpu_data data;
	/* the next record */
	struct ring_record record;
	const struct ftrace_event *event;
	uint32_t row_lane;
};

/* --- what is declared --- */

static int uftrace_kernel_declare_space(struct uftrace *u, struct kernel *k)
{
	struct writer *w = u->w;
	struct map_entry map = {
		.end = UINT64_MAX,
		.path = writer_text(w, "[kernel]"),
		.table = writer_text(w, tree_has(u->input->tree, "kallsyms") ? "kallsyms" : NULL)};

	k->space = writer_space(w, &(struct space_entry){.source = u->ids.source,
							 .name = writer_text(w, "kernel"),
							 .flags = SPACE_KERNEL});
	map.space = k->space;
	return k->space ? writer_map(w, &map) : -1;
}

static int uftrace_kernel_declare_type(struct uftrace *u, struct kernel *k, struct ftrace_event *v)
{
	struct field_entry fields[FTRACE_FIELDS + 1];
	struct writer *w = u->w;
	struct type_entry e = {.source = u->ids.source,
			       .group = writer_string(w, v->system, v->system_size),
			       .declaration = writer_string(w, v->text, v->text_size),
			       .kind = (uint8_t)v->kind,
			       .word_size = (uint8_t)k->word,
			       .flags = TYPE_TAIL | (k->layout.big_endian ? TYPE_BIG_ENDIAN : 0),
			       .fixed_size = CPU_FIELD,
			       .native = v->format.id,
			       .fields = fields};

	if (v->kind != KIND_INSTANT)
		e.flags |= TYPE_DEPTH | TYPE_KERNEL;
	e.name = writer_string(w, v->format.name, v->format.name_size);
	fields[e.nfields++] = (struct field_entry){.name = writer_text(w, "cpu"),
						   .kind = FIELD_UINT,
						   .role = ROLE_CPU,
						   .where = WHERE_FIXED,
						   .size = CPU_FIELD};
	ftrace_fields(&k->events, v, w, fields, &e);
	v->type = writer_type(w, &e);
	return !v->type || row_filter_announce(u->input->decoding->row_filter, v->type, 0) ? -1 : 0;
}

/* --- records --- */

/* Declare a lane of a CPU: of its thread 0, or of no thread. */
static uint32_t cpu_lane(struct uftrace *u, const struct uftrace_kernel_reader *r, bool idle)
{
	return writer_lane(u->w,
			   &(struct lane_entry){.source = u->ids.source,
						.clock = u->ids.clock,
						.comm = idle ? writer_text(u->w, "<idle>") : 0,
						.flags = LANE_HAS_CPU | (idle ? LANE_HAS_TID : 0),
						.cpu = (int32_t)r->cpu});
}

/* Find the lane of a record: if the running task is not in the recording, uftrace takes the task
 * that the record names. Calls of thread 0 are those of a task that it has just become. Returns 0
 * if the record is of no task of the recording; *failed: out of memory. */
static uint32_t uftrace_kernel_lane_of(struct uftrace *u, struct uftrace_kernel_reader *r,
				       const struct ftrace_event *v, bool *failed)
{
	const struct kernel *k = u->kernel;
	const struct ring_record *record = &r->record;
	bool big = k->layout.big_endian;
	int32_t tid = (int32_t)event_format_ftrace_number(record, k->events.pid, big);
	struct task_reader *t = uftrace_task_of(u, tid);

	if (!t && v->kind != KIND_INSTANT && !tid) {
		if (!r->idle_lane)
			r->idle_lane = cpu_lane(u, r, true);
		*failed = !r->idle_lane;
		return r->idle_lane;
	}
	if (!t && v->kind == KIND_INSTANT && ftrace_number_fits(record, v->next_pid))
		t = uftrace_task_of(u,
				    (int32_t)event_format_ftrace_number(record, v->next_pid, big));
	else if (!t && v->kind == KIND_INSTANT && ftrace_number_fits(record, v->pid))
		t = uftrace_task_of(u, (int32_t)event_format_ftrace_number(record, v->pid, big));
	return t ? t->lane : 0;
}

/* Test a record: 1: it is the next one; 0: it is not needed, or damaged; -1: out of memory. */
static int kernel_take(struct uftrace *u, struct kernel *k, struct uftrace_kernel_reader *r)
{
	const struct ring_record *record = &r->record;
	struct ftrace_event *v;
	bool failed = false;

	if (!ftrace_number_fits(record, k->events.type) ||
	    !ftrace_number_fits(record, k->events.pid)) {
		input_damage(u->input, r->path, NO_OFFSET,
			     "a record shorter than its common fields");
		return 0;
	}
	if (record->time >= TIME_LIMIT) {
		input_damage(u->input, r->path, NO_OFFSET, "a record with a damaged time");
		return 0;
	}
	v = ftrace_events_find(&k->events, (uint16_t)event_format_ftrace_number(
						   record, k->events.type, k->layout.big_endian));
	if (!v) {
		k->unknown++;
		return 0;
	}
	r->row_lane = uftrace_kernel_lane_of(u, r, v, &failed);
	if (!r->row_lane)
		return failed ? -1 : 0;
	if (v->kind != KIND_INSTANT && record->size < v->least) {
		input_damage(u->input, r->path, NO_OFFSET,
			     "a record shorter than the fields of its event");
		return 0;
	}
	r->event = v;
	return 1;
}

static void uftrace_kernel_close_file(struct uftrace_kernel_reader *r)
{
	if (r->file.fd >= 0)
		close(r->file.fd);
	r->file.fd = -1;
}

static int uftrace_kernel_next_record(struct uftrace *u, struct uftrace_kernel_reader *r,
				      struct error *e)
{
	uint64_t start, size;
	int got;

	if (ring_next(&r->data.page, &r->record) > 0)
		return 1;
	if (r->file.fd < 0)
		r->file.fd = tree_fd(u->input->tree, r->member, &start, &size, e);
	if (r->file.fd < 0)
		return -1;
	got = cpu_data_page(&r->data, &r->record, e);
	if (!r->keep)
		uftrace_kernel_close_file(r);
	return got;
}

static int uftrace_kernel_report_lost(struct uftrace *u, struct uftrace_kernel_reader *r,
				      uint64_t time)
{
	struct gap g = {.reason = GAP_LOST,
			.unit = GAP_EVENTS,
			.count = r->data.missed,
			.offset = NO_OFFSET};

	if (!r->lane)
		r->lane = cpu_lane(u, r, false);
	r->data.missed = 0;
	return r->lane ? writer_gap(u->w, shifted(u, time), r->lane, &g) : -1;
}

static void end_reader(struct uftrace_kernel_reader *r)
{
	r->base.due.time = UINT64_MAX;
	uftrace_kernel_close_file(r);
	cpu_data_free(&r->data);
}

/* Note the time of the next event of the kernel or of perf. At equal times the end of a call on top
 * of those of a task is before the task's events, which may end these. */
static inline void uftrace_inner_due(struct lane_reader *r, uint64_t time, bool ends)
{
	r->due.time = time;
	r->due.rank = ends ? 0 : r->rank;
}

/* Find the next record that is needed. A failure ends this CPU's data. */
static void kernel_look_ahead(struct uftrace *u, struct kernel *k, struct uftrace_kernel_reader *r)
{
	struct error e;
	int got, taken;

	do {
		got = uftrace_kernel_next_record(u, r, &e);
		if (r->data.damaged) {
			input_damage_error(u->input, &r->data.damage);
			r->data.damaged = false;
		}
		taken = got > 0 ? kernel_take(u, k, r) : 1;
	} while (!taken);
	if (taken < 0)
		got = error_no_memory(&e);
	if (got < 0)
		input_damage_error(u->input, &e);
	if (got <= 0)
		end_reader(r);
	else
		uftrace_inner_due(&r->base, r->record.time, r->event->kind == KIND_LEAVE);
}

static int uftrace_kernel_write_row(struct uftrace *u, struct kernel *k,
				    struct uftrace_kernel_reader *r)
{
	struct ftrace_event *v = &k->events.event[r->event - k->events.event];
	uint32_t location = 0, depth = 0;
	uint8_t fixed[CPU_FIELD];

	if (v->kind != KIND_INSTANT) {
		location = uftrace_kernel_location(
			u, k->space,
			event_format_ftrace_number(&r->record, v->address, k->layout.big_endian));
		depth = (uint32_t)event_format_ftrace_number(&r->record, v->depth,
							     k->layout.big_endian) &
			0xffff;
		if (!location)
			return -1;
		/* as in uftrace: calls that were open when the recording began are left out */
		if (v->kind == KIND_LEAVE && !idmap_get(&k->entered, location))
			return 0;
		if (v->kind == KIND_ENTER && idmap_set(&k->entered, location, 1))
			return -1;
	}
	put_u32(fixed, r->cpu);
	return writer_row_data(u->w, (struct new_row){.time = shifted(u, r->record.time),
						      .lane = r->row_lane,
						      .type = v->type,
						      .location = location,
						      .depth = depth,
						      .fixed = fixed,
						      .fixed_size = sizeof(fixed),
						      .tail = r->record.data,
						      .tail_size = r->record.size,
						      .has_tail = true});
}

static int kernel_run(struct uftrace *u, struct lane_reader *reader)
{
	struct uftrace_kernel_reader *r = (struct uftrace_kernel_reader *)reader;

	if (r->data.missed && uftrace_kernel_report_lost(u, r, r->record.time))
		return -1;
	if (uftrace_kernel_write_row(u, u->kernel, r))
		return -1;
	u->last_lane = r->row_lane;
	kernel_look_ahead(u, u->kernel, r);
	return 0;
}

/* --- begin and end --- */

static void begin_reader(struct uftrace *u, struct kernel *k, struct uftrace_kernel_reader *r,
			 const char *member, size_t count)
{
	size_t ahead = READ_AHEAD_ALL / count;
	uint64_t start, size;
	struct error e;

	r->member = member;
	r->base.run = kernel_run;
	r->base.due.time = UINT64_MAX;
	tree_path(u->input->tree, member, r->path, sizeof(r->path));
	r->file = (struct tracecmd_file){.name = r->path, .fd = -1};
	r->file.fd = tree_fd(u->input->tree, member, &start, &size, &e);
	if (r->file.fd < 0) {
		input_damage_error(u->input, &e);
		return;
	}
	r->file.size = start + size;
	r->keep = window_keep(u->input->decoding, count);
	r->data.file = &r->file;
	r->data.layout = k->layout;
	cpu_data_begin(&r->data, start, size, k->page_size,
		       (uint32_t)(ahead < READ_AHEAD ? ahead : READ_AHEAD));
	kernel_look_ahead(u, k, r);
}

int uftrace_kernel_begin(struct uftrace *u, struct error *e)
{
	const struct tree *tree = u->input->tree;
	size_t count = 0, first = tree_lower_bound(tree, "kernel-cpu");
	struct kernel *k;
	uint32_t cpu;
	int got;

	if (u->input->member)
		return 0;
	for (size_t i = first; i < tree_count(tree); i++)
		count += uftrace_file_of_cpu(tree_member(tree, i), "kernel", &cpu);
	if (!count)
		return 0;
	k = u->kernel = calloc(1, sizeof(*k));
	if (!k)
		return error_no_memory(e);
	got = kernel_header_read(u, k, e);
	if (got)
		return got < 0 ? -1 : 0;
	k->readers = calloc(count, sizeof(*k->readers));
	if (!k->readers)
		return error_no_memory(e);
	if (uftrace_kernel_declare_space(u, k))
		return -1;
	for (size_t i = 0; i < k->events.count; i++)
		if (uftrace_kernel_declare_type(u, k, &k->events.event[i]))
			return -1;
	for (size_t i = first; i < tree_count(tree) && k->nreaders < count; i++) {
		if (!uftrace_file_of_cpu(tree_member(tree, i), "kernel", &cpu))
			continue;
		k->readers[k->nreaders].cpu = cpu;
		begin_reader(u, k, &k->readers[k->nreaders++], tree_member(tree, i), count);
	}
	return 0;
}

size_t uftrace_kernel_nreaders(const struct uftrace *u)
{
	return u->kernel ? u->kernel->nreaders : 0;
}

struct lane_reader *uftrace_kernel_reader(struct uftrace *u, size_t i)
{
	return &u->kernel->readers[i].base;
}

void uftrace_kernel_close(struct uftrace *u)
{
	struct kernel *k = u->kernel;

	if (!k)
		return;
	if (k->unknown && !u->input->decoding->quiet)
		warn(u->input->name, NO_OFFSET,
		     "records of kernel events whose format the recording does not have, left "
		     "out: %llu",
		     (unsigned long long)k->unknown);
	for (size_t i = 0; i < k->nreaders; i++)
		end_reader(&k->readers[i]);
	ftrace_events_free(&k->events);
	free(k->text);
	free(k->readers);
	idmap_free(&k->entered);
	free(k);
	u->kernel = NULL;
}

/*
 * Perf-cpuN.dat: when tasks ran, began, ended and changed their names.
 *
 * Records are those of common/formats/perf.h, with {u32 pid, u32 tid, u64 time} at the end. Records
 * of tasks without a file of their own are left out, as in uftrace.
 */

enum {
	PERF_TRAILER = 16,
	PERF_USEFUL = 256, /* all records that are decoded are shorter */
};

struct uftrace_perf_record {
	uint32_t type;
	uint16_t misc, size;
	uint32_t pid, tid; /* in the sample id */
	uint64_t sample_time;
	uint64_t time;	  /* of the body, if the body has one, else of the sample id */
	uint32_t subject; /* tid of the task that the record describes */
};

static bool is_used(uint32_t type)
{
	return type == PERF_RECORD_SWITCH || type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT ||
	       type == PERF_RECORD_COMM;
}

/* Decode the record at d, of which `have` bytes exist. Return false if there is no record. */
static bool perf_unpack(const struct uftrace *u, const uint8_t *d, size_t have,
			struct uftrace_perf_record *r)
{
	bool big = u->info.big_endian;
	size_t least = PERF_RECORD_HEAD + PERF_TRAILER;
	const uint8_t *id;

	*r = (struct uftrace_perf_record){.type = (uint32_t)get_uint(d, 4, big),
					  .misc = (uint16_t)get_uint(d + 4, 2, big),
					  .size = (uint16_t)get_uint(d + 6, 2, big)};
	if (r->type == PERF_RECORD_FORK || r->type == PERF_RECORD_EXIT)
		least += 24;
	if (r->type == PERF_RECORD_COMM)
		least += 8;
	if (!r->type || r->type > 64 || r->size % 8 || r->size < least)
		return false;
	if (!is_used(r->type))
		return true;
	if (r->size > have)
		return false;
	id = d + r->size - PERF_TRAILER;
	r->pid = (uint32_t)get_uint(id, 4, big);
	r->tid = r->subject = (uint32_t)get_uint(id + 4, 4, big);
	r->time = r->sample_time = get_uint(id + 8, 8, big);
	if (r->type == PERF_RECORD_FORK || r->type == PERF_RECORD_EXIT) {
		r->subject = (uint32_t)get_uint(d + 16, 4, big);
		r->time = get_uint(d + 24, 8, big);
	} else if (r->type == PERF_RECORD_COMM) {
		r->subject = (uint32_t)get_uint(d + 12, 4, big);
	}
	return r->time < TIME_LIMIT;
}

/* Test whether the time is possible. The body's time may be a little before that of the previous
 * record. */
static bool perf_time_fits(const struct perf_reader *p, uint64_t time)
{
	return !p->last || (time + 1000000 >= p->last && time < p->last + TASK_JUMP);
}

/* Test whether the record's time is damaged. It does not fit, and the next record's time does. */
static bool is_outlier(const struct uftrace *u, const struct perf_reader *p,
		       const struct uftrace_perf_record *r, size_t have)
{
	struct uftrace_perf_record next;

	return have >= r->size + (size_t)PERF_RECORD_HEAD &&
	       perf_unpack(u, window_at(&p->file) + r->size, have - r->size, &next) &&
	       is_used(next.type) && perf_time_fits(p, next.time);
}

/* Find the next record that is needed: set *r and base.due.time. Returns 0, or -1. */
static int perf_look_ahead(struct uftrace *u, struct perf_reader *p, struct uftrace_perf_record *r,
			   struct error *e)
{
	bool reported = false;

	for (;;) {
		ssize_t have = window_need(&p->file, PERF_USEFUL, e);
		uint64_t left = p->file.size - p->file.offset;

		if (have < 0)
			return -1;
		if (have < PERF_RECORD_HEAD) {
			if (have && !reported)
				uftrace_damage(u, p->member, p->file.offset,
					       "the file ends inside of a record");
			break;
		}
		if (!perf_unpack(u, window_at(&p->file), (size_t)have, r) || r->size > left) {
			/* search on, in steps of the records' alignment */
			if (!reported)
				uftrace_damage(u, p->member, p->file.offset,
					       r->size > left ? "the file ends inside of a record"
							      : "a damaged record");
			reported = true;
			window_skip(&p->file, 8);
			continue;
		}
		if (is_used(r->type) && uftrace_task_of(u, (int32_t)r->subject)) {
			if (p->checked != p->file.offset + 1 && !perf_time_fits(p, r->time)) {
				p->checked = p->file.offset + 1;
				uftrace_damage(u, p->member, p->file.offset,
					       "a record whose time does not fit those beside it");
				if (is_outlier(u, p, r, (size_t)have)) {
					window_skip(&p->file, r->size);
					continue;
				}
			}
			uftrace_inner_due(&p->base, r->time,
					  r->type == PERF_RECORD_SWITCH &&
						  !(r->misc & PERF_MISC_SWITCH_OUT));
			return 0;
		}
		window_skip(&p->file, r->size);
	}
	p->base.due.time = UINT64_MAX;
	window_close(&p->file);
	return 0;
}

static const char *const switch_fields[] = {"cpu", "misc"};

/* Declare a type that has a kind, flags and a native number, with n fields of 4 bytes (a time: 8).
 */
static uint32_t uftrace_kernel_perf_declare(struct uftrace *u, const char *name,
					    struct type_entry type, const char *const *names,
					    uint32_t n)
{
	struct field_entry fields[10] = {{0}};

	type.source = u->ids.source;
	type.name = writer_text(u->w, name);
	type.group = writer_text(u->w, "linux");
	type.word_size = u->info.is_32bit ? 4 : 8;
	type.fields = fields;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t size = !strcmp(names[i], "sample_time") ? 8 : 4;

		fields[i] = (struct field_entry){.name = writer_text(u->w, names[i]),
						 .kind = FIELD_UINT,
						 .offset = type.fixed_size,
						 .size = size};
		if (!strcmp(names[i], "cpu"))
			fields[i].role = ROLE_CPU;
		if (size == 8)
			fields[i].role = ROLE_SOURCE_TIME;
		if (!strcmp(names[i], "misc"))
			fields[i].kind = FIELD_HEX;
		type.fixed_size += size;
	}
	type.nfields = n;
	if (type.flags & TYPE_TAIL)
		fields[type.nfields++] = (struct field_entry){.name = writer_text(u->w, "comm"),
							      .kind = FIELD_STRING,
							      .role = ROLE_MESSAGE,
							      .where = WHERE_REST,
							      .size = 1};
	return writer_type(u->w, &type);
}

static int uftrace_kernel_switch_row(struct uftrace *u, struct perf_reader *p,
				     struct task_reader *t, const struct uftrace_perf_record *r)
{
	bool out = r->misc & PERF_MISC_SWITCH_OUT;
	uint8_t fixed[8];
	uint32_t location = u->ids.sched_location;

	put_u32(fixed, p->cpu);
	put_u32(fixed + 4, r->misc);
	if (out) {
		if (r->misc & PERF_MISC_PREEMPT)
			location = u->ids.preempt_location;
		t->sched_location = location;
	} else if (t->sched_location) {
		/* the record ends the open one: its location is the one that began, which the
		 * record does not give */
		location = t->sched_location;
		t->sched_location = 0;
	}
	return writer_row_data(u->w,
			       (struct new_row){.time = shifted(u, r->time),
						.lane = t->lane,
						.type = out ? u->ids.sched_out : u->ids.sched_in,
						.location = location,
						.fixed = fixed,
						.fixed_size = sizeof(fixed)});
}

static int fork_row(struct uftrace *u, struct perf_reader *p, struct task_reader *t,
		    const struct uftrace_perf_record *r)
{
	static const char *const names[] = {"cpu",  "misc",	   "pid",	 "ppid",      "tid",
					    "ptid", "sample_time", "sample_pid", "sample_tid"};
	bool fork = r->type == PERF_RECORD_FORK;
	const uint8_t *d = window_at(&p->file) + PERF_RECORD_HEAD;
	uint32_t *type = fork ? &u->ids.task_new : &u->ids.task_exit;
	uint8_t fixed[40];

	if (!*type)
		*type = uftrace_kernel_perf_declare(
			u, fork ? "linux:task-new" : "linux:task-exit",
			(struct type_entry){.kind = KIND_INSTANT,
					    .native = fork ? UFTRACE_EV_TASK_NEW
							   : UFTRACE_EV_TASK_EXIT},
			names, 9);
	put_u32(fixed, p->cpu);
	put_u32(fixed + 4, r->misc);
	for (int i = 0; i < 4; i++)
		put_u32(fixed + 8 + 4 * i, (uint32_t)get_uint(d + 4 * i, 4, u->info.big_endian));
	put_u64(fixed + 24, r->sample_time);
	put_u32(fixed + 32, r->pid);
	put_u32(fixed + 36, r->tid);
	return writer_row_data(u->w, (struct new_row){.time = shifted(u, r->time),
						      .lane = t->lane,
						      .type = *type,
						      .fixed = fixed,
						      .fixed_size = sizeof(fixed)});
}

static int comm_row(struct uftrace *u, struct perf_reader *p, struct task_reader *t,
		    const struct uftrace_perf_record *r)
{
	static const char *const names[] = {"cpu", "misc", "pid", "tid"};
	const uint8_t *d = window_at(&p->file) + PERF_RECORD_HEAD;
	const char *comm = (const char *)d + 8;
	size_t n = strnlen(comm, r->size - PERF_RECORD_HEAD - 8 - PERF_TRAILER);
	uint8_t fixed[16];

	if (!u->ids.task_name)
		u->ids.task_name = uftrace_kernel_perf_declare(
			u, "linux:task-name",
			(struct type_entry){.kind = KIND_INSTANT,
					    .flags = TYPE_TAIL,
					    .native = UFTRACE_EV_TASK_COMM},
			names, 4);
	put_u32(fixed, p->cpu);
	put_u32(fixed + 4, r->misc);
	put_u32(fixed + 8, (uint32_t)get_uint(d, 4, u->info.big_endian));
	put_u32(fixed + 12, (uint32_t)get_uint(d + 4, 4, u->info.big_endian));
	if (uftrace_rename(u, t, comm, n))
		return -1;
	return writer_row_data(u->w, (struct new_row){.time = shifted(u, r->time),
						      .lane = t->lane,
						      .type = u->ids.task_name,
						      .fixed = fixed,
						      .fixed_size = sizeof(fixed),
						      .tail = comm,
						      .tail_size = (uint32_t)n,
						      .has_tail = true});
}

static int uftrace_kernel_perf_run(struct uftrace *u, struct lane_reader *reader)
{
	struct perf_reader *p = (struct perf_reader *)reader;
	struct uftrace_perf_record r;
	struct task_reader *t;
	struct error e;
	int bad;

	if (perf_look_ahead(u, p, &r, &e))
		goto failed;
	if (reader->due.time == UINT64_MAX)
		return 0;
	t = uftrace_task_of(u, (int32_t)r.subject);
	if (r.type == PERF_RECORD_SWITCH)
		bad = uftrace_kernel_switch_row(u, p, t, &r);
	else if (r.type == PERF_RECORD_COMM)
		bad = comm_row(u, p, t, &r);
	else
		bad = fork_row(u, p, t, &r);
	if (bad)
		return -1;
	u->last_lane = t->lane;
	p->last = r.time;
	window_skip(&p->file, r.size);
	if (!perf_look_ahead(u, p, &r, &e))
		return 0;
failed:
	input_damage_error(u->input, &e);
	reader->due.time = UINT64_MAX;
	window_close(&p->file);
	return 0;
}

/* Files are opened in the bytewise order of their names: uftrace's order for equal times. */
int uftrace_perf_begin(struct uftrace *u, struct error *e)
{
	const struct tree *tree = u->input->tree;
	size_t count = 0, i = tree_lower_bound(tree, "perf-cpu");
	uint32_t cpu;

	if (u->input->member)
		return 0;
	for (size_t k = i; k < tree_count(tree); k++)
		count += uftrace_file_of_cpu(tree_member(tree, k), "perf", &cpu);
	if (!count)
		return 0;
	u->perf = calloc(count, sizeof(*u->perf));
	if (!u->perf)
		return error_no_memory(e);
	u->ids.sched_out = uftrace_kernel_perf_declare(
		u, "linux:sched-out",
		(struct type_entry){
			.kind = KIND_ENTER, .flags = TYPE_INNER, .native = UFTRACE_EV_SCHED_OUT},
		switch_fields, 2);
	u->ids.sched_in = uftrace_kernel_perf_declare(
		u, "linux:sched-in",
		(struct type_entry){
			.kind = KIND_LEAVE, .flags = TYPE_INNER, .native = UFTRACE_EV_SCHED_IN},
		switch_fields, 2);
	u->ids.sched_location = writer_location(
		u->w, &(struct location_entry){.address = UFTRACE_EV_SCHED_BOTH,
					       .name = writer_text(u->w, "linux:schedule")});
	u->ids.preempt_location = writer_location(
		u->w,
		&(struct location_entry){.address = UFTRACE_EV_SCHED_BOTH_PREEMPT,
					 .name = writer_text(u->w, "linux:schedule (pre-empted)")});
	for (; i < tree_count(tree) && u->nperf < count; i++) {
		struct perf_reader *p = &u->perf[u->nperf];
		struct uftrace_perf_record r;

		if (!uftrace_file_of_cpu(tree_member(tree, i), "perf", &cpu))
			continue;
		p->cpu = cpu;
		p->base.run = uftrace_kernel_perf_run;
		p->base.due.time = UINT64_MAX;
		p->member = (char *)tree_member(tree, i);
		u->nperf++;
		if (window_open_one(&p->file, u->input, p->member, count, e) ||
		    perf_look_ahead(u, p, &r, e)) {
			input_damage_error(u->input, e);
			e->what[0] = '\0';
			p->base.due.time = UINT64_MAX;
		}
	}
	return 0;
}

void uftrace_perf_close(struct uftrace *u)
{
	for (size_t i = 0; i < u->nperf; i++)
		window_close(&u->perf[i].file);
	free(u->perf);
	u->perf = NULL;
	u->nperf = 0;
}
