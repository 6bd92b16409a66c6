/*
 * ctf.c - traces in CTF
 */
#include "cmd/trdecode/ctf.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/trdecode/bid.h"
#include "cmd/trdecode/ctf_metadata.h"
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/input_tree.h"
#include "cmd/trdecode/rows.h"
#include "common/ftrace/kernel_names.h"
#include "common/stream/field.h"
#include "common/stream/value.h"
#include "common/util/bisect.h"
#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/heap.h"
#include "common/util/intern.h"
#include "common/util/text.h"
#include "common/value/json.h"

/* --- reads parts of a packet, bit by bit --- */

/* Read size bits, 1 to 64, at a position whose bytes are loaded. */
static uint64_t ctf_bits(const uint8_t *data, uint64_t at, unsigned size, bool big)
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

/* Get the bytes that a number of so many bits takes in the stream. */
static inline uint32_t ctf_bytes(unsigned bits)
{
	return bits > 32 ? 8 : bits > 16 ? 4 : bits > 8 ? 2 : 1;
}

/* --- numbers of CTF 2 that version 1.8 does not have: varying, reversed or boolean --- */

/* Test whether so many bits after the cursor are loaded. */
static inline bool ctf_has(const struct ctf_cursor *c, uint64_t bits)
{
	return c->at <= c->have && bits <= c->have - c->at;
}

/* Read a number in LEB128. */
static enum ctf_got read_varying(struct ctf_cursor *c, const struct ctf_part *p, uint64_t *n)
{
	const uint8_t *from;
	uint64_t value = 0, have;
	unsigned size = 0, shift = 0;
	uint8_t byte;

	c->at = align_up(c->at, 8);
	if (!ctf_has(c, 8))
		return CTF_SHORT;
	from = c->data + (c->at - c->origin) / 8;
	have = (c->have - c->at) / 8;
	do {
		if (size == have)
			return CTF_SHORT;
		byte = from[size++];
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		/* bits above 63 must repeat the sign */
		if (shift >= 63 &&
		    (byte & 0x7f) >> (shift == 63) !=
			    (p->is_signed && value >> 63 ? 0x7f >> (shift == 63) : 0))
			return CTF_BAD;
		shift += 7;
	} while (byte & 0x80);
	if (p->is_signed && shift < 64 && byte & 0x40)
		value |= UINT64_MAX << shift;
	c->at += 8 * (uint64_t)size;
	c->width = shift;
	*n = value;
	return CTF_GOT;
}

/* Extend the sign of a number of so many bits. */
static inline uint64_t ctf_sign_bits(uint64_t n, unsigned size)
{
	unsigned shift = 64 - size;

	return (uint64_t)((int64_t)(n << shift) >> shift);
}

/* Read a number that is varying, reversed or boolean. */
static enum ctf_got ctf_read_unusual(struct ctf_cursor *c, const struct ctf_part *p, uint64_t *n)
{
	uint64_t bits, reverse = 0;

	if (p->type->varying)
		return read_varying(c, p, n);
	c->at = align_up(c->at, p->align);
	if (!ctf_has(c, p->size))
		return CTF_SHORT;
	bits = ctf_bits(c->data, c->at - c->origin, p->size, p->big);
	c->at += p->size;
	if (p->type->reversed) {
		for (unsigned i = 0; i < p->size; i++)
			reverse |= (bits >> i & 1) << (p->size - 1u - i);
		bits = reverse;
	}
	if (p->type->boolean)
		bits = bits != 0;
	*n = p->is_signed ? ctf_sign_bits(bits, p->size) : bits;
	return CTF_GOT;
}

/* Read the number at the cursor, sign-extended. */
static enum ctf_got ctf_read_number(struct ctf_cursor *c, const struct ctf_part *p, uint64_t *n)
{
	if (__builtin_expect(p->unusual, 0))
		return ctf_read_unusual(c, p, n);
	c->at = align_up(c->at, p->align);
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
static enum ctf_got ctf_read_string(struct ctf_cursor *c, const struct ctf_part *p,
				    const uint8_t **text, size_t *n)
{
	const uint8_t *from, *end;
	uint64_t have;
	size_t unit = p->type->unit;

	c->at = align_up(c->at, 8);
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

/* Get the option of a variant or optional that a value of the tag chooses, or NULL. */
static const struct ctf_part *ctf_option(const struct ctf_part *variant, uint64_t value)
{
	const struct ctf_choice *c = variant->choices;
	size_t n = variant->nchoices, i;

	if (variant->kind == CTF_OPTIONAL && !variant->children->ranges)
		return value ? variant->children : NULL;
	value = ctf_tag_key(variant->refers, value);
	i = BISECT(n, k, c[k].last < value);
	return i < n && c[i].first <= value ? c[i].option : NULL;
}

/* Get the member of a variant or optional that its tag chooses; NULL: none. */
static const struct ctf_part *chosen_of(const struct ctf_cursor *c, const struct ctf_part *variant)
{
	return ctf_option(variant, c->slots[variant->refers->slot]);
}

/* Get the number of elements of an array or sequence. */
static uint64_t element_count(const struct ctf_cursor *c, const struct ctf_part *p)
{
	uint64_t n = p->kind == CTF_ARRAY ? p->count : c->slots[p->refers->slot];

	if (p->kind == CTF_SEQUENCE && p->refers->is_signed && (int64_t)n < 0)
		n = 0;
	return n;
}

/* Get the bits of one number, or the least bits of one string; 0: no least size is known. */
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
	c->at = align_up(c->at, 8);
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
	case CTF_STRING: return ctf_read_string(c, p, &text, &size);
	case CTF_STRUCT:
		c->at = align_up(c->at, p->align);
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
		c->at = align_up(c->at, p->align);
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

/* Test whether a part is a text: a string, or an array of characters. */
static bool ctf_is_text(const struct ctf_part *p)
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
		return ctf_read_string(c, p, text, n);
	size = element_count(c, p);
	c->at = align_up(c->at, p->align);
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

/* Append the text at the cursor to b, in UTF-8 with a NUL. */
static enum ctf_got ctf_put_text(struct ctf_cursor *c, const struct ctf_part *p, struct buffer *b)
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

static char ctf_format_of(const struct ctf_part *p)
{
	if (p->kind == CTF_FLOAT)
		return 'f';
	switch (p->type->base) {
	case 16: return 'x';
	case 8: return 'o';
	default: return p->is_signed ? 'i' : 'u';
	}
}

static enum ctf_got ctf_put_number(struct ctf_cursor *c, const struct ctf_part *p, struct buffer *b)
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
		    : value_put_number(b, ctf_format_of(p), bytes, ctf_bytes(p->size)))
		return CTF_BAD;
	return CTF_GOT;
}

static enum ctf_got ctf_put_value(struct ctf_cursor *c, const struct ctf_part *p, struct buffer *b);

static enum ctf_got ctf_put_elements(struct ctf_cursor *c, const struct ctf_part *p,
				     struct buffer *b)
{
	uint64_t n = element_count(c, p), from;
	enum ctf_got got = CTF_GOT;
	const uint8_t *text;

	c->at = align_up(c->at, p->align);
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

/* Skip a part as ctf_step_over does, and append it to b as a value (value.h). */
static enum ctf_got ctf_put_value(struct ctf_cursor *c, const struct ctf_part *p, struct buffer *b)
{
	enum ctf_got got = CTF_GOT;
	const struct ctf_part *chosen;
	uint64_t n = 0, from;

