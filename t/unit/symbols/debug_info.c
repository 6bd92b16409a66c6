/* Functions and lines of this program: at every address what addr2line -i says, damaged copies */
#include "common/symbols/debug_info.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/symbols/symbols.h"
#include "t/unit/symbols/named.h"
#include "t/unit/tap.h"

static char directory[] = "/tmp/debug_info.XXXXXX";

enum { FRAMES = 64 };

static volatile int sum;

static inline __attribute__((always_inline)) int inner(int x)
{
	sum += x;
	return x * 3;
}

static inline __attribute__((always_inline)) int middle(int x)
{
	return inner(x) + inner(x + 1);
}

int probe(int x);

enum { PROBE_LINE = __LINE__ + 2 };

__attribute__((noinline)) int probe(int x)
{
	return middle(x) + sum;
}

static void test_ranges(void)
{
	struct range_index x = {0};
	const uint64_t ranges[][2] = {{10, 100}, {20, 30}, {20, 25}, {40, 40}, {50, 60}, {10, 100}};
	const struct debug_range *r;

	for (uint32_t i = 0; i < 6; i++)
		range_index_add(&x, ranges[i][0], ranges[i][1], i);
	range_index_seal(&x);
	ok(x.count == 5, "an empty range is left out");
	ok(!range_index_find(&x, 9) && !range_index_find(&x, 100), "outside of all");
	r = range_index_find(&x, 22);
	ok(r && r->what == 2, "the innermost of three");
	r = range_index_find(&x, 27);
	ok(r && r->what == 1, "after it the next");
	r = range_index_find(&x, 40);
	ok(r && r->what == 5, "of equal ones the later");
	r = range_index_find(&x, 99);
	ok(r && r->what == 5, "after them all");
	range_index_free(&x);
}

static void test_probe(struct debug_info *d, const struct symbol *symbol)
{
	struct source_frame f;

	ok(debug_info_function(d, symbol->start, &f) == OUTCOME_YES, "the function is found");
	is_str(f.function, "probe", "its name");
	is_u64(f.line, PROBE_LINE, "its line");
	/* in the directory of the compilation, which the Makefile maps to "." */
	ok(f.file && strstr(f.file, "/t/unit/symbols/debug_info.c"), "its file");
}

static void print_frames(FILE *to, struct debug_info *d, uint64_t at)
{
	struct source_frame frames[FRAMES];
	int n = debug_info_frames(d, at, true, frames, FRAMES);
	struct source_frame f;

	debug_info_function(d, at, &f);
	for (int i = 0; i < n; i++)
		fprintf(to, "%s %u\n", frames[i].function ? frames[i].function : "??",
			frames[i].line);
	if (n < 1 || !f.function || !frames[n - 1].function ||
	    strcmp(f.function, frames[n - 1].function))
		fprintf(to, "the last function is not the one that contains the code\n");
}

/* The frames of all addresses of functions that DWARF knows, with their lines. */
static void test_addr2line(struct debug_info *d, const struct symbols *s, const char *path)
{
	char command[8192];
	FILE *addresses, *ours;

	if (system("command -v addr2line >/dev/null")) {
		ok(true, "every address as addr2line has it # SKIP no addr2line");
		return;
	}
	addresses = fopen("addresses", "w");
	ours = fopen("ours", "w");
	for (size_t i = 0; i < symbols_count(s); i++) {
		const struct symbol *symbol = symbols_at(s, i);
		struct source_frame f;

		if (symbol->type == 'P' || debug_info_function(d, symbol->start, &f) <= 0 ||
		    !f.function)
			continue;
		for (uint64_t at = symbol->start; at < symbol->start + symbol->size; at += 3) {
			fprintf(addresses, "%llx\n", (unsigned long long)at);
			print_frames(ours, d, at);
		}
	}
	fclose(addresses);
	fclose(ours);
	snprintf(command, sizeof command,
		 "addr2line -f -i -e '%s' <addresses |"
		 " awk 'NR %% 2 { f = $0; next }"
		 " { sub(/ .disc.*/, \"\"); sub(/.*:/, \"\"); print f, $0 + 0 }' | diff - ours >&2",
		 path);
	ok(!system(command), "every address as addr2line has it");
}

/* Nothing but an answer may come of it. */
static void test_damage(const char *path, const struct symbol *symbol)
{
	size_t size, failed = 0;
	FILE *f = fopen(path, "rb");
	struct stat st;
	uint8_t *data;

	stat(path, &st);
	size = (size_t)st.st_size;
	data = malloc(size);
	if (fread(data, 1, size, f) != size)
		size = 0;
	fclose(f);
	srand(1);
	for (int i = 0; i < 200 && size; i++) {
		struct source_frame frame, frames[FRAMES];
		size_t cut = i % 4 ? size : (size_t)rand() % size;
		uint8_t kept[8];
		size_t at[8];
		struct debug_info *d;
		struct error e = {.what = ""};

		for (int k = 0; k < 8; k++) {
			at[k] = (size_t)rand() % size;
			kept[k] = data[at[k]];
			data[at[k]] = (uint8_t)rand();
		}
		f = fopen("damaged", "wb");
		fwrite(data, 1, cut, f);
		fclose(f);
		d = debug_info_open("damaged", NULL, NULL, 1, &e);
		failed += !d && !e.what[0];
		if (d)
			debug_info_function(d, symbol->start, &frame);
		if (d)
			debug_info_frames(d, symbol->start + symbol->size / 2, true, frames,
					  FRAMES);
		debug_info_close(d);
		for (int k = 7; k >= 0; k--)
			data[at[k]] = kept[k];
	}
	free(data);
	ok(size && !failed, "damaged files are refused with a reason, or read");
}

int main(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	const struct symbol *symbol;
	struct debug_info *d;
	struct symbols *s;
	struct error e;

	path[n > 0 ? n : 0] = '\0';
	test_ranges();
	ok(probe(1) > 0, "the probe runs");
	s = symbols_from_elf(path, NULL, NULL, &e);
	d = debug_info_open(path, NULL, NULL, 1, &e);
	symbol = s ? symbol_named(s, "probe") : NULL;
	if (!d || !symbol || !mkdtemp(directory) || chdir(directory)) {
		ok(false, e.what);
		return done();
	}
	test_probe(d, symbol);
	test_addr2line(d, s, path);
	test_damage(path, symbol);
	ok(!debug_info_open(path, NULL, "0123456789", 1, &e) && strstr(e.what, "differs from"),
	   "a file of another build is refused");
	debug_info_close(d);
	symbols_free(s);
	if (system("rm -f addresses ours damaged") || rmdir(directory))
		ok(false, "cleaning up");
	return done();
}
