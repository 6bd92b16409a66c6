/*
 * perfetto_events.c - the message TrackEvent: its fields, annotations and typed arguments, as
 * records
 *
 *     track_event { type: TYPE_SLICE_BEGIN, track_uuid: 7, name: "draw",
 *                   debug_annotations { name: "frame", uint_value: 3 } }
 *
 * is a record of a begin on track 7, with the argument frame=3.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/perfetto.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/sorter.h"
#include "common/formats/chrome.h"
#include "common/formats/perfetto.h"
#include "common/protobuf/protobuf.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/intern.h"
#include "common/util/u128.h"

/* of nested values and of a dictionary, as of Trace Event JSON; jq 1.6 reads 127 nested objects */
enum { ANNOTATION_DEPTH_MOST = 64, MEMBERS_MOST = 4096 };

enum { FLOWS_MOST = 64 };

/* Lists of numbers that an event has. */
enum event_list {
	LIST_TRACKS, /* of extra counters */
	LIST_REAL_TRACKS,
	LIST_VALUES,
	LIST_REAL_VALUES,
	LIST_FLOWS,
	LIST_ENDED,
	EVENT_LISTS,
};

/* An event while it is read. */
struct track_event {
	struct perfetto *p;
	struct perfetto_sequence *s;
	const struct perfetto_packet *packet;
	uint64_t time;
	uint64_t type, uuid, counter;
	bool has_track, has_counter, has_real, has_lists;
	uint32_t name, category; /* strings of the writer */
	uint32_t track;		 /* number */
	uint32_t stack;
	int64_t time_delta, thread_time;
	bool has_time_delta, has_thread_time;
	/* what its annotations contain */
	struct {
		bool structs;	 /* a STRUCT */
		bool unfinished; /* the mark of a call without a leave, which is left out */
		bool has_id;	 /* the mark of a call with an id, which is left out: the id */
		uint32_t leave;	 /* the mark of a call whose leave has another name, which is left
				    out: the name; 0 none */
		uint64_t id;
	} annotated;
	/* the message LegacyEvent: an event of Chrome's older format; not set unless it is present,
	   but the phase is */
	struct {
		bool present, has_id, local;
		uint8_t phase;
		int64_t duration; /* us, at least 0 */
		uint64_t id, bind_id, flow_direction;
		uint32_t scope;	  /* string of the writer */
		uint8_t instant;  /* SCOPE_GLOBAL, SCOPE_PROCESS: an instant is not of the thread */
		int32_t pid, tid; /* other than those of the track; -1: none */
	} legacy;
	/* by enum event_list, if has_lists; numbers beyond the limits are left out */
	struct {
		unsigned n;
		uint64_t numbers[FLOWS_MOST];
	} lists[EVENT_LISTS];
};

/* Begin a named value. Returns the offset to end it; SIZE_MAX: out of memory. */
static size_t perfetto_begin_named(struct perfetto *p, uint32_t name)
{
	struct buffer *b = &p->scratch.arguments;
	uint32_t head[2] = {htole32(name), 0};

	return name && !buffer_put(b, head, sizeof head) ? b->size : SIZE_MAX;
}

static int perfetto_end_named(struct perfetto *p, size_t at)
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

static int annotation_put_text(struct buffer *b, struct protobuf_view v, enum value_tag tag)
{
	return value_put_bytes(b, tag, v.at ? (const void *)v.at : "", protobuf_size(v));
}

/* --- members of dictionaries --- */

/* Append a STRUCT, whose members have the names in p->scratch.key from an offset on, which are
 * aligned, and are taken off. The values follow. */
static int perfetto_put_struct(struct track_event *ev, size_t names)
{
	struct perfetto *p = ev->p;
	struct buffer *b = &p->scratch.key;
	size_t n = (b->size - names) / 4;
	/* the buffer has no bytes before its first name */
	const void *list = n ? (const void *)(b->data + names) : "";
	uint32_t *id, name;

	name_uses_begin(&p->arguments.uses);
	for (size_t i = names; i < b->size; i += 4) {
		name = name_uses_next(&p->arguments.uses, p->w, get_u32(b->data + i));
		if (!name)
			return -1;
		put_u32(b->data + i, name);
	}
	id = id_cache_number(&p->definitions, list, 4 * n);
	b->size = names;
	ev->annotated.structs = true;
	if (id && !*id)
		*id = arguments_struct(p->w, list, n);
	return id && *id && !value_put_struct(&p->scratch.arguments, *id, n) ? 0 : -1;
}

/* Append null for a list or dictionary that is nested too deep. */
static int put_too_deep(struct track_event *ev)
{
	ev->p->counts.too_deep++;
	return value_put_simple(&ev->p->scratch.arguments, VALUE_NULL);
}

/* Get the name of an annotation, if it is wanted, and the field of its value. 0: it has no name;
 * number 0: no value. To read each annotation twice costs 6 % of the time. */
static inline uint32_t read_annotation(struct track_event *ev, struct protobuf_view message,
				       bool wanted, struct protobuf_field *value)
{
	struct protobuf_field f;
	uint32_t name = 0;

	value->number = 0;
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case ANNOTATION_NAME_IID:
			if (wanted)
				name = perfetto_interned(ev->p, ev->s, OF_ANNOTATION_NAME, f.value);
			break;
		case ANNOTATION_NAME:
			if (wanted)
				name = perfetto_text(ev->p, f.bytes);
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
				perfetto_check_field(ev->p, MESSAGE_ANNOTATION, &f);
		}
	return name;
}

static int put_annotation(struct track_event *ev, struct protobuf_view message, unsigned depth);
static int annotation_put_nested(struct track_event *ev, struct protobuf_view message,
				 unsigned depth);

