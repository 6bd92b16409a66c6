/*
 * ftrace_rows.c - writes the events of ftrace as rows, in the order of their times
 *
 * An event has the lane of its CPU and thread. The comm of a thread is the last one before the
 * event, of the process tree, of a descriptor or of another event. A compact sched_switch has only
 * the next thread: the previous one is that of the switch before on the CPU. Marks of atrace are
 * calls, counters and instants.
 */
#include <stdlib.h>

#include "cmd/trdecode/input/atrace_mark.h"
#include "cmd/trdecode/input/merge.h"
#include "cmd/trdecode/perfetto/ftrace.h"

enum {
	CPUS_MOST = 65536,
	GENERIC_TEXT = 3,
	GENERIC_INT = 4,
	GENERIC_UINT = 5,
	GENERIC_FIELD = 2,
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

static struct perfetto_cpu *cpu_of(struct perfetto *p, uint16_t cpu)
{
	return ARRAY_REACH(p->ftrace.cpu, p->ftrace.ncpus, cpu) ? NULL : &p->ftrace.cpu[cpu];
}

/* Get the thread of an event. NULL: out of memory. */
static struct perfetto_thread *thread_of(struct perfetto *p, int32_t tid)
{
	struct perfetto_task *task = perfetto_task(p, tid);

	return task ? perfetto_thread_of(p, task->tgid, tid) : NULL;
}

static int set_comm(struct perfetto *p, int32_t tid, uint32_t comm)
{
	struct perfetto_thread *t = comm && tid > 0 ? thread_of(p, tid) : NULL;
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

static int put_text(struct perfetto *p, struct protobuf_view v)
{
	const uint8_t *nul = v.at < v.end ? memchr(v.at, 0, protobuf_size(v)) : NULL;

	if (nul)
		v.end = nul;
	return (v.at < v.end && buffer_append(&p->ftrace.tail, v.at, protobuf_size(v))) ||
			       buffer_u8(&p->ftrace.tail, 0)
		       ? -1
		       : 0;
}

static int put_string(struct perfetto *p, uint32_t string)
{
	size_t n = 0;
	const char *text = string ? writer_string_of(p->w, string, &n) : "";
	const uint8_t *at = (const uint8_t *)text;

	return put_text(p, (struct protobuf_view){at, at + n});
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
		if (put_text(p, texts[i]))
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
		else if (put_text(p, text))
			return -1;
		i++;
	}
	return 0;
}

/* Write the row of a type with the content that was made. tid: -1 unknown. */
static int put_row(struct perfetto *p, struct perfetto_event_type *t, uint64_t time, int32_t tid,
		   uint16_t cpu)
{
	struct perfetto_thread *thread = tid >= 0 ? thread_of(p, tid) : NULL;
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

static int switch_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
		      const struct perfetto_switch *w)
{
	struct perfetto_event_type *t = perfetto_event_type(p, FTRACE_SCHED_SWITCH);
	struct perfetto_cpu *cpu = cpu_of(p, rec->cpu);
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
	if (put_string(p, was.comm) || put_string(p, w->comm) ||
	    put_row(p, t, time, was.known ? was.tid : -1, rec->cpu))
		return -1;
	return set_comm(p, w->pid, w->comm);
}

static int waking_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
		      const struct perfetto_switch *w)
{
	struct perfetto_event_type *t = perfetto_event_type(p, FTRACE_SCHED_WAKING);
	const struct perfetto_cpu *cpu = cpu_of(p, rec->cpu);
	uint8_t *fixed;

	if (!t || !cpu || begin_content(p, t))
		return -1;
	/* pid, prio, success, target_cpu */
	fixed = p->ftrace.fixed.data;
	put_u64(fixed, (uint64_t)(int64_t)w->pid);
	put_u64(fixed + 8, (uint64_t)(int64_t)w->prio);
	put_u64(fixed + 16, 1);
	put_u64(fixed + 24, (uint64_t)(int64_t)w->target_cpu);
	if (set_comm(p, w->pid, w->comm) || put_string(p, w->comm))
		return -1;
	return put_row(p, t, time, cpu->known ? cpu->tid : -1, rec->cpu);
}

/* --- names of threads --- */

/* Find a field of the content that was made. NULL: the type has none with the number. */
static const struct perfetto_event_field *find_field(const struct perfetto_event_type *t,
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
	const struct perfetto_event_field *f = find_field(t, number);

	return f && f->kind != 's' ? (int64_t)get_u64(p->ftrace.fixed.data + f->at) : 0;
}

/* Get a text of the content, of a path the last name if is_path is true, as a string of the
 * writer. 0: it is empty. */
static uint32_t content_text(struct perfetto *p, const struct perfetto_event_type *t,
			     uint32_t number, bool is_path)
{
	const struct perfetto_event_field *f = find_field(t, number);
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
	thread = task ? thread_of(p, tid) : NULL;
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
static int learn_names(struct perfetto *p, const struct perfetto_record *rec,
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
		cpu = cpu_of(p, rec->cpu);
		if (!cpu)
			return -1;
		*cpu = (struct perfetto_cpu){true, tid,
					     (int32_t)content_number(p, t, SWITCH_NEXT_PRIO), comm};
	}
	return set_comm(p, tid, comm);
}

/* --- marks --- */

static struct protobuf_view view_of(struct mark_text t)
{
	const uint8_t *at = (const uint8_t *)t.at;

	return (struct protobuf_view){at, at + t.size};
}

/* Return the kind of the record of a mark. */
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
	int64_t cookie;

	if (atrace_mark_number(m->cookie, &cookie))
		key.id = (uint64_t)cookie;
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
		r.name = m->name.size ? perfetto_text(p, view_of(m->name)) : p->texts.nothing;
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
static int print_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
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
	uint32_t type = writer_type(p->w, &e);

	return type && !row_filter_announce(p->input->decoding->row_filter, type, 0) ? type : 0;
}

static int graph_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
		     uint64_t depth)
{
	bool entry = rec->kind == PERFETTO_GRAPH_ENTRY;
	struct perfetto_thread *thread = thread_of(p, (int32_t)rec->track);
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

	if (rec->name == FTRACE_PRINT && print_row(p, rec, time, message, &done))
		return -1;
	if (done)
		return 0;
	if (rec->name == FTRACE_GENERIC) {
		generic = perfetto_generic_type(p, message);
		t = generic ? &p->ftrace.type[generic - 1] : NULL;
		return !t || make_generic(p, t, message) || put_row(p, t, time, tid, rec->cpu) ? -1
											       : 0;
	}
	t = perfetto_event_type(p, rec->name);
	names = find_names(rec->name);
	if (!t || make_content(p, t, message) || (names && learn_names(p, rec, t, names, false)) ||
	    put_row(p, t, time, tid, rec->cpu))
		return -1;
	p->counts.unknown_ftrace += !t->nfields && message.at < message.end;
	return names ? learn_names(p, rec, t, names, true) : 0;
}

int perfetto_ftrace_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
			const uint8_t *data, size_t size)
{
	struct perfetto_switch w;
	uint64_t depth;

	switch (rec->kind) {
	case PERFETTO_SWITCH:
	case PERFETTO_WAKING:
		memcpy(&w, data, sizeof w);
		return rec->kind == PERFETTO_SWITCH ? switch_row(p, rec, time, &w)
						    : waking_row(p, rec, time, &w);
	case PERFETTO_GRAPH_ENTRY:
	case PERFETTO_GRAPH_EXIT:
		memcpy(&depth, data, sizeof depth);
		return graph_row(p, rec, time, depth);
	}
	return event_row(p, rec, time, (struct protobuf_view){data, data + size});
}
