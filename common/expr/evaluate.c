#include "common/expr/evaluate.h"

static void make_number(const struct expression_values *v, const struct operand *o,
			struct scalar *s)
{
	if (v->number && s->form == SCALAR_TEXT && o->kind == OPERAND_FIELD)
		v->number(s);
}

void expression_value(const struct expression_values *v, struct operand *o, struct scalar *out)
{
	struct scalar left, right;

	switch (o->kind) {
	case OPERAND_LITERAL: *out = o->value; return;
	case OPERAND_FIELD:
		*out = (struct scalar){.form = SCALAR_NONE};
		v->field(v->ctx, o, out);
		return;
	case OPERAND_ARITHMETIC: break;
	}
	expression_value(v, o->left, &left);
	expression_value(v, o->right, &right);
	make_number(v, o->left, &left);
	make_number(v, o->right, &right);
	*out = arithmetic(o->arithmetic, &left, &right);
}

bool expression_matches(const regex_t *regex, const char *text, size_t size)
{
	regmatch_t all = {.rm_so = 0, .rm_eo = (regoff_t)size};

	return !regexec(regex, text, 1, &all, REG_STARTEND);
}

static bool matches(const struct node *n, const struct scalar *s)
{
	const char *text;
	size_t size;
	bool found;
	char c;

	if (!scalar_text(s, &c, &text, &size) || size > INT32_MAX)
		return false;
	found = expression_matches(&n->regex, text, size);
	if (!found && s->path) {
		scalar_basename(&text, &size);
		found = expression_matches(&n->regex, text, size);
	}
	return found != n->negated;
}

static bool is_text(const struct scalar *s, const char *text)
{
	return s->form == SCALAR_TEXT && s->size == strlen(text) && !memcmp(s->text, text, s->size);
}

/* Replace a kind by the name that the condition has for it: a call is an enter and a leave. */
static void name_kind(struct scalar *kind, const struct scalar *name)
{
	bool side = is_text(kind, "enter") || is_text(kind, "leave");

	if (side ? is_text(name, "call")
		 : is_text(kind, "call") && (is_text(name, "enter") || is_text(name, "leave")))
		*kind = *name;
}

static bool of_kind(const struct operand *o)
{
	return o->kind == OPERAND_FIELD && o->words == expression_kinds;
}

static bool in_set(const struct scalar *set, size_t n, const struct scalar *s)
{
	while (n) {
		size_t middle = n / 2;
		enum scalar_order o = scalar_compare(s, &set[middle]);

		if (o == ORDER_EQUAL)
			return true;
		if (o != ORDER_LESS && o != ORDER_GREATER)
			return false;
		if (o == ORDER_GREATER) {
			set += middle + 1;
			n -= middle + 1;
		} else {
			n = middle;
		}
	}
	return false;
}

static bool is_member(const struct expression_values *v, const struct node *n,
		      const struct scalar *s)
{
	struct scalar text = {.form = SCALAR_TEXT}, number = *s;
	char c;

	for (size_t i = 0; of_kind(n->left) && i < n->ntexts; i++) {
		text = *s;
		name_kind(&text, &n->texts[i]);
		if (scalar_compare(&text, &n->texts[i]) == ORDER_EQUAL)
			return true;
	}
	text = (struct scalar){.form = SCALAR_TEXT};
	if (n->nnumbers)
		make_number(v, n->left, &number);
	if (scalar_is_number(&number) && in_set(n->numbers, n->nnumbers, &number))
		return true;
	if (!n->ntexts || !scalar_text(s, &c, &text.text, &text.size))
		return false;
	if (in_set(n->texts, n->ntexts, &text))
		return true;
	for (size_t i = 0; s->bits && i < n->ntexts; i++)
		if (scalar_compare(s, &n->texts[i]) == ORDER_EQUAL)
			return true;
	if (!s->path)
		return false;
	scalar_basename(&text.text, &text.size);
	return in_set(n->texts, n->ntexts, &text);
}

static bool compares(const struct expression_values *v, const struct node *n, struct scalar *left)
{
	struct scalar value;
	const struct scalar *right = &n->right->value;

	if (n->right->kind != OPERAND_LITERAL) {
		expression_value(v, n->right, &value);
		if (scalar_is_number(left))
			make_number(v, n->right, &value);
		if (of_kind(n->right) && n->left->kind == OPERAND_LITERAL)
			name_kind(&value, left);
		right = &value;
	} else if (of_kind(n->left)) {
		name_kind(left, right);
	}
	if (scalar_is_number(right))
		make_number(v, n->left, left);
	return comparison_holds(n->comparison, scalar_compare(left, right));
}

bool expression_leaf(const struct expression_values *v, const struct node *n)
{
	struct scalar left = {.form = SCALAR_NONE};

	if (n->left->kind == OPERAND_FIELD)
		v->field(v->ctx, n->left, &left);
	else
		expression_value(v, n->left, &left);
	if (left.form == SCALAR_NONE)
		return false;
	switch (n->kind) {
	case NODE_COMPARE: return compares(v, n, &left);
	case NODE_MATCH: return matches(n, &left);
	case NODE_IN: return is_member(v, n, &left);
	case NODE_HAS: return true;
	default: break;
	}
	if (v->number && left.form == SCALAR_TEXT)
		scalar_constant(left.text, left.size, &left);
	return scalar_true(&left);
}

static enum answer answer_node(void *values, struct node *n)
{
	if (expression_joined(n))
		return expression_join(n, answer_node, values);
	return expression_leaf(values, n) ? ANSWER_YES : ANSWER_NO;
}

bool expression_holds(const struct expression_values *v, struct node *n)
{
	return answer_node((void *)v, n);
}