	if (ctf_is_text(p))
		return put_text_value(c, p, b);
	switch (p->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
	case CTF_FLOAT: return ctf_put_number(c, p, b);
	case CTF_STRING: break;
	case CTF_STRUCT:
		c->at = align_up(c->at, p->align);
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
	case CTF_SEQUENCE: return ctf_put_elements(c, p, b);
	}
	return CTF_BAD;
}

/* --- the arguments of calls that trencode wrote as JSON --- */

enum {
	NAMES_MOST = 256,	 /* arguments of one function */
	DECLARED_MOST = 1 << 20, /* members of all locations */
	SHAPES_MOST = 4096,	 /* structs with other members */
	MEMBERS_MOST = 1024,	 /* members of one struct */
	NESTING_MOST = 64,	 /* objects and arrays in each other; others are texts */
	NUMBER_MOST = 4096,	 /* N of "argN", the name of an argument without a name */
	POINTER_DIGITS = 16,
};

/* Add a name. 1: added; 0: there are too many; -1: out of memory. */
static int ctf_add_name(struct ctf *ctf, struct argument_names *f, uint32_t name)
{
	/* a location that was declared without the name is declared again */
	if (f->count == NAMES_MOST || ctf->arguments.declared + f->count + 1 > DECLARED_MOST)
		return 0;
	if (arguments_add(f, name))
		return -1;
	ctf->arguments.declared += f->count;
	return 1;
}

/* Make a string of the writer of the token's text. 0: out of memory, or the text is empty. */
static uint32_t text_string(struct ctf *ctf)
{
	const struct buffer *text = &ctf->arguments.json.text;

	return writer_string(ctf->w, text->data, text->size);
}

/* Take the names of a function's arguments from a variable of env. */
static int ctf_arguments_declare(struct ctf *ctf, const char *text)
{
	struct json_reader *json = &ctf->arguments.json;
	struct argument_names *f = NULL;
	size_t n = strlen(text);

	json_open_text(json, text, n);
	if (json_next(json) != JSON_ARRAY || !json_skip(json, JSON_ARRAY) ||
	    json_next(json) != JSON_END)
		return 0;
	json_open_text(json, text, n);
	json_next(json);
	while (json_next(json) == JSON_STRING) {
		uint32_t name = text_string(ctf);
		bool known = false;

		if (!name && json->text.size)
			return -1;
		if (!f) {
			f = arguments_of(&ctf->arguments.table, name);
			if (!f)
				return -1;
			continue;
		}
		for (size_t i = 0; i < f->count && !known; i++)
			known = f->names[i] == name;
		if (!known && ctf_add_name(ctf, f, name) < 0)
			return -1;
	}
	return 0;
}

/* Get the location of a function, which declares all arguments known so far. name: a string of
 * the writer. */
static uint32_t ctf_arguments_location(struct ctf *ctf, uint32_t name)
{
	struct argument_names *f = arguments_of(&ctf->arguments.table, name);

	if (f && !f->location)
		f->location = arguments_location(ctf->w, name, f->names, f->count);
	return f ? f->location : 0;
}

/* --- values --- */

/* Read "0x1f", which is a pointer, as trencode writes it. */
static bool is_pointer(const char *p, size_t n, uint64_t *number)
{
	*number = 0;
	if (n < 3 || n > 2 + POINTER_DIGITS || p[0] != '0' || p[1] != 'x' || (p[2] == '0' && n > 3))
		return false;
	for (size_t i = 2; i < n; i++) {
		bool digit = p[i] >= '0' && p[i] <= '9';

		if (!digit && (p[i] < 'a' || p[i] > 'f'))
			return false;
		*number = *number << 4 | (uint64_t)(digit ? p[i] - '0' : p[i] - 'a' + 10);
	}
	return true;
}

/* Get the definition of a struct with n members by their names. 0: there are too many, or
 * *failed is set: out of memory. */
static uint32_t ctf_shape_of(struct ctf *ctf, const struct buffer *names, uint64_t n, bool *failed)
{
	uint32_t *id;

	if (n > MEMBERS_MOST)
		return 0;
	id = id_cache_number(&ctf->arguments.shapes, n ? (const char *)names->data : "",
			     names->size);
	*failed = !id;
	if (id && !*id && ctf->arguments.nshapes < SHAPES_MOST) {
		ctf->arguments.nshapes++;
		*id = arguments_struct(ctf->w, (const uint32_t *)names->data, (uint32_t)n);
		*failed = !*id;
	}
	if (!id || !*id)
		return 0;
	if (ARRAY_GROW(ctf->arguments.used, ctf->arguments.used_capacity, ctf->arguments.nused)) {
		*failed = true;
		return 0;
	}
	ctf->arguments.used[ctf->arguments.nused++] = *id;
	return *id;
}

static int decode_ctf_put_value(struct ctf *ctf, enum json_token token);

/* Append the children of an array, or those of an object and their names. Returns their number,
 * or -1. */
static int64_t put_children(struct ctf *ctf, struct buffer *names, bool object)
{
	struct json_reader *json = &ctf->arguments.json;
	enum json_token token;
	int64_t n = 0;

	for (; (token = json_next(json)) != (object ? JSON_OBJECT_END : JSON_ARRAY_END); n++) {
		if (object) {
			if (buffer_u32(names, text_string(ctf)))
				return -1;
			token = json_next(json);
		}
		if (decode_ctf_put_value(ctf, token))
			return -1;
	}
	return n;
}

/* Append the object or array that begins; an object with too many members as its text. */
static int put_parent(struct ctf *ctf, bool object)
{
	const uint8_t *text = ctf->arguments.json.data + ctf->arguments.json.at - 1;
	size_t at = ctf->arguments.values.size;
	struct buffer names = {0};
	int64_t n =
		ctf->arguments.json.depth > NESTING_MOST ? -1 : put_children(ctf, &names, object);
	uint32_t shape = 0;
	bool failed = n < 0;

	if (object && !failed)
		shape = ctf_shape_of(ctf, &names, (uint64_t)n, &failed);
	buffer_free(&names);
	if (failed)
		return -1;
	if (!object || shape)
		return arguments_put_head(&ctf->arguments.values, at, shape, (uint64_t)n);
	ctf->arguments.values.size = at;
	return value_put_bytes(&ctf->arguments.values, VALUE_STRING, text,
			       (size_t)(ctf->arguments.json.data + ctf->arguments.json.at - text));
}

/* Append the value that the token begins. */
static int decode_ctf_put_value(struct ctf *ctf, enum json_token token)
{
	const struct json_reader *json = &ctf->arguments.json;
	uint64_t number;

	if (token == JSON_OBJECT || token == JSON_ARRAY)
		return put_parent(ctf, token == JSON_OBJECT);
	/* a string that looks like a pointer is written with an escape */
	if (token == JSON_STRING && json->data[json->at - 2 - json->text.size] == '"' &&
	    is_pointer((const char *)json->text.data, json->text.size, &number))
		return value_put_uint(&ctf->arguments.values, VALUE_POINTER, number);
	return json_put_scalar(json, token, &ctf->arguments.values);
}

/* Get the number of "argN" or "fpargN", the names that trencode gives to arguments without a
 * name; 0: another name. */
static uint64_t ctf_unnamed(const char *name, size_t n)
{
	bool real = n > 5 && !memcmp(name, "fparg", 5);
	size_t at = real ? 5 : 3;
	uint64_t number = 0;

	if (n <= at || n > at + 4 || (!real && memcmp(name, "arg", 3)) || name[at] == '0')
		return 0;
	for (; at < n; at++) {
		if (name[at] < '0' || name[at] > '9')
			return 0;
		number = 10 * number + (uint64_t)(name[at] - '0');
	}
	return number <= NUMBER_MOST ? number + (real ? FLOAT_ARGUMENTS : 0) : 0;
}

/* Get the number of an argument, or 0 if there are too many: it is left out. -1: out of memory.
 * last: number of the argument before, as they are mostly in order. */
static int64_t ctf_number_of(struct ctf *ctf, struct argument_names *f, const char *text, size_t n,
			     size_t last)
{
	uint32_t name = writer_string(ctf->w, text, n);
	uint64_t number = ctf_unnamed(text, n);
	int added;

	for (size_t i = 0, at = last; i < f->count; i++, at++) {
		at = at < f->count ? at : 0;
		if (f->names[at] == name)
			return (int64_t)at + 1;
	}
	if (number > f->count)
		return (int64_t)number;
	added = ctf_add_name(ctf, f, name);
	if (added)
		return added < 0 ? -1 : (int64_t)f->count;
	if (!ctf->arguments.left_out)
		warn(ctf->input->name, NO_OFFSET,
		     "functions with more than %d arguments: the others are left out", NAMES_MOST);
	ctf->arguments.left_out = true;
	return 0;
}

/* Append the arguments of an object whose end is the end of the text. Returns 0, or -1: out of
 * memory, or the text is no such object. */
static int ctf_read_object(struct ctf *ctf, struct argument_names *function, bool leave)
{
	struct json_reader *json = &ctf->arguments.json;
	enum json_token token;
	int64_t number = 0;

	if (json_next(json) != JSON_OBJECT)
		return -1;
	while ((token = json_next(json)) == JSON_KEY) {
		bool result = leave && json_is(json, "ret");

		if (!result)
			number = ctf_number_of(ctf, function, (const char *)json->text.data,
					       json->text.size, (size_t)number);
		if (number < 0)
			return -1;
		token = json_next(json);
		if (!result && !number) {
			json_skip(json, token);
			continue;
		}
		if (value_put_detail(&ctf->arguments.values,
				     result ? DETAIL_RETURN : DETAIL_ARGUMENT,
				     result ? 0 : (uint64_t)number) ||
		    decode_ctf_put_value(ctf, token))
			return -1;
	}
	return token == JSON_OBJECT_END && json_next(json) == JSON_END ? 0 : -1;
}

/* Returns string number n of a tail; NULL: the tail has fewer. */
static const char *ctf_calls_string(const struct buffer *tail, uint32_t n, size_t *size)
{
	const char *p = (const char *)tail->data, *end = p + tail->size;

	for (; p < end; p += strlen(p) + 1)
		if (!n--) {
			*size = strlen(p);
			return p;
		}
	return NULL;
}

/* Convert an event's arguments, a string of the tail, to details in ctf->arguments.values. */
static int ctf_arguments_read(struct ctf_class *c, struct ctf_file *f, const struct buffer *tail)
{
	struct ctf *ctf = f->trace->ctf;
	struct json_reader *json = &ctf->arguments.json;
	size_t size = 0, name_size = 0;
	const char *text = ctf_calls_string(tail, c->call.arguments, &size);
	const char *name = ctf_calls_string(tail, c->string, &name_size);
	struct argument_names *function;
	int64_t number;

	ctf->arguments.values.size = 0;
	ctf->arguments.nused = 0;
	if (!text || !size || !name)
		return 0;
	function = arguments_of(&ctf->arguments.table, writer_string(ctf->w, name, name_size));
	if (!function)
		return -1;
	json_open_text(json, text, size);
	if (!ctf_read_object(ctf, function, c->kind == KIND_LEAVE))
		return 0;
	if (!json->error.what[0] && json->depth <= NESTING_MOST && *text == '{')
		return -1;
	/* a text of another program */
	ctf->arguments.values.size = ctf->arguments.nused = 0;
	number = ctf_number_of(ctf, function, "args", 4, 0);
	if (number > 0 &&
	    (value_put_detail(&ctf->arguments.values, DETAIL_ARGUMENT, (uint64_t)number) ||
	     value_put_bytes(&ctf->arguments.values, VALUE_STRING, text, size)))
		return -1;
	return number < 0 ? -1 : 0;
}

/*
 * Events with a meaning to the decoder: enters and leaves of calls, switches between threads,
 * mappings of a process.
 *
 * Sources: names and fields of lttng-modules 2.0 to 2.13 (instrumentation/syscalls, probes/) and of
 * lttng-ust 2.0 to 2.13 (liblttng-ust-cyg-profile, lttng-ust-statedump).
 */

enum { CPUS_MOST = 1 << 16 };

static const struct {
	const char *name;
	bool prefix; /* the rest of the event's name is the call's name */
	enum type_kind kind;
	enum ctf_call_kind call;
	bool per_cpu;
	enum ctf_action action;
} known_calls[] = {
	{"syscall_entry_", true, KIND_ENTER, CALL_NAMED, false, CTF_NO_ACTION},
	{"syscall_exit_", true, KIND_LEAVE, CALL_NAMED, false, CTF_NO_ACTION},
	{"compat_syscall_entry_", true, KIND_ENTER, CALL_NAMED, false, CTF_NO_ACTION},
	{"compat_syscall_exit_", true, KIND_LEAVE, CALL_NAMED, false, CTF_NO_ACTION},
	{"irq_handler_entry", false, KIND_ENTER, CALL_IRQ, true, CTF_NO_ACTION},
	{"irq_handler_exit", false, KIND_LEAVE, CALL_IRQ, true, CTF_NO_ACTION},
	{"irq_softirq_entry", false, KIND_ENTER, CALL_SOFTIRQ, true, CTF_NO_ACTION},
	{"irq_softirq_exit", false, KIND_LEAVE, CALL_SOFTIRQ, true, CTF_NO_ACTION},
	{"lttng_ust_cyg_profile:func_entry", false, KIND_ENTER, CALL_ADDRESS, false, CTF_NO_ACTION},
	{"lttng_ust_cyg_profile:func_exit", false, KIND_LEAVE, CALL_ADDRESS, false, CTF_NO_ACTION},
	{"sched_switch", false, KIND_INSTANT, CALL_NONE, false, CTF_SWITCH},
	{"lttng_ust_statedump:bin_info", false, KIND_INSTANT, CALL_NONE, false, CTF_BIN_INFO},
};

/* Test whether a URI of trencode has a flag, which the group does not contain. */
static bool has_flag(const char *uri, const char *flag)
{
	const char *at = strstr(uri, flag);

	return at && at < strchrnul(uri, '#');
}

/* Get the group that trencode wrote for the class. NULL: none. */
static const char *ctf_calls_group(const struct ctf_class *c)
{
	const char *uri = c->declared->uri, *group = NULL;

	if (uri && !strncmp(uri, "urn:trutils:", 12))
		group = strchr(uri, '#');
	return group ? group + 1 : NULL;
}

#define CTF_NO_STRING UINT32_MAX

static const struct {
	const char *uri;
	enum type_kind kind;
} own[] = {
	{"urn:trutils:enter", KIND_ENTER},
	{"urn:trutils:leave", KIND_LEAVE},
	{"urn:trutils:instant", KIND_INSTANT},
	{"urn:trutils:gap", KIND_GAP},
};

/* Set kind, call and action by the event's name. */
static void ctf_calls_classify(struct ctf_class *c)
{
	const char *name = c->declared->name, *uri = c->declared->uri;

	for (size_t i = 0; i < sizeof known_calls / sizeof *known_calls; i++) {
		size_t n = strlen(known_calls[i].name);

		if (known_calls[i].prefix ? strncmp(name, known_calls[i].name, n) || !name[n]
					  : strcmp(name, known_calls[i].name))
			continue;
		c->kind = known_calls[i].kind;
		c->call.kind = known_calls[i].call;
		c->per_cpu = known_calls[i].per_cpu;
		c->action = known_calls[i].action;
	}
	c->string = c->call.arguments = CTF_NO_STRING;
	/* fields of an event that trencode wrote */
	for (size_t i = 0; uri && i < sizeof own / sizeof *own; i++)
		if (!strncmp(uri, own[i].uri, strlen(own[i].uri))) {
			c->kind = own[i].kind;
			c->per_cpu = has_flag(uri, ":per-cpu");
			c->inner = has_flag(uri, ":inner");
			c->of_kernel = has_flag(uri, ":kernel");
			c->numbered = own[i].kind != KIND_INSTANT && has_flag(uri, ":numbered");
			c->call.kind = own[i].kind == KIND_GAP ? CALL_GAP : CALL_TEXT;
			c->action = CTF_NO_ACTION;
		}
}

/* Set *gap to the gap that the event with this fixed part and tail is. Its texts are in the tail.
 */
static void ctf_calls_gap(const struct ctf_class *c, const uint8_t *fixed,
			  const struct buffer *tail, struct gap *gap)
{
	const char *texts[4] = {"", "", "", ""}; /* reason, unit, message, file */

	for (uint32_t i = 0; i < 4; i++) {
		size_t size;
		const char *text = ctf_calls_string(tail, c->string + i, &size);

		texts[i] = text ? text : "";
	}
	*gap = (struct gap){.reason = GAP_UNREAD,
			    .count = ctf_spot(fixed, c->argument[0]),
			    .offset = ctf_spot(fixed, c->argument[1]),
			    .message = texts[2],
			    .file = texts[3]};
	for (enum gap_reason reason = GAP_LOST; reason < GAP_UNREAD; reason++)
		if (!strcmp(texts[0], gap_reason_name(reason)))
			gap->reason = reason;
	for (enum gap_unit unit = GAP_EVENTS; unit <= GAP_PACKETS; unit++)
		if (!strcmp(texts[1], gap_unit_name(unit)))
			gap->unit = unit;
}

/* --- locations --- */

/* Declare the location of a call that has a name and no address. */
static uint32_t named_location(struct ctf *ctf, const char *name, size_t n)
{
	struct {
		char kind;
		uint32_t name;
	} key = {0};
	uint32_t *id;

	key.kind = 'n';
	key.name = writer_string(ctf->w, name, n);
	id = id_cache_number(&ctf->declared, &key, sizeof key);
	if (!id)
		return 0;
	if (!*id)
		*id = writer_location(ctf->w, &(struct location_entry){.name = key.name});
	return *id;
}

enum { CTF_KERNEL_PID = INT32_MIN }; /* instead of a process: the kernel */

/* Declare the address space of a process (-1: unknown), or of the kernel. */
static uint32_t ctf_space_of(struct ctf_trace *t, int32_t pid)
{
	struct {
		char kind;
		uint32_t source;
		int32_t pid;
	} key = {0};
	struct space_entry space = {.source = t->source, .pid = pid};
	struct map_entry kernel = {.end = UINT64_MAX};
	uint32_t *id;

	key.kind = 's';
	key.source = t->source;
	key.pid = pid;
	id = id_cache_number(&t->ctf->declared, &key, sizeof key);
	if (!id)
		return 0;
	if (*id)
		return *id;
	if (pid == CTF_KERNEL_PID)
		space = (struct space_entry){.source = t->source,
					     .name = writer_text(t->ctf->w, "kernel"),
					     .flags = SPACE_KERNEL};
	*id = writer_space(t->ctf->w, &space);
	kernel.space = *id;
	kernel.path = writer_text(t->ctf->w, "[kernel]");
	return pid != CTF_KERNEL_PID || !*id || !writer_map(t->ctf->w, &kernel) ? *id : 0;
}

/* Declare the location of an address of a process (-1: unknown), or of the kernel. */
static uint32_t ctf_calls_address(struct ctf_trace *t, int32_t pid, uint64_t address)
{
	struct {
		char kind;
		uint32_t space;
		uint64_t address;
	} key = {0};
	uint32_t *id;

	key.kind = 'a';
	key.space = ctf_space_of(t, pid);
	key.address = address;
	id = key.space ? id_cache_number(&t->ctf->declared, &key, sizeof key) : NULL;
	if (!id)
		return 0;
	if (!*id)
		*id = writer_location(t->ctf->w, &(struct location_entry){.space = key.space,
									  .address = address});
	return *id;
}

/* Get the name of the call of a CALL_NAMED event. */
static const char *ctf_calls_name(const struct ctf_class *c)
{
	const char *at = strstr(c->declared->name, c->kind == KIND_ENTER ? "_entry_" : "_exit_");

	return strchr(at + 1, '_') + 1;
}

/* Declare the location of an enter or leave whose row has this fixed part and tail. */
static uint32_t ctf_calls_location(struct ctf_class *c, const struct ctf_file *f,
				   const uint8_t *fixed, const struct buffer *tail)
{
	const char *at = c->declared->name;
	char name[32];
	size_t size = 0;
	uint64_t n;

	if (c->call.kind == CALL_TEXT) {
		at = ctf_calls_string(tail, c->string, &size);
		return ctf_arguments_location(f->trace->ctf,
					      writer_string(f->trace->ctf->w, at ? at : "", size));
	}
	if (c->call.kind == CALL_NAMED) {
		if (!c->location) {
			at = ctf_calls_name(c);
			c->location = named_location(f->trace->ctf, at, strlen(at));
		}
		return c->location;
	}
	n = ctf_spot(fixed, c->call.location);
	if (c->call.kind == CALL_ADDRESS)
		return ctf_calls_address(f->trace, f->thread.pid, n);
	if (c->call.kind == CALL_SOFTIRQ && softirq_name(n))
		snprintf(name, sizeof name, "softirq %s", softirq_name(n));
	else
		snprintf(name, sizeof name, "%s %" PRIu64,
			 c->call.kind == CALL_IRQ ? "irq" : "softirq", n);
	return named_location(f->trace->ctf, name, strlen(name));
}

/* --- lanes: the channel, the CPU, and the thread as far as contexts record it --- */

uint32_t ctf_lane(struct ctf_file *f, const struct ctf_thread *t)
{
	static const struct ctf_thread unknown = {.tid = -1, .pid = -1, .ppid = -1};
	struct ctf *ctf = f->trace->ctf;
	struct writer *w = ctf->w;
	const struct ctf_thread *of = t ? t : &unknown;
	struct lane_entry lane = {
		.source = f->trace->source,
		.clock = ctf->clock,
		.buffer = f->buffer,
		.comm = of->comm_size ? writer_string(w, of->comm, of->comm_size) : 0,
		.flags = (f->packet.cpu >= 0 ? LANE_HAS_CPU : 0) |
			 (of->tid >= 0 ? LANE_HAS_TID : 0) | (of->pid >= 0 ? LANE_HAS_PID : 0),
		.cpu = f->packet.cpu,
		.tid = of->tid,
		.pid = of->pid,
		.ppid = of->ppid};
	uint32_t *id = id_cache_number(&ctf->declared, &lane, sizeof lane);

	if (!id)
		return 0;
	if (!*id)
		*id = writer_lane(w, &lane);
	return *id;
}

/* --- threads and mappings --- */

static struct ctf_thread *ctf_calls_cpu(struct ctf_trace *t, int32_t cpu)
{
	if (cpu < 0 || cpu >= CPUS_MOST)
		return NULL;
	if ((size_t)cpu >= t->ncpus && ARRAY_GROW(t->cpus, t->cpus_capacity, (size_t)cpu))
		return NULL;
	while ((size_t)cpu >= t->ncpus)
		t->cpus[t->ncpus++] = (struct ctf_thread){.tid = -1};
	return &t->cpus[cpu];
}

static int take_file(struct ctf_class *c, struct ctf_file *f, const uint8_t *fixed,
		     const struct buffer *tail)
{
	struct ctf_trace *t = f->trace;
	struct map_entry map = {.start = ctf_spot(fixed, c->argument[0])};
	uint64_t size = ctf_spot(fixed, c->argument[1]);
	size_t n = 0;
	const char *path = ctf_calls_string(tail, c->string, &n);

	if (!path || !n || __builtin_add_overflow(map.start, size, &map.end))
		return 0;
	map.space = ctf_space_of(t, f->thread.pid);
	map.path = writer_string(t->ctf->w, path, n);
	return map.space ? writer_map(t->ctf->w, &map) : -1;
}

/* Record the thread that runs on the CPU from now on. */
static void ctf_take_switch(const struct ctf_class *c, const struct ctf_file *f,
			    const uint8_t *fixed, const struct buffer *tail)
{
	const struct ctf_cursor *at = &f->cursor;
	struct ctf_thread *cpu = ctf_calls_cpu(f->trace, f->packet.cpu);
	const uint8_t *comm = at->next_comm;
	size_t n = comm ? at->next_comm_size : 0;

	if (!cpu || (!c->plain && !ctf_seen(at, CTF_NEXT_TID)))
		return;
	cpu->tid = c->plain ? ctf_id_number(ctf_spot(fixed, c->argument[0]))
			    : ctf_id_read(at, CTF_NEXT_TID);
	if (c->plain && c->argument[1].at >= 0) {
		comm = fixed + c->argument[1].at;
		n = strnlen((const char *)comm, c->argument[1].size);
	} else if (c->plain) {
		n = 0;
		comm = c->string == CTF_NO_STRING
			       ? NULL
			       : (const uint8_t *)ctf_calls_string(tail, c->string, &n);
	}
	cpu->comm_size = n < CTF_CPU_COMM ? n : CTF_CPU_COMM;
	if (comm)
		memcpy(cpu->comm, comm, cpu->comm_size);
}

/* Update threads and mappings by the event whose row was written. */
static int ctf_calls_after(struct ctf_class *c, struct ctf_file *f, const uint8_t *fixed,
			   const struct buffer *tail)
{
	if (c->action == CTF_BIN_INFO)
		return take_file(c, f, fixed, tail);
	ctf_take_switch(c, f, fixed, tail);
	return 0;
}

/*
 * The stacks of events: the contexts callstack_kernel and callstack_user.
 *
 * Each is a sequence of addresses, innermost first. Older recorders end it with an address of all
 * ones. A user's stack is called by no frame of the kernel: with both, it is below the kernel's.
 *
 * Source: lttng-modules 2.11 to 2.13 (src/lttng-context-callstack*.c).
 */

/* Test whether a context is a stack. */
static bool ctf_is_callstack(const struct ctf_part *p)
{
	const struct ctf_part *address = p->children;

	return (p->role == CTF_KERNEL_STACK || p->role == CTF_USER_STACK) &&
	       p->kind == CTF_SEQUENCE && address->kind == CTF_INTEGER &&
	       (address->size == 32 || address->size == 64);
}

enum { CTF_DATA_SCOPES = 3, CTF_FIELDS = 256 };

/* The scopes that a row contains, in this order, after the fields of the packet's context. */
static const enum ctf_scope ctf_data_scopes[] = {SCOPE_STREAM_CONTEXT, SCOPE_EVENT_CONTEXT,
						 SCOPE_FIELDS};

/* Set has_stack of a class. */
static void ctf_stack_find(struct ctf_class *c)
{
	for (int i = 0; i < CTF_DATA_SCOPES; i++) {
		const struct ctf_part *s = c->layout[ctf_data_scopes[i]];

		for (const struct ctf_part *p = s ? s->children : NULL; p; p = p->next)
			c->has_stack |= ctf_is_callstack(p);
	}
}

/* Add the addresses of the sequence p, from `begin` to the cursor, to the event's frames. */
static int ctf_stack_take(struct ctf *ctf, const struct ctf_cursor *at, const struct ctf_part *p,
			  uint64_t begin)
{
	struct ctf_cursor c = *at;
	const struct ctf_part *address = p->children;
	struct buffer *b = p->role == CTF_USER_STACK ? &ctf->frames.user : &ctf->frames.kernel;
	uint64_t n;

	for (c.at = align_up(begin, p->align); c.at < at->at;) {
		if (ctf_read_number(&c, address, &n) != CTF_GOT)
			break;
		n &= UINT64_MAX >> (64 - address->size);
		if (!n || n == UINT64_MAX >> (64 - address->size))
			break;
		if (b->size < 8 * STACK_FRAMES_MOST && buffer_u64(b, n))
			return -1;
	}
	return 0;
}

/* Convert addresses to locations, at *to. */
static int ctf_locate(const struct buffer *addresses, struct ctf_trace *t, int32_t pid,
		      struct buffer *to)
{
	for (size_t i = 0; i < addresses->size; i += 8) {
		uint32_t location = ctf_calls_address(t, pid, get_u64(addresses->data + i));

		if (!location || buffer_u32(to, location))
			return -1;
	}
	return 0;
}

/* Put the stack of the event that was read at `fixed`, for the next row. */
static int ctf_stack_put(const struct ctf_file *f, uint8_t *fixed)
{
	struct ctf *ctf = f->trace->ctf;
	struct buffer *l = &ctf->frames.locations;
	uint32_t stack = 0;

	l->size = 0;
	if (ctf_locate(&ctf->frames.kernel, f->trace, CTF_KERNEL_PID, l) ||
	    ctf_locate(&ctf->frames.user, f->trace, f->thread.pid, l))
		return -1;
	if (l->size) {
		stack = writer_stack_of(ctf->w, (const uint32_t *)(const void *)l->data,
					l->size / 4);
		if (!stack || writer_use_stack(ctf->w, stack))
			return -1;
	}
	put_u32(fixed, stack);
	return 0;
}

/* --- declares an event class in the stream: its type, fields and names --- */

/* Report which members the stream leaves out of a definition. */
static void report_members(const struct ctf *ctf, uint32_t n, const char *what, const char *name)
{
	if (n > WRITER_MEMBERS)
		warn(ctf->input->name, NO_OFFSET,
		     "'%.100s' has %" PRIu32 " %s: those after the first %d are left out", name, n,
		     what, WRITER_MEMBERS);
}

/* Declare the labels of an enum. */
static uint32_t declare_labels(const struct ctf *ctf, const struct ctf_part *p)
{
	struct writer *w = ctf->w;
	struct definition_entry d = {.kind = p->type->flags ? DEFINITION_BITMASK : DEFINITION_ENUM,
				     .flags = p->is_signed || p->type->flags ? 0
									     : DEFINITION_UNSIGNED};
	struct member_entry *members;
	uint32_t id;

	for (const struct ctf_label *l = p->type->labels; l; l = l->next)
		d.nmembers++;
	members = calloc(d.nmembers + 1, sizeof *members);
	if (!members)
		return 0;
	d.nmembers = 0;
	for (const struct ctf_label *l = p->type->labels; l; l = l->next)
		members[d.nmembers++] = (struct member_entry){
			writer_text(w, l->name), (uint64_t)l->first, (uint64_t)l->last};
	d.members = members;
	report_members(ctf, d.nmembers, "labels", p->name);
	id = writer_definition(w, &d);
	free(members);
	return id;
}

/* Test whether only the decoder needs this member of a packet's context. */
static inline bool ctf_is_own(const struct ctf_part *p)
{
	return p->role >= CTF_TIME_BEGIN && p->role <= CTF_SEQUENCE_NUMBER;
}

/* Declare the names of members. context: the first members are of a packet's context; leave out
 * those that events do not repeat. */
static uint32_t declare_members(const struct ctf *ctf, const char *name,
				const struct ctf_part *const *first, int n, bool context)
{
	struct buffer names = {0};
	uint32_t id = 0;
	int failed = 0;

	for (int i = 0; i < n; i++)
		for (const struct ctf_part *p = first[i]; p && !failed; p = p->next)
			if (!(context && !i && ctf_is_own(p)))
				failed = buffer_u32(&names,
						    writer_text(ctf->w, ctf_bare_name(p->name)));
	report_members(ctf, (uint32_t)(names.size / 4), "fields", name);
	if (!failed)
		id = arguments_struct(ctf->w, (const uint32_t *)(const void *)names.data,
				      names.size / 4);
	buffer_free(&names);
	return id;
}

/* Declare the definitions that the values of a part and of its members name, for all segments, as
 * the types are. */
static int declare_values(struct ctf_class *c, struct ctf_part *p)
{
	const struct ctf *ctf = c->stream->trace->ctf;
	struct writer *w = ctf->w;
	const struct ctf_part *children = p->children;

	if ((p->kind == CTF_ENUM || p->kind == CTF_STRUCT) && !p->definition) {
		p->definition = p->kind == CTF_ENUM
					? declare_labels(ctf, p)
					: declare_members(ctf, p->name, &children, 1, false);
		if (!p->definition || writer_announce(w, ENTRY_DEFINITION, p->definition))
			return -1;
	}
	for (struct ctf_part *m = p->children; m; m = m->next) {
		if (p->kind == CTF_VARIANT && !m->option) {
			struct member_entry name = {.name = writer_text(w, ctf_bare_name(m->name))};

			m->option = writer_definition(
				w, &(struct definition_entry){.name = writer_text(w, "variant"),
							      .kind = DEFINITION_STRUCT,
							      .nmembers = 1,
							      .members = &name});
			if (!m->option || writer_announce(w, ENTRY_DEFINITION, m->option))
				return -1;
		}
		if (declare_values(c, m))
			return -1;
	}
	return 0;
}

static enum field_kind ctf_kind_of(const struct ctf_part *p)
{
	if (p->kind == CTF_FLOAT)
		return FIELD_FLOAT;
	if (p->kind == CTF_ENUM)
		return p->type->flags ? FIELD_BITMASK : FIELD_ENUM;
	if (p->kind == CTF_STRING || p->kind == CTF_SEQUENCE || p->type->unit)
		return FIELD_STRING;
	if (p->kind == CTF_ARRAY && p->children->type->text)
		return FIELD_CHAR;
	if (p->kind == CTF_ARRAY)
		p = p->children;
	if (p->type->base == 16)
		return FIELD_HEX;
	return p->is_signed ? FIELD_INT : FIELD_UINT;
}

/* Test whether this member of a context identifies the thread. */
static inline bool ctf_is_thread(const struct ctf_part *p)
{
	return p->role >= CTF_TID && p->role <= CTF_COMM;
}

static void ctf_declare_field(struct ctf_class *c, struct ctf_part *p, struct field_entry *f,
			      uint32_t *at, uint32_t *string)
{
	struct writer *w = c->stream->trace->ctf->w;
	const struct ctf_part *number = p->kind == CTF_ARRAY ? p->children : p;

	f->name = writer_text(w, ctf_bare_name(p->name));
	f->kind = (uint8_t)ctf_kind_of(p);
	if (f->kind == FIELD_STRING) {
		f->where = WHERE_STRING;
		f->offset = (*string)++;
		if (c->call.kind == CALL_TEXT)
			f->role = f->offset == c->string	   ? ROLE_ROW
				  : f->offset == c->call.arguments ? ROLE_ARGUMENTS
								   : ROLE_NONE;
		if (c->stream->trace->own && ctf_is_thread(p))
			f->role = ROLE_ROW;
		return;
	}
	f->where = WHERE_FIXED;
	f->offset = *at;
	f->size = p->kind == CTF_ARRAY ? number->size / 8 : ctf_bytes(number->size);
	f->count = p->kind == CTF_ARRAY ? (uint32_t)p->count : 0;
	*at += f->size * (f->count ? f->count : 1);
	if (number->type->base == 8)
		f->type_name = writer_text(w, "octal");
	if (p->kind == CTF_ENUM) {
		if (!p->definition)
			p->definition = declare_labels(c->stream->trace->ctf, p);
		f->definition = p->definition;
	}
	if ((int32_t)f->offset == c->call.depth.at || (c->stream->trace->own && ctf_is_thread(p)))
		f->role = ROLE_ROW;
	if (c->numbered && (int32_t)f->offset == c->call.number.at)
		f->role = ROLE_CALL;
	if ((int32_t)f->offset == c->call.location.at && c->call.kind == CALL_ADDRESS)
		f->role = ROLE_ADDRESS;
}

/* As ctf_declare_field, with the names that the kernel has for the numbers. */
static void declare_plain(struct ctf_class *c, struct ctf_part *p, struct field_entry *f,
			  uint32_t *at, uint32_t *string)
{
	const char *event = c->declared->name, *name = ctf_bare_name(p->name);
	struct ctf_trace *t = c->stream->trace;

	ctf_declare_field(c, p, f, at, string);
	if (t->kernel && f->kind <= FIELD_HEX && !f->count)
		f->definition = kernel_names_of(t->names, t->ctf->w, event, strlen(event), name,
						strlen(name));
}

/* Describe the class, as in "cpu 2 - 3": "cpu" if the packet records only a CPU, else how many
 * fields of its context events repeat; then how many fields each scope has, "-" if not declared. */
static void describe_class(const struct ctf_class *c, char *text, size_t size)
{
	const struct ctf_stream *stream = c->stream;
	size_t at =
		(size_t)(stream->carried ? snprintf(text, size, "%" PRIu32, stream->carried)
					 : snprintf(text, size, stream->cpu_alone ? "cpu" : "-"));

	for (int i = 0; i < CTF_DATA_SCOPES; i++) {
		const struct ctf_part *s = c->layout[ctf_data_scopes[i]];
		unsigned n = 0;

		for (const struct ctf_part *p = s ? s->children : NULL; p; p = p->next)
			n++;
		if (s)
			at += (size_t)snprintf(text + at, size - at, " %u", n);
		else
			at += (size_t)snprintf(text + at, size - at, " -");
	}
}

static uint32_t plain_flags(const struct ctf_class *c)
{
	return (c->nstrings ? TYPE_TAIL : 0) | (c->has_arguments ? TYPE_VALUES : 0) |
	       (c->per_cpu ? TYPE_PER_CPU : 0) | (c->inner ? TYPE_INNER : 0) |
	       (c->of_kernel ? TYPE_KERNEL : 0) |
	       (c->numbered		? TYPE_CALL_NUMBER
		: c->call.depth.at >= 0 ? TYPE_DEPTH
					: 0);
}

/* Declare the location of a class whose data are values: a function whose arguments are the parts
 * from first[1] on, and in first[0] the fields of the packet's context, if events repeat these. */
static int ctf_declare_location(struct ctf_class *c, uint32_t name, const struct ctf_part **first)
{
	struct ctf *ctf = c->stream->trace->ctf;
	struct location_entry location = {.name = name};
	struct ctf_part *carried =
		c->stream->carried ? c->layout[SCOPE_PACKET_CONTEXT]->children : NULL;

	first[0] = carried;
	for (struct ctf_part *p = carried; p; p = p->next)
		if (declare_values(c, p))
			return -1;
	if (c->call.kind == CALL_NAMED)
		location.name = writer_text(ctf->w, ctf_calls_name(c));
	location.arguments =
		declare_members(ctf, c->declared->name, first, 1 + CTF_DATA_SCOPES, true);
	c->fixed_size = c->has_stack ? 4 : 0;
	c->location = writer_location(ctf->w, &location);
	return location.arguments && c->location ? 0 : -1;
}

/* Declare the type of a class to the writer. */
static int ctf_class_declare(struct ctf_class *c)
{
	struct ctf_trace *t = c->stream->trace;
	struct writer *w = t->ctf->w;
	struct field_entry fields[CTF_FIELDS] = {0};
	const struct ctf_part *first[1 + CTF_DATA_SCOPES] = {0};
	const char *group = ctf_calls_group(c);
	struct type_entry type = {.source = t->source,
				  .name = writer_text(w, c->declared->name),
				  .group = group ? writer_text(w, group) : 0,
				  .kind = (uint8_t)c->kind,
				  .native = (uint32_t)c->declared->id,
				  .fields = fields};
	uint32_t at = 0, string = 0;
	char text[64];

	describe_class(c, text, sizeof text);
	type.declaration = writer_text(w, text);
	for (int i = 0; i < CTF_DATA_SCOPES; i++) {
		struct ctf_part *s = c->layout[ctf_data_scopes[i]];

		first[1 + i] = s ? s->children : NULL;
		for (struct ctf_part *p = s ? s->children : NULL; p; p = p->next)
			if (c->has_arguments && p->kind == CTF_STRING)
				continue;
			else if (c->plain)
				declare_plain(c, p, &fields[type.nfields++], &at, &string);
			else if (declare_values(c, p))
				return -1;
	}
	if (c->plain) {
		c->fixed_size = (uint32_t)align_up(at, 4);
		type.flags = plain_flags(c);
		type.fixed_size = c->fixed_size;
	} else {
		type.flags = TYPE_TAIL | TYPE_VALUES;
		if (c->has_stack) {
			type.nfields = 1;
			fields[0] = (struct field_entry){.name = writer_text(w, "stack"),
							 .kind = FIELD_UINT,
							 .role = ROLE_STACK,
							 .where = WHERE_FIXED,
							 .size = 4};
		}
		if (ctf_declare_location(c, type.name, first))
			return -1;
		type.fixed_size = c->fixed_size;
	}
	c->type = writer_type(w, &type);
	return c->type ? 0 : -1;
}

/* --- converts the data of an event into a row of the stream --- */

enum { CONTEXT_MOST = 4096 }; /* bytes of a packet's context that each event may repeat */

/* --- data --- */

static inline void put_size(uint8_t *to, uint64_t n, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		to[i] = (uint8_t)(n >> 8 * i);
}

/* Not in line: in line it costs traces without such moves 6 % of CPU. */
static __attribute__((noinline)) enum ctf_got
move_unusual(struct ctf_cursor *c, const struct ctf_move *m, uint8_t *fixed, struct buffer *tail)
{
	enum ctf_got got;
	uint64_t n;

	if (ctf_is_text(m->part))
		return ctf_put_text(c, m->part, tail);
	got = ctf_read_number(c, m->part, &n);
	if (got != CTF_GOT)
		return got;
	if (m->slot)
		c->slots[m->slot] = n;
	put_size(fixed + m->to, n, m->n);
	return CTF_GOT;
}

static enum ctf_got move(struct ctf_cursor *c, const struct ctf_move *m, uint8_t *fixed,
			 struct buffer *tail)
{
	const uint8_t *from, *end;
	uint64_t n;

