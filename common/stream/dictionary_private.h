/*
 * dictionary_private.h - shared by dictionary.c (the tables), dictionary_read.c (entries of a
 * payload), dictionary_type.c (types and their fields) and dictionary_definition.c (enums and other
 * definitions)
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

/* dictionary_read.c: resolve an id of the segment, and the id at an offset of the entry. 0 gives
 * nothing; an undeclared id sets the entry's fault. */
struct text_ref dictionary_string_of(struct dictionary_entry *en, uint32_t id);
struct text_ref dictionary_string_at(struct dictionary_entry *en, size_t offset);
uint32_t dictionary_number_of(struct dictionary_entry *en, uint32_t id, enum entry_kind kind);
uint32_t dictionary_number_at(struct dictionary_entry *en, size_t offset, enum entry_kind kind);
/* Find or add an element of the pool by the entry's content, given as bytes in which segment ids
 * were replaced by numbers; the entry's id now names the element. *fresh: the element is new and
 * must be filled. NULL: the entry has no id, or out of memory. */
void *dictionary_by_content(struct dictionary_entry *en, enum entry_kind kind, struct pool *pool,
			    const void *key, size_t n, bool *fresh);

/* Read an entry of one kind. 0, or -1: the entry cannot be used. */
int dictionary_read_type(struct dictionary_entry *en);
int dictionary_read_definition(struct dictionary_entry *en);

#endif
