/*
 * attributes.c - arguments, return values and fields of events as names with plain values
 */
#include "cmd/trencode/attributes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/convert.h"
#include "cmd/trencode/text/apitrace.h"
#include "cmd/trencode/tracks.h"
#include "cmd/trencode/text/tracecmd.h"
#include "common/formats/perfetto.h"
#include "common/pairs/flows.h"
#include "common/stream/field.h"
#include "common/util/buffer.h"
#include "common/value/argument.h"
#include "common/value/json.h"
#include "common/value/value_text.h"

static int render_key(struct buffer *to, const char *name, size_t n)
{
	return json_append_string(to, name, n) || buffer_u8(to, ':') ? -1 : 0;
}

void attributes_init(struct attributes *a, struct dictionary *d)
{
	*a = (struct attributes){.dictionary = d};
	location_names_init_strings(&a->keys, d, render_key);
	a->scratch.spills = a->compound.spills = true;
}

void attributes_free(struct attributes *a)
{
	free(a->items);
	free(a->last);
	free(a->fields);
	if (a->messages) {
		tc_sources_free(&a->messages->sources);
		free(a->messages->types);
		line_free(&a->messages->line);
	}
	free(a->messages);
	location_names_free(&a->keys);
	buffer_free(&a->scratch);
	buffer_free(&a->compound);
	*a = (struct attributes){0};
}

static void attributes_put_record(uint8_t *p, uint32_t name, uint32_t kind, uint64_t number)
{
	put_u32(p, name);
	put_u32(p + 4, kind);
	put_u64(p + 8, number);
}

/* Append an attribute, or one that the source does not name, of the encoder's own. */
static int attributes_append_item(struct attributes *a, struct buffer *to,
				  const struct attribute *item)
{
	bool bytes = item->kind >= ATTRIBUTE_TEXT;
	uint64_t number = item->number;

	if (item->kind == ATTRIBUTE_REAL)
		memcpy(&number, &item->real, sizeof number);
	if (buffer_reserve(to, ATTRIBUTE_RECORD))
		return -1;
	attributes_put_record(to->data + to->size, item->name, item->kind, number);
	to->size += ATTRIBUTE_RECORD;
	if (!bytes)
		return 0;
	if (item->text == (const char *)a->compound.data)
		return buffer_append_from(to, &a->compound, 0, item->number);
	if (item->text == (const char *)a->scratch.data)
		return buffer_append_from(to, &a->scratch, 0, item->number);
	return buffer_append(to, item->text, item->number);
}

/* --- one value as an attribute --- */

/* Append decimal digits, with a minus, in quotes if quote is set. */
static int attribute_put_integer(struct buffer *to, uint64_t number, bool minus, bool quote)
{
	char *p;

	if (buffer_reserve(to, 24))
		return -1;
	p = (char *)to->data + to->size;
	if (quote)
		*p++ = '"';
	if (minus)
		*p++ = '-';
	p = decimal_at(p, number);
	if (quote)
		*p++ = '"';
	to->size = (size_t)((uint8_t *)p - to->data);
	return 0;
}

/* --- a value with its children, as JSON --- */

/* Test for a string that a reader would take for a pointer. */
static bool is_marked(const struct attribute_source *s, uint8_t tag, const struct plain_value *p)
{
	return s->mark_strings && p->kind == PLAIN_TEXT && p->number > 2 && p->number <= 18 &&
	       !memcmp(p->text, "0x", 2) &&
	       (tag == VALUE_STRING || tag == VALUE_WSTRING || tag == VALUE_BLOB);
}

static int json_scalar(void *to, const struct value_item *v)
{
	const struct attribute_source *s = to;
	struct attribute item = {0};
	struct plain_value plain;

	if (value_plain(&s->plain, v, &plain))
		return -1;
	if (is_marked(s, v->value.tag, &plain))
		return buffer_puts(s->json, "\"\\u0030") ||
				       json_append_inside(s->json, plain.text + 1,
							  plain.number - 1) ||
				       buffer_u8(s->json, '"')
			       ? -1
			       : 0;
	item.kind = plain.kind;
	item.number = plain.number;
	item.real = plain.real;
	item.text = plain.text;
	if (!s->out || s->json->size)
		return attribute_json(&item, s->quote_numbers, s->plain.scratch, s->json);
	*s->out = item;
	return 0;
}

