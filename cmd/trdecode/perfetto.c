/*
 * perfetto.c - traces of Perfetto
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/perfetto.h"
#include "cmd/trdecode/perfetto_tables.h"
#include "cmd/trdecode/row_filter.h"
#include "common/cli/program.h"
#include "common/formats/chrome.h"
#include "common/util/bytes.h"
#include "common/util/output.h"

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

static struct perfetto_event_type *perfetto_event_type(struct perfetto *p, uint32_t number);

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
	FTRACE_TYPES_GENERIC_FIELD = 2,
	GENERIC_FIELD_NAME = 1,
	FTRACE_TYPES_GENERIC_TEXT = 3,
	FTRACE_TYPES_GENERIC_INT = 4,
	FTRACE_TYPES_GENERIC_UINT = 5,
};

/* Add a type. Returns its index + 1; 0: out of memory. */
static uint32_t perfetto_add_type(struct perfetto *p, uint32_t number)
{
	struct perfetto_ftrace *f = &p->ftrace;
	struct perfetto_event_type *t;

	if (ARRAY_GROW(f->type, f->types_capacity, f->ntypes))
		return 0;
	t = f->type;
	t[f->ntypes++] = (struct perfetto_event_type){.number = number};
	return (uint32_t)f->ntypes;
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
	const char *at = strchr(row, ' ') + 1, *end = strchrnul(at, ' ');
	const char *group = memchr(at, ':', (size_t)(end - at));
	uint32_t number = 0;

	if (group) {
		t->group = writer_string(p->w, at, (size_t)(group - at));
		if (!t->group)
			return -1;
		at = group + 1;
	}
	t->name = writer_string(p->w, at, (size_t)(end - at));
	while (*end) {
		const char *colon, *equal;

		at = end + 1;
		end = strchrnul(at, ' ');
		colon = end - 2;
		equal = memchr(at, '=', (size_t)(end - at));
		number = equal ? (uint32_t)strtoul(at, NULL, 10) : number + 1;
		at = equal ? equal + 1 : at;
		if (perfetto_add_field(t, number, writer_string(p->w, at, (size_t)(colon - at)),
				       colon[1]))
			return -1;
	}
	return t->name ? 0 : -1;
}

/* Get the type of an event by its number. NULL: out of memory. */
static struct perfetto_event_type *perfetto_event_type(struct perfetto *p, uint32_t number)
{
	uint32_t *at = id_cache_number(&p->ftrace.numbers, &number, sizeof number);
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

/* Return the kind of a field of a message; 0: it is not read. */
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
	at = id_cache_number(&p->ftrace.numbers, &number, sizeof number);
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
		case FTRACE_TYPES_GENERIC_TEXT: *kind = 's'; break;
		case FTRACE_TYPES_GENERIC_INT: *kind = 'i'; break;
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
		if (f.number != FTRACE_TYPES_GENERIC_FIELD || n++ >= PERFETTO_EVENT_FIELDS)
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
	}
	t->type = writer_type(p->w, &e);
	if (t->type && row_filter_announce(p->input->decoding->row_filter, t->type, 0))
		return 0;
	return t->type;
}

