/*
 * rows.c - what decoders share: arguments, calls with a duration, sums of calls, rows that wait
 */
#include "cmd/trdecode/input_tree.h"
#include "cmd/trdecode/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/formats/perfetto.h"
#include "common/formats/process_names.h"
#include "common/stream/field.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/error.h"
#include "common/util/heap.h"
#include "common/util/text_span.h"
#include "common/value/json.h"

/* --- sums of calls --- */

uint64_t profile_time_unit(struct text_span unit)
{
	static const struct {
		const char *const names[6];
		uint64_t ns;
	} units[] = {
		{{"nanoseconds", "nanosecond", "ns"}, 1},
		{{"microseconds", "microsecond", "us", "\xc2\xb5s", "\xce\xbcs"}, 1000},
		{{"milliseconds", "millisecond", "ms"}, 1000 * 1000},
		{{"seconds", "second", "s", "sec"}, 1000 * 1000 * 1000},
	};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		for (const char *const *name = units[i].names; *name; name++)
			if (span_is(unit, *name))
				return units[i].ns;
	return 0;
}

uint32_t call_sum_type(struct input *in, struct type_entry e)
{
	struct writer *w = in->decoding->writer;
	struct field_entry fields[3 + CALL_SUM_MORE] = {
		{.name = writer_text(w, "weight"), .kind = FIELD_INT, .role = ROLE_PERIOD},
		{.name = writer_text(w, "inclusive"), .kind = FIELD_INT, .role = ROLE_TOTAL},
		{.name = writer_text(w, "calls"), .kind = FIELD_UINT, .role = ROLE_COUNT},
	};
	uint32_t id;

	for (uint32_t i = 0; i < e.nfields && i < CALL_SUM_MORE; i++)
		fields[3 + i] = e.fields[i];
	e.nfields += 3;
	for (uint32_t i = 0; i < e.nfields; i++) {
		fields[i].offset = 8 * i;
		fields[i].size = 8;
	}
	e.kind = KIND_SAMPLE;
	e.fixed_size = 8 * e.nfields;
	e.fields = fields;
	id = writer_type(w, &e);
	return id && row_filter_announce(in->decoding->row_filter, id, 0) ? 0 : id;
}

/* --- arguments --- */

enum { NAMES_MOST = 4096 }; /* arguments of one function that are learnt */

struct argument_names *arguments_of(struct argument_table *t, uint32_t function)
{
	uint32_t *number = key_map_number(&t->numbers, function);

	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(t->functions, t->capacity, t->count))
			return NULL;
		t->functions[t->count++] = (struct argument_names){0};
		*number = (uint32_t)t->count;
	}
	return &t->functions[*number - 1];
}

int arguments_add(struct argument_names *f, uint32_t name)
{
	if (ARRAY_GROW(f->names, f->capacity, f->count))
		return -1;
	f->names[f->count++] = name;
	f->location = 0;
	return 0;
}

void arguments_free(struct argument_table *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->functions[i].names);
	free(t->functions);
	key_map_free(&t->numbers);
	key_map_free(&t->pairs);
	intern_free(&t->names);
}

/* --- all arguments are learnt before the first row --- */

/* Get a pointer to the number of an argument, from 1, 0: not set yet. NULL: out of memory. */
static uint32_t *rows_number_of(struct argument_table *t, uint32_t function, uint32_t name)
{
	return key_map_number(&t->pairs, (uint64_t)function << 32 | name);
}

/* Get a pointer to the number of an argument, which may be new; 0: it is beyond NAMES_MOST. NULL:
 * out of memory. */
static uint32_t *rows_learn(struct argument_table *t, uint32_t function, uint32_t name)
{
	uint32_t *number = rows_number_of(t, function, name);
	struct argument_names *names;

	if (!number || *number)
		return number;
	names = arguments_of(t, function);
	if (!names)
		return NULL;
	if (names->count == NAMES_MOST)
		return number;
	if (intern(&t->names, &name, sizeof name) == INTERN_NONE || arguments_add(names, name))
		return NULL;
	*number = (uint32_t)names->count;
	return number;
}

int arguments_learn(struct argument_table *t, uint32_t function, uint32_t name)
{
	return rows_learn(t, function, name) ? 0 : -1;
}

