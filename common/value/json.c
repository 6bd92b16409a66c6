/*
 * json.c - JSON
 */
#include "common/value/json.h"

#include <ctype.h>
#include <endian.h>
#include <stdlib.h>

#include "common/stream/value.h"
#include "common/util/output.h"
#include "common/util/text.h"
#include "common/value/scalar.h"

enum {
	SHORT = 64,	    /* strings up to this size are scanned first and then written at once */
	JSON_CHARACTER = 6, /* maximum bytes of one encoded character */
};

/* Test whether the byte needs no escape inside a string. */
static bool plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static size_t two(char *out, char c)
{
	out[0] = '\\';
	out[1] = c;
	return 2;
}

/* Encode the character at p, where n > 0 bytes are available. Returns the bytes written to out;
 * *taken: the bytes read. */
static size_t json_character(char out[JSON_CHARACTER], const char *p, size_t n, size_t *taken)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char c = (unsigned char)*p;
	size_t length;

	*taken = 1;
	if (plain(c)) {
		*out = *p;
		return 1;
	}
	switch (c) {
	case '"': return two(out, '"');
	case '\\': return two(out, '\\');
	case '\b': return two(out, 'b');
	case '\f': return two(out, 'f');
	case '\n': return two(out, 'n');
	case '\r': return two(out, 'r');
	case '\t': return two(out, 't');
	default: break;
	}
	if (c < 0x20 || c == 0x7f) {
		memcpy(out, "\\u00", 4);
		out[4] = hex[c >> 4];
		out[5] = hex[c & 15];
		return 6;
	}
	length = utf8_length(p, n);
	if (!length) {
		memcpy(out, "\xef\xbf\xbd", 3);
		return 3;
	}
	memcpy(out, p, length);
	*taken = length;
	return length;
}

static size_t plain_run(const char *p, size_t n)
{
	size_t run = 0;

	while (run < n && plain((unsigned char)p[run]))
		run++;
	return run;
}

void json_string(struct text *t, const char *p, size_t n)
{
	char character[JSON_CHARACTER];

	text_char(t, '"');
	while (n) {
		size_t run = plain_run(p, n);

		if (run)
			text_put(t, p, run);
		else
			text_put(t, character, json_character(character, p, n, &run));
		p += run;
		n -= run;
	}
	text_char(t, '"');
}

int json_append_inside(struct buffer *b, const char *p, size_t n)
{
	char character[JSON_CHARACTER];

	while (n) {
		size_t run = plain_run(p, n);

		if (run ? buffer_append(b, p, run)
			: buffer_append(b, character, json_character(character, p, n, &run)))
			return -1;
		p += run;
		n -= run;
	}
	return 0;
}

int json_append_string(struct buffer *b, const char *p, size_t n)
{
	if (n < SHORT && plain_run(p, n) == n) {
		uint8_t *to;

		if (buffer_reserve(b, n + 2))
			return -1;
		to = b->data + b->size;
		to[0] = '"';
		copy_short(to + 1, p, n);
		to[n + 1] = '"';
		b->size += n + 2;
		return 0;
	}
	return buffer_u8(b, '"') || json_append_inside(b, p, n) || buffer_u8(b, '"') ? -1 : 0;
}

/* End a number of n characters: NaN and the infinities become strings. */
static inline void end_number(struct buffer *b, size_t n)
{
	char *p = (char *)b->data + b->size;

	if (__builtin_expect(p[n - 1] > '9', 0)) {
		memmove(p + 1, p, n);
		p[0] = p[n + 1] = '"';
		n += 2;
	}
	b->size += n;
}

int json_append_real(struct buffer *b, double number)
{
	if (buffer_reserve(b, SHORTEST_SIZE + 2))
		return -1;
	end_number(b, shortest_double((char *)b->data + b->size, number));
	return 0;
}

int json_append_float(struct buffer *b, float number)
{
	if (buffer_reserve(b, SHORTEST_SIZE + 2))
		return -1;
	end_number(b, shortest_float((char *)b->data + b->size, number));
	return 0;
}

/* --- json reader --- */

enum { READ_SIZE = 64 * 1024 };

/* The letters of escapes, and their characters. */
static const char escapes[] = "\"\\/bfnrt", characters[] = "\"\\/\b\f\n\r\t";

