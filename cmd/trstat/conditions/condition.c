#include "cmd/trstat/conditions/condition.h"

#include <stdlib.h>

#include "common/value/shortest.h"
#include "cmd/trstat/conditions/condition_nodes.h"

void condition_node_free(struct condition_node *n)
{
	if (!n)
		return;
	condition_node_free(n->left);
	condition_node_free(n->right);
	free(n->operand.text);
	for (size_t i = 0; i < n->count; i++)
		free(n->others[i].text);
	free(n->others);
	if (n->has_regex)
		regfree(&n->regex);
	free(n);
}

void condition_free(struct condition *c)
{
	condition_node_free(c->root);
	keys_free(&c->keys);
	*c = (struct condition){0};
}

/* --- evaluation --- */

/*
 * Convert a text to the number whose key it spells: a constant, a float or a double. A summary
 * contains only the text. There the text is a number when it is compared with a number, and a
 * double.
 */
static bool number_of(struct scalar *s, uint64_t size)
{
	char *end, again[SHORTEST_SIZE];
	double real;

	if (s->form != SCALAR_TEXT || !s->size || s->size >= sizeof(again))
		return false;
	if (scalar_constant(s->text, s->size, s))
		return true;
	real = size == 4 ? (double)strtof(s->text, &end) : strtod(s->text, &end);
	if (end != s->text + s->size || shortest_real(again, real, size) != s->size ||
	    memcmp(again, s->text, s->size) != 0)
		return false;
	*s = (struct scalar){.form = SCALAR_REAL, .real = real, .real_size = size == 4 ? 4 : 8};
	return true;
}

static bool scalar_of(const struct groups *g, const struct key_cell *cell, struct scalar *s)
{
	switch (cell->kind) {
	case KEY_MISSING:
	case KEY_PENDING: return false;
	case KEY_SIGNED: *s = (struct scalar){.form = SCALAR_INT, .u = cell->value}; return true;
	case KEY_ADDRESS:
	case KEY_UNSIGNED: *s = (struct scalar){.form = SCALAR_UINT, .u = cell->value}; return true;
	case KEY_TEXT:
	case KEY_STACK: break;
	}
	*s = (struct scalar){.form = SCALAR_TEXT};
	if (!groups_cell_text(g, cell, &s->text, &s->size))
		return false;
	if (cell->kind == KEY_TEXT && cell->value)
		number_of(s, cell->value);
	return true;
}

static bool compares(enum token_kind how, const struct scalar *a, const struct scalar *b)
{
	enum scalar_order o = scalar_compare(a, b);

	switch (how) {
	case TOKEN_EQ: return o == ORDER_EQUAL;
	case TOKEN_NE: return o != ORDER_EQUAL && o != ORDER_NONE;
	case TOKEN_LT: return o == ORDER_LESS;
	case TOKEN_LE: return o == ORDER_LESS || o == ORDER_EQUAL;
	case TOKEN_GT: return o == ORDER_GREATER;
	case TOKEN_GE: return o == ORDER_GREATER || o == ORDER_EQUAL;
	default: return false;
	}
}

static bool matches(const struct condition_node *n, const struct scalar *s)
{
	const char *text = s->text;
	size_t size = s->size;
	regmatch_t all = {.rm_so = 0, .rm_eo = (regoff_t)size};

	/* by length: a text may hold NULs */
	if (!regexec(&n->regex, text, 1, &all, REG_STARTEND))
		return true;
	if (!n->operand.path)
		return false;
	scalar_basename(&text, &size);
	all = (regmatch_t){.rm_so = 0, .rm_eo = (regoff_t)size};
	return !regexec(&n->regex, text, 1, &all, REG_STARTEND);
}

struct asking {
	const struct groups *groups;
	condition_cell *cell;
	void *ctx;
};

/* Read an operand's value. Returns false where it has none. */
static bool value_of(const struct asking *ask, const struct operand *o, struct scalar *s)
{
	const struct key_cell *cell;

	if (o->literal) {
		*s = o->value;
		return true;
	}
	cell = ask->cell(ask->ctx, o->key);
	if (!cell || !scalar_of(ask->groups, cell, s))
		return false;
	s->path = o->path;
	return true;
}

static bool node_holds(const struct condition_node *n, const struct asking *ask)
{
	struct scalar s, other;

	switch (n->kind) {
	case NODE_OR: return node_holds(n->left, ask) || node_holds(n->right, ask);
	case NODE_AND: return node_holds(n->left, ask) && node_holds(n->right, ask);
	case NODE_NOT: return !node_holds(n->left, ask);
	default: break;
	}
	if (!value_of(ask, &n->operand, &s))
		return false;
	switch (n->kind) {
	case NODE_HAS: return true;
	case NODE_TRUTH:
		if (s.form == SCALAR_TEXT)
			scalar_constant(s.text, s.size, &s);
		return scalar_true(&s);
	case NODE_MATCH:
		return s.form == SCALAR_TEXT && s.size <= INT32_MAX && matches(n, &s) != n->negated;
	default: break;
	}
	for (size_t i = 0; i < n->count; i++)
		if (value_of(ask, &n->others[i], &other)) {
			struct scalar left = s;

			if (!n->operand.literal && scalar_is_number(&other))
				number_of(&left, 0);
			if (!n->others[i].literal && scalar_is_number(&left))
				number_of(&other, 0);
			if (compares(n->kind == NODE_IN ? TOKEN_EQ : n->comparison, &left, &other))
				return true;
		}
	return false;
}

bool condition_holds(const struct condition *c, const struct groups *g, condition_cell *cell,
		     void *ctx)
{
	return !c->root || node_holds(c->root, &(struct asking){g, cell, ctx});
}