uint32_t arguments_free_name(const struct argument_table *t, struct writer *w, const char *text)
{
	char longer[64];
	size_t n = strlen(text);
	uint32_t name = writer_text(w, text);

	memcpy(longer, text, n + 1);
	while (name && arguments_has(t, name) && n < sizeof longer - 1) {
		longer[n++] = '_';
		longer[n] = '\0';
		name = writer_text(w, longer);
	}
	return name;
}

uint32_t arguments_location_of(struct argument_table *t, struct writer *w, uint32_t function)
{
	struct argument_names *names = arguments_of(t, function), *ends;
	struct buffer all = {0};
	int failed;

	if (!names || names->location)
		return names ? names->location : 0;
	ends = arguments_of(t, 0);
	names = arguments_of(t, function); /* the array may have moved */
	if (!ends || !names)
		return 0;
	failed = names->count && buffer_append(&all, names->names, 4 * names->count);
	for (size_t i = 0; i < ends->count && !failed; i++) {
		uint32_t *number = rows_number_of(t, function, ends->names[i]);

		if (number && *number)
			continue;
		failed = !number || buffer_u32(&all, ends->names[i]);
		if (!failed)
			*number = (uint32_t)(all.size / 4);
	}
	if (!failed)
		names->location =
			arguments_location(w, function, (const uint32_t *)all.data, all.size / 4);
	buffer_free(&all);
	return failed ? 0 : names->location;
}

int arguments_values(struct argument_table *t, uint32_t function, const uint8_t *values,
		     uint32_t size, bool learn, struct buffer *details)
{
	const uint8_t *p = values, *end;

	if (!size)
		return 0;
	for (end = p + size; p < end;) {
		uint32_t name = get_u32(p), n = get_u32(p + 4);
		uint32_t *number =
			learn ? rows_learn(t, function, name) : rows_number_of(t, function, name);

		p += 8;
		if (!number)
			return -1;
		if (!*number)
			t->nameless++;
		else if (value_put_detail(details, DETAIL_ARGUMENT, *number) ||
			 buffer_append(details, p, n))
			return -1;
		p += n;
	}
	return 0;
}

/* Get how a name is used. NULL: out of memory. */
static struct name_use *rows_name_use(struct name_uses *u, uint32_t name)
{
	return ARRAY_REACH(u->uses, u->capacity, name) ? NULL : &u->uses[name];
}

/* Get a name with a number. 0: out of memory. */
static uint32_t rows_numbered_name(struct writer *w, uint32_t name, uint32_t number)
{
	enum { TEXT_MOST = 256 };
	char text[TEXT_MOST + 16];
	size_t n;
	const char *of = writer_string_of(w, name, &n);

	n = n < TEXT_MOST ? n : TEXT_MOST;
	memcpy(text, of, n);
	n += (size_t)snprintf(text + n, sizeof text - n, "_%" PRIu32, number);
	return writer_string(w, text, n);
}

uint32_t name_uses_other(struct name_uses *u, struct writer *w, uint32_t name)
{
	struct name_use *use = rows_name_use(u, name);
	uint32_t other = name;

	while (use && use->list == u->list) {
		uint32_t number = ++rows_name_use(u, name)->count;

		other = rows_numbered_name(w, name, number);
		/* an event has no more arguments: those of this name are counted and left out */
		if (!other || number > NAMES_MOST)
			return other;
		use = rows_name_use(u, other);
	}
	if (!use)
		return 0;
	*use = (struct name_use){u->list, 1};
	return other;
}

void arguments_report(const struct argument_table *t, const char *file)
{
	warn_count(
		file, t->nameless,
		"{argument|arguments} of names that have more than 4096 different ones {was|were} "
		"left out");
}

int arguments_put_head(struct buffer *b, size_t at, uint32_t definition, uint64_t n)
{
	size_t size = b->size - at, head;
	uint8_t copy[32]; /* a tag and two numbers of at most ULEB_MOST bytes */

	if (definition ? value_put_struct(b, definition, n) : value_put_array(b, n))
		return -1;
	head = b->size - at - size;
	memcpy(copy, b->data + at + size, head);
	memmove(b->data + at + head, b->data + at, size);
	memcpy(b->data + at, copy, head);
	return 0;
}

