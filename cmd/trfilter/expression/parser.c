#include "cmd/trfilter/expression/parser_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"

enum { NESTING = 200 };

/* Free an incomplete tree. */
struct node *parser_failed(struct node *n)
{
	expression_free(n);
	return NULL;
}

struct node *parser_no_memory(struct parser *p, struct node *n)
{
	lexer_error(&p->lexer, TOKEN(p)->column, "out of memory");
	return parser_failed(n);
}

struct node *parser_node(struct parser *p, enum node_kind kind)
{
	struct node *n = calloc(1, sizeof *n);

	if (!n)
		return parser_no_memory(p, NULL);
	n->kind = kind;
	return n;
}

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

	return lexer_error(&p->lexer, TOKEN(p)->column, "%s expected, not %s", wanted,
			   shown_token(TOKEN(p), text, sizeof text));
}

int parser_expect(struct parser *p, enum token_kind kind, const char *what)
{
	if (TOKEN(p)->kind != kind)
		return parser_unexpected(p, what);
	return lexer_next(&p->lexer);
}

int parser_add(struct parser *p, struct node *n, struct node *child)
{
	struct node **children;

	if (!child)
		return -1;
	children = array_grow(n->children, &n->capacity, n->nchildren, sizeof *children);
	if (!children) {
		expression_free(child);
		return lexer_error(&p->lexer, TOKEN(p)->column, "out of memory");
	}
	n->children = children;
	children[n->nchildren++] = child;
	n->depends |= child->depends;
	return 0;
}

static struct node *group(struct parser *p)
{
	struct node *n;

	if (lexer_next(&p->lexer))
		return NULL;
	n = parser_either(p);
	if (n && parser_expect(p, TOKEN_CLOSE, "')'"))
		return parser_failed(n);
	if (n && (parser_at_relation(p))) {
		lexer_error(&p->lexer, TOKEN(p)->column,
			    "a condition in parentheses cannot be compared");
		return parser_failed(n);
	}
	return n;
}

static struct node *negation(struct parser *p, bool after_not)
{
	struct node *n;

	if (++p->nesting > NESTING) {
		lexer_error(&p->lexer, TOKEN(p)->column, "nested too deeply");
		return NULL;
	}
	if (TOKEN(p)->kind == TOKEN_OPEN) {
		n = group(p);
	} else if (TOKEN(p)->kind != TOKEN_NOT) {
		n = parser_leaf(p, after_not);
	} else {
		n = parser_node(p, NODE_NOT);
		if (n && (lexer_next(&p->lexer) || parser_add(p, n, negation(p, true))))
			n = parser_failed(n);
	}
	p->nesting--;
	return n;
}

/* Parse conditions joined by && or ||, into one node. */
static struct node *parse_joined(struct parser *p, enum node_kind kind, enum token_kind by,
				 struct node *(*part)(struct parser *p))
{
	struct node *first = part(p), *n;

	if (!first || TOKEN(p)->kind != by)
		return first;
	n = parser_node(p, kind);
	if (!n)
		return parser_failed(first);
	if (parser_add(p, n, first))
		return parser_failed(n);
	while (TOKEN(p)->kind == by)
		if (lexer_next(&p->lexer) || parser_add(p, n, part(p)))
			return parser_failed(n);
	return n;
}

static struct node *one(struct parser *p)
{
	return negation(p, false);
}

static struct node *both(struct parser *p)
{
	return parse_joined(p, NODE_AND, TOKEN_AND, one);
}

struct node *parser_either(struct parser *p)
{
	return parse_joined(p, NODE_OR, TOKEN_OR, both);
}

/* Use arguments and return value of the row itself, where calls are not followed. */
static void ask_of_rows(struct node *n)
{
	struct operand *sides[] = {&n->left, &n->right};

	if (n->kind == NODE_UNDER || n->kind == NODE_OVER)
		return;
	n->depends = 0;
	for (size_t i = 0; i < n->nchildren; i++) {
		ask_of_rows(n->children[i]);
		n->depends |= n->children[i]->depends;
	}
	for (int i = 0; i < 2; i++) {
		if (sides[i]->depends & DEPENDS_ARGUMENT || sides[i]->ask == ASK_RETURN)
			sides[i]->depends = DEPENDS_ROW | DEPENDS_KIND;
		n->depends |= sides[i]->depends;
	}
}

struct node *expression_parse(const char *text, struct error *e)
{
	struct parser p = {.lexer = {.text = text, .error = e}};
	struct node *n = NULL;

	if (!lexer_next(&p.lexer)) {
		if (TOKEN(&p)->kind == TOKEN_END)
			lexer_error(&p.lexer, TOKEN(&p)->column, "there is no condition in it");
		else
			n = parser_either(&p);
	}
	if (n && TOKEN(&p)->kind != TOKEN_END) {
		parser_unexpected(&p, "'&&', '||' or the end");
		n = parser_failed(n);
	}
	lexer_free(&p.lexer);
	if (n && n->depends & DEPENDS_KIND)
		ask_of_rows(n);
	return n;
}
