/* value.h: what is put is what is got; damaged lists end. */
#include <stdlib.h>

#include "common/value/value_text.h"

#include "t/unit/tap.h"

/* Find the argument of that index, or the return value. */
static bool values_find(const uint8_t *tail, size_t n, enum detail_kind what, uint64_t index,
			struct value *out)
{
	struct values v;
	struct detail d;
	bool found = false;

	for (values_begin(&v, tail, n); values_detail(&v, &d);)
		if (d.what == what && (what == DETAIL_RETURN || d.index == index)) {
			*out = d.value;
			found = true; /* a later detail is valid */
		}
	return found;
}

static uint32_t as_it_is(void *ctx, uint32_t definition)
{
	(void)ctx;
	return definition;
}

static uint32_t plus_1000(void *ctx, uint32_t id)
{
	(void)ctx;
	return id + 1000;
}

static struct buffer all_values(void)
{
	static const uint8_t bytes[16] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 2};
	struct buffer b = {0};

	value_put_detail(&b, DETAIL_ARGUMENT, 1);
	value_put_simple(&b, VALUE_NULL);
	value_put_detail(&b, DETAIL_ARGUMENT, 2);
	value_put_simple(&b, VALUE_TRUE);
	value_put_detail(&b, DETAIL_ARGUMENT, 3);
	value_put_uint(&b, VALUE_NEGATIVE, 5);
	value_put_detail(&b, DETAIL_ARGUMENT, 4);
	value_put_uint(&b, VALUE_UINT, UINT64_MAX);
	value_put_detail(&b, DETAIL_ARGUMENT, 5);
	value_put_float(&b, "\0\0\x80\x3f", 4);
	value_put_detail(&b, DETAIL_ARGUMENT, 6);
	value_put_float(&b, "\0\0\0\0\0\0\xf0\x3f", 8);
	value_put_detail(&b, DETAIL_ARGUMENT, 7);
	value_put_bytes(&b, VALUE_STRING, "a string", 8);
	value_put_detail(&b, DETAIL_ARGUMENT, 8);
	value_put_bytes(&b, VALUE_BLOB, "", 0);
	value_put_detail(&b, DETAIL_ARGUMENT, 9);
	value_put_enum(&b, 12, bytes, 4);
	value_put_detail(&b, DETAIL_ARGUMENT, 10);
	value_put_bitmask(&b, 300, 6);
	value_put_detail(&b, DETAIL_ARGUMENT, 11);
	value_put_array(&b, 2);
	value_put_uint(&b, VALUE_POINTER, 0x1000);
	value_put_struct(&b, 77, 1);
	value_put_enum(&b, 13, bytes, 1);
	value_put_detail(&b, DETAIL_ARGUMENT, 12);
	value_put_number(&b, 'i', bytes, 2);
	value_put_detail(&b, DETAIL_ARGUMENT, 13);
	value_put_number(&b, 'x', bytes, 2);
	value_put_detail(&b, DETAIL_ARGUMENT, 14);
	value_put_number(&b, 'f', "\0\0\0\0\0\0\0\x80\xff\x3f", 10);
	value_put_detail(&b, DETAIL_ARGUMENT, 15);
	value_put_number(&b, 'x', bytes, 16);
	value_put_detail(&b, DETAIL_RETURN, 0);
	value_put_opaque(&b, "struct s", "ABC", 3);
	return b;
}

