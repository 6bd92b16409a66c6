/*
 * text.c - text output, digits and UTF-8
 */
#include "common/util/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/util/buffer.h"

char *decimal_long(char *p, uint64_t v)
{
	char *end = p + digits_count(v);

	digits_decimal(end, v);
	return end;
}

/* 1 + the value of a digit; 0: no digit */
static const uint8_t hex_digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

bool digits_hex(const char **p, const char *end, uint64_t *value)
{
	uint64_t v = 0;
	const char *s = *p;

	for (; s < end && hex_digits[(unsigned char)*s]; s++) {
		if (v >> 60)
			return false;
		v = v << 4 | (hex_digits[(unsigned char)*s] - 1u);
	}
	if (s == *p)
		return false;
	*p = s;
	*value = v;
	return true;
}

/* --- utf8 --- */

/* First bytes of control characters in UTF-8 */
enum { C1_LEAD = 0xc2, DIRECTION_LEAD = 0xe2 };

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

size_t utf8_control(const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;

	if (*p < 0x20 || *p == 0x7f)
		return 1;
	if (n > 1 && p[0] == C1_LEAD && p[1] >= 0x80 && p[1] < 0xa0)
		return 2;
	if (n > 2 && p[0] == DIRECTION_LEAD &&
	    ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) ||
	     (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9)))
		return 3;
	return 0;
}

