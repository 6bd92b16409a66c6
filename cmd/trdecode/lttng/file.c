/*
 * file.c - finds the blocks of a tracefile
 *
 * Damage costs at most the rest of its block: each block records where the next one begins.
 */
#include "cmd/trdecode/lttng/lttng.h"
#include "cmd/trdecode/lttng/event.h"

const uint8_t *lttng_window_fill(struct lttng *l, struct lttng_file *f, uint64_t offset, size_t n,
				 size_t *have)
{
	struct file_window *w = &f->window;
	struct error e;

	window_seek(w, offset);
	if (window_need(w, n, &e) < 0) {
		input_damage_error(l->input, &e);
		w->size = offset + window_have(w);
	}
	*have = window_have(w);
	return window_at(w);
}

int lttng_file_damage(struct lttng *l, struct lttng_file *f, uint64_t offset, const char *what,
		      uint64_t count)
{
	char path[512];
	struct gap gap = {.reason = GAP_DAMAGE,
			  .unit = GAP_EVENTS,
			  .count = count,
			  .offset = offset,
			  .file = f->member,
			  .message = what};
	int64_t ns;

	if (f->quiet)
		return 0;
	input_damage(l->input, tree_path(l->input->tree, f->member, path, sizeof path), offset,
		     "%s", what);
	if (!l->begun)
		return 0;
	ns = lttng_clock_ns(&l->clock, f->tsc ? f->tsc : l->clock.zero) + l->shift;
	return writer_gap(l->w, ns < 0 ? 0 : (uint64_t)ns,
			  lttng_state_lane(l, f, lttng_state_cpu(l, f->cpu)), &gap);
}

int lttng_file_abandon(struct lttng *l, struct lttng_file *f, uint32_t position, const char *what)
{
	f->position = f->used;
	/* an unfinished block may end anywhere */
	if (f->block.unfinished)
		return 0;
	if (f->cut) {
		/* reported already */
		return 0;
	}
	return lttng_file_damage(l, f, f->at + position, what, UINT64_MAX);
}

static bool same_trace(const struct lttng_header *a, const struct lttng_header *b)
{
	return a->major == b->major && a->minor == b->minor && a->big == b->big &&
	       a->word_size == b->word_size;
}

/* Search each page from *offset on for a block. */
static bool search_block(struct lttng *l, struct lttng_file *f, uint64_t *offset)
{
	struct lttng_header h;
	uint32_t where;
	size_t have;
	const uint8_t *p;

	for (; *offset < f->window.size; *offset += LTTNG_PAGE) {
		p = lttng_window(l, f, *offset, LTTNG_HEADER_MOST, &have);
		if (p && !lttng_header_parse(&h, p, have, &where) && h.major &&
		    (!f->any || same_trace(&h, &f->first)))
			return true;
	}
	return false;
}

/* Count the events lost since the last block, by the counters of the headers. */
static void count_lost(struct lttng_file *f, const struct lttng_header *before,
		       const struct lttng_header *now)
{
	uint32_t lost = now->lost - before->lost, blocks = now->corrupt - before->corrupt;

	/* a counter that fell was reset: another session */
	if (lost >> 31)
		lost = now->lost;
	if (blocks >> 31)
		blocks = now->corrupt;
	f->gap.lost = lost;
	f->gap.blocks = blocks;
	f->gap.pending = lost || blocks;
}

/* Find a smaller size for the first block, which extends beyond the file, by the next block. */
static bool shrink_block(struct lttng *l, struct lttng_file *f)
{
	uint64_t at = f->at + LTTNG_PAGE, before = f->at;
	uint32_t unused = f->block.size - f->block.used;

	if (before || !search_block(l, f, &at) || at - before > f->block.size)
		return false;
	f->block.size = f->first.size = (uint32_t)(at - before);
	if (f->first.major == 2 && f->first.minor >= 5)
		unused = 0;
	f->used = unused < f->block.size - f->block.length ? f->block.size - unused : f->block.size;
	return true;
}

/* Read the header of the next block from *at on; after damage search for one. 1: found; 0: no more
 * blocks, f->done is set; -1. */