static void test_get(const struct buffer *b)
{
	struct value v;
	struct values it;
	struct detail d;
	uint64_t n;
	long double real;
	bool sign;
	unsigned count = 0;

	for (values_begin(&it, b->data, b->size); values_detail(&it, &d);)
		count++;
	ok(count == 16 && !it.bad && it.at == it.end, "all details");
	ok(values_find(b->data, b->size, DETAIL_ARGUMENT, 3, &v) &&
		   value_integer(&v, NULL, &n, &sign) && sign && (int64_t)n == -5,
	   "a negative number");
	ok(values_find(b->data, b->size, DETAIL_ARGUMENT, 4, &v) &&
		   value_integer(&v, NULL, &n, &sign) && !sign && n == UINT64_MAX,
	   "the largest number");
	ok(values_find(b->data, b->size, DETAIL_ARGUMENT, 5, &v) && value_real(&v, &real) &&
		   real == 1,
	   "a float");
	ok(values_find(b->data, b->size, DETAIL_ARGUMENT, 6, &v) && value_real(&v, &real) &&
		   real == 1,
	   "a double");
	ok(values_find(b->data, b->size, DETAIL_ARGUMENT, 14, &v) && value_real(&v, &real) &&
		   real == 1,
	   "a long double");
	ok(!value_integer(&v, NULL, &n, &sign), "which is no integer");
	ok(values_find(b->data, b->size, DETAIL_ARGUMENT, 7, &v) && v.n == 8 &&
		   !memcmp(v.bytes, "a string", 8),
	   "a string");
	ok(!value_integer(&v, NULL, &n, &sign) && !value_real(&v, &real), "which is no number");
	ok(values_find(b->data, b->size, DETAIL_ARGUMENT, 8, &v) && !v.n, "an empty blob");
	ok(values_find(b->data, b->size, DETAIL_ARGUMENT, 9, &v) && v.definition == 12 &&
		   value_integer(&v, NULL, &n, &sign) && sign && (int64_t)n == -2,
	   "an enum");
	ok(values_find(b->data, b->size, DETAIL_ARGUMENT, 10, &v) && v.definition == 300 &&
		   v.number == 6,
	   "a bitmask");
	ok(values_find(b->data, b->size, DETAIL_ARGUMENT, 11, &v) && v.tag == VALUE_ARRAY &&
		   v.count == 2,
	   "an array");
	ok(values_find(b->data, b->size, DETAIL_ARGUMENT, 12, &v) &&
		   value_integer(&v, NULL, &n, &sign) && sign && (int64_t)n == -2,
	   "a signed number");
	ok(values_find(b->data, b->size, DETAIL_ARGUMENT, 13, &v) &&
		   value_integer(&v, NULL, &n, &sign) && !sign && n == 0xfffe,
	   "the same in hexadecimal");
	ok(values_find(b->data, b->size, DETAIL_ARGUMENT, 15, &v) && v.n == 16 &&
		   !value_integer(&v, NULL, &n, &sign),
	   "a number of 16 bytes");
	ok(values_find(b->data, b->size, DETAIL_RETURN, 0, &v) && v.type_name_size == 8 &&
		   !memcmp(v.type_name, "struct s", 8) && v.n == 3 && !memcmp(v.bytes, "ABC", 3),
	   "an opaque return value");
	ok(!values_find(b->data, b->size, DETAIL_ARGUMENT, 16, &v), "one that is not there");
}

static void expect_enum(const uint8_t *bytes, uint8_t size, bool is_unsigned, const char *decimal,
			bool fits)
{
	struct definition names = {.kind = DEFINITION_ENUM,
				   .flags = is_unsigned ? DEFINITION_UNSIGNED : 0};
	struct buffer b = {0};
	struct values it;
	struct value v = {0};
	char digits[I128_SIZE];
	bool sign = is_unsigned;
	uint64_t n = 0;

	value_put_enum(&b, 1, bytes, size);
	values_begin(&it, b.data, b.size);
	values_value(&it, &v);
	value_enum_decimal(digits, &names, &v);
	ok(!strcmp(digits, decimal) && value_integer(&v, &names, &n, &sign) == fits &&
		   (!fits || (sign != is_unsigned &&
			      n == (is_unsigned ? strtoull(decimal, NULL, 10)
						: (uint64_t)strtoll(decimal, NULL, 10)))),
	   decimal);
	buffer_free(&b);
}

