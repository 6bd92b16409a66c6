/*
 * convert_values.c - convert values of any source to those of a uftrace recording
 *
 * Values in a recording have no types: info declares once for each function how its values are
 * stored. So the function's first call decides. Machine numbers are unchanged, other integers are
 * i64, and all other values are texts.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trencode/uftrace/convert.h"

enum { ARGUMENTS_MOST = 64, TEXT_MOST = 1000, FLOATING = 1000, RETVAL = 0xffff };

static bool has_number(const struct value *v, uint64_t *number)
{
	bool is_signed;

	if (v->tag == VALUE_NULL || v->tag == VALUE_FALSE)
		*number = 0;
	else if (v->tag == VALUE_TRUE)
		*number = 1;
	else if (v->tag == VALUE_POINTER || v->tag == VALUE_BITMASK)
		*number = v->number;
	else
		return value_integer(v, NULL, number, &is_signed);
	return true;
}

/* Choose how a value is stored, for the first call of a function. */
static void choose_stored(const struct value *v, struct uftrace_stored *s)
{
	s->letter = 's';
	s->size = 0;
	switch (v->tag) {
	case VALUE_NUMBER:
		/* uftrace 0.13 does not know octal numbers */
		if (v->size != 1 && v->size != 2 && v->size != 4 && v->size != 8 &&
		    !(v->format == 'f' && v->size == 10))
			return;
		s->letter = v->format == 'o' ? 'x' : (char)v->format;
		s->size = v->format == 'c' ? 1 : v->format == 'p' ? 8 : v->size;
		return;
	case VALUE_UINT:
	case VALUE_NEGATIVE:
		s->letter = v->tag == VALUE_UINT && v->number > INT64_MAX ? 'x' : 'i';
		s->size = 8;
		return;
	case VALUE_POINTER:
		s->letter = 'p';
		s->size = 8;
		return;
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		s->letter = 'f';
		s->size = v->tag == VALUE_FLOAT ? 4 : 8;
		return;
	}
}

/* Append the arguments that a leave recorded, in parentheses after the return value. */
static int put_outputs(struct uftrace_specs *s)
{
	struct buffer *b = &s->scratch;
	size_t from = b->size;

	if (buffer_printf(b, " ("))
		return -1;
	if (convert_text_arguments(b, s->conversion->dictionary, s->row, &s->blobs))
		return -1;
	if (b->size == from + 2)
		b->size = from;
	else
		return buffer_u8(b, ')');
	return 0;
}

static int put_text(struct uftrace_specs *s, const struct uftrace_stored *as, const struct value *v,
		    struct values *at)
{
	struct buffer *b = &s->scratch;

	b->size = 0;
	if (v->tag == VALUE_STRING) {
		const uint8_t *end = v->n ? memchr(v->bytes, 0, v->n) : NULL;
		size_t n = end ? (size_t)(end - v->bytes) : v->n;

		/* a few bytes more, so that convert_text_cut sees the excess */
		n = n < TEXT_MOST + 8 ? n : TEXT_MOST + 8;
		if (n && buffer_append(b, v->bytes, n))
			return -1;
	} else if (convert_text_value(b, s->conversion->dictionary, at, &s->blobs)) {
		return -1;
	}
	if (as->index == RETVAL && put_outputs(s))
		return -1;
	convert_text_cut(b, 0, TEXT_MOST, &s->cut);
	return value_put_bytes(&s->tail, VALUE_STRING, b->data, b->size);
}

