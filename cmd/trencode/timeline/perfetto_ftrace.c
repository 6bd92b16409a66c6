#include "cmd/trencode/timeline/perfetto_ftrace.h"

#include <stdlib.h>

#include "cmd/trencode/timeline/scheduling_types.h"
#include "common/util/utf8.h"

/* A bundle has at most so many events and bytes of events. */
enum { BUNDLE_EVENTS = 1024, BUNDLE_BYTES = 64 * 1024, BUNDLE_COMMS = 128 };

/* The thread that runs on a CPU. */
struct running {
	bool known, derived; /* derived: its switch is in that bundle */
	int64_t tid, prio;
	uint32_t comm; /* string of the dictionary */
};

struct ftrace_bundle {
	struct buffer events, compact[COMPACT_FIELDS]; /* columns: packed */
	uint64_t switched, woken;		       /* times of the last row of the columns */
	uint32_t comms[BUNDLE_COMMS], ncomms;
	uint32_t count;
};

/* A CPU and its bundles: of events that are nowhere else, and of derived ones. */
struct ftrace_cpu {
	struct running running;
	struct ftrace_bundle bundles[2];
	bool lost; /* events before the next bundle are missing */
};

struct perfetto_ftrace {
	struct perfetto *out;
	struct scheduling_types types;
	struct ftrace_cpu **cpus; /* by number */
	size_t ncpus;
	uint32_t source; /* number + 1 of the source whose events are in bundles; 0 none yet */
	bool waking;	 /* the source has SCHEDULING_WAKING */
	struct buffer bundle, event, fields, text;
};

struct perfetto_ftrace *perfetto_ftrace_new(struct perfetto *s)
{
	struct perfetto_ftrace *f = calloc(1, sizeof *f);

	if (f) {
		f->out = s;
		f->types.dictionary = s->names.dictionary;
	}
	return f;
}

void perfetto_ftrace_free(struct perfetto_ftrace *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->ncpus; i++) {
		if (!f->cpus[i])
			continue;
		for (int derived = 0; derived < 2; derived++) {
			struct ftrace_bundle *c = &f->cpus[i]->bundles[derived];

			buffer_free(&c->events);
			for (size_t j = 0; j < COMPACT_FIELDS; j++)
				buffer_free(&c->compact[j]);
		}
		free(f->cpus[i]);
	}
	free(f->cpus);
	scheduling_types_free(&f->types);
	buffer_free(&f->bundle);
	buffer_free(&f->event);
	buffer_free(&f->fields);
	buffer_free(&f->text);
	free(f);
}

static struct ftrace_cpu *ftrace_cpu_of(struct perfetto_ftrace *f, uint32_t cpu)
{
	struct ftrace_cpu **cpus;

	if (ARRAY_REACH(f->cpus, f->ncpus, cpu))
		return NULL;
	cpus = f->cpus;
	if (!cpus[cpu])
		cpus[cpu] = calloc(1, sizeof *cpus[cpu]);
	return cpus[cpu];
}

/* --- bundles --- */

/* Append a text as a field; invalid UTF-8 is replaced. */
static int put_text(struct perfetto_ftrace *f, struct buffer *to, uint32_t field, const char *text,
		    size_t size)
{
	buffer_clear(&f->text);
	return utf8_append(&f->text, text, size) || protobuf_message(to, field, &f->text) ? -1 : 0;
}

static int put_compact(struct perfetto_ftrace *f, struct ftrace_bundle *c)
{
	struct buffer *b = &f->event;

	buffer_clear(b);
	for (uint32_t i = 1; i < COMPACT_FIELDS; i++)
		if (c->compact[i].size && protobuf_message(b, i, &c->compact[i]))
			return -1;
	for (uint32_t i = 0; i < c->ncomms; i++) {
		struct text_ref comm = dictionary_string(f->out->names.dictionary, c->comms[i]);

		if (put_text(f, b, COMPACT_COMMS, comm.text, comm.size))
			return -1;
	}
	return b->size ? protobuf_message(&f->bundle, BUNDLE_SCHED, b) : 0;
}

