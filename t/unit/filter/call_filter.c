/* links: cmd/trfilter */
/* Whole calls: the fast loop, the slow one and the temporary file agree; both halves, balance,
 * what is around a match. That the calls are the right ones: t/filter_calls.bats, by a model. */
#include "t/unit/filter_run.h"

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
	"kind == leave || dur > 100",
	"!(kind == leave && dur > 100) && children < 3",
	"kind == enter && caller == 'f2' || kind == leave && self > 40",
	"dur > 20 && !(kind == enter && (arg.1 > 3 || under('f1')))",
};

enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

static struct list all, one, other;

static void agree(const char *from, const char *what, const char *expression)
{
	static const struct how hows[] = {{.memory = NEVER},
					  {.memory = 0},
					  {.memory = 5000},
					  {.memory = 0, .slow = true},
					  {.memory = 50000, .slow = true}};
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
		good = same(&one, &other) &&
		       (strstr(expressions[i], "kind") || one.open <= all.open);
		deep = (struct how){.memory = NEVER, .before = 3, .after = 2, .within = 40};
		run(from, expressions[i], deep, in_dir("one"));
		read_rows(in_dir("one"), &one);
		deep.memory = 0;
		run(from, expressions[i], deep, in_dir("other"));
		read_rows(in_dir("other"), &other);
		snprintf(title, sizeof title, "%s: %s with callers, with context", what,
			 expressions[i]);
		ok(good && same(&one, &other), title);
		snprintf(title, sizeof title, "%s: %s with context is balanced", what,
			 expressions[i]);
		ok(strstr(expressions[i], "kind") ||
			   (one.unmatched <= all.unmatched && one.open <= all.open),
		   title);
	}
}

/* Rows of a stream that are within reach of a match, with the other rows of their calls, the plain
 * way. */
static void around(const char *from, struct how how)
{
	static bool near[ROWS], kept[ROWS];
	size_t j = 0, n = 0;
	char title[200];

	run(from, "name == 'f4'", (struct how){.memory = NEVER}, in_dir("one"));
	read_rows(in_dir("one"), &one);
	memset(near, 0, sizeof near);
	memset(kept, 0, sizeof kept);
	for (size_t i = 0; i < all.n && j < one.n; i++) {
		if (all.row[i] != one.row[j])
			continue;
		j++;
		for (size_t k = i < how.before ? 0 : i - how.before;
		     k <= i + how.after && k < all.n; k++)
			near[k] = true;
	}
	for (size_t i = 0; i < all.n; i++)
		if (near[i])
			kept[i] = kept[all.partner[i]] = true;
	run(from, "name == 'f4'", how, in_dir("other"));
	read_rows(in_dir("other"), &other);
	for (size_t i = 0; i < all.n; i++)
		if (kept[i] && (n >= other.n || other.row[n++] != all.row[i]))
			break;
	snprintf(title, sizeof title,
		 "rows around a match, with their partners: %d before, %d behind", (int)how.before,
		 (int)how.after);
	ok(j == one.n && n == other.n && n > one.n, title);
}

/* How the rows are cut into blocks does not matter, nor how many of them wait in memory. */
static void borders(const char *from, bool bare, uint32_t seed, const char *what)
{
	static const uint32_t blocks[] = {5, 200, 2000};
	static const struct how hows[] = {
		{.memory = NEVER, .before = 1},
		{.memory = NEVER, .before = 40},
		{.memory = 5000, .before = 3000},
		{.memory = 0, .before = 7, .after = 9},
		{.memory = NEVER, .within = 4000},
		{.memory = 5000, .before = 100, .after = 20, .within = 300},
		{.memory = NEVER, .callers = true},
		{.memory = 0, .callers = true, .depth = 3},
		{.memory = NEVER, .callers = true, .before = 50, .after = 5},
		{.memory = NEVER, .before = 20, .limit = 30},
		{.memory = NEVER, .callers = true, .limit = 30},
		{.memory = 0, .callers = true, .before = 2, .after = 3, .limit = 30},
		{.memory = 5000, .before = 5, .limit = 30},
		{.memory = 2000, .before = 5, .after = 40, .limit = 3},
		{.memory = 5000, .callers = true, .limit = 30},
		{.memory = 0, .limit = 30},
	};
	enum { CUTS = sizeof blocks / sizeof *blocks, HOWS = sizeof hows / sizeof *hows };
	char cut[CUTS][100], title[200];

	for (size_t i = 0; i < CUTS; i++) {
		snprintf(cut[i], sizeof cut[i], "%s/cut%zu", dir, i);
		make_blocks(cut[i], bare, seed, blocks[i]);
	}
	for (size_t i = 0; i < EXPRESSIONS; i++) {
		const char *expression = expressions[i];
		bool good = true;

		/* every one in some of the ways */
		for (size_t k = (i + seed) % 4; k < HOWS; k += 4) {
			struct how in_memory = hows[k];

			in_memory.memory = NEVER;
			run(from, expression, in_memory, in_dir("one"));
			read_rows(in_dir("one"), &one);
			run(cut[(i + k) % CUTS], expression, hows[k], in_dir("other"));
			read_rows(in_dir("other"), &other);
			good &= same(&one, &other);
			if (!same(&one, &other))
				printf("# %zu: %zu and %zu rows\n", k, one.n, other.n);
		}
		snprintf(title, sizeof title, "%s: %s is the same however the rows are cut", what,
			 expression);
		ok(good, title);
	}
}

