/*
 * lexer.h - the tokens of a condition (trfilter, trstat)
 */
#ifndef TR_EXPR_LEXER_H
#define TR_EXPR_LEXER_H

#include "common/util/error.h"
#include "common/value/scalar.h"

enum token_kind {
	TOKEN_END,
	TOKEN_NUMBER,
	TOKEN_STRING,
	TOKEN_NAME,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_OPEN_BRACE,
	TOKEN_CLOSE_BRACE,
	TOKEN_COMMA,
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_NOT,
	TOKEN_EQ,
	TOKEN_NE,
	TOKEN_LT,
	TOKEN_LE,
	TOKEN_GT,
	TOKEN_GE,
	TOKEN_MATCH,
	TOKEN_NO_MATCH,
	TOKEN_BIT_AND,
	TOKEN_BIT_OR,
	TOKEN_BIT_XOR,
	TOKEN_COMPLEMENT,
	TOKEN_LEFT,
	TOKEN_RIGHT,
	TOKEN_PLUS,
	TOKEN_MINUS,
	TOKEN_TIMES,
	TOKEN_DIVIDE,
	TOKEN_REMAINDER,
};

struct token {
	enum token_kind kind;
	size_t column;	  /* from 1 */
	const char *text; /* as written */
	size_t size;
	struct scalar value; /* NUMBER */
	bool time_unit;	     /* NUMBER */
	bool percent;	     /* NUMBER: written with a "%" that is no operator */
	struct scalar
		seconds; /* NUMBER with a point and without a unit: in ns, if it is of seconds */
	bool has_seconds;
	char *string; /* STRING: its bytes, then NUL; a caller that takes it sets it to NULL */
	size_t string_size;
};

struct lexer {
	const char *text;
	size_t at;
	struct token token;
	struct error *error;
};

/* Read the next token into the lexer. A '-' before digits belongs to the number, except after an
 * operand. Returns -1 if there is no valid token, or when out of
 * memory. */
int lexer_next(struct lexer *l);
void lexer_free(struct lexer *l);

/* Returns true for NULL, true and false, whose values are 0, 1 and 0. */
bool lexer_constant(const struct token *t, struct scalar *value);

/* Set l->error to "column N: ..."; returns -1. */
int lexer_error(struct lexer *l, size_t column, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
