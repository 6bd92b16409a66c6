/*
 * The print fmt of an event into a tree, with C's precedence and types.
 */
#include <stdio.h>
#include <stdlib.h>

#include "print_lexer.h"
#include "print_tree.h"

struct parser {
	struct print_lexer lexer;
	struct print_format *format;
	const struct print_kernel *kernel;
	char *why;
	unsigned nesting;
	bool failed;
};

#define NONE UINT32_MAX

static uint32_t fail(struct parser *p, const char *what)
{
	if (!p->failed && what)
		snprintf(p->why, PRINT_WHY, "%s near '%.*s'", what,
			 (int)(p->lexer.token.size < 40 ? p->lexer.token.size : 40),
			 p->lexer.token.text);
	p->failed = true;
	return NONE;
}

static uint32_t no_memory(struct parser *p)
{
	if (!p->failed)
		p->why[0] = '\0';
	p->failed = true;
	return NONE;
}

static struct print_node *at(const struct parser *p, uint32_t node)
{
	return &p->format->nodes[node];
}

static uint16_t height_of(const struct parser *p, uint32_t node)
{
	return node == NONE ? 0 : at(p, node)->height;
}

static uint32_t add(struct parser *p, struct print_node n, uint32_t a, uint32_t b, uint32_t c)
{
	struct print_format *f = p->format;
	struct print_node *nodes;
	uint16_t height = height_of(p, a);

	if (p->failed)
		return NONE;
	if (height_of(p, b) > height)
		height = height_of(p, b);
	if (height_of(p, c) > height)
		height = height_of(p, c);
	if (f->node_count == NODES_MOST || height >= HEIGHT_MOST)
		return fail(p, "the expression is too large");
	nodes = array_grow(f->nodes, &f->node_capacity, f->node_count, sizeof *nodes);
	if (!nodes)
		return no_memory(p);
	f->nodes = nodes;
	n.height = (uint16_t)(height + 1);
	n.a = a;
	n.b = b;
	n.c = c;
	nodes[f->node_count] = n;
	return (uint32_t)f->node_count++;
}

static uint32_t constant(struct parser *p, uint64_t v, unsigned width, bool is_signed)
{
	return add(p,
		   (struct print_node){.op = OP_NUMBER,
				       .width = (uint8_t)width,
				       .is_signed = is_signed,
				       .value = print_extend(v, width, is_signed)},
		   NONE, NONE, NONE);
}

static bool is_constant(const struct parser *p, uint32_t node)
{
	return at(p, node)->op == OP_NUMBER;
}

static void next(struct parser *p)
{
	print_lexer_next(&p->lexer);
}

static bool is(const struct parser *p, const char *op)
{
	return token_is(&p->lexer.token, op);
}

static bool accept(struct parser *p, const char *op)
{
	if (!is(p, op))
		return false;
	next(p);
	return true;
}

static bool expect(struct parser *p, const char *op)
{
	if (p->failed || accept(p, op))
		return !p->failed;
	fail(p, "something is missing");
	return false;
}

static bool name_is(const struct print_token *t, const char *name)
{
	return t->kind == TOKEN_NAME && t->size == strlen(name) && !memcmp(t->text, name, t->size);
}

static uint32_t expression(struct parser *p, int least);

static bool is_number(struct parser *p, uint32_t node)
{
	if (p->failed)
		return false;
	if (at(p, node)->kind == KIND_OF_NUMBER)
		return true;
	fail(p, "no number");
	return false;
}

/* ---- types ---- */

struct type {
	uint8_t size; /* 0: not known */
	bool is_signed, pointer, boolean;
	uint8_t target; /* of a pointer; 0 not known */
	bool target_signed;
};

struct type_words {
	int longs, words;
	bool is_unsigned, known, typedefed;
	struct type named;
};

