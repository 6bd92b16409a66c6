/*
 * annotations.c - debug annotations become values: dictionaries STRUCTs, lists ARRAYs
 */
#include "cmd/trdecode/perfetto/annotations.h"

#include <inttypes.h>

#include "common/stream/value.h"

/* of nested values and of a dictionary, as of Trace Event JSON; jq 1.6 reads 127 nested objects */
enum { DEPTH_MOST = 64, MEMBERS_MOST = 4096 };

/* What is read: annotations of a sequence. */
struct annotations {
	struct perfetto *p;
	const struct perfetto_sequence *s;
	struct perfetto_annotated *found;
};

size_t perfetto_begin_named(struct perfetto *p, uint32_t name)
{
	struct buffer *b = &p->scratch.arguments;
	uint32_t head[2] = {htole32(name), 0};

	return name && !buffer_put(b, head, sizeof head) ? b->size : SIZE_MAX;
}

int perfetto_end_named(struct perfetto *p, size_t at)
{
	struct buffer *b = &p->scratch.arguments;

	put_u32(b->data + at - 4, (uint32_t)(b->size - at));
	return 0;
}

static int put_int(struct buffer *b, int64_t n)
{
	return n < 0 ? value_put_uint(b, VALUE_NEGATIVE, -(uint64_t)n)
		     : value_put_uint(b, VALUE_UINT, (uint64_t)n);
}

static int put_text(struct buffer *b, struct protobuf_view v, enum value_tag tag)
{
	return value_put_bytes(b, tag, v.at ? (const void *)v.at : "", protobuf_size(v));
}

/* --- several values of one name --- */

/* Get how a name is used. NULL: out of memory. */
static inline struct perfetto_name_use *name_use(struct perfetto *p, uint32_t name)
{
	struct perfetto_arguments *a = &p->arguments;

	return ARRAY_REACH(a->uses, a->uses_capacity, name) ? NULL : &a->uses[name];
}

/* Get a name with a number. 0: out of memory. */
static uint32_t numbered_name(struct perfetto *p, uint32_t name, uint32_t number)
{
	enum { TEXT_MOST = 256 };
	struct buffer *b = &p->scratch.text;
	size_t n;
	const char *text = writer_string_of(p->w, name, &n);

	b->size = 0;
	if (buffer_append(b, text, n < TEXT_MOST ? n : TEXT_MOST) ||
	    buffer_printf(b, "_%" PRIu32, number))
		return 0;
	return writer_string(p->w, b->data, b->size);
}

uint32_t perfetto_next_name(struct perfetto *p, uint32_t name)
{
	struct perfetto_name_use *use = name_use(p, name);
	uint32_t list = p->arguments.list, other = name;

	while (use && use->list == list) {
		uint32_t number = ++name_use(p, name)->count;

		other = numbered_name(p, name, number);
		/* an event has no more arguments: those of this name are counted and left out */
		if (!other || number > MEMBERS_MOST)
			return other;
		use = name_use(p, other);
	}
	if (!use)
		return 0;
	*use = (struct perfetto_name_use){list, 1};
	return other;
}

/* --- members of dictionaries --- */

int perfetto_put_struct(struct perfetto *p, size_t names)
{
	struct buffer *b = &p->scratch.key;
	size_t n = (b->size - names) / 4;
	/* the buffer has no bytes before its first name */
	const void *list = n ? (const void *)(b->data + names) : "";
	uint32_t *id, name;

	perfetto_begin_names(p);
	for (size_t i = names; i < b->size; i += 4) {
		name = perfetto_next_name(p, get_u32(b->data + i));
		if (!name)
			return -1;
		put_u32(b->data + i, name);
	}
	id = id_cache_number(&p->definitions, list, 4 * n);
	if (id && !*id)
		*id = arguments_struct(p->w, list, n);
	return id && *id && !value_put_struct(&p->scratch.arguments, *id, n) ? 0 : -1;
}

/* Append null for a list or dictionary that is nested too deep. */
static int put_too_deep(struct annotations *a)
{
	a->p->counts.too_deep++;
	return value_put_simple(&a->p->scratch.arguments, VALUE_NULL);
}

/* Get the name of an annotation, if it is wanted, and the field of its value. 0: it has no name;
 * number 0: no value. To read each annotation twice costs 6 % of the time. */
