/* parser_leaf.c - parse a single condition: comparisons, sets, has(), under(), over() */
#include "common/expr/parser_private.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/util/pattern.h"
#include "common/value/nearest.h"

/* As pattern.h counts; regcomp() takes at most some 40 MB for it. */
enum { PATTERN_MOST = 10000 };

const char *const expression_kinds[] = {"call",	   "enter",  "leave", "instant",
					"counter", "sample", "gap",   NULL};

/* Refuse a text, or a pattern, without a word of the field. what: the text. */
static int refuse_text(struct parser *p, const char *const *words, const char *what, size_t size,
		       size_t column)
{
	struct buffer list = {0};
	struct nearest nearest;

	nearest_begin(&nearest, what, size);
	for (const char *const *w = words; *w; w++) {
		const char *word = **w ? *w : "\"\"", *before = w == words ? ""
								: w[1]	   ? ", "
									   : " or ";

		nearest_offer(&nearest, *w, strlen(*w));
		buffer_append(&list, before, strlen(before));
		buffer_append(&list, word, strlen(word));
	}
	lexer_error(p->lexer, column, "%.*s expected, not '%.*s'%s", (int)list.size,
		    list.data ? (const char *)list.data : "", size < 60 ? (int)size : 60, what,
		    nearest_hint(&nearest));
	buffer_free(&list);
	return -1;
}

/* Refuse a text that is not a word of the field. */
static int check_word(struct parser *p, const struct operand *field, const char *text, size_t size,
		      size_t column)
{
	if (!operand_field(field) || !field->words)
		return 0;
	for (const char *const *w = field->words; *w; w++)
		if (strlen(*w) == size && !memcmp(*w, text, size))
			return 0;
	return refuse_text(p, field->words, text, size, column);
}

