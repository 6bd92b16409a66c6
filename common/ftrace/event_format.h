/*
 * event_format.h - the text of an event's format file: its number, name and fields
 *
 *     field:__data_loc char[] name;	offset:8;	size:4;	signed:1;
 *
 * Facts: the kernel's events/SYSTEM/EVENT/format files, of 2.6.31 to 6.12.
 */
#ifndef TR_FTRACE_EVENT_FORMAT_H
#define TR_FTRACE_EVENT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/ftrace/ring.h"
#include "common/stream/stream.h"
#include "common/util/error.h"

struct field_entry;
struct kernel_names;
struct type;
struct type_entry;
struct writer;

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

/* Get the bytes of one element of an array, 1, 2, 4 or 8; 0: not known. */
static inline uint8_t event_field_element(const struct event_field *f)
{
	return f->kind == FIELD_BYTES ? 0 : (uint8_t)f->element;
}

/* Get the range of the field's bytes in a record of size bytes, without bytes outside of the
 * record: false if none is left. */
bool event_field_range(const struct event_field *f, const uint8_t *record, size_t size, bool big,
		       size_t *offset, size_t *length);

/* Get the bytes of a type by its name in C or in the kernel; 0: not known. */
unsigned kernel_type_size(const char *name, size_t n, unsigned long_size, bool *is_signed);

/*
 * The events of a recording of the kernel by their ids, as their format files describe them.
 */

/* Where a number is in a record. */
struct number_at {
	uint32_t offset, size; /* bytes; size 0: there is none */
};

/* The tid and the name of a thread, in a record of the scheduler. */
struct task_at {
	struct number_at tid;
	struct number_at comm; /* bytes of an array; size 0: there is none */
};

struct ftrace_event {
	struct event_format format;
	const char *system, *text; /* NULL: the recording has no format of this id */
	size_t system_size, text_size;
	enum type_kind kind; /* ENTER or LEAVE of a function, else INSTANT */
	/* of the kernel's own tracers: the function, and the depth of its call */
	struct number_at address, depth;
	uint32_t least; /* bytes of a record with both */
	/* Where the stack of an event of the kernel's own tracers is: of kernel_stack and
	   user_stack the addresses, innermost first; of function the address of the caller. */
	struct {
		struct number_at caller; /* the first one; size 0: the event has no stack */
		struct number_at count;	 /* how many; size 0: up to the end of the record */
		struct number_at tgid;	 /* of user_stack: the process */
		bool is_parent;		 /* caller is that of the event's address */
	} stack;
	struct number_at next_pid, pid;
	struct task_at tasks[2]; /* of sched_switch, sched_wakeup and sched_wakeup_new */
	bool mark;		 /* its text may be a mark of atrace: print, tracing_mark_write */
	uint32_t type;		 /* id in the stream, 0: not yet declared */
};

struct ftrace_events {
	struct ftrace_event *event;
	size_t count, capacity;
	uint16_t by_id[65536];	    /* 1 + index of the event */
	struct number_at type, pid; /* of the common fields, equal in all events */
	const char *machine;	    /* as of uname -m, NULL: not known */
	struct kernel_names *names; /* NULL: none was looked for */
};

enum ftrace_added { FTRACE_ADDED, FTRACE_NO_FORMAT, FTRACE_KNOWN, FTRACE_NO_MEMORY };

/* Add the event of a format file; system and text stay the caller's. Of equal ids the first
 * counts. long_size: that of the kernel. */
enum ftrace_added ftrace_events_add(struct ftrace_events *t, const char *system, size_t system_size,
				    const char *text, size_t text_size, unsigned long_size);
/* Make an event for an id without a format: its common fields are those of any other event. NULL:
 * out of memory. */
struct ftrace_event *ftrace_events_unknown(struct ftrace_events *t, uint16_t id);
void ftrace_events_free(struct ftrace_events *t);

enum { FTRACE_FIELDS = 1024 };

/* Give the fields of all events their kinds, after the last event was added: an unsigned long is
 * hexadecimal, but decimal if another event has a decimal field of that name, as fd of system calls
 * other than mmap. */
int ftrace_events_kinds(struct ftrace_events *t);

/* Append the fields of an event, at most FTRACE_FIELDS, to those of a type. */
void ftrace_fields(struct ftrace_events *t, const struct ftrace_event *v, struct writer *w,
		   struct field_entry *fields, struct type_entry *type);

/* Get the event of an id; NULL: there is none. */
static inline struct ftrace_event *ftrace_events_find(struct ftrace_events *t, uint16_t id)
{
	return t->by_id[id] ? &t->event[t->by_id[id] - 1] : NULL;
}

/* Get the name of the event of a type, of *size bytes. The type of a mark has the name of the mark.
 */
const char *ftrace_event_name(const struct type *t, size_t *size);

static inline uint64_t event_format_ftrace_number(const struct ring_record *r, struct number_at at,
						  bool big)
{
	return get_uint(r->data + at.offset, at.size, big);
}

static inline bool ftrace_number_fits(const struct ring_record *r, struct number_at at)
{
	return at.size && at.offset + at.size <= r->size;
}

#endif
