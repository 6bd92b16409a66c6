/*
 * value.c - encoded values: read, skipped, checked
 */
#include "common/stream/value.h"

#include <inttypes.h>

#include "common/stream/dictionary.h"

/*
 * Skips values without decoding them, three times as fast as values_value():
 * programs check the values of every event, and search one argument among many.
 */

static const uint8_t *step_long_uleb(const uint8_t *p, const uint8_t *end, uint64_t *n)
{
	uint64_t all = 0;

	for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
		uint8_t byte = *p++;

		if (shift == 63 && byte > 1)
			return NULL;
		all |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*n = all;
			return p;
		}
	}
	return NULL;
}

static inline __attribute__((always_inline)) const uint8_t *
step_uleb(const uint8_t *p, const uint8_t *end, uint64_t *n)
{
	if (p < end && *p < 0x80) {
		*n = *p;
		return p + 1;
	}
	return step_long_uleb(p, end, n);
}

static inline const uint8_t *step_bytes(const uint8_t *p, const uint8_t *end, uint64_t n)
{
	return p && n <= (uint64_t)(end - p) ? p + n : NULL;
}

static const uint8_t *step_run(const uint8_t *p, const uint8_t *end)
{
	uint64_t n = 0;

	p = step_uleb(p, end, &n);
	return step_bytes(p, end, n);
}

static inline const uint8_t *step_definition(const uint8_t *p, const uint8_t *end)
{
	uint64_t id = 0;

	p = step_uleb(p, end, &id);
	return id > UINT32_MAX ? NULL : p;
}

/* Skip the size and the bytes of an ENUM or a NUMBER. */
static inline const uint8_t *step_number(const uint8_t *p, const uint8_t *end)
{
	if (!p || p == end || !*p || *p > 16)
		return NULL;
	return step_bytes(p + 1, end, *p);
}

static const uint8_t *step_units(const uint8_t *p, const uint8_t *end)
{
	uint64_t n = 0, unit;

	for (p = step_uleb(p, end, &n); p && n; n--)
		p = step_uleb(p, end, &unit);
	return p;
}

/* Skip a value without its children, which are counted. NULL: malformed. */
static inline __attribute__((always_inline)) const uint8_t *
value_step(const uint8_t *p, const uint8_t *end, uint64_t *children)
{
	uint64_t n = 0;

	*children = 0;
	if (p == end)
		return NULL;
	switch (*p++) {
	case VALUE_NULL:
	case VALUE_FALSE:
	case VALUE_TRUE: return p;
	case VALUE_NEGATIVE: p = step_uleb(p, end, &n); return n > NEGATIVE_MOST ? NULL : p;
	case VALUE_UINT:
	case VALUE_POINTER: return step_uleb(p, end, &n);
	case VALUE_FLOAT: return step_bytes(p, end, 4);
	case VALUE_DOUBLE: return step_bytes(p, end, 8);
	case VALUE_STRING:
	case VALUE_BLOB: return step_run(p, end);
	case VALUE_ENUM: return step_number(step_definition(p, end), end);
	case VALUE_BITMASK: p = step_definition(p, end); return p ? step_uleb(p, end, &n) : NULL;
	case VALUE_ARRAY: return step_uleb(p, end, children);
	case VALUE_STRUCT:
		p = step_definition(p, end);
		return p ? step_uleb(p, end, children) : NULL;
	case VALUE_NUMBER: return p < end ? step_number(p + 1, end) : NULL;
	case VALUE_OPAQUE: p = step_run(p, end); return p ? step_run(p, end) : NULL;
	case VALUE_WSTRING: return step_units(p, end);
	case VALUE_REPR: *children = 2; return p;
	case VALUE_FRAME: return step_definition(p, end);
	}
	return NULL;
}

/* Skip all the children of a value. */
static const uint8_t *step_children(const uint8_t *p, const uint8_t *end, uint64_t count)
{
	uint64_t open[VALUE_DEPTH], children;
	unsigned depth = 0;

	open[0] = count;
	while (p) {
		size_t floats = value_floats(p, end, open[depth]);

		p += 5 * floats;
		open[depth] -= floats;
		if (!open[depth]) {
			if (!depth)
				return p;
			depth--;
			continue;
		}
		open[depth]--;
		p = value_step(p, end, &children);
		if (!children)
			continue;
		if (depth + 1 == VALUE_DEPTH)
			return NULL;
		open[++depth] = children;
	}
	return NULL;
}