/* Append the entries of a dictionary. */
static int put_dict(struct track_event *ev, struct protobuf_view message, unsigned depth)
{
	struct protobuf_view rest = message;
	struct buffer *names = &ev->p->scratch.key;
	size_t start, n = 0;
	struct protobuf_field f, value;

	/* numbers are aligned for perfetto_put_struct */
	if (buffer_align(names, 4))
		return -1;
	start = names->size;
	while (protobuf_next(&rest, &f) > 0 && n < MEMBERS_MOST)
		if (f.number == ANNOTATION_DICT && f.wire == PROTOBUF_LENGTH) {
			uint32_t name = read_annotation(ev, f.bytes, true, &value);

			if (buffer_u32(names, name ? name : ev->p->texts.nothing))
				return -1;
			n++;
		}
	if (perfetto_put_struct(ev, start))
		return -1;
	while (n && protobuf_next(&message, &f) > 0)
		if (f.number == ANNOTATION_DICT && f.wire == PROTOBUF_LENGTH) {
			if (put_annotation(ev, f.bytes, depth + 1))
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

static int annotation_put_array(struct track_event *ev, struct protobuf_view message,
				unsigned depth)
{
	struct protobuf_field f;

	if (value_put_array(&ev->p->scratch.arguments, count_fields(message, ANNOTATION_ARRAY)))
		return -1;
	while (protobuf_next(&message, &f) > 0)
		if (f.number == ANNOTATION_ARRAY && f.wire == PROTOBUF_LENGTH &&
		    put_annotation(ev, f.bytes, depth + 1))
			return -1;
	return 0;
}

/* --- the older nested values --- */

/* Append the dictionary of a nested value: keys and values are two lists. */
static int put_nested_dict(struct track_event *ev, struct protobuf_view message, unsigned depth)
{
	struct protobuf_view rest = message;
	struct buffer *names = &ev->p->scratch.key;
	uint64_t n = count_fields(message, NESTED_DICT);
	struct protobuf_field f;
	size_t start;

	if (buffer_align(names, 4))
		return -1;
	start = names->size;
	while (protobuf_next(&rest, &f) > 0 && (names->size - start) / 4 < n)
		if (f.number == NESTED_KEYS &&
		    buffer_u32(names, f.bytes.at != f.bytes.end ? perfetto_text(ev->p, f.bytes)
								: ev->p->texts.nothing))
			return -1;
	n = (names->size - start) / 4;
	if (n > MEMBERS_MOST)
		n = MEMBERS_MOST;
	names->size = start + 4 * n;
	if (perfetto_put_struct(ev, start))
		return -1;
	while (n && protobuf_next(&message, &f) > 0)
		if (f.number == NESTED_DICT && f.wire == PROTOBUF_LENGTH) {
			if (annotation_put_nested(ev, f.bytes, depth + 1))
				return -1;
			n--;
		}
	return 0;
}

static int annotation_put_nested(struct track_event *ev, struct protobuf_view message,
				 unsigned depth)
{
	enum { DICT = 1, ARRAY = 2 };
	struct buffer *b = &ev->p->scratch.arguments;
	struct protobuf_view rest = message;
	struct protobuf_field f = {0}, last = {0};

	while (protobuf_next(&rest, &f) > 0)
		if (f.number == NESTED_TYPE || f.number >= NESTED_INT || !last.number)
			last = f;
	switch (last.number) {
	case NESTED_INT: return put_int(b, (int64_t)last.value);
	case NESTED_DOUBLE: return value_put_float(b, &(uint64_t){htole64(last.value)}, 8);
	case NESTED_BOOL: return value_put_simple(b, last.value ? VALUE_TRUE : VALUE_FALSE);
	case NESTED_STRING: return annotation_put_text(b, last.bytes, VALUE_STRING);
	case NESTED_TYPE:
		if (last.value != DICT && last.value != ARRAY)
			break;
		if (depth == ANNOTATION_DEPTH_MOST)
			return put_too_deep(ev);
		if (last.value == DICT)
			return put_nested_dict(ev, message, depth);
		if (value_put_array(b, count_fields(message, NESTED_ARRAY)))
			return -1;
		while (protobuf_next(&message, &f) > 0)
			if (f.number == NESTED_ARRAY && f.wire == PROTOBUF_LENGTH &&
			    annotation_put_nested(ev, f.bytes, depth + 1))
				return -1;
		return 0;
	}
	return value_put_simple(b, VALUE_NULL);
}

/* --- annotations --- */

/* Append a string of the writer; 0: "". */
static int annotation_put_string(struct perfetto *p, uint32_t string)
{
	size_t n = 0;
	const char *text = string ? writer_string_of(p->w, string, &n) : "";

	return value_put_bytes(&p->scratch.arguments, VALUE_STRING, text, n);
}

/* Append JSON: its text, but null and what is empty, which have no form of their own. */
static int put_json(struct track_event *ev, struct protobuf_view text)
{
	struct perfetto *p = ev->p;
	size_t n = protobuf_size(text);

	if (n == 4 && !memcmp(text.at, "null", 4))
		return value_put_simple(&p->scratch.arguments, VALUE_NULL);
	if (n == 2 && !memcmp(text.at, "[]", 2))
		return value_put_array(&p->scratch.arguments, 0);
	if (n != 2 || memcmp(text.at, "{}", 2) != 0)
		return annotation_put_text(&p->scratch.arguments, text, VALUE_STRING);
	return buffer_align(&p->scratch.key, 4) ? -1 : perfetto_put_struct(ev, p->scratch.key.size);
}

/* Append the value of an annotation, which is in that field. */
static int annotations_put_value(struct track_event *ev, struct protobuf_view message,
				 const struct protobuf_field *value, unsigned depth)
{
	struct buffer *b = &ev->p->scratch.arguments;

	switch (value->number) {
	case ANNOTATION_BOOL: return value_put_simple(b, value->value ? VALUE_TRUE : VALUE_FALSE);
	case ANNOTATION_UINT: return value_put_uint(b, VALUE_UINT, value->value);
	case ANNOTATION_INT: return put_int(b, (int64_t)value->value);
	case ANNOTATION_DOUBLE: return value_put_float(b, &(uint64_t){htole64(value->value)}, 8);
	case ANNOTATION_POINTER: return value_put_uint(b, VALUE_POINTER, value->value);
	case ANNOTATION_JSON: return put_json(ev, value->bytes);
	case ANNOTATION_STRING: return annotation_put_text(b, value->bytes, VALUE_STRING);
	case ANNOTATION_STRING_IID:
		return annotation_put_string(
			ev->p, perfetto_interned(ev->p, ev->s, OF_ANNOTATION_STRING, value->value));
	case ANNOTATION_NESTED: return annotation_put_nested(ev, value->bytes, depth);
	case ANNOTATION_DICT:
		return depth == ANNOTATION_DEPTH_MOST ? put_too_deep(ev)
						      : put_dict(ev, message, depth);
	case ANNOTATION_ARRAY:
		return depth == ANNOTATION_DEPTH_MOST ? put_too_deep(ev)
						      : annotation_put_array(ev, message, depth);
	case ANNOTATION_PROTO: return annotation_put_text(b, value->bytes, VALUE_BLOB);
	}
	return value_put_simple(b, VALUE_NULL);
}

static int put_annotation(struct track_event *ev, struct protobuf_view message, unsigned depth)
{
	struct protobuf_field value;

	read_annotation(ev, message, false, &value);
	return annotations_put_value(ev, message, &value, depth);
}

/* Take the mark of a call, its id or the name of its leave, from the named value at an offset. The
 * value is removed. */
static int take_mark(struct track_event *ev, size_t start, size_t at)
{
	struct buffer *b = &ev->p->scratch.arguments;
	bool is_id = b->data[at] == VALUE_UINT;
	struct values v;
	struct value value;

	values_begin(&v, b->data + at, b->size - at);
	b->size = start;
	if (!values_value(&v, &value))
		return 0;
	if (is_id)
		ev->annotated.id = value.number;
	else
		ev->annotated.leave = writer_string(ev->p->w, value.bytes, value.n);
	ev->annotated.has_id |= is_id;
	return 0;
}

int perfetto_learn(struct perfetto *p, uint32_t name)
{
	const struct buffer *b = &p->scratch.arguments;

	name_uses_begin(&p->arguments.uses);
	for (size_t i = 0; i < b->size; i += 8 + get_u32(b->data + i + 4)) {
		uint32_t argument = name_uses_next(&p->arguments.uses, p->w, get_u32(b->data + i));

		if (!argument || arguments_learn(&p->arguments.table, name, argument))
			return -1;
		put_u32(b->data + i, argument);
	}
	return 0;
}

/* Append an annotation to p->scratch.arguments. */
static int perfetto_annotation(struct track_event *ev, struct protobuf_view message)
{
	struct perfetto *p = ev->p;
	struct buffer *b = &p->scratch.arguments;
	size_t start = b->size, at;
	struct protobuf_field value;
	uint32_t name = read_annotation(ev, message, true, &value);

	p->scratch.key.size = 0;
	at = perfetto_begin_named(p, name ? name : p->texts.nothing);
	if (at == SIZE_MAX || annotations_put_value(ev, message, &value, 0))
		return -1;
	if ((name == p->texts.leave_name && b->data[at] == VALUE_STRING) ||
	    (name == p->texts.call_id && b->data[at] == VALUE_UINT))
		return take_mark(ev, start, at);
	if (name == p->texts.unfinished && b->size == at + 1 && b->data[at] == VALUE_TRUE) {
		ev->annotated.unfinished = true;
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

/* Append an argument that is a value of an enumeration: its name, or the names of its bits, else
 * the number. */
static int argument_value(struct perfetto *p, const struct perfetto_field *of, uint64_t number)
{
	enum { JANK_BITS = 16 };
	bool bits = of->message == VALUES_JANK;
	const char *name = perfetto_field_of(p, of->message, number)->name;
	struct buffer *b = &p->scratch.text;
	uint32_t text;

	if (bits ? !number || number >> JANK_BITS : !name)
		return perfetto_argument_uint(p, of->name, number);
	b->size = 0;
	for (uint64_t rest = bits ? number : 0; rest; rest &= rest - 1) {
		name = perfetto_field_of(p, of->message, (unsigned)__builtin_ctzll(rest))->name;
		if ((b->size && buffer_u8(b, '|')) || buffer_puts(b, name))
			return -1;
	}
	text = bits ? writer_string(p->w, b->data, b->size) : writer_text(p->w, name);
	return text ? perfetto_argument_string(p, of->name, text) : -1;
}

int perfetto_argument_field(struct perfetto *p, const struct perfetto_field *of,
			    const struct protobuf_field *f)
{
	uint32_t text;

	switch (of->kind) {
	case 'i': return perfetto_argument_int(p, of->name, (int64_t)f->value);
	case 'u': return perfetto_argument_uint(p, of->name, f->value);
	case 'b': return perfetto_argument_bool(p, of->name, f->value);
	case 'm': return argument_value(p, of, f->value);
	case 's':
		text = perfetto_text(p, f->bytes);
		return text ? perfetto_argument_string(p, of->name, text) : 0;
	}
	return 0;
}

static int perfetto_argument_list(struct track_event *ev, const char *name, enum event_list list)
{
	struct buffer *b = &ev->p->scratch.arguments;
	unsigned n = ev->lists[list].n;
	size_t at;

	if (!n)
		return 0;
	at = perfetto_begin_named(ev->p, writer_text(ev->p->w, name));
	if (at == SIZE_MAX || (n > 1 && value_put_array(b, n)))
		return -1;
	for (unsigned i = 0; i < n; i++)
		if (value_put_uint(b, VALUE_UINT, ev->lists[list].numbers[i]))
			return -1;
	return perfetto_end_named(ev->p, at);
}

/*
 * Typed arguments of track events: messages of known types, mostly Chrome's.
 *
 * A message becomes a STRUCT, whose members have the names of its fields; a field that is repeated
 * becomes an ARRAY. A field that perfetto_tables.c does not have is named by its number: a text if
 * it can be one, else a message if it can be one.
 */

enum { TYPED_DEPTH = 8 };

static uint32_t annotation_name_of(struct perfetto *p, const struct perfetto_field *of,
				   uint32_t number)
{
	char text[32];

	if (of->name)
		return writer_text(p->w, of->name);
	snprintf(text, sizeof text, "field %u", (unsigned)number);
	return writer_text(p->w, text);
}

/* Append the STRUCT of a source location. */
static int put_place(struct track_event *ev, uint64_t iid)
{
	struct perfetto *p = ev->p;
	struct buffer *b = &p->scratch.arguments, *names = &p->scratch.key;
	uint32_t number = perfetto_interned(p, ev->s, OF_SOURCE_LOCATION, iid);
	struct perfetto_source_location l;
	size_t start;

	if (!number)
		return value_put_simple(b, VALUE_NULL);
	memcpy(&l, p->source_locations.data + (number - 1) * sizeof l, sizeof l);
	if (buffer_align(names, 4))
		return -1;
	start = names->size;
	if (buffer_u32(names, writer_text(p->w, "file")) ||
	    buffer_u32(names, writer_text(p->w, "function")) ||
	    buffer_u32(names, writer_text(p->w, "line")) || perfetto_put_struct(ev, start))
		return -1;
	return annotation_put_string(p, l.file) || annotation_put_string(p, l.function) ||
			       value_put_uint(b, VALUE_UINT, l.line)
		       ? -1
		       : 0;
}

static bool annotation_is_text(struct protobuf_view v)
{
	for (; v.at < v.end; v.at++)
		if (!isprint(*v.at) && *v.at < 0x80 && !isspace(*v.at))
			return false;
	return true;
}

static bool annotation_is_message(struct protobuf_view v)
{
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&v, &f)) > 0)
		;
	return !got;
}

static int annotation_put_message(struct track_event *ev, struct protobuf_view message,
				  enum perfetto_message m, unsigned depth);

static int typed_put_value(struct track_event *ev, const struct protobuf_field *f,
			   const struct perfetto_field *of, unsigned depth)
{
	struct buffer *b = &ev->p->scratch.arguments;

	if (f->wire == PROTOBUF_LENGTH) {
		if (of->kind == 'm' && depth < TYPED_DEPTH && annotation_is_message(f->bytes))
			return annotation_put_message(ev, f->bytes, of->message, depth + 1);
		if (of->kind == 's' || (of->kind != 'x' && annotation_is_text(f->bytes)))
			return annotation_put_text(b, f->bytes, VALUE_STRING);
		if (!of->kind && depth < TYPED_DEPTH && annotation_is_message(f->bytes))
			return annotation_put_message(ev, f->bytes, MESSAGE_UNKNOWN, depth + 1);
		return annotation_put_text(b, f->bytes, VALUE_BLOB);
	}
	switch (of->kind) {
	case 'i': return put_int(b, (int64_t)f->value);
	case 'b': return value_put_simple(b, f->value ? VALUE_TRUE : VALUE_FALSE);
	case 'l': return put_place(ev, f->value);
	case 'd':
		if (f->wire == PROTOBUF_FIXED64)
			return value_put_float(b, &(uint64_t){htole64(f->value)}, 8);
		break;
	}
	return value_put_uint(b, VALUE_UINT, f->value);
}

/* Append the values of the fields with a number. */
static int annotation_put_values(struct track_event *ev, struct protobuf_view message,
				 uint32_t number, const struct perfetto_field *of, unsigned depth)
{
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		if (f.number == number && typed_put_value(ev, &f, of, depth))
			return -1;
	return 0;
}

static int annotation_put_message(struct track_event *ev, struct protobuf_view message,
				  enum perfetto_message m, unsigned depth)
{
	struct buffer *names = &ev->p->scratch.key;
	struct protobuf_view rest = message;
	uint32_t counts[PERFETTO_FIELDS] = {0};
	struct protobuf_field f;
	size_t start;

	while (protobuf_next(&rest, &f) > 0)
		if (f.number < PERFETTO_FIELDS)
			counts[f.number]++;
	if (buffer_align(names, 4))
		return -1;
	start = names->size;
	for (uint32_t i = 1; i < PERFETTO_FIELDS; i++)
		if (counts[i] &&
		    buffer_u32(names, annotation_name_of(ev->p, perfetto_field_of(ev->p, m, i), i)))
			return -1;
	if (perfetto_put_struct(ev, start))
		return -1;
	for (uint32_t i = 1; i < PERFETTO_FIELDS; i++)
		if ((counts[i] > 1 && value_put_array(&ev->p->scratch.arguments, counts[i])) ||
		    (counts[i] &&
		     annotation_put_values(ev, message, i, perfetto_field_of(ev->p, m, i), depth)))
			return -1;
	return 0;
}

/* Append a field of a track event that is a typed argument, or one of a later version. */
static int perfetto_typed(struct track_event *ev, const struct protobuf_field *f)
{
	struct perfetto *p = ev->p;
	const struct perfetto_field *of = perfetto_field_of(p, MESSAGE_TRACK_EVENT, f->number);
	size_t at = perfetto_begin_named(p, annotation_name_of(p, of, f->number));

	p->scratch.key.size = 0;
	return at == SIZE_MAX || typed_put_value(ev, f, of, 0) ? -1 : perfetto_end_named(p, at);
}

/*
 * Events of Chrome's older format, which have a phase as in Trace Event JSON.
 *
 * The calls of an id are on a track of their own. What the phases mean is in chrome.c.
 */

/* Take the message LegacyEvent. */
static void legacy_read(struct track_event *ev, struct protobuf_view message)
{
	struct protobuf_field f;

	memset(&ev->legacy, 0, sizeof ev->legacy);
	ev->legacy.present = true;
	ev->legacy.pid = ev->legacy.tid = -1;
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case LEGACY_NAME_IID:
			if (!ev->name)
				ev->name = perfetto_interned(ev->p, ev->s, OF_NAME, f.value);
			break;
		case LEGACY_PHASE: ev->legacy.phase = f.value < 128 ? (uint8_t)f.value : 'I'; break;
		case LEGACY_DURATION:
			ev->legacy.duration = (int64_t)f.value < 0 ? 0 : (int64_t)f.value;
			break;
		case LEGACY_ID:
		case LEGACY_LOCAL_ID:
		case LEGACY_GLOBAL_ID:
			ev->legacy.has_id = true;
			ev->legacy.local = f.number == LEGACY_LOCAL_ID;
			ev->legacy.id = f.value;
			break;
		case LEGACY_SCOPE: ev->legacy.scope = perfetto_text(ev->p, f.bytes); break;
		case LEGACY_BIND_ID: ev->legacy.bind_id = f.value; break;
		case LEGACY_FLOW_DIRECTION: ev->legacy.flow_direction = f.value; break;
		case LEGACY_INSTANT_SCOPE: ev->legacy.instant = (uint8_t)f.value; break;
		case LEGACY_PID: ev->legacy.pid = perfetto_take_id(f.value); break;
		case LEGACY_TID: ev->legacy.tid = perfetto_take_id(f.value); break;
		default: perfetto_check_field(ev->p, MESSAGE_LEGACY_EVENT, &f);
		}
}

