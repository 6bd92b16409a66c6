/*
 * declare.h - writes entries of a dictionary as DICT payloads, each after the entries that it names
 *
 * For programs that store lanes, types and locations of a stream in a format of their own, and for
 * snapshots. Ids are the numbers of the dictionary, or the caller's. The ids of sources are those
 * of their stream, so all entries must be of one stream. Data that is needed only for printing or
 * symbolising is left out, except with `whole`: declarations of types, mappings.
 */
#ifndef TR_STREAM_DECLARE_H
#define TR_STREAM_DECLARE_H

#include "common/util/buffer.h"
#include "common/stream/dictionary.h"
#include "common/stream/entry.h"

struct declare {
	const struct dictionary *dictionary;
	struct buffer out; /* entries of a payload */
	bool out_of_memory;
	bool whole;
	/* Get the caller's id of an entry by its number, and whether the entry must be emitted.
	   NULL: numbers are ids, and each entry is emitted once. */
	uint32_t (*id)(void *ctx, enum entry_kind kind, uint32_t number, bool *fresh);
	/* Get flags to be added to a lane's; may be NULL. */
	uint32_t (*lane_flags)(void *ctx, const struct lane *l);
	void *ctx;
	struct buffer emitted[ENTRY_KINDS]; /* a byte for each number: whether it was emitted */
	struct buffer sources;		    /* by id: the number that has it now, u32 each */
};

void declare_init(struct declare *d, const struct dictionary *dictionary);
void declare_free(struct declare *d);

/* Emit an entry if it is new, and return its id; 0 for no entry, and when out of memory
 * (out_of_memory). */
uint32_t declare_lane(struct declare *d, const struct lane *l);
uint32_t declare_type(struct declare *d, const struct type *t);
uint32_t declare_location(struct declare *d, uint32_t number);
uint32_t declare_definition(struct declare *d, const struct definition *def);
uint32_t declare_stack(struct declare *d, uint32_t number);

/* Get the id of a text, or of an object of the kind f->refers (may be NULL), that a field names. */
typedef uint32_t (*declare_id)(void *ctx, const struct entry_field *f, struct text_ref text,
			       const void *object);

/* Append the payload of an entry for an object of the dictionary, with the ids that id returns. 0,
 * or -1 when out of memory. */
int declare_encode(struct buffer *b, enum entry_kind kind, const void *object, declare_id id,
		   void *ctx);
/* Get the content of a SYMBOL; the texts are those of s. */
struct symbol_entry declare_symbol(const struct location_symbol *s);

#endif
