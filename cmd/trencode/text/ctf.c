/*
 * ctf.c - as babeltrace2 prints
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cmd/trencode/text/layout.h"
#include "common/util/buffer.h"
#include "common/util/text.h"
#include "common/util/lines.h"
#include "common/value/value_text.h"
#include "common/stream/reader.h"

/* --- functions that the files of the text of CTF traces share --- */

/* The constant texts of the lines of one type. */
struct text_ctf_line {
	bool cpu; /* "{ cpu_id = 0 }, " is printed before the fields */
	/* "{ a = ", ", b = ", " }, { c = ", " }\n": before each field, and after the last one */
	struct buffer *leads;
	uint32_t nfields;
};

struct text_ctf {
	struct text *out;
	struct dictionary *dictionary;
	struct text_ctf_line **lines; /* by type */
	size_t lines_size;
	struct buffer *hosts; /* "host:procname:(pid) ", by source */
	size_t nhosts;
	uint64_t second; /* the second whose text is in date */
	char date[40];
	size_t date_size;
	struct buffer values, scratch; /* values: the text of fields and values */
	struct plain_source plain;     /* for values that babeltrace2 does not have */
	const struct field *field;     /* that is appended; NULL: a value */
};

enum { SCOPES = 4 };

/* Read the next count of a declaration; return -1 for "-" and at its end. */
static int next_count(const char **p)
{
	char *end;
	long n;

	while (**p == ' ')
		++*p;
	if (**p < '0' || **p > '9') {
		*p += **p == '-';
		return -1;
	}
	n = strtol(*p, &end, 10);
	*p = end;
	return n < 100000 ? (int)n : -1;
}

static struct text_ref field_name(const struct event *ev, const struct location *location,
				  uint32_t i)
{
	if (!(ev->type->flags & TYPE_VALUES))
		return ev->type->fields[i].name;
	return location->arguments->members[i].name;
}

static void text_ctf_line_free(struct text_ctf_line *l)
{
	for (uint32_t i = 0; l && l->leads && i <= l->nfields; i++)
		buffer_free(&l->leads[i]);
	if (l)
		free(l->leads);
	free(l);
}

/* Make the texts of the event's type. Returns NULL when out of memory. */
static struct text_ctf_line *text_ctf_line_new(const struct dictionary *dictionary,
					       const struct event *ev)
{
	const struct location *location = dictionary_location(dictionary, ev->location);
	const char *d = ev->type->declaration.text;
	struct text_ctf_line *l = calloc(1, sizeof *l);
	struct buffer *b;
	bool first = true;
	uint32_t n = 0;

	if (!l)
		return NULL;
	if (ev->type->flags & TYPE_VALUES)
		l->nfields = location && location->arguments ? location->arguments->count : 0;
	else
		l->nfields = ev->type->nfields;
	l->leads = calloc(l->nfields + 1u, sizeof *l->leads);
	if (!l->leads)
		goto failed;
	b = l->leads;
	l->cpu = !strncmp(d, "cpu", 3);
	if (l->cpu)
		d += 3;
	for (int i = l->cpu; i < SCOPES; i++) {
		int count = next_count(&d);

		/* each field is printed, even where the counts of the declaration are too small */
		if (i == SCOPES - 1 && n < l->nfields)
			count = (int)(l->nfields - n);
		if (count < 0)
			continue;
		if (buffer_append(b, first ? "{ " : ", { ", first ? 2 : 4))
			goto failed;
		first = false;
		for (int k = 0; k < count && n < l->nfields; k++) {
			struct text_ref name = field_name(ev, location, n);

			if (buffer_append(b, ", ", k ? 2 : 0) ||
			    buffer_append(b, name.text, name.size) || buffer_append(b, " = ", 3))
				goto failed;
			b = &l->leads[++n];
		}
		if (buffer_append(b, count ? " }" : "}", count ? 2 : 1))
			goto failed;
	}
	if (!buffer_append(b, "\n", 1))
		return l;
failed:
	text_ctf_line_free(l);
	return NULL;
}

/* --- fields and values of CTF traces as babeltrace2 prints them --- */

