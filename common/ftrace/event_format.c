/*
 * event_format.c - the text of an event's format file: its number, name and fields
 */
#include "common/ftrace/event_format.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/formats/tracecmd.h"
#include "common/ftrace/kernel_names.h"
#include "common/ftrace/print_format.h"
#include "common/ftrace/print_tree.h"
#include "common/stream/writer.h"
#include "common/util/buffer.h"
#include "common/util/intern.h"
#include "common/util/lines.h"
#include "common/util/text_span.h"

enum { NAMES_MOST = 1024, NAME_SIZE = 256 };

/* Declare n names. 0: there are none. */
static uint32_t declare_names(const struct member_entry *names, uint32_t n, struct writer *w,
			      bool is_signed)
{
	struct definition_entry e = {.kind = DEFINITION_ENUM,
				     .flags = is_signed ? 0 : DEFINITION_UNSIGNED,
				     .nmembers = n,
				     .members = names};

	return n ? writer_definition(w, &e) : 0;
}

static bool next_is(struct print_lexer *l, const char *op)
{
	print_lexer_next(l);
	return token_is(&l->token, op);
}

/* Parse an entry such as { 0, "HI" } after its first brace. false: its value is not a constant, or
 * there are NAMES_MOST names. */
static bool parse_entry(struct print_lexer *l, struct member_entry *names, uint32_t *n,
			struct writer *w)
{
	uint32_t id;
	char name[NAME_SIZE];
	bool minus;
	uint64_t value;

	minus = next_is(l, "-");
	if (minus)
		print_lexer_next(l);
	value = minus ? -l->token.value : l->token.value;
	if (l->token.kind != TOKEN_NUMBER || !next_is(l, ","))
		return false;
	print_lexer_next(l);
	if (l->token.kind != TOKEN_STRING || l->token.size >= sizeof name || *n == NAMES_MOST)
		return false;
	id = writer_string(w, name, print_unescape(name, l->token.text, l->token.size));
	names[(*n)++] = (struct member_entry){id, value, value};
	return next_is(l, "}");
}

/* Parse the entries up to the parenthesis after them. */
static bool parse_entries(struct print_lexer *l, struct member_entry *names, uint32_t *n,
			  struct writer *w)
{
	do
		if (!next_is(l, "{") || !parse_entry(l, names, n, w))
			return false;
	while (next_is(l, ","));
	return token_is(&l->token, ")");
}

/* The calls of a print fmt that have names of a field: of its numbers, of their bits */
static const char symbolic_call[] = "__print_symbolic(REC->", flags_call[] = "__print_flags(REC->";

/* Find such a call in the event's print fmt from p on, NULL: from its beginning; n: its length.
 * NULL: there is none. */
static const char *print_find(const struct event_format *e, const char *p, const char *call,
			      size_t n)
{
	p = p ? p : e->print;
	return p ? memmem(p, (size_t)(e->print + e->print_size - p), call, n) : NULL;
}

/* Go to what follows the field in a call for it from *p on: false: there is none. */
static bool print_of_field(const struct event_format *e, const char *call, size_t n,
			   const struct event_field *f, const char **p)
{
	const char *end = e->print + e->print_size;

	while (*p) {
		*p += n;
		if ((size_t)(end - *p) > f->name_size && !memcmp(*p, f->name, f->name_size) &&
		    strchr(", ", (*p)[f->name_size])) {
			*p += f->name_size;
			return true;
		}
		*p = print_find(e, *p, call, n);
	}
	return false;
}

/* Declare the names that the print fmt has for a field from there on:
 * __print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" }). */
static uint32_t field_names_symbolic(const struct event_format *e, const char *first,
				     const struct event_field *f, struct writer *w)
{
	struct print_lexer l = {.p = first, .end = e->print + e->print_size, .word = 8};
	struct member_entry names[NAMES_MOST];
	uint32_t n = 0;

	if (!print_of_field(e, symbolic_call, sizeof symbolic_call - 1, f, &l.p) ||
	    !next_is(&l, ",") || !parse_entries(&l, names, &n, w))
		return 0;
	return declare_names(names, n, w, f->is_signed);
}