int json_open(struct json_reader *r, int fd, const char *name, const uint8_t *head, size_t n)
{
	*r = (struct json_reader){.fd = fd, .name = name};
	r->capacity = n > READ_SIZE ? n : READ_SIZE;
	r->data = malloc(r->capacity);
	if (!r->data || buffer_reserve(&r->text, 256))
		return -1;
	if (n)
		memcpy(r->data, head, n);
	r->filled = n;
	return 0;
}

void json_open_text(struct json_reader *r, const char *text, size_t n)
{
	*r = (struct json_reader){
		.data = (uint8_t *)text, .filled = n, .at_end = true, .text = r->text};
}

void json_close(struct json_reader *r)
{
	if (r->capacity)
		free(r->data);
	buffer_free(&r->text);
}

static enum json_token common_json_bad(struct json_reader *r, const char *what)
{
	if (!r->error.what[0])
		error_set(&r->error, r->name, json_offset(r), "%s", what);
	return JSON_BAD;
}

static enum json_token json_no_memory(struct json_reader *r)
{
	r->failed = true;
	return common_json_bad(r, "out of memory");
}

/* Make room for more bytes after those that are kept, which move to the beginning. */
static int json_move_kept(struct json_reader *r)
{
	size_t size = 0;

	if (r->keeps && r->filled - r->kept > JSON_KEPT)
		r->keeps = false;
	if (r->keeps) {
		size = r->filled - r->kept;
		if (r->capacity - size < READ_SIZE) {
			uint8_t *data = realloc(r->data, r->capacity + size + READ_SIZE);

			if (!data)
				return -1;
			r->data = data;
			r->capacity += size + READ_SIZE;
		}
		memmove(r->data, r->data + r->kept, size);
		r->kept = 0;
	}
	r->offset += r->filled - size;
	r->at = r->filled = size;
	return 0;
}

/* Read more bytes after all bytes were used. false: the end, or an error. */
static bool json_fill(struct json_reader *r)
{
	ssize_t got;

	if (r->at_end || r->error.what[0])
		return false;
	if (json_move_kept(r)) {
		json_no_memory(r);
		return false;
	}
	got = io_read(r->fd, r->data + r->filled, r->capacity - r->filled);
	if (got < 0) {
		r->failed = true;
		error_errno(&r->error, r->name, json_offset(r), "cannot read");
	}
	r->at_end = !got;
	r->filled += got > 0 ? (size_t)got : 0;
	return got > 0;
}

/* Get the next byte without using it; -1 at the end. */
static inline int json_peek(struct json_reader *r)
{
	if (__builtin_expect(r->at == r->filled, 0) && !json_fill(r))
		return -1;
	return r->data[r->at];
}

static int json_skip_blanks(struct json_reader *r)
{
	int c;

	while ((c = json_peek(r)) == ' ' || c == '\n' || c == '\r' || c == '\t')
		r->at++;
	return c;
}

static enum json_token json_ended(struct json_reader *r)
{
	r->cut = true;
	return common_json_bad(r, "the input ends within a JSON value");
}

/* --- tokens --- */

static bool json_end_text(struct json_reader *r)
{
	/* the NUL is not part of the text */
	if (buffer_u8(&r->text, 0))
		return false;
	r->text.size--;
	return true;
}

/* Count an escape that JSON does not have, and append its characters: a backslash and n more. */
static int put_unknown(struct json_reader *r, uint64_t at, const char *p, size_t n)
{
	if (!r->escapes++)
		r->escape_at = at;
	return buffer_u8(&r->text, '\\') || buffer_append(&r->text, p, n) ? -1 : 0;
}

/* Append \uXXXX, after the u. *half: the first half of a surrogate pair, which the text ends with;
 * 0 none. A half alone becomes U+FFFD. */