/* Refuse a pattern that matches no word of the field. */
static int check_pattern(struct parser *p, const struct node *n, size_t column)
{
	if (!operand_field(n->left) || !n->left->words)
		return 0;
	for (const char *const *w = n->left->words; *w; w++)
		if (expression_matches(&n->regex, *w, strlen(*w)))
			return 0;
	return refuse_text(p, n->left->words, n->pattern, strlen(n->pattern), column);
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

bool parser_at_relation(const struct parser *p)
{
	enum comparison c;
	enum token_kind token = TOKEN(p)->kind;

	return comparison_of(token, &c) || token == TOKEN_MATCH || token == TOKEN_NO_MATCH ||
	       parser_at_word(p, "in");
}

/* Parse a word of a field, which after 'kind ==' needs no quotes. */
static struct operand *parse_word(struct parser *p)
{
	struct token *t = TOKEN(p);
	struct operand *o;

	o = parser_operand_new(p, OPERAND_LITERAL);
	if (!o)
		return NULL;
	o->form = KNOWN_TEXT;
	o->name = strndup(t->text, t->size);
	o->value = (struct scalar){.form = SCALAR_TEXT, .text = o->name, .size = t->size};
	if (!o->name)
		parser_no_memory(p);
	if (o->name && !lexer_next(p->lexer))
		return o;
	operand_free(o, p->language);
	return NULL;
}

static struct operand *parse_right(struct parser *p, const struct operand *left)
{
	struct term t;

	if (operand_field(left) && left->words && TOKEN(p)->kind == TOKEN_NAME)
		return parse_word(p);
	if (parser_value(p, &t))
		return NULL;
	if (!t.condition)
		return t.value;
	lexer_error(p->lexer, t.column, "a condition cannot be compared");
	parser_drop(p, &t);
	return NULL;
}

static const char *form_name(enum known_form f)
{
	return f == KNOWN_TEXT ? "a text" : "a number";
}

static int check_forms(struct parser *p, const struct operand *o, enum known_form other)
{
	if (o->form == KNOWN_NOTHING || other == KNOWN_NOTHING || o->form == other)
		return 0;
	return lexer_error(p->lexer, o->column, "%s cannot be compared with %s", form_name(o->form),
			   form_name(other));
}

/* A result that is not negative is unsigned, as a number that is written is. */
static void settle_literal(struct operand *o)
{
	if (operand_literal(o) && o->value.form == SCALAR_INT && o->value.i >= 0)
		o->value.form = SCALAR_UINT;
}

/* Note in a field that it is compared with a percentage. */
static int take_percent(struct parser *p, struct operand *field, const struct operand *literal)
{
	if (!literal->percent || literal->kind != OPERAND_LITERAL)
		return 0;
	if (!operand_field(field) || !field->of_percent)
		return lexer_error(p->lexer, literal->column,
				   "a percentage can be compared with columns of trstat such as "
				   "util and, with --diff, p99_change");
	field->percent = true;
	return 0;
}

/* Refuse a text that a field is compared with, unless it is a word of the field. */
static int check_words(struct parser *p, const struct operand *field, const struct operand *literal)
{
	if (!operand_literal(literal) || literal->value.form != SCALAR_TEXT)
		return 0;
	return check_word(p, field, literal->value.text, literal->value.size, literal->column);
}

static int parse_comparison(struct parser *p, struct node *n)
{
	n->kind = NODE_COMPARE;
	if (lexer_next(p->lexer))
		return -1;
	n->right = parse_right(p, n->left);
	if (!n->right || check_forms(p, n->left, n->right->form))
		return -1;
	if (take_percent(p, n->left, n->right) || take_percent(p, n->right, n->left))
		return -1;
	if (check_words(p, n->left, n->right) || check_words(p, n->right, n->left))
		return -1;
	if (parser_beside_time(p, n->left, n->right) || parser_beside_time(p, n->right, n->left))
		return -1;
	settle_literal(n->left);
	settle_literal(n->right);
	n->left->spelled = !operand_literal(n->right) || n->right->form == KNOWN_TEXT;
	n->right->spelled = !operand_literal(n->left) || n->left->form == KNOWN_TEXT;
	return 0;
}

/* Refuse a regular expression that regcomp() has refused. */
static int bad_pattern(struct parser *p, const struct token *t, int code, const regex_t *regex)
{
	const char *bracket = memchr(t->string, '[', t->string_size), *why = NULL;
	char other[200];

	/* glibc's texts are about basic regular expressions, and it has none for "[" */
	if (code == REG_EBRACK || (code == REG_BADPAT && bracket))
		why = "a '[' is not closed; the character is \\[";
	else if (code == REG_EPAREN)
		why = "a '(' is not closed, or a ')' closes none; the characters are \\( and \\)";
	else if (code == REG_EBRACE)
		why = "a '{' is not closed; the character is \\{";
	else if (code == REG_BADRPT)
		why = "'*', '+', '?' or '{' repeats nothing; the characters are \\*, \\+, \\? and "
		      "\\{";
	else if (code == REG_BADBR)
		why = "a '{' is not followed by a number of repetitions such as {2} or {1,3}";
	else
		regerror(code, regex, other, sizeof other);
	return lexer_error(p->lexer, t->column, "regular expression '%.*s': %s",
			   t->string_size < 60 ? (int)t->string_size : 60, t->string,
			   why ? why : other);
}

static int parse_match(struct parser *p, struct node *n)
{
	struct token *t = TOKEN(p);
	int bad;

	n->kind = NODE_MATCH;
	n->negated = t->kind == TOKEN_NO_MATCH;
	if (n->left->form == KNOWN_NUMBER)
		return lexer_error(p->lexer, n->left->column,
				   "a number cannot be matched with a pattern: compare it");
	if (lexer_next(p->lexer))
		return -1;
	if (t->kind != TOKEN_STRING)
		return parser_unexpected(p, "a regular expression in quotes");
	if (memchr(t->string, 0, t->string_size))
		return lexer_error(p->lexer, t->column,
				   "a regular expression cannot contain a NUL");
	if (!pattern_is_small(t->string, PATTERN_MOST))
		return lexer_error(p->lexer, t->column,
				   "regular expression '%.60s': its repetitions and alternatives "
				   "make more than %d characters",
				   t->string, PATTERN_MOST);
	bad = regcomp(&n->regex, t->string, REG_EXTENDED | REG_NOSUB);
	if (bad)
		return bad_pattern(p, t, bad, &n->regex);
	n->has_regex = n->left->spelled = true;
	n->pattern = t->string;
	t->string = NULL;
	return check_pattern(p, n, t->column) ? -1 : lexer_next(p->lexer);
}

/* Note the unit of a constant in its leaf. */
static void note_literal(struct node *n, const struct operand *o)
{
	n->time_unit |= o->time_unit;
	if (!o->plain_time || n->plain_time.column)
		return;
	n->plain_time.column = o->column;
	n->plain_time.value = o->value;
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

	if (t->kind != TOKEN_NUMBER && t->kind != TOKEN_STRING && t->kind != TOKEN_NAME)
		return parser_unexpected(p, "a number or a string");
	if (check_forms(p, n->left, text ? KNOWN_TEXT : KNOWN_NUMBER))
		return -1;
	if (text && check_word(p, n->left, t->string ? t->string : t->text,
			       t->string ? t->string_size : t->size, t->column))
		return -1;
	if (ARRAY_GROW(*set, capacity[text], *count))
		return lexer_error(p->lexer, t->column, "out of memory");
	grown = *set;
	if (t->kind == TOKEN_NUMBER) {
		struct operand member = {.kind = OPERAND_LITERAL, .column = t->column};

		parser_take_number(&member, t);
		if (parser_beside_time(p, n->left, &member))
			return -1;
		v = member.value;
		note_literal(n, &member);
	} else if (t->kind == TOKEN_STRING) {
		v.text = t->string;
		v.size = t->string_size;
		t->string = NULL;
	} else {
		v.text = strndup(t->text, t->size);
		if (!v.text)
			return lexer_error(p->lexer, t->column, "out of memory");
	}
	grown[(*count)++] = v;
	return lexer_next(p->lexer);
}

static int parse_set(struct parser *p, struct node *n)
{
	size_t capacity[2] = {0, 0};

	n->kind = NODE_IN;
	if (lexer_next(p->lexer) || parser_expect(p, TOKEN_OPEN_BRACE, "'{'"))
		return -1;
	for (;;) {
		if (add_member(p, n, capacity))
			return -1;
		if (TOKEN(p)->kind != TOKEN_COMMA)
			break;
		if (lexer_next(p->lexer))
			return -1;
	}
	if (n->nnumbers)
		qsort(n->numbers, n->nnumbers, sizeof *n->numbers, by_value);
	n->left->spelled = n->ntexts > 0;
	if (n->ntexts)
		qsort(n->texts, n->ntexts, sizeof *n->texts, by_value);
	return parser_expect(p, TOKEN_CLOSE_BRACE, "',' or '}'");
}

/* Note the fields of an operand in its leaf, or only count them. */
static void collect_fields(struct node *n, struct operand *o, bool note)
{
	if (o && o->kind == OPERAND_ARITHMETIC) {
		collect_fields(n, o->left, note);
		collect_fields(n, o->right, note);
	} else if (o && o->kind == OPERAND_LITERAL) {
		note_literal(n, o);
	} else if (o) {
		if (note)
			n->fields[n->nfields] = o;
		n->nfields++;
	}
}

/* Finish a leaf, which begins at that column. Returns NULL on an error. */
static struct node *finish_leaf(struct parser *p, struct node *n, size_t column)
{
	for (int note = 0; note < 2; note++) {
		n->nfields = 0;
		collect_fields(n, n->left, note);
		collect_fields(n, n->right, note);
		if (!note && n->nfields) {
			n->fields = calloc(n->nfields, sizeof(struct operand *));
			if (!n->fields) {
				parser_no_memory(p);
				return parser_failed(p, n);
			}
		}
	}
	for (size_t i = 0; i < n->nfields; i++)
		n->depends |= n->fields[i]->depends;
	if (p->language->leaf && p->language->leaf(p->lexer, n, column))
		return parser_failed(p, n);
	return n;
}

struct node *parser_relation(struct parser *p, struct operand *left)
{
	struct node *n = parser_node(p, NODE_COMPARE);
	int bad;

	if (!n) {
		operand_free(left, p->language);
		return NULL;
	}
	n->left = left;
	if (parser_at_word(p, "in"))
		bad = parse_set(p, n);
	else if (comparison_of(TOKEN(p)->kind, &n->comparison))
		bad = parse_comparison(p, n);
	else
		bad = parse_match(p, n);
	return bad ? parser_failed(p, n) : finish_leaf(p, n, left->column);
}

struct node *parser_condition(struct parser *p, struct term *t)
{
	struct node *n = t->condition;

	t->condition = NULL;
	if (n)
		return n;
	if (operand_literal(t->value) && t->value->form == KNOWN_TEXT)
		lexer_error(p->lexer, t->value->column, "a string alone is not a condition");
	else
		n = parser_node(p, NODE_TRUTH);
	if (!n) {
		parser_drop(p, t);
		return NULL;
	}
	n->left = t->value;
	t->value = NULL;
	return finish_leaf(p, n, t->column);
}

static int parse_has(struct parser *p, struct node *n)
{
	if (lexer_next(p->lexer) || parser_expect(p, TOKEN_OPEN, "'('"))
		return -1;
	n->left = parser_field(p);
	return n->left ? parser_expect(p, TOKEN_CLOSE, "')'") : -1;
}

/* Returns the node of name == "f", for a text alone. */
static struct node *parse_name(struct parser *p)
{
	struct node *n = parser_node(p, NODE_COMPARE);

	if (!n)
		return NULL;
	n->comparison = COMPARE_EQ;
	n->left = parser_operand_new(p, OPERAND_FIELD);
	if (n->left)
		n->left->name = strdup("name");
	if (n->left && !n->left->name)
		parser_no_memory(p);
	if (!n->left || !n->left->name ||
	    p->language->field(p->language->ctx, p->lexer, n->left, false))
		return parser_failed(p, n);
	n->right = parser_operand(p);
	return n->right ? finish_leaf(p, n, n->left->column) : parser_failed(p, n);
}

/* Parse under("f"), over(name =~ "^f" && tid == 1). */
static int parse_around(struct parser *p, struct node *n)
{
	struct term t = {0};
	const char *after;

	if (p->language->no_calls)
		return lexer_error(p->lexer, TOKEN(p)->column, "%s", p->language->no_calls);
	if (lexer_next(p->lexer) || parser_expect(p, TOKEN_OPEN, "'('"))
		return -1;
	after = p->lexer->text + p->lexer->at;
	after += strspn(after, " \t\r\n");
	if (TOKEN(p)->kind == TOKEN_STRING && *after == ')')
		t.condition = parse_name(p);
	else if (parser_either(p, &t))
		return -1;
	else
		t.condition = parser_condition(p, &t);
	return parser_add(p, n, t.condition) || parser_expect(p, TOKEN_CLOSE, "')'") ? -1 : 0;
}

int parser_function(struct parser *p, struct node **n)
{
	size_t column = TOKEN(p)->column;
	int bad;

	if (!parser_at_call(p))
		return 0;
	if (parser_at_word(p, "has"))
		*n = parser_node(p, NODE_HAS);
	else if (parser_at_word(p, "under"))
		*n = parser_node(p, NODE_UNDER);
	else if (parser_at_word(p, "over"))
		*n = parser_node(p, NODE_OVER);
	else
		return 0;
	if (!*n)
		return -1;
	bad = (*n)->kind == NODE_HAS ? parse_has(p, *n) : parse_around(p, *n);
	*n = bad ? parser_failed(p, *n) : finish_leaf(p, *n, column);
	return *n ? 0 : -1;
}
