/*
 * skip.c - skip records before the first wanted time, and find when a task's records end
 *
 * In a file without arguments every 16 bytes are a record, and the times ascend: so the first
 * wanted record is found by bisection, and the records before it are never read. If the search
 * meets arguments between the records, everything is read. Where a tenth of the recording of
 * t/bench/uftrace.sh is wanted, 'trdecode --since +TIME | trstat' without uftrace_skip takes 3.0
 * times the instructions, and 'trdecode --since -TIME | trstat' without uftrace_late 41 times.
 */
#include "cmd/trdecode/uftrace/uftrace.h"

enum { WORTHWHILE = 96 * 1024 }; /* least bytes to skip: more than a window */

/* Get the time of a bare record. Return false if the record is none. */
static bool bare_time(const struct uftrace *u, const uint8_t *p, uint64_t *time)
{
	*time = uftrace_record_time(p, u->info.swap);
	return uftrace_word_bare(uftrace_record_word(p, u->info.swap)) && *time < TIME_LIMIT;
}

/* Get the time of record n from the window's start on, if the next record is soon after it. */
static bool time_at(const struct uftrace *u, struct task_reader *t, uint64_t n, uint64_t *time)
{
	uint8_t two[2 * UFTRACE_RECORD_SIZE];
	uint64_t next;

	return window_peek(&t->file, t->file.offset + n * UFTRACE_RECORD_SIZE, two, sizeof two) &&
	       bare_time(u, two, time) && bare_time(u, two + UFTRACE_RECORD_SIZE, &next) &&
	       next >= *time && next - *time < TASK_JUMP;
}

void uftrace_skip(const struct uftrace *u, struct task_reader *t, uint64_t first)
{
	uint64_t left = t->file.size - t->file.offset, low = 0, high, time, before;

	if (t->file.size < t->file.offset || left < WORTHWHILE)
		return;
	/* record low is before the first wanted time; record high is not, or no record follows
	 * it */
	high = left / UFTRACE_RECORD_SIZE - 1;
	if (!time_at(u, t, 0, &before) || before >= first)
		return;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (!time_at(u, t, middle, &time) || time < before)
			return;
		if (time < first) {
			low = middle;
			before = time;
		} else {
			high = middle;
		}
	}
	if (low < 2 || !time_at(u, t, low - 1, &time) || time > before)
		return;
	t->last = time;
	t->stale = true;
	window_skip(&t->file, (size_t)(low * UFTRACE_RECORD_SIZE));
}

/* Return the time of the last record; 0: there may be arguments after it. */
static uint64_t last_record(const struct uftrace *u, struct task_reader *t)
{
	uint8_t record[UFTRACE_RECORD_SIZE];
	uint64_t time;

	return t->open &&
			       window_peek(&t->file, t->file.size - sizeof record, record,
					   sizeof record) &&
			       bare_time(u, record, &time)
		       ? time
		       : 0;
}

bool uftrace_late(struct input *in, uint64_t *time)
{
	struct uftrace *u = in->state;
	uint64_t last = 0;

	for (size_t i = 0; i < u->ntasks; i++) {
		uint64_t of = last_record(u, &u->task_readers[i]);

		last = of > last ? of : last;
	}
	*time = last ? shifted(u, last) : 0;
	return false;
}