static int attributes_json_begin(void *to, const struct value_parent *v, const struct values *rest)
{
	const struct attribute_source *s = to;

	(void)rest;
	return buffer_u8(s->json, v->tag == VALUE_STRUCT ? '{' : '[');
}

VALUE_INLINE int json_child(void *to, const struct value_parent *v, const struct values *rest)
{
	const struct text_ref *name = value_child_name(v);
	struct buffer *json = ((const struct attribute_source *)to)->json;

	(void)rest;
	if (v->index && buffer_u8(json, ','))
		return -1;
	if (v->tag != VALUE_STRUCT)
		return 0;
	if (name && name->size)
		return json_append_string(json, name->text, name->size) || buffer_u8(json, ':') ? -1
												: 0;
	return attribute_put_integer(json, v->index, false, true) || buffer_u8(json, ':') ? -1 : 0;
}

static int attributes_json_end(void *to, const struct value_parent *v)
{
	const struct attribute_source *s = to;

	return buffer_u8(s->json, v->tag == VALUE_STRUCT ? '}' : ']');
}

static int json_single(void *to, float number)
{
	return json_append_float(((const struct attribute_source *)to)->json, number);
}

static int json_small(void *to, uint8_t number)
{
	return buffer_decimal(((const struct attribute_source *)to)->json, number);
}

/* The outermost value may be no JSON. */
static const struct value_style attribute_style = {.scalar = json_scalar,
						   .begin = attributes_json_begin,
						   .child = json_child,
						   .end = attributes_json_end};

static const struct value_style json_style = {.scalar = json_scalar,
					      .begin = attributes_json_begin,
					      .child = json_child,
					      .end = attributes_json_end,
					      .single = json_single,
					      .small = json_small};

/* Append the next value as JSON. */
static int attribute_value_json(struct attribute_source *s, struct values *v, struct buffer *to)
{
	s->json = to;
	s->out = NULL;
	return value_walk(&json_style, s, s->plain.dictionary, v);
}

/* Begin a value that is put in *out. */
static void begin_value(struct attribute_source *s, struct attribute *out)
{
	s->json = s->compound;
	s->out = out;
	buffer_clear(s->compound);
}

/* Take the JSON of a value with children. */
static void take_json(const struct attribute_source *s, struct attribute *out)
{
	if (!s->compound->size)
		return;
	*out = (struct attribute){.kind = ATTRIBUTE_JSON,
				  .text = (const char *)s->compound->data,
				  .number = s->compound->size};
}

/* Convert the next value, with all its children. */
static int attribute_value(struct attribute_source *s, struct values *v, struct attribute *out)
{
	begin_value(s, out);
	if (value_walk(&attribute_style, s, s->plain.dictionary, v))
		return -1;
	take_json(s, out);
	return 0;
}

int attribute_field(struct attribute_source *s, const struct event *ev, const struct field *f,
		    struct attribute *out)
{
	begin_value(s, out);
	if (field_walk(&attribute_style, s, ev, f))
		return -1;
	take_json(s, out);
	return 0;
}

/* Convert one element of an array, or the name of a number. */
static int attribute_part(struct attribute_source *s, const struct event *ev, const struct field *f,
			  const char *name, struct attribute *out)
{
	struct value_item item;

	begin_value(s, out);
	field_named_item(ev, f, name, &item);
	return json_scalar(s, &item);
}

/* Append a field as JSON. */
static int attribute_field_json(struct attribute_source *s, const struct event *ev,
				const struct field *f, struct buffer *to)
{
	s->json = to;
	s->out = NULL;
	return field_walk(&attribute_style, s, ev, f);
}

/* --- attributes of an event --- */