	c->at = align_up(c->at, m->align);
	if (c->at > c->have)
		return CTF_SHORT;
	from = c->data + (c->at - c->origin) / 8;
	switch (m->kind) {
	case MOVE_BYTES:
		if (c->have - c->at < 8ull * m->n)
			return CTF_SHORT;
		memcpy(fixed + m->to, from, m->n);
		c->at += 8ull * m->n;
		return CTF_GOT;
	case MOVE_NUMBER:
		if (c->have - c->at < m->size)
			return CTF_SHORT;
		n = ctf_bits(c->data, c->at - c->origin, m->size, m->big);
		if (m->is_signed)
			n = ctf_sign_bits(n, m->size);
		if (m->slot)
			c->slots[m->slot] = n;
		put_size(fixed + m->to, n, m->n);
		c->at += m->size;
		return CTF_GOT;
	case MOVE_STRING:
		end = memchr(from, 0, (size_t)(c->have - c->at) / 8);
		if (!end)
			return CTF_SHORT;
		n = (uint64_t)(end - from) + 1;
		c->at += 8 * n;
		return buffer_append(tail, from, n) ? CTF_BAD : CTF_GOT;
	case MOVE_TEXT:
		n = c->slots[m->slot];
		if (n > UINT64_MAX / 8 || c->have - c->at < 8 * n)
			return CTF_SHORT;
		c->at += 8 * n;
		return buffer_append(tail, from, strnlen((const char *)from, n)) ||
				       buffer_u8(tail, 0)
			       ? CTF_BAD
			       : CTF_GOT;
	case MOVE_UNUSUAL: return move_unusual(c, m, fixed, tail);
	}
	return CTF_BAD;
}

/* Convert the fields of the packet's context into details, once for all events of the packet. */
static enum ctf_got make_context(struct ctf_file *f)
{
	const struct ctf_part *header = f->stream->layout[SCOPE_PACKET_HEADER],
			      *context = f->stream->layout[SCOPE_PACKET_CONTEXT];
	struct ctf_cursor c = {.data = f->packet.beginning.data,
			       .have = 8 * (uint64_t)f->packet.beginning.size,
			       .slots = f->cursor.slots,
			       .budget = CTF_BUDGET,
			       .empty = CTF_EMPTY_LEAST};
	enum ctf_got got = header ? ctf_step_over(&c, header) : CTF_GOT;
	uint64_t number = 0;

