#include "common/value/json_text.h"

#include <endian.h>
#include <stdlib.h>

#include "common/stream/value.h"
#include "common/util/bytes.h"
#include "common/util/utf8.h"

enum { NESTING = 64 };

static const char *value_end(const char *p, const char *end, int nesting);

static bool is_utf8(const char *p, const char *end)
{
	size_t n;

	for (; p < end; p += n) {
		n = utf8_length(p, (size_t)(end - p));
		if (!n)
			return false;
	}
	return true;
}

static bool is_hex(const char *p, const char *end)
{
	for (int i = 0; i < 4; i++)
		if (p + i >= end || !strchr("0123456789abcdefABCDEF", p[i]) || !p[i])
			return false;
	return true;
}

/* Returns the end of the string that begins at p, NULL if it is no string of JSON. */
static const char *string_end(const char *p, const char *end)
{
	const char *from = ++p;
	unsigned char all = 0;

	for (; p < end && *p != '"'; p++) {
		all |= (unsigned char)*p;
		if ((unsigned char)*p < ' ')
			return NULL;
		if (*p != '\\')
			continue;
		if (++p == end || !*p || !strchr("\"\\/bfnrtu", *p))
			return NULL;
		if (*p == 'u' && !is_hex(p + 1, end))
			return NULL;
	}
	return p < end && (all < 0x80 || is_utf8(from, p)) ? p + 1 : NULL;
}

static const char *digits_end(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

static const char *number_end(const char *p, const char *end)
{
	const char *from;

	p += p < end && *p == '-';
	from = p;
	p = digits_end(p, end);
	if (p == from || (*from == '0' && p - from > 1))
		return NULL;
	if (p < end && *p == '.') {
		from = ++p;
		p = digits_end(p, end);
		if (p == from)
			return NULL;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		p += p < end && (*p == '+' || *p == '-');
		from = p;
		p = digits_end(p, end);
		if (p == from)
			return NULL;
	}
	return p;
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* Returns the value of the member whose name is at p, NULL if no member is there. */
static const char *member_value(const char *p, const char *end)
{
	if (p == end || *p != '"')
		return NULL;
	p = string_end(p, end);
	p = p ? skip_blanks(p, end) : end;
	return p < end && *p == ':' ? skip_blanks(p + 1, end) : NULL;
}

/* Returns the end of the object or array at p, NULL if there is none. */
static const char *children_end(const char *p, const char *end, int nesting)
{
	char close = *p == '{' ? '}' : ']';

	p = skip_blanks(p + 1, end);
	if (p < end && *p == close)
		return p + 1;
	while (p < end) {
		if (close == '}')
			p = member_value(p, end);
		p = p ? value_end(p, end, nesting + 1) : NULL;
		if (!p)
			return NULL;
		p = skip_blanks(p, end);
		if (p < end && *p == close)
			return p + 1;
		if (p == end || *p != ',')
			return NULL;
		p = skip_blanks(p + 1, end);
	}
	return NULL;
}

/* Returns the end of the value at p, NULL if there is none. */
static const char *value_end(const char *p, const char *end, int nesting)
{
	static const char *const words[] = {"true", "false", "null"};

	if (p == end || nesting == NESTING)
		return NULL;
	if (*p == '{' || *p == '[')
		return children_end(p, end, nesting);
	if (*p == '"')
		return string_end(p, end);
	for (size_t i = 0; *p >= 'f' && i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(end - p) >= n && !memcmp(p, words[i], n))
			return p + n;
	}
	return number_end(p, end);
}

bool json_text_is_object(const char *text, size_t n)
{
	return n && *text == '{' && value_end(text, text + n, 0) == text + n;
}

bool json_text_member(const char **at, const char *end, struct json_member *m)
{
	/* at the '{' or '[', or at the ',' before the member */
	const char *p = skip_blanks(*at + 1, end);

	*m = (struct json_member){.name = "", .value = p};
	/* after the last one, or the object or array is empty */
	if (**at == '}' || **at == ']' || p == end || *p == '}' || *p == ']')
		return false;
	if (**at == '{' || **at == ',') {
		const char *name_end = *p == '"' ? string_end(p, end) : NULL;
		const char *colon = name_end ? skip_blanks(name_end, end) : end;

		if (colon < end && *colon == ':') {
			m->name = p + 1;
			m->name_size = (size_t)(name_end - p) - 2;
			m->value = skip_blanks(colon + 1, end);
		}
	}
	p = value_end(m->value, end, 0);
	m->value_size = (size_t)(p - m->value);
	*at = skip_blanks(p, end);
	return true;
}

static uint32_t hex_code(const char *p)
{
	char text[5] = {p[0], p[1], p[2], p[3]};

	return (uint32_t)strtoul(text, NULL, 16);
}

/* Append the character of the escape \\uXXXX at p, or of two that are a surrogate pair. Returns the
 * bytes that were read; 0: out of memory. */
static size_t put_code(struct buffer *to, const char *p, const char *end)
{
	uint32_t c = hex_code(p + 2), low;
	size_t n = 6;

	if (c >= 0xd800 && c < 0xdc00 && end - p >= 12 && p[6] == '\\' && p[7] == 'u') {
		low = hex_code(p + 8);
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			n = 12;
		}
	}
	return utf8_put(to, c >= 0xd800 && c < 0xe000 ? 0xfffd : c) ? 0 : n;
}

int json_text_string(struct buffer *to, const char *p, size_t n)
{
	static const char letters[] = "bfnrt", characters[] = "\b\f\n\r\t";
	const char *end = p + n;

	while (p < end) {
		const char *escape = memchr(p, '\\', (size_t)(end - p)), *letter;
		size_t plain = (size_t)((escape ? escape : end) - p);

		if (plain && buffer_append(to, p, plain))
			return -1;
		p += plain;
		if (!escape)
			break;
		if (p[1] == 'u') {
			n = put_code(to, p, end);
			if (!n)
				return -1;
			p += n;
			continue;
		}
		letter = strchr(letters, p[1]);
		if (buffer_u8(to, (uint8_t)(letter ? characters[letter - letters] : p[1])))
			return -1;
		p += 2;
	}
	return 0;
}

int json_text_number(struct buffer *to, const char *p, size_t n)
{
	bool minus = *p == '-', whole = true;
	uint64_t number = 0;
	uint8_t bytes[8];
	double real;

	for (size_t i = minus; whole && i < n; i++)
		whole = p[i] >= '0' && p[i] <= '9' &&
			!__builtin_mul_overflow(number, 10u, &number) &&
			!__builtin_add_overflow(number, (unsigned)(p[i] - '0'), &number);
	if (whole && minus && number && number <= (uint64_t)INT64_MAX + 1)
		return value_put_uint(to, VALUE_NEGATIVE, number);
	if (whole && !minus)
		return value_put_uint(to, VALUE_UINT, number);
	real = strtod(p, NULL);
	memcpy(bytes, &real, 8);
	put_u64(bytes, get_uint(bytes, 8, __BYTE_ORDER == __BIG_ENDIAN));
	return value_put_float(to, bytes, 8);
}
