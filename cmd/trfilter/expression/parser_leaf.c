/* parser_leaf.c - parse a single condition: comparisons, sets, has(), under(), over() */
#include "cmd/trfilter/expression/parser_private.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"

/* Parse a name of a kind, which after 'kind ==' needs no quotes. */
static int kind_word(struct parser *p, const struct operand *left, struct operand *o)
{
	struct token *t = TOKEN(p);

	if (left->literal || left->ask != ASK_KIND || t->kind != TOKEN_NAME)
		return parser_operand(p, o);
	o->literal = true;
	o->form = KNOWN_TEXT;
	o->column = t->column;
	if (!names_is_kind(t->text, t->size))
		return parser_unexpected(p, "enter, leave, instant, counter or gap");
	o->name = strndup(t->text, t->size);
	if (!o->name)
		return lexer_error(&p->lexer, t->column, "out of memory");
	o->value = (struct scalar){.form = SCALAR_TEXT, .text = o->name, .size = t->size};
	return lexer_next(&p->lexer);
}

static bool comparison_of(enum token_kind token, enum comparison *c)
{
	switch (token) {
	case TOKEN_EQ: *c = COMPARE_EQ; return true;
	case TOKEN_NE: *c = COMPARE_NE; return true;
	case TOKEN_LT: *c = COMPARE_LT; return true;
	case TOKEN_LE: *c = COMPARE_LE; return true;
	case TOKEN_GT: *c = COMPARE_GT; return true;
	case TOKEN_GE: *c = COMPARE_GE; return true;
	default: return false;
	}
}

static bool is_relation(enum token_kind token)
{
	enum comparison c;

	return comparison_of(token, &c) || token == TOKEN_MATCH || token == TOKEN_NO_MATCH;
}

static const char *form_name(enum known_form f)
{
	return f == KNOWN_TEXT ? "a text" : "a number";
}

static int check_forms(struct parser *p, const struct operand *a, const struct operand *b)
{
	if (a->form == KNOWN_NOTHING || b->form == KNOWN_NOTHING || a->form == b->form)
		return 0;
	return lexer_error(&p->lexer, a->column, "%s is compared with %s here", form_name(a->form),
			   form_name(b->form));
}

static void share_time_unit(struct operand *a, struct operand *b)
{
	if (!a->literal && b->literal)
		a->time_unit = b->time_unit;
	if (!b->literal && a->literal)
		b->time_unit = a->time_unit;
}

static int parse_comparison(struct parser *p, struct node *n)
{
	n->kind = NODE_COMPARE;
	if (lexer_next(&p->lexer) || kind_word(p, &n->left, &n->right) ||
	    check_forms(p, &n->left, &n->right))
		return -1;
	share_time_unit(&n->left, &n->right);
	n->left.spelled = !n->right.literal || n->right.value.form == SCALAR_TEXT;
	n->right.spelled = !n->left.literal || n->left.value.form == SCALAR_TEXT;
	n->quick = !n->left.literal && (n->left.ask == ASK_TIME || n->left.ask == ASK_DEPTH) &&
		   n->right.literal && n->right.value.form == SCALAR_UINT;
	return 0;
}

static int parse_match(struct parser *p, struct node *n)
{
	struct token *t = TOKEN(p);
	char why[200];
	int bad;

	n->kind = NODE_MATCH;
	n->negated = t->kind == TOKEN_NO_MATCH;
	if (n->left.form == KNOWN_NUMBER)
		return lexer_error(&p->lexer, n->left.column,
				   "a number is no text to match: compare it");
	if (lexer_next(&p->lexer))
		return -1;
	if (t->kind != TOKEN_STRING)
		return parser_unexpected(p, "a regular expression in quotes");
	if (memchr(t->string, 0, t->string_size))
		return lexer_error(&p->lexer, t->column, "a regular expression cannot hold a NUL");
	bad = regcomp(&n->regex, t->string, REG_EXTENDED | REG_NOSUB);
	if (bad) {
		regerror(bad, &n->regex, why, sizeof why);
		return lexer_error(&p->lexer, t->column, "regular expression: %s", why);
	}
	n->has_regex = n->left.spelled = true;
	n->pattern = t->string;
	t->string = NULL;
	return lexer_next(&p->lexer);
}

