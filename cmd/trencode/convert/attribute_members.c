/*
 * attribute_members.c - the members of a JSON object as attributes: trencode writes the arguments
 * of a call so into a trace without values
 *
 * The text is from a file, so all of it is checked before a member is used.
 */
#include "cmd/trencode/convert/attribute_members.h"

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

	for (; p < end && *p != '"'; p++) {
		if ((unsigned char)*p < ' ')
			return NULL;
		if (*p != '\\')
			continue;
		if (++p == end || !*p || !strchr("\"\\/bfnrtu", *p))
			return NULL;
		if (*p == 'u' && !is_hex(p + 1, end))
			return NULL;
	}
	return p < end && is_utf8(from, p) ? p + 1 : NULL;
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
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(end - p) >= n && !memcmp(p, words[i], n))
			return p + n;
	}
	return number_end(p, end);
}

bool attribute_is_object(const char *text, size_t n)
{
	return n && *text == '{' && value_end(text, text + n, 0) == text + n;
}

bool attribute_member(const char **at, const char *end, struct attribute *item, const char **name,
		      size_t *name_size)
{
	const char *p = skip_blanks(*at + 1, end), *value;

	if (*p != '"')
		return false;
	*name = p + 1;
	*name_size = (size_t)(string_end(p, end) - p) - 2;
	value = member_value(p, end);
	p = value_end(value, end, 0);
	*item = (struct attribute){
		.kind = ATTRIBUTE_JSON, .number = (uint64_t)(p - value), .text = value};
	if (*value == '"' && !memchr(value, '\\', (size_t)(p - value))) {
		item->kind = ATTRIBUTE_TEXT;
		item->text = value + 1;
		item->number -= 2;
	}
	*at = skip_blanks(p, end);
	return true;
}
