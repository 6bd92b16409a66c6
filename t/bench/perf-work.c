/*
 * perf-work.c - a program with many call chains, for perf record -g: perf-work SECONDS
 *
 * Two threads call 32 functions, up to 24 deep, on 2000 paths.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { DEEPEST = 24, PATHS = 2000 };

static time_t end;

static uint32_t call(uint32_t random, int depth);

#define STEP(n)                                                                                    \
	static __attribute__((noipa)) uint32_t step_##n(uint32_t random, int depth)                \
	{                                                                                          \
		for (int i = 0; i < 200 + (n); i++)                                                \
			random = random * 1664525 + 1013904223 + (n);                              \
		return call(random, depth) + (n);                                                  \
	}
#define STEPS(S)                                                                                   \
	S(0)                                                                                       \
	S(1)                                                                                       \
	S(2)                                                                                       \
	S(3)                                                                                       \
	S(4)                                                                                       \
	S(5)                                                                                       \
	S(6)                                                                                       \
	S(7)                                                                                       \
	S(8)                                                                                       \
	S(9)                                                                                       \
	S(10)                                                                                      \
	S(11)                                                                                      \
	S(12)                                                                                      \
	S(13)                                                                                      \
	S(14)                                                                                      \
	S(15)                                                                                      \
	S(16)                                                                                      \
	S(17) S(18) S(19) S(20) S(21) S(22) S(23) S(24) S(25) S(26) S(27) S(28) S(29) S(30) S(31)
STEPS(STEP)
#define NAME(n) step_##n,
static uint32_t (*const steps[])(uint32_t, int) = {STEPS(NAME)};

static __attribute__((noipa)) uint32_t call(uint32_t random, int depth)
{
	if (depth == DEEPEST || random >> 28 == 0)
		return random;
	return steps[random >> 8 & 31](random, depth + 1);
}

static void *work(void *arg)
{
	uint32_t random = (uint32_t)(uintptr_t)arg;

	while (time(NULL) < end)
		for (int i = 0; i < 1000; i++) {
			random = random * 1664525 + 1013904223;
			call((random >> 8) % PATHS * 2654435761u, 0);
		}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	if (pthread_create(&thread, NULL, work, (void *)1))
		return 1;
	work((void *)2);
	return pthread_join(thread, NULL);
}
