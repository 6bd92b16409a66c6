/*
 * parser_private.h - shared by the files of the parser: parser.c (operators), parser_leaf.c
 * (a single condition), parser_operand.c (fields, numbers, strings), nodes.c (memory)
 */
#ifndef TR_EXPR_PARSER_PRIVATE_H
#define TR_EXPR_PARSER_PRIVATE_H

#include "common/expr/expression.h"

struct parser {
	struct lexer *lexer;
	const struct language *language;
	unsigned nesting;
};

#define TOKEN(p) (&(p)->lexer->token)

/* What was parsed last: a condition or a value, and the other is NULL. */
struct term {
	struct node *condition;
	struct operand *value;
	size_t column;
	bool grouped; /* in parentheses */
};

/* Functions that return a pointer return NULL with the error set. Functions that return int return
 * 0 or -1. Terms and children are the function's, on an error too. */
struct node *parser_node(struct parser *p, enum node_kind kind);
void *parser_no_memory(struct parser *p);
struct operand *parser_operand_new(struct parser *p, enum operand_kind kind);
void operand_free(struct operand *o, const struct language *language);
/* Free an incomplete tree; returns NULL. */
struct node *parser_failed(struct parser *p, struct node *n);
/* Free a term; returns -1. */
int parser_drop(struct parser *p, struct term *t);
/* Add a child; child NULL: returns -1. */
int parser_add(struct parser *p, struct node *n, struct node *child);
/* Set the error "... expected, not ..."; returns -1. */
int parser_unexpected(struct parser *p, const char *wanted);
/* Read a token of that kind. */
int parser_expect(struct parser *p, enum token_kind kind, const char *what);
bool parser_at_word(const struct parser *p, const char *word);
/* Returns true if '(' follows the token. */
bool parser_at_call(const struct parser *p);

/* Parse a field, a number or a string. */
struct operand *parser_operand(struct parser *p);
struct operand *parser_field(struct parser *p);
/* Set a literal to the number of a token. */
void parser_take_number(struct operand *o, const struct token *t);
/* Take a number that is added to a time or compared with it: beside a field or a constant a number
 * with a point is of seconds; another number without a unit is noted, and so is one that counts are
 * calculated with, as in 5 * children. Returns -1 if the time has a unit, so the number needs one.
 */
int parser_beside_time(struct parser *p, const struct operand *time, struct operand *number);
/* Make the operand of an operator with two sides; constants become their result. */
struct operand *parser_arithmetic(struct parser *p, enum arithmetic how, struct operand *a,
				  struct operand *b, size_t column);

/* Returns true if a comparison, a match or "in" follows. */
bool parser_at_relation(const struct parser *p);
/* Parse a relation from its operator on. */
struct node *parser_relation(struct parser *p, struct operand *left);
/* Parse has(), under() or over() into *n where one follows. */
int parser_function(struct parser *p, struct node **n);
/* Make a condition of a term. */
struct node *parser_condition(struct parser *p, struct term *t);

/* Parse what binds tighter than a relation. */
int parser_value(struct parser *p, struct term *t);
/* Parse terms joined by ||. */
int parser_either(struct parser *p, struct term *t);

#endif
