#include "cmd/trencode/timeline/scheduling.h"

#include <stdlib.h>

#include "common/formats/softirqs.h"
#include "common/util/buffer.h"

enum { TID_MOST = 1 << 22 }; /* the kernel's limit of thread numbers */

void scheduling_init(struct scheduling *s, struct dictionary *d, const struct scheduling_sink *sink,
		     void *ctx)
{
	*s = (struct scheduling){.sink = sink, .ctx = ctx, .dictionary = d, .types.dictionary = d};
}

void scheduling_free(struct scheduling *s)
{
	scheduling_types_free(&s->types);
	intern_free(&s->cpu_keys);
	intern_free(&s->thread_keys);
	free(s->cpus);
	free(s->threads);
	free(s->ends);
}

/* --- CPUs and threads --- */

/* Returns the index + 1 of a CPU; 0 when out of memory. */
static uint32_t cpu_of(struct scheduling *s, const struct source *source, uint32_t cpu)
{
	uint32_t key[2] = {source ? source->number : 0, cpu}, n;
	struct scheduling_cpu *cpus;

	n = intern(&s->cpu_keys, key, sizeof key);
	if (n == INTERN_NONE || ARRAY_REACH(s->cpus, s->ncpus, n))
		return 0;
	cpus = s->cpus;
	cpus[n].source = source;
	cpus[n].cpu = (int32_t)cpu;
	return n + 1;
}

/* Returns the index + 1 of a thread; 0 when out of memory. */
static uint32_t thread_of(struct scheduling *s, const struct scheduling_cpu *cpu, int64_t tid,
			  const char *comm, size_t size)
{
	uint32_t key[3] = {cpu->source ? cpu->source->number : 0, (uint32_t)tid,
			   tid ? 0 : (uint32_t)cpu->cpu};
	uint32_t n = intern(&s->thread_keys, key, sizeof key);
	struct scheduling_thread *threads;
	struct text_ref text;

	if (n == INTERN_NONE || ARRAY_REACH(s->threads, s->nthreads, n))
		return 0;
	threads = s->threads;
	threads[n].source = cpu->source;
	threads[n].tid = (int32_t)tid;
	if (size) {
		text = dictionary_string(s->dictionary, threads[n].comm);
		if (!threads[n].comm || text.size != size || memcmp(text.text, comm, size) != 0)
			threads[n].comm = dictionary_text(s->dictionary, comm, size).number;
	}
	return n + 1;
}

/* Read the thread in a slot, with its name in the slot before it. Returns its index + 1, 0 when out
 * of memory; *known: the event has a valid number. */
static uint32_t read_thread(struct scheduling *s, uint32_t cpu, const struct scheduling_type *t,
			    const struct event *ev, unsigned slot, bool *known)
{
	const struct lane *lane = ev->lane;
	const char *comm = NULL;
	size_t size = 0;
	int64_t tid;

	*known = scheduling_number(t, ev, slot, &tid) && tid >= 0 && tid < TID_MOST;
	if (!*known)
		return 0;
	if (!scheduling_text(t, ev, slot - 1, &comm, &size) && lane->flags & LANE_HAS_TID &&
	    lane->tid == tid) {
		comm = lane->comm.text;
		size = lane->comm.size;
	}
	return thread_of(s, &s->cpus[cpu - 1], tid, comm, size);
}

/* --- states of threads --- */

static void list_remove(struct scheduling *s, uint32_t thread)
{
	struct scheduling_thread *t = &s->threads[thread - 1];

	*(t->before ? &s->threads[t->before - 1].after : &s->cpus[t->cpu].threads) = t->after;
	if (t->after)
		s->threads[t->after - 1].before = t->before;
}

/* Begin a state of a thread, which has none. */
static void state_begin(struct scheduling *s, uint32_t thread, uint32_t cpu,
			enum thread_state state, uint64_t time)
{
	struct scheduling_thread *t = &s->threads[thread - 1];

	if (!t->tid || state == THREAD_UNKNOWN)
		return;
	t->state = state;
	t->since = time;
	t->cpu = cpu - 1;
	t->before = 0;
	t->after = s->cpus[cpu - 1].threads;
	if (t->after)
		s->threads[t->after - 1].before = thread;
	s->cpus[cpu - 1].threads = thread;
}

static int put_slice(struct scheduling *s, const struct scheduling_slice *slice, struct error *e)
{
	/* times may step back */
	return slice->end > slice->start ? s->sink->slice(s->ctx, slice, e) : 0;
}

