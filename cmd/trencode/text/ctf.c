/*
 * Text of CTF traces, as babeltrace2 prints it with --clock-gmt --clock-date --no-delta:
 *
 *     [2026-11-20 21:06:01.224725116] host name: { cpu_id = 0 }, { contexts }, { field = value }
 *
 * A type's declaration says how many of its fields belong to which scope (trstream-sources(5)).
 */
#include "cmd/trencode/text/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/stream/field.h"
#include "common/value/value_names.h"

#define ENV "ctf.env"

enum { SECOND = 1000000000, SCOPES = 4 };

/* What stands before a field. */
struct lead {
	char *text;
	size_t size;
};

struct line {
	bool cpu;	    /* "{ cpu_id = 0 }, " stands before the fields */
	struct lead *leads; /* of each field, and behind the last one */
	uint32_t nfields;
};

struct state {
	struct text *out;
	struct dictionary *dictionary;
	struct line **lines; /* by type */
	size_t lines_size;
	struct lead *hosts; /* "host:procname:(pid) ", by source */
	size_t nhosts;
	uint64_t second; /* whose text is in date */
	char date[40];
	size_t date_size;
};

static int begin(void *state, const struct encoding *en, struct error *e)
{
	struct state *s = state;

	(void)e;
	s->out = en->text;
	s->dictionary = en->dictionary;
	s->second = UINT64_MAX;
	return 0;
}

/* --- the trace --- */

/* The rest of the line that begins with this name, or NULL. */
static const char *env(const struct meta *m, const char *name, size_t *n)
{
	const char *p = (const char *)m->data, *end = p + m->size, *line;
	size_t size = strlen(name);

	for (; p < end; p = line + 1) {
		line = memchr(p, '\n', (size_t)(end - p));
		if (!line)
			line = end;
		if ((size_t)(line - p) > size && !memcmp(p, name, size) && p[size] == ' ') {
			*n = (size_t)(line - p) - size - 1;
			return p + size + 1;
		}
	}
	return NULL;
}

static int meta(void *state, const struct source *source, const struct meta *m, struct error *e)
{
	struct state *s = state;
	struct buffer b = {0};
	const char *value;
	struct lead *hosts; /* "host:procname:(pid) ", by source */
	size_t n;

	if (!source || m->name_size != strlen(ENV) || memcmp(m->name, ENV, m->name_size))
		return 0;
	value = env(m, "hostname", &n);
	if (value && buffer_append(&b, value, n))
		goto failed;
	value = env(m, "procname", &n);
	if (value && (buffer_append(&b, ":", b.size > 0) || buffer_append(&b, value, n)))
		goto failed;
	value = env(m, "vpid", &n);
	if (value && (buffer_append(&b, ":", b.size > 0) ||
		      buffer_printf(&b, "(%.*s)", (int)(n < 20 ? n : 20), value)))
		goto failed;
	if (b.size && buffer_append(&b, " ", 1))
		goto failed;
	hosts = array_reach(s->hosts, &s->nhosts, source->number, sizeof *hosts);
	if (!hosts)
		goto failed;
	s->hosts = hosts;
	free(s->hosts[source->number].text);
	s->hosts[source->number] = (struct lead){(char *)b.data, b.size};
	return 0;
failed:
	buffer_free(&b);
	return error_no_memory(e);
}

/* --- what is printed of a type --- */

/* A number of the declaration; -1 for "-", or where it ends. */
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

static void free_line(struct line *l)
{
	for (uint32_t i = 0; l && l->leads && i <= l->nfields; i++)
		free(l->leads[i].text);
	if (l)
		free(l->leads);
	free(l);
}

/* " name: { a = ", ", b = ", " }, { c = ", " }\n" */
static struct line *make_line(struct state *s, const struct event *ev)
{
	const struct location *location = dictionary_location(s->dictionary, ev->location);
	const char *d = ev->type->declaration.text;
	struct line *l = calloc(1, sizeof *l);
	struct buffer b = {0};
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
	l->cpu = !strncmp(d, "cpu", 3);
	if (l->cpu)
		d += 3;
	for (int i = l->cpu; i < SCOPES; i++) {
		int count = next_count(&d);

		/* whatever the declaration says, each field is printed */
		if (i == SCOPES - 1 && n < l->nfields)
			count = (int)(l->nfields - n);
		if (count < 0)
			continue;
		if (buffer_append(&b, first ? "{ " : ", { ", first ? 2 : 4))
			goto failed;
		first = false;
		for (int k = 0; k < count && n < l->nfields; k++) {
			struct text_ref name = field_name(ev, location, n);

			if (buffer_append(&b, ", ", k ? 2 : 0) ||
			    buffer_append(&b, name.text, name.size) || buffer_append(&b, " = ", 3))
				goto failed;
			l->leads[n++] = (struct lead){(char *)b.data, b.size};
			b = (struct buffer){0};
		}
		if (buffer_append(&b, count ? " }" : "}", count ? 2 : 1))
			goto failed;
	}
	if (buffer_append(&b, "\n", 1))
		goto failed;
	l->leads[n] = (struct lead){(char *)b.data, b.size};
	return l;
failed:
	buffer_free(&b);
	free_line(l);
	return NULL;
}

