/*
 * atrace.c - the marks that atrace writes to trace_marker, and the rows of them
 *
 *     B|611|draw        an enter, of the type begin, at the location draw
 *     C|611|queue|2     a row of the counter queue, with the value 2
 *     E|611             a leave, of the type end, at the location draw
 */
#include "cmd/trdecode/atrace.h"

#include <stdlib.h>
#include <string.h>

#include "common/ftrace/event_format.h"
#include "common/ftrace/print_format.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/hash.h"

/* --- the text of a mark --- */

enum { PARTS = 6 };

static bool atrace_number(struct text_span s, int64_t *number)
{
	bool minus = s.at < s.end && *s.at == '-';
	uint64_t n = 0;

	if (!s.at)
		return false;
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
static unsigned atrace_split(struct text_span s, struct text_span *parts, unsigned most)
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
		return atrace_number(p[2], &m->value);
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
	count = atrace_split((struct text_span){text + 2, text + n}, parts, PARTS);
	m->has_tgid = atrace_number(parts[0], &m->tgid);
	if ((!m->has_tgid && span_size(parts[0])) || !take_parts(m, parts, count))
		return false;
	m->has_number = atrace_number(m->cookie, &m->number);
	if (strchr("BGN", m->what) && m->name.at == m->name.end)
		m->name = SPAN("(no name)"); /* as other traces that name calls have it */
	return true;
}

/* --- the row of a mark --- */

enum {
	ATRACE_ASYNC_MOST = 1 << 16, /* open asynchronous calls whose names are kept */
	ATRACE_CALLS_MOST = 4096,    /* the same, of a thread */
};

static uint32_t atrace_location(struct atrace_calls *c, struct writer *w, struct text_span name)
{
	uint32_t string = writer_string(w, name.at, span_size(name)), *id;

	id = string ? id_cache_number(&c->locations, &string, sizeof string) : NULL;
	if (id && !*id)
		*id = writer_location(w, &(struct location_entry){.name = string});
	return id ? *id : 0;
}

/* Make the row of the begin of a thread's call. */
static int atrace_begin(struct atrace_calls *c, uint32_t thread, struct atrace_row *r)
{
	struct atrace_call call = {.location = r->location};
	uint32_t *number = key_map_number(&c->numbers, thread);
	size_t n;

	if (!number)
		return -1;
	if (!*number) {
		if (ARRAY_GROW(c->thread, c->capacity, c->nthreads))
			return -1;
		memset(&c->thread[c->nthreads], 0, sizeof *c->thread);
		*number = (uint32_t)++c->nthreads;
	}
	if (c->graph)
		r->call = call.number = ++c->ncalls;
	n = c->thread[*number - 1].ncalls;
	if (n >= ATRACE_CALLS_MOST)
		return 0;
	if (ARRAY_GROW(c->thread[*number - 1].calls, c->thread[*number - 1].capacity, n))
		return -1;
	c->thread[*number - 1].calls[c->thread[*number - 1].ncalls++] = call;
	return 0;
}

/* Make the row of the end of a thread's call. */
static int atrace_end(struct atrace_calls *c, struct writer *w, uint32_t thread,
		      struct atrace_row *r)
{
	uint32_t number = (uint32_t)key_map_get(&c->numbers, thread);
	struct atrace_call call = {0};

	if (number && c->thread[number - 1].ncalls)
		call = c->thread[number - 1].calls[--c->thread[number - 1].ncalls];
	r->location = call.location ? call.location : atrace_location(c, w, SPAN("?"));
	r->call = call.number || !c->graph ? call.number : ++c->ncalls;
	return r->location ? 0 : -1;
}

