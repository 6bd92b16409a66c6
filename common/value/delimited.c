/*
 * delimited.c - cells of csv and tsv
 */
#include "common/value/delimited.h"

#include <stdbool.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/util/text.h"

static bool csv_needs_quotes(const char *p, size_t n)
{
	bool quote = !n;

	for (size_t i = 0; i < n; i++)
		quote |= p[i] == '"' || p[i] == ',' || p[i] == '\n' || p[i] == '\r';
	return quote;
}

/* Get the letter that tsv has for a character, after a backslash. 0: the character itself. */
static char tsv_letter(char c)
{
	static const char from[] = "\t\n\r\\", to[] = "tnr\\";
	const char *special = c ? strchr(from, c) : NULL;

	return special ? to[special - from] : '\0';
}

int csv_append_inside(struct buffer *b, const char *p, size_t n)
{
	if (buffer_reserve(b, 2 * n))
		return -1;
	for (; n; p++, n--) {
		if (*p == '"')
			b->data[b->size++] = '"';
		b->data[b->size++] = (uint8_t)*p;
	}
	return 0;
}

int csv_append(struct buffer *b, const char *p, size_t n)
{
	if (!csv_needs_quotes(p, n))
		return buffer_append(b, p, n);
	return buffer_u8(b, '"') || csv_append_inside(b, p, n) || buffer_u8(b, '"') ? -1 : 0;
}

int tsv_append(struct buffer *b, const char *p, size_t n)
{
	if (buffer_reserve(b, 2 * n))
		return -1;
	for (; n; p++, n--) {
		char letter = tsv_letter(*p);

		if (letter)
			b->data[b->size++] = '\\';
		b->data[b->size++] = (uint8_t)(letter ? letter : *p);
	}
	return 0;
}

void csv_put(struct text *out, const char *p, size_t n)
{
	bool quote = csv_needs_quotes(p, n);

	if (quote)
		text_char(out, '"');
	for (; n; p++, n--) {
		if (*p == '"')
			text_char(out, '"');
		text_char(out, *p);
	}
	if (quote)
		text_char(out, '"');
}

void tsv_put(struct text *out, const char *p, size_t n)
{
	for (; n; p++, n--) {
		char letter = tsv_letter(*p);

		if (letter)
			text_char(out, '\\');
		text_char(out, letter ? letter : *p);
	}
}
