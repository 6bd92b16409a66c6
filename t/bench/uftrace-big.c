/* Large-trace workload: W worker threads, each parses generated expressions,
 * hashes, sorts and walks trees.  usage: big ROUNDS [THREADS] */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NI __attribute__((noinline))
static int rounds = 100;
struct rng {
	uint64_t s;
};
NI static uint32_t rng_next(struct rng *r)
{
	r->s ^= r->s << 13;
	r->s ^= r->s >> 7;
	r->s ^= r->s << 17;
	return (uint32_t)(r->s >> 16);
}
NI static uint32_t mix(uint32_t h, uint32_t v)
{
	h ^= v;
	h *= 16777619u;
	return h;
}
NI static uint32_t hash_buf(const char *p, int n)
{
	uint32_t h = 2166136261u;
	for (int i = 0; i < n; i++)
		h = mix(h, (unsigned char)p[i]);
	return h;
}
NI static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
NI static int cmp(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return x < y ? -1 : x > y;
}
NI static void swap_int(int *a, int *b)
{
	int t = *a;
	*a = *b;
	*b = t;
}
NI static int partition(int *v, int lo, int hi)
{
	int p = v[hi], i = lo;
	for (int j = lo; j < hi; j++)
		if (cmp(&v[j], &p) < 0)
			swap_int(&v[i++], &v[j]);
	swap_int(&v[i], &v[hi]);
	return i;
}
NI static void quick(int *v, int lo, int hi)
{
	if (lo >= hi)
		return;
	int p = partition(v, lo, hi);
	quick(v, lo, p - 1);
	quick(v, p + 1, hi);
}
struct node {
	struct node *l, *r;
	int k;
};
NI static struct node *node_new(struct node *pool, int *n, int k)
{
	struct node *x = &pool[(*n)++];
	x->l = x->r = 0;
	x->k = k;
	return x;
}
NI static struct node *tree_insert(struct node *t, struct node *pool, int *n, int k)
{
	if (!t)
		return node_new(pool, n, k);
	if (k < t->k)
		t->l = tree_insert(t->l, pool, n, k);
	else
		t->r = tree_insert(t->r, pool, n, k);
	return t;
}
NI static long tree_sum(struct node *t)
{
	return t ? t->k + tree_sum(t->l) + tree_sum(t->r) : 0;
}
struct lex {
	const char *p;
};
NI static int peek(struct lex *l)
{
	return *l->p;
}
NI static int next(struct lex *l)
{
	return *l->p++;
}
static long expr(struct lex *l);
NI static long factor(struct lex *l)
{
	long v = 0;
	if (peek(l) == '(') {
		next(l);
		v = expr(l);
		next(l);
		return v;
	}
	while (peek(l) >= '0' && peek(l) <= '9')
		v = v * 10 + next(l) - '0';
	return v;
}
NI static long term(struct lex *l)
{
	long v = factor(l);
	while (peek(l) == '*') {
		next(l);
		v *= factor(l);
	}
	return v;
}
NI static long expr(struct lex *l)
{
	long v = term(l);
	while (peek(l) == '+') {
		next(l);
		v += term(l);
	}
	return v;
}
NI static long one_round(struct rng *r, int i)
{
	char buf[64];
	int v[48];
	struct node pool[48];
	int n = 0;
	struct node *t = 0;
	long acc = 0;
	snprintf(buf, sizeof buf, "%u+%u*(%u+%u)*%u", rng_next(r) % 100, rng_next(r) % 100,
		 rng_next(r) % 100, rng_next(r) % 10, rng_next(r) % 10);
	struct lex l = {buf};
	acc += expr(&l);
	acc += hash_buf(buf, (int)strlen(buf));
	for (int k = 0; k < 48; k++)
		v[k] = rng_next(r) % 1000;
	for (int k = 0; k < 48; k++)
		t = tree_insert(t, pool, &n, v[k]);
	acc += tree_sum(t);
	quick(v, 0, 47);
	if (i % 8 == 0)
		acc += fib(10);
	return acc;
}
NI static void *worker(void *a)
{
	struct rng r = {88172645463325252ull + (uintptr_t)a * 7919};
	long s = 0;
	for (int i = 0; i < rounds; i++)
		s += one_round(&r, i);
	return (void *)s;
}
int main(int argc, char **argv)
{
	int nt = argc > 2 ? atoi(argv[2]) : 4;
	pthread_t *th = calloc((size_t)nt, sizeof(*th));
	long s = 0;
	if (nt < 1 || !th)
		return 1;
	if (argc > 1)
		rounds = atoi(argv[1]);
	for (long i = 0; i < nt; i++)
		pthread_create(&th[i], 0, worker, (void *)i);
	for (int i = 0; i < nt; i++) {
		void *r;
		pthread_join(th[i], &r);
		s += (long)r;
	}
	printf("%ld\n", s);
	return 0;
}