	c.at = align_up(c.at, context->align);
	for (const struct ctf_part *p = context->children; p && got == CTF_GOT; p = p->next) {
		if (ctf_is_own(p))
			got = ctf_step_over(&c, p);
		else if (value_put_detail(&f->packet.context, DETAIL_ARGUMENT, ++number))
			return CTF_BAD;
		else
			got = ctf_put_value(&c, p, &f->packet.context);
	}
	f->packet.has_context = true;
	if (f->packet.context.size <= CONTEXT_MOST)
		return got;
	/* each of many small events would repeat it */
	f->packet.context.size = 0;
	if (!f->trace->ctf->context_left_out)
		warn(f->member, f->packet.at,
		     "the context of a packet is too large to be part of its events");
	f->trace->ctf->context_left_out = true;
	return got;
}

/* Append the event's data as details. */
static enum ctf_got ctf_put_values(struct ctf_file *f, struct buffer *tail)
{
	struct ctf_cursor *c = &f->cursor;
	enum ctf_got got = CTF_GOT;
	struct ctf *ctf = f->trace->ctf;
	uint64_t number = 0;

	c->seen = 0;
	c->comm = c->next_comm = NULL;
	c->budget = CTF_BUDGET;
	ctf->frames.kernel.size = ctf->frames.user.size = 0;
	if (f->stream->carried) {
		if (!f->packet.has_context)
			got = make_context(f);
		if (got != CTF_GOT)
			return CTF_BAD;
		if (buffer_append(tail, f->packet.context.data, f->packet.context.size))
			return CTF_BAD;
		number = f->stream->carried;
	}
	for (size_t i = 0; i < CTF_DATA_SCOPES; i++) {
		const struct ctf_part *s = f->class->layout[ctf_data_scopes[i]];

		if (s)
			c->at = align_up(c->at, s->align);
		for (const struct ctf_part *p = s ? s->children : NULL; p && got == CTF_GOT;
		     p = p->next) {
			uint64_t at = c->at;

			if (value_put_detail(tail, DETAIL_ARGUMENT, ++number))
				return CTF_BAD;
			got = ctf_put_value(c, p, tail);
			if (got == CTF_GOT && ctf_is_callstack(p) && ctf_stack_take(ctf, c, p, at))
				return CTF_BAD;
		}
	}
	return got;
}

static enum ctf_got ctf_read_data(struct ctf_file *f)
{
	struct ctf *ctf = f->trace->ctf;
	const struct ctf_class *k = f->class;
	enum ctf_got got = CTF_GOT;