/* Get the number of characters up to the first that is escaped. */
static size_t ctf_plain_run(const char *p, size_t n)
{
	static const bool escaped[256] = {[0 ... 0x1f] = true, ['"'] = true, ['\\'] = true,
					  ['\''] = true,       ['?'] = true, [0x7f] = true};
	size_t run = 0;

	while (run < n && !escaped[(unsigned char)p[run]])
		run++;
	return run;
}

/* Append a string in quotes, with the escapes of C. */
static int ctf_string(struct buffer *out, const char *p, size_t n)
{
	static const char controls[] = "\a\b\t\n\v\f\r\033", letters[] = "abtnvfre";
	int bad = buffer_put(out, "\"", 1);

	for (size_t run; !bad; p += run + 1, n -= run + 1) {
		const char *known;

		run = ctf_plain_run(p, n);
		bad = buffer_put(out, p, run);
		if (bad || run == n)
			break;
		known = p[run] ? strchr(controls, p[run]) : NULL;
		if (known)
			bad = buffer_printf(out, "\\%c", letters[known - controls]);
		else if ((unsigned char)p[run] < ' ' || p[run] == 0x7f)
			bad = buffer_printf(out, "\\x%02x", p[run]);
		else
			bad = buffer_printf(out, "\\%c", p[run]);
	}
	return bad || buffer_put(out, "\"", 1) ? -1 : 0;
}

/* Append ( "label", "another" : container = 3 ). */
static int ctf_enum(struct buffer *out, const struct value_item *item)
{
	const struct definition *d = item->definition;
	const struct member *m = NULL;
	char digits[I128_SIZE];
	bool is_signed;
	uint64_t n = 0;

	if (value_integer(&item->value, d, &n, &is_signed))
		m = definition_member(d, n);
	if (buffer_puts(out, m ? "( " : "( <unknown>"))
		return -1;
	for (const char *lead = ""; m; m = definition_next_member(d, m, n), lead = ", ")
		if (buffer_puts(out, lead) || ctf_string(out, m->name.text, m->name.size))
			return -1;
	return buffer_puts(out, " : container = ") ||
			       buffer_append(out, digits,
					     value_enum_decimal(digits, d, &item->value)) ||
			       buffer_puts(out, " )")
		       ? -1
		       : 0;
}

static int ctf_number(struct buffer *out, char format, uint64_t number)
{
	char text[24], *end = text + sizeof text, *p;

	switch (format) {
	case 'i': return buffer_signed(out, (int64_t)number);
	case 'x':
		p = digits_base(end, number, 16, true);
		return buffer_put(out, "0x", 2) || buffer_put(out, p, (size_t)(end - p));
	case 'o': return buffer_printf(out, "0%" PRIo64, number);
	}
	return buffer_decimal(out, number);
}

static int ctf_scalar(void *to, const struct value_item *item)
{
	struct text_ctf *s = to;
	struct buffer *out = &s->values;
	const struct value *v = &item->value;
	struct plain_value plain;
	long double real;

	switch (v->tag) {
	case VALUE_NUMBER: return ctf_number(out, (char)v->format, v->number);
	case VALUE_UINT:
		return ctf_number(
			out, s->field && !strcmp(s->field->type_name.text, "octal") ? 'o' : 'u',
			v->number);
	case VALUE_POINTER: return ctf_number(out, 'x', v->number);
	case VALUE_ENUM: return ctf_enum(out, item);
	case VALUE_STRING:
	case VALUE_BYTES: return ctf_string(out, (const char *)v->bytes, v->n);
	case VALUE_FLOAT:
	case VALUE_DOUBLE: return value_real(v, &real) ? buffer_printf(out, "%g", (double)real) : 0;
	case VALUE_MISSING: return buffer_u8(out, '?');
	}
	return value_plain(&s->plain, item, &plain) || plain_append(out, &plain) ? -1 : 0;
}

static int ctf_value_begin(void *to, const struct value_parent *v, const struct values *rest)
{
	(void)rest;
	return buffer_u8(&((struct text_ctf *)to)->values, v->tag == VALUE_ARRAY ? '[' : '{');
}

