/*
 * dictionary_private.h - shared by dictionary.c (the tables), dictionary_read.c (entries of a
 * payload), dictionary_type.c (limits and kinds of types) and dictionary_definition.c (enums and
 * other definitions)
 */
#ifndef TR_STREAM_DICTIONARY_PRIVATE_H
#define TR_STREAM_DICTIONARY_PRIVATE_H

#include "common/util/buffer.h"
#include "common/stream/dictionary.h"
#include "common/stream/entry.h"

/* The entry being read: its payload and the segment's ids in it. */
struct dictionary_entry {
	struct dictionary *d;
	const uint8_t *data;
	size_t size;
	uint32_t id;
	const char *wrong; /* the first fault of the entry, NULL none */
};

/* dictionary.c: allocate memory that lives as long as the dictionary: fields, members. NULL: out
 * of memory. */
void *dictionary_keep(struct dictionary *d, size_t n);

/* Find the fault of a type, and of a definition, with that many parts; ids in the entry's bytes are
 * replaced by numbers. NULL: none. */
const char *dictionary_type_fault(const uint8_t *p, uint32_t parts);
const char *dictionary_definition_fault(const uint8_t *p, uint32_t parts);
/* Note which fields of a new type have roles that programs need for each row. */
void dictionary_type_finish(struct type *t);

/* Read a symbol. Symbols contain their texts: the program that adds them cannot allocate ids of the
 * segment. -1: a fault, or out of memory. */
int dictionary_read_symbol(struct dictionary_entry *en);

/* Reserve the index by number of a new definition. -1: out of memory. */
int dictionary_reserve_labels(struct dictionary *dictionary, struct definition *d);

#endif
