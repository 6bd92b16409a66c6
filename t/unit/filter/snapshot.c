/* links: cmd/trfilter */
/*
 * Segments for a filter: what it keeps of random traces is one segment, with the calls that it
 * keeps of the same trace in one segment.
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

/* Filter a stream. */
static struct blob kept(int fd, const char *condition, struct how how)
{
	int out = memfd_create("kept", 0);
	char from[32], to[32];
	struct blob b;

	snprintf(from, sizeof from, "/dev/fd/%d", fd);
	snprintf(to, sizeof to, "/dev/fd/%d", out);
	must(!lseek(fd, 0, SEEK_SET), "rewind");
	run(from, condition, how, to);
	b = blob_of_fd(out);
	close(out);
	return b;
}

static bool check(uint64_t seed)
{
	int fd = memfd_create("random", 0), joined;
	struct how how = {.memory = pick(2) ? NEVER : 0};
	const char *condition;
	struct blob one, of_parts, of_one;
	bool good;

	random_seed(seed);
	random_trace(fd);
	condition = conditions[pick(CONDITIONS)];
	how.callers = !pick(4);
	how.invert = !pick(5);
	how.slow = pick(2);
	if (!pick(4))
		how.after = 1 + pick(3);
	one = passed_on(fd, true);
	joined = fd_of(one.data, one.size);
	of_parts = kept(fd, condition, how);
	of_one = kept(joined, condition, how);
	good = same_joined(&of_one, &of_parts, seed);
	if (!good)
		printf("# %s\n", condition);
	free(one.data);
	free(of_parts.data);
	free(of_one.data);
	close(fd);
	close(joined);
	return good;
}

int main(int argc, char **argv)
{
	uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 300,
		 first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, bad = 0;

	random_snapshots = true;
	for (uint64_t i = first; i < first + cases && bad < 3; i++)
		bad += !check(i);
	is_u64(bad, 0, "what a filter keeps is one segment, with the same calls");
	return done();
}