/* Have the thread or process that the event names instead of its track's. */
static int legacy_override(struct track_event *ev)
{
	const struct perfetto_track *t = &ev->p->tracks.track[ev->track - 1];
	struct perfetto_track_key key = {.kind = PERFETTO_OF_THREAD, .cpu = -1};

	if (ev->legacy.pid < 0 && ev->legacy.tid < 0)
		return 0;
	key.pid = ev->legacy.pid >= 0 ? ev->legacy.pid : t->pid;
	key.tid = ev->legacy.tid >= 0 ? ev->legacy.tid : t->tid;
	ev->track = perfetto_other_track(ev->p, &key);
	return ev->track ? 0 : -1;
}

static struct perfetto_record event_record(const struct track_event *ev, enum perfetto_kind kind)
{
	return (struct perfetto_record){.kind = (uint8_t)kind,
					.flags = ev->annotated.structs ? PERFETTO_STRUCTS : 0,
					.track = ev->track - 1,
					.name = ev->name,
					.category = ev->category,
					.stack = ev->stack};
}

/* Keep the begin or the end of a call with an id. */
static int keep_id(struct track_event *ev, enum perfetto_kind kind)
{
	const struct perfetto_track *t = &ev->p->tracks.track[ev->track - 1];
	/* F does not end the call of a b */
	struct perfetto_track_key key = {.kind = PERFETTO_OF_TRACK,
					 .tid = ev->legacy.phase == 'S' || ev->legacy.phase == 'F',
					 .pid = ev->legacy.local ? t->pid : -1,
					 .name = ev->legacy.scope ? ev->legacy.scope : ev->category,
					 .id = ev->legacy.id};
	struct perfetto_record r = event_record(ev, kind);

	if (!r.name && kind == PERFETTO_ID_BEGIN)
		r.name = ev->p->texts.nothing;
	return perfetto_keep_id(ev->p, ev->time, &r, &key);
}

