/*
 * field.h - a field of an event, whatever its source
 */
#ifndef TR_STREAM_FIELD_H
#define TR_STREAM_FIELD_H

#include "common/stream/event.h"

enum field_form { FORM_NONE, FORM_INT, FORM_UINT, FORM_REAL, FORM_TEXT };

struct field_value {
	enum field_form form; /* NONE: not there, or outside of the row */
	union {
		int64_t i;
		uint64_t u;
		double real;
	};
	const uint8_t *text; /* TEXT: points into the block, up to a NUL or the field's end */
	size_t size;	     /* of the text; REAL: 4 or 8 */
};

/* The field of that name, or NULL. Of several the last: CTF has an event's own behind its contexts.
 */
const struct field *field_find(const struct type *t, const char *name);
const struct field *field_by_role(const struct type *t, enum field_role role);

/* Element number index of a field (0 for scalars). */
void field_get(const struct event *e, const struct field *f, uint32_t index,
	       struct field_value *out);
/* The field's bytes as they stand in the row; NULL where they are outside of it. */
const uint8_t *field_bytes(const struct event *e, const struct field *f, size_t *n);
/* How many elements the field has in this row; of an array that is not in the row 0. */
uint32_t field_count(const struct event *e, const struct field *f);
/* Is it an array that is in the row, of any number of elements, one or none too? */
bool field_is_array(const struct event *e, const struct field *f);

/* The number of the call that a row of a type with TYPE_CALL_NUMBER belongs to. false: it has none.
 */
static inline bool field_call(const struct event *e, uint32_t *call)
{
	const struct field *f = e->type->fields;

	/* mostly it is the first */
	if (!e->type->nfields || f->role != ROLE_CALL)
		f = field_by_role(e->type, ROLE_CALL);
	/* the dictionary has checked that it is inside of the fixed part */
	if (!f || f->where != WHERE_FIXED || f->size != 4)
		return false;
	*call = get_u32(e->fixed + f->offset);
	return true;
}

/* What a gap row says. file and message are not ended by a NUL. false: no gap row. */
struct gap_row {
	uint64_t count, offset; /* UINT64_MAX: unknown, none */
	uint32_t reason, unit;	/* enum gap_reason, gap_unit */
	const char *file, *message;
	size_t file_size, message_size;
};
bool gap_get(const struct event *e, struct gap_row *g);
/* "events", "bytes", "packets" */
const char *gap_unit_name(uint32_t unit);

#endif