void perfetto_ftrace_free(struct perfetto *p)
{
	struct perfetto_ftrace *f = &p->ftrace;

	for (size_t i = 0; i < f->ntypes; i++)
		free(f->type[i].fields);
	free(f->type);
	free(f->cpu);
	id_cache_free(&f->numbers);
	id_cache_free(&f->generic);
	buffer_free(&f->fixed);
	buffer_free(&f->tail);
	buffer_free(&f->key);
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
	FTRACE_ROWS_GENERIC_TEXT = 3,
	FTRACE_ROWS_GENERIC_INT = 4,
	FTRACE_ROWS_GENERIC_UINT = 5,
	FTRACE_ROWS_GENERIC_FIELD = 2,
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

	return task ? perfetto_thread_of(p, task->tgid, tid) : NULL;
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

		if (f.number != FTRACE_ROWS_GENERIC_FIELD)
			continue;
		while (protobuf_next(&f.bytes, &of) > 0) {
			if (of.number == FTRACE_ROWS_GENERIC_TEXT)
				text = of.bytes;
			else if (of.number == FTRACE_ROWS_GENERIC_INT ||
				 of.number == FTRACE_ROWS_GENERIC_UINT)
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
	uint32_t type = writer_type(p->w, &e);

	return type && !row_filter_announce(p->input->decoding->row_filter, type, 0) ? type : 0;
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

int perfetto_ftrace_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
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
	struct perfetto_loss loss = {
		.count = UINT64_MAX, .offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_EVENTS};

	if (!perfetto_time(b->p, b->s, b->clock, &time))
		return 0;
	if (b->lost && perfetto_keep_gap(b->p, time, &loss, b->cpu))
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

/* The columns of a kind of event. */
struct perfetto_columns {
	struct protobuf_view time, state, pid, prio, cpu, comm;
};

/* Take the next number of a column; 0 at its end. */
static uint64_t next(struct protobuf_view *column)
{
	uint64_t n = 0;

	if (column->at && !protobuf_varint(column, &n))
		column->at = column->end;
	return n;
}

/* Keep the events of a kind: each has a number in each column; times are differences. */
static int keep_columns(struct bundle *b, struct perfetto_columns *c, enum perfetto_kind kind,
			const struct buffer *texts)
{
	uint64_t time = 0, delta;

	while (c->time.at && protobuf_varint(&c->time, &delta)) {
		struct perfetto_record r = {.kind = (uint8_t)kind};
		struct perfetto_switch w = {0};
		uint64_t comm = next(&c->comm);

		time += delta;
		w.prev_state = (int64_t)next(&c->state);
		w.pid = (int32_t)next(&c->pid);
		w.prio = (int32_t)next(&c->prio);
		w.target_cpu = (int32_t)next(&c->cpu);
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
	struct perfetto_columns switches = {0}, wakings = {0};
	struct protobuf_field f;

	texts->size = 0;
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case COMPACT_COMMS:
			if (buffer_u32(texts, perfetto_text(b->p, f.bytes)))
				return -1;
			break;
		case COMPACT_SWITCH_TIME: switches.time = f.bytes; break;
		case COMPACT_SWITCH_STATE: switches.state = f.bytes; break;
		case COMPACT_SWITCH_PID: switches.pid = f.bytes; break;
		case COMPACT_SWITCH_PRIO: switches.prio = f.bytes; break;
		case COMPACT_SWITCH_COMM: switches.comm = f.bytes; break;
		case COMPACT_WAKING_TIME: wakings.time = f.bytes; break;
		case COMPACT_WAKING_PID: wakings.pid = f.bytes; break;
		case COMPACT_WAKING_CPU: wakings.cpu = f.bytes; break;
		case COMPACT_WAKING_PRIO: wakings.prio = f.bytes; break;
		case COMPACT_WAKING_COMM: wakings.comm = f.bytes; break;
		}
	return keep_columns(b, &switches, PERFETTO_SWITCH, texts) ||
			       keep_columns(b, &wakings, PERFETTO_WAKING, texts)
		       ? -1
		       : 0;
}

static int perfetto_ftrace_bundle(struct perfetto *p, struct perfetto_sequence *s,
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

/*
 * Call stacks: their frames, and the files that are mapped.
 *
 * A frame with a function is a named location with the file and the line; any other frame is an
 * address in the space of the file that is mapped, where a MAP relates addresses to the file. The
 * symbols of modules, which are often the last packets, name such addresses.
 */

/* --- frames --- */

/* Declare the space of a file. Addresses are those of the ELF file: offset + load_bias. */
static uint32_t perfetto_declare_space(struct perfetto *p, uint32_t path, uint32_t build_id,
				       uint64_t bias)
{
	uint32_t space =
		writer_space(p->w, &(struct space_entry){.source = p->source, .name = path});

	if (space && writer_map(p->w, &(struct map_entry){.space = space,
							  .start = bias,
							  .end = UINT64_MAX,
							  .path = path,
							  .build_id = build_id}))
		return 0;
	return space;
}

/* Append the parts of a path to a text. */
static int add_parts(struct perfetto *p, const struct perfetto_sequence *s,
		     struct protobuf_field *f, struct buffer *b)
{
	struct protobuf_view rest = f->bytes;
	uint64_t iid;

	while (protobuf_each(f, &rest, &iid)) {
		uint32_t part = perfetto_interned(p, s, OF_PATH, iid);
		size_t n;
		const char *text = part ? writer_string_of(p->w, part, &n) : NULL;

		if (text && (buffer_u8(b, '/') || buffer_append(b, text, n)))
			return -1;
	}
	return 0;
}

uint32_t perfetto_mapping(struct perfetto *p, const struct perfetto_sequence *s,
			  struct protobuf_view message)
{
	struct buffer *b = &p->scratch.text;
	struct perfetto_mapped mapped;
	struct protobuf_field f;
	uint32_t *number;
	struct {
		uint64_t bias;
		uint32_t path, build_id;
	} key = {0};

	b->size = 0;
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case MAPPING_BUILD_ID:
			key.build_id = perfetto_interned(p, s, OF_BUILD_ID, f.value);
			break;
		case MAPPING_LOAD_BIAS: key.bias = f.value; break;
		case MAPPING_PATH:
			if (add_parts(p, s, &f, b))
				return 0;
			break;
		}
	key.path = writer_string(p->w, b->data, b->size);
	number = id_cache_number(&p->modules.mapping_numbers, &key, sizeof key);
	if (!number || *number)
		return number ? *number : 0;
	mapped.path = key.path;
	mapped.build_id = key.build_id;
	mapped.space = perfetto_declare_space(p, key.path, key.build_id, key.bias);
	if (!mapped.space || buffer_append(&p->modules.mappings, &mapped, sizeof mapped))
		return 0;
	return *number = (uint32_t)(p->modules.mappings.size / sizeof mapped);
}

/* Give a location the name and the address of the entry, the file and the line of the source, and
 * the module: string of its path, 0: none. Returns 0, or -1 when out of memory. */
static int perfetto_name_location(struct perfetto *p, uint32_t location,
				  const struct location_entry *entry,
				  const struct perfetto_source_location *source, uint32_t module)
{
	struct symbol_entry symbol = {.start = entry->address, .line = source->line};
	size_t n;

	symbol.name = writer_string_of(p->w, entry->name, &n);
	symbol.name_size = (uint32_t)n;
	if (source->file) {
		symbol.file = writer_string_of(p->w, source->file, &n);
		symbol.file_size = (uint32_t)n;
	}
	if (module) {
		symbol.module = writer_string_of(p->w, module, &n);
		symbol.module_size = (uint32_t)n;
	}
	return writer_symbol(p->w, location, &symbol);
}

/* Declare the location of a function with its file and line. module: string of its path, 0: none.
 */
static uint32_t perfetto_named_location(struct perfetto *p, const struct location_entry *entry,
					const struct perfetto_source_location *source,
					uint32_t module)
{
	uint32_t location = writer_location(p->w, entry);

	if (location && (source->file || module) &&
	    perfetto_name_location(p, location, entry, source, module))
		return 0;
	return location;
}

/* What a frame is; equal frames have one location. */
struct profile_frame {
	uint64_t address;
	uint32_t name, mapping, file, line;
};

/* Read the message Frame. */
static struct profile_frame perfetto_read_frame(struct perfetto *p,
						const struct perfetto_sequence *s,
						struct protobuf_view message)
{
	struct profile_frame frame = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case FRAME_FUNCTION:
			frame.name = perfetto_interned(p, s, OF_FUNCTION, f.value);
			break;
		case FRAME_MAPPING:
			frame.mapping = perfetto_interned(p, s, OF_MAPPING, f.value);
			break;
		case FRAME_ADDRESS: frame.address = f.value; break;
		case FRAME_SOURCE_PATH:
			frame.file = perfetto_interned(p, s, OF_SOURCE_PATH, f.value);
			break;
		case FRAME_LINE: frame.line = (uint32_t)f.value; break;
		}
	if (!frame.mapping)
		frame.address = 0;
	return frame;
}

/* Note a location that the symbols of its module may name. */
static int note_unnamed(struct perfetto *p, uint32_t location, const struct perfetto_mapped *mapped,
			uint64_t address)
{
	struct perfetto_unnamed unnamed = {address,
					   mapped->build_id ? mapped->build_id : mapped->path,
					   location, mapped->space, mapped->path};

	return location ? buffer_append(&p->modules.unnamed, &unnamed, sizeof unnamed) : 0;
}

uint32_t perfetto_frame(struct perfetto *p, const struct perfetto_sequence *s,
			struct protobuf_view message)
{
	struct profile_frame frame = perfetto_read_frame(p, s, message);
	struct perfetto_source_location source = {.file = frame.file, .line = frame.line};
	struct location_entry entry = {.name = frame.name, .address = frame.address};
	uint32_t *location = id_cache_number(&p->modules.frames, &frame, sizeof frame);
	struct perfetto_mapped mapped = {0};

	if (!location || *location)
		return location ? *location : 0;
	if (frame.mapping)
		memcpy(&mapped, p->modules.mappings.data + (frame.mapping - 1) * sizeof mapped,
		       sizeof mapped);
	entry.space = mapped.space;
	if (entry.name)
		return *location = perfetto_named_location(p, &entry, &source, mapped.path);
	if (!frame.mapping)
		entry.name = writer_text(p->w, "?");
	*location = writer_location(p->w, &entry);
	return frame.mapping && note_unnamed(p, *location, &mapped, frame.address) ? 0 : *location;
}

uint32_t perfetto_callstack(struct perfetto *p, const struct perfetto_sequence *s,
			    struct protobuf_view message)
{
	struct protobuf_view rest;
	struct protobuf_field f;
	uint32_t stack = 0;
	uint64_t iid;

	/* the outermost frame is first */
	while (protobuf_next(&message, &f) > 0) {
		if (f.number != CALLSTACK_FRAME)
			continue;
		for (rest = f.bytes; protobuf_each(&f, &rest, &iid);) {
			uint32_t location = perfetto_interned(p, s, OF_FRAME, iid);

			if (location)
				stack = writer_stack(p->w, stack, location);
		}
	}
	return stack;
}

uint32_t perfetto_inline_stack(struct perfetto *p, struct protobuf_view message)
{
	struct protobuf_field f, of;
	uint32_t stack = 0;

	while (protobuf_next(&message, &f) > 0) {
		struct perfetto_source_location source = {0};
		struct location_entry entry = {0};
		uint32_t location;

		if (f.number != INLINE_FRAME)
			continue;
		while (protobuf_next(&f.bytes, &of) > 0)
			switch (of.number) {
			case INLINE_FUNCTION: entry.name = perfetto_text(p, of.bytes); break;
			case INLINE_FILE: source.file = perfetto_text(p, of.bytes); break;
			case INLINE_LINE: source.line = (uint32_t)of.value; break;
			}
		if (!entry.name)
			entry.name = writer_text(p->w, "?");
		location = perfetto_named_location(p, &entry, &source, 0);
		stack = location ? writer_stack(p->w, stack, location) : stack;
	}
	return stack;
}

/*
 * The symbols of modules: functions of addresses, and what is inlined there.
 *
 * Several lines of one address are the functions that are inlined in each other, the innermost
 * first: the last one is that of the function which the address belongs to. A stack with such an
 * address has a frame for each. As symbols may come after the stacks, these frames are added when
 * the rows are written.
 *
 * Source: protos/perfetto/trace/profiling/profile_common.proto of the project perfetto, and the
 * order of the table stack_profile_symbol of its trace processor.
 */

enum { LINES_MOST = 64 }; /* of one address; the innermost ones beyond are left out */

/* What the symbols of a module are found by. */
struct symbol_key {
	uint64_t address;
	uint32_t module, zero; /* string of the build-id, or else of the path */
};

static struct perfetto_source_location perfetto_read_line(struct perfetto *p,
							  struct protobuf_view message)
{
	struct perfetto_source_location line = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case INLINE_FUNCTION: line.function = perfetto_text(p, f.bytes); break;
		case INLINE_FILE: line.file = perfetto_text(p, f.bytes); break;
		case INLINE_LINE: line.line = (uint32_t)f.value; break;
		}
	return line;
}

/* Take the message AddressSymbols. */
static int take_symbol(struct perfetto *p, uint32_t module, struct protobuf_view message)
{
	struct symbol_key key = {.module = module};
	struct buffer *all = &p->modules.symbols;
	struct perfetto_source_location line = {0};
	struct protobuf_view rest = message;
	struct protobuf_field f;
	size_t at = all->size;
	uint64_t lines = 0, kept = 0;
	uint32_t *number;

	while (protobuf_next(&rest, &f) > 0) {
		if (f.number == SYMBOLS_AT)
			key.address = f.value;
		lines += f.number == SYMBOLS_LINE && f.wire == PROTOBUF_LENGTH;
	}
	if (buffer_u64(all, 0))
		return -1;
	for (rest = message; protobuf_next(&rest, &f) > 0;) {
		if (f.number != SYMBOLS_LINE || f.wire != PROTOBUF_LENGTH || lines-- > LINES_MOST)
			continue;
		line = perfetto_read_line(p, f.bytes);
		if (buffer_append(all, &line, sizeof line))
			return -1;
		kept++;
	}
	/* that of the function */
	if (!line.function) {
		all->size = at;
		return 0;
	}
	put_u64(all->data + at, kept);
	number = id_cache_number(&p->modules.symbol_numbers, &key, sizeof key);
	if (!number)
		return -1;
	*number = (uint32_t)(at / 4) + 1;
	return 0;
}

int perfetto_module_symbols(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload;
	struct buffer *b = &p->scratch.text;
	uint32_t path = 0, build_id = 0;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0) {
		size_t n = protobuf_size(f.bytes);

		b->size = 0;
		if (f.number == MODULE_PATH)
			path = perfetto_text(p, f.bytes);
		if (f.number != MODULE_BUILD_ID || !n || n > BUILD_ID_MOST)
			continue;
		if (buffer_hex_bytes(b, f.bytes.at, n))
			return -1;
		build_id = writer_string(p->w, b->data, b->size);
	}
	rest = packet->payload;
	while (protobuf_next(&rest, &f) > 0)
		if (f.number == MODULE_SYMBOLS && f.wire == PROTOBUF_LENGTH &&
		    take_symbol(p, build_id ? build_id : path, f.bytes))
			return -1;
	return 0;
}

/* --- names of addresses --- */