static int ctf_child(void *to, const struct value_parent *v, const struct values *rest)
{
	struct buffer *out = &((struct text_ctf *)to)->values;
	const struct text_ref *name = value_child_name(v);

	(void)rest;
	if (v->tag == VALUE_ARRAY)
		return buffer_put(out, ", [", v->index ? 3 : 0) ||
				       buffer_put(out, " [", v->index ? 0 : 2) ||
				       buffer_decimal(out, v->index) || buffer_put(out, "] = ", 4)
			       ? -1
			       : 0;
	if (buffer_put(out, ", ", v->index ? 2 : 0) || buffer_put(out, " ", !v->index))
		return -1;
	/* of a variant only the chosen member, without its name */
	if (!name || !strcmp(v->definition->name.text, "variant"))
		return 0;
	return buffer_append(out, name->text, name->size) || buffer_puts(out, " = ") ? -1 : 0;
}

static int text_ctf_end(void *to, const struct value_parent *v)
{
	return buffer_puts(&((struct text_ctf *)to)->values, v->tag == VALUE_ARRAY ? " ]" : " }");
}

static const struct value_style ctf_style = {
	.scalar = ctf_scalar, .begin = ctf_value_begin, .child = ctf_child, .end = text_ctf_end};

/*
 * Text of CTF traces, as babeltrace2 prints it with --clock-gmt --clock-date --no-delta:
 *
 *     [2026-11-20 21:06:01.224725116] host name: { cpu_id = 0 }, { contexts }, { field = value }
 *
 * A type's declaration has the number of fields of each scope (trstream-sources(5)).
 */

enum { SECOND = 1000000000 };

static int text_ctf_begin(void *state, const struct encoding *en, struct error *e)
{
	struct text_ctf *s = state;

	(void)e;
	s->out = en->text;
	s->dictionary = en->dictionary;
	s->second = UINT64_MAX;
	s->values.spills = true;
	s->plain = (struct plain_source){.dictionary = s->dictionary, .scratch = &s->scratch};
	return 0;
}

/* --- the trace --- */

static int text_ctf_meta(void *state, const struct source *source, const struct meta *m,
			 struct error *e)
{
	struct text_ctf *s = state;
	struct buffer b = {0};
	const char *text = (const char *)m->data, *value;
	size_t n;

	if (!source || !meta_is(m, "ctf.env"))
		return 0;
	value = lines_value(text, m->size, "hostname", &n);
	if (value && buffer_append(&b, value, n))
		goto failed;
	value = lines_value(text, m->size, "procname", &n);
	if (value && (buffer_append(&b, ":", b.size > 0) || buffer_append(&b, value, n)))
		goto failed;
	value = lines_value(text, m->size, "vpid", &n);
	if (value && (buffer_append(&b, ":", b.size > 0) ||
		      buffer_printf(&b, "(%.*s)", (int)(n < 20 ? n : 20), value)))
		goto failed;
	if (b.size && buffer_append(&b, " ", 1))
		goto failed;
	if (ARRAY_REACH(s->hosts, s->nhosts, source->number))
		goto failed;
	buffer_free(&s->hosts[source->number]);
	s->hosts[source->number] = b;
	return 0;
failed:
	buffer_free(&b);
	return error_no_memory(e);
}

static const struct text_ctf_line *ctf_line_of(struct text_ctf *s, const struct event *ev)
{
	uint32_t number = ev->type->number;

	if (ARRAY_REACH(s->lines, s->lines_size, number))
		return NULL;
	if (!s->lines[number])
		s->lines[number] = text_ctf_line_new(s->dictionary, ev);
	return s->lines[number];
}

/* --- printing --- */

static void ctf_print_time(struct text_ctf *s, const struct event *ev)
{
	const struct clock *clock = ev->lane->clock;
	uint64_t second = ev->time / SECOND;

	if (clock && clock->flags & CLOCK_TICKS)
		return;
	if (second != s->second) {
		time_t t = (time_t)second;
		struct tm tm;

		s->second = second;
		if (clock && clock->flags & CLOCK_IS_WALL && gmtime_r(&t, &tm))
			s->date_size =
				strftime(s->date, sizeof s->date, "[%Y-%m-%d %H:%M:%S.", &tm);
		else
			s->date_size =
				(size_t)snprintf(s->date, sizeof s->date, "[%" PRIu64 ".", second);
	}
	text_put(s->out, s->date, s->date_size);
	text_u64_wide(s->out, ev->time % SECOND, 9, '0');
	text_put(s->out, "] ", 2);
}

