/*
 * ctf.h - functions that the files of the text of CTF traces share
 */
#ifndef TR_TRENCODE_TEXT_CTF_CTF_H
#define TR_TRENCODE_TEXT_CTF_CTF_H

#include "common/stream/field.h"
#include "common/stream/value.h"
#include "common/util/text.h"

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

/* Print a field of an event whose type declares its fields. */
void text_ctf_field(struct text *out, const struct event *ev, const struct field *f);

/* Print the next value of v with the values nested in it; "?" and v->bad where it is malformed. */
void text_ctf_value(struct text *out, const struct dictionary *d, struct values *v);

#endif