static int find_header(struct lttng *l, struct lttng_file *f, uint64_t *at, struct lttng_header *h)
{
	while (!f->cut && *at < f->window.size) {
		uint32_t where;
		size_t have;
		const uint8_t *p = lttng_window(l, f, *at, LTTNG_HEADER_MOST, &have);
		const char *wrong;

		if (!p || !have)
			break;
		wrong = lttng_header_parse(h, p, have, &where);
		if (!wrong && !h->major)
			wrong = "a block of another version";
		if (!wrong && !same_trace(h, f->any ? &f->first : &l->header))
			wrong = "a block of another version, word size or byte order";
		if (!wrong)
			return 1;
		/* fewer bytes than a header after the last block: the end of a cut block */
		if (lttng_file_damage(l, f, *at + (where < have ? where : 0), wrong, UINT64_MAX))
			return -1;
		*at = (*at / LTTNG_PAGE + 1) * LTTNG_PAGE;
		if (!search_block(l, f, at))
			break;
	}
	f->done = true;
	return 0;
}

/* Correct the size of a block in a version where all blocks have the size of the first one. */
static int correct_size(struct lttng *l, struct lttng_file *f, uint64_t at, struct lttng_header *h)
{
	if ((h->major != 1 && h->minor >= 5) || h->size == f->first.size)
		return 0;
	if (lttng_file_damage(l, f, at, "a block whose size differs from the first", UINT64_MAX))
		return -1;
	h->used = h->size - h->used < f->first.size - h->length && !h->unfinished
			  ? f->first.size - (h->size - h->used)
			  : f->first.size;
	h->size = f->first.size;
	return 0;
}

static void begin_block(struct lttng_file *f, uint64_t at, const struct lttng_header *h)
{
	f->any = true;
	f->at = at;
	f->block = *h;
	f->in_block = true;
	f->used = h->used;
	f->position = h->length;
	f->tsc = h->begin;
	f->headers.align = (uint8_t)lttng_align_of(h, h->alignment, 4);
	f->headers.compact = h->major == 2 && !h->unfinished;
	f->headers.old = h->major == 1 && !h->unfinished && h->heartbeat && !h->big && !f->compact;
	if (h->major == 1)
		f->headers.align = (uint8_t)lttng_at_most(h->alignment, h->word_size);
}

/* Report a block that is unfinished or extends beyond the file, and limit f->used to its events. */
static int check_end(struct lttng *l, struct lttng_file *f, const struct lttng_header *h)
{
	uint64_t left = f->window.size - f->at;

	if (f->used > left && shrink_block(l, f))
		return lttng_file_damage(l, f, f->at, "a block's size is beyond the next block",
					 UINT64_MAX);
	if (f->used > left) {
		if (lttng_file_damage(l, f, f->window.size, "the file ends inside of a block",
				      UINT64_MAX))
			return -1;
		f->used = (uint32_t)(f->window.size - f->at);
		f->cut = true;
		return 0;
	}
	if (h->unfinished) {
		if (lttng_file_damage(l, f, f->at, "a block that its writer did not finish",
				      UINT64_MAX))
			return -1;
		if (f->used > f->window.size - f->at)
			f->used = (uint32_t)(f->window.size - f->at);
		return 0;
	}
	/* the file has all its events */
	if (h->size > left && !f->quiet)
		return lttng_file_damage(l, f, f->window.size,
					 "the file ends inside a block, after its events", 0);
	return 0;
}

int lttng_file_block(struct lttng *l, struct lttng_file *f)
{
	struct lttng_header h, before;
	uint64_t at = f->at;
	int found;

	if (f->in_block) {
		at += f->first.major == 2 && f->first.minor >= 5 ? f->block.size : f->first.size;
		at = lttng_skip_blocks(l, f, at);
	}
	before = f->block;
	f->in_block = false;
	found = find_header(l, f, &at, &h);
	if (found <= 0)
		return found;
	if (!f->any)
		f->first = h;
	if (correct_size(l, f, at, &h))
		return -1;
	begin_block(f, at, &h);
	if (check_end(l, f, &h))
		return -1;
	if (f->used < f->position)
		f->position = f->used;
	count_lost(f, &before, &h);
	return 0;
}

int lttng_file_open(struct lttng *l, struct lttng_file *f, const char *member, size_t files)
{
	struct error e;

	f->member = member;
	f->next = UINT64_MAX;
	if (window_open_one(&f->window, l->input, member, files, &e)) {
		if (!f->quiet)
			input_damage_error(l->input, &e);
		f->done = true;
		return 0;
	}
	/* a CPU without events */
	if (f->window.size < 60) {
		f->done = true;
		return 0;
	}
	return lttng_file_next(l, f);
}

void lttng_file_close(struct lttng_file *f)
{
	window_close(&f->window);
}
