/* Decimal text of numbers of 128 bits, with and without sign. */
#include "t/unit/tap.h"

#include "common/util/u128.h"

static void decimal(uint128 v, const char *want)
{
	char got[U128_SIZE];

	ok(u128_decimal(got, v) == strlen(want), "length");
	is_str(got, want, want);
}

static void signed_decimal(int128 v, const char *want)
{
	char got[I128_SIZE];

	ok(i128_decimal(got, v) == strlen(want), "length");
	is_str(got, want, want);
}

int main(void)
{
	uint128 ten19 = 10000000000000000000u;

	decimal(0, "0");
	decimal(UINT64_MAX, "18446744073709551615");
	decimal((uint128)UINT64_MAX + 1, "18446744073709551616");
	decimal(ten19, "10000000000000000000");
	decimal(ten19 * 10, "100000000000000000000");
	decimal(ten19 * ten19, "100000000000000000000000000000000000000");
	decimal(ten19 * ten19 + 7, "100000000000000000000000000000000000007");
	decimal(UINT128_MAX, "340282366920938463463374607431768211455");
	signed_decimal(-1, "-1");
	signed_decimal(INT128_MAX, "170141183460469231731687303715884105727");
	signed_decimal(INT128_MIN, "-170141183460469231731687303715884105728");
	return done();
}
