/* links: cmd/trdecode */
/* lttng.h: stacks of calls, threads on their CPUs, and time without division. */
#include "cmd/trdecode/lttng.h"

#include <stdlib.h>

#include "t/unit/tap.h"

enum { OUTER = 1, INNER, IRQ };

static struct lttng l;
static struct lttng_cpu cpus[2];
static uint8_t fixed[32];
static uint32_t location, depth;

static struct lttng_marker marker(enum type_kind kind, uint32_t pair)
{
	return (struct lttng_marker){.kind = kind,
				     .pair = pair,
				     .location = 10 * pair,
				     .per_cpu = pair == IRQ,
				     .keep = UINT32_MAX,
				     .names = NAMES_NONE};
}

static bool feed(int cpu, enum type_kind kind, uint32_t pair)
{
	struct lttng_marker m = marker(kind, pair);

	m.locations = &m.location;
	m.nlocations = 1;
	return lttng_state_call(&l, &cpus[cpu], &m, fixed, &location, &depth);
}

static bool enters(int cpu, uint32_t pair, uint32_t at)
{
	return feed(cpu, KIND_ENTER, pair) && location == 10 * pair && depth == at;
}

static bool leaves(int cpu, uint32_t pair, uint32_t at)
{
	return feed(cpu, KIND_LEAVE, pair) && location == 10 * pair && depth == at;
}

static void run_thread(int cpu, int32_t tid)
{
	struct lttng_thread *t = lttng_state_thread(&l, &cpus[cpu], tid);

	if (!t)
		exit(1);
	lttng_cpu_run(&cpus[cpu], t);
}

static void test_calls(void)
{
	run_thread(0, 7);
	ok(enters(0, OUTER, 0) && enters(0, INNER, 1), "calls within each other");
	ok(leaves(0, INNER, 1) && leaves(0, OUTER, 0), "and back");
	ok(!feed(0, KIND_LEAVE, OUTER), "a leave whose enter is not there");
	ok(enters(0, OUTER, 0) && enters(0, INNER, 1) && leaves(0, OUTER, 0),
	   "a leave ends what is open above its call");
	ok(enters(0, OUTER, 0) && feed(0, KIND_LEAVE, INNER) && depth == 1,
	   "an unknown leave within a call ends nothing");
	ok(leaves(0, OUTER, 0), "as that shows");
	for (int i = 0; i < 3 * LTTNG_FRAMES; i++)
		enters(0, INNER, 0);
	ok(depth == LTTNG_FRAMES - 1, "no stack is deeper than it may be");
	for (int i = 0; i < LTTNG_FRAMES; i++)
		leaves(0, INNER, 0);
	ok(depth == 0 && !feed(0, KIND_LEAVE, INNER), "and it comes down");
}

static void test_threads(void)
{
	run_thread(0, 7);
	run_thread(1, 8);
	ok(enters(0, OUTER, 0), "a thread in a call");
	ok(enters(1, INNER, 0), "another one on another CPU");
	ok(enters(0, IRQ, 0) && leaves(0, IRQ, 0), "an interrupt is a stack of the CPU");
	run_thread(0, 8);
	run_thread(1, 7);
	ok(leaves(1, OUTER, 0), "the first goes on where it is");
	ok(leaves(0, INNER, 0), "the other one too");
	run_thread(0, 0);
	ok(cpus[0].thread == &cpus[0].idle, "tid 0 is the CPU's own");
	run_thread(0, -1);
	ok(cpus[0].thread == &cpus[0].unknown, "and a value that is no tid is the unknown thread");
	run_thread(0, 1 << 20);
	run_thread(1, 7);
	ok(cpus[0].thread->tid == 1 << 20 && cpus[1].thread->tid == 7,
	   "a thread whose number is far from those of the others");
}