/* Count numbers of an event that the stream does not contain. */
static void perfetto_events_count_left_out(struct perfetto *p, uint32_t field, uint64_t n)
{
	p->counts.left_out[MESSAGE_TRACK_EVENT][field] += n;
}

/* Add a number of a field to a list. */
static void track_event_add_number(struct track_event *ev, enum event_list list, uint32_t field,
				   uint64_t number)
{
	for (unsigned i = 0; !ev->has_lists && i < EVENT_LISTS; i++)
		ev->lists[i].n = 0;
	ev->has_lists = true;
	if (ev->lists[list].n < (list < LIST_FLOWS ? PERFETTO_EXTRA : FLOWS_MOST))
		ev->lists[list].numbers[ev->lists[list].n++] = number;
	else
		perfetto_events_count_left_out(ev->p, field, 1);
}

/* Add the flows of a legacy event to the lists: bind_id, whatever its direction, and the id of the
 * phases s, t and f, which is of its name and category. */
static void legacy_flows(struct track_event *ev)
{
	char phase = (char)ev->legacy.phase;
	struct perfetto_track_key key = {
		.kind = PERFETTO_OF_FLOW,
		.pid = ev->legacy.local ? ev->p->tracks.track[ev->track - 1].pid : -1,
		.name = ev->name,
		.scope = ev->legacy.scope ? ev->legacy.scope : ev->category,
		.id = ev->legacy.id};

	if (ev->legacy.bind_id && ev->legacy.flow_direction)
		track_event_add_number(ev, LIST_FLOWS, EVENT_LEGACY, ev->legacy.bind_id);
	if (ev->legacy.has_id && (phase == 's' || phase == 't' || phase == 'f'))
		track_event_add_number(ev, phase == 'f' ? LIST_ENDED : LIST_FLOWS, EVENT_LEGACY,
				       perfetto_id_of(&key).hash);
}

