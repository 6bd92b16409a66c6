#include "condition.h"

#include <regex.h>
#include <stdlib.h>

enum { NESTING = 100 };

enum node_kind { NODE_OR, NODE_AND, NODE_NOT, NODE_COMPARE, NODE_IN, NODE_MATCH };

struct literal {
	struct scalar value;
	char *text; /* what value points to, or NULL */
};

struct condition_node {
	enum node_kind kind;
	struct condition_node *left, *right; /* OR, AND; NOT: left */
	size_t key;
	enum token_kind comparison;
	bool negated; /* MATCH */
	regex_t regex;
	bool has_regex;
	struct literal *literals; /* COMPARE: one */
	size_t count;
};

struct parser {
	struct lexer *lexer;
	struct condition *condition;
	unsigned nesting;
};

static void node_free(struct condition_node *n)
{
	if (!n)
		return;
	node_free(n->left);
	node_free(n->right);
	for (size_t i = 0; i < n->count; i++)
		free(n->literals[i].text);
	free(n->literals);
	if (n->has_regex)
		regfree(&n->regex);
	free(n);
}

static struct condition_node *fail(struct parser *p, struct condition_node *n, const char *what)
{
	lexer_error(p->lexer, p->lexer->token.column, "%s", what);
	node_free(n);
	return NULL;
}

static struct condition_node *drop(struct condition_node *n)
{
	node_free(n);
	return NULL;
}

static struct condition_node *new_node(struct parser *p, enum node_kind kind)
{
	struct condition_node *n = calloc(1, sizeof(*n));

	if (!n)
		return fail(p, NULL, "out of memory");
	n->kind = kind;
	return n;
}

/* The key that the token names, in *key. */
static int parse_key(struct parser *p, size_t *key)
{
	struct keys *k = &p->condition->keys;
	struct lexer *l = p->lexer;
	char *name;
	int bad;

	if (l->token.kind != TOKEN_NAME)
		return lexer_error(l, l->token.column, "the name of a key is expected here");
	name = strndup(l->token.text, l->token.size);
	if (!name)
		return lexer_error(l, l->token.column, "out of memory");
	for (*key = 0; *key < k->count && strcmp(k->names[*key], name) != 0;)
		++*key;
	bad = *key == k->count ? keys_parse(k, name, l->error) : 0;
	free(name);
	return bad ? -1 : lexer_next(l);
}

static int add_literal(struct parser *p, struct condition_node *n)
{
	struct token *t = &p->lexer->token;
	struct literal *grown = realloc(n->literals, (n->count + 1) * sizeof(*grown));

	if (!grown)
		return lexer_error(p->lexer, t->column, "out of memory");
	n->literals = grown;
	if (t->kind == TOKEN_NUMBER) {
		grown[n->count++] = (struct literal){.value = t->value};
	} else if (t->kind == TOKEN_STRING) {
		grown[n->count++] = (struct literal){
			.value = {.form = SCALAR_TEXT, .text = t->string, .size = t->string_size},
			.text = t->string};
		t->string = NULL;
	} else {
		return lexer_error(p->lexer, t->column, "a number or a string is expected here");
	}
	return lexer_next(p->lexer);
}

static struct condition_node *parse_match(struct parser *p, size_t key, bool negated)
{
	struct condition_node *n = new_node(p, NODE_MATCH);
	struct token *t = &p->lexer->token;

	if (!n || lexer_next(p->lexer))
		return drop(n);
	n->key = key;
	n->negated = negated;
	if (t->kind != TOKEN_STRING)
		return fail(p, n, "a regular expression in quotes is expected here");
	if (regcomp(&n->regex, t->string, REG_EXTENDED | REG_NOSUB))
		return fail(p, n, "this is no regular expression");
	n->has_regex = true;
	return lexer_next(p->lexer) ? drop(n) : n;
}

static struct condition_node *parse_in(struct parser *p, size_t key)
{
	struct condition_node *n = new_node(p, NODE_IN);
	struct token *t = &p->lexer->token;

	if (!n || lexer_next(p->lexer))
		return drop(n);
	n->key = key;
	if (t->kind != TOKEN_OPEN_BRACE)
		return fail(p, n, "'{' is expected behind 'in'");
	do {
		if (lexer_next(p->lexer) || add_literal(p, n))
			return drop(n);
	} while (t->kind == TOKEN_COMMA);
	if (t->kind != TOKEN_CLOSE_BRACE)
		return fail(p, n, "',' or '}' is expected here");
	return lexer_next(p->lexer) ? drop(n) : n;
}

static struct condition_node *parse_comparison(struct parser *p)
{
	struct token *t = &p->lexer->token;
	struct condition_node *n;
	size_t key = 0;

	if (parse_key(p, &key))
		return NULL;
	if (t->kind == TOKEN_MATCH || t->kind == TOKEN_NO_MATCH)
		return parse_match(p, key, t->kind == TOKEN_NO_MATCH);
	if (t->kind == TOKEN_NAME && t->size == 2 && !memcmp(t->text, "in", 2))
		return parse_in(p, key);
	if (t->kind < TOKEN_EQ || t->kind > TOKEN_GE)
		return fail(p, NULL, "a comparison is expected here: == != < <= > >= =~ !~ in");
	n = new_node(p, NODE_COMPARE);
	if (!n)
		return NULL;
	n->key = key;
	n->comparison = t->kind;
	return lexer_next(p->lexer) || add_literal(p, n) ? drop(n) : n;
}

