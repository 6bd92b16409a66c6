/*
 * layout.h - a type of event with fewer fields, or with other texts in them, and rows of it
 */
#ifndef TR_TRFILTER_ROWS_LAYOUT_H
#define TR_TRFILTER_ROWS_LAYOUT_H

#include "common/stream/field.h"
#include "cmd/trfilter/expression/projection.h"
#include "cmd/trfilter/rewrite/scrub.h"

enum field_change { CHANGE_NONE, CHANGE_TEXT, CHANGE_PATH, CHANGE_BYTES };

struct layout {
	bool same;	  /* rows stay as they are */
	bool values;	  /* the tail is a list of values (change_values.h) */
	bool texts;	  /* the tail is texts with a NUL behind each */
	bool gap;	  /* keeps its numbers, loses file and message */
	struct type type; /* as it comes out, with fields of its own */
	struct field *fields;
	uint32_t *from;	 /* for each field, its index in the type that it came from */
	uint8_t *change; /* enum field_change */
	uint32_t tail;	 /* bytes of the tail before what varies in size */
};

/* -1: out of memory. t may be on the stack; its texts and definitions must stay. */
int layout_make(struct layout *l, const struct type *t, struct projection *p,
		const struct scrub *s);
void layout_free(struct layout *l);

/* The fixed part, and the tail (unless it is values), of a row of the old type. -1: memory. */
int layout_fixed(const struct layout *l, const struct scrub *s, const struct event *e,
		 struct buffer *out);
int layout_tail(const struct layout *l, const struct scrub *s, const struct event *e,
		struct buffer *out);

#endif