/* The last rows before a limit are passed on though no block follows. */
static void limited(const char *from, const char *what)
{
	static const char *const conditions[] = {"name == 'f4'", "caller == 'f2'", "dur > 100"};
	static const size_t memory[] = {0, 5000, 50000};
	static const uint64_t limits[] = {1, 3, 100};
	char title[200];

	for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
		bool good = true;

		for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
			struct how how = {
				.memory = NEVER, .before = 2, .after = 1, .limit = limits[k]};

			run(from, conditions[i], how, in_dir("one"));
			read_rows(in_dir("one"), &one);
			good &= one.good && one.n > limits[k];
			for (size_t m = 0; m < sizeof memory / sizeof *memory; m++) {
				how.memory = memory[m];
				run(from, conditions[i], how, in_dir("other"));
				read_rows(in_dir("other"), &other);
				good &= same(&one, &other);
			}
		}
		snprintf(title, sizeof title, "%s: %s with context, up to a limit", what,
			 conditions[i]);
		ok(good, title);
	}
}

/* Rows of calls that are kept, with those of the calls around them, the plain way. */
static void enclosing(const char *from, const char *what, const char *expression)
{
	static const size_t memory[] = {NEVER, 0, 5000, 50000};
	static bool kept[ROWS];
	static size_t open[LANES][STACK];
	size_t n[LANES] = {0}, j = 0, wanted = 0;
	char title[200];
	bool good;

	run(from, expression, (struct how){.memory = NEVER}, in_dir("one"));
	read_rows(in_dir("one"), &one);
	memset(kept, 0, sizeof kept);
	for (size_t i = 0; i < all.n; i++) {
		unsigned l = all.lane[i];
		bool enter = all.partner[i] > i || all.open_enter[i];

		if (enter)
			open[l][n[l]++] = i;
		if (j < one.n && one.row[j] == all.row[i]) {
			j++;
			kept[i] = true;
			for (size_t k = n[l]; k--;)
				kept[open[l][k]] = kept[all.partner[open[l][k]]] = true;
		}
		if (!enter)
			n[l]--;
	}
	good = j == one.n;
	for (size_t i = 0; i < all.n; i++)
		wanted += kept[i];
	for (size_t m = 0; m < sizeof memory / sizeof *memory; m++) {
		run(from, expression, (struct how){.memory = memory[m], .callers = true},
		    in_dir("other"));
		read_rows(in_dir("other"), &other);
		good &= other.good && other.n == wanted;
		for (size_t i = 0, o = 0; i < all.n && good; i++)
			good = !kept[i] || all.row[i] == other.row[o++];
	}
	snprintf(title, sizeof title, "%s: %s with callers: what is around them, and no more", what,
		 expression);
	ok(good, title);
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

/* --- what is also kept --- */

static bool contains(const struct list *more, const struct list *less)
{
	size_t i = 0;

	for (size_t k = 0; k < less->n; k++, i++) {
		while (i < more->n && more->row[i] != less->row[k])
			i++;
		if (i == more->n)
			return false;
	}
	return more->good && less->good;
}

static void supersets(const char *from, const char *what, uint32_t seed)
{
	static const char *const rows[] = {
		"kind == leave && time > 60000", "time < 90000 && kind == leave",
		"kind == leave && depth == 2",	 "depth == 2 && kind != enter && time > 20000",
		"kind == leave || time < 5000",	 "cpu == 1",
		"comm == 'a' && time > 40000",	 "name == 'f2' && kind == leave && cpu == 1",
		"kind == leave && dur > 200",	 "cpu == 1 && caller == 'f1' && kind == leave",
	};
	static const struct how hows[] = {{.memory = NEVER, .before = 1},
					  {.memory = 0, .after = 1},
					  {.memory = 5000, .within = 1},
					  {.memory = NEVER, .callers = true},
					  {.memory = 0, .callers = true, .before = 2}};
	enum { NROWS = sizeof rows / sizeof *rows, MORE = 10 };
	char text[700], title[1000];

	for (size_t i = 0; i < NROWS + MORE; i++) {
		bool good = true;

		if (i < NROWS)
			snprintf(text, sizeof text, "%s", rows[i]);
		else
			condition(text, sizeof text, &seed, 2);
		run(from, text, (struct how){.memory = NEVER}, in_dir("one"));
		read_rows(in_dir("one"), &one);
		for (size_t k = 0; k < sizeof hows / sizeof *hows; k++) {
			run(from, text, hows[k], in_dir("other"));
			read_rows(in_dir("other"), &other);
			good &= contains(&other, &one);
		}
		snprintf(title, sizeof title, "%s: %s keeps no less with what is around it", what,
			 text);
		ok(good, title);
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
	supersets(path, what, seed);
	borders(path, bare, seed, what);
	limited(path, what);
	if (!bare) /* gaps pass, and do not count; lost leaves have no partner */
		return;
	for (size_t i = 0; i < EXPRESSIONS; i++)
		if (!strstr(expressions[i], "kind"))
			enclosing(path, what, expressions[i]);
	around(path, (struct how){.memory = 3000, .before = 3, .after = 2});
	around(path, (struct how){.memory = 0, .before = 1});
	around(path, (struct how){.memory = NEVER, .after = 7});
	around(path, (struct how){.memory = 50000, .before = 400, .after = 1});
}

/* More cases by their number. */
int main(int argc, char **argv)
{
	uint32_t more = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
	char command[200];

	if (!mkdtemp(dir))
		return 1;
	everything(3, true, "calls");
	everything(4, false, "all sorts");
	for (uint32_t i = 0; i < more; i++)
		everything(5 + i, i & 1, i & 1 ? "more calls" : "more of all sorts");
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command) ? 1 : done();
}
