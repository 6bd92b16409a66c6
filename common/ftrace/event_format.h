/*
 * event_format.h - the text of an event's format file: its number, name and fields
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
	char type_name[96];    /* "unsigned long", "char[16]", "__data_loc char[]" */
	uint32_t offset, size; /* of the whole field, as in the format file */
	bool is_signed, common;
	/* as declared in the stream */
	enum field_kind kind;
	enum field_where where;
	uint32_t element,
		count; /* element: bytes. count 0: a scalar, or an array to the end of the record */
};

struct event_format {
	const char *name;
	size_t name_size;
	bool escaped; /* name and system are escaped: common/formats/tracecmd.h */
	uint32_t id;
	struct event_field *fields;
	size_t nfields, fields_capacity;
};

/* Parse the text. long_size: that of the kernel. Returns 0; 1: the text is no format (no name,
 * no ID); -1: out of memory. Lines that are no fields are skipped. */
int event_format_parse(struct event_format *f, const char *text, size_t size, unsigned long_size);
void event_format_free(struct event_format *f);

const struct event_field *event_format_find(const struct event_format *f, const char *name);

#endif
