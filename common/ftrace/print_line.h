/*
 * print_line.h - the text of one event
 *
 * A zero-initialised line is empty. A text longer than LINE_MOST is truncated: the kernel's own
 * limit is a page, so only a hostile format reaches it. No function returns an error; line->failed
 * means out of memory.
 */
#ifndef TR_FTRACE_PRINT_LINE_H
#define TR_FTRACE_PRINT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LINE_MOST = 1 << 20 };

struct line {
	char *data;
	size_t size, capacity;
	bool failed;
};

/* Make room for n more bytes, n <= LINE_MOST. False: there is no room, now and later. */
bool line_grow(struct line *l, size_t n);
void line_free(struct line *l);

static inline bool line_room(struct line *l, size_t n)
{
	return __builtin_expect(l->capacity - l->size >= n, 1) || line_grow(l, n);
}

static inline void line_put(struct line *l, const char *p, size_t n)
{
	if (n > LINE_MOST)
		n = LINE_MOST;
	if (!n || !line_room(l, n))
		return;
	memcpy(l->data + l->size, p, n);
	l->size += n;
}

static inline void line_puts(struct line *l, const char *s)
{
	line_put(l, s, strlen(s));
}

static inline void line_char(struct line *l, char c)
{
	if (line_room(l, 1))
		l->data[l->size++] = c;
}

/* Append c n times. */
void line_pad(struct line *l, char c, size_t n);

/* Decimal. */
void line_u64(struct line *l, uint64_t v);
void line_i64(struct line *l, int64_t v);

/* Decimal with at least width characters, filled with pad on the left; width <= 32. */
void line_u64_wide(struct line *l, uint64_t v, unsigned width, char pad);

/* Hexadecimal, lower case, no "0x", at least width digits (filled with '0'); width <= 32. */
void line_hex(struct line *l, uint64_t v, unsigned width);

/* Format the text appended since the line had the size start as a column: truncated to most
 * bytes (< 0: no limit), then filled with blanks up to width, on the right if left. */
void line_column(struct line *l, size_t start, int width, int most, bool left);

#endif
