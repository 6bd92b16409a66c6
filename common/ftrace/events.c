#include "common/ftrace/events.h"

#include "common/ftrace/field_names.h"

#include <stdlib.h>

#include "common/util/intern.h"

enum { EVENTS_MOST = 65534, OFFSET_MOST = 4096 };

static bool span_is(const char *p, size_t n, const char *text)
{
	return n == strlen(text) && !memcmp(p, text, n);
}

static struct number_at find_number(const struct event_format *f, const char *name)
{
	const struct event_field *field = event_format_find(f, name, strlen(name));

	if (!field || field->where != WHERE_TAIL || field->count || field->offset > OFFSET_MOST ||
	    (field->size != 2 && field->size != 4 && field->size != 8))
		return (struct number_at){0};
	return (struct number_at){field->offset, field->size};
}

static bool is_named(const struct ftrace_event *v, const char *name)
{
	return span_is(v->format.name, v->format.name_size, name);
}

static bool is_ftrace(const struct ftrace_event *v)
{
	return v->system && span_is(v->system, v->system_size, "ftrace");
}

/* Find the field of an array of addresses: the place of its first element. */
static struct number_at find_array(const struct event_format *f, const char *name)
{
	const struct event_field *field = event_format_find(f, name, strlen(name));

	if (!field || (field->where != WHERE_TAIL && field->where != WHERE_REST) ||
	    field->offset > OFFSET_MOST || (field->element != 4 && field->element != 8))
		return (struct number_at){0};
	return (struct number_at){field->offset, field->element};
}

static void find_stack(struct ftrace_event *v)
{
	const struct event_format *f = &v->format;

	if (!is_ftrace(v))
		return;
	if (is_named(v, "kernel_stack")) {
		v->stack.caller = find_array(f, "caller");
		v->stack.count = find_number(f, "size");
	} else if (is_named(v, "user_stack")) {
		v->stack.caller = find_array(f, "caller");
		v->stack.tgid = find_number(f, "tgid");
	} else if (is_named(v, "function")) {
		v->stack.caller = find_number(f, "parent_ip");
		v->stack.is_parent = true;
	}
}

/* Find the fields of the kernel's own tracers that record functions. */
static void find_calls(struct ftrace_event *v)
{
	bool enter = is_named(v, "funcgraph_entry") || is_named(v, "fgraph_retaddr_entry");
	bool leave = is_named(v, "funcgraph_exit") || is_named(v, "fgraph_retaddr_exit");

	if (!is_ftrace(v))
		return;
	if (is_named(v, "function"))
		v->address = find_number(&v->format, "ip");
	if (!enter && !leave)
		goto out;
	v->address = find_number(&v->format, "func");
	v->depth = find_number(&v->format, "depth");
	if (v->address.size && v->depth.size)
		v->kind = enter ? KIND_ENTER : KIND_LEAVE;
out:
	v->least = v->address.offset + v->address.size;
	if (v->least < v->depth.offset + v->depth.size)
		v->least = v->depth.offset + v->depth.size;
}

static struct task_at find_task(const struct event_format *f, const char *tid, const char *comm)
{
	struct task_at task = {.tid = find_number(f, tid)};
	const struct event_field *field = event_format_find(f, comm, strlen(comm));

	if (task.tid.size == 4 && field && field->where == WHERE_TAIL && field->element == 1 &&
	    field->offset <= OFFSET_MOST && field->size <= OFFSET_MOST)
		task.comm = (struct number_at){field->offset, field->size};
	return task;
}

/* Find the events of whose text trace-cmd report learns the names of threads, as the plug-in
 * sched_switch of libtraceevent 1.7.1 does. */
static void find_tasks(struct ftrace_event *v)
{
	const struct event_format *f = &v->format;

	if (is_named(v, "sched_switch")) {
		v->tasks[0] = find_task(f, "prev_pid", "prev_comm");
		v->tasks[1] = find_task(f, "next_pid", "next_comm");
	} else if (is_named(v, "sched_wakeup") || is_named(v, "sched_wakeup_new")) {
		v->tasks[0] = find_task(f, "pid", "comm");
	}
}

static struct ftrace_event *new_event(struct ftrace_events *t)
{
	struct ftrace_event *v;

	if (ARRAY_GROW(t->event, t->capacity, t->count))
		return NULL;
	v = t->event;
	v += t->count;
	*v = (struct ftrace_event){.kind = KIND_INSTANT};
	return v;
}

