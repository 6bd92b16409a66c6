/* links: cmd/trfilter */
/*
 * Snapshots of a filter: what it keeps of random traces has the same calls from any segment on.
 *
 *     snapshot [CASES [FIRST]]
 */
#include "t/unit/filter_run.h"
#include "t/unit/same_anywhere.h"

static const char *const conditions[] = {
	"dur > 100",	   "dur == 0 || dur > 500",
	"self > 40",	   "children == 0",
	"under('f')",	   "over('g')",
	"kind != leave",   "name != 'f'",
	"tid == 10",	   "depth > 0",
	"type != 'exit'",  "kind == instant || dur < 300",
	"caller == 'g'",   "name =~ '^[a-h]'",
	"kind != instant",
};

enum { CONDITIONS = sizeof conditions / sizeof *conditions };

static bool check(uint64_t seed)
{
	char from[32], to[32];
	int fd = memfd_create("random", 0), out = memfd_create("kept", 0);
	struct how how = {.memory = pick(2) ? NEVER : 0};
	const char *condition;
	struct blob b;
	bool good;

	random_seed(seed);
	random_trace(fd);
	condition = conditions[pick(CONDITIONS)];
	how.callers = !pick(4);
	how.invert = !pick(5);
	how.slow = pick(2);
	if (!pick(4))
		how.after = 1 + pick(3);
	snprintf(from, sizeof from, "/dev/fd/%d", fd);
	snprintf(to, sizeof to, "/dev/fd/%d", out);
	must(!lseek(fd, 0, SEEK_SET), "rewind");
	run(from, condition, how, to);
	b = blob_of_fd(out);
	good = same_anywhere(&b, seed);
	if (!good)
		printf("# %s\n", condition);
	free(b.data);
	close(fd);
	close(out);
	return good;
}

int main(int argc, char **argv)
{
	uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 300,
		 first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, bad = 0;

	random_snapshots = true;
	for (uint64_t i = first; i < first + cases && bad < 3; i++)
		bad += !check(i);
	is_u64(bad, 0, "calls that a filter keeps are the same from any segment on");
	return done();
}