	ctf->tail.size = 0;
	if (!k->plain)
		return ctf_put_values(f, &ctf->tail);
	for (uint32_t i = 0; i < k->nmoves && got == CTF_GOT; i++)
		got = move(&f->cursor, &k->moves[i], ctf->fixed.data, &ctf->tail);
	return got;
}

/* --- rows --- */

static int32_t ctf_number_at(const uint8_t *fixed, struct ctf_spot s)
{
	return s.at < 0 ? -1 : ctf_id_number(ctf_spot(fixed, s));
}

/* Find the lane by the fields of the event that was read, or its packet. 0: out of memory. Without
 * the lane used last 'trdecode | trstat -g name -c count' of a trace of calls takes 1.27 times the
 * instructions. */
static inline uint32_t ctf_find_lane(struct ctf_file *f)
{
	struct ctf *ctf = f->trace->ctf;
	const struct ctf_class *k = f->class;
	const struct ctf_cursor *c = &f->cursor;
	const uint8_t *fixed = ctf->fixed.data, *comm = NULL;
	struct ctf_thread *t = &f->thread;
	int32_t tid, pid, ppid;
	size_t comm_size = 0;

	if (k->plain) {
		tid = ctf_number_at(fixed, k->tid);
		pid = ctf_number_at(fixed, k->pid);
		ppid = ctf_number_at(fixed, k->ppid);
		if (k->comm.at >= 0) {
			comm = fixed + k->comm.at;
			comm_size = strnlen((const char *)comm, k->comm.size);
		} else if (k->comm_string) {
			comm = (const uint8_t *)ctf_calls_string(&ctf->tail, k->comm_string - 1,
								 &comm_size);
		}
	} else {
		tid = ctf_id_read(c, CTF_TID);
		pid = ctf_id_read(c, CTF_PID);
		ppid = ctf_id_read(c, CTF_PPID);
		comm = c->comm;
		comm_size = comm ? c->comm_size : 0;
	}
	if (tid < 0)
		tid = f->packet.thread.tid;
	if (pid < 0)
		pid = f->packet.thread.pid;
	if (tid < 0 && f->trace->kernel) {
		const struct ctf_thread *cpu = ctf_calls_cpu(f->trace, f->packet.cpu);

		tid = cpu ? cpu->tid : -1;
		comm = cpu ? cpu->comm : NULL;
		comm_size = cpu ? cpu->comm_size : 0;
	}
	if (!comm_size && f->packet.thread.comm_size) {
		comm = f->packet.thread.comm;
		comm_size = f->packet.thread.comm_size;
	}
	if (comm_size > sizeof t->comm)
		comm_size = sizeof t->comm;
	if (__builtin_expect(f->lane && t->tid == tid && t->pid == pid && t->ppid == ppid &&
				     t->comm_size == comm_size &&
				     (!comm_size || !memcmp(t->comm, comm, comm_size)),
			     1))
		return f->lane;
	t->tid = tid;
	t->pid = pid;
	t->ppid = ppid;
	t->comm_size = comm_size;
	if (comm_size)
		memcpy(t->comm, comm, comm_size);
	f->lane = ctf_lane(f, t);
	return f->lane;
}

/* Test whether the fields of events may record the thread, or events of the kernel do. */
static inline bool ctf_has_thread(const struct ctf_file *f)
{
	const struct ctf_class *k = f->class;

	return !k->plain || f->trace->kernel || k->comm_string ||
	       (k->tid.at & k->pid.at & k->ppid.at & k->comm.at) >= 0;
}

static inline uint32_t ctf_lane_of(struct ctf_file *f)
{
	if (ctf_has_thread(f))
		return ctf_find_lane(f);
	if (!f->packet_lane)
		f->packet_lane = ctf_find_lane(f);
	return f->packet_lane;
}

static int ctf_put_row(struct ctf_file *f)
{
	struct ctf *ctf = f->trace->ctf;
	struct ctf_class *k = f->class;
	uint8_t *fixed = ctf->fixed.data;
	const struct buffer *tail = &ctf->tail, *values = tail;
	struct gap gap;
	uint32_t lane, location = 0,
		       depth = k->call.depth.at < 0 ? 0 : (uint32_t)ctf_spot(fixed, k->call.depth);

	lane = ctf_lane_of(f);
	if (!lane)
		return -1;
	if (k->call.kind != CALL_NONE || !k->plain) {
		if (k->call.kind == CALL_GAP) {
			ctf_calls_gap(k, fixed, tail, &gap);
			return writer_gap(ctf->w, f->next.time, lane, &gap);
		}
		if (k->has_arguments) {
			/* before the location, which declares their names */
			if (ctf_arguments_read(k, f, tail))
				return -1;
			values = &ctf->arguments.values;
		}
		location = k->plain ? ctf_calls_location(k, f, fixed, tail) : k->location;
		if (!location)
			return -1;
	}
	if (k->has_stack && ctf_stack_put(f, fixed))
		return -1;
	for (size_t i = 0; k->has_arguments && i < ctf->arguments.nused; i++)
		if (writer_use_definition(ctf->w, ctf->arguments.used[i]))
			return -1;
	if (writer_row_data(ctf->w, (struct new_row){.time = f->next.time,
						     .lane = lane,
						     .type = k->type,
						     .location = location,
						     .depth = depth,
						     .fixed = fixed,
						     .fixed_size = k->fixed_size,
						     .tail = values->data,
						     .tail_size = (uint32_t)values->size,
						     .has_tail = k->nstrings || !k->plain}))
		return -1;
	return k->action ? ctf_calls_after(k, f, fixed, tail) : 0;
}

static int ctf_put_lost(struct ctf_file *f)
{
	struct ctf *ctf = f->trace->ctf;
	struct gap events = {.reason = GAP_LOST,
			     .unit = GAP_EVENTS,
			     .count = f->packet.lost,
			     .offset = NO_OFFSET};
	struct gap packets = {.reason = GAP_LOST,
			      .unit = GAP_PACKETS,
			      .count = f->packet.packets_lost,
			      .offset = NO_OFFSET};
	uint32_t lane = ctf_lane(f, NULL);

	if (!lane || (f->packet.lost && writer_gap(ctf->w, f->next.time, lane, &events)) ||
	    (f->packet.packets_lost && writer_gap(ctf->w, f->next.time, lane, &packets)))
		return -1;
	f->packet.lost = f->packet.packets_lost = 0;
	return 0;
}

/* Write the next event as a row. */
static int ctf_row(struct ctf_file *f, struct error *e)
{
	uint64_t empty = f->cursor.empty;

	if (__builtin_expect(f->packet.fresh, 0) && ctf_file_begun(f, e))
		return -1;
	if (__builtin_expect(f->packet.lost || f->packet.packets_lost, 0) && ctf_put_lost(f))
		return -1;
	if (__builtin_expect(!f->class || !f->in_packet, 0))
		return 0;
	for (;;) {
		enum ctf_got got;
		int grown;

		got = ctf_read_data(f);
		if (__builtin_expect(f->cursor.at == f->header, 0) && got == CTF_GOT)
			return ctf_file_abandon(f, f->header, "an event that takes no bits");
		if (__builtin_expect(got == CTF_GOT, 1))
			return ctf_put_row(f) ? -1 : 0;
		f->cursor.empty = empty;
		grown = got == CTF_SHORT ? ctf_file_more(f, f->payload, e) : 0;
		if (grown < 0)
			return -1;
		if (!grown)
			return ctf_file_abandon(
				f, f->payload,
				got == CTF_SHORT
					? "an event is cut short"
					: "an event's data are not as the metadata declares them");
	}
}

/* --- prepares each event class once: its header, and the moves of its data into a row --- */

/* Bytes of the fixed part of a row; events with more data carry them as values. */
enum { FIXED_MOST = 2048 };

/* Test whether the stream can contain the trace's bytes unchanged. */
static bool as_it_is(const struct ctf_part *p)
{
	return !p->slot && !p->unusual && !(p->big && p->size > 8) && !(p->align % 8) &&
	       p->size == 8 * ctf_bytes(p->size);
}

/* --- moves --- */

/* Add a move, or extend the last one by it. */
static int add_move(struct ctf_class *c, const struct ctf_move *m)
{
	struct ctf_move *last = c->nmoves ? &c->moves[c->nmoves - 1] : NULL;

	if (last && m->kind == MOVE_BYTES && last->kind == MOVE_BYTES && m->align == 8 &&
	    last->to + last->n == m->to) {
		last->n += m->n;
		return 0;
	}
	if (ARRAY_GROW(c->moves, c->moves_capacity, c->nmoves))
		return -1;
	c->moves[c->nmoves++] = *m;
	return 0;
}

/* Add the moves of a part. align: least alignment, by the parts that contain it. 1: done; 0: the
 * part cannot be moved; -1: out of memory. */
static int move_part(struct ctf_class *c, const struct ctf_part *p, uint32_t align)
{
	struct ctf_move m = {
		.to = c->fixed_size, .align = p->align > align ? p->align : align, .part = p};
	const struct ctf_part *element = p->children;
	uint64_t n;

	if (p->type->unit) {
		m.kind = MOVE_UNUSUAL;
		c->nstrings++;
		return add_move(c, &m) ? -1 : 1;
	}

	switch (p->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
	case CTF_FLOAT:
		m.kind = p->unusual ? MOVE_UNUSUAL : as_it_is(p) ? MOVE_BYTES : MOVE_NUMBER;
		m.size = p->size;
		m.n = ctf_bytes(p->size);
		m.big = p->big;
		m.is_signed = p->is_signed;
		m.slot = p->slot;
		c->fixed_size += m.n;
		break;
	case CTF_STRING:
		m.kind = MOVE_STRING;
		m.align = m.align > 8 ? m.align : 8;
		c->nstrings++;
		break;
	case CTF_ARRAY:
		n = p->count;
		if (element->kind != CTF_INTEGER || !as_it_is(element) || element->align != 8u ||
		    !n || n > FIXED_MOST)
			return 0;
		m.kind = MOVE_BYTES;
		m.n = (uint32_t)n * element->size / 8;
		c->fixed_size += m.n;
		break;
	case CTF_SEQUENCE:
		if (element->kind != CTF_INTEGER || element->size != 8 || element->align != 8 ||
		    !element->type->text)
			return 0;
		m.kind = MOVE_TEXT;
		m.slot = p->refers->slot;
		c->nstrings++;
		break;
	default: return 0;
	}
	if (c->fixed_size > FIXED_MOST)
		return 0;
	return add_move(c, &m) ? -1 : 1;
}

static void spot(struct ctf_spot *s, uint32_t at, uint32_t size)
{
	s->at = (int32_t)at;
	s->size = size;
}

static void note_roles(struct ctf_class *c, const struct ctf_part *p, uint32_t at, uint32_t string)
{
	const char *name = ctf_bare_name(p->name);
	uint32_t size = c->fixed_size - at;

	switch (p->role) {
	case CTF_TID: spot(&c->tid, at, size); break;
	case CTF_PID: spot(&c->pid, at, size); break;
	case CTF_PPID: spot(&c->ppid, at, size); break;
	case CTF_COMM:
		if (p->kind == CTF_ARRAY)
			spot(&c->comm, at, size);
		else if (p->kind == CTF_STRING)
			c->comm_string = string + 1;
		break;
	default: break;
	}
	if (c->call.kind == CALL_TEXT && !strcmp(name, "depth") && p->kind == CTF_INTEGER)
		spot(&c->call.depth, at, size);
	if (c->numbered && !strcmp(name, "call") && p->kind == CTF_INTEGER && size == 4)
		spot(&c->call.number, at, size);
	if (c->call.kind == CALL_TEXT && !strcmp(name, "name") && p->kind == CTF_STRING &&
	    c->string == CTF_NO_STRING)
		c->string = string;
	if (c->call.kind == CALL_TEXT && !strcmp(name, "args") && p->kind == CTF_STRING &&
	    c->call.arguments == CTF_NO_STRING)
		c->call.arguments = string;
	if (c->call.kind == CALL_GAP && !strcmp(name, "reason") && p->kind == CTF_STRING)
		c->string = string;
	if (c->call.kind == CALL_GAP && !strcmp(name, "count") && size == 8)
		spot(&c->argument[0], at, size);
	if (c->call.kind == CALL_GAP && !strcmp(name, "offset") && size == 8)
		spot(&c->argument[1], at, size);
	if (c->action == CTF_SWITCH && !strcmp(name, "next_tid") && size)
		spot(&c->argument[0], at, size);
	if (c->action == CTF_SWITCH && !strcmp(name, "next_comm")) {
		if (p->kind == CTF_ARRAY)
			spot(&c->argument[1], at, size);
		else if (p->kind == CTF_STRING || p->kind == CTF_SEQUENCE)
			c->string = string;
	}
	if (c->action == CTF_BIN_INFO && !strcmp(name, "baddr"))
		spot(&c->argument[0], at, size);
	if (c->action == CTF_BIN_INFO && !strcmp(name, "memsz"))
		spot(&c->argument[1], at, size);
	if (c->action == CTF_BIN_INFO && !strcmp(name, "path") && p->kind == CTF_STRING)
		c->string = string;
	if ((c->call.kind == CALL_ADDRESS && !strcmp(name, "addr")) ||
	    (c->call.kind == CALL_IRQ && !strcmp(name, "irq")) ||
	    (c->call.kind == CALL_SOFTIRQ && !strcmp(name, "vec")))
		if (p->kind == CTF_INTEGER || p->kind == CTF_ENUM)
			spot(&c->call.location, at, size);
}

/* Add the moves of all data, and set c->plain if there are moves for all. */
static int make_moves(struct ctf_class *c)
{
	uint32_t fields = 0;

	c->plain = !c->stream->carried;
	for (int i = 0; i < CTF_DATA_SCOPES; i++) {
		const struct ctf_part *s = c->layout[ctf_data_scopes[i]];
		uint32_t align = s ? s->align : 1;

		for (const struct ctf_part *p = s ? s->children : NULL; p; p = p->next) {
			uint32_t at = c->fixed_size, string = c->nstrings;
			int done = ++fields > CTF_FIELDS ? 0 : move_part(c, p, align);

			if (done < 0)
				return -1;
			if (!done) {
				c->plain = false;
				return 0;
			}
			note_roles(c, p, at, string);
			align = 1;
		}
	}
	return 0;
}

/* --- headers --- */

static bool is_int(const struct ctf_part *p, unsigned size, uint32_t align)
{
	return p && (p->kind == CTF_INTEGER || p->kind == CTF_ENUM) && p->size == size &&
	       p->align == align && !p->big && !p->is_signed && !p->unusual && !p->roles;
}

/* enum id; variant <id> { struct { time } ; struct { u32 id; u64 time } } */
static bool is_lttng(const struct ctf_part *h, unsigned id, unsigned time, uint32_t align)
{
	const struct ctf_part *first = h->children, *v = first ? first->next : NULL, *a, *b;

	if (h->align != 8 || !v || v->next || v->kind != CTF_VARIANT || v->refers != first ||
	    first->role != CTF_ID || !is_int(first, id, align))
		return false;
	a = v->children;
	b = a ? a->next : NULL;
	if (!b || b->next || a->kind != CTF_STRUCT || b->kind != CTF_STRUCT || a->align != align ||
	    b->align != 8 || !a->children || a->children->next ||
	    !is_int(a->children, time, align) || a->children->role != CTF_TIME ||
	    !is_int(b->children, 32, 8) || b->children->role != CTF_ID ||
	    !is_int(b->children->next, 64, 8) || b->children->next->role != CTF_TIME ||
	    b->children->next->next)
		return false;
	/* all ids but the highest choose the first option */
	for (uint64_t i = 0; i < 1ull << id; i++)
		if (ctf_option(v, i) != (i + 1 < 1ull << id ? a : b))
			return false;
	return true;
}

static void find_shape(struct ctf_stream *s)
{
	const struct ctf_part *h = s->layout[SCOPE_EVENT_HEADER], *p = h ? h->children : NULL;

	if (!p)
		return;
	if (is_lttng(h, 5, 27, 1)) {
		s->shape = SHAPE_COMPACT;
	} else if (is_lttng(h, 16, 32, 8)) {
		s->shape = SHAPE_LARGE;
	} else if (p->role == CTF_ID && h->align == 8 && is_int(p, p->size, 8) &&
		   p->size == 8 * ctf_bytes(p->size) && p->next && !p->next->next &&
		   p->next->role == CTF_TIME && is_int(p->next, 64, 8) && !p->slot &&
		   !p->next->slot) {
		s->shape = SHAPE_SIMPLE;
		s->id_size = p->size / 8;
	}
}

/* Find the clock of the first part that records a time. */
static const struct ctf_clock *clock_of(const struct ctf_part *p, bool *has_time)
{
	const struct ctf_clock *c = NULL;

	for (; p; p = p->next) {
		if (p->role == CTF_TIME || p->role == CTF_TIME_BEGIN)
			*has_time = true;
		if (p->type->clock)
			return p->type->clock;
		c = p->children ? clock_of(p->children, has_time) : NULL;
		if (c)
			return c;
	}
	return NULL;
}

static bool has_role(const struct ctf_part *p, enum ctf_role role)
{
	for (; p; p = p->next)
		if (p->role == role || has_role(p->children, role))
			return true;
	return false;
}

/* Set which fields of the packet's context events repeat. A CPU alone is in their lanes. */
static void ctf_find_carried(struct ctf_stream *s)
{
	const struct ctf_part *context = s->layout[SCOPE_PACKET_CONTEXT];

	for (const struct ctf_part *p = context ? context->children : NULL; p; p = p->next) {
		if (p->role == CTF_DISCARDED)
			s->discarded_bits = p->size;
		if (ctf_is_own(p))
			continue;
		s->carried++;
		s->cpu_alone = p->role == CTF_CPU && p->kind == CTF_INTEGER && p->type->base == 10;
	}
	s->cpu_alone = s->cpu_alone && s->carried == 1;
	if (s->cpu_alone)
		s->carried = 0;
}

/* --- all of a trace --- */

/* Get the clock of times that name none: the only clock declared, else NULL. */
static const struct ctf_clock *only_clock(const struct ctf_metadata *m)
{
	const struct ctf_clock *only = NULL;

	for (const struct ctf_clock *c = m->clocks; c; c = c->next) {
		if (c->declared && only)
			return NULL;
		if (c->declared)
			only = c;
	}
	return only;
}

/* only: the clock of times that name none; may be NULL. */
static int make_stream(struct ctf_stream *s, const struct ctf_clock *only, struct error *e)
{
	struct ctf_metadata *m = &s->trace->metadata;
	const struct ctf_stream_class *d = s->declared;

	if (ctf_layout_add(m, s->layout, SCOPE_PACKET_HEADER, m->packet_header, e) ||
	    ctf_layout_add(m, s->layout, SCOPE_PACKET_CONTEXT, d->packet_context, e) ||
	    ctf_layout_add(m, s->layout, SCOPE_EVENT_HEADER, d->header, e) ||
	    ctf_layout_add(m, s->layout, SCOPE_STREAM_CONTEXT, d->context, e))
		return -1;
	find_shape(s);
	s->clock = clock_of(s->layout[SCOPE_EVENT_HEADER], &s->has_time);
	if (!s->clock)
		s->clock = clock_of(s->layout[SCOPE_PACKET_CONTEXT], &s->has_time);
	if (m->major == 2)
		s->clock = d->clock;
	else if (!s->clock && s->has_time)
		s->clock = only;
	if (m->major == 2 && s->has_time && !s->clock)
		return error_set(e, NULL, NO_OFFSET, "it has times and no default clock");
	s->has_id = has_role(s->layout[SCOPE_EVENT_HEADER], CTF_ID);
	ctf_find_carried(s);
	s->usable = true;
	return 0;
}

static int make_class(struct ctf_class *c, struct error *e)
{
	struct ctf_metadata *m = &c->stream->trace->metadata;
	static const struct ctf_spot none = {.at = -1};

	memcpy(c->layout, c->stream->layout, sizeof c->layout);
	c->call.depth = c->call.number = c->tid = c->pid = c->ppid = c->comm = c->call.location =
		c->argument[0] = c->argument[1] = none;
	if (ctf_layout_add(m, c->layout, SCOPE_EVENT_CONTEXT, c->declared->context, e) ||
	    ctf_layout_add(m, c->layout, SCOPE_FIELDS, c->declared->fields, e))
		return -1;
	c->usable = true;
	return 0;
}

/* Report a declaration that cannot be used. -1: out of memory. */
static int unusable(struct ctf_trace *t, const char *what, const char *name, struct error *e)
{
	char path[512], member[300];

	if (!strcmp(e->what, "out of memory"))
		return -1;
	snprintf(member, sizeof member, "%.280smetadata", t->prefix);
	input_damage(t->ctf->input, tree_path(t->ctf->input->tree, member, path, sizeof path),
		     NO_OFFSET, "%s '%.100s' cannot be read: %.300s", what, name, e->what);
	e->what[0] = '\0';
	return 0;
}

struct ctf_stream *ctf_stream_of(const struct ctf_trace *t, uint64_t id)
{
	uint64_t number = key_map_get(&t->numbers, id);

