/*
 * expression.h - the condition language: from a text to a tree
 *
 *     condition = and { "||" and }
 *     and       = binary { "&&" binary }
 *     binary    = unary { operator unary }, from the loosest operator to the tightest:
 *                     |   ^   &   relation   << >>   + -   * / %
 *     relation  = binary comparison binary | binary ( "=~" | "!~" ) string
 *               | binary "in" "{" literals "}"
 *     unary     = ( "!" | "-" | "~" ) unary | "(" condition ")" | "has" "(" field ")"
 *               | ( "under" | "over" ) "(" ( string | condition ) ")"
 *               | field | "field" "(" string ")" | number | string
 *
 * The precedence is that of C. A condition is not a number: a comparison that is an operand of an
 * operator other than "!", "&&" and "||" is refused, as is one next to & ^ | without parentheses.
 *
 * Which fields there are, and what is known of them, is the program's matter (struct language).
 */
#ifndef TR_EXPR_EXPRESSION_H
#define TR_EXPR_EXPRESSION_H

#include <regex.h>

#include "common/util/error.h"
#include "common/value/scalar.h"

/*
 * The operators of conditions that make a number of two.
 *
 * A value that is not a number, a division by zero and a negative shift give no value. The results
 * of + - * and << on integers are exact where they fit into 64 bits, signed or unsigned; otherwise
 * they wrap. The results of & | and ^ are unsigned if one side is. A shift by 64 and more shifts
 * all bits out. Real numbers are calculated as doubles, and only by + - * and /. A division is one
 * of real numbers also if one side is an integer that is written with a point or an exponent.
 */

enum arithmetic {
	ARITHMETIC_OR,
	ARITHMETIC_XOR,
	ARITHMETIC_AND,
	ARITHMETIC_LEFT,
	ARITHMETIC_RIGHT,
	ARITHMETIC_ADD,
	ARITHMETIC_SUBTRACT,
	ARITHMETIC_MULTIPLY,
	ARITHMETIC_DIVIDE,
	ARITHMETIC_REMAINDER,
};

/* Get the operator as it is written. */
const char *arithmetic_sign(enum arithmetic how);

struct scalar arithmetic(enum arithmetic how, const struct scalar *a, const struct scalar *b);

/* --- the tokens of a condition (trfilter, trstat) --- */

enum token_kind {
	TOKEN_END,
	TOKEN_NUMBER,
	TOKEN_STRING,
	TOKEN_NAME,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_OPEN_BRACE,
	TOKEN_CLOSE_BRACE,
	TOKEN_COMMA,
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_NOT,
	TOKEN_EQ,
	TOKEN_NE,
	TOKEN_LT,
	TOKEN_LE,
	TOKEN_GT,
	TOKEN_GE,
	TOKEN_MATCH,
	TOKEN_NO_MATCH,
	TOKEN_BIT_AND,
	TOKEN_BIT_OR,
	TOKEN_BIT_XOR,
	TOKEN_COMPLEMENT,
	TOKEN_LEFT,
	TOKEN_RIGHT,
	TOKEN_PLUS,
	TOKEN_MINUS,
	TOKEN_TIMES,
	TOKEN_DIVIDE,
	TOKEN_REMAINDER,
};

struct token {
	enum token_kind kind;
	size_t column;	  /* from 1; in texts of several lines with the line, see COLUMN_LINE */
	const char *text; /* as written */
	size_t size;
	struct scalar value; /* NUMBER */
	bool time_unit;	     /* NUMBER */
	bool percent;	     /* NUMBER: written with a "%" that is no operator */
	struct scalar
		seconds; /* NUMBER with a point and without a unit: in ns, if it is of seconds */
	bool has_seconds;
	char *string; /* STRING: its bytes, then NUL; a caller that takes it sets it to NULL */
	size_t string_size;
};

/* The line of a column is above these bits, 0 if the text has only one. */
enum { COLUMN_LINE = 32 };

struct buffer;

struct lexer {
	const char *text;
	const char *file; /* that has the text; NULL: the command line has it */
	size_t at;
	size_t line, line_start; /* of the token; as in a column, and the offset of its start */
	size_t counted;		 /* offset up to which lines are counted */
	struct token token;
	struct error *error;
};

/* Get the text of an expression: the argument, or for "@FILE" what the file contains, with blanks
 * in place of comments, which begin with "#". The text is valid until the program ends. NULL: e is
 * filled. */
const char *expression_text(const char *argument, struct error *e);

/* Begin to read the text of an argument, see expression_text. Returns -1 with *e filled. */
int lexer_begin(struct lexer *l, const char *argument, struct error *e);

