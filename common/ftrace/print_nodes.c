/*
 * print_nodes.c - builds the tree of a print fmt: numbers with the types of C
 */
#include "common/ftrace/print_parser.h"

#include <stdio.h>

uint32_t parse_fail(struct parser *p, const char *what)
{
	if (!p->failed && what)
		snprintf(p->why, PRINT_WHY, "%s near '%.*s'", what,
			 (int)(p->lexer.token.size < 40 ? p->lexer.token.size : 40),
			 p->lexer.token.text);
	p->failed = true;
	return PARSE_NONE;
}

uint32_t parse_no_memory(struct parser *p)
{
	if (!p->failed)
		p->why[0] = '\0';
	p->failed = true;
	return PARSE_NONE;
}

static uint16_t height_of(const struct parser *p, uint32_t node)
{
	return node == PARSE_NONE ? 0 : parse_node(p, node)->height;
}

uint32_t parse_add(struct parser *p, struct print_node n, uint32_t a, uint32_t b, uint32_t c)
{
	struct print_format *f = p->format;
	struct print_node *nodes;
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
	nodes = f->nodes;
	n.height = (uint16_t)(height + 1);
	n.a = a;
	n.b = b;
	n.c = c;
	nodes[f->node_count] = n;
	return (uint32_t)f->node_count++;
}

uint32_t parse_constant(struct parser *p, uint64_t v, unsigned width, bool is_signed)
{
	return parse_add(p,
			 (struct print_node){.op = OP_NUMBER,
					     .width = (uint8_t)width,
					     .is_signed = is_signed,
					     .value = print_extend(v, width, is_signed)},
			 PARSE_NONE, PARSE_NONE, PARSE_NONE);
}

bool parse_expect(struct parser *p, const char *op)
{
	if (p->failed || parse_accept(p, op))
		return !p->failed;
	parse_fail(p, "something is missing");
	return false;
}

bool parse_is_number(struct parser *p, uint32_t node)
{
	if (p->failed)
		return false;
	if (parse_node(p, node)->kind == KIND_OF_NUMBER)
		return true;
	parse_fail(p, "no number");
	return false;
}

uint32_t parse_cast(struct parser *p, const struct parsed_type *t, uint32_t a)
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

uint32_t parse_unary(struct parser *p, enum print_op op, uint32_t a)
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

uint32_t parse_binary(struct parser *p, enum print_op op, uint32_t a, uint32_t b)
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

uint32_t parse_choice(struct parser *p, uint32_t a)
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
