/*
 * perfetto_tracks.c - the tracks of Perfetto, the rows of their records, and the events of ftrace
 *
 *     track_descriptor { uuid: 7  thread { pid: 10  tid: 12 } }
 *
 * Events of track 7 are in the lane of thread 12. Records are sorted by time, and their calls
 * numbered where those of a track do not nest.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/atrace.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/perfetto.h"
#include "cmd/trdecode/perfetto_tables.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/sorter.h"
#include "common/calls/open_calls.h"
#include "common/formats/perfetto.h"
#include "common/ftrace/kernel_names.h"
#include "common/protobuf/protobuf.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/error.h"
#include "common/util/hash.h"
#include "common/util/intern.h"
#include "common/util/u128.h"

enum { PARENTS_MOST = 64 }; /* steps from a track to that of its thread */

/* --- finding --- */

/* Add a track. Returns its number, from 1; 0: out of memory. */
static uint32_t add_track(struct perfetto *p)
{
	if (ARRAY_GROW(p->tracks.track, p->tracks.capacity, p->tracks.count))
		return 0;
	p->tracks.track[p->tracks.count++] =
		(struct perfetto_track){.pid = -1, .tid = -1, .cpu = -1};
	return (uint32_t)p->tracks.count;
}

uint32_t perfetto_track(struct perfetto *p, uint64_t uuid)
{
	uint32_t *number = key_map_number(&p->tracks.by_uuid, uuid);

	if (!number)
		return 0;
	if (!*number) {
		*number = add_track(p);
		if (!*number)
			return 0;
		p->tracks.track[*number - 1].uuid = uuid;
	}
	return *number;
}

uint32_t perfetto_other_track(struct perfetto *p, const struct perfetto_track_key *key)
{
	uint32_t *number = id_cache_number(&p->tracks.others, key, sizeof *key);
	struct perfetto_track *t;

	if (!number || *number)
		return number ? *number : 0;
	*number = add_track(p);
	if (!*number)
		return 0;
	t = &p->tracks.track[*number - 1];
	t->pid = key->pid;
	t->tid = key->tid;
	t->cpu = key->cpu;
	t->name = key->name;
	t->uuid = key->id;
	t->has_thread = key->tid != -1;
	t->has_process = !t->has_thread && key->pid >= 0;
	t->has_cpu = key->cpu >= 0;
	t->has_counter = key->kind == PERFETTO_OF_COUNTER;
	t->is_async = key->kind == PERFETTO_OF_TRACK;
	t->keyed = true;
	return *number;
}

/* Get what is known of a thread of the system. NULL: out of memory. */
static struct perfetto_task *perfetto_task(struct perfetto *p, int32_t tid)
{
	uint32_t *number = key_map_number(&p->tasks.numbers, (uint32_t)tid);

	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(p->tasks.task, p->tasks.capacity, p->tasks.count))
			return NULL;
		p->tasks.task[p->tasks.count++] = (struct perfetto_task){.tgid = -1};
		*number = (uint32_t)p->tasks.count;
	}
	return &p->tasks.task[*number - 1];
}

/* Get a pointer to the name of a process, a string of the writer. NULL: out of memory. */
static uint32_t *process_name(struct perfetto *p, int32_t pid)
{
	return id_cache_number(&p->tracks.process_names, &pid, sizeof pid);
}

/* Have a name as the first one if none is recorded for an earlier time. */
static void know_name(uint32_t *first, uint64_t *since, uint32_t name, uint64_t time)
{
	if (!name || (*first && *since < time))
		return;
	*first = name;
	*since = time;
}

/* Names that a thread and its process have from a time on; 0: the name is not recorded. */
struct perfetto_naming {
	int32_t pid, tid; /* -1: none */
	uint32_t thread, process;
	uint32_t by_track; /* of a descriptor: other names of a number are of other threads */
};

/* Keep names in the order of time; before the first one, a thread and a process have that. */
static int keep_naming(struct perfetto *p, uint64_t time, const struct perfetto_naming *n)
{
	struct perfetto_record r = {.kind = PERFETTO_NAMING};
	uint32_t *last = n->pid >= 0 ? process_name(p, n->pid) : NULL;
	struct perfetto_task *t = n->pid >= 0 ? perfetto_task(p, n->pid) : NULL;
	struct buffer *b = &p->scratch.record;

	if (n->pid >= 0 && (!t || !last))
		return -1;
	if (t)
		know_name(&t->process, &t->process_since, n->process, time);
	if (last && n->process)
		*last = n->process;
	t = n->tid != -1 ? perfetto_task(p, n->tid) : NULL;
	if (n->tid != -1 && !t)
		return -1;
	if (t) {
		p->tasks.shared_tids |= n->pid >= 0 && t->tgid >= 0 && t->tgid != n->pid;
		if (n->pid >= 0 && t->tgid < 0)
			t->tgid = n->pid;
		know_name(&t->comm, &t->comm_since, n->thread, time);
	}
	if (p->counting || (!n->thread && !n->process))
		return 0;
	b->size = 0;
	return buffer_append(b, &r, sizeof r) || buffer_append(b, n, sizeof *n)
		       ? -1
		       : sorter_add(&p->sorter, (struct sorter_key){time, 0}, b->data, b->size,
				    &p->error);
}

void perfetto_first_names(struct perfetto *p)
{
	for (size_t i = 0; i < p->tasks.count; i++) {
		struct perfetto_task *t = &p->tasks.task[i];

		if (t->process && t->process_since < t->comm_since)
			t->comm = 0;
	}
}

/* --- descriptors --- */

/* Take a number of a thread, which some programs make of an address: it may be below 0. */
static int32_t take_tid(uint64_t value)
{
	return (int64_t)value >= INT32_MIN && (int64_t)value <= INT32_MAX ? (int32_t)value : -1;
}

static void perfetto_tracks_take_process(struct perfetto *p, struct protobuf_view message,
					 int32_t *pid, uint32_t *name)
{
	struct protobuf_view program = {NULL, NULL};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case PROCESS_PID: *pid = perfetto_take_id(f.value); break;
		case PROCESS_NAME: *name = perfetto_text(p, f.bytes); break;
		case PROCESS_CMDLINE:
			if (!program.at)
				program = f.bytes;
			break;
		}
	if (!*name && program.at)
		*name = perfetto_text(p, program);
}

static void perfetto_tracks_take_thread(struct perfetto *p, struct protobuf_view message,
					struct perfetto_track *t)
{
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case THREAD_PID: t->pid = perfetto_take_id(f.value); break;
		case THREAD_TID: t->tid = take_tid(f.value); break;
		case THREAD_NAME: t->thread_name = perfetto_text(p, f.bytes); break;
		}
}

static void take_counter(struct perfetto *p, struct protobuf_view message, struct perfetto_track *t)
{
	static const char *const units[] = {NULL, "ns", NULL, "bytes"};
	static const char *const builtin[] = {NULL, "thread_time", "thread_instruction_count"};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case COUNTER_TYPE:
			if (f.value < sizeof builtin / sizeof *builtin && !t->name)
				t->name = writer_text(p->w, builtin[f.value]);
			break;
		case COUNTER_UNIT:
			if (f.value < sizeof units / sizeof *units)
				t->unit = writer_text(p->w, units[f.value]);
			break;
		case COUNTER_UNIT_NAME: t->unit = perfetto_text(p, f.bytes); break;
		case COUNTER_MULTIPLIER: t->multiplier = f.value; break;
		case COUNTER_INCREMENTAL: t->incremental = f.value; break;
		}
}

/* Take a field of a descriptor. */
static void perfetto_tracks_take_field(struct perfetto *p, struct perfetto_track *t,
				       const struct protobuf_field *f)
{
	switch (f->number) {
	case TRACK_PARENT: t->parent = f->value; break;
	case TRACK_NAME:
	case TRACK_STATIC_NAME:
	case TRACK_ATRACE_NAME:
		if (protobuf_size(f->bytes))
			t->name = perfetto_text(p, f->bytes);
		break;
	case TRACK_PROCESS:
		t->has_process = true;
		perfetto_tracks_take_process(p, f->bytes, &t->pid, &t->process_name);
		break;
	case TRACK_THREAD:
		t->has_thread = true;
		perfetto_tracks_take_thread(p, f->bytes, t);
		break;
	case TRACK_STATES: t->is_state = t->is_async = true; break;
	case TRACK_COUNTER:
		t->has_counter = true;
		take_counter(p, f->bytes, t);
		break;
	}
}

/* Have the thread of a descriptor as that of the sequence. */
static int set_thread(struct perfetto *p, struct perfetto_sequence *s, int32_t pid, int32_t tid)
{
	struct perfetto_track_key key = {
		.kind = PERFETTO_OF_THREAD, .pid = pid, .tid = tid, .cpu = -1};

	s->has_thread = true;
	s->thread_track = perfetto_other_track(p, &key);
	return s->thread_track ? 0 : -1;
}

int perfetto_track_descriptor(struct perfetto *p, struct perfetto_sequence *s,
			      const struct perfetto_packet *packet)
{
	struct protobuf_view message = packet->payload, rest = message;
	struct perfetto_naming names = {-1, -1, 0, 0, true};
	bool has_thread = false, apart = false;
	struct perfetto_track *t;
	struct protobuf_field f;
	uint64_t uuid = 0;
	uint32_t number;

	while (protobuf_next(&rest, &f) > 0)
		if (f.number == TRACK_UUID)
			uuid = f.value;
	number = perfetto_track(p, uuid);
	if (!number)
		return -1;
	t = &p->tracks.track[number - 1];
	while (protobuf_next(&message, &f) > 0) {
		perfetto_tracks_take_field(p, t, &f);
		has_thread |= f.number == TRACK_THREAD;
		apart |= f.number == TRACK_NOT_MERGED && f.value;
	}
	t->before = t->name && t->name == p->texts.before && t->parent;
	if (t->has_process && t->pid >= 0) {
		names.pid = names.tid = t->pid;
		names.process = t->process_name;
	}
	if (t->has_thread && t->tid != -1) {
		names.pid = t->pid;
		names.tid = t->tid;
		names.thread = t->thread_name;
	}
	if (names.tid == -1)
		return 0;
	if (keep_naming(p, packet->time, &names))
		return -1;
	if (!t->has_thread || t->tid == -1)
		return 0;
	perfetto_task(p, names.tid)->apart |= apart;
	return has_thread && s->generation ? set_thread(p, s, names.pid, names.tid) : 0;
}

int perfetto_thread_descriptor(struct perfetto *p, struct perfetto_sequence *s,
			       const struct perfetto_packet *packet)
{
	struct protobuf_view message = packet->payload;
	struct perfetto_track t = {.pid = -1, .tid = -1};
	struct protobuf_field f;

	perfetto_tracks_take_thread(p, message, &t);
	while (protobuf_next(&message, &f) > 0) {
		if (f.number == THREAD_TIME)
			s->time = (int64_t)f.value;
		else if (f.number == THREAD_THREAD_TIME)
			s->thread_time = (int64_t)f.value;
	}
	if (set_thread(p, s, t.pid, t.tid))
		return -1;
	if (t.thread_name)
		p->tracks.track[s->thread_track - 1].thread_name = t.thread_name;
	if (t.tid == -1)
		return 0;
	return keep_naming(p, packet->time,
			   &(struct perfetto_naming){t.pid, t.tid, t.thread_name, 0, true});
}

int perfetto_process_descriptor(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct perfetto_track_key key = {.kind = PERFETTO_OF_PROCESS, .tid = -1, .cpu = -1};
	uint32_t name = 0, number;
	int32_t pid = -1;

	perfetto_tracks_take_process(p, packet->payload, &pid, &name);
	if (pid < 0)
		return 0;
	key.pid = pid;
	number = perfetto_other_track(p, &key);
	if (!number)
		return -1;
	if (name)
		p->tracks.track[number - 1].process_name = name;
	return keep_naming(p, packet->time, &(struct perfetto_naming){pid, pid, 0, name, true});
}

int perfetto_process_tree(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct protobuf_view message = packet->payload;
	struct protobuf_field f, of;

	while (protobuf_next(&message, &f) > 0) {
		struct perfetto_naming n = {-1, -1, 0, 0, false};

		if (f.number != TREE_PROCESS && f.number != TREE_THREAD)
			continue;
		while (protobuf_next(&f.bytes, &of) > 0) {
			if (f.number == TREE_PROCESS && of.number == TREE_PID)
				n.pid = n.tid = perfetto_take_id(of.value);
			else if (f.number == TREE_PROCESS && of.number == TREE_CMDLINE &&
				 !n.process)
				n.process = perfetto_text(p, of.bytes);
			else if (f.number == TREE_THREAD && of.number == TREE_TID)
				n.tid = perfetto_take_id(of.value);
			else if (f.number == TREE_THREAD && of.number == TREE_TGID)
				n.pid = perfetto_take_id(of.value);
			else if (f.number == TREE_THREAD && of.number == TREE_THREAD_NAME)
				n.thread = perfetto_text(p, of.bytes);
		}
		if (n.tid >= 0 && keep_naming(p, packet->time, &n))
			return -1;
	}
	return 0;
}

/* --- threads --- */

/* Get a pointer to the number (index + 1) of a thread; name: of one of several that have the
 * same pid and tid one after another, 0: the one that has them now. NULL: out of memory. */