static inline uint32_t read_annotation(struct annotations *a, struct protobuf_view message,
				       bool wanted, struct protobuf_field *value)
{
	struct protobuf_field f;
	uint32_t name = 0;

	value->number = 0;
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case ANNOTATION_NAME_IID:
			if (wanted)
				name = perfetto_interned(a->p, a->s, OF_ANNOTATION_NAME, f.value);
			break;
		case ANNOTATION_NAME:
			if (wanted)
				name = perfetto_text(a->p, f.bytes);
			break;
		case ANNOTATION_DICT:
		case ANNOTATION_ARRAY:
		case ANNOTATION_PROTO:
			if (f.wire == PROTOBUF_LENGTH)
				*value = f;
			break;
		case ANNOTATION_BOOL:
		case ANNOTATION_UINT:
		case ANNOTATION_INT:
		case ANNOTATION_DOUBLE:
		case ANNOTATION_STRING:
		case ANNOTATION_POINTER:
		case ANNOTATION_NESTED:
		case ANNOTATION_JSON:
		case ANNOTATION_STRING_IID: *value = f; break;
		default:
			if (wanted)
				perfetto_check_field(a->p, MESSAGE_ANNOTATION, &f);
		}
	return name;
}

static uint32_t annotation_name(struct annotations *a, struct protobuf_view message)
{
	struct protobuf_field value;

	return read_annotation(a, message, true, &value);
}

static int put_annotation(struct annotations *a, struct protobuf_view message, unsigned depth);

/* Append the entries of a dictionary. */
static int put_dict(struct annotations *a, struct protobuf_view message, unsigned depth)
{
	struct protobuf_view rest = message;
	struct buffer *names = &a->p->scratch.key;
	size_t start, n = 0;
	struct protobuf_field f;

	/* numbers are aligned for perfetto_put_struct */
	if (buffer_align(names, 4))
		return -1;
	start = names->size;
	while (protobuf_next(&rest, &f) > 0 && n < MEMBERS_MOST)
		if (f.number == ANNOTATION_DICT && f.wire == PROTOBUF_LENGTH) {
			uint32_t name = annotation_name(a, f.bytes);

			if (buffer_u32(names, name ? name : a->p->texts.nothing))
				return -1;
			n++;
		}
	if (perfetto_put_struct(a->p, start))
		return -1;
	names->size = start;
	a->found->structs = true;
	while (n && protobuf_next(&message, &f) > 0)
		if (f.number == ANNOTATION_DICT && f.wire == PROTOBUF_LENGTH) {
			if (put_annotation(a, f.bytes, depth + 1))
				return -1;
			n--;
		}
	return 0;
}

static uint64_t count_fields(struct protobuf_view message, uint32_t number)
{
	struct protobuf_field f;
	uint64_t n = 0;

	while (protobuf_next(&message, &f) > 0)
		n += f.number == number && f.wire == PROTOBUF_LENGTH;
	return n;
}

static int put_array(struct annotations *a, struct protobuf_view message, unsigned depth)
{
	struct protobuf_field f;

	if (value_put_array(&a->p->scratch.arguments, count_fields(message, ANNOTATION_ARRAY)))
		return -1;
	while (protobuf_next(&message, &f) > 0)
		if (f.number == ANNOTATION_ARRAY && f.wire == PROTOBUF_LENGTH &&
		    put_annotation(a, f.bytes, depth + 1))
			return -1;
	return 0;
}

/* --- the older nested values --- */

static int put_nested(struct annotations *a, struct protobuf_view message, unsigned depth);

/* Append the dictionary of a nested value: keys and values are two lists. */
static int put_nested_dict(struct annotations *a, struct protobuf_view message, unsigned depth)
{
	struct protobuf_view rest = message;
	struct buffer *names = &a->p->scratch.key;
	uint64_t n = count_fields(message, NESTED_DICT);
	struct protobuf_field f;
	size_t start;

	if (buffer_align(names, 4))
		return -1;
	start = names->size;
	while (protobuf_next(&rest, &f) > 0 && (names->size - start) / 4 < n)
		if (f.number == NESTED_KEYS &&
		    buffer_u32(names, f.bytes.at != f.bytes.end ? perfetto_text(a->p, f.bytes)
								: a->p->texts.nothing))
			return -1;
	n = (names->size - start) / 4;
	if (n > MEMBERS_MOST)
		n = MEMBERS_MOST;
	names->size = start + 4 * n;
	if (perfetto_put_struct(a->p, start))
		return -1;
	names->size = start;
	a->found->structs = true;
	while (n && protobuf_next(&message, &f) > 0)
		if (f.number == NESTED_DICT && f.wire == PROTOBUF_LENGTH) {
			if (put_nested(a, f.bytes, depth + 1))
				return -1;
			n--;
		}
	return 0;
}

