/*
 * field_columns.h - fields of events, arguments and return values as columns of a table
 *
 * A column is named as a key elsewhere: next_comm, arg.1, arg.NAME, ret; or, with a dot before it,
 * as a field of which another column has the name: .pid. A call has what its enter and its leave
 * have, of both that of the leave.
 *
 * A function that returns int returns 0, or -1 when out of memory.
 */
#ifndef TR_TRENCODE_TABLE_FIELD_COLUMNS_H
#define TR_TRENCODE_TABLE_FIELD_COLUMNS_H

#include "cmd/trencode/convert/attributes.h"
#include "common/value/nearest.h"

enum { FIELD_COLUMNS = 100 }; /* at most, in a table */

/* What the values of a column are, by the declared types that have the field. */
enum field_form_of_column {
	FIELD_COLUMN_NONE, /* no type has it */
	FIELD_COLUMN_INT,  /* integers of at most 64 bits */
	FIELD_COLUMN_REAL,
	FIELD_COLUMN_TEXT, /* texts, names of numbers, arguments; or several of these */
};

struct field_columns {
	struct text_ref columns[FIELD_COLUMNS];	      /* as written */
	struct text_ref names[FIELD_COLUMNS];	      /* of the fields */
	const struct attribute *cells[FIELD_COLUMNS]; /* of one row; NULL: it has none */
	size_t count;
	struct attributes attributes;
	struct buffer bytes; /* the attributes of the row */
	uint32_t *fields;    /* by type and column: 2 + index of the field, 1 none, 0 not known */
	size_t nfields;
};

void field_columns_init(struct field_columns *c, struct dictionary *d);
void field_columns_free(struct field_columns *c);
/* Add a column, of a field or .field. The caller checks FIELD_COLUMNS. */
int field_columns_add(struct field_columns *c, const char *name, size_t n);
/* Append to c->bytes what the event has. */
int field_columns_take(struct field_columns *c, const struct event *ev);
/* Set the cells by c->bytes. They are valid until it changes. */
int field_columns_read(struct field_columns *c);
enum field_form_of_column field_columns_form(const struct field_columns *c, size_t column);

#endif
