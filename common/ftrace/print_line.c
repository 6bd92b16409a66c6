#include "common/ftrace/print_line.h"

#include <stdlib.h>

#include "common/util/digits.h"

enum { WIDTH_MOST = 32 };

bool line_grow(struct line *l, size_t n)
{
	size_t capacity = l->capacity ? l->capacity : 1024;
	char *data;

	if (l->size + n > LINE_MOST)
		return false;
	while (capacity < l->size + n)
		capacity *= 2;
	data = realloc(l->data, capacity);
	if (!data) {
		l->failed = true;
		return false;
	}
	l->data = data;
	l->capacity = capacity;
	return true;
}

void line_free(struct line *l)
{
	free(l->data);
	*l = (struct line){0};
}

void line_pad(struct line *l, char c, size_t n)
{
	if (!n || n > LINE_MOST || !line_room(l, n))
		return;
	memset(l->data + l->size, c, n);
	l->size += n;
}

void line_u64(struct line *l, uint64_t v)
{
	char buffer[24], *end = buffer + sizeof buffer, *p = digits_decimal(end, v);

	line_put(l, p, (size_t)(end - p));
}

void line_i64(struct line *l, int64_t v)
{
	char buffer[24], *end = buffer + sizeof buffer;
	char *p = digits_decimal(end, v < 0 ? -(uint64_t)v : (uint64_t)v);

	if (v < 0)
		*--p = '-';
	line_put(l, p, (size_t)(end - p));
}

void line_u64_wide(struct line *l, uint64_t v, unsigned width, char pad)
{
	char buffer[40], *end = buffer + sizeof buffer;
	char *p = digits_fill(digits_decimal(end, v), end, width, WIDTH_MOST, pad);

	line_put(l, p, (size_t)(end - p));
}

void line_hex(struct line *l, uint64_t v, unsigned width)
{
	char buffer[40], *end = buffer + sizeof buffer;
	char *p = digits_fill(digits_base(end, v, 16, false), end, width, WIDTH_MOST, '0');

	line_put(l, p, (size_t)(end - p));
}

void line_column(struct line *l, size_t start, int width, int most, bool left)
{
	size_t n = l->size - start, fill;

	if (most >= 0 && n > (size_t)most) {
		n = (size_t)most;
		l->size = start + n;
	}
	if (width <= 0 || n >= (size_t)width)
		return;
	fill = (size_t)width - n;
	if (!line_room(l, fill))
		return;
	if (left) {
		memset(l->data + l->size, ' ', fill);
	} else {
		memmove(l->data + start + fill, l->data + start, n);
		memset(l->data + start, ' ', fill);
	}
	l->size += fill;
}
