/* Aligned tables that fit a width. */
#include "t/unit/tap.h"

#include "common/util/screen.h"
#include "common/value/aligned.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct screen screen;

/* Write a table: a line of headings, then lines of cells; "name" and "file" are texts. */
static const char *show(const char *leaves, const char *const *line, size_t lines)
{
	static char shown[8192];
	static struct text text;
	struct output o = {.fd = memfd_create("table", 0)};
	size_t columns = strlen(leaves);
	char copy[20][300];
	struct aligned a;
	struct error e;
	ssize_t n;

	aligned_begin(&a, columns);
	a.hint = "--width=0 shows them";
	for (size_t i = 0; i < lines; i++) {
		char *p = strcpy(copy[i], line[i]), *cell;

		for (size_t k = 0; k < columns; k++) {
			cell = strsep(&p, ",");
			if (i)
				aligned_cell(&a, cell, strlen(cell), INK_PLAIN);
			else
				a.column[k] = (struct aligned_column){
					.name = cell,
					.text = !strcmp(cell, "name") || !strcmp(cell, "file"),
					.asked = leaves[k] >= 'a',
					.omit_order = (unsigned)(leaves[k] % 32) % 16,
					.optional = leaves[k] == '9',
					.unit = strcmp(cell, "self") ? NULL : "cycles"};
		}
	}
	text_init(&text, &o);
	if (aligned_write(&a, &screen, &text, &e) || text_flush(&text, &e))
		printf("# %s\n", e.what);
	n = pread(o.fd, shown, sizeof(shown) - 1, 0);
	shown[n < 0 ? 0 : n] = '\0';
	close(o.fd);
	aligned_free(&a);
	screen.remarked = false;
	return shown;
}

#define SHOW(leaves, ...)                                                                          \
	show(leaves, (const char *const[]){__VA_ARGS__},                                           \
	     sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

#define LONG "abcdefghijklmnopqrstuvwxyz0123456789"

/* The length of the longest line. */
static size_t longest(const char *shown)
{
	size_t most = 0;

	while (*shown) {
		size_t n = strcspn(shown, "\n");

		most = n > most ? n : most;
		shown += n + 1;
	}
	return most;
}

/* Write words after "12345". */
static const char *words(const char *p, size_t width, size_t indent)
{
	static char shown[1024];
	static struct text text;
	struct output o = {.fd = memfd_create("words", 0)};
	struct error e;
	ssize_t n;

	text_init(&text, &o);
	text_puts(&text, "12345");
	aligned_words(&text, p, strlen(p), width, indent, 5);
	if (text_flush(&text, &e))
		printf("# %s\n", e.what);
	n = pread(o.fd, shown, sizeof(shown) - 1, 0);
	shown[n < 0 ? 0 : n] = '\0';
	close(o.fd);
	return shown;
}

static void test_words(void)
{
	is_str(words("a bb  ccc \001", 0, 2), "12345a bb  ccc \001", "no width: as they are");
	is_str(words("a bb  ccc dddd", 12, 2), "12345a bb\n  ccc dddd", "two lines");
	is_str(words("a bb  c", 12, 2), "12345a bb  c", "a line that is full");
	is_str(words("a bb  c ", 12, 2), "12345a bb  c\n  ", "blanks at the end");
	is_str(words("abcdefghijkl mn", 10, 4), "12345abcde\n    fghijk\n    l mn",
	       "a word that is longer than a line");
	is_str(words("\303\244\303\244\303\244 \001b", 8, 0), "12345\303\244\303\244\303\244\n?b",
	       "characters of two bytes, and none");
	is_str(words("abcdef", 5, 9), "12345\n  abc\n  def", "an indent of more than the line");
	is_str(words("", 5, 0), "12345", "nothing");
}

/* EastAsianWidth.txt of Unicode has U+65E5 and U+672C as W; U+0301 is a combining accent. */
static void test_wide(void)
{
	screen = (struct screen){.width = 22};
	is_str(SHOW("000", "total,name,n", "1 ms,日本,2", "1 ms,e\u0301,3"),
	       "total  name  n\n 1 ms  日本  2\n 1 ms  e\u0301     3\n",
	       "columns after a wide text and an accent");
	is_str(SHOW("00", "total,name", "1 ms,日本日本日本日本日本"),
	       "total  name\n 1 ms  日本日...本日本\n", "15 columns: 6, 3 and 6");
	screen.width = 21;
	is_str(SHOW("00", "total,name", "1 ms,日本日本日本日本日本"),
	       "total  name\n 1 ms  日本日... 日本\n", "half of a wide character is a blank");
	is_str(SHOW("00", "total,name", "1 ms,abcdee\u0301fghijklmnopqe\u0301"),
	       "total  name\n 1 ms  abcdee\u0301...nopqe\u0301\n",
	       "an accent goes with its letter");
	screen.width = 22;
	is_str(SHOW("00", "total,name", "1 ms,x日本日本日本日本日本"),
	       "total  name\n 1 ms  x日本 ...本日本\n", "so is one before the dots");
	is_str(words("日本日 本", 8, 0), "12345日\n本日 本", "words");
	screen = (struct screen){0};
}

int main(void)
{
	test_words();
	test_wide();
	screen = (struct screen){0};
	is_str(SHOW("0120", "total,p50,avg,name", "1 ms,2 ms,333 ms," LONG, ",,,b"),
	       "total   p50     avg  name\n"
	       " 1 ms  2 ms  333 ms  " LONG "\n"
	       "                     b\n",
	       "no width: nothing is left out");
	screen.width = 31;
	is_str(SHOW("0210", "total,p50,avg,name", "1 ms,2 ms,333 ms," LONG),
	       "total     avg  name\n"
	       " 1 ms  333 ms  abcdefg...456789\n"
	       "... left out at this width:\n"
	       "p50; --width=0 shows them\n",
	       "the least important column is left out, then the text is shortened");
	is_str(SHOW("0ba0", "total,p50,avg,name", "1 ms,2 ms,333 ms," LONG),
	       "total     avg  name\n"
	       " 1 ms  333 ms  abcdefg...456789\n"
	       "... left out at this width:\n"
	       "p50; --width=0 shows them\n",
	       "so is one that was asked for, where the text is too short else");
	screen.width = 38;
	is_str(SHOW("0ba0", "total,p50,avg,name", "1 ms,2 ms,333 ms," LONG),
	       "total   p50     avg  name\n"
	       " 1 ms  2 ms  333 ms  abcdefg...3456789\n",
	       "and not otherwise");
	is_str(SHOW("0900", "total,p50,self,name", "1 ms,,3,b"),
	       "total  self [cycles]  name\n"
	       " 1 ms              3  b\n",
	       "an empty optional column, and a unit");
	is_str(SHOW("00", "total,name"), "total  name\n", "no rows");
	for (screen.width = 1; screen.width < 60; screen.width++) {
		size_t most =
			longest(SHOW("0ba2100", "1,p50,avg,max,p99,name,file",
				     "1 ms,2 ms,333 ms,444 ms,1," LONG "," LONG, "1,2,3,4,5,b,c"));

		if (screen.width >= 27 && most > screen.width)
			printf("# %zu at width %u\n", most, screen.width);
		ok(screen.width < 27 || most <= screen.width, "width");
	}
	screen = (struct screen){.height = 4};
	is_str(SHOW("0", "n", "1", "2", "3"), "n\n1\n2\nn\n3\n", "the heading again");
	screen = (struct screen){.color = true};
	is_str(SHOW("0", "n", "1"), "\033[1mn\033[0m\n1\n", "an ink");
	return done();
}
