/*
 * print_parser.h - shared by the files that parse a print fmt
 *
 * Functions that return a node return PARSE_NONE after any error; p->failed stays set, and why
 * contains the first reason. Nodes are numbers, as their array may move.
 */
#ifndef TR_FTRACE_PRINT_PARSER_H
#define TR_FTRACE_PRINT_PARSER_H

#include "common/ftrace/print_lexer.h"
#include "common/ftrace/print_tree.h"

#define PARSE_NONE UINT32_MAX

struct parser {
	struct print_lexer lexer; /* the next token */
	struct print_format *format;
	const struct print_kernel *kernel;
	char *why; /* PRINT_WHY bytes; "" when out of memory */
	unsigned nesting;
	bool failed;
};

struct parsed_type {
	uint8_t size; /* 0: not known */
	bool is_signed, pointer, boolean;
	uint8_t target; /* of a pointer; 0 not known */
	bool target_signed;
};

static inline struct print_node *parse_node(const struct parser *p, uint32_t node)
{
	return &p->format->nodes[node];
}

static inline bool parse_is_constant(const struct parser *p, uint32_t node)
{
	return parse_node(p, node)->op == OP_NUMBER;
}

static inline void parse_next(struct parser *p)
{
	print_lexer_next(&p->lexer);
}

static inline bool parse_is(const struct parser *p, const char *op)
{
	return token_is(&p->lexer.token, op);
}

static inline bool parse_accept(struct parser *p, const char *op)
{
	if (!parse_is(p, op))
		return false;
	parse_next(p);
	return true;
}

static inline bool parse_name_is(const struct print_token *t, const char *name)
{
	return t->kind == TOKEN_NAME && t->size == strlen(name) && !memcmp(t->text, name, t->size);
}

/* print_nodes.c */
/* Fail near the next token. */
uint32_t parse_fail(struct parser *p, const char *what);
uint32_t parse_no_memory(struct parser *p);
/* Add a node with up to three operands. */
uint32_t parse_add(struct parser *p, struct print_node n, uint32_t a, uint32_t b, uint32_t c);
uint32_t parse_constant(struct parser *p, uint64_t v, unsigned width, bool is_signed);
/* Read this token, or fail. */
bool parse_expect(struct parser *p, const char *op);
/* Test whether the node is a number, else fail. */
bool parse_is_number(struct parser *p, uint32_t node);
uint32_t parse_cast(struct parser *p, const struct parsed_type *t, uint32_t a);
uint32_t parse_unary(struct parser *p, enum print_op op, uint32_t a);
uint32_t parse_binary(struct parser *p, enum print_op op, uint32_t a, uint32_t b);
/* Parse a ? b : c after the question mark. */
uint32_t parse_choice(struct parser *p, uint32_t a);

/* print_types.c: parse a type and the parenthesis after it. False: there is no type, and nothing
 * was read. */
bool parse_cast_type(struct parser *p, struct parsed_type *out);

/* print_access.c */
/* Parse the name of a field; NULL: failed. */
const struct event_field *parse_field_named(struct parser *p);
uint32_t parse_array_of(struct parser *p, const struct event_field *f);
uint32_t parse_load(struct parser *p, const struct event_field *f);
uint32_t parse_element(struct parser *p, uint32_t array, uint32_t index);
/* &REC->x, &REC->array[3] */
uint32_t parse_address_of(struct parser *p, uint32_t a);

/* print_names.c */
/* Parse a string literal, or several adjacent ones. *where, *size: in the texts. */
bool parse_literal(struct parser *p, size_t *where, size_t *size);
uint32_t parse_text(struct parser *p);
/* Find a constant that the kernel leaves in its formats by name. */
bool parse_known_name(const struct print_token *t, uint64_t *v);
/* Parse the arguments of __print_flags() and __print_symbolic(). */
uint32_t parse_names(struct parser *p, enum print_op op);

/* print_functions.c: parse the call of a function, after its name. */
uint32_t parse_call(struct parser *p, const struct print_token *name);

/* print_parse.c: parse operators of that level or above; 0: the ternary one too. */
uint32_t parse_expression(struct parser *p, int least);

#endif