enum ftrace_added ftrace_events_add(struct ftrace_events *t, const char *system, size_t system_size,
				    const char *text, size_t text_size, unsigned long_size)
{
	struct ftrace_event *v = new_event(t);
	struct event_format *f;
	int got;

	if (!v)
		return FTRACE_NO_MEMORY;
	f = &v->format;
	v->system = system;
	v->system_size = system_size;
	v->text = text;
	v->text_size = text_size;
	got = event_format_parse(f, text, text_size, long_size);
	if (got < 0)
		return FTRACE_NO_MEMORY;
	if (got || f->id > UINT16_MAX || t->by_id[f->id] || t->count >= EVENTS_MOST) {
		event_format_free(f);
		return got || f->id > UINT16_MAX ? FTRACE_NO_FORMAT : FTRACE_KNOWN;
	}
	find_calls(v);
	find_stack(v);
	find_tasks(v);
	v->next_pid = find_number(f, "next_pid");
	v->pid = find_number(f, "pid");
	if (!t->type.size) {
		t->type = find_number(f, "common_type");
		t->pid = find_number(f, "common_pid");
		if (t->type.size != 2 || t->pid.size != 4)
			t->type.size = t->pid.size = 0;
	}
	t->by_id[f->id] = (uint16_t)++t->count;
	return FTRACE_ADDED;
}

struct ftrace_event *ftrace_events_unknown(struct ftrace_events *t, uint16_t id)
{
	const struct event_format *any;
	struct ftrace_event *v;

	if (t->count >= EVENTS_MOST)
		return &t->event[t->count - 1];
	v = new_event(t);
	if (!v)
		return NULL;
	any = &t->event[0].format;
	if (t->count && t->event[0].system) {
		/* the fields of the first format must not change, so they are copied */
		v->format.fields = calloc(any->nfields + 1, sizeof *any->fields);
		if (!v->format.fields)
			return NULL;
		if (any->nfields)
			memcpy(v->format.fields, any->fields, any->nfields * sizeof *any->fields);
		v->format.nfields = any->nfields;
	}
	v->format.id = id;
	t->by_id[id] = (uint16_t)++t->count;
	return v;
}

void ftrace_events_free(struct ftrace_events *t)
{
	for (size_t i = 0; i < t->count; i++)
		event_format_free(&t->event[i].format);
	free(t->event);
}

static enum field_role role_of(const struct ftrace_event *v, const struct event_field *f)
{
	if (is_ftrace(v) && span_is(f->name, f->name_size, "buf"))
		return ROLE_MESSAGE;
	if (is_ftrace(v) &&
	    (span_is(f->name, f->name_size, "ip") || span_is(f->name, f->name_size, "func")))
		return ROLE_ADDRESS;
	return span_is(f->name, f->name_size, "common_pid") ? ROLE_TID : ROLE_NONE;
}

/* Declare names for the numbers in a field. symbolic: that of field_names_find. 0: there are none.
 */
static uint32_t names_of(const struct ftrace_events *t, const struct ftrace_event *v,
			 const char *symbolic, const struct event_field *f, struct writer *w)
{
	if (f->where != WHERE_TAIL || f->count || f->common ||
	    (f->kind != FIELD_UINT && f->kind != FIELD_INT))
		return 0;
	if (t->machine && v->system && span_is(v->system, v->system_size, "raw_syscalls") &&
	    span_is(f->name, f->name_size, "id"))
		return field_names_syscalls(t->machine, w);
	return symbolic ? field_names_symbolic(&v->format, symbolic, f, w) : 0;
}

int ftrace_events_kinds(struct ftrace_events *t)
{
	struct intern names = {0};
	int bad = 0;

	for (size_t i = 0; i < t->count; i++)
		for (size_t k = 0; k < t->event[i].format.nfields && !bad; k++) {
			const struct event_field *f = &t->event[i].format.fields[k];

			if (f->kind == FIELD_UINT || f->kind == FIELD_INT)
				bad = intern(&names, f->name, f->name_size) == INTERN_NONE;
		}
	for (size_t i = 0; i < t->count; i++)
		for (size_t k = 0; k < t->event[i].format.nfields && !bad; k++) {
			struct event_field *f = &t->event[i].format.fields[k];

			if (f->kind == FIELD_HEX && !strchr(f->type_name, '*') &&
			    intern_find(&names, f->name, f->name_size) != INTERN_NONE)
				f->kind = FIELD_UINT;
		}
	intern_free(&names);
	return bad ? -1 : 0;
}

void ftrace_fields(const struct ftrace_events *t, const struct ftrace_event *v, struct writer *w,
		   struct field_entry *fields, struct type_entry *type)
{
	const char *symbolic = field_names_find(&v->format);

	for (size_t i = 0; i < v->format.nfields && i < FTRACE_FIELDS; i++) {
		const struct event_field *f = &v->format.fields[i];
		uint32_t names;

		if (!v->system && !f->common)
			continue;
		names = names_of(t, v, symbolic, f, w);
		fields[type->nfields++] =
			(struct field_entry){.name = writer_string(w, f->name, f->name_size),
					     .type_name = writer_text(w, f->type_name),
					     .kind = (uint8_t)(names ? FIELD_ENUM : f->kind),
					     .role = (uint8_t)role_of(v, f),
					     .where = (uint8_t)f->where,
					     .offset = f->offset,
					     .size = f->element,
					     .count = f->count,
					     .definition = names};
	}
}
