/* links: cmd/trfilter */
/* Whole calls: the fast loop, the slow one and the temporary file agree; both halves, balance,
 * what is around a match. */
#include "cmd/trfilter/emit.h"

#include "filter_streams.h"

struct how {
	bool invert, callers, slow;
	size_t memory; /* bytes that may wait there */
	uint64_t before, after, within;
	uint32_t depth; /* 0: any */
};

/* Returns how many events there are. */
static uint64_t run(const char *from, const char *expression, struct how how, const char *to)
{
	struct common_options common = {.output = to, .quiet = true};
	char *paths[] = {(char *)from}, *argv[] = {(char *)"trfilter", NULL};
	struct context context = {.before = how.before,
				  .after = how.after,
				  .within = how.within,
				  .limit = UINT64_MAX};
	struct emit x = {NULL, context_any(&context) ? &context : NULL, true, UINT64_MAX, 0};
	struct whole w = {.waiting.fd = -1};
	struct filter f;
	struct stage s;
	struct block b;
	struct error e;
	int bad = filter_compile(&f, expression, &e);

	x.stage = &s;
	if (bad)
		printf("# %s: %s\n", expression, e.what);
	context_init(&context, how.memory);
	if (!bad && !stage_open(&s, paths, 1, &common) && !stage_create(&s, 1, argv)) {
		f.evaluation.dictionary = &s.in.dictionary;
		bad = whole_init(&w, &f, how.memory, &e);
		w.invert = how.invert;
		w.callers = how.callers;
		w.max_depth = how.depth ? how.depth : UINT32_MAX;
		w.waiting.dropped = x.context ? ROW_ASIDE : ROW_DROP;
		if (!how.slow)
			whole_plain_init(&w);
		s.holds = true;
		while (!bad && stage_next(&s, &b))
			bad = emit_whole(&x, &w, &b);
		bad = bad || emit_whole(&x, &w, NULL);
		if (stage_finish(&s) || bad)
			printf("# %s: failed\n", expression);
		whole_free(&w);
	}
	context_free(&context);
	filter_free(&f);
	return x.matched;
}

static const char *const expressions[] = {
	"dur > 100",
	"dur > 20 && dur <= 3000",
	"dur < 60",
	"dur > 300 && name == 'f1'",
	"dur >= 64 && tid == 10",
	"dur == 0 || dur > 5000",
	"!(dur > 100)",
	"self > 40",
	"children > 2",
	"children == 0",
	"caller == 'f2'",
	"under('f1')",
	"over('f3')",
	"over('f3') && !under('f1') || self > 1000",
	"stack =~ 'f1;f2$'",
	"ret == 1 || has(arg.1)",
	"dur > 500 || name == 'tick'",
	"dur > 50 && kind == leave",
	"under(depth > 1 && name != 'f1') || has(self)",
};

enum { EXPRESSIONS = sizeof expressions / sizeof *expressions, NEVER = 1 << 30 };

static struct list all, one, other;

static bool same(const struct list *a, const struct list *b)
{
	return a->good && b->good && a->n == b->n && !memcmp(a->row, b->row, a->n * sizeof *a->row);
}

static void agree(const char *from, const char *what, const char *expression)
{
	static const struct how hows[] = {{.memory = NEVER},
					  {.memory = 0},
					  {.memory = 5000},
					  {.memory = 0, .slow = true},
					  {.memory = 100000, .slow = true}};
	uint64_t n =
		run(from, expression, (struct how){.memory = NEVER, .slow = true}, in_dir("one"));
	char title[200];
	bool good = true, row = strstr(expression, "kind");

	read_rows(in_dir("one"), &one);
	for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
		good &= run(from, expression, hows[i], in_dir("other")) == n;
		read_rows(in_dir("other"), &other);
		good &= same(&one, &other);
	}
	snprintf(title, sizeof title, "%s: %s, however it is done", what, expression);
	ok(good && n == one.n - one.gaps, title);
	snprintf(title, sizeof title, "%s: %s is balanced", what, expression);
	ok(row || (one.unmatched <= all.unmatched && one.open <= all.open), title);
	n += run(from, expression, (struct how){.memory = 1000, .invert = true}, in_dir("other"));
	snprintf(title, sizeof title, "%s: %s and its inverse are all", what, expression);
	ok(n == all.n - all.gaps, title);
}

static void others(const char *from, const char *what)
{
	char title[200];

	for (size_t i = 0; i < EXPRESSIONS; i++) {
		struct how deep = {.memory = NEVER, .callers = true, .depth = 4};
		bool good;

		run(from, expressions[i], deep, in_dir("one"));
		read_rows(in_dir("one"), &one);
		deep.memory = 0;
		run(from, expressions[i], deep, in_dir("other"));
		read_rows(in_dir("other"), &other);
		good = same(&one, &other) && one.open <= all.open;
		deep = (struct how){.memory = NEVER, .before = 3, .after = 2, .within = 40};
		run(from, expressions[i], deep, in_dir("one"));
		read_rows(in_dir("one"), &one);
		deep.memory = 0;
		run(from, expressions[i], deep, in_dir("other"));
		read_rows(in_dir("other"), &other);
		snprintf(title, sizeof title, "%s: %s with callers, with context", what,
			 expressions[i]);
		ok(good && same(&one, &other), title);
	}
}

