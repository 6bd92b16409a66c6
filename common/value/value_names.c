#include "common/value/value_names.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/util/utf8.h"

size_t value_enum_decimal(char out[static I128_SIZE], const struct definition *d,
			  const struct value *v)
{
	bool is_unsigned = definition_is_unsigned(d);
	uint128 number = 0;

	if (v->size <= 8) {
		number = is_unsigned ? v->number : (uint128)(int128)sign_extend(v->number, v->size);
	} else {
		for (unsigned i = v->size; i-- > 0;)
			number = number << 8 | v->bytes[i];
		if (!is_unsigned && v->size < 16 && v->bytes[v->size - 1] & 0x80)
			number |= UINT128_MAX << 8 * v->size;
	}
	return is_unsigned ? u128_decimal(out, number) : i128_decimal(out, (int128)number);
}

struct text_ref value_enum_text(char room[static I128_SIZE], const struct definition *d,
				const struct value *v)
{
	const struct member *m = NULL;
	bool is_signed;
	uint64_t n;

	if (value_integer(v, d, &n, &is_signed))
		m = definition_member(d, n);
	return m ? m->name
		 : (struct text_ref){.text = room, .size = value_enum_decimal(room, d, v)};
}

int value_sum_text(struct buffer *b, const struct definition *d, uint64_t number)
{
	int64_t rest = (int64_t)number;
	bool any = false;

	for (uint32_t i = 0; d && i < d->count && rest; i++) {
		const struct member *m = &d->members[i];

		if ((int64_t)m->low > rest)
			continue;
		rest = (int64_t)((uint64_t)rest - m->low);
		if ((any && buffer_append(b, "|", 1)) ||
		    buffer_append(b, m->name.text, m->name.size))
			return -1;
		any = true;
	}
	return any && rest && buffer_printf(b, "+0x%" PRIx64, (uint64_t)rest) ? -1 : 0;
}

int value_bits_text(struct buffer *b, const struct definition *d, uint64_t bits)
{
	uint64_t rest = bits;
	bool any = false;

	for (uint32_t i = 0; d && i < d->count && !(any && !rest); i++) {
		const struct member *m = &d->members[i];

		if (m->low ? (rest & m->low) != m->low : rest != 0)
			continue;
		if ((any && buffer_append(b, "|", 1)) ||
		    buffer_append(b, m->name.text, m->name.size))
			return -1;
		rest &= ~m->low;
		any = true;
	}
	if (any && !rest)
		return 0;
	return buffer_printf(b, "%s0x%" PRIx64, any ? "|" : "", rest);
}

int value_wide_text(struct buffer *b, const struct value *v)
{
	const uint8_t *at = v->bytes, *end = at + v->n;

	while (at < end) {
		uint64_t c = value_unit(&at);

		if (!c)
			break;
		if (utf8_put(b, c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0xfffd : (uint32_t)c))
			return -1;
	}
	return 0;
}

static int put_frame(struct buffer *b, const struct definition *d)
{
	const struct text_ref *module = NULL, *function = NULL;
	uint64_t offset = 0;

	/* the name of a text is followed by the text */
	for (uint32_t i = 0; d && i < d->count; i++) {
		const char *key = d->members[i].name.text;
		const struct text_ref *text =
			i + 1 < d->count ? &d->members[i + 1].name : &d->members[i].name;

		if (!strcmp(key, "offset"))
			offset = d->members[i].low;
		else if (!strcmp(key, "line"))
			continue;
		else if (!strcmp(key, "function"))
			function = text, i++;
		else if (!strcmp(key, "module"))
			module = text, i++;
		else
			i++;
	}
	if (function)
		return buffer_append(b, function->text, function->size);
	return buffer_append(b, module ? module->text : "?", module ? module->size : 1) ||
			       buffer_printf(b, "+0x%" PRIx64, offset)
		       ? -1
		       : 0;
}

int value_backtrace_text(struct buffer *b, const struct dictionary *d, const struct values *v,
			 uint64_t count)
{
	uint32_t *frames = calloc(count + 1, sizeof *frames);
	struct values at = *v;
	struct value frame;
	uint64_t n = 0;
	int bad = !frames;

	for (; !bad && n < count && values_value(&at, &frame); n++)
		frames[n] = frame.definition;
	while (!bad && n--)
		bad = put_frame(b, dictionary_definition_id(d, frames[n])) ||
		      (n && buffer_u8(b, ';'));
	free(frames);
	return bad ? -1 : 0;
}
