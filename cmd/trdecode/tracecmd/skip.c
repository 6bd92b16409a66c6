/*
 * skip.c - skip pages before the first wanted time, and CPUs that are not wanted
 *
 * The times of a CPU's pages ascend, so the first wanted page is found by bisection, and pages
 * before it are never read. Of compressed pages, the lengths of all chunks are read to find each
 * chunk, and only a few chunks are unpacked. Where a tenth of the recording of t/bench/trace-cmd.sh
 * is wanted, 'trdecode --since TIME | trstat' takes 5.7 times the instructions without either of
 * skip_pages and tracecmd_late.
 */
#include <stdlib.h>

#include "cmd/trdecode/tracecmd/tracecmd.h"

/* A CPU's data that are not yet read, in pieces: pages, or chunks of pages, or runs of chunks. */
struct pieces {
	const struct tracecmd *t;
	struct tracecmd_reader *r;
	uint64_t count;
	/* of runs of chunks: where each run begins */
	uint64_t *offsets;
	uint64_t run; /* chunks in a run */
	struct buffer page;
};

enum {
	RUNS_MOST = 1 << 16,
	CHUNKS_LEAST = 16, /* fewer chunks are read, not searched */
};

/* Find where runs of chunks begin. If there are many chunks, a run has more than one. */
static bool find_runs(struct pieces *p)
{
	const struct cpu_data *c = &p->r->data;
	uint64_t offset = c->offset, n = c->chunks;

	if (n < CHUNKS_LEAST)
		return false;
	p->run = n / RUNS_MOST + 1;
	p->offsets = calloc((size_t)(n / p->run) + 1, sizeof *p->offsets);
	for (uint64_t i = 0; p->offsets && i < n; i++) {
		if (i % p->run == 0)
			p->offsets[p->count++] = offset;
		if (!cpu_data_chunk(c, offset, NULL, &offset))
			return false;
	}
	return p->offsets;
}

static bool find_pieces(struct pieces *p, const struct tracecmd *t, struct tracecmd_reader *r)
{
	const struct cpu_data *c = &r->data;

	*p = (struct pieces){.t = t, .r = r};
	if (c->unpacker)
		return find_runs(p);
	p->count = (c->end - c->offset) / c->page_size;
	return true;
}

static void free_pieces(struct pieces *p)
{
	free(p->offsets);
	buffer_free(&p->page);
}

/* Read the time of the first page of piece n. -1: it cannot be read. */
static int piece_time(struct pieces *p, uint64_t n, uint64_t *time)
{
	const struct cpu_data *c = &p->r->data;
	uint8_t stamp[8];
	uint64_t next;
	struct error e;

	if (c->unpacker) {
		if (!cpu_data_chunk(c, p->offsets[n], &p->page, &next) ||
		    p->page.size < sizeof stamp)
			return -1;
		memcpy(stamp, p->page.data, sizeof stamp);
	} else if (tracecmd_file_read(c->file, stamp, sizeof stamp, c->offset + n * c->page_size,
				      &e) != sizeof stamp) {
		return -1;
	}
	*time = tracecmd_time(p->t, p->r->cpu, get_uint(stamp, 8, p->t->layout.big_endian));
	return 0;
}

/* Drop what was read of this CPU, and continue at offset. */
static void go_on_at(struct cpu_data *c, uint64_t offset)
{
	c->offset = offset;
	c->at = c->window.size;
	c->page = (struct ring_page){0};
}

static void skip_pages(const struct tracecmd *t, struct tracecmd_reader *r, uint64_t first)
{
	uint64_t low = 0, high, at, before, time;
	struct cpu_data *c = &r->data;
	struct pieces p;

	if (!find_pieces(&p, t, r))
		goto out;
	high = p.count;
	/* piece low is at most `first`; piece high is later, or does not exist */
	if (!high || piece_time(&p, 0, &time) || time > first)
		goto out;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (piece_time(&p, middle, &time))
			goto out;
		if (time > first)
			high = middle;
		else
			low = middle;
	}
	/* a damaged time has misled the search: everything is read */
	if (low && (piece_time(&p, low, &at) || piece_time(&p, low - 1, &before) || before > at))
		goto out;
	if (c->unpacker) {
		c->chunks -= low * p.run;
		go_on_at(c, p.offsets[low]);
	} else {
		go_on_at(c, c->offset + low * c->page_size);
	}
out:
	free_pieces(&p);
}

bool tracecmd_late(struct input *in, uint64_t *latest)
{
	struct tracecmd *t = in->state;

	for (size_t i = 0; i < t->nreaders; i++) {
		struct tracecmd_reader *r = &t->readers[i];
		struct pieces p;
		uint64_t time;

		if (r->text)
			continue;
		if (r->due.time != UINT64_MAX && r->due.time > *latest)
			*latest = r->due.time;
		if (find_pieces(&p, t, r) && p.count && !piece_time(&p, p.count - 1, &time) &&
		    time > *latest)
			*latest = time;
		free_pieces(&p);
	}
	return false;
}

void tracecmd_skip(struct tracecmd *t)
{
	const struct row_filter *l = t->input->decoding->row_filter;

	if (t->skipped || !l)
		return;
	t->skipped = true;
	for (size_t i = 0; i < t->nreaders; i++) {
		struct tracecmd_reader *r = &t->readers[i];

		if (r->text)
			continue;
		if (!row_filter_cpu(l, r->cpu)) {
			r->data.chunks = 0;
			go_on_at(&r->data, r->data.end);
		} else if (l->first_time) {
			skip_pages(t, r, l->first_time);
		}
	}
}
