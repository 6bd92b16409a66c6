/*
 * print_functions.c - parses the functions that a print fmt may call
 */
#include "common/ftrace/print_parser.h"

#include <stdio.h>

static uint32_t array_argument(struct parser *p)
{
	uint32_t a = parse_expression(p, 0);

	if (p->failed)
		return PARSE_NONE;
	if (parse_node(p, a)->kind == KIND_OF_ARRAY)
		return a;
	return parse_node(p, a)->op == OP_LOAD ? parse_array_of(p, parse_node(p, a)->field)
					       : parse_fail(p, "not an array");
}

static uint32_t number_argument(struct parser *p)
{
	uint32_t a = parse_expression(p, 0);

	return parse_is_number(p, a) ? a : PARSE_NONE;
}

static uint32_t hex(struct parser *p, enum print_op op)
{
	uint32_t a = array_argument(p), b;

	if (!parse_expect(p, ","))
		return PARSE_NONE;
	b = number_argument(p);
	if (!parse_expect(p, ")"))
		return PARSE_NONE;
	return parse_add(p, (struct print_node){.op = (uint8_t)op, .kind = KIND_OF_TEXT}, a, b,
			 PARSE_NONE);
}

static uint32_t elements(struct parser *p)
{
	uint32_t a = array_argument(p), b, c;

	if (!parse_expect(p, ","))
		return PARSE_NONE;
	b = number_argument(p);
	if (!parse_expect(p, ","))
		return PARSE_NONE;
	c = number_argument(p);
	if (!parse_expect(p, ")"))
		return PARSE_NONE;
	return parse_add(p, (struct print_node){.op = OP_ELEMENTS, .kind = KIND_OF_TEXT}, a, b, c);
}

static uint32_t list(struct parser *p, uint32_t a, uint32_t b, uint32_t c)
{
	return parse_add(p, (struct print_node){.op = OP_LIST}, a, b, c);
}

/* Parse the arguments: prefix, its type, row size, group size, array, length, ascii. */
static uint32_t hex_dump(struct parser *p)
{
	uint32_t prefix, type, row, group, a, length, ascii;

	if (p->lexer.token.kind != TOKEN_STRING)
		return parse_fail(p, "not a text");
	prefix = parse_text(p);
	if (!parse_expect(p, ","))
		return PARSE_NONE;
	type = number_argument(p);
	if (!parse_expect(p, ","))
		return PARSE_NONE;
	row = number_argument(p);
	if (!parse_expect(p, ","))
		return PARSE_NONE;
	group = number_argument(p);
	if (!parse_expect(p, ","))
		return PARSE_NONE;
	a = array_argument(p);
	if (!parse_expect(p, ","))
		return PARSE_NONE;
	length = number_argument(p);
	if (!parse_expect(p, ","))
		return PARSE_NONE;
	ascii = number_argument(p);
	if (!parse_expect(p, ")"))
		return PARSE_NONE;
	return parse_add(p, (struct print_node){.op = OP_HEX_DUMP, .kind = KIND_OF_TEXT}, a, length,
			 list(p, prefix, list(p, type, row, group), ascii));
}

/* Parse __get_str(name) and similar functions of a field's name. */
static uint32_t of_field(struct parser *p, enum print_op op)
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

static uint32_t expected(struct parser *p)
{
	uint32_t a = parse_expression(p, 0);

	if (parse_accept(p, ","))
		parse_expression(p, 0);
	return parse_expect(p, ")") ? a : PARSE_NONE;
}

/* Parse ntohs() and similar functions, for the byte order of the recorded machine. */
static uint32_t swapped(struct parser *p, unsigned size, bool swap)
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

static uint32_t nanoseconds(struct parser *p, enum print_op op)
{
	uint32_t a = number_argument(p);

	if (!parse_expect(p, ")"))
		return PARSE_NONE;
	a = parse_cast(p, &(struct parsed_type){.size = 8}, a);
	return parse_binary(p, op, a, parse_constant(p, 1000000000, 8, false));
}

static uint32_t size_of(struct parser *p)
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
static uint32_t plugin(struct parser *p, enum print_plugin what)
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

uint32_t parse_call(struct parser *p, const struct print_token *name)
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
	case F_HEX: return hex(p, OP_HEX);
	case F_HEX_STR: return hex(p, OP_HEX_STR);
	case F_ELEMENTS: return elements(p);
	case F_HEX_DUMP: return hex_dump(p);
	case F_ARRAY: return of_field(p, OP_ARRAY);
	case F_LENGTH: return of_field(p, OP_LENGTH);
	case F_BITMASK: return of_field(p, OP_BITMASK);
	case F_CPULIST: return of_field(p, OP_CPULIST);
	case F_EXPECT: return expected(p);
	case F_SIZEOF: return size_of(p);
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
