/*
 * snappy.c - unpacks the raw form of snappy up to a cut or damage; libsnappy returns nothing of
 * such blocks
 */
#include <string.h>

#include "cmd/trdecode/input/unpack.h"

static bool snappy_preamble(const uint8_t **p, const uint8_t *end, uint32_t *length)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 35 && *p < end; shift += 7) {
		uint8_t byte = *(*p)++;

		n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*length = (uint32_t)n;
			return n <= UINT32_MAX;
		}
	}
	return false;
}

bool snappy_length(const uint8_t *in, size_t n, uint32_t *length)
{
	return snappy_preamble(&in, in + n, length);
}

static uint32_t snappy_little(const uint8_t *p, unsigned n)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint32_t)p[i] << 8 * i;
	return v;
}

/* Read the head of an element: a literal of run bytes, which follow (*offset 0), or a copy of run
 * bytes from offset bytes before. Returns false if the head is cut, or is none. */
static bool snappy_element(const uint8_t **p, const uint8_t *end, size_t *run, size_t *offset)
{
	uint8_t tag = *(*p)++;
	unsigned n; /* bytes of a number after the tag */

	switch (tag & 3) {
	case 0: n = tag >> 2 >= 60 ? (unsigned)(tag >> 2) - 59 : 0; break;
	case 1: n = 1; break;
	default: n = (tag & 3) == 2 ? 2 : 4;
	}
	if ((size_t)(end - *p) < n)
		return false;
	*offset = snappy_little(*p, n);
	*run = (size_t)(tag >> 2) + 1;
	*p += n;
	if ((tag & 3) == 0) {
		*run = n ? *offset + 1 : *run;
		*offset = 0;
		return true;
	}
	if ((tag & 3) == 1) {
		*run = (size_t)(tag >> 2 & 7) + 4;
		*offset |= (size_t)(tag >> 5) << 8;
	}
	return *offset > 0;
}

size_t snappy_part(const uint8_t *p, size_t n, uint8_t *out, size_t size, bool *whole)
{
	const uint8_t *end = p + n;
	size_t done = 0, run, offset;
	uint32_t length;
	bool all;

	*whole = false;
	if (!snappy_preamble(&p, end, &length))
		return 0;
	all = length <= size; /* else only size bytes are wanted */
	if (all)
		size = length;
	while (p < end && done < size) {
		if (!snappy_element(&p, end, &run, &offset))
			return done;
		if (offset) {
			if (offset > done || run > size - done)
				return done;
			for (size_t i = 0; i < run; i++, done++) /* they may overlap */
				out[done] = out[done - offset];
			continue;
		}
		if (run > size - done) {
			if (all)
				return done;
			run = size - done;
		}
		if (run > (size_t)(end - p)) {
			/* a cut inside a literal: the bytes before it are valid */
			memcpy(out + done, p, (size_t)(end - p));
			return done + (size_t)(end - p);
		}
		memcpy(out + done, p, run);
		p += run;
		done += run;
	}
	*whole = done == length && p == end;
	return done;
}
