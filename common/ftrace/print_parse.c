/*
 * print_parse.c - parses the print fmt of an event
 */
#include "common/ftrace/print_tree.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ftrace/kernel_names.h"
#include "common/ftrace/print_format.h"
#include "common/util/u128.h"

#define PARSE_NONE UINT32_MAX

struct print_parser {
	struct print_lexer lexer; /* the next token */
	struct print_format *format;
	const struct print_kernel *kernel;
	char *why; /* PRINT_WHY bytes; "" when out of memory */
	unsigned nesting;
	bool failed;
	size_t at, end; /* what is left of the format string, in the texts */
};

struct parsed_type {
	uint8_t size; /* 0: not known */
	bool is_signed, pointer, boolean;
	uint8_t target; /* of a pointer; 0 not known */
	bool target_signed;
};

static inline struct print_node *parse_node(const struct print_parser *p, uint32_t node)
{
	return &p->format->nodes[node];
}

static inline bool parse_is_constant(const struct print_parser *p, uint32_t node)
{
	return parse_node(p, node)->op == OP_NUMBER;
}

static inline void parse_next(struct print_parser *p)
{
	print_lexer_next(&p->lexer);
}

static inline bool parse_is(const struct print_parser *p, const char *op)
{
	return token_is(&p->lexer.token, op);
}

static inline bool parse_accept(struct print_parser *p, const char *op)
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

static uint32_t parse_expression(struct print_parser *p, int least);

static bool print_parse_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool print_parse_is_name(char c)
{
	return print_parse_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_';
}

