/*
 * apitrace.h - the text of `apitrace dump`: of calls, of their values
 */
#ifndef TR_TRENCODE_TEXT_APITRACE_APITRACE_H
#define TR_TRENCODE_TEXT_APITRACE_APITRACE_H

#include "common/util/buffer.h"
#include "common/stream/dictionary.h"
#include "common/util/text.h"
#include "common/stream/value.h"

/* A blob that is to be kept: 0, or -1. Its text goes to where the value stands. */
struct apitrace_blobs;

struct apitrace_writer {
	struct dictionary *dictionary;
	struct buffer *out;
	struct apitrace_blobs *blobs; /* NULL: their sizes only */
	bool plain_octal;	      /* not as apitrace has it */
};

/* The text of the next value, children with it. -1: out of memory. */
int apitrace_value(const struct apitrace_writer *w, struct values *v);
/* The next value, which v stays in front of, as the number that apitrace takes it for where it
 * needs one. false: it is none. */
bool apitrace_number(struct values v, uint64_t *n);
/* A text in quotes, as apitrace escapes it. */
int apitrace_string(const struct apitrace_writer *w, const uint8_t *p, size_t n);
/* One line a frame, its newline with it. */
int apitrace_frame(const struct apitrace_writer *w, const struct definition *frame);

/* %.7g of a float and %.16g of a double: characters written. */
size_t apitrace_float(char *out, float f);
size_t apitrace_double(char *out, double d);

/* The header's properties, sorted by name. -1: out of memory. */
int apitrace_properties(const struct buffer *header, struct text *out, bool plain_octal,
			struct error *e);

/* --- places --- */

/* What never changes in the text of a function's calls. */
struct apitrace_location {
	const struct location *location;
	unsigned flags;
	bool may_be_hidden;
	uint32_t names; /* of arguments */
	uint32_t *ends; /* where each part ends in text: "name(", "first = ", ", second = " ... */
	char *text;
};

struct apitrace_locations {
	struct apitrace_location *at; /* by number */
	size_t size;
};

/* Valid until the next call. NULL: out of memory. */
const struct apitrace_location *apitrace_location(struct apitrace_locations *s,
						  const struct dictionary *d, uint32_t number);
void apitrace_locations_free(struct apitrace_locations *s);

/* --- blobs: files of a directory --- */

struct apitrace_blobs *apitrace_blobs_open(const char *directory, struct error *e);
void apitrace_blobs_close(struct apitrace_blobs *b);
/* Put a blob into a file without a name yet, and a mark of it into out. -1: b's error. */
int apitrace_blobs_keep(struct apitrace_blobs *b, const void *data, size_t n, struct buffer *out);
/* The text of a part of a call, n bytes of piece from at on, with the marks replaced by names;
 * source: whose call it is, by number; number counts the call's blobs. */
int apitrace_blobs_name(struct apitrace_blobs *b, uint32_t source, uint32_t call, unsigned *number,
			const struct buffer *piece, size_t at, size_t n, struct buffer *out);
/* Of a text that is not printed: its blobs have no file. */
void apitrace_blobs_drop(struct apitrace_blobs *b, const uint8_t *text, size_t n);
const struct error *apitrace_blobs_error(const struct apitrace_blobs *b);

#endif
