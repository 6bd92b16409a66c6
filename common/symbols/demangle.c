/*
 * demangle.c - readable names of C++ and Rust, by libiberty
 *
 *     _ZNSt6vectorIiSaIiEE9push_backEOi
 *         simple  std::vector::push_back
 *         full    std::vector<int, std::allocator<int> >::push_back(int&&)
 *     _RNvXs1g_NtCs8NwYtU1Mohg_4core3fmtReNtB6_5Debug3fmt
 *         both    <&str as core::fmt::Debug>::fmt
 *
 * libiberty reads a name of C++ into a tree. The simple form is the names of scopes in that tree;
 * the full form is what libiberty prints. libiberty 2023-01-04 limits its recursion, but not its
 * time, its output or the stack that reading needs, and one of its flags is not initialised. So
 * names that are long or that it reads again and again are refused, a tree is measured before it is
 * printed, names of Rust are read here first, and the flag is never looked at (see hide).
 */
#include "common/symbols/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/map.h"

/* Bytes of the longest mangled name read: libiberty needs some 140 bytes of stack for each. */
#define NAME_MAX_LENGTH 16384

/* Bytes of the longest text written */
#define TEXT_MAX 65536

/* Options of the full form: parameters, and qualifiers such as "const" */
#define FULL_OPTIONS (DMGL_PARAMS | DMGL_ANSI)

struct readable {
	char text[TEXT_MAX + 1];
	size_t length;
	bool full;     /* the text exceeds TEXT_MAX */
	jmp_buf *stop; /* where printing ends when the text is full, or NULL */
};

static bool readable_append(struct readable *t, const char *s, size_t n)
{
	if (t->full || n > TEXT_MAX - t->length) {
		t->full = true;
		return false;
	}
	if (n) /* libiberty prints an empty name of Rust as NULL */
		memcpy(t->text + t->length, s, n);
	t->length += n;
	return true;
}

static bool readable_puts(struct readable *t, const char *s)
{
	return readable_append(t, s, strlen(s));
}

/* What libiberty prints with. It owns no memory while it prints a name of C++, so stopping it leaks
 * nothing. */
static void readable_print(const char *s, size_t n, void *text)
{
	struct readable *t = text;

	if (!readable_append(t, s, n) && t->stop)
		longjmp(*t->stop, 1);
}

/*
 * Trees of C++ names
 */

/* T<..T<..>..> in a conversion operator: libiberty reads each level twice. Of 165 thousand names of
 * LLVM, clang and node none has a level. */
#define CONVERSIONS_MAX 6

/* Test whether reading the name takes time exponential in the template parameters with arguments
 * (T_I, T0_I) of a conversion operator (cv). */
static bool is_slow_to_read(const char *s)
{
	unsigned count = 0;

	if (!strstr(s, "cv"))
		return false;
	while ((s = strchr(s, 'T'))) {
		s++;
		s += strspn(s, "0123456789");
		count += s[0] == '_' && s[1] == 'I';
	}
	return count > CONVERSIONS_MAX;
}

/*
 * Hide a word of a name from libiberty's reader: the last byte of the word becomes one that only
 * identifiers may have.
 *
 * "sr" begins an expression with a name that depends on a template. libiberty reads it in the old
 * or the new way by a flag that it does not initialise when it returns a tree. Hidden, an "sr" in
 * an identifier ("usrlib") is read as before, and a name with such an expression is refused. GCC
 * appends ".isra.0", where no expression can be.
 */
static void hide(char *s, const char *word)
{
	size_t n = strlen(word);

	for (s += 2; (s = strstr(s, word)); s += n)
		if (s[-2] != '.' || s[-1] != 'i')
			s[n - 1] = '\1';
}

/* Read a mangled name, which is a copy of name, into a tree. Without DMGL_PARAMS the parameters are
 * not read. Returns the tree, whose names are bytes of mangled, or NULL if the name is unreadable.
 * The caller frees *memory. */
