/*
 * rows.c - what decoders share: arguments, marks of atrace, calls with a duration, rows that wait
 */
#include "cmd/trdecode/input_tree.h"
#include "cmd/trdecode/row_filter.h"
#include "cmd/trdecode/rows.h"

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
#include "common/util/output.h"

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

int arguments_learn(struct argument_table *t, uint32_t function, uint32_t name)
{
	uint32_t *number = rows_number_of(t, function, name);
	struct argument_names *names;

	if (!number || *number)
		return number ? 0 : -1;
	names = arguments_of(t, function);
	if (!names)
		return -1;
	if (names->count == NAMES_MOST)
		return 0;
	if (intern(&t->names, &name, sizeof name) == INTERN_NONE || arguments_add(names, name))
		return -1;
	*number = (uint32_t)names->count;
	return 0;
}

bool arguments_has(const struct argument_table *t, uint32_t name)
{
	return intern_find(&t->names, &name, sizeof name) != INTERN_NONE;
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
		     uint32_t size, struct buffer *details)
{
	const uint8_t *p = values, *end;

	details->size = 0;
	if (!size)
		return 0;
	for (end = p + size; p < end;) {
		uint32_t name = get_u32(p), n = get_u32(p + 4);
		uint32_t *number = rows_number_of(t, function, name);

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

/* --- atrace mark --- */

enum { PARTS = 6 };

bool atrace_mark_number(struct text_span s, int64_t *number)
{
	bool minus = s.at < s.end && *s.at == '-';
	uint64_t n = 0;

	while (s.at < s.end && s.end[-1] == ' ')
		s.end--;
	s.at += minus;
	if (s.at >= s.end)
		return false;
	for (; s.at < s.end; s.at++) {
		unsigned digit = (unsigned char)(*s.at - '0');

		if (digit > 9 || __builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, digit, &n))
			return false;
	}
	if (n > (minus ? 1ull << 63 : INT64_MAX))
		return false;
	*number = (int64_t)(minus ? -n : n);
	return true;
}

/* Split the text after the letter at its bars; the last of at most `most` parts has the rest. */
static unsigned rows_split(struct text_span s, struct text_span *parts, unsigned most)
{
	unsigned n = 0;
	const char *bar;

	while (n + 1 < most && (bar = span_find(s, "|"))) {
		parts[n++] = (struct text_span){s.at, bar};
		s.at = bar + 1;
	}
	parts[n++] = s;
	return n;
}

bool atrace_mark_argument(struct text_span *arguments, struct text_span *key,
			  struct text_span *value)
{
	const char *at = arguments->at, *semicolon = span_find(*arguments, ";"),
		   *end = semicolon ? semicolon : arguments->end,
		   *equal = span_find((struct text_span){at, end}, "=");

	if (!equal || equal == at)
		return false;
	*key = (struct text_span){at, equal};
	*value = (struct text_span){equal + 1, end};
	arguments->at = end + (semicolon != NULL);
	return true;
}

/* Take the arguments and the category from parts. Returns false if they are none. */
static bool take_arguments(struct atrace_mark *m, const struct text_span *p, unsigned n)
{
	struct text_span rest = n ? p[0] : (struct text_span){0}, key, value;

	while (atrace_mark_argument(&rest, &key, &value))
		;
	if (rest.at < rest.end || n > 2)
		return false;
	if (n)
		m->arguments = p[0];
	if (n > 1)
		m->category = p[1];
	return true;
}

/* Get the text from a part to the end of the last one. */
static struct text_span from(const struct text_span *p, unsigned n)
{
	return (struct text_span){p[0].at, p[n - 1].end};
}

/* Take the n parts; the first one is TGID. */
static bool take_parts(struct atrace_mark *m, const struct text_span *p, unsigned n)
{
	static const char letters[] = "EBICSFNGH";
	static const unsigned char least[] = {1, 2, 2, 3, 3, 3, 3, 4, 3};

	if (n < least[strchr(letters, m->what) - letters])
		return false;
	/* a call of a thread may have no name */
	if (m->what != 'E' && m->what != 'B' && p[1].at == p[1].end)
		return false;
	switch (m->what) {
	case 'E':
		if (n > 2)
			take_arguments(m, p + 2, n - 2);
		return true;
	case 'B':
		m->name = take_arguments(m, p + 2, n - 2) ? p[1] : from(p + 1, n - 1);
		return true;
	case 'I': m->name = from(p + 1, n - 1); return true;
	case 'N':
		m->track = p[1];
		m->name = from(p + 2, n - 2);
		return true;
	case 'C':
		m->name = p[1];
		m->category = n > 3 ? p[3] : m->category;
		return atrace_mark_number(p[2], &m->value);
	case 'S':
	case 'F':
		m->name = p[1];
		m->cookie = p[2];
		m->id = from(p, 3);
		return take_arguments(m, p + 3, n - 3);
	default:
		m->track = p[1];
		m->name = n > 3 ? p[2] : (struct text_span){0};
		m->cookie = p[n > 3 ? 3 : 2];
		return true;
	}
}

bool atrace_mark_read(struct atrace_mark *m, const char *text, size_t n)
{
	struct text_span parts[PARTS] = {{0}};
	unsigned count;

	*m = (struct atrace_mark){0};
	if (!n || !memchr("BEISFCNGH", *text, 9) || (n > 1 && text[1] != '|'))
		return false;
	m->what = *text;
	if (n < 2)
		return m->what == 'E';
	count = rows_split((struct text_span){text + 2, text + n}, parts, PARTS);
	m->has_tgid = atrace_mark_number(parts[0], &m->tgid);
	if ((!m->has_tgid && span_size(parts[0])) || !take_parts(m, parts, count))
		return false;
	if (strchr("BGN", m->what) && m->name.at == m->name.end)
		m->name = SPAN("(no name)"); /* as other traces that name calls have it */
	return true;
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
