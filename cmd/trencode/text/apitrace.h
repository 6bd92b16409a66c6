/*
 * apitrace.h - the text of `apitrace dump`: calls and their values
 *
 * Functions return 0, or -1 when out of memory, if not stated otherwise.
 */
#ifndef TR_TRENCODE_TEXT_APITRACE_H
#define TR_TRENCODE_TEXT_APITRACE_H

#include "common/stream/dictionary.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"
#include "common/util/text.h"

/* The directory that blobs are written to. */
struct apitrace_blobs;

/* The output of values and the options of their text. */
struct apitrace_writer {
	struct dictionary *dictionary;
	struct buffer *out;
	struct apitrace_blobs *blobs; /* NULL: only the sizes of blobs are printed */
	bool plain_octal;	      /* correct octal escapes, not those of apitrace */
};

/* Append the line of a frame, with its newline. */
int text_apitrace_frame(const struct apitrace_writer *w, const struct definition *frame);

/* Write a float as %.7g, a double as %.16g. Returns the number of characters. */
size_t apitrace_float(char *out, float f);
size_t apitrace_double(char *out, double d);

/* --- locations --- */

/* The constant texts of the calls of a function. */
struct apitrace_location {
	const struct location *location;
	unsigned flags;
	bool may_be_hidden; /* apitrace dump hides calls of it */
	uint32_t names;	    /* number of named arguments */
	uint32_t *ends;	    /* ends of the parts of text: "name(", "first = ", ", second = " ... */
	char *text;
};

/* The texts of all functions. */
struct apitrace_locations {
	struct apitrace_location *at; /* by number */
	size_t size;
};

/* Get the texts of a location, valid until the next call; NULL when out of memory. */
const struct apitrace_location *apitrace_location(struct apitrace_locations *s,
						  const struct dictionary *d, uint32_t number);

/* --- blobs: files of a directory --- */

/* A call whose blobs get names. */
struct apitrace_blob_names {
	uint32_t source, call; /* numbers of its source and of itself */
	unsigned number;       /* of the call's next blob */
};

#endif