static bool named_type(const struct print_token *t, unsigned word, struct type *out)
{
	static const struct {
		const char *name;
		uint8_t size; /* 0: a long */
		bool is_signed;
	} types[] = {
		{"char", 1, true},	   {"short", 2, true},	   {"int", 4, true},
		{"u8", 1, false},	   {"u16", 2, false},	   {"u32", 4, false},
		{"u64", 8, false},	   {"s8", 1, true},	   {"s16", 2, true},
		{"s32", 4, true},	   {"s64", 8, true},	   {"__u8", 1, false},
		{"__u16", 2, false},	   {"__u32", 4, false},	   {"__u64", 8, false},
		{"__s8", 1, true},	   {"__s16", 2, true},	   {"__s32", 4, true},
		{"__s64", 8, true},	   {"__be16", 2, false},   {"__be32", 4, false},
		{"__be64", 8, false},	   {"__le16", 2, false},   {"__le32", 4, false},
		{"__le64", 8, false},	   {"uint8_t", 1, false},  {"uint16_t", 2, false},
		{"uint32_t", 4, false},	   {"uint64_t", 8, false}, {"int8_t", 1, true},
		{"int16_t", 2, true},	   {"int32_t", 4, true},   {"int64_t", 8, true},
		{"size_t", 0, false},	   {"ssize_t", 0, true},   {"uintptr_t", 0, false},
		{"pid_t", 4, true},	   {"dev_t", 4, false},	   {"gfp_t", 4, false},
		{"loff_t", 8, true},	   {"sector_t", 8, false}, {"ktime_t", 8, true},
		{"umode_t", 2, false},	   {"pgoff_t", 0, false},  {"dma_addr_t", 8, false},
		{"phys_addr_t", 8, false},
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (name_is(t, types[i].name)) {
			out->size = types[i].size ? types[i].size : (uint8_t)word;
			out->is_signed = types[i].is_signed;
			return true;
		}
	if (name_is(t, "bool") || name_is(t, "_Bool")) {
		out->size = 1;
		out->boolean = true;
		return true;
	}
	return false;
}

/* "unsigned long", "struct sk_buff": one word of a type. */
static void type_word(struct parser *p, struct type_words *w)
{
	const struct print_token *t = &p->lexer.token;

	w->words++;
	if (name_is(t, "unsigned")) {
		w->is_unsigned = w->known = true;
	} else if (name_is(t, "long")) {
		w->longs++;
		w->known = true;
	} else if (name_is(t, "signed") || name_is(t, "const") || name_is(t, "volatile") ||
		   name_is(t, "void")) {
		w->known = true;
	} else if (name_is(t, "struct") || name_is(t, "union") || name_is(t, "enum")) {
		w->known = true;
		w->named = (struct type){0};
		if (name_is(t, "enum"))
			w->named = (struct type){.size = 4};
	} else if (named_type(t, p->lexer.word, &w->named)) {
		w->known = true;
	} else if (t->size > 2 && !memcmp(t->text + t->size - 2, "_t", 2)) {
		w->known = w->typedefed = true;
	}
}

/* A type and the parenthesis behind it. False, and nothing was read: it is none. */
static bool cast_type(struct parser *p, struct type *out)
{
	struct print_lexer before = p->lexer;
	struct type_words w = {0};
	bool star = false;

	for (; p->lexer.token.kind == TOKEN_NAME; next(p)) {
		if (name_is(&p->lexer.token, "REC") || name_is(&p->lexer.token, "sizeof"))
			goto none;
		type_word(p, &w);
	}
	*out = w.named;
	if (w.longs)
		*out = (struct type){.size = (uint8_t)(w.longs > 1 ? 8 : p->lexer.word),
				     .is_signed = true};
	else if (w.is_unsigned && !out->size)
		out->size = 4;
	if (w.is_unsigned)
		out->is_signed = false;
	for (; is(p, "*") || (star && p->lexer.token.kind == TOKEN_NAME); next(p)) {
		uint8_t target = star ? (uint8_t)p->lexer.word : out->size;

		if (!is(p, "*"))
			continue;
		*out = (struct type){.size = (uint8_t)p->lexer.word,
				     .pointer = true,
				     .target = target,
				     .target_signed = out->is_signed};
		star = true;
	}
	if (!w.words || !is(p, ")"))
		goto none;
	next(p);
	if (w.known || star)
		return true;
	/* a name that may be a type: only if an operand follows */
	if (p->lexer.token.kind == TOKEN_NAME || p->lexer.token.kind == TOKEN_NUMBER ||
	    p->lexer.token.kind == TOKEN_STRING || is(p, "("))
		return true;
none:
	p->lexer = before;
	return false;
}

static uint32_t cast(struct parser *p, const struct type *t, uint32_t a)
{
	struct print_node n;

	if (p->failed)
		return NONE;
	n = *at(p, a);
	if (n.kind == KIND_OF_ARRAY && t->pointer) {
		/* the same bytes, looked at as elements of another type */
		at(p, a)->size = t->target;
		at(p, a)->load_signed = t->target_signed;
		return a;
	}
	if (n.kind == KIND_OF_TEXT && t->pointer)
		return a;
	if (!is_number(p, a))
		return NONE;
	if (!t->size)
		return a;
	n = (struct print_node){.op = t->boolean ? OP_BOOL : OP_CAST,
				.width = t->size < 4 ? 4 : t->size,
				.size = t->size,
				.is_signed = t->size < 4 || t->is_signed,
				.load_signed = t->is_signed,
				.pointer = t->pointer};
	if (is_constant(p, a))
		return constant(p, print_compute(&n, at(p, a)->value, 0), n.width, n.is_signed);
	return add(p, n, a, NONE, NONE);
}

/* ---- operators ---- */

void print_common_type(const struct print_node *a, const struct print_node *b, uint8_t *width,
		       bool *is_signed)
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

static uint32_t unary(struct parser *p, enum print_op op, uint32_t a)
{
	struct print_node n = {.op = (uint8_t)op, .width = 4, .is_signed = true};

	if (!is_number(p, a))
		return NONE;
	if (op != OP_NOT) {
		n.width = at(p, a)->width;
		n.is_signed = at(p, a)->is_signed;
	}
	if (is_constant(p, a))
		return constant(p, print_compute(&n, at(p, a)->value, 0), n.width, n.is_signed);
	return add(p, n, a, NONE, NONE);
}

static uint32_t binary(struct parser *p, enum print_op op, uint32_t a, uint32_t b)
{
	struct print_node n = {.op = (uint8_t)op, .width = 4, .is_signed = true};

	if (p->failed)
		return NONE;
	if ((op == OP_ADD || op == OP_SUBTRACT) && at(p, a)->kind == KIND_OF_ARRAY) {
		if (op == OP_SUBTRACT || !is_number(p, b))
			return fail(p, "no number");
		n = *at(p, a);
		n.op = OP_ADVANCE;
		return add(p, n, a, b, NONE);
	}
	if (!is_number(p, a) || !is_number(p, b))
		return NONE;
	print_common_type(at(p, a), at(p, b), &n.common, &n.common_signed);
	if (op == OP_SHIFT_LEFT || op == OP_SHIFT_RIGHT) {
		n.common = n.width = at(p, a)->width;
		n.common_signed = n.is_signed = at(p, a)->is_signed;
	} else if (op < OP_LESS || (op >= OP_AND && op <= OP_OR)) {
		n.width = n.common;
		n.is_signed = n.common_signed;
	}
	if (is_constant(p, a) && is_constant(p, b))
		return constant(p, print_compute(&n, at(p, a)->value, at(p, b)->value), n.width,
				n.is_signed);
	return add(p, n, a, b, NONE);
}

static uint32_t choice(struct parser *p, uint32_t a)
{
	struct print_node n = {.op = OP_CHOICE};
	uint32_t b = expression(p, 0), c;

	if (!expect(p, ":"))
		return NONE;
	c = expression(p, 0);
	if (p->failed)
		return NONE;
	if (at(p, b)->kind == KIND_OF_NUMBER && at(p, c)->kind == KIND_OF_NUMBER) {
		print_common_type(at(p, b), at(p, c), &n.width, &n.is_signed);
		n.pointer = at(p, b)->pointer && at(p, c)->pointer;
	} else {
		n.kind = at(p, b)->kind == KIND_OF_ARRAY && at(p, c)->kind == KIND_OF_ARRAY
				 ? KIND_OF_ARRAY
				 : KIND_OF_TEXT;
		n.size = at(p, b)->size;
		n.load_signed = at(p, b)->load_signed;
	}
	if (at(p, a)->kind != KIND_OF_NUMBER)
		return fail(p, "no number");
	if (is_constant(p, a) && n.kind != KIND_OF_NUMBER)
		return at(p, a)->value ? b : c;
	return add(p, n, a, b, c);
}

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
		if (is(p, operators[i].text))
			return (int)i;
	return -1;
}

