/*
 * kernel.c - kernel-cpuN.dat: functions and events of the kernel, from its ring buffer
 *
 * A function's address is stored complete. Records of tasks that are not in the recording are left
 * out, as in uftrace.
 */
#include "cmd/trdecode/uftrace/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/ftrace/cpu_data.h"

enum {
	READ_AHEAD = 64 * 1024,
	READ_AHEAD_ALL = 1 << 20,
	CPU_FIELD = 4, /* size of the fixed part of every row */
};

struct kernel_reader {
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

struct kernel {
	struct kernel_header h;
	struct kernel_reader *readers;
	size_t nreaders;
	uint32_t space;
	struct idmap entered; /* locations of functions that were entered */
	uint64_t unknown;     /* records of events without a format */
};

/* --- what is declared --- */

static int declare_space(struct uftrace *u, struct kernel *k)
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

static int declare_type(struct uftrace *u, struct kernel *k, struct ftrace_event *v)
{
	struct field_entry fields[FTRACE_FIELDS + 1];
	struct writer *w = u->w;
	struct type_entry e = {.source = u->ids.source,
			       .group = writer_string(w, v->system, v->system_size),
			       .declaration = writer_string(w, v->text, v->text_size),
			       .kind = (uint8_t)v->kind,
			       .word_size = (uint8_t)k->h.word,
			       .flags = TYPE_TAIL | (k->h.layout.big_endian ? TYPE_BIG_ENDIAN : 0),
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
	ftrace_fields(&k->h.events, v, w, fields, &e);
	v->type = writer_type(w, &e);
	return !v->type || row_filter_announce(u->input->decoding->row_filter, v->type, 0) ? -1 : 0;
}

/* --- records --- */

/* Declare a lane of a CPU: of its thread 0, or of no thread. */
static uint32_t cpu_lane(struct uftrace *u, const struct kernel_reader *r, bool idle)
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
static uint32_t lane_of(struct uftrace *u, struct kernel_reader *r, const struct ftrace_event *v,
			bool *failed)
{
	const struct kernel *k = u->kernel;
	const struct ring_record *record = &r->record;
	bool big = k->h.layout.big_endian;
	int32_t tid = (int32_t)ftrace_number(record, k->h.events.pid, big);
	struct task_reader *t = uftrace_task_of(u, tid);

	if (!t && v->kind != KIND_INSTANT && !tid) {
		if (!r->idle_lane)
			r->idle_lane = cpu_lane(u, r, true);
		*failed = !r->idle_lane;
		return r->idle_lane;
	}
	if (!t && v->kind == KIND_INSTANT && ftrace_number_fits(record, v->next_pid))
		t = uftrace_task_of(u, (int32_t)ftrace_number(record, v->next_pid, big));
	else if (!t && v->kind == KIND_INSTANT && ftrace_number_fits(record, v->pid))
		t = uftrace_task_of(u, (int32_t)ftrace_number(record, v->pid, big));
	return t ? t->lane : 0;
}

/* Test a record: 1: it is the next one; 0: it is not needed, or damaged; -1: out of memory. */
static int kernel_take(struct uftrace *u, struct kernel *k, struct kernel_reader *r)
{
	const struct ring_record *record = &r->record;
	struct ftrace_event *v;
	bool failed = false;

	if (!ftrace_number_fits(record, k->h.events.type) ||
	    !ftrace_number_fits(record, k->h.events.pid)) {
		input_damage(u->input, r->path, NO_OFFSET,
			     "a record shorter than its common fields");
		return 0;
	}
	if (record->time >= TIME_LIMIT) {
		input_damage(u->input, r->path, NO_OFFSET, "a record with a damaged time");
		return 0;
	}
	v = ftrace_events_find(&k->h.events, (uint16_t)ftrace_number(record, k->h.events.type,
								     k->h.layout.big_endian));
	if (!v) {
		k->unknown++;
		return 0;
	}
	r->row_lane = lane_of(u, r, v, &failed);
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

static int open_file(struct uftrace *u, struct kernel_reader *r, struct error *e)
{
	uint64_t start, size;

	if (r->file.fd >= 0)
		return 0;
	r->file.fd = tree_fd(u->input->tree, r->member, &start, &size, e);
	return r->file.fd < 0 ? -1 : 0;
}

static void close_file(struct kernel_reader *r)
{
	if (r->file.fd >= 0)
		close(r->file.fd);
	r->file.fd = -1;
}

static int next_record(struct uftrace *u, struct kernel_reader *r, struct error *e)
{
	int got;

	if (ring_next(&r->data.page, &r->record) > 0)
		return 1;
	if (open_file(u, r, e))
		return -1;
	got = cpu_data_page(&r->data, &r->record, e);
	if (!r->keep)
		close_file(r);
	return got;
}

static int report_lost(struct uftrace *u, struct kernel_reader *r, uint64_t time)
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

static void end_reader(struct kernel_reader *r)
{
	r->base.due.time = UINT64_MAX;
	close_file(r);
	cpu_data_free(&r->data);
}

/* Find the next record that is needed. A failure ends this CPU's data. */
static void kernel_look_ahead(struct uftrace *u, struct kernel *k, struct kernel_reader *r)
{
	struct error e;
	int got, taken;

	do {
		got = next_record(u, r, &e);
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

static int write_row(struct uftrace *u, struct kernel *k, struct kernel_reader *r)
{
	struct ftrace_event *v = &k->h.events.event[r->event - k->h.events.event];
	uint32_t location = 0, depth = 0;
	uint8_t fixed[CPU_FIELD];

	if (v->kind != KIND_INSTANT) {
		location = uftrace_kernel_location(
			u, k->space, ftrace_number(&r->record, v->address, k->h.layout.big_endian));
		depth = (uint32_t)ftrace_number(&r->record, v->depth, k->h.layout.big_endian) &
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
	struct kernel_reader *r = (struct kernel_reader *)reader;

	if (r->data.missed && report_lost(u, r, r->record.time))
		return -1;
	if (write_row(u, u->kernel, r))
		return -1;
	u->last_lane = r->row_lane;
	kernel_look_ahead(u, u->kernel, r);
	return 0;
}

/* --- begin and end --- */

static void begin_reader(struct uftrace *u, struct kernel *k, struct kernel_reader *r,
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
	r->data.layout = k->h.layout;
	cpu_data_begin(&r->data, start, size, k->h.page_size,
		       (uint32_t)(ahead < READ_AHEAD ? ahead : READ_AHEAD));
	kernel_look_ahead(u, k, r);
}

int kernel_begin(struct uftrace *u, struct error *e)
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
	got = kernel_header_read(u, &k->h, e);
	if (got)
		return got < 0 ? -1 : 0;
	k->readers = calloc(count, sizeof(*k->readers));
	if (!k->readers)
		return error_no_memory(e);
	if (declare_space(u, k))
		return -1;
	for (size_t i = 0; i < k->h.events.count; i++)
		if (declare_type(u, k, &k->h.events.event[i]))
			return -1;
	for (size_t i = first; i < tree_count(tree) && k->nreaders < count; i++) {
		if (!uftrace_file_of_cpu(tree_member(tree, i), "kernel", &cpu))
			continue;
		k->readers[k->nreaders].cpu = cpu;
		begin_reader(u, k, &k->readers[k->nreaders++], tree_member(tree, i), count);
	}
	return 0;
}

size_t kernel_nreaders(const struct uftrace *u)
{
	return u->kernel ? u->kernel->nreaders : 0;
}

struct lane_reader *kernel_reader(struct uftrace *u, size_t i)
{
	return &u->kernel->readers[i].base;
}

void kernel_close(struct uftrace *u)
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
	kernel_header_free(&k->h);
	free(k->readers);
	idmap_free(&k->entered);
	free(k);
	u->kernel = NULL;
}