enum { PERFETTO_ORDER_UNSEEN };

/* Keep an event as a record of that kind. */
static int track_event_keep(struct track_event *ev, enum perfetto_kind kind, unsigned flags,
			    uint64_t value)
{
	bool begins = kind == PERFETTO_BEGIN;
	struct perfetto_record r = event_record(ev, kind);
	struct sorter_key key = {ev->time, PERFETTO_ORDER};
	struct perfetto_track *t = &ev->p->tracks.track[ev->track - 1];

	r.flags |= flags;
	/* which call the end is of is not known yet, so its arguments are learned for calls of any
	   name; its own name is that of an annotation of the leave */
	if (kind == PERFETTO_END && (ev->annotated.leave || !r.name))
		r.name = ev->annotated.leave;
	else if (kind == PERFETTO_END)
		r.flags |= PERFETTO_NAMED;
	else if (!r.name && kind != PERFETTO_STATE)
		r.name = ev->p->texts.nothing;
	if (ev->p->scratch.arguments.size &&
	    perfetto_learn(ev->p, kind == PERFETTO_END ? 0 : r.name))
		return -1;
	if (begins && flags & PERFETTO_COMPLETE)
		t->calls.completes = true;
	else if (begins)
		t->calls.begins = true;
	if (begins && t->before)
		key.second = PERFETTO_ORDER_UNSEEN;
	else if (begins && ev->legacy.phase == 'X')
		/* of calls that begin at one time, the longest is outermost */
		key.second -= 1 + (uint64_t)ev->legacy.duration;
	return perfetto_keep_ordered(ev->p, key, &r, value);
}

