/*
 * attributes_read.c - attributes that were appended as records: as items, and as a JSON object
 */
#include "cmd/trencode/convert/attributes.h"

#include <inttypes.h>

#include "cmd/trencode/convert/attribute_values.h"
#include "common/util/buffer_file.h"
#include "common/value/json.h"

#define DOUBLE_EXACT (1ull << 53)

/* Parse a record that append_item or end_member wrote. */
static struct attribute get_record(const uint8_t **at)
{
	const uint8_t *p = *at;
	struct attribute item = {
		.name = get_u32(p), .kind = get_u32(p + 4), .number = get_u64(p + 8)};

	p += ATTRIBUTE_RECORD;
	if (item.kind == ATTRIBUTE_REAL)
		memcpy(&item.real, &item.number, sizeof item.real);
	if (item.kind >= ATTRIBUTE_TEXT) {
		item.text = (const char *)p;
		p += item.number;
	}
	*at = p;
	return item;
}

/* Number the records from a->first + 1 to a->after, and note the last one of each name. */
static int find_last(struct attributes *a, const struct buffer *from)
{
	const uint8_t *p = from->data, *end = from->size ? p + from->size : p;

	a->first = a->after;
	if (from->size / ATTRIBUTE_RECORD >= UINT32_MAX - a->first) {
		memset(a->last, 0, a->nlast * sizeof(*a->last));
		a->first = 0;
	}
	for (a->after = a->first; p < end;) {
		uint32_t name = get_u32(p), kind = get_u32(p + 4);
		uint32_t *last;

		if (ARRAY_REACH(a->last, a->nlast, name))
			return -1;
		last = a->last;
		last[name] = ++a->after;
		p += ATTRIBUTE_RECORD + (kind >= ATTRIBUTE_TEXT ? get_u64(p + 8) : 0);
	}
	return 0;
}

int attributes_read(struct attributes *a, const struct buffer *from)
{
	const uint8_t *p = from->data;

	a->count = 0;
	a->read = from;
	if (find_last(a, from))
		return -1;
	for (uint32_t i = a->first; i < a->after; i++) {
		struct attribute item = get_record(&p), *items;

		if (a->last[item.name] != i + 1)
			continue;
		if (ARRAY_GROW(a->items, a->capacity, a->count))
			return -1;
		items = a->items;
		items[a->count++] = item;
	}
	return 0;
}

/* --- JSON --- */

/* Append a large text, piece by piece from its buffer. */
static int json_large(const struct attribute *item, const struct buffer *from, struct buffer *to)
{
	const char *p = item->text;
	size_t n = item->number, piece;

	if (buffer_u8(to, '"'))
		return -1;
	for (; n; p += piece, n -= piece) {
		piece = buffer_piece(p, n);
		if (json_append_inside(to, p, piece))
			return -1;
		buffer_rest(from);
	}
	return buffer_u8(to, '"');
}

int attribute_json(const struct attribute *item, bool quote_numbers, const struct buffer *from,
		   struct buffer *to)
{
	bool quote = false, minus = item->kind == ATTRIBUTE_INT && (int64_t)item->number < 0;
	uint64_t number = minus ? -item->number : item->number;

	if (item->kind >= ATTRIBUTE_TEXT && item->number > BUFFER_PIECE && from) {
		if (item->kind == ATTRIBUTE_TEXT)
			return json_large(item, from, to);
		return buffer_append_from(
			to, from, (size_t)((const uint8_t *)item->text - from->data), item->number);
	}
	switch (item->kind) {
	case ATTRIBUTE_NULL: return buffer_append(to, "null", 4);
	case ATTRIBUTE_BOOL:
		return item->number ? buffer_append(to, "true", 4) : buffer_append(to, "false", 5);
	case ATTRIBUTE_REAL: return json_append_real(to, item->real);
	case ATTRIBUTE_TEXT: return json_append_string(to, item->text, item->number);
	case ATTRIBUTE_JSON:
	case ATTRIBUTE_MEMBER: return buffer_put(to, item->text, item->number);
	}
	quote = quote_numbers && number > DOUBLE_EXACT;
	return attribute_put_integer(to, number, minus, quote);
}

/* Append an item as a member of an object, and a comma. */
static int put_member(struct attributes *a, const struct attribute *item, const struct buffer *from,
		      struct buffer *to)
{
	const char *key;
	uint32_t size;

	/* most members: without this line 'trdecode | trencode -t ndjson' of t/bench/apitrace.sh's
	 * trace takes 1.03 times the instructions */
	if (item->kind == ATTRIBUTE_MEMBER && item->number <= BUFFER_PIECE)
		return buffer_put(to, item->text, item->number) || buffer_u8(to, ',') ? -1 : 0;
	if (item->kind != ATTRIBUTE_MEMBER) {
		key = location_names_get(&a->keys, item->name, &size);
		if (!key || buffer_append(to, key, size))
			return -1;
	}
	return attribute_json(item, a->quote_numbers, from, to) || buffer_u8(to, ',') ? -1 : 0;
}

int attributes_json(struct attributes *a, struct buffer *to)
{
	if (buffer_u8(to, '{'))
		return -1;
	for (size_t i = 0; i < a->count; i++)
		if (put_member(a, &a->items[i], a->read, to))
			return -1;
	to->size -= a->count > 0;
	return buffer_u8(to, '}');
}

int attributes_object(struct attributes *a, const struct buffer *bytes, struct buffer *to)
{
	const uint8_t *p = bytes->data;

	if (!bytes->size)
		return 0;
	if (find_last(a, bytes) || buffer_u8(to, '{'))
		return -1;
	for (uint32_t i = a->first; i < a->after; i++) {
		struct attribute item = get_record(&p);

		if (a->last[item.name] == i + 1 && put_member(a, &item, bytes, to))
			return -1;
	}
	to->data[to->size - 1] = '}';
	return 0;
}

bool attributes_keep_numbers(struct attributes *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->count; i++)
		if (a->items[i].kind >= ATTRIBUTE_INT && a->items[i].kind <= ATTRIBUTE_REAL)
			a->items[kept++] = a->items[i];
	if (!kept)
		return false;
	a->dropped += a->count - kept;
	a->count = kept;
	return true;
}

void attributes_report(const struct attributes *a)
{
	remark_count(
		a->dropped,
		"{value of a counter is|values of counters are} left out: not {a number|numbers}");
	remark_count(a->deep, STACK_DEEP);
}