static int put_bundle(struct perfetto_ftrace *f, uint32_t cpu, bool derived, struct error *e)
{
	struct ftrace_bundle *c = &f->cpus[cpu]->bundles[derived];
	struct buffer *b = &f->bundle;
	bool *lost = &f->cpus[cpu]->lost;

	buffer_clear(b);
	if (protobuf_uint(b, BUNDLE_CPU, cpu) || (*lost && protobuf_uint(b, BUNDLE_LOST, 1)) ||
	    buffer_append(b, c->events.data, c->events.size) || put_compact(f, c))
		return error_no_memory(e);
	buffer_clear(&c->events);
	for (size_t i = 0; i < COMPACT_FIELDS; i++)
		buffer_clear(&c->compact[i]);
	c->count = c->ncomms = 0;
	c->switched = c->woken = 0;
	*lost = false;
	return perfetto_put_bundle(f->out, derived, b, e);
}

int perfetto_ftrace_flush(struct perfetto_ftrace *f, struct error *e)
{
	for (uint32_t i = 0; i < f->ncpus; i++)
		for (int derived = 0; derived < 2; derived++)
			if (f->cpus[i] && f->cpus[i]->bundles[derived].count &&
			    put_bundle(f, i, derived, e))
				return -1;
	return 0;
}

/* --- events with all fields --- */

static bool is_softirq(const struct scheduling_type *t)
{
	return t->message >= FTRACE_SOFTIRQ_ENTRY && t->message <= FTRACE_SOFTIRQ_RAISE;
}

/* Append the fields of an event. *whole: all that the event has. -1: out of memory. */
static int put_fields(struct perfetto_ftrace *f, const struct scheduling_type *t,
		      const struct event *ev, bool *whole)
{
	struct buffer *b = &f->fields;

	buffer_clear(b);
	for (unsigned i = 0; i < SCHEDULING_SLOTS; i++) {
		const char *text;
		size_t size;
		int64_t number;

		if (!scheduling_slot(t, ev, i) || (i == IRQ_NAME && is_softirq(t)))
			continue;
		if (t->kind == SCHEDULING_SWITCH && i == SWITCH_PREV_STATE) {
			struct switch_state state = scheduling_state(t, ev);

			*whole &= state.perfetto != UINT32_MAX;
			if (state.perfetto != UINT32_MAX && protobuf_uint(b, i + 1, state.perfetto))
				return -1;
		} else if (t->texts >> i & 1 && scheduling_text(t, ev, i, &text, &size)) {
			if (put_text(f, b, i + 1, text, size))
				return -1;
		} else if (scheduling_number(t, ev, i, &number)) {
			if (protobuf_uint(b, i + 1, (uint64_t)number))
				return -1;
		} else {
			*whole = false;
		}
	}
	return 0;
}

static uint64_t flags_of(const struct scheduling_type *t, const struct event *ev)
{
	struct field_value v = {.form = FORM_NONE};

	if (t->flags)
		field_get(ev, t->flags, 0, &v);
	return v.form == FORM_UINT || v.form == FORM_INT ? v.u : 0;
}

/* Returns the thread that runs at an event. */
static int64_t tid_of(const struct ftrace_cpu *c, const struct scheduling_type *t,
		      const struct lane *lane)
{
	if (lane->flags & LANE_HAS_TID && (!t->cpu || !c->running.known))
		return lane->tid;
	return c->running.known ? c->running.tid : 0;
}

static int put_whole(struct perfetto_ftrace *f, struct ftrace_cpu *c,
		     const struct scheduling_type *t, uint32_t message, const struct event *ev,
		     bool *whole)
{
	struct buffer *b = &f->event;
	uint64_t flags = flags_of(t, ev);

	*whole &= message == t->message;
	buffer_clear(b);
	if (put_fields(f, t, ev, whole) || protobuf_uint(b, FTRACE_TIME, ev->time) ||
	    protobuf_uint(b, FTRACE_PID, (uint64_t)tid_of(c, t, ev->lane)) ||
	    (flags && protobuf_uint(b, FTRACE_FLAGS, flags)) ||
	    protobuf_message(b, message, &f->fields))
		return -1;
	c->bundles[!*whole].count++;
	return protobuf_message(&c->bundles[!*whole].events, BUNDLE_EVENT, b);
}