/* Skip a value and all its children. */
static inline __attribute__((always_inline)) const uint8_t *step_all(const uint8_t *p,
								     const uint8_t *end)
{
	uint64_t children;

	p = value_step(p, end, &children);
	return children ? step_children(p, end, children) : p;
}

static const uint8_t *step_backtrace(const uint8_t *p, const uint8_t *end)
{
	uint64_t n = 0;

	if (p == end || *p++ != VALUE_ARRAY)
		return NULL;
	for (p = step_uleb(p, end, &n); p && n; n--)
		p = p < end && *p == VALUE_FRAME ? step_definition(p + 1, end) : NULL;
	return p;
}

bool values_skip(struct values *v)
{
	const uint8_t *p = v->bad ? NULL : step_all(v->at, v->end);

	v->bad = !p;
	v->at = p ? p : v->at;
	return p;
}

bool values_detail(struct values *v, struct detail *d)
{
	const uint8_t *p;

	if (!values_what(v, &d->what, &d->index) || !values_value(v, &d->value))
		return false;
	p = d->value.count ? step_children(v->at, v->end, d->value.count) : v->at;
	v->bad = !p;
	v->at = p ? p : v->at;
	return p;
}

/* Skip the index and the value of a detail. NULL: malformed. */
static const uint8_t *step_detail(const uint8_t *p, const uint8_t *end, uint8_t what)
{
	uint64_t index = 0;

	p = step_uleb(p, end, &index);
	if (!p)
		return NULL;
	if (what == DETAIL_ARGUMENT)
		return index && index <= VALUE_INDEX_LIMIT ? step_all(p, end) : NULL;
	if (!detail_known(what))
		return step_run(p, end);
	if (index)
		return NULL;
	switch (what) {
	case DETAIL_RETURN: return step_all(p, end);
	case DETAIL_BACKTRACE: return step_backtrace(p, end);
	}
	return p < end && *p == VALUE_UINT ? step_uleb(p + 1, end, &index) : NULL;
}

bool values_sound(const uint8_t *tail, size_t n)
{
	const uint8_t *p = tail, *end = n ? p + n : p;

	while (p < end) {
		p = step_detail(p + 1, end, *p);
		if (!p)
			return false;
	}
	return true;
}

/* --- value --- */

static bool long_uleb(struct values *v, uint64_t *out)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (v->at == v->end)
			break;
		byte = *v->at++;
		if (shift == 63 && byte > 1)
			break;
		n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = n;
			return true;
		}
	}
	v->bad = true;
	return false;
}

static inline bool uleb(struct values *v, uint64_t *out)
{
	if (__builtin_expect(v->at == v->end || *v->at > 0x7f, 0))
		return long_uleb(v, out);
	*out = *v->at++;
	return true;
}

static inline bool byte(struct values *v, uint8_t *out)
{
	if (v->at == v->end) {
		v->bad = true;
		return false;
	}
	*out = *v->at++;
	return true;
}

static bool bytes(struct values *v, uint64_t n, const uint8_t **out)
{
	if (n > (uint64_t)(v->end - v->at)) {
		v->bad = true;
		return false;
	}
	*out = v->at;
	v->at += n;
	return true;
}

static bool value_definition(struct values *v, uint32_t *out)
{
	uint64_t id;

	if (!uleb(v, &id))
		return false;
	if (id > UINT32_MAX)
		v->bad = true;
	*out = (uint32_t)id;
	return !v->bad;
}

static bool value_run(struct values *v, const uint8_t **out, size_t *n)
{
	uint64_t length;

	if (!uleb(v, &length) || !bytes(v, length, out))
		return false;
	*n = (size_t)length;
	return true;
}

static bool value_machine_number(struct values *v, struct value *out)
{
	if (!byte(v, &out->size))
		return false;
	if (!out->size || out->size > 16)
		v->bad = true;
	if (v->bad || !bytes(v, out->size, &out->bytes))
		return false;
	out->n = out->size;
	if (out->size <= 8) {
		for (unsigned i = 0; i < out->size; i++)
			out->number |= (uint64_t)out->bytes[i] << 8 * i;
		if (out->format == 'e' && out->size > 4)
			out->number = (uint64_t)sign_extend(out->number, 4);
		else if (out->format == 'i' || out->format == 'd' || out->format == 'e')
			out->number = (uint64_t)sign_extend(out->number, out->size);
		/* the upper half of a register of 8 bytes has no meaning for an int */
		if (out->format == 'd' && out->size == 8 && out->number > 0xffff0000 &&
		    out->number <= UINT32_MAX)
			out->number |= 0xffffffff00000000;
	}
	return true;
}

