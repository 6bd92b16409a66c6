/*
 * format.h - the writers behind table_write, one file each
 */
#ifndef TR_FORMAT_H
#define TR_FORMAT_H

#include "table.h"

/* The rows to be written, in their order. */
struct rows {
	const struct table *table;
	const struct aggregate *const *row;
	size_t count;
};

struct format {
	const char *name;
	int (*write)(const struct rows *rows, struct text *out, struct error *e);
};

int format_people(const struct rows *rows, struct text *out, struct error *e);
int format_tsv(const struct rows *rows, struct text *out, struct error *e);
int format_csv(const struct rows *rows, struct text *out, struct error *e);
int format_json(const struct rows *rows, struct text *out, struct error *e);
int format_ndjson(const struct rows *rows, struct text *out, struct error *e);

/* Room for the digits of any value, its sign, point, unit and NUL. */
#define VALUE_SIZE 48

/* The value as programs want it, which must be present: integers, or three decimals. */
size_t format_value(char out[static VALUE_SIZE], enum column_unit unit, int128 number);

/* The same for an integer key cell. */
size_t format_key(char out[static VALUE_SIZE], const struct key_cell *cell);

#endif
