/*
 * text_span.h - parts of the lines of a text, and the numbers in them
 */
#ifndef TR_UTIL_TEXT_SPAN_H
#define TR_UTIL_TEXT_SPAN_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/util/buffer.h"

/* A part of a line; an empty one may be of no text: NULL twice. */
struct text_span {
	const char *at, *end;
};

/* Get the content of a buffer. */
static inline struct text_span span_of(const struct buffer *b)
{
	const char *text = (const char *)b->data;

	return (struct text_span){text, b->size ? text + b->size : text};
}

/* A span of a literal. */
#define SPAN(text) ((struct text_span){text, &(text)[sizeof(text) - 1]})

static inline size_t span_size(struct text_span s)
{
	return (size_t)(s.end - s.at);
}

static inline bool span_is(struct text_span s, const char *text)
{
	size_t n = strlen(text);

	return span_size(s) == n && !memcmp(s.at, text, n);
}

static inline bool span_begins(struct text_span s, const char *text)
{
	size_t n = strlen(text);

	return span_size(s) >= n && !memcmp(s.at, text, n);
}

static inline bool span_ends(struct text_span s, const char *text)
{
	size_t n = strlen(text);

	return span_size(s) >= n && !memcmp(s.end - n, text, n);
}

static inline const char *span_skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* Take blanks off both ends. */
static inline struct text_span span_trim(struct text_span s)
{
	while (s.at < s.end && (*s.at == ' ' || *s.at == '\t'))
		s.at++;
	while (s.end > s.at && (s.end[-1] == ' ' || s.end[-1] == '\t'))
		s.end--;
	return s;
}

/* Take all white space off both ends: new lines, too. */
static inline struct text_span span_trim_space(struct text_span s)
{
	while (s.at < s.end && isspace((unsigned char)*s.at))
		s.at++;
	while (s.end > s.at && isspace((unsigned char)s.end[-1]))
		s.end--;
	return s;
}

/* Take a text off the beginning of a span. Returns false if the span does not begin with it. */
static inline bool span_skip(struct text_span *s, const char *text)
{
	bool begins = span_begins(*s, text);

	if (begins)
		s->at += strlen(text);
	return begins;
}

/* Take the next word off a span, and the blanks before it. */
static inline struct text_span span_take_word(struct text_span *s)
{
	struct text_span word = span_trim(*s);

	s->at = word.at < word.end ? memchr(word.at, ' ', span_size(word)) : NULL;
	s->at = s->at ? s->at : word.end;
	word.end = s->at;
	return word;
}

/* Find a text in a span. NULL: it is not there. */
static inline const char *span_find(struct text_span s, const char *text)
{
	return s.at < s.end ? memmem(s.at, span_size(s), text, strlen(text)) : NULL;
}

/* As span_find, for a text whose character at `rare` is in few places of the span: memmem looks at
 * each byte where a text is short, and kernel text takes a tenth longer. */
static inline const char *span_find_rare(struct text_span s, const char *text, size_t rare)
{
	size_t n = strlen(text);
	const char *p = s.at;

	for (; p < s.end && (p = memchr(p, text[rare], span_size((struct text_span){p, s.end})));
	     p++)
		if ((size_t)(p - s.at) >= rare && (size_t)(s.end - p) >= n - rare &&
		    !memcmp(p - rare, text, n))
			return p - rare;
	return NULL;
}

/* Read decimal digits below 10^18. Returns their end; at: there are none, or too many. */
static inline const char *span_digits(const char *at, const char *end, uint64_t *number)
{
	const char *p = at;
	uint64_t n = 0;

	while (p < end && (unsigned char)(*p - '0') <= 9)
		n = n * 10 + (uint64_t)(*p++ - '0');
	*number = n;
	return p - at > 18 ? at : p;
}

/* Read a whole span as a number of 64 bits, "DIGITS" or "-DIGITS". */
static inline bool span_integer(struct text_span s, __int128 *number)
{
	bool minus = span_skip(&s, "-");
	uint64_t n = 0;

	for (const char *p = s.at; p < s.end; p++)
		if ((unsigned char)(*p - '0') > 9 || __builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (unsigned)(*p - '0'), &n))
			return false;
	*number = minus ? -(__int128)n : n;
	return s.at < s.end && *number >= INT64_MIN;
}

/* Read the digits after the point of a number of seconds as ns. Returns their end; at: there are
 * none, or more than nine. */
static inline const char *span_fraction(const char *at, const char *end, uint64_t *ns)
{
	const char *p = span_digits(at, end, ns);

	if (p == at || p - at > 9)
		return at;
	for (ptrdiff_t i = p - at; i < 9; i++)
		*ns *= 10;
	return p;
}

/* Read "SECONDS.FRACTION", or whole seconds, as ns. false: it is neither, or `limit` ns or more. */
static inline bool span_seconds(struct text_span s, uint64_t limit, uint64_t *ns)
{
	uint64_t fraction = 0;
	const char *p = span_digits(s.at, s.end, ns);

	if (p == s.at || *ns >= limit / 1000000000)
		return false;
	if (p < s.end &&
	    (*p != '.' || span_fraction(p + 1, s.end, &fraction) != s.end || p + 1 == s.end))
		return false;
	*ns = *ns * 1000000000 + fraction;
	return true;
}

#endif
