#include "common/expr/lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/stream/field.h"
#include "common/value/units.h"

/* Test a byte in the C locale; <ctype.h> would use the user's. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int lexer_error(struct lexer *l, size_t column, const char *fmt, ...)
{
	char what[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	return error_set(l->error, NULL, NO_OFFSET, "expression, column %zu: %s", column, what);
}

void lexer_free(struct lexer *l)
{
	free(l->token.string);
	l->token.string = NULL;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t c = a % b;

		a = b;
		b = c;
	}
	return a;
}

/* Make (whole + part / scale) * times, if it is an integer, else a REAL without its value.
 * Returns -1 if it is too large. */
static int make_number(struct scalar *v, bool negative, uint64_t whole, uint64_t part,
		       uint64_t scale, uint64_t times)
{
	uint64_t common = gcd(times, scale), below = scale / common, n;

	*v = (struct scalar){.form = SCALAR_UINT};
	if (part % below) {
		v->form = SCALAR_REAL;
		return 0;
	}
	if (__builtin_mul_overflow(whole, times, &n) ||
	    __builtin_add_overflow(n, part / below * (times / common), &n))
		return -1;
	v->u = n;
	if (negative && n) {
		if (n > (uint64_t)1 << 63)
			return -1;
		v->form = SCALAR_INT;
		v->u = -n;
	}
	return 0;
}

/* Read all digits from *p on, in that base. Returns -1 if the number is too large. */
static int read_digits(const char **p, unsigned base, uint64_t *n, unsigned *count)
{
	bool overflow = false;

	for (*n = 0, *count = 0;; ++*p, ++*count) {
		int d = hex_digit(**p);

		if (d < 0 || d >= (int)base)
			return overflow ? -1 : 0;
		overflow |= __builtin_mul_overflow(*n, base, n);
		overflow |= __builtin_add_overflow(*n, d, n);
	}
}

/* Make a number from its text, in the C locale, times a unit. Integers stay integers. */
static void make_real(struct scalar *v, const char *written, uint64_t times)
{
	long double real = strtold(written, NULL) * (long double)times;

	*v = (struct scalar){.form = SCALAR_REAL, .written = true};
	v->real = real;
	v->as_double = times == 1 ? strtod(written, NULL) : (double)real;
	v->as_float = times == 1 ? strtof(written, NULL) : (float)real;
	if (real >= 0 && real < 0x1p64L && real == (long double)(uint64_t)real)
		*v = (struct scalar){.form = SCALAR_UINT, .u = (uint64_t)real};
	else if (real >= -0x1p63L && real < 0 && real == (long double)(int64_t)real)
		*v = (struct scalar){.form = SCALAR_INT, .i = (int64_t)real};
}

/* Read the digits of a fraction, without trailing zeros: at most 18 are exact. */
static bool read_fraction(const char **p, uint64_t *part, uint64_t *scale)
{
	const char *end = *p, *last = *p;

	for (; is_digit(*end); end++)
		if (*end != '0')
			last = end + 1;
	for (*part = 0, *scale = 1; *p < last && *scale < 1000000000000000000u; ++*p, *scale *= 10)
		*part = 10 * *part + (uint64_t)(**p - '0');
	if (*p < last) {
		*p = end;
		return false;
	}
	*p = end;
	return true;
}

/* Returns the end of "e5", "e-5", or p. */
static const char *skip_exponent(const char *p)
{
	const char *q = p + 1;

	if (*p != 'e' && *p != 'E')
		return p;
	q += *q == '+' || *q == '-';
	if (!is_digit(*q))
		return p;
	while (is_digit(*q))
		q++;
	return q;
}

/* Set t->seconds: the number that is read, which has a point and no unit, as seconds. */
static void read_seconds(struct token *t, const char *start, bool exact, uint64_t whole,
			 const uint64_t fraction[2])
{
	const uint64_t second = 1000000000;

	t->has_seconds = true;
	if (!exact ||
	    make_number(&t->seconds, *start == '-', whole, fraction[0], fraction[1], second) ||
	    t->seconds.form == SCALAR_REAL)
		make_real(&t->seconds, start, second);
}

