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

size_t snappy_part(const uint8_t *p, size_t n, uint8_t *out, size_t size, bool *whole)
{
	const uint8_t *end = p + n;
	uint32_t length;
	size_t done = 0;
	bool all;

	*whole = false;
	if (!snappy_preamble(&p, end, &length))
		return 0;
	all = length <= size; /* else only size bytes are wanted */
	if (all)
		size = length;
	while (p < end && done < size) {
		uint8_t tag = *p++;
		size_t run, offset;

		if ((tag & 3) == 0) {
			unsigned more = tag >> 2 >= 60 ? (unsigned)(tag >> 2) - 59 : 0;

			if ((size_t)(end - p) < more)
				return done;
			run = more ? (size_t)snappy_little(p, more) + 1 : (size_t)(tag >> 2) + 1;
			p += more;
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
			continue;
		}
		if ((tag & 3) == 1) {
			if (p == end)
				return done;
			run = (size_t)(tag >> 2 & 7) + 4;
			offset = (size_t)(tag >> 5) << 8 | *p++;
		} else {
			unsigned bytes = (tag & 3) == 2 ? 2 : 4;

			if ((size_t)(end - p) < bytes)
				return done;
			run = (size_t)(tag >> 2) + 1;
			offset = snappy_little(p, bytes);
			p += bytes;
		}
		if (!offset || offset > done || run > size - done)
			return done;
		for (size_t i = 0; i < run; i++, done++) /* source and target may overlap */
			out[done] = out[done - offset];
	}
	*whole = done == length && p == end;
	return done;
}
