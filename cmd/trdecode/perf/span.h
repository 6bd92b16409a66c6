/*
 * span.h - numbers and texts in sequence, in a part of a perf.data that is in memory
 *
 * A read beyond the end gives 0 or NULL and sets cut.
 */
#ifndef TR_TRDECODE_PERF_SPAN_H
#define TR_TRDECODE_PERF_SPAN_H

#include "common/util/bytes.h"

struct span {
	const uint8_t *at, *end;
	bool big_endian, cut;
};

static inline const uint8_t *span_take(struct span *s, uint64_t n)
{
	const uint8_t *at = s->at;

	if (n > (uint64_t)(s->end - at)) {
		s->cut = true;
		s->at = s->end;
		return NULL;
	}
	s->at += n;
	return at;
}

static inline uint64_t span_number(struct span *s, unsigned size)
{
	const uint8_t *d = span_take(s, size);

	return d ? get_uint(d, size, s->big_endian) : 0;
}

/* Get a text of a u32 length, up to its NUL. Returns "" with *n 0 beyond the end. */
static inline const char *span_string(struct span *s, size_t *n)
{
	uint64_t size = span_number(s, 4);
	const char *text = (const char *)span_take(s, size);

	*n = text ? strnlen(text, size) : 0;
	return text ? text : "";
}

/* Get a text that ends with a NUL. NULL: there is no NUL. */
static inline const char *span_text(struct span *s)
{
	size_t n = strnlen((const char *)s->at, (size_t)(s->end - s->at));

	return (const char *)span_take(s, n + 1);
}

#endif