int arguments_use_structs(struct writer *w, const struct buffer *details)
{
	struct values v;
	struct value value;
	uint8_t what;
	uint64_t index;

	values_begin(&v, details->data, details->size);
	while (values_what(&v, &what, &index))
		for (uint64_t left = 1; left; left--) {
			if (!values_value(&v, &value))
				return 0;
			if (value.tag == VALUE_STRUCT && writer_use_definition(w, value.definition))
				return -1;
			left += value.count;
		}
	return 0;
}

uint32_t arguments_struct(struct writer *w, const uint32_t *names, size_t n)
{
	struct member_entry *members = calloc(n + 1, sizeof *members);
	uint32_t id;

	if (!members)
		return 0;
	for (size_t i = 0; i < n; i++)
		members[i].name = names[i];
	id = writer_definition(w, &(struct definition_entry){.kind = DEFINITION_STRUCT,
							     .nmembers = (uint32_t)n,
							     .members = members});
	free(members);
	return id;
}

uint32_t arguments_location(struct writer *w, uint32_t function, const uint32_t *names, size_t n)
{
	uint32_t arguments = n ? arguments_struct(w, names, n) : 0;

	if (n && !arguments)
		return 0;
	return writer_location(w,
			       &(struct location_entry){.name = function, .arguments = arguments});
}

/* --- objects and arrays of JSON --- */

enum {
	MEMBERS_MOST = 4096,	    /* of an object */
	DEFINITIONS_MOST = 1 << 16, /* of an input: distinct lists of names */
};

/* An object or array that is open. */
struct nested_level {
	size_t at;	/* in the values: what it contains */
	size_t names;	/* of an object, in the names that are read: a word that marks the list */
	uint64_t count; /* of its values */
};

/* Get the definition of an object with the names that were read. *id 0: there are too many. */
static int nested_definition_of(struct nested_json *o, struct writer *w,
				const struct nested_level *l, uint32_t *id)
{
	const uint8_t *first = o->names.data + l->names;
	uint32_t *known = id_cache_number(&o->declared, first, o->names.size - l->names);

	*id = 0;
	if (!known)
		return -1;
	if (!*known) {
		if (o->definitions == DEFINITIONS_MOST)
			return 0;
		*known = arguments_struct(w, (const uint32_t *)(const void *)(first + 4),
					  (o->names.size - l->names) / 4 - 1);
		o->definitions++;
	}
	*id = *known;
	return *id ? 0 : -1;
}

/* End the object or array l. Returns 1: its names exceed the limit. */
static int nested_end_level(struct nested_json *o, struct writer *w, const struct nested_level *l,
			    bool object, struct buffer *to)
{
	uint32_t id = 0;

	if (object) {
		if (nested_definition_of(o, w, l, &id))
			return -1;
		if (!id)
			return 1;
		o->names.size = l->names;
	}
	return arguments_put_head(to, l->at, id, l->count);
}

/* Add the name of a member of the innermost object. Returns 1: it has too many. */
static int nested_add_member(struct nested_json *o, struct writer *w, const struct nested_level *l)
{
	const struct buffer *text = &o->json->text;

	if (l->count == MEMBERS_MOST)
		return 1;
	return buffer_u32(&o->names, writer_string(w, text->data, text->size)) ? -1 : 0;
}

int nested_json_put(struct nested_json *o, struct writer *w, const char *text, size_t n,
		    struct buffer *to)
{
	struct nested_level levels[VALUE_DEPTH];
	enum json_token token;
	unsigned depth = 0;
	int bad = 0;

	if (!o->json && !(o->json = calloc(1, sizeof *o->json)))
		return -1;
	json_open_text(o->json, text, n);
	o->names.size = 0;
	while (!bad) {
		token = json_next(o->json);
		if (token == JSON_BAD || token == JSON_END)
			return 1;
		if (token == JSON_OBJECT || token == JSON_ARRAY) {
			if (depth == VALUE_DEPTH)
				return 1;
			levels[depth++] = (struct nested_level){to->size, o->names.size, 0};
			bad = token == JSON_OBJECT ? buffer_u32(&o->names, 'n') : 0;
			continue;
		}
		if (!depth)
			return 1;
		if (token == JSON_KEY) {
			bad = nested_add_member(o, w, &levels[depth - 1]);
			continue;
		}
		if (token == JSON_OBJECT_END || token == JSON_ARRAY_END) {
			depth--;
			bad = nested_end_level(o, w, &levels[depth], token == JSON_OBJECT_END, to);
			if (!depth)
				return bad;
		} else {
			bad = json_put_scalar(o->json, token, to);
		}
		levels[depth - 1].count++;
	}
	return bad;
}

