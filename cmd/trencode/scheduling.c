/*
 * scheduling.c - which types of events record the scheduler, interrupts and the power of CPUs
 */
#include "cmd/trencode/scheduling.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/attributes.h"
#include "common/formats/softirqs.h"
#include "common/util/buffer.h"
#include "common/value/argument.h"

/* The types of one kind. Names of fields with a bar are alternatives: a tid of LTTng is a pid of
 * ftrace, and its pid, where it has both, that of the process. */
static const struct known_type {
	const char *name;
	uint32_t message;
	enum scheduling_kind kind;
	unsigned needs, texts; /* bit i: slot i must be there; is a text */
	const char *fields[SCHEDULING_SLOTS];
} known_types[] = {
#define SWITCH_FIELDS                                                                              \
	{                                                                                          \
		"prev_comm", "prev_tid|prev_pid", "prev_prio", "prev_state", "next_comm",          \
			"next_tid|next_pid", "next_prio"                                           \
	}
#define WAKE_FIELDS                                                                                \
	{                                                                                          \
		"comm", "tid|pid", "prio", "success", "target_cpu|cpu_id"                          \
	}
#define TASK_FIELDS                                                                                \
	{                                                                                          \
		"comm", "tid|pid", "prio"                                                          \
	}
	{"sched_switch", 4, SCHEDULING_SWITCH, 0x2a, 0x11, SWITCH_FIELDS},
	{"sched_schedule", 4, SCHEDULING_SWITCH, 0x2a, 0x11, SWITCH_FIELDS},
	{"sched_waking", 20, SCHEDULING_WAKING, 2, 1, WAKE_FIELDS},
	{"sched_wakeup", 17, SCHEDULING_WAKEUP, 2, 1, WAKE_FIELDS},
	{"sched_try_wakeup", 17, SCHEDULING_WAKEUP, 2, 1, WAKE_FIELDS},
	{"sched_wakeup_new", 114, SCHEDULING_WAKEUP, 2, 1, WAKE_FIELDS},
	{"sched_wakeup_new_task", 114, SCHEDULING_WAKEUP, 2, 1, WAKE_FIELDS},
	{"irq_handler_entry", 36, SCHEDULING_IRQ_ENTRY, 1, 2, {"irq", "name"}},
	{"irq_handler_exit", 37, SCHEDULING_IRQ_EXIT, 1, 0, {"irq", "ret"}},
	{"softirq_entry", 24, SCHEDULING_SOFTIRQ_ENTRY, 1, 0, {"vec", "action"}},
	{"softirq_exit", 25, SCHEDULING_SOFTIRQ_EXIT, 1, 0, {"vec", "action"}},
	{"irq_softirq_entry", 24, SCHEDULING_SOFTIRQ_ENTRY, 1, 0, {"vec", "action"}},
	{"irq_softirq_exit", 25, SCHEDULING_SOFTIRQ_EXIT, 1, 0, {"vec", "action"}},
	{"softirq_raise", 26, SCHEDULING_OTHER, 1, 0, {"vec", "action"}},
	{"irq_softirq_raise", 26, SCHEDULING_OTHER, 1, 0, {"vec", "action"}},
	{"cpu_frequency", 11, SCHEDULING_FREQUENCY, 3, 0, {"state", "cpu_id"}},
	{"power_cpu_frequency", 11, SCHEDULING_FREQUENCY, 3, 0, {"state", "cpu_id"}},
	{"cpu_frequency_limits",
	 12,
	 SCHEDULING_LIMITS,
	 7,
	 0,
	 {"min_freq|min", "max_freq|max", "cpu_id"}},
	{"cpu_idle", 13, SCHEDULING_IDLE, 3, 0, {"state", "cpu_id"}},
	{"power_cpu_idle", 13, SCHEDULING_IDLE, 3, 0, {"state", "cpu_id"}},
	{"rss_stat", 313, SCHEDULING_MEMORY, 3, 0, {"member|type", "size", "curr", "mm_id"}},
	{"print", 3, SCHEDULING_OTHER, 2, 2, {"ip", "buf|message"}},
	{"task_newtask",
	 235,
	 SCHEDULING_OTHER,
	 3,
	 2,
	 {"pid", "comm", "clone_flags", "oom_score_adj"}},
	{"task_rename",
	 236,
	 SCHEDULING_OTHER,
	 5,
	 6,
	 {"pid", "oldcomm", "newcomm", "oom_score_adj"}},
	{"sched_process_exec",
	 237,
	 SCHEDULING_OTHER,
	 2,
	 1,
	 {"filename", "tid|pid", "old_tid|old_pid"}},
	{"sched_process_exit", 238, SCHEDULING_OTHER, 2, 1, {"comm", "tid|pid", "tgid", "prio"}},
	{"sched_process_fork",
	 239,
	 SCHEDULING_OTHER,
	 10,
	 5,
	 {"parent_comm", "parent_tid|parent_pid", "child_comm", "child_tid|child_pid"}},
	{"sched_process_free", 240, SCHEDULING_OTHER, 2, 1, TASK_FIELDS},
	{"sched_process_wait", 242, SCHEDULING_OTHER, 2, 1, TASK_FIELDS},
	{"sched_blocked_reason", 18, SCHEDULING_OTHER, 1, 0, {"pid", "caller", "io_wait"}},
};

