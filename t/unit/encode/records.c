/* links: cmd/trencode */
/* Records in lists (tracks.h): they spill, and are read from the first on, or taken off the end. */
#include "cmd/trencode/tracks.h"
#include "t/unit/tap.h"

enum { LISTS = 5, RECORDS = 400000 };

static void add_all(struct record_store *r, struct record_list list[LISTS])
{
	bool good = true;

	for (uint64_t i = 0; i < RECORDS; i++)
		for (int k = 0; k < LISTS; k++)
			/* one list is short */
			good &= (!k && i >= 10) || !record_add(r, &list[k], &i);
	ok(good, "records are added");
}

int main(void)
{
	struct record_list list[LISTS] = {0};
	struct record_store r;
	const uint64_t *record;
	uint64_t last = 12345;

	record_store_init(&r, sizeof(uint64_t));
	ok(!record_take_last(&r, &list[0]), "an empty list has nothing");
	add_all(&r, list);
	ok(r.bytes.file, "in a file");
	for (int k = 0; k < LISTS; k++) {
		struct record_cursor at = {0};
		uint64_t n = 0, wrong = 0;

		for (; (record = record_next(&r, &list[k], &at)); n++)
			wrong += *record != n;
		is_u64(n, k ? RECORDS : 10, "all of a list are read");
		while ((record = record_take_last(&r, &list[k])))
			wrong += *record != --n;
		is_u64(n, 0, "all of them are taken");
		is_u64(wrong, 0, "each in its turn");
	}
	ok(!record_add(&r, &list[1], &last) &&
		   *(const uint64_t *)record_take_last(&r, &list[1]) == last,
	   "a list that was emptied is used again");
	record_store_free(&r);
	return done();
}