static void ctf_print_head(struct text_ctf *s, const struct event *ev)
{
	uint32_t source = ev->lane->source ? ev->lane->source->number : 0;

	ctf_print_time(s, ev);
	if (source < s->nhosts && s->hosts[source].size)
		text_masked(s->out, (const char *)s->hosts[source].data, s->hosts[source].size);
}

static void ctf_print_gap(struct text_ctf *s, const struct event *ev)
{
	const char *unit;
	struct gap_row g;

	if (!gap_get(ev, &g))
		return;
	ctf_print_head(s, ev);
	text_char(s->out, '[');
	if (ev->lane->flags & LANE_HAS_CPU)
		text_printf(s->out, "CPU %" PRId32 ": ", ev->lane->cpu);
	if (g.count == UINT64_MAX)
		text_puts(s->out, "an unknown number of");
	else
		text_u64(s->out, g.count);
	unit = gap_unit_name(g.unit);
	text_printf(s->out, " %.*s ", (int)strlen(unit) - (g.count == 1), unit);
	text_puts(s->out, g.reason == GAP_LOST ? "lost]\n" : "missing]\n");
}

/* Append the fields of an event with the texts before them. */
static int ctf_append_fields(struct text_ctf *s, const struct text_ctf_line *l,
			     const struct event *ev)
{
	struct buffer *out = &s->values;
	struct values v;
	uint64_t index;
	uint8_t what;
	uint32_t i = 0;

	if (!(ev->type->flags & TYPE_VALUES)) {
		for (; i < l->nfields; i++) {
			s->field = &ev->type->fields[i];
			if (buffer_put(out, l->leads[i].data, l->leads[i].size) ||
			    field_walk(&ctf_style, s, ev, s->field))
				return -1;
		}
		return 0;
	}
	s->field = NULL;
	values_begin(&v, ev->tail, ev->tail_size);
	for (; i < l->nfields && values_what(&v, &what, &index); i++) {
		/* fields that a filter removed */
		for (; index && i + 1 < index && i + 1 < l->nfields; i++)
			if (buffer_put(out, l->leads[i].data, l->leads[i].size) ||
			    buffer_u8(out, '?'))
				return -1;
		if (buffer_put(out, l->leads[i].data, l->leads[i].size) ||
		    value_walk(&ctf_style, s, s->dictionary, &v))
			return -1;
	}
	return 0;
}

static int text_ctf_event(void *state, const struct event *ev, struct error *e)
{
	struct text_ctf *s = state;
	struct text *out = s->out;
	const struct text_ctf_line *l;

	if (ev->type->kind == KIND_GAP) {
		ctf_print_gap(s, ev);
		return 0;
	}
	l = ev->type->number < s->lines_size ? s->lines[ev->type->number] : NULL;
	if (!l)
		l = ctf_line_of(s, ev);
	if (!l)
		return error_no_memory(e);
	ctf_print_head(s, ev);
	text_masked(out, ev->type->name.text, ev->type->name.size);
	text_puts(out, ": ");
	if (l->cpu && ev->lane->flags & LANE_HAS_CPU) {
		text_puts(out, "{ cpu_id = ");
		text_i64(out, ev->lane->cpu);
		text_puts(out, " }, ");
	}
	buffer_clear(&s->values);
	if (ctf_append_fields(s, l, ev))
		return error_no_memory(e);
	text_masked_buffer(out, &s->values);
	text_put(out, (const char *)l->leads[l->nfields].data, l->leads[l->nfields].size);
	return 0;
}

static void ctf_free_state(void *state)
{
	struct text_ctf *s = state;

	for (size_t i = 0; i < s->lines_size; i++)
		text_ctf_line_free(s->lines[i]);
	for (size_t i = 0; i < s->nhosts; i++)
		buffer_free(&s->hosts[i]);
	free(s->lines);
	free(s->hosts);
	buffer_free(&s->values);
	buffer_free(&s->scratch);
}

const struct text_layout text_ctf = {
	.format = "ctf",
	.state_size = sizeof(struct text_ctf),
	.begin = text_ctf_begin,
	.meta = text_ctf_meta,
	.event = text_ctf_event,
	.free = ctf_free_state,
};
