#include "cmd/trfilter/expression/condition.h"

#include <stdlib.h>

/* Refuse to test values together that are never known at the same time: the enter's value is not
 * kept until the leave. */
static int check_times(struct lexer *l, const struct node *n, size_t column)
{
	const struct operand *right = operand_field(n->right);
	unsigned first = 0, times;

	for (size_t i = 0; i < n->nfields; i++) {
		times = n->fields[i]->depends & (DEPENDS_LATER | DEPENDS_ARGUMENT);
		if (i && times != first && right && right->field == ASK_FIELD)
			return lexer_error(
				l, right->column,
				"an argument cannot be compared with a field; quote a text: \"%s\"",
				right->name);
		if (i && times != first)
			return lexer_error(l, column,
					   "a value of the enter cannot be compared with a value "
					   "of the whole call");
		first = times;
	}
	return 0;
}

static int check_leaf(struct lexer *l, struct node *n, size_t column)
{
	if (n->kind != NODE_UNDER && n->kind != NODE_OVER)
		return check_times(l, n, column);
	if (condition_of_calls(n->children[0]))
		return lexer_error(
			l, column,
			"%s tests the enter of a call: its name, thread, time, fields or arguments",
			n->kind == NODE_UNDER ? "under()" : "over()");
	/* not those of the child: they may include the kind */
	n->depends = DEPENDS_ROW | DEPENDS_STACK | (n->kind == NODE_OVER ? DEPENDS_LATER : 0);
	return 0;
}

static void free_notes(void *data)
{
	struct node_marks *notes = data;

	free(notes->by_location.at);
	free(notes->by_type.at);
	free(notes->by_lane.at);
	free(notes->by_stack.at);
	free(notes);
}

static const struct language language = {
	.field = condition_field,
	.leaf = check_leaf,
	.free_field = condition_free_field,
	.free_node = free_notes,
};

/* Use arguments and return value of the row itself, where calls are not followed. */
static void ask_of_rows(struct node *n)
{
	if (n->kind == NODE_UNDER || n->kind == NODE_OVER)
		return;
	n->depends = 0;
	for (size_t i = 0; i < n->nchildren; i++) {
		ask_of_rows(n->children[i]);
		n->depends |= n->children[i]->depends;
	}
	for (size_t i = 0; i < n->nfields; i++) {
		struct operand *o = n->fields[i];

		if (o->depends & DEPENDS_ARGUMENT || o->field == ASK_RETURN)
			o->depends = DEPENDS_ROW | DEPENDS_KIND;
		n->depends |= o->depends;
	}
}

/* Make the notes of all nodes. Returns -1 when out of memory. */
static int make_notes(struct node *n)
{
	struct node_marks *notes = n->data = calloc(1, sizeof *notes);

	if (!notes)
		return -1;
	notes->quick = n->kind == NODE_COMPARE &&
		       (operand_asks(n->left, ASK_TIME) || operand_asks(n->left, ASK_DEPTH)) &&
		       operand_literal(n->right) && n->right->value.form == SCALAR_UINT;
	for (size_t i = 0; i < n->nchildren; i++)
		if (make_notes(n->children[i]))
			return -1;
	return 0;
}

struct node *condition_parse(const char *text, struct error *e)
{
	struct node *n = expression_parse(text, &language, e);

	if (n && n->depends & DEPENDS_KIND)
		ask_of_rows(n);
	if (n && make_notes(n)) {
		error_no_memory(e);
		condition_free(n);
		return NULL;
	}
	return n;
}

void condition_free(struct node *n)
{
	expression_free(n, &language);
}

bool condition_asks(const struct node *n, enum ask ask)
{
	bool found = false;

	for (size_t i = 0; i < n->nfields; i++)
		found |= n->fields[i]->field == ask;
	for (size_t i = 0; i < n->nchildren && !found; i++)
		found = condition_asks(n->children[i], ask);
	return found;
}

bool condition_of_calls(const struct node *n)
{
	bool found = n->kind == NODE_UNDER || n->kind == NODE_OVER ||
		     (!n->nchildren && n->depends & (DEPENDS_LATER | DEPENDS_STACK) &&
		      !(n->depends & DEPENDS_ARGUMENT));

	for (size_t i = 0; i < n->nchildren && !found; i++)
		found = condition_of_calls(n->children[i]);
	return found;
}

enum reads_values condition_reads_values(const struct node *n)
{
	enum reads_values reads = READS_NO_VALUES, more;

	for (size_t i = 0; i < n->nfields; i++) {
		const struct operand *o = n->fields[i];
		const struct field_lookup *lookup = o->data;

		if (o->field == ASK_RETURN || o->field == ASK_ARGUMENT || lookup->is_argument)
			return READS_ALL;
		/* The calls of apitrace have these fields, and their arguments are costly to check.
		 */
		if (o->field == ASK_FIELD)
			reads = strcmp(o->name, "frame") && strcmp(o->name, "call") ? READS_ALL
										    : READS_EVENTS;
		if (reads == READS_ALL)
			return reads;
	}
	for (size_t i = 0; i < n->nchildren; i++) {
		more = condition_reads_values(n->children[i]);
		reads = more > reads ? more : reads;
	}
	return reads;
}