/* Keep a call with a duration. */
static int keep_complete(struct track_event *ev)
{
	uint64_t duration;

	if (__builtin_mul_overflow((uint64_t)ev->legacy.duration, 1000u, &duration) ||
	    duration >= TIME_LIMIT - ev->time) {
		perfetto_damage(ev->p, ev->packet, "a call with an impossible duration");
		return 0;
	}
	ev->legacy.duration = (int64_t)duration;
	if (ev->time + duration > ev->p->last)
		ev->p->last = ev->time + duration;
	return track_event_keep(ev, PERFETTO_BEGIN, PERFETTO_VALUE | PERFETTO_COMPLETE,
				ev->time + duration);
}

/* Have the track of an instant that is of a process, or of no thread. */
static int instant_track(struct track_event *ev)
{
	struct perfetto_track_key key = {.kind = PERFETTO_OF_PROCESS,
					 .pid = ev->p->tracks.track[ev->track - 1].pid,
					 .tid = -1,
					 .cpu = -1};

	if (ev->legacy.instant == SCOPE_GLOBAL)
		ev->track = perfetto_track(ev->p, 0);
	else if (ev->legacy.instant == SCOPE_PROCESS && key.pid >= 0)
		ev->track = perfetto_other_track(ev->p, &key);
	return ev->track ? 0 : -1;
}

/* Keep an event that has the message LegacyEvent. */
static int legacy_keep(struct track_event *ev)
{
	static const char types[] = {0, 'B', 'E', 'I', 'C', 'I'};
	char phase = (char)ev->legacy.phase;

	if (!phase)
		phase = ev->type < sizeof types ? types[ev->type] : 'I';
	if (ev->legacy.bind_id && !ev->legacy.flow_direction &&
	    perfetto_argument_uint(ev->p, "bind_id", ev->legacy.bind_id))
		return -1;
	switch (phase) {
	case 'b':
	case 'S': return keep_id(ev, PERFETTO_ID_BEGIN);
	case 'B': return track_event_keep(ev, PERFETTO_BEGIN, 0, 0);
	case 'E': return track_event_keep(ev, PERFETTO_END, 0, 0);
	case 'e':
	case 'F': return keep_id(ev, PERFETTO_ID_END);
	case 'X': return keep_complete(ev);
	case 'C': return track_event_keep(ev, PERFETTO_COUNTER_VALUES, 0, 0);
	case 'M': return 0;
	}
	if (ev->legacy.instant && instant_track(ev))
		return -1;
	return track_event_keep(ev, PERFETTO_INSTANT, 0, 0);
}

/* --- counters --- */

/* What an incremental counter has reached in a sequence that is not the last to count. */
struct reached {
	int64_t value;
	double real_value;
	uint32_t generation;
};

/* Get what a counter has reached in a sequence. NULL: out of memory. */
static uint8_t *reached_in(struct perfetto *p, uint32_t track, uint32_t sequence)
{
	uint32_t *number = key_map_number(&p->tracks.counting, (uint64_t)track << 32 | sequence);
	struct buffer *all = &p->tracks.reached;

	if (!number || (!*number && buffer_zero(all, sizeof(struct reached))))
		return NULL;
	if (!*number)
		*number = (uint32_t)(all->size / sizeof(struct reached));
	return all->data + (*number - 1) * sizeof(struct reached);
}

/* Have an incremental counter count on from its last value in this sequence, or from 0. */
static int switch_sequence(struct perfetto *p, const struct perfetto_sequence *s, uint32_t number)
{
	struct perfetto_track *t = &p->tracks.track[number - 1];
	struct reached now = {t->value, t->real_value, t->generation};
	uint8_t *at;

	if (t->sequence != s->number) {
		at = reached_in(p, number, t->sequence);
		if (!at)
			return -1;
		memcpy(at, &now, sizeof now);
		at = reached_in(p, number, s->number);
		if (!at)
			return -1;
		memcpy(&now, at, sizeof now);
	}
	if (now.generation != s->generation)
		now = (struct reached){0};
	t->value = now.value;
	t->real_value = now.real_value;
	t->sequence = s->number;
	t->generation = s->generation;
	return 0;
}

/* Keep the value of a counter: that of an incremental one is a difference. */
static int keep_counter(struct track_event *ev, uint32_t number, uint64_t bits, bool real)
{
	struct perfetto *p = ev->p;
	struct perfetto_track *t = number ? &p->tracks.track[number - 1] : NULL;
	struct perfetto_record r = {.kind = real ? PERFETTO_COUNTER_REAL : PERFETTO_COUNTER,
				    .flags = PERFETTO_VALUE,
				    .track = number - 1};
	double value;

	/* extra counters of an event have no category */
	if (ev->type == TYPE_COUNTER)
		r.category = ev->category;

	if (!t)
		return -1;
	if (t->incremental &&
	    (t->sequence != ev->s->number || t->generation != ev->s->generation) &&
	    switch_sequence(p, ev->s, number))
		return -1;
	if (t->incremental && real) {
		memcpy(&value, &bits, sizeof value);
		value = t->real_value += value;
		memcpy(&bits, &value, sizeof bits);
	} else if (t->incremental) {
		bits = (uint64_t)(t->value = add_wrapping(t->value, (int64_t)bits));
	}
	p->scratch.arguments.size = 0;
	return perfetto_keep(p, ev->time, &r, bits);
}

/* Keep the extra counters of an event. Their tracks are those of the event, or of the defaults. */
static int keep_extra(struct track_event *ev)
{
	for (unsigned real = 0; real < 2; real++) {
		unsigned own = ev->lists[LIST_TRACKS + real].n;
		unsigned n = own ? own : ev->s->defaults.nextra[real];
		unsigned nvalues = ev->lists[LIST_VALUES + real].n;
		const uint64_t *tracks =
			own ? ev->lists[LIST_TRACKS + real].numbers : ev->s->defaults.extra[real];

		for (unsigned i = 0; i < n && i < nvalues; i++)
			if (keep_counter(ev, perfetto_track(ev->p, tracks[i]),
					 ev->lists[LIST_VALUES + real].numbers[i], real))
				return -1;
		perfetto_events_count_left_out(ev->p,
					       real ? EVENT_EXTRA_REAL_VALUES : EVENT_EXTRA_VALUES,
					       nvalues > n ? nvalues - n : 0);
	}
	return 0;
}

