/*
 * waits.c - whom a thread waited for: the critical path of a time of a thread
 */
#include "common/scheduling/waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ftrace/kernel_names.h"
#include "common/util/bisect.h"
#include "common/util/buffer.h"
#include "common/util/error.h"

const char *const wait_kind_names[WAIT_KINDS] = {
	[WAIT_RUNNING] = "running",
	[WAIT_INTERRUPTED] = "interrupted",
	[WAIT_CPU] = "waiting for a CPU",
	[WAIT_INVERSION] = "priority inversion",
	[WAIT_IDLE] = "waiting for an idle CPU",
	[WAIT_THROTTLED] = "throttled",
	[WAIT_INTERRUPT] = "waiting for an interrupt",
	[WAIT_UNKNOWN] = "unknown",
};

const char *const wait_unknown_names[WAIT_UNKNOWNS] = {
	[WAIT_NO_WAKEUP] = "no wakeup recorded",      [WAIT_NOT_WOKEN] = "not woken before the end",
	[WAIT_NO_SWITCH] = "no switch recorded",      [WAIT_LOST] = "events lost",
	[WAIT_FORGOTTEN] = "older than what is kept", [WAIT_TOO_DEEP] = "chain too deep",
	[WAIT_NO_THREAD] = "thread not recorded",
};

enum { MARKS_FIRST = 4096, GRAIN_FIRST = 1000 };

/* wait_mark.what: the number of an interrupt, not of a task. */
#define WAKER_INTERRUPT (1u << 31)

/* Flags of wait_mark.state. */
enum {
	MARK_STATE = 7,
	MARK_TIED = 8, /* the thread runs; its wakeup has the same time, and was read later */
	MARK_PREEMPTED = 16,
	MARK_MIGRATED = 32,
	MARK_LOST = 64, /* events were lost meanwhile */
};

static enum state mark_state(const struct wait_mark *m)
{
	return (enum state)(m->state & MARK_STATE);
}

/* --- what events mean --- */

enum {
	ROLE_WAITS_NOT_LOOKED,
	WAITS_OTHER,
	WAITS_SWITCH,
	WAITS_WAKING,
	WAITS_WAKEUP,
	WAITS_MIGRATE,
	WAITS_IRQ,
	WAITS_IRQ_EXIT,
	WAITS_SOFTIRQ,
	WAITS_SOFTIRQ_EXIT,
	WAITS_CALL, /* of LTTng, where interrupts are calls */
	WAITS_CALL_EXIT,
	WAITS_NAMED, /* an interrupt or a timer whose name is that of its type */
	WAITS_NAMED_EXIT,
};

/* Interrupts and timers whose types, with _entry or _exit after the name, are not of the scheduler.
 */
static const char *const interrupts[] = {
	"local_timer",		"reschedule",	 "call_function",
	"call_function_single", "irq_work",	 "x86_platform_ipi",
	"thermal_apic",		"spurious_apic", "hrtimer_expire",
	"timer_expire",		"ipi",		 "irq_handler",
	"timer_hrtimer_expire",
};

/* Get the name in that list that a type has with an ending; NULL: none. */
static const char *interrupt_of(const struct type *t, const char *ending)
{
	for (size_t i = 0; i < sizeof interrupts / sizeof *interrupts; i++) {
		size_t n = strlen(interrupts[i]);

		if (t->name.size == n + strlen(ending) && !memcmp(t->name.text, interrupts[i], n) &&
		    !memcmp(t->name.text + n, ending, strlen(ending)))
			return interrupts[i];
	}
	return NULL;
}

static uint8_t role_of_kind(enum scheduling_kind kind)
{
	switch (kind) {
	case SCHEDULING_SWITCH: return WAITS_SWITCH;
	case SCHEDULING_WAKING: return WAITS_WAKING;
	case SCHEDULING_WAKEUP: return WAITS_WAKEUP;
	case SCHEDULING_IRQ_ENTRY: return WAITS_IRQ;
	case SCHEDULING_IRQ_EXIT: return WAITS_IRQ_EXIT;
	case SCHEDULING_SOFTIRQ_ENTRY: return WAITS_SOFTIRQ;
	case SCHEDULING_SOFTIRQ_EXIT: return WAITS_SOFTIRQ_EXIT;
	default: return WAITS_OTHER;
	}
}

static uint8_t waits_role_of(const struct type *t, const struct scheduling_type *type)
{
	static const char migrate[] = "sched_migrate_task";
	uint8_t role = role_of_kind((enum scheduling_kind)type->kind);

	if (role != WAITS_OTHER)
		return role;
	if (t->flags & TYPE_PER_CPU && (t->kind == KIND_ENTER || t->kind == KIND_LEAVE))
		return t->kind == KIND_ENTER ? WAITS_CALL : WAITS_CALL_EXIT;
	if (t->kind != KIND_INSTANT && t->kind != KIND_SAMPLE)
		return WAITS_OTHER;
	if (t->name.size == sizeof migrate - 1 && !memcmp(t->name.text, migrate, t->name.size))
		return WAITS_MIGRATE;
	return interrupt_of(t, "_entry")  ? WAITS_NAMED
	       : interrupt_of(t, "_exit") ? WAITS_NAMED_EXIT
					  : WAITS_OTHER;
}

/* Get what the rows of a type mean. */
static uint8_t waits_role(struct waits *w, const struct type *t)
{
	const struct scheduling_type *type;

	if (t->number < w->nroles && w->roles[t->number])
		return w->roles[t->number];
	if (ARRAY_REACH(w->roles, w->nroles, t->number))
		return ROLE_WAITS_NOT_LOOKED;
	type = scheduling_types_get(&w->states.types, t);
	return type ? (w->roles[t->number] = waits_role_of(t, type)) : ROLE_WAITS_NOT_LOOKED;
}

/* --- marks --- */

static bool has_past(const struct waits *w, const struct wait_history *h)
{
	return w->keeps && h->kept == w->kept;
}

