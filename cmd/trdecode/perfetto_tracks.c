/*
 * perfetto_tracks.c - track events, counters and memory of Perfetto
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/perfetto.h"
#include "cmd/trdecode/row_filter.h"
#include "common/formats/chrome.h"
#include "common/stream/value.h"
#include "common/util/hash.h"
#include "common/util/u128.h"

static struct perfetto_thread *perfetto_track_thread(const struct perfetto *p,
						     const struct perfetto_track *t);
static int perfetto_begin_complete(struct perfetto *p, const struct perfetto_record *rec,
				   uint64_t end, const struct perfetto_row *of);
static int perfetto_end_complete(struct perfetto *p);
static int perfetto_state(struct perfetto *p, struct perfetto_track *t,
			  const struct perfetto_record *rec, const struct perfetto_row *of);
static bool perfetto_ids_full(const struct perfetto *p);
static int perfetto_id_begin(struct perfetto *p, const struct perfetto_record *rec,
			     struct perfetto_id id, const struct perfetto_row *of);
static int perfetto_id_end(struct perfetto *p, const struct perfetto_record *rec,
			   struct perfetto_id id, const struct perfetto_row *of);
static int track_event_keep(struct perfetto *p, const struct track_event *ev,
			    enum perfetto_kind kind, unsigned flags, uint64_t value);

enum { PARENTS_MOST = 64 }; /* steps from a track to that of its thread */

/* --- finding --- */

/* Add a track. Returns its number, from 1; 0: out of memory. */
static uint32_t add_track(struct perfetto *p)
{
	struct perfetto_tracks *t = &p->tracks;
	struct perfetto_track *track;

	if (ARRAY_GROW(t->track, t->capacity, t->count))
		return 0;
	track = t->track;
	track[t->count++] = (struct perfetto_track){.pid = -1, .tid = -1, .cpu = -1};
	return (uint32_t)t->count;
}

uint32_t perfetto_track(struct perfetto *p, uint64_t uuid)
{
	struct perfetto_tracks *t = &p->tracks;
	size_t slot = hash_u64(uuid) % PERFETTO_RECENT;
	uint32_t *number;

	/* without this cache 'trdecode | trstat' of a trace of calls takes 1.11 times the
	 * instructions */
	if (__builtin_expect(t->recent[slot].uuid == uuid && t->recent[slot].number, 1))
		return t->recent[slot].number;
	number = id_cache_number(&t->by_uuid, &uuid, sizeof uuid);
	if (!number)
		return 0;
	if (!*number) {
		*number = add_track(p);
		if (!*number)
			return 0;
		t->track[*number - 1].uuid = uuid;
	}
	t->recent[slot].uuid = uuid;
	t->recent[slot].number = *number;
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

struct perfetto_task *perfetto_task(struct perfetto *p, int32_t tid)
{
	struct perfetto_tasks *t = &p->tasks;
	uint32_t *number = id_cache_number(&t->numbers, &tid, sizeof tid);
	struct perfetto_task *task;

	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(t->task, t->capacity, t->count))
			return NULL;
		task = t->task;
		task[t->count++] = (struct perfetto_task){.tgid = -1};
		*number = (uint32_t)t->count;
	}
	return &t->task[*number - 1];
}

/* Return a pointer to the name of a process, a string of the writer. NULL: out of memory. */
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

/* Take a number of 32 bits that is not below 0; else it is -1. */
static int32_t tracks_take_id(uint64_t value)
{
	return value <= INT32_MAX ? (int32_t)value : -1;
}

static void perfetto_tracks_take_process(struct perfetto *p, struct protobuf_view message,
					 int32_t *pid, uint32_t *name)
{
	struct protobuf_view program = {NULL, NULL};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case PROCESS_PID: *pid = tracks_take_id(f.value); break;
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
		case THREAD_PID: t->pid = tracks_take_id(f.value); break;
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
				n.pid = n.tid = tracks_take_id(of.value);
			else if (f.number == TREE_PROCESS && of.number == TREE_CMDLINE &&
				 !n.process)
				n.process = perfetto_text(p, of.bytes);
			else if (f.number == TREE_THREAD && of.number == TREE_TID)
				n.tid = tracks_take_id(of.value);
			else if (f.number == TREE_THREAD && of.number == TREE_TGID)
				n.pid = tracks_take_id(of.value);
			else if (f.number == TREE_THREAD && of.number == TREE_THREAD_NAME)
				n.thread = perfetto_text(p, of.bytes);
		}
		if (n.tid >= 0 && keep_naming(p, packet->time, &n))
			return -1;
	}
	return 0;
}

/* --- threads --- */

/* Return a pointer to the number (index + 1) of a thread; name: of one of several that have the
 * same pid and tid one after another, 0: the one that has them now. NULL: out of memory. */
static uint32_t *perfetto_tracks_thread_number(struct perfetto *p, int32_t pid, int32_t tid,
					       uint32_t name)
{
	int32_t key[3] = {p->tasks.shared_tids ? pid : -1, tid, (int32_t)name};

	return id_cache_number(&p->tracks.threads, key, sizeof key);
}

/* Return the name of a thread; of one that has none, that of its process if it is the first. */
static uint32_t task_comm(const struct perfetto_task *t)
{
	return t->comm ? t->comm : t->process;
}