static struct demangle_component *demangle_tree_read(char *mangled, const char *name, int options,
						     void **memory)
{
	struct demangle_component *tree;

	hide(mangled, "sr");
	if (!(options & DMGL_PARAMS)) /* else it becomes "(anonymous namespace)" */
		hide(mangled, "_GLOBAL_");
	tree = cplus_demangle_v3_components(mangled, options, memory);
	memcpy(mangled, name, strlen(mangled));
	return tree;
}

/* Most levels of a tree, for the recursion of the functions below */
#define DEPTH_MAX 4096

/*
 * The simple form
 */

/* Most nodes of a tree that are visited: a branch that is shared is visited again. */
#define VISITS_MAX 65536

struct scopes {
	struct readable *out;
	bool started;	  /* "::" precedes the next name */
	const char *name; /* the last one, in the mangled name */
	unsigned depth, visits;
};

static bool put_scopes(struct scopes *w, struct demangle_component *c);

static bool put_scope(struct scopes *w, const char *s, size_t n)
{
	bool first = !w->started;

	w->started = true;
	return (first || readable_puts(w->out, "::")) && readable_append(w->out, s, n);
}

/* The library's own text of std::string and the like, without template arguments */
static bool put_abbreviation(struct scopes *w, const struct demangle_component *c)
{
	const char *s = c->u.s_string.string;
	size_t n = (size_t)c->u.s_string.len;
	const char *arguments = memchr(s, '<', n);

	return put_scope(w, s, arguments ? (size_t)(arguments - s) : n);
}

/* A constructor or destructor: X::X, X::~X. For a constructor that X inherits libiberty gives the
 * name of the class that it is from, which comes after that of X. */
static bool put_structor(struct scopes *w, struct demangle_component *class, bool destructor)
{
	struct readable *out = w->out;
	size_t end = out->length, at = end;

	if (!put_scope(w, "~", destructor))
		return false;
	w->started = false;
	if (!class || class->type != DEMANGLE_COMPONENT_NAME || !w->name ||
	    class->u.s_name.s <= w->name)
		return put_scopes(w, class);
	while (at && out->text[at - 1] != ':')
		at--;
	w->started = true;
	return readable_append(out, out->text + at, end - at);
}

/* operator+, operator new */
static bool put_operator(struct scopes *w, struct demangle_component *c)
{
	return put_scope(w, "", 0) && cplus_demangle_print_callback(0, c, readable_print, w->out) &&
	       !w->out->full;
}

static bool put_lambda(struct scopes *w, const struct demangle_component *c)
{
	char text[24];
	int n = snprintf(text, sizeof text, "$_%d", c->u.s_unary_num.num);

	return put_scope(w, text, (size_t)n);
}

/* Put the prefix of an object that the compiler makes, and what the object belongs to. */
static bool demangle_put_special(struct scopes *w, struct demangle_component *c)
{
	static const char *const prefixes[] = {
		[DEMANGLE_COMPONENT_VTABLE] = "__vtable__",
		[DEMANGLE_COMPONENT_VTT] = "__VTT__",
		[DEMANGLE_COMPONENT_CONSTRUCTION_VTABLE] = "__construction_vtable__",
		[DEMANGLE_COMPONENT_TYPEINFO] = "__typeinfo_name__",
		[DEMANGLE_COMPONENT_TYPEINFO_NAME] = "__typeinfo__",
		[DEMANGLE_COMPONENT_TYPEINFO_FN] = "__typeinfo_fn__",
		[DEMANGLE_COMPONENT_JAVA_CLASS] = "__java_class__",
		[DEMANGLE_COMPONENT_GUARD] = "__guard_variable__",
		[DEMANGLE_COMPONENT_REFTEMP] = "__ref_temp__",
		[DEMANGLE_COMPONENT_TLS_INIT] = "TLS_init::",
		[DEMANGLE_COMPONENT_TLS_WRAPPER] = "TLS_wrap::",
	};

	if (c->type >= sizeof prefixes / sizeof *prefixes || !prefixes[c->type])
		return false;
	return readable_puts(w->out, prefixes[c->type]) &&
	       put_scopes(w, c->type == DEMANGLE_COMPONENT_CONSTRUCTION_VTABLE
				     ? c->u.s_binary.right
				     : c->u.s_binary.left);
}