static uint32_t *perfetto_tracks_thread_number(struct perfetto *p, int32_t pid, int32_t tid,
					       uint32_t name)
{
	int32_t key[3] = {p->tasks.shared_tids ? pid : -1, tid, (int32_t)name};

	return id_cache_number(&p->tracks.threads, key, sizeof key);
}

/* Get the name of a thread; of one that has none, that of its process if it is the first. */
static uint32_t task_comm(const struct perfetto_task *t)
{
	return t->comm ? t->comm : t->process;
}

/* Get a thread, which has its numbers from now on if it is new. name: of one of several that have
 * the numbers one after another, 0: the one that has them now. NULL: out of memory. */
static struct perfetto_thread *find_thread(struct perfetto *p, int32_t pid, int32_t tid,
					   uint32_t name)
{
	uint32_t *number = perfetto_tracks_thread_number(p, pid, tid, name);
	struct perfetto_task *task;

	if (!number)
		return NULL;
	if (!*number) {
		task = perfetto_task(p, tid);
		if (ARRAY_GROW(p->tracks.thread, p->tracks.threads_capacity, p->tracks.nthreads) ||
		    !task)
			return NULL;
		p->tracks.thread[p->tracks.nthreads++] = (struct perfetto_thread){
			.pid = pid >= 0 ? pid : task->tgid, .tid = tid, .comm = task_comm(task)};
		*number = (uint32_t)p->tracks.nthreads;
		p->tracks.renewed += name != 0;
		number = name ? perfetto_tracks_thread_number(p, pid, tid, 0) : number;
		if (!number)
			return NULL;
		*number = (uint32_t)p->tracks.nthreads;
	}
	return &p->tracks.thread[*number - 1];
}

/* Have a thread as the one with that name. -1: out of memory. */
static int remember_thread(struct perfetto *p, const struct perfetto_thread *t, int32_t pid,
			   uint32_t name)
{
	uint32_t *number = name ? perfetto_tracks_thread_number(p, pid, t->tid, name) : NULL;

	if (number && !*number)
		*number = (uint32_t)(t - p->tracks.thread) + 1;
	return number || !name ? 0 : -1;
}

static struct lane_entry perfetto_tracks_lane_entry(const struct perfetto *p, int32_t pid,
						    int32_t tid, int32_t cpu)
{
	return (struct lane_entry){
		.source = p->source,
		.clock = p->clock,
		.flags = (tid != -1 ? LANE_HAS_TID : 0) | (pid >= 0 ? LANE_HAS_PID : 0) |
			 (cpu >= 0 ? LANE_HAS_CPU : 0) |
			 (tid != -1 && p->tasks.shared_tids ? LANE_PROCESS_TID : 0),
		.cpu = cpu,
		.tid = tid,
		.pid = pid,
		.ppid = -1};
}

/* Get the lane of a thread on a CPU (-1: on any). */
static uint32_t perfetto_lane(struct perfetto *p, struct perfetto_thread *t, int32_t cpu)
{
	struct lane_entry e;

	if (cpu < 0 && t->lane)
		return t->lane;
	e = perfetto_tracks_lane_entry(p, t->pid, t->tid, cpu);
	e.comm = t->comm;
	if (cpu >= 0)
		return writer_lane_once(p->w, &p->tracks.lanes, &e);
	return t->lane = writer_lane_once(p->w, &p->tracks.lanes, &e);
}

static uint32_t perfetto_cpu_lane(struct perfetto *p, int32_t cpu)
{
	struct lane_entry e = perfetto_tracks_lane_entry(p, -1, -1, cpu);

	return writer_lane_once(p->w, &p->tracks.lanes, &e);
}

/* --- resolving --- */

/* Find the nearest track of a thread or process: this one or a parent; NULL: there is none. */
static const struct perfetto_track *find_owner(const struct perfetto *p,
					       const struct perfetto_track *t)
{
	for (unsigned i = 0; t && i < PARENTS_MOST; i++) {
		uint64_t number;

		if (t->has_thread || t->has_process)
			return t;
		number = t->parent ? key_map_get(&p->tracks.by_uuid, t->parent) : 0;
		t = number ? &p->tracks.track[number - 1] : NULL;
	}
	return NULL;
}

static void perfetto_tracks_set_name(struct perfetto *p, struct perfetto_thread *t, uint32_t comm)
{
	if (t->comm == comm)
		return;
	t->comm = comm;
	t->lane = 0;
	p->tracks.renewed++;
}

/* Get the thread of a track of a thread or process. NULL: out of memory. */
static struct perfetto_thread *owner_thread(struct perfetto *p, const struct perfetto_track *owner)
{
	int32_t tid = owner->has_thread ? owner->tid : owner->pid;
	struct perfetto_thread *t = find_thread(p, owner->pid, tid, 0);

	/* a number that is used again names another thread */
	if (t && owner->thread_name && t->named && t->comm != owner->thread_name)
		t = find_thread(p, owner->pid, tid, owner->thread_name);
	if (t && owner->thread_name) {
		perfetto_tracks_set_name(p, t, owner->thread_name);
		t->named = true;
	}
	if (t && owner->process_name && t->process && t->process != owner->process_name)
		t = find_thread(p, owner->pid, tid, owner->process_name);
	if (t && owner->process_name)
		t->process = owner->process_name;
	if (t && !t->comm)
		perfetto_tracks_set_name(p, t, owner->process_name);
	return t && (remember_thread(p, t, owner->pid, owner->thread_name) ||
		     remember_thread(p, t, owner->pid, owner->process_name))
		       ? NULL
		       : t;
}

/* Have the thread of a track with events as the one that has its number, if it is used first. */
static int perfetto_tracks_begin_thread(struct perfetto *p, struct perfetto_thread *t, int32_t pid)
{
	uint32_t *number = t->begun ? NULL : perfetto_tracks_thread_number(p, pid, t->tid, 0);
	uint32_t own = (uint32_t)(t - p->tracks.thread) + 1;

	if (!t->begun && !number)
		return -1;
	t->begun = true;
	if (number && *number != own) {
		*number = own;
		p->tracks.renewed++;
	}
	return 0;
}

enum perfetto_role {
	PERFETTO_UNRESOLVED,
	PERFETTO_STACK,	 /* calls of a thread */
	PERFETTO_KERNEL, /* calls of a thread in the kernel */
	PERFETTO_BEFORE, /* calls that were open before the trace */
	PERFETTO_ASYNC,	 /* calls that need not nest with those of threads */
};

/* Find the role, thread and lane of a track, once everything was read. */
static int perfetto_track_resolve(struct perfetto *p, struct perfetto_track *t)
{
	const struct perfetto_track *owner = find_owner(p, t);
	struct perfetto_thread *thread = NULL;
	struct lane_entry e;
	bool child;

	if (owner && (owner->tid != -1 || owner->pid >= 0)) {
		thread = owner_thread(p, owner);
		if (!thread || perfetto_tracks_begin_thread(p, thread, owner->pid))
			return -1;
		if (!thread->comm && thread->pid >= 0) {
			const struct perfetto_task *process = perfetto_task(p, thread->pid);

			if (!process)
				return -1;
			perfetto_tracks_set_name(p, thread, process->process);
		}
		t->thread = (uint32_t)(thread - p->tracks.thread) + 1;
	}
	/* a number without a name is of the thread that has it at the time */
	t->resolved = owner && !owner->thread_name && !owner->process_name ? p->tracks.renewed + 1
									   : UINT32_MAX;
	child = owner && owner != t && owner->has_thread;
	t->role = !thread || t->is_async			   ? PERFETTO_ASYNC
		  : t->has_thread				   ? PERFETTO_STACK
		  : child && t->name == p->texts.kernel && t->name ? PERFETTO_KERNEL
		  : child && t->before				   ? PERFETTO_BEFORE
								   : PERFETTO_ASYNC;
	if (thread && (t->role != PERFETTO_ASYNC || t == owner || t->has_counter)) {
		t->lane = perfetto_lane(p, thread, t->cpu);
		return t->lane ? 0 : -1;
	}
	e = perfetto_tracks_lane_entry(p, thread ? thread->pid : -1, thread ? thread->tid : -1,
				       t->cpu);
	e.comm = thread ? thread->comm : 0;
	e.buffer = t->has_counter ? 0 : t->name;
	t->lane = writer_lane_once(p->w, &p->tracks.lanes, &e);
	return t->lane ? 0 : -1;
}

/* --- names from a time on --- */

/* Give the thread that has a number the name and the process of its task. NULL: out of memory. */
static struct perfetto_thread *perfetto_rename(struct perfetto *p, int32_t tid)
{
	struct perfetto_task *task = perfetto_task(p, tid);
	struct perfetto_thread *t = task ? find_thread(p, task->tgid, tid, 0) : NULL;

	if (!t)
		return NULL;
	task->comm_since = task->process_since = 0;
	if (!p->tasks.shared_tids && task->tgid >= 0 && t->pid != task->tgid) {
		t->pid = task->tgid;
		t->lane = 0;
		p->tracks.renewed++;
	}
	if (!t->named && task_comm(task))
		perfetto_tracks_set_name(p, t, task_comm(task));
	return t;
}

/* Take names, which are those of their threads from now on. */
static int perfetto_naming_row(struct perfetto *p, const uint8_t *data)
{
	struct perfetto_naming n;
	struct perfetto_task *t;

	memcpy(&n, data, sizeof n);
	if (n.process && n.pid >= 0) {
		t = perfetto_task(p, n.pid);
		if (!t)
			return -1;
		t->process = n.process;
		t->comm = t->inherited ? 0 : t->comm;
		t->inherited = false;
	}
	t = perfetto_task(p, n.tid);
	if (!t)
		return -1;
	t->tgid = n.pid >= 0 ? n.pid : t->tgid;
	if (n.thread) {
		t->comm = n.thread;
		t->inherited = false;
	}
	if (n.by_track) {
		struct perfetto_track owner = {.pid = n.pid,
					       .tid = n.tid,
					       .thread_name = n.thread,
					       .process_name = n.process,
					       .has_thread = true};
		const struct perfetto_thread *of = owner_thread(p, &owner);

		/* a description that comes again may be of a thread that is no more */
		if (!of || of != find_thread(p, n.pid, n.tid, 0))
			return of ? 0 : -1;
	}
	return perfetto_rename(p, n.tid) ? 0 : -1;
}

void perfetto_tracks_free(struct perfetto *p)
{
	for (size_t i = 0; i < p->tracks.count; i++)
		free(p->tracks.track[i].calls.frames);
	for (size_t i = 0; i < p->tracks.nthreads; i++)
		free(p->tracks.thread[i].calls.frames);
	free(p->tracks.track);
	free(p->tracks.thread);
	key_map_free(&p->tracks.by_uuid);
	id_cache_free(&p->tracks.others);
	id_cache_free(&p->tracks.threads);
	id_cache_free(&p->tracks.lanes);
	id_cache_free(&p->tracks.process_names);
	key_map_free(&p->tracks.counting);
	key_map_free(&p->tasks.numbers);
	free(p->tasks.task);
}

/*
 * Writes the sorted events as rows.
 *
 * The calls of a thread's track are a stack, whose depth the rows have. All other tracks have
 * asynchronous calls with numbers: an end closes the last begin of its track. Two tracks of a
 * thread that trencode writes become what they were: calls in the kernel, and calls open since
 * before the trace.
 */

enum { FIXED_MOST = 24 };

/* --- declarations --- */

uint32_t perfetto_declare_type(struct perfetto *p, const struct type_entry *e)
{
	uint32_t type = writer_type(p->w, e);

	return type && !row_filter_announce(p->input->decoding->row_filter, type, 0) ? type : 0;
}

/* A row to write. */
struct perfetto_row {
	uint64_t time;
	uint64_t track_id; /* of an asynchronous call */
	enum type_kind kind;
	uint32_t lane, type_name, category; /* strings of the writer */
	uint32_t flags;			    /* of the type */
	uint32_t level, location, stack;
	uint32_t call; /* number of an asynchronous call; 0: none */
	bool by_id;    /* it has an id */
	uint32_t name; /* whose arguments are values */
	bool structs;  /* the values contain STRUCTs */
	const uint8_t *values;
	uint32_t size;
};

/* Test for a row of an asynchronous call. A call that only overlaps others has a number, too, and
 * the type of those on a stack. */
static bool has_track_id(const struct perfetto *p, const struct perfetto_row *r)
{
	return r->call && r->type_name != p->texts.begin && r->type_name != p->texts.end;
}

/* Make the fields of a type. Returns the size of the fixed part. */
static uint32_t perfetto_tracks_make_fields(struct perfetto *p, const struct perfetto_row *r,
					    struct type_entry *e, struct field_entry *fields)
{
	uint32_t at = 0;

	e->fields = fields;
	if (r->call) {
		fields[e->nfields++] = (struct field_entry){.name = writer_text(p->w, "call"),
							    .kind = FIELD_UINT,
							    .role = ROLE_CALL,
							    .size = 4};
		at = 4;
	}
	if (has_track_id(p, r)) {
		if (!p->texts.track_id)
			p->texts.track_id =
				arguments_free_name(&p->arguments.table, p->w, "track_id");
		fields[e->nfields++] = (struct field_entry){
			.name = p->texts.track_id, .kind = FIELD_HEX, .offset = 8, .size = 8};
		at = 16;
	}
	if (r->stack) {
		fields[e->nfields++] = (struct field_entry){.name = writer_text(p->w, "stack"),
							    .kind = FIELD_UINT,
							    .role = ROLE_STACK,
							    .offset = at,
							    .size = 4};
		at += 4;
	}
	return at;
}

