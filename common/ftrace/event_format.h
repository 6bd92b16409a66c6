/*
 * event_format.h - the text of an event's format file: its number, name and fields
 *
 *     field:__data_loc char[] name;	offset:8;	size:4;	signed:1;
 *
 * Facts: the kernel's events/SYSTEM/EVENT/format files, of 2.6.31 to 6.12.
 */
#ifndef TR_FTRACE_EVENT_FORMAT_H
#define TR_FTRACE_EVENT_FORMAT_H

#include "common/util/error.h"
#include "common/stream/stream.h"

#include <stdbool.h>
#include <stddef.h>

/* One field; texts point into the format's text, except the type name. */
struct event_field {
	const char *name;
	size_t name_size;
	uint32_t offset, size; /* bytes in the record; size 0: up to its end */
	bool is_signed, common, array, pointer, has_long;
	bool data_loc, rel_loc; /* the value at offset is the array's offset */
	/* as declared in the stream */
	enum field_kind kind;
	enum field_where where;
	uint32_t element,
		count; /* element: bytes. count 0: a scalar, or an array to the end of the record */
	char type_name[96]; /* "unsigned long", "char[16]", "__data_loc char[]" */
	bool not_text; /* an array of characters with other bytes was printed: print_fields_text */
};

struct event_format {
	const char *name;
	size_t name_size;
	bool escaped; /* name and system are escaped: common/formats/tracecmd.h */
	uint32_t id;
	struct event_field *fields;
	size_t nfields, fields_capacity;
	const char *print; /* text after "print fmt:", NULL: none */
	size_t print_size;
};

/* Parse the text, which must stay unchanged. long_size: that of the kernel. Returns 0; 1: the text
 * has no name or no ID, but may have fields; -1: out of memory. Lines that are not fields are
 * skipped. */
int event_format_parse(struct event_format *f, const char *text, size_t size, unsigned long_size);
void event_format_free(struct event_format *f);

/* Find the field of that name; NULL: none. */
const struct event_field *event_format_find(const struct event_format *f, const char *name,
					    size_t n);

/* Return the bytes of one element of an array, 1, 2, 4 or 8; 0: not known. */
static inline uint8_t event_field_element(const struct event_field *f)
{
	return f->kind == FIELD_BYTES ? 0 : (uint8_t)f->element;
}

/* Get the range of the field's bytes in a record of size bytes, without bytes outside of the
 * record: false if none is left. */
bool event_field_range(const struct event_field *f, const uint8_t *record, size_t size, bool big,
		       size_t *offset, size_t *length);

/* Return the bytes of a type by its name in C or in the kernel; 0: not known. */
unsigned kernel_type_size(const char *name, size_t n, unsigned long_size, bool *is_signed);

#endif