	return number ? &t->streams[number - 1] : NULL;
}

/* Make a stream. Of usable ones with the same id the first one is used. */
static int add_stream(struct ctf_trace *t, const struct ctf_stream_class *d,
		      const struct ctf_clock *only, struct error *e)
{
	struct ctf_stream *s = &t->streams[t->nstreams++];
	uint32_t *number;

	s->declared = d;
	s->trace = t;
	if (make_stream(s, only, e) && unusable(t, "a stream", "", e))
		return -1;
	if (!s->usable)
		return 0;
	t->last_stream = s;
	number = key_map_number(&t->numbers, d->id);
	if (!number)
		return error_no_memory(e);
	if (!*number)
		*number = (uint32_t)t->nstreams;
	return 0;
}

/* Test whether the event's data contain the name of its call, or all of a gap. */
static bool ctf_has_name(const struct ctf_class *c)
{
	if (c->call.kind == CALL_TEXT)
		return c->string != CTF_NO_STRING;
	if (c->call.kind == CALL_GAP)
		return c->string != CTF_NO_STRING && c->argument[0].at >= 0 &&
		       c->argument[1].at >= 0;
	return c->kind == KIND_INSTANT || c->call.kind == CALL_NAMED || c->call.location.at >= 0;
}

/* Set the moves of a class, and what its events mean to the decoder. */
static int finish_class(struct ctf_class *c)
{
	ctf_calls_classify(c);
	if (make_moves(c))
		return -1;
	if (!c->plain)
		ctf_stack_find(c);
	if (c->plain ? !ctf_has_name(c) : c->call.kind != CALL_NAMED) {
		c->kind = KIND_INSTANT;
		c->call.kind = CALL_NONE;
	}
	/* the name, the arguments, and of own traces the comm */
	c->has_arguments = c->plain && c->call.kind == CALL_TEXT &&
			   c->call.arguments != CTF_NO_STRING &&
			   c->nstrings == 2u + (c->stream->trace->own && c->comm_string);
	c->stream->trace->has_gaps |= c->call.kind == CALL_GAP;
	c->numbered = c->numbered && c->call.number.at >= 0 && c->kind != KIND_INSTANT;
	if (c->action == CTF_SWITCH ? c->plain && c->argument[0].at < 0
				    : !c->plain || c->argument[0].at < 0 || c->argument[1].at < 0)
		c->action = CTF_NO_ACTION;
	return 0;
}

/* Prepare all streams and event classes of a trace. Report those that cannot be used; their events
 * count as damage. */
static int ctf_classes_make(struct ctf_trace *t, struct error *e)
{
	struct ctf_metadata *m = &t->metadata;
	const struct ctf_clock *only = only_clock(m);
	size_t n = 0;

	/* events may be declared without a stream: make one for them */
	if (!m->streams && m->events && m->complete) {
		m->streams = ctf_alloc(m, sizeof *m->streams);
		if (!m->streams)
			return error_no_memory(e);
	}
	for (const struct ctf_stream_class *s = t->metadata.streams; s; s = s->next)
		n++;
	t->streams = calloc(n + 1, sizeof *t->streams);
	n = 0;
	for (const struct ctf_event_class *c = t->metadata.events; c; c = c->next)
		n++;
	t->classes = calloc(n + 1, sizeof *t->classes);
	if (!t->streams || !t->classes)
		return error_no_memory(e);
	for (const struct ctf_stream_class *d = t->metadata.streams; d; d = d->next)
		if (add_stream(t, d, only, e))
			return -1;
	/* the newest class is first: of two with the same id the later one is used */
	for (const struct ctf_event_class *d = t->metadata.events; d; d = d->next) {
		struct ctf_class *c = &t->classes[t->nclasses++];

		c->declared = d;
		/* the only stream if the class names none */
		c->stream = !d->has_stream && t->nstreams == 1 ? t->streams
							       : ctf_stream_of(t, d->stream);
		if (!c->stream || !c->stream->usable || d->id > UINT32_MAX ||
		    idmap_get(&c->stream->ids, (uint32_t)d->id))
			continue;
		if (idmap_set(&c->stream->ids, (uint32_t)d->id, (uint32_t)t->nclasses))
			return error_no_memory(e);
		if (make_class(c, e) && unusable(t, "the event", d->name, e))
			return -1;
		c->stream->only =
			!c->stream->has_id && !c->stream->nclasses++ ? (uint32_t)t->nclasses : 0;
	}
	/* from here on it is known which lengths and tags need slots */
	for (size_t i = 0; i < t->nclasses; i++)
		if (t->classes[i].usable && finish_class(&t->classes[i]))
			return error_no_memory(e);
	return 0;
}

void ctf_classes_free(struct ctf_trace *t)
{
	for (size_t i = 0; i < t->nstreams; i++)
		idmap_free(&t->streams[i].ids);
	for (size_t i = 0; i < t->nclasses; i++)
		free(t->classes[i].moves);
	free(t->streams);
	free(t->classes);
	key_map_free(&t->numbers);
}

/* Declare the trace as a source of the stream, with its environment as metadata. */
static int ctf_trace_declare(struct ctf_trace *t)
{
	struct ctf *ctf = t->ctf;
	struct writer *w = ctf->w;
	struct buffer text = {0};
	int failed = 0;

	t->source = writer_source(w, &(struct source_entry){writer_text(w, "ctf"),
							    writer_text(w, ctf->input->name), 8,
							    t->metadata.big});
	for (const struct ctf_attribute *v = t->metadata.env; v && !failed; v = v->next)
		if (t->own && v->text && !strncmp(v->name, CTF_ARGUMENTS, sizeof CTF_ARGUMENTS - 1))
			failed = ctf_arguments_declare(ctf, v->text);
		else
			failed = v->text ? buffer_printf(&text, "%s %s\n", v->name, v->text)
					 : buffer_printf(&text, "%s %" PRId64 "\n", v->name,
							 v->number);
	if (!failed && text.size)
		failed = writer_meta(w, t->source, "ctf.env", text.data, text.size);
	buffer_free(&text);
	return failed || !t->source ? -1 : 0;
}

/* --- the decoder of CTF: finds the traces of an input and merges their files by time --- */

enum {
	HEAD = 8192, /* bytes read to recognise metadata */
};

/* --- finding the traces --- */

static enum bid bid_metadata(const struct tree *tree, const char *member)
{
	uint8_t head[HEAD];