/* Get the type of a row. */
static uint32_t perfetto_row_type(struct perfetto *p, const struct perfetto_row *r)
{
	static const uint32_t native[] = {
		[KIND_INSTANT] = 'I', [KIND_ENTER] = 'B', [KIND_LEAVE] = 'E', [KIND_COUNTER] = 'C'};
	uint32_t flags = r->flags | (r->size ? TYPE_TAIL | TYPE_VALUES : 0);
	struct {
		uint32_t what, kind, name, category, flags, call, stack;
	} key = {'t',	       r->kind, r->type_name, r->category, flags, (r->call != 0) + r->by_id,
		 r->stack != 0};
	uint32_t *id = id_cache_number(&p->types.ids, &key, sizeof key);
	struct field_entry fields[3];
	struct type_entry e;

	if (!id || *id)
		return id ? *id : 0;
	e = (struct type_entry){.source = p->source,
				.name = r->type_name,
				.group = r->category,
				.kind = (uint8_t)r->kind,
				.flags = (uint16_t)flags,
				.native = native[r->kind] | (r->by_id ? 0x20 : 0)};
	if (r->type_name == p->texts.state_begin || r->type_name == p->texts.state_end)
		e.native = 'S';
	if (r->call && !has_track_id(p, r))
		e.native = 'X';
	e.fixed_size = perfetto_tracks_make_fields(p, r, &e, fields);
	return *id = perfetto_declare_type(p, &e);
}

/* Get the location of a function. */
static uint32_t perfetto_location(struct perfetto *p, uint32_t name)
{
	uint32_t *locations;

	if (ARRAY_REACH(p->locations, p->nlocations, name))
		return 0;
	locations = p->locations;
	if (!locations[name])
		locations[name] = arguments_location_of(&p->arguments.table, p->w, name);
	return p->locations[name];
}

/* --- rows --- */

enum { DEPTH_MOST = 65535 }; /* of a row */

/* Write a row with a fixed part or values. */
static int put_data_row(struct perfetto *p, const struct perfetto_row *r)
{
	uint8_t fixed[FIXED_MOST] = {0};
	struct new_row row = {.time = merge_shifted(r->time, p->input->shift),
			      .lane = r->lane,
			      .type = perfetto_row_type(p, r),
			      .location = r->location,
			      .depth = r->level < DEPTH_MOST ? r->level : DEPTH_MOST,
			      .fixed = fixed};

	if (!row.lane || !row.type)
		return -1;
	if (r->call) {
		put_u32(fixed, r->call);
		put_u64(fixed + 8, r->track_id);
		row.fixed_size = has_track_id(p, r) ? 16 : 4;
	}
	if (r->stack) {
		put_u32(fixed + row.fixed_size, r->stack);
		row.fixed_size += 4;
		if (writer_use_stack(p->w, r->stack))
			return -1;
	}
	if (r->size) {
		p->scratch.details.size = 0;
		if (arguments_values(&p->arguments.table, r->name, r->values, r->size, false,
				     &p->scratch.details) ||
		    (r->structs && arguments_use_structs(p->w, &p->scratch.details)))
			return -1;
		row.tail = p->scratch.details.data;
		row.tail_size = (uint32_t)p->scratch.details.size;
		row.has_tail = true;
	}
	return writer_row_data(p->w, row);
}

static int perfetto_put_row(struct perfetto *p, const struct perfetto_row *r)
{
	uint32_t type;

	if (r->call || r->stack || r->size)
		return put_data_row(p, r);
	type = perfetto_row_type(p, r);
	return r->lane && type
		       ? writer_row(p->w, merge_shifted(r->time, p->input->shift), r->lane, type,
				    r->location, r->level < DEPTH_MOST ? r->level : DEPTH_MOST)
		       : -1;
}

/* --- other events --- */

static int instant_row(struct perfetto *p, const struct perfetto_track *t,
		       const struct perfetto_record *rec, struct perfetto_row *r)
{
	struct gap_arguments gap;

	r->lane = t->lane;
	if (rec->name == p->texts.gap && rec->category == p->texts.gap_category &&
	    gap_arguments_read(&gap, p->w, r->values, r->size)) {
		if (gap.cpu >= 0)
			r->lane = perfetto_cpu_lane(p, gap.cpu);
		return r->lane ? writer_gap(p->w, merge_shifted(r->time, p->input->shift), r->lane,
					    &gap.gap)
			       : -1;
	}
	r->kind = rec->kind == PERFETTO_COUNTER_VALUES ? KIND_COUNTER : KIND_INSTANT;
	r->type_name = r->name = rec->name ? rec->name : p->texts.nothing;
	r->category = rec->category;
	r->location = r->size ? perfetto_location(p, r->name) : 0;
	return r->size && !r->location ? -1 : perfetto_put_row(p, r);
}

static int perfetto_state(struct perfetto *p, struct perfetto_track *t,
			  const struct perfetto_record *rec, const struct perfetto_row *of);
static struct perfetto_thread *perfetto_track_thread(const struct perfetto *p,
						     const struct perfetto_track *t);
static int perfetto_begin_call(struct perfetto *p, struct perfetto_track *t,
			       const struct perfetto_record *rec, const struct perfetto_row *of);
static int perfetto_end_call(struct perfetto *p, struct perfetto_track *t,
			     const struct perfetto_record *rec, const struct perfetto_row *of);
static int perfetto_begin_complete(struct perfetto *p, const struct perfetto_record *rec,
				   uint64_t end, const struct perfetto_row *of);
static int perfetto_id_begin(struct perfetto *p, const struct perfetto_record *rec,
			     struct perfetto_id id, const struct perfetto_row *of);
static int perfetto_id_end(struct perfetto *p, const struct perfetto_record *rec,
			   struct perfetto_id id, const struct perfetto_row *of);
static int perfetto_end_complete(struct perfetto *p);
static int perfetto_ftrace_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
			       const uint8_t *data, size_t size);
static bool perfetto_ids_full(const struct perfetto *p);

/* Write a state as a call. A state that goes on is an instant if it has arguments, and so is a
 * state on a track of another kind. */
static int state_row(struct perfetto *p, struct perfetto_track *t,
		     const struct perfetto_record *rec, struct perfetto_row *r)
{
	const struct perfetto_calls *c = &t->calls;
	bool goes_on = c->depth && c->frames[c->depth - 1].name == rec->name;

	if (!t->is_state || (goes_on && r->size))
		return instant_row(p, t, rec, r);
	return goes_on ? 0 : perfetto_state(p, t, rec, r);
}

/* Declare the type of a counter: a field of 8 bytes. */
static uint32_t counter_type(struct perfetto *p, struct perfetto_track *t, uint32_t category,
			     bool real)
{
	struct field_entry value = {.name = writer_text(p->w, "value"),
				    .type_name = t->unit,
				    .kind = real ? FIELD_FLOAT : FIELD_INT,
				    .size = 8};
	uint32_t name = t->name ? t->name : p->texts.nothing;
	uint32_t key[] = {'c', name, t->unit, real, category}, *id;

	if (t->types[real] && t->category == category)
		return t->types[real];
	t->types[!real] = 0;
	t->category = category;
	id = id_cache_number(&p->types.ids, key, sizeof key);
	if (id && !*id) {
		*id = perfetto_declare_type(p, &(struct type_entry){.source = p->source,
								    .name = name,
								    .group = category,
								    .kind = KIND_COUNTER,
								    .native = 'C',
								    .fixed_size = 8,
								    .nfields = 1,
								    .fields = &value});
	}
	return id ? t->types[real] = *id : 0;
}

/* Write the value of a counter; bits: of an integer or of a double. */
static int counter_row(struct perfetto *p, struct perfetto_track *t,
		       const struct perfetto_record *rec, uint64_t time, uint64_t bits)
{
	bool real = rec->kind == PERFETTO_COUNTER_REAL;
	struct new_row r = {.time = merge_shifted(time, p->input->shift),
			    .lane = t->lane,
			    .type = counter_type(p, t, rec->category, real),
			    .fixed = &bits,
			    .fixed_size = sizeof bits};
	double value;

	if (t->multiplier && !real) {
		bits = (uint64_t)saturated_i64((int128)(int64_t)bits * (int64_t)t->multiplier);
	} else if (t->multiplier) {
		memcpy(&value, &bits, sizeof value);
		value *= (double)(int64_t)t->multiplier;
		memcpy(&bits, &value, sizeof bits);
	}
	bits = htole64(bits);
	return r.type ? writer_row_data(p->w, r) : -1;
}

static uint32_t perfetto_tracks_sample_type(struct perfetto *p, const struct perfetto_record *rec)
{
	struct field_entry weight = {.name = writer_text(p->w, "weight"),
				     .kind = FIELD_UINT,
				     .role = ROLE_PERIOD,
				     .size = 8};
	uint32_t key[3] = {'s', rec->name}, *id = id_cache_number(&p->types.ids, key, sizeof key);

	if (id && !*id) {
		*id = perfetto_declare_type(p, &(struct type_entry){.source = p->source,
								    .name = rec->name,
								    .kind = KIND_SAMPLE,
								    .native = 'P',
								    .fixed_size = 8,
								    .nfields = 1,
								    .fields = &weight});
	}
	return id ? *id : 0;
}

static int sample_row(struct perfetto *p, struct perfetto_track *t,
		      const struct perfetto_record *rec, uint64_t time, uint64_t weight)
{
	struct perfetto_thread *thread = perfetto_track_thread(p, t);
	struct new_row r = {.time = merge_shifted(time, p->input->shift),
			    .lane = t->lane,
			    .type = perfetto_tracks_sample_type(p, rec),
			    .location = rec->stack,
			    .fixed = &weight,
			    .fixed_size = sizeof weight};

	if (rec->flags & PERFETTO_HAS_CPU)
		r.lane = thread ? perfetto_lane(p, thread, rec->cpu)
				: perfetto_cpu_lane(p, rec->cpu);
	weight = htole64(weight);
	return r.type && r.lane ? writer_sample(p->w, r) : -1;
}

/* Write the row of an event on a track. */
static int perfetto_row_event(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
			      const uint8_t *data, size_t size)
{
	struct perfetto_track *t = &p->tracks.track[rec->track];
	struct perfetto_row r = {.time = time, .stack = rec->stack};
	struct perfetto_id id = {0, 0};
	uint64_t value = 0;

	if (__builtin_expect(t->resolved <= p->tracks.renewed, 0) && perfetto_track_resolve(p, t))
		return -1;
	if (rec->flags & PERFETTO_VALUE) {
		memcpy(&value, data, sizeof value);
		data += sizeof value;
		size -= sizeof value;
	}
	if (rec->kind == PERFETTO_ID_BEGIN || rec->kind == PERFETTO_ID_END) {
		memcpy(&id, data, sizeof id);
		data += sizeof id;
		size -= sizeof id;
	}
	r.values = data;
	r.size = (uint32_t)size;
	r.structs = rec->flags & PERFETTO_STRUCTS;
	/* the name of the leave */
	r.name = rec->kind == PERFETTO_END && !(rec->flags & PERFETTO_NAMED) ? rec->name : 0;
	switch (rec->kind) {
	case PERFETTO_BEGIN:
		if (rec->flags & PERFETTO_COMPLETE)
			return perfetto_begin_complete(p, rec, value, &r);
		r.track_id = value;
		return perfetto_begin_call(p, t, rec, &r);
	case PERFETTO_END: return perfetto_end_call(p, t, rec, &r);
	case PERFETTO_STATE: return state_row(p, t, rec, &r);
	case PERFETTO_COUNTER:
	case PERFETTO_COUNTER_REAL: return counter_row(p, t, rec, time, value);
	case PERFETTO_ID_BEGIN: return perfetto_id_begin(p, rec, id, &r);
	case PERFETTO_ID_END: return perfetto_id_end(p, rec, id, &r);
	case PERFETTO_SAMPLE: return sample_row(p, t, rec, time, value);
	case PERFETTO_HEAP: return perfetto_heap_row(p, t, rec, time, data);
	}
	return instant_row(p, t, rec, &r);
}

/* --- the order of rows --- */

static int gap_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
		   const uint8_t *data)
{
	struct gap gap;
	uint32_t lane = perfetto_cpu_lane(p, rec->flags & PERFETTO_HAS_CPU ? rec->cpu : -1);

	memcpy(&gap, data, sizeof gap);
	if (gap.offset != NO_OFFSET)
		gap.file = p->input->name;
	return lane ? writer_gap(p->w, merge_shifted(time, p->input->shift), lane, &gap) : -1;
}