void nested_json_free(struct nested_json *o)
{
	if (o->json)
		json_close(o->json);
	free(o->json);
	buffer_free(&o->names);
	id_cache_free(&o->declared);
}

/* --- complete calls --- */

static bool sooner(const struct complete_end *a, const struct complete_end *b)
{
	return a->time != b->time ? a->time < b->time : a->serial > b->serial;
}

int complete_calls_push(struct complete_calls *c, const struct complete_end *end)
{
	if (ARRAY_GROW(c->heap, c->capacity, c->count))
		return -1;
	c->heap[c->count] = *end;
	HEAP_UP(c->heap, c->count, a, b, sooner(a, b));
	c->count++;
	return 0;
}

struct complete_end complete_calls_pop(struct complete_calls *c)
{
	struct complete_end top = c->heap[0];

	c->heap[0] = c->heap[--c->count];
	HEAP_DOWN(c->heap, c->count, 0, a, b, sooner(a, b));
	return top;
}

bool complete_calls_overlap(const struct complete_calls *c, const struct complete_end *end,
			    uint64_t limit, bool inexact)
{
	uint64_t bit = end->serial - 1;

	if (c->marks && !c->looking)
		return bit / 8 < c->nmarks && c->marks[bit / 8] >> bit % 8 & 1;
	return complete_ends_outside(end->time, limit, inexact);
}

int complete_calls_mark(struct complete_calls *c, uint64_t serial)
{
	uint64_t bit = serial - 1;

	if (ARRAY_REACH(c->marks, c->nmarks, bit / 8))
		return -1;
	c->marks[bit / 8] |= (uint8_t)(1 << bit % 8);
	return 0;
}

void complete_calls_rewind(struct complete_calls *c)
{
	c->looking = false;
	c->count = 0;
	c->serial = 0;
}

void complete_calls_free(struct complete_calls *c)
{
	free(c->heap);
	free(c->marks);
}

void complete_calls_clipped(const char *file, uint64_t calls)
{
	warn_count(file, calls,
		   "{call that ends after the call around it was|calls that end after "
		   "the call around them were} ended with it");
}

/* --- frames of stacks in text --- */

void text_frame_take_offset(struct text_frame *f)
{
	const char *plus = memrchr(f->function.at, '+', span_size(f->function));
	const char *digits = plus ? plus + 3 : NULL;

	if (plus && f->function.end - plus > 3 && plus[1] == '0' && plus[2] == 'x' &&
	    digits_hex(&digits, f->function.end, &f->offset) && digits == f->function.end)
		f->function.end = plus;
	else
		f->offset = 0;
}

/* Name a function that is not known after its file. -1: out of memory. */
static int rows_put_unknown(struct buffer *name, struct text_span file)
{
	const char *slash = span_size(file) ? memrchr(file.at, '/', span_size(file)) : NULL;

	if (slash)
		file.at = slash + 1;
	if (!text_frame_is_known(file))
		file = SPAN("unknown");
	return buffer_append(name, "[", 1) || buffer_append(name, file.at, span_size(file)) ||
			       buffer_append(name, "]", 1)
		       ? -1
		       : 0;
}

static uint32_t rows_space(struct writer *w, uint32_t source, struct id_cache *spaces,
			   struct text_span file)
{
	uint32_t *id = id_cache_number(spaces, file.at, span_size(file));

	if (id && !*id)
		*id = writer_space(w, &(struct space_entry){
					      .source = source,
					      .name = writer_string(w, file.at, span_size(file))});
	return id ? *id : 0;
}

