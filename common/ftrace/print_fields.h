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
	bool data_loc, rel_loc; /* what is at offset says where the array stands */
};

struct format_fields {
	struct format_field *fields;
	size_t count;
	const char *print; /* what follows "print fmt:", NULL: there is none */
	size_t print_size;
};

/* Take the text apart; it must stay as it is. word: bytes of a long. Lines that are none are
 * skipped. -1: out of memory. */
int format_fields_read(struct format_fields *f, const char *text, size_t n, unsigned word);
void format_fields_free(struct format_fields *f);

/* NULL: there is none of that name. */
const struct format_field *format_fields_find(const struct format_fields *f, const char *name,
					      size_t n);

/* Where the field's bytes stand in a record of size bytes. What is not inside of it is left out:
 * false if nothing is left. */
bool format_field_range(const struct format_field *f, const uint8_t *record, size_t size, bool big,
			size_t *offset, size_t *length);

#endif