static bool units(struct values *v, struct value *out)
{
	uint64_t unit;

	if (!uleb(v, &out->number))
		return false;
	out->bytes = v->at;
	for (uint64_t i = 0; i < out->number; i++)
		if (!uleb(v, &unit))
			return false;
	out->n = (size_t)(v->at - out->bytes);
	return true;
}

bool values_value(struct values *v, struct value *out)
{
	const uint8_t *p;

	*out = (struct value){0};
	if (v->bad || !byte(v, &out->tag))
		return false;
	switch (out->tag) {
	case VALUE_NULL:
	case VALUE_FALSE: return true;
	case VALUE_TRUE: out->number = 1; return true;
	case VALUE_NEGATIVE:
		if (!uleb(v, &out->number))
			return false;
		/* the magnitude is limited to that of negative numbers of 64 bits */
		v->bad = out->number > NEGATIVE_MOST;
		out->number = -out->number;
		return !v->bad;
	case VALUE_UINT:
	case VALUE_POINTER: return uleb(v, &out->number);
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		out->size = out->tag == VALUE_FLOAT ? 4 : 8;
		out->n = out->size;
		return bytes(v, out->size, &out->bytes);
	case VALUE_STRING:
	case VALUE_BLOB: return value_run(v, &out->bytes, &out->n);
	case VALUE_ENUM:
		return value_definition(v, &out->definition) && value_machine_number(v, out);
	case VALUE_BITMASK: return value_definition(v, &out->definition) && uleb(v, &out->number);
	case VALUE_ARRAY: return uleb(v, &out->count);
	case VALUE_STRUCT: return value_definition(v, &out->definition) && uleb(v, &out->count);
	case VALUE_REPR: out->count = 2; return true;
	case VALUE_FRAME: return value_definition(v, &out->definition);
	case VALUE_WSTRING: return units(v, out);
	case VALUE_NUMBER: return byte(v, &out->format) && value_machine_number(v, out);
	case VALUE_OPAQUE:
		if (!value_run(v, &p, &out->type_name_size))
			return false;
		out->type_name = (const char *)p;
		return value_run(v, &out->bytes, &out->n);
	}
	v->bad = true;
	return false;
}

bool values_what(struct values *v, uint8_t *what, uint64_t *index)
{
	const uint8_t *p = v->at;
	size_t n;

	/* most details: else 'trdecode | trencode -t ndjson' of t/bench/apitrace.sh's trace takes
	 * 1.02 times the instructions */
	if (!v->bad && v->end - p >= 2 && detail_known(p[0]) && p[1] < 0x80) {
		*what = p[0];
		*index = p[1];
		v->detail = p;
		v->at = p + 2;
		return true;
	}
	while (!v->bad && v->at != v->end) {
		v->detail = v->at;
		if (!byte(v, what) || !uleb(v, index))
			break;
		if (detail_known(*what))
			return true;
		if (!value_run(v, &p, &n))
			break;
		v->detail = v->at;
	}
	return false;
}

/* Read the number of an ENUM. */
static bool enum_integer(const struct value *v, bool is_signed, uint64_t *number)
{
	uint8_t above;

	if (v->size <= 8) {
		*number = is_signed ? (uint64_t)sign_extend(v->number, v->size) : v->number;
		return true;
	}
	*number = get_u64(v->bytes);
	above = is_signed && *number >> 63 ? 0xff : 0;
	for (unsigned i = 8; i < v->size; i++)
		if (v->bytes[i] != above)
			return false;
	return true;
}

bool value_integer(const struct value *v, const struct definition *names, uint64_t *number,
		   bool *is_signed)
{
	*number = v->number;
	*is_signed = false;
	switch (v->tag) {
	case VALUE_FALSE:
	case VALUE_TRUE:
	case VALUE_UINT:
	case VALUE_BITMASK:
	case VALUE_POINTER: return true;
	case VALUE_NEGATIVE: *is_signed = true; return true;
	case VALUE_ENUM:
		*is_signed = !definition_is_unsigned(names);
		return enum_integer(v, *is_signed, number);
	case VALUE_NUMBER:
		*is_signed = v->format == 'i' || v->format == 'd' || v->format == 'e';
		return v->format != 'f' && v->size <= 8;
	}
	return false;
}

