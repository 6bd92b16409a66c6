/*
 * clocks.c - converts times of all clocks to that of the stream, by the ClockSnapshots of the trace
 *
 * A ClockSnapshot has the times of several clocks at one moment. The stream's clock is that which
 * the first ClockSnapshot names, else BOOTTIME. A time of another clock is converted by the last
 * one before that time, else by the first one. Clocks 64 to 127 belong to a sequence; their times
 * may be differences to the previous time.
 */
#include <stdlib.h>

#include "cmd/trdecode/perfetto/perfetto.h"
#include "common/util/bisect.h"
#include "common/util/u128.h"

enum { CLOCKS_MOST = 64 }; /* of a ClockSnapshot */

/* A time of a clock, and that of the stream's clock at the same moment. */
struct clock_point {
	uint64_t own, trace;
};

enum { RUNS_MOST = 64 };

/* A clock other than the stream's. Its points are runs in ascending order, each at least twice as
 * long as the next one: a ClockSnapshot in order extends the last run, any other begins one. So n
 * of these in any order cost n log n, and are one run if they are in order. */
struct perfetto_clock {
	struct clock_point *points;
	size_t count, capacity;
	size_t runs[RUNS_MOST]; /* where each begins */
	unsigned nruns;
};

static bool of_sequence(uint32_t id)
{
	return id >= CLOCK_OF_SEQUENCE_FIRST && id <= CLOCK_OF_SEQUENCE_LAST;
}

const char *perfetto_clock_name(const struct perfetto *p)
{
	switch (p->clocks.trace) {
	case CLOCK_REALTIME_ID: return "realtime";
	case CLOCK_MONOTONIC_ID: return "mono";
	case CLOCK_MONOTONIC_COARSE_ID: return "mono_coarse";
	case CLOCK_MONOTONIC_RAW_ID: return "mono_raw";
	case 0:
	case CLOCK_BOOTTIME_ID: return "boot";
	}
	return "trace";
}

/* Find a clock; NULL: no ClockSnapshot has it. */
static struct perfetto_clock *find_clock(struct perfetto *p, uint32_t sequence, uint32_t id)
{
	uint32_t key[2] = {of_sequence(id) ? sequence : 0, id};
	struct perfetto_clocks *c = &p->clocks;
	uint32_t at = c->count ? intern_find(&c->numbers.keys, key, sizeof key) : INTERN_NONE;

	return at == INTERN_NONE ? NULL : &c->clock[c->numbers.numbers[at] - 1];
}

/* Find a clock or add it. NULL: out of memory. */
static struct perfetto_clock *new_clock(struct perfetto *p, uint32_t sequence, uint32_t id)
{
	uint32_t key[2] = {of_sequence(id) ? sequence : 0, id};
	struct perfetto_clocks *c = &p->clocks;
	uint32_t *number = id_cache_number(&c->numbers, key, sizeof key);
	struct perfetto_clock *clock;

	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(c->clock, c->capacity, c->count))
			return NULL;
		clock = c->clock;
		clock[c->count++] = (struct perfetto_clock){0};
		*number = (uint32_t)c->count;
	}
	return &c->clock[*number - 1];
}

/* Merge the last two runs. Of equal times the later one is after the earlier one. */
static int merge_runs(struct perfetto_clock *c)
{
	size_t first = c->runs[c->nruns - 2], i = c->runs[c->nruns - 1], to = c->count;
	size_t n = c->count - i;
	struct clock_point *last = malloc(n * sizeof *last), *points = c->points;

	if (!last)
		return -1;
	memcpy(last, points + i, n * sizeof *last);
	while (n)
		points[--to] =
			i > first && points[i - 1].own > last[n - 1].own ? points[--i] : last[--n];
	free(last);
	c->nruns--;
	return 0;
}

