/* parser.c - parse operators by their precedence */
#include "common/expr/parser_private.h"

#include <stdio.h>
#include <string.h>

#include "common/value/units.h"

/* Returns the token as it was written, for messages. */
static const char *shown_token(const struct token *t, char *text, size_t size)
{
	if (t->kind == TOKEN_END)
		return "the end";
	snprintf(text, size, "'%.*s'", t->size < 60 ? (int)t->size : 60, t->text);
	return text;
}

int parser_unexpected(struct parser *p, const char *wanted)
{
	char text[80];

	return lexer_error(p->lexer, TOKEN(p)->column, "%s expected, not %s", wanted,
			   shown_token(TOKEN(p), text, sizeof text));
}

int parser_expect(struct parser *p, enum token_kind kind, const char *what)
{
	if (TOKEN(p)->kind != kind)
		return parser_unexpected(p, what);
	return lexer_next(p->lexer);
}

bool parser_at_word(const struct parser *p, const char *word)
{
	const struct token *t = TOKEN(p);

	return t->kind == TOKEN_NAME && t->size == strlen(word) && !memcmp(t->text, word, t->size);
}

bool parser_at_call(const struct parser *p)
{
	const char *after = p->lexer->text + p->lexer->at;

	return after[strspn(after, " \t\r\n")] == '(';
}

static int parse_group(struct parser *p, struct term *t)
{
	size_t column = t->column;

	if (lexer_next(p->lexer) || parser_either(p, t))
		return -1;
	t->grouped = true;
	t->column = column;
	return parser_expect(p, TOKEN_CLOSE, "')'") ? parser_drop(p, t) : 0;
}

static int parse_unary(struct parser *p, struct term *t);

static int parse_not(struct parser *p, struct term *t)
{
	struct node *n = parser_node(p, NODE_NOT);

	if (!n || lexer_next(p->lexer) || parse_unary(p, t) ||
	    parser_add(p, n, parser_condition(p, t))) {
		parser_failed(p, n);
		return -1;
	}
	t->condition = n;
	t->grouped = false;
	return 0;
}

/* Returns a constant, for an operator with one side. */
static struct operand *parse_constant(struct parser *p, int64_t number)
{
	struct operand *o = parser_operand_new(p, OPERAND_LITERAL);

	if (o)
		o->value = (struct scalar){.form = SCALAR_INT, .i = number};
	return o;
}

static int combine(struct parser *p, enum arithmetic how, struct term *left, struct term *right,
		   size_t column);

/* Parse -x as 0 - x, and ~x as -1 ^ x. */
static int parse_sign(struct parser *p, struct term *t)
{
	bool minus = TOKEN(p)->kind == TOKEN_MINUS;
	size_t column = TOKEN(p)->column;
	struct term right = {0};

	t->value = parse_constant(p, minus ? 0 : -1);
	if (!t->value || lexer_next(p->lexer) || parse_unary(p, &right))
		return parser_drop(p, t);
	return combine(p, minus ? ARITHMETIC_SUBTRACT : ARITHMETIC_XOR, t, &right, column);
}

static int parse_primary(struct parser *p, struct term *t)
{
	if (parser_function(p, &t->condition))
		return -1;
	if (t->condition)
		return 0;
	t->value = parser_operand(p);
	return t->value ? 0 : -1;
}

static int parse_unary(struct parser *p, struct term *t)
{
	size_t column = TOKEN(p)->column;
	int bad;

	*t = (struct term){.column = column};
	if (p->nesting >= EXPRESSION_NESTING)
		return lexer_error(p->lexer, column, "nested too deeply");
	p->nesting++;
	switch (TOKEN(p)->kind) {
	case TOKEN_OPEN: bad = parse_group(p, t); break;
	case TOKEN_NOT: bad = parse_not(p, t); break;
	case TOKEN_MINUS:
	case TOKEN_COMPLEMENT: bad = parse_sign(p, t); break;
	default: bad = parse_primary(p, t); break;
	}
	p->nesting--;
	return bad;
}

enum level { LEVEL_BITS = 1, LEVEL_RELATION = 4, LEVEL_VALUE };

static const struct binary_operator {
	enum token_kind token;
	unsigned level; /* the higher, the tighter */
	enum arithmetic arithmetic;
} operators[] = {
	{TOKEN_BIT_OR, LEVEL_BITS, ARITHMETIC_OR},
	{TOKEN_BIT_XOR, LEVEL_BITS + 1, ARITHMETIC_XOR},
	{TOKEN_BIT_AND, LEVEL_BITS + 2, ARITHMETIC_AND},
	{TOKEN_LEFT, LEVEL_VALUE, ARITHMETIC_LEFT},
	{TOKEN_RIGHT, LEVEL_VALUE, ARITHMETIC_RIGHT},
	{TOKEN_PLUS, LEVEL_VALUE + 1, ARITHMETIC_ADD},
	{TOKEN_MINUS, LEVEL_VALUE + 1, ARITHMETIC_SUBTRACT},
	{TOKEN_TIMES, LEVEL_VALUE + 2, ARITHMETIC_MULTIPLY},
	{TOKEN_DIVIDE, LEVEL_VALUE + 2, ARITHMETIC_DIVIDE},
	{TOKEN_REMAINDER, LEVEL_VALUE + 2, ARITHMETIC_REMAINDER},
};

