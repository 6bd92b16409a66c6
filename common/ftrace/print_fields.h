/*
 * print_fields.h - the fields that a kernel event's format text declares
 *
 *     field:__data_loc char[] name;	offset:8;	size:4;	signed:1;
 *
 * Facts: the kernel's events/SYSTEM/EVENT/format files, of 2.6.31 to 6.12.
 */
#ifndef TR_FTRACE_PRINT_FIELDS_H
#define TR_FTRACE_PRINT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIELDS_MOST = 1024 };

struct format_field {
	const char *name; /* in the format's text, not ended by a NUL */
	uint32_t name_size;
	uint32_t offset, size; /* bytes in the record; size 0: up to its end */
	uint8_t element;       /* bytes of one element: 1, 2, 4 or 8, or 0: not known */
	bool is_signed, array, string, pointer, has_long, common;
	bool data_loc, rel_loc; /* the value at offset is the array's offset */
};

struct format_fields {
	struct format_field *fields;
	size_t count;
	const char *print; /* text after "print fmt:", NULL: none */
	size_t print_size;
};

/* Parse the text, which must stay unchanged. word: bytes of a long. Other lines are skipped. -1:
 * out of memory. */
int format_fields_read(struct format_fields *f, const char *text, size_t n, unsigned word);
void format_fields_free(struct format_fields *f);

/* Find the field of that name; NULL: none. */
const struct format_field *format_fields_find(const struct format_fields *f, const char *name,
					      size_t n);

/* Get the range of the field's bytes in a record of size bytes, without bytes outside of the
 * record: false if none is left. */
bool format_field_range(const struct format_field *f, const uint8_t *record, size_t size, bool big,
			size_t *offset, size_t *length);

#endif
