/* parser_operand.c - parse operands: fields, numbers, strings */
#include "cmd/trfilter/expression/parser_private.h"

#include <stdlib.h>
#include <string.h>

#include "common/stream/value.h"

static int event_field(struct parser *p, struct operand *o, const char *name, size_t n)
{
	o->ask = ASK_FIELD;
	o->depends = DEPENDS_TYPE | DEPENDS_ROW | DEPENDS_CALL;
	o->name = strndup(name, n);
	return o->name ? 0 : lexer_error(&p->lexer, o->column, "out of memory");
}

/* Parse arg.1, fparg.2, arg.size. Returns 1 if it is one. */
static int parse_argument(struct parser *p, struct operand *o, const struct token *t)
{
	bool real = t->size > 6 && !memcmp(t->text, "fparg.", 6);
	const char *what = t->text + (real ? 6 : 4);
	size_t n = t->size - (real ? 6 : 4);

	if (!real && (t->size <= 4 || memcmp(t->text, "arg.", 4) != 0))
		return 0;
	if (strspn(what, "0123456789") < n) {
		if (real)
			return lexer_error(&p->lexer, t->column, "a number must follow 'fparg.'");
		o->is_argument = true;
		if (event_field(p, o, what, n))
			return -1;
		o->depends = DEPENDS_TYPE | DEPENDS_ROW | DEPENDS_LATER | DEPENDS_ARGUMENT;
		return 1;
	}
	if (n > 6)
		return lexer_error(&p->lexer, t->column, "no call has so many arguments");
	o->ask = ASK_ARGUMENT;
	o->depends = DEPENDS_ROW | DEPENDS_LATER | DEPENDS_ARGUMENT;
	o->index = strtoul(what, NULL, 10) + (real ? FLOAT_ARGUMENTS : 0);
	o->name = strndup(t->text, t->size);
	return o->name ? 1 : lexer_error(&p->lexer, t->column, "out of memory");
}

static int quoted_field(struct parser *p, struct operand *o)
{
	struct token *t = TOKEN(p);

	if (lexer_next(&p->lexer))
		return -1;
	if (t->kind != TOKEN_STRING || memchr(t->string, 0, t->string_size))
		return parser_unexpected(p, "the name of a field in quotes");
	if (event_field(p, o, t->string, t->string_size) || lexer_next(&p->lexer))
		return -1;
	return parser_expect(p, TOKEN_CLOSE, "')'");
}

int parser_field(struct parser *p, struct operand *o)
{
	struct token *t = TOKEN(p);
	const struct token name = *t;
	/* an element of the return value needs that value */
	bool inside = t->size > 4 && !memcmp(t->text, "ret.", 4);
	const struct plain_name *plain = names_find(t->text, inside ? 3 : t->size);
	const char *why = names_refused(t->text, t->size);
	int is_argument;

	o->column = t->column;
	if (why)
		return lexer_error(&p->lexer, t->column, "'%.*s' is called '%s' here", (int)t->size,
				   t->text, why);
	is_argument = parse_argument(p, o, t);
	if (is_argument < 0 || lexer_next(&p->lexer))
		return -1;
	if (is_argument)
		return 0;
	if (t->kind == TOKEN_OPEN) {
		if (name.size == 5 && !memcmp(name.text, "field", 5))
			return quoted_field(p, o);
		return lexer_error(&p->lexer, name.column, "there is no function '%.*s'",
				   name.size < 60 ? (int)name.size : 60, name.text);
	}
	if (!plain)
		return event_field(p, o, name.text, name.size);
	o->ask = plain->ask;
	o->form = plain->form;
	o->depends = plain->depends;
	o->name = strndup(name.text, name.size);
	return o->name ? 0 : lexer_error(&p->lexer, name.column, "out of memory");
}

int parser_operand(struct parser *p, struct operand *o)
{
	struct token *t = TOKEN(p);

	o->column = t->column;
	switch (t->kind) {
	case TOKEN_NAME:
		if (!lexer_constant(t, &o->value))
			return parser_field(p, o);
		o->literal = true;
		o->form = KNOWN_NUMBER;
		break;
	case TOKEN_NUMBER:
		o->literal = true;
		o->form = KNOWN_NUMBER;
		o->value = t->value;
		o->time_unit = t->time_unit;
		break;
	case TOKEN_STRING:
		o->literal = true;
		o->form = KNOWN_TEXT;
		o->name = t->string;
		o->value = (struct scalar){
			.form = SCALAR_TEXT, .text = t->string, .size = t->string_size};
		t->string = NULL;
		break;
	default: return parser_unexpected(p, "a field, a number or a string");
	}
	return lexer_next(&p->lexer);
}