static int state_end(struct scheduling *s, uint32_t thread, uint64_t time, bool unfinished,
		     struct error *e)
{
	struct scheduling_thread *t = &s->threads[thread - 1];
	struct scheduling_slice slice = {.track = TRACK_STATE,
					 .thread = t,
					 .cpu = &s->cpus[t->cpu],
					 .start = t->since,
					 .end = time,
					 .state = t->state,
					 .unfinished = unfinished};

	if (t->state == THREAD_UNKNOWN)
		return 0;
	if (t->state == THREAD_RUNNABLE && t->woken && t->wake.waker)
		slice.waker = &s->threads[t->wake.waker - 1];
	list_remove(s, thread);
	t->state = THREAD_UNKNOWN;
	return put_slice(s, &slice, e);
}

/* --- gaps and ends --- */

static int irqs_end(struct scheduling *s, const struct scheduling_cpu *c,
		    struct scheduling_irqs *irqs, unsigned keep, uint64_t time, struct error *e)
{
	while (irqs->count > keep) {
		const struct scheduling_irq *irq = &irqs->open[--irqs->count];

		if (put_slice(s,
			      &(struct scheduling_slice){.track = irqs == &c->irqs ? TRACK_IRQ
										   : TRACK_SOFTIRQ,
							 .cpu = c,
							 .irq = irq,
							 .start = irq->since,
							 .end = time,
							 .unfinished = true},
			      e))
			return -1;
	}
	return 0;
}

/* End the slice of the thread that runs on a CPU, at which the flow of its wakeup ends. */
static int cpu_end(struct scheduling *s, struct scheduling_cpu *c, uint64_t time,
		   const char *end_state, bool unfinished, struct error *e)
{
	struct scheduling_slice slice = {.track = TRACK_CPU,
					 .cpu = c,
					 .thread = &s->threads[c->running - 1],
					 .start = c->since,
					 .end = time,
					 .end_state = end_state,
					 .unfinished = unfinished};
	struct scheduling_flow flow = {
		.from = &s->cpus[c->wake.cpu], .to = c, .track = c->wake.track, .end = c->since};

	if (put_slice(s, &slice, e))
		return -1;
	if (!c->woken || slice.end <= slice.start)
		return 0;
	flow.start = c->wake.time;
	flow.number = ++s->flows;
	return s->sink->flow(s->ctx, &flow, e);
}

/* End what is open on a CPU, and the states of the threads that were last there. */
static int cpu_lose(struct scheduling *s, uint32_t cpu, uint64_t time, struct error *e)
{
	struct scheduling_cpu *c = &s->cpus[cpu - 1];

	if (c->running && cpu_end(s, c, time, "", true, e))
		return -1;
	c->running = 0;
	c->begun = false;
	while (c->threads) {
		s->threads[c->threads - 1].woken = false;
		if (state_end(s, c->threads, time, true, e))
			return -1;
	}
	return irqs_end(s, c, &c->irqs, 0, time, e) || irqs_end(s, c, &c->softirqs, 0, time, e) ? -1
												: 0;
}

int scheduling_lost(struct scheduling *s, struct error *e)
{
	for (uint32_t i = 0; i < s->ncpus; i++)
		if (cpu_lose(s, i + 1, s->cpus[i].last, e))
			return -1;
	return 0;
}

/* Take a gap of all CPUs of a source. */
static int scheduling_gap(struct scheduling *s, const struct source *source, struct error *e)
{
	for (uint32_t i = 0; i < s->ncpus; i++) {
		const struct scheduling_cpu *c = &s->cpus[i];

		if (c->begun && c->source == source && cpu_lose(s, i + 1, c->last, e))
			return -1;
	}
	return 0;
}

int scheduling_finish(struct scheduling *s, struct error *e)
{
	s->at_end = true;
	for (uint32_t i = 0; i < s->ncpus; i++) {
		const struct source *source = s->cpus[i].source;
		uint32_t number = source ? source->number : 0;

		if (cpu_lose(s, i + 1, number < s->nends ? s->ends[number] : 0, e))
			return -1;
	}
	return 0;
}

/* --- events --- */