/* Read the next token into the lexer. A '-' before digits belongs to the number, except after an
 * operand. Returns -1 if there is no valid token, or when out of
 * memory. */
int lexer_next(struct lexer *l);
void lexer_free(struct lexer *l);
/* Append bytes as a string of an expression, what is no printable UTF-8 as escapes. Returns -1 when
 * out of memory. */
int expression_put_string(struct buffer *b, const char *p, size_t n);

/* Test that a condition ends at the token. Returns -1 with l->error set if it does not. */
int lexer_end(struct lexer *l);

/* Set l->error to "column N: ..."; returns -1. */
int lexer_error(struct lexer *l, size_t column, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Limit of parentheses and operators inside each other */
enum { EXPRESSION_NESTING = 200 };

enum known_form { KNOWN_NOTHING, KNOWN_TEXT, KNOWN_NUMBER };

enum operand_kind { OPERAND_LITERAL, OPERAND_FIELD, OPERAND_ARITHMETIC };

struct operand {
	enum operand_kind kind;
	enum known_form form; /* form of its values, as far as parsing knows */
	size_t column;
	char *name;	       /* FIELD: as written; LITERAL: the text of value */
	struct scalar value;   /* LITERAL */
	struct scalar seconds; /* LITERAL: token.seconds */
	bool has_seconds;
	bool time_unit; /* LITERAL: "1ms" */
	/* the value is a time: beside it a number needs a unit, or is of seconds, see
	 * parser_beside_time */
	bool of_time;
	bool plain_time; /* LITERAL: such a number without a unit, or in a product of numbers */
	bool percent; /* LITERAL: "10%", whose value is 10; FIELD: compared with such a literal */

	/* FIELD: */
	bool spelled; /* the value may be compared with a text */
	bool word;    /* the name is a word: it may be what a number is called */
	/* the names among which the word was looked for last, and whether it is one of them */
	const struct definition *names;
	bool is_name;
	unsigned field;	  /* the program's number of it */
	unsigned depends; /* the program's flags */
	/* the only texts that the field can have, up to NULL, which need no quotes; NULL: any text
	 */
	const char *const *words;
	bool may_be_time; /* the unit of its numbers is not known; so with form KNOWN_NOTHING */
	bool of_percent; /* the field has a percentage, which a literal with "%" is compared with */
	void *data;	 /* the program's */

	/* ARITHMETIC: */
	enum arithmetic arithmetic;
	struct operand *left, *right;
	unsigned height;
};

enum node_kind {
	NODE_OR,
	NODE_AND,
	NODE_NOT,
	NODE_COMPARE,
	NODE_MATCH, /* =~, and !~ with negated */
	NODE_IN,
	NODE_HAS,
	NODE_TRUTH, /* an operand without a relation */
	NODE_UNDER, /* true within a call for which children[0] is true, and for that call */
	NODE_OVER,  /* true for such a call, and for its callers */
};

enum comparison { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE };

/* A condition. Those with children are OR, AND, NOT, UNDER and OVER; the others are leaves. */
struct node {
	enum node_kind kind;
	unsigned depends; /* flags of all fields of the subtree; the program may change them */
	bool time_unit;	  /* a literal of the subtree is a time with a unit */
	/* of a leaf: the first number beside a time that lacks a unit; column 0: none */
	struct {
		size_t column;
		struct scalar value;
	} plain_time;
	struct node **children;
	size_t nchildren, capacity;

	struct operand *left, *right; /* right: of a comparison, else NULL */
	struct operand **fields;      /* all fields in left and right */
	size_t nfields;
	enum comparison comparison;
	bool negated;
	char *pattern;
	bool has_regex;
	regex_t regex;
	struct scalar *numbers, *texts; /* IN: sorted */
	size_t nnumbers, ntexts;
	void *data; /* the program's */
};

/* The program's part of the language. Functions return -1 with l->error set. */
struct language {
	/* Resolve the field o->name, whose token precedes the lexer's: set field, form, depends,
	 * words, of_time, may_be_time, of_percent, data. quoted: it is written field("..."). */
	int (*field)(void *ctx, struct lexer *l, struct operand *o, bool quoted);
	/* Check a new leaf, or under() and over(); NULL: nothing to check. */
	int (*leaf)(struct lexer *l, struct node *n, size_t column);
	/* Free operand.data and node.data, which may be NULL; or NULL */
	void (*free_field)(void *data);
	void (*free_node)(void *data);
	const char *no_calls; /* why under() and over() are refused; NULL: they are not */
	void *ctx;
};

/* The words of a field that is the kind of an event. A call is an enter and a leave. */
extern const char *const expression_kinds[];

/* Parse a whole text, or "@FILE". Returns the tree, to be freed with expression_free, or NULL with
 * e filled. */
struct node *expression_parse(const char *text, const struct language *language, struct error *e);
/* Parse a condition from the lexer's token on, up to one that does not continue it. */
struct node *expression_parse_part(struct lexer *l, const struct language *language);
void expression_free(struct node *n, const struct language *language);

/* Test whether a field that the language made a time is one in this trace. */
typedef bool expression_is_time(const void *ctx, unsigned field);

/* Refuse a condition that compares times of a clock with numbers of another kind. With ticks: those
 * in a unit of time, as the clock counts ticks. Without: those without a unit, as the clock counts
 * ns, so 81 may mean 81ns or 81s. option: what has the condition, or "expression". is_time: NULL if
 * all times of the language are times. Returns 0, or -1 with e filled. */
int expression_check_clock(const struct node *n, const char *option, bool ticks,
			   expression_is_time *is_time, const void *ctx, struct error *e);

/* Match a text, which may contain NULs, with a regular expression. */
bool expression_matches(const regex_t *regex, const char *text, size_t size);

/* Get the operand's field where it is one, else NULL. */
static inline const struct operand *operand_field(const struct operand *o)
{
	return o && o->kind == OPERAND_FIELD ? o : NULL;
}

static inline bool operand_literal(const struct operand *o)
{
	return o && o->kind == OPERAND_LITERAL;
}

/* Returns true for a leaf that compares with a text by == or in. */
static inline bool node_equals_text(const struct node *n)
{
	const struct operand *text = operand_literal(n->left) ? n->left : n->right;

	return (n->kind == NODE_IN && n->ntexts) ||
	       (n->kind == NODE_COMPARE && n->comparison == COMPARE_EQ && operand_literal(text) &&
		text->value.form == SCALAR_TEXT);
}

/* --- evaluate a condition from the values of its fields --- */

/* How a program gives the values of fields, which are valid until the condition is evaluated. */
struct expression_values {
	/* Set the value of a field, which is SCALAR_NONE before. */
	void (*field)(void *ctx, struct operand *field, struct scalar *out);
	/* Make a number of a text that spells one, to compare it with a number or to calculate;
	 * NULL: a text is not a number */
	void (*number)(struct scalar *s);
	void *ctx;
};

/* Evaluate an operand; SCALAR_NONE: it has no value. */
void expression_value(const struct expression_values *v, struct operand *o, struct scalar *out);

/* Evaluate a leaf. */
bool expression_leaf(const struct expression_values *v, const struct node *n);

/* Evaluate a condition without under() and over(). */
bool expression_holds(const struct expression_values *v, struct node *n);

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_LATER };

