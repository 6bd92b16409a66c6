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

#include "common/util/digits.h"
#include "common/util/error.h"
#include "common/util/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TEXT_BUFFER = 65536 };

struct text {
	struct output *out; /* the caller's */
	size_t used;
	bool failed;
	bool held;		      /* see text_hold */
	struct error error;	      /* of the first failed write */
	char buffer[TEXT_BUFFER + 8]; /* and a byte that waits for the next one (text.c) */
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

struct buffer;

/* Write n bytes of a buffer from at on, from its file if it has spilled (buffer_file.h). */
void text_put_buffer(struct text *t, const struct buffer *b, size_t at, size_t n);

/* Write a text of a trace that must stay on its line: on a terminal newlines and tabs become '?'
 * too. */
void text_masked(struct text *t, const char *p, size_t n);
/* Write all of a buffer in this way, from its file if it has spilled. */
void text_masked_buffer(struct text *t, const struct buffer *b);

void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