static bool demangle_put_node(struct scopes *w, struct demangle_component *c)
{
	struct demangle_component *left = c->u.s_binary.left, *right = c->u.s_binary.right;

	switch (c->type) {
	case DEMANGLE_COMPONENT_NAME:
		w->name = c->u.s_name.s;
		return put_scope(w, c->u.s_name.s, (size_t)c->u.s_name.len);
	case DEMANGLE_COMPONENT_SUB_STD: return put_abbreviation(w, c);
	case DEMANGLE_COMPONENT_QUAL_NAME:
	case DEMANGLE_COMPONENT_LOCAL_NAME:
	case DEMANGLE_COMPONENT_TAGGED_NAME: return put_scopes(w, left) && put_scopes(w, right);
	case DEMANGLE_COMPONENT_CTOR: return put_structor(w, c->u.s_ctor.name, false);
	case DEMANGLE_COMPONENT_DTOR: return put_structor(w, c->u.s_dtor.name, true);
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR: return put_operator(w, c);
	case DEMANGLE_COMPONENT_UNARY: return put_scope(w, "operator\"\"", 10);
	case DEMANGLE_COMPONENT_CAST:
	case DEMANGLE_COMPONENT_CONVERSION: return put_scope(w, "operator(cast)", 14);
	case DEMANGLE_COMPONENT_LAMBDA: return put_lambda(w, c);
	case DEMANGLE_COMPONENT_DEFAULT_ARG: return put_scopes(w, c->u.s_unary_num.sub);
	/* what is not shown around a name */
	case DEMANGLE_COMPONENT_TYPED_NAME:
	case DEMANGLE_COMPONENT_TEMPLATE:
	case DEMANGLE_COMPONENT_RESTRICT_THIS:
	case DEMANGLE_COMPONENT_VOLATILE_THIS:
	case DEMANGLE_COMPONENT_CONST_THIS:
	case DEMANGLE_COMPONENT_REFERENCE_THIS:
	case DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS:
	case DEMANGLE_COMPONENT_TRANSACTION_CLONE:
	case DEMANGLE_COMPONENT_NONTRANSACTION_CLONE:
	case DEMANGLE_COMPONENT_HIDDEN_ALIAS:
	case DEMANGLE_COMPONENT_THUNK:
	case DEMANGLE_COMPONENT_VIRTUAL_THUNK:
	case DEMANGLE_COMPONENT_COVARIANT_THUNK: return put_scopes(w, left);
	/* what has no name */
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_DECLTYPE: return true;
	default: return demangle_put_special(w, c);
	}
}

static bool put_scopes(struct scopes *w, struct demangle_component *c)
{
	bool good;

	if (!c || ++w->visits > VISITS_MAX || ++w->depth > DEPTH_MAX)
		return false;
	good = demangle_put_node(w, c);
	w->depth--;
	return good;
}

/*
 * The full form of C++
 */

/* Nodes of a tree, with shared branches counted each time; the largest tree in LLVM has 9
 * thousand. */
#define NODES_MAX 200000

/* The product of nodes and pack expansions: each expansion searches the tree for its pack. */
#define SEARCH_MAX 20000000

/* libiberty's printer puts saved scopes x templates entries of 16 bytes on the stack. */
#define STACK_ENTRIES_MAX 32768

struct measures {
	struct key_map numbers; /* number + 1 in `of`, by node */
	struct {
		uint64_t nodes, packs;
	} * of;
	uint32_t used, most;
	unsigned depth;
	uint64_t scopes, templates;
};

