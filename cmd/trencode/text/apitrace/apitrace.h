/*
 * apitrace.h - the text of `apitrace dump`: calls and their values
 *
 * Functions return 0, or -1 when out of memory, if not stated otherwise.
 */
#ifndef TR_TRENCODE_TEXT_APITRACE_APITRACE_H
#define TR_TRENCODE_TEXT_APITRACE_APITRACE_H

#include "common/util/buffer.h"
#include "common/stream/dictionary.h"
#include "common/util/text.h"
#include "common/stream/value.h"

/* The directory that blobs are written to. */
struct apitrace_blobs;

/* The output of values and the options of their text. */
struct apitrace_writer {
	struct dictionary *dictionary;
	struct buffer *out;
	struct apitrace_blobs *blobs; /* NULL: only the sizes of blobs are printed */
	bool plain_octal;	      /* correct octal escapes, not those of apitrace */
};

/* Append the text of the next value with its children. Returns -1 also for a malformed value and
 * for an error of the blobs. */
int apitrace_value(const struct apitrace_writer *w, struct values *v);
/* Read the next value as a number, as apitrace does where it needs one; v is a copy. Returns false
 * if the value is not a number. */
bool apitrace_number(struct values v, uint64_t *n);
/* Append a text in quotes, with the escapes of apitrace. */
int apitrace_string(const struct apitrace_writer *w, const uint8_t *p, size_t n);
/* Append the line of a frame, with its newline. */
int apitrace_frame(const struct apitrace_writer *w, const struct definition *frame);

/* Write a float as %.7g, a double as %.16g. Returns the number of characters. */
size_t apitrace_float(char *out, float f);
size_t apitrace_double(char *out, double d);

/* Print the properties of the header, sorted by name. Returns -1 with *e filled on errors. */
int apitrace_properties(const struct buffer *header, struct text *out, bool plain_octal,
			struct error *e);

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

/* Return the texts of a location, valid until the next call; NULL when out of memory. */
const struct apitrace_location *apitrace_location(struct apitrace_locations *s,
						  const struct dictionary *d, uint32_t number);
void apitrace_locations_free(struct apitrace_locations *s);

/* --- blobs: files of a directory --- */

/* A call whose blobs get names. */
struct apitrace_blob_names {
	uint32_t source, call; /* numbers of its source and of itself */
	unsigned number;       /* of the call's next blob */
};

/* Open or make the directory. Returns NULL with *e filled on errors. */
struct apitrace_blobs *apitrace_blobs_open(const char *directory, struct error *e);
void apitrace_blobs_close(struct apitrace_blobs *b);
/* Write a blob to a file with a temporary name, and append a mark of the file to out. On errors
 * returns -1; apitrace_blobs_error has the error. */
int apitrace_blobs_keep(struct apitrace_blobs *b, const void *data, size_t n, struct buffer *out);
/* Append a part of the text of a call, n bytes of piece from at on, with the marks replaced by
 * names of files. Errors as above. */
int apitrace_blobs_name(struct apitrace_blobs *b, struct apitrace_blob_names *names,
			const struct buffer *piece, size_t at, size_t n, struct buffer *out);
/* Remove the files of the blobs of a text that is not printed. */
void apitrace_blobs_drop(struct apitrace_blobs *b, const uint8_t *text, size_t n);
const struct error *apitrace_blobs_error(const struct apitrace_blobs *b);

#endif
