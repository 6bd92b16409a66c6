/* parser_operand.c - parse operands: fields, numbers, strings; and make those of operators */
#include "common/expr/parser_private.h"

#include <stdlib.h>
#include <string.h>

#include "common/value/nearest.h"

static struct operand *drop_operand(struct parser *p, struct operand *o)
{
	operand_free(o, p->language);
	return NULL;
}

/* Resolve o->name, which is to be of that size. */
static struct operand *resolve(struct parser *p, struct operand *o, const char *name, size_t size,
			       bool quoted)
{
	o->name = strndup(name, size);
	if (!o->name) {
		parser_no_memory(p);
		return drop_operand(p, o);
	}
	return p->language->field(p->language->ctx, p->lexer, o, quoted) ? drop_operand(p, o) : o;
}

/* Parse field("name"), from its '(' on. */
static struct operand *parse_quoted(struct parser *p, struct operand *o)
{
	struct token *t = TOKEN(p);

	if (lexer_next(p->lexer))
		return drop_operand(p, o);
	if (t->kind != TOKEN_STRING || memchr(t->string, 0, t->string_size)) {
		parser_unexpected(p, "the name of a field in quotes");
		return drop_operand(p, o);
	}
	o = resolve(p, o, t->string, t->string_size, true);
	if (o && (lexer_next(p->lexer) || parser_expect(p, TOKEN_CLOSE, "')'")))
		return drop_operand(p, o);
	return o;
}

struct operand *parser_field(struct parser *p)
{
	struct token *t = TOKEN(p);
	const struct token name = *t;
	bool quoted = parser_at_word(p, "field");
	struct nearest nearest;
	struct operand *o;

	if (t->kind != TOKEN_NAME) {
		parser_unexpected(p, "the name of a field");
		return NULL;
	}
	o = parser_operand_new(p, OPERAND_FIELD);
	if (!o || lexer_next(p->lexer))
		return drop_operand(p, o);
	if (quoted && t->kind == TOKEN_OPEN)
		return parse_quoted(p, o);
	o = resolve(p, o, name.text, name.size, false);
	if (o && t->kind == TOKEN_OPEN) {
		nearest_begin(&nearest, name.text, name.size);
		nearest_offer_words(&nearest, "under over has field");
		lexer_error(p->lexer, name.column, "there is no function '%.*s'%s",
			    name.size < 60 ? (int)name.size : 60, name.text,
			    nearest_hint(&nearest));
		return drop_operand(p, o);
	}
	return o;
}

struct operand *parser_operand(struct parser *p)
{
	struct token *t = TOKEN(p);
	struct scalar value = t->value;
	struct operand *o;

	if (t->kind == TOKEN_NAME && !lexer_constant(t, &value))
		return parser_field(p);
	if (t->kind != TOKEN_NAME && t->kind != TOKEN_NUMBER && t->kind != TOKEN_STRING) {
		parser_unexpected(p, "a field, a number or a string");
		return NULL;
	}
	o = parser_operand_new(p, OPERAND_LITERAL);
	if (!o)
		return NULL;
	o->form = KNOWN_NUMBER;
	o->value = value;
	o->time_unit = t->time_unit;
	o->percent = t->percent;
	o->seconds = t->seconds;
	o->has_seconds = t->has_seconds;
	if (t->kind == TOKEN_STRING) {
		o->form = KNOWN_TEXT;
		o->name = t->string;
		o->value = (struct scalar){
			.form = SCALAR_TEXT, .text = t->string, .size = t->string_size};
		t->string = NULL;
	}
	return lexer_next(p->lexer) ? drop_operand(p, o) : o;
}

/* Refuse a value that is not a number or, with real, not an integer. */
static int check_side(struct parser *p, enum arithmetic how, struct operand *o, size_t column)
{
	if (o->form == KNOWN_TEXT)
		return lexer_error(p->lexer, column, "'%s' takes numbers, not texts",
				   arithmetic_sign(how));
	if (o->kind != OPERAND_LITERAL)
		return 0;
	if (o->percent)
		return lexer_error(p->lexer, column, "'%s' takes numbers, not percentages",
				   arithmetic_sign(how));
	if (o->value.form == SCALAR_REAL && arithmetic_of_integers(how))
		return lexer_error(p->lexer, column, "'%s' takes integers only",
				   arithmetic_sign(how));
	/* as in C, an integer is signed unless it is too large for that */
	if (o->value.form == SCALAR_UINT && o->value.u <= INT64_MAX)
		o->value.form = SCALAR_INT;
	return 0;
}

/* Set a literal to the result of two. */
static void fold(struct parser *p, struct operand *o)
{
	o->kind = OPERAND_LITERAL;
	o->value = arithmetic(o->arithmetic, &o->left->value, &o->right->value);
	if (o->value.form == SCALAR_REAL) {
		o->value.written = true;
		o->value.as_double = (double)o->value.real;
		o->value.as_float = (float)o->value.real;
	}
	o->time_unit = o->left->time_unit || o->right->time_unit;
	operand_free(o->left, p->language);
	operand_free(o->right, p->language);
	o->left = o->right = NULL;
	o->height = 0;
}

/* Refuse a division by zero, and a negative shift. */
static int check_right(struct parser *p, enum arithmetic how, const struct operand *o,
		       size_t column)
{
	const struct scalar one = {.form = SCALAR_INT, .i = 1};

	if (o->kind != OPERAND_LITERAL || arithmetic(how, &one, &o->value).form != SCALAR_NONE)
		return 0;
	return lexer_error(p->lexer, column, "'%s' is undefined for this number",
			   arithmetic_sign(how));
}

struct operand *parser_arithmetic(struct parser *p, enum arithmetic how, struct operand *a,
				  struct operand *b, size_t column)
{
	struct operand *o = parser_operand_new(p, OPERAND_ARITHMETIC);

	if (!o) {
		operand_free(a, p->language);
		return drop_operand(p, b);
	}
	o->form = KNOWN_NUMBER;
	o->column = a->column;
	o->arithmetic = how;
	o->left = a;
	o->right = b;
	o->height = 1 + (a->height > b->height ? a->height : b->height);
	if (check_side(p, how, a, column) || check_side(p, how, b, column) ||
	    check_right(p, how, b, column))
		return drop_operand(p, o);
	if (o->height > EXPRESSION_NESTING) {
		lexer_error(p->lexer, column, "nested too deeply");
		return drop_operand(p, o);
	}
	if (operand_literal(a) && operand_literal(b))
		fold(p, o);
	return o;
}