/* Go to the comma after the rest of an argument. false: there is none. */
static bool skip_argument(struct print_lexer *l)
{
	unsigned depth = 0;

	for (;;) {
		print_lexer_next(l);
		if (l->token.kind == TOKEN_END || (!depth && token_is(&l->token, ")")))
			return false;
		if (!depth && token_is(&l->token, ","))
			return true;
		depth += token_is(&l->token, "(");
		depth -= token_is(&l->token, ")");
	}
}

/* Add the name of 0, after the names of bits: (REC->prev_state & 0xff) ? __print_flags(...) : "R",
 * and that of a task that was pre-empted, whose bit is above them: "R+". */
static void add_zero(struct print_lexer *l, const struct event_field *f, struct member_entry *names,
		     uint32_t *n, struct writer *w)
{
	char name[NAME_SIZE];
	uint64_t highest = 0;
	size_t size;

	if (!next_is(l, ":"))
		return;
	print_lexer_next(l);
	if (l->token.kind != TOKEN_STRING || l->token.size + 2 > sizeof name || *n + 2 > NAMES_MOST)
		return;
	size = print_unescape(name, l->token.text, l->token.size);
	for (uint32_t i = 0; i < *n; i++)
		highest = names[i].low > highest ? names[i].low : highest;
	names[(*n)++] = (struct member_entry){.name = writer_string(w, name, size)};
	if (f->name_size != strlen("prev_state") || memcmp(f->name, "prev_state", f->name_size))
		return;
	name[size++] = '+';
	names[(*n)++] =
		(struct member_entry){writer_string(w, name, size), highest << 1, highest << 1};
}

/* Declare the names that the print fmt has for the bits of a field:
 * __print_flags(REC->prev_state & 0xff, "|", { 1, "S" }, { 2, "D" }). */
static uint32_t field_names_flags(const struct event_format *e, const struct event_field *f,
				  struct writer *w)
{
	size_t size = sizeof flags_call - 1;
	struct print_lexer l = {.p = print_find(e, NULL, flags_call, size),
				.end = e->print + e->print_size,
				.word = 8};
	struct definition_entry d = {.kind = DEFINITION_BITMASK};
	struct member_entry names[NAMES_MOST];
	uint32_t n = 0;

	if (!print_of_field(e, flags_call, size, f, &l.p) || !skip_argument(&l) ||
	    !skip_argument(&l) || !parse_entries(&l, names, &n, w))
		return 0;
	add_zero(&l, f, names, &n, w);
	d.nmembers = n;
	d.members = names;
	return n ? writer_definition(w, &d) : 0;
}

/* --- event format --- */

enum { FIELDS_LIMIT = 1024, OFFSET_LIMIT = 1 << 16 };

static bool event_format_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Test whether the text contains the word, not as a part of another word. */
static bool event_format_has_word(struct text_span s, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = s.at; p + n <= s.end; p++)
		if (!memcmp(p, word, n) && (p == s.at || !event_format_is_word(p[-1])) &&
		    (p + n == s.end || !event_format_is_word(p[n])))
			return true;
	return false;
}

static bool event_format_span_number(struct text_span s, const char *key, uint32_t *out)
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

/* Get the bytes of one element of a type as the kernel names it; 0: unknown. */
static uint32_t element_size(struct text_span type, unsigned long_size)
{
	uint32_t size = 0;

	if (span_find(type, "long long"))
		return 8;
	if (event_format_has_word(type, "long") || span_find(type, "*"))
		return long_size;
	/* "unsigned char", "short int" */
	for (const char *p = type.at; p < type.end;) {
		const char *word = p;
		uint32_t one;
		bool is_signed;

		while (p < type.end && event_format_is_word(*p))
			p++;
		one = kernel_type_size(word, (size_t)(p - word), long_size, &is_signed);
		if (one && (!size || size == 4))
			size = one;
		p += p == word;
	}
	return size || !event_format_has_word(type, "unsigned") ? size : 4;
}

static bool is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Find the kind of a number's type. */
static enum field_kind number_kind(const struct event_field *f, struct text_span type)
{
	if (span_find(type, "*") ||
	    (event_format_has_word(type, "long") && !span_find(type, "long long") && !f->is_signed))
		return FIELD_HEX;
	return f->is_signed ? FIELD_INT : FIELD_UINT;
}

/* Get the last number in the brackets, 0 if there is none: other words there are constants that
 * were not expanded. */
