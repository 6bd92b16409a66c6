/*
 * print_access.c - parses accesses to fields of the record, as numbers and as arrays
 */
#include "common/ftrace/print_parser.h"

const struct event_field *parse_field_named(struct parser *p)
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

uint32_t parse_array_of(struct parser *p, const struct event_field *f)
{
	return parse_add(p,
			 (struct print_node){.op = OP_ARRAY,
					     .kind = KIND_OF_ARRAY,
					     .size = event_field_element(f),
					     .load_signed = f->is_signed,
					     .field = f},
			 PARSE_NONE, PARSE_NONE, PARSE_NONE);
}

uint32_t parse_load(struct parser *p, const struct event_field *f)
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

uint32_t parse_element(struct parser *p, uint32_t array, uint32_t index)
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

uint32_t parse_address_of(struct parser *p, uint32_t a)
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
