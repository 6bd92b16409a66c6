/*
 * demangle_cxx.c - the simple form of an Itanium C++ name
 *
 * The grammar is that of the C++ ABI (itanium-cxx-abi.github.io, 5.1). The name is read once, left
 * to right, without references to earlier parts: types, parameters and template arguments are read
 * only to find their end, so substitutions (S0_) need no table, and time is linear in the name's
 * length. The output is exactly what `uftrace report` prints: an ABI tag is one more scope, every
 * conversion is `operator(cast)`, and std:: abbreviations within the template arguments of a shown
 * type (vtables, typeinfo) are written.
 */
#include "common/symbols/demangle_cxx.h"

#include <stdio.h>

/* Constructors and destructors: the last scope again */
static bool read_structor(struct cxx *r)
{
	const char *colon, *scope;
	bool destructor = cxx_peek(r, 0) == 'D', inherited;
	size_t start, n;

	r->at++;
	inherited = !destructor && cxx_accept(r, "I");
	if (!cxx_is_digit(cxx_peek(r, 0)))
		return false;
	r->at++;
	if (inherited && !cxx_read_type(r))
		return false;
	if (r->types)
		return true;
	if (!r->out->length)
		return false;
	colon = memrchr(r->out->buf, ':', r->out->length);
	scope = colon ? colon + 1 : r->out->buf;
	start = (size_t)(scope - r->out->buf);
	n = r->out->length - start;
	return cxx_put(r, destructor ? "::~" : "::") &&
	       demangle_append(r->out, r->out->buf + start, n);
}

/* Template parameters of a generic lambda: Ty, Tn <type>, Tt ... E, Tp <one of these> */
static bool read_lambda_template(struct cxx *r)
{
	while (cxx_peek(r, 0) == 'T' && cxx_one_of(cxx_peek(r, 1), "yntp")) {
		char c = cxx_peek(r, 1);
		bool good = true;

		r->at += 2;
		if (c == 'n')
			good = cxx_read_type(r);
		else if (c == 't')
			good = cxx_enter(r) && read_lambda_template(r) && cxx_accept(r, "E");
		if (c == 't')
			cxx_leave(r, good);
		if (!good)
			return false;
	}
	return true;
}

/* Ul <types> E [<number>] _ */
static bool read_lambda(struct cxx *r)
{
	unsigned index;
	char buf[16];

	r->at += 2;
	if (!read_lambda_template(r))
		return false;
	while (cxx_peek(r, 0) != 'E')
		if (!cxx_read_type(r))
			return false;
	if (!cxx_accept(r, "E") || !cxx_read_index(r, &index))
		return false;
	if (r->types)
		return true;
	snprintf(buf, sizeof buf, "$_%u", index);
	return cxx_separate(r) && cxx_put(r, buf);
}

bool cxx_read_unqualified(struct cxx *r)
{
	char c = cxx_peek(r, 0);
	bool good;

	if (c == 'C' || c == 'D') {
		good = read_structor(r);
	} else if (cxx_looking_at(r, "Ut")) { /* unnamed: nothing to show */
		r->at += 2;
		good = cxx_read_index(r, NULL);
	} else if (cxx_looking_at(r, "Ul")) {
		good = read_lambda(r);
	} else if (cxx_is_lower(c)) {
		good = cxx_read_operator(r);
	} else {
		cxx_accept(r, "L"); /* internal linkage */
		good = cxx_read_source_name(r);
	}
	return good && cxx_read_abi_tags(r);
}

static bool read_nested_part(struct cxx *r)
{
	char c = cxx_peek(r, 0);

	if (cxx_looking_at(r, "DT") || cxx_looking_at(r, "Dt"))
		return cxx_read_decltype(r);
	if (cxx_is_digit(c) || cxx_is_lower(c) || cxx_one_of(c, "CDU"))
		return cxx_read_unqualified(r);
	if (c == 'T')
		return cxx_read_template_param(r);
	if (c == 'I')
		return cxx_read_template_args(r);
	if (c == 'S')
		return cxx_read_substitution(r);
	/* M: member initializer, L: internal linkage, the rest: qualifiers of a method */
	if (!cxx_one_of(c, "MLVKRO"))
		return false;
	r->at++;
	return true;
}

/* N ... E */
static bool read_nested(struct cxx *r)
{
	r->at++;
	cxx_accept(r, "r"); /* restrict, before what could be an operator */
	while (cxx_peek(r, 0) != 'E')
		if (!read_nested_part(r))
			return false;
	return cxx_accept(r, "E");
}

/* _ <digit>, or __ <number> _ */
static void skip_discriminator(struct cxx *r)
{
	r->at++;
	if (cxx_accept(r, "_")) {
		cxx_read_number(r, NULL);
		cxx_accept(r, "_");
	} else {
		cxx_read_number(r, NULL);
	}
}

