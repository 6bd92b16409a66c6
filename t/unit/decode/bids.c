/* links: cmd/trdecode */
/* The decoder of an input is the same whatever the order of the table. */
#include "t/unit/uftrace_dir.h"

#include <glob.h>

#include "cmd/trdecode/formats.h"
#include "cmd/trdecode/input.h"

#define FORMAT_ROW(name) &decoder_##name,
static const struct decoder *const table[] = {TRDECODE_FORMATS(FORMAT_ROW) NULL};

enum { FORMATS = sizeof table / sizeof *table - 1 };

/* Return the name of the format that a table in some order gives; "" none. */
static const char *format_of(const char *path, const struct decoder *const *order)
{
	struct decoding d = {.quiet = true};
	struct input in;
	struct error e;
	const char *name = input_open(&in, path, NULL, order, &d, &e) ? "" : in.decoder->name;

	in.decoder = NULL;
	input_close(&in);
	return name;
}

/* Try each decoder first, in both directions. */
static bool same_in_any_order(const char *path, const char *want)
{
	const struct decoder *order[FORMATS + 1] = {NULL};

	for (int first = 0; first < FORMATS; first++)
		for (int back = 0; back < 2; back++) {
			for (int i = 0; i < FORMATS; i++)
				order[back ? FORMATS - 1 - i : i] = table[(first + i) % FORMATS];
			if (strcmp(format_of(path, order), want) != 0) {
				printf("# %s: %s, not %s\n", path, format_of(path, order), want);
				return false;
			}
		}
	return true;
}

static void test_files(const char *pattern, const char *want)
{
	bool same = true;
	glob_t found;

	if (!ok(!glob(pattern, 0, NULL, &found) && found.gl_pathc, pattern))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		same &= same_in_any_order(found.gl_pathv[i], want);
	globfree(&found);
	ok(same, "each has one format in any order");
}

/* A directory that several decoders bid for. */
static void test_mixed(void)
{
	char *dir = dir_new();

	dir_write_bytes(dir, "info", "Ftrace!\0\4\0\0\0", 12);
	ok(same_in_any_order(dir, "uftrace"), "a uftrace header alone");
	dir_write(dir, "metadata", "trace { major = 1; };");
	ok(same_in_any_order(dir, "uftrace"), "metadata without its signature bids less");
	dir_write(dir, "metadata", "/* CTF 1.8 */ trace { major = 1; };");
	ok(same_in_any_order(dir, "ctf"), "of equal bids the first name wins");
	dir_remove(dir);
}

int main(void)
{
	test_files("t/data/apitrace/*.trace", "apitrace");
	test_files("t/data/trace-cmd/*.dat", "trace-cmd");
	test_files("t/data/lttng/*.gz", "lttng");
	test_files("t/data/ctf/*.gz", "ctf");
	test_files("t/data/stream/*.trs", "stream");
	test_files("t/data/uftrace/fib", "uftrace");
	test_files("t/data/uftrace/fib/*.dat", "uftrace");
	test_files("t/data/apitrace/*.profile.txt", "glprofile");
	test_files("t/data/apitrace/*[!e].txt", "");
	test_mixed();
	return done();
}