bool value_real(const struct value *v, long double *number)
{
	float f;
	double d;

	if (v->tag != VALUE_FLOAT && v->tag != VALUE_DOUBLE &&
	    !(v->tag == VALUE_NUMBER && v->format == 'f'))
		return false;
	if (v->size == 4) {
		uint32_t bits = get_u32(v->bytes);

		memcpy(&f, &bits, 4);
		*number = f;
	} else if (v->size == 8) {
		uint64_t bits = get_u64(v->bytes);

		memcpy(&d, &bits, 8);
		*number = d;
	} else if (v->size == 10) {
		/* the x87 form, decoded by hand so that it works on every machine */
		uint64_t mantissa = get_u64(v->bytes);
		uint16_t exponent = get_u16(v->bytes + 8);

		*number = __builtin_ldexpl((long double)mantissa, (exponent & 0x7fff) - 16383 - 63);
		if ((exponent & 0x7fff) == 0x7fff)
			*number = mantissa << 1 ? __builtin_nanl("") : __builtin_infl();
		if (exponent & 0x8000)
			*number = -*number;
	} else {
		return false;
	}
	return true;
}

/* --- writing --- */

int value_put_detail(struct buffer *b, enum detail_kind what, uint64_t index)
{
	return buffer_u8(b, (uint8_t)what) || buffer_uleb(b, index) ? -1 : 0;
}

int value_put_number(struct buffer *b, char format, const void *little_endian, uint8_t size)
{
	uint8_t head[] = {VALUE_NUMBER, (uint8_t)format, size};

	return buffer_append(b, head, 3) || buffer_append(b, little_endian, size) ? -1 : 0;
}

int value_put_enum(struct buffer *b, uint32_t def, const void *little_endian, uint8_t size)
{
	return buffer_u8(b, VALUE_ENUM) || buffer_uleb(b, def) || buffer_u8(b, size) ||
			       buffer_append(b, little_endian, size)
		       ? -1
		       : 0;
}

int value_put_bitmask(struct buffer *b, uint32_t def, uint64_t number)
{
	return buffer_u8(b, VALUE_BITMASK) || buffer_uleb(b, def) || buffer_uleb(b, number) ? -1
											    : 0;
}

int value_put_bytes(struct buffer *b, enum value_tag tag, const void *data, size_t n)
{
	return buffer_u8(b, (uint8_t)tag) || buffer_uleb(b, n) || buffer_append(b, data, n) ? -1
											    : 0;
}

int value_put_opaque(struct buffer *b, const char *type_name, const void *data, size_t n)
{
	size_t length = type_name ? strlen(type_name) : 0;

	return buffer_u8(b, VALUE_OPAQUE) || buffer_uleb(b, length) ||
			       buffer_append(b, type_name, length) || buffer_uleb(b, n) ||
			       buffer_append(b, data, n)
		       ? -1
		       : 0;
}

int value_put_simple(struct buffer *b, enum value_tag tag)
{
	return buffer_u8(b, (uint8_t)tag);
}

int value_put_uint(struct buffer *b, enum value_tag tag, uint64_t number)
{
	return buffer_u8(b, (uint8_t)tag) || buffer_uleb(b, number) ? -1 : 0;
}

int value_put_float(struct buffer *b, const void *little_endian, uint8_t size)
{
	return buffer_u8(b, size == 4 ? VALUE_FLOAT : VALUE_DOUBLE) ||
			       buffer_append(b, little_endian, size)
		       ? -1
		       : 0;
}

int value_put_array(struct buffer *b, uint64_t count)
{
	return buffer_u8(b, VALUE_ARRAY) || buffer_uleb(b, count) ? -1 : 0;
}

int value_put_struct(struct buffer *b, uint32_t def, uint64_t count)
{
	return buffer_u8(b, VALUE_STRUCT) || buffer_uleb(b, def) || buffer_uleb(b, count) ? -1 : 0;
}

/* Copy one value without its children, with its definition mapped. */
static int copy_one(struct buffer *b, const struct value *v, const uint8_t *from, size_t n,
		    uint32_t definition)
{
	switch (v->tag) {
	case VALUE_ENUM: return value_put_enum(b, definition, v->bytes, v->size);
	case VALUE_BITMASK: return value_put_bitmask(b, definition, v->number);
	case VALUE_STRUCT: return value_put_struct(b, definition, v->count);
	case VALUE_FRAME: return value_put_uint(b, VALUE_FRAME, definition);
	}
	return buffer_append(b, from, n);
}

static bool has_definition(const struct value *v)
{
	return v->tag == VALUE_ENUM || v->tag == VALUE_BITMASK || v->tag == VALUE_STRUCT ||
	       v->tag == VALUE_FRAME;
}

