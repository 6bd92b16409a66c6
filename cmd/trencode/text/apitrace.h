/*
 * apitrace.h - the text of `apitrace dump`: calls and their values
 *
 * Functions return 0, or -1 when out of memory, if not stated otherwise.
 */
#ifndef TR_TRENCODE_TEXT_APITRACE_H
#define TR_TRENCODE_TEXT_APITRACE_H

#include "common/stream/dictionary.h"
#include "common/util/buffer.h"

/* The directory that blobs are written to. */
struct apitrace_blobs;

/* The output of values and the options of their text. */
struct apitrace_writer {
	struct dictionary *dictionary;
	struct buffer *out;
	struct apitrace_blobs *blobs; /* NULL: only the sizes of blobs are printed */
	bool plain_octal;	      /* correct octal escapes, not those of apitrace */
	bool first;		      /* private: the next member is the first of its struct */
};

/* Append the line of a frame, with its newline. */
int text_apitrace_frame(const struct apitrace_writer *w, const struct definition *frame);

/* Write a float as %.7g, a double as %.16g. Returns the number of characters. */
size_t apitrace_float(char *out, float f);
size_t apitrace_double(char *out, double d);

#endif
