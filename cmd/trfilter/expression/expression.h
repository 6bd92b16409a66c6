/*
 * expression.h - a condition in words made into a tree
 *
 *     condition  = and { "||" and }
 *     and        = not { "&&" not }
 *     not        = "!" not | "(" condition ")" | "has" "(" field ")"
 *                | ("under" | "over") "(" ( string | condition ) ")"
 *                | operand [ comparison operand | ("=~" | "!~") string | "in" "{" literals "}" ]
 *     operand    = field | "field" "(" string ")" | number | string
 */
#ifndef TRFILTER_EXPRESSION_H
#define TRFILTER_EXPRESSION_H

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
	NODE_TRUTH, /* an operand alone */
	NODE_UNDER, /* a call for which children[0] holds, and what is inside of it */
	NODE_OVER,  /* such a call, and those that lead to it */
};

/* What is noted of an open call: bits of its own, and of under() and over() 64 of each. */
enum { MARKS_LIMIT = 4096, AROUND_LIMIT = 64 };

enum comparison { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE };

struct operand {
	bool literal;
	enum ask ask;	      /* of a field */
	enum known_form form; /* what is known before any event is seen */
	unsigned depends;
	size_t column;
	char *name;	  /* of an event's field, or how the user wrote it; or a literal's text */
	uint64_t index;	  /* ASK_ARGUMENT */
	bool is_argument; /* ASK_FIELD: or an argument of that name (arg.NAME) */
	struct scalar value; /* of a literal */
	bool time_unit;	     /* literal: "1ms"; field: it is compared with one */
	bool spelled;	     /* it may meet a text */

	/* ASK_FIELD: the field by number of the type; 1 past NULL is not asked yet (operand.c) */
	const struct field **fields;
	size_t nfields;
	struct buffer text; /* of a value that holds it in parts */
};

/* What a condition on entries of the dictionary gave, by their number (evaluate.c). */
struct verdict {
	const struct location_symbol *symbol; /* places: that it was asked with */
	uint8_t state;			      /* 0 not asked, 1 false, 2 true */
};

struct verdicts {
	struct verdict *at;
	size_t size;
};

struct node {
	enum node_kind kind;
	unsigned depends;	/* of all below */
	struct node **children; /* OR, AND, NOT; UNDER, OVER: one */
	size_t nchildren, capacity;

	struct operand left, right;
	enum comparison comparison;
	bool quick; /* time or depth against an unsigned number */
	bool negated;
	char *pattern;
	bool has_regex;
	regex_t regex;
	struct scalar *numbers, *texts; /* IN: sorted */
	size_t nnumbers, ntexts;

	struct verdicts by_location, by_type, by_lane, by_stack;

	/* Whole calls: bits for what is noted at the enter (decide.c), or of UNDER and OVER. */
	uint16_t mark, known;
};

/* The tree of a condition, or NULL with e saying where and why not. expression_free it. */
struct node *expression_parse(const char *text, struct error *e);
void expression_free(struct node *n);
/* Does it ask what no row tells by itself: of the calls around it, of what comes after an enter?
 * Arguments are those that stand in the row. */
bool expression_of_calls(const struct node *n);
/* Does it look at arguments, return values or fields of events, and of which? */
enum reads_values expression_reads_values(const struct node *n);

#endif
