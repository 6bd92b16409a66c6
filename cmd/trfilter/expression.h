/*
 * expression.h - the conditions of trfilter: names, fields, operands, and their evaluation
 */
#ifndef TR_TRFILTER_EXPRESSION_H
#define TR_TRFILTER_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "common/expr/declared.h"
#include "common/expr/expression.h"
#include "common/stream/value.h"
#include "common/stream/event.h"
#include "common/util/buffer.h"

enum ask {
	ASK_NAME,
	ASK_TYPE,
	ASK_GROUP,
	ASK_KIND,
	ASK_TIME,
	ASK_DEPTH,
	ASK_TID,
	ASK_PID,
	ASK_PPID,
	ASK_COMM,
	ASK_CPU,
	ASK_MODULE,
	ASK_FILE,
	ASK_LINE,
	ASK_ADDRESS,
	ASK_CLASS,
	ASK_BUFFER,
	ASK_INPUT,
	ASK_FORMAT,
	ASK_RETURN,   /* the return value of a leave, else a field "ret" */
	ASK_ARGUMENT, /* the argument with a number */
	ASK_FIELD,    /* a field of the event */
	ASK_DURATION, /* of a call, as are the next four */
	ASK_SELF,
	ASK_CHILDREN,
	ASK_CALLER,
	ASK_STACK,
};

/* What the value of a condition depends on. */
enum depends {
	DEPENDS_LOCATION = 1,
	DEPENDS_TYPE = 2,
	DEPENDS_LANE = 4,
	DEPENDS_NAME = 8, /* the location if there is one, else the type */
	DEPENDS_ROW = 16, /* other values in the row itself */
	/* values that differ between an enter and its leave: decided at the enter */
	DEPENDS_CALL = 32,
	DEPENDS_KIND = 64,	/* enter or leave: each row is decided by itself */
	DEPENDS_STACK = 128,	/* the calls open around a row */
	DEPENDS_LATER = 256,	/* what is known of a call only after its enter */
	DEPENDS_ARGUMENT = 512, /* with LATER: known at the enter if the enter has the argument */
};

struct plain_name {
	const char *name;
	enum ask ask;
	enum known_form form;
	unsigned depends;
	const char *help;
};

/* Returns all names; the last entry has no name. */
const struct plain_name *names_all(void);

/*
 * The conditions of trfilter: the language of common/expr/expression.h, with the fields of
 * stack_profile.h.
 *
 * node.depends and operand.depends are of enum depends, operand.field of enum ask; operand.data is
 * a struct field_lookup and node.data a struct node_marks.
 */

/* Limits of the marks of an open call: MARKS_LIMIT bits, and AROUND_LIMIT each for under() and
 * over(). */
enum { MARKS_LIMIT = 4096, AROUND_LIMIT = 64 };

/* Where a field is found in events. */
struct field_lookup {
	uint64_t index;	  /* ASK_ARGUMENT */
	bool is_argument; /* ASK_FIELD: also the argument of that name (arg.NAME) */
	/* ASK_FIELD: the field by number of the type; one past NULL: not looked up yet
	 */
	const struct field **fields;
	size_t nfields;
	struct buffer text; /* for a value whose text is assembled from parts */
};

/* The cached result of a condition on an entry of the dictionary, by its number. */
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
	/* Whole calls: bits for notes of the enter (call_filter.c), or of UNDER and OVER. */
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

/* Parse a condition into a tree, to be freed with filter_condition_free. Returns NULL with e
 * filled: column and fault. */
struct node *filter_condition_parse(const char *text, struct error *e);
void filter_condition_free(struct node *n);
/* Test whether the streams read have calls, or no events. */
bool condition_has_calls(const struct dictionary *d);

/* Refuse fields that no event of the streams read has, and warn of names that no event has.
 * all has no functions. Returns 0, or -1 with e filled. */
int filter_condition_check_names(const struct node *n, const struct declared *all, struct error *e);
/* Returns true if some field of the condition is this one. */
bool condition_asks(const struct node *n, enum ask ask);
/* Returns true if the condition needs more than a single row: the calls around it, or what
 * follows an enter. Arguments are those in the row. */
bool condition_of_calls(const struct node *n);
/* Returns which arguments, return values or fields of events the condition reads. */
enum reads_values condition_reads_values(const struct node *n);

/* --- the value of a condition's field for an event --- */

/* What is known of an event's call, or of the calls around an event (call_filter.h). */
struct call_info {
	bool is_call;
	bool ended; /* dur and, with has_self, self are known */
	bool has_self;
	bool has_caller;
	uint64_t dur, self;
	uint32_t children;
	uint32_t caller;      /* location */
	uint32_t node;	      /* node of its stack (call_filter.h); 0: none */
	uint64_t under, over; /* bits by node.mark */
	/* Returns the names of the stack as a text; NULL where stacks are not followed. */
	void (*stack)(void *ctx, const struct event *e, struct scalar *out);
	void *stack_ctx;
};

struct evaluation {
	struct dictionary *dictionary;
	bool quiet;		      /* no messages about missing values */
	bool warned_trsym;	      /* the message about trsym was printed */
	const struct call_info *call; /* NULL: calls are not followed */
	const struct event *event;    /* that a leaf is evaluated for */
};

/* Read the value of a field; *out is SCALAR_NONE before. Texts point into the event, the dictionary
 * or the operand, and are valid as long as these are. */
void operand_value(struct evaluation *ev, struct operand *o, const struct event *e,
		   struct scalar *out);

/* Returns true if the row has the field's argument, whatever its elements are; also true for
 * fields that are not arguments. */
bool operand_given(const struct evaluation *ev, struct operand *o, const struct event *e);

/* --- evaluate a condition for an event --- */

/* Evaluate a condition. Conditions on one entry of the dictionary are cached for each entry. */
bool evaluate(struct evaluation *ev, struct node *n, const struct event *e);

/* Evaluate a comparison with a number on its right, for that value of its left side. */
bool evaluate_number(const struct node *n, uint64_t left);

#endif
