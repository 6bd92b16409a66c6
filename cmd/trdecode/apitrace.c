/*
 * apitrace.c - traces of apitrace
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/glprofile.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/input_tree.h"
#include "common/calls/open_calls.h"
#include "common/cli/program.h"
#include "common/formats/apitrace.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"
#include "common/util/intern.h"

/*
 * Inside the decoder of apitrace's .trace files.
 *
 * The trace is read event by event from the bytes that unpack provides. Functions that read
 * return 0, or -1 with apitrace.failure set.
 */

enum {
	APITRACE_NAME_LIMIT = 64 * 1024,   /* bytes of a name in a definition */
	APITRACE_NAMES_LIMIT = 32000,	   /* names of one definition */
	APITRACE_ARGUMENT_LIMIT = 4096,	   /* index of an argument */
	APITRACE_NESTING = 100,		   /* nesting of values, below VALUE_DEPTH */
	APITRACE_THREAD_LIMIT = INT32_MAX, /* highest thread id */
	APITRACE_OPEN_LIMIT = 1 << 18,	   /* open calls that are remembered */
	APITRACE_HEADER_LIMIT = 1 << 20,
	APITRACE_TRACES_LIMIT = 1 << 14, /* traces of one file: each is kept to the end */
	APITRACE_DEFINITIONS_LIMIT = 256 * 1024 * 1024, /* bytes of all definitions */
	APITRACE_VALUES_LIMIT = MAX_VALUE,		/* bytes of one event's values */
	APITRACE_FIELDS_MOST = 3,			/* fields of a type */
};

enum apitrace_failure {
	FAILURE_NONE,
	FAILURE_END,   /* the data ended inside an element */
	FAILURE_BAD,   /* the data is invalid: see message */
	FAILURE_FATAL, /* reading or writing failed, or out of memory: see error */
};

/* A function, defined at its first call. */
struct apitrace_function {
	uint32_t location, names; /* names: number of arguments */
	uint32_t name;		  /* a string of the writer */
	unsigned known;		  /* enum apitrace_known */
};

/* A struct, a frame of backtraces, or an enum of one name, defined at its first use. */
struct apitrace_defined {
	uint32_t definition;
	union {
		uint32_t members;
		uint32_t location;
		uint64_t value;
	};
};

/* The elements of one of the five kinds that have ids. */
struct apitrace_ids {
	uint32_t *direct; /* low ids to index + 1 */
	size_t direct_size;
	struct idmap map; /* the other ids */
	void *at;
	size_t count, capacity;
};

/* A trace that is decoded. */
struct apitrace {
	struct input *input;
	struct writer *w; /* NULL: --info, which only counts */
	struct unpack unpack;
	enum apitrace_failure failure;
	char message[256];
	struct error error;

	uint64_t version, semantic;
	struct buffer header;  /* unchanged, without an incomplete property */
	struct buffer headers; /* if w is NULL: headers of all traces of the file, up to a limit */

	/* Adjacent headers, until it is certain that they are headers. */
	struct {
		struct buffer text;  /* the headers, adjacent */
		struct buffer sizes; /* their sizes, u32 each */
		bool too_many;
	} pending;

	uint64_t tick;
	uint32_t call, frame; /* numbers of the next enter and of the current frame */
	uint32_t source, clock, enter, leave, traced; /* traced: enters with a backtrace */
	uint32_t last_thread, last_lane;
	struct idmap lanes; /* lane ids by thread */
	struct {
		struct apitrace_ids functions, structs, enums, bitmasks, frames;
		uint64_t defined; /* bytes of definitions */
	} ids;
	struct open_calls open;
	/* The values of the current event. */
	struct {
		size_t limit;	       /* bytes that are kept */
		struct buffer tail;    /* the encoded values */
		size_t detail;	       /* offset in tail of the current detail */
		uint32_t arguments;    /* highest number of an argument in tail, from 1 */
		bool lost_bits;	       /* a number was longer than 64 bits */
		bool too_large;	       /* a detail was left out */
		struct buffer used;    /* ids of definitions in tail */
		struct buffer frames;  /* locations of the backtrace, innermost first */
		struct buffer members; /* scratch */
	} values;
	/* What --info counts. */
	struct {
		uint64_t calls, incomplete, frames, threads, traces;
		uint64_t left_out; /* rows without values that were too large */
		char api[32];
	} totals;
	/* the profile that gives the times; NULL: none */
	struct {
		struct glprofile *profile;
		uint32_t name;	       /* of the function of the present enter */
		uint32_t enters[2][4]; /* types of enters with its fields: with a stack; variants */
		struct open_calls unknown; /* times of the enters without a time of the profile */
	} timed;
	bool segments; /* the stream may have several segments: each needs its definitions */
	bool done;
};

/* --- numbers and strings --- */

/* Set FAILURE_BAD and the message; return -1. */
static int apitrace_bad(struct apitrace *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->message, sizeof a->message, fmt, ap);
	va_end(ap);
	a->failure = FAILURE_BAD;
	return -1;
}

static int apitrace_no_memory(struct apitrace *a)
{
	a->failure = FAILURE_FATAL;
	return error_set(&a->error, NULL, NO_OFFSET, "out of memory");
}

/* Unpack more bytes. */
static int apitrace_refill(struct apitrace *a)
{
	int got = unpack_more(&a->unpack, &a->error);

	if (got > 0)
		return 0;
	a->failure = got < 0 ? FAILURE_FATAL : FAILURE_END;
	return -1;
}

static inline int apitrace_byte(struct apitrace *a, uint8_t *byte)
{
	if (__builtin_expect(a->unpack.at == a->unpack.end, 0) && apitrace_refill(a))
		return -1;
	*byte = *a->unpack.at++;
	return 0;
}

static int apitrace_uint_slow(struct apitrace *a, uint64_t *out)
{
	uint64_t n = 0;
	uint8_t byte;

	/* longer numbers are padded with zeros, or exceed 64 bits: the other bits are lost, as in
	   apitrace, which does not report it; only one bit of the tenth byte is valid */
	for (unsigned shift = 0; shift < 7 * 64; shift += 7) {
		if (apitrace_byte(a, &byte))
			return -1;
		if (shift > 63 && byte & 0x7f)
			a->values.lost_bits = true;
		if (shift < 64)
			n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = n;
			return 0;
		}
	}
	return apitrace_bad(a, "a number of more than 64 bytes");
}

static inline int apitrace_uint(struct apitrace *a, uint64_t *n)
{
	const uint8_t *p = a->unpack.at;

	if (__builtin_expect(a->unpack.end - p >= 3, 1)) {
		if (p[0] < 0x80) {
			*n = p[0];
			a->unpack.at = p + 1;
			return 0;
		}
		if (p[1] < 0x80) {
			*n = (p[0] & 0x7fu) | (uint32_t)p[1] << 7;
			a->unpack.at = p + 2;
			return 0;
		}
		if (p[2] < 0x80) {
			*n = (p[0] & 0x7fu) | (p[1] & 0x7fu) << 7 | (uint32_t)p[2] << 14;
			a->unpack.at = p + 3;
			return 0;
		}
	}
	return apitrace_uint_slow(a, n);
}

/* Read a tagged integer. */
static int apitrace_sint(struct apitrace *a, int64_t *n)
{
	uint64_t magnitude;
	uint8_t type;

	if (apitrace_byte(a, &type))
		return -1;
	if (type != APITRACE_SINT && type != APITRACE_UINT)
		return apitrace_bad(a, "type %u where an integer is expected", type);
	if (apitrace_uint(a, &magnitude))
		return -1;
	*n = (int64_t)(type == APITRACE_SINT ? -magnitude : magnitude);
	return 0;
}

/* Get the number of bytes, at least 1 and at most left, that are unpacked; 0: failed. */
static size_t apitrace_piece(struct apitrace *a, uint64_t left)
{
	size_t have;

	while (a->unpack.at == a->unpack.end)
		if (apitrace_refill(a))
			return 0;
	have = (size_t)(a->unpack.end - a->unpack.at);
	return have < left ? have : (size_t)left;
}

/* Append the bytes of a name to b. */
static int apitrace_text(struct apitrace *a, struct buffer *b, size_t limit)
{
	uint64_t left;

	if (apitrace_uint(a, &left))
		return -1;
	if (left > limit)
		return apitrace_bad(a, "a name of %llu bytes", (unsigned long long)left);
	while (left) {
		size_t have = apitrace_piece(a, left);

		if (!have)
			return -1;
		if (buffer_append(b, a->unpack.at, have))
			return apitrace_no_memory(a);
		a->unpack.at += have;
		left -= have;
	}
	return 0;
}

/* Read a name, and set *id to the writer's string. */
static int apitrace_name(struct apitrace *a, uint32_t *id)
{
	struct buffer *b = &a->values.members;
	size_t before = b->size;

	*id = 0;
	if (apitrace_text(a, b, APITRACE_NAME_LIMIT))
		return -1;
	if (a->w)
		*id = writer_string(a->w, b->data + before, b->size - before);
	a->ids.defined += b->size - before + 32;
	if (a->ids.defined > APITRACE_DEFINITIONS_LIMIT)
		return apitrace_bad(a, "definitions of more than %d bytes",
				    APITRACE_DEFINITIONS_LIMIT);
	b->size = before;
	return 0;
}

/* Pack what is kept of an open call: its function and its lane. */
static inline uint64_t apitrace_remember(const struct apitrace *a,
					 const struct apitrace_function *f, uint32_t lane)
{
	uint64_t index = (uint64_t)(f - (const struct apitrace_function *)a->ids.functions.at);

	return (index + 1) << 32 | lane;
}

/*
 * Converts simple values: small, completely unpacked, and of types defined before.
 *
 * Nearly all values are simple. They are converted in line, in registers, from the unpacked
 * bytes to the output. Conversion stops before the first value that is not simple.
 */

/* The positions of a conversion. */
struct quick {
	const uint8_t *p, *end;
	uint8_t *out, *limit;
	const uint8_t *safe; /* before this position there is space for one more scalar */
};

