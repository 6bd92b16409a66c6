#include <stdio.h>

#include "common/formats/apitrace.h"
#include "common/value/value_names.h"
#include "common/value/value_walk.h"
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

static int dump_enum(const struct apitrace_writer *w, const struct value_item *v)
{
	char room[I128_SIZE];
	struct text_ref text = value_enum_text(room, v->definition, &v->value);

	return dump_text(w, text.text, name_length(&text));
}

static int dump_bitmask(const struct apitrace_writer *w, const struct value_item *v)
{
	const struct definition *d = v->definition;
	uint64_t rest = v->value.number;
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
	return (any && PUT(w, " | ")) ? -1 : buffer_hex(w->out, rest);
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

static int dump_blob(const struct apitrace_writer *w, const struct value *v)
{
	if (w->blobs)
		return apitrace_blobs_keep(w->blobs, v->bytes, v->n, w->out);
	return PUT(w, "blob(") || buffer_decimal(w->out, v->n) || PUT(w, ")") ? -1 : 0;
}

static int dump_float(const struct apitrace_writer *w, float number)
{
	struct buffer *b = w->out;

	if (buffer_reserve(b, 40))
		return -1;
	b->size += apitrace_float((char *)b->data + b->size, number);
	return 0;
}

static int dump_real(const struct apitrace_writer *w, const struct value *v)
{
	char text[40];

	if (v->size == 4)
		return dump_float(w, get_float(v->bytes));
	return dump_text(w, text, apitrace_double(text, get_double(v->bytes)));
}

/* --- a value with its children --- */

/* A value that is written. */
struct dump {
	const struct apitrace_writer *w;
	bool first; /* the next member is the first of its struct */
};

static int dump_scalar(void *to, const struct value_item *item)
{
	const struct apitrace_writer *w = ((const struct dump *)to)->w;
	const struct value *v = &item->value;

	switch (v->tag) {
	case VALUE_NULL: return PUT(w, "NULL");
	case VALUE_FALSE: return PUT(w, "false");
	case VALUE_TRUE: return PUT(w, "true");
	case VALUE_NEGATIVE: return buffer_signed(w->out, (int64_t)v->number);
	case VALUE_UINT: return buffer_decimal(w->out, v->number);
	case VALUE_FLOAT:
	case VALUE_DOUBLE: return dump_real(w, v);
	case VALUE_STRING: return apitrace_string(w, v->bytes, v->n);
	case VALUE_BLOB: return dump_blob(w, v);
	case VALUE_ENUM: return dump_enum(w, item);
	case VALUE_BITMASK: return dump_bitmask(w, item);
	case VALUE_POINTER: return buffer_hex(w->out, v->number);
	case VALUE_WSTRING: return dump_wide_string(w, v);
	}
	return PUT(w, "?");
}

/* Test whether the value is a member without a name, which is replaced by its own members. */
static bool is_joined(const struct value_parent *v)
{
	const struct text_ref *name = value_child_name(v);

	return name && !name->size;
}

static int dump_guid(const struct apitrace_writer *w, const char *text)
{
	const char *name = apitrace_guid(text);

	if (name)
		return dump_text(w, name, strlen(name));
	return PUT(w, "uuid(") || dump_text(w, text, strlen(text)) || PUT(w, ")") ? -1 : 0;
}

static int dump_begin(void *to, const struct value_parent *v, const struct values *rest)
{
	struct dump *dump = to;
	const struct apitrace_writer *w = dump->w;
	char text[40];

	if (v->tag == VALUE_ARRAY)
		return v->count == 1 ? PUT(w, "&") : PUT(w, "{");
	if (is_joined(v - 1))
		return 0;
	if (v->definition && v->count == 4 && !strcmp(v->definition->name.text, "GUID") &&
	    guid_text(*rest, text))
		return dump_guid(w, text) ? -1 : VALUE_SKIP;
	dump->first = true;
	return PUT(w, "{");
}

static int dump_child(void *to, const struct value_parent *v, const struct values *rest)
{
	struct dump *dump = to;
	const struct apitrace_writer *w = dump->w;
	const struct text_ref *name;

	if (v->tag == VALUE_ARRAY)
		return v->index ? PUT(w, ", ") : 0;
	if (is_joined(v))
		return rest->at < rest->end && *rest->at == VALUE_STRUCT ? 0 : VALUE_SKIP;
	name = value_child_name(v);
	if ((!dump->first && PUT(w, ", ")) ||
	    (name ? dump_text(w, name->text, name_length(name)) : PUT(w, "?")))
		return -1;
	dump->first = false;
	return PUT(w, " = ");
}

static int dump_end(void *to, const struct value_parent *v)
{
	struct dump *dump = to;

	if (v->tag == VALUE_ARRAY ? v->count == 1 : is_joined(v - 1))
		return 0;
	dump->first = false;
	return PUT(dump->w, "}");
}

static int dump_single(void *to, float number)
{
	return dump_float(((const struct dump *)to)->w, number);
}

static int dump_small(void *to, uint8_t number)
{
	return buffer_decimal(((const struct dump *)to)->w->out, number);
}

static const struct value_style dump_style = {.scalar = dump_scalar,
					      .begin = dump_begin,
					      .child = dump_child,
					      .end = dump_end,
					      .single = dump_single,
					      .small = dump_small};

int apitrace_value(const struct apitrace_writer *w, struct values *v)
{
	struct dump dump = {w, true};

	return value_walk(&dump_style, &dump, w->dictionary, v);
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
	    (PUT(w, "+") || buffer_hex(w->out, number[APITRACE_FRAME_OFFSET])))
		return -1;
	if (has[APITRACE_FRAME_FILE]) {
		if (PUT(w, ": ") || dump_text(w, text[APITRACE_FRAME_FILE]->text,
					      strlen(text[APITRACE_FRAME_FILE]->text)))
			return -1;
		if (has[APITRACE_FRAME_LINE] && (int32_t)number[APITRACE_FRAME_LINE] >= 0 &&
		    (PUT(w, ":") || buffer_decimal(w->out, (uint32_t)number[APITRACE_FRAME_LINE])))
			return -1;
	}
	return PUT(w, "\n");
}
