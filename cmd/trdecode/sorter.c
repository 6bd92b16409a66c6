/*
 * sorter.c - sorts any number of records by their keys
 */
#include "cmd/trdecode/sorter.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/util/heap.h"
#include "common/util/output.h"

enum {
	HEADER = SORTER_HEADER,
	ALIGNED = 4,
	WINDOW_MOST = 64 * 1024,
	WINDOW_LEAST = 4096,
	FAN_LEAST = 8,
};

size_t sorter_memory = 4 << 20;

struct sorter_run {
	struct sorter_key key;	 /* of the next record; while runs are written, of the last one */
	uint64_t first, at, end; /* offsets in the file: of the run, after the window, of its end */
	uint8_t *data;
	size_t begin, filled, capacity;
	unsigned level; /* 0: of records in memory, else of runs of the level below */
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
	free(s->merged);
	free(s->parts);
	buffer_free(&s->records);
	if (s->fd >= 0)
		close(s->fd);
}

void sorter_clear(struct sorter *s)
{
	struct sorter kept = {.fd = -1,
			      .records = s->records,
			      .offsets = s->offsets,
			      .capacity = s->capacity,
			      .merged = s->merged,
			      .nmerged = s->nmerged,
			      .parts = s->parts,
			      .parts_capacity = s->parts_capacity};

	kept.records.size = 0;
	s->records = (struct buffer){0};
	s->offsets = s->merged = s->parts = NULL;
	sorter_free(s);
	*s = kept;
}

static size_t record_size(const uint8_t *p)
{
	return HEADER + align_up(get_u32(p + 16), ALIGNED);
}

static bool key_before(struct sorter_key a, struct sorter_key b)
{
	return a.time != b.time ? a.time < b.time : a.second < b.second;
}

static struct sorter_key key_at(const uint8_t *p)
{
	return (struct sorter_key){get_u64(p), get_u64(p + 8)};
}

/* Merge the records of from, from at[0] on and from at[1] on, into to. */
static void merge_two(const struct sorter *s, const uint32_t *from, uint32_t *to,
		      const size_t at[3])
{
	const uint8_t *records = s->records.data;
	size_t i = at[0], j = at[1], n = at[0];

	while (i < at[1] && j < at[2])
		if (key_before(key_at(records + from[j]), key_at(records + from[i])))
			to[n++] = from[j++];
		else
			to[n++] = from[i++];
	if (i < at[1])
		memcpy(to + n, from + i, (at[1] - i) * sizeof *to);
	else if (j < at[2])
		memcpy(to + n, from + j, (at[2] - j) * sizeof *to);
}

/* Get the index after part i of the records in memory. */
static size_t part_end(const struct sorter *s, size_t i)
{
	return i < s->nparts ? s->parts[i] : s->count;
}

/* Sort the records in memory: neighbours among the parts that are in order are merged, until one
 * part is left. Traces consist of few such parts. */
static int sort_records(struct sorter *s)
{
	while (s->nparts) {
		uint32_t *merged;
		size_t at[3] = {0}, parts = 0, capacity = s->capacity;

		if (ARRAY_REACH(s->merged, s->nmerged, s->count - 1))
			return -1;
		merged = s->merged;
		for (size_t i = 0; at[0] < s->count; at[0] = at[2], i += 2) {
			at[1] = part_end(s, i);
			at[2] = part_end(s, i + 1);
			merge_two(s, s->offsets, merged, at);
			if (at[2] < s->count)
				s->parts[parts++] = (uint32_t)at[2];
		}
		s->nparts = parts;
		s->merged = s->offsets;
		s->offsets = merged;
		s->capacity = s->nmerged;
		s->nmerged = capacity;
	}
	return 0;
}

/* --- reading --- */

/* Read more of a run, up to the end of its next record. */
static int fill_window(struct sorter *s, struct sorter_run *run, struct error *e)
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

/* Load the run's next record completely into its window. */
static inline int load_record(struct sorter *s, struct sorter_run *run, struct error *e)
{
	size_t have = run->filled - run->begin;

	if ((have < HEADER || have < record_size(run->data + run->begin)) && fill_window(s, run, e))
		return -1;
	run->key = key_at(run->data + run->begin);
	return 0;
}

static bool run_ended(const struct sorter_run *run)
{
	return run->begin == run->filled && run->at == run->end;
}

