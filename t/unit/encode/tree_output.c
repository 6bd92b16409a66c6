/* links: cmd/trencode */
/* A directory as output: names that it accepts, and files that appear together. */
#include "cmd/trencode/tree_output.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/unit/tap.h"

static char base[64];

static const char *at(const char *name)
{
	static char path[4][512];
	static int n;

	n = (n + 1) % 4;
	snprintf(path[n], sizeof(path[n]), "%s/%s", base, name);
	return path[n];
}

/* Entries of a directory, -1 if it is none. */
static int entries(const char *path)
{
	DIR *d = opendir(path);
	int n = -2;

	if (!d)
		return -1;
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void put(struct tree_output *t, const char *name, const void *data, size_t n)
{
	struct error e = {.what = ""};
	uint32_t number;

	if (tree_output_member(t, name, strlen(name), &number, &e) ||
	    tree_output_put(t, number, data, n, &e))
		ok(false, e.what);
}

static void test_names(void)
{
	ok(tree_output_name_ok("info", 4), "a name");
	ok(!tree_output_name_ok("", 0), "no name");
	ok(!tree_output_name_ok("a/b", 3), "a path");
	ok(!tree_output_name_ok("..", 2), "dots");
	ok(!tree_output_name_ok("a\0b", 3), "a NUL");
}

static void test_location(const char *name, bool there)
{
	struct tree_output t;
	struct error e = {.what = ""};
	struct stat st;

	if (there)
		mkdir(at(name), 0700);
	ok(!tree_output_open(&t, at(name), "top", &e), "open");
	put(&t, "info", "abc", 3);
	put(&t, "empty", "", 0);
	ok(there ? stat(at(name), &st) || entries(at(name)) == 1 : stat(at(name), &st),
	   "nothing in its place before the end");
	ok(!tree_output_finish(&t, &e), "finish");
	tree_output_close(&t);
	is_u64((uint64_t)entries(at(name)), 2, "two members, nothing else");
	ok(!stat(at(there ? "there/info" : "new/info"), &st) && st.st_size == 3, "a member's size");
	ok(tree_output_open(&t, at(name), "top", &e) == -1, "a directory with files is refused");
	tree_output_close(&t);
	is_str(e.what, "is a directory that is not empty: remove it, or use another name",
	       "and the error says so");
}

static void test_dropped(void)
{
	struct tree_output t;
	struct error e = {.what = ""};
	int before = entries(base);

	ok(!tree_output_open(&t, at("dropped"), "top", &e), "open");
	put(&t, "info", "abc", 3);
	tree_output_close(&t);
	is_u64((uint64_t)entries(base), (uint64_t)before, "unfinished, and gone");
	ok(tree_output_open(&t, at("no/such/place"), "top", &e) == -1, "no such place");
	ok(tree_output_open(&t, at("file"), "top", &e) == -1, "a file is no place");
}

enum { MEMBERS = 3000, ROUNDS = 40, PIECE = 24 };

/* Many members that grow in turns: every byte in its file, in its order. */
static void test_many(void)
{
	struct tree_output t;
	struct error e = {.what = ""};
	uint8_t piece[PIECE], got[PIECE * ROUNDS + 1];
	char name[32];
	size_t held = 0;
	int wrong = 0;

	ok(!tree_output_open(&t, at("many"), "top", &e), "open");
	for (int r = 0; r < ROUNDS; r++)
		for (int m = 0; m < MEMBERS; m++) {
			snprintf(name, sizeof(name), "%d.dat", m);
			memset(piece, r ^ m, sizeof(piece));
			put(&t, name, piece, sizeof(piece));
		}
	for (int m = 0; m < MEMBERS; m++)
		held += t.members[m].capacity;
	ok(held <= 4 << 20, "buffers stay within their bound");
	ok(!tree_output_finish(&t, &e), "finish");
	tree_output_close(&t);
	for (int m = 0; m < MEMBERS; m++) {
		FILE *f;

		snprintf(name, sizeof(name), "many/%d.dat", m);
		f = fopen(at(name), "r");
		wrong += !f || fread(got, 1, sizeof(got), f) != PIECE * ROUNDS;
		for (int r = 0; f && r < ROUNDS; r++)
			wrong += got[r * PIECE] != (uint8_t)(r ^ m);
		if (f)
			fclose(f);
	}
	is_u64((uint64_t)wrong, 0, "every member has its bytes");
}

/* Pieces of all sizes around the buffer's. */
static void test_sizes(void)
{
	struct tree_output t;
	struct error e = {.what = ""};
	static uint8_t data[200000], got[2000000];
	size_t total = 0, n;
	uint64_t wrong = 0;
	FILE *f;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	ok(!tree_output_open(&t, at("sizes"), "top", &e), "open");
	for (size_t size = 1; size < sizeof(data); size = size * 3 / 2 + 1) {
		put(&t, "x", data, size);
		total += size;
	}
	is_u64(tree_output_size(&t, 0), total, "its size");
	ok(!tree_output_finish(&t, &e), "finish");
	tree_output_close(&t);
	f = fopen(at("sizes/x"), "r");
	n = f ? fread(got, 1, sizeof(got), f) : 0;
	is_u64(n, total, "all written");
	n = 0;
	for (size_t size = 1; size < sizeof(data); n += size, size = size * 3 / 2 + 1)
		wrong += memcmp(got + n, data, size) != 0;
	is_u64(wrong, 0, "in order");
	if (f)
		fclose(f);
}

int main(void)
{
	char command[128];
	FILE *f;

	snprintf(base, sizeof(base), "/tmp/tree_output-XXXXXX");
	if (!mkdtemp(base))
		return 1;
	f = fopen(at("file"), "w");
	if (f)
		fclose(f);
	test_names();
	test_location("new", false);
	test_location("there", true);
	test_dropped();
	test_many();
	test_sizes();
	snprintf(command, sizeof(command), "rm -rf '%s'", base);
	return system(command) ? 1 : done();
}
