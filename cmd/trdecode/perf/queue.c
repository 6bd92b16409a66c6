#include "cmd/trdecode/perf/queue.h"

#include <stdlib.h>

#include "common/util/buffer_file.h"
#include "common/util/heap.h"

static bool is_earlier(const struct perf_run *a, const struct perf_run *b)
{
	return a->time < b->time || (a->time == b->time && a->number < b->number);
}

static const struct perf_queued *queued_at(const struct perf_round *round, size_t i)
{
	return (const struct perf_queued *)(void *)round->records.data + i;
}

/* Put the run that is added to into the heap. */
static int close_run(struct perf_queue *q)
{
	struct perf_run *runs;

	if (!q->open.round)
		return 0;
	if (ARRAY_GROW(q->runs, q->runs_capacity, q->nruns))
		return -1;
	runs = q->runs;
	runs[q->nruns] = q->open;
	HEAP_UP(q->runs, q->nruns, a, b, is_earlier(a, b));
	q->nruns++;
	q->open.round = NULL;
	return 0;
}

int perf_queue_add(struct perf_queue *q, uint64_t time, uint64_t offset, const uint8_t *data,
		   size_t size)
{
	struct perf_round *round = &q->rounds[q->present];
	struct perf_queued record = {time, offset, (uint32_t)round->bytes.size, (uint32_t)size};
	size_t number = round->records.size / sizeof record;

	round->bytes.spills = round->bytes.size > PERF_QUEUE_MEMORY;
	round->records.spills = round->records.size > PERF_QUEUE_MEMORY;
	if (buffer_put(&round->bytes, data, size) || buffer_align(&round->bytes, 8) ||
	    buffer_put(&round->records, &record, sizeof record))
		return -1;
	if (time > q->highest)
		q->highest = time;
	if (q->open.round && time < q->open_last && close_run(q))
		return -1;
	q->open_last = time;
	if (!q->open.round)
		q->open = (struct perf_run){round, number, number, time, ++q->begun};
	q->open.end = number + 1;
	return 0;
}

bool perf_queue_full(const struct perf_queue *q)
{
	size_t size = q->rounds[q->present].bytes.size;

	return size > PERF_ROUND_MOST || (q->sorted && !q->nruns && size > PERF_ROUND_SORTED);
}

int perf_queue_end_round(struct perf_queue *q, bool finished)
{
	q->has_rounds |= finished;
	q->sorted = !q->has_rounds && !q->nruns;
	if (close_run(q))
		return -1;
	q->limit = q->sorted ? q->highest : q->before;
	q->before = q->highest;
	q->ending = true;
	return 0;
}

int perf_queue_end(struct perf_queue *q)
{
	q->limit = UINT64_MAX;
	q->ending = true;
	return close_run(q);
}

void perf_queue_change_round(struct perf_queue *q)
{
	struct perf_round *other = &q->rounds[!q->present];

	if (!q->ending)
		return;
	q->ending = false;
	buffer_clear(&other->bytes);
	buffer_clear(&other->records);
	buffer_rest(&q->rounds[q->present].bytes);
	buffer_rest(&q->rounds[q->present].records);
	q->present = !q->present;
}

const struct perf_queued *perf_queue_peek(struct perf_queue *q, const uint8_t **data)
{
	const struct perf_run *top = q->runs;
	const struct perf_queued *record;

	if (!q->ending || !q->nruns || top->time > q->limit)
		return NULL;
	record = queued_at(top->round, top->next);
	*data = top->round->bytes.data + record->at;
	return record;
}

void perf_queue_take(struct perf_queue *q)
{
	struct perf_run *top = q->runs;

	if (++top->next == top->end) {
		*top = q->runs[--q->nruns];
		if (!q->nruns)
			return;
	} else {
		top->time = queued_at(top->round, top->next)->time;
	}
	if (q->nruns > 1)
		HEAP_DOWN(q->runs, q->nruns, 0, a, b, is_earlier(a, b));
}

void perf_queue_free(struct perf_queue *q)
{
	for (int i = 0; i < 2; i++) {
		buffer_free(&q->rounds[i].bytes);
		buffer_free(&q->rounds[i].records);
	}
	free(q->runs);
}