uint32_t text_frame_location(struct writer *w, uint32_t source, struct id_cache *spaces,
			     const struct text_frame *f)
{
	struct location_entry location = {.address = f->address};
	struct text_span name = f->function;
	struct symbol_entry symbol;
	struct buffer unknown = {0};
	uint32_t id = 0;

	if (!text_frame_is_known(name)) {
		if (rows_put_unknown(&unknown, f->file))
			goto out;
		name = span_of(&unknown);
	}
	location.space = rows_space(w, source, spaces, f->file);
	location.name = writer_string(w, name.at, span_size(name));
	symbol = (struct symbol_entry){.start = f->address - f->offset,
				       .name = name.at,
				       .name_size = (uint32_t)span_size(name),
				       .module = f->file.at,
				       .module_size = (uint32_t)span_size(f->file)};
	id = location.space && location.name ? writer_location(w, &location) : 0;
	if (id && writer_symbol(w, id, &symbol))
		id = 0;
out:
	buffer_free(&unknown);
	return id;
}

/* --- gap arguments --- */

static bool rows_is_text(struct text_ref text, const char *name)
{
	return text.size == strlen(name) && !memcmp(text.text, name, text.size);
}

/* Copy a string; *to remains unchanged if the value is none. */
static void rows_take_text(const struct value *v, char *text, size_t room, const char **to)
{
	if (v->tag != VALUE_STRING)
		return;
	snprintf(text, room, "%.*s", (int)(v->n < room ? v->n : room), (const char *)v->bytes);
	*to = text;
}

/* Read a number; in quotes, as --json-int64=string writes large ones. */
static void take_number(const struct value *v, uint64_t *number)
{
	char text[24], *end;
	uint64_t n;
	bool is_signed;

	if (v->tag == VALUE_STRING) {
		snprintf(text, sizeof text, "%.*s", (int)(v->n < 22 ? v->n : 22),
			 (const char *)v->bytes);
		n = strtoull(text, &end, 10);
		if (*text >= '0' && *text <= '9' && !*end)
			*number = n;
	} else if (value_integer(v, NULL, &n, &is_signed) && !(is_signed && n >> 63)) {
		*number = n;
	}
}

static void take_reason(const struct value *v, struct gap_arguments *a)
{
	struct text_ref text = {.text = (const char *)v->bytes, .size = (uint32_t)v->n};

	for (uint32_t reason = 0; reason <= GAP_UNREAD && v->tag == VALUE_STRING; reason++)
		if (rows_is_text(text, gap_reason_name(reason))) {
			a->gap.reason = reason;
			a->has_reason = true;
		}
}

static void take_argument(struct gap_arguments *a, struct text_ref key, const struct value *v)
{
	struct gap *g = &a->gap;

	if (rows_is_text(key, "reason"))
		take_reason(v, a);
	else if (rows_is_text(key, "file"))
		rows_take_text(v, a->file, sizeof a->file, &g->file);
	else if (rows_is_text(key, "message"))
		rows_take_text(v, a->message, sizeof a->message, &g->message);
	else if (rows_is_text(key, "offset"))
		take_number(v, &g->offset);
	else if (rows_is_text(key, PERFETTO_GAP_CPU) && v->tag == VALUE_UINT &&
		 v->number < UINT16_MAX)
		a->cpu = (int32_t)v->number;
	for (uint32_t unit = GAP_EVENTS; unit <= GAP_PACKETS; unit++)
		if (rows_is_text(key, gap_unit_name(unit))) {
			g->unit = unit;
			take_number(v, &g->count);
		}
}

bool gap_arguments_read(struct gap_arguments *a, const struct writer *w, const uint8_t *values,
			uint32_t size)
{
	const uint8_t *end = values + size;

	*a = (struct gap_arguments){.gap = {.count = UINT64_MAX, .offset = NO_OFFSET}, .cpu = -1};
	for (const uint8_t *p = values; p < end; p += 8 + get_u32(p + 4)) {
		size_t n;
		const char *key = writer_string_of(w, get_u32(p), &n);
		struct values v;
		struct value value;

		values_begin(&v, p + 8, get_u32(p + 4));
		if (values_value(&v, &value))
			take_argument(a, (struct text_ref){.text = key, .size = (uint32_t)n},
				      &value);
	}
	return a->has_reason;
}

/* --- rows that wait --- */