static int add_point(struct perfetto_clock *c, struct clock_point point)
{
	if (ARRAY_GROW(c->points, c->capacity, c->count))
		return -1;
	if (!c->count || c->points[c->count - 1].own > point.own)
		c->runs[c->nruns++] = c->count;
	c->points[c->count++] = point;
	while (c->nruns > 1 && c->runs[c->nruns - 1] - c->runs[c->nruns - 2] <
				       2 * (c->count - c->runs[c->nruns - 1]))
		if (merge_runs(c))
			return -1;
	return 0;
}

/* Find the last point at or before a time, else the first one. */
static const struct clock_point *point_of(const struct perfetto_clock *c, uint64_t own)
{
	const struct clock_point *found = NULL, *first = c->points;

	for (unsigned run = 0; run < c->nruns; run++) {
		const struct clock_point *p = c->points + c->runs[run];
		size_t n = (run + 1 < c->nruns ? c->runs[run + 1] : c->count) - c->runs[run];
		size_t upto = p[n - 1].own <= own ? n : BISECT(n, i, p[i].own <= own);

		if (upto && (!found || p[upto - 1].own >= found->own))
			found = &p[upto - 1];
		if (p->own < first->own)
			first = p;
	}
	return found ? found : first;
}

/* Convert a time; UINT64_MAX is no time. */
static uint64_t convert(const struct perfetto_clock *c, uint64_t own)
{
	const struct clock_point *point = point_of(c, own);
	int128 time = (int128)own - point->own + point->trace;

	return own == UINT64_MAX || time < 0 ? UINT64_MAX : saturated_u64(time);
}

int perfetto_clock_relate(struct perfetto *p, uint32_t clock, uint64_t own, uint64_t trace)
{
	struct perfetto_clock *c;

	if (clock == perfetto_trace_clock(p))
		return 0;
	c = new_clock(p, 0, clock);
	return c ? add_point(c, (struct clock_point){own, trace}) : -1;
}

/* Take a time of an own clock of the sequence, or a difference to the last one. Returns its ns;
 * UINT64_MAX: they are beyond all times, and a next difference is to the time before. */
static uint64_t own_time(const struct perfetto_sequence *s, uint32_t id, uint64_t time)
{
	struct perfetto_own_clock *c;
	uint64_t unit;
	int128 sum;

	if (!s->clocks || !of_sequence(id))
		return time;
	c = &s->clocks[id - CLOCK_OF_SEQUENCE_FIRST];
	unit = c->unit ? c->unit : 1;
	if (!c->incremental)
		return multiply_saturated(time, unit);
	sum = (int128)(int64_t)time * unit + c->last;
	if (sum < 0 || sum >= UINT64_MAX)
		return UINT64_MAX;
	return c->last = (uint64_t)sum;
}

/* Test for a clock whose times mean nothing without a ClockSnapshot. The kernel's clocks differ
 * little; those of a program have any origin. */
static bool of_program(uint32_t clock)
{
	return clock > CLOCK_BUILTIN_LAST;
}

bool perfetto_clock_usable(struct perfetto *p, const struct perfetto_sequence *s, uint32_t clock)
{
	return !of_program(clock) || clock == perfetto_trace_clock(p) ||
	       find_clock(p, s->number, clock);
}

bool perfetto_convert_time(struct perfetto *p, struct perfetto_sequence *s, uint32_t clock,
			   uint64_t *time)
{
	const struct perfetto_clock *c;

	if (clock != perfetto_trace_clock(p)) {
		c = find_clock(p, s->number, clock);
		*time = own_time(s, clock, *time);
		if (c) {
			*time = convert(c, *time);
		} else if (of_program(clock)) {
			p->counts.unplaced++;
			return false;
		} else {
			p->counts.unsynchronised++;
		}
	}
	if (*time < TIME_LIMIT)
		return true;
	p->counts.wrong_times++;
	return false;
}

/* --- ClockSnapshots --- */

struct clock_time {
	uint32_t id;
	bool incremental;
	uint64_t time, unit;
};

