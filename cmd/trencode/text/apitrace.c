/*
 * apitrace.c - as apitrace dump prints
 */
#include "cmd/trencode/text/apitrace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/trencode/text/layout.h"
#include "common/calls/calls.h"
#include "common/formats/apitrace.h"
#include "common/stream/field.h"
#include "common/stream/reader.h"
#include "common/util/buffer.h"
#include "common/value/scalar.h"
#include "common/value/value_text.h"

/* --- the state --- */

/* A part of the text of a call. */
struct piece {
	size_t offset, size; /* in the call's text, bytes */
	bool given;	     /* the call has this part */
};

/* The text of an open call. */
struct open_text {
	struct open_text *next, *before; /* in its list */
	struct buffer text;
	struct piece *arguments; /* by index from 0 */
	size_t capacity, count;
	struct piece result, backtrace;
	uint64_t flags;
	uint32_t source, call, location; /* numbers */
	uint32_t nblobs;		 /* that have names */
	int32_t thread;
	bool zero;    /* the result is the number 0 */
	bool printed; /* at the end of its trace */
};

/* The constant texts of the calls of a function. */
struct apitrace_location {
	const struct location *location;
	unsigned flags;
	bool may_be_hidden; /* apitrace dump hides calls of it */
	uint32_t names;	    /* number of named arguments */
	uint32_t *ends;	    /* ends of the parts of text: "name(", "first = ", ", second = " ... */
	char *text;
};

struct text_apitrace {
	struct text *out;
	struct dictionary *dictionary;
	const struct encoding *encoding;
	struct open_text *first, *last; /* of the open calls of the trace, by enter */
	struct open_text *unused;
	struct open_text *printed; /* calls that were open at the end of an earlier trace */
	struct apitrace_location *locations; /* by number */
	size_t nlocations;
	struct buffer scratch, header;
	struct apitrace_blobs *blobs;
	bool all_calls, thread_ids, plain_octal, failed;
	struct error error; /* if failed */
};

/* --- blobs: files of a directory --- */

struct apitrace_blobs {
	const char *directory;
	int fd;
	uint32_t first;		/* number of the source of the first blob */
	uint32_t kept, settled; /* numbers of files written; of these, named or removed */
	struct error error;
};

enum { NAME_SIZE = 64 };

/* Open or make the directory. Returns NULL with *e filled on errors. */
static struct apitrace_blobs *apitrace_blobs_open(const char *directory, struct error *e)
{
	struct apitrace_blobs *b = calloc(1, sizeof *b);

