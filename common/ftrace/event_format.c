#include "common/ftrace/event_format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/formats/tracecmd.h"
#include "common/util/lines.h"

enum { FIELDS_LIMIT = 1024, OFFSET_LIMIT = 1 << 16 };

struct span {
	const char *at, *end;
};

static struct span span_trim(struct span s)
{
	while (s.at < s.end && isspace((unsigned char)*s.at))
		s.at++;
	while (s.end > s.at && isspace((unsigned char)s.end[-1]))
		s.end--;
	return s;
}

static bool has_text(struct span s, const char *text)
{
	return memmem(s.at, (size_t)(s.end - s.at), text, strlen(text));
}

static bool span_begins(struct span s, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(s.end - s.at) >= n && !memcmp(s.at, text, n);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Does the text contain the word, not as a part of another word? */
static bool has_word(struct span s, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = s.at; p + n <= s.end; p++)
		if (!memcmp(p, word, n) && (p == s.at || !is_word(p[-1])) &&
		    (p + n == s.end || !is_word(p[n])))
			return true;
	return false;
}

static bool span_number(struct span s, const char *key, uint32_t *out)
{
	const char *p = memmem(s.at, (size_t)(s.end - s.at), key, strlen(key));
	uint64_t v = 0;
	const char *digits;

	if (!p)
		return false;
	p += strlen(key);
	while (p < s.end && *p == ' ')
		p++;
	digits = p;
	while (p < s.end && isdigit((unsigned char)*p) && v < UINT32_MAX)
		v = v * 10 + (uint64_t)(*p++ - '0');
	*out = (uint32_t)(v < UINT32_MAX ? v : UINT32_MAX);
	return p > digits;
}

unsigned kernel_type_size(const char *name, size_t n, unsigned long_size, bool *is_signed)
{
	static const struct {
		const char *name;
		uint8_t size; /* 0: a long */
		bool is_signed;
	} types[] = {
		{"char", 1, true},	   {"short", 2, true},	   {"int", 4, true},
		{"u8", 1, false},	   {"u16", 2, false},	   {"u32", 4, false},
		{"u64", 8, false},	   {"s8", 1, true},	   {"s16", 2, true},
		{"s32", 4, true},	   {"s64", 8, true},	   {"__u8", 1, false},
		{"__u16", 2, false},	   {"__u32", 4, false},	   {"__u64", 8, false},
		{"__s8", 1, true},	   {"__s16", 2, true},	   {"__s32", 4, true},
		{"__s64", 8, true},	   {"__be16", 2, false},   {"__be32", 4, false},
		{"__be64", 8, false},	   {"__le16", 2, false},   {"__le32", 4, false},
		{"__le64", 8, false},	   {"uint8_t", 1, false},  {"uint16_t", 2, false},
		{"uint32_t", 4, false},	   {"uint64_t", 8, false}, {"int8_t", 1, true},
		{"int16_t", 2, true},	   {"int32_t", 4, true},   {"int64_t", 8, true},
		{"size_t", 0, false},	   {"ssize_t", 0, true},   {"uintptr_t", 0, false},
		{"pid_t", 4, true},	   {"dev_t", 4, false},	   {"gfp_t", 4, false},
		{"loff_t", 8, true},	   {"sector_t", 8, false}, {"ktime_t", 8, true},
		{"umode_t", 2, false},	   {"pgoff_t", 0, false},  {"dma_addr_t", 8, false},
		{"phys_addr_t", 8, false}, {"bool", 1, false},	   {"_Bool", 1, false},
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strlen(types[i].name) == n && !memcmp(types[i].name, name, n)) {
			*is_signed = types[i].is_signed;
			return types[i].size ? types[i].size : long_size;
		}
	return 0;
}

/* Return the bytes of one element of a type as the kernel names it; 0: unknown. */
static uint32_t element_size(struct span type, unsigned long_size)
{
	uint32_t size = 0;

	if (has_text(type, "long long"))
		return 8;
	if (has_word(type, "long") || has_text(type, "*"))
		return long_size;
	/* "unsigned char", "short int" */
	for (const char *p = type.at; p < type.end;) {
		const char *word = p;
		uint32_t one;
		bool is_signed;

		while (p < type.end && is_word(*p))
			p++;
		one = kernel_type_size(word, (size_t)(p - word), long_size, &is_signed);
		if (one && (!size || size == 4))
			size = one;
		p += p == word;
	}
	return size || !has_word(type, "unsigned") ? size : 4;
}

static bool is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Find the kind of a number's type. */
static enum field_kind number_kind(const struct event_field *f, struct span type)
{
	if (has_text(type, "*") ||
	    (has_word(type, "long") && !has_text(type, "long long") && !f->is_signed))
		return FIELD_HEX;
	return f->is_signed ? FIELD_INT : FIELD_UINT;
}

