/*
 * header.c - reads the header of a trace: its version, and from version 6 on its properties
 */
#include <inttypes.h>

#include "cmd/trdecode/apitrace/apitrace.h"

static int read_property(struct apitrace *a, bool *last)
{
	size_t before;
	int bad;

	a->values.members.size = 0;
	if (apitrace_text(a, &a->values.members, APITRACE_HEADER_LIMIT))
		return -1;
	*last = !a->values.members.size;
	if (*last)
		return 0;
	before = a->values.members.size;
	/* of a cut value apitrace keeps the part that the file has */
	bad = apitrace_text(a, &a->values.members, APITRACE_HEADER_LIMIT);
	if (bad && a->failure != FAILURE_END)
		return -1;
	if (a->header.size + a->values.members.size > APITRACE_HEADER_LIMIT)
		return apitrace_bad(a, "properties of more than %d bytes", APITRACE_HEADER_LIMIT);
	for (int i = 0; i < 2; i++) {
		const uint8_t *text = a->values.members.data + (i ? before : 0);
		size_t n = i ? a->values.members.size - before : before;
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
		bad = read_property(a, &last);
	if (buffer_u8(&a->header, 0))
		return apitrace_no_memory(a);
	return bad;
}

/* --- the headers of more traces --- */

/* Adjacent headers, until it is certain that they are headers. */
struct pending {
	struct buffer text;  /* the headers, adjacent */
	struct buffer sizes; /* their sizes, u32 each */
	bool too_many;
};

static int add_pending(struct apitrace *a, struct pending *p)
{
	p->too_many = p->text.size + a->header.size > APITRACE_HEADER_LIMIT ||
		      a->totals.traces + p->sizes.size / 4 >= APITRACE_TRACES_LIMIT;
	if (p->too_many)
		return apitrace_bad(a, "more than %d traces in a file, or %d bytes of headers",
				    APITRACE_TRACES_LIMIT, APITRACE_HEADER_LIMIT);
	return buffer_append(&p->text, a->header.data, a->header.size) ||
			       buffer_u32(&p->sizes, (uint32_t)a->header.size)
		       ? apitrace_no_memory(a)
		       : 0;
}

/* Read headers up to the first event or to the end of the data. */
static int read_pending(struct apitrace *a, struct pending *p)
{
	uint8_t next;

	do {
		if (apitrace_header(a) || add_pending(a, p))
			return -1;
		if (apitrace_byte(a, &next)) {
			if (a->failure != FAILURE_END)
				return -1;
			a->failure = FAILURE_NONE;
			return 0;
		}
		a->unpack.at--;
	} while (next > APITRACE_LEAVE && next <= APITRACE_LATEST);
	return next == APITRACE_ENTER ? 0 : apitrace_bad(a, "unknown event %u", next);
}

static int declare_pending(struct apitrace *a, const struct pending *p)
{
	const uint8_t *text = p->text.data;

	apitrace_count_open(a);
	for (size_t i = 0; i < p->sizes.size; i += 4) {
		uint32_t size = get_u32(p->sizes.data + i);

		a->version = text[0];
		a->semantic = text[a->version >= APITRACE_PROPERTIES];
		a->header.size = 0;
		if (buffer_append(&a->header, text, size))
			return apitrace_no_memory(a);
		if (apitrace_declare(a))
			return -1;
		text += size;
	}
	return 0;
}

int apitrace_other_traces(struct apitrace *a, uint8_t event)
{
	uint64_t version = a->version, semantic = a->semantic;
	struct pending p = {0};
	int result;

	if (event > APITRACE_LATEST)
		return apitrace_bad(a, "unknown event %u", event);
	a->unpack.at--;
	result = read_pending(a, &p);
	if (!result) {
		result = declare_pending(a, &p);
	} else if (a->failure != FAILURE_FATAL) {
		a->version = version;
		a->semantic = semantic;
		if (!p.too_many)
			apitrace_bad(a, "unknown event %u", event);
	}
	buffer_free(&p.text);
	buffer_free(&p.sizes);
	return result;
}
