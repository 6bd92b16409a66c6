/*
 * merge_two.c - write the bare records of two tasks in order of time
 *
 * Two threads that run at once alternate irregularly, which no processor predicts: so the next of
 * the two is computed without a branch.
 *
 * Without this file: 'trdecode | trsym | trstat' of t/bench/uftrace.sh takes 1.11 times the
 * instructions.
 */
#include "cmd/trdecode/uftrace/uftrace.h"

static inline uint64_t merge_two_pick(uint64_t mask, uint64_t zero, uint64_t ones)
{
	return zero ^ ((zero ^ ones) & mask);
}

/* Is the next record of the task in memory, bare, and soon after the last one? */
static bool merge_two_ready(const struct task_reader *t)
{
	const uint8_t *p;

	/* readers other than tasks have another size */
	if (!t->base.task || !t->context || t->stale || window_have(&t->file) < UFTRACE_RECORD_SIZE)
		return false;
	p = window_at(&t->file);
	return uftrace_word_bare(uftrace_record_word(p, false)) &&
	       uftrace_record_time(p, false) == t->base.due.time &&
	       t->base.due.time - t->last < TASK_JUMP;
}

bool uftrace_merge_two_ready(const struct uftrace *u, const struct task_reader *a,
			     const struct task_reader *b)
{
	return !u->info.swap && merge_two_ready(a) && merge_two_ready(b);
}

/* Move the task to p: the records before p are written. next is its next time, unless stale. */
static void merge_two_settle(struct task_reader *t, const uint8_t *p, uint64_t next)
{
	const uint8_t *start = window_at(&t->file);

	if (p == start)
		return;
	t->last = uftrace_record_time(p - UFTRACE_RECORD_SIZE, false);
	if (!t->stale)
		t->base.due.time = next;
	window_skip(&t->file, (size_t)(p - start));
}

enum merge_two_end uftrace_merge_two(struct uftrace *u, struct task_reader *a,
				     struct task_reader *b, struct rows *rows, uint64_t end)
{
	const uint8_t *pa = window_at(&a->file), *pb = window_at(&b->file);
	const uint8_t *la = pa + window_have(&a->file) - UFTRACE_RECORD_SIZE,
		      *lb = pb + window_have(&b->file) - UFTRACE_RECORD_SIZE;
	uint64_t ta = uftrace_record_time(pa, false), tb = uftrace_record_time(pb, false),
		 shift = u->shift, second = b->base.due.rank < a->base.due.rank;
	struct task_reader *t = a;
	enum merge_two_end result = MERGE_TWO_OVER;

	for (;;) {
		/* all ones: b's turn */
		uint64_t mask = -(uint64_t)(tb < ta + second), time = merge_two_pick(mask, ta, tb),
			 next;
		const uint8_t *p =
			(const uint8_t *)merge_two_pick(mask, (uintptr_t)pa, (uintptr_t)pb);
		uint64_t word = uftrace_record_word(p, false);

		if (time >= end)
			break;
		t = (struct task_reader *)merge_two_pick(mask, (uintptr_t)a, (uintptr_t)b);
		if (!rows_put(rows, &t->bits, time + shift,
			      uftrace_location(u, t, uftrace_word_addr(word)),
			      uftrace_word_depth(word), uftrace_bare_leaves(word))) {
			result = MERGE_TWO_STUCK;
			break;
		}
		pa += UFTRACE_RECORD_SIZE & ~mask;
		pb += UFTRACE_RECORD_SIZE & mask;
		if (pa > la || pb > lb) {
			t->stale = true;
			break;
		}
		ta = uftrace_record_time(pa, false);
		tb = uftrace_record_time(pb, false);
		next = merge_two_pick(mask, ta, tb);
		if (!uftrace_word_bare(uftrace_record_word(p + UFTRACE_RECORD_SIZE, false)) ||
		    next - time >= TASK_JUMP) {
			t->stale = true;
			break;
		}
	}
	if (pa > window_at(&a->file) || pb > window_at(&b->file))
		u->last_lane = t->lane;
	merge_two_settle(a, pa, ta);
	merge_two_settle(b, pb, tb);
	return result;
}