/* Declare the functions that are inlined at an address, for the stacks with its location. */
static int inline_functions(struct perfetto *p, const struct perfetto_unnamed *u,
			    const uint8_t *lines, uint32_t n)
{
	struct perfetto_modules *m = &p->modules;
	uint32_t *inlined;
	size_t at = m->chains.size;

	if (ARRAY_REACH(m->inlined, m->ninlined, u->location) || buffer_u32(&m->chains, n))
		return -1;
	inlined = m->inlined;
	while (n-- > 0) {
		struct location_entry entry = {.space = u->space, .address = u->address};
		struct perfetto_source_location line;
		uint32_t location;

		memcpy(&line, lines + n * sizeof line, sizeof line);
		entry.name = line.function ? line.function : writer_text(p->w, "?");
		location = perfetto_named_location(p, &entry, &line, u->path);
		if (!location || buffer_u32(&m->chains, location))
			return -1;
	}
	inlined[u->location] = (uint32_t)(at / 4) + 1;
	return 0;
}

static int perfetto_name_frames(struct perfetto *p)
{
	struct perfetto_modules *m = &p->modules;

	for (size_t at = 0; at < m->unnamed.size; at += sizeof(struct perfetto_unnamed)) {
		struct perfetto_source_location line;
		struct perfetto_unnamed u;
		struct symbol_key key = {0};
		struct location_entry entry;
		const uint8_t *symbol;
		uint32_t number, lines;

		memcpy(&u, m->unnamed.data + at, sizeof u);
		key.address = u.address;
		key.module = u.module;
		number = intern_find(&m->symbol_numbers.keys, &key, sizeof key);
		if (number == INTERN_NONE)
			continue;
		symbol = m->symbols.data + (size_t)(m->symbol_numbers.numbers[number] - 1) * 4;
		lines = (uint32_t)get_u64(symbol) - 1;
		symbol += 8;
		memcpy(&line, symbol + lines * sizeof line, sizeof line);
		entry = (struct location_entry){.address = u.address, .name = line.function};
		if (perfetto_name_location(p, u.location, &entry, &line, 0) ||
		    (lines && inline_functions(p, &u, symbol, lines)))
			return -1;
	}
	return 0;
}

/* --- stacks --- */

/* Add a frame to a stack, and after it those of its inlined functions. */
static uint32_t perfetto_add_frames(struct perfetto *p, uint32_t stack, uint32_t location)
{
	const struct perfetto_modules *m = &p->modules;
	uint32_t at = location < m->ninlined ? m->inlined[location] : 0;
	const uint8_t *chain = at ? m->chains.data + (size_t)(at - 1) * 4 : NULL;

	stack = writer_stack(p->w, stack, location);
	for (uint32_t i = 0; stack && chain && i < get_u32(chain); i++)
		stack = writer_stack(p->w, stack, get_u32(chain + 4 + (size_t)4 * i));
	return stack;
}

int perfetto_add_inlined(struct perfetto *p, uint32_t *stack)
{
	struct perfetto_modules *m = &p->modules;
	struct buffer *open = &p->scratch.key;
	uint32_t caller = *stack, *full;

	if (!m->ninlined || !*stack)
		return 0;
	if (ARRAY_REACH(m->full, m->nfull, *stack))
		return -1;
	full = m->full;
	/* the callers whose stacks are not yet known */
	for (open->size = 0; caller && !full[caller]; caller = writer_stack_at(p->w, caller).parent)
		if (buffer_u32(open, caller))
			return -1;
	caller = caller ? full[caller] : 0;
	for (size_t at = open->size; at > 0; at -= 4) {
		uint32_t id = get_u32(open->data + at - 4);

		caller = perfetto_add_frames(p, caller, writer_stack_at(p->w, id).location);
		if (!caller)
			return -1;
		full[id] = caller;
	}
	*stack = caller;
	return 0;
}

static void perfetto_modules_free(struct perfetto_modules *m)
{
	id_cache_free(&m->mapping_numbers);
	id_cache_free(&m->frames);
	id_cache_free(&m->symbol_numbers);
	buffer_free(&m->mappings);
	buffer_free(&m->unnamed);
	buffer_free(&m->symbols);
	buffer_free(&m->chains);
	free(m->inlined);
	free(m->full);
}

/* --- samples of call stacks: of perf, and of Chrome's profiler --- */

/* Return the name of an event, by enum PerfEvents.Counter. NULL: it is not known. */
static const char *counter_name(uint64_t number)
{
	static const char *const counters[] = {NULL,
					       "cpu-clock",
					       "page-faults",
					       "task-clock",
					       "context-switches",
					       "cpu-migrations",
					       "minor-faults",
					       "major-faults",
					       "alignment-faults",
					       "emulation-faults",
					       "cpu-cycles",
					       "instructions",
					       "cache-references",
					       "cache-misses",
					       "branch-instructions",
					       "branch-misses",
					       "bus-cycles",
					       "stalled-cycles-frontend",
					       "stalled-cycles-backend",
					       "ref-cycles",
					       "dummy"};

	return number < sizeof counters / sizeof *counters ? counters[number] : NULL;
}

/* Get the name of a tracepoint: a string of the writer, or 0. */
static uint32_t tracepoint_name(struct perfetto *p, struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t name = 0;

	while (protobuf_next(&message, &f) > 0)
		if (f.number == TRACEPOINT_NAME)
			name = perfetto_text(p, f.bytes);
	return name;
}

/* Add the name of a counter that is read with each sample. */
static void read_follower(struct perfetto *p, struct perfetto_defaults *d,
			  struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t name = 0, own = 0;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case FOLLOWER_NAME: own = perfetto_text(p, f.bytes); break;
		case FOLLOWER_TRACEPOINT: name = tracepoint_name(p, f.bytes); break;
		case FOLLOWER_COUNTER:
			if (counter_name(f.value))
				name = writer_text(p->w, counter_name(f.value));
			break;
		}
	if (d->nfollowers < PERFETTO_EXTRA)
		d->followers[d->nfollowers++] = own ? own : name;
}

/* Read the event that a timebase counts: its name and period. */
static void read_timebase(struct perfetto *p, struct perfetto_defaults *d,
			  struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t name = 0;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case TIMEBASE_PERIOD: d->period = f.value; break;
		case TIMEBASE_NAME: name = perfetto_text(p, f.bytes); break;
		case TIMEBASE_COUNTER:
			if (counter_name(f.value))
				d->sample_name = writer_text(p->w, counter_name(f.value));
			break;
		case TIMEBASE_TRACEPOINT: d->sample_name = tracepoint_name(p, f.bytes); break;
		}
	if (name)
		d->sample_name = name;
}

int perfetto_sample_defaults(struct perfetto *p, struct perfetto_sequence *s,
			     struct protobuf_view message)
{
	struct protobuf_field f;

	s->defaults.nfollowers = 0;
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case SAMPLE_TIMEBASE: read_timebase(p, &s->defaults, f.bytes); break;
		case SAMPLE_FOLLOWER: read_follower(p, &s->defaults, f.bytes); break;
		}
	return 0;
}

/* Get what the counter of a sample has counted since the sample before on the CPU, or from 0 if the
 * counter began again. cpu: -1, unknown. */
static int counted_weight(struct perfetto *p, const struct perfetto_sequence *s, int32_t cpu,
			  uint64_t count, uint64_t *weight)
{
	struct buffer *counts = &p->counts.sample_counts;
	uint32_t key[2] = {s->number, (uint32_t)cpu};
	uint32_t *number = id_cache_number(&p->counts.sample_cpus, key, sizeof key);
	uint64_t before;

	if (!number || (!*number && buffer_u64(counts, 0)))
		return -1;
	if (!*number)
		*number = (uint32_t)(counts->size / 8);
	before = get_u64(counts->data + 8 * (*number - 1));
	put_u64(counts->data + 8 * (*number - 1), count);
	*weight = count >= before ? count - before : count;
	return 0;
}

/* Keep the other counters of a sample, as the CPU had counted them. */
static int keep_followers(struct perfetto *p, const struct perfetto_sequence *s, uint64_t time,
			  int32_t cpu, struct protobuf_view rest)
{
	struct protobuf_field f;
	unsigned n = 0;
	uint64_t value;

	while (protobuf_next(&rest, &f) > 0) {
		struct protobuf_view list = f.bytes;

		while (f.number == SAMPLE_FOLLOWERS && protobuf_each(&f, &list, &value)) {
			uint32_t name = n < s->defaults.nfollowers ? s->defaults.followers[n] : 0;
			char unnamed[32];

			snprintf(unnamed, sizeof unnamed, "follower %u", ++n);
			if (perfetto_keep_counter(
				    p, time, &(struct perfetto_counter_of){unnamed, -1, cpu, name},
				    value))
				return -1;
		}
	}
	return 0;
}