/* Append a value, which is at `at`, as `as` requires. 1: the value cannot be stored so. */
static int put_value(struct uftrace_specs *s, const struct uftrace_stored *as,
		     const struct value *v, struct values *at)
{
	uint64_t number;
	uint8_t bytes[8];
	long double real;

	if (value_put_detail(&s->tail, as->index == RETVAL ? DETAIL_RETURN : DETAIL_ARGUMENT,
			     as->index == RETVAL ? 0 : as->index))
		return -1;
	if (as->letter == 's')
		return put_text(s, as, v, at);
	if (v->tag == VALUE_NUMBER && v->size == as->size)
		return value_put_number(&s->tail, as->letter, v->bytes, v->size);
	if (as->letter == 'f') {
		float single;
		double twice;

		if (as->size > 8)
			return 1;
		if (!value_real(v, &real)) {
			if (!has_number(v, &number))
				return 1;
			real = (long double)(int64_t)number;
		}
		single = (float)real;
		twice = (double)real;
		memcpy(bytes, as->size == 4 ? (void *)&single : (void *)&twice, as->size);
		return value_put_number(&s->tail, 'f', bytes, as->size);
	}
	if (!has_number(v, &number))
		return 1;
	put_u64(bytes, number);
	return value_put_number(&s->tail, as->letter, bytes, as->size);
}

static int spec_text(struct buffer *b, const struct uftrace_stored *x, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char sep = i ? ',' : '@';

		if (x[i].index == RETVAL ? buffer_printf(b, "%cretval", sep)
		    : x[i].index > FLOATING
			    ? buffer_printf(b, "%cfparg%u", sep, x[i].index - FLOATING)
			    : buffer_printf(b, "%carg%u", sep, x[i].index))
			return -1;
		if (strchr("scp", x[i].letter)
			    ? buffer_printf(b, "/%c", x[i].letter)
			    : buffer_printf(b, "/%c%u", x[i].letter, 8 * x[i].size))
			return -1;
	}
	return buffer_u8(b, ';');
}

static bool has_arguments(const struct event *ev)
{
	struct values v;
	struct detail d;

	values_begin(&v, ev->tail, ev->tail_size);
	while (values_detail(&v, &d))
		if (d.what == DETAIL_ARGUMENT)
			return true;
	return false;
}

static struct uftrace_spec *spec_of(struct uftrace_specs *s, struct text_ref name)
{
	uint32_t number = intern(&s->names, name.text, name.size);
	struct uftrace_spec *list;

	if (number == INTERN_NONE)
		return NULL;
	if (ARRAY_REACH(s->list, s->capacity, number))
		return NULL;
	list = s->list;
	return &list[number];
}

/* Decide by the values of the first call how those of later calls are stored. */
static int decide_spec(struct uftrace_specs *s, struct uftrace_spec *spec, const struct event *ev,
		       struct text_ref name, bool leave)
{
	struct uftrace_stored x[ARGUMENTS_MOST + 1] = {{0}};
	struct buffer *text = &s->text[leave];
	unsigned n = 0;
	struct values v;
	struct detail d;

	values_begin(&v, ev->tail, ev->tail_size);
	while (values_detail(&v, &d)) {
		bool wanted = leave ? d.what == DETAIL_RETURN
				    : d.what == DETAIL_ARGUMENT && d.index && d.index < RETVAL;
		unsigned i = 0;

		if (!wanted || n == ARGUMENTS_MOST)
			continue;
		x[n].index = leave ? RETVAL : (uint16_t)d.index;
		while (i < n && x[i].index != x[n].index)
			i++;
		if (i < n) {
			x[n].index = 0; /* the end */
			continue;
		}
		choose_stored(&d.value, &x[n++]);
	}
	if (leave && has_arguments(ev))
		x[0] = (struct uftrace_stored){RETVAL, 's', 0}, n = 1;
	spec->has[leave] = true;
	if (!n || strpbrk(name.text, ";@"))
		return 0;
	if (convert_name_escaped(text, name.text, name.size, "") || spec_text(text, x, n))
		return -1;
	if (leave) {
		spec->ret[0] = x[0];
		return 0;
	}
	spec->args = malloc((n + 1) * sizeof *x);
	if (!spec->args)
		return -1;
	memcpy(spec->args, x, (n + 1) * sizeof *x);
	return 0;
}