/* Count the marks of a history before the present one. */
static size_t past_count(const struct waits *w, const struct wait_history *h)
{
	return has_past(w, h) ? h->count : 0;
}

/* Get a mark by its number, up to past_count. */
static struct wait_mark *mark_at(const struct waits *w, struct wait_history *h, size_t i)
{
	return i < past_count(w, h) ? &h->past[i] : &h->now;
}

static bool mark_is_before(const struct wait_mark *m, uint64_t time, uint64_t order)
{
	return m->since < time || (m->since == time && m->order < order);
}

/* Count the marks that began before a time, or at that time in rows before a row. */
static size_t marks_before(const struct waits *w, struct wait_history *h, uint64_t time,
			   uint64_t order)
{
	size_t n = past_count(w, h);

	return mark_is_before(&h->now, time, order)
		       ? n + 1
		       : BISECT(n, i, mark_is_before(&h->past[i], time, order));
}

static int marks_resize(struct waits *w, struct wait_history *h, size_t capacity)
{
	struct wait_mark *past = h->past;

	if (capacity) {
		past = reallocarray(past, capacity, sizeof *past);
		if (!past)
			return capacity > h->capacity ? -1 : 0;
		h->past = past;
	} else {
		free(past);
		h->past = NULL;
	}
	w->room = w->room - h->capacity + capacity;
	h->capacity = capacity;
	return 0;
}

/* Keep the present mark, which ends. */
static int mark_keep(struct waits *w, struct wait_history *h)
{
	if (!w->keeps)
		return 0;
	if (h->kept != w->kept) {
		h->kept = w->kept;
		h->count = 0;
	}
	if (h->count == h->capacity && marks_resize(w, h, h->capacity ? 2 * h->capacity : 4))
		return -1;
	h->past[h->count++] = h->now;
	w->nmarks++;
	return 0;
}

/* Begin another mark. One that lasts no time is kept only where the order of rows counts. */
static int mark_put(struct waits *w, struct wait_history *h, const struct wait_mark *m)
{
	uint64_t since = m->since > h->now.since ? m->since : h->now.since;

	if ((since > h->now.since || m->order) && mark_keep(w, h))
		return -1;
	h->now = *m;
	h->now.since = since;
	return 0;
}

/* Call a function for the histories of all threads and CPUs. */
static void waits_each(struct waits *w,
		       void (*f)(struct waits *w, struct wait_history *h, uint64_t since),
		       uint64_t since, bool functions_only)
{
	for (size_t i = 0; i < w->ntasks; i++) {
		f(w, &w->tasks[i].functions, since);
		if (!functions_only)
			f(w, &w->tasks[i].states, since);
	}
	for (size_t i = 0; i < w->ncpus && !functions_only; i++)
		f(w, &w->cpus[i].turns, since);
}

static void marks_free(struct waits *w, struct wait_history *h, uint64_t since)
{
	(void)since;
	marks_resize(w, h, 0);
	h->count = 0;
}

/* Leave the first n marks out, which are not counted any more. */
static void marks_drop(struct waits *w, struct wait_history *h, size_t n)
{
	if (n && n < h->count)
		memmove(h->past, h->past + n, (h->count - n) * sizeof *h->past);
	h->count -= n;
	w->nmarks -= n;
	if (h->capacity > 16 && h->count < h->capacity / 4)
		marks_resize(w, h, h->count ? 2 * h->count : 0);
}

/* Forget the marks that are over at a time. */
static void marks_forget(struct waits *w, struct wait_history *h, uint64_t since)
{
	size_t n = past_count(w, h), over;

	if (!n)
		return;
	/* the last mark that began before that time goes on */
	over = BISECT(n, i, h->past[i].since <= since);
	if (h->now.since <= since)
		marks_drop(w, h, n);
	else if (over > 1)
		marks_drop(w, h, over - 1);
}

/* Forget the functions that were innermost for less than the grain. */
static void marks_thin(struct waits *w, struct wait_history *h, uint64_t since)
{
	size_t n = past_count(w, h), left = 0;

	(void)since;
	for (size_t i = 0; i < n; i++)
		if (mark_at(w, h, i + 1)->since - h->past[i].since >= w->grain)
			h->past[left++] = h->past[i];
	if (left < n) {
		h->count = left;
		w->nmarks -= n - left;
		w->nfunctions -= n - left;
		marks_drop(w, h, 0);
	}
}

void waits_keep(struct waits *w, bool keep, uint64_t now)
{
	w->keeps = keep;
	w->nmarks = w->nfunctions = 0;
	w->marks_most = MARKS_FIRST;
	w->kept_since = now;
	w->grain = GRAIN_FIRST;
	w->kept++;
	/* those of before are still there */
	if (w->room > WAITS_MOST)
		waits_each(w, marks_free, 0, false);
}

static void count_functions(struct waits *w)
{
	w->nfunctions = 0;
	for (size_t i = 0; i < w->ntasks; i++)
		w->nfunctions += past_count(w, &w->tasks[i].functions);
}

void waits_forget(struct waits *w, uint64_t since, size_t looked)
{
	uint64_t last = 0;

	waits_each(w, marks_forget, since, false);
	count_functions(w);
	if (since > w->kept_since)
		w->kept_since = since;
	while (w->nmarks > WAITS_MOST / 2 && w->nfunctions > w->nmarks / 2 &&
	       w->grain < UINT64_MAX / 2) {
		w->grain *= 2;
		waits_each(w, marks_thin, 0, true);
	}
	for (size_t i = 0; i < w->ncpus; i++)
		last = w->cpus[i].turns.now.since > last ? w->cpus[i].turns.now.since : last;
	for (size_t i = 0; i < w->ntasks; i++) {
		uint64_t now = w->tasks[i].states.now.since;

		last = now > last ? now : last;
	}
	while (w->nmarks > WAITS_MOST / 2 && w->kept_since < last) {
		w->kept_since += (last - w->kept_since + 1) / 2;
		waits_each(w, marks_forget, w->kept_since, false);
		w->dropped = true;
	}
	w->marks_most = 2 * w->nmarks + (looked + w->ntasks) / 2 + MARKS_FIRST;
	if (w->marks_most > WAITS_MOST)
		w->marks_most = WAITS_MOST;
}