int perfetto_sample(struct perfetto *p, struct perfetto_sequence *s,
		    const struct perfetto_packet *packet)
{
	struct perfetto_loss loss = {.offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_EVENTS};
	struct perfetto_record r = {.kind = PERFETTO_SAMPLE, .flags = PERFETTO_VALUE};
	struct perfetto_track_key key = {
		.kind = PERFETTO_OF_THREAD, .pid = -1, .tid = -1, .cpu = -1};
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f;
	uint64_t count = 0, weight = 1;
	bool producer = false, has_followers = false, has_count = false;
	int32_t cpu;

	while (protobuf_next(&rest, &f) > 0)
		switch (f.number) {
		case SAMPLE_CPU:
			r.cpu = (uint16_t)f.value;
			r.flags |= PERFETTO_HAS_CPU;
			break;
		case SAMPLE_PID: key.pid = f.value <= INT32_MAX ? (int32_t)f.value : -1; break;
		case SAMPLE_TID: key.tid = f.value <= INT32_MAX ? (int32_t)f.value : -1; break;
		case SAMPLE_CALLSTACK:
			r.stack = perfetto_interned(p, s, OF_CALLSTACK, f.value);
			break;
		case SAMPLE_COUNT:
			has_count = true;
			count = f.value;
			break;
		case SAMPLE_LOST: loss.count = f.value; break;
		case SAMPLE_SKIPPED: loss.reason = GAP_UNREAD; break;
		case SAMPLE_PRODUCER: producer = true; break;
		case SAMPLE_FOLLOWERS: has_followers = true; break;
		}
	cpu = r.flags & PERFETTO_HAS_CPU ? r.cpu : -1;
	p->scratch.arguments.size = 0;
	if (loss.count || loss.reason == GAP_UNREAD) {
		loss.count = loss.count ? loss.count : 1;
		return perfetto_keep_gap(p, packet->time, &loss, cpu);
	}
	if (producer)
		return 0;
	if ((has_followers && keep_followers(p, s, packet->time, cpu, packet->payload)) ||
	    (has_count && counted_weight(p, s, cpu, count, &weight)))
		return -1;
	if (s->defaults.period) {
		/* only a count that the period shows is in the stream */
		p->counts.left_out[MESSAGE_PERF_SAMPLE][SAMPLE_COUNT] +=
			has_count && weight != s->defaults.period;
		weight = s->defaults.period;
	}
	r.track = perfetto_other_track(p, &key) - 1;
	r.name = s->defaults.sample_name ? s->defaults.sample_name : writer_text(p->w, "samples");
	return r.track == UINT32_MAX ? -1 : perfetto_keep(p, packet->time, &r, weight);
}

/* Add a delta of microseconds to a time. Returns false if the result is out of range. */
static bool add_delta(uint64_t *time, int64_t us)
{
	int64_t ns;

	return !__builtin_mul_overflow(us, (int64_t)1000, &ns) &&
	       !__builtin_add_overflow(*time, ns, time) && *time < TIME_LIMIT;
}

static int perfetto_streaming_profile(struct perfetto *p, struct perfetto_sequence *s,
				      const struct perfetto_packet *packet)
{
	struct perfetto_record r = {.kind = PERFETTO_SAMPLE, .flags = PERFETTO_VALUE};
	struct protobuf_view rest = packet->payload, list;
	struct protobuf_field f;
	struct buffer *deltas = &p->scratch.key, *stacks = &p->scratch.text;
	uint64_t n, time = packet->time;
	size_t nstacks, ndeltas;

	deltas->size = stacks->size = 0;
	while (protobuf_next(&rest, &f) > 0) {
		struct buffer *to = f.number == STREAMING_CALLSTACK ? stacks
				    : f.number == STREAMING_DELTA   ? deltas
								    : NULL;

		for (list = f.bytes; to && protobuf_each(&f, &list, &n);)
			if (buffer_u64(to, n))
				return -1;
	}
	if (!s->has_thread)
		r.track = perfetto_track(p, s->defaults.track) - 1;
	else
		r.track = s->thread_track - 1;
	if (r.track == UINT32_MAX)
		return -1;
	if (!packet->has_time && !perfetto_time_us(p, s, s->time, &time))
		return 0;
	r.name = writer_text(p->w, "cpu_profile");
	nstacks = stacks->size / 8;
	ndeltas = deltas->size / 8;
	for (size_t i = 0; i < nstacks; i++) {
		int64_t us = i < ndeltas ? (int64_t)get_u64(p->scratch.key.data + 8 * i) : 0;

		if (!add_delta(&time, us)) {
			p->counts.wrong_times++;
			return 0;
		}
		if (!packet->has_time)
			s->time = add_wrapping(s->time, us);
		r.stack = perfetto_interned(p, s, OF_CALLSTACK,
					    get_u64(p->scratch.text.data + 8 * i));
		p->scratch.arguments.size = 0;
		/* the record is made in other buffers */
		if (perfetto_keep_data(p, (struct sorter_key){time, PERFETTO_ORDER}, &r,
				       &(uint64_t){1}, sizeof(uint64_t)))
			return -1;
	}
	return 0;
}

/*
 * Profiles of heaps: samples of call stacks that weigh the bytes allocated by them.
 *
 * A dump has the totals of each call stack since the profile began. So that the samples of all
 * dumps add up, a sample has the difference to the dump before, of the same process, heap and
 * stack.
 *
 * Source: protos/perfetto/trace/profiling/profile_packet.proto of the project perfetto.
 */

/* ProfilePacket (its tables are in perfetto.h), ProcessHeapSamples, HeapSample */
enum {
	PROFILE_DUMP = 5,
	DUMP_PID = 1,
	DUMP_SAMPLE = 2,
	DUMP_CONCURRENT = 4,
	DUMP_BUFFER_OVERRAN = 7,
	DUMP_TIME = 9,
	DUMP_HEAP_NAME = 11,
	HEAP_CALLSTACK = 1,
	HEAP_ALLOCATED = 2,
	HEAP_FREED = 3,
	HEAP_ALLOCATIONS = 5,
	HEAP_FREES = 6,
	HEAP_MAX = 8,
	HEAP_MAX_ALLOCATIONS = 9,
};

/* The totals of a call stack: bytes, and numbers of calls. */
enum { ALLOCATED, ALLOCATIONS, FREED, FREES, TOTALS };

/* A dump of one process. */
struct heap_dump {
	struct perfetto_sequence *s;
	uint64_t time;
	int32_t pid;
	uint32_t heap; /* string of the writer: its name */
	uint32_t track;
};

/* Replace totals by their differences to those of the dump before. A total that is less began
 * again. */
static int subtract_before(struct perfetto *p, const struct heap_dump *d, uint32_t stack,
			   uint64_t totals[TOTALS])
{
	struct buffer *all = &p->heaps.totals;
	uint32_t key[] = {d->s->number, (uint32_t)d->pid, d->heap, stack};
	uint32_t *number = id_cache_number(&p->heaps.numbers, key, sizeof key);
	uint8_t *before;

	if (!number)
		return -1;
	if (!*number) {
		for (unsigned i = 0; i < TOTALS; i++)
			if (buffer_u64(all, 0))
				return -1;
		*number = (uint32_t)(all->size / (8 * TOTALS));
	}
	before = all->data + (size_t)(*number - 1) * 8 * TOTALS;
	for (unsigned i = 0; i < TOTALS; i++) {
		uint64_t total = totals[i], had = get_u64(before + 8 * i);

		put_u64(before + 8 * i, total);
		totals[i] = total >= had ? total - had : total;
	}
	return 0;
}

static int perfetto_keep_sample(struct perfetto *p, const struct heap_dump *d,
				struct protobuf_view message)
{
	struct perfetto_record r = {
		.kind = PERFETTO_HEAP, .track = d->track, .name = d->heap, .stack = 0};
	uint64_t totals[TOTALS] = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case HEAP_CALLSTACK:
			r.stack = perfetto_interned(p, d->s, OF_CALLSTACK, f.value);
			break;
		case HEAP_ALLOCATED:
		case HEAP_MAX: totals[ALLOCATED] = f.value; break;
		case HEAP_FREED: totals[FREED] = f.value; break;
		case HEAP_ALLOCATIONS:
		case HEAP_MAX_ALLOCATIONS: totals[ALLOCATIONS] = f.value; break;
		case HEAP_FREES: totals[FREES] = f.value; break;
		}
	if (subtract_before(p, d, r.stack, totals))
		return -1;
	if (!totals[ALLOCATED] && !totals[ALLOCATIONS] && !totals[FREED] && !totals[FREES])
		return 0;
	return perfetto_keep_data(p, (struct sorter_key){d->time, PERFETTO_ORDER}, &r, totals,
				  sizeof totals);
}

static int perfetto_read_dump(struct perfetto *p, struct perfetto_sequence *s, uint64_t time,
			      struct protobuf_view message)
{
	struct perfetto_loss loss = {
		.count = UINT64_MAX, .offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_EVENTS};
	struct heap_dump d = {.s = s, .time = time, .pid = -1, .heap = writer_text(p->w, "malloc")};
	struct perfetto_track_key key = {.kind = PERFETTO_OF_PROCESS, .tid = -1, .cpu = -1};
	struct protobuf_view rest = message;
	struct protobuf_field f;
	bool has_time = false, lost = false;

	while (protobuf_next(&rest, &f) > 0)
		switch (f.number) {
		case DUMP_PID: d.pid = f.value <= INT32_MAX ? (int32_t)f.value : -1; break;
		case DUMP_CONCURRENT:
		case DUMP_BUFFER_OVERRAN: lost |= f.value != 0; break;
		case DUMP_TIME:
			d.time = f.value;
			has_time = f.value;
			break;
		case DUMP_HEAP_NAME:
			if (protobuf_size(f.bytes))
				d.heap = perfetto_text(p, f.bytes);
			break;
		}
	if (has_time && !perfetto_time(p, s, CLOCK_MONOTONIC_COARSE_ID, &d.time))
		return 0;
	if (!has_time)
		d.time = time;
	if (lost && perfetto_keep_gap(p, d.time, &loss, -1))
		return -1;
	key.pid = d.pid;
	d.track = perfetto_other_track(p, &key) - 1;
	if (d.track == UINT32_MAX || !d.heap)
		return -1;
	while (protobuf_next(&message, &f) > 0)
		if (f.number == DUMP_SAMPLE && f.wire == PROTOBUF_LENGTH &&
		    perfetto_keep_sample(p, &d, f.bytes))
			return -1;
	return 0;
}

