/* links: cmd/trdecode */
/* A window over a file: ends, large pieces, files that change while they are read. */
#include "cmd/trdecode/input.h"
#include "t/unit/uftrace_dir.h"

enum { SIZE = 1000 };

/* Byte i of the file */
static uint8_t byte_of(size_t i)
{
	return (uint8_t)(i * 7 + i / 256);
}

static bool are_bytes(const uint8_t *p, size_t from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != byte_of(from + i))
			return false;
	return true;
}

static void make_file(const char *dir, size_t size)
{
	uint8_t bytes[SIZE];

	for (size_t i = 0; i < size; i++)
		bytes[i] = byte_of(i);
	dir_write_bytes(dir, "file", bytes, size);
}

/* Read in pieces of many sizes, beyond the capacity too. */
static void test_pieces(const struct tree *t, bool keep)
{
	struct file_window w;
	struct error e;
	bool same = true;
	size_t have, n = 1;
	uint8_t peeked[8];

	ok(!window_open(&w, t, "file", 64, keep, &e), "a file is opened");
	for (size_t at = 0; at < SIZE; at += have, n = n * 5 % 231 + 1) {
		ssize_t got = window_need(&w, n, &e);
		const uint8_t *p = window_at(&w);

		have = got > 0 && (size_t)got > n ? n : (size_t)got;
		same &= got >= 0 && have == (SIZE - at < n ? SIZE - at : n) &&
			are_bytes(p, at, have) && w.offset == at;
		if (!same || !have)
			break;
		window_skip(&w, have);
	}
	ok(same, "pieces of any size");
	is_u64((uint64_t)window_need(&w, 1, &e), 0, "no byte follows the last");
	window_seek(&w, 100);
	ok(window_need(&w, 8, &e) >= 8 && are_bytes(window_at(&w), 100, 8), "back to an offset");
	ok(window_peek(&w, SIZE - 8, peeked, 8) && are_bytes(peeked, SIZE - 8, 8),
	   "peek at the end");
	ok(!window_peek(&w, SIZE - 7, peeked, 8) && !window_peek(&w, SIZE, peeked, 1),
	   "not beyond the end");
	window_close(&w);
}

/* The file becomes shorter, and vanishes, while it is read. */
static void test_changes(const char *dir, const struct tree *t)
{
	struct file_window w;
	char path[PATH_MAX];
	struct error e;

	if (window_open(&w, t, "file", 64, false, &e))
		exit(99);
	is_u64((uint64_t)window_need(&w, 64, &e), 64, "a window of bytes");
	make_file(dir, 100);
	is_u64((uint64_t)window_need(&w, 500, &e), 100, "a shorter file ends early");
	window_skip(&w, 64);
	is_u64((uint64_t)window_need(&w, 64, &e), 36, "after a skip too");
	window_close(&w);

	make_file(dir, SIZE);
	if (window_open(&w, t, "file", 64, false, &e))
		exit(99);
	make_file(dir, 0);
	is_u64((uint64_t)window_need(&w, 64, &e), 0, "an empty file has no bytes");
	is_u64(w.size, 0, "and its size is known");
	window_close(&w);

	make_file(dir, SIZE);
	if (window_open(&w, t, "file", 64, false, &e) || window_need(&w, 64, &e) != 64)
		exit(99);
	snprintf(path, sizeof path, "%s/file", dir);
	unlink(path);
	ok(window_need(&w, 500, &e) < 0 && strstr(e.what, "cannot open"),
	   "a file that was removed");
	window_skip(&w, 64);
	ok(window_need(&w, 1, &e) < 0, "after a skip too");
	window_close(&w);
	ok(window_open(&w, t, "file", 64, true, &e) < 0, "it cannot be opened again");
}

int main(void)
{
	char *dir = dir_new();
	struct tree *t;
	struct error e;

	make_file(dir, SIZE);
	t = tree_open_near(dir, &e);
	if (!t)
		exit(99);
	test_pieces(t, true);
	test_pieces(t, false);
	test_changes(dir, t);
	tree_close(t);
	dir_remove(dir);
	return done();
}