struct queued_row {
	struct new_row row; /* fixed and tail are in data */
	uint64_t number;
	struct row_needs needs; /* definitions are in data */
	size_t size;
	uint8_t data[];
};

static bool row_is_earlier(const struct queued_row *a, const struct queued_row *b)
{
	return a->row.time < b->row.time || (a->row.time == b->row.time && a->number < b->number);
}

/* Write the first row. */
static int row_queue_pop(struct row_queue *q)
{
	struct queued_row *r = q->rows[0];
	int failed = row_needs_use(&r->needs, q->w) || writer_row_data(q->w, r->row);

	q->rows[0] = q->rows[--q->count];
	if (q->count)
		HEAP_DOWN(q->rows, q->count, 0, a, b, row_is_earlier(*a, *b));
	q->bytes -= r->size;
	free(r);
	return failed ? -1 : 0;
}

int row_queue_put(struct row_queue *q, const struct new_row *r, const struct row_needs *needs)
{
	size_t tail = r->has_tail ? r->tail_size : 0, bytes = needs ? needs->bytes : 0;
	size_t size = r->fixed_size + tail + bytes;
	struct queued_row *n;
	uint8_t *p;

	if (ARRAY_GROW(q->rows, q->capacity, q->count))
		return -1;
	n = malloc(sizeof *n + size);
	if (!n)
		return -1;
	n->row = *r;
	n->number = q->added++;
	n->size = sizeof *n + size;
	n->needs = needs ? *needs : (struct row_needs){0};
	p = n->data;
	n->row.fixed = p;
	p = mempcpy(p, r->fixed_size ? r->fixed : "", r->fixed_size);
	n->row.tail = p;
	p = mempcpy(p, tail ? r->tail : "", tail);
	n->needs.definitions = p;
	memcpy(p, bytes ? needs->definitions : (const uint8_t *)"", bytes);
	q->rows[q->count++] = n;
	q->bytes += n->size;
	HEAP_UP(q->rows, q->count - 1, a, b, row_is_earlier(*a, *b));
	while (q->count > ROW_QUEUE_ROWS || (q->count > 1 && q->bytes > ROW_QUEUE_BYTES))
		if (row_queue_pop(q))
			return -1;
	return 0;
}

int row_queue_write(struct row_queue *q, uint64_t until)
{
	while (q->count && q->rows[0]->row.time <= until)
		if (row_queue_pop(q))
			return -1;
	return 0;
}

uint64_t row_queue_next(const struct row_queue *q)
{
	return q->count ? q->rows[0]->row.time : UINT64_MAX;
}

void row_queue_free(struct row_queue *q)
{
	for (size_t i = 0; i < q->count; i++)
		free(q->rows[i]);
	free(q->rows);
	*q = (struct row_queue){0};
}

/* --- process names --- */

int process_names_write(struct writer *w, uint32_t source, const struct id_cache *names)
{
	struct buffer b = {0};
	int failed = 0;

	for (uint32_t i = 0; i < names->keys.count && !failed; i++) {
		const char *name;
		int32_t pid;
		size_t n;

		if (!names->numbers[i])
			continue;
		memcpy(&pid, intern_data(&names->keys, i), sizeof pid);
		name = writer_string_of(w, names->numbers[i], &n);
		failed = buffer_u32(&b, (uint32_t)pid) || buffer_u32(&b, (uint32_t)n) ||
			 buffer_append(&b, name, n);
	}
	if (!failed && b.size)
		failed = writer_meta(w, source, PROCESS_NAMES_META, b.data, b.size);
	buffer_free(&b);
	return failed ? -1 : 0;
}

/* --- types of samples --- */

uint32_t sample_type_declare(struct decoding *d, struct type_entry type, const char *weight,
			     bool is_signed)
{
	struct field_entry field = {.name = writer_text(d->writer, weight),
				    .kind = is_signed ? FIELD_INT : FIELD_UINT,
				    .role = ROLE_PERIOD,
				    .size = 8};
	uint32_t id;

	type.kind = KIND_SAMPLE;
	type.fixed_size = 8;
	type.nfields = 1;
	type.fields = &field;
	id = writer_type(d->writer, &type);
	return id && !row_filter_announce(d->row_filter, id, 0) ? id : 0;
}