static struct condition_node *parse_or(struct parser *p);

static struct condition_node *parse_not(struct parser *p)
{
	struct token *t = &p->lexer->token;
	struct condition_node *n = NULL;

	if (t->kind != TOKEN_NOT && t->kind != TOKEN_OPEN)
		return parse_comparison(p);
	if (++p->nesting > NESTING)
		return fail(p, NULL, "this is nested too deeply");
	if (t->kind == TOKEN_NOT) {
		n = new_node(p, NODE_NOT);
		if (!n || lexer_next(p->lexer))
			return drop(n);
		n->left = parse_not(p);
		if (!n->left)
			return drop(n);
	} else {
		if (lexer_next(p->lexer))
			return NULL;
		n = parse_or(p);
		if (!n)
			return NULL;
		if (t->kind != TOKEN_CLOSE)
			return fail(p, n, "')' is expected here");
		if (lexer_next(p->lexer))
			return drop(n);
	}
	p->nesting--;
	return n;
}

/* A chain of operands between signs of one kind. */
static struct condition_node *parse_chain(struct parser *p, enum node_kind kind)
{
	enum token_kind sign = kind == NODE_OR ? TOKEN_OR : TOKEN_AND;
	struct condition_node *(*operand)(struct parser *) = parse_not, *left, *n;

	left = kind == NODE_OR ? parse_chain(p, NODE_AND) : operand(p);
	while (left && p->lexer->token.kind == sign) {
		n = new_node(p, kind);
		if (!n)
			return drop(left);
		n->left = left;
		if (lexer_next(p->lexer))
			return drop(n);
		n->right = kind == NODE_OR ? parse_chain(p, NODE_AND) : operand(p);
		if (!n->right)
			return drop(n);
		left = n;
	}
	return left;
}

static struct condition_node *parse_or(struct parser *p)
{
	return parse_chain(p, NODE_OR);
}

int condition_parse(struct condition *c, struct lexer *l)
{
	struct parser p = {.lexer = l, .condition = c};

	c->root = parse_or(&p);
	return c->root ? 0 : -1;
}

void condition_free(struct condition *c)
{
	node_free(c->root);
	keys_free(&c->keys);
	*c = (struct condition){0};
}

/* --- does it hold? --- */

static bool scalar_of(const struct groups *g, const struct key_cell *cell, struct scalar *s)
{
	switch (cell->kind) {
	case KEY_MISSING:
	case KEY_OPEN_CALLER:
	case KEY_OPEN_LEVEL:
	case KEY_OPEN_STACK: return false;
	case KEY_SIGNED: *s = (struct scalar){.form = SCALAR_INT, .u = cell->value}; return true;
	case KEY_UNSIGNED: *s = (struct scalar){.form = SCALAR_UINT, .u = cell->value}; return true;
	case KEY_TEXT:
	case KEY_STACK: break;
	}
	*s = (struct scalar){.form = SCALAR_TEXT};
	return groups_cell_text(g, cell, &s->text, &s->size);
}

static bool compares(enum token_kind how, const struct scalar *a, const struct scalar *b)
{
	enum scalar_order o = scalar_compare(a, b);

	switch (how) {
	case TOKEN_EQ: return o == ORDER_EQUAL;
	case TOKEN_NE: return o != ORDER_EQUAL && o != ORDER_NONE;
	case TOKEN_LT: return o == ORDER_LESS;
	case TOKEN_LE: return o == ORDER_LESS || o == ORDER_EQUAL;
	case TOKEN_GT: return o == ORDER_GREATER;
	case TOKEN_GE: return o == ORDER_GREATER || o == ORDER_EQUAL;
	default: return false;
	}
}

static bool node_holds(const struct condition_node *n, const struct groups *g, condition_cell *cell,
		       void *ctx)
{
	const struct key_cell *c;
	struct scalar s;

	switch (n->kind) {
	case NODE_OR:
		return node_holds(n->left, g, cell, ctx) || node_holds(n->right, g, cell, ctx);
	case NODE_AND:
		return node_holds(n->left, g, cell, ctx) && node_holds(n->right, g, cell, ctx);
	case NODE_NOT: return !node_holds(n->left, g, cell, ctx);
	default: break;
	}
	c = cell(ctx, n->key);
	if (!c || !scalar_of(g, c, &s))
		return false;
	if (n->kind == NODE_MATCH) {
		/* texts of groups have a NUL behind them; what stands behind an inner one is not
		 * seen */
		return s.form == SCALAR_TEXT &&
		       (regexec(&n->regex, s.text, 0, NULL, 0) == 0) != n->negated;
	}
	for (size_t i = 0; i < n->count; i++)
		if (compares(n->kind == NODE_IN ? TOKEN_EQ : n->comparison, &s,
			     &n->literals[i].value))
			return true;
	return false;
}

bool condition_holds(const struct condition *c, const struct groups *g, condition_cell *cell,
		     void *ctx)
{
	return !c->root || node_holds(c->root, g, cell, ctx);
}