/* ---- arrays and fields ---- */

static const struct format_field *field_named(struct parser *p)
{
	const struct print_token *t = &p->lexer.token;
	const struct format_field *f;

	if (t->kind != TOKEN_NAME) {
		fail(p, "no field's name");
		return NULL;
	}
	f = format_fields_find(&p->format->fields, t->text, t->size);
	if (!f)
		fail(p, "no such field");
	next(p);
	return f;
}

static uint32_t array_of(struct parser *p, const struct format_field *f)
{
	return add(p,
		   (struct print_node){.op = OP_ARRAY,
				       .kind = KIND_OF_ARRAY,
				       .size = f->element,
				       .load_signed = f->is_signed,
				       .field = f},
		   NONE, NONE, NONE);
}

static uint32_t load(struct parser *p, const struct format_field *f)
{
	if (f->array || (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8))
		return array_of(p, f);
	return add(p,
		   (struct print_node){.op = OP_LOAD,
				       .width = f->size < 4 ? 4 : (uint8_t)f->size,
				       .is_signed = f->size < 4 || f->is_signed,
				       .size = (uint8_t)f->size,
				       .load_signed = f->is_signed,
				       .pointer = f->pointer,
				       .value = f->offset,
				       .field = f},
		   NONE, NONE, NONE);
}

