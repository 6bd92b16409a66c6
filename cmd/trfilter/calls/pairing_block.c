#include <string.h>

#include "cmd/trfilter/calls/reverse_scan.h"

static bool is_call(const struct type *t)
{
	return t->kind == KIND_ENTER || t->kind == KIND_LEAVE;
}

bool pairing_has_calls(const struct block *b)
{
	for (uint32_t i = 0; i < b->ntypes; i++)
		if (is_call(b->types[i]))
			return true;
	return false;
}

static enum pairing_kind kind_of(const struct type *t)
{
	enum {
		ALL = TYPE_DEPTH | TYPE_INNER | TYPE_PER_CPU | TYPE_KERNEL | TYPE_CALL_NUMBER,
	};

	if (!is_call(t))
		return PAIRING_NONE;
	if ((t->flags & ALL) != TYPE_DEPTH)
		return PAIRING_OTHER;
	return t->kind == KIND_ENTER ? PAIRING_ENTER : PAIRING_LEAVE;
}

int pairing_block_begin(struct pairing_block *pb, struct pairing *p, const struct block *b)
{
	pb->pairing = p;
	pb->block = b;
	pb->runs = !p->lost;
	pb->fit = true;
	memset(pb->kinds, PAIRING_NONE, sizeof pb->kinds);
	memset(pb->unfit, 1, sizeof pb->unfit);
	for (uint32_t i = 0; i < b->ntypes && i < 256; i++) {
		const struct type *t = b->types[i];

		pb->kinds[i] = kind_of(t);
		pb->unfit[i] =
			pb->kinds[i] == PAIRING_OTHER || t->fixed_size || t->flags & TYPE_TAIL;
		pb->fit &= !pb->unfit[i];
	}
	/* allocate all that the block may need, because the table of stacks must not move later */
	for (uint32_t i = 0; i < b->nlanes && i < 256; i++)
		if (!pairing_stack(p, 2 * b->lanes[i]->thread + 1) ||
		    !pairing_stack(p, 2 * b->lanes[i]->cpu_thread + 1))
			return -1;
	p->blocks++;
	for (uint32_t i = 0; i < b->nlanes && i < 256; i++) {
		struct pairing_stack *s = &p->stacks[2 * b->lanes[i]->thread];

		pb->stacks[i] = s;
		pb->runs &= s->seen != p->blocks;
		s->seen = p->blocks;
	}
	return 0;
}

/* Returns the number of frames of a stack that are less deep; frames are ordered by depth. */
static size_t count_below(const struct pairing_stack *s, uint32_t depth)
{
	size_t n = s->count;

	while (n && s->frames[n - 1].depth >= depth)
		n--;
	return n;
}

/* Replace the open calls by those at the end of a run. */
static void settle_open_calls(struct pairing_block *pb, const struct reverse_scan *k, uint32_t note,
			      const struct pairing_notes *notes)
{
	for (uint32_t i = 0; i < pb->block->nlanes && i < 256; i++) {
		struct pairing_stack *s = pb->stacks[i];

		if (k->low[i] == SCAN_UNSEEN)
			continue;
		s->count = count_below(s, k->low[i]);
		for (uint32_t j = 0; j < SCAN_DEPTHS / 64; j++)
			for (uint64_t bits = k->open[i][j]; bits; bits &= bits - 1) {
				uint32_t depth = 64 * j + (uint32_t)__builtin_ctzll(bits);
				struct pairing_frame f = {.depth = depth, .note = note & 1};

				if (notes)
					f.note = notes->at[i * SCAN_DEPTHS + depth] & 1;
				pairing_push(pb->pairing, s, &f);
			}
	}
}

bool pairing_run(struct pairing_block *pb, const uint8_t *from, const uint8_t *to, uint32_t note)
{
	uint32_t nlanes = pb->block->nlanes;
	struct reverse_scan k;

	if (!pb->runs)
		return false;
	reverse_scan(&k, pb->kinds, from, to);
	for (uint32_t i = 0; i < nlanes && i < 256; i++) {
		const struct pairing_stack *s = pb->stacks[i];

		for (size_t n = s->count; n && s->frames[n - 1].depth >= k.low[i]; n--)
			if (s->frames[n - 1].note != note)
				return false;
	}
	settle_open_calls(pb, &k, note, NULL);
	return true;
}

bool pairing_notes(const struct pairing_block *pb, struct pairing_notes *n)
{
	uint32_t nlanes = pb->block->nlanes;

	if (nlanes > PAIRING_LANES)
		return false;
	memset(n->at, PAIRING_FREE, nlanes * SCAN_DEPTHS);
	for (uint32_t i = 0; i < nlanes; i++)
		for (size_t k = 0; k < pb->stacks[i]->count; k++) {
			struct pairing_frame f = pb->stacks[i]->frames[k];

			if (f.depth < SCAN_DEPTHS && !f.inner)
				n->at[i * SCAN_DEPTHS + f.depth] = f.note & 1;
		}
	return true;
}

/* Returns true if a call of the lane with that note is in *n, or is of a type with TYPE_INNER, and
 * is not open after the rows of *k. */
static bool lost_any(const struct pairing_block *pb, const struct reverse_scan *k,
		     const struct pairing_notes *n, uint8_t note, uint32_t lane)
{
	const uint8_t *at = n->at + lane * SCAN_DEPTHS, *end = at + SCAN_DEPTHS, *p = at;
	const struct pairing_stack *s = pb->stacks[lane];

	while (p < end && (p = memchr(p, note, (size_t)(end - p)))) {
		uint32_t depth = (uint32_t)(p++ - at);

		if (depth >= k->low[lane] && !(k->open[lane][depth / 64] >> depth % 64 & 1))
			return true;
	}
	for (size_t i = s->count; i && s->frames[i - 1].depth >= k->low[lane]; i--)
		if (s->frames[i - 1].inner && s->frames[i - 1].note == note)
			return true;
	return false;
}

bool pairing_found(struct pairing_block *pb, const struct pairing_notes *n, uint8_t note)
{
	const struct block *b = pb->block;
	struct reverse_scan k;

	reverse_scan(&k, pb->kinds, b->row_data, b->row_data + b->row_size);
	for (uint32_t i = 0; i < b->nlanes; i++)
		if (lost_any(pb, &k, n, note, i))
			return false;
	settle_open_calls(pb, &k, 0, n);
	return true;
}
