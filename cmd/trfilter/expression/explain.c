#include "cmd/trfilter/expression/explain.h"

#include <inttypes.h>

static const char *const comparisons[] = {
	[COMPARE_EQ] = "==", [COMPARE_NE] = "!=", [COMPARE_LT] = "<",
	[COMPARE_LE] = "<=", [COMPARE_GT] = ">",  [COMPARE_GE] = ">=",
};

/* Write bytes, those that are not printable ASCII as escapes. */
static void put_quoted(struct text *t, const char *p, size_t n)
{
	text_char(t, '"');
	for (; n--; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '"' || c == '\\')
			text_char(t, '\\');
		if (c < ' ' || c > '~')
			text_printf(t, "\\x%02x", c);
		else
			text_char(t, (char)c);
	}
	text_char(t, '"');
}

static void show_scalar(struct text *t, const struct scalar *s)
{
	switch (s->form) {
	case SCALAR_INT: text_i64(t, s->i); break;
	case SCALAR_UINT: text_u64(t, s->u); break;
	case SCALAR_REAL: text_printf(t, "%.18Lg", s->real); break;
	case SCALAR_TEXT: put_quoted(t, s->text, s->size); break;
	case SCALAR_NONE:
	case SCALAR_OTHER: break;
	}
}

static void show_operand(struct text *t, const struct operand *o)
{
	const struct field_lookup *lookup = o->data;

	if (o->kind == OPERAND_LITERAL) {
		show_scalar(t, &o->value);
		text_puts(t, o->of_time ? "ns" : "");
	} else if (o->kind == OPERAND_ARITHMETIC) {
		text_char(t, '(');
		show_operand(t, o->left);
		text_printf(t, " %s ", arithmetic_sign(o->arithmetic));
		show_operand(t, o->right);
		text_char(t, ')');
	} else if (lookup->is_argument) {
		text_printf(t, "arg.%s", o->name);
	} else if (o->field == ASK_FIELD) {
		text_puts(t, "field(");
		put_quoted(t, o->name, strlen(o->name));
		text_char(t, ')');
	} else {
		text_puts(t, o->name);
	}
}

static void show_set(struct text *t, const struct node *n)
{
	const char *unit = n->left->of_time && n->time_unit ? "ns" : "", *between = "";

	text_puts(t, " in {");
	for (size_t i = 0; i < n->nnumbers; i++, between = ", ") {
		text_puts(t, between);
		show_scalar(t, &n->numbers[i]);
		text_puts(t, unit);
	}
	for (size_t i = 0; i < n->ntexts; i++, between = ", ") {
		text_puts(t, between);
		show_scalar(t, &n->texts[i]);
	}
	text_char(t, '}');
}

static void show_node(struct text *t, const struct node *n);

static void show_joined(struct text *t, const struct node *n)
{
	for (size_t i = 0; i < n->nchildren; i++) {
		const struct node *child = n->children[i];
		bool group = child->kind == NODE_AND || child->kind == NODE_OR;

		if (i)
			text_puts(t, n->kind == NODE_AND ? " && " : " || ");
		if (group)
			text_char(t, '(');
		show_node(t, child);
		if (group)
			text_char(t, ')');
	}
}

static void show_node(struct text *t, const struct node *n)
{
	switch (n->kind) {
	case NODE_AND:
	case NODE_OR: show_joined(t, n); return;
	case NODE_NOT:
		text_puts(t, "!(");
		show_node(t, n->children[0]);
		text_char(t, ')');
		return;
	case NODE_HAS:
		text_puts(t, "has(");
		show_operand(t, n->left);
		text_char(t, ')');
		return;
	case NODE_UNDER:
	case NODE_OVER:
		text_puts(t, n->kind == NODE_UNDER ? "under(" : "over(");
		show_node(t, n->children[0]);
		text_char(t, ')');
		return;
	default: break;
	}
	show_operand(t, n->left);
	if (n->kind == NODE_COMPARE) {
		text_printf(t, " %s ", comparisons[n->comparison]);
		show_operand(t, n->right);
	} else if (n->kind == NODE_MATCH) {
		text_puts(t, n->negated ? " !~ " : " =~ ");
		put_quoted(t, n->pattern, strlen(n->pattern));
	} else if (n->kind == NODE_IN) {
		show_set(t, n);
	}
}

static const char *how_often(const struct term *p)
{
	if (p->node->depends & DEPENDS_LATER)
		return "for each call, as soon as the result is known";
	if (p->node->depends & DEPENDS_STACK)
		return "for each event, with the calls around it; a call is tested at its enter";
	if (p->by_call && !p->by_entry)
		return "for each event; a call is tested at its enter";
	if (!p->by_entry)
		return "for each event, enters and leaves separately";
	switch (p->node->depends & ~DEPENDS_KIND) {
	case 0: return "once";
	case DEPENDS_NAME: return "once for each function or type";
	case DEPENDS_LOCATION: return "once for each function";
	case DEPENDS_TYPE: return "once for each type";
	case DEPENDS_LANE: return "once for each thread";
	}
	return "once for each combination of thread, type and function";
}

void explain_filter(struct text *t, const struct filter *f, bool invert)
{
	for (size_t i = 0; i < f->nterms; i++) {
		text_puts(t, i ? "and  " : invert ? "drop " : "keep ");
		show_node(t, f->terms[i].node);
		text_printf(t, "\n     tested %s\n", how_often(&f->terms[i]));
	}
}

void explain_names(struct text *t)
{
	text_puts(t, "\nfields of every event that has them:\n");
	for (const struct plain_name *p = names_all(); p->name; p++)
		text_printf(t, "  %-9s %s\n", p->name, p->help);
	text_printf(t, "  %-9s %s\n", "arg.N", "argument N of a call, from 1");
	text_printf(t, "  %-9s %s\n", "under(X)",
		    "the calls of X, a name or a condition, and all events in them");
	text_printf(t, "  %-9s %s\n", "over(X)",
		    "the calls of X, other events that match X, and the calls around them");
	text_printf(t, "  %-9s %s\n", "fparg.N", "floating-point argument N of a call");
}

void explain_types(struct text *t, const struct dictionary *d)
{
	uint32_t unused = 0;

	text_puts(t, "\ntypes of this stream and their own fields:\n");
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *type = dictionary_type(d, i);

		unused += !type->used && kind_is_event(type->kind);
		if (type->kind == KIND_DROP || !type->used)
			continue;
		text_puts(t, "  ");
		text_masked(t, type->name.text, type->name.size);
		text_printf(t, " (%s)", type_kind_name(type->kind));
		for (uint32_t f = 0; f < type->nfields; f++) {
			text_puts(t, f ? ", " : ": ");
			text_masked(t, type->fields[f].name.text, type->fields[f].name.size);
		}
		text_puts(t, type->flags & TYPE_VALUES ? "; arguments or a return value\n" : "\n");
	}
	if (unused)
		text_printf(t, "%" PRIu32 " type%s without events: trdecode --list names %s\n",
			    unused, unused == 1 ? "" : "s", unused == 1 ? "it" : "them");
}
