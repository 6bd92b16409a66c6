/*
 * read.c - reads parts of a packet, bit by bit
 */
#include <string.h>

#include "common/stream/value.h"
#include "common/util/bisect.h"
#include "common/util/utf8.h"
#include "cmd/trdecode/ctf/layout.h"

uint64_t ctf_bits(const uint8_t *data, uint64_t at, unsigned size, bool big)
{
	const uint8_t *p = data + at / 8;
	unsigned shift = at % 8, bytes = (shift + size + 7) / 8;
	unsigned __int128 n = 0;

	if (big) {
		for (unsigned i = 0; i < bytes; i++)
			n = n << 8 | p[i];
		n >>= 8 * bytes - shift - size;
	} else {
		for (unsigned i = bytes; i--;)
			n = n << 8 | p[i];
		n >>= shift;
	}
	return size < 64 ? (uint64_t)n & ((1ull << size) - 1) : (uint64_t)n;
}

enum ctf_got ctf_read_number(struct ctf_cursor *c, const struct ctf_part *p, uint64_t *n)
{
	if (__builtin_expect(p->unusual, 0))
		return ctf_read_unusual(c, p, n);
	c->at = ctf_align(c->at, p->align);
	if (!ctf_has(c, p->size))
		return CTF_SHORT;
	if (p->size >= 8 && !(p->size & (p->size - 1)) && !(c->at % 8))
		*n = get_uint(c->data + (c->at - c->origin) / 8, p->size / 8u, p->big);
	else
		*n = ctf_bits(c->data, c->at - c->origin, p->size, p->big);
	c->at += p->size;
	if (p->is_signed)
		*n = ctf_sign_bits(*n, p->size);
	return CTF_GOT;
}

/* Keep the value of a part that has several roles. */
static void keep_roles(struct ctf_cursor *c, uint32_t roles, uint64_t n)
{
	for (; roles; roles &= roles - 1)
		c->role[__builtin_ctz(roles)] = n;
}

static enum ctf_got integer(struct ctf_cursor *c, const struct ctf_part *p, uint64_t *n)
{
	enum ctf_got got = ctf_read_number(c, p, n);

	if (got != CTF_GOT)
		return got;
	if (p->slot)
		c->slots[p->slot] = *n;
	if (p->role == CTF_TIME)
		c->time = ctf_later(c->time, *n, p->type->varying ? c->width : p->size);
	c->role[p->role] = *n;
	c->seen |= 1u << p->role | p->roles;
	if (__builtin_expect(p->roles, 0))
		keep_roles(c, p->roles, *n);
	return CTF_GOT;
}

/* Keep a text or bytes that the decoder needs, by the part's role. */
static inline void keep_bytes(struct ctf_cursor *c, const struct ctf_part *p, const uint8_t *bytes,
			      size_t n)
{
	if (p->type->unit) {
		return; /* not in UTF-8 */
	} else if (p->role == CTF_COMM) {
		c->comm = bytes;
		c->comm_size = strnlen((const char *)bytes, n);
	} else if (p->role == CTF_NEXT_COMM) {
		c->next_comm = bytes;
		c->next_comm_size = strnlen((const char *)bytes, n);
	} else if (p->role == CTF_UUID && n == 16) {
		c->uuid = bytes;
	}
}

/* Read the string at the cursor; its size in bytes is without the NUL. */
static enum ctf_got read_string(struct ctf_cursor *c, const struct ctf_part *p,
				const uint8_t **text, size_t *n)
{
	const uint8_t *from, *end;
	uint64_t have;
	size_t unit = p->type->unit;

	c->at = ctf_align(c->at, 8);
	if (!ctf_has(c, 8))
		return CTF_SHORT;
	from = c->data + (c->at - c->origin) / 8;
	have = (c->have - c->at) / 8;
	if (unit) {
		static const uint8_t nul[4];

		for (end = from; (uint64_t)(end - from) + unit <= have; end += unit)
			if (!memcmp(end, nul, unit))
				break;
		if ((uint64_t)(end - from) + unit > have)
			return CTF_SHORT;
	} else {
		unit = 1;
		end = memchr(from, 0, (size_t)have);
		if (!end)
			return CTF_SHORT;
	}
	*text = from;
	*n = (size_t)(end - from);
	c->at += 8 * (*n + unit);
	keep_bytes(c, p, from, *n);
	return CTF_GOT;
}