int perfetto_heap_profile(struct perfetto *p, struct perfetto_sequence *s,
			  const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f;

	if (perfetto_profile_tables(p, s, rest))
		return -1;
	while (protobuf_next(&rest, &f) > 0)
		if (f.number == PROFILE_DUMP && f.wire == PROTOBUF_LENGTH &&
		    perfetto_read_dump(p, s, packet->time, f.bytes))
			return -1;
	return 0;
}

/* --- rows --- */

static uint32_t heap_type(struct perfetto *p, uint32_t heap)
{
	static const struct {
		const char *name;
		enum field_kind kind;
		enum field_role role;
	} fields[] = {[ALLOCATED] = {"allocated", FIELD_UINT, ROLE_PERIOD},
		      [ALLOCATIONS] = {"allocations", FIELD_UINT, ROLE_COUNT},
		      [FREED] = {"freed", FIELD_UINT, ROLE_WEIGHT},
		      [FREES] = {"frees", FIELD_UINT, ROLE_NONE},
		      [TOTALS] = {"unreleased", FIELD_INT, ROLE_WEIGHT}};
	struct field_entry entries[TOTALS + 1];
	uint32_t key[] = {'h', heap}, *id = id_cache_number(&p->types.ids, &key, sizeof key);

	if (!id || *id)
		return id ? *id : 0;
	for (unsigned i = 0; i <= TOTALS; i++)
		entries[i] = (struct field_entry){.name = writer_text(p->w, fields[i].name),
						  .kind = fields[i].kind,
						  .role = fields[i].role,
						  .offset = 8 * i,
						  .size = 8};
	*id = writer_type(p->w, &(struct type_entry){.source = p->source,
						     .name = heap,
						     .group = writer_text(p->w, "heap"),
						     .kind = KIND_SAMPLE,
						     .native = 'H',
						     .fixed_size = 8 * (TOTALS + 1),
						     .nfields = TOTALS + 1,
						     .fields = entries});
	return *id && row_filter_announce(p->input->decoding->row_filter, *id, 0) ? 0 : *id;
}

int perfetto_heap_row(struct perfetto *p, const struct perfetto_track *t,
		      const struct perfetto_record *rec, uint64_t time, const uint8_t *data)
{
	uint8_t fixed[8 * (TOTALS + 1)];
	struct new_row r = {.time = merge_shifted(time, p->input->shift),
			    .lane = t->lane,
			    .type = heap_type(p, rec->name),
			    .location = rec->stack,
			    .fixed = fixed,
			    .fixed_size = sizeof fixed};
	uint64_t totals[TOTALS];

	memcpy(totals, data, sizeof totals);
	for (unsigned i = 0; i < TOTALS; i++)
		put_u64(fixed + 8 * i, totals[i]);
	put_u64(fixed + 8 * TOTALS, totals[ALLOCATED] - totals[FREED]);
	return r.type && r.lane ? writer_sample(p->w, r) : -1;
}

/*
 * Android's timeline of frames: when a frame was expected to begin and end, and when it did. A
 * frame is an asynchronous call of its process; its end has the cookie of its begin.
 *
 * Source: protos/perfetto/trace/android/frame_timeline_event.proto of the project perfetto.
 */

/* FrameTimelineEvent, and FrameEnd; the begins have the cookie in the same field */
enum { FRAME_COOKIE = 1, FRAME_KINDS = 5, FRAME_END = 5, FRAME_FIELDS = 13 };

/* What a field is. */
enum frame_form {
	FRAME_NONE,
	FRAME_NUMBER,
	FRAME_BOOL,
	FRAME_TEXT,
	FRAME_PRESENT, /* a number of an enum */
	FRAME_PREDICTION,
	FRAME_SEVERITY,
	FRAME_JANK, /* bits of an enum */
	FRAME_PID,
};

static const char *const present_types[] = {"UNSPECIFIED", "ON_TIME", "LATE",
					    "EARLY",	   "DROPPED", "UNKNOWN"};
static const char *const prediction_types[] = {"UNSPECIFIED", "VALID", "EXPIRED", "UNKNOWN"};
static const char *const severity_types[] = {"UNKNOWN", "NONE", "PARTIAL", "FULL"};
static const char *const jank_types[] = {"NONE",
					 "SF_SCHEDULING",
					 "PREDICTION_ERROR",
					 "DISPLAY_HAL",
					 "SF_CPU_DEADLINE_MISSED",
					 "SF_GPU_DEADLINE_MISSED",
					 "APP_DEADLINE_MISSED",
					 "BUFFER_STUFFING",
					 "UNKNOWN",
					 "SF_STUFFING",
					 "DROPPED",
					 "NON_ANIMATING",
					 "APP_RESYNCED_JITTER",
					 "DISPLAY_NOT_ON",
					 "DISPLAY_MODE_CHANGE_IN_PROGRESS",
					 "DISPLAY_POWER_MODE_CHANGE_IN_PROGRESS"};

static const struct frame_names {
	const char *const *names;
	unsigned count;
} frame_names[] = {
	[FRAME_PRESENT] = {present_types, sizeof present_types / sizeof *present_types},
	[FRAME_PREDICTION] = {prediction_types, sizeof prediction_types / sizeof *prediction_types},
	[FRAME_SEVERITY] = {severity_types, sizeof severity_types / sizeof *severity_types},
	[FRAME_JANK] = {jank_types, sizeof jank_types / sizeof *jank_types},
};

struct frame_field {
	const char *name;
	enum frame_form form;
};

/* The fields of the begins, by number. */
static const struct frame_field display_fields[FRAME_FIELDS] = {
	[2] = {"token", FRAME_NUMBER},
	[3] = {"pid", FRAME_PID},
	[4] = {"present_type", FRAME_PRESENT},
	[5] = {"on_time_finish", FRAME_BOOL},
	[6] = {"gpu_composition", FRAME_BOOL},
	[7] = {"jank_type", FRAME_JANK},
	[8] = {"prediction_type", FRAME_PREDICTION},
	[9] = {"jank_severity_type", FRAME_SEVERITY},
};
static const struct frame_field surface_fields[FRAME_FIELDS] = {
	[2] = {"token", FRAME_NUMBER},
	[3] = {"display_frame_token", FRAME_NUMBER},
	[4] = {"pid", FRAME_PID},
	[5] = {"layer_name", FRAME_TEXT},
	[6] = {"present_type", FRAME_PRESENT},
	[7] = {"on_time_finish", FRAME_BOOL},
	[8] = {"gpu_composition", FRAME_BOOL},
	[9] = {"jank_type", FRAME_JANK},
	[10] = {"prediction_type", FRAME_PREDICTION},
	[11] = {"is_buffer", FRAME_BOOL},
	[12] = {"jank_severity_type", FRAME_SEVERITY},
};

/* The messages of FrameTimelineEvent, by number. */
static const struct frame_kind {
	const char *name;
	const struct frame_field *fields;
} frame_kinds[FRAME_KINDS] = {
	[1] = {"expected display frame", display_fields},
	[2] = {"actual display frame", display_fields},
	[3] = {"expected surface frame", surface_fields},
	[4] = {"actual surface frame", surface_fields},
};

/* Add the argument of an enum: its name, or the names of its bits, else the number. */
static int perfetto_add_names(struct perfetto *p, const struct frame_field *of, uint64_t number)
{
	const struct frame_names *n = &frame_names[of->form];
	struct buffer *b = &p->scratch.text;
	uint32_t string;

	b->size = 0;
	if (of->form != FRAME_JANK) {
		if (number >= n->count)
			return perfetto_argument_uint(p, of->name, number);
		string = writer_text(p->w, n->names[number]);
		return string ? perfetto_argument_string(p, of->name, string) : -1;
	}
	if (!number || number >> n->count)
		return perfetto_argument_uint(p, of->name, number);
	for (unsigned i = 0; i < n->count; i++)
		if (number >> i & 1 &&
		    ((b->size && buffer_u8(b, '|')) || buffer_puts(b, n->names[i])))
			return -1;
	string = writer_string(p->w, b->data, b->size);
	return string ? perfetto_argument_string(p, of->name, string) : -1;
}

static int add_argument(struct perfetto *p, const struct frame_field *of,
			const struct protobuf_field *f)
{
	uint32_t string;

	switch (of->form) {
	case FRAME_NONE:
	case FRAME_PID: return 0;
	case FRAME_NUMBER: return perfetto_argument_int(p, of->name, (int64_t)f->value);
	case FRAME_BOOL: return perfetto_argument_bool(p, of->name, f->value);
	case FRAME_TEXT:
		string = perfetto_text(p, f->bytes);
		return string ? perfetto_argument_string(p, of->name, string) : 0;
	default: return perfetto_add_names(p, of, f->value);
	}
}

/* Keep the begin or the end of a frame: a message of that number. */
static int keep_frame(struct perfetto *p, const struct perfetto_packet *packet, uint32_t number,
		      struct protobuf_view message)
{
	const struct frame_kind *kind = number == FRAME_END ? NULL : &frame_kinds[number];
	struct perfetto_track_key track = {
		.kind = PERFETTO_OF_PROCESS, .pid = -1, .tid = -1, .cpu = -1};
	struct perfetto_track_key key = {.kind = PERFETTO_OF_FRAME};
	struct perfetto_record r = {.kind = kind ? PERFETTO_ID_BEGIN : PERFETTO_ID_END};
	struct protobuf_field f;

