/*
 * declare.h - encodes objects of a dictionary as entries of DICT, for programs that declare them in
 * another stream
 */
#ifndef TR_STREAM_DECLARE_H
#define TR_STREAM_DECLARE_H

#include "common/stream/dictionary.h"
#include "common/stream/entry.h"

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
