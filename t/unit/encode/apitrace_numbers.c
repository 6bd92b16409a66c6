/* links: cmd/trencode */
/* Floats and doubles as printf has them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/text/apitrace.h"
#include "t/unit/tap.h"

static unsigned long wrong;

static void check_float(float f)
{
	char want[64], got[64];

	snprintf(want, sizeof want, "%.7g", (double)f);
	got[apitrace_float(got, f)] = '\0';
	if (strcmp(want, got) != 0 && wrong++ < 5)
		printf("# %s is %s\n", want, got);
}

static void check_double(double d)
{
	char want[64], got[64];

	snprintf(want, sizeof want, "%.16g", d);
	got[apitrace_double(got, d)] = '\0';
	if (strcmp(want, got) != 0 && wrong++ < 5)
		printf("# %s is %s\n", want, got);
}

int main(void)
{
	static const double some[] = {0,	 -0.0,		 1,	   0.5,	      -1.5, 0.1,
				      1e-4,	 9.9999995e-5,	 999999.5, 9999999,   1e15, 1e16,
				      123456.75, 65504,		 INFINITY, -INFINITY, NAN,  1e-300,
				      1e300,	 0.0001220703125};
	uint32_t seed = 1, bits;
	float f;

	for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
		check_float((float)some[i]);
		check_double(some[i]);
	}
	is_u64(wrong, 0, "special ones");
	for (int i = 0; i < 300000; i++) {
		seed = seed * 1664525 + 1013904223;
		bits = seed;
		memcpy(&f, &bits, 4);
		check_float(f);
		/* those of pictures: between -1000 and 1000 */
		check_float((float)((int32_t)seed) / 2147483.648f);
		check_float((float)(seed >> 8) / 16777216.0f);
		check_float((float)(seed % 20000) / 1000.0f);
		check_double((double)(int32_t)seed / 1024);
	}
	is_u64(wrong, 0, "random ones");
	return done();
}
