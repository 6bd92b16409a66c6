/* waits.c - a program whose threads wait for each other in known ways; see waits.md
 *
 *     gcc -O1 -pg waits.c -o waits -lpthread
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((no_instrument_function)) static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* Use the CPU for so many ms of the thread's own time. */
__attribute__((noinline)) void compute(double ms)
{
	double end = now(CLOCK_THREAD_CPUTIME_ID) + ms;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 10000; i++)
			sink += i;
}

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

/* --- a chain of four threads: main waits for a, which waits for b, which waits for c --- */

struct link {
	const char *name;
	int ask[2], answer[2]; /* pipes */
	struct link *next;
	double ms;
};

static void *serve(void *arg)
{
	struct link *l = arg;
	char byte;

	prctl(PR_SET_NAME, l->name);
	while (read(l->ask[0], &byte, 1) == 1) {
		compute(l->ms);
		if (l->next && (write(l->next->ask[1], "x", 1) != 1 ||
				read(l->next->answer[0], &byte, 1) != 1))
			break;
		if (write(l->answer[1], "x", 1) != 1)
			break;
	}
	return NULL;
}

__attribute__((noinline)) void chain(struct link *l)
{
	char byte;

	compute(1);
	if (write(l->ask[1], "x", 1) != 1 || read(l->answer[0], &byte, 1) != 1)
		abort();
}

/* --- a mutex whose holder is pre-empted --- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int held, done;

static void *holder(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "holder");
	on_cpu(1);
	pthread_mutex_lock(&mutex);
	held = 1;
	compute(6);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *hog(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "hog");
	on_cpu(1);
	while (!done)
		compute(1);
	return NULL;
}

__attribute__((noinline)) void lock(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

/* --- a condition variable --- */

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready;

static void *producer(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "producer");
	compute(3);
	pthread_mutex_lock(&guard);
	ready = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&guard);
	return NULL;
}

__attribute__((noinline)) void consume(void)
{
	pthread_mutex_lock(&guard);
	while (!ready)
		pthread_cond_wait(&cond, &guard);
	pthread_mutex_unlock(&guard);
}

/* --- a mutex whose holder has a low priority, behind a thread of a middle one --- */

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static volatile int shared_held, middle_may;

static void priority(int fifo)
{
	struct sched_param p = {.sched_priority = fifo};

	if (pthread_setschedparam(pthread_self(), fifo ? SCHED_FIFO : SCHED_OTHER, &p))
		abort();
}

static void *low(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "low");
	on_cpu(1);
	priority(10);
	pthread_mutex_lock(&shared);
	shared_held = 1;
	compute(2);
	pthread_mutex_unlock(&shared);
	return NULL;
}

static void *middle(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "middle");
	on_cpu(1);
	priority(20);
	while (!shared_held)
		usleep(500);
	usleep(1000);
	compute(4);
	return NULL;
}

__attribute__((noinline)) void urgent(void)
{
	pthread_mutex_lock(&shared);
	pthread_mutex_unlock(&shared);
}

/* --- a thread whose cgroup has used its quota --- */

static void *limited(void *arg)
{
	int fd = arg ? open(arg, O_WRONLY) : -1;

	prctl(PR_SET_NAME, "limited");
	if (fd >= 0 && write(fd, "0", 1) != 1)
		abort();
	on_cpu(1);
	compute(6);
	return NULL;
}

__attribute__((noinline)) void join(pthread_t thread)
{
	pthread_join(thread, NULL);
}

/* --- a timer, and a device --- */

__attribute__((noinline)) void pause_5ms(void)
{
	usleep(5000);
}

__attribute__((noinline)) void save(const char *file)
{
	char block[65536] = {1};
	int fd = open(file, O_CREAT | O_TRUNC | O_WRONLY, 0644);

	for (int i = 0; i < 4; i++)
		if (write(fd, block, sizeof block) < 0)
			abort();
	fsync(fd);
	close(fd);
	unlink(file);
}

int main(int argc, char **argv)
{
	struct link c = {"c", {0}, {0}, NULL, 3}, b = {"b", {0}, {0}, &c, 2},
		    a = {"a", {0}, {0}, &b, 1};
	struct link *links[] = {&a, &b, &c};
	pthread_t t[3], u, v;

	prctl(PR_SET_NAME, "main");
	usleep(2000);
	for (int i = 0; i < 3; i++)
		if (pipe(links[i]->ask) || pipe(links[i]->answer))
			abort();
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, serve, links[i]);
	usleep(2000);
	for (int i = 0; i < 2; i++)
		chain(&a);
	on_cpu(0);
	pthread_create(&v, NULL, hog, NULL);
	pthread_create(&u, NULL, holder, NULL);
	while (!held)
		usleep(100);
	lock();
	done = 1;
	pthread_join(u, NULL);
	pthread_join(v, NULL);
	pthread_create(&u, NULL, producer, NULL);
	consume();
	pthread_join(u, NULL);
	priority(30);
	pthread_create(&u, NULL, low, NULL);
	pthread_create(&v, NULL, middle, NULL);
	while (!shared_held)
		usleep(100);
	urgent();
	pthread_join(u, NULL);
	pthread_join(v, NULL);
	priority(0);
	pthread_create(&u, NULL, limited, argc > 2 ? argv[2] : NULL);
	join(u);
	pause_5ms();
	for (int i = 0; i < 3; i++)
		save(argc > 1 ? argv[1] : "file");
	return 0;
}