/* Get the subtrees of c. Returns their number. */
static int tree_branches(const struct demangle_component *c,
			 const struct demangle_component *out[2])
{
	out[0] = out[1] = NULL;
	switch (c->type) {
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE: return 0;
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR: out[0] = c->u.s_extended_operator.name; return 1;
	case DEMANGLE_COMPONENT_FIXED_TYPE: out[0] = c->u.s_fixed.length; return 1;
	case DEMANGLE_COMPONENT_CTOR: out[0] = c->u.s_ctor.name; return 1;
	case DEMANGLE_COMPONENT_DTOR: out[0] = c->u.s_dtor.name; return 1;
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG: out[0] = c->u.s_unary_num.sub; return 1;
	default:
		out[0] = c->u.s_binary.left;
		out[1] = c->u.s_binary.right;
		return 2;
	}
}

static bool tree_measure(struct measures *m, const struct demangle_component *c, uint64_t *nodes,
			 uint64_t *packs)
{
	const struct demangle_component *sub[2];
	uint32_t *number, at;
	int i, n;

	*nodes = *packs = 0;
	if (!c)
		return true;
	number = key_map_number(&m->numbers, (uintptr_t)c);
	if (!number)
		return false;
	if (*number) {
		*nodes = m->of[*number - 1].nodes;
		*packs = m->of[*number - 1].packs;
		return true;
	}
	if (m->used == m->most || m->depth == DEPTH_MAX)
		return false;
	at = m->used++;
	*number = m->used; /* a cycle ends here */
	m->depth++;
	*nodes = 1;
	*packs = c->type == DEMANGLE_COMPONENT_PACK_EXPANSION;
	m->templates += c->type == DEMANGLE_COMPONENT_TEMPLATE;
	m->scopes += c->type == DEMANGLE_COMPONENT_REFERENCE ||
		     c->type == DEMANGLE_COMPONENT_RVALUE_REFERENCE;
	n = tree_branches(c, sub);
	for (i = 0; i < n; i++) {
		uint64_t below, packs_below;

		if (!tree_measure(m, sub[i], &below, &packs_below))
			return false;
		*nodes += below;
		*packs += packs_below;
	}
	m->depth--;
	m->of[at].nodes = *nodes;
	m->of[at].packs = *packs;
	return *nodes <= NODES_MAX;
}

/* Test whether printing the tree of a name of n bytes is within bounds. */
static bool tree_printable(const struct demangle_component *tree, size_t n)
{
	/* libiberty makes at most 2 n nodes, at addresses that no one chooses */
	struct measures m = {.numbers.factor = 0x9e3779b97f4a7c15u, .most = 2 * (uint32_t)n};
	uint64_t nodes, packs;
	bool good;

	m.of = calloc(m.most, sizeof *m.of);
	if (!m.of)
		return false;
	good = tree_measure(&m, tree, &nodes, &packs);
	key_map_free(&m.numbers);
	free(m.of);
	return good && nodes * packs <= SEARCH_MAX &&
	       (m.templates + 1) * (m.scopes + 1) <= STACK_ENTRIES_MAX;
}

/* Print a tree. Returns false if the text is full. */
static bool tree_print(struct readable *t, struct demangle_component *tree)
{
	jmp_buf stop;

	t->stop = &stop;
	return !setjmp(stop) &&
	       cplus_demangle_print_callback(FULL_OPTIONS, tree, readable_print, t);
}

/*
 * Most substitutions and template parameters of a name whose tree is not measured and in which
 * packs are searched: each set of three can triple what precedes, so there are at most 3^12 copies.
 */
#define REFERENCES_MAX 36

static bool has_few_references(const char *mangled)
{
	unsigned count = 0;

	while ((mangled = strpbrk(mangled, "ST"))) {
		char c = *++mangled;

		count += c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
	}
	return count <= REFERENCES_MAX;
}

