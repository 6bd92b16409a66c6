/*
 * tracecmd_skip.c - pages before the first time that is wanted, and CPUs that are not
 *
 * The times of a CPU's pages ascend, so the first one of interest is found by halves, and what is
 * before it is never read. Compressed pages have to be unpacked one after the other: there the
 * writer alone refuses what is not wanted.
 */
#include "tracecmd.h"

/* Time of page number n of those that were not yet read. -1: it cannot be read. */
static int page_time(const struct tracecmd *t, const struct tracecmd_reader *r, uint64_t n,
		     uint64_t *time)
{
	const struct cpu_data *c = &r->data;
	struct error e;
	uint8_t stamp[8];

	if (tracecmd_file_read(c->file, stamp, sizeof stamp, c->offset + n * c->page_size, &e) !=
	    sizeof stamp)
		return -1;
	*time = tracecmd_time(t, r->cpu, get_uint(stamp, 8, t->layout.big_endian));
	return 0;
}

/* What was read of this CPU, and so many bytes more, are done with. */
static void go_on_behind(struct cpu_data *c, uint64_t bytes)
{
	c->offset += bytes;
	c->at = c->window.size;
	c->page = (struct ring_page){0};
}

static void skip_pages(const struct tracecmd *t, struct tracecmd_reader *r, uint64_t first)
{
	struct cpu_data *c = &r->data;
	uint64_t low = 0, high = (c->end - c->offset) / c->page_size, at, before, time;

	/* page low is not later than what is wanted, page high is, or there is none */
	if (!high || page_time(t, r, 0, &time) || time > first)
		return;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (page_time(t, r, middle, &time))
			return;
		if (time > first)
			high = middle;
		else
			low = middle;
	}
	/* a damaged time has led astray: all is read */
	if (low && (page_time(t, r, low, &at) || page_time(t, r, low - 1, &before) || before > at))
		return;
	go_on_behind(c, low * c->page_size);
}

void tracecmd_skip(struct tracecmd *t)
{
	const struct limits *l = t->input->decoding->limits;

	if (t->skipped || !l)
		return;
	t->skipped = true;
	for (size_t i = 0; i < t->nreaders; i++) {
		struct tracecmd_reader *r = &t->readers[i];

		if (r->text)
			continue;
		if (!limits_cpu(l, r->cpu)) {
			r->data.chunks = 0;
			go_on_behind(&r->data, r->data.end - r->data.offset);
		} else if (l->first_time && !r->data.unpacker) {
			skip_pages(t, r, l->first_time);
		}
	}
}
