/*
 * json_reader.h - JSON (RFC 8259) read forward, word by word, of any length
 *
 * The nesting is checked: what comes is a valid document, or the BAD that ends it. NaN and
 * Infinity, which JSON has not, are strings.
 */
#ifndef TR_TRDECODE_CHROME_JSON_READER_H
#define TR_TRDECODE_CHROME_JSON_READER_H

#include <stdbool.h>

#include "common/util/buffer.h"
#include "common/util/error.h"

enum json_token {
	JSON_OBJECT,	 /* { */
	JSON_OBJECT_END, /* } */
	JSON_ARRAY,	 /* [ */
	JSON_ARRAY_END,	 /* ] */
	JSON_KEY,	 /* text; its value follows */
	JSON_STRING,	 /* text */
	JSON_NUMBER,	 /* text, as it stands */
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL,
	JSON_END, /* of the document, and of the input */
	JSON_BAD, /* error says what and where; nothing more comes */
};

enum { JSON_DEPTH = 256, JSON_TEXT = 64 << 20 };

struct json_reader {
	int fd;
	const char *name; /* what messages call it */
	uint8_t *data;
	size_t at, filled, capacity;
	uint64_t offset; /* of data[0] */
	bool at_end;	 /* of the file */
	bool cut;	 /* BAD because the input ended */
	struct error error;

	struct buffer text; /* of KEY, STRING, NUMBER; NUL behind it */
	int depth;
	bool array[JSON_DEPTH]; /* is what is open an array? */
	enum {
		JSON_WANT_VALUE,
		JSON_WANT_FIRST, /* a value or key, or the end of what was begun */
		JSON_WANT_NEXT,	 /* a comma, or the end of it */
	} want;
	bool value_follows; /* a key was read */
};

/* head: n bytes that were read from fd already. -1: memory. */
int json_open(struct json_reader *r, int fd, const char *name, const uint8_t *head, size_t n);
void json_close(struct json_reader *r);

enum json_token json_next(struct json_reader *r);
/* Step over the value that token began. false: BAD. */
bool json_skip(struct json_reader *r, enum json_token token);
/* The same, its text appended to b as compact JSON. -1: BAD, or memory. */
int json_copy(struct json_reader *r, enum json_token token, struct buffer *b);

/* Is the text one number as JSON has them? */
bool json_is_number(const char *text);

/* Where the reader stands. */
static inline uint64_t json_offset(const struct json_reader *r)
{
	return r->offset + r->at;
}

static inline bool json_is(const struct json_reader *r, const char *text)
{
	return r->text.size == strlen(text) && !memcmp(r->text.data, text, r->text.size);
}

#endif