static inline enum answer answer_not(enum answer a)
{
	return a == ANSWER_LATER ? a : a == ANSWER_NO ? ANSWER_YES : ANSWER_NO;
}

/* Returns true for a condition made of others by !, && or ||. */
static inline bool expression_joined(const struct node *n)
{
	return n->kind == NODE_AND || n->kind == NODE_OR || n->kind == NODE_NOT;
}

/* Answer a joined condition from the answers of its children, up to one that decides it. In line,
 * since conditions are evaluated for each event. */
static inline enum answer
expression_join(const struct node *n, enum answer (*child)(void *ctx, struct node *n), void *ctx)
{
	enum answer neutral = n->kind == NODE_AND ? ANSWER_YES : ANSWER_NO, all = neutral;

	if (n->kind == NODE_NOT)
		return answer_not(child(ctx, n->children[0]));
	for (size_t i = 0; i < n->nchildren; i++) {
		enum answer a = child(ctx, n->children[i]);

		if (a == ANSWER_LATER)
			all = ANSWER_LATER;
		else if (a != neutral)
			return a;
	}
	return all;
}

/* Get the result of a comparison of two values in that order. */
static inline bool comparison_holds(enum comparison c, enum scalar_order o)
{
	static const uint8_t orders[] = {
		[COMPARE_EQ] = 1 << ORDER_EQUAL,
		[COMPARE_NE] = 1 << ORDER_UNORDERED | 1 << ORDER_LESS | 1 << ORDER_GREATER,
		[COMPARE_LT] = 1 << ORDER_LESS,
		[COMPARE_LE] = 1 << ORDER_LESS | 1 << ORDER_EQUAL,
		[COMPARE_GT] = 1 << ORDER_GREATER,
		[COMPARE_GE] = 1 << ORDER_GREATER | 1 << ORDER_EQUAL,
	};

	return orders[c] >> o & 1;
}

#endif
