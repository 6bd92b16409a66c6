/*
 * states.c - how much of a call its thread was running, runnable, asleep ...
 */
#include "common/scheduling/states.h"

#include <stdlib.h>
#include <string.h>

#include "common/calls/calls.h"
#include "common/util/buffer.h"
#include "common/value/argument.h"

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

/* What of the past is kept without a look: it stays in the caches. */
enum { PAST_FIRST = 512 };

/* Get how many periods there is room for where there are n. */
static uint32_t past_room(uint32_t n)
{
	return n > 1 ? 2u << (31 - __builtin_clz(n - 1)) : n;
}

/* --- what rows mean --- */

enum {
	ROLE_NOT_LOOKED,
	ROW_OTHER,
	ROW_SCHEDULING, /* of scheduling.h */
	ROW_OUT,	/* the lane's thread leaves its CPU */
	ROW_IN,
	ROW_INTERRUPT,	/* a call of an interrupt, on its CPU */
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
	/* LTTng's interrupts and softirqs are calls, and no other calls nest per CPU */
	if (t->flags & TYPE_PER_CPU && (t->kind == KIND_ENTER || t->kind == KIND_LEAVE))
		return ROW_INTERRUPT;
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

bool states_changed_by(struct states *s, const struct type *t)
{
	uint8_t role = states_role(s, t);

	return role != ROW_OTHER && role != ROW_OF_RUNNING;
}

/* --- tasks --- */

static struct state_task *state_task_at(const struct states *s, uint32_t number)
{
	return pool_at(&s->tasks, number);
}

void states_init(struct states *s, struct dictionary *d, const struct calls *calls)
{
	*s = (struct states){
		.dictionary = d, .calls = calls, .stream = d->stream, .past_most = PAST_FIRST};
	s->types.dictionary = d;
	s->tasks.element = sizeof(struct state_task);
}

void states_free(struct states *s)
{
	scheduling_types_free(&s->types);
	idmap_free(&s->numbers);
	for (uint32_t i = 0; i < s->tasks.count; i++)
		free(state_task_at(s, i)->past);
	pool_free(&s->tasks);
	free(s->roles);
	free(s->known);
	free(s->cpus);
	free(s->sources);
	*s = (struct states){0};
}

/* Forget all threads, because another trace follows. */
static void states_begin_stream(struct states *s)
{
	struct dictionary *d = s->dictionary;
	struct states before = *s;

	states_free(s);
	states_init(s, d, before.calls);
	s->watch = before.watch;
}

/* Add a task; the first one is none. */
static int state_new_task(struct states *s)
{
	struct state_task *t = pool_add(&s->tasks);

	if (!t)
		return -1;
	t->now.state = STATE_UNKNOWN;
	t->number = s->tasks.count - 1;
	return 0;
}

uint32_t states_task(struct states *s, int64_t tid)
{
	uint32_t number = tid > 0 ? idmap_get(&s->numbers, (uint32_t)tid) : 0;

	if (number || tid <= 0)
		return number;
	if ((!s->tasks.count && state_new_task(s)) || state_new_task(s) ||
	    idmap_set(&s->numbers, (uint32_t)tid, s->tasks.count - 1))
		return 0;
	number = s->tasks.count - 1;
	state_task_at(s, number)->tid = (int32_t)tid;
	return number;
}

/* Get the task of a lane; NULL: none is known. */
static struct state_task *state_task_of(const struct states *s, const struct lane *l)
{
	uint32_t number =
		l && l->flags & LANE_HAS_TID ? idmap_get(&s->numbers, (uint32_t)l->tid) : 0;

	return number ? state_task_at(s, number) : NULL;
}

/* --- the past of tasks --- */

/* Get the period of a task that has a time in it. NULL: the time is before the first one. */
static struct state_period *state_period_at(struct state_task *t, uint64_t time)
{
	size_t low = 0, high = t->npast, step = 1;