/* Make the row of the begin or the end of an asynchronous call. */
static int atrace_async(struct atrace_calls *c, struct writer *w, const struct atrace_mark *m,
			struct atrace_row *r)
{
	static const struct siphash_key of_name = {0x66, 0x74}, of_track = {0x66, 0x75};
	uint64_t parts[3] = {(uint64_t)m->tgid,
			     siphash(&of_track, m->track.at, span_size(m->track)),
			     siphash(&of_track, m->cookie.at, span_size(m->cookie))};
	uint64_t hash = span_size(m->track) ? siphash(&of_track, parts, sizeof parts)
					    : siphash(&of_name, m->id.at, span_size(m->id));
	uint32_t high = (uint32_t)(hash >> 33), low = (uint32_t)(hash >> 1);
	uint64_t known;

	r->has_cookie = m->has_number;
	r->cookie = m->number;
	if (r->kind == KIND_ENTER) {
		r->call = ++c->ncalls;
		known = (uint64_t)r->location << 32 | r->call;
		return open_calls_count(&c->async) < ATRACE_ASYNC_MOST
			       ? open_calls_put(&c->async, high, low, known)
			       : 0;
	}
	if (open_calls_take(&c->async, high, low, &known)) {
		r->call = (uint32_t)known;
		if (!r->location)
			r->location = (uint32_t)(known >> 32);
	} else {
		r->call = ++c->ncalls; /* of a call that began before the trace */
	}
	if (!r->location)
		r->location = atrace_location(c, w, SPAN("?"));
	return r->location ? 0 : -1;
}

int atrace_row_of(struct atrace *a, struct writer *w, uint32_t thread, const struct atrace_mark *m,
		  struct atrace_row *r)
{
	struct atrace_calls *c = &a->calls;
	bool begin = strchr("BSG", m->what), async = strchr("SGFH", m->what);
	int failed = 0;

	*r = (struct atrace_row){.kind = begin ? KIND_ENTER : KIND_LEAVE, .value = m->value};
	if (m->what == 'C') {
		r->kind = KIND_COUNTER;
		r->type = m->name;
		return 0;
	}
	if (m->what != 'E' && span_size(m->name)) {
		r->location = atrace_location(c, w, m->name);
		if (!r->location)
			return -1;
	}
	if (m->what == 'I' || m->what == 'N') {
		r->kind = KIND_INSTANT;
		r->type = SPAN("instant");
		return 0;
	}
	if (async)
		failed = atrace_async(c, w, m, r);
	else
		failed = begin ? atrace_begin(c, thread, r) : atrace_end(c, w, thread, r);
	if (r->call)
		r->type = begin ? SPAN("async begin") : SPAN("async end");
	else
		r->type = begin ? SPAN("begin") : SPAN("end");
	return failed;
}

static void atrace_calls_free(struct atrace_calls *c)
{
	for (size_t i = 0; i < c->nthreads; i++)
		free(c->thread[i].calls);
	free(c->thread);
	id_cache_free(&c->locations);
	key_map_free(&c->numbers);
	open_calls_free(&c->async);
}

/* --- binary records --- */

/* The compiled print fmt of events. */
struct atrace_prints {
	struct {
		bool tried;
		struct print_format *format; /* NULL: it cannot be compiled */
	} * print;			     /* by index of the event */
	size_t count;
	struct print_line text; /* of the last record */
};

/* Get the text that the print fmt of a record's event prints. Returns 0, or -1 when out of
 * memory. */
static int atrace_print(struct atrace *a, size_t index, const struct atrace_record *r,
			struct text_span *text)
{
	const struct ftrace_event *v = r->event;
	struct atrace_prints *p = a->prints;
	char why[PRINT_WHY] = "";

	if (!p)
		p = a->prints = calloc(1, sizeof *p);
	if (!p || ARRAY_REACH(p->print, p->count, index))
		return -1;
	if (!p->print[index].tried) {
		p->print[index].format = print_format_compile(v->text, v->text_size, r->long_size,
							      r->big_endian, NULL, why);
		p->print[index].tried = true;
		if (!p->print[index].format && !*why)
			return -1;
	}
	p->text.size = 0;
	if (p->print[index].format)
		print_format_text(p->print[index].format, NULL, r->data, r->size, &p->text);
	if (p->text.size)
		*text = (struct text_span){p->text.data, p->text.data + p->text.size};
	return p->text.failed ? -1 : 0;
}