/* Numbers of enums are as wide and as signed as they are said to be. */
static void test_enums(void)
{
	static const uint8_t ones[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
			     high[16] = {[7] = 0x40}, top[16] = {[8] = 1};

	expect_enum(ones, 1, false, "-1", true);
	expect_enum(ones, 3, false, "-1", true);
	expect_enum(ones, 16, false, "-1", true);
	expect_enum(ones, 1, true, "255", true);
	expect_enum(ones, 3, true, "16777215", true);
	expect_enum(ones, 8, true, "18446744073709551615", true);
	expect_enum(ones, 16, true, "340282366920938463463374607431768211455", false);
	expect_enum(ones, 9, true, "4722366482869645213695", false);
	expect_enum(high, 8, false, "4611686018427387904", true);
	expect_enum(high, 16, false, "4611686018427387904", true);
	expect_enum(high, 16, true, "4611686018427387904", true);
	expect_enum(top, 16, false, "18446744073709551616", false);
	expect_enum(top + 1, 8, false, "72057594037927936", true);
	expect_enum(ones + 8, 8, false, "-1", true);
}

static void test_children(const struct buffer *b)
{
	struct values it;
	struct detail d;
	struct value v;

	for (values_begin(&it, b->data, b->size); values_detail(&it, &d) && d.index != 10;)
		;
	it.at += 2;
	ok(values_value(&it, &v) && v.tag == VALUE_ARRAY && values_value(&it, &v) &&
		   v.tag == VALUE_POINTER && v.number == 0x1000 && values_value(&it, &v) &&
		   v.tag == VALUE_STRUCT && v.count == 1 && values_value(&it, &v) &&
		   v.tag == VALUE_ENUM && v.size == 1 && v.bytes[0] == 0xfe,
	   "children one by one");
	ok(values_detail(&it, &d) && d.index == 12, "and the detail after them");
}

static void test_copy(const struct buffer *b)
{
	struct buffer copy = {0};
	struct value v;

	ok(!values_copy(&copy, b->data, b->size, plus_1000, NULL), "copied");
	ok(values_find(copy.data, copy.size, DETAIL_ARGUMENT, 9, &v) && v.definition == 1012 &&
		   v.size == 4 && v.bytes[0] == 0xfe,
	   "with other definitions");
	ok(values_find(copy.data, copy.size, DETAIL_ARGUMENT, 15, &v) && v.n == 16,
	   "and everything else");
	ok(!values_copy_is_same(b->data, b->size, plus_1000, NULL), "which is not the same");
	ok(values_copy_is_same(b->data, b->size, as_it_is, NULL),
	   "unless these stay what they are");
	for (size_t n = 0; n < b->size; n++) {
		copy.size = 0;
		values_copy(&copy, b->data, n, plus_1000, NULL);
		values_copy_is_same(b->data, n, plus_1000, NULL);
	}
	buffer_free(&copy);
}

/* A value and its children taken apart one by one. */
static bool walk(struct values *it, unsigned depth)
{
	struct value v;

	if (!values_value(it, &v) || (v.count && depth == VALUE_DEPTH))
		return false;
	for (uint64_t i = 0; i < v.count; i++)
		if (!walk(it, depth + 1))
			return false;
	return true;
}

/* What values_sound finds out without taking anything apart. */
static bool sound(const struct buffer *b)
{
	struct values it, before;
	struct value v, frame;
	uint64_t index;
	uint8_t what;

	values_begin(&it, b->data, b->size);
	while (it.at < it.end) {
		if (!values_what(&it, &what, &index))
			return !it.bad; /* one of an unknown kind was the last */
		if (what == DETAIL_ARGUMENT && (!index || index > VALUE_INDEX_LIMIT))
			return false;
		if (what != DETAIL_ARGUMENT && index)
			return false;
		before = it;
		if (!walk(&it, 0))
			return false;
		values_value(&before, &v);
		if (what == DETAIL_FLAGS && v.tag != VALUE_UINT)
			return false;
		if (what == DETAIL_BACKTRACE && v.tag != VALUE_ARRAY)
			return false;
		for (uint64_t i = 0; what == DETAIL_BACKTRACE && i < v.count; i++)
			if (!values_value(&before, &frame) || frame.tag != VALUE_FRAME)
				return false;
	}
	return true;
}

static void test_sound(const struct buffer *b)
{
	struct buffer copy = {0};
	unsigned long different = 0, good = 0;
	uint32_t seed = 1;

	ok(values_sound(b->data, b->size) && sound(b), "all values make sense");
	ok(values_sound(NULL, 0), "none do");
	for (size_t n = 0; n < b->size; n++) {
		copy.size = 0;
		buffer_append(&copy, b->data, n);
		different += values_sound(copy.data, n) != sound(&copy);
	}
	for (unsigned i = 0; i < 300000; i++) {
		copy.size = 0;
		buffer_append(&copy, b->data, b->size);
		for (unsigned k = 0; k <= i % 3; k++) {
			seed = seed * 1664525 + 1013904223;
			copy.data[(seed >> 16) % b->size] =
				(uint8_t)(seed >> 8) % (i & 4 ? 20 : 255);
		}
		good += sound(&copy);
		different += values_sound(copy.data, copy.size) != sound(&copy);
	}
	is_u64(different, 0, "changed bytes: found by both");
	ok(good > 10000 && good < 290000, "of both kinds");
	buffer_free(&copy);
}

/* Any byte changed, any length: the walk ends within the bytes. */
static void test_damage(const struct buffer *b)
{
	struct buffer copy = {0};
	struct values it;
	struct detail d;
	struct value v;
	bool inside = true;

	for (size_t at = 0; at < b->size; at++)
		for (unsigned byte = 0; byte < 256; byte++) {
			copy.size = 0;
			buffer_append(&copy, b->data, b->size);
			copy.data[at] = (uint8_t)byte;
			for (values_begin(&it, copy.data, copy.size); values_detail(&it, &d);)
				;
			inside = inside && it.at <= it.end;
			for (values_begin(&it, copy.data, copy.size); values_value(&it, &v);)
				inside = inside && (!v.n || v.bytes + v.n <= it.end);
		}
	ok(inside, "a changed byte leads nowhere");
	buffer_free(&copy);
}

static void test_hostile(void)
{
	struct buffer b = {0};
	struct values it;
	struct value v;

	for (int i = 0; i <= VALUE_DEPTH; i++)
		value_put_array(&b, 1);
	value_put_simple(&b, VALUE_NULL);
	values_begin(&it, b.data, b.size);
	ok(!values_skip(&it) && it.bad, "too deep");
	b.size = 0;
	for (int i = 0; i < VALUE_DEPTH; i++)
		value_put_array(&b, 1);
	value_put_simple(&b, VALUE_NULL);
	values_begin(&it, b.data, b.size);
	ok(values_skip(&it) && it.at == it.end, "deep enough");
	b.size = 0;
	value_put_array(&b, UINT64_MAX);
	values_begin(&it, b.data, b.size);
	ok(!values_skip(&it) && it.bad, "an array of more values than bytes");
	values_begin(&it, (const uint8_t *)"\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11);
	ok(!values_value(&it, &v) && it.bad, "a number of more than 64 bits");
	values_begin(&it, (const uint8_t *)"\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
	ok(values_value(&it, &v) && v.number == UINT64_MAX, "one of 64");
	values_begin(&it,
		     (const uint8_t *)"\x0e"
				      "d\x11xxxxxxxxxxxxxxxxxx",
		     20);
	ok(!values_value(&it, &v) && it.bad, "a machine number of 17 bytes");
	values_begin(&it, (const uint8_t *)"\x10", 1);
	ok(!values_value(&it, &v) && it.bad, "an unknown tag");
	values_begin(&it, NULL, 0);
	ok(!values_value(&it, &v), "nothing");
	buffer_free(&b);
}

/* Details with some of unknown kinds among them, whose values name this definition. */
static struct buffer with_unknown(uint32_t definition)
{
	struct buffer b = {0};

	buffer_append(&b,
		      "\x63\x05\x03"
		      "abc",
		      6);
	value_put_detail(&b, DETAIL_ARGUMENT, 1);
	value_put_uint(&b, VALUE_UINT, 7);
	buffer_append(&b, "\0\x80\x01\0", 4);
	value_put_detail(&b, DETAIL_ARGUMENT, 2);
	value_put_enum(&b, definition, "\3", 1);
	buffer_append(&b,
		      "\5\0\2"
		      "xy",
		      5);
	return b;
}

static void test_unknown(void)
{
	struct buffer b = with_unknown(3), want = with_unknown(1003), copy = {0};
	struct value v;

	ok(values_sound(b.data, b.size), "details of unknown kinds");
	ok(values_find(b.data, b.size, DETAIL_ARGUMENT, 1, &v) && v.number == 7 &&
		   values_find(b.data, b.size, DETAIL_ARGUMENT, 2, &v) && v.definition == 3,
	   "do not hide the others");
	ok(!values_copy(&copy, b.data, b.size, plus_1000, NULL) && copy.size == want.size &&
		   !memcmp(copy.data, want.data, copy.size),
	   "and are copied");
	ok(!values_sound(b.data, b.size - 1) &&
		   values_copy(&copy, b.data, b.size - 1, plus_1000, NULL),
	   "unless they are cut");
	buffer_free(&b);
	buffer_free(&want);
	buffer_free(&copy);
}

static void test_negative(void)
{
	struct buffer b = {0};
	struct value v;
	struct values it;
	bool sign;
	uint64_t n;

	value_put_detail(&b, DETAIL_RETURN, 0);
	value_put_uint(&b, VALUE_NEGATIVE, 1ull << 63);
	ok(values_sound(b.data, b.size) && values_find(b.data, b.size, DETAIL_RETURN, 0, &v) &&
		   value_integer(&v, NULL, &n, &sign) && sign && (int64_t)n == INT64_MIN,
	   "the least negative number");
	b.size = 0;
	value_put_uint(&b, VALUE_NEGATIVE, (1ull << 63) + 1);
	values_begin(&it, b.data, b.size);
	ok(!values_value(&it, &v) && it.bad, "one less is none");
	b.size = 0;
	value_put_detail(&b, DETAIL_RETURN, 0);
	value_put_uint(&b, VALUE_NEGATIVE, (1ull << 63) + 1);
	ok(!values_sound(b.data, b.size), "and makes no sense");
	buffer_free(&b);
}

int main(void)
{
	struct buffer b = all_values();

	test_get(&b);
	test_enums();
	test_unknown();
	test_negative();
	test_children(&b);
	test_copy(&b);
	test_damage(&b);
	test_sound(&b);
	test_hostile();
	buffer_free(&b);
	return done();
}