/* Rows of a stream that are within reach of a match, the plain way. */
static void around(const char *from)
{
	static bool kept[ROWS];
	size_t j = 0, n = 0;

	run(from, "name == 'f4'", (struct how){.memory = NEVER}, in_dir("one"));
	read_rows(in_dir("one"), &one);
	memset(kept, 0, sizeof kept);
	for (size_t i = 0; i < all.n && j < one.n; i++) {
		if (all.row[i] != one.row[j])
			continue;
		j++;
		for (size_t k = i < 3 ? 0 : i - 3; k <= i + 2 && k < all.n; k++)
			kept[k] = true;
	}
	run(from, "name == 'f4'", (struct how){.memory = 3000, .before = 3, .after = 2},
	    in_dir("other"));
	read_rows(in_dir("other"), &other);
	for (size_t i = 0; i < all.n; i++)
		if (kept[i] && (n >= other.n || other.row[n++] != all.row[i]))
			break;
	ok(j == one.n && n == other.n && n > one.n, "rows before and behind a match");
}

/* --- what && and || mean, whatever they join --- */

static const char *const atoms[] = {
	"name == 'f1'", "name =~ '[23]'", "caller == 'f2'", "caller != 'f1'",	  "under('f1')",
	"over('f3')",	"depth == 1",	  "tid == 10",	    "dur > 60",		  "dur <= 900",
	"self > 30",	"children < 2",	  "children == 0",  "stack =~ 'f1;f2;?'", "arg.1 > 3",
	"has(ret)",	"cpu == 1",	  "time > 100000",  "stack != 'f2'",	  "'a' == comm",
};

static void condition(char *text, size_t size, uint32_t *seed, int deep)
{
	char a[300], b[300];
	uint32_t x = next(seed);

	if (!deep || x % 5 == 0) {
		snprintf(text, size, "%s", atoms[(x >> 8) % (sizeof(atoms) / sizeof(*atoms))]);
		return;
	}
	condition(a, sizeof a, seed, deep - 1);
	if (x % 5 == 1) {
		snprintf(text, size, "!(%s)", a);
		return;
	}
	condition(b, sizeof b, seed, deep - 1);
	snprintf(text, size, "(%s %s %s)", a, x % 5 == 2 ? "||" : "&&", b);
}

/* The rows are in *to. */
static uint64_t count_of(const char *from, struct list *to, const char *form, const char *a,
			 const char *b)
{
	char text[2000];
	uint64_t n;

	snprintf(text, sizeof text, form, a, b, a, b);
	n = run(from, text, (struct how){.memory = NEVER}, in_dir("one"));
	read_rows(in_dir("one"), to);
	return n;
}

static void algebra(const char *from, const char *what, uint32_t seed)
{
	enum { PAIRS = 16 };
	char a[700], b[700], title[1600];

	for (int i = 0; i < PAIRS; i++) {
		uint64_t na, nb, both, either, nots;

		condition(a, sizeof a, &seed, i & 1);
		condition(b, sizeof b, &seed, 1 + (i & 1));
		na = count_of(from, &one, "%s", a, b);
		nb = count_of(from, &one, "%s", b, a);
		either = count_of(from, &one, "%s || %s", a, b);
		both = count_of(from, &one, "%s && %s", a, b);
		snprintf(title, sizeof title, "%s: %s, %s: both and either are as many as each",
			 what, a, b);
		ok(both + either == na + nb, title);
		count_of(from, &other, "(%s && %s) || dur > 100h", a, b);
		snprintf(title, sizeof title, "%s: %s && %s is the same in parts and as a whole",
			 what, a, b);
		ok(same(&one, &other), title);
		nots = count_of(from, &one, "!(%s && %s)", a, b);
		count_of(from, &other, "!(%s) || !(%s)", a, b);
		snprintf(title, sizeof title, "%s: !(%s && %s) is its inverse", what, a, b);
		ok(same(&one, &other) && both + nots == all.n - all.gaps, title);
	}
}

static void everything(uint32_t seed, bool bare, const char *what)
{
	char path[100];

	snprintf(path, sizeof path, "%s/in", dir);
	make(path, bare, seed);
	read_rows(path, &all);
	for (size_t i = 0; i < EXPRESSIONS; i++)
		agree(path, what, expressions[i]);
	others(path, what);
	algebra(path, what, seed);
	if (bare) /* gaps pass, and do not count */
		around(path);
}

int main(void)
{
	char command[200];

	if (!mkdtemp(dir))
		return 1;
	everything(3, true, "calls");
	everything(4, false, "all sorts");
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command) ? 1 : done();
}
