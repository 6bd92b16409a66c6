/*
 * lttng.h - LTTng 0.x
 */
#ifndef TR_TRENCODE_LTTNG_H
#define TR_TRENCODE_LTTNG_H

#include "cmd/trencode/convert.h"

/*
 * Types of any source as markers of LTTng: their names, channels, formats and
 * fields.
 */

/* How the events of one type of the stream are written. */
struct lttng_converted_type {
	struct type *type; /* NULL: not yet known */
	struct convert_field *fields;
	uint32_t nfields;
	bool call, leave, number, values;
	bool location; /* at a location, not of a call: it has the name of the location */
};

/* The types that are converted so far. Zero-initialised is empty. */
struct lttng_types {
	/* by twice the number of the stream's type, + 1: of its events at a location */
	struct lttng_converted_type *list;
	size_t size;
	uint32_t count;
	uint64_t fields_lost;
	struct buffer text;
};

/* Find how an event is written; its type is converted when it is new. An event that is not a call
 * has one form at a location and another one without, whatever events precede it. -1: out of
 * memory. */
int lttng_types_find(struct lttng_types *l, struct target_dictionary *d, const struct event *ev,
		     const struct lttng_converted_type **out);
void lttng_types_free(struct lttng_types *l);

#endif