const struct ctf_part *ctf_option(const struct ctf_part *variant, uint64_t value)
{
	const struct ctf_choice *c = variant->choices;
	size_t n = variant->nchoices, i;

	if (variant->kind == CTF_OPTIONAL && !variant->children->ranges)
		return value ? variant->children : NULL;
	value = ctf_tag_key(variant->refers, value);
	i = BISECT(n, k, c[k].last < value);
	return i < n && c[i].first <= value ? c[i].option : NULL;
}

/* Return the member of a variant or optional that its tag chooses; NULL: none. */
static const struct ctf_part *chosen_of(const struct ctf_cursor *c, const struct ctf_part *variant)
{
	return ctf_option(variant, c->slots[variant->refers->slot]);
}

/* Return the number of elements of an array or sequence. */
static uint64_t element_count(const struct ctf_cursor *c, const struct ctf_part *p)
{
	uint64_t n = p->kind == CTF_ARRAY ? p->count : c->slots[p->refers->slot];

	if (p->kind == CTF_SEQUENCE && p->refers->is_signed && (int64_t)n < 0)
		n = 0;
	return n;
}

/* Return the bits of one number, or the least bits of one string; 0: no least size is known. */
static uint64_t element_bits(const struct ctf_part *p)
{
	switch (p->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
	case CTF_FLOAT: return p->type->varying ? 8 : p->size;
	case CTF_STRING: return 8;
	default: return 0;
	}
}

static bool is_bytes(const struct ctf_part *p)
{
	return p->kind == CTF_INTEGER && p->size == 8 && !(p->align % 8) && p->align == 8;
}

/* Read an array of bytes. */
static enum ctf_got run_of_bytes(struct ctf_cursor *c, const struct ctf_part *p, uint64_t n,
				 const uint8_t **bytes)
{
	c->at = ctf_align(c->at, 8);
	if (n > UINT64_MAX / 8 || !ctf_has(c, 8 * n))
		return CTF_SHORT;
	*bytes = c->data + (c->at - c->origin) / 8;
	c->at += 8 * n;
	keep_bytes(c, p, *bytes, (size_t)n);
	return CTF_GOT;
}

/* Test whether n elements need more bits than are loaded. */
static bool too_many(const struct ctf_cursor *c, const struct ctf_part *p, uint64_t n)
{
	uint64_t bits = element_bits(p->children);

	return bits && (n > UINT64_MAX / bits || !ctf_has(c, n * bits));
}

/* Count an element or member that began at bit `from`. false: too many. */
static inline bool count_part(struct ctf_cursor *c, uint64_t from)
{
	if (!c->budget)
		return false;
	c->budget--;
	return __builtin_expect(c->at != from, 1) || (c->empty && c->empty--);
}

enum ctf_got ctf_step_over(struct ctf_cursor *c, const struct ctf_part *p)
{
	enum ctf_got got = CTF_GOT;
	const struct ctf_part *chosen;
	const uint8_t *text;
	uint64_t n, from;
	size_t size;