/* Test whether the field is the number that `apitrace dump` prints before the call. The enter has
 * it: a leave need not repeat it. */
static bool is_number_of_call(const struct type *t, const struct field *f)
{
	return f->role == ROLE_CALL && f->name.size && t->kind == KIND_ENTER &&
	       type_is_of(t, "apitrace");
}

/* The TSC of an event that trencode wrote is not an attribute. */
static bool is_attribute(const struct attributes *a, const struct type *t, const struct field *f)
{
	return (field_is_attribute(f) || (a->call_numbers && is_number_of_call(t, f))) &&
	       (f->role != ROLE_SOURCE_TIME || !field_by_role(t, ROLE_ROW));
}

static struct attribute_source attributes_source_of(struct attributes *a, bool blobs)
{
	return (struct attribute_source){.plain = {a->dictionary, &a->scratch, blobs, false},
					 .compound = &a->compound,
					 .quote_numbers = a->quote_numbers,
					 .mark_strings = a->mark_strings};
}

static bool attributes_is_plain(const struct type *t, const struct field *f)
{
	return f->where == WHERE_FIXED && f->kind == FIELD_UINT && f->size == 4 && f->count <= 1 &&
	       (uint64_t)f->offset + 4 <= t->fixed_size && f->role != ROLE_STACK;
}

/* Get the attributes among a type's fields, or NULL when out of memory. */
static const struct attribute_fields *attributes_fields_of(struct attributes *a,
							   const struct type *t)
{
	struct attribute_fields *fields;

	if (ARRAY_REACH(a->fields, a->nfields, t->number))
		return NULL;
	fields = &a->fields[t->number];
	if (fields->known)
		return fields;
	for (uint32_t i = 0; i < t->nfields && i < 64; i++) {
		fields->wanted |= (uint64_t)is_attribute(a, t, &t->fields[i]) << i;
		fields->plain |= (uint64_t)attributes_is_plain(t, &t->fields[i]) << i;
	}
	fields->blobs = argument_blobs(t);
	fields->flows = flows_are_of(t);
	fields->known = true;
	return fields;
}

static bool wants_members(const struct attributes *a, const struct event *ev)
{
	return a->members && ev->type->kind != KIND_COUNTER;
}

/* Append a MEMBER without its value, which the caller appends next; *at is for end_member. */
static inline int begin_member(struct attributes *a, struct buffer *to, uint32_t name, size_t *at)
{
	uint32_t size;
	const char *key = location_names_get(&a->keys, name, &size);

	*at = to->size;
	if (!key || buffer_reserve(to, ATTRIBUTE_RECORD + LOCATION_NAME_SHORT + (size_t)size))
		return -1;
	put_u32(to->data + to->size, name);
	location_names_copy((char *)to->data + to->size + ATTRIBUTE_RECORD, key, size);
	to->size += ATTRIBUTE_RECORD + (size_t)size;
	return 0;
}

static void end_member(struct buffer *to, size_t at)
{
	uint8_t *p = to->data + at;

	attributes_put_record(p, get_u32(p), ATTRIBUTE_MEMBER, to->size - at - ATTRIBUTE_RECORD);
}

/* --- arguments and return values --- */

/* Get the name of an argument as a string, 0 when out of memory. */
static uint32_t argument_name(struct attributes *a, const struct event *ev,
			      const struct location *p, uint64_t index)
{
	const struct text_ref *given = location_argument(p, index);
	size_t slot = index < sizeof a->names / sizeof *a->names ? (size_t)index : 0;
	char text[32];
	uint32_t name;

	if (given)
		return given->number;
	if (slot && a->names[slot])
		return a->names[slot];
	/* of uftrace, or read back from a trace that was converted */
	if (index > FLOAT_ARGUMENTS &&
	    (type_is_of(ev->type, "uftrace") || type_is_of(ev->type, "ctf")))
		snprintf(text, sizeof text, "fparg%" PRIu64, index - FLOAT_ARGUMENTS);
	else
		snprintf(text, sizeof text, "arg%" PRIu64, index);
	name = dictionary_text(a->dictionary, text, strlen(text)).number;
	a->names[slot] = name;
	return name;
}

