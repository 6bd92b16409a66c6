/*
 * expression.c - conditions: parsed into a tree, and evaluated
 */
#include "common/expr/expression.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/stream/field.h"
#include "common/util/buffer.h"
#include "common/util/output.h"
#include "common/util/pattern.h"
#include "common/util/text.h"
#include "common/util/u128.h"
#include "common/value/scalar.h"
#include "common/value/units.h"

struct expression_parser {
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

static int lexer_unexpected(struct lexer *l, const char *wanted);

/* Read a token of that kind. */
static int parser_expect(struct expression_parser *p, enum token_kind kind, const char *what)
{
	if (TOKEN(p)->kind != kind)
		return lexer_unexpected(p->lexer, what);
	return lexer_next(p->lexer);
}

static bool parser_at_word(const struct expression_parser *p, const char *word)
{
	const struct token *t = TOKEN(p);

	return t->kind == TOKEN_NAME && t->size == strlen(word) && !memcmp(t->text, word, t->size);
}

/* Returns true if '(' follows the token. */
static bool parser_at_call(const struct expression_parser *p)
{
	const char *after = p->lexer->text + p->lexer->at;

	return after[strspn(after, " \t\r\n")] == '(';
}

static int parser_value(struct expression_parser *p, struct term *t);
static int parse_or(struct expression_parser *p, struct term *t);

const char *arithmetic_sign(enum arithmetic how)
{
	static const char *const signs[] = {
		[ARITHMETIC_OR] = "|",	     [ARITHMETIC_XOR] = "^",
		[ARITHMETIC_AND] = "&",	     [ARITHMETIC_LEFT] = "<<",
		[ARITHMETIC_RIGHT] = ">>",   [ARITHMETIC_ADD] = "+",
		[ARITHMETIC_SUBTRACT] = "-", [ARITHMETIC_MULTIPLY] = "*",
		[ARITHMETIC_DIVIDE] = "/",   [ARITHMETIC_REMAINDER] = "%",
	};

	return signs[how];
}

/* Returns true for an operator that real numbers have no result for. */
static bool arithmetic_of_integers(enum arithmetic how)
{
	return how <= ARITHMETIC_RIGHT || how == ARITHMETIC_REMAINDER;
}

static struct scalar no_value(void)
{
	return (struct scalar){.form = SCALAR_NONE};
}

static struct scalar make_integer(int128 n, bool is_signed)
{
	bool is_int = n < 0 || (is_signed && n <= INT64_MAX);

	return (struct scalar){.form = is_int ? SCALAR_INT : SCALAR_UINT, .u = (uint64_t)n};
}

static struct scalar make_bits(uint64_t bits, bool is_signed)
{
	return (struct scalar){.form = is_signed ? SCALAR_INT : SCALAR_UINT, .u = bits};
}

static int128 integer_of(const struct scalar *s)
{
	return s->form == SCALAR_INT ? (int128)s->i : (int128)s->u;
}

static int128 expression_multiply(int128 x, int128 y)
{
	int128 n;

	/* only a product of two large unsigned numbers exceeds 128 bits */
	return __builtin_mul_overflow(x, y, &n) ? (int128)((uint64_t)x * (uint64_t)y) : n;
}

static struct scalar expression_shift(enum arithmetic how, int128 x, int128 by, bool is_signed)
{
	if (by < 0)
		return no_value();
	if (how == ARITHMETIC_LEFT)
		return make_integer(by < 64 ? expression_multiply(x, (int128)1 << by) : 0,
				    is_signed);
	return make_integer(x >> (by < 64 ? by : 64), is_signed);
}

static struct scalar of_integers(enum arithmetic how, const struct scalar *a,
				 const struct scalar *b)
{
	bool is_signed = a->form == SCALAR_INT && b->form == SCALAR_INT;
	int128 x = integer_of(a), y = integer_of(b);

	switch (how) {
	case ARITHMETIC_OR: return make_bits(a->u | b->u, is_signed);
	case ARITHMETIC_XOR: return make_bits(a->u ^ b->u, is_signed);
	case ARITHMETIC_AND: return make_bits(a->u & b->u, is_signed);
	case ARITHMETIC_LEFT:
	case ARITHMETIC_RIGHT: return expression_shift(how, x, y, a->form == SCALAR_INT);
	case ARITHMETIC_ADD: return make_integer(x + y, is_signed);
	case ARITHMETIC_SUBTRACT: return make_integer(x - y, is_signed);
	case ARITHMETIC_MULTIPLY: return make_integer(expression_multiply(x, y), is_signed);
	case ARITHMETIC_DIVIDE: return y ? make_integer(x / y, is_signed) : no_value();
	case ARITHMETIC_REMAINDER: return y ? make_integer(x % y, is_signed) : no_value();
	}
	return no_value();
}

static double expression_real_of(const struct scalar *s)
{
	if (s->form == SCALAR_REAL)
		return s->written ? s->as_double : (double)s->real;
	return s->form == SCALAR_INT ? (double)s->i : (double)s->u;
}

static struct scalar of_reals(enum arithmetic how, double x, double y)
{
	struct scalar s = {.form = SCALAR_REAL, .real_size = 8};