	if (time >= t->now.since)
		return &t->now;
	/* most calls are short */
	while (step <= high && t->past[high - step].since > time) {
		high -= step;
		step *= 2;
	}
	low = step <= high ? high - step + 1 : 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->past[middle].since <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &t->past[low - 1] : NULL;
}

/* Note that a time of a lane's thread is needed. */
static void states_need(const struct states *s, const struct lane *l, uint64_t time)
{
	struct state_task *t = state_task_of(s, l);
	struct state_period *p = t ? state_period_at(t, time) : NULL;

	if (p)
		p->needed = true;
}

/* Note which times the calls of a stack need. Returns how many calls it has. */
static size_t states_need_stack(const struct states *s, const struct stack *of,
				const struct lane *lane)
{
	for (size_t i = 0; of && i < of->count; i++)
		states_need(s, of->frames[i].lane ? of->frames[i].lane : lane, of->frames[i].start);
	return of ? of->count : 0;
}

/* Note which times the open calls need. Returns how many things it has looked at. */
static size_t states_need_calls(const struct states *s)
{
	const struct calls *c = s->calls;
	size_t n = c->size + c->numbered.count;

	for (size_t i = 0; i < c->size; i++) {
		const struct stack *of = c->stacks[i];

		if (!of)
			continue;
		/* a call that never returns ends at the last row of its thread */
		states_need(s, of->lane, of->last);
		if (of->unseen)
			states_need(s, of->lane, of->unseen_since);
		n += states_need_stack(s, of, of->lane) +
		     states_need_stack(s, of->kernel, of->lane) +
		     states_need_stack(s, of->ignored_inner, of->lane);
	}
	/* those that have ended need some in vain, until other calls have their slots */
	for (size_t i = 0; i < c->numbered.count; i++)
		states_need(s, c->numbered.calls[i].lane, c->numbered.calls[i].start);
	return n;
}

/* Forget the periods of a task that no open call needs. */
static void state_prune(struct state_task *t)
{
	struct state_period *fewer;
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->npast; i++)
		if (t->past[i].needed) {
			t->past[n] = t->past[i];
			t->past[n++].needed = false;
		}
	t->now.needed = false;
	if (n < t->npast) {
		t->npast = n;
		fewer = n ? reallocarray(t->past, past_room(n), sizeof *fewer) : NULL;
		if (!n)
			free(t->past);
		if (fewer || !n)
			t->past = fewer;
	}
}

/* The same of all tasks. Between two uses as many periods are added as half of what it looks at,
 * so the time is linear. */
static void states_prune(struct states *s)
{
	size_t looked = states_need_calls(s) + s->tasks.count;

	s->npast = 0;
	for (uint32_t i = 0; i < s->tasks.count; i++) {
		state_prune(state_task_at(s, i));
		s->npast += state_task_at(s, i)->npast;
	}
	s->past_most = 2 * s->npast + looked / 2 + PAST_FIRST;
}

/* Keep the present period of a task, which ends. */
static int state_keep(struct states *s, struct state_task *t)
{
	struct state_period *past = t->past;

	/* nothing is known before the first switch */
	if (!s->calls || !t->now.since)
		return 0;
	if (s->npast >= s->past_most) {
		states_prune(s);
		past = t->past;
	}
	if (t->npast == past_room(t->npast)) {
		past = reallocarray(past, past_room(t->npast + 1), sizeof *past);
		if (!past)
			return -1;
		t->past = past;
	}
	past[t->npast++] = t->now;
	s->npast++;
	return 0;
}

/* --- states --- */

/* Note whether the state of a task is known. */
static int state_note_known(struct states *s, struct state_task *t, bool known)
{
	if (known == (t->known != 0))
		return 0;
	if (known) {
		if (ARRAY_GROW(s->known, s->known_capacity, s->nknown))
			return -1;
		s->known[s->nknown++] = t;
		t->known = (uint32_t)s->nknown;
		return 0;
	}
	s->known[t->known - 1] = s->known[--s->nknown];
	s->known[t->known - 1]->known = t->known;
	t->known = 0;
	return 0;
}

/* Change the state of a task. */
static int state_set(struct states *s, struct state_task *t, enum state state, uint64_t time)
{
	struct state_period *now = &t->now;
	uint64_t in = time > now->since ? time - now->since : 0;

	if (state == now->state)
		return 0;
	if (state_note_known(s, t, state != STATE_UNKNOWN) || (in && state_keep(s, t)))
		return -1;
	if (now->state != STATE_UNKNOWN)
		now->ns[now->state] += in;
	if (now->state == STATE_BLOCKED) {
		t->blocked = in;
		t->woken = time;
	} else if (state == STATE_BLOCKED) {
		t->blocked = 0;
	}
	now->since += in;
	now->state = (uint8_t)state;
	return s->watch.state ? s->watch.state(s->watch.ctx, t->number, state, now->since) : 0;
}

/* Make the state of a task unknown from a time on, which may be earlier than now. */
static int state_lose(struct states *s, struct state_task *t, uint64_t time)
{
	return t->now.state != STATE_UNKNOWN ? state_set(s, t, STATE_UNKNOWN, time) : 0;
}

static bool is_on_cpu(const struct state_task *t)
{
	return t->now.state == STATE_RUNNING || t->now.state == STATE_IRQ;
}

