/*
 * states.c - how much of a call its thread was running, runnable, asleep ...
 */
#include "common/scheduling/states.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"

const char *const state_names[STATES] = {
	[STATE_RUNNING] = "running", [STATE_RUNNABLE] = "runnable", [STATE_SLEEPING] = "sleeping",
	[STATE_BLOCKED] = "blocked", [STATE_IOWAIT] = "iowait",	    [STATE_IRQ] = "irq",
	[STATE_OFFCPU] = "offcpu",   [STATE_UNKNOWN] = "unknown",
};

int state_by_name(const char *name)
{
	for (int i = 0; i < STATES; i++)
		if (!strcmp(name, state_names[i]))
			return i;
	return -1;
}

/* A thread. */
struct state_task {
	uint64_t since;		    /* begin of the state */
	uint64_t ns[STATE_UNKNOWN]; /* up to since */
	uint64_t blocked; /* how long it was blocked last, if that is not known to be I/O; else 0 */
	uint32_t version; /* counts changes */
	uint32_t cpu;	  /* on which it runs */
	uint32_t known;	  /* index in states.known + 1; 0: the state is unknown */
	enum state state;
};

struct state_cpu {
	uint64_t last;	/* time of the last row */
	uint32_t task;	/* the running one, + 1; 0 idle or unknown */
	uint32_t depth; /* of interrupts */
};

#define NO_CPU UINT32_MAX

/* --- what rows mean --- */

enum {
	ROLE_NOT_LOOKED,
	ROW_OTHER,
	ROW_SCHEDULING, /* of scheduling.h */
	ROW_OUT,	/* the lane's thread leaves its CPU */
	ROW_IN,
	ROW_IOWAIT,	/* of a thread that is woken after I/O */
	ROW_OF_RUNNING, /* no thread makes it while it is off its CPU */
	ROW_GAP,
};

static bool state_is_type(const struct type *t, const char *name)
{
	return t->name.size == strlen(name) && !memcmp(t->name.text, name, t->name.size);
}

static bool state_is_one_of(const struct type *t, const char *one, const char *two)
{
	return state_is_type(t, one) || state_is_type(t, two);
}

/* Test for a type of rows that a thread makes in its program, or at the edge of the kernel. In the
 * kernel rows follow the switch on the thread's way out. */
static bool is_of_running(const struct type *t)
{
	if (t->kind == KIND_ENTER || t->kind == KIND_LEAVE)
		return !(t->flags & TYPE_KERNEL) && !state_is_type(t, "funcgraph_entry") &&
		       !state_is_type(t, "funcgraph_exit");
	return (t->name.size >= 9 && !memcmp(t->name.text, "sys_enter", 9)) ||
	       (t->name.size >= 8 && !memcmp(t->name.text, "sys_exit", 8));
}

static uint8_t role_of_type(const struct type *t)
{
	if (t->kind == KIND_GAP)
		return ROW_GAP;
	if (t->flags & TYPE_INNER)
		return t->kind == KIND_ENTER ? ROW_OUT : t->kind == KIND_LEAVE ? ROW_IN : ROW_OTHER;
	if (is_of_running(t))
		return ROW_OF_RUNNING;
	if (t->kind != KIND_INSTANT && t->kind != KIND_SAMPLE)
		return ROW_OTHER;
	if (state_is_type(t, "PERF_RECORD_SWITCH_OUT"))
		return ROW_OUT;
	if (state_is_type(t, "PERF_RECORD_SWITCH_IN"))
		return ROW_IN;
	if (state_is_one_of(t, "sched_stat_iowait", "sched_blocked_reason"))
		return ROW_IOWAIT;
	return ROW_SCHEDULING;
}

bool states_declared(const struct dictionary *d)
{
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);
		uint8_t role = role_of_type(t);

		if (t->used &&
		    (role == ROW_OUT || (role == ROW_SCHEDULING &&
					 state_is_one_of(t, "sched_switch", "sched_schedule"))))
			return true;
	}
	return false;
}