/* --- tasks --- */

static int waits_state(void *ctx, uint32_t task, enum state state, uint64_t since);
static int waits_turn(void *ctx, uint32_t cpu, uint32_t task, uint64_t time);
static bool waits_spared(void *ctx, uint32_t task, uint32_t cpu);

void waits_init(struct waits *w, struct dictionary *d)
{
	*w = (struct waits){.dictionary = d, .stream = d->stream};
	states_init(&w->states, d, NULL);
	w->states.watch.state = waits_state;
	w->states.watch.turn = waits_turn;
	w->states.watch.spared = waits_spared;
	w->states.watch.ctx = w;
	waits_keep(w, false, 0);
}

/* Free what is of one stream. */
static void waits_free_stream(struct waits *w)
{
	waits_each(w, marks_free, 0, false);
	states_free(&w->states);
	free(w->roles);
	free(w->tasks);
	free(w->cpus);
	free(w->lanes);
}

void waits_free(struct waits *w)
{
	waits_free_stream(w);
	intern_free(&w->names);
	*w = (struct waits){0};
}

/* Forget all threads, because another trace follows. */
static void waits_begin_stream(struct waits *w)
{
	struct waits before = *w;

	waits_free_stream(w);
	waits_init(w, before.dictionary);
	w->names = before.names;
	w->dropped = before.dropped;
	if (before.keeps)
		waits_keep(w, true, 0);
	w->seen = before.seen;
}

/* Get a task by its number in states; NULL: out of memory. */
static struct wait_task *wait_task_at(struct waits *w, uint32_t number)
{
	size_t had = w->ntasks;

	if (number >= had && ARRAY_REACH(w->tasks, w->ntasks, number))
		return NULL;
	for (size_t i = had; i < w->ntasks; i++)
		w->tasks[i].states.now.state = STATE_UNKNOWN;
	return &w->tasks[number];
}

uint32_t waits_task(struct waits *w, const struct lane *lane)
{
	struct wait_task *t;
	uint32_t number;

	if (lane->number < w->nlanes && w->lanes[lane->number])
		return w->lanes[lane->number];
	number = lane->flags & LANE_HAS_TID && lane->tid > 0
			 ? idmap_get(&w->states.numbers, (uint32_t)lane->tid)
			 : 0;
	t = number ? wait_task_at(w, number) : NULL;
	if (!t || ARRAY_REACH(w->lanes, w->nlanes, lane->number))
		return 0;
	t->tid = lane->tid;
	if (!t->lane || lane->comm.size)
		t->lane = lane;
	return w->lanes[lane->number] = number;
}

int waits_call(struct waits *w, const struct lane *lane, uint32_t function, uint64_t time)
{
	uint32_t number = waits_task(w, lane);
	const struct wait_mark m = {.since = time, .what = function};
	struct wait_history *h;

	if (!number)
		return 0;
	h = &w->tasks[number].functions;
	if (h->now.what == function)
		return 0;
	if (time <= h->now.since || time - h->now.since < w->grain) {
		h->now.what = function;
		h->now.since = time > h->now.since ? time : h->now.since;
		return 0;
	}
	w->nfunctions += w->keeps;
	return mark_put(w, h, &m);
}

/* --- interrupts --- */

/* Of common_flags. */
enum { FLAGS_HARD = 0x08, FLAGS_SOFT = 0x10, FLAGS_NMI = 0x40 };

/* Get the CPU of the present event; NULL: it is not known, or with *bad set out of memory. */
static struct wait_cpu *event_cpu(struct waits *w, bool *bad)
{
	if (!w->event.cpu)
		return NULL;
	*bad = ARRAY_REACH(w->cpus, w->ncpus, w->event.cpu);
	return *bad ? NULL : &w->cpus[w->event.cpu];
}

/* Get the number of a name of a kind of interrupts: "irq disk". */
static uint32_t interrupt_words(struct waits *w, const char *kind, const char *text, size_t size)
{
	char words[64];

	snprintf(words, sizeof words, "%s %.*s", kind, (int)(size < 48 ? size : 48), text);
	return intern_string(&w->names, words);
}

/* Name an interrupt by an event that begins it. */
static uint32_t interrupt_name(struct waits *w, const struct event *e, uint8_t role)
{
	const struct scheduling_type *type = scheduling_types_get(&w->states.types, e->type);
	const struct field *f = field_find(e->type, "name");
	const char *name = interrupt_of(e->type, "_entry"), *text = NULL;
	struct field_value v = {.form = FORM_NONE};
	int64_t number;
	size_t size = 0;

	if (!type)
		return INTERN_NONE;
	if (role == WAITS_IRQ)
		return scheduling_text(type, e, IRQ_NAME, &text, &size)
			       ? interrupt_words(w, "irq", text, size)
			       : intern_string(&w->names, "irq");
	if (role == WAITS_SOFTIRQ) {
		if (!scheduling_number(type, e, IRQ_NUMBER, &number) || number < 0 ||
		    number >= SOFTIRQS)
			return intern_string(&w->names, "softirq");
		text = softirq_name((unsigned)number);
		return interrupt_words(w, "softirq", text, strlen(text));
	}
	if (f)
		field_get(e, f, 0, &v);
	if (v.form == FORM_TEXT && v.size)
		return interrupt_words(w, "irq", (const char *)v.text, v.size);
	/* "irq 33", "softirq NET_RX" */
	if (role == WAITS_CALL && e->location) {
		struct text_ref of = dictionary_location_name(w->dictionary, e->location);

		return intern(&w->names, of.text, of.size);
	}
	if (name)
		return intern_string(&w->names,
				     !strcmp(name, "hrtimer_expire") ||
						     !strcmp(name, "timer_hrtimer_expire")
					     ? "hrtimer"
				     : !strcmp(name, "timer_expire") ? "timer"
								     : name);
	return intern(&w->names, e->type->name.text, e->type->name.size);
}