int perfetto_rows(struct perfetto *p, uint64_t until, uint64_t *next)
{
	struct sorter_record r;

	for (;;) {
		struct perfetto_record rec;
		const uint8_t *data;
		size_t size;
		int failed;
		bool more = sorter_peek(&p->sorter, &r);

		/* at one time, calls end before others begin */
		*next = more ? r.key.time : UINT64_MAX;
		if (p->completes.count && complete_calls_next(&p->completes) <= *next) {
			*next = complete_calls_next(&p->completes);
			if (*next > until)
				return 0;
			if (perfetto_end_complete(p))
				return -1;
			continue;
		}
		if (!more || *next > until)
			return 0;
		memcpy(&rec, r.data, sizeof rec);
		data = r.data + sizeof rec;
		size = r.size - sizeof rec;
		if (rec.kind == PERFETTO_GAP)
			failed = gap_row(p, &rec, r.key.time, data);
		else if (rec.kind == PERFETTO_NAMING)
			failed = perfetto_naming_row(p, data);
		else if (rec.kind >= PERFETTO_FTRACE)
			failed = perfetto_ftrace_row(p, &rec, r.key.time, data, size);
		else
			failed = perfetto_add_inlined(p, &rec.stack) ||
				 perfetto_row_event(p, &rec, r.key.time, data, size);
		if (failed || sorter_advance(&p->sorter, &p->error))
			return -1;
	}
}

/*
 * The rows of calls.
 *
 * The calls of a thread's track are a stack, whose depth the rows have. All other tracks have
 * asynchronous calls with numbers: an end closes the last begin of its track. Two tracks of a
 * thread that trencode writes become what they were: calls in the kernel, and calls open since
 * before the trace.
 */

/* Begin a row of a call. */
static struct perfetto_row call_row(const struct perfetto *p, const struct perfetto_track *t,
				    const struct perfetto_frame *f, enum type_kind kind,
				    uint64_t time)
{
	bool enter = kind == KIND_ENTER;
	struct perfetto_row r = {.time = time,
				 .kind = kind,
				 .lane = t->lane,
				 .category = f->category,
				 .location = f->location,
				 .name = f->name};

	r.type_name = enter ? p->texts.begin : p->texts.end;
	if (f->overlaps) {
		r.call = f->call;
		r.flags = TYPE_CALL_NUMBER;
		return r;
	}
	if (f->call) {
		r.track_id = f->by_id ? f->serial : t->uuid;
		r.call = f->call;
		r.by_id = f->by_id;
		r.flags = TYPE_CALL_NUMBER;
		if (t->is_state && !f->by_id)
			r.type_name = enter ? p->texts.state_begin : p->texts.state_end;
		else
			r.type_name = enter ? p->texts.async_begin : p->texts.async_end;
		return r;
	}
	r.level = f->level;
	r.flags = (f->level <= DEPTH_MOST ? TYPE_DEPTH : 0) | (f->kernel ? TYPE_KERNEL : 0);
	return r;
}

/* Write the row of a call: values and stack are those of the row `of`. */
static int perfetto_put_call(struct perfetto *p, const struct perfetto_track *t,
			     const struct perfetto_frame *f, enum type_kind kind,
			     const struct perfetto_row *of)
{
	bool leaves = kind == KIND_LEAVE;
	bool is_bare = !f->call && !f->kernel && !of->size && !of->stack && f->level <= DEPTH_MOST;
	struct perfetto_row r;

	/* most rows: with the struct 'trdecode | trstat' of a trace of calls takes 1.12 times the
	 * instructions */
	if (is_bare && p->types.bare[leaves].type && p->types.bare[leaves].category == f->category)
		return writer_row(p->w, merge_shifted(of->time, p->input->shift), t->lane,
				  p->types.bare[leaves].type, f->location, f->level);
	r = call_row(p, t, f, kind, of->time);
	r.values = of->values;
	r.size = of->size;
	r.structs = of->structs;
	r.stack = of->stack;
	if (is_bare) {
		p->types.bare[leaves].category = f->category;
		p->types.bare[leaves].type = perfetto_row_type(p, &r);
	}
	return perfetto_put_row(p, &r);
}

/* --- calls --- */

/* Get the thread of a resolved track; NULL: it has none. */
static struct perfetto_thread *perfetto_track_thread(const struct perfetto *p,
						     const struct perfetto_track *t)
{
	return t->thread ? &p->tracks.thread[t->thread - 1] : NULL;
}

/* Get the calls that a track's begins and ends are of. */
static struct perfetto_calls *perfetto_calls_of(const struct perfetto *p, struct perfetto_track *t)
{
	return t->role == PERFETTO_STACK ? &perfetto_track_thread(p, t)->calls : &t->calls;
}

/* Begin a call. of: the time, the values and the stack of the row; as track_id the id.
 */
static int perfetto_begin_call(struct perfetto *p, struct perfetto_track *t,
			       const struct perfetto_record *rec, const struct perfetto_row *of)
{
	struct perfetto_thread *thread = perfetto_track_thread(p, t);
	struct perfetto_calls *c = perfetto_calls_of(p, t);
	struct perfetto_frame *f;

	if (ARRAY_GROW(c->frames, c->capacity, c->depth))
		return -1;
	f = &c->frames[c->depth++];
	*f = (struct perfetto_frame){.serial = of->track_id,
				     .by_id = rec->flags & PERFETTO_BY_ID,
				     .end = UINT64_MAX,
				     .limit = c->depth > 1 ? f[-1].limit : UINT64_MAX,
				     .name = rec->name,
				     .category = rec->category,
				     .location = perfetto_location(p, rec->name)};
	if (!f->location)
		return -1;
	if (t->role == PERFETTO_BEFORE) {
		/* the call has no enter */
		thread->unseen++;
		return 0;
	}
	/* the stream counts no calls in the kernel outside of others */
	f->kernel = t->role == PERFETTO_KERNEL && thread->calls.depth + thread->unseen;
	if (t->role == PERFETTO_STACK)
		f->level = (uint32_t)c->depth - 1 + thread->unseen;
	else if (f->kernel)
		f->level = thread->kernel++;
	else
		f->call = ++p->calls;
	return perfetto_put_call(p, t, f, KIND_ENTER, of);
}

/* End the innermost call of a track; a name of the row is that of its leave. End the innermost
 * call of a track. */
static int perfetto_end_innermost(struct perfetto *p, struct perfetto_track *t,
				  const struct perfetto_row *of, bool unfinished)
{
	struct perfetto_thread *thread = perfetto_track_thread(p, t);
	struct perfetto_calls *c = perfetto_calls_of(p, t);
	struct perfetto_frame *f = &c->frames[--c->depth];

	thread = f->kernel || t->role == PERFETTO_BEFORE ? thread : NULL;
	if (f->kernel)
		thread->kernel--;
	else if (thread)
		f->level = --thread->unseen + (uint32_t)thread->calls.depth;
	if (unfinished)
		return 0;
	if (of->name) {
		f->name = of->name;
		f->location = perfetto_location(p, of->name);
		if (!f->location)
			return -1;
	}
	return perfetto_put_call(p, t, f, KIND_LEAVE, of);
}

/* End calls of a track until so many are left; the last one has the values of the row. */
static int perfetto_tracks_end_calls(struct perfetto *p, struct perfetto_track *t, size_t depth,
				     const struct perfetto_row *of, bool unfinished)
{
	const struct perfetto_row inner = {.time = of->time};
	const struct perfetto_calls *c = perfetto_calls_of(p, t);
	bool complete = c->frames[depth].end != UINT64_MAX;

	while (c->depth > depth + 1) {
		uint64_t end = c->frames[c->depth - 1].end;

		p->counts.clipped += end > of->time && (complete || end != UINT64_MAX);
		if (perfetto_end_innermost(p, t, &inner, false))
			return -1;
	}
	return perfetto_end_innermost(p, t, of, unfinished);
}

/* Test whether an END is of a call: it has the call's name and category, or none, as
 * MatchingIncompleteSliceIndex() of Perfetto's slice_tracker.cc has it. */
static bool is_end_of(const struct perfetto *p, const struct perfetto_record *rec,
		      const struct perfetto_frame *f)
{
	if (f->end != UINT64_MAX || (rec->category && f->category != rec->category))
		return false;
	return !(rec->flags & PERFETTO_NAMED) || f->name == rec->name ||
	       f->name == p->texts.nothing;
}

/* Find the call that an END ends: its index + 1; 0: there is none. */
static size_t find_call(const struct perfetto *p, const struct perfetto_calls *c,
			const struct perfetto_record *rec)
{
	size_t depth = c->depth;

	while (depth && !is_end_of(p, rec, &c->frames[depth - 1]))
		depth--;
	return depth;
}

/* End the call of a record, and the calls inside it. */
static int perfetto_end_call(struct perfetto *p, struct perfetto_track *t,
			     const struct perfetto_record *rec, const struct perfetto_row *of)
{
	size_t depth = find_call(p, perfetto_calls_of(p, t), rec);

	if (!depth) {
		p->counts.unopened++;
		return 0;
	}
	return perfetto_tracks_end_calls(p, t, depth - 1, of, rec->flags & PERFETTO_UNFINISHED);
}

/* --- calls with a duration --- */

/* The id,, of an X that overlaps others. */
static struct perfetto_id id_of_complete(uint64_t serial)
{
	return (struct perfetto_id){.hash = serial | 1ull << 63};
}

/* Begin a call that will end at a time; end the first of them to end. */
static int perfetto_begin_complete(struct perfetto *p, const struct perfetto_record *rec,
				   uint64_t end, const struct perfetto_row *of)
{
	struct perfetto_track *t = &p->tracks.track[rec->track];
	const struct perfetto_calls *c = perfetto_calls_of(p, t);
	uint64_t limit = c->depth ? c->frames[c->depth - 1].limit : UINT64_MAX;
	struct complete_end new_end = {.time = end,
				       .serial = ++p->completes.serial,
				       .thread = rec->track,
				       .depth = (uint32_t)c->depth};
	struct perfetto_row row = *of;
	struct perfetto_frame *f;

	new_end.overlaps = (t->role == PERFETTO_STACK || t->role == PERFETTO_ASYNC) &&
			   !perfetto_ids_full(p) &&
			   complete_calls_overlap(&p->completes, &new_end, limit, false);
	if (new_end.overlaps)
		return perfetto_id_begin(p, rec, id_of_complete(new_end.serial), of)
			       ? -1
			       : complete_calls_push(&p->completes, &new_end);
	row.track_id = new_end.serial;
	if (perfetto_begin_call(p, t, rec, &row))
		return -1;
	f = &c->frames[c->depth - 1];
	f->end = end;
	f->limit = end < limit ? end : limit;
	return complete_calls_push(&p->completes, &new_end);
}

static int perfetto_end_complete(struct perfetto *p)
{
	struct complete_end end = complete_calls_pop(&p->completes);
	struct perfetto_track *t = &p->tracks.track[end.thread];
	const struct perfetto_record rec = {.track = end.thread};
	const struct perfetto_row row = {.time = end.time};
	const struct perfetto_calls *c = perfetto_calls_of(p, t);

	if (end.overlaps)
		return perfetto_id_end(p, &rec, id_of_complete(end.serial), &row);
	/* a call around it may have ended it, and the track may be of another thread now */
	if (c->depth <= end.depth || c->frames[end.depth].by_id ||
	    c->frames[end.depth].serial != end.serial)
		return 0;
	return perfetto_tracks_end_calls(p, t, end.depth, &row, false);
}

/* --- calls that overlap others --- */

/* The open calls of all stacks while they are looked at. */
struct looked {
	struct id_cache numbers; /* by thread or track: index + 1 */
	struct perfetto_calls *calls;
	size_t count, capacity;
};

/* Get the number of the stack of a track, index + 1; 0: out of memory. The tracks of a thread share
 * it. */
static uint32_t looked_number(const struct perfetto *p, struct looked *l, uint32_t track)
{
	const struct perfetto_track *t = &p->tracks.track[track];
	bool stack = t->has_thread && !t->is_async;
	int32_t key[] = {stack, stack && p->tasks.shared_tids ? t->pid : -1,
			 stack ? t->tid : (int32_t)track};
	uint32_t *number = id_cache_number(&l->numbers, key, sizeof key);

	if (number && !*number) {
		if (ARRAY_GROW(l->calls, l->capacity, l->count))
			return 0;
		l->calls[l->count++] = (struct perfetto_calls){0};
		*number = (uint32_t)l->count;
	}
	return number ? *number : 0;
}

static int look_begin(struct perfetto *p, struct looked *l, const struct perfetto_record *rec,
		      uint64_t end)
{
	uint32_t number = looked_number(p, l, rec->track);
	struct perfetto_calls *c = number ? &l->calls[number - 1] : NULL;
	struct perfetto_frame f = {
		.name = rec->name, .category = rec->category, .end = end, .limit = UINT64_MAX};
	struct complete_end ends = {.time = end, .thread = number - 1};

	if (!c)
		return -1;
	ends.depth = (uint32_t)c->depth;
	if (c->depth)
		f.limit = c->frames[c->depth - 1].limit;
	if (end != UINT64_MAX) {
		f.serial = ends.serial = ++p->completes.serial;
		if (complete_calls_overlap(&p->completes, &ends, f.limit, false))
			return complete_calls_mark(&p->completes, ends.serial);
		if (complete_calls_push(&p->completes, &ends))
			return -1;
		f.limit = end < f.limit ? end : f.limit;
	}
	if (ARRAY_GROW(c->frames, c->capacity, c->depth))
		return -1;
	c->frames[c->depth++] = f;
	return 0;
}

