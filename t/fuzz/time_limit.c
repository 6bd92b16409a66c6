/*
 * time_limit.c - a limit on the processor time of each input of each fuzz target, by its size
 *
 * ld --wrap puts it in front of the target. The limit is far above what sanitizers cost and far
 * below what a loop over a square of the input takes. Inputs that unpack to much more than their
 * size are within TIME_LEAST.
 */
#include <time.h>

#include "t/fuzz/fuzz.h"

enum { TIME_LEAST = 5000, TIME_BYTES = 8 }; /* ms; bytes for which a ms more is allowed */

int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t milliseconds(void)
{
	struct timespec t;

	need(!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), "no clock");
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t began = milliseconds();
	int result = __real_LLVMFuzzerTestOneInput(data, size);

	need(milliseconds() - began <= TIME_LEAST + size / TIME_BYTES,
	     "the time is out of proportion to the input");
	return result;
}