/* Read from the flags of an event whether an interrupt runs. false: the event has no flags. */
static bool interrupt_flags(const struct scheduling_type *type, const struct event *e,
			    uint8_t *flags)
{
	struct field_value v = {.form = FORM_NONE};

	if (type->flags)
		field_get(e, type->flags, 0, &v);
	if (v.form != FORM_UINT && v.form != FORM_INT)
		return false;
	*flags = v.u & (FLAGS_HARD | FLAGS_NMI) ? FLAGS_HARD : v.u & FLAGS_SOFT ? FLAGS_SOFT : 0;
	return true;
}

/* Take the begin or the end of an interrupt. */
static int waits_interrupt(struct waits *w, const struct event *e, uint8_t role)
{
	bool ends = role == WAITS_IRQ_EXIT || role == WAITS_SOFTIRQ_EXIT ||
		    role == WAITS_CALL_EXIT || role == WAITS_NAMED_EXIT,
	     bad = false;
	const struct scheduling_type *type = scheduling_types_get(&w->states.types, e->type);
	struct wait_cpu *c = event_cpu(w, &bad);
	uint32_t name;
	uint8_t flags = 0;

	w->seen |= SEEN_INTERRUPT;
	if (!c || !type)
		return bad || !type ? -1 : 0;
	if (ends) {
		/* an end that is missing ends with an outer one */
		for (uint32_t i = c->depth; i-- > 0;)
			if (c->interrupts[i].role == role) {
				c->depth = i;
				break;
			}
		return 0;
	}
	interrupt_flags(type, e, &flags);
	name = interrupt_name(w, e, role);
	if (name == INTERN_NONE)
		return -1;
	w->event.waker = WAKER_INTERRUPT | name;
	if (c->depth < WAITS_INTERRUPTS) {
		c->interrupts[c->depth].name = name;
		c->interrupts[c->depth].flags = flags;
		c->interrupts[c->depth++].role = (uint8_t)(role + 1);
	}
	return 0;
}

/* Name the interrupt that runs now in place of a thread: the innermost one. */
static int waits_innermost(struct waits *w, uint64_t time)
{
	uint32_t cpu = w->event.cpu, task = cpu < w->states.ncpus ? w->states.cpus[cpu].task : 0;
	const struct wait_cpu *c = cpu < w->ncpus ? &w->cpus[cpu] : NULL;
	uint32_t i = c ? c->depth : 0;
	struct wait_mark m;

	/* the others do not take the time of the thread */
	while (i && c->interrupts[i - 1].role == WAITS_NAMED_EXIT)
		i--;
	if (!i || !task || task >= w->ntasks)
		return 0;
	m = w->tasks[task].states.now;
	if (mark_state(&m) != STATE_IRQ || m.what == (WAKER_INTERRUPT | c->interrupts[i - 1].name))
		return 0;
	m.since = time;
	m.order = w->order;
	m.what = WAKER_INTERRUPT | c->interrupts[i - 1].name;
	return mark_put(w, &w->tasks[task].states, &m);
}

/* --- wakeups --- */

/* Get the task of a thread that an event of the scheduler names, its comm before its tid. NULL: out
 * of memory. */
static struct wait_task *waits_named(struct waits *w, const struct scheduling_type *type,
				     const struct event *e, unsigned comm_slot, int64_t tid)
{
	uint32_t number = states_task(&w->states, tid);
	struct wait_task *t = number ? wait_task_at(w, number) : NULL;
	const char *text;
	size_t size;

	if (!t)
		return NULL;
	t->tid = (int32_t)tid;
	if (t->lane || t->comm || !scheduling_text(type, e, comm_slot, &text, &size) || !size)
		return t;
	t->comm = intern(&w->names, text, size) + 1;
	return t->comm ? t : NULL;
}

static uint32_t waker_interrupt(struct waits *w, const char *name)
{
	uint32_t number = intern_string(&w->names, name);

	return number == INTERN_NONE ? 0 : WAKER_INTERRUPT | number;
}

/* Find who wakes a thread: an interrupt of the CPU, else the thread of the event. 0: not known. */
static uint32_t waker_of(struct waits *w, const struct scheduling_type *type, const struct event *e,
			 struct wait_cpu *c)
{
	const struct lane *l = e->lane;
	uint8_t flags = 0;
	bool known = interrupt_flags(type, e, &flags);

	/* the end of an interrupt may be lost; the idle task itself wakes no thread */
	while (known && c && c->depth && l->flags & LANE_HAS_TID && l->tid > 0 &&
	       c->interrupts[c->depth - 1].flags & ~flags)
		c->depth--;
	if (c && c->depth)
		return WAKER_INTERRUPT | c->interrupts[c->depth - 1].name;
	if (flags)
		return waker_interrupt(w, flags & FLAGS_HARD ? "interrupt" : "softirq");
	if (!(l->flags & LANE_HAS_TID))
		return 0;
	if (l->tid <= 0)
		return waker_interrupt(w, "interrupt of an idle CPU");
	if (!states_task(&w->states, l->tid))
		return 0;
	return waits_task(w, l);
}

/* Take a wakeup of a thread: note who wakes it. */
static void waits_woken_by(struct waits *w, struct wait_task *t, uint64_t time, uint32_t waker)
{
	struct wait_mark *now = &t->states.now;

	w->event.waker = waker != w->event.woken ? waker : 0;
	if (mark_state(now) == STATE_RUNNING && now->since == time && !now->what) {
		now->what = w->event.waker;
		now->state |= MARK_TIED;
	} else if (w->event.role == WAITS_WAKING) {
		t->waking = time;
		t->waker = w->event.waker;
	} else if (t->waking) {
		/* that was on its way to sleep when it was woken, or is woken by another CPU's
		   interrupt */
		w->event.waker = t->waker;
		w->event.late = mark_state(now) != STATE_UNKNOWN && t->waking <= now->since;
		t->waking = 0;
	}
}