static int put_nested(struct annotations *a, struct protobuf_view message, unsigned depth)
{
	enum { DICT = 1, ARRAY = 2 };
	struct buffer *b = &a->p->scratch.arguments;
	struct protobuf_view rest = message;
	struct protobuf_field f = {0}, last = {0};

	while (protobuf_next(&rest, &f) > 0)
		if (f.number == NESTED_TYPE || f.number >= NESTED_INT || !last.number)
			last = f;
	switch (last.number) {
	case NESTED_INT: return put_int(b, (int64_t)last.value);
	case NESTED_DOUBLE: return value_put_float(b, &(uint64_t){htole64(last.value)}, 8);
	case NESTED_BOOL: return value_put_simple(b, last.value ? VALUE_TRUE : VALUE_FALSE);
	case NESTED_STRING: return put_text(b, last.bytes, VALUE_STRING);
	case NESTED_TYPE:
		if (last.value != DICT && last.value != ARRAY)
			break;
		if (depth == DEPTH_MOST)
			return put_too_deep(a);
		if (last.value == DICT)
			return put_nested_dict(a, message, depth);
		if (value_put_array(b, count_fields(message, NESTED_ARRAY)))
			return -1;
		while (protobuf_next(&message, &f) > 0)
			if (f.number == NESTED_ARRAY && f.wire == PROTOBUF_LENGTH &&
			    put_nested(a, f.bytes, depth + 1))
				return -1;
		return 0;
	}
	return value_put_simple(b, VALUE_NULL);
}

/* --- annotations --- */

static int put_interned(struct annotations *a, uint64_t iid)
{
	uint32_t string = perfetto_interned(a->p, a->s, OF_ANNOTATION_STRING, iid);
	size_t n;
	const char *text = string ? writer_string_of(a->p->w, string, &n) : "";

	return value_put_bytes(&a->p->scratch.arguments, VALUE_STRING, text, string ? n : 0);
}

/* Append JSON: its text, but null and what is empty, which have no form of their own. */
static int put_json(struct annotations *a, struct protobuf_view text)
{
	struct perfetto *p = a->p;
	size_t n = protobuf_size(text);

	if (n == 4 && !memcmp(text.at, "null", 4))
		return value_put_simple(&p->scratch.arguments, VALUE_NULL);
	if (n == 2 && !memcmp(text.at, "[]", 2))
		return value_put_array(&p->scratch.arguments, 0);
	if (n != 2 || memcmp(text.at, "{}", 2) != 0)
		return put_text(&p->scratch.arguments, text, VALUE_STRING);
	a->found->structs = true;
	return buffer_align(&p->scratch.key, 4) ? -1 : perfetto_put_struct(p, p->scratch.key.size);
}

/* Append the value of an annotation, which is in that field. */
static int put_value(struct annotations *a, struct protobuf_view message,
		     const struct protobuf_field *value, unsigned depth)
{
	struct buffer *b = &a->p->scratch.arguments;

	switch (value->number) {
	case ANNOTATION_BOOL: return value_put_simple(b, value->value ? VALUE_TRUE : VALUE_FALSE);
	case ANNOTATION_UINT: return value_put_uint(b, VALUE_UINT, value->value);
	case ANNOTATION_INT: return put_int(b, (int64_t)value->value);
	case ANNOTATION_DOUBLE: return value_put_float(b, &(uint64_t){htole64(value->value)}, 8);
	case ANNOTATION_POINTER: return value_put_uint(b, VALUE_POINTER, value->value);
	case ANNOTATION_JSON: return put_json(a, value->bytes);
	case ANNOTATION_STRING: return put_text(b, value->bytes, VALUE_STRING);
	case ANNOTATION_STRING_IID: return put_interned(a, value->value);
	case ANNOTATION_NESTED: return put_nested(a, value->bytes, depth);
	case ANNOTATION_DICT:
		return depth == DEPTH_MOST ? put_too_deep(a) : put_dict(a, message, depth);
	case ANNOTATION_ARRAY:
		return depth == DEPTH_MOST ? put_too_deep(a) : put_array(a, message, depth);
	case ANNOTATION_PROTO: return put_text(b, value->bytes, VALUE_BLOB);
	}
	return value_put_simple(b, VALUE_NULL);
}

