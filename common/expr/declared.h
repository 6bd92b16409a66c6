/*
 * declared.h - checks at the end of a stream that some declaration has each field that the user
 * named
 */
#ifndef TR_EXPR_DECLARED_H
#define TR_EXPR_DECLARED_H

#include "common/expr/expression.h"
#include "common/stream/dictionary.h"
#include "common/value/nearest.h"

/* A name of a field, and what the declarations and the program know. */
struct declared {
	const struct dictionary *dictionary;
	/* Offer the names that need no declaration, for suggestions. */
	void (*offer)(struct nearest *nearest);
	bool partial; /* declarations may be missing, as the input is not whole: only warn */
	bool quiet;   /* no warnings */
	/* Returns the name of an operand that is a field of events, which is valid until the next
	 * call; NULL: the operand is none. For declared_condition. */
	const char *(*name)(void *ctx, const struct operand *o);
	void *ctx;
};

/* Returns true if a type has a field of that name, or arguments or structs have a member of the
 * name of the path's first part; also if the stream has declared no event. name may begin with
 * "arg." */
bool declared_has(const struct dictionary *d, const char *name);

/*
 * Refuse a name that no declaration has. word: the name was compared with, so it may be a text
 * without quotes. Returns 0, or -1 with e filled. Where the source declares no fields (Trace Event
 * JSON), or with partial, the fault is a warning and 0 is returned.
 */
int declared_field(const struct declared *k, const char *name, bool word, struct error *e);

/* Call declared_field for all fields of a condition; that of has() is only warned of. */
int declared_condition(const struct declared *k, const struct node *n, struct error *e);

#endif