static const struct binary_operator *find_operator(enum token_kind token)
{
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (operators[i].token == token)
			return &operators[i];
	return NULL;
}

/* Make *left the result of an operator on both sides. */
static int combine(struct parser *p, enum arithmetic how, struct term *left, struct term *right,
		   size_t column)
{
	if (left->condition || right->condition) {
		parser_drop(p, right);
		lexer_error(p->lexer, column,
			    "'%s' takes numbers, not conditions: use parentheses, as in "
			    "(a %s b) == c, or '&&' and '||'",
			    arithmetic_sign(how), arithmetic_sign(how));
		return parser_drop(p, left);
	}
	left->value = parser_arithmetic(p, how, left->value, right->value, column);
	left->grouped = false;
	return left->value ? 0 : -1;
}

/* Refuse the relation of a condition. */
static int refuse_relation(struct parser *p, struct term *t)
{
	if (t->grouped)
		lexer_error(p->lexer, TOKEN(p)->column,
			    "a condition in parentheses cannot be compared");
	else if (t->condition->kind == NODE_NOT)
		lexer_error(p->lexer, t->column,
			    "'!' negates the next operand only: put the comparison in "
			    "parentheses");
	else
		lexer_error(p->lexer, TOKEN(p)->column,
			    "a comparison cannot be compared: join two with '&&'");
	return parser_drop(p, t);
}

/* Parse operators of that level and tighter ones. */
static int parse_level(struct parser *p, unsigned level, struct term *t)
{
	if (parse_unary(p, t))
		return -1;
	for (;;) {
		const struct binary_operator *o = find_operator(TOKEN(p)->kind);
		size_t column = TOKEN(p)->column;
		struct term right;

		if (level <= LEVEL_RELATION && parser_at_relation(p)) {
			if (t->condition)
				return refuse_relation(p, t);
			t->condition = parser_relation(p, t->value);
			t->value = NULL;
			if (!t->condition)
				return -1;
			t->grouped = false;
		} else if (!o || o->level < level) {
			return 0;
		} else if (lexer_next(p->lexer) || parse_level(p, o->level + 1, &right)) {
			return parser_drop(p, t);
		} else if (combine(p, o->arithmetic, t, &right, column)) {
			return -1;
		}
	}
}

int parser_value(struct parser *p, struct term *t)
{
	return parse_level(p, LEVEL_VALUE, t);
}

static int parse_single(struct parser *p, struct term *t)
{
	return parse_level(p, LEVEL_BITS, t);
}

/* Parse terms joined by && or ||, into one node. A single term is unchanged. */
static int parse_joined(struct parser *p, enum node_kind kind, enum token_kind by,
			int (*part)(struct parser *p, struct term *t), struct term *t)
{
	struct node *n;

	if (part(p, t))
		return -1;
	if (TOKEN(p)->kind != by)
		return 0;
	n = parser_node(p, kind);
	if (!n)
		return parser_drop(p, t);
	while (!parser_add(p, n, parser_condition(p, t))) {
		if (TOKEN(p)->kind != by) {
			t->condition = n;
			t->grouped = false;
			return 0;
		}
		if (lexer_next(p->lexer) || part(p, t))
			break;
	}
	parser_failed(p, n);
	return -1;
}

static int parse_both(struct parser *p, struct term *t)
{
	return parse_joined(p, NODE_AND, TOKEN_AND, parse_single, t);
}

int parser_either(struct parser *p, struct term *t)
{
	return parse_joined(p, NODE_OR, TOKEN_OR, parse_both, t);
}

struct node *expression_parse_part(struct lexer *l, const struct language *language)
{
	struct parser p = {.lexer = l, .language = language};
	struct term t;

	return parser_either(&p, &t) ? NULL : parser_condition(&p, &t);
}

struct node *expression_parse(const char *text, const struct language *language, struct error *e)
{
	struct lexer l = {.text = text, .error = e};
	struct parser p = {.lexer = &l, .language = language};
	struct node *n = NULL;

	if (!lexer_next(&l)) {
		if (l.token.kind == TOKEN_END)
			lexer_error(&l, l.token.column, "the condition is empty");
		else
			n = expression_parse_part(&l, language);
	}
	if (n && l.token.kind != TOKEN_END) {
		if (l.token.kind == TOKEN_NAME && unit_find(l.token.text, l.token.size))
			lexer_error(&l, l.token.column,
				    "a unit follows its number without a blank: 5%.*s",
				    (int)l.token.size, l.token.text);
		else
			parser_unexpected(&p, "'&&', '||' or the end");
		n = parser_failed(&p, n);
	}
	lexer_free(&l);
	return n;
}
