/*
 * demangle_rust.c - the simple form of a Rust v0 name
 *
 * Grammar: Rust RFC 2603 and rustc's book, "v0 Symbol Format". The output has the path and the
 * generic arguments: `<TYPE as TRAIT>::method` without lifetimes, return types and disambiguators.
 * Back references are followed, because the names they refer to are shown; their sum is bounded by
 * STEPS_MAX, since a reference to references doubles the text.
 */
#include "common/symbols/demangle_simple.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 500
#define STEPS_MAX 50000

struct rust {
	const char *s;
	size_t at, end;
	struct demangle_text *out;
	unsigned types;	 /* number of types around the present one: shown only if show_types */
	bool show_types; /* in generic arguments and in the self type of an impl */
	bool mute;	 /* show nothing */
	bool started;	 /* "::" precedes the next name */
	unsigned depth, steps;
	bool excessive;
};

static bool read_path(struct rust *r);
static bool read_type(struct rust *r);
static bool read_const(struct rust *r);

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char rust_peek(const struct rust *r)
{
	return r->at < r->end ? r->s[r->at] : '\0';
}

static bool rust_accept(struct rust *r, char c)
{
	if (!c || rust_peek(r) != c)
		return false;
	r->at++;
	return true;
}

static bool rust_enter(struct rust *r)
{
	r->depth++;
	if (r->depth <= DEPTH_MAX && ++r->steps <= STEPS_MAX)
		return true;
	r->excessive = true;
	return false;
}

static bool rust_leave(struct rust *r, bool result)
{
	r->depth--;
	return result;
}

static bool rust_shown(const struct rust *r)
{
	return (!r->types || r->show_types) && !r->mute;
}

static bool rust_put(struct rust *r, const char *s)
{
	return demangle_puts(r->out, s);
}

static bool put_if(struct rust *r, bool wanted, const char *s)
{
	return !wanted || rust_put(r, s);
}

static bool rust_separate(struct rust *r)
{
	bool first = !r->started;

	r->started = true;
	return first || rust_put(r, "::");
}

/* Remove the comma after the last item of a list, each of which ended with one. */
static void drop_comma(struct rust *r)
{
	struct demangle_text *t = r->out;

	if (t->length && t->buf[t->length - 1] == ',')
		t->buf[--t->length] = '\0';
}

/* Read base 62 digits and '_': "_" is 0, "0_" is 1. */
static bool read_base62(struct rust *r, uint64_t *value)
{
	uint64_t v = 0;
	bool any = false;
	char c;

	while ((c = rust_peek(r)) != '_') {
		unsigned digit;

		if (is_digit(c))
			digit = (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'z')
			digit = (unsigned)(c - 'a') + 10;
		else if (c >= 'A' && c <= 'Z')
			digit = (unsigned)(c - 'A') + 36;
		else
			return false;
		if (v > (UINT64_MAX - 62) / 62)
			return false;
		v = v * 62 + digit;
		any = true;
		r->at++;
	}
	r->at++;
	if (value)
		*value = v + any;
	return true;
}

static bool skip_optional(struct rust *r, char mark)
{
	return !rust_accept(r, mark) || read_base62(r, NULL);
}

/* [u] <length> [_] <bytes>; Unicode names stay in Punycode, as uftrace leaves them */
static bool read_undisambiguated(struct rust *r)
{
	size_t n = 0;
	const char *s;

	rust_accept(r, 'u');
	if (!is_digit(rust_peek(r)))
		return false;
	/* a zero is the whole length: digits after it begin the next identifier */
	if (!rust_accept(r, '0'))
		while (is_digit(rust_peek(r))) {
			if (n > DEMANGLE_MAX)
				return false;
			n = n * 10 + (size_t)(rust_peek(r) - '0');
			r->at++;
		}
	rust_accept(r, '_');
	if (n > r->end - r->at)
		return false;
	s = r->s + r->at;
	r->at += n;
	if (!n || !rust_shown(r))
		return true;
	return rust_separate(r) && demangle_append(r->out, s, n);
}

static bool read_identifier(struct rust *r)
{
	return skip_optional(r, 's') && read_undisambiguated(r);
}

/* B <base 62>: read again from that offset after "_R", which must be before the reference */
static bool read_backref(struct rust *r, bool (*reader)(struct rust *))
{
	size_t here = r->at, back;
	uint64_t offset;
	bool good;

	r->at++;
	if (!read_base62(r, &offset) || offset >= here || offset + 2 >= here)
		return false;
	back = r->at;
	r->at = (size_t)offset + 2;
	good = reader(r);
	r->at = back;
	return good;
}