	p->scratch.arguments.size = 0;
	while (protobuf_next(&message, &f) > 0) {
		const struct frame_field *of =
			kind && f.number < FRAME_FIELDS ? &kind->fields[f.number] : NULL;

		if (f.number == FRAME_COOKIE)
			key.id = f.value;
		else if (of && of->form == FRAME_PID && f.value <= INT32_MAX)
			track.pid = (int32_t)f.value;
		else if (!of || of->form == FRAME_NONE)
			perfetto_check_field(p, MESSAGE_FRAME_TIMELINE + number, &f);
		else if (add_argument(p, of, &f))
			return -1;
	}
	if (kind) {
		r.name = writer_text(p->w, kind->name);
		r.category = writer_text(p->w, "frame_timeline");
		p->async.frames = perfetto_other_track(p, &track);
		if (!p->async.frames)
			return -1;
	} else if (!p->async.frames) {
		p->counts.unopened++;
		return 0;
	}
	/* an end is on the track of its begin, whichever it has here */
	r.track = p->async.frames - 1;
	return perfetto_keep_id(p, packet->time, &r, &key);
}

int perfetto_frame_timeline(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0)
		if (f.number > FRAME_END || f.wire != PROTOBUF_LENGTH)
			perfetto_check_field(p, MESSAGE_FRAME_TIMELINE, &f);
		else if (keep_frame(p, packet, f.number, f.bytes))
			return -1;
	return 0;
}

/* --- reads the packets of a trace, and passes each to the file that knows its payload --- */

enum { ZSTD_WINDOW_LOG = 27 }; /* 128 MiB */

void perfetto_damage(struct perfetto *p, const struct perfetto_packet *packet, const char *what)
{
	input_damage(p->input, p->input->name, packet->offset, "%s", what);
}

/* --- packets --- */

static int count_kind(struct perfetto *p, uint32_t kind)
{
	struct perfetto_counts *n = &p->counts;
	uint32_t *number;

	n->packets++;
	if (kind < PERFETTO_KINDS) {
		n->kinds[kind]++;
		return 0;
	}
	number = id_cache_number(&n->far_kinds, &kind, sizeof kind);
	if (!number || (!*number && buffer_u64(&n->far, 0)))
		return -1;
	if (!*number)
		*number = (uint32_t)(n->far.size / 8);
	put_u64(n->far.data + 8 * (*number - 1), get_u64(n->far.data + 8 * (*number - 1)) + 1);
	return 0;
}

/* Take a payload: of several, the one that is read. Returns false if a packet cannot have it. */
static bool perfetto_take_payload(struct perfetto_packet *packet, const struct protobuf_field *f)
{
	if (packet->kind) {
		bool first_read = packet_is_read(packet->kind);

		/* garbage has any number */
		if ((first_read && packet_is_read(f->number)) || !packet_is_payload(f->number) ||
		    !packet_is_payload(packet->kind))
			return false;
		packet->has_more = true;
		if (first_read || !packet_is_read(f->number))
			return true;
	}
	packet->kind = f->number;
	packet->payload = f->bytes;
	return true;
}

/* Take the fields of a packet. Returns false if the message is damaged. */
static bool take_fields(struct protobuf_view message, struct perfetto_packet *packet)
{
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&message, &f)) > 0) {
		bool is_message = f.wire == PROTOBUF_LENGTH;

		switch (f.number) {
		case PACKET_TIMESTAMP:
			packet->time = f.value;
			packet->has_time = true;
			break;
		case PACKET_SEQUENCE_ID: packet->sequence = (uint32_t)f.value; break;
		case PACKET_SEQUENCE_FLAGS: packet->flags = (uint32_t)f.value; break;
		case PACKET_CLOCK_ID: packet->clock = (uint32_t)f.value; break;
		case PACKET_STATE_CLEARED: packet->cleared = f.value; break;
		case PACKET_PREVIOUS_DROPPED: packet->dropped = f.value; break;
		case PACKET_FIRST: packet->first = f.value; break;
		case PACKET_MACHINE: packet->machine = (uint32_t)f.value; break;
		case PACKET_UID:
		case PACKET_PID: break;
		case PACKET_INTERNED_DATA:
			packet->has_interned = true;
			packet->interned = f.bytes;
			if (!is_message)
				return false;
			break;
		case PACKET_DEFAULTS:
			packet->has_defaults = true;
			packet->defaults = f.bytes;
			if (!is_message)
				return false;
			break;
		default:
			/* a number of a later version; garbage has any */
			if (!is_message && f.number < PERFETTO_KINDS) {
				packet->others++;
				break;
			}
			if (!is_message || !perfetto_take_payload(packet, &f))
				return false;
		}
	}
	return !got;
}

/* Count the payloads of a packet beside the one that is taken. */
static int count_more(struct perfetto *p, const struct perfetto_packet *packet,
		      struct protobuf_view message)
{
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		if (f.wire == PROTOBUF_LENGTH && packet_is_payload(f.number) &&
		    f.bytes.at != packet->payload.at) {
			if (count_kind(p, f.number))
				return -1;
			p->counts.packets--;
		}
	return 0;
}

static int perfetto_read_packed(struct perfetto *p, const struct perfetto_packet *packet);

/* Test for a payload that describes something, at whatever time. */
static bool is_description(uint32_t kind)
{
	switch (kind) {
	case PACKET_TRACK_DESCRIPTOR:
	case PACKET_THREAD_DESCRIPTOR:
	case PACKET_PROCESS_DESCRIPTOR:
	case PACKET_PROCESS_TREE:
	case PACKET_PACKAGES:
	case PACKET_MODULE_SYMBOLS:
	case PACKET_TRACE_CONFIG: return true;
	}
	return false;
}

/* Test for a packet whose time is used: a description needs none, and its clock may be unknown. */
static bool packet_has_time(struct perfetto *p, struct perfetto_sequence *s,
			    const struct perfetto_packet *packet)
{
	if (!packet->has_time || packet->kind == PACKET_FTRACE)
		return false;
	return packet->kind == PACKET_TRACK_EVENT || !is_description(packet->kind) ||
	       perfetto_clock_usable(p, s, packet->clock ? packet->clock : s->defaults.clock);
}

/* Pass the payload on. */
static int payload_read(struct perfetto *p, struct perfetto_sequence *s,
			struct perfetto_packet *packet)
{
	/* events with a track may have an older form of time */
	if (packet_has_time(p, s, packet)) {
		uint32_t clock = packet->clock ? packet->clock : s->defaults.clock;

		if (perfetto_time(p, s, clock ? clock : CLOCK_BOOTTIME_ID, &packet->time))
			s->last_time = packet->time;
		else if (is_description(packet->kind))
			packet->time = s->last_time;
		else
			return 0;
	} else if (packet->kind != PACKET_TRACK_EVENT) {
		packet->time = s->last_time;
	}
	switch (packet->kind) {
	case PACKET_TRACK_EVENT: return perfetto_track_event(p, s, packet);
	case PACKET_FTRACE:
		return s->id == PERFETTO_DERIVED_SEQUENCE ? 0
							  : perfetto_ftrace_bundle(p, s, packet);
	case PACKET_TRACK_DESCRIPTOR: return perfetto_track_descriptor(p, s, packet);
	case PACKET_THREAD_DESCRIPTOR: return perfetto_thread_descriptor(p, s, packet);
	case PACKET_PROCESS_DESCRIPTOR: return perfetto_process_descriptor(p, packet);
	case PACKET_PROCESS_TREE: return perfetto_process_tree(p, packet);
	case PACKET_PERF_SAMPLE: return perfetto_sample(p, s, packet);
	case PACKET_STREAMING_PROFILE: return perfetto_streaming_profile(p, s, packet);
	case PACKET_TRACE_CONFIG: return 0;
	default: return perfetto_other_packet(p, s, packet);
	}
}

/* Read a message. *bad: it is no packet. */
static int packet_read(struct perfetto *p, struct protobuf_view message, uint64_t offset,
		       bool packed, bool *bad)
{
	struct perfetto_packet packet = {.offset = offset};
	struct perfetto_sequence *s;
	bool skip;

	*bad = !take_fields(message, &packet);
	if (*bad)
		return 0;
	p->counts.left_out[MESSAGE_PACKET][0] += packet.others;
	if (packet.has_more && count_more(p, &packet, message))
		return -1;
	if (packet.kind == PACKET_COMPRESSED || packet.kind == PACKET_ZSTD_COMPRESSED) {
		if (count_kind(p, packet.kind))
			return -1;
		if (!packed)
			return perfetto_read_packed(p, &packet);
		perfetto_damage(p, &packet, "compressed packets in compressed packets: left out");
		return 0;
	}
	if (packet.kind == PACKET_TRACK_EVENT && perfetto_is_plain(p, &packet)) {
		p->counts.packets++;
		p->counts.kinds[PACKET_TRACK_EVENT]++;
		return payload_read(p, p->recent_sequence, &packet);
	}
	if (count_kind(p, packet.kind) || perfetto_sequence(p, &packet, &s, &skip))
		return -1;
	if (!skip)
		perfetto_check_packet(p, &packet);
	if (packet.kind == PACKET_CLOCK_SNAPSHOT)
		return perfetto_take_clocks(p, s, &packet);
	return skip || !packet.kind ? 0 : payload_read(p, s, &packet);
}

/* Go on after bytes that are no packet. */
static int after_damage(struct perfetto *p, struct packet_reader *r, bool packed)
{
	struct perfetto_loss loss = {.offset = r->offset, .reason = GAP_DAMAGE, .unit = GAP_BYTES};

	if (packet_resync(r, p->counts.sequences, &loss.count, &p->error))
		return -1;
	if (packed)
		loss.offset = NO_OFFSET;
	p->scratch.arguments.size = 0;
	return perfetto_keep_gap(p, p->last, &loss, -1);
}

