/* links: cmd/trfilter */
/* Streams through filters: parts one after the other, both halves, calls kept whole, limits, ends.
 */
#include "cmd/trfilter/run.h"

#include "t/unit/filter_streams.h"

/* Returns the number of calls and events that matched. */
static uint64_t run(const char *from, const char *expression, bool invert, uint64_t limit,
		    const char *to)
{
	struct common_options common = {.output = to, .quiet = true};
	char *paths[] = {(char *)from}, *argv[] = {(char *)"trfilter", NULL};
	struct select select = {.invert = invert};
	struct results results;
	struct filter f;
	struct emit_rows x = {0};
	struct stage s;
	struct block b;
	struct error e;

	if (filter_compile(&f, expression, &e)) {
		printf("# %s: %s\n", expression, e.what);
		filter_free(&f);
		return UINT64_MAX;
	}
	select.filter = &f;
	if (!stage_open(&s, paths, 1, &common) && !stage_create(&s, 1, argv)) {
		f.evaluation.dictionary = &s.in.dictionary;
		emit_rows_init(&x, &s, &select);
		results_init(&results, limit, &s.in.dictionary);
		x.results = &results;
		while (!emit_rows_done(&x) && stage_next(&s, &b))
			if (b.kind == BLOCK_EVENTS && emit_block(&x, &b))
				break;
	}
	if (stage_finish(&s))
		printf("# %s: failed\n", expression);
	emit_rows_free(&x);
	select_free(&select);
	filter_free(&f);
	results_free(&results);
	return results.count;
}

static const char *const expressions[] = {
	"name == 'f1'",
	"name =~ '[02]' || name == 'tick'",
	"name != 'f9'",
	"name != 'f4'",
	"name == 'f4' || name == 'tick'",
	"tid == 10",
	"tid == 10 && name == 'f2'",
	"type == 'exit' || tid == 11",
	"depth < 2",
	"time > 4000000",
	"time > 4000000 && module == 'l.so'",
	"kind == leave",
	"kind == enter",
	"!(kind == enter) || depth > 1",
	"has(arg.1)",
	"arg.1 < 4 || cpu in {0, 2}",
	"cpu == 1",
	"1",
	"0",
	"address == 0x1003",
};

enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

static struct list all, one, other, both;

static bool same(const struct list *a, const struct list *b)
{
	return a->good && b->good && a->n == b->n && !memcmp(a->row, b->row, a->n * sizeof *a->row);
}

/* Is the stream made of the two, which have the gaps in common? */
static bool merged(void)
{
	size_t i = 0, j = 0;

	for (size_t k = 0; k < all.n; k++) {
		bool in_one = i < one.n && one.row[i] == all.row[k];
		bool in_other = j < other.n && other.row[j] == all.row[k];

		if (!in_one && !in_other)
			return false;
		i += in_one;
		j += in_other;
	}
	return i == one.n && j == other.n && one.n + other.n == all.n + all.gaps &&
	       one.gaps == all.gaps && other.gaps == all.gaps;
}

static void properties(const char *from, const char *what)
{
	char joined[200], title[300];

	for (size_t i = 0; i < EXPRESSIONS; i++) {
		int wrong = 0;

		run(from, expressions[i], false, UINT64_MAX, in_dir("one"));
		run(from, expressions[i], true, UINT64_MAX, in_dir("other"));
		read_rows(from, &all);
		read_rows(in_dir("one"), &one);
		read_rows(in_dir("other"), &other);
		snprintf(title, sizeof title, "%s: %s and its inverse are all", what,
			 expressions[i]);
		ok(one.good && other.good && merged(), title);
		for (size_t j = 0; j < EXPRESSIONS; j++) {
			snprintf(joined, sizeof joined, "(%s) && (%s)", expressions[i],
				 expressions[j]);
			run(from, joined, false, UINT64_MAX, in_dir("both"));
			run(in_dir("one"), expressions[j], false, UINT64_MAX, in_dir("other"));
			read_rows(in_dir("both"), &both);
			read_rows(in_dir("other"), &other);
			if (!same(&both, &other)) {
				printf("# %s\n", joined);
				wrong++;
			}
		}
		snprintf(title, sizeof title, "%s: %s and another are one after the other", what,
			 expressions[i]);
		ok(!wrong, title);
	}
}

/* A stream of whole calls stays one. */
static void balance(const char *from)
{
	static const char *const conditions[] = {"depth > 1 && depth < 4", "time > 40000",
						 "name == 'f3' || time < 90000", "!(depth == 2)"};
	char title[100];

	read_rows(from, &all);
	for (size_t i = 0; i < 4; i++) {
		run(from, conditions[i], false, UINT64_MAX, in_dir("one"));
		read_rows(in_dir("one"), &one);
		snprintf(title, sizeof title, "balanced: %s", conditions[i]);
		ok(one.good && one.n && one.n < all.n && !one.unmatched && one.open <= all.open,
		   title);
	}
}

/* Is one the first n calls and events of all, where no leave is lost? */
static bool is_first(uint64_t n)
{
	static bool kept[ROWS];
	uint64_t count = 0, open = 0;
	size_t j = 0;

	for (size_t i = 0; i < all.n && (count < n || open); i++) {
		bool gap = all.kind[i] == KIND_GAP, leave = all.partner[i] < i;

		kept[i] = leave ? kept[all.partner[i]] : gap || count < n;
		count += kept[i] && !leave && !gap;
		open += kept[i] && all.partner[i] > i;
		open -= kept[i] && leave;
		if (kept[i] && (j == one.n || one.row[j++] != all.row[i]))
			return false;
	}
	return j == one.n;
}

/* Are the rows of one some of all? */
static bool is_part(void)
{
	size_t j = 0;

	for (size_t i = 0; i < all.n; i++)
		j += j < one.n && one.row[j] == all.row[i];
	return j == one.n;
}

static void limits(const char *from, bool leaves_lost)
{
	uint64_t whole = run(from, "tid == 10", false, UINT64_MAX, in_dir("all"));

	read_rows(in_dir("all"), &all);
	for (uint64_t n = 0; n < 9000; n = 3 * n + 1) {
		uint64_t want = n < whole ? n : whole;
		char title[60];

		is_u64(run(from, "tid == 10", false, n, in_dir("one")), want, "so many matched");
		read_rows(in_dir("one"), &one);
		snprintf(title, sizeof title, "the first %" PRIu64 " of them", n);
		ok(one.good && (leaves_lost ? is_part() : is_first(n)), title);
	}
}

int main(void)
{
	char command[200], bare[100], mixed[100];

	if (!mkdtemp(dir))
		return 1;
	snprintf(bare, sizeof bare, "%s/bare", dir);
	snprintf(mixed, sizeof mixed, "%s/mixed", dir);
	make(bare, true, 1);
	make(mixed, false, 2);
	properties(bare, "bare");
	properties(mixed, "mixed");
	balance(bare);
	limits(bare, false);
	limits(mixed, true);
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command) ? 1 : done();
}