/* Records of equal keys are in the order of their runs. */
static bool run_before(const struct sorter_run *a, const struct sorter_run *b)
{
	return key_before(a->key, b->key) || (!key_before(b->key, a->key) && a < b);
}

static void sorter_sift_down(struct sorter *s, size_t i)
{
	HEAP_DOWN(s->heap, s->nheap, i, a, b, run_before(*a, *b));
}

/* Find the next record. */
static inline void find_next(struct sorter *s)
{
	if (s->nruns)
		s->next = s->nheap ? s->heap[0]->data + s->heap[0]->begin : NULL;
	else
		s->next = s->position < s->count ? s->records.data + s->offsets[s->position] : NULL;
}

/* Load the first records of the runs from one on, which are open. */
static int begin_runs(struct sorter *s, size_t from, struct error *e)
{
	s->nheap = 0;
	for (size_t i = from; i < s->nruns; i++) {
		struct sorter_run *run = &s->runs[i];

		run->at = run->first;
		run->begin = run->filled = 0;
		if (load_record(s, run, e))
			return -1;
		s->heap[s->nheap++] = run;
	}
	for (size_t i = s->nheap; i--;)
		sorter_sift_down(s, i);
	return 0;
}

/* Begin to read the runs from the first one on. */
static int open_runs(struct sorter *s, size_t first, struct error *e)
{
	size_t window = sorter_memory / (s->nruns - first);

	if (window > WINDOW_MOST)
		window = WINDOW_MOST;
	if (window < WINDOW_LEAST)
		window = WINDOW_LEAST;
	s->heap = calloc(s->nruns - first, sizeof *s->heap);
	if (!s->heap)
		return error_no_memory(e);
	for (size_t i = first; i < s->nruns; i++) {
		struct sorter_run *run = &s->runs[i];

		run->capacity = window;
		run->data = malloc(window);
		if (!run->data)
			return error_no_memory(e);
	}
	return begin_runs(s, first, e);
}

/* --- runs --- */

/* Skip the next record of the runs. */
static inline int next_of_runs(struct sorter *s, struct error *e)
{
	struct sorter_run *run = s->heap[0];

	run->begin += record_size(run->data + run->begin);
	if (run_ended(run))
		s->heap[0] = s->heap[--s->nheap];
	else if (load_record(s, run, e))
		return -1;
	if (s->nheap > 1)
		sorter_sift_down(s, 0);
	return 0;
}

static int sorter_flush(struct sorter *s, struct buffer *out, struct error *e)
{
	if (temporary_write(s->fd, out->data, out->size, s->written, e))
		return -1;
	s->written += out->size;
	out->size = 0;
	return 0;
}

/* Write the records of the open runs as one run, whose last key is in *last. */
static int write_merged(struct sorter *s, struct sorter_key *last, struct error *e)
{
	struct buffer out = {0};
	int failed = 0;

	while (s->nheap && !failed) {
		const struct sorter_run *run = s->heap[0];
		const uint8_t *p = run->data + run->begin;

		*last = run->key;
		failed = buffer_append(&out, p, record_size(p)) ? error_no_memory(e) : 0;
		if (!failed && out.size >= WINDOW_MOST)
			failed = sorter_flush(s, &out, e);
		failed = failed || next_of_runs(s, e);
	}
	failed = failed || sorter_flush(s, &out, e);
	buffer_free(&out);
	return failed ? -1 : 0;
}

/*
 * Merge the last runs if many are of one level. A run needs a window while it is read: so memory
 * grows with the number of levels, which is the logarithm of the size of the input. The space of
 * the merged runs is given back where the file system can do so.
 */
static int merge_last(struct sorter *s, struct error *e)
{
	size_t fan = sorter_memory / WINDOW_LEAST / 2, first = s->nruns;
	unsigned level = s->runs[s->nruns - 1].level;
	uint64_t from, to = s->written;
	struct sorter_key last = {0};
	int failed;

	while (first && s->runs[first - 1].level == level)
		first--;
	if (s->nruns - first < (fan > FAN_LEAST ? fan : FAN_LEAST))
		return 0;
	from = s->runs[first].first;
	failed = open_runs(s, first, e) || write_merged(s, &last, e);
	for (size_t i = first; i < s->nruns; i++) {
		free(s->runs[i].data);
		s->runs[i].data = NULL;
	}
	free(s->heap);
	s->heap = NULL;
	s->nheap = 0;
	if (failed)
		return -1;
	fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
		  (off_t)(to - from));
	s->runs[first] = (struct sorter_run){
		.key = last, .first = to, .end = s->written, .level = level + 1};
	s->nruns = first + 1;
	return merge_last(s, e);
}

