/*
 * plan.h - how `trace-cmd report -R` prints the fields of one event type
 *
 * A scalar that print fmt prints as it is (REC->field, also behind casts) is printed the same way;
 * anything else by its type. Facts: observed with trace-cmd 3.1.6 and libtraceevent 1.7.1.
 */
#ifndef TR_TRENCODE_TEXT_TRACECMD_PLAN_H
#define TR_TRENCODE_TEXT_TRACECMD_PLAN_H

#include "common/stream/dictionary.h"

enum conversion_kind {
	PLAN_PLAIN,	  /* by its type */
	PLAN_NUMBER,	  /* by a conversion of printf */
	PLAN_FUNCTION,	  /* %ps */
	PLAN_FUNCTION_AT, /* %pS: with the offset */
	PLAN_POINTER,	  /* %p */
	PLAN_STRING,	  /* %s of a pointer: a constant string */
};

struct plan_field {
	const struct field *field;
	enum conversion_kind how;
	bool prefix;	    /* print fmt has "0x" before it */
	bool array, string; /* printed whole, as text if it is printable */
	bool pointer, is_long, is_signed;
	char conversion[24]; /* "%08llx", made for 64 bits */
	uint8_t bits;	     /* that the conversion takes */
	uint8_t cast;	     /* bytes that a cast leaves, 0 none */
	bool cast_signed;
};

struct plan {
	struct plan_field *fields;
	size_t count;
};

/* NULL: out of memory. */
struct plan *plan_make(const struct type *t);
void plan_free(struct plan *p);

#endif
