/*
 * argument.h - finds an argument of a call by its name, and values inside of it
 */
#ifndef TR_VALUE_ARGUMENT_H
#define TR_VALUE_ARGUMENT_H

#include "common/stream/event.h"
#include "common/stream/value.h"

/*
 * Find the value that a path names in a row. A path is the argument's name or its number from 1,
 * then after dots members of structs by name and elements of arrays by number from 0, which may be
 * in brackets instead. "size" at the
 * end is the size of a string or blob in bytes, or of an array in elements. An array of one
 * element, as recorders store pointers, is replaced by its element. If a value has a raw and a
 * display form, the display form is used. Members of a nested struct without a name are also
 * members of the outer struct, as in texts. Definitions are those of the present segment. false:
 * the row has no such value.
 */
bool argument_find(const struct dictionary *d, const struct event *e, const char *path,
		   struct value *out);

/* Find a value in the argument with a number or, with DETAIL_RETURN, in the return value; path:
 * the rest of the path, "" for the value itself. */
bool argument_detail(const struct dictionary *d, const struct event *e, enum detail_kind what,
		     uint64_t index, const char *path, struct value *out);

/* Test whether a key is a detail of calls of that type, before it is an argument's name: fake,
 * backtrace. */
bool argument_is_detail(const struct type *t, const char *key);

/* Find the value of a key: arg.PATH, fparg.N, ret, ret.PATH and PATH; in calls, a PATH that begins
 * with another key is that key. false: the row has no such value. */
bool argument_by_key(const struct dictionary *d, const struct event *e, const char *key,
		     struct value *out);

/* Append the name of an argument of a call of that location, which may be NULL, or "arg2",
 * "fparg1"; as_key: as keys have it, "arg.name", "arg.2", "fparg.1". -1: out of memory. */
int argument_put_name(struct buffer *b, const struct location *p, uint64_t index, bool as_key);

/* Test whether the row has the argument that a path begins with, whatever its content is. */
bool argument_given(const struct dictionary *d, const struct event *e, const char *path);
/* Get whether the tracer itself made the call ("fake"). false: the row does not record that. */
bool argument_fake(const struct event *e, bool *fake);
/* Test whether BLOBs of such calls are data, printed as their size. Otherwise they are strings
 * that may contain NULs. */
bool argument_blobs(const struct type *t);
/* Find the back trace of a row: *v is before the first of *count FRAMEs, the innermost one.
 * false: there is none. */
bool argument_backtrace(const struct event *e, struct values *v, uint64_t *count);

/* Test whether the row has the argument with this number. */
bool argument_given_number(const struct event *e, uint64_t index);

#endif
