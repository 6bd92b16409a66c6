/*
 * demangle_rust.c - the simple form of a Rust v0 name
 *
 * Grammar: Rust RFC 2603 and rustc's book, "v0 Symbol Format". The output has the path and the
 * generic arguments: `<TYPE as TRAIT>::method` without disambiguators. Types are whole: methods of
 * two types have two names.
 * Back references are followed, because the names they refer to are shown; their sum is bounded by
 * STEPS_MAX, since a reference to references doubles the text.
 */
#include "common/symbols/demangle_simple.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX     500
#define STEPS_MAX     50000
#define LIFETIMES_MAX 255 /* bound by one type */

struct rust {
	const char *s;
	size_t at, end;
	struct demangle_text *out;
	unsigned types;	 /* number of types around the present one: shown only if show_types */
	bool show_types; /* in generic arguments and in the self type of an impl */
	bool mute;	 /* show nothing */
	bool started;	 /* "::" precedes the next name */
	unsigned depth, steps;
	uint64_t lifetimes; /* bound by the types around the present one */
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

/* Put the name of a lifetime, counted from the outermost one that is bound: 'a, 'b ... 'z26. */
static bool put_lifetime(struct rust *r, uint64_t n)
{
	char text[32];

	if (n < 26)
		snprintf(text, sizeof text, "'%c", (char)('a' + n));
	else
		snprintf(text, sizeof text, "'z%" PRIu64, n);
	return put_if(r, rust_shown(r), text);
}

/* L <base 62>: 0 an erased lifetime, else counted from the innermost one that is bound. *named: it
 * is not erased. */
static bool read_lifetime(struct rust *r, bool *named)
{
	uint64_t index;

	*named = false;
	if (!rust_accept(r, 'L'))
		return true;
	if (!read_base62(r, &index) || index > r->lifetimes)
		return false;
	*named = index;
	return !index || put_lifetime(r, r->lifetimes - index);
}

/* [G <base 62>]: lifetimes that a type binds; the caller restores r->lifetimes. */
static bool read_binder(struct rust *r)
{
	uint64_t n;

	if (!rust_accept(r, 'G'))
		return true;
	if (!read_base62(r, &n) || n > LIFETIMES_MAX)
		return false;
	if (!put_if(r, rust_shown(r), "for<"))
		return false;
	for (uint64_t i = 0; i <= n; i++)
		if (!put_if(r, rust_shown(r) && i, ",") || !put_lifetime(r, r->lifetimes++))
			return false;
	return put_if(r, rust_shown(r), "> ");
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
	bool named;

	if (rust_peek(r) == 'L')
		return read_lifetime(r, &named) && put_if(r, !named && rust_shown(r), "'_");
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

/* [U] [K <abi>] <type>* E <return type> */
static bool read_signature(struct rust *r, bool show)
{
	if (rust_accept(r, 'U') && !put_if(r, show, "unsafe "))
		return false;
	if (rust_accept(r, 'K')) {
		r->started = false;
		if (!put_if(r, show, "extern \"") ||
		    !(rust_accept(r, 'C') ? put_if(r, show, "C") : read_undisambiguated(r)) ||
		    !put_if(r, show, "\" "))
			return false;
	}
	if (!read_list(r, show, "fn("))
		return false;
	/* nothing is returned */
	if (rust_accept(r, 'u'))
		return true;
	return put_if(r, show, " -> ") && read_type(r);
}

/* F [G <lifetimes>] <signature> */
static bool read_function(struct rust *r)
{
	uint64_t lifetimes = r->lifetimes;
	bool good = read_binder(r) && read_signature(r, rust_shown(r));

	r->lifetimes = lifetimes;
	return good;
}

/* <trait> (p <name> <type>)*: TRAIT<ARGUMENT,NAME=TYPE> */
static bool read_dyn_trait(struct rust *r, bool show)
{
	bool any = false;

	r->started = false;
	if (!read_path(r))
		return false;
	while (rust_accept(r, 'p')) {
		struct demangle_text *t = r->out;
		bool open = any || (show && t->length && t->buf[t->length - 1] == '>');

		if (show && open && !any)
			t->buf[--t->length] = '\0';
		any = true;
		r->started = false;
		if (!put_if(r, show, open ? "," : "<") || !read_undisambiguated(r) ||
		    !put_if(r, show, "=") || !read_type(r))
			return false;
	}
	return put_if(r, show && any, ">");
}

/* D [G <lifetimes>] <trait>* E <lifetime>; the lifetime is not bound by it */
static bool read_dyn(struct rust *r)
{
	uint64_t lifetimes = r->lifetimes;
	bool show = rust_shown(r), first = true, good = put_if(r, show, "dyn "), named;

	good = good && read_binder(r);
	for (; good && rust_peek(r) != 'E'; first = false)
		good = put_if(r, show && !first, " + ") && read_dyn_trait(r, show);
	r->lifetimes = lifetimes;
	if (!good || !rust_accept(r, 'E') || rust_peek(r) != 'L')
		return false;
	if (r->at + 1 < r->end && r->s[r->at + 1] != '_' && !put_if(r, show, " + "))
		return false;
	return read_lifetime(r, &named);
}

static bool read_reference(struct rust *r, const char *mark)
{
	bool show = rust_shown(r), named;

	return put_if(r, show, "&") && read_lifetime(r, &named) && put_if(r, show && named, " ") &&
	       put_if(r, show, mark) && read_type(r);
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
	case 'O': return put_if(r, show, "*mut ") && read_type(r);
	case 'P': return put_if(r, show, "*const ") && read_type(r);
	case 'Q': return read_reference(r, "mut ");
	case 'R': return read_reference(r, "");
	case 'S': return put_if(r, show, "[") && read_type(r) && put_if(r, show, "]");
	}
	return read_list(r, show, "("); /* T, tuple */
}

static bool read_type(struct rust *r)
{
	bool show = rust_shown(r), good;

	r->types++;
	r->started = false;
	good = rust_enter(r) && read_type_of(r, show);
	r->types--;
	return rust_leave(r, good);
}

/* <type> [n] <hex digits> _, p, or a back reference */
static bool read_const_inside(struct rust *r)
{
	uint64_t v = 0;
	size_t digits;
	char buf[24];
	bool truth;

	if (rust_accept(r, 'p'))
		return put_if(r, rust_shown(r), "_");
	if (rust_peek(r) == 'B')
		return read_backref(r, read_const);
	truth = rust_peek(r) == 'b';
	if (!read_muted(r, read_type) || (rust_accept(r, 'n') && !put_if(r, rust_shown(r), "-")))
		return false;
	digits = r->at;
	while (is_digit(rust_peek(r)) || (rust_peek(r) >= 'a' && rust_peek(r) <= 'f')) {
		char c = rust_peek(r);

		v = v << 4 | (unsigned)(is_digit(c) ? c - '0' : c - 'a' + 10);
		r->at++;
	}
	digits = r->at - digits;
	if (digits > 16) /* of 128 bits */
		return (!rust_shown(r) ||
			(rust_put(r, "0x") &&
			 demangle_append(r->out, r->s + r->at - digits, digits))) &&
		       rust_accept(r, '_');
	snprintf(buf, sizeof buf, "%" PRIu64, v);
	if (truth)
		snprintf(buf, sizeof buf, "%s", v ? "true" : "false");
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