/* --- columns --- */

/* Get the index of a text in the bundle's table of comms; BUNDLE_COMMS: the table is full. */
static uint32_t comm_index(struct ftrace_bundle *c, uint32_t comm)
{
	uint32_t i = 0;

	while (i < c->ncomms && c->comms[i] != comm)
		i++;
	if (i == c->ncomms && i < BUNDLE_COMMS)
		c->comms[c->ncomms++] = comm;
	return i;
}

static uint32_t string_of(struct perfetto_ftrace *f, const struct scheduling_type *t,
			  const struct event *ev, unsigned slot)
{
	const char *text;
	size_t size;

	if (!scheduling_text(t, ev, slot, &text, &size))
		return 0;
	return dictionary_text(f->out->names.dictionary, text, size).number;
}

/* Append a row of n columns from the given one on. -1: out of memory. */
static int put_row(struct ftrace_bundle *c, const uint8_t *columns, const uint64_t *values,
		   size_t n)
{
	c->count++;
	for (size_t i = 0; i < n; i++)
		if (buffer_uleb(&c->compact[columns[i]], values[i]))
			return -1;
	return 0;
}

/* Take a switch, as a row if the columns can hold it. */
static int put_switch(struct perfetto_ftrace *f, struct ftrace_cpu *c,
		      const struct scheduling_type *t, const struct event *ev, bool *whole)
{
	static const uint8_t columns[] = {COMPACT_SWITCH_TIME, COMPACT_SWITCH_STATE,
					  COMPACT_SWITCH_PID, COMPACT_SWITCH_PRIO,
					  COMPACT_SWITCH_COMM};
	struct running prev = {.comm = string_of(f, t, ev, SWITCH_PREV_COMM)};
	struct running next = {.comm = string_of(f, t, ev, SWITCH_NEXT_COMM)};
	struct switch_state state = scheduling_state(t, ev);
	bool compact, has_next = scheduling_number(t, ev, SWITCH_NEXT_TID, &next.tid);
	struct ftrace_bundle *b = &c->bundles[!*whole];
	uint32_t index;
	int failed;

	prev.known = scheduling_number(t, ev, SWITCH_PREV_TID, &prev.tid);
	compact = has_next && scheduling_number(t, ev, SWITCH_NEXT_PRIO, &next.prio) &&
		  scheduling_number(t, ev, SWITCH_PREV_PRIO, &prev.prio) && prev.known &&
		  c->running.known && c->running.derived == !*whole && c->running.tid == prev.tid &&
		  c->running.prio == prev.prio && c->running.comm == prev.comm && next.comm &&
		  state.perfetto != UINT32_MAX && ev->time >= b->switched;
	index = compact ? comm_index(b, next.comm) : BUNDLE_COMMS;
	if (index < BUNDLE_COMMS) {
		uint64_t values[] = {ev->time - b->switched, state.perfetto, (uint64_t)next.tid,
				     (uint64_t)next.prio, index};

		b->switched = ev->time;
		failed = put_row(b, columns, values, sizeof columns);
	} else {
		/* the event is of the thread that ran until then */
		c->running = prev;
		failed = put_whole(f, c, t, t->message, ev, whole);
	}
	next.known = has_next;
	next.derived = !*whole;
	c->running = next;
	return failed;
}

/* Write a waking, as a row if the columns can hold it. */
static int put_waking(struct perfetto_ftrace *f, struct ftrace_cpu *c,
		      const struct scheduling_type *t, const struct event *ev, bool *whole)
{
	static const uint8_t columns[] = {COMPACT_WAKING_TIME, COMPACT_WAKING_PID,
					  COMPACT_WAKING_CPU,  COMPACT_WAKING_PRIO,
					  COMPACT_WAKING_COMM, COMPACT_WAKING_FLAGS};
	uint32_t comm = string_of(f, t, ev, WAKE_COMM), index = BUNDLE_COMMS;
	struct ftrace_bundle *b = &c->bundles[!*whole];
	int64_t tid, prio, cpu;

	/* the columns have neither the waker, which the last switch has, nor the success */
	if (comm && !scheduling_slot(t, ev, WAKE_SUCCESS) && ev->time >= b->woken &&
	    c->running.known && c->running.derived == !*whole &&
	    tid_of(c, t, ev->lane) == c->running.tid && scheduling_number(t, ev, WAKE_TID, &tid) &&
	    scheduling_number(t, ev, WAKE_PRIO, &prio) && scheduling_number(t, ev, WAKE_CPU, &cpu))
		index = comm_index(b, comm);
	if (index < BUNDLE_COMMS) {
		uint64_t values[] = {ev->time - b->woken, (uint64_t)tid, (uint64_t)cpu,
				     (uint64_t)prio,	  index,	 flags_of(t, ev)};

		b->woken = ev->time;
		return put_row(b, columns, values, sizeof columns);
	}
	return put_whole(f, c, t, FTRACE_SCHED_WAKING, ev, whole);
}

