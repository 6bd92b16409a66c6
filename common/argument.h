/*
 * argument.h - an argument of a call by its name, and what is inside of it
 */
#ifndef TR_ARGUMENT_H
#define TR_ARGUMENT_H

#include "event.h"
#include "value.h"

/*
 * The value that a path names in a row: the argument's name or its number from 1, and behind dots
 * members of structs by name and elements of arrays by number from 0; "size" at the end is that of
 * a string or blob in bytes, or of an array in elements. An array of one element, as pointers are
 * recorded, stands for the element. Of a value in two forms it is the one for people. Definitions
 * are those of the present segment. false: the row has no such value.
 */
bool argument_find(const struct dictionary *d, const struct event *e, const char *path,
		   struct value *out);

#endif