enum {
	QUICK_IN = 64, /* most bytes of one scalar, without the content of strings */
	QUICK_OUT = 64,
	QUICK_GROWTH = 4, /* most bytes written for one byte read */
	QUICK_SHORT = 32, /* bytes of a string that are always copied, to save a branch */
};

#define QUICK static inline __attribute__((always_inline))

/* Set q->safe, so that one comparison checks both input and output. */
QUICK void quick_measure(struct quick *q)
{
	ptrdiff_t in = q->end - q->p - QUICK_IN,
		  out = (q->limit - q->out - QUICK_OUT) / QUICK_GROWTH;

	q->safe = q->p + (in < out ? in : out);
}

QUICK bool quick_room(const struct quick *q)
{
	return q->p < q->safe;
}

/* Copy a number of up to 8 bytes: the stream has the same encoding. */
QUICK bool quick_number(struct quick *q)
{
	uint64_t bytes = get_u64(q->p), ends = ~bytes & 0x8080808080808080;
	unsigned n = (unsigned)__builtin_ctzll(ends | 1ull << 63) / 8 + 1;

	put_u64(q->out, bytes);
	q->p += n;
	q->out += n;
	return ends != 0;
}

/* Read a number of up to 3 bytes, nearly always 1 or 2. */
QUICK bool quick_uint(struct quick *q, uint32_t *n)
{
	uint32_t number = *q->p++;

	if (number & 0x80) {
		number = (number & 0x7f) | (uint32_t)*q->p++ << 7;
		if (__builtin_expect(number & 1 << 14, 0)) {
			number = (number & 0x3fff) | (uint32_t)*q->p++ << 14;
			if (number & 1 << 21)
				return false;
		}
	}
	*n = number;
	return true;
}

/* Read an id, and return the index + 1 of its element; 0: not defined before, or not a low id. */
QUICK uint32_t quick_id(struct quick *q, const struct apitrace_ids *ids)
{
	uint32_t id;

	return quick_uint(q, &id) && id < ids->direct_size ? ids->direct[id] : 0;
}

QUICK bool quick_enum(struct quick *q, const struct apitrace *a)
{
	uint32_t index = quick_id(q, &a->ids.enums), n;

	if (!index || *q->p++ != APITRACE_UINT || !quick_uint(q, &n))
		return false;
	*q->out++ = VALUE_ENUM;
	q->out = uleb_at(q->out, ((const uint32_t *)a->ids.enums.at)[index - 1]);
	if (n < 0x80) {
		*q->out++ = 1;
		*q->out++ = (uint8_t)n;
	} else if (n < 0x8000) {
		*q->out++ = 2;
		put_u16(q->out, (uint16_t)n);
		q->out += 2;
	} else {
		*q->out++ = 4;
		put_u32(q->out, n);
		q->out += 4;
	}
	return true;
}

/* Copy a string or blob of less than 16 KiB. */
QUICK bool quick_run(struct quick *q)
{
	size_t n = q->p[0];

	*q->out++ = *q->p++;
	if (n & 0x80) {
		n = (n & 0x7f) | (size_t)q->p[0] << 7;
		*q->out++ = *q->p++;
		if (n & 1 << 14 || n < 0x80)
			return false;
	}
	if (__builtin_expect(n <= QUICK_SHORT, 1)) {
		memcpy(q->out, q->p, QUICK_SHORT);
	} else {
		if (q->end - q->p < (ptrdiff_t)n || q->limit - q->out < (ptrdiff_t)n + QUICK_OUT)
			return false;
		memcpy(q->out, q->p, n);
	}
	q->out += n;
	q->p += n;
	if (n > QUICK_SHORT)
		quick_measure(q);
	return true;
}

QUICK bool quick_scalar(struct quick *q, const struct apitrace *a)
{
	uint8_t type = *q->p++;
	uint32_t index;

	switch (type) {
	case APITRACE_NULL:
	case APITRACE_FALSE:
	case APITRACE_TRUE: *q->out++ = type; return true;
	case APITRACE_SINT:
	case APITRACE_UINT: *q->out++ = type; return quick_number(q);
	case APITRACE_OPAQUE: *q->out++ = VALUE_POINTER; return quick_number(q);
	case APITRACE_FLOAT:
		*q->out++ = VALUE_FLOAT;
		memcpy(q->out, q->p, 4);
		q->out += 4;
		q->p += 4;
		return true;
	case APITRACE_DOUBLE:
		*q->out++ = VALUE_DOUBLE;
		memcpy(q->out, q->p, 8);
		q->out += 8;
		q->p += 8;
		return true;
	case APITRACE_STRING:
	case APITRACE_BLOB: *q->out++ = type; return quick_run(q);
	case APITRACE_ENUM: return quick_enum(q, a);
	case APITRACE_BITMASK:
		index = quick_id(q, &a->ids.bitmasks);
		if (!index)
			return false;
		*q->out++ = VALUE_BITMASK;
		q->out = uleb_at(q->out, ((const uint32_t *)a->ids.bitmasks.at)[index - 1]);
		return quick_number(q);
	}
	return false;
}

/* Copy up to n floats of a matrix or vector, whose encoding is the same in the stream. Return how
 * many were copied. */
QUICK unsigned quick_floats(struct quick *q, unsigned n)
{
	const uint64_t tags = 0x0000ff00000000ff, low = tags / 0xff * APITRACE_FLOAT;
	unsigned left = n;

	/* three at once, 5 bytes each */
	for (; left >= 3; left -= 3) {
		uint64_t a = get_u64(q->p), b = get_u64(q->p + 8);

		if ((a & tags) != low || (b >> 16 & 0xff) != APITRACE_FLOAT)
			break;
		put_u64(q->out, a);
		put_u64(q->out + 8, b);
		q->p += 15;
		q->out += 15;
	}
	for (; left && *q->p == APITRACE_FLOAT; left--) {
		put_u64(q->out, get_u64(q->p));
		q->p += 5;
		q->out += 5;
	}
	return n - left;
}

QUICK bool quick_array(struct quick *q, const struct apitrace *a)
{
	uint8_t n = *++q->p;

	q->p++;
	if (n & 0x80 || q->safe - q->p < n * 5)
		return false;
	*q->out++ = VALUE_ARRAY;
	*q->out++ = n;
	for (n -= (uint8_t)quick_floats(q, n); n; n--)
		if (!quick_room(q) || !quick_scalar(q, a))
			return false;
	return true;
}

/* Convert details up to the first that is not simple. true: all details. */
QUICK bool quick_details(struct quick *q, const struct apitrace *a, uint32_t *arguments)
{
	uint32_t most = *arguments;

	while (quick_room(q)) {
		const uint8_t *p = q->p;
		uint8_t *out = q->out;
		uint32_t what = *q->p++, index = 0;

		if (what == APITRACE_END) {
			*arguments = most;
			return true;
		}
		if (what == APITRACE_ARGUMENT)
			index = *q->p++ + 1u;
		/* argument and return value have the same numbers in the stream */
		put_u16(q->out, (uint16_t)(what | index << 8));
		q->out += 2;
		/* the first byte of a longer number is above 0x7f too */
		if (what > APITRACE_RETURN || index > 0x7f ||
		    (*q->p == APITRACE_ARRAY ? !quick_array(q, a) : !quick_scalar(q, a))) {
			q->p = p;
			q->out = out;
			break;
		}
		most = index > most ? index : most;
	}
	*arguments = most;
	return false;
}

static bool snappy_preamble(const uint8_t **p, const uint8_t *end, uint32_t *length)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 35 && *p < end; shift += 7) {
		uint8_t byte = *(*p)++;

		n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*length = (uint32_t)n;
			return n <= UINT32_MAX;
		}
	}
	return false;
}

bool snappy_length(const uint8_t *in, size_t n, uint32_t *length)
{
	return snappy_preamble(&in, in + n, length);
}

static uint32_t snappy_little(const uint8_t *p, unsigned n)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint32_t)p[i] << 8 * i;
	return v;
}

/* Read the head of an element: a literal of run bytes, which follow (*offset 0), or a copy of run
 * bytes from offset bytes before. Returns false if the head is cut, or is none. */
static bool snappy_element(const uint8_t **p, const uint8_t *end, size_t *run, size_t *offset)
{
	uint8_t tag = *(*p)++;
	unsigned n; /* bytes of a number after the tag */

	switch (tag & 3) {
	case 0: n = tag >> 2 >= 60 ? (unsigned)(tag >> 2) - 59 : 0; break;
	case 1: n = 1; break;
	default: n = (tag & 3) == 2 ? 2 : 4;
	}
	if ((size_t)(end - *p) < n)
		return false;
	*offset = snappy_little(*p, n);
	*run = (size_t)(tag >> 2) + 1;
	*p += n;
	if ((tag & 3) == 0) {
		*run = n ? *offset + 1 : *run;
		*offset = 0;
		return true;
	}
	if ((tag & 3) == 1) {
		*run = (size_t)(tag >> 2 & 7) + 4;
		*offset |= (size_t)(tag >> 5) << 8;
	}
	return *offset > 0;
}

size_t snappy_part(const uint8_t *p, size_t n, uint8_t *out, size_t size, bool *whole)
{
	const uint8_t *end = p + n;
	size_t done = 0, run, offset;
	uint32_t length;
	bool all;

	*whole = false;
	if (!snappy_preamble(&p, end, &length))
		return 0;
	all = length <= size; /* else only size bytes are wanted */
	if (all)
		size = length;
	while (p < end && done < size) {
		if (!snappy_element(&p, end, &run, &offset))
			return done;
		if (offset) {
			if (offset > done || run > size - done)
				return done;
			for (size_t i = 0; i < run; i++, done++) /* they may overlap */
				out[done] = out[done - offset];
			continue;
		}
		if (run > size - done) {
			if (all)
				return done;
			run = size - done;
		}
		if (run > (size_t)(end - p)) {
			/* a cut inside a literal: the bytes before it are valid */
			memcpy(out + done, p, (size_t)(end - p));
			return done + (size_t)(end - p);
		}
		memcpy(out + done, p, run);
		p += run;
		done += run;
	}
	*whole = done == length && p == end;
	return done;
}

