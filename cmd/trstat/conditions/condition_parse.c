/*
 * condition_parse.c - parse the text of a condition into a tree
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trstat/conditions/condition_nodes.h"

enum { NESTING = 100 };

struct parser {
	struct lexer *lexer;
	struct condition *condition;
	unsigned nesting;
};

static int fail(struct parser *p, const char *what)
{
	return lexer_error(p->lexer, p->lexer->token.column, "%s", what);
}

static struct condition_node *drop_node(struct condition_node *n)
{
	condition_node_free(n);
	return NULL;
}

static struct condition_node *new_node(struct parser *p, enum node_kind kind)
{
	struct condition_node *n = calloc(1, sizeof(*n));

	if (n)
		n->kind = kind;
	else
		fail(p, "out of memory");
	return n;
}

static int expect(struct parser *p, enum token_kind kind, const char *what)
{
	return p->lexer->token.kind == kind ? lexer_next(p->lexer) : fail(p, what);
}

static bool is_word(const struct token *t, const char *word)
{
	return t->kind == TOKEN_NAME && t->size == strlen(word) && !memcmp(t->text, word, t->size);
}

/* Returns true if a name and then '(' follow. */
static bool is_call(const struct parser *p)
{
	const char *after = p->lexer->text + p->lexer->at;

	return after[strspn(after, " \t\r\n")] == '(';
}

/* --- operands --- */

/* Find the key of that name, or add it. */
static int find_key(struct parser *p, const char *dot, const char *text, size_t size,
		    struct operand *o)
{
	struct keys *k = &p->condition->keys;
	char *name;
	int bad;

	if (asprintf(&name, "%s%.*s", dot, (int)size, text) < 0)
		return fail(p, "out of memory");
	for (o->key = 0; o->key < k->count && strcmp(k->names[o->key], name) != 0;)
		o->key++;
	bad = o->key == k->count ? keys_parse(k, name, p->lexer->error) : 0;
	free(name);
	if (bad)
		return -1;
	o->path = k->key[o->key].what == BY_MODULE || k->key[o->key].what == BY_FILE;
	return 0;
}

/* field("prev_pid") */
static int parse_quoted(struct parser *p, struct operand *o)
{
	struct token *t = &p->lexer->token;

	if (lexer_next(p->lexer) || expect(p, TOKEN_OPEN, "'(' is expected after 'field'"))
		return -1;
	if (t->kind != TOKEN_STRING)
		return fail(p, "the name of a field in quotes is expected here");
	return find_key(p, ".", t->string, t->string_size, o) || lexer_next(p->lexer)
		       ? -1
		       : expect(p, TOKEN_CLOSE, "')' is expected here");
}

static int parse_key(struct parser *p, struct operand *o)
{
	struct token *t = &p->lexer->token;

	if (t->kind != TOKEN_NAME)
		return fail(p, "the name of a key, a number or a string is expected here");
	if (is_call(p) && is_word(t, "field"))
		return parse_quoted(p, o);
	if (is_call(p) && (is_word(t, "under") || is_word(t, "over")))
		return fail(p, "under() and over() are trfilter's, which belongs before this "
			       "program then");
	return find_key(p, "", t->text, t->size, o) ? -1 : lexer_next(p->lexer);
}

/* Parse a number, a string or, if words is true, a bare word as text. */
static int parse_literal(struct parser *p, bool words, struct operand *o)
{
	struct token *t = &p->lexer->token;

	o->literal = true;
	if (t->kind == TOKEN_NUMBER) {
		p->condition->time_unit |= t->time_unit;
		o->value = t->value;
		return lexer_next(p->lexer);
	}
	if (!words && lexer_constant(t, &o->value))
		return lexer_next(p->lexer);
	if (t->kind == TOKEN_STRING) {
		o->text = t->string;
		o->value = (struct scalar){
			.form = SCALAR_TEXT, .text = t->string, .size = t->string_size};
		t->string = NULL;
		return lexer_next(p->lexer);
	}
	if (t->kind != TOKEN_NAME || !words)
		return fail(p, "a number or a string is expected here");
	o->text = strndup(t->text, t->size);
	if (!o->text)
		return fail(p, "out of memory");
	o->value = (struct scalar){.form = SCALAR_TEXT, .text = o->text, .size = t->size};
	return lexer_next(p->lexer);
}

