/*
 * markers.c - the fields and the schemas of markers
 */
#include "cmd/trencode/firefox/firefox.h"
#include "common/util/buffer_file.h"
#include "common/value/json.h"

/* Integers beyond it are strings, as JavaScript cannot represent them. */
#define EXACT_MOST (1ull << 53)

/* The names of members of a marker that are no fields of events. */
static bool is_reserved(const char *name, size_t n)
{
	return (n == 4 && !memcmp(name, "type", 4)) || (n == 5 && !memcmp(name, "cause", 5)) ||
	       (n == 3 && !memcmp(name, "cpu", 3));
}

/* Note the format of a value of a field: of all its values. */
static int note_field(struct firefox_schemas *s, uint32_t schema, uint32_t name,
		      enum field_format format)
{
	uint32_t key[2] = {schema, name}, had = s->keys.count, number, *last;
	struct firefox_field *fields;

	number = intern(&s->keys, key, sizeof key);
	if (number == INTERN_NONE)
		return -1;
	if (number == had) {
		if (ARRAY_GROW(s->fields, s->capacity, number))
			return -1;
		fields = s->fields;
		if (ARRAY_REACH(s->last, s->nlast, schema))
			return -1;
		last = s->last;
		fields[number] = (struct firefox_field){name, last[schema], format};
		last[schema] = number + 1;
	}
	if (format > s->fields[number].format)
		s->fields[number].format = format;
	return 0;
}

static enum field_format format_of(const struct attribute *a)
{
	switch (a->kind) {
	case ATTRIBUTE_INT:
		return (int64_t)a->number > (int64_t)EXACT_MOST ||
				       (int64_t)a->number < -(int64_t)EXACT_MOST
			       ? FIELD_IS_STRING
			       : FIELD_IS_INTEGER;
	case ATTRIBUTE_UINT: return a->number > EXACT_MOST ? FIELD_IS_STRING : FIELD_IS_INTEGER;
	case ATTRIBUTE_REAL: return a->real - a->real == 0 ? FIELD_IS_DECIMAL : FIELD_IS_STRING;
	default: return FIELD_IS_STRING;
	}
}

/* Append a text, which may be large, as a JSON string. */
static int put_text(struct buffer *to, const struct buffer *text)
{
	int bad = buffer_u8(to, '"');

	for (size_t at = 0, n; at < text->size && !bad; at += n) {
		n = buffer_piece(text->data + at, text->size - at);
		bad = json_append_inside(to, (const char *)text->data + at, n);
		buffer_rest(to);
		buffer_rest(text);
	}
	return bad || buffer_u8(to, '"') ? -1 : 0;
}

/* Append a value: a number, or a string with the JSON of another value. */
static int put_value(struct firefox *f, const struct attribute *a, const struct buffer *from)
{
	buffer_clear(&f->one);
	if (a->kind == ATTRIBUTE_TEXT || format_of(a) != FIELD_IS_STRING)
		return attribute_json(a, false, from, &f->json);
	if (attribute_json(a, true, from, &f->one))
		return -1;
	if (f->one.size && *f->one.data == '"')
		return buffer_append_from(&f->json, &f->one, 0, f->one.size);
	return put_text(&f->json, &f->one);
}

/* Append "name":value to the fields. */
static int put_field(struct firefox *f, uint32_t schema, const struct attribute *a,
		     const struct buffer *from)
{
	struct text_ref name = dictionary_string(f->attributes.dictionary, a->name);
	struct buffer key = {0};
	uint32_t number;
	int bad = buffer_append(&key, name.text, name.size) ||
		  (is_reserved(name.text, name.size) && buffer_u8(&key, '_'));

	if (!bad) {
		number = intern(&f->strings, key.data, key.size);
		bad = number == INTERN_NONE ||
		      note_field(&f->schemas, schema, number, format_of(a)) ||
		      buffer_u8(&f->json, ',') ||
		      json_append_string(&f->json, (const char *)key.data, key.size) ||
		      buffer_u8(&f->json, ':') || put_value(f, a, from);
	}
	buffer_free(&key);
	return bad ? -1 : 0;
}

int firefox_marker(struct firefox *f, struct firefox_thread *th, struct firefox_marker m,
		   struct text_ref type, const struct buffer *bytes)
{
	uint32_t schema = intern(&f->schemas.names, type.text, type.size);

	uint32_t cpu = m.cpu >= 0 ? intern_string(&f->strings, "cpu") : 0;

	buffer_clear(&f->json);
	if (schema == INTERN_NONE || cpu == INTERN_NONE || buffer_puts(&f->json, "{\"type\":") ||
	    json_append_string(&f->json, type.text, type.size) ||
	    attributes_read(&f->attributes, bytes))
		return -1;
	if (m.cpu >= 0 && (note_field(&f->schemas, schema, cpu, FIELD_IS_INTEGER) ||
			   buffer_printf(&f->json, ",\"cpu\":%d", m.cpu)))
		return -1;
	for (size_t i = 0; i < f->attributes.count; i++)
		if (f->attributes.items[i].kind != ATTRIBUTE_NULL &&
		    put_field(f, schema, &f->attributes.items[i], bytes))
			return -1;
	if (f->json.size > UINT32_MAX)
		return -1;
	m.data = f->data.size;
	m.size = (uint32_t)f->json.size;
	return buffer_append_from(&f->data, &f->json, 0, f->json.size) ||
			       rows_add(&f->markers, &th->markers, &m)
		       ? -1
		       : 0;
}

void firefox_put_schemas(struct firefox *f, struct text *out)
{
	static const char *const formats[] = {"integer", "decimal", "string"};
	const struct firefox_schemas *s = &f->schemas;

	text_char(out, '[');
	for (uint32_t i = 0; i < s->names.count; i++) {
		uint32_t field = i < s->nlast ? s->last[i] : 0;

		text_puts(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		json_string(out, intern_data(&s->names, i), intern_size(&s->names, i));
		text_puts(out, ",\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":[");
		for (const char *comma = ""; field;
		     comma = ",", field = s->fields[field - 1].next) {
			const struct firefox_field *one = &s->fields[field - 1];

			text_puts(out, comma);
			text_puts(out, "{\"key\":");
			json_string(out, intern_data(&f->strings, one->name),
				    intern_size(&f->strings, one->name));
			text_puts(out, ",\"format\":\"");
			text_puts(out, formats[one->format]);
			text_puts(out, "\"}");
		}
		text_puts(out, "]}");
	}
	text_char(out, ']');
}

void firefox_free_schemas(struct firefox_schemas *s)
{
	intern_free(&s->names);
	intern_free(&s->keys);
	free(s->fields);
	free(s->last);
}
