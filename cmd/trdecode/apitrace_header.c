/*
 * The header of a trace: its version, and from version 6 on its properties.
 */
#include <inttypes.h>

#include "apitrace.h"

static int property(struct apitrace *a, bool *last)
{
	size_t before;
	int bad;

	a->members.size = 0;
	if (apitrace_text(a, &a->members, APITRACE_HEADER_LIMIT))
		return -1;
	*last = !a->members.size;
	if (*last)
		return 0;
	before = a->members.size;
	/* of a value that is cut apitrace has what is there */
	bad = apitrace_text(a, &a->members, APITRACE_HEADER_LIMIT);
	if (bad && a->failure != FAILURE_END)
		return -1;
	if (a->header.size + a->members.size > APITRACE_HEADER_LIMIT)
		return apitrace_bad(a, "properties of more than %d bytes", APITRACE_HEADER_LIMIT);
	for (int i = 0; i < 2; i++) {
		const uint8_t *text = a->members.data + (i ? before : 0);
		size_t n = i ? a->members.size - before : before;
		uint8_t length[10], *p = length;
		uint64_t rest = n;

		for (; rest > 0x7f; rest >>= 7)
			*p++ = (uint8_t)(rest | 0x80);
		*p++ = (uint8_t)rest;
		if (buffer_append(&a->header, length, (size_t)(p - length)) ||
		    buffer_append(&a->header, text, n))
			return apitrace_no_memory(a);
	}
	return bad;
}

static int put_version(struct apitrace *a, uint64_t version)
{
	return buffer_u8(&a->header, (uint8_t)version) ? apitrace_no_memory(a) : 0;
}

int apitrace_header(struct apitrace *a)
{
	bool last = false;
	int bad = 0;

	a->header.size = 0;
	a->version = a->semantic = 0;
	if (apitrace_uint(a, &a->version))
		return -1;
	a->semantic = a->version;
	if (a->version > APITRACE_LATEST)
		return apitrace_bad(a, "unsupported trace format version %" PRIu64, a->version);
	if (put_version(a, a->version))
		return -1;
	if (a->version < APITRACE_PROPERTIES)
		return 0;
	if (apitrace_uint(a, &a->semantic))
		return -1;
	if (a->semantic > a->version)
		return apitrace_bad(a, "semantic version %" PRIu64 " of format version %" PRIu64,
				    a->semantic, a->version);
	if (put_version(a, a->semantic))
		return -1;
	while (!last && !bad)
		bad = property(a, &last);
	if (buffer_u8(&a->header, 0))
		return apitrace_no_memory(a);
	return bad;
}
