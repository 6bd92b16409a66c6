#include <stdio.h>

#include "common/formats/apitrace.h"
#include "common/value/value_names.h"
#include "cmd/trencode/text/apitrace/apitrace.h"

static inline __attribute__((always_inline)) int dump_text(const struct apitrace_writer *w,
							   const char *s, size_t n)
{
	return buffer_put(w->out, s, n);
}

#define PUT(w, s) dump_text(w, s, sizeof(s) - 1)

/* Return the length up to the first NUL; each text is followed by a NUL. */
static inline size_t name_length(const struct text_ref *t)
{
	return strlen(t->text);
}

static int dump_unsigned(const struct apitrace_writer *w, uint64_t n, bool negative)
{
	struct buffer *b = w->out;
	char *p;

	if (buffer_reserve(b, 24))
		return -1;
	p = (char *)b->data + b->size;
	*p = '-';
	b->size = (size_t)(decimal_at(p + negative, n) - (char *)b->data);
	return 0;
}

static int dump_signed(const struct apitrace_writer *w, int64_t n)
{
	return dump_unsigned(w, n < 0 ? -(uint64_t)n : (uint64_t)n, n < 0);
}

static int dump_hex(const struct apitrace_writer *w, uint64_t n)
{
	char text[20], *p = text + sizeof text;

	do
		*--p = "0123456789abcdef"[n & 15];
	while (n >>= 4);
	*--p = 'x';
	*--p = '0';
	return dump_text(w, p, (size_t)(text + sizeof text - p));
}

/*
 * Write the escape of a character. apitrace means three octal digits and gets them wrong: the
 * middle digit, if not 0, is written twice, and the first digit is omitted.
 */
static size_t dump_escape(const struct apitrace_writer *w, char *out, uint64_t c)
{
	unsigned low = c & 7, middle = c >> 3 & 7;
	size_t n = 0;

	if (c == '\r')
		return 0;
	if (c == '\t' || c == '\n') {
		*out = (char)c;
		return 1;
	}
	out[n++] = '\\';
	if (c == '"' || c == '\\') {
		out[n++] = (char)c;
	} else if (w->plain_octal) {
		n += (size_t)sprintf(out + n, "%03llo", (unsigned long long)c);
	} else {
		if (middle) {
			out[n++] = (char)('0' + middle);
			out[n++] = (char)('0' + middle);
		}
		out[n++] = (char)('0' + low);
	}
	return n;
}

