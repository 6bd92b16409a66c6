/*
 * attributes.h - arguments, return values and fields of events as names with plain values
 *
 * What a report format says of an event beside its name and its time. The events of a call come one
 * by one, and its row or slice may be written at its end, so what an enter says is kept as bytes
 * that need neither the block nor the segment they came from.
 *
 * Left out are the fields that ftrace has in each event (common_*), and padding without a name.
 */
#ifndef TR_TRENCODE_CONVERT_ATTRIBUTES_H
#define TR_TRENCODE_CONVERT_ATTRIBUTES_H

#include "common/stream/event.h"
#include "common/stream/reader.h"
#include "common/util/buffer.h"
#include "common/value/value_plain.h"
#include "cmd/trencode/convert/location_names.h"

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

struct attribute {
	uint32_t name; /* number of a string of the dictionary */
	uint32_t kind;
	uint64_t number; /* of TEXT, JSON and MEMBER the size */
	double real;
	const char *text;
};

/* Facts of a type, found once. */
struct attribute_fields {
	uint64_t wanted; /* bit i: fields[i] is an attribute */
	uint64_t plain;	 /* bit i: and a u32 of the fixed part, without names */
	bool known, blobs;
};

struct attributes {
	struct dictionary *dictionary;
	bool members;		 /* only JSON is read: append MEMBERs, except of counters */
	bool quote_numbers;	 /* JSON: integers that a double cannot hold become strings */
	bool call_numbers;	 /* those of the source are attributes too */
	struct attribute *items; /* of the last attributes_read, in their order, no name twice */
	size_t count, capacity;
	uint64_t dropped;		  /* by attributes_keep_numbers */
	struct kernel_messages *messages; /* NULL: attributes_meta was not called */
	/* its own */
	uint32_t names[16], return_name; /* of arguments without one */
	uint32_t *last, first, after;	 /* by name: number of its last record, from 1 on */
	size_t nlast;
	struct attribute_fields *fields; /* by type */
	size_t nfields;
	struct location_names keys; /* "name": of each string */
	struct buffer scratch, compound;
	const struct buffer *read; /* what items point into */
};

void attributes_init(struct attributes *a, struct dictionary *d);
void attributes_free(struct attributes *a);

/* A piece of a META block of the source with that number: texts that events name. -1: out of
 * memory.
 */
int attributes_meta(struct attributes *a, const struct meta *m);

/* Append what the event says. Where that may be large, to is one that spills (buffer_file.h). -1:
 * out of memory. So do all others that return int. */
int attributes_append(struct attributes *a, const struct event *ev, struct buffer *to);

/* Arguments and return values only. */
int attributes_append_values(struct attributes *a, const struct event *ev, struct buffer *to);

/* Is this field one that is told? */
bool attribute_wanted(const struct field *f);

/* "lost", "damage", "not read" */
const char *gap_reason_name(uint32_t reason);

/* Append one of the encoder's own. */
int attributes_append_bool(struct attributes *a, const char *name, bool value, struct buffer *to);

/* Take apart what was appended; of two with the same name the later one holds. What items point to
 * is the buffer's and lasts as long as it is not changed. */
int attributes_read(struct attributes *a, const struct buffer *bytes);

/* Of the items only numbers stay, as of a counter. false: there are none, and all stay. */
bool attributes_keep_numbers(struct attributes *a);
/* Say on stderr how many did not, if there were any. */
void attributes_report(const struct attributes *a);

/* Append the items as a JSON object. */
int attributes_json(struct attributes *a, struct buffer *to);

/* Both: what was appended as a JSON object; nothing where nothing was. */
int attributes_object(struct attributes *a, const struct buffer *bytes, struct buffer *to);

/* One of them as JSON. from: the buffer that its text may be in; NULL: its text is not large. */
int attribute_json(const struct attribute *item, bool quote_numbers, const struct buffer *from,
		   struct buffer *to);

#endif
