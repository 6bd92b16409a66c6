/*
 * read.c - reads the numbers and strings of a trace
 */
#include <stdarg.h>
#include <stdio.h>

#include "cmd/trdecode/apitrace/apitrace.h"

int apitrace_bad(struct apitrace *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->message, sizeof a->message, fmt, ap);
	va_end(ap);
	a->failure = FAILURE_BAD;
	return -1;
}

int apitrace_no_memory(struct apitrace *a)
{
	a->failure = FAILURE_FATAL;
	return error_set(&a->error, NULL, NO_OFFSET, "out of memory");
}

uint64_t apitrace_offset(const struct apitrace *a)
{
	return a->unpack.total - (uint64_t)(a->unpack.end - a->unpack.at);
}

int apitrace_refill(struct apitrace *a)
{
	int got = unpack_more(&a->unpack, &a->error);

	if (got > 0)
		return 0;
	a->failure = got < 0 ? FAILURE_FATAL : FAILURE_END;
	return -1;
}

int apitrace_uint_slow(struct apitrace *a, uint64_t *out)
{
	uint64_t n = 0;
	uint8_t byte;

	/* longer numbers are padded with zeros, or exceed 64 bits: the other bits are lost, as in
	   apitrace, which does not report it; only one bit of the tenth byte is valid */
	for (unsigned shift = 0; shift < 7 * 64; shift += 7) {
		if (apitrace_byte(a, &byte))
			return -1;
		if (shift > 63 && byte & 0x7f)
			a->values.lost_bits = true;
		if (shift < 64)
			n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = n;
			return 0;
		}
	}
	return apitrace_bad(a, "a number of more than 64 bytes");
}

int apitrace_text(struct apitrace *a, struct buffer *b, size_t limit)
{
	uint64_t left;

	if (apitrace_uint(a, &left))
		return -1;
	if (left > limit)
		return apitrace_bad(a, "a name of %llu bytes", (unsigned long long)left);
	while (left) {
		size_t have = (size_t)(a->unpack.end - a->unpack.at);

		if (!have) {
			if (apitrace_refill(a))
				return -1;
			continue;
		}
		if (have > left)
			have = (size_t)left;
		if (buffer_append(b, a->unpack.at, have))
			return apitrace_no_memory(a);
		a->unpack.at += have;
		left -= have;
	}
	return 0;
}

int apitrace_name(struct apitrace *a, uint32_t *id)
{
	struct buffer *b = &a->values.members;
	size_t before = b->size;

	*id = 0;
	if (apitrace_text(a, b, APITRACE_NAME_LIMIT))
		return -1;
	if (a->w)
		*id = writer_string(a->w, b->data + before, b->size - before);
	a->ids.defined += b->size - before + 32;
	if (a->ids.defined > APITRACE_DEFINITIONS_LIMIT)
		return apitrace_bad(a, "definitions of more than %d bytes",
				    APITRACE_DEFINITIONS_LIMIT);
	b->size = before;
	return 0;
}
