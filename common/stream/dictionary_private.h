/*
 * dictionary_private.h - what dictionary.c (the whole), dictionary_read.c (entries of a payload),
 * dictionary_type.c (types and their fields) and dictionary_definition.c (enums and the like) share
 */
#ifndef TR_STREAM_DICTIONARY_PRIVATE_H
#define TR_STREAM_DICTIONARY_PRIVATE_H

#include "common/util/buffer.h"
#include "common/stream/dictionary.h"
#include "common/stream/entry.h"

/* One entry being read: its payload and the segment's ids in it. */
struct dictionary_entry {
	struct dictionary *d;
	const uint8_t *data;
	size_t size;
	uint32_t id;
	const char *wrong; /* what is wrong with it */
};

/* dictionary.c: memory that lives as long as the dictionary: fields, members. NULL: it is out. */
void *dictionary_keep(struct dictionary *d, size_t n);

/* dictionary_read.c: what an id of the segment names, and what the id at that offset of the entry
 * does. 0 is nothing; one that is not declared is what is wrong with the entry. */
struct text_ref dictionary_string_of(struct dictionary_entry *en, uint32_t id);
struct text_ref dictionary_string_at(struct dictionary_entry *en, size_t offset);
uint32_t dictionary_number_of(struct dictionary_entry *en, uint32_t id, enum entry_kind kind);
uint32_t dictionary_number_at(struct dictionary_entry *en, size_t offset, enum entry_kind kind);
/* An element of the pool, by the entry's content, given as bytes in which segment ids were replaced
 * by numbers; the entry's id names it now. *fresh says that it is new and still to be filled. NULL:
 * the entry has no id, or out of memory. */
void *dictionary_by_content(struct dictionary_entry *en, enum entry_kind kind, struct pool *pool,
			    const void *key, size_t n, bool *fresh);

/* 0, or -1: it is of no use. */
int dictionary_read_type(struct dictionary_entry *en);
int dictionary_read_definition(struct dictionary_entry *en);

#endif
