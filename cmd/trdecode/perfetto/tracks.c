/*
 * tracks.c - tracks, and the threads that they belong to
 */
#include <stdlib.h>

#include "cmd/trdecode/perfetto/perfetto.h"

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
static int32_t take_id(uint64_t value)
{
	return value <= INT32_MAX ? (int32_t)value : -1;
}

static void take_process(struct perfetto *p, struct protobuf_view message, int32_t *pid,
			 uint32_t *name)
{
	struct protobuf_view program = {NULL, NULL};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case PROCESS_PID: *pid = take_id(f.value); break;
		case PROCESS_NAME: *name = perfetto_text(p, f.bytes); break;
		case PROCESS_CMDLINE:
			if (!program.at)
				program = f.bytes;
			break;
		}
	if (!*name && program.at)
		*name = perfetto_text(p, program);
}

static void take_thread(struct perfetto *p, struct protobuf_view message, struct perfetto_track *t)
{
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case THREAD_PID: t->pid = take_id(f.value); break;
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
static void take_field(struct perfetto *p, struct perfetto_track *t, const struct protobuf_field *f)
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
		take_process(p, f->bytes, &t->pid, &t->process_name);
		break;
	case TRACK_THREAD:
		t->has_thread = true;
		take_thread(p, f->bytes, t);
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
		take_field(p, t, &f);
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

	take_thread(p, message, &t);
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

	take_process(p, packet->payload, &pid, &name);
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
				n.pid = n.tid = take_id(of.value);
			else if (f.number == TREE_PROCESS && of.number == TREE_CMDLINE &&
				 !n.process)
				n.process = perfetto_text(p, of.bytes);
			else if (f.number == TREE_THREAD && of.number == TREE_TID)
				n.tid = take_id(of.value);
			else if (f.number == TREE_THREAD && of.number == TREE_TGID)
				n.pid = take_id(of.value);
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
static uint32_t *thread_number(struct perfetto *p, int32_t pid, int32_t tid, uint32_t name)
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
	uint32_t *number = thread_number(p, pid, tid, name);
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
		number = name ? thread_number(p, pid, tid, 0) : number;
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
	uint32_t *number = name ? thread_number(p, pid, t->tid, name) : NULL;

	if (number && !*number)
		*number = (uint32_t)(t - p->tracks.thread) + 1;
	return number || !name ? 0 : -1;
}

struct perfetto_thread *perfetto_thread_of(struct perfetto *p, int32_t pid, int32_t tid)
{
	return find_thread(p, pid, tid, 0);
}

static uint32_t declare_lane(struct perfetto *p, const struct lane_entry *e)
{
	int32_t key[] = {e->cpu,	   e->tid, e->pid, (int32_t)e->comm, (int32_t)e->buffer,
			 (int32_t)e->flags};
	uint32_t *id = id_cache_number(&p->tracks.lanes, key, sizeof key);

	if (id && !*id)
		*id = writer_lane(p->w, e);
	return id ? *id : 0;
}

static struct lane_entry lane_entry(const struct perfetto *p, int32_t pid, int32_t tid, int32_t cpu)
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
	e = lane_entry(p, t->pid, t->tid, cpu);
	e.comm = t->comm;
	if (cpu >= 0)
		return declare_lane(p, &e);
	return t->lane = declare_lane(p, &e);
}

uint32_t perfetto_cpu_lane(struct perfetto *p, int32_t cpu)
{
	struct lane_entry e = lane_entry(p, -1, -1, cpu);

	return declare_lane(p, &e);
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

static void set_name(struct perfetto *p, struct perfetto_thread *t, uint32_t comm)
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
		set_name(p, t, owner->thread_name);
		t->named = true;
	}
	if (t && owner->process_name && t->process && t->process != owner->process_name)
		t = find_thread(p, owner->pid, tid, owner->process_name);
	if (t && owner->process_name)
		t->process = owner->process_name;
	if (t && !t->comm)
		set_name(p, t, owner->process_name);
	return t && (remember_thread(p, t, owner->pid, owner->thread_name) ||
		     remember_thread(p, t, owner->pid, owner->process_name))
		       ? NULL
		       : t;
}

/* Have the thread of a track with events as the one that has its number, if it is used first. */
static int begin_thread(struct perfetto *p, struct perfetto_thread *t, int32_t pid)
{
	uint32_t *number = t->begun ? NULL : thread_number(p, pid, t->tid, 0);
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

int perfetto_track_resolve(struct perfetto *p, struct perfetto_track *t)
{
	const struct perfetto_track *owner = find_owner(p, t);
	struct perfetto_thread *thread = NULL;
	struct lane_entry e;
	bool child;

	if (owner && (owner->tid != -1 || owner->pid >= 0)) {
		thread = owner_thread(p, owner);
		if (!thread || begin_thread(p, thread, owner->pid))
			return -1;
		if (!thread->comm && thread->pid >= 0) {
			const struct perfetto_task *process = perfetto_task(p, thread->pid);

			if (!process)
				return -1;
			set_name(p, thread, process->process);
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
	e = lane_entry(p, thread ? thread->pid : -1, thread ? thread->tid : -1, t->cpu);
	e.comm = thread ? thread->comm : 0;
	e.buffer = t->has_counter ? 0 : t->name;
	t->lane = declare_lane(p, &e);
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
		set_name(p, t, task_comm(task));
	return t;
}

int perfetto_naming_row(struct perfetto *p, const uint8_t *data)
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
