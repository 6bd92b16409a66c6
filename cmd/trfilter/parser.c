#include "expression.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "lexer.h"

enum {
	NESTING = 200,
	FLOAT_ARGUMENTS = 1000, /* an fparg of uftrace: its number plus this */
};

struct parser {
	struct lexer lexer;
	unsigned nesting;
};

#define TOKEN(p) (&(p)->lexer.token)

static void operand_free(struct operand *o)
{
	free(o->name);
	free(o->fields);
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
	free(n->by_place.at);
	free(n->by_type.at);
	free(n->by_lane.at);
	free(n->by_stack.at);
	free(n);
}

/* Drop a half-made tree. */
static struct node *failed(struct node *n)
{
	expression_free(n);
	return NULL;
}

static struct node *no_memory(struct parser *p, struct node *n)
{
	lexer_error(&p->lexer, TOKEN(p)->column, "out of memory");
	return failed(n);
}

static struct node *new_node(struct parser *p, enum node_kind kind)
{
	struct node *n = calloc(1, sizeof *n);

	if (!n)
		return no_memory(p, NULL);
	n->kind = kind;
	return n;
}

/* The token as it was written, for messages. */
static const char *shown(const struct token *t, char *text, size_t size)
{
	if (t->kind == TOKEN_END)
		return "the end";
	snprintf(text, size, "'%.*s'", t->size < 60 ? (int)t->size : 60, t->text);
	return text;
}

static int unexpected(struct parser *p, const char *wanted)
{
	char text[80];

	return lexer_error(&p->lexer, TOKEN(p)->column, "%s expected, not %s", wanted,
			   shown(TOKEN(p), text, sizeof text));
}

static int expect(struct parser *p, enum token_kind kind, const char *what)
{
	if (TOKEN(p)->kind != kind)
		return unexpected(p, what);
	return lexer_next(&p->lexer);
}

/* --- operands --- */

static int event_field(struct parser *p, struct operand *o, const char *name, size_t n)
{
	o->ask = ASK_FIELD;
	o->depends = DEPENDS_TYPE | DEPENDS_ROW | DEPENDS_CALL;
	o->name = strndup(name, n);
	return o->name ? 0 : lexer_error(&p->lexer, o->column, "out of memory");
}

/* arg.1, fparg.2, arg.size: 1 if it is one. */
static int argument(struct parser *p, struct operand *o, const struct token *t)
{
	bool real = t->size > 6 && !memcmp(t->text, "fparg.", 6);
	const char *what = t->text + (real ? 6 : 4);
	size_t n = t->size - (real ? 6 : 4);

	if (!real && (t->size <= 4 || memcmp(t->text, "arg.", 4) != 0))
		return 0;
	if (strspn(what, "0123456789") < n) {
		if (real)
			return lexer_error(&p->lexer, t->column,
					   "a number must stand behind 'fparg.'");
		o->is_argument = true;
		if (event_field(p, o, what, n))
			return -1;
		o->depends = DEPENDS_TYPE | DEPENDS_ROW | DEPENDS_LATER | DEPENDS_ARGUMENT;
		return 1;
	}
	if (n > 6)
		return lexer_error(&p->lexer, t->column, "no call has so many arguments");
	o->ask = ASK_ARGUMENT;
	o->depends = DEPENDS_ROW | DEPENDS_LATER | DEPENDS_ARGUMENT;
	o->index = strtoul(what, NULL, 10) + (real ? FLOAT_ARGUMENTS : 0);
	o->name = strndup(t->text, t->size);
	return o->name ? 1 : lexer_error(&p->lexer, t->column, "out of memory");
}

static int quoted_field(struct parser *p, struct operand *o)
{
	struct token *t = TOKEN(p);

	if (lexer_next(&p->lexer))
		return -1;
	if (t->kind != TOKEN_STRING || memchr(t->string, 0, t->string_size))
		return unexpected(p, "the name of a field in quotes");
	if (event_field(p, o, t->string, t->string_size) || lexer_next(&p->lexer))
		return -1;
	return expect(p, TOKEN_CLOSE, "')'");
}

