/*
 * declare.h - entries of a dictionary as DICT payloads again, each with what it names before it
 *
 * For who keeps lanes, types and places of a stream in something of its own. Ids are the numbers of
 * the dictionary, those of sources the ids that they had in their stream (so entries of one stream
 * only). What serves only to print or to symbolise is left out: declarations of types, mappings.
 */
#ifndef TR_STREAM_DECLARE_H
#define TR_STREAM_DECLARE_H

#include "common/util/buffer.h"
#include "common/stream/dictionary.h"

struct declare {
	const struct dictionary *dictionary;
	struct buffer out; /* entries, for a payload */
	bool out_of_memory;
	struct buffer said[ENTRY_KINDS]; /* a byte for each number: was it declared? */
	struct buffer sources;		 /* by id: the number that has it now, u32 each */
};

void declare_init(struct declare *d, const struct dictionary *dictionary);
void declare_free(struct declare *d);

/* The id to name the entry by; 0 for none, and when out of memory (out_of_memory). */
uint32_t declare_lane(struct declare *d, const struct lane *l);
uint32_t declare_type(struct declare *d, const struct type *t);
uint32_t declare_location(struct declare *d, uint32_t number);
uint32_t declare_definition(struct declare *d, const struct definition *def);

#endif
