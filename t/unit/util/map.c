/* map.h: any u64 to a number. */
#include "common/util/map.h"

#include "t/unit/tap.h"

enum { MANY = 100000 };

/* Keys that a poor hash has in few slots. */
static uint64_t low(uint64_t i)
{
	return i;
}

static uint64_t high(uint64_t i)
{
	return i << 44;
}

static uint64_t both(uint64_t i)
{
	return i << 32 | (UINT32_MAX - i);
}

static uint64_t inverted(uint64_t i)
{
	return ~i << 16;
}

static void test(const char *what, uint64_t (*f)(uint64_t))
{
	struct key_map m = {0};
	bool fresh = true, kept = true, absent = true;
	size_t longest = 0;

	for (uint64_t i = 0; i < MANY; i++) {
		uint32_t *number = key_map_number(&m, f(i));

		fresh = fresh && number && !*number;
		*number = (uint32_t)i + 1;
	}
	for (uint64_t i = 0; i < MANY; i++) {
		kept = kept && key_map_get(&m, f(i)) == i + 1 && *key_map_number(&m, f(i)) == i + 1;
		absent = absent && !key_map_get(&m, f(i + MANY));
	}
	for (size_t i = 0, run = 0; i <= m.mask; i++) {
		run = m.slots[i].value ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	ok(fresh && kept && absent && m.count == MANY, what);
	ok(m.mask + 1 <= MANY * 8 / 3, "in little memory");
	if (!ok(longest < MANY / 16, "and spread"))
		printf("# a run of %zu of %zu\n", longest, m.mask + 1);
	key_map_free(&m);
}

static void test_removal(void)
{
	struct key_map m = {0};
	bool good = true;

	key_map_remove(&m, 1);
	for (uint64_t i = 0; i < MANY; i++)
		*key_map_value(&m, i * 3) = i + 1;
	for (uint64_t i = 0; i < MANY; i += 2)
		key_map_remove(&m, i * 3);
	key_map_remove(&m, 1);
	for (uint64_t i = 0; i < MANY; i++)
		good = good && key_map_get(&m, i * 3) == (i % 2 ? i + 1 : 0);
	ok(good && m.count == MANY / 2, "the others of those removed are found");
	for (uint64_t i = 1; i < MANY; i += 2)
		key_map_remove(&m, i * 3);
	for (size_t i = 0; i <= m.mask; i++)
		good = good && !m.slots[i].value;
	ok(good && !m.count, "and nothing is left of all");
	key_map_free(&m);
}

int main(void)
{
	struct key_map m = {0};
	uint64_t *value;
	bool good = true;

	is_u64(key_map_get(&m, 0), 0, "nothing in an empty one");
	key_map_clear(&m);
	value = key_map_value(&m, 0);
	ok(value && !*value, "0 is a key");
	*value = UINT64_MAX;
	is_u64(key_map_get(&m, 0), UINT64_MAX, "with a value of 64 bits");
	key_map_clear(&m);
	ok(!key_map_get(&m, 0) && !m.count, "nothing after a clear");
	for (uint64_t i = 0; i < MANY; i++)
		good = good && key_map_number(&m, i);
	ok(good && m.mask < 1024, "keys that get no value take no room");
	key_map_free(&m);
	test("small numbers", low);
	test("numbers that end with zeros", high);
	test("pairs of numbers", both);
	test("large numbers", inverted);
	test_removal();
	return done();
}
