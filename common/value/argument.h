/*
 * argument.h - an argument of a call by its name, and what is inside of it
 */
#ifndef TR_VALUE_ARGUMENT_H
#define TR_VALUE_ARGUMENT_H

#include "common/stream/event.h"
#include "common/stream/value.h"

/*
 * The value that a path names in a row: the argument's name or its number from 1, and behind dots
 * members of structs by name and elements of arrays by number from 0; "size" at the end is that of
 * a string or blob in bytes, or of an array in elements. An array of one element, as pointers are
 * recorded, stands for the element. Of a value in two forms it is the one for people. Members of a
 * struct that has no name in the one it is in are that one's own, as texts show them. Definitions
 * are those of the present segment. false: the row has no such value.
 */
bool argument_find(const struct dictionary *d, const struct event *e, const char *path,
		   struct value *out);

/* The same of an argument by its number or, with DETAIL_RETURN, of the value returned; path: what
 * is inside of it, "" for itself. */
bool argument_detail(const struct dictionary *d, const struct event *e, enum detail_kind what,
		     uint64_t index, const char *path, struct value *out);

/* Does the row have the argument that a path begins with, whatever is inside of it? */
bool argument_given(const struct dictionary *d, const struct event *e, const char *path);
/* What a call has beside its arguments: was it made by the tracer itself ("fake")? false: the row
 * does not record that. */
bool argument_fake(const struct event *e, bool *fake);
/* Are BLOBs of such calls data, which is spelled by its size? Else they are strings that may
 * contain NULs. */
bool argument_blobs(const struct type *t);
/* Its back trace: *v is before the first of *count FRAMEs, the innermost. false: it has none.
 */
bool argument_backtrace(const struct event *e, struct values *v, uint64_t *count);

/* By its number. */
bool argument_given_number(const struct event *e, uint64_t index);

#endif
