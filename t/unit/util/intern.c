/* intern.h: every byte string once, numbered densely. */
#include "common/util/intern.h"

#include <stdlib.h>

#include "t/unit/tap.h"

int main(void)
{
	struct intern in = {0};
	char text[32], *large = malloc(100000);
	const char *first;
	bool dense = true, found = true, kept = true;

	is_u64(intern_find(&in, "x", 1), INTERN_NONE, "nothing in an empty one");
	is_u64(intern(&in, "", 0), 0, "the empty string is one");
	is_u64(intern(&in, "a\0b", 3), 1, "NULs are bytes");
	is_u64(intern(&in, "a\0c", 3), 2, "that count");
	is_u64(intern(&in, "a", 1), 3, "a prefix is another");
	is_u64(intern_string(&in, "a"), 3, "the same again");
	first = intern_data(&in, 1);
	for (unsigned i = 0; i < 200000; i++) {
		int n = snprintf(text, sizeof text, "string %u", i);

		dense = dense && intern(&in, text, (size_t)n) == i + 4;
	}
	ok(dense, "numbers are dense");
	for (unsigned i = 0; i < 200000; i += 7) {
		int n = snprintf(text, sizeof text, "string %u", i);

		found = found && intern_find(&in, text, (size_t)n) == i + 4;
		kept = kept && !strcmp(intern_data(&in, i + 4), text) &&
		       intern_size(&in, i + 4) == (uint32_t)n;
	}
	ok(found, "all are found");
	ok(kept, "and kept with a NUL behind");
	ok(intern_data(&in, 1) == first && !memcmp(first, "a\0b", 4), "nothing moves");
	memset(large, 'l', 100000);
	is_u64(intern(&in, large, 100000), 200004, "a large one");
	is_u64(intern(&in, large, 99999), 200005, "and one byte less");
	is_u64(intern_size(&in, 200004), 100000, "its size");
	ok(!memcmp(intern_data(&in, 200004), large, 100000), "its bytes");
	intern_free(&in);
	is_u64(in.count, 0, "empty again");
	is_u64(intern(&in, "x", 1), 0, "and of use again");
	intern_free(&in);
	free(large);
	return done();
}
