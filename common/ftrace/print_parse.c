/*
 * print_parse.c - parses the print fmt of an event into a tree, with C's precedence
 */
#include "common/ftrace/print_parser.h"

#include <stdio.h>
#include <stdlib.h>

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

static int operator_at(const struct parser *p)
{
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (parse_is(p, operators[i].text))
			return (int)i;
	return -1;
}

static uint32_t field_of_record(struct parser *p)
{
	const struct event_field *f;

	if (!parse_expect(p, "->"))
		return PARSE_NONE;
	f = parse_field_named(p);
	return f ? parse_load(p, f) : PARSE_NONE;
}

static uint32_t name(struct parser *p)
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

static uint32_t operand(struct parser *p);

static uint32_t in_parentheses(struct parser *p)
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

static uint32_t primary(struct parser *p)
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

static uint32_t unary_operand(struct parser *p)
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

static uint32_t operand(struct parser *p)
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

uint32_t parse_expression(struct parser *p, int least)
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

static int argument(void *context, uint32_t *node)
{
	struct parser *p = context;

	if (p->failed)
		return -1;
	if (!parse_accept(p, ",")) {
		parse_fail(p, "an argument is missing");
		return -1;
	}
	*node = parse_expression(p, 0);
	return p->failed ? -1 : 0;
}

static int compile(struct parser *p)
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
	return print_items(f, where, size, argument, p, p->why) || p->failed ? -1 : 0;
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
	struct parser p = {.format = f, .kernel = kernel, .why = why};

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

static int in_order(void *context, uint32_t *node)
{
	(void)context;
	*node = PARSE_NONE;
	return 0;
}

struct print_format *print_format_compile_binary(const char *text, size_t n, unsigned word,
						 bool big, char *why)
{
	struct print_format *f = format_new(word, big);

	why[0] = '\0';
	if (!f)
		return NULL;
	f->binary = true;
	if (buffer_append(&f->texts, text, n))
		goto failed;
	if (print_items(f, 0, f->texts.size, in_order, NULL, why))
		goto failed;
	return f;
failed:
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