static int put_annotation(struct annotations *a, struct protobuf_view message, unsigned depth)
{
	struct protobuf_field value;

	read_annotation(a, message, false, &value);
	return put_value(a, message, &value, depth);
}

/* Take the mark of a call, its id or the name of its leave, from the named value at an offset. The
 * value is removed. */
static int take_mark(struct perfetto *p, struct perfetto_annotated *found, size_t start, size_t at)
{
	struct buffer *b = &p->scratch.arguments;
	bool is_id = b->data[at] == VALUE_UINT;
	struct values v;
	struct value value;

	values_begin(&v, b->data + at, b->size - at);
	b->size = start;
	if (!values_value(&v, &value))
		return 0;
	if (is_id)
		found->id = value.number;
	else
		found->leave = writer_string(p->w, value.bytes, value.n);
	found->has_id |= is_id;
	return 0;
}

int perfetto_annotation(struct perfetto *p, const struct perfetto_sequence *s,
			struct protobuf_view message, struct perfetto_annotated *found)
{
	struct annotations a = {p, s, found};
	struct buffer *b = &p->scratch.arguments;
	size_t start = b->size, at;
	struct protobuf_field value;
	uint32_t name = read_annotation(&a, message, true, &value);

	p->scratch.key.size = 0;
	at = perfetto_begin_named(p, name ? name : p->texts.nothing);
	if (at == SIZE_MAX || put_value(&a, message, &value, 0))
		return -1;
	if ((name == p->texts.leave_name && b->data[at] == VALUE_STRING) ||
	    (name == p->texts.call_id && b->data[at] == VALUE_UINT))
		return take_mark(p, found, start, at);
	if (name == p->texts.unfinished && b->size == at + 1 && b->data[at] == VALUE_TRUE) {
		found->unfinished = true;
		b->size = start;
		return 0;
	}
	return perfetto_end_named(p, at);
}

int perfetto_argument_uint(struct perfetto *p, const char *name, uint64_t number)
{
	size_t at = perfetto_begin_named(p, writer_text(p->w, name));

	return at == SIZE_MAX || value_put_uint(&p->scratch.arguments, VALUE_UINT, number)
		       ? -1
		       : perfetto_end_named(p, at);
}

int perfetto_argument_int(struct perfetto *p, const char *name, int64_t number)
{
	size_t at = perfetto_begin_named(p, writer_text(p->w, name));

	return at == SIZE_MAX || put_int(&p->scratch.arguments, number) ? -1
									: perfetto_end_named(p, at);
}

int perfetto_argument_bool(struct perfetto *p, const char *name, bool value)
{
	size_t at = perfetto_begin_named(p, writer_text(p->w, name));

	return at == SIZE_MAX || value_put_simple(&p->scratch.arguments,
						  value ? VALUE_TRUE : VALUE_FALSE)
		       ? -1
		       : perfetto_end_named(p, at);
}

int perfetto_argument_string(struct perfetto *p, const char *name, uint32_t string)
{
	size_t at = perfetto_begin_named(p, writer_text(p->w, name)), n;
	const char *text = writer_string_of(p->w, string, &n);

	return at == SIZE_MAX || value_put_bytes(&p->scratch.arguments, VALUE_STRING, text, n)
		       ? -1
		       : perfetto_end_named(p, at);
}

int perfetto_argument_list(struct perfetto *p, const char *name, const uint64_t *numbers, size_t n)
{
	struct buffer *b = &p->scratch.arguments;
	size_t at = perfetto_begin_named(p, writer_text(p->w, name));

	if (at == SIZE_MAX || (n > 1 && value_put_array(b, n)))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (value_put_uint(b, VALUE_UINT, numbers[i]))
			return -1;
	return perfetto_end_named(p, at);
}
