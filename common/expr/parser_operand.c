/* parser_operand.c - parse operands: fields, numbers, strings; and make those of operators */
#include "common/expr/parser_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/value/nearest.h"
#include "common/value/units.h"

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

void parser_take_number(struct operand *o, const struct token *t)
{
	o->form = KNOWN_NUMBER;
	o->value = t->value;
	o->time_unit = o->of_time = t->time_unit;
	o->percent = t->percent;
	o->seconds = t->seconds;
	o->has_seconds = t->has_seconds;
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
	parser_take_number(o, t);
	o->value = value;
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

/* Write a number as the user may have written it. */
static void spell_number(const struct scalar *s, char *text, size_t size)
{
	if (s->form == SCALAR_REAL)
		snprintf(text, size, "%.15Lg", s->real);
	else if (s->form == SCALAR_INT)
		snprintf(text, size, "%" PRId64, s->i);
	else
		snprintf(text, size, "%" PRIu64, s->u);
}

/* Returns the first number without a unit in an operand that has no time in it: not a multiple of a
 * field that may be one, such as an argument. *time: the operand has one. */
static struct operand *plain_number(struct operand *o, bool *time)
{
	struct operand *left, *right;

	if (o->of_time || o->may_be_time || (!operand_literal(o) && o->form == KNOWN_NOTHING))
		*time = true;
	if (operand_literal(o))
		return scalar_true(&o->value) && !o->percent ? o : NULL;
	if (o->kind != OPERAND_ARITHMETIC)
		return NULL;
	left = plain_number(o->left, time);
	right = plain_number(o->right, time);
	return left ? left : right;
}

int parser_beside_time(struct parser *p, const struct operand *time, struct operand *number)
{
	bool is_time = false;
	char where[40], text[40];

	if (!time->of_time || number->of_time || number->form != KNOWN_NUMBER || number->percent)
		return 0;
	if (number->has_seconds && operand_literal(number) && time->kind != OPERAND_ARITHMETIC) {
		number->value = number->seconds;
		number->time_unit = number->of_time = true;
		return 0;
	}
	number = plain_number(number, &is_time);
	if (!number || is_time)
		return 0;
	number->plain_time = true;
	if (!operand_literal(time))
		return 0;
	snprintf(where, sizeof where, "expression, column %zu", number->column);
	spell_number(&number->value, text, sizeof text);
	return time_needs_unit(NULL, where, text, p->lexer->error);
}

int expression_check_clock(const struct node *n, const char *option, bool ticks,
			   expression_is_time *is_time, const void *ctx, struct error *e)
{
	char where[80], text[40];
	bool time = !is_time && !ticks;

	if (!n)
		return 0;
	for (size_t i = 0; i < n->nchildren; i++)
		if (expression_check_clock(n->children[i], option, ticks, is_time, ctx, e))
			return -1;
	for (size_t i = 0; !time && i < n->nfields; i++)
		time = is_time ? is_time(ctx, n->fields[i]->field) : n->fields[i]->of_time;
	if (time && ticks && n->time_unit)
		return error_set(e, NULL, NO_OFFSET,
				 "%s: the clock counts ticks: use numbers without a unit", option);
	if (!time || ticks || !n->plain_time.column)
		return 0;
	snprintf(where, sizeof where, "%.40s, column %zu", option, n->plain_time.column);
	spell_number(&n->plain_time.value, text, sizeof text);
	return time_needs_unit(NULL, where, text, e);
}

/* Returns true if an operator makes a time of two operands: a sum, a difference and a remainder
 * with a time, and a multiple and a part of one. */
static bool makes_time(enum arithmetic how, bool left, bool right)
{
	switch (how) {
	case ARITHMETIC_ADD:
	case ARITHMETIC_SUBTRACT:
	case ARITHMETIC_REMAINDER: return left || right;
	case ARITHMETIC_MULTIPLY: return left != right;
	case ARITHMETIC_DIVIDE: return left && !right;
	default: return false;
	}
}

/* Returns true if an operator takes two times, or two numbers. */
static bool takes_alike(enum arithmetic how)
{
	return how == ARITHMETIC_ADD || how == ARITHMETIC_SUBTRACT || how == ARITHMETIC_REMAINDER;
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
	if (takes_alike(how) && (parser_beside_time(p, a, b) || parser_beside_time(p, b, a)))
		return drop_operand(p, o);
	o->of_time = makes_time(how, a->of_time, b->of_time);
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
