/*
 * transcoded.c - markers that tell themselves of which thread, and of which call, they are
 *
 * trencode writes such of other systems' events: the format begins with _tid and _pid; behind the
 * numbers stand _comm and, of a call, _enter or _leave with the function's name (_cpu_enter: on the
 * CPU's own stack; _kernel_enter: in the kernel, on top of the thread's; _inner_enter: scheduled
 * out), and _function, a number by which functions of one name differ. _depth is how many calls are
 * open below, or _call the call's number. Of another event _at is the function that it happened in.
 * _order, behind those numbers, counts the events of the trace: of those at one time in several
 * files it tells which was first. What the kernel's markers mean by their names means nothing
 * there.
 */
#include "cmd/trdecode/lttng/lttng.h"

#include <stdlib.h>

static bool named(const struct lttng_field *f, const char *name)
{
	return f->name && f->name_size == strlen(name) && !memcmp(f->name, name, f->name_size);
}

static int16_t number_at(const struct lttng_marker *m, const struct lttng_field *fields, int n,
			 const char *name)
{
	for (int i = 0; i < n; i++)
		if (fields[i].size == 4 && named(&fields[i], name))
			return (int16_t)m->steps[i].offset;
	return 0;
}

/* Where it is in the payload: only numbers of four bytes are in front of it. */
static int16_t order_at(const struct lttng_field *fields, int n)
{
	for (int16_t i = 0; i < n && fields[i].size == 4; i++)
		if (named(&fields[i], "_order"))
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
	struct lttng_transcoded *t = &m->told;
	int8_t text = 0;

	*t = (struct lttng_transcoded){.comm = -1, .name = -1};
	if (n < 1 || !named(&fields[0], "_tid") || fields[0].size != 4)
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
		if (named(&fields[i], "_comm"))
			t->comm = text;
		for (size_t k = 0; k < sizeof calls / sizeof *calls && (t->depth || t->call); k++) {
			bool leave = named(&fields[i], calls[k].leave);

			if (!leave && !named(&fields[i], calls[k].enter))
				continue;
			t->name = text;
			t->flags = calls[k].flags;
			m->kind = leave ? KIND_LEAVE : KIND_ENTER;
			m->per_cpu = t->flags & TYPE_PER_CPU;
		}
		if (named(&fields[i], "_at"))
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
	size_t end = (size_t)f->marker->told.order + 4;
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
	const struct lttng_transcoded *told = &ev->marker->told;
	struct lttng_thread *t = lttng_state_thread(l, c, lttng_number(ev, told->tid, 4));
	int32_t pid = told->pid ? (int32_t)lttng_number(ev, told->pid, 4) : -1;
	const uint8_t *name;
	uint32_t comm;
	size_t n;

	if (!t)
		return -1;
	c->thread = t;
	if (told->comm < 0)
		return 0;
	name = text_of(ev, told->comm, &n);
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
	const struct lttng_transcoded *told = &ev->marker->told;
	size_t n;
	const uint8_t *name = text_of(ev, told->name, &n);
	uint32_t function =
		told->function ? (uint32_t)get_uint(ev->fixed + told->function, 4, false) : 0;
	uint32_t number, *locations;

	l->told_key.size = 0;
	if (buffer_u32(&l->told_key, function) || (n && buffer_append(&l->told_key, name, n)))
		return -1;
	number = intern(&l->told_names, l->told_key.data, l->told_key.size);
	if (number == INTERN_NONE)
		return -1;
	locations = array_reach(l->told_locations, &l->told_capacity, number, sizeof *locations);
	if (!locations)
		return -1;
	l->told_locations = locations;
	if (!l->told_locations[number])
		l->told_locations[number] = writer_location(
			l->w, &(struct location_entry){.address = function,
						       .name = writer_string(l->w, name, n)});
	*location = l->told_locations[number];
	*depth = told->depth ? (uint32_t)get_uint(ev->fixed + told->depth, 4, false) : 0;
	return *location ? 0 : -1;
}

void lttng_transcoded_free(struct lttng *l)
{
	intern_free(&l->told_names);
	buffer_free(&l->told_key);
	free(l->told_locations);
}
