#include "cmd/trencode/tick_scale.h"

#include <inttypes.h>

int tick_overflow(const struct lane *lane, uint64_t time, uint64_t tick, struct error *e)
{
	return error_set(e, lane->source ? lane->source->name.text : NULL, NO_OFFSET,
			 "tick %" PRIu64 ", of %" PRIu64 " ns each, is beyond 2^64 ns: --tick is "
			 "too long for this trace",
			 time, tick);
}

static int find_overflow(const struct block *b, struct error *e)
{
	struct events it;
	struct event ev;
	uint64_t time;

	events_begin(&it, b);
	while (event_next(&it, &ev)) {
		uint64_t tick = ev.lane->clock ? ev.lane->clock->tick : 0;

		if (tick && __builtin_mul_overflow(ev.time, tick, &time))
			return tick_overflow(ev.lane, ev.time, tick, e);
	}
	return 0;
}

int tick_lanes(struct dictionary *d, const struct block *b, uint64_t tick, struct error *e)
{
	bool counts = false;
	uint64_t last;

	for (uint32_t i = 0; i < b->nlanes; i++) {
		const struct clock *known = b->lanes[i]->clock;
		struct clock *clock;

		counts |= known && (known->tick || known->flags & CLOCK_TICKS);
		if (!known || !(known->flags & CLOCK_TICKS))
			continue;
		clock = pool_at(&d->clocks, known->number);
		clock->flags &= ~(uint32_t)CLOCK_TICKS;
		clock->tick = tick;
	}
	return counts && __builtin_mul_overflow(b->last, tick, &last) ? find_overflow(b, e) : 0;
}