void scheduling_types_free(struct scheduling_types *t)
{
	free(t->types);
	*t = (struct scheduling_types){0};
}

/* Find a field by one of its names, which have bars between them. The fields of an event's
 * contexts, which may have such a name too, are before its own fields: a field after `first`, the
 * event's own field in slot 0, is preferred. first may be NULL. */
static const struct field *scheduling_field_of(const struct type *type, const char *names,
					       const struct field *first)
{
	const struct field *found = NULL;
	char name[32];

	while (names && *names) {
		size_t n = strcspn(names, "|");
		const struct field *f;

		snprintf(name, sizeof name, "%.*s", (int)n, names);
		f = field_find(type, name);
		if (f && (!first || f > first))
			return f;
		found = found ? found : f;
		names += n + (names[n] == '|');
	}
	return found;
}

/* Read { 0x1, "S" }, { 0x2, "D" } ... of the print fmt of sched_switch. */
static void read_letters(struct scheduling_type *t, const struct type *type)
{
	const char *p = type->declaration.text, *end = p + type->declaration.size;

	p = memmem(p, (size_t)(end - p), "__print_flags(", 14);
	while (p && (p = memchr(p, '{', (size_t)(end - p)))) {
		char *after;
		unsigned long bit = strtoul(++p, &after, 0);

		if (end - after < 5 || after == p || memcmp(after, ", \"", 3) || !bit ||
		    bit & (bit - 1) || bit >= 1ul << sizeof t->letters)
			continue;
		t->letters[__builtin_ctzl(bit)] = after[3];
		t->declared = true;
	}
}

const struct scheduling_type *scheduling_types_make(struct scheduling_types *t,
						    const struct type *type)
{
	struct scheduling_type *types;
	struct scheduling_type *s;
	unsigned slots = 0, has = 0, wanted = 0;

	if (ARRAY_REACH(t->types, t->count, type->number))
		return NULL;
	types = t->types;
	s = &types[type->number];
	s->known = true;
	s->cpu = field_by_role(type, ROLE_CPU);
	if (type->kind != KIND_INSTANT && type->kind != KIND_SAMPLE)
		return s;
	for (size_t i = 0; i < sizeof known_types / sizeof *known_types; i++) {
		const struct known_type *k = &known_types[i];

		if (strcmp(k->name, type->name.text) != 0)
			continue;
		for (unsigned j = 0; j < SCHEDULING_SLOTS; j++) {
			s->fields[j] =
				scheduling_field_of(type, k->fields[j], j ? s->fields[0] : NULL);
			has |= (unsigned)(s->fields[j] != NULL) << j;
			slots += s->fields[j] != NULL;
		}
		if (t->dictionary && !slots && type->flags & TYPE_VALUES) {
			s->arguments = k->fields;
			s->dictionary = t->dictionary;
		} else if ((has & k->needs) != k->needs) {
			continue;
		}
		s->kind = (uint8_t)k->kind;
		s->message = k->message;
		s->texts = (uint8_t)k->texts;
		s->needs = (uint8_t)k->needs;
		break;
	}
	if (s->kind == SCHEDULING_NONE)
		return s;
	for (uint32_t i = 0; i < type->nfields; i++)
		wanted += attribute_wanted(&type->fields[i]);
	s->whole = wanted <= slots + (s->cpu != NULL) && type->kind == KIND_INSTANT &&
		   (s->arguments || !(type->flags & TYPE_VALUES));
	s->flags = field_find(type, "common_flags");
	if (s->kind == SCHEDULING_SWITCH)
		read_letters(s, type);
	return s;
}

