/*
 * scheduling.c - which types of events record the scheduler, interrupts and the power of CPUs
 */
#include "common/scheduling/scheduling.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/ftrace/kernel_names.h"
#include "common/util/buffer.h"
#include "common/value/argument.h"

/* The types of one kind. Names of fields with a bar are alternatives: a tid of LTTng is a pid of
 * ftrace, and its pid, where it has both, that of the process. */
static const struct {
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
	{"sched_wakeup_new", SCHEDULING_WAKEUP_NEW, SCHEDULING_WAKEUP, 2, 1, WAKE_FIELDS},
	{"sched_wakeup_new_task", SCHEDULING_WAKEUP_NEW, SCHEDULING_WAKEUP, 2, 1, WAKE_FIELDS},
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
	struct scheduling_type *s;
	unsigned slots = 0, has = 0, wanted = 0;

	if (ARRAY_REACH(t->types, t->count, type->number))
		return NULL;
	s = &t->types[type->number];
	s->known = true;
	s->cpu = field_by_role(type, ROLE_CPU);
	if (type->kind != KIND_INSTANT && type->kind != KIND_SAMPLE)
		return s;
	for (size_t i = 0; i < sizeof known_types / sizeof *known_types; i++) {
		const __typeof__(*known_types) *k = &known_types[i];

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
		wanted += field_is_attribute(&type->fields[i]);
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
	if (t->fields[slot])
		field_get(ev, t->fields[slot], 0, &v);
	else
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
static const struct {
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
		size_t i = 0, n = sizeof state_letters / sizeof *state_letters;

		while (i < n && state_letters[i].letter != *p)
			i++;
		if (p == s->letters && i < n)
			s->state = (enum thread_state)state_letters[i].state;
		if (i < n)
			s->perfetto |= state_letters[i].bits;
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
