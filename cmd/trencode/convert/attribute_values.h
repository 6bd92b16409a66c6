/*
 * attribute_values.h - one value of an argument, or one field, as an attribute
 *
 * A function that returns int returns 0, or -1 when out of memory, or with v->bad set.
 */
#ifndef TR_TRENCODE_CONVERT_ATTRIBUTE_VALUES_H
#define TR_TRENCODE_CONVERT_ATTRIBUTE_VALUES_H

#include "cmd/trencode/convert/attributes.h"
#include "common/value/value_plain.h"

/* What values are converted with. */
struct attribute_source {
	/* its scratch contains the text of the attribute until the next one */
	struct plain_source plain;
	struct buffer *compound; /* JSON of the attribute until the next one */
	bool quote_numbers;	 /* in JSON */
	bool mark_strings;	 /* in JSON: strings that look like pointers differ from them */
};

/* Convert the next value, with all its children. */
int attribute_value(const struct attribute_source *s, struct values *v, struct attribute *out);

/* Append the next value as JSON. */
int attribute_value_json(const struct attribute_source *s, struct values *v, struct buffer *to);

/* Convert a field of an event; several elements become an array. */
int attribute_field(const struct attribute_source *s, const struct event *ev, const struct field *f,
		    struct attribute *out);

/* Convert one element of an array. */
int attribute_element(const struct attribute_source *s, const struct event *ev,
		      const struct field *f, uint32_t index, struct attribute *out);

/* Append a field as JSON. */
int attribute_field_json(const struct attribute_source *s, const struct event *ev,
			 const struct field *f, struct buffer *to);

/* Append decimal digits, with a minus, in quotes if quote is set. */
int attribute_put_integer(struct buffer *to, uint64_t number, bool minus, bool quote);

#endif