static uint32_t element(struct parser *p, uint32_t array, uint32_t index)
{
	struct print_node n = {.op = OP_ELEMENT};

	if (p->failed)
		return NONE;
	if (at(p, array)->kind != KIND_OF_ARRAY || !at(p, array)->size)
		return fail(p, "no array");
	if (!is_number(p, index))
		return NONE;
	n.size = at(p, array)->size;
	n.load_signed = at(p, array)->load_signed;
	n.width = n.size < 4 ? 4 : n.size;
	n.is_signed = n.size < 4 || n.load_signed;
	return add(p, n, array, index, NONE);
}

/* &REC->x, &REC->array[3] */
static uint32_t address_of(struct parser *p, uint32_t a)
{
	struct print_node n;

	if (p->failed)
		return NONE;
	n = *at(p, a);
	if (n.kind == KIND_OF_ARRAY)
		return a;
	if (n.op == OP_LOAD)
		return array_of(p, n.field);
	if (n.op == OP_ELEMENT) {
		n.op = OP_ADVANCE;
		n.kind = KIND_OF_ARRAY;
		return add(p, n, n.a, n.b, NONE);
	}
	return fail(p, "no address");
}

/* ---- functions ---- */

/* A string literal, or several with nothing between. *at, *size: in the texts. */
static bool literal(struct parser *p, size_t *where, size_t *size)
{
	struct buffer *b = &p->format->texts;

	*where = b->size;
	while (!p->failed && p->lexer.token.kind == TOKEN_STRING) {
		const struct print_token *t = &p->lexer.token;

		if (buffer_reserve(b, t->size + 1)) {
			no_memory(p);
			return false;
		}
		b->size += print_unescape((char *)b->data + b->size, t->text, t->size);
		next(p);
	}
	*size = b->size - *where;
	return !p->failed;
}

static uint32_t text_node(struct parser *p)
{
	size_t where, size;
	uint32_t a;

	if (!literal(p, &where, &size))
		return NONE;
	a = add(p, (struct print_node){.op = OP_TEXT, .kind = KIND_OF_TEXT, .value = where}, NONE,
		NONE, NONE);
	if (a != NONE)
		at(p, a)->b = (uint32_t)size;
	return a;
}