/* Get what the rows of a type mean. */
static uint8_t states_role(struct states *s, const struct type *t)
{
	const struct scheduling_type *type;
	uint8_t role;

	if (t->number < s->nroles && s->roles[t->number])
		return s->roles[t->number];
	if (ARRAY_REACH(s->roles, s->nroles, t->number))
		return ROLE_NOT_LOOKED;
	role = role_of_type(t);
	type = role == ROW_SCHEDULING ? scheduling_types_get(&s->types, t) : NULL;
	if (role == ROW_SCHEDULING && !type)
		return ROLE_NOT_LOOKED;
	if (type && (type->kind == SCHEDULING_NONE || type->kind > SCHEDULING_SOFTIRQ_EXIT))
		role = ROW_OTHER;
	return s->roles[t->number] = role;
}

/* --- tasks --- */

void states_init(struct states *s, struct dictionary *d)
{
	*s = (struct states){.dictionary = d, .stream = d->stream};
	s->types.dictionary = d;
}

void states_free(struct states *s)
{
	scheduling_types_free(&s->types);
	idmap_free(&s->numbers);
	free(s->roles);
	free(s->tasks);
	free(s->known);
	free(s->cpus);
	free(s->threads);
	free(s->sources);
	*s = (struct states){0};
}

/* Forget all threads, because another trace follows. */
static void states_begin_stream(struct states *s)
{
	struct dictionary *d = s->dictionary;

	states_free(s);
	states_init(s, d);
}

/* Get the number of the task with a tid + 1. 0: out of memory, or for the idle tasks. */
static uint32_t state_task_number(struct states *s, int64_t tid)
{
	uint32_t number = tid > 0 ? idmap_get(&s->numbers, (uint32_t)tid) : 0;

	if (number || tid <= 0)
		return number;
	if (ARRAY_GROW(s->tasks, s->tasks_capacity, s->ntasks) ||
	    idmap_set(&s->numbers, (uint32_t)tid, (uint32_t)s->ntasks + 1))
		return 0;
	s->tasks[s->ntasks++] = (struct state_task){.state = STATE_UNKNOWN, .cpu = NO_CPU};
	return (uint32_t)s->ntasks;
}

/* Note whether the state of a task is known. */
static int state_note_known(struct states *s, struct state_task *t, bool known)
{
	if (known == (t->known != 0))
		return 0;
	if (known) {
		if (ARRAY_GROW(s->known, s->known_capacity, s->nknown))
			return -1;
		s->known[s->nknown++] = (uint32_t)(t - s->tasks);
		t->known = (uint32_t)s->nknown;
		return 0;
	}
	s->known[t->known - 1] = s->known[--s->nknown];
	s->tasks[s->known[t->known - 1]].known = t->known;
	t->known = 0;
	return 0;
}

/* Change the state of a task. */
static int state_set(struct states *s, struct state_task *t, enum state state, uint64_t time)
{
	uint64_t in = time > t->since ? time - t->since : 0;

	if (state_note_known(s, t, state != STATE_UNKNOWN))
		return -1;
	if (t->state != STATE_UNKNOWN)
		t->ns[t->state] += in;
	if (t->state == STATE_BLOCKED)
		t->blocked = in;
	else if (state == STATE_BLOCKED)
		t->blocked = 0;
	t->since += in;
	if (t->state == STATE_UNKNOWN)
		t->since = time;
	t->state = state;
	t->version++;
	return 0;
}

/* Make the state of a task unknown from a time on, which may be earlier than now. */
static void state_lose(struct states *s, struct state_task *t, uint64_t time)
{
	if (t->state != STATE_UNKNOWN)
		state_set(s, t, STATE_UNKNOWN, time);
}

static bool is_on_cpu(const struct state_task *t)
{
	return t->state == STATE_RUNNING || t->state == STATE_IRQ;
}

/* Take a task off its CPU. If it was not on one, a switch is missing since then. */
static int state_leave_cpu(struct states *s, uint32_t number, enum state cause, uint64_t time)
{
	struct state_task *t = &s->tasks[number - 1];

	if (!is_on_cpu(t))
		state_lose(s, t, t->since);
	t->cpu = NO_CPU;
	return state_set(s, t, cause, time);
}

static int state_wake(struct states *s, int64_t tid, bool begun, uint64_t time)
{
	uint32_t number = state_task_number(s, tid);
	struct state_task *t;

	if (!number)
		return tid > 0 ? -1 : 0;
	t = &s->tasks[number - 1];
	if (is_on_cpu(t) || t->state == STATE_RUNNABLE || (t->state == STATE_UNKNOWN && !begun))
		return 0;
	return state_set(s, t, STATE_RUNNABLE, time);
}