/* End a call; the X in it that end later overlap it. */
static int look_end(struct perfetto *p, struct looked *l, const struct perfetto_record *rec,
		    uint64_t time)
{
	uint32_t number = looked_number(p, l, rec->track);
	struct perfetto_calls *c = number ? &l->calls[number - 1] : NULL;
	size_t depth = c ? find_call(p, c, rec) : 0;

	if (!c)
		return -1;
	for (size_t i = depth; depth && i < c->depth; i++)
		if (c->frames[i].serial && complete_ends_outside(c->frames[i].end, time, false) &&
		    complete_calls_mark(&p->completes, c->frames[i].serial))
			return -1;
	if (depth)
		c->depth = depth - 1;
	return 0;
}

static int perfetto_tracks_look_at(struct perfetto *p, struct looked *l,
				   const struct sorter_record *r)
{
	struct perfetto_record rec;
	uint64_t end = UINT64_MAX;

	memcpy(&rec, r->data, sizeof rec);
	while (complete_calls_next(&p->completes) <= r->key.time) {
		struct complete_end ended = complete_calls_pop(&p->completes);
		struct perfetto_calls *c = &l->calls[ended.thread];

		if (c->depth > ended.depth && c->frames[ended.depth].serial == ended.serial)
			c->depth = ended.depth;
	}
	if (rec.kind == PERFETTO_END)
		return look_end(p, l, &rec, r->key.time);
	if (rec.kind != PERFETTO_BEGIN)
		return 0;
	if (rec.flags & PERFETTO_COMPLETE)
		memcpy(&end, r->data + sizeof rec, sizeof end);
	return look_begin(p, l, &rec, end);
}

/* Look at all events, if a stack has X and B. */
static int perfetto_tracks_look(struct perfetto *p, struct looked *l)
{
	struct sorter_record r;
	bool mixed = false;

	for (uint32_t i = 0; i < p->tracks.count; i++) {
		const struct perfetto_calls *of = &p->tracks.track[i].calls;
		uint32_t number;

		if (!of->begins && !of->completes)
			continue;
		number = looked_number(p, l, i);
		if (!number)
			return -1;
		l->calls[number - 1].begins |= of->begins;
		l->calls[number - 1].completes |= of->completes;
		mixed |= l->calls[number - 1].begins && l->calls[number - 1].completes;
	}
	if (!mixed)
		return 0;
	p->completes.looking = true;
	while (sorter_peek(&p->sorter, &r))
		if (perfetto_tracks_look_at(p, l, &r) || sorter_advance(&p->sorter, &p->error))
			return -1;
	complete_calls_rewind(&p->completes);
	return sorter_rewind(&p->sorter, &p->error);
}

int perfetto_find_overlaps(struct perfetto *p)
{
	struct looked l = {0};
	int failed = perfetto_tracks_look(p, &l);

	for (size_t i = 0; i < l.count; i++)
		free(l.calls[i].frames);
	free(l.calls);
	id_cache_free(&l.numbers);
	return failed;
}

/* --- states --- */

/* Begin the state of a record, which is not the one that the track has; name 0: none begins. The
 * state before it ends. */
static int perfetto_state(struct perfetto *p, struct perfetto_track *t,
			  const struct perfetto_record *rec, const struct perfetto_row *of)
{
	const struct perfetto_calls *c = &t->calls;
	struct perfetto_row end = {.time = of->time};

	/* the end of a state has arguments only if no state follows */
	if (c->depth && perfetto_end_innermost(p, t, rec->name ? &end : of, false))
		return -1;
	return rec->name ? perfetto_begin_call(p, t, rec, of) : 0;
}

/*
 * Calls with an id: Chrome's phases b, e, S and F, and marks of atrace; and the X that overlap
 * others, whose serial is their id.
 *
 * An end belongs to the innermost open call of its id and name, or of any name if the end has none.
 * The call belongs to the track that began it.
 */

enum { OPEN_MOST = 1 << 20, SEARCHED = 256 };

/* An open call. */
struct perfetto_open {
	struct perfetto_frame frame;
	uint32_t track; /* index */
	size_t below; /* index + 1 of the next outer call of this id, or of the next free element; 0
			 none */
};

struct perfetto_id perfetto_id_of(const struct perfetto_track_key *key)
{
	static const struct siphash_key secret = {0x70, 0x66};

	return (struct perfetto_id){siphash(&secret, key, sizeof *key) >> 1, key->id};
}

static bool async_calls_take_id(struct perfetto *p, uint64_t hash, uint64_t *index)
{
	return open_calls_take(&p->async.keys, (uint32_t)(hash >> 32), (uint32_t)hash, index);
}

static int perfetto_tracks_put_id(struct perfetto *p, uint64_t hash, uint64_t index)
{
	return open_calls_put(&p->async.keys, (uint32_t)(hash >> 32), (uint32_t)hash, index);
}

/* Get the index + 1 of a free element; 0: out of memory. */
static size_t perfetto_tracks_new_open(struct perfetto *p)
{
	size_t index = p->async.free;

	if (index) {
		p->async.free = p->async.open[index - 1].below;
		return index;
	}
	if (ARRAY_GROW(p->async.open, p->async.capacity, p->async.count))
		return 0;
	return ++p->async.count;
}

/* Test whether as many calls with an id are open as may be. */
static bool perfetto_ids_full(const struct perfetto *p)
{
	return p->async.count == OPEN_MOST && !p->async.free;
}

/* Begin and end a call with an id. */
static int perfetto_id_begin(struct perfetto *p, const struct perfetto_record *rec,
			     struct perfetto_id id, const struct perfetto_row *of)
{
	struct perfetto_open *open;
	uint64_t below = 0;
	size_t index;

	if (perfetto_ids_full(p)) {
		p->counts.unkept++;
		return 0;
	}
	index = perfetto_tracks_new_open(p);
	if (!index)
		return -1;
	async_calls_take_id(p, id.hash, &below);
	open = &p->async.open[index - 1];
	*open = (struct perfetto_open){.frame = {.serial = id.number,
						 .name = rec->name,
						 .category = rec->category,
						 .location = perfetto_location(p, rec->name),
						 .call = ++p->calls,
						 .by_id = !(id.hash >> 63),
						 .overlaps = id.hash >> 63},
				       .track = rec->track,
				       .below = (size_t)below};
	if (!open->frame.location || perfetto_tracks_put_id(p, id.hash, index))
		return -1;
	return perfetto_put_call(p, &p->tracks.track[rec->track], &open->frame, KIND_ENTER, of);
}

/* Find the call to end among the innermost, in the list from *head on; return the pointer to its
 * index + 1. NULL: there is none. */
static size_t *find_open(struct perfetto *p, uint32_t name, size_t *head)
{
	size_t *at = head;

	for (unsigned i = 0; *at && i < SEARCHED; i++, at = &p->async.open[*at - 1].below)
		if (!name || p->async.open[*at - 1].frame.name == name)
			return at;
	return NULL;
}

static int perfetto_id_end(struct perfetto *p, const struct perfetto_record *rec,
			   struct perfetto_id id, const struct perfetto_row *of)
{
	struct perfetto_open open;
	uint64_t index = 0;
	size_t head, *at, ended;

	async_calls_take_id(p, id.hash, &index);
	head = (size_t)index;
	at = find_open(p, rec->name, &head);
	if (!at) {
		p->counts.unopened++;
		return head ? perfetto_tracks_put_id(p, id.hash, head) : 0;
	}
	ended = *at;
	open = p->async.open[ended - 1];
	*at = open.below;
	p->async.open[ended - 1].below = p->async.free;
	p->async.free = ended;
	if (head && perfetto_tracks_put_id(p, id.hash, head))
		return -1;
	return perfetto_put_call(p, &p->tracks.track[open.track], &open.frame, KIND_LEAVE, of);
}

/* --- records --- */

int perfetto_keep_data(struct perfetto *p, struct sorter_key key, const struct perfetto_record *r,
		       const void *data, size_t size)
{
	struct buffer *b = &p->scratch.record;

	p->counts.events++;
	if (key.time > p->last)
		p->last = key.time;
	if (key.time < p->clocks.first)
		p->clocks.first = key.time;
	if (p->counting)
		return 0;
	if (!size)
		return sorter_add(&p->sorter, key, r, sizeof *r, &p->error);
	b->size = 0;
	if (buffer_append(b, r, sizeof *r) || buffer_append(b, data, size))
		return -1;
	return sorter_add(&p->sorter, key, b->data, b->size, &p->error);
}

int perfetto_keep_ordered(struct perfetto *p, struct sorter_key key,
			  const struct perfetto_record *r, uint64_t value)
{
	const struct buffer *arguments = &p->scratch.arguments;
	struct buffer *b = &p->scratch.key;

	if (__builtin_expect(!(r->flags & PERFETTO_VALUE), 1))
		return perfetto_keep_data(p, key, r, arguments->data, arguments->size);
	b->size = 0;
	if (buffer_append(b, &value, sizeof value) ||
	    (arguments->size && buffer_append(b, arguments->data, arguments->size)))
		return -1;
	return perfetto_keep_data(p, key, r, b->data, b->size);
}

int perfetto_keep(struct perfetto *p, uint64_t time, const struct perfetto_record *r,
		  uint64_t value)
{
	return perfetto_keep_ordered(p, (struct sorter_key){time, PERFETTO_ORDER}, r, value);
}

int perfetto_keep_gap(struct perfetto *p, uint64_t time, const struct gap *gap, int32_t cpu)
{
	struct perfetto_record r = {.kind = PERFETTO_GAP,
				    .flags = cpu >= 0 ? PERFETTO_HAS_CPU : 0,
				    .cpu = (uint16_t)cpu};

	return perfetto_keep_data(p, (struct sorter_key){time, PERFETTO_ORDER}, &r, gap,
				  sizeof *gap);
}

int perfetto_keep_id(struct perfetto *p, uint64_t time, const struct perfetto_record *r,
		     const struct perfetto_track_key *key)
{
	struct perfetto_id id = perfetto_id_of(key);
	const struct buffer *arguments = &p->scratch.arguments;
	struct buffer *b = &p->scratch.key;

	b->size = 0;
	if ((arguments->size && perfetto_learn(p, r->name)) || buffer_append(b, &id, sizeof id) ||
	    (arguments->size && buffer_append(b, arguments->data, arguments->size)))
		return -1;
	return perfetto_keep_data(p, (struct sorter_key){time, PERFETTO_ORDER}, r, b->data,
				  b->size);
}

/* --- types of the events of ftrace --- */

enum { LIST_MOST = 6 }; /* elements of a list: the arguments of a system call */

/* An entry of CompactSched. */
struct perfetto_switch {
	int64_t prev_state;
	int32_t pid, prio, target_cpu;
	uint32_t comm; /* string of the writer */
};

/* A field of an event. In the stream, numbers are 8 bytes of the fixed part, a list is LIST_MOST
 * such numbers, and texts are in the tail. */
struct perfetto_event_field {
	uint32_t number, name;
	uint8_t kind; /* a letter of perfetto_tables.h */
	uint32_t at;  /* offset in the fixed part, or number of the text */
};

/* The type of an event. */
struct perfetto_event_type {
	uint32_t number, name, group;
	uint32_t type; /* of the writer; 0: not yet declared */
	uint32_t nfields, fixed_size, texts;
	struct perfetto_event_field *fields;
};

/* DescriptorProto, FieldDescriptorProto */
enum {
	MESSAGE_NAME = 1,
	MESSAGE_FIELD = 2,
	FIELD_NAME = 1,
	FIELD_NUMBER = 3,
	FIELD_TYPE = 5,
};

/* GenericFtraceEvent */
enum {
	GENERIC_NAME = 1,
	GENERIC_FIELD = 2,
	GENERIC_FIELD_NAME = 1,
	GENERIC_TEXT = 3,
	GENERIC_INT = 4,
	GENERIC_UINT = 5,
};

/* Add a type. Returns its index + 1; 0: out of memory. */
static uint32_t perfetto_add_type(struct perfetto *p, uint32_t number)
{
	if (ARRAY_GROW(p->ftrace.type, p->ftrace.types_capacity, p->ftrace.ntypes))
		return 0;
	p->ftrace.type[p->ftrace.ntypes++] = (struct perfetto_event_type){.number = number};
	return (uint32_t)p->ftrace.ntypes;
}

static int perfetto_add_field(struct perfetto_event_type *t, uint32_t number, uint32_t name,
			      char kind)
{
	struct perfetto_event_field *fields;

	if (t->nfields == PERFETTO_EVENT_FIELDS || !name)
		return name ? 0 : -1;
	fields = realloc(t->fields, (t->nfields + 1) * sizeof *fields);
	if (!fields)
		return -1;
	t->fields = fields;
	fields[t->nfields++] =
		(struct perfetto_event_field){.number = number,
					      .name = name,
					      .kind = (uint8_t)kind,
					      .at = kind == 's' ? t->texts : t->fixed_size};
	t->texts += kind == 's';
	t->fixed_size += kind == 's' ? 0 : kind == 'a' ? 8 * LIST_MOST : 8;
	return 0;
}

/* --- the table --- */

/* Find the row of an event in the tables; NULL: it is unknown. */
static const char *find_row(uint32_t number)
{
	const char *const *row = number < 210	? perfetto_ftrace_3
				 : number < 400 ? perfetto_ftrace_210
						: perfetto_ftrace_400;

	while (*row && strtoul(*row, NULL, 10) != number)
		row++;
	return *row;
}