static int put_unit(struct json_reader *r, uint64_t at, uint32_t *half)
{
	char text[5] = "u";
	uint32_t c = 0, first = *half;
	int n, digit;

	*half = 0;
	for (n = 1; n < 5; n++, r->at++) {
		digit = json_peek(r);
		if (digit < 0)
			return 0; /* the string has no end */
		if (!isxdigit(digit))
			return put_unknown(r, at, text, (size_t)n);
		text[n] = (char)digit;
		c = c << 4 | (uint32_t)(digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10);
	}
	if (first && c >= 0xdc00 && c < 0xe000) {
		r->text.size -= 3; /* U+FFFD */
		return utf8_put(&r->text, 0x10000u + ((first - 0xd800) << 10) + (c - 0xdc00));
	}
	if (c >= 0xd800 && c < 0xdc00)
		*half = c;
	return utf8_put(&r->text, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
}

/* Append the escape after a backslash. */
static int put_escape(struct json_reader *r, uint32_t *half)
{
	uint64_t at = json_offset(r) - 1;
	int c = json_peek(r);
	const char *known = c > 0 ? strchr(escapes, c) : NULL;

	if (c == 'u') {
		r->at++;
		return put_unit(r, at, half);
	}
	*half = 0;
	if (!known)
		return c < 0 ? 0 : put_unknown(r, at, "", 0);
	r->at++;
	return buffer_u8(&r->text, (uint8_t)characters[known - escapes]);
}

static bool json_read_string(struct json_reader *r)
{
	uint32_t half = 0;
	size_t run;
	int c;

	r->at++;
	r->text.size = 0;
	for (;;) {
		c = json_peek(r);
		if (c < 0) {
			json_ended(r);
			return false;
		}
		if (r->text.size > JSON_TEXT) {
			common_json_bad(r, "a string beyond 64 MiB");
			return false;
		}
		if (c == '"')
			break;
		if (c == '\n' && r->lines) {
			common_json_bad(r, "the line ends within a string");
			return false;
		}
		if (c != '\\') {
			for (run = r->at; run < r->filled; run++)
				if (r->data[run] == '"' || r->data[run] == '\\' ||
				    (r->data[run] == '\n' && r->lines))
					break;
			if (buffer_append(&r->text, r->data + r->at, run - r->at))
				goto no_memory;
			r->at = run;
			half = 0;
			continue;
		}
		r->at++;
		if (put_escape(r, &half))
			goto no_memory;
	}
	r->at++;
	if (json_end_text(r))
		return true;
no_memory:
	json_no_memory(r);
	return false;
}

bool json_is_number(const char *p)
{
	p += *p == '-';
	if (*p == '0')
		p++;
	else if (*p >= '1' && *p <= '9')
		p += strspn(p, "0123456789");
	else
		return false;
	if (*p == '.') {
		if (!strspn(++p, "0123456789"))
			return false;
		p += strspn(p, "0123456789");
	}
	if (*p == 'e' || *p == 'E') {
		p++;
		p += *p == '-' || *p == '+';
		if (!strspn(p, "0123456789"))
			return false;
		p += strspn(p, "0123456789");
	}
	return !*p;
}

static enum json_token read_word(struct json_reader *r, const char *word, enum json_token token)
{
	for (; *word; word++) {
		int c = json_peek(r);

		if (c < 0)
			return json_ended(r);
		if (c != *word)
			return common_json_bad(r, "invalid JSON value");
		r->at++;
	}
	return token;
}

/* Read NaN or Infinity, which are not JSON, but Python, printf and others write them. They become
 * strings, as json_append_real writes them. */
static enum json_token read_special(struct json_reader *r, const char *word, const char *text)
{
	if (read_word(r, word, JSON_STRING) != JSON_STRING)
		return JSON_BAD;
	r->text.size = 0;
	return buffer_append(&r->text, text, strlen(text)) || !json_end_text(r) ? json_no_memory(r)
										: JSON_STRING;
}

/* Read nan, or inf with a text for it: what printf writes. */
static enum json_token read_printed(struct json_reader *r, const char *infinity)
{
	bool nan = json_peek(r) == 'n';
	enum json_token token = read_special(r, nan ? "nan" : "inf", nan ? "nan" : infinity);
	int c = json_peek(r);

	/* Perl writes Inf and others infinity, too */
	return token == JSON_STRING && !nan && c == 'i' ? read_special(r, "inity", infinity)
							: token;
}

/* Read null, or nan. */
static enum json_token read_n(struct json_reader *r)
{
	r->at++;
	return json_peek(r) == 'u' ? read_word(r, "ull", JSON_NULL) : read_special(r, "an", "nan");
}

static enum json_token json_read_number(struct json_reader *r)
{
	int c;

	r->text.size = 0;
	while ((c = json_peek(r)) > 0 && strchr("+-.eE0123456789", c)) {
		if (r->text.size > 1000)
			return common_json_bad(r, "a number of more than 1000 digits");
		if (buffer_u8(&r->text, (uint8_t)c))
			return json_no_memory(r);
		r->at++;
		if (r->text.size == 1 && c == '-' && (c = json_peek(r)) > '9')
			return c == 'I' ? read_special(r, "Infinity", "-inf")
					: read_printed(r, "-inf");
	}
	if (!json_end_text(r))
		return json_no_memory(r);
	return json_is_number((char *)r->text.data) ? JSON_NUMBER
						    : common_json_bad(r, "invalid JSON number");
}

/* --- nesting --- */

static void json_enter(struct json_reader *r, bool array)
{
	uint8_t *bits = &r->array[r->depth / 8], bit = (uint8_t)(1u << r->depth % 8);

	*bits = array ? *bits | bit : *bits & (uint8_t)~bit;
	r->depth++;
}

static enum json_token common_json_begin(struct json_reader *r, bool array)
{
	int deepest = r->deepest ? r->deepest : JSON_DEPTH;

	if (r->depth == deepest) {
		error_set(&r->error, r->name, json_offset(r), "nested more than %d deep", deepest);
		return JSON_BAD;
	}
	r->at++;
	json_enter(r, array);
	r->want = JSON_WANT_FIRST;
	r->value_follows = false;
	return array ? JSON_ARRAY : JSON_OBJECT;
}

static enum json_token common_json_end(struct json_reader *r)
{
	bool array = json_is_array(r, --r->depth);

	r->at++;
	r->want = JSON_WANT_NEXT;
	return array ? JSON_ARRAY_END : JSON_OBJECT_END;
}

static enum json_token json_value(struct json_reader *r, int c)
{
	r->want = JSON_WANT_NEXT;
	r->value_follows = false;
	switch (c) {
	case '{': return common_json_begin(r, false);
	case '[': return common_json_begin(r, true);
	case '"': return json_read_string(r) ? JSON_STRING : JSON_BAD;
	case 't': return read_word(r, "true", JSON_TRUE);
	case 'f': return read_word(r, "false", JSON_FALSE);
	case 'n': return read_n(r);
	case 'i': return read_printed(r, "inf");
	case 'N': return read_special(r, "NaN", "nan");
	case 'I': return read_special(r, "Infinity", "inf");
	default:
		if (c == '-' || (c >= '0' && c <= '9'))
			return json_read_number(r);
		return common_json_bad(r, "invalid JSON value");
	}
}

enum json_token json_next(struct json_reader *r)
{
	int c;

	if (r->error.what[0])
		return JSON_BAD;
	c = json_skip_blanks(r);
	if (!r->depth && r->want == JSON_WANT_NEXT) {
		if (c < 0)
			return r->error.what[0] ? JSON_BAD : JSON_END;
		return common_json_bad(r, "text follows the JSON document");
	}
	/* files made on Windows may begin with a byte order mark */
	if (!json_offset(r) && c == 0xef && r->filled >= 3 && !memcmp(r->data, "\xef\xbb\xbf", 3)) {
		r->at = 3;
		c = json_skip_blanks(r);
	}
	if (c < 0)
		return json_ended(r);
	while (r->depth && c == ',' && !r->value_follows) {
		r->at++;
		c = json_skip_blanks(r);
		if (c < 0)
			return json_ended(r);
		r->want = JSON_WANT_VALUE;
	}
	if (r->depth && c == (json_is_array(r, r->depth - 1) ? ']' : '}') && !r->value_follows)
		return common_json_end(r);
	if (r->depth && r->want == JSON_WANT_NEXT && !r->value_follows)
		return common_json_bad(r, "a comma is missing");
	if (r->depth && !json_is_array(r, r->depth - 1) && !r->value_follows) {
		if (c != '"')
			return common_json_bad(r, "a key is missing");
		if (!json_read_string(r))
			return JSON_BAD;
		if (json_skip_blanks(r) != ':')
			return json_peek(r) < 0 ? json_ended(r)
						: common_json_bad(r, "a colon is missing");
		r->at++;
		r->want = JSON_WANT_VALUE;
		r->value_follows = true;
		return JSON_KEY;
	}
	return json_value(r, c);
}

bool json_another(struct json_reader *r)
{
	r->depth = 0;
	r->want = JSON_WANT_VALUE;
	return json_skip_blanks(r) >= 0;
}

bool json_next_line(struct json_reader *r)
{
	int c;

	if (r->failed || r->cut)
		return false;
	r->error.what[0] = '\0';
	while ((c = json_peek(r)) >= 0 && c != '\n')
		r->at++;
	return json_another(r) && !r->error.what[0];
}

/* --- going on after a fault --- */

void json_keep(struct json_reader *r)
{
	r->keeps = true;
	r->kept = r->at;
	r->kept_depth = r->depth - 1;
}

void json_rejoin(struct json_reader *r, int depth)
{
	r->keeps = false;
	r->depth = depth;
	r->want = JSON_WANT_NEXT;
	r->value_follows = r->doubt = r->in_text = false;
}

/* Forget the fault, and go back to what is kept, unless bytes were read again too often: each byte
 * of the input may be so four times. */
static void json_go_back(struct json_reader *r)
{
	bool kept = r->keeps && r->filled - r->kept <= JSON_KEPT &&
		    r->reread <= 4 * json_offset(r) + JSON_KEPT;

	r->error.what[0] = '\0';
	r->cut = false;
	r->keeps = false;
	r->in_text &= kept;
	if (!kept)
		return;
	r->reread += r->at - r->kept;
	r->at = r->kept;
	r->depth = r->kept_depth;
	json_enter(r, false);
}

/* Begin the object at '{' if a member follows. */
static bool json_may_begin(struct json_reader *r, int depth)
{
	if (r->depth == JSON_DEPTH)
		r->depth = depth;
	r->at++;
	json_enter(r, false);
	json_keep(r);
	r->want = JSON_WANT_FIRST;
	r->value_follows = false;
	return json_skip_blanks(r) == '"';
}

/* Take a bracket that ends objects or arrays inside of the array or object at a depth. Returns true
 * if it ends the element, or what is at the depth: then it is not taken. */
static bool json_take_end(struct json_reader *r, int depth, bool array)
{
	int to = r->depth;

	if (to == depth && depth && array == json_is_array(r, depth - 1) && !r->doubt)
		return true;
	r->at++;
	while (to > depth && json_is_array(r, to - 1) != array)
		to--;
	r->doubt |= to != r->depth || to == depth;
	if (to > depth)
		r->depth = to - 1;
	return r->depth == depth && !r->doubt;
}

/* Take a character. Returns true if the array or object goes on after it. */
static bool json_take(struct json_reader *r, int depth, int c)
{
	if (!r->in_text && (c == ']' || c == '}'))
		return json_take_end(r, depth, c == ']');
	r->at++;
	if (c == '"') {
		r->in_text = !r->in_text;
		/* after a string that has its quotes */
		c = r->in_text ? 0 : json_peek(r);
		r->doubt |= c > 0 && !strchr(" \t\r\n,:]}", c);
	} else if (r->in_text) {
		r->at += c == '\\' && json_peek(r) >= 0;
		/* few strings contain the end of a line; more often their end is missing */
		r->doubt |= c == '\n';
		r->in_text = c != '\n';
	} else if (c == '[' || c == '{') {
		r->depth = r->depth == JSON_DEPTH ? depth : r->depth;
		json_enter(r, c == '[');
	} else if (c == ',' && r->depth == depth && !r->doubt) {
		return true;
	}
	return false;
}

enum json_found json_recover(struct json_reader *r, int depth)
{
	int c;

	if (r->failed)
		return JSON_FOUND_NONE;
	json_go_back(r);
	r->doubt |= !depth;
	while ((c = json_peek(r)) >= 0) {
		if (c == '{') {
			if (json_may_begin(r, depth))
				return JSON_FOUND_OBJECT;
			r->depth -= r->in_text;
		} else if (json_take(r, depth, c)) {
			json_rejoin(r, depth);
			r->want = c == ',' ? JSON_WANT_VALUE : JSON_WANT_NEXT;
			return JSON_FOUND_NEXT;
		}
	}
	return JSON_FOUND_NONE;
}

bool json_restart(struct json_reader *r)
{
	if (!r->keeps || r->failed)
		return false;
	r->kept_depth = 0;
	json_go_back(r);
	r->want = JSON_WANT_FIRST;
	r->value_follows = r->doubt = r->in_text = false;
	return true;
}

/* Test whether the word, and then '"', ':' and '[' with blanks, are the next bytes. Takes what
 * matches. */
static bool json_take_key(struct json_reader *r, const char *key)
{
	for (; *key; key++, r->at++)
		if (json_peek(r) != (unsigned char)*key)
			return false;
	for (const char *p = "\":["; *p; p++, r->at++)
		if ((*p == '"' ? json_peek(r) : json_skip_blanks(r)) != *p)
			return false;
	return true;
}

bool json_recover_key(struct json_reader *r, const char *key)
{
	int c;

	if (r->failed)
		return false;
	json_go_back(r);
	r->depth = 1;
	while ((c = json_peek(r)) >= 0) {
		r->at++;
		if (c != '"' || !json_take_key(r, key))
			continue;
		json_enter(r, true);
		r->want = JSON_WANT_FIRST;
		r->value_follows = false;
		return true;
	}
	return false;
}

/* --- values --- */

bool json_skip(struct json_reader *r, enum json_token token)
{
	int outside = r->depth - (token == JSON_OBJECT || token == JSON_ARRAY);

	while (token != JSON_BAD && r->depth > outside)
		token = json_next(r);
	return token != JSON_BAD;
}

static int json_put_string(struct buffer *b, const struct buffer *text)
{
	return json_append_string(b, (const char *)text->data, text->size);
}

/* Append a token, with the comma before it. */
static int put_token(const struct json_reader *r, enum json_token token, bool comma,
		     struct buffer *b)
{
	if (comma && token != JSON_OBJECT_END && token != JSON_ARRAY_END && buffer_u8(b, ','))
		return -1;
	switch (token) {
	case JSON_OBJECT: return buffer_u8(b, '{');
	case JSON_ARRAY: return buffer_u8(b, '[');
	case JSON_OBJECT_END: return buffer_u8(b, '}');
	case JSON_ARRAY_END: return buffer_u8(b, ']');
	case JSON_KEY: return json_put_string(b, &r->text) || buffer_u8(b, ':') ? -1 : 0;
	case JSON_STRING: return json_put_string(b, &r->text);
	case JSON_NUMBER: return buffer_append(b, r->text.data, r->text.size);
	case JSON_TRUE: return buffer_append(b, "true", 4);
	case JSON_FALSE: return buffer_append(b, "false", 5);
	default: return buffer_append(b, "null", 4);
	}
}

int json_copy(struct json_reader *r, enum json_token token, struct buffer *b, size_t most)
{
	int outside = r->depth - (token == JSON_OBJECT || token == JSON_ARRAY);
	bool comma = false, fits = true;
	size_t at = b->size;

	for (;; token = json_next(r)) {
		bool text = token == JSON_KEY || token == JSON_STRING || token == JSON_NUMBER;

		if (token == JSON_BAD || token == JSON_END)
			return -1;
		fits = fits && (!text || r->text.size <= most);
		if (fits && put_token(r, token, comma, b)) {
			json_no_memory(r);
			return -1;
		}
		comma = token != JSON_KEY && token != JSON_OBJECT && token != JSON_ARRAY;
		fits = fits && b->size - at <= most;
		if (!fits)
			b->size = at;
		if (r->depth <= outside)
			return fits ? 0 : 1;
	}
}

int json_put_number(struct buffer *to, const char *p, size_t n)
{
	bool minus = *p == '-', whole = true;
	uint64_t number = 0;
	uint8_t bytes[8];
	double real;

	for (size_t i = minus; whole && i < n; i++)
		whole = p[i] >= '0' && p[i] <= '9' &&
			!__builtin_mul_overflow(number, 10u, &number) &&
			!__builtin_add_overflow(number, (unsigned)(p[i] - '0'), &number);
	if (whole && minus && number && number <= (uint64_t)INT64_MAX + 1)
		return value_put_uint(to, VALUE_NEGATIVE, number);
	if (whole && !minus)
		return value_put_uint(to, VALUE_UINT, number);
	real = strtod(p, NULL);
	memcpy(bytes, &real, 8);
	put_u64(bytes, get_uint(bytes, 8, __BYTE_ORDER == __BIG_ENDIAN));
	return value_put_float(to, bytes, 8);
}

/* Multiply by a power of ten; false: the product is beyond 64 bits. */
static bool multiply_by_tens(uint64_t *number, int64_t tens)
{
	while (*number && tens-- > 0)
		if (__builtin_mul_overflow(*number, 10u, number))
			return false;
	return true;
}

/* Get the magnitude of a number of JSON; false: the number is not whole, or beyond 64 bits. */
static bool whole_number(const char *p, uint64_t *number)
{
	static const long exponent_most = 1 << 30; /* more than a text has digits */
	int64_t zeros = 0, places = 0;		   /* zeros: those after the last other digit */
	bool point = false;
	long exponent;

	*number = 0;
	for (p += *p == '-'; (*p >= '0' && *p <= '9') || *p == '.'; p++) {
		point |= *p == '.';
		if (*p == '.')
			continue;
		places += point;
		if (*p == '0') {
			zeros++;
			continue;
		}
		if (!multiply_by_tens(number, zeros + 1) ||
		    __builtin_add_overflow(*number, (unsigned)(*p - '0'), number))
			return false;
		zeros = 0;
	}
	exponent = *p ? strtol(p + 1, NULL, 10) : 0;
	if (exponent < -exponent_most || exponent > exponent_most)
		return !*number;
	zeros += exponent - places;
	return !*number || (zeros >= 0 && multiply_by_tens(number, zeros));
}

int json_spell_whole(struct json_reader *r, enum json_token token)
{
	const char *text = (const char *)r->text.data;
	bool minus;
	uint64_t number;

	if (token != JSON_NUMBER || (*text != '-' && !strpbrk(text, ".eE")) ||
	    !whole_number(text, &number))
		return 0;
	minus = *text == '-' && number;
	r->text.size = 0;
	if ((minus && buffer_u8(&r->text, '-')) || buffer_decimal(&r->text, number) ||
	    buffer_u8(&r->text, 0))
		return -1;
	r->text.size--;
	return 0;
}

int json_put_scalar(const struct json_reader *r, enum json_token token, struct buffer *b)
{
	switch (token) {
	case JSON_STRING: return value_put_bytes(b, VALUE_STRING, r->text.data, r->text.size);
	case JSON_NUMBER: return json_put_number(b, (const char *)r->text.data, r->text.size);
	case JSON_TRUE: return value_put_simple(b, VALUE_TRUE);
	case JSON_FALSE: return value_put_simple(b, VALUE_FALSE);
	case JSON_NULL: return value_put_simple(b, VALUE_NULL);
	default: return -1;
	}
}

bool json_decimal(const char *text, int digits, int64_t *n, bool *inexact)
{
	const unsigned __int128 limit = (unsigned __int128)1 << 62;
	bool minus = *text == '-';
	unsigned __int128 value = 0;
	long scale = digits; /* value must be multiplied by so many powers of ten */
	bool point = false;

	for (text += minus; (*text >= '0' && *text <= '9') || *text == '.'; text++) {
		if (*text == '.') {
			point = true;
			continue;
		}
		/* digits after the 30th cannot be part of a number in range */
		if (value > (unsigned __int128)1 << 100) {
			scale += !point;
			continue;
		}
		value = value * 10 + (unsigned)(*text - '0');
		scale -= point;
	}
	if (*text == 'e' || *text == 'E') {
		long exponent = strtol(text + 1, NULL, 10);

		if (exponent > 1000 || exponent < -1000)
			return false;
		scale += exponent;
	}
	for (; scale < 0 && value; scale++) {
		if (inexact && value % 10)
			*inexact = true;
		value /= 10;
	}
	for (; scale > 0 && value; scale--) {
		if (value > limit)
			return false;
		value *= 10;
	}
	if (value >= limit)
		return false;
	*n = minus ? -(int64_t)value : (int64_t)value;
	return true;
}