	if (!b) {
		error_no_memory(e);
		return NULL;
	}
	b->directory = directory;
	if (mkdir(directory, 0777) && errno != EEXIST)
		error_errno(e, directory, NO_OFFSET, "cannot make the directory");
	else if ((b->fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		error_errno(e, directory, NO_OFFSET, "cannot open");
	else
		return b;
	free(b);
	return NULL;
}

static void blob_temporary_name(uint32_t number, char *name)
{
	snprintf(name, NAME_SIZE, ".blob-%ld-%u", (long)getpid(), number);
}

static void remove_blob(struct apitrace_blobs *b, uint32_t number)
{
	char name[NAME_SIZE];

	blob_temporary_name(number, name);
	if (!unlinkat(b->fd, name, 0))
		b->settled++;
}

/* Remove the files of the blobs of a text that is not printed. */
static void apitrace_blobs_drop(struct apitrace_blobs *b, const uint8_t *text, size_t n)
{
	const uint8_t *end = text + n;

	while (text < end && (text = memchr(text, 0, (size_t)(end - text))) && end - text >= 5) {
		remove_blob(b, get_u32(text + 1));
		text += 5;
	}
}

static void apitrace_blobs_close(struct apitrace_blobs *b)
{
	if (!b)
		return;
	/* blobs of calls that were not printed because of an error */
	for (uint32_t i = 0; i < b->kept && b->settled < b->kept; i++)
		remove_blob(b, i);
	close(b->fd);
	free(b);
}

/* Write a blob to a file with a temporary name, and append a mark of the file to out. On errors
 * returns -1; b->error has the error. */
static int apitrace_blobs_keep(struct apitrace_blobs *b, const void *data, size_t n,
			       struct buffer *out)
{
	char name[NAME_SIZE];
	const char *p = data;
	int fd;

	blob_temporary_name(b->kept, name);
	fd = openat(b->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_errno(&b->error, b->directory, NO_OFFSET, "cannot write to it");
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			error_errno(&b->error, b->directory, NO_OFFSET, "cannot write to it");
			close(fd);
			return -1;
		}
		p += done;
		n -= (size_t)done;
	}
	if (close(fd))
		return error_errno(&b->error, b->directory, NO_OFFSET, "cannot write to it");
	if (buffer_u8(out, 0) || buffer_u32(out, b->kept))
		return error_set(&b->error, NULL, NO_OFFSET, "out of memory");
	b->kept++;
	return 0;
}

/* Append a part of the text of a call, n bytes of piece from at on, with the marks replaced by
 * names of files. Errors as above. */
static int apitrace_blobs_name(struct apitrace_blobs *b, struct open_text *t, size_t at, size_t n,
			       struct buffer *out)
{
	while (n) {
		const uint8_t *text = t->text.data + at;
		size_t most = n < BUFFER_PIECE ? n : BUFFER_PIECE;
		const uint8_t *mark = memchr(text, 0, most);
		size_t plain = mark ? (size_t)(mark - text) : most;
		char from[NAME_SIZE], to[NAME_SIZE], trace[24] = "";

		if (buffer_append(out, text, plain))
			return error_set(&b->error, NULL, NO_OFFSET, "out of memory");
		text += plain;
		at += plain;
		n -= plain;
		if (!mark) {
			buffer_rest(&t->text);
			continue;
		}
		if (n < 5)
			break;
		blob_temporary_name(get_u32(text + 1), from);
		if (!b->first)
			b->first = t->source;
		/* the calls of each trace count from 0: only the first has the names of apitrace */
		if (t->source != b->first)
			snprintf(trace, sizeof trace, "trace%u_", t->source);
		/* the second blob of a call has the number 1 */
		if (t->nblobs)
			snprintf(to, sizeof to, "blob_%scall%u_%u.bin", trace, t->call, t->nblobs);
		else
			snprintf(to, sizeof to, "blob_%scall%u.bin", trace, t->call);
		t->nblobs++;
		if (renameat(b->fd, from, b->fd, to))
			return error_errno(&b->error, b->directory, NO_OFFSET, "cannot write %s",
					   to);
		b->settled++;
		if (buffer_printf(out, "blob(\"%s\")", to))
			return error_set(&b->error, NULL, NO_OFFSET, "out of memory");
		at += 5;
		n -= 5;
	}
	return 0;
}

/* --- the constant texts of the calls of a function, made once --- */

/* Append a name up to its first NUL. */
static int append_name(struct buffer *b, const struct text_ref *t)
{
	return buffer_append(b, t->text, strlen(t->text));
}

static int location_prepare(struct apitrace_location *k, const struct location *location)
{
	const struct definition *d = location->arguments;
	uint32_t n = d ? d->count : 0;
	struct buffer b = {0};

	k->ends = calloc((size_t)n + 1, sizeof *k->ends);
	if (!k->ends || append_name(&b, &location->name) || buffer_append(&b, "(", 1))
		goto fail;
	k->ends[0] = (uint32_t)b.size;
	for (uint32_t i = 0; i < n; i++) {
		if (buffer_append(&b, ", ", i ? 2 : 0) || append_name(&b, &d->members[i].name) ||
		    buffer_append(&b, " = ", 3))
			goto fail;
		k->ends[i + 1] = (uint32_t)b.size;
	}
	k->text = (char *)b.data;
	k->names = n;
	k->flags = apitrace_known(location->name.text, location->name.size);
	k->may_be_hidden = k->flags & APITRACE_VERBOSE ||
			   (!n && d && !strcmp(location->name.text, "glGetError"));
	k->location = location;
	return 0;
fail:
	buffer_free(&b);
	free(k->ends);
	k->ends = NULL;
	return -1;
}

/* Get the texts of a location, valid until the next call; NULL when out of memory. */
static const struct apitrace_location *apitrace_location(struct text_apitrace *s, uint32_t number)
{
	struct apitrace_location *k;

	if (ARRAY_REACH(s->locations, s->nlocations, number))
		return NULL;
	k = &s->locations[number];
	return !k->location && number &&
			       location_prepare(k, dictionary_location(s->dictionary, number))
		       ? NULL
		       : k;
}

/*
 * Floating point numbers as C++ streams print them with apitrace's precision: %.7g and %.16g.
 * Common numbers are converted here, others by printf.
 */

/*
 * Write seven digits of x, 1e-4 <= x < 1e6, not an integer. x * 10^k has one rounding error: 24 of
 * the 53 bits are before the point, so the last digit can be wrong only where the rest is within
 * 2^-20 of a half. Returns 0 in that case.
 */
static size_t seven_digits(char *out, double x)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4,  1e5,
					1e6, 1e7, 1e8, 1e9, 1e10, 1e11};
	/* 1233 / 4096 is the logarithm of 2 to base 10; rounded down it is at most one too few */
	int decimals = 5 - (ilogb(x) * 1233 >> 12);
	double scaled, rest;
	uint64_t n;

	while (x * powers[decimals] < 1e6)
		decimals++;
	scaled = x * powers[decimals];
	n = (uint64_t)scaled;
	rest = scaled - (double)n;
	if (fabs(rest - 0.5) < 1e-6 || scaled >= 9999999)
		return 0;
	return shortest_layout(out, n + (rest > 0.5), -decimals);
}