static int by_value(const void *a, const void *b)
{
	enum scalar_order o = scalar_compare(a, b);

	return o == ORDER_LESS ? -1 : o == ORDER_GREATER;
}

static int add_member(struct parser *p, struct node *n, size_t capacity[2])
{
	struct token *t = TOKEN(p);
	bool text = t->kind != TOKEN_NUMBER;
	struct scalar **set = text ? &n->texts : &n->numbers, *grown,
		      v = {.form = SCALAR_TEXT, .size = t->size};
	size_t *count = text ? &n->ntexts : &n->nnumbers;
	const struct operand member = {.form = text ? KNOWN_TEXT : KNOWN_NUMBER};

	if (t->kind != TOKEN_NUMBER && t->kind != TOKEN_STRING && t->kind != TOKEN_NAME)
		return parser_unexpected(p, "a number or a string");
	if (check_forms(p, &n->left, &member))
		return -1;
	grown = array_grow(*set, &capacity[text], *count, sizeof *grown);
	if (!grown)
		return lexer_error(&p->lexer, t->column, "out of memory");
	*set = grown;
	if (t->kind == TOKEN_NUMBER) {
		v = t->value;
		n->left.time_unit |= t->time_unit;
	} else if (t->kind == TOKEN_STRING) {
		v.text = t->string;
		v.size = t->string_size;
		t->string = NULL;
	} else {
		v.text = strndup(t->text, t->size);
		if (!v.text)
			return lexer_error(&p->lexer, t->column, "out of memory");
	}
	grown[(*count)++] = v;
	return lexer_next(&p->lexer);
}

static int set(struct parser *p, struct node *n)
{
	size_t capacity[2] = {0, 0};

	n->kind = NODE_IN;
	if (lexer_next(&p->lexer) || parser_expect(p, TOKEN_OPEN_BRACE, "'{'"))
		return -1;
	for (;;) {
		if (add_member(p, n, capacity))
			return -1;
		if (TOKEN(p)->kind != TOKEN_COMMA)
			break;
		if (lexer_next(&p->lexer))
			return -1;
	}
	if (n->nnumbers)
		qsort(n->numbers, n->nnumbers, sizeof *n->numbers, by_value);
	n->left.spelled = n->ntexts > 0;
	if (n->ntexts)
		qsort(n->texts, n->ntexts, sizeof *n->texts, by_value);
	return parser_expect(p, TOKEN_CLOSE_BRACE, "',' or '}'");
}

static bool is_word(const struct token *t, const char *word)
{
	return t->kind == TOKEN_NAME && t->size == strlen(word) && !memcmp(t->text, word, t->size);
}

/* Returns true if a name and then '(' follow. */
static bool is_call(const struct parser *p)
{
	const char *after = p->lexer.text + p->lexer.at;

	return after[strspn(after, " \t\r\n")] == '(';
}

static int has(struct parser *p, struct node *n)
{
	n->kind = NODE_HAS;
	if (lexer_next(&p->lexer) || parser_expect(p, TOKEN_OPEN, "'('"))
		return -1;
	if (TOKEN(p)->kind != TOKEN_NAME)
		return parser_unexpected(p, "the name of a field");
	return parser_field(p, &n->left) || parser_expect(p, TOKEN_CLOSE, "')'") ? -1 : 0;
}

/* Returns the node of name == "f", for a text alone. */
static struct node *name_node(struct parser *p)
{
	struct node *n = parser_node(p, NODE_COMPARE);

	if (!n)
		return NULL;
	n->depends = n->left.depends = DEPENDS_NAME;
	n->left.ask = ASK_NAME;
	n->left.form = KNOWN_TEXT;
	n->left.name = strdup("name");
	n->comparison = COMPARE_EQ;
	if (parser_operand(p, &n->right))
		return parser_failed(n);
	return n->left.name ? n : parser_no_memory(p, n);
}

