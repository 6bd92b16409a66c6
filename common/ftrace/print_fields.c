#include "common/ftrace/print_fields.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/util/lines.h"

struct word {
	const char *p;
	size_t n;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool contains(const char *p, size_t n, const char *what)
{
	return memmem(p, n, what, strlen(what)) != NULL;
}

/* Read a number: "offset:8;" after p gives 8. */
static bool number_of(const char *p, const char *end, const char *key, uint32_t *v)
{
	const char *q = memmem(p, (size_t)(end - p), key, strlen(key));
	uint64_t n = 0;

	if (!q)
		return false;
	for (q += strlen(key); q < end && blank(*q); q++)
		;
	if (q == end || *q < '0' || *q > '9')
		return false;
	for (; q < end && *q >= '0' && *q <= '9'; q++) {
		n = n * 10 + (uint64_t)(*q - '0');
		if (n > INT32_MAX)
			return false;
	}
	*v = (uint32_t)n;
	return true;
}

/* Get the bytes of an element by the name of its type, if that has a fixed size. */
static uint8_t size_of(const char *p, size_t n, unsigned word)
{
	static const struct {
		const char *name;
		uint8_t size;
	} sizes[] = {{"char", 1},    {"u8", 1},	      {"s8", 1},       {"bool", 1},
		     {"short", 2},   {"u16", 2},      {"s16", 2},      {"u32", 4},
		     {"s32", 4},     {"u64", 8},      {"s64", 8},      {"long long", 8},
		     {"uint8_t", 1}, {"uint16_t", 2}, {"uint32_t", 4}, {"uint64_t", 8},
		     {"__be16", 2},  {"__be32", 4},   {"__be64", 8}};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (contains(p, n, sizes[i].name))
			return sizes[i].size;
	if (contains(p, n, "long") || contains(p, n, "*"))
		return (uint8_t)word;
	if (contains(p, n, "int"))
		return 4;
	return 0;
}

/* Get the last number between the brackets: other words there are constants that were not
 * expanded. */
static uint32_t length_in(const char *p, const char *end)
{
	uint64_t v = 0;

	for (const char *q = p; q < end; q++)
		if (*q >= '0' && *q <= '9' && (q == p || !word_char(q[-1])))
			for (v = 0; q < end && *q >= '0' && *q <= '9' && v < INT32_MAX; q++)
				v = v * 10 + (uint64_t)(*q - '0');
	return v > INT32_MAX ? 0 : (uint32_t)v;
}

static bool name_of(struct format_field *f, const char *p, const char *end)
{
	const char *q = end;

	while (q > p && !word_char(q[-1]))
		q--;
	f->name_size = (uint32_t)(q - p);
	while (q > p && word_char(q[-1]))
		q--;
	f->name_size -= (uint32_t)(q - p);
	f->name = q;
	return f->name_size != 0;
}

/* Parse a declaration: "__data_loc char[] name" or "char comm[16]", the text between "field:"
 * and its semicolon. */
static bool declared(struct format_field *f, const char *p, const char *end, unsigned word)
{
	const char *open = memchr(p, '[', (size_t)(end - p)), *close;
	const char *type_end;
	uint32_t length = 0;

	if (open) {
		close = memrchr(open, ']', (size_t)(end - open));
		if (!close)
			return false;
		f->array = true;
		length = length_in(open + 1, close);
		/* after the brackets, or before them */
		if (!name_of(f, close, end) && !name_of(f, p, open))
			return false;
		type_end = f->name > open ? open : f->name;
	} else {
		if (!name_of(f, p, end))
			return false;
		type_end = f->name;
	}
	f->data_loc = contains(p, (size_t)(type_end - p), "__data_loc");
	f->rel_loc = contains(p, (size_t)(type_end - p), "__rel_loc");
	f->array |= f->data_loc || f->rel_loc;
	f->pointer = contains(p, (size_t)(type_end - p), "*");
	f->has_long = contains(p, (size_t)(type_end - p), "long");
	f->string = f->array && size_of(p, (size_t)(type_end - p), word) == 1;
	if (!f->array)
		f->element = (uint8_t)(f->size > 8 ? 0 : f->size);
	else if (length && !f->data_loc && !f->rel_loc && f->size / length <= 8)
		f->element = (uint8_t)(f->size / length);
	else
		f->element = size_of(p, (size_t)(type_end - p), word);
	if (f->element & (f->element - 1))
		f->element = 0;
	return true;
}

static int take_field(struct format_fields *out, size_t *capacity, const char *p, const char *end,
		      unsigned word)
{
	const char *semicolon = memchr(p, ';', (size_t)(end - p));
	struct format_field f = {0}, *fields;
	uint32_t is_signed = 0;

	if (!semicolon || out->count == FIELDS_MOST ||
	    !number_of(semicolon, end, "offset:", &f.offset) ||
	    !number_of(semicolon, end, "size:", &f.size))
		return 0;
	number_of(semicolon, end, "signed:", &is_signed);
	f.is_signed = is_signed;
	if (!declared(&f, p, semicolon, word))
		return 0;
	f.common = f.name_size > 7 && !memcmp(f.name, "common_", 7);
	fields = array_grow(out->fields, capacity, out->count, sizeof f);
	if (!fields)
		return -1;
	out->fields = fields;
	fields[out->count++] = f;
	return 0;
}

int format_fields_read(struct format_fields *f, const char *text, size_t n, unsigned word)
{
	size_t capacity = 0;

	*f = (struct format_fields){0};
	for (struct lines l = lines_of(text, n); lines_next(&l);) {
		const char *p = l.line, *line_end = p + l.size;

		while (p < line_end && blank(*p))
			p++;
		if (line_end - p > 10 && !memcmp(p, "print fmt:", 10)) {
			f->print = p + 10;
			f->print_size = (size_t)(l.end - f->print);
			return 0;
		}
		if (line_end - p > 6 && !memcmp(p, "field", 5)) {
			/* ftrace's own may have "field special:" */
			const char *colon = memchr(p, ':', (size_t)(line_end - p));

			if (colon && take_field(f, &capacity, colon + 1, line_end, word))
				return -1;
		}
	}
	return 0;
}

void format_fields_free(struct format_fields *f)
{
	free(f->fields);
	*f = (struct format_fields){0};
}

const struct format_field *format_fields_find(const struct format_fields *f, const char *name,
					      size_t n)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->fields[i].name_size == n && !memcmp(f->fields[i].name, name, n))
			return &f->fields[i];
	return NULL;
}

bool format_field_range(const struct format_field *f, const uint8_t *record, size_t size, bool big,
			size_t *offset, size_t *length)
{
	size_t at = f->offset, n = f->size;

	if (at > size)
		return false;
	if (f->data_loc || f->rel_loc) {
		uint32_t v;

		if (n > size - at)
			return false;
		v = (uint32_t)get_uint(record + at, (unsigned)n, big);

		at = (v & 0xffff) + (f->rel_loc ? at + n : 0);
		if (at > size)
			return false;
		/* of 2 bytes, in very old kernels: without a length */
		n = f->size == 2 ? size - at : v >> 16;
		if (n > size - at)
			return false;
	} else if (!n || (f->array && n > size - at)) {
		/* a stack is declared with 8 elements, and has as many as it needs */
		n = size - at;
	} else if (n > size - at) {
		return false;
	}
	*offset = at;
	*length = n;
	return true;
}