/* --- reads the header of a trace: its version, and from version 6 on its properties --- */

static int read_property(struct apitrace *a, bool *last)
{
	size_t before;
	int bad;

	a->values.members.size = 0;
	if (apitrace_text(a, &a->values.members, APITRACE_HEADER_LIMIT))
		return -1;
	*last = !a->values.members.size;
	if (*last)
		return 0;
	before = a->values.members.size;
	/* of a cut value apitrace keeps the part that the file has */
	bad = apitrace_text(a, &a->values.members, APITRACE_HEADER_LIMIT);
	if (bad && a->failure != FAILURE_END)
		return -1;
	if (a->header.size + a->values.members.size > APITRACE_HEADER_LIMIT)
		return apitrace_bad(a, "properties of more than %d bytes", APITRACE_HEADER_LIMIT);
	for (int i = 0; i < 2; i++) {
		const uint8_t *text = a->values.members.data + (i ? before : 0);
		size_t n = i ? a->values.members.size - before : before;

		if (buffer_uleb(&a->header, n) || buffer_append(&a->header, text, n))
			return apitrace_no_memory(a);
	}
	return bad;
}

static int put_version(struct apitrace *a, uint64_t version)
{
	return buffer_u8(&a->header, (uint8_t)version) ? apitrace_no_memory(a) : 0;
}

/* Read the header of a trace. FAILURE_END: the fields that were read are set. */
static int apitrace_header(struct apitrace *a)
{
	bool last = false;
	int bad = 0;

	a->header.size = 0;
	a->version = a->semantic = 0;
	if (apitrace_uint(a, &a->version))
		return -1;
	a->semantic = a->version;
	if (a->version > APITRACE_LATEST)
		return apitrace_bad(a, "unsupported trace format version %" PRIu64, a->version);
	if (put_version(a, a->version))
		return -1;
	if (a->version < APITRACE_PROPERTIES)
		return 0;
	if (apitrace_uint(a, &a->semantic))
		return -1;
	if (a->semantic > a->version)
		return apitrace_bad(a, "semantic version %" PRIu64 " of format version %" PRIu64,
				    a->semantic, a->version);
	if (put_version(a, a->semantic))
		return -1;
	while (!last && !bad)
		bad = read_property(a, &last);
	if (buffer_u8(&a->header, 0))
		return apitrace_no_memory(a);
	return bad;
}

/*
 * Reads functions, structs, enums, bitmasks and frames, each defined at the first use of its id.
 */

enum { DIRECT_LIMIT = 1 << 16 };

/* Add an id. The tracer's ids are sparse numbers below some thousands: an array; larger ids are
 * hashed. */
static int set_index(struct apitrace_ids *ids, uint32_t id, uint32_t index)
{
	if (id >= DIRECT_LIMIT)
		return idmap_set(&ids->map, id, index);
	if (ARRAY_REACH(ids->direct, ids->direct_size, id))
		return -1;
	ids->direct[id] = index;
	return 0;
}

/* Read an id and find its element, or add a zeroed one. *fresh: it was added. */
static inline void *find_element(struct apitrace *a, struct apitrace_ids *ids, size_t element,
				 uint64_t *id, bool *fresh)
{
	uint32_t index;
	void *grown;

	*fresh = false;
	if (apitrace_uint(a, id))
		return NULL;
	if (*id > UINT32_MAX - 1) {
		apitrace_bad(a, "the impossible id %llu", (unsigned long long)*id);
		return NULL;
	}
	index = *id < ids->direct_size ? ids->direct[*id] : idmap_get(&ids->map, (uint32_t)*id);
	if (__builtin_expect(index != 0, 1))
		return (char *)ids->at + (index - 1) * element;
	a->ids.defined += element + 64;
	if (ARRAY_ASSIGN(ids->at, array_grow(ids->at, &ids->capacity, ids->count, element)) ||
	    set_index(ids, (uint32_t)*id, (uint32_t)++ids->count)) {
		apitrace_no_memory(a);
		return NULL;
	}
	*fresh = true;
	grown = (char *)ids->at + (ids->count - 1) * element;
	memset(grown, 0, element);
	return grown;
}

static void forget_ids(struct apitrace_ids *ids)
{
	idmap_free(&ids->map);
	free(ids->direct);
	free(ids->at);
	*ids = (struct apitrace_ids){0};
}

static void apitrace_forget(struct apitrace *a)
{
	forget_ids(&a->ids.functions);
	forget_ids(&a->ids.structs);
	forget_ids(&a->ids.enums);
	forget_ids(&a->ids.bitmasks);
	forget_ids(&a->ids.frames);
	idmap_free(&a->lanes);
	a->lanes = (struct idmap){0};
	a->last_lane = 0;
	open_calls_free(&a->open);
}

static int apitrace_add_member(struct apitrace *a, uint32_t name, uint64_t value)
{
	struct member_entry m = {name, value, value};

	return buffer_append(&a->values.members, &m, sizeof m) ? apitrace_no_memory(a) : 0;
}

static int apitrace_count_of(struct apitrace *a, uint64_t *n)
{
	if (apitrace_uint(a, n))
		return -1;
	if (*n > APITRACE_NAMES_LIMIT)
		return apitrace_bad(a, "a definition of %llu names", (unsigned long long)*n);
	return 0;
}

/* Declare the members in a->values.members as a definition. */
static int define_members(struct apitrace *a, uint64_t id, uint32_t name, enum definition_kind kind,
			  uint32_t *definition)
{
	*definition = 0;
	if (!a->w)
		return 0;
	*definition = writer_definition(
		a->w, &(struct definition_entry){
			      .name = name,
			      .kind = kind,
			      .native = (uint32_t)id,
			      .nmembers = (uint32_t)(a->values.members.size /
						     sizeof(struct member_entry)),
			      .members = (const struct member_entry *)a->values.members.data});
	if (!*definition || (!a->segments && writer_use_definition(a->w, *definition)))
		return apitrace_no_memory(a);
	return 0;
}

static int apitrace_read_names(struct apitrace *a, uint64_t n)
{
	uint32_t name;

	a->values.members.size = 0;
	while (n--)
		if (apitrace_name(a, &name) || apitrace_add_member(a, name, 0))
			return -1;
	return 0;
}

