/* Enters of numbered calls: those of calls that ended without a leave take no memory. */
/* links: cmd/trstat */
#include "t/unit/tap.h"

#include "cmd/trstat/slowest.h"

enum { MANY = 1000 };

static struct source source = {.number = 1};
static struct lane lane = {.number = 1, .thread = 1, .source = &source};
static const struct field fields[] = {{.role = ROLE_CALL, .where = WHERE_FIXED, .size = 4}};
static const struct type enter = {.kind = KIND_ENTER,
				  .flags = TYPE_CALL_NUMBER,
				  .fixed_size = 4,
				  .nfields = 1,
				  .fields = fields};

static struct open_call_args en;
static struct calls calls;

static struct event event(uint32_t number, uint8_t fixed[4])
{
	put_u32(fixed, number);
	return (struct event){.time = number, .type = &enter, .lane = &lane, .fixed = fixed};
}

static bool put(uint32_t number)
{
	uint8_t fixed[4];
	struct event e = event(number, fixed);

	return !open_call_args_put(&en, &calls, &e, 0);
}

static bool take(uint32_t number)
{
	uint8_t fixed[4];
	struct event e = event(number, fixed);
	const struct enter *n = open_call_args_take(&en, &calls, &e, NULL);

	return n && get_u32(n->payload.data) == number;
}

int main(void)
{
	bool good = true;

	for (uint32_t i = 0; i < MANY; i++)
		good &= put(7);
	ok(good && en.indexes.count == 1, "a number that is entered again has one entry");
	good &= !open_calls_put(&calls.open, source.number, 7, 0);
	for (uint32_t i = 0; i < MANY; i++)
		good &= put(100 + i) && !open_call_args_drop(&en, &calls);
	ok(good && en.indexes.count == 2, "a call that a snapshot dropped has no entry");
	ok(take(7) && !take(100), "a call that is open still has its entry");
	open_call_args_free(&en);
	open_calls_free(&calls.open);
	return done();
}
