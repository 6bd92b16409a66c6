#include "common/value/scalar.h"

#include <string.h>

static enum scalar_order order(int sign)
{
	return sign < 0 ? ORDER_LESS : sign > 0 ? ORDER_GREATER : ORDER_EQUAL;
}

/* Convert a number to compare it with another one. */
static long double as_real(const struct scalar *s, const struct scalar *other)
{
	if (s->form == SCALAR_REAL && s->written && other->form == SCALAR_REAL && other->real_size)
		return other->real_size == 4 ? s->as_float : s->as_double;
	return s->form == SCALAR_REAL  ? s->real
	       : s->form == SCALAR_INT ? (long double)s->i
				       : (long double)s->u;
}

static enum scalar_order compare_numbers(const struct scalar *a, const struct scalar *b)
{
	bool a_negative = a->form == SCALAR_INT && a->i < 0;
	bool b_negative = b->form == SCALAR_INT && b->i < 0;

	if (a->form == SCALAR_REAL || b->form == SCALAR_REAL) {
		long double x = as_real(a, b), y = as_real(b, a);

		if (x != x || y != y)
			return ORDER_UNORDERED;
		return order((x > y) - (x < y));
	}
	if (a_negative != b_negative)
		return a_negative ? ORDER_LESS : ORDER_GREATER;
	/* of the same sign two's complement keeps the order */
	return order((a->u > b->u) - (a->u < b->u));
}

static int compare_bytes(const char *a, size_t an, const char *b, size_t bn)
{
	int sign = memcmp(a, b, an < bn ? an : bn);

	return sign ? sign : (an > bn) - (an < bn);
}

void scalar_basename(const char **text, size_t *size)
{
	const char *slash = memrchr(*text, '/', *size);

	if (slash) {
		*size -= (size_t)(slash + 1 - *text);
		*text = slash + 1;
	}
}

static enum scalar_order compare_texts(const struct scalar *a, const struct scalar *b)
{
	enum scalar_order o = order(compare_bytes(a->text, a->size, b->text, b->size));
	struct scalar x = *a, y = *b;

	if (o == ORDER_EQUAL || !(a->path || b->path))
		return o;
	/* a path and the name of a file in it are equal */
	if (a->path && !(b->path || memchr(b->text, '/', b->size)))
		scalar_basename(&x.text, &x.size);
	if (b->path && !(a->path || memchr(a->text, '/', a->size)))
		scalar_basename(&y.text, &y.size);
	return order(compare_bytes(x.text, x.size, y.text, y.size));
}

/* Test whether the text names a bit that is set, or several. For 0: whether none is. */
static bool has_bits(const struct scalar *number, const struct scalar *text)
{
	for (uint32_t i = 0; number->names && i < number->names->count; i++) {
		const struct member *m = &number->names->members[i];

		if ((m->low ? (number->u & m->low) == m->low : !number->u) &&
		    !compare_bytes(m->name.text, m->name.size, text->text, text->size))
			return true;
	}
	return false;
}

/* Test whether the text is the spelling of the number. Blanks around each '|' are ignored. */
static bool same_spelling(const struct scalar *number, const struct scalar *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->size; i++) {
		bool blank =
			text->text[i] == ' ' && ((i + 1 < text->size && text->text[i + 1] == '|') ||
						 (i && text->text[i - 1] == '|'));

		if (blank)
			continue;
		if (n == number->size || number->text[n++] != text->text[i])
			return false;
	}
	return n == number->size;
}

/* Compare a number with names with a text. Several names may have one number. */
static enum scalar_order compare_name(const struct scalar *number, const struct scalar *text)
{
	if (number->character) {
		char c = (char)number->u;

		return order(compare_bytes(&c, 1, text->text, text->size));
	}
	if (number->text && same_spelling(number, text))
		return ORDER_EQUAL;
	if (number->bits)
		return has_bits(number, text) ? ORDER_EQUAL : ORDER_UNORDERED;
	if (!number->names)
		return number->text ? ORDER_UNORDERED : ORDER_NONE;
	for (const struct member *m = definition_member(number->names, number->u); m;
	     m = definition_next_member(number->names, m, number->u))
		if (!compare_bytes(m->name.text, m->name.size, text->text, text->size))
			return ORDER_EQUAL;
	return ORDER_UNORDERED;
}

enum scalar_order scalar_compare(const struct scalar *a, const struct scalar *b)
{
	enum scalar_order o;

	if (scalar_is_number(a) && scalar_is_number(b))
		return compare_numbers(a, b);
	if (a->form == SCALAR_TEXT && b->form == SCALAR_TEXT)
		return compare_texts(a, b);
	if (scalar_is_number(a) && b->form == SCALAR_TEXT)
		return compare_name(a, b);
	if (a->form == SCALAR_TEXT && scalar_is_number(b)) {
		o = compare_name(b, a);
		return o == ORDER_LESS ? ORDER_GREATER : o == ORDER_GREATER ? ORDER_LESS : o;
	}
	return ORDER_NONE;
}

bool scalar_constant(const char *text, size_t size, struct scalar *s)
{
	static const char *const words[] = {"NULL", "false", "true"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i]) == size && !memcmp(words[i], text, size)) {
			*s = (struct scalar){.form = SCALAR_UINT, .u = i == 2};
			return true;
		}
	return false;
}

bool scalar_true(const struct scalar *s)
{
	switch (s->form) {
	case SCALAR_NONE: return false;
	case SCALAR_OTHER: return true;
	case SCALAR_TEXT: return s->size > 0;
	case SCALAR_REAL: return s->real != 0;
	case SCALAR_INT:
	case SCALAR_UINT: break;
	}
	return s->u != 0;
}

bool scalar_text(const struct scalar *s, char *c, const char **text, size_t *size)
{
	const struct member *m;

	if (s->form == SCALAR_TEXT || (s->text && scalar_is_number(s))) {
		*text = s->text;
		*size = s->size;
		return true;
	}
	if (!scalar_is_number(s))
		return false;
	if (s->character) {
		*c = (char)s->u;
		*text = c;
		*size = 1;
		return true;
	}
	m = definition_member(s->names, s->u);
	if (!m)
		return false;
	*text = m->name.text;
	*size = m->name.size;
	return true;
}
