/* intern.h: any id to a number, at a cost in step with what was set. */
#include "common/util/intern.h"

#include "common/util/bytes.h"
#include "t/unit/tap.h"

static size_t memory(const struct idmap *m)
{
	return m->direct_size * 4 + (m->far.slots ? m->far.mask + 1 : 0) * sizeof *m->far.slots;
}

/* The ids that f gives, n of them, and that others are not there. */
static void test(const char *what, uint64_t (*f)(uint32_t), uint32_t n)
{
	struct idmap m = {0};
	bool set = true, got = true, absent = true;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < n; i++)
			set = set && !idmap_set(&m, f(i), i + 1);
		for (uint32_t i = 0; i < n; i++)
			got = got && idmap_get(&m, f(i)) == i + 1;
		for (uint32_t i = 0; i < n; i++)
			absent = absent && !idmap_get(&m, f(n + i));
		ok(set && got && absent, what);
		if (memory(&m) > (size_t)n * 128 + 4096)
			printf("# %zu bytes for %u ids\n", memory(&m), n);
		ok(memory(&m) <= (size_t)n * 128 + 4096, "in little memory");
		idmap_clear(&m);
		got = true;
		for (uint32_t i = 0; i < n; i++)
			got = got && !idmap_get(&m, f(i));
		ok(got, "and nothing is left after clear");
		got = true;
	}
	idmap_free(&m);
}

static uint64_t dense(uint32_t i)
{
	return i + 1;
}

static uint64_t backwards(uint32_t i)
{
	return 1000000 - i;
}

static uint64_t sparse(uint32_t i)
{
	return i * 40503 + 5;
}

static uint64_t mixed(uint32_t i)
{
	return i & 1 ? i : UINT32_MAX - i;
}

static uint64_t powers(uint32_t i)
{
	return i < 32 ? 1u << i : 3u << (i - 32);
}

static uint64_t large(uint32_t i)
{
	return (uint64_t)i << 32 | 1;
}

int main(void)
{
	struct idmap m = {0};

	is_u64(idmap_get(&m, 0), 0, "nothing in an empty one");
	is_u64(idmap_get(&m, UINT32_MAX), 0, "nor at its end");
	test("dense ids", dense, 100000);
	test("dense ids, the last first", backwards, 50000);
	test("sparse ids", sparse, 50000);
	test("ids at both ends", mixed, 50000);
	test("powers of two", powers, 31);
	test("ids beyond 32 bits", large, 50000);
	idmap_set(&m, 7, 1);
	idmap_set(&m, 7, 2);
	is_u64(idmap_get(&m, 7), 2, "the latest counts");
	idmap_set(&m, 1u << 31, 1);
	idmap_set(&m, 1u << 31, 2);
	is_u64(idmap_get(&m, 1u << 31), 2, "far away too");
	idmap_set(&m, 1u << 31, 0);
	is_u64(idmap_get(&m, 1u << 31), 0, "and none removes it");
	idmap_free(&m);
	/* ids set while far away are found when the array has grown over them */
	idmap_set(&m, 1000, 5);
	for (uint32_t i = 1; i < 1000; i++)
		idmap_set(&m, i, i);
	is_u64(idmap_get(&m, 1000), 5, "the array grows over the table");
	idmap_set(&m, 1000, 6);
	for (uint32_t i = 1; i < 10000; i++)
		if (i != 1000)
			idmap_set(&m, i, i);
	is_u64(idmap_get(&m, 1000), 6, "and does not take the old number again");
	idmap_free(&m);
	return done();
}
