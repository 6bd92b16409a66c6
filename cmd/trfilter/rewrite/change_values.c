#include "cmd/trfilter/rewrite/change_values.h"

/* Returns a number in [0, 1) that depends on the bytes. */
static double part_of_one(const struct scrub *s, const uint8_t *bytes, size_t n)
{
	return (double)(siphash(&s->key, bytes, n) >> 11) / (double)(1ull << 53);
}

static bool all_zero(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Replace a floating-point number by another one of the same format; 0 is unchanged. */
static void machine_number(const struct scrub *s, char format, const uint8_t *bytes, size_t n,
			   uint8_t *out)
{
	double d = part_of_one(s, bytes, n);
	float f = (float)d;
	uint64_t bits = 0;

	memset(out, 0, n);
	if (all_zero(bytes, n))
		return;
	if (format != 'f') {
		for (size_t i = 0; i < n && i < 8; i++)
			bits |= (uint64_t)bytes[i] << 8 * i;
		bits = siphash(&s->key, &bits, sizeof bits);
		if (format == 'c')
			bits = 'a' + bits % 26;
		for (size_t i = 0; i < n && i < 8; i++)
			out[i] = (uint8_t)(bits >> 8 * i);
	} else if (n == 4) {
		memcpy(&bits, &f, sizeof f);
		put_u32(out, (uint32_t)bits);
	} else if (n == 8) {
		memcpy(&bits, &d, sizeof d);
		put_u64(out, bits);
	} else if (n == 10) {
		/* x87: the highest bit of the fraction is explicit, the exponent is that of 0.5
		 * to 1 */
		put_u64(out, siphash(&s->key, bytes, n) | 1ull << 63);
		put_u16(out + 8, 0x3ffe);
	}
}

static int put_text(const struct scrub *s, const uint8_t *text, size_t n, struct buffer *out)
{
	char pseudonym[PSEUDONYM];

	scrub_pseudonym(s, text, n, pseudonym);
	return buffer_uleb(out, n ? PSEUDONYM : 0) ||
	       buffer_append(out, pseudonym, n ? PSEUDONYM : 0);
}

static int put_blob(const struct scrub *s, const uint8_t *bytes, size_t n, struct buffer *out)
{
	uint8_t pattern[8];

	if (buffer_uleb(out, n))
		return -1;
	scrub_pattern(s, bytes, n, pattern);
	for (; n > sizeof pattern; n -= sizeof pattern)
		if (buffer_append(out, pattern, sizeof pattern))
			return -1;
	return buffer_append(out, pattern, n);
}

/* Write one value without its children; its tag is written already. */
static int put_scrubbed(const struct scrub *s, const struct value *v, struct buffer *out)
{
	uint8_t bytes[16];

	switch (v->tag) {
	case VALUE_NEGATIVE: return buffer_uleb(out, scrub_number(s, -v->number) & INT64_MAX);
	case VALUE_UINT:
	case VALUE_POINTER: return buffer_uleb(out, scrub_number(s, v->number));
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		machine_number(s, 'f', v->bytes, v->n, bytes);
		return buffer_append(out, bytes, v->n);
	case VALUE_STRING: return put_text(s, v->bytes, v->n, out);
	case VALUE_WSTRING: return put_text(s, v->bytes, v->n, out);
	case VALUE_BLOB: return put_blob(s, v->bytes, v->n, out);
	case VALUE_ENUM:
		machine_number(s, 'i', v->bytes, v->n, bytes);
		return buffer_uleb(out, v->definition) || buffer_u8(out, v->size) ||
		       buffer_append(out, bytes, v->n);
	case VALUE_BITMASK:
		return buffer_uleb(out, v->definition) ||
		       buffer_uleb(out, scrub_number(s, v->number));
	case VALUE_NUMBER:
		machine_number(s, (char)v->format, v->bytes, v->n, bytes);
		return buffer_u8(out, v->format) || buffer_u8(out, v->size) ||
		       buffer_append(out, bytes, v->n);
	case VALUE_OPAQUE:
		return put_text(s, (const uint8_t *)v->type_name, v->type_name_size, out) ||
		       put_blob(s, v->bytes, v->n, out);
	}
	return 0;
}

/* Returns true if the tag has a value of its own, and does not only describe what follows. */
static bool has_value(uint8_t tag)
{
	switch (tag) {
	case VALUE_NULL:
	case VALUE_FALSE:
	case VALUE_TRUE:
	case VALUE_ARRAY:
	case VALUE_STRUCT:
	case VALUE_REPR:
	case VALUE_FRAME: return false;
	}
	return true;
}

/* Write a value with its children. Returns 1 if the bytes are invalid. */
static int change_value(struct values *v, const struct scrub *s, struct buffer *out)
{
	uint64_t open = 1;

	while (open--) {
		const uint8_t *from = v->at;
		struct value one;

		/* every value takes at least one byte */
		if (!values_value(v, &one) || one.count > (uint64_t)(v->end - v->at))
			return 1;
		open += one.count;
		if (open > (uint64_t)(v->end - v->at))
			return 1;
		if (has_value(one.tag) ? buffer_u8(out, one.tag) || put_scrubbed(s, &one, out)
				       : buffer_append(out, from, (size_t)(v->at - from)))
			return -1;
	}
	return 0;
}

/* Copy a detail of unknown kind, unless it may contain something to be hidden. */
static int pass_unknown(const struct scrub *s, const uint8_t *from, const uint8_t *to,
			struct buffer *out)
{
	return s->what & SCRUB_ARGS ? 0 : buffer_append(out, from, (size_t)(to - from));
}

int change_values(struct projection *p, const struct scrub *s, const struct definition *names,
		  const uint8_t *tail, size_t n, struct buffer *out)
{
	struct values v;
	uint64_t index;
	uint8_t what;
	const uint8_t *done = tail;

	values_begin(&v, tail, n);
	for (; values_what(&v, &what, &index); done = v.at) {
		const uint8_t *from = v.detail;
		bool stays = projection_detail(p, what, index, names);
		size_t head = (size_t)(v.at - from), before = out->size;
		bool scrubbed = s->what & SCRUB_ARGS && what != DETAIL_FLAGS;
		int bad;

		if (pass_unknown(s, done, from, out))
			return -1;

		if (!stays || !scrubbed) {
			if (!values_skip(&v))
				return 0;
			if (stays && buffer_append(out, from, (size_t)(v.at - from)))
				return -1;
			continue;
		}
		if (buffer_append(out, from, head))
			return -1;
		bad = change_value(&v, s, out);
		if (bad) {
			out->size = before;
			return bad < 0 ? -1 : 0;
		}
	}
	return v.bad ? 0 : pass_unknown(s, done, v.at, out);
}
