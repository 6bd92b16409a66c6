/*
 * ctf.h - functions that the files of the text of CTF traces share
 */
#ifndef TR_TRENCODE_TEXT_CTF_CTF_H
#define TR_TRENCODE_TEXT_CTF_CTF_H

#include "common/util/text.h"
#include "common/value/value_plain.h"

/* A text that is printed in front of a field, or after the last one. */
struct text_ctf_lead {
	char *text;
	size_t size;
};

/* The constant texts of the lines of one type. */
struct text_ctf_line {
	bool cpu;		     /* "{ cpu_id = 0 }, " is printed before the fields */
	struct text_ctf_lead *leads; /* one for each field, and one after the last */
	uint32_t nfields;
};

/* Make the texts of the event's type. Returns NULL when out of memory. */
struct text_ctf_line *text_ctf_line_new(const struct dictionary *d, const struct event *ev);
void text_ctf_line_free(struct text_ctf_line *l);

/* The output of fields and values. */
struct text_ctf_values {
	struct buffer *out;
	struct plain_source plain; /* for values that babeltrace2 does not have */
	const struct field *field; /* private: that is appended; NULL: a value */
};

/* Append a field of an event whose type declares its fields. -1: out of memory. */
int text_ctf_field(struct text_ctf_values *c, const struct event *ev, const struct field *f);

/* Append the value after v with the values in it. -1: out of memory, or v->bad. */
int text_ctf_value(struct text_ctf_values *c, struct values *v);

#endif