/* Constants that the kernel leaves in its formats by name. */
static bool known_name(const struct print_token *t, uint64_t *v)
{
	static const char *const names[] = {"HI_SOFTIRQ",      "TIMER_SOFTIRQ", "NET_TX_SOFTIRQ",
					    "NET_RX_SOFTIRQ",  "BLOCK_SOFTIRQ", "IRQ_POLL_SOFTIRQ",
					    "TASKLET_SOFTIRQ", "SCHED_SOFTIRQ", "HRTIMER_SOFTIRQ",
					    "RCU_SOFTIRQ"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (name_is(t, names[i])) {
			*v = i;
			return true;
		}
	*v = name_is(t, "HRTIMER_RESTART") || name_is(t, "true");
	return *v || name_is(t, "HRTIMER_NORESTART") || name_is(t, "false") || name_is(t, "NULL");
}

/* { value, "name" } */
static bool entry(struct parser *p)
{
	struct print_format *f = p->format;
	struct print_entry e = {.known = true}, *entries;
	struct print_lexer before = p->lexer;
	uint64_t ignored;
	size_t where, size;

	next(p);
	if (before.token.kind == TOKEN_NAME && is(p, ",") && !known_name(&before.token, &ignored)) {
		e.known = false;
	} else {
		size_t count = f->node_count;
		uint32_t node;

		p->lexer = before;
		node = expression(p, 0);
		if (p->failed)
			return false;
		if (!is_constant(p, node)) {
			fail(p, "no constant");
			return false;
		}
		e.value = at(p, node)->value;
		f->node_count = count; /* they are not needed any more */
	}
	if (!expect(p, ","))
		return false;
	if (p->lexer.token.kind != TOKEN_STRING) {
		fail(p, "no name");
		return false;
	}
	if (!literal(p, &where, &size) || !expect(p, "}"))
		return false;
	e.text = (uint32_t)where;
	e.size = (uint32_t)size;
	if (f->entry_count == ENTRIES_MOST) {
		fail(p, "too many names");
		return false;
	}
	entries = array_grow(f->entries, &f->entry_capacity, f->entry_count, sizeof e);
	if (!entries) {
		no_memory(p);
		return false;
	}
	f->entries = entries;
	entries[f->entry_count++] = e;
	return true;
}

static uint32_t names_of(struct parser *p, enum print_op op)
{
	struct print_node n = {.op = (uint8_t)op, .kind = KIND_OF_TEXT};
	uint32_t a = expression(p, 0), first, count;
	size_t where = 0, size = 0;

	if (!is_number(p, a) || !expect(p, ","))
		return NONE;
	if (op == OP_FLAGS) {
		if (p->lexer.token.kind == TOKEN_STRING)
			literal(p, &where, &size);
		else
			next(p); /* NULL, or a constant's name */
		if (!expect(p, ","))
			return NONE;
	}
	if (size > UINT16_MAX)
		return fail(p, "too long");
	first = (uint32_t)p->format->entry_count;
	while (accept(p, "{"))
		if (!entry(p) || !accept(p, ","))
			break;
	if (!expect(p, ")"))
		return NONE;
	count = (uint32_t)p->format->entry_count - first;
	n.value = (uint64_t)size << 32 | where;
	a = add(p, n, a, NONE, NONE);
	if (p->failed)
		return NONE;
	at(p, a)->b = first;
	at(p, a)->c = count;
	return a;
}

static uint32_t array_argument(struct parser *p)
{
	uint32_t a = expression(p, 0);

	if (p->failed)
		return NONE;
	if (at(p, a)->kind == KIND_OF_ARRAY)
		return a;
	return at(p, a)->op == OP_LOAD ? array_of(p, at(p, a)->field) : fail(p, "no array");
}

static uint32_t number_argument(struct parser *p)
{
	uint32_t a = expression(p, 0);

	return is_number(p, a) ? a : NONE;
}

static uint32_t hex(struct parser *p, enum print_op op)
{
	uint32_t a = array_argument(p), b;

	if (!expect(p, ","))
		return NONE;
	b = number_argument(p);
	if (!expect(p, ")"))
		return NONE;
	return add(p, (struct print_node){.op = (uint8_t)op, .kind = KIND_OF_TEXT}, a, b, NONE);
}

static uint32_t elements(struct parser *p)
{
	uint32_t a = array_argument(p), b, c;

	if (!expect(p, ","))
		return NONE;
	b = number_argument(p);
	if (!expect(p, ","))
		return NONE;
	c = number_argument(p);
	if (!expect(p, ")"))
		return NONE;
	return add(p, (struct print_node){.op = OP_ELEMENTS, .kind = KIND_OF_TEXT}, a, b, c);
}

static uint32_t list(struct parser *p, uint32_t a, uint32_t b, uint32_t c)
{
	return add(p, (struct print_node){.op = OP_LIST}, a, b, c);
}

/* prefix, its type, row size, group size, array, length, ascii */
static uint32_t hex_dump(struct parser *p)
{
	uint32_t prefix, type, row, group, a, length, ascii;

	if (p->lexer.token.kind != TOKEN_STRING)
		return fail(p, "no text");
	prefix = text_node(p);
	if (!expect(p, ","))
		return NONE;
	type = number_argument(p);
	if (!expect(p, ","))
		return NONE;
	row = number_argument(p);
	if (!expect(p, ","))
		return NONE;
	group = number_argument(p);
	if (!expect(p, ","))
		return NONE;
	a = array_argument(p);
	if (!expect(p, ","))
		return NONE;
	length = number_argument(p);
	if (!expect(p, ","))
		return NONE;
	ascii = number_argument(p);
	if (!expect(p, ")"))
		return NONE;
	return add(p, (struct print_node){.op = OP_HEX_DUMP, .kind = KIND_OF_TEXT}, a, length,
		   list(p, prefix, list(p, type, row, group), ascii));
}

/* __get_str(name) and the like: of a field, by its name alone. */
static uint32_t of_field(struct parser *p, enum print_op op)
{
	const struct format_field *f = field_named(p);
	struct print_node n = {.op = (uint8_t)op, .kind = KIND_OF_TEXT};
	uint32_t a;

	if (!f || !expect(p, ")"))
		return NONE;
	if (op == OP_LENGTH) {
		n = (struct print_node){.op = OP_LENGTH, .width = 4, .is_signed = true, .field = f};
		return add(p, n, NONE, NONE, NONE);
	}
	a = array_of(p, f);
	return op == OP_ARRAY ? a : add(p, n, a, NONE, NONE);
}

static uint32_t expected(struct parser *p)
{
	uint32_t a = expression(p, 0);

	if (accept(p, ","))
		expression(p, 0);
	return expect(p, ")") ? a : NONE;
}

/* ntohs() and the like: of the recorded machine. */
static uint32_t swapped(struct parser *p, unsigned size, bool swap)
{
	struct print_node n = {.op = OP_SWAP,
			       .width = size < 4 ? 4 : (uint8_t)size,
			       .is_signed = size < 4,
			       .size = (uint8_t)size};
	uint32_t a = number_argument(p);

	if (!expect(p, ")"))
		return NONE;
	if (!swap)
		return cast(p, &(struct type){.size = (uint8_t)size}, a);
	return add(p, n, a, NONE, NONE);
}

static uint32_t nanoseconds(struct parser *p, enum print_op op)
{
	uint32_t a = number_argument(p);

	if (!expect(p, ")"))
		return NONE;
	a = cast(p, &(struct type){.size = 8}, a);
	return binary(p, op, a, constant(p, 1000000000, 8, false));
}

static uint32_t size_of(struct parser *p)
{
	struct type t = {0};
	uint32_t a;

	if (cast_type(p, &t))
		return t.size ? constant(p, t.size, p->lexer.word, false)
			      : fail(p, "a type of unknown size");
	a = expression(p, 0);
	if (!expect(p, ")") || p->failed)
		return NONE;
	if (at(p, a)->field && at(p, a)->field->size)
		return constant(p, at(p, a)->field->size, p->lexer.word, false);
	if (at(p, a)->kind == KIND_OF_NUMBER)
		return constant(p, at(p, a)->width, p->lexer.word, false);
	return fail(p, "something of unknown size");
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
};

static const struct {
	const char *name;
	enum function what;
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
};

static uint32_t call(struct parser *p, const struct print_token *name)
{
	bool big = p->format->big;
	size_t i = 0;

	while (i < sizeof functions / sizeof *functions && !name_is(name, functions[i].name))
		i++;
	if (i == sizeof functions / sizeof *functions) {
		if (!p->failed)
			snprintf(p->why, PRINT_WHY, "it calls %.*s() of the kernel",
				 (int)(name->size < 60 ? name->size : 60), name->text);
		p->failed = true;
		return NONE;
	}
	switch (functions[i].what) {
	case F_FLAGS: return names_of(p, OP_FLAGS);
	case F_SYMBOLIC: return names_of(p, OP_SYMBOLIC);
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
	}
	return NONE;
}

/* ---- operands ---- */

static uint32_t field_of_record(struct parser *p)
{
	const struct format_field *f;

	if (!expect(p, "->"))
		return NONE;
	f = field_named(p);
	return f ? load(p, f) : NONE;
}

static uint32_t name(struct parser *p)
{
	struct print_token t = p->lexer.token;
	uint64_t v = 0;

	next(p);
	if (name_is(&t, "REC"))
		return field_of_record(p);
	if (accept(p, "("))
		return call(p, &t);
	if (known_name(&t, &v))
		return constant(p, v, 4, true);
	/* a variable of the kernel, whose address is all there is: 0 where even that is not known,
	 * as in libtraceevent */
	if (p->kernel && p->kernel->address)
		v = p->kernel->address(p->kernel->context, t.text, t.size);
	return constant(p, v, p->lexer.word, false);
}

static uint32_t operand(struct parser *p);

static uint32_t in_parentheses(struct parser *p)
{
	struct type t = {0};
	uint32_t a;

	if (name_is(&p->lexer.token, "REC")) {
		struct print_lexer before = p->lexer;

		next(p);
		if (accept(p, ")"))
			return field_of_record(p);
		p->lexer = before;
	}
	if (cast_type(p, &t)) {
		a = operand(p);
		return cast(p, &t, a);
	}
	a = expression(p, 0);
	return expect(p, ")") ? a : NONE;
}

static uint32_t primary(struct parser *p)
{
	struct print_token t = p->lexer.token;

	switch (t.kind) {
	case TOKEN_NUMBER: next(p); return constant(p, t.value, t.width, t.is_signed);
	case TOKEN_STRING: return text_node(p);
	case TOKEN_NAME: return name(p);
	default:
		if (accept(p, "("))
			return in_parentheses(p);
		return fail(p, t.kind == TOKEN_END ? "it ends too early" : "not understood");
	}
}

static uint32_t unary_operand(struct parser *p)
{
	uint32_t a;

	if (accept(p, "-"))
		return unary(p, OP_NEGATE, operand(p));
	if (accept(p, "~"))
		return unary(p, OP_COMPLEMENT, operand(p));
	if (accept(p, "!"))
		return unary(p, OP_NOT, operand(p));
	if (accept(p, "+"))
		return operand(p);
	if (accept(p, "&"))
		return address_of(p, operand(p));
	if (accept(p, "*")) {
		a = operand(p);
		return element(p, a, constant(p, 0, 4, true));
	}
	a = primary(p);
	while (!p->failed && accept(p, "[")) {
		uint32_t b = expression(p, 0);

		if (!expect(p, "]"))
			return NONE;
		a = element(p, a, b);
	}
	return p->failed ? NONE : a;
}

static uint32_t operand(struct parser *p)
{
	uint32_t a;

	if (p->failed)
		return NONE;
	if (p->nesting == NESTING_MOST)
		return fail(p, "it nests too deep");
	p->nesting++;
	a = unary_operand(p);
	p->nesting--;
	return p->failed ? NONE : a;
}

/* Operators of that level or above; 0: the ternary one too. */
static uint32_t expression(struct parser *p, int least)
{
	uint32_t a;
	int i;

	if (p->failed)
		return NONE;
	if (p->nesting == NESTING_MOST)
		return fail(p, "it nests too deep");
	p->nesting++;
	a = operand(p);
	while (!p->failed && (i = operator_at(p)) >= 0 && operators[i].level > least) {
		uint32_t b;

		next(p);
		b = expression(p, operators[i].level);
		a = operators[i].swapped ? binary(p, operators[i].op, b, a)
					 : binary(p, operators[i].op, a, b);
	}
	if (!p->failed && !least && accept(p, "?"))
		a = choice(p, a);
	p->nesting--;
	return p->failed ? NONE : a;
}

/* ---- the whole ---- */

static int argument(void *context, uint32_t *node)
{
	struct parser *p = context;

	if (p->failed)
		return -1;
	if (!accept(p, ",")) {
		fail(p, "an argument is missing");
		return -1;
	}
	*node = expression(p, 0);
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
	next(p);
	if (p->lexer.token.kind != TOKEN_STRING) {
		fail(p, "no text");
		return -1;
	}
	if (!literal(p, &where, &size))
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
	/* texts may be empty, but they are somewhere */
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
	if (format_fields_read(&f->fields, f->source, n, f->word) || compile(&p))
		goto failed;
	return f;
failed:
	print_format_free(f);
	return NULL;
}

static int in_order(void *context, uint32_t *node)
{
	(void)context;
	*node = NONE;
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
	format_fields_free(&f->fields);
	free(f->nodes);
	free(f->entries);
	free(f->items);
	buffer_free(&f->texts);
	free(f->source);
	free(f);
}