size_t apitrace_float(char *out, float f)
{
	size_t sign = 0, size;
	double x = f;

	if (signbit(x)) {
		out[sign++] = '-';
		x = -x;
	}
	if (x < 1e6 && x == (double)(uint32_t)x)
		return (size_t)(decimal_at(out + sign, (uint32_t)x) - out);
	if (x >= 1e-4 && x < 1e6) {
		size = seven_digits(out + sign, x);
		if (size)
			return sign + size;
	}
	return (size_t)snprintf(out, 40, "%.7g", (double)f);
}

size_t apitrace_double(char *out, double d)
{
	size_t sign = 0;
	double x = d;

	if (signbit(x)) {
		out[sign++] = '-';
		x = -x;
	}
	if (x < 1e15 && x == (double)(uint64_t)x)
		return (size_t)(decimal_at(out + sign, (uint64_t)x) - out);
	return (size_t)snprintf(out, 40, "%.16g", d);
}

/* --- values --- */

static inline __attribute__((always_inline)) int dump_text(const struct apitrace_writer *w,
							   const char *s, size_t n)
{
	return buffer_put(w->out, s, n);
}

#define PUT(w, s) dump_text(w, s, sizeof(s) - 1)

/* Get the length up to the first NUL; each text is followed by a NUL. */
static inline size_t name_length(const struct text_ref *t)
{
	return strlen(t->text);
}

/*
 * Write the escape of a character. apitrace means three octal digits and gets them wrong: the
 * middle digit, if not 0, is written twice, and the first digit is omitted.
 */
static size_t dump_escape(const struct apitrace_writer *w, char *out, uint64_t c)
{
	unsigned low = c & 7, middle = c >> 3 & 7;
	size_t n = 0;

	if (c == '\r')
		return 0;
	if (c == '\t' || c == '\n') {
		*out = (char)c;
		return 1;
	}
	out[n++] = '\\';
	if (c == '"' || c == '\\') {
		out[n++] = (char)c;
	} else if (w->plain_octal) {
		n += (size_t)sprintf(out + n, "%03llo", (unsigned long long)c);
	} else {
		if (middle) {
			out[n++] = (char)('0' + middle);
			out[n++] = (char)('0' + middle);
		}
		out[n++] = (char)('0' + low);
	}
	return n;
}

