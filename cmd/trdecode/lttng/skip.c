/*
 * skip.c - skips blocks by the times in their headers
 *
 * Earlier events determine which thread runs on a CPU, and which call a leave ends. So blocks are
 * skipped only if the caller needs no more than the times of rows. Without this 'trdecode --since
 * -160ms | trstat' of t/bench/lttng.sh's trace of 1.7 s takes 1.8 times the instructions.
 */
#include "cmd/trdecode/lttng/lttng.h"
#include "cmd/trdecode/input/merge.h"

/* Read the header of a block at offset. false: not a block of the same version as the first one. */
static bool header_at(struct lttng_file *f, uint64_t offset, struct lttng_header *h)
{
	uint8_t bytes[LTTNG_HEADER_MOST];
	uint32_t where;

	return window_peek(&f->window, offset, bytes, sizeof bytes) &&
	       !lttng_header_parse(h, bytes, sizeof bytes, &where) && h->major == f->first.major &&
	       h->minor == f->first.minor && h->big == f->first.big &&
	       h->size <= f->window.size - offset;
}

/* Return the bytes from a block to the next one. */
static uint64_t block_step(const struct lttng_file *f, const struct lttng_header *h)
{
	return f->first.major == 2 && f->first.minor >= 5 ? h->size : f->first.size;
}

uint64_t lttng_skip_blocks(struct lttng *l, struct lttng_file *f, uint64_t offset)
{
	uint64_t first = row_filter_first(l->input), next;
	struct lttng_header h;

	if (!first || !l->input->decoding->times_only || !f->any)
		return offset;
	/* row_filter_first is unshifted, as rows are before the shift */
	for (; header_at(f, offset, &h) && !h.unfinished && h.end; offset = next) {
		int64_t end = lttng_clock_slow(&l->clock, h.end);

		next = offset + block_step(f, &h);
		if (end >= (int64_t)first || next >= f->window.size)
			break;
		/* losses of skipped blocks must not be counted for the next one */
		f->block.lost = h.lost;
		f->block.corrupt = h.corrupt;
	}
	return offset;
}

bool lttng_skip_late(struct input *in, uint64_t *latest)
{
	struct lttng *l = in->state;

	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_file *f = &l->files[i];
		uint64_t at = f->at, last = at;
		struct lttng_header h;
		int64_t time;

		if (f->done || !f->any)
			continue;
		/* all blocks have one size: the end of the file gives the last one */
		if (f->first.major == 1 || f->first.minor < 5)
			last = at + (f->window.size - at - 1) / f->first.size * f->first.size;
		else
			for (; header_at(f, at, &h); at += h.size)
				last = at;
		if (!header_at(f, last, &h))
			continue;
		time = lttng_clock_slow(&l->clock, h.begin) + l->shift;
		if (time > 0 && (uint64_t)time > *latest)
			*latest = (uint64_t)time;
	}
	return false;
}