/* Returns true at a "%" after a number that ends the operand: what follows is no operand of "%". */
static bool is_percent(const char *p)
{
	const char *next = p + 1 + strspn(p + (*p != '\0'), " \t\r\n");

	return *p == '%' && (!*next || strchr(")<>=!", *next) || !strncmp(next, "&&", 2) ||
			     !strncmp(next, "||", 2));
}

static int read_number(struct lexer *l)
{
	struct token *t = &l->token;
	const char *p = l->text + l->at, *start = p, *suffix;
	bool negative = *p == '-', exact = true, point = false;
	uint64_t whole, part = 0, scale = 1;
	const struct unit *unit = unit_find("", 0);
	unsigned count;
	const char *fraction_end = NULL;
	int bad;

	p += negative;
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		p += 2;
		bad = read_digits(&p, 16, &whole, &count);
		if (!bad && !count)
			return lexer_error(l, t->column, "hexadecimal digits are missing");
		suffix = p;
	} else {
		bad = read_digits(&p, 10, &whole, &count);
		if (*p == '.' && is_digit(p[1])) {
			point = true;
			p++;
			exact = read_fraction(&p, &part, &scale);
			fraction_end = p;
		}
		suffix = skip_exponent(p);
		if (suffix > p) {
			point = true;
			exact = false;
			bad = 0;
			p = suffix;
		}
		while (is_letter(*p) || is_digit(*p))
			p++;
		unit = unit_find(suffix, (size_t)(p - suffix));
	}
	if (!unit)
		return lexer_error(
			l, t->column,
			"unknown unit '%.*s'; units are ns us ms s m min h and K M G T kB MB "
			"GB TB",
			(int)(p - suffix < 60 ? p - suffix : 60), suffix);
	if (is_letter(*p) || *p == '.' || (p == suffix && is_digit(*p) && !bad))
		return lexer_error(l, t->column, "not a number");
	if (bad || (exact && make_number(&t->value, negative, whole, part, scale, unit->scale)))
		return lexer_error(l, t->column, "the number is too large for 64 bits");
	if (!exact || t->value.form == SCALAR_REAL)
		make_real(&t->value, start, unit->scale);
	t->value.written |= point;
	t->has_seconds = false;
	t->percent = p == suffix && is_percent(p);
	if (p == fraction_end && !t->percent)
		read_seconds(t, start, exact, whole, (uint64_t[]){part, scale});
	t->kind = TOKEN_NUMBER;
	t->time_unit = unit->kind == UNIT_TIME_NS;
	p += t->percent;
	l->at = (size_t)(p - l->text);
	return 0;
}

/* Read the character after a backslash. Unknown escapes keep the backslash, so that "\." in a
 * regular expression needs no second one. */
static const char *read_escape(const char *p, char **out)
{
	int high, low;

	switch (*p) {
	case 'n': *(*out)++ = '\n'; return p + 1;
	case 't': *(*out)++ = '\t'; return p + 1;
	case 'r': *(*out)++ = '\r'; return p + 1;
	case '0': *(*out)++ = '\0'; return p + 1;
	case '\\':
	case '"':
	case '\'': *(*out)++ = *p; return p + 1;
	case 'x':
		high = hex_digit(p[1]);
		low = high < 0 ? -1 : hex_digit(p[2]);
		if (low >= 0) {
			*(*out)++ = (char)(high << 4 | low);
			return p + 3;
		}
	}
	return NULL;
}

static int read_string(struct lexer *l)
{
	const char *p = l->text + l->at, *start = p, *after;
	char quote = *p++, *out;

	out = l->token.string = malloc(strlen(p) + 1);
	if (!out)
		return lexer_error(l, l->token.column, "out of memory");
	while (*p != quote) {
		if (!*p)
			return lexer_error(l, l->token.column, "the string is not closed");
		if (*p != '\\') {
			*out++ = *p++;
			continue;
		}
		after = read_escape(p + 1, &out);
		if (after)
			p = after;
		else
			*out++ = *p++;
	}
	*out = '\0';
	l->token.string_size = (size_t)(out - l->token.string);
	l->token.kind = TOKEN_STRING;
	l->at += (size_t)(p + 1 - start);
	return 0;
}

