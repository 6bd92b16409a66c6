#include "cmd/trdecode/ctf/lexer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void ctf_lexer_begin(struct ctf_lexer *l, const char *text, size_t n)
{
	*l = (struct ctf_lexer){.at = text, .end = text + n, .line = 1};
	ctf_lexer_next(l);
}

void ctf_lexer_free(struct ctf_lexer *l)
{
	free(l->text);
}

bool ctf_is_word(const struct ctf_lexer *l, const char *word)
{
	return l->token == TOKEN_WORD && !strcmp(l->text, word);
}

static void bad(struct ctf_lexer *l, const char *wrong)
{
	l->token = TOKEN_BAD;
	l->wrong = wrong;
}

/* Skip a backslash at the end of a line, which continues the line. */
static bool skip_continuation(struct ctf_lexer *l)
{
	const char *p = l->at;

	if (l->end - p < 2 || *p++ != '\\')
		return false;
	if (*p == '\r' && l->end - p >= 2)
		p++;
	if (*p != '\n')
		return false;
	l->line++;
	l->at = p + 1;
	return true;
}

static void skip_line(struct ctf_lexer *l)
{
	while (l->at < l->end && *l->at != '\n')
		if (!skip_continuation(l))
			l->at++;
}

/* Skip a comment. false: the comment never ends. */
static bool skip_comment(struct ctf_lexer *l)
{
	for (l->at += 2; l->end - l->at >= 2; l->at++) {
		if (l->at[0] == '*' && l->at[1] == '/') {
			l->at += 2;
			return true;
		}
		l->line += *l->at == '\n';
	}
	return false;
}

/* Skip blanks and comments before the next token. */
static bool skip_blanks(struct ctf_lexer *l)
{
	while (l->at < l->end) {
		if (*l->at == '\n') {
			l->line++;
			l->at++;
		} else if (skip_continuation(l)) {
			continue;
		} else if (isspace((unsigned char)*l->at)) {
			l->at++;
		} else if (l->end - l->at >= 2 && l->at[0] == '/' && l->at[1] == '/') {
			skip_line(l);
		} else if (l->end - l->at >= 2 && l->at[0] == '/' && l->at[1] == '*') {
			if (!skip_comment(l))
				return false;
		} else {
			return true;
		}
	}
	return true;
}

/* Reserve space for n characters and a NUL. */
static bool reserve_text(struct ctf_lexer *l, size_t n)
{
	char *text;

	if (n < l->capacity)
		return true;
	text = realloc(l->text, 2 * n + 64);
	if (!text) {
		bad(l, "out of memory");
		return false;
	}
	l->text = text;
	l->capacity = 2 * n + 64;
	return true;
}

static void word(struct ctf_lexer *l)
{
	const char *from = l->at;
	size_t n;

	while (l->at < l->end && (isalnum((unsigned char)*l->at) || *l->at == '_'))
		l->at++;
	n = (size_t)(l->at - from);
	if (!reserve_text(l, n))
		return;
	memcpy(l->text, from, n);
	l->text[n] = '\0';
	l->token = TOKEN_WORD;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

static void lex_number(struct ctf_lexer *l)
{
	unsigned base = 10;
	uint64_t n = 0;

	if (*l->at == '0') {
		base = 8;
		if (l->end - l->at >= 3 && (l->at[1] == 'x' || l->at[1] == 'X') &&
		    digit_of(l->at[2]) < 16) {
			base = 16;
			l->at += 2;
		} else if (l->end - l->at >= 3 && (l->at[1] == 'b' || l->at[1] == 'B') &&
			   digit_of(l->at[2]) < 2) {
			base = 2;
			l->at += 2;
		}
	}
	for (; l->at < l->end && (unsigned)digit_of(*l->at) < base; l->at++)
		if (__builtin_mul_overflow(n, base, &n) ||
		    __builtin_add_overflow(n, (unsigned)digit_of(*l->at), &n)) {
			bad(l, "a number beyond 64 bits");
			return;
		}
	while (l->at < l->end && strchr("uUlL", *l->at) && *l->at)
		l->at++;
	if (l->at < l->end && (isalnum((unsigned char)*l->at) || *l->at == '_')) {
		bad(l, "a number that goes on with letters or wrong digits");
		return;
	}
	l->token = TOKEN_NUMBER;
	l->number = n;
}

/* Read an escape sequence after its backslash, and return the character. */
static char lex_escape(struct ctf_lexer *l)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	char c = *l->at++;
	const char *known = c ? strchr(from, c) : NULL;
	int n = 0;

	if (known)
		return to[known - from];
	if (c == 'x') {
		for (int i = 0; i < 2 && l->at < l->end && digit_of(*l->at) < 16; i++)
			n = n * 16 + digit_of(*l->at++);
		return (char)n;
	}
	if (c >= '0' && c <= '7') {
		n = c - '0';
		for (int i = 0; i < 2 && l->at < l->end && *l->at >= '0' && *l->at <= '7'; i++)
			n = n * 8 + (*l->at++ - '0');
		return (char)n;
	}
	return c;
}

/* Read a string or character constant; each ends with the character that begins it. */
static void lex_quoted(struct ctf_lexer *l)
{
	char quote = *l->at++;
	size_t n = 0;

	while (l->at < l->end && *l->at != quote && *l->at != '\n') {
		if (skip_continuation(l))
			continue;
		if (!reserve_text(l, n + 1))
			return;
		if (*l->at == '\\' && l->end - l->at >= 2) {
			l->at++;
			l->text[n++] = lex_escape(l);
		} else {
			l->text[n++] = *l->at++;
		}
	}
	if (l->at == l->end || *l->at != quote) {
		bad(l, quote == '"' ? "a string that does not end"
				    : "a character constant that does not end");
		return;
	}
	l->at++;
	if (!reserve_text(l, n))
		return;
	l->text[n] = '\0';
	l->token = quote == '"' ? TOKEN_STRING : TOKEN_CHARACTER;
	l->number = n ? (uint64_t)(signed char)l->text[0] : 0;
}

static void mark(struct ctf_lexer *l)
{
	static const struct {
		const char *text;
		int mark;
	} longer[] = {{":=", MARK_ASSIGN_TYPE}, {"->", MARK_ARROW}, {"...", MARK_DOTS}};

	l->token = TOKEN_MARK;
	for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
		size_t n = strlen(longer[i].text);

		if ((size_t)(l->end - l->at) >= n && !memcmp(l->at, longer[i].text, n)) {
			l->mark = longer[i].mark;
			l->at += n;
			return;
		}
	}
	l->mark = (unsigned char)*l->at++;
}

void ctf_lexer_next(struct ctf_lexer *l)
{
	if (!skip_blanks(l)) {
		bad(l, "a comment that does not end");
		return;
	}
	/* a constant of wide characters */
	if (l->end - l->at >= 2 && *l->at == 'L' && (l->at[1] == '"' || l->at[1] == '\''))
		l->at++;
	if (l->at == l->end)
		l->token = TOKEN_END;
	else if (isalpha((unsigned char)*l->at) || *l->at == '_')
		word(l);
	else if (isdigit((unsigned char)*l->at))
		lex_number(l);
	else if (*l->at == '"' || *l->at == '\'')
		lex_quoted(l);
	else
		mark(l);
}
