/*
 * text.h - writes text to an output, fast
 *
 * Text is collected in a buffer of 64 KiB. The buffer is written when full, at the end of each line
 * on a terminal, and by text_flush. Only text_flush returns an error: after a failed write further
 * text is dropped, and text_flush, which must end the work, reports the failure. A long-running
 * producer may test text_failed to stop early.
 *
 * On a terminal control characters (C0 except newline and tab, DEL, C1) of any source are replaced
 * by '?', so that a trace cannot control the terminal. Elsewhere the bytes are written unchanged.
 */
#ifndef TR_UTIL_TEXT_H
#define TR_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/util/error.h"
#include "common/util/output.h"

/* --- numbers as digits --- */

/* Count the decimal digits of v. */
static inline unsigned digits_count(uint64_t v)
{
	static const uint64_t tens[] = {0,
					10,
					100,
					1000,
					10000,
					100000,
					1000000,
					10000000,
					100000000,
					1000000000,
					10000000000,
					100000000000,
					1000000000000,
					10000000000000,
					100000000000000,
					1000000000000000,
					10000000000000000,
					100000000000000000,
					1000000000000000000,
					10000000000000000000u};
	/* 1233 / 4096 is the logarithm of 2 to base 10 */
	unsigned least = (unsigned)(64 - __builtin_clzll(v | 1)) * 1233 >> 12;

	return least + (v >= tens[least]);
}

