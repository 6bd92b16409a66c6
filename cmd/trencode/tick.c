#include "tick.h"

void tick_lanes(struct dictionary *d, const struct block *b, uint64_t tick)
{
	for (uint32_t i = 0; i < b->nlanes; i++) {
		const struct clock *known = b->lanes[i]->clock;
		struct clock *clock;

		if (!known || !(known->flags & CLOCK_TICKS))
			continue;
		clock = pool_at(&d->clocks, known->number);
		clock->flags &= ~(uint32_t)CLOCK_TICKS;
		clock->tick = tick;
	}
}