	switch (p->kind) {
	case CTF_INTEGER:
	case CTF_ENUM: return integer(c, p, &n);
	case CTF_FLOAT: return ctf_read_number(c, p, &n);
	case CTF_STRING: return read_string(c, p, &text, &size);
	case CTF_STRUCT:
		c->at = ctf_align(c->at, p->align);
		for (const struct ctf_part *m = p->children; m && got == CTF_GOT; m = m->next) {
			from = c->at;
			got = ctf_step_over(c, m);
			if (got == CTF_GOT && !count_part(c, from))
				return CTF_BAD;
		}
		return got;
	case CTF_VARIANT:
	case CTF_OPTIONAL:
		chosen = chosen_of(c, p);
		if (!chosen)
			return p->kind == CTF_OPTIONAL ? CTF_GOT : CTF_BAD;
		return ctf_step_over(c, chosen);
	case CTF_ARRAY:
	case CTF_SEQUENCE:
		n = element_count(c, p);
		c->at = ctf_align(c->at, p->align);
		if (is_bytes(p->children))
			return run_of_bytes(c, p, n, &text);
		if (too_many(c, p, n))
			return CTF_SHORT;
		for (; n && got == CTF_GOT; n--) {
			from = c->at;
			got = ctf_step_over(c, p->children);
			if (got == CTF_GOT && !count_part(c, from))
				return CTF_BAD;
		}
		return got;
	}
	return CTF_BAD;
}

/* --- texts --- */

bool ctf_is_text(const struct ctf_part *p)
{
	return p->kind == CTF_STRING || ((p->kind == CTF_ARRAY || p->kind == CTF_SEQUENCE) &&
					 is_bytes(p->children) && p->children->type->text);
}

/* Read the text at the cursor, up to a NUL. */
static enum ctf_got read_text(struct ctf_cursor *c, const struct ctf_part *p, const uint8_t **text,
			      size_t *n)
{
	static const uint8_t nul[4];
	uint64_t size = 0;
	size_t unit = p->type->unit;
	enum ctf_got got;

	if (p->kind == CTF_STRING)
		return read_string(c, p, text, n);
	size = element_count(c, p);
	c->at = ctf_align(c->at, p->align);
	got = run_of_bytes(c, p, size, text);
	if (got != CTF_GOT)
		return got;
	*n = (size_t)size;
	if (!unit)
		*n = strnlen((const char *)*text, *n);
	for (size_t i = 0; unit && i + unit <= size; i += unit)
		if (!memcmp(*text + i, nul, unit))
			*n = i;
	return CTF_GOT;
}

/* Append a text of UTF-16 or UTF-32 to b as UTF-8. Units that are no character become U+FFFD. */
static int put_converted(const struct ctf_part *p, const uint8_t *text, size_t n, struct buffer *b)
{
	size_t unit = p->type->unit;

	for (size_t i = 0; i + unit <= n; i += unit) {
		uint32_t code = (uint32_t)get_uint(text + i, (unsigned)unit, p->big), low = 0;

		if (unit == 2 && code >> 10 == 0xd800 >> 10 && i + 4 <= n) {
			low = (uint32_t)get_uint(text + i + 2, 2, p->big);
			if (low >> 10 == 0xdc00 >> 10) {
				code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
				i += 2;
			}
		}
		if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
			code = 0xfffd;
		if (utf8_put(b, code))
			return -1;
	}
	return 0;
}

enum ctf_got ctf_put_text(struct ctf_cursor *c, const struct ctf_part *p, struct buffer *b)
{
	const uint8_t *text;
	size_t n;
	enum ctf_got got = read_text(c, p, &text, &n);

	if (got != CTF_GOT)
		return got;
	return (p->type->unit ? put_converted(p, text, n, b) : buffer_append(b, text, n)) ||
			       buffer_u8(b, 0)
		       ? CTF_BAD
		       : CTF_GOT;
}

/* --- values --- */

static enum ctf_got put_text_value(struct ctf_cursor *c, const struct ctf_part *p, struct buffer *b)
{
	struct buffer converted = {0};
	const uint8_t *text;
	size_t n;
	enum ctf_got got = read_text(c, p, &text, &n);

	if (got != CTF_GOT)
		return got;
	if (!p->type->unit)
		return value_put_bytes(b, VALUE_STRING, text, n) ? CTF_BAD : CTF_GOT;
	if (put_converted(p, text, n, &converted) ||
	    value_put_bytes(b, VALUE_STRING, converted.data, converted.size))
		got = CTF_BAD;
	buffer_free(&converted);
	return got;
}