/* --- reading --- */

/* Append numbers of a field, varints or 8 bytes each, which may be packed. */
static int perfetto_events_take_list(struct track_event *ev, enum event_list list,
				     struct protobuf_field *f, bool fixed)
{
	struct protobuf_view rest = f->bytes;
	uint64_t value;

	if (f->wire == PROTOBUF_FIXED64)
		track_event_add_number(ev, list, f->number, f->value);
	else
		while (fixed ? protobuf_fixed(&rest, 8, &value) : protobuf_each(f, &rest, &value))
			track_event_add_number(ev, list, f->number, value);
	return 0;
}

/* Add a category; several are separated by commas. */
static int add_category(struct track_event *ev, uint32_t category)
{
	struct perfetto *p = ev->p;
	struct buffer *b = &p->scratch.text;
	const char *text;
	size_t n;

	if (!ev->category || !category) {
		ev->category = category ? category : ev->category;
		return 0;
	}
	b->size = 0;
	text = writer_string_of(p->w, ev->category, &n);
	if (buffer_append(b, text, n) || buffer_u8(b, ','))
		return -1;
	text = writer_string_of(p->w, category, &n);
	if (buffer_append(b, text, n))
		return -1;
	ev->category = writer_string(p->w, b->data, b->size);
	return ev->category ? 0 : -1;
}

static int add_categories(struct track_event *ev, struct protobuf_field *f)
{
	struct protobuf_view rest = f->bytes;
	uint64_t iid;

	while (protobuf_each(f, &rest, &iid))
		if (add_category(ev, perfetto_interned(ev->p, ev->s, OF_CATEGORY, iid)))
			return -1;
	return 0;
}

static int add_source_location(struct perfetto *p, const struct perfetto_source_location *l)
{
	return (l->file && perfetto_argument_string(p, "file", l->file)) ||
			       (l->function &&
				perfetto_argument_string(p, "function", l->function)) ||
			       (l->line && perfetto_argument_uint(p, "line", l->line))
		       ? -1
		       : 0;
}

static int add_interned_location(struct perfetto *p, const struct perfetto_sequence *s,
				 uint64_t iid)
{
	uint32_t number = perfetto_interned(p, s, OF_SOURCE_LOCATION, iid);
	struct perfetto_source_location l;

	if (!number)
		return 0;
	memcpy(&l, p->source_locations.data + (number - 1) * sizeof l, sizeof l);
	return add_source_location(p, &l);
}

static int add_log_message(struct perfetto *p, const struct perfetto_sequence *s,
			   struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t body;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case LOG_BODY_IID:
			body = perfetto_interned(p, s, OF_LOG_BODY, f.value);
			if (body && perfetto_argument_string(p, "message", body))
				return -1;
			break;
		case LOG_SOURCE_IID:
			if (add_interned_location(p, s, f.value))
				return -1;
			break;
		case LOG_PRIORITY:
			if (perfetto_argument_uint(p, "prio", f.value))
				return -1;
			break;
		}
	return 0;
}

/* Take a field that few events have. */
static int perfetto_events_take_rare(struct track_event *ev, struct protobuf_field *f)
{
	struct perfetto *p = ev->p;
	const struct perfetto_sequence *s = ev->s;
	struct perfetto_source_location l;
	uint32_t string;

	switch (f->number) {
	case EVENT_CATEGORIES: return add_category(ev, perfetto_text(p, f->bytes));
	case EVENT_SOURCE_LOCATION:
		l = perfetto_source_location(p, f->bytes);
		return add_source_location(p, &l);
	case EVENT_SOURCE_LOCATION_IID: return add_interned_location(p, s, f->value);
	case EVENT_LOG_MESSAGE: return add_log_message(p, s, f->bytes);
	case EVENT_EXTRA_TRACKS: return perfetto_events_take_list(ev, LIST_TRACKS, f, false);
	case EVENT_EXTRA_REAL_TRACKS:
		return perfetto_events_take_list(ev, LIST_REAL_TRACKS, f, false);
	case EVENT_EXTRA_VALUES: return perfetto_events_take_list(ev, LIST_VALUES, f, false);
	case EVENT_EXTRA_REAL_VALUES:
		return perfetto_events_take_list(ev, LIST_REAL_VALUES, f, true);
	case EVENT_FLOWS_OLD:
	case EVENT_FLOWS:
		return perfetto_events_take_list(ev, LIST_FLOWS, f, f->number == EVENT_FLOWS);
	case EVENT_ENDED_FLOWS_OLD:
	case EVENT_ENDED_FLOWS:
		return perfetto_events_take_list(ev, LIST_ENDED, f, f->number == EVENT_ENDED_FLOWS);
	case EVENT_CORRELATION: return perfetto_argument_uint(p, "correlation_id", f->value);
	case EVENT_CORRELATION_TEXT:
		string = perfetto_text(p, f->bytes);
		return string ? perfetto_argument_string(p, "correlation_id", string) : 0;
	case EVENT_CORRELATION_IID:
		string = perfetto_interned(p, s, OF_CORRELATION, f->value);
		return string ? perfetto_argument_string(p, "correlation_id", string) : 0;
	case EVENT_CALLSTACK: ev->stack = perfetto_inline_stack(p, f->bytes); return 0;
	case EVENT_CALLSTACK_IID:
		ev->stack = perfetto_interned(p, s, OF_CALLSTACK, f->value);
		return 0;
	case EVENT_TIME_DELTA:
	case EVENT_TIME:
		ev->has_time_delta = f->number == EVENT_TIME_DELTA;
		ev->time_delta = (int64_t)f->value;
		return 0;
	case EVENT_THREAD_TIME_DELTA:
	case EVENT_THREAD_TIME:
		ev->has_thread_time = true;
		ev->thread_time = (int64_t)f->value;
		if (f->number == EVENT_THREAD_TIME_DELTA)
			ev->thread_time = add_wrapping(ev->thread_time, s->thread_time);
		return 0;
	}
	return perfetto_typed(ev, f);
}

