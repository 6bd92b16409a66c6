/* links: cmd/trfilter */
/* The language of conditions: what is understood as what, and what is refused where. */
#include "cmd/trfilter/rows.h"
#include "common/util/text.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/util/text.h"
#include "t/unit/tap.h"

/* A condition as it was understood: the first line of --explain, without "keep ". */
static const char *understood(const char *text)
{
	static char line[512];
	static struct text t;
	struct output out;
	struct filter f;
	struct error e;
	char path[] = "/tmp/filter_parse.XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "r");

	line[0] = '\0';
	if (filter_compile(&f, text, &e)) {
		snprintf(line, sizeof line, "%s", e.what);
	} else if (file && !output_open(&out, path, OUTPUT_TEXT, &e)) {
		text_init(&t, &out);
		explain_filter(&t, &f, false);
		text_flush(&t, &e);
		output_close(&out, 0, &e);
		file = freopen(path, "r", file);
		if (!file || !fgets(line, sizeof line, file))
			line[0] = '\0';
	}
	filter_free(&f);
	if (file)
		fclose(file);
	unlink(path);
	line[strcspn(line, "\n")] = '\0';
	return strncmp(line, "keep ", 5) ? line : line + 5;
}

#define UNITS		 "units are ns us ms s m min h and K M G T kB MB GB TB"
#define same(text, want) is_str(understood(text), want, text)
#define refused(text, column, why)                                                                 \
	is_str(understood(text), "expression, column " #column ": " why, "refused: " text)

static void values(void)
{
	same("time > 1.5ms", "time > 1500000ns");
	same("time>2s", "time > 2000000000ns");
	same("time == 1min", "time == 60000000000ns");
	same("time < 0.000001h", "time < 3600000ns");
	same("time < 0.5ns", "time < 0.5ns");
	same("x == 4KiB", "field(\"x\") == 4096");
	same("x == 4K", "field(\"x\") == 4096");
	same("x == 4kB", "field(\"x\") == 4000");
	same("x == 1.5GB", "field(\"x\") == 1500000000");
	same("x == 0xffffffffffffffff", "field(\"x\") == 18446744073709551615");
	same("x == 18446744073709551615", "field(\"x\") == 18446744073709551615");
	same("x == -9223372036854775808", "field(\"x\") == -9223372036854775808");
	same("x == -0", "field(\"x\") == 0");
	refused("x == 18446744073709551616", 6, "the number is too large for 64 bits");
	refused("x == -9223372036854775809", 6, "the number is too large for 64 bits");
	refused("x == 99999999999999999h", 6, "the number is too large for 64 bits");
	refused("x == 3q", 6, "unknown unit 'q'; " UNITS);
	refused("x == 0x", 6, "hexadecimal digits are missing");
	refused("x == 0x1g", 6, "not a number");
	refused("x == 1.2.3", 6, "not a number");
	refused("x == 1e", 6, "unknown unit 'e'; " UNITS);
	refused("x == 1e5q", 6, "unknown unit 'q'; " UNITS);
	same("x == 1.50000000000000000000000", "field(\"x\") == 1.5");
	same("x == 2.000000000000000000000us", "field(\"x\") == 2000ns");
	same("x == 1e3 || x == 25E-1 || x == 1.5e+3us",
	     "field(\"x\") == 1000 || field(\"x\") == 2.5 || field(\"x\") == 1500000ns");
	same("x == 1.1234567890123456789", "field(\"x\") == 1.12345678901234568");
	same("comm == 'it''s'", "expression, column 13: '&&', '||' or the end expected, not ''s''");
	same("comm == 'a\\'b'", "comm == \"a'b\"");
	same("comm == \"a\\x00\\n\\\\\"", "comm == \"a\\x00\\x0a\\\\\"");
	refused("comm == 'a", 9, "the string is not closed");
	same("name =~ '\\.'", "name =~ \"\\\\.\"");
}

/* Returns what is wrong with a condition on times in ns. */
static const char *times(const char *text)
{
	static struct error e;
	struct filter f;

	e.what[0] = '\0';
	if (!filter_compile(&f, text, &e))
		expression_check_clock(f.tree, "x", false, NULL, NULL, &e);
	filter_free(&f);
	return e.what;
}

#define needs_unit(text, column, number)                                                           \
	is_str(times(text),                                                                        \
	       "x, column " #column ": a time needs a unit: " number "ns or " number "s?",         \
	       "refused: " text)
#define is_time(text) is_str(times(text), "", "accepted: " text)

static void units(void)
{
	needs_unit("time > 81", 8, "81");
	needs_unit("81 <= self", 1, "81");
	needs_unit("dur == -3", 8, "-3");
	needs_unit("time > 1e3", 8, "1000");
	needs_unit("time > 1.5 + 1", 8, "2.5");
	needs_unit("dur > 1ms / 1us", 7, "1000");
	needs_unit("tid == 1 || !(dur * 2 > 5)", 25, "5");
	needs_unit("2 * dur > 5", 11, "5");
	needs_unit("dur % 1000 < 5us", 7, "1000");
	needs_unit("dur - 7", 7, "7");
	needs_unit("time in {0, 1s, 7, 8}", 17, "7");
	is_str(times("x == 1ms + 5"), "expression, column 12: a time needs a unit: 5ns or 5s?",
	       "a sum of a time");
	is_str(times("x == 5 % 1ms"), "expression, column 6: a time needs a unit: 5ns or 5s?",
	       "a remainder of a time");
	is_time("dur > 0");
	is_time("time > 81.5 && time < 1ms * 7");
	is_time("dur / 1us > 5");
	is_time("dur / self > 5");
	is_time("(dur & 7) == 5");
	is_time("dur >> 10 > 5");
	needs_unit("time % 1s < 0.5", 13, "0.5");
	needs_unit("dur / 1000000 > 5.5", 17, "5.5");
	needs_unit("time - 1.5 > 3585.865", 14, "3585.865");
	is_time("time - 1.5 > 3s");
	is_time("dur > self * 5");
	/* multiples of counts and numbers */
	needs_unit("dur > 5 * children", 7, "5");
	needs_unit("children * children * 3 < self", 23, "3");
	needs_unit("dur > children + 81", 18, "81");
	needs_unit("time - 5 * depth > 1ms", 8, "5");
	needs_unit("time > 1.5 * depth", 8, "1.5");
	needs_unit("dur > children / 2 && tid == 1", 18, "2");
	is_str(times("dur > 5 * children + 1ms"),
	       "expression, column 7: a time needs a unit: 5ns or 5s?", "a sum of a time");
	is_time("dur > children * 5us");
	is_time("dur > 5 * children * 1us");
	is_time("dur > children");
	is_time("time > 1.5 * delay_ns");
	is_time("dur > 5 * (self / children)");
	is_time("dur > 0 * children");
	is_time("arg.time > 5");
	is_time("field('time') > 5");
	is_time("has(dur)");
	is_str(understood("time + 1.5 > 0"), "(time + 1500000000ns) > 0", "a point beside a time");
}

static void joined(void)
{
	same("a || b && c", "field(\"a\") || (field(\"b\") && field(\"c\"))");
	same("(a || b) && c", "field(\"a\") || field(\"b\")");
	same("a&&b||c&&d", "(field(\"a\") && field(\"b\")) || (field(\"c\") && field(\"d\"))");
	same("!a", "!(field(\"a\"))");
	same("!!a", "!(!(field(\"a\")))");
	same("!(a == 1)", "!(field(\"a\") == 1)");
	same("has(a)", "has(field(\"a\"))");
	same("has == 1", "field(\"has\") == 1");
	same("in in {in}", "field(\"in\") in {\"in\"}");
	same("a in {3, 1, foo, 'b c', -2}", "field(\"a\") in {-2, 1, 3, \"b c\", \"foo\"}");
	same("3 < depth", "3 < depth");
	same("kind == leave", "kind == \"leave\"");
	same("kind in {enter, leave}", "kind in {\"enter\", \"leave\"}");
	same("arg.1 == 1", "arg.1 == 1");
	same("arg.size == 1", "arg.size == 1");
	same("fparg.2 > 0", "fparg.2 > 0");
	same("field('the name') == 1", "field(\"the name\") == 1");
	same("field == 1", "field(\"field\") == 1");
	same("a.b == c_d", "field(\"a.b\") == field(\"c_d\")");
	refused("", 1, "the condition is empty");
	refused("  ", 3, "the condition is empty");
	refused("a ==", 5, "a field, a number or a string expected, not the end");
	refused("a == b == c", 8, "a comparison cannot be compared: join two with '&&'");
	same("(a) == 1", "field(\"a\") == 1");
	refused("(a == 1) == 1", 10, "a condition in parentheses cannot be compared");
	refused("!a == 1", 2,
		"'!' negates the next operand only: put the comparison in parentheses");
	refused("(a", 3, "')' expected, not the end");
	refused("a)", 2, "'&&', '||' or the end expected, not ')'");
	refused("a = b", 3, "'=' is not a comparison: use '=='");
	refused("a in {}", 7, "a number or a string expected, not '}'");
	refused("a in {1 2}", 9, "',' or '}' expected, not '2'");
	refused("'text'", 1, "a string alone is not a condition");
	refused("name == #", 9, "unexpected '#'");
	refused("nil(3)", 1, "there is no function 'nil'");
	refused("kind == exit", 9,
		"call, enter, leave, instant, counter, sample or gap expected, not 'exit'");
	refused("arg.1234567 == 0", 1, "the number of the argument is too large");
	refused("fparg.x == 0", 1, "a number must follow 'fparg.'");
}

static void forms(void)
{
	refused("tid == 'x'", 1, "a number cannot be compared with a text");
	refused("name == 3", 1, "a text cannot be compared with a number");
	refused("name in {a, 3}", 1, "a text cannot be compared with a number");
	refused("time =~ 'x'", 1, "a number cannot be matched with a pattern: compare it");
	refused("name =~ x", 9, "a regular expression in quotes expected, not 'x'");
	refused("name =~ '('", 9,
		"regular expression '(': a '(' is not closed, or a ')' closes none; the characters "
		"are \\( and \\)");
	refused("name =~ 'a\\0'", 9, "a regular expression cannot contain a NUL");
	same("prev_pid == 'x'", "field(\"prev_pid\") == \"x\"");
}

static void whole_calls(void)
{
	same("dur>1ms||!(self<=2us)", "dur > 1000000ns || !(self <= 2000ns)");
	same("under('f')", "under(name == \"f\")");
	same("over ( name =~ 'x' && tid==1 )", "over(name =~ \"x\" && tid == 1)");
	same("caller == 'a' || stack =~ 'a;b' || has(ret) || children in {1, 2}",
	     "caller == \"a\" || stack =~ \"a;b\" || has(ret) || children in {1, 2}");
	same("under == 1 || over", "field(\"under\") == 1 || field(\"over\")");
	same("arg.a == arg.b || dur == self", "arg.a == arg.b || dur == self");
	refused("total > 1", 1, "unknown field 'total'; did you mean 'dur'?");
	refused("tid == 1 && dur(1)", 13, "there is no function 'dur'");
	refused("caller == 3", 1, "a text cannot be compared with a number");
	refused("under(3", 8, "')' expected, not the end");
	refused("under()", 7, "a field, a number or a string expected, not ')'");
	refused("under('f' 'g')", 7, "a string alone is not a condition");
	refused("over(dur > 1)", 1,
		"over() tests the enter of a call: its name, thread, time, fields or arguments");
	refused("under(under('f'))", 1,
		"under() tests the enter of a call: its name, thread, time, fields or arguments");
	refused("x == ret", 1,
		"a value of the enter cannot be compared with a value of the whole call");
	refused("arg.1 == dur", 1,
		"a value of the enter cannot be compared with a value of the whole call");
	same("field('dur') == 1", "field(\"dur\") == 1");
}

#define takes_numbers(column, sign)                                                                \
	"expression, column " #column ": '" sign                                                   \
	"' takes numbers, not conditions: use parentheses, as in (a " sign                         \
	" b) == c, or '&&' and '||'"

static void operators(void)
{
	same("a | b ^ c & d << e + f * g",
	     "(field(\"a\") | (field(\"b\") ^ (field(\"c\") & (field(\"d\") << (field(\"e\") + "
	     "(field(\"f\") * field(\"g\")))))))");
	same("a * b + c << d & e ^ f | g",
	     "((((((field(\"a\") * field(\"b\")) + field(\"c\")) << field(\"d\")) & field(\"e\")) "
	     "^ field(\"f\")) | field(\"g\"))");
	same("a - b - c == d / e % f", "((field(\"a\") - field(\"b\")) - field(\"c\")) == "
				       "((field(\"d\") / field(\"e\")) % field(\"f\"))");
	same("a-1 > -1 || a -1 > - 1", "(field(\"a\") - 1) > -1 || (field(\"a\") - 1) > -1");
	same("~a == -b", "(-1 ^ field(\"a\")) == (0 - field(\"b\"))");
	same("!~a", "!((-1 ^ field(\"a\")))");
	same("(a & 7) in {1, 2} || a & 8", "(field(\"a\") & 7) in {1, 2} || (field(\"a\") & 8)");
	same("dur > 2 * 1.5ms + 1us", "dur > 3001000ns");
	same("x == 1 << 63", "field(\"x\") == 9223372036854775808");
	same("x == 1 << 64 || x == ~5", "field(\"x\") == 0 || field(\"x\") == -6");
	same("x == 0xffffffffffffffff + 2", "field(\"x\") == 1");
	same("x == 0xffffffffffffffff * 0xffffffffffffffff", "field(\"x\") == 1");
	same("x == -9223372036854775808 - 1", "field(\"x\") == 9223372036854775807");
	same("x == -9223372036854775808 / -1", "field(\"x\") == 9223372036854775808");
	same("x == 3 - 5 || x == -7 / 2 || x == -7 % 2 || x == -8 >> 1 || x == -1 >> 70",
	     "field(\"x\") == -2 || field(\"x\") == -3 || field(\"x\") == -1 || "
	     "field(\"x\") == -4 || field(\"x\") == -1");
	same("x == 0.1 + 0.2 || x == 7 / 2.0 || x == 7 / 2 || x == 1ms / 1e6",
	     "field(\"x\") == 0.300000000000000044 || field(\"x\") == 3.5 || field(\"x\") == 3 || "
	     "field(\"x\") == 1ns");
	same("dur - self > 1ms || arg.1 % 2 == arg.2 % 2",
	     "(dur - self) > 1000000ns || (arg.1 % 2) == (arg.2 % 2)");
	is_str(understood("ret & 0x80 != 0"), takes_numbers(5, "&"), "a comparison after '&'");
	is_str(understood("a == 1 | b"), takes_numbers(8, "|"), "a comparison before '|'");
	is_str(understood("!a + 1"), takes_numbers(4, "+"), "a negation");
	is_str(understood("1 - (a && b)"), takes_numbers(3, "-"), "a condition in parentheses");
	refused("a == (b < c)", 6, "a condition cannot be compared");
	refused("a / 0", 3, "'/' is undefined for this number");
	refused("a == 3 % 0", 8, "'%' is undefined for this number");
	refused("a == 1 << -1", 8, "'<<' is undefined for this number");
	refused("a & 1.5", 3, "'&' takes integers only");
	refused("a + 'x'", 3, "'+' takes numbers, not texts");
	refused("name + 1", 6, "'+' takes numbers, not texts");
	refused("tid + 1 == 'x'", 1, "a number cannot be compared with a text");
	refused("tid + 1 =~ 'x'", 1, "a number cannot be matched with a pattern: compare it");
	refused("time + dur > 1", 1,
		"a value of the enter cannot be compared with a value of the whole call");
	refused("a +", 4, "a field, a number or a string expected, not the end");
}

static void sizes(void)
{
	enum { N = 20000 };
	char *deep = malloc(2 * N + 2), *wide = malloc(4 * N + 2);
	struct filter f;
	struct error e;

	memset(deep, '(', N);
	strcpy(deep + N, "1");
	is_str(understood(deep), "expression, column 201: nested too deeply", "20000 parentheses");
	memset(deep, '!', N);
	is_str(understood(deep), "expression, column 201: nested too deeply", "20000 times not");
	memset(deep, '~', N);
	is_str(understood(deep), "expression, column 201: nested too deeply", "20000 times ~");
	for (size_t i = 0; i < N; i++)
		memcpy(deep + 2 * i, "a+", 2);
	strcpy(deep + (size_t)2 * N, "1");
	is_str(understood(deep), "expression, column 402: nested too deeply", "20000 times +");
	for (size_t i = 0; i < N; i++)
		memcpy(wide + 4 * i, "a ||", 4);
	strcpy(wide + (size_t)4 * N, "1");
	ok(!filter_compile(&f, wide, &e), "20000 times or");
	filter_free(&f);
	for (size_t i = 0; i < N; i++)
		memcpy(wide + 4 * i, "1 &&", 4);
	ok(!filter_compile(&f, wide, &e) && f.nterms == N + 1 && f.leading == N + 1,
	   "20000 times and");
	filter_free(&f);
	free(deep);
	free(wide);
}

int main(void)
{
	values();
	units();
	joined();
	forms();
	whole_calls();
	operators();
	sizes();
	return done();
}
