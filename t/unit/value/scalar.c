/* links: cmd/trfilter */
/* Values against each other, over the edges of their types. */
#include "common/value/scalar.h"

#include "t/unit/tap.h"
#include "common/stream/dictionary.h"
#include "common/stream/stream.h"

#define U(v)	   (&(struct scalar){.form = SCALAR_UINT, .u = (v)})
#define I(v)	   (&(struct scalar){.form = SCALAR_INT, .i = (v)})
#define R(v)	   (&(struct scalar){.form = SCALAR_REAL, .real = (v)})
#define TEXT(s, n) (&(struct scalar){.form = SCALAR_TEXT, .text = (s), .size = (n)})

static void order(const struct scalar *a, const struct scalar *b, enum scalar_order want,
		  const char *what)
{
	static const enum scalar_order back[] = {
		[ORDER_NONE] = ORDER_NONE,    [ORDER_UNORDERED] = ORDER_UNORDERED,
		[ORDER_LESS] = ORDER_GREATER, [ORDER_EQUAL] = ORDER_EQUAL,
		[ORDER_GREATER] = ORDER_LESS,
	};

	is_u64(scalar_compare(a, b), want, what);
	is_u64(scalar_compare(b, a), back[want], "and the other way round");
}

static void names(void)
{
	const struct member members[] = {{{"run", 3, 1}, 1, 1},
					 {{"also", 4, 2}, 0, 1},
					 {{"sleep", 5, 3}, UINT64_MAX, UINT64_MAX}};
	const struct definition d = {.kind = DEFINITION_ENUM, .count = 3, .members = members};
	struct scalar s = *I(1), path = *TEXT("/usr/lib/libc.so.6", 18);
	const char *t;
	size_t n;
	char c;

	s.names = &d;
	order(&s, TEXT("run", 3), ORDER_EQUAL, "a number by its name");
	order(&s, TEXT("also", 4), ORDER_EQUAL, "by its other name");
	order(&s, TEXT("sleep", 5), ORDER_UNORDERED, "not by another's");
	s.i = -1;
	order(&s, TEXT("sleep", 5), ORDER_EQUAL, "a negative one");
	ok(scalar_text(&s, &c, &t, &n) && n == 5 && !memcmp(t, "sleep", 5), "its text");
	s = *U('x');
	order(&s, TEXT("x", 1), ORDER_NONE, "a number and a text");
	s.character = true;
	order(&s, TEXT("x", 1), ORDER_EQUAL, "a character");
	order(&s, TEXT("xy", 2), ORDER_LESS, "a character and a longer text");
	path.path = true;
	order(&path, TEXT("libc.so.6", 9), ORDER_EQUAL, "a path by its last part");
	order(&path, TEXT("/usr/lib/libc.so.6", 18), ORDER_EQUAL, "a path");
	order(&path, TEXT("/lib/libc.so.6", 14), ORDER_GREATER, "another path");
}

/* 0.1 as it is written, and as a float and a double hold it. */
static void fractions(void)
{
	struct scalar tenth = {.form = SCALAR_REAL,
			       .written = true,
			       .real = 0.1L,
			       .as_double = 0.1,
			       .as_float = 0.1f},
		      single = *R(0.1f), twice = *R(0.1), ten = *R(0.1L);

	single.real_size = 4;
	twice.real_size = 8;
	order(&single, &tenth, ORDER_EQUAL, "0.1 and a float");
	order(&twice, &tenth, ORDER_EQUAL, "0.1 and a double");
	order(&ten, &tenth, ORDER_EQUAL, "0.1 and more");
	order(&single, &twice, ORDER_GREATER, "a float and a double");
	order(&tenth, U(0), ORDER_GREATER, "0.1 and an integer");
}

int main(void)
{
	struct scalar none = {.form = SCALAR_NONE}, other = {.form = SCALAR_OTHER};

	order(U(1), U(2), ORDER_LESS, "unsigned");
	order(I(-1), U(0), ORDER_LESS, "-1 and 0");
	order(I(-1), U(UINT64_MAX), ORDER_LESS, "-1 and the largest");
	order(I(INT64_MAX), U((uint64_t)INT64_MAX + 1), ORDER_LESS, "around 2^63");
	order(I(INT64_MIN), I(INT64_MAX), ORDER_LESS, "signed");
	order(I(-2), I(-1), ORDER_LESS, "both negative");
	order(I(5), U(5), ORDER_EQUAL, "the same in both");
	order(U(2), R(2.5L), ORDER_LESS, "an integer and a fraction");
	order(I(-3), R(-3), ORDER_EQUAL, "-3 and -3.0");
	order(R(__builtin_nan("")), U(1), ORDER_UNORDERED, "no number");
	order(TEXT("a", 1), TEXT("a\0b", 3), ORDER_LESS, "NULs count");
	order(TEXT("\xff", 1), TEXT("a", 1), ORDER_GREATER, "bytes are unsigned");
	order(TEXT("", 0), TEXT("", 0), ORDER_EQUAL, "empty");
	order(&none, U(0), ORDER_NONE, "missing");
	order(&other, &other, ORDER_NONE, "nothing to compare");
	ok(!scalar_true(&none) && scalar_true(&other), "there or not");
	names();
	fractions();
	return done();
}