static const struct line *line_of(struct state *s, const struct event *ev)
{
	uint32_t number = ev->type->number;
	struct line **lines = array_reach(s->lines, &s->lines_size, number, sizeof(void *));

	if (!lines)
		return NULL;
	s->lines = lines;
	if (!s->lines[number])
		s->lines[number] = make_line(s, ev);
	return s->lines[number];
}

/* --- printing --- */

static void print_time(struct state *s, const struct event *ev)
{
	const struct clock *clock = ev->lane->clock;
	uint64_t second = ev->time / SECOND;
	uint32_t rest = (uint32_t)(ev->time % SECOND);
	char nine[12] = "         ] ";

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
	for (int i = 8; i >= 0; i--, rest /= 10)
		nine[i] = (char)('0' + rest % 10);
	text_put(s->out, nine, 11);
}

/* As in C, the quotes too. */
static void print_string(struct text *out, const char *p, size_t n)
{
	static const char controls[] = "\a\b\t\n\v\f\r\033", letters[] = "abtnvfre";
	size_t from = 0;

	text_char(out, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];
		const char *known;

		if (c >= ' ' && c != 0x7f && c != '"' && c != '\\' && c != '\'' && c != '?')
			continue;
		text_masked(out, p + from, i - from);
		from = i + 1;
		text_char(out, '\\');
		known = c ? strchr(controls, c) : NULL;
		if (known) {
			text_char(out, letters[known - controls]);
		} else if (c < ' ' || c == 0x7f) {
			text_char(out, 'x');
			text_hex(out, c, 2);
		} else {
			text_char(out, (char)c);
		}
	}
	text_masked(out, p + from, n - from);
	text_char(out, '"');
}

static void print_hex(struct text *out, uint64_t v)
{
	text_printf(out, "0x%" PRIX64, v);
}

/* ( "label", "another" : container = 3 ), without the number and what follows it. */
static void print_labels(struct text *out, const struct definition *d, const struct member *m,
			 uint64_t number)
{
	text_puts(out, "( ");
	if (!m)
		text_puts(out, "<unknown>");
	for (const char *lead = ""; m; m = definition_next_member(d, m, number), lead = ", ") {
		text_puts(out, lead);
		print_string(out, m->name.text, m->name.size);
	}
	text_puts(out, " : container = ");
}

static void print_enum_field(struct text *out, const struct definition *d,
			     const struct field_value *v)
{
	print_labels(out, d, definition_member(d, v->u), v->u);
	if (v->form == FORM_INT)
		text_i64(out, v->i);
	else
		text_u64(out, v->u);
	text_puts(out, " )");
}

static void print_enum(struct text *out, const struct definition *d, const struct value *v)
{
	char digits[I128_SIZE];
	bool is_signed;
	uint64_t n = 0;
	bool fits = value_integer(v, d, &n, &is_signed);

	print_labels(out, d, fits ? definition_member(d, n) : NULL, n);
	text_put(out, digits, value_enum_decimal(digits, d, v));
	text_puts(out, " )");
}

static void print_real(struct text *out, double v)
{
	text_printf(out, "%g", v);
}

static void print_element(struct text *out, const struct field *f, const struct field_value *v)
{
	switch (v->form) {
	case FORM_NONE: text_char(out, '?'); break;
	case FORM_REAL: print_real(out, v->real); break;
	case FORM_TEXT: print_string(out, (const char *)v->text, v->size); break;
	case FORM_INT:
		if (f->kind == FIELD_ENUM)
			print_enum_field(out, f->definition, v);
		else
			text_i64(out, v->i);
		break;
	case FORM_UINT:
		if (f->kind == FIELD_ENUM)
			print_enum_field(out, f->definition, v);
		else if (f->kind == FIELD_HEX)
			print_hex(out, v->u);
		else if (!strcmp(f->type_name.text, "octal"))
			text_printf(out, "0%" PRIo64, v->u);
		else
			text_u64(out, v->u);
	}
}

static void print_field(struct text *out, const struct event *ev, const struct field *f)
{
	struct field_value v;
	uint32_t n;

	if (f->count <= 1 || f->kind == FIELD_CHAR) {
		field_get(ev, f, 0, &v);
		print_element(out, f, &v);
		return;
	}
	n = field_count(ev, f);
	text_char(out, '[');
	for (uint32_t i = 0; i < n; i++) {
		text_puts(out, i ? ", [" : " [");
		text_u64(out, i);
		text_puts(out, "] = ");
		field_get(ev, f, i, &v);
		print_element(out, f, &v);
	}
	text_puts(out, " ]");
}

static void print_number(struct text *out, const struct value *v)
{
	switch (v->format) {
	case 'i': text_i64(out, (int64_t)v->number); break;
	case 'x': print_hex(out, v->number); break;
	case 'o': text_printf(out, "0%" PRIo64, v->number); break;
	default: text_u64(out, v->number);
	}
}