/*
 * Print a name with an "sr" that begins an expression: the simple form has template arguments then.
 * libiberty's other interface sets the flag, and refuses names of over 1024 bytes. Its memory is
 * all on the stack, so it may be stopped too; without packs to search, all time is spent writing
 * text.
 */
static bool print_unresolved(struct readable *t, const char *mangled, int options)
{
	jmp_buf stop;

	if (!strstr(mangled, "sr") ||
	    ((strstr(mangled, "Dp") || strstr(mangled, "sp")) && !has_few_references(mangled)))
		return false;
	t->stop = &stop;
	return !setjmp(stop) && cplus_demangle_v3_callback(mangled, options, readable_print, t);
}

/* Write a form of a C++ name; mangled is a copy of name. */
static bool read_cxx(struct readable *t, char *mangled, const char *name, enum demangle_style style)
{
	bool full = style == DEMANGLE_FULL;
	struct demangle_component *tree;
	struct scopes w = {.out = t};
	void *memory;
	bool good;

	if (is_slow_to_read(mangled))
		return false;
	tree = demangle_tree_read(mangled, name, full ? FULL_OPTIONS : DMGL_VERBOSE, &memory);
	if (!tree)
		return print_unresolved(t, mangled, full ? FULL_OPTIONS : 0);
	if (full)
		good = tree_printable(tree, strlen(mangled)) && tree_print(t, tree);
	else
		good = put_scopes(&w, tree);
	free(memory);
	return good;
}

/*
 * Rust, both forms: the path and the generic arguments, <TYPE as TRAIT>::method
 *
 * Types are whole: methods of two types have two names. libiberty writes a name while it reads it
 * and follows back references, so a name of 100 bytes can become a text of 2^30; it also counts up
 * to 2^64 for a binder ("G") that it does not show. So v0 names are read here first. The grammar is
 * that of Rust RFC 2603, with paths and types as one: libiberty refuses those in wrong places.
 */

#define RUST_DEPTH_MAX 500
#define RUST_STEPS_MAX 50000

struct rust {
	const char *s;
	size_t at, end;
	unsigned depth;
	uint64_t steps;
};

static bool rust_item(struct rust *r);
static bool rust_constant(struct rust *r);

static char rust_peek(const struct rust *r)
{
	return r->at < r->end ? r->s[r->at] : '\0';
}

static char rust_next(struct rust *r)
{
	return r->at < r->end ? r->s[r->at++] : '\0';
}

static bool rust_accept(struct rust *r, char c)
{
	bool there = rust_peek(r) == c;

	r->at += there;
	return there;
}

static int rust_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'Z' ? c - 'A' + 36 : -1;
}

/* Base 62 digits and '_': "_" is 0, "0_" is 1. */
static bool rust_number(struct rust *r, uint64_t *value)
{
	size_t start = r->at;
	uint64_t v = 0;
	char c;

	while ((c = rust_next(r)) != '_') {
		int digit = rust_digit(c);

		if (digit < 0 || v > (UINT64_MAX - 62) / 62)
			return false;
		v = v * 62 + (uint64_t)digit;
	}
	*value = v + (r->at - start > 1);
	return true;
}

/* A mark and a number that nothing depends on, or nothing. All letters and digits are digits. */
static bool rust_optional(struct rust *r, char mark)
{
	const char *end;

	if (!rust_accept(r, mark))
		return true;
	end = memchr(r->s + r->at, '_', r->end - r->at);
	if (end)
		r->at = (size_t)(end - r->s) + 1;
	return end != NULL;
}