/* Append the arguments that a leave without return value recorded. 1: there are none. */
static int put_outputs_alone(struct uftrace_specs *s, const struct event *ev)
{
	struct buffer *b = &s->scratch;

	b->size = 0;
	if (!has_arguments(ev))
		return 1;
	if (put_outputs(s) || value_put_detail(&s->tail, DETAIL_RETURN, 0))
		return -1;
	convert_text_cut(b, 0, TEXT_MOST, &s->cut);
	/* without the leading space */
	return value_put_bytes(&s->tail, VALUE_STRING, b->data + (b->size > 0),
			       b->size - (b->size > 0));
}

/* Append the last recorded value of an argument or return value. 1: there is none. */
static int put_one(struct uftrace_specs *s, const struct uftrace_stored *as, const struct event *ev)
{
	size_t from = s->tail.size;
	struct values v;
	uint64_t index;
	uint8_t what;
	int got = 1;

	for (values_begin(&v, ev->tail, ev->tail_size); v.at < v.end;) {
		struct values at, after;
		struct value x;

		if (!values_what(&v, &what, &index))
			break;
		if (as->index == RETVAL ? what != DETAIL_RETURN
					: what != DETAIL_ARGUMENT || index != as->index) {
			if (!values_skip(&v))
				break;
			continue;
		}
		at = after = v;
		if (!values_value(&after, &x) || !values_skip(&v))
			break;
		s->tail.size = from;
		got = put_value(s, as, &x, &at);
		if (got < 0)
			return -1;
	}
	return got == 1 && as->index == RETVAL && as->letter == 's' ? put_outputs_alone(s, ev)
								    : got;
}

/* Test whether the call has values that the function's specification does not contain. */
static bool has_others(const struct uftrace_stored *x, const struct event *ev, bool leave)
{
	struct values v;
	struct detail d;

	values_begin(&v, ev->tail, ev->tail_size);
	while (values_detail(&v, &d)) {
		const struct uftrace_stored *is = x;

		if (leave) {
			if (d.what == DETAIL_ARGUMENT && x->letter != 's')
				return true;
			continue;
		}
		while (is->index && (d.what != DETAIL_ARGUMENT || is->index != d.index))
			is++;
		if (d.what == DETAIL_ARGUMENT && !is->index)
			return true;
	}
	return false;
}

int uftrace_values(struct uftrace_specs *s, const struct convert_row *r, const struct event *ev,
		   struct text_ref name)
{
	bool leave = r->what == CONVERT_LEAVE;
	const struct uftrace_stored *x;
	struct uftrace_spec *spec;
	unsigned wanted = 0, n = 0;
	struct values v;
	struct detail d;

	s->tail.size = 0;
	if (!ev->tail_size || r->cut)
		return 0;
	s->row = r->ev;
	values_begin(&v, ev->tail, ev->tail_size);
	while (values_detail(&v, &d))
		wanted += d.what == DETAIL_ARGUMENT || (leave && d.what == DETAIL_RETURN);
	if (!wanted)
		return 0;
	spec = spec_of(s, name);
	if (!spec || (!spec->has[leave] && decide_spec(s, spec, ev, name, leave)))
		return -1;
	x = leave ? spec->ret : spec->args;
	for (; x && x->index; x++, n++) {
		int got = put_one(s, x, ev);

		if (got < 0)
			return -1;
		if (got) {
			n = 0;
			break;
		}
	}
	if (!n) {
		s->tail.size = 0;
		s->changed++;
	} else {
		s->some += has_others(leave ? spec->ret : spec->args, ev, leave);
	}
	return 0;
}

void uftrace_specs_free(struct uftrace_specs *s)
{
	for (uint32_t i = 0; i < s->names.count && i < s->capacity; i++)
		free(s->list[i].args);
	free(s->list);
	intern_free(&s->names);
	for (int i = 0; i < 2; i++)
		buffer_free(&s->text[i]);
	buffer_free(&s->tail);
	buffer_free(&s->scratch);
}
