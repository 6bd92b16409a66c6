/* nodes.c - make and free the parts of a tree */
#include <stdlib.h>
#include <string.h>

#include "common/expr/parser_private.h"
#include "common/util/buffer.h"

void *parser_no_memory(struct parser *p)
{
	lexer_error(p->lexer, TOKEN(p)->column, "out of memory");
	return NULL;
}

struct node *parser_node(struct parser *p, enum node_kind kind)
{
	struct node *n = calloc(1, sizeof *n);

	if (!n)
		return parser_no_memory(p);
	n->kind = kind;
	return n;
}

struct operand *parser_operand_new(struct parser *p, enum operand_kind kind)
{
	struct operand *o = calloc(1, sizeof *o);

	if (!o)
		return parser_no_memory(p);
	o->kind = kind;
	o->column = TOKEN(p)->column;
	return o;
}

int parser_add(struct parser *p, struct node *n, struct node *child)
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

void operand_free(struct operand *o, const struct language *language)
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

struct node *parser_failed(struct parser *p, struct node *n)
{
	expression_free(n, p->language);
	return NULL;
}

int parser_drop(struct parser *p, struct term *t)
{
	expression_free(t->condition, p->language);
	operand_free(t->value, p->language);
	*t = (struct term){.column = t->column};
	return -1;
}