/* Take a task off its CPU. If it was not on one, a switch is missing since then. */
static int state_leave_cpu(struct states *s, struct state_task *t, enum state cause, uint64_t time)
{
	if (!is_on_cpu(t))
		state_lose(s, t, t->now.since);
	t->cpu = 0;
	return state_set(s, t, cause, time);
}

static int state_wake(struct states *s, int64_t tid, bool begun, uint64_t time)
{
	uint32_t number = states_task(s, tid);
	struct state_task *t;

	if (!number)
		return tid > 0 ? -1 : 0;
	t = state_task_at(s, number);
	if (is_on_cpu(t) || (t->now.state == STATE_UNKNOWN && !begun && !s->watch.state))
		return 0;
	return state_set(s, t, STATE_RUNNABLE, time);
}

static void state_note_io(struct state_period *p, uint64_t time)
{
	p->ns[STATE_BLOCKED] -= time;
	p->ns[STATE_IOWAIT] += time;
}

/* Take the time that a task is or was blocked as I/O wait. */
static void state_was_io(struct state_task *t)
{
	if (t->now.state == STATE_BLOCKED) {
		t->now.state = STATE_IOWAIT;
		return;
	}
	state_note_io(&t->now, t->blocked);
	for (uint32_t i = t->npast; i && t->past[i - 1].since >= t->woken; i--)
		state_note_io(&t->past[i - 1], t->blocked);
	t->blocked = 0;
}

/* --- rows --- */

/* Get what is known of a CPU; NULL: its number is not known, or with *bad set out of memory. */
static struct state_cpu *state_cpu_of(struct states *s, int64_t cpu, bool *bad)
{
	if (cpu < 0 || cpu >= SCHEDULING_CPUS)
		return NULL;
	*bad = ARRAY_REACH(s->cpus, s->ncpus, (size_t)cpu + 1);
	return *bad ? NULL : &s->cpus[cpu + 1];
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
	struct state_task *was;
	uint32_t from, to;

	if (!scheduling_number(type, e, SWITCH_PREV_TID, &prev) ||
	    !scheduling_number(type, e, SWITCH_NEXT_TID, &next))
		return 0;
	from = states_task(s, prev);
	to = states_task(s, next);
	if ((!from && prev > 0) || (!to && next > 0))
		return -1;
	if (from && state_leave_cpu(s, state_task_at(s, from), cause_of(type, e), e->time))
		return -1;
	was = c && c->task && c->task != from ? state_task_at(s, c->task) : NULL;
	if (was && is_on_cpu(was) && was->cpu == (uint32_t)(c - s->cpus))
		state_lose(s, was, was->now.since);
	if (c) {
		c->task = to;
		c->depth = 0;
	}
	if (c && s->watch.turn && s->watch.turn(s->watch.ctx, (uint32_t)(c - s->cpus), to, e->time))
		return -1;
	if (!to)
		return 0;
	state_task_at(s, to)->cpu = c ? (uint32_t)(c - s->cpus) : 0;
	return state_set(s, state_task_at(s, to), STATE_RUNNING, e->time);
}

/* Take the entry or the exit of an interrupt on a CPU. */
static int take_interrupt(struct states *s, struct state_cpu *c, bool entry, uint64_t time)
{
	struct state_task *t = c && c->task ? state_task_at(s, c->task) : NULL;

	if (!c || (!entry && !c->depth))
		return 0;
	c->depth += entry ? 1 : -1u;
	if (!t || c->depth != entry || t->now.state != (entry ? STATE_RUNNING : STATE_IRQ))
		return 0;
	return state_set(s, t, entry ? STATE_IRQ : STATE_RUNNING, time);
}

/* Take a row that only a running thread makes. If the thread is off its CPU, the switch back is
 * missing. */
static void take_running(struct states *s, const struct event *e)
{
	struct state_task *t = state_task_of(s, e->lane);

	if (t && !is_on_cpu(t) && e->time > t->now.since)
		state_lose(s, t, t->now.since);
}