/* Take the time that a task is or was blocked as I/O wait. */
static void state_was_io(struct state_task *t)
{
	t->version++;
	if (t->state == STATE_BLOCKED) {
		t->state = STATE_IOWAIT;
		return;
	}
	t->ns[STATE_BLOCKED] -= t->blocked;
	t->ns[STATE_IOWAIT] += t->blocked;
	t->blocked = 0;
}

/* --- rows --- */

/* Get what is known of a CPU; NULL: its number is not known, or with *bad set out of memory. */
static struct state_cpu *state_cpu_of(struct states *s, int64_t cpu, bool *bad)
{
	if (cpu < 0 || cpu >= SCHEDULING_CPUS)
		return NULL;
	*bad = ARRAY_REACH(s->cpus, s->ncpus, (size_t)cpu);
	return *bad ? NULL : &s->cpus[cpu];
}

static enum state cause_of(const struct scheduling_type *type, const struct event *e)
{
	switch (scheduling_state(type, e).state) {
	case THREAD_RUNNING:
	case THREAD_RUNNABLE: return STATE_RUNNABLE;
	case THREAD_UNINTERRUPTIBLE: return STATE_BLOCKED;
	case THREAD_UNKNOWN:
	case THREAD_STATES: return STATE_OFFCPU;
	default: return STATE_SLEEPING;
	}
}

/* Take a switch on a CPU, which is NULL if it is not known. */
static int take_switch(struct states *s, const struct scheduling_type *type, const struct event *e,
		       struct state_cpu *c)
{
	int64_t prev = 0, next = 0;
	uint32_t from, to;

	if (!scheduling_number(type, e, SWITCH_PREV_TID, &prev) ||
	    !scheduling_number(type, e, SWITCH_NEXT_TID, &next))
		return 0;
	from = state_task_number(s, prev);
	to = state_task_number(s, next);
	if ((!from && prev > 0) || (!to && next > 0))
		return -1;
	if (from && state_leave_cpu(s, from, cause_of(type, e), e->time))
		return -1;
	if (c && c->task && c->task != from && is_on_cpu(&s->tasks[c->task - 1]) &&
	    s->tasks[c->task - 1].cpu == (uint32_t)(c - s->cpus))
		state_lose(s, &s->tasks[c->task - 1], s->tasks[c->task - 1].since);
	if (c) {
		c->task = to;
		c->depth = 0;
	}
	if (!to)
		return 0;
	s->tasks[to - 1].cpu = c ? (uint32_t)(c - s->cpus) : NO_CPU;
	return state_set(s, &s->tasks[to - 1], STATE_RUNNING, e->time);
}

/* Take the entry or the exit of an interrupt on a CPU. */
static int take_interrupt(struct states *s, struct state_cpu *c, bool entry, uint64_t time)
{
	struct state_task *t = c && c->task ? &s->tasks[c->task - 1] : NULL;

	if (!c || (!entry && !c->depth))
		return 0;
	c->depth += entry ? 1 : -1u;
	if (!t || c->depth != entry || t->state != (entry ? STATE_RUNNING : STATE_IRQ))
		return 0;
	return state_set(s, t, entry ? STATE_IRQ : STATE_RUNNING, time);
}

static int take_scheduling(struct states *s, const struct event *e)
{
	const struct scheduling_type *type = scheduling_types_get(&s->types, e->type);
	struct state_cpu *c = NULL;
	uint32_t cpu;
	int64_t tid = 0, success = 1;
	bool bad = false;

	if (!type)
		return -1;
	if (scheduling_cpu(type, e, &cpu))
		c = state_cpu_of(s, cpu, &bad);
	if (bad)
		return -1;
	switch (type->kind) {
	case SCHEDULING_SWITCH: return take_switch(s, type, e, c);
	case SCHEDULING_WAKING:
	case SCHEDULING_WAKEUP:
		scheduling_number(type, e, WAKE_SUCCESS, &success);
		if (!success || !scheduling_number(type, e, WAKE_TID, &tid))
			return 0;
		return state_wake(s, tid, memmem(e->type->name.text, e->type->name.size, "_new", 4),
				  e->time);
	case SCHEDULING_IRQ_ENTRY:
	case SCHEDULING_SOFTIRQ_ENTRY: return take_interrupt(s, c, true, e->time);
	case SCHEDULING_IRQ_EXIT:
	case SCHEDULING_SOFTIRQ_EXIT: return take_interrupt(s, c, false, e->time);
	default: return 0;
	}
}

