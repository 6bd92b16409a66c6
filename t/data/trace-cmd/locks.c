/*
 * locks.c - three threads that share a mutex, and two that map and touch new pages
 *
 * locks.dat is a recording of this program by Linux 6.18, in an instance with the events of
 * raw_syscalls, of lock, and exceptions:page_fault_user, written by `trace-cmd extract -B` of
 * version 3.1.6. The formats of all other events, and most of kallsyms, were not mounted.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER, log_file = PTHREAD_MUTEX_INITIALIZER;

static void nap(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static void *worker(void *hold)
{
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&table);
		nap((long)hold);
		pthread_mutex_unlock(&table);
		if (i == 2) {
			pthread_mutex_lock(&log_file);
			nap(200);
			pthread_mutex_unlock(&log_file);
		}
	}
	return NULL;
}

static void *toucher(void *unused)
{
	for (int n = 0; n < 6; n++) {
		char *p = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		p = mmap(NULL, 8 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (int i = 0; i < 8; i++)
			p[i << 12] = 1;
	}
	return unused;
}

int main(void)
{
	pthread_t t[5];

	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, worker, (void *)(300 + 200 * i));
	for (int i = 3; i < 5; i++)
		pthread_create(&t[i], NULL, toucher, NULL);
	for (int i = 0; i < 5; i++)
		pthread_join(t[i], NULL);
	return 0;
}
