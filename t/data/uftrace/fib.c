/* The program of t/data/uftrace/fib: gcc -O1 -g -pg -fno-inline -o fib fib.c -lpthread */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void fill(int *v, int n)
{
	for (int i = 0; i < n; i++)
		v[i] = (i * 7919) % 1009;
}

static long sum(const int *v, int n)
{
	long s = 0;

	for (int i = 0; i < n; i++)
		s += v[i];
	return s;
}

static void pause_a_while(void)
{
	usleep(2000);
}

static void *worker(void *arg)
{
	int *v = malloc(100 * sizeof(*v));

	fill(v, 100);
	qsort(v, 100, sizeof(*v), compare);
	pause_a_while();
	*(long *)arg = sum(v, 100) + fib(8);
	free(v);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	long r[2];
	char line[64];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, &r[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	snprintf(line, sizeof(line), "%ld %ld %ld", r[0], r[1], fib(12));
	puts(line);
	return 0;
}