bool scheduling_cpu(const struct scheduling_type *t, const struct event *ev, uint32_t *cpu)
{
	int64_t number = ev->lane->flags & LANE_HAS_CPU ? ev->lane->cpu : -1;
	struct field_value v;

	if (t->cpu) {
		field_get(ev, t->cpu, 0, &v);
		number = v.form == FORM_UINT || v.form == FORM_INT ? v.i : -1;
	}
	*cpu = (uint32_t)number;
	return number >= 0 && number < SCHEDULING_CPUS;
}

/* Read a number where the source has the text of the kernel's print fmt: of irq_handler_exit,
 * softirqs and rss_stat, whose size has a B after it. */
static bool number_of_text(const char *text, size_t size, int64_t *number)
{
	static const struct {
		const char *word;
		int64_t number;
	} words[] = {{"unhandled", 0},	  {"handled", 1},     {"MM_FILEPAGES", 0},
		     {"MM_ANONPAGES", 1}, {"MM_SWAPENTS", 2}, {"MM_SHMEMPAGES", 3},
		     {"BLOCK_IOPOLL", 5}};
	char copy[24], *end;

	if (!size || size >= sizeof copy)
		return false;
	memcpy(copy, text, size);
	copy[size] = '\0';
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(copy, words[i].word)) {
			*number = words[i].number;
			return true;
		}
	for (unsigned i = 0; i < SOFTIRQS; i++)
		if (!strcmp(copy, softirq_name(i))) {
			*number = (int64_t)i;
			return true;
		}
	*number = strtoll(copy, &end, 10);
	return end > copy && (!*end || !strcmp(end, "B"));
}

/* Read an argument by one of its names, which have bars between them, as a field. */
static void argument_get(const struct scheduling_type *t, const struct event *ev, const char *names,
			 struct field_value *v)
{
	char name[32];
	struct value value;

	while (names && *names) {
		size_t n = strcspn(names, "|");

		snprintf(name, sizeof name, "%.*s", (int)n, names);
		names += n + (names[n] == '|');
		if (!argument_find(t->dictionary, ev, name, &value))
			continue;
		if (value.tag == VALUE_STRING)
			*v = (struct field_value){
				.form = FORM_TEXT, .text = value.bytes, .size = value.n};
		else if (value.tag == VALUE_UINT || value.tag == VALUE_NEGATIVE)
			*v = (struct field_value){.form = FORM_INT, .u = value.number};
		return;
	}
}

/* Read a slot; FORM_NONE: the event does not have it. */
static void slot_get(const struct scheduling_type *t, const struct event *ev, unsigned slot,
		     struct field_value *v)
{
	*v = (struct field_value){.form = FORM_NONE};
	if (t->fields[slot])
		field_get(ev, t->fields[slot], 0, v);
	else if (t->arguments)
		argument_get(t, ev, t->arguments[slot], v);
}

bool scheduling_number(const struct scheduling_type *t, const struct event *ev, unsigned slot,
		       int64_t *number)
{
	struct field_value v;

	if (t->texts >> slot & 1)
		return false;
	slot_get(t, ev, slot, &v);
	if (v.form == FORM_TEXT)
		return number_of_text((const char *)v.text, strnlen((const char *)v.text, v.size),
				      number);
	if (v.form != FORM_INT && v.form != FORM_UINT)
		return false;
	*number = v.i;
	return true;
}

bool scheduling_text(const struct scheduling_type *t, const struct event *ev, unsigned slot,
		     const char **text, size_t *size)
{
	struct field_value v;

	slot_get(t, ev, slot, &v);
	*text = (const char *)v.text;
	*size = v.form == FORM_TEXT ? strnlen((const char *)v.text, v.size) : 0;
	return v.form == FORM_TEXT;
}

bool scheduling_slot(const struct scheduling_type *t, const struct event *ev, unsigned slot)
{
	struct field_value v;

	if (!t->arguments)
		return t->fields[slot];
	slot_get(t, ev, slot, &v);
	return v.form != FORM_NONE;
}

