#include "cmd/trfilter/expression/expression.h"

#include <stdlib.h>

static void operand_free(struct operand *o)
{
	free(o->name);
	free(o->fields);
	buffer_free(&o->text);
}

bool expression_of_calls(const struct node *n)
{
	bool found = n->kind == NODE_UNDER || n->kind == NODE_OVER;

	if (!(n->depends & (DEPENDS_LATER | DEPENDS_STACK)))
		return false;
	for (size_t i = 0; i < n->nchildren && !found; i++)
		found = expression_of_calls(n->children[i]);
	return found || (!n->nchildren && !(n->depends & DEPENDS_ARGUMENT));
}

static enum reads_values operand_reads_values(const struct operand *o)
{
	if (!o->literal && (o->ask == ASK_RETURN || o->ask == ASK_ARGUMENT))
		return READS_ALL;
	if (!o->literal && o->ask == ASK_FIELD)
		return o->is_argument ? READS_ALL : READS_EVENTS;
	return READS_NO_VALUES;
}

static enum reads_values more(enum reads_values a, enum reads_values b)
{
	return a > b ? a : b;
}

enum reads_values expression_reads_values(const struct node *n)
{
	enum reads_values reads =
		more(operand_reads_values(&n->left), operand_reads_values(&n->right));

	for (size_t i = 0; i < n->nchildren; i++)
		reads = more(reads, expression_reads_values(n->children[i]));
	return reads;
}

void expression_free(struct node *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->nchildren; i++)
		expression_free(n->children[i]);
	free(n->children);
	operand_free(&n->left);
	operand_free(&n->right);
	free(n->pattern);
	if (n->has_regex)
		regfree(&n->regex);
	for (size_t i = 0; i < n->ntexts; i++)
		free((char *)n->texts[i].text);
	free(n->numbers);
	free(n->texts);
	free(n->by_location.at);
	free(n->by_type.at);
	free(n->by_lane.at);
	free(n->by_stack.at);
	free(n);
}
