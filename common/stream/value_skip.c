/*
 * value_skip.c - skips values without decoding them, three times as fast as values_value():
 * programs check the values of every event, and search one argument among many
 */
#include "common/stream/value.h"

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
step(const uint8_t *p, const uint8_t *end, uint64_t *children)
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
		p = step(p, end, &children);
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

	p = step(p, end, &children);
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
