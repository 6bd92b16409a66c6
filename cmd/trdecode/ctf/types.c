/*
 * types.c - the types of TSDL
 *
 * As in C, a type may be written where it is used, or declared with a name first. A name is valid
 * up to the end of the block that declares it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/ctf/parser.h"

struct ctf_type *ctf_new_type(struct ctf_parser *p, enum ctf_kind kind)
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

static bool declare_name(struct ctf_parser *p, const char *name, struct ctf_type *type)
{
	struct ctf_name *n = ctf_alloc(p->metadata, sizeof *n);
	void **place = ctf_named(p->metadata, p, name, strlen(name));

	if (!n || !place)
		return ctf_wrong(p, "out of memory");
	*n = (struct ctf_name){name, type, p->names, *place};
	*place = p->names = n;
	return true;
}

void ctf_forget_names(struct ctf_parser *p, struct ctf_name *outside)
{
	while (p->names != outside) {
		struct ctf_name *n = p->names;
		void **place = ctf_named(p->metadata, p, n->name, strlen(n->name));

		if (place)
			*place = n->hidden;
		p->names = n->next;
	}
}

static struct ctf_type *look_up(struct ctf_parser *p, const char *name)
{
	void **place = ctf_named(p->metadata, p, name, strlen(name));
	char what[256];

	if (place && *place)
		return ((struct ctf_name *)*place)->type;
	snprintf(what, sizeof what, "type '%.200s' is not declared", name);
	ctf_wrong(p, what);
	return NULL;
}

/* Make the name that "struct x" has in the list, of "struct" and "x". */
static char *tagged_name(struct ctf_parser *p, const char *kind, const char *name)
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

/* Read a name of several words of C: "unsigned long". */
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

/* Read the name of a type: words of C ("unsigned long"), or one word ("uint32_t"), and stars. */
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

/* --- structs and variants --- */

/* Parse name, name[4] or name[length]; *type is base, or arrays of base. */
static bool parse_declarator(struct ctf_parser *p, struct ctf_type *base, const char **name,
			     struct ctf_type **type)
{
	struct ctf_type **inner = type;

	*type = base;
	if (p->lexer.token != TOKEN_WORD)
		return ctf_wrong(p, "a name is missing");
	*name = ctf_take_text(p);
	if (!*name)
		return false;
	/* a[2][3] is two arrays of three: the first brackets are the outermost array */
	while (ctf_accept(p, '[')) {
		struct ctf_type *t;
		int64_t count;

		if (p->lexer.token == TOKEN_NUMBER) {
			t = ctf_new_type(p, CTF_ARRAY);
			if (!t || !ctf_take_number(p, &count))
				return false;
			t->count = (uint64_t)count;
		} else {
			t = ctf_new_type(p, CTF_SEQUENCE);
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
	struct ctf_name *outside = p->names;
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
		/* a declaration of a struct, variant or enum, without a member */
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
	ctf_forget_names(p, outside);
	return true;
}

static bool parse_align(struct ctf_parser *p, struct ctf_type *t)
{
	int64_t align;

	if (!ctf_accept_word(p, "align"))
		return true;
	if (!ctf_expect(p, '(') || !ctf_take_number(p, &align) || !ctf_expect(p, ')'))
		return false;
	if (!ctf_is_alignment(align))
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
	if (name && !(name = tagged_name(p, "struct", name)))
		return NULL;
	if (!ctf_accept(p, '{')) {
		if (name)
			return look_up(p, name);
		ctf_wrong(p, "'{' is missing");
		return NULL;
	}
	t = ctf_new_type(p, CTF_STRUCT);
	if (!t || !parse_members(p, t) || !parse_align(p, t) || (name && !declare_name(p, name, t)))
		return NULL;
	return t;
}

static struct ctf_type *parse_variant(struct ctf_parser *p)
{
	char *name = NULL, *tag = NULL;
	struct ctf_type *t, *known;

	if (p->lexer.token == TOKEN_WORD && !(name = ctf_take_text(p)))
		return NULL;
	if (name && !(name = tagged_name(p, "variant", name)))
		return NULL;
	if (ctf_accept(p, '<') && (!(tag = ctf_take_path(p)) || !ctf_expect(p, '>')))
		return NULL;
	if (ctf_accept(p, '{')) {
		t = ctf_new_type(p, CTF_VARIANT);
		if (!t || !parse_members(p, t))
			return NULL;
		t->reference = tag;
		if (name && !declare_name(p, name, t))
			return NULL;
		return t;
	}
	if (!name) {
		ctf_wrong(p, "'{' is missing");
		return NULL;
	}
	/* a variant declared before, with the tag given here */
	known = look_up(p, name);
	t = known ? ctf_new_type(p, CTF_VARIANT) : NULL;
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
	if (name && !(name = tagged_name(p, "enum", name)))
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
	t = ctf_new_type(p, CTF_ENUM);
	if (!t)
		return NULL;
	*t = *container;
	t->kind = CTF_ENUM;
	if (!ctf_expect(p, '{') || !parse_labels(p, t) || (name && !declare_name(p, name, t)))
		return NULL;
	return t;
}

/* --- types and declarations --- */

struct ctf_type *ctf_parse_type(struct ctf_parser *p)
{
	static const struct {
		const char *word;
		struct ctf_type *(*parse)(struct ctf_parser *p);
	} kinds[] = {{"integer", ctf_parse_integer}, {"floating_point", ctf_parse_float},
		     {"string", ctf_parse_string},   {"struct", parse_struct},
		     {"variant", parse_variant},     {"enum", parse_enum}};
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
	const char *name;

	if (ctf_accept_word(p, "typealias")) {
		t = ctf_parse_type(p);
		if (!t || !ctf_expect(p, MARK_ASSIGN_TYPE))
			return false;
		name = take_name(p);
		return name && declare_name(p, name, t) && ctf_expect(p, ';');
	}
	if (ctf_accept_word(p, "typedef")) {
		struct ctf_type *base = ctf_parse_type(p);

		if (!base)
			return false;
		do {
			if (!parse_declarator(p, base, &name, &t) || !declare_name(p, name, t))
				return false;
		} while (ctf_accept(p, ','));
		return ctf_expect(p, ';');
	}
	return ctf_parse_type(p) && ctf_expect(p, ';');
}