static inline bool text_apitrace_is_plain(uint64_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Append a text in quotes, with the escapes of apitrace. */
static int apitrace_string(const struct apitrace_writer *w, const uint8_t *p, size_t n)
{
	const uint8_t *end = memchr(p, 0, n), *run;
	char text[32];

	end = end ? end : p + n;
	if (PUT(w, "\""))
		return -1;
	while (p < end) {
		for (run = p; p < end && text_apitrace_is_plain(*p); p++)
			;
		if (dump_text(w, (const char *)run, (size_t)(p - run)))
			return -1;
		if (p < end && dump_text(w, text, dump_escape(w, text, *p++)))
			return -1;
	}
	return PUT(w, "\"");
}

static int dump_wide_string(const struct apitrace_writer *w, const struct value *v)
{
	const uint8_t *p = v->bytes, *end = v->bytes + v->n;
	char text[32];

	if (PUT(w, "L\""))
		return -1;
	while (p < end) {
		uint64_t c = value_unit(&p) & UINT32_MAX;

		if (!c)
			break;
		text[0] = (char)c;
		if (dump_text(w, text, text_apitrace_is_plain(c) ? 1 : dump_escape(w, text, c)))
			return -1;
	}
	return PUT(w, "\"");
}

static int dump_enum(const struct apitrace_writer *w, const struct value_item *v)
{
	char room[I128_SIZE];
	struct text_ref text = value_enum_text(room, v->definition, &v->value);

	return dump_text(w, text.text, name_length(&text));
}

static int dump_bitmask(const struct apitrace_writer *w, const struct value_item *v)
{
	const struct definition *d = v->definition;
	uint64_t rest = v->value.number;
	bool any = false;

	for (uint32_t i = 0; d && i < d->count; i++) {
		uint64_t flag = d->members[i].low;

		if ((flag && (rest & flag) == flag) || (!flag && !rest)) {
			if ((any && PUT(w, " | ")) ||
			    dump_text(w, d->members[i].name.text, name_length(&d->members[i].name)))
				return -1;
			rest &= ~flag;
			any = true;
		}
		if (!rest)
			break;
	}
	if (!rest && any)
		return 0;
	return (any && PUT(w, " | ")) ? -1 : buffer_hex(w->out, rest);
}

/* Read the next value as a number, as apitrace does where it needs one; v is a copy. Returns false
 * if the value is not a number. */
static bool apitrace_number(struct values v, uint64_t *n)
{
	struct value value;
	long double real;
	bool is_signed;

	for (unsigned nesting = 0; nesting <= VALUE_DEPTH; nesting++) {
		if (!values_value(&v, &value))
			return false;
		*n = 0;
		if (value.tag == VALUE_NULL)
			return true;
		if (value_real(&value, &real)) {
			*n = real > -0x1p63L && real < 0x1p63L ? (uint64_t)(int64_t)real
							       : 1ull << 63;
			return true;
		}
		if (value.tag != VALUE_REPR)
			return value.tag != VALUE_POINTER &&
			       value_integer(&value, NULL, n, &is_signed);
		/* the raw form */
		if (!values_skip(&v))
			return false;
	}
	return false;
}

/* Write the 16 bytes of a GUID, which has four members. Returns false if the members are not those
 * of a GUID. */
static bool guid_text(struct values v, char *text)
{
	uint64_t part[3], byte;
	struct value array;
	uint8_t last[8];

	for (int i = 0; i < 3; i++)
		if (!apitrace_number(v, &part[i]) || !values_skip(&v))
			return false;
	if (!values_value(&v, &array) || array.tag != VALUE_ARRAY || array.count != 8)
		return false;
	for (int i = 0; i < 8; i++) {
		if (!apitrace_number(v, &byte) || !values_skip(&v))
			return false;
		last[i] = (uint8_t)byte;
	}
	sprintf(text, "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", (uint32_t)part[0],
		(unsigned)part[1] & 0xffff, (unsigned)part[2] & 0xffff, last[0], last[1], last[2],
		last[3], last[4], last[5], last[6], last[7]);
	return true;
}

static int dump_blob(const struct apitrace_writer *w, const struct value *v)
{
	if (w->blobs)
		return apitrace_blobs_keep(w->blobs, v->bytes, v->n, w->out);
	return PUT(w, "blob(") || buffer_decimal(w->out, v->n) || PUT(w, ")") ? -1 : 0;
}

static int dump_float(const struct apitrace_writer *w, float number)
{
	struct buffer *b = w->out;

	if (buffer_reserve(b, 40))
		return -1;
	b->size += apitrace_float((char *)b->data + b->size, number);
	return 0;
}

static int dump_real(const struct apitrace_writer *w, const struct value *v)
{
	char text[40];

	if (v->size == 4)
		return dump_float(w, get_float(v->bytes));
	return dump_text(w, text, apitrace_double(text, get_double(v->bytes)));
}

/* --- a value with its children --- */

static int dump_scalar(void *to, const struct value_item *item)
{
	const struct apitrace_writer *w = to;
	const struct value *v = &item->value;

	switch (v->tag) {
	case VALUE_NULL: return PUT(w, "NULL");
	case VALUE_FALSE: return PUT(w, "false");
	case VALUE_TRUE: return PUT(w, "true");
	case VALUE_NEGATIVE: return buffer_signed(w->out, (int64_t)v->number);
	case VALUE_UINT: return buffer_decimal(w->out, v->number);
	case VALUE_FLOAT:
	case VALUE_DOUBLE: return dump_real(w, v);
	case VALUE_STRING: return apitrace_string(w, v->bytes, v->n);
	case VALUE_BLOB: return dump_blob(w, v);
	case VALUE_ENUM: return dump_enum(w, item);
	case VALUE_BITMASK: return dump_bitmask(w, item);
	case VALUE_POINTER: return buffer_hex(w->out, v->number);
	case VALUE_WSTRING: return dump_wide_string(w, v);
	}
	return PUT(w, "?");
}

/* Test whether the value is a member without a name, which is replaced by its own members. */
static bool is_joined(const struct value_parent *v)
{
	const struct text_ref *name = value_child_name(v);

	return name && !name->size;
}

static int dump_guid(const struct apitrace_writer *w, const char *text)
{
	const char *name = apitrace_guid(text);

	if (name)
		return dump_text(w, name, strlen(name));
	return PUT(w, "uuid(") || dump_text(w, text, strlen(text)) || PUT(w, ")") ? -1 : 0;
}

static int dump_begin(void *to, const struct value_parent *v, const struct values *rest)
{
	struct apitrace_writer *w = to;
	char text[40];

	if (v->tag == VALUE_ARRAY)
		return v->count == 1 ? PUT(w, "&") : PUT(w, "{");
	if (is_joined(v - 1))
		return 0;
	if (v->definition && v->count == 4 && !strcmp(v->definition->name.text, "GUID") &&
	    guid_text(*rest, text))
		return dump_guid(w, text) ? -1 : VALUE_SKIP;
	w->first = true;
	return PUT(w, "{");
}

static int dump_child(void *to, const struct value_parent *v, const struct values *rest)
{
	struct apitrace_writer *w = to;
	const struct text_ref *name;

	if (v->tag == VALUE_ARRAY)
		return v->index ? PUT(w, ", ") : 0;
	if (is_joined(v))
		return rest->at < rest->end && *rest->at == VALUE_STRUCT ? 0 : VALUE_SKIP;
	name = value_child_name(v);
	if ((!w->first && PUT(w, ", ")) ||
	    (name ? dump_text(w, name->text, name_length(name)) : PUT(w, "?")))
		return -1;
	w->first = false;
	return PUT(w, " = ");
}

static int dump_end(void *to, const struct value_parent *v)
{
	struct apitrace_writer *w = to;

	if (v->tag == VALUE_ARRAY ? v->count == 1 : is_joined(v - 1))
		return 0;
	w->first = false;
	return PUT(w, "}");
}

static int dump_single(void *to, float number)
{
	return dump_float(to, number);
}

static int dump_small(void *to, uint8_t number)
{
	return buffer_decimal(((const struct apitrace_writer *)to)->out, number);
}

static const struct value_style dump_style = {.scalar = dump_scalar,
					      .begin = dump_begin,
					      .child = dump_child,
					      .end = dump_end,
					      .single = dump_single,
					      .small = dump_small};

int text_apitrace_frame(const struct apitrace_writer *w, const struct definition *frame)
{
	static const char *const keys[] = APITRACE_FRAME_NAMES;
	const struct text_ref *text[APITRACE_FRAME_FILE + 1] = {NULL};
	/* in apitrace they are signed, and present if not negative */
	int64_t line = -1, offset = -1;

	for (uint32_t i = 0; frame && i < frame->count; i++) {
		const struct member *m = &frame->members[i];
		int key = APITRACE_FRAME_MODULE;

		while (key <= APITRACE_FRAME_OFFSET && strcmp(keys[key], m->name.text) != 0)
			key++;
		if (key > APITRACE_FRAME_OFFSET)
			break;
		if (key == APITRACE_FRAME_LINE)
			line = (int32_t)m->low;
		else if (key == APITRACE_FRAME_OFFSET)
			offset = (int64_t)m->low;
		else
			text[key] = ++i < frame->count ? &frame->members[i].name : NULL;
	}
	if (text[APITRACE_FRAME_MODULE] ? dump_text(w, text[APITRACE_FRAME_MODULE]->text,
						    name_length(text[APITRACE_FRAME_MODULE]))
					: PUT(w, "?"))
		return -1;
	if (text[APITRACE_FRAME_FUNCTION] &&
	    (PUT(w, ": ") || dump_text(w, text[APITRACE_FRAME_FUNCTION]->text,
				       name_length(text[APITRACE_FRAME_FUNCTION]))))
		return -1;
	if (offset >= 0 && (PUT(w, "+") || buffer_hex(w->out, (uint64_t)offset)))
		return -1;
	if (text[APITRACE_FRAME_FILE] &&
	    (PUT(w, ": ") ||
	     dump_text(w, text[APITRACE_FRAME_FILE]->text,
		       name_length(text[APITRACE_FRAME_FILE])) ||
	     (line >= 0 && (PUT(w, ":") || buffer_decimal(w->out, (uint64_t)line)))))
		return -1;
	return PUT(w, "\n");
}

/* --- the properties in the header of a trace, as apitrace dump prints them --- */

/* A property, in the bytes of the header. */
struct property {
	const uint8_t *name, *value;
	size_t name_size, value_size, order;
};

static bool text_apitrace_take_string(const uint8_t **p, const uint8_t *end, const uint8_t **text,
				      size_t *n)
{
	uint64_t length = 0;
	unsigned shift = 0;

	do {
		if (*p == end || shift > 28)
			return false;
		length |= (uint64_t)(**p & 0x7f) << shift;
		shift += 7;
	} while (*(*p)++ & 0x80);
	if (length > (uint64_t)(end - *p))
		return false;
	*text = *p;
	*n = (size_t)length;
	*p += length;
	return true;
}

static int text_apitrace_by_name(const void *a, const void *b)
{
	const struct property *x = a, *y = b;
	size_t n = x->name_size < y->name_size ? x->name_size : y->name_size;
	int order = memcmp(x->name, y->name, n);

	if (order)
		return order;
	if (x->name_size != y->name_size)
		return x->name_size < y->name_size ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Print the properties of the header, sorted by name. Returns -1 with *e filled on errors. */
static int apitrace_properties(const struct buffer *header, struct text *out, bool plain_octal,
			       struct error *e)
{
	const uint8_t *p = header->data, *end = p + header->size;
	struct buffer value = {0};
	struct apitrace_writer w = {.out = &value, .plain_octal = plain_octal};
	struct property *all = NULL, one;
	size_t n = 0, capacity = 0;
	int bad = 0;

	if (header->size < 2 || p[0] < APITRACE_PROPERTIES)
		return 0;
	p += 2;
	while (text_apitrace_take_string(&p, end, &one.name, &one.name_size) && one.name_size &&
	       text_apitrace_take_string(&p, end, &one.value, &one.value_size)) {
		if (ARRAY_GROW(all, capacity, n)) {
			free(all);
			return error_no_memory(e);
		}
		/* apitrace uses the name up to a NUL */
		one.name_size = strnlen((const char *)one.name, one.name_size);
		one.order = n;
		all[n++] = one;
	}
	if (n)
		qsort(all, n, sizeof *all, text_apitrace_by_name);
	for (size_t i = 0; i < n; i++) {
		/* the last value of a property is valid */
		if (i + 1 < n && all[i].name_size == all[i + 1].name_size &&
		    !memcmp(all[i].name, all[i + 1].name, all[i].name_size))
			continue;
		text_put(out, "// ", 3);
		text_put(out, (const char *)all[i].name, all[i].name_size);
		value.size = 0;
		bad = apitrace_string(&w, all[i].value, all[i].value_size);
		if (bad)
			break;
		text_put(out, " = ", 3);
		text_put(out, (const char *)value.data, value.size);
		text_char(out, '\n');
	}
	free(all);
	buffer_free(&value);
	return bad ? error_no_memory(e) : 0;
}

/*
 * The text of an apitrace trace, as `apitrace dump --color=never` prints it: each call when its
 * leave is read, unfinished calls at the end, in the order of their enters.
 *
 * The values of an enter or a leave are converted to text at once, so that open calls keep lines in
 * memory, not blobs; most of a long line is in a temporary file (buffer.h).
 */

static void free_texts(struct open_text *t)
{
	while (t) {
		struct open_text *next = t->next;

		buffer_free(&t->text);
		free(t->arguments);
		free(t);
		t = next;
	}
}

static void apitrace_free_state(void *state)
{
	struct text_apitrace *s = state;

	free_texts(s->first);
	free_texts(s->unused);
	free_texts(s->printed);
	for (size_t i = 0; i < s->nlocations; i++) {
		free(s->locations[i].ends);
		free(s->locations[i].text);
	}
	free(s->locations);
	buffer_free(&s->scratch);
	buffer_free(&s->header);
	apitrace_blobs_close(s->blobs);
}

/* --- values into text --- */

static struct piece *argument_at(struct open_text *t, uint64_t index)
{
	if (ARRAY_GROW(t->arguments, t->capacity, index))
		return NULL;
	for (; t->count <= index; t->count++)
		t->arguments[t->count] = (struct piece){0};
	return &t->arguments[index];
}

static int take_backtrace(struct text_apitrace *s, const struct apitrace_writer *w,
			  struct values *v)
{
	struct value array, frame;

	if (!values_value(v, &array) || array.tag != VALUE_ARRAY)
		return -1;
	for (uint64_t i = 0; i < array.count; i++) {
		if (!values_value(v, &frame) || frame.tag != VALUE_FRAME)
			return -1;
		if (text_apitrace_frame(w,
					dictionary_definition_id(s->dictionary, frame.definition)))
			return -1;
	}
	return 0;
}

/* Remove the blobs of a part that is not printed. */
static void drop_piece(struct text_apitrace *s, const struct open_text *t, const struct piece *p)
{
	if (s->blobs && p->given)
		apitrace_blobs_drop(s->blobs, t->text.data + p->offset, p->size);
}

static int take_details(struct text_apitrace *s, struct open_text *t, const struct event *ev)
{
	struct apitrace_writer w = {.dictionary = s->dictionary,
				    .out = &t->text,
				    .blobs = s->blobs,
				    .plain_octal = s->plain_octal};
	struct values v;

	if (!ev->tail || !(ev->type->flags & TYPE_VALUES))
		return 0;
	values_begin(&v, ev->tail, ev->tail_size);
	while (v.at < v.end) {
		struct piece p = {t->text.size, 0, true}, *where;
		uint64_t index, number;
		struct value value;
		uint8_t what;

		if (!values_what(&v, &what, &index))
			return -1;
		switch (what) {
		case DETAIL_ARGUMENT:
			if (!index || index > 65536 ||
			    value_walk(&dump_style, &w, s->dictionary, &v))
				return -1;
			where = argument_at(t, index - 1);
			if (!where)
				return -1;
			break;
		case DETAIL_RETURN:
			t->zero = apitrace_number(v, &number) && !number;
			if (value_walk(&dump_style, &w, s->dictionary, &v))
				return -1;
			where = &t->result;
			break;
		case DETAIL_BACKTRACE:
			if (take_backtrace(s, &w, &v))
				return -1;
			where = &t->backtrace;
			break;
		case DETAIL_FLAGS:
			if (!values_value(&v, &value))
				return -1;
			t->flags |= value.number; /* apitrace combines repeated flags */
			continue;
		default:
			if (!values_skip(&v))
				return -1;
			continue;
		}
		p.size = t->text.size - p.offset;
		drop_piece(s, t, where);
		*where = p;
	}
	return 0;
}

static int values_error(const struct text_apitrace *s, struct error *e)
{
	if (s->blobs && s->blobs->error.what[0]) {
		*e = s->blobs->error;
		return -1;
	}
	return error_no_memory(e);
}

/* --- calls --- */

static struct open_text *new_text(struct text_apitrace *s)
{
	struct open_text *t = s->unused;

	if (!t) {
		t = calloc(1, sizeof *t);
		if (t)
			t->text.spills = true;
		return t;
	}
	s->unused = t->next;
	buffer_clear(&t->text);
	t->count = 0;
	t->result = t->backtrace = (struct piece){0};
	t->flags = 0;
	t->nblobs = 0;
	t->zero = false;
	return t;
}

static void put_piece(struct text_apitrace *s, struct open_text *t, const struct piece *p)
{
	if (!s->blobs) {
		text_put_buffer(s->out, &t->text, p->offset, p->size);
		return;
	}
	buffer_clear(&s->scratch);
	apitrace_blobs_name(s->blobs, t, p->offset, p->size, &s->scratch);
	text_put_buffer(s->out, &s->scratch, 0, s->scratch.size);
}

static void text_apitrace_put_arguments(struct text_apitrace *s, struct open_text *t,
					const struct apitrace_location *k)
{
	size_t n = t->count > k->names ? t->count : k->names;

	for (size_t i = 0; i < n; i++) {
		if (i < k->names)
			text_put(s->out, k->text + k->ends[i], k->ends[i + 1] - k->ends[i]);
		else if (i)
			text_put(s->out, ", ", 2);
		if (i < t->count && t->arguments[i].given)
			put_piece(s, t, &t->arguments[i]);
		else
			text_char(s->out, '?');
	}
}

/* Test whether apitrace shows the call only with its option -v. */
static bool is_hidden(const struct text_apitrace *s, const struct apitrace_location *k,
		      const struct open_text *t)
{
	if (s->all_calls || !k->may_be_hidden)
		return false;
	return k->flags & APITRACE_VERBOSE || (t->result.given && t->zero);
}

static int apitrace_print_call(struct text_apitrace *s, struct open_text *t, bool incomplete,
			       struct error *e)
{
	const struct apitrace_location *k = apitrace_location(s, t->location);
	bool fake = t->flags & CALL_FAKE;

	if (!k)
		return error_no_memory(e);
	if (is_hidden(s, k, t)) {
		for (size_t i = 0; i < t->count; i++)
			drop_piece(s, t, &t->arguments[i]);
		drop_piece(s, t, &t->result);
		return 0;
	}
	text_u64(s->out, t->call);
	text_char(s->out, ' ');
	if (s->thread_ids) {
		text_char(s->out, '@');
		text_hex(s->out, (uint32_t)t->thread, 1);
		text_char(s->out, ' ');
	}
	if (k->location)
		text_put(s->out, k->text, k->ends[0]);
	else
		text_char(s->out, '(');
	text_apitrace_put_arguments(s, t, k);
	text_char(s->out, ')');
	if (t->result.given) {
		text_put(s->out, " = ", 3);
		put_piece(s, t, &t->result);
	}
	if (fake || incomplete)
		text_puts(s->out, fake && incomplete ? " // fake incomplete"
				  : fake	     ? " // fake"
						     : " // incomplete");
	text_char(s->out, '\n');
	if (t->backtrace.given) {
		text_puts(s->out, "Backtrace:\n");
		put_piece(s, t, &t->backtrace);
	}
	if (k->flags & APITRACE_END_FRAME)
		text_char(s->out, '\n');
	if (s->blobs && s->blobs->error.what[0])
		return values_error(s, e);
	return 0;
}

/* Take a call out of the list of open calls. */
static void unlink_text(struct text_apitrace *s, struct open_text *t)
{
	if (t->before)
		t->before->next = t->next;
	else
		s->first = t->next;
	if (t->next)
		t->next->before = t->before;
	else
		s->last = t->before;
}

/* Print a call that is no longer open, and keep its memory for the next call. */
static int finish_call(struct text_apitrace *s, struct open_text *t, bool incomplete,
		       struct error *e)
{
	int bad = apitrace_print_call(s, t, incomplete, e);

	unlink_text(s, t);
	buffer_clear(&t->text);
	t->next = s->unused;
	s->unused = t;
	return bad;
}

/* Print a call that never returns: in damaged data another call has its number. */
static void lose_call(void *ctx, struct stack *stack, const struct frame *f, void *data,
		      enum calls_lost why)
{
	struct text_apitrace *s = ctx;
	struct open_text *t;

	(void)stack, (void)f, (void)why;
	memcpy(&t, data, sizeof t);
	if (t && !t->printed && !s->failed)
		s->failed = finish_call(s, t, true, &s->error);
}

/* Print a call of which it is not known whether it has returned. */
static void text_apitrace_drop_call(void *ctx, struct stack *stack, const struct frame *f,
				    void *data)
{
	lose_call(ctx, stack, f, data, LOST_NUMBER);
}

/* Take an enter. data: of its call; NULL: it is not open. */
static int apitrace_enter(struct text_apitrace *s, const struct event *ev, uint32_t call,
			  void *data, struct error *e)
{
	struct open_text *t = new_text(s);

	if (!t)
		return error_no_memory(e);
	t->source = ev->lane->source->number;
	t->call = call;
	t->location = ev->location;
	t->thread = ev->lane->tid;
	t->next = NULL;
	t->before = s->last;
	if (s->last)
		s->last->next = t;
	else
		s->first = t;
	s->last = t;
	if (take_details(s, t, ev))
		return values_error(s, e);
	if (!data) /* too many calls are */
		return finish_call(s, t, true, e);
	memcpy(data, &t, sizeof t);
	return 0;
}

/* Take the enter of a call that is open where reading begins. */
static int apitrace_restore(void *state, const struct event *enter, const struct call *restored,
			    struct error *e)
{
	struct text_apitrace *s = state;
	uint32_t call;

	if (s->failed)
		return -1;
	return field_call(enter, &call) ? apitrace_enter(s, enter, call, restored->data, e) : 0;
}

static int apitrace_leave(struct text_apitrace *s, const struct event *ev, struct error *e)
{
	struct open_text *t;

	/* apitrace ignores leaves of calls that are not open */
	if (s->encoding->result != CALLS_LEAVE)
		return 0;
	memcpy(&t, s->encoding->call.data, sizeof t);
	if (!t || t->printed)
		return 0;
	return take_details(s, t, ev) ? values_error(s, e) : finish_call(s, t, false, e);
}

/* Print the calls that are open at the end of a trace. */
static int print_incomplete(struct text_apitrace *s, struct error *e)
{
	struct open_text *t;

	while ((t = s->first)) {
		if (apitrace_print_call(s, t, true, e))
			return -1;
		unlink_text(s, t);
		t->printed = true;
		t->next = s->printed;
		s->printed = t;
	}
	return 0;
}

static int text_apitrace_begin(void *state, const struct encoding *en, struct error *e)
{
	struct text_apitrace *s = state;

	s->encoding = en;
	en->calls->on_lost = lose_call;
	en->calls->on_forget = text_apitrace_drop_call;
	en->calls->on_lost_ctx = s;
	s->out = en->text;
	s->dictionary = en->dictionary;
	s->all_calls = en->options->flags & ENCODE_ALL_CALLS;
	s->thread_ids = en->options->flags & ENCODE_THREAD_IDS;
	s->plain_octal = en->options->flags & ENCODE_PLAIN_OCTAL;
	s->scratch.spills = true;
	if (en->options->blobs) {
		s->blobs = apitrace_blobs_open(en->options->blobs, e);
		if (!s->blobs)
			return -1;
	}
	return 0;
}

/* --- events --- */

static int text_apitrace_meta(void *state, const struct source *source, const struct meta *m,
			      struct error *e)
{
	struct text_apitrace *s = state;

	(void)source;
	if (!meta_is(m, APITRACE_META_HEADER))
		return 0;
	if (!m->offset) {
		/* another trace begins */
		if (print_incomplete(s, e))
			return -1;
		s->header.size = 0;
	}
	if (m->offset != s->header.size)
		return 0;
	if (buffer_append(&s->header, m->data, m->size))
		return error_no_memory(e);
	return s->header.size == m->total
		       ? apitrace_properties(&s->header, s->out, s->plain_octal, e)
		       : 0;
}

static void apitrace_print_gap(struct text_apitrace *s, const struct event *ev)
{
	struct gap_row g;

	if (!gap_get(ev, &g))
		return;
	text_puts(s->out, "// gap: ");
	text_put(s->out, g.message, g.message_size);
	text_char(s->out, '\n');
}

static int text_apitrace_event(void *state, const struct event *ev, struct error *e)
{
	struct text_apitrace *s = state;
	uint32_t call;

	if (ev->type->kind == KIND_GAP)
		apitrace_print_gap(s, ev);
	if (s->failed) {
		*e = s->error;
		return -1;
	}
	if (!(ev->type->flags & TYPE_CALL_NUMBER) || !field_call(ev, &call))
		return 0;
	if (ev->type->kind == KIND_ENTER)
		return apitrace_enter(
			s, ev, call,
			s->encoding->result == CALLS_ENTER ? s->encoding->call.data : NULL, e);
	return ev->type->kind == KIND_LEAVE ? apitrace_leave(s, ev, e) : 0;
}

static int text_apitrace_end(void *state, struct error *e)
{
	return print_incomplete(state, e);
}

const struct text_layout text_apitrace = {
	.format = "apitrace",
	.state_size = sizeof(struct text_apitrace),
	.begin = text_apitrace_begin,
	.meta = text_apitrace_meta,
	.event = text_apitrace_event,
	.restore = apitrace_restore,
	.end = text_apitrace_end,
	.free = apitrace_free_state,
};