/* Read the fields of an event. */
static int perfetto_events_take_event(struct track_event *ev)
{
	struct protobuf_view rest = ev->packet->payload;
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&rest, &f)) > 0) {
		int failed = 0;

		switch (f.number) {
		case EVENT_TYPE: ev->type = f.value; break;
		case EVENT_TRACK:
			ev->uuid = f.value;
			ev->has_track = true;
			break;
		case EVENT_NAME_IID:
			ev->name = perfetto_interned(ev->p, ev->s, OF_NAME, f.value);
			break;
		case EVENT_NAME: ev->name = perfetto_text(ev->p, f.bytes); break;
		case EVENT_CATEGORY_IIDS: failed = add_categories(ev, &f); break;
		case EVENT_ANNOTATION: failed = perfetto_annotation(ev, f.bytes); break;
		case EVENT_COUNTER:
		case EVENT_COUNTER_REAL:
			ev->has_counter = true;
			ev->has_real = f.number == EVENT_COUNTER_REAL;
			ev->counter = f.value;
			break;
		case EVENT_LEGACY: legacy_read(ev, f.bytes); break;
		default: failed = perfetto_events_take_rare(ev, &f);
		}
		if (failed)
			return -1;
	}
	if (got < 0)
		perfetto_damage(ev->p, ev->packet,
				"no field of a track event: the rest is left out");
	return 0;
}

/* Find the track of an event: that of its uuid, or the sequence's default, or its thread. */
static int find_track(struct track_event *ev)
{
	const struct perfetto_sequence *s = ev->s;
	uint64_t uuid = ev->has_track ? ev->uuid : s->defaults.has_track ? s->defaults.track : 0;
	/* an event with a phase instead of a type has the uuid 0 to be on the sequence's thread */
	bool on_thread = !uuid && s->has_thread && (!ev->has_track || !ev->type);

	ev->track = on_thread ? s->thread_track : perfetto_track(ev->p, uuid);
	return ev->track ? 0 : -1;
}

bool perfetto_time_us(struct perfetto *p, struct perfetto_sequence *s, int64_t us, uint64_t *time)
{
	if (__builtin_mul_overflow(us, 1000u, time)) {
		p->counts.wrong_times++;
		return false;
	}
	return perfetto_time(p, s, CLOCK_MONOTONIC_ID, time);
}

/* Find the time of an event whose packet has none. Returns false if it has none either. */
static bool perfetto_events_find_time(struct track_event *ev)
{
	if (ev->packet->has_time) {
		ev->time = ev->packet->time;
		return true;
	}
	if (ev->has_time_delta)
		ev->time_delta = ev->s->time = add_wrapping(ev->s->time, ev->time_delta);
	if (!perfetto_time_us(ev->p, ev->s, ev->time_delta, &ev->time))
		return false;
	ev->s->last_time = ev->time;
	return true;
}

static int perfetto_events_keep_event(struct track_event *ev)
{
	unsigned unfinished = ev->annotated.unfinished ? PERFETTO_UNFINISHED : 0;

	if (ev->annotated.unfinished && ev->type != TYPE_END &&
	    perfetto_argument_bool(ev->p, CHROME_UNFINISHED, true))
		return -1;
	if (ev->annotated.leave && ev->type != TYPE_END &&
	    perfetto_argument_string(ev->p, CHROME_LEAVE_NAME, ev->annotated.leave))
		return -1;
	/* an event with a type has the uuid 0 if it names its thread */
	if (ev->legacy.present && (!ev->type || ev->legacy.phase || !ev->uuid) &&
	    legacy_override(ev))
		return -1;
	if (ev->legacy.present && (!ev->type || ev->legacy.phase))
		return legacy_keep(ev);
	switch (ev->type) {
	case TYPE_BEGIN:
		return ev->annotated.has_id
			       ? track_event_keep(ev, PERFETTO_BEGIN,
						  PERFETTO_VALUE | PERFETTO_BY_ID, ev->annotated.id)
			       : track_event_keep(ev, PERFETTO_BEGIN, 0, 0);
	case TYPE_END: return track_event_keep(ev, PERFETTO_END, unfinished, 0);
	case TYPE_STATE: return track_event_keep(ev, PERFETTO_STATE, 0, 0);
	case TYPE_COUNTER:
		return ev->has_counter ? keep_counter(ev, ev->track, ev->counter, ev->has_real) : 0;
	}
	return track_event_keep(ev, PERFETTO_INSTANT, 0, 0);
}

int perfetto_track_event(struct perfetto *p, struct perfetto_sequence *s,
			 const struct perfetto_packet *packet)
{
	struct track_event ev;

	memset(&ev, 0, offsetof(struct track_event, lists));
	ev.p = p;
	ev.s = s;
	ev.packet = packet;
	p->scratch.arguments.size = 0;
	if (perfetto_events_take_event(&ev))
		return -1;
	if (ev.has_counter && ev.type != TYPE_COUNTER)
		perfetto_events_count_left_out(p, ev.has_real ? EVENT_COUNTER_REAL : EVENT_COUNTER,
					       1);
	if (ev.has_thread_time) {
		s->thread_time = ev.thread_time;
		if (perfetto_argument_int(p, "tts", ev.thread_time))
			return -1;
	}
	if (!perfetto_events_find_time(&ev))
		return 0;
	if (find_track(&ev))
		return -1;
	if (ev.legacy.present)
		legacy_flows(&ev);
	if (!ev.has_lists)
		return perfetto_events_keep_event(&ev);
	if (perfetto_argument_list(&ev, PERFETTO_FLOWS, LIST_FLOWS) ||
	    perfetto_argument_list(&ev, PERFETTO_ENDED_FLOWS, LIST_ENDED) ||
	    perfetto_events_keep_event(&ev))
		return -1;
	return keep_extra(&ev);
}