/* Switch a thread out: its slice on the CPU and its state end. */
static int switch_out(struct scheduling *s, uint32_t cpu, uint32_t prev, const struct event *ev,
		      const struct switch_state *state, struct error *e)
{
	struct scheduling_cpu *c = &s->cpus[cpu - 1];
	struct scheduling_thread *t = &s->threads[prev - 1];
	bool unseen = !c->running;

	if (c->running && c->running != prev) {
		/* the events in between are missing: another thread was last seen to run */
		if (cpu_end(s, c, c->last, "", true, e) ||
		    state_end(s, c->running, c->last, true, e))
			return -1;
	} else if (c->running) {
		if (cpu_end(s, c, ev->time, state->letters, false, e))
			return -1;
	} else if (put_slice(s,
			     &(struct scheduling_slice){.track = TRACK_CPU,
							.cpu = c,
							.thread = t,
							.start = c->first,
							.end = ev->time,
							.end_state = state->letters,
							.unseen = true},
			     e)) {
		return -1;
	}
	if (t->state == THREAD_UNKNOWN && unseen && t->tid &&
	    put_slice(s,
		      &(struct scheduling_slice){.track = TRACK_STATE,
						 .cpu = c,
						 .thread = t,
						 .start = c->first,
						 .end = ev->time,
						 .state = THREAD_RUNNING,
						 .unseen = true},
		      e))
		return -1;
	if (state_end(s, prev, ev->time, t->state != THREAD_RUNNING, e))
		return -1;
	t->woken = false;
	state_begin(s, prev, cpu, state->state, ev->time);
	return 0;
}

/* Switch a thread in. */
static int switch_in(struct scheduling *s, uint32_t cpu, uint32_t next, uint64_t time,
		     struct error *e)
{
	struct scheduling_cpu *c = &s->cpus[cpu - 1];
	struct scheduling_thread *t = &s->threads[next - 1];

	/* a thread that runs elsewhere has left that CPU unseen */
	if (state_end(s, next, time, t->state == THREAD_RUNNING, e))
		return -1;
	c->woken = t->woken;
	c->wake = t->wake;
	t->woken = false;
	state_begin(s, next, cpu, THREAD_RUNNING, time);
	c->running = next;
	c->since = time;
	return 0;
}

static int take_switch(struct scheduling *s, uint32_t cpu, const struct scheduling_type *t,
		       const struct event *ev, struct error *e)
{
	struct switch_state state = scheduling_state(t, ev);
	struct scheduling_cpu *c = &s->cpus[cpu - 1];
	bool has_prev, has_next;
	uint32_t prev = read_thread(s, cpu, t, ev, SWITCH_PREV_TID, &has_prev);
	uint32_t next = read_thread(s, cpu, t, ev, SWITCH_NEXT_TID, &has_next);
	int64_t prio;

	if (!has_prev || !has_next)
		return 0;
	if (!prev || !next)
		return error_no_memory(e);
	if (switch_out(s, cpu, prev, ev, &state, e) || switch_in(s, cpu, next, ev->time, e))
		return -1;
	c->has_prio = scheduling_number(t, ev, SWITCH_NEXT_PRIO, &prio);
	c->prio = c->has_prio ? (int32_t)prio : 0;
	return 0;
}

static int take_wakeup(struct scheduling *s, uint32_t cpu, const struct scheduling_type *t,
		       const struct event *ev, struct error *e)
{
	const struct scheduling_cpu *c = &s->cpus[cpu - 1];
	const struct lane *lane = ev->lane;
	struct scheduling_thread *woken;
	uint32_t thread, waker;
	int64_t success;
	bool known;

	if (scheduling_number(t, ev, WAKE_SUCCESS, &success) && !success)
		return 0;
	thread = read_thread(s, cpu, t, ev, WAKE_TID, &known);
	if (!known)
		return 0;
	if (!thread)
		return error_no_memory(e);
	/* the event's own thread is the waker */
	waker = c->running;
	if (!t->cpu && lane->flags & LANE_HAS_TID && lane->tid >= 0 && lane->tid < TID_MOST)
		waker = thread_of(s, c, lane->tid, lane->comm.text, waker ? 0 : lane->comm.size);
	woken = &s->threads[thread - 1];
	if (!woken->tid || woken->state == THREAD_RUNNING || woken->state == THREAD_RUNNABLE)
		return 0;
	if (state_end(s, thread, ev->time, false, e))
		return -1;
	woken->woken = true;
	woken->wake = (struct scheduling_wake){.time = ev->time,
					       .cpu = cpu - 1,
					       .waker = waker,
					       .track = c->irqs.count	    ? TRACK_IRQ
							: c->softirqs.count ? TRACK_SOFTIRQ
									    : TRACK_CPU};
	state_begin(s, thread, cpu, THREAD_RUNNABLE, ev->time);
	return 0;
}