/* [s <number>] [u] <length> [_] <bytes> */
static bool rust_identifier(struct rust *r)
{
	size_t n;
	bool unicode;
	char c;

	if (!rust_optional(r, 's'))
		return false;
	unicode = rust_accept(r, 'u');
	c = rust_next(r);
	if (c < '0' || c > '9')
		return false;
	for (n = (size_t)(c - '0'); n && rust_peek(r) >= '0' && rust_peek(r) <= '9';) {
		n = n * 10 + (size_t)(rust_next(r) - '0');
		if (n > r->end)
			return false;
	}
	rust_accept(r, '_');
	if (n > r->end - r->at)
		return false;
	r->at += n;
	if (unicode) /* Punycode inserts each letter, into what there is already */
		r->steps += n + n * n / 64;
	return true;
}

/* B <number>: read again from that offset, which must be before the reference. */
static bool rust_reference(struct rust *r, bool (*reader)(struct rust *))
{
	size_t here = r->at, after;
	uint64_t offset;
	bool good;

	if (!rust_number(r, &offset) || offset >= here - 1)
		return false;
	after = r->at;
	r->at = (size_t)offset;
	good = reader(r);
	r->at = after;
	return good;
}

/* <item>* E */
static bool rust_items(struct rust *r, bool (*reader)(struct rust *))
{
	while (!rust_accept(r, 'E'))
		if (!reader(r))
			return false;
	return true;
}

/* A lifetime, a constant or a type */
static bool rust_argument(struct rust *r)
{
	if (rust_peek(r) == 'L')
		return rust_optional(r, 'L');
	return rust_accept(r, 'K') ? rust_constant(r) : rust_item(r);
}

/* [G <number>]: lifetimes, which libiberty counts one by one */
static bool rust_binder(struct rust *r)
{
	uint64_t n;

	if (!rust_accept(r, 'G'))
		return true;
	if (!rust_number(r, &n) || n > RUST_STEPS_MAX)
		return false;
	r->steps += n + 1;
	return true;
}

/* [G <lifetimes>] [U] [K <abi>] <type>* E <type> */
static bool rust_function(struct rust *r)
{
	if (!rust_binder(r))
		return false;
	rust_accept(r, 'U');
	if (rust_accept(r, 'K') && !rust_accept(r, 'C') && !rust_identifier(r))
		return false;
	return rust_items(r, rust_item) && rust_item(r);
}

/* <path> (p <name> <type>)* */
static bool rust_trait(struct rust *r)
{
	if (!rust_item(r))
		return false;
	while (rust_accept(r, 'p'))
		if (!rust_identifier(r) || !rust_item(r))
			return false;
	return true;
}

/* <type> [n] <hex digits> _, p, or a back reference */
static bool rust_constant_inside(struct rust *r)
{
	char c = rust_next(r);

	if (c == 'p')
		return true;
	if (c == 'B')
		return rust_reference(r, rust_constant);
	rust_accept(r, 'n');
	while ((c = rust_next(r)) != '_')
		if (!c || !strchr("0123456789abcdef", c))
			return false;
	return true;
}

static bool rust_item_inside(struct rust *r)
{
	char c = rust_next(r);

	switch (c) {
	case 'A': return rust_item(r) && rust_constant(r);
	case 'B': return rust_reference(r, rust_item);
	case 'C': return rust_identifier(r);
	case 'D': return rust_binder(r) && rust_items(r, rust_trait) && rust_optional(r, 'L');
	case 'F': return rust_function(r);
	case 'I': return rust_item(r) && rust_items(r, rust_argument);
	case 'M': return rust_optional(r, 's') && rust_item(r) && rust_item(r);
	case 'N': return rust_next(r) && rust_item(r) && rust_identifier(r);
	case 'O':
	case 'P':
	case 'S': return rust_item(r);
	case 'Q':
	case 'R': return rust_optional(r, 'L') && rust_item(r);
	case 'T': return rust_items(r, rust_item);
	case 'X': return rust_optional(r, 's') && rust_item(r) && rust_item(r) && rust_item(r);
	case 'Y': return rust_item(r) && rust_item(r);
	default: return c >= 'a' && c <= 'z'; /* a basic type */
	}
}