/* Take a waking or a wakeup. Viewers look only at wakings: a wakeup of a source that has no wakings
 * is a derived one, too. */
static int put_wakeup(struct perfetto_ftrace *f, struct ftrace_cpu *c,
		      const struct scheduling_type *t, const struct event *ev, bool *whole)
{
	bool derived = false;

	if (t->kind == SCHEDULING_WAKING) {
		f->waking = true;
		return put_waking(f, c, t, ev, whole);
	}
	if (f->waking || t->message != FTRACE_SCHED_WAKEUP)
		return put_whole(f, c, t, t->message, ev, whole);
	if (*whole && put_whole(f, c, t, t->message, ev, whole))
		return -1;
	return put_waking(f, c, t, ev, &derived);
}

/* --- the interface --- */

/* Note that events of a CPU are missing. */
static int cpu_lost(struct perfetto_ftrace *f, uint32_t cpu, struct error *e)
{
	struct ftrace_cpu *c = cpu < f->ncpus ? f->cpus[cpu] : NULL;

	if (!c)
		return 0;
	for (int derived = 0; derived < 2; derived++)
		if (c->bundles[derived].count && put_bundle(f, cpu, derived, e))
			return -1;
	c->running.known = false;
	/* the gap is an instant, too */
	c->lost = true;
	return put_bundle(f, cpu, true, e);
}

int perfetto_ftrace_lost(struct perfetto_ftrace *f, struct error *e)
{
	for (uint32_t i = 0; i < f->ncpus; i++)
		if (cpu_lost(f, i, e))
			return -1;
	return 0;
}

static uint32_t source_of(const struct lane *lane)
{
	return (lane->source ? lane->source->number : 0) + 1;
}

int perfetto_ftrace_event(struct perfetto_ftrace *f, const struct event *ev, bool *whole,
			  struct error *e)
{
	const struct scheduling_type *t = scheduling_types_get(&f->types, ev->type);
	const struct lane *lane = ev->lane;
	struct ftrace_cpu *c;
	uint32_t cpu;
	bool known;
	int r;

	*whole = false;
	if (!t)
		return error_no_memory(e);
	known = scheduling_cpu(t, ev, &cpu);
	if (ev->type->kind == KIND_GAP && f->source == source_of(lane))
		return known ? cpu_lost(f, cpu, e) : perfetto_ftrace_lost(f, e);
	if (t->kind == SCHEDULING_NONE || !known || (f->source && f->source != source_of(lane)) ||
	    !scheduling_sound(t, ev, whole))
		return 0;
	f->source = source_of(lane);
	c = ftrace_cpu_of(f, cpu);
	if (!c)
		return error_no_memory(e);
	r = t->kind == SCHEDULING_SWITCH ? put_switch(f, c, t, ev, whole)
	    : t->kind == SCHEDULING_WAKING || t->kind == SCHEDULING_WAKEUP
		    ? put_wakeup(f, c, t, ev, whole)
		    : put_whole(f, c, t, t->message, ev, whole);
	if (r)
		return error_no_memory(e);
	for (int derived = 0; derived < 2; derived++) {
		struct ftrace_bundle *b = &c->bundles[derived];

		if ((b->count >= BUNDLE_EVENTS || b->events.size >= BUNDLE_BYTES) &&
		    put_bundle(f, cpu, derived, e))
			return -1;
	}
	return 0;
}
