#include "cmd/trfilter/expression/evaluate.h"

#include "common/expr/evaluate.h"

static void give_field(void *ctx, struct operand *field, struct scalar *out)
{
	struct evaluation *ev = ctx;

	operand_value(ev, field, ev->event, out);
}

static bool evaluate_values(struct evaluation *ev, const struct node *n)
{
	const struct expression_values values = {.field = give_field, .ctx = ev};

	return expression_leaf(&values, n);
}

/* Returns the entry of that number; without memory there is no cache. */
static struct verdict *verdict_at(struct verdicts *v, uint32_t number)
{
	struct verdict *at;

	if (ARRAY_REACH(v->at, v->size, number))
		return NULL;
	at = v->at;
	return &at[number];
}

/* Returns the cache entry for this event; NULL if the answer depends on more than one entry. */
static struct verdict *cached_verdict(struct evaluation *ev, struct node *n, const struct event *e,
				      const struct location_symbol **symbol)
{
	struct node_marks *notes = n->data;

	*symbol = NULL;
	if (n->nfields == 1 && n->fields[0]->field == ASK_STACK) {
		uint32_t node = ev->call ? ev->call->node : 0;

		return node ? verdict_at(&notes->by_stack, node) : NULL;
	}
	switch (n->depends & ~DEPENDS_KIND) {
	case DEPENDS_LANE: return verdict_at(&notes->by_lane, e->lane->number);
	case DEPENDS_TYPE: return verdict_at(&notes->by_type, e->type->number);
	case DEPENDS_NAME:
		if (!e->location)
			return verdict_at(&notes->by_type, e->type->number);
		break;
	case DEPENDS_LOCATION: break;
	default: return NULL;
	}
	if (e->location)
		*symbol = dictionary_location(ev->dictionary, e->location)->symbol;
	return verdict_at(&notes->by_location, e->location);
}

/* Without the cache 'trdecode | trsym | trfilter | trstat' of t/bench/uftrace.sh takes 1.17 times
 * the instructions with the condition name =~ "f.b" && dur > 1us, and 2.6 times with one on stack.
 */
static bool evaluate_cached(struct evaluation *ev, struct node *n, const struct event *e)
{
	const struct location_symbol *symbol;
	struct verdict *v = cached_verdict(ev, n, e, &symbol);
	bool holds;

	if (v && v->state && v->symbol == symbol)
		return v->state == 2;
	holds = evaluate_values(ev, n);
	if (v)
		*v = (struct verdict){symbol, holds ? 2 : 1};
	return holds;
}

/* Evaluate the most common conditions on a row without general values: without this
 * 'trdecode | trsym | trfilter "depth < 4" | trencode -t text' of t/bench/uftrace.sh takes 1.16
 * times the instructions. */
static bool evaluate_quick(const struct node *n, const struct event *e)
{
	uint64_t left = n->left->field == ASK_TIME ? e->time : e->depth, right = n->right->value.u;

	return comparison_holds(n->comparison, left < right   ? ORDER_LESS
					       : left > right ? ORDER_GREATER
							      : ORDER_EQUAL);
}

bool evaluate_number(const struct node *n, uint64_t left)
{
	const struct scalar s = {.form = SCALAR_UINT, .u = left};

	return comparison_holds(n->comparison, scalar_compare(&s, &n->right->value));
}

static bool evaluate_leaf(struct evaluation *ev, struct node *n, const struct event *e)
{
	switch (n->kind) {
	case NODE_UNDER: return ev->call && ev->call->under >> node_marks(n)->mark & 1;
	case NODE_OVER: return ev->call && ev->call->over >> node_marks(n)->mark & 1;
	default: return node_marks(n)->quick ? evaluate_quick(n, e) : evaluate_cached(ev, n, e);
	}
}

static enum answer evaluate_node(void *evaluation, struct node *n)
{
	struct evaluation *ev = evaluation;

	return expression_joined(n) ? expression_join(n, evaluate_node, ev)
				    : (enum answer)evaluate_leaf(ev, n, ev->event);
}

bool evaluate(struct evaluation *ev, struct node *n, const struct event *e)
{
	ev->event = e;
	return evaluate_node(ev, n);
}
