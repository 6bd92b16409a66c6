/* Calls by number: the table of open ones, and their pairing in calls.h. */
#include <stdlib.h>

#include "common/calls/calls.h"
#include "t/unit/tap.h"

static struct dictionary dictionary;
static struct source source = {.number = 1}, other = {.number = 2};
static struct lane lanes[] = {{.number = 1, .thread = 1, .source = &source},
			      {.number = 2, .thread = 2, .source = &source},
			      {.number = 3, .thread = 3, .source = &other}};
static const struct field fields[] = {{.role = ROLE_CALL, .where = WHERE_FIXED, .size = 4}};
static const struct type enter = {.kind = KIND_ENTER,
				  .flags = TYPE_CALL_NUMBER,
				  .fixed_size = 4,
				  .nfields = 1,
				  .fields = fields},
			 leave = {.kind = KIND_LEAVE,
				  .flags = TYPE_CALL_NUMBER,
				  .fixed_size = 4,
				  .nfields = 1,
				  .fields = fields};

static void test_table(void)
{
	enum { MANY = 10000 };
	struct open_calls o = {0};
	uint64_t value, sum = 0;
	bool good = true;

	for (uint32_t i = 0; i < MANY; i++)
		good &= !open_calls_put(&o, 1, i * 7, i);
	ok(good && open_calls_count(&o) == MANY, "many calls are open");
	ok(!open_calls_take(&o, 2, 7, &value), "a number of another source is another call");
	for (uint32_t i = 0; i < MANY; i += 2)
		good &= open_calls_take(&o, 1, i * 7, &value) && value == i;
	ok(good, "every second one is found");
	for (uint32_t i = 0; i < MANY; i++)
		good &= open_calls_take(&o, 1, i * 7, &value) == (i % 2 == 1);
	ok(good && !open_calls_count(&o), "then the others, and none twice");
	for (uint32_t i = 0; i < 100; i++)
		open_calls_put(&o, 1, i, i);
	while (open_calls_take_any(&o, &value))
		sum += value;
	is_u64(sum, 99 * 100 / 2, "what is left comes out at the end");
	for (uint32_t i = 1; i <= 10; i++)
		open_calls_put(&o, 1, i, i);
	for (sum = 0; open_calls_take_any(&o, &value);)
		sum += value;
	is_u64(sum, 10 * 11 / 2, "and so does what is added after that");
	open_calls_free(&o);
}

/* The key that is 0. */
static void test_largest(void)
{
	struct open_calls o = {0};
	uint64_t value = 7, key = 1;

	ok(!open_calls_take(&o, UINT32_MAX, UINT32_MAX, &value) && value == 7 &&
		   !open_calls_has(&o, UINT32_MAX, UINT32_MAX),
	   "the largest number is not in an empty table");
	open_calls_put(&o, 1, 1, 11);
	open_calls_put(&o, UINT32_MAX, UINT32_MAX, 12);
	open_calls_put(&o, 1, 2, 13);
	ok(open_calls_count(&o) == 3 && open_calls_has(&o, UINT32_MAX, UINT32_MAX),
	   "it is a call beside others");
	ok(open_calls_take(&o, 1, 1, &value) && value == 11 &&
		   open_calls_take(&o, UINT32_MAX, UINT32_MAX, &value) && value == 12 &&
		   open_calls_take(&o, 1, 2, &value) && value == 13,
	   "each has its value");
	ok(!open_calls_take(&o, UINT32_MAX, UINT32_MAX, &value) && !open_calls_count(&o),
	   "and none is found twice");
	open_calls_put(&o, UINT32_MAX, UINT32_MAX, 14);
	ok(open_calls_take_next(&o, &key, &value) && !key && value == 14 &&
		   !open_calls_take_next(&o, &key, &value),
	   "it is among those that are left");
	open_calls_free(&o);
}

static struct calls calls;
static struct call done_call;

static enum calls_result feed(const struct type *t, int lane, uint64_t time, uint32_t number,
			      uint32_t location)
{
	uint8_t fixed[4];
	struct event e = {.time = time,
			  .type = t,
			  .lane = &lanes[lane],
			  .location = location,
			  .fixed = fixed};

	put_u32(fixed, number);
	return calls_next(&calls, &e, &done_call);
}

static bool ended(uint64_t total, uint32_t location)
{
	return done_call.total == total && done_call.self == total &&
	       done_call.location == location && !done_call.caller && !done_call.recursive;
}

static void test_pairing(void)
{
	calls_init(&calls, &dictionary);
	feed(&enter, 0, 0, 0, 5);
	feed(&enter, 0, 1, 1, 6);
	ok(feed(&leave, 0, 3, 0, 5) == CALLS_LEAVE && ended(3, 5),
	   "calls of one thread overlap: the first ends first");
	ok(feed(&leave, 0, 4, 1, 6) == CALLS_LEAVE && ended(3, 6), "and the second then");
	feed(&enter, 0, 5, 2, 5);
	feed(&enter, 2, 6, 2, 7);
	ok(feed(&leave, 2, 7, 2, 7) == CALLS_LEAVE && ended(1, 7),
	   "two sources may have calls of one number");
	ok(feed(&leave, 1, 8, 9, 0) == CALLS_NONE && calls.counts.unmatched == 1,
	   "a leave without an enter is counted");
	feed(&leave, 0, 9, 77, 0);
	ok(calls_finish(&calls, &done_call) && done_call.unfinished && done_call.end == 9 &&
		   done_call.location == 5,
	   "what is open ends with its thread");
	ok(!calls_finish(&calls, &done_call) && calls.counts.unfinished == 1, "and that was all");
	calls_free(&calls);
}

int main(void)
{
	test_table();
	test_largest();
	test_pairing();
	return done();
}
