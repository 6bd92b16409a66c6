/*
 * scheduling_states.c - the state of a thread that leaves its CPU, by the number or the letters
 * that a switch has recorded
 */
#include "cmd/trencode/timeline/scheduling_types.h"

#include "cmd/trencode/convert/attributes.h"

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
