/*
 * names.c - names in formats that forbid some bytes, with escapes that can be reversed
 */
#include <ctype.h>

#include "cmd/trencode/convert/convert.h"

static bool hex(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

int convert_name_escaped(struct buffer *b, const char *name, size_t n, const char *others)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)name[i];
		bool forbidden = c < 0x20 || c == 0x7f || (c && strchr(others, c));

		if (c == '\\' && n - i > 3)
			forbidden |= name[i + 1] == 'x' && hex(name[i + 2]) && hex(name[i + 3]);
		if (forbidden ? buffer_printf(b, "\\x%02x", c) : buffer_u8(b, c))
			return -1;
	}
	return 0;
}

int convert_name_no_nul(struct buffer *b, const char *name, size_t n)
{
	if (!n || (!memchr(name, 0, n) && !memmem(name, n, "\\x", 2)))
		return n ? buffer_append(b, name, n) : 0;
	for (size_t i = 0; i < n; i++) {
		bool looks = n - i > 3 &&
			     (!memcmp(name + i, "\\x00", 4) || !memcmp(name + i, "\\x5c", 4));

		if (!name[i] || looks ? buffer_printf(b, "\\x%02x", (unsigned char)name[i])
				      : buffer_u8(b, (uint8_t)name[i]))
			return -1;
	}
	return 0;
}

void convert_name_cut(struct buffer *b, size_t from, size_t n, uint64_t *cut)
{
	const uint8_t *p = b->data + from;

	if (b->size - from <= n)
		return;
	for (size_t back = 1; back < 4 && back <= n; back++)
		if (p[n - back] == '\\' && p[n - back + 1] == 'x') {
			n -= back;
			break;
		}
	convert_text_cut(b, from, n, cut);
}

static bool is_word(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_';
}

int convert_name_identifier(struct buffer *b, const char *name, size_t n)
{
	if (!n)
		return buffer_append(b, "_x", 2);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)name[i];
		bool forbidden = !is_word(c) || (!i && c >= '0' && c <= '9');

		if (c == '_' && n - i > 3)
			forbidden |= name[i + 1] == 'x' && hex(name[i + 2]) && hex(name[i + 3]);
		if (c == '_' && n == 2 && name[1] == 'x')
			forbidden |= !i;
		if (forbidden ? buffer_printf(b, "_x%02x", c) : buffer_u8(b, c))
			return -1;
	}
	return 0;
}
