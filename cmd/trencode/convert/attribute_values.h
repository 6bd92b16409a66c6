/*
 * attribute_values.h - one value of an argument, or one field, as an attribute
 */
#ifndef TR_TRENCODE_CONVERT_ATTRIBUTE_VALUES_H
#define TR_TRENCODE_CONVERT_ATTRIBUTE_VALUES_H

#include "cmd/trencode/convert/attributes.h"
#include "common/value/value_plain.h"

struct attribute_source {
	struct plain_source
		plain;		 /* its scratch holds a text of the attribute until the next one */
	struct buffer *compound; /* the same of JSON */
	bool quote_numbers;	 /* in JSON */
};

/* The next value, with all its children. -1: out of memory, or v->bad. */
int attribute_value(const struct attribute_source *s, struct values *v, struct attribute *out);

/* The same, appended as JSON. */
int attribute_value_json(const struct attribute_source *s, struct values *v, struct buffer *to);

/* A field of an event; several elements become an array. -1: out of memory. */
int attribute_field(const struct attribute_source *s, const struct event *ev, const struct field *f,
		    struct attribute *out);

/* The same, appended as JSON. */
int attribute_field_json(const struct attribute_source *s, const struct event *ev,
			 const struct field *f, struct buffer *to);

/* Decimal digits, with a minus, in quotes. */
int attribute_put_integer(struct buffer *to, uint64_t number, bool minus, bool quote);

#endif