/* Note who wakes which thread, before the states take the event. */
static int waits_wake(struct waits *w, const struct scheduling_type *type, const struct event *e)
{
	bool waking = w->event.role == WAITS_WAKING, bad = false;
	struct wait_cpu *c = event_cpu(w, &bad);
	int64_t tid = 0, cpu = -1, success = 1;
	struct wait_task *t;
	uint32_t waker;

	w->seen |= waking ? SEEN_WAKING : SEEN_WAKEUP;
	scheduling_number(type, e, WAKE_SUCCESS, &success);
	if (bad || !success || !scheduling_number(type, e, WAKE_TID, &tid) || tid <= 0)
		return bad ? -1 : 0;
	/* may move the tasks */
	waker = waker_of(w, type, e, c);
	t = waits_named(w, type, e, WAKE_COMM, tid);
	if (!t)
		return -1;
	w->event.woken = (uint32_t)(t - w->tasks);
	if (scheduling_number(type, e, WAKE_CPU, &cpu) && cpu >= 0 && cpu < UINT16_MAX)
		w->event.on = (uint32_t)cpu + 1;
	waits_woken_by(w, t, e->time, waker);
	return 0;
}

static int waits_migrate(struct waits *w, const struct event *e)
{
	uint64_t tid = 0, from = 0, to = 0;
	struct wait_task *t;
	struct wait_mark m;
	uint32_t number;

	if (!field_number(e, "tid", &tid))
		field_number(e, "pid", &tid);
	if (!field_number(e, "orig_cpu", &from) || !field_number(e, "dest_cpu", &to) ||
	    from >= UINT16_MAX || to >= UINT16_MAX)
		return 0;
	number = idmap_get(&w->states.numbers, (uint32_t)tid);
	t = number ? wait_task_at(w, number) : NULL;
	if (!t || mark_state(&t->states.now) != STATE_RUNNABLE)
		return 0;
	t->states.now.cpu = (uint16_t)(from + 1);
	m = t->states.now;
	m.since = e->time;
	m.order = w->order;
	m.what = 0;
	m.cpu = (uint16_t)(to + 1);
	m.state |= MARK_MIGRATED;
	return mark_put(w, &t->states, &m);
}

/* --- states --- */

/* Begin the turn of a thread on a CPU: what it was before. */
static void waits_runs(struct waits *w, struct wait_task *t, uint16_t cpu)
{
	struct wait_mark *now = &t->states.now;

	switch (mark_state(now)) {
	case STATE_RUNNING:
	case STATE_IRQ:
	case STATE_UNKNOWN: break;
	case STATE_RUNNABLE:
		/* a thread that was preempted waits for the CPU that it left, until another one
		   takes it */
		if (!(now->state & MARK_PREEMPTED) || !now->cpu)
			now->cpu = cpu;
		else if (now->cpu != cpu)
			now->state |= MARK_MIGRATED;
		break;
	default:
		/* its wakeup has the time at which it slept, and was read before */
		if (t->waking && t->waking == now->since) {
			now->state = STATE_RUNNABLE;
			now->what = t->waker;
			now->cpu = cpu;
		}
	}
	t->waking = 0;
	w->seen |= SEEN_SWITCH;
}

/* Complete the mark of a thread that becomes runnable. */
static void waits_runnable(const struct waits *w, uint32_t task, struct wait_mark *m)
{
	if (w->event.woken == task) {
		m->what = w->event.waker;
		m->cpu = w->event.on ? (uint16_t)w->event.on : m->cpu;
		return;
	}
	m->state |= MARK_PREEMPTED;
	m->cpu = m->cpu ? m->cpu : (uint16_t)w->event.cpu;
}

static int waits_state(void *ctx, uint32_t task, enum state state, uint64_t since)
{
	struct waits *w = ctx;
	struct wait_task *t = wait_task_at(w, task);
	struct wait_mark m = {.since = since, .order = w->order, .state = (uint8_t)state}, *now;

	if (!t)
		return -1;
	now = &t->states.now;
	m.priority = t->priority;
	m.cpu = now->cpu;
	if (!t->first || (now->state & WAIT_MARK_ENDED && state != STATE_UNKNOWN))
		t->first = since;
	if (w->event.role == WAITS_SWITCH && state != STATE_RUNNING && state != STATE_UNKNOWN &&
	    mark_state(now) == STATE_UNKNOWN && !now->since && w->event.cpu < w->ncpus &&
	    !w->cpus[w->event.cpu].turns.now.since) {
		/* the first switch of its CPU: the thread ran before */
		now->state = STATE_RUNNING;
		now->cpu = m.cpu = (uint16_t)w->event.cpu;
	}
	switch (state) {
	case STATE_RUNNING:
	case STATE_IRQ:
		m.cpu = (uint16_t)(w->event.cpu < UINT16_MAX ? w->event.cpu : 0);
		m.what = state == STATE_IRQ ? w->event.waker : 0;
		waits_runs(w, t, m.cpu);
		break;
	case STATE_RUNNABLE:
		waits_runnable(w, task, &m);
		w->event.leaves = w->event.woken == task ? 0 : task;
		if (w->event.woken != task || !w->event.late)
			break;
		now->state = STATE_RUNNABLE;
		now->what = m.what;
		return 0;
	case STATE_UNKNOWN: m.state |= w->event.gap ? MARK_LOST : now->state & MARK_LOST; break;
	default: w->event.leaves = task;
	}
	return mark_put(w, &t->states, &m);
}

/* Test whether a loss of a CPU leaves the state of a thread. A thread that was on another CPU last
 * goes on to sleep, or to wait for that one, as far as the next event of the thread agrees. */
static bool waits_spared(void *ctx, uint32_t task, uint32_t cpu)
{
	struct waits *w = ctx;
	struct wait_mark *now = &w->tasks[task].states.now;

	now->state |= MARK_LOST;
	return cpu && now->cpu && now->cpu != cpu;
}

