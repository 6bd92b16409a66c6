#include "common/value/json.h"

#include "common/value/shortest.h"
#include "common/util/utf8.h"

enum {
	SHORT = 64,	    /* strings up to this size are scanned first and then written at once */
	JSON_CHARACTER = 6, /* maximum bytes of one encoded character */
};

/* Test whether the byte needs no escape inside a string. */
static bool plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static size_t two(char *out, char c)
{
	out[0] = '\\';
	out[1] = c;
	return 2;
}

/* Encode the character at p, where n > 0 bytes are available. Returns the bytes written to out;
 * *taken: the bytes read. */
static size_t json_character(char out[JSON_CHARACTER], const char *p, size_t n, size_t *taken)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char c = (unsigned char)*p;
	size_t length;

	*taken = 1;
	if (plain(c)) {
		*out = *p;
		return 1;
	}
	switch (c) {
	case '"': return two(out, '"');
	case '\\': return two(out, '\\');
	case '\b': return two(out, 'b');
	case '\f': return two(out, 'f');
	case '\n': return two(out, 'n');
	case '\r': return two(out, 'r');
	case '\t': return two(out, 't');
	default: break;
	}
	if (c < 0x20 || c == 0x7f) {
		memcpy(out, "\\u00", 4);
		out[4] = hex[c >> 4];
		out[5] = hex[c & 15];
		return 6;
	}
	length = utf8_length(p, n);
	if (!length) {
		memcpy(out, "\xef\xbf\xbd", 3);
		return 3;
	}
	memcpy(out, p, length);
	*taken = length;
	return length;
}

static size_t plain_run(const char *p, size_t n)
{
	size_t run = 0;

	while (run < n && plain((unsigned char)p[run]))
		run++;
	return run;
}

void json_string(struct text *t, const char *p, size_t n)
{
	char character[JSON_CHARACTER];

	text_char(t, '"');
	while (n) {
		size_t run = plain_run(p, n);

		if (run)
			text_put(t, p, run);
		else
			text_put(t, character, json_character(character, p, n, &run));
		p += run;
		n -= run;
	}
	text_char(t, '"');
}

int json_append_inside(struct buffer *b, const char *p, size_t n)
{
	char character[JSON_CHARACTER];

	while (n) {
		size_t run = plain_run(p, n);

		if (run ? buffer_append(b, p, run)
			: buffer_append(b, character, json_character(character, p, n, &run)))
			return -1;
		p += run;
		n -= run;
	}
	return 0;
}

int json_append_string(struct buffer *b, const char *p, size_t n)
{
	if (n < SHORT && plain_run(p, n) == n) {
		uint8_t *to;

		if (buffer_reserve(b, n + 2))
			return -1;
		to = b->data + b->size;
		to[0] = '"';
		copy_short(to + 1, p, n);
		to[n + 1] = '"';
		b->size += n + 2;
		return 0;
	}
	return buffer_u8(b, '"') || json_append_inside(b, p, n) || buffer_u8(b, '"') ? -1 : 0;
}

/* End a number of n characters: NaN and the infinities become strings. */
static inline void end_number(struct buffer *b, size_t n)
{
	char *p = (char *)b->data + b->size;

	if (__builtin_expect(p[n - 1] > '9', 0)) {
		memmove(p + 1, p, n);
		p[0] = p[n + 1] = '"';
		n += 2;
	}
	b->size += n;
}

int json_append_real(struct buffer *b, double number)
{
	if (buffer_reserve(b, SHORTEST_SIZE + 2))
		return -1;
	end_number(b, shortest_double((char *)b->data + b->size, number));
	return 0;
}

int json_append_float(struct buffer *b, float number)
{
	if (buffer_reserve(b, SHORTEST_SIZE + 2))
		return -1;
	end_number(b, shortest_float((char *)b->data + b->size, number));
	return 0;
}
