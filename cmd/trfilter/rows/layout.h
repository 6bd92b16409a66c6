/*
 * layout.h - a type of event with fewer fields or other texts, and the rewriting of its rows
 */
#ifndef TR_TRFILTER_ROWS_LAYOUT_H
#define TR_TRFILTER_ROWS_LAYOUT_H

#include "common/stream/field.h"
#include "cmd/trfilter/expression/projection.h"
#include "cmd/trfilter/rewrite/scrub.h"

enum field_change { CHANGE_NONE, CHANGE_TEXT, CHANGE_PATH, CHANGE_BYTES };

struct layout {
	bool same;	  /* rows are unchanged */
	bool values;	  /* the tail is a list of values (change_values.h) */
	bool texts;	  /* the tail is texts, each with NUL at its end */
	bool gap;	  /* a gap: keeps its numbers, loses file and message */
	struct type type; /* the new type, with fields of its own */
	struct field *fields;
	uint32_t *from;	 /* by field: its index in the old type */
	uint8_t *change; /* enum field_change */
	uint32_t tail;	 /* bytes of the tail before the parts of variable size */
};

/* Make the layout of a type. t may be on the stack; its texts and definitions must stay valid.
 * Returns -1 when out of memory. */
int layout_make(struct layout *l, const struct type *t, struct projection *p,
		const struct scrub *s);
void layout_free(struct layout *l);

/* Append the fixed part, and the tail (unless it is values), of a row of the old type. Returns
 * -1 when out of memory. */
int layout_fixed(const struct layout *l, const struct scrub *s, const struct event *e,
		 struct buffer *out);
int layout_tail(const struct layout *l, const struct scrub *s, const struct event *e,
		struct buffer *out);

#endif