bool scheduling_sound(const struct scheduling_type *t, const struct event *ev, bool *whole)
{
	unsigned has = 0, slots = 0, arguments = 0;
	struct values v;
	struct detail d;

	*whole = t->whole;
	if (!t->arguments)
		return true;
	for (unsigned i = 0; i < SCHEDULING_SLOTS; i++) {
		bool is = scheduling_slot(t, ev, i);

		has |= (unsigned)is << i;
		slots += is;
	}
	for (values_begin(&v, ev->tail, ev->tail_size); values_detail(&v, &d);)
		arguments++;
	has &= t->needs;
	*whole &= slots == arguments && has == t->needs;
	return has == t->needs;
}

/*
 * The state of a thread that leaves its CPU, by the number or the letters that a switch has
 * recorded.
 */

enum { IDLE_BITS = 0x402, WAKING_LETTER = 'W' };

/* What each letter means: to viewers, and in the numbers of kernel 4.4. */
static const struct state_letter {
	char letter;
	uint8_t state; /* enum thread_state */
	uint16_t bits;
} state_letters[] = {
	{'R', THREAD_RUNNABLE, 0},
	{'+', THREAD_RUNNABLE, 0x800},
	{'S', THREAD_SLEEPING, 1},
	{'D', THREAD_UNINTERRUPTIBLE, 2},
	{'T', THREAD_STOPPED, 4},
	{'t', THREAD_TRACED, 8},
	{'X', THREAD_UNKNOWN, 0x10},
	{'Z', THREAD_UNKNOWN, 0x20},
	{'x', THREAD_UNKNOWN, 0x40},
	{'K', THREAD_UNINTERRUPTIBLE, 0x80},
	{WAKING_LETTER, THREAD_RUNNABLE, 0x100},
	{'P', THREAD_PARKED, 0x200},
	{'N', THREAD_UNINTERRUPTIBLE, 0x400},
	{'I', THREAD_IDLE, IDLE_BITS},
};

/* Set the state and the number by the letters, the first of which is the state.
 *
 * The plug-in sched_switch of trace-cmd has the letters "SDTtZXxW" for the bits from 1 on, and W is
 * 0x80: the idle state of kernels from 4.14 on. A kernel prints W for a thread that is woken, which
 * never leaves its CPU, so a W alone is idle. X and Z, both of a thread that ends, stay as printed:
 * newer plug-ins have those of the kernel. */
static void state_of_letters(struct switch_state *s)
{
	if (s->letters[0] == WAKING_LETTER && !s->letters[1])
		s->letters[0] = 'I';
	s->perfetto = s->letters[0] ? 0 : UINT32_MAX;
	for (const char *p = s->letters; *p && s->perfetto != UINT32_MAX; p++) {
		const struct state_letter *l = NULL;

		for (size_t i = 0; i < sizeof state_letters / sizeof *state_letters; i++)
			if (state_letters[i].letter == *p)
				l = &state_letters[i];
		if (p == s->letters && l)
			s->state = (enum thread_state)l->state;
		if (l)
			s->perfetto |= l->bits;
		else if (*p != '|')
			s->perfetto = UINT32_MAX;
	}
	/* D|N */
	if (s->perfetto == IDLE_BITS)
		s->state = THREAD_IDLE;
}

static void put_letter(struct switch_state *s, size_t *n, char letter)
{
	if (*n)
		s->letters[(*n)++] = '|';
	s->letters[(*n)++] = letter;
}

/* Spell a number as the print fmt of sched_switch does. */
static void put_declared(struct switch_state *s, const struct scheduling_type *t, uint64_t number)
{
	size_t n = 0;

	for (unsigned i = 0; i < sizeof t->letters && n + 4 < sizeof s->letters; i++) {
		if (!t->letters[i] || !(number >> i & 1))
			continue;
		put_letter(s, &n, t->letters[i]);
		number &= ~(1ull << i);
	}
	if (!n)
		s->letters[n++] = 'R';
	/* the bit after those with a letter */
	if (number)
		s->letters[n++] = '+';
}

/* Spell a number whose letters are not declared. Kernels from 4.14 on report the states up to 0x80
 * and a bit after them for preemption; LTTng also records the bits of the scheduler as they are,
 * where the bit for preemption is alone (include/linux/sched.h of Linux). In Perfetto's format an
 * idle state is the two bits of TASK_IDLE, which other tools print as LTTng has them: D|N. */
