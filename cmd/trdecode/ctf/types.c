/*
 * types.c - the types of TSDL
 *
 * As in C a type may be written where it is used, or be given a name first. Names hold to the end
 * of the block that declares them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/ctf/parser.h"

static struct ctf_type *new_type(struct ctf_parser *p, enum ctf_kind kind)
{
	struct ctf_type *t = ctf_alloc(p->metadata, sizeof *t);

	if (!t) {
		ctf_wrong(p, "out of memory");
		return NULL;
	}
	t->kind = kind;
	t->align = 1;
	t->base = 10;
	return t;
}

/* --- names --- */

static bool declare(struct ctf_parser *p, const char *name, struct ctf_type *type)
{
	struct ctf_name *n = ctf_alloc(p->metadata, sizeof *n);

	if (!n)
		return ctf_wrong(p, "out of memory");
	*n = (struct ctf_name){name, type, p->names};
	p->names = n;
	return true;
}

static struct ctf_type *look_up(struct ctf_parser *p, const char *name)
{
	char what[256];

	for (const struct ctf_name *n = p->names; n; n = n->next) {
		if (!strcmp(n->name, name))
			return n->type;
		if (++p->metadata->steps > CTF_STEPS) {
			ctf_wrong(p, "too many names of types");
			return NULL;
		}
	}
	snprintf(what, sizeof what, "type '%.200s' is not declared", name);
	ctf_wrong(p, what);
	return NULL;
}

/* "struct" and "x": the name that "struct x" has in the table. */
static char *tagged(struct ctf_parser *p, const char *kind, const char *name)
{
	size_t n = strlen(kind) + strlen(name) + 2;
	char *text = ctf_alloc(p->metadata, n);

	if (!text)
		ctf_wrong(p, "out of memory");
	else
		snprintf(text, n, "%s %s", kind, name);
	return text;
}