/* Make a type from a row of the table. */
static int read_row(struct perfetto *p, struct perfetto_event_type *t, const char *row)
{
	struct text_span rest = {row, row + strlen(row)}, event, name, kind;
	const char *colon;
	uint32_t number = 0;

	span_take_word(&rest);
	event = span_take_word(&rest);
	colon = memchr(event.at, ':', span_size(event));
	if (colon) {
		t->group = writer_string(p->w, event.at, (size_t)(colon - event.at));
		if (!t->group)
			return -1;
		event.at = colon + 1;
	}
	t->name = writer_string(p->w, event.at, span_size(event));
	while (perfetto_table_field(&rest, &number, &name, &kind))
		if (perfetto_add_field(t, number, writer_string(p->w, name.at, span_size(name)),
				       *kind.at))
			return -1;
	return t->name ? 0 : -1;
}

/* Get the type of an event by its number. NULL: out of memory. */
static struct perfetto_event_type *perfetto_event_type(struct perfetto *p, uint32_t number)
{
	uint32_t *at = key_map_number(&p->ftrace.numbers, number);
	struct perfetto_event_type *t;
	const char *row;

	if (!at || *at)
		return at ? &p->ftrace.type[*at - 1] : NULL;
	*at = perfetto_add_type(p, number);
	if (!*at)
		return NULL;
	t = &p->ftrace.type[*at - 1];
	row = find_row(number);
	if (row)
		return read_row(p, t, row) ? NULL : t;
	p->scratch.text.size = 0;
	if (buffer_printf(&p->scratch.text, "ftrace field %u", (unsigned)number))
		return NULL;
	t->name = writer_string(p->w, p->scratch.text.data, p->scratch.text.size);
	return t->name ? t : NULL;
}

/* --- descriptions --- */

/* Get the kind of a field of a message; 0: it is not read. */
static char perfetto_kind_of(uint64_t type)
{
	static const char kinds[] = {0, 'd', 'f', 'i', 'u', 'i', 'u', 'u', 'u', 's',
				     0, 0,   0,	  'u', 'i', 'u', 'u', 'z', 'z'};

	return type < sizeof kinds ? kinds[type] : 0;
}

static int describe_field(struct perfetto *p, struct perfetto_event_type *t,
			  struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t number = 0, name = 0;
	char kind = 0;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case FIELD_NAME: name = perfetto_text(p, f.bytes); break;
		case FIELD_NUMBER: number = (uint32_t)f.value; break;
		case FIELD_TYPE: kind = perfetto_kind_of(f.value); break;
		}
	return kind && name ? perfetto_add_field(t, number, name, kind) : 0;
}

/* Take the description of events that the trace numbers itself. */
static int perfetto_event_descriptor(struct perfetto *p, struct protobuf_view message)
{
	struct protobuf_view described = {NULL, NULL};
	struct perfetto_event_type *t;
	uint32_t number = 0, group = 0, *at;
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case DESCRIPTOR_FIELD: number = (uint32_t)f.value; break;
		case DESCRIPTOR_MESSAGE: described = f.bytes; break;
		case DESCRIPTOR_GROUP: group = perfetto_text(p, f.bytes); break;
		}
	at = key_map_number(&p->ftrace.numbers, number);
	if (!at || *at)
		return at ? 0 : -1;
	*at = perfetto_add_type(p, number);
	if (!*at)
		return -1;
	t = &p->ftrace.type[*at - 1];
	t->group = group;
	while (protobuf_next(&described, &f) > 0) {
		if (f.number == MESSAGE_NAME)
			t->name = perfetto_text(p, f.bytes);
		else if (f.number == MESSAGE_FIELD && describe_field(p, t, f.bytes))
			return -1;
	}
	t->name = t->name ? t->name : p->texts.nothing;
	return 0;
}

/* --- generic events --- */

/* Get the name and the kind of a field of a generic event. */
static uint32_t generic_field(struct perfetto *p, struct protobuf_view message, char *kind)
{
	struct protobuf_field f;
	uint32_t name = p->texts.nothing;

	*kind = 'u';
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case GENERIC_FIELD_NAME: name = perfetto_text(p, f.bytes); break;
		case GENERIC_TEXT: *kind = 's'; break;
		case GENERIC_INT: *kind = 'i'; break;
		}
	return name ? name : p->texts.nothing;
}

/* Get the number + 1 in p->ftrace.type of the type of a GenericFtraceEvent. 0: out of memory. */
static uint32_t perfetto_generic_type(struct perfetto *p, struct protobuf_view message)
{
	struct buffer *key = &p->ftrace.key;
	uint32_t *at, name = p->texts.nothing;
	struct perfetto_event_type *t;
	struct protobuf_field f;
	uint64_t n = 0;

	key->size = 0;
	if (buffer_u32(key, 0))
		return 0;
	while (protobuf_next(&message, &f) > 0) {
		char kind;

		if (f.number == GENERIC_NAME)
			name = perfetto_text(p, f.bytes);
		if (f.number != GENERIC_FIELD || n++ >= PERFETTO_EVENT_FIELDS)
			continue;
		if (buffer_u32(key, generic_field(p, f.bytes, &kind)) ||
		    buffer_u32(key, (uint32_t)kind))
			return 0;
	}
	put_u32(key->data, name);
	at = id_cache_number(&p->ftrace.generic, key->data, key->size);
	if (!at || *at)
		return at ? *at : 0;
	*at = perfetto_add_type(p, 0);
	if (!*at)
		return 0;
	t = &p->ftrace.type[*at - 1];
	t->name = name ? name : p->texts.nothing;
	for (size_t i = 4; i < key->size; i += 8)
		if (perfetto_add_field(t, 0, get_u32(key->data + i),
				       (char)get_u32(key->data + i + 4)))
			return 0;
	return *at;
}

/* --- declaring --- */

/* Get the names of the numbers in a field; 0: there are none. */
static uint32_t names_of_field(struct perfetto *p, uint32_t event, uint32_t field)
{
	size_t event_size, field_size;
	const char *event_name = writer_string_of(p->w, event, &event_size),
		   *field_name = writer_string_of(p->w, field, &field_size);

	if (!p->ftrace.names)
		p->ftrace.names = calloc(1, sizeof *p->ftrace.names);
	return kernel_names_of(p->ftrace.names, p->w, event_name, event_size, field_name,
			       field_size);
}

/* Declare a type of the stream. 0: out of memory. */
static uint32_t perfetto_event_declare(struct perfetto *p, struct perfetto_event_type *t)
{
	struct field_entry fields[PERFETTO_EVENT_FIELDS] = {{0}};
	struct type_entry e = {.source = p->source,
			       .name = t->name,
			       .group = t->group ? t->group : writer_text(p->w, "ftrace"),
			       .kind = KIND_INSTANT,
			       .flags = t->texts ? TYPE_TAIL : 0,
			       .fixed_size = t->fixed_size,
			       .native = t->number,
			       .nfields = t->nfields,
			       .fields = fields};

	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct perfetto_event_field *f = &t->fields[i];

		fields[i].name = f->name;
		fields[i].offset = f->at;
		fields[i].size = 8;
		switch (f->kind) {
		case 's':
			fields[i].kind = FIELD_STRING;
			fields[i].where = WHERE_STRING;
			fields[i].size = 1;
			break;
		case 'a': fields[i].count = LIST_MOST; break;
		case 'i':
		case 'z': fields[i].kind = FIELD_INT; break;
		case 'f':
		case 'd': fields[i].kind = FIELD_FLOAT; break;
		}
		if (fields[i].kind <= FIELD_INT && !fields[i].count)
			fields[i].definition = names_of_field(p, t->name, f->name);
	}
	return t->type = perfetto_declare_type(p, &e);
}

void perfetto_ftrace_free(struct perfetto *p)
{
	for (size_t i = 0; i < p->ftrace.ntypes; i++)
		free(p->ftrace.type[i].fields);
	free(p->ftrace.type);
	free(p->ftrace.cpu);
	free(p->ftrace.names);
	key_map_free(&p->ftrace.numbers);
	id_cache_free(&p->ftrace.generic);
}

/*
 * Writes the events of ftrace as rows, in the order of their times.
 *
 * An event has the lane of its CPU and thread. The comm of a thread is the last one before the
 * event, of the process tree, of a descriptor or of another event. A compact sched_switch has only
 * the next thread: the previous one is that of the switch before on the CPU. Marks of atrace are
 * calls, counters and instants.
 */

enum {
	CPUS_MOST = 65536,
	SWITCH_NEXT_COMM = 5, /* of SchedSwitchFtraceEvent */
	SWITCH_NEXT_PID = 6,
	SWITCH_NEXT_PRIO = 7,
	WAKE_SUCCESS = 4, /* of SchedWakeupFtraceEvent and its kin */
	NEWTASK_FLAGS = 3,
	CLONE_A_THREAD = 0x10000, /* Linux's CLONE_THREAD */
	COMM_MOST = 15,
};

/* The thread that runs on a CPU. */
struct perfetto_cpu {
	bool known;
	int32_t tid, prio;
	uint32_t comm; /* string of the writer */
};

static struct perfetto_cpu *perfetto_cpu_of(struct perfetto *p, uint16_t cpu)
{
	return ARRAY_REACH(p->ftrace.cpu, p->ftrace.ncpus, cpu) ? NULL : &p->ftrace.cpu[cpu];
}

/* Get the thread of an event. NULL: out of memory. */
static struct perfetto_thread *decode_perfetto_thread_of(struct perfetto *p, int32_t tid)
{
	struct perfetto_task *task = perfetto_task(p, tid);

	return task ? find_thread(p, task->tgid, tid, 0) : NULL;
}

static int perfetto_set_comm(struct perfetto *p, int32_t tid, uint32_t comm)
{
	struct perfetto_thread *t = comm && tid > 0 ? decode_perfetto_thread_of(p, tid) : NULL;
	struct perfetto_task *task;

	if (!comm || tid <= 0)
		return 0;
	if (!t)
		return -1;
	if (t->comm == comm)
		return 0;
	task = perfetto_task(p, tid);
	task->comm = comm;
	task->inherited = t->named = false;
	return perfetto_rename(p, tid) ? 0 : -1;
}

/* --- the content of rows --- */

/* Begin the content of a row of a type: zero, and empty texts. */
static int begin_content(struct perfetto *p, const struct perfetto_event_type *t)
{
	struct buffer *fixed = &p->ftrace.fixed;

	fixed->size = p->ftrace.tail.size = 0;
	return buffer_zero(fixed, t->fixed_size);
}

static int decode_perfetto_put_text(struct perfetto *p, struct protobuf_view v)
{
	const uint8_t *nul = v.at < v.end ? memchr(v.at, 0, protobuf_size(v)) : NULL;

	if (nul)
		v.end = nul;
	return (v.at < v.end && buffer_append(&p->ftrace.tail, v.at, protobuf_size(v))) ||
			       buffer_u8(&p->ftrace.tail, 0)
		       ? -1
		       : 0;
}

static int perfetto_put_string(struct perfetto *p, uint32_t string)
{
	size_t n = 0;
	const char *text = string ? writer_string_of(p->w, string, &n) : "";
	const uint8_t *at = (const uint8_t *)text;

	return decode_perfetto_put_text(p, (struct protobuf_view){at, at + n});
}

/* Convert a number of a field to 8 bytes. */
static uint64_t field_bits(uint8_t kind, const struct protobuf_field *f)
{
	uint32_t bits = (uint32_t)f->value;
	uint64_t wide;
	float number;
	double real;

	if (kind == 'z')
		return (uint64_t)protobuf_unzigzag(f->value);
	if (kind != 'f')
		return f->value;
	memcpy(&number, &bits, sizeof number);
	real = number;
	memcpy(&wide, &real, sizeof wide);
	return wide;
}

/* Take the numbers of a list, packed or not. */
static void put_list(uint8_t *to, unsigned *n, struct protobuf_field f)
{
	struct protobuf_view rest = f.bytes;
	uint64_t value;

	while (*n < LIST_MOST && protobuf_each(&f, &rest, &value))
		put_u64(to + 8 * (*n)++, value);
}

/* Set what newer kernels leave out of a wakeup: that the thread was woken. */
static void put_success(struct perfetto *p, const struct perfetto_event_type *t)
{
	if (t->number != FTRACE_SCHED_WAKEUP && t->number != FTRACE_SCHED_WAKING &&
	    t->number != FTRACE_SCHED_WAKEUP_NEW)
		return;
	for (uint32_t i = 0; i < t->nfields; i++)
		if (t->fields[i].number == WAKE_SUCCESS)
			put_u64(p->ftrace.fixed.data + t->fields[i].at, 1);
}

/* Make the content of a row from the message of an event. */
static int make_content(struct perfetto *p, const struct perfetto_event_type *t,
			struct protobuf_view message)
{
	struct protobuf_view texts[PERFETTO_EVENT_FIELDS] = {{NULL, NULL}};
	struct protobuf_field f;
	unsigned elements = 0;
	uint32_t next = 0; /* fields mostly are in the order of the type */

