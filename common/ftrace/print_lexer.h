/*
 * print_lexer.h - the tokens of a print fmt
 */
#ifndef TR_FTRACE_PRINT_LEXER_H
#define TR_FTRACE_PRINT_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum print_token_kind {
	TOKEN_END,
	TOKEN_NUMBER,
	TOKEN_STRING, /* text: between the quotes, escapes and all */
	TOKEN_NAME,
	TOKEN_OPERATOR, /* one or two characters; "->" too */
	TOKEN_BAD,
};

struct print_token {
	enum print_token_kind kind;
	const char *text;
	size_t size;
	uint64_t value; /* TOKEN_NUMBER, with its type */
	uint8_t width;	/* 4 or 8 */
	bool is_signed;
};

struct print_lexer {
	const char *p, *end;
	unsigned word; /* bytes of a long */
	struct print_token token;
};

/* Read the next token. */
void print_lexer_next(struct print_lexer *l);

static inline bool token_is(const struct print_token *t, const char *op)
{
	return t->kind == TOKEN_OPERATOR && t->text[0] == op[0] &&
	       (op[1] ? t->size == 2 && t->text[1] == op[1] : t->size == 1);
}

#endif
