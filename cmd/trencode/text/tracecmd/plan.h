/*
 * plan.h - the way in which `trace-cmd report -R` prints the fields of one event type
 *
 * A scalar that is an argument of print fmt (REC->field, also after casts) is printed by its
 * conversion there; other fields by their type. Observed with trace-cmd 3.1.6 and libtraceevent
 * 1.7.1.
 */
#ifndef TR_TRENCODE_TEXT_TRACECMD_PLAN_H
#define TR_TRENCODE_TEXT_TRACECMD_PLAN_H

#include "common/ftrace/print_format.h"
#include "common/stream/event.h"

enum conversion_kind {
	PLAN_PLAIN,	  /* by the type of the field */
	PLAN_NUMBER,	  /* by a conversion of printf */
	PLAN_FUNCTION,	  /* %ps */
	PLAN_FUNCTION_AT, /* %pS: with the offset */
	PLAN_POINTER,	  /* %p */
	PLAN_STRING,	  /* %s of a pointer: a constant string */
};

/* One printed field. */
struct plan_field {
	const struct field *field;
	enum conversion_kind how;
	bool prefix;	    /* print fmt has "0x" before the conversion */
	bool array, string; /* an array; one of characters, printed as text if it is printable */
	bool pointer, is_long, is_signed;
	char conversion[24]; /* "%08llx", for 64 bits */
	uint8_t bits;	     /* bits that the conversion of print fmt takes */
	uint8_t cast;	     /* bytes that a cast leaves, 0: no cast */
	bool cast_signed;
};

/* The printed fields of a type. */
struct plan {
	struct plan_field *fields;
	size_t count;
};

/* plugins: a print fmt may call the functions of trace-cmd's plug-ins. Returns NULL when out of
 * memory. */
struct plan *plan_make(const struct type *t, bool plugins);
void plan_free(struct plan *p);
/* raw.c: append " NAME=VALUE" for each field. */
void plan_text(struct plan *p, const struct event *ev, const struct print_kernel *k,
	       struct line *out);

#endif
