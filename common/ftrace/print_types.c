/*
 * print_types.c - parses types in casts: the words of C, and the kernel's names of types
 */
#include "common/ftrace/print_parser.h"

struct type_words {
	int longs, words;
	bool is_unsigned, known;
	struct parsed_type named;
};

static bool named_type(const struct print_token *t, unsigned word, struct parsed_type *out)
{
	unsigned size = kernel_type_size(t->text, t->size, word, &out->is_signed);

	if (!size)
		return false;
	out->size = (uint8_t)size;
	out->boolean = parse_name_is(t, "bool") || parse_name_is(t, "_Bool");
	return true;
}

/* Read one word of a type: "unsigned long", "struct sk_buff". */
static void type_word(struct parser *p, struct type_words *w)
{
	const struct print_token *t = &p->lexer.token;

	w->words++;
	if (parse_name_is(t, "unsigned")) {
		w->is_unsigned = w->known = true;
	} else if (parse_name_is(t, "long")) {
		w->longs++;
		w->known = true;
	} else if (parse_name_is(t, "signed") || parse_name_is(t, "const") ||
		   parse_name_is(t, "volatile") || parse_name_is(t, "void")) {
		w->known = true;
	} else if (parse_name_is(t, "struct") || parse_name_is(t, "union") ||
		   parse_name_is(t, "enum")) {
		w->known = true;
		w->named = (struct parsed_type){0};
		if (parse_name_is(t, "enum"))
			w->named = (struct parsed_type){.size = 4};
	} else if (named_type(t, p->lexer.word, &w->named)) {
		w->known = true;
	} else if (t->size > 2 && !memcmp(t->text + t->size - 2, "_t", 2)) {
		w->known = true;
	}
}

bool parse_cast_type(struct parser *p, struct parsed_type *out)
{
	struct print_lexer before = p->lexer;
	struct type_words w = {0};
	bool star = false;

	for (; p->lexer.token.kind == TOKEN_NAME; parse_next(p)) {
		if (parse_name_is(&p->lexer.token, "REC") ||
		    parse_name_is(&p->lexer.token, "sizeof"))
			goto none;
		type_word(p, &w);
	}
	*out = w.named;
	if (w.longs)
		*out = (struct parsed_type){.size = (uint8_t)(w.longs > 1 ? 8 : p->lexer.word),
					    .is_signed = true};
	else if (w.is_unsigned && !out->size)
		out->size = 4;
	if (w.is_unsigned)
		out->is_signed = false;
	for (; parse_is(p, "*") || (star && p->lexer.token.kind == TOKEN_NAME); parse_next(p)) {
		uint8_t target = star ? (uint8_t)p->lexer.word : out->size;

		if (!parse_is(p, "*"))
			continue;
		*out = (struct parsed_type){.size = (uint8_t)p->lexer.word,
					    .pointer = true,
					    .target = target,
					    .target_signed = out->is_signed};
		star = true;
	}
	if (!w.words || !parse_is(p, ")"))
		goto none;
	parse_next(p);
	if (w.known || star)
		return true;
	/* a name may be a type only if an operand follows */
	if (p->lexer.token.kind == TOKEN_NAME || p->lexer.token.kind == TOKEN_NUMBER ||
	    p->lexer.token.kind == TOKEN_STRING || parse_is(p, "("))
		return true;
none:
	p->lexer = before;
	return false;
}