static bool rust_nested(struct rust *r, bool (*reader)(struct rust *))
{
	bool good;

	if (++r->depth > RUST_DEPTH_MAX || ++r->steps > RUST_STEPS_MAX)
		return false;
	good = reader(r);
	r->depth--;
	return good;
}

static bool rust_item(struct rust *r)
{
	return rust_nested(r, rust_item_inside);
}

static bool rust_constant(struct rust *r)
{
	return rust_nested(r, rust_constant_inside);
}

/* Test whether a v0 name is within bounds. It may have a second path, of the crate that made the
 * instance. */
static bool rust_printable(const char *s, size_t n)
{
	struct rust r = {.s = s, .end = n};

	return rust_item(&r) && (r.at == n || (rust_item(&r) && r.at == n)) &&
	       r.steps <= RUST_STEPS_MAX;
}

/* Write a v0 name ("_R..."), or one as rustc made them before 2025 ("_ZN...17h<hash>E"). */
static bool read_rust(struct readable *t, char *mangled)
{
	if (mangled[1] == 'R') {
		mangled[strcspn(mangled, ".$")] = '\0'; /* what compilers append */
		if (!rust_printable(mangled + 2, strlen(mangled + 2)))
			return false;
	} else if (!strstr(mangled, "17h")) {
		return false;
	}
	return rust_demangle_callback(mangled, 0, readable_print, t);
}

/*
 * Both forms
 */

/* Get the length of what precedes a mangled name and is not part of it: initialisers of a
 * file, CUDA stubs. */
static size_t prefix_length(const char *name)
{
	static const char *const prefixes[] = {"_GLOBAL__sub_I_", "__device_stub_"};
	size_t i;

	for (i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return strlen(prefixes[i]);
	return 0;
}

/* Write a form of a name. Neither "@VERSION" nor ".llvm.123" is part of the mangled name; the
 * latter marks a local symbol that LLVM made global, and libiberty does not know it. */
static bool demangle_read_name(struct readable *t, const char *name, enum demangle_style style)
{
	size_t prefix = style == DEMANGLE_SIMPLE ? prefix_length(name) : 0;
	const char *version = name + strcspn(name, "@");
	char *mangled, *llvm;
	bool good;

	if (strncmp(name + prefix, "_Z", 2) && strncmp(name, "_R", 2))
		return false;
	mangled = strndup(name + prefix, (size_t)(version - name) - prefix);
	if (!mangled)
		return false;
	llvm = strstr(mangled, ".llvm.");
	if (llvm)
		*llvm = '\0';
	readable_append(t, name, prefix);
	good = read_rust(t, mangled);
	if (!good && mangled[1] == 'Z') {
		t->length = prefix; /* drop what the Rust reader wrote before it failed */
		t->full = false;
		good = read_cxx(t, mangled, name + prefix, style);
	}
	free(mangled);
	if (good && style == DEMANGLE_FULL)
		readable_puts(t, version);
	return good && t->length && !t->full;
}

char *demangle(const char *name, enum demangle_style style)
{
	struct readable t;

	t.length = 0;
	t.full = false;
	t.stop = NULL;
	/* most names of C programs return here */
	if (style == DEMANGLE_NO || name[0] != '_' ||
	    strnlen(name, NAME_MAX_LENGTH + 1) > NAME_MAX_LENGTH ||
	    !demangle_read_name(&t, name, style))
		return strdup(name);
	return strndup(t.text, t.length);
}

int demangle_style_parse(const char *word, enum demangle_style *style)
{
	static const char *const words[] = {
		[DEMANGLE_NO] = "no",
		[DEMANGLE_SIMPLE] = "simple",
		[DEMANGLE_FULL] = "full",
	};
	size_t i;

	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(word, words[i])) {
			*style = (enum demangle_style)i;
			return 0;
		}
	return -1;
}
