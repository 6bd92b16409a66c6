/*
 * properties.c - the properties in the header of a trace, as apitrace dump prints them
 */
#include <stdlib.h>

#include "common/formats/apitrace.h"
#include "cmd/trencode/text/apitrace/apitrace.h"

/* A property, in the bytes of the header. */
struct property {
	const uint8_t *name, *value;
	size_t name_size, value_size, order;
};

static bool take_string(const uint8_t **p, const uint8_t *end, const uint8_t **text, size_t *n)
{
	uint64_t length = 0;
	unsigned shift = 0;

	do {
		if (*p == end || shift > 28)
			return false;
		length |= (uint64_t)(**p & 0x7f) << shift;
		shift += 7;
	} while (*(*p)++ & 0x80);
	if (length > (uint64_t)(end - *p))
		return false;
	*text = *p;
	*n = (size_t)length;
	*p += length;
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct property *x = a, *y = b;
	size_t n = x->name_size < y->name_size ? x->name_size : y->name_size;
	int order = memcmp(x->name, y->name, n);

	if (order)
		return order;
	if (x->name_size != y->name_size)
		return x->name_size < y->name_size ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static bool same_name(const struct property *a, const struct property *b)
{
	return a->name_size == b->name_size && !memcmp(a->name, b->name, a->name_size);
}

int apitrace_properties(const struct buffer *header, struct text *out, bool plain_octal,
			struct error *e)
{
	const uint8_t *p = header->data, *end = p + header->size;
	struct buffer value = {0};
	struct apitrace_writer w = {NULL, &value, NULL, plain_octal};
	struct property *all = NULL, one;
	size_t n = 0, capacity = 0;
	int bad = 0;

	if (header->size < 2 || p[0] < APITRACE_PROPERTIES)
		return 0;
	p += 2;
	while (take_string(&p, end, &one.name, &one.name_size) && one.name_size &&
	       take_string(&p, end, &one.value, &one.value_size)) {
		if (ARRAY_GROW(all, capacity, n)) {
			free(all);
			return error_no_memory(e);
		}
		/* apitrace uses the name up to a NUL */
		one.name_size = strnlen((const char *)one.name, one.name_size);
		one.order = n;
		all[n++] = one;
	}
	if (n)
		qsort(all, n, sizeof *all, by_name);
	for (size_t i = 0; i < n; i++) {
		if (i + 1 < n && same_name(&all[i], &all[i + 1]))
			continue; /* the last value of a property is valid */
		text_put(out, "// ", 3);
		text_put(out, (const char *)all[i].name, all[i].name_size);
		value.size = 0;
		bad = apitrace_string(&w, all[i].value, all[i].value_size);
		if (bad)
			break;
		text_put(out, " = ", 3);
		text_put(out, (const char *)value.data, value.size);
		text_char(out, '\n');
	}
	free(all);
	buffer_free(&value);
	return bad ? error_no_memory(e) : 0;
}
