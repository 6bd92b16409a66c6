/*
 * attributes.h - arguments, return values and fields of events as names with plain values
 *
 * A report format writes these beside the name and the time of an event. The row or slice of a call
 * may be written at its leave, so the attributes of its enter are kept as bytes that need neither
 * the block nor the segment of the enter: records of a head, and for TEXT, JSON and MEMBER a text.
 *
 * Left out are the fields that ftrace has in each event (common_*), and padding without a name.
 *
 * A function that returns int returns 0, or -1 when out of memory.
 */
#ifndef TR_TRENCODE_ATTRIBUTES_H
#define TR_TRENCODE_ATTRIBUTES_H

#include "cmd/trencode/convert.h"
#include "common/stream/event.h"
#include "common/stream/reader.h"
#include "common/util/buffer.h"
#include "common/value/value_text.h"

enum attribute_kind {
	ATTRIBUTE_NULL = PLAIN_NULL,
	ATTRIBUTE_BOOL = PLAIN_BOOL,
	ATTRIBUTE_INT = PLAIN_INT,
	ATTRIBUTE_UINT = PLAIN_UINT,
	ATTRIBUTE_REAL = PLAIN_REAL,
	ATTRIBUTE_TEXT = PLAIN_TEXT,
	ATTRIBUTE_JSON,	  /* arrays and structs, as JSON */
	ATTRIBUTE_MEMBER, /* "name":value, as JSON */
};

enum { ATTRIBUTE_RECORD = 16 }; /* bytes of a record's head: u32 name, u32 kind, u64 number */

/* One name with its value. */
struct attribute {
	uint32_t name; /* number of a string of the dictionary */
	uint32_t kind;
	uint64_t number; /* of TEXT, JSON and MEMBER the size */
	double real;
	const char *text;
};

/* The attributes among the fields of one type. */
struct attribute_fields {
	uint64_t wanted; /* bit i: fields[i] is an attribute */
	uint64_t plain;	 /* bit i: fields[i] is a u32 of the fixed part, without names */
	bool known, blobs;
	bool flows; /* arguments may be the ids of flows */
};

/* The attributes of one encoder. */
struct attributes {
	struct dictionary *dictionary;
	bool members;	    /* append MEMBERs, except of counters: the caller reads only JSON */
	bool quote_numbers; /* JSON: integers that a double cannot hold become strings */
	bool mark_strings;  /* JSON: a string "0x1f" is "\u0030x1f", a pointer is "0x1f" */
	bool flows_apart;   /* the ids of flows are no attributes */
	bool phase_apart;   /* nor is the phase of a flow (PERFETTO_FLOW_PHASE) */
	bool call_numbers;  /* the source's numbers of calls are attributes too */
	struct attribute *items; /* of the last attributes_read, in order, each name once */
	size_t count, capacity;
	uint64_t dropped;		  /* items removed by attributes_keep_numbers */
	uint64_t deep;			  /* stacks of more than STACK_FRAMES frames */
	struct kernel_messages *messages; /* NULL: attributes_meta was not called */
	/* private */
	uint32_t names[16], return_name; /* strings, for arguments without a name */
	uint32_t *last, first, after;	 /* by name: number of its last record, from 1 */
	size_t nlast;
	struct attribute_fields *fields; /* by type */
	size_t nfields;
	struct location_names keys; /* "name": of each string */
	struct buffer scratch, compound;
	const struct buffer *read; /* buffer of the texts of items */
};

void attributes_init(struct attributes *a, struct dictionary *d);
void attributes_free(struct attributes *a);

/* Take a piece of a META part: the texts that events of trace-cmd name by addresses. */
int attributes_meta(struct attributes *a, const struct meta *m);

/* Append the attributes of an event. If they may be large, to must be a buffer that spills
 * (buffer.h). */
int attributes_append(struct attributes *a, const struct event *ev, struct buffer *to);

/* Append only the arguments and return values. */
int attributes_append_values(struct attributes *a, const struct event *ev, struct buffer *to);

/* Append the names of a recorded stack, outermost first, as a JSON array. */
int attributes_stack_json(struct attributes *a, uint32_t stack, struct buffer *to);

int attributes_append_named(struct attributes *a, const char *name, const struct attribute *item,
			    struct buffer *to);
int attributes_append_bool(struct attributes *a, const char *name, bool value, struct buffer *to);
int attributes_append_text(struct attributes *a, const char *name, const char *text, size_t n,
			   struct buffer *to);

/*
 * Append the value of a key of trutils(7) as an attribute of that name, a string of the dictionary:
 * the field, if it is not NULL, else an argument, ret or fake. Nothing is appended for a missing
 * value, nor for an argument with children.
 */
int attributes_append_key(struct attributes *a, const struct event *ev, const struct field *f,
			  struct text_ref key, struct buffer *to);

/* Parse appended bytes into items; of two records with the same name the later one is used. The
 * texts of items are in the buffer, and valid until it changes. */
int attributes_read(struct attributes *a, const struct buffer *bytes);

/* Remove all items but numbers, as for a counter. Returns false if no item is a number; then all
 * remain. */
bool attributes_keep_numbers(struct attributes *a, const struct type *t);
/* Report on stderr how many items were removed, if any. */
void attributes_report(const struct attributes *a);

/* Append the items as a JSON object. */
int attributes_json(struct attributes *a, struct buffer *to);

/* Append the attributes in bytes as a JSON object; nothing if bytes is empty. */
int attributes_object(struct attributes *a, const struct buffer *bytes, struct buffer *to);

/* Append the value of one item as JSON. from: the buffer that contains its text; NULL if its text
 * is not large. */
int attribute_json(const struct attribute *item, bool quote_numbers, const struct buffer *from,
		   struct buffer *to);

/*
 * One value of an argument, or one field, as an attribute.
 *
 * A function that returns int returns 0, or -1 when out of memory, or with v->bad set.
 */

/* What values are converted with. */
struct attribute_source {
	/* its scratch contains the text of the attribute until the next one */
	struct plain_source plain;
	struct buffer *compound; /* JSON of the attribute until the next one */
	bool quote_numbers;	 /* in JSON */
	bool mark_strings;	 /* in JSON: strings that look like pointers differ from them */
	/* private: of the value */
	struct buffer *json;
	struct attribute *out; /* an outermost value without children is put here; may be NULL */
};

/* Convert a field of an event; several elements become an array. */
int attribute_field(struct attribute_source *s, const struct event *ev, const struct field *f,
		    struct attribute *out);

#endif