static void put_undeclared(struct switch_state *s, uint64_t number, bool perfetto)
{
	static const char low[] = "SDTtXZP", high[] = "KWN";
	size_t n = 0;

	if (perfetto && (number & IDLE_BITS) == IDLE_BITS) {
		put_letter(s, &n, 'I');
		number &= ~(uint64_t)IDLE_BITS;
	}
	for (unsigned i = 0; low[i]; i++)
		if (number >> i & 1)
			put_letter(s, &n, low[i]);
	if (number & 0x80)
		put_letter(s, &n, n ? 'K' : 'I');
	for (unsigned i = 0; n && high[i]; i++)
		if (number >> (8 + i) & 1)
			put_letter(s, &n, high[i]);
	if (!n)
		memcpy(s->letters, number ? "R+" : "R", number ? 2 : 1);
}

struct switch_state scheduling_state(const struct scheduling_type *t, const struct event *ev)
{
	struct switch_state s = {.state = THREAD_UNKNOWN};
	const char *text;
	int64_t number;
	size_t size;

	if (scheduling_text(t, ev, SWITCH_PREV_STATE, &text, &size)) {
		if (size && size < sizeof s.letters)
			memcpy(s.letters, text, size);
	} else if (scheduling_number(t, ev, SWITCH_PREV_STATE, &number)) {
		if (t->declared)
			put_declared(&s, t, (uint64_t)number);
		else
			put_undeclared(&s, (uint64_t)number, type_is_of(ev->type, "perfetto"));
	}
	state_of_letters(&s);
	return s;
}

/* --- scheduling --- */

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
static uint32_t scheduling_cpu_of(struct scheduling *s, const struct source *source, uint32_t cpu)
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
static uint32_t scheduling_thread_of(struct scheduling *s, const struct scheduling_cpu *cpu,
				     int64_t tid, const char *comm, size_t size)
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
static uint32_t scheduling_read_thread(struct scheduling *s, uint32_t cpu,
				       const struct scheduling_type *t, const struct event *ev,
				       unsigned slot, bool *known)
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
	return scheduling_thread_of(s, &s->cpus[cpu - 1], tid, comm, size);
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

static int scheduling_take_switch(struct scheduling *s, uint32_t cpu,
				  const struct scheduling_type *t, const struct event *ev,
				  struct error *e)
{
	struct switch_state state = scheduling_state(t, ev);
	struct scheduling_cpu *c = &s->cpus[cpu - 1];
	bool has_prev, has_next;
	uint32_t prev = scheduling_read_thread(s, cpu, t, ev, SWITCH_PREV_TID, &has_prev);
	uint32_t next = scheduling_read_thread(s, cpu, t, ev, SWITCH_NEXT_TID, &has_next);
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
	thread = scheduling_read_thread(s, cpu, t, ev, WAKE_TID, &known);
	if (!known)
		return 0;
	if (!thread)
		return error_no_memory(e);
	/* the event's own thread is the waker */
	waker = c->running;
	if (!t->cpu && lane->flags & LANE_HAS_TID && lane->tid >= 0 && lane->tid < TID_MOST)
		waker = scheduling_thread_of(s, c, lane->tid, lane->comm.text,
					     waker ? 0 : lane->comm.size);
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

static int scheduling_take(struct scheduling *s, uint32_t cpu, const struct scheduling_type *t,
			   const struct event *ev, struct error *e)
{
	struct scheduling_cpu *c = &s->cpus[cpu - 1];

	switch (t->kind) {
	case SCHEDULING_SWITCH: return scheduling_take_switch(s, cpu, t, ev, e);
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
	cpu = scheduling_cpu_of(s, ev->lane->source, cpu);
	if (!cpu)
		return error_no_memory(e);
	c = &s->cpus[cpu - 1];
	if (ev->type->kind == KIND_GAP)
		return cpu_lose(s, cpu, c->last, e);
	if (!c->begun) {
		c->begun = true;
		c->first = c->last = ev->time;
	}
	if (t->kind != SCHEDULING_NONE && scheduling_take(s, cpu, t, ev, e))
		return -1;
	s->cpus[cpu - 1].last = ev->time;
	return 0;
}