static int field(struct parser *p, struct operand *o)
{
	struct token *t = TOKEN(p);
	const struct token name = *t;
	const struct plain_name *plain = names_find(t->text, t->size);
	const char *why = names_refused(t->text, t->size);
	int is_argument;

	o->column = t->column;
	if (why)
		return lexer_error(&p->lexer, t->column, "'%.*s' is called '%s' here", (int)t->size,
				   t->text, why);
	is_argument = argument(p, o, t);
	if (is_argument < 0 || lexer_next(&p->lexer))
		return -1;
	if (is_argument)
		return 0;
	if (t->kind == TOKEN_OPEN) {
		if (name.size == 5 && !memcmp(name.text, "field", 5))
			return quoted_field(p, o);
		return lexer_error(&p->lexer, name.column, "there is no function '%.*s'",
				   name.size < 60 ? (int)name.size : 60, name.text);
	}
	if (!plain)
		return event_field(p, o, name.text, name.size);
	o->ask = plain->ask;
	o->form = plain->form;
	o->depends = plain->depends;
	o->name = strdup(plain->name);
	return o->name ? 0 : lexer_error(&p->lexer, name.column, "out of memory");
}

static int operand(struct parser *p, struct operand *o)
{
	struct token *t = TOKEN(p);

	o->column = t->column;
	switch (t->kind) {
	case TOKEN_NAME: return field(p, o);
	case TOKEN_NUMBER:
		o->literal = true;
		o->form = KNOWN_NUMBER;
		o->value = t->value;
		o->time_unit = t->time_unit;
		break;
	case TOKEN_STRING:
		o->literal = true;
		o->form = KNOWN_TEXT;
		o->name = t->string;
		o->value = (struct scalar){
			.form = SCALAR_TEXT, .text = t->string, .size = t->string_size};
		t->string = NULL;
		break;
	default: return unexpected(p, "a field, a number or a string");
	}
	return lexer_next(&p->lexer);
}

/* kind == leave: the words of kind need no quotes there. */
static int kind_word(struct parser *p, const struct operand *left, struct operand *o)
{
	struct token *t = TOKEN(p);

	if (left->literal || left->ask != ASK_KIND || t->kind != TOKEN_NAME)
		return operand(p, o);
	o->literal = true;
	o->form = KNOWN_TEXT;
	o->column = t->column;
	if (!names_is_kind(t->text, t->size))
		return unexpected(p, "enter, leave, instant, counter or gap");
	o->name = strndup(t->text, t->size);
	if (!o->name)
		return lexer_error(&p->lexer, t->column, "out of memory");
	o->value = (struct scalar){.form = SCALAR_TEXT, .text = o->name, .size = t->size};
	return lexer_next(&p->lexer);
}

/* --- comparisons --- */

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

static int compare(struct parser *p, struct node *n)
{
	n->kind = NODE_COMPARE;
	if (lexer_next(&p->lexer) || kind_word(p, &n->left, &n->right) ||
	    check_forms(p, &n->left, &n->right))
		return -1;
	share_time_unit(&n->left, &n->right);
	n->quick = !n->left.literal && (n->left.ask == ASK_TIME || n->left.ask == ASK_DEPTH) &&
		   n->right.literal && n->right.value.form == SCALAR_UINT;
	return 0;
}

static int match(struct parser *p, struct node *n)
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
		return unexpected(p, "a regular expression in quotes");
	if (memchr(t->string, 0, t->string_size))
		return lexer_error(&p->lexer, t->column, "a regular expression cannot hold a NUL");
	bad = regcomp(&n->regex, t->string, REG_EXTENDED | REG_NOSUB);
	if (bad) {
		regerror(bad, &n->regex, why, sizeof why);
		return lexer_error(&p->lexer, t->column, "regular expression: %s", why);
	}
	n->has_regex = true;
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
		return unexpected(p, "a number or a string");
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
	if (lexer_next(&p->lexer) || expect(p, TOKEN_OPEN_BRACE, "'{'"))
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
	if (n->ntexts)
		qsort(n->texts, n->ntexts, sizeof *n->texts, by_value);
	return expect(p, TOKEN_CLOSE_BRACE, "',' or '}'");
}

