/*
 * print_names.c - parses string literals, and values with names: __print_flags() and
 * __print_symbolic()
 */
#include "common/ftrace/print_parser.h"

#include <stdio.h>

#include "common/formats/softirqs.h"

bool parse_literal(struct parser *p, size_t *where, size_t *size)
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

uint32_t parse_text(struct parser *p)
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

bool parse_known_name(const struct print_token *t, uint64_t *v)
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
static bool end_of_names(struct parser *p)
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
static bool entry(struct parser *p)
{
	struct print_format *f = p->format;
	struct print_entry e = {.known = true}, *entries;
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
	entries = f->entries;
	entries[f->entry_count++] = e;
	return true;
}

uint32_t parse_names(struct parser *p, enum print_op op)
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
