/*
 * Snapshots: random traces have the same calls from any segment on, also after a program that
 * passes all segments on, and after one that makes one segment of them.
 *
 *     snapshot [CASES [FIRST]]
 */
#include "t/unit/same_anywhere.h"

static bool check(uint64_t seed)
{
	int fd = memfd_create("random", 0);
	struct blob b, again, one;
	bool good;

	random_seed(seed);
	random_trace(fd);
	b = blob_of_fd(fd);
	again = passed_on(fd, false);
	one = passed_on(fd, true);
	good = same_anywhere(&b, seed) && same_anywhere(&again, seed) &&
	       same_joined(&b, &one, seed);
	free(b.data);
	free(again.data);
	free(one.data);
	close(fd);
	return good;
}

int main(int argc, char **argv)
{
	uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 300,
		 first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, bad = 0;

	random_snapshots = true;
	for (uint64_t i = first; i < first + cases && bad < 3; i++)
		if (!check(i)) {
			printf("# seed %" PRIu64 "\n", i);
			bad++;
		}
	is_u64(bad, 0, "random traces have the same calls from any segment on");
	return done();
}