static bool read_muted(struct rust *r, bool (*reader)(struct rust *))
{
	bool outer = r->mute, good;

	r->mute = true;
	good = reader(r);
	r->mute = outer;
	return good;
}

/* Read what is shown, and begins without "::". */
static bool read_shown(struct rust *r, bool (*reader)(struct rust *))
{
	bool outer = r->show_types, good;

	r->started = false;
	r->show_types = true;
	good = reader(r);
	r->show_types = outer;
	return good;
}

static bool read_self_type(struct rust *r)
{
	return read_shown(r, read_type);
}

static bool read_impl_path(struct rust *r)
{
	return skip_optional(r, 's') && read_path(r);
}

/* N <namespace> <path> <identifier> */
static bool read_nested(struct rust *r)
{
	bool closure = rust_peek(r) == 'C';

	if (!rust_peek(r))
		return false;
	r->at++;
	if (!read_path(r) || !read_identifier(r))
		return false;
	if (!closure || !rust_shown(r))
		return true;
	return rust_separate(r) && rust_put(r, "{closure}");
}

/* M <impl path> <type>: <TYPE>::... */
static bool read_inherent_impl(struct rust *r)
{
	return put_if(r, r->started, "::") && read_muted(r, read_impl_path) &&
	       put_if(r, !r->mute, "<") && read_self_type(r) && put_if(r, !r->mute, ">") &&
	       (r->started = true);
}

/* Y <type> <trait>: <TYPE as TRAIT>::... */
static bool read_trait_definition(struct rust *r)
{
	return put_if(r, !r->mute, "<") && read_self_type(r) && put_if(r, !r->mute, " as ") &&
	       read_shown(r, read_path) && put_if(r, !r->mute, ">") && (r->started = true);
}

/* X <impl path> <type> <trait>: the same */
static bool read_trait_impl(struct rust *r)
{
	return read_muted(r, read_impl_path) && read_trait_definition(r);
}

static bool read_generic_arg(struct rust *r)
{
	r->started = false;
	if (rust_peek(r) == 'L')
		return skip_optional(r, 'L');
	return rust_accept(r, 'K') ? read_const(r) : read_type(r);
}

/* I <path> <argument>* E */
static bool read_generic_args(struct rust *r)
{
	bool outer = r->show_types, good;

	r->show_types = true;
	r->types++;
	good = read_path(r) && put_if(r, !r->mute, "<");
	r->types--;
	while (good && rust_peek(r) != 'E')
		good = read_generic_arg(r) && put_if(r, !r->mute, ",");
	r->show_types = outer;
	r->started = true;
	if (!good || !rust_accept(r, 'E'))
		return false;
	if (!r->mute)
		drop_comma(r);
	return put_if(r, !r->mute, ">");
}

static bool read_path_inside(struct rust *r)
{
	switch (rust_peek(r)) {
	case 'B': return read_backref(r, read_path);
	case 'C': /* crate */ r->at++; return read_identifier(r);
	case 'I': r->at++; return read_generic_args(r);
	case 'M': r->at++; return read_inherent_impl(r);
	case 'N': r->at++; return read_nested(r);
	case 'X': r->at++; return read_trait_impl(r);
	case 'Y': r->at++; return read_trait_definition(r);
	}
	return false;
}

static bool read_path(struct rust *r)
{
	return rust_leave(r, rust_enter(r) && read_path_inside(r));
}

/* A <type> <const> */
static bool read_array(struct rust *r)
{
	bool show = rust_shown(r);

	return put_if(r, show, "[") && read_type(r) && put_if(r, show, ";") && read_const(r) &&
	       put_if(r, show, "]");
}

/* <type>* E */
static bool read_list(struct rust *r, bool show, const char *before)
{
	if (!put_if(r, show, before))
		return false;
	while (rust_peek(r) != 'E')
		if (!read_type(r) || !put_if(r, show, ","))
			return false;
	r->at++;
	if (show)
		drop_comma(r);
	return put_if(r, show, ")");
}

/* F [G <lifetimes>] [U] [K <abi>] <type>* E <return type> */
static bool read_function(struct rust *r)
{
	if (!skip_optional(r, 'G'))
		return false;
	rust_accept(r, 'U');
	if (rust_accept(r, 'K') && !rust_accept(r, 'C') && !read_muted(r, read_undisambiguated))
		return false;
	return read_list(r, rust_shown(r), "fn(") && read_muted(r, read_type);
}