/* Return the last number in the brackets, 0 if there is none: other words there are constants that
 * were not expanded. */
static uint32_t array_length(struct span brackets)
{
	uint32_t n = 0;

	for (const char *p = brackets.at; p < brackets.end; p++)
		if (isdigit((unsigned char)*p) && !is_word(p[-1]))
			for (n = 0; isdigit((unsigned char)*p) && n < 1000000; p++)
				n = n * 10 + (uint32_t)(*p - '0');
	return n;
}

static bool is_character(struct span type)
{
	return has_word(type, "char") && !has_text(type, "*");
}

static void classify_dynamic(struct event_field *f, struct span type, unsigned long_size)
{
	f->element = element_size(type, long_size);
	f->count = 0;
	if (is_character(type)) {
		f->kind = FIELD_STRING;
		f->element = 1;
	} else if (has_text(type, "cpumask")) {
		f->kind = FIELD_BITMAP;
		f->element = long_size;
	} else if (!is_number_size(f->element)) {
		f->kind = FIELD_BYTES;
		f->element = 1;
	} else {
		f->kind = number_kind(f, type);
	}
}

static void classify_array(struct event_field *f, struct span type, struct span brackets,
			   unsigned long_size)
{
	uint32_t n = array_length(brackets);

	f->element = element_size(type, long_size);
	if (!f->element || f->size % f->element)
		f->element = n && f->size % n == 0 ? f->size / n : 0;
	if (!is_number_size(f->element)) {
		f->kind = FIELD_BYTES;
		f->element = f->size;
		f->count = 0;
		return;
	}
	f->count = f->size / f->element;
	f->kind = is_character(type) ? FIELD_CHAR : number_kind(f, type);
}

/* Find what the stream declares for "TYPE NAME[LENGTH]". */
static void classify_field(struct event_field *f, struct span type, struct span brackets,
			   unsigned long_size)
{
	bool located = f->data_loc || f->rel_loc;

	f->where = WHERE_TAIL;
	/* synthetic events of Linux 6.x give 8, and use the first 4 */
	if (located && f->size >= 4) {
		f->where = f->data_loc ? WHERE_DATA_LOC : WHERE_REL_LOC;
		classify_dynamic(f, type, long_size);
		return;
	}
	if (!f->size) {
		f->where = WHERE_REST;
		classify_dynamic(f, type, long_size);
		return;
	}
	/* very old kernels locate by an offset alone */
	if (f->array && !located) {
		classify_array(f, type, brackets, long_size);
		return;
	}
	f->element = f->size;
	f->count = 0;
	f->kind = is_number_size(f->size) ? number_kind(f, type) : FIELD_BYTES;
}

static void type_name(struct event_field *f, struct span type, struct span brackets)
{
	size_t n = (size_t)(type.end - type.at), m = (size_t)(brackets.end - brackets.at);

	if (n > sizeof f->type_name - 1)
		n = sizeof f->type_name - 1;
	memcpy(f->type_name, type.at, n);
	if (m > sizeof f->type_name - 1 - n)
		m = sizeof f->type_name - 1 - n;
	if (m)
		memcpy(f->type_name + n, brackets.at, m);
	f->type_name[n + m] = '\0';
}

/* Return the last word of a text; it is empty if there is none. */
static struct span last_word(const char *p, const char *end)
{
	const char *q;

	while (end > p && !is_word(end[-1]))
		end--;
	for (q = end; q > p && is_word(q[-1]); q--)
		;
	return (struct span){q, end};
}

/* Parse a declaration: "__data_loc char[] name" or "char comm[16]". Return false if it has no
 * name. */
static bool parse_declaration(struct event_field *f, struct span text, unsigned long_size)
{
	const char *open = memchr(text.at, '[', (size_t)(text.end - text.at));
	const char *close = open ? memrchr(open, ']', (size_t)(text.end - open)) : NULL;
	struct span name, type, brackets = {text.at, text.at};

	if (open && !close)
		return false;
	name = last_word(close ? close : text.at, text.end);
	if (open) {
		brackets = (struct span){open, close + 1};
		if (name.at == name.end)
			name = last_word(text.at, open);
	}
	if (name.at == name.end)
		return false;
	f->name = name.at;
	f->name_size = (size_t)(name.end - name.at);
	type = span_trim((struct span){text.at, open && open < name.at ? open : name.at});
	type_name(f, type, brackets);
	f->data_loc = span_begins(type, "__data_loc");
	f->rel_loc = span_begins(type, "__rel_loc");
	f->array = open || f->data_loc || f->rel_loc;
	f->pointer = has_text(type, "*");
	f->has_long = has_text(type, "long");
	classify_field(f, type, brackets, long_size);
	return true;
}

/* Parse a line, which may be ftrace's own "field special:". Return false if the line is no
 * field. */
