/*
 * parser_private.h - shared by the files of the parser: parser.c (joined conditions), parser_leaf.c
 * (a single condition), parser_operand.c (operands)
 */
#ifndef TR_TRFILTER_EXPRESSION_PARSER_PRIVATE_H
#define TR_TRFILTER_EXPRESSION_PARSER_PRIVATE_H

#include "cmd/trfilter/expression/expression.h"
#include "common/expr/lexer.h"

struct parser {
	struct lexer lexer;
	unsigned nesting;
};

#define TOKEN(p) (&(p)->lexer.token)

/* Functions that return a node return NULL with the error set. Functions that return int return
 * 0 or -1. */
struct node *parser_node(struct parser *p, enum node_kind kind);
/* Free an incomplete tree; returns NULL. */
struct node *parser_failed(struct node *n);
struct node *parser_no_memory(struct parser *p, struct node *n);
/* Add a child, which is freed on an error; child NULL: returns -1. */
int parser_add(struct parser *p, struct node *n, struct node *child);
/* Set the error "... expected, not ..."; returns -1. */
int parser_unexpected(struct parser *p, const char *wanted);
/* Read a token of that kind. */
int parser_expect(struct parser *p, enum token_kind kind, const char *what);

/* Set a field by its name. */
int parser_field(struct parser *p, struct operand *o);
/* Parse a field, a number or a string. */
int parser_operand(struct parser *p, struct operand *o);

/* Parse a single condition; after_not: a '!' without parentheses precedes it. */
struct node *parser_leaf(struct parser *p, bool after_not);
/* Returns true if a comparison, a match or "in" follows. */
bool parser_at_relation(const struct parser *p);
/* Parse conditions joined by ||. */
struct node *parser_either(struct parser *p);

#endif