static void test_locations(void)
{
	uint32_t locations[4] = {0, 71, 72, 73};
	struct lttng_marker m = marker(KIND_ENTER, OUTER);

	m.locations = locations;
	m.nlocations = 4;
	m.id_field = 8;
	m.id_mask = 0xffff;
	fixed[8] = 2;
	fixed[10] = 1;
	run_thread(0, 9);
	lttng_state_call(&l, &cpus[0], &m, fixed, &location, &depth);
	is_u64(location, 72, "the location of an id");
	fixed[9] = 1;
	lttng_state_call(&l, &cpus[0], &m, fixed, &location, &depth);
	is_u64(location, 10 * OUTER, "an id beyond all locations");
	fixed[9] = 0;
	m.keep = 0;
	lttng_state_call(&l, &cpus[0], &m, fixed, &location, &depth);
	is_u64(depth, 0, "a system call begins its stack");
}

/* All times asked for in order, as a decoder does, against division. */
static bool clock_is_exact(uint64_t frequency, uint64_t scale, uint64_t zero, uint64_t step)
{
	struct lttng_header h = {
		.major = 2, .minor = 6, .frequency = frequency, .scale = scale, .start_tsc = zero};
	struct lttng_clock c;
	uint64_t tsc = zero, r = 1;

	if (lttng_clock_init(&c, &h, zero, 5))
		return false;
	for (int i = 0; i < 20000; i++) {
		unsigned __int128 ns = (unsigned __int128)(tsc - zero) * 1000000000 * scale;

		if (lttng_clock_ns(&c, tsc) != (int64_t)(ns / frequency) + 5)
			return false;
		r = r * 6364136223846793005u + 1442695040888963407u;
		tsc += r >> 33 & (step - 1);
	}
	return true;
}

/* Steps of all sizes: times are exact up to the limit, and never beyond. */
static bool clock_is_limited(uint64_t frequency, int64_t base)
{
	struct lttng_header h = {.major = 2, .minor = 6, .frequency = frequency, .scale = 1};
	const __int128 most = (int64_t)TIME_LIMIT - 1;
	struct lttng_clock c;

	for (unsigned bits = 0; bits < 64; bits++) {
		if (lttng_clock_init(&c, &h, 0, base))
			return false;
		for (uint64_t i = 0, tsc = 0, step = (uint64_t)1 << bits; i < 400;
		     i++, tsc += step) {
			__int128 ns = (__int128)tsc * 1000000000 / frequency + base;

			if (lttng_clock_ns(&c, tsc) != (int64_t)(ns < most ? ns : most))
				return false;
			step -= i % 3 ? 0 : step / 5;
		}
	}
	return true;
}

static void test_clock(void)
{
	ok(clock_is_exact(2000000000, 1, 0x5ffff0000, 1 << 16), "2 GHz");
	ok(clock_is_exact(1998765431, 1, 12345, 1 << 20), "an odd rate");
	ok(clock_is_exact(1, 1, 0, 4), "a tick a second");
	ok(clock_is_exact(1000000000, 1, 0, 1 << 30), "a tick a nanosecond");
	ok(clock_is_exact(3000000007, 3, 1, 1 << 24), "a divisor");
	ok(clock_is_exact(UINT64_MAX, 1000, 0, 1 << 30), "a rate that no machine has");
	for (unsigned i = 0; i < 5; i++)
		ok(clock_is_limited((uint64_t)1 << 15 * i, (int64_t)1 << 60),
		   "times of any TSC are within the limit");
	ok(clock_is_limited(3, (int64_t)TIME_LIMIT - 3), "a clock that begins at the limit");
}

int main(void)
{
	for (int i = 0; i < 2; i++) {
		cpus[i].cpu = i;
		cpus[i].idle = (struct lttng_thread){.tid = 0, .pid = 0, .ppid = -1};
		cpus[i].unknown = (struct lttng_thread){.tid = -1, .pid = -1, .ppid = -1};
		cpus[i].stacks[1] = &cpus[i].frames;
		lttng_cpu_run(&cpus[i], &cpus[i].unknown);
	}
	test_calls();
	test_threads();
	test_locations();
	test_clock();
	lttng_state_free(&l);
	return done();
}
