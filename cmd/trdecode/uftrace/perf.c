/*
 * perf.c - perf-cpuN.dat: when tasks ran, began, ended and changed their names
 *
 * Records are those of common/formats/perf.h, with {u32 pid, u32 tid, u64 time} at the end. Records
 * of tasks without a file of their own are left out, as in uftrace.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/uftrace/uftrace.h"
#include "common/formats/perf.h"

enum {
	PERF_TRAILER = 16,
	PERF_USEFUL = 256, /* all records that are decoded are shorter */
};

struct perf_record {
	uint32_t type;
	uint16_t misc, size;
	uint32_t pid, tid; /* in the sample id */
	uint64_t sample_time;
	uint64_t time;	  /* of the body, if the body has one, else of the sample id */
	uint32_t subject; /* tid of the task that the record describes */
};

static const char *path_of(struct uftrace *u, struct perf_reader *p, char *path, size_t n)
{
	return tree_path(u->input->tree, p->member, path, n);
}

static bool is_used(uint32_t type)
{
	return type == PERF_RECORD_SWITCH || type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT ||
	       type == PERF_RECORD_COMM;
}

static void unpack_header(const struct uftrace *u, const uint8_t *d, struct perf_record *r)
{
	bool big = u->info.big_endian;

	*r = (struct perf_record){.type = (uint32_t)get_uint(d, 4, big),
				  .misc = (uint16_t)get_uint(d + 4, 2, big),
				  .size = (uint16_t)get_uint(d + 6, 2, big)};
}

/* Decode the record at d, of which `have` bytes exist. Return false if there is no record. */
static bool perf_unpack(const struct uftrace *u, const uint8_t *d, size_t have,
			struct perf_record *r)
{
	bool big = u->info.big_endian;
	size_t least = PERF_RECORD_HEAD + PERF_TRAILER;
	const uint8_t *id;

	unpack_header(u, d, r);
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

/* Is the time possible? The body's time may be a little before that of the previous record. */
static bool perf_time_fits(const struct perf_reader *p, uint64_t time)
{
	return !p->last || (time + 1000000 >= p->last && time < p->last + TASK_JUMP);
}

/* Is the record's time damaged? It does not fit, and the next record's time does. */
static bool is_outlier(const struct uftrace *u, const struct perf_reader *p,
		       const struct perf_record *r, size_t have)
{
	struct perf_record next;

	return have >= r->size + (size_t)PERF_RECORD_HEAD &&
	       perf_unpack(u, window_at(&p->file) + r->size, have - r->size, &next) &&
	       is_used(next.type) && perf_time_fits(p, next.time);
}

/* Find the next record that is needed: set *r and base.due.time. Returns 0, or -1. */
static int perf_look_ahead(struct uftrace *u, struct perf_reader *p, struct perf_record *r,
			   struct error *e)
{
	char path[512];
	bool reported = false;

	for (;;) {
		ssize_t have = window_need(&p->file, PERF_USEFUL, e);
		uint64_t left = p->file.size - p->file.offset;

		if (have < 0)
			return -1;
		if (have < PERF_RECORD_HEAD) {
			if (have && !reported)
				input_damage(u->input, path_of(u, p, path, sizeof(path)),
					     p->file.offset, "the file ends inside of a record");
			break;
		}
		if (!perf_unpack(u, window_at(&p->file), (size_t)have, r) || r->size > left) {
			/* search on, in steps of the records' alignment */
			if (!reported)
				input_damage(u->input, path_of(u, p, path, sizeof(path)),
					     p->file.offset,
					     r->size > left ? "the file ends inside of a record"
							    : "a damaged record");
			reported = true;
			window_skip(&p->file, 8);
			continue;
		}
		if (is_used(r->type) && uftrace_task_of(u, (int32_t)r->subject)) {
			if (p->checked != p->file.offset + 1 && !perf_time_fits(p, r->time)) {
				p->checked = p->file.offset + 1;
				input_damage(u->input, path_of(u, p, path, sizeof(path)),
					     p->file.offset,
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
static uint32_t perf_declare(struct uftrace *u, const char *name, struct type_entry type,
			     const char *const *names, uint32_t n)
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

static int switch_row(struct uftrace *u, struct perf_reader *p, struct task_reader *t,
		      const struct perf_record *r)
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
		    const struct perf_record *r)
{
	static const char *const names[] = {"cpu",  "misc",	   "pid",	 "ppid",      "tid",
					    "ptid", "sample_time", "sample_pid", "sample_tid"};
	bool fork = r->type == PERF_RECORD_FORK;
	const uint8_t *d = window_at(&p->file) + PERF_RECORD_HEAD;
	uint32_t *type = fork ? &u->ids.task_new : &u->ids.task_exit;
	uint8_t fixed[40];

	if (!*type)
		*type = perf_declare(u, fork ? "linux:task-new" : "linux:task-exit",
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
		    const struct perf_record *r)
{
	static const char *const names[] = {"cpu", "misc", "pid", "tid"};
	const uint8_t *d = window_at(&p->file) + PERF_RECORD_HEAD;
	const char *comm = (const char *)d + 8;
	size_t n = strnlen(comm, r->size - PERF_RECORD_HEAD - 8 - PERF_TRAILER);
	uint8_t fixed[16];

	if (!u->ids.task_name)
		u->ids.task_name = perf_declare(u, "linux:task-name",
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

static int perf_run(struct uftrace *u, struct lane_reader *reader)
{
	struct perf_reader *p = (struct perf_reader *)reader;
	struct perf_record r;
	struct task_reader *t;
	struct error e;
	int bad;

	if (perf_look_ahead(u, p, &r, &e))
		goto failed;
	if (reader->due.time == UINT64_MAX)
		return 0;
	t = uftrace_task_of(u, (int32_t)r.subject);
	if (r.type == PERF_RECORD_SWITCH)
		bad = switch_row(u, p, t, &r);
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
int perf_begin(struct uftrace *u, struct error *e)
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
	u->ids.sched_out = perf_declare(u, "linux:sched-out",
					(struct type_entry){.kind = KIND_ENTER,
							    .flags = TYPE_INNER,
							    .native = UFTRACE_EV_SCHED_OUT},
					switch_fields, 2);
	u->ids.sched_in = perf_declare(u, "linux:sched-in",
				       (struct type_entry){.kind = KIND_LEAVE,
							   .flags = TYPE_INNER,
							   .native = UFTRACE_EV_SCHED_IN},
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
		struct perf_record r;

		if (!uftrace_file_of_cpu(tree_member(tree, i), "perf", &cpu))
			continue;
		p->cpu = cpu;
		p->base.run = perf_run;
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

void perf_close(struct uftrace *u)
{
	for (size_t i = 0; i < u->nperf; i++)
		window_close(&u->perf[i].file);
	free(u->perf);
	u->perf = NULL;
	u->nperf = 0;
}
