/*
 * counted.h - the times of each thread that calls of a group have counted
 *
 *     main  0..........100   -g 'bucket(dur,50us)': when f returns, its group 0 has counted g's
 *     f       10....40       time, 20 to 30. f adds 30 - 10 to the total. main is of the group
 *     g         20.30        100, which has counted nothing.
 *
 * So keys that only the return of a call shows need nothing of its enter. The times of a group are
 * kept apart only where an open call began between them: a group has at most one span more than the
 * thread has open calls.
 */
#ifndef TR_TRSTAT_GROUPS_COUNTED_H
#define TR_TRSTAT_GROUPS_COUNTED_H

#include "common/pairs/key_cell.h"
#include "common/util/buffer.h"

/* Times from start to end that are counted; `time` of it, as there may be gaps. */
struct counted_span {
	uint64_t start, end, time;
};

/* Those of one group in one thread, in the order of their starts. */
struct counted_group {
	struct counted_span *spans;
	size_t count, capacity;
};

/* Zero-initialised: nothing is counted. */
struct counted {
	struct intern keys; /* thread and cells */
	struct counted_group *groups;
	size_t capacity;
	struct buffer key;
};

/* Get the times of a group, whose key has n cells, in a thread; NULL when out of memory. The next
 * call makes the pointer invalid. */
struct counted_group *counted_find(struct counted *c, uint32_t thread, const struct key_cell *cells,
				   size_t n);
/* Count a call from start to end. Returns 0, or -1 when out of memory. *inside is set to its time
 * that was counted before. innermost: the start of the innermost open call of the thread, 0 none.
 */
int counted_add(struct counted_group *g, uint64_t start, uint64_t end, uint64_t innermost,
		uint64_t *inside);
/* Forget all times. */
void counted_free(struct counted *c);

#endif
