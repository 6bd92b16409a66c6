/*
 * field.h - reads the fields of an event
 */
#ifndef TR_STREAM_FIELD_H
#define TR_STREAM_FIELD_H

#include "common/stream/event.h"

/* Test whether the numbers of a field have names. */
static inline bool field_has_names(const struct field *f)
{
	return f->definition &&
	       (f->kind <= FIELD_HEX || f->kind == FIELD_ENUM || f->kind == FIELD_BITMASK);
}

/* Test whether a field is an attribute of its event: it has a name, and is not the recorder's own.
 */
static inline bool field_is_attribute(const struct field *f)
{
	return f->name.size && f->role != ROLE_CALL && f->role != ROLE_ROW &&
	       strncmp(f->name.text, "common_", 7) != 0;
}

enum field_form { FORM_NONE, FORM_INT, FORM_UINT, FORM_REAL, FORM_TEXT };

struct field_value {
	enum field_form form; /* NONE: missing, or outside of the row */
	union {
		int64_t i;
		uint64_t u;
		double real;
	};
	const uint8_t *text; /* TEXT: points into the block, up to a NUL or the field's end */
	size_t size;	     /* of the text; REAL: 4 or 8 */
};

/* Get the length of an index such as "[5]" at the beginning of a text, and its number; 0: there
 * is none. */
size_t field_index(const char *text, uint64_t *index);

/* Find the field of that name, or NULL; "NAME[N]", or "NAME.N", is element N of the array NAME,
 * from 0, and "NAME.name" what the number NAME is called. Of several, the last one is found: a CTF
 * event has its own fields after those of its contexts. "message" is also the field with
 * ROLE_MESSAGE, whatever its name. */
const struct field *field_find(const struct type *t, const char *name);

/* What of a field a name selects. */
struct field_part {
	bool element;	/* one of an array */
	bool name;	/* of the number */
	uint32_t index; /* of the element, or 0 */
};

/* Get what of a field the name selects. The field may have another name: conditions find one by
 * its role. */
struct field_part field_part(const struct field *f, const char *name);
const struct field *field_by_role(const struct type *t, enum field_role role);

/* Read element number index of a field (0 for scalars). A message is read without the newline at
 * its end. */
void field_get(const struct event *e, const struct field *f, uint32_t index,
	       struct field_value *out);
/* Read the field of that role; FORM_NONE: the type does not have one. */
static inline void field_get_role(const struct event *e, enum field_role role,
				  struct field_value *out)
{
	const struct field *f = field_by_role(e->type, role);

	*out = (struct field_value){.form = FORM_NONE};
	if (f)
		field_get(e, f, 0, out);
}
/* Get the CPU of an event or of a call: that of the lane, else that of the event's field of a CPU.
 * e: NULL if there is no event. false: it is unknown. */
bool field_cpu(const struct lane *lane, const struct event *e, int64_t *cpu);
/* Read the whole number of the field of that name. false: *number is unchanged. */
bool field_number(const struct event *e, const char *name, uint64_t *number);
/* Get the field's encoded bytes; NULL where they are outside of the row. */
const uint8_t *field_bytes(const struct event *e, const struct field *f, size_t *n);
/* Count the elements of the field in this row; 0 for an array that is not in the row. */
uint32_t field_count(const struct event *e, const struct field *f);
/* Test whether the field is an array that is in the row, of any number of elements, 0 and 1
 * included. */
bool field_is_array(const struct event *e, const struct field *f);

/* Get the call number of a row of a type with TYPE_CALL_NUMBER. false: the row has none. */
static inline bool field_call(const struct event *e, uint32_t *call)
{
	const struct field *f = e->type->fields;

	/* it is usually the first field */
	if (!e->type->nfields || f->role != ROLE_CALL)
		f = field_by_role(e->type, ROLE_CALL);
	/* the dictionary has checked that the field is inside of the fixed part */
	if (!f || f->where != WHERE_FIXED || f->size != 4)
		return false;
	*call = get_u32(e->fixed + f->offset);
	return true;
}

/* Test whether the field is a stack, and get the number of the stack in a row; 0: none. */
static inline bool field_is_stack(const struct field *f)
{
	return f->role == ROLE_STACK && f->where == WHERE_FIXED && f->size == 4;
}

static inline uint32_t field_stack(const struct dictionary *d, const struct event *e,
				   const struct field *f)
{
	return dictionary_stack_id(d, get_u32(e->fixed + f->offset));
}

/* Get the number of the stack at which an event happened: that of a sample, or of the first field
 * with ROLE_STACK of an instant or of an enter with a call number; 0: none. */
uint32_t event_recorded_stack(const struct dictionary *d, const struct event *e);
static inline uint32_t event_stack(const struct dictionary *d, const struct event *e)
{
	return !e->stack && e->type->has_stacks ? event_recorded_stack(d, e) : e->stack;
}

/* Map the ids in the fields with ROLE_STACK of a row's fixed part. */
void field_map_stacks(const struct type *t, uint8_t *fixed, uint32_t (*map)(void *ctx, uint32_t id),
		      void *ctx);

/* The content of a gap row. file and message do not end with a NUL. gap_get returns false
 * for other rows. */
struct gap_row {
	uint64_t count, offset; /* UINT64_MAX: unknown, none */
	uint32_t reason, unit;	/* enum gap_reason, gap_unit */
	const char *file, *message;
	size_t file_size, message_size;
};
bool gap_get(const struct event *e, struct gap_row *g);
/* "lost", "damage", "not read", "unknown" */
const char *gap_reason_name(uint32_t reason);
/* "events", "bytes", "packets" */
const char *gap_unit_name(uint32_t unit);

#endif
