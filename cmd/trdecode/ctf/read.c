/*
 * read.c - reads parts of a packet, bit by bit
 */
#include <string.h>

#include "common/stream/value.h"
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

static inline bool has(const struct ctf_cursor *c, uint64_t bits)
{
	return c->at <= c->have && bits <= c->have - c->at;
}

static uint64_t sign_bits(uint64_t n, unsigned size)
{
	unsigned shift = 64 - size;

	return (uint64_t)((int64_t)(n << shift) >> shift);
}

/* Read the number at the cursor, sign-extended. */
static enum ctf_got read_number(struct ctf_cursor *c, const struct ctf_part *p, uint64_t *n)
{
	c->at = ctf_align(c->at, p->align);
	if (!has(c, p->size))
		return CTF_SHORT;
	if (p->size >= 8 && !(p->size & (p->size - 1)) && !(c->at % 8))
		*n = get_uint(c->data + (c->at - c->origin) / 8, p->size / 8u, p->big);
	else
		*n = ctf_bits(c->data, c->at - c->origin, p->size, p->big);
	c->at += p->size;
	if (p->is_signed)
		*n = sign_bits(*n, p->size);
	return CTF_GOT;
}

static enum ctf_got integer(struct ctf_cursor *c, const struct ctf_part *p, uint64_t *n)
{
	enum ctf_got got = read_number(c, p, n);

	if (got != CTF_GOT)
		return got;
	if (p->slot)
		c->slots[p->slot] = *n;
	if (p->role == CTF_TIME)
		c->time = ctf_later(c->time, *n, p->size);
	c->role[p->role] = *n;
	c->seen |= 1u << p->role;
	return CTF_GOT;
}

/* Keep a text or bytes that the decoder needs, by the part's role. */
static inline void keep_bytes(struct ctf_cursor *c, const struct ctf_part *p, const uint8_t *bytes,
			      size_t n)
{
	if (p->role == CTF_COMM) {
		c->comm = bytes;
		c->comm_size = strnlen((const char *)bytes, n);
	} else if (p->role == CTF_NEXT_COMM) {
		c->next_comm = bytes;
		c->next_comm_size = strnlen((const char *)bytes, n);
	} else if (p->role == CTF_UUID && n == 16) {
		c->uuid = bytes;
	}
}

/* Read the string at the cursor; its size is without the NUL. */
static enum ctf_got read_string(struct ctf_cursor *c, const struct ctf_part *p,
				const uint8_t **text, size_t *n)
{
	const uint8_t *from, *end;

	c->at = ctf_align(c->at, 8);
	if (!has(c, 8))
		return CTF_SHORT;
	from = c->data + (c->at - c->origin) / 8;
	end = memchr(from, 0, (size_t)(c->have - c->at) / 8);
	if (!end)
		return CTF_SHORT;
	*text = from;
	*n = (size_t)(end - from);
	c->at += 8 * (*n + 1);
	keep_bytes(c, p, from, *n);
	return CTF_GOT;
}

const char *ctf_label(const struct ctf_type *t, uint64_t value, bool is_signed)
{
	for (const struct ctf_label *l = t->labels; l; l = l->next)
		if (is_signed ? (int64_t)value >= l->first && (int64_t)value <= l->last
			      : value >= (uint64_t)l->first && value <= (uint64_t)l->last)
			return l->name;
	return NULL;
}

/* Return the member of a variant that its tag chooses; NULL: none. */
static const struct ctf_part *ctf_chosen(const struct ctf_cursor *c, const struct ctf_part *variant)
{
	const struct ctf_part *tag = variant->refers;
	const char *label = ctf_label(tag->type, c->slots[tag->slot], tag->is_signed);

	for (const struct ctf_part *p = variant->children; label && p; p = p->next)
		if (!strcmp(p->name, label) || (p->name[0] == '_' && !strcmp(p->name + 1, label)))
			return p;
	return NULL;
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
	case CTF_FLOAT: return p->size;
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
	if (n > UINT64_MAX / 8 || !has(c, 8 * n))
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

	return bits && (n > UINT64_MAX / bits || !has(c, n * bits));
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
	case CTF_FLOAT: return read_number(c, p, &n);
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
		chosen = ctf_chosen(c, p);
		return chosen ? ctf_step_over(c, chosen) : CTF_BAD;
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

/* --- values --- */

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

	got = p->kind == CTF_FLOAT ? read_number(c, p, &n) : integer(c, p, &n);
	if (got != CTF_GOT)
		return got;
	put_u64(bytes, n);
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
	if (is_bytes(p->children) && p->children->type->text) {
		got = run_of_bytes(c, p, n, &text);
		if (got != CTF_GOT)
			return got;
		return value_put_bytes(b, VALUE_STRING, text, strnlen((const char *)text, n))
			       ? CTF_BAD
			       : CTF_GOT;
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
	const uint8_t *text;
	uint64_t n = 0, from;
	size_t size;

	switch (p->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
	case CTF_FLOAT: return put_number(c, p, b);
	case CTF_STRING:
		got = read_string(c, p, &text, &size);
		if (got == CTF_GOT && value_put_bytes(b, VALUE_STRING, text, size))
			return CTF_BAD;
		return got;
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
		chosen = ctf_chosen(c, p);
		if (!chosen || value_put_struct(b, chosen->option, 1))
			return CTF_BAD;
		return ctf_put_value(c, chosen, b);
	case CTF_ARRAY:
	case CTF_SEQUENCE: return put_elements(c, p, b);
	}
	return CTF_BAD;
}
