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

/* Return the bytes of one element of a type as the kernel names it; 0: unknown. */
static uint32_t element_size(struct span type, unsigned long_size)
{
	static const struct {
		const char *word;
		uint32_t size;
	} words[] = {{"char", 1},    {"u8", 1},	     {"s8", 1},	      {"__u8", 1},    {"bool", 1},
		     {"uint8_t", 1}, {"short", 2},   {"u16", 2},      {"s16", 2},     {"__u16", 2},
		     {"u32", 4},     {"s32", 4},     {"__u32", 4},    {"u64", 8},     {"s64", 8},
		     {"__u64", 8},   {"int64_t", 8}, {"uint64_t", 8}, {"uint32_t", 4}};

	if (has_text(type, "long long"))
		return 8;
	if (has_word(type, "long") || has_text(type, "*"))
		return long_size;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (has_word(type, words[i].word))
			return words[i].size;
	return has_word(type, "int") || has_word(type, "unsigned") ? 4 : 0;
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

/* Return the last number in the brackets, 0 if there is none. */
static uint32_t array_length(struct span brackets)
{
	const char *p = brackets.end;
	uint32_t n = 0;

	while (p > brackets.at && !isdigit((unsigned char)p[-1]))
		p--;
	while (p > brackets.at && isdigit((unsigned char)p[-1]))
		p--;
	for (; p < brackets.end && isdigit((unsigned char)*p) && n < 1000000; p++)
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
	bool array = brackets.at < brackets.end;

	f->where = WHERE_TAIL;
	if (span_begins(type, "__data_loc") || span_begins(type, "__rel_loc")) {
		/* synthetic events of Linux 6.x give 8, and use the first 4 */
		if (f->size >= 4) {
			f->where = span_begins(type, "__data_loc") ? WHERE_DATA_LOC : WHERE_REL_LOC;
			classify_dynamic(f, type, long_size);
			return;
		}
		/* very old kernels: an offset alone */
		array = false;
	}
	if (!f->size) {
		f->where = WHERE_REST;
		classify_dynamic(f, type, long_size);
		return;
	}
	if (array) {
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

/* Parse a line. Return false if the line is no field. */
static bool parse_field(struct event_field *f, struct span line, unsigned long_size)
{
	struct span text, type, brackets;
	const char *colon, *semicolon, *p;
	uint32_t sign = 0;

	colon = memchr(line.at, ':', (size_t)(line.end - line.at));
	semicolon = colon ? memchr(colon, ';', (size_t)(line.end - colon)) : NULL;
	if (!semicolon)
		return false;
	text = span_trim((struct span){colon + 1, semicolon});
	line.at = semicolon;
	if (!span_number(line, "offset:", &f->offset) || !span_number(line, "size:", &f->size) ||
	    f->offset > OFFSET_LIMIT || f->size > OFFSET_LIMIT)
		return false;
	span_number(line, "signed:", &sign);
	f->is_signed = sign;
	brackets = (struct span){text.end, text.end};
	if (text.end > text.at && text.end[-1] == ']') {
		for (p = text.end - 1; p > text.at && *p != '['; p--)
			;
		brackets.at = p;
	}
	for (p = brackets.at; p > text.at && is_word(p[-1]); p--)
		;
	if (p == brackets.at)
		return false;
	f->name = p;
	f->name_size = (size_t)(brackets.at - p);
	type = span_trim((struct span){text.at, p});
	type_name(f, type, brackets);
	/* "__data_loc char[] name" has its brackets in the type */
	classify_field(f, type, brackets, long_size);
	return true;
}

static int add_field(struct event_format *f, struct span line, unsigned long_size)
{
	struct event_field *fields =
		array_grow(f->fields, &f->fields_capacity, f->nfields, sizeof *fields);

	if (!fields)
		return -1;
	f->fields = fields;
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

const struct event_field *event_format_find(const struct event_format *f, const char *name)
{
	size_t n = strlen(name);

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
	    caller->where != WHERE_TAIL || !caller->count || !event_format_find(f, "size"))
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
			find_bitmaps(f, (struct span){line.at, l.end});
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
