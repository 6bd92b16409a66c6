/*
 * lttng.c - constants of legacy LTTng traces and the grammar of marker formats, shared by the
 * decoder and the encoder
 */
#include "common/formats/lttng.h"

#include <string.h>

static uint8_t lttng_size_of(char qualifier, const struct lttng_sizes *s)
{
	switch (qualifier) {
	case '1': return 1;
	case '2': return 2;
	case '4': return 4;
	case '8': return 8;
	case 'h': return 2;
	case 'l': return s->longer;
	case 'L': return 8;
	case 'z':
	case 'Z': return s->size_t_;
	case 't': return s->pointer;
	}
	return s->integer;
}

/* Parse [qualifier] conversion, and set the field's kind, size and conversion; *p moves to the
 * conversion's last character. */
static struct lttng_field take_type(const char **p, const char *end, const char *qualifiers,
				    const struct lttng_sizes *s)
{
	struct lttng_field t = {.kind = LTTNG_NO_KIND};
	char q = 0;

	if (*p < end && **p && strchr(qualifiers, **p)) {
		q = *(*p)++;
		if (q == 'l' && *p < end && **p == 'l') {
			q = 'L';
			(*p)++;
		}
	}
	if (*p >= end)
		return t;
	t.conversion = **p;
	switch (t.conversion) {
	case 'd':
	case 'i':
		t.kind = LTTNG_SIGNED;
		t.size = lttng_size_of(q, s);
		break;
	case 'o':
	case 'u':
	case 'x':
	case 'X':
		t.kind = LTTNG_UNSIGNED;
		t.size = lttng_size_of(q, s);
		break;
	case 'c':
		t.kind = LTTNG_UNSIGNED;
		t.size = 1;
		break;
	case 'p':
		t.kind = LTTNG_POINTER;
		t.size = s->pointer;
		break;
	case 's': t.kind = LTTNG_STRING; break;
	default: t.conversion = 0;
	}
	return t;
}

static void set_literal(struct lttng_field *f, const char *word, size_t n)
{
	const char *mark = memchr(word, '#', n);

	f->literal = word;
	/* a "#" was between the text and the conversion */
	f->literal_size = mark ? (size_t)(mark - word) : n;
}

/* Set kind, size and conversion from the type in the trace, if one is given, and the C type. */
static void lttng_set_type(struct lttng_field *f, const struct lttng_field *in_trace,
			   const struct lttng_field *c_type)
{
	f->kind = in_trace->kind != LTTNG_NO_KIND ? in_trace->kind : c_type->kind;
	f->size = in_trace->size ? in_trace->size : c_type->size;
	f->conversion = c_type->conversion ? c_type->conversion : in_trace->conversion;
	if (c_type->kind == LTTNG_STRING)
		f->kind = LTTNG_STRING;
	if (f->kind == LTTNG_STRING)
		f->size = 0;
}

int lttng_format_parse(const char *format, size_t n, const struct lttng_sizes *sizes, bool eight,
		       struct lttng_field *fields, int max)
{
	const char *p = format, *end = format + n, *word = NULL, *name = NULL;
	size_t name_size = 0;
	struct lttng_field in_trace = {.kind = LTTNG_NO_KIND}, c_type;
	bool network = false, compact = false;
	int count = 0;

	for (; p < end; p++) {
		if (*p == ' ') {
			/* only the first word is the name */
			if (word && !name) {
				name = word;
				name_size = (size_t)(p - word);
			}
			word = NULL;
		} else if (*p == '#' && p + 1 < end && p[1] != '#') {
			for (p++; p < end && (*p == 'b' || *p == 'n'); p++) {
				compact |= *p == 'b';
				network |= *p == 'n';
			}
			in_trace = take_type(&p, end, eight ? "1248hlLzZt" : "124hlLzZt", sizes);
			/* unknown text is skipped */
			while (in_trace.kind == LTTNG_NO_KIND && p + 1 < end && p[1] != '%' &&
			       p[1] != ' ')
				p++;
		} else if (*p == '%' && p + 1 < end && p[1] != '%') {
			struct lttng_field *f = &fields[count];

			if (count == max)
				return -1;
			*f = (struct lttng_field){.name = name, .name_size = name_size};
			if (word)
				set_literal(f, word, (size_t)(p - word));
			for (p++; p < end && *p && strchr("-+ #0", *p);)
				p++;
			c_type = take_type(&p, end, "hlLzZt", sizes);
			lttng_set_type(f, &in_trace, &c_type);
			f->network = network;
			f->compact = compact;
			if (f->kind <= LTTNG_STRING)
				count++;
			in_trace = (struct lttng_field){.kind = LTTNG_NO_KIND};
			network = compact = false;
			name = word = NULL;
		} else {
			if ((*p == '#' || *p == '%') && p + 1 < end)
				p++; /* a doubled %: literal */
			if (!word)
				word = p;
		}
	}
	return count;
}
