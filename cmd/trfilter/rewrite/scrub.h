/*
 * scrub.h - pseudonyms in the place of names, paths and values
 *
 * A pseudonym is a keyed hash: the same text has the same one wherever it stands and in every run
 * with that key, and who does not have the key cannot find the text by trying.
 */
#ifndef TRFILTER_SCRUB_H
#define TRFILTER_SCRUB_H

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/siphash.h"

#include <stdbool.h>

enum scrub_what {
	SCRUB_NAMES = 1, /* of functions and threads */
	SCRUB_ARGS = 2,	 /* values of arguments, texts in fields of events */
	SCRUB_PATHS = 4, /* of modules and source files */
};

/* 12 hexadecimal digits behind an x: as the name of a thread it is not cut off */
enum { PSEUDONYM = 13 };

struct scrub {
	unsigned what;
	struct siphash_key key;
};

/* Take a list with commas: names, args, paths. 0, or -1 with e filled. */
int scrub_parse(struct scrub *s, const char *list, struct error *e);
/* Out of a text, or NULL: a random one. */
int scrub_key(struct scrub *s, const char *text, struct error *e);

void scrub_pseudonym(const struct scrub *s, const void *text, size_t n, char out[PSEUDONYM]);
/* Append what stands for a path: a pseudonym for each part between slashes; what is in brackets,
 * as [kernel], stays. -1: memory. */
int scrub_path(const struct scrub *s, const char *path, size_t n, struct buffer *out);
/* Bytes become others of the same number. */
void scrub_bytes(const struct scrub *s, const uint8_t *bytes, size_t n, uint8_t *out);
/* The eight of which these consist, again and again. */
void scrub_pattern(const struct scrub *s, const uint8_t *bytes, size_t n, uint8_t out[8]);
/* A number becomes another; 0 stays. */
uint64_t scrub_number(const struct scrub *s, uint64_t number);

#endif