	switch (how) {
	case ARITHMETIC_ADD: s.real = x + y; return s;
	case ARITHMETIC_SUBTRACT: s.real = x - y; return s;
	case ARITHMETIC_MULTIPLY: s.real = x * y; return s;
	case ARITHMETIC_DIVIDE: s.real = x / y; return y != 0 ? s : no_value();
	default: return no_value();
	}
}

struct scalar arithmetic(enum arithmetic how, const struct scalar *a, const struct scalar *b)
{
	if (!scalar_is_number(a) || !scalar_is_number(b))
		return no_value();
	if (a->form == SCALAR_REAL || b->form == SCALAR_REAL ||
	    (how == ARITHMETIC_DIVIDE && (a->written || b->written)))
		return of_reals(how, expression_real_of(a), expression_real_of(b));
	return of_integers(how, a, b);
}

/* --- lexer --- */

/* Test a byte in the C locale; <ctype.h> would use the user's. */
static bool expression_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int expression_hex_digit(char c)
{
	if (expression_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

enum { COLUMN_WORDS = 48 };

/* Write "column 5" or "line 2, column 5". */
static const char *column_words(char words[COLUMN_WORDS], size_t column)
{
	size_t line = column >> COLUMN_LINE, in_line = column & (((size_t)1 << COLUMN_LINE) - 1);

	if (line)
		snprintf(words, COLUMN_WORDS, "line %zu, column %zu", line, in_line);
	else
		snprintf(words, COLUMN_WORDS, "column %zu", in_line);
	return words;
}

int lexer_error(struct lexer *l, size_t column, const char *fmt, ...)
{
	char what[400], words[COLUMN_WORDS];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	return error_set(l->error, NULL, NO_OFFSET, "%.100s, %s: %s",
			 l->file ? l->file : "expression", column_words(words, column), what);
}

/* --- expressions in files --- */

enum {
	EXPRESSION_FILE = 1 << 20, /* bytes that a file may have */
	BYTE_ORDER_MARK = 3	   /* bytes before the text, of some editors */
};

/* A file that was read. */
static struct expression_file {
	struct expression_file *next;
	const char *argument;
	char text[];
} * files;

/* Replace comments by blanks, outside of quotes. */
static void blank_comments(char *p)
{
	for (char quote = 0; *p; p++) {
		if (quote && *p == '\\' && p[1])
			p++;
		else if (quote)
			quote = *p == quote ? 0 : quote;
		else if (*p == '"' || *p == '\'')
			quote = *p;
		else if (*p == '#')
			for (*p = ' '; p[1] && p[1] != '\n';)
				*++p = ' ';
	}
}

/* Read a whole file. Returns the bytes, or -1 with e filled. */
static ssize_t read_expression(const char *name, char *text, struct error *e)
{
	int fd = io_open(name, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	ssize_t n = 0, got = fd < 0 ? -1 : 1;

	while (got > 0 && n <= EXPRESSION_FILE)
		n += got = io_read(fd, text + n, (size_t)(EXPRESSION_FILE + 1 - n));
	if (got < 0)
		n = error_errno(e, NULL, NO_OFFSET, "expression in %.200s: cannot %s", name,
				fd < 0 ? "open" : "read");
	if (fd >= 0)
		close(fd);
	if (n > EXPRESSION_FILE)
		return error_set(e, NULL, NO_OFFSET,
				 "expression in %.200s: is longer than %d bytes", name,
				 EXPRESSION_FILE);
	if (n >= 0 && memchr(text, 0, (size_t)n))
		return error_set(e, NULL, NO_OFFSET, "expression in %.200s: is not a text", name);
	if (n >= BYTE_ORDER_MARK && !memcmp(text, "\xef\xbb\xbf", BYTE_ORDER_MARK))
		memmove(text, text + BYTE_ORDER_MARK, (size_t)(n -= BYTE_ORDER_MARK));
	return n;
}

static void free_files(void)
{
	while (files) {
		struct expression_file *f = files;

		files = f->next;
		free(f);
	}
}

const char *expression_text(const char *argument, struct error *e)
{
	struct expression_file *f = files, *smaller;
	ssize_t n;

	if (*argument != '@')
		return argument;
	while (f && strcmp(f->argument, argument) != 0)
		f = f->next;
	if (f)
		return f->text;
	f = malloc(sizeof *f + EXPRESSION_FILE + 2);
	if (!f || (!files && atexit(free_files))) {
		free(f);
		error_no_memory(e);
		return NULL;
	}
	n = read_expression(argument + 1, f->text, e);
	if (n < 0) {
		free(f);
		return NULL;
	}
	f->text[n] = '\0';
	blank_comments(f->text);
	while (n && strchr(" \t\r\n", f->text[n - 1]))
		f->text[--n] = '\0';
	f->argument = argument;
	f->next = files;
	smaller = realloc(f, sizeof *f + (size_t)n + 1);
	files = smaller ? smaller : f;
	return files->text;
}

int lexer_begin(struct lexer *l, const char *argument, struct error *e)
{
	*l = (struct lexer){.text = expression_text(argument, e), .error = e};
	if (*argument == '@') {
		l->file = argument + 1;
		l->line = 1;
	}
	return l->text ? 0 : -1;
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
static int lexer_make_number(struct scalar *v, bool negative, uint64_t whole, uint64_t part,
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
		int d = expression_hex_digit(**p);

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

	for (; expression_is_digit(*end); end++)
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

/* Get the end of "e5", "e-5", or p. */
static const char *skip_exponent(const char *p)
{
	const char *q = p + 1;

	if (*p != 'e' && *p != 'E')
		return p;
	q += *q == '+' || *q == '-';
	if (!expression_is_digit(*q))
		return p;
	while (expression_is_digit(*q))
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
	    lexer_make_number(&t->seconds, *start == '-', whole, fraction[0], fraction[1],
			      second) ||
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

#define UNKNOWN_UNIT "unknown unit '%.*s'; units are " UNITS_OF_TIME " and " UNITS_OF_SIZE

static int expression_read_number(struct lexer *l)
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
		if (*p == '.' && expression_is_digit(p[1])) {
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
		while (is_letter(*p) || expression_is_digit(*p))
			p++;
		unit = unit_find(suffix, (size_t)(p - suffix));
	}
	if (!unit)
		return lexer_error(l, t->column, UNKNOWN_UNIT,
				   (int)(p - suffix < 60 ? p - suffix : 60), suffix);
	if (is_letter(*p) || *p == '.' || (p == suffix && expression_is_digit(*p) && !bad))
		return lexer_error(l, t->column, "not a number");
	if (bad ||
	    (exact && lexer_make_number(&t->value, negative, whole, part, scale, unit->scale)))
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
		high = expression_hex_digit(p[1]);
		low = high < 0 ? -1 : expression_hex_digit(p[2]);
		if (low >= 0) {
			*(*out)++ = (char)(high << 4 | low);
			return p + 3;
		}
	}
	return NULL;
}

static int expression_read_string(struct lexer *l)
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

int expression_put_string(struct buffer *b, const char *p, size_t n)
{
	int bad = buffer_u8(b, '"');

	while (n && !bad) {
		unsigned char c = (unsigned char)*p;
		size_t size = utf8_length(p, n);

		/* of a character that controls the terminal byte by byte */
		size = size && !utf8_control(p, n) ? size : 0;
		if (!size)
			bad = buffer_printf(b, "\\x%02x", c);
		else
			bad = ((c == '"' || c == '\\') && buffer_u8(b, '\\')) ||
			      buffer_append(b, p, size);
		size += !size;
		p += size;
		n -= size;
	}
	return bad || buffer_u8(b, '"') ? -1 : 0;
}

/* Read a name, which may contain dots and indexes: arg.1, a.b, args[0]. */
static void expression_read_name(struct lexer *l)
{
	const char *p = l->text + l->at;
	uint64_t index;

	while (is_letter(*p) || expression_is_digit(*p) || field_index(p, &index) ||
	       (*p == '.' && (is_letter(p[1]) || expression_is_digit(p[1]))))
		p += *p == '[' ? field_index(p, &index) : 1;
	l->token.kind = TOKEN_NAME;
	l->at = (size_t)(p - l->text);
}

/* Returns true for NULL, true and false, whose values are 0, 1 and 0. */
static bool lexer_constant(const struct token *t, struct scalar *value)
{
	return t->kind == TOKEN_NAME && scalar_constant(t->text, t->size, value);
}

/* The longest ones first */
static const struct {
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
	size_t n;

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		n = strlen(signs[i].text);

		if (!strncmp(p, signs[i].text, n) &&
		    !(operand && signs[i].kind == TOKEN_NO_MATCH)) {
			l->token.kind = signs[i].kind;
			l->at += n;
			return 0;
		}
	}
	if (*p == '=')
		return lexer_error(l, l->token.column, "'=' is not a comparison: use '=='");
	n = utf8_length(p, strlen(p));
	return lexer_error(l, l->token.column, "unexpected '%.*s'", (int)(n ? n : 1), p);
}

/* Returns true if an operator may follow the token: a '-' after it is not a sign of a number. */
static bool ends_operand(const struct token *t)
{
	return t->kind == TOKEN_NUMBER || t->kind == TOKEN_STRING || t->kind == TOKEN_NAME ||
	       t->kind == TOKEN_CLOSE || t->kind == TOKEN_CLOSE_BRACE;
}

/* Move to the next token, and to its line: a string may have several, too. */
static void lexer_skip_blanks(struct lexer *l)
{
	const char *end;

	l->at += strspn(l->text + l->at, " \t\r\n");
	while ((end = memchr(l->text + l->counted, '\n', l->at - l->counted))) {
		l->counted = l->line_start = (size_t)(end + 1 - l->text);
		l->line += l->line ? 1 : 2;
	}
	l->counted = l->at;
}

int lexer_next(struct lexer *l)
{
	bool operand = !ends_operand(&l->token);
	const char *p;
	int bad = 0;

	lexer_free(l);
	lexer_skip_blanks(l);
	p = l->text + l->at;
	l->token = (struct token){.kind = TOKEN_END,
				  .column = l->line << COLUMN_LINE | (l->at - l->line_start + 1),
				  .text = p};
	if (!*p)
		return 0;
	if (expression_is_digit(*p) || (operand && *p == '-' && expression_is_digit(p[1])))
		bad = expression_read_number(l);
	else if (*p == '"' || *p == '\'')
		bad = expression_read_string(l);
	else if (is_letter(*p))
		expression_read_name(l);
	else
		bad = read_sign(l, operand);
	l->token.size = (size_t)(l->text + l->at - p);
	return bad;
}

/* Get the token as it was written, for messages. */
static const char *shown_token(const struct token *t, char *text, size_t size)
{
	if (t->kind == TOKEN_END)
		return "the end";
	snprintf(text, size, "'%.*s'", t->size < 60 ? (int)t->size : 60, t->text);
	return text;
}

/* Test whether a text of n bytes is the word, in upper case too. */
static bool is_word(const char *word, const char *text, size_t n)
{
	return strlen(word) == n && !strncasecmp(word, text, n);
}

/* Get the operator that other languages write as the word; NULL: none. */
static const char *worded_operator(const char *text, size_t n)
{
	static const char *const operators[][2] = {{"and", "&&"},  {"or", "||"},
						   {"not", "!"},   {"is", "=="},
						   {"like", "=~"}, {"matches", "=~"}};

	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (is_word(operators[i][0], text, n))
			return operators[i][1];
	return NULL;
}

/* Report the token, or a "not" before it. Returns -1. */
static int lexer_unexpected(struct lexer *l, const char *wanted)
{
	const struct token *t = &l->token;
	const char *end = t->text, *start, *meant = worded_operator(t->text, t->size);
	char text[80];

	while (end > l->text && strchr(" \t\r\n", end[-1]))
		end--;
	for (start = end; start > l->text && is_letter(start[-1]);)
		start--;
	if (!meant && is_word("not", start, (size_t)(end - start)))
		meant = "!";
	return lexer_error(l, t->column, "%s expected, not %s%s%s%s", wanted,
			   shown_token(t, text, sizeof text), meant ? "; did you mean '" : "",
			   meant ? meant : "", meant ? "'?" : "");
}

int lexer_end(struct lexer *l)
{
	if (l->token.kind == TOKEN_END)
		return 0;
	if (l->token.kind == TOKEN_NAME && unit_find(l->token.text, l->token.size))
		return lexer_error(l, l->token.column,
				   "a unit follows its number without a blank: 5%.*s",
				   (int)l->token.size, l->token.text);
	return lexer_unexpected(l, "'&&', '||' or the end");
}

/* --- make and free the parts of a tree --- */

static void *parser_no_memory(struct expression_parser *p)
{
	lexer_error(p->lexer, TOKEN(p)->column, "out of memory");
	return NULL;
}

/* Functions that return a pointer return NULL with the error set. Functions that return int return
 * 0 or -1. Terms and children are the function's, on an error too. */
static struct node *parser_node(struct expression_parser *p, enum node_kind kind)
{
	struct node *n = calloc(1, sizeof *n);

	if (!n)
		return parser_no_memory(p);
	n->kind = kind;
	return n;
}

static struct operand *parser_operand_new(struct expression_parser *p, enum operand_kind kind)
{
	struct operand *o = calloc(1, sizeof *o);

	if (!o)
		return parser_no_memory(p);
	o->kind = kind;
	o->column = TOKEN(p)->column;
	return o;
}

/* Add a child; child NULL: returns -1. */
static int parser_add(struct expression_parser *p, struct node *n, struct node *child)
{
	struct node **children;

	if (!child)
		return -1;
	if (ARRAY_GROW(n->children, n->capacity, n->nchildren)) {
		expression_free(child, p->language);
		return parser_no_memory(p), -1;
	}
	children = n->children;
	children[n->nchildren++] = child;
	n->depends |= child->depends;
	n->time_unit |= child->time_unit;
	return 0;
}

static void operand_free(struct operand *o, const struct language *language)
{
	if (!o)
		return;
	operand_free(o->left, language);
	operand_free(o->right, language);
	if (o->data)
		language->free_field(o->data);
	free(o->name);
	free(o);
}

void expression_free(struct node *n, const struct language *language)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->nchildren; i++)
		expression_free(n->children[i], language);
	free(n->children);
	operand_free(n->left, language);
	operand_free(n->right, language);
	free(n->fields);
	free(n->pattern);
	if (n->has_regex)
		regfree(&n->regex);
	for (size_t i = 0; i < n->ntexts; i++)
		free((char *)n->texts[i].text);
	free(n->numbers);
	free(n->texts);
	if (n->data)
		language->free_node(n->data);
	free(n);
}

/* Free an incomplete tree; returns NULL. */
static struct node *parser_failed(struct expression_parser *p, struct node *n)
{
	expression_free(n, p->language);
	return NULL;
}

/* Free a term; returns -1. */
static int parser_drop(struct expression_parser *p, struct term *t)
{
	expression_free(t->condition, p->language);
	operand_free(t->value, p->language);
	*t = (struct term){.column = t->column};
	return -1;
}

/* --- parse operands: fields, numbers, strings; and make those of operators --- */

static struct operand *drop_operand(struct expression_parser *p, struct operand *o)
{
	operand_free(o, p->language);
	return NULL;
}

/* Resolve o->name, which is to be of that size. */
static struct operand *expression_resolve(struct expression_parser *p, struct operand *o,
					  const char *name, size_t size, bool quoted)
{
	o->name = strndup(name, size);
	if (!o->name) {
		parser_no_memory(p);
		return drop_operand(p, o);
	}
	return p->language->field(p->language->ctx, p->lexer, o, quoted) ? drop_operand(p, o) : o;
}

/* Parse field("name"), from its '(' on. */
static struct operand *parse_quoted(struct expression_parser *p, struct operand *o)
{
	struct token *t = TOKEN(p);

	if (lexer_next(p->lexer))
		return drop_operand(p, o);
	if (t->kind != TOKEN_STRING || memchr(t->string, 0, t->string_size)) {
		lexer_unexpected(p->lexer, "the name of a field in quotes");
		return drop_operand(p, o);
	}
	o = expression_resolve(p, o, t->string, t->string_size, true);
	if (o && (lexer_next(p->lexer) || parser_expect(p, TOKEN_CLOSE, "')'")))
		return drop_operand(p, o);
	return o;
}

static struct operand *parser_field(struct expression_parser *p)
{
	struct token *t = TOKEN(p);
	const struct token name = *t;
	bool quoted = parser_at_word(p, "field");
	struct nearest nearest;
	struct operand *o;

	if (t->kind != TOKEN_NAME) {
		lexer_unexpected(p->lexer, "the name of a field");
		return NULL;
	}
	o = parser_operand_new(p, OPERAND_FIELD);
	if (!o || lexer_next(p->lexer))
		return drop_operand(p, o);
	if (quoted && t->kind == TOKEN_OPEN)
		return parse_quoted(p, o);
	o = expression_resolve(p, o, name.text, name.size, false);
	if (o)
		o->word = !memchr(name.text, '.', name.size) && !memchr(name.text, '[', name.size);
	if (o && t->kind == TOKEN_OPEN) {
		nearest_begin(&nearest, name.text, name.size);
		nearest_offer_words(&nearest, "under over has field !");
		lexer_error(p->lexer, name.column, "there is no function '%.*s'%s",
			    name.size < 60 ? (int)name.size : 60, name.text,
			    nearest_hint(&nearest));
		return drop_operand(p, o);
	}
	return o;
}

/* Set a literal to the number of a token. */
static void parser_take_number(struct operand *o, const struct token *t)
{
	o->form = KNOWN_NUMBER;
	o->value = t->value;
	o->time_unit = o->of_time = t->time_unit;
	o->percent = t->percent;
	o->seconds = t->seconds;
	o->has_seconds = t->has_seconds;
}

/* Parse a field, a number or a string. */
static struct operand *parser_operand(struct expression_parser *p)
{
	struct token *t = TOKEN(p);
	struct scalar value = t->value;
	struct operand *o;

	if (t->kind == TOKEN_NAME && !lexer_constant(t, &value))
		return parser_field(p);
	if (t->kind != TOKEN_NAME && t->kind != TOKEN_NUMBER && t->kind != TOKEN_STRING) {
		lexer_unexpected(p->lexer, "a field, a number or a string");
		return NULL;
	}
	o = parser_operand_new(p, OPERAND_LITERAL);
	if (!o)
		return NULL;
	parser_take_number(o, t);
	o->value = value;
	if (t->kind == TOKEN_STRING) {
		o->form = KNOWN_TEXT;
		o->name = t->string;
		o->value = (struct scalar){
			.form = SCALAR_TEXT, .text = t->string, .size = t->string_size};
		t->string = NULL;
	}
	return lexer_next(p->lexer) ? drop_operand(p, o) : o;
}

/* Refuse a value that is not a number or, with real, not an integer. */
static int expression_check_side(struct expression_parser *p, enum arithmetic how,
				 struct operand *o, size_t column)
{
	if (o->form == KNOWN_TEXT)
		return lexer_error(p->lexer, column, "'%s' takes numbers, not texts",
				   arithmetic_sign(how));
	if (o->kind != OPERAND_LITERAL)
		return 0;
	if (o->percent)
		return lexer_error(p->lexer, column, "'%s' takes numbers, not percentages",
				   arithmetic_sign(how));
	if (o->value.form == SCALAR_REAL && arithmetic_of_integers(how))
		return lexer_error(p->lexer, column, "'%s' takes integers only",
				   arithmetic_sign(how));
	/* as in C, an integer is signed unless it is too large for that */
	if (o->value.form == SCALAR_UINT && o->value.u <= INT64_MAX)
		o->value.form = SCALAR_INT;
	return 0;
}

/* Write a number as the user may have written it. */
static void spell_number(const struct scalar *s, char *text, size_t size)
{
	if (s->form == SCALAR_REAL)
		snprintf(text, size, "%.15Lg", s->real);
	else if (s->form == SCALAR_INT)
		snprintf(text, size, "%" PRId64, s->i);
	else
		snprintf(text, size, "%" PRIu64, s->u);
}

/* Get the first number without a unit in an operand that has no time in it: not a multiple of a
 * field that may be one, such as an argument. *time: the operand has one. */
static struct operand *plain_number(struct operand *o, bool *time)
{
	struct operand *left, *right;

	if (o->of_time || o->may_be_time || (!operand_literal(o) && o->form == KNOWN_NOTHING))
		*time = true;
	if (operand_literal(o))
		return scalar_true(&o->value) && !o->percent ? o : NULL;
	if (o->kind != OPERAND_ARITHMETIC)
		return NULL;
	left = plain_number(o->left, time);
	right = plain_number(o->right, time);
	return left ? left : right;
}

/* Take a number that is added to a time or compared with it: beside a field or a constant a number
 * with a point is of seconds; another number without a unit is noted, and so is one that counts are
 * calculated with, as in 5 * children. Returns -1 if the time has a unit, so the number needs one.
 */
static int parser_beside_time(struct expression_parser *p, const struct operand *time,
			      struct operand *number)
{
	bool is_time = false;
	char where[150], words[COLUMN_WORDS], text[40];

	if (!time->of_time || number->of_time || number->form != KNOWN_NUMBER || number->percent)
		return 0;
	if (number->has_seconds && operand_literal(number) && time->kind != OPERAND_ARITHMETIC) {
		number->value = number->seconds;
		number->time_unit = number->of_time = true;
		return 0;
	}
	number = plain_number(number, &is_time);
	if (!number || is_time)
		return 0;
	number->plain_time = true;
	if (!operand_literal(time))
		return 0;
	snprintf(where, sizeof where, "%.100s, %s", p->lexer->file ? p->lexer->file : "expression",
		 column_words(words, number->column));
	spell_number(&number->value, text, sizeof text);
	return time_needs_unit(NULL, where, text, p->lexer->error);
}

int expression_check_clock(const struct node *n, const char *option, bool ticks,
			   expression_is_time *is_time, const void *ctx, struct error *e)
{
	char where[100], words[COLUMN_WORDS], text[40];
	bool time = !is_time && !ticks;

	if (!n)
		return 0;
	for (size_t i = 0; i < n->nchildren; i++)
		if (expression_check_clock(n->children[i], option, ticks, is_time, ctx, e))
			return -1;
	for (size_t i = 0; !time && i < n->nfields; i++)
		time = is_time ? is_time(ctx, n->fields[i]->field) : n->fields[i]->of_time;
	if (time && ticks && n->time_unit)
		return error_set(e, NULL, NO_OFFSET,
				 "%s: the clock counts ticks: use numbers without a unit", option);
	if (!time || ticks || !n->plain_time.column)
		return 0;
	snprintf(where, sizeof where, "%.40s, %s", option,
		 column_words(words, n->plain_time.column));
	spell_number(&n->plain_time.value, text, sizeof text);
	return time_needs_unit(NULL, where, text, e);
}

/* Returns true if an operator makes a time of two operands: a sum, a difference and a remainder
 * with a time, and a multiple and a part of one. */
static bool makes_time(enum arithmetic how, bool left, bool right)
{
	switch (how) {
	case ARITHMETIC_ADD:
	case ARITHMETIC_SUBTRACT:
	case ARITHMETIC_REMAINDER: return left || right;
	case ARITHMETIC_MULTIPLY: return left != right;
	case ARITHMETIC_DIVIDE: return left && !right;
	default: return false;
	}
}

/* Returns true if an operator takes two times, or two numbers. */
static bool takes_alike(enum arithmetic how)
{
	return how == ARITHMETIC_ADD || how == ARITHMETIC_SUBTRACT || how == ARITHMETIC_REMAINDER;
}

/* Set a literal to the result of two. */
static void expression_fold(struct expression_parser *p, struct operand *o)
{
	o->kind = OPERAND_LITERAL;
	o->value = arithmetic(o->arithmetic, &o->left->value, &o->right->value);
	if (o->value.form == SCALAR_REAL) {
		o->value.written = true;
		o->value.as_double = (double)o->value.real;
		o->value.as_float = (float)o->value.real;
	}
	o->time_unit = o->left->time_unit || o->right->time_unit;
	operand_free(o->left, p->language);
	operand_free(o->right, p->language);
	o->left = o->right = NULL;
	o->height = 0;
}

/* Refuse a division by zero, and a negative shift. */
static int check_right(struct expression_parser *p, enum arithmetic how, const struct operand *o,
		       size_t column)
{
	const struct scalar one = {.form = SCALAR_INT, .i = 1};

	if (o->kind != OPERAND_LITERAL || arithmetic(how, &one, &o->value).form != SCALAR_NONE)
		return 0;
	return lexer_error(p->lexer, column, "'%s' is undefined for this number",
			   arithmetic_sign(how));
}

/* Make the operand of an operator with two sides; constants become their result. */
static struct operand *parser_arithmetic(struct expression_parser *p, enum arithmetic how,
					 struct operand *a, struct operand *b, size_t column)
{
	struct operand *o = parser_operand_new(p, OPERAND_ARITHMETIC);

	if (!o) {
		operand_free(a, p->language);
		return drop_operand(p, b);
	}
	o->form = KNOWN_NUMBER;
	o->column = a->column;
	o->arithmetic = how;
	o->left = a;
	o->right = b;
	o->height = 1 + (a->height > b->height ? a->height : b->height);
	if (takes_alike(how) && (parser_beside_time(p, a, b) || parser_beside_time(p, b, a)))
		return drop_operand(p, o);
	o->of_time = makes_time(how, a->of_time, b->of_time);
	if (expression_check_side(p, how, a, column) || expression_check_side(p, how, b, column) ||
	    check_right(p, how, b, column))
		return drop_operand(p, o);
	if (o->height > EXPRESSION_NESTING) {
		lexer_error(p->lexer, column, "nested too deeply");
		return drop_operand(p, o);
	}
	if (operand_literal(a) && operand_literal(b))
		expression_fold(p, o);
	return o;
}

/* --- parse a single condition: comparisons, sets, has(), under(), over() --- */

/* As pattern.h counts; regcomp() takes at most some 40 MB for it. */
enum { PATTERN_MOST = 10000 };

const char *const expression_kinds[] = {"call",	   "enter",  "leave", "instant",
					"counter", "sample", "gap",   NULL};

/* Refuse a text, or a pattern, without a word of the field. what: the text. */
static int refuse_text(struct expression_parser *p, const char *const *words, const char *what,
		       size_t size, size_t column)
{
	struct buffer list = {0};
	struct nearest nearest;

	nearest_begin(&nearest, what, size);
	for (const char *const *w = words; *w; w++) {
		const char *word = **w ? *w : "\"\"", *before = w == words ? ""
								: w[1]	   ? ", "
									   : " or ";

		nearest_offer(&nearest, *w, strlen(*w));
		buffer_append(&list, before, strlen(before));
		buffer_append(&list, word, strlen(word));
	}
	lexer_error(p->lexer, column, "%.*s expected, not '%.*s'%s", (int)list.size,
		    list.data ? (const char *)list.data : "", size < 60 ? (int)size : 60, what,
		    nearest_hint(&nearest));
	buffer_free(&list);
	return -1;
}

/* Refuse a text that is not a word of the field. */
static int expression_check_word(struct expression_parser *p, const struct operand *field,
				 const char *text, size_t size, size_t column)
{
	if (!operand_field(field) || !field->words)
		return 0;
	for (const char *const *w = field->words; *w; w++)
		if (strlen(*w) == size && !memcmp(*w, text, size))
			return 0;
	return refuse_text(p, field->words, text, size, column);
}

/* Refuse a pattern that matches no word of the field. */
static int check_pattern(struct expression_parser *p, const struct node *n, size_t column)
{
	if (!operand_field(n->left) || !n->left->words)
		return 0;
	for (const char *const *w = n->left->words; *w; w++)
		if (expression_matches(&n->regex, *w, strlen(*w)))
			return 0;
	return refuse_text(p, n->left->words, n->pattern, strlen(n->pattern), column);
}

static bool comparison_of(enum token_kind token, enum comparison *c)
{
	switch (token) {
	case TOKEN_EQ: *c = COMPARE_EQ; return true;
	case TOKEN_NE: *c = COMPARE_NE; return true;
	case TOKEN_LT: *c = COMPARE_LT; return true;
	case TOKEN_LE: *c = COMPARE_LE; return true;
	case TOKEN_GT: *c = COMPARE_GT; return true;
	case TOKEN_GE: *c = COMPARE_GE; return true;
	default: return false;
	}
}

/* Returns true if a comparison, a match or "in" follows. */
static bool parser_at_relation(const struct expression_parser *p)
{
	enum comparison c;
	enum token_kind token = TOKEN(p)->kind;

	return comparison_of(token, &c) || token == TOKEN_MATCH || token == TOKEN_NO_MATCH ||
	       parser_at_word(p, "in");
}

/* Parse a word of a field, which after 'kind ==' needs no quotes. */
static struct operand *parse_word(struct expression_parser *p)
{
	struct token *t = TOKEN(p);
	struct operand *o;

	o = parser_operand_new(p, OPERAND_LITERAL);
	if (!o)
		return NULL;
	o->form = KNOWN_TEXT;
	o->name = strndup(t->text, t->size);
	o->value = (struct scalar){.form = SCALAR_TEXT, .text = o->name, .size = t->size};
	if (!o->name)
		parser_no_memory(p);
	if (o->name && !lexer_next(p->lexer))
		return o;
	operand_free(o, p->language);
	return NULL;
}

static struct operand *parse_right(struct expression_parser *p, const struct operand *left)
{
	struct term t;

	if (operand_field(left) && left->words && TOKEN(p)->kind == TOKEN_NAME)
		return parse_word(p);
	if (parser_value(p, &t))
		return NULL;
	if (!t.condition)
		return t.value;
	lexer_error(p->lexer, t.column, "a condition cannot be compared");
	parser_drop(p, &t);
	return NULL;
}

static const char *form_name(enum known_form f)
{
	return f == KNOWN_TEXT ? "a text" : "a number";
}

static int check_forms(struct expression_parser *p, const struct operand *o, enum known_form other)
{
	if (o->form == KNOWN_NOTHING || other == KNOWN_NOTHING || o->form == other)
		return 0;
	return lexer_error(p->lexer, o->column, "%s cannot be compared with %s", form_name(o->form),
			   form_name(other));
}

/* A result that is not negative is unsigned, as a number that is written is. */
static void settle_literal(struct operand *o)
{
	if (operand_literal(o) && o->value.form == SCALAR_INT && o->value.i >= 0)
		o->value.form = SCALAR_UINT;
}

/* Note in a field that it is compared with a percentage. */
static int take_percent(struct expression_parser *p, struct operand *field,
			const struct operand *literal)
{
	if (!literal->percent || literal->kind != OPERAND_LITERAL)
		return 0;
	if (!operand_field(field) || !field->of_percent)
		return lexer_error(p->lexer, literal->column,
				   "a percentage can be compared with columns of trstat such as "
				   "util and, with --diff, p99_change");
	field->percent = true;
	return 0;
}

/* Refuse a text that a field is compared with, unless it is a word of the field. */
static int check_words(struct expression_parser *p, const struct operand *field,
		       const struct operand *literal)
{
	if (!operand_literal(literal) || literal->value.form != SCALAR_TEXT)
		return 0;
	return expression_check_word(p, field, literal->value.text, literal->value.size,
				     literal->column);
}

static int parse_comparison(struct expression_parser *p, struct node *n)
{
	n->kind = NODE_COMPARE;
	if (lexer_next(p->lexer))
		return -1;
	n->right = parse_right(p, n->left);
	if (!n->right || check_forms(p, n->left, n->right->form))
		return -1;
	if (take_percent(p, n->left, n->right) || take_percent(p, n->right, n->left))
		return -1;
	if (check_words(p, n->left, n->right) || check_words(p, n->right, n->left))
		return -1;
	if (parser_beside_time(p, n->left, n->right) || parser_beside_time(p, n->right, n->left))
		return -1;
	settle_literal(n->left);
	settle_literal(n->right);
	n->left->spelled = !operand_literal(n->right) || n->right->form == KNOWN_TEXT;
	n->right->spelled = !operand_literal(n->left) || n->left->form == KNOWN_TEXT;
	return 0;
}

/* Refuse a regular expression that regcomp() has refused. */
static int bad_pattern(struct expression_parser *p, const struct token *t, int code,
		       const regex_t *regex)
{
	const char *bracket = memchr(t->string, '[', t->string_size), *why = NULL;
	char other[200];

	/* glibc's texts are about basic regular expressions, and it has none for "[" */
	if (code == REG_EBRACK || (code == REG_BADPAT && bracket))
		why = "a '[' is not closed; the character is \\[";
	else if (code == REG_EPAREN)
		why = "a '(' is not closed, or a ')' closes none; the characters are \\( and \\)";
	else if (code == REG_EBRACE)
		why = "a '{' is not closed; the character is \\{";
	else if (code == REG_BADRPT)
		why = "'*', '+', '?' or '{' repeats nothing; the characters are \\*, \\+, \\? and "
		      "\\{";
	else if (code == REG_BADBR)
		why = "a '{' is not followed by a number of repetitions such as {2} or {1,3}";
	else
		regerror(code, regex, other, sizeof other);
	return lexer_error(p->lexer, t->column, "regular expression '%.*s': %s",
			   t->string_size < 60 ? (int)t->string_size : 60, t->string,
			   why ? why : other);
}

static int parse_match(struct expression_parser *p, struct node *n)
{
	struct token *t = TOKEN(p);
	int bad;

	n->kind = NODE_MATCH;
	n->negated = t->kind == TOKEN_NO_MATCH;
	if (n->left->form == KNOWN_NUMBER)
		return lexer_error(p->lexer, n->left->column,
				   "a number cannot be matched with a pattern: compare it");
	if (lexer_next(p->lexer))
		return -1;
	if (t->kind != TOKEN_STRING)
		return lexer_unexpected(p->lexer, "a regular expression in quotes");
	if (memchr(t->string, 0, t->string_size))
		return lexer_error(p->lexer, t->column,
				   "a regular expression cannot contain a NUL");
	if (!pattern_is_small(t->string, PATTERN_MOST))
		return lexer_error(p->lexer, t->column,
				   "regular expression '%.60s': its repetitions and alternatives "
				   "make more than %d characters",
				   t->string, PATTERN_MOST);
	bad = regcomp(&n->regex, t->string, REG_EXTENDED | REG_NOSUB);
	if (bad)
		return bad_pattern(p, t, bad, &n->regex);
	n->has_regex = n->left->spelled = true;
	n->pattern = t->string;
	t->string = NULL;
	return check_pattern(p, n, t->column) ? -1 : lexer_next(p->lexer);
}

/* Note the unit of a constant in its leaf. */
static void note_literal(struct node *n, const struct operand *o)
{
	n->time_unit |= o->time_unit;
	if (!o->plain_time || n->plain_time.column)
		return;
	n->plain_time.column = o->column;
	n->plain_time.value = o->value;
}

static int expression_by_value(const void *a, const void *b)
{
	enum scalar_order o = scalar_compare(a, b);

	return o == ORDER_LESS ? -1 : o == ORDER_GREATER;
}

static int expression_add_member(struct expression_parser *p, struct node *n, size_t capacity[2])
{
	struct token *t = TOKEN(p);
	bool text = t->kind != TOKEN_NUMBER;
	struct scalar **set = text ? &n->texts : &n->numbers, *grown,
		      v = {.form = SCALAR_TEXT, .size = t->size};
	size_t *count = text ? &n->ntexts : &n->nnumbers;

	if (t->kind != TOKEN_NUMBER && t->kind != TOKEN_STRING && t->kind != TOKEN_NAME)
		return lexer_unexpected(p->lexer, "a number or a string");
	if (check_forms(p, n->left, text ? KNOWN_TEXT : KNOWN_NUMBER))
		return -1;
	if (text && expression_check_word(p, n->left, t->string ? t->string : t->text,
					  t->string ? t->string_size : t->size, t->column))
		return -1;
	if (ARRAY_GROW(*set, capacity[text], *count))
		return lexer_error(p->lexer, t->column, "out of memory");
	grown = *set;
	if (t->kind == TOKEN_NUMBER) {
		struct operand member = {.kind = OPERAND_LITERAL, .column = t->column};

		parser_take_number(&member, t);
		if (parser_beside_time(p, n->left, &member))
			return -1;
		v = member.value;
		note_literal(n, &member);
	} else if (t->kind == TOKEN_STRING) {
		v.text = t->string;
		v.size = t->string_size;
		t->string = NULL;
	} else {
		v.text = strndup(t->text, t->size);
		if (!v.text)
			return lexer_error(p->lexer, t->column, "out of memory");
	}
	grown[(*count)++] = v;
	return lexer_next(p->lexer);
}

static int parse_set(struct expression_parser *p, struct node *n)
{
	size_t capacity[2] = {0, 0};

	n->kind = NODE_IN;
	if (lexer_next(p->lexer) || parser_expect(p, TOKEN_OPEN_BRACE, "'{'"))
		return -1;
	for (;;) {
		if (expression_add_member(p, n, capacity))
			return -1;
		if (TOKEN(p)->kind != TOKEN_COMMA)
			break;
		if (lexer_next(p->lexer))
			return -1;
	}
	if (n->nnumbers)
		qsort(n->numbers, n->nnumbers, sizeof *n->numbers, expression_by_value);
	n->left->spelled = n->ntexts > 0;
	if (n->ntexts)
		qsort(n->texts, n->ntexts, sizeof *n->texts, expression_by_value);
	return parser_expect(p, TOKEN_CLOSE_BRACE, "',' or '}'");
}

/* Note the fields of an operand in its leaf, or only count them. */
static void collect_fields(struct node *n, struct operand *o, bool note)
{
	if (o && o->kind == OPERAND_ARITHMETIC) {
		collect_fields(n, o->left, note);
		collect_fields(n, o->right, note);
	} else if (o && o->kind == OPERAND_LITERAL) {
		note_literal(n, o);
	} else if (o) {
		if (note)
			n->fields[n->nfields] = o;
		n->nfields++;
	}
}

/* Finish a leaf, which begins at that column. Returns NULL on an error. */
static struct node *finish_leaf(struct expression_parser *p, struct node *n, size_t column)
{
	for (int note = 0; note < 2; note++) {
		n->nfields = 0;
		collect_fields(n, n->left, note);
		collect_fields(n, n->right, note);
		if (!note && n->nfields) {
			n->fields = calloc(n->nfields, sizeof(struct operand *));
			if (!n->fields) {
				parser_no_memory(p);
				return parser_failed(p, n);
			}
		}
	}
	for (size_t i = 0; i < n->nfields; i++)
		n->depends |= n->fields[i]->depends;
	if (p->language->leaf && p->language->leaf(p->lexer, n, column))
		return parser_failed(p, n);
	return n;
}

/* Parse a relation from its operator on. */
static struct node *parser_relation(struct expression_parser *p, struct operand *left)
{
	struct node *n = parser_node(p, NODE_COMPARE);
	int bad;

	if (!n) {
		operand_free(left, p->language);
		return NULL;
	}
	n->left = left;
	if (parser_at_word(p, "in"))
		bad = parse_set(p, n);
	else if (comparison_of(TOKEN(p)->kind, &n->comparison))
		bad = parse_comparison(p, n);
	else
		bad = parse_match(p, n);
	return bad ? parser_failed(p, n) : finish_leaf(p, n, left->column);
}

/* Make a condition of a term. */
static struct node *parser_condition(struct expression_parser *p, struct term *t)
{
	struct node *n = t->condition;

	t->condition = NULL;
	if (n)
		return n;
	if (operand_literal(t->value) && t->value->form == KNOWN_TEXT)
		lexer_error(p->lexer, t->value->column, "a string alone is not a condition");
	else
		n = parser_node(p, NODE_TRUTH);
	if (!n) {
		parser_drop(p, t);
		return NULL;
	}
	n->left = t->value;
	t->value = NULL;
	return finish_leaf(p, n, t->column);
}

static int parse_has(struct expression_parser *p, struct node *n)
{
	if (lexer_next(p->lexer) || parser_expect(p, TOKEN_OPEN, "'('"))
		return -1;
	n->left = parser_field(p);
	return n->left ? parser_expect(p, TOKEN_CLOSE, "')'") : -1;
}

/* Get the node of name == "f", for a text alone. */
static struct node *parse_name(struct expression_parser *p)
{
	struct node *n = parser_node(p, NODE_COMPARE);

	if (!n)
		return NULL;
	n->comparison = COMPARE_EQ;
	n->left = parser_operand_new(p, OPERAND_FIELD);
	if (n->left)
		n->left->name = strdup("name");
	if (n->left && !n->left->name)
		parser_no_memory(p);
	if (!n->left || !n->left->name ||
	    p->language->field(p->language->ctx, p->lexer, n->left, false))
		return parser_failed(p, n);
	n->right = parser_operand(p);
	return n->right ? finish_leaf(p, n, n->left->column) : parser_failed(p, n);
}

/* Parse under("f"), over(name =~ "^f" && tid == 1). */
static int parse_around(struct expression_parser *p, struct node *n)
{
	struct term t = {0};
	const char *after;

	if (p->language->no_calls)
		return lexer_error(p->lexer, TOKEN(p)->column, "%s", p->language->no_calls);
	if (lexer_next(p->lexer) || parser_expect(p, TOKEN_OPEN, "'('"))
		return -1;
	after = p->lexer->text + p->lexer->at;
	after += strspn(after, " \t\r\n");
	if (TOKEN(p)->kind == TOKEN_STRING && *after == ')')
		t.condition = parse_name(p);
	else if (parse_or(p, &t))
		return -1;
	else
		t.condition = parser_condition(p, &t);
	return parser_add(p, n, t.condition) || parser_expect(p, TOKEN_CLOSE, "')'") ? -1 : 0;
}

/* Parse has(), under() or over() into *n where one follows. */
static int parser_function(struct expression_parser *p, struct node **n)
{
	size_t column = TOKEN(p)->column;
	int bad;

	if (!parser_at_call(p))
		return 0;
	if (parser_at_word(p, "has"))
		*n = parser_node(p, NODE_HAS);
	else if (parser_at_word(p, "under"))
		*n = parser_node(p, NODE_UNDER);
	else if (parser_at_word(p, "over"))
		*n = parser_node(p, NODE_OVER);
	else
		return 0;
	if (!*n)
		return -1;
	bad = (*n)->kind == NODE_HAS ? parse_has(p, *n) : parse_around(p, *n);
	*n = bad ? parser_failed(p, *n) : finish_leaf(p, *n, column);
	return *n ? 0 : -1;
}

/* --- parse operators by their precedence --- */

/* Set the error "... expected, not ..."; returns -1. */
static int parse_group(struct expression_parser *p, struct term *t)
{
	size_t column = t->column;

	if (lexer_next(p->lexer) || parse_or(p, t))
		return -1;
	t->grouped = true;
	t->column = column;
	return parser_expect(p, TOKEN_CLOSE, "')'") ? parser_drop(p, t) : 0;
}

static int expression_parse_unary(struct expression_parser *p, struct term *t);

static int parse_not(struct expression_parser *p, struct term *t)
{
	struct node *n = parser_node(p, NODE_NOT);

	if (!n || lexer_next(p->lexer) || expression_parse_unary(p, t) ||
	    parser_add(p, n, parser_condition(p, t))) {
		parser_failed(p, n);
		return -1;
	}
	t->condition = n;
	t->grouped = false;
	return 0;
}

/* Get a constant, for an operator with one side. */
static struct operand *expression_parse_constant(struct expression_parser *p, int64_t number)
{
	struct operand *o = parser_operand_new(p, OPERAND_LITERAL);

	if (o)
		o->value = (struct scalar){.form = SCALAR_INT, .i = number};
	return o;
}

/* Make *left the result of an operator on both sides. */
static int combine(struct expression_parser *p, enum arithmetic how, struct term *left,
		   struct term *right, size_t column)
{
	if (left->condition || right->condition) {
		parser_drop(p, right);
		lexer_error(p->lexer, column,
			    "'%s' takes numbers, not conditions: use parentheses, as in "
			    "(a %s b) == c, or '&&' and '||'",
			    arithmetic_sign(how), arithmetic_sign(how));
		return parser_drop(p, left);
	}
	left->value = parser_arithmetic(p, how, left->value, right->value, column);
	left->grouped = false;
	return left->value ? 0 : -1;
}

/* Parse -x as 0 - x, and ~x as -1 ^ x. */
static int parse_sign(struct expression_parser *p, struct term *t)
{
	bool minus = TOKEN(p)->kind == TOKEN_MINUS;
	size_t column = TOKEN(p)->column;
	struct term right = {0};

	t->value = expression_parse_constant(p, minus ? 0 : -1);
	if (!t->value || lexer_next(p->lexer) || expression_parse_unary(p, &right))
		return parser_drop(p, t);
	return combine(p, minus ? ARITHMETIC_SUBTRACT : ARITHMETIC_XOR, t, &right, column);
}

static int parse_primary(struct expression_parser *p, struct term *t)
{
	if (parser_function(p, &t->condition))
		return -1;
	if (t->condition)
		return 0;
	t->value = parser_operand(p);
	return t->value ? 0 : -1;
}

static int expression_parse_unary(struct expression_parser *p, struct term *t)
{
	size_t column = TOKEN(p)->column;
	int bad;

	*t = (struct term){.column = column};
	if (p->nesting >= EXPRESSION_NESTING)
		return lexer_error(p->lexer, column, "nested too deeply");
	p->nesting++;
	switch (TOKEN(p)->kind) {
	case TOKEN_OPEN: bad = parse_group(p, t); break;
	case TOKEN_NOT: bad = parse_not(p, t); break;
	case TOKEN_MINUS:
	case TOKEN_COMPLEMENT: bad = parse_sign(p, t); break;
	default: bad = parse_primary(p, t); break;
	}
	p->nesting--;
	return bad;
}

enum level { LEVEL_BITS = 1, LEVEL_RELATION = 4, LEVEL_VALUE };

/* by enum token_kind, of which TOKEN_REMAINDER is the last */
static const struct {
	unsigned level; /* the higher, the tighter; 0, below all: no operator */
	enum arithmetic arithmetic;
} operators[] = {
	[TOKEN_BIT_OR] = {LEVEL_BITS, ARITHMETIC_OR},
	[TOKEN_BIT_XOR] = {LEVEL_BITS + 1, ARITHMETIC_XOR},
	[TOKEN_BIT_AND] = {LEVEL_BITS + 2, ARITHMETIC_AND},
	[TOKEN_LEFT] = {LEVEL_VALUE, ARITHMETIC_LEFT},
	[TOKEN_RIGHT] = {LEVEL_VALUE, ARITHMETIC_RIGHT},
	[TOKEN_PLUS] = {LEVEL_VALUE + 1, ARITHMETIC_ADD},
	[TOKEN_MINUS] = {LEVEL_VALUE + 1, ARITHMETIC_SUBTRACT},
	[TOKEN_TIMES] = {LEVEL_VALUE + 2, ARITHMETIC_MULTIPLY},
	[TOKEN_DIVIDE] = {LEVEL_VALUE + 2, ARITHMETIC_DIVIDE},
	[TOKEN_REMAINDER] = {LEVEL_VALUE + 2, ARITHMETIC_REMAINDER},
};

/* Refuse the relation of a condition. */
static int refuse_relation(struct expression_parser *p, struct term *t)
{
	if (t->grouped)
		lexer_error(p->lexer, TOKEN(p)->column,
			    "a condition in parentheses cannot be compared");
	else if (t->condition->kind == NODE_NOT)
		lexer_error(p->lexer, t->column,
			    "'!' negates the next operand only: put the comparison in "
			    "parentheses");
	else
		lexer_error(p->lexer, TOKEN(p)->column,
			    "a comparison cannot be compared: join two with '&&'");
	return parser_drop(p, t);
}

/* Parse operators of that level and tighter ones. */
static int parse_level(struct expression_parser *p, unsigned level, struct term *t)
{
	if (expression_parse_unary(p, t))
		return -1;
	for (;;) {
		enum token_kind operator= TOKEN(p)->kind;
		size_t column = TOKEN(p)->column;
		struct term right;

		if (level <= LEVEL_RELATION && parser_at_relation(p)) {
			if (t->condition)
				return refuse_relation(p, t);
			t->condition = parser_relation(p, t->value);
			t->value = NULL;
			if (!t->condition)
				return -1;
			t->grouped = false;
		} else if (operators[operator].level < level) {
			return 0;
		} else if (lexer_next(p->lexer) ||
			   parse_level(p, operators[operator].level + 1, &right)) {
			return parser_drop(p, t);
		} else if (combine(p, operators[operator].arithmetic, t, &right, column)) {
			return -1;
		}
	}
}

/* Parse what binds tighter than a relation. */
static int parser_value(struct expression_parser *p, struct term *t)
{
	return parse_level(p, LEVEL_VALUE, t);
}

static int parse_single(struct expression_parser *p, struct term *t)
{
	return parse_level(p, LEVEL_BITS, t);
}

/* Parse terms joined by && or ||, into one node. A single term is unchanged. */
static int parse_joined(struct expression_parser *p, enum node_kind kind, enum token_kind by,
			int (*part)(struct expression_parser *p, struct term *t), struct term *t)
{
	struct node *n;

	if (part(p, t))
		return -1;
	if (TOKEN(p)->kind != by)
		return 0;
	n = parser_node(p, kind);
	if (!n)
		return parser_drop(p, t);
	while (!parser_add(p, n, parser_condition(p, t))) {
		if (TOKEN(p)->kind != by) {
			t->condition = n;
			t->grouped = false;
			return 0;
		}
		if (lexer_next(p->lexer) || part(p, t))
			break;
	}
	parser_failed(p, n);
	return -1;
}

static int parse_and(struct expression_parser *p, struct term *t)
{
	return parse_joined(p, NODE_AND, TOKEN_AND, parse_single, t);
}

/* Parse terms joined by ||. */
static int parse_or(struct expression_parser *p, struct term *t)
{
	return parse_joined(p, NODE_OR, TOKEN_OR, parse_and, t);
}

struct node *expression_parse_part(struct lexer *l, const struct language *language)
{
	struct expression_parser p = {.lexer = l, .language = language};
	struct term t;

	return parse_or(&p, &t) ? NULL : parser_condition(&p, &t);
}

struct node *expression_parse(const char *text, const struct language *language, struct error *e)
{
	struct lexer l;
	struct expression_parser p = {.lexer = &l, .language = language};
	struct node *n = NULL;

	if (lexer_begin(&l, text, e))
		return NULL;
	if (!lexer_next(&l)) {
		if (l.token.kind == TOKEN_END)
			lexer_error(&l, l.token.column, "the condition is empty");
		else
			n = expression_parse_part(&l, language);
	}
	if (n && lexer_end(&l))
		n = parser_failed(&p, n);
	lexer_free(&l);
	return n;
}

/* --- evaluate --- */

static void evaluate_make_number(const struct expression_values *v, const struct operand *o,
				 struct scalar *s)
{
	if (v->number && s->form == SCALAR_TEXT && o->kind == OPERAND_FIELD)
		v->number(s);
}

void expression_value(const struct expression_values *v, struct operand *o, struct scalar *out)
{
	struct scalar left, right;

	switch (o->kind) {
	case OPERAND_LITERAL: *out = o->value; return;
	case OPERAND_FIELD:
		*out = (struct scalar){.form = SCALAR_NONE};
		v->field(v->ctx, o, out);
		return;
	case OPERAND_ARITHMETIC: break;
	}
	expression_value(v, o->left, &left);
	expression_value(v, o->right, &right);
	evaluate_make_number(v, o->left, &left);
	evaluate_make_number(v, o->right, &right);
	*out = arithmetic(o->arithmetic, &left, &right);
}

bool expression_matches(const regex_t *regex, const char *text, size_t size)
{
	regmatch_t all = {.rm_so = 0, .rm_eo = (regoff_t)size};

	return !regexec(regex, text, 1, &all, REG_STARTEND);
}

static bool matches(const struct node *n, const struct scalar *s)
{
	const char *text;
	size_t size;
	bool found;
	char c;

	if (!scalar_text(s, &c, &text, &size) || size > INT32_MAX)
		return false;
	found = expression_matches(&n->regex, text, size);
	if (!found && s->path) {
		scalar_basename(&text, &size);
		found = expression_matches(&n->regex, text, size);
	}
	return found != n->negated;
}

static bool expression_is_text(const struct scalar *s, const char *text)
{
	return s->form == SCALAR_TEXT && s->size == strlen(text) && !memcmp(s->text, text, s->size);
}

/* Replace a kind by the name that the condition has for it: a call is an enter and a leave. */
static void name_kind(struct scalar *kind, const struct scalar *name)
{
	bool side = expression_is_text(kind, "enter") || expression_is_text(kind, "leave");

	if (side ? expression_is_text(name, "call")
		 : expression_is_text(kind, "call") && (expression_is_text(name, "enter") ||
							expression_is_text(name, "leave")))
		*kind = *name;
}

static bool of_kind(const struct operand *o)
{
	return o->kind == OPERAND_FIELD && o->words == expression_kinds;
}

static bool in_set(const struct scalar *set, size_t n, const struct scalar *s)
{
	while (n) {
		size_t middle = n / 2;
		enum scalar_order o = scalar_compare(s, &set[middle]);

		if (o == ORDER_EQUAL)
			return true;
		if (o != ORDER_LESS && o != ORDER_GREATER)
			return false;
		if (o == ORDER_GREATER) {
			set += middle + 1;
			n -= middle + 1;
		} else {
			n = middle;
		}
	}
	return false;
}

static bool is_member(const struct expression_values *v, const struct node *n,
		      const struct scalar *s)
{
	struct scalar text = {.form = SCALAR_TEXT}, number = *s;
	char c;

	for (size_t i = 0; of_kind(n->left) && i < n->ntexts; i++) {
		text = *s;
		name_kind(&text, &n->texts[i]);
		if (scalar_compare(&text, &n->texts[i]) == ORDER_EQUAL)
			return true;
	}
	text = (struct scalar){.form = SCALAR_TEXT};
	if (n->nnumbers)
		evaluate_make_number(v, n->left, &number);
	if (scalar_is_number(&number) && in_set(n->numbers, n->nnumbers, &number))
		return true;
	if (!n->ntexts || !scalar_text(s, &c, &text.text, &text.size))
		return false;
	if (in_set(n->texts, n->ntexts, &text))
		return true;
	/* bits, and other names of the number */
	for (size_t i = 0; (s->bits || s->names) && i < n->ntexts; i++)
		if (scalar_compare(s, &n->texts[i]) == ORDER_EQUAL)
			return true;
	if (!s->path)
		return false;
	scalar_basename(&text.text, &text.size);
	return in_set(n->texts, n->ntexts, &text);
}

/* Test whether the number beside a word has that name among those of its field, which are not known
 * of cells. */
static bool names_have(struct operand *o, const struct scalar *beside)
{
	const struct definition *d = beside->names;
	size_t size = strlen(o->name);

	if (!scalar_is_number(beside))
		return false;
	if (!d || !d->count)
		return d || beside->text;
	if (o->names == d)
		return o->is_name;
	o->names = d;
	o->is_name = false;
	for (uint32_t i = 0; i < d->count && !o->is_name; i++)
		o->is_name = d->members[i].name.size == size &&
			     !memcmp(d->members[i].name.text, o->name, size);
	return o->is_name;
}

/* Read a word for which the event has no field as the name of the number beside it. */
static void take_name(struct operand *o, const struct scalar *beside, struct scalar *value)
{
	if (value->form == SCALAR_NONE && o->word && names_have(o, beside))
		*value = (struct scalar){
			.form = SCALAR_TEXT, .text = o->name, .size = strlen(o->name)};
}

static bool compares(const struct expression_values *v, const struct node *n, struct scalar *left)
{
	struct scalar value;
	const struct scalar *right = &n->right->value;

	if (n->right->kind != OPERAND_LITERAL) {
		expression_value(v, n->right, &value);
		take_name(n->right, left, &value);
		if (scalar_is_number(left))
			evaluate_make_number(v, n->right, &value);
		if (of_kind(n->right) && n->left->kind == OPERAND_LITERAL)
			name_kind(&value, left);
		right = &value;
	} else if (of_kind(n->left)) {
		name_kind(left, right);
	}
	if (scalar_is_number(right))
		evaluate_make_number(v, n->left, left);
	return comparison_holds(n->comparison, scalar_compare(left, right));
}

bool expression_leaf(const struct expression_values *v, const struct node *n)
{
	struct scalar left = {.form = SCALAR_NONE};

	if (n->left->kind == OPERAND_FIELD)
		v->field(v->ctx, n->left, &left);
	else
		expression_value(v, n->left, &left);
	if (left.form == SCALAR_NONE)
		return false;
	switch (n->kind) {
	case NODE_COMPARE: return compares(v, n, &left);
	case NODE_MATCH: return matches(n, &left);
	case NODE_IN: return is_member(v, n, &left);
	case NODE_HAS: return true;
	default: break;
	}
	if (v->number && left.form == SCALAR_TEXT)
		scalar_constant(left.text, left.size, &left);
	return scalar_true(&left);
}

static enum answer answer_node(void *values, struct node *n)
{
	if (expression_joined(n))
		return expression_join(n, answer_node, values);
	return expression_leaf(values, n) ? ANSWER_YES : ANSWER_NO;
}

bool expression_holds(const struct expression_values *v, struct node *n)
{
	return answer_node((void *)v, n);
}