/* D [G <lifetimes>] (<trait> (p <name> <type>)*)* E <lifetime> */
static bool read_dyn(struct rust *r)
{
	if (!skip_optional(r, 'G'))
		return false;
	while (rust_peek(r) != 'E') {
		if (!read_path(r))
			return false;
		while (rust_accept(r, 'p'))
			if (!read_undisambiguated(r) || !read_type(r))
				return false;
	}
	r->at++;
	return rust_accept(r, 'L') && read_base62(r, NULL);
}

static bool read_reference(struct rust *r, const char *mark)
{
	return put_if(r, rust_shown(r), mark) && skip_optional(r, 'L') && read_type(r);
}

static const char *basic_type(char c)
{
	switch (c) {
	case 'a': return "i8";
	case 'b': return "bool";
	case 'c': return "char";
	case 'd': return "f64";
	case 'e': return "str";
	case 'f': return "f32";
	case 'h': return "u8";
	case 'i': return "isize";
	case 'j': return "usize";
	case 'l': return "i32";
	case 'm': return "u32";
	case 'n': return "i128";
	case 'o': return "u128";
	case 'p': return "_";
	case 's': return "i16";
	case 't': return "u16";
	case 'u': return "()";
	case 'v': return "...";
	case 'x': return "i64";
	case 'y': return "u64";
	case 'z': return "!";
	}
	return NULL;
}

static bool read_type_of(struct rust *r, bool show)
{
	char c = rust_peek(r);
	const char *basic = basic_type(c);

	if (basic) {
		r->at++;
		return put_if(r, show, basic);
	}
	if (c == 'B')
		return read_backref(r, read_type);
	if (!c || !strchr("ADFOPQRST", c))
		return read_path(r);
	r->at++;
	switch (c) {
	case 'A': return read_array(r);
	case 'D': return read_dyn(r);
	case 'F': return read_function(r);
	case 'O': return put_if(r, show, "*mut_") && read_type(r);
	case 'P': return put_if(r, show, "*const_") && read_type(r);
	case 'Q': return read_reference(r, "&mut_");
	case 'R': return read_reference(r, "&");
	case 'S': return put_if(r, show, "[") && read_type(r) && put_if(r, show, "]");
	}
	return read_list(r, show, "("); /* T, tuple */
}

static bool read_type(struct rust *r)
{
	bool show = rust_shown(r), good;

	r->types++;
	good = rust_enter(r) && read_type_of(r, show);
	r->types--;
	return rust_leave(r, good);
}

/* <type> [n] <hex digits> _, p, or a back reference */
static bool read_const_inside(struct rust *r)
{
	uint64_t v = 0;
	char buf[24];

	if (rust_accept(r, 'p'))
		return put_if(r, rust_shown(r), "_");
	if (rust_peek(r) == 'B')
		return read_backref(r, read_const);
	if (!read_muted(r, read_type))
		return false;
	rust_accept(r, 'n'); /* the sign is not shown */
	while (is_digit(rust_peek(r)) || (rust_peek(r) >= 'a' && rust_peek(r) <= 'f')) {
		char c = rust_peek(r);

		v = v << 4 | (unsigned)(is_digit(c) ? c - '0' : c - 'a' + 10);
		r->at++;
	}
	snprintf(buf, sizeof buf, "%" PRIu64, v);
	return put_if(r, rust_shown(r), buf) && rust_accept(r, '_');
}

static bool read_const(struct rust *r)
{
	return rust_leave(r, rust_enter(r) && read_const_inside(r));
}

enum demangle_result demangle_simple_rust(struct demangle_text *t, const char *s, size_t n)
{
	struct rust r = {.s = s, .end = n, .out = t};
	bool good = rust_accept(&r, '_') && rust_accept(&r, 'R');

	if (is_digit(rust_peek(&r))) /* a version of the encoding */
		r.at++;
	good = good && read_path(&r);
	/* skip the crate that made the instance, then what compilers append */
	if (good && r.at < r.end && rust_peek(&r) != '.' && rust_peek(&r) != '$')
		good = read_muted(&r, read_path) &&
		       (r.at == r.end || rust_peek(&r) == '.' || rust_peek(&r) == '$');
	if (r.excessive || t->full)
		return DEMANGLE_EXCESSIVE;
	return good && t->length ? DEMANGLE_DONE : DEMANGLE_UNREADABLE;
}
