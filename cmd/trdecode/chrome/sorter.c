#include "cmd/trdecode/chrome/sorter.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/util/heap.h"
#include "common/util/temporary.h"

/* A record: u64 time, u64 second key, u64 number, u64 size; its data; padding to 8 bytes. */
enum { HEADER = 32, WINDOW_MOST = 64 * 1024, WINDOW_LEAST = 4096 };

size_t sorter_memory = 4 << 20;

struct sorter_run {
	uint64_t at, end; /* offsets in the file: after the window, and the end of the run */
	uint8_t *data;
	size_t begin, filled, capacity;
};

void sorter_init(struct sorter *s)
{
	*s = (struct sorter){.fd = -1};
}

void sorter_free(struct sorter *s)
{
	for (size_t i = 0; i < s->nruns; i++)
		free(s->runs[i].data);
	free(s->runs);
	free(s->heap);
	free(s->offsets);
	buffer_free(&s->records);
	if (s->fd >= 0)
		close(s->fd);
}

static size_t record_size(const uint8_t *p)
{
	return HEADER + align_up(get_u64(p + 24), 8);
}

static int compare_records(const uint8_t *a, const uint8_t *b)
{
	for (int i = 0; i < 24; i += 8) {
		uint64_t x = get_u64(a + i), y = get_u64(b + i);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static int by_key(const void *a, const void *b, void *records)
{
	return compare_records((uint8_t *)records + *(const size_t *)a,
			       (uint8_t *)records + *(const size_t *)b);
}

static void sort_records(struct sorter *s)
{
	if (s->count)
		qsort_r(s->offsets, s->count, sizeof *s->offsets, by_key, s->records.data);
}

/* Write the records in memory as a run of the file. */
static int write_run(struct sorter *s, struct error *e)
{
	struct sorter_run *run = array_grow(s->runs, &s->runs_capacity, s->nruns, sizeof *run);
	struct buffer out = {0};
	int failed = 0;

	if (!run)
		return error_no_memory(e);
	s->runs = run;
	run += s->nruns;
	*run = (struct sorter_run){.at = s->written};
	if (s->fd < 0)
		s->fd = temporary_open(e);
	if (s->fd < 0)
		return -1;
	sort_records(s);
	for (size_t i = 0; i < s->count && !failed; i++) {
		const uint8_t *p = s->records.data + s->offsets[i];

		failed = buffer_append(&out, p, record_size(p)) ? error_no_memory(e) : 0;
		if (!failed && (out.size >= WINDOW_MOST || i + 1 == s->count)) {
			failed = temporary_write(s->fd, out.data, out.size, s->written, e);
			s->written += out.size;
			out.size = 0;
		}
	}
	buffer_free(&out);
	run->end = s->written;
	s->nruns++;
	s->count = 0;
	s->records.size = 0;
	return failed;
}

int sorter_add(struct sorter *s, struct sorter_key key, const void *data, size_t size,
	       struct error *e)
{
	size_t *offsets, at = s->records.size;

	if (s->count && at + size > sorter_memory) {
		if (write_run(s, e))
			return -1;
		at = 0;
	}
	offsets = array_grow(s->offsets, &s->capacity, s->count, sizeof *offsets);
	if (!offsets)
		return error_no_memory(e);
	s->offsets = offsets;
	if (buffer_u64(&s->records, key.time) || buffer_u64(&s->records, key.second) ||
	    buffer_u64(&s->records, s->added++) || buffer_u64(&s->records, size) ||
	    (size && buffer_append(&s->records, data, size)) || buffer_align(&s->records, 8))
		return error_no_memory(e);
	offsets[s->count++] = at;
	return 0;
}

/* --- reading --- */

/* Load the run's next record completely into its window. */
static int load_record(struct sorter *s, struct sorter_run *run, struct error *e)
{
	for (;;) {
		size_t have = run->filled - run->begin, want = HEADER, n;

		if (have >= HEADER)
			want = record_size(run->data + run->begin);
		if (have >= want)
			return 0;
		memmove(run->data, run->data + run->begin, have);
		run->begin = 0;
		run->filled = have;
		if (want > run->capacity) {
			uint8_t *data = realloc(run->data, want);

			if (!data)
				return error_no_memory(e);
			run->data = data;
			run->capacity = want;
		}
		n = run->capacity - have;
		if (n > run->end - run->at)
			n = (size_t)(run->end - run->at);
		if (!n)
			return error_set(e, NULL, NO_OFFSET, "the temporary file was changed");
		if (temporary_read(s->fd, run->data + have, n, run->at, e))
			return -1;
		run->at += n;
		run->filled += n;
	}
}

static bool run_ended(const struct sorter_run *run)
{
	return run->begin == run->filled && run->at == run->end;
}

static const uint8_t *next_record(const struct sorter_run *run)
{
	return run->data + run->begin;
}

static void sift_down(struct sorter *s, size_t i)
{
	HEAP_DOWN(s->heap, s->nheap, i, a, b,
		  compare_records(next_record(*a), next_record(*b)) < 0);
}

int sorter_finish(struct sorter *s, struct error *e)
{
	size_t window;

	if (!s->nruns) {
		sort_records(s);
		return 0;
	}
	if (s->count && write_run(s, e))
		return -1;
	buffer_free(&s->records);
	free(s->offsets);
	s->offsets = NULL;
	s->capacity = 0;
	window = sorter_memory / s->nruns;
	if (window > WINDOW_MOST)
		window = WINDOW_MOST;
	if (window < WINDOW_LEAST)
		window = WINDOW_LEAST;
	s->heap = calloc(s->nruns, sizeof *s->heap);
	if (!s->heap)
		return error_no_memory(e);
	for (size_t i = 0; i < s->nruns; i++) {
		struct sorter_run *run = &s->runs[i];

		run->capacity = window;
		run->data = malloc(window);
		if (!run->data)
			return error_no_memory(e);
		if (load_record(s, run, e))
			return -1;
		s->heap[s->nheap++] = run;
	}
	for (size_t i = s->nheap; i--;)
		sift_down(s, i);
	return 0;
}

bool sorter_peek(const struct sorter *s, struct sorter_record *r)
{
	const uint8_t *p;

	if (s->nruns) {
		if (!s->nheap)
			return false;
		p = s->heap[0]->data + s->heap[0]->begin;
	} else {
		if (s->position == s->count)
			return false;
		p = s->records.data + s->offsets[s->position];
	}
	*r = (struct sorter_record){
		{get_u64(p), get_u64(p + 8)}, p + HEADER, (size_t)get_u64(p + 24)};
	return true;
}

int sorter_advance(struct sorter *s, struct error *e)
{
	struct sorter_run *run;

	if (!s->nruns) {
		s->position++;
		return 0;
	}
	run = s->heap[0];
	run->begin += record_size(run->data + run->begin);
	if (run_ended(run))
		s->heap[0] = s->heap[--s->nheap];
	else if (load_record(s, run, e))
		return -1;
	if (s->nheap)
		sift_down(s, 0);
	return 0;
}