/* Walk over all values, and copy them unless b is NULL. Returns 0; 1: definitions differ; -1. */
static int copy_values(struct buffer *b, const uint8_t *tail, size_t n,
		       uint32_t (*map)(void *ctx, uint32_t definition), void *ctx)
{
	const uint8_t *from = tail;
	int differs = 0;
	struct value one;
	struct values v;
	uint64_t index;
	uint8_t what;

	for (values_begin(&v, tail, n); values_what(&v, &what, &index);)
		for (uint64_t left = 1; left; left += one.count - 1) {
			uint32_t definition;

			/* the head of the detail, after those of unknown kinds */
			if (b && buffer_append(b, from, (size_t)(v.at - from)))
				return -1;
			from = v.at;
			if (!values_value(&v, &one) || one.count > (uint64_t)(v.end - v.at))
				return -1;
			definition = has_definition(&one) ? map(ctx, one.definition) : 0;
			differs |= definition != one.definition;
			if (b && copy_one(b, &one, from, (size_t)(v.at - from), definition))
				return -1;
			from = v.at;
		}
	return v.bad || (b && buffer_append(b, from, (size_t)(v.at - from))) ? -1 : differs;
}

int values_copy(struct buffer *b, const uint8_t *tail, size_t n,
		uint32_t (*map)(void *ctx, uint32_t definition), void *ctx)
{
	return !values_sound(tail, n) || copy_values(b, tail, n, map, ctx) < 0 ? -1 : 0;
}

bool values_copy_is_same(const uint8_t *tail, size_t n,
			 uint32_t (*map)(void *ctx, uint32_t definition), void *ctx)
{
	return copy_values(NULL, tail, n, map, ctx) <= 0;
}

/* --- bad values --- */

static inline bool is_bad(const struct event *e, enum reads_values reads)
{
	return e->tail_size && bad_values_matter(e->type, reads) &&
	       !values_sound(e->tail, e->tail_size);
}

/* Copy a row unchanged, or without its tail. */
static int value_copy_row(struct buffer *to, const struct event *e, const uint8_t *end, bool bad)
{
	if (!bad)
		return buffer_append(to, e->row, (size_t)(end - e->row));
	return buffer_append(to, e->row, (size_t)(e->tail - 4 - e->row)) || buffer_u32(to, 0) ? -1
											      : 0;
}

static int copy_block(struct buffer *to, struct block *b, enum reads_values reads)
{
	size_t front = b->front;
	struct events it;
	struct event e;

	buffer_clear(to);
	if (buffer_append(to, b->payload, front))
		return -1;
	for (events_begin(&it, b); event_next(&it, &e);)
		if (value_copy_row(to, &e, it.row, is_bad(&e, reads)))
			return -1;
	b->row_size = to->size - front;
	if (buffer_align(to, 8))
		return -1;
	b->payload = to->data;
	b->length = b->available = (uint32_t)to->size;
	b->row_data = to->data + front;
	b->type_ids = to->data + EVENTS_HEADER;
	b->lane_ids = b->type_ids + 4 * b->ntypes;
	b->location_ids = b->lane_ids + 4 * b->nlanes;
	b->stacks.ids = b->location_ids + 4 * (size_t)b->stacks.locations;
	b->flags &= (uint16_t)~BLOCK_HAS_CRC;
	b->bad_values = false;
	return 0;
}

int64_t bad_values_drop(struct bad_values *v, struct block *b, enum reads_values reads)
{
	int64_t found = 0;
	struct events it;
	struct event e;

	if (!b->bad_values)
		return 0;
	for (events_begin(&it, b); event_next(&it, &e);) {
		if (!is_bad(&e, reads))
			continue;
		found++;
		if (!v->count++)
			error_set(&v->first, b->file,
				  b->offset + BLOCK_HEADER + (uint64_t)(e.row - b->payload),
				  BAD_VALUES);
	}
	return found && copy_block(&v->payload, b, reads) ? -1 : found;
}

void bad_values_report(const struct bad_values *v)
{
	if (v->count == 1)
		warn(v->first.file, v->first.offset, "%s: they are left out", v->first.what);
	else if (v->count)
		warn(v->first.file, v->first.offset,
		     "%s: they are left out, and those of %" PRIu64 " more event%s", v->first.what,
		     v->count - 1, v->count == 2 ? "" : "s");
}

void bad_values_free(struct bad_values *v)
{
	buffer_free(&v->payload);
}