static int waits_turn(void *ctx, uint32_t cpu, uint32_t task, uint64_t time)
{
	struct waits *w = ctx;
	bool lost = task == STATES_LOST;
	struct wait_mark m = {.since = time, .what = lost ? 0 : task + 1, .cpu = (uint16_t)cpu};
	struct wait_task *t;

	if (ARRAY_REACH(w->cpus, w->ncpus, cpu))
		return -1;
	w->cpus[cpu].depth = 0;
	t = task && !lost ? wait_task_at(w, task) : NULL;
	if (task && !lost && !t)
		return -1;
	m.priority = t ? t->priority : 0;
	if (t && mark_state(&t->states.now) == STATE_RUNNING && !t->states.now.cpu) {
		/* another event, which does not record the CPU, came first */
		size_t n = past_count(w, &t->states);

		t->states.now.cpu = m.cpu;
		if (n && mark_state(&t->states.past[n - 1]) == STATE_RUNNABLE)
			t->states.past[n - 1].cpu = m.cpu;
	}
	return mark_put(w, &w->cpus[cpu].turns, &m);
}

/* Take the first switch of a CPU: it ran the previous thread before. */
static void waits_first_turn(struct waits *w, const struct scheduling_type *type,
			     const struct event *e)
{
	struct wait_mark *now = &w->cpus[w->event.cpu].turns.now;
	int64_t tid = 0;

	if (now->what || now->since || !w->event.cpu ||
	    !scheduling_number(type, e, SWITCH_PREV_TID, &tid) || tid < 0)
		return;
	now->what = 1 + (tid ? idmap_get(&w->states.numbers, (uint32_t)tid) : 0);
	now->priority = tid && now->what > 1 ? w->tasks[now->what - 1].priority : 0;
}

/* Note the priority of a thread that a switch names. */
static int waits_priority(struct waits *w, const struct scheduling_type *type,
			  const struct event *e, unsigned comm_slot)
{
	int64_t tid = 0, priority;
	struct wait_task *t;

	if (!scheduling_number(type, e, comm_slot + 1, &tid) || tid <= 0)
		return 0;
	t = waits_named(w, type, e, comm_slot, tid);
	if (!t)
		return -1;
	if (scheduling_number(type, e, comm_slot + 2, &priority) && priority >= -1 &&
	    priority < 200)
		t->priority = (uint8_t)(priority + 2);
	return 0;
}

/* Prepare for a switch, before the states take it. */
static int waits_switch(struct waits *w, const struct scheduling_type *type, const struct event *e)
{
	w->seen |= SEEN_SWITCH;
	waits_task(w, e->lane);
	if (ARRAY_REACH(w->cpus, w->ncpus, w->event.cpu) ||
	    waits_priority(w, type, e, SWITCH_PREV_COMM) ||
	    waits_priority(w, type, e, SWITCH_NEXT_COMM))
		return -1;
	waits_first_turn(w, type, e);
	return 0;
}

static int waits_prepare(struct waits *w, const struct event *e)
{
	const struct scheduling_type *type = scheduling_types_get(&w->states.types, e->type);
	uint32_t cpu;

	if (!type)
		return -1;
	if (scheduling_cpu(type, e, &cpu))
		w->event.cpu = cpu + 1;
	switch (w->event.role) {
	case WAITS_SWITCH: return waits_switch(w, type, e);
	case WAITS_WAKING:
	case WAITS_WAKEUP: return waits_wake(w, type, e);
	case WAITS_MIGRATE: return waits_migrate(w, e);
	default: return waits_interrupt(w, e, w->event.role);
	}
}

/* Note whether a thread that has left its CPU has ended: the states only know that it is off. */
static int waits_note_end(struct waits *w, const struct event *e)
{
	struct wait_mark *now = &w->tasks[w->event.leaves].states.now;
	const struct scheduling_type *type;
	struct switch_state state;

	if (mark_state(now) != STATE_OFFCPU)
		return 0;
	type = scheduling_types_get(&w->states.types, e->type);
	if (!type)
		return -1;
	state = scheduling_state(type, e);
	if (scheduling_ended(&state))
		now->state |= WAIT_MARK_ENDED;
	return 0;
}

/* Complete what the states have taken. */
static int waits_complete(struct waits *w, const struct event *e)
{
	struct wait_mark *now;

	if (w->event.woken) {
		/* sched_wakeup knows the CPU better than sched_waking before it */
		now = &w->tasks[w->event.woken].states.now;
		if (w->event.on && mark_state(now) == STATE_RUNNABLE && now->what)
			now->cpu = (uint16_t)w->event.on;
		return 0;
	}
	if (w->event.role == WAITS_SWITCH && w->event.leaves)
		return waits_note_end(w, e);
	return w->event.role >= WAITS_IRQ ? waits_innermost(w, e->time) : 0;
}

int waits_take(struct waits *w, const struct event *e)
{
	const struct lane *l = e->lane;

	if (w->stream != w->dictionary->stream)
		waits_begin_stream(w);
	memset(&w->event, 0, sizeof w->event);
	w->order++;
	w->event.role = waits_role(w, e->type);
	if (w->event.role == ROLE_WAITS_NOT_LOOKED)
		return -1;
	w->event.gap = e->type->kind == KIND_GAP;
	if (l->flags & LANE_HAS_CPU && l->cpu >= 0 && l->cpu < UINT16_MAX)
		w->event.cpu = (uint32_t)l->cpu + 1;
	if (w->event.role == WAITS_OTHER)
		return states_take(&w->states, e);
	return waits_prepare(w, e) || states_take(&w->states, e) ? -1 : waits_complete(w, e);
}

/* --- the path --- */

/* A thread on the path, which is followed back from `at` to `begin`. */
struct wait_level {
	uint64_t begin, at;
	uint64_t order; /* of the row at `at` up to which it is followed */
	size_t mark;	/* number + 1 of the mark that has the time before `at`; 0: none has */
	uint8_t waits;	/* the highest priority of the threads above, which wait; 0 none */
};