/* Read a name, which may contain dots and indexes: arg.1, a.b, args[0]. */
static void read_name(struct lexer *l)
{
	const char *p = l->text + l->at;
	uint64_t index;

	while (is_letter(*p) || is_digit(*p) || field_index(p, &index) ||
	       (*p == '.' && (is_letter(p[1]) || is_digit(p[1]))))
		p += *p == '[' ? field_index(p, &index) : 1;
	l->token.kind = TOKEN_NAME;
	l->at = (size_t)(p - l->text);
}

bool lexer_constant(const struct token *t, struct scalar *value)
{
	return t->kind == TOKEN_NAME && scalar_constant(t->text, t->size, value);
}

/* The longest ones first */
static const struct sign {
	const char *text;
	enum token_kind kind;
} signs[] = {
	{"&&", TOKEN_AND},	 {"||", TOKEN_OR},	   {"==", TOKEN_EQ},
	{"!=", TOKEN_NE},	 {"<<", TOKEN_LEFT},	   {">>", TOKEN_RIGHT},
	{"<=", TOKEN_LE},	 {">=", TOKEN_GE},	   {"=~", TOKEN_MATCH},
	{"!~", TOKEN_NO_MATCH},	 {"<", TOKEN_LT},	   {">", TOKEN_GT},
	{"!", TOKEN_NOT},	 {"(", TOKEN_OPEN},	   {")", TOKEN_CLOSE},
	{"{", TOKEN_OPEN_BRACE}, {"}", TOKEN_CLOSE_BRACE}, {",", TOKEN_COMMA},
	{"&", TOKEN_BIT_AND},	 {"|", TOKEN_BIT_OR},	   {"^", TOKEN_BIT_XOR},
	{"~", TOKEN_COMPLEMENT}, {"+", TOKEN_PLUS},	   {"-", TOKEN_MINUS},
	{"*", TOKEN_TIMES},	 {"/", TOKEN_DIVIDE},	   {"%", TOKEN_REMAINDER},
};

/* Read an operator or a bracket. Where an operand is expected, "!~" is "!" and "~". */
static int read_sign(struct lexer *l, bool operand)
{
	const char *p = l->text + l->at;

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		size_t n = strlen(signs[i].text);

		if (!strncmp(p, signs[i].text, n) &&
		    !(operand && signs[i].kind == TOKEN_NO_MATCH)) {
			l->token.kind = signs[i].kind;
			l->at += n;
			return 0;
		}
	}
	if (*p == '=')
		return lexer_error(l, l->token.column, "'=' is not a comparison: use '=='");
	return lexer_error(l, l->token.column, "unexpected '%c'", *p);
}

/* Returns true if an operator may follow the token: a '-' after it is not a sign of a number. */
static bool ends_operand(const struct token *t)
{
	return t->kind == TOKEN_NUMBER || t->kind == TOKEN_STRING || t->kind == TOKEN_NAME ||
	       t->kind == TOKEN_CLOSE || t->kind == TOKEN_CLOSE_BRACE;
}

int lexer_next(struct lexer *l)
{
	bool operand = !ends_operand(&l->token);
	const char *p;
	int bad = 0;

	lexer_free(l);
	while (l->text[l->at] == ' ' || l->text[l->at] == '\t' || l->text[l->at] == '\n' ||
	       l->text[l->at] == '\r')
		l->at++;
	p = l->text + l->at;
	l->token = (struct token){.kind = TOKEN_END, .column = l->at + 1, .text = p};
	if (!*p)
		return 0;
	if (is_digit(*p) || (operand && *p == '-' && is_digit(p[1])))
		bad = read_number(l);
	else if (*p == '"' || *p == '\'')
		bad = read_string(l);
	else if (is_letter(*p))
		read_name(l);
	else
		bad = read_sign(l, operand);
	l->token.size = (size_t)(l->text + l->at - p);
	return bad;
}
