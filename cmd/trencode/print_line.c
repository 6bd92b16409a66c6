#include "print_line.h"

#include <stdlib.h>

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

static char *decimal(char *end, uint64_t v)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";

	while (v >= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, pairs + 2 * v, 2);
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

char *line_digits(char *end, uint64_t v, unsigned base, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned shift = base == 16 ? 4 : 3;

	if (base == 10)
		return decimal(end, v);
	do {
		*--end = digits[v & (base - 1)];
		v >>= shift;
	} while (v);
	return end;
}

void line_u64(struct line *l, uint64_t v)
{
	char buffer[24], *end = buffer + sizeof buffer, *p = decimal(end, v);

	line_put(l, p, (size_t)(end - p));
}

void line_i64(struct line *l, int64_t v)
{
	char buffer[24], *end = buffer + sizeof buffer;
	char *p = decimal(end, v < 0 ? -(uint64_t)v : (uint64_t)v);

	if (v < 0)
		*--p = '-';
	line_put(l, p, (size_t)(end - p));
}

static void wide(struct line *l, char *p, const char *end, unsigned width, char pad)
{
	if (width > 32)
		width = 32;
	while ((size_t)(end - p) < width)
		*--p = pad;
	line_put(l, p, (size_t)(end - p));
}

void line_u64_wide(struct line *l, uint64_t v, unsigned width, char pad)
{
	char buffer[40], *end = buffer + sizeof buffer;

	wide(l, decimal(end, v), end, width, pad);
}

void line_hex(struct line *l, uint64_t v, unsigned width)
{
	char buffer[40], *end = buffer + sizeof buffer;

	wide(l, line_digits(end, v, 16, false), end, width, '0');
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
