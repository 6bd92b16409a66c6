/*
 * perfetto_annotations.c - attributes as debug annotations; arrays and structs have nested ones
 */
#include "cmd/trencode/timeline/perfetto_private.h"

#include "common/stream/value.h"
#include "common/util/buffer_file.h"
#include "common/util/utf8.h"

enum {
	NESTED_MOST = 30,	/* readers do not go deeper */
	NESTED_BYTES = 1 << 20, /* a longer text stays one, as nested messages are in memory */
	LENGTH_ROOM = 5,	/* bytes that are kept for the length of a message */
};

/* Append a text of s->kept, which may be large. */
static int put_text(struct perfetto *s, struct buffer *to, const char *p, size_t n)
{
	size_t piece;

	buffer_clear(&s->bit);
	for (; n; p += piece, n -= piece) {
		piece = buffer_piece(p, n);
		if (utf8_append(&s->bit, p, piece))
			return -1;
		if (piece == BUFFER_PIECE)
			buffer_rest(&s->kept);
	}
	return protobuf_message(to, ANNOTATION_STRING, &s->bit);
}

/* --- nested annotations --- */

/* Begin a message, whose contents are at *at. */
static int begin_message(struct buffer *b, uint32_t field, size_t *at)
{
	static const uint8_t room[LENGTH_ROOM];

	if (protobuf_key(b, field, PROTOBUF_LENGTH) || buffer_append(b, room, sizeof room))
		return -1;
	*at = b->size;
	return 0;
}

static void end_message(struct buffer *b, size_t at)
{
	size_t size = b->size - at, n = varint_size(size);
	uint8_t *p = b->data + at - LENGTH_ROOM;

	memmove(p + n, b->data + at, size);
	for (size_t i = 0, rest = size; i < n; i++, rest >>= 7)
		p[i] = (uint8_t)((rest & 0x7f) | (i + 1 < n ? 0x80 : 0));
	b->size -= LENGTH_ROOM - n;
}

static int put_number(struct perfetto *s, struct buffer *b)
{
	struct values v;
	struct value number;

	s->bit.size = 0;
	if (json_put_scalar(&s->json, JSON_NUMBER, &s->bit))
		return -1;
	values_begin(&v, s->bit.data, s->bit.size);
	if (!values_value(&v, &number))
		return -1;
	if (number.tag == VALUE_UINT)
		return protobuf_uint(b, ANNOTATION_UINT, number.number);
	if (number.tag == VALUE_NEGATIVE)
		return protobuf_uint(b, ANNOTATION_INT, number.number);
	return protobuf_double(b, ANNOTATION_DOUBLE, get_double(number.bytes));
}

static int put_scalar(struct perfetto *s, enum json_token token, struct buffer *b)
{
	const struct buffer *text = &s->json.text;

	switch (token) {
	case JSON_TRUE:
	case JSON_FALSE: return protobuf_uint(b, ANNOTATION_BOOL, token == JSON_TRUE);
	case JSON_NULL: return protobuf_bytes(b, ANNOTATION_JSON, "null", 4);
	case JSON_NUMBER: return put_number(s, b);
	default: return protobuf_bytes(b, ANNOTATION_STRING, text->data, text->size);
	}
}

/* Append the elements of an array or the members of an object, the JSON of an attribute. Returns 1
 * if they are nested too deep: nothing is appended. */
static int put_nested(struct perfetto *s, const struct attribute *item, struct buffer *b)
{
	struct json_reader *r = &s->json;
	size_t start = b->size, outer[NESTED_MOST], entry = 0;
	enum json_token token, before = JSON_END;
	unsigned depth = 0;

	json_open_text(r, item->text, item->number);
	for (;; before = token) {
		token = json_next(r);
		if (token == JSON_BAD || token == JSON_END || depth == NESTED_MOST) {
			b->size = start;
			return 1;
		}
		if (token == JSON_KEY) {
			if (begin_message(b, ANNOTATION_DICT, &entry) ||
			    protobuf_bytes(b, ANNOTATION_NAME, r->text.data, r->text.size))
				return -1;
			continue;
		}
		if (token == JSON_OBJECT_END || token == JSON_ARRAY_END) {
			/* no entries are no value */
			if ((before == JSON_OBJECT || before == JSON_ARRAY) &&
			    protobuf_bytes(b, ANNOTATION_JSON,
					   token == JSON_ARRAY_END ? "[]" : "{}", 2))
				return -1;
			entry = outer[--depth];
			if (!depth)
				return 0;
			end_message(b, entry);
			continue;
		}
		if (depth && before != JSON_KEY && begin_message(b, ANNOTATION_ARRAY, &entry))
			return -1;
		if (token == JSON_OBJECT || token == JSON_ARRAY) {
			outer[depth++] = entry;
			continue;
		}
		if (!depth || put_scalar(s, token, b))
			return -1;
		end_message(b, entry);
	}
}

/* --- annotations --- */

int perfetto_put_annotation(struct perfetto *s, const struct attribute *item, struct buffer *event)
{
	struct buffer *b = &s->clean;
	int r;

	if (perfetto_intern_name(s, INTERNED_ANNOTATION_NAME, item->name))
		return -1;
	buffer_clear(b);
	r = protobuf_uint(b, ANNOTATION_NAME_IID, item->name);
	switch (item->kind) {
	case ATTRIBUTE_BOOL: r = r || protobuf_uint(b, ANNOTATION_BOOL, item->number); break;
	case ATTRIBUTE_UINT: r = r || protobuf_uint(b, ANNOTATION_UINT, item->number); break;
	case ATTRIBUTE_INT: r = r || protobuf_uint(b, ANNOTATION_INT, item->number); break;
	case ATTRIBUTE_REAL: r = r || protobuf_double(b, ANNOTATION_DOUBLE, item->real); break;
	case ATTRIBUTE_NULL: r = r || protobuf_bytes(b, ANNOTATION_JSON, "null", 4); break;
	case ATTRIBUTE_JSON:
		r = r ? -1 : item->number > NESTED_BYTES ? 1 : put_nested(s, item, b);
		r = r == 1 ? put_text(s, b, item->text, item->number) : r;
		break;
	default: r = r || put_text(s, b, item->text, item->number);
	}
	return r || protobuf_message(event, EVENT_ANNOTATION, b) ? -1 : 0;
}