/* Read all packets. at: of compressed packets the offset of the packet that contains them. */
static int packets_read(struct perfetto *p, struct packet_reader *r,
			const struct perfetto_packet *packed)
{
	struct protobuf_view message;
	struct error e;
	enum packet_got got;
	size_t size;
	bool bad;

	while ((got = packet_next(r, &message, &size, &e)) != PACKET_ENDED) {
		uint64_t offset = packed ? packed->offset : r->offset;

		if (got == PACKET_FAILED) {
			p->error = e;
			return -1;
		}
		if (got == PACKET_GOT) {
			if (packet_read(p, message, offset, packed, &bad))
				return -1;
			if (!bad) {
				packet_skip(r, size);
				continue;
			}
			error_set(&e, p->input->name, offset, "no packet");
		}
		e.offset = offset;
		input_damage_error(p->input, &e);
		if (after_damage(p, r, packed))
			return -1;
	}
	return 0;
}

/* --- compressed packets --- */

struct packed_field {
	struct perfetto *p;
	const struct perfetto_packet *packet;
	z_stream zlib;
	ZSTD_DStream *zstd; /* NULL: the bytes are zlib's */
	ZSTD_inBuffer in;
	bool done;
};

static ssize_t perfetto_read_zlib(void *ctx, uint8_t *to, size_t n, struct error *e)
{
	struct packed_field *z = ctx;
	int got;

	(void)e;
	if (z->done)
		return 0;
	z->zlib.next_out = to;
	z->zlib.avail_out = (uInt)n;
	got = inflate(&z->zlib, Z_NO_FLUSH);
	z->done = got != Z_OK;
	if (got != Z_OK && got != Z_STREAM_END)
		perfetto_damage(z->p, z->packet, "compressed packets are damaged");
	return (ssize_t)(n - z->zlib.avail_out);
}

static ssize_t read_zstd(void *ctx, uint8_t *to, size_t n, struct error *e)
{
	struct packed_field *z = ctx;
	ZSTD_outBuffer out = {to, n, 0};
	size_t left = 0;

	(void)e;
	while (!z->done && !out.pos) {
		left = ZSTD_decompressStream(z->zstd, &out, &z->in);
		z->done = ZSTD_isError(left) || (z->in.pos == z->in.size && out.pos < out.size);
	}
	if (z->done && left)
		perfetto_damage(z->p, z->packet, "compressed packets are damaged");
	return (ssize_t)out.pos;
}

/* Prepare to unpack. Returns false when out of memory. */
static bool packed_begin(struct packed_field *z)
{
	const struct protobuf_view *in = &z->packet->payload;

	if (z->packet->kind == PACKET_COMPRESSED) {
		z->zlib.next_in = (Bytef *)(uintptr_t)in->at;
		z->zlib.avail_in = (uInt)protobuf_size(*in);
		return inflateInit(&z->zlib) == Z_OK;
	}
	z->in = (ZSTD_inBuffer){in->at, protobuf_size(*in), 0};
	z->zstd = ZSTD_createDStream();
	return z->zstd &&
	       !ZSTD_isError(ZSTD_DCtx_setParameter(z->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG));
}

static int perfetto_read_packed(struct perfetto *p, const struct perfetto_packet *packet)
{
	bool is_zlib = packet->kind == PACKET_COMPRESSED;
	struct packed_field z = {.p = p, .packet = packet};
	struct packet_reader r = {.name = p->input->name,
				  .read = is_zlib ? perfetto_read_zlib : read_zstd,
				  .ctx = &z};
	int failed = -1;

	if (packed_begin(&z) && !packet_reader_open(&r, NULL, 0))
		failed = packets_read(p, &r, packet);
	packet_reader_close(&r);
	if (is_zlib)
		inflateEnd(&z.zlib);
	ZSTD_freeDStream(z.zstd);
	return failed;
}

/* --- the file --- */

static ssize_t perfetto_read_file(void *ctx, uint8_t *to, size_t n, struct error *e)
{
	const struct input *in = ctx;
	ssize_t got = io_read(in->fd, to, n);

	return got < 0 ? error_errno(e, in->name, NO_OFFSET, "cannot read") : got;
}

/* Read the whole input. */
static int perfetto_read(struct perfetto *p)
{
	struct input *in = p->input;
	struct packet_reader r = {.name = in->name, .read = perfetto_read_file, .ctx = in};
	int failed;

	failed = packet_reader_open(&r, in->head, in->head_size) || packets_read(p, &r, NULL) ||
		 perfetto_sequences_end(p) || perfetto_name_frames(p);
	packet_reader_close(&r);
	return failed ? -1 : 0;
}

/* --- the decoder of Perfetto's traces --- */

/* Test the field that the end of the first bytes cuts, and all after it: the message of a known
 * payload, or of interned data or defaults, that fits into the packet and begins with sound fields.
 * The sequence, which the service writes last, is after it. size: bytes of the packet. */
static bool is_known_payload(struct protobuf_view message, uint64_t size)
{
	const uint8_t *begin = message.at;
	struct protobuf_field f;
	uint64_t key, length;
	unsigned fields = 0;
	uint32_t number;

	while (protobuf_next(&message, &f) > 0)
		;
	if (!protobuf_varint(&message, &key) || !protobuf_varint(&message, &length) ||
	    (key & 7) != PROTOBUF_LENGTH || length > size - (uint64_t)(message.at - begin))
		return false;
	number = (uint32_t)(key >> 3);
	if (!number || (number != PACKET_INTERNED_DATA && number != PACKET_DEFAULTS &&
			!packet_payload_name(number)))
		return false;
	while (protobuf_next(&message, &f) > 0)
		fields++;
	/* the next field is cut, too */
	return fields || (protobuf_varint(&message, &key) && (key & 7) == PROTOBUF_LENGTH);
}

/* What the probe finds in packets. */
enum { FOUND_SERVICE = 1, FOUND_LIKELY = 2, FOUND_CUT = 4 };

/* Take a packet from the first bytes, and set bits of *found. Returns false if there is none. */
static bool probe_packet(struct protobuf_view *rest, bool first, unsigned *found)
{
	enum { LONGEST = 10 }; /* of a length */
	struct protobuf_view message;
	uint64_t length;
	bool cut;

	if (*rest->at++ != (TRACE_PACKET << 3 | PROTOBUF_LENGTH))
		return false;
	if (!protobuf_varint(rest, &length)) {
		cut = protobuf_size(*rest) < LONGEST;
		rest->at = rest->end;
		return cut && !first;
	}
	if (!length && first)
		return false;
	cut = length > protobuf_size(*rest);
	message = (struct protobuf_view){rest->at, cut ? rest->end : rest->at + length};
	if (!packet_is_sound(message, cut, false))
		return false;
	if (packet_is_sound(message, cut, true) || packet_is_compressed(message))
		*found |= FOUND_SERVICE;
	else if (!cut && packet_is_likely(message))
		*found |= FOUND_LIKELY;
	if (cut && (io_cut() || is_known_payload(message, length)))
		*found |= FOUND_CUT;
	rest->at = message.end;
	return true;
}

/* Test the packets in the first bytes: each field has the wire type of its number, and is there at
 * most once. Packets of a service have a sequence, and what is after one may be damaged. Of packets
 * without, which a program wrote, all in the first bytes are sound. With -f accept any packet. */
static enum bid perfetto_probe(const struct input *in)
{
	struct protobuf_view rest = {in->head, in->head};
	bool any = in->format && !strcmp(in->format, "perfetto"), good = true;
	unsigned found = 0;

	if (in->tree || !in->head_size)
		return BID_NONE;
	rest.end += in->head_size;
	while (good && rest.at < rest.end)
		good = probe_packet(&rest, rest.at == in->head, &found);
	if (found & FOUND_SERVICE)
		return BID_LIKELY;
	if (found & FOUND_CUT || (good && found & FOUND_LIKELY))
		return BID_CHANCE;
	return any && *in->head == (TRACE_PACKET << 3 | PROTOBUF_LENGTH) ? BID_CHANCE : BID_NONE;
}

static int perfetto_open(struct input *in, struct error *e)
{
	struct perfetto *p = calloc(1, sizeof *p);

	in->state = p;
	if (!p)
		return error_no_memory(e);
	p->input = in;
	p->w = in->decoding->writer;
	p->clocks.first = UINT64_MAX;
	sorter_init(&p->sorter);
	in->clock_name = "boot";
	return 0;
}

/* Declare the texts that are compared and used often. */
static int declare_texts(struct perfetto *p)
{
	struct {
		uint32_t *to;
		const char *text;
	} texts[] = {
		{&p->texts.call_id, PERFETTO_CALL_ID},
		{&p->texts.begin, "begin"},
		{&p->texts.end, "end"},
		{&p->texts.async_begin, "async begin"},
		{&p->texts.state_begin, "state begin"},
		{&p->texts.state_end, "state end"},
		{&p->texts.async_end, "async end"},
		{&p->texts.gap, CHROME_GAP},
		{&p->texts.gap_category, CHROME_GAP_CATEGORY},
		{&p->texts.unfinished, CHROME_UNFINISHED},
		{&p->texts.leave_name, CHROME_LEAVE_NAME},
		{&p->texts.kernel, "kernel"},
		{&p->texts.before, "called before the trace"},
		{&p->texts.nothing, "(no name)"},
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		*texts[i].to = writer_text(p->w, texts[i].text);
		if (!*texts[i].to)
			return -1;
	}
	return 0;
}

