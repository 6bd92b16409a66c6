/*
 * location_names.h - names of functions as a format writes them, rendered once each
 */
#ifndef TR_TRENCODE_CONVERT_LOCATION_NAMES_H
#define TR_TRENCODE_CONVERT_LOCATION_NAMES_H

#include "common/cli/remarks.h"
#include "common/util/buffer.h"
#include "common/stream/dictionary.h"

enum { LOCATION_NAME_SHORT = 32 };

/* The name of one location. */
struct location_name {
	uint32_t number; /* of the dictionary's string of the name */
	size_t at;	 /* offset in bytes */
	uint32_t size;
	bool known;
};

/* The names of all locations of one stream, or all strings. */
struct location_names {
	struct dictionary *dictionary;
	/* Append the name as the format writes it; NULL: only its number is used. Returns 0, or -1
	 * when out of memory. */
	int (*render)(struct buffer *to, const char *name, size_t n);
	struct location_name *names; /* by location, or by string */
	size_t count;
	struct buffer bytes;
	uint32_t symbol_changes;
	bool strings; /* names are by string of the dictionary, not by location */
	bool lines;   /* some location has a file and a line of trsym -l */
	bool unnamed; /* some location has an address and no SYMBOL of trsym */
};

void location_names_init(struct location_names *p, struct dictionary *d,
			 int (*render)(struct buffer *to, const char *name, size_t n));
/* Initialise names of strings of the dictionary, by their numbers. */
void location_names_init_strings(struct location_names *p, struct dictionary *d,
				 int (*render)(struct buffer *to, const char *name, size_t n));
void location_names_free(struct location_names *p);

/* Render a name. Returns 0, or -1 when out of memory. */
int location_names_make(struct location_names *p, uint32_t location);

/* Returns the name, valid until the next call, and its size; NULL when out of memory. */
static inline const char *location_names_get(struct location_names *p, uint32_t location,
					     uint32_t *size)
{
	if (__builtin_expect(location >= p->count || !p->names[location].known ||
				     p->symbol_changes != p->dictionary->symbol_changes,
			     0) &&
	    location_names_make(p, location))
		return NULL;
	*size = p->names[location].size;
	return (const char *)p->bytes.data + p->names[location].at;
}

/* Copy a name of location_names_get to `to`, which has room for it and at least LOCATION_NAME_SHORT
 * bytes; returns the end of the copy. Most names are short: memcpy of a constant size is inlined.
 */
static inline char *location_names_copy(char *to, const char *name, uint32_t size)
{
	if (size <= LOCATION_NAME_SHORT)
		memcpy(to, name, LOCATION_NAME_SHORT);
	else
		memcpy(to, name, size);
	return to + size;
}

/* Report on stderr if trsym is missing in the pipe. */
void location_names_report(const struct location_names *p);

#endif