/* Write the records in memory, in their order. */
static int write_records(struct sorter *s, struct error *e)
{
	struct buffer out = {0};
	int failed = 0;

	for (size_t i = 0; i < s->count && !failed; i++) {
		const uint8_t *p = s->records.data + s->offsets[i];

		failed = buffer_append(&out, p, record_size(p)) ? error_no_memory(e) : 0;
		if (!failed && (out.size >= WINDOW_MOST || i + 1 == s->count))
			failed = sorter_flush(s, &out, e);
	}
	buffer_free(&out);
	return failed;
}

/* Write the records in memory as a run of the file, or at the end of the last run if they are not
 * before its records: a trace in order is one run, which is read without merging. */
static int write_run(struct sorter *s, struct error *e)
{
	struct sorter_key last;
	bool in_order = !s->nparts;
	int failed;

	if (ARRAY_GROW(s->runs, s->runs_capacity, s->nruns))
		return error_no_memory(e);
	if (s->fd < 0)
		s->fd = temporary_open(e);
	if (s->fd < 0)
		return -1;
	if (sort_records(s))
		return error_no_memory(e);
	if (!s->nruns ||
	    key_before(key_at(s->records.data + s->offsets[0]), s->runs[s->nruns - 1].key))
		s->runs[s->nruns++] = (struct sorter_run){.first = s->written};
	last = key_at(s->records.data + s->offsets[s->count - 1]);
	failed = in_order ? sorter_flush(s, &s->records, e) : write_records(s, e);
	s->runs[s->nruns - 1].key = last;
	s->runs[s->nruns - 1].end = s->written;
	s->count = 0;
	s->records.size = 0;
	return failed || merge_last(s, e) ? -1 : 0;
}

/* Begin a part of the records in memory: the next one is before the last one. */
static int sorter_begin_part(struct sorter *s)
{
	if (ARRAY_GROW(s->parts, s->parts_capacity, s->nparts))
		return -1;
	s->parts[s->nparts++] = (uint32_t)s->count;
	return 0;
}

int sorter_add(struct sorter *s, struct sorter_key key, const void *data, size_t size,
	       struct error *e)
{
	size_t at = s->records.size, whole = HEADER + align_up(size, ALIGNED);
	uint8_t *p;

	if (s->count && at + size > sorter_memory) {
		if (write_run(s, e))
			return -1;
		at = 0;
	}
	if (__builtin_expect(s->count == s->capacity, 0) &&
	    ARRAY_GROW(s->offsets, s->capacity, s->count))
		return error_no_memory(e);
	if (size > UINT32_MAX || buffer_reserve(&s->records, whole) ||
	    (s->count && key_before(key, s->last) && sorter_begin_part(s)))
		return error_no_memory(e);
	s->last = key;
	p = s->records.data + at;
	put_u32(p + whole - 4, 0); /* the padding */
	put_u64(p, key.time);
	put_u64(p + 8, key.second);
	put_u32(p + 16, (uint32_t)size);
	if (size)
		memcpy(p + HEADER, data, size);
	s->records.size += whole;
	s->offsets[s->count++] = (uint32_t)at;
	return 0;
}

int sorter_finish(struct sorter *s, struct error *e)
{
	if (s->nruns) {
		if (s->count && write_run(s, e))
			return -1;
		buffer_free(&s->records);
		free(s->offsets);
		free(s->merged);
		s->offsets = s->merged = NULL;
		s->capacity = s->nmerged = 0;
		if (open_runs(s, 0, e))
			return -1;
	} else if (s->count && sort_records(s)) {
		return error_no_memory(e);
	}
	find_next(s);
	return 0;
}

int sorter_advance(struct sorter *s, struct error *e)
{
	if (!s->nruns)
		s->position++;
	else if (next_of_runs(s, e))
		return -1;
	find_next(s);
	return 0;
}

int sorter_rewind(struct sorter *s, struct error *e)
{
	s->position = 0;
	if (s->nruns && begin_runs(s, 0, e))
		return -1;
	find_next(s);
	return 0;
}
