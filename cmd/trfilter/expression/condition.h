/*
 * condition.h - trfilter's conditions: the language of common/expr/expression.h, with the fields of
 * names.h
 *
 * node.depends and operand.depends are of enum depends, operand.field of enum ask; operand.data is
 * a struct field_lookup and node.data a struct node_marks.
 */
#ifndef TR_TRFILTER_EXPRESSION_CONDITION_H
#define TR_TRFILTER_EXPRESSION_CONDITION_H

#include "common/expr/declared.h"
#include "common/stream/bad_values.h"
#include "common/util/buffer.h"
#include "cmd/trfilter/expression/names.h"

/* Limits of the marks of an open call: MARKS_LIMIT bits, and AROUND_LIMIT each for under() and
 * over(). */
enum { MARKS_LIMIT = 4096, AROUND_LIMIT = 64 };

/* Where a field is found in events. */
struct field_lookup {
	uint64_t index;	  /* ASK_ARGUMENT */
	bool is_argument; /* ASK_FIELD: also the argument of that name (arg.NAME) */
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

/* What is noted of a node when it is evaluated. */
struct node_marks {
	bool quick; /* time or depth is compared with an unsigned number */
	struct verdicts by_location, by_type, by_lane, by_stack;
	/* Whole calls: bits for notes of the enter (decide.c), or of UNDER and OVER. */
	uint16_t mark, known;
};

static inline struct node_marks *node_marks(const struct node *n)
{
	return n->data;
}

/* Returns true if the operand is that field. */
static inline bool operand_asks(const struct operand *o, enum ask ask)
{
	return operand_field(o) && o->field == ask;
}

/* Parse a condition into a tree, to be freed with condition_free. Returns NULL with e filled:
 * column and fault. */
struct node *condition_parse(const char *text, struct error *e);
void condition_free(struct node *n);
/* Test whether the streams read have calls, or no events. */
bool condition_has_calls(const struct dictionary *d);

/* Refuse fields that no event of the streams read has, and warn of names that no event has.
 * all has no functions. Returns 0, or -1 with e filled. */
int condition_check_names(const struct node *n, const struct declared *all, struct error *e);
/* Returns true if some field of the condition is this one. */
bool condition_asks(const struct node *n, enum ask ask);
/* Returns true if the condition needs more than a single row: the calls around it, or what
 * follows an enter. Arguments are those in the row. */
bool condition_of_calls(const struct node *n);
/* Returns which arguments, return values or fields of events the condition reads. */
enum reads_values condition_reads_values(const struct node *n);

/* The language, for condition.c (condition_fields.c). */
int condition_field(void *ctx, struct lexer *l, struct operand *o, bool quoted);
void condition_free_field(void *data);

#endif