static bool is_word(const struct token *t, const char *word)
{
	return t->kind == TOKEN_NAME && t->size == strlen(word) && !memcmp(t->text, word, t->size);
}

/* Is the name before a '('? */
static bool is_call(const struct parser *p)
{
	const char *after = p->lexer.text + p->lexer.at;

	return after[strspn(after, " \t\r\n")] == '(';
}

static int has(struct parser *p, struct node *n)
{
	n->kind = NODE_HAS;
	if (lexer_next(&p->lexer) || expect(p, TOKEN_OPEN, "'('"))
		return -1;
	if (TOKEN(p)->kind != TOKEN_NAME)
		return unexpected(p, "the name of a field");
	return field(p, &n->left) || expect(p, TOKEN_CLOSE, "')'") ? -1 : 0;
}

static struct node *either(struct parser *p);
static int add_child(struct parser *p, struct node *n, struct node *child);

/* name == "f", of a text that stands alone. */
static struct node *of_name(struct parser *p)
{
	struct node *n = new_node(p, NODE_COMPARE);

	if (!n)
		return NULL;
	n->depends = n->left.depends = DEPENDS_NAME;
	n->left.ask = ASK_NAME;
	n->left.form = KNOWN_TEXT;
	n->left.name = strdup("name");
	n->comparison = COMPARE_EQ;
	if (operand(p, &n->right))
		return failed(n);
	return n->left.name ? n : no_memory(p, n);
}

/* under("f"), over(name =~ "^f" && tid == 1) */
static int around(struct parser *p, struct node *n)
{
	size_t column = TOKEN(p)->column;
	const char *after;
	struct node *child;

	n->kind = TOKEN(p)->size == 5 ? NODE_UNDER : NODE_OVER;
	if (lexer_next(&p->lexer) || expect(p, TOKEN_OPEN, "'('"))
		return -1;
	after = p->lexer.text + p->lexer.at;
	after += strspn(after, " \t\r\n");
	child = TOKEN(p)->kind == TOKEN_STRING && *after == ')' ? of_name(p) : either(p);
	if (add_child(p, n, child) || expect(p, TOKEN_CLOSE, "')'"))
		return -1;
	if (child->depends & (DEPENDS_LATER | DEPENDS_STACK))
		return lexer_error(&p->lexer, column,
				   "%s is asked at the beginning of a call: of its name, thread, "
				   "time or fields",
				   n->kind == NODE_UNDER ? "under()" : "over()");
	/* not the child's: in itself it may ask for the kind */
	n->depends = DEPENDS_ROW | DEPENDS_STACK | (n->kind == NODE_OVER ? DEPENDS_LATER : 0);
	return 0;
}

/* Two values are compared when both are known: that of the enter is gone at the leave. */
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

/* An operand and what is asked of it. after_not: behind a '!' that has no parentheses. */
static int condition(struct parser *p, struct node *n, bool after_not)
{
	struct token *t = TOKEN(p);
	bool relation;

	if (is_word(t, "has") && is_call(p))
		return has(p, n);
	if ((is_word(t, "under") || is_word(t, "over")) && is_call(p))
		return around(p, n);
	if (operand(p, &n->left))
		return -1;
	relation = is_relation(t->kind) || is_word(t, "in");
	if (relation && after_not)
		return lexer_error(&p->lexer, n->left.column,
				   "'!' is for what stands next to it: put the comparison in "
				   "parentheses");
	if (is_word(t, "in"))
		return set(p, n);
	if (t->kind == TOKEN_MATCH || t->kind == TOKEN_NO_MATCH)
		return match(p, n);
	if (comparison_of(t->kind, &n->comparison))
		return compare(p, n);
	n->kind = NODE_TRUTH;
	if (n->left.literal && n->left.form == KNOWN_TEXT)
		return lexer_error(&p->lexer, n->left.column, "a string alone is no condition");
	return 0;
}

