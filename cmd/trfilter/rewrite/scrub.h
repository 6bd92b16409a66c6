/*
 * scrub.h - replace names, paths and values by pseudonyms
 *
 * A pseudonym is a keyed hash. A text has the same pseudonym everywhere and in every run with that
 * key. Without the key, the text cannot be found by trying candidates.
 */
#ifndef TR_TRFILTER_REWRITE_SCRUB_H
#define TR_TRFILTER_REWRITE_SCRUB_H

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/siphash.h"

#include <stdbool.h>

enum scrub_what {
	SCRUB_NAMES = 1, /* names of functions and threads */
	SCRUB_ARGS = 2,	 /* values of arguments, texts in fields of events */
	SCRUB_PATHS = 4, /* paths of modules and source files */
};

/* an x and 12 hexadecimal digits: short enough for the name of a thread */
enum { PSEUDONYM = 13 };

struct scrub {
	unsigned what;
	struct siphash_key key;
};

/* Parse a comma-separated list: names, args, paths. Returns 0, or -1 with e filled. */
int scrub_parse(struct scrub *s, const char *list, struct error *e);
/* Make the key from a text, or for NULL a random one. */
int scrub_key(struct scrub *s, const char *text, struct error *e);

void scrub_pseudonym(const struct scrub *s, const void *text, size_t n, char out[PSEUDONYM]);
/* Append the pseudonym of a path: one for each part between slashes; parts in brackets, such as
 * [kernel], are unchanged. Returns -1 when out of memory. */
int scrub_path(const struct scrub *s, const char *path, size_t n, struct buffer *out);
/* Replace bytes by as many other bytes. */
void scrub_bytes(const struct scrub *s, const uint8_t *bytes, size_t n, uint8_t *out);
/* Make the eight bytes that are repeated as a replacement. */
void scrub_pattern(const struct scrub *s, const uint8_t *bytes, size_t n, uint8_t out[8]);
/* Replace a number; 0 is unchanged. */
uint64_t scrub_number(const struct scrub *s, uint64_t number);

#endif
