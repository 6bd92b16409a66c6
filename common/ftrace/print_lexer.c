#include "common/ftrace/print_lexer.h"

#include <string.h>

#include "common/ftrace/print_format.h"
#include "common/util/u128.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

/* Set the type that C gives to an integer constant. */
static void number_type(struct print_token *t, bool decimal, bool is_unsigned, int longs,
			unsigned word)
{
	unsigned least = longs > 1 ? 8 : longs ? word : 4;
	uint64_t v = t->value;

	t->is_signed = !is_unsigned;
	t->width = (uint8_t)least;
	if (least == 4) {
		if (v <= INT32_MAX)
			return;
		if (v <= UINT32_MAX && (is_unsigned || !decimal)) {
			t->is_signed = false;
			return;
		}
		t->width = 8;
	}
	if (v > INT64_MAX)
		t->is_signed = false;
}

static void number(struct print_lexer *l)
{
	struct print_token *t = &l->token;
	const char *p = l->p;
	int base = 10, longs = 0;
	bool is_unsigned = false;

	if (*p == '0' && l->end - p > 1 && (p[1] == 'x' || p[1] == 'X')) {
		base = 16;
		p += 2;
	} else if (*p == '0') {
		base = 8;
	}
	t->kind = TOKEN_NUMBER;
	t->value = 0;
	/* what exceeds 64 bits is UINT64_MAX, as strtoull has it in libtraceevent */
	for (; p < l->end && digit(*p) < base; p++) {
		t->value = multiply_saturated(t->value, (unsigned)base);
		add_saturated(&t->value, (unsigned)digit(*p));
	}
	for (; p < l->end && is_name(*p); p++) {
		if (*p == 'u' || *p == 'U')
			is_unsigned = true;
		else if (*p == 'l' || *p == 'L')
			longs++;
		else
			t->kind = TOKEN_BAD;
	}
	number_type(t, base == 10, is_unsigned, longs, l->word);
	l->p = p;
}

/* Read a string up to the quote that ends it; false: there is none. */
static bool quoted(struct print_lexer *l, char quote)
{
	const char *p = l->p + 1;

	l->token.text = p;
	while (p < l->end && *p != quote)
		p += *p == '\\' && l->end - p > 1 ? 2 : 1;
	if (p >= l->end)
		return false;
	l->token.size = (size_t)(p - l->token.text);
	l->p = p + 1;
	return true;
}

static void character(struct print_lexer *l)
{
	char c[16];

	l->token.kind = TOKEN_BAD;
	if (!quoted(l, '\'') || l->token.size > sizeof c ||
	    print_unescape(c, l->token.text, l->token.size) != 1)
		return;
	l->token.kind = TOKEN_NUMBER;
	l->token.value = (uint64_t)(int64_t)(signed char)c[0];
	l->token.width = 4;
	l->token.is_signed = true;
}

static void operator(struct print_lexer *l)
{
	static const char two[][3] = {"->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
	struct print_token *t = &l->token;

	t->kind = TOKEN_OPERATOR;
	t->text = l->p;
	t->size = 1;
	for (size_t i = 0; i < sizeof two / sizeof *two && l->end - l->p > 1; i++)
		if (!memcmp(l->p, two[i], 2))
			t->size = 2;
	l->p += t->size;
}

void print_lexer_next(struct print_lexer *l)
{
	struct print_token *t = &l->token;

	while (l->p < l->end && strchr(" \t\r\n", *l->p) && *l->p)
		l->p++;
	t->text = l->p;
	t->size = 0;
	if (l->p == l->end) {
		t->kind = TOKEN_END;
	} else if (is_digit(*l->p)) {
		number(l);
	} else if (is_name(*l->p)) {
		t->kind = TOKEN_NAME;
		while (l->p < l->end && is_name(*l->p))
			l->p++;
		t->size = (size_t)(l->p - t->text);
	} else if (*l->p == '"') {
		t->kind = quoted(l, '"') ? TOKEN_STRING : TOKEN_BAD;
	} else if (*l->p == '\'') {
		character(l);
	} else {
		operator(l);
	}
}

static size_t digits_of(const char *p, size_t n, int base, size_t most, unsigned *v)
{
	size_t i = 0;

	for (*v = 0; i < n && i < most && digit(p[i]) < base; i++)
		*v = *v * (unsigned)base + (unsigned)digit(p[i]);
	return i;
}

size_t print_unescape(char *to, const char *from, size_t n)
{
	static const char letters[] = "ntrabvfe", codes[] = "\n\t\r\a\b\v\f\033";
	size_t size = 0;

	for (size_t i = 0; i < n;) {
		const char *letter;
		unsigned v;
		size_t took;

		if (from[i] != '\\' || i + 1 == n) {
			to[size++] = from[i++];
			continue;
		}
		i++;
		letter = from[i] ? strchr(letters, from[i]) : NULL;
		if (letter) {
			to[size++] = codes[letter - letters];
			i++;
		} else if (from[i] == 'x' && digits_of(from + i + 1, n - i - 1, 16, 2, &v)) {
			i += 1 + digits_of(from + i + 1, n - i - 1, 16, 2, &v);
			to[size++] = (char)v;
		} else if ((took = digits_of(from + i, n - i, 8, 3, &v))) {
			i += took;
			to[size++] = (char)v;
		} else {
			to[size++] = from[i++];
		}
	}
	return size;
}