struct wait_walk {
	struct waits *w;
	uint32_t depth;
	struct wait_level level[WAITS_DEPTH];
	uint32_t tasks[WAITS_DEPTH];
	int (*put)(void *ctx, const struct wait_part *part);
	void *ctx;
};

/* Get the innermost call of the present thread at a time. *since: since when. */
static uint32_t walk_function(struct wait_walk *k, uint64_t time, uint64_t *since)
{
	struct wait_history *h = &k->w->tasks[k->tasks[k->depth]].functions;
	size_t n = marks_before(k->w, h, time, UINT64_MAX);
	const struct wait_mark *m = n ? mark_at(k->w, h, n - 1) : NULL;

	*since = m ? m->since : 0;
	return m ? m->what : 0;
}

/* Pass on a part of the present thread that begins at a time. */
static int walk_put(struct wait_walk *k, struct wait_part *p, uint64_t begin)
{
	struct wait_level *l = &k->level[k->depth];
	uint64_t since;

	if (begin >= l->at)
		return 0;
	p->depth = k->depth;
	p->tasks = k->tasks;
	while (l->at > begin) {
		/* what runs is divided by its calls; of what waits it is the call that does */
		p->function = walk_function(k, p->kind == WAIT_RUNNING ? l->at - 1 : begin, &since);
		p->begin = p->kind == WAIT_RUNNING && since > begin ? since : begin;
		p->end = l->at;
		l->at = p->begin;
		if (k->put(k->ctx, p))
			return -1;
		p->migrations = 0;
	}
	return 0;
}

static int walk_unknown(struct wait_walk *k, enum wait_unknown why, uint64_t begin)
{
	return walk_put(k, &(struct wait_part){.kind = WAIT_UNKNOWN, .other = why}, begin);
}

/* Test whether a thread above waits for this one, of lower priority, that a third thread of a
 * priority between the two keeps from its CPU. */
static bool is_inversion(const struct wait_level *l, const struct wait_mark *runnable,
			 const struct wait_mark *turn)
{
	return l->waits && l->waits < turn->priority && turn->priority < runnable->priority;
}

/* Test whether a runnable thread is throttled while a CPU is idle: it left the CPU then, or could
 * not run there later. */
static bool is_throttled(const struct wait_mark *runnable, const struct wait_mark *idle)
{
	return runnable->state & MARK_PREEMPTED &&
	       (idle->since == runnable->since || !(runnable->state & MARK_MIGRATED));
}

/* Divide the time of a runnable thread by what its CPU ran. */
static int walk_runnable(struct wait_walk *k, const struct wait_mark *m, uint64_t begin)
{
	struct waits *w = k->w;
	struct wait_level *l = &k->level[k->depth];
	struct wait_history *h = m->cpu && m->cpu < w->ncpus ? &w->cpus[m->cpu].turns : NULL;
	size_t n = h ? marks_before(w, h, l->at, 0) : 0;
	uint32_t migrations = m->state & MARK_MIGRATED && m->since == begin;

	while (l->at > begin) {
		const struct wait_mark *turn = n ? mark_at(w, h, --n) : NULL;
		uint32_t task = turn && turn->what ? turn->what - 1 : UINT32_MAX;
		struct wait_part p = {
			.kind = WAIT_CPU,
			.other = task == UINT32_MAX || task == k->tasks[k->depth] ? 0 : task,
			.cpu = m->cpu,
			.migrations = migrations};
		uint64_t since = turn && turn->since > begin ? turn->since : begin;

		if (!task)
			p.kind = is_throttled(m, turn) ? WAIT_THROTTLED : WAIT_IDLE;
		else if (p.other && is_inversion(l, m, turn))
			p.kind = WAIT_INVERSION;
		/* two turns of one time */
		if (since >= l->at)
			continue;
		if (walk_put(k, &p, since))
			return -1;
		migrations = 0;
	}
	return 0;
}

/* Begin to follow a thread back to a time, from a row at its end. */
static void walk_begin(struct wait_walk *k, uint32_t task, uint64_t begin, uint64_t end,
		       uint64_t order)
{
	struct wait_history *h = &k->w->tasks[task].states;

	k->tasks[k->depth] = task;
	k->level[k->depth] = (struct wait_level){.begin = begin,
						 .at = end,
						 .order = order,
						 .mark = marks_before(k->w, h, end, order)};
}

/* Follow the thread that has woken the present one, whose sleep is m, up to `at`. */
static int walk_waker(struct wait_walk *k, const struct wait_mark *m, const struct wait_mark *woken,
		      uint64_t begin)
{
	struct wait_level *l = &k->level[k->depth];
	uint64_t at = l->at;
	uint8_t waits = l->waits;

	if (k->depth + 1 == WAITS_DEPTH)
		return walk_unknown(k, WAIT_TOO_DEEP, begin);
	if (m->priority && (!waits || m->priority < waits))
		waits = m->priority;
	l->at = begin;
	k->depth++;
	walk_begin(k, woken->what, begin, at, woken->state & MARK_TIED ? UINT64_MAX : woken->order);
	k->level[k->depth].waits = waits;
	return 0;
}