/* Get a thread, which has its numbers from now on if it is new. */
static struct perfetto_thread *find_thread(struct perfetto *p, int32_t pid, int32_t tid,
					   uint32_t name)
{
	struct perfetto_tracks *t = &p->tracks;
	uint32_t *number = perfetto_tracks_thread_number(p, pid, tid, name);
	struct perfetto_thread *thread;
	struct perfetto_task *task;

	if (!number)
		return NULL;
	if (!*number) {
		task = perfetto_task(p, tid);
		if (ARRAY_GROW(t->thread, t->threads_capacity, t->nthreads) || !task)
			return NULL;
		thread = t->thread;
		thread[t->nthreads++] = (struct perfetto_thread){
			.pid = pid >= 0 ? pid : task->tgid, .tid = tid, .comm = task_comm(task)};
		*number = (uint32_t)t->nthreads;
		t->renewed += name != 0;
		number = name ? perfetto_tracks_thread_number(p, pid, tid, 0) : number;
		if (!number)
			return NULL;
		*number = (uint32_t)t->nthreads;
	}
	return &t->thread[*number - 1];
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

struct perfetto_thread *perfetto_thread_of(struct perfetto *p, int32_t pid, int32_t tid)
{
	return find_thread(p, pid, tid, 0);
}

static uint32_t perfetto_tracks_declare_lane(struct perfetto *p, const struct lane_entry *e)
{
	int32_t key[] = {e->cpu,	   e->tid, e->pid, (int32_t)e->comm, (int32_t)e->buffer,
			 (int32_t)e->flags};
	uint32_t *id = id_cache_number(&p->tracks.lanes, key, sizeof key);

	if (id && !*id)
		*id = writer_lane(p->w, e);
	return id ? *id : 0;
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

uint32_t perfetto_lane(struct perfetto *p, struct perfetto_thread *t, int32_t cpu)
{
	struct lane_entry e;

	if (cpu < 0 && t->lane)
		return t->lane;
	e = perfetto_tracks_lane_entry(p, t->pid, t->tid, cpu);
	e.comm = t->comm;
	if (cpu >= 0)
		return perfetto_tracks_declare_lane(p, &e);
	return t->lane = perfetto_tracks_declare_lane(p, &e);
}

uint32_t perfetto_cpu_lane(struct perfetto *p, int32_t cpu)
{
	struct lane_entry e = perfetto_tracks_lane_entry(p, -1, -1, cpu);

	return perfetto_tracks_declare_lane(p, &e);
}

/* --- resolving --- */

/* Find the nearest track of a thread or process: this one or a parent; NULL: there is none. */
static const struct perfetto_track *find_owner(const struct perfetto *p,
					       const struct perfetto_track *t)
{
	for (unsigned i = 0; t && i < PARENTS_MOST; i++) {
		uint32_t at;

		if (t->has_thread || t->has_process)
			return t;
		at = t->parent ? intern_find(&p->tracks.by_uuid.keys, &t->parent, sizeof t->parent)
			       : INTERN_NONE;
		t = at == INTERN_NONE || !p->tracks.by_uuid.numbers[at]
			    ? NULL
			    : &p->tracks.track[p->tracks.by_uuid.numbers[at] - 1];
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

/* Return the thread of a track of a thread or process. NULL: out of memory. */
static struct perfetto_thread *owner_thread(struct perfetto *p, const struct perfetto_track *owner)
{
	int32_t tid = owner->has_thread ? owner->tid : owner->pid;
	struct perfetto_thread *t = perfetto_thread_of(p, owner->pid, tid);

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
	t->lane = perfetto_tracks_declare_lane(p, &e);
	return t->lane ? 0 : -1;
}

/* --- names from a time on --- */

struct perfetto_thread *perfetto_rename(struct perfetto *p, int32_t tid)
{
	struct perfetto_task *task = perfetto_task(p, tid);
	struct perfetto_thread *t = task ? perfetto_thread_of(p, task->tgid, tid) : NULL;

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
		if (!of || of != perfetto_thread_of(p, n.pid, n.tid))
			return of ? 0 : -1;
	}
	return perfetto_rename(p, n.tid) ? 0 : -1;
}

void perfetto_tracks_free(struct perfetto *p)
{
	struct perfetto_tracks *t = &p->tracks;

	for (size_t i = 0; i < t->count; i++)
		free(t->track[i].calls.frames);
	for (size_t i = 0; i < t->nthreads; i++)
		free(t->thread[i].calls.frames);
	free(t->track);
	free(t->thread);
	id_cache_free(&t->by_uuid);
	id_cache_free(&t->others);
	id_cache_free(&t->threads);
	id_cache_free(&t->lanes);
	id_cache_free(&t->process_names);
	id_cache_free(&t->counting);
	buffer_free(&t->reached);
	id_cache_free(&p->tasks.numbers);
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
	*id = writer_type(p->w, &e);
	if (*id && row_filter_announce(p->input->decoding->row_filter, *id, 0))
		return 0;
	return *id;
}

uint32_t perfetto_location(struct perfetto *p, uint32_t name)
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
		if (arguments_values(&p->arguments.table, r->name, r->values, r->size,
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
		*id = writer_type(p->w, &(struct type_entry){.source = p->source,
							     .name = name,
							     .group = category,
							     .kind = KIND_COUNTER,
							     .native = 'C',
							     .fixed_size = 8,
							     .nfields = 1,
							     .fields = &value});
		if (*id && row_filter_announce(p->input->decoding->row_filter, *id, 0))
			return 0;
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
		*id = writer_type(p->w, &(struct type_entry){.source = p->source,
							     .name = rec->name,
							     .kind = KIND_SAMPLE,
							     .native = 'P',
							     .fixed_size = 8,
							     .nfields = 1,
							     .fields = &weight});
		if (*id && row_filter_announce(p->input->decoding->row_filter, *id, 0))
			return 0;
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

int perfetto_row_event(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
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
	struct perfetto_loss loss;
	struct gap gap = {.file = p->input->name};
	uint32_t lane = perfetto_cpu_lane(p, rec->flags & PERFETTO_HAS_CPU ? rec->cpu : -1);

	memcpy(&loss, data, sizeof loss);
	gap.reason = (enum gap_reason)loss.reason;
	gap.unit = (enum gap_unit)loss.unit;
	gap.count = loss.count;
	gap.offset = loss.offset;
	if (gap.offset == NO_OFFSET)
		gap.file = NULL;
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
	struct perfetto_bare_types *bare = &p->types.bare[kind == KIND_LEAVE];
	bool is_bare = !f->call && !f->kernel && !of->size && !of->stack && f->level <= DEPTH_MOST;
	struct perfetto_row r;

	/* most rows: with the struct 'trdecode | trstat' of a trace of calls takes 1.12 times the
	 * instructions */
	if (is_bare && bare->type && bare->category == f->category)
		return writer_row(p->w, merge_shifted(of->time, p->input->shift), t->lane,
				  bare->type, f->location, f->level);
	r = call_row(p, t, f, kind, of->time);
	r.values = of->values;
	r.size = of->size;
	r.structs = of->structs;
	r.stack = of->stack;
	if (is_bare) {
		bare->category = f->category;
		bare->type = perfetto_row_type(p, &r);
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

int perfetto_begin_call(struct perfetto *p, struct perfetto_track *t,
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

int perfetto_end_call(struct perfetto *p, struct perfetto_track *t,
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

static bool async_calls_take_id(struct perfetto_async *a, uint64_t hash, uint64_t *index)
{
	return open_calls_take(&a->keys, (uint32_t)(hash >> 32), (uint32_t)hash, index);
}

static int perfetto_tracks_put_id(struct perfetto_async *a, uint64_t hash, uint64_t index)
{
	return open_calls_put(&a->keys, (uint32_t)(hash >> 32), (uint32_t)hash, index);
}

/* Return the index + 1 of a free element; 0: out of memory. */
static size_t perfetto_tracks_new_open(struct perfetto_async *a)
{
	size_t index = a->free;

	if (index) {
		a->free = a->open[index - 1].below;
		return index;
	}
	if (ARRAY_GROW(a->open, a->capacity, a->count))
		return 0;
	return ++a->count;
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
	struct perfetto_async *a = &p->async;
	struct perfetto_open *open;
	uint64_t below = 0;
	size_t index;

	if (perfetto_ids_full(p)) {
		p->counts.unkept++;
		return 0;
	}
	index = perfetto_tracks_new_open(a);
	if (!index)
		return -1;
	async_calls_take_id(a, id.hash, &below);
	open = &a->open[index - 1];
	*open = (struct perfetto_open){.frame = {.serial = id.number,
						 .name = rec->name,
						 .category = rec->category,
						 .location = perfetto_location(p, rec->name),
						 .call = ++p->calls,
						 .by_id = !(id.hash >> 63),
						 .overlaps = id.hash >> 63},
				       .track = rec->track,
				       .below = (size_t)below};
	if (!open->frame.location || perfetto_tracks_put_id(a, id.hash, index))
		return -1;
	return perfetto_put_call(p, &p->tracks.track[rec->track], &open->frame, KIND_ENTER, of);
}

/* Find the call to end among the innermost, in the list from *head on; return the pointer to its
 * index + 1. NULL: there is none. */
static size_t *find_open(struct perfetto_async *a, uint32_t name, size_t *head)
{
	size_t *at = head;

	for (unsigned i = 0; *at && i < SEARCHED; i++, at = &a->open[*at - 1].below)
		if (!name || a->open[*at - 1].frame.name == name)
			return at;
	return NULL;
}

static int perfetto_id_end(struct perfetto *p, const struct perfetto_record *rec,
			   struct perfetto_id id, const struct perfetto_row *of)
{
	struct perfetto_async *a = &p->async;
	struct perfetto_open open;
	uint64_t index = 0;
	size_t head, *at, ended;

	async_calls_take_id(a, id.hash, &index);
	head = (size_t)index;
	at = find_open(a, rec->name, &head);
	if (!at) {
		p->counts.unopened++;
		return head ? perfetto_tracks_put_id(a, id.hash, head) : 0;
	}
	ended = *at;
	open = a->open[ended - 1];
	*at = open.below;
	a->open[ended - 1].below = a->free;
	a->free = ended;
	if (head && perfetto_tracks_put_id(a, id.hash, head))
		return -1;
	return perfetto_put_call(p, &p->tracks.track[open.track], &open.frame, KIND_LEAVE, of);
}

void perfetto_async_free(struct perfetto *p)
{
	open_calls_free(&p->async.keys);
	free(p->async.open);
}

/*
 * Events of Chrome's older format, which have a phase as in Trace Event JSON.
 *
 * The calls of an id are on a track of their own. What the phases mean is in chrome/event.c.
 */

/* Take the message LegacyEvent. */
static void legacy_read(struct perfetto *p, const struct perfetto_sequence *s,
			struct track_event *ev, struct protobuf_view message)
{
	struct legacy_event *l = &ev->legacy;
	struct protobuf_field f;

	*l = (struct legacy_event){.present = true, .pid = -1, .tid = -1};
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case LEGACY_NAME_IID:
			if (!ev->name)
				ev->name = perfetto_interned(p, s, OF_NAME, f.value);
			break;
		case LEGACY_PHASE: l->phase = f.value < 128 ? (uint8_t)f.value : 'I'; break;
		case LEGACY_DURATION:
			l->duration = (int64_t)f.value < 0 ? 0 : (int64_t)f.value;
			break;
		case LEGACY_ID:
		case LEGACY_LOCAL_ID:
		case LEGACY_GLOBAL_ID:
			l->has_id = true;
			l->local = f.number == LEGACY_LOCAL_ID;
			l->id = f.value;
			break;
		case LEGACY_SCOPE: l->scope = perfetto_text(p, f.bytes); break;
		case LEGACY_BIND_ID: l->bind_id = f.value; break;
		case LEGACY_FLOW_DIRECTION: l->flow_direction = f.value; break;
		case LEGACY_INSTANT_SCOPE: l->instant = (uint8_t)f.value; break;
		case LEGACY_PID: l->pid = f.value <= INT32_MAX ? (int32_t)f.value : -1; break;
		case LEGACY_TID: l->tid = f.value <= INT32_MAX ? (int32_t)f.value : -1; break;
		default: perfetto_check_field(p, MESSAGE_LEGACY_EVENT, &f);
		}
}

/* Have the thread or process that the event names instead of its track's. */
static int legacy_override(struct perfetto *p, struct track_event *ev)
{
	const struct perfetto_track *t = &p->tracks.track[ev->track - 1];
	struct perfetto_track_key key = {.kind = PERFETTO_OF_THREAD, .cpu = -1};

	if (ev->legacy.pid < 0 && ev->legacy.tid < 0)
		return 0;
	key.pid = ev->legacy.pid >= 0 ? ev->legacy.pid : t->pid;
	key.tid = ev->legacy.tid >= 0 ? ev->legacy.tid : t->tid;
	ev->track = perfetto_other_track(p, &key);
	return ev->track ? 0 : -1;
}

/* Keep the begin or the end of a call with an id. */
static int keep_id(struct perfetto *p, const struct track_event *ev, enum perfetto_kind kind)
{
	const struct perfetto_track *t = &p->tracks.track[ev->track - 1];
	const struct legacy_event *l = &ev->legacy;
	/* F does not end the call of a b */
	struct perfetto_track_key key = {.kind = PERFETTO_OF_TRACK,
					 .tid = l->phase == 'S' || l->phase == 'F',
					 .pid = l->local ? t->pid : -1,
					 .name = l->scope ? l->scope : ev->category,
					 .id = l->id};
	struct perfetto_record r = {.kind = (uint8_t)kind,
				    .flags = ev->annotated.structs ? PERFETTO_STRUCTS : 0,
				    .track = ev->track - 1,
				    .name = ev->name,
				    .category = ev->category,
				    .stack = ev->stack};

	if (!r.name && kind == PERFETTO_ID_BEGIN)
		r.name = p->texts.nothing;
	return perfetto_keep_id(p, ev->time, &r, &key);
}

/* Test for a begin, step or end of a flow. */
static bool perfetto_tracks_is_flow(const struct legacy_event *l)
{
	return l->has_id && (l->phase == 's' || l->phase == 't' || l->phase == 'f');
}

static void add_flow(struct perfetto *p, uint64_t *list, unsigned *n, uint64_t id)
{
	if (*n < FLOWS_MOST)
		list[(*n)++] = id;
	else
		p->counts.left_out[MESSAGE_TRACK_EVENT][EVENT_LEGACY]++;
}

/* Add the flows of a legacy event to the lists: bind_id, whatever its direction, and the id of the
 * phases s, t and f, which is of its name and category. */
static void legacy_flows(struct perfetto *p, struct track_event *ev, struct event_lists *lists)
{
	const struct legacy_event *l = &ev->legacy;
	struct perfetto_track_key key = {.kind = PERFETTO_OF_FLOW,
					 .pid = l->local ? p->tracks.track[ev->track - 1].pid : -1,
					 .name = ev->name,
					 .scope = l->scope ? l->scope : ev->category,
					 .id = l->id};

	if (!perfetto_tracks_is_flow(l) && !(l->bind_id && l->flow_direction))
		return;
	event_lists_begin(ev, lists);
	if (l->bind_id && l->flow_direction)
		add_flow(p, lists->flows, &lists->nflows, l->bind_id);
	if (!perfetto_tracks_is_flow(l))
		return;
	if (l->phase != 'f')
		add_flow(p, lists->flows, &lists->nflows, perfetto_id_of(&key).hash);
	else
		add_flow(p, lists->ended, &lists->nended, perfetto_id_of(&key).hash);
}

/* Keep a call with a duration. */
static int keep_complete(struct perfetto *p, struct track_event *ev)
{
	uint64_t duration;

	if (__builtin_mul_overflow((uint64_t)ev->legacy.duration, 1000u, &duration) ||
	    duration >= TIME_LIMIT - ev->time) {
		perfetto_damage(p, ev->packet, "a call with an impossible duration");
		return 0;
	}
	ev->legacy.duration = (int64_t)duration;
	if (ev->time + duration > p->last)
		p->last = ev->time + duration;
	return track_event_keep(p, ev, PERFETTO_BEGIN, PERFETTO_VALUE | PERFETTO_COMPLETE,
				ev->time + duration);
}

/* Have the track of an instant that is of a process, or of no thread. */
static int instant_track(struct perfetto *p, struct track_event *ev)
{
	struct perfetto_track_key key = {.kind = PERFETTO_OF_PROCESS,
					 .pid = p->tracks.track[ev->track - 1].pid,
					 .tid = -1,
					 .cpu = -1};

	if (ev->legacy.instant == SCOPE_GLOBAL)
		ev->track = perfetto_track(p, 0);
	else if (ev->legacy.instant == SCOPE_PROCESS && key.pid >= 0)
		ev->track = perfetto_other_track(p, &key);
	return ev->track ? 0 : -1;
}

/* Keep an event that has one. */
static int legacy_keep(struct perfetto *p, struct track_event *ev)
{
	const struct legacy_event *l = &ev->legacy;
	static const char types[] = {0, 'B', 'E', 'I', 'C', 'I'};
	char phase = (char)l->phase;

	if (!phase)
		phase = ev->type < sizeof types ? types[ev->type] : 'I';
	if (l->bind_id && !l->flow_direction && perfetto_argument_uint(p, "bind_id", l->bind_id))
		return -1;
	switch (phase) {
	case 'b':
	case 'S': return keep_id(p, ev, PERFETTO_ID_BEGIN);
	case 'B': return track_event_keep(p, ev, PERFETTO_BEGIN, 0, 0);
	case 'E': return track_event_keep(p, ev, PERFETTO_END, 0, 0);
	case 'e':
	case 'F': return keep_id(p, ev, PERFETTO_ID_END);
	case 'X': return keep_complete(p, ev);
	case 'C': return track_event_keep(p, ev, PERFETTO_COUNTER_VALUES, 0, 0);
	case 'M': return 0;
	}
	if (l->instant && instant_track(p, ev))
		return -1;
	return track_event_keep(p, ev, PERFETTO_INSTANT, 0, 0);
}

/* --- reads the message TrackEvent into records --- */

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

/* Keep a record with its value and the arguments, in an order among those of its time. */
static int keep_ordered(struct perfetto *p, struct sorter_key key, const struct perfetto_record *r,
			uint64_t value)
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
	return keep_ordered(p, (struct sorter_key){time, PERFETTO_ORDER}, r, value);
}

int perfetto_keep_gap(struct perfetto *p, uint64_t time, const struct perfetto_loss *loss,
		      int32_t cpu)
{
	struct perfetto_record r = {.kind = PERFETTO_GAP,
				    .flags = cpu >= 0 ? PERFETTO_HAS_CPU : 0,
				    .cpu = (uint16_t)cpu};

	return perfetto_keep_data(p, (struct sorter_key){time, PERFETTO_ORDER}, &r, loss,
				  sizeof *loss);
}

int perfetto_learn(struct perfetto *p, uint32_t name)
{
	const struct buffer *b = &p->scratch.arguments;

	perfetto_begin_names(p);
	for (size_t i = 0; i < b->size; i += 8 + get_u32(b->data + i + 4)) {
		uint32_t argument = perfetto_next_name(p, get_u32(b->data + i));

		if (!argument || arguments_learn(&p->arguments.table, name, argument))
			return -1;
		put_u32(b->data + i, argument);
	}
	return 0;
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

/* Keep an event as a record of that kind. */
static int track_event_keep(struct perfetto *p, const struct track_event *ev,
			    enum perfetto_kind kind, unsigned flags, uint64_t value)
{
	bool begins = kind == PERFETTO_BEGIN;
	struct perfetto_record r = {
		.kind = (uint8_t)kind,
		.flags = (uint8_t)(flags | (ev->annotated.structs ? PERFETTO_STRUCTS : 0)),
		.track = ev->track - 1,
		.name = ev->name,
		.category = ev->category,
		.stack = ev->stack};
	struct sorter_key key = {ev->time, PERFETTO_ORDER};
	const struct legacy_event *l = &ev->legacy;
	struct perfetto_track *t = &p->tracks.track[ev->track - 1];

	/* an end has the arguments of any call; an annotation is the name of the leave */
	if (kind == PERFETTO_END && (ev->annotated.leave || !r.name))
		r.name = ev->annotated.leave;
	else if (kind == PERFETTO_END)
		r.flags |= PERFETTO_NAMED;
	else if (!r.name && kind != PERFETTO_STATE)
		r.name = p->texts.nothing;
	if (p->scratch.arguments.size && perfetto_learn(p, kind == PERFETTO_END ? 0 : r.name))
		return -1;
	if (begins && flags & PERFETTO_COMPLETE)
		t->calls.completes = true;
	else if (begins)
		t->calls.begins = true;
	if (begins && t->before)
		key.second = PERFETTO_ORDER_UNSEEN;
	else if (begins && l->phase == 'X')
		/* of calls that begin at one time, the longest is outermost */
		key.second -= 1 + (uint64_t)l->duration;
	return keep_ordered(p, key, &r, value);
}

/* --- counters --- */

/* What an incremental counter has reached in a sequence that is not the last to count. */
struct reached {
	int64_t value;
	double real_value;
	uint32_t generation;
};

/* Get what a counter has reached in a sequence. NULL: out of memory. */
static uint8_t *reached_in(struct perfetto *p, uint32_t track, uint32_t sequence)
{
	uint32_t key[2] = {track, sequence};
	uint32_t *number = id_cache_number(&p->tracks.counting, key, sizeof key);
	struct buffer *all = &p->tracks.reached;

	if (!number || (!*number && buffer_zero(all, sizeof(struct reached))))
		return NULL;
	if (!*number)
		*number = (uint32_t)(all->size / sizeof(struct reached));
	return all->data + (*number - 1) * sizeof(struct reached);
}

/* Have an incremental counter count on from its last value in this sequence, or from 0. */
static int switch_sequence(struct perfetto *p, const struct perfetto_sequence *s, uint32_t number)
{
	struct perfetto_track *t = &p->tracks.track[number - 1];
	struct reached now = {t->value, t->real_value, t->generation};
	uint8_t *at;

	if (t->sequence != s->number) {
		at = reached_in(p, number, t->sequence);
		if (!at)
			return -1;
		memcpy(at, &now, sizeof now);
		at = reached_in(p, number, s->number);
		if (!at)
			return -1;
		memcpy(&now, at, sizeof now);
	}
	if (now.generation != s->generation)
		now = (struct reached){0};
	t->value = now.value;
	t->real_value = now.real_value;
	t->sequence = s->number;
	t->generation = s->generation;
	return 0;
}

/* Keep the value of a counter: that of an incremental one is a difference. */
static int keep_counter(struct perfetto *p, const struct perfetto_sequence *s,
			const struct track_event *ev, uint32_t number, uint64_t bits, bool real)
{
	struct perfetto_track *t = number ? &p->tracks.track[number - 1] : NULL;
	struct perfetto_record r = {.kind = real ? PERFETTO_COUNTER_REAL : PERFETTO_COUNTER,
				    .flags = PERFETTO_VALUE,
				    .track = number - 1};
	double value;

	/* extra counters of an event have no category */
	if (ev->type == TYPE_COUNTER)
		r.category = ev->category;

	if (!t)
		return -1;
	if (t->incremental && (t->sequence != s->number || t->generation != s->generation) &&
	    switch_sequence(p, s, number))
		return -1;
	if (t->incremental && real) {
		memcpy(&value, &bits, sizeof value);
		value = t->real_value += value;
		memcpy(&bits, &value, sizeof bits);
	} else if (t->incremental) {
		bits = (uint64_t)(t->value = add_wrapping(t->value, (int64_t)bits));
	}
	p->scratch.arguments.size = 0;
	return perfetto_keep(p, ev->time, &r, bits);
}

/* Count numbers of an event that the stream does not contain. */
static void perfetto_tracks_count_left_out(struct perfetto *p, uint32_t field, uint64_t n)
{
	p->counts.left_out[MESSAGE_TRACK_EVENT][field] += n;
}

/* Keep the extra counters of an event. Their tracks are those of the event, or of the defaults. */
static int keep_extra(struct perfetto *p, const struct perfetto_sequence *s,
		      const struct track_event *ev, const struct event_lists *l)
{
	const struct perfetto_defaults *d = &s->defaults;
	const uint64_t *tracks = l->ntracks ? l->tracks : d->extra;
	unsigned n = l->ntracks ? l->ntracks : d->nextra;

	for (unsigned i = 0; i < n && i < l->nvalues; i++)
		if (keep_counter(p, s, ev, perfetto_track(p, tracks[i]), l->values[i], false))
			return -1;
	perfetto_tracks_count_left_out(p, EVENT_EXTRA_VALUES, l->nvalues > n ? l->nvalues - n : 0);
	tracks = l->nreal_tracks ? l->real_tracks : d->extra_real;
	n = l->nreal_tracks ? l->nreal_tracks : d->nextra_real;
	for (unsigned i = 0; i < n && i < l->nreal_values; i++)
		if (keep_counter(p, s, ev, perfetto_track(p, tracks[i]), l->real_values[i], true))
			return -1;
	perfetto_tracks_count_left_out(p, EVENT_EXTRA_REAL_VALUES,
				       l->nreal_values > n ? l->nreal_values - n : 0);
	return 0;
}

/* --- reading --- */

/* Append numbers of a field, varints or 8 bytes each, which may be packed. */
static void perfetto_tracks_take_list(struct perfetto *p, uint64_t *list, unsigned *n,
				      unsigned most, struct protobuf_field *f, bool fixed)
{
	struct protobuf_view rest = f->bytes;
	bool single = f->wire == PROTOBUF_FIXED64;
	uint64_t value = f->value;

	while (single ||
	       (fixed ? protobuf_fixed(&rest, 8, &value) : protobuf_each(f, &rest, &value))) {
		if (*n < most)
			list[(*n)++] = value;
		else
			perfetto_tracks_count_left_out(p, f->number, 1);
		if (single)
			break;
	}
}

static void take_lists(struct perfetto *p, struct track_event *ev, struct event_lists *l,
		       struct protobuf_field *f)
{
	event_lists_begin(ev, l);
	switch (f->number) {
	case EVENT_EXTRA_TRACKS:
		perfetto_tracks_take_list(p, l->tracks, &l->ntracks, PERFETTO_EXTRA, f, false);
		break;
	case EVENT_EXTRA_VALUES:
		perfetto_tracks_take_list(p, l->values, &l->nvalues, PERFETTO_EXTRA, f, false);
		break;
	case EVENT_EXTRA_REAL_TRACKS:
		perfetto_tracks_take_list(p, l->real_tracks, &l->nreal_tracks, PERFETTO_EXTRA, f,
					  false);
		break;
	case EVENT_EXTRA_REAL_VALUES:
		perfetto_tracks_take_list(p, l->real_values, &l->nreal_values, PERFETTO_EXTRA, f,
					  true);
		break;
	case EVENT_FLOWS_OLD:
		perfetto_tracks_take_list(p, l->flows, &l->nflows, FLOWS_MOST, f, false);
		break;
	case EVENT_FLOWS:
		perfetto_tracks_take_list(p, l->flows, &l->nflows, FLOWS_MOST, f, true);
		break;
	case EVENT_ENDED_FLOWS_OLD:
		perfetto_tracks_take_list(p, l->ended, &l->nended, FLOWS_MOST, f, false);
		break;
	case EVENT_ENDED_FLOWS:
		perfetto_tracks_take_list(p, l->ended, &l->nended, FLOWS_MOST, f, true);
		break;
	}
}

/* Add a category; several are separated by commas. */
static int add_category(struct perfetto *p, struct track_event *ev, uint32_t category)
{
	struct buffer *b = &p->scratch.text;
	const char *text;
	size_t n;

	if (!ev->category || !category) {
		ev->category = category ? category : ev->category;
		return 0;
	}
	b->size = 0;
	text = writer_string_of(p->w, ev->category, &n);
	if (buffer_append(b, text, n) || buffer_u8(b, ','))
		return -1;
	text = writer_string_of(p->w, category, &n);
	if (buffer_append(b, text, n))
		return -1;
	ev->category = writer_string(p->w, b->data, b->size);
	return ev->category ? 0 : -1;
}

static int add_categories(struct perfetto *p, const struct perfetto_sequence *s,
			  struct track_event *ev, struct protobuf_field *f)
{
	struct protobuf_view rest = f->bytes;
	uint64_t iid;

	while (protobuf_each(f, &rest, &iid))
		if (add_category(p, ev, perfetto_interned(p, s, OF_CATEGORY, iid)))
			return -1;
	return 0;
}

static int add_source_location(struct perfetto *p, const struct perfetto_source_location *l)
{
	return (l->file && perfetto_argument_string(p, "file", l->file)) ||
			       (l->function &&
				perfetto_argument_string(p, "function", l->function)) ||
			       (l->line && perfetto_argument_uint(p, "line", l->line))
		       ? -1
		       : 0;
}

static int add_interned_location(struct perfetto *p, const struct perfetto_sequence *s,
				 uint64_t iid)
{
	uint32_t number = perfetto_interned(p, s, OF_SOURCE_LOCATION, iid);
	struct perfetto_source_location l;

	if (!number)
		return 0;
	memcpy(&l, p->source_locations.data + (number - 1) * sizeof l, sizeof l);
	return add_source_location(p, &l);
}

static int add_inline_location(struct perfetto *p, struct protobuf_view message)
{
	struct perfetto_source_location l = perfetto_source_location(p, message);

	return add_source_location(p, &l);
}

static int add_log_message(struct perfetto *p, const struct perfetto_sequence *s,
			   struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t body;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case LOG_BODY_IID:
			body = perfetto_interned(p, s, OF_LOG_BODY, f.value);
			if (body && perfetto_argument_string(p, "message", body))
				return -1;
			break;
		case LOG_SOURCE_IID:
			if (add_interned_location(p, s, f.value))
				return -1;
			break;
		case LOG_PRIORITY:
			if (perfetto_argument_uint(p, "prio", f.value))
				return -1;
			break;
		}
	return 0;
}

/* Take a field that few events have. */
static int perfetto_tracks_take_rare(struct perfetto *p, const struct perfetto_sequence *s,
				     struct track_event *ev, struct protobuf_field *f)
{
	uint32_t string;

	switch (f->number) {
	case EVENT_CATEGORIES: return add_category(p, ev, perfetto_text(p, f->bytes));
	case EVENT_SOURCE_LOCATION: return add_inline_location(p, f->bytes);
	case EVENT_SOURCE_LOCATION_IID: return add_interned_location(p, s, f->value);
	case EVENT_LOG_MESSAGE: return add_log_message(p, s, f->bytes);
	case EVENT_CORRELATION: return perfetto_argument_uint(p, "correlation_id", f->value);
	case EVENT_CORRELATION_TEXT:
		string = perfetto_text(p, f->bytes);
		return string ? perfetto_argument_string(p, "correlation_id", string) : 0;
	case EVENT_CORRELATION_IID:
		string = perfetto_interned(p, s, OF_CORRELATION, f->value);
		return string ? perfetto_argument_string(p, "correlation_id", string) : 0;
	case EVENT_CALLSTACK: ev->stack = perfetto_inline_stack(p, f->bytes); return 0;
	case EVENT_CALLSTACK_IID:
		ev->stack = perfetto_interned(p, s, OF_CALLSTACK, f->value);
		return 0;
	case EVENT_TIME_DELTA:
	case EVENT_TIME:
		ev->has_time_delta = f->number == EVENT_TIME_DELTA;
		ev->time_delta = (int64_t)f->value;
		return 0;
	case EVENT_THREAD_TIME_DELTA:
	case EVENT_THREAD_TIME:
		ev->has_thread_time = true;
		ev->thread_time = (int64_t)f->value;
		if (f->number == EVENT_THREAD_TIME_DELTA)
			ev->thread_time = add_wrapping(ev->thread_time, s->thread_time);
		return 0;
	}
	return perfetto_typed(p, s, f, &ev->annotated);
}

/* Read the fields of an event. */
static int perfetto_tracks_take_event(struct perfetto *p, const struct perfetto_sequence *s,
				      struct track_event *ev, struct event_lists *lists)
{
	struct protobuf_view rest = ev->packet->payload;
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&rest, &f)) > 0) {
		int failed = 0;

		switch (f.number) {
		case EVENT_TYPE: ev->type = f.value; break;
		case EVENT_TRACK:
			ev->uuid = f.value;
			ev->has_track = true;
			break;
		case EVENT_NAME_IID: ev->name = perfetto_interned(p, s, OF_NAME, f.value); break;
		case EVENT_NAME: ev->name = perfetto_text(p, f.bytes); break;
		case EVENT_CATEGORY_IIDS: failed = add_categories(p, s, ev, &f); break;
		case EVENT_ANNOTATION:
			failed = perfetto_annotation(p, s, f.bytes, &ev->annotated);
			break;
		case EVENT_COUNTER:
		case EVENT_COUNTER_REAL:
			ev->has_counter = true;
			ev->has_real = f.number == EVENT_COUNTER_REAL;
			ev->counter = f.value;
			break;
		case EVENT_EXTRA_TRACKS:
		case EVENT_EXTRA_VALUES:
		case EVENT_EXTRA_REAL_TRACKS:
		case EVENT_EXTRA_REAL_VALUES:
		case EVENT_FLOWS:
		case EVENT_FLOWS_OLD:
		case EVENT_ENDED_FLOWS:
		case EVENT_ENDED_FLOWS_OLD: take_lists(p, ev, lists, &f); break;
		case EVENT_LEGACY: legacy_read(p, s, ev, f.bytes); break;
		default: failed = perfetto_tracks_take_rare(p, s, ev, &f);
		}
		if (failed)
			return -1;
	}
	if (got < 0)
		perfetto_damage(p, ev->packet, "no field of a track event: the rest is left out");
	return 0;
}

/* Find the track of an event: that of its uuid, or the sequence's default, or its thread. */
static int find_track(struct perfetto *p, const struct perfetto_sequence *s, struct track_event *ev)
{
	uint64_t uuid = ev->has_track ? ev->uuid : s->defaults.has_track ? s->defaults.track : 0;
	/* an event with a phase instead of a type has the uuid 0 to be on the sequence's thread */
	bool on_thread = !uuid && s->has_thread && (!ev->has_track || !ev->type);

	ev->track = on_thread ? s->thread_track : perfetto_track(p, uuid);
	return ev->track ? 0 : -1;
}

bool perfetto_time_us(struct perfetto *p, struct perfetto_sequence *s, int64_t us, uint64_t *time)
{
	if (__builtin_mul_overflow(us, 1000u, time)) {
		p->counts.wrong_times++;
		return false;
	}
	return perfetto_time(p, s, CLOCK_MONOTONIC_ID, time);
}

/* Find the time of an event whose packet has none. Returns false if it has none either. */
static bool perfetto_tracks_find_time(struct perfetto *p, struct perfetto_sequence *s,
				      struct track_event *ev)
{
	if (ev->packet->has_time) {
		ev->time = ev->packet->time;
		return true;
	}
	if (ev->has_time_delta)
		ev->time_delta = s->time = add_wrapping(s->time, ev->time_delta);
	if (!perfetto_time_us(p, s, ev->time_delta, &ev->time))
		return false;
	s->last_time = ev->time;
	return true;
}

static int perfetto_tracks_keep_event(struct perfetto *p, const struct perfetto_sequence *s,
				      struct track_event *ev)
{
	unsigned unfinished = ev->annotated.unfinished ? PERFETTO_UNFINISHED : 0;

	if (ev->annotated.unfinished && ev->type != TYPE_END &&
	    perfetto_argument_bool(p, CHROME_UNFINISHED, true))
		return -1;
	if (ev->annotated.leave && ev->type != TYPE_END &&
	    perfetto_argument_string(p, CHROME_LEAVE_NAME, ev->annotated.leave))
		return -1;
	/* an event with a type has the uuid 0 if it names its thread */
	if (ev->legacy.present && (!ev->type || ev->legacy.phase || !ev->uuid) &&
	    legacy_override(p, ev))
		return -1;
	if (ev->legacy.present && (!ev->type || ev->legacy.phase))
		return legacy_keep(p, ev);
	switch (ev->type) {
	case TYPE_BEGIN:
		return ev->annotated.has_id
			       ? track_event_keep(p, ev, PERFETTO_BEGIN,
						  PERFETTO_VALUE | PERFETTO_BY_ID, ev->annotated.id)
			       : track_event_keep(p, ev, PERFETTO_BEGIN, 0, 0);
	case TYPE_END: return track_event_keep(p, ev, PERFETTO_END, unfinished, 0);
	case TYPE_STATE: return track_event_keep(p, ev, PERFETTO_STATE, 0, 0);
	case TYPE_COUNTER:
		return ev->has_counter
			       ? keep_counter(p, s, ev, ev->track, ev->counter, ev->has_real)
			       : 0;
	}
	return track_event_keep(p, ev, PERFETTO_INSTANT, 0, 0);
}

int perfetto_track_event(struct perfetto *p, struct perfetto_sequence *s,
			 const struct perfetto_packet *packet)
{
	struct event_lists lists;
	struct track_event ev = {.packet = packet};

	p->scratch.arguments.size = 0;
	if (perfetto_tracks_take_event(p, s, &ev, &lists))
		return -1;
	if (ev.has_counter && ev.type != TYPE_COUNTER)
		perfetto_tracks_count_left_out(p, ev.has_real ? EVENT_COUNTER_REAL : EVENT_COUNTER,
					       1);
	if (ev.has_thread_time) {
		s->thread_time = ev.thread_time;
		if (perfetto_argument_int(p, "tts", ev.thread_time))
			return -1;
	}
	if (!perfetto_tracks_find_time(p, s, &ev))
		return 0;
	if (find_track(p, s, &ev))
		return -1;
	if (ev.legacy.present)
		legacy_flows(p, &ev, &lists);
	if (!ev.has_lists)
		return perfetto_tracks_keep_event(p, s, &ev);
	if ((lists.nflows &&
	     perfetto_argument_list(p, PERFETTO_FLOWS, lists.flows, lists.nflows)) ||
	    (lists.nended &&
	     perfetto_argument_list(p, PERFETTO_ENDED_FLOWS, lists.ended, lists.nended)) ||
	    perfetto_tracks_keep_event(p, s, &ev))
		return -1;
	return keep_extra(p, s, &ev, &lists);
}