/* Append a back trace as an array of lines, the innermost frame first, as apitrace prints them. */
static int append_backtrace(struct attributes *a, struct values v, struct buffer *to)
{
	struct apitrace_writer w = {.dictionary = a->dictionary, .out = &a->scratch};
	struct value array, frame;
	struct buffer *json = &a->compound;

	buffer_clear(json);
	if (!values_value(&v, &array) || buffer_u8(json, '['))
		return -1;
	for (uint64_t i = 0; i < array.count; i++) {
		buffer_clear(&a->scratch);
		if (!values_value(&v, &frame) ||
		    text_apitrace_frame(
			    &w, dictionary_definition_id(a->dictionary, frame.definition)) ||
		    (i && buffer_u8(json, ',')) ||
		    json_append_string(json, (const char *)a->scratch.data, a->scratch.size - 1))
			return -1;
	}
	if (buffer_u8(json, ']'))
		return -1;
	return attributes_append_named(a, "backtrace",
				       &(struct attribute){.kind = ATTRIBUTE_JSON,
							   .text = (const char *)json->data,
							   .number = json->size},
				       to);
}

/* Append a detail of a call that is neither argument nor return value. v is before its value. */
static int append_detail(struct attributes *a, const struct event *ev, uint8_t what,
			 struct values v, struct buffer *to)
{
	struct value flags;
	bool fake;

	if (what == DETAIL_BACKTRACE)
		return append_backtrace(a, v, to);
	if (what != DETAIL_FLAGS || !values_value(&v, &flags))
		return 0;
	if (argument_fake(ev, &fake))
		return attributes_append_bool(a, "fake", fake, to);
	return attributes_append_named(
		a, "flags", &(struct attribute){.kind = ATTRIBUTE_UINT, .number = flags.number},
		to);
}

/* Get the string "ret", 0 when out of memory. */
static uint32_t return_name(struct attributes *a)
{
	if (!a->return_name)
		a->return_name = dictionary_text(a->dictionary, "ret", 3).number;
	return a->return_name;
}

/* Test whether the next value is that of a flow. */
static bool attributes_is_flow(const struct attributes *a, const char *name, const struct values *v)
{
	if (a->phase_apart && !strcmp(name, PERFETTO_FLOW_PHASE))
		return true;
	return perfetto_is_flow(name) && v->at < v->end &&
	       (*v->at == VALUE_UINT || *v->at == VALUE_ARRAY);
}

int attributes_append_values(struct attributes *a, const struct event *ev, struct buffer *to)
{
	const struct attribute_fields *fields = attributes_fields_of(a, ev->type);
	struct attribute_source source = attributes_source_of(a, fields && fields->blobs);
	const struct location *location = dictionary_location(a->dictionary, ev->location);
	bool members = wants_members(a, ev);
	struct attribute item;
	struct values v;
	uint64_t index;
	uint32_t name;
	uint8_t what;
	size_t at;

	if (!fields)
		return -1;
	values_begin(&v, ev->tail, ev->tail_size);
	while (values_what(&v, &what, &index)) {
		if (what != DETAIL_ARGUMENT && what != DETAIL_RETURN) {
			if (append_detail(a, ev, what, v, to) || !values_skip(&v))
				return -1;
			continue;
		}
		name = what == DETAIL_ARGUMENT ? argument_name(a, ev, location, index)
					       : return_name(a);
		if (!name)
			return -1;
		if (a->flows_apart && fields->flows &&
		    attributes_is_flow(a, dictionary_string(a->dictionary, name).text, &v)) {
			if (!values_skip(&v))
				return -1;
			continue;
		}
		if (members) {
			if (begin_member(a, to, name, &at) || attribute_value_json(&source, &v, to))
				return -1;
			end_member(to, at);
			continue;
		}
		if (attribute_value(&source, &v, &item))
			return -1;
		item.name = name;
		if (attributes_append_item(a, to, &item))
			return -1;
	}
	return 0;
}

