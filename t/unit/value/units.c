/* Times and sizes with units, as options take them, and the steps of axes. */
#include "t/unit/tap.h"

#include "common/value/units.h"

static void time_is(const char *text, int64_t want)
{
	int64_t ns = -77;

	ok(!parse_time(text, &ns) && ns == want, text);
}

/* clock: of ticks, or of ns; want "": the time is one of that clock */
static void clock_says(const char *text, bool ticks, const char *want)
{
	struct error e = {.what = ""};

	time_check_clock("f", "--x", text, ticks, &e);
	is_str(e.what, want, text);
}

static void no_time(const char *text)
{
	int64_t ns;

	ok(parse_time(text, &ns) == -1, text);
}

static void whole_is(const char *text, int64_t want)
{
	int64_t ns = -77;

	parse_time_whole(text, &ns);
	ok(ns == want, text);
}

static void size_is(const char *text, uint64_t want)
{
	uint64_t bytes = 77;

	ok(!parse_size(text, &bytes), text);
	is_u64(bytes, want, text);
}

static void no_size(const char *text)
{
	uint64_t bytes;

	ok(parse_size(text, &bytes) == -1, text);
}

static void steps_of_axes(void)
{
	const uint64_t last = 10000000000000000000u;
	uint64_t power = 1;
	bool good = true;

	ok(round_step(0) == 1, "no step is 0");
	for (int n = 0; power < last; power *= 10, n++) {
		good &= round_step(power) == power && round_step(power + 1) <= 2 * power;
		good &= round_step(2 * power) == 2 * power &&
			round_step(2 * power + 1) == 5 * power;
		good &= round_step(5 * power) == 5 * power &&
			round_step(5 * power + 1) == 10 * power;
	}
	ok(good, "steps are 1, 2 or 5 times a power of ten");
	ok(round_step(last) == last && round_step(last + 1) == UINT64_MAX,
	   "the last step is 10^19");
}

int main(void)
{
	whole_is("1.5ns", -77);
	whole_is("1.5us", 1500);
	whole_is("1.0ns", 1);
	whole_is("1.0005us", -77);
	whole_is("0.0000000000000000000001s", -77);
	whole_is("1x", -77);
	clock_says("7", false, "--x: a time needs a unit: 7ns or 7s?");
	clock_says("-70", false, "--x: a time needs a unit: -70ns or -70s?");
	clock_says("0", false, "");
	clock_says("+00", false, "");
	clock_says("7.0", false, "");
	clock_says("7ns", false, "");
	clock_says("7", true, "");
	clock_says("7.0", true,
		   "the clock counts ticks: --x takes a number without a unit, not '7.0'");
	clock_says("-7s", true,
		   "the clock counts ticks: --x takes a number without a unit, not '-7s'");
	time_is("0", 0);
	time_is("7", 7);
	time_is("7ns", 7);
	time_is("3us", 3000);
	time_is("1.5s", 1500000000);
	time_is("-20ms", -20000000);
	time_is("1.5", 1500000000);
	time_is("-0.000001", -1000);
	time_is("998.", 998000000000);
	time_is("+2m", 120000000000);
	time_is("2min", 120000000000);
	time_is("1h", 3600000000000);
	time_is(".5us", 500);
	time_is("5.us", 5000);
	time_is("0.0000000019s", 1);
	time_is("0.9999999999999999999999999999s", 999999999);
	time_is("9223372036854775807", INT64_MAX);
	time_is("-9223372036854775807", -INT64_MAX);
	no_time("");
	no_time("-");
	no_time("s");
	no_time(".s");
	no_time("1.2.3s");
	no_time("1 s");
	no_time("1parsec");
	no_time("--1s");
	no_time("9223372036854775808");
	no_time("2562048h");
	no_time("99999999999999999999999999999999999999999");

	size_is("0", 0);
	size_is("4096", 4096);
	size_is("64K", 65536);
	size_is("64KiB", 65536);
	size_is("64kB", 64000);
	size_is("1.5M", 1572864);
	size_is("2G", 2147483648);
	size_is("1TB", 1000000000000);
	size_is("16777215T", 16777215ull << 40);
	no_size("16777216T");
	no_size("");
	no_size("K");
	no_size("-1");
	no_size("1Q");
	no_size("0x10");
	steps_of_axes();
	return done();
}