static inline bool is_plain(uint64_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

int apitrace_string(const struct apitrace_writer *w, const uint8_t *p, size_t n)
{
	const uint8_t *end = memchr(p, 0, n), *run;
	char text[32];

	end = end ? end : p + n;
	if (PUT(w, "\""))
		return -1;
	while (p < end) {
		for (run = p; p < end && is_plain(*p); p++)
			;
		if (dump_text(w, (const char *)run, (size_t)(p - run)))
			return -1;
		if (p < end && dump_text(w, text, dump_escape(w, text, *p++)))
			return -1;
	}
	return PUT(w, "\"");
}

static int dump_wide_string(const struct apitrace_writer *w, const struct value *v)
{
	const uint8_t *p = v->bytes, *end = v->bytes + v->n;
	char text[32];

	if (PUT(w, "L\""))
		return -1;
	while (p < end) {
		uint64_t c = value_unit(&p) & UINT32_MAX;

		if (!c)
			break;
		text[0] = (char)c;
		if (dump_text(w, text, is_plain(c) ? 1 : dump_escape(w, text, c)))
			return -1;
	}
	return PUT(w, "\"");
}

static int dump_enum(const struct apitrace_writer *w, const struct value *v)
{
	char room[I128_SIZE];
	struct text_ref text =
		value_enum_text(room, dictionary_definition_id(w->dictionary, v->definition), v);

	return dump_text(w, text.text, name_length(&text));
}

static int dump_bitmask(const struct apitrace_writer *w, const struct value *v)
{
	const struct definition *d = dictionary_definition_id(w->dictionary, v->definition);
	uint64_t rest = v->number;
	bool any = false;

	for (uint32_t i = 0; d && i < d->count; i++) {
		uint64_t flag = d->members[i].low;

		if ((flag && (rest & flag) == flag) || (!flag && !rest)) {
			if ((any && PUT(w, " | ")) ||
			    dump_text(w, d->members[i].name.text, name_length(&d->members[i].name)))
				return -1;
			rest &= ~flag;
			any = true;
		}
		if (!rest)
			break;
	}
	if (!rest && any)
		return 0;
	return (any && PUT(w, " | ")) ? -1 : dump_hex(w, rest);
}

static int dump_value(const struct apitrace_writer *w, struct values *v, const struct value *value,
		      unsigned nesting);

static int dump_float(const struct apitrace_writer *w, const uint8_t *bytes)
{
	struct buffer *b = w->out;

	if (buffer_reserve(b, 40))
		return -1;
	b->size += apitrace_float((char *)b->data + b->size, get_float(bytes));
	return 0;
}

static int dump_next(const struct apitrace_writer *w, struct values *v, unsigned nesting)
{
	const uint8_t *p = v->at;
	struct value value;

	/* fast paths for most values */
	if (v->end - p >= 5 && *p == VALUE_FLOAT) {
		v->at += 5;
		return dump_float(w, p + 1);
	}
	if (v->end - p >= 2 && *p == VALUE_UINT && p[1] < 0x80) {
		v->at += 2;
		return dump_unsigned(w, p[1], false);
	}
	if (nesting > VALUE_DEPTH || !values_value(v, &value))
		return -1;
	return dump_value(w, v, &value, nesting);
}

static int dump_array(const struct apitrace_writer *w, struct values *v, uint64_t count,
		      unsigned nesting)
{
	if (count == 1)
		return PUT(w, "&") || dump_next(w, v, nesting + 1) ? -1 : 0;
	if (PUT(w, "{"))
		return -1;
	for (uint64_t i = 0; i < count; i++)
		if ((i && PUT(w, ", ")) || dump_next(w, v, nesting + 1))
			return -1;
	return PUT(w, "}");
}

/* Append the members of a struct, joined; a member without a name is replaced by its own members.
 */
static int dump_members(const struct apitrace_writer *w, struct values *v, const struct value *s,
			const char **separator, unsigned nesting)
{
	const struct definition *d = dictionary_definition_id(w->dictionary, s->definition);
	struct value value;

	if (nesting > VALUE_DEPTH)
		return -1;
	for (uint64_t i = 0; i < s->count; i++) {
		const char *name = d && i < d->count ? d->members[i].name.text : "?";

		if (*name) {
			if (dump_text(w, *separator, strlen(*separator)) ||
			    dump_text(w, name, strlen(name)) || PUT(w, " = ") ||
			    dump_next(w, v, nesting + 1))
				return -1;
			*separator = ", ";
			continue;
		}
		if (v->at < v->end && *v->at == VALUE_STRUCT) {
			if (!values_value(v, &value) ||
			    dump_members(w, v, &value, separator, nesting + 1))
				return -1;
		} else if (!values_skip(v)) {
			return -1;
		}
	}
	return 0;
}

bool apitrace_number(struct values v, uint64_t *n)
{
	struct value value;
	long double real;
	bool is_signed;

	for (unsigned nesting = 0; nesting <= VALUE_DEPTH; nesting++) {
		if (!values_value(&v, &value))
			return false;
		*n = 0;
		if (value.tag == VALUE_NULL)
			return true;
		if (value_real(&value, &real)) {
			*n = real > -0x1p63L && real < 0x1p63L ? (uint64_t)(int64_t)real
							       : 1ull << 63;
			return true;
		}
		if (value.tag != VALUE_REPR)
			return value.tag != VALUE_POINTER &&
			       value_integer(&value, NULL, n, &is_signed);
		/* the raw form */
		if (!values_skip(&v))
			return false;
	}
	return false;
}

/* Write the 16 bytes of a GUID, which has four members. Returns false if the members are not those
 * of a GUID. */
static bool guid_text(struct values v, char *text)
{
	uint64_t part[3], byte;
	struct value array;
	uint8_t last[8];

	for (int i = 0; i < 3; i++)
		if (!apitrace_number(v, &part[i]) || !values_skip(&v))
			return false;
	if (!values_value(&v, &array) || array.tag != VALUE_ARRAY || array.count != 8)
		return false;
	for (int i = 0; i < 8; i++) {
		if (!apitrace_number(v, &byte) || !values_skip(&v))
			return false;
		last[i] = (uint8_t)byte;
	}
	sprintf(text, "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", (uint32_t)part[0],
		(unsigned)part[1] & 0xffff, (unsigned)part[2] & 0xffff, last[0], last[1], last[2],
		last[3], last[4], last[5], last[6], last[7]);
	return true;
}

static int dump_struct(const struct apitrace_writer *w, struct values *v, const struct value *s,
		       unsigned nesting)
{
	const struct definition *d = dictionary_definition_id(w->dictionary, s->definition);
	const char *separator = "", *name;
	char text[40];

	if (d && s->count == 4 && !strcmp(d->name.text, "GUID") && guid_text(*v, text)) {
		for (int i = 0; i < 4; i++)
			if (!values_skip(v))
				return -1;
		name = apitrace_guid(text);
		if (name)
			return dump_text(w, name, strlen(name));
		return PUT(w, "uuid(") || dump_text(w, text, strlen(text)) || PUT(w, ")") ? -1 : 0;
	}
	return PUT(w, "{") || dump_members(w, v, s, &separator, nesting) || PUT(w, "}") ? -1 : 0;
}

static int dump_blob(const struct apitrace_writer *w, const struct value *v)
{
	if (w->blobs)
		return apitrace_blobs_keep(w->blobs, v->bytes, v->n, w->out);
	return PUT(w, "blob(") || dump_unsigned(w, v->n, false) || PUT(w, ")") ? -1 : 0;
}

static int dump_real(const struct apitrace_writer *w, const struct value *v)
{
	char text[40];

	if (v->size == 4)
		return dump_float(w, v->bytes);
	return dump_text(w, text, apitrace_double(text, get_double(v->bytes)));
}

static int dump_value(const struct apitrace_writer *w, struct values *v, const struct value *value,
		      unsigned nesting)
{
	switch (value->tag) {
	case VALUE_NULL: return PUT(w, "NULL");
	case VALUE_FALSE: return PUT(w, "false");
	case VALUE_TRUE: return PUT(w, "true");
	case VALUE_NEGATIVE: return dump_signed(w, (int64_t)value->number);
	case VALUE_UINT: return dump_unsigned(w, value->number, false);
	case VALUE_FLOAT:
	case VALUE_DOUBLE: return dump_real(w, value);
	case VALUE_STRING: return apitrace_string(w, value->bytes, value->n);
	case VALUE_BLOB: return dump_blob(w, value);
	case VALUE_ENUM: return dump_enum(w, value);
	case VALUE_BITMASK: return dump_bitmask(w, value);
	case VALUE_ARRAY: return dump_array(w, v, value->count, nesting);
	case VALUE_STRUCT: return dump_struct(w, v, value, nesting);
	case VALUE_POINTER: return dump_hex(w, value->number);
	case VALUE_WSTRING: return dump_wide_string(w, value);
	case VALUE_REPR:
		/* the display form */
		return dump_next(w, v, nesting + 1) || !values_skip(v) ? -1 : 0;
	}
	return PUT(w, "?");
}

int apitrace_value(const struct apitrace_writer *w, struct values *v)
{
	return dump_next(w, v, 0);
}

int apitrace_frame(const struct apitrace_writer *w, const struct definition *frame)
{
	static const char *const keys[] = APITRACE_FRAME_NAMES;
	const struct text_ref *text[APITRACE_FRAME_OFFSET + 1] = {NULL};
	uint64_t number[APITRACE_FRAME_OFFSET + 1] = {0};
	bool has[APITRACE_FRAME_OFFSET + 1] = {false};

	for (uint32_t i = 0; frame && i < frame->count; i++) {
		const struct member *m = &frame->members[i];
		int key = APITRACE_FRAME_MODULE;

		while (key <= APITRACE_FRAME_OFFSET && strcmp(keys[key], m->name.text) != 0)
			key++;
		if (key > APITRACE_FRAME_OFFSET)
			break;
		has[key] = true;
		if (key >= APITRACE_FRAME_LINE)
			number[key] = m->low;
		else if (++i < frame->count)
			text[key] = &frame->members[i].name;
		else
			has[key] = false;
	}
	if (has[APITRACE_FRAME_MODULE] ? dump_text(w, text[APITRACE_FRAME_MODULE]->text,
						   strlen(text[APITRACE_FRAME_MODULE]->text))
				       : PUT(w, "?"))
		return -1;
	if (has[APITRACE_FRAME_FUNCTION] &&
	    (PUT(w, ": ") || dump_text(w, text[APITRACE_FRAME_FUNCTION]->text,
				       strlen(text[APITRACE_FRAME_FUNCTION]->text))))
		return -1;
	/* in apitrace they are signed, and present if not negative */
	if (has[APITRACE_FRAME_OFFSET] && (int64_t)number[APITRACE_FRAME_OFFSET] >= 0 &&
	    (PUT(w, "+") || dump_hex(w, number[APITRACE_FRAME_OFFSET])))
		return -1;
	if (has[APITRACE_FRAME_FILE]) {
		if (PUT(w, ": ") || dump_text(w, text[APITRACE_FRAME_FILE]->text,
					      strlen(text[APITRACE_FRAME_FILE]->text)))
			return -1;
		if (has[APITRACE_FRAME_LINE] && (int32_t)number[APITRACE_FRAME_LINE] >= 0 &&
		    (PUT(w, ":") || dump_unsigned(w, (uint32_t)number[APITRACE_FRAME_LINE], false)))
			return -1;
	}
	return PUT(w, "\n");
}