/* --- fields --- */

/* Append the arguments of a call that are one text in the source, of LTTng: "_return". */
static int append_arguments(struct attributes *a, const struct field *f,
			    const struct attribute *text, struct buffer *to)
{
	size_t skip = f->name.size > 1 && f->name.text[0] == '_';
	struct attribute item = *text;

	if (!text->number)
		return 0;
	item.name = dictionary_text(a->dictionary, f->name.text + skip, f->name.size - skip).number;
	return attributes_append_item(a, to, &item);
}

/* Append the number of a call or frame: every event of apitrace has one or two. */
static int append_plain(struct attributes *a, struct buffer *to, uint32_t name, uint32_t number)
{
	size_t at;

	if (begin_member(a, to, name, &at) || attribute_put_integer(to, number, false, false))
		return -1;
	end_member(to, at);
	return 0;
}

int attributes_stack_json(struct attributes *a, uint32_t stack, struct buffer *to)
{
	const struct dictionary *d = a->dictionary;
	struct buffer frames = {0};
	int bad = stack_frames(d, stack, &frames) || buffer_u8(to, '[') ? -1 : 0;

	for (size_t i = 0; i < frames.size / 4 && !bad; i++) {
		char address[LOCATION_TEXT];
		struct text_ref name = stack_frame_name(d, &frames, i, address);

		bad = (i && buffer_u8(to, ',')) || json_append_string(to, name.text, name.size) ? -1
												: 0;
	}
	buffer_free(&frames);
	return bad || buffer_u8(to, ']') ? -1 : 0;
}

/* Append a field that is a stack; nothing if it is none. */
static int attributes_append_stack(struct attributes *a, const struct event *ev,
				   const struct field *f, struct buffer *to)
{
	uint32_t stack = field_stack(a->dictionary, ev, f);
	struct attribute item = {.name = f->name.number, .kind = ATTRIBUTE_JSON};

	if (!stack)
		return 0;
	a->deep += stack_is_deep(a->dictionary, stack);
	buffer_clear(&a->compound);
	if (attributes_stack_json(a, stack, &a->compound))
		return -1;
	item.text = (const char *)a->compound.data;
	item.number = a->compound.size;
	return attributes_append_item(a, to, &item);
}

static int append_fields(struct attributes *a, const struct event *ev, struct buffer *to)
{
	struct attribute_source source = attributes_source_of(a, false);
	const struct attribute_fields *fields = attributes_fields_of(a, ev->type);
	bool members = wants_members(a, ev);
	struct attribute item;
	size_t at;

	if (!fields)
		return -1;
	for (uint32_t i = 0; i < ev->type->nfields; i++) {
		const struct field *f = &ev->type->fields[i];

		if (i < 64 ? !(fields->wanted >> i & 1) : !is_attribute(a, ev->type, f))
			continue;
		if (ev->type->has_stacks && field_is_stack(f)) {
			if (attributes_append_stack(a, ev, f, to))
				return -1;
			continue;
		}
		if (members && i < 64 && fields->plain >> i & 1) {
			if (append_plain(a, to, f->name.number, get_u32(ev->fixed + f->offset)))
				return -1;
			continue;
		}
		if (members && f->role != ROLE_ARGUMENTS) {
			if (begin_member(a, to, f->name.number, &at) ||
			    attribute_field_json(&source, ev, f, to))
				return -1;
			end_member(to, at);
			continue;
		}
		if (attribute_field(&source, ev, f, &item))
			return -1;
		item.name = f->name.number;
		if (f->role == ROLE_ARGUMENTS && item.kind == ATTRIBUTE_TEXT
			    ? append_arguments(a, f, &item, to)
			    : attributes_append_item(a, to, &item))
			return -1;
	}
	return 0;
}

static int append_number(struct attributes *a, const char *name, uint64_t number, struct buffer *to)
{
	return attributes_append_named(
		a, name, &(struct attribute){.kind = ATTRIBUTE_UINT, .number = number}, to);
}