static int parse_operand(struct parser *p, struct operand *o)
{
	const struct token *t = &p->lexer->token;
	struct scalar constant;

	return t->kind == TOKEN_NUMBER || t->kind == TOKEN_STRING || lexer_constant(t, &constant)
		       ? parse_literal(p, false, o)
		       : parse_key(p, o);
}

/* Parse the right operand. After 'kind ==' the names of kinds need no quotes. */
static int parse_right(struct parser *p, const struct operand *left, struct operand *o)
{
	static const char *const kinds[] = {"enter", "leave", "instant", "counter", "gap"};
	const struct token *t = &p->lexer->token;

	if (left->literal || p->condition->keys.key[left->key].what != BY_KIND ||
	    t->kind != TOKEN_NAME)
		return parse_operand(p, o);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (is_word(t, kinds[i]))
			return parse_literal(p, true, o);
	return fail(p, "enter, leave, instant, counter or gap is expected here");
}

/* Form of an operand's values, as far as parsing knows. */
enum form { FORM_ANY, FORM_A_NUMBER, FORM_A_TEXT };

static enum form form_of(const struct parser *p, const struct operand *o)
{
	if (o->literal)
		return o->value.form == SCALAR_TEXT ? FORM_A_TEXT : FORM_A_NUMBER;
	switch (p->condition->keys.key[o->key].what) {
	case BY_TID:
	case BY_PID:
	case BY_PPID:
	case BY_CPU:
	case BY_LINE:
	case BY_ADDRESS:
	case BY_DEPTH:
	case BY_TIME: return FORM_A_NUMBER;
	case BY_TOTAL:
	case BY_SELF:
	case BY_FIELD: return FORM_ANY;
	default: return FORM_A_TEXT;
	}
}

static int check_forms(struct parser *p, const struct operand *a, const struct operand *b)
{
	enum form left = form_of(p, a), right = form_of(p, b);

	return left && right && left != right ? fail(p, "a number is compared with a text here")
					      : 0;
}

/* --- conditions --- */

static struct operand *add_other(struct parser *p, struct condition_node *n)
{
	struct operand *grown = realloc(n->others, (n->count + 1) * sizeof(*grown));

	if (!grown) {
		fail(p, "out of memory");
		return NULL;
	}
	n->others = grown;
	grown[n->count] = (struct operand){0};
	return &grown[n->count++];
}

static int parse_match(struct parser *p, struct condition_node *n)
{
	struct token *t = &p->lexer->token;

	n->kind = NODE_MATCH;
	n->negated = t->kind == TOKEN_NO_MATCH;
	if (form_of(p, &n->operand) == FORM_A_NUMBER)
		return fail(p, "a number is no text to match: compare it");
	if (lexer_next(p->lexer))
		return -1;
	if (t->kind != TOKEN_STRING)
		return fail(p, "a regular expression in quotes is expected here");
	if (memchr(t->string, 0, t->string_size) ||
	    regcomp(&n->regex, t->string, REG_EXTENDED | REG_NOSUB))
		return fail(p, "this is no regular expression");
	n->has_regex = true;
	return lexer_next(p->lexer);
}

static int parse_in(struct parser *p, struct condition_node *n)
{
	struct token *t = &p->lexer->token;
	struct operand *o;

	n->kind = NODE_IN;
	if (lexer_next(p->lexer))
		return -1;
	if (t->kind != TOKEN_OPEN_BRACE)
		return fail(p, "'{' is expected after 'in'");
	do {
		if (lexer_next(p->lexer))
			return -1;
		o = add_other(p, n);
		if (!o || parse_literal(p, true, o) || check_forms(p, &n->operand, o))
			return -1;
	} while (t->kind == TOKEN_COMMA);
	return expect(p, TOKEN_CLOSE_BRACE, "',' or '}' is expected here");
}

