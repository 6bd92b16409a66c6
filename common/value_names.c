#include "value_names.h"

#include <inttypes.h>

int value_bits_text(struct buffer *b, const struct definition *d, uint64_t bits)
{
	uint64_t rest = bits;
	bool any = false;

	for (uint32_t i = 0; d && i < d->count && !(any && !rest); i++) {
		const struct member *m = &d->members[i];

		if (m->value ? (rest & m->value) != m->value : rest != 0)
			continue;
		if ((any && buffer_append(b, " | ", 3)) ||
		    buffer_append(b, m->name.text, m->name.size))
			return -1;
		rest &= ~m->value;
		any = true;
	}
	if (any && !rest)
		return 0;
	return buffer_printf(b, "%s0x%" PRIx64, any ? " | " : "", rest);
}

static int put_character(struct buffer *b, uint64_t c)
{
	uint8_t u[4];

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80)
		return buffer_u8(b, (uint8_t)c);
	u[3] = (uint8_t)(0x80 | (c & 63));
	u[2] = (uint8_t)(0x80 | (c >> 6 & 63));
	u[1] = (uint8_t)(0x80 | (c >> 12 & 63));
	if (c < 0x800) {
		u[2] = (uint8_t)(0xc0 | c >> 6);
		return buffer_append(b, u + 2, 2);
	}
	if (c < 0x10000) {
		u[1] = (uint8_t)(0xe0 | c >> 12);
		return buffer_append(b, u + 1, 3);
	}
	u[0] = (uint8_t)(0xf0 | c >> 18);
	return buffer_append(b, u, 4);
}

int value_wide_text(struct buffer *b, const struct value *v)
{
	const uint8_t *at = v->bytes, *end = at + v->n;

	while (at < end) {
		uint64_t c = value_unit(&at);

		if (!c)
			break;
		if (put_character(b, c))
			return -1;
	}
	return 0;
}
