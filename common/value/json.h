/*
 * json.h - JSON
 */
#ifndef TR_VALUE_JSON_H
#define TR_VALUE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/text.h"

/*
 * Writes strings and numbers of JSON.
 */

/* --- decodes names in which bytes that a format forbids are written \xHH or _xHH --- */

/* Decode in place: replace each mark followed by xHH (lower case, not 00) by its byte. Returns
 * the remaining size. */
static inline size_t escape_undo(char *name, size_t n, char mark)
{
	static const char digits[] = "0123456789abcdef";
	size_t to = 0;

	for (size_t i = 0; i < n; i++) {
		const char *high = NULL, *low = NULL;

		if (name[i] == mark && n - i > 3 && name[i + 1] == 'x' && name[i + 2] &&
		    name[i + 3]) {
			high = strchr(digits, name[i + 2]);
			low = strchr(digits, name[i + 3]);
		}
		if (high && low && (high > digits || low > digits)) {
			name[to++] = (char)((high - digits) << 4 | (low - digits));
			i += 3;
		} else {
			name[to++] = name[i];
		}
	}
	return to;
}

/* Write the bytes as a JSON string (RFC 8259) with its quotes. The output is valid UTF-8: a byte
 * that is part of no valid character becomes U+FFFD. */
void json_string(struct text *t, const char *p, size_t n);

/* Append the bytes as a JSON string to a buffer: -1 when out of memory. */
int json_append_string(struct buffer *b, const char *p, size_t n);

/* Append without the quotes, for a string that is written in pieces. */
int json_append_inside(struct buffer *b, const char *p, size_t n);

/* Append a number with a fraction. JSON has neither infinities nor NaN: these are written as
 * strings. */
int json_append_real(struct buffer *b, double number);
/* Append a number with the digits that a float needs. */
int json_append_float(struct buffer *b, float number);

/*
 * Reads JSON (RFC 8259) of any length forward, token by token.
 *
 * The reader checks the nesting: the tokens are a valid document, or end with BAD. It also accepts
 * what programs write that have no library for JSON: control characters in strings, commas without
 * an element ("[1,]", "[,1]", {"a":1,}), and NaN, Infinity, nan, inf and -inf, which are strings.
 * An escape that JSON does not have ("C:\Users") is read as its characters, and counted.
 *
 * An element of an array that is no valid JSON need not be the end: json_recover finds the next
 * one.
 */

enum json_token {
	JSON_OBJECT,	 /* { */
	JSON_OBJECT_END, /* } */
	JSON_ARRAY,	 /* [ */
	JSON_ARRAY_END,	 /* ] */
	JSON_KEY,	 /* text; its value follows */
	JSON_STRING,	 /* text */
	JSON_NUMBER,	 /* text, unchanged */
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL,
	JSON_END, /* end of the document and of the input */
	JSON_BAD, /* error contains the fault and its offset; no more tokens follow */
};

/* JSON_DEPTH: the usual maximum of nesting, as its users may recurse; JSON_DEEPEST: for those that
 * do not. */
enum { JSON_DEPTH = 1024, JSON_DEEPEST = 16 * 1024, JSON_TEXT = 64 << 20, JSON_KEPT = 1 << 20 };

/* What json_recover found. */
enum json_found {
	JSON_FOUND_OBJECT, /* the beginning of an object, as if json_next returned JSON_OBJECT */
	JSON_FOUND_NEXT,   /* the end of the bad element: json_next goes on in the array */
	JSON_FOUND_NONE,   /* the end of the input, or of reading */
};

/* A document and the current token. */
struct json_reader {
	int fd;
	const char *name; /* name of the input in messages */
	uint8_t *data;
	size_t at, filled, capacity;
	uint64_t offset; /* offset in the file of data[0] */
	bool at_end;	 /* the end of the file is in data */
	bool cut;	 /* BAD because the input ended */
	bool failed;	 /* BAD because reading failed, or out of memory */
	struct error error;
	bool keeps;	 /* the bytes from data[kept] on are kept */
	size_t kept;	 /* after the '{' of an object */
	int kept_depth;	 /* depth around that object */
	uint64_t reread; /* bytes that were read more than once */
	bool in_text;	 /* json_recover: in a string */
	bool doubt;	 /* the same: quotes or brackets are missing, so the nesting is not known */
	bool lines;	 /* documents are in lines: a string with the end of a line is BAD */
	uint64_t escapes;   /* number of escapes that JSON does not have */
	uint64_t escape_at; /* offset of the first one */

