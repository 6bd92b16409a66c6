#include "common/calls/calls_run.h"

#include <string.h>

static void calls_run_row(struct calls_run *r, const uint8_t *p)
{
	uint32_t lane = row_lane_at(p), depth = row_depth_at(p);
	uint8_t kind;

	if (__builtin_expect(depth >= r->low[lane], 1))
		return;
	kind = r->kinds[row_type_at(p)];
	if (!kind)
		return;
	if (r->low[lane] == RUN_NO_ROWS)
		memset(r->open[lane], 0, sizeof(r->open[lane]));
	if (kind == KIND_ENTER)
		r->open[lane][depth / 64] |= 1ull << depth % 64;
	r->low[lane] = (uint16_t)depth;
}

void calls_run_read(struct calls_run *r, const uint8_t *kinds, const uint8_t *from,
		    const uint8_t *to)
{
	r->kinds = kinds;
	for (int i = 0; i < 256; i++)
		r->low[i] = RUN_NO_ROWS;
	while (to > from)
		calls_run_row(r, to -= NARROW_ROW);
}

int calls_run_end(struct calls *c, struct stack *s, const struct calls_run *r, uint32_t lane,
		  size_t *new)
{
	*new = s->count;
	if (r->low[lane] == RUN_NO_ROWS)
		return 0;
	while (s->count && s->frames[s->count - 1].depth >= r->low[lane])
		calls_take(s);
	*new = s->count;
	for (uint32_t i = 0; i < RUN_DEPTHS / 64; i++)
		for (uint64_t bits = r->open[lane][i]; bits; bits &= bits - 1) {
			uint32_t depth = 64 * i + (uint32_t)__builtin_ctzll(bits);

			if (calls_put(c, s, &(struct frame){.depth = depth, .begun = true}))
				return -1;
		}
	return 0;
}