/* Take a row of uftrace, or of perf, by which the lane's thread leaves its CPU or gets one. A
 * sched_switch of the same time may have recorded more. */
static int take_lane_switch(struct states *s, const struct event *e, bool out)
{
	static const char preempted[] = "(pre-empted)";
	uint32_t number = e->lane->flags & LANE_HAS_TID ? state_task_number(s, e->lane->tid) : 0;
	struct state_task *t = number ? &s->tasks[number - 1] : NULL;
	struct text_ref name;
	uint64_t runnable = 0;

	if (!t)
		return e->lane->flags & LANE_HAS_TID && e->lane->tid > 0 ? -1 : 0;
	if (!out)
		return is_on_cpu(t) ? 0 : state_set(s, t, STATE_RUNNING, e->time);
	if (t->state != STATE_UNKNOWN && !is_on_cpu(t))
		return 0;
	name = dictionary_location_name(s->dictionary, e->location);
	field_number(e, "preempt", &runnable);
	runnable |= memmem(name.text, name.size, preempted, sizeof preempted - 1) != NULL;
	return state_leave_cpu(s, number, runnable ? STATE_RUNNABLE : STATE_OFFCPU, e->time);
}

static int take_iowait(struct states *s, const struct event *e)
{
	uint64_t tid = 0, io = 1;
	uint32_t number;

	if (!field_number(e, "tid", &tid))
		field_number(e, "pid", &tid);
	/* Android's kernels write io_wait, others iowait */
	if (!field_number(e, "io_wait", &io))
		field_number(e, "iowait", &io);
	number = idmap_get(&s->numbers, (uint32_t)tid);
	if (number && io)
		state_was_io(&s->tasks[number - 1]);
	return 0;
}

/* --- losses --- */

/* Test whether a gap may hide switches. */
static bool hides_switches(const struct states *s, const struct event *e)
{
	uint32_t source = e->lane->source->number;
	struct gap_row gap;

	return source < s->nsources && s->sources[source] &&
	       !(gap_get(e, &gap) && gap.reason == GAP_UNREAD);
}

/* Take a gap. All threads that may have been switched in it are unknown from the last row before
 * the gap on, but for those that run on another CPU. */
static void take_gap(struct states *s, const struct event *e)
{
	const struct lane *l = e->lane;
	bool has_cpu = l->flags & LANE_HAS_CPU;
	struct state_cpu *c =
		has_cpu && l->cpu >= 0 && (size_t)l->cpu < s->ncpus ? &s->cpus[l->cpu] : NULL;
	uint64_t before = c ? c->last : has_cpu ? 0 : e->time;

	if (!hides_switches(s, e))
		return;
	for (size_t i = s->nknown; i-- > 0;) {
		struct state_task *t = &s->tasks[s->known[i]];

		if (has_cpu && is_on_cpu(t) && t->cpu != NO_CPU && t->cpu != (uint32_t)l->cpu)
			continue;
		state_lose(s, t, t->since > before ? t->since : before);
	}
	if (c)
		c->task = c->depth = 0;
}

/* --- threads --- */

/* Note the row of a thread. If only a running one makes it, and the thread is off its CPU, the
 * switch back is missing. */
static int note_thread(struct states *s, const struct event *e, bool runs)
{
	uint32_t number, thread = e->lane->thread;
	struct state_thread *v;
	struct state_task *t;

	if (!(e->lane->flags & LANE_HAS_TID) || e->lane->tid <= 0)
		return 0;
	if (ARRAY_REACH(s->threads, s->nthreads, thread))
		return -1;
	v = &s->threads[thread];
	number = v->then.task;
	if (!number) {
		number = state_task_number(s, e->lane->tid);
		if (!number)
			return -1;
		v->version = ~s->tasks[number - 1].version;
	}
	t = &s->tasks[number - 1];
	if (runs && !is_on_cpu(t) && e->time > t->since)
		state_lose(s, t, t->since);
	v->last = e->time;
	if (v->version != t->version) {
		v->version = t->version;
		v->since = t->since;
		v->state = t->state;
		v->then.task = number;
		memcpy(v->then.ns, t->ns, sizeof t->ns);
	}
	if (!v->first.task)
		states_mark(s, e->lane, e->time, &v->first);
	return 0;
}

