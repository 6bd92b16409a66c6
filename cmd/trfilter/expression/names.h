/*
 * names.h - what a condition may ask about an event by a name of its own
 */
#ifndef TRFILTER_NAMES_H
#define TRFILTER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

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
	ASK_BUFFER,
	ASK_SOURCE,
	ASK_FORMAT,
	ASK_RETURN,   /* the value a leave returns, else a field "ret" */
	ASK_ARGUMENT, /* the argument of a number */
	ASK_FIELD,    /* a field of the event */
	ASK_DURATION, /* of a call, and so are the next four */
	ASK_SELF,
	ASK_CHILDREN,
	ASK_CALLER,
	ASK_STACK,
};

/* What the answer hangs on. */
enum depends {
	DEPENDS_LOCATION = 1,
	DEPENDS_TYPE = 2,
	DEPENDS_LANE = 4,
	DEPENDS_NAME = 8,    /* the place where there is one, else the type */
	DEPENDS_ROW = 16,    /* what stands in the row itself */
	DEPENDS_CALL = 32,   /* what differs between an enter and its leave: decided at the enter */
	DEPENDS_KIND = 64,   /* asks which of the two a row is: each row is decided by itself */
	DEPENDS_STACK = 128, /* the calls that are open around a row */
	DEPENDS_LATER = 256, /* what is known of a call only after its enter */
	DEPENDS_ARGUMENT = 512, /* with LATER: known at the enter if it has the argument */
};

enum known_form { KNOWN_NOTHING, KNOWN_TEXT, KNOWN_NUMBER };

struct plain_name {
	const char *name;
	enum ask ask;
	enum known_form form;
	unsigned depends;
	const char *help;
};

/* The name of that many characters, or NULL: then it is a field of the event. */
const struct plain_name *names_find(const char *name, size_t n);
/* All of them, ended by one without a name. */
const struct plain_name *names_all(void);
/* What a name that cannot be asked for is called here, or NULL. */
const char *names_refused(const char *name, size_t n);
/* enum type_kind in words. */
const char *names_kind(unsigned kind);
/* Is it one of those words? */
bool names_is_kind(const char *name, size_t n);

#endif