/* Z <function> E <entity> [<discriminator>] */
static bool read_local(struct cxx *r)
{
	r->at++;
	if (!cxx_read_encoding(r) || !cxx_accept(r, "E"))
		return false;
	if (cxx_accept(r, "d")) /* in a default argument */
		return cxx_read_index(r, NULL) && cxx_read_name(r);
	if (!cxx_accept(r, "s") && !cxx_read_name(r)) /* s: a string literal */
		return false;
	if (cxx_peek(r, 0) == '_' && !r->ref_temp)
		skip_discriminator(r);
	return true;
}

static bool read_name_inside(struct cxx *r)
{
	char c = cxx_peek(r, 0);

	if (c == 'N')
		return read_nested(r);
	if (c == 'Z')
		return read_local(r);
	if (c == 'S') {
		if (!cxx_read_substitution(r))
			return false;
		if (cxx_peek(r, 0) == 'I')
			return cxx_read_template_args(r);
	}
	return cxx_read_unqualified(r) && cxx_read_optional_args(r);
}

bool cxx_read_name(struct cxx *r)
{
	return cxx_leave(r, cxx_enter(r) && read_name_inside(r));
}

/* h <number> _, v <number> _ <number> _ */
static bool read_call_offset(struct cxx *r)
{
	if (cxx_accept(r, "h"))
		return cxx_read_number(r, NULL) && cxx_accept(r, "_");
	return cxx_accept(r, "v") && cxx_read_number(r, NULL) && cxx_accept(r, "_") &&
	       cxx_read_number(r, NULL) && cxx_accept(r, "_");
}

/* Virtual tables, thunks and other names that the compiler makes */
static bool read_special(struct cxx *r)
{
	static const struct {
		const char *code, *text;
	} of_types[] = {
		{"TV", "__vtable__"},	{"TT", "__VTT__"},	   {"TI", "__typeinfo_name__"},
		{"TS", "__typeinfo__"}, {"TF", "__typeinfo_fn__"}, {"TJ", "__java_class__"},
	};
	size_t i;

	for (i = 0; i < sizeof of_types / sizeof *of_types; i++)
		if (cxx_accept(r, of_types[i].code)) {
			r->show_types = true;
			return cxx_put(r, of_types[i].text) && cxx_read_type(r);
		}
	if (cxx_accept(r, "TC")) {
		bool good;

		r->show_types = true;
		good = cxx_put(r, "__construction_vtable__") && cxx_read_type(r);
		r->show_types = false;
		return good && cxx_read_number(r, NULL) && cxx_accept(r, "_") && cxx_read_type(r);
	}
	if (cxx_accept(r, "Tc"))
		return read_call_offset(r) && read_call_offset(r) && cxx_read_encoding(r);
	if (cxx_looking_at(r, "Th") || cxx_looking_at(r, "Tv")) {
		r->at++;
		return read_call_offset(r) && cxx_read_encoding(r);
	}
	if (cxx_looking_at(r, "TH") || cxx_looking_at(r, "TW")) {
		bool init = cxx_peek(r, 1) == 'H';

		r->at += 2;
		return cxx_separate(r) && cxx_put(r, init ? "TLS_init" : "TLS_wrap") &&
		       cxx_read_name(r);
	}
	if (cxx_accept(r, "GV"))
		return cxx_put(r, "__guard_variable__") && cxx_read_name(r);
	if (cxx_accept(r, "GR")) {
		r->ref_temp = true;
		return cxx_put(r, "__ref_temp__") && cxx_read_name(r) && cxx_read_sequence(r);
	}
	if (cxx_accept(r, "GA") || cxx_accept(r, "GTt") || cxx_accept(r, "GTn"))
		return cxx_read_encoding(r);
	return false;
}

static bool read_encoding_inside(struct cxx *r)
{
	char c = cxx_peek(r, 0);

	if (c == 'T' || c == 'G')
		return read_special(r);
	if (!cxx_read_name(r))
		return false;
	while (r->at < r->end && !cxx_one_of(cxx_peek(r, 0), "E.@"))
		if (!cxx_read_type(r))
			return false;
	/* what a compiler appends to clones, or a linker for versions, is not part of the name */
	if (cxx_one_of(cxx_peek(r, 0), ".@"))
		r->end = r->at;
	return true;
}

bool cxx_read_encoding(struct cxx *r)
{
	return cxx_leave(r, cxx_enter(r) && read_encoding_inside(r));
}

enum demangle_result demangle_simple_cxx(struct demangle_text *t, const char *s, size_t n,
					 struct demangle_traits *traits)
{
	struct cxx r = {.s = s, .end = n, .out = t, .strict = !traits};
	bool good = cxx_accept(&r, "_Z") && cxx_read_encoding(&r) && r.at == r.end && t->length;

	if (traits)
		*traits = r.traits;
	if (r.too_deep || t->full)
		return DEMANGLE_EXCESSIVE;
	return good ? DEMANGLE_DONE : DEMANGLE_UNREADABLE;
}
