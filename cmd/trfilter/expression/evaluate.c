#include "cmd/trfilter/expression/evaluate.h"

#include <stdlib.h>

static bool ordered(enum comparison c, enum scalar_order o)
{
	if (o == ORDER_NONE)
		return false;
	switch (c) {
	case COMPARE_EQ: return o == ORDER_EQUAL;
	case COMPARE_NE: return o != ORDER_EQUAL;
	case COMPARE_LT: return o == ORDER_LESS;
	case COMPARE_LE: return o == ORDER_LESS || o == ORDER_EQUAL;
	case COMPARE_GT: return o == ORDER_GREATER;
	case COMPARE_GE: return o == ORDER_GREATER || o == ORDER_EQUAL;
	}
	return false;
}

static bool matches(const struct node *n, const char *text, size_t size)
{
	/* by length: a text may contain NULs */
	regmatch_t all = {.rm_so = 0, .rm_eo = (regoff_t)size};

	return !regexec(&n->regex, text, 1, &all, REG_STARTEND);
}

static bool evaluate_match(const struct node *n, const struct scalar *s)
{
	const char *text;
	size_t size;
	bool found;
	char c;

	if (!scalar_text(s, &c, &text, &size) || size > INT32_MAX)
		return false;
	found = matches(n, text, size);
	if (!found && s->path) {
		scalar_basename(&text, &size);
		found = matches(n, text, size);
	}
	return found != n->negated;
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

static bool member(const struct node *n, const struct scalar *s)
{
	struct scalar text = {.form = SCALAR_TEXT};
	char c;

	if (scalar_is_number(s) && in_set(n->numbers, n->nnumbers, s))
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

static bool ask(struct evaluation *ev, struct node *n, const struct event *e)
{
	struct scalar left, right;

	operand_value(ev, &n->left, e, &left);
	switch (n->kind) {
	case NODE_COMPARE:
		operand_value(ev, &n->right, e, &right);
		return ordered(n->comparison, scalar_compare(&left, &right));
	case NODE_MATCH: return evaluate_match(n, &left);
	case NODE_IN: return member(n, &left);
	case NODE_HAS: return left.form != SCALAR_NONE;
	default: return scalar_true(&left);
	}
}

static struct verdict *verdict_at(struct verdicts *v, uint32_t number)
{
	if (number >= v->size) {
		size_t size = v->size ? v->size : 64;
		struct verdict *at;

		while (size <= number)
			size *= 2;
		at = realloc(v->at, size * sizeof *at);
		if (!at)
			return NULL; /* without memory there is no cache */
		memset(at + v->size, 0, (size - v->size) * sizeof *at);
		v->at = at;
		v->size = size;
	}
	return &v->at[number];
}

/* Returns the cache entry for this event; NULL if the answer depends on more than one entry. */
static struct verdict *cached_verdict(struct evaluation *ev, struct node *n, const struct event *e,
				      const struct location_symbol **symbol)
{
	*symbol = NULL;
	if (n->left.ask == ASK_STACK && !n->left.literal && (n->right.literal || !n->right.name)) {
		uint32_t node = ev->call ? ev->call->node : 0;

		return node ? verdict_at(&n->by_stack, node) : NULL;
	}
	switch (n->depends & ~DEPENDS_KIND) {
	case DEPENDS_LANE: return verdict_at(&n->by_lane, e->lane->number);
	case DEPENDS_TYPE: return verdict_at(&n->by_type, e->type->number);
	case DEPENDS_NAME:
		if (!e->location)
			return verdict_at(&n->by_type, e->type->number);
		break;
	case DEPENDS_LOCATION: break;
	default: return NULL;
	}
	if (e->location)
		*symbol = dictionary_location(ev->dictionary, e->location)->symbol;
	return verdict_at(&n->by_location, e->location);
}

static bool leaf(struct evaluation *ev, struct node *n, const struct event *e)
{
	const struct location_symbol *symbol;
	struct verdict *v = cached_verdict(ev, n, e, &symbol);
	bool holds;

	if (v && v->state && v->symbol == symbol)
		return v->state == 2;
	holds = ask(ev, n, e);
	if (v)
		*v = (struct verdict){symbol, holds ? 2 : 1};
	return holds;
}

/* Evaluate the most common conditions on a row without general values. */
static bool evaluate_quick(const struct node *n, const struct event *e)
{
	uint64_t left = e->depth, right = n->right.value.u;

	if (n->left.ask == ASK_TIME) {
		if (n->left.time_unit && e->lane->clock->flags & CLOCK_TICKS)
			return false;
		left = e->time;
	}
	return ordered(n->comparison, left < right   ? ORDER_LESS
				      : left > right ? ORDER_GREATER
						     : ORDER_EQUAL);
}

bool evaluate_number(const struct node *n, uint64_t left)
{
	const struct scalar s = {.form = SCALAR_UINT, .u = left};

	return ordered(n->comparison, scalar_compare(&s, &n->right.value));
}

bool evaluate(struct evaluation *ev, struct node *n, const struct event *e)
{
	switch (n->kind) {
	case NODE_AND:
		for (size_t i = 0; i < n->nchildren; i++)
			if (!evaluate(ev, n->children[i], e))
				return false;
		return true;
	case NODE_OR:
		for (size_t i = 0; i < n->nchildren; i++)
			if (evaluate(ev, n->children[i], e))
				return true;
		return false;
	case NODE_NOT: return !evaluate(ev, n->children[0], e);
	case NODE_UNDER: return ev->call && ev->call->under >> n->mark & 1;
	case NODE_OVER: return ev->call && ev->call->over >> n->mark & 1;
	default: return n->quick ? evaluate_quick(n, e) : leaf(ev, n, e);
	}
}