	if (begin_content(p, t))
		return -1;
	put_success(p, t);
	while (protobuf_next(&message, &f) > 0) {
		uint32_t i = 0;

		for (; i < t->nfields; i++) {
			const struct perfetto_event_field *of = &t->fields[(next + i) % t->nfields];

			if (of->number != f.number)
				continue;
			next += i;
			if (of->kind == 's')
				texts[of->at] = f.bytes;
			else if (of->kind == 'a')
				put_list(p->ftrace.fixed.data + of->at, &elements, f);
			else
				put_u64(p->ftrace.fixed.data + of->at, field_bits(of->kind, &f));
			break;
		}
		/* of a type without fields the event is counted */
		p->counts.left_out[MESSAGE_FTRACE_EVENT][0] += t->nfields && i == t->nfields;
	}
	for (uint32_t i = 0; i < t->texts; i++)
		if (decode_perfetto_put_text(p, texts[i]))
			return -1;
	return 0;
}

/* Make the content of a row of a generic event: its fields are in the order of the type. */
static int make_generic(struct perfetto *p, const struct perfetto_event_type *t,
			struct protobuf_view message)
{
	struct protobuf_field f, of;
	uint32_t i = 0;

	if (begin_content(p, t))
		return -1;
	while (i < t->nfields && protobuf_next(&message, &f) > 0) {
		struct protobuf_view text = {NULL, NULL};
		uint64_t number = 0;

		if (f.number != GENERIC_FIELD)
			continue;
		while (protobuf_next(&f.bytes, &of) > 0) {
			if (of.number == GENERIC_TEXT)
				text = of.bytes;
			else if (of.number == GENERIC_INT || of.number == GENERIC_UINT)
				number = of.value;
		}
		if (t->fields[i].kind != 's')
			put_u64(p->ftrace.fixed.data + t->fields[i].at, number);
		else if (decode_perfetto_put_text(p, text))
			return -1;
		i++;
	}
	return 0;
}

/* Write the row of a type with the content that was made. tid: -1 unknown. */
static int decode_perfetto_put_row(struct perfetto *p, struct perfetto_event_type *t, uint64_t time,
				   int32_t tid, uint16_t cpu)
{
	struct perfetto_thread *thread = tid >= 0 ? decode_perfetto_thread_of(p, tid) : NULL;
	struct new_row r = {.time = merge_shifted(time, p->input->shift),
			    .type = t->type ? t->type : perfetto_event_declare(p, t),
			    .fixed = p->ftrace.fixed.data,
			    .fixed_size = (uint32_t)p->ftrace.fixed.size,
			    .tail = p->ftrace.tail.data,
			    .tail_size = (uint32_t)p->ftrace.tail.size,
			    .has_tail = t->texts > 0};

	if (tid >= 0 && !thread)
		return -1;
	r.lane = thread ? perfetto_lane(p, thread, cpu) : perfetto_cpu_lane(p, cpu);
	return r.type && r.lane ? writer_row_data(p->w, r) : -1;
}

/* --- scheduling --- */

static int perfetto_switch_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
			       const struct perfetto_switch *w)
{
	struct perfetto_event_type *t = perfetto_event_type(p, FTRACE_SCHED_SWITCH);
	struct perfetto_cpu *cpu = perfetto_cpu_of(p, rec->cpu);
	struct perfetto_cpu was;
	uint8_t *fixed;

	if (!t || !cpu || begin_content(p, t))
		return -1;
	was = *cpu;
	/* prev_pid, prev_prio, prev_state, next_pid, next_prio */
	fixed = p->ftrace.fixed.data;
	put_u64(fixed, (uint64_t)(int64_t)(was.known ? was.tid : -1));
	put_u64(fixed + 8, (uint64_t)(int64_t)was.prio);
	put_u64(fixed + 16, (uint64_t)w->prev_state);
	put_u64(fixed + 24, (uint64_t)(int64_t)w->pid);
	put_u64(fixed + 32, (uint64_t)(int64_t)w->prio);
	*cpu = (struct perfetto_cpu){true, w->pid, w->prio, w->comm};
	if (perfetto_put_string(p, was.comm) || perfetto_put_string(p, w->comm) ||
	    decode_perfetto_put_row(p, t, time, was.known ? was.tid : -1, rec->cpu))
		return -1;
	return perfetto_set_comm(p, w->pid, w->comm);
}

static int waking_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
		      const struct perfetto_switch *w)
{
	struct perfetto_event_type *t = perfetto_event_type(p, FTRACE_SCHED_WAKING);
	const struct perfetto_cpu *cpu = perfetto_cpu_of(p, rec->cpu);
	uint8_t *fixed;

	if (!t || !cpu || begin_content(p, t))
		return -1;
	/* pid, prio, success, target_cpu */
	fixed = p->ftrace.fixed.data;
	put_u64(fixed, (uint64_t)(int64_t)w->pid);
	put_u64(fixed + 8, (uint64_t)(int64_t)w->prio);
	put_u64(fixed + 16, 1);
	put_u64(fixed + 24, (uint64_t)(int64_t)w->target_cpu);
	if (perfetto_set_comm(p, w->pid, w->comm) || perfetto_put_string(p, w->comm))
		return -1;
	return decode_perfetto_put_row(p, t, time, cpu->known ? cpu->tid : -1, rec->cpu);
}

/* --- names of threads --- */

/* Find a field of the content that was made. NULL: the type has none with the number. */
static const struct perfetto_event_field *perfetto_find_field(const struct perfetto_event_type *t,
							      uint32_t number)
{
	for (uint32_t i = 0; i < t->nfields; i++)
		if (t->fields[i].number == number)
			return &t->fields[i];
	return NULL;
}

static int64_t content_number(const struct perfetto *p, const struct perfetto_event_type *t,
			      uint32_t number)
{
	const struct perfetto_event_field *f = perfetto_find_field(t, number);

	return f && f->kind != 's' ? (int64_t)get_u64(p->ftrace.fixed.data + f->at) : 0;
}

/* Get a text of the content, of a path the last name if is_path is true, as a string of the
 * writer. 0: it is empty. */
static uint32_t content_text(struct perfetto *p, const struct perfetto_event_type *t,
			     uint32_t number, bool is_path)
{
	const struct perfetto_event_field *f = perfetto_find_field(t, number);
	const char *at = (const char *)p->ftrace.tail.data, *name;
	size_t n;

	if (!f || f->kind != 's')
		return 0;
	for (uint32_t i = 0; i < f->at; i++)
		at += strlen(at) + 1;
	name = is_path ? strrchr(at, '/') : NULL;
	at = name ? name + 1 : at;
	n = is_path ? strnlen(at, COMM_MOST) : strlen(at);
	return n ? perfetto_text(
			   p, (struct protobuf_view){(const uint8_t *)at, (const uint8_t *)at + n})
		 : 0;
}

/* Where an event of ftrace has the name of a thread: numbers of fields, 0: there is none. The first
 * pair is of the time before the event, the second of that after it. */
struct thread_names {
	uint32_t event;
	uint8_t pid, comm, next_pid, next_comm;
	bool is_new;  /* the second pair is of a new thread */
	bool is_path; /* comm is a path */
};

/* Source: the messages of protos/perfetto/trace/ftrace, and the kernel's trace events. */
static const struct thread_names *find_names(uint32_t event)
{
	static const struct thread_names events[] = {
		{FTRACE_SCHED_SWITCH, 2, 1, SWITCH_NEXT_PID, SWITCH_NEXT_COMM, false, false},
		{FTRACE_SCHED_WAKING, 2, 1, 0, 0, false, false},
		{FTRACE_SCHED_WAKEUP, 2, 1, 0, 0, false, false},
		{FTRACE_SCHED_WAKEUP_NEW, 2, 1, 0, 0, false, false},
		{FTRACE_TASK_NEWTASK, 0, 0, 1, 2, true, false},
		{FTRACE_TASK_RENAME, 1, 2, 1, 3, false, false},
		{FTRACE_SCHED_PROCESS_EXEC, 2, 1, 0, 0, false, true},
		{FTRACE_SCHED_PROCESS_EXIT, 2, 1, 0, 0, false, false},
		{FTRACE_SCHED_PROCESS_FORK, 2, 1, 4, 3, true, false},
		{FTRACE_SCHED_PROCESS_FREE, 2, 1, 0, 0, false, false},
		{FTRACE_SCHED_MIGRATE_TASK, 2, 1, 0, 0, false, false},
	};

	for (size_t i = 0; i < sizeof events / sizeof *events; i++)
		if (events[i].event == event)
			return &events[i];
	return NULL;
}

/* Have a number as that of a new thread, which has the name of the thread that made it until it has
 * its own. */
static int begin_task(struct perfetto *p, const struct perfetto_event_type *t, int32_t parent,
		      int32_t tid, uint32_t comm)
{
	struct perfetto_task *task = perfetto_task(p, parent);
	int32_t tgid = task ? task->tgid : -1;
	struct perfetto_thread *thread;

	if (tid <= 0)
		return 0;
	thread = task ? decode_perfetto_thread_of(p, tid) : NULL;
	task = thread ? perfetto_task(p, tid) : NULL;
	if (!task)
		return -1;
	if (t->number == FTRACE_TASK_NEWTASK && task->tgid >= 0)
		task->tgid = content_number(p, t, NEWTASK_FLAGS) & CLONE_A_THREAD ? tgid : tid;
	task->comm = comm;
	task->process = 0;
	task->inherited = true;
	thread->named = false;
	return perfetto_rename(p, tid) ? 0 : -1;
}

/* Learn the names of threads before (or, with after, since) an event whose content was made. */
static int perfetto_learn_names(struct perfetto *p, const struct perfetto_record *rec,
				const struct perfetto_event_type *t, const struct thread_names *n,
				bool after)
{
	uint32_t pid = after ? n->next_pid : n->pid, comm = after ? n->next_comm : n->comm;
	struct perfetto_cpu *cpu;
	int32_t tid;

	if (!pid)
		return 0;
	tid = (int32_t)content_number(p, t, pid);
	comm = content_text(p, t, comm, n->is_path);
	if (after && n->is_new)
		return begin_task(p, t, (int32_t)rec->track, tid, comm);
	if (after && t->number == FTRACE_SCHED_SWITCH) {
		cpu = perfetto_cpu_of(p, rec->cpu);
		if (!cpu)
			return -1;
		*cpu = (struct perfetto_cpu){true, tid,
					     (int32_t)content_number(p, t, SWITCH_NEXT_PRIO), comm};
	}
	return perfetto_set_comm(p, tid, comm);
}

/* --- marks --- */

static struct protobuf_view view_of(struct text_span t)
{
	return (struct protobuf_view){(const uint8_t *)t.at, (const uint8_t *)t.end};
}

/* Get the kind of the record of a mark. */
static enum perfetto_kind mark_kind(char what)
{
	switch (what) {
	case 'B':
	case 'S':
	case 'G': return PERFETTO_BEGIN;
	case 'E':
	case 'F':
	case 'H': return PERFETTO_END;
	case 'C': return PERFETTO_COUNTER;
	}
	return PERFETTO_INSTANT;
}

/* Get the track of a mark: of its thread, its process, or one with a name. 0: out of memory. */
static uint32_t mark_track(struct perfetto *p, int32_t tid, const struct atrace_mark *m,
			   uint32_t name)
{
	int32_t pid = m->has_tgid && m->tgid > 0 && m->tgid <= INT32_MAX ? (int32_t)m->tgid : -1;
	struct perfetto_track_key key = {
		.kind = PERFETTO_OF_THREAD, .pid = pid, .tid = tid, .cpu = -1};

	if (!strchr("CSFGHN", m->what)) {
		const struct perfetto_task *task = perfetto_task(p, tid);

		if (!task)
			return 0;
		/* the calls of the program's own track need not nest with these */
		if (task->apart)
			key.kind = PERFETTO_OF_TRACK;
		return perfetto_other_track(p, &key);
	}
	key.tid = -1;
	if (m->what == 'C') {
		key.kind = PERFETTO_OF_COUNTER;
		key.name = name;
	} else if (m->what == 'S' || m->what == 'F') {
		key.kind = PERFETTO_OF_PROCESS;
	} else {
		key.kind = PERFETTO_OF_TRACK;
		key.name = perfetto_text(p, view_of(m->track));
	}
	return perfetto_other_track(p, &key);
}

/* Write the row of a mark that begins or ends an asynchronous call. */
static int mark_id_row(struct perfetto *p, struct perfetto_record *r, uint64_t time,
		       const struct atrace_mark *m)
{
	bool is_track = m->what == 'G' || m->what == 'H';
	struct perfetto_track_key key = {
		.kind = PERFETTO_OF_TRACK,
		.pid = (int32_t)m->tgid,
		.tid = is_track,
		.name = perfetto_text(p, view_of(is_track ? m->track : m->name)),
		.scope = perfetto_text(p, view_of(m->cookie))};
	struct perfetto_id id;

	if (m->has_number)
		key.id = (uint64_t)m->number;
	id = perfetto_id_of(&key);
	r->kind = r->kind == PERFETTO_BEGIN ? PERFETTO_ID_BEGIN : PERFETTO_ID_END;
	return perfetto_row_event(p, r, time, (const uint8_t *)&id, sizeof id);
}

