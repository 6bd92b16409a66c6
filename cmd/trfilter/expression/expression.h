/*
 * expression.h - parse the text of a condition into a tree
 *
 *     condition  = and { "||" and }
 *     and        = not { "&&" not }
 *     not        = "!" not | "(" condition ")" | "has" "(" field ")"
 *                | ("under" | "over") "(" ( string | condition ) ")"
 *                | operand [ comparison operand | ("=~" | "!~") string | "in" "{" literals "}" ]
 *     operand    = field | "field" "(" string ")" | number | string
 */
#ifndef TR_TRFILTER_EXPRESSION_EXPRESSION_H
#define TR_TRFILTER_EXPRESSION_EXPRESSION_H

#include "common/stream/bad_values.h"
#include "common/util/buffer.h"
#include <regex.h>

#include "common/util/error.h"
#include "cmd/trfilter/expression/names.h"
#include "common/value/scalar.h"

enum node_kind {
	NODE_OR,
	NODE_AND,
	NODE_NOT,
	NODE_COMPARE,
	NODE_MATCH, /* =~, and !~ with negated */
	NODE_IN,
	NODE_HAS,
	NODE_TRUTH, /* an operand without a comparison */
	NODE_UNDER, /* true within a call for which children[0] is true, and for that call */
	NODE_OVER,  /* true for such a call, and for its callers */
};

/* Limits of the notes on an open call: MARKS_LIMIT bits, and AROUND_LIMIT each for under() and
 * over(). */
enum { MARKS_LIMIT = 4096, AROUND_LIMIT = 64 };

enum comparison { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE };

struct operand {
	bool literal;
	enum ask ask;	      /* kind of a field */
	enum known_form form; /* form as known before any event */
	unsigned depends;
	size_t column;
	/* name of an event's field, or of another field as written; text of a literal */
	char *name;
	uint64_t index;	     /* ASK_ARGUMENT */
	bool is_argument;    /* ASK_FIELD: also the argument of that name (arg.NAME) */
	struct scalar value; /* of a literal */
	bool time_unit;	     /* literal: "1ms"; field: compared with such a literal */
	bool spelled;	     /* the value may be compared with a text */

	/* ASK_FIELD: the field by number of the type; one past NULL: not looked up yet
	 * (operand.c) */
	const struct field **fields;
	size_t nfields;
	struct buffer text; /* for a value whose text is assembled from parts */
};

/* The cached result of a condition on an entry of the dictionary, by its number (evaluate.c). */
struct verdict {
	const struct location_symbol *symbol; /* locations: the symbol at that time */
	uint8_t state;			      /* 0 unknown, 1 false, 2 true */
};

struct verdicts {
	struct verdict *at;
	size_t size;
};

struct node {
	enum node_kind kind;
	unsigned depends;	/* flags of the whole subtree */
	struct node **children; /* operands of OR, AND, NOT; one for UNDER, OVER */
	size_t nchildren, capacity;

	struct operand left, right;
	enum comparison comparison;
	bool quick; /* time or depth is compared with an unsigned number */
	bool negated;
	char *pattern;
	bool has_regex;
	regex_t regex;
	struct scalar *numbers, *texts; /* IN: sorted */
	size_t nnumbers, ntexts;

	struct verdicts by_location, by_type, by_lane, by_stack;

	/* Whole calls: bits for notes of the enter (decide.c), or of UNDER and OVER. */
	uint16_t mark, known;
};

/* Parse a condition into a tree, to be freed with expression_free. Returns NULL with e filled:
 * column and fault. */
struct node *expression_parse(const char *text, struct error *e);
void expression_free(struct node *n);
/* Returns true if the condition needs more than a single row: the calls around it, or what
 * follows an enter. Arguments are those in the row. */
bool expression_of_calls(const struct node *n);
/* Returns which arguments, return values or fields of events the condition reads. */
enum reads_values expression_reads_values(const struct node *n);

#endif
