/*
 * merge.c - run the readers of a directory in order of time
 *
 * A heap of readers, the earliest on top. By far most events are ENTRY and EXIT records without a
 * payload ("bare"): these are written here, across tasks, with what is constant in a block kept in
 * local variables. All other records are written by their reader, one at a time. Without
 * bare_records 'trdecode | trstat' of t/bench/uftrace.sh takes 2.4 times the instructions.
 */
#include "cmd/trdecode/uftrace/uftrace.h"

/* ns. Two tasks are run together if no other reader has an event for so long: some dozens of
 * records. */
enum { MERGE_TWO_SPAN = 8192 };

/* Return the first time at which the top reader is no longer the next one. */
static inline uint64_t turn_ends(const struct uftrace *u, uint64_t limit)
{
	const struct heap_item *first = u->heap.items[0], *second = heap_second(&u->heap);

	/* at equal times the lower rank is first: run up to and including that time */
	if (second && second->time <= limit)
		return second->time + (first->rank < second->rank);
	return limit == UINT64_MAX ? limit : limit + 1;
}

/*
 * Write the bare records of one task before the time `end`. Returns true if t->base.due.time is
 * the time of the record that follows; false if that record is not bare, or not yet in memory:
 * t->stale then shows whether t->base.due.time must be found.
 */
static inline __attribute__((always_inline)) bool
task_turn(struct uftrace *u, struct task_reader *t, struct rows *rows, uint64_t end, bool swap)
{
	const uint8_t *start = window_at(&t->file), *p = start,
		      *stop = start + window_have(&t->file);
	uint64_t last = t->last, shift = u->shift;
	bool over = false;

	if (t->context_until < end)
		end = t->context_until;
	if (last + TASK_JUMP < end)
		end = last + TASK_JUMP;
	for (; stop - p >= UFTRACE_RECORD_SIZE; p += UFTRACE_RECORD_SIZE) {
		uint64_t time = uftrace_record_time(p, swap), word = uftrace_record_word(p, swap);
		uint32_t location;

		if (__builtin_expect(!uftrace_word_bare(word), 0))
			break;
		if (time >= end || time < last) {
			over = time >= last && time < t->context_until && time - last < TASK_JUMP;
			t->base.due.time = time;
			break;
		}
		location = uftrace_location(u, t, uftrace_word_addr(word));
		if (__builtin_expect(!rows_put(rows, &t->bits, time + shift, location,
					       uftrace_word_depth(word), uftrace_bare_leaves(word)),
				     0))
			break;
		last = time;
	}
	t->last = last;
	t->stale = !over;
	window_skip(&t->file, (size_t)(p - start));
	return over;
}

static bool has_bits(const struct uftrace *u, const struct rows *rows, struct task_reader *t)
{
	return t->bits.block == rows->block ||
	       rows_bits(rows, u->w, t->lane, u->ids.entry, u->ids.leave, &t->bits);
}

/* Find the reader to run together with the top, if that is worth while, and until when. Returns
 * its number, or 0. */
static size_t find_two(const struct uftrace *u, uint64_t limit, uint64_t *end)
{
	struct heap_item **items = u->heap.items;
	size_t second = u->heap.count > 2 && heap_earlier(items[2], items[1]) ? 2 : 1;
	/* the other child of the top, and the children of this one */
	size_t children[] = {3 - second, 2 * second + 1, 2 * second + 2};
	const struct task_reader *a, *b;

	if (u->heap.count < 2)
		return 0;
	a = (const struct task_reader *)items[0];
	b = (const struct task_reader *)items[second];
	*end = limit == UINT64_MAX ? limit : limit + 1;
	for (int i = 0; i < 3; i++)
		if (children[i] < u->heap.count && items[children[i]]->time < *end)
			*end = items[children[i]]->time;
	if (*end < MERGE_TWO_SPAN || *end - MERGE_TWO_SPAN < items[second]->time ||
	    !uftrace_merge_two_ready(u, a, b))
		return 0;
	*end = a->context_until < *end ? a->context_until : *end;
	*end = b->context_until < *end ? b->context_until : *end;
	return *end > items[second]->time ? second : 0;
}

/*
 * Write bare records as long as the top of the heap has any. Returns the number of a reader, not
 * the top, that is stale; 0: none.
 */
