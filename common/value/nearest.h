/*
 * nearest.h - finds the known name that is most like a misspelt one, for messages
 */
#ifndef TR_VALUE_NEAREST_H
#define TR_VALUE_NEAREST_H

#include <stddef.h>

enum { NEAREST_SIZE = 64 }; /* longer names are not compared */

struct nearest {
	const char *word; /* as the user wrote it; belongs to the caller */
	size_t size;
	unsigned distance; /* of name, in units of its own */
	char name[NEAREST_SIZE];
	char hint[NEAREST_SIZE + 24];
};

void nearest_begin(struct nearest *n, const char *word, size_t size);
/* Take a known name into account. If it is the word, the word is not misspelt: there is no hint. */
void nearest_offer(struct nearest *n, const char *name, size_t size);
/* Take blank-separated names into account. */
void nearest_offer_words(struct nearest *n, const char *words);
/* Returns "; did you mean 'name'?", which is valid as long as n, or "" if no name is alike. */
const char *nearest_hint(struct nearest *n);

#endif