	struct buffer text; /* text of KEY, STRING, NUMBER; ends with a NUL */
	int depth;
	int deepest;			 /* maximum of depth; 0: JSON_DEPTH */
	uint8_t array[JSON_DEEPEST / 8]; /* a bit by depth: an array, else an object */
	enum {
		JSON_WANT_VALUE,
		JSON_WANT_FIRST, /* a value or key, or the end of the array or object */
		JSON_WANT_NEXT,	 /* a comma, or the end of the array or object */
	} want;
	bool value_follows; /* a key was read */
};

/* Test whether what was begun at a depth is an array, else an object. */
static inline bool json_is_array(const struct json_reader *r, int depth)
{
	return r->array[depth / 8] & 1u << depth % 8;
}

/* Begin a document. head: n bytes that were read from fd already. -1: out of memory. */
int json_open(struct json_reader *r, int fd, const char *name, const uint8_t *head, size_t n);
/* Begin a document that is a text in memory. r: all zero, or such a document was read with it. */
void json_open_text(struct json_reader *r, const char *text, size_t n);
void json_close(struct json_reader *r);

/* Read the next token. */
enum json_token json_next(struct json_reader *r);
/* Begin another document after one that has ended. false: the input has ended. */
bool json_another(struct json_reader *r);
/* After BAD, begin a document at the next line. false: there is none, or reading failed. */
bool json_next_line(struct json_reader *r);
/* Begin a document with the object that json_recover found, as if json_next returned JSON_OBJECT.
 * false: it is not kept. */
bool json_restart(struct json_reader *r);
/* Skip the value that token began. false: BAD. */
bool json_skip(struct json_reader *r, enum json_token token);
/* Append the value that token began to b as compact JSON, unless it has more than `most` bytes:
 * then 1, and b is unchanged. -1: BAD, or out of memory. */
int json_copy(struct json_reader *r, enum json_token token, struct buffer *b, size_t most);

/* Keep the bytes of the object that json_next began, up to JSON_KEPT of them. */
void json_keep(struct json_reader *r);
/* Keep none: the object ended. */
static inline void json_keep_none(struct json_reader *r)
{
	r->keeps = false;
}
/*
 * After BAD, find where reading can go on in the array at a depth, which json_next began. Goes back
 * to the object that is kept: a string without an end, or an object, may contain the elements after
 * it. Of an object that is found, the caller decides whether it is an element. If it is, call
 * json_rejoin after its end; if not, or if it is BAD, call json_recover again, which looks into it.
 * Takes linear time. depth 0: only finds objects, in no array.
 */
enum json_found json_recover(struct json_reader *r, int depth);
void json_rejoin(struct json_reader *r, int depth);
/* After BAD in an object at depth 1, find the key with an array as its value, and begin that array.
 * false: there is none. */
bool json_recover_key(struct json_reader *r, const char *key);

/* Append a string, number, true, false or null as a value of the stream (value.h); a number as an
 * integer if it is whole and fits, else as a double. -1: out of memory, or another token. */
int json_put_scalar(const struct json_reader *r, enum json_token token, struct buffer *b);

/* Append the text of a number, n bytes before a NUL, in the same way. -1: out of memory. */
int json_put_number(struct buffer *b, const char *text, size_t n);

/* If the current token is a NUMBER that is whole but has a point or an exponent, such as 1.0 or
 * 2e3, write its text in digits, as ids are compared by their text. Of other tokens, and of numbers
 * beyond 64 bits, the text is unchanged. -1: out of memory. */
int json_spell_whole(struct json_reader *r, enum json_token token);

/* Convert the text of a number, n times 10 to the power of digits. Further digits are left out;
 * then *inexact is set, never cleared; NULL: it is not asked for. false: the number is out of
 * range, 2 to the power of 62 or more. */
bool json_decimal(const char *text, int digits, int64_t *n, bool *inexact);

/* Test whether the text is one number of JSON. */
bool json_is_number(const char *text);

/* Get the offset of the next byte. */
static inline uint64_t json_offset(const struct json_reader *r)
{
	return r->offset + r->at;
}

static inline bool json_is(const struct json_reader *r, const char *text)
{
	return r->text.size == strlen(text) && !memcmp(r->text.data, text, r->text.size);
}

#endif