/* The next value, with what is inside of it. */
static void print_value(struct state *s, struct values *v, int depth)
{
	struct text *out = s->out;
	const struct definition *d;
	long double real;
	struct value value;
	bool variant;

	if (depth > VALUE_DEPTH || !values_value(v, &value)) {
		text_char(out, '?');
		v->bad = true;
		return;
	}
	d = dictionary_definition_id(s->dictionary, value.definition);
	switch (value.tag) {
	case VALUE_NUMBER: print_number(out, &value); break;
	case VALUE_ENUM: print_enum(out, d, &value); break;
	case VALUE_STRING: print_string(out, (const char *)value.bytes, value.n); break;
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		if (value_real(&value, &real))
			print_real(out, (double)real);
		break;
	case VALUE_ARRAY:
		text_char(out, '[');
		for (uint64_t i = 0; i < value.count && !v->bad; i++) {
			text_puts(out, i ? ", [" : " [");
			text_u64(out, i);
			text_puts(out, "] = ");
			print_value(s, v, depth + 1);
		}
		text_puts(out, " ]");
		break;
	case VALUE_STRUCT:
		/* of a variant only the chosen member, without its name */
		variant = d && !strcmp(d->name.text, "variant");
		text_char(out, '{');
		for (uint64_t i = 0; i < value.count && !v->bad; i++) {
			text_puts(out, i ? ", " : " ");
			if (!variant && d && i < d->count) {
				text_masked(out, d->members[i].name.text, d->members[i].name.size);
				text_puts(out, " = ");
			}
			print_value(s, v, depth + 1);
		}
		text_puts(out, " }");
		break;
	case VALUE_REPR:
		/* the display form */
		print_value(s, v, depth + 1);
		values_skip(v);
		break;
	default: text_char(out, '?');
	}
}

static void print_head(struct state *s, const struct event *ev)
{
	uint32_t source = ev->lane->source ? ev->lane->source->number : 0;

	print_time(s, ev);
	if (source < s->nhosts && s->hosts[source].size)
		text_masked(s->out, s->hosts[source].text, s->hosts[source].size);
}

static void print_gap(struct state *s, const struct event *ev)
{
	const char *unit;
	struct gap_row g;

	if (!gap_get(ev, &g))
		return;
	print_head(s, ev);
	text_char(s->out, '[');
	if (ev->lane->flags & LANE_HAS_CPU)
		text_printf(s->out, "CPU %" PRId32 ": ", ev->lane->cpu);
	if (g.count == UINT64_MAX)
		text_puts(s->out, "an unknown number of");
	else
		text_u64(s->out, g.count);
	/* "1 event", "2 events" */
	unit = gap_unit_name(g.unit);
	text_printf(s->out, " %.*s ", (int)strlen(unit) - (g.count == 1), unit);
	text_puts(s->out, g.reason == GAP_LOST ? "lost]\n" : "missing]\n");
}

static int event(void *state, const struct event *ev, struct error *e)
{
	struct state *s = state;
	struct text *out = s->out;
	const struct line *l;
	struct values v;
	struct detail d;
	uint32_t i = 0;

	if (ev->type->kind == KIND_GAP) {
		print_gap(s, ev);
		return 0;
	}
	l = ev->type->number < s->lines_size ? s->lines[ev->type->number] : NULL;
	if (!l)
		l = line_of(s, ev);
	if (!l)
		return error_no_memory(e);
	print_head(s, ev);
	text_masked(out, ev->type->name.text, ev->type->name.size);
	text_puts(out, ": ");
	if (l->cpu && ev->lane->flags & LANE_HAS_CPU) {
		text_puts(out, "{ cpu_id = ");
		text_i64(out, ev->lane->cpu);
		text_puts(out, " }, ");
	}
	if (ev->type->flags & TYPE_VALUES) {
		values_begin(&v, ev->tail, ev->tail_size);
		for (; i < l->nfields && values_what(&v, &d.what, &d.index) && !v.bad; i++) {
			/* those that a filter took out */
			for (; d.index && i + 1 < d.index && i + 1 < l->nfields; i++) {
				text_masked(out, l->leads[i].text, l->leads[i].size);
				text_char(out, '?');
			}
			text_masked(out, l->leads[i].text, l->leads[i].size);
			print_value(s, &v, 0);
		}
	} else {
		for (; i < l->nfields; i++) {
			text_masked(out, l->leads[i].text, l->leads[i].size);
			print_field(out, ev, &ev->type->fields[i]);
		}
	}
	text_put(out, l->leads[l->nfields].text, l->leads[l->nfields].size);
	return 0;
}

static void free_state(void *state)
{
	struct state *s = state;

	for (size_t i = 0; i < s->lines_size; i++)
		free_line(s->lines[i]);
	for (size_t i = 0; i < s->nhosts; i++)
		free(s->hosts[i].text);
	free(s->lines);
	free(s->hosts);
}

const struct text_layout text_ctf = {
	.format = "ctf",
	.state_size = sizeof(struct state),
	.begin = begin,
	.meta = meta,
	.event = event,
	.free = free_state,
};
