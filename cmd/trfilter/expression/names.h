/*
 * names.h - the predefined names of conditions
 */
#ifndef TR_TRFILTER_EXPRESSION_NAMES_H
#define TR_TRFILTER_EXPRESSION_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/expr/expression.h"

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

/* Returns the predefined name of n characters; NULL: it is a field of the event. */
const struct plain_name *names_find(const char *name, size_t n);
/* Returns all names; the last entry has no name. */
const struct plain_name *names_all(void);
/* Returns the name to use instead of one that conditions do not have, or NULL. */
const char *names_refused(const char *name, size_t n);

#endif