static size_t bare_records(struct uftrace *u, uint64_t limit)
{
	size_t second = 0;
	struct rows rows;

	rows_open(&rows, u->w);
	while (rows.block) {
		struct task_reader *t = (struct task_reader *)u->heap.items[0];
		uint64_t end = turn_ends(u, limit), until;
		bool over;

		if (!t->base.task || !t->context || t->base.due.time >= end)
			break;
		if (!has_bits(u, &rows, t))
			break;
		second = find_two(u, limit, &until);
		if (second && has_bits(u, &rows, (struct task_reader *)u->heap.items[second])) {
			struct task_reader *b = (struct task_reader *)u->heap.items[second];
			enum merge_two_end how = uftrace_merge_two(u, t, b, &rows, until);

			if (b->stale)
				break;
			heap_sift_down(&u->heap, second);
			second = 0;
			if (t->stale)
				break;
			heap_sift_down(&u->heap, 0);
			if (how == MERGE_TWO_STUCK)
				break;
			continue;
		}
		second = 0;
		u->last_lane = t->lane;
		over = u->info.swap ? task_turn(u, t, &rows, end, true)
				    : task_turn(u, t, &rows, end, false);
		if (!over)
			break;
		heap_sift_down(&u->heap, 0);
	}
	rows_close(&rows, u->w);
	return second;
}

/* Find the next time of the reader `second`, and restore the heap. Returns 0, or -1. */
static int refresh_second(struct uftrace *u, size_t second)
{
	struct task_reader *t = (struct task_reader *)u->heap.items[second];

	t->stale = false;
	if (task_look_ahead(u, t))
		return -1;
	if (t->base.due.time == UINT64_MAX)
		u->heap.items[second] = u->heap.items[--u->heap.count];
	if (second < u->heap.count)
		heap_sift_down(&u->heap, second);
	heap_sift_down(&u->heap, 0);
	return 0;
}

/* Find the top reader's next time if it is stale. Returns 0, or -1. */
static int refresh_top(struct uftrace *u)
{
	struct task_reader *t = (struct task_reader *)u->heap.items[0];

	if (!t->base.task || !t->stale)
		return 0;
	t->stale = false;
	if (task_look_ahead(u, t))
		return -1;
	heap_settle(&u->heap);
	return 0;
}

/* Skip a task's bare records before a time. Returns true if there were any. */
static bool pass_over(struct uftrace *u, struct lane_reader *r, uint64_t first)
{
	struct task_reader *t = (struct task_reader *)r;
	const uint8_t *start, *p, *stop;
	bool swap = u->info.swap;
	uint64_t last;

	if (!r->task || t->stale || r->due.time >= first)
		return false;
	if (!t->skipped) {
		t->skipped = true;
		uftrace_skip(u, t, first);
		if (t->stale)
			return true;
	}
	p = start = window_at(&t->file);
	stop = start + window_have(&t->file);
	last = t->last;
	for (; stop - p >= UFTRACE_RECORD_SIZE; p += UFTRACE_RECORD_SIZE) {
		uint64_t time = uftrace_record_time(p, swap);

		if (!uftrace_word_bare(uftrace_record_word(p, swap)) || time >= first ||
		    time < last || time - last >= TASK_JUMP)
			break;
		last = time;
	}
	t->last = last;
	t->stale = p > start;
	window_skip(&t->file, (size_t)(p - start));
	return t->stale;
}

/* Drop the tasks that are not wanted: they have no more events. */
static void drop_tasks(struct uftrace *u)
{
	size_t kept = 0;

	u->tasks_dropped = true;
	for (size_t i = 0; i < u->heap.count; i++) {
		const struct lane_reader *r = (const struct lane_reader *)u->heap.items[i];

		if (!r->task || row_filter_tid(u->input->decoding->row_filter,
					       ((const struct task_reader *)r)->tid))
			u->heap.items[kept++] = u->heap.items[i];
	}
	u->heap.count = kept;
	heap_build(&u->heap);
}

int merge_until(struct uftrace *u, uint64_t limit)
{
	uint64_t first = row_filter_first(u->input);

	if (!u->tasks_dropped && u->input->decoding->row_filter)
		drop_tasks(u);
	while (u->heap.count && u->heap.items[0]->time <= limit) {
		struct lane_reader *next;
		size_t second;

		/* deeper stacks carry into the address: each record must be read */
		if (first && u->info.max_stack <= 1024)
			while (u->heap.count &&
			       pass_over(u, (struct lane_reader *)u->heap.items[0], first))
				if (refresh_top(u))
					return -1;
		if (!u->heap.count || u->heap.items[0]->time > limit)
			break;
		second = u->info.max_stack <= 1024 ? bare_records(u, limit) : 0;
		if (second ? refresh_second(u, second) : refresh_top(u))
			return -1;
		if (!u->heap.count || u->heap.items[0]->time > limit)
			break;
		next = (struct lane_reader *)u->heap.items[0];
		if (next->run(u, next))
			return -1;
		heap_settle(&u->heap);
	}
	return 0;
}
