/*
 * print_line.h - the text of one event, as it grows
 *
 * Zero-initialised is empty. A text longer than LINE_MOST is cut there: the kernel's own limit is a
 * page, so only a hostile format gets that far. Nothing here returns an error; line->failed says
 * that memory was out.
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

/* Have room for n bytes more, n <= LINE_MOST. False: there is none, and there will be none. */
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

/* n times c. */
void line_pad(struct line *l, char c, size_t n);

/* Decimal. */
void line_u64(struct line *l, uint64_t v);
void line_i64(struct line *l, int64_t v);

/* Decimal with at least width characters, filled with pad on the left; width <= 32. */
void line_u64_wide(struct line *l, uint64_t v, unsigned width, char pad);

/* Hexadecimal, lower case, no "0x", at least width digits (filled with '0'); width <= 32. */
void line_hex(struct line *l, uint64_t v, unsigned width);

/* What was put since the line had the size start becomes a column: cut to most bytes (< 0: not),
 * then filled with blanks up to width, behind it if left. */
void line_column(struct line *l, size_t start, int width, int most, bool left);

#endif