/* Count the bytes at the end that may be the beginning of a control character of more bytes. */
static size_t control_begun(const char *text, size_t n)
{
	const unsigned char *end = (const unsigned char *)text + n;

	if (n && (end[-1] == C1_LEAD || end[-1] == DIRECTION_LEAD))
		return 1;
	return n > 1 && end[-2] == DIRECTION_LEAD && (end[-1] == 0x80 || end[-1] == 0x81) ? 2 : 0;
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

/* --- text --- */

enum { WIDTH_MAX = 64 };

void text_init(struct text *t, struct output *o)
{
	t->out = o;
	t->used = t->escaped = 0;
	t->skip = 0;
	t->failed = t->held = t->color = false;
}

/* Mask control characters. Returns the new size. */
static size_t mask(char *p, size_t n)
{
	char *to = p;

	for (size_t i = 0, length; i < n; i += length) {
		length = p[i] == '\n' || p[i] == '\t' ? 0 : utf8_control(p + i, n - i);
		*to++ = length ? '?' : p[i];
		length += !length;
	}
	return (size_t)(to - p);
}

static void write_out(struct text *t, const char *p, size_t n)
{
	size_t skip = n < t->skip ? n : (size_t)t->skip;

	t->skip -= skip;
	p += skip;
	n -= skip;
	if (!t->failed && n && output_write(t->out, p, n, &t->error))
		t->failed = true;
}

/* Write to a terminal. The possible beginning of a control character is kept until its rest. */
static void text_show(struct text *t, bool all)
{
	size_t n = t->used;
	const char *rest;
	size_t begun = all ? 0 : control_begun(t->buffer, n);

	n -= begun;
	rest = t->buffer + n;
	n = t->escaped + mask(t->buffer + t->escaped, n - t->escaped);
	write_out(t, t->buffer, n);
	memmove(t->buffer, rest, begun);
	t->used = begun;
	t->escaped = 0;
}

void text_make_room(struct text *t)
{
	if (output_is_terminal(t->out)) {
		text_show(t, false);
		return;
	}
	write_out(t, t->buffer, t->used);
	t->used = 0;
}

int text_flush(struct text *t, struct error *e)
{
	if (!t->held) {
		if (output_is_terminal(t->out))
			text_show(t, true);
		text_make_room(t);
	}
	if (!t->failed)
		return 0;
	if (e)
		*e = t->error;
	return -1;
}

void text_ink(struct text *t, enum ink ink)
{
	static const char *const sequences[] = {[INK_PLAIN] = "\033[0m",
						[INK_HEADING] = "\033[1m",
						[INK_ALARM] = "\033[1;31m",
						[INK_WORSE] = "\033[31m",
						[INK_BETTER] = "\033[32m"};
	size_t n = strlen(sequences[ink]);

	if (!t->color)
		return;
	if (n > TEXT_BUFFER - t->used)
		text_make_room(t);
	if (output_is_terminal(t->out))
		t->used = t->escaped + mask(t->buffer + t->escaped, t->used - t->escaped);
	memcpy(t->buffer + t->used, sequences[ink], n);
	t->used += n;
	t->escaped = output_is_terminal(t->out) ? t->used : 0;
}

void text_end_line(struct text *t)
{
	if (!t->held && t->used && t->buffer[t->used - 1] == '\n')
		text_make_room(t);
}

void text_put_slow(struct text *t, const char *p, size_t n)
{
	text_make_room(t);
	if (n >= TEXT_BUFFER && !output_is_terminal(t->out)) {
		write_out(t, p, n);
		return;
	}
	for (size_t now; n; p += now, n -= now) {
		now = n < TEXT_BUFFER - t->used ? n : TEXT_BUFFER - t->used;
		text_put(t, p, now);
		if (now < n)
			text_make_room(t);
	}
}

void text_put_buffer(struct text *t, const struct buffer *b, size_t at, size_t n)
{
	if (!n)
		return;
	while (n > BUFFER_PIECE && b->file) {
		text_put(t, (const char *)b->data + at, BUFFER_PIECE);
		buffer_rest(b);
		at += BUFFER_PIECE;
		n -= BUFFER_PIECE;
	}
	text_put(t, (const char *)b->data + at, n);
	if (b->file)
		buffer_rest(b);
}

void text_u64(struct text *t, uint64_t v)
{
	text_wrote(t, decimal_at(text_room(t, 20), v));
}

void text_i64(struct text *t, int64_t v)
{
	char *p = text_room(t, 21);

	if (v < 0)
		*p++ = '-';
	text_wrote(t, decimal_at(p, v < 0 ? -(uint64_t)v : (uint64_t)v));
}

void text_u64_wide(struct text *t, uint64_t v, unsigned width, char pad)
{
	char digits[WIDTH_MAX], *end = digits + sizeof digits;
	char *p = digits_fill(digits_decimal(end, v), end, width, WIDTH_MAX, pad);

	text_put(t, p, (size_t)(end - p));
}

void text_seconds(struct text *t, uint64_t ns, unsigned width)
{
	text_u64_wide(t, ns / 1000000000, width, ' ');
	text_char(t, '.');
	text_u64_wide(t, ns % 1000000000, 9, '0');
}

void text_hex(struct text *t, uint64_t v, unsigned width)
{
	char digits[WIDTH_MAX], *end = digits + sizeof digits;
	char *p = digits_fill(digits_base(end, v, 16, false), end, width, WIDTH_MAX, '0');

	text_put(t, p, (size_t)(end - p));
}

void text_pad(struct text *t, char c, size_t n)
{
	while (n) {
		size_t room = TEXT_BUFFER - t->used;
		size_t now = n < room ? n : room;

		memset(t->buffer + t->used, c, now);
		t->used += now;
		n -= now;
		if (n)
			text_make_room(t);
	}
}

void text_masked(struct text *t, const char *p, size_t n)
{
	if (!output_is_terminal(t->out)) {
		text_put(t, p, n);
		return;
	}
	while (n) {
		size_t length = utf8_control(p, n);

		text_char(t, length ? '?' : *p);
		length += !length;
		p += length;
		n -= length;
	}
}

void text_masked_buffer(struct text *t, const struct buffer *b)
{
	size_t piece;

	for (size_t at = 0; at < b->size; at += piece) {
		piece = buffer_piece(b->data + at, b->size - at);
		text_masked(t, (const char *)b->data + at, piece);
		buffer_rest(b);
	}
}

void text_printf(struct text *t, const char *fmt, ...)
{
	char line[512], *s = line;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof line) {
		va_start(ap, fmt);
		n = vasprintf(&s, fmt, ap);
		va_end(ap);
	}
	if (n >= 0) {
		text_put(t, s, (size_t)n);
	} else if (!t->failed) {
		error_errno(&t->error, t->out->name, NO_OFFSET, "cannot format");
		t->failed = true;
	}
	if (n >= 0 && s != line)
		free(s);
}
