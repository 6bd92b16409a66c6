/*
 * Snapshots: random traces have the same calls from any segment on, also after a filter that passes
 * on everything.
 *
 *     snapshot [CASES [FIRST]]
 */
#include "common/cli/stage.h"
#include "common/calls/snapshot_hooks.h"
#include "t/unit/same_anywhere.h"

/* Write the stream through a filter. */
static struct blob filtered(int fd)
{
	struct common_options common = {.quiet = true};
	int to = memfd_create("filtered", 0);
	char in[32], out[32], *paths[] = {in}, *argv[] = {(char *)"pass", NULL};
	struct stage s;
	struct block b;
	struct blob got;

	snprintf(in, sizeof in, "/dev/fd/%d", fd);
	snprintf(out, sizeof out, "/dev/fd/%d", to);
	must(!lseek(fd, 0, SEEK_SET), "rewind");
	common.output = out;
	must(!stage_open(&s, paths, 1, &common), "open");
	s.snapshots = &snapshot_hooks;
	must(!stage_create(&s, 1, argv), "create");
	while (stage_next(&s, &b))
		if (b.kind == BLOCK_EVENTS)
			must(!stage_pass(&s, &b), "pass");
	must(!stage_finish(&s), "finish");
	got = blob_of_fd(to);
	close(to);
	return got;
}

static bool check(uint64_t seed)
{
	int fd = memfd_create("random", 0);
	struct blob b;
	bool good;

	random_seed(seed);
	random_trace(fd);
	b = blob_of_fd(fd);
	good = same_anywhere(&b, seed);
	free(b.data);
	b = filtered(fd);
	good = good && same_anywhere(&b, seed);
	free(b.data);
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