static uint32_t array_length(struct text_span brackets)
{
	uint32_t n = 0;

	for (const char *p = brackets.at; p < brackets.end; p++)
		if (isdigit((unsigned char)*p) && !event_format_is_word(p[-1]))
			for (n = 0; isdigit((unsigned char)*p) && n < 1000000; p++)
				n = n * 10 + (uint32_t)(*p - '0');
	return n;
}

static bool is_character(struct text_span type)
{
	return event_format_has_word(type, "char") && !span_find(type, "*");
}

static void classify_dynamic(struct event_field *f, struct text_span type, unsigned long_size)
{
	f->element = element_size(type, long_size);
	f->count = 0;
	if (is_character(type)) {
		f->kind = FIELD_STRING;
		f->element = 1;
	} else if (span_find(type, "cpumask")) {
		f->kind = FIELD_BITMAP;
		f->element = long_size;
	} else if (!is_number_size(f->element)) {
		f->kind = FIELD_BYTES;
		f->element = 1;
	} else {
		f->kind = number_kind(f, type);
	}
}

static void classify_array(struct event_field *f, struct text_span type, struct text_span brackets,
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
static void classify_field(struct event_field *f, struct text_span type, struct text_span brackets,
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

static void event_format_type_name(struct event_field *f, struct text_span type,
				   struct text_span brackets)
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

/* Get the last word of a text; it is empty if there is none. */
static struct text_span last_word(const char *p, const char *end)
{
	const char *q;

	while (end > p && !event_format_is_word(end[-1]))
		end--;
	for (q = end; q > p && event_format_is_word(q[-1]); q--)
		;
	return (struct text_span){q, end};
}

/* Parse a declaration: "__data_loc char[] name" or "char comm[16]". Return false if it has no
 * name. */
static bool parse_declaration(struct event_field *f, struct text_span text, unsigned long_size)
{
	const char *open = memchr(text.at, '[', (size_t)(text.end - text.at));
	const char *close = open ? memrchr(open, ']', (size_t)(text.end - open)) : NULL;
	struct text_span name, type, brackets = {text.at, text.at};

	if (open && !close)
		return false;
	name = last_word(close ? close : text.at, text.end);
	if (open) {
		brackets = (struct text_span){open, close + 1};
		if (name.at == name.end)
			name = last_word(text.at, open);
	}
	if (name.at == name.end)
		return false;
	f->name = name.at;
	f->name_size = (size_t)(name.end - name.at);
	type = span_trim_space(
		(struct text_span){text.at, open && open < name.at ? open : name.at});
	event_format_type_name(f, type, brackets);
	f->data_loc = span_begins(type, "__data_loc");
	f->rel_loc = span_begins(type, "__rel_loc");
	f->array = open || f->data_loc || f->rel_loc;
	f->pointer = span_find(type, "*");
	f->has_long = span_find(type, "long");
	classify_field(f, type, brackets, long_size);
	return true;
}

/* Parse a line, which may be ftrace's own "field special:". Return false if the line is no
 * field. */
static bool parse_field(struct event_field *f, struct text_span line, unsigned long_size)
{
	const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
	const char *semicolon = colon ? memchr(colon, ';', (size_t)(line.end - colon)) : NULL;
	uint32_t sign = 0;

	if (!semicolon)
		return false;
	line.at = semicolon;
	if (!event_format_span_number(line, "offset:", &f->offset) ||
	    !event_format_span_number(line, "size:", &f->size) || f->offset > OFFSET_LIMIT ||
	    f->size > OFFSET_LIMIT)
		return false;
	event_format_span_number(line, "signed:", &sign);
	f->is_signed = sign;
	return parse_declaration(f, (struct text_span){colon + 1, semicolon}, long_size);
}

static int event_format_add_field(struct event_format *f, struct text_span line, unsigned long_size)
{
	struct event_field *field;

	if (ARRAY_GROW(f->fields, f->fields_capacity, f->nfields))
		return -1;
	field = &f->fields[f->nfields];
	memset(field, 0, sizeof *field);
	if (f->nfields < FIELDS_LIMIT && parse_field(field, line, long_size)) {
		field->common = field->name_size > 7 && !memcmp(field->name, "common_", 7);
		f->nfields++;
	}
	return 0;
}

/* Find the words whose bits print fmt shows: these are bitmaps, whatever their type. */
static void find_bitmaps(struct event_format *f, struct text_span print)
{
	static const char *const functions[] = {"__get_bitmask(", "__get_rel_bitmask(",
						"__get_cpumask(", "__get_rel_cpumask("};

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		struct text_span rest = print;
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
				    !event_format_is_word(rest.at[field->name_size]))
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
		struct text_span line =
			span_trim_space((struct text_span){l.line, l.line + l.size});

		if (span_begins(line, "name:") && !f->name) {
			f->escaped = span_begins(line, TRACECMD_ESCAPED_NAME);
			line.at += 5;
			line = span_trim_space(line);
			f->name = line.at;
			f->name_size = (size_t)(line.end - line.at);
		} else if (span_begins(line, "ID:")) {
			has_id = event_format_span_number(line, "ID:", &f->id);
		} else if (span_begins(line, "field")) {
			if (event_format_add_field(f, line, long_size)) {
				event_format_free(f);
				return -1;
			}
		} else if (span_begins(line, "print fmt:")) {
			f->print = line.at + strlen("print fmt:");
			f->print_size = (size_t)(l.end - f->print);
			find_bitmaps(f, (struct text_span){f->print, l.end});
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

/* --- events --- */

enum { EVENTS_MOST = 65534, OFFSET_MOST = 4096 };

static bool event_format_span_is(const char *p, size_t n, const char *text)
{
	return n == strlen(text) && !memcmp(p, text, n);
}

static struct number_at find_number(const struct event_format *f, const char *name)
{
	const struct event_field *field = event_format_find(f, name, strlen(name));

	if (!field || field->where != WHERE_TAIL || field->count || field->offset > OFFSET_MOST ||
	    (field->size != 2 && field->size != 4 && field->size != 8))
		return (struct number_at){0};
	return (struct number_at){field->offset, field->size};
}

static bool event_format_is_named(const struct ftrace_event *v, const char *name)
{
	return event_format_span_is(v->format.name, v->format.name_size, name);
}

static bool event_format_is_ftrace(const struct ftrace_event *v)
{
	return v->system && event_format_span_is(v->system, v->system_size, "ftrace");
}

/* Find the field of an array of addresses: the place of its first element. */
static struct number_at find_array(const struct event_format *f, const char *name)
{
	const struct event_field *field = event_format_find(f, name, strlen(name));

	if (!field || (field->where != WHERE_TAIL && field->where != WHERE_REST) ||
	    field->offset > OFFSET_MOST || (field->element != 4 && field->element != 8))
		return (struct number_at){0};
	return (struct number_at){field->offset, field->element};
}

static void event_format_find_stack(struct ftrace_event *v)
{
	const struct event_format *f = &v->format;

	if (!event_format_is_ftrace(v))
		return;
	if (event_format_is_named(v, "kernel_stack")) {
		v->stack.caller = find_array(f, "caller");
		v->stack.count = find_number(f, "size");
	} else if (event_format_is_named(v, "user_stack")) {
		v->stack.caller = find_array(f, "caller");
		v->stack.tgid = find_number(f, "tgid");
	} else if (event_format_is_named(v, "function")) {
		v->stack.caller = find_number(f, "parent_ip");
		v->stack.is_parent = true;
	}
}

/* Find the fields of the kernel's own tracers that record functions. */
static void find_calls(struct ftrace_event *v)
{
	bool enter = event_format_is_named(v, "funcgraph_entry") ||
		     event_format_is_named(v, "fgraph_retaddr_entry");
	bool leave = event_format_is_named(v, "funcgraph_exit") ||
		     event_format_is_named(v, "fgraph_retaddr_exit");

	if (!event_format_is_ftrace(v))
		return;
	if (event_format_is_named(v, "function"))
		v->address = find_number(&v->format, "ip");
	if (!enter && !leave)
		goto out;
	v->address = find_number(&v->format, "func");
	v->depth = find_number(&v->format, "depth");
	if (v->address.size && v->depth.size)
		v->kind = enter ? KIND_ENTER : KIND_LEAVE;
out:
	v->least = v->address.offset + v->address.size;
	if (v->least < v->depth.offset + v->depth.size)
		v->least = v->depth.offset + v->depth.size;
}

static struct task_at event_format_find_task(const struct event_format *f, const char *tid,
					     const char *comm)
{
	struct task_at task = {.tid = find_number(f, tid)};
	const struct event_field *field = event_format_find(f, comm, strlen(comm));

	if (task.tid.size == 4 && field && field->where == WHERE_TAIL && field->element == 1 &&
	    field->offset <= OFFSET_MOST && field->size <= OFFSET_MOST)
		task.comm = (struct number_at){field->offset, field->size};
	return task;
}

/* Find the events of whose text trace-cmd report learns the names of threads, as the plug-in
 * sched_switch of libtraceevent 1.7.1 does. */
static void event_format_find_tasks(struct ftrace_event *v)
{
	const struct event_format *f = &v->format;

	if (event_format_is_named(v, "sched_switch")) {
		v->tasks[0] = event_format_find_task(f, "prev_pid", "prev_comm");
		v->tasks[1] = event_format_find_task(f, "next_pid", "next_comm");
	} else if (event_format_is_named(v, "sched_wakeup") ||
		   event_format_is_named(v, "sched_wakeup_new")) {
		v->tasks[0] = event_format_find_task(f, "pid", "comm");
	}
}

/* The events whose text may be a mark. */
static const char PRINTED[] = "print", WRITTEN[] = "tracing_mark_write";

const char *ftrace_event_name(const struct type *t, size_t *size)
{
	struct text_span name = {t->declaration.text, t->declaration.text + t->declaration.size};

	*size = t->name.size;
	if (!t->declaration.size || !span_skip(&name, "name: "))
		return t->name.text;
	name.end = memchr(name.at, '\n', span_size(name));
	if (!name.end || (!span_is(name, PRINTED) && !span_is(name, WRITTEN)))
		return t->name.text;
	*size = span_size(name);
	return name.at;
}

static struct ftrace_event *event_format_new_event(struct ftrace_events *t)
{
	struct ftrace_event *v;

	if (ARRAY_GROW(t->event, t->capacity, t->count))
		return NULL;
	v = &t->event[t->count];
	*v = (struct ftrace_event){.kind = KIND_INSTANT};
	return v;
}

enum ftrace_added ftrace_events_add(struct ftrace_events *t, const char *system, size_t system_size,
				    const char *text, size_t text_size, unsigned long_size)
{
	struct ftrace_event *v = event_format_new_event(t);
	struct event_format *f;
	int got;

	if (!v)
		return FTRACE_NO_MEMORY;
	f = &v->format;
	v->system = system;
	v->system_size = system_size;
	v->text = text;
	v->text_size = text_size;
	got = event_format_parse(f, text, text_size, long_size);
	if (got < 0)
		return FTRACE_NO_MEMORY;
	if (got || f->id > UINT16_MAX || t->by_id[f->id] || t->count >= EVENTS_MOST) {
		event_format_free(f);
		return got || f->id > UINT16_MAX ? FTRACE_NO_FORMAT : FTRACE_KNOWN;
	}
	find_calls(v);
	event_format_find_stack(v);
	event_format_find_tasks(v);
	v->mark = event_format_is_named(v, WRITTEN) ||
		  (event_format_is_ftrace(v) && event_format_is_named(v, PRINTED));
	v->next_pid = find_number(f, "next_pid");
	v->pid = find_number(f, "pid");
	if (!t->type.size) {
		t->type = find_number(f, "common_type");
		t->pid = find_number(f, "common_pid");
		if (t->type.size != 2 || t->pid.size != 4)
			t->type.size = t->pid.size = 0;
	}
	t->by_id[f->id] = (uint16_t)++t->count;
	return FTRACE_ADDED;
}

struct ftrace_event *ftrace_events_unknown(struct ftrace_events *t, uint16_t id)
{
	const struct event_format *any;
	struct ftrace_event *v;

	if (t->count >= EVENTS_MOST)
		return &t->event[t->count - 1];
	v = event_format_new_event(t);
	if (!v)
		return NULL;
	any = &t->event[0].format;
	if (t->count && t->event[0].system) {
		/* the fields of the first format must not change, so they are copied */
		v->format.fields = calloc(any->nfields + 1, sizeof *any->fields);
		if (!v->format.fields)
			return NULL;
		if (any->nfields)
			memcpy(v->format.fields, any->fields, any->nfields * sizeof *any->fields);
		v->format.nfields = any->nfields;
	}
	v->format.id = id;
	t->by_id[id] = (uint16_t)++t->count;
	return v;
}

void ftrace_events_free(struct ftrace_events *t)
{
	for (size_t i = 0; i < t->count; i++)
		event_format_free(&t->event[i].format);
	free(t->event);
	free(t->names);
}

static enum field_role event_format_role_of(const struct ftrace_event *v,
					    const struct event_field *f)
{
	if (event_format_is_ftrace(v) && event_format_span_is(f->name, f->name_size, "buf"))
		return ROLE_MESSAGE;
	if (event_format_is_ftrace(v) && (event_format_span_is(f->name, f->name_size, "ip") ||
					  event_format_span_is(f->name, f->name_size, "func")))
		return ROLE_ADDRESS;
	return event_format_span_is(f->name, f->name_size, "common_pid") ? ROLE_TID : ROLE_NONE;
}

static bool is_syscall_number(const struct ftrace_event *v, const struct event_field *f)
{
	return v->system && event_format_span_is(v->system, v->system_size, "raw_syscalls") &&
	       event_format_span_is(f->name, f->name_size, "id");
}

/* Declare names for the numbers in a field, and make the field an enum where its text is the name
 * alone. Else the names are those of a number. braces: the print fmt has some, as names are in
 * braces. */
static void event_format_set_names(struct ftrace_events *t, const struct ftrace_event *v,
				   bool braces, const struct event_field *f, struct writer *w,
				   struct field_entry *e)
{
	const char *symbolic =
		braces ? print_find(&v->format, NULL, symbolic_call, sizeof symbolic_call - 1)
		       : NULL;
	bool is_enum;

	if (f->where != WHERE_TAIL || f->count || f->common || f->kind > FIELD_HEX)
		return;
	if (symbolic && f->kind != FIELD_HEX)
		e->definition = field_names_symbolic(&v->format, symbolic, f, w);
	is_enum = e->definition || is_syscall_number(v, f);
	if (braces && !e->definition)
		e->definition = field_names_flags(&v->format, f, w);
	if (!e->definition)
		e->definition = kernel_names_of(t->names, w, v->format.name, v->format.name_size,
						f->name, f->name_size);
	if (is_enum && e->definition)
		e->kind = FIELD_ENUM;
}

int ftrace_events_kinds(struct ftrace_events *t)
{
	struct intern names = {0};
	int bad = 0;

	for (size_t i = 0; i < t->count; i++)
		for (size_t k = 0; k < t->event[i].format.nfields && !bad; k++) {
			const struct event_field *f = &t->event[i].format.fields[k];

			if (f->kind == FIELD_UINT || f->kind == FIELD_INT)
				bad = intern(&names, f->name, f->name_size) == INTERN_NONE;
		}
	for (size_t i = 0; i < t->count; i++)
		for (size_t k = 0; k < t->event[i].format.nfields && !bad; k++) {
			struct event_field *f = &t->event[i].format.fields[k];

			if (f->kind == FIELD_HEX && !strchr(f->type_name, '*') &&
			    intern_find(&names, f->name, f->name_size) != INTERN_NONE)
				f->kind = FIELD_UINT;
		}
	intern_free(&names);
	return bad ? -1 : 0;
}

void ftrace_fields(struct ftrace_events *t, const struct ftrace_event *v, struct writer *w,
		   struct field_entry *fields, struct type_entry *type)
{
	const char *print = v->format.print;
	/* most formats have no names */
	bool braces = print && memchr(print, '{', v->format.print_size);

	if (!t->names)
		t->names = calloc(1, sizeof *t->names);
	if (t->names)
		t->names->machine = t->machine;
	for (size_t i = 0; i < v->format.nfields && i < FTRACE_FIELDS; i++) {
		const struct event_field *f = &v->format.fields[i];
		struct field_entry *e = &fields[type->nfields];

		if (!v->system && !f->common)
			continue;
		type->nfields++;
		*e = (struct field_entry){.name = writer_string(w, f->name, f->name_size),
					  .type_name = writer_text(w, f->type_name),
					  .kind = (uint8_t)f->kind,
					  .role = (uint8_t)event_format_role_of(v, f),
					  .where = (uint8_t)f->where,
					  .offset = f->offset,
					  .size = f->element,
					  .count = f->count};
		event_format_set_names(t, v, braces, f, w, e);
	}
}