/* Set the API by the first function whose name is typical of an API. */
static void detect_api(struct apitrace *a, const char *s, size_t n)
{
	static const struct {
		const char *prefix, *api;
		bool upper; /* a capital letter follows */
	} rows[] = {
		{"glX", "OpenGL + GLX/WGL/CGL", false},
		{"wgl", "OpenGL + GLX/WGL/CGL", true},
		{"CGL", "OpenGL + GLX/WGL/CGL", false},
		{"egl", "OpenGL/GLES1/GLES2/VG + EGL", true},
		{"Direct", "DirectX", false},
		{"D3D", "DirectX", false},
		{"Create", "DirectX", false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t length = strlen(rows[i].prefix);

		if (n < length || memcmp(s, rows[i].prefix, length) != 0)
			continue;
		if (rows[i].upper && (n == length || s[length] < 'A' || s[length] > 'Z'))
			continue;
		strcpy(a->totals.api, rows[i].api);
		return;
	}
}

static int define_function(struct apitrace *a, uint64_t id, struct apitrace_function *f)
{
	uint32_t name, arguments;
	uint64_t n;

	a->values.members.size = 0;
	if (apitrace_text(a, &a->values.members, APITRACE_NAME_LIMIT))
		return -1;
	f->known = apitrace_known((const char *)a->values.members.data, a->values.members.size);
	if (!a->totals.api[0])
		detect_api(a, (const char *)a->values.members.data, a->values.members.size);
	name = a->w ? writer_string(a->w, a->values.members.data, a->values.members.size) : 0;
	if (apitrace_count_of(a, &n) || apitrace_read_names(a, n) ||
	    define_members(a, 0, name, DEFINITION_STRUCT, &arguments))
		return -1;
	f->names = (uint32_t)n;
	f->name = name;
	if (!a->w)
		return 0;
	f->location = writer_location(
		a->w,
		&(struct location_entry){.address = id, .name = name, .arguments = arguments});
	return f->location ? 0 : apitrace_no_memory(a);
}

static int apitrace_function(struct apitrace *a, struct apitrace_function **f)
{
	uint64_t id;
	bool fresh;

	*f = find_element(a, &a->ids.functions, sizeof **f, &id, &fresh);
	if (!*f)
		return -1;
	return fresh ? define_function(a, id, *f) : 0;
}

static int apitrace_struct(struct apitrace *a, struct apitrace_defined **s)
{
	uint32_t name;
	uint64_t id, n;
	bool fresh;

	*s = find_element(a, &a->ids.structs, sizeof **s, &id, &fresh);
	if (!*s)
		return -1;
	if (!fresh)
		return 0;
	a->values.members.size = 0;
	if (apitrace_name(a, &name) || apitrace_count_of(a, &n) || apitrace_read_names(a, n))
		return -1;
	(*s)->members = (uint32_t)n;
	return define_members(a, id, name, DEFINITION_STRUCT, &(*s)->definition);
}

/* Read a name of an enum or bitmask, and its value. */
static int named_value(struct apitrace *a, enum definition_kind kind, uint64_t *n)
{
	uint32_t name;
	int64_t number;

	if (apitrace_name(a, &name))
		return -1;
	if (kind == DEFINITION_BITMASK)
		return apitrace_uint(a, n) || apitrace_add_member(a, name, *n) ? -1 : 0;
	if (apitrace_sint(a, &number))
		return -1;
	*n = (uint64_t)number;
	return apitrace_add_member(a, name, *n);
}

/* Read the id of an enum or bitmask, and at its first use all names with their values. */
static int named_values(struct apitrace *a, struct apitrace_ids *ids, enum definition_kind kind,
			uint32_t *definition)
{
	uint64_t id, n, value;
	uint32_t *known;
	bool fresh;

	known = find_element(a, ids, sizeof *known, &id, &fresh);
	if (!known)
		return -1;
	if (fresh) {
		a->values.members.size = 0;
		if (apitrace_count_of(a, &n))
			return -1;
		while (n--)
			if (named_value(a, kind, &value))
				return -1;
		if (define_members(a, id, 0, kind, known))
			return -1;
	}
	*definition = *known;
	return 0;
}

/* Read an enum of a version before 3, where an id is defined as one name and value. */
static int apitrace_enum_value(struct apitrace *a, uint32_t *definition, int64_t *value)
{
	struct apitrace_defined *known;
	uint64_t id;
	bool fresh;

	known = find_element(a, &a->ids.enums, sizeof *known, &id, &fresh);
	if (!known)
		return -1;
	if (fresh) {
		a->values.members.size = 0;
		if (named_value(a, DEFINITION_ENUM, &known->value) ||
		    define_members(a, id, 0, DEFINITION_ENUM, &known->definition))
			return -1;
	}
	*definition = known->definition;
	*value = (int64_t)known->value;
	return 0;
}

/* Declare the location of a frame, by its texts and numbers (enum apitrace_frame). A frame
 * without a function has the name of its module and the offset in it. */
static int apitrace_frame_location(struct apitrace *a, const uint64_t *details, uint32_t *location)
{
	struct symbol_entry symbol = {.line = details[APITRACE_FRAME_LINE] > UINT32_MAX
						      ? 0
						      : (uint32_t)details[APITRACE_FRAME_LINE]};
	struct location_entry entry = {.address = details[APITRACE_FRAME_OFFSET],
				       .name = (uint32_t)details[APITRACE_FRAME_FUNCTION]};
	struct buffer *b = &a->values.members;
	const char *module;
	size_t size;

	if (!entry.name) {
		module = writer_string_of(a->w, (uint32_t)details[APITRACE_FRAME_MODULE], &size);
		b->size = 0;
		if (size ? buffer_append(b, module, size) ||
				    buffer_printf(b, "+0x%" PRIx64, entry.address)
			 : buffer_u8(b, '?'))
			return apitrace_no_memory(a);
		entry.name = writer_string(a->w, b->data, b->size);
	}
	*location = writer_location(a->w, &entry);
	if (!*location)
		return apitrace_no_memory(a);
	/* after the declaration, which moves the texts */
	symbol.name = writer_string_of(a->w, entry.name, &size);
	symbol.name_size = (uint32_t)size;
	symbol.module = writer_string_of(a->w, (uint32_t)details[APITRACE_FRAME_MODULE], &size);
	symbol.module_size = (uint32_t)size;
	symbol.file = writer_string_of(a->w, (uint32_t)details[APITRACE_FRAME_FILE], &size);
	symbol.file_size = (uint32_t)size;
	return writer_symbol(a->w, *location, &symbol) ? apitrace_no_memory(a) : 0;
}

/* Read a frame into a->values.members and details. */
static int frame_details(struct apitrace *a, uint64_t *details)
{
	static const char *const keys[] = APITRACE_FRAME_NAMES;
	uint64_t number;
	uint32_t text;
	uint8_t what;

	for (unsigned n = 0;; n++) {
		uint32_t key;

		if (apitrace_byte(a, &what))
			return -1;
		if (what == APITRACE_FRAME_END)
			return 0;
		if (what > APITRACE_FRAME_OFFSET)
			return apitrace_bad(a, "unknown backtrace detail %u", what);
		if (n == APITRACE_NAMES_LIMIT / 2)
			return apitrace_bad(a, "a frame of too many details");
		key = a->w ? writer_text(a->w, keys[what]) : 0;
		if (what >= APITRACE_FRAME_LINE) {
			if (apitrace_uint(a, &number) || apitrace_add_member(a, key, number))
				return -1;
			details[what] = number;
		} else if (apitrace_name(a, &text) || apitrace_add_member(a, key, 0) ||
			   apitrace_add_member(a, text, 0)) {
			return -1;
		} else {
			details[what] = text;
		}
	}
}

static int apitrace_frame(struct apitrace *a, struct apitrace_defined **frame)
{
	uint64_t id, details[APITRACE_FRAME_OFFSET + 1] = {0};
	bool fresh;

	*frame = find_element(a, &a->ids.frames, sizeof **frame, &id, &fresh);
	if (!*frame)
		return -1;
	if (!fresh)
		return 0;
	a->values.members.size = 0;
	return frame_details(a, details) ||
			       define_members(a, id, 0, DEFINITION_FRAME, &(*frame)->definition) ||
			       (a->w && apitrace_frame_location(a, details, &(*frame)->location))
		       ? -1
		       : 0;
}

/*
 * Converts nearly all calls.
 *
 * Their values are simple, and the writer's current block has their lane and their
 * location: their rows are written directly into the block. Others are converted one by one, from
 * the beginning of the event or of the detail.
 *
 * Instructions of 'trdecode | trstat -g name -c count' of t/bench/apitrace.sh without this part:
 * 2.0 times as many; with the details alone 1.5 times.
 */

/* Convert details into tail, up to the first that is not small and simple. true: all details. */
static bool apitrace_quick_details(struct apitrace *a)
{
	struct buffer *tail = &a->values.tail;
	size_t most = tail->capacity < a->values.limit ? tail->capacity : a->values.limit;
	struct quick q = {a->unpack.at, a->unpack.end, tail->data + tail->size, tail->data + most,
			  NULL};
	bool ended;

	if (a->version < APITRACE_ENUM_SETS || a->segments || tail->size > most)
		return false;
	quick_measure(&q);
	ended = quick_details(&q, a, &a->values.arguments);
	a->unpack.at = q.p;
	tail->size = (size_t)(q.out - tail->data);
	return ended;
}

/* --- complete events, directly into the block --- */

enum { QUICK_HEAD = NARROW_ROW + APITRACE_FIXED_SIZE + 4 }; /* bytes of a row before its tail */

/* What the row of the current event contains. */
struct quick_event {
	const struct apitrace_function *function;
	uint32_t lane, call;
	bool leave;
};

/* Read the number of a call, up to 4 bytes. */
QUICK bool quick_call(struct quick *q, uint32_t *call)
{
	uint32_t n = get_u32(q->p);

	q->p += 3;
	if (__builtin_expect((n & 0x808080) == 0x8080, 1)) {
		*call = (n & 0x7f) | (n >> 1 & 0x7f << 7) | (n >> 2 & 0x7f << 14);
		return true;
	}
	if ((n & 0x80808080) == 0x808080) {
		q->p++;
		*call = (n & 0x7f) | (n >> 1 & 0x7f << 7) | (n >> 2 & 0x7f << 14) |
			(n >> 3 & 0x7f << 21);
		return true;
	}
	q->p -= 3;
	return quick_uint(q, call);
}

/* Read an event up to its details; false: not simple. */
QUICK bool quick_event(struct quick *q, const struct apitrace *a, struct quick_event *e)
{
	const struct apitrace_function *functions = a->ids.functions.at;
	uint8_t event = *q->p++, thread = 0;
	uint32_t index;

	e->leave = event == APITRACE_LEAVE;
	if (event == APITRACE_ENTER) {
		if (a->version >= APITRACE_THREADS)
			thread = *q->p++;
		if (thread != a->last_thread || thread & 0x80)
			return false;
		index = quick_id(q, &a->ids.functions);
		if (!index || !a->last_lane)
			return false;
		e->lane = a->last_lane;
		e->call = a->call;
		e->function = &functions[index - 1];
		return true;
	}
	if (event != APITRACE_LEAVE)
		return false;
	/* nearly always the leave of the call entered last */
	if (!quick_call(q, &e->call) || a->open.recent.key != open_calls_key(0, e->call))
		return false;
	e->lane = (uint32_t)a->open.recent.value;
	e->function = &functions[(a->open.recent.value >> 32) - 1];
	return true;
}

/* Update open calls and counts after an enter or leave; false: too many open calls, nothing was
 * changed. */
QUICK bool quick_taken(struct apitrace *a, const struct quick_event *e)
{
	if (e->leave) {
		a->open.recent.key = 0;
		if (e->function->known & APITRACE_END_FRAME) {
			a->frame++;
			a->totals.frames++;
		}
		return true;
	}
	if (open_calls_count(&a->open) >= APITRACE_OPEN_LIMIT ||
	    open_calls_put(&a->open, 0, a->call, apitrace_remember(a, e->function, e->lane)))
		return false;
	a->call++;
	a->totals.calls++;
	return true;
}

/* Write events directly into the writer's block, while they are small and simple and not later than
 * until. true: the next event is later; false: apitrace_event must convert the next event. */
static bool apitrace_quick_events(struct apitrace *a, uint64_t until)
{
	struct writer *w = a->w;
	uint64_t time = a->tick + (uint64_t)a->input->shift, first = time, word[2];
	struct quick q = {a->unpack.at, a->unpack.end, NULL, w ? w->block.limit : NULL, NULL};
	uint32_t lane = 0;
	uint64_t lane_bits = 0;
	const uint8_t *taken = q.p;
	uint8_t *row;

	if (!w || !w->block.quick || a->version < APITRACE_ENUM_SETS || a->segments || a->done ||
	    a->values.too_large || /* no event that fits the block exceeds the limit */
	    a->values.limit < (size_t)(w->block.limit - w->block.row) ||
	    !writer_block_has(w, &w->block.types, a->enter) ||
	    !writer_block_has(w, &w->block.types, a->leave))
		return false;
	word[0] = row_make(0, 0, 0, w->block.types.slot[a->enter].index, 0);
	word[1] = row_make(0, 0, 0, w->block.types.slot[a->leave].index, 0);
	row = w->block.row;
	while (time <= until && time - w->block.base <= NARROW_DELTA_MOST) {
		struct quick_event e;
		uint32_t arguments = 0, location, frame = a->frame;

		q.out = row + QUICK_HEAD;
		quick_measure(&q);
		if (!quick_room(&q) || !quick_event(&q, a, &e))
			break;
		if (e.lane != lane) {
			if (!writer_block_has(w, &w->block.lanes, e.lane))
				break;
			lane = e.lane;
			lane_bits = row_make(0, w->block.lanes.slot[lane].index, 0, 0, 0);
		}
		location = e.function->location;
		if (!quick_details(&q, a, &arguments) || arguments > e.function->names ||
		    (!writer_block_has(w, &w->block.locations, location) &&
		     !writer_take_location(w, location)) ||
		    !quick_taken(a, &e))
			break;
		put_u64(row, row_make(time - w->block.base, 0,
				      w->block.locations.slot[location].index, 0, 0) |
				     lane_bits | word[e.leave]);
		put_u32(row + NARROW_ROW + APITRACE_FIXED_CALL, e.call);
		put_u32(row + NARROW_ROW + APITRACE_FIXED_FRAME, frame);
		put_u32(row + QUICK_HEAD - 4, (uint32_t)(q.out - row) - QUICK_HEAD);
		put_u32(q.out, 0); /* the padding */
		row += align_up((size_t)(q.out - row), 4);
		time++;
		taken = q.p;
	}
	if (time == first)
		return false;
	a->unpack.at = taken;
	a->tick += time - first;
	w->block.row = row;
	w->block.count += (uint32_t)(time - first);
	w->block.bare = false;
	w->block.last = time - 1 > w->block.last ? time - 1 : w->block.last;
	return time > until;
}

/* --- converts the details of events: arguments, return values, back traces --- */

enum { ROOM = 64 }; /* most bytes written between two calls of tail_room */

/* Enlarge tail; discard a detail that exceeds the limit of one event. */
static int apitrace_make_room(struct apitrace *a)
{
	struct buffer *b = &a->values.tail;

	if (b->size > a->values.limit) {
		a->values.too_large = true;
		b->size = a->values.detail;
	}
	return buffer_reserve(b, ROOM) ? apitrace_no_memory(a) : 0;
}

static inline int tail_room(struct apitrace *a)
{
	return __builtin_expect(a->values.tail.capacity - a->values.tail.size < ROOM ||
					a->values.tail.size > a->values.limit,
				0)
		       ? apitrace_make_room(a)
		       : 0;
}

static inline uint8_t *tail_out(struct apitrace *a)
{
	return a->values.tail.data + a->values.tail.size;
}

static inline void tail_written(struct apitrace *a, const uint8_t *end)
{
	a->values.tail.size = (size_t)(end - a->values.tail.data);
}

/* Write a tag and a number, for which there is room. */
static inline void put_tagged(struct apitrace *a, uint8_t tag, uint64_t n)
{
	uint8_t *p = tail_out(a);

	*p++ = tag;
	tail_written(a, uleb_at(p, n));
}

/* Record that the current event's values use a definition. */
static int use_definition(struct apitrace *a, uint32_t definition)
{
	/* a stream of one segment has the definition since its first use */
	if (__builtin_expect(a->segments, 0) && buffer_u32(&a->values.used, definition))
		return apitrace_no_memory(a);
	return 0;
}

/* Copy n bytes, in pieces as they are unpacked. */
static int apitrace_copy_bytes(struct apitrace *a, uint64_t n)
{
	while (n) {
		size_t have = apitrace_piece(a, n);

		if (!have)
			return -1;
		if (a->values.tail.size + have > a->values.limit) {
			a->values.too_large = true;
			a->values.tail.size = a->values.detail;
		}
		if (!a->values.too_large && buffer_append(&a->values.tail, a->unpack.at, have))
			return apitrace_no_memory(a);
		a->unpack.at += have;
		n -= have;
	}
	return 0;
}

static int copy_string(struct apitrace *a, uint8_t tag)
{
	uint64_t n;

	if (apitrace_uint(a, &n))
		return -1;
	put_tagged(a, tag, n);
	if (__builtin_expect(n <= ROOM / 2 && (uint64_t)(a->unpack.end - a->unpack.at) >= n, 1)) {
		memcpy(tail_out(a), a->unpack.at, (size_t)n);
		a->unpack.at += n;
		a->values.tail.size += (size_t)n;
		return 0;
	}
	return apitrace_copy_bytes(a, n);
}

static int wide_string(struct apitrace *a)
{
	uint64_t n, unit;

	if (apitrace_uint(a, &n))
		return -1;
	put_tagged(a, VALUE_WSTRING, n);
	while (n--) {
		if (apitrace_uint(a, &unit) || tail_room(a))
			return -1;
		tail_written(a, uleb_at(tail_out(a), unit));
	}
	return 0;
}

static int copy_number(struct apitrace *a, uint8_t tag)
{
	uint64_t n;

	if (apitrace_uint(a, &n))
		return -1;
	put_tagged(a, tag, n);
	return 0;
}

/* Read a negative number. A magnitude of 64 bits wraps to a number that is not negative. */
static int signed_number(struct apitrace *a)
{
	uint64_t n;

	if (apitrace_uint(a, &n))
		return -1;
	put_tagged(a, n > NEGATIVE_MOST ? VALUE_UINT : VALUE_NEGATIVE, n > NEGATIVE_MOST ? -n : n);
	return 0;
}

static inline int apitrace_put_bytes(struct apitrace *a, uint8_t tag, unsigned n)
{
	uint8_t *p = tail_out(a);

	*p++ = tag;
	if (__builtin_expect((size_t)(a->unpack.end - a->unpack.at) >= n, 1)) {
		memcpy(p, a->unpack.at, n);
		a->unpack.at += n;
		tail_written(a, p + n);
		return 0;
	}
	tail_written(a, p);
	return apitrace_copy_bytes(a, n);
}

static int put_enumeration(struct apitrace *a)
{
	uint8_t *p = tail_out(a), size = 8;
	uint32_t definition;
	int64_t n;

	if (a->version < APITRACE_ENUM_SETS) {
		if (apitrace_enum_value(a, &definition, &n))
			return -1;
	} else if (named_values(a, &a->ids.enums, DEFINITION_ENUM, &definition) ||
		   apitrace_sint(a, &n)) {
		return -1;
	}
	if (use_definition(a, definition))
		return -1;
	if (n == (int8_t)n)
		size = 1;
	else if (n == (int16_t)n)
		size = 2;
	else if (n == (int32_t)n)
		size = 4;
	*p++ = VALUE_ENUM;
	p = uleb_at(p, definition);
	*p++ = size;
	put_u64(p, (uint64_t)n);
	tail_written(a, p + size);
	return 0;
}

static int put_bitmask(struct apitrace *a)
{
	uint32_t definition;
	uint64_t n;

	if (named_values(a, &a->ids.bitmasks, DEFINITION_BITMASK, &definition) ||
	    apitrace_uint(a, &n) || use_definition(a, definition))
		return -1;
	put_tagged(a, VALUE_BITMASK, definition);
	tail_written(a, uleb_at(tail_out(a), n));
	return 0;
}

static int apitrace_put_value(struct apitrace *a, unsigned nesting);

static int apitrace_put_elements(struct apitrace *a, uint64_t n, unsigned nesting)
{
	if (nesting == APITRACE_NESTING)
		return apitrace_bad(a, "values nested deeper than %d", APITRACE_NESTING);
	while (n--)
		if (apitrace_put_value(a, nesting + 1))
			return -1;
	return 0;
}

static int apitrace_put_array(struct apitrace *a, unsigned nesting)
{
	uint64_t n;

	if (apitrace_uint(a, &n))
		return -1;
	put_tagged(a, VALUE_ARRAY, n);
	return apitrace_put_elements(a, n, nesting);
}

static int put_structure(struct apitrace *a, unsigned nesting)
{
	struct apitrace_defined *s;
	uint32_t members;

	if (apitrace_struct(a, &s) || use_definition(a, s->definition))
		return -1;
	members = s->members;
	put_tagged(a, VALUE_STRUCT, s->definition);
	tail_written(a, uleb_at(tail_out(a), members));
	return apitrace_put_elements(a, members, nesting);
}

static int apitrace_put_value(struct apitrace *a, unsigned nesting)
{
	uint8_t type;

	if (apitrace_byte(a, &type) || tail_room(a))
		return -1;
	switch (type) {
	case APITRACE_NULL:
	case APITRACE_FALSE:
	case APITRACE_TRUE:
		/* these and most other tags have the same number in the stream */
		*tail_out(a) = type;
		a->values.tail.size++;
		return 0;
	case APITRACE_SINT: return signed_number(a);
	case APITRACE_UINT: return copy_number(a, VALUE_UINT);
	case APITRACE_FLOAT: return apitrace_put_bytes(a, VALUE_FLOAT, 4);
	case APITRACE_DOUBLE: return apitrace_put_bytes(a, VALUE_DOUBLE, 8);
	case APITRACE_STRING: return copy_string(a, VALUE_STRING);
	case APITRACE_BLOB: return copy_string(a, VALUE_BLOB);
	case APITRACE_ENUM: return put_enumeration(a);
	case APITRACE_BITMASK: return put_bitmask(a);
	case APITRACE_ARRAY: return apitrace_put_array(a, nesting);
	case APITRACE_STRUCT: return put_structure(a, nesting);
	case APITRACE_OPAQUE: return copy_number(a, VALUE_POINTER);
	case APITRACE_REPR:
		*tail_out(a) = VALUE_REPR;
		a->values.tail.size++;
		return apitrace_put_elements(a, 2, nesting);
	case APITRACE_WSTRING: return wide_string(a);
	}
	return apitrace_bad(a, "unknown type %u of a value", type);
}

static void begin_detail(struct apitrace *a, uint8_t what, uint64_t index)
{
	a->values.detail = a->values.tail.size;
	put_tagged(a, what, index);
}

static int apitrace_put_backtrace(struct apitrace *a)
{
	struct apitrace_defined *frame;
	uint64_t n;

	if (apitrace_uint(a, &n))
		return -1;
	begin_detail(a, DETAIL_BACKTRACE, 0);
	put_tagged(a, VALUE_ARRAY, n);
	while (n--) {
		if (apitrace_frame(a, &frame) || use_definition(a, frame->definition) ||
		    tail_room(a))
			return -1;
		if (a->values.frames.size < 4 * STACK_FRAMES_MOST &&
		    buffer_u32(&a->values.frames, frame->location))
			return apitrace_no_memory(a);
		put_tagged(a, VALUE_FRAME, frame->definition);
	}
	return 0;
}

static int apitrace_put_detail(struct apitrace *a, uint8_t what)
{
	uint64_t index;

	switch (what) {
	case APITRACE_ARGUMENT:
		if (apitrace_uint(a, &index))
			return -1;
		if (index >= APITRACE_ARGUMENT_LIMIT)
			return apitrace_bad(a, "an argument of number %llu",
					    (unsigned long long)index);
		if (index >= a->values.arguments)
			a->values.arguments = (uint32_t)index + 1;
		begin_detail(a, DETAIL_ARGUMENT, index + 1);
		return apitrace_put_value(a, 0);
	case APITRACE_RETURN: begin_detail(a, DETAIL_RETURN, 0); return apitrace_put_value(a, 0);
	case APITRACE_BACKTRACE: return apitrace_put_backtrace(a);
	case APITRACE_FLAGS: begin_detail(a, DETAIL_FLAGS, 0); return copy_number(a, VALUE_UINT);
	}
	return apitrace_bad(a, "unknown call detail %u", what);
}

/* Convert the details of an event into tail. */
static int apitrace_details(struct apitrace *a)
{
	uint8_t what;

	a->values.tail.size = 0;
	a->values.used.size = 0;
	a->values.frames.size = 0;
	a->values.arguments = 0;
	a->values.detail = 0;
	for (;;) {
		bool was_large = a->values.too_large;

		if (tail_room(a))
			return -1;
		if (apitrace_quick_details(a))
			return 0;
		if (apitrace_byte(a, &what) || tail_room(a))
			return -1;
		if (what == APITRACE_END)
			return 0;
		a->values.too_large = false;
		if (apitrace_put_detail(a, what))
			return -1;
		if (a->values.too_large)
			a->values.tail.size = a->values.detail;
		a->values.too_large |= was_large;
	}
}

/* Describe a type of rows; stacks: they have a stack. fields: array of APITRACE_FIELDS_MOST. */
static void apitrace_type(struct apitrace *a, enum type_kind kind, const char *name, bool stacks,
			  struct type_entry *e, struct field_entry *fields)
{
	static const struct {
		const char *name;
		uint8_t role;
		uint32_t offset;
	} all[] = {{"call", ROLE_CALL, APITRACE_FIXED_CALL},
		   {"frame", ROLE_NONE, APITRACE_FIXED_FRAME},
		   {"stack", ROLE_STACK, APITRACE_FIXED_STACK}};
	struct writer *w = a->w;

	*e = (struct type_entry){.source = a->source,
				 .name = writer_text(w, name),
				 .group = writer_text(w, "apitrace"),
				 .kind = kind,
				 .flags = TYPE_TAIL | TYPE_VALUES | TYPE_CALL_NUMBER,
				 .fixed_size = stacks ? APITRACE_FIXED_MOST : APITRACE_FIXED_SIZE,
				 .native = kind == KIND_ENTER ? APITRACE_ENTER : APITRACE_LEAVE,
				 .nfields = stacks ? 3 : 2,
				 .fields = fields};
	for (uint32_t i = 0; i < e->nfields; i++)
		fields[i] = (struct field_entry){.name = writer_text(w, all[i].name),
						 .kind = FIELD_UINT,
						 .role = all[i].role,
						 .where = WHERE_FIXED,
						 .offset = all[i].offset,
						 .size = 4};
}

static int write_failed(struct apitrace *a)
{
	a->error = a->w->error;
	a->failure = FAILURE_FATAL;
	return -1;
}

/*
 * The calls of a trace with the times of its replay's profile (glprofile.h).
 *
 * A call has the times that the replay measured on the CPU, and its enter has the fields of the
 * profile. A call that the profile does not have begins and ends where the replay has come to,
 * without a duration. Rows are written in the order of their times, which is not the trace's where
 * threads overlap: a replay runs one call at a time. The rows of the GPU are among them.
 *
 * A call that is open while more than GLPROFILE_WINDOW / 2 other calls of the profile end counts
 * as one that the profile does not have.
 */

/* Bytes of the fixed part of a row. */
enum { TIMED_FIXED_MOST = APITRACE_FIXED_MOST + GLPROFILE_FIXED_MOST };

static int timed_failed(struct apitrace *a)
{
	a->failure = FAILURE_FATAL;
	if (!a->error.what[0])
		a->error = a->w->error;
	return -1;
}

/* Get the type of enters with optional fields. 0: out of memory. */
static uint32_t enter_type(struct apitrace *a, bool stacks, unsigned variant)
{
	uint32_t *id = &a->timed.enters[stacks][variant];
	struct field_entry fields[APITRACE_FIELDS_MOST + GLPROFILE_FIELDS_MOST];
	struct type_entry e;

	if (*id)
		return *id;
	apitrace_type(a, KIND_ENTER, "enter", stacks, &e, fields);
	e.nfields += glprofile_fields(a->w, variant, fields + e.nfields, &e.fixed_size);
	*id = writer_type(a->w, &e);
	if (*id && row_filter_announce(a->input->decoding->row_filter, *id, 0))
		*id = 0;
	return *id;
}

/* Test whether a call of the profile has the function of the present enter. */
static bool same_function(const struct apitrace *a, const struct glprofile_call *c)
{
	size_t n;
	const char *name = writer_string_of(a->w, a->timed.name, &n);
	const struct intern *names = &a->timed.profile->names;

	return intern_size(names, c->name) == n && !memcmp(intern_data(names, c->name), name, n);
}

/* Add a row with the time of its call, which is set in r. r->fixed is an array of TIMED_FIXED_MOST
 * bytes. */
static int timed_row(struct apitrace *a, struct new_row *r, uint8_t *fixed,
		     const struct row_needs *needs, uint32_t call)
{
	struct glprofile *p = a->timed.profile;
	bool leave = r->type == a->leave;
	struct glprofile_call *c;
	struct open_calls *unknown = &a->timed.unknown;
	uint64_t time = p->now, now = 0;

	a->error.what[0] = '\0';
	if (glprofile_find(p, call, leave, &c, &a->error))
		return timed_failed(a);
	if (!leave && c && !same_function(a, c)) {
		/* of another trace: it counts as missing */
		c->taken = false;
		c = NULL;
	}
	if (c && glprofile_has_cpu(c))
		time = now = glprofile_cpu_time(c, leave);
	else if (!leave && open_calls_count(unknown) < APITRACE_OPEN_LIMIT &&
		 open_calls_put(unknown, 0, call, time))
		return timed_failed(a);
	else if (leave)
		open_calls_take(unknown, 0, call, &time);
	if (c && !now)
		now = (uint64_t)c->value[COLUMN_GPU_START];
	r->time = merge_shifted(time, a->input->shift);
	if (!leave && c) {
		unsigned variant = glprofile_variant(c, false);

		r->type = enter_type(a, r->fixed_size == APITRACE_FIXED_MOST, variant);
		r->fixed_size += glprofile_fixed(c, variant, fixed + r->fixed_size);
	}
	if (!r->type || (leave && c && glprofile_gpu(p, c, a->frame)))
		return timed_failed(a);
	if (row_queue_put(&p->queue, r, needs))
		return timed_failed(a);
	/* what ends next in the trace is replayed next */
	if (leave && now > p->now)
		p->now = now;
	return 0;
}

/* Write the rows up to a time, and set in->next. ended: no more rows follow. */
static int timed_write(struct apitrace *a, uint64_t until, bool ended)
{
	struct glprofile *p = a->timed.profile;
	uint64_t now = ended ? UINT64_MAX : merge_shifted(p->now, a->input->shift), next;

	if (row_queue_write(&p->queue, until < now ? until : now))
		return timed_failed(a);
	next = row_queue_next(&p->queue);
	a->input->next = next < now ? next : now;
	return 0;
}

/* Report calls of the profile that the trace does not have. */
static int timed_end(struct apitrace *a)
{
	struct glprofile *p = a->timed.profile;
	uint64_t missing;

	a->error.what[0] = '\0';
	if (glprofile_missing(p, &missing, &a->error))
		return timed_failed(a);
	input_end_shared(p->input);
	if (missing && !a->input->faults.total)
		input_damage(p->input, p->input->name, NO_OFFSET,
			     "%" PRIu64 " %s not in %s: is this the profile of another trace?",
			     missing, missing == 1 ? "call is" : "calls are", a->input->name);
	return 0;
}

/* --- converts each enter and each leave into a row --- */

static uint32_t apitrace_declare_type(struct apitrace *a, enum type_kind kind, const char *name,
				      bool stacks)
{
	struct field_entry fields[APITRACE_FIELDS_MOST];
	struct type_entry e;

	apitrace_type(a, kind, name, stacks, &e, fields);
	return writer_type(a->w, &e);
}

/* Declare the trace whose header was read. */
static int apitrace_declare(struct apitrace *a)
{
	struct writer *w = a->w;

	apitrace_forget(a);
	a->call = a->frame = 0;
	a->totals.traces++;
	if (!w)
		return a->headers.size < APITRACE_HEADER_LIMIT &&
				       buffer_append(&a->headers, a->header.data, a->header.size)
			       ? apitrace_no_memory(a)
			       : 0;
	memset(a->timed.enters, 0, sizeof a->timed.enters);
	if (!a->clock)
		a->clock = writer_clock(w, &(struct clock_entry){.name = writer_text(w, "ticks"),
								 .flags = CLOCK_TICKS});
	a->source =
		writer_source(w, &(struct source_entry){.format = writer_text(w, "apitrace"),
							.name = writer_text(w, a->input->name)});
	a->enter = apitrace_declare_type(a, KIND_ENTER, "enter", false);
	a->leave = apitrace_declare_type(a, KIND_LEAVE, "leave", false);
	a->traced = 0; /* declared at the first backtrace */
	if (!a->clock || !a->source || !a->enter || !a->leave)
		return apitrace_no_memory(a);
	if (a->header.size &&
	    writer_meta(w, a->source, APITRACE_META_HEADER, a->header.data, a->header.size))
		return write_failed(a);
	return 0;
}

static int apitrace_find_lane(struct apitrace *a, uint64_t thread, uint32_t *lane)
{
	if (thread >= APITRACE_THREAD_LIMIT)
		return apitrace_bad(a, "a thread of number %" PRIu64, thread);
	if (a->last_lane && thread == a->last_thread) {
		*lane = a->last_lane;
		return 0;
	}
	*lane = idmap_get(&a->lanes, (uint32_t)thread);
	if (!*lane) {
		a->totals.threads++;
		*lane = a->w ? writer_lane(a->w, &(struct lane_entry){.source = a->source,
								      .clock = a->clock,
								      .flags = LANE_HAS_TID,
								      .tid = (int32_t)thread})
			     : 1;
		if (!*lane || idmap_set(&a->lanes, (uint32_t)thread, *lane))
			return apitrace_no_memory(a);
	}
	a->last_thread = (uint32_t)thread;
	a->last_lane = *lane;
	return 0;
}

/* --- events --- */

static const char *limit_text(const struct apitrace *a, char *text, size_t size)
{
	bool whole = !(a->values.limit % (1 << 20));

	snprintf(text, size, "%zu %s", whole ? a->values.limit >> 20 : a->values.limit,
		 whole ? "MiB" : "bytes");
	return text;
}

/* Write a gap: values of the row were left out. */
static int apitrace_put_gap(struct apitrace *a, uint64_t tick, uint32_t lane, uint32_t call)
{
	char what[80], size[32];
	struct gap g = {GAP_UNREAD, GAP_EVENTS, UINT64_MAX, NO_OFFSET, a->input->name, what};

	snprintf(what, sizeof what, "values of call %" PRIu32 " beyond %s are left out", call,
		 limit_text(a, size, sizeof size));
	a->values.too_large = false;
	a->totals.left_out++;
	return writer_gap(a->w, tick, lane, &g);
}

/* Put the stack of an enter in its fixed part; without a backtrace nothing. */
static int apitrace_put_stack(struct apitrace *a, struct new_row *r, uint8_t *fixed,
			      uint32_t *stack)
{
	const struct buffer *frames = &a->values.frames;

	if (!frames->size || r->type != a->enter)
		return 0;
	if (!a->traced)
		a->traced = apitrace_declare_type(a, KIND_ENTER, "enter", true);
	*stack = writer_stack_of(a->w, (const uint32_t *)(const void *)frames->data,
				 frames->size / 4);
	if (!a->traced || !*stack)
		return apitrace_no_memory(a);
	put_u32(fixed + APITRACE_FIXED_STACK, *stack);
	r->type = a->traced;
	r->fixed_size = APITRACE_FIXED_MOST;
	return 0;
}

static int apitrace_put_row(struct apitrace *a, uint32_t lane, uint32_t type, uint32_t location,
			    uint32_t call)
{
	struct writer *w = a->w;
	bool timed = a->timed.profile;
	uint8_t fixed[TIMED_FIXED_MOST];
	struct row_needs needs = {a->values.used.data, a->values.used.size, 0};
	struct new_row r = {.time = a->tick++ + (uint64_t)a->input->shift,
			    .lane = lane,
			    .type = type,
			    .location = location};

	if (!w)
		return 0;
	put_u32(fixed + APITRACE_FIXED_CALL, call);
	put_u32(fixed + APITRACE_FIXED_FRAME, a->frame);
	r.fixed = fixed;
	r.fixed_size = APITRACE_FIXED_SIZE;
	r.tail = a->values.tail.data;
	r.tail_size = (uint32_t)a->values.tail.size;
	r.has_tail = true;
	if (apitrace_put_stack(a, &r, fixed, &needs.stack))
		return -1;
	if (timed) {
		if (timed_row(a, &r, fixed, &needs, call))
			return -1;
	} else if (row_needs_use(&needs, w) || writer_row_data(w, r)) {
		return write_failed(a);
	}
	if (a->values.too_large && apitrace_put_gap(a, r.time, lane, call))
		return write_failed(a);
	/* free the memory of a large texture */
	if (a->values.tail.capacity > 4 << 20)
		buffer_free(&a->values.tail);
	return 0;
}

static void apitrace_report_damage(struct apitrace *a, const char *what, uint64_t offset)
{
	const struct unpack *u = &a->unpack;

	input_damage(a->input, a->input->name, u->chunk_at,
		     "%s %" PRIu64 ", byte %" PRIu64 " of the unpacked trace: %s",
		     unpack_part(u->container), u->chunk, offset, what);
}

/* Report faults of an event that can be read in spite of them. */
static void report_oddities(struct apitrace *a, const struct apitrace_function *f, uint64_t offset)
{
	char what[80];

	if (a->values.lost_bits)
		apitrace_report_damage(a, "a number of more than 64 bits", offset);
	a->values.lost_bits = false;
	if (!f || a->values.arguments <= f->names)
		return;
	snprintf(what, sizeof what, "argument %" PRIu32 " of a function that has %" PRIu32,
		 a->values.arguments, f->names);
	apitrace_report_damage(a, what, offset);
}

/* Get the function of an open call; NULL: not an open call. */
static const struct apitrace_function *apitrace_function_of(const struct apitrace *a,
							    uint64_t known)
{
	const struct apitrace_function *all = a->ids.functions.at;

	return known ? &all[(known >> 32) - 1] : NULL;
}

static int put_enter(struct apitrace *a, uint64_t offset)
{
	struct apitrace_function *f;
	uint64_t thread = 0;
	uint32_t lane;

	/* details define no functions, so f stays valid */
	if ((a->version >= APITRACE_THREADS && apitrace_uint(a, &thread)) ||
	    apitrace_find_lane(a, thread, &lane) || apitrace_function(a, &f) || apitrace_details(a))
		return -1;
	if (__builtin_expect(a->values.arguments > f->names || a->values.lost_bits, 0))
		report_oddities(a, f, offset);
	if (open_calls_count(&a->open) < APITRACE_OPEN_LIMIT &&
	    open_calls_put(&a->open, 0, a->call, apitrace_remember(a, f, lane)))
		return apitrace_no_memory(a);
	a->totals.calls++;
	a->timed.name = f->name;
	return apitrace_put_row(a, lane, a->enter, f->location, a->call++);
}

static int decode_apitrace_put_leave(struct apitrace *a, uint64_t offset)
{
	const struct apitrace_function *f;
	uint64_t call, known = 0;

	if (apitrace_uint(a, &call) || apitrace_details(a))
		return -1;
	/* apitrace ignores the leave of a call that is not open; here it is kept, without a
	 * location */
	if (!open_calls_take(&a->open, 0, (uint32_t)call, &known) &&
	    (known = 0, !a->last_lane && apitrace_find_lane(a, 0, &a->last_lane)))
		return -1;
	f = apitrace_function_of(a, known);
	if (__builtin_expect((f && a->values.arguments > f->names) || a->values.lost_bits, 0))
		report_oddities(a, f, offset);
	if (apitrace_put_row(a, f ? (uint32_t)known : a->last_lane, a->leave, f ? f->location : 0,
			     (uint32_t)call))
		return -1;
	if (f && f->known & APITRACE_END_FRAME) {
		a->frame++;
		a->totals.frames++;
	}
	return 0;
}

/* Count the calls that are open at the end of a trace, and the frames that they end. */
static void apitrace_count_open(struct apitrace *a)
{
	uint64_t known;

	while (open_calls_take_any(&a->open, &known)) {
		const struct apitrace_function *f = apitrace_function_of(a, known);

		a->totals.incomplete++;
		a->totals.frames += f->known & APITRACE_END_FRAME ? 1 : 0;
	}
}

/* Report values that were left out. With --max-value they count as a loss only with --strict. */
static void apitrace_report_left_out(struct apitrace *a)
{
	const struct decoding *d = a->input->decoding;
	bool expected = d->max_value && !d->strict;
	char what[160], size[32];

	snprintf(what, sizeof what, "%" PRIu64 " %s values of more than %s, which were left out%s",
		 a->totals.left_out, a->totals.left_out == 1 ? "call has" : "calls have",
		 limit_text(a, size, sizeof size),
		 a->values.limit < MAX_VALUE ? ": a higher --max-value keeps them"
					     : ": a stream holds no larger ones");
	if (!expected)
		input_damage(a->input, a->input->name, NO_OFFSET, "%s", what);
	else if (!d->quiet)
		warn(a->input->name, NO_OFFSET, "%s", what);
}

/* End the trace, and report why. in_event: the data ended inside an event. */
static int finish_trace(struct apitrace *a, bool in_event, uint64_t offset)
{
	a->done = true;
	apitrace_count_open(a);
	if (a->totals.left_out)
		apitrace_report_left_out(a);
	if (a->values.lost_bits)
		report_oddities(a, NULL, offset);
	if (a->failure == FAILURE_BAD)
		apitrace_report_damage(a, a->message, offset);
	else if (a->unpack.damage.what[0])
		input_damage_error(a->input, &a->unpack.damage);
	else if (in_event)
		apitrace_report_damage(a, "the trace ends inside of an event", offset);
	return 0;
}

/* --- the headers of more traces --- */

static int add_pending(struct apitrace *a)
{
	a->pending.too_many = a->pending.text.size + a->header.size > APITRACE_HEADER_LIMIT ||
			      a->totals.traces + a->pending.sizes.size / 4 >= APITRACE_TRACES_LIMIT;
	if (a->pending.too_many)
		return apitrace_bad(a, "more than %d traces in a file, or %d bytes of headers",
				    APITRACE_TRACES_LIMIT, APITRACE_HEADER_LIMIT);
	return buffer_append(&a->pending.text, a->header.data, a->header.size) ||
			       buffer_u32(&a->pending.sizes, (uint32_t)a->header.size)
		       ? apitrace_no_memory(a)
		       : 0;
}

/* Read headers up to the first event or to the end of the data. */
static int read_pending(struct apitrace *a)
{
	uint8_t next;

	do {
		if (apitrace_header(a) || add_pending(a))
			return -1;
		if (apitrace_byte(a, &next)) {
			if (a->failure != FAILURE_END)
				return -1;
			a->failure = FAILURE_NONE;
			return 0;
		}
		a->unpack.at--;
	} while (next > APITRACE_LEAVE && next <= APITRACE_LATEST);
	return next == APITRACE_ENTER ? 0 : apitrace_bad(a, "unknown event %u", next);
}

static int declare_pending(struct apitrace *a)
{
	const uint8_t *text = a->pending.text.data;

	apitrace_count_open(a);
	for (size_t i = 0; i < a->pending.sizes.size; i += 4) {
		uint32_t size = get_u32(a->pending.sizes.data + i);

		a->version = text[0];
		a->semantic = text[a->version >= APITRACE_PROPERTIES];
		a->header.size = 0;
		if (buffer_append(&a->header, text, size))
			return apitrace_no_memory(a);
		if (apitrace_declare(a))
			return -1;
		text += size;
	}
	return 0;
}

/* Read the headers of further traces, from processes that wrote to the same file; event: the first
 * byte, which is not an event. Such a header has a version of at least 2, and an event, another
 * header or the end of the file follows it. */
static int apitrace_other_traces(struct apitrace *a, uint8_t event)
{
	uint64_t version = a->version, semantic = a->semantic;
	int result;

	if (event > APITRACE_LATEST)
		return apitrace_bad(a, "unknown event %u", event);
	a->unpack.at--;
	result = read_pending(a);
	if (!result) {
		result = declare_pending(a);
	} else if (a->failure != FAILURE_FATAL) {
		a->version = version;
		a->semantic = semantic;
		if (!a->pending.too_many)
			apitrace_bad(a, "unknown event %u", event);
	}
	buffer_free(&a->pending.text);
	buffer_free(&a->pending.sizes);
	return result;
}

/* Convert one event. 1: done; 0: the trace has ended, and damage was reported; -1: fatal, see
 * error. */
static int apitrace_event(struct apitrace *a)
{
	uint64_t offset;
	uint8_t event;
	int bad;

	if (a->done)
		return 0;
	a->failure = FAILURE_NONE;
	/* in the unpacked trace */
	offset = a->unpack.total - (uint64_t)(a->unpack.end - a->unpack.at);
	if (apitrace_byte(a, &event))
		return a->failure == FAILURE_FATAL ? -1 : finish_trace(a, false, offset);
	if (event == APITRACE_ENTER)
		bad = put_enter(a, offset);
	else if (event == APITRACE_LEAVE)
		bad = decode_apitrace_put_leave(a, offset);
	else
		bad = apitrace_other_traces(a, event);
	if (!bad)
		return 1;
	return a->failure == FAILURE_FATAL ? -1 : finish_trace(a, true, offset);
}

/* --- the decoder of apitrace's .trace files --- */

static enum bid apitrace_probe(const struct input *in)
{
	enum container container;

	return in->tree || !in->head_size ? BID_NONE
					  : unpack_probe(in->head, in->head_size, &container);
}

static int apitrace_open(struct input *in, struct error *e)
{
	const struct unpack_file file = {in->fd, in->name, in->head, in->head_size};
	enum container container;
	struct apitrace *a = calloc(1, sizeof *a);

	if (!a)
		return error_no_memory(e);
	in->state = a;
	a->input = in;
	a->values.limit =
		in->decoding->max_value ? (size_t)in->decoding->max_value : APITRACE_VALUES_LIMIT;
	/* large buffers then grow by remapping, and freed ones (values, windows of brotli)
	   return to the system */
	mallopt(M_MMAP_THRESHOLD, 256 * 1024);
	unpack_probe(in->head, in->head_size, &container);
	/* never NULL, even if all names are empty */
	if (buffer_reserve(&a->values.members, 256) || buffer_reserve(&a->header, 16))
		return error_no_memory(e);
	if (unpack_open(&a->unpack, container, &file, e))
		return -1;
	if (in->decoding->writer && in->decoding->writer->in_segment) {
		a->unpack.before_block = writer_flush;
		a->unpack.before_block_ctx = in->decoding->writer;
	}
	in->clock_name = "ticks";
	in->ticks = true;
	in->decoding->profile_has_trace = true;
	if (!apitrace_header(a))
		return 0;
	if (a->failure == FAILURE_FATAL) {
		*e = a->error;
		return -1;
	}
	if (a->version > APITRACE_LATEST && !a->unpack.damage.what[0])
		return error_set(e, in->name, NO_OFFSET, "%s", a->message);
	if (!a->unpack.total && a->unpack.refused[0]) {
		*e = a->unpack.damage;
		return -1;
	}
	if (!a->unpack.total && container == CONTAINER_BROTLI)
		return error_set(e, in->name, NO_OFFSET, "not a trace of a known format");
	/* a cut header: --info reports the part that was read; no event can follow */
	if (a->unpack.damage.what[0] && (a->failure == FAILURE_END || a->version > APITRACE_LATEST))
		input_damage_error(in, &a->unpack.damage);
	else
		input_damage(in, in->name, a->unpack.chunk_at, "%s %" PRIu64 ": %s",
			     unpack_part(container), a->unpack.chunk,
			     a->failure == FAILURE_BAD ? a->message
						       : "the trace ends inside of its header");
	a->done = true;
	return 0;
}

/* Get the size of the input; 0: not a regular file. */
static uint64_t file_size(const struct input *in)
{
	struct stat st;

	return !fstat(in->fd, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

static int decode_apitrace_begin(struct input *in, struct error *e)
{
	struct apitrace *a = in->state;

	if (merge_choose_clock(in, e))
		return -1;
	a->w = in->decoding->writer;
	a->segments = a->w->segment_limit > 0;
	a->unpack.before_block = writer_flush;
	a->unpack.before_block_ctx = a->w;
	a->timed.profile = in->decoding->profile;
	if (a->timed.profile) {
		/* only the first trace */
		in->decoding->profile = NULL;
		a->timed.profile->input->shift = in->shift;
		in->clock_name = "replay";
		in->ticks = false;
		if (glprofile_declare(a->timed.profile))
			return -1;
		a->clock = a->timed.profile->clock;
	}
	if (apitrace_declare(a)) {
		*e = a->error;
		return -1;
	}
	return a->done ? 0 : merge_first(in, 0, e);
}

static int apitrace_run(struct input *in, uint64_t until, struct error *e)
{
	struct apitrace *a = in->state;
	int got;

	do {
		bool timed = a->timed.profile, done = a->done;

		got = !timed && apitrace_quick_events(a, until) ? 1 : apitrace_event(a);
		if (!got && !done && timed && timed_end(a))
			got = -1;
		if (got >= 0 && timed && timed_write(a, until, !got))
			got = -1;
		if (got < 0) {
			*e = a->error;
			return -1;
		}
		if (!timed)
			in->next = got ? a->tick + (uint64_t)in->shift : UINT64_MAX;
	} while (got && in->next <= until);
	return 0;
}

/* Copy a string of a header stored by apitrace_header, and move *p after it. */
static void header_text(const uint8_t **p, char *text, size_t size)
{
	unsigned shift = 0;
	uint64_t n = 0;
	size_t keep;

	do
		n |= (uint64_t)(**p & 0x7f) << shift;
	while (shift += 7, *(*p)++ & 0x80);
	keep = n < size ? (size_t)n : size - 1;
	memcpy(text, *p, keep);
	text[keep] = '\0';
	*p += n;
}

/* Add the properties of all traces of the file, from their adjacent headers. */
static void add_properties(struct trace_info *f, const struct buffer *headers)
{
	const uint8_t *p = headers->data, *end = p + headers->size;
	char name[512], key[400], value[400];

	for (unsigned trace = 1; p < end; trace++) {
		if (*p++ < APITRACE_PROPERTIES || p == end)
			continue;
		for (p++; p < end && *p;) {
			header_text(&p, key, sizeof key);
			header_text(&p, value, sizeof value);
			if (trace > 1)
				snprintf(name, sizeof name, "trace %u property %s", trace, key);
			else
				snprintf(name, sizeof name, "property %s", key);
			fact_text(f, name, value);
		}
		p++;
	}
}

static const char *container_name(enum container container)
{
	static const char *const names[] = {"snappy", "gzip", "brotli", "zstd"};

	return names[container];
}

static int apitrace_info(struct input *in, struct trace_info *f, struct error *e)
{
	struct apitrace *a = in->state;
	uint64_t version = a->version, semantic = a->semantic; /* of the first trace */
	int got;
	uint64_t size = file_size(in); /* damage may prevent reading to the end */

	got = apitrace_declare(a);
	while (!got && !a->done)
		got = apitrace_event(a) < 0 ? -1 : 0;
	if (got) {
		*e = a->error;
		return -1;
	}
	fact_text(f, "format", "apitrace");
	fact_number(f, "version", version);
	fact_number(f, "container version", semantic);
	fact_text(f, "container type", container_name(a->unpack.container));
	fact_text(f, "api", a->totals.api[0] ? a->totals.api : "Unknown API");
	fact_number(f, "frames count", a->totals.frames);
	fact_number(f, "actual data size", a->unpack.total);
	fact_number(f, "container size", size ? size : a->unpack.packed);
	fact_number(f, "calls", a->totals.calls);
	fact_number(f, "calls without leave", a->totals.incomplete);
	fact_number(f, "threads", a->totals.threads);
	if (a->totals.traces > 1)
		fact_number(f, "traces", a->totals.traces);
	add_properties(f, &a->headers);
	return 0;
}

static void apitrace_close(struct input *in)
{
	struct apitrace *a = in->state;

	apitrace_forget(a);
	unpack_close(&a->unpack);
	open_calls_free(&a->timed.unknown);
	buffer_free(&a->header);
	buffer_free(&a->headers);
	buffer_free(&a->values.tail);
	buffer_free(&a->values.used);
	buffer_free(&a->values.frames);
	buffer_free(&a->values.members);
	free(a);
	in->state = NULL;
}

const struct decoder decoder_apitrace = {
	.name = "apitrace",
	.in_order = true,
	.probe = apitrace_probe,
	.open = apitrace_open,
	.info = apitrace_info,
	.begin = decode_apitrace_begin,
	.run = apitrace_run,
	.close = apitrace_close,
};