static bool parse_field(struct event_field *f, struct span line, unsigned long_size)
{
	const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
	const char *semicolon = colon ? memchr(colon, ';', (size_t)(line.end - colon)) : NULL;
	uint32_t sign = 0;

	if (!semicolon)
		return false;
	line.at = semicolon;
	if (!span_number(line, "offset:", &f->offset) || !span_number(line, "size:", &f->size) ||
	    f->offset > OFFSET_LIMIT || f->size > OFFSET_LIMIT)
		return false;
	span_number(line, "signed:", &sign);
	f->is_signed = sign;
	return parse_declaration(f, (struct span){colon + 1, semicolon}, long_size);
}

static int add_field(struct event_format *f, struct span line, unsigned long_size)
{
	struct event_field *fields;

	if (ARRAY_GROW(f->fields, f->fields_capacity, f->nfields))
		return -1;
	fields = f->fields;
	fields += f->nfields;
	memset(fields, 0, sizeof *fields);
	if (f->nfields < FIELDS_LIMIT && parse_field(fields, line, long_size)) {
		fields->common = fields->name_size > 7 && !memcmp(fields->name, "common_", 7);
		f->nfields++;
	}
	return 0;
}

/* Find the words whose bits print fmt shows: these are bitmaps, whatever their type. */
static void find_bitmaps(struct event_format *f, struct span print)
{
	static const char *const functions[] = {"__get_bitmask(", "__get_rel_bitmask(",
						"__get_cpumask(", "__get_rel_cpumask("};

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		struct span rest = print;
		size_t n = strlen(functions[i]);

		for (;;) {
			const char *p =
				memmem(rest.at, (size_t)(rest.end - rest.at), functions[i], n);

			if (!p)
				break;
			rest.at = p + n;
			while (rest.at < rest.end && *rest.at == ' ')
				rest.at++;
			for (size_t k = 0; k < f->nfields; k++) {
				struct event_field *field = &f->fields[k];

				if ((field->where == WHERE_DATA_LOC ||
				     field->where == WHERE_REL_LOC) &&
				    (size_t)(rest.end - rest.at) > field->name_size &&
				    !memcmp(rest.at, field->name, field->name_size) &&
				    !is_word(rest.at[field->name_size]))
					field->kind = FIELD_BITMAP;
			}
		}
	}
}

const struct event_field *event_format_find(const struct event_format *f, const char *name,
					    size_t n)
{
	for (size_t i = 0; i < f->nfields; i++)
		if (f->fields[i].name_size == n && !memcmp(f->fields[i].name, name, n))
			return &f->fields[i];
	return NULL;
}

/* Make an array of kernel_stack's callers: "size" gives their number, and they reach to the end
 * of the record; the format file always declares 8. */
static void find_callers(struct event_format *f)
{
	static const char event[] = "kernel_stack";
	struct event_field *caller = NULL;

	for (size_t i = 0; i < f->nfields; i++)
		if (f->fields[i].name_size == 6 && !memcmp(f->fields[i].name, "caller", 6))
			caller = &f->fields[i];
	if (f->name_size != sizeof event - 1 || memcmp(f->name, event, f->name_size) || !caller ||
	    caller->where != WHERE_TAIL || !caller->count || !event_format_find(f, "size", 4))
		return;
	caller->where = WHERE_REST;
	caller->count = 0;
}

int event_format_parse(struct event_format *f, const char *text, size_t size, unsigned long_size)
{
	bool has_id = false;

	*f = (struct event_format){0};
	for (struct lines l = lines_of(text, size); lines_next(&l);) {
		struct span line = span_trim((struct span){l.line, l.line + l.size});

		if (span_begins(line, "name:") && !f->name) {
			f->escaped = span_begins(line, TRACECMD_ESCAPED_NAME);
			line.at += 5;
			line = span_trim(line);
			f->name = line.at;
			f->name_size = (size_t)(line.end - line.at);
		} else if (span_begins(line, "ID:")) {
			has_id = span_number(line, "ID:", &f->id);
		} else if (span_begins(line, "field")) {
			if (add_field(f, line, long_size)) {
				event_format_free(f);
				return -1;
			}
		} else if (span_begins(line, "print fmt:")) {
			f->print = line.at + strlen("print fmt:");
			f->print_size = (size_t)(l.end - f->print);
			find_bitmaps(f, (struct span){f->print, l.end});
			break;
		}
	}
	if (f->name_size)
		find_callers(f);
	return has_id && f->name_size && f->name_size < 4096 ? 0 : 1;
}

void event_format_free(struct event_format *f)
{
	free(f->fields);
	f->fields = NULL;
	f->nfields = 0;
}

bool event_field_range(const struct event_field *f, const uint8_t *record, size_t size, bool big,
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
