/*
 * demangle_cxx_base.c - the small parts of a C++ name: numbers, identifiers, substitutions
 */
#include "common/symbols/demangle_cxx.h"

/* Largest number in a name: larger lengths and indexes are wrong in a name of at most 64 KiB. */
#define NUMBER_MAX 1000000

/* <number>: digits after an optional 'n' (minus). */
bool cxx_read_number(struct cxx *r, unsigned *value)
{
	unsigned v = 0;

	cxx_accept(r, "n");
	if (!cxx_is_digit(cxx_peek(r, 0)))
		return false;
	while (cxx_is_digit(cxx_peek(r, 0))) {
		if (v < NUMBER_MAX)
			v = v * 10 + (unsigned)(cxx_peek(r, 0) - '0');
		r->at++;
	}
	if (value)
		*value = v;
	return true;
}

/* Read the digits of an index that may be absent: "_" is the first, "0_" the second. */
bool cxx_read_index(struct cxx *r, unsigned *value)
{
	unsigned v = 0;

	if (cxx_is_digit(cxx_peek(r, 0))) {
		cxx_read_number(r, &v);
		v++;
	}
	if (value)
		*value = v;
	return cxx_accept(r, "_");
}

/* <seq-id> _ */
bool cxx_read_sequence(struct cxx *r)
{
	while (cxx_is_digit(cxx_peek(r, 0)) || cxx_is_upper(cxx_peek(r, 0)))
		r->at++;
	return cxx_accept(r, "_");
}

/*
 * Rust's legacy names: what the compiler escapes as $LT$ within an identifier. The last identifier
 * of these names is a hash and is not shown.
 */
static const struct {
	const char *code, *text;
} escapes[] = {
	{"SP", "@"},  {"BP", "*"},  {"RF", "&"},  {"LT", "<"},	{"GT", ">"},
	{"LP", "("},  {"RP", ")"},  {"C", ","},	  {"u20", " "}, {"u22", "\""},
	{"u27", "'"}, {"u2b", "+"}, {"u3b", ";"}, {"u3d", "="}, {"u5b", "["},
	{"u5d", "]"}, {"u7b", "{"}, {"u7d", "}"}, {"u7e", "~"},
};

static bool is_rust_hash(const char *s, size_t n)
{
	size_t i;

	if (n != 17 || s[0] != 'h')
		return false;
	for (i = 1; i < n; i++)
		if (!cxx_is_hex(s[i]))
			return false;
	return true;
}

static bool put_dots_as_scopes(struct cxx *r, const char *s, size_t n)
{
	const char *dots;

	while ((dots = memmem(s, n, "..", 2))) {
		size_t before = (size_t)(dots - s);

		if (!demangle_append(r->out, s, before) || !cxx_put(r, "::"))
			return false;
		s += before + 2;
		n -= before + 2;
	}
	return demangle_append(r->out, s, n);
}

static bool put_identifier(struct cxx *r, const char *s, size_t n)
{
	const char *end = s + n, *dollar;

	/* an identifier cannot begin with an escape: "_$LT$" is "<" */
	if (n > 4 && (!memcmp(s, "_$LT$", 5) || !memcmp(s, "_$u7b", 5)))
		s++;
	while ((dollar = memchr(s, '$', (size_t)(end - s)))) {
		size_t left = (size_t)(end - dollar) - 1, length = 0, i;

		for (i = 0; i < sizeof escapes / sizeof *escapes; i++) {
			length = strlen(escapes[i].code);
			if (length <= left && !memcmp(dollar + 1, escapes[i].code, length))
				break;
		}
		if (i == sizeof escapes / sizeof *escapes) /* "$_0" of clang's lambdas */
			break;
		if (!put_dots_as_scopes(r, s, (size_t)(dollar - s)))
			return false;
		if (!cxx_put(r, escapes[i].text))
			return false;
		s = left >= length + 1 ? dollar + length + 2 : end;
	}
	return demangle_append(r->out, s, (size_t)(end - s));
}

/* <source-name> */
bool cxx_read_source_name(struct cxx *r)
{
	const char *s;
	unsigned n;

	if (!cxx_is_digit(cxx_peek(r, 0)) || !cxx_read_number(r, &n) || r->at == r->end ||
	    n > r->end - r->at)
		return false;
	s = r->s + r->at;
	r->at += n;
	if (!cxx_names_shown(r) || is_rust_hash(s, n))
		return true;
	return cxx_separate(r) && put_identifier(r, s, n);
}

bool cxx_read_abi_tags(struct cxx *r)
{
	while (cxx_accept(r, "B"))
		if (!cxx_read_source_name(r))
			return false;
	return true;
}

/* S<seq-id>_, or an abbreviation of something in std:: */
bool cxx_read_substitution(struct cxx *r)
{
	static const struct {
		char code;
		const char *text;
	} abbreviations[] = {
		{'t', "std"},
		{'a', "std::allocator"},
		{'b', "std::basic_string"},
		{'s', "std::basic_string<>"},
		{'i', "std::basic_istream"},
		{'o', "std::basic_ostream"},
		{'d', "std::basic_iostream"},
	};
	size_t i;

	if (!cxx_accept(r, "S"))
		return false;
	for (i = 0; i < sizeof abbreviations / sizeof *abbreviations; i++) {
		if (cxx_peek(r, 0) != abbreviations[i].code)
			continue;
		r->at++;
		if (!r->types || r->show_types)
			if (!cxx_separate(r) || !cxx_put(r, abbreviations[i].text))
				return false;
		return cxx_read_abi_tags(r);
	}
	return cxx_read_sequence(r);
}

/* <template-param>: T_, T0_, TL0__ */
bool cxx_read_template_param(struct cxx *r)
{
	if (!cxx_accept(r, "T"))
		return false;
	if (cxx_accept(r, "L"))
		if (!cxx_read_index(r, NULL))
			return false;
	return cxx_read_index(r, NULL);
}

/* <function-param>: fp_, fp0_, fpK_, fL0p_ ... and "fpT", this */
bool cxx_read_function_param(struct cxx *r)
{
	if (cxx_accept(r, "fpT"))
		return !r->strict;
	if (cxx_accept(r, "fL")) {
		if (!cxx_read_number(r, NULL) || !cxx_accept(r, "p"))
			return false;
	} else if (!cxx_accept(r, "fp")) {
		return false;
	}
	while (cxx_one_of(cxx_peek(r, 0), "rVK"))
		r->at++;
	return cxx_read_index(r, NULL);
}
