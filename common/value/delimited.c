/*
 * delimited.c - cells of csv and tsv
 */
#include "common/value/delimited.h"

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
	bool quote = !n;

	for (size_t i = 0; i < n; i++)
		quote |= p[i] == '"' || p[i] == ',' || p[i] == '\n' || p[i] == '\r';
	if (!quote)
		return buffer_append(b, p, n);
	return buffer_u8(b, '"') || csv_append_inside(b, p, n) || buffer_u8(b, '"') ? -1 : 0;
}

int tsv_append(struct buffer *b, const char *p, size_t n)
{
	static const char from[] = "\t\n\r\\", to[] = "tnr\\";

	if (buffer_reserve(b, 2 * n))
		return -1;
	for (; n; p++, n--) {
		const char *special = *p ? strchr(from, *p) : NULL;

		if (special)
			b->data[b->size++] = '\\';
		b->data[b->size++] = (uint8_t)(special ? to[special - from] : *p);
	}
	return 0;
}