/* Write the row of a mark of a thread. */
static int mark_row(struct perfetto *p, int32_t tid, uint64_t time, const struct atrace_mark *m)
{
	struct perfetto_record r = {.kind = (uint8_t)mark_kind(m->what)};
	uint32_t track;

	if (r.kind != PERFETTO_END)
		r.name = span_size(m->name) ? perfetto_text(p, view_of(m->name)) : p->texts.nothing;
	track = mark_track(p, tid, m, r.name);
	if (!track || (!r.name && r.kind != PERFETTO_END))
		return -1;
	r.track = track - 1;
	if (strchr("SFGH", m->what))
		return mark_id_row(p, &r, time, m);
	if (m->what != 'C')
		return perfetto_row_event(p, &r, time, NULL, 0);
	r.flags = PERFETTO_VALUE;
	return perfetto_row_event(p, &r, time, (const uint8_t *)&m->value, sizeof m->value);
}

/* Write the row of a print, if its text is a mark. *done: it is. */
static int perfetto_print_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
			      struct protobuf_view message, bool *done)
{
	struct protobuf_view text = {NULL, NULL};
	struct protobuf_field f;
	struct atrace_mark m;

	*done = false;
	while (protobuf_next(&message, &f) > 0)
		if (f.number == PRINT_TEXT)
			text = f.bytes;
	while (text.at < text.end && (text.end[-1] == '\n' || !text.end[-1]))
		text.end--;
	if (text.at == text.end ||
	    !atrace_mark_read(&m, (const char *)text.at, protobuf_size(text)))
		return 0;
	*done = true;
	return mark_row(p, (int32_t)rec->track, time, &m);
}

/* --- the tracer of functions --- */

static uint32_t graph_type(struct perfetto *p, bool entry)
{
	struct type_entry e = {
		.source = p->source,
		.name = writer_text(p->w, entry ? "funcgraph_entry" : "funcgraph_exit"),
		.group = writer_text(p->w, "ftrace"),
		.kind = entry ? KIND_ENTER : KIND_LEAVE,
		.flags = TYPE_DEPTH};

	return perfetto_declare_type(p, &e);
}

static int graph_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
		     uint64_t depth)
{
	bool entry = rec->kind == PERFETTO_GRAPH_ENTRY;
	struct perfetto_thread *thread = decode_perfetto_thread_of(p, (int32_t)rec->track);
	uint32_t key[2] = {'g', entry}, *type = id_cache_number(&p->types.ids, key, sizeof key);
	struct new_row r = {.time = merge_shifted(time, p->input->shift),
			    .location = perfetto_location(p, rec->name),
			    .depth = depth < 65535 ? (uint32_t)depth : 65535};

	if (!thread || !type)
		return -1;
	r.lane = perfetto_lane(p, thread, rec->cpu);
	if (!*type)
		*type = graph_type(p, entry);
	r.type = *type;
	return r.lane && r.type && r.location ? writer_row_data(p->w, r) : -1;
}

/* --- all events --- */

static int event_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
		     struct protobuf_view message)
{
	int32_t tid = (int32_t)rec->track;
	const struct thread_names *names;
	struct perfetto_event_type *t;
	bool done = false;
	uint32_t generic;

	if (rec->name == FTRACE_PRINT && perfetto_print_row(p, rec, time, message, &done))
		return -1;
	if (done)
		return 0;
	if (rec->name == FTRACE_GENERIC) {
		generic = perfetto_generic_type(p, message);
		t = generic ? &p->ftrace.type[generic - 1] : NULL;
		return !t || make_generic(p, t, message) ||
				       decode_perfetto_put_row(p, t, time, tid, rec->cpu)
			       ? -1
			       : 0;
	}
	t = perfetto_event_type(p, rec->name);
	names = find_names(rec->name);
	if (!t || make_content(p, t, message) ||
	    (names && perfetto_learn_names(p, rec, t, names, false)) ||
	    decode_perfetto_put_row(p, t, time, tid, rec->cpu))
		return -1;
	p->counts.unknown_ftrace += !t->nfields && message.at < message.end;
	return names ? perfetto_learn_names(p, rec, t, names, true) : 0;
}

static int perfetto_ftrace_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
			       const uint8_t *data, size_t size)
{
	struct perfetto_switch w;
	uint64_t depth;

	switch (rec->kind) {
	case PERFETTO_SWITCH:
	case PERFETTO_WAKING:
		memcpy(&w, data, sizeof w);
		return rec->kind == PERFETTO_SWITCH ? perfetto_switch_row(p, rec, time, &w)
						    : waking_row(p, rec, time, &w);
	case PERFETTO_GRAPH_ENTRY:
	case PERFETTO_GRAPH_EXIT:
		memcpy(&depth, data, sizeof depth);
		return graph_row(p, rec, time, depth);
	}
	return event_row(p, rec, time, (struct protobuf_view){data, data + size});
}

/* --- bundles of events of ftrace into records: one bundle has events of one CPU --- */

/* FuncgraphEntryFtraceEvent, FuncgraphExitFtraceEvent */
enum {
	FTRACE_GRAPH_ENTRY = 437,
	FTRACE_GRAPH_EXIT = 438,
	ENTRY_DEPTH = 1,
	ENTRY_FUNCTION = 2,
	EXIT_DEPTH = 2,
	EXIT_FUNCTION = 3,
};

/* A bundle. */
struct bundle {
	struct perfetto *p;
	struct perfetto_sequence *s;
	const struct perfetto_packet *packet;
	uint32_t clock; /* of its events */
	uint16_t cpu;
	bool lost;
};

/* Get the clock of a bundle's events, and relate it to BOOTTIME. */
static uint32_t bundle_clock(struct perfetto *p, struct perfetto_sequence *s,
			     const struct perfetto_packet *packet)
{
	/* clocks of ftrace are in no ClockSnapshot: numbers that these do not use */
	enum { OWN = 0x40000000 };
	struct protobuf_view rest = packet->payload;
	uint64_t clock = 0, own = 0, boot = 0;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0)
		switch (f.number) {
		case BUNDLE_CLOCK: clock = f.value; break;
		case BUNDLE_FTRACE_TIME: own = f.value; break;
		case BUNDLE_BOOT_TIME: boot = f.value; break;
		}
	switch (clock) {
	case 0: break;
	case CLOCK_OF_FTRACE_MONO_RAW: return CLOCK_MONOTONIC_RAW_ID;
	default:
		if (own && boot && perfetto_time(p, s, CLOCK_BOOTTIME_ID, &boot) &&
		    perfetto_clock_relate(p, OWN + (uint32_t)(clock & 15), own, boot))
			return 0;
		return OWN + (uint32_t)(clock & 15);
	}
	return packet->clock	   ? packet->clock
	       : s->defaults.clock ? s->defaults.clock
				   : CLOCK_BOOTTIME_ID;
}

/* Keep a record of the bundle's CPU at a time, which is converted. */
static int decode_perfetto_keep(struct bundle *b, uint64_t time, struct perfetto_record *r,
				const void *data, size_t size)
{
	struct gap gap = {
		.count = UINT64_MAX, .offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_EVENTS};

	if (!perfetto_time(b->p, b->s, b->clock, &time))
		return 0;
	if (b->lost && perfetto_keep_gap(b->p, time, &gap, b->cpu))
		return -1;
	b->lost = false;
	r->cpu = b->cpu;
	r->flags |= PERFETTO_HAS_CPU;
	return perfetto_keep_data(b->p, (struct sorter_key){time, PERFETTO_ORDER}, r, data, size);
}

/* Make the record of an event of the function graph tracer, whose function is interned. */
static void graph_event(struct bundle *b, struct perfetto_record *r, struct protobuf_view message,
			uint64_t *depth)
{
	bool entry = r->name == FTRACE_GRAPH_ENTRY;
	struct protobuf_field f;
	uint32_t name = 0;

	while (protobuf_next(&message, &f) > 0) {
		if (f.number == (entry ? ENTRY_FUNCTION : EXIT_FUNCTION))
			name = perfetto_interned(b->p, b->s, OF_KERNEL_SYMBOL, f.value);
		else if (f.number == (entry ? ENTRY_DEPTH : EXIT_DEPTH))
			*depth = f.value;
		else
			perfetto_check_field(b->p, entry ? MESSAGE_GRAPH_ENTRY : MESSAGE_GRAPH_EXIT,
					     &f);
	}
	r->kind = entry ? PERFETTO_GRAPH_ENTRY : PERFETTO_GRAPH_EXIT;
	r->name = name ? name : b->p->texts.nothing;
}

static int perfetto_take_event(struct bundle *b, struct protobuf_view message)
{
	struct perfetto_record r = {.kind = PERFETTO_FTRACE};
	struct protobuf_view event = {NULL, NULL};
	struct protobuf_field f;
	uint64_t time = 0, depth = 0;
	int got;

	while ((got = protobuf_next(&message, &f)) > 0)
		switch (f.number) {
		case FTRACE_TIME: time = f.value; break;
		case FTRACE_PID: r.track = (uint32_t)f.value; break;
		default:
			if (f.wire == PROTOBUF_LENGTH) {
				r.name = f.number;
				event = f.bytes;
			} else {
				perfetto_check_field(b->p, MESSAGE_FTRACE_EVENT, &f);
			}
		}
	if (got < 0) {
		perfetto_damage(b->p, b->packet, "no field of an event of ftrace: it is left out");
		return 0;
	}
	if (!r.name)
		return 0;
	if (r.name == FTRACE_GRAPH_ENTRY || r.name == FTRACE_GRAPH_EXIT) {
		graph_event(b, &r, event, &depth);
		return decode_perfetto_keep(b, time, &r, &depth, sizeof depth);
	}
	return decode_perfetto_keep(b, time, &r, event.at, protobuf_size(event));
}

/* --- compact scheduling events --- */

/* Take the next number of a column; 0 at its end. */
static uint64_t next(struct protobuf_view *column)
{
	uint64_t n = 0;

	if (column->at && !protobuf_varint(column, &n))
		column->at = column->end;
	return n;
}

/* Keep the events of a kind: each has a number in each column; times are differences. */
static int keep_columns(struct bundle *b, struct protobuf_view columns[COMPACT_FIELDS],
			enum perfetto_kind kind, const struct buffer *texts)
{
	bool wakes = kind == PERFETTO_WAKING;
	struct protobuf_view *times = &columns[wakes ? COMPACT_WAKING_TIME : COMPACT_SWITCH_TIME];
	uint64_t time = 0, delta;

	while (times->at && protobuf_varint(times, &delta)) {
		struct perfetto_record r = {.kind = (uint8_t)kind};
		struct perfetto_switch w = {0};
		uint64_t comm = next(&columns[wakes ? COMPACT_WAKING_COMM : COMPACT_SWITCH_COMM]);

		time += delta;
		w.pid = (int32_t)next(&columns[wakes ? COMPACT_WAKING_PID : COMPACT_SWITCH_PID]);
		w.prio = (int32_t)next(&columns[wakes ? COMPACT_WAKING_PRIO : COMPACT_SWITCH_PRIO]);
		if (wakes)
			w.target_cpu = (int32_t)next(&columns[COMPACT_WAKING_CPU]);
		else
			w.prev_state = (int64_t)next(&columns[COMPACT_SWITCH_STATE]);
		if (comm < texts->size / 4)
			w.comm = get_u32(texts->data + 4 * comm);
		if (decode_perfetto_keep(b, time, &r, &w, sizeof w))
			return -1;
	}
	return 0;
}

static int take_sched(struct bundle *b, struct protobuf_view message)
{
	struct buffer *texts = &b->p->ftrace.key;
	struct protobuf_view columns[COMPACT_FIELDS] = {{NULL, NULL}};
	struct protobuf_field f;

	texts->size = 0;
	while (protobuf_next(&message, &f) > 0)
		if (f.number < COMPACT_FIELDS && f.number != COMPACT_COMMS)
			columns[f.number] = f.bytes;
		else if (f.number == COMPACT_COMMS &&
			 buffer_u32(texts, perfetto_text(b->p, f.bytes)))
			return -1;
	return keep_columns(b, columns, PERFETTO_SWITCH, texts) ||
			       keep_columns(b, columns, PERFETTO_WAKING, texts)
		       ? -1
		       : 0;
}

int perfetto_ftrace_bundle(struct perfetto *p, struct perfetto_sequence *s,
			   const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload;
	struct bundle b = {.p = p, .s = s, .packet = packet};
	struct protobuf_field f;
	int got, failed = 0;

	b.clock = bundle_clock(p, s, packet);
	if (!b.clock)
		return -1;
	/* the CPU and the loss are those of all events, also of those before them */
	while ((got = protobuf_next(&rest, &f)) > 0) {
		if (f.number != BUNDLE_EVENT)
			perfetto_check_field(p, MESSAGE_BUNDLE, &f);
		if (f.number == BUNDLE_CPU)
			b.cpu = f.value < UINT16_MAX ? (uint16_t)f.value : UINT16_MAX;
		else if (f.number == BUNDLE_LOST)
			b.lost = f.value;
		else if (f.number == BUNDLE_DESCRIPTOR && perfetto_event_descriptor(p, f.bytes))
			return -1;
	}
	if (got < 0)
		perfetto_damage(p, packet, "no field of a bundle of ftrace: the rest is left out");
	rest = packet->payload;
	while (!failed && protobuf_next(&rest, &f) > 0)
		if (f.number == BUNDLE_EVENT && f.wire == PROTOBUF_LENGTH)
			failed = perfetto_take_event(&b, f.bytes);
		else if (f.number == BUNDLE_SCHED && f.wire == PROTOBUF_LENGTH)
			failed = take_sched(&b, f.bytes);
	return failed;
}
