/*
 * lexer.h - the tokens of TSDL
 */
#ifndef TR_TRDECODE_CTF_LEXER_H
#define TR_TRDECODE_CTF_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctf_token {
	TOKEN_END,
	TOKEN_WORD,	 /* identifier or keyword */
	TOKEN_NUMBER,	 /* without a sign */
	TOKEN_STRING,	 /* with escapes resolved */
	TOKEN_CHARACTER, /* constant: the character, as text and as a number */
	TOKEN_MARK,	 /* punctuation */
	TOKEN_BAD,
};

/* Punctuation of more than one character. */
enum { MARK_ASSIGN_TYPE = 256 /* := */, MARK_ARROW /* -> */, MARK_DOTS /* ... */ };

/* A text and its current token. */
struct ctf_lexer {
	const char *at, *end;
	uint32_t line;
	enum ctf_token token;
	int mark;   /* MARK: the character, or one of the above */
	char *text; /* WORD, STRING, CHARACTER: ends with a NUL, valid until the next token */
	size_t capacity;
	uint64_t number;   /* NUMBER, CHARACTER */
	const char *wrong; /* BAD: what is wrong */
};

void ctf_lexer_begin(struct ctf_lexer *l, const char *text, size_t n);
void ctf_lexer_next(struct ctf_lexer *l);
void ctf_lexer_free(struct ctf_lexer *l);

static inline bool ctf_is_mark(const struct ctf_lexer *l, int mark)
{
	return l->token == TOKEN_MARK && l->mark == mark;
}

bool ctf_is_word(const struct ctf_lexer *l, const char *word);

#endif
