/* Strings and numbers of JSON, UTF-8 made valid, cells of csv and tsv. */
#include "common/value/json.h"

#include <math.h>
#include <stdlib.h>

#include "common/value/delimited.h"
#include "common/util/text.h"
#include "t/unit/tap.h"

static struct buffer b;

static const char *made(int r)
{
	static char text[256];
	size_t n = b.size < sizeof text - 1 ? b.size : sizeof text - 1;

	ok(!r, "no error");
	memcpy(text, b.data, n);
	text[n] = '\0';
	b.size = 0;
	return text;
}

static const char *string(const char *p, size_t n)
{
	return made(json_append_string(&b, p, n));
}

#define S(literal) literal, sizeof(literal) - 1

static void test_strings(void)
{
	is_str(string(S("")), "\"\"", "empty");
	is_str(string(S("plain text")), "\"plain text\"", "plain");
	is_str(string(S("a\"b\\c")), "\"a\\\"b\\\\c\"", "quote and backslash");
	is_str(string(S("\b\f\n\r\t")), "\"\\b\\f\\n\\r\\t\"", "short escapes");
	is_str(string(S("\0\x1f\x7f")), "\"\\u0000\\u001f\\u007f\"", "controls");
	is_str(string(S("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80")),
	       "\"na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80\"", "UTF-8 stays");
	is_str(string(S("a\xff"
			"b")),
	       "\"a\xef\xbf\xbd"
	       "b\"",
	       "a bad byte");
	is_str(string(S("\xe2\x82")), "\"\xef\xbf\xbd\xef\xbf\xbd\"", "a character that is cut");
	is_str(string(S("\xed\xa0\x80")), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"",
	       "a surrogate");
}

static void test_numbers(void)
{
	is_str(made(json_append_real(&b, 0.1)), "0.1", "0.1");
	is_str(made(json_append_real(&b, 1.0 / 3)), "0.3333333333333333", "a third");
	is_str(made(json_append_real(&b, -2.5e300)), "-2.5e+300", "large");
	is_str(made(json_append_real(&b, NAN)), "\"nan\"", "NaN is a string");
	is_str(made(json_append_real(&b, -INFINITY)), "\"-inf\"", "so is infinity");
}

static void test_utf8(void)
{
	is_str(made(utf8_append(&b, S("ok"))), "ok", "ASCII");
	is_str(made(utf8_append(&b, S("\xff"
				      "x\xc3"))),
	       "\xef\xbf\xbdx\xef\xbf\xbd", "bad bytes");
	is_str(made(utf8_append(&b, S("\xc3\xa9\xe2"))), "\xc3\xa9\xef\xbf\xbd", "cut");
}

static void test_cells(void)
{
	is_str(made(csv_append(&b, S("plain"))), "plain", "csv: plain");
	is_str(made(csv_append(&b, S(""))), "\"\"", "csv: empty text");
	is_str(made(csv_append(&b, S("a,b"))), "\"a,b\"", "csv: comma");
	is_str(made(csv_append(&b, S("say \"x\"\n"))), "\"say \"\"x\"\"\n\"", "csv: quotes");
	is_str(made(tsv_append(&b, S("a\tb\nc\rd\\e"))), "a\\tb\\nc\\rd\\\\e", "tsv");
}

int main(void)
{
	test_strings();
	test_numbers();
	test_utf8();
	test_cells();
	buffer_free(&b);
	return done();
}