/* Write the digits of v, ending before end, at most 20; returns where they begin. */
static inline char *digits_decimal(char *end, uint64_t v)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";

	while (v >= 100) {
		end -= 2;
		end[0] = pairs[2 * (v % 100)];
		end[1] = pairs[2 * (v % 100) + 1];
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		end[0] = pairs[2 * v];
		end[1] = pairs[2 * v + 1];
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

char *decimal_long(char *p, uint64_t v);

/* Write the digits of v at p, where 20 bytes are free; returns their end. */
static inline char *decimal_at(char *p, uint64_t v)
{
	if (v > 9)
		return decimal_long(p, v);
	*p = (char)('0' + v);
	return p + 1;
}

/* Write digits in base 8, 10 or 16. */
static inline char *digits_base(char *end, uint64_t v, unsigned base, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned shift = base == 16 ? 4 : 3;

	if (base == 10)
		return digits_decimal(end, v);
	do {
		*--end = digits[v & (base - 1)];
		v >>= shift;
	} while (v);
	return end;
}

/* Fill on the left until there are width characters, at most `most`. */
static inline char *digits_fill(char *p, const char *end, unsigned width, unsigned most, char pad)
{
	if (width > most)
		width = most;
	while ((size_t)(end - p) < width)
		*--p = pad;
	return p;
}

/* Read one to sixteen hex digits at *p, not beyond end. Returns false if there are none or too
 * many. *p moves to after them. */
bool digits_hex(const char **p, const char *end, uint64_t *value);

/*
 * Finds the valid UTF-8 in bytes.
 *
 * Names in traces are bytes; JSON and terminals need characters.
 */

/*
 * Get the length in bytes of the valid character (RFC 3629: shortest form, no surrogates, to
 * U+10FFFF) at p, where n > 0 bytes are available; 0: none.
 */
size_t utf8_length(const char *p, size_t n);

/* Get the length of the character at p, where n > 0 bytes are available, if it would control a
 * terminal: C0, DEL, C1, and those that change the direction of the text after them (U+202A to
 * U+202E, U+2066 to U+2069); else 0. */
size_t utf8_control(const char *p, size_t n);

struct buffer;

/*
 * Append n bytes as valid UTF-8: a byte that is part of no valid character becomes U+FFFD. -1 when
 * out of memory.
 */
int utf8_append(struct buffer *b, const char *p, size_t n);

/* Append the character of that code, which is up to U+10FFFF and no surrogate. -1: out of memory.
 */
int utf8_put(struct buffer *b, uint32_t c);

/* What a text is, where the output has colours. */
enum ink { INK_PLAIN, INK_HEADING, INK_ALARM, INK_WORSE, INK_BETTER };

enum { TEXT_BUFFER = 65536 };

struct text {
	struct output *out; /* the caller's */
	size_t used;
	bool failed;
	bool held;		      /* see text_hold */
	uint64_t skip;		      /* bytes that were written before, and are not again */
	bool color;		      /* set by the caller: see text_ink */
	size_t escaped;		      /* bytes of buffer up to the last sequence of text_ink */
	struct error error;	      /* of the first failed write */
	char buffer[TEXT_BUFFER + 8]; /* and a byte that waits for the next one */
};

void text_init(struct text *t, struct output *o);

/* Write what is buffered: 0, or -1 with e filled if this or any earlier write failed. */
int text_flush(struct text *t, struct error *e);

static inline bool text_failed(const struct text *t)
{
	return t->failed;
}

/*
 * Hold what is buffered back, from text_flush and the ends of lines, until text_release: what a
 * program that may yet refuse its input begins its output with. A full buffer is written.
 */
static inline void text_hold(struct text *t)
{
	t->held = true;
}

static inline void text_release(struct text *t)
{
	t->held = false;
}

/* Rarely used parts of the inline functions. */
void text_put_slow(struct text *t, const char *p, size_t n);
void text_make_room(struct text *t);
void text_end_line(struct text *t);

static inline void text_put(struct text *t, const char *p, size_t n)
{
	if (n > TEXT_BUFFER - t->used) {
		text_put_slow(t, p, n);
		return;
	}
	memcpy(t->buffer + t->used, p, n);
	t->used += n;
	if (output_is_terminal(t->out))
		text_end_line(t);
}

static inline void text_puts(struct text *t, const char *s)
{
	text_put(t, s, strlen(s));
}

static inline void text_char(struct text *t, char c)
{
	if (t->used == TEXT_BUFFER)
		text_make_room(t);
	t->buffer[t->used++] = c;
	if (c == '\n' && output_is_terminal(t->out))
		text_end_line(t);
}

/*
 * Reserve n bytes (at most TEXT_BUFFER) to be filled in place, for fast callers; text_wrote then
 * passes their end. Lines must be written in full.
 */
static inline char *text_room(struct text *t, size_t n)
{
	if (n > TEXT_BUFFER - t->used)
		text_make_room(t);
	return t->buffer + t->used;
}

static inline void text_wrote(struct text *t, const char *end)
{
	t->used = (size_t)(end - t->buffer);
	if (output_is_terminal(t->out))
		text_end_line(t);
}

/* Decimal. */
void text_u64(struct text *t, uint64_t v);
void text_i64(struct text *t, int64_t v);

/* Decimal with at least width characters, filled with pad (' ' or '0') on the left; width <= 64. */
void text_u64_wide(struct text *t, uint64_t v, unsigned width, char pad);

/* Seconds with nine digits after the point, and at least width characters before it. */
void text_seconds(struct text *t, uint64_t ns, unsigned width);

/* Hexadecimal, lower case, no "0x", at least width digits (filled with '0'); width <= 64. */
void text_hex(struct text *t, uint64_t v, unsigned width);

/* Write c n times, usually a blank. */
void text_pad(struct text *t, char c, size_t n);

/* Write the following text in an ink, up to INK_PLAIN, if the text has colours. */
void text_ink(struct text *t, enum ink ink);

struct buffer;

/* Write n bytes of a buffer from at on, from its file if it has spilled (buffer.h). */
void text_put_buffer(struct text *t, const struct buffer *b, size_t at, size_t n);

/* Write a text of a trace that must stay on its line: on a terminal newlines and tabs become '?'
 * too. */
void text_masked(struct text *t, const char *p, size_t n);
/* Write all of a buffer in this way, from its file if it has spilled. */
void text_masked_buffer(struct text *t, const struct buffer *b);

void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