static int irq_entry(struct scheduling *s, struct scheduling_cpu *c, struct scheduling_irqs *irqs,
		     const struct scheduling_type *t, const struct event *ev, struct error *e)
{
	struct scheduling_irq irq = {.since = ev->time};
	const struct member *label = NULL;
	const char *name = NULL, *softirq;
	size_t size = 0;

	if (!scheduling_number(t, ev, IRQ_NUMBER, &irq.number))
		return 0;
	if (t->fields[IRQ_NUMBER])
		label = definition_member(t->fields[IRQ_NUMBER]->definition, (uint64_t)irq.number);
	if ((scheduling_text(t, ev, IRQ_NAME, &name, &size) ||
	     scheduling_text(t, ev, IRQ_NUMBER, &name, &size)) &&
	    size)
		irq.name = dictionary_text(s->dictionary, name, size).number;
	else if (label)
		irq.name = label->name.number;
	else if (irqs == &c->softirqs && irq.number >= 0 &&
		 (softirq = softirq_name((uint64_t)irq.number)))
		irq.name = dictionary_text(s->dictionary, softirq, strlen(softirq)).number;
	if (irqs->count == SCHEDULING_NESTED &&
	    irqs_end(s, c, irqs, SCHEDULING_NESTED - 1, c->last, e))
		return -1;
	irqs->open[irqs->count++] = irq;
	return 0;
}

static int irq_exit(struct scheduling *s, struct scheduling_cpu *c, struct scheduling_irqs *irqs,
		    const struct scheduling_type *t, const struct event *ev, struct error *e)
{
	struct scheduling_slice slice = {
		.track = irqs == &c->irqs ? TRACK_IRQ : TRACK_SOFTIRQ, .cpu = c, .end = ev->time};
	unsigned depth = irqs->count;
	int64_t number;

	if (!scheduling_number(t, ev, IRQ_NUMBER, &number))
		return 0;
	while (depth && irqs->open[depth - 1].number != number)
		depth--;
	if (!depth) {
		s->unpaired++;
		return 0;
	}
	if (irqs_end(s, c, irqs, depth, c->last, e))
		return -1;
	irqs->count = depth - 1;
	slice.irq = &irqs->open[depth - 1];
	slice.start = slice.irq->since;
	slice.has_ret = slice.track == TRACK_IRQ && scheduling_number(t, ev, IRQ_RET, &slice.ret);
	return put_slice(s, &slice, e);
}

static int take(struct scheduling *s, uint32_t cpu, const struct scheduling_type *t,
		const struct event *ev, struct error *e)
{
	struct scheduling_cpu *c = &s->cpus[cpu - 1];

	switch (t->kind) {
	case SCHEDULING_SWITCH: return take_switch(s, cpu, t, ev, e);
	case SCHEDULING_WAKING:
	case SCHEDULING_WAKEUP: return take_wakeup(s, cpu, t, ev, e);
	case SCHEDULING_IRQ_ENTRY: return irq_entry(s, c, &c->irqs, t, ev, e);
	case SCHEDULING_SOFTIRQ_ENTRY: return irq_entry(s, c, &c->softirqs, t, ev, e);
	case SCHEDULING_IRQ_EXIT: return irq_exit(s, c, &c->irqs, t, ev, e);
	case SCHEDULING_SOFTIRQ_EXIT: return irq_exit(s, c, &c->softirqs, t, ev, e);
	case SCHEDULING_FREQUENCY:
	case SCHEDULING_LIMITS:
	case SCHEDULING_IDLE:
	case SCHEDULING_MEMORY: return s->sink->counter(s->ctx, t, ev, e);
	}
	return 0;
}

int scheduling_event(struct scheduling *s, const struct event *ev, struct error *e)
{
	const struct scheduling_type *t = scheduling_types_get(&s->types, ev->type);
	uint32_t source = ev->lane->source ? ev->lane->source->number : 0, cpu;
	uint64_t *ends;
	struct scheduling_cpu *c;
	bool known;

	if (!t || ARRAY_REACH(s->ends, s->nends, source))
		return error_no_memory(e);
	ends = s->ends;
	if (ends[source] < ev->time)
		ends[source] = ev->time;
	known = scheduling_cpu(t, ev, &cpu);
	if (ev->type->kind == KIND_GAP && !known)
		return scheduling_gap(s, ev->lane->source, e);
	if (!known)
		return 0;
	cpu = cpu_of(s, ev->lane->source, cpu);
	if (!cpu)
		return error_no_memory(e);
	c = &s->cpus[cpu - 1];
	if (ev->type->kind == KIND_GAP)
		return cpu_lose(s, cpu, c->last, e);
	if (!c->begun) {
		c->begun = true;
		c->first = c->last = ev->time;
	}
	if (t->kind != SCHEDULING_NONE && take(s, cpu, t, ev, e))
		return -1;
	s->cpus[cpu - 1].last = ev->time;
	return 0;
}