int states_take(struct states *s, const struct event *e)
{
	struct state_cpu *c;
	bool bad = false;
	uint8_t role;
	int got = 0;

	if (s->stream != s->dictionary->stream)
		states_begin_stream(s);
	role = states_role(s, e->type);
	switch (role) {
	case ROLE_NOT_LOOKED: return -1;
	case ROW_OTHER:
	case ROW_OF_RUNNING: break;
	case ROW_GAP: take_gap(s, e); return 0;
	case ROW_SCHEDULING: got = take_scheduling(s, e); break;
	case ROW_IOWAIT: got = take_iowait(s, e); break;
	default: got = take_lane_switch(s, e, role == ROW_OUT); break;
	}
	if (role != ROW_OTHER && role != ROW_OF_RUNNING) {
		bad = ARRAY_REACH(s->sources, s->nsources, e->lane->source->number);
		if (!bad)
			s->sources[e->lane->source->number] = true;
	}
	c = e->lane->flags & LANE_HAS_CPU && !bad ? state_cpu_of(s, e->lane->cpu, &bad) : NULL;
	if (c)
		c->last = e->time;
	return got || bad || note_thread(s, e, role == ROW_OF_RUNNING) ? -1 : 0;
}

/* --- calls and pairs --- */

/* Add the time of the state that a mark ends in. */
static void mark_add(struct state_mark *mark, enum state state, uint64_t since, uint64_t time)
{
	if (state != STATE_UNKNOWN && time > since)
		mark->ns[state] += time - since;
}

/* Make the mark of a task now. */
static void mark_of_task(const struct states *s, uint32_t number, uint64_t time,
			 struct state_mark *mark)
{
	const struct state_task *t = &s->tasks[number - 1];

	mark->task = number;
	memcpy(mark->ns, t->ns, sizeof t->ns);
	mark_add(mark, t->state, t->since, time);
}

void states_mark(const struct states *s, const struct lane *l, uint64_t time,
		 struct state_mark *mark)
{
	const struct state_thread *v = l->thread < s->nthreads ? &s->threads[l->thread] : NULL;

	if (!v || !v->then.task) {
		*mark = (struct state_mark){0};
	} else if (time > v->last) {
		mark_of_task(s, v->then.task, time, mark);
	} else {
		*mark = v->then;
		mark_add(mark, v->state, v->since, time);
	}
}

int states_mark_tid(struct states *s, int64_t tid, uint64_t time, struct state_mark *mark)
{
	uint32_t number = state_task_number(s, tid);

	*mark = (struct state_mark){0};
	if (number)
		mark_of_task(s, number, time, mark);
	return number || tid <= 0 ? 0 : -1;
}

/* A call that began before its thread left the CPU cannot end while the thread is off it: the
 * switch back is missing. */
static void find_missing_switch(struct states *s, const struct state_span *span)
{
	struct state_thread *v =
		span->lane->thread < s->nthreads ? &s->threads[span->lane->thread] : NULL;
	struct state_task *t = v && v->then.task ? &s->tasks[v->then.task - 1] : NULL;

	if (!t || t->state == STATE_UNKNOWN || is_on_cpu(t) || t->since <= span->start ||
	    t->since >= span->end)
		return;
	state_lose(s, t, t->since);
	v->version = t->version;
	v->since = t->since;
	v->state = t->state;
}

const uint64_t *states_of(struct states *s, const struct state_span *span)
{
	const struct state_mark *begin = span->mark;
	struct state_mark end = {0};
	uint64_t left = span->total;

	if (span->lane && span->left)
		find_missing_switch(s, span);
	if (span->lane)
		states_mark(s, span->lane, span->end, &end);
	if ((!begin || !begin->task) && end.task)
		begin = &s->threads[span->lane->thread].first;
	if (begin && begin->task && begin->task != end.task)
		mark_of_task(s, begin->task, span->end, &end);
	for (int i = 0; i < STATE_UNKNOWN; i++) {
		uint64_t in = begin && begin->task && end.ns[i] > begin->ns[i]
				      ? end.ns[i] - begin->ns[i]
				      : 0;

		s->of[i] = in < left ? in : left;
		left -= s->of[i];
	}
	s->of[STATE_UNKNOWN] = left;
	return s->of;
}