/* Return the error of a function that failed. */
static int perfetto_failed(const struct perfetto *p, struct error *e)
{
	if (p->error.what[0])
		*e = p->error;
	else
		error_no_memory(e);
	return -1;
}

uint32_t perfetto_text(struct perfetto *p, struct protobuf_view v)
{
	return writer_string(p->w, v.at, protobuf_size(v));
}

/* --- information --- */

/* Get the number of a field beyond PERFETTO_KINDS, and that of its packets. */
static uint32_t far_kind(const struct perfetto_counts *n, uint32_t i, uint64_t *packets)
{
	uint32_t kind;

	memcpy(&kind, intern_data(&n->far_kinds.keys, i), sizeof kind);
	*packets = get_u64(n->far.data + 8 * (n->far_kinds.numbers[i] - 1));
	return kind;
}

/* Print the number of packets of a kind. */
static void fact_kind(struct trace_info *info, uint32_t kind, uint64_t count)
{
	const char *name = packet_payload_name(kind);
	char text[80];

	if (!count)
		return;
	if (name)
		snprintf(text, sizeof text, "%s %" PRIu64, name, count);
	else
		snprintf(text, sizeof text, "field %" PRIu32 " %" PRIu64, kind, count);
	fact_item(info, "packet", text);
}

static int perfetto_info(struct input *in, struct trace_info *info, struct error *e)
{
	struct perfetto *p = in->state;
	const struct perfetto_counts *n = &p->counts;

	p->counting = true;
	if (declare_texts(p) || perfetto_read(p))
		return perfetto_failed(p, e);
	fact_text(info, "format", "perfetto");
	fact_text(info, "clock", perfetto_clock_name(p));
	fact_number(info, "events", n->events);
	fact_number(info, "tracks", p->tracks.count);
	fact_number(info, "sequences", p->sequences.size / sizeof(struct perfetto_sequence *));
	fact_number(info, "packets", n->packets);
	for (uint32_t i = 0; i < PERFETTO_KINDS; i++)
		fact_kind(info, i, n->kinds[i]);
	for (uint32_t i = 0; i < n->far_kinds.keys.count; i++) {
		uint64_t packets;
		uint32_t kind = far_kind(n, i, &packets);

		fact_kind(info, kind, packets);
	}
	return 0;
}

/* --- decoding --- */

static int decode_perfetto_begin(struct input *in, struct error *e)
{
	struct perfetto *p = in->state;
	struct writer *w = p->w;
	int64_t wall;

	p->source = writer_source(w, &(struct source_entry){writer_text(w, "perfetto"),
							    writer_text(w, in->name), 0, 0});
	if (!p->source || declare_texts(p) || perfetto_read(p) ||
	    sorter_finish(&p->sorter, &p->error) || perfetto_find_overlaps(p))
		return perfetto_failed(p, e);
	if (io_cut() && !p->counts.packets)
		return error_set(e, in->name, 0, "the first packet is cut");
	perfetto_first_names(p);
	in->clock_name = perfetto_clock_name(p);
	in->has_wall = p->clocks.has_wall;
	in->wall = p->clocks.wall;
	if (merge_choose_clock(in, e))
		return -1;
	wall = merge_wall(in);
	p->clock = writer_clock(
		w, &(struct clock_entry){.name = writer_text(w, in->clock_name),
					 .flags = (in->has_wall ? CLOCK_HAS_WALL : 0) |
						  (in->has_wall && !wall ? CLOCK_IS_WALL : 0),
					 .wall = wall});
	if (!p->clock || process_names_write(w, p->source, &p->tracks.process_names) ||
	    (p->packages.size &&
	     writer_meta(w, p->source, "perfetto.packages", p->packages.data, p->packages.size)))
		return perfetto_failed(p, e);
	return p->clocks.first != UINT64_MAX ? merge_first(in, p->clocks.first, e) : 0;
}

static int perfetto_run(struct input *in, uint64_t until, struct error *e)
{
	struct perfetto *p = in->state;
	uint64_t limit;

	if (!merge_unshifted(until, in->shift, &limit))
		return 0;
	if (perfetto_rows(p, limit, &in->next)) {
		*e = p->error;
		return -1;
	}
	if (in->next != UINT64_MAX)
		in->next = merge_shifted(in->next, in->shift);
	return 0;
}

/* Print a remark with the kinds in a text, and begin the next text. */
static int print_kinds(const struct perfetto *p, struct buffer *b, uint64_t *count)
{
	if (buffer_u8(b, 0))
		return -1;
	warn_count(p->input->name, *count,
		   "{packet|packets} of {a kind|kinds} that trdecode does not read {was|were} left "
		   "out, by name or number: %s",
		   (const char *)b->data);
	b->size = 0;
	*count = 0;
	return 0;
}

/* Append the name of a payload that is not read and the number of its packets. */
static int add_unread(const struct perfetto *p, struct buffer *b, uint64_t *count, uint32_t kind,
		      uint64_t packets)
{
	enum { TEXT_MOST = 300 }; /* before the last name: a remark has 512 bytes */
	const char *name = packet_payload_name(kind);

	if (!packets || packet_is_read(kind))
		return 0;
	if (b->size > TEXT_MOST && print_kinds(p, b, count))
		return -1;
	*count += packets;
	if (buffer_printf(b, "%s", b->size ? ", " : ""))
		return -1;
	return name ? buffer_printf(b, "%s (%" PRIu64 ")", name, packets)
		    : buffer_printf(b, "%" PRIu32 " (%" PRIu64 ")", kind, packets);
}

/* Name the packets that the stream does not contain. */
static void print_unread(const struct perfetto *p)
{
	const struct perfetto_counts *n = &p->counts;
	struct buffer b = {0};
	uint64_t count = 0;
	int failed = 0;

	for (uint32_t i = 1; i < PERFETTO_KINDS && !failed; i++)
		failed = add_unread(p, &b, &count, i, n->kinds[i]);
	for (uint32_t i = 0; i < n->far_kinds.keys.count && !failed; i++) {
		uint64_t packets;
		uint32_t kind = far_kind(n, i, &packets);

		failed = add_unread(p, &b, &count, kind, packets);
	}
	if (!failed && count)
		print_kinds(p, &b, &count);
	buffer_free(&b);
}

/* Report the events that the stream does not contain, or contains in another form. */
static void perfetto_print_remarks(struct perfetto *p)
{
	const struct perfetto_counts *n = &p->counts;
	const char *file = p->input->name;

	print_unread(p);
	perfetto_print_left_out(p);
	warn_count(file, n->unopened,
		   "{end|ends} of calls without {a begin|begins} {was|were} left out");
	complete_calls_clipped(file, n->clipped);
	warn_count(file, n->unkept,
		   "{begin|begins} of asynchronous calls {was|were} left out: too many calls are "
		   "open");
	warn_count(file, n->unsynchronised,
		   "{time|times} of clocks without a snapshot {was|were} not converted");
	warn_count(file, n->unplaced,
		   "{packet or event|packets or events} of unknown clocks {was|were} left out: the "
		   "trace has no snapshot of {its clock|their clocks}");
	warn_count(file, n->too_deep,
		   "{value|values} of annotations {is|are} nested more than 64 deep: {its|their} "
		   "contents are left out");
	warn_count(file, n->uninterned,
		   "{id|ids} of interned data {is|are} not in the file: names are missing");
	warn_count(
		file, p->arguments.table.nameless,
		"{argument|arguments} of names that have more than 4096 different ones {was|were} "
		"left out");
	warn_count(file, n->unknown_ftrace,
		   "{event|events} of ftrace {has|have} an unknown number: {its|their} fields are "
		   "left out");
}

static void free_buffers(struct perfetto *p)
{
	struct buffer *const buffers[] = {
		&p->scratch.record,	  &p->scratch.arguments, &p->scratch.details,
		&p->scratch.key,	  &p->scratch.text,	 &p->counts.far,
		&p->counts.sample_counts, &p->source_locations,	 &p->packages,
		&p->heaps.totals};

	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_free(buffers[i]);
}

static void perfetto_close(struct input *in)
{
	struct perfetto *p = in->state;

	if (!p)
		return;
	if (p->counts.wrong_times)
		input_damage(in, in->name, NO_OFFSET, "%" PRIu64 " event%s with an impossible time",
			     p->counts.wrong_times, p->counts.wrong_times == 1 ? "" : "s");
	if (!in->decoding->quiet)
		perfetto_print_remarks(p);
	sorter_free(&p->sorter);
	arguments_free(&p->arguments.table);
	free(p->arguments.uses);
	perfetto_sequences_free(p);
	perfetto_clocks_free(p);
	perfetto_tracks_free(p);
	perfetto_ftrace_free(p);
	perfetto_async_free(p);
	complete_calls_free(&p->completes);
	id_cache_free(&p->counts.far_kinds);
	id_cache_free(&p->counts.sample_cpus);
	id_cache_free(&p->types.ids);
	id_cache_free(&p->definitions);
	perfetto_modules_free(&p->modules);
	id_cache_free(&p->heaps.numbers);
	free(p->locations);
	free_buffers(p);
	free(p);
	in->state = NULL;
}

const struct decoder decoder_perfetto = {
	.name = "perfetto",
	.in_order = true,
	.probe = perfetto_probe,
	.open = perfetto_open,
	.info = perfetto_info,
	.begin = decode_perfetto_begin,
	.run = perfetto_run,
	.close = perfetto_close,
};