/* Read the mark in a text that may end with newlines. */
static bool atrace_read_text(struct atrace_mark *m, struct text_span text)
{
	while (text.at < text.end && text.end[-1] == '\n')
		text.end--;
	return atrace_mark_read(m, text.at, span_size(text));
}

/* Read the mark in one of a record's texts. */
static bool atrace_read_fields(struct atrace_mark *m, const struct atrace_record *r)
{
	const struct event_format *f = &r->event->format;
	size_t at, n;

	for (size_t i = 0; i < f->nfields; i++) {
		const char *text = (const char *)r->data;

		if ((f->fields[i].kind != FIELD_CHAR && f->fields[i].kind != FIELD_STRING) ||
		    !f->fields[i].array ||
		    !event_field_range(&f->fields[i], r->data, r->size, r->big_endian, &at, &n))
			continue;
		text += at;
		if (atrace_read_text(m, (struct text_span){text, text + strnlen(text, n)}))
			return true;
	}
	return false;
}

/*
 * A driver's event has what its print fmt prints: "B|611|draw" of a flag, a number and a text. The
 * text of a print, and of a probe at the function that writes marks, is in a field.
 */
int atrace_event_row(struct atrace *a, struct writer *w, size_t index,
		     const struct atrace_record *r, struct atrace_row *row)
{
	struct text_span text = {NULL, NULL};
	struct atrace_mark m;

	if (!event_format_find(&r->event->format, "buf", 3) && atrace_print(a, index, r, &text))
		return -1;
	if (!atrace_read_text(&m, text) && !atrace_read_fields(&m, r))
		return 0;
	return atrace_row_of(a, w, r->thread, &m, row) ? -1 : 1;
}

uint32_t *atrace_type(struct atrace *a, struct writer *w, size_t number,
		      const struct atrace_row *row)
{
	uint32_t key[] = {(uint32_t)number, writer_string(w, row->type.at, span_size(row->type)),
			  row->kind, row->call != 0, row->has_cookie};

	return id_cache_number(&a->types, key, sizeof key);
}

/* Append a field to the fixed part. */
static void atrace_field(struct writer *w, const char *name, const struct field_entry *like,
			 struct field_entry *fields, struct type_entry *type)
{
	fields[type->nfields] = *like;
	fields[type->nfields].name = writer_text(w, name);
	fields[type->nfields].offset = type->fixed_size;
	type->fixed_size += like->size;
	type->nfields++;
}

void atrace_set_type(const struct atrace_row *row, struct writer *w, struct field_entry *fields,
		     struct type_entry *type)
{
	static const struct field_entry number = {.kind = FIELD_INT, .size = 8},
					call = {.kind = FIELD_UINT, .role = ROLE_CALL, .size = 4};

	type->name = writer_string(w, row->type.at, span_size(row->type));
	type->kind = (uint8_t)row->kind;
	if (row->kind == KIND_COUNTER)
		atrace_field(w, "value", &number, fields, type);
	if (row->call) {
		type->flags |= TYPE_CALL_NUMBER;
		atrace_field(w, "call", &call, fields, type);
	}
	if (row->has_cookie)
		atrace_field(w, "cookie", &number, fields, type);
}

uint32_t atrace_put_fixed(const struct atrace_row *row, uint8_t *fixed)
{
	uint32_t n = 0;

	if (row->kind == KIND_COUNTER) {
		put_u64(fixed, (uint64_t)row->value);
		n = 8;
	}
	if (row->call) {
		put_u32(fixed + n, row->call);
		n += 4;
	}
	if (row->has_cookie) {
		put_u64(fixed + n, (uint64_t)row->cookie);
		n += 8;
	}
	return n;
}

void atrace_free(struct atrace *a)
{
	struct atrace_prints *p = a->prints;

	for (size_t i = 0; p && i < p->count; i++)
		print_format_free(p->print[i].format);
	if (p) {
		free(p->print);
		line_free(&p->text);
	}
	free(p);
	id_cache_free(&a->types);
	atrace_calls_free(&a->calls);
}
