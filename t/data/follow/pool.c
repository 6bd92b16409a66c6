/*
 * pool.c - a server of two stages, for follow.bats: requests are queued for two workers, their
 * answers for a writer. Each function has the id of its request as its argument. The program writes
 * "ID TID FUNCTION" for each function that works for a request.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t more;
	int items[64], first, count;
};

#define EMPTY                                                                                      \
	{                                                                                          \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0                     \
	}
#define TRACED __attribute__((noinline))

static struct queue work[2] = {EMPTY, EMPTY}, answers = EMPTY;
static volatile int answered; /* the last request that has its answer */

TRACED static void nap(long ns)
{
	struct timespec t = {0, ns};

	nanosleep(&t, NULL);
}

TRACED static void note(int id, const char *what)
{
	char line[64];
	int n = snprintf(line, sizeof line, "%d %ld %s\n", id, (long)syscall(SYS_gettid), what);

	if (write(1, line, (size_t)n) != n)
		_exit(1);
}

TRACED static void put(struct queue *q, int id)
{
	pthread_mutex_lock(&q->lock);
	q->items[(q->first + q->count++) % 64] = id;
	pthread_mutex_unlock(&q->lock);
	pthread_cond_signal(&q->more);
}

TRACED static int take(struct queue *q)
{
	int id;

	pthread_mutex_lock(&q->lock);
	while (!q->count)
		pthread_cond_wait(&q->more, &q->lock);
	id = q->items[q->first++ % 64];
	q->count--;
	pthread_mutex_unlock(&q->lock);
	return id;
}

TRACED static void answer(int id)
{
	note(id, "answer");
	answered = id;
}

TRACED static void handle(int id)
{
	note(id, "handle");
	nap(100000);
	put(&answers, id);
}

TRACED static void request(int id)
{
	note(id, "request");
	put(&work[id % 2], id);
}

static void *worker(void *queue)
{
	for (int id; (id = take(queue)) > 0;)
		handle(id);
	return NULL;
}

static void *writer(void *queue)
{
	for (int id; (id = take(queue)) > 0;)
		answer(id);
	return NULL;
}

int main(void)
{
	pthread_t t[3];

	pthread_create(&t[0], NULL, worker, &work[0]);
	pthread_create(&t[1], NULL, worker, &work[1]);
	pthread_create(&t[2], NULL, writer, &answers);
	nap(20000000);
	for (int id = 1; id <= 6; id++) {
		request(id);
		while (answered < id)
			nap(1000000);
		/* all threads are asleep again */
		nap(10000000);
	}
	put(&work[0], -1);
	put(&work[1], -1);
	put(&answers, -1);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