int attributes_append_text(struct attributes *a, const char *name, const char *text, size_t n,
			   struct buffer *to)
{
	return attributes_append_named(
		a, name, &(struct attribute){.kind = ATTRIBUTE_TEXT, .number = n, .text = text},
		to);
}

static int append_gap(struct attributes *a, const struct event *ev, struct buffer *to)
{
	const char *reason;
	struct gap_row g;

	if (!gap_get(ev, &g))
		return 0;
	reason = gap_reason_name(g.reason);
	if (attributes_append_text(a, "reason", reason, strlen(reason), to) ||
	    (g.count != UINT64_MAX && append_number(a, gap_unit_name(g.unit), g.count, to)) ||
	    (g.file_size && attributes_append_text(a, "file", g.file, g.file_size, to)) ||
	    (g.offset != UINT64_MAX && append_number(a, "offset", g.offset, to)))
		return -1;
	return g.message_size ? attributes_append_text(a, "message", g.message, g.message_size, to)
			      : 0;
}

int attributes_meta(struct attributes *a, const struct meta *m)
{
	const struct source *source = meta_source(a->dictionary, m);

	if (!source || strcmp(source->format.text, "trace-cmd") != 0)
		return 0;
	if (!a->messages)
		a->messages = calloc(1, sizeof *a->messages);
	return a->messages ? tc_sources_meta(&a->messages->sources, source, m) : -1;
}

static int append_message(struct attributes *a, const struct event *ev, struct buffer *to)
{
	const char *text;
	size_t size;

	if (kernel_message(a->messages, ev, &text, &size))
		return -1;
	return size ? attributes_append_text(a, "message", text, size, to) : 0;
}

int attributes_append(struct attributes *a, const struct event *ev, struct buffer *to)
{
	if (ev->type->kind == KIND_GAP)
		return append_gap(a, ev, to);
	if (ev->type->flags & TYPE_VALUES && ev->tail_size && attributes_append_values(a, ev, to))
		return -1;
	if (ev->type->nfields && append_fields(a, ev, to))
		return -1;
	return a->messages && kernel_messages_has(ev->type) ? append_message(a, ev, to) : 0;
}

/* Spell the value of a key that is not a field. */
static int key_value(struct attributes *a, const struct event *ev, const char *key,
		     struct attribute *out)
{
	struct attribute_source source = attributes_source_of(a, argument_blobs(ev->type));
	struct plain_value plain = {.kind = PLAIN_NULL};
	struct value_item item;
	bool fake;

	if (argument_by_key(a->dictionary, ev, key, &item.value)) {
		item.definition = dictionary_definition_id(a->dictionary, item.value.definition);
		if (item.value.tag != VALUE_ARRAY && item.value.tag != VALUE_STRUCT &&
		    value_plain(&source.plain, &item, &plain))
			return -1;
	} else if (!strcmp(key, "fake") && argument_fake(ev, &fake)) {
		plain = (struct plain_value){.kind = PLAIN_BOOL, .number = fake};
	}
	*out = (struct attribute){
		.kind = plain.kind, .number = plain.number, .real = plain.real, .text = plain.text};
	return 0;
}

int attributes_append_key(struct attributes *a, const struct event *ev, const struct field *f,
			  struct text_ref key, struct buffer *to)
{
	struct attribute_source source = attributes_source_of(a, false);
	struct field_part part = {false};
	struct attribute item;
	int bad;

	if (f)
		part = field_part(f, key.text);
	if (!f)
		bad = key_value(a, ev, key.text, &item);
	else if (part.element || part.name)
		bad = attribute_part(&source, ev, f, key.text, &item);
	else
		bad = attribute_field(&source, ev, f, &item);
	if (bad)
		return -1;
	if (item.kind == ATTRIBUTE_NULL)
		return 0;
	item.name = key.number;
	return attributes_append_item(a, to, &item);
}

/* --- attributes own --- */

int attributes_append_named(struct attributes *a, const char *name, const struct attribute *item,
			    struct buffer *to)
{
	struct attribute named = *item;

