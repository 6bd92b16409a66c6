/* Times of trace.dat as the stream has them, by formulas in Python with integers of any size. */
/* links: cmd/trdecode */
#include "t/unit/tap.h"

#include "cmd/trdecode/tracecmd.h"

enum { NO_SAMPLES, ONE, TWO, BETWEEN };

static const uint64_t most = UINT64_MAX, half = 1ull << 63;

static uint64_t time_with(uint64_t time, int64_t shift, unsigned samples, int64_t first,
			  int64_t second)
{
	struct tracecmd_sync sample[] = {{0, 3, 1, first}, {2000, 3, 1, second}};
	struct tracecmd t = {.shift = shift, .sync = samples != NO_SAMPLES};
	__typeof__(*t.h.link.sync) cpu = {sample, samples == ONE ? 1 : 2};

	t.h.link.sync = &cpu;
	t.h.link.nsync = 1;
	t.h.link.interpolate = samples == BETWEEN;
	return tracecmd_time(&t, 0, time);
}

static uint64_t time_scaled(uint64_t time, uint32_t mult, uint32_t shift, int64_t add)
{
	struct tracecmd t = {.shift = add, .tsc = true};

	t.h.times.tsc_mult = mult;
	t.h.times.tsc_shift = shift;
	return tracecmd_time(&t, 0, time);
}

int main(void)
{
	is_u64(time_with(10, -11, NO_SAMPLES, 0, 0), 0, "no time is below 0");
	is_u64(time_with(10, -9, NO_SAMPLES, 0, 0), 1, "the first one");
	is_u64(time_with(most - 3, 9, NO_SAMPLES, 0, 0), most - 1, "nor beyond the last one");
	is_u64(time_scaled(1ull << 40, 0x55555555, 32, 0), 366503875840, "a third of the ticks");
	is_u64(time_scaled(half, 4, 1, 0), most - 1, "a product of 65 bits");
	is_u64(time_scaled(half + 5, 2, 0, 0), most - 1, "which does not wrap to 10");
	is_u64(time_scaled(most, UINT32_MAX, 31, -5), most - 1, "the largest product");
	is_u64(time_with(100, 150, ONE, -200, 0), 50, "sums may be below 0 on the way");
	is_u64(time_with(most, 0, ONE, 7, 0), most - 1, "not beyond the last one");
	is_u64(time_with(1000, 0, BETWEEN, -500, 1500), 2000, "between two samples");
	is_u64(time_with(half, 0, TWO, 5, 5), 3ull << 62 | 5, "by the first of two");
	is_u64(time_with(most, 0, TWO, 5, 5), most - 1, "a product beyond 64 bits");
	is_u64(time_with(most - 1, 1, TWO, INT64_MIN, 0), half, "and back");
	return done();
}
