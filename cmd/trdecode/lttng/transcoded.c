/*
 * transcoded.c - markers with fields that contain the thread and the call of the event
 *
 * trencode writes such markers for events of other systems. The first fields are _tid and _pid.
 * _comm follows the numbers. A call has the function's name in _enter or _leave (_cpu_enter: on the
 * CPU's own stack; _kernel_enter: in the kernel, on top of the thread's stack; _inner_enter:
 * scheduled out), and in _function a number that distinguishes functions of one name. _depth is
 * the number of calls open below, or _call is the call's number. Other events have in _at the
 * function in which they occurred. _order, after those numbers, numbers the events of the trace: it
 * orders events of one time in several files. The names of these markers have no meaning to the
 * decoder, even if they are names of the kernel's markers.
 */
#include "cmd/trdecode/lttng/lttng.h"

#include <stdlib.h>

static bool is_named(const struct lttng_field *f, const char *name)
{
	return f->name && f->name_size == strlen(name) && !memcmp(f->name, name, f->name_size);
}

static int16_t number_at(const struct lttng_marker *m, const struct lttng_field *fields, int n,
			 const char *name)
{
	for (int i = 0; i < n; i++)
		if (fields[i].size == 4 && is_named(&fields[i], name))
			return (int16_t)m->layout.steps[i].offset;
	return 0;
}

/* Return the offset of _order in the payload: only numbers of four bytes precede it. 0: none. */
static int16_t order_at(const struct lttng_field *fields, int n)
{
	for (int16_t i = 0; i < n && fields[i].size == 4; i++)
		if (is_named(&fields[i], "_order"))
			return (int16_t)(4 * i);
	return 0;
}

void lttng_transcoded_find(struct lttng_marker *m, const struct lttng_field *fields, int n)
{
	static const struct {
		const char *enter, *leave;
		uint16_t flags;
	} calls[] = {
		{"_enter", "_leave", 0},
		{"_cpu_enter", "_cpu_leave", TYPE_PER_CPU},
		{"_kernel_enter", "_kernel_leave", TYPE_KERNEL},
		{"_inner_enter", "_inner_leave", TYPE_INNER},
	};
	struct lttng_transcoded *t = &m->transcoded;
	int8_t text = 0;

	*t = (struct lttng_transcoded){.comm = -1, .name = -1};
	if (n < 1 || !is_named(&fields[0], "_tid") || fields[0].size != 4)
		return;
	t->tid = number_at(m, fields, n, "_tid");
	t->pid = number_at(m, fields, n, "_pid");
	t->depth = number_at(m, fields, n, "_depth");
	t->call = number_at(m, fields, n, "_call");
	t->function = number_at(m, fields, n, "_function");
	t->order = order_at(fields, n);
	m->action = ACTION_NONE;
	m->kind = KIND_INSTANT;
	m->names = NAMES_NONE;
	m->id_field = -1;
	m->per_cpu = false;
	for (int i = 0; i < n && text < INT8_MAX; i++) {
		if (fields[i].size)
			continue;
		if (is_named(&fields[i], "_comm"))
			t->comm = text;
		for (size_t k = 0; k < sizeof calls / sizeof *calls && (t->depth || t->call); k++) {
			bool leave = is_named(&fields[i], calls[k].leave);

			if (!leave && !is_named(&fields[i], calls[k].enter))
				continue;
			t->name = text;
			t->flags = calls[k].flags;
			m->kind = leave ? KIND_LEAVE : KIND_ENTER;
			m->per_cpu = t->flags & TYPE_PER_CPU;
		}
		if (is_named(&fields[i], "_at"))
			t->name = text;
		text++;
	}
}

static const uint8_t *text_of(const struct lttng_event *ev, int number, size_t *n)
{
	const uint8_t *p = ev->tail, *end = p + ev->tail_size, *nul;

	for (; p < end && (nul = memchr(p, 0, (size_t)(end - p))); p = nul + 1)
		if (!number--) {
			*n = (size_t)(nul - p);
			return p;
		}
	*n = 0;
	return (const uint8_t *)"";
}

int lttng_transcoded_order(struct lttng *l, struct lttng_file *f)
{
	size_t end = (size_t)f->marker->transcoded.order + 4;
	const uint8_t *p;
	size_t have;

	f->order = 0;
	if (f->payload > f->used)
		return 0;
	p = lttng_window_block(l, f, f->payload, end, &have);
	if (!p)
		return -1;
	if (have >= end)
		f->order = 1 + get_uint(p + end - 4, 4, f->block.big);
	return 0;
}

int lttng_transcoded_thread(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	const struct lttng_transcoded *where = &ev->marker->transcoded;
	struct lttng_thread *t = lttng_state_thread(l, c, lttng_number(ev, where->tid, 4));
	int32_t pid = where->pid ? (int32_t)lttng_number(ev, where->pid, 4) : -1;
	const uint8_t *name;
	uint32_t comm;
	size_t n;

	if (!t)
		return -1;
	c->thread = t;
	if (where->comm < 0)
		return 0;
	name = text_of(ev, where->comm, &n);
	comm = writer_string(l->w, name, n);
	if (n && !comm)
		return -1;
	if (comm != t->comm || pid != t->pid) {
		t->comm = comm;
		t->pid = pid;
		t->version++;
	}
	return 0;
}

int lttng_transcoded_call(struct lttng *l, const struct lttng_event *ev, uint32_t *location,
			  uint32_t *depth)
{
	const struct lttng_transcoded *where = &ev->marker->transcoded;
	size_t n;
	const uint8_t *name = text_of(ev, where->name, &n);
	uint32_t function =
		where->function ? (uint32_t)get_uint(ev->fixed + where->function, 4, false) : 0;
	uint32_t number;

	l->functions.key.size = 0;
	if (buffer_u32(&l->functions.key, function) ||
	    (n && buffer_append(&l->functions.key, name, n)))
		return -1;
	number = intern(&l->functions.names, l->functions.key.data, l->functions.key.size);
	if (number == INTERN_NONE)
		return -1;
	if (ARRAY_REACH(l->functions.locations, l->functions.capacity, number))
		return -1;
	if (!l->functions.locations[number])
		l->functions.locations[number] = writer_location(
			l->w, &(struct location_entry){.address = function,
						       .name = writer_string(l->w, name, n)});
	*location = l->functions.locations[number];
	*depth = where->depth ? (uint32_t)get_uint(ev->fixed + where->depth, 4, false) : 0;
	return *location ? 0 : -1;
}

void lttng_transcoded_free(struct lttng *l)
{
	intern_free(&l->functions.names);
	buffer_free(&l->functions.key);
	free(l->functions.locations);
}