/* Take a row; c: the CPU of its lane, or NULL. */
static int take_scheduling(struct states *s, const struct event *e, struct state_cpu *c)
{
	const struct scheduling_type *type = scheduling_types_get(&s->types, e->type);
	int64_t tid = 0, success = 1;
	bool bad = false;
	uint32_t cpu;

	if (!type)
		return -1;
	if (type->cpu)
		c = scheduling_cpu(type, e, &cpu) ? state_cpu_of(s, cpu, &bad) : NULL;
	if (bad)
		return -1;
	switch (type->kind) {
	case SCHEDULING_SWITCH: return take_switch(s, type, e, c);
	case SCHEDULING_WAKING:
	case SCHEDULING_WAKEUP:
		scheduling_number(type, e, WAKE_SUCCESS, &success);
		take_running(s, e);
		if (!success || !scheduling_number(type, e, WAKE_TID, &tid))
			return 0;
		return state_wake(s, tid, type->message == SCHEDULING_WAKEUP_NEW, e->time);
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
	bool has = e->lane->flags & LANE_HAS_TID && e->lane->tid > 0;
	uint32_t number = has ? states_task(s, e->lane->tid) : 0;
	struct state_task *t;
	struct text_ref name;
	uint64_t runnable = 0;

	if (!number)
		return has ? -1 : 0;
	t = state_task_at(s, number);
	if (!out)
		return is_on_cpu(t) ? 0 : state_set(s, t, STATE_RUNNING, e->time);
	if (t->now.state != STATE_UNKNOWN && !is_on_cpu(t))
		return 0;
	name = dictionary_location_name(s->dictionary, e->location);
	field_number(e, "preempt", &runnable);
	runnable |= memmem(name.text, name.size, preempted, sizeof preempted - 1) != NULL;
	return state_leave_cpu(s, t, runnable ? STATE_RUNNABLE : STATE_OFFCPU, e->time);
}

/* Read a number that is a field or, in rows, an argument. */
static bool iowait_number(const struct states *s, const struct event *e, const char *name,
			  uint64_t *number)
{
	struct value v;

	if (field_number(e, name, number))
		return true;
	if (!argument_find(s->dictionary, e, name, &v) || v.tag != VALUE_UINT)
		return false;
	*number = v.number;
	return true;
}

static int take_iowait(struct states *s, const struct event *e)
{
	uint64_t tid = 0, io = 1;
	uint32_t number;

	if (!iowait_number(s, e, "tid", &tid))
		iowait_number(s, e, "pid", &tid);
	/* Android's kernels write io_wait, others iowait */
	if (!iowait_number(s, e, "io_wait", &io))
		iowait_number(s, e, "iowait", &io);
	number = idmap_get(&s->numbers, (uint32_t)tid);
	if (number && io)
		state_was_io(state_task_at(s, number));
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

/* Note the last rows of the CPUs that states_pass has seen. */
static void states_rows_passed(struct states *s)
{
	struct states_rows *r = s->rows;

	for (uint32_t i = 0; r && i < r->nlanes; i++) {
		struct state_cpu *c = &s->cpus[r->cpu[i]];

		c->last = r->last[i] > c->last ? r->last[i] : c->last;
	}
}

/* Take a gap. All threads that may have been switched in it are unknown from the last row before
 * the gap on, but for those that run on another CPU. */
static int take_gap(struct states *s, const struct event *e)
{
	const struct lane *l = e->lane;
	bool has_cpu = l->flags & LANE_HAS_CPU;
	size_t cpu = has_cpu ? (size_t)(uint32_t)l->cpu + 1 : 0;
	struct state_cpu *c = cpu && cpu < s->ncpus ? &s->cpus[cpu] : NULL;
	uint64_t before;

	if (!hides_switches(s, e))
		return 0;
	states_rows_passed(s);
	before = c ? c->last : has_cpu ? 0 : e->time;
	for (size_t i = s->nknown; i-- > 0;) {
		struct state_task *t = s->known[i];

		if (cpu && is_on_cpu(t) && t->cpu && t->cpu != cpu)
			continue;
		if (!is_on_cpu(t) && s->watch.spared &&
		    s->watch.spared(s->watch.ctx, t->number, (uint32_t)cpu))
			continue;
		if (state_lose(s, t, t->now.since > before ? t->now.since : before))
			return -1;
	}
	if (c)
		c->task = c->depth = 0;
	/* without the number of the CPU: of each */
	for (size_t i = cpu ? cpu : 1; s->watch.turn && i < s->ncpus && (!cpu || i == cpu); i++)
		if (s->watch.turn(s->watch.ctx, (uint32_t)i, STATES_LOST,
				  before ? before : e->time))
			return -1;
	return 0;
}

int states_take(struct states *s, const struct event *e)
{
	struct state_cpu *c;
	bool bad = false;
	uint8_t role;

	if (s->stream != s->dictionary->stream)
		states_begin_stream(s);
	role = states_role(s, e->type);
	if (role == ROW_GAP)
		return take_gap(s, e);
	c = e->lane->flags & LANE_HAS_CPU ? state_cpu_of(s, e->lane->cpu, &bad) : NULL;
	if (c)
		c->last = e->time;
	if (role != ROW_OTHER && role != ROW_OF_RUNNING) {
		bad |= ARRAY_REACH(s->sources, s->nsources, e->lane->source->number);
		if (!bad)
			s->sources[e->lane->source->number] = true;
	}
	if (bad)
		return -1;
	switch (role) {
	case ROLE_NOT_LOOKED: return -1;
	case ROW_OTHER: return 0;
	case ROW_OF_RUNNING: take_running(s, e); return 0;
	case ROW_SCHEDULING: return take_scheduling(s, e, c);
	case ROW_IOWAIT: return take_iowait(s, e);
	case ROW_INTERRUPT: return take_interrupt(s, c, e->type->kind == KIND_ENTER, e->time);
	default: return take_lane_switch(s, e, role == ROW_OUT);
	}
}

int states_rows_begin(struct states *s, const struct block *b, struct states_rows *r)
{
	bool bad = false;

	if (s->stream != s->dictionary->stream)
		states_begin_stream(s);
	if ((!s->tasks.count && state_new_task(s)) || ARRAY_REACH(s->cpus, s->ncpus, 0))
		return -1;
	r->nlanes = b->nlanes < 256 ? b->nlanes : 256;
	for (uint32_t i = 0; i < r->nlanes && !bad; i++) {
		const struct lane *l = b->lanes[i];
		int64_t tid = l->flags & LANE_HAS_TID ? l->tid : 0;
		struct state_cpu *c =
			l->flags & LANE_HAS_CPU ? state_cpu_of(s, l->cpu, &bad) : NULL;
		uint32_t task = states_task(s, tid);

		r->now[i] = &state_task_at(s, task)->now;
		r->cpu[i] = c ? (uint32_t)(c - s->cpus) : 0;
		r->last[i] = 0;
		bad |= tid > 0 && !task;
	}
	s->rows = bad ? NULL : r;
	return bad ? -1 : 0;
}

void states_rows_end(struct states *s)
{
	states_rows_passed(s);
	s->rows = NULL;
}

/* --- calls and pairs --- */

/* Get the time of a task in a state up to a time of a period; NULL: it is before the first one. */
static inline uint64_t state_time(const struct state_period *p, unsigned state, uint64_t time)
{
	return p ? p->ns[state] + (state == p->state ? time - p->since : 0) : 0;
}

/* Get the later of a time and the last change of a task: the clock may have stepped back. */
static uint64_t state_now(const struct state_task *t, uint64_t time)
{
	return time > t->now.since ? time : t->now.since;
}

int states_mark_tid(struct states *s, int64_t tid, uint64_t time, struct state_mark *mark)
{
	uint32_t number = states_task(s, tid);
	struct state_task *t = number ? state_task_at(s, number) : NULL;

	*mark = (struct state_mark){.task = number};
	for (unsigned i = 0; t && i < STATE_UNKNOWN; i++)
		mark->ns[i] = state_time(&t->now, i, state_now(t, time));
	return number || tid <= 0 ? 0 : -1;
}

/* A call that began before its thread left the CPU cannot end while the thread is off it: the
 * switch back is missing. */
static void find_missing_switch(struct states *s, struct state_task *t,
				const struct state_span *span)
{
	if (!is_on_cpu(t) && t->now.since > span->start && t->now.since < span->end)
		state_lose(s, t, t->now.since);
}

const uint64_t *states_of(struct states *s, const struct state_span *span)
{
	struct state_task *t = span->mark ? NULL : state_task_of(s, span->lane);
	uint64_t left = span->total, end = span->end;
	const struct state_period *first = NULL, *last = NULL;

	memset(s->of, 0, sizeof s->of);
	if (span->mark && span->mark->task)
		t = state_task_at(s, span->mark->task);
	if (t && span->left)
		find_missing_switch(s, t, span);
	if (t) {
		end = span->mark ? state_now(t, end) : end;
		last = state_period_at(t, end);
		first = span->mark ? NULL : last;
		if (first && span->start < first->since)
			first = state_period_at(t, span->start);
	}
	if (first && first == last) {
		s->of[first->state] = left;
		return s->of;
	}
	for (unsigned i = 0; last && i < STATE_UNKNOWN; i++) {
		uint64_t begin = span->mark ? span->mark->ns[i] : state_time(first, i, span->start);
		uint64_t until = state_time(last, i, end), in = until > begin ? until - begin : 0;

		s->of[i] = in < left ? in : left;
		left -= s->of[i];
	}
	s->of[STATE_UNKNOWN] = left;
	return s->of;
}