static int parse_has(struct parser *p, struct condition_node *n)
{
	n->kind = NODE_HAS;
	return lexer_next(p->lexer) || lexer_next(p->lexer) || parse_key(p, &n->operand)
		       ? -1
		       : expect(p, TOKEN_CLOSE, "')' is expected here");
}

/* Parse a condition without && and ||. after_not: a '!' without parentheses precedes it. */
static int parse_leaf(struct parser *p, struct condition_node *n, bool after_not)
{
	struct token *t = &p->lexer->token;
	struct operand *o;
	bool compares, matches;

	if (is_word(t, "has") && is_call(p))
		return parse_has(p, n);
	if (parse_operand(p, &n->operand))
		return -1;
	compares = t->kind >= TOKEN_EQ && t->kind <= TOKEN_GE;
	matches = t->kind == TOKEN_MATCH || t->kind == TOKEN_NO_MATCH;
	if (after_not && (compares || matches || is_word(t, "in")))
		return fail(p, "'!' negates the next operand only: put the comparison in "
			       "parentheses");
	if (matches)
		return parse_match(p, n);
	if (is_word(t, "in"))
		return parse_in(p, n);
	if (!compares) {
		n->kind = NODE_TRUTH;
		return n->operand.text ? fail(p, "a string alone is no condition") : 0;
	}
	n->comparison = t->kind;
	if (lexer_next(p->lexer))
		return -1;
	o = add_other(p, n);
	return o && !parse_right(p, &n->operand, o) ? check_forms(p, &n->operand, o) : -1;
}

static struct condition_node *parse_or(struct parser *p);

static struct condition_node *parse_group(struct parser *p)
{
	struct condition_node *n = lexer_next(p->lexer) ? NULL : parse_or(p);

	return n && expect(p, TOKEN_CLOSE, "')' is expected here") ? drop_node(n) : n;
}

static struct condition_node *parse_negation(struct parser *p, bool after_not)
{
	const struct token *t = &p->lexer->token;
	struct condition_node *n;

	if (++p->nesting > NESTING) {
		fail(p, "this is nested too deeply");
		return NULL;
	}
	if (t->kind == TOKEN_OPEN) {
		n = parse_group(p);
	} else if (t->kind == TOKEN_NOT) {
		n = new_node(p, NODE_NOT);
		n = n && lexer_next(p->lexer) ? drop_node(n) : n;
		if (n) {
			n->left = parse_negation(p, true);
			n = n->left ? n : drop_node(n);
		}
	} else {
		n = new_node(p, NODE_COMPARE);
		n = n && parse_leaf(p, n, after_not) ? drop_node(n) : n;
	}
	p->nesting--;
	return n;
}

static struct condition_node *parse_not(struct parser *p)
{
	return parse_negation(p, false);
}

/* Parse operands joined by operators of one kind. */
static struct condition_node *parse_chain(struct parser *p, enum node_kind kind,
					  struct condition_node *(*operand)(struct parser *p))
{
	enum token_kind sign = kind == NODE_OR ? TOKEN_OR : TOKEN_AND;
	struct condition_node *left = operand(p), *n;

	while (left && p->lexer->token.kind == sign) {
		n = new_node(p, kind);
		if (!n)
			return drop_node(left);
		n->left = left;
		n->right = lexer_next(p->lexer) ? NULL : operand(p);
		left = n->right ? n : drop_node(n);
	}
	return left;
}

static struct condition_node *parse_and(struct parser *p)
{
	return parse_chain(p, NODE_AND, parse_not);
}

static struct condition_node *parse_or(struct parser *p)
{
	return parse_chain(p, NODE_OR, parse_and);
}

int condition_parse(struct condition *c, struct lexer *l)
{
	struct parser p = {.lexer = l, .condition = c};

	c->root = parse_or(&p);
	return c->root ? 0 : -1;
}
