#include "cmd/trstat/summary/bracket.h"

#include <stdlib.h>

enum { FIRST = 256 };

int bracket_init(struct bracket *b, size_t keys, const struct columns_wanted *wanted)
{
	*b = (struct bracket){0};
	groups_init(&b->held, keys + HELD_CELLS, wanted);
	b->cells = calloc(keys + HELD_CELLS, sizeof(*b->cells));
	b->doubts = calloc(FIRST, sizeof(*b->doubts));
	b->mask = FIRST - 1;
	return b->cells && b->doubts ? 0 : -1;
}

void bracket_free(struct bracket *b)
{
	groups_free(&b->held);
	free(b->cells);
	free(b->doubts);
	*b = (struct bracket){0};
}

struct aggregate *bracket_hold(struct bracket *b, uint32_t thread, uint64_t position, uint32_t open,
			       const struct key_cell *cells)
{
	b->cells[HELD_THREAD] = key_unsigned(thread);
	b->cells[HELD_POSITION] = key_unsigned(position);
	b->cells[HELD_OPEN] = key_unsigned(open);
	memcpy(b->cells + HELD_CELLS, cells, (b->held.keys - HELD_CELLS) * sizeof(*cells));
	return groups_find(&b->held, b->cells);
}

int bracket_grow(struct bracket *b)
{
	size_t size = (b->mask + 1) * 2;
	struct doubt *old = b->doubts, *doubts = calloc(size, sizeof(*doubts));

	if (!doubts)
		return -1;
	b->doubts = doubts;
	b->mask = size - 1;
	for (size_t i = 0; i < size / 2; i++) {
		const struct doubt *d = &old[i];
		size_t at;

		if (!d->aggregate)
			continue;
		at = bracket_slot(b, d->aggregate, d->thread, d->location, d->position);
		while (b->doubts[at].aggregate)
			at = (at + 1) & b->mask;
		b->doubts[at] = *d;
	}
	free(old);
	return 0;
}
