/*
 * location_names.h - what functions are called, as a format writes it, made once for each
 */
#ifndef TR_TRENCODE_CONVERT_LOCATION_NAMES_H
#define TR_TRENCODE_CONVERT_LOCATION_NAMES_H

#include "common/util/buffer.h"
#include "common/stream/dictionary.h"

enum { LOCATION_NAME_SHORT = 32 };

struct location_name {
	uint32_t number; /* of the name as the stream has it, among the dictionary's strings */
	size_t at;	 /* in bytes */
	uint32_t size;
	bool known;
};

struct location_names {
	struct dictionary *dictionary;
	/* Append the name as the format wants it: -1 when out of memory. */
	int (*render)(struct buffer *to, const char *name, size_t n);
	struct location_name *names; /* by place */
	size_t count;
	struct buffer bytes;
	uint32_t symbol_changes;
	bool strings; /* they are strings of the dictionary, by number, and not places */
	bool unnamed; /* some place has an address and was never looked up by trsym */
};

void location_names_init(struct location_names *p, struct dictionary *d,
			 int (*render)(struct buffer *to, const char *name, size_t n));
/* The same for any strings of the dictionary, by their numbers. */
void location_names_init_strings(struct location_names *p, struct dictionary *d,
				 int (*render)(struct buffer *to, const char *name, size_t n));
void location_names_free(struct location_names *p);

/* -1: out of memory. */
int location_names_make(struct location_names *p, uint32_t location);

/* The name and its size; valid until the next call. NULL: out of memory. */
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

/* Copy a name that place_names_get gave to where PLACE_NAME_SHORT bytes are free, or more if it is
 * longer; returns where it ends. Most names are short: no call for those. */
static inline char *location_names_copy(char *to, const char *name, uint32_t size)
{
	if (size <= LOCATION_NAME_SHORT)
		memcpy(to, name, LOCATION_NAME_SHORT);
	else
		memcpy(to, name, size);
	return to + size;
}

/* Say, if it is so, that trsym is missing in the pipe. */
void location_names_report(const struct location_names *p);

#endif
