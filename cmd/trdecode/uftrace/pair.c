/*
 * pair.c - write the plain records of two tasks in order of time
 *
 * Two threads that run at once alternate irregularly, which no processor predicts: so the next of
 * the two is computed without a branch.
 */
#include "cmd/trdecode/uftrace/uftrace.h"

static inline uint64_t pair_pick(uint64_t mask, uint64_t zero, uint64_t ones)
{
	return zero ^ ((zero ^ ones) & mask);
}

static bool pair_plain(uint64_t word)
{
	return (word & UFTRACE_PLAIN_MASK) == UFTRACE_PLAIN;
}

/* Is the next record of the task in memory, plain, and soon after the last one? */
static bool pair_ready(const struct task_reader *t)
{
	const uint8_t *p;

	/* readers that are no task have another size */
	if (!t->base.task || !t->context || t->stale || window_have(&t->file) < UFTRACE_RECORD_SIZE)
		return false;
	p = window_at(&t->file);
	return pair_plain(get_u64(p + 8)) && get_u64(p) == t->base.due.time &&
	       t->base.due.time - t->last < TASK_JUMP;
}

bool uftrace_pair_ready(const struct uftrace *u, const struct task_reader *a,
			const struct task_reader *b)
{
	return !u->info.swap && pair_ready(a) && pair_ready(b);
}

/* Move the task to p: the records before p are written. next is its next time, unless stale. */
static void pair_settle(struct task_reader *t, const uint8_t *p, uint64_t next)
{
	const uint8_t *start = window_at(&t->file);

	if (p == start)
		return;
	t->last = get_u64(p - UFTRACE_RECORD_SIZE);
	if (!t->stale)
		t->base.due.time = next;
	window_skip(&t->file, (size_t)(p - start));
}

enum pair_end uftrace_pair(struct uftrace *u, struct task_reader *a, struct task_reader *b,
			   struct rows *rows, uint64_t end)
{
	const uint8_t *pa = window_at(&a->file), *pb = window_at(&b->file);
	const uint8_t *la = pa + window_have(&a->file) - UFTRACE_RECORD_SIZE,
		      *lb = pb + window_have(&b->file) - UFTRACE_RECORD_SIZE;
	uint64_t ta = get_u64(pa), tb = get_u64(pb), shift = u->shift,
		 second = b->base.due.rank < a->base.due.rank;
	struct task_reader *t = a;
	enum pair_end result = PAIR_OVER;

	for (;;) {
		/* all ones: b's turn */
		uint64_t mask = -(uint64_t)(tb < ta + second), time = pair_pick(mask, ta, tb), next;
		const uint8_t *p = (const uint8_t *)pair_pick(mask, (uintptr_t)pa, (uintptr_t)pb);
		uint64_t word = get_u64(p + 8);

		if (time >= end)
			break;
		t = (struct task_reader *)pair_pick(mask, (uintptr_t)a, (uintptr_t)b);
		if (!rows_put(rows, &t->bits, time + shift, uftrace_location(u, t, word >> 16),
			      word >> 6 & 0x3ff, word & 1)) {
			result = PAIR_STUCK;
			break;
		}
		pa += UFTRACE_RECORD_SIZE & ~mask;
		pb += UFTRACE_RECORD_SIZE & mask;
		if (pa > la || pb > lb) {
			t->stale = true;
			break;
		}
		ta = get_u64(pa);
		tb = get_u64(pb);
		next = pair_pick(mask, ta, tb);
		if (!pair_plain(get_u64(p + UFTRACE_RECORD_SIZE + 8)) || next - time >= TASK_JUMP) {
			t->stale = true;
			break;
		}
	}
	if (pa > window_at(&a->file) || pb > window_at(&b->file))
		u->last_lane = t->lane;
	pair_settle(a, pa, ta);
	pair_settle(b, pb, tb);
	return result;
}
