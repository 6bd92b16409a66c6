/*
 * parser_private.h - what the rooms of the parser share: parser.c (conditions that are joined),
 * parser_leaf.c (a condition by itself), parser_operand.c (what is asked or compared)
 */
#ifndef TRFILTER_PARSER_PRIVATE_H
#define TRFILTER_PARSER_PRIVATE_H

#include "cmd/trfilter/expression/expression.h"
#include "common/expr/lexer.h"

struct parser {
	struct lexer lexer;
	unsigned nesting;
};

#define TOKEN(p) (&(p)->lexer.token)

/* Functions that return a node: NULL with the error said. Functions that return int: 0 or -1. */
struct node *parser_node(struct parser *p, enum node_kind kind);
/* Drop a half-made tree: NULL. */
struct node *parser_failed(struct node *n);
struct node *parser_no_memory(struct parser *p, struct node *n);
/* Take a child over, also where that fails; NULL: it was not to be had. */
int parser_add(struct parser *p, struct node *n, struct node *child);
/* "... expected, not ...": -1. */
int parser_unexpected(struct parser *p, const char *wanted);
/* Go behind a token of that kind. */
int parser_expect(struct parser *p, enum token_kind kind, const char *what);

/* A field by its name. */
int parser_field(struct parser *p, struct operand *o);
/* A field, a number or a string. */
int parser_operand(struct parser *p, struct operand *o);

/* A condition by itself; after_not: behind a '!' that has no parentheses. */
struct node *parser_leaf(struct parser *p, bool after_not);
/* Does a comparison, a match or "in" stand here? */
bool parser_at_relation(const struct parser *p);
/* Conditions that are joined by ||. */
struct node *parser_either(struct parser *p);

#endif