static struct node *leaf(struct parser *p, bool after_not)
{
	struct node *n = new_node(p, NODE_TRUTH);

	if (!n)
		return NULL;
	if (condition(p, n, after_not))
		return failed(n);
	if (check_times(p, n))
		return failed(n);
	n->depends |= n->left.depends | n->right.depends;
	if (is_relation(TOKEN(p)->kind) || is_word(TOKEN(p), "in")) {
		lexer_error(&p->lexer, TOKEN(p)->column,
			    "a comparison cannot be compared: join two with '&&'");
		return failed(n);
	}
	return n;
}

/* --- conditions joined --- */

static int add_child(struct parser *p, struct node *n, struct node *child)
{
	struct node **children;

	if (!child)
		return -1;
	children = array_grow(n->children, &n->capacity, n->nchildren, sizeof *children);
	if (!children) {
		expression_free(child);
		return lexer_error(&p->lexer, TOKEN(p)->column, "out of memory");
	}
	n->children = children;
	children[n->nchildren++] = child;
	n->depends |= child->depends;
	return 0;
}

static struct node *group(struct parser *p)
{
	struct node *n;

	if (lexer_next(&p->lexer))
		return NULL;
	n = either(p);
	if (n && expect(p, TOKEN_CLOSE, "')'"))
		return failed(n);
	if (n && (is_relation(TOKEN(p)->kind) || is_word(TOKEN(p), "in"))) {
		lexer_error(&p->lexer, TOKEN(p)->column,
			    "a condition in parentheses cannot be compared");
		return failed(n);
	}
	return n;
}

static struct node *negation(struct parser *p, bool after_not)
{
	struct node *n;

	if (++p->nesting > NESTING) {
		lexer_error(&p->lexer, TOKEN(p)->column, "nested too deeply");
		return NULL;
	}
	if (TOKEN(p)->kind == TOKEN_OPEN) {
		n = group(p);
	} else if (TOKEN(p)->kind != TOKEN_NOT) {
		n = leaf(p, after_not);
	} else {
		n = new_node(p, NODE_NOT);
		if (n && (lexer_next(&p->lexer) || add_child(p, n, negation(p, true))))
			n = failed(n);
	}
	p->nesting--;
	return n;
}

/* What is joined by && or ||, in one node. */
static struct node *joined(struct parser *p, enum node_kind kind, enum token_kind by,
			   struct node *(*part)(struct parser *p))
{
	struct node *first = part(p), *n;

	if (!first || TOKEN(p)->kind != by)
		return first;
	n = new_node(p, kind);
	if (!n)
		return failed(first);
	if (add_child(p, n, first))
		return failed(n);
	while (TOKEN(p)->kind == by)
		if (lexer_next(&p->lexer) || add_child(p, n, part(p)))
			return failed(n);
	return n;
}

static struct node *one(struct parser *p)
{
	return negation(p, false);
}

static struct node *both(struct parser *p)
{
	return joined(p, NODE_AND, TOKEN_AND, one);
}

static struct node *either(struct parser *p)
{
	return joined(p, NODE_OR, TOKEN_OR, both);
}

struct node *expression_parse(const char *text, struct error *e)
{
	struct parser p = {.lexer = {.text = text, .error = e}};
	struct node *n = NULL;

	if (!lexer_next(&p.lexer)) {
		if (TOKEN(&p)->kind == TOKEN_END)
			lexer_error(&p.lexer, TOKEN(&p)->column, "there is no condition in it");
		else
			n = either(&p);
	}
	if (n && TOKEN(&p)->kind != TOKEN_END) {
		unexpected(&p, "'&&', '||' or the end");
		n = failed(n);
	}
	lexer_free(&p.lexer);
	return n;
}
