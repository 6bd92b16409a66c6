#include "common/util/utf8.h"

#include "common/util/buffer.h"

#include <stdbool.h>

static bool follows(unsigned char c, unsigned char low, unsigned char high)
{
	return c >= low && c <= high;
}

size_t utf8_length(const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	size_t length;

	if (*p < 0x80)
		return 1;
	if (*p < 0xc2 || *p > 0xf4)
		return 0;
	length = *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	if (n < length)
		return 0;
	/* The second byte distinguishes overlong forms, surrogates and codes above U+10FFFF. */
	if (*p == 0xe0)
		low = 0xa0;
	else if (*p == 0xed)
		high = 0x9f;
	else if (*p == 0xf0)
		low = 0x90;
	else if (*p == 0xf4)
		high = 0x8f;
	if (!follows(p[1], low, high))
		return 0;
	for (size_t i = 2; i < length; i++) {
		if (!follows(p[i], 0x80, 0xbf))
			return 0;
	}
	return length;
}

int utf8_append(struct buffer *b, const char *p, size_t n)
{
	while (n) {
		size_t run = 0, length;

		while (run < n && (length = utf8_length(p + run, n - run)))
			run += length;
		if (buffer_append(b, p, run))
			return -1;
		p += run;
		n -= run;
		if (!n)
			break;
		if (buffer_append(b, "\xef\xbf\xbd", 3))
			return -1;
		p++;
		n--;
	}
	return 0;
}

int utf8_put(struct buffer *b, uint32_t c)
{
	uint8_t p[4];
	size_t n;

	if (c < 0x80) {
		p[0] = (uint8_t)c;
		n = 1;
	} else if (c < 0x800) {
		p[0] = (uint8_t)(0xc0 | c >> 6);
		n = 2;
	} else if (c < 0x10000) {
		p[0] = (uint8_t)(0xe0 | c >> 12);
		n = 3;
	} else {
		p[0] = (uint8_t)(0xf0 | c >> 18);
		n = 4;
	}
	for (size_t i = 1; i < n; i++)
		p[i] = (uint8_t)(0x80 | (c >> 6 * (n - 1 - i) & 0x3f));
	return buffer_append(b, p, n);
}