/* Follow a thread that slept up to `at`, when the next mark began. */
static int walk_asleep(struct wait_walk *k, const struct wait_mark *m, uint64_t begin)
{
	struct waits *w = k->w;
	struct wait_level *l = &k->level[k->depth];
	struct wait_history *h = &w->tasks[k->tasks[k->depth]].states;
	const struct wait_mark *next = l->mark <= past_count(w, h) ? mark_at(w, h, l->mark) : NULL;
	bool unknown = mark_state(m) == STATE_UNKNOWN, lost = m->state & MARK_LOST;
	uint32_t who = next && mark_state(next) != STATE_IRQ ? next->what : 0;
	struct wait_part p = {.kind = WAIT_INTERRUPT, .other = who & ~WAKER_INTERRUPT};

	if (!next && !k->depth && !unknown)
		return walk_unknown(k, WAIT_NOT_WOKEN, begin);
	/* before the first switch a thread that is woken sleeps */
	if (!next || next->since != l->at || next->order >= l->order ||
	    (unknown && (m->since || !who)))
		return walk_unknown(k, lost ? WAIT_LOST : WAIT_NO_SWITCH, begin);
	lost |= mark_state(next) == STATE_UNKNOWN && next->state & MARK_LOST;
	if (!who)
		return walk_unknown(k, lost ? WAIT_LOST : WAIT_NO_WAKEUP, begin);
	return who & WAKER_INTERRUPT ? walk_put(k, &p, begin) : walk_waker(k, m, next, begin);
}

/* Take a step back on the path. */
static int walk_step(struct wait_walk *k)
{
	struct waits *w = k->w;
	struct wait_level *l = &k->level[k->depth];
	struct wait_history *h = &w->tasks[k->tasks[k->depth]].states;
	const struct wait_mark *m = l->mark ? mark_at(w, h, l->mark - 1) : NULL;
	uint64_t begin = m && m->since > l->begin ? m->since : l->begin;
	uint32_t depth = k->depth;
	int bad;

	if (!m)
		return walk_unknown(k, WAIT_NO_SWITCH, l->begin);
	if (begin >= l->at) {
		l->mark--;
		return 0;
	}
	switch (mark_state(m)) {
	case STATE_RUNNING:
		bad = walk_put(k, &(struct wait_part){.kind = WAIT_RUNNING, .cpu = m->cpu}, begin);
		break;
	case STATE_IRQ:
		bad = walk_put(k,
			       &(struct wait_part){.kind = WAIT_INTERRUPTED,
						   .other = m->what & ~WAKER_INTERRUPT,
						   .cpu = m->cpu},
			       begin);
		break;
	case STATE_RUNNABLE: bad = walk_runnable(k, m, begin); break;
	default: bad = walk_asleep(k, m, begin); break;
	}
	k->level[depth].mark--;
	return bad;
}

int waits_path(struct waits *w, uint32_t task, uint64_t begin, uint64_t end,
	       int (*put)(void *ctx, const struct wait_part *part), void *ctx)
{
	struct wait_walk k = {.w = w, .put = put, .ctx = ctx};
	uint64_t kept = !w->keeps || w->kept_since > end ? end : w->kept_since;
	enum wait_unknown why = task ? WAIT_FORGOTTEN : WAIT_NO_THREAD;

	if (!wait_task_at(w, task))
		return -1;
	walk_begin(&k, task, task && kept > begin ? kept : begin, end, UINT64_MAX);
	while (task && (k.depth || k.level[0].at > k.level[0].begin)) {
		if (k.level[k.depth].at <= k.level[k.depth].begin)
			k.depth--;
		else if (walk_step(&k))
			return -1;
	}
	return walk_unknown(&k, why, begin);
}

/* --- text --- */

int waits_name(const struct waits *w, uint32_t task, struct buffer *b)
{
	const struct wait_task *t = task && task < w->ntasks ? &w->tasks[task] : NULL;

	if (!t)
		return buffer_puts(b, "a thread that is not recorded");
	if (t->lane && t->lane->comm.size)
		return buffer_append(b, t->lane->comm.text, t->lane->comm.size) ||
		       buffer_printf(b, "-%" PRId32, t->tid);
	if (t->comm && buffer_append(b, intern_data(&w->names, t->comm - 1),
				     intern_size(&w->names, t->comm - 1)))
		return -1;
	return buffer_printf(b, t->comm ? "-%" PRId32 : "%" PRId32, t->tid);
}

int waits_other(const struct waits *w, const struct wait_part *p, struct buffer *b)
{
	switch (p->kind) {
	case WAIT_CPU:
	case WAIT_INVERSION: return p->other ? waits_name(w, p->other, b) : 0;
	case WAIT_INTERRUPT:
	case WAIT_INTERRUPTED:
		return p->other < w->names.count
			       ? buffer_append(b, intern_data(&w->names, p->other),
					       intern_size(&w->names, p->other))
			       : 0;
	case WAIT_UNKNOWN: return buffer_puts(b, wait_unknown_names[p->other]);
	default: return 0;
	}
}

unsigned waits_type_seen(struct scheduling_types *types, const struct type *t)
{
	const struct scheduling_type *type = scheduling_types_get(types, t);
	uint8_t role = type ? waits_role_of(t, type) : WAITS_OTHER;

	switch (role) {
	case WAITS_SWITCH: return SEEN_SWITCH;
	case WAITS_WAKING: return SEEN_WAKING;
	case WAITS_WAKEUP: return SEEN_WAKEUP;
	default: return role >= WAITS_IRQ ? SEEN_INTERRUPT : 0;
	}
}

void waits_report_missing(unsigned seen)
{
	static const char how[] =
		"trace-cmd record -e sched_switch -e sched_waking -e sched_wakeup "
		"-e sched_migrate_task -e irq, or perf record -a -e "
		"'sched:sched_switch,sched:sched_wak*,sched:sched_migrate_task,"
		"irq:*,irq_vectors:*_entry,irq_vectors:*_exit'";
	const char *lacks =
		!(seen & SEEN_SWITCH) ? "no sched_switch: what threads did"
		: !(seen & (SEEN_WAKING | SEEN_WAKEUP))
			? "no sched_waking: whom a thread waited for"
		: !(seen & SEEN_WAKING)	   ? "no sched_waking, but sched_wakeup: for many threads, "
					     "whom they waited for"
		: !(seen & SEEN_INTERRUPT) ? "no events of interrupts: which interrupt woke a "
					     "thread"
					   : NULL;

	if (lacks)
		warn(NULL, NO_OFFSET,
		     "this trace has %s is not known; %s records the events; if trfilter left them "
		     "out, run "
		     "trfilter last",
		     lacks, how);
}
