/* links: cmd/trdecode */
/* The sorter against a stable sort in memory: in memory and in runs of a file, whatever the order.
 */
#include <stdlib.h>

#include "cmd/trdecode/sorter.h"
#include "t/unit/tap.h"

enum { RECORDS = 20000, SIZE_MOST = 50 };

struct record {
	struct sorter_key key;
	uint32_t number, size;
};

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static uint64_t in_order(uint32_t i, uint32_t random)
{
	(void)random;
	return i / 3;
}

static uint64_t at_random(uint32_t i, uint32_t random)
{
	(void)i;
	return random;
}

static uint64_t few_times(uint32_t i, uint32_t random)
{
	(void)i;
	return random % 3;
}

/* In order but for one in 2000, and for the last half, which begins again. */
static uint64_t few_back(uint32_t i, uint32_t random)
{
	return i % 2000 == 1999 ? random % (i + 1) : i % (RECORDS / 2);
}

/* Parts in order, each of which overlaps the one before. */
static uint64_t overlapping(uint32_t i, uint32_t random)
{
	(void)random;
	return i % 700 * 2 + i / 700 * 900;
}

static int compare(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->key.time != y->key.time)
		return x->key.time < y->key.time ? -1 : 1;
	if (x->key.second != y->key.second)
		return x->key.second < y->key.second ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void fill(uint8_t *data, const struct record *r)
{
	for (uint32_t i = 0; i < r->size; i++)
		data[i] = (uint8_t)(r->number + i * 7);
}

/* Read records, and return how many are as expected. */
static uint32_t read_back(struct sorter *s, const struct record *records, uint32_t most)
{
	struct sorter_record r;
	uint8_t data[SIZE_MOST];
	struct error e;
	uint32_t n = 0;

	for (; n < most && sorter_peek(s, &r); n++) {
		fill(data, &records[n]);
		if (r.key.time != records[n].key.time || r.key.second != records[n].key.second ||
		    r.size != records[n].size || memcmp(r.data, data, r.size) != 0 ||
		    sorter_advance(s, &e))
			break;
	}
	return n;
}

static void sort(uint64_t (*time)(uint32_t i, uint32_t random), size_t memory, const char *what)
{
	static struct record records[RECORDS];
	uint8_t data[SIZE_MOST];
	struct sorter s;
	struct sorter_record r;
	struct error e;
	uint32_t random = 1;
	bool good = true;
	uint32_t n = 0;

	sorter_memory = memory;
	sorter_init(&s);
	good &= !sorter_peek(&s, &r);
	for (uint32_t i = 0; i < RECORDS; i++) {
		struct record *to = &records[i];

		*to = (struct record){{time(i, next_random(&random)), next_random(&random) % 2},
				      i,
				      next_random(&random) % SIZE_MOST};
		/* in order, so that it stays in order */
		to->key.second = time == in_order ? i % 3 : to->key.second;
		fill(data, to);
		good &= !sorter_add(&s, to->key, data, to->size, &e);
	}
	qsort(records, RECORDS, sizeof *records, compare);
	good &= !sorter_finish(&s, &e);
	good &= read_back(&s, records, RECORDS / 2) == RECORDS / 2;
	good &= !sorter_rewind(&s, &e) && read_back(&s, records, RECORDS) == RECORDS;
	good &= !sorter_rewind(&s, &e);
	n = read_back(&s, records, RECORDS);
	ok(good && n == RECORDS && !sorter_peek(&s, &r), what);
	if (time == in_order && memory < RECORDS)
		is_u64(s.nruns, 1, "records in order are one run");
	/* some 230 runs of 4096 bytes are merged 8 at a time: at most 7 of each of 3 levels */
	if (memory == 4096)
		ok(s.nruns <= 21, "few runs need a window");
	sorter_free(&s);
}

int main(void)
{
	static const struct {
		uint64_t (*time)(uint32_t i, uint32_t random);
		const char *what;
	} orders[] = {{in_order, "in order"},
		      {at_random, "in no order"},
		      {few_times, "few different keys"},
		      {few_back, "few records out of order"},
		      {overlapping, "parts that overlap"}};
	/* runs of the least size, runs that may end early, none */
	static const size_t memories[] = {4096, 200000, 4 << 20};

	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
		for (size_t j = 0; j < sizeof memories / sizeof *memories; j++) {
			char what[80];

			snprintf(what, sizeof what, "%s, %zu bytes of memory", orders[i].what,
				 memories[j]);
			sort(orders[i].time, memories[j], what);
		}
	return done();
}
