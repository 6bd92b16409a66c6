/*
 * nested.c - arguments that are objects or arrays: STRUCTs and ARRAYs
 *
 * An argument that is read is a BLOB of its JSON text until the phase of its event is known, as a
 * profile (cpu_profile.c) is read from that text. What exceeds the limits is a STRING of its text.
 */
#include "cmd/trdecode/chrome/chrome.h"
#include "common/stream/value.h"

enum {
	DEPTH_MOST = 64,
	MEMBERS_MOST = 4096,	    /* of an object */
	DEFINITIONS_MOST = 1 << 16, /* of a file: distinct lists of names */
};

/* An object or array that is open. */
struct nested_level {
	size_t at;	/* in the values: what it contains */
	size_t names;	/* of an object, in chrome_read.names: a word that marks the list */
	uint64_t count; /* of its values */
};

/* Insert the head of the value that begins at an offset. */
static int insert_head(struct buffer *b, size_t at, const struct buffer *head)
{
	if (buffer_append(b, head->data, head->size))
		return -1;
	memmove(b->data + at + head->size, b->data + at, b->size - head->size - at);
	memcpy(b->data + at, head->data, head->size);
	return 0;
}

/* Get the definition of an object with the names that were read. *id 0: there are too many. */
static int definition_of(struct chrome *c, const struct nested_level *l, uint32_t *id)
{
	const struct buffer *names = &c->read.names;
	const uint8_t *first = names->data + l->names;
	uint32_t *known = id_cache_number(&c->declared, first, names->size - l->names);

	*id = 0;
	if (!known)
		return -1;
	if (!*known) {
		if (c->counts.definitions == DEFINITIONS_MOST)
			return 0;
		*known = arguments_struct(c->w, (const uint32_t *)(const void *)(first + 4),
					  (names->size - l->names) / 4 - 1);
		c->counts.definitions++;
	}
	*id = *known;
	return *id ? 0 : -1;
}

/* End the object or array l. Returns 1: its names exceed the limit. */
static int end_level(struct chrome *c, const struct nested_level *l, bool object)
{
	struct buffer *head = &c->read.values;
	uint32_t id;

	head->size = 0;
	if (object) {
		if (definition_of(c, l, &id))
			return -1;
		if (!id)
			return 1;
		c->read.names.size = l->names;
		if (value_put_struct(head, id, l->count))
			return -1;
	} else if (value_put_array(head, l->count)) {
		return -1;
	}
	return insert_head(&c->read.nested, l->at, head);
}

/* Add the name of a member of the innermost object. Returns 1: it has too many. */
static int add_member(struct chrome *c, const struct nested_level *l)
{
	const struct buffer *text = &c->read.json.text;

	if (l->count == MEMBERS_MOST)
		return 1;
	return buffer_u32(&c->read.names, writer_string(c->w, text->data, text->size)) ? -1 : 0;
}

/* Append the value of a JSON text. Returns 1: it exceeds the limits. */
static int put_nested(struct chrome *c, const struct value *text)
{
	struct json_reader *r = &c->read.json;
	struct nested_level levels[DEPTH_MOST];
	enum json_token token;
	unsigned depth = 0;
	int bad = 0;

	json_open_text(r, (const char *)text->bytes, text->n);
	c->read.names.size = 0;
	while (!bad) {
		token = json_next(r);
		if (token == JSON_BAD || token == JSON_END)
			return 1;
		if (token == JSON_OBJECT || token == JSON_ARRAY) {
			if (depth == DEPTH_MOST)
				return 1;
			levels[depth++] =
				(struct nested_level){c->read.nested.size, c->read.names.size, 0};
			bad = token == JSON_OBJECT ? buffer_u32(&c->read.names, 'n') : 0;
			continue;
		}
		/* the text is an object or array */
		if (token == JSON_KEY) {
			bad = add_member(c, &levels[depth - 1]);
			continue;
		}
		if (token == JSON_OBJECT_END || token == JSON_ARRAY_END) {
			depth--;
			bad = end_level(c, &levels[depth], token == JSON_OBJECT_END);
			if (!depth)
				return bad;
		} else {
			bad = json_put_scalar(r, token, &c->read.nested);
		}
		levels[depth - 1].count++;
	}
	return bad;
}

int chrome_nested_put(struct chrome *c, struct json_reader *r, enum json_token token)
{
	struct buffer text = {0};
	int failed = json_copy(r, token, &text, SIZE_MAX) ||
		     value_put_bytes(&c->read.values, VALUE_BLOB, text.data, text.size);

	buffer_free(&text);
	c->read.has_nested = true;
	return failed ? -1 : 0;
}

int chrome_nested_convert(struct chrome *c)
{
	struct buffer *from = &c->read.arguments, *to = &c->read.nested, other;
	size_t size;

	to->size = 0;
	for (size_t i = 0; i < from->size; i += 8 + size) {
		size_t at = to->size + 8;
		struct values v;
		struct value value;
		int status = 0;

		size = get_u32(from->data + i + 4);
		values_begin(&v, from->data + i + 8, size);
		if (!values_value(&v, &value) || value.tag != VALUE_BLOB) {
			if (buffer_append(to, from->data + i, 8 + size))
				return -1;
			continue;
		}
		if (buffer_append(to, from->data + i, 8))
			return -1;
		status = put_nested(c, &value);
		if (status > 0) {
			to->size = at;
			status = value_put_bytes(to, VALUE_STRING, value.bytes, value.n);
		}
		if (status)
			return -1;
		put_u32(to->data + at - 4, (uint32_t)(to->size - at));
	}
	other = *from;
	*from = *to;
	*to = other;
	return 0;
}