	if (strcmp(member + ctf_prefix_size(member), "metadata"))
		return BID_NONE;
	return ctf_metadata_bid(head, tree_peek(tree, member, head, sizeof head));
}

/* A file given by the user that has a metadata file beside it is the metadata, or its first packet
 * has the magic number. A trace whose packets have none must be given as a directory. */
static enum bid ctf_probe(const struct input *in)
{
	enum bid best = BID_NONE, bid;

	if (in->tree && in->member)
		return !strcmp(in->member, "metadata") || ctf_packet_is(in->head, in->head_size)
			       ? bid_metadata(in->tree, "metadata")
			       : BID_NONE;
	for (size_t i = 0; in->tree && i < tree_count(in->tree); i++) {
		bid = bid_metadata(in->tree, tree_member(in->tree, i));
		best = bid > best ? bid : best;
	}
	return best;
}

/* --- opening --- */

/* Find the next tracefile of a trace among the members from *at on, which are sorted: it is beside
 * the trace's metadata. NULL: there is no other one. */
static const char *next_tracefile(const struct ctf *ctf, const struct ctf_trace *t, size_t *at)
{
	const struct tree *tree = ctf->input->tree;
	const char *only = ctf->input->member;
	size_t prefix = strlen(t->prefix);

	while (*at < tree_count(tree)) {
		const char *member = tree_member(tree, (*at)++), *name = member + prefix;

		if (strncmp(member, t->prefix, prefix) != 0)
			return NULL;
		if (!strchr(name, '/') && name[0] != '.' && strcmp(name, "metadata") &&
		    (!only || !strcmp(only, member)))
			return member;
	}
	return NULL;
}

static int find_files(struct ctf *ctf, struct error *e)
{
	const struct tree *tree = ctf->input->tree;
	size_t capacity = 0;

	for (size_t i = 0; i < ctf->ntraces; i++) {
		struct ctf_trace *t = &ctf->traces[i];
		size_t at = tree_lower_bound(tree, t->prefix);
		const char *member;

		while ((member = next_tracefile(ctf, t, &at))) {
			if (ARRAY_GROW(ctf->files, capacity, ctf->nfiles))
				return error_no_memory(e);
			ctf->files[ctf->nfiles] =
				(struct ctf_file){.trace = t,
						  .member = member,
						  .next = {UINT64_MAX, (uint32_t)ctf->nfiles},
						  .done = true};
			ctf->nfiles++;
		}
	}
	ctf->heap.items = calloc(ctf->nfiles + 1, sizeof *ctf->heap.items);
	return ctf->heap.items ? 0 : error_no_memory(e);
}

/* Find the time from 1970 to the clock's 0. A clock of version 2 has an id. */
static bool find_wall(const struct ctf_clock *c, int64_t *wall)
{
	if ((c->absolute || !c->id) && ctf_trace_wall(c, wall))
		return c->absolute || *wall;
	*wall = 0;
	return false;
}

static void set_clock(struct ctf *ctf)
{
	struct input *in = ctf->input;
	const struct ctf_clock *first = NULL;
	bool time = false;

	for (size_t i = 0; i < ctf->ntraces; i++) {
		struct ctf_trace *t = &ctf->traces[i];
		const struct ctf_clock *c = ctf_trace_clock(t);

		for (size_t k = 0; k < t->nstreams; k++) {
			ctf_trace_set_offset(&t->streams[k]);
			time |= t->streams[k].has_time;
		}
		if (!first && c) {
			first = c;
			in->has_wall = find_wall(c, &in->wall);
		}
	}
	in->ticks = !time;
	/* a stream has no wall times before 1970, so the times stay the clock's own */
	ctf->raw = in->decoding->clock == CLOCK_RAW || !in->has_wall || in->wall < 0;
	in->clock_name = !time ? "none" : !ctf->raw ? "wall" : first ? first->name : "ticks";
	/* clocks of the same origin meet, with their offsets */
	if (time && first && first->origin && in->decoding->clock != CLOCK_RAW) {
		ctf->raw = false;
		in->clock_name = first->origin;
	}
	if (!ctf->raw)
		in->wall = 0;
}

/* Open all traces that can be read. -1: none can be. */
static int open_traces(struct ctf *ctf, struct error *e)
{
	struct input *in = ctf->input;
	struct error bad = {.what = ""}, other;

	for (size_t i = 0; i < tree_count(in->tree); i++) {
		const char *member = tree_member(in->tree, i);

		if ((in->member && ctf_prefix_size(member)) || !bid_metadata(in->tree, member) ||
		    !ctf_trace_open(ctf, member, &other))
			continue;
		if (bad.what[0])
			input_damage_error(in, &other);
		else
			bad = other;
	}
	if (bad.what[0] && !ctf->ntraces) {
		*e = bad;
		return -1;
	}
	if (bad.what[0])
		input_damage_error(in, &bad);
	return 0;
}

static int ctf_open(struct input *in, struct error *e)
{
	struct ctf *ctf = calloc(1, sizeof *ctf);
	const struct tree *tree = in->tree;

	in->state = ctf;
	if (!ctf)
		return error_no_memory(e);
	ctf->input = in;
	ctf->w = in->decoding->writer;
	ctf->flows = ctf_flows_join(&in->decoding->ctf_flows);
	if (!ctf->flows)
		return error_no_memory(e);
	if (tree_damage(tree, e))
		input_damage_error(in, e);
	e->what[0] = '\0';
	if (in->member && !strcmp(in->member, "metadata"))
		return error_set(e, in->name, NO_OFFSET,
				 "metadata has no events: give the directory that contains it");
	if (open_traces(ctf, e))
		return -1;
	/* from here on pointers to traces stay valid */
	for (size_t i = 0; i < ctf->ntraces; i++) {
		if (ctf_classes_make(&ctf->traces[i], e))
			return -1;
		ctf_skip_prepare(&ctf->traces[i]);
	}
	set_clock(ctf);
	return find_files(ctf, e);
}

static uint64_t ctf_fingerprint(const struct input *in)
{
	const struct ctf *ctf = in->state;
	uint64_t id = 0;

	for (size_t i = 0; i < ctf->ntraces; i++) {
		const struct ctf_clock *c = ctf_trace_clock(&ctf->traces[i]);
		int64_t wall = 0;

		if (c)
			ctf_trace_wall(c, &wall);
		id = hash_bytes(ctf->traces[i].metadata.uuid, 16, id + (uint64_t)wall);
	}
	for (size_t i = 0; i < ctf->nfiles; i++)
		id = hash_bytes(ctf->files[i].member, strlen(ctf->files[i].member), id);
	return id;
}

static int ctf_info(struct input *in, struct trace_info *info, struct error *e)
{
	struct ctf *ctf = in->state;
	uint64_t bytes = 0;

	(void)e;

	fact_text(info, "format", "ctf");
	for (size_t i = 0; i < ctf->ntraces; i++)
		ctf_trace_info(&ctf->traces[i], info);
	fact_number(info, "tracefiles", ctf->nfiles);
	for (size_t i = 0; i < ctf->nfiles; i++)
		bytes += tree_size(in->tree, ctf->files[i].member);
	fact_number(info, "bytes", bytes);
	return 0;
}

/* --- merging --- */

/* Get the length of the channel's name in "channel0_3", which ends with the CPU. */
static size_t channel_size(const char *name)
{
	size_t n = strlen(name), digits = n;

	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	return digits > 1 && digits < n && name[digits - 1] == '_' ? digits - 1 : n;
}

static int open_files(struct ctf *ctf, struct error *e)
{
	for (size_t i = 0; i < ctf->nfiles; i++) {
		struct ctf_file *f = &ctf->files[i];
		const char *name = f->member + ctf_prefix_size(f->member);

		f->buffer = writer_string(ctf->w, name, channel_size(name));
		f->done = false;
		if (ctf_file_open(f, e))
			return -1;
		if (f->done)
			ctf_file_close(f);
		else
			ctf->heap.items[ctf->heap.count++] = &f->next;
	}
	heap_build(&ctf->heap);
	return 0;
}

/* Declare the types of all event classes, and their locations, which have the names of fields. */
static int ctf_announce_types(struct ctf *ctf, const struct ctf_trace *t)
{
	struct row_filter *filter = ctf->input->decoding->row_filter;

	for (size_t i = 0; i < t->nclasses; i++) {
		struct ctf_class *c = &t->classes[i];

		if (!c->usable || c->call.kind == CALL_GAP)
			continue;
		if (ctf_class_declare(c) || row_filter_announce(filter, c->type, c->location))
			return -1;
	}
	return 0;
}

static int decode_ctf_begin(struct input *in, struct error *e)
{
	struct ctf *ctf = in->state;
	const struct ctf_file *first;
	uint64_t time;

	if (merge_choose_clock(in, e))
		return -1;
	ctf->clock = input_declare_clock(in, !strcmp(in->clock_name, "wall"));
	/* rows are written without a test for NULL */
	if (!ctf->clock || buffer_reserve(&ctf->fixed, 8192) || buffer_reserve(&ctf->tail, 4096))
		return -1;
	memset(ctf->fixed.data, 0, ctf->fixed.capacity);
	for (size_t i = 0; i < ctf->ntraces; i++)
		if (ctf_trace_declare(&ctf->traces[i]) || ctf_announce_types(ctf, &ctf->traces[i]))
			return -1;
	if (open_files(ctf, e))
		return -1;
	ctf->begun = true;
	first = ctf->heap.count ? (const struct ctf_file *)ctf->heap.items[0] : NULL;
	return first && ctf_file_own_time(first, first->cursor.time, &time)
		       ? merge_first(in, time, e)
		       : 0;
}

static int ctf_run(struct input *in, uint64_t until, struct error *e)
{
	struct ctf *ctf = in->state;
	struct heap *heap = &ctf->heap;

	while (heap->count && heap->items[0]->time <= until) {
		struct ctf_file *first = (struct ctf_file *)heap->items[0];
		const struct heap_item *second = heap_second(heap);

		do {
			if (ctf_row(first, e) || ctf_file_next(first, e))
				return -1;
		} while (first->next.time <= until && !first->done &&
			 (!second || heap_earlier(&first->next, second)));
		if (first->done)
			ctf_file_close(first);
		heap_settle(heap);
	}
	in->next = heap->count ? heap->items[0]->time : UINT64_MAX;
	return 0;
}

static void ctf_close(struct input *in)
{
	struct ctf *ctf = in->state;

	if (!in->decoding->quiet && ctf->back)
		warn_count(in->name, ctf->back - 1, "more {time steps|times step} back");
	if (!in->decoding->quiet)
		warn_count(
			in->name, ctf->early,
			"{time is|times are} below 0, of events or packets: {it is|they are} 0 in "
			"the stream");
	for (size_t i = 0; i < ctf->nfiles; i++)
		ctf_file_close(&ctf->files[i]);
	for (size_t i = 0; i < ctf->ntraces; i++)
		ctf_trace_free(&ctf->traces[i]);
	free(ctf->files);
	free(ctf->heap.items);
	free(ctf->traces);
	id_cache_free(&ctf->declared);
	if (ctf->flows)
		ctf_flows_leave(&in->decoding->ctf_flows);
	arguments_free(&ctf->arguments.table);
	free(ctf->arguments.used);
	id_cache_free(&ctf->arguments.shapes);
	buffer_free(&ctf->arguments.values);
	json_close(&ctf->arguments.json);
	buffer_free(&ctf->fixed);
	buffer_free(&ctf->tail);
	buffer_free(&ctf->frames.kernel);
	buffer_free(&ctf->frames.user);
	buffer_free(&ctf->frames.locations);
	free(ctf);
	in->state = NULL;
}

const struct decoder decoder_ctf = {
	.name = "ctf",
	.raw_clock = true,
	.probe = ctf_probe,
	.open = ctf_open,
	.fingerprint = ctf_fingerprint,
	.info = ctf_info,
	.begin = decode_ctf_begin,
	.late = ctf_skip_late,
	.run = ctf_run,
	.close = ctf_close,
};
