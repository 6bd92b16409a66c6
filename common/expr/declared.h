/*
 * declared.h - checks at the end of a stream that the stream declared the fields, names and types
 * of events that the user named
 */
#ifndef TR_EXPR_DECLARED_H
#define TR_EXPR_DECLARED_H

#include "common/expr/expression.h"
#include "common/stream/dictionary.h"
#include "common/util/buffer.h"
#include "common/util/intern.h"
#include "common/value/scalar.h"

/* What an operand of a condition is. */
enum declared_kind {
	DECLARED_OTHER,
	DECLARED_NUMBER, /* of events that need no field for it; some may have such a field */
	DECLARED_FIELD,	 /* a field of events */
	DECLARED_CALL,	 /* a field of calls, of which the stream has none */
	DECLARED_KIND,	 /* the kind of events */
	DECLARED_TIMES,	 /* a time of calls, a weight of samples, or a field of that name */
	DECLARED_DEPTH,
	DECLARED_STACK,
	DECLARED_SYMKIND,
	/* names, of which those that do not occur are warned of: */
	DECLARED_NAME,	/* of events: a function's, else the type's */
	DECLARED_TYPE,	/* of their type */
	DECLARED_GROUP, /* of the group of their type */
	DECLARED_CALLER,
	DECLARED_COMM,
	DECLARED_MODULE,
	DECLARED_FILE,
	DECLARED_CLASS,
	DECLARED_BUFFER,
	DECLARED_INPUT,
	DECLARED_FORMAT,
	/* numbers, of which those that do not occur are warned of: */
	DECLARED_TID,
	DECLARED_PID,
};

/* What the checks need to know. */
struct declared {
	struct dictionary *dictionary;
	/* Offer the names that need no declaration, for suggestions; NULL: there are none. */
	void (*offer)(struct nearest *nearest);
	const char *own;       /* a field that the program adds to events; NULL: none */
	struct intern *warned; /* warnings that were printed; each is printed once */
	const char *file;      /* the input, for messages; may be NULL */
	bool partial;	       /* declarations may be missing, as the input is damaged: only warn */
	bool quiet;	       /* no warnings */
	/* NULL, or an error (what: "") for the first thing that the trace lacks, although a
	 * condition needs it: a name that is compared, a field, or calls (declared_need). Then the
	 * condition is an alarm that can never be true. */
	struct error *absent;
	bool excluded; /* the condition excludes names, which may be absent */
	/* reading ended before the end of the input, so names may follow. Types and their fields
	 * are declared before the first event, but names in values are not. */
	bool early;
	/* Returns what an operand is. *name of a FIELD or CALL is valid until the next call. For
	 * declared_condition. */
	enum declared_kind (*kind)(void *ctx, const struct operand *o, const char **name);
	void *ctx;
	bool chosen; /* the condition chooses events otherwise: only warn, but not of a word */
};

/* Returns true if a type has a field of that name, or arguments or structs have a member of the
 * name of the path's first part; also if the stream has declared no event. name may begin with
 * "arg." */
bool declared_has(const struct dictionary *d, const char *name);

/*
 * Refuse a name that no declaration has. word: the name is an operand of a comparison, so it may be
 * a text without quotes. Returns 0, or -1 with e filled. The fault is only a warning, and 0 is
 * returned, in these cases: the source declares no fields (Trace Event JSON); calls may have the
 * name without a declaration, as ret; partial is set; chosen is set and word is not; or only types
 * without events have the field, and the name is another program's name for a field of this
 * program.
 */
int declared_field(const struct declared *k, const char *name, bool word, struct error *e);

/* The same for a state of calls, which is no field that the events have themselves. */
int declared_state(const struct declared *k, const char *name, struct error *e);

/* Returns true if the stream has calls, or declares them; samples: or samples. All trace.dat files
 * declare the kernel's function graph, which therefore counts only if there are events of it. */
bool declared_calls(const struct dictionary *d, bool samples);

/* Warn, or fill k->absent, if the stream lacks what events need for an operand of that kind: calls,
 * samples, stacks, functions, or names of functions. name: the operand's. For columns and
 * declared_condition. */
void declared_need(const struct declared *k, enum declared_kind kind, const char *name);

/* Warn of a name that does not occur, or of a regular expression with that text that no name
 * matches (regex not NULL); or fill k->absent, but with a regular expression only if functions have
 * no names. Returns whether the name occurs, or may. */
bool declared_name(const struct declared *k, enum declared_kind kind, const char *name, size_t size,
		   const regex_t *regex);

/* Warn if no function has a file and a line. */
void declared_line(const struct declared *k);

/* Call declared_field for all fields of a condition; that of has() is only warned of. Warn of those
 * of DECLARED_CALL. Refuse texts that a field of numbers is compared with, unless they are names of
 * its enum, and numbers that a field of texts is compared with. Call declared_name for all texts
 * that names are compared with, and declared_number for the numbers of threads and processes, and
 * declared_need for all operands. Where those of events, types and groups occur nowhere, the fields
 * that are joined with them by && are not checked. */
int declared_condition(const struct declared *k, const struct node *n, struct error *e);

/* Returns true if a condition is false for all events, as no event has the names that the condition
 * requires of events, types or groups. Those are added to a text, separated by commas. Returns 1
 * for true, 0, or -1 when out of memory. */
int declared_lacks(const struct declared *k, const struct node *n, struct buffer *names);

#endif