/* Parse under("f"), over(name =~ "^f" && tid == 1). */
static int parse_around(struct parser *p, struct node *n)
{
	size_t column = TOKEN(p)->column;
	const char *after;
	struct node *child;

	n->kind = TOKEN(p)->size == 5 ? NODE_UNDER : NODE_OVER;
	if (lexer_next(&p->lexer) || parser_expect(p, TOKEN_OPEN, "'('"))
		return -1;
	after = p->lexer.text + p->lexer.at;
	after += strspn(after, " \t\r\n");
	child = TOKEN(p)->kind == TOKEN_STRING && *after == ')' ? name_node(p) : parser_either(p);
	if (parser_add(p, n, child) || parser_expect(p, TOKEN_CLOSE, "')'"))
		return -1;
	if (expression_of_calls(child))
		return lexer_error(&p->lexer, column,
				   "%s is asked at the beginning of a call: of its name, thread, "
				   "time, fields or arguments",
				   n->kind == NODE_UNDER ? "under()" : "over()");
	/* not those of the child: they may include the kind */
	n->depends = DEPENDS_ROW | DEPENDS_STACK | (n->kind == NODE_OVER ? DEPENDS_LATER : 0);
	return 0;
}

/* Refuse a comparison of two values that are never known at the same time: the enter's value is
 * not kept until the leave. */
static int check_times(struct parser *p, const struct node *n)
{
	const struct operand *a = &n->left, *b = &n->right;
	bool a_argument = a->depends & DEPENDS_ARGUMENT, b_argument = b->depends & DEPENDS_ARGUMENT;

	if (a->literal || b->literal || !b->name || !((a->depends | b->depends) & DEPENDS_LATER) ||
	    (a_argument && b_argument))
		return 0;
	if (a->depends & b->depends & DEPENDS_LATER && !a_argument && !b_argument)
		return 0;
	return lexer_error(&p->lexer, a->column,
			   "one side is known when the call begins, the other when it ends");
}

/* Parse an operand and its relation. after_not: a '!' without parentheses precedes it. */
static int parse_condition(struct parser *p, struct node *n, bool after_not)
{
	struct token *t = TOKEN(p);
	bool relation;

	if (is_word(t, "has") && is_call(p))
		return has(p, n);
	if ((is_word(t, "under") || is_word(t, "over")) && is_call(p))
		return parse_around(p, n);
	if (parser_operand(p, &n->left))
		return -1;
	relation = is_relation(t->kind) || is_word(t, "in");
	if (relation && after_not)
		return lexer_error(&p->lexer, n->left.column,
				   "'!' negates the next operand only: put the comparison in "
				   "parentheses");
	if (is_word(t, "in"))
		return set(p, n);
	if (t->kind == TOKEN_MATCH || t->kind == TOKEN_NO_MATCH)
		return parse_match(p, n);
	if (comparison_of(t->kind, &n->comparison))
		return parse_comparison(p, n);
	n->kind = NODE_TRUTH;
	if (n->left.literal && n->left.form == KNOWN_TEXT)
		return lexer_error(&p->lexer, n->left.column, "a string alone is no condition");
	return 0;
}

bool parser_at_relation(const struct parser *p)
{
	return is_relation(TOKEN(p)->kind) || is_word(TOKEN(p), "in");
}

struct node *parser_leaf(struct parser *p, bool after_not)
{
	struct node *n = parser_node(p, NODE_TRUTH);

	if (!n)
		return NULL;
	if (parse_condition(p, n, after_not))
		return parser_failed(n);
	if (check_times(p, n))
		return parser_failed(n);
	n->depends |= n->left.depends | n->right.depends;
	if (parser_at_relation(p)) {
		lexer_error(&p->lexer, TOKEN(p)->column,
			    "a comparison cannot be compared: join two with '&&'");
		return parser_failed(n);
	}
	return n;
}