/* Read the clocks of a ClockSnapshot. Returns their number. */
static unsigned read_clocks(struct perfetto *p, const struct perfetto_packet *packet,
			    struct clock_time *clocks, uint32_t *primary)
{
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f, of;
	unsigned n = 0;

	while (protobuf_next(&rest, &f) > 0) {
		if (f.number == SNAPSHOT_PRIMARY)
			*primary = (uint32_t)f.value;
		if (f.number != SNAPSHOT_CLOCK)
			continue;
		if (n == CLOCKS_MOST) {
			perfetto_damage(p, packet, "a snapshot of more than 64 clocks");
			break;
		}
		clocks[n] = (struct clock_time){0};
		while (protobuf_next(&f.bytes, &of) > 0)
			switch (of.number) {
			case CLOCK_ID: clocks[n].id = (uint32_t)of.value; break;
			case CLOCK_TIMESTAMP: clocks[n].time = of.value; break;
			case CLOCK_INCREMENTAL: clocks[n].incremental = of.value; break;
			case CLOCK_UNIT: clocks[n].unit = of.value; break;
			}
		if (clocks[n].unit)
			clocks[n].time = multiply_saturated(clocks[n].time, clocks[n].unit);
		n++;
	}
	return n;
}

/* Find the time of the stream's clock in a ClockSnapshot. */
static bool find_trace_time(struct perfetto *p, const struct clock_time *clocks, unsigned n,
			    uint64_t *trace)
{
	for (unsigned i = 0; i < n; i++)
		if (clocks[i].id == perfetto_trace_clock(p)) {
			*trace = clocks[i].time;
			return true;
		}
	for (unsigned i = 0; i < n; i++) {
		const struct perfetto_clock *c =
			of_sequence(clocks[i].id) ? NULL : find_clock(p, 0, clocks[i].id);

		if (c) {
			*trace = convert(c, clocks[i].time);
			return true;
		}
	}
	return false;
}

static int set_own_clock(struct perfetto_sequence *s, const struct clock_time *t)
{
	enum { OWN = CLOCK_OF_SEQUENCE_LAST - CLOCK_OF_SEQUENCE_FIRST + 1 };

	if (!s->clocks)
		s->clocks = calloc(OWN, sizeof *s->clocks);
	if (!s->clocks)
		return -1;
	s->clocks[t->id - CLOCK_OF_SEQUENCE_FIRST] =
		(struct perfetto_own_clock){t->time, t->unit, t->incremental};
	return 0;
}

int perfetto_take_clocks(struct perfetto *p, struct perfetto_sequence *s,
			 const struct perfetto_packet *packet)
{
	struct clock_time clocks[CLOCKS_MOST];
	uint32_t primary = 0;
	uint64_t trace = 0;
	unsigned n = read_clocks(p, packet, clocks, &primary);
	bool found;

	if (!p->clocks.trace)
		p->clocks.trace = primary ? primary : CLOCK_BOOTTIME_ID;
	found = find_trace_time(p, clocks, n, &trace);
	for (unsigned i = 0; i < n; i++) {
		const struct clock_time *t = &clocks[i];
		struct perfetto_clock *c;

		if (of_sequence(t->id) && set_own_clock(s, t))
			return -1;
		if (!found || t->id == perfetto_trace_clock(p))
			continue;
		c = new_clock(p, s->number, t->id);
		if (!c || add_point(c, (struct clock_point){t->time, trace}))
			return -1;
	}
	for (unsigned i = 0; i < n && found && !p->clocks.has_wall; i++)
		if (clocks[i].id == CLOCK_REALTIME_ID) {
			p->clocks.has_wall = true;
			p->clocks.wall = saturated_i64((int128)clocks[i].time - trace);
		}
	return 0;
}

void perfetto_clocks_free(struct perfetto *p)
{
	for (size_t i = 0; i < p->clocks.count; i++)
		free(p->clocks.clock[i].points);
	free(p->clocks.clock);
	id_cache_free(&p->clocks.numbers);
}