static char format_of(const struct ctf_part *p)
{
	if (p->kind == CTF_FLOAT)
		return 'f';
	switch (p->type->base) {
	case 16: return 'x';
	case 8: return 'o';
	default: return p->is_signed ? 'i' : 'u';
	}
}

static enum ctf_got put_number(struct ctf_cursor *c, const struct ctf_part *p, struct buffer *b)
{
	uint8_t bytes[8];
	enum ctf_got got;
	uint64_t n;

	got = p->kind == CTF_FLOAT ? ctf_read_number(c, p, &n) : integer(c, p, &n);
	if (got != CTF_GOT)
		return got;
	put_u64(bytes, n);
	if (p->kind == CTF_ENUM && p->definition && p->type->flags)
		return value_put_bitmask(b, p->definition, n) ? CTF_BAD : CTF_GOT;
	if (p->kind == CTF_FLOAT ? value_put_float(b, bytes, p->size / 8)
	    : p->kind == CTF_ENUM && p->definition
		    ? value_put_enum(b, p->definition, bytes, ctf_bytes(p->size))
		    : value_put_number(b, format_of(p), bytes, ctf_bytes(p->size)))
		return CTF_BAD;
	return CTF_GOT;
}

static enum ctf_got put_elements(struct ctf_cursor *c, const struct ctf_part *p, struct buffer *b)
{
	uint64_t n = element_count(c, p), from;
	enum ctf_got got = CTF_GOT;
	const uint8_t *text;

	c->at = ctf_align(c->at, p->align);
	if (is_bytes(p->children) && p->children->type->blob) {
		got = run_of_bytes(c, p, n, &text);
		if (got != CTF_GOT)
			return got;
		return value_put_bytes(b, VALUE_BLOB, text, (size_t)n) ? CTF_BAD : CTF_GOT;
	}
	if (too_many(c, p, n))
		return CTF_SHORT;
	if (value_put_array(b, n))
		return CTF_BAD;
	for (; n && got == CTF_GOT; n--) {
		from = c->at;
		got = ctf_put_value(c, p->children, b);
		if (got == CTF_GOT && !count_part(c, from))
			return CTF_BAD;
	}
	return got;
}

enum ctf_got ctf_put_value(struct ctf_cursor *c, const struct ctf_part *p, struct buffer *b)
{
	enum ctf_got got = CTF_GOT;
	const struct ctf_part *chosen;
	uint64_t n = 0, from;

	if (ctf_is_text(p))
		return put_text_value(c, p, b);
	switch (p->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
	case CTF_FLOAT: return put_number(c, p, b);
	case CTF_STRING: break;
	case CTF_STRUCT:
		c->at = ctf_align(c->at, p->align);
		for (const struct ctf_part *m = p->children; m; m = m->next)
			n++;
		if (value_put_struct(b, p->definition, n))
			return CTF_BAD;
		for (const struct ctf_part *m = p->children; m && got == CTF_GOT; m = m->next) {
			from = c->at;
			got = ctf_put_value(c, m, b);
			if (got == CTF_GOT && !count_part(c, from))
				return CTF_BAD;
		}
		return got;
	case CTF_VARIANT:
		/* a struct with only the chosen member */
		chosen = chosen_of(c, p);
		if (!chosen || value_put_struct(b, chosen->option, 1))
			return CTF_BAD;
		return ctf_put_value(c, chosen, b);
	case CTF_OPTIONAL:
		chosen = chosen_of(c, p);
		if (!chosen)
			return value_put_simple(b, VALUE_NULL) ? CTF_BAD : CTF_GOT;
		return ctf_put_value(c, chosen, b);
	case CTF_ARRAY:
	case CTF_SEQUENCE: return put_elements(c, p, b);
	}
	return CTF_BAD;
}