static int digit(char c)
{
	if (print_parse_is_digit(c))
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

static void print_parse_number(struct print_lexer *l)
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
	for (; p < l->end && print_parse_is_name(*p); p++) {
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

static void print_parse_character(struct print_lexer *l)
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
	} else if (print_parse_is_digit(*l->p)) {
		print_parse_number(l);
	} else if (print_parse_is_name(*l->p)) {
		t->kind = TOKEN_NAME;
		while (l->p < l->end && print_parse_is_name(*l->p))
			l->p++;
		t->size = (size_t)(l->p - t->text);
	} else if (*l->p == '"') {
		t->kind = quoted(l, '"') ? TOKEN_STRING : TOKEN_BAD;
	} else if (*l->p == '\'') {
		print_parse_character(l);
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

/* --- builds the tree of a print fmt: numbers with the types of C --- */

/* Fail near the next token. */
static uint32_t parse_fail(struct print_parser *p, const char *what)
{
	if (!p->failed && what)
		snprintf(p->why, PRINT_WHY, "%s near '%.*s'", what,
			 (int)(p->lexer.token.size < 40 ? p->lexer.token.size : 40),
			 p->lexer.token.text);
	p->failed = true;
	return PARSE_NONE;
}

static uint32_t parse_no_memory(struct print_parser *p)
{
	if (!p->failed)
		p->why[0] = '\0';
	p->failed = true;
	return PARSE_NONE;
}

static uint16_t height_of(const struct print_parser *p, uint32_t node)
{
	return node == PARSE_NONE ? 0 : parse_node(p, node)->height;
}

/* Add a node with up to three operands. */
static uint32_t parse_add(struct print_parser *p, struct print_node n, uint32_t a, uint32_t b,
			  uint32_t c)
{
	struct print_format *f = p->format;
	uint16_t height = height_of(p, a);

	if (p->failed)
		return PARSE_NONE;
	if (height_of(p, b) > height)
		height = height_of(p, b);
	if (height_of(p, c) > height)
		height = height_of(p, c);
	if (f->node_count == NODES_MOST || height >= HEIGHT_MOST)
		return parse_fail(p, "the expression is too large");
	if (ARRAY_GROW(f->nodes, f->node_capacity, f->node_count))
		return parse_no_memory(p);
	n.height = (uint16_t)(height + 1);
	n.a = a;
	n.b = b;
	n.c = c;
	f->nodes[f->node_count] = n;
	return (uint32_t)f->node_count++;
}

static uint32_t parse_constant(struct print_parser *p, uint64_t v, unsigned width, bool is_signed)
{
	return parse_add(p,
			 (struct print_node){.op = OP_NUMBER,
					     .width = (uint8_t)width,
					     .is_signed = is_signed,
					     .value = print_extend(v, width, is_signed)},
			 PARSE_NONE, PARSE_NONE, PARSE_NONE);
}

/* Read this token, or fail. */
static bool parse_expect(struct print_parser *p, const char *op)
{
	if (p->failed || parse_accept(p, op))
		return !p->failed;
	parse_fail(p, "something is missing");
	return false;
}

/* Test whether the node is a number, else fail. */
static bool parse_is_number(struct print_parser *p, uint32_t node)
{
	if (p->failed)
		return false;
	if (parse_node(p, node)->kind == KIND_OF_NUMBER)
		return true;
	parse_fail(p, "no number");
	return false;
}

static uint32_t parse_cast(struct print_parser *p, const struct parsed_type *t, uint32_t a)
{
	struct print_node n;

	if (p->failed)
		return PARSE_NONE;
	n = *parse_node(p, a);
	if (n.kind == KIND_OF_ARRAY && t->pointer) {
		/* the same bytes as elements of another type */
		parse_node(p, a)->size = t->target;
		parse_node(p, a)->load_signed = t->target_signed;
		return a;
	}
	if (n.kind == KIND_OF_TEXT && t->pointer)
		return a;
	if (!parse_is_number(p, a))
		return PARSE_NONE;
	if (!t->size)
		return a;
	n = (struct print_node){.op = t->boolean ? OP_BOOL : OP_CAST,
				.width = t->size < 4 ? 4 : t->size,
				.size = t->size,
				.is_signed = t->size < 4 || t->is_signed,
				.load_signed = t->is_signed,
				.pointer = t->pointer};
	if (parse_is_constant(p, a))
		return parse_constant(p, print_compute(&n, parse_node(p, a)->value, 0), n.width,
				      n.is_signed);
	return parse_add(p, n, a, PARSE_NONE, PARSE_NONE);
}

/* Get the type that C gives to the sum of two numbers. */
static void print_common_type(const struct print_node *a, const struct print_node *b,
			      uint8_t *width, bool *is_signed)
{
	if (a->width == b->width) {
		*width = a->width;
		*is_signed = a->is_signed && b->is_signed;
	} else {
		const struct print_node *wide = a->width > b->width ? a : b;

		*width = wide->width;
		*is_signed = wide->is_signed;
	}
}

static uint32_t parse_unary(struct print_parser *p, enum print_op op, uint32_t a)
{
	struct print_node n = {.op = (uint8_t)op, .width = 4, .is_signed = true};

	if (!parse_is_number(p, a))
		return PARSE_NONE;
	if (op != OP_NOT) {
		n.width = parse_node(p, a)->width;
		n.is_signed = parse_node(p, a)->is_signed;
	}
	if (parse_is_constant(p, a))
		return parse_constant(p, print_compute(&n, parse_node(p, a)->value, 0), n.width,
				      n.is_signed);
	return parse_add(p, n, a, PARSE_NONE, PARSE_NONE);
}

static uint32_t parse_binary(struct print_parser *p, enum print_op op, uint32_t a, uint32_t b)
{
	struct print_node n = {.op = (uint8_t)op, .width = 4, .is_signed = true};

	if (p->failed)
		return PARSE_NONE;
	if ((op == OP_ADD || op == OP_SUBTRACT) && parse_node(p, a)->kind == KIND_OF_ARRAY) {
		if (op == OP_SUBTRACT || !parse_is_number(p, b))
			return parse_fail(p, "no number");
		n = *parse_node(p, a);
		n.op = OP_ADVANCE;
		return parse_add(p, n, a, b, PARSE_NONE);
	}
	if (!parse_is_number(p, a) || !parse_is_number(p, b))
		return PARSE_NONE;
	print_common_type(parse_node(p, a), parse_node(p, b), &n.common, &n.common_signed);
	if (op == OP_SHIFT_LEFT || op == OP_SHIFT_RIGHT) {
		n.common = n.width = parse_node(p, a)->width;
		n.common_signed = n.is_signed = parse_node(p, a)->is_signed;
	} else if (op < OP_LESS || (op >= OP_AND && op <= OP_OR)) {
		n.width = n.common;
		n.is_signed = n.common_signed;
	}
	if (parse_is_constant(p, a) && parse_is_constant(p, b))
		return parse_constant(
			p, print_compute(&n, parse_node(p, a)->value, parse_node(p, b)->value),
			n.width, n.is_signed);
	return parse_add(p, n, a, b, PARSE_NONE);
}

/* Parse a ? b : c after the question mark. */
static uint32_t parse_choice(struct print_parser *p, uint32_t a)
{
	struct print_node n = {.op = OP_CHOICE};
	uint32_t b = parse_expression(p, 0), c;

	if (!parse_expect(p, ":"))
		return PARSE_NONE;
	c = parse_expression(p, 0);
	if (p->failed)
		return PARSE_NONE;
	if (parse_node(p, b)->kind == KIND_OF_NUMBER && parse_node(p, c)->kind == KIND_OF_NUMBER) {
		print_common_type(parse_node(p, b), parse_node(p, c), &n.width, &n.is_signed);
		n.pointer = parse_node(p, b)->pointer && parse_node(p, c)->pointer;
	} else {
		n.kind = parse_node(p, b)->kind == KIND_OF_ARRAY &&
					 parse_node(p, c)->kind == KIND_OF_ARRAY
				 ? KIND_OF_ARRAY
				 : KIND_OF_TEXT;
		n.size = parse_node(p, b)->size;
		n.load_signed = parse_node(p, b)->load_signed;
	}
	/* texts and arrays are addresses, which are never 0 */
	if (parse_node(p, a)->kind != KIND_OF_NUMBER)
		return b;
	if (parse_is_constant(p, a) && n.kind != KIND_OF_NUMBER)
		return parse_node(p, a)->value ? b : c;
	return parse_add(p, n, a, b, c);
}

/* --- parses types in casts: the words of C, and the kernel's names of types --- */

static bool print_parse_named_type(const struct print_token *t, unsigned word,
				   struct parsed_type *out)
{
	unsigned size = kernel_type_size(t->text, t->size, word, &out->is_signed);

	if (!size)
		return false;
	out->size = (uint8_t)size;
	out->boolean = parse_name_is(t, "bool") || parse_name_is(t, "_Bool");
	return true;
}

/* Read one word of a type: "unsigned long", "struct sk_buff". Returns whether it can only be of a
 * type. */
static bool type_word(const struct print_parser *p, int *longs, bool *is_unsigned,
		      struct parsed_type *named)
{
	const struct print_token *t = &p->lexer.token;

	if (parse_name_is(t, "unsigned")) {
		*is_unsigned = true;
	} else if (parse_name_is(t, "long")) {
		++*longs;
	} else if (parse_name_is(t, "struct") || parse_name_is(t, "union")) {
		*named = (struct parsed_type){0};
	} else if (parse_name_is(t, "enum")) {
		*named = (struct parsed_type){.size = 4};
	} else {
		return parse_name_is(t, "signed") || parse_name_is(t, "const") ||
		       parse_name_is(t, "volatile") || parse_name_is(t, "void") ||
		       print_parse_named_type(t, p->lexer.word, named) ||
		       (t->size > 2 && !memcmp(t->text + t->size - 2, "_t", 2));
	}
	return true;
}

/* Parse a type and the parenthesis after it. False: there is no type, and nothing
 * was read. */
static bool parse_cast_type(struct print_parser *p, struct parsed_type *out)
{
	struct print_lexer before = p->lexer;
	int longs = 0, words = 0;
	bool is_unsigned = false, known = false, star = false;

	*out = (struct parsed_type){0};
	for (; p->lexer.token.kind == TOKEN_NAME; parse_next(p)) {
		if (parse_name_is(&p->lexer.token, "REC") ||
		    parse_name_is(&p->lexer.token, "sizeof"))
			goto none;
		known |= type_word(p, &longs, &is_unsigned, out);
		words++;
	}
	if (longs)
		*out = (struct parsed_type){.size = (uint8_t)(longs > 1 ? 8 : p->lexer.word),
					    .is_signed = true};
	else if (is_unsigned && !out->size)
		out->size = 4;
	if (is_unsigned)
		out->is_signed = false;
	for (; parse_is(p, "*") || (star && p->lexer.token.kind == TOKEN_NAME); parse_next(p)) {
		uint8_t target = star ? (uint8_t)p->lexer.word : out->size;

		if (!parse_is(p, "*"))
			continue;
		*out = (struct parsed_type){.size = (uint8_t)p->lexer.word,
					    .pointer = true,
					    .target = target,
					    .target_signed = out->is_signed};
		star = true;
	}
	if (!words || !parse_is(p, ")"))
		goto none;
	parse_next(p);
	if (known || star)
		return true;
	/* a name may be a type only if an operand follows */
	if (p->lexer.token.kind == TOKEN_NAME || p->lexer.token.kind == TOKEN_NUMBER ||
	    p->lexer.token.kind == TOKEN_STRING || parse_is(p, "("))
		return true;
none:
	p->lexer = before;
	return false;
}

/* --- parses the conversions of printf in a print fmt, once --- */

/* Parse the next argument of the format string; those of a binary format have no nodes. -1: the
 * reason is set. */
static int next_argument(struct print_parser *p, uint32_t *node)
{
	*node = PARSE_NONE;
	if (p->format->binary)
		return 0;
	if (p->failed)
		return -1;
	if (!parse_accept(p, ",")) {
		parse_fail(p, "an argument is missing");
		return -1;
	}
	*node = parse_expression(p, 0);
	return p->failed ? -1 : 0;
}

static char peek(const struct print_parser *p)
{
	return p->at < p->end ? (char)p->format->texts.data[p->at] : '\0';
}

static int print_parse_add(struct print_parser *p, const struct print_item *item)
{
	struct print_format *f = p->format;

	if (f->item_count == ITEMS_MOST) {
		snprintf(p->why, PRINT_WHY, "it has too many conversions");
		return -1;
	}
	if (ARRAY_GROW(f->items, f->item_capacity, f->item_count)) {
		p->why[0] = '\0';
		return -1;
	}
	f->items[f->item_count++] = *item;
	return 0;
}

static int literal(struct print_parser *p, size_t from, size_t to)
{
	struct print_item item = {.node = (uint32_t)from, .size = (uint32_t)(to - from)};

	return from == to ? 0 : print_parse_add(p, &item);
}

static void print_parse_take_flags(struct print_parser *p, struct print_item *item)
{
	static const char letters[] = "-+ #0";

	for (const char *letter; peek(p) && (letter = strchr(letters, peek(p))); p->at++)
		item->flags |= (uint8_t)(1 << (letter - letters));
}

/* Parse a number, or '*' and an argument. */
static int take_column(struct print_parser *p, int32_t *v, uint32_t *node, uint8_t *flags,
		       uint8_t flag)
{
	if (peek(p) == '*') {
		p->at++;
		*flags |= flag;
		return next_argument(p, node);
	}
	for (*v = 0; isdigit((unsigned char)peek(p)); p->at++)
		if (*v < COLUMN_MOST)
			*v = *v * 10 + (peek(p) - '0');
	if (*v > COLUMN_MOST)
		*v = COLUMN_MOST;
	return 0;
}

static void take_length(struct print_parser *p, struct print_item *item)
{
	unsigned word = p->format->word;

	item->length = 4;
	for (;; p->at++)
		switch (peek(p)) {
		case 'h': item->length = item->length == 2 ? 1 : 2; break;
		case 'l':
			item->length = item->length == 4 ? (uint8_t)(word == 4 ? 5 : 8) : 8;
			break;
		case 'L':
		case 'q':
		case 'j': item->length = 8; break;
		case 'z':
		case 'Z':
		case 't': item->length = (uint8_t)word; break;
		default:
			/* a long of 4 bytes was marked, so that a second l is recognised */
			if (item->length == 5)
				item->length = 4;
			return;
		}
}

/* Parse the letters after %p. The kernel accepts any; those with a meaning are kept. */
static void take_extension(struct print_parser *p, struct print_item *item)
{
	size_t n = 0;

	for (; isalnum((unsigned char)peek(p)); p->at++) {
		/* the extension of a socket address ends with the known letters, others are text
		 */
		if (n && strchr("sSfFxB", item->extension[0]))
			break;
		if (n && strchr("mM", item->extension[0]) && (n > 1 || !strchr("FR", peek(p))))
			break;
		if (n && item->extension[0] == 'U' && (n > 1 || !strchr("bBlL", peek(p))))
			break;
		if (n && item->extension[0] == 'h' && (n > 1 || !strchr("CDN", peek(p))))
			break;
		if (n == 1 && strchr("iI", item->extension[0]) && !strchr("46S", peek(p)))
			break;
		if (n > 1 && strchr("iI", item->extension[0]) && !strchr("pfschnbl", peek(p)))
			break;
		if (!n && !strchr("sSfFxBKmMUhiIb", peek(p)))
			break;
		if (n && item->extension[0] == 'b' && (n > 1 || peek(p) != 'l'))
			break;
		if (n && item->extension[0] == 'K')
			break;
		if (n == sizeof item->extension - 1)
			break;
		item->extension[n++] = peek(p);
	}
}

/* Test whether the conversion can print this argument. */
static bool print_parse_fits(const struct print_parser *p, const struct print_item *item)
{
	const struct print_node *n;

	if (item->node == PARSE_NONE)
		return p->format->binary;
	n = &p->format->nodes[item->node];
	switch (item->conversion) {
	case 's': return true;
	case 'p':
		if (item->extension[0] && strchr("mMUhiIb", item->extension[0]))
			return n->kind == KIND_OF_ARRAY || n->op == OP_LOAD;
	}
	return n->kind == KIND_OF_NUMBER;
}

static bool number_node(const struct print_parser *p, uint32_t node)
{
	return node == PARSE_NONE ? p->format->binary
				  : p->format->nodes[node].kind == KIND_OF_NUMBER;
}

static int conversion(struct print_parser *p)
{
	struct print_item item = {.width = -1,
				  .precision = -1,
				  .width_node = PARSE_NONE,
				  .precision_node = PARSE_NONE};

	print_parse_take_flags(p, &item);
	if ((peek(p) == '*' || isdigit((unsigned char)peek(p))) &&
	    take_column(p, &item.width, &item.width_node, &item.flags, ITEM_WIDTH_NODE))
		return -1;
	if (peek(p) == '.') {
		p->at++;
		if (take_column(p, &item.precision, &item.precision_node, &item.flags,
				ITEM_PRECISION_NODE))
			return -1;
	}
	take_length(p, &item);
	item.conversion = peek(p);
	p->at += p->at < p->end;
	if (item.conversion == 'p')
		take_extension(p, &item);
	if (!item.conversion || !strchr("diuxXocsp", item.conversion)) {
		snprintf(p->why, PRINT_WHY, "%%%c is not a conversion",
			 isprint((unsigned char)item.conversion) ? item.conversion : '?');
		return -1;
	}
	if (next_argument(p, &item.node))
		return -1;
	if (!print_parse_fits(p, &item) ||
	    (item.flags & ITEM_WIDTH_NODE && !number_node(p, item.width_node)) ||
	    (item.flags & ITEM_PRECISION_NODE && !number_node(p, item.precision_node))) {
		snprintf(p->why, PRINT_WHY, "%%%c%s of something else", item.conversion,
			 item.extension);
		return -1;
	}
	if (!item.flags && item.width < 0 && item.precision < 0)
		item.flags = ITEM_PLAIN;
	return print_parse_add(p, &item);
}

/* Compile the format string in texts [at, at + n) into items. */
static int print_items(struct print_parser *p, size_t at, size_t n)
{
	size_t from = at;

	p->at = at;
	p->end = at + n;
	while (p->at < p->end) {
		if (peek(p) != '%') {
			p->at++;
			continue;
		}
		if (p->at + 1 < p->end && p->format->texts.data[p->at + 1] == '%') {
			if (literal(p, from, p->at + 1))
				return -1;
			from = p->at += 2;
			continue;
		}
		if (literal(p, from, p->at))
			return -1;
		p->at++;
		if (conversion(p))
			return -1;
		from = p->at;
	}
	return literal(p, from, p->end);
}

/* --- parses accesses to fields of the record, as numbers and as arrays --- */

/* Parse the name of a field; NULL: failed. */
static const struct event_field *parse_field_named(struct print_parser *p)
{
	const struct print_token *t = &p->lexer.token;
	const struct event_field *f;

	if (t->kind != TOKEN_NAME) {
		parse_fail(p, "a field name is missing");
		return NULL;
	}
	f = event_format_find(&p->format->fields, t->text, t->size);
	if (!f)
		parse_fail(p, "no such field");
	parse_next(p);
	return f;
}

static uint32_t parse_array_of(struct print_parser *p, const struct event_field *f)
{
	return parse_add(p,
			 (struct print_node){.op = OP_ARRAY,
					     .kind = KIND_OF_ARRAY,
					     .size = event_field_element(f),
					     .load_signed = f->is_signed,
					     .field = f},
			 PARSE_NONE, PARSE_NONE, PARSE_NONE);
}

static uint32_t parse_load(struct print_parser *p, const struct event_field *f)
{
	if (f->array || (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8))
		return parse_array_of(p, f);
	return parse_add(p,
			 (struct print_node){.op = OP_LOAD,
					     .width = f->size < 4 ? 4 : (uint8_t)f->size,
					     .is_signed = f->size < 4 || f->is_signed,
					     .size = (uint8_t)f->size,
					     .load_signed = f->is_signed,
					     .pointer = f->pointer,
					     .value = f->offset,
					     .field = f},
			 PARSE_NONE, PARSE_NONE, PARSE_NONE);
}

static uint32_t parse_element(struct print_parser *p, uint32_t array, uint32_t index)
{
	struct print_node n = {.op = OP_ELEMENT};

	if (p->failed)
		return PARSE_NONE;
	if (parse_node(p, array)->kind != KIND_OF_ARRAY || !parse_node(p, array)->size)
		return parse_fail(p, "not an array");
	if (!parse_is_number(p, index))
		return PARSE_NONE;
	n.size = parse_node(p, array)->size;
	n.load_signed = parse_node(p, array)->load_signed;
	n.width = n.size < 4 ? 4 : n.size;
	n.is_signed = n.size < 4 || n.load_signed;
	return parse_add(p, n, array, index, PARSE_NONE);
}

/* &REC->x, &REC->array[3] */
static uint32_t parse_address_of(struct print_parser *p, uint32_t a)
{
	struct print_node n;

	if (p->failed)
		return PARSE_NONE;
	n = *parse_node(p, a);
	if (n.kind == KIND_OF_ARRAY)
		return a;
	if (n.op == OP_LOAD)
		return parse_array_of(p, n.field);
	if (n.op == OP_ELEMENT) {
		n.op = OP_ADVANCE;
		n.kind = KIND_OF_ARRAY;
		return parse_add(p, n, n.a, n.b, PARSE_NONE);
	}
	return parse_fail(p, "not an address");
}

/* --- parses string literals, and values with names: __print_flags() and __print_symbolic() --- */

/* Parse a string literal, or several adjacent ones. *where, *size: in the texts. */
static bool parse_literal(struct print_parser *p, size_t *where, size_t *size)
{
	struct buffer *b = &p->format->texts;

	*where = b->size;
	while (!p->failed && p->lexer.token.kind == TOKEN_STRING) {
		const struct print_token *t = &p->lexer.token;

		if (buffer_reserve(b, t->size + 1)) {
			parse_no_memory(p);
			return false;
		}
		b->size += print_unescape((char *)b->data + b->size, t->text, t->size);
		parse_next(p);
	}
	*size = b->size - *where;
	return !p->failed;
}

static uint32_t parse_text(struct print_parser *p)
{
	size_t where, size;
	uint32_t a;

	if (!parse_literal(p, &where, &size))
		return PARSE_NONE;
	a = parse_add(p, (struct print_node){.op = OP_TEXT, .kind = KIND_OF_TEXT, .value = where},
		      PARSE_NONE, PARSE_NONE, PARSE_NONE);
	if (a != PARSE_NONE)
		parse_node(p, a)->b = (uint32_t)size;
	return a;
}

/* Find a constant that the kernel leaves in its formats by name. */
static bool parse_known_name(const struct print_token *t, uint64_t *v)
{
	char softirq[32];

	for (uint64_t i = 0; i < SOFTIRQS; i++) {
		snprintf(softirq, sizeof softirq, "%s_SOFTIRQ", softirq_name(i));
		if (parse_name_is(t, softirq)) {
			*v = i;
			return true;
		}
	}
	*v = parse_name_is(t, "HRTIMER_RESTART") || parse_name_is(t, "true");
	return *v || parse_name_is(t, "HRTIMER_NORESTART") || parse_name_is(t, "false") ||
	       parse_name_is(t, "NULL");
}

/* Parse the NULL that ends a list in place of a name: { 0, ((void *)0) }. */
static bool end_of_names(struct print_parser *p)
{
	uint32_t node = parse_expression(p, 0);

	if (p->failed)
		return false;
	if (!parse_is_constant(p, node) || parse_node(p, node)->value) {
		parse_fail(p, "no name");
		return false;
	}
	return parse_expect(p, "}");
}

/* { value, "name" } */
static bool entry(struct print_parser *p)
{
	struct print_format *f = p->format;
	struct print_entry e = {.known = true};
	struct print_lexer before = p->lexer;
	uint64_t ignored;
	size_t where, size;

	parse_next(p);
	if (before.token.kind == TOKEN_NAME && parse_is(p, ",") &&
	    !parse_known_name(&before.token, &ignored)) {
		e.known = false;
	} else {
		size_t count = f->node_count;
		uint32_t node;

		p->lexer = before;
		node = parse_expression(p, 0);
		if (p->failed)
			return false;
		if (!parse_is_constant(p, node)) {
			parse_fail(p, "not a constant");
			return false;
		}
		e.value = parse_node(p, node)->value;
		f->node_count = count; /* they are no longer needed */
	}
	if (!parse_expect(p, ","))
		return false;
	if (p->lexer.token.kind != TOKEN_STRING)
		return end_of_names(p);
	if (!parse_literal(p, &where, &size) || !parse_expect(p, "}"))
		return false;
	e.text = (uint32_t)where;
	e.size = (uint32_t)size;
	if (f->entry_count == ENTRIES_MOST) {
		parse_fail(p, "too many names");
		return false;
	}
	if (ARRAY_GROW(f->entries, f->entry_capacity, f->entry_count)) {
		parse_no_memory(p);
		return false;
	}
	f->entries[f->entry_count++] = e;
	return true;
}

/* Parse the arguments of __print_flags() and __print_symbolic(). */
static uint32_t parse_names(struct print_parser *p, enum print_op op)
{
	struct print_node n = {.op = (uint8_t)op, .kind = KIND_OF_TEXT};
	uint32_t a = parse_expression(p, 0), first, count;
	size_t where = 0, size = 0;

	if (!parse_is_number(p, a) || !parse_expect(p, ","))
		return PARSE_NONE;
	if (op == OP_FLAGS) {
		if (p->lexer.token.kind == TOKEN_STRING)
			parse_literal(p, &where, &size);
		else
			parse_next(p); /* NULL, or a constant's name */
		if (!parse_expect(p, ","))
			return PARSE_NONE;
	}
	if (size > UINT16_MAX)
		return parse_fail(p, "too long");
	first = (uint32_t)p->format->entry_count;
	while (parse_accept(p, "{"))
		if (!entry(p) || !parse_accept(p, ","))
			break;
	if (!parse_expect(p, ")"))
		return PARSE_NONE;
	count = (uint32_t)p->format->entry_count - first;
	n.value = (uint64_t)size << 32 | where;
	a = parse_add(p, n, a, PARSE_NONE, PARSE_NONE);
	if (p->failed)
		return PARSE_NONE;
	parse_node(p, a)->b = first;
	parse_node(p, a)->c = count;
	return a;
}

/* --- parses the functions that a print fmt may call --- */

static uint32_t array_argument(struct print_parser *p)
{
	uint32_t a = parse_expression(p, 0);

	if (p->failed)
		return PARSE_NONE;
	if (parse_node(p, a)->kind == KIND_OF_ARRAY)
		return a;
	return parse_node(p, a)->op == OP_LOAD ? parse_array_of(p, parse_node(p, a)->field)
					       : parse_fail(p, "not an array");
}

static uint32_t number_argument(struct print_parser *p)
{
	uint32_t a = parse_expression(p, 0);

	return parse_is_number(p, a) ? a : PARSE_NONE;
}

/* Parse a comma and the number after it. */
static uint32_t next_number(struct print_parser *p)
{
	return parse_expect(p, ",") ? number_argument(p) : PARSE_NONE;
}

static uint32_t print_parse_hex(struct print_parser *p, enum print_op op)
{
	uint32_t a = array_argument(p), b = next_number(p);

	if (!parse_expect(p, ")"))
		return PARSE_NONE;
	return parse_add(p, (struct print_node){.op = (uint8_t)op, .kind = KIND_OF_TEXT}, a, b,
			 PARSE_NONE);
}

static uint32_t print_parse_elements(struct print_parser *p)
{
	uint32_t a = array_argument(p), b = next_number(p), c = next_number(p);

	if (!parse_expect(p, ")"))
		return PARSE_NONE;
	return parse_add(p, (struct print_node){.op = OP_ELEMENTS, .kind = KIND_OF_TEXT}, a, b, c);
}

/* Parse the arguments: prefix, its type, row size, group size, array, length, ascii. */
static uint32_t print_parse_hex_dump(struct print_parser *p)
{
	struct print_node list = {.op = OP_LIST};
	uint32_t prefix, type, row, group, a, length, ascii;

	if (p->lexer.token.kind != TOKEN_STRING)
		return parse_fail(p, "not a text");
	prefix = parse_text(p);
	type = next_number(p);
	row = next_number(p);
	group = next_number(p);
	a = parse_expect(p, ",") ? array_argument(p) : PARSE_NONE;
	length = next_number(p);
	ascii = next_number(p);
	if (!parse_expect(p, ")"))
		return PARSE_NONE;
	return parse_add(p, (struct print_node){.op = OP_HEX_DUMP, .kind = KIND_OF_TEXT}, a, length,
			 parse_add(p, list, prefix, parse_add(p, list, type, row, group), ascii));
}

/* Parse __get_str(name) and similar functions of a field's name. */
static uint32_t of_field(struct print_parser *p, enum print_op op)
{
	const struct event_field *f = parse_field_named(p);
	struct print_node n = {.op = (uint8_t)op, .kind = KIND_OF_TEXT};
	uint32_t a;

	if (!f || !parse_expect(p, ")"))
		return PARSE_NONE;
	if (op == OP_LENGTH) {
		n = (struct print_node){.op = OP_LENGTH, .width = 4, .is_signed = true, .field = f};
		return parse_add(p, n, PARSE_NONE, PARSE_NONE, PARSE_NONE);
	}
	a = parse_array_of(p, f);
	return op == OP_ARRAY ? a : parse_add(p, n, a, PARSE_NONE, PARSE_NONE);
}

static uint32_t expected(struct print_parser *p)
{
	uint32_t a = parse_expression(p, 0);

	if (parse_accept(p, ","))
		parse_expression(p, 0);
	return parse_expect(p, ")") ? a : PARSE_NONE;
}

/* Parse ntohs() and similar functions, for the byte order of the recorded machine. */
static uint32_t swapped(struct print_parser *p, unsigned size, bool swap)
{
	struct print_node n = {.op = OP_SWAP,
			       .width = size < 4 ? 4 : (uint8_t)size,
			       .is_signed = size < 4,
			       .size = (uint8_t)size};
	uint32_t a = number_argument(p);

	if (!parse_expect(p, ")"))
		return PARSE_NONE;
	if (!swap)
		return parse_cast(p, &(struct parsed_type){.size = (uint8_t)size}, a);
	return parse_add(p, n, a, PARSE_NONE, PARSE_NONE);
}

static uint32_t nanoseconds(struct print_parser *p, enum print_op op)
{
	uint32_t a = number_argument(p);

	if (!parse_expect(p, ")"))
		return PARSE_NONE;
	a = parse_cast(p, &(struct parsed_type){.size = 8}, a);
	return parse_binary(p, op, a, parse_constant(p, 1000000000, 8, false));
}

static uint32_t print_parse_size_of(struct print_parser *p)
{
	struct parsed_type t = {0};
	uint32_t a;

	if (parse_cast_type(p, &t))
		return t.size ? parse_constant(p, t.size, p->lexer.word, false)
			      : parse_fail(p, "a type of unknown size");
	a = parse_expression(p, 0);
	if (!parse_expect(p, ")") || p->failed)
		return PARSE_NONE;
	if (parse_node(p, a)->field && parse_node(p, a)->field->size)
		return parse_constant(p, parse_node(p, a)->field->size, p->lexer.word, false);
	if (parse_node(p, a)->kind == KIND_OF_NUMBER)
		return parse_constant(p, parse_node(p, a)->width, p->lexer.word, false);
	return parse_fail(p, "something of unknown size");
}

/* Parse the arguments of a function of a plug-in. */
static uint32_t plugin(struct print_parser *p, enum print_plugin what)
{
	struct print_node n = {.op = OP_PLUGIN, .width = 8, .value = what};
	uint32_t a;

	if (what == PRINT_CDB) {
		parse_expression(p, 0);
		if (!parse_expect(p, ","))
			return PARSE_NONE;
	}
	a = what == PRINT_CDB || what == PRINT_LITTLE16 ? array_argument(p) : number_argument(p);
	if (what == PRINT_CDB) {
		if (!parse_expect(p, ","))
			return PARSE_NONE;
		number_argument(p);
	}
	return parse_expect(p, ")") ? parse_add(p, n, a, PARSE_NONE, PARSE_NONE) : PARSE_NONE;
}

enum function {
	F_FLAGS,
	F_SYMBOLIC,
	F_HEX,
	F_HEX_STR,
	F_ELEMENTS,
	F_HEX_DUMP,
	F_ARRAY,
	F_LENGTH,
	F_BITMASK,
	F_CPULIST,
	F_EXPECT,
	F_SIZEOF,
	F_SECONDS,
	F_NANOSECONDS,
	F_BIG16,
	F_BIG32,
	F_BIG64,
	F_LITTLE16,
	F_LITTLE32,
	F_LITTLE64,
	F_PLUGIN, /* and the numbers of enum print_plugin after it */
};

static const struct {
	const char *name;
	unsigned what;
} functions[] = {
	{"__print_flags", F_FLAGS},
	{"__print_flags_u64", F_FLAGS},
	{"__print_symbolic", F_SYMBOLIC},
	{"__print_symbolic_u64", F_SYMBOLIC},
	{"__print_hex", F_HEX},
	{"__print_hex_str", F_HEX_STR},
	{"__print_array", F_ELEMENTS},
	{"__print_hex_dump", F_HEX_DUMP},
	{"__print_ns_to_secs", F_SECONDS},
	{"__print_ns_without_secs", F_NANOSECONDS},
	{"__get_str", F_ARRAY},
	{"__get_rel_str", F_ARRAY},
	{"__get_dynamic_array", F_ARRAY},
	{"__get_rel_dynamic_array", F_ARRAY},
	{"__get_sockaddr", F_ARRAY},
	{"__get_rel_sockaddr", F_ARRAY},
	{"__get_sockaddr_rel", F_ARRAY},
	{"__get_dynamic_array_len", F_LENGTH},
	{"__get_rel_dynamic_array_len", F_LENGTH},
	{"__get_bitmask", F_BITMASK},
	{"__get_rel_bitmask", F_BITMASK},
	{"__get_cpumask", F_CPULIST},
	{"__get_rel_cpumask", F_CPULIST},
	{"__builtin_expect", F_EXPECT},
	{"likely", F_EXPECT},
	{"unlikely", F_EXPECT},
	{"sizeof", F_SIZEOF},
	{"ntohs", F_BIG16},
	{"htons", F_BIG16},
	{"be16_to_cpu", F_BIG16},
	{"ntohl", F_BIG32},
	{"htonl", F_BIG32},
	{"be32_to_cpu", F_BIG32},
	{"be64_to_cpu", F_BIG64},
	{"le16_to_cpu", F_LITTLE16},
	{"le32_to_cpu", F_LITTLE32},
	{"le64_to_cpu", F_LITTLE64},
	{"is_writable_pte", F_PLUGIN + PRINT_WRITABLE_PTE},
	{"jbd2_dev_to_name", F_PLUGIN + PRINT_DEVICE_NAME},
	{"jiffies_to_msecs", F_PLUGIN + PRINT_MILLISECONDS},
	{"__le16_to_cpup", F_PLUGIN + PRINT_LITTLE16},
	{"xen_hypercall_name", F_PLUGIN + PRINT_HYPERCALL},
	{"scsi_trace_parse_cdb", F_PLUGIN + PRINT_CDB},
};

/* Parse the call of a function, after its name. */
static uint32_t parse_call(struct print_parser *p, const struct print_token *name)
{
	bool big = p->format->big;
	size_t i = 0;

	while (i < sizeof functions / sizeof *functions && !parse_name_is(name, functions[i].name))
		i++;
	if (i == sizeof functions / sizeof *functions ||
	    (functions[i].what >= F_PLUGIN && !(p->kernel && p->kernel->plugins))) {
		if (!p->failed)
			snprintf(p->why, PRINT_WHY, "it calls %.*s() of the kernel",
				 (int)(name->size < 60 ? name->size : 60), name->text);
		p->failed = true;
		return PARSE_NONE;
	}
	switch (functions[i].what) {
	case F_FLAGS: return parse_names(p, OP_FLAGS);
	case F_SYMBOLIC: return parse_names(p, OP_SYMBOLIC);
	case F_HEX: return print_parse_hex(p, OP_HEX);
	case F_HEX_STR: return print_parse_hex(p, OP_HEX_STR);
	case F_ELEMENTS: return print_parse_elements(p);
	case F_HEX_DUMP: return print_parse_hex_dump(p);
	case F_ARRAY: return of_field(p, OP_ARRAY);
	case F_LENGTH: return of_field(p, OP_LENGTH);
	case F_BITMASK: return of_field(p, OP_BITMASK);
	case F_CPULIST: return of_field(p, OP_CPULIST);
	case F_EXPECT: return expected(p);
	case F_SIZEOF: return print_parse_size_of(p);
	case F_SECONDS: return nanoseconds(p, OP_DIVIDE);
	case F_NANOSECONDS: return nanoseconds(p, OP_MODULO);
	case F_BIG16: return swapped(p, 2, !big);
	case F_BIG32: return swapped(p, 4, !big);
	case F_BIG64: return swapped(p, 8, !big);
	case F_LITTLE16: return swapped(p, 2, big);
	case F_LITTLE32: return swapped(p, 4, big);
	case F_LITTLE64: return swapped(p, 8, big);
	default: return plugin(p, functions[i].what - F_PLUGIN);
	}
}

/* --- parses the print fmt of an event into a tree, with C's precedence --- */

static const struct {
	char text[3];
	uint8_t op, level;
	bool swapped; /* a > b is b < a */
} operators[] = {
	{"*", OP_MULTIPLY, 10, false},	  {"/", OP_DIVIDE, 10, false},
	{"%", OP_MODULO, 10, false},	  {"+", OP_ADD, 9, false},
	{"-", OP_SUBTRACT, 9, false},	  {"<<", OP_SHIFT_LEFT, 8, false},
	{">>", OP_SHIFT_RIGHT, 8, false}, {"<", OP_LESS, 7, false},
	{">", OP_LESS, 7, true},	  {"<=", OP_LESS_EQUAL, 7, false},
	{">=", OP_LESS_EQUAL, 7, true},	  {"==", OP_EQUAL, 6, false},
	{"!=", OP_NOT_EQUAL, 6, false},	  {"&", OP_AND, 5, false},
	{"^", OP_XOR, 4, false},	  {"|", OP_OR, 3, false},
	{"&&", OP_BOTH, 2, false},	  {"||", OP_EITHER, 1, false},
};

static int operator_at(const struct print_parser *p)
{
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (parse_is(p, operators[i].text))
			return (int)i;
	return -1;
}

static uint32_t field_of_record(struct print_parser *p)
{
	const struct event_field *f;

	if (!parse_expect(p, "->"))
		return PARSE_NONE;
	f = parse_field_named(p);
	return f ? parse_load(p, f) : PARSE_NONE;
}

static uint32_t name(struct print_parser *p)
{
	struct print_token t = p->lexer.token;
	uint64_t v = 0;

	parse_next(p);
	if (parse_name_is(&t, "REC"))
		return field_of_record(p);
	if (parse_accept(p, "("))
		return parse_call(p, &t);
	if (parse_known_name(&t, &v))
		return parse_constant(p, v, 4, true);
	/* a variable of the kernel, of which only the address is known: 0 without it, as in
	   libtraceevent */
	if (p->kernel && p->kernel->address)
		v = p->kernel->address(p->kernel->context, t.text, t.size);
	return parse_constant(p, v, p->lexer.word, false);
}

static uint32_t operand(struct print_parser *p);

static uint32_t in_parentheses(struct print_parser *p)
{
	struct parsed_type t = {0};
	uint32_t a;

	if (parse_name_is(&p->lexer.token, "REC")) {
		struct print_lexer before = p->lexer;

		parse_next(p);
		if (parse_accept(p, ")"))
			return field_of_record(p);
		p->lexer = before;
	}
	if (parse_cast_type(p, &t)) {
		a = operand(p);
		return parse_cast(p, &t, a);
	}
	a = parse_expression(p, 0);
	return parse_expect(p, ")") ? a : PARSE_NONE;
}

static uint32_t primary(struct print_parser *p)
{
	struct print_token t = p->lexer.token;

	switch (t.kind) {
	case TOKEN_NUMBER: parse_next(p); return parse_constant(p, t.value, t.width, t.is_signed);
	case TOKEN_STRING: return parse_text(p);
	case TOKEN_NAME: return name(p);
	default:
		if (parse_accept(p, "("))
			return in_parentheses(p);
		return parse_fail(p, t.kind == TOKEN_END ? "it ends too early" : "not understood");
	}
}

static uint32_t unary_operand(struct print_parser *p)
{
	uint32_t a;

	if (parse_accept(p, "-"))
		return parse_unary(p, OP_NEGATE, operand(p));
	if (parse_accept(p, "~"))
		return parse_unary(p, OP_COMPLEMENT, operand(p));
	if (parse_accept(p, "!"))
		return parse_unary(p, OP_NOT, operand(p));
	if (parse_accept(p, "+"))
		return operand(p);
	if (parse_accept(p, "&"))
		return parse_address_of(p, operand(p));
	if (parse_accept(p, "*")) {
		a = operand(p);
		return parse_element(p, a, parse_constant(p, 0, 4, true));
	}
	a = primary(p);
	while (!p->failed && parse_accept(p, "[")) {
		uint32_t b = parse_expression(p, 0);

		if (!parse_expect(p, "]"))
			return PARSE_NONE;
		a = parse_element(p, a, b);
	}
	return p->failed ? PARSE_NONE : a;
}

static uint32_t operand(struct print_parser *p)
{
	uint32_t a;

	if (p->failed)
		return PARSE_NONE;
	if (p->nesting == NESTING_MOST)
		return parse_fail(p, "it nests too deep");
	p->nesting++;
	a = unary_operand(p);
	p->nesting--;
	return p->failed ? PARSE_NONE : a;
}

/* Parse operators of that level or above; 0: the ternary one too. */
static uint32_t parse_expression(struct print_parser *p, int least)
{
	uint32_t a;
	int i;

	if (p->failed)
		return PARSE_NONE;
	if (p->nesting == NESTING_MOST)
		return parse_fail(p, "it nests too deep");
	p->nesting++;
	a = operand(p);
	while (!p->failed && (i = operator_at(p)) >= 0 && operators[i].level > least) {
		uint32_t b;

		parse_next(p);
		b = parse_expression(p, operators[i].level);
		a = operators[i].swapped ? parse_binary(p, operators[i].op, b, a)
					 : parse_binary(p, operators[i].op, a, b);
	}
	if (!p->failed && !least && parse_accept(p, "?"))
		a = parse_choice(p, a);
	p->nesting--;
	return p->failed ? PARSE_NONE : a;
}

/* ---- the complete format ---- */

static int compile(struct print_parser *p)
{
	struct print_format *f = p->format;
	size_t where, size;

	if (!f->fields.print) {
		snprintf(p->why, PRINT_WHY, "it has none");
		return -1;
	}
	p->lexer = (struct print_lexer){.p = f->fields.print,
					.end = f->fields.print + f->fields.print_size,
					.word = f->word};
	parse_next(p);
	if (p->lexer.token.kind != TOKEN_STRING) {
		parse_fail(p, "not a text");
		return -1;
	}
	if (!parse_literal(p, &where, &size))
		return -1;
	return print_items(p, where, size) || p->failed ? -1 : 0;
}

static struct print_format *format_new(unsigned word, bool big)
{
	struct print_format *f = calloc(1, sizeof *f);

	if (!f)
		return NULL;
	f->word = word == 4 ? 4 : 8;
	f->big = big;
	/* texts may be empty, but their address must not be NULL */
	if (buffer_reserve(&f->texts, 1)) {
		free(f);
		return NULL;
	}
	return f;
}

struct print_format *print_format_compile(const char *text, size_t n, unsigned word, bool big,
					  const struct print_kernel *kernel, char *why)
{
	struct print_format *f = format_new(word, big);
	struct print_parser p = {.format = f, .kernel = kernel, .why = why};

	why[0] = '\0';
	if (!f)
		return NULL;
	f->source = malloc(n ? n : 1);
	if (!f->source)
		goto failed;
	memcpy(f->source, text, n);
	if (event_format_parse(&f->fields, f->source, n, f->word) < 0 || compile(&p))
		goto failed;
	return f;
failed:
	print_format_free(f);
	return NULL;
}

struct print_format *print_format_compile_binary(const char *text, size_t n, unsigned word,
						 bool big, char *why)
{
	struct print_format *f = format_new(word, big);
	struct print_parser p = {.format = f, .why = why};

	why[0] = '\0';
	if (!f)
		return NULL;
	f->binary = true;
	if (!buffer_append(&f->texts, text, n) && !print_items(&p, 0, f->texts.size))
		return f;
	print_format_free(f);
	return NULL;
}

void print_format_free(struct print_format *f)
{
	if (!f)
		return;
	event_format_free(&f->fields);
	free(f->nodes);
	free(f->entries);
	free(f->items);
	buffer_free(&f->texts);
	free(f->source);
	free(f);
}