static bool is_c_word(const struct ctf_lexer *l)
{
	static const char *const words[] = {"unsigned", "signed", "long",     "short",
					    "int",	"char",	  "float",    "double",
					    "void",	"_Bool",  "_Complex", "const"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (ctf_is_word(l, words[i]))
			return true;
	return false;
}

/* "unsigned long" */
static char *take_c_words(struct ctf_parser *p)
{
	char name[256] = "", *copy;
	size_t n = 0;

	while (is_c_word(&p->lexer)) {
		if (n > sizeof name - 16) {
			ctf_wrong(p, "the name of a type is too long");
			return NULL;
		}
		if (!ctf_is_word(&p->lexer, "const"))
			n += (size_t)sprintf(name + n, "%s%s", n ? " " : "", p->lexer.text);
		ctf_lexer_next(&p->lexer);
	}
	copy = ctf_alloc(p->metadata, n + 1);
	if (!copy)
		ctf_wrong(p, "out of memory");
	else
		memcpy(copy, name, n + 1);
	return copy;
}

/* "unsigned long", "uint32_t", "char *": a name made of C's words, or one of its own. */
static char *take_name(struct ctf_parser *p)
{
	char *name, *pointer;

	while (ctf_accept_word(p, "const"))
		continue;
	if (p->lexer.token != TOKEN_WORD) {
		ctf_wrong(p, "a type is missing");
		return NULL;
	}
	name = is_c_word(&p->lexer) ? take_c_words(p) : ctf_take_text(p);
	for (int n = 0; name && ctf_accept(p, '*'); n++) {
		if (n == CTF_DEPTH) {
			ctf_wrong(p, "types are nested too deep");
			return NULL;
		}
		pointer = ctf_alloc(p->metadata, strlen(name) + 3);
		if (!pointer)
			ctf_wrong(p, "out of memory");
		else
			sprintf(pointer, "%s *", name);
		name = pointer;
	}
	return name;
}

/* --- integers and floating-point numbers --- */

struct number {
	int64_t size, align, exponent, mantissa;
	bool size_given, align_given;
};

static bool set_word(struct ctf_parser *p, struct ctf_type *t, const char *name, const char *value)
{
	static const struct {
		const char *word;
		uint8_t base;
	} bases[] = {{"decimal", 10},	  {"dec", 10}, {"d", 10}, {"i", 10},	 {"u", 10},
		     {"hexadecimal", 16}, {"hex", 16}, {"x", 16}, {"X", 16},	 {"p", 16},
		     {"octal", 8},	  {"oct", 8},  {"o", 8},  {"binary", 2}, {"b", 2}};
	const char *dot;

	if (!strcmp(name, "signed")) {
		t->is_signed = !strcmp(value, "true") || !strcmp(value, "TRUE");
	} else if (!strcmp(name, "byte_order")) {
		if (!strcmp(value, "be") || !strcmp(value, "network"))
			t->order = CTF_BIG;
		else if (!strcmp(value, "le"))
			t->order = CTF_LITTLE;
	} else if (!strcmp(name, "encoding")) {
		t->text = !strcmp(value, "UTF8") || !strcmp(value, "utf8") ||
			  !strcmp(value, "UTF-8") || !strcmp(value, "utf-8") ||
			  !strcmp(value, "ASCII") || !strcmp(value, "ascii");
	} else if (!strcmp(name, "base")) {
		for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
			if (!strcmp(value, bases[i].word))
				t->base = bases[i].base;
	} else if (!strcmp(name, "map") && !strncmp(value, "clock.", 6)) {
		/* clock.NAME.value */
		char clock[256];

		dot = strchr(value + 6, '.');
		snprintf(clock, sizeof clock, "%.*s",
			 dot ? (int)(dot - value - 6) : (int)strlen(value + 6), value + 6);
		t->clock = ctf_clock_named(p->metadata, clock);
		if (!t->clock)
			return ctf_wrong(p, "too many clocks, or out of memory");
	}
	return true;
}

static void set_number(struct ctf_type *t, struct number *n, const char *name, int64_t value)
{
	if (!strcmp(name, "size")) {
		n->size = value;
		n->size_given = true;
	} else if (!strcmp(name, "align")) {
		n->align = value;
		n->align_given = true;
	} else if (!strcmp(name, "exp_dig")) {
		n->exponent = value;
	} else if (!strcmp(name, "mant_dig")) {
		n->mantissa = value;
	} else if (!strcmp(name, "signed")) {
		t->is_signed = value != 0;
	} else if (!strcmp(name, "base")) {
		if (value == 2 || value == 8 || value == 10 || value == 16)
			t->base = (uint8_t)value;
	}
}

/* { name = value; ... } */
static bool parse_attributes(struct ctf_parser *p, struct ctf_type *t, struct number *n)
{
	if (!ctf_expect(p, '{'))
		return false;
	while (!ctf_accept(p, '}')) {
		char *name = ctf_take_path(p), *value;
		int64_t number;

		if (!name || !ctf_expect(p, '='))
			return false;
		if (p->lexer.token == TOKEN_WORD) {
			value = ctf_take_path(p);
			if (!value || !set_word(p, t, name, value))
				return false;
		} else if (p->lexer.token == TOKEN_STRING || p->lexer.token == TOKEN_CHARACTER) {
			value = ctf_take_text(p);
			if (!value || !set_word(p, t, name, value))
				return false;
		} else {
			if (!ctf_take_number(p, &number))
				return false;
			set_number(t, n, name, number);
		}
		if (!ctf_expect(p, ';'))
			return false;
	}
	return true;
}

static bool is_alignment(int64_t n)
{
	return n > 0 && n <= 1 << 20 && !(n & (n - 1));
}

static struct ctf_type *parse_integer(struct ctf_parser *p)
{
	struct ctf_type *t = new_type(p, CTF_INTEGER);
	struct number n = {0};

	if (!t || !parse_attributes(p, t, &n))
		return NULL;
	if (n.size < 1 || n.size > 64) {
		ctf_wrong(p, "an integer's size must be 1 to 64 bits");
		return NULL;
	}
	if (!n.align_given)
		n.align = n.size % 8 ? 1 : 8;
	if (!is_alignment(n.align)) {
		ctf_wrong(p, "an alignment that is no power of two");
		return NULL;
	}
	t->size = (uint8_t)n.size;
	t->align = (uint32_t)n.align;
	return t;
}

static struct ctf_type *parse_float(struct ctf_parser *p)
{
	struct ctf_type *t = new_type(p, CTF_FLOAT);
	struct number n = {0};

	if (!t || !parse_attributes(p, t, &n))
		return NULL;
	if (!(n.exponent == 8 && n.mantissa == 24) && !(n.exponent == 11 && n.mantissa == 53)) {
		ctf_wrong(p, "a floating-point number of neither 32 nor 64 bits");
		return NULL;
	}
	t->size = n.exponent == 8 ? 32 : 64;
	if (!n.align_given)
		n.align = 8;
	if (!is_alignment(n.align)) {
		ctf_wrong(p, "an alignment that is no power of two");
		return NULL;
	}
	t->align = (uint32_t)n.align;
	return t;
}

static struct ctf_type *parse_string(struct ctf_parser *p)
{
	struct ctf_type *t = new_type(p, CTF_STRING);
	struct number n = {0};

	if (!t || (ctf_is_mark(&p->lexer, '{') && !parse_attributes(p, t, &n)))
		return NULL;
	t->align = 8;
	return t;
}

/* --- structs and variants --- */

/* name, or name[4], or name[length]: the type as the brackets make it. */
static bool parse_declarator(struct ctf_parser *p, struct ctf_type *base, char **name,
			     struct ctf_type **type)
{
	struct ctf_type **inner = type;

	*type = base;
	if (p->lexer.token != TOKEN_WORD)
		return ctf_wrong(p, "a name is missing");
	*name = ctf_take_text(p);
	if (!*name)
		return false;
	/* a[2][3] is two times three: what stands first is outside */
	while (ctf_accept(p, '[')) {
		struct ctf_type *t;
		int64_t count;

		if (p->lexer.token == TOKEN_NUMBER) {
			t = new_type(p, CTF_ARRAY);
			if (!t || !ctf_take_number(p, &count))
				return false;
			t->count = (uint64_t)count;
		} else {
			t = new_type(p, CTF_SEQUENCE);
			if (!t)
				return false;
			t->reference = ctf_take_path(p);
			if (!t->reference)
				return false;
		}
		if (!ctf_expect(p, ']'))
			return false;
		t->element = base;
		*inner = t;
		inner = (struct ctf_type **)(void *)&t->element;
	}
	return true;
}

static bool parse_members(struct ctf_parser *p, struct ctf_type *t)
{
	const struct ctf_name *outside = p->names;
	struct ctf_member **last = &t->members;

	while (!ctf_accept(p, '}')) {
		struct ctf_type *base;

		if (ctf_is_word(&p->lexer, "typealias") || ctf_is_word(&p->lexer, "typedef")) {
			if (!ctf_parse_declaration(p))
				return false;
			continue;
		}
		base = ctf_parse_type(p);
		if (!base)
			return false;
		/* a struct, variant or enum that is only declared */
		if (ctf_accept(p, ';'))
			continue;
		do {
			struct ctf_member *m = ctf_alloc(p->metadata, sizeof *m);

			if (!m)
				return ctf_wrong(p, "out of memory");
			if (!parse_declarator(p, base, &m->name, &m->type))
				return false;
			*last = m;
			last = &m->next;
		} while (ctf_accept(p, ','));
		if (!ctf_expect(p, ';'))
			return false;
	}
	p->names = outside;
	return true;
}

static bool parse_align(struct ctf_parser *p, struct ctf_type *t)
{
	int64_t align;

	if (!ctf_accept_word(p, "align"))
		return true;
	if (!ctf_expect(p, '(') || !ctf_take_number(p, &align) || !ctf_expect(p, ')'))
		return false;
	if (!is_alignment(align))
		return ctf_wrong(p, "an alignment that is no power of two");
	t->align = (uint32_t)align;
	return true;
}

static struct ctf_type *parse_struct(struct ctf_parser *p)
{
	char *name = NULL;
	struct ctf_type *t;

	if (p->lexer.token == TOKEN_WORD && !(name = ctf_take_text(p)))
		return NULL;
	if (name && !(name = tagged(p, "struct", name)))
		return NULL;
	if (!ctf_accept(p, '{')) {
		if (name)
			return look_up(p, name);
		ctf_wrong(p, "'{' is missing");
		return NULL;
	}
	t = new_type(p, CTF_STRUCT);
	if (!t || !parse_members(p, t) || !parse_align(p, t) || (name && !declare(p, name, t)))
		return NULL;
	return t;
}

static struct ctf_type *parse_variant(struct ctf_parser *p)
{
	char *name = NULL, *tag = NULL;
	struct ctf_type *t, *known;

	if (p->lexer.token == TOKEN_WORD && !(name = ctf_take_text(p)))
		return NULL;
	if (name && !(name = tagged(p, "variant", name)))
		return NULL;
	if (ctf_accept(p, '<') && (!(tag = ctf_take_path(p)) || !ctf_expect(p, '>')))
		return NULL;
	if (ctf_accept(p, '{')) {
		t = new_type(p, CTF_VARIANT);
		if (!t || !parse_members(p, t))
			return NULL;
		t->reference = tag;
		if (name && !declare(p, name, t))
			return NULL;
		return t;
	}
	if (!name) {
		ctf_wrong(p, "'{' is missing");
		return NULL;
	}
	/* a declared one with a tag of this place */
	known = look_up(p, name);
	t = known ? new_type(p, CTF_VARIANT) : NULL;
	if (!t)
		return NULL;
	*t = *known;
	if (tag)
		t->reference = tag;
	return t;
}

/* --- enumerations --- */

static bool parse_labels(struct ctf_parser *p, struct ctf_type *t)
{
	struct ctf_label **last = &t->labels;
	int64_t next = 0;

	while (!ctf_accept(p, '}')) {
		struct ctf_label *label = ctf_alloc(p->metadata, sizeof *label);

		if (!label)
			return ctf_wrong(p, "out of memory");
		if (p->lexer.token != TOKEN_WORD && p->lexer.token != TOKEN_STRING)
			return ctf_wrong(p, "a label is missing");
		label->name = ctf_take_text(p);
		if (!label->name)
			return false;
		label->first = label->last = next;
		if (ctf_accept(p, '=')) {
			if (!ctf_take_number(p, &label->first))
				return false;
			label->last = label->first;
			if (ctf_accept(p, MARK_DOTS) && !ctf_take_number(p, &label->last))
				return false;
			if (t->is_signed ? label->last < label->first
					 : (uint64_t)label->last < (uint64_t)label->first)
				return ctf_wrong(p, "a range that ends before it begins");
		}
		next = (int64_t)((uint64_t)label->last + 1);
		*last = label;
		last = &label->next;
		if (!ctf_accept(p, ',') && !ctf_is_mark(&p->lexer, '}'))
			return ctf_wrong(p, "',' is missing");
	}
	return true;
}

static struct ctf_type *parse_enum(struct ctf_parser *p)
{
	struct ctf_type *t, *container;
	char *name = NULL;

	if (p->lexer.token == TOKEN_WORD && !(name = ctf_take_text(p)))
		return NULL;
	if (name && !(name = tagged(p, "enum", name)))
		return NULL;
	if (name && !ctf_is_mark(&p->lexer, ':') && !ctf_is_mark(&p->lexer, '{'))
		return look_up(p, name);
	container = ctf_accept(p, ':') ? ctf_parse_type(p) : look_up(p, "int");
	if (!container)
		return NULL;
	if (container->kind != CTF_INTEGER) {
		ctf_wrong(p, "an enumeration's container must be an integer");
		return NULL;
	}
	t = new_type(p, CTF_ENUM);
	if (!t)
		return NULL;
	*t = *container;
	t->kind = CTF_ENUM;
	if (!ctf_expect(p, '{') || !parse_labels(p, t) || (name && !declare(p, name, t)))
		return NULL;
	return t;
}

/* --- all of them --- */

struct ctf_type *ctf_parse_type(struct ctf_parser *p)
{
	static const struct {
		const char *word;
		struct ctf_type *(*parse)(struct ctf_parser *p);
	} kinds[] = {{"integer", parse_integer}, {"floating_point", parse_float},
		     {"string", parse_string},	 {"struct", parse_struct},
		     {"variant", parse_variant}, {"enum", parse_enum}};
	struct ctf_type *t = NULL;
	char *name;

	if (p->depth == CTF_DEPTH) {
		ctf_wrong(p, "types are nested too deep");
		return NULL;
	}
	p->depth++;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (ctf_accept_word(p, kinds[i].word)) {
			t = kinds[i].parse(p);
			goto out;
		}
	name = take_name(p);
	if (name)
		t = look_up(p, name);
out:
	p->depth--;
	return t;
}

bool ctf_at_declaration(const struct ctf_parser *p)
{
	static const char *const words[] = {"typealias", "typedef", "struct", "variant", "enum"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (ctf_is_word(&p->lexer, words[i]))
			return true;
	return false;
}

bool ctf_parse_declaration(struct ctf_parser *p)
{
	struct ctf_type *t;
	char *name;

	if (ctf_accept_word(p, "typealias")) {
		t = ctf_parse_type(p);
		if (!t || !ctf_expect(p, MARK_ASSIGN_TYPE))
			return false;
		name = take_name(p);
		return name && declare(p, name, t) && ctf_expect(p, ';');
	}
	if (ctf_accept_word(p, "typedef")) {
		struct ctf_type *base = ctf_parse_type(p);

		if (!base)
			return false;
		do {
			if (!parse_declarator(p, base, &name, &t) || !declare(p, name, t))
				return false;
		} while (ctf_accept(p, ','));
		return ctf_expect(p, ';');
	}
	return ctf_parse_type(p) && ctf_expect(p, ';');
}