	named.name = dictionary_text(a->dictionary, name, strlen(name)).number;
	return named.name ? attributes_append_item(a, to, &named) : -1;
}

int attributes_append_bool(struct attributes *a, const char *name, bool value, struct buffer *to)
{
	return attributes_append_named(
		a, name, &(struct attribute){.kind = ATTRIBUTE_BOOL, .number = value}, to);
}

/* --- attributes that were appended as records: as items, and as a JSON object --- */

#define DOUBLE_EXACT (1ull << 53)

/* Parse a record that attributes_append_item or end_member wrote. */
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
static int attributes_find_last(struct attributes *a, const struct buffer *from)
{
	const uint8_t *p = from->data, *end = from->size ? p + from->size : p;

	a->first = a->after;
	if (from->size / ATTRIBUTE_RECORD >= UINT32_MAX - a->first) {
		memset(a->last, 0, a->nlast * sizeof(*a->last));
		a->first = 0;
	}
	for (a->after = a->first; p < end;) {
		uint32_t name = get_u32(p), kind = get_u32(p + 4);

		if (ARRAY_REACH(a->last, a->nlast, name))
			return -1;
		a->last[name] = ++a->after;
		p += ATTRIBUTE_RECORD + (kind >= ATTRIBUTE_TEXT ? get_u64(p + 8) : 0);
	}
	return 0;
}

int attributes_read(struct attributes *a, const struct buffer *from)
{
	const uint8_t *p = from->data;

	a->count = 0;
	a->read = from;
	if (attributes_find_last(a, from))
		return -1;
	for (uint32_t i = a->first; i < a->after; i++) {
		struct attribute item = get_record(&p);

		if (a->last[item.name] != i + 1)
			continue;
		if (ARRAY_GROW(a->items, a->capacity, a->count))
			return -1;
		a->items[a->count++] = item;
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
static int attributes_put_member(struct attributes *a, const struct attribute *item,
				 const struct buffer *from, struct buffer *to)
{
	const char *key;
	uint32_t size;

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
		if (attributes_put_member(a, &a->items[i], a->read, to))
			return -1;
	to->size -= a->count > 0;
	return buffer_u8(to, '}');
}

/* Append a MEMBER and a comma. */
static inline int put_short(struct buffer *to, const uint8_t *member, size_t n)
{
	if (buffer_reserve(to, n + 1))
		return -1;
	copy_short(to->data + to->size, member, n);
	to->data[to->size + n] = ',';
	to->size += n + 1;
	return 0;
}

int attributes_object(struct attributes *a, const struct buffer *bytes, struct buffer *to)
{
	const uint8_t *p = bytes->data;

	if (!bytes->size)
		return 0;
	if (attributes_find_last(a, bytes) || buffer_u8(to, '{'))
		return -1;
	for (uint32_t i = a->first; i < a->after; i++) {
		struct attribute item;
		size_t n = get_u64(p + 8);

		/* most records: without these lines 'trdecode | trencode -t ndjson' of
		 * t/bench/apitrace.sh's trace takes 1.05 times as long */
		if (get_u32(p + 4) == ATTRIBUTE_MEMBER && n <= BUFFER_PIECE) {
			if (a->last[get_u32(p)] == i + 1 && put_short(to, p + ATTRIBUTE_RECORD, n))
				return -1;
			p += ATTRIBUTE_RECORD + n;
			continue;
		}
		item = get_record(&p);
		if (a->last[item.name] == i + 1 && attributes_put_member(a, &item, bytes, to))
			return -1;
	}
	to->data[to->size - 1] = '}';
	return 0;
}

bool attributes_keep_numbers(struct attributes *a, const struct type *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->count; i++)
		if (a->items[i].kind >= ATTRIBUTE_INT && a->items[i].kind <= ATTRIBUTE_REAL)
			a->items[kept++] = a->items[i];
	if (!kept)
		return false;
	/* the texts of a mark are the record of its number */
	a->dropped += t->declaration.size ? 0 : a->count - kept;
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
